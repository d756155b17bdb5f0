"""The requests that are being answered, so that those that still wait when the server stops get an answer."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cohabit.client import ConnectionLost
from cohabit.errors import Busy, CohabitError
from cohabit.faces.guard import READS
from cohabit.faces.refusing import refusal

STOPPING = "this house is stopping"


class OpenRequests(set["asyncio.Task[None]"]):
    """The tasks of the HTTP requests of a server."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: set[asyncio.Task[None]] = set()

    def end(self) -> None:
        """The server waits no longer. A request without a response gets one that says so; a response that has begun is
        cut off."""
        self.ended |= self
        for request in self:
            request.cancel()


class Answered:
    """ASGI middleware that answers the requests that ``OpenRequests.end`` has ended."""

    def __init__(self, app: ASGIApp, requests: OpenRequests) -> None:
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, requests, has_begun = asyncio.current_task(), self._requests, False
        assert request is not None

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        requests.add(request)
        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if request not in requests.ended or request.uncancel():
                raise
            if not has_begun:
                await refusal(_error(scope["method"]), scope["path"])(scope, receive, send)
        finally:
            requests.discard(request)
            requests.ended.discard(request)


def _error(method: str) -> CohabitError:
    return Busy(STOPPING, retry_after_s=1) if method in READS else ConnectionLost(STOPPING)
