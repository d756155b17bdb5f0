"""What a model reads before its first move: the list of tools, the instructions, the prompt. Short, and true."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest

from cohabit.errors import PermissionDenied, Quarantined
from cohabit.faces.mcp import prompts
from cohabit.faces.mcp.backend import InHouse
from cohabit.faces.mcp.tools import list_tools, short_schema
from cohabit.house.calls.command_list import room_commands
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.registry import WITHOUT_SEATS, find_world, known_worlds
from cohabit.scenario import AgentSpec, Scenario, presets, read_scenario

MAX_TOKENS = 2_500
CHARACTERS_PER_TOKEN = 4
"""For these lists a little less than in common tokenizers (o200k: 4.1), so the estimate is on the safe side."""
ROOM = "r"
NEED_A_CONNECTOR = ("workspace", "worldbox")
"""Worlds that run elsewhere. `cohabit workspace serve` and `cohabit worldbox` open their rooms."""


def tokens(tools: list[types.Tool]) -> float:
    listed = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    return len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False)) / CHARACTERS_PER_TOKEN


def _ann(world: str) -> AgentSpec:
    return AgentSpec(id="ann", role="player", claim=None if world in WITHOUT_SEATS else "auto:0")


def scenarios() -> dict[str, Scenario]:
    """Every preset, and a room of every world with two players and a watcher."""
    agents = [AgentSpec(id="bob", role="player"), AgentSpec(id="eve", role="observer")]
    plain = {
        f"world {name}": Scenario(world=name, seed=1, agents=[_ann(name), *agents])
        for name in (*known_worlds(), *NEED_A_CONNECTOR)
    }
    return plain | {name: read_scenario(name) for name in presets()}


@pytest.fixture(scope="module", params=scenarios().values(), ids=scenarios())
async def rooms(request: pytest.FixtureRequest) -> AsyncIterator[tuple[House, dict[str, str]]]:
    """A built-in room, and the tokens of its members. The tests only read it, so they share it."""
    async with House.open(Settings()) as house:
        _, tokens = await house.create_room(request.param, ROOM)
        yield house, tokens


def members(house: House, tokens: dict[str, str], full: bool = False) -> list[InHouse]:
    assert tokens, "a room has members"
    return [InHouse(house, house.identify(token), ROOM, full=full) for token in tokens.values()]


@pytest.mark.sampled(start=1)
async def test_the_list_of_tools_of_every_member_of_every_built_in_room_is_short(rooms: Any) -> None:
    for backend in members(*rooms):
        listed = (await list_tools(backend)).tools
        assert tokens(listed) <= MAX_TOKENS, [(tool.name, tokens([tool])) for tool in listed]
        assert not any(tool.output_schema for tool in listed)


@pytest.mark.sampled(start=2)
async def test_a_broadcast_is_described_to_members_who_may_send_one_and_to_no_others(rooms: Any) -> None:
    house, tokens = rooms
    for full in (False, True):
        for backend, (handle, token) in zip(members(house, tokens, full), tokens.items(), strict=True):
            room = house.rooms[ROOM].room
            may = "send_broadcast" in room.member_of(house.identify(token).identity).held
            texts = [
                tool.model_dump_json() for tool in (await list_tools(backend)).tools if "send_message" in tool.name
            ]
            told = [info.description for info in (await backend.call("schemas", {})).commands]
            assert [('\\"*\\"' in text) for text in texts] == [may] * len(texts), handle
            assert any('"*"' in text for text in told) is may


async def test_the_list_has_the_tools_of_the_world_and_those_that_every_player_needs(table: Any, era: str) -> None:
    assert await names(table, "ann", era) == [
        "act", "rules", "view", "wait_for_turn", "send_message", "recv_messages", "take", "heap", "events"
    ]  # fmt: skip
    assert await names(table, "eve", era) == [
        "act", "rules", "view", "wait_for_turn", "ask", "send_message", "recv_messages", "heap", "events"
    ]  # fmt: skip


async def test_rules_name_every_tool_that_the_member_can_call_as_it_is_called_and_no_other(rooms: Any) -> None:
    for backend in members(*rooms, full=True):
        named = (await backend.call("rules", {})).your_commands
        assert sorted(named) == sorted(tool.name for tool in (await list_tools(backend)).tools)


async def test_rules_say_how_to_call_every_command_of_the_member_with_each_of_its_arguments(rooms: Any) -> None:
    for backend in members(*rooms):
        told = (await backend.call("rules", {})).text
        actions, _, others = told.partition("\n\nYour other commands")
        for info in room_commands(await backend.commands(ROOM)):
            arguments = list(info.schema["properties"])
            if not info.for_model:
                assert f"{info.tool_name}(" not in others
            elif f"\n- {info.tool_name} [" in actions:
                found = actions.partition(f"\n- {info.tool_name} [")[2].partition("\n- ")[0]
                assert all(f"\n      {name} (" in found for name in arguments), info.tool_name
            else:
                call = re.search(rf"[ ,]{info.tool_name}\((.*?)\)", others)
                assert call is not None, info.tool_name
                required = info.schema["required"]
                said = [part.partition(":")[0] for part in call[1].split(", ") if part]
                assert said == [name if name in required else f"{name}?" for name in arguments]


async def test_every_action_of_a_world_is_a_tool_or_the_instructions_say_how_to_call_it(rooms: Any) -> None:
    for backend in members(*rooms):
        tools = {tool.name for tool in (await list_tools(backend)).tools}
        told = await prompts.instructions(backend)
        for info in await backend.commands(ROOM):
            if info.where == "world" and info.records and info.for_model and info.tool_name not in tools:
                call = re.search(rf"Not listed as tools: .*[ ,]{info.tool_name}\((.*?)\)", told)
                assert call is not None, info.tool_name
                said = [part.partition(":")[0].rstrip("?") for part in call[1].split(", ") if part]
                assert said == list(info.schema["properties"])


async def test_the_instructions_say_how_to_call_what_bodies_can_do_also_what_is_possible_only_later() -> None:
    agents = [AgentSpec(id="ann", role="player", claim="auto:0"), AgentSpec(id="bob", role="player")]
    async with House.open(Settings()) as house:
        _, tokens = await house.create_room(
            Scenario(world="planet", seed=1, agents=[*agents, AgentSpec(id="eve", role="observer")]), ROOM
        )
        ann, bob, eve = [await prompts.instructions(backend) for backend in members(house, tokens)]
    for call in (
        "create_avatar(name?, appearance?, spawn_location?: challenging|random|safe)",
        "transfer(avatar_id, mode?: despawn|dormant|suspend)", "jack_out(mode?: despawn|dormant|suspend)",
        "look(target)", "respawn(option?)",
    ):  # fmt: skip
        assert call in ann, call
        assert call in bob, call
        assert call.partition("(")[0] not in eve, "she may not act"
    assert "jack_in(avatar_id?)" in ann
    assert "jack_in(" not in bob, "he has no body, so it is among the tools"


async def test_the_instructions_are_short(rooms: Any) -> None:
    for backend in members(*rooms):
        assert len(await prompts.instructions(backend)) / CHARACTERS_PER_TOKEN <= MAX_TOKENS / 2


async def test_the_short_form_of_a_schema_has_the_same_arguments(rooms: Any) -> None:
    for backend in members(*rooms):
        for info in await backend.commands(ROOM):
            short = short_schema(info.schema)
            assert short["type"] == "object"
            assert list(short.get("properties", {})) == list(info.schema["properties"])
            assert short.get("required", []) == info.schema["required"]


def test_the_short_form_of_a_schema_keeps_what_a_caller_must_know() -> None:
    assert short_schema(
        {
            "title": "Args", "type": "object", "additionalProperties": False, "required": [],
            "properties": {
                "title": {"description": "of the book", "anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}],
                          "default": None},
                "size": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
                "x": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1, "default": 3},
                "to": {"type": "object", "additionalProperties": {"title": "Way", "type": "string"}, "default": {}},
                "on": {"type": "boolean", "default": False},
                "off": {"type": "boolean", "default": True},
            },
        }
    ) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 9, "description": "of the book"},
            "size": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            "x": {"type": "integer", "minimum": 0, "default": 3},
            "to": {"type": "object", "additionalProperties": {"type": "string"}},
            "on": {"type": "boolean"},
            "off": {"type": "boolean", "default": True},
        },
    }  # fmt: skip


async def test_the_full_profile_lists_everything_with_output_schemas(rooms: Any) -> None:
    house, tokens = rooms
    for short, full in zip(members(house, tokens), members(house, tokens, full=True), strict=True):
        everything = {tool.name: tool for tool in (await list_tools(full)).tools}
        assert {info.tool_name for info in await full.commands(ROOM) if info.about != "house" and not info.joins} == (
            everything.keys()
        )
        assert {tool.name for tool in (await list_tools(short)).tools} < everything.keys()
        assert everything["rules"].output_schema


async def test_a_tool_that_is_not_listed_can_be_called(table: Any, era: str) -> None:
    async with table.client("ann", era, profile=None) as client:
        assert "whoami" not in [tool.name for tool in (await client.list_tools()).tools]
        assert json.loads((await client.call_tool("whoami")).content[0].text)["handle"] == "ann"


async def test_without_an_output_schema_nothing_is_answered_twice(table: Any, era: str) -> None:
    async with table.client("ann", era, profile=None) as client:
        for answer in (
            await client.call_tool("view"),
            await client.call_tool("take", {"n": 1}),
            await client.call_tool("take", {"n": 1}),
            await client.call_tool("recv_messages"),
        ):
            assert answer.structured_content is None
            assert len(answer.content) == 1
        assert (await client.call_tool("take", {"n": 1})).content[0].text.startswith("[TURN_NOT_YOURS] ")


async def test_an_unknown_profile_is_refused(table: Any) -> None:
    headers = {"authorization": f"Bearer {table.tokens['ann']}"}
    async with httpx2.AsyncClient() as http:
        reply = await http.post(f"{table.url}/mcp/nim?profile=fulll", json={}, headers=headers)
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "BAD_ARGS"
    assert "full" in reply.json()["error"]["message"]


async def test_a_member_is_not_listed_tools_that_can_only_be_refused_or_do_nothing(table: Any) -> None:
    async with House.open(Settings()) as house:
        _, tokens = await house.create_room(read_scenario("pvp"), ROOM)
        for backend in members(house, tokens, full=True):
            assert not {"sit", "stand_up"} & {tool.name for tool in (await list_tools(backend)).tools}
        for backend in members(house, tokens):
            assert "worldbox_dismiss_window" not in {tool.name for tool in (await list_tools(backend)).tools}
    assert "picture" not in await names(table, "hal", "auto", profile="full")  # Nim has no pictures
    assert not {"sit", "stand_up"} & set(await names(table, "ann", "auto", profile="full"))  # her seat is claimed


async def listed_to(house: House, tokens: dict[str, str], who: str, room: str = ROOM) -> set[str]:
    backend = InHouse(house, house.identify(tokens[who]), room, full=True)
    return {tool.name for tool in (await list_tools(backend)).tools}


async def test_actions_that_need_a_seat_are_listed_only_to_members_who_have_one_or_can_take_one() -> None:
    agents = [AgentSpec(id="ann", role="player", claim="auto:0"), AgentSpec(id="bob", role="player")]
    async with House.open(Settings()) as house:
        _, tokens = await house.create_room(
            Scenario(world="nim", agents=[*agents, AgentSpec(id="zeus", role="god")]), ROOM
        )
        assert {"take", "sit"} <= await listed_to(house, tokens, "zeus"), "the second seat is free"
        assert "stand_up" not in await listed_to(house, tokens, "bob")
        await house.door.call(house.identify(tokens["bob"]), ROOM, "sit")
        assert not {"take", "sit", "stand_up"} & await listed_to(house, tokens, "zeus")
        assert "take" not in (await house.door.call(house.identify(tokens["zeus"]), ROOM, "rules")).your_commands
        assert {"take", "stand_up"} <= await listed_to(house, tokens, "bob")
        assert "take" in await listed_to(house, tokens, "ann")
        with pytest.raises(PermissionDenied, match="take requires a seat"):  # it stays callable, and says what is wrong
            await house.door.call(house.identify(tokens["zeus"]), ROOM, "take", {"n": 1})


async def test_saves_are_listed_only_in_a_house_with_a_data_folder_and_reopening_only_in_a_quarantined_room(
    tmp_path: Path,
) -> None:
    scenario = Scenario(world="nim", agents=[AgentSpec(id=role, role=role) for role in ("god", "host", "player")])
    saves, reopen = {"save_world", "load_world", "list_saves"}, {"reopen_room"}
    for data, god, host in ((None, {"load_world"}, set()), (str(tmp_path), saves, saves)):
        async with House.open(Settings(data=data) if data else Settings()) as house:
            _, tokens = await house.create_room(scenario, ROOM)
            assert (saves | reopen) & await listed_to(house, tokens, "god") == god
            assert (saves | reopen) & await listed_to(house, tokens, "host") == host
            house.rooms[ROOM].failure = Quarantined("it failed")
            assert "reopen_room" in await listed_to(house, tokens, "host")
            assert "reopen_room" not in await listed_to(house, tokens, "player")
            house.rooms[ROOM].failure = None


async def test_a_player_without_a_claim_is_listed_how_to_take_a_seat_while_one_is_free(table: Any, era: str) -> None:
    await table.invite("zoe", role="player")
    async with table.client("zoe", era, profile=None) as client:
        await client.call_tool("join", {"keep_token": True})
    assert "sit" not in await names(table, "zoe", era), "both seats are taken"
    await table.act("hal", "remove_member", {"member": "bob"})
    assert "sit" in await names(table, "zoe", era)


async def names(table: Any, who: str, era: str, profile: str | None = None) -> list[str]:
    async with table.client(who, era, profile=profile) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


# -- texts ----------------------------------------------------------------------------------------
async def texts(backend: InHouse) -> AsyncIterator[tuple[str, str]]:
    """Everything that a model is told before it acts."""
    yield "the instructions", await prompts.instructions(backend)
    play = await prompts.get_prompt(backend, types.GetPromptRequestParams(name="play"))
    content = play.messages[0].content
    assert isinstance(content, types.TextContent)
    yield "the prompt", content.text
    for tool in (await list_tools(backend)).tools:
        yield f"the tool {tool.name}", f"{tool.description} {json.dumps(tool.input_schema)}"


@pytest.mark.sampled
async def test_every_text_names_commands_as_they_are_called(rooms: Any) -> None:
    for backend in [*members(*rooms), *members(*rooms, True)]:
        commands = backend.house.rooms[ROOM].commands
        renamed = [command.name for command in commands if command.tool_name != command.name]
        quoted = re.compile(rf"`({'|'.join(renamed) or '$^'})`")
        unmistakable = [name for name in renamed if "_" in name]
        plain = re.compile(rf"(?<!\w)({'|'.join(unmistakable) or '$^'})(?!\w)")
        async for what, text in texts(backend):
            assert not quoted.findall(text), what
            assert not [found for found in plain.findall(text) if found not in CAPABILITIES], what


CAPABILITIES = {"send_message"}
"""Names of capabilities that are also the names of commands."""


async def test_every_tool_that_a_text_names_can_be_called(rooms: Any) -> None:
    for backend in members(*rooms):
        callable_ = {info.tool_name for info in await backend.commands(ROOM)}
        told = await prompts.instructions(backend)
        named = re.findall(r"^- `(\w+)`", told, re.MULTILINE)
        assert ("view" in named) != ("observe" in named)
        assert set(named) <= callable_


async def test_the_prompt_says_nothing_twice(rooms: Any) -> None:
    for backend in members(*rooms):
        prompt = await prompts.get_prompt(backend, types.GetPromptRequestParams(name="play"))
        content = prompt.messages[0].content
        assert isinstance(content, types.TextContent)
        sentences = re.findall(r"^[^ \n].*[a-z]+ [a-z]+.{30,}$", content.text, re.MULTILINE)  # no parameters, no maps
        assert [told for told in sentences if sentences.count(told) > 1] == []
        about = (find_world(backend.house.rooms[ROOM].room.state.world).__doc__ or "").split(".")[0]
        assert content.text.count(" ".join(about.split()) + ".") <= 1
        assert re.search(r"\(with `act`\),\s\w+ \(with `act`\)", content.text) is None, "of several: each with `act`"


async def test_capabilities_are_short_and_have_schemas_on_request(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        short = (await client.call_tool("capabilities")).structured_content["commands"]
        assert len(json.dumps(short)) / CHARACTERS_PER_TOKEN <= MAX_TOKENS
        assert all(line["description"] and "schema" not in line for line in short)
        full = (await client.call_tool("schemas")).structured_content["commands"]
        assert [line["name"] for line in full if line.get("for_model", True)] == [line["name"] for line in short]
        assert all("schema" in line for line in full)
        one = (await client.call_tool("schemas", {"command": "take"})).structured_content["commands"]
        assert [line["name"] for line in one] == ["take"]
        assert one[0]["schema"]["required"] == ["n"]
        refused = await client.call_tool("schemas", {"command": "tkae"})
        assert refused.structured_content["error"]["did_you_mean"][0] == "take"


async def test_the_list_of_the_whole_house_is_short(table: Any) -> None:
    table.admit("roy", host=True)
    async with table.client("roy", "auto", room=None, profile=None) as client:
        listed = (await client.list_tools()).tools
    assert tokens(listed) <= MAX_TOKENS
    assert {"rooms", "create_room", "join"} <= {tool.name for tool in listed}
