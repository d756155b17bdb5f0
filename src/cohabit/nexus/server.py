"""The port of the Nexus: HTTP for clients that were written from one of its three descriptions. See ``rest``."""

import socket
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from cohabit.errors import (
    BadArgs,
    Busy,
    CohabitError,
    Conflict,
    Disabled,
    GameRejected,
    TooLarge,
    UnknownAsset,
    internal_error,
)
from cohabit.faces.cli.say import clean, paint
from cohabit.faces.guard import Guard, bearer
from cohabit.faces.serve import listen, serving_beside
from cohabit.house.house import House
from cohabit.house.running.runner import RoomRunner
from cohabit.nexus.dialects import Json, refused_json
from cohabit.nexus.rest import Asked, MethodNotAllowed, answer, nexus_room

LOOPBACK = "127.0.0.1"
"""The only address to listen on: this protocol has no TLS, and every request contains a token."""
MAX_BODY = 64 * 1024
CASES = ("", "camel", "snake")
STATUS: dict[type[CohabitError], int] = {GameRejected: 409, UnknownAsset: 404, Busy: 429, MethodNotAllowed: 405}
"""Where the meaning of an error in this protocol has another status than elsewhere."""


# -- listening --------------------------------------------------------------------------------------
class NexusServer:
    """Serves the Nexus of a house on its own port, if the house has one when it begins to serve."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.port = house.settings.nexus_port
        self._listener: socket.socket | None = None
        self._problem = ""

    @classmethod
    def open(cls, house: House) -> "NexusServer | None":
        """The server; None if it is switched off."""
        return cls(house) if house.settings.nexus_port else None

    def connect_lines(self, runners: Iterable[RoomRunner], tokens: Mapping[str, str]) -> Iterator[str]:
        """How to connect to the Nexus, if it is among these rooms."""
        nexus = next((runner for runner in runners if runner.id == nexus_room(self.house)), None)
        if nexus is None:
            return
        if self._problem:
            yield f"Clients of the Nexus cannot connect: {self._problem}, or switch it off with 0"
            yield ""
            return
        url = f"http://{LOOPBACK}:{self.port}"
        if not tokens:
            yield f"For clients of the Nexus: {url} (with Authorization: Bearer …)"
            return
        yield paint("bold", "The Nexus over HTTP, as")
        seated = [member.handle for member in nexus.room.state.members.values() if member.seat is not None]
        for handle in seated or tokens:
            if (token := tokens.get(handle)) is None:
                continue
            yield f"  {clean(handle):<12} curl -H 'Authorization: Bearer {token}' {url}/nexus/{clean(handle)}"
        yield ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        if nexus_room(self.house) is not None:
            try:
                self._listener = listen(LOOPBACK, self.port, "--nexus-port")
            except Conflict as taken:
                self._problem = taken.message
        if self._listener is None:
            yield
            return
        async with serving_beside(self.house, nexus_app(self.house), self._listener):
            yield

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()


# -- the app ----------------------------------------------------------------------------------------
def nexus_app(house: House) -> ASGIApp:
    """The routes of the Nexus as an ASGI app, behind the same guard as every interface."""
    return NexusGuard(NexusApp(house), house.settings)


class NexusGuard(Guard):
    """The guard of every interface, with the errors of this protocol."""

    async def refuse(self, send: Send, refusal: CohabitError) -> None:
        await _send(send, *_refused(refusal))


class NexusApp:
    """See the module."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if self._house.rooms.closing:
                raise Disabled("the server is shutting down; reconnect later")
            status, body = await answer(self._house, await _read(Request(scope, receive)))
        except ClientDisconnect:
            return
        except CohabitError as refusal:
            status, body = _refused(refusal)
        except Exception as bug:
            status, body = _refused(internal_error(bug, scope["path"]))
        await _send(send, status, body)


async def _read(request: Request) -> Asked:
    path = tuple(part for part in request.scope["path"].split("/") if part)
    case = parse_qs(request.scope["query_string"].decode("latin-1")).get("case", [""])[0]
    if case not in CASES:
        raise BadArgs(f"case: camel or snake, not {case[:40]!r}")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise TooLarge(f"the body may have at most {MAX_BODY} bytes")
    key = request.headers.get("idempotency-key")
    return Asked(request.method, path, _decoded(body), bearer(request.headers), case, key)


def _decoded(body: bytes) -> Any:
    if not body:
        return None
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError) as wrong:  # malformed, not UTF-8, or nested too deeply
        raise BadArgs(f"the body is not JSON: {wrong}") from None


def _refused(error: CohabitError) -> tuple[int, Json]:
    hints = {"did_you_mean": error.did_you_mean} if error.did_you_mean else {}
    allow = {"allow": error.details["allow"]} if isinstance(error, MethodNotAllowed) else {}
    return STATUS.get(type(error), error.status), {**refused_json(error.message), "code": error.code, **hints, **allow}


async def _send(send: Send, status: int, body: Json) -> None:
    encoded = msgspec.json.encode(body)
    headers = [
        (b"content-type", b"application/json; charset=utf-8"),
        (b"content-length", str(len(encoded)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="cohabit"'))
    if status == 405:
        headers.append((b"allow", ", ".join(body["allow"]).encode()))
    if status in (429, 503):
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": encoded})
