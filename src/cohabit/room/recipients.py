"""Who receives what a member sends: a message, the view of an app, a request."""

from collections.abc import Mapping
from typing import Any

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.model.grant import Capability
from cohabit.model.message import EVERYBODY, TEAM
from cohabit.model.suggest import nearest
from cohabit.model.words import Words, says
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Command
from cohabit.room.decision import refusal
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


def check_words(room: BaseRoom, member: Member | None, words: Words) -> None:
    """Raise why a feature refuses these words of a member, or of somebody who wants to join."""
    for refuses_words in room.hooks.refuses_words:
        decision = refuses_words(room, member, words)
        if decision is not None and decision.code:
            raise refusal(decision)


def speak(ctx: Context, to: str, receivers: list[str]) -> list[str]:
    """The members who receive what the caller sends. The result is a new list if a feature leaves some of them out."""
    hooks = ctx.room.hooks
    for recipients_of in hooks.recipients:
        found = recipients_of(ctx, to, receivers)
        if found is not receivers:
            receivers = [member for member in receivers if member in found]
    for sent in hooks.sent:
        sent(ctx, to)
    return receivers


def spoke(ctx: Context, command: Command, args: Mapping[str, Any]) -> None:
    """Tell the features what the caller has said by a command that does not ask who receives it."""
    if says(args, command.words or ()):
        for sent in ctx.room.hooks.sent:
            sent(ctx, "")
