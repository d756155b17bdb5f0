"""``check_feature``: check that a feature of rooms meets its contract. Uses it in real rooms and says what to change.

    report = check_feature("poll.py")
    assert report.ok, report

Members call its commands with random arguments, play the world, leave and come back; time passes, and the house is
closed for a while.
Each check is a function whose docstring is its claim. They run in a process of their own, which has a time limit.
"""

import faulthandler
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, get_args

import msgspec

from cohabit.errors import CohabitError, GameCrash, RecordCorrupt
from cohabit.feature_registry import find_feature, load_features
from cohabit.model.stream import Stream
from cohabit.model.suggest import nearest
from cohabit.model.words import Words
from cohabit.registry import lasting_source, make_world
from cohabit.room.commands import Category, Command
from cohabit.room.feature import Feature, dues_of
from cohabit.room.opening import opening_state
from cohabit.room.record import GENESIS, Line, read_lines
from cohabit.room.room import Room
from cohabit.room.slices import Slice
from cohabit.room.state import Member
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.checker import Finding, Report, checks_in
from cohabit.testing.checks.trial import CheckFailed, CheckWarned
from cohabit.testing.samples import WORDS, sample_args, texts_in

MODULE = "cohabit.testing.feature_checker"
SEEDS = (1, 2, 3)
STEPS = 120
LIMIT_S = 60
"""The seconds of CPU time that all checks may take together."""
WAITS = 10
"""A check may take this many times longer than its CPU time, because on a busy machine it waits."""
TEXTS = ("view_lines", "absence", "missed", "reply_note")
"""Hooks that return text."""
WORLD = "nim"
MEMBERS = {"ada": "player", "bob": "player", "cleo": "observer", "dora": "host"}
LONGEST_WAIT_MS = 90_000
MANY_IDS = 40


class Play:
    """A room that is used at random, with this feature."""

    def __init__(self, feature: Feature, world: str, seed: int) -> None:
        self.feature, self.at = feature, 1_000
        self.accepted: Counter[str] = Counter()
        self.digests: dict[int, str] = {}  # of the room after an entry, by its number
        self._stream = Stream(seed, "check feature")
        self._words = [*WORDS, *MEMBERS]
        self._last = ""
        agents = [AgentSpec(id=name, role=role, identity=f"id-{name}") for name, role in MEMBERS.items()]
        scenario = Scenario(world=world, agents=agents, features=[feature.name])
        made = make_world(world, {})
        self.room = Room.create(opening_state(scenario, made, world, "check", seed, "00" * 16), made, self.at)
        self.room.counts_calls = False

    @property
    def commands(self) -> list[Command]:
        return [command for command in self.feature.declared if not command.system]

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self._step()

    def _step(self) -> None:
        room, stream = self.room, self._stream
        self.at += stream.between(0, LONGEST_WAIT_MS) if stream.chance(1, 4) else 10
        if stream.chance(1, 40) and (deadline := room.next_deadline()) is not None:
            self.at = max(self.at, deadline)
        if self.feature.overrides("due"):
            _guarded("due", lambda: dues_of(self.feature, room))
        _guarded("a timer", lambda: room.settle(self.at))
        away = [name for name in MEMBERS if room.member_of(f"id-{name}") is None]
        if stream.chance(1, 12):
            room.system("opened", {"gap": stream.between(1, LONGEST_WAIT_MS)}, self.at)
        elif away and stream.chance(1, 3):
            name = stream.choice(away)
            joins = {"handle": name, "kind": "agent", "identity": f"id-{name}", "role": MEMBERS[name]}
            room.system("admitted", joins, self.at)
        member = stream.choice(list(room.state.members.values()))
        if stream.chance(1, 12) and len(room.state.members) > 2:
            self._call(member, "leave", {})
        elif stream.chance(1, 8):
            self._call(member, "send_message", {"to": "*", "content": "hello"})
        elif stream.chance(1, 5):
            self._play(member)
        elif self.commands:
            command = stream.choice(self.commands)
            self._call(member, command.name, sample_args(command.schema, stream, self._words))

    def _play(self, member: Member) -> None:
        """Take a seat, act in the world, or begin the next game. What is not allowed is refused."""
        room = self.room
        if room.is_over():
            self._call(member, "rematch", {})
        elif member.seat is None:
            self._call(member, "sit", {})
        elif (action := room.fallback(member)) is not None:
            self._call(member, action.name, action.parameters)

    def _call(self, member: Member, name: str, args: dict[str, Any]) -> None:
        room, before = self.room, self.room.digest()
        self.digests[room.record.seq] = before
        try:
            result = _guarded(name, lambda: room.call(member.id, name, args, at=self.at))
        except CohabitError as refused:
            if room.digest() != before:
                raise CheckFailed(f"{name} was refused ({refused.message}), and changed the room before that") from None
            return
        if not room.commands.named(name).records and room.digest() != before:
            raise CheckFailed(f"{name} changes the room, but is not recorded; declare it with records=True")
        if any(command.name == name for command in self.commands):
            self.accepted[name] += 1
        found = [text for text in texts_in(msgspec.to_builtins(result)) if 0 < len(text) <= 60]
        self._words = [*WORDS, *MEMBERS, *(self._words[len(WORDS) + len(MEMBERS) :] + found)[-MANY_IDS:]]

    @property
    def lines(self) -> list[Line]:
        return list(self.room.record.tail)


