"""Commands of the house: what it can open, which commands a caller has, and what is refused and why."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cohabit import saves as save_format
from cohabit.errors import (
    BadArgs,
    Busy,
    GameRejected,
    PermissionDenied,
    StorageFailed,
    TooLarge,
    UnknownAsset,
    UnknownRoom,
)
from cohabit.house.house import House
from cohabit.house.lifecycle import saves
from cohabit.registry import find_world, known_worlds, players_of
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from .making import (
    ANN,
    GOD,
    HOST,
    TOKENS_MADE,
    Client,
    a_moment,
    invite,
    issue,
    make_room,
    newcomer,
    open_house,
    player,
)


async def operator(house: House, name: str, args: Any = None, room: str | None = None) -> Any:
    return await house.call(house.identify(house.operator_token()), room, name, args)


async def test_the_house_lists_every_world_with_a_title_and_the_first_line_of_its_description() -> None:
    async with open_house() as house:
        lines = (await operator(house, "worlds")).worlds
    assert [line.name for line in lines] == list(known_worlds())
    assert all(line.title and line.description and "\n" not in line.description for line in lines)
    found = {line.name: line for line in lines}
    nim, whist = found["nim"], found["whist"]
    assert (nim.title, nim.players, nim.takes_seed) == ("Nim", find_world("nim").spec.seat_range, True)
    assert not whist.takes_seed  # it reveals hidden information


async def test_only_hosts_of_the_house_are_told_which_brains_they_may_choose() -> None:
    async with open_house(brains="human-like.py:Brain") as house:
        who = await make_room(house)
        brains = {line.name: line.brains for line in (await operator(house, "worlds")).worlds}
        assert brains["nim"] == ["nim-master", "random", "human-like.py:Brain"]
        assert brains["whist"] == ["whist", "random", "human-like.py:Brain"]
        assert not any(line.brains for line in (await who["ann"]("worlds")).worlds)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("world", "brain"),
    [(name, brain) for name in known_worlds() if find_world(name).spec.seat_range[1] for brain in players_of(name)],
)
async def test_every_brain_that_is_offered_for_a_world_plays_it(world: str, brain: str) -> None:
    fewest, most = find_world(world).spec.seat_range
    players = [f"player-{n}" for n in range(max(fewest, min(2, most)))]
    async with open_house() as house:
        house.bots.step_ms = 0
        args = {"world": world, "players": players, "brains": dict.fromkeys(players, brain)}
        runner = house.rooms[(await operator(house, "create_room", args)).room]
        while not any(line.entry.via == brain for line in runner.history.recent):
            await runner.changed_since(runner.version, house.clock.now() + 1000)
        assert {line.entry.by for line in runner.history.recent if line.entry.via == brain} <= set(players)


async def test_players_of_a_new_room_are_people_or_agents() -> None:
    async with open_house() as house:
        args = {"world": "nim", "players": ["ann", "bot"], "people": ["ann"]}
        room = house.rooms[(await operator(house, "create_room", args)).room].room
        ann, bot = (room.state.with_handle(name) for name in ("ann", "bot"))
        assert ann is not None
        assert bot is not None
        assert [(m.kind, m.role_name, m.seat) for m in (ann, bot)] == [
            ("human", "human", "first"), ("agent", "player", "second")
        ]  # fmt: skip
        with pytest.raises(BadArgs, match="people"):
            await operator(house, "create_room", {**args, "people": ["zoe"]})


@pytest.mark.parametrize("args", [{}, {"world": "nim", "scenario": "pvp"}])
async def test_a_room_is_created_from_a_world_or_a_scenario_and_not_from_both_or_none(args: dict[str, str]) -> None:
    async with open_house() as house:
        with pytest.raises(BadArgs, match="either scenario or world"):
            await operator(house, "create_room", args)
        assert not house.rooms


@pytest.mark.parametrize(("key", "wrong", "meant"), [("world", "nin", "nim"), ("scenario", "pvq", "pvp")])
async def test_a_misspelt_world_or_scenario_is_refused_with_the_nearest_name(key: str, wrong: str, meant: str) -> None:
    async with open_house() as house:
        with pytest.raises(BadArgs, match=f"unknown {key} '{wrong}'") as refused:
            await operator(house, "create_room", {key: wrong})
        assert meant in refused.value.did_you_mean


@pytest.mark.parametrize("name", ["", "a b", "*", "x" * 100, "ann#2"])
async def test_a_room_is_not_created_with_a_player_whose_name_cannot_be_a_handle(name: str) -> None:
    async with open_house() as house:
        with pytest.raises(BadArgs):
            await operator(house, "create_room", {"world": "nim", "players": ["ann", name]})
        assert not house.rooms


async def test_one_command_is_described_by_its_name_and_one_that_is_not_there_gets_near_names() -> None:
    async with open_house() as house:
        who = await make_room(house)
        everything = (await who["ann"]("schemas")).commands
        one = (await who["ann"]("schemas", {"command": "hide"})).commands
        assert [info.name for info in one] == ["hide"]
        assert one[0] in everything
        assert len(everything) > 1
        for name in ("hiide", "create_room"):
            with pytest.raises(UnknownAsset, match=f"no command '{name}'") as refused:
                await who["ann"]("schemas", {"command": name})
            assert ("hide" in refused.value.did_you_mean) == (name == "hiide")


async def test_a_member_that_was_given_an_identity_the_house_does_not_know_opens_no_room() -> None:
    async with open_house() as house:
        plan = parse_scenario('{"world": "nim", "agents": [{"id": "ann", "role": "player"}]}')
        plan.agents[0].identity = "i-nobody"
        with pytest.raises(BadArgs, match="ann: unknown identity 'i-nobody'"):
            await house.create_room(plan, "den", seed=7)
        assert not house.rooms


# -- a room is needed -------------------------------------------------------------------------------
async def test_a_command_about_a_room_asks_for_one_when_the_caller_names_none() -> None:
    async with open_house() as house:
        await make_room(house)
        zoe = await issue(house, "zoe")
        for name in ("view", "nonsense"):
            with pytest.raises(BadArgs, match=f"{name} needs a room; pass its id as room$"):
                await house.call(house.identify(zoe.token), None, name)


async def test_a_house_host_is_told_to_join_before_it_uses_a_room() -> None:
    async with open_house() as house:
        await make_room(house)
        boss = await issue(house, "boss", host=True)
        with pytest.raises(UnknownRoom, match="call `join` first"):
            await boss("view")
        stranger = await issue(house, "zoe")
        with pytest.raises(UnknownRoom) as refused:
            await stranger("view")
        assert "join" not in refused.value.message


# -- tokens -----------------------------------------------------------------------------------------
async def test_a_built_in_player_has_no_token_to_replace_or_revoke() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("add_member", {"id": "bot", "stand_in": "random"})
        for name in ("rotate_credential", "revoke_credential"):
            with pytest.raises(BadArgs, match="bot is a built-in player and has no token"):
                await operator(house, name, {"name": "bot", "room": "den"})


async def test_an_identity_without_a_token_there_has_nothing_to_replace_or_revoke() -> None:
    async with open_house() as house:
        who = await make_room(house)
        ann = house.identify(who["ann"].token).identity
        for name in ("rotate_credential", "revoke_credential"):
            with pytest.raises(UnknownAsset, match="no token for the house"):
                await operator(house, name, {"name": ann})
        await operator(house, "revoke_credential", {"name": "ann", "room": "den"})
        for name in ("rotate_credential", "revoke_credential"):
            with pytest.raises(UnknownAsset, match="no token for room den"):
                await operator(house, name, {"name": "ann", "room": "den"})


async def test_a_member_without_manage_members_replaces_its_own_token_and_nobody_elses() -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(PermissionDenied, match="manage_members"):
            await who["ann"]("rotate_token", {"member": "bob"})
        assert (await who["bob"]("whoami")).handle == "bob"
        made = await who["ann"]("rotate_token")
        TOKENS_MADE.append(made.token)
        assert (await Client(house, "den", "ann", made.token)("whoami")).handle == "ann"


# -- saves ------------------------------------------------------------------------------------------
async def test_a_room_has_a_limit_of_saves_and_one_of_them_can_still_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saves, "MAX_SAVES", 2)
    async with open_house(tmp_path) as house:
        who = await make_room(house, player("ann", 0), GOD, world="nim")
        for name in ("one", "two", "one"):
            await who["zeus"]("save_world", {"name": name})
        with pytest.raises(GameRejected, match="save limit reached"):
            await who["zeus"]("save_world", {"name": "three"})
        assert (await who["zeus"]("list_saves")).items == ["one", "two"]


async def test_a_save_that_has_grown_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, player("ann", 0), GOD, world="nim")
        await who["zeus"]("save_world", {"name": "one"})
        size = len(house.store.save("den", "one") or b"")
        monkeypatch.setattr(saves, "MAX_SAVE", size)
        await who["zeus"]("load_world", {"name": "one"})
        monkeypatch.setattr(saves, "MAX_SAVE", size - 1)
        for command in ("load_world", "save_world"):
            with pytest.raises(TooLarge, match=f"at most {size - 1} bytes"):
                await who["zeus"](command, {"name": "one"})


async def test_a_save_that_unpacks_to_too_much_is_refused_and_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, player("ann", 0), GOD, world="nim")
        await who["zeus"]("save_world", {"name": "one"})
        before = house.rooms["den"].room.digest()
        monkeypatch.setattr(save_format, "MAX_UNPACKED", 5)
        with pytest.raises(GameRejected, match="truncated or too large"):
            await who["zeus"]("load_world", {"name": "one"})
        assert house.rooms["den"].room.digest() == before


async def test_a_save_that_cannot_be_read_is_the_fault_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, player("ann", 0), GOD, world="nim")
        await who["zeus"]("save_world", {"name": "one"})

        def fail(room: str, name: str) -> bytes:
            raise StorageFailed("cohabit.db cannot be read: disk I/O error")

        monkeypatch.setattr(house.store, "save", fail)
        with pytest.raises(StorageFailed, match="disk I/O error"):
            await who["zeus"]("load_world", {"name": "one"})


async def test_the_list_of_rooms_counts_who_is_there_only_for_members_who_see_the_roster() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, player("bob", 1, brain="random"), HOST, world="nim")
        await who["hostess"]("narrow", {"member": "ann", "may": ["read_roster"]})
        seen = {name: (await who[name]("rooms")).rooms[0] for name in ("ann", "hostess")}
        assert (seen["ann"].here, seen["ann"].bots) == (None, 0)
        assert (seen["ann"].you, seen["hostess"].you) == ("player", "host")
        assert seen["hostess"].here is not None
        assert seen["hostess"].bots == 1


async def test_the_record_of_the_house_names_who_invited_by_its_handle() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, GOD, HOST)
        await who["zeus"]("remove_member", {"member": "hostess"})
        again = await newcomer(who["zeus"], "hostess", role="host")
        member = house.rooms["den"].room.member_of(house.identify(again.token).identity)
        assert member is not None
        assert member.id != member.handle
        await invite(again, "cy")
        last = house.ledger.runner.room.record.tail[-1].entry
        assert (last.do, last.args["by"], last.args["handle"]) == ("invited", "hostess", "cy")


async def test_a_call_that_has_ended_does_not_count_among_those_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohabit.house.calls.door.WAITS_PER_MEMBER", 2)
    async with open_house() as house:
        who = await make_room(house)
        for _ in range(5):
            await who["ann"]("events")
        cursor = (await who["ann"]("events")).cursor
        waiting = [asyncio.create_task(who["ann"]("events", {"cursor": cursor, "wait_ms": 30_000})) for _ in range(2)]
        await a_moment()
        with pytest.raises(Busy, match="2 calls waiting"):
            await who["ann"]("events")
        assert await who["bob"]("events")
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        await a_moment()
        assert await who["ann"]("events")
        await a_moment()
        assert not vars(house.door)["_waits"]


async def test_a_member_that_waits_is_seen_when_its_call_ends_unless_it_hung_up() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        seen = house.rooms["den"].time.seen
        cursor = (await who["ann"]("events")).cursor
        waits = {"cursor": cursor, "wait_ms": 10_000}
        waiting = asyncio.create_task(who["ann"]("events", waits))
        await clock.advance(10_000)
        await waiting
        assert seen["ann"] == clock.now()
        begun = clock.now()
        credential = house.identify(who["ann"].token)
        call = house.door.begin(credential, "den", "events", waits)
        await clock.advance(5_000)
        assert call.stop_waiting is not None
        call.stop_waiting()
        await a_moment()
        assert seen["ann"] == begun, "it was not there when its call was given up"


async def test_observe_shows_what_an_app_has_published_for_the_caller_from_the_first_time_on() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, HOST, {"id": "board", "role": "app"}, world="nim")
        assert (await who["ann"]("observe")).app_view is None
        await who["board"]("publish_view", {"view": {"lines": 1}})
        assert (await who["ann"]("observe")).app_view == {"lines": 1}
        await who["board"]("publish_view", {"view": 0, "to": ["hostess"]})
        assert [(await who[name]("observe")).app_view for name in ("ann", "hostess")] == [{"lines": 1}, 0]
