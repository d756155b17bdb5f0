"""check_world: worlds that keep the contract pass, and worlds that break it are refused with words that help."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.examples import soak_except

from cohabit.errors import BadArgs
from cohabit.house.house import House
from cohabit.registry import WITHOUT_SEATS, known_worlds
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.checker import CHECKS, Report, check_here, check_world

TALLY = (Path(__file__).parent / "tally.py").read_text()
SHORT = {
    "lanterns": {"ticks": 40}, "kingdoms": {"zones_x": 2, "zones_y": 2, "kingdoms": 2}, "statecraft": {"turns": 3},
    "crafter": {"length": 20, "size": 16}, "crafter_shared": {"length": 3, "size": 16},
    "whist": {"points": 1}, "planet": {"length": 3},
}  # fmt: skip
"""Settings under which a game ends while it is being checked, or at least is small."""
STEPS = {"planet": 20, "whist": 100, "kingdoms": 6, "crafter": 20, "crafter_shared": 20}
"""Steps until a game has ended, if 60 are too few, or that are enough of a large world."""
LARGE = ["kingdoms", "crafter", "crafter_shared"]
"""Worlds of which only a few steps are played here; their endings are tested with them."""


SAMPLES = Path(__file__).parent.parent / "worlds_samples"


def changed(
    folder: Path, source: Path, *changes: tuple[str, str], steps: int = 30, seeds: Sequence[int] = (1, 2)
) -> Report:
    """What check_world says of a world file after these changes of its text."""
    text = source.read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is in {source.name} {text.count(old)} times"
        text = text.replace(old, new)
    (folder / "including.html").write_text('<script src="cohabit:no_such.js"></script>')
    file = folder / source.name
    file.write_text(text)
    return check_here(str(file), seeds=seeds, steps=steps)


def broken(folder: Path, *changes: tuple[str, str]) -> Report:
    return changed(folder, Path(__file__).parent / "tally.py", *changes)


LONG = {"planet", "crafter_shared", "kingdoms", "statecraft"}
"""Maps, of which `crafter` has one in less time; and Statecraft, which is checked with its tests."""


def keeps_the_contract(world: str, check: Callable[..., Report]) -> None:
    steps = STEPS.get(world, 60)
    report = check(world, seeds=(1,), steps=steps, config=SHORT.get(world))
    assert report.ok, f"\n{report}"
    assert report.steps == steps
    assert world in {*LARGE, *WITHOUT_SEATS} or "no game ended" not in str(report)


@pytest.mark.parametrize("world", soak_except(known_worlds(), "nim", "lounge"))
def test_every_registered_world_keeps_the_contract(world):
    keeps_the_contract(world, check_world)


@pytest.mark.parametrize("world", [name for name in known_worlds() if name not in {*LONG, "nim", "lounge"}])
def test_every_registered_world_keeps_the_contract_within_a_process(world, without_processes):
    keeps_the_contract(world, check_here)


def test_the_world_that_the_broken_ones_are_made_from_passes(tmp_path):
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
NO_RULES = "Tally. In turn add 1 to 5 to the sum; a die adds as much again; the player who passes 30 loses."
LEGAL = 'return [Action("add", {"n": n}) for n in range(1, 6)]'
DIE = "self.dice.between(1, 6)"
N = "n: Annotated[int, Range(0, 9)]"


def after(line: str, *more: str) -> tuple[str, str]:
    return line, line + "".join(f"        {part}\n" for part in more)


def before(line: str, *more: str) -> tuple[str, str]:
    return line, "".join(f"        {part}\n" for part in more) + line


def importing(what: str) -> tuple[str, str]:
    return IMPORTS, f"{IMPORTS}{what}\n"


DATA = """
    def observe_data(self, eye: Eye) -> Observation:
        return Observation(step=self.moves)

    @query()
