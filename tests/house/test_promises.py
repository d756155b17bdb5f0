"""Promises to a member that other tests would not miss: who is pushed what, who learns whom, whose time runs."""

import asyncio
import json
from typing import Any

import pytest

from cohabit.errors import CohabitError
from cohabit.house.commands import HOUSE_COMMANDS
from cohabit.model.grant import ROLES
from cohabit.registry import make_world
from cohabit.room.command_modules import command_table
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, GOD, HOST, OWL, Client, Reader, a_moment, deeds, make_room, newcomer, open_house, player

OWLS = [{**OWL, "id": name} for name in ("owl", "oma", "opa")]
HOSTS = [HOST, {**HOST, "id": "helga"}]


async def readers(who: dict[str, Client]) -> dict[str, Reader]:
    return {name: await client.reader() for name, client in who.items()}


async def pushed(reading: dict[str, Reader]) -> dict[str, list[dict[str, Any]]]:
    """What each has been pushed as events."""
    await a_moment()
    return {name: reader.items() for name, reader in reading.items()}


# -- pushes to members who look alike -------------------------------------------------------------
@pytest.mark.parametrize("receiver", ["owl", "oma", "opa"])
async def test_a_direct_message_is_pushed_to_its_receiver_and_to_nobody_with_the_same_grant_and_eye(
    receiver: str,
) -> None:
    async with open_house() as house:
        who = await make_room(house, *OWLS, HOST)
        reading = await readers(who)
        await who["hostess"]("send_message", {"to": receiver, "content": "the password is swordfish"})
        await house.rooms["den"].drained()
        heard = {name for name, items in (await pushed(reading)).items() if "swordfish" in json.dumps(items)}
        assert heard == {receiver, "hostess"}


@pytest.mark.parametrize("actor", ["hostess", "helga"])
async def test_the_arguments_of_an_action_are_pushed_to_the_actor_and_to_nobody_with_the_same_grant_and_eye(
    actor: str,
) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, *HOSTS, GOD)
        reading = await readers(who)
        await who[actor]("narrow", {"member": "bob", "may": ["act"]})
        await house.rooms["den"].drained()
        shown = {
            name: [item.get("args") for item in items if item["do"] == "narrow"]
            for name, items in (await pushed(reading)).items()
        }
        args = [{"member": "bob", "may": ["act"]}]
        other = "helga" if actor == "hostess" else "hostess"
        assert (shown[actor], shown["zeus"]) == (args, args)
        assert (shown[other], shown["ann"], shown["bob"]) == ([None], [None], [None])


