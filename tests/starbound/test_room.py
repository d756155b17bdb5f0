"""Agents in a room, the game behind it: through connector, bridge and poller, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.starbound.games import PLAYERS, VIEW, Game, a_bridge, a_room, obedient, serving

from cohabit.errors import CohabitError
from cohabit.faces.app import make_app
from cohabit.faces.python import connect
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.protocols.starbound.bridge import TIMEOUT_MS
from cohabit.protocols.starbound.connector import POLL_MS, HttpLink, LocalLink, StarboundConnector
from cohabit.registry import make_world
from cohabit.remote import Ask
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock
from cohabit.world import Eye


async def code_of(asked: Any) -> str:
    try:
        await asked
    except CohabitError as refusal:
        return refusal.code
    return "ok"


async def until(true: Any) -> None:
    while not true():
        await asyncio.sleep(0)


def acts(game: Game) -> list[dict[str, Any]]:
    return [command for command in game.seen if command["type"] == "act"]


async def test_an_action_reaches_the_game_and_what_it_changed_comes_back() -> None:
    view = dict(VIEW)

    def answer(command: dict[str, Any]) -> Any:
        if command["type"] == "act":
            view["position"] = [13.0, 20.0]
            return {"success": True, "message": "walked", "reward": 1.5, "achievements": ["first_steps"],
                    "events": [{"description": "a bird sings"}]}  # fmt: skip
        return view

    async with a_bridge() as served, Game(served, answer).playing() as game, a_room(served) as table:
        done = await table.call("ann", "move_right", {"seconds": 2})
        assert (done.success, done.message, done.reward, done.achievements) == (True, "walked", 1.5, ["first_steps"])
        assert done.observation.location.coordinates == (13.0, 20.0)
        assert [event.description for event in done.observation.recent_events] == ["a bird sings"]
        assert done.data is None
        (acted,) = acts(game)
        assert (acted["action"], acted["parameters"], acted["player_id"]) == ("move_right", {"seconds": 2.0}, "player")


async def test_what_is_said_in_the_game_keeps_to_the_limits_of_the_room() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        await table.call("zeus", "set_chat_limits", {"slow_mode_s": 30, "blocked_words": ["fool"]})
        assert (await table.call("ann", "say", {"message": "hello"})).success
        assert await code_of(table.call("ann", "say", {"message": "again"})) == "BUSY"
        assert (await table.call("ann", "jump")).success
        await served.clock.advance(30_000)
        assert await code_of(table.call("ann", "say", {"message": "f\u00f2ol"})) == "PERMISSION_DENIED"
        await table.call("zeus", "mute", {"member": "ann"})
        assert await code_of(table.call("ann", "say", {"message": "fine"})) == "PERMISSION_DENIED"
        assert [act["action"] for act in acts(game)] == ["say", "jump"]


async def test_the_text_of_a_view_says_all_that_a_model_needs() -> None:
    async with a_bridge() as served, Game(served, obedient).playing(), a_room(served) as table:
        text = (await table.look("ann")).to_text()
        for line in (
            "Step 0 (day)", "health: 80", "energy: 50.5", "dirt: 3", "on grass, Gaia at (10, 20)",
            "- chest (object, 2.5 away, left, can interact)\n- Poptop (monster, 8 away, right, hostile)",
            "- dirt (below you, cannot pass)", "- wet (3 steps left)", "- Find the gate (0/1)",
        ):  # fmt: skip
            assert line in text


async def test_an_action_that_fails_in_the_game_is_an_outcome_and_is_on_the_record() -> None:
    def answer(command: dict[str, Any]) -> Any:
        return {"success": False, "message": "too heavy"} if command["type"] == "act" else VIEW

    async with a_bridge() as served, Game(served, answer).playing(), a_room(served) as table:
        done = await table.call("ann", "interact")
        assert (done.success, done.message) == (False, "too heavy")
        entries = [line.entry.do for line in table.house.rooms["ship"].room.record.tail]
        assert entries[-2:] == ["asked", "answered"]


@pytest.mark.parametrize(
    ("action", "args"),
    [
        ("move", {"direction": "up"}), ("move", {}), ("move_left", {"seconds": 99}), ("equip", {"slot": 11}),
        ("say", {"message": ""}), ("say", {"message": "x" * 501}), ("use_tech", {"slot": "arm"}), ("jump", {"high": True}),
    ],
)  # fmt: skip
async def test_arguments_are_checked_before_anything_is_sent(action: str, args: dict[str, Any]) -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        assert await code_of(table.call("ann", action, args)) == "BAD_ARGS"
        assert acts(game) == []


async def test_polling_keeps_views_fresh_and_records_only_changes() -> None:
    view = dict(VIEW)
    async with a_bridge() as served, Game(served, lambda c: view).playing() as game, a_room(served) as table:
        record = table.house.rooms["ship"].room.record
        before = record.seq
        await table.poll()
        assert record.seq == before
        view["health"] = 12
        looked = len(game.seen)
        await served.clock.advance(POLL_MS)
        await until(lambda: len(game.seen) > looked and record.seq > before)
        assert (await table.look("ann")).status["health"] == 12


# -- players ------------------------------------------------------------------------------------------
def of(name: str, health: int) -> Any:
    def answer(command: dict[str, Any]) -> Any:
        if command["type"] == "act":
            return {"success": True, "message": f"{name} did it"}
        return {**VIEW, "health": health, "world_name": f"home of {name}"}

    return answer


async def test_each_connected_player_is_a_seat_and_sees_only_what_its_character_sees() -> None:
    async with a_bridge() as served:
        anns, bens = Game(served, of("Ann", 11), "uuid-a", "Ann"), Game(served, of("Ben", 22), "uuid-b", "Ben")
        async with anns.playing(), bens.playing(), a_room(served) as table:
            seen = {who: await table.look(who) for who in ("ann", "ben", "owl", "zeus")}
            assert [seen[who].status.get("health") for who in ("ann", "ben")] == [11, 22]
            assert "Ben" not in seen["ann"].to_text()
            assert "home of" not in seen["owl"].to_text()
            assert "home of Ben" in seen["zeus"].to_text()
            assert (await table.call("ben", "jump")).message == "Ben did it"
            assert [command["player_id"] for command in acts(bens)] == ["uuid-b"]
            assert acts(anns) == []
            told = json.dumps(await table.events("ann"))
            assert "Ben did it" not in told


async def test_a_public_view_of_a_seat_shows_nothing_of_it() -> None:
    async with a_bridge() as served, Game(served, obedient).playing(), a_room(served) as table:
        world = table.house.rooms["ship"].room.world
        assert "health" in world.observe(Eye("player", "own")).to_text()
        assert "health" not in world.observe(Eye("player", "public")).to_text()


async def test_a_member_without_a_seat_cannot_act() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        assert await code_of(table.call("ben", "jump")) == "PERMISSION_DENIED"  # the second player has not come yet
        assert await code_of(table.call("owl", "jump")) == "PERMISSION_DENIED"
        assert acts(game) == []


async def test_a_slow_action_of_one_player_does_not_hold_up_another() -> None:
    async with a_bridge() as served:
        anns, bens = Game(served, of("Ann", 11), "uuid-a", "Ann"), Game(served, of("Ben", 22), "uuid-b", "Ben")
        async with anns.playing(), bens.playing(), a_room(served) as table:
            anns.is_mute = True
            waiting = asyncio.ensure_future(table.call("ann", "jump"))
            await until(lambda: acts(anns))
            assert (await table.call("ben", "jump")).message == "Ben did it"
            assert not waiting.done()
            await served.clock.advance(TIMEOUT_MS)
            assert await code_of(waiting) == "OUTCOME_UNKNOWN"


async def test_a_player_who_leaves_keeps_its_seat_and_the_others_are_told() -> None:
    async with a_bridge() as served, Game(served, obedient, "uuid-a", "Ann").playing(), a_room(served) as table:
        async with Game(served, obedient, "uuid-b", "Ben").playing():
            await table.poll()
            assert len(table.house.rooms["ship"].room.state.seats) == 2
        await served.clock.advance(30_000)
        await table.poll()
        assert len(table.house.rooms["ship"].room.state.seats) == 2
        seen = await table.look("ben")
        assert "not connected at the moment" in seen.to_text()
        assert seen.status["health"] == 80
        assert await code_of(table.call("ben", "jump")) == "UNREACHABLE"
        told = await table.events("ann")
        assert "Ben is no longer connected" in told


# -- games that misbehave, seen from the room ---------------------------------------------------------
async def test_a_game_that_stops_polling_refuses_the_action_as_not_executed() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        await game.stop()
        acting = asyncio.ensure_future(table.call("ann", "jump", key="k"))
        await until(lambda: served.waits_for("act"))
        await served.clock.advance(TIMEOUT_MS)
        assert await code_of(acting) == "UNREACHABLE"
        async with Game(served, obedient).playing() as again:
            assert (await table.call("ann", "jump", key="k")).success  # the key may be used again
            assert len(acts(again)) == 1


async def test_a_late_answer_leaves_the_outcome_unknown_and_the_key_is_not_sent_again() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        game.is_mute = True
        acting = asyncio.ensure_future(table.call("ann", "jump", key="k"))
        await until(lambda: acts(game))
        await served.clock.advance(TIMEOUT_MS)
        assert await code_of(acting) == "OUTCOME_UNKNOWN"
        async with served.client() as client:
            late = await game.post(client, {"id": acts(game)[0]["id"], "result": {"success": True, "message": "late"}})
            assert late[0] == 409
        game.is_mute = False
        assert await code_of(table.call("ann", "jump", key="k")) == "OUTCOME_UNKNOWN"
        done = await table.call("ann", "drop")
        assert done.message == "did drop"
        told = await table.events("ann")
        assert "ann: jump: Timeout waiting for game response" in told
        assert "late" not in json.dumps(told)


@pytest.mark.parametrize("garbage", [None, [1], {"success": 5}, {"success": True, "observation": {"health": "full"}}])
async def test_garbage_from_the_game_ends_the_action_and_the_room_goes_on(garbage: Any) -> None:
    answers = [garbage]

    def answer(command: dict[str, Any]) -> Any:
        return answers.pop() if command["type"] == "act" and answers else obedient(command)

    async with a_bridge() as served, Game(served, answer).playing(), a_room(served) as table:
        assert await code_of(table.call("ann", "jump")) == "OUTCOME_UNKNOWN"
        assert (await table.call("ann", "jump")).success


async def test_an_observation_that_is_garbage_leaves_the_last_good_one() -> None:
    view: Any = dict(VIEW)
    async with a_bridge() as served, Game(served, lambda c: view).playing(), a_room(served) as table:
        view = {"health": None}
        await table.poll()
        assert (await table.look("ann")).status["health"] == 80


async def test_a_game_that_is_closed_is_reported_as_lost_and_comes_back() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        await game.stop()
        await served.clock.advance(30_000)
        await table.poll()
        assert "not connected at the moment" in (await table.look("ann")).to_text()
        assert await code_of(table.call("ann", "jump")) == "UNREACHABLE"
        async with Game(served, obedient).playing():
            await table.poll()
            assert "not connected" not in (await table.look("ann")).to_text()


# -- the record ---------------------------------------------------------------------------------------
async def test_a_replay_gives_the_same_room_without_the_game(tmp_path: Path) -> None:
    async with a_bridge() as served, Game(served, obedient).playing(), a_room(served, tmp_path) as table:
        for name in ("jump", "drop", "look"):
            await table.call("ann", name)
        digest, seen = table.house.rooms["ship"].room.digest(), await table.look("ann")
        rows = list(table.house.store.lines("ship", -1))
        again = Room.replay(read_lines(rows, -1, GENESIS), make_world)
        assert again.digest() == digest
        ann = next(member for member in again.state.members.values() if member.handle == "ann")
        eye = again.eye(ann)
        assert eye is not None
        assert again.world.observe(eye) == msgspec.structs.replace(seen, choices=[])


async def test_a_house_that_stops_during_an_action_says_afterwards_that_its_outcome_is_unknown(tmp_path: Path) -> None:
    text = json.dumps({"world": "starbound", "agents": PLAYERS})
    async with a_bridge() as served, Game(served, obedient).playing() as game:
        async with House.open(Settings(data=str(tmp_path)), clock=served.clock) as house:
            _, tokens = await house.create_room(parse_scenario(text), "ship")
            await house.connect_room("ship", StarboundConnector(LocalLink(served.bridge)))
            game.is_mute = True
            acting = asyncio.ensure_future(house.call(house.identify(tokens["ann"]), "ship", "jump"))
            await until(lambda: acts(game))
        assert await code_of(acting) == "OUTCOME_UNKNOWN"
        async with House.open(Settings(data=str(tmp_path)), clock=served.clock) as house:
            ann = house.identify(tokens["ann"])
            refused = await _error(house.call(ann, "ship", "jump"))
            assert (refused.code, "cohabit starbound" in refused.message) == ("UNREACHABLE", True)
            told = [item.text for item in (await house.call(ann, "ship", "events")).items]
            assert [line for line in told if line.startswith("ann: jump: the server stopped before the answer arrived")]


async def _error(asked: Any) -> CohabitError:
    with pytest.raises(CohabitError) as raised:
        await asked
    return raised.value


# -- other ways in ------------------------------------------------------------------------------------
async def test_a_room_can_use_a_bridge_at_an_address() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game:
        text = json.dumps({"world": "starbound", "agents": PLAYERS})
        async with House.open(Settings(), clock=served.clock) as house:
            _, tokens = await house.create_room(parse_scenario(text), "ship")
            link = HttpLink(served.url, served.clock, served.token or "")
            await house.connect_room("ship", StarboundConnector(link))
            ann = house.identify(tokens["ann"])
            assert (await house.call(ann, "ship", "jump")).message == "did jump"
            game.is_mute = True
            acting = asyncio.ensure_future(house.call(ann, "ship", "jump"))
            await until(lambda: len(acts(game)) == 2)
            await served.clock.advance(TIMEOUT_MS)
            assert await code_of(acting) == "OUTCOME_UNKNOWN"
            await game.stop()
            acting = asyncio.ensure_future(house.call(ann, "ship", "jump"))
            await until(lambda: served.waits_for("act"))
            await served.clock.advance(TIMEOUT_MS)
            assert await code_of(acting) == "UNREACHABLE"


ANOTHER_BRIDGE = [
    (200, b'{"success": "maybe"}', "OUTCOME_UNKNOWN"),
    (200, b"<html>", "OUTCOME_UNKNOWN"),
    (200, b'{"error": "Timeout waiting for game response"}', "OUTCOME_UNKNOWN"),
    (500, b'{"error": "oops"}', "OUTCOME_UNKNOWN"),
    (500, b'{"error": "oops", "code": "INTERNAL"}', "OUTCOME_UNKNOWN"),
    (404, b'{"error": "no such page"}', "UNREACHABLE"),
    (200, b'{"error": "Timeout waiting for game response: not fetched", "code": "UNREACHABLE"}', "UNREACHABLE"),
    (400, b'{"error": "which action?", "code": "BAD_ARGS"}', "BAD_ARGS"),
    (401, b'{"error": "token", "code": "UNAUTHORIZED"}', "DISABLED"),
]


@pytest.mark.parametrize(("status", "body", "code"), ANOTHER_BRIDGE)
async def test_an_action_counts_as_not_executed_only_if_the_bridge_says_so(status: int, body: bytes, code: str) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(status, content=body))
    link = HttpLink("http://elsewhere", FakeClock(), transport=transport)
    assert await code_of(StarboundConnector(link).ask(Ask("jump", {}, "player"))) == code
    await link.close()


async def test_a_bridge_that_does_not_run_is_unreachable() -> None:
    clock = FakeClock()
    link = HttpLink("http://localhost:1", clock)
    try:
        assert await code_of(StarboundConnector(link).about()) == "UNREACHABLE"
    finally:
        await link.close()


async def test_the_room_is_served_over_http_like_any_other() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        async with serving(make_app(table.house)) as url:
            for transport in ("http", "ws"):
                async with connect(url, table.tokens["ann"], "ship", transport=transport) as client:
                    done = await client.call("move", {"direction": "left"})
                    assert (done["success"], done["observation"]["status"]["health"]) == (True, 80)
        assert [command["parameters"] for command in acts(game)] == [{"direction": "left"}] * 2


async def test_a_model_plays_over_mcp_with_a_short_list_of_tools() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, a_room(served) as table:
        headers = {"authorization": f"Bearer {table.tokens['ann']}"}
        async with (
            serving(make_app(table.house)) as url,
            httpx2.AsyncClient(headers=headers, timeout=120, trust_env=False) as http,
            Client(streamable_http_client(f"{url}/mcp/ship", http_client=http)) as client,
        ):
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"move", "jump", "interact", "say"} <= names
            assert "move_left" not in names
            said = await client.call_tool("move", {"direction": "left"})
            assert not said.is_error
            assert "did move" in said.content[0].text
        assert [command["action"] for command in acts(game)] == ["move"]
