"""Tools over HTTP with the official client, in both eras, against a real house."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from cohabit import registry
from cohabit.errors import Busy, CohabitError, every_error
from cohabit.house.house import House
from cohabit.model.tool_names import ToolNames
from cohabit.room.feature import Feature
from cohabit.scenario import AgentSpec, Scenario

KEY = "cohabit/key"


def error_of(result: Any) -> dict[str, Any]:
    assert result.is_error
    error: dict[str, Any] = result.structured_content["error"]
    assert result.content[0].text.startswith(f"[{error['code']}] ")
    return error


async def names(table: Any, who: str, era: str, room: str | None = "nim") -> list[str]:
    async with table.client(who, era, room) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


async def test_a_member_is_listed_the_tools_that_its_grant_gives_and_no_others(table: Any, era: str) -> None:
    player, observer, host = [await names(table, who, era) for who in ("ann", "eve", "hal")]
    assert {"act", "take", "view", "heap", "send_message"} <= set(player)
    assert not {"take", "grant", "invite"} & set(observer)
    assert "act" in observer, "it runs commands that the short list does not have"
    assert {"grant", "audit", "invite", "delete_room"} <= set(host)
    assert not {"rooms", "create_room", "join"} & set(player)  # not about this room


async def test_the_list_does_not_depend_on_whose_turn_it_is(table: Any, era: str) -> None:
    assert await names(table, "ann", era) == await names(table, "bob", era)


async def test_a_command_that_is_called_with_act_answers_in_words_like_a_tool_of_the_world(
    table: Any, era: str
) -> None:
    async with table.client("ann", era, profile=None) as client:
        direct = (await client.call_tool("heap")).content[0].text
        assert (await client.call_tool("act", {"action": "heap"})).content[0].text == direct
        assert "handle: ann\n" in (await client.call_tool("act", {"action": "whoami"})).content[0].text


async def test_tools_say_what_they_are_to_people_and_to_machines(table: Any, era: str) -> None:
    async with table.client("hal", era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["view"].title == "View"
    assert (tools["view"].annotations.read_only_hint, tools["view"].annotations.destructive_hint) == (True, False)
    assert (tools["reset"].annotations.read_only_hint, tools["reset"].annotations.destructive_hint) == (False, True)
    assert not tools["invite"].annotations.read_only_hint
    assert all(tool.input_schema["type"] == "object" and tool.description for tool in tools.values())


async def test_a_tool_result_has_readable_text_and_values_that_match_its_schema(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        await client.list_tools()  # from here on the client holds answers against their schemas
        seen = await client.call_tool("view")
        assert seen.content[0].text == seen.structured_content["text"]
        assert seen.structured_content["your_turn"]
        taken = await client.call_tool("take", {"n": 2})
        assert taken.content[0].text.startswith("You took 2; ")
        assert "The heap: " in taken.content[0].text
        assert taken.structured_content["success"]
        for tool in ("whoami", "session_info", "roster", "rules", "objective_status", "recv_messages", "events"):
            assert not (await client.call_tool(tool)).is_error, tool
        assert (await client.call_tool("heap")).structured_content == {"result": 18}


class Boxes(Feature):
    name = "boxes"
    tools = ToolNames("box_", frozenset({"take", "heap", "wait_for_turn"}))


async def test_a_feature_can_put_a_prefix_before_tools(
    table: Any, era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.PROTOCOLS, "boxes", f"{__name__}:Boxes")
    world = tmp_path / "boxed.py"
    world.write_text(
        "from cohabit.worlds.nim import Nim\n"
        "from cohabit.world import WorldSpec\n"
        "class Boxed(Nim):\n"
        "    spec = WorldSpec(name='boxed', seats=2, pace='turns', quick=True, features=('boxes',))\n"
    )
    agents = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("cat", "dog"))]
    _, tokens = await table.house.create_room(Scenario(world=f"{world}:Boxed", agents=agents), "boxed")
    table.tokens.update(tokens)
    async with table.client("cat", era, "boxed") as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert {"box_take", "box_heap", "box_wait_for_turn", "view"} <= set(listed)
        assert "box_take" in error_of(await client.call_tool("box_tkae", {"n": 1}))["did_you_mean"]
        assert not (await client.call_tool("box_take", {"n": 1})).is_error
        assert "`box_wait_for_turn` waits" in client.instructions
        rules = (await client.call_tool("rules")).structured_content
        assert "- box_take [action]" in rules["text"]
        assert "box_heap" in rules["your_commands"]


async def test_act_and_the_tool_of_the_action_are_the_same(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        done = await client.call_tool("act", {"action": "take", "params": {"n": 1}, "reasoning": "why not"})
    assert done.structured_content["message"].startswith("You took 1")


async def test_two_tokens_on_one_endpoint_are_two_members(table: Any, era: str) -> None:
    async with table.client("ann", era) as ann, table.client("bob", era) as bob:
        assert (await ann.call_tool("whoami")).structured_content["handle"] == "ann"
        assert (await bob.call_tool("whoami")).structured_content["handle"] == "bob"
        assert error_of(await bob.call_tool("take", {"n": 1}))["code"] == "TURN_NOT_YOURS"
        assert not (await ann.call_tool("take", {"n": 1})).is_error
        assert not (await bob.call_tool("take", {"n": 1})).is_error


@pytest.mark.parametrize(
    ("who", "tool", "args", "code"),
    [
        ("bob", "take", {"n": 1}, "TURN_NOT_YOURS"),
        ("eve", "take", {"n": 1}, "PERMISSION_DENIED"),
        ("ann", "take", {"n": 7}, "BAD_ARGS"),
        ("ann", "take", {"m": 1}, "BAD_ARGS"),
        ("ann", "tkae", {"n": 1}, "UNKNOWN_COMMAND"),
        ("ann", "grant", {"member": "bob", "may": []}, "PERMISSION_DENIED"),
        ("ann", "sit", {"seat": "second"}, "PERMISSION_DENIED"),
        ("hal", "grant", {"member": "bop", "may": []}, "UNKNOWN_ASSET"),
    ],
)
async def test_a_refusal_is_an_answer_that_the_model_can_read(
    table: Any, era: str, who: str, tool: str, args: dict[str, Any], code: str
) -> None:
    async with table.client(who, era) as client:
        error = error_of(await client.call_tool(tool, args))
    assert error["code"] == code
    assert error["message"].count("`ask`") == ("needs" in error), "once, where a permission is missing"


async def test_a_wrong_name_brings_the_nearest_ones(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        assert error_of(await client.call_tool("tak"))["did_you_mean"][0] == "take"
        assert "whoami" in error_of(await client.call_tool("who_am_i"))["did_you_mean"]


async def test_every_error_of_the_house_arrives_with_its_code(
    table: Any, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = list(every_error())
    assert Busy in errors
    async with table.client("ann", era) as client:
        for cls in errors:

            async def call(self: House, *args: Any, cls: type[CohabitError] = cls, **kwargs: Any) -> Any:
                raise cls("as it happens", did_you_mean=["this"], place=[1, 2])

            monkeypatch.setattr(House, "call", call)
            error = error_of(await client.call_tool("view"))
            assert error == {
                "code": cls.code,
                "message": "as it happens",
                "did_you_mean": ["this"],
                "place": [1, 2],
            }


async def test_a_bug_tells_nothing_of_the_inside(
    table: Any, era: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def call(self: House, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("the secret is 42")

    async with table.client("ann", era) as client:
        monkeypatch.setattr(House, "call", call)
        told = [str(await client.call_tool("view"))]
        for method in (client.read_resource("cohabit://nim/view"), client.get_prompt("play")):
            with pytest.raises(Exception, match="INTERNAL") as failed:
                await method
            told.append(str(failed.value) + str(getattr(failed.value, "error", "")))
    assert "42" not in "".join(told)
    assert "the secret is 42" in caplog.text


async def test_the_same_key_twice_acts_once(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        first = await client.call_tool("take", {"n": 1}, meta={KEY: "k1"})
        again = await client.call_tool("take", {"n": 1}, meta={KEY: "k1"})
        assert first.structured_content["message"] == again.structured_content["message"]
        assert error_of(await client.call_tool("take", {"n": 2}, meta={KEY: "k1"}))["code"] in (
            "CONFLICT",
            "TURN_NOT_YOURS",
        )
        assert error_of(await client.call_tool("take", {"n": 2}, meta={KEY: 7}))["code"] == "BAD_ARGS"
    assert table.house.rooms["nim"].room.world.stones == 19


async def test_a_stranger_is_turned_away_and_the_token_is_not_repeated(table: Any) -> None:
    async with httpx2.AsyncClient() as http:
        for headers in ({}, {"authorization": "Bearer sesame-open-up"}, {"authorization": "Basic YTpi"}):
            reply = await http.post(f"{table.url}/mcp/nim", json={}, headers=headers)
            assert reply.status_code == 401
            assert reply.headers["www-authenticate"].startswith("Bearer")
            assert reply.json()["error"]["data"]["code"] == "UNAUTHORIZED"
            assert "sesame" not in reply.text


class Older:
    """A client of the older era that minds its own sessions."""

    def __init__(self, table: Any, http: httpx2.AsyncClient) -> None:
        self.table, self.http = table, http

    async def open(self, who: str) -> str:
        about = {"name": "t", "version": "1"}
        asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}
        opened = await self.send("initialize", who, params=asked)
        return str(opened.headers["mcp-session-id"])

    async def send(
        self, method: str, who: str, session: str | None = None, path: str = "/mcp/nim", **more: Any
    ) -> httpx2.Response:
        headers = {
            "authorization": f"Bearer {self.table.tokens[who]}",
            "accept": "application/json, text/event-stream",
            **({"mcp-session-id": session} if session else {}),
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, **more}
        return await self.http.post(self.table.url + path, json=body, headers=headers)


async def test_a_session_belongs_to_the_token_and_the_room_that_opened_it(table: Any) -> None:
    async with httpx2.AsyncClient() as http:
        older = Older(table, http)
        session = await older.open("ann")
        assert (await older.send("ping", "ann", session)).status_code == 200
        assert (await older.send("ping", "bob", session)).status_code == 404
        assert (await older.send("ping", "ann", session, path="/mcp")).status_code == 404


async def test_a_caller_who_opens_too_many_sessions_loses_its_own_oldest(table: Any) -> None:
    async with httpx2.AsyncClient() as http:
        older = Older(table, http)
        bobs = await older.open("bob")
        anns = [await older.open("ann") for _ in range(table.house.settings.connections_per_member + 1)]
        assert (await older.send("ping", "ann", anns[0])).status_code == 404
        assert (await older.send("ping", "ann", anns[1])).status_code == 200
        assert (await older.send("ping", "bob", bobs)).status_code == 200


async def test_a_revoked_token_is_refused_with_the_next_call(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        assert not (await client.call_tool("whoami")).is_error
        await table.revoke("ann")
        assert error_of(await client.call_tool("whoami"))["code"] == "UNAUTHORIZED"


async def test_instructions_say_who_and_where_you_are_and_that_messages_are_data(table: Any, era: str) -> None:
    async with table.client("ann", era) as client:
        told = client.instructions
    for part in (
        "You are 'ann' in room 'nim'",
        "seat first",
        "takes the last one wins",
        "wait_for_turn",
        "data",
    ):
        assert part in told
    async with table.client("eve", era) as client:
        assert "`take`" not in client.instructions  # she may not act, so she is not told how


async def test_a_body_reads_as_text_with_all_that_it_feels_and_what_it_cannot_do(table: Any, era: str) -> None:
    agents = [AgentSpec(id="zoe", role="player")]
    _, tokens = await table.house.create_room(Scenario(world="planet", seed=1, agents=agents), "verdant")
    table.tokens |= tokens
    async with table.client("zoe", era, "verdant", profile=None) as client:
        entered = await client.call_tool("jack_in")
        assert entered.structured_content is None
        text = entered.content[0].text
        assert text.startswith("You have a new body.\n\n=== AVATAR: zoe ===\nHealth: 100/100\n")
        inspected = (await client.call_tool("inspect_self")).content[0].text
        assert text == f"You have a new body.\n\n{inspected}"
        assert "\nBlocked: drop (there is no platform or ladder below you); " in inspected
        assert "\n\nStep 0, day, on Verdant" in inspected
        assert len(inspected) < 1_500
    async with table.client("zoe", era, "verdant") as client:
        await client.list_tools()  # from here on the client holds answers against their schemas
        values = (await client.call_tool("inspect_self")).structured_content
        assert "move" in values["actions_available"]
        assert values["actions_blocked"]["beam_down"] == "you are not aboard your ship"
        assert not (await client.call_tool("stance", {"stance": "crouching"})).is_error
