"""``check_agent`` finds what is wrong with an agent, whatever that does to its process."""

from pathlib import Path

import pytest

from cohabit.faces.cli import main
from cohabit.testing import agent_checker
from cohabit.testing.agent_checker import CHECKS, check_agent, world_of
from cohabit.testing.sources import is_agent

FAULTY = Path(__file__).parent.parent / "agents" / "faulty.py"
SEGFAULT = "AgentCrashed: its process was killed by SIGSEGV"


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["Sync", "Quick", "Async", "Thinks", "OnlyDecides"])
def test_an_agent_that_meets_the_contract_passes_every_check(kind: str) -> None:
    report = check_agent(f"{FAULTY}:{kind}")
    assert report.ok, report
    assert [finding.check for finding in report.findings] == list(CHECKS)


BAD = {
    "Sync?how=segfault&where=decide": ("lab", SEGFAULT),
    "Async?how=exit&where=plan": ("lab", "plan failed: AgentCrashed: its process ended with exit code 0"),
    "Quick?how=raise&where=reflect": ("lab", "reflect failed: ZeroDivisionError: a bug"),
    "Async?how=raise&where=initialize": ("lab", "initialize failed: ZeroDivisionError: a bug"),
    "Sync?how=hold&where=reflect": ("lab", "reflect did not return in time"),
    "Async?how=loop&where=decide": ("lab", "decide did not return in time"),
    "Sync?how=raise&where=close": ("lab", "none failed, but close failed: ZeroDivisionError: a bug"),
    "Late": ("lab", "no answer in"),
    "Patient": ("lab", "decide did not return in time"),
    "Nothing": ("lab", "TypeError: decide returned str, not an Action or None"),
    "WrongSignature": ("signatures", "decide() -> Any: too many positional arguments"),
    "Remembers": ("next game", "it plays differently after another game: keep state on `self`"),
    "Missing": ("made", "has no agent 'Missing'"),
}
SLOW = ("Sync?how=hold&where=reflect",)  # another one never returns either


@pytest.mark.sampled(kind=lambda name: BAD[name][0])
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak if name in SLOW else ()) for name in BAD])
def test_an_agent_that_breaks_the_contract_fails_with_the_reason(name: str) -> None:
    check, reason = BAD[name]
    report = check_agent(f"{FAULTY}:{name}", seconds=0.5 if name == "Late" else 2.0)
    assert not report.ok
    (finding,) = [finding for finding in report.findings if finding.check == check]
    assert finding.ok is False
    assert reason in finding.message
    if check == "lab":  # one behaviour in the lab and in a house
        (house,) = [finding for finding in report.findings if finding.check == "house"]
        assert house.ok is False
        assert reason in house.message or "did not return" in reason


def test_the_check_of_an_agent_that_never_chooses_an_action_ends_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_checker, "SILENT_S", 0)
    path = tmp_path / "idle.py"
    path.write_text("class Idle:\n    def decide(self, observation):\n        return None\n")
    found = {finding.check: finding.message for finding in check_agent(str(path), seconds=1).findings}
    assert "it waits for news on its turn" in found["house"]
    assert "the game waits for one" in found["lab"]


def test_a_world_that_fails_is_named_in_a_few_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = (Path(__file__).parent / "tally.py").read_text()
    file = tmp_path / "tally.py"
    file.write_text(tally.replace("        self.moves += 1\n", "        self.moves += 1 // 0\n"))
    assert main(["check", f"{FAULTY}:Sync", "--in", str(file)]) == 1
    out, err = capsys.readouterr()
    said = " ".join(out.split())
    assert "FAIL lab the world failed, not the agent: tally.py:51 in add(): ZeroDivisionError" in said, said
    assert "`cohabit check " in said
    assert len(out.splitlines()) <= 8
    assert "Traceback" not in err


def test_the_command_checks_an_agent_and_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{FAULTY}:OnlyDecides", "--in", "tictactoe"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("faulty.py:OnlyDecides in tictactoe: ")
    assert "  ok    made        asynchronous, in a process of its own; it has decide\n" in shown
    assert shown.endswith("  all checks passed\n")
    assert main(["check", f"{FAULTY}:Nothing"]) == 1
    assert "TypeError: decide returned str, not an Action or None" in capsys.readouterr().out


def test_a_built_in_script_is_checked_in_a_world_that_it_plays(capsys: pytest.CaptureFixture[str]) -> None:
    assert world_of("lamplighter") == "lanterns"
    assert main(["check", "nim-master"]) == 0
    assert capsys.readouterr().out.startswith("nim-master in nim: ")


def test_a_file_is_told_to_be_an_agent_or_a_world_without_running_it(tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(
        "raise SystemExit\nclass Game(World): ...\nclass Base:\n    def decide(self, seen): ...\nclass Bot(Base): ...\n"
    )
    both = f"{tmp_path}/both.py"
    assert [is_agent(name) for name in (both, f"{both}:Game", f"{both}:Bot", f"{both}:Bot?depth=3")] == [
        False,
        False,
        True,
        True,
    ]
    assert [is_agent(name) for name in ("random", "nim", "whist", "nobody")] == [True, False, False, False]
    (tmp_path / "bot.py").write_text("class Bot:\n    async def think(self, turn, correction=''): ...\n")
    assert is_agent(f"{tmp_path}/bot.py")
    assert is_agent(f"{tmp_path}/bot.py:Bto")  # so the report says that there is no such agent
    assert not is_agent(f"{both}:Bto")


def test_a_class_that_plays_a_nation_is_checked_in_statecraft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text("class Quiet:\n    def act(self, agent_input):\n        return {}\n")
    assert main(["check", f"{tmp_path}/mine.py:Quiet"]) == 0
    assert capsys.readouterr().out.startswith("mine.py:Quiet in statecraft: ")


def test_a_class_that_is_neither_a_world_nor_an_agent_is_told_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bot.py").write_text("class Bot:\n    def plan(self, goals): ...\n")
    assert main(["check", f"{tmp_path}/bot.py:Bot"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "is not a world: derive it from World. An agent has a method decide or think" in shown
