"""What the commands of a house promise before their code runs: to whom they are open, when, and what they are called
for by clients that read their descriptions."""

import asyncio
from typing import Any

import pytest

from cohabit.errors import BadArgs, Disabled, PermissionDenied, UnknownAsset, UnknownRoom
from cohabit.house.calls.command_list import commands_for
from cohabit.house.commands import HOUSE_COMMANDS
from cohabit.house.house import House

from .making import (
    ANN,
    BOB,
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
)


async def as_operator(house: House, command: str, /, **args: Any) -> Any:
    made = await house.call(house.identify(house.operator_token()), None, command, args)
    TOKENS_MADE.append(getattr(made, "token", "no token"))
    return made


# -- who ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("list_credentials", {}),
        ("issue_credential", {"name": "eve"}),
        ("rotate_credential", {"name": "ann", "room": "den"}),
        ("revoke_credential", {"name": "ann", "room": "den"}),
        ("create_room", {"world": "nim", "players": ["ann", "bob"]}),
    ],
)
async def test_credentials_of_others_and_new_rooms_are_for_hosts_of_the_house(name: str, args: dict[str, Any]) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, guests=True)
        eve = await issue(house, "eve")
        await eve("join")
        for caller in (*who.values(), eve):
            with pytest.raises(PermissionDenied):
                await caller(name, args)
        boss = await issue(house, "boss", host=True)
        await house.call(house.identify(boss.token), None, name, args)


async def test_the_holder_of_an_invite_can_read_what_the_room_is_and_what_it_may_do() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cy = await invite(who["hostess"], "cy")
        assert "You are not in room 'den' yet." in (await cy("introduction")).text
        for name in ("capabilities", "schemas"):
            assert {"join", "introduction"} <= {command.name for command in (await cy(name)).commands}
        assert {command.tool_name for command in (await cy("capabilities")).commands} == {""}, "no other names here"
        with pytest.raises(UnknownRoom):
            await cy("events")


async def test_the_rules_list_the_commands_of_the_room_before_those_of_the_house() -> None:
    async with open_house() as house:
        who = await make_room(house)
        of_the_house = {command.name for command in HOUSE_COMMANDS}
        listed = [name in of_the_house for name in (await who["hostess"]("rules")).your_commands]
        assert listed == sorted(listed)
        assert set(listed) == {False, True}


async def test_a_house_host_gets_the_commands_for_hosts_and_a_guest_does_not() -> None:
    async with open_house() as house:
        await make_room(house, guests=True)
        boss, eve = await issue(house, "boss", host=True), await issue(house, "eve")
        for room in (None, "den"):
            may = [
                {c.name for c in commands_for(house.services, house.identify(caller.token), room)}
                for caller in (boss, eve)
            ]
            assert may[0] - may[1] >= {"create_room", "issue_credential", "list_credentials"}
            assert not may[1] - may[0]


# -- when -----------------------------------------------------------------------------------------
async def test_access_to_an_archived_room_can_be_taken_away_but_not_given() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, guests=True)
        made = await who["hostess"]("invite", {"id": "cy"})
        TOKENS_MADE.append(made.token)
        eve = await issue(house, "eve")
        await who["hostess"]("archive")
        for name, args in (("invite", {"id": "dan"}), ("send_message", {"to": "ann", "content": "x"})):
            with pytest.raises(Disabled, match="archived"):
                await who["hostess"](name, args)
        with pytest.raises(Disabled, match="archived"):
            await eve("join")
        assert (await who["hostess"]("revoke_invite", {"invite": made.invite})).invite == made.invite
        assert (await who["hostess"]("revoke_token", {"member": "bob"})).revoked == 1
        renewed = await who["ann"]("rotate_token")
        TOKENS_MADE.append(renewed.token)
        assert (await Client(house, "den", "ann", renewed.token)("whoami")).handle == "ann"
        assert (await who["hostess"]("delete_room", {"confirm": "den"})).deleted == "den"


async def test_a_room_is_deleted_by_its_id_and_also_when_it_is_anothers_turn() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, GOD, world="nim")
        await who["zeus"]("widen", {"member": "bob", "may": ["control_world"]})
        with pytest.raises(BadArgs, match="'den'"):
            await who["bob"]("delete_room", {"confirm": "the den"})
        assert (await who["bob"]("delete_room", {"confirm": "den"})).deleted == "den"
        assert "den" not in house.rooms


async def test_a_room_that_has_stopped_is_reopened_also_when_it_is_anothers_turn() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, GOD, world="nim")
        await who["zeus"]("widen", {"member": "bob", "may": ["control_world"]})
        assert "reopen_room" not in {command.name for command in (await who["bob"]("capabilities")).commands}
        house.rooms["den"].stop(PermissionDenied("stopped by a test"))
        assert "reopen_room" in {command.name for command in (await who["bob"]("capabilities")).commands}
        assert (await who["bob"]("reopen_room")).room == "den"
        assert await who["ann"]("take", {"n": 1})


