"""``check_world``: does a world keep the contract? It plays the world in real rooms, and says what to change.

    report = check_world("mygame.py")
    assert report.ok, report

Each check is a function with a claim for a docstring; it returns what it found, or raises ``Wrong``.
"""

import inspect
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, get_args

from msgspec import Struct

from cohabit.errors import AskerError, CohabitError
from cohabit.house.house import HOUSE_COMMANDS
from cohabit.model.grant import capabilities
from cohabit.registry import find_world, lasting_source, make_world
from cohabit.room.commands import Command, commands_of, declared_in
from cohabit.room.record import GENESIS, Snapshot, read_lines
from cohabit.room.room import COMMAND_MODULES, Room
from cohabit.scenario import AgentSpec
from cohabit.testing.play import Frozen, Play, Stopped, Watched, difference, fingerprint, open_room
from cohabit.testing.samples import sample_args
from cohabit.testing.scan import scan
from cohabit.world import ActionSpec, Arrival, Pace, World, WorldSpec, overrides

HASH_SEEDS = ("1", "2")
PEEK_EVERY = 3
RESTORE_EVERY = 5
PROCESS_SECONDS = 300
MANY = 40
"""How many try to arrive at once."""
Check = Callable[["Trial"], str]


class Wrong(Exception):
    """A check found something; the message tells the author what to do."""


class NotLookedAt(Exception):
    """A check had nothing to work with, because an earlier one failed."""


class Finding(Struct, frozen=True):
    """What one check found. ``ok`` is None where it could not look."""

    check: str
    ok: bool | None
    message: str


class Report(Struct, frozen=True):
    """What all checks found. Prints as a table."""

    world: str
    findings: list[Finding]
    steps: int = 0

    @property
    def ok(self) -> bool:
        return all(finding.ok for finding in self.findings)

    def failed(self) -> list[str]:
        """The names of the checks that failed."""
        return [finding.check for finding in self.findings if finding.ok is False]

    def __str__(self) -> str:
        width = max((len(f.check) for f in self.findings), default=0)
        marks = {True: "ok  ", False: "FAIL", None: "–   "}
        lines = [f"{self.world}: {self.steps} steps played"]
        for finding in self.findings:
            head = f"  {marks[finding.ok]}  {finding.check:<{width}}  "
            lines += textwrap.wrap(finding.message, 110, initial_indent=head, subsequent_indent=" " * len(head))
        bad = len(self.failed())
        lines.append("  all checks passed" if self.ok else f"  {bad} of {len(self.findings)} checks failed")
        return "\n".join(lines)


def check_world(
    source: str, *, seeds: Sequence[int] = (1, 2, 3), steps: int = 200, config: Mapping[str, Any] | None = None
) -> Report:
    """Check the world of that name, or the one in that file (``mygame.py`` or ``mygame.py:ClassName``)."""
    trial = Trial(source, seeds, steps, dict(config or {}))
    findings = [_finding(name, check, trial) for name, check in CHECKS.items()]
    return Report(source, findings, trial.steps_played)


def _finding(name: str, check: Check, trial: "Trial") -> Finding:
    try:
        return Finding(name, True, check(trial))
    except (Wrong, Stopped) as wrong:
        return Finding(name, False, str(wrong))
    except NotLookedAt as why:
        return Finding(name, None, f"not looked at: {why}")
    except CohabitError as wrong:
        return Finding(name, False, wrong.as_text())
    except Exception as bug:
        return Finding(name, False, f"{type(bug).__name__}: {bug}")


class Trial:
    """What the checks share: the world, and the plays everything is compared with."""

    def __init__(self, source: str, seeds: Sequence[int], steps: int, config: dict[str, Any]) -> None:
        self.source = lasting_source(source)
        self.seeds = list(seeds)
        self.steps = steps
        self.config = config
        self.steps_played = 0
        self._unsteady = ""

    @cached_property
    def world(self) -> World:
        try:
            return make_world(self.source, self.config)
        except Exception:
            raise NotLookedAt("the world could not be made") from None

    @cached_property
    def commands(self) -> list[Command]:
        return list(commands_of(self.world))

    def play(self, seed: int, between: Callable[[Play], None] | None = None) -> Play:
        return Play(self.source, seed, self.config).run(self.steps, between)

    @cached_property
    def _first(self) -> list[Play] | str:
        try:
            return [self.play(seed) for seed in self.seeds]
        except (Stopped, CohabitError, ValueError) as stopped:
            return str(stopped)

    @property
    def plays(self) -> list[Play]:
        """The plays, one per seed, if they went through to the end."""
        if isinstance(self._first, str):
            raise NotLookedAt("the play stopped early")
        return self._first

    @property
    def stopped(self) -> str:
        return self._first if isinstance(self._first, str) else ""

    @property
    def steady(self) -> list[Play]:
        """The plays, if playing them again gave the same."""
        plays = self.plays
        if self._unsteady:
            raise NotLookedAt("the same seed does not give the same world")
        return plays

    def compare(self, play: Play, other: Sequence[Frozen], what: str) -> None:
        found = difference(play.frozen, other)
        if found:
            raise Wrong(f"{what}; seed {play.seed}, {found}")

    def first_problem(self, check: str) -> None:
        for play in self.plays:
            if check in play.problems:
                raise Wrong(play.problems[check])


