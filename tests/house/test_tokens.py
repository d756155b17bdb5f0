"""Credentials: whom a token authenticates and until when, and that only its owner has it."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import (
    BadArgs,
    Conflict,
    GameCrash,
    PermissionDenied,
    StorageFailed,
    Unauthorized,
    UnknownAsset,
    UnknownCommand,
    UnknownRoom,
    WorldTimeout,
)  # fmt: skip
from cohabit.house.house import House
from cohabit.house.store.identities import make_token
from cohabit.testing.clock import FakeClock

from .making import (
    ANN,
    GOD,
    HOST,
    TOKENS_MADE,
    Client,
    HeldStore,
    a_moment,
    back_again,
    deeds,
    issue,
    make_room,
    newcomer,
    open_house,
    player,
)  # fmt: skip

TOKEN = "Qw3rTyUiOpAsDfGhJkLzXcVbNm1234567890qWeRtYuIoP12"


async def test_a_token_is_nowhere_in_the_data_folder_and_nowhere_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_house(tmp_path) as house:
        who = await make_room(house, player("ann", 0, token=TOKEN), player("bob", 1), {"id": "hostess", "role": "host"})
        assert who["ann"].token == TOKEN
        invited = await who["hostess"]("invite", {"id": "cy"})
        renewed = await who["bob"]("rotate_token")
        for name, error in (("break_down", GameCrash), ("trouble", GameCrash), ("nonsense", UnknownCommand)):
            with pytest.raises(error):
                await who["ann"](name)
        with pytest.raises(Unauthorized) as refused:
            house.identify("x" + TOKEN)
        assert TOKEN not in refused.value.message
        tokens = [c.token for c in who.values()] + [invited.token, renewed.token]
        await house.rooms["den"].drained()
        on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    on_disk += b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"hostess" in on_disk
    for token in tokens:
        assert token.encode() not in on_disk
        assert token not in caplog.text


def test_made_tokens_are_long_and_never_the_same() -> None:
    made = [make_token() for _ in range(200)]
    assert len(set(made)) == 200
    assert all(len(token) == 48 and token.isalnum() and token.isascii() for token in made)


def events(page: Any) -> list[str]:
    return [item.text for item in page.items]


async def extra(house: House, handle: str, **how: Any) -> Client:
    """One more token for a member of the room, as the operator issues it."""
    args = {"name": handle, "room": "den", **how}
    made = await house.call(house.identify(house.operator_token()), None, "issue_credential", args)
    TOKENS_MADE.append(made.token)
    return Client(house, "den", handle, made.token)


@pytest.mark.parametrize("token", [None, "", "x", "Bearer x", "x" * 100_000, "\ud800", "\0"])
async def test_anything_that_is_not_a_token_is_unauthorized(token: str | None) -> None:
    async with open_house() as house:
        await make_room(house)
        with pytest.raises(Unauthorized):
            house.identify(token)


async def test_a_token_expires_when_it_is_due_on_open_connections_too() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        await make_room(house)
        ann = await extra(house, "ann", expires_in_s=10)
        credential = house.identify(ann.token)
        await clock.advance(9_999)
        assert (await ann("whoami")).handle == "ann"
        await clock.advance(1)
        with pytest.raises(Unauthorized, match="expired"):
            house.identify(ann.token)
        for name in ("whoami", "hide", "events", "rotate_token", "nonsense"):
            with pytest.raises(Unauthorized, match="expired"):
                await house.call(credential, "den", name)


async def test_a_revoked_token_is_worthless_at_once_for_open_connections_too() -> None:
    async with open_house() as house:
        who = await make_room(house)
        credential = house.identify(who["ann"].token)
        await who["ann"]("hide", {"n": 1}, key="k")
        assert (await who["hostess"]("revoke_token", {"member": "ann"})).revoked == 1
        for name, args, key in (
            ("whoami", {}, None), ("view", {}, None), ("events", {}, None), ("hide", {"n": 2}, None), ("nonsense", {}, None),
            ("act", {"action": "nonsense"}, None), ("hide", {"n": 1}, "k"), ("invite", {"id": "x"}, None), ("rooms", {}, None),
        ):  # fmt: skip
            with pytest.raises(Unauthorized, match="revoked"):
                await house.call(credential, "den", name, args, key=key)
        with pytest.raises(Unauthorized):
            await who["ann"]("whoami")
        await who["bob"]("whoami")


async def test_a_revoked_token_learns_nothing_from_a_room_that_is_quarantined_or_gone() -> None:
    async with open_house(world_deadline_s=0.5) as house:
        who = await make_room(house, world="StuckQuick")
        ann, bob = house.identify(who["ann"].token), house.identify(who["bob"].token)
        await who["hostess"]("revoke_token", {"member": "ann"})
        with pytest.raises(WorldTimeout):
            await who["bob"]("spin")
        for name in ("view", "move", "events"):
            with pytest.raises(Unauthorized, match="revoked"):
                await house.call(ann, "den", name)
        await who["hostess"]("delete_room", {"confirm": "den"})
        with pytest.raises(Unauthorized, match="revoked"):
            await house.call(bob, "den", "view")


async def test_only_a_host_can_revoke_and_rotate_the_tokens_of_others() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for name in ("revoke_token", "rotate_token"):
            with pytest.raises(PermissionDenied):
                await who["ann"](name, {"member": "bob"})
            with pytest.raises(PermissionDenied):  # whether there is such a member or not
                await who["ann"](name, {"member": "bop"})
            with pytest.raises(UnknownAsset):
                await who["hostess"](name, {"member": "bop"})
        renewed = await who["hostess"]("rotate_token", {"member": "bob"})
        assert renewed.member == "bob"
        assert (await Client(house, "den", "bob", renewed.token)("whoami")).handle == "bob"
        with pytest.raises(Unauthorized):
            await who["bob"]("whoami")
        assert (await who["ann"]("rotate_token", {"member": "ann"})).member == "ann", "it may name itself"


async def test_a_player_cannot_replace_the_token_of_a_member_that_has_less_than_it() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, HOST, {"id": "bot"})
        with pytest.raises(PermissionDenied, match="manage_members"):
            await who["ann"]("rotate_token", {"member": "bot"})
        assert (await who["bot"]("whoami")).handle == "bot"


async def test_a_member_whose_tokens_were_revoked_gets_a_new_one_from_the_host() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("revoke_token", {"member": "ann"})
        fresh = await who["hostess"]("rotate_token", {"member": "ann"})
        assert (await Client(house, "den", "ann", fresh.token)("whoami")).handle == "ann"


async def test_a_rotated_token_is_the_same_member_and_the_old_one_is_worthless(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        renewed = await who["ann"]("rotate_token")
        with pytest.raises(Unauthorized):
            await who["ann"]("whoami")
        me = await Client(house, "den", "ann", renewed.token)("whoami")
        assert (me.handle, me.seat, me.role) == ("ann", "red", "player")
    async with open_house(tmp_path) as house:
        with pytest.raises(Unauthorized):
            await back_again(house, who)["ann"]("whoami")
        assert (await Client(house, "den", "ann", renewed.token)("whoami")).handle == "ann"


async def test_a_rotated_token_keeps_the_expiry_of_the_old_one() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("revoke_token", {"member": "ann"})
        renewed = await (await extra(house, "ann", expires_in_s=10))("rotate_token")
        await clock.advance(20_000)
        with pytest.raises(Unauthorized):
            house.identify(renewed.token)
        again = await who["hostess"]("rotate_token", {"member": "ann"})
        assert (await Client(house, "den", "ann", again.token)("whoami")).handle == "ann"


@pytest.mark.parametrize(
    ("seconds", "valid_at", "expired_at"),
    [
        ([10, 30], 29_999, 30_000),  # as long as the longest
        ([10, None], 10**12, None),  # one of them never expires
        ([1, 10], 9_999, 10_000),  # one of them has expired
        ([2], 10**12, None),  # it expires at this moment, so it says nothing about the new one
    ],
)
async def test_a_token_that_a_host_replaces_is_valid_as_long_as_the_longest_of_the_old_ones(
    seconds: list[int | None], valid_at: int, expired_at: int | None
) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("revoke_token", {"member": "ann"})
        begun = clock.now()
        for each in seconds:
            await extra(house, "ann", expires_in_s=each)
        await clock.advance(2_000)
        made = await who["hostess"]("rotate_token", {"member": "ann"})
        TOKENS_MADE.append(made.token)
        credential = house.identify(made.token)
        assert house.identities.check(credential, begun + valid_at) is credential
        if expired_at is not None:
            with pytest.raises(Unauthorized, match="expired"):
                house.identities.check(credential, begun + expired_at)


async def test_of_two_rotations_at_once_only_one_token_is_left() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.go.clear()
        rotations = [asyncio.create_task(who["ann"]("rotate_token")) for _ in range(3)]
        await a_moment()
        store.go.set()
        made = await asyncio.gather(*rotations, return_exceptions=True)
        tokens = [one.token for one in made if not isinstance(one, BaseException)]
        assert len(tokens) == 1
        assert all(isinstance(one, Unauthorized) for one in made if isinstance(one, BaseException))
        assert house.identities.knows(tokens[0])
        assert not house.identities.knows(who["ann"].token)


async def test_a_rotation_that_could_not_be_written_changes_nothing() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.failing = True
        for name, args in (
            ("rotate_token", {}),
            ("rotate_token", {"member": "ann"}),
            ("revoke_token", {"member": "ann"}),
        ):
            client = who["hostess"] if args else who["ann"]
            with pytest.raises(StorageFailed):
                await client(name, args)
        store.failing = False
        assert (await who["ann"]("whoami")).handle == "ann"
        assert len(house.identities.of(house.identify(who["ann"].token).identity, "den")) == 1


# -- on record, and told ----------------------------------------------------------------------------
async def test_a_token_rotated_by_a_host_is_on_record_and_told_to_its_member() -> None:
    async with open_house() as house:
        who = await make_room(house)
        renewed = await who["hostess"]("rotate_token", {"member": "bob"})
        (entry,) = deeds(house.rooms["den"].room, "credential")
        assert (entry.by, entry.args["member"], entry.args["by"]) == (None, "bob", "hostess")
        bob = Client(house, "den", "bob", renewed.token)
        assert "hostess replaced your token" in events(await bob("events"))
        assert "hostess replaced the token of bob" in events(await who["ann"]("events"))
        assert "hostess replaced your token" not in events(await who["ann"]("events"))


async def test_a_member_is_told_of_a_new_token_whatever_its_grant_is() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("grant", {"member": "bob", "may": ["watch"]})
        await extra(house, "bob", label="second phone")
        heard = events(await who["bob"]("events"))
        assert "operator (a host of this house) created a token for you" in heard
        assert not any("token of bob" in text for text in heard), "that needs read_roster"


async def test_a_subscriber_whose_token_is_rotated_by_a_host_is_told_why_it_ends() -> None:
    async with open_house() as house:
        who = await make_room(house)
        reader = await who["bob"].reader(views=False)
        await a_moment()
        await who["hostess"]("rotate_token", {"member": "bob"})
        await a_moment()
        await reader.task
        assert isinstance(reader.ended, Unauthorized)
        assert [item["text"] for item in reader.items() if item.get("kind") == "account"] == [
            "hostess replaced your token"
        ]


async def test_a_token_for_the_whole_house_is_changed_on_the_record_of_the_house_and_told_there() -> None:
    async with open_house() as house:
        await make_room(house)
        boss, zoe = await issue(house, "boss", host=True), await issue(house, "zoe")
        credential = house.identify(boss.token)
        made = await house.call(credential, None, "rotate_credential", {"name": "zoe"})
        TOKENS_MADE.append(made.token)
        with pytest.raises(Unauthorized):
            house.identify(zoe.token)
        fresh = house.identify(made.token)
        assert events(await house.call(fresh, "house", "events"))[-1] == "boss replaced your token"
        assert (await house.call(credential, None, "revoke_credential", {"name": "zoe"})).revoked == 1
        with pytest.raises(Unauthorized):
            await house.call(fresh, "house", "events")
        changes = [e.args["change"] for e in deeds(house.ledger.runner.room, "credential")]
        assert changes == ["issued", "issued", "replaced", "revoked"]


async def test_the_record_of_the_house_can_be_read_by_its_members_and_joined_by_nobody() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        zoe = await issue(house, "zoe", "house")
        assert (await zoe("whoami")).role == "resident"
        with pytest.raises(UnknownRoom):
            await house.call(house.identify(who["ann"].token), "house", "whoami")
        operator = house.identify(house.operator_token())
        assert (await house.call(operator, "house", "whoami")).role == "observer"
        for client in (zoe, Client(house, "house", "operator", house.operator_token())):
            for name, args in (("invite", {"id": "x"}), ("archive", {}), ("delete_room", {"confirm": "house"}),
                               ("grant", {"member": "zoe", "may": ["read_all"]})):  # fmt: skip
                with pytest.raises(PermissionDenied):
                    await client(name, args)


async def test_the_list_of_credentials_is_for_hosts_of_the_house_and_shows_no_token() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        boss = await issue(house, "boss", host=True)
        with pytest.raises(PermissionDenied):
            await who["hostess"]("list_credentials")
        await extra(house, "ann", label="phone", expires_in_s=1)
        await who["hostess"]("revoke_token", {"member": "bob"})
        await clock.advance(2_000)
        lines = (await house.call(house.identify(boss.token), None, "list_credentials")).credentials
        of_ann = [(line.state, line.label, line.room, line.member) for line in lines if line.name == "ann"]
        assert of_ann == [("good", "", "den", "ann"), ("expired", "phone", "den", "ann")]
        assert [line.state for line in lines if line.name == "bob"] == ["revoked"]
        assert [(line.host, line.room) for line in lines if line.name == "boss"] == [(True, None)]


async def test_one_token_on_two_connections_is_one_member() -> None:
    async with open_house() as house:
        who = await make_room(house)
        both = [house.identify(who["ann"].token) for _ in range(2)]
        answers = await asyncio.gather(*(house.call(c, "den", "hide", {"n": i}) for i, c in enumerate(both)))
        assert all(a.success for a in answers)
        assert sorted((await who["ann"]("numbers"))["red"]) == [0, 1]
        assert (await who["bob"]("session_info")).member_count == 3


async def test_a_token_of_one_room_opens_no_other() -> None:
    async with open_house() as house:
        who = await make_room(house, room="one")
        await make_room(house, room="two")
        for room in ("two", "three"):
            with pytest.raises(UnknownRoom) as refused:
                await house.call(house.identify(who["ann"].token), room, "whoami")
            assert room in refused.value.message
        assert [line.id for line in (await who["ann"]("rooms")).rooms] == ["one"]


async def test_a_token_that_is_in_use_cannot_be_given_to_another_member() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0, token=TOKEN), room="one")
        with pytest.raises(Conflict) as refused:
            await make_room(house, {"id": "eve", "role": "god"}, player("mal", 0, token=TOKEN), room="two")
        assert "agents[1]" in refused.value.message
        assert TOKEN not in refused.value.message
        assert (await who["ann"]("whoami")).room == "one"
        assert list(house.rooms) == ["one"]


# -- for the owner of the data folder ---------------------------------------------------------------
async def test_the_operator_of_a_house_that_is_not_running_replaces_a_lost_token(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, world="nim", turn_seconds=10)
    clock = FakeClock()
    async with House.open(house.settings, clock=clock, dormant=True) as house:
        operator = house.identify(house.operator_token())
        made = await house.call(operator, None, "rotate_credential", {"name": "hostess", "room": "den"})
        TOKENS_MADE.append(made.token)
        await clock.advance(60_000)
        assert not deeds(house.rooms["den"].room, "turn_timeout"), "time passed in a dormant house"
    async with open_house(tmp_path) as house:
        hostess = Client(house, "den", "hostess", made.token)
        assert "operator (a host of this house) replaced your token" in events(await hostess("events"))
        assert (await hostess("reset")).game == 2
        with pytest.raises(Unauthorized):
            await back_again(house, who)["hostess"]("whoami")


async def test_an_operators_token_is_good_as_long_as_the_house_runs(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        token = house.operator_token()
        TOKENS_MADE.append(token)
        assert (await house.call(house.identify(token), None, "rooms")).rooms == []
    async with open_house(tmp_path) as house:
        with pytest.raises(Unauthorized):
            house.identify(token)


async def test_a_credential_for_a_member_is_found_by_its_handle_and_room() -> None:
    async with open_house() as house:
        await make_room(house)
        operator = house.identify(house.operator_token())
        for args, error in (
            ({"name": "ann"}, UnknownAsset), ({"name": "ann", "room": "dan"}, UnknownAsset),
            ({"name": "anne", "room": "den"}, UnknownAsset),
        ):  # fmt: skip
            with pytest.raises(error):
                await house.call(operator, None, "rotate_credential", args)
        with pytest.raises(BadArgs):
            await house.call(operator, None, "issue_credential", {"name": "ann", "room": "den", "host": True})
        with pytest.raises(BadArgs):
            await house.call(operator, None, "issue_credential", {"name": "ann", "room": "den", "kind": "human"})
        made = await house.call(operator, None, "rotate_credential", {"name": "ann", "room": "den"})
        TOKENS_MADE.append(made.token)
        assert (await Client(house, "den", "ann", made.token)("whoami")).handle == "ann"


async def test_an_added_member_without_an_identity_has_no_token_to_rotate() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), GOD)
        await who["zeus"]("add_member", {"id": "robot"})
        with pytest.raises(BadArgs, match="built-in"):
            await who["zeus"]("rotate_token", {"member": "robot"})
        assert (await newcomer(who["zeus"], "cy")).who == "cy"


async def test_an_identity_of_the_house_is_named_by_its_id_or_by_its_name_if_no_other_has_it() -> None:
    async with open_house() as house:
        await make_room(house, guests=True)
        operator = house.identify(house.operator_token())
        eves = [await issue(house, "eve"), await issue(house, "eve")]
        ids = [house.identify(eve.token).identity for eve in eves]
        with pytest.raises(Conflict) as refused:
            await house.call(operator, None, "revoke_credential", {"name": "eve"})
        assert refused.value.message.endswith(f"pass an id instead: {', '.join(ids)}")
        assert (await house.call(operator, None, "revoke_credential", {"name": ids[0]})).revoked == 1
        assert house.identify(eves[1].token)
        again = await house.call(operator, None, "rotate_credential", {"name": "eve"})
        TOKENS_MADE.append(again.token)
        assert house.identify(again.token).identity == ids[1]
        with pytest.raises(Unauthorized):
            house.identify(eves[1].token)
        for name in ("revoke_credential", "rotate_credential"):
            with pytest.raises(UnknownAsset, match="has no token for the house"):
                await house.call(operator, None, name, {"name": ids[0]})
            with pytest.raises(UnknownAsset, match="it has one for room den, so pass room"):
                await house.call(operator, None, name, {"name": "ann"})


async def test_a_member_may_have_a_token_for_the_house_and_one_for_a_room_and_each_is_replaced_alone() -> None:
    async with open_house() as house:
        await make_room(house, guests=True)
        operator = house.identify(house.operator_token())
        eve = await issue(house, "eve")
        await eve("join")
        await house.call(operator, None, "issue_credential", {"name": "eve", "room": "den", "label": "phone"})
        made = await house.call(operator, None, "rotate_credential", {"name": "eve", "room": "den"})
        TOKENS_MADE.append(made.token)
        assert house.identify(made.token).label == "phone"
        assert house.identify(eve.token).room is None
        assert (await house.call(operator, None, "revoke_credential", {"name": "eve", "room": "den"})).revoked == 1
        assert (await eve("whoami")).handle == "eve"


async def test_a_new_identity_is_a_person_if_it_is_a_host_and_else_an_agent() -> None:
    async with open_house() as house:
        await make_room(house)
        found = {}
        for name, how in (("boss", {"host": True}), ("bot", {}), ("pat", {"kind": "human"})):
            identity = house.identities.get(house.identify((await issue(house, name, **how)).token).identity)
            assert identity is not None
            found[name] = (identity.kind, identity.host)
        assert found == {"boss": ("human", True), "bot": ("agent", False), "pat": ("human", False)}


async def test_a_temporary_token_cannot_be_replaced() -> None:
    async with open_house() as house:
        with pytest.raises(BadArgs, match="valid only while this house runs"):
            await house.call(house.identify(house.operator_token()), None, "rotate_token")


async def test_a_host_of_a_room_cannot_replace_a_token_that_is_valid_in_the_whole_house() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        eve = await issue(house, "eve")
        await eve("join")
        with pytest.raises(PermissionDenied, match="house-wide token"):
            await who["hostess"]("rotate_token", {"member": "eve"})
        assert (await eve("whoami")).handle == "eve"
        assert (await eve("rotate_token")).member == "eve"