"""


BROKEN = {
    "its values are others without the text": (
        "data",
        "observe_data() and observe() show public different values",
        [("\n    @query()\n", DATA.replace("self.moves", "self.moves + 1"))],
    ),
    "looking at the values alone changes it": (
        "peeking",
        "observe_data() changed the world",
        [("\n    @query()\n", DATA.replace("return", "self.said += '.'\n        return"))],
    ),
    "observing it changes it": ("peeking", "observe() changed the world", [before(OBSERVE, "self.said += '.'")]),
    "a query draws from the dice": (
        "peeking",
        "total() changed the world",
        [after('        """The sum."""\n', "self.dice.bits64()")],
    ),
    "it answers differently each time it is asked": (
        "peeking",
        "returned different results",
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
        "no fixed order",
        [(SAID, "self.said = [w for w in set(self.words)][0]")],
    ),
    "it follows the order of a set": (
        "process",
        "PYTHONHASHSEED",
        [after(RESET_END, "pool = set(self.words)", "self.words = [pool.pop() for _ in range(6)]")],
    ),
    "it keeps a set": (
        "play",
        "a set has no fixed order",
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
        "check everything before the first change",
        [before(TAKES, "self.moves += 2")],
    ),
    "its snapshot forgets": (
        "snapshot",
        "the snapshot is incomplete",
        [("\n    def legal", FORGETFUL + "\n    def legal")],
    ),
    "a finished game comes back": (
        "over",
        "time passing continued it",
        [
            ('pace="turns"', 'pace="clock"'),
            ("\n    @query()\n", CLOCK),
            (OVER, "return [] if self.moves % 10 > 6 else list(self.order)"),
        ],
    ),
    "looking brings a finished game back": (
        "over",
        "reading it continued it",
        [before(f"        {LEGAL}", LOOKS_BACK.strip())],
    ),
    "reset leaves something of the last game": (
        "reset",
        "differs from a new one in said: set every attribute in reset()",
        [(RESET_END, "        self.said = getattr(self, 'said', '')\n")],
    ),
    "it crashes": ("play", "in add(): ZeroDivisionError", [after(MADE, "_ = 1 // (self.moves % 3)")]),
    "it crashes before anything": ("play", "in reset(): KeyError", [after(RESET_END, "{}['nothing']")]),
    "its views cannot be sent": (
        "play",
        "observe(): status['what'] is a Stream such as",
        [(OBSERVE, OBSERVE + "status={'what': self.dice}, ")],
    ),
    "it shows nothing": (
        "play",
        "observe() must return an Observation, not nothing",
        [(OBSERVE, OBSERVE.replace("return ", ""))],
    ),
    "its events are texts": (
        "play",
        "recent_events of observe() must list values of Event, not text such as 'it begins'",
        [(OBSERVE, OBSERVE + "recent_events=['it begins'], ")],
    ),
    "its legal actions are dicts": (
        "play",
        "legal() must list values of Action, not a dict such as {'action': 'add'}",
        [(LEGAL, "return [{'action': 'add'}]")],
    ),
    "its scores are pairs": (
        "play",
        "standings() must list values of Standing, not a tuple such as",
        [("Standing(seat, seat, -total)", "(seat, -total)")],
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
    "it lists what it refuses": ("legal", "but it is refused", [(LEGAL, LEGAL.replace("6", "7"))]),
    "it lists nothing in one's turn": ("legal", "lists no actions", [(LEGAL, "return []")]),
    "nothing it can do is ever accepted": (
        "play",
        "no action was accepted",
        [(TAKES, "        if n < 99:\n"), ("    def legal", "    def _legal")],
    ),
    "an action says nothing": ("words", "has no docstring", [('        """Add to the sum."""\n', "")]),
    "a parameter says nothing": ("words", "annotate 'n'", [(N, "n")]),
    "a parameter is of a kind JSON has not": ("words", "JSON Schema", [(N, "n: World")]),
    "it has no rules": ("spec", "write the rules there", [(NO_RULES, "")]),
    "it has no spec": ("spec", "has no spec", [("    spec = ", "    specs = ")]),
    "it takes a name of every room": ("names", "reserved for every room", [("    def total(", "    def view(")]),
    "it takes a name of the house": ("names", "reserved for the house", [("    def total(", "    def events(")]),
    "its clock does not run": ("pace", "calls advance()", [('pace="turns"', 'pace="clock"')]),
    "it has no actions": ("actions", "the world has no actions", [("    @action()\n", "")]),
    "an action has no brackets": (
        "spec",
        "write @action() with brackets, not @action",
        [("    @action()", "    @action")],
    ),
    "a query has no brackets": ("spec", "write @query() with brackets, not @query", [("    @query()", "    @query")]),
    "it cannot be imported": ("spec", "cannot be imported", [importing("import no_such_module")]),
}


PARAMETERS = "    def total(self, eye: Eye) -> int:", "    def total(self, eye: Eye, of: SeatId) -> int:"
ROUNDS = """
    def resolve(self) -> Sequence[object]:
        self.given = []
        return ()

    def outcome(self, seat: Seat) -> Outcome:
        return Outcome("added")

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
KEEPS = {
    "leaves out its text on request": [("\n    @query()\n", DATA)],
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
        ('Outcome("added", public', 'Outcome("added", pending=True, public'),
        (OVER, "return [] if sum(self.sums.values()) > 30 else [s for s in self.order if s not in self.given]"),
        ("\n    @query()\n", ROUNDS),
    ],
}


