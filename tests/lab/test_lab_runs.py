"""Runs of a design: the same files again, resumed after a kill, never of mixed versions, failures counted."""

import gc
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.agents.brains.human import HELP
from cohabit.agents.brains.scripted import Random
from cohabit.agents.contract import adapted
from cohabit.agents.decision import Tally
from cohabit.errors import Conflict, GameCrash, RecordCorrupt
from cohabit.lab import fingerprint, games
from cohabit.lab.design import Design, parse_design
from cohabit.lab.folder import DECISIONS, GAMES, SPENDING, TIMINGS, UNFINISHED, read_decisions, read_games, record_path
from cohabit.lab.game import GameResult
from cohabit.lab.match import match, match_design
from cohabit.lab.progress import DecisionCount, ProgressLines, progress_bar
from cohabit.lab.report import write_report
from cohabit.lab.results import Results, seconds_text
from cohabit.lab.run import run
from cohabit.lab.scoring import winners
from cohabit.lab.tables import FORMATS
from cohabit.model.action import Action
from cohabit.model.observation import Goal, Observation
from cohabit.worlds import nim

SMALL: dict[str, Any] = {
    "name": "small",
    "worlds": {"nim": {"factors": {"stones": [9, 12]}}, "tictactoe": {"lineups": [["random", "random"]]}},
    "lineups": [["nim-master", "random"]],
    "seeds": 3,
}

MODEL = '''
import fcntl, os, signal
from pathlib import Path
from cohabit.agents.brain import Brain
from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import BackendError, Completion
from cohabit.agents.llm.mind import LlmAgent


class Canned:
    """Answers by how often it was asked, which a file remembers, so an answer is another one if it is asked for again.
    Kills the run before an answer if the file `kill` says so."""

    name, constrains = "canned", True

    def __init__(self, brain):
        self.folder, self.purpose = Path(brain.target), brain.url

    async def complete(self, request):
        mine = self.folder / self.purpose.replace("/", "-")
        n = len(mine.read_bytes()) if mine.exists() else 0
        kill = self.folder / "kill"
        with open(self.folder / "lock", "w") as lock:  # other games have processes of their own
            fcntl.flock(lock, fcntl.LOCK_EX)
            if kill.exists():
                left = int(kill.read_text()) - 1
                kill.write_text(str(left))
                if left == 0:
                    kill.unlink()
                    os.kill(os.getppid(), signal.SIGKILL)
                    signal.pause()  # this process ends with the run
        mine.write_bytes(b"x" * (n + 1))
        if n % 5 == 1:
            return Completion("I would rather not say.", usage=Usage(10, 1, 0.25))
        if n % 5 == 3:
            raise TimeoutError
        if n % 5 == 4:
            raise BackendError("the server is down")
        return Completion('{"action": "take", "params": {"n": %d}}' % (1 + n % 2), usage=Usage(10, 1, 0.25))

    async def close(self):
        pass


class Model(LlmAgent):
    one_at_a_time = True  # its requests come in the same order in every run; test_cap.py has games at the same time

    def __init__(self, purpose="", folder=""):
        super().__init__(Canned, Brain("canned", folder, purpose))
'''


def small(**changes: Any) -> Design:
    return parse_design(json.dumps({**SMALL, **changes}))