class FeatureTrial:
    """Shared by the checks: the feature, and the rooms in which it was used."""

    def __init__(self, source: str, world: str) -> None:
        self.source, self.world = source, world
        self.feature: Feature = find_feature(load_features([source])[0])

    @cached_property
    def plays(self) -> list[Play]:
        made = [Play(self.feature, self.world, seed) for seed in SEEDS]
        for play in made:
            play.run(STEPS)
        return made

    @property
    def steps(self) -> int:
        return sum(play.room.record.seq for play in vars(self).get("plays", ()))


Check = Callable[[FeatureTrial], str]


def check_declaration(trial: FeatureTrial) -> str:
    """Its slices have its name, and its commands are described."""
    feature = trial.feature
    for where in ("room_slice", "member_slice"):
        kept: Slice[Any] | None = getattr(feature, where)
        if kept is not None and kept.feature != feature.name:
            raise CheckFailed(f"{where} is kept as {kept.feature!r}; give the slice the feature's name, {feature.name}")
        if kept is not None and msgspec.to_builtins(kept.kind()) != {}:
            raise CheckFailed(
                f"declare {kept.kind.__name__} with omit_defaults=True, and with a default for each field"
            )
    for name in vars(type(feature)):
        if not name.startswith("_") and not hasattr(Feature, name) and callable(getattr(feature, name)):
            near = nearest(name, [hook for hook in vars(Feature) if not hook.startswith("_")], 1)
            if near:
                raise CheckFailed(
                    f"{name} is no hook; did you mean {near[0]}? Begin the names of your own methods with _"
                )
    if wrong := [made for made in feature.declared if made.category not in get_args(Category)]:
        raise CheckFailed(f"the category of {wrong[0].name} is one of {', '.join(get_args(Category))}")
    undescribed = [command.name for command in feature.declared if not command.system and not command.doc]
    if undescribed:
        raise CheckFailed(f"{undescribed[0]} needs a docstring: it is what its callers read")
    ours = [command.name for command in feature.declared if not command.system]
    return f"commands: {', '.join(ours) or 'none'}"


def check_use(trial: FeatureTrial) -> str:
    """Its commands can be called, its timers end, and a refusal changes nothing."""
    accepted: Counter[str] = Counter()
    happened = {line.entry.do for play in trial.plays for line in play.lines if line.entry.by is None}
    for play in trial.plays:
        accepted += play.accepted
    never = [command.name for command in trial.plays[0].commands if not accepted[command.name]]
    missed = [command.name for command in trial.feature.declared if command.system and command.name not in happened]
    if never or missed:
        named = (("accepted with random arguments", never), ("due", missed))
        found = "; ".join(f"never {what}: {', '.join(names)}" for what, names in named if names)
        raise CheckWarned(f"{found}; test them yourself")
    return ", ".join(f"{name} {n}×" for name, n in accepted.items()) or "it has no commands"


