"""The mod for OpenStarbound, run in Lua 5.3: through the real bridge and the room, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.starbound.engine import Engine
from tests.starbound.games import Served, Table, a_bridge, a_room

ANN = "0123456789abcdef"


class Play:
    """A client with the mod, connected to a bridge."""

    def __init__(self, served: Served, engine: Engine) -> None:
        self.served, self.engine = served, engine

    async def observe(self) -> dict[str, Any]:
        return await self.served.bridge.request("observe", ANN)

    async def act(self, action: str, **parameters: Any) -> dict[str, Any]:
        return await self.served.bridge.request("act", ANN, action, parameters)

    async def reset(self) -> dict[str, Any]:
        return await self.served.bridge.request("reset", ANN)


@asynccontextmanager
async def playing(setup: str = "", **settings: Any) -> AsyncIterator[Play]:
    async with a_bridge() as served:
        engine = Engine({"url": served.url, "token": served.token, **settings})
        engine.do(setup)
        async with engine.playing():
            while not served.bridge.is_connected(ANN):
                await asyncio.sleep(0)
            yield Play(served, engine)


async def test_the_mod_answers_an_observation_with_what_the_player_sees() -> None:
    setup = """
      game.entities[5] = {type = "monster", name = "^red;Poptop", position = {13.5, 2.5}, aggressive = true}
      game.entities[6] = {type = "object", name = "chest", position = {9.5, 2.5}, interactive = true, size = 9}
      game.entities[7] = {type = "monster", name = "far", position = {60.5, 2.5}}
      game.bags.mainBag[0] = {name = "torch", count = 4}
      game.bags.foodBag[1] = {name = "torch", count = 1}
      game.effects = {"wet"}
      game.quests = {gate = {state = "Active", title = "The gate", objectives = {{"find it", false}, {"land", true}}},
                     old = {state = "Complete", objectives = {}}}
    """
    async with playing(setup) as play:
        seen = await play.observe()
    assert (seen["health"], seen["max_health"], seen["energy"], seen["food"]) == (75, 100, 40, 30)
    assert (seen["position"], seen["world_name"], seen["time_of_day"]) == ([10.5, 2.5], "lush", "day")
    assert seen["inventory"] == {"torch": 5}
    assert [(e["name"], e["direction"], e["distance"], e.get("state")) for e in seen["nearby_entities"]] == [
        ("chest", "left", 1.0, None), ("Poptop", "right", 3.0, "hostile"),
    ]  # fmt: skip
    assert {t["direction"]: t.get("passable", True) for t in seen["nearby_terrain"]} == {
        "left": True, "right": True, "above": True, "below": False,
    }  # fmt: skip
    assert seen["effects"] == [{"name": "wet"}]
    assert seen["quests"] == [{"id": "gate", "description": "The gate: find it", "type": "side", "progress": "1/2"}]


async def test_an_empty_world_is_a_valid_observation() -> None:
    async with playing() as play:
        seen = await play.observe()
    assert (seen["inventory"], seen["nearby_entities"], seen["quests"], seen["effects"]) == ({}, [], [], [])


# -- moving -------------------------------------------------------------------------------------------
async def test_a_player_walks_for_as_long_as_the_action_says() -> None:
    async with playing() as play:
        done = await play.act("move_right", seconds=1)
        assert done["success"]
        assert done["message"] == "walked 8.0 tiles to the right"
        assert done["observation"]["position"][0] == pytest.approx(18.5, abs=0.2)
        back = await play.act("move", direction="left", seconds=0.5)
        assert back["message"].endswith("tiles to the left")
        assert back["observation"]["position"][0] == pytest.approx(14.5, abs=0.3)
        assert back["observation"]["facing"] == "left"


async def test_a_wall_in_the_way_makes_a_step_fail() -> None:
    walls = "".join(f'game.tiles["11,{y}"] = "stone" ' for y in range(4))
    async with playing(walls) as play:
        stopped = await play.act("move_right")
        assert (stopped["success"], stopped["message"]) == (False, "something is in the way to the right")


async def test_a_jump_goes_up_and_comes_down_again_and_needs_ground() -> None:
    async with playing() as play:
        jumped = await play.act("jump", direction="right")
        assert jumped["success"]
        assert "tiles high" in jumped["message"]
        x, y = jumped["observation"]["position"]
        assert x > 11
        assert y == pytest.approx(2.5, abs=0.1)
        play.engine.do("game.position = {10.5, 40.5} game.grounded = false")
        refused = await play.act("jump")
        assert (refused["success"], refused["message"][:20]) == (False, "you cannot jump now:")


async def test_a_player_drops_through_a_platform_and_not_through_earth() -> None:
    platform = "".join(f'game.tiles["{x},4"] = "platform" ' for x in range(8, 14))
    async with playing(platform + "game.position = {10.5, 7.5}") as play:
        dropped = await play.act("drop")
        assert (dropped["success"], dropped["message"]) == (True, "dropped 5.0 tiles")
        assert not (await play.act("drop"))["success"]


async def test_waiting_takes_game_time() -> None:
    async with playing() as play:
        assert (await play.act("wait", seconds=2))["message"] == "waited 2.0 seconds"


# -- the world ----------------------------------------------------------------------------------------
async def test_a_tool_digs_the_tile_it_is_pointed_at() -> None:
    async with playing('game.tiles["11,2"] = "copper"') as play:
        dug = await play.act("use_tool", direction="right")
        assert (dug["success"], dug["message"]) == (True, "dug out copper: right")
        assert not (await play.act("use_tool", direction="right"))["success"]
        play.engine.do("game.protected = true")
        protected = await play.act("use_tool", direction="below")
        assert (protected["success"], "protected" in protected["message"]) == (False, True)


async def test_a_tile_that_is_too_hard_ends_the_action() -> None:
    async with playing('game.tiles["11,2"] = "bedrock" game.hardness["11,2"] = 1000') as play:
        assert "too hard" in (await play.act("use_tool", direction="right"))["message"]


async def test_interacting_uses_the_nearest_thing_that_can_be_used() -> None:
    setup = """
      game.entities[5] = {type = "object", name = "chest", position = {11.5, 2.5}, interactive = true, size = 9}
      game.entities[6] = {type = "npc", name = "Bob", position = {9, 2.5}, interactive = true}
    """
    async with playing(setup) as play:
        assert (await play.act("interact"))["message"] == "opened chest"
        play.engine.do("game.entities[5] = nil")
        assert (await play.act("interact"))["message"] == "scripts cannot talk to Bob or press its switch"
        play.engine.do(
            'game.entities[6] = {type = "object", name = "teleporter", position = {9, 2.5}, interactive = true, interactAction = "OpenTeleportDialog"}'
        )
        assert (await play.act("interact"))["message"] == "used teleporter"
        assert list(play.engine.game.opened.values()) == ["OpenContainer", "OpenTeleportDialog"]


async def test_nobody_but_an_admin_can_attack_because_scripts_cannot_press_fire() -> None:
    async with playing('game.entities[5] = {type = "monster", position = {4.5, 2.5}, aggressive = true}') as play:
        for attack in ("attack", "alt_attack"):
            refused = await play.act(attack)
            assert not refused["success"]
            assert "no way to press the fire button" in refused["message"]
        play.engine.do("game.admin = true")
        assert (await play.act("attack"))["message"] == "fired to the left"
        assert play.engine.do("return #game.shots") == 1


async def test_beaming_warps_between_planet_and_ship() -> None:
    async with playing() as play:
        assert not (await play.act("beam_down"))["success"]
        assert (await play.act("beam_up"))["success"]
        play.engine.do('game.worldId = "ClientShipWorld:1"')
        assert not (await play.act("beam_up"))["success"]
        assert (await play.act("beam_down"))["success"]
        assert (await play.act("warp", destination="outpost"))["success"]
        assert list(play.engine.game.warps.values()) == ["OwnShip", "OrbitedWorld", "InstanceWorld:outpost"]


# -- items --------------------------------------------------------------------------------------------
ITEMS = """
  game.bags.mainBag[0] = {name = "dirtmaterial", count = 2}
  game.bags.foodBag[0] = {name = "apple", count = 1}
  game.bags.mainBag[1] = {name = "sword", count = 1}
  game.bar = {{"mainBag", 0}, {"foodBag", 0}, {"mainBag", 1}}
  game.kinds = {dirtmaterial = "material", apple = "consumable"}
  game.configs = {apple = {foodValue = 10, effects = {{{effect = "wellfed", duration = 10}}}}}
