"""Two houses on one database are one: real processes, a real PostgreSQL."""

import asyncio
import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.faces.doors import door_at
from tests.faces.workers.cluster import Caller, Houses, calling, running

from cohabit.client import connect_url
from cohabit.errors import CohabitError, Conflict, Unauthorized, UnknownRoom

PLAYERS = ["ann", "bob"]
TEXTS = 40


@pytest.fixture(scope="module")
def pair(postgres: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Houses]:
    with running(postgres.new_schema(), tmp_path_factory.mktemp("houses"), "a", "b") as houses:
        yield houses


async def make(caller: Caller, room: str, through: str = "a") -> dict[str, str]:
    """A game of Tic-tac-toe; the tokens of its players."""
    asked = {"world": "tictactoe", "players": PLAYERS, "room": room}
    made = await caller.call(through, caller.houses.host_token, None, "create_room", asked)
    tokens: dict[str, str] = made["tokens"]
    return tokens


async def said(caller: Caller, house: str, token: str, room: str) -> list[str]:
    """What was said in a room, in order."""
    found: list[str] = []
    page: dict[str, Any] = {"cursor": "", "more": True}
    while page["more"]:
        page = await caller.until_answered(house, token, room, "events", {"cursor": page["cursor"], "max": 500})
        found += texts_in(page)
    return found


def texts_in(page: dict[str, Any]) -> list[str]:
    return [match for item in page.get("items", ()) for match in re.findall(r"<([^>]+)>", item["text"])]


@pytest.mark.parametrize("face", ["http", "websocket", "mcp 2026-07-28"])
async def test_a_game_is_played_through_either_house_whichever_has_it(face: str, pair: Houses, tmp_path: Path) -> None:
    async with calling(pair) as caller:
        for number in range(2):  # one in each house
            room = f"game-{face[:4].strip()}-{number}"
            tokens = await make(caller, room, "ab"[number])
            ann, bob = door_at(face, pair["a"].url, tmp_path), door_at(face, pair["b"].url, tmp_path)
            async with ann(tokens["ann"]) as first, bob(tokens["bob"]) as second:
                for turn, cell in enumerate((0, 3, 1, 4, 2)):
                    await (second if turn % 2 else first).call("mark", {"cell": cell}, room=room)
                pages = [await client.call("events", room=room) for client in (first, second)]
                marks = [[item["by"] for item in page["items"] if item["do"] == "mark"] for page in pages]
                assert marks == [["ann", "bob", "ann", "bob", "ann"]] * 2
                with pytest.raises(CohabitError, match="over"):
                    await second.call("mark", {"cell": 8}, room=room)
        listed = [(await caller.call(house, pair.host_token, None, "rooms"))["rooms"] for house in "ab"]
        for room in itertools.chain(*listed):
            del room["here"]  # those who have gone are counted for a moment
        assert listed[0] == listed[1]


async def test_a_reader_of_one_house_sees_what_is_said_in_the_other(pair: Houses) -> None:
    async with calling(pair) as caller:
        for number in range(2):
            room = f"talk-{number}"
            tokens = await make(caller, room)
            async with connect_url(pair["b"].url, tokens["bob"], room) as reader:
                pushes = aiter(reader.subscribe(""))
                heard = texts_in(await anext(pushes))
                await say(caller, "a", room, tokens["ann"], "hello")
                while not heard:
                    heard = texts_in(await anext(pushes))
                assert heard == ["hello"]


async def test_access_is_the_same_in_both_houses_when_a_change_is_answered(pair: Houses) -> None:
    async with calling(pair) as caller:
        for number, (one, other) in enumerate(("ab", "ba")):
            room = f"access-{number}"
            tokens = await make(caller, room, one)
            invited = await caller.call(one, pair.host_token, room, "invite", {"id": "cat", "role": "player"})
            joined = await caller.call(other, invited["token"], room, "join", {})
            cat = joined.get("token") or invited["token"]
            assert await caller.call(one, cat, room, "rules")
            fresh = (await caller.call(one, cat, room, "rotate_token"))["token"]
            for house in (one, other):
                with pytest.raises(Unauthorized):
                    await caller.call(house, cat, room, "rules")
                assert await caller.call(house, fresh, room, "rules")
            await caller.call(other, pair.host_token, room, "remove_member", {"member": "cat"})
            for house in (one, other):
                with pytest.raises(Unauthorized):
                    await caller.call(house, fresh, room, "rules")
            assert await caller.call(other, tokens["ann"], room, "rules")


