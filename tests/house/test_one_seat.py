"""In a world that hides things, one person has the hidden information of one seat in one game, by any route."""

from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import CohabitError, GameRejected

from .making import (
    GOD,
    HOST,
    Client,
    a_moment,
    at_rest,
    back_again,
    make_room,
    newcomer,
    open_house,
    player,
    stored_room,
)

PEOPLE = [HOST, *({"id": name, "kind": "human"} for name in ("pat", "tom", "kim"))]
KIBITZ = ["read_own", "watch", "act"]


async def seat_of(client: Client) -> str | None:
    seat: str | None = (await client("whoami")).seat
    return seat


async def texts(client: Client, containing: str) -> list[str]:
    return [item.text for item in (await client("events", {"max": 500})).items if containing in item.text]


# -- games that come back ---------------------------------------------------------------------------------------
async def test_a_reset_to_the_seed_of_an_earlier_game_unseats_the_player_of_another_seat(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, *PEOPLE, partial_intel=True)
        host, pat = who["hostess"], who["pat"]
        await pat("sit", {"seat": "red"})
        await host("save_world", {"name": "x"})
        await pat("stand_up")
        await host("rematch")
        await pat("sit", {"seat": "blue"})
        await host("load_world", {"name": "x"})
        await pat("sit", {"seat": "red"})
        await host("reset")  # the seed of the rematch, in which pat has played blue
        assert await seat_of(pat) is None
        assert "You have no seat. `sit` takes one of: blue." in (await pat("view")).text
        assert await texts(host, "it has played") == [
            "pat leaves seat blue: it has played seat red in this game",
            "pat leaves seat red: it has played seat blue in this game",
        ]
        with pytest.raises(GameRejected):
            await pat("sit", {"seat": "red"})
        assert (await pat("sit")).seat == "blue"
        state = house.rooms["den"].room.state
    assert stored_room(tmp_path).state == state


async def test_a_claim_that_is_bound_while_the_game_runs_is_the_seat_of_that_game() -> None:
    async with open_house() as house:
        who = await make_room(house, GOD, HOST, player("ann", 0), player("bob", 1), world="Realms", partial_intel=True)
        zeus = who["zeus"]
        for name in ("rome", "athens"):
            await zeus("rise", {"name": name})
        assert [await seat_of(who["ann"]), await seat_of(who["bob"])] == ["rome", "athens"]
        await who["hostess"]("reset")  # the same game, and its seats open in another order
        await zeus("rise", {"name": "athens"})
        assert [await seat_of(who["ann"]), await seat_of(who["bob"])] == [None, "athens"]
        await zeus("rise", {"name": "rome"})
        assert [await seat_of(who["ann"]), await seat_of(who["bob"])] == ["rome", "athens"]
        await who["hostess"]("rematch")
        for name in ("athens", "rome"):
            await zeus("rise", {"name": name})
        assert [await seat_of(who["ann"]), await seat_of(who["bob"])] == ["athens", "rome"], "a new game"


async def test_a_claim_that_is_bound_when_its_seat_becomes_free_is_the_seat_of_that_game() -> None:
    async with open_house() as house:
        who = await make_room(house, *PEOPLE, partial_intel=True)
        await who["pat"]("sit", {"seat": "red"})
        cleo = await newcomer(who["hostess"], "cleo", role="player", claim="id:red")
        await who["pat"]("stand_up")
        assert await seat_of(cleo) == "red"
        state = house.rooms["den"].room.state
        assert state.played[state.members["cleo"].identity] == "red"


# -- what was told to a seat ----------------------------------------------------------------------------------------
async def test_the_events_of_a_seat_are_shown_to_those_who_held_it_then(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, *PEOPLE, GOD, partial_intel=True)
        host, pat, tom = who["hostess"], who["pat"], who["tom"]
        await pat("sit", {"seat": "red"})
        await tom("sit", {"seat": "blue"})
        await tom("hide", {"n": 4711})
        for one in (pat, tom):
            await one("stand_up")
        await host("rematch")
        await pat("sit", {"seat": "blue"})
        reader = await pat.reader("")
        await pat("hide", {"n": 4712})
        await at_rest(house)
        await a_moment()
        assert await texts(pat, "471") == ["blue keeps 4712"]
        assert [i["text"] for i in reader.items() if "471" in i["text"]] == ["blue keeps 4712"]
        assert await texts(who["zeus"], "471") == ["blue keeps 4711", "blue keeps 4712"]
        await pat("stand_up")
        await tom("sit", {"seat": "blue"})
        assert await texts(tom, "471") == ["blue keeps 4711"]
    async with open_house(tmp_path) as house:
        who = back_again(house, who)
        assert await texts(who["tom"], "471") == ["blue keeps 4711"]
        assert await texts(who["pat"], "471") == []


