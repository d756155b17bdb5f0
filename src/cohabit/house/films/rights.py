"""Decides who may see what of a room's past.

A member sees what its own eye, as it is now, could have seen then: of a seat, only while the same member played it. It
sees another seat, or everything, with `read_all`; or once the game is over, unless something hidden outlives the game
or the game was left before its end; or some steps later, if a feature says so (``full_view_until``). In doubt it sees
nothing. Messages are never part of that: each member gets those that `events` gives it.
"""

from cohabit.errors import PermissionDenied
from cohabit.house.agents.hidden import hidden_for_ever
from cohabit.house.films.filming import Watch
from cohabit.model.grant import Capability
from cohabit.model.seat import ALL, PUBLIC, Eye
from cohabit.room.room import Room
from cohabit.room.state import Member

C = Capability
OWN, EVERYTHING, EVERYBODY = "", "all", "public"
"""The values that can be asked for besides the id of a seat."""


def watch_for(room: Room, member: Member, seat: str, *, has_saves: bool) -> Watch:
    """The way in which this member sees the past of a room through the eye that it asks for, or PERMISSION_DENIED."""
    own = room.eye_of(member)
    if seat == OWN or seat == own.seat:
        return own_watch(member, own)
    sees_all = C.READ_ALL in member.held
    if seat == EVERYBODY and (sees_all or C.WATCH in member.held):
        return Watch(PUBLIC, member.id)
    wanted = ALL if seat == EVERYTHING else PUBLIC if seat == EVERYBODY else Eye(seat, "own")
    if sees_all or (wanted == ALL and own == ALL):
        return Watch(wanted, member.id)
    if full_view_until(room, member) is not None:
        return Watch(wanted, member.id, delayed=True)
    why = hidden_for_ever(room, has_saves=has_saves)
    if why:
        raise PermissionDenied(f"you see your own view only: {why}", needs=[C.READ_ALL])
    now, is_over = room.state.game, room.state.over_since is not None
    asked = (feature.games_over(room) for feature in room.hooks["games_over"])
    earlier = next((games for games in asked if games is not None), None)
    over = None if earlier is None else (*earlier, *([now] if is_over else []))
    return Watch(wanted, member.id, ended=True, game="" if is_over else now, over=over)


def own_watch(member: Member, own: Eye) -> Watch:
    """The eye that a member has now."""
    public = PUBLIC if C.WATCH in member.held else None
    if own.seat is None:
        return Watch(own, member.id)
    if own.sees == "all":
        return Watch(own, member.id, otherwise=ALL if C.READ_ALL in member.held else public)
    holder = member.id if member.seat == own.seat else member.through_player
    return Watch(own, member.id, holder=holder or "", otherwise=public)


def full_view_until(room: Room, member: Member) -> int | None:
    """The last entry at which a member may see everything without ``read_all``; None: a feature would have to allow
    it."""
    found = (feature.full_view_until(room, member) for feature in room.hooks["full_view_until"])
    return next((until for until in found if until is not None), None)


def steps_until(room: Room, seq: int) -> int:
    """How many steps the room has had until an entry."""
    found = (feature.steps_until(room, seq) for feature in room.hooks["steps_until"])
    return next((steps for steps in found if steps is not None), 0)
