"""Idempotency: a caller that lost a reply repeats the call with the same key, and nothing is done twice."""

from hashlib import sha256
from typing import Any

import msgspec

from cohabit.errors import BadArgs, Conflict, OutcomeUnknown
from cohabit.model.record import Entry
from cohabit.room.commands import Command
from cohabit.room.state import KeptReply, Member, RoomState

KEYS_KEPT = 32
"""Keys remembered per member."""
_sorted_json = msgspec.json.Encoder(order="sorted").encode


def kept_reply(state: RoomState, member: Member, command: Command, args: Any, key: str) -> KeptReply | None:
    """The reply that this call got before, if it did."""
    if not 0 < len(key) <= 200 or not key.isprintable():
        raise BadArgs("an idempotency key has 1 to 200 visible characters")
    kept = state.replies.get(member.id, {}).get(key)
    if kept is not None and (kept.do != command.name or kept.args != digest_of(command.check(args))):
        raise Conflict(f"the idempotency key {key!r} was used for another call; use a new one")
    if kept is not None and kept.unknown:
        raise OutcomeUnknown(
            f"this {command.name} was sent and got no reply: it may have been done or not, and is not sent again. "
            "Look at the world; to try again, use a new idempotency key"
        )
    return kept


def keep_reply(state: RoomState, entry: Entry, result: Any) -> None:
    """Keep the reply to a call with a key; the oldest are dropped."""
    if entry.key is None or entry.by is None:
        return
    remember(state, entry.by, entry.key, KeptReply(entry.do, digest_of(entry.args), msgspec.to_builtins(result)))


def remember(state: RoomState, who: str, key: str, reply: KeptReply) -> None:
    kept = state.replies.setdefault(who, {})
    kept[key] = reply
    while len(kept) > KEYS_KEPT:
        del kept[next(iter(kept))]


def digest_of(args: Any) -> str:
    """A short form of a call's arguments, to tell one call from another."""
    return sha256(_sorted_json(args or {})).hexdigest()[:16]