# -- before playing -----------------------------------------------------------------------------
def check_spec(trial: Trial) -> str:
    """The world can be made, says what it is, and has what its pace needs."""
    cls = find_world(trial.source)
    spec = cls.spec
    if not isinstance(spec, WorldSpec):
        raise Wrong(f"spec is a {type(spec).__name__}; write spec = WorldSpec(name=…)")
    make_world(trial.source, trial.config)
    for method in ("reset", "to_move", "observe"):
        if getattr(cls, method) is getattr(World, method):
            raise Wrong(f"{cls.__name__} has no {method}(); every world has one")
    if not (cls.__doc__ or "").strip() or cls.__doc__ == World.__doc__:
        raise Wrong(f"{cls.__name__} has no docstring; write the rules there, for that is what players are told")
    if len(dict.fromkeys(spec.seat_names)) != len(spec.seat_names):
        raise Wrong(f"seat_names has a name twice: {', '.join(spec.seat_names)}")
    if spec.tick_ms < 1 or spec.version < 1:
        raise Wrong("tick_ms and version are at least 1")
    fewest, most = spec.seat_range
    return f"{spec.name} {spec.version}, {fewest if fewest == most else f'{fewest} to {most}'} seats"


def check_pace(trial: Trial) -> str:
    """The pace is one of the four, follows from the config alone, and the world has what it needs."""
    world, other = trial.world, make_world(trial.source, trial.config)
    pace, cls = world.pace, type(world)
    if pace not in get_args(Pace):
        raise Wrong(f"pace is {pace!r}; it is one of {', '.join(get_args(Pace))}")
    if other.pace != pace:
        raise Wrong(f"two worlds with the same config have the paces {pace!r} and {other.pace!r}")
    needs = {"clock": "advance", "rounds": "resolve"}.get(pace)
    if needs and getattr(cls, needs) is getattr(World, needs):
        raise Wrong(f"pace {pace!r} calls {needs}(), and {cls.__name__} has none")
    if not trial.stopped:
        for play in trial.plays:
            if play.room.world.pace != pace:
                raise Wrong(
                    f"the pace was {pace!r} and became {play.room.world.pace!r}; it must depend only on the config"
                )
    return f"{pace}, and it stays so"


def check_actions(trial: Trial) -> str:
    """actions() lists each action and query once, and the same ones at any time."""
    world = trial.world
    listed = _described(world)
    names = [name for name, _ in listed]
    for name in names:
        if not name.isidentifier() or name != name.lower():
            raise Wrong(f"actions() lists {name!r}; a name is lower-case letters, digits and underscores")
        if names.count(name) > 1:
            raise Wrong(f"actions() lists {name!r} twice")
    if not any(command.records for command in trial.commands):
        raise Wrong("there is no action, so nobody can do anything")
    what = "actions() changes; it lists the same ones as long as the world exists"
    if _described(world) != listed or _described(make_world(trial.source, trial.config)) != listed:
        raise Wrong(f"{what}: it gave another list for the same config")
    if not trial.stopped:
        for play in trial.plays:
            if _described(play.room.world) != listed:
                raise Wrong(f"{what}: after seed {play.seed} was played it gave another list")
    return f"{len(listed)} listed, the same at any time"


def _described(world: World) -> list[tuple[str, str]]:
    """Every action with all that is said of it, so that two lists can be compared."""
    found = []
    for spec in world.actions():
        if not isinstance(spec, ActionSpec):
            raise Wrong(f"actions() gives a {type(spec).__name__}; give ActionSpec(name=…, run=…)")
        try:
            capabilities(spec.needs)
        except CohabitError as unknown:
            raise Wrong(f"{spec.name}: needs: {unknown.message}") from None
        rest = [spec.changes, spec.description, spec.category, spec.group, list(spec.needs), list(spec.preconditions)]
        found.append((spec.name, json.dumps([*rest, spec.needs_seat, spec.raw, repr(spec.args), repr(spec.result)])))
    return found


