"""Idempotency keys: a caller that lost a reply can repeat the call with the same key, and it is executed only once."""

from hashlib import sha256
from typing import Any

import msgspec

from cohabit.declare import Declaration
from cohabit.errors import BadArgs, Conflict, OutcomeUnknown
from cohabit.model.record import Entry
from cohabit.model.strict_json import sorted_json
from cohabit.room.state import KeptReply, Member, RoomState

KEYS_KEPT = 32
"""Keys remembered per member."""


def kept_reply(state: RoomState, member: Member, command: Declaration, args: Any, key: str) -> KeptReply | None:
    """The stored reply for this key, if any."""
    if not 0 < len(key) <= 200 or not key.isprintable():
        raise BadArgs("the idempotency key must be 1 to 200 printable characters")
    kept = state.replies.get(member.id, {}).get(key)
    if kept is not None and (kept.do != command.name or kept.args != digest_of(command.check(args))):
        raise Conflict(f"the idempotency key {key!r} was used for another call; use a new one")
    if kept is not None and kept.unknown:
        raise OutcomeUnknown(
            f"the outcome of this {command.name} is unknown: it was sent, but no reply arrived. Check the world; "
            "to retry, use a new idempotency key"
        )
    if kept is not None and kept.earlier:
        raise Conflict(
            f"the idempotency key {key!r} was used in an earlier game of this room, and that call was executed; "
            "use a new one"
        )
    return kept


def keep_reply(state: RoomState, entry: Entry, result: Any) -> None:
    """Store the reply to a call with a key, and drop the oldest ones."""
    if entry.key is None or entry.by is None or entry.by not in state.members:  # it has left with this entry
        return
    remember(state, entry.by, entry.key, KeptReply(entry.do, digest_of(entry.args), msgspec.to_builtins(result)))


def remember(state: RoomState, who: str, key: str, reply: KeptReply) -> None:
    kept = state.replies.setdefault(who, {})
    kept[key] = reply
    while len(kept) > KEYS_KEPT:
        del kept[next(iter(kept))]


def digest_of(args: Any) -> str:
    """A digest of a call's arguments."""
    return sha256(sorted_json(args or {})).hexdigest()[:16]
