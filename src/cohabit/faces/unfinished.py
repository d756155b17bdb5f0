"""A coroutine that is run synchronously as far as it goes, and awaited for the rest."""

from collections.abc import Generator
from typing import Any


class Unfinished:
    """The rest of a coroutine that has run to its first suspension point."""

    def __init__(self, coroutine: Any, waiting_for: Any) -> None:
        self._coroutine = coroutine
        self._waiting_for = waiting_for

    def __await__(self) -> Generator[Any, Any, None]:
        waiting_for = self._waiting_for
        try:
            while True:
                try:
                    yield waiting_for
                except BaseException as thrown:
                    waiting_for = self._coroutine.throw(thrown)
                else:
                    waiting_for = self._coroutine.send(None)
        except StopIteration:
            return