# -- messages without the right to hear them ------------------------------------------------------
@pytest.mark.parametrize(("right", "to", "sender"), [("receive_directed", "bob", "ann"), ("read_chat", "*", "hostess")])
async def test_a_message_is_not_heard_in_any_way_without_the_right_to_hear_it(right: str, to: str, sender: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("narrow", {"member": "bob", "may": [right]})
        reading = await readers(who)
        waiting = asyncio.create_task(who["bob"]("recv_messages", {"wait_ms": 5_000}))
        await a_moment()
        await who[sender]("send_message", {"to": to, "content": "swordfish"})
        await house.rooms["den"].drained()
        await clock.advance(5_000)
        assert (await waiting).items == []
        assert (await who["bob"]("recv_messages")).items == []
        assert "swordfish" not in str(await who["bob"]("events", {"cursor": ""}))
        assert "swordfish" not in json.dumps((await pushed(reading))["bob"])
        assert "swordfish" in json.dumps((await pushed(reading))[sender])
        await who["hostess"]("widen", {"member": "bob", "may": [right]})
        assert [item["content"] for item in (await who["bob"]("recv_messages")).items] == ["swordfish"]


# -- names ------------------------------------------------------------------------------------------
NEAR = "bobb"
ASKING = [
    ("send_message", {"to": NEAR, "content": "hello"}),
    ("say", {"to": NEAR, "text": "hello"}),
    ("remove_member", {"member": NEAR}),
    ("grant", {"member": NEAR, "may": ["watch"]}),
    ("widen", {"member": NEAR, "may": ["watch"]}),
    ("narrow", {"member": NEAR, "may": ["watch"]}),
    ("revoke", {"member": NEAR}),
    ("clear_grant", {"member": NEAR}),
    ("audit", {"member": NEAR}),
    ("decisions", {"member": NEAR}),
    ("mute", {"member": NEAR}),
    ("unmute", {"member": NEAR}),
    ("report", {"member": NEAR, "reason": "spam"}),
    ("egress", {"member": NEAR}),
    ("set_egress_budget", {"budget": 1_000_000, "member": NEAR}),
    ("send_data", {"to": NEAR, "data": 1}),
    ("say", {"to": NEAR, "text": "hello"}),
    ("rotate_token", {"member": NEAR}),
    ("revoke_token", {"member": NEAR}),
]


@pytest.mark.parametrize(("command", "args"), ASKING, ids=[name for name, _ in ASKING])
async def test_a_refusal_names_members_only_to_those_who_may_read_the_roster(
    command: str, args: dict[str, Any]
) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        for asker in ("hostess", "zeus"):
            with pytest.raises(CohabitError) as refused:
                await who[asker](command, args)
            assert "bob" in refused.value.did_you_mean
        await who["zeus"]("narrow", {"member": "hostess", "may": ["read_roster"]})
        with pytest.raises(CohabitError) as refused:
            await who["hostess"](command, args)
        assert refused.value.did_you_mean == []
        said = json.dumps(refused.value.as_wire()).replace(NEAR, "")
        assert not any(name in said for name in ("ann", "bob", "zeus"))


def test_every_command_that_takes_a_member_is_asked_above() -> None:
    commands = [*command_table(make_world("nim", {})), *HOUSE_COMMANDS]
    found = {c.name for c in commands if {"member", "to"} & set(c.arguments)}
    not_for_hosts = {"publish_view", "withdraw"}  # tests/room asks them
    assert found == {name for name, _ in ASKING} | not_for_hosts | {"unblock"}


async def test_blocked_members_and_those_who_came_by_an_invite_are_named_only_to_those_who_may_read_the_roster() -> (
    None
):
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        await newcomer(who["hostess"], "carl")
        await who["hostess"]("remove_member", {"member": "bob", "block": True})
        for may_know in (True, False):
            with pytest.raises(CohabitError) as refused:
                await who["hostess"]("unblock", {"member": NEAR})
            (line,) = (await who["hostess"]("invites")).invites
            said = (refused.value.did_you_mean, (await who["hostess"]("entry")).blocked, line.members)
            assert said == ((["bob"], ["bob"], ["carl"]) if may_know else ([], [], []))
            await who["zeus"]("narrow", {"member": "hostess", "may": ["read_roster"]})


# -- presence -----------------------------------------------------------------------------------------
async def test_a_reader_that_hangs_up_is_noted_as_disconnected_when_its_time_is_over_and_not_before() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who, room = await make_room(house), house.rooms["den"].room
        watching = await who["hostess"].reader()
        reader = await who["ann"].reader(views=False)
        await clock.advance(100_000)
        assert room.state.members["ann"].here
        reader.sub.close()
        await clock.advance(9_000)
        assert room.state.members["ann"].here
        await clock.advance(12_000)
        assert not room.state.members["ann"].here
        left = [entry for entry in deeds(room, "presence") if not entry.args["here"]]
        assert [entry.args["members"] for entry in left] == [["ann"]]
        await a_moment()
        assert "ann disconnected" in [item["text"] for item in watching.items()]


async def test_a_member_with_two_readers_is_here_until_the_second_hangs_up() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who, room = await make_room(house), house.rooms["den"].room
        first, second = await who["ann"].reader(), await who["ann"].reader()
        await clock.advance(1_000)
        first.sub.close()
        await clock.advance(60_000)
        assert room.state.members["ann"].here
        second.sub.close()
        await clock.advance(21_000)
        assert not room.state.members["ann"].here


# -- whose time runs ----------------------------------------------------------------------------------
async def test_a_turn_times_out_by_the_clock_of_the_house_whatever_other_timers_there_are() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=7_000, beat_ms=900) as house:
        who = await make_room(
            house, player("ann", 0, stand_in="random"), BOB, HOST, world="nim", turn_seconds=60, rematch_seconds=5
        )
        room = house.rooms["den"].room
        await who["hostess"]("grant", {"member": "hostess", "may": sorted(ROLES["host"]), "expires_in_s": 3600})
        reader = await who["ann"].reader()
        start = room.state.turn_started
        await clock.advance(59_000)
        assert not deeds(room, "turn_timeout")
        await clock.advance(2_000)
        assert [entry.at - start for entry in deeds(room, "turn_timeout")] == [60_000]
        reader.sub.close()


async def test_a_player_has_its_whole_time_after_the_player_before_it_was_removed() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(
            house, ANN, BOB, HOST, world="lanterns", turn_based=True, turn_seconds=60, turn_order=["ann", "bob"]
        )
        room = house.rooms["den"].room
        await clock.advance(50_000)
        await who["hostess"]("remove_member", {"member": "ann"})
        await newcomer(who["hostess"], "cy", role="player", claim="auto:0")
        assert room.state.turn_holder == "bob"
        await clock.advance(59_000)
        assert not deeds(room, "turn_timeout")
        await clock.advance(2_000)
        assert len(deeds(room, "turn_timeout")) == 1
