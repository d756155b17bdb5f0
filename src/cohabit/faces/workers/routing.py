"""Finds the room of a request from its head alone: its path and its token."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qs

from starlette.types import Scope

from cohabit.faces.addresses import plain_address
from cohabit.house.access.jwt_verifier import is_jwt
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.store.identities import Identities

IN_BODY: Final = "?"
"""Instead of a room: the body names it."""
BEARER: Final = "bearer."
"""The beginning of a WebSocket subprotocol that is a token."""
OF_A_NODE: Final = ("", None)
"""The address of the server in requests of nodes of other houses."""
SAID_BY_NODES: Final = frozenset({b"x-forwarded-for", b"x-forwarded-proto"})
"""Headers with which a node says who the client is."""
Headers = Iterable[tuple[bytes, bytes]]


def is_relayed(scope: Scope) -> bool:
    """True if another node sent this request. Only nodes can connect to a Unix socket of the house; connections of
    other houses, which have the key, are marked as if they came from there."""
    server = scope.get("server")
    return server is not None and server[1] is None


def as_from_client(scope: Scope) -> None:
    """Take the address of the client from what the other node says. The request is then as its client sent it."""
    said = dict(scope["headers"])
    if address := said.get(b"x-forwarded-for", b"").decode("latin-1"):
        scope["client"] = plain_address(address), 0
    if scheme := said.get(b"x-forwarded-proto", b"").decode("latin-1"):
        scope["scheme"] = scheme
    scope["headers"] = [header for header in scope["headers"] if header[0] not in SAID_BY_NODES]


def token_of(headers: Headers) -> str | None:
    """The token of a request, in a header or among the offered subprotocols."""
    offered = None
    for name, value in headers:
        if name == b"authorization":
            kind, _, token = value.decode("latin-1").partition(" ")
            if kind.lower() == "bearer" and token.strip():
                return token.strip()
        elif name == b"sec-websocket-protocol":
            words = [word.strip() for word in value.decode("latin-1").split(",")]
            offered = next((word.removeprefix(BEARER) for word in words if word.startswith(BEARER)), offered)
    return offered


def room_of(identities: Identities, path: str, query: bytes, token: str | None) -> str | None:
    """The room; the house record for requests that name none; None if any node can answer.

    A token for one room leads to that room, whatever the path says: the node that has it refuses what is not allowed.
    An access token of an identity provider is for no room in particular, also if this node has not verified it yet.
    """
    credential = identities.find(token) if token else None
    bound = credential.room if credential is not None else None
    match path.split("/"):
        case ["", "api", "rooms", room, _]:
            return bound or room
        case ["", "api", "join", "challenge"]:
            return parse_qs(query.decode("latin-1")).get("room", [None])[-1]
        case ["", "api", "join"]:
            return bound or IN_BODY
        case ["", "mcp", room]:
            return bound or room
        case ["", "api", _] | ["", "mcp"] | ["", "ws"] if credential is not None or is_jwt(token or ""):
            return bound or HOUSE_RECORD
    return None
