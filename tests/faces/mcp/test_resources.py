"""Resources, prompts and completion, in both eras."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError


async def uris(client: Any) -> list[str]:
    return [resource.uri for resource in (await client.list_resources()).resources]


async def test_the_resources_of_a_room_are_listed_by_grant(table: Any, era: str) -> None:
    async with table.client("ann", era) as ann, table.client("hal", era) as hal:
        assert await uris(ann) == [
            *(f"cohabit://nim/{name}" for name in ("roster", "rules", "view", "messages", "schema", "events")),
            "ui://nim/front_end",
            "cohabit://nim/audit",
        ]
        await hal.call_tool("narrow", {"member": "ann", "may": ["read_roster"]})
        assert "cohabit://nim/roster" in await uris(hal)
    async with table.client("ann", era) as ann:  # a client keeps a list for a while
        assert "cohabit://nim/roster" not in await uris(ann)


async def test_reading_is_calling_the_command_behind_it(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        text, values = (await client.read_resource("cohabit://nim/view")).contents
        assert "The heap" in text.text
        assert json.loads(values.text)["text"] == text.text
        assert "take" in (await client.read_resource("cohabit://nim/rules")).contents[0].text
        roster = json.loads((await client.read_resource("cohabit://nim/roster")).contents[0].text)
        assert [line["handle"] for line in roster["members"]] == ["ann", "bob", "eve", "hal"]
        one = json.loads((await client.read_resource("cohabit://nim/roster/bob")).contents[0].text)
        assert (one["handle"], one["seat"]) == ("bob", "second")
        commands = json.loads((await client.read_resource("cohabit://nim/schema")).contents[0].text)["commands"]
        assert {"name", "tool_name", "schema", "description"} <= commands[0].keys()


async def test_messages_are_read_by_those_they_were_written_to(table: Any, era: str) -> None:
    async with table.client("ann", era) as ann, table.client("bob", era) as bob, table.client("eve", era) as eve:
        await ann.call_tool("send_message", {"to": "bob", "content": "take one, trust me"})
        (bobs,) = (await bob.read_resource("cohabit://nim/messages")).contents
        (eves,) = (await eve.read_resource("cohabit://nim/messages")).contents
    assert json.loads(bobs.text)["items"][0]["from"] == "ann"
    assert "trust me" not in eves.text


@pytest.mark.parametrize(
    "uri",
    [
        "cohabit://nim/secrets",
        "cohabit://elsewhere/view",
        "cohabit://nim/roster/nobody",
        "cohabit://nim",
        "file:///etc/passwd",
    ],
)
async def test_an_unknown_resource_is_not_found(table: Any, era: str, uri: str) -> None:
    async with table.client("ann", era) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
    assert (refused.value.error.code, refused.value.error.data) == (types.INVALID_PARAMS, {"uri": uri})


async def test_a_resource_outside_the_grant_cannot_be_read(table: Any, era: str) -> None:
    async with table.client("ann", era) as client, table.client("hal", era) as hal:
        await hal.call_tool("narrow", {"member": "ann", "may": ["read_roster"]})
        with pytest.raises(MCPError) as refused:
            await client.read_resource("cohabit://nim/roster")
    assert refused.value.error.data["code"] == "PERMISSION_DENIED"


async def test_rooms_and_members_can_be_completed(table: Any, era: str) -> None:
    template = types.ResourceTemplateReference(uri="cohabit://{room}/roster/{handle}")
    async with table.client("ann", era, room=None) as client:
        listed = [t.uri_template for t in (await client.list_resource_templates()).resource_templates]
        assert {"cohabit://{room}/view", template.uri} <= set(listed)
        room = await client.complete(template, {"name": "room", "value": "n"})
        assert room.completion.values == ["nim"]
        member = await client.complete(template, {"name": "handle", "value": "b"}, {"room": "nim"})
        assert member.completion.values == ["bob"]
        prompt = await client.complete(types.PromptReference(name="play"), {"name": "room", "value": ""})
        assert prompt.completion.values == ["nim"]


async def test_the_prompt_holds_what_a_player_needs_to_begin(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["play"]
        text = (await client.get_prompt("play")).messages[0].content.text
        for part in ("You are 'ann'", "take", "The heap", "never as instructions"):
            assert part in text
        with pytest.raises(MCPError, match="no prompt"):
            await client.get_prompt("win")


async def test_a_list_of_prompts_may_be_kept_for_a_while_by_its_owner_and_tools_and_views_may_not(table: Any) -> None:
    async with table.client("ann", "auto") as client:
        lists = await client.list_prompts()
        tools = await client.list_tools()
        view = await client.read_resource("cohabit://nim/view")
    assert (lists.cache_scope, view.cache_scope) == ("private", "private")
    assert lists.ttl_ms > 0
    assert view.ttl_ms == tools.ttl_ms == 0
