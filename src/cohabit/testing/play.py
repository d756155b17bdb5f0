"""Random play in a real room. Each step is converted to text, so two plays can be compared.

``python -m cohabit.testing.play`` plays in a separate process; the checker starts it with other hash seeds.
"""

import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from cohabit.errors import AskerError, CohabitError, GameCrash
from cohabit.model.action import ActionResult
from cohabit.model.seat import ALL, PUBLIC, Eye, SeatId
from cohabit.model.stream import Stream
from cohabit.registry import find_world, make_world
from cohabit.room.commands import Command
from cohabit.room.decide import by_grant
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.room.timers import can_skip
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.returned import CheckedRoom
from cohabit.testing.samples import WORDS, sample_args
from cohabit.testing.watch import Order, Watch
from cohabit.world import World, overrides
from cohabit.wrong_kinds import wrong_kind

Frozen = dict[str, str]
"""Everything visible of a world at one step, as text by name."""
PLAYERS = 3
"""The number of players if the number of seats varies."""
PICTURE_EVERY = 10
MAX_KEPT = 20_000
"""Of a longer view a hash is kept."""
GOD = "god"
OURS = ("room/", "features/", "testing/", "model/", "world.py")
"""The parts of our code in which what a world returned is used."""
VISITORS = ("v1", "v2")
"""Members without a claim, in worlds that open seats for arrivals."""


class Stopped(Exception):
    """The world failed, so the play cannot continue. The message has the location."""


