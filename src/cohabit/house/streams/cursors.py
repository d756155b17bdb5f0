"""Cursors of the event feed: encrypted record numbers.

A plain record number would reveal how many hidden entries there are, so it is encrypted with a small keyed permutation
(four Feistel rounds on 64 bits).
"""

import re
from functools import lru_cache
from hashlib import blake2b

from cohabit.errors import BadArgs

_FORM = re.compile("[0-9a-f]{16}")


def _round(secret: bytes, i: int, half: int) -> int:
    digest = blake2b(half.to_bytes(4, "big"), key=secret, digest_size=4, salt=bytes([i])).digest()
    return int.from_bytes(digest, "big")


@lru_cache(maxsize=256)  # the frames of one entry for different members have the same cursor
def seal(secret: str, seq: int) -> str:
    """The cursor for record number ``seq``."""
    key = bytes.fromhex(secret)
    left, right = seq >> 32, seq & 0xFFFFFFFF
    for i in range(4):
        left, right = right, left ^ _round(key, i, right)
    return f"{left:08x}{right:08x}"


def unseal(secret: str, cursor: str, head: int) -> int:
    """The record number of a cursor; an empty cursor is the beginning."""
    if not cursor:
        return -1
    seq = _decrypted(bytes.fromhex(secret), cursor) if _FORM.fullmatch(cursor) else None
    if seq is None or seq > head:
        raise BadArgs("invalid cursor for this room; an empty one is the beginning")
    return seq


def _decrypted(key: bytes, cursor: str) -> int:
    left, right = int(cursor[:8], 16), int(cursor[8:], 16)
    for i in reversed(range(4)):
        left, right = right ^ _round(key, i, left), left
    return (left << 32) | right
