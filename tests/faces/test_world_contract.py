"""The completed world contract over every interface: computed actions, rewards per round and per tick, late arrivals."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from .doors import MOSTLY_SOAK, Door, doors

SAMPLES = Path(__file__).parent.parent / "worlds_samples"


@asynccontextmanager
async def playing(
    face: str, tmp_path: Path, world: str, *agents: dict[str, Any], **keys: Any
) -> AsyncIterator[tuple[House, FakeClock, Door, dict[str, str]]]:
    clock = FakeClock()
    text = json.dumps({"world": str(SAMPLES / world), "agents": list(agents), **keys})
    async with House.open(Settings(port=0), clock=clock) as house:
        _, tokens = await house.create_room(parse_scenario(text), "den", seed=7)
        async with doors(face, house, tmp_path) as door:
            yield house, clock, door, tokens


def player(name: str, seat: int) -> dict[str, Any]:
    return {"id": name, "role": "player", "claim": f"auto:{seat}"}


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_actions_that_a_world_computes_from_its_config_can_be_called(face: str, tmp_path: Path) -> None:
    config = {"tools": ["saw", "drill"]}
    async with (
        playing(face, tmp_path, "toolbox.py", player("ann", 0), config=config) as (house, _, door, tokens),
        door(tokens["ann"]) as ann,
    ):
        names = {command.name for command in house.rooms["den"].room.commands if command.is_action}
        assert {"use_saw", "use_drill"} <= names
        done = await ann.call("use_saw", {"times": 2})
        assert done["success"]
        with pytest.raises(CohabitError) as refused:
            await ann.call("use_saw", {"times": 9})
        assert refused.value.code == "BAD_ARGS"
        with pytest.raises(CohabitError) as unknown:
            await ann.call("use_hammer", {"times": 1})
        assert unknown.value.code == "UNKNOWN_COMMAND"


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_a_seat_is_told_its_own_reward_of_a_round_and_no_other(face: str, tmp_path: Path) -> None:
    people = [player("ann", 0), player("bob", 1), player("cyd", 2)]
    async with (
        playing(face, tmp_path, "harvest.py", *people) as (_, _, door, tokens),
        door(tokens["ann"]) as ann,
        door(tokens["bob"]) as bob,
        door(tokens["cyd"]) as cyd,
    ):
        assert (await ann.call("take", {"baskets": 3})).get("reward", 0) == 0  # the round is not resolved yet
        await bob.call("take", {"baskets": 1})
        last = await cyd.call("take", {"baskets": 2})
        assert last["reward"] == 2
        totals = [(await client.call("view"))["total_reward"] for client in (ann, bob, cyd)]
        assert totals == [3, 1, 2]
        told = [item["text"] for item in (await ann.call("events"))["items"] if item.get("kind") == "reward"]
        assert told == ["Reward: +3 (total 3)"]


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_rewards_come_with_the_ticks_of_a_world_with_a_clock(face: str, tmp_path: Path) -> None:
    async with (
        playing(face, tmp_path, "drift.py", player("ann", 0), player("bob", 1)) as (_, clock, door, tokens),
        door(tokens["ann"]) as ann,
        door(tokens["bob"]) as bob,
    ):
        await ann.call("trim", {"sail": 3})
        await bob.call("trim", {"sail": 1})
        before = [(await client.call("view"))["total_reward"] for client in (ann, bob)]
        await clock.advance(1_000)
        after = [(await client.call("view"))["total_reward"] for client in (ann, bob)]
        gained = [new - old for new, old in zip(after, before, strict=True)]
        assert gained[0] == 3 * gained[1] > 0


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_a_seat_opens_for_a_member_who_arrives_while_the_game_runs(face: str, tmp_path: Path) -> None:
    guests = [{"id": "ann", "role": "player"}, {"id": "bob", "role": "player"}]
    async with (
        playing(face, tmp_path, "inn.py", *guests) as (_, _, door, tokens),
        door(tokens["ann"]) as ann,
        door(tokens["bob"]) as bob,
    ):
        seat = (await ann.call("sit"))["seat"]
        await ann.call("pack", {"what": "a lamp"})
        assert (await bob.call("session_info"))["seats"] == [seat]
        other = (await bob.call("sit"))["seat"]
        assert other != seat
        assert (await ann.call("view"))["observation"]["status"] == {"bag": ["a lamp"]}
        assert (await bob.call("view"))["observation"].get("status", {}) == {"bag": []}
        await ann.call("stand_up")
        assert (await bob.call("session_info"))["seats"] == [other]


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_a_body_is_felt_moved_and_changed_for_another(face: str, tmp_path: Path) -> None:
    people = [{"id": "ann", "role": "player"}, {"id": "bob", "role": "player"}]
    async with (
        playing(face, tmp_path, "bodies/caves.py:Caves", *people) as (_, _, door, tokens),
        door(tokens["ann"]) as ann,
        door(tokens["bob"]) as bob,
    ):
        first = (await ann.call("jack_in"))["avatar"]["avatar_id"]
        await bob.call("jack_in")
        await bob.call("go", {"place": "ledge"})
        await ann.call("take", {"item": "blade"})
        await ann.call("equip", {"item": "blade"})
        await ann.call("stance", {"stance": "sitting"})
        felt = await ann.call("inspect_self")
        assert (felt["stance"], felt["can_hear"], felt["encumbrance"]) == ("sitting", ["somebody in the ledge"], 0.25)
        assert felt["actions_available"] == ["go", "take", "put", "hit", "jump", "collapse"]
        assert (await bob.call("inspect_self"))["actions_blocked"] == {
            "take": "nothing lies here", "put": "you carry nothing",
        }  # fmt: skip
        has = {"inventory": {"blade": 1}, "equipment": {"hand": "blade"}, "encumbrance": 0.25}
        assert await ann.call("check_inventory") == has
        other = (await ann.call("create_avatar"))["avatar_id"]
        moved = await ann.call("transfer", {"avatar_id": other})
        assert moved["avatar"]["avatar_id"] == moved["initial_observation"]["avatar"]["avatar_id"] == other
        assert await ann.call("check_inventory") == {"inventory": {}, "encumbrance": 0}
        back = await ann.call("transfer", {"avatar_id": first, "mode": "suspend"})
        assert back["avatar"]["equipment"] == {"hand": "blade"}
        with pytest.raises(CohabitError) as refused:
            await bob.call("transfer", {"avatar_id": first})
        assert refused.value.code == "UNKNOWN_ASSET"


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_keys_and_the_changed_layers_of_a_scene_can_be_asked_for(face: str, tmp_path: Path) -> None:
    people = [player("ann", 0), player("bob", 1)]
    async with (
        playing(face, tmp_path, "beacons.py", *people) as (_, _, door, tokens),
        door(tokens["ann"]) as ann,
    ):
        first = await ann.call("scene")
        key = (await ann.call("keys"))["keys"][3]
        assert key == {"key": "3", "action": "light", "params": {"cell": 3}}
        await ann.call(key["action"], key["params"])
        second = await ann.call("scene", {"since": first["id"]})
        assert (second["since"], second["layers"]) == (first["id"], {"lights": {"east": [3]}})
