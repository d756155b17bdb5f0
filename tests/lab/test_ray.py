"""Runs on a Ray cluster: the same files as in one process, whatever happens to the workers.

Ray opens ports on every address of the machine, so each test starts it in a network namespace of its own. A namespace of
processes ends them all with the test.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.conftest import LACKS
from tests.lab.test_lab_runs import files

from cohabit.agents.spending import TotalsHere
from cohabit.agents.wire import Facts
from cohabit.errors import BadArgs, Conflict
from cohabit.faces.cli import main
from cohabit.lab.folder import RECORDS, UNFINISHED
from cohabit.lab.games import RunContext
from cohabit.lab.match import match, match_design
from cohabit.lab.on_ray import Code, Desk, setup_of, variables_of
from cohabit.lab.sources import Sources, sources_of

ROOT = Path(__file__).parent.parent.parent
NAMESPACE = ("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs the package ray: pip install -c constraints.txt -e '.[ray]'"
)


@cache
def isolation() -> Sequence[str]:
    """How a program is started so that its ports are those of no network."""
    command = [*NAMESPACE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip(
            f"{LACKS}Ray opens ports on every address, and this system does not allow a network namespace (unshare)"
        )
    return command


def isolated(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program where the ports of Ray are out of reach."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    with TemporaryDirectory(prefix="ray") as folder:  # its sockets are there; their paths have to be short
        environment |= {"PYTHONPATH": str(ROOT), "RAY_TMPDIR": folder, **variables}
        words = [*isolation(), sys.executable, *command]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


GAME = '''
import os, signal, sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from helper import STONES
from cohabit.worlds.nim import Nim


class Fragile(Nim):
    """Nim that ends its process, or raises, if a file beside it says so."""

    def reset(self, seed, seats):
        mark = Path(__file__).parent / "mark"
        wish = mark.read_text() if mark.exists() and seed == 5 else ""
        if wish == "kill once":
            mark.unlink()
        if "kill" in wish:
            os.kill(os.getpid(), signal.SIGKILL)
        if wish == "raise":
            raise ValueError("the heap has fallen over")
        super().reset(seed, seats)
        self.stones += STONES
'''
CAREFUL = """
from cohabit.model.action import Action


class Careful:
    async def decide(self, observation):
        return Action("take", {"n": 1})
