"""The recipients of data that a member sends: a message, the view of an app, a request."""

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.model.grant import Capability
from cohabit.model.message import EVERYBODY, TEAM
from cohabit.model.suggest import nearest
from cohabit.room.base import Context
from cohabit.room.state import Member, RoomState


def _own_teams(state: RoomState, sender: Member) -> list[str]:
    return [TEAM + team for team, members in state.teams.items() if sender.id in members]


def recipients(state: RoomState, sender: Member, to: str) -> list[str]:
    """Resolve an address to member ids."""
    if to == EVERYBODY:
        if Capability.SEND_BROADCAST not in sender.held:
            raise PermissionDenied(
                "sending to everyone requires send_broadcast; pass a member or your team in `to`",
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


def speak(ctx: Context, to: str, receivers: list[str]) -> list[str]:
    """The members who receive what the caller sends. The result is a new list if a feature leaves some of them out."""
    hooks = ctx.room.hooks
    for feature in hooks["recipients"]:
        found = feature.recipients(ctx, to, receivers)
        if found is not receivers:
            receivers = [member for member in receivers if member in found]
    for feature in hooks["sent"]:
        feature.sent(ctx, to)
    return receivers
