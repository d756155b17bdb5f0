"""The cluster under test: a real PostgreSQL, houses as processes with workers, and a proxy on each way between them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.faces.workers.test_workers import children_of, state_of
from tests.ports import free_port
from tests.postgres import Server

from .proxies import Way, running_proxies

Tell = Callable[[str], None]
START = """
import sys
from cohabit.agents.process import end_with_parent
end_with_parent(int(sys.argv.pop(1)))
from cohabit.faces.cli import main
sys.exit(main(["serve", "--quiet"]))
"""
"""``cohabit serve`` in a process that ends with the one that tests it, even if that one is killed."""
SIGNS_OF_BUGS = ("internal error", "never retrieved", "RECORD_CORRUPT", "Segmentation fault")
RESTART_S = 0.5
"""How long the service manager waits before it starts a house again."""
WITNESS = """
create table witnessed (room text, seq bigint, writer text, holder text, epoch bigint);
create function witness() returns trigger language plpgsql as $$
begin
    insert into witnessed
    select new.room, new.seq, current_setting('application_name'), coalesce('cohabit ' || place, ''),
        coalesce(leases.epoch, 0)
    from (select) as one left join leases on leases.room = new.room left join houses using (house);
    return null;
end $$;
create trigger witness after insert on entries for each row execute function witness();
"""
"""The database notes who writes an entry, and who has the room at that moment, whatever the house believes."""
REDIRECT = """
create table redirected (address text primary key, proxy text not null);
create function redirect() returns trigger language plpgsql as $$
begin
    new.address := coalesce((select proxy from redirected where address = new.address), new.address);
    return new;
end $$;
create trigger redirect before insert or update on places for each row execute function redirect();
"""
"""Houses find the addresses of one another in the database: they find those of the proxies there."""


class HouseProcess:
    """One house. It is started again whenever it ends, as a service manager does, unless it is held down."""

    def __init__(self, name: str, settings: dict[str, str], log: Path, tell: Tell) -> None:
        self.name = name
        self.port = int(settings["COHABIT_PORT"])
        self.url = f"http://127.0.0.1:{self.port}"
        self.ends: list[int] = []  # the exit codes so far
        self._environment = {**os.environ, **settings}
        self._log = log
        self._tell = tell
        self._process: asyncio.subprocess.Process | None = None
        self._may_run = asyncio.Event()
        self._may_run.set()
        self._ended = asyncio.Event()
        self._ended.set()

    async def keep_running(self) -> None:
        while True:
            await self._may_run.wait()
            lifeline, held = os.pipe()
            try:
                with self._log.open("ab") as log:
                    self._process = await asyncio.create_subprocess_exec(
                        sys.executable, "-c", START, str(lifeline), pass_fds=[lifeline], env=self._environment,
                        stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    )  # fmt: skip
                os.close(lifeline)
                self._ended.clear()
                self.ends.append(await self._process.wait())
                self._tell(f"house {self.name} ended with {self.ends[-1]}")
            finally:
                os.close(held)
                self._ended.set()
            await asyncio.sleep(RESTART_S)

    # -- its processes ----------------------------------------------------------------------------
    @property
    def runs(self) -> bool:
        return not self._ended.is_set()

    def processes(self) -> list[int]:
        """The front first; none if it does not run."""
        if self._process is None or not self.runs:
            return []
        front = self._process.pid
        with suppress(FileNotFoundError):
            return [front, *(pid for pid in children_of(front) if state_of(pid) != "Z")]
        return [front]

    def workers(self) -> list[int]:
        return self.processes()[1:]

    async def ended(self) -> int:
        """Its exit code, when it has ended."""
        await self._ended.wait()
        return self.ends[-1]

    def bugs(self) -> list[str]:
        """What its processes have logged that no fault explains."""
        lines = self._log.read_text().splitlines()
        return [f"{self.name} logged: {line}" for line in lines if any(sign in line for sign in SIGNS_OF_BUGS)]

    def hold_down(self) -> None:
        """From now on it is not started again."""
        self._may_run.clear()

    def let_run(self) -> None:
        self._may_run.set()


def send(number: signal.Signals, processes: Sequence[int]) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


class Cluster:
    """See the module."""

    def __init__(self, server: Server, database: str) -> None:
        self.server = server
        self.database = database  # its address, past the proxies
        self.houses: list[HouseProcess] = []
        self.to_database: dict[str, Way] = {}  # by house
        self.between: dict[str, Way] = {}  # by the house that is reached
        self.problems: list[str] = []  # of houses that did not do what they must

    def urls(self) -> list[str]:
        return [house.url for house in self.houses]


@asynccontextmanager
async def running_cluster(
    server: Server, database: str, folder: Path, names: Sequence[str], *, workers: int, clustered: bool, tell: Tell
) -> AsyncIterator[Cluster]:
    """``database``: has the tables and rooms of a house. ``clustered``: the houses serve it together; else the second
    one waits until it can take over."""
    cluster = Cluster(server, database)
    _execute(database, WITNESS)
    if clustered:
        _execute(database, REDIRECT)
    async with AsyncExitStack() as stack:
        proxies = await stack.enter_async_context(running_proxies())
        for name in names:
            cluster.to_database[name] = store = await proxies.open(server.socket)
            settings = {
                "COHABIT_STORE": f"postgresql://cohabit@127.0.0.1:{store.port}{urlsplit(database).path}",
                "COHABIT_DATA": str(folder / name), "COHABIT_PORT": str(free_port()), "COHABIT_WORKERS": str(workers),
                "COHABIT_BRIDGE_PORT": "0", "COHABIT_NEXUS_PORT": "0", "COHABIT_LOG_LEVEL": "info",
            }  # fmt: skip
            if clustered:
                port = free_port()
                cluster.between[name] = between = await proxies.open("127.0.0.1", port)
                address = f"127.0.0.1:{port}"
                _execute(database, f"insert into redirected values ('{address}', '127.0.0.1:{between.port}')")
                settings |= {"COHABIT_HOUSES_ADDRESS": address, "COHABIT_HOUSES_KEY": "a key that only the tests know"}
            cluster.houses.append(HouseProcess(name, settings, folder / f"{name}.log", tell))
        running = [asyncio.ensure_future(house.keep_running()) for house in cluster.houses]
        stack.push_async_callback(_stop, cluster, running)
        yield cluster


async def _stop(cluster: Cluster, running: Sequence["asyncio.Task[None]"]) -> None:
    for house in cluster.houses:
        house.hold_down()
        send(signal.SIGKILL, house.processes())
        await house.ended()
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def _execute(database: str, statement: str) -> None:
    with psycopg.connect(database, autocommit=True) as db:
        db.execute(statement)