"""
DESIGN: dict[str, Any] = {
    "name": "on a cluster",
    "worlds": {"fragile": {"world": "games/fragile.py"}, "nim": {"lineups": [["nim-master", "careful"]], "seeds": 2}},
    "lineups": [["nim-master", "random"]],
    "players": {"careful": "careful.py:Careful"},
    "seeds": 10,
}


@pytest.fixture
def design(tmp_path: Path) -> Path:
    """A design with a world from a file, which imports another, and a player from a file."""
    (tmp_path / "games").mkdir()
    (tmp_path / "games/fragile.py").write_text(GAME)
    (tmp_path / "games/helper.py").write_text("STONES = 2\n")
    (tmp_path / "careful.py").write_text(CAREFUL)
    path = tmp_path / "design.json"
    path.write_text(json.dumps(DESIGN))
    return path


def on_ray(design: Path, out: str = "ray", *more: str) -> subprocess.CompletedProcess[str]:
    folder = str(design.parent / out)
    return isolated("-m", "cohabit", "lab", "run", str(design), "--out", folder, "--on", "ray", "--workers", "2", *more)


def in_one_process(design: Path) -> dict[str, bytes]:
    """In a process of its own: the code of the files is imported there."""
    words = ["lab", "run", str(design), "--out", str(design.parent / "one")]
    subprocess.run([sys.executable, "-m", "cohabit", *words], check=True, capture_output=True)
    return files(design.parent / "one")


# -- with a cluster ---------------------------------------------------------------------------------
@needs_ray
def test_a_run_on_ray_writes_the_same_files_as_one_process_and_says_that_ports_are_open(design: Path) -> None:
    done = on_ray(design)
    assert done.returncode == 0, done.stderr
    assert files(design.parent / "ray") == in_one_process(design)
    assert "Its ports are open on every network address, and ask for a token" in done.stderr
    assert "24 of 24 games" in done.stdout


@needs_ray
@pytest.mark.soak
def test_a_worker_that_dies_costs_a_retry_and_the_files_are_the_same(design: Path) -> None:
    mark = design.parent / "games/mark"
    mark.write_text("kill once")
    done = on_ray(design)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert "its games are played again" in done.stderr
    assert files(design.parent / "ray") == in_one_process(design)


@needs_ray
@pytest.mark.soak
def test_a_game_that_always_ends_its_worker_stops_the_run_which_can_be_resumed(design: Path) -> None:
    mark = design.parent / "games/mark"
    mark.write_text("kill always")
    done = on_ray(design)
    assert done.returncode == 1
    assert "a worker process ended unexpectedly" in done.stdout
    mark.unlink()
    assert on_ray(design).returncode == 0
    assert files(design.parent / "ray") == in_one_process(design)


@needs_ray
@pytest.mark.soak
def test_what_a_world_raises_is_reported_as_with_processes(design: Path) -> None:
    (design.parent / "games/mark").write_text("raise")
    done = on_ray(design)
    words = ["lab", "run", str(design), "--out", str(design.parent / "two"), "--workers", "2"]
    with_processes = isolated("-m", "cohabit", *words)
    assert done.returncode == with_processes.returncode != 0
    assert with_processes.stderr.strip().splitlines()[-1] == done.stderr.strip().splitlines()[-1]
    assert "failed (ValueError)" in done.stderr


@needs_ray
@pytest.mark.soak
def test_an_experiment_on_ray_writes_the_same_files_as_one_process(design: Path) -> None:
    player = "class Idle:\n    def act(self, agent_input):\n        return {}\n"
    (design.parent / "idle.py").write_text(player)
    lineups = {"x": ["hawk", "trader", "idle.py:Idle", "passive"]}
    plan = {"name": "small", "lineups": lineups, "seeds": 3, "turns": 3, "size": 12}
    experiment = design.parent / "experiment.json"
    experiment.write_text(json.dumps(plan))
    words = ["-m", "cohabit", "statecraft", "run", str(experiment), "--out"]
    one = isolated(*words, str(design.parent / "one"))
    several = isolated(*words, str(design.parent / "several"), "--on", "ray", "--workers", "2")
    assert several.returncode == one.returncode, several.stderr
    assert every_file(design.parent / "several") == every_file(design.parent / "one")


def every_file(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert len([name for name in found if name.startswith(RECORDS)]) == 3
    return found


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from cohabit.lab.design import read_design
from cohabit.lab.run import run


def interrupt(done, planned):
    if done == 4:
        os.kill(os.getpid(), signal.SIGINT)


try:
    run(read_design(Path(sys.argv[1])), Path(sys.argv[2]), 2, interrupt, on="ray")
except KeyboardInterrupt:
    print("interrupted")
"""


@needs_ray
@pytest.mark.soak
def test_a_run_that_is_interrupted_ends_its_cluster_and_resumes_to_the_same_files(design: Path) -> None:
    folder = design.parent / "ray"
    done = isolated("-c", INTERRUPTED, str(design), str(folder))
    assert done.stdout == "interrupted\n", done.stderr
    assert 4 <= len((folder / "games.jsonl").read_bytes().splitlines()) < 24
    assert on_ray(design).returncode == 0
    assert files(folder) == in_one_process(design)


HANGING = """
import os, signal, sys
from pathlib import Path
from threading import Thread
from tests.lab.test_cap import Service, design, serving
from cohabit.lab.run import run

service = Service("hang")


def interrupt():
    service.hanging.wait()
    os.kill(os.getpid(), signal.SIGINT)


Thread(target=interrupt, daemon=True).start()
with serving(service) as url:
    try:
        run(design(url, None), Path(sys.argv[1]), 2, on="ray")
    except KeyboardInterrupt:
        print("interrupted")
"""


@needs_ray
@pytest.mark.soak
def test_an_interrupt_does_not_wait_for_a_model_that_does_not_answer(tmp_path: Path) -> None:
    done = isolated("-c", HANGING, str(tmp_path / "run"))
    assert done.stdout == "interrupted\n", done.stderr


