"""Requests to other nodes, and the answers to those of other nodes.

A call of a node in the name of a caller (`CALL`) has the hash of its token, not the token. For an access token of an
identity provider it also has what this node has verified of it, because the other may not have seen it. Only the Unix
sockets of the house take such calls, and connections of other houses, and only with a secret that all nodes know.
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
from cohabit.faces.workers.dialing import Dialer
from cohabit.faces.workers.exchange import NodeGone, NodeLost, Pool
from cohabit.house.calls.across import IS_PART, QUESTIONS
from cohabit.house.directory import Directory
from cohabit.house.house import House
from cohabit.model.identity import Credential

CALL: Final = "/node/call"
ASK: Final = "/node/ask"
WORD: Final = b"x-cohabit-node"
"""The header that proves that a call comes from a node. A request that a client could slip into a connection between
nodes would not have it."""
RETRY_S: Final = 1


def away(room: str) -> Busy:
    """The room is not open in any node at the moment."""
    return Busy(f"room {room[:64]} is moving to another process; try again in a second", retry_after_s=RETRY_S)


def gone() -> Busy:
    """A node could not be reached, so nothing was done."""
    return Busy("the process of this room has stopped; try again soon", retry_after_s=RETRY_S)


def lost(*, repeatable: bool) -> CohabitError:
    """A node has ended after a request was sent. BUSY says that nothing was done: that is sure only of what reads."""
    return gone() if repeatable else ConnectionLost("the process of this room has stopped")


class Peers:
    """A pool of connections to each node. Implements `Nodes`. ``key``: of the houses."""

    def __init__(self, directory: Directory, key: str = "") -> None:
        self.directory = directory
        self.dialer = Dialer(key)
        self._pools: dict[str, Pool] = {}  # by address

    def pool(self, node: str) -> Pool:
        address = self.directory.socket_of(node)
        if address not in self._pools:
            self._pools[address] = Pool(self.dialer, address)
        return self._pools[address]

    def drop(self, address: str) -> None:
        """No node has this address any more: what is under way there ends now."""
        if (pool := self._pools.pop(address, None)) is not None:
            pool.close()
        self.dialer.drop(address)

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
        if credential.oauth:
            said["access_token"] = msgspec.json.encode(credential).decode()
        query = {name: value for name, value in said.items() if value is not None}
        return await self._reply(node, CALL, query, args, repeatable)

    async def ask(self, node: str, question: str, args: Mapping[str, Any], *, repeatable: bool = True) -> Any:
        """See `Nodes`."""
        return await self._reply(node, ASK, {"question": question}, args, repeatable)

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
            length = str(len(content)).encode()
            headers = [(b"host", b"localhost"), (WORD, self.directory.word.encode()), (b"content-length", length)]
            exchange.begin("POST", target, headers)
            await exchange.write(content)
            exchange.sent()
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
    if "access_token" in said:
        house.identities.accept(msgspec.json.decode(said["access_token"], type=Credential), house.clock.now())
    credential = house.identities.with_hash(bytes.fromhex(said["credential"]), house.clock.now(), command)
    IS_PART.set("part" in said)
    args = body_args(await request.body())
    body = await house.call(credential, said.get("room"), command, args, key=said.get("key"), deliver=into_body)
    return Response(body, media_type="application/json")
