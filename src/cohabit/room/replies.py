"""Idempotency: who lost an answer may ask again with the same key, and nothing is done twice."""

from hashlib import sha256
from typing import Any

import msgspec

from cohabit.errors import BadArgs, Conflict
from cohabit.model.record import Entry
from cohabit.room.commands import Command
from cohabit.room.state import KeptReply, Member, RoomState

KEYS_KEPT = 32
"""Keys remembered per member."""
_sorted_json = msgspec.json.Encoder(order="sorted").encode


def kept_reply(state: RoomState, member: Member, command: Command, args: Any, key: str) -> KeptReply | None:
    """The answer that was given to this call before, if it was."""
    if not 0 < len(key) <= 200 or not key.isprintable():
        raise BadArgs("an idempotency key has 1 to 200 visible characters")
    kept = state.replies.get(member.id, {}).get(key)
    if kept is not None and (kept.do != command.name or kept.args != _digest(command.check(args))):
        raise Conflict(f"the idempotency key {key!r} was used for another call; take a new one")
    return kept


def keep_reply(state: RoomState, entry: Entry, result: Any) -> None:
    """Remember what was answered to a call with a key; the oldest are forgotten."""
    if entry.key is None or entry.by is None:
        return
    kept = state.replies.setdefault(entry.by, {})
    kept[entry.key] = KeptReply(entry.do, _digest(entry.args), msgspec.to_builtins(result))
    while len(kept) > KEYS_KEPT:
        del kept[next(iter(kept))]


def _digest(args: Any) -> str:
    return sha256(_sorted_json(args or {})).hexdigest()[:16]
