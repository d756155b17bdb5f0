"""What takes input from outside. Each target gets bytes and may refuse them with an error of Cohabit, nothing else.

A target that returns False was given something that it could not even try, such as bytes that are no text.
"""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from cohabit.errors import CohabitError
from cohabit.house.access import signing
from cohabit.house.access.claims import parse_conditions, parse_roles
from cohabit.library import parse_name
from cohabit.model.action import ActionDef, ActionSpace, ParamDef
from cohabit.model.answers import AnswerProblem, parse_action
from cohabit.protocols.starbound import wire as starbound
from cohabit.protocols.worldbox import wire as worldbox
from cohabit.room.record import GENESIS, Snapshot, chained, read_lines
from cohabit.scenario import parse_scenario
from cohabit.workspace.formats.decisions import slug_of
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal

from .den import den

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
    "websocket": [
        b'{"id": 1, "command": "act", "room": "den", "args": {"action": "take", "params": {"n": 1}, "reasoning": "so"}}',
        b'{"id": 2, "command": "subscribe", "room": "den", "args": {"views": true}}',
        b'{"id": "3", "command": "send_message", "room": "den", "args": {"to": "hal", "content": "hi"}, "key": "k1"}',
        b'{"id": 4, "command": "wait_for_turn", "room": "den", "args": {"wait_ms": 500}}',
        b'@{"id": 5, "command": "invite", "room": "den", "args": {"id": "zoe", "role": "player", "kind": "agent"}}',
    ],
    "http": [
        b'POST /api/rooms/den/view\n{"since": ""}',
        b"GET /api/rooms/den/events?wait_ms=10\n",
        b'@POST /api/rooms/den/widen\n{"member": "ann", "may": ["send_broadcast"], "expires_in_s": 5}',
        b'@POST /api/rooms/den/set_turn_timer\n{"seconds": 60}',
        b"GET /openapi.json\n",
    ],
    "mcp": [
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "view", "arguments": {}}}',
        b'+{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "send_message", "arguments": {"to": "hal", "content": "hi"}}}',
        b'+{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "cohabit://den/view"}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": ""}}',
        b'+{"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "play", "arguments": {}}}',
    ],
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
def sender(data: bytes) -> tuple[str, bytes]:
    """Who sends an input: with a ``@`` before it the host, else a player."""
    return ("hal", data[1:]) if data.startswith(b"@") else ("ann", data)


def http(data: bytes) -> int:
    """Returns the status of the answer."""
    who, data = sender(data)
    line, _, body = data.partition(b"\n")
    method, _, path = text_of(line).partition(" ")
    known = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH")
    path = path if path.startswith("/") else f"/api/rooms/den/{path}"
    return den().http(method if method in known else "POST", path, body, who)[0]


def mcp(data: bytes) -> bytes:
    """Of both eras: a ``+`` before a message without a session. Returns the answer."""
    who, data = sender(data)
    return den().mcp(data.removeprefix(b"+"), who, modern=data.startswith(b"+"))[1]


def websocket(data: bytes) -> list[Any]:
    """The text of a frame. The frames themselves have properties of their own (`test_direct.py`). Returns what came."""
    who, data = sender(data)
    return den().frame(data, who)


def words() -> list[str]:
    """The names of all commands and of their arguments, which random bytes seldom hit."""
    known = den().house.rooms["den"].commands
    return sorted({word for command in known for word in (command.name, command.tool_name, *command.arguments)})


TARGETS: Final[dict[str, Callable[[bytes], object]]] = {
    "scenario": scenario, "answer": answer, "record": record, "journal": journal, "inbox": inbox,
    "starbound": starbound_wire, "worldbox": worldbox_wire, "invite": invite, "claims": claims, "library": library,
    "websocket": websocket, "http": http, "mcp": mcp,
}  # fmt: skip
OF_A_HOUSE: Final = ("websocket", "http", "mcp")


def run(name: str, data: bytes) -> None:
    """Give a target some bytes. Raises what it must not raise."""
    if name in OF_A_HOUSE:  # its errors are answers, so none comes out of it
        TARGETS[name](data)
        return
    with contextlib.suppress(CohabitError, AnswerProblem):
        TARGETS[name](data)
