"""The wire protocol of the game's bridge, for its published clients such as `worldbox-mcp`.

    GET  /health         the command `health`
    POST /cmd            {"name": …, "args": {…}}, a command of the room
    GET  /capabilities   every command of the room, without an envelope

The room is the one that the credential is bound to. Calls take the same path as over every other interface. Only the
format differs, and two behaviours of the game's bridge are kept: unknown arguments are dropped, and a caller who is
out of turn *and* lacks the permission gets the error about the turn. `docs/worldbox.md` has more.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import request_response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cohabit import errors
from cohabit.faces.cli.say import clean, paint
from cohabit.faces.guard import Guard, answering
from cohabit.faces.serve import SideServer
from cohabit.house.calls.resolve import resolve
from cohabit.house.calls.shaped import Shaped
from cohabit.house.house import House
from cohabit.house.running.runner import RoomRunner
from cohabit.model.identity import Credential
from cohabit.protocols.worldbox import wire
from cohabit.protocols.worldbox.names import NAME
from cohabit.room.commands import Command
from cohabit.room.decide import by_turn_order
from cohabit.room.decision import refusal
from cohabit.room.state import Member

MAX_HEADERS = 16 * 1024
"""The limit for the headers of a request, in bytes."""
MAX_DISCARDED = 64 * 1024 * 1024
"""The part of the body of a refused request that is read before the refusal is sent, in bytes."""
HEADERS = [
    (b"content-type", b"application/json; charset=utf-8"),
    (b"connection", b"close"),
    (b"cache-control", b"no-store"),
]


# -- listening --------------------------------------------------------------------------------------
class BridgeServer(SideServer):
    """Serves the bridge protocol on its own port."""

    @classmethod
    def open(cls, house: House) -> "BridgeServer | None":
        """The server, already bound to its port. None if it is switched off."""
        if not house.settings.bridge_port:
            return None
        server = cls(house, bridge_app(house), house.settings.bridge_port, "--bridge-port")
        server.listen()
        return server

    def connect_lines(self, runners: Iterable[RoomRunner], tokens: Mapping[str, str]) -> Iterator[str]:
        """The text about connecting the game's client to these rooms, one process per agent."""
        if not any(map(_is_for_bridge, runners)):
            return
        if self._problem:
            yield f"Clients of the WorldBox bridge cannot connect: {self._problem}"
            yield ""
            return
        command = f"WORLDBOX_MCP_BRIDGE_PORT={self.port} WORLDBOX_MCP_TOKEN={{}} worldbox-mcp"
        if not tokens:
            yield f"For WorldBox clients: {command.format('…')}"
            return
        yield paint("bold", "The program worldbox-mcp, as")
        for handle, token in tokens.items():
            yield f"  {clean(handle):<12} {command.format(token)}"
        yield ""


def _is_for_bridge(runner: RoomRunner) -> bool:
    return any(feature.name == NAME for feature in runner.room.features.all)


# -- the app ----------------------------------------------------------------------------------------
def bridge_app(house: House) -> ASGIApp:
    """The bridge protocol as an ASGI app, behind the same guard as every interface."""
    return BridgeHeaders(Guard(request_response(BridgeApp(house).handle), house.settings))


class BridgeHeaders:
    """Reads the whole request before it is answered, because a client that is still sending would not read an
    error. Adds the headers of this protocol to each response: one request per connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        received, more = 0, True

        async def counted() -> Message:
            nonlocal received, more
            message = await receive()
            received += len(message.get("body", b""))
            more = message.get("more_body", False)
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                while more and received < MAX_DISCARDED:
                    await counted()
                length = [header for header in message["headers"] if header[0] == b"content-length"]
                message = {**message, "headers": [*length, *HEADERS]}
            await send(message)

        await self._app(scope, counted, with_headers)


class BridgeApp:
    """See the module."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def handle(self, request: Request) -> Response:
        asked = wire.BridgeRequest()
        sent = Shaped(self._house.door.account_with(wire.bearer(request.headers), None))

        async def handled(request: Request) -> Response:
            return Response(wire.encode(await self._answer(request, asked, sent)))

        def refused(error: errors.CohabitError) -> Response:
            return Response(wire.encode(wire.error_reply(error, asked)), error.status)

        return sent.response(await answering(handled, refused)(request))

    async def _answer(self, request: Request, asked: wire.BridgeRequest, sent: Shaped) -> dict[str, Any]:
        """Checks in the order of the game's bridge: disabled, credential, route, body."""
        if sum(len(name) + len(value) for name, value in request.headers.raw) > MAX_HEADERS:
            raise errors.TooLarge(f"the headers of a request may have {MAX_HEADERS} bytes")
        if self._house.rooms.closing:
            raise errors.Disabled("the server is shutting down; reconnect later")
        credential = self._house.identify(wire.bearer(request.headers))
        runner, member = self._room_of(credential)
        match request.method, request.scope["path"]:
            case "GET", "/capabilities":
                runner.time.mark_seen(member.id)
                runner.egress.of(member).check()
                return wire.capabilities_reply(runner)
            case "GET", "/health":
                asked.name = "health"
            case "POST", "/cmd":
                wire.read_command(await request.body(), asked)
            case method, path:
                raise errors.UnknownCommand(
                    f"there is no {method} {path[:200]}; the routes are /health, /cmd, /capabilities"
                )
        return await self._run(credential, runner, member, asked, sent)

    def _room_of(self, credential: Credential) -> tuple[RoomRunner, Member]:
        target = resolve(self._house.services, credential, None, "whoami")
        if not _is_for_bridge(target.runner):
            room = target.room
            raise errors.UnknownCommand(
                f"room {room.id} plays {room.state.world}, which clients of this bridge cannot play"
            )
        return target.runner, target.member

    async def _run(
        self, credential: Credential, runner: RoomRunner, member: Member, asked: wire.BridgeRequest, sent: Shaped
    ) -> dict[str, Any]:
        command = runner.commands.get(asked.name)
        known = command.schema.get("properties", {}) if command is not None else {}
        args = {name: value for name, value in asked.args.items() if name in known}
        try:  # also unknown commands: the house refuses and audits them
            result = await self._house.call(credential, runner.room.id, asked.name, args, deliver=sent.deliver)
        except errors.PermissionDenied as denied:
            raise _out_of_turn(runner, member, command) or denied from None
        if asked.name == "session_info":
            result = wire.with_last_seen(result, runner)
        return {"ok": True, "result": result, "tick": runner.room.state.tick}


def _out_of_turn(runner: RoomRunner, member: Member, command: Command | None) -> errors.CohabitError | None:
    """The refusal for a member who is out of turn, which this protocol checks before the permission."""
    if command is None:
        return None
    decision = by_turn_order(runner.room, member, command)
    return None if decision else refusal(decision)
