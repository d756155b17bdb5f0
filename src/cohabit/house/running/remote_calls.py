"""Calls in a room with a remote world: what is sent for them, and how their outcome is recorded."""

from collections.abc import Mapping
from typing import Any

import msgspec

from cohabit.model.grant import Capability
from cohabit.remote import Plan
from cohabit.room.room import Admitted, Room
from cohabit.room.state import Member

MAX_RECORDED_ARG = 2_000
"""Longer text arguments, such as a whole save, are not recorded."""


def plan_of(room: Room, call: Admitted) -> Plan:
    """The plan for a call that the room admitted."""
    member, command = call.member, call.command
    if command.records:
        actor: Any = None if Capability.ACT_GLOBAL in member.held else room.seat_of(member)
    else:
        actor = room.eye_of(member, command)
    plan: Plan | None = command.run_in(room.world)(actor, **call.args)
    return plan if plan is not None else _nothing_to_ask()


def _nothing_to_ask() -> Plan:
    yield from ()


def has_workspace(room: Room, member: Member) -> bool:
    """True if this member may act in the remote world; if so, its reads run in its own workspace."""
    if Capability.ACT_GLOBAL in member.held:
        return True
    return room.seat_of(member) is not None and Capability.ACT in member.held


def sent_args(call: Admitted) -> dict[str, Any]:
    """The arguments to send, without defaults, because an older remote version may not know all of them."""
    sent: dict[str, Any] = msgspec.to_builtins(call.command.args_type(**call.args))
    return sent


def conclude(room: Room, call: Admitted, answer: Mapping[str, Any], at: int, whole: Any = None) -> Any:
    """Record the outcome of an action. Returns the reply, or None if the caller is no longer a member.

    ``whole``: the full answer, if only a part of it is recorded.
    """
    outcome = room.system("answered", answer, at)
    member = room.state.members.get(call.member.id)
    if outcome is None or member is None:
        return None
    if whole is not None:
        outcome = msgspec.structs.replace(outcome, data=whole)
    return room.reply(member, call.command, outcome, True, call.wrapped)


def recorded_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the record keeps them."""
    return {name: _recorded(value) for name, value in args.items()}


def _recorded(value: Any) -> Any:
    if isinstance(value, str):
        return f"(omitted: {len(value)} characters)" if len(value) > MAX_RECORDED_ARG else value
    if isinstance(value, list | dict) and len(msgspec.json.encode(value)) > MAX_RECORDED_ARG:
        return f"(omitted: {len(value)} items)"
    return value