"""


async def test_items_are_held_used_eaten_and_dropped() -> None:
    async with playing(ITEMS) as play:
        assert (await play.act("equip", slot=3))["observation"]["holding"] == "sword"
        assert "fire button" in (await play.act("use_item", slot=3))["message"]
        assert (await play.act("unequip", slot=3))["success"]
        assert not (await play.act("unequip", slot=3))["success"]
        eaten = await play.act("use_item", slot=2)
        assert (eaten["observation"]["food"], eaten["observation"]["effects"]) == (40, [{"name": "wellfed"}])
        assert (await play.act("consume", item="apple"))["message"] == "you have no apple"
        assert (await play.act("consume", item="sword"))["message"] == "sword cannot be consumed"
        placed = await play.act("use_item", slot=1)
        assert (placed["message"], placed["observation"]["inventory"]) == (
            "you placed dirtmaterial",
            {"dirtmaterial": 1, "sword": 1},
        )
        dropped = await play.act("drop_item", slot=3)
        assert (dropped["message"], dropped["observation"]["inventory"]) == ("you dropped 1 sword", {"dirtmaterial": 1})
        for action in ("equip", "use_item", "drop_item"):
            assert not (await play.act(action, slot=9))["success"]


async def test_crafting_takes_the_materials_and_gives_the_item() -> None:
    recipe = """
      game.bags.mainBag[0] = {name = "wood", count = 5}
      game.recipes = {{output = {name = "torch", count = 2}, input = {{name = "wood", count = 1}}}}
    """
    async with playing(recipe) as play:
        made = await play.act("craft", item="torch")
        assert (made["message"], made["observation"]["inventory"]) == ("you made 2 torch", {"wood": 4, "torch": 2})
        assert not (await play.act("craft", item="castle"))["success"]
        assert (await play.act("open_crafting"))["success"]


async def test_talk_emotes_and_quests() -> None:
    quests = 'game.quests = {gate = {state = "Active", title = "The gate", objectives = {{"find it", false}}}}'
    async with playing(quests) as play:
        assert (await play.act("say", message="hello"))["success"]
        assert not (await play.act("say", message="/admin"))["success"]
        assert list(play.engine.game.said.values()) == ["hello"]
        assert (await play.act("emote", emote="happy"))["success"]
        assert "there is no emote yodel" in (await play.act("emote", emote="yodel"))["message"]
        assert (await play.act("check_quest"))["message"] == "gate: The gate: find it (0/1)"
        assert (await play.act("track_quest", quest_id="gate"))["observation"]["quests"][0]["type"] == "main"
        assert not (await play.act("track_quest", quest_id="nothing"))["success"]
        assert (await play.act("use_tech", slot="legs"))[
            "message"
        ] == "the engine gives scripts no way to trigger doublejump"
        assert (await play.act("look"))["message"] == "there is nothing around you"


# -- the connection -----------------------------------------------------------------------------------
async def test_every_action_of_the_table_is_answered_by_the_mod() -> None:
    from cohabit.protocols.starbound.actions import ACTIONS

    values = {"direction": "left", "slot": 1, "seconds": 0.1}
    async with playing() as play:
        assert ACTIONS.actions
        for action in ACTIONS.actions:
            given = {p.name: p.options[0] if p.options else values.get(p.name, "x") for p in action.parameters}
            done = await play.act(action.name, **given)
            assert "the mod failed" not in done["message"], (action.name, done)
            assert "does not know" not in done["message"], action.name
        assert not [line for line in play.engine.log if "fail" in line]


async def test_an_unknown_action_and_a_broken_script_are_answered_too() -> None:
    async with playing() as play:
        assert (await play.act("fly"))["message"] == "the mod does not know the action fly"
        play.engine.do("world.damageTiles = function() error('out of memory') end game.tiles['11,2'] = 'stone'")
        broken = await play.act("use_tool", direction="right")
        assert not broken["success"]
        assert "out of memory" in broken["message"]
        assert (await play.act("wait"))["success"]


async def test_a_reset_stops_the_action_and_shows_the_view() -> None:
    async with playing() as play:
        assert (await play.reset())["health"] == 75


async def test_the_mod_sends_nothing_to_a_site_that_the_player_does_not_trust() -> None:
    async with a_bridge() as served:
        engine = Engine({"url": served.url, "token": served.token}, trusted=())
        async with engine.playing():
            await asyncio.sleep(0)
            engine.tick(10)
            assert len(engine.requests) == 1
            assert not served.bridge.is_connected()


async def test_without_http_the_mod_says_what_to_switch_on() -> None:
    async with a_bridge() as served:
        engine = Engine({"url": served.url, "token": served.token}, enabled=False)
        async with engine.playing():
            await asyncio.sleep(0)
            assert (engine.requests, "safe.luaHttp.enabled" in engine.log[0]) == ([], True)


async def test_a_wrong_token_is_logged_and_polling_goes_on_after_a_pause() -> None:
    async with a_bridge() as served:
        engine = Engine({"url": served.url, "token": "wrong", "retrySeconds": 1})
        engine.lua.globals().init()
        engine.tick()
        await engine.changed.wait()
        engine.tick(30)  # half a second
        assert len(engine.requests) == 1
        assert "status 401" in engine.log[0]
        engine.tick(40)
        assert len(engine.requests) == 2
        assert not served.bridge.is_connected()


async def test_a_bridge_that_is_not_there_is_tried_again_after_a_pause() -> None:
    engine = Engine({"url": "http://localhost:1", "token": "x", "retrySeconds": 1})
    engine.lua.globals().init()
    engine.tick()
    await engine.changed.wait()
    engine.tick(30)
    assert (len(engine.requests), "no connection to the bridge" in engine.log[0]) == (1, True)
    engine.tick(40)
    assert len(engine.requests) == 2


async def test_a_player_who_warps_leaves_no_poll_behind_that_would_swallow_a_command() -> None:
    async with a_bridge() as served:
        before = Engine({"url": served.url, "token": served.token})
        async with before.playing():
            while not served.bridge.is_connected(ANN):
                await asyncio.sleep(0)
        before.leave()
        while len([r for r in before.requests if r.arrived]) < 2:  # the old poll, and the request that ended it
            await asyncio.sleep(0)
        asked = asyncio.ensure_future(served.bridge.request("observe", ANN))
        await asyncio.sleep(0)
        async with Engine({"url": served.url, "token": served.token}).playing():
            assert (await asked)["health"] == 75


async def test_a_player_who_leaves_during_an_action_answers_it() -> None:
    async with a_bridge() as served:
        engine = Engine({"url": served.url, "token": served.token})
        engine.lua.globals().init()
        engine.tick()
        while not served.bridge.is_connected(ANN):
            await asyncio.sleep(0)
        asked = asyncio.ensure_future(served.bridge.request("act", ANN, "move_left", {"seconds": 9}))
        while not engine.unanswered:
            await asyncio.sleep(0)
        engine.tick(5)
        engine.leave()
        assert (await asked)["message"] == "you left this world during the action"


async def test_a_command_that_arrives_while_the_player_leaves_is_answered_as_not_done() -> None:
    async with a_bridge() as served:
        engine = Engine({"url": served.url, "token": served.token})
        engine.lua.globals().init()
        engine.tick()
        while not served.bridge.is_connected(ANN):
            await asyncio.sleep(0)
        asked = asyncio.ensure_future(served.bridge.request("act", ANN, "jump"))
        while not engine.unanswered:
            await asyncio.sleep(0)
        engine.leave()
        done = await asked
        assert (done["success"], done["message"]) == (False, "you were leaving this world; nothing was done")


# -- with the room ------------------------------------------------------------------------------------
async def test_an_agent_in_the_room_moves_the_character_in_the_game() -> None:
    async with playing() as play, a_room(play.served) as table:
        assert isinstance(table, Table)
        done = await table.call("ann", "move_right", {"seconds": 1})
        assert done.message == "walked 8.0 tiles to the right"
        assert done.observation.location.coordinates[0] == pytest.approx(18.5, abs=0.2)
        seats = {seat.id: seat.name for seat in table.house.rooms["ship"].room.state.seats}
        assert seats == {ANN: "Ann"}
        text = done.observation.to_text()
        assert "health: 75" in text
        assert "standing, on the surface, lush" in text