def check_questions(trial: FeatureTrial) -> str:
    """Its questions change nothing."""
    asked = 0
    for play in trial.plays:
        room = play.room
        for member in list(room.state.members.values()):
            for hook, ask in _questions(trial.feature, room, member):
                before = room.digest()
                said = _guarded(hook, ask)
                asked += 1
                if hook in TEXTS and not isinstance(said, str):
                    raise CheckFailed(f"{hook} returns text, not {type(said).__name__}")
                if room.digest() != before:
                    raise CheckFailed(f"{hook} is a question, but it changes the room; change it in follow")
    return f"asked {asked} times"


def check_replay(trial: FeatureTrial) -> str:
    """Its record gives the same room again: by replaying it, and from a snapshot."""
    for play in trial.plays:
        expected = play.room.digest()
        _same(expected, _replayed(play.lines, play.digests), "after a replay of its record")
        snapshot = play.room.snapshot()
        again = Room.restore(type(snapshot).decode(snapshot.encode()), [], make_world)
        _same(expected, again.digest(), "after it was restored from a snapshot")
    return f"{trial.steps} entries, replayed and restored"


def check_rollback(trial: FeatureTrial) -> str:
    """A room that is rolled back has what it had before."""
    for play in trial.plays:
        expected = play.room.digest()
        play.room.roll_back()
        _same(expected, play.room.digest(), "after it was rolled back")
    return f"{len(trial.plays)} rooms"


def check_process(trial: FeatureTrial) -> str:
    """Another process gets the same room from the record."""
    lines = [(line.seq, line.body, line.digest) for line in trial.plays[0].lines]
    work = [sys.executable, "-P", "-m", MODULE, "replay", trial.source]
    done = subprocess.run(
        work, input=msgspec.json.encode(lines), capture_output=True, timeout=LIMIT_S * WAITS, env=_environment("1")
    )
    if done.returncode:
        raise CheckFailed(done.stderr.decode().strip().splitlines()[-1])
    _same(trial.plays[0].room.digest(), done.stdout.decode().strip(), "in another process")
    return f"{len(lines)} entries; sets and hashes do not matter"


def check_unused(trial: FeatureTrial) -> str:
    """A room that does not use it keeps nothing of it."""
    room = Play(trial.feature, trial.world, 1).room
    room.call("dora", "view", {}, at=room.record.at)
    room.system("opened", {"gap": 1}, room.record.at)
    if trial.feature.name in room.state.slices and not trial.feature.overrides("opening"):
        raise CheckFailed("it keeps something of a room that has not used it; read a slice unless you change it")
    return "costs nothing until it is used"


def check_members(trial: FeatureTrial) -> str:
    """It forgets members who have left."""
    for play in trial.plays:
        room = play.room
        kept = room.state.slices.get(trial.feature.name)
        keys = set(_keys(msgspec.to_builtins(kept)))
        gone = {line.entry.by for line in play.lines if line.entry.by} - room.state.members.keys()
        if gone & keys:
            raise CheckWarned(f"it still has {(gone & keys).pop()}, who has left; `follow` can bring it in line")
    return "nothing of those who left"


CHECKS: dict[str, Check] = checks_in(globals())
"""Every check by name, in the order they run."""


def check_feature(source: str, *, world: str = WORLD, seconds: float = LIMIT_S) -> Report:
    """Check the feature in a file (``poll.py``, or ``poll.py:Poll``), in rooms with this world. ``seconds``: how much
    CPU time all checks may take together."""
    work = [sys.executable, "-P", "-m", MODULE, "check", lasting_source(source), world, str(seconds)]
    done = subprocess.run(work, capture_output=True, text=True, env=_environment("0"))
    if done.returncode == 0:
        return msgspec.json.decode(done.stdout, type=Report)
    said = done.stderr.strip().splitlines() or [f"its process ended with {done.returncode}"]
    where = [line.strip() for line in said if source.rpartition("/")[2].partition(":")[0] in line]
    if "most recent call first" in done.stderr:  # it took too long
        return Report(source, [Finding("limits", False, f"not done after {seconds:g} s: {''.join(where[:1])}")])
    return Report(source, [Finding("loading", False, " ".join(dict.fromkeys([*where[-1:], said[-1].strip()])))])


