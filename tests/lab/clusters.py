"""What tests of clusters have in common: a design whose world can end its worker, and attempts of a job."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.lab.test_lab_runs import files

ROOT = Path(__file__).parent.parent.parent

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


def write_design(folder: Path) -> Path:
    """A design with a world from a file, which imports another, and a player from a file."""
    (folder / "games").mkdir()
    (folder / "games/fragile.py").write_text(GAME)
    (folder / "games/helper.py").write_text("STONES = 2\n")
    (folder / "careful.py").write_text(CAREFUL)
    path = folder / "design.json"
    path.write_text(json.dumps(DESIGN))
    return path


def in_one_process(design: Path) -> dict[str, bytes]:
    """In a process of its own: the code of the files is imported there."""
    words = ["lab", "run", str(design), "--out", str(design.parent / "one")]
    subprocess.run([sys.executable, "-m", "cohabit", *words], check=True, capture_output=True)
    return files(design.parent / "one")


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


def check_attempts(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["kept"].index("second") == len(found["kept"]) - 1, "the first keeps nothing after the second has begun"
    assert found["kept"][0] == "first"
    assert found["replies"] == ["Refused()", "done", "Refused()"]
    assert found["order"] == [[number, 2 * (10 + number)] for number in range(10)]
