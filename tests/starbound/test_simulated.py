"""The whole way with a world behind it: agent, room, connector, bridge, poller, our own planets, and back; over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.starbound.games import Table, a_bridge, a_room

from cohabit.protocols.starbound.actions import ACTIONS
from cohabit.protocols.starbound.adapter import StarboundAdapter
from cohabit.protocols.starbound.bridge import TIMEOUT_MS
from cohabit.protocols.starbound.simulated import SimulatedGame, SimulatedPlayers
from cohabit.protocols.starbound.wire import read_outcome, read_view
from cohabit.protocols.wsap import Action


@asynccontextmanager
async def at_play(seed: int = 3, **players: str) -> AsyncIterator[tuple[Table, SimulatedPlayers]]:
    """A room around two characters on our planets."""
    async with a_bridge() as served:
        games = SimulatedPlayers(served.url, served.token or "", players or {"uuid-a": "Ann", "uuid-b": "Ben"}, seed)
        while sum(player.connected for player in served.bridge.players()) < len(players or "ab"):
            await asyncio.sleep(0)
        try:
            async with a_room(served) as table:
                yield table, games
        finally:
            await games.close()


async def test_an_agent_in_the_room_walks_and_digs_on_the_planet() -> None:
    async with at_play(**{"uuid-a": "Ann"}) as (table, games):
        body = games.game.room.world.game.bodies[0]  # type: ignore[attr-defined]
        where = (body.x, body.y)
        seen = await table.look("ann")
        assert seen.location is not None
        assert seen.location.coordinates == where
        moved = await table.call("ann", "move", {"direction": "left", "seconds": 1})
        assert moved.success
        assert moved.observation.location.coordinates == (body.x, body.y) == (where[0] - 2, where[1])
        dug = await table.call("ann", "use_tool", {"direction": "below"})
        assert dug.success, dug.message
        assert sum(dug.observation.inventory.values()) == 1
        assert dug.observation.inventory == body.items


async def test_what_cannot_be_done_there_fails_with_the_reason_of_that_world() -> None:
    async with at_play() as (table, _):
        refused = await table.call("ann", "beam_down")
        assert (refused.success, "beam_down failed" in refused.message) == (False, True)
        refused = await table.call("ann", "craft", {"item": "castle"})
        assert (refused.success, "craft: item must be one of" in refused.message) == (False, True)


async def test_going_aboard_changes_the_place_and_quests_are_goals() -> None:
    async with at_play() as (table, _):
        before = await table.look("ann")
        assert "Collect 5 wood" in before.to_text()
        aboard = await table.call("ann", "beam_up")
        assert aboard.success
        assert before.location is not None
        assert aboard.observation.location.region != before.location.region
        assert (await table.call("ann", "beam_down")).success
        assert "wood" in (await table.call("ann", "check_quest")).message
        assert (await table.call("ann", "track_quest", {"quest_id": "hunter"})).message.startswith("You track")


async def test_two_players_share_the_planet_and_see_each_other() -> None:
    async with at_play() as (table, games):
        world: Any = games.game.room.world
        steps = world.game.step_number
        for who, side in (("ann", "left"), ("ben", "right"), ("ann", "right")):
            assert (await table.call(who, "jump", {"direction": side})).observation.status["health"] > 0
        assert world.game.step_number == steps + 3
        assert [e.type for e in (await table.look("ben")).nearby_entities].count("player") == 1


async def test_the_planets_stop_answering_and_come_back() -> None:
    async with at_play() as (table, games):
        await games.close()
        acting = asyncio.ensure_future(table.call("ann", "jump"))
        while not table.served.waits_for("act"):
            await asyncio.sleep(0)
        await table.served.clock.advance(TIMEOUT_MS)
        with pytest.raises(Exception, match="did not fetch"):
            await acting
        both = {"uuid-a": "Ann", "uuid-b": "Ben"}  # ann plays the one that was connected first
        again = SimulatedPlayers(table.served.url, table.served.token or "", both, 3)
        while not all(map(table.served.bridge.is_connected, both)):
            await asyncio.sleep(0)
        assert (await table.call("ann", "jump")).success
        await again.close()


async def test_a_script_plays_the_planets_through_the_adapter() -> None:
    async with at_play(player="Ann") as (table, _):
        adapter = StarboundAdapter(table.served.url, token=table.served.token)
        first = await asyncio.to_thread(adapter.reset)
        result = await asyncio.to_thread(adapter.act, Action("move_right", {"seconds": 1}))
        assert first.location is not None
        assert result.observation is not None
        assert result.observation.location is not None
        assert result.observation.location.coordinates[0] == first.location.coordinates[0] + 2
        adapter.close()


parameters = {"direction": ["left", "right", "above", "below"], "slot": [1, 2, 10, "head"], "seconds": [0.1, 1, 10],
              "item": ["wood", "dirt", "workbench", "torch", "x"], "destination": ["ship", "planet", "ember"],
              "message": ["hi"], "emote": ["wave"], "quest_id": ["wood", "x"]}  # fmt: skip


@st.composite
def commands(draw: st.DrawFn) -> dict[str, Any]:
    action = draw(st.sampled_from(ACTIONS.actions))
    given = {p.name: draw(st.sampled_from(p.options or parameters[p.name])) for p in action.parameters}
    return {"type": "act", "player_id": draw(st.sampled_from("ab")), "action": action.name, "parameters": given}


@given(seed=st.integers(0, 5), asked=st.lists(commands(), max_size=12))
@settings(max_examples=examples(25), deadline=None)
def test_whatever_is_asked_the_planets_answer_in_the_shapes_of_the_wire(seed: int, asked: list[dict[str, Any]]) -> None:
    game = SimulatedGame(["a", "b"], seed)
    for command in asked:
        outcome = read_outcome(game.answer(command))
        assert outcome.message
        assert outcome.observation == read_view(game.answer({"type": "observe", "player_id": command["player_id"]}))
