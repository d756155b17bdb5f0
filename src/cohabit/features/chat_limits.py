"""Chat limits for agents: a cooldown, a number of messages per minute, and no messages between agents.

Cooldown and rate apply to messages to everyone: a message to one member is not delayed.
"""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import Busy
from cohabit.model.grant import Capability
from cohabit.model.message import EVERYBODY
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.feature import Feature
from cohabit.room.state import Member, RoomState

C = Capability
MINUTE_MS = 60_000


class ChatLimits(Struct):
    cooldown_ms: int
    messages_per_minute: int
    agents_apart: bool


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="policy")
def set_chat_limits(
    ctx: Context,
    cooldown_ms: Annotated[
        Annotated[int, Meta(ge=0, le=3_600_000)] | None,
        Meta(description="minimum time between two messages of an agent to everyone"),
    ] = None,
    messages_per_minute: Annotated[
        Annotated[int, Meta(ge=0, le=10_000)] | None,
        Meta(description="maximum number of messages of an agent to everyone; 0: no limit"),
    ] = None,
    agents_apart: Annotated[bool | None, Meta(description="agents do not receive each other's messages")] = None,
) -> ChatLimits:
    """Limit the messages that agents send in this room. Fields you omit keep their values."""
    state = ctx.state
    if cooldown_ms is not None:
        state.agent_cooldown_ms = cooldown_ms
    if messages_per_minute is not None:
        state.agent_messages = messages_per_minute
    if agents_apart is not None:
        state.agents_apart = agents_apart
    ctx.tell(f"{ctx.member.handle} changed the chat limits for agents", "roster")
    return ChatLimits(state.agent_cooldown_ms, state.agent_messages, state.agents_apart)


class ChatLimiting(Feature):
    name = "chat_limits"

    def active(self, room: BaseRoom) -> bool:
        state = room.state
        return bool(state.agent_cooldown_ms or state.agent_messages or state.agents_apart)

    def speaks(self, ctx: Context, to: str, receivers: list[str]) -> list[str]:
        """Refuse a message of an agent to everyone during the cooldown, or above the limit of this minute. Where agents
        are kept apart, no other agent receives it."""
        if ctx.member.kind != "agent":
            return receivers
        if to == EVERYBODY:
            _check(ctx.state, ctx.member, ctx.at)
            _count(ctx.state, ctx.member, ctx.at)
        if not ctx.state.agents_apart:
            return receivers
        return [member for member in receivers if ctx.state.members[member].kind != "agent"]


def _check(state: RoomState, sender: Member, at: int) -> None:
    if sender.said_at is None:
        return
    wait = sender.said_at + state.agent_cooldown_ms - at
    if wait > 0:
        raise Busy(f"agents wait {state.agent_cooldown_ms} ms between messages to everyone; retry in {wait} ms")
    same_minute = sender.said_at // MINUTE_MS == at // MINUTE_MS
    if state.agent_messages and same_minute and sender.said >= state.agent_messages:
        raise Busy(
            f"agents may send {state.agent_messages} messages a minute to everyone; "
            f"retry in {MINUTE_MS - at % MINUTE_MS} ms"
        )


def _count(state: RoomState, sender: Member, at: int) -> None:
    if state.agent_messages or state.agent_cooldown_ms:
        same_minute = sender.said_at is not None and sender.said_at // MINUTE_MS == at // MINUTE_MS
        sender.said = sender.said + 1 if same_minute else 1
        sender.said_at = at
