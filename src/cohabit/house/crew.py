"""Work that waits for other programs: on threads of its own, so many at once and no more.

The threads are daemons: what hangs in one never keeps a house from closing. A place is taken until the work has really
ended, also when nobody waits for it any more.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Crew:
    """At most ``most`` jobs at once; the others wait for a place."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._places = asyncio.Semaphore(most)
        self._at_work = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def do(self, work: Callable[[], T]) -> T:
        """What ``work`` returns or raises."""
        await self._places.acquire()
        self._at_work += 1
        self._idle.clear()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def give_back() -> None:
            self._places.release()
            self._at_work -= 1
            if not self._at_work:
                self._idle.set()

        def finish(then: Callable[[Any], None], value: Any) -> None:
            give_back()
            if not done.done():
                then(value)

        def job() -> None:
            then: Callable[[Any], None]
            value: Any
            try:
                then, value = done.set_result, work()
            except BaseException as wrong:
                then, value = done.set_exception, wrong
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(finish, then, value)

        try:
            threading.Thread(target=job, name=self._name, daemon=True).start()
        except BaseException:  # the system has no thread left for us
            give_back()
            raise
        return await done

    async def rest(self, seconds: float) -> bool:
        """Wait until nobody is at work, but not longer than this; is nobody?"""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)
        return not self._at_work
