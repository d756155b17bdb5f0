"""One state, forked: a house is copied, and in one copy the rivals of athena do things that she cannot see.

Until the next tick everything that she can reach over any interface is the same in both, except for what
docs/kingdoms.md lists as public by design.
"""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec import to_builtins

from cohabit.agents.brains.kingdoms.kings import Steward, Warlord
from cohabit.errors import CohabitError
from cohabit.faces.app import make_app
from cohabit.faces.python import HouseClient
from cohabit.faces.serve import serve
from cohabit.house.house import House
from cohabit.house.running.calls import SystemCall
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock
from cohabit.worlds.kingdoms.rules.cities import land_of
from cohabit.worlds.kingdoms.sight import seen_by

from ..worlds.kingdoms.test_fog import HIDDEN_DEEDS, OWN_DEEDS, READS, filled  # noqa: TID252 - two suites share the twins
from ..worlds.kingdoms.twins import ATHENA, SCENARIO  # noqa: TID252
from .doors import FACES, FIRST_TWO, doors
from .test_kingdoms_fog import named

ROOM = "den"
HOUSE_READS = [
    ("events", {}), ("events", {"last": 5}), ("events", {"max": 1}), ("capabilities", {}), ("list_saves", {}), ("rooms", {}),
    ("introduction", {}), ("schemas", {"command": "raid"}), ("audit", {}), ("no_such_command", {}), ("rai", {}),
    ("get_tile", {"x": -1, "y": 0}), ("raid", {"city_id": 7}), ("send_message", {"to": "nobody", "content": "?"}),
]  # fmt: skip
REFUSED_DEEDS = [
    ("ares", "spawn", {"entity_id": "dragon", "x": "X", "y": "Y"}), ("ares", "paint_tile", {"x": 1, "y": 1}),
    ("ares", "no_such_command", {}),
]  # fmt: skip
END = "that was all"
CURSOR = re.compile(r"(?<=[^0-9a-f])([0-9a-f]{16})(?=[^0-9a-f])")


class Branch:
    """One copy of the house, and what athena gets there."""

    def __init__(self, house: House, clock: FakeClock, tokens: dict[str, str], busy: bool) -> None:
        self.house, self.clock, self.tokens, self.busy = house, clock, tokens, busy
        self.heard: list[tuple[Any, str]] = []  # what was asked, and the answer
        self.pushed: list[str] = []
        self.compared_as_is = 0  # how many answers came before athena acted

    def note(self, asked: Any, answer: Any) -> None:
        self.heard.append(
            (asked, answer if isinstance(answer, str) else json.dumps(answer, sort_keys=True, default=repr))
        )

    async def ask(self, client: Any, face: str, command: str, args: Any) -> None:
        try:
            answer = await client.call(named(command, face), args)
        except CohabitError as refusal:
            answer = refusal.as_wire()
        self.note((command, args), answer)

    async def rivals_act(self) -> None:
        """Both rivals call, so that they are seen at the same time; in one branch they also do something hidden."""
        await self.clock.advance(40)  # less than a tick
        for who in ("ares", "zeus"):
            await self.by(who, "view", {})
        for who, command, args in [*HIDDEN_DEEDS, *REFUSED_DEEDS] if self.busy else []:
            try:
                await self.by(who, command, filled(args, self.world, 2))
            except CohabitError:
                assert (who, command, args) in REFUSED_DEEDS

    async def by(self, who: str, command: str, args: Any) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), ROOM, command, args)

    @property
    def world(self) -> Any:
        return self.house.rooms[ROOM].room.world

    def transcript(self) -> list[tuple[Any, str]]:
        """Everything. In what came after athena had acted, cursors are replaced by the order of their first appearance.

        A cursor is the encrypted number of an entry: the later ones differ, and that says nothing.
        """
        seen: dict[str, str] = {}
        later = [*self.heard[self.compared_as_is :], *(("push", text) for text in self.pushed)]
        return [
            *self.heard[: self.compared_as_is],
            *(
                (asked, CURSOR.sub(lambda c: seen.setdefault(c[1], f"cursor {len(seen)}"), text))
                for asked, text in later
            ),
        ]


