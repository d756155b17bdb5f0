"""Agents in a real room of a real house, in Python and in JavaScript."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faces.serving import listening

from cohabit.errors import BadArgs, CohabitError
from cohabit.faces.serve import listen
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.protocols.kibitz import open_room
from cohabit.scenario import parse_scenario

from .agents import Driven, NodeAgent, PythonAgent

ROOM = "lounge"
TALKS = {"role": "human", "kind": "agent"}
MEMBERS = [
    {"id": "hal", "kind": "human", "role": "host"},
    {"id": "pat", "kind": "human", "role": "human"},
    {"id": "board", "role": "app"},
    {"id": "pad", "role": "app"},
    {"id": "eve", "name": "Eve"},  # an agent with the grant of an agent: it watches
    {"id": "py", **TALKS},
    {"id": "js", **TALKS},
]
LANGUAGES = [pytest.param("python"), pytest.param("javascript", marks=pytest.mark.node)]


class Rooms:
    """A house that listens, and can be stopped and started again at the same address."""

    def __init__(self, folder: Path, world: str, **settings: Any) -> None:
        self.folder, self.world = folder, world
        self.settings = Settings(data=str(folder), **settings)
        self.port = 0
        self.tokens: dict[str, str] = {}

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """The house without its listener: it runs, but nobody can connect."""
        async with House.open(self.settings) as house:
            self.house = house
            if not self.tokens:
                plan = parse_scenario(json.dumps({"world": self.world, "agents": MEMBERS}))
                _, self.tokens = await house.create_room(plan, ROOM)
            yield

    @asynccontextmanager
    async def listens(self) -> AsyncIterator[None]:
        listener: socket.socket = listen("127.0.0.1", self.port)
        self.port = listener.getsockname()[1]
        async with listening(self.house, listener, mcp=False):
            yield

    async def call(self, who: str, command: str, **args: Any) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), ROOM, command, args)

    def agent(self, language: str, who: str, **options: Any) -> Any:
        kind = PythonAgent if language == "python" else NodeAgent
        return kind.open(f"http://127.0.0.1:{self.port}", self.tokens[who], ROOM, **options)

    async def refused(self, who: str) -> list[tuple[str, str]]:
        """The refusals of a member in the audit: commands and codes."""
        return [
            (line.command, line.code)
            for line in (await self.call("hal", "audit", member=who, kinds=["refusals"])).lines
        ]


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest, need: Callable[[str], Path]) -> str:
    if request.param == "javascript":
        NodeAgent.node = need("node22")
    return str(request.param)


@pytest.fixture
def node(need: Callable[[str], Path]) -> None:
    NodeAgent.node = need("node22")


@pytest.fixture
async def rooms(tmp_path: Path) -> AsyncIterator[Rooms]:
    rooms = Rooms(tmp_path, "lounge")
    async with rooms.opened(), rooms.listens():
        yield rooms


@pytest.mark.node
@pytest.mark.usefixtures("node")
async def test_a_python_and_a_javascript_agent_talk_and_see_the_same_view(rooms: Rooms) -> None:
    async with rooms.agent("python", "py") as py, rooms.agent("javascript", "js") as js:
        await py.do("say", "hello from Python")
        await js.perceives("chat", "py", "hello from Python")
        await js.do("say", "hello: from JavaScript")
        await py.perceives("chat", "js", "hello: from JavaScript")
        await rooms.call("board", "publish_view", view={"lines": [1, 2]})
        await py.perceives("view", {"lines": [1, 2]})
        await js.perceives("view", {"lines": [1, 2]})
        await js.do("send", {"k": "ink", "x": 0.5})
        await py.perceives("data", {"k": "ink", "x": 0.5}, "js")
        await py.do("send", ["only", "for", "js"], "js")
        await js.perceives("data", ["only", "for", "js"], "py")
        assert py.of_kind("chat") == [["js", "hello: from JavaScript"]]  # nothing comes back to its sender


async def test_an_app_gets_the_actions_that_agents_request_and_answers_with_a_view(rooms: Rooms, language: str) -> None:
    async with rooms.agent(language, "board") as board, rooms.agent("python", "py") as py:
        assert (await board.do("broadcast", {"__kib_agent": "view", "view": {"n": 0}}))[0] == "done"
        await py.perceives("view", {"n": 0})
        assert await py.do("act", {"add": 2}) == ["done", {"apps": ["board"]}]
        await board.perceives("act", {"add": 2}, "py")
        await board.do("sendTo", {"__kib_agent": "view", "view": {"n": 2, "for": "py"}}, "py")
        await py.perceives("view", {"n": 2, "for": "py"})


async def test_a_member_that_joins_late_gets_the_schemas_and_the_newest_view(rooms: Rooms, language: str) -> None:
    await rooms.call("board", "publish_schema", name="board", version="2", schema={"type": "object"})
    await rooms.call("board", "publish_view", view={"n": 1})
    await rooms.call("board", "publish_view", view={"n": 2})
    async with rooms.agent(language, "eve") as eve:
        ready = eve.of_kind("ready")[0][0]
        assert ready["view"] == {"n": 2}
        assert ready["schemas"] == [{"from": "board", "name": "board", "version": "2", "schema": {"type": "object"}}]
        await rooms.call("board", "publish_schema", name="board", version="3", schema={})
        await eve.perceives("schema", {"from": "board", "name": "board", "version": "3", "schema": {}})


async def test_the_roster_says_who_is_an_agent_and_what_it_discloses(rooms: Rooms, language: str) -> None:
    async with rooms.agent(language, "eve", backend="Claude", controller={"features": ["chat.v1"]}) as eve:

        def shows_backend(event: list[Any]) -> bool:
            return event[0] == "roster" and any(p["meta"].get("backend") and p["here"] for p in event[1])

        people = {person["id"]: person for person in (await eve.until(shows_backend))[1]}
        assert people["eve"] == {
            "id": "eve", "name": "Eve", "isSelf": True, "here": True, "role": "guest", "features": ["chat.v1"],
            "meta": {"role": "agent", "backend": "Claude", "egress": True},
        }  # fmt: skip
        assert people["hal"]["role"] == "host"
        assert people["pat"]["meta"] == {}
        assert [line.what for line in (await rooms.call("hal", "audit", member="eve", kinds=["changes"])).lines] == [
            "disclosed"
        ]


async def test_an_agent_that_discloses_nothing_says_nothing(rooms: Rooms, language: str) -> None:
    async with rooms.agent(language, "eve") as eve:
        await rooms.call("pat", "say", text="hello")
        await eve.perceives("chat", "pat", "hello")
        assert not (await rooms.call("hal", "audit", member="eve", kinds=["changes"])).lines


async def test_read_only_raises_in_the_client_and_is_refused_by_the_house(rooms: Rooms, language: str) -> None:
    async with rooms.agent(language, "eve", read_only=True) as eve:
        for call in (("say", "x"), ("act", {}), ("send", {})):
            kind, code, message = await eve.do(*call)
            assert (kind, code) == ("error", "")
            assert "read-only" in message
        assert await rooms.refused("eve") == []  # nothing was sent
        tampered = [
            {"__kib_agent": "chat", "text": "x"},
            {"__kib_agent": "act", "action": {}},
            {"__kib_agent": "view", "view": 1},
            {"k": "ink"},
        ]
        for data in tampered:
            assert (await eve.do("broadcast", data))[1] == "PERMISSION_DENIED"
        assert sorted(await rooms.refused("eve")) == [
            (command, "PERMISSION_DENIED")
            for command in ("publish_view", "request_action", "send_data", "send_message")
        ]


async def test_an_envelope_that_is_sent_as_data_is_refused(rooms: Rooms, language: str) -> None:
    async with rooms.agent(language, "eve") as eve:
        forged = {"__kib_agent": "view", "view": {"forged": True}}
        with pytest.raises(BadArgs, match="publish_view"):
            await rooms.call("pat", "send_data", data=forged)
        await rooms.call("pat", "say", text="after")
        await eve.perceives("chat", "pat", "after")
        assert not eve.of_kind("view")
        assert await rooms.refused("pat") == [("send_data", "BAD_ARGS")]


async def test_only_the_view_of_the_app_that_published_first_counts(rooms: Rooms, language: str) -> None:
    await rooms.call("board", "publish_view", view={"of": "board"})
    async with rooms.agent(language, "eve") as eve:
        await rooms.call("pad", "publish_view", view={"of": "pad"})
        await rooms.call("board", "publish_view", view={"of": "board again"})
        await eve.perceives("view", {"of": "board again"})
        assert [{"of": "pad"}] not in eve.of_kind("view")


async def test_a_refusal_is_told_and_a_caller_need_not_wait_for_it(rooms: Rooms, language: str) -> None:
    async with rooms.agent(language, "eve") as eve:
        assert (await eve.do("say", "x"))[:2] == ["error", "PERMISSION_DENIED"]
        event = await eve.until(lambda event: event[0] == "refused")
        assert event[1] == "PERMISSION_DENIED"
        assert (await eve.do("broadcast", {"__kib_agent": "later"})) == ["done", None]  # it reaches nobody
        assert await rooms.refused("eve") == [("send_message", "PERMISSION_DENIED")]


async def test_an_agent_that_is_revoked_is_told_and_does_not_come_back(rooms: Rooms, language: str) -> None:
    async with rooms.agent(language, "js") as agent:
        await rooms.call("hal", "revoke_token", member="js")
        event = await agent.until(lambda event: event[0] == "refused")
        assert event[1] == "UNAUTHORIZED"
        assert (await agent.do("say", "hello?"))[:2] == ["error", "UNAUTHORIZED"]


async def test_opening_a_room_fails_if_the_house_or_the_room_or_the_token_is_not_there(
    rooms: Rooms, language: str
) -> None:
    async def why(url: str, token: str, room: str) -> str:
        if language == "python":
            with pytest.raises(CohabitError) as refused:
                await open_room(url, token, room)
            return refused.value.code
        async with NodeAgent.open(url, token, room) as agent:
            return str(agent.of_kind("failed")[0][0])

    here = f"http://127.0.0.1:{rooms.port}"
    with socket.create_server(("127.0.0.1", 0)) as unused:
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}"
    assert await why(nobody, rooms.tokens["pat"], ROOM) == "UNREACHABLE"
    assert await why(here, "x" * 40, ROOM) == "UNAUTHORIZED"
    assert await why(here, rooms.tokens["pat"], "elsewhere") == "UNKNOWN_ROOM"


async def test_an_agent_that_sees_nothing_sees_once_it_discloses_its_backend(rooms: Rooms, language: str) -> None:
    await rooms.call("hal", "require_disclosure", required=True)
    async with rooms.agent(language, "eve") as eve:
        await eve.do("setMeta", {"backend": "Claude", "egress": True})
        await eve.until(lambda event: event[0] == "roster" and any(p["id"] == "pat" for p in event[1]))
        await rooms.call("pat", "say", text="welcome")
        await eve.perceives("chat", "pat", "welcome")


async def test_a_restart_of_the_house_loses_and_repeats_nothing(tmp_path: Path, language: str) -> None:
    rooms = Rooms(tmp_path, "lounge")
    async with rooms.opened():
        async with rooms.listens():
            agent_open = rooms.agent(language, "js")
            agent: Driven = await agent_open.__aenter__()
            await rooms.call("pat", "say", text="0")
            await agent.perceives("chat", "pat", "0")
        await rooms.call("pat", "say", text="1")
    try:
        async with rooms.opened():
            await rooms.call("pat", "say", text="2")
            await rooms.call("board", "publish_view", view={"n": 2})
            saying = asyncio.ensure_future(agent.do("say", "while away"))
            async with rooms.listens():
                await agent.perceives("chat", "pat", "2")
                await agent.perceives("view", {"n": 2})
                assert (await saying)[0] == "done"
                await rooms.call("pat", "say", text="3")
                await agent.perceives("chat", "pat", "3")
                assert agent.of_kind("chat") == [["pat", str(n)] for n in range(4)]
                said = [m["content"] for m in (await rooms.call("pat", "recv_messages")).items]
                assert said == ["while away"]
    finally:
        await agent_open.__aexit__(None, None, None)


async def test_in_a_room_with_a_game_the_world_owns_the_view_and_gets_the_acts(tmp_path: Path, language: str) -> None:
    rooms = Rooms(tmp_path, "nim")
    async with rooms.opened(), rooms.listens():
        await rooms.call("js", "sit", seat="first")
        await rooms.call("py", "sit", seat="second")
        await rooms.call("board", "publish_view", view={"mine": True})
        async with rooms.agent(language, "js") as player:
            view = player.of_kind("ready")[0][0]["view"] or (await player.until(lambda event: event[0] == "view"))[1]
            before = view["observation"]["status"]["stones"]
            assert (await player.do("act", {"action": "take", "params": {"n": 2}}))[0] == "done"
            await player.until(
                lambda event: event[0] == "view" and event[1]["observation"]["status"]["stones"] == before - 2
            )
            await rooms.call("board", "publish_view", view={"mine": True})
            await rooms.call("pat", "say", text="done")
            await player.perceives("chat", "pat", "done")
            assert [{"mine": True}] not in player.of_kind("view")
            assert (await player.do("act", {"action": "take", "params": {"n": 2}}))[1] == "TURN_NOT_YOURS"


async def test_an_agent_with_an_invite_joins_and_waits_in_the_lobby_until_it_is_admitted(
    rooms: Rooms, language: str
) -> None:
    rooms.tokens["new"] = (await rooms.call("hal", "invite", id="new")).token
    async with rooms.agent(language, "new") as new:
        assert new.of_kind("ready")[0][0]["id"] == "new"
    await rooms.call("hal", "set_entry", lobby=True)
    rooms.tokens["late"] = (await rooms.call("hal", "invite", id="late")).token

    async def opened() -> str:
        async with rooms.agent(language, "late") as late:
            return str(late.of_kind("ready")[0][0]["id"])

    waiting = asyncio.ensure_future(opened())
    runner = rooms.house.rooms[ROOM]
    while not runner.room.state.knocks:
        await runner.changed_since(runner.version, rooms.house.clock.now() + 1000)
    (knock,) = runner.room.state.knocks
    await rooms.call("hal", "admit", knock=knock)
    assert await waiting == "late"


async def test_agents_with_a_shared_invite_are_different_members_and_come_back_as_the_same(
    rooms: Rooms, language: str
) -> None:
    rooms.tokens["any"] = (await rooms.call("hal", "invite", id="any", uses=5)).token
    async with rooms.agent(language, "any") as first, rooms.agent(language, "any") as second:
        assert [agent.of_kind("ready")[0][0]["id"] for agent in (first, second)] == ["any", "any-2"]
        rooms.tokens["second"] = second.of_kind("ready")[0][0]["token"]
    async with rooms.agent(language, "second") as again:
        assert again.of_kind("ready")[0][0]["id"] == "any-2"
    members = [member.handle for member in (await rooms.call("hal", "roster")).members]
    assert [handle for handle in members if handle.startswith("any")] == ["any", "any-2"]


def here(handle: str, is_here: bool) -> Callable[[list[Any]], bool]:
    """Matches a roster in which this member is here, or not."""
    return lambda event: (
        event[0] == "roster"
        and {"id": handle, "here": is_here} in [{"id": person["id"], "here": person["here"]} for person in event[1]]
    )


async def test_a_room_goes_on_while_its_host_is_away_and_the_host_still_has_its_rights_when_it_comes_back(
    tmp_path: Path, language: str
) -> None:
    rooms = Rooms(tmp_path, "lounge", away_ms=0)
    async with rooms.opened(), rooms.listens(), rooms.agent("python", "py") as py, rooms.agent(language, "js") as js:
        async with rooms.agent(language, "hal"):
            await py.until(here("hal", True))
            start = len(py.events)
        await py.until(here("hal", False), start)
        await js.do("say", "is anybody here?")
        await py.perceives("chat", "js", "is anybody here?")
        start = len(py.events)
        async with rooms.agent(language, "hal") as hal:
            await py.until(here("hal", True), start)
            assert (await hal.do("call", "remove_member", {"member": "js"}))[0] == "done"
            await js.until(lambda event: event[:2] == ["refused", "UNAUTHORIZED"])
        await py.do("say", "good night")
        assert ["py", "good night"] not in js.of_kind("chat")


async def test_a_full_room_refuses_the_next_one_until_a_member_leaves(tmp_path: Path, language: str) -> None:
    rooms = Rooms(tmp_path, "lounge", members_limit=len(MEMBERS) + 1)
    async with rooms.opened(), rooms.listens():
        for name in ("ned", "nora"):
            rooms.tokens[name] = (await rooms.call("hal", "invite", id=name)).token
        async with rooms.agent("python", "ned") as ned:
            if language == "python":
                with pytest.raises(CohabitError, match="this room is full"):
                    await open_room(f"http://127.0.0.1:{rooms.port}", rooms.tokens["nora"], ROOM)
            else:
                async with rooms.agent(language, "nora") as nora:
                    assert nora.of_kind("failed") == [["PERMISSION_DENIED", "this room is full"]]
            await rooms.call("pat", "say", text="still room for words")
            await ned.perceives("chat", "pat", "still room for words")
            await rooms.call("hal", "remove_member", member="ned")
        async with rooms.agent(language, "nora") as nora:
            assert nora.of_kind("ready")[0][0]["id"] == "nora"
