"""Worlds that raise or hang: the room is as it was, or stands still; the other rooms go on."""

import asyncio
from typing import Any

import pytest

from cohabit.errors import (
    CohabitError,
    Conflict,
    GameCrash,
    PermissionDenied,
    Quarantined,
    RecordCorrupt,
    WorldTimeout,
)  # fmt: skip
from cohabit.testing.clock import FakeClock

from .making import Client, deeds, make_room, open_house

QUICK: dict[str, Any] = {"world_deadline_s": 0.2}


async def test_a_world_that_raises_leaves_the_room_as_it_was_and_open() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        before = house.rooms["den"].room.digest()
        for name in ("break_down", "trouble"):
            with pytest.raises(GameCrash):
                await who["ann"](name)
        assert house.rooms["den"].room.digest() == before
        assert (await who["ann"]("hide", {"n": 2})).success


@pytest.mark.parametrize("world", ["Stuck", "StuckQuick"])
async def test_a_world_that_hangs_is_quarantined_and_the_other_rooms_go_on(world: str) -> None:
    async with open_house(**QUICK) as house:
        who = await make_room(house, world=world)
        other = await make_room(house, room="other")
        await who["ann"]("move")
        hanging = asyncio.create_task(who["ann"]("spin"))
        await asyncio.sleep(0)
        assert (await other["ann"]("hide", {"n": 1})).success
        with pytest.raises(WorldTimeout) as late:
            await asyncio.wait_for(hanging, 10)
        assert late.value.code == "WORLD_TIMEOUT"
        for name in ("move", "view", "whoami"):
            with pytest.raises(Quarantined) as refused:
                await who["bob"](name)
            assert "reopen_room" in refused.value.message
        assert (await other["ann"]("hide", {"n": 2})).success
        lines = (await who["hostess"]("rooms")).rooms
        assert "quarantined" in (lines[0].problem or "")


@pytest.mark.parametrize("world", ["Stuck", "StuckQuick"])
async def test_a_quarantined_room_is_reopened_as_it_was_before_the_world_hung(world: str) -> None:
    async with open_house(**QUICK) as house:
        who = await make_room(house, world=world)
        for _ in range(3):
            await who["ann"]("move")
        with pytest.raises(WorldTimeout):
            await asyncio.wait_for(who["ann"]("spin"), 10)
        with pytest.raises(PermissionDenied):
            await who["ann"]("reopen_room")
        assert (await who["hostess"]("reopen_room")).room == "den"
        assert "3 moves" in (await who["ann"]("view")).text
        assert (await who["bob"]("move")).success
        assert not deeds(house.rooms["den"].room, "spin")


async def test_everybody_who_waited_for_a_world_that_hangs_gets_an_answer() -> None:
    async with open_house(**QUICK) as house:
        who = await make_room(house, world="Stuck")
        calls = [asyncio.create_task(who["ann"](name)) for name in ("move", "spin", "move", "view")]
        await asyncio.sleep(0)
        calls += [asyncio.create_task(who["bob"](name)) for name in ("move", "view")]
        results = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)
        assert any(isinstance(r, WorldTimeout) for r in results)
        kept = sum(not isinstance(r, BaseException) and hasattr(r, "success") for r in results)
        await who["hostess"]("reopen_room")
        assert len(deeds(house.rooms["den"].room, "move")) == kept


async def test_many_calls_that_each_come_back_in_time_are_not_a_world_that_hangs() -> None:
    async with open_house(world_deadline_s=0.4) as house:
        who = await make_room(house, world="Stuck")
        calls = [who["ann"]("doze", {"ms": 20}) for _ in range(40)]
        results = await asyncio.gather(*calls)
        assert all(r.success for r in results)


async def test_a_room_that_is_well_is_not_reopened_under_its_players() -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(Conflict):
            await who["hostess"]("reopen_room")
        assert (await who["ann"]("hide", {"n": 1})).success


