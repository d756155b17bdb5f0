"""OpenSkill ratings (Plackett-Luce) of the players in the games of one world."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.lab.game import GameResult
from cohabit.lab.results import scores

INSTALL = "install it with: pip install 'cohabit[lab]'"


class PlayerRating(Struct, frozen=True):
    """The estimated skill and its standard deviation."""

    player: str
    mu: float
    sigma: float
    games: int

    @property
    def ordinal(self) -> float:
        """A cautious skill: the player is better than this with a probability of 99.9 %."""
        return self.mu - 3 * self.sigma


def can_rate() -> bool:
    from importlib.util import find_spec

    return find_spec("openskill") is not None


def rate(games: Iterable[GameResult]) -> list[PlayerRating]:
    """The ratings after these games, the best first. Games in the order of the plan give the same ratings again.

    A game of a player against itself says nothing about its skill, and is left out.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        raise BadArgs(f"ratings need the package openskill; {INSTALL}") from None
    model = PlackettLuce()
    ratings: dict[str, Any] = {}
    played: dict[str, int] = {}
    for game in games:
        names = game.spec.named
        for name in names:
            if name not in ratings:
                ratings[name], played[name] = model.rating(), 0
        if len(names) < 2 or len(set(names)) < len(names):
            continue
        rated = model.rate([[ratings[name]] for name in names], ranks=ranks(scores(game)))
        for name, (rating,) in zip(names, rated, strict=True):
            ratings[name] = rating
            played[name] += 1
    found = [PlayerRating(name, rating.mu, rating.sigma, played[name]) for name, rating in ratings.items()]
    return sorted(found, key=lambda each: -each.mu)


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value, 0 for the best; equal values share a place."""
    return [float(sum(other > value for other in values)) for value in values]
