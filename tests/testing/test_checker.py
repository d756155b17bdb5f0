from pathlib import Path

import pytest

from cohabit.errors import BadArgs
from cohabit.house.house import House
from cohabit.registry import known_worlds
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.checker import CHECKS, Report, check_world

TALLY = (Path(__file__).parent / "tally.py").read_text()
SHORT = {"lanterns": {"ticks": 40}, "kingdoms": {"zones_x": 2, "zones_y": 2, "kingdoms": 2}, "statecraft": {"turns": 3}}
"""Settings under which a game ends while it is being checked, or at least is small."""
LARGE = ["kingdoms"]
"""Worlds of which a few steps have to do here; their endings are tested with them."""


def broken(folder: Path, *changes: tuple[str, str]) -> Report:
    text = TALLY
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is in tally.py {text.count(old)} times"
        text = text.replace(old, new)
    file = folder / "tally.py"
    file.write_text(text)
    return check_world(str(file), seeds=(1, 2), steps=30)


@pytest.mark.parametrize("world", list(known_worlds()))
def test_every_registered_world_keeps_the_contract(world):
    seeds, steps = ((1,), 20) if world in LARGE else ((1, 2), 60)
    report = check_world(world, seeds=seeds, steps=steps, config=SHORT.get(world))
    assert report.ok, f"\n{report}"
    assert report.steps == len(seeds) * steps
    assert world in LARGE or "no game came to an end" not in str(report)


def test_the_world_that_the_others_are_broken_from_is_well(tmp_path):
    report = broken(tmp_path)
    assert report.ok, f"\n{report}"
    assert [finding.check for finding in report.findings] == list(CHECKS)


RESET_END = '        self.said = ""\n'
TAKES = "        if not 1 <= n <= 5:\n"
OBSERVE = "        return Observation("
MADE = "        self.moves += 1\n"
SAID = "self.said = self.words[self.moves % 6]"
IMPORTS = "from typing import Annotated\n"
OVER = "return [] if sum(self.sums.values()) > 30 else [self.order[self.moves % len(self.order)]]"
FORGETFUL = """
    def snapshot(self) -> bytes:
        import json
        return json.dumps([self.sums, self.order, self.moves, self.dice.seed, self.dice.counter]).encode()

    def restore(self, data: bytes) -> None:
        import json
        self.sums, self.order, self.moves, seed, counter = json.loads(data)
        self.dice = Stream(seed, "dice", counter)
        self.words = ["one", "two", "three", "four", "five", "six"]
        self.said = ""
"""
CLOCK = """
    def advance(self, ticks: int) -> Sequence[object]:
        self.moves += ticks
        if self.moves > 20:
            self.moves = 0
        return ()

    @query()
"""

LOOKS_BACK = """
        if sum(self.sums.values()) > 30:
            self.sums = dict.fromkeys(self.sums, 0)
"""
NO_RULES = "Tally. In turn add 1 to 5 to the sum; a die adds as much again; whoever passes 30 loses."
LEGAL = 'return [Action("add", {"n": n}) for n in range(1, 6)]'
DIE = "self.dice.between(1, 6)"
N = "n: Annotated[int, Range(0, 9)]"


def after(line: str, *more: str) -> tuple[str, str]:
    return line, line + "".join(f"        {part}\n" for part in more)


def before(line: str, *more: str) -> tuple[str, str]:
    return line, "".join(f"        {part}\n" for part in more) + line


def importing(what: str) -> tuple[str, str]:
    return IMPORTS, f"{IMPORTS}{what}\n"


