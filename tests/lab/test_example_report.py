"""The committed example report is of the committed design, and its records are whole."""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cohabit.faces.cli import main
from cohabit.lab.design import parse_design
from cohabit.lab.folder import SPENDING, TIMINGS, read_record
from cohabit.lab.report import problems_of
from cohabit.lab.results import Results

ROOT = Path(__file__).parent.parent.parent
FOLDER, DESIGN = ROOT / "docs" / "four-worlds", ROOT / "examples" / "lab" / "four-worlds.json"


def test_every_planned_game_was_played_and_nothing_is_wrong_with_the_results() -> None:
    results = Results.read(FOLDER)
    assert [game.spec for game in results.games] == parse_design(DESIGN.read_bytes(), load=False).specs()
    assert problems_of(results) == []
    assert results.design.name in (FOLDER / "report.html").read_text()


def test_the_record_of_every_game_is_whole() -> None:
    games = Results.read(FOLDER).games
    assert games
    for game in games:
        *_, last = read_record(FOLDER, game.spec.id)
        assert last.digest.hex() == game.head


def test_every_record_of_the_example_replays_to_the_same_entries_with_the_present_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    records = sorted((FOLDER / "records").iterdir())
    assert len(records) == len(Results.read(FOLDER).games)
    broken = [path.name for path in records if main(["verify", str(path)]) != 0]
    assert broken == [], capsys.readouterr().err


def test_the_dataset_of_the_example_has_a_row_for_each_decision(tmp_path: Path) -> None:
    assert main(["lab", "export", str(FOLDER), "-o", str(tmp_path / "rows.jsonl")]) == 0
    rows = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert len(rows) == sum(game.decisions for game in Results.read(FOLDER).games)


def test_the_example_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 1_000_000


def test_no_path_of_a_machine_is_in_the_example() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert not re.search("/(tmp|home|root)/", path.read_text()), path.name


MODEL = '''
"""The embedded model, or one that chooses in turn. What it was asked once it answers the same way again, as a model
without chance would. It kills the run instead of an answer if the file `kill` says so."""
import hashlib, os, signal
from pathlib import Path
import msgspec
from cohabit.agents.brain import Brain, parse_brain
from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import Completion
from cohabit.agents.llm.local import LocalBackend
from cohabit.agents.llm.mind import LlmAgent


class Remembering:
    name, constrains, defaults = "remembering", True, LocalBackend.defaults

    def __init__(self, brain):
        self.folder, self.real = Path(brain.target), brain.url == "real"

    async def complete(self, request):
        kill = self.folder / "kill"
        left = int(kill.read_text()) - 1 if kill.exists() else -1
        if left == 0:
            kill.unlink()
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()  # until this process ends with its parent
        elif left > 0:
            kill.write_text(str(left))
        answer = self.folder / hashlib.sha256(msgspec.json.encode(request)).hexdigest()
        if not answer.exists():
            answer.write_bytes(msgspec.json.encode(await self.ask(request)))
        with (self.folder / "asked").open("a") as asked:
            asked.write("x")
        return msgspec.json.decode(answer.read_bytes(), type=Completion)

    async def ask(self, request):
        if self.real:
            return await LocalBackend(parse_brain("local")).complete(request)
        number = len(list(self.folder.iterdir()))
        return Completion(request.answers[number % len(request.answers)], usage=Usage(100, 5, 0.0))

    async def close(self):
        pass


class Model(LlmAgent):
    one_at_a_time = True  # the answers are counted in files

    def __init__(self, folder="", real=False):
        super().__init__(Remembering, Brain("remembering", folder, "real" if real else ""))
'''


def small_example(folder: Path, real: bool) -> None:
    """The design of the example with the same worlds, configs and players, and fewer games."""
    design = json.loads(DESIGN.read_bytes())
    design["players"]["model"] = f"model.py:Model?folder={folder / 'answers'}&real={str(real).lower()}"
    design["seeds"] = 1
    for world in design["worlds"].values():
        if isinstance(world["lineups"], list):
            world["lineups"] = [lineup for lineup in world["lineups"] if lineup[0] == "model"][: 1 if real else None]
        world["games"] = 2
        if real:
            world |= {"games": 1, "max_decisions": 4}
    (folder / "small.json").write_text(json.dumps(design))
    (folder / "model.py").write_text(MODEL)
    shutil.copy(DESIGN.with_name("players.py"), folder)
    (folder / "answers").mkdir()


def files(folder: Path) -> dict[str, bytes]:
    """All files but the timings and the log of spending, which differ from run to run."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    del found[TIMINGS]
    found.pop(SPENDING, None)
    return found


@pytest.mark.soak
@pytest.mark.parametrize(("real", "kills"), [(False, [1, 9, 30]), (True, [3, 2])])
def test_the_example_killed_several_times_and_resumed_is_the_same_to_the_byte(
    tmp_path: Path, real: bool, kills: list[int]
) -> None:
    small_example(tmp_path, real)

    def play(out: str) -> int:
        command = [sys.executable, "-m", "cohabit", "lab", "run", "small.json", "--out", out]
        return subprocess.run(command, cwd=tmp_path, check=False, stdout=subprocess.DEVNULL).returncode

    assert play("whole") == 0
    answers = (tmp_path / "answers" / "asked").stat().st_size
    (tmp_path / "answers" / "asked").unlink()
    for answer in kills:
        (tmp_path / "answers" / "kill").write_text(str(answer))
        assert play("killed") == -signal.SIGKILL
    assert play("killed") == 0
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    assert (tmp_path / "answers" / "asked").stat().st_size == answers  # nothing was asked twice
    worlds = {game.spec.world for game in Results.read(tmp_path / "killed").games}
    assert worlds == {"nim", "tictactoe", "statecraft", "kingdoms"}
