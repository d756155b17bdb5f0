"""Seats: who has which one, sit and stand_up."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.bodies import DepartMode
from cohabit.errors import AskerError, Conflict, GameRejected, PermissionDenied, UnknownAsset
from cohabit.model.grant import Capability
from cohabit.model.seat import Seat, SeatId
from cohabit.model.suggest import nearest
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.state import Member, RoomState
from cohabit.world import Arrival, overrides

C = Capability
SEAT_OPENS = "It opens again in the next game, if not before."


class Seated(Struct):
    seat: str | None


def _may_change_seats(room: BaseRoom, member: Member) -> bool:
    return member.claim is None and can_sit(room, member)


def _may_leave_seat(room: BaseRoom, member: Member) -> bool:
    return member.claim is None and member.seat is not None


def is_out(room: BaseRoom, member: Member) -> bool:
    """True if the world has closed the member's seat, because its player has lost. It opens again in the next game, or
    when the world says so."""
    return member.seat is not None and member.seat not in room.seats and not room.has_arrivals


def can_sit(room: BaseRoom, member: Member) -> bool:
    """True if this member can take a seat now, or will get the one that it claims."""
    if member.claim is not None:
        return True
    return C.ACT in member.held and (room.has_arrivals or bool(open_to(room)))


@command(category="meta", needs=C.ACT, records=True, offered_if=_may_change_seats, listed=True)
def sit(
    ctx: Context,
    seat: Annotated[str | None, Meta(description="the id of a free seat; default: any free seat")] = None,
) -> Seated:
    """Take a free seat, or one whose built-in player gives way. Some worlds open a new seat for you.

    In worlds with hidden information you keep your seat until the game ends.
    """
    room, me = ctx.room, ctx.member
    if me.claim is not None:
        raise PermissionDenied(f"your place in this room is bound to {_bound_to(me)}; you cannot take another seat")
    if me.seat is not None and me.seat in room.seats and seat in (None, me.seat):
        return Seated(me.seat)
    take_seat(ctx, me, seat)
    ctx.tell(f"{me.handle} takes seat {me.seat}", "roster")
    return Seated(me.seat)


def take_seat(ctx: Context, me: Member, seat: str | None) -> None:
    """Seat a member: on this seat, or on any free one."""
    room = ctx.room
    if seat is not None and (why := _closed(room, me, seat)):
        raise GameRejected(why)
    if any(feature.take_seat(ctx, me, seat) for feature in room.hooks["take_seat"]):
        return
    played = seat_in_game(ctx.state, me)
    if played is not None:  # it has seen that seat's hidden information, so it must not take another one
        if seat not in (None, played):
            raise GameRejected(
                f"you have already played seat {played} in this game, or looked through it; you can change seats in "
                "the next game"
            )
        if played not in room.seats and not room.has_arrivals:
            raise GameRejected(f"your seat {played} is closed; you can take another one in the next game")
        seat = played
    if room.has_arrivals and (seat is None or seat not in room.seats):
        arrive(ctx, me, Arrival(me.name or me.handle, seat, returns=played is not None))
    else:
        taken = _free_seat(ctx, me, seat)
        leave_seat(room, me, "left")
        _give_way(ctx, taken, me)
        me.seat = taken
    remember_seat(room, me)


def open_to(room: BaseRoom, me: Member | None = None) -> list[SeatId]:
    """The seats that somebody can take now; with ``me``, those that this member can take."""
    taken = {m.seat for m in room.state.members.values() if not _gives_way(m)}
    free = [seat.id for seat in room.state.seats if seat.id not in taken]
    played = seat_in_game(room.state, me) if me is not None else None
    return [seat for seat in free if me is None or (played in (None, seat) and not _closed(room, me, seat))]


def _closed(room: BaseRoom, member: Member, seat: SeatId) -> str:
    """The reason why a feature keeps a member from a seat; empty: it may take it."""
    return next(filter(None, (feature.closes_seat(room, member, seat) for feature in room.hooks["closes_seat"])), "")


def _gives_way(member: Member) -> bool:
    """True if a member without a seat may take this member's seat. The built-in player returns when it is free."""
    return member.gives_way and member.played_by_bot and not member.here