Origin = tuple[Path, int, dict[str, str]]
"""A folder of a house, its time, and the tokens of its members."""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Origin:
    """A house in which 60 ticks were played. Tests use copies of its folder."""
    folder, clock = tmp_path_factory.mktemp("origin"), FakeClock()

    async def play() -> dict[str, str]:
        async with House.open(Settings(data=str(folder), port=0, bridge_port=0), clock=clock) as house:
            _, tokens = await house.create_room(parse_scenario(json.dumps(SCENARIO)), ROOM, seed=5)
            await house.call(house.identify(tokens["athena"]), ROOM, "declare_war", {"kingdom_id": 2})
            await house.rooms[ROOM].submit(SystemCall("ticks", {"n": 60}))
            for who in tokens:
                await house.call(house.identify(tokens[who]), ROOM, "whoami", {})
            await house.call(house.identify(tokens["zeus"]), ROOM, "send_message", {"to": "*", "content": "hear, hear"})
        return tokens

    tokens = asyncio.run(play())
    return folder, clock.now(), tokens


@pytest.fixture
def fork(origin: Origin, tmp_path: Path) -> Callable[..., Any]:
    """Opens a copy of the house in which 60 ticks were played."""
    folder, now, tokens = origin

    @asynccontextmanager
    async def opened(busy: bool, **settings: Any) -> AsyncIterator[Branch]:
        copy = tmp_path / ("busy" if busy else "quiet")
        shutil.copytree(folder, copy)
        later = FakeClock(now)
        async with House.open(Settings(data=str(copy), port=0, bridge_port=0, **settings), clock=later) as house:
            yield Branch(house, later, tokens, busy)

    return opened


async def played(branch: Branch, face: str, tmp: Path) -> None:
    """Athena subscribes and waits; her rivals act; she reads, acts and reads again; then zeus has the last word."""
    async with doors(face, branch.house, tmp) as door, AsyncExitStack() as stack:
        client = await stack.enter_async_context(door(branch.tokens["athena"]))
        await branch.ask(client, face, "events", {})
        cursor = json.loads(branch.heard[-1][1])["cursor"]
        follow = _follow(client, cursor, branch, face == "http") if hasattr(client, "subscribe") else None
        following = asyncio.ensure_future(follow) if follow is not None else None
        waiting = asyncio.ensure_future(client.call("events", {"cursor": cursor, "wait_ms": 30_000}))
        await branch.ask(client, face, "whoami", {})
        await branch.rivals_act()
        for command, args in [("events", {"cursor": cursor}), *READS, *HOUSE_READS]:
            await branch.ask(client, face, command, args)
        branch.note("has something come?", [waiting.done(), branch.pushed])
        branch.compared_as_is = len(branch.heard)
        for command, args in OWN_DEEDS:
            await branch.ask(client, face, command, filled(args, branch.world, 1))
        branch.note("has something come?", waiting.done())
        for command, args in [*READS, *HOUSE_READS]:
            await branch.ask(client, face, command, args)
        await branch.by("zeus", "send_message", {"to": "*", "content": END})
        branch.note("the wait", await waiting)
        await branch.ask(client, face, "events", {"cursor": cursor})
        if following is not None:
            await following


async def _follow(client: Any, cursor: str, branch: Branch, polls: bool) -> None:
    """``polls``: how many events one push has, and which views come between them, depends on when the client asks. So its
    events are compared one by one, and its views as replies of `view` only."""
    async for push in client.subscribe(cursor):
        alone = [{**push, "items": [item], "cursor": ""} for item in push.get("items", ())]
        branch.pushed += [json.dumps(each, sort_keys=True) for each in (alone if polls else [push])]
        if push["push"] == "events" and END in branch.pushed[-1]:
            return


@pytest.mark.parametrize("face", [*FIRST_TWO, "bridge"])
async def test_until_the_next_tick_no_interface_tells_a_member_of_a_rivals_hidden_deeds(
    face: str, fork: Any, tmp_path: Path
) -> None:
    transcripts = []
    for busy in (False, True):
        async with fork(busy) as branch:
            await played(branch, face, tmp_path)
            transcripts.append(branch.transcript())
            seen = json.dumps(branch.heard)
    quiet, busy = transcripts
    assert sum(END in text for _, text in quiet) >= (2 if face in ("python", "websocket") else 1)
    assert face != "bridge" or "last_seen_utc" in seen
    for one, other in zip(quiet, busy, strict=True):
        assert one == other


# -- what is not a command ------------------------------------------------------------------------
URLS = ("/health", "/metrics", "/openapi.json", "/", "/api/nothing", "/api/rooms/elsewhere/view")