def check_names(trial: Trial) -> str:
    """No action or query takes a name that the room or the house needs itself."""
    taken: dict[str, str] = {c.name: "the house" for c in HOUSE_COMMANDS if not c.world_may_replace}
    for module in COMMAND_MODULES:
        taken |= {c.name: "every room" for c in declared_in(module)}
    for command in trial.commands:
        if command.name in taken:
            raise Wrong(f"{command.name!r} is a name that {taken[command.name]} needs; choose another")
    return f"{len(trial.commands)} name{'s' * (len(trial.commands) != 1)}, none reserved"


def check_words(trial: Trial) -> str:
    """Every action and query says what it does, and what it takes."""
    for command in trial.commands:
        if not command.doc:
            raise Wrong(f"{command.name} has no docstring; that is what players read about it")
        bare = [p.name for p in list(inspect.signature(command.run).parameters.values())[1:]
                if p.annotation is p.empty]  # fmt: skip
        if bare:
            raise Wrong(f"{command.name}: say what {bare[0]!r} is, for instance {bare[0]}: int")
        try:
            json.dumps(command.schema)
            command.as_action()
        except Exception as wrong:
            raise Wrong(f"{command.name}: no JSON Schema can be made of what it takes: {wrong}") from None
    return f"{len(trial.commands)} actions and queries, all described"


def check_source(trial: Trial) -> str:
    """The source uses no clock, no dice but Stream, no threads, and never walks through a set."""
    module = sys.modules[type(trial.world).__module__]
    found = scan(module)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Wrong(f"{found[0]}{more}")
    return "no clock, no global dice, no order of sets"


# -- playing ------------------------------------------------------------------------------------
def check_play(trial: Trial) -> str:
    """Random play goes through without a crash, and something really happens."""
    if trial.stopped:
        raise Wrong(f"{trial.world.spec.name} failed: {trial.stopped}")
    plays = trial.plays
    trial.steps_played = sum(play.steps for play in plays)
    accepted, refused = sum(p.accepted for p in plays), sum(p.refused for p in plays)
    if trial.steps_played == 0:
        raise Wrong("no step was played; give steps and seeds")
    if accepted == 0:
        raise Wrong(
            f"{trial.steps_played} steps, and not one action was accepted ({refused} refused; the last: "
            f"{plays[-1].last}); write legal(), so that random play finds a move"
        )
    return f"{trial.steps_played} steps: {accepted} actions accepted, {refused} refused"


def check_to_move(trial: Trial) -> str:
    """to_move and standings only name seats there are."""
    trial.first_problem("to_move")
    return "only seats there are"


def check_legal(trial: Trial) -> str:
    """What legal() lists is accepted, and a seat whose turn it is has something to do."""
    trial.first_problem("legal")
    return "everything that was listed was accepted"


def check_returns(trial: Trial) -> str:
    """returns() gives finite totals for seats there are, and begins at 0."""
    trial.first_problem("returns")
    if not overrides(trial.world, "returns"):
        return "no rewards per seat"
    for play in trial.plays:
        world = make_world(trial.source, trial.config)
        with Watched():
            world.restore(play.opening)
            begun = {seat: total for seat, total in world.returns().items() if total != 0}
        if begun:
            raise Wrong(f"after reset() returns() is {begun}; totals count from 0")
    seats = sum(len(play.room.world.returns()) for play in trial.plays)
    return f"totals of {seats} seats, finite and from 0"


def check_arrivals(trial: Trial) -> str:
    """A seat that arrive() opens is in seats_now(); a refused arrival changes nothing, a departure frees a seat."""
    world = trial.world
    if not overrides(world, "arrive"):
        return "nobody arrives while it runs"
    if not overrides(world, "seats_now"):
        raise Wrong("arrive() opens seats, and there is no seats_now() to list them")
    trial.first_problem("arrivals")
    guests = [f"guest{i}" for i in range(MANY)]
    with Watched():
        room = open_room(
            trial.source, make_world(trial.source, trial.config), trial.seeds[0], trial.config,
            [AgentSpec(id=guest, role="player") for guest in guests],
        )  # fmt: skip
        room.checks_refusals = False
        seated = [guest for guest in guests if _sits(room, guest)]
        if not seated:
            raise Wrong("arrive() refused everybody; a new game has a seat for somebody")
        before = len(room.state.seats)
        room.call(seated[0], "stand_up", at=1)
        if len(seated) < MANY and not _sits(room, next(g for g in guests if g not in seated)):
            raise Wrong("when a full world has been left by somebody, arrive() still refuses: depart() makes space")
        _carry_over(trial)
        again = Room.replay(list(room.record.tail), make_world)
        if again.digest() != room.digest():
            raise Wrong("a record with arrivals and departures replays to another world")
    full = f"{before} at once, then full" if len(seated) < MANY else f"{len(seated)} at once and more"
    return f"{full}; a departure makes space"


