"""Many rooms in one house, and what each member is told of its own."""

import asyncio
import json
from typing import Any

import pytest

from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, Unauthorized
from cohabit.scenario import AgentSpec, Scenario

from .making import ANN, BOB, GOD, HOST, OWL, a_moment, make_room, open_house, player


async def test_many_rooms_play_at_once_and_know_nothing_of_each_other() -> None:
    async with open_house() as house:
        rooms = [await make_room(house, room=f"r{i}") for i in range(50)]
        await asyncio.gather(*(who["ann"]("hide", {"n": i}) for i, who in enumerate(rooms) for _ in range(5)))
        for i, who in enumerate(rooms):
            assert (await who["ann"]("numbers"))["red"] == [i] * 5
            assert [line.id for line in (await who["ann"]("rooms")).rooms] == [f"r{i}"]


async def test_a_room_does_not_depend_on_the_rooms_beside_it() -> None:
    digests = []
    for neighbours in (0, 5):
        async with open_house() as house:
            who = await make_room(house, world="nim")
            others = [await make_room(house, room=f"r{i}", world="nim") for i in range(neighbours)]
            for n, name in ((1, "ann"), (2, "bob"), (3, "ann")):
                await asyncio.gather(who[name]("take", {"n": n}), *(o[name]("take", {"n": 1}) for o in others))
            room = house.rooms["den"].room
            await house.rooms["den"].drained()
            digests.append((room.world.snapshot(), [e.entry.told for e in room.record.tail if e.entry.do == "take"]))
    assert digests[0] == digests[1]


async def test_of_several_rooms_created_at_once_with_one_name_all_but_one_are_a_conflict() -> None:
    async with open_house() as house:
        results = await asyncio.gather(make_room(house), make_room(house), make_room(house), return_exceptions=True)
        assert sum(isinstance(r, Conflict) for r in results) == 2
        (who,) = [r for r in results if isinstance(r, dict)]
        assert (await who["ann"]("hide", {"n": 1})).success


async def test_the_name_of_a_room_is_taken_until_it_is_deleted() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 7})
        with pytest.raises(Conflict, match="already exists"):
            await make_room(house)
        assert (await who["ann"]("numbers"))["red"] == [7]
        await house.delete_room("den")
        again = await make_room(house)
        assert (await again["ann"]("numbers"))["red"] == []


async def test_rooms_without_a_name_get_one_each() -> None:
    async with open_house() as house:
        plan = Scenario(agents=[AgentSpec(id="a")], scenario="My Game!")
        made = await asyncio.gather(*(house.create_room(plan) for _ in range(3)))
        assert sorted(name for name, _ in made) == ["my-game-1", "my-game-2", "my-game-3"]


async def test_a_free_name_among_thousands_is_found_without_trying_each_of_them() -> None:
    async with open_house() as house:
        house.broken.update({f"nim-{number}": Conflict("taken") for number in range(1, 5001)})
        is_free, tried = house.rooms.is_free, []

        def counted(name: str) -> bool:
            tried.append(name)
            return is_free(name)

        house.rooms.is_free = counted  # type: ignore[method-assign]
        plan = Scenario(world="nim", scenario="nim", agents=[AgentSpec(id="ann")])
        made, _ = await house.create_room(plan)
        assert made == "nim-5001"
        assert len(tried) < 50
        house.broken.pop("nim-1")
        assert (await house.create_room(plan))[0] == "nim-1"
        house.broken.clear()


@pytest.mark.parametrize("name", ["Den", "den/1", "", "-den", "x" * 64, "den den", "dén"])
async def test_a_room_has_a_name_that_fits_an_address(name: str) -> None:
    async with open_house() as house:
        if name:
            with pytest.raises(BadArgs):
                await make_room(house, room=name)
        assert house.rooms == {}


async def test_a_house_has_a_limit_of_rooms() -> None:
    async with open_house(rooms_limit=2) as house:
        for name in ("a", "b"):
            await make_room(house, room=name)
        with pytest.raises(Busy):
            await make_room(house, room="c")


