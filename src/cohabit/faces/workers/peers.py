"""Requests to other nodes, over their Unix sockets; and the answers to those of other nodes.

A call of a node in the name of a caller (`CALL`) has the hash of its token, not the token. Only the Unix sockets of the
house take such calls; a process that can connect to one can read the store of the house as well.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import httpx2
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from cohabit.client import ConnectionLost
from cohabit.errors import Busy, CohabitError, Internal, by_code
from cohabit.faces.http import body_args, into_body
from cohabit.house.calls.across import IS_PART, QUESTIONS
from cohabit.house.directory import Directory
from cohabit.house.house import House
from cohabit.model.identity import Credential

CALL: Final = "/node/call"
ASK: Final = "/node/ask"
KEEP_S: Final = 3.0
"""How long an idle connection is kept: less than the other side does (uvicorn: 5 s), so none is used when it closes."""
RETRY_S: Final = 1
NO_TIMEOUT: Final = httpx2.Timeout(None).as_dict()
"""Streams may be silent for long. A node that hangs is killed, which ends its connections."""


def away(room: str) -> Busy:
    """The room is not open in any node at the moment."""
    return Busy(f"room {room[:64]} is being opened in another process; try again soon", retry_after_s=RETRY_S)


def gone() -> Busy:
    """A node could not be reached, so nothing was done."""
    return Busy("the process of this room has stopped; try again soon", retry_after_s=RETRY_S)


def lost(*, repeatable: bool) -> CohabitError:
    """A node has ended after a request was sent."""
    return gone() if repeatable else ConnectionLost("the process of this room has stopped")


class Peers:
    """A pool of connections to each node. Implements `Nodes`."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self._pools: dict[str, httpx2.AsyncHTTPTransport] = {}  # by the path of the socket

    async def send(self, node: str, request: httpx2.Request) -> httpx2.Response:
        """The beginning of the response. Its stream must be read or closed."""
        request.extensions["timeout"] = NO_TIMEOUT
        return await self._pool(node).handle_async_request(request)

    def _pool(self, node: str) -> httpx2.AsyncHTTPTransport:
        path = self.directory.socket_of(node)
        pool = self._pools.get(path)
        if pool is None:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=KEEP_S)
            pool = self._pools[path] = httpx2.AsyncHTTPTransport(uds=path, limits=limits, trust_env=False)
        return pool

    async def call(
        self,
        node: str,
        credential: Credential,
        room: str | None,
        command: str,
        args: Mapping[str, Any],
        key: str | None = None,
        *,
        part: bool = False,
        repeatable: bool = False,
    ) -> Any:
        """See `Nodes`."""
        said = {"credential": credential.hash.hex(), "room": room, "command": command, "key": key, "part": part or None}
        query = {name: value for name, value in said.items() if value is not None}
        return await self._reply(node, CALL, query, args, repeatable or key is not None)

    async def ask(self, node: str, question: str, args: Mapping[str, Any]) -> Any:
        """See `Nodes`."""
        return await self._reply(node, ASK, {"question": question}, args, repeatable=True)

    async def _reply(
        self, node: str, path: str, query: dict[str, Any], args: Mapping[str, Any], repeatable: bool
    ) -> Any:
        target = f"http://localhost{path}?{urlencode(query)}"
        request = httpx2.Request("POST", target, content=msgspec.json.encode(args))
        try:
            response = await self.send(node, request)
            body = await response.aread()
        except httpx2.ConnectError:
            raise gone() from None
        except httpx2.TransportError:
            raise lost(repeatable=repeatable) from None
        try:
            reply = msgspec.json.decode(body)
            if reply["ok"]:
                return reply["result"]
            refusal = by_code(reply["error"])
        except (LookupError, TypeError, ValueError):
            raise Internal("another process of this house sent a malformed reply") from None
        raise refusal

    async def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()


async def answer_node(house: House, request: Request) -> Response:
    """Answer another node."""
    said = {name: values[-1] for name, values in parse_qs(request.url.query).items()}
    if request.url.path == ASK:
        answer = await QUESTIONS[said["question"]](house.services, **body_args(await request.body()))
        return Response(msgspec.json.encode({"ok": True, "result": answer}), media_type="application/json")
    command = said["command"]
    credential = house.identities.with_hash(bytes.fromhex(said["credential"]), house.clock.now(), command)
    IS_PART.set("part" in said)
    args = body_args(await request.body())
    body = await house.call(credential, said.get("room"), command, args, key=said.get("key"), deliver=into_body)
    return Response(body, media_type="application/json")
