"""What takes input from outside. Each target gets bytes and may refuse them with an error of Cohabit, nothing else.

A target that returns False was given something that it could not even try, such as bytes that are no text.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import msgspec

from cohabit.errors import CohabitError
from cohabit.faces.app import make_app
from cohabit.faces.ws import Request
from cohabit.house.access import signing
from cohabit.house.access.claims import parse_conditions, parse_roles
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.library import parse_name
from cohabit.model.action import ActionDef, ActionSpace, ParamDef
from cohabit.model.answers import AnswerProblem, parse_action
from cohabit.protocols.starbound import wire as starbound
from cohabit.protocols.worldbox import wire as worldbox
from cohabit.room.record import GENESIS, Snapshot, chained, read_lines
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock
from cohabit.workspace.formats.decisions import slug_of
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal

SPACE: Final = ActionSpace(
    [
        ActionDef("take", parameters=[ParamDef("n", type="integer", minimum=1, maximum=3)]),
        ActionDef("say", parameters=[ParamDef("text"), ParamDef("to", required=False)]),
    ]
)
SEEDS: Final[Mapping[str, list[bytes]]] = {
    "scenario": [b'{"scenario": "x", "world": "nim", "agents": [{"id": "ann", "role": "player", "claim": "auto:0"}]}'],
    "answer": [b'I take two. ```json\n{"action": "take", "params": {"n": 2}}\n```', b"take(n=2)", b"ACTION: take 2"],
    "record": [b'\x00{"seq":0,"at":1,"do":"opened","args":{}}', b'\x01{"seq":1,"at":2,"do":"take","by":"ann"}'],
    "journal": [b"# Journal\n\n## 2026-01-02 03:04 UTC | ann-agent\n\nDid it.\n\n- [ ] @bob look\n"],
    "inbox": [b"# Inbox\n\n## Open\n\n### ib-0001 | @bob | Look\n\nAdded 2026-01-02 by ann\n\n## Closed\n"],
    "starbound": [b'{"player_id": "p", "view": {"health": 1, "position": [1, 2]}, "events": []}'],
    "worldbox": [b'{"id": 1, "method": "get_world", "params": {}}'],
    "invite": [b"eyJrIjoiaW52aXRlIn0.AAAA"],
    "claims": [b"groups=staff, email_verified=true", b"groups=staff:den:host"],
    "library": [b"openspiel:leduc_poker(players=3)", b"gymnasium:mod:make(x=[1,2])"],
    "websocket": [b'{"id": 1, "command": "take", "args": {"n": 1}}', b'{"id": 2, "command": "subscribe"}'],
    "http": [b'POST /api/rooms/den/take\n{"n": 1}', b"GET /api/rooms/den/view?since=x\n"],
    "mcp": [b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "view", "arguments": {}}}'],
}


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# -- parsers ----------------------------------------------------------------------------------------
def scenario(data: bytes) -> None:
    parse_scenario(text_of(data))


def answer(data: bytes) -> None:
    parse_action(text_of(data), SPACE)


def record(data: bytes) -> None:
    body = data[1:]
    if data[:1] == b"\x00":
        list(read_lines([(0, body, chained(GENESIS, body))], -1, GENESIS))
    else:
        Snapshot.decode(body)


def journal(data: bytes) -> None:
    found = Journal.parse(text_of(data))
    for block in found.blocks:
        assert block.text in found.text
        _ = block.entry, block.name, block.author, block.time, block.utc


def inbox(data: bytes) -> None:
    found = Inbox.parse(text_of(data))
    _ = found.sections, found.items, found.next_id(), slug_of(text_of(data))


def starbound_wire(data: bytes) -> None:
    asked = starbound.read_json(data)
    starbound.read_request(data)
    view = starbound.read_view(asked.get("view", asked))
    starbound.observation_of(view).to_text()
    starbound.read_outcome(asked)


def worldbox_wire(data: bytes) -> None:
    worldbox.read_command(data, worldbox.BridgeRequest())


def invite(data: bytes) -> None:
    token = text_of(data)
    assert isinstance(signing.verify_invite(token, KEY, "den", 0), str), "nobody has signed this"


def claims(data: bytes) -> None:
    parse_conditions(text_of(data))
    parse_roles(text_of(data))


def library(data: bytes) -> None:
    parse_name(text_of(data), ["openspiel", "gymnasium"])


KEY: Final[Any] = {"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}  # fmt: skip


# -- a house --------------------------------------------------------------------------------------
class Den:
    """A house in memory with one room, whose interfaces are called without a network."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = FakeClock()
        self.loop.run_until_complete(self.open())

    async def open(self) -> None:
        settings = Settings(calls_per_second=100_000)
        self.house = await House.open(settings, clock=self.clock).__aenter__()  # until the process ends
        _, tokens = await self.house.create_room(parse_scenario(text_of(SEEDS["scenario"][0])), "den")
        self.token, self.app = tokens["ann"], make_app(self.house)
        self.lifespan = asyncio.ensure_future(self.serve())
        await asyncio.sleep(0)

    async def serve(self) -> None:
        """What a server does for an app while it runs: the endpoint of MCP is open then."""
        asked = asyncio.Event()

        async def receive() -> Any:
            if asked.is_set():
                await asyncio.get_running_loop().create_future()
            asked.set()
            return {"type": "lifespan.startup"}

        async def send(message: Any) -> None:
            assert message["type"] == "lifespan.startup.complete", message

        await self.app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    def run(self, *call: Any) -> None:
        self.loop.run_until_complete(asyncio.wait_for(self.ask(*call), 30))

    async def ask(self, method: str, path: str, body: bytes, accept: str = "application/json") -> None:
        """One request. An answer of 500 is a fault."""
        target, _, query = path.partition("?")
        headers = [
            (b"host", b"127.0.0.1:8724"),
            (b"authorization", f"Bearer {self.token}".encode()),
            (b"content-type", b"application/json"),
            (b"accept", accept.encode()),
        ]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": target, "raw_path": target.encode("utf-8", "replace"), "query_string": query.encode("utf-8", "replace"),
            "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8724), "root_path": "", "state": {},
        }  # fmt: skip
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        gone = asyncio.get_running_loop().create_future()
        status = []

        async def receive() -> Any:
            return messages.pop() if messages else await gone

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
                if message["status"] == 200 and any(b"event-stream" in value for _, value in message["headers"]):
                    gone.set_result({"type": "http.disconnect"})  # a stream has no end

        await self.app(scope, receive, send)
        assert status, "no answer"
        assert status[0] < 500 or status[0] in (501, 503), f"answered with {status[0]}"


