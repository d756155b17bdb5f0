"""The two sources of chance: the sequence of the original, or numbers keyed by purpose, step and place.

``StockDraws`` gives the draws of the original in its order, so one game depends on the order in which everything
happens. ``KeyedDraws`` hashes the seed, the step, what a draw is for and the cell it is about. There is no state, so
players do not disturb each other's chances, and thousands of games can be computed at once.
"""

import random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cohabit.model.stream import Stream

# The purposes of draws.
(
    COLLECT, COW_MOVES, COW_DIRECTION, ZOMBIE_CHASES, ZOMBIE_AXIS, ZOMBIE_DIRECTION, SKELETON_FLEES, SKELETON_SHOOTS,
    SKELETON_NEARS, SKELETON_AXIS, SKELETON_MOVES, SKELETON_DIRECTION, SPAWN_ZOMBIE, SPAWN_SKELETON, SPAWN_COW,
    ZOMBIE_PLACE, SKELETON_PLACE, COW_PLACE, NOISE, COAL_CELL, IRON_CELL, DIAMOND_CELL, TREE_CELL, COW_CELL,
    ZOMBIE_CELL, SKELETON_CELL, PRIORITY, START, NIGHT_NOISE,
) = range(29)  # fmt: skip

_NIGHT_NOISE_BITS = 64 * 63 * 49  # the original draws a picture of 63 x 49 pixels, and 64 bits for each
_LARGEST_SEED = 2**31 - 1
_DARKEST, _LIGHTEST = 32, 127  # grey of the noise in a dark picture
WORD = 0xFFFFFFFF
KEY_WORDS, NOISE_WORDS = 4, 2  # of a keyed seed


class Draws(Protocol):
    def start_step(self, step: int) -> None:
        """The draws that follow belong to this step; 0 is the making of the map."""

    def uniform(self, purpose: int, place: int) -> float:
        """A number from 0 to 1, 1 excluded."""

    def below(self, n: int, purpose: int, place: int) -> int:
        """A whole number from 0 to n - 1."""

    def noise_seed(self) -> int:
        """The seed of the noise that shapes the land."""

    def night(self) -> None:
        """The picture of a dark scene was drawn, or would have been."""

    def night_noise(self, width: int, height: int) -> NDArray[np.float64]:
        """The noise in a picture of this dark step, in grey from 32 to 127, indexed by x and y. It takes no draws."""

    def dump(self) -> list[int]:
        """The state as numbers, for a snapshot."""


class StockDraws:
    """The draws of the original: a Mersenne Twister, read in order. Purpose and place do not matter.

    Python's generator and NumPy's legacy one are the same algorithm, but seed it differently; so NumPy seeds, and
    Python draws, which costs a tenth."""

    def __init__(self, seed: int) -> None:
        # The hash of a tuple of integers is part of the original's definition of a seed.
        _, words, position, *_ = np.random.RandomState(hash((seed, 1)) % _LARGEST_SEED).get_state(legacy=True)
        self._generator = random.Random()
        self._restore([*map(int, words), int(position), False])

    def _restore(self, words: list[int]) -> None:
        *state, dark = words
        self._generator.setstate((3, tuple(state), None))
        self._dark = bool(dark)  # the draws of the night noise are skipped when the next step starts
        self._uniform, self._bits = self._generator.random, self._generator.getrandbits

    @classmethod
    def load(cls, words: list[int]) -> "StockDraws":
        draws = cls(0)
        draws._restore(words)
        return draws

    def dump(self) -> list[int]:
        return [*self._generator.getstate()[1], int(self._dark)]

    def start_step(self, step: int) -> None:
        if self._dark:
            self._dark = False
            self._bits(_NIGHT_NOISE_BITS)

    def uniform(self, purpose: int, place: int) -> float:
        return self._uniform()

    def below(self, n: int, purpose: int, place: int) -> int:
        mask = (1 << (n - 1).bit_length()) - 1
        if not mask:
            return 0
        value = self._bits(32) & mask
        while value >= n:
            value = self._bits(32) & mask
        return value

    def noise_seed(self) -> int:
        return self.below(_LARGEST_SEED, NOISE, 0)

    def night(self) -> None:
        self._dark = True  # skipped later, so that a picture of this step can still have the noise

    def night_noise(self, width: int, height: int) -> NDArray[np.float64]:
        *words, position = self._generator.getstate()[1]
        generator = np.random.RandomState(0)
        generator.set_state(("MT19937", np.array(words, np.uint32), position, 0, 0.0))
        return generator.uniform(_DARKEST, _LIGHTEST, (width, height))


class KeyedDraws:
    """Draws that depend on nothing but the seed, the step, the purpose and the cell.

    Keys have 64 bits, in two words, and so has the seed of the noise: somebody who sees a part of the map cannot find
    the rest by trying all keys."""

    def __init__(self, seed: int) -> None:
        stream = Stream(seed, "crafter")
        self.words = [stream.bits64() & WORD for _ in range(KEY_WORDS + NOISE_WORDS)]
        self.start_step(0)

    @classmethod
    def load(cls, words: list[int]) -> "KeyedDraws":
        draws = cls(0)
        *draws.words, step = words
        draws.start_step(step)
        return draws

    def dump(self) -> list[int]:
        return [*self.words, self._step]

    def start_step(self, step: int) -> None:
        self._step = step
        first = second = step
        for number in range(KEY_WORDS):
            first = mixed(first + self.words[number])
            second = mixed(second ^ self.words[KEY_WORDS - 1 - number])
        self._key = first, second
        self._keys: dict[int, tuple[int, int]] = {}

    def _bits(self, purpose: int, place: int) -> int:
        keys = self._keys.get(purpose)
        if keys is None:
            first, second = self._key
            shift = (purpose + 1) * GOLDEN
            keys = self._keys[purpose] = mixed(first + shift), mixed(second + shift)
        return mixed(mixed(keys[0] + place * GOLDEN) + keys[1])

    def noise_seed(self) -> int:
        return self.words[KEY_WORDS] << 32 | self.words[KEY_WORDS + 1]

    def uniform(self, purpose: int, place: int) -> float:
        return self._bits(purpose, place) / 4294967296.0

    def below(self, n: int, purpose: int, place: int) -> int:
        return self._bits(purpose, place) * n >> 32

    def night(self) -> None:
        pass

    def night_noise(self, width: int, height: int) -> NDArray[np.float64]:
        generator = np.random.Generator(np.random.Philox(self._bits(NIGHT_NOISE, 0)))
        return generator.uniform(_DARKEST, _LIGHTEST, (width, height))


GOLDEN = 0x9E3779B9


def mixed(bits: int) -> int:
    """A mixing function for 32 bits, with nearly no bias (lowbias32)."""
    bits &= WORD
    bits = ((bits ^ (bits >> 16)) * 0x7FEB352D) & WORD
    bits = ((bits ^ (bits >> 15)) * 0x846CA68B) & WORD
    return bits ^ (bits >> 16)
