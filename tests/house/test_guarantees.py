"""Guarantees of the README over every command of every built-in world."""

from contextlib import suppress
from typing import Any

import pytest

from cohabit.errors import BadArgs, CohabitError
from cohabit.house.house import House
from cohabit.house.running.runner import RoomRunner
from cohabit.registry import find_world, known_worlds
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, GOD, HOST, OWL, Client, invite, make_room, open_house

WRONG = {"no_such_argument": 1}


async def quiet_room(house: House, world: str) -> tuple[dict[str, Client], RoomRunner]:
    """A room in which nothing happens by itself."""
    most = find_world(world).spec.seat_range[1]
    players = [ANN if most > 0 else {**ANN, "claim": None}, BOB if most > 1 else {**BOB, "claim": None}]
    who = await make_room(house, *players, GOD, HOST, OWL, world=world)
    runner = house.rooms["den"]
    runner.time.stop()
    await runner.drained()
    return who, runner


@pytest.mark.sampled
@pytest.mark.parametrize("world", known_worlds())
async def test_no_call_that_is_not_recorded_changes_a_room(world: str) -> None:
    async with open_house(calls_per_second=100_000) as house:
        who, runner = await quiet_room(house, world)
        before, answered = (runner.room.digest(), runner.room.record.seq), 0
        for command in runner.commands:
            now = {"wait_ms": 0} if "wait_ms" in command.arguments else {}
            for client in who.values() if not command.records else ():
                with suppress(CohabitError):  # it may need a grant, or arguments
                    await client(command.name, now)
                    answered += 1
        await runner.drained()
        assert (runner.room.digest(), runner.room.record.seq) == before
        assert answered > 50


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("world", known_worlds())
async def test_every_refused_call_of_a_member_is_audited_and_changes_nothing(world: str) -> None:
    async with open_house(calls_per_second=100_000) as house:
        who, runner = await quiet_room(house, world)
        for client in who.values():
            await client("whoami")
        runner.time.record_players("")  # that they have seen their seats is on record
        await runner.drained()
        before = runner.room.digest(), runner.room.record.seq
        about_room = [command for command in runner.commands if command.about == "room" and command.unwrap is None]
        for command in about_room:
            for name, client in who.items():
                with pytest.raises(CohabitError) as refused:
                    await client(command.name, WRONG)
                line = runner.room.audit.kept[-1]
                assert (line.member, line.command, line.code) == (name, command.name, refused.value.code)
        await runner.drained()
        assert (runner.room.digest(), runner.room.record.seq) == before
        assert len(about_room) > 20


@pytest.mark.parametrize(
    "claimed", [{"role": "god"}, {"kind": "human"}, {"claim": "auto:0"}, {"seat": "red"}, {"id": "ann"}]
)
async def test_a_newcomer_is_what_its_invite_says_whatever_it_claims(claimed: dict[str, Any]) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, HOST)
        eve = await invite(who["hostess"], "eve", role="player", claim="auto:1")
        with pytest.raises(BadArgs):
            await eve("join", claimed)
        assert "eve" not in house.rooms["den"].room.state.members
        await eve.join()
        member = house.rooms["den"].room.state.members["eve"]
        assert (member.handle, member.role_name, member.kind, member.seat) == ("eve", "player", "agent", "blue")


async def told_to_a_newcomer(*calls: tuple[str, str, dict[str, Any]]) -> list[int]:
    """When a player is told what, who has just connected while others make these calls."""
    async with open_house(clock=(clock := FakeClock())) as house:
        fan = {"id": "fan", "kind": "human", "role": "player"}
        who = await make_room(house, ANN, BOB, fan, HOST, partial_intel=True)
        await who["bob"]("send_message", {"to": "fan", "content": "come on"})
        for name in ("bob", "fan", "hostess"):
            await who[name]("whoami")
        await clock.advance(1000)
        ann = await who["ann"].reader()
        await who["ann"]("whoami")
        for name, command, args in calls:
            with suppress(CohabitError):
                await who[name](command, args)
        await clock.advance(1000)
        return [event["at"] for event in ann.items()]


ASKS = "fan", "ask", {"through": "blue"}


@pytest.mark.parametrize(
    "calls",
    [
        [ASKS],
        [ASKS, ("bob", "decline", {"request": "fan-1"})],
        [("fan", "report", {"messages": [1], "reason": "rude"})],
        [("hostess", "invite", {"id": "gus"})],
        [("hostess", "set_entry", {"code": "new"})],
        [("bob", "grant", {"member": "fan", "may": ["read_all"]})],
        [("fan", "sit", {"seat": "nowhere"})],
    ],
    ids=["asked", "declined", "reported", "invited", "gave a code", "was refused", "got no seat"],
)
async def test_a_player_who_connects_does_not_notice_what_others_do_in_private(
    calls: list[tuple[str, str, dict[str, Any]]],
) -> None:
    quiet = await told_to_a_newcomer()
    assert len(quiet) > 0
    assert await told_to_a_newcomer(*calls) == quiet
