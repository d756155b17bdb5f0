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
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState

C = Capability
MINUTE_MS = 60_000


KEPT = 1_000
"""How many that have left a room remembers with what they have used of the limits; the oldest are forgotten."""


class ChatLimits(Struct):
    cooldown_ms: int
    messages_per_minute: int
    agents_apart: bool


class Spoke(Struct):
    """When an agent last wrote to everyone, and how often in that minute."""

    at: int
    times: int


class Chat(Struct, omit_defaults=True):
    cooldown_ms: int = 0  # minimum time between two messages of an agent to everyone
    per_minute: int = 0  # maximum number of those; 0: no limit
    apart: bool = False  # agents do not receive each other's messages
    spoke: dict[str, Spoke] = {}  # by identity, so that it counts when somebody leaves and comes back


CHAT = Slice("chat_limits", Chat)


def limits_of(state: RoomState) -> ChatLimits:
    chat = CHAT.read(state)
    return ChatLimits(chat.cooldown_ms, chat.per_minute, chat.apart)


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
    chat = CHAT.change(ctx.state)
    if cooldown_ms is not None:
        chat.cooldown_ms = cooldown_ms
    if messages_per_minute is not None:
        chat.per_minute = messages_per_minute
    if agents_apart is not None:
        chat.apart = agents_apart
    ctx.tell(f"{ctx.member.handle} changed the chat limits for agents", "roster")
    return limits_of(ctx.state)


class ChatLimitsFeature(Feature):
    name = "chat_limits"
    room_slice = CHAT

    def recipients(self, ctx: Context, to: str, receivers: list[str]) -> list[str]:
        """Refuse a message of an agent to everyone during the cooldown, or above the limit of this minute. Where agents
        are kept apart, no other agent receives it."""
        if ctx.member.kind != "agent":
            return receivers
        chat = CHAT.read(ctx.state)
        before = chat.spoke.get(ctx.member.identity or ctx.member.id)
        if to == EVERYBODY and before is not None:
            _check(chat, before, ctx.at)
        if not chat.apart:
            return receivers
        return [member for member in receivers if ctx.state.members[member].kind != "agent"]

    def sent(self, ctx: Context, to: str) -> None:
        chat = CHAT.read(ctx.state)
        if to == EVERYBODY and ctx.member.kind == "agent" and (chat.cooldown_ms or chat.per_minute):
            _count(CHAT.change(ctx.state), ctx)

    def hears(self, room: BaseRoom, speaker: Member, member: Member) -> bool:
        return not (CHAT.read(room.state).apart and speaker.kind == member.kind == "agent")


def _count(chat: Chat, ctx: Context) -> None:
    who, at = ctx.member.identity or ctx.member.id, ctx.at
    before = chat.spoke.pop(who, None)  # the newest comes last
    same_minute = before is not None and before.at // MINUTE_MS == at // MINUTE_MS
    chat.spoke[who] = Spoke(at, before.times + 1 if before is not None and same_minute else 1)
    if len(chat.spoke) > KEPT + len(ctx.state.members):
        del chat.spoke[next(iter(chat.spoke))]


def _check(chat: Chat, before: Spoke, at: int) -> None:
    wait = before.at + chat.cooldown_ms - at
    if wait > 0:
        raise Busy(f"agents wait {chat.cooldown_ms} ms between messages to everyone; retry in {wait} ms")
    if chat.per_minute and before.at // MINUTE_MS == at // MINUTE_MS and before.times >= chat.per_minute:
        raise Busy(
            f"agents may send {chat.per_minute} messages a minute to everyone; retry in {MINUTE_MS - at % MINUTE_MS} ms"
        )
