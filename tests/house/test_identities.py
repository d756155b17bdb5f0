"""Names may repeat; identities are never mixed up: in one house, in two rooms, in one room, over time."""

from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import Conflict, Unauthorized, UnknownAsset, UnknownRoom
from cohabit.house.running.calls import Call

from .making import (
    GOD,
    HOST,
    TOKENS_MADE,
    Client,
    a_moment,
    back_again,
    deeds,
    invite,
    issue,
    make_room,
    newcomer,
    open_house,
    player,
    stored_room,
)  # fmt: skip


async def inbox(client: Client) -> list[tuple[str, str]]:
    return [(m["from"], m["content"]) for m in (await client("recv_messages")).items]


async def texts(client: Client) -> list[str]:
    return [item.text for item in (await client("events", {"max": 500})).items]


# -- in one house -----------------------------------------------------------------------------------
async def test_two_identities_of_one_house_may_have_the_same_name() -> None:
    async with open_house() as house:
        first, second = await issue(house, "ada"), await issue(house, "ada")
        one, two = house.identify(first.token), house.identify(second.token)
        assert one.identity != two.identity
        operator = house.identify(house.operator_token())
        with pytest.raises(Conflict, match="2 identities have the name 'ada'"):
            await house.call(operator, None, "revoke_credential", {"name": "ada"})
        assert (await house.call(operator, None, "revoke_credential", {"name": one.identity})).revoked == 1
        with pytest.raises(Unauthorized):
            house.identify(first.token)
        assert house.identify(second.token) is two


async def test_rotating_ones_own_token_leaves_the_other_with_the_same_name_alone() -> None:
    async with open_house() as house:
        first, second = await issue(house, "ada"), await issue(house, "ada")
        made = await house.call(house.identify(first.token), None, "rotate_token")
        TOKENS_MADE.append(made.token)
        with pytest.raises(Unauthorized):
            house.identify(first.token)
        assert house.identify(second.token).identity != house.identify(made.token).identity


