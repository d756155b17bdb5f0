"""Worlds that raise or hang: the room is rolled back or quarantined, and other rooms are not affected."""

import asyncio
import traceback
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import (
    CohabitError,
    Conflict,
    GameCrash,
    GameRejected,
    Internal,
    PermissionDenied,
    Quarantined,
    RecordCorrupt,
    WorldTimeout,
)  # fmt: skip
from cohabit.house.running.calls import PeekCall
from cohabit.house.running.snapshots import QUICK_REPLAY_CPU_S
from cohabit.testing.clock import FakeClock
from cohabit.world import Eye

from .making import ANN, GOD, WORLDS, Client, a_moment, deeds, make_room, open_house, stored_room

QUICK: dict[str, Any] = {"world_deadline_s": 0.5}


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


async def test_a_view_that_is_too_large_is_the_fault_of_the_world_and_the_room_stays_open(tmp_path: Path) -> None:
    tally = (Path(__file__).parent.parent / "testing" / "tally.py").read_text()
    old = 'text=f"sum {sum(self.sums.values())} {self.said}"'
    assert old in tally
    file = tmp_path / "tally.py"
    file.write_text(tally.replace(old, "text='x' * (1_000_001 if self.moves == 1 else 100)"))
    async with open_house() as house:
        who = await make_room(house, world=str(file))
        assert (await who["ann"]("view")).text
        assert (await who["ann"]("add", {"n": 1})).observation is None
        for _ in range(3):
            with pytest.raises(
                GameCrash, match=r"view of seat left has 1,000,0\d\d characters of text; at most 1,000,000"
            ):
                await who["ann"]("view")
        await who["bob"]("add", {"n": 1})
        assert (await who["ann"]("view")).text
        assert house.rooms["den"].failure is None


@pytest.mark.parametrize("part", ["message", "public", "told"])
async def test_an_action_that_tells_too_much_is_the_fault_of_the_world_and_is_rolled_back(
    part: str, tmp_path: Path
) -> None:
    tally = (Path(__file__).parent.parent / "testing" / "tally.py").read_text()
    old = 'return Outcome("added", public=f"{by.id} adds {n}")'
    assert old in tally
    long = "'x' * 1_000_001"
    told = f"(Told({long}),)" if part == "told" else long
    file = tmp_path / "tally.py"
    tells = f"return Outcome(**{{{part!r}: {told}}}) if n == 1 else Outcome('added')"
    file.write_text(tally.replace(old, tells).replace("    Stream,", "    Stream, Told,"))
    async with open_house() as house:
        who = await make_room(house, world=str(file))
        before = (await who["ann"]("view")).text
        with pytest.raises(GameCrash, match="rolled back"):
            await who["ann"]("add", {"n": 1})
        assert (await who["ann"]("view")).text == before
        assert (await who["ann"]("add", {"n": 2})).message == "added"


@pytest.mark.parametrize("score", ["10 ** 5000", "-10 ** 400", "float('nan')", "float('inf')"])
async def test_a_score_that_no_face_can_show_is_the_fault_of_the_world(score: str, tmp_path: Path) -> None:
    tally = (Path(__file__).parent.parent / "testing" / "tally.py").read_text()
    assert "-total)" in tally
    file = tmp_path / "tally.py"
    file.write_text(tally.replace("-total)", f"{score} if self.moves else 10 ** 308)"))
    async with open_house() as house:
        who = await make_room(house, world=str(file))
        assert (await who["ann"]("objective_status")).standings[0].score == 10**308
        await who["ann"]("add", {"n": 1})
        for command in ("objective_status", "thumbnail"):
            with pytest.raises(GameCrash, match="the score of left is a finite number of at most 308 digits"):
                await who["ann"](command)