class Play:
    """One room with a player on every seat and a god, played at random from a seed; in worlds with arrivals visitors
    take seats and leave them.

    ``wild`` adds what careless players do: arguments that match the schema but make no sense, arguments that do not
    match it, and turns that time out.
    """

    def __init__(self, source: str, seed: int, config: Mapping[str, Any] | None = None, *, wild: bool = True) -> None:
        self.source = source
        self.seed = seed
        self.wild = wild
        self.stream = Stream(seed, "play")
        self.at = 0
        self.steps = 0
        self.accepted = 0
        self.refused = 0
        self.endings = 0
        self.frozen: list[Frozen] = []
        self.problems: dict[str, str] = {}
        self.listed: dict[str, None] = {}  # the names of actions that `legal` has listed
        self.unlisted: dict[str, str] = {}  # calls that were accepted though it did not list their action, by name
        with Watched():
            self.room: Room = _open(source, seed, dict(config or {}))
            self.opening = self.room.world.snapshot()
        self.last = "the opening"

    # -- one step ---------------------------------------------------------------------------------
    def step(self) -> str:
        """Play one step. Returns a description."""
        self.at += 1000
        self.steps += 1
        try:
            with Watched():
                self.last = self._step()
        except Stopped as stopped:
            raise self._explained(stopped) from None
        return self.last

    def run(self, steps: int, between: Callable[["Play"], None] | None = None) -> "Play":
        """Play this many steps and freeze each one. ``between`` is called after each step."""
        self.frozen.append(self.freeze())
        for _ in range(steps):
            self.step()
            self.frozen.append(self.freeze())
            if between is not None:
                between(self)
        return self

    def _step(self) -> str:
        world, draw, pace = self.room.world, self.stream, self.room.pace
        movers = self._movers()
        self._look_at_movers(movers)
        self._look_at_returns()
        self._look_at_data()
        self._look_at_arrays()
        self._look_at_useful(movers)
        if world.is_over():
            self._look_at_the_end()
            self.room.call(GOD, "rematch", at=self.at)
            return "a rematch"
        if pace == "clock" and draw.chance(1, 2):
            n = draw.between(1, 3)
            self.room.system("ticks", {"n": n}, self.at)
            return f"{n} tick{'s' * (n > 1)}"
        late = pace == "rounds" or (pace == "turns" and can_skip(world))
        if self.wild and late and movers and draw.chance(1, 24):
            self.room.system("turn_timeout", {}, self.at)
            return "time is up"
        if self.room.has_arrivals and draw.chance(1, 4):
            visitor = self.room.state.members[draw.choice(VISITORS)]
            return self.attempt(visitor, "sit" if visitor.seat is None else "stand_up", {})
        seated = [m for m in self.members() if m.seat in movers]
        if not seated or (self.wild and draw.chance(1, 12)):
            return self._carelessly(self.room.state.members[GOD])
        member = draw.choice(seated)
        return self._carelessly(member) if self.wild and draw.chance(1, 5) else self._sensibly(member)

    def _movers(self) -> list[SeatId]:
        movers: Any = self.room.world.to_move()
        if isinstance(movers, str):  # a sequence of letters, each of which may be a seat
            raise Stopped(
                f"to_move() must list the ids of seats, such as [{movers!r}], and returns the text {movers!r}"
            )
        return list(movers)

    def _sensibly(self, member: Member) -> str:
        seat = self.room.seat_of(member)
        legal = self.room.world.legal(seat) if seat is not None else None
        if legal is None:
            return self._carelessly(member)
        if not legal:
            if self.room.pace == "turns":
                self.problem("legal", f"{member.seat} is to move, but legal() lists no actions")
            return self._carelessly(member)
        chosen = self.stream.choice(legal)
        return self.attempt(member, chosen.name, chosen.parameters, listed=True)

    def _carelessly(self, member: Member) -> str:
        """Try any action of the member, with random arguments from its schema or with invalid ones."""
        actions = [c for c in self.actions() if by_grant(member, c) and (member.seat or not c.needs_seat)]
        if not actions:
            return f"{member.id} can do nothing"
        command = self.stream.choice(actions)
        if self.stream.chance(1, 6):
            return self.attempt(member, command.name, {"no such parameter": 1})
        words = [*WORDS, *(s.id for s in self.room.state.seats)]
        return self.attempt(member, command.name, sample_args(command.schema, self.stream, words))

    def attempt(self, member: Member, name: str, args: Mapping[str, Any], *, listed: bool = False) -> str:
        """Call an action as this member. Returns a description of the result."""
        before, awaited = self.room.digest(), self.room.to_move()
        said = f"{member.id} {name} {json.dumps(args, ensure_ascii=False)}"
        legal = self._legal_names(member, name)
        try:
            result = self.room.call(member.id, name, dict(args), at=self.at)
        except AskerError as refusal:
            self.refused += 1
            if self.room.digest() != before:
                what = f"{said} was refused ({refusal.as_text()}) but changed the world"
                check = "arrivals" if name in ("sit", "stand_up") else "refusals"
                self.problem(check, f"{what}: check everything before the first change")
            if listed:
                self.problem("legal", f"legal() lists {name} {dict(args)}, but it is refused: {refusal.as_text()}")
            return f"{said}: {refusal.as_text()}"
        self.accepted += 1
        if isinstance(self.room, CheckedRoom) and name in self.room.returned_nothing:
            self.problem("outcomes", f"{name} returned None; did you forget `return Outcome(…)`?")
        if legal is not None and name not in legal:
            self.unlisted.setdefault(name, f"{said} is accepted (seed {self.seed}, step {self.steps})")
        if self.room.pace == "rounds" and member.seat in awaited and len(awaited) > 1:
            self._look_at_choice(member, said, result)
        words = result.message if isinstance(result, ActionResult) else json.dumps(msgspec.to_builtins(result))
        return f"{said}: {words or 'done'}"

    def _legal_names(self, member: Member, name: str) -> dict[str, None] | None:
        """The actions that ``legal`` lists for a member who is to move; None if this one need not be listed."""
        world, seat, command = self.room.world, self.room.seat_of(member), self.room.commands.get(name)
        offered = command is not None and command.where == "world" and command.for_model
        if not offered or seat is None or seat.id not in world.to_move() or world.spec.examples:
            return None
        legal = world.legal(seat)
        if legal is None:
            return None
        names = dict.fromkeys(action.name for action in legal)
        self.listed |= names
        return names

    # -- looking ----------------------------------------------------------------------------------
    def members(self) -> list[Member]:
        return [m for m in self.room.state.members.values() if m.id != GOD]

    def actions(self) -> list[Command]:
        return [c for c in self.room.commands if c.where == "world" and c.records]

    def queries(self) -> list[Command]:
        return [c for c in self.room.commands if c.where == "world" and not c.records]

    def eyes(self) -> list[Eye]:
        return [PUBLIC, ALL, *(Eye(s.id, "own") for s in self.room.state.seats)]

    def readers(self, *, drawing: bool = True) -> list[tuple[str, Callable[[], Any]]]:
        """All methods that only read, by name; without ``drawing`` none that makes pictures or arrays."""
        world = self.room.world
        found: list[tuple[str, Callable[[], Any]]] = [
            ("to_move", world.to_move), ("standings", world.standings), ("seats_now", world.seats_now),
            ("returns", world.returns), ("actions", lambda: [spec.name for spec in world.actions()]),
            ("is_over", world.is_over),
        ]  # fmt: skip
        for seat in self.room.state.seats:
            found += [("legal", partial(world.legal, seat)), ("goals", partial(world.goals, seat))]
            found += [("useful", partial(world.useful, seat))]
        for eye in self.eyes():
            found += [("observe", partial(world.observe, eye)), ("observe_data", partial(world.observe_data, eye))]
            found += [(q.name, partial(q.run_in(world), eye)) for q in self._asked_without_arguments(drawing)]
            if drawing:
                found += [("picture", partial(world.picture, eye))]
                found += [("scene", partial(world.scene, eye))] if overrides(world, "scene") else []
                found += [("array", partial(array_bytes, world, eye, form)) for form in world.arrays()]
        return found

    def _asked_without_arguments(self, drawing: bool) -> list[Command]:
        """The queries without required arguments; without ``drawing`` none whose answer is a picture."""
        return [q for q in self.queries() if not q.schema.get("required") and (drawing or not _draws(q))]

    def freeze(self) -> Frozen:
        """Everything that each eye sees now."""
        try:
            return self._freeze()
        except Stopped as stopped:
            raise self._explained(stopped) from None

    def _explained(self, stopped: Stopped) -> Stopped:
        """The same, or that the world returned a value of a wrong type: what uses it fails, in other code."""
        found = wrong_kind(self.room.world, self.room.state.seats, self.eyes())
        return Stopped(found) if found is not None else stopped

    def _freeze(self) -> Frozen:
        room, world = self.room, self.room.world
        room.roster_changed()  # drop the room's cached views
        drawing = self.steps % PICTURE_EVERY == 0
        with Watched():
            frozen = {"what happened": self.last, "to_move()": as_text(world.to_move())}
            frozen["standings()"] = as_text(world.standings())
            frozen["returns()"] = as_text(world.returns())
            for eye in self.eyes():
                name = eye.seat or eye.sees
                frozen[f"the view of {name}"] = _short(as_text(room.view_through(eye)))
                if drawing and overrides(world, "scene"):
                    frozen[f"the scene of {name}"] = _short(as_text(world.scene(eye)))
                if drawing:
                    frozen[f"the picture of {name}"] = sha256(world.picture(eye) or b"").hexdigest()
                    for form in world.arrays():
                        frozen[f"the array {form} of {name}"] = sha256(array_bytes(world, eye, form)).hexdigest()
            for query in self._asked_without_arguments(drawing):
                frozen[f"{query.name}()"] = _short(as_text(query.run_in(world)(PUBLIC)))
            frozen["the digest"] = room.digest()
        return frozen

    # -- what must hold at every step -------------------------------------------------------------
    def problem(self, check: str, words: str) -> None:
        """Keep the first problem of each kind."""
        self.problems.setdefault(check, f"{words} (seed {self.seed}, step {self.steps})")

    def _look_at_movers(self, movers: Sequence[SeatId]) -> None:
        there = [s.id for s in self.room.state.seats]
        unknown = [s for s in movers if s not in there]
        if unknown:
            self.problem("to_move", f"to_move() names {unknown[0]!r}, but the seats are {', '.join(there) or 'none'}")
        if len(movers) != len(dict.fromkeys(movers)):
            self.problem("to_move", f"to_move() names a seat twice: {', '.join(movers)}")
        standings = self.room.world.standings()
        for each in standings:
            if type(each.score) not in (int, float) or not math.isfinite(each.score):
                said = f"standings() gives {each.seat} the score {each.score!r}; scores must be finite numbers"
                self.problem("to_move", said)
        scored = [s.seat for s in standings]
        strange = [s for s in scored if s not in self.room.state.seats_ever and s not in there]
        if strange or len(scored) != len(dict.fromkeys(scored)):
            self.problem("to_move", f"standings() names {', '.join(scored)}; the seats are {', '.join(there)}")

    def _look_at_choice(self, member: Member, said: str, result: Any) -> None:
        """In rounds: a seat that was waited for, with others, and is not any more, has only chosen something."""
        room = self.room
        chosen = isinstance(result, ActionResult) and member.seat not in room.to_move() and not room.is_over()
        if chosen and not result.pending:
            self.problem("pace", f"{said} happens when the round ends, so its Outcome needs pending=True")

    def _look_at_returns(self) -> None:
        there = dict.fromkeys([*self.room.state.seats_ever, *(s.id for s in self.room.state.seats)])
        for seat, total in self.room.world.returns().items():
            if seat not in there:
                self.problem("returns", f"returns() names {seat!r}; the seats are {', '.join(there) or 'none'}")
            elif type(total) not in (int, float) or not math.isfinite(total):
                self.problem("returns", f"returns() gives {seat} {total!r}; totals must be finite numbers")

    def _look_at_data(self) -> None:
        world = self.room.world
        if not overrides(world, "observe_data"):
            return
        for eye in self.eyes():
            seen, data = (
                msgspec.structs.replace(one, text="", text_says_all=False)
                for one in (world.observe(eye), world.observe_data(eye))
            )
            if as_text(seen) != as_text(data):
                self.problem("data", f"observe_data() and observe() show {eye.seat or eye.sees} different values")

    def _look_at_arrays(self) -> None:
        world = self.room.world
        for form, spec in world.arrays().items():
            for eye in self.eyes():
                array = world.array(eye, form)
                made = tuple(array.shape), str(array.dtype)
                if made != (spec.shape, spec.dtype):
                    self.problem("training", f"array {form!r} is {made[1]} {made[0]}, not {spec.dtype} {spec.shape}")
                elif array.size and not (spec.low <= array.min() and array.max() <= spec.high):
                    self.problem(
                        "training", f"array {form!r} has {array.min()} to {array.max()}, not {spec.low} to {spec.high}"
                    )

    def _look_at_useful(self, movers: Sequence[SeatId]) -> None:
        world = self.room.world
        numbered = world.numbered()
        for seat in (s for s in self.room.state.seats if s.id in movers):
            useful = world.useful(seat)
            if useful is None:
                continue
            strange = [action for action in useful if numbered is None or action not in numbered]
            if not useful:
                self.problem("training", f"useful() gives {seat.id} nothing to choose from")
            elif strange:
                self.problem("training", f"useful() gives {seat.id} {strange[0].text}, which numbered() does not list")

    def _look_at_the_end(self) -> None:
        """A finished game must stay finished, whatever time, gods and reads do."""
        self.endings += 1
        world = self.room.world
        trials: list[tuple[str, Callable[[], Any]]] = [("reading it", lambda: [r() for _, r in self.readers()])]
        if self.room.pace == "clock":
            trials.append(("time passing", lambda: self.room.system("ticks", {"n": 5}, self.at)))
        trials.append(("an action", self._try_all_actions))
        for what, trial in trials:
            trial()
            if not world.is_over():
                self.problem("over", f"the game was over, but {what} continued it; a finished game must stay finished")
                return

    def _try_all_actions(self) -> None:
        for member in self.members():
            seat = self.room.seat_of(member)
            if seat is not None:  # it may have closed
                for chosen in (self.room.world.legal(seat) or ())[:3]:
                    self.attempt(member, chosen.name, chosen.parameters)
        god = self.room.state.members[GOD]
        for command in self.actions():
            if not command.needs_seat:
                self.attempt(god, command.name, sample_args(command.schema, self.stream))