def files(folder: Path) -> dict[str, bytes]:
    """All files but the timings and the log of spending, which differ from run to run."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    del found[TIMINGS]
    found.pop(SPENDING, None)
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    run(small(), folder)
    return folder


# -- the same files ---------------------------------------------------------------------------------
def test_two_processes_write_the_same_files_as_one(whole: Path, tmp_path: Path) -> None:
    run(small(), tmp_path / "two", workers=2)
    assert files(tmp_path / "two") == files(whole)


def test_the_page_names_the_files_of_a_run_and_its_report_that_differ_from_run_to_run(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []
    for seconds, name in ((1.0, "one"), (2.0, "two")):
        folder = Path(shutil.copytree(whole, tmp_path / name))
        times = [json.loads(line) for line in (folder / TIMINGS).read_text().splitlines()]
        changed = [{**game, "decisions": [[seconds for _ in of] for of in game["decisions"]]} for game in times]
        (folder / TIMINGS).write_text("".join(json.dumps(game) + "\n" for game in changed))
        write_report(Results.read(folder), folder)
        shown.append(files(folder))
    differ = {name for name in shown[0] if shown[0][name] != shown[1][name]}
    text = (Path(__file__).parents[2] / "docs" / "lab.md").read_text()
    (sentence,) = re.findall(r"All files but (.*) are the same, byte for byte", text)
    tables = {f"players.{form}" for form in FORMATS}
    assert set(re.findall(r"`([^`]+)`", sentence)) == {TIMINGS, SPENDING, "players", *(differ - tables)}
    assert differ & tables


def test_a_run_leaves_the_garbage_collector_as_it_was() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    run(match_design("nim", ["random", "random"], games=1))
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_a_run_in_memory_has_the_same_results(whole: Path) -> None:
    memory = run(small())
    kept = Results.read(whole)
    assert memory.games == kept.games
    assert list(memory.decisions()) == list(kept.decisions())
    assert all(memory.record(game.spec.id) == kept.record(game.spec.id) for game in memory.games)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_run_interrupted_after_any_byte_resumes_to_the_same_files(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("interrupted")
    for name, text in files(whole).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text)
    games, decisions = (whole / GAMES).read_bytes(), (whole / DECISIONS).read_bytes()
    kept = data.draw(st.integers(0, len(games)))
    finished = [json.loads(line)["decisions"] for line in games[:kept].split(b"\n")[:-1]]
    least = sum(len(line) for line in decisions.splitlines(keepends=True)[: sum(finished)])
    (folder / GAMES).write_bytes(games[:kept])
    (folder / DECISIONS).write_bytes(decisions[: data.draw(st.integers(least, len(decisions)))])
    run(small(), folder)
    assert files(folder) == files(whole)


KILLED = """
import sys
from pathlib import Path
from cohabit.lab.design import parse_design
from cohabit.lab.run import run
if __name__ == "__main__":
    run(parse_design(sys.argv[1]), Path(sys.argv[2]), 2, lambda done, planned: print(done, flush=True))
"""


def test_a_killed_run_ends_its_worker_processes_and_resumes_to_the_same_files(whole: Path, tmp_path: Path) -> None:
    script, folder = tmp_path / "killed.py", tmp_path / "out"
    script.write_text(KILLED)
    command = [sys.executable, str(script), json.dumps(SMALL), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(3)] == ["0\n", "1\n", "2\n"]
        process.kill()
        process.stdout.read()  # returns when the last worker process has ended
    run(small(), folder)
    assert files(folder) == files(whole)


@pytest.mark.parametrize("answers", [4, *(pytest.param(n, marks=pytest.mark.soak) for n in (1, 6, 11))])
def test_a_killed_run_uses_logged_answers_failures_and_timeouts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: int
) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    asked = tmp_path / "asked"
    words = ["nim", f"model.py:Model?folder={asked}", "random", "--games", "3", "--swap", "none"]

    def play(out: str) -> int:
        return subprocess.run([sys.executable, "-m", "cohabit", "match", *words, "--out", out], check=False).returncode

    asked.mkdir()
    assert play("whole") == 1  # it fails too often
    for path in asked.iterdir():
        path.unlink()
    (asked / "kill").write_text(str(answers))
    assert play("killed") == -signal.SIGKILL
    assert any((tmp_path / "killed" / UNFINISHED).iterdir()) or answers == 1
    assert play("killed") == 1
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    outcomes = {line.decision.outcome for line in read_decisions(tmp_path / "killed") if line.seat == 0}
    assert {"chosen", "corrected", "timeout", "failed"} <= outcomes
    assert not (tmp_path / "killed" / UNFINISHED).exists()


def test_a_logged_failure_to_plan_is_survived_again(tmp_path: Path) -> None:
    import asyncio

    from tests.agents.minds import ScriptedModel, mind

    from cohabit.agents.llm.backend import BackendError, Completion
    from cohabit.agents.spending import Spending
    from cohabit.lab.answers import AnswerLog, logged

    def planned(*answers: Any) -> tuple[list[str], list[Any]]:
        agent = mind(ScriptedModel(*answers))
        log = AnswerLog(Spending(), tmp_path / "log")
        logged(agent, 0, log)
        try:
            return asyncio.run(agent.plan([Goal("g", "win")])), agent.unanswered()
        finally:
            log.close()

    first = planned(BackendError("the server\nis down"))
    assert first[0] == []
    assert planned(Completion("take all")) == first


def test_a_logged_answer_that_came_too_late_is_a_timeout_again(tmp_path: Path) -> None:
    from cohabit.agents.llm.backend import Completion
    from cohabit.agents.spending import Spending
    from cohabit.lab.answers import Answer, AnswerLog

    log = AnswerLog(Spending(), tmp_path / "log")
    for asked in ("in time", "late"):
        log.add(Answer(0, asked, Completion(asked)))
        if asked == "late":
            log.timed_out(0)
        log.decided(0)
    log.timed_out(0)  # without an answer
    log.close()
    again = AnswerLog(Spending(), tmp_path / "log")
    known = again.take(0, "in time")
    assert known is not None
    assert known.completion == Completion("in time")
    again.decided(0)
    for asked in ("late", "never answered"):
        known = again.take(0, asked)
        assert known is not None
        assert known.timeout
        again.timed_out(0)
        again.decided(0)
    assert not again.knows(0)


FORGETFUL = """
class Forgetful:
    def __init__(self, purpose=""):
        self.asked = 0
    def initialize(self, description, space): pass
    def reflect(self, result): pass
    def plan(self, goals): return []
    def decide(self, seen):
        self.asked += 1
        if self.asked == 2:
            raise TimeoutError
        return __import__("cohabit").Action("take", {"n": 1}, f"{type(self).__name__} {self.asked} %s")
