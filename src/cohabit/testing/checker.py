"""``check_world``: check that a world meets the contract. Plays it in real rooms and says what to change.

    report = check_world("mygame.py")
    assert report.ok, report

Each check is a function whose docstring is its claim. It returns a summary, or raises ``Wrong``.
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
from cohabit.room.command_modules import COMMAND_MODULES
from cohabit.room.commands import Command, commands_of, declared_in
from cohabit.room.record import GENESIS, Snapshot, read_lines
from cohabit.room.room import Room
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
"""The number of guests that arrive at the same time."""
Check = Callable[["Trial"], str]


class Wrong(Exception):
    """A check failed. The message tells the author what to do."""


class NotLookedAt(Exception):
    """A check was skipped because an earlier one failed."""


class Finding(Struct, frozen=True):
    """The result of one check. ``ok`` is None if it was skipped."""

    check: str
    ok: bool | None
    message: str


class Report(Struct, frozen=True):
    """The results of all checks. Prints as a table."""

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
        return Finding(name, None, f"skipped: {why}")
    except CohabitError as wrong:
        return Finding(name, False, wrong.as_text())
    except Exception as bug:
        return Finding(name, False, f"{type(bug).__name__}: {bug}")


class Trial:
    """Shared by the checks: the world, and the reference plays."""

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
            raise NotLookedAt("the world could not be created") from None

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
        """The plays, one per seed, if they completed."""
        if isinstance(self._first, str):
            raise NotLookedAt("the play stopped early")
        return self._first

    @property
    def stopped(self) -> str:
        return self._first if isinstance(self._first, str) else ""

    @property
    def steady(self) -> list[Play]:
        """The plays, if they are reproducible."""
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
    """The world can be created and has a spec, a docstring and the required methods."""
    cls = find_world(trial.source)
    spec = cls.spec
    if not isinstance(spec, WorldSpec):
        raise Wrong(f"spec is a {type(spec).__name__}; write spec = WorldSpec(name=…)")
    make_world(trial.source, trial.config)
    for method in ("reset", "to_move", "observe"):
        if getattr(cls, method) is getattr(World, method):
            raise Wrong(f"{cls.__name__} has no {method}(); every world needs one")
    if not (cls.__doc__ or "").strip() or cls.__doc__ == World.__doc__:
        raise Wrong(f"{cls.__name__} has no docstring; write the rules there, because players read it")
    if len(dict.fromkeys(spec.seat_names)) != len(spec.seat_names):
        raise Wrong(f"seat_names has duplicates: {', '.join(spec.seat_names)}")
    if spec.tick_ms < 1 or spec.version < 1:
        raise Wrong("tick_ms and version must be at least 1")
    fewest, most = spec.seat_range
    return f"{spec.name} {spec.version}, {fewest if fewest == most else f'{fewest} to {most}'} seats"


def check_pace(trial: Trial) -> str:
    """The pace is valid, depends only on the config, and the world has the method that it needs."""
    world, other = trial.world, make_world(trial.source, trial.config)
    pace, cls = world.pace, type(world)
    if pace not in get_args(Pace):
        raise Wrong(f"pace is {pace!r}; it must be one of {', '.join(get_args(Pace))}")
    if other.pace != pace:
        raise Wrong(f"two worlds with the same config have the paces {pace!r} and {other.pace!r}")
    needs = {"clock": "advance", "rounds": "resolve"}.get(pace)
    if needs and getattr(cls, needs) is getattr(World, needs):
        raise Wrong(f"pace {pace!r} calls {needs}(), but {cls.__name__} has none")
    if not trial.stopped:
        for play in trial.plays:
            if play.room.world.pace != pace:
                raise Wrong(
                    f"the pace was {pace!r} and became {play.room.world.pace!r}; it must depend only on the config"
                )
    return f"{pace}, and it stays so"


def check_actions(trial: Trial) -> str:
    """actions() lists each action and query once, and always the same ones."""
    world = trial.world
    listed = _described(world)
    names = [name for name, _ in listed]
    for name in names:
        if not name.isidentifier() or name != name.lower():
            raise Wrong(f"actions() lists {name!r}; names may have lower-case letters, digits and underscores")
        if names.count(name) > 1:
            raise Wrong(f"actions() lists {name!r} twice")
    if not any(command.records for command in trial.commands):
        raise Wrong("the world has no actions; declare one with @action")
    what = "actions() must always list the same ones"
    if _described(world) != listed or _described(make_world(trial.source, trial.config)) != listed:
        raise Wrong(f"{what}: it returned a different list for the same config")
    if not trial.stopped:
        for play in trial.plays:
            if _described(play.room.world) != listed:
                raise Wrong(f"{what}: it returned a different list after playing seed {play.seed}")
    return f"{len(listed)} listed, always the same"


def _described(world: World) -> list[tuple[str, str]]:
    """Every action with its full description, so two lists can be compared."""
    found = []
    for spec in world.actions():
        if not isinstance(spec, ActionSpec):
            raise Wrong(f"actions() returns a {type(spec).__name__}; return ActionSpec(name=…, run=…)")
        try:
            capabilities(spec.needs)
        except CohabitError as unknown:
            raise Wrong(f"{spec.name}: needs: {unknown.message}") from None
        rest = [spec.changes, spec.description, spec.category, spec.group, list(spec.needs), list(spec.preconditions)]
        found.append((spec.name, json.dumps([*rest, spec.needs_seat, spec.raw, repr(spec.args), repr(spec.result)])))
    return found


def check_names(trial: Trial) -> str:
    """No action or query uses a name that is reserved for the room or the house."""
    taken: dict[str, str] = {c.name: "the house" for c in HOUSE_COMMANDS if not c.world_may_replace}
    for module in COMMAND_MODULES:
        taken |= {c.name: "every room" for c in declared_in(module)}
    for command in trial.commands:
        if command.name in taken:
            raise Wrong(f"{command.name!r} is reserved for {taken[command.name]}; choose another name")
    return f"{len(trial.commands)} name{'s' * (len(trial.commands) != 1)}, none reserved"


def check_words(trial: Trial) -> str:
    """Every action and query has a docstring and typed arguments."""
    for command in trial.commands:
        if not command.doc:
            raise Wrong(f"{command.name} has no docstring; write one, because players read it")
        bare = [p.name for p in list(inspect.signature(command.run).parameters.values())[1:]
                if p.annotation is p.empty]  # fmt: skip
        if bare:
            raise Wrong(f"{command.name}: annotate {bare[0]!r}, for example {bare[0]}: int")
        try:
            json.dumps(command.schema)
            command.as_action()
        except Exception as wrong:
            raise Wrong(f"{command.name}: its arguments have no JSON Schema: {wrong}") from None
    return f"{len(trial.commands)} actions and queries, all described"


def check_source(trial: Trial) -> str:
    """The source uses no clock, no random generator except Stream, no threads, and never iterates over a set."""
    module = sys.modules[type(trial.world).__module__]
    found = scan(module)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Wrong(f"{found[0]}{more}")
    return "no clock, no global random generator, no iteration over sets"


# -- playing ------------------------------------------------------------------------------------
def check_play(trial: Trial) -> str:
    """Random play completes without a crash, and some actions are accepted."""
    if trial.stopped:
        raise Wrong(f"{trial.world.spec.name} failed: {trial.stopped}")
    plays = trial.plays
    trial.steps_played = sum(play.steps for play in plays)
    accepted, refused = sum(p.accepted for p in plays), sum(p.refused for p in plays)
    if trial.steps_played == 0:
        raise Wrong("no step was played; pass steps and seeds")
    if accepted == 0:
        raise Wrong(
            f"{trial.steps_played} steps, but no action was accepted ({refused} refused; the last: "
            f"{plays[-1].last}); write legal(), so random play finds a move"
        )
    return f"{trial.steps_played} steps: {accepted} actions accepted, {refused} refused"


def check_to_move(trial: Trial) -> str:
    """to_move and standings only name existing seats."""
    trial.first_problem("to_move")
    return "only existing seats"


def check_legal(trial: Trial) -> str:
    """Listed actions are accepted, and a seat whose turn it is has at least one."""
    trial.first_problem("legal")
    return "all listed actions were accepted"


def check_returns(trial: Trial) -> str:
    """returns() gives finite totals for existing seats, starting at 0."""
    trial.first_problem("returns")
    if not overrides(trial.world, "returns"):
        return "no rewards per seat"
    for play in trial.plays:
        world = make_world(trial.source, trial.config)
        with Watched():
            world.restore(play.opening)
            begun = {seat: total for seat, total in world.returns().items() if total != 0}
        if begun:
            raise Wrong(f"after reset() returns() is {begun}; totals must start at 0")
    seats = sum(len(play.room.world.returns()) for play in trial.plays)
    return f"totals of {seats} seats, finite and starting at 0"


def check_arrivals(trial: Trial) -> str:
    """A seat that arrive() opens is in seats_now(); a refused arrival changes nothing; a departure frees a seat."""
    world = trial.world
    if not overrides(world, "arrive"):
        return "the world has no arrivals"
    if not overrides(world, "seats_now"):
        raise Wrong("arrive() opens seats, but there is no seats_now() to list them")
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
            raise Wrong("arrive() refused all guests; a new game must have a free seat")
        before = len(room.state.seats)
        room.call(seated[0], "stand_up", at=1)
        if len(seated) < MANY and not _sits(room, next(g for g in guests if g not in seated)):
            raise Wrong("arrive() still refuses after a member left a full world; depart() must free the seat")
        _carry_over(trial)
        again = Room.replay(list(room.record.tail), make_world)
        if again.digest() != room.digest():
            raise Wrong("a record with arrivals and departures replays to a different world")
    full = f"{before} at the same time, then full" if len(seated) < MANY else f"{len(seated)} or more at the same time"
    return f"{full}; a departure frees a seat"


def _sits(room: Room, guest: str) -> bool:
    """Let a guest take a seat. Returns False if the world refuses it."""
    before = room.digest()
    try:
        seat = room.call(guest, "sit", at=0).seat
    except AskerError as refusal:
        if room.digest() != before:
            raise Wrong(f"arrive() refused ({refusal.as_text()}) but changed the world") from None
        return False
    if seat not in [s.id for s in room.world.seats_now() or ()]:
        raise Wrong(f"arrive() returned seat {seat!r}, but seats_now() does not list it")
    return True


def _carry_over(trial: Trial) -> None:
    """The body of a departing member can be stored as JSON and used to arrive again."""
    world = make_world(trial.source, trial.config)
    world.reset(trial.seeds[0], [])
    body = world.depart(world.arrive(Arrival("somebody")), "left")
    try:
        kept = json.loads(json.dumps(body))
    except (TypeError, ValueError) as wrong:
        raise Wrong(f"depart() returns a body that is not JSON: {wrong}") from None
    world.arrive(Arrival("somebody", body=kept))


def check_refusals(trial: Trial) -> str:
    """A refused action leaves the world as it was."""
    trial.first_problem("refusals")
    return f"{sum(p.refused for p in trial.plays)} refusals changed nothing"


def check_over(trial: Trial) -> str:
    """A game that is over stays over."""
    trial.first_problem("over")
    endings = sum(p.endings for p in trial.plays)
    return f"{endings} finished games stayed finished" if endings else "no game ended in these steps"


def check_same_seed(trial: Trial) -> str:
    """The same seed and the same calls give the same world at every step."""
    for play in trial.plays:
        try:
            trial.compare(play, trial.play(play.seed).frozen, "a second play with the same seed differs")
        except (Wrong, Stopped) as wrong:
            trial._unsteady = str(wrong)
            raise Wrong(
                f"{wrong}. Use only Stream(seed, purpose) for randomness, and keep no state outside self"
            ) from None
    return "the same when played twice"


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
                    raise Stopped(f"{name}() changed the world; it must only read {where}")
                if first != again:
                    raise Stopped(f"{name}() returned different results for two calls in a row {where}")

    for play in trial.plays:
        peeked = trial.play(play.seed, peek)
        if not trial._unsteady:
            trial.compare(play, peeked.frozen, "with extra reads in between, the play differs")
    return f"{looks} extra reads changed nothing"


def _asked(play: Play) -> list[tuple[str, Callable[[], Any]]]:
    """Queries that need arguments, with random ones from a separate stream."""
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
    what = "next to another room the play differs: keep all state in self, none in the module or the class"
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
                    f"in a process with another PYTHONHASHSEED the play differs: something depends on the order "
                    f"of a set, hash() or id(); seed {play.seed}, {found}"
                )
    return f"the same in {len(HASH_SEEDS)} processes with other hash seeds"


def _in_other_processes(trial: Trial) -> list[list[list[Frozen]]]:
    """The fingerprints of the same plays, from one process per hash seed. The processes run in parallel."""
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
            raise Wrong(f"the play in a separate process did not finish within {PROCESS_SECONDS} s") from None
        except subprocess.CalledProcessError as failed:
            words = (failed.stderr.strip().splitlines() or ["no output"])[-1]
            raise Wrong(f"the play in a separate process failed: {words}") from None
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
                    raise Stopped("restore(snapshot()) followed by snapshot() gives a different snapshot")
            play.room = fresh
            restored += 1
            lost = difference(play.frozen[-1:], [play.freeze()])
            if lost:
                raise Stopped(f"{what}; seed {play.seed}, at step {play.steps}, {lost.partition(': ')[2]}")

    what = "after restore(snapshot()) the world differs: the snapshot is incomplete"
    for play in trial.steady:
        trial.compare(play, trial.play(play.seed, restore).frozen, what)
    return f"restored {restored} times in the middle of a game"


def check_reset(trial: Trial) -> str:
    """reset leaves no state of the previous game."""
    for play in trial.steady:
        with Watched():
            play.room.call("god", "reset", {"seed": play.seed}, at=play.at + 1000)
            now = play.room.world.snapshot()
        if now != play.opening:
            raise Wrong(f"after reset({play.seed}) the world differs from a new one: set every attribute in reset()")
    return "a reset world equals a new one"


def check_replay(trial: Trial) -> str:
    """Replaying the record gives the same world."""
    entries = 0
    for play in trial.steady:
        rows = [(line.seq, line.body, line.digest) for line in play.room.record.tail]
        with Watched():
            again = Room.replay(read_lines(rows, -1, GENESIS), make_world)
            if again.digest() != play.room.digest():
                raise Wrong(f"the record of seed {play.seed} replays to a different world")
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
"""Every check by name, in the order they run."""
