"""Random numbers for many creatures at once, the same on every machine.

A draw is a hash of the seed, the purpose, the tick and an id. There is no generator state to keep, and rules cannot
disturb each other's draws. Whole numbers only.
"""

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

U64 = np.uint64
Bits = NDArray[np.uint64]
_A, _B = U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
STEP = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def mixed(bits: Bits) -> Bits:
    """The finaliser of SplitMix64: every input bit affects every output bit."""
    bits = bits ^ (bits >> U64(30))
    bits *= _A
    bits ^= bits >> U64(27)
    bits *= _B
    bits ^= bits >> U64(31)
    return bits


def mixed_one(bits: int) -> int:
    """The same for a single number of any size."""
    bits &= _MASK
    bits = ((bits ^ (bits >> 30)) * int(_A)) & _MASK
    bits = ((bits ^ (bits >> 27)) * int(_B)) & _MASK
    return bits ^ (bits >> 31)


class Chance:
    """The random numbers of one world. Every ``purpose`` (a word) has a sequence of its own.

    ``seed`` makes the numbers that may be shown, such as ids, and ``dice`` all others; usually they are the same.
    """

    def __init__(self, seed: int, dice: int | None = None) -> None:
        self.seed = seed
        self.dice = seed if dice is None else dice
        self._salts: dict[str, int] = {}

    def _salt(self, purpose: str, tick: int) -> int:
        salt = self._salts.get(purpose)
        if salt is None:
            digest = blake2b(f"{self.dice:x}\0{purpose}".encode(), digest_size=8, person=b"kingdoms").digest()
            salt = self._salts[purpose] = int.from_bytes(digest, "little")
        return mixed_one(salt + tick * STEP)  # mixed here, so that id 5 at tick 6 is not id 6 at tick 5

    def bits(self, purpose: str, tick: int, who: NDArray[Any]) -> Bits:
        """64 random bits for each of ``who`` (creature ids, cells or any other whole numbers)."""
        return mixed(who.astype(U64) * U64(STEP) + U64(self._salt(purpose, tick)))

    def below(self, n: int, purpose: str, tick: int, who: NDArray[Any]) -> NDArray[np.int64]:
        """A number from 0 to n - 1 for each of ``who``. It is taken from the top bits; for small n the bias is nil."""
        return ((self.bits(purpose, tick, who) >> U64(32)) * U64(n) >> U64(32)).astype(np.int64)

    def hits(self, numerator: int, denominator: int, purpose: str, tick: int, who: NDArray[Any]) -> NDArray[np.bool_]:
        """True for about ``numerator`` out of ``denominator`` of them."""
        return self.below(denominator, purpose, tick, who) < numerator

    def secret(self, purpose: str, number: int) -> int:
        """64 random bits that may be shown: unlike those of ``bits`` they reveal neither the number nor other draws."""
        words = f"{self.seed:x}\0{purpose}\0{number}".encode()
        return int.from_bytes(blake2b(words, digest_size=8, person=b"shown").digest(), "little")

    def one(self, n: int, purpose: str, tick: int, who: int = 0) -> int:
        """A single number from 0 to n - 1."""
        return (mixed_one(self._salt(purpose, tick) + who * STEP) >> 32) * n >> 32
