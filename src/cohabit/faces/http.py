"""The HTTP interface: every command is a route.

    POST /api/rooms/{room}/{command}   arguments as a JSON object; accepts an Idempotency-Key header
    GET  /api/rooms/{room}/{command}   for commands that change nothing; arguments in the query string
    POST /api/{command}, GET /api/{command}   house commands, and commands of the room that the credential is bound to
    POST /api/join                     join a room, or wait in its lobby; needs no token
    GET  /api/join/challenge?room=     what an agent with a key signs
    GET  /.well-known/cohabit-key.json   the public key that invites are signed with

Replies are ``{"ok": true, "result": …}`` or ``{"ok": false, "error": {code, message, …}}``.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cohabit.errors import BadArgs, CohabitError, TooLarge, UnknownCommand
from cohabit.faces.addresses import network_of
from cohabit.faces.guard import answering, bearer
from cohabit.faces.metrics import answered, metrics_for, numbers_by_worker, unanswered
from cohabit.faces.openapi import openapi
from cohabit.house.access.codes import LIFE_MS
from cohabit.house.access.strangers import knock
from cohabit.house.calls.door import drop, reply_to
from cohabit.house.calls.resolve import resolve
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.running.egress import error_size
from cohabit.model.identity import Credential
from cohabit.version import __version__

NO_STORE = {"cache-control": "no-store"}
MAX_JOIN_BODY = 16 * 1024
"""It needs no token."""


def http_routes(house: House) -> list[Route]:
    """All routes of this interface."""

    async def call(request: Request) -> Response:
        room = request.path_params.get("room")
        name = request.path_params["command"]
        token = bearer(request.headers)
        await house.sign_in(token)
        credential = house.identify(token, name)
        key, has_body = request.headers.get("idempotency-key"), request.method != "HEAD"
        try:
            if request.method != "POST":  # GET or HEAD
                args = _query_args(house, credential, room, name, request)
            else:
                args = body_args(await request.body())
        except CohabitError as wrong:
            house.door.sends(credential, room, "refusals", error_size(wrong) if has_body else 0)
            raise
        deliver = into_body if has_body else _not_sent
        begun = house.door.begin(credential, room, name, args, key, deliver)
        with _while_connected(request, begun):
            body = await reply_to(begun)
        return Response(body, media_type="application/json", headers=NO_STORE)

    async def come_in(request: Request) -> Response:
        args = body_args(await short_body(request, MAX_JOIN_BODY))
        address = network_of(request.client.host) if request.client is not None else ""
        token = bearer(request.headers)
        await house.sign_in(token)
        body = await knock(house.door, args, token, address, into_body)
        return Response(body, media_type="application/json", headers=NO_STORE)

    async def challenge(request: Request) -> Response:
        room = request.query_params.get("room", "")
        if not 0 < len(room) <= 64:
            raise BadArgs("room: say which room you want to join")
        return _json({"ok": True, "result": {"challenge": house.gate.challenges.issue(room), "life_ms": LIFE_MS}})

    async def public_key(request: Request) -> Response:
        return _json((await house.signing.load()).public_jwk)

    async def health(request: Request) -> Response:
        parts = await numbers_by_worker(house)
        total, late = answered(parts), unanswered(parts)
        workers = len(parts) - 1 - len(late)
        counts = {"rooms": None, "broken_rooms": None} if late else {"rooms": total.rooms, "broken_rooms": total.broken}
        said = {"ok": not total.broken, "version": __version__, **counts}
        of_workers = {"workers": workers, **({"unanswered": late} if late else {})} if len(parts) > 1 else {}
        return _json({**said, **of_workers})

    async def ready(request: Request) -> Response:
        reasons, workers = house.readiness.reasons(), house.readiness.workers()
        said = {"ready": not reasons, "reasons": reasons, **({"workers": workers} if workers else {})}
        return _json(said, 503 if reasons else 200)

    async def metrics(request: Request) -> Response:
        return Response(await metrics_for(house, request), media_type="text/plain; version=0.0.4")

    async def document(request: Request) -> Response:
        return _json(openapi(house.settings.url))

    async def not_found(request: Request) -> Response:
        raise UnknownCommand(f"no route for {request.url.path[:200]}; see /openapi.json")

    both = ["GET", "POST"]
    return [
        Route("/health", answering(health)),
        Route("/ready", answering(ready)),
        Route("/metrics", answering(metrics)),
        Route("/openapi.json", answering(document)),
        Route("/.well-known/cohabit-key.json", answering(public_key)),
        Route("/api/join", answering(come_in), methods=["POST"]),
        Route("/api/join/challenge", answering(challenge)),
        Route("/api/rooms/{room}/{command}", answering(call), methods=both),
        Route("/api/{command}", answering(call), methods=both),
        Route("/api/{rest:path}", answering(not_found), methods=both),
    ]


@contextmanager
def _while_connected(request: Request, call: Call) -> Iterator[None]:
    """A call that only waits ends when its client has disconnected."""
    if call.done or call.stop_waiting is None:
        yield
        return
    listening = asyncio.ensure_future(_drop_when_gone(request, call))
    try:
        yield
    finally:
        listening.cancel()


async def _drop_when_gone(request: Request, call: Call) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    drop(call)


def into_body(call: Call) -> int:
    """Make the result of a call the body of its response. The body of a refusal is made from the error."""
    if call.error is not None:
        return error_size(call.error)
    call.result = body = msgspec.json.encode({"ok": True, "result": call.result})
    return len(body)


def _not_sent(call: Call) -> int:
    """The response to HEAD has no body."""
    into_body(call)
    return 0


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json", headers=NO_STORE)


async def short_body(request: Request, limit: int) -> bytes:
    """The body of a request that may be short only."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise TooLarge(f"the body may have at most {limit} bytes")
    return body


def decoded(body: bytes) -> Any:
    """The JSON of a body; None if it is empty."""
    try:
        return msgspec.json.decode(body) if body else None
    except (ValueError, RecursionError) as wrong:  # malformed, not UTF-8, or nested too deeply
        raise BadArgs(f"the body is not JSON: {wrong}") from None


def body_args(body: bytes) -> Any:
    """The arguments of a call in the body of a request."""
    args = decoded(body) if body else {}
    if not isinstance(args, dict):
        raise BadArgs("the body must be a JSON object with the arguments")
    return args


def _query_args(house: House, credential: Credential, room: str | None, name: str, request: Request) -> dict[str, Any]:
    """Convert query parameters to the command's types."""
    command = resolve(house.services, credential, room, name).command
    if command.records:
        raise BadArgs(f"{name} changes state; use POST")
    return command.check_text(dict(request.query_params))