async def test_a_view_that_fails_costs_its_subscribers_no_event_and_the_others_no_view(tmp_path: Path) -> None:
    tally = (Path(__file__).parent.parent / "testing" / "tally.py").read_text()
    old = 'text=f"sum {sum(self.sums.values())} {self.said}"'
    assert old in tally
    file = tmp_path / "tally.py"
    too_long = "1_000_001 if self.moves == 1 and eye.seat == 'left' else self.moves"
    file.write_text(tally.replace(old, f"text='x' * ({too_long})"))
    async with open_house() as house:
        who = await make_room(house, world=str(file))
        ann, bob = await who["ann"].reader(), await who["bob"].reader()
        await a_moment()
        await who["ann"]("add", {"n": 1})
        await who["hostess"]("say", {"text": "well done"})
        await a_moment()
        for reader in (ann, bob):
            assert b"left adds 1" in reader.events[0]
            assert b"well done" in reader.events[1]
        assert not any(b"Step 1" in view for view in ann.views)
        assert b"Step 1" in bob.views[-1]
        await who["bob"]("add", {"n": 1})
        await a_moment()
        assert b"Step 2" in ann.views[-1]


# -- exceptions of every kind -----------------------------------------------------------------------
PLACES: dict[str, tuple[str, Any]] = {
    "action": ("add", {"n": 1}), "observe": ("add", {"n": 1}), "to_move": ("add", {"n": 1}), "returns": ("add", {"n": 1}),
    "scope": ("add", {"n": 1}), "query": ("number", {}), "legal": ("view", {}), "picture": ("picture", {}),
    "standings": ("objective_status", {}), "clock": ("pause", {}),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(
    "raises",
    [
        "SystemExit",
        "KeyboardInterrupt",
        "CancelledError",
        "GeneratorExit",
        "StopIteration",
        "AssertionError",
        "MemoryError",
    ],
)
@pytest.mark.parametrize("where", PLACES)
async def test_any_exception_of_a_world_is_a_game_crash_that_is_rolled_back_and_logged(
    where: str, raises: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_house() as house:
        who = await make_room(house, world="Exits", config={"where": where, "raises": raises})
        room = house.rooms["den"].room
        before, seq = room.digest(), room.record.seq
        with pytest.raises(GameCrash) as crash:
            await who["ann"](*PLACES[where])
        assert raises in crash.value.message
        assert "42" not in str(crash.value.as_wire())
        assert (room.digest(), room.record.seq) == (before, seq)
        logged = [record for record in caplog.records if record.exc_info and "exits" in record.getMessage()]
        assert logged
        assert "worlds.py" in "".join(traceback.format_exception(*logged[0].exc_info))  # type: ignore[misc]
        if where != "scope":
            assert (await who["ann"]("safe")).success


@pytest.mark.parametrize("raises", ["SystemExit", "KeyboardInterrupt", "CancelledError", "AssertionError"])
@pytest.mark.parametrize("where", ["init", "reset"])
async def test_a_world_that_raises_while_it_is_made_opens_no_room_and_is_logged(
    where: str, raises: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_house() as house:
        with pytest.raises(GameCrash):
            await make_room(house, world="Exits", config={"where": where, "raises": raises})
        assert house.rooms == {}
        assert any(record.exc_info and "could not be created" in record.getMessage() for record in caplog.records)
        assert await make_room(house, world="Exits")


@pytest.mark.parametrize("raises", ["SystemExit", "KeyboardInterrupt", "CancelledError", "AssertionError"])
@pytest.mark.parametrize("where", ["save", "load"])
async def test_a_world_that_raises_while_it_is_saved_or_loaded_is_rolled_back(
    where: str, raises: str, tmp_path: Path
) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, GOD, world="Exits", config={"where": where, "raises": raises})
        before = house.rooms["den"].room.world.snapshot()
        with pytest.raises(CohabitError) as crash:
            await who["zeus"]("save_world", {"name": "x"})
            await who["zeus"]("load_world", {"name": "x"})
        assert crash.value.code in ("GAME_CRASH", "GAME_REJECTED", "QUARANTINED")
        if crash.value.code == "QUARANTINED":
            await who["zeus"]("reopen_room")
        assert house.rooms["den"].room.world.snapshot() == before


@pytest.mark.parametrize("raises", ["SystemExit", "KeyboardInterrupt", "CancelledError", "AssertionError"])
async def test_a_world_that_raises_while_time_passes_is_quarantined_and_the_house_continues(raises: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="Exits", config={"where": "advance", "raises": raises})
        other = await make_room(house, room="other")
        await clock.advance(1_000)
        with pytest.raises(Quarantined):
            await who["ann"]("view")
        assert (await other["ann"]("hide", {"n": 1})).success


@pytest.mark.parametrize("raises", ["SystemExit", "KeyboardInterrupt", "CancelledError"])
async def test_a_world_that_raises_while_its_room_is_opened_again_closes_only_that_room(
    raises: str, tmp_path: Path
) -> None:
    game = tmp_path / "game.py"
    text = Path(WORLDS).read_text()
    game.write_text(text)
    async with open_house(tmp_path / "data") as house:
        who = await make_room(house, ANN, GOD, world=str(game) + ":Exits")
        await who["ann"]("add", {"n": 1})
        await make_room(house, room="other")
    game.write_text(text.replace('self._exit("init")', f"raise {raises.replace('Cancelled', 'asyncio.Cancelled')}"))
    async with open_house(tmp_path / "data") as house:
        assert list(house.rooms) == ["other"]
        assert raises in house.broken["den"].message


# -- a refusal after a change -----------------------------------------------------------------------
async def test_a_refusal_after_a_change_is_found_and_the_room_is_quarantined(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, world="Hasty")
        other = await make_room(house, room="other")
        with pytest.raises(Quarantined, match="changed its state before refusing add"):
            await who["ann"]("add", {"n": 100})
        with pytest.raises(Quarantined):
            await who["bob"]("view")
        assert (await other["ann"]("hide", {"n": 1})).success
        await who["hostess"]("reopen_room")
        assert "n=3" in (await who["ann"]("view")).text
    assert stored_room(tmp_path).world.observe(Eye()).text == "n=3"


async def test_a_refusal_before_any_change_is_no_reason_for_a_quarantine() -> None:
    async with open_house() as house:
        who = await make_room(house, world="Hasty")
        for _ in range(40):
            with pytest.raises(GameRejected):
                await who["ann"]("check_first", {"n": 100})
        assert (await who["ann"]("check_first", {"n": 97})).success


async def test_a_call_that_waits_for_events_ends_when_its_room_is_quarantined() -> None:
    async with open_house(clock=FakeClock()) as house:
        who = await make_room(house, world="Hasty")
        cursor = (await who["bob"]("events")).cursor
        with pytest.raises(Quarantined):
            await who["ann"]("add", {"n": 100})
        reply = await asyncio.wait_for(who["bob"]("events", {"cursor": cursor, "wait_ms": 30_000}), 250)
        assert reply.items == []


# -- worlds that hang -------------------------------------------------------------------------------
@pytest.mark.parametrize("world", ["Stuck", "StuckQuick"])
async def test_a_world_that_hangs_is_quarantined_and_other_rooms_are_not_affected(world: str) -> None:
    async with open_house(**QUICK) as house:
        who = await make_room(house, world=world)
        other = await make_room(house, room="other")
        await who["ann"]("move")
        hanging = asyncio.create_task(who["ann"]("spin"))
        await asyncio.sleep(0)
        assert (await other["ann"]("hide", {"n": 1})).success
        with pytest.raises(WorldTimeout) as late:
            await asyncio.wait_for(hanging, 250)
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
            await asyncio.wait_for(who["ann"]("spin"), 250)
        with pytest.raises(PermissionDenied):
            await who["ann"]("reopen_room")
        assert (await who["hostess"]("reopen_room")).room == "den"
        assert "3 moves" in (await who["ann"]("view")).text
        assert (await who["bob"]("move")).success
        assert not deeds(house.rooms["den"].room, "spin")


async def test_a_host_of_the_house_reopens_a_quarantined_room_without_being_a_member() -> None:
    async with open_house(**QUICK) as house:
        who = await make_room(house, ANN, world="Stuck")  # nobody in it has control_world
        operator = house.identify(house.operator_token())
        with pytest.raises(WorldTimeout):
            await asyncio.wait_for(who["ann"]("spin"), 250)
        with pytest.raises(Quarantined, match="or a host of the house can reopen it"):
            await who["ann"]("view")
        assert (await house.call(operator, "den", "reopen_room", {})).room == "den"
        assert (await who["ann"]("move")).success


async def test_a_refusal_is_not_checked_by_a_replay_that_would_take_long() -> None:
    async with open_house(world_deadline_s=1) as house:
        who = await make_room(house, world="Hasty")
        runner = house.rooms["den"]
        runner._quick = False
        runner._snapshots.add_cpu(QUICK_REPLAY_CPU_S)
        with pytest.raises(GameRejected):  # found by the check otherwise, see above
            await who["ann"]("add", {"n": 100})


async def test_every_call_that_waited_for_a_world_that_hangs_gets_a_reply() -> None:
    async with open_house(**QUICK) as house:
        who = await make_room(house, world="Stuck")
        calls = [asyncio.create_task(who["ann"](name)) for name in ("move", "spin", "move", "view")]
        await asyncio.sleep(0)
        calls += [asyncio.create_task(who["bob"](name)) for name in ("move", "view")]
        results = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 250)
        assert any(isinstance(r, WorldTimeout) for r in results)
        kept = sum(not isinstance(r, BaseException) and hasattr(r, "success") for r in results)
        await who["hostess"]("reopen_room")
        assert len(deeds(house.rooms["den"].room, "move")) == kept


async def test_many_calls_that_each_return_in_time_are_not_a_world_that_hangs() -> None:
    async with open_house(world_deadline_s=1) as house:
        who = await make_room(house, world="Stuck")
        calls = [who["ann"]("doze", {"ms": 50}) for _ in range(30)]
        results = await asyncio.gather(*calls)
        assert [r.success for r in results] == [True] * 30


async def test_a_room_without_a_problem_cannot_be_reopened() -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(Conflict):
            await who["hostess"]("reopen_room")
        assert (await who["ann"]("hide", {"n": 1})).success


@pytest.mark.parametrize("fails_in", ["skip", "skip politely"])
async def test_a_world_that_fails_when_time_is_up_is_quarantined_instead_of_asked_again_and_again(
    fails_in: str,
) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="Moody", config={"fails_in": fails_in}, turn_seconds=10)
        await asyncio.wait_for(clock.advance(60_000), 250)
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