@pytest.mark.parametrize(("world", "code"), [("nimm", "UNKNOWN_ASSET"), ("missing.py", "UNKNOWN_ASSET")])
async def test_a_world_that_is_not_there_opens_no_room(world: str, code: str) -> None:
    async with open_house() as house:
        with pytest.raises(CohabitError) as refused:
            await house.create_room(Scenario(agents=[AgentSpec(id="a")], world=world), "den")
        assert refused.value.code == code
        assert house.rooms == {}


async def test_a_config_that_does_not_fit_opens_no_room() -> None:
    async with open_house() as house:
        for config in ({"stones": "many"}, {"stone": 3}, {"stones": 0}):
            with pytest.raises(BadArgs):
                await make_room(house, world="nim", config=config)
        assert house.rooms == {}


async def test_the_seed_of_a_new_room_has_128_random_bits() -> None:
    async with open_house() as house:
        for i in range(8):
            await house.create_room(Scenario(agents=[AgentSpec(id="a")]), f"r{i}")
        seeds = [runner.room.state.seed for runner in house.rooms.values()]
        assert len(set(seeds)) == 8
        assert all(len(seed) == 32 and int(seed, 16) >= 0 for seed in seeds)
        assert any(int(seed, 16) >= 2**120 for seed in seeds)


# -- the feed ---------------------------------------------------------------------------------------
async def test_a_reader_resumes_from_its_cursor_and_misses_nothing() -> None:
    async with open_house(recent_entries=5) as house:
        who = await make_room(house)
        heard: list[str] = []
        cursor = ""
        for i in range(40):
            await who["ann"]("shout", {"text": f"<{i}>"})
            if i % 7 == 0:
                page = await who["bob"]("events", {"cursor": cursor, "max": 3})
                heard += [item.text for item in page.items]
                cursor = page.cursor
        more = True
        while more:
            page = await who["bob"]("events", {"cursor": cursor, "max": 3})
            heard += [item.text for item in page.items]
            cursor, more = page.cursor, page.more
        assert [text for text in heard if "<" in text] == [f"red: <{i}>" for i in range(40)]


async def test_what_happens_between_subscribing_and_reading_is_delivered_once() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["ann"]("shout", {"text": "<before>"})
        sub = await house.subscribe(house.identify(who["bob"].token), "den", "", views=False)
        await who["ann"]("shout", {"text": "<between>"})
        heard = [item["text"] for item in json.loads(await anext(sub))["items"]]
        await who["ann"]("shout", {"text": "<last>"})
        while "<last>" not in heard[-1]:
            heard += [item["text"] for item in json.loads(await anext(sub))["items"]]
        assert [text for text in heard if "<" in text] == ["red: <before>", "red: <between>", "red: <last>"]
        sub.close()


async def test_the_newest_events_come_in_order() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for i in range(10):
            await who["ann"]("shout", {"text": f"<{i}>"})
        page = await who["bob"]("events", {"last": 3})
        assert [item.text for item in page.items] == ["red: <7>", "red: <8>", "red: <9>"]


async def test_nothing_hidden_is_in_the_feed_or_its_cursor() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, OWL, partial_intel=True)
        await who["ann"]("shout", {"text": "hello"})
        before = await who["bob"]("events")
        await who["ann"]("hide", {"n": 4711})
        await who["ann"]("mumble", {"n": 4712})
        assert await who["bob"]("events") == before
        assert len((await who["owl"]("events")).items) > len(before.items)


async def test_made_up_and_foreign_cursors_are_refused() -> None:
    async with open_house() as house:
        one, two = await make_room(house, room="one"), await make_room(house, room="two")
        await one["ann"]("shout", {"text": "x"})
        foreign = (await one["ann"]("events")).cursor
        for cursor in (foreign, "0" * 16, "7", "zz", "-1", foreign[:-1]):
            with pytest.raises(BadArgs):
                await two["ann"]("events", {"cursor": cursor})


async def test_each_subscription_is_pushed_what_its_member_may_see() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, OWL, player("cy", 2), partial_intel=True)
        readers = {name: await who[name].reader() for name in ("ann", "bob", "owl", "cy")}
        await a_moment()
        await who["ann"]("hide", {"n": 471_147_114_711})  # long enough to be in no cursor by chance
        await who["ann"]("shout", {"text": "now"})
        await who["ann"]("send_message", {"to": "cy", "content": "psst"})
        await a_moment()
        frames = {name: reader.frames for name, reader in readers.items()}
        assert {n for n, f in frames.items() if any(b"471147114711" in x for x in f)} == {"ann", "owl"}
        assert {n for n, f in frames.items() if any(b"psst" in x for x in f)} == {"ann", "cy"}
        assert all(sum(b"red: now" in x for x in reader.events) == 1 for reader in readers.values())
        for reader in readers.values():
            assert all(json.loads(x)["room"] == "den" for x in reader.frames)


