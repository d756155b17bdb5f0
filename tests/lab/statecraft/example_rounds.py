"""Rounds written by hand, for tests without the engine."""

from collections.abc import Sequence
from typing import Any

from cohabit.lab.statecraft.rounds import Attack, Grant, Place, Pledge, Rating, Round, TurnRecord

NATIONS = ("A", "B", "C")
PLACE = Place("by hand", 1, 1)


def turn(nations: int = 3, **columns: Any) -> TurnRecord:
    """A turn with the given columns; all others are 0 or empty."""
    nothing = {
        name: [0] * nations
        for name in (
            "gross_income", "income_destroyed", "military_spending", "grants_paid", "grants_received", "welfare", "mils_lost",
            "mils", "territories", "dropped",
        )
    }  # fmt: skip
    return TurnRecord(**{**nothing, "attacks": [], "grants": [], "pledges": [], "ratings": [], **columns})


def a_round(
    turns: Sequence[TurnRecord],
    place: Place = PLACE,
    trade_factor: tuple[int, int] = (2, 1),
    players: Sequence[str] = ("x", "y", "x"),
) -> Round:
    by_nation = dict(zip(NATIONS, players, strict=True))
    return Round(place=place, players=by_nation, trade_factor=trade_factor, turns=list(turns))


def attacks(*rows: tuple[str, str, int]) -> list[Attack]:
    return [Attack(*row) for row in rows]


def eventful(place: Place = PLACE) -> Round:
    """A round with a war, a pledge that is kept, one that is broken, one that is open, and ratings."""
    first = turn(
        gross_income=[50, 30, 20], welfare=[50, 60, 20], grants_paid=[20, 0, 0], grants_received=[0, 20, 0], territories=[5, 3, 2],
        grants=[Grant("A", "B", 20)], pledges=[Pledge("A", "B", 20, ["B"]), Pledge("C", "B", 0, ["A", "B"])],
    )  # fmt: skip
    second = turn(
        gross_income=[50, 30, 20], income_destroyed=[0, 10, 0], welfare=[30, 60, 20], grants_paid=[20, 0, 0], grants_received=[0, 20, 0], mils_lost=[0, 0, 1],
        territories=[5, 3, 2], grants=[Grant("A", "B", 20)], attacks=attacks(("C", "B", 2)), mils=[0, 0, 1],
    )  # fmt: skip
    third = turn(
        gross_income=[50, 30, 20], welfare=[50, 30, 20], territories=[5, 3, 2], mils=[0, 0, 1], dropped=[0, 1, 0],
        ratings=[Rating("B", "A", 9, 1), Rating("B", "B", 10, 1), Rating("B", "C", 2, 8), Rating("A", "C", 3, 0)],
        pledges=[Pledge("A", "C", 5, ["B", "C"])],
    )  # fmt: skip
    return a_round([first, second, third], place)
