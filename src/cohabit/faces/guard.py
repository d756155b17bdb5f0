"""Middleware that checks the Host, the Origin and the body size of every request.

To prevent DNS rebinding, the Host must be allowed, and so must the Origin if there is one.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cohabit.errors import CohabitError, PermissionDenied, TooLarge, internal_error
from cohabit.faces.addresses import ALL_INTERFACES, LOOPBACK, is_address
from cohabit.house.settings import Settings, split_names

READS: Final = ("GET", "HEAD", "OPTIONS")
"""The methods of requests that change nothing."""
Handler = Callable[[Request], Awaitable[Response]]
Refused = Callable[[CohabitError], Response]


def error_response(error: CohabitError, status: int | None = None) -> Response:
    """The HTTP response of an error, with its own status unless another one is given."""
    headers = {"www-authenticate": 'Bearer realm="cohabit"'} if error.status == 401 else {}
    if isinstance(seconds := error.details.get("retry_after_s"), int):
        headers["retry-after"] = str(seconds)
    body = msgspec.json.encode({"ok": False, "error": error.as_wire()})
    return Response(body, status or error.status, headers, "application/json")


def answering(handler: Handler, refused: Refused = error_response) -> Handler:
    """A handler whose errors become responses."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except CohabitError as refusal:
            return refused(refusal)
        except ClientDisconnect:  # while the body was read; nobody reads this response
            return Response(status_code=400)
        except Exception as bug:
            return refused(internal_error(bug, request.url.path))

    return answer


class Guard:
    """ASGI middleware that refuses requests with a wrong Host or Origin, or too large a body. ``refused`` makes the
    response of an error: other protocols have other formats."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        stopping: Callable[[], None] = lambda: None,
        refused: Refused = error_response,
    ) -> None:
        self.app = app
        self.stopping = stopping
        self._refused = refused
        self._hosts = {*LOOPBACK, settings.host, *split_names(settings.allowed_hosts)}
        if settings.public_url:
            self._hosts.add(_hostname(settings.public_url))
        self._hosts.discard("")  # never match an empty host
        self._all_interfaces = settings.host in ALL_INTERFACES
        self._origins = set(split_names(settings.allowed_origins))
        self._body_limit = settings.body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(dict(scope["headers"]))  # not kept in a variable: a WebSocket stays in this call
        if refusal is None:
            limited = receive if scope["type"] == "websocket" else self._limited(receive)
            await self.app(scope, limited, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": refusal.message[:120]})
        else:
            await self._refused(refusal)(scope, receive, send)

    def _refusal(self, headers: dict[bytes, bytes]) -> CohabitError | None:
        host = _hostname("//" + headers.get(b"host", b"").decode("latin-1"))
        # DNS rebinding needs a name, so any address will do for a house that listens on all of them.
        if host not in self._hosts and not (self._all_interfaces and is_address(host)):
            return PermissionDenied("this Host is not allowed; add it to the allowed_hosts setting")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin not in self._origins and _hostname(origin) not in (host, *self._hosts):
            return PermissionDenied("this Origin is not allowed; add it to the allowed_origins setting")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._body_limit:
            return TooLarge(f"a request body may have at most {self._body_limit} bytes")
        return None

    def _limited(self, receive: Receive) -> Receive:
        seen = 0

        async def limited() -> Any:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._body_limit:
                raise TooLarge(f"a request body may have at most {self._body_limit} bytes")
            return message

        return limited


def _hostname(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # malformed
        return ""


def bearer(headers: Any) -> str | None:
    """The token of a request: ``Authorization: Bearer``."""
    kind, _, token = (headers.get("authorization") or "").partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None
