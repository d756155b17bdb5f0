"""What a house sees in months, in short: each round does a bit of everything, over the real interfaces.

Nothing here waits for the clock. Rooms that a round opens are deleted again, so that what is left is what the house keeps
of rooms that still exist.
"""

import asyncio
import itertools
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

import httpx2
from mcp import Client as SdkClient
from mcp.client.streamable_http import streamable_http_client
from tests.faces.doors import mcp_http
from websockets.asyncio.client import connect as ws_connect

from cohabit.client import Push, WsClient, connect_url
from cohabit.errors import CohabitError, by_code
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario
from cohabit.testing.faces import Client

PLAYERS = [
    {"id": "hostess", "kind": "human", "role": "host"},
    {"id": "ann", "role": "player", "claim": "auto:0"},
    {"id": "bob", "role": "player", "claim": "auto:1"},
]
ROOMS: dict[str, dict[str, Any]] = {
    "den": {
        "world": "lounge",
        "agents": [
            {"id": "hostess", "kind": "human", "role": "host"},
            *({"id": name, "role": "narrator"} for name in ("ann", "bob", "eve")),
        ],
    },
    "heap": {"world": "nim", "agents": PLAYERS},
    "land": {
        "world": "kingdoms",
        "config": {"zones_x": 2, "zones_y": 2},
        "partial_intel": True,
        "step_ticks": 5,
        "agents": PLAYERS,
    },
    "isle": {
        "world": "lanterns",
        "agents": [
            {"id": "hostess", "kind": "human", "role": "host"},
            {"id": "ann", "role": "player", "claim": "auto:0", "brain": "random"},
            {"id": "bob", "role": "player", "claim": "auto:1", "brain": "random"},
        ],
    },
}
"""Rooms that stay for the whole run: one to talk in, one of turns, one that moves when all have passed, one with a clock."""
TALK = ["watch", "read_chat", "read_roster", "send_broadcast"]
LAND_ROUNDS = 10
"""Rounds of a game of the land: a longer one grows, as its people do."""
SILENT_S = 600
"""A machine that also does other things may stand still for a minute."""
TABLES = 4
FORGET_EVERY, FILM_EVERY, BOTS_EVERY, SESSIONS_EVERY = 5, 4, 2, 3
Tokens = dict[str, dict[str, str]]


async def build(folder: Path) -> Tokens:
    """Make the rooms that stay, in the data folder of a house that is not open. The tokens by room and member."""
    async with House.open(Settings(data=str(folder))) as house:
        return {name: (await house.create_room(parse_scenario(json.dumps(scene)), name))[1]
                for name, scene in ROOMS.items()}  # fmt: skip


async def refused(code: str | tuple[str, ...], call: Awaitable[Any]) -> None:
    try:
        found = await call
    except CohabitError as wrong:
        assert wrong.code in code, wrong.as_text()
    else:
        raise AssertionError(f"not refused with {code}: {found}")


class Follower:
    """A member with a subscription, which it resumes from its cursor."""

    def __init__(self, url: str, token: str, room: str) -> None:
        self._url, self.token, self._room = url, token, room
        self.cursor: str | None = None
        self._stack = AsyncExitStack()
        self.client: Client
        self._pushes: AsyncGenerator[Push, None]

    async def open(self) -> Self:
        self.client = await self._stack.enter_async_context(connect_url(self._url, self.token, self._room))
        if self.cursor is None:
            self.cursor = (await self.client.call("events", {"last": 1}))["cursor"]
        self._pushes = self.client.subscribe(self.cursor)
        return self

    async def hear(self, text: str) -> None:
        """Read until somebody has said this."""
        async for push in self._pushes:
            if push["push"] == "events":
                self.cursor = push["cursor"]
                if any(text in item["text"] for item in push["items"]):
                    return

    async def read(self) -> None:
        """Read whatever comes, until it is cancelled."""
        async for push in self._pushes:
            self.cursor = push.get("cursor", self.cursor)

    async def close(self) -> None:
        await self._pushes.aclose()
        await self._stack.aclose()

    async def drop(self) -> None:
        """End the connection without a word."""
        assert isinstance(self.client, WsClient)
        self.client._socket.transport.abort()
        await self.close()


