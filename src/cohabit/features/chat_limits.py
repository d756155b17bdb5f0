"""Limits of what is said in a room.

For everyone: blocked words, a pause between two messages of a member (slow mode), and members who are muted. For
agents: a cooldown, a number of messages per minute, and no messages between agents. Cooldown and rate apply to messages
to everyone: a message to one member is not delayed. Members who manage the room are neither muted nor slowed down.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, Busy, Conflict
from cohabit.model.grant import Capability
from cohabit.model.message import EVERYBODY
from cohabit.model.plain_text import REORDERING, plain, readings, unify
from cohabit.model.timestamps import utc
from cohabit.model.words import Words
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Handle, command, system_entry
from cohabit.room.decision import Decision
from cohabit.room.feature import Feature
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState, handle_of
from cohabit.room.timers import Due

C = Capability
T = TypeVar("T")
MINUTE_MS = 60_000
MAX_BLOCKED_WORDS, MAX_MUTED = 200, 1_000
MAX_MUTE_S = 365 * 24 * 3600


KEPT = 1_000
"""The number of members who have left whose use of the limits a room remembers; the oldest are forgotten."""


class Muted(Struct, omit_defaults=True):
    """A member who cannot speak, also after it has left and joined again. A shared invite makes another identity of it
    each time, so a mute is also for those who join with the same invite later."""

    member: str  # its id when it was muted
    until: int | None = None  # None: until it is unmuted
    invite: str = ""  # that it joined with
    spared: list[str] = []  # who joined with the same invite and may speak, by identity


class MutedLine(Struct, omit_defaults=True):
    member: str
    until: int | None = None


class ChatLimits(Struct, omit_defaults=True):
    cooldown_ms: int
    messages_per_minute: int
    agents_apart: bool
    slow_mode_s: int = 0
    blocked_words: tuple[str, ...] = ()
    muted: list[MutedLine] = []


class Spoke(Struct):
    """When an agent last wrote to everyone, and how often in that minute."""

    at: int
    times: int


class Chat(Struct, omit_defaults=True):
    cooldown_ms: int = 0  # minimum time between two messages of an agent to everyone
    per_minute: int = 0  # maximum number of those; 0: no limit
    apart: bool = False  # agents do not receive each other's messages
    spoke: dict[str, Spoke] = {}  # by identity, so that it counts when somebody leaves and comes back
    slow_ms: int = 0  # minimum time between two messages of a member
    sent: dict[str, int] = {}  # in slow mode: when each last sent something, by identity
    blocked: tuple[str, ...] = ()
    muted: dict[str, Muted] = {}  # by identity


CHAT = Slice("chat_limits", Chat)


def limits_of(state: RoomState) -> ChatLimits:
    chat = CHAT.read(state)
    muted = [MutedLine(handle_of(one.member), one.until) for one in chat.muted.values()]
    others = [member for member in state.members.values() if muted and _key(member) not in chat.muted]
    muted += [MutedLine(m.handle, mute.until) for m in others if (mute := _mute_of(chat, m)) is not None]
    return ChatLimits(chat.cooldown_ms, chat.per_minute, chat.apart, chat.slow_ms // 1000, chat.blocked, muted)


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
    slow_mode_s: Annotated[
        Annotated[int, Meta(ge=0, le=21_600)] | None,
        Meta(description="seconds that every member waits between two messages; 0: no slow mode"),
    ] = None,
    blocked_words: Annotated[
        Annotated[list[Annotated[str, Meta(min_length=1, max_length=80)]], Meta(max_length=MAX_BLOCKED_WORDS)] | None,
        Meta(description="words and phrases that nobody may use here; they replace the earlier ones"),
    ] = None,
) -> ChatLimits:
    """Limit what is said in this room: by agents, and by everyone. Fields you omit keep their values."""
    blocked = None if blocked_words is None else _checked(blocked_words)  # refused before anything changes
    chat = CHAT.change(ctx.state)
    if cooldown_ms is not None:
        chat.cooldown_ms = cooldown_ms
    if messages_per_minute is not None:
        chat.per_minute = messages_per_minute
    if agents_apart is not None:
        chat.apart = agents_apart
    if slow_mode_s is not None:
        chat.slow_ms, chat.sent = slow_mode_s * 1000, {}
    if blocked is not None:
        chat.blocked = blocked
    only_agents = slow_mode_s is None and blocked_words is None
    ctx.tell(f"{ctx.member.handle} changed the chat limits{' for agents' if only_agents else ''}", "roster")
    return limits_of(ctx.state)


def _checked(words: Iterable[str]) -> tuple[str, ...]:
    found = {word: plain(word) for word in words}
    if empty := [word for word, letters in found.items() if not letters]:
        raise BadArgs(f"blocked_words: {empty[0]!r} has no letters or digits")
    return tuple(dict.fromkeys(found.values()))


# -- mute -----------------------------------------------------------------------------------------
class MuteSet(Struct, omit_defaults=True):
    member: str
    muted: bool
    until: int | None = None


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="policy")
def mute(
    ctx: Context,
    member: Handle,
    seconds: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_MUTE_S)] | None, Meta(description="default: until `unmute`")
    ] = None,
) -> MuteSet:
    """Stop a member from saying anything in this room, by any command. It can still play and report."""
    who = ctx.state.require_member(member, ctx.member)
    if C.MANAGE_MEMBERS in who.held:
        raise Conflict(f"{who.handle} manages this room and cannot be muted; narrow its permissions first")
    if len(CHAT.read(ctx.state).muted.keys() - {_key(who)}) >= MAX_MUTED:
        raise Busy(f"{MAX_MUTED} members are muted in this room already; unmute some of them")
    until = ctx.at + seconds * 1000 if seconds is not None else None
    spared = [_key(m) for m in ctx.state.members.values() if who.invite and m.invite == who.invite and m is not who]
    CHAT.change(ctx.state).muted[_key(who)] = Muted(who.id, until, who.invite or "", spared)
    ctx.tell(f"{ctx.member.handle} muted {who.handle}{f' for {seconds} s' if seconds is not None else ''}", "roster")
    return MuteSet(who.handle, True, until)


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="policy")
def unmute(ctx: Context, member: Handle) -> MuteSet:
    """Let a muted member, or a former member, speak again."""
    muted, known = CHAT.read(ctx.state).muted, ctx.state.with_handle(member)
    found = _key(known) if known is not None else _former(muted, member)
    by_invite = [one for one in muted.values() if known is not None and _is_for(one, known.invite, found)]
    if found not in muted and not by_invite:
        if member not in ctx.state.handles_used:
            ctx.state.require_member(member, ctx.member)
        raise Conflict(f"{member} is not muted")
    muted.pop(found, None)
    for one in by_invite:
        one.spared.append(found)
    ctx.tell(f"{ctx.member.handle} unmuted {member}", "roster")
    return MuteSet(member, False)


@system_entry(audit="expired")
def mute_ended(ctx: Context, who: str) -> None:
    """The time is over for which a member was muted."""
    ended = CHAT.change(ctx.state).muted.pop(who)
    ctx.tell(f"{handle_of(ended.member)} is no longer muted", "roster")


def _key(member: Member) -> str:
    return member.identity or member.id


def _mute_of(chat: Chat, member: Member) -> Muted | None:
    """The mute that keeps a member from speaking; None if there is none."""
    return _mute_for(chat, _key(member), member.invite)


def _mute_for(chat: Chat, who: str, invite: str | None) -> Muted | None:
    own = chat.muted.get(who)
    return own or next((one for one in chat.muted.values() if _is_for(one, invite, who)), None)


def _is_for(mute: Muted, invite: str | None, who: str) -> bool:
    """True if it is also the mute of somebody who has joined with the same invite."""
    return bool(invite) and mute.invite == invite and who not in mute.spared


def _former(muted: Mapping[str, Muted], handle: str) -> str:
    return next((key for key, one in muted.items() if handle in (one.member, handle_of(one.member))), "")


# -- the feature ----------------------------------------------------------------------------------
class ChatLimitsFeature(Feature):
    name = "chat_limits"
    room_slice = CHAT

    def due(self, room: BaseRoom) -> list[Due]:
        muted = CHAT.read(room.state).muted
        return [(one.until, "mute_ended", {"who": key}) for key, one in muted.items() if one.until is not None]

    def refuses_words(self, room: BaseRoom, member: Member | None, words: Words) -> Decision | None:
        """Refuse what a muted member says, and blocked words of anybody, also in names and in actions of the world."""
        chat = CHAT.read(room.state)
        if member is not None and C.MANAGE_MEMBERS in member.held:
            return None
        who, invite = (_key(member), member.invite) if member is not None else (words.identity, words.invite)
        mute = _mute_for(chat, who, invite) if words.speaks else None
        if mute is not None and words.handle != handle_of(mute.member):  # it may join under the name that it had
            return Decision("PERMISSION_DENIED", room.tools.in_text(_muted(mute, who in chat.muted, member, words)))
        if chat.blocked and any(map(REORDERING.search, words.texts)):
            reason = "this room does not allow characters that change the direction of text; leave them out"
            return Decision("PERMISSION_DENIED", reason)
        if chat.blocked and (found := _blocked(chat.blocked, words.texts)):
            return Decision("PERMISSION_DENIED", f"this room does not allow {found!r}; {words.instead}")
        if chat.slow_ms and words.said_at is not None:
            _check_slow(chat, chat.sent.get(who), max(words.said_at + room.ahead_ms, room.record.at))
        return None

    def recipients(self, ctx: Context, to: str, receivers: list[str]) -> list[str]:
        """Refuse a message in slow mode; of an agent to everyone also during the cooldown, or above the limit of this
        minute. Where agents are kept apart, no other agent receives it."""
        chat = CHAT.read(ctx.state)
        if chat.slow_ms and C.MANAGE_MEMBERS not in ctx.member.held:
            _check_slow(chat, chat.sent.get(_key(ctx.member)), ctx.at)
        if ctx.member.kind != "agent":
            return receivers
        before = chat.spoke.get(_key(ctx.member))
        if to == EVERYBODY and before is not None:
            _check(chat, before, ctx.at)
        if not chat.apart:
            return receivers
        return [member for member in receivers if ctx.state.members[member].kind != "agent"]

    def sent(self, ctx: Context, to: str) -> None:
        chat = CHAT.read(ctx.state)
        if chat.slow_ms and C.MANAGE_MEMBERS not in ctx.member.held:
            _note(CHAT.change(ctx.state).sent, _key(ctx.member), ctx.at, ctx.state)
        if to == EVERYBODY and ctx.member.kind == "agent" and (chat.cooldown_ms or chat.per_minute):
            _count(CHAT.change(ctx.state), ctx)

    def hears(self, room: BaseRoom, speaker: Member, member: Member) -> bool:
        chat = CHAT.read(room.state)
        if C.MANAGE_MEMBERS not in speaker.held and _mute_of(chat, speaker) is not None:
            return False
        return not (chat.apart and speaker.kind == member.kind == "agent")


def _muted(mute: Muted, own: bool, member: Member | None, words: Words) -> str:
    """The refusal for a muted member, or for one who joins again."""
    who = "a host has muted you" if own else "a host has muted somebody who joined with the same invite, and so you,"
    ends = "until a host unmutes you" if mute.until is None else f"until {utc(mute.until)[:19].replace('T', ' ')} UTC"
    if member is None:
        return f"{who} {ends}; {f'join as {handle_of(mute.member)}' if words.handle else words.instead}"
    return f"{who} {ends}: leave out what you want to say. You can still play, and `report` abuse"


def _note(known: dict[str, T], who: str, value: T, state: RoomState) -> None:
    """Remember this of a member. The newest comes last, and the oldest are forgotten."""
    known.pop(who, None)
    known[who] = value
    if len(known) > KEPT + len(state.members):
        del known[next(iter(known))]


def _count(chat: Chat, ctx: Context) -> None:
    who, at = _key(ctx.member), ctx.at
    before = chat.spoke.get(who)
    same_minute = before is not None and before.at // MINUTE_MS == at // MINUTE_MS
    _note(chat.spoke, who, Spoke(at, before.times + 1 if before is not None and same_minute else 1), ctx.state)


def _check_slow(chat: Chat, before: int | None, at: int) -> None:
    wait = before + chat.slow_ms - at if before is not None else 0
    if wait > 0:
        raise Busy(
            f"slow mode: one message every {chat.slow_ms // 1000} s here; send it again in {-(-wait // 1000)} s",
            retry_in_ms=wait,
        )


def _check(chat: Chat, before: Spoke, at: int) -> None:
    wait = before.at + chat.cooldown_ms - at
    if wait > 0:
        raise Busy(f"agents wait {chat.cooldown_ms} ms between messages to everyone; retry in {wait} ms")
    if chat.per_minute and before.at // MINUTE_MS == at // MINUTE_MS and before.times >= chat.per_minute:
        raise Busy(
            f"agents may send {chat.per_minute} messages a minute to everyone; retry in {MINUTE_MS - at % MINUTE_MS} ms"
        )


# -- words ----------------------------------------------------------------------------------------
@lru_cache(maxsize=64)
def _pattern(blocked: tuple[str, ...]) -> re.Pattern[str]:
    spelled = {*blocked, *(plain(unify(word)) for word in blocked)}
    return re.compile(rf"(?:^| )({'|'.join(map(re.escape, sorted(spelled - {''}, key=len, reverse=True)))})(?= |$)")


def _blocked(blocked: tuple[str, ...], texts: Sequence[str]) -> str:
    """The first blocked word in these texts; empty if there is none."""
    pattern = _pattern(blocked)
    found = (pattern.search(reading) for text in texts for reading in readings(text))
    return next((word[1] for word in found if word is not None), "")
