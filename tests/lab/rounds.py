"""Rounds written by hand, for tests that need no engine."""

from collections.abc import Sequence
from typing import Any

from cohabit.lab.record import Attack, Place, Played, Pledge, Rating, Round

NATIONS = ("A", "B", "C")
HERE = Place("by hand", 1, 1)


def turn(nations: int = 3, **columns: Any) -> Played:
    """A turn in which nothing happened but what is said."""
    nothing = {
        name: [0] * nations
        for name in ("gross", "burnt", "arms", "granted", "received", "welfare", "lost", "mils", "land", "dropped")
    }
    return Played(**{**nothing, "attacks": [], "grants": [], "pledges": [], "ratings": [], **columns})


def a_round(
    turns: Sequence[Played],
    place: Place = HERE,
    factor: tuple[int, int] = (2, 1),
    plays: Sequence[str] = ("x", "y", "x"),
) -> Round:
    return Round(place=place, plays=dict(zip(NATIONS, plays, strict=True)), factor=factor, turns=list(turns))


def attacks(*rows: tuple[str, str, int]) -> list[Attack]:
    return [Attack(*row) for row in rows]


def eventful(place: Place = HERE) -> Round:
    """One of everything: a war, a promise kept, one broken, one still open, ratings."""
    first = turn(
        gross=[50, 30, 20], welfare=[50, 60, 20], granted=[20, 0, 0], received=[0, 20, 0], land=[5, 3, 2],
        grants=[("A", "B", 20)], pledges=[Pledge("A", "B", 20, ["B"]), Pledge("C", "B", 0, ["A", "B"])],
    )  # fmt: skip
    second = turn(
        gross=[50, 30, 20], burnt=[0, 10, 0], welfare=[30, 60, 20], granted=[20, 0, 0], received=[0, 20, 0], lost=[0, 0, 1],
        land=[5, 3, 2], grants=[("A", "B", 20)], attacks=attacks(("C", "B", 2)), mils=[0, 0, 1],
    )  # fmt: skip
    third = turn(
        gross=[50, 30, 20], welfare=[50, 30, 20], land=[5, 3, 2], mils=[0, 0, 1], dropped=[0, 1, 0],
        ratings=[Rating("B", "A", 9, 1), Rating("B", "B", 10, 1), Rating("B", "C", 2, 8), Rating("A", "C", 3, 0)],
        pledges=[Pledge("A", "C", 5, ["B", "C"])],
    )  # fmt: skip
    return a_round([first, second, third], place)