BILLED = """
import json, os, signal, subprocess, sys
from pathlib import Path
from threading import Thread
from tests.lab.test_cap import PRICE, Service, design, serving
from cohabit.lab.run import run

folder, kill_at, cap = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
prices = folder.parent / "prices.json"
prices.write_text(json.dumps({"openai:m": [1e6 * PRICE, 1e6 * PRICE]}))
os.environ["COHABIT_PRICES"] = str(prices)


class Deadly(Service):
    '''Ends the worker that sends a certain request, before it is answered.'''

    killed = 0

    async def __call__(self, path, body, writer):
        if self.requests == kill_at and not self.killed:
            peer = writer.get_extra_info("peername")[1]
            found = subprocess.run(["ss", "-tnpH", f"sport = :{peer}"], capture_output=True, text=True).stdout
            self.killed = int(found.split("pid=")[1].split(",")[0])
            os.kill(self.killed, signal.SIGKILL)
        await super().__call__(path, body, writer)


service = Deadly("good")
with serving(service) as url:
    results = run(design(url, cap, games=16), folder if sys.argv[4] == "kept" else None, 2, on="ray")
print(json.dumps({
    "requests": service.requests, "billed": service.billed, "spent": results.spent, "killed": service.killed,
    "games": len(results.games), "stopped": results.stopped,
    "asked": sum(t.requests for game in results.games for t in game.tallies),
}))
"""


def billed(folder: Path, *, kill_at: int, cap: float, kept: str = "kept") -> dict[str, Any]:
    done = isolated("-c", BILLED, str(folder), str(kill_at), str(cap), kept)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@needs_ray
@pytest.mark.soak
@pytest.mark.parametrize("kept", ["kept", "in memory"])
def test_answers_of_a_worker_that_died_are_not_paid_twice(tmp_path: Path, kept: str) -> None:
    found = billed(tmp_path / "run", kill_at=40, cap=100.0, kept=kept)
    assert found["killed"]
    assert found["games"] == 16
    assert found["asked"] < found["requests"] <= found["asked"] + 8, "only requests that were not answered come again"
    assert found["billed"] <= sum(found["spent"]) + 1e-6


@needs_ray
@pytest.mark.soak
def test_a_service_never_bills_more_than_the_cap_also_if_a_worker_dies(tmp_path: Path) -> None:
    found = billed(tmp_path / "run", kill_at=10, cap=1.0)
    assert found["killed"]
    assert "reached its spending cap of $1" in found["stopped"]
    assert 0.2 < found["billed"] <= sum(found["spent"]) + 1e-6
    assert sum(found["spent"]) <= 1.0 + 1e-6


ELSEWHERE = """
import asyncio, json, os, subprocess, sys
from pathlib import Path
from threading import Event, Thread
from tests.agents.servers import http_server
from tests.lab.test_cap import PRICE, Service
from cohabit.lab.design import parse_design
from cohabit.lab.run import run

here, design, how = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
ray = Path(sys.executable).with_name("ray")
hidden = f"mount -t tmpfs none {here} && cd / && exec {ray} start --head --block --num-cpus=2 --port=6379 --include-dashboard=false"
cluster = subprocess.Popen(["unshare", "--mount", "sh", "-c", hidden], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

heads, service, ready, urls = [], Service("good"), Event(), []


async def serve():
    async with http_server(service, heads) as url:
        urls.append(url)
        ready.set()
        await asyncio.Event().wait()


Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
ready.wait()
(here / "prices.json").write_text(json.dumps({"openai:m": [1e6 * PRICE, 1e6 * PRICE]}))
os.environ |= {
    "COHABIT_PRICES": str(here / "prices.json"), "SERVICE_API_KEY": "sk-of-the-service-123456",
    "COHABIT_API_KEYS": f"{urls[0]}=SERVICE_API_KEY",
}
design["players"]["model"] = f"openai:m@{urls[0]}/v1"
design["worlds"]["model"] = {"world": "nim", "lineups": [["model", "random"]], "seeds": 2}
design["max_cost"] = 50.0
design = parse_design(json.dumps(design), str(here))
import ray
while True:  # until it has started
    try:
        ray.init("ray://127.0.0.1:10001" if how == "client" else "127.0.0.1:6379", log_to_driver=False)
        break
    except (ConnectionError, RuntimeError):
        assert cluster.poll() is None
if how == "client":
    ray.shutdown()
(here / "games/mark").write_text("raise")  # a worker that saw the folder would
results = run(design, here / "ray", on="ray://127.0.0.1:10001" if how == "client" else "ray")
(here / "games/mark").unlink()
run(design, here / "one")
said = [path for path in Path(os.environ["RAY_TMPDIR"]).rglob("*") if path.is_file() and b"sk-of-the-service" in path.read_bytes()]
print(json.dumps({
    "games": len(results.games), "stopped": results.stopped, "logs with the key": [str(path) for path in said],
    "requests": service.requests, "with the key": sum("Bearer sk-of-the-service-123456" in head for head in heads),
}))
"""