class Months:
    """``round`` does a bit of everything. ``followers`` have been subscribed since the beginning."""

    def __init__(self, url: str, operator: str, tokens: Tokens, http: httpx2.AsyncClient) -> None:
        self.url, self.operator, self.tokens = url, operator, tokens
        self.http = http
        self.number = 0
        self.followers: list[Follower] = []
        self._tables: deque[str] = deque()  # rooms in which bots play
        self._silent: Follower | None = None  # left without a word in the round before

    async def open(self) -> None:
        for room in ROOMS:
            await self.host(room, "join")
        for name in ("ann", "bob"):
            self.followers.append(await Follower(self.url, self.tokens["den"][name], "den").open())
        self.followers.append(await Follower(self.url, self.tokens["isle"]["hostess"], "isle").open())
        self._reading = asyncio.ensure_future(self.followers[-1].read())

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        for follower in self.followers:
            await follower.close()

    # -- calls over HTTP --------------------------------------------------------------------------
    async def call(
        self, token: str, room: str, command: str, args: Mapping[str, Any] | None = None, key: str = ""
    ) -> Any:
        """Over HTTP. Raises its error."""
        headers = {"authorization": f"Bearer {token}"} | ({"idempotency-key": key} if key else {})
        path = f"rooms/{room}/{command}" if room else command
        answer = (await self.http.post(f"{self.url}/api/{path}", json=args or {}, headers=headers)).json()
        if not answer["ok"]:
            raise by_code(answer["error"])
        return answer["result"]

    async def host(self, room: str, command: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self.call(self.operator, room, command, args)

    # -- a round ----------------------------------------------------------------------------------
    async def round(self) -> None:
        self.number += 1
        await self.talk()
        await self.visit()
        await self.play_nim("heap", self.tokens["heap"])
        await self.host("heap", "rematch")
        await self.advance_land()
        await self.play_at_a_table()
        if self.number % BOTS_EVERY == 0:
            await self.let_bots_play()
        if self.number % SESSIONS_EVERY == 0:
            await self.use_mcp()
        await self.hang_up_while_waiting()
        await self.be_refused()
        await self.look_around()
        await self.change_tokens()

    async def talk(self) -> None:
        words = f"hello number {self.number}"
        for _ in range(2):  # the second one is the same call
            await self.call(self.tokens["den"]["eve"], "den", "say", {"text": words}, f"hello-{self.number}")
        for follower in self.followers[:2]:
            await follower.hear(words)
        if self.number % 7 == 0:  # one of them comes back, and misses nothing
            await self.followers[0].close()
            await self.call(self.tokens["den"]["eve"], "den", "say", {"text": f"missed {self.number}"})
            await self.followers[0].open()
            await self.followers[0].hear(f"missed {self.number}")
            await self.followers[1].hear(f"missed {self.number}")

    async def visit(self) -> None:
        """Somebody joins by an invite, and leaves; or is gone without a word, comes back in the next round, and leaves."""
        if self._silent is not None:
            await self._silent.open()
            await self._silent.hear(f"hello number {self.number}")
            await self._silent.client.call("leave")
            await self._silent.close()
            self._silent = None
        made = await self.host("den", "invite", {"id": "visitor", "kind": "human", "may": TALK})
        joined = await self.call(made["token"], "den", "join")
        visitor = await Follower(self.url, joined["token"], "den").open()
        words = f"visit number {self.number}"
        await visitor.client.call("say", {"text": words}, key="visit")
        for follower in self.followers[:2]:
            await follower.hear(words)
        if self.number % 2:
            await visitor.client.call("leave")
            await visitor.close()
        else:
            await visitor.drop()
            self._silent = visitor

    async def play_nim(self, room: str, tokens: Mapping[str, str]) -> None:
        for move in itertools.count():
            view = await self.call(tokens["ann"], room, "view")
            if not view["to_move"]:
                return
            who = view["to_move"][0]
            await self.call(tokens[who], room, "take", {"n": 1 + move % 3 if view_stones(view) > 3 else 1})

    async def advance_land(self) -> None:
        for name in ("ann", "bob"):
            await self.call(self.tokens["land"][name], "land", "turn_advance")
        if self.number % LAND_ROUNDS == 0:
            await self.host("land", "rematch")
            await self.host("isle", "rematch")

    async def play_at_a_table(self) -> None:
        """A room that is made, played, watched, filmed, archived and deleted."""
        made = await self.host("", "create_room", {"world": "nim", "players": ["ann", "bob"], "people": ["bob"]})
        room, tokens = made["room"], made["tokens"]
        link = await self.host(room, "watch_link")
        watcher = await Follower(self.url, link["token"], room).open()
        await self.play_nim(room, tokens)
        await self.host(room, "rematch")
        await self.call(tokens["ann"], room, "events", {"last": 5})
        if self.number % FILM_EVERY == 0:
            await self.call(tokens["ann"], room, "film", {"frames": 5})
            await self.host(room, "save_world", {"name": "evening"})
            await self.host(room, "load_world", {"name": "evening"})
            await self.host(room, "export_egress")
        await self.host(room, "archive")
        await self.host(room, "unarchive")
        await (watcher.close if self.number % 2 else watcher.drop)()
        if self.number % FORGET_EVERY == 0:
            mine = await self.call(tokens["bob"], room, "my_data")
            await self.call(tokens["bob"], room, "forget_me", {"confirm": mine["name"]})
        await self.host(room, "delete_room", {"confirm": room})

    async def let_bots_play(self) -> None:
        """The game at the oldest table is seen to its end. Bots pause before each move, so several tables are open."""
        brains = {"x": "random", "o": "random"}
        made = await self.host("", "create_room", {"world": "tictactoe", "players": [*brains], "brains": brains})
        self._tables.append(made["room"])
        if len(self._tables) <= TABLES:
            return
        room, cursor = self._tables.popleft(), ""
        while (await self.host(room, "view"))["to_move"]:
            cursor = (await self.host(room, "events", {"cursor": cursor, "wait_ms": 30_000}))["cursor"]
        await self.host(room, "decisions")
        await self.host(room, "delete_room", {"confirm": room})

    async def use_mcp(self) -> None:
        """Over both eras of the protocol; one session is closed, the other is left."""
        token = self.tokens["den"]["eve"]
        for mode in ("legacy", "auto"):
            async with mcp_http(self.url, token, mode) as tools:
                await tools.call("say", {"text": f"by {mode}, {self.number}"}, room="den")
                await refused("UNKNOWN_COMMAND", tools.call("fly", room="den"))
        headers = {"authorization": f"Bearer {self.tokens['heap']['ann']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=SILENT_S, verify=False) as http:
            left = streamable_http_client(f"{self.url}/mcp/heap", http_client=http, terminate_on_close=False)
            async with SdkClient(left, mode="legacy") as me:
                await me.list_tools()
                await me.call_tool("view")
                await me.read_resource((await me.list_resources()).resources[0].uri)

    async def hang_up_while_waiting(self) -> None:
        """The call of a client that waits for news, and goes; once over HTTP and once over a WebSocket."""
        token = self.tokens["heap"]["bob"]
        cursor = (await self.call(token, "heap", "events", {"last": 1}))["cursor"]
        args = {"cursor": cursor, "wait_ms": 30_000}
        waiting = asyncio.ensure_future(self.call(token, "heap", "events", args))
        await self.call(token, "heap", "whoami")  # sent after it
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        async with connect_url(self.url, token, "heap") as client:
            call = asyncio.ensure_future(client.call("events", args))
            await client.call("whoami")
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)

    async def be_refused(self) -> None:
        token = self.tokens["heap"]["ann"]
        wrong = f"no-such-token-{self.number:060}"
        await refused("UNAUTHORIZED", self.call(wrong, "heap", "view"))
        await refused("UNAUTHORIZED", mcp_called(self.url, wrong))
        await refused("UNKNOWN_COMMAND", self.call(token, "heap", f"fly{self.number}"))
        await refused("BAD_ARGS", self.call(token, "heap", "take", {"n": f"{self.number}"}))
        await refused("PERMISSION_DENIED", self.call(token, "heap", "rematch"))
        await refused(("UNKNOWN_ROOM", "UNAUTHORIZED"), self.host(f"no-room-{self.number}", "view"))
        await refused(("UNAUTHORIZED", "BUSY", "PERMISSION_DENIED"), self.call(f"no-invite-{self.number}", "den", "join", {"code": f"{self.number:010}"}))  # fmt: skip
        address = self.url.replace("http", "ws", 1) + "/ws"
        async with ws_connect(address, additional_headers={"authorization": f"Bearer {token}"}) as socket:
            for frame in ("{", "[]", '{"id": 1}', json.dumps({"id": 2, "command": "x" * 500})):
                await socket.send(frame)
                assert not json.loads(await socket.recv())["ok"]

    async def look_around(self) -> None:
        for path in ("/", "/health", "/ready", "/openapi.json", "/nothing-here"):
            await self.http.get(f"{self.url}{path}")
        headers = {"authorization": f"Bearer {self.operator}"}
        assert "cohabit_rooms " in (await self.http.get(f"{self.url}/metrics", headers=headers)).text
        for command in ("rooms", "worlds", "list_credentials", "audit"):
            await self.host("", command)
        for command in ("roster", "audit", "invites", "thumbnail", "egress", "introduction"):
            await self.host("den", command)

    async def change_tokens(self) -> None:
        token = self.tokens["den"]["eve"]
        self.tokens["den"]["eve"] = (await self.call(token, "den", "rotate_token"))["token"]
        made = await self.host("", "issue_credential", {"name": f"guest-{self.number}", "kind": "human"})
        await self.call(made["token"], "", "rooms")
        await self.host("", "revoke_credential", {"name": f"guest-{self.number}"})


async def mcp_called(url: str, token: str) -> None:
    async with mcp_http(url, token, "auto"):
        pass


def view_stones(view: Mapping[str, Any]) -> int:
    return int(view["observation"]["status"]["stones"])


@asynccontextmanager
async def months(url: str, operator: str, tokens: Tokens) -> AsyncIterator[Months]:
    async with httpx2.AsyncClient(timeout=SILENT_S, verify=False) as http:
        made = Months(url, operator, tokens, http)
        await made.open()
        try:
            yield made
        finally:
            await made.close()