def test_what_is_skipped_for_one_reason_is_one_line_of_the_report(tmp_path):
    report = str(check_here(str(tmp_path / "gone.py"), seeds=(1,), steps=1))
    assert "FAIL  spec" in report
    assert report.count("the world could not be created") == 1


def test_a_refusal_where_nothing_can_be_refused_is_named(tmp_path, without_processes):
    refusing = (
        "        self.given = []\n        return ()",
        "        raise GameRejected('too late')\n        return ()",
    )
    changes = KEEPS["goes in rounds"][:-1]
    report = broken(tmp_path, *changes, ("\n    @query()\n", ROUNDS.replace(*refusing)))
    (found,) = [finding for finding in report.findings if finding.check == "play"]
    assert "in resolve(): GameRejected: too late (resolve() cannot refuse; refuse in the action" in found.message


@pytest.mark.sampled
@pytest.mark.parametrize("how", list(KEEPS))
def test_check_world_accepts_a_world_that(how, tmp_path, without_processes):
    report = broken(tmp_path, *KEEPS[how])
    assert report.ok, f"\n{report}"


def test_check_world_refuses_a_world_in_which_a_god_brings_an_ended_game_back(tmp_path, without_processes):
    report = broken(tmp_path, ("\n    @query()\n", BY_GOD))
    assert report.failed() == ["over"]


async def test_a_house_opens_no_room_for_a_world_that_takes_its_names(tmp_path):
    file = tmp_path / "tally.py"
    file.write_text(TALLY.replace("    def total(", "    def events("))
    async with House.open() as house:
        with pytest.raises(BadArgs, match="the name 'events' is reserved"):
            await house.create_room(Scenario(world=str(file), agents=[AgentSpec(id="ann")]))
        assert house.rooms == {}


def refused(report: Report, check: str, words: str) -> None:
    assert not report.ok
    assert check in report.failed(), f"\n{report}"
    finding = next(f for f in report.findings if f.check == check)
    assert words in finding.message, finding.message


@pytest.mark.sampled(kind=lambda how: BROKEN[how][0])
@pytest.mark.parametrize("how", list(BROKEN))
def test_check_world_refuses_a_world_when(how, tmp_path, request):
    check, words, changes = BROKEN[how]
    if check != "process":
        request.getfixturevalue("without_processes")
    refused(broken(tmp_path, *changes), check, words)


# -- the sample worlds: computed actions, rewards, arrivals, a pace by config ------------------------
@pytest.mark.parametrize(
    ("source", "config"),
    [("toolbox.py", {"tools": ["brush"]}), ("harvest.py", {"rounds": 1}), ("drift.py", {"live": False})],
)
def test_a_sample_world_keeps_the_contract_with_another_config(source, config, without_processes):
    report = check_here(str(SAMPLES / source), seeds=(1,), steps=60, config=config)
    assert report.ok, f"\n{report}"