"""


def test_the_logged_answer_of_any_other_agent_counts_and_its_memory_is_the_same(tmp_path: Path) -> None:
    import asyncio

    from cohabit.agents.spending import Spending
    from cohabit.lab.folder import answers_path
    from cohabit.lab.games import Games, RunContext

    path = tmp_path / "mine.py"

    def play(word: str) -> Any:
        path.write_text(FORGETFUL % word)
        design = match_design("nim", [f"{path}:Forgetful", "random"], games=1)
        games = Games(RunContext(design, tmp_path, 1), Spending(), DecisionCount())
        return asyncio.run(games.play(design.specs()[0]))

    for name in ("records", UNFINISHED):
        (tmp_path / name).mkdir()
    first = play("then")
    log = answers_path(tmp_path, first.result.spec.id)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]) + b'{"seat":0,"thou')
    second = play("now")
    reasons = [
        json.loads(line)["decision"]["action"].get("reasoning", "")
        for line in second.decisions.splitlines()
        if json.loads(line)["seat"] == 0
    ]
    assert reasons[:4] == ["Forgetful 1 then", "", "Forgetful 3 then", "Forgetful 4 now"]
    assert second.result.tallies == first.result.tallies


# -- never mixed ------------------------------------------------------------------------------------
def test_an_edited_player_is_refused_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("from cohabit.agents.brains.scripted import Random\nclass Mine(Random): pass\n")
    design = match_design("nim", ["mine.py:Mine", "random"], games=2)
    run(design, tmp_path / "out")
    with Path("mine.py").open("a") as file:
        file.write("# better now\n")
    with pytest.raises(Conflict, match=r"the code of player mine\.py:Mine has changed\. Restore what changed"):
        run(design, tmp_path / "out")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("edit", ["# better now\n", "class Mine(\n"])
def test_a_player_edited_during_a_run_stops_it_and_no_game_of_the_new_version_is_kept(
    workers: int, edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(games, "MOMENT_S", 0.0)  # a game at a time
    source = "from cohabit.agents.brains.scripted import Random\nclass Mine(Random): pass\n"
    Path("mine.py").write_text(source)
    design = match_design("nim", ["mine.py:Mine", "random"], games=16)
    run(design, tmp_path / "whole")

    def edit_after_a_game(finished: int, planned: int) -> None:
        if finished == 1:
            Path("mine.py").write_text(source + edit)

    for folder in (None, tmp_path / "out"):
        Path("mine.py").write_text(source)
        stopped = run(design, folder, workers=workers, on_game=edit_after_a_game)
        assert stopped.stopped.startswith(r"the code of player mine.py:Mine has changed during the run")
        assert 1 <= len(stopped.games) <= 2
    assert read_games(tmp_path / "out") == stopped.games
    Path("mine.py").write_text(source)
    run(design, tmp_path / "out", workers=workers)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_answers_to_a_player_s_new_version_are_not_used_when_the_run_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(games, "MOMENT_S", 0.0)
    source = "from cohabit.agents.brains.scripted import Random\nclass Mine(Random): pass\n"
    first_always = source.replace("pass", "decide = lambda self, seen: seen.legal[0]")
    Path("mine.py").write_text(source)
    design = match_design("nim", ["mine.py:Mine", "random"], games=8)
    run(design, tmp_path / "whole")
    run(
        design,
        tmp_path / "out",
        on_game=lambda finished, planned: finished == 1 and Path("mine.py").write_text(first_always),
    )
    Path("mine.py").write_text(source)
    assert not (tmp_path / "out" / UNFINISHED).exists()
    run(design, tmp_path / "out")
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_file_that_is_saved_without_an_edit_does_not_stop_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(games, "MOMENT_S", 0.0)
    Path("mine.py").write_text("from cohabit.agents.brains.scripted import Random\nclass Mine(Random): pass\n")
    design = match_design("nim", ["mine.py:Mine", "random"], games=4)
    results = run(design, on_game=lambda *_: Path("mine.py").write_bytes(Path("mine.py").read_bytes()))
    assert len(results.games) == 4
    assert results.stopped == ""


def test_an_edited_module_of_a_player_or_a_world_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("mine.py").write_text(
        "from cohabit.agents.brains.scripted import Random\n"
        "class Mine(Random):\n"
        "    def decide(self, seen):\n"
        "        import lab_helper\n"
        "        return super().decide(seen)\n"
    )
    Path("lab_helper.py").write_text("from lab_deep.inside import n\n")
    Path("lab_deep").mkdir()
    Path("lab_deep/__init__.py").touch()
    Path("lab_deep/inside.py").write_text("n = 1\n")
    Path("heap.py").write_text("import lab_rules, msgspec\nfrom cohabit.worlds.nim import Nim\nclass Heap(Nim): pass\n")
    Path("lab_rules.py").write_text("")
    Path("unrelated.py").write_text("")
    design = match_design("heap.py", ["mine.py:Mine", "random"], games=2)
    run(design, tmp_path / "out")
    run(design, tmp_path / "out")
    for name, what in (("lab_deep/inside.py", r"player mine\.py:Mine"), ("lab_rules.py", "world heap")):
        before = Path(name).read_text()
        Path(name).write_text(before + "# edited\n")
        with pytest.raises(Conflict, match=f"the code of {what} has changed"):
            run(design, tmp_path / "out")
        Path(name).write_text(before)
    Path("unrelated.py").write_text("# edited\n")
    run(design, tmp_path / "out")
    prints = json.loads((tmp_path / "out" / "fingerprints.json").read_bytes())
    assert list(prints["world heap"]["packages"]) == ["msgspec"]


def test_an_edited_world_is_refused_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    from cohabit.worlds import nim

    Path("mynim.py").write_text(Path(nim.__file__).read_text())
    design = match_design("mynim.py:Nim", ["random", "random"], games=2)
    run(design, tmp_path / "out")
    Path("mynim.py").write_text(Path(nim.__file__).read_text().replace("between(12, 21)", "between(12, 22)"))
    with pytest.raises(Conflict, match="the code of world mynim has changed"):
        run(design, tmp_path / "out")


def test_the_fingerprint_of_a_built_in_world_covers_its_tables_and_nothing_that_an_author_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, table = tmp_path / "game" / "world.py", tmp_path / "game" / "items.toml"
    world.parent.mkdir()
    for path in (world, world.with_name("__init__.py"), table):
        path.write_text("")

    def changes() -> bool:
        before = fingerprint.code_of_files([world])
        table.write_text(table.read_text() + "# edited\n")
        return fingerprint.code_of_files([world]) != before

    assert not changes()
    monkeypatch.setattr(fingerprint, "PACKAGE", tmp_path)
    assert changes()


def test_a_folder_belongs_to_one_design_and_one_run_at_a_time(whole: Path, tmp_path: Path) -> None:
    import fcntl

    with pytest.raises(Conflict, match="another design"):
        run(small(seeds=4), whole)
    run(small(seeds=1), tmp_path)
    with (tmp_path / GAMES).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="another run"):
            run(small(seeds=1), tmp_path)
    (tmp_path / "design.json").unlink()
    with pytest.raises(Conflict, match=r"no design\.json"):
        run(small(seeds=1), tmp_path)


def test_what_differs_from_the_design_of_a_folder_is_named(whole: Path) -> None:
    worlds = {**SMALL["worlds"], "nim": {"factors": {"stones": [9, 13]}, "config": {"stones": 5}}}
    with pytest.raises(Conflict, match="belongs to another design") as refused:
        run(small(seeds=4, worlds=worlds, max_cost=3), whole)
    named = re.findall(r"differs in (.*)\);", str(refused.value))
    assert [sorted(keys.split(", ")) for keys in named] == [["seeds", "worlds.nim.config", "worlds.nim.factors.stones"]]


def test_damage_is_reported_and_not_repaired(whole: Path, tmp_path: Path) -> None:
    run(small(), tmp_path)
    lines = (whole / GAMES).read_bytes().splitlines(keepends=True)
    for broken, message in (
        (lines[0] + b"{}\n" + lines[1], "line 2 cannot be read"),
        (lines[1] + lines[0], r"line 1: expected the game nim\.stones-9"),
    ):
        (tmp_path / GAMES).write_bytes(broken)
        with pytest.raises(RecordCorrupt, match=message):
            run(small(), tmp_path)
        assert (tmp_path / GAMES).read_bytes() == broken


@pytest.mark.parametrize("verb", ["run", "report", "export"])
def test_a_damaged_folder_of_a_run_gets_advice_for_runs(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cohabit.faces.cli import main

    monkeypatch.chdir(tmp_path)
    Path("small.json").write_text(json.dumps(SMALL))
    assert main(["lab", "run", "small.json", "--out", "out"]) == 0
    path = Path("out", GAMES)
    path.write_bytes(b"{}\n" + path.read_bytes())
    capsys.readouterr()
    assert main(["lab", verb, *(["small.json", "--out", "out"] if verb == "run" else ["out"])]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "games.jsonl, line 1 cannot be read" in told
    assert "restore the folder out from a backup, or play again with `cohabit match` or `cohabit lab run`" in told
    assert "rooms" not in told


def test_a_finished_run_says_how_many_of_its_records_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cohabit.faces.cli import main

    monkeypatch.chdir(tmp_path)
    words = ["match", "nim", "random", "nim-master", "--games", "4", "--out", "out"]
    assert main(words) == 0
    assert "missing" not in capsys.readouterr().out
    record_path(Path("out"), read_games(Path("out"))[0].spec.id).unlink()
    assert main(words) == 0
    assert "the records of 1 of 4 games are missing: these games cannot be replayed" in capsys.readouterr().out


# -- seats, failures, money -------------------------------------------------------------------------
def test_players_really_play_both_seats(whole: Path) -> None:
    games = [game for game in read_games(whole) if game.spec.setting == "nim"]
    for game in games:
        entries = [json.loads(line)["entry"] for line in record_path(whole, game.spec.id).read_bytes().splitlines()]
        first = next(entry for entry in entries if entry["do"] == "take")
        by_master = "multiple of four" in first["why"]
        assert by_master == (game.spec.names[0] == "nim-master")
        assert [game.spec.names[seat] for seat in winners(game)] == ["nim-master"]
    assert {game.spec.names[0] for game in games} == {"nim-master", "random"}


FAILING = """
class Failing:
    def initialize(self, description, space): pass
    def reflect(self, result): pass
    def plan(self, goals): return []
    def decide(self, seen): raise SystemExit("no idea")