# -- in two rooms -----------------------------------------------------------------------------------
async def test_two_members_with_the_same_handle_in_two_rooms_have_nothing_in_common(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        one, two = await make_room(house, room="one"), await make_room(house, room="two")
        await one["ann"]("hide", {"n": 1}, key="k")
        await two["ann"]("hide", {"n": 2}, key="k")
        await one["bob"]("send_message", {"to": "ann", "content": "in one"})
        for client, other, number in ((one["ann"], two["ann"], 1), (two["ann"], one["ann"], 2)):
            assert (await client("numbers"))["red"] == [number]
            foreign = Client(house, other.room, "ann", client.token)
            with pytest.raises(UnknownRoom):
                await foreign("view")
        assert (await inbox(one["ann"]), await inbox(two["ann"])) == ([("bob", "in one")], [])
        await one["hostess"]("revoke_token", {"member": "ann"})
        await one["hostess"]("remove_member", {"member": "ann"})
        assert (await two["ann"]("whoami")).handle == "ann"
    async with open_house(tmp_path) as house:
        with pytest.raises(Unauthorized):
            await back_again(house, one)["ann"]("whoami")
        assert (await back_again(house, two)["ann"]("numbers"))["red"] == [2]


async def test_an_identity_of_the_house_is_one_member_in_each_room_and_the_other_ada_is_another() -> None:
    async with open_house() as house:
        for room in ("one", "two"):
            await make_room(house, room=room, guests=True)
        first, second = await issue(house, "ada", "one"), await issue(house, "ada", "one")
        assert (await first("join")).member == "ada"
        assert (await second("join")).member == "ada-2"
        first.room = "two"
        assert (await first("join")).member == "ada"
        second.room = "two"
        with pytest.raises(UnknownRoom, match="join"):
            await second("whoami")
        await house.rooms["one"].submit(Call("hostess", "remove_member", {"member": "ada"}))
        first.room = "one"
        with pytest.raises(UnknownRoom, match="join"):
            await first("whoami")
        first.room = "two"
        assert (await first("whoami")).handle == "ada"


# -- in one room ------------------------------------------------------------------------------------
async def two_adas(house: Any) -> tuple[dict[str, Client], Client, Client]:
    """A member called ada, and an identity called ada that joined as a guest."""
    who = await make_room(house, player("ada", 0), HOST, GOD, guests=True, partial_intel=True)
    second = await issue(house, "ada", kind="human")
    joined = await second("join")
    assert joined.member == "ada-2"
    await second("sit", {"seat": "blue"})
    return who, who["ada"], Client(house, "den", "ada-2", second.token)


async def test_two_identities_with_one_name_in_one_room_have_handles_of_their_own() -> None:
    async with open_house() as house:
        who, first, second = await two_adas(house)
        assert [(await c("whoami")).handle for c in (first, second)] == ["ada", "ada-2"]
        assert (await second("whoami")).name == "ada"
        lines = (await who["hostess"]("roster")).members
        assert [(line.handle, line.seat) for line in lines if line.handle.startswith("ada")] == [
            ("ada", "red"), ("ada-2", "blue"),
        ]  # fmt: skip


async def test_messages_to_each_of_them_reach_that_one_alone() -> None:
    async with open_house() as house:
        who, first, second = await two_adas(house)
        await who["hostess"]("send_message", {"to": "ada", "content": "to the first"})
        await who["hostess"]("send_message", {"to": "ada-2", "content": "to the second"})
        await first("send_message", {"to": "ada-2", "content": "are you me?"})
        assert await inbox(first) == [("hostess", "to the first")]
        assert await inbox(second) == [("hostess", "to the second"), ("ada", "are you me?")]
        assert any("to the first" in text for text in await texts(first))
        assert not any("to the first" in text for text in await texts(second))


async def test_their_actions_keys_seats_and_secrets_are_their_own_on_record() -> None:
    async with open_house() as house:
        _who, first, second = await two_adas(house)
        await first("hide", {"n": 41}, key="k")
        await second("hide", {"n": 42}, key="k")
        assert (await first("numbers"), await second("numbers")) == ({"red": [41]}, {"blue": [42]})
        taken = deeds(house.rooms["den"].room, "hide")
        assert [(entry.by, entry.args["n"]) for entry in taken] == [("ada", 41), ("ada-2", 42)]


async def test_removing_one_of_them_or_revoking_its_token_does_not_touch_the_other() -> None:
    async with open_house() as house:
        who, first, second = await two_adas(house)
        await who["hostess"]("revoke_token", {"member": "ada"})
        with pytest.raises(Unauthorized):
            await first("whoami")
        assert (await second("whoami")).seat == "blue"
        await who["hostess"]("remove_member", {"member": "ada"})
        assert (await second("whoami")).handle == "ada-2"
        await who["hostess"]("grant", {"member": "ada-2", "may": ["watch"]})
        assert (await second("whoami")).grant["act"] == []


async def test_a_handle_in_an_invite_that_somebody_has_by_then_gets_a_number() -> None:
    async with open_house() as house:
        who = await make_room(house)
        assert (await newcomer(who["hostess"], "ann")).who == "ann-2"
        assert (await newcomer(who["hostess"], "ann")).who == "ann-3"
        assert (await who["ann"]("whoami")).handle == "ann"


# -- over time --------------------------------------------------------------------------------------
async def test_the_next_member_with_a_handle_is_not_taken_for_the_former_one(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, player("ada", 0), player("bob", 1), HOST, partial_intel=True)
        old = who["ada"]
        await old("hide", {"n": 41}, key="k")
        await old("send_message", {"to": "bob", "content": "from the first"})
        await who["bob"]("send_message", {"to": "ada", "content": "for the first"})
        await who["hostess"]("grant", {"member": "ada", "may": ["watch", "act", "read_own", "receive_directed"]})
        cursor = (await old("events")).cursor
        await who["hostess"]("remove_member", {"member": "ada"})
        new = await newcomer(who["hostess"], "ada", role="player")
        assert new.who == "ada"
        assert (await new("whoami")).seat is None
        assert len((await new("whoami")).grant["act"]) == 3, "the grant of the former member is gone"
        with pytest.raises(Unauthorized):
            await old("whoami")
        assert await inbox(new) == []
        assert not any("for the first" in text for text in await texts(new))
        await who["hostess"]("rematch")  # in this game the seat is kept for the one who has seen it
        await new("sit", {"seat": "red"})
        await new("hide", {"n": 42}, key="k")
        assert [e.by for e in deeds(house.rooms["den"].room, "hide")] == ["ada", "ada#2"], "the key was not answered"
        await who["bob"]("send_message", {"to": "ada", "content": "for the second"})
        assert await inbox(new) == [("bob", "for the second")]
        await new("send_message", {"to": "bob", "content": "from the second"})
        assert await inbox(who["bob"]) == [("ada (left)", "from the first"), ("ada", "from the second")]
        assert cursor
    assert stored_room(tmp_path).state.members["ada#2"].seat == "red"
    async with open_house(tmp_path) as house:
        assert (await Client(house, "den", "ada", new.token)("whoami")).handle == "ada"
        with pytest.raises(Unauthorized):
            await Client(house, "den", "ada", old.token)("whoami")


async def test_an_identity_that_was_removed_and_invited_again_is_a_new_member() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        zoe = await issue(house, "zoe", kind="human")
        await zoe("join")
        await zoe("send_message", {"to": "ann", "content": "first time"})
        await who["ann"]("send_message", {"to": "zoe", "content": "secret"})
        await who["hostess"]("remove_member", {"member": "zoe"})
        with pytest.raises(UnknownRoom):
            await zoe("recv_messages")
        assert (await zoe("join")).member == "zoe"
        assert await inbox(zoe) == []
        members = house.rooms["den"].room.state.members
        assert "zoe#2" in members
        assert members["zoe#2"].identity == house.identify(zoe.token).identity


async def test_a_subscription_of_a_former_member_is_not_continued_by_the_next_with_its_handle() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ada", 0), player("bob", 1), HOST)
        reader = await who["ada"].reader(views=False)
        await a_moment()
        await who["hostess"]("remove_member", {"member": "ada"})
        new = await newcomer(who["hostess"], "ada", role="player")
        fresh = await new.reader(views=False)
        await a_moment()
        await who["bob"]("send_message", {"to": "ada", "content": "for the second"})
        await a_moment()
        await reader.task
        assert isinstance(reader.ended, Unauthorized)
        assert not any("for the second" in item["text"] for item in reader.items())
        assert any("for the second" in item["text"] for item in fresh.items())


async def test_a_seat_that_an_identity_played_counts_for_it_alone() -> None:
    async with open_house() as house:
        who = await make_room(house, HOST, GOD, guests=True, partial_intel=True)
        first, second = await issue(house, "ada", kind="human"), await issue(house, "ada", kind="human")
        for client in (first, second):
            await client("join")
        await first("sit", {"seat": "red"})
        await first("stand_up")
        await second("sit", {"seat": "blue"})
        await second("stand_up")
        assert (await first("sit")).seat == "red"
        assert (await second("sit")).seat == "blue"
        await who["hostess"]("remove_member", {"member": "ada"})
        assert (await first("join")).member == "ada"
        assert (await first("sit")).seat == "red", "a guest that was removed has still played that seat"


async def test_an_invite_and_a_token_of_a_deleted_room_are_not_good_in_the_next_room_with_its_id() -> None:
    async with open_house() as house:
        who = await make_room(house)
        pending = await invite(who["hostess"], "eve", role="host")
        await who["hostess"]("delete_room", {"confirm": "den"})
        again = await make_room(house)
        for client in (pending, who["ann"]):
            with pytest.raises(Unauthorized):
                await client("join")
        assert (await again["hostess"]("invites")).invites == []
        assert (await again["ann"]("whoami")).handle == "ann"


async def test_names_in_commands_of_hosts_mean_present_members() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ada", 0), HOST)
        await who["hostess"]("remove_member", {"member": "ada"})
        for name, args in (("revoke", {}), ("rotate_token", {}), ("remove_member", {}), ("revoke_token", {})):
            with pytest.raises(UnknownAsset):
                await who["hostess"](name, {"member": "ada", **args})
        await newcomer(who["hostess"], "ada")
        assert (await who["hostess"]("revoke", {"member": "ada"})).member == "ada"