SOURCES = ["toolbox.py", "harvest.py", "drift.py", "inn.py", "burrow.py", "beacons.py"]


@pytest.mark.parametrize("source", soak_except(SOURCES, "harvest.py"))
def test_every_sample_world_keeps_the_contract(source):
    report = check_world(str(SAMPLES / source), seeds=(1,), steps=60)
    assert report.ok, f"\n{report}"


@pytest.mark.parametrize("source", [source for source in SOURCES if source != "harvest.py"])
def test_every_sample_world_keeps_the_contract_within_a_process(source, without_processes):
    report = check_here(str(SAMPLES / source), seeds=(1,), steps=60)
    assert report.ok, f"\n{report}"


def test_the_report_of_a_sample_says_what_was_checked(without_processes):
    report = str(check_here(str(SAMPLES / "inn.py"), seeds=(1,), steps=40))
    assert "4 at the same time, then full; a departure frees a seat" in report
    assert "totals of 6 seats" in str(check_here(str(SAMPLES / "harvest.py"), seeds=(1, 2), steps=5))
    assert "clock, and it stays so" in str(check_here(str(SAMPLES / "drift.py"), seeds=(1,), steps=5))


def test_a_clock_that_takes_several_ticks_for_one_is_a_warning(tmp_path, without_processes):
    drift = SAMPLES / "drift.py"
    for change, warned in ((("ticks * (sail", "(sail"), True), (("ticks * (sail", "2 * ticks * (sail"), False)):
        (found,) = [each for each in changed(tmp_path, drift, change).findings if each.check == "ticks"]
        assert (found.ok, found.warned) == (True, warned), found.message
        assert not warned or found.message.startswith("after advance(6) the world differs from 6 times advance(1)")


def test_a_world_of_which_no_game_ended_gets_a_warning_that_says_how_to_reach_an_end(tmp_path, without_processes):
    (found,) = [each for each in broken(tmp_path, ("> 30", "> 3000")).findings if each.check == "over"]
    assert (found.ok, found.warned) == (True, True), found.message
    assert found.message.endswith("make games shorter with --config, or play more with --steps")


