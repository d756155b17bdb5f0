"""Requests to other nodes, over their Unix sockets; and the answers to those of other nodes.

A call of a node in the name of a caller (`CALL`) has the hash of its token, not the token. Only the Unix sockets of the
house take such calls; a process that can connect to one can read the store of the house as well.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from cohabit.client import ConnectionLost
from cohabit.errors import Busy, CohabitError, Internal, by_code
from cohabit.faces.http import body_args, into_body
from cohabit.faces.workers.exchange import NodeGone, NodeLost, Pool
from cohabit.house.calls.across import IS_PART, QUESTIONS
from cohabit.house.directory import Directory
from cohabit.house.house import House
from cohabit.model.identity import Credential

CALL: Final = "/node/call"
ASK: Final = "/node/ask"
RETRY_S: Final = 1


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
        self._pools: dict[str, Pool] = {}  # by the path of the socket

    def pool(self, node: str) -> Pool:
        path = self.directory.socket_of(node)
        if path not in self._pools:
            self._pools[path] = Pool(path)
        return self._pools[path]

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
        content, target = msgspec.json.encode(args), f"{path}?{urlencode(query)}"
        body = await self._post(node, target.encode(), content, repeatable)
        try:
            reply = msgspec.json.decode(body)
            if reply["ok"]:
                return reply["result"]
            refusal = by_code(reply["error"])
        except (LookupError, TypeError, ValueError):
            raise Internal("another process of this house sent a malformed reply") from None
        raise refusal

    async def _post(self, node: str, target: bytes, content: bytes, repeatable: bool) -> bytes:
        pool = self.pool(node)
        try:
            exchange = await pool.take()
        except NodeGone:
            raise gone() from None
        try:
            exchange.begin("POST", target, [(b"host", b"localhost"), (b"content-length", str(len(content)).encode())])
            await exchange.write(content)
            await exchange.head()
            return b"".join([part async for part, _ in exchange.parts()])
        except NodeLost:
            raise lost(repeatable=repeatable) from None
        finally:
            pool.give_back(exchange)

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


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
