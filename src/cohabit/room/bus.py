"""The bus: messages between members, numbered over the whole room, in bounded inboxes."""

from bisect import bisect_right

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.model.grant import Capability
from cohabit.model.message import EVERYBODY, TEAM, Message
from cohabit.model.suggest import nearest
from cohabit.room.state import Inbox, Member, RoomState, handle_of

INBOX_LIMIT = 200
REMEMBERED_DROPS = 4096


def recipients(state: RoomState, sender: Member, to: str) -> list[str]:
    """Resolve an address to member ids."""
    if to == EVERYBODY:
        if Capability.SEND_BROADCAST not in sender.held:
            raise PermissionDenied(
                "broadcasting requires send_broadcast; send to one member instead",
                needs=["send_broadcast"],
            )
        return [m for m in state.members if m != sender.id]
    if Capability.SEND_MESSAGE not in sender.held:
        raise PermissionDenied("sending messages requires send_message", needs=["send_message"])
    if to.startswith(TEAM):
        team = to.removeprefix(TEAM) or (sender.team or "")
        if team not in state.teams:
            raise BadArgs(f"unknown team {team!r}", did_you_mean=_own_teams(state, sender))
        if sender.id not in state.teams[team]:
            raise PermissionDenied(f"{sender.handle} is not in team {team!r}")
        return [m for m in state.teams[team] if m != sender.id]
    receiver = state.with_handle(to)
    if receiver is None:
        if Capability.READ_ROSTER not in sender.held:
            raise BadArgs(f"unknown member {to[:80]!r}")
        known = [m.handle for m in state.members.values()]
        raise BadArgs(f"unknown member {to[:80]!r}; members: {', '.join(known[:50])}",
                      did_you_mean=nearest(to[:80], known, 3))  # fmt: skip
    return [receiver.id]


def _own_teams(state: RoomState, sender: Member) -> list[str]:
    return [TEAM + team for team, members in state.teams.items() if sender.id in members]


def deliver(state: RoomState, sender: str, to: str, kind: str, content: str, receivers: list[str], at: int) -> int:
    """Put a copy into each inbox. Returns the number of the last copy."""
    for member in receivers:
        state.bus_seq += 1
        box = state.inboxes.setdefault(member, Inbox())
        box.items.append(Message(state.bus_seq, sender, to, kind, content, at))
        if len(box.items) > INBOX_LIMIT:
            box.dropped.append(box.items.pop(0).seq)
            del box.dropped[:-REMEMBERED_DROPS]
    return state.bus_seq


def sender_name(state: RoomState, sender: str) -> str:
    """The handle of a sender, marked if another member has that handle now and would get the answer."""
    handle = handle_of(sender)
    now = state.with_handle(handle)
    return handle if now is None or now.id == sender else f"{handle} (left)"


def inbox(state: RoomState, reader: Member, since_seq: int, limit: int) -> tuple[list[Message], int]:
    """The messages after ``since_seq`` that the reader may see, and how many were dropped."""
    box = state.inboxes.get(reader.id)
    if box is None:
        return [], 0
    held = reader.held
    fresh = [
        m
        for m in box.items
        if m.seq > since_seq and (Capability.RECEIVE_DIRECTED if m.directed else Capability.READ_CHAT) in held
    ]
    lost = len(box.dropped) - bisect_right(box.dropped, since_seq)
    return fresh[:limit], lost
