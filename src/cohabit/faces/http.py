"""The HTTP interface: every command is a route.

    POST /api/rooms/{room}/{command}   arguments as a JSON object; accepts an Idempotency-Key header
    GET  /api/rooms/{room}/{command}   for commands that change nothing; arguments in the query string
    POST /api/{command}, GET /api/{command}   house commands, and commands of the room that the credential is bound to
    POST /api/join                     join a room, or wait in its lobby; needs no token
    GET  /api/join/challenge?room=     what an agent with a key signs
    GET  /.well-known/cohabit-key.json   the public key that invites are signed with

Replies are ``{"ok": true, "result": …}`` or ``{"ok": false, "error": {code, message, …}}``.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from cohabit.errors import BadArgs, CohabitError, TooLarge, UnknownCommand, internal_error
from cohabit.faces.guard import bearer, error_response
from cohabit.faces.metrics import metrics_for
from cohabit.faces.openapi import openapi
from cohabit.house.access.codes import LIFE_MS
from cohabit.house.access.gate import knock
from cohabit.house.calls.resolve import resolve
from cohabit.house.house import House
from cohabit.model.identity import Credential
from cohabit.version import __version__

MAX_JOIN_BODY = 16 * 1024
Handler = Callable[[Request], Awaitable[Response]]


def http_routes(house: House) -> list[Route]:
    """All routes of this interface."""

    async def call(request: Request) -> Response:
        credential = house.identify(bearer(request.headers))
        room = request.path_params.get("room")
        name = request.path_params["command"]
        if request.method != "POST":  # GET or HEAD
            args = _query_args(house, credential, room, name, request)
        else:
            args = _body_args(await request.body())
        key = request.headers.get("idempotency-key")
        result = await house.call(credential, room, name, args, key=key)
        return _json({"ok": True, "result": result})

    async def come_in(request: Request) -> Response:
        args = _body_args(await _short_body(request))
        return _json({"ok": True, "result": await knock(house.door, args, bearer(request.headers))})

    async def challenge(request: Request) -> Response:
        room = request.query_params.get("room", "")
        if not 0 < len(room) <= 64:
            raise BadArgs("room: say which room you want to join")
        return _json({"ok": True, "result": {"challenge": house.gate.challenges.issue(room), "life_ms": LIFE_MS}})

    async def public_key(request: Request) -> Response:
        return _json((await house.signing.load()).public_jwk)

    async def health(request: Request) -> Response:
        broken = len(house.rooms.problems)
        return _json({"ok": not broken, "version": __version__, "rooms": len(house.rooms), "broken_rooms": broken})

    async def metrics(request: Request) -> Response:
        return Response(metrics_for(house, request), media_type="text/plain; version=0.0.4")

    async def document(request: Request) -> Response:
        return _json(openapi(house.settings.url))

    async def not_found(request: Request) -> Response:
        raise UnknownCommand(f"no route for {request.url.path[:200]}; see /openapi.json")

    both = ["GET", "POST"]
    return [
        Route("/health", _answering(health)),
        Route("/metrics", _answering(metrics)),
        Route("/openapi.json", _answering(document)),
        Route("/.well-known/cohabit-key.json", _answering(public_key)),
        Route("/api/join", _answering(come_in), methods=["POST"]),
        Route("/api/join/challenge", _answering(challenge)),
        Route("/api/rooms/{room}/{command}", _answering(call), methods=both),
        Route("/api/{command}", _answering(call), methods=both),
        Route("/api/{rest:path}", _answering(not_found), methods=both),
    ]


def _answering(handler: Handler) -> Handler:
    """Convert errors to the standard error response."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except CohabitError as refusal:
            return error_response(refusal)
        except ClientDisconnect:  # while the body was read; nobody reads this response
            return Response(status_code=400)
        except Exception as bug:
            return error_response(internal_error(bug, request.url.path))

    return answer


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json", headers={"cache-control": "no-store"})


async def _short_body(request: Request) -> bytes:
    """The body of a request that needs no token, so it may be short only."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_JOIN_BODY:
            raise TooLarge(f"the body may have at most {MAX_JOIN_BODY} bytes")
    return body


def _body_args(body: bytes) -> Any:
    if not body:
        return {}
    try:
        args = msgspec.json.decode(body)
    except (ValueError, RecursionError) as wrong:  # malformed, not UTF-8, or nested too deeply
        raise BadArgs(f"the body is not JSON: {wrong}") from None
    if not isinstance(args, dict):
        raise BadArgs("the body must be a JSON object with the arguments")
    return args


def _query_args(house: House, credential: Credential, room: str | None, name: str, request: Request) -> dict[str, Any]:
    """Convert query parameters to the command's types."""
    command = resolve(house.services, credential, room, name).command
    if command.records:
        raise BadArgs(f"{name} changes state; use POST")
    return command.check_text(dict(request.query_params))