LISTED = "        return [*used, log]\n"
PACE = '        return "clock" if self.live else "turns"\n'
TOTALS = "        return dict(self.totals)\n"
WEARING = (
    "    # -- actions ---",
    """    def wear(self, seat: Seat, item: str) -> Outcome:
        body = self.climbers[seat.id]
        if item != "stone" or not body.stones:
            raise GameRejected("you have no such thing")
        body.worn = item
        return Outcome("You wear it.")

    def take_off(self, seat: Seat, slot: str) -> Outcome:
        body = self.climbers[seat.id]
        body.worn = ""
        return Outcome("You take it off.")

    # -- actions ---""",
)
WORN = (
    ("    low: bool = False", '    worn: str = ""\n    low: bool = False'),
    ("hearing_range=1,", 'hearing_range=1, equipment={"head": body.worn} if body.worn else {},'),
)
SAMPLES_BROKEN = {
    "a key stands for an action that it does not have": (
        "beacons.py", "keys", "'0' stands for 'lite', which is no action", [('Action("light", {"cell": cell}) for cell in range(CELLS)}', 'Action("lite", {"cell": cell}) for cell in range(CELLS)}')]
    ),
    "a key stands for an action with a wrong argument": (
        "beacons.py", "keys", "'5' stands for light", [("cell}) for cell in range(CELLS)}", "cell}) for cell in range(9)}")]
    ),
    "a key has a name that no browser knows": (
        "beacons.py", "keys", "'key 0' is no key", [("{str(cell):", "{f'key {cell}':")]
    ),
    "a key is one of the page": (
        "beacons.py", "keys", "'?' is a key of the page", [("{str(cell):", "{'?':")]
    ),
    "its scene has values that JSON does not have": (
        "beacons.py", "scene", "the layer 'shore' of scene() is no JSON value: a set", [('"shore": [0] * CELLS', '"shore": {1, 2}')]
    ),
    "its scene changes it": (
        "beacons.py", "peeking", "scene()", [before('        layers: dict[str, Any] = {"shore"', "self.fog = not self.fog")]
    ),
    "its scene shows what is hidden": (
        "beacons.py", "secrets", "scene() shows", [('"lights": self._seen(eye)}', '"lights": {s: list(c) for s, c in self.lit.items()}}')]
    ),
    "its front end includes what there is not": (
        "beacons.py", "spec", "there is no cohabit:no_such.js for front ends; there are", [("quick=True)", 'quick=True, front_end="including.html")')]
    ),
    "a choice of a round says that it happened": (
        "harvest.py", "pace", "its Outcome needs pending=True", [(", pending=True", "")]
    ),
    "it says nothing of the choices of a round": (
        "harvest.py", "pace", "calls outcome(), but Harvest has none", [("def outcome(", "def result(")]
    ),
    "its list of actions grows": (
        "toolbox.py", "actions", "actions() must always list the same ones", [before(LISTED, "used = used[: 1 + len(self.__dict__.get('log', ()))]")]
    ),
    "its list of actions follows a counter": (
        "toolbox.py", "actions", "a different list for the same config",
        [("MAX_LOG = 50\n", "MAX_LOG = 50\nCALLS = []\n"), before(LISTED, "CALLS.append(1)", "used = used[len(CALLS) % 2 :]")],
    ),
    "it lists an action twice": ("toolbox.py", "actions", "twice", [(LISTED, LISTED.replace("*used", "*used, *used"))]),
    "it lists a name that cannot be called": (
        "toolbox.py", "actions", "lower-case letters", [('name=f"use_{tool}"', 'name=f"Use {tool}"')]
    ),
    "it lists something else than a spec": ("toolbox.py", "actions", "return ActionSpec", [(LISTED, LISTED.replace("*used", "*used, 3"))]),
    "it needs a capability that does not exist": (
        "toolbox.py", "actions", "unknown capability 'fly'", [('needs=("watch",)', 'needs=("fly",)')]
    ),
    "a computed action takes a reserved name": ("toolbox.py", "names", "reserved for every room", [('name="work_log"', 'name="view"')]),
    "a computed action says nothing": ("toolbox.py", "words", "has no docstring", [('description=f"Use the {tool}."', 'description=""')]),
    "its pace changes": (
        "drift.py", "pace", "it must depend only on the config", [(PACE, PACE.replace("self.live", "self.__dict__.get('moves', 0) < 3"))]
    ),
    "its pace is none": ("drift.py", "pace", "it must be one of", [(PACE, '        return "waltz"\n')]),
    "its pace needs a method that it has not": ("harvest.py", "pace", "calls resolve()", [("    def resolve", "    def _resolve")]),
    "a total is not a number": ("harvest.py", "play", "a total is a finite number", [(TOTALS, "        return dict.fromkeys(self.totals, float('nan'))\n")]),
    "a score is not a finite number": (
        "harvest.py", "play", "is a finite number", [("    def resolve", "    def standings(self):\n        return [__import__('cohabit').Standing(seat, seat, float('inf')) for seat in self.order]\n\n    def resolve")]
    ),
    "a total is of a seat that is not there": ("harvest.py", "returns", "returns() names 'west'", [(TOTALS, "        return {'west': 1.0}\n")]),
    "its totals do not begin at 0": ("harvest.py", "returns", "totals must start at 0", [("dict.fromkeys(self.order, 0.0)", "dict.fromkeys(self.order, 1.0)")]),
    "looking at the totals changes them": (
        "harvest.py", "peeking", "returns() changed the world", [before(TOTALS, "self.totals[self.order[0]] += 1")]
    ),
    "a seat that opened is not listed": (
        "inn.py", "play", "seats_now() does not list", [("for seat, guest in self.guests.items()]\n\n    def to_move", "for seat, guest in self.guests.items() if seat != 'bed-1']\n\n    def to_move")]
    ),
    "a refused arrival changes something": (
        "inn.py", "arrivals", "but changed the world", [("        if len(self.guests) >= BEDS:\n", "        self.arrived += 1\n        if len(self.guests) >= BEDS:\n")]
    ),
    "a departure makes no space": (
        "inn.py", "arrivals", "must free the seat", [("if len(self.guests) >= BEDS", "if self.arrived >= BEDS")]
    ),
    "nobody can arrive": ("inn.py", "arrivals", "refused all guests", [("if len(self.guests) >= BEDS", "if True")]),
    "it opens seats that it cannot list": ("inn.py", "arrivals", "no seats_now()", [("    def seats_now", "    def _seats_now")]),
    "a despawned body comes back": ("bodies/tower.py", "bodies", "a despawned body came back", [('in ("asleep", "away")', 'in ("asleep", "away", "gone")')]),
    "a body that slept is another": ("bodies/tower.py", "bodies", "another inventory or health", [('self.climbers[seat].where = "here"', 'self.climbers[seat].where, self.climbers[seat].grip = "here", 9')]),
    "a body keeps its seat when it is left": ("bodies/tower.py", "bodies", "must close the seat", [('{"dormant": "asleep", ', '{"dormant": "here", ')]),
    "a body is given more than it says": ("bodies/tower.py", "bodies", "but the body has", [("self.climbers[seat].stones += count\n", "self.climbers[seat].stones += count + 1\n")]),
    "a body gives what it does not have": ("bodies/tower.py", "bodies", "gives more stone", [("taken = min(count, self.climbers[seat].stones)", "taken = count")]),
    "asking for a body changes it": ("bodies/tower.py", "bodies", "changed the world", [("        dead = not body.grip\n", "        dead = not body.grip\n        body.climbed += 1\n")]),
    "a body hears although it cannot": ("bodies/tower.py", "bodies", "must have a hearing_range", [(", hearing_range=1", ""), ("        own = self.climbers[seat]\n        loud", "        return ['bells']\n        loud")]),
    "listening changes a body": ("bodies/tower.py", "bodies", "changed the world", [("        own = self.climbers[seat]\n        loud", "        own = self.climbers[seat]\n        own.climbed += 1\n        loud")]),
    "it blocks what is no action": ("bodies/tower.py", "bodies", "'fly', which is no action", [('return {"climb": why} if why else {}', 'return {"fly": "no wings"}')]),
    "it blocks an action without a reason": ("bodies/tower.py", "bodies", "no reason for 'climb'", [('return {"climb": why} if why else {}', 'return {"climb": why}')]),
    "a stance is none": ("bodies/tower.py", "bodies", "unknown stance 'kneeling'", [('stances = ("standing", "crouching")', 'stances = ("standing", "kneeling")')]),
    "a stance is not taken": ("bodies/tower.py", "bodies", "but the body is standing", [('body.low = stance == "crouching"', 'body.low = False')]),
    "a refused stance changes something": ("bodies/tower.py", "bodies", "a refusal changed the world", [("        if body.height % 2:\n            raise", "        body.climbed += 1\n        if True:\n            raise")]),
    "a body wears what it does not have": ("bodies/tower.py", "bodies", "must refuse an item", [WEARING, *WORN, ('if item != "stone" or not body.stones:', "if False:")]),
    "a body wears nothing": ("bodies/tower.py", "bodies", "must change the equipment", [WEARING, *WORN, ("body.worn = item", "body.worn = ''")]),
    "what is worn is no longer carried": ("bodies/tower.py", "bodies", "nothing that the body carries", [WEARING, *WORN, ("body.worn = item", "body.worn, body.stones = item, 0")]),
    "what is worn cannot be taken off": ("bodies/tower.py", "bodies", "must empty the slot", [WEARING, *WORN, ('body.worn = ""', 'body.worn = "stone"')]),
    "it numbers what is no action": ("burrow.py", "training", "'climb', which is not an action", [('Action("dig", {"direction": way, "deep"', 'Action("climb", {"direction": way, "deep"')]),
    "it numbers what is never valid": ("burrow.py", "training", "direction must be one of", [('ways = ("right", "left")', 'ways = ("right", "down")')]),
    "it numbers an action twice": ("burrow.py", "training", "twice", [("for deep in (False, True)", "for deep in (True, True)")]),
    "its numbers change": ("burrow.py", "training", "they returned different lists", [('ways = ("right", "left")', 'ways = ("right", "left")[len(vars(self)) > 0 :]')]),
    "an array has another shape": ("burrow.py", "training", "is uint8 (7,), not uint8 (8,)", [("shape=(CELLS,)", "shape=(CELLS + 1,)")]),
    "an array has another type": ("burrow.py", "training", "is float32 (1,), not float64 (1,)", [('dtype="float32"', 'dtype="float64"')]),
    "an array has other numbers": ("burrow.py", "training", "has 0 to 2, not 0 to 1", [("high=MOLE", "high=TUNNEL")]),
    "looking at an array changes the world": ("burrow.py", "peeking", "array() changed the world", [before('        if form == "worms":\n', "self.digs += 1")]),
    "its mask has an action without a number": ("burrow.py", "training", "which numbered() does not list", [("    def arrays(", "    def useful(self, seat):\n        return self.legal(seat)\n\n    def arrays(")]),
    "its mask allows nothing": ("burrow.py", "training", "nothing to choose from", [("    def arrays(", "    def useful(self, seat):\n        return []\n\n    def arrays(")]),
    "asking for the mask changes the world": ("burrow.py", "peeking", "useful() changed the world", [("    def arrays(", "    def useful(self, seat):\n        self.digs += 1\n        return self.numbered()\n\n    def arrays(")]),
    "a departure fails": ("inn.py", "play", "KeyError", [("del self.guests[seat.id]", "del self.guests[seat.name]")]),
}  # fmt: skip


