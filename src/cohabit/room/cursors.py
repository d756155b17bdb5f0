"""Cursors of the event feed: encrypted record numbers.

A plain record number would reveal how many hidden entries there are, so it is encrypted with a small keyed permutation
(four Feistel rounds on 64 bits).
"""

from hashlib import blake2b

from cohabit.errors import BadArgs


def _round(secret: bytes, i: int, half: int) -> int:
    digest = blake2b(half.to_bytes(4, "big"), key=secret, digest_size=4, salt=bytes([i])).digest()
    return int.from_bytes(digest, "big")


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
    key = bytes.fromhex(secret)
    try:
        number = int(cursor, 16)
        if len(cursor) != 16 or number < 0:
            raise ValueError
    except ValueError:
        raise BadArgs("invalid cursor for this room; omit it to start from the beginning") from None
    left, right = number >> 32, number & 0xFFFFFFFF
    for i in reversed(range(4)):
        left, right = right ^ _round(key, i, left), left
    seq = (left << 32) | right
    if seq > head:
        raise BadArgs("invalid cursor for this room; omit it to start from the beginning")
    return seq
