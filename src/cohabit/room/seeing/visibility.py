"""Decides what a member may see of the world and of the record.

``eye_for`` derives a member's viewpoint from its grant; ``feed`` filters a record entry for that member. Interfaces
never filter.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from cohabit.model.grant import Capability
from cohabit.model.limits import characters
from cohabit.model.record import Entry, Told
from cohabit.model.seat import ALL, PUBLIC, Eye, Seat, SeatId
from cohabit.room.state import Member, RoomState, handle_of

C = Capability
_NEEDS = {
    "roster": C.READ_ROSTER,
    "chat": C.READ_CHAT, "direct": C.RECEIVE_DIRECTED,
    "data": C.READ_CHAT, "direct data": C.RECEIVE_DIRECTED,
    "image": C.READ_CHAT, "direct image": C.RECEIVE_DIRECTED,
    "file": C.READ_CHAT, "direct file": C.RECEIVE_DIRECTED,
    "app view": C.WATCH, "direct app view": C.RECEIVE_DIRECTED,
    "app action": C.PUBLISH,
}  # fmt: skip
"""The capability that a notice of each kind needs; by default ``watch``."""
_NEEDS_TOO = {
    "image": {C.READ_MEDIA}, "direct image": {C.READ_MEDIA}, "file": {C.READ_FILES}, "direct file": {C.READ_FILES},
    "direct app view": {C.WATCH},
}  # fmt: skip
"""A second capability that some kinds need."""
MESSAGES = ("chat", "direct")
ACCOUNT = "account"
"""The kind of notices about a member's own credential, seat or grant."""
MAX_ARGUMENTS = 50_000
"""Events do not show arguments with more characters than this."""


def eye_for(state: RoomState, member: Member, seats: Mapping[SeatId, Seat], fog: bool) -> Eye | None:
    """This member's viewpoint; None if its grant lets it see nothing.

    ``fog``: whether the scenario (``partial_intel``), not the rules, decides if information is hidden.
    """
    held = member.held
    seat = member.seat if member.seat in seats else None
    open_to_all = fog and not state.partial_intel
    if C.READ_ALL in held:
        return Eye(seat, "all") if seat else ALL
    if C.READ_OWN in held:
        if member.through is not None and member.through in seats and _plays(state, member):
            return Eye(member.through, "own")
        if seat is not None:
            return Eye(seat, "all" if open_to_all else "own")
    if C.WATCH not in held:
        return None
    return ALL if open_to_all else PUBLIC


def _plays(state: RoomState, kibitzer: Member) -> bool:
    """True if the notified player still holds the seat."""
    player = state.members.get(kibitzer.through_player or "")
    return player is not None and player.seat == kibitzer.through


class FeedItem(Struct, frozen=True, omit_defaults=True, gc=False):
    """One event, as shown to one member."""

    at: int
    do: str
    text: str
    by: str | None = None
    kind: str = "info"
    args: Any = None
    why: str | None = None
    via: str | None = None
    data: Any = None  # sent by another member; opaque to the house


def perceives(
    told: Told, member: Member, held: frozenset[Capability], eye: Eye | None, players: Mapping[SeatId, str] | None
) -> bool:
    """True if this member may receive the notice. ``players``: who held the notified seats at the time."""
    if told.kind == ACCOUNT:  # about the member itself, so no grant is needed
        return told.members is not None and member.id in told.members
    if _NEEDS.get(told.kind, C.WATCH) not in held:
        return False
    if told.shows and not held.issuperset(_NEEDS_TOO.get(told.kind, ())):
        return False
    if told.members is None and told.seats is None:
        return True
    if told.members is not None and member.id in told.members:
        return True
    if told.seats is None or eye is None:
        return False
    if eye.sees == "all":
        return True
    if eye.seat not in told.seats or not players:
        return False
    return players.get(eye.seat) == (member.id if member.seat == eye.seat else member.through_player)


def is_news(entry: Entry, member: Member, eye: Eye | None, via: str | None = None) -> bool:
    """True if an entry tells this member something that it has not done itself. A wait ends for news only.

    The room knows members, not connections: what a member does over one connection is its own on the others too. What
    its stand-in did, or the world in the same entry, is news. ``via``: the stand-in that asks, for which it is not.
    """
    connected = entry.do == "presence" and entry.args["members"] == [member.id]
    own = entry.by == member.id and entry.via == via
    return any(
        told.by_world or not (own or (connected and told.kind == "roster"))
        for told in entry.told
        if perceives(told, member, member.held, eye, entry.players)
    )


def has_details(told: Told) -> bool:
    """True if the author of an entry is also shown its arguments and the reason. Messages have no further details."""
    return not told.by_world and told.kind not in MESSAGES and not told.shows


def _whose(told: Told, entry: Entry, eye: Eye | None) -> str:
    """Before a reward of another seat, for those who are told everybody's: who got it."""
    if told.kind != "reward" or not told.seats or eye is None or eye.seat in told.seats:
        return ""
    return ", ".join(handle_of((entry.players or {}).get(seat, seat)) for seat in told.seats) + ": "


def feed(entry: Entry, member: Member, eye: Eye | None) -> list[FeedItem]:
    """The parts of an entry that this member may see."""
    held = member.held
    heard = [t for t in entry.told if perceives(t, member, held, eye, entry.players)]
    if not heard:
        return []
    by = handle_of(entry.by) if entry.by is not None else None
    # Arguments of system entries, such as a whole save, are for the replay.
    inside = entry.by is not None and (entry.by == member.id or C.READ_ALL in held)
    items = []
    for i, told in enumerate(heard):
        if told.by_world:
            items.append(FeedItem(entry.at, "round", _whose(told, entry, eye) + told.text, kind=told.kind))
            continue
        shown = inside and i == 0 and has_details(told)
        items.append(
            FeedItem(
                entry.at,
                entry.do,
                told.text,
                by=by,
                kind=told.kind,
                args=entry.args if shown and characters(entry.args) <= MAX_ARGUMENTS else None,
                why=entry.why if shown else None,
                via=entry.via,
                data=entry.args[told.shows] if told.shows else None,
            )
        )
    return items