@pytest.mark.parametrize("token", ["athena", "", "wrong"])
async def test_no_page_metric_or_error_over_http_tells_of_a_rivals_hidden_deeds(token: str, fork: Any) -> None:
    answers = []
    for busy in (False, True):
        async with fork(busy) as branch:
            await branch.rivals_act()
            headers = {"authorization": f"Bearer {branch.tokens.get(token, token)}"} if token else {}
            transport = httpx2.ASGITransport(app=make_app(branch.house), client=("127.0.0.1", 5))
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as http:
                got = [await http.get(url) for url in URLS]
            answers.append([(a.status_code, a.headers.items(), a.content) for a in got])
    assert {status for status, _, _ in answers[0]} >= {200, 404 if token == "athena" else 401}
    assert answers[0] == answers[1]


# -- MCP ------------------------------------------------------------------------------------------
RPC = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
WATCHED = tuple(f"cohabit://{ROOM}/{name}" for name in ("view", "events", "messages"))


class RawMcp:
    """A session of the older protocol as it is on the wire: the bytes of its answers and of its stream of events."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http, self.number = http, 0

    async def open(self) -> "RawMcp":
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        answer = await self._post({"id": 0, "method": "initialize", "params": about})
        self.http.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        await self._post({"method": "notifications/initialized"})
        return self

    async def ask(self, method: str, params: dict[str, Any]) -> str:
        self.number += 1
        return (await self._post({"id": self.number, "method": method, "params": params})).text

    async def _post(self, message: dict[str, Any]) -> httpx2.Response:
        return await self.http.post("/mcp", json={"jsonrpc": "2.0", **message}, headers=RPC)


async def test_no_list_resource_prompt_or_event_stream_of_mcp_tells_of_a_rivals_hidden_deeds(
    fork: Any, tmp_path: Path
) -> None:
    transcripts, streams = [], []
    for busy in (False, True):
        async with fork(busy) as branch, serving(branch) as http:
            session = await RawMcp(http).open()
            stream: list[str] = []
            listening = asyncio.ensure_future(_listen(http, stream))
            for uri in WATCHED:
                branch.note(uri, await session.ask("resources/subscribe", {"uri": uri}))
            await branch.rivals_act()
            for again in (False, True):
                for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
                    branch.note(method, await session.ask(method, {}))
                branch.note("prompt", await session.ask("prompts/get", {"name": "play"}))
                for uri in _uris(branch.heard):
                    branch.note(uri, await session.ask("resources/read", {"uri": uri}))
                if not again:
                    branch.note("has something come?", stream)
                    branch.compared_as_is = len(branch.heard)
                    await session.ask("tools/call", {"name": "muster", "arguments": {"percent": 15}})
            await branch.by("zeus", "send_message", {"to": "athena", "content": END})
            await listening
            transcripts.append(branch.transcript())
            streams.append(stream)
    assert any("cohabit://den/view" in line for line in streams[0])
    assert streams[0] == streams[1]
    for one, other in zip(*transcripts, strict=True):
        assert one == other


@asynccontextmanager
async def serving(branch: Branch) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the served house, with athena's token."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    server = asyncio.ensure_future(serve(branch.house, ready=ready.set_result))
    headers = {"authorization": f"Bearer {branch.tokens['athena']}"}
    try:
        async with httpx2.AsyncClient(base_url=await ready, headers=headers, timeout=120) as http:
            yield http
    finally:
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)


async def _listen(http: httpx2.AsyncClient, lines: list[str]) -> None:
    """Collect the lines of the stream until athena's messages have changed."""
    async with http.stream("GET", "/mcp", headers={"accept": "text/event-stream"}) as stream:
        async for line in stream.aiter_lines():
            if line and not line.startswith(":"):  # a comment keeps the connection alive
                lines.append(line)
            if f"cohabit://{ROOM}/messages" in line:
                return


def _uris(heard: list[tuple[Any, str]]) -> list[str]:
    listed = next(text for asked, text in reversed(heard) if asked == "resources/list")
    return sorted(set(re.findall(r'"uri": ?"([^"]+)"', listed)))


# -- many hidden deeds ------------------------------------------------------------------------------
async def test_however_much_a_rival_does_unseen_the_events_that_others_can_read_stay_the_same(fork: Any) -> None:
    """A house keeps some entries of a room in memory; hidden ones must not push out the others."""
    answers = []
    for busy in (False, True):
        async with fork(busy, recent_entries=20) as branch:
            for percent in range(1, 41) if busy else ():
                await branch.by("ares", "muster", {"percent": percent})
            answers.append([await branch.by("athena", "events", asked) for asked in ({}, {"last": 3}, {"last": 500})])
    assert len(answers[0][2].items) == 3
    assert answers[0] == answers[1]