@needs_ray
@pytest.mark.soak
@pytest.mark.parametrize("how", ["client", "ray.init"])
def test_workers_of_another_machine_get_files_and_keys_which_are_not_logged(design: Path, how: str) -> None:
    """The cluster cannot see the folder of the design, nor that of the run."""
    words = ["-c", ELSEWHERE, str(design.parent), json.dumps(DESIGN), how]
    done = isolated(*words, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="a" * 32)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["games"] == 28, found["stopped"]
    assert files(design.parent / "ray") == files(design.parent / "one")
    assert found["with the key"] == found["requests"] > 0
    assert found["logs with the key"] == []
    assert b"sk-of-the-service" not in b"".join(files(design.parent / "ray").values())


ATTEMPTS = """
import json
from threading import Event
from tests.lab import ray_jobs
from cohabit.lab.cluster import Host, connected, in_cluster

kept, begun = [], Event()


def answer(number, what, arguments):
    kept.append(arguments[0])
    begun.set()


with connected("ray", 2) as (workers, _):
    import ray
    host = Host(answer, own_processes=False)
    first = host.submit(ray_jobs.keep_on, "first", (0, 1))
    begun.wait()
    second = host.submit(ray_jobs.keep, "second", (0, 2))
    replies = ray.get([first, second])
    host.finish(0)
    late = ray.get(host._task.remote(ray_jobs.keep, host._relay, host.run, (0, 2), "late"))
    order = list(in_cluster(ray_jobs.double, iter(range(10, 20)), workers, host))
    host.close()
print(json.dumps({"kept": kept, "replies": [*map(str, replies), str(late)], "order": order}))
"""


@needs_ray
@pytest.mark.soak
def test_an_attempt_that_is_not_the_newest_can_keep_nothing_and_results_are_in_order() -> None:
    done = isolated("-c", ATTEMPTS)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["kept"].index("second") == len(found["kept"]) - 1, "the first keeps nothing after the second has begun"
    assert found["kept"][0] == "first"
    assert found["replies"] == ["Refused()", "done", "Refused()"]
    assert found["order"] == [[number, 2 * (10 + number)] for number in range(10)]


# -- without a cluster ------------------------------------------------------------------------------
def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadArgs, match=r"pip install 'cohabit\[ray\]'"):
        match("nim", "random", "random", games=2, on="ray", progress=False)


def test_a_run_with_nothing_left_to_play_starts_no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = match("nim", "random", "random", games=2, out=tmp_path / "run", progress=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    again = match("nim", "random", "random", games=2, out=tmp_path / "run", on="ray", progress=False)
    assert again.games == first.games


@pytest.mark.parametrize("on", ["rays", "http://host:8265", "10.0.0.1:6379"])
def test_only_ray_is_a_cluster(on: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "nim", "random", "random", "--on", on]) == 2
    assert "must be ray, or the address of a Ray cluster" in capsys.readouterr().err


@needs_ray
@pytest.mark.parametrize("address", ["ray://127.0.0.1:1", "127.0.0.1:1"])
def test_an_address_where_nothing_listens_is_reported_at_once(address: str) -> None:
    """In a process of its own, because Ray changes the one that imports it."""
    on, variables = (address, {}) if "://" in address else ("ray", {"RAY_ADDRESS": address})
    done = isolated("-m", "cohabit", "match", "nim", "random", "random", "--on", on, **variables)
    assert done.returncode == 1
    assert f"the Ray cluster {address} cannot be used: [Errno 111] Connection refused" in done.stderr


