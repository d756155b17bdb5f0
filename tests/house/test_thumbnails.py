"""Thumbnails of rooms: only what is public, for those who may enter, and few views however many look."""

import asyncio
from typing import Any

import msgspec
import pytest

from cohabit.errors import CohabitError, UnknownRoom
from cohabit.room.room import Room

from .making import ANN, BOB, HOST, OWL, Client, a_moment, issue, make_room, open_house, player


async def test_a_thumbnail_shows_what_everybody_may_see_whoever_asks() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL, partial_intel=True)
        await who["ann"]("shout", {"text": "hello"})
        await who["ann"]("hide", {"n": 710_041})
        shown = [await who[name]("thumbnail") for name in ("ann", "bob", "hostess", "owl")]
        assert all(one == shown[0] for one in shown)
        assert shown[0].lines == ["red: hello"]
        assert [(one.name, one.score) for one in shown[0].scores] == [("red", 1), ("blue", 0)]
        assert shown[0].players == {"red": "ann", "blue": "bob"}
        assert not shown[0].over


async def test_two_rooms_that_differ_in_what_is_hidden_have_the_same_thumbnail() -> None:
    found = []
    for n in (710_041, 810_042):
        async with open_house() as house:
            who = await make_room(house, ANN, BOB, HOST, OWL, partial_intel=True)
            await who["ann"]("hide", {"n": n})
            found.append([msgspec.json.encode(await who[name]("thumbnail")) for name in ("bob", "owl")])
    assert found[0] == found[1]


async def test_only_a_person_who_may_enter_freely_sees_a_room_that_it_is_not_in() -> None:
    async with open_house() as house:
        await make_room(house, ANN, BOB, HOST, room="private")
        host = (await make_room(house, ANN, BOB, HOST, room="public", guests=True))["hostess"]
        person, agent = await issue(house, "pia", "public", kind="human"), await issue(house, "bot", "public")

        async def listed(client: Client) -> dict[str, bool]:
            rooms = (await house.call(house.identify(client.token), None, "rooms")).rooms
            return {line.id: line.has_thumbnail for line in rooms}

        assert await listed(person) == {"public": True}
        assert (await person("thumbnail")).lines == ["silence"]
        assert await listed(agent) == {"public": False}
        person.room = "private"
        with pytest.raises(UnknownRoom):
            await person("thumbnail")
        person.room = "public"
        for closed in ({"locked": True}, {"locked": False, "lobby": True}):
            await host("set_entry", closed)
            assert await listed(person) == {"public": False}
            for client in (person, agent):
                with pytest.raises(UnknownRoom):
                    await client("thumbnail")


async def test_a_member_who_may_not_watch_gets_none() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        await who["hostess"]("narrow", {"member": "bob", "may": ["watch"]})
        with pytest.raises(CohabitError) as refused:
            await who["bob"]("thumbnail")
        assert refused.value.code == "PERMISSION_DENIED"


async def test_many_who_look_at_a_busy_room_cost_one_view_in_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    view = Room.view_through
    monkeypatch.setattr(Room, "view_through", lambda room, eye: made.append(eye) or view(room, eye))
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        made.clear()
        for n in range(20):
            await asyncio.gather(*(who[name]("thumbnail") for name in ("ann", "bob", "hostess") for _ in range(10)))
            await house.call(house.identify(who["ann"].token), "den", "send_message", {"to": "bob", "content": f"{n}"})
        assert len(made) == 1
        clock: Any = house.clock
        await clock.advance(3_000)
        await who["ann"]("thumbnail")
        await a_moment()
        assert len(made) == 2


async def test_the_age_of_a_thumbnail_does_not_tell_of_what_is_hidden() -> None:
    found = []
    for hides in (True, False):
        async with open_house() as house:
            who, clock = await make_room(house, ANN, BOB, HOST, OWL, partial_intel=True), house.clock
            shown = [await who["owl"]("thumbnail")]
            await clock.advance(3_100)
            if hides:
                await who["ann"]("hide", {"n": 1})
            shown.append(await who["owl"]("thumbnail"))
            await clock.advance(500)
            await who["bob"]("shout", {"text": "hello"})
            shown.append(await who["owl"]("thumbnail"))
            found.append(msgspec.json.encode(shown))
    assert found[0] == found[1]


async def test_a_long_view_is_cut() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        for n in range(40):
            await who["ann"]("shout", {"text": f"{n} " + "x" * 200})
        shown = await who["bob"]("thumbnail")
        assert len(shown.lines) == 14
        assert max(map(len, shown.lines)) == 48


async def test_a_new_room_with_the_name_of_a_deleted_one_does_not_show_that_one() -> None:
    async with open_house() as house:
        first = await make_room(house, player("cat", 0), BOB, HOST)
        await first["cat"]("shout", {"text": "hello"})
        assert (await first["cat"]("thumbnail")).lines == ["red: hello"]
        await first["hostess"]("delete_room", {"confirm": "den"})
        shown = await (await make_room(house, ANN, BOB, HOST))["ann"]("thumbnail")
        assert (shown.lines, shown.players) == (["silence"], {"red": "ann", "blue": "bob"})
