"""The tools that a model is shown: one to look with and one to talk with, and every tool that a text names is listed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cohabit.errors import UnknownCommand
from cohabit.scenario import AgentSpec, Scenario

LOUNGE = Scenario(
    world="lounge",
    agents=[
        AgentSpec(id="hera", kind="human", role="host"),
        AgentSpec(id="kib", role="human"),
        AgentSpec(id="owl"),
        AgentSpec(id="board", role="app"),
    ],
)
PIN = {"properties": {"do": {"const": "pin"}, "text": {"type": "string"}}, "required": ["do", "text"]}
NOT_LISTED = re.compile(r"(Your other commands, also those|Not listed as tools).*")


async def open_lounge(table: Any, room: str, *, with_app: bool = False) -> None:
    _, tokens = await table.house.create_room(LOUNGE, room)
    table.tokens.update(tokens)
    for who, command, args in (
        ("board", "publish_schema", {"name": "board.action", "version": "1", "schema": PIN}),
        ("board", "publish_view", {"view": "x" * 20_000}),
    ):
        if with_app:
            await table.house.call(table.house.identify(tokens[who]), room, command, args)
    await table.house.call(table.house.identify(tokens["hera"]), room, "say", {"text": "hello"})


async def all_text(client: Any, look: str) -> tuple[set[str], str]:
    """The tools that a model is shown, and every text that it gets before it begins and when it looks."""
    tools = (await client.list_tools()).tools
    texts = [client.instructions or "", (await client.get_prompt("play")).messages[0].content.text]
    texts += [(await client.call_tool(tool)).content[0].text for tool in ("rules", look)]
    texts += [f"{tool.description} {tool.input_schema}" for tool in tools]
    return {tool.name for tool in tools}, NOT_LISTED.sub("", "\n".join(texts))


def named_tools(table: Any, room: str, text: str) -> set[str]:
    """The commands that a text names."""
    known = {command.name for command in table.house.rooms[room].commands}
    return known & set(re.findall(r"`(\w+)`", text))


@pytest.mark.parametrize("who", ["kib", "owl", "hera"])
@pytest.mark.parametrize("with_app", [False, True])
async def test_where_nobody_plays_a_model_looks_with_observe_and_talks_with_say(
    table: Any, era: str, who: str, with_app: bool
) -> None:
    await open_lounge(table, "den", with_app=with_app)
    async with table.client(who, era, room="den", profile=None) as client:
        listed, text = await all_text(client, "observe")
    assert {"view", "events", "wait_for_turn", "send_message", "recv_messages"}.isdisjoint(listed)
    assert "observe" in listed
    assert ("say" in listed) == (who != "owl")
    assert ("pin" in listed) == (with_app and who == "kib")
    assert ("app_view" in listed) == with_app
    # A world's text is the same for everybody: an agent that only watches is told of `say` and `act`, too.
    assert named_tools(table, "den", text) - listed <= ({"say", "act"} if who == "owl" else set())


async def test_in_a_game_a_model_looks_with_view_and_talks_with_send_message(table: Any, era: str) -> None:
    async with table.client("ann", era, profile=None) as client:
        listed, text = await all_text(client, "view")
    assert {"observe", "say"}.isdisjoint(listed)
    assert {"view", "wait_for_turn", "send_message", "recv_messages", "events"} <= listed
    assert named_tools(table, "nim", text) <= listed


async def test_tools_that_are_not_listed_can_be_called(table: Any, era: str) -> None:
    await open_lounge(table, "den")
    for who, room, tools in (("kib", "den", ("view", "events", "recv_messages")), ("ann", "nim", ("observe",))):
        async with table.client(who, era, room=room, profile=None) as client:
            for tool in tools:
                assert not (await client.call_tool(tool)).is_error
    async with table.client("kib", era, room="den", profile=None) as client:
        sent = await client.call_tool("send_message", {"to": "hera", "content": "by its name"})
        assert not sent.is_error


async def test_with_a_token_for_the_house_there_is_one_tool_to_look_with_and_one_to_talk_with(
    table: Any, era: str
) -> None:
    table.admit("gus", host=True)
    await table.act("gus", "join", {})
    async with table.client("gus", era, room=None, profile=None) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
    assert {"view", "send_message"} <= listed
    assert {"observe", "say"}.isdisjoint(listed)


async def test_a_client_that_listens_is_told_of_new_actions_and_of_a_new_view(table: Any) -> None:
    await open_lounge(table, "den")
    app = table.house.identify(table.tokens["board"])
    view = "cohabit://den/view"
    async with (
        table.client("kib", "auto", room="den", profile=None) as client,
        client.listen(resource_subscriptions=[view], tools_list_changed=True) as sub,
    ):
        news = aiter(sub)
        await table.house.call(app, "den", "publish_view", {"view": 1})
        assert (await anext(news)).uri == view
        await table.house.call(app, "den", "publish_schema", {"name": "action", "version": "1", "schema": PIN})
        assert type(await anext(news)).__name__ == "ToolsListChanged"
        assert "pin" in {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}


async def test_an_action_of_an_app_cannot_hide_a_command_of_the_house(table: Any) -> None:
    await open_lounge(table, "den")
    app = table.house.identify(table.tokens["board"])
    forms = [{"properties": {"do": {"const": name}}, "required": ["do"]} for name in ("events", "observe", "invite")]
    await table.house.call(app, "den", "publish_schema", {"name": "action", "version": "1", "schema": {"oneOf": forms}})
    kib = table.house.identify(table.tokens["kib"])
    assert (await table.house.call(kib, "den", "events")).items
    with pytest.raises(UnknownCommand):
        await table.house.call(kib, "den", "act", {"action": "invite"})
