"""A private PostgreSQL server for the tests of one process, and an empty schema in it for each test."""

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psycopg

from cohabit.house.store.contract import Store, Write
from cohabit.model.record import Entry
from cohabit.room.record import Line, Record

LONG_MS = 600_000
_numbers = itertools.count()


class Server:
    """``bin``: the folder with ``initdb`` and ``pg_ctl``. It listens on a Unix socket only. ``fsync``: as in earnest,
    what is committed survives a power failure."""

    def __init__(self, bin_: Path, home: Path, fsync: bool = False) -> None:
        self.bin, self.home, self.fsync = bin_, home, fsync
        self.user = _unprivileged() if os.geteuid() == 0 else None
        if self.user is not None:
            os.chown(home, *self.user)
        self._run("initdb", "-U", "cohabit", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def _run(self, program: str, *args: str) -> None:
        ids = {} if self.user is None else {"user": self.user[0], "group": self.user[1], "extra_groups": []}
        done = subprocess.run(
            [self.bin / program, "-D", self.home / "data", *args], cwd=self.home, capture_output=True, text=True,
            env={"HOME": str(self.home), "LC_ALL": "C", "PATH": os.environ["PATH"]}, check=False, **ids,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = f"-c listen_addresses= -c unix_socket_directories={self.home}"
        options += "" if self.fsync else " -c fsync=off"
        # Without a file for its output, the server keeps the pipe open.
        self._run("pg_ctl", "-w", "-l", str(self.home / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-m", mode, "stop")

    def kill(self) -> None:
        """SIGKILL for all its processes at once."""
        os.kill(self.pid, signal.SIGSTOP)  # so that it starts no others
        everyone = self.processes()
        for pid in everyone:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while any(_processes().get(pid, ("Z", 0))[0] != "Z" for pid in everyone):
            pass
        for left in (self.home / "data/postmaster.pid", *self.home.glob(".s.PGSQL.*")):
            left.unlink()

    @property
    def pid(self) -> int:
        return int((self.home / "data/postmaster.pid").read_text().split()[0])

    def processes(self) -> list[int]:
        """The first one, and those that it has started."""
        first = self.pid
        return [first, *(pid for pid, (_, parent) in _processes().items() if parent == first)]

    @property
    def socket(self) -> str:
        """The path of the socket that it listens on."""
        return str(self.home / ".s.PGSQL.5432")

    def url(self, schema: str = "", database: str = "postgres") -> str:
        path = f"?options={quote(f'-csearch_path={schema}')}" if schema else ""
        return f"postgresql://cohabit@{quote(str(self.home), safe='')}/{database}{path}"

    def new_database(self) -> str:
        """The address of an empty database. It takes longer than a schema."""
        name = f"d{next(_numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(f"create database {name}")
        return self.url(database=name)

    def new_schema(self) -> str:
        """The address of an empty schema."""
        name = f"s{next(_numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(f"create schema {name}")
        return self.url(name)


def _processes() -> dict[int, tuple[str, int]]:
    """The state of each process, and its parent."""
    found: dict[int, tuple[str, int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            found[int(folder.name)] = state, int(parent)
    return found


def _unprivileged() -> tuple[int, int]:
    """PostgreSQL refuses to run as root."""
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return found.pw_uid, found.pw_gid
    raise AssertionError("there is no user to run PostgreSQL as")


@contextmanager
def running(bin_: Path, fsync: bool = False) -> Iterator[Server]:
    home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # short: it is part of the path of a socket
    try:
        server = Server(bin_, home, fsync)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def lines(count: int, start: int = 0) -> list[Line]:
    record = Record(start - 1)
    return [record.append(Entry(start + i, i, "noted", "m1", {"n": i})) for i in range(count)]


def writing(store: Store, room: str, house: str = "house 1") -> Callable[[Sequence[Line]], None]:
    """Writes entries to a room as the house that has it."""
    holder = house, store.lease([room], house, LONG_MS)[room]
    return lambda added: store.commit([Write(room, added, holder=holder)])
