"""How the scores of players develop in the course of a game, from the records: means over games, with bands."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from msgspec import Struct

from cohabit.errors import CohabitError
from cohabit.lab.estimates import Estimate, estimate
from cohabit.lab.folder import read_record
from cohabit.lab.game import GameResult
from cohabit.registry import make_world
from cohabit.room.room import Room

POINTS = 60
"""At how many moments the curves are computed, at most."""
MAX_GAMES = 200
"""How many games of a condition are replayed for its curves."""
MAX_ENTRIES = 20_000
"""How many entries of all these games."""


class Curve(Struct, frozen=True):
    """The score of a player at moments of the game; a game that is over keeps its last score."""

    player: str
    moments: list[int]  # entries of the record
    values: list[Estimate]


def curves(folder: Path | None, games: Sequence[GameResult]) -> list[Curve]:
    """The curve of each player. Empty: there are no records, or the score never changes before the end of a game."""
    paths: dict[str, dict[str, list[list[Fraction]]]] = {}
    for game in _chosen(games) if folder is not None else ():
        assert folder is not None
        try:
            over_time = scores_over_time(folder, game)
        except CohabitError:  # the world has moved or changed since; the results stay what they were
            return []
        for seat, name in enumerate(game.spec.named):
            mine = paths.setdefault(name, {}).setdefault(game.spec.seed, [])
            mine.append([scores[seat] for scores in over_time])
    longest = max((len(path) for seeds in paths.values() for group in seeds.values() for path in group), default=0)
    if not any(_changes(path) for seeds in paths.values() for group in seeds.values() for path in group):
        return []
    moments = sorted({round(i * (longest - 1) / (POINTS - 1)) for i in range(POINTS)})
    return [Curve(name, moments, [_at(seeds.values(), moment) for moment in moments]) for name, seeds in paths.items()]


def _chosen(games: Sequence[GameResult]) -> list[GameResult]:
    found: list[GameResult] = []
    entries = 0
    for game in games[:MAX_GAMES]:
        entries += game.entries
        if entries > MAX_ENTRIES and found:
            break
        found.append(game)
    return found


def _changes(path: Sequence[Fraction]) -> bool:
    return any(value != path[0] for value in path[:-1])


def _at(seeds: Iterable[Sequence[Sequence[Fraction]]], moment: int) -> Estimate:
    """The mean over seeds, of the means over the games of each."""
    means = [sum((path[min(moment, len(path) - 1)] for path in paths), Fraction(0)) / len(paths) for paths in seeds]
    found = estimate(means)
    assert found is not None
    return found


def scores_over_time(folder: Path, game: GameResult) -> list[list[Fraction]]:
    """The score of each seat after every entry of a record."""
    found: list[list[Fraction]] = []
    for room, _ in Room.replaying(read_record(folder, game.spec.id), make_world):
        now = {each.seat: each.score for each in room.world.standings()} if game.standings else room.state.returns
        found.append([Fraction(now.get(seat, 0)) for seat in game.seats])
    return found