def _give_way(ctx: Context, seat: SeatId, to: Member) -> None:
    """Free a seat for a member. The agent that played it stands in for that member when it is away."""
    for member in ctx.state.members.values():
        if member.seat == seat:
            _end_looks_through(ctx.state, member)
            member.seat = None
            to.stand_in = to.stand_in or member.stand_in
            ctx.tell(f"{member.handle} gives way", "roster")


def _free_seat(ctx: Context, me: Member, seat: str | None) -> str:
    """A seat that nobody has, or else one whose built-in player gives way."""
    room, members = ctx.room, ctx.state.members.values()
    if seat is None:
        held = {m.seat for m in members}
        free = sorted(open_to(room, me), key=lambda seat: seat in held)  # stable: empty seats come first
        if not free:
            raise Conflict("every seat is taken; call `sit` again when one is free, or ask a host for one")
        return free[0]
    require_seat(room, seat, open_to(room))
    holder = next((m for m in members if m.seat == seat and not _gives_way(m)), None)
    if holder is not None:
        raise Conflict(f"seat {seat} is taken by {holder.handle}", did_you_mean=open_to(room, me)[:3])
    return seat


def arrive(ctx: Context, me: Member, arrival: Arrival, *, is_first: bool = True, moves: bool = False) -> None:
    """Let the world seat a member. Contract violations here are crashes, because the world has already changed.

    ``is_first``: nothing else in this entry has changed the world, so it must be unchanged if it refuses. ``moves``:
    the member leaves the seat that it has, once it has this one."""
    room, state = ctx.room, ctx.state
    old = room.seat_of(me)
    if old is not None and not moves:
        raise Conflict(f"you have seat {me.seat}; leave it first (`stand_up`)")
    for feature in room.hooks["arrival"]:
        arrival = feature.arrival(room, me, arrival)
    try:
        opened = room.world.arrive(arrival).id
    except AskerError as refused:
        if is_first:
            room.check_unchanged("arrive", refused)
        raise
    if old is not None:
        room.crash_on_error(room.world.depart, old, "left")
    seats = room.crash_on_error(room.world.seats_now)
    if seats is None or all(s.id != opened for s in seats):
        raise RuntimeError(f"arrive() returned seat {opened!r}, which seats_now() does not list")
    if any(m.seat == opened for m in state.members.values() if m is not me):
        raise RuntimeError(f"arrive() returned seat {opened!r}, which another member holds")
    if arrival.returns and opened != arrival.seat and opened in state.seats_ever:
        raise RuntimeError(f"arrive() returned seat {opened!r} for a member that has played another seat in this game")
    me.seat = opened
    adopt_seats(room, seats)


@command(category="meta", needs=(C.ACT, C.ACT_GLOBAL), records=True, offered_if=_may_leave_seat)
def stand_up(ctx: Context) -> Seated:
    """Leave your seat, so another member can take it."""
    me = ctx.member
    if me.claim is not None:
        raise PermissionDenied(f"your place in this room is bound to {_bound_to(me)}; you cannot leave it")
    if me.seat is None:
        raise GameRejected("you have no seat")
    check_may_leave(ctx.room, me.seat)
    ctx.tell(f"{me.handle} leaves seat {me.seat}", "roster")
    leave_seat(ctx.room, me, "left")
    return Seated(None)


def check_may_leave(room: BaseRoom, seat: SeatId) -> None:
    """Refuse to leave a seat that a feature keeps its player on, such as a body that is falling."""
    for feature in room.hooks["keeps_seated"]:
        if why := feature.keeps_seated(room, seat):
            raise GameRejected(why)


def _bound_to(member: Member) -> str:
    return f"seat {member.seat}" if member.seat is not None else f"the claim {member.claim}"


def require_seat(room: BaseRoom, seat: str, usable: Sequence[SeatId]) -> None:
    """Refuse a seat that does not exist, and name those that the caller can choose."""
    if seat not in room.seats:
        raise UnknownAsset(
            f"unknown seat {seat[:40]!r}; choose one of: {', '.join(usable[:20]) or 'none'}",
            did_you_mean=nearest(seat[:40], usable, 3),
        )


