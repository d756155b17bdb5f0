"""``check_feature`` passes a good feature and names what is wrong with a bad one."""

import subprocess
from pathlib import Path

import pytest
from tests import forks

from cohabit.testing.feature_checker import CHECKS, check_feature

POLL = Path(__file__).parents[2] / "examples" / "poll.py"
GOOD = POLL.read_text()


def broken(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


FAULTS = {
    "it keeps a slice under another name": (
        broken('POLLS = Slice("poll", Polls)', 'POLLS = Slice("polls", Polls)'), "declaration",
        "give the slice the feature's name",
    ),
    "its slice is stored even if it has only defaults": (
        broken("class Polls(Struct, omit_defaults=True)", "class Polls(Struct)"), "declaration", "omit_defaults=True"
    ),
    "a command has no description": (
        broken('    """The open polls, and the votes so far."""\n', ""), "declaration", "polls needs a docstring"
    ),
    "a refused call changes the room": (
        broken("    found = POLLS.read(ctx.state).open.get(poll)", "    found = POLLS.change(ctx.state).open.get(poll)"),
        "use", "changed the room before that",
    ),
    "a command raises an exception that is no refusal": (
        broken("    if found is None:\n", "    if found == 0:\n"), "use", "vote failed: AttributeError"
    ),
    "a timer has a name that does not exist": (
        broken('"poll_ended", {"poll"', '"poll_end", {"poll"'), "use", "there is no system entry 'poll_end'"
    ),
    "a hook is misspelt": (broken("def view_lines(", "def view_line("), "declaration", "did you mean view_lines?"),
    "a category does not exist": (
        broken('@command(category="meta", needs=Capability.WATCH)', '@command(category="metal", needs=Capability.WATCH)'),
        "declaration", "the category of polls is one of meta",
    ),
    "it returns a list where text is wanted": (
        broken('        return "\\n".join(', "        return list("), "questions", "view_lines returns text, not list"
    ),
    "a command that changes something is not recorded": (
        broken("records=True, listed=True", "listed=True"),
        "use", "start_poll changes the room, but is not recorded",
    ),
    "a timer stays due": (
        broken(".open.pop(poll))", ".open[poll])"), "use", "'poll_ended' was applied 100 times and is still due"
    ),
    "a timer that is due much later fails": (
        broken(".open.pop(poll))", ".open.pop(poll + '?'))").replace("seconds * 1000)", "10_000_000)"), "use",
        "failed: KeyError",
    ),
    "a timer fails": (broken(".open.pop(poll))", ".open.pop(poll + '?'))"), "use", "failed: KeyError"),
    "a question changes the room": (
        broken("        return \"\\n\".join(\n", "        POLLS.change(room.state).open.clear()\n        return \"\\n\".join(\n"),
        "questions", "view_lines is a question",
    ),
    "it depends on a clock": (
        broken("ctx.at + seconds * 1000", "__import__('time').time_ns()"), "replay", "not from a clock"
    ),
    "it depends on the hashes of a process": (
        broken("choices, ctx.at +", "sorted(choices, key=hash), ctx.at +"), "process", "the order of a set"
    ),
    "it keeps something outside of its slices": (
        broken("    mine.polls += 1\n", "    MADE.append(1)\n    mine.polls = len(MADE)\n").replace(
            "OPEN_AT_ONCE = 5\n", "OPEN_AT_ONCE = 5\nMADE: list[int] = []\n"
        ),
        "replay", "values outside of its slices",
    ),
    "it is in a room that has not used it": (
        broken("    def due(self", "    def active(self, room: BaseRoom) -> bool:\n        return True\n\n    def due(self"),
        "unused", "has not used it",
    ),
    "a refused message changes the room": (
        broken("    def due(self", """    def recipients(self, ctx: Context, to: str, receivers: list[str]) -> list[str]:
        POLLS.change(ctx.state).open.clear()
        raise Busy("no")

    def due(self"""),
        "use", "changed the room before that",
    ),
    "it never returns": (
        broken("        for name, poll in POLLS.read(room.state).open.items():\n            yield",
               "        while True:\n            pass\n        for name, poll in POLLS.read(room.state).open.items():\n            yield"),
        "limits", "in due",
    ),
}  # fmt: skip


def test_the_example_passes_every_check() -> None:
    report = check_feature(str(POLL))
    assert report.ok, report
    assert [finding.check for finding in report.findings] == list(CHECKS)
    assert not [finding for finding in report.findings if finding.warned]


@pytest.mark.sampled(kind=lambda fault: FAULTS[fault][1])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_its_message_says_what_to_change(fault: str, tmp_path: Path) -> None:
    text, check, says = FAULTS[fault]
    (tmp_path / "bad.py").write_text(text)
    report = check_feature(str(tmp_path / "bad.py"), seconds=2 if check == "limits" else 60)
    assert report.failed() == [check], report
    assert says in str(report.findings[-1].message), report


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("text", "says"),
    [("import nowhere\n" + GOOD, "No module named 'nowhere'"), (GOOD + "\nthis is (", "SyntaxError"),
     (GOOD.replace("open: dict[str, Poll] = {}", "open: dict[str, Poll]"), "(Polls) need default values")],
)  # fmt: skip
def test_a_file_that_cannot_be_loaded_is_named_with_the_reason(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(text)
    report = check_feature(str(tmp_path / "bad.py"))
    assert not report.ok
    assert says in report.findings[-1].message, report


def test_members_that_a_feature_does_not_forget_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(broken("if member not in ctx.state.members]", "if not member]"))
    report = check_feature(str(tmp_path / "bad.py"))
    assert report.ok
    assert [finding.check for finding in report.findings if finding.warned] == ["members"]


FLEETING = '''
import time

from msgspec import Struct

from cohabit.features import Capability, Context, Feature, Slice, command, system_entry


class Notes(Struct, omit_defaults=True):
    newest: dict[str, int] = {}


NOTES = Slice("notes", Notes)


@command(category="meta", needs=Capability.WATCH, records=True)
def note(ctx: Context) -> None:
    """Note the time, until anything else happens."""
    NOTES.change(ctx.state).newest = {str(ctx.at): time.time_ns()}


@system_entry()
def forgotten(ctx: Context) -> None:
    """Nothing ever makes it due."""


class Noting(Feature):
    name = "notes"
    room_slice = NOTES

    def follow(self, ctx: Context) -> None:
        kept = NOTES.change(ctx.state)
        kept.newest = {at: noted for at, noted in kept.newest.items() if at == str(ctx.at)}
'''


def test_a_difference_that_does_not_last_is_found_and_what_never_came_due_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(FLEETING)
    report = check_feature(str(tmp_path / "notes.py"))
    found = {finding.check: finding for finding in report.findings}
    assert found["use"].warned
    assert found["use"].message == "never due: forgotten; test them yourself"
    assert report.failed() == ["replay"]
    assert "it differs after entry" in found["replay"].message


PLAYERS_ONLY = '''
from msgspec import Struct
from cohabit.errors import GameRejected
from cohabit.features import BaseRoom, Capability, Context, Feature, Member, Slice, command

class Counts(Struct, omit_defaults=True):
    moves: int = 0
    resigned: int = 0

COUNTS = Slice("players_only", Counts)

@command(category="meta", needs=Capability.ACT, records=True)
def resign(ctx: Context) -> int:
    """Players only."""
    if ctx.member.seat is None:
        raise GameRejected("you do not play")
    COUNTS.change(ctx.state).resigned += 1
    return COUNTS.read(ctx.state).resigned

class PlayersOnly(Feature):
    name = "players_only"
    room_slice = COUNTS

    def acted(self, room: BaseRoom, member: Member) -> None:
        COUNTS.change(room.state).moves += 1
'''


def test_a_feature_is_used_by_members_who_play(tmp_path: Path) -> None:
    (tmp_path / "feature.py").write_text(PLAYERS_ONLY)
    report = check_feature(str(tmp_path / "feature.py"))
    assert report.ok, report
    assert not [finding for finding in report.findings if finding.warned], report
    (tmp_path / "feature.py").write_text(PLAYERS_ONLY.replace(".moves += 1", ".moves += len(1)"))
    report = check_feature(str(tmp_path / "feature.py"))
    assert report.failed() == ["use"], report
    assert "TypeError" in str(report.findings[-1].message), report


def test_the_command_line_checks_a_feature(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(FAULTS["a timer fails"][0])
    for path, status in ((POLL, 0), (tmp_path / "bad.py", 1)):
        done = subprocess.run([*forks.command(), "check", str(path)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (status, "")
        assert "poll in nim" in done.stdout