@pytest.mark.parametrize("fails_in", ["skip", "skip politely"])
async def test_a_world_that_fails_when_time_is_up_stands_still_instead_of_going_round_in_circles(fails_in: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="Moody", config={"fails_in": fails_in}, turn_seconds=10)
        await asyncio.wait_for(clock.advance(60_000), 20)
        with pytest.raises(Quarantined):
            await who["ann"]("view")
        await who["hostess"]("reopen_room")
        assert (await who["ann"]("move")).success, "until its time is up again"


async def test_a_world_that_cannot_be_set_up_opens_no_room_and_takes_no_name() -> None:
    async with open_house() as house:
        with pytest.raises(GameCrash):
            await make_room(house, world="Moody", config={"fails_in": "reset"})
        assert house.rooms == {}
        assert await make_room(house, world="Moody")


async def test_a_world_whose_view_fails_after_an_action_did_not_act() -> None:
    async with open_house() as house:
        who = await make_room(house, world="Moody", config={"fails_in": "observe"})
        with pytest.raises(GameCrash):
            await who["ann"]("move")
        await house.rooms["den"].drained()
        assert not deeds(house.rooms["den"].room, "move")
        assert "0 moves" in (await who["ann"]("view")).text


async def test_a_look_that_fails_is_told_and_harms_nobody() -> None:
    async with open_house() as house:
        who = await make_room(house)
        host = house.rooms["den"]

        def look(room: Any) -> Any:
            return room.state.members["nobody"]

        with pytest.raises(CohabitError):
            await host.peek(look)
        assert (await who["ann"]("hide", {"n": 1})).success


async def test_a_world_with_a_name_that_the_house_needs_opens_no_room(tmp_path: Any) -> None:
    (tmp_path / "rude.py").write_text(
        "from cohabit.worlds.nim import Nim\nfrom cohabit.world import Outcome, Seat, WorldSpec, action\n"
        "class Rude(Nim):\n    spec = WorldSpec(name='rude', seats=2)\n"
        "    @action()\n    def NAME(self, by: Seat) -> Outcome:\n        '''Not yours.'''\n        return Outcome()\n"
    )
    text = (tmp_path / "rude.py").read_text()
    from cohabit.scenario import AgentSpec, Scenario

    async with open_house() as house:
        for name in ("whoami", "events", "join", "invite"):
            (tmp_path / f"{name}.py").write_text(text.replace("NAME", name))
            plan = Scenario(agents=[AgentSpec(id="a")], world=str(tmp_path / f"{name}.py"))
            with pytest.raises(CohabitError, match=name):
                await house.create_room(plan, "den")
        assert house.rooms == {}


async def test_a_slow_world_is_set_up_and_reopened_off_the_event_loop() -> None:
    async with open_house(world_deadline_s=5) as house:
        alive = 0

        async def beat() -> None:
            nonlocal alive
            while True:
                alive += 1
                await asyncio.sleep(0.01)

        heart = asyncio.create_task(beat())
        who = await make_room(house, world="Slow")
        made, alive = alive, 0
        house.rooms["den"].failure = Quarantined("for the test")
        await who["hostess"]("reopen_room")
        heart.cancel()
        assert made >= 3, "while the world was set up"
        assert alive >= 3, "while its record was run again"


async def test_a_world_that_hangs_while_it_is_set_up_opens_no_room() -> None:
    async with open_house(**QUICK) as house:
        with pytest.raises(WorldTimeout):
            await asyncio.wait_for(make_room(house, world="Endless"), 10)
        assert house.rooms == {}
        assert isinstance((await make_room(house))["ann"], Client)


async def test_a_room_that_cannot_go_back_because_its_world_is_fickle_stands_still() -> None:
    async with open_house() as house:
        who = await make_room(house, world="Fickle")
        other = await make_room(house, room="other")
        await who["ann"]("move")
        with pytest.raises(CohabitError):
            await who["ann"]("fail")
        with pytest.raises(Quarantined):
            await who["ann"]("view")
        with pytest.raises(RecordCorrupt) as refused:  # what is on disk does not replay either
            await who["hostess"]("reopen_room")
        assert "another outcome" in refused.value.message
        with pytest.raises(Quarantined):
            await who["ann"]("view")
        assert (await other["ann"]("hide", {"n": 1})).success
