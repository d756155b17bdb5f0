"""Cursors of the event feed: encrypted record numbers.

A plain record number would reveal how many hidden entries there are, so it is encrypted with a small keyed permutation
(four Feistel rounds on 64 bits).
"""

import re
from functools import lru_cache
from hashlib import blake2b

from msgspec.json import encode

from cohabit.errors import BadArgs

_FORM = re.compile("[0-9a-f]{16}")


PREPARED_ROOMS = 4096
"""Rooms whose hashes are kept prepared, about 2 KiB each."""


@lru_cache(maxsize=PREPARED_ROOMS)
def _rounds(secret: str) -> "tuple[blake2b, ...]":
    """The keyed hash of each round, before its input. Each entry of a room has another cursor, so small rooms cannot
    share one as large ones do. With copies of prepared hashes a cursor takes half the time."""
    key = bytes.fromhex(secret)
    return tuple(blake2b(key=key, digest_size=4, salt=bytes([i])) for i in range(4))


def _mixed(prepared: blake2b, half: int) -> int:
    hashed = prepared.copy()
    hashed.update(half.to_bytes(4, "big"))
    return int.from_bytes(hashed.digest(), "big")


def secret_for(secret: str, *what: str | int | None) -> str:
    """The secret for other cursors than those of events. With a shared one, a command would decrypt the cursors of
    another, or it would show that two of them are of the same number."""
    return blake2b(encode(what), key=bytes.fromhex(secret), digest_size=16).hexdigest()


@lru_cache(maxsize=256)  # the frames of one entry for different members have the same cursor
def seal(secret: str, seq: int) -> str:
    """The cursor for record number ``seq``."""
    left, right = seq >> 32, seq & 0xFFFFFFFF
    for prepared in _rounds(secret):  # inlined `_mixed`: every message to a small room has a new cursor
        hashed = prepared.copy()
        hashed.update(right.to_bytes(4, "big"))
        left, right = right, left ^ int.from_bytes(hashed.digest(), "big")
    return (left << 32 | right).to_bytes(8, "big").hex()


def unseal(secret: str, cursor: str, head: int) -> int:
    """The record number of a cursor; an empty cursor is the beginning."""
    if not cursor:
        return -1
    seq = _decrypted(secret, cursor) if _FORM.fullmatch(cursor) else None
    if seq is None or seq > head:
        raise BadArgs("invalid cursor for this room; an empty one is the beginning")
    return seq


def _decrypted(secret: str, cursor: str) -> int:
    left, right = int(cursor[:8], 16), int(cursor[8:], 16)
    for prepared in reversed(_rounds(secret)):
        left, right = right ^ _mixed(prepared, left), left
    return (left << 32) | right