"""


def test_failures_are_counted_and_the_run_says_that_they_are_not_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cohabit.faces.cli import main

    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(FAILING)
    assert main(["match", "nim", "bad.py:Failing", "random", "--games", "4", "--out", "out"]) == 1
    shown = capsys.readouterr().out
    assert "FAILED: bad.py:Failing: 100.0% of its decisions failed" in shown
    failing, fine = Results.read("out").players()
    assert failing.failure_rate == 1
    assert failing.tally.outcomes == {"failed": failing.tally.decisions}
    assert fine.failure_rate == 0
    assert main(["match", "nim", "nim-master", "random", "--games", "4", "--out", "nim"]) == 0
    assert "4 of 4 games; the results are in nim/\n" in capsys.readouterr().out
    assert main(["match", "nim", "nim-master", "random", "--games", "4"]) == 0


MISTAKES = {
    "InitRaises": "initialize failed: ValueError: no file (bad.py:7)",
    "Exits": "SystemExit: no idea (bad.py:9)",
    "Words": "TypeError: decide returned str, not an Action or None",
}
BAD = """
from cohabit import Action
class OnlyDecides:
    {kind}
    {a}def decide(self, seen): return Action(**{{"name": seen.choices[0]["action"], "parameters": {{"n": 1}}}})
