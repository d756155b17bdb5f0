"""The bridge wire: what clients of WorldBox's own bridge speak, such as the program `worldbox-mcp`.

    GET  /health         the command `health`
    POST /cmd            {"name": …, "args": {…}}, a command of the room
    GET  /capabilities   every command of the room, without an envelope

The room is the one that the credential is bound to. What is asked walks the path of every face; only the
shapes are this wire's own, and two habits of the game's bridge: arguments that a command does not know are
dropped, and who is out of turn *and* lacks the permission is told of the turn. `docs/worldbox.md` has more.
"""

import logging
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cohabit.errors import CohabitError, Disabled, Internal, PermissionDenied, TooLarge, UnknownCommand
from cohabit.faces.bridge_wire import Asked, listing, read_command, refused, without_nulls
from cohabit.faces.guard import Guard, bearer
from cohabit.house.house import HOUSE_COMMANDS, House
from cohabit.house.rooms import RoomHost
from cohabit.house.store.contract import Credential
from cohabit.room.commands import Command
from cohabit.room.common import utc
from cohabit.room.decide import by_turn, refusal
from cohabit.room.room import Room

log = logging.getLogger("cohabit")
HEADER_LIMIT = 16 * 1024
"""What the headers of a request may come to, in bytes."""
PATIENCE = 64 * 1024 * 1024
"""How much of a body that nobody wants is listened to, in bytes."""
HEADERS = [
    (b"content-type", b"application/json; charset=utf-8"),
    (b"connection", b"close"),
    (b"cache-control", b"no-store"),
]


def bridge_app(house: House) -> ASGIApp:
    """The wire as an ASGI app of its own. The guard before it is the one of every face."""
    return Polite(Guard(Bridge(house), house.settings))


class Polite:
    """Hears a request to its end before it answers, for who still sends would not hear a refusal; and gives
    every answer the headers of this wire, also those of the guard: one request, one connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        heard, more = 0, True

        async def hear() -> Message:
            nonlocal heard, more
            message = await receive()
            heard += len(message.get("body", b""))
            more = message.get("more_body", False)
            return message

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                while more and heard < PATIENCE:
                    await hear()
                length = [header for header in message["headers"] if header[0] == b"content-length"]
                message = {**message, "headers": [*length, *HEADERS]}
            await send(message)

        await self._app(scope, hear, answer)


class Bridge:
    """See the module."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Asked()
        status = 200
        try:
            answer = await self._answer(Request(scope, receive), asked)
        except ClientDisconnect:
            return
        except CohabitError as wrong:
            status, answer = wrong.status, refused(wrong, asked)
        except Exception as bug:
            log.exception("a bug of ours at %s", scope["path"])
            told = Internal(f"a bug of ours ({type(bug).__name__}); it was logged")
            status, answer = told.status, refused(told, asked)
        body = without_nulls(answer)
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [length]})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, request: Request, asked: Asked) -> dict[str, Any]:
        """Disabled, then who, then where to, then what: the order in which the game's bridge looks."""
        if sum(len(name) + len(value) for name, value in request.headers.raw) > HEADER_LIMIT:
            raise TooLarge(f"the headers of a request may have {HEADER_LIMIT} bytes")
        if self._house.closing:
            raise Disabled("the house is closing; connect again when it is back")
        credential = self._house.identify(bearer(request.headers))
        host = self._room_of(credential)
        match request.method, request.scope["path"]:
            case "GET", "/capabilities":
                host.time.heard_of(credential.who)
                return listing(host.room)
            case "GET", "/health":
                asked.name = "health"
            case "POST", "/cmd":
                read_command(await request.body(), asked)
            case method, path:
                raise UnknownCommand(f"there is nothing for {method} at {path[:200]}; ask /health, /cmd, /capabilities")
        return await self._run(credential, host, asked)

    def _room_of(self, credential: Credential) -> RoomHost:
        host = self._house.room_for(credential, None)
        if not host.room.world.spec.bridge:
            raise UnknownCommand(f"room {host.room.id} plays {host.room.state.world}, which is not for this bridge")
        return host

    async def _run(self, credential: Credential, host: RoomHost, asked: Asked) -> dict[str, Any]:
        room = host.room
        command = HOUSE_COMMANDS.get(asked.name) or room.commands.get(asked.name)
        known = command.schema.get("properties", {}) if command is not None else {}
        args = {name: value for name, value in asked.args.items() if name in known}
        try:  # an unknown command goes in too: the room refuses it, and puts that in its audit
            result = await self._house.call(credential, room.id, asked.name, args)
        except PermissionDenied as denied:
            raise _out_of_turn(room, credential, command) or denied from None
        if asked.name == "session_info":
            result = _with_last_seen(result, host)
        return {"ok": True, "result": result, "tick": room.state.tick}


def _out_of_turn(room: Room, credential: Credential, command: Command | None) -> CohabitError | None:
    """Where it is not this member's turn either, that is what this wire says."""
    member = room.state.members.get(credential.who)
    if member is None or command is None:
        return None
    decision = by_turn(room.state, member, command, None, False)
    return None if decision else refusal(decision)


def _with_last_seen(info: Any, host: RoomHost) -> dict[str, Any]:
    """When each of the agents was last heard of: the house knows that, the room has no clock."""
    plain: dict[str, Any] = msgspec.to_builtins(info)
    for agent in plain["agents"]:
        heard = host.time.last_heard(agent["id"])
        if heard is not None:
            agent["last_seen_utc"] = utc(heard)
    return plain