def test_a_person_does_not_play_on_a_cluster() -> None:
    with pytest.raises(BadArgs, match="human plays one game at a time, in this process"):
        match("nim", "human", "random", games=2, on="ray", progress=False)


def test_a_machine_with_the_same_files_uses_them_and_another_gets_copies(design: Path) -> None:
    games = design.parent / "games"
    sources = sources_of([f"{games}/fragile.py", f"{design.parent}/careful.py:Careful", "nim"])
    assert [Path(path).name for path in sources.files] == ["fragile.py", "helper.py", "careful.py"]
    assert sources.here() == ""
    (games / "helper.py").write_text("STONES = 3\n")
    root = sources.here()
    assert Path(f"{root}{games}/helper.py").read_text() == "STONES = 2\n"
    assert Path(f"{root}{games}/fragile.py").read_text() == GAME


def test_a_machine_with_other_versions_is_refused_and_named() -> None:
    code = Code({"cohabit": {"version": "1", "code": "a"}}, Sources({}, []))
    assert code.opened(lambda root: code.prints) == ""
    with pytest.raises(Conflict, match=r"other versions.*cohabit has changed \(version was 1, now 2\)"):
        code.opened(lambda root: {"cohabit": {"version": "2", "code": "b"}})


def test_workers_get_the_variables_of_the_models_that_play_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MY_API_KEY"):
        monkeypatch.setenv(name, f"the value of {name}")
    monkeypatch.setenv("COHABIT_API_KEYS", "https://example.org=MY_API_KEY")
    monkeypatch.delenv("COHABIT_PRICES", raising=False)
    assert variables_of({"random": None, "nim-master": None}) == {}
    assert set(variables_of({"openai:m": None})) == {"OPENAI_API_KEY", "COHABIT_API_KEYS", "MY_API_KEY"}
    asks = Facts(methods=["decide"], backend="anthropic:m")
    assert set(variables_of({"mine.py:Mine": asks})) == {"ANTHROPIC_API_KEY", "COHABIT_API_KEYS", "MY_API_KEY"}


def test_the_text_of_what_a_worker_gets_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123456")
    made = {"openai:m@http://localhost:1/v1": None}
    setup = setup_of(RunContext(match_design("nim", ["random", "random"]), None, 1), made)
    assert setup.variables["OPENAI_API_KEY"] == "sk-secret-123456"
    assert "sk-secret" not in f"{setup!r} {setup}"


@pytest.mark.parametrize("kept", [True, False])
def test_the_host_keeps_answers_and_counts_what_is_spent_up_to_the_cap(tmp_path: Path, kept: bool) -> None:
    design = match_design("nim", ["random", "random"], max_cost=1.0)
    context = RunContext(design, tmp_path if kept else None, 1, tmp_path / "cache")
    (tmp_path / UNFINISHED).mkdir()
    desk = Desk(context, context.spending(TotalsHere()), setup_of(context, {}))
    assert desk.answer(0, "reserve", (0.75,))
    assert not desk.answer(0, "reserve", (0.5,))
    desk.answer(0, "settle", (0.75, 0.25))
    assert desk.answer(0, "totals", ()) == (0.25, 0.0)
    assert desk.answer(0, "answers", ("game",))[1] == b""
    desk.answer(0, "append", ("game", b"one\n"))
    desk.answer(1, "append", ("game", b"two\n"))
    assert desk.answer(1, "answers", ("game",))[1] == b"one\ntwo\n"
    assert (tmp_path / UNFINISHED / "game.jsonl").exists() is kept
    assert desk.answer(2, "cached", ("key",)) is None
    desk.answer(2, "keep", ("key", b"answer"))
    assert (tmp_path / "cache/key.json").read_bytes() == desk.answer(3, "cached", ("key",)) == b"answer"
    desk.answer(3, "decisions", (7,))
    desk.answer(3, "decisions", (9,))
    assert desk.decisions == {3: 9}
