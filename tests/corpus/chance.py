"""Chance that repeats itself: a process that imports this before Cohabit draws the same secrets every time.

Two trees may draw them in another order, so the transcript replaces random values anyway. This keeps what follows from
them the same: the moves of scripted players, and whatever is sorted by an id.
"""

import itertools
import secrets
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

_drawn: dict[int, "itertools.count[int]"] = {}


def _bytes(size: int | None = None) -> bytes:
    """Other bytes for each call, by size: draws of one size do not change those of another."""
    size = 32 if size is None else size
    number = next(_drawn.setdefault(size, itertools.count()))
    return b"".join(
        blake2b(f"{size}/{number}/{part}".encode(), digest_size=32).digest() for part in range(1 + size // 32)
    )[:size]


def _hex(size: int | None = None) -> str:
    """The secret of a room has 16 bytes and is the same for all rooms, so that no tree draws another one."""
    return "5eed" * 8 if size == 16 else _bytes(size).hex()


def _bits(count: int) -> int:
    return int.from_bytes(_bytes(1 + count // 8), "big") % (1 << count)


def _choice(options: Sequence[Any]) -> Any:
    return options[_bits(32) % len(options)]


def begin_again() -> None:
    """As in a new process."""
    _drawn.clear()


secrets.token_bytes = _bytes  # type: ignore[assignment]
secrets.token_hex = _hex  # type: ignore[assignment]
secrets.randbits = _bits  # type: ignore[assignment]
secrets.choice = _choice  # type: ignore[assignment]