# -- one at a time --------------------------------------------------------------------------------
async def at_once(house: House, command: str, times: int = 2, /, **args: Any) -> list[Any]:
    calls = [asyncio.ensure_future(as_operator(house, command, **args)) for _ in range(times)]
    await a_moment()
    return await asyncio.gather(*calls, return_exceptions=True)


async def test_of_two_hosts_who_revoke_the_same_token_at_once_the_second_is_told_that_there_is_none() -> None:
    async with open_house() as house:
        await make_room(house)
        await issue(house, "eve")
        first, second = await at_once(house, "revoke_credential", name="eve")
        assert first.revoked == 1
        assert isinstance(second, UnknownAsset)


async def test_of_two_hosts_who_replace_the_same_token_at_once_one_has_a_valid_token() -> None:
    async with open_house() as house:
        await make_room(house)
        eve = await issue(house, "eve")
        made = await at_once(house, "rotate_credential", 3, name="eve")
        valid = [one.token for one in made if house.identities.knows(one.token)]
        assert valid == [made[-1].token]
        assert not house.identities.knows(eve.token)


async def test_of_two_hosts_who_revoke_the_same_invite_at_once_the_second_is_told_that_there_is_none() -> None:
    async with open_house() as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "cy"})
        TOKENS_MADE.append(made.token)
        calls = [asyncio.ensure_future(who["hostess"]("revoke_invite", {"invite": made.invite})) for _ in range(2)]
        first, second = await asyncio.gather(*calls, return_exceptions=True)
        assert getattr(first, "invite", "") == made.invite
        assert isinstance(second, UnknownAsset)


# -- how they are described -----------------------------------------------------------------------
READS = {
    "agents", "audit", "capabilities", "data_of", "decisions", "delayed_view", "egress", "events", "export_egress", "film", "front_end",
    "house_egress", "introduction", "invites", "list_credentials", "list_saves", "my_data", "observe", "rooms", "schemas",
    "thumbnail", "worlds",
}  # fmt: skip


async def test_every_command_of_the_house_that_does_not_only_read_says_that_it_changes_something() -> None:
    async with open_house() as house:
        assert {command.name for command in house.commands if not command.records} == READS


async def test_the_short_list_has_the_commands_with_which_a_client_finds_a_room_and_follows_it() -> None:
    async with open_house() as house:
        await make_room(house)
        boss = await issue(house, "boss", host=True)
        infos = (await house.call(house.identify(boss.token), None, "schemas")).commands
        assert {info.name for info in infos if info.listed} == {
            "rooms", "worlds", "create_room", "join", "events", "delayed_view",
        }  # fmt: skip


# -- defaults and limits --------------------------------------------------------------------------
async def test_a_token_is_valid_for_at_least_a_second_and_at_most_a_billion() -> None:
    async with open_house() as house:
        await make_room(house)
        for seconds in (0, -1, 10**9 + 1):
            with pytest.raises(BadArgs):
                await as_operator(house, "issue_credential", name="eve", expires_in_s=seconds)
        for seconds in (1, 10**9):
            made = await as_operator(house, "issue_credential", name="eve", expires_in_s=seconds)
            assert house.identify(made.token).expires_at == house.clock.now() + 1000 * seconds


async def test_an_invite_is_for_one_person_unless_it_says_for_how_many() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for args, uses in (({}, 1), ({"uses": 1000}, 1000)):
            made = await who["hostess"]("invite", {"id": "cy", **args})
            TOKENS_MADE.append(made.token)
            assert made.uses == uses
        assert [line.uses for line in (await who["hostess"]("invites")).invites] == [1, 1000]
        for uses in (0, 1001):
            with pytest.raises(BadArgs):
                await who["hostess"]("invite", {"id": "cy", "uses": uses})


async def test_a_page_of_events_has_a_hundred_unless_another_size_is_asked_for() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for n in range(130):
            await who["ann"]("shout", {"text": f"n{n}"})
        for args, size in (({}, 100), ({"max": 7}, 7), ({"max": 500}, None)):
            page = await who["ann"]("events", args)
            assert page.more is (size is not None)
            assert size is None or len(page.items) == size
        for size in (0, 501):
            with pytest.raises(BadArgs):
                await who["ann"]("events", {"max": size})
            with pytest.raises(BadArgs):
                await who["ann"]("events", {"last": size})
        assert len((await who["ann"]("events", {"last": 1})).items) == 1
        assert (await newcomer(who["hostess"], "cy")).who == "cy"
