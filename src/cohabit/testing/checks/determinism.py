"""Checks that a world is reproducible: from its seed, its snapshot and its record, and not disturbed by reads."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from cohabit.errors import AskerError
from cohabit.model.observation import Observation
from cohabit.model.seat import ALL
from cohabit.registry import make_world
from cohabit.room.commands import Command
from cohabit.room.record import GENESIS, Snapshot, read_lines
from cohabit.room.room import Room
from cohabit.testing.checks.trial import CheckFailed, CheckWarned, Trial
from cohabit.testing.outside import own_files
from cohabit.testing.play import Frozen, Play, Stopped, Watched, as_text, detail, difference, fingerprint
from cohabit.testing.samples import sample_args
from cohabit.testing.watch import DEFAULT_LIMITS, Order, cause_of_death
from cohabit.world import World, overrides

HASH_SEEDS = ("1", "2")
PEEK_EVERY = 3
DRAW_EVERY = 3 * PEEK_EVERY
"""Pictures are read less often, because drawing them takes most of the time."""
RESTORE_EVERY = 5
dump = msgspec.json.Encoder().encode
PROCESS_SECONDS = 300
TICKS = 6


def check_same_seed(trial: Trial) -> str:
    """The same seed and the same calls give the same world at every step."""
    for play in trial.plays:
        try:
            trial.compare(play, trial.play(play.seed).frozen, "a second play with the same seed differs")
        except (CheckFailed, Stopped) as wrong:
            trial.reproducible = False
            raise CheckFailed(
                f"{wrong}. Use only Stream(seed, purpose) for randomness, and keep no state outside self"
            ) from None
    return "the same when played twice"


def check_peeking(trial: Trial) -> str:
    """observe, queries, legal, goals, standings and picture change nothing, however often they are called. What observe
    has returned can be sent, and stays as it was."""
    looks = 0
    seen: list[tuple[Observation, bytes]] = []

    def peek(play: Play) -> None:
        nonlocal looks
        if play.steps % PEEK_EVERY:
            return
        with Watched():
            if any(dump(earlier) != was for earlier, was in seen):
                raise Stopped("observe() returns a list or dict that the game changes later; return a copy of it")
            seen.clear()
            before = play.room.world.snapshot()
            drawing = play.steps % DRAW_EVERY == PEEK_EVERY
            for name, look in [*play.readers(drawing=drawing), *_asked(play)]:
                first = look()
                again = look()
                looks += 2
                where = f"(seed {play.seed}, step {play.steps})"
                if play.room.world.snapshot() != before:
                    raise Stopped(f"{name}() changed the world; it must only read {where}")
                if isinstance(first, Observation) and (wrong := _unsendable(first.status)):
                    raise Stopped(f"the status of {name}() has {wrong} {where}")
                if first != again:
                    raise Stopped(f"{name}() returned different results for two calls in a row {where}")
                if isinstance(first, Observation):
                    seen.append((first, dump(first)))

    for play in trial.plays:
        seen.clear()
        peeked = trial.play(play.seed, peek)
        if trial.reproducible:
            trial.compare(play, peeked.frozen, "with extra reads in between, the play differs")
    return f"{looks} extra reads changed nothing"


def _unsendable(value: Any) -> str:
    """What in a value of a status reaches nobody as it is; empty if there is nothing."""
    match value:
        case set() | frozenset():
            return "a set, which has no order; sort it into a list"
        case float() if not isfinite(value):
            return f"{value}, which JSON does not have; use None for an unknown value"
        case Mapping():
            return next(filter(None, map(_unsendable, value.values())), "")
        case list() | tuple():
            return next(filter(None, map(_unsendable, value)), "")
    return ""


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
            return query.run_in(play.room.world)(play.eyes()[-1], **query.check(args))
        except AskerError as refusal:
            return refusal.as_text()

    return ask


def check_ticks(trial: Trial) -> str:
    """With a clock, several ticks at once do the same as one after another."""
    if trial.world.pace != "clock":
        return "no clock"
    for play in trial.reproducible_plays:
        for state in (play.opening, play.room.world.snapshot()):
            with Watched():
                at_once, one_by_one = (_after_ticks(trial, state, ticks) for ticks in ([TICKS], [1] * TICKS))
            if at_once != one_by_one:
                raise CheckWarned(
                    f"after advance({TICKS}) the world differs from {TICKS} times advance(1) (seed {play.seed})"
                    f"{detail(at_once, one_by_one)}. A house often gives several ticks at once: loop over them"
                )
    return f"advance({TICKS}) is {TICKS} times advance(1)"


def _after_ticks(trial: Trial, state: bytes, ticks: Sequence[int]) -> str:
    """All that is seen after these calls of ``advance``."""
    world = make_world(trial.source, trial.config)
    world.restore(state)
    for n in ticks:
        if not world.is_over():  # then its time stops
            world.advance(n)
    return as_text([world.observe(ALL), world.to_move(), world.standings(), world.returns()])


def check_neighbour(trial: Trial) -> str:
    """Rooms of the same world, played side by side, do not disturb each other."""
    plays = trial.reproducible_plays
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
    plays = trial.reproducible_plays
    with ThreadPoolExecutor(len(HASH_SEEDS)) as pool:
        answers = list(pool.map(partial(_in_other_process, trial), HASH_SEEDS))
    for answer in answers:
        for play, theirs in zip(plays, answer, strict=True):
            found = difference(fingerprint(play.frozen), theirs)
            if found:
                raise CheckFailed(
                    f"in a process with another PYTHONHASHSEED the play differs: something depends on the order "
                    f"of a set, hash() or id(); seed {play.seed}, {found}"
                )
    return f"the same in {len(HASH_SEEDS)} processes with other hash seeds"


def _in_other_process(trial: Trial, hash_seed: str) -> list[list[Frozen]]:
    """The fingerprints of the same plays."""
    limits = trial.watch.limits if trial.watch else DEFAULT_LIMITS
    order = Order(trial.source, trial.seeds, trial.steps, trial.config, limits)
    paths = {"PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path), "PYTHONHASHSEED": hash_seed}
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "order").write_bytes(msgspec.json.encode(order))
        command = [sys.executable, "-P", "-m", "cohabit.testing.play", temporary]
        try:
            done = subprocess.run(
                command, env={**os.environ, **paths}, capture_output=True, text=True, timeout=PROCESS_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"the play in a separate process did not finish within {PROCESS_SECONDS} s") from None
        if done.returncode == 1:
            words = (done.stderr.strip().splitlines() or ["no output"])[-1]
            raise CheckFailed(f"the play in a separate process failed: {words}")
        if done.returncode or not (folder / "plays").exists():
            why = cause_of_death(folder, done.returncode, limits, own_files(trial.source))
            raise CheckFailed(f"in a process with another PYTHONHASHSEED {why}")
        fingerprints: list[list[Frozen]] = json.loads((folder / "plays").read_text())
        return fingerprints


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
    for play in trial.reproducible_plays:
        trial.compare(play, trial.play(play.seed, restore).frozen, what)
    return f"restored {restored} times in the middle of a game"


def check_reset(trial: Trial) -> str:
    """reset leaves no state of the previous game."""
    for play in trial.reproducible_plays:
        with Watched():
            play.room.call("god", "reset", {"seed": play.seed}, at=play.at + 1000)
            now = play.room.world.snapshot()
        if now != play.opening:
            where = ", ".join(_attributes_that_differ(trial.world, play.opening, now))
            raise CheckFailed(
                f"after reset({play.seed}) the world differs from a new one{where and f' in {where}'}: "
                "set every attribute in reset()"
            )
    return "a reset world equals a new one"


def _attributes_that_differ(world: World, one: bytes, other: bytes) -> list[str]:
    """The names of the attributes, where the snapshot is of attributes."""
    if overrides(world, "snapshot"):
        return []
    mine, theirs = msgspec.json.decode(one), msgspec.json.decode(other)
    return [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]


def check_replay(trial: Trial) -> str:
    """Replaying the record gives the same world."""
    entries = 0
    for play in trial.reproducible_plays:
        rows = [(line.seq, line.body, line.digest) for line in play.room.record.tail]
        with Watched():
            again = Room.replay(read_lines(rows, -1, GENESIS), make_world)
            if again.digest() != play.room.digest():
                raise CheckFailed(f"the record of seed {play.seed} replays to a different world")
        entries += len(rows)
    return f"{entries} entries replayed"