class InitRaises(OnlyDecides):
    {a}def initialize(self, description, space): raise ValueError("no file")
class Exits(OnlyDecides):
    {a}def decide(self, seen): raise SystemExit("no idea")
class Words(OnlyDecides):
    {a}def decide(self, seen): return "two"
"""
KINDS = {
    "thread": {"kind": "", "a": ""},
    "quick": {"kind": "quick = True", "a": ""},
    "async": {"kind": "", "a": "async "},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["OnlyDecides", *MISTAKES])
def test_a_mistake_of_an_agent_is_a_failure_of_its_player_and_only_decide_is_needed(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(BAD.format(**KINDS[kind]))
    results = run(match_design("nim", [f"bad.py:{name}", "random"], games=2))
    assert {game.ended for game in results.games} == {"over"}
    mine = [line.decision for line in results.decisions() if line.player != "random"]
    problem = MISTAKES.get(name, "")
    assert {(decision.outcome, decision.problem) for decision in mine} == {("failed" if problem else "chosen", problem)}
    assert [player.player for player in results.failing()] == ([f"bad.py:{name}"] if problem else [])


def test_a_player_that_does_nothing_on_its_turn_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("idle.py").write_text("class Idle:\n    quick = True\n    def decide(self, seen): return None\n")
    results = run(match_design("nim", ["idle.py:Idle", "random"], games=2))
    assert {game.ended for game in results.games} == {"over"}
    assert [player.player for player in results.failing()] == ["idle.py:Idle"]


def test_a_run_stops_at_its_spending_cap_and_goes_on_with_a_higher_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(MODEL.replace("n % 5", "0"))
    asked = tmp_path / "asked"
    asked.mkdir()
    players = [f"model.py:Model?folder={asked}", "random"]

    def played(cap: float, out: str) -> Results:
        return run(match_design("nim", players, games=3, swap="none", max_cost=cap), tmp_path / out)

    stopped = played(1.0, "out")
    assert "spending cap of $1" in stopped.problems()[0]
    assert len(stopped.games) < 3
    assert sum(len(path.read_bytes()) for path in asked.iterdir()) == 4
    assert not played(100.0, "out").problems()
    for path in asked.iterdir():
        path.unlink()
    assert played(100.0, "whole").games == Results.read("out").games


PRICE = {"canned": [2_000, 2_000]}  # dollars per million tokens: a request is estimated at about 1.6 dollars


@pytest.mark.sampled
@pytest.mark.parametrize("killed_at", [5, 6, 9])
def test_a_resumed_run_counts_the_requests_that_got_no_answer(
    killed_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "prices.json").write_text(json.dumps(PRICE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COHABIT_PRICES", str(tmp_path / "prices.json"))

    def play(out: str, returns: int = 1) -> int:
        """The number of requests that the model got in all runs with this folder."""
        asked = tmp_path / f"asked-{out}"
        asked.mkdir(exist_ok=True)
        words = ["nim", "model.py:Model?folder=asked", "random", "--games", "9", "--swap", "none", "--max-cost", "20"]
        (tmp_path / "asked").unlink(missing_ok=True)
        (tmp_path / "asked").symlink_to(asked)
        command = [sys.executable, "-m", "cohabit", "match", *words, "--out", out]
        assert subprocess.run(command, check=False).returncode == returns
        return sum(len(path.read_bytes()) for path in asked.iterdir())

    requests = play("whole")
    first = Results.read("whole").games[0].tallies[0]
    assert first.outcomes.keys() >= {"timeout", "failed"}
    assert first.charged > first.dollars + 3
    assert play("whole") == requests, "the cap is reached already"
    (tmp_path / "asked-killed").mkdir()
    (tmp_path / "asked-killed" / "kill").write_text(str(killed_at))
    play("killed", -signal.SIGKILL)
    assert play("killed") <= requests, "what was under way when it was killed may have cost something"
    assert Results.read("killed").spent[1] >= Results.read("whole").spent[1] - 1e-6
    played = len(Results.read("killed").games)
    assert Results.read("killed").games == Results.read("whole").games[:played]
    assert played


def test_the_table_says_what_requests_without_an_answer_may_have_cost(whole: Path) -> None:
    results = Results.read(whole)
    assert not results.notes()
    results.games[0].tallies[0] = Tally({"chosen": 1, "timeout": 1}, 50, 9, dollars=0.5, charged=2.25)
    assert "$0.50 to $2.25" in results.rows()[0]
    assert results.notes() == ["the higher of two costs includes the most that requests of unknown cost may have cost"]


PAID = """
from cohabit.agents.contract import Exchange, Thought, Usage
from cohabit import Action