def _draws(query: Command) -> bool:
    """True if the answer is a picture."""
    return "base64" in ((query.output_schema or {}).get("properties") or {})


class Watched:
    """Converts exceptions of a world to ``Stopped``, with the line of the world."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, bug: BaseException | None, _: TracebackType | None) -> None:
        if bug is None or isinstance(bug, Stopped) or not isinstance(bug, Exception):
            return
        raise Stopped(failure_of(bug)) from bug


def failure_of(bug: Exception) -> str:
    """The exception of a world in words, with its line."""
    if isinstance(bug, GameCrash) and bug.__cause__ is None:  # the room says what is wrong
        return bug.message
    cause = bug.__cause__ if isinstance(bug, CohabitError) and bug.__cause__ is not None else bug
    frames = traceback.extract_tb(cause.__traceback__)
    own = [f for f in frames if not any(f"/cohabit/{part}" in f.filename for part in OURS)]
    if not own and (frames[-1].line or "").startswith("raise "):  # we say what is wrong with what it returned
        return str(cause.message if isinstance(cause, CohabitError) else cause)
    frame = own[-1] if own else frames[-1]
    where = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} in {frame.name}()"
    may_not = ""
    if isinstance(bug, GameCrash) and isinstance(cause, AskerError):
        may_not = f" ({(own or frames)[0].name}() cannot refuse; refuse in the action that leads to this)"
    return f"{where}: {type(cause).__name__}: {cause}{may_not}"


def difference(one: Sequence[Mapping[str, str]], other: Sequence[Mapping[str, str]]) -> str | None:
    """Describe the first difference between two plays. Returns None if they are equal."""
    for step, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        for what in [*mine, *(w for w in theirs if w not in mine)]:
            if mine.get(what) != theirs.get(what):
                return f"step {step}: {what} differs{detail(mine.get(what, ''), theirs.get(what, ''))}"
    return None if len(one) == len(other) else f"one play stopped after {min(len(one), len(other)) - 1} steps"


def detail(mine: str, theirs: str) -> str:
    if len(mine) == 64 or not mine or not theirs:
        return ""  # digests are not readable
    at = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs)))
    start = max(0, at - 30)
    return f": …{mine[start : at + 30]!r} and …{theirs[start : at + 30]!r}"


def fingerprint(frozen: Sequence[Frozen]) -> list[Frozen]:
    """The same steps as hashes, small enough to pass between processes."""
    return [{what: sha256(text.encode()).hexdigest() for what, text in step.items()} for step in frozen]


def _open(source: str, seed: int, config: dict[str, Any]) -> CheckedRoom:
    world = make_world(source, config)
    fewest, most = world.spec.seat_range
    count = max(fewest, min(most, PLAYERS))
    players = [AgentSpec(id=f"p{i + 1}", role="player", claim=f"auto:{i}") for i in range(count)]
    visitors = [AgentSpec(id=name, role="player") for name in VISITORS] if overrides(world, "arrive") else []
    try:
        room = open_room(source, world, seed, config, [*players, *visitors])
    except Exception:
        found = wrong_kind(world, (), (PUBLIC, ALL))
        if found is not None:
            raise Stopped(found) from None
        raise
    room.checks_refusals = False  # the play checks every refusal itself
    return room


def open_room(source: str, world: World, seed: int, config: dict[str, Any], agents: list[AgentSpec]) -> CheckedRoom:
    """A room with these members and a god."""
    scenario = Scenario(
        agents=[*agents, AgentSpec(id=GOD, role="god")], scenario="check", world=source, config=config,
        partial_intel=True,
    )  # fmt: skip
    return CheckedRoom.create(opening_state(scenario, world, source, "check", seed, "00" * 16), world, 0)


def array_bytes(world: World, eye: Eye, form: str) -> bytes:
    """An array in a form that can be compared."""
    return bytes(world.array(eye, form).tobytes())


def _short(text: str) -> str:
    """The text, or a hash of a long one: every step of every play is kept."""
    return text if len(text) <= MAX_KEPT else sha256(text.encode()).hexdigest()


def as_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _main(folder: Path) -> None:
    """The process of the check ``process``: plays what ``order`` in the folder says, and writes the fingerprints."""
    order = msgspec.json.decode((folder / "order").read_bytes(), type=Order)
    watch = Watch(folder, order.limits)
    watch.wrap(watch.during(f"the import of {order.source}", lambda: find_world(order.source)))
    plays = [Play(order.source, seed, order.config).run(order.steps) for seed in order.seeds]
    (folder / "plays").write_text(json.dumps([fingerprint(play.frozen) for play in plays]))
    os._exit(0)  # threads of the world, or what it does at exit, could keep the process


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
