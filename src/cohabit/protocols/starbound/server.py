"""The bridge over HTTP, for adapters on one side and the game on the other.

    GET  /status                        {"status": "running", "connected": true}
    POST /observe, /act, /reset         {"player_id", "action", "parameters"}: answered when the game has answered
    GET, POST /inventory, /quests, /world   from the last observation
    GET  /poll?wait=SECONDS&player_id=  the game asks for a command: {} if there is none; end=1 ends its open poll
    POST /result                        {"id", "result"}: the game answers a command

Every request but ``/status`` needs the token: ``Authorization: Bearer``, ``X-Cohabit-Token`` or ``?token=``. Without it
any program of this machine could play. A page in a browser could not: its Origin is refused.
"""

import asyncio
import socket
from collections.abc import Coroutine
from hmac import compare_digest
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import request_response
from starlette.types import ASGIApp

from cohabit import errors
from cohabit.faces.connections import Connections
from cohabit.faces.guard import Guard, answering, bearer
from cohabit.faces.serve import guest_server
from cohabit.house.clock import Clock
from cohabit.house.overload import OverloadLog
from cohabit.house.settings import Settings
from cohabit.protocols.starbound.bridge import MAX_WAIT_MS, TIMED_OUT, Bridge, complete
from cohabit.protocols.starbound.wire import DEFAULT_PLAYER, MAX_BODY, Kind, checked_player, read_json, read_request

DEFAULT_PORT = 9999
T = TypeVar("T")
LOOPBACK = "127.0.0.1"
MAX_DISCARDED = 64 * 1024 * 1024
"""The bytes of a too large body that are read before the refusal: a client that is still sending would not read it."""
VIEWS = {
    "/inventory": ("inventory",),
    "/quests": ("quests",),
    "/world": ("world_name", "location_description", "position", "time_of_day", "nearby_terrain"),
}
"""Fields of the last observation, by path."""


def bridge_app(bridge: Bridge, token: str | None, settings: Settings) -> ASGIApp:
    """The bridge as an ASGI app, behind the same guard as every interface. ``token``: None for an open bridge."""
    limits = msgspec.structs.replace(settings, body_limit=max(MAX_DISCARDED, MAX_BODY))
    return Guard(request_response(answering(BridgeApp(bridge, token).handle, _refused)), limits)


class BridgeApp:
    """See the module."""

    def __init__(self, bridge: Bridge, token: str | None) -> None:
        self._bridge = bridge
        self._token = token

    async def handle(self, request: Request) -> Response:
        return _response(await self._answer(request))

    async def _answer(self, request: Request) -> dict[str, Any]:
        path = request.scope["path"]
        body = await _body(request)
        if (request.method, path) == ("GET", "/status"):
            return {"status": "running", "connected": self._bridge.is_connected()}
        self._check_token(request)
        match request.method, path:
            case "POST", "/observe" | "/reset":
                asked = read_request(body)
                kind: Kind = "observe" if path == "/observe" else "reset"
                return await _unless_gone(request, self._bridge.request(kind, asked.player_id))
            case "POST", "/act":
                asked = read_request(body)
                if not asked.action:
                    raise errors.BadArgs("action: the name of an action is missing")
                acting = self._bridge.request("act", asked.player_id, asked.action, asked.parameters)
                return await _unless_gone(request, acting)
            case "GET" | "POST", "/inventory" | "/quests" | "/world":
                player = read_request(body).player_id if body else request.query_params.get("player_id")
                view = await _unless_gone(request, self._view(checked_player(player or DEFAULT_PLAYER)))
                return {name: view.get(name) for name in VIEWS[path]}
            case "GET", "/poll":
                return await self._poll(request)
            case "POST", "/result":
                return self._result(read_json(body))
            case method, unknown:
                raise errors.UnknownCommand(f"there is no {method} {unknown[:200]}")

    async def _view(self, player: str) -> dict[str, Any]:
        last = self._bridge.last_view(player)
        if last is None:
            return await self._bridge.request("observe", player)
        return complete(last)

    async def _poll(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        player = checked_player(query["player_id"]) if query.get("player_id") else None
        if query.get("end"):
            self._bridge.end_poll(player)
            return {}
        polling = self._bridge.poll(
            player, _wait_ms(query.get("wait")), query.get("name", ""), query.get("version", "")
        )
        command = await _unless_gone(request, polling)
        plain: dict[str, Any] = msgspec.to_builtins(command) if command is not None else {}
        return plain

    def _result(self, said: dict[str, Any]) -> dict[str, Any]:
        id_ = said.get("id")
        if not isinstance(id_, str) or not id_:
            raise errors.BadArgs("id: the id of the command is missing")
        self._bridge.result(id_, said.get("result"))
        return {"ok": True}

    def _check_token(self, request: Request) -> None:
        if self._token is None:
            return
        headers = request.headers
        given = bearer(headers) or headers.get("x-cohabit-token") or request.query_params.get("token") or ""
        if not compare_digest(given.encode(), self._token.encode()):
            raise errors.Unauthorized("the token of the bridge is missing or wrong; `cohabit starbound` prints it")


def error_reply(wrong: errors.CohabitError) -> dict[str, Any]:
    """An error on the wire. A command that was not answered in time always has the same text in ``error``."""
    timed_out = wrong.message.startswith(TIMED_OUT)
    return {
        "ok": False,
        "error": TIMED_OUT if timed_out else wrong.message,
        "code": wrong.code,
        "detail": wrong.message,
    }


def _refused(error: errors.CohabitError) -> Response:
    """Errors of the game come with status 200, as on the published bridge; others with their own."""
    of_game = isinstance(error, errors.OutcomeUnknown | errors.Unreachable)
    return _response(error_reply(error), 200 if of_game else error.status)


def _response(body: dict[str, Any], status: int = 200) -> Response:
    headers = {"cache-control": "no-store"}
    return Response(msgspec.json.encode(body), status, headers, "application/json; charset=utf-8")


def _wait_ms(given: str | None) -> int:
    try:
        wait = float(given or 0)
    except ValueError:
        raise errors.BadArgs("wait: a number of seconds") from None
    if not 0 <= wait < 3600:  # also not a number
        raise errors.BadArgs("wait: from 0 to 3600 seconds")
    return min(int(wait * 1000), MAX_WAIT_MS)


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for part in request.stream():
        if len(content) <= MAX_BODY:
            content += part
    if len(content) > MAX_BODY:
        raise errors.TooLarge(f"a request may have at most {MAX_BODY} bytes")
    return bytes(content)


async def _unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Await the work; cancel it if the client hangs up, so that a command goes to a poll that is still open."""
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        gone.cancel()
        working.cancel()
        await asyncio.wait({working, gone})


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# -- listening --------------------------------------------------------------------------------------
class BridgeServer:
    """Serves a bridge on a socket until it is closed."""

    def __init__(
        self, bridge: Bridge, token: str | None, listener: socket.socket, settings: Settings, clock: Clock
    ) -> None:
        self.bridge = bridge
        self.port: int = listener.getsockname()[1]
        self._listener = listener
        self._connections = Connections(settings, clock, OverloadLog(clock))
        self._server = guest_server(bridge_app(bridge, token, settings), self._connections)
        self._running: asyncio.Future[None] | None = None

    def start(self) -> None:
        """Begin to serve, in the running event loop."""
        self._running = asyncio.ensure_future(self._server.serve(sockets=[self._listener]))

    async def close(self) -> None:
        self.bridge.close()
        self._server.should_exit = True
        if self._running is not None:
            await self._running
        self._connections.close()
        self._listener.close()