async def test_a_kibitzer_sees_what_was_told_to_its_player_and_not_to_the_player_before() -> None:
    async with open_house() as house:
        who = await make_room(house, *PEOPLE, partial_intel=True, sealed=False)
        host, pat, tom, kim = (who[name] for name in ("hostess", "pat", "tom", "kim"))
        await pat("sit", {"seat": "red"})
        await pat("hide", {"n": 4711})
        await pat("stand_up")
        await tom("sit", {"seat": "red"})
        await tom("hide", {"n": 4712})
        await host("grant", {"member": "kim", "may": KIBITZ, "through": "red"})
        assert await texts(kim, "471") == ["red keeps 4712"]
        await tom("stand_up")
        await kim("sit", {"seat": "red"})
        assert await texts(kim, "471") == [], "its own seat, in which it was told nothing yet"


# -- looking through another seat -------------------------------------------------------------------------------------
async def refused_to_look(host: Client, member: str, seat: str) -> None:
    with pytest.raises(GameRejected, match="hidden information"):
        await host("grant", {"member": member, "may": KIBITZ, "through": seat})


async def test_the_player_of_one_seat_cannot_look_through_another_one() -> None:
    async with open_house() as house:
        who = await make_room(house, *PEOPLE, partial_intel=True, sealed=False)
        host, pat, kim = who["hostess"], who["pat"], who["kim"]
        await pat("sit", {"seat": "red"})
        await kim("sit", {"seat": "blue"})
        await pat("hide", {"n": 4711})
        await refused_to_look(host, "kim", "red")
        assert "4711" not in str(await kim("numbers"))
        assert (await kim("whoami")).grant.get("through") is None
        await kim("stand_up")
        await refused_to_look(host, "kim", "red")


async def test_a_member_that_looked_through_a_seat_can_take_no_other_seat_and_look_through_no_other() -> None:
    async with open_house() as house:
        who = await make_room(house, *PEOPLE, {"id": "eve", "kind": "human"}, partial_intel=True, sealed=False)
        host, pat, tom, kim = (who[name] for name in ("hostess", "pat", "tom", "kim"))
        await pat("sit", {"seat": "red"})
        await tom("sit", {"seat": "blue"})
        await host("grant", {"member": "kim", "may": KIBITZ, "through": "red"})
        await refused_to_look(host, "kim", "blue")
        await host("clear_grant", {"member": "kim"})
        await tom("stand_up")
        with pytest.raises(GameRejected):
            await kim("sit", {"seat": "blue"})
        await host("grant", {"member": "kim", "may": KIBITZ, "through": "red"})
        await host("rematch")  # it still looks through red, in the next game
        await pat("hide", {"n": 4711})
        assert "4711" in str(await kim("numbers"))
        await host("clear_grant", {"member": "kim"})
        with pytest.raises(GameRejected):
            await kim("sit", {"seat": "blue"})
        await host("rematch")
        assert (await kim("sit", {"seat": "blue"})).seat == "blue"


async def test_a_save_of_a_game_in_which_a_kibitzer_played_ends_its_look_through_another_seat(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, *PEOPLE, partial_intel=True, sealed=False)
        host, pat, kim = who["hostess"], who["pat"], who["kim"]
        await pat("sit", {"seat": "red"})
        await kim("sit", {"seat": "blue"})
        await host("save_world", {"name": "x"})
        await kim("stand_up")
        await host("rematch")
        await host("grant", {"member": "kim", "may": KIBITZ, "through": "red"})
        await host("load_world", {"name": "x"})
        await pat("hide", {"n": 4711})
        assert "4711" not in str(await kim("numbers"))
        assert (await kim("whoami")).grant.get("through") is None
        assert await texts(host, "no longer") == ["kim no longer sees what seat red sees"]
        assert (await kim("sit")).seat == "blue"


async def test_in_a_world_with_open_information_a_player_may_look_through_another_seat() -> None:
    async with open_house() as house:
        people: list[Any] = [HOST, player("ann", 0), player("bob", 1)]
        who = await make_room(house, *people, world="nim")
        seat = await seat_of(who["ann"])
        await who["hostess"]("grant", {"member": "bob", "may": KIBITZ, "through": seat})
        assert (await who["bob"]("whoami")).grant["through"] == seat


async def test_frames_that_wait_for_a_kibitzer_are_dropped_when_the_player_leaves_the_seat() -> None:
    async with open_house() as house:
        who = await make_room(house, *PEOPLE, partial_intel=True, sealed=False)
        host, pat, kim = who["hostess"], who["pat"], who["kim"]
        await pat("sit", {"seat": "red"})
        await host("grant", {"member": "kim", "may": KIBITZ, "through": "red"})
        sub = await house.subscribe(house.identify(kim.token), "den", views=False)  # and reads nothing yet
        own = await house.subscribe(house.identify(pat.token), "den", views=False)
        await pat("hide", {"n": 4711})
        await pat("stand_up")
        await at_rest(house)
        with pytest.raises(CohabitError) as ended:
            await anext(sub)
        assert ended.value.code == "PERMISSION_DENIED"
        assert b"4711" in await anext(own), "the player itself was told"
        own.close()
