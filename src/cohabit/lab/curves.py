"""The development of scores in the course of a game, from the records: means over games, with bands."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from msgspec import Struct

from cohabit.errors import CohabitError, RecordCorrupt
from cohabit.lab.estimates import Estimate, estimate
from cohabit.lab.folder import read_record, record_path
from cohabit.lab.game import GameResult
from cohabit.registry import make_world, trusted_source
from cohabit.room.room import Room
from cohabit.world import World

POINTS = 60
"""At how many moments the curves are computed, at most."""
MAX_GAMES = 200
"""The number of games of a condition that are replayed for its curves."""
MAX_ENTRIES = 20_000
"""The number of entries of all these games."""


class Curve(Struct, frozen=True):
    """The score of a player at moments of the game; a game that is over keeps its last score."""

    player: str
    moments: list[int]  # entries of the record
    values: list[Estimate]


class Curves(Struct, frozen=True):
    """The curves of a condition, and why games are not part of them, by the id of the game. ``part``: which games they
    are from, if there are too many to replay all; empty: from all."""

    of_players: list[Curve] = []
    left_out: dict[str, str] = {}
    part: str = ""


def curves(folder: Path, games: Sequence[GameResult], worlds: Sequence[str] = ()) -> Curves:
    """The curve of each player; none if the score never changes before the end of a game.

    ``worlds``: the files that may be loaded, as a record may come from anybody.
    """
    paths: dict[str, dict[str, list[list[Fraction]]]] = {}
    left_out: dict[str, str] = {}
    chosen = _chosen(games)
    for game in chosen:
        try:
            over_time = scores_over_time(folder, game, worlds)
        except CohabitError as wrong:  # the world has changed since, or the file; the results stay what they were
            left_out[game.spec.id] = wrong.message
            continue
        for seat, name in enumerate(game.spec.named):
            mine = paths.setdefault(name, {}).setdefault(game.spec.seed, [])
            mine.append([scores[seat] for scores in over_time])
    every = [path for seeds in paths.values() for group in seeds.values() for path in group]
    if not any(value != path[0] for path in every for value in path[:-1]):
        return Curves(left_out=left_out)
    longest = max(map(len, every))
    moments = sorted({round(i * (longest - 1) / (POINTS - 1)) for i in range(POINTS)})
    return Curves(
        [Curve(name, moments, [_at(seeds.values(), moment) for moment in moments]) for name, seeds in paths.items()],
        left_out,
        _part_in_words(chosen, games),
    )


def _chosen(games: Sequence[GameResult]) -> list[GameResult]:
    """The games of whole seeds, with all line-ups, as far as the limits allow. If the first seed is beyond them, a part
    of it: a game of each line-up before a second one of any."""
    by_seed: dict[str, list[GameResult]] = {}
    for game in games:
        by_seed.setdefault(game.spec.seed, []).append(game)
    found: list[GameResult] = []
    for group in by_seed.values():
        if not _is_within_limits([*found, *group]):
            break
        found += group
    return found or _first(sorted(games, key=lambda game: (game.spec.seed != games[0].spec.seed, game.spec.order)))


def _first(games: Sequence[GameResult]) -> list[GameResult]:
    found = list(games[:1])
    for game in games[1:]:
        if not _is_within_limits([*found, game]):
            break
        found.append(game)
    return found


def _is_within_limits(games: Sequence[GameResult]) -> bool:
    return len(games) <= MAX_GAMES and sum(game.entries for game in games) <= MAX_ENTRIES


def _part_in_words(chosen: Sequence[GameResult], games: Sequence[GameResult]) -> str:
    if len(chosen) == len(games):
        return ""
    seeds, every = ({game.spec.seed for game in some} for some in (chosen, games))
    whole = len(chosen) == sum(game.spec.seed in seeds for game in games)
    what = f"all games of {len(seeds)} of {len(every)} seeds" if whole else "a part of the first seed"
    return f"The curves are from {len(chosen):,} of {len(games):,} games, {what}: more are not replayed."


def _at(seeds: Iterable[Sequence[Sequence[Fraction]]], moment: int) -> Estimate:
    """The mean over seeds, of the means over the games of each."""
    means = [sum((path[min(moment, len(path) - 1)] for path in paths), Fraction(0)) / len(paths) for paths in seeds]
    found = estimate(means)
    assert found is not None
    return found


def scores_over_time(folder: Path, game: GameResult, worlds: Sequence[str] = ()) -> list[list[Fraction]]:
    """The score of each seat after every entry of a record."""
    found: list[list[Fraction]] = []
    head = ""

    def make(recorded: str, config: Mapping[str, Any]) -> World:
        return make_world(trusted_source(recorded, worlds), config)

    if not record_path(folder, game.spec.id).is_file():
        raise RecordCorrupt("its record is missing")
    for room, line in Room.replaying(read_record(folder, game.spec.id), make):
        now = {each.seat: each.score for each in room.world.standings()} if game.standings else room.state.returns
        found.append([Fraction(now.get(seat, 0)) for seat in game.seats])
        head = line.digest.hex()
    if head != game.head:
        raise RecordCorrupt("its record is not the one that the game ended with")
    return found