async def test_a_peek_that_fails_is_an_error_and_the_room_continues() -> None:
    async with open_house() as house:
        who = await make_room(house)
        runner = house.rooms["den"]

        def look(room: Any) -> Any:
            return room.state.members["nobody"]

        with pytest.raises(Internal, match="KeyError"):
            await runner.submit(PeekCall(look))
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


@pytest.mark.soak
async def test_a_world_that_hangs_while_it_is_set_up_opens_no_room() -> None:
    async with open_house(**QUICK) as house:
        with pytest.raises(WorldTimeout):
            await asyncio.wait_for(make_room(house, world="Endless"), 250)
        assert house.rooms == {}
        assert isinstance((await make_room(house))["ann"], Client)


async def test_a_room_whose_world_is_not_deterministic_cannot_be_rolled_back_and_is_quarantined() -> None:
    async with open_house() as house:
        who = await make_room(house, world="Fickle")
        other = await make_room(house, room="other")
        await who["ann"]("move")
        with pytest.raises(Quarantined, match="different outcome; has its world or a feature changed"):
            await who["ann"]("fail")
        with pytest.raises(Quarantined):
            await who["ann"]("view")
        with pytest.raises(RecordCorrupt) as refused:  # what is on disk does not replay either
            await who["hostess"]("reopen_room")
        assert "a different outcome" in refused.value.message
        with pytest.raises(Quarantined):
            await who["ann"]("view")
        assert (await other["ann"]("hide", {"n": 1})).success
