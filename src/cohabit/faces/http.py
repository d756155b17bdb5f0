"""The HTTP face: every command is a route.

    POST /api/rooms/{room}/{command}   arguments as a JSON object; Idempotency-Key is honoured
    GET  /api/rooms/{room}/{command}   for commands that change nothing; arguments in the query string
    POST /api/{command}, GET /api/{command}   commands of the house, and for credentials bound to a room

Answers are ``{"ok": true, "result": …}`` or ``{"ok": false, "error": {code, message, …}}``.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cohabit import __version__
from cohabit.errors import BadArgs, CohabitError, Internal, UnknownCommand
from cohabit.faces.guard import bearer, error_body
from cohabit.faces.metrics import metrics_text
from cohabit.faces.openapi import openapi
from cohabit.house.house import HOUSE_COMMANDS, House
from cohabit.room.commands import Command

log = logging.getLogger("cohabit")
Handler = Callable[[Request], Awaitable[Response]]


def http_routes(house: House) -> list[Route]:
    """Everything this face serves."""

    async def call(request: Request) -> Response:
        credential = house.identify(bearer(request.headers))
        room = request.path_params.get("room")
        name = request.path_params["command"]
        if request.method != "POST":  # GET, and HEAD with it
            args = _query_args(house, credential, room, name, request)
        else:
            args = _body_args(await request.body())
        key = request.headers.get("idempotency-key")
        result = await house.call(credential, room, name, args, key=key)
        return _json({"ok": True, "result": result})

    async def health(request: Request) -> Response:
        broken = len(house.broken) + sum(1 for h in house.rooms.values() if h.failure is not None)
        return _json({"ok": True, "version": __version__, "rooms": len(house.rooms), "broken_rooms": broken})

    async def metrics(request: Request) -> Response:
        return Response(metrics_text(house), media_type="text/plain; version=0.0.4")

    async def document(request: Request) -> Response:
        return _json(openapi(house.settings.url))

    async def not_found(request: Request) -> Response:
        raise UnknownCommand(f"there is nothing at {request.url.path[:200]}; the routes are in /openapi.json")

    both = ["GET", "POST"]
    return [
        Route("/health", _answering(health)),
        Route("/metrics", _answering(metrics)),
        Route("/openapi.json", _answering(document)),
        Route("/api/rooms/{room}/{command}", _answering(call), methods=both),
        Route("/api/{command}", _answering(call), methods=both),
        Route("/api/{rest:path}", _answering(not_found), methods=both),
    ]


def _answering(handler: Handler) -> Handler:
    """Turn whatever goes wrong into the one shape of an error."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except CohabitError as refusal:
            return _error(refusal)
        except Exception as bug:
            log.exception("a bug of ours at %s", request.url.path)
            return _error(Internal(f"a bug of ours ({type(bug).__name__}); it was logged"))

    return answer


def _error(refusal: CohabitError) -> Response:
    headers = {"www-authenticate": 'Bearer realm="cohabit"'} if refusal.status == 401 else None
    return Response(error_body(refusal), refusal.status, headers, "application/json")


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json", headers={"cache-control": "no-store"})


def _body_args(body: bytes) -> Any:
    if not body:
        return {}
    try:
        args = msgspec.json.decode(body)
    except (ValueError, RecursionError) as wrong:  # msgspec's own, bytes that are no UTF-8, too deep
        raise BadArgs(f"the body is not JSON: {wrong}") from None
    if not isinstance(args, dict):
        raise BadArgs("the body must be a JSON object with the arguments")
    return args


def _query_args(house: House, credential: Any, room: str | None, name: str, request: Request) -> dict[str, Any]:
    """Query parameters are text; the command's own types say what they mean."""
    command: Command | None = HOUSE_COMMANDS.get(name)
    if command is None:
        command = house.room_for(credential, room).room.commands.named(name)
    if command.records:
        raise BadArgs(f"{name} changes something: use POST")
    try:
        typed = msgspec.convert(dict(request.query_params), command.args_type, strict=False)
    except msgspec.ValidationError as wrong:
        raise BadArgs(f"{name}: {wrong}") from None
    return {n: getattr(typed, n) for n in typed.__struct_fields__}
