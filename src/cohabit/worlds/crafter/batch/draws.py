"""The keyed draws of a step for arrays of games and places. They are equal to those of ``KeyedDraws``."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cohabit.worlds.crafter.batch.library import Array, Library
from cohabit.worlds.crafter.draws import GOLDEN, KEY_WORDS, NOISE_WORDS, WORD, KeyedDraws

SEED_WORDS = KEY_WORDS + NOISE_WORDS


def seed_words(seeds: Iterable[int]) -> Any:
    """The words of each seed: an array of seeds x words on the host."""
    return np.array([KeyedDraws(seed).words for seed in seeds], np.int64).reshape(-1, SEED_WORDS)


def under(chance: float) -> int:
    """The bound below which bits make ``uniform() < chance`` true."""
    return math.ceil(chance * (WORD + 1))


def over(chance: float) -> int:
    """The bound above which bits make ``uniform() > chance`` true."""
    return math.floor(chance * (WORD + 1))


def mixed(library: Library, bits: Array) -> Array:
    """``draws.mixed`` for an array, which may be changed."""
    if library.has_words:
        bits = bits ^ (bits >> 16)
        bits *= 0x7FEB352D
        bits ^= bits >> 15
        bits *= 0x846CA68B
        bits ^= bits >> 16
        return bits
    bits = bits & WORD
    bits = ((bits ^ (bits >> 16)) * 0x7FEB352D) & WORD
    bits = ((bits ^ (bits >> 15)) * 0x846CA68B) & WORD
    return bits ^ (bits >> 16)


class StepDraws:
    """The draws of one step; games may be at different steps."""

    def __init__(self, library: Library, words: Sequence[Array], step: Array) -> None:
        """``words``: those of the seeds, an array of games each."""
        self._library = library
        first = second = library.xp.astype(step, library.word)
        for number in range(KEY_WORDS):
            first = mixed(library, first + words[number])
            second = mixed(library, second ^ words[KEY_WORDS - 1 - number])
        self._key = first, second
        self._keys: dict[int, tuple[Array, Array]] = {}

    def bits(self, purpose: int, game: Array, place: Array) -> Array:
        """32 bits for each game and place."""
        library = self._library
        keys = self._keys.get(purpose)
        if keys is None:
            shift = (purpose + 1) * GOLDEN % (WORD + 1)
            keys = self._keys[purpose] = mixed(library, self._key[0] + shift), mixed(library, self._key[1] + shift)
        at_place = mixed(library, keys[0][game] + library.xp.astype(place, library.word) * GOLDEN)
        return mixed(library, at_place + keys[1][game])

    def below(self, n: Array, purpose: int, game: Array, place: Array) -> Array:
        """A whole number below n for each game and place."""
        return self._library.xp.astype(self.bits(purpose, game, place), self._library.xp.int64) * n >> 32