# -- many ticks -----------------------------------------------------------------------------------
SENTINEL = "Xyzzy"
BETWEEN = 20
"""How often players act and athena reads, in ticks."""
LONG = pytest.mark.soak
LIVE_READS = [read for read in READS if read[0] not in ("picture", "screenshot", "rules", "list_powers")]


@pytest.mark.parametrize(
    ("ticks", "busy"), [(200, True), pytest.param(2000, True, marks=LONG), pytest.param(2000, False, marks=LONG)]
)
async def test_over_many_ticks_nothing_planted_in_a_hidden_thing_reaches_a_rival_over_any_interface(
    ticks: int, busy: bool, tmp_path: Path
) -> None:
    """Both kings play. Hidden cities, private messages, reasons and refused calls of the rival carry a sentinel."""
    heard: list[str] = []
    clock = FakeClock()
    async with House.open(Settings(port=0, bridge_port=0, calls_per_second=1_000_000), clock=clock) as house:
        _, tokens = await house.create_room(parse_scenario(json.dumps(SCENARIO)), ROOM, seed=5)
        house.rooms[ROOM].room.checks_refusals = False  # it would notice what is planted
        branch = Branch(house, clock, tokens, busy)
        following = asyncio.ensure_future(_collect(house, tokens["athena"], heard))
        kings = {"athena": Steward(), "ares": Warlord()}
        planted = 0
        for tick in range(ticks):
            planted += plant(branch.world)
            if tick % BETWEEN == 0:
                await _turn(branch, kings, tick // BETWEEN)
                for command, args in LIVE_READS:
                    await branch.ask(
                        HouseClient(house, house.identify(tokens["athena"]), ROOM), "python", command, args
                    )
            await house.rooms[ROOM].submit(SystemCall("ticks", {"n": 1}))
        assert planted > ticks // 4
        known = json.dumps(to_builtins(await branch.by("zeus", "list_cities", {})))
        assert SENTINEL in known
        for face in (*(face for face in FACES if face != "mcp stdio"), "bridge"):
            async with doors(face, house, tmp_path) as door, door(tokens["athena"]) as client:
                for command, args in [*READS, ("events", {"last": 500}), *HOUSE_READS]:
                    await branch.ask(client, face, command, args)
        following.cancel()
    assert sum('"push":"view"' in frame for frame in heard) > ticks // 2
    heard += [text for _, text in branch.heard]
    assert [text for text in heard if SENTINEL in text] == []


def plant(world: Any) -> bool:
    """Put the sentinel into the names of the cities that athena cannot see. Returns whether there is one."""
    sim, found = world.sim, False
    seen = seen_by(sim, ATHENA)
    for city in sim.cities.values():
        known = ATHENA in (city.kingdom, city.besieger) or seen[land_of(sim, city)].any()
        city.name = city.name.replace(SENTINEL, "") + ("" if known else SENTINEL)
        found |= not known
    world._changed()
    return found


async def _turn(branch: Branch, kings: dict[str, Any], turn: int) -> None:
    """Everybody acts; in the busy branch the rivals also do something hidden."""
    for who, king in kings.items():
        seen = await branch.by(who, "view", {})
        action = king.decide(seen.observation)
        why = SENTINEL if who == "ares" else "to win"
        if action is not None:
            call = {"action": action.name, "params": action.parameters, "reasoning": why}
            await _tried(branch, who, "act", call)
    await branch.by("ares", "send_message", {"to": "zeus", "content": f"{SENTINEL} {turn}"})
    await _tried(branch, "ares", "spawn", {"entity_id": SENTINEL, "x": 1, "y": 1})
    deeds = [deed for deed in HIDDEN_DEEDS if deed[2].get("entity_id") != "dragon"]
    if branch.busy and branch.world.sim.kingdoms[2].alive:
        who, command, args = deeds[turn % len(deeds)]
        await _tried(branch, who, command, filled(args, branch.world, 2))


async def _tried(branch: Branch, who: str, command: str, args: Any) -> None:
    with suppress(CohabitError):
        await branch.by(who, command, args)


async def _collect(house: House, token: str, frames: list[str]) -> None:
    async for frame in await house.subscribe(house.identify(token), ROOM, ""):
        frames.append(frame.decode())
