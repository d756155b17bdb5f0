"""Players who join a running world: the names that they get, and when there is no place for them."""

import re
from collections.abc import Collection

from cohabit.world import Arrival

MAX_NAME = 24  # characters of a player's name in the views of others


def unique_name(name: str, number: int, taken: Collection[str]) -> str:
    """A name that nobody else has, and that cannot be read as other words of a view."""
    plain = re.sub(r"[^\w-]+", "-", name)[:MAX_NAME].strip("-")
    unique = plain or str(number)
    while (plain.isdecimal() and unique == plain) or unique in taken:
        unique = f"{unique}-{number}"
    return unique


def why_not_new_body(arrival: Arrival, is_over: bool, present: int, most: int, ever: int, most_ever: int) -> str:
    """Why there is no new body; empty if there is. ``present``: players who are here; ``ever``: bodies that were made
    in this game."""
    if is_over:
        return "this game is over; wait for the next one"
    if arrival.seat is not None and not arrival.returns:
        return "seats cannot be chosen here; call `sit` without a seat"
    if present >= most:
        return f"there are {most} players already; try again when one has left"
    return "too many players have been here; wait for the next game" if ever >= most_ever else ""