@cache
def den() -> Den:
    return Den()


def http(data: bytes) -> None:
    line, _, body = data.partition(b"\n")
    method, _, path = text_of(line).partition(" ")
    known = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH")
    if "wait_ms" in path or b"wait_ms" in body:
        return  # it would wait by a clock that stands still
    den().run(method if method in known else "POST", path if path.startswith("/") else f"/api/rooms/den/{path}", body)


def mcp(data: bytes) -> None:
    if b"wait" not in data:
        den().run("POST", "/mcp/den", data, "application/json, text/event-stream")


def websocket(data: bytes) -> None:
    """The text of a frame. The frames themselves have properties of their own (`test_direct.py`)."""
    try:
        request = msgspec.json.decode(data, type=Request)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    args = request.args if isinstance(request.args, dict) else {}
    if "wait_ms" not in args:
        body = json.dumps(args).encode()
        den().run("POST", f"/api/rooms/den/{request.command or 'view'}".replace("?", ""), body)


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "scenario": scenario, "answer": answer, "record": record, "journal": journal, "inbox": inbox,
    "starbound": starbound_wire, "worldbox": worldbox_wire, "invite": invite, "claims": claims, "library": library,
    "websocket": websocket, "http": http, "mcp": mcp,
}  # fmt: skip


def run(name: str, data: bytes) -> None:
    """Give a target some bytes. Raises what it must not raise."""
    with contextlib.suppress(CohabitError, AnswerProblem):
        TARGETS[name](data)
