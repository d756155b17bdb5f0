"""Several agents that push to one remote without a pause: how long the unluckiest push takes, and how many pushes of
others it lets pass."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.workspace_sides import neutral_environment

AGENT = """
import json, sys, time
from pathlib import Path
from cohabit.workspace.session import Session

name, home, remote, seconds = sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4])
who = {"HOME": str(home), "COHABIT_AGENT_EMAIL": name + "@example.org"}
who |= {"COHABIT_AGENT_ID": name, "COHABIT_AGENT_NAME": name}
session = Session(home / "settings", who)
session.call("workspace_init", {"name": "board", "remote_url": remote, "local_path": str(home / "board")})
print("ready", flush=True)
sys.stdin.readline()
end, pushes = time.monotonic() + seconds, []
while time.monotonic() < end:
    session.call("journal_append", {"summary": f"{name} {len(pushes)}"})
    session.call("add", {"paths": ["journal.md"]})
    session.call("commit", {"message": "work"})
    began = time.monotonic()
    answer = session.call("push", {})
    pushes.append((began, time.monotonic(), "error" not in answer))
session.close()
print(json.dumps(pushes))
"""


@dataclass(frozen=True)
class Fairness:
    """The pushes of agents that share one remote, all measured over the same period."""

    pushes: list[int]
    """Of each agent."""
    slowest_s: float
    overtaken: int
    """The most pushes by others that succeeded while one push was tried."""
    failed: int

    @property
    def spread(self) -> float:
        """Pushes of the busiest agent for each one of the agent with the fewest."""
        return max(self.pushes) / max(1, min(self.pushes))


def measured(top: Path, agents: int, seconds: float) -> Fairness:
    remote = top / f"{agents}.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", remote], check=True)
    environ = neutral_environment(top)
    started = []
    for number in range(agents):
        home = top / f"{agents}-{number}"
        home.mkdir()
        process = subprocess.Popen(
            [sys.executable, "-c", AGENT, f"agent{number}", str(home), str(remote), str(seconds)],
            env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("an agent did not start")
        started.append(process)
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [json.loads(process.communicate()[0]) for process in started]
    ends = sorted((ended, number) for number, pushes in enumerate(found) for _, ended, ok in pushes if ok)
    overtaken = max(
        sum(began < end < ended and other != number for end, other in ends)
        for number, pushes in enumerate(found)
        for began, ended, _ in pushes
    )
    each = [push for pushes in found for push in pushes]
    return Fairness(
        [len(pushes) for pushes in found],
        max(ended - began for began, ended, _ in each),
        overtaken,
        sum(not ok for _, _, ok in each),
    )
