"""The tools that a model is shown: one to look with and one to talk with, and every tool that a text names is listed."""

from __future__ import annotations

import re
from typing import Any

import mcp_types as types
import pytest

from cohabit.errors import CohabitError, UnknownCommand
from cohabit.faces.mcp import prompts
from cohabit.faces.mcp.backend import InHouse
from cohabit.faces.mcp.tool_list import worded
from cohabit.faces.mcp.tools import list_tools
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.grant import ROLES, Capability
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
WITH_ACT = re.compile(
    r"(Your other commands; over MCP|Not listed as tools|When they are possible).*|^- \w+ \[.*|\w+ \((each )?with `act`\)",
    re.MULTILINE,
)
"""Commands that are called with `act` if they are not tools of the member: those that `rules` lists, and some others."""


async def open_lounge(table: Any, room: str, *, with_app: bool = False) -> None:
    _, tokens = await table.house.create_room(LOUNGE, room)
    table.tokens.update(tokens)
    for who, command, args in (
        ("board", "publish_schema", {"name": "board.action", "version": "1", "schema": PIN}),
        ("board", "publish_view", {"view": "x " * 5_000}),
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
    return {tool.name for tool in tools}, WITH_ACT.sub("", "\n".join(texts))


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
    assert named_tools(table, "den", text) <= listed


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
    await open_lounge(table, "den")
    table.admit("una", host=True)
    async with table.client("una", era, room=None, profile=None) as client:
        for tool in ("join", "leave"):
            await client.call_tool(tool, {"room": "den"})
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert ({"observe", "say"} <= listed) == (tool == "join")
            assert {"view", "wait_for_turn", "send_message", "recv_messages"}.isdisjoint(listed), "nothing is played"


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


# -- every role in every kind of room ---------------------------------------------------------------
KINDS = {"a game": "nim", "hidden hands": "whist", "a lounge": "lounge", "an app": "lounge", "bodies": "planet"}
TRIED = (
    "sit",
    "stand_up",
    "take_over",
    "invite",
    "exit_game",
    "publish_view",
    "jack_in",
    "pin",
    "take",
    "nothing_such",
)
TO_PLAYERS = re.compile(r"What its players are told:.*?(?=\n\nActions:|\Z)", re.DOTALL)
LOOKS = ("rules", "view", "observe", "wait_for_turn")


async def read_by(backend: InHouse) -> tuple[set[str], str]:
    """The tools of a member, and all that it reads: before it begins, when it looks, and when it is refused."""
    tools = (await list_tools(backend)).tools
    listed = {tool.name for tool in tools}
    play = await prompts.get_prompt(backend, types.GetPromptRequestParams(name="play"))
    texts = [await prompts.instructions(backend), play.messages[0].content.text]  # type: ignore[union-attr]
    texts += [f"{tool.description} {tool.input_schema}" for tool in tools]
    for name in (*LOOKS, *TRIED):
        args = {"wait_ms": 0} if name == "wait_for_turn" else {"through": "east"} if name == "ask" else {}
        try:
            reply = await backend.call(name, args) if name in TRIED or name in listed else ""
            texts.append(getattr(reply, "text", ""))
        except CohabitError as refused:
            text = refused.as_text().replace(name, "it")
            texts.append(await worded(backend, text, is_reply=True))
            continue
        texts[-1] = await worded(backend, texts[-1], is_reply=True)
    return listed, "\n".join(TO_PLAYERS.sub("", text) for text in texts)


def tools_in(text: str, known: set[str]) -> set[str]:
    """What a text names as a tool: in quotes, in brackets, after a word that says so, or by a name that is no word."""
    looks_so = r"`(\w+)`|\((\w+)\)|\b[Cc]all (\w+)|\b[Uu]se (\w+)|\b(\w+_\w+)\b"
    found = {name for names in re.findall(looks_so, text) for name in names if name}
    return (found & known) - set(Capability)


@pytest.mark.parametrize("kind", KINDS)
async def test_no_text_names_a_tool_that_the_member_has_not_and_roles_are_told_of_those_they_need(kind: str) -> None:
    world = KINDS[kind]
    agents = [AgentSpec(id=f"a-{role}", role=role, kind="human" if role == "host" else "agent") for role in ROLES]
    async with House.open(Settings()) as house:
        _, tokens = await house.create_room(Scenario(world=world, seed="0" * 31 + "7", agents=agents), "r")
        if kind == "an app":
            app = house.identify(tokens["a-app"])
            await house.call(app, "r", "publish_schema", {"name": "b.action", "version": "1", "schema": PIN})
            await house.call(app, "r", "publish_view", {"view": "x " * 5_000})
        known = {c.tool_name for c in house.rooms["r"].commands} | {c.name for c in house.commands}
        for role in ROLES:
            backend = InHouse(house, house.identify(tokens[f"a-{role}"]), "r")
            listed, text = await read_by(backend)
            assert "act" in listed, "it runs what is not listed"
            assert tools_in(WITH_ACT.sub("", text), known) - listed == set(), role
            told = await prompts.instructions(backend)
            for tool in ("act", "rules", *(("publish_view", "publish_schema") if role == "app" else ())):
                assert f"\n- `{tool}` " in told, role


async def test_the_words_of_members_are_shown_as_they_are_and_once(table: Any, era: str) -> None:
    await open_lounge(table, "den")
    words = 'try `mute` and "`invite`"'
    for who, command, args in (
        ("hera", "say", {"text": words}),
        ("board", "publish_view", {"view": {"tip": "`close_report`"}}),
        ("owl", "ask", {"may": ["send_message"], "why": "`mute` me"}),
    ):
        await table.house.call(table.house.identify(table.tokens[who]), "den", command, args)
    async with table.client("kib", era, room="den", profile=None) as client:
        assert {"mute", "invite"}.isdisjoint(tool.name for tool in (await client.list_tools()).tools)
        read = (await client.call_tool("recv_messages")).content[0].text
        assert "try `mute` and" in read
        seen = (await client.call_tool("observe")).content[0].text
        assert seen.count(words) == 1
        assert "`close_report`" in seen
        again = await client.call_tool("observe", {"cursor": seen.rpartition("Cursor: ")[2]})
        assert again.content[0].text.count(words) == 1
    async with table.client("hera", era, room="den", profile=None) as client:
        assert "\n- `mute` me" in (await client.call_tool("observe")).content[0].text


async def test_what_is_not_listed_is_called_with_act_also_if_the_house_runs_it(table: Any, era: str) -> None:
    async with table.client("hal", era, profile=None) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert "invite" not in listed
        made = await client.call_tool("act", {"action": "invite", "params": {"id": "zoe", "role": "player"}})
        assert not made.is_error
        assert "zoe" in made.content[0].text
        assert (await client.call_tool("act", {"action": "roster"})).content[0].text.count("hal")
