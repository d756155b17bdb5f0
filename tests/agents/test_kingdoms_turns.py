"""Built-in players of Kingdoms in rooms where time depends on them."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from cohabit.errors import BadArgs
from cohabit.features.game_clock import PAUSE
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.scenario import parse_scenario, read_scenario
from cohabit.testing.clock import FakeClock
from cohabit.testing.match import Match

SMALL = {"zones_x": 2, "zones_y": 2}
KINGS = [
    {"id": "x", "role": "player", "claim": "auto:0", "brain": "steward"},
    {"id": "y", "role": "player", "claim": "auto:1", "brain": "warlord"},
]


async def opened(house: House, agents: list[dict[str, Any]], **scenario: Any) -> Room:
    file = {"world": "kingdoms", "config": SMALL, "agents": agents, **scenario}
    await house.create_room(parse_scenario(json.dumps(file)), "den", seed=5)
    return house.rooms["den"].room


async def until(clock: FakeClock, done: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not done():
            await clock.advance(500)
            await asyncio.sleep(0.001)  # a bot thinks on a thread of its own


async def test_built_in_players_end_their_turns_in_a_turn_based_room() -> None:
    clock = FakeClock()
    others = [
        {"id": "dm", "role": "god", "brain": "dungeon-master"},
        {"id": "scribe", "role": "narrator", "brain": "chronicler"},
    ]
    async with House.open(Settings(port=0, bridge_port=0), clock=clock) as house:
        room = await opened(house, [*KINGS, *others], turn_based=True, ticks_per_turn=20)
        await until(clock, lambda: room.state.tick >= 20 * 12)
        ended = [line.entry.by for line in room.record.tail if line.entry.do == "turn_advance"]
        assert ended[:8] == ["x", "y", "dm", "scribe"] * 2


# -- the stepped clock ----------------------------------------------------------------------------
async def test_time_advances_when_every_player_has_passed_and_not_before() -> None:
    clock = FakeClock()
    players = [{**king, "brain": None} for king in KINGS]
    async with House.open(Settings(port=0, bridge_port=0), clock=clock) as house:
        room = await opened(house, [*players, {"id": "owl", "role": "observer"}], step_ticks=30)
        await clock.advance(10_000)
        assert room.state.tick == 0
        assert room.call("x", "view", at=clock.now()).your_turn
        room.call("x", "turn_advance", at=clock.now())
        assert room.state.tick == 0
        seen = room.call("x", "view", at=clock.now())
        assert (seen.your_turn, seen.to_move) == (False, ["y"])
        room.call("y", "turn_advance", at=clock.now())
        assert room.state.tick == room.world.sim.tick == 30  # type: ignore[attr-defined]  # of Kingdoms
        assert room.call("x", "view", at=clock.now()).your_turn
        with pytest.raises(BadArgs, match="waits for the players"):
            room.call("owl", "turn_advance", at=clock.now())


async def test_a_step_has_a_deadline_and_it_is_said_who_did_not_pass() -> None:
    clock = FakeClock()
    players = [{**king, "brain": None} for king in KINGS]
    async with House.open(Settings(port=0, bridge_port=0), clock=clock) as house:
        room = await opened(house, players, step_ticks=30, turn_seconds=20)
        room.call("x", "turn_advance", at=clock.now())
        await clock.advance(19_999)
        assert room.state.tick == 0
        await clock.advance(1)
        await house.rooms["den"].drained()
        assert room.state.tick == 30
        await clock.advance(20_000)
        await house.rooms["den"].drained()
        assert room.state.tick == 60
        room.call("x", "turn_advance", at=clock.now())
        room.settle(clock.now() + 20_000)
        told = [t.text for t in room.record.tail[-1].entry.told]
        assert "time is up for this step; y did not pass" in told


async def test_built_in_players_pass_in_a_room_with_a_stepped_clock() -> None:
    gods = [{"id": n, "role": "god", "brain": b} for n, b in (("a", "ecologist"), ("b", "civilizer"))]
    for agents in (KINGS, gods):
        clock = FakeClock()
        async with House.open(Settings(port=0, bridge_port=0), clock=clock) as house:
            room = await opened(house, agents, step_ticks=10)
            await until(clock, lambda room=room: room.state.tick >= 80)  # type: ignore[misc]
            assert {e.entry.by for e in room.record.tail if e.entry.do == "turn_advance"} == {a["id"] for a in agents}


async def test_the_news_of_a_step_have_no_author_and_do_not_say_that_all_have_passed() -> None:
    async with House.open(Settings(port=0, bridge_port=0), clock=FakeClock()) as house:
        players = [{**king, "brain": None} for king in KINGS]
        room = await opened(house, [*players, {"id": "owl", "role": "observer"}], step_ticks=30)
        owl, told = room.state.members["owl"], []
        while len(told) < 2:  # until both have built a hall
            for who in ("x", "y"):
                room.call(who, "turn_advance", at=5)
                told += feed(room.record.tail[-1].entry, owl, room.eye(owl))
            assert room.state.tick < 1000
        assert {item.text.split()[-1] for item in told} == {"hall."}
        assert {(item.by, item.do) for item in told} == {(None, "round")}


def test_a_match_with_a_stepped_clock_is_played_in_steps() -> None:
    file = {"world": "kingdoms", "config": SMALL, "agents": [KINGS[0], {**KINGS[1], "brain": None}], "step_ticks": 30}
    match = Match(parse_scenario(json.dumps(file)), seed=5).run(90)
    passed = [(line.entry.by, line.entry.via) for line in match.lines() if line.entry.do == "turn_advance"]
    assert passed == [("x", "steward"), ("y", None)] * 3
    assert match.tick == 90
    assert not any(line.entry.do in ("ticks", "turn_timeout") for line in match.lines())


async def test_a_player_alone_cannot_pause_the_others() -> None:
    clock = FakeClock()
    players = [{**king, "brain": None} for king in KINGS]
    async with House.open(Settings(port=0, bridge_port=0), clock=clock) as house:
        room = await opened(house, [*players, {"id": "hera", "role": "host"}])
        room.system("presence", {"members": ["x", "y"], "here": True}, clock.now())
        assert not room.call("x", "pause", at=clock.now()).paused
        assert not room.state.paused
        assert room.call("y", "pause", at=clock.now()).paused
        room.call("x", "resume", at=clock.now())
        assert PAUSE.read(room.state).asked == []
        assert room.call("hera", "pause", at=clock.now()).paused


def test_the_scenarios_for_minds_have_a_stepped_clock() -> None:
    assert {name: read_scenario(name).step_ticks > 0 for name in ("pvp", "coop", "hierarchical", "sandbox")} == {
        "pvp": True, "coop": True, "hierarchical": False, "sandbox": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("file", "why"), [({"step_ticks": 5, "turn_based": True}, "ticks_per_turn"), ({"step_ticks": -1}, "negative")]
)
def test_a_scenario_with_contradictory_time_is_refused(file: dict[str, Any], why: str) -> None:
    with pytest.raises(BadArgs, match=why):
        parse_scenario(json.dumps({"world": "kingdoms", "agents": KINGS, **file}))


async def test_a_built_in_king_reads_a_message_and_answers_it() -> None:
    clock = FakeClock()
    agents = [{**KINGS[0], "brain": None}, KINGS[1]]
    async with House.open(Settings(port=0, bridge_port=0), clock=clock) as house:
        room = await opened(house, agents)
        room.call("x", "send_message", {"to": "y", "content": "said before the king came"}, at=clock.now())
        await until(clock, lambda: room.world.sim.kingdoms[2].orders.muster > 0)  # type: ignore[attr-defined]
        room.call("x", "send_message", {"to": "y", "content": "an alliance?"}, at=clock.now())

        def answered() -> bool:
            return bool(room.call("x", "recv_messages", at=clock.now()).items)

        await until(clock, answered)
        items = room.call("x", "recv_messages", at=clock.now()).items
        assert [item["from"] for item in items] == ["y"]