BROKEN = {
    "observing it changes it": ("peeking", "observe() changed the world", [before(OBSERVE, "self.said += '.'")]),
    "a query draws from the dice": (
        "peeking",
        "total() changed the world",
        [after('        """The sum."""\n', "self.dice.bits64()")],
    ),
    "it answers differently each time it is asked": (
        "peeking",
        "answered differently",
        [before(OBSERVE, "SHARED.append(1)"), ('text=f"sum', 'text=f"{len(SHARED)} sum')],
    ),
    "its dice are the operating system's": (
        "same seed",
        "Stream(seed, purpose)",
        [importing("import os"), (DIE, "1 + int.from_bytes(os.pread(os.open('/dev/urandom', 0), 8, 0)) % 6")],
    ),
    "its dice are the process's": (
        "source",
        "use Stream(seed, purpose)",
        [importing("import random"), (DIE, "random.randint(1, 6)")],
    ),
    "it reads the clock": (
        "source",
        "reads the wall clock",
        [importing("from datetime import datetime"), after(RESET_END, "self.began = str(datetime.now())")],
    ),
    "it walks through a set": (
        "source",
        "no certain order",
        [(SAID, "self.said = [w for w in set(self.words)][0]")],
    ),
    "it follows the order of a set": (
        "process",
        "PYTHONHASHSEED",
        [after(RESET_END, "pool = set(self.words)", "self.words = [pool.pop() for _ in range(6)]")],
    ),
    "it keeps a set": (
        "play",
        "a set is not in the same order",
        [after(RESET_END, "self.seen = set(self.words)")],
    ),
    "it keeps state in the module": (
        "neighbour",
        "keep all state in self",
        [
            after(RESET_END, "SHARED.clear()"),
            after(MADE, "SHARED.append(n)"),
            (SAID, "self.said = str(len(SHARED))"),
        ],
    ),
    "a refusal is half done": (
        "refusals",
        "check everything first, then change",
        [before(TAKES, "self.moves += 2")],
    ),
    "its snapshot forgets": ("snapshot", "forgets something", [("\n    def legal", FORGETFUL + "\n    def legal")]),
    "a finished game comes back": (
        "over",
        "time passing brought it back",
        [
            ('pace="turns"', 'pace="clock"'),
            ("\n    @query()\n", CLOCK),
            (OVER, "return [] if self.moves % 10 > 6 else list(self.order)"),
        ],
    ),
    "looking brings a finished game back": (
        "over",
        "looking at it brought it back",
        [before(f"        {LEGAL}", LOOKS_BACK.strip())],
    ),
    "reset leaves something of the last game": (
        "reset",
        "set every attribute in reset()",
        [(RESET_END, "        self.said = getattr(self, 'said', '')\n")],
    ),
    "it crashes": ("play", "in add(): ZeroDivisionError", [after(MADE, "_ = 1 // (self.moves % 3)")]),
    "it crashes before anything": ("play", "in reset(): KeyError", [after(RESET_END, "{}['nothing']")]),
    "its views cannot be sent": (
        "play",
        "TypeError",
        [(OBSERVE, OBSERVE + "status={'what': self.dice}, ")],
    ),
    "it waits for a seat that is not there": (
        "to_move",
        "'middle'",
        [(OVER, OVER.replace("else [", "else ['middle', "))],
    ),
    "it scores a seat that is not there": (
        "to_move",
        "standings() names",
        [("Standing(seat, seat, -total)", "Standing('x' + seat, seat, -total)")],
    ),
    "it lists what it refuses": ("legal", "yet it is refused", [(LEGAL, LEGAL.replace("6", "7"))]),
    "it lists nothing in one's turn": ("legal", "lists nothing", [(LEGAL, "return []")]),
    "nothing it can do is ever accepted": (
        "play",
        "not one action was accepted",
        [(TAKES, "        if n < 99:\n"), ("    def legal", "    def _legal")],
    ),
    "an action says nothing": ("words", "has no docstring", [('        """Add to the sum."""\n', "")]),
    "a parameter says nothing": ("words", "say what 'n' is", [(N, "n")]),
    "a parameter is of a kind JSON has not": ("words", "JSON Schema", [(N, "n: World")]),
    "it has no rules": ("spec", "write the rules there", [(NO_RULES, "")]),
    "it has no spec": ("spec", "has no spec", [("    spec = ", "    specs = ")]),
    "it takes a name of every room": ("names", "every room needs", [("    def total(", "    def view(")]),
    "it takes a name of the house": ("names", "the house needs", [("    def total(", "    def events(")]),
    "its clock does not run": ("spec", "calls advance()", [('pace="turns"', 'pace="clock"')]),
    "it has no actions": ("spec", "there is no @action", [("    @action()\n", "")]),
    "it cannot be imported": ("spec", "cannot be imported", [importing("import no_such_module")]),
}


