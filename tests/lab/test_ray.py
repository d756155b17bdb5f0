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
from tests.lab.clusters import ATTEMPTS, DESIGN, ROOT, check_attempts, in_one_process, write_design
from tests.lab.test_lab_runs import files

from cohabit.lab.folder import RECORDS

NAMESPACE = ("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="needs the package ray, which `make soak` installs (284 MB)"
    ),
]


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


@pytest.fixture
def design(tmp_path: Path) -> Path:
    return write_design(tmp_path)


def on_ray(design: Path, out: str = "ray", *more: str) -> subprocess.CompletedProcess[str]:
    folder = str(design.parent / out)
    return isolated("-m", "cohabit", "lab", "run", str(design), "--out", folder, "--on", "ray", "--workers", "2", *more)


def test_a_run_on_ray_writes_the_same_files_as_one_process_and_says_that_ports_are_open(design: Path) -> None:
    done = on_ray(design)
    assert done.returncode == 0, done.stderr
    assert files(design.parent / "ray") == in_one_process(design)
    assert "Its ports are open on every network address, and ask for a token" in done.stderr
    assert "24 of 24 games" in done.stdout


def test_a_worker_that_dies_costs_a_retry_and_the_files_are_the_same(design: Path) -> None:
    mark = design.parent / "games/mark"
    mark.write_text("kill once")
    done = on_ray(design)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert "its games are played again" in done.stderr
    assert files(design.parent / "ray") == in_one_process(design)


def test_a_game_that_always_ends_its_worker_stops_the_run_which_can_be_resumed(design: Path) -> None:
    mark = design.parent / "games/mark"
    mark.write_text("kill always")
    done = on_ray(design)
    assert done.returncode == 1
    assert "a worker process ended unexpectedly" in done.stdout
    mark.unlink()
    assert on_ray(design).returncode == 0
    assert files(design.parent / "ray") == in_one_process(design)


def test_what_a_world_raises_is_reported_as_with_processes(design: Path) -> None:
    (design.parent / "games/mark").write_text("raise")
    done = on_ray(design)
    words = ["lab", "run", str(design), "--out", str(design.parent / "two"), "--workers", "2"]
    with_processes = isolated("-m", "cohabit", *words)
    assert done.returncode == with_processes.returncode != 0
    assert with_processes.stderr.strip().splitlines()[-1] == done.stderr.strip().splitlines()[-1]
    assert "failed (ValueError)" in done.stderr


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


@pytest.mark.parametrize("kept", ["kept", "in memory"])
def test_answers_of_a_worker_that_died_are_not_paid_twice(tmp_path: Path, kept: str) -> None:
    found = billed(tmp_path / "run", kill_at=40, cap=100.0, kept=kept)
    assert found["killed"]
    assert found["games"] == 16
    assert found["asked"] < found["requests"] <= found["asked"] + 8, "only requests that were not answered come again"
    assert found["billed"] <= sum(found["spent"]) + 1e-6


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


def test_an_attempt_that_is_not_the_newest_can_keep_nothing_and_results_are_in_order() -> None:
    check_attempts(isolated("-c", ATTEMPTS))


@pytest.mark.parametrize("address", ["ray://127.0.0.1:1", "127.0.0.1:1"])
def test_an_address_where_nothing_listens_is_reported_at_once(address: str) -> None:
    """In a process of its own, because Ray changes the one that imports it."""
    on, variables = (address, {}) if "://" in address else ("ray", {"RAY_ADDRESS": address})
    done = isolated("-m", "cohabit", "match", "nim", "random", "random", "--on", on, **variables)
    assert done.returncode == 1
    assert f"the Ray cluster {address} cannot be used: [Errno 111] Connection refused" in done.stderr