async def test_a_changed_grant_is_told_and_changes_what_is_pushed_from_then_on() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, GOD, partial_intel=True, sealed=False)
        reader = await who["bob"].reader()
        await a_moment()
        await who["zeus"]("widen", {"member": "bob", "may": ["read_all"]})
        await who["ann"]("hide", {"n": 4711})
        await a_moment()
        assert any(b"4711" in frame for frame in reader.events)
        assert [b'"read_all"' in frame for frame in reader.grants] == [True]
        await who["zeus"]("revoke", {"member": "bob"})
        await a_moment()
        assert json.loads(reader.grants[1])["grant"]["perceive"] == []
        before = list(reader.frames)
        await who["ann"]("shout", {"text": "4712"})
        await a_moment()
        assert reader.frames == before


async def test_the_subscription_of_a_removed_member_ends_and_is_pushed_nothing_more() -> None:
    async with open_house() as house:
        who = await make_room(house)
        reader = await who["bob"].reader()
        await a_moment()
        await who["hostess"]("remove_member", {"member": "bob"})
        await who["ann"]("shout", {"text": "bob has left"})
        await a_moment()
        await reader.task
        assert isinstance(reader.ended, Unauthorized)
        assert not any(b"bob has left" in frame for frame in reader.frames)
        with pytest.raises(Unauthorized):
            await who["bob"]("view")


async def test_a_view_is_pushed_when_it_changed_and_not_when_it_did_not() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, partial_intel=True)
        reader = await who["bob"].reader()
        await who["ann"]("shout", {"text": "x"})
        await a_moment()
        seen = len(reader.views)
        assert seen
        await who["ann"]("hide", {"n": 1})
        await a_moment()
        assert len(reader.views) == seen


async def test_replies_to_one_member_come_in_the_order_of_its_calls() -> None:
    async with open_house() as house:
        who = await make_room(house)
        order: list[int] = []

        async def act(i: int) -> Any:
            await who["ann"]("hide", {"n": i})
            order.append(i)

        await asyncio.gather(*(act(i) for i in range(50)))
        assert order == list(range(50))
        assert (await who["ann"]("numbers"))["red"] == list(range(50))


@pytest.mark.parametrize(
    ("world", "fog", "seed", "warned"),
    [
        ("whist", False, 7, True), ("lanterns", False, "ff", True), ("whist", False, "ab" * 16, False),
        ("whist", False, None, False), ("nim", False, 7, False), ("kingdoms", True, 7, True), ("kingdoms", False, 7, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("in_the_scenario", [False, True])
async def test_a_host_is_warned_of_a_seed_that_players_can_guess_where_the_world_hides_things(
    world: str, fog: bool, seed: int | str | None, warned: bool, in_the_scenario: bool, caplog: pytest.LogCaptureFixture
) -> None:
    config = {"zones_x": 2, "zones_y": 2} if world == "kingdoms" else {}
    agents = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("ann", "bob", "cy", "di"))]
    scenario = Scenario(world=world, config=config, partial_intel=fog, agents=agents[: 2 if world == "nim" else 4])
    scenario.seed = seed if in_the_scenario else None
    async with open_house() as house:
        await house.create_room(scenario, "den", seed=None if in_the_scenario else seed)
    assert ("players can guess its seed" in caplog.text) == warned


async def test_the_list_of_rooms_says_who_plays_and_what_is_free_to_those_who_may_read_the_roster() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, HOST, {"id": "kib", "role": "resident"}, world="nim")
        (line,) = (await who["ann"]("rooms")).rooms
        assert ([player.name for player in line.players], line.free_seats, line.plays) == (["ann"], 1, True)
        assert (line.title, line.pace, line.over) == ("Nim", "turns", False)
        (line,) = (await who["kib"]("rooms")).rooms
        assert (line.players, line.free_seats, line.plays) == ([], 0, False)
