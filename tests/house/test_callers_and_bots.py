"""What a house-wide token offers depends on whether its owner is a host, and built-in players wait for no clock."""

import asyncio
import json
from pathlib import Path

import msgspec
import pytest

from cohabit.errors import PermissionDenied, Quarantined, Unauthorized
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, HOST, TOKENS_MADE, Client, a_moment, issue, make_room, newcomer, open_house, player


async def test_a_caller_of_the_whole_house_is_offered_the_commands_of_hosts_only_if_it_is_one() -> None:
    async with open_house() as house:
        await make_room(house)

        async def offered(who: Client) -> set[str]:
            found = await house.call(house.identify(who.token), None, "schemas")
            return {info.name for info in found.commands}

        hosts, others = await offered(await issue(house, "boss", host=True)), await offered(await issue(house, "zoe"))
        for_hosts = {command.name for command in house.commands if command.host_only}
        assert for_hosts <= hosts
        assert others
        assert others.isdisjoint(for_hosts)


@pytest.mark.parametrize("uses", [1, 5])
async def test_whoever_accepts_an_invite_is_known_to_the_house_at_once(uses: int) -> None:
    async with open_house() as house:
        who = await make_room(house)
        eve = await newcomer(who["hostess"], "eve", uses=uses)
        operator = house.identify(house.operator_token())
        lines = (await house.call(operator, None, "list_credentials")).credentials
        assert [line.room for line in lines if line.name == "eve"] == ["den"]
        made = await who["hostess"]("rotate_token", {"member": eve.who})
        TOKENS_MADE.append(made.token)
        with pytest.raises(Unauthorized):
            await eve("view")
        assert (await Client(house, "den", eve.who, made.token)("whoami")).handle == eve.who


async def test_on_the_wire_a_description_says_what_is_so_and_leaves_out_what_is_not() -> None:
    async with open_house() as house:
        boss = await issue(house, "boss", host=True)
        who = await make_room(house)
        found = [*(await who["ann"]("schemas")).commands, *(await boss("schemas")).commands]
        wire = {info["name"]: info for info in json.loads(msgspec.json.encode(found))}

    def flags(name: str) -> set[str]:
        return {key for key in ("records", "waits", "joins", "listed", "task", "about") if wire[name].get(key)}

    assert flags("hide") == {"records", "listed"}
    assert flags("whoami") == set()
    assert flags("recv_messages") == {"waits", "listed"}
    assert flags("wait_for_turn") == {"waits", "listed", "task"}
    assert "joins" in flags("join")
    assert {"joins", "waits", "task"}.isdisjoint(wire["hide"])


@pytest.mark.parametrize("archived", [False, True])
async def test_a_quarantined_room_is_reopened_out_of_turn_and_in_an_archived_room_too(archived: bool) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, world="Ticker", turn_based=True, turn_order=["ann", "bob"])
        await who["ann"]("drop")
        if archived:
            await who["hostess"]("archive")
        house.rooms["den"].stop(Quarantined("its world hung"))
        with pytest.raises(Quarantined):
            await who["ann"]("view")
        with pytest.raises(PermissionDenied):
            await who["ann"]("reopen_room")
        assert (await who["hostess"]("reopen_room")).room == "den"
        assert (await who["ann"]("view")).tick == 0
        assert house.rooms["den"].room.state.archived is archived


async def test_built_in_players_of_a_world_with_rounds_play_although_the_clock_stands_still() -> None:
    async with open_house() as house:
        bots = [player(name, seat, brain="trader") for seat, name in enumerate(("ann", "bob"))]
        await make_room(house, *bots, HOST, world="statecraft")
        world = house.rooms["den"].room.world
        async with asyncio.timeout(120):
            while world.state.turn < 3:  # type: ignore[attr-defined]
                await asyncio.sleep(0.001)  # they think on threads of their own
        assert world.missed == []  # type: ignore[attr-defined]


async def test_a_built_in_player_that_an_error_has_stopped_begins_again_later_and_then_less_and_less_often(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "dark.py"
    file.write_text(
        (Path(__file__).parents[2] / "examples/pig.py").read_text().replace("banks = ", "banks = {}[0] or ")
    )
    clock = FakeClock()

    def errors() -> int:
        return sum("agent random for ann in room den stopped" in record.getMessage() for record in caplog.records)

    async with open_house(clock=clock, trusted_worlds=str(file)) as house:
        await make_room(house, player("ann", 0, brain="random"), BOB, HOST, world=str(file))
        await a_moment()
        counts = [errors()]
        for seconds in (1, 1, 1, 4):
            await clock.advance(seconds * 1_000)
            await a_moment()
            counts.append(errors())
    assert counts == [1, 2, 2, 3, 4]
