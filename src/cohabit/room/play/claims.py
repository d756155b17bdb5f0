"""Claims: which seats a world can have, and which of them a claim (``auto:N`` or ``id:X``) names."""

from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

from cohabit.errors import BadArgs, Conflict
from cohabit.model.seat import Seat, SeatId
from cohabit.model.suggest import nearest
from cohabit.room.base import BaseRoom
from cohabit.scenario import check_claim
from cohabit.world import World, WorldSpec, overrides


@lru_cache(256)
def named_seats(named: tuple[str, ...], count: int) -> tuple[Seat, ...]:
    """This many seats. Those for which the world has no name are numbered."""
    names = [*named[:count], *map(str, range(len(named) + 1, count + 1))]
    return tuple([Seat(name, name) for name in names])


def seats_needed(spec: WorldSpec, wanted: int) -> int:
    """The number of seats in a game for this many players."""
    fewest, most = spec.seat_range
    return max(fewest, min(most, wanted))


def claimed_seat(world: World, claim: str) -> SeatId:
    """The seat that a claim names. A claim on a seat that the world never has is refused; one that a later game may
    have, with more players, is not.

    A world that opens seats as it runs tells only how many it has at most, so its claims are returned as they are."""
    how, _, what = claim.partition(":")
    names, most = world.spec.seat_names, world.spec.seat_range[1]
    if overrides(world, "seats_now"):
        if how == "auto" and most and int(what) >= most:
            raise BadArgs(_no_such_seat(world.spec, claim))
        return claim
    if how == "auto" and int(what) < most:
        number = int(what)
        return names[number] if number < len(names) else str(number + 1)
    if how == "id" and (what in names[:most] or _is_number(what, len(names) + 1, most)):
        return what
    raise BadArgs(_no_such_seat(world.spec, claim), did_you_mean=nearest(what, names[:most], 2))


def _is_number(text: str, least: int, most: int) -> bool:
    """True if it is the number of a seat that the world has no name for."""
    return len(text) < 6 and text.isdecimal() and text == str(int(text)) and least <= int(text) <= most


def check_claims(world: World, claims: Iterable[tuple[str, str]]) -> None:
    """Refuse claims that can never be fulfilled, and two that name the same seat. Each with where it stands."""
    taken: dict[SeatId, str] = {}
    for where, claim in claims:
        try:
            seat = claimed_seat(world, claim)
        except BadArgs as wrong:
            raise BadArgs(f"{where}: {wrong.message}", did_you_mean=wrong.did_you_mean) from None
        if seat in taken:
            raise BadArgs(f"{where}: claim: {claim!r} and {taken[seat]} are the same seat, {seat}")
        taken[seat] = f"{claim!r} of {where}"


def check_new_claim(room: BaseRoom, claim: str) -> None:
    """Refuse the claim of a new member if it can never be fulfilled, or names the seat of another claim."""
    check_claim(claim)
    seat = claimed_seat(room.world, claim)
    for member in room.state.members.values():
        with suppress(BadArgs):
            if member.claim is not None and claimed_seat(room.world, member.claim) == seat:
                raise Conflict(f"another member already claims {member.claim}, which is the seat {seat}")


def _no_such_seat(spec: WorldSpec, claim: str) -> str:
    most = spec.seat_range[1]
    if not most:
        return f"claim: {claim!r} names a seat, but {spec.name} has none"
    numbers = f"auto:0 to auto:{most - 1}" if most > 1 else "only auto:0"
    names = f" ({', '.join(spec.seat_names[:most])})" if spec.seat_names and most <= 20 else ""
    return f"claim: there is no seat {claim!r}; {spec.name} has {numbers}{names}"
