"""Random numbers that are the same on every machine.

A stream is a seed, a purpose and a counter, and its output is a hash of the three. So streams with different purposes
are independent, a snapshot is three small values, and no result depends on the random module of a library.
"""

from __future__ import annotations

import struct
from collections.abc import MutableSequence, Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


def seed_hex(seed: int) -> str:
    """A seed of up to 128 bits as 32 hexadecimal digits, as the record keeps it."""
    return f"{seed:032x}"


_WORDS_PER_BLOCK = 8  # one 64-byte digest
_BLOCK = struct.Struct("<8Q")
_COUNTER = struct.Struct("<Q")
_SPAN = 1 << 64


class Stream:
    """A named stream of random integers. `counter` is the number of 64-bit words drawn so far."""

    __slots__ = ("_block", "_words", "counter", "purpose", "seed")

    def __init__(self, seed: int, purpose: str, counter: int = 0) -> None:
        if type(seed) is not int or type(counter) is not int:
            raise TypeError("the seed and the counter of a stream must be integers")
        if type(purpose) is not str:
            raise TypeError("the purpose of a stream must be a string")
        if not 0 <= counter < _SPAN:
            raise ValueError(f"the counter of a stream must be at least 0 and below 2**64, not {counter}")
        self.seed = seed
        self.purpose = purpose
        self.counter = counter
        self._block = -1  # the number of the block in _words
        self._words: tuple[int, ...] = ()

    def bits64(self) -> int:
        """64 random bits, as a number from 0 to 2**64 - 1."""
        counter = self.counter
        block = counter // _WORDS_PER_BLOCK
        if block != self._block:
            self._words = self._hash(block)
            self._block = block
        self.counter = counter + 1
        return self._words[counter % _WORDS_PER_BLOCK]

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, each equally likely."""
        if n < 1:
            raise ValueError(f"n must be at least 1, not {n}")
        # Values in the last, incomplete run of n would favour small results, so they are drawn again.
        if n <= _SPAN:  # the usual case
            counter = self.counter
            if counter // _WORDS_PER_BLOCK == self._block:  # inlined `bits64`
                self.counter = counter + 1
                value = self._words[counter % _WORDS_PER_BLOCK]
            else:
                value = self.bits64()
            if value > _SPAN - n:  # else it is in a complete run
                limit = _SPAN - _SPAN % n
                while value >= limit:
                    value = self.bits64()
            return value % n
        words = ((n - 1).bit_length() + 63) // 64
        span = 1 << (64 * words)
        limit = span - span % n
        while True:
            value = 0
            for _ in range(words):
                value = value << 64 | self.bits64()
            if value < limit:
                return value % n

    def between(self, lo: int, hi: int) -> int:
        """A number from lo to hi, both included."""
        if lo > hi:
            raise ValueError(f"lo must not exceed hi, but the range is {lo} to {hi}")
        return lo + self.below(hi - lo + 1)

    def chance(self, numerator: int, denominator: int) -> bool:
        """True in `numerator` of `denominator` cases."""
        if not 0 <= numerator <= denominator or denominator < 1:
            raise ValueError(f"{numerator}/{denominator} is not a probability")
        return self.below(denominator) < numerator

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, each equally likely."""
        if not items:
            raise ValueError("cannot choose from an empty sequence")
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle the items in place (Fisher-Yates, from the end)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def fork(self, purpose: str) -> Stream:
        """A child stream with its own purpose.

        It does not depend on how much was drawn from this stream: the same fork is always the same stream.
        """
        return Stream(self.seed, f"{self.purpose}/{purpose}")

    def _hash(self, block: int) -> tuple[int, ...]:
        # Unambiguous: hexadecimal digits contain no zero byte, and the counter is always the last eight bytes.
        name = f"{self.seed:x}\0{self.purpose}".encode()
        return _BLOCK.unpack(blake2b(name + _COUNTER.pack(block), person=b"cohabit-stream").digest())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.seed, self.purpose, self.counter) == (other.seed, other.purpose, other.counter)

    __hash__ = None  # type: ignore[assignment]  # mutable: every draw changes it

    def __repr__(self) -> str:
        return f"Stream({self.seed!r}, {self.purpose!r}, {self.counter!r})"
