"""Makes films in a process of its own, so that a film of a running room does not delay it.

One process makes one film at a time for the whole house. It is started for the first film, and ends when nobody has
watched for a while. It knows nothing of the store: the house sends it keyframes and entries, and keeps the keyframes
that it makes on the way.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from cohabit.errors import Busy, CohabitError, Disabled, WorldTimeout, by_code
from cohabit.house.films import wire
from cohabit.house.films.wire import Begin, Play, Played

MAX_WAITING = 16
"""The number of callers that may wait for a film; more are refused with BUSY."""
REPLY_S = 60.0
"""The time that one request may take before the process is killed: it replays as much as a page needs, or a part of
it."""
IDLE_S = 60.0
MODULE = "cohabit.house.films.process"


class FilmMaker:
    """One per house."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._callers: set[str] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None
        self._closed = False

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for the process. One film for each caller at a time."""
        if caller in self._callers:
            raise Busy("another film is being made for you; wait for its reply")
        if len(self._callers) >= MAX_WAITING:
            raise Busy("many films are being made; try again in a moment", retry_after_s=1)
        self._callers.add(caller)
        try:
            async with self._turn:
                if self._closed:
                    raise Disabled("the house is closing")
                yield
        finally:
            self._callers.discard(caller)
            self._end_when_idle()

    async def begin(self, film: Begin) -> None:
        await self._ask(film)

    async def play(self, step: Play) -> Played:
        return await self._ask(step)

    async def _ask(self, request: wire.Request) -> Played:
        if isinstance(request, Begin) and self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", MODULE, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
        try:
            body = await asyncio.wait_for(self._exchange(request), REPLY_S)
        except TimeoutError:
            await self._kill()
            raise WorldTimeout("this film takes too long to make") from None
        except BaseException:  # also if the caller is gone: the reply to its request must not reach the next one
            await self._kill()
            raise
        if body is None:
            await self._kill()
            raise WorldTimeout("the process that makes films has ended; try again")
        return wire.replies.decode(body)

    async def _exchange(self, request: wire.Request) -> bytes | None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(wire.packed(request))
            await process.stdin.drain()
            head = await process.stdout.readexactly(wire.LENGTH.size)
            return await process.stdout.readexactly(wire.LENGTH.unpack(head)[0])
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    # -- ending -----------------------------------------------------------------------------------
    def _end_when_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._end)

    def _end(self) -> None:
        if not self._callers:
            self._ending = asyncio.get_running_loop().create_task(self._kill())

    async def close(self) -> None:
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        await self._kill()
        if self._ending is not None:
            await self._ending


def error_of(played: Played) -> CohabitError:
    """The error that a reply has."""
    return by_code({"code": played.code, "message": played.message})