def _check(source: str, world: str) -> Report:
    trial = FeatureTrial(source, world)
    found: list[Finding] = []
    for name, check in CHECKS.items():
        found.append(_finding(name, check, trial))
        if found[-1].ok is False:
            break
    return Report(f"{trial.feature.name} in {world}", found, trial.steps)


def _finding(name: str, check: Check, trial: FeatureTrial) -> Finding:
    try:
        return Finding(name, True, check(trial))
    except CheckFailed as wrong:
        return Finding(name, False, str(wrong))
    except CheckWarned as why:
        return Finding(name, True, str(why), warned=True)
    except CohabitError as wrong:
        return Finding(name, False, wrong.as_text())


def _questions(feature: Feature, room: Room, member: Member) -> Iterator[tuple[str, Callable[[], Any]]]:
    commands = list(room.commands)
    asks: dict[str, Callable[[], Any]] = {
        "active": lambda: feature.active(room),
        "due": lambda: dues_of(feature, room),
        "refuses": lambda: [feature.refuses(room, member, command) for command in commands],
        "refuses_words": lambda: [feature.refuses_words(room, who, Words(("a",), True)) for who in (member, None)],
        "without_seat": lambda: [feature.without_seat(member, command) for command in commands],
        "keeps_seated": lambda: [feature.keeps_seated(room, seat) for seat in room.seats],
        "view_lines": lambda: feature.view_lines(room, member),
        "absence": lambda: feature.absence(room.state, "nobody"),
        "announces": lambda: feature.announces(room),
        "observes": lambda: feature.observes(room, member),
        "hears": lambda: feature.hears(room, member, member),
        "pauses": lambda: feature.pauses(room, member),
        "missed": lambda: feature.missed(room, member),
        "reply_note": lambda: feature.reply_note(room, member),
    }
    return ((hook, ask) for hook, ask in asks.items() if feature.overrides(hook))


def _guarded(what: str, run: Callable[[], Any]) -> Any:
    """Run something of the feature. Only a refusal may come out of it."""
    try:
        return run()
    except GameCrash as crash:
        bug = crash.__cause__
        raise CheckFailed(f"{what} failed: {type(bug).__name__}: {bug}") from bug
    except CohabitError:
        raise
    except Exception as bug:
        raise CheckFailed(f"{what} failed: {type(bug).__name__}: {bug}") from bug


def _replayed(lines: Iterable[Line], digests: Mapping[int, str] = MappingProxyType({})) -> str:
    """The digest of the room that a record gives, or why it gives none. ``digests``: what it had after some entries,
    because a difference may be gone at the end."""
    try:
        for room, line in Room.replaying(lines, make_world):
            if digests.get(line.seq) not in (None, room.digest()):
                return f"it differs after entry {line.seq}"
        return room.digest()
    except RecordCorrupt as wrong:
        return wrong.message


def _same(expected: str, found: str, when: str) -> None:
    """``found``: a digest, or why there is none."""
    if found != expected:
        why = f" ({found})" if " " in found else ""
        raise CheckFailed(
            f"the room is different {when}{why}: what the feature does must follow from the room and the entry alone, "
            "not from a clock, random numbers, the order of a set, or values outside of its slices"
        )


def _keys(value: Any) -> Iterator[str]:
    """The keys of all objects in a plain value."""
    if isinstance(value, dict):
        yield from value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(part)


def _environment(hash_seed: str) -> dict[str, str]:
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": hash_seed}


def _main(what: str, source: str, world: str = WORLD, seconds: str = str(LIMIT_S)) -> None:
    faulthandler.register(signal.SIGPROF, all_threads=False, chain=True)  # says where it is, and ends the process
    signal.setitimer(signal.ITIMER_PROF, float(seconds))
    faulthandler.dump_traceback_later(float(seconds) * WAITS, exit=True)  # also if it waits without computing
    if what == "check":
        sys.stdout.write(msgspec.json.encode(_check(source, world)).decode())
        return
    load_features([source])
    rows = msgspec.json.decode(sys.stdin.buffer.read(), type=list[tuple[int, bytes, bytes]])
    sys.stdout.write(_replayed(read_lines(rows, -1, GENESIS)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
