"""OpenSkill ratings (Plackett-Luce) of the players in the games of one condition.

OpenSkill rates games one after another, and the later ones count more. Games of a design have no order in time, so they
are rated in many random orders: the rating is the mean over these, and its uncertainty includes how much they differ.
"""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from math import sqrt
from statistics import fmean, pvariance
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from cohabit.errors import BadArgs
from cohabit.lab.game import GameResult
from cohabit.lab.scoring import scores
from cohabit.model.stream import Stream

SEED = 12
ORDERS, FEWEST_ORDERS, MAX_RATED = 32, 4, 10_000
"""In how many orders the games are rated: fewer where there are many games, so that not more than this are rated."""


class PlayerRating(Struct, frozen=True):
    """The estimated skill and its standard deviation. ``group``: the number of the players that games connect with it,
    directly or through common opponents; 0 without a rated game. Only ratings in the same group can be compared."""

    player: str
    mu: float
    sigma: float
    games: int
    group: int = 1

    @property
    def ordinal(self) -> float:
        """A cautious skill: the player is better than this with a probability of 99.9 %."""
        return self.mu - 3 * self.sigma


def can_rate() -> bool:
    return find_spec("openskill") is not None


def rate(games: Iterable[GameResult]) -> list[PlayerRating]:
    """The ratings after these games, the best first in each group. The order in which the games are given does not
    matter.

    Games in which a player has several seats are left out: it cannot be better than itself.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        raise BadArgs("ratings need the package openskill; install it with: pip install 'cohabit[lab]'") from None
    model = PlackettLuce()
    given = list(games)
    players = sorted({name for game in given for name in game.spec.named})
    results = sorted(
        (game.spec.id, game.spec.named, ranks(scores(game)))
        for game in given
        if len(game.spec.named) > 1 and len(set(game.spec.named)) == len(game.spec.named)
    )
    orders = min(ORDERS, max(FEWEST_ORDERS, MAX_RATED // max(1, len(results)))) if len(results) > 1 else 1
    found: list[dict[str, Any]] = []
    stream = Stream(SEED, "ratings")
    for _ in range(orders):
        stream.shuffle(results)
        found.append(_rated(model, players, results))
    made = [
        PlayerRating(
            name,
            fmean(each[name].mu for each in found),
            sqrt(fmean(each[name].sigma ** 2 for each in found) + pvariance([each[name].mu for each in found])),
            sum(name in names for _, names, _ in results),
            group=0,
        )
        for name in players
    ]
    made.sort(key=lambda each: -each.mu)
    groups = _connected([each.player for each in made], {frozenset(names) for _, names, _ in results})
    return [
        *(replace(each, group=i) for i, group in enumerate(groups, 1) for each in made if each.player in group),
        *(each for each in made if not each.games),
    ]


def _connected(players: Sequence[str], met: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The groups of players that games connect, in the order of the first player of each."""
    groups: set[frozenset[str]] = set()
    for names in met:
        joined = {group for group in groups if group & names}
        groups = (groups - joined) | {names.union(*joined)}
    return sorted(groups, key=lambda group: min(map(players.index, group)))


def _rated(model: Any, players: Sequence[str], results: Iterable[tuple[str, list[str], list[float]]]) -> dict[str, Any]:
    """The ratings after these results, one after another."""
    ratings = {name: model.rating() for name in players}
    for _, names, places in results:
        rated = model.rate([[ratings[name]] for name in names], ranks=places)
        for name, (rating,) in zip(names, rated, strict=True):
            ratings[name] = rating
    return ratings


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value, 0 for the best; equal values share a place."""
    return [float(sum(other > value for other in values)) for value in values]