@pytest.mark.sampled(kind=lambda how: SAMPLES_BROKEN[how][1])
@pytest.mark.parametrize("how", list(SAMPLES_BROKEN))
def test_check_world_refuses_a_sample_when(how, tmp_path, without_processes):
    source, check, words, changes = SAMPLES_BROKEN[how]
    refused(changed(tmp_path, SAMPLES / source, *changes, steps=40, seeds=(1,)), check, words)


def test_a_body_that_wears_what_it_is_told_to_passes_the_check(tmp_path, without_processes):
    report = str(changed(tmp_path, SAMPLES / "bodies/tower.py", WEARING, *WORN, steps=40))
    assert "1 portable items; 2 lessons; 2 stances; 1 items to wear" in report


def test_a_check_that_played_nothing_fails(tmp_path, without_processes):
    file = tmp_path / "tally.py"
    file.write_text(TALLY)
    assert "play" in check_here(str(file), seeds=(1,), steps=0).failed()
    assert "play" in check_here(str(file), seeds=(), steps=10).failed()


def test_a_line_can_be_excused_with_a_reason(tmp_path, without_processes):
    excused = IMPORTS + "import random  # cohabit: ok - only for its constants\n"
    assert "source" not in broken(tmp_path, (IMPORTS, excused)).failed()


def test_a_world_that_does_not_exist_gets_a_report_too():
    report = check_world("no such world")
    assert report.failed() == ["spec"]
    assert "unknown world" in str(report)


def test_a_report_prints_as_a_table(tmp_path):
    lines = str(broken(tmp_path, (TAKES, "        self.moves += 2\n" + TAKES))).splitlines()
    assert lines[0].endswith("60 steps played")
    assert any(line.startswith("  FAIL  refusals ") for line in lines)
    assert lines[-1] == f"  1 of {len(CHECKS)} checks failed"