async def test_rooms_are_made_listed_and_deleted_through_either_house(pair: Houses) -> None:
    async with calling(pair) as caller:
        await make(caller, "made", "b")
        with pytest.raises(Conflict, match="already exists"):
            await make(caller, "made", "a")
        for house in pair:
            lines = (await caller.call(house, pair.host_token, None, "rooms"))["rooms"]
            assert "made" in [line["id"] for line in lines]
        await caller.call("a", pair.host_token, "made", "delete_room", {"confirm": "made"})
        for house in pair:
            with pytest.raises(UnknownRoom):
                await caller.call(house, pair.host_token, "made", "rules")


def test_a_house_with_another_key_does_not_start_and_says_why(pair: Houses) -> None:
    stranger = pair.add("stranger", houses_key="another key of the houses")
    stranger.begin()
    assert stranger.process is not None
    assert stranger.process.wait() != 0
    assert "Set the same houses_key in every house" in stranger.log.read_text()
    del pair["stranger"]


@pytest.mark.soak
async def test_a_killed_house_is_replaced_by_the_other_one_which_leads_and_loses_nothing(
    postgres: Any, tmp_path: Path
) -> None:
    with running(postgres.new_schema(), tmp_path, "a", "b") as houses:
        async with calling(houses) as caller:
            rooms = {f"room-{number}": await make(caller, f"room-{number}") for number in range(4)}
            read: dict[str, list[str]] = {room: [] for room in rooms}
            readers = [
                asyncio.ensure_future(read_on(houses, "b", room, tokens["bob"], read[room]))
                for room, tokens in rooms.items()
            ]
            for number in range(3):
                for room, tokens in rooms.items():
                    await say(caller, "b", room, tokens["ann"], f"before {number}")
            houses["a"].kill()
            for room, tokens in rooms.items():
                await say(caller, "b", room, tokens["ann"], "after")
            await asyncio.gather(*readers)
            expected = ["before 0", "before 1", "before 2", "after"]
            assert read == dict.fromkeys(rooms, expected), "each reader got everything once, in order"
            await caller.until_answered("b", houses.host_token, None, "create_room", {"scenario": "pvp", "room": "new"})
            houses["a"].start()
            for room, tokens in rooms.items():
                assert await said(caller, "a", tokens["bob"], room) == expected


async def say(caller: Caller, house: str, room: str, token: str, text: str) -> None:
    message = {"to": "bob", "content": f"<{text}>"}
    await caller.until_answered(house, token, room, "send_message", message, key=f"{room} {text}")


async def read_on(houses: Houses, house: str, room: str, token: str, read: list[str]) -> None:
    """Read until somebody says "after", as a client does that reconnects with its cursor."""
    cursor = ""
    while "after" not in read:
        with suppress(CohabitError, OSError):
            async with connect_url(houses[house].url, token, room) as client:
                async for push in client.subscribe(cursor):
                    read += texts_in(push)
                    cursor = push.get("cursor", cursor)
                    if "after" in read:
                        return
        await asyncio.sleep(0.05)


@pytest.mark.soak
async def test_a_house_that_is_stopped_hands_its_rooms_over_and_no_call_is_lost_or_made_twice(
    postgres: Any, tmp_path: Path
) -> None:
    with running(postgres.new_schema(), tmp_path, "a", "b") as houses:
        async with calling(houses) as caller:
            rooms = {f"room-{number}": await make(caller, f"room-{number}") for number in range(4)}
            stopped = asyncio.Event()

            async def talk(room: str, token: str) -> list[str]:
                texts: list[str] = []
                while not stopped.is_set() or len(texts) < TEXTS:
                    texts.append(f"text {len(texts)}")
                    await say(caller, "b", room, token, texts[-1])
                return texts

            talking = {room: asyncio.ensure_future(talk(room, tokens["ann"])) for room, tokens in rooms.items()}
            assert await houses["a"].stop() == 0
            stopped.set()
            for room, tokens in rooms.items():
                acknowledged = await talking[room]
                assert await said(caller, "b", tokens["bob"], room) == acknowledged
            assert (await caller.http.get(f"{houses['b'].url}/ready")).status_code == 200
            assert len((await caller.call("b", houses.host_token, None, "rooms"))["rooms"]) == len(rooms)
