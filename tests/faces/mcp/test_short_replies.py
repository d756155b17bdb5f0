"""Replies to actions: a model reads what came of its action and what has changed, and nothing twice."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Any

import pytest

from cohabit.faces.mcp.short_replies import MAX_IN_A_ROW
from cohabit.model.text_changes import apply_changes
from cohabit.model.view_changes import HOW_TO_READ
from cohabit.scenario import AgentSpec, Scenario

CHANGES = "\n\nChanges since view "


def text(result: Any) -> str:
    assert not result.is_error
    return str(result.content[0].text)


def id_of(shown: str) -> str:
    (line,) = [line for line in shown.split("\n") if line.startswith("This is view ")]
    return line.removeprefix("This is view ").removesuffix(".")


@asynccontextmanager
async def zoe_in(table: Any, world: str, profile: str | None = None, **config: Any) -> Any:
    agents = [AgentSpec(id="zoe", role="player", claim="auto:0")]
    _, tokens = await table.house.create_room(Scenario(world=world, seed=1, agents=agents, config=config), world)
    table.tokens |= tokens
    table.room = world
    async with table.client("zoe", "auto", world, profile=profile) as client:
        yield client


async def test_the_reply_to_an_action_has_what_has_changed_and_the_whole_view_is_one_call_away(table: Any) -> None:
    async with zoe_in(table, "crafter") as zoe:
        whole = text(await zoe.call_tool("view"))
        done = text(await zoe.call_tool("move_left"))
        assert done.startswith(f"move_left: done.{CHANGES}{id_of(whole)}:\nStep 1, you moved L1.")
        assert len(done) < len(whole) / 2
        again = text(await zoe.call_tool("act", {"action": "move_left"}))
        assert f"{CHANGES}{id_of(done)}:\nStep 2" in again
        assert text(await zoe.call_tool("view")).startswith("Step 2/10000, day, at 30,32. health 9")


async def test_a_view_that_another_client_of_the_same_member_got_is_not_referred_to(table: Any) -> None:
    async with zoe_in(table, "crafter") as zoe:
        whole = text(await zoe.call_tool("view"))
        await table.act("zoe", "move_up", {})
        assert (await table.act("zoe", "view", {})).id != id_of(whole)
        done = text(await zoe.call_tool("move_left"))
        assert f"{CHANGES}{id_of(whole)}:\nStep 2, you moved L1U1." in done


async def test_who_has_read_no_view_gets_it_with_the_first_action_and_again_after_some_short_replies(
    table: Any,
) -> None:
    async with zoe_in(table, "crafter") as zoe:
        replies = [text(await zoe.call_tool("noop")) for _ in range(MAX_IN_A_ROW + 2)]
    assert [CHANGES in reply for reply in replies] == [False, *[True] * MAX_IN_A_ROW, False]
    assert all("Carry nothing." in reply for reply in (replies[0], replies[-1]))
    assert not any("is not known any more" in reply for reply in replies)


async def test_how_to_read_changes_is_told_once_and_they_give_the_whole_view(table: Any) -> None:
    async with zoe_in(table, "kingdoms", zones_x=2, zones_y=2) as zoe:
        whole = text(await zoe.call_tool("view"))
        first = text(await zoe.call_tool("act", {"action": "muster", "params": {"percent": 40}}))
        second = text(await zoe.call_tool("act", {"action": "fortify", "params": {"on": True}}))
    assert (first.count(HOW_TO_READ), second.count(HOW_TO_READ)) == (1, 0)
    assert len(first) < len(whole) / 2
    assert len(second) < len(whole) / 2
    changed = first.partition(f"{HOW_TO_READ}\n")[2].rpartition("\nThis is view")[0]
    now = apply_changes(whole.rpartition("\nThis is view")[0], changed)
    assert "\norders: muster 40%" in now
    assert "POWERS that you can invoke" in now


@pytest.mark.parametrize("world", ["crafter", "planet"])
async def test_what_came_of_the_action_is_said_once(table: Any, world: str) -> None:
    async with zoe_in(table, world) as zoe:
        if world == "crafter":
            await zoe.call_tool("view")
            done = text(await zoe.call_tool("do"))
            assert done.startswith("Failed: No effect: no sapling this time")
            assert done.count("no sapling this time") == 1
            return
        for _ in range(2):  # with the whole view, and with what has changed
            done = text(await zoe.call_tool("use_tool", {"direction": "down"}))
            assert done.startswith("You chose use_tool. +1 dirt.")
            assert done.count("+1 dirt.") == 1
            assert "YOUR LAST ACTION" not in done
        failed = text(await zoe.call_tool("act", {"action": "craft", "params": {"item": "workbench"}}))
        assert failed.startswith("Failed: workbench needs ")
        assert failed.count("workbench needs") == 1


async def test_programs_get_the_whole_observation_as_before(table: Any) -> None:
    async with zoe_in(table, "crafter", profile="full") as zoe:
        await zoe.call_tool("view")
        done = await zoe.call_tool("move_left")
    assert CHANGES not in text(done)
    assert "Carry nothing." in text(done)
    assert done.structured_content["observation"]["status"]["position"] == [31, 32]
