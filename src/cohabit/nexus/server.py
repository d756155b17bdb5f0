"""The port of the Nexus: HTTP for clients that were written from one of its three descriptions. See ``rest``."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import request_response
from starlette.types import ASGIApp

from cohabit import errors
from cohabit.faces.addresses import network_of
from cohabit.faces.cli.say import clean, paint
from cohabit.faces.guard import Guard, answering, bearer
from cohabit.faces.http import decoded, short_body
from cohabit.faces.serve import LOOPBACK, SideServer
from cohabit.house.calls.shaped import Shaped
from cohabit.house.house import House
from cohabit.house.running.runner import RoomRunner
from cohabit.nexus.dialects import Json, refused_json
from cohabit.nexus.rest import Asked, MethodNotAllowed, answer, nexus_room

MAX_BODY = 64 * 1024
CASES = ("", "camel", "snake")
STATUS: dict[type[errors.CohabitError], int] = {
    errors.GameRejected: 409, errors.UnknownAsset: 404, errors.Busy: 429, MethodNotAllowed: 405,
}  # fmt: skip
"""The statuses of errors that have another meaning in this protocol than elsewhere."""


# -- listening --------------------------------------------------------------------------------------
class NexusServer(SideServer):
    """Serves the Nexus of a house on its own port, if the house has one when it begins to serve."""

    @classmethod
    def open(cls, house: House) -> "NexusServer | None":
        """The server; None if it is switched off."""
        port = house.settings.nexus_port
        return cls(house, nexus_app(house), port, "--nexus-port") if port else None

    def connect_lines(self, runners: Iterable[RoomRunner], tokens: Mapping[str, str]) -> Iterator[str]:
        """The text about connecting to the Nexus, if it is among these rooms."""
        nexus = next((runner for runner in runners if runner.id == nexus_room(self.house)), None)
        if nexus is None:
            return
        if self._problem:
            yield f"Clients of the Nexus cannot connect: {self._problem}"
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

    @property
    def wanted(self) -> bool:
        return nexus_room(self.house) is not None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        if self.wanted:
            self.listen()
        async with super().serving():
            yield


# -- the app ----------------------------------------------------------------------------------------
def nexus_app(house: House) -> ASGIApp:
    """The routes of the Nexus as an ASGI app, behind the same guard as every interface."""

    async def handle(request: Request) -> Response:
        sent = Shaped(house.door.account_with(bearer(request.headers), nexus_room(house)))

        async def handled(request: Request) -> Response:
            if house.rooms.closing:
                raise errors.Disabled("the server is shutting down; reconnect later")
            return _response(*await answer(house, await _read(request, sent)))

        return sent.response(await answering(handled, _refused)(request))

    return Guard(request_response(handle), house.settings, refused=_refused)


async def _read(request: Request, sent: Shaped) -> Asked:
    path = tuple(part for part in request.scope["path"].split("/") if part)
    case = parse_qs(request.scope["query_string"].decode("latin-1")).get("case", [""])[0]
    if case not in CASES:
        raise errors.BadArgs(f"case: camel or snake, not {case[:40]!r}")
    body = decoded(await short_body(request, MAX_BODY))
    address = network_of(request.client.host) if request.client is not None else ""
    key = request.headers.get("idempotency-key")
    return Asked(request.method, path, body, bearer(request.headers), case, key, address, sent)


def _refused(error: errors.CohabitError) -> Response:
    hints = {"did_you_mean": error.did_you_mean} if error.did_you_mean else {}
    allow = {"allow": error.details["allow"]} if isinstance(error, MethodNotAllowed) else {}
    body = {**refused_json(error.message), "code": error.code, **hints, **allow}
    return _response(STATUS.get(type(error), error.status), body)


def _response(status: int, body: Json) -> Response:
    headers = {"cache-control": "no-store"}
    if status == 401:
        headers["www-authenticate"] = 'Bearer realm="cohabit"'
    if status == 405:
        headers["allow"] = ", ".join(body["allow"])
    if status in (429, 503):
        headers["retry-after"] = "1"
    return Response(msgspec.json.encode(body), status, headers, "application/json; charset=utf-8")