class Paid:
    backend = "a service of mine"
    async def think(self, turn, correction=""):
        with open("requests", "a") as file:
            file.write("x")
        used = [Exchange([], usage=Usage(1, 1, 0.5)), Exchange([], usage=Usage(1, 1, 0.5, cached=True))]
        return Thought(Action("take", {"n": 1}), used)
"""


@pytest.mark.soak
def test_what_an_agent_of_ones_own_says_it_paid_counts_against_the_cap_also_after_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("paid.py").write_text(PAID)
    design = match_design("nim", ["paid.py:Paid", "random"], games=9, swap="none", max_cost=1.5)
    for runs in (1, 2):
        assert "spending cap of $1.5" in run(design, tmp_path / "out").stopped
        assert Path("requests").read_text() == "xxx" * runs  # it is asked again, so that its memory is the same


def test_every_record_replays(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cohabit.faces.cli import main

    paths = [str(record_path(whole, game.spec.id)) for game in read_games(whole)]
    assert main(["verify", *paths]) == 0
    heads = [line.split(":")[1] for line in capsys.readouterr().out.splitlines() if line.startswith("  head")]
    assert heads == [game.head for game in read_games(whole)]


def test_no_result_of_a_game_is_turned_into_text_behind_the_back_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[GameResult] = []
    monkeypatch.setattr(GameResult, "__repr__", lambda result: written.append(result) or "a result", raising=False)
    assert repr(run(match_design("nim", ["random", "random"], games=3)).games[0]) == "a result"
    assert len(written) == 1, "asyncio writes the result of a finished task when it gives up Ctrl+C"


def test_a_match_in_a_notebook_runs_beside_its_event_loop() -> None:
    import asyncio

    from cohabit import match

    async def cell() -> Results:
        return match("nim", "random", "nim-master", games=4)

    results = asyncio.run(cell())
    assert [player.won for player in results.players()] == [0, 4]
    assert "<td>nim-master</td>" in results._repr_html_()
    assert os.environ.get("DISPLAY") is None or results.plot() is not None


# -- what is printed ------------------------------------------------------------------------------
def test_a_run_without_a_terminal_says_now_and_then_how_far_it_is() -> None:
    clock, lines = [0.0], list[str]()
    progress = ProgressLines("nim\x1b", lambda: clock[0], lines.append)
    for at, done in ((1, 50), (6, 55), (7, 56), (12, 60), (13, 66), (43, 67), (50, 100)):
        clock[0] = float(at)
        progress(done, 100)
    assert lines == [f"nim·: {done} of 100 done" for done in (55, 66, 67, 100)]


def test_a_run_without_a_terminal_says_within_a_long_game_how_many_decisions_there_were() -> None:
    clock, decisions, lines = [0.0], [0], list[str]()
    progress = ProgressLines("planet", lambda: clock[0], lines.append, lambda: decisions[0])
    progress(0, 1)
    for at, made in ((1, 50), (29, 1_450), (30, 1_500), (31, 1_600), (60, 3_000), (95, 3_001)):
        clock[0], decisions[0] = float(at), made
        progress.tell()
    assert lines == [
        "planet: 0 of 1 done, 1,500 decisions (50/s)",
        "planet: 0 of 1 done, 3,000 decisions (50/s)",
        "planet: 0 of 1 done, 3,001 decisions",
    ]


def test_a_terminal_shows_how_many_decisions_there_were_within_a_long_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("planet", decisions=lambda: 12_345) as on_game:
        on_game(0, 1)
    assert "0/1" in (shown := capsys.readouterr().err)
    assert "12,345 decisions" in shown


def test_decisions_of_a_game_are_counted_while_it_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    count, seen = DecisionCount(), list[int]()

    class Watched(Random):
        def decide(self, observation: Observation) -> Action | None:
            seen.append(count.total())
            return super().decide(observation)

    def opened(name: str, purpose: str, *_: Any) -> Any:
        return adapted(Watched(purpose) if name == "nim-master" else Random(purpose))

    monkeypatch.setattr("cohabit.lab.games.open_agent", opened)
    design = match_design("nim", ["random", "nim-master"], games=2)
    games = run(design, count=count).games
    first, second = [game.decisions for game in games]
    assert seen == [*range(1, first, 2), *range(first, first + second, 2)]
    assert count.total() == first + second


def test_decisions_of_games_in_other_processes_are_counted() -> None:
    count = DecisionCount()
    games = run(match_design("tictactoe", ["random", "random"], games=40), None, 2, count=count).games
    assert count.total() == sum(game.decisions for game in games)


@pytest.mark.parametrize("method", ["reset(self, seed: int, seats: Sequence[Seat])", "standings(self)"])
def test_a_crash_at_either_end_of_a_game_is_one_of_the_world(method: str, tmp_path: Path) -> None:
    file, text = tmp_path / "heap.py", Path(nim.__file__).read_text()
    head, found, rest = text.partition(f"    def {method}")
    line, _, body = rest.partition("\n")
    assert found
    file.write_text(f"{head}{found}{line}\n        {{}}['lost']\n{body}")
    said = r"game heap\.\S+\.s1\.0 with seed 1: the world 'nim' failed .*: KeyError: 'lost' \(heap\.py:\d+\)"
    with pytest.raises(GameCrash, match=said):
        match(str(file), "random", "random", games=2, progress=False)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crash_of_a_world_says_in_which_game_and_what_was_raised_where(workers: int, tmp_path: Path) -> None:
    file, text = tmp_path / "heap.py", Path(nim.__file__).read_text()
    file.write_text(text.replace("self.stones -= n\n", "self.stones -= {0: n}[self.moves]\n"))
    line = 1 + file.read_text().splitlines().index("        self.stones -= {0: n}[self.moves]")
    said = rf"game heap\.\S+\.s5\.0 with seed 5: the world 'nim' failed .*: KeyError: 1 \(heap\.py:{line}\)\. `cohabit check"
    with pytest.raises(GameCrash, match=said):
        match(str(file), "random", "random", games=4, seed=5, workers=workers, progress=False)


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.37e-05, "0.024 ms"), (0.0123, "12 ms"), (0.5, "0.5 s"), (12.3, "12 s")]
)
def test_a_time_of_thinking_is_written_in_seconds_or_milliseconds(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize("workers", [1, 2])
def test_a_person_plays_one_game_after_another(
    workers: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n" * 100))
    results = run(match_design("nim", ["human", "random"], games=2), workers=workers)
    assert [tally.failures for game in results.games for tally in game.tallies] == [0, 0, 0, 0]
    _, first, second = capsys.readouterr().out.split(HELP)  # it is shown at the beginning of each game
    assert min(shown.count("You took 1") for shown in (first, second)) >= 4


@pytest.mark.parametrize(("lines", "finished"), [(0, 0), (3, 0), (18, 3)])
def test_a_match_stops_where_the_input_of_a_person_ends(
    lines: int, finished: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cohabit.faces.cli import main

    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n" * lines))
    assert main(["match", "nim", "human", "random", "--games", "4", "--out", str(tmp_path)]) == 1
    *before, last = capsys.readouterr().out.splitlines()
    assert last == f"FAILED: the input of human has ended; {finished} of 4 games are finished."
    assert any("of 4 games" in line for line in before) is (finished > 0)
    games = read_games(tmp_path)
    assert len(games) == finished
    assert not any(tally.failures for game in games for tally in game.tallies)