def follow_seats(room: BaseRoom) -> None:
    """Adopt the world's current seats if they changed."""
    seats = room.crash_on_error(room.world.seats_now)
    if seats is not None and list(seats) != room.state.seats:
        adopt_seats(room, seats)


def adopt_seats(room: BaseRoom, seats: Sequence[Seat]) -> None:
    """Adopt these seats and assign claimed ones.

    A claim binds once: ``auto:N`` is the N-th seat this world ever opened, so closing a seat never moves a member to
    another one.
    """
    state, members = room.state, room.state.members.values()
    if list(seats) != state.seats:
        room.set_seats(seats)
    if state.seats_ever:
        known = set(state.seats_ever)
        state.seats_ever.extend([s.id for s in seats if s.id not in known])
    else:
        state.seats_ever = [s.id for s in seats]
    waiting = [(m, m.claim) for m in members if m.claim is not None and m.seat is None]
    if not waiting:
        return
    taken = {m.seat for m in members}
    for member, claim in waiting:
        seat = _seat_by_claim(state, member, claim)
        if seat in room.seats and seat not in taken and not _closed(room, member, seat):
            member.seat = seat
            taken.add(seat)
            remember_seat(room, member)
    room.timers.changed()  # a stand-in may be due
    room.roster_changed()


def _seat_by_claim(state: RoomState, member: Member, claim: str) -> SeatId | None:
    """The seat for a member's claim, unless the member knows the hidden information of another one in this game."""
    seat, known = seat_for_claim(state.seats_ever, claim), seat_in_game(state, member)
    if known is None or known == seat:
        return seat
    return known if claim.startswith("auto:") else None  # seats may open in another order when a game comes back


def seat_for_claim(seats_ever: Sequence[SeatId], claim: str) -> SeatId | None:
    """The seat for a claim (``auto:N`` or ``id:X``); None if it has not been opened yet."""
    how, _, what = claim.partition(":")
    if how == "id":
        return what if what in seats_ever else None
    number = int(what)
    return seats_ever[number] if number < len(seats_ever) else None


def are_unchanged(room: BaseRoom, seats: Sequence[Seat]) -> bool:
    """True if everybody keeps their seat in a new game with these seats, as in most rematches. In a world that hides
    nothing, claims get their seats as soon as those are free, so a new game has none to assign."""
    return room.world.spec.open_information and not room.has_moving_seats and seats == room.state.seats


def release_claims(state: RoomState) -> None:
    """Free the claimed seats, because a new game or another world opens its own."""
    state.seats_ever = []
    for member in state.members.values():
        if member.claim is not None:
            member.seat = None


def end_look(member: Member) -> None:
    """A member no longer sees what another member's seat sees."""
    member.through = member.through_player = None
    member.set_layers([layer for layer in member.layers if not layer.look])


def _end_looks_through(state: RoomState, player: Member) -> None:
    """A player leaves its seat: nobody looks through it any more, also when the player returns."""
    for member in state.members.values():
        if member.through_player == player.id:
            end_look(member)


def leave_seat(room: BaseRoom, member: Member, mode: DepartMode) -> None:
    """Free a member's seat. Other claims may then bind to it. ``mode``: see ``bodies.EmbodiedWorld``; worlds without
    bodies get only ``left`` and ``removed``."""
    _end_looks_through(room.state, member)
    seat = room.seat_of(member)
    if seat is not None:
        for feature in room.hooks["departure_mode"]:
            mode = feature.departure_mode(room, member, seat, mode)
    if seat is not None and overrides(room.world, "depart"):
        room.crash_on_error(room.world.depart, seat, mode)
    member.seat = None
    seats = room.crash_on_error(room.world.seats_now) if room.has_moving_seats else None
    adopt_seats(room, seats if seats is not None else room.state.seats)


def remember_seat(room: BaseRoom, member: Member) -> None:
    """Remember the seat whose hidden information a member sees, so it cannot take another one in this game.

    That is its own seat, or the one that it looks through.
    """
    seat = member.seat if member.seat is not None else member.through
    if seat is not None and not room.world.spec.open_information:
        room.state.played[member.identity or member.id] = seat


def seat_in_game(state: RoomState, member: Member) -> SeatId | None:
    """The seat whose hidden information a member has seen in this game."""
    return state.played.get(member.identity or member.id)
