"""A copy of a process that has imported ``cohabit`` behaves like ``cohabit``, started for itself."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from . import forks

REAL = [sys.executable, "-m", "cohabit"]


@pytest.mark.parametrize("words", [["--version"], ["tokn"], ["call", "view"], ["worlds"]], ids=" ".join)
def test_it_prints_the_same_and_ends_with_the_same_code(words: list[str], tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": forks.SOURCE}
    done = [
        subprocess.run([*program, *words], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        for program in (REAL, forks.command())
    ]
    assert done[0].stdout + done[0].stderr != ""
    assert [(one.returncode, one.stdout, one.stderr) for one in done[1:]] == [
        (done[0].returncode, done[0].stdout, done[0].stderr)
    ]


def test_its_variables_its_folder_and_its_input_are_those_it_was_started_with(tmp_path: Path) -> None:
    write = [*forks.command(), "token", "new", "ann", "--host"]
    made = subprocess.run(
        write,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"COHABIT_DATA": "house", "HOME": "/nowhere"},
        check=True,
    )
    assert len(made.stdout.strip()) == 48
    assert (tmp_path / "house" / "cohabit.db").is_file()
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
    serve = [*forks.command(), "mcp", "--scenario", "nim", "--as", "player-1"]
    told = subprocess.run(serve, input=asked, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert json.loads(told.stdout)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_signal_reaches_it(number: signal.Signals, code: int, tmp_path: Path) -> None:
    words = ["up", "nim", "--data", "house", "--port", "0", "--bridge-port", "0"]
    with subprocess.Popen(
        [*forks.command(), *words], stdout=subprocess.PIPE, text=True, cwd=tmp_path, env={"PYTHONUNBUFFERED": "1"}
    ) as house:
        assert house.stdout is not None
        assert any("The house is open" in line for line in house.stdout)
        house.send_signal(number)
        said = house.stdout.read()  # until it has ended; before that, events of the room
        assert said.endswith("Stopped. Start it again to resume.\n") == (code == 0)
    assert house.returncode == code
