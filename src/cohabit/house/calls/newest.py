"""The newest answer about each room, made once for all who ask for it at the same time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Turn:
    """The lock of a room, and how many hold it or wait for it."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.callers = 0


class Newest(Generic[T]):
    def __init__(self, limit: int) -> None:
        """``limit``: of how many rooms the answers are kept. The oldest ones are dropped."""
        self._limit = limit
        self._kept: dict[str, T] = {}
        self._turns: dict[str, _Turn] = {}

    async def get(self, room: str, serves: Callable[[T], bool], make: Callable[[], Awaitable[T]]) -> T:
        """The kept answer if it ``serves``, else a new one. Callers wait for one that is being made, and may get it."""
        turn = self._turns.setdefault(room, _Turn())
        turn.callers += 1
        try:
            async with turn.lock:
                kept = self._kept.get(room)
                if kept is not None and serves(kept):
                    return kept
                made = await make()
                self._kept.pop(room, None)
                self._kept[room] = made
                if len(self._kept) > self._limit:
                    del self._kept[next(iter(self._kept))]
                return made
        finally:
            turn.callers -= 1
            if not turn.callers:
                del self._turns[room]