def _sits(room: Room, guest: str) -> bool:
    """Let a guest take a seat; False where the world refuses it."""
    before = room.digest()
    try:
        seat = room.call(guest, "sit", at=0).seat
    except AskerError as refusal:
        if room.digest() != before:
            raise Wrong(f"arrive() refused ({refusal.as_text()}), yet the world changed") from None
        return False
    if seat not in [s.id for s in room.world.seats_now() or ()]:
        raise Wrong(f"arrive() gave seat {seat!r}, and seats_now() does not list it")
    return True


def _carry_over(trial: Trial) -> None:
    """What somebody takes along can be written down, and brought back."""
    world = make_world(trial.source, trial.config)
    world.reset(trial.seeds[0], [])
    body = world.depart(world.arrive(Arrival("somebody")), "left")
    try:
        kept = json.loads(json.dumps(body))
    except (TypeError, ValueError) as wrong:
        raise Wrong(f"depart() gives a body that is not made of plain values: {wrong}") from None
    world.arrive(Arrival("somebody", body=kept))


def check_refusals(trial: Trial) -> str:
    """A refused action leaves the world as it was."""
    trial.first_problem("refusals")
    return f"{sum(p.refused for p in trial.plays)} refusals changed nothing"


def check_over(trial: Trial) -> str:
    """A game that is over stays over."""
    trial.first_problem("over")
    endings = sum(p.endings for p in trial.plays)
    return f"{endings} endings stayed ended" if endings else "no game came to an end in these steps"


def check_same_seed(trial: Trial) -> str:
    """The same seed and the same calls give the same world, step by step."""
    for play in trial.plays:
        try:
            trial.compare(play, trial.play(play.seed).frozen, "played again, it went another way")
        except (Wrong, Stopped) as wrong:
            trial._unsteady = str(wrong)
            raise Wrong(f"{wrong}. Draw from Stream(seed, purpose) only, keep no state outside self") from None
    return "played twice, the same twice"


def check_peeking(trial: Trial) -> str:
    """observe, queries, legal, goals, standings and picture change nothing, however often they are called."""
    looks = 0

    def peek(play: Play) -> None:
        nonlocal looks
        if play.steps % PEEK_EVERY:
            return
        with Watched():
            before = play.room.world.snapshot()
            for name, look in [*play.readers(), *_asked(play)]:
                first = look()
                again = look()
                looks += 2
                where = f"(seed {play.seed}, step {play.steps})"
                if play.room.world.snapshot() != before:
                    raise Stopped(f"{name}() changed the world; it may only look {where}")
                if first != again:
                    raise Stopped(f"{name}() answered differently when asked twice in a row {where}")

    for play in trial.plays:
        peeked = trial.play(play.seed, peek)
        if not trial._unsteady:
            trial.compare(play, peeked.frozen, "with extra looks in between, it went another way")
    return f"{looks} extra looks changed nothing"


def _asked(play: Play) -> list[tuple[str, Callable[[], Any]]]:
    """Queries that take arguments, with drawn ones; the draws are not those of the play."""
    draws = play.stream.fork(f"queries {play.steps}")
    return [
        (query.name, _asking(query, play, sample_args(query.schema, draws)))
        for query in play.queries()
        if query.schema.get("required")
    ]


def _asking(query: Command, play: Play, args: dict[str, Any]) -> Callable[[], Any]:
    def ask() -> Any:
        try:
            return query.run(play.eyes()[-1], **query.check(args))
        except AskerError as refusal:
            return refusal.as_text()

    return ask


def check_neighbour(trial: Trial) -> str:
    """Rooms of the same world, played side by side, do not disturb each other."""
    plays = trial.steady
    beside = [Play(trial.source, seed, trial.config) for seed in [*trial.seeds, trial.seeds[0]]]
    for play in beside:
        play.frozen.append(play.freeze())
    for _ in range(trial.steps):
        for play in beside:
            play.step()
        for play in beside:
            play.frozen.append(play.freeze())
    what = "with a neighbour room, it went another way: keep all state in self, none in the module or the class"
    for play, other in zip([*plays, plays[0]], beside, strict=True):
        trial.compare(play, other.frozen, what)
    return f"{len(beside)} rooms side by side"