PARAMETERS = "    def total(self, eye: Eye) -> int:", "    def total(self, eye: Eye, of: SeatId) -> int:"
ROUNDS = """
    def resolve(self) -> Sequence[object]:
        self.given = []
        return ()

    @query()
"""
BY_GOD = """
    @action(needs="act_global")
    def clear(self, by: Seat | None) -> Outcome:
        \"\"\"Begin again from nothing.\"\"\"
        self.sums = dict.fromkeys(self.sums, 0)
        return Outcome("cleared")

    @query()
"""
SOUND = {
    "lists no moves": [("    def legal", "    def _legal")],
    "is for one alone": [("seats=2", "seats=1"), ('pace="turns"', 'pace="step"')],
    "is for up to fifty": [("seats=2", "seats=(1, 50)")],
    "has a query with a parameter": [PARAMETERS],
    "has actions named like entries of the record": [
        ("    def add(", "    def ticks("),
        (LEGAL, LEGAL.replace("add", "ticks")),
    ],
    "has an action for gods that brings no ended game back": [
        ("\n    @query()\n", BY_GOD.replace("self.sums =", "self.said = '' if not self.to_move() else self.said  #")),
    ],
    "goes in rounds": [
        ('pace="turns"', 'pace="rounds"'),
        after(RESET_END, "self.given = []"),
        before(TAKES, "if by.id in self.given:", "    raise GameRejected('once a round')"),
        after(MADE, "self.given = [*self.given, by.id]"),
        (OVER, "return [] if sum(self.sums.values()) > 30 else [s for s in self.order if s not in self.given]"),
        ("\n    @query()\n", ROUNDS),
    ],
}


@pytest.mark.parametrize("how", list(SOUND))
def test_a_world_is_well_that(how, tmp_path):
    report = broken(tmp_path, *SOUND[how])
    assert report.ok, f"\n{report}"


def test_a_god_that_brings_an_ended_game_back_is_found_out(tmp_path):
    report = broken(tmp_path, ("\n    @query()\n", BY_GOD))
    assert report.failed() == ["over"]


async def test_a_house_opens_no_room_for_a_world_that_takes_its_names(tmp_path):
    file = tmp_path / "tally.py"
    file.write_text(TALLY.replace("    def total(", "    def events("))
    async with House.open() as house:
        with pytest.raises(BadArgs, match="'events', which the house needs"):
            await house.create_room(Scenario(world=str(file), agents=[AgentSpec(id="ann")]))
        assert house.rooms == {}


@pytest.mark.parametrize("how", list(BROKEN))
def test_a_world_is_found_out_when(how, tmp_path):
    check, words, changes = BROKEN[how]
    report = broken(tmp_path, *changes)
    assert not report.ok
    assert check in report.failed(), f"\n{report}"
    finding = next(f for f in report.findings if f.check == check)
    assert words in finding.message


def test_a_check_that_played_nothing_fails(tmp_path):
    file = tmp_path / "tally.py"
    file.write_text(TALLY)
    assert "play" in check_world(str(file), seeds=(1,), steps=0).failed()
    assert "play" in check_world(str(file), seeds=(), steps=10).failed()


def test_a_line_can_be_excused_with_a_reason(tmp_path):
    excused = IMPORTS + "import random  # cohabit: ok - only for its constants\n"
    assert "source" not in broken(tmp_path, (IMPORTS, excused)).failed()


def test_a_world_that_is_nowhere_is_a_report_too():
    report = check_world("no such world")
    assert report.failed() == ["spec"]
    assert "there is no world" in str(report)


def test_a_report_prints_as_a_table(tmp_path):
    lines = str(broken(tmp_path, (TAKES, "        self.moves += 2\n" + TAKES))).splitlines()
    assert lines[0].endswith("60 steps played")
    assert any(line.startswith("  FAIL  refusals ") for line in lines)
    assert lines[-1] == "  1 of 16 checks failed"
