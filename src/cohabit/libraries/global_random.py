"""Random numbers for libraries that draw from the generators of the process, ``random`` and ``numpy.random``.

During a call the state of both is that of one game, and afterwards what it was before. So two games do not disturb each
other, and neither does a game what else runs in the process. Calls wait for each other.
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import numpy

from cohabit.model.stream import Stream

_one_call = threading.RLock()


class GlobalRandom:
    """The random state of one game."""

    def __init__(self, stream: Stream) -> None:
        self._random: Any = random.Random(stream.bits64()).getstate()
        self._numpy: Any = numpy.random.RandomState(stream.below(2**32)).get_state()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Call the library inside of this."""
        with _one_call:
            outside = random.getstate(), numpy.random.get_state()
            random.setstate(self._random)
            numpy.random.set_state(self._numpy)
            try:
                yield
            finally:
                self._random, self._numpy = random.getstate(), numpy.random.get_state()
                random.setstate(outside[0])
                numpy.random.set_state(outside[1])

    def digest(self) -> str:
        """A short text that is the same if, and only if, the next random numbers are the same."""
        _, words, *rest = self._numpy
        return sha256(repr((self._random, words.tobytes(), rest)).encode()).hexdigest()[:12]