def check_process(trial: Trial) -> str:
    """Another process with another hash seed gives the same world."""
    plays = trial.steady
    for answer in _in_other_processes(trial):
        for play, theirs in zip(plays, answer, strict=True):
            found = difference(fingerprint(play.frozen), theirs)
            if found:
                raise Wrong(
                    f"in a process with another PYTHONHASHSEED it went another way: something follows the order "
                    f"of a set, hash() or id(); seed {play.seed}, {found}"
                )
    return f"the same in {len(HASH_SEEDS)} processes with other hash seeds"


def _in_other_processes(trial: Trial) -> list[list[list[Frozen]]]:
    """The fingerprints of the same plays, from one process per hash seed; they run side by side."""
    order = json.dumps({"seeds": trial.seeds, "steps": trial.steps, "config": trial.config})
    command = [sys.executable, "-m", "cohabit.testing.play", trial.source, order]
    shared = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

    def run(hash_seed: str) -> list[list[Frozen]]:
        try:
            done = subprocess.run(
                command, env={**shared, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True,
                timeout=PROCESS_SECONDS, check=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Wrong(f"a process of its own was not done after {PROCESS_SECONDS} s") from None
        except subprocess.CalledProcessError as failed:
            words = (failed.stderr.strip().splitlines() or ["nothing said"])[-1]
            raise Wrong(f"in a process of its own it failed: {words}") from None
        fingerprints: list[list[Frozen]] = json.loads(done.stdout)
        return fingerprints

    with ThreadPoolExecutor(len(HASH_SEEDS)) as pool:
        return list(pool.map(run, HASH_SEEDS))


def check_snapshot(trial: Trial) -> str:
    """A world restored from a snapshot in the middle of a game continues the same."""
    restored = 0

    def restore(play: Play) -> None:
        nonlocal restored
        if play.steps % RESTORE_EVERY == 0:
            with Watched():
                kept = Snapshot.decode(play.room.snapshot().encode())
                fresh = Room.restore(kept, [], make_world)
                fresh.checks_refusals = False
                if fresh.world.snapshot() != kept.world:
                    raise Stopped("restore(snapshot()) followed by snapshot() gives something else")
            play.room = fresh
            restored += 1
            lost = difference(play.frozen[-1:], [play.freeze()])
            if lost:
                raise Stopped(f"{what}; seed {play.seed}, at step {play.steps}, {lost.partition(': ')[2]}")

    what = "after restore(snapshot()) it is not the same: the snapshot forgets something"
    for play in trial.steady:
        trial.compare(play, trial.play(play.seed, restore).frozen, what)
    return f"restored {restored} times in the middle of a game"


def check_reset(trial: Trial) -> str:
    """reset leaves nothing of the game before."""
    for play in trial.steady:
        with Watched():
            play.room.call("god", "reset", {"seed": play.seed}, at=play.at + 1000)
            now = play.room.world.snapshot()
        if now != play.opening:
            raise Wrong(f"after reset({play.seed}) the world is not as it was at first: set every attribute in reset()")
    return "a reset world is like a new one"


def check_replay(trial: Trial) -> str:
    """The record, run again, gives the same world."""
    entries = 0
    for play in trial.steady:
        rows = [(line.seq, line.body, line.digest) for line in play.room.record.tail]
        with Watched():
            again = Room.replay(read_lines(rows, -1, GENESIS), make_world)
            if again.digest() != play.room.digest():
                raise Wrong(f"the record of seed {play.seed} replays to another world")
        entries += len(rows)
    return f"{entries} entries replayed"


CHECKS: dict[str, Check] = {
    "spec": check_spec,
    "pace": check_pace,
    "actions": check_actions,
    "names": check_names,
    "words": check_words,
    "source": check_source,
    "play": check_play,
    "to_move": check_to_move,
    "legal": check_legal,
    "returns": check_returns,
    "arrivals": check_arrivals,
    "refusals": check_refusals,
    "over": check_over,
    "same seed": check_same_seed,
    "peeking": check_peeking,
    "neighbour": check_neighbour,
    "process": check_process,
    "snapshot": check_snapshot,
    "reset": check_reset,
    "replay": check_replay,
}
"""Every check by its name, in the order they run."""
