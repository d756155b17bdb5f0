"""Credentials: whose token is this, until when, and that it is nowhere but with its owner."""

import asyncio
import logging
from contextlib import closing
from pathlib import Path

import pytest

from cohabit.errors import BadArgs, CohabitError, Conflict, PermissionDenied, Unauthorized, UnknownRoom
from cohabit.house.identities import Identities, make_token
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.testing.clock import FakeClock

from .making import Client, back_again, make_room, open_house, player

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
        for name in ("break_down", "trouble", "nonsense"):
            with pytest.raises(CohabitError):
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


@pytest.mark.parametrize("token", [None, "", "x", "Bearer x", "x" * 100_000, "\ud800", "\0"])
async def test_whatever_is_not_a_token_is_unauthorized(token: str | None) -> None:
    async with open_house() as house:
        await make_room(house)
        with pytest.raises(Unauthorized):
            house.identify(token)


async def test_a_token_runs_out_when_it_was_said_to() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "cy", "expires_in_s": 10})
        cy = Client(house, "den", "cy", made.token)
        held = house.identify(made.token)
        await cy("whoami")
        await clock.advance(9_999)
        await cy("whoami")
        await clock.advance(1)
        with pytest.raises(Unauthorized):
            house.identify(made.token)
        with pytest.raises(Unauthorized):  # and for who was connected with it
            await house.call(held, "den", "whoami")


async def test_a_revoked_token_is_worthless_at_once_for_open_connections_too() -> None:
    async with open_house() as house:
        who = await make_room(house)
        held = house.identify(who["ann"].token)
        assert (await who["hostess"]("revoke_token", {"member": "ann"})).revoked == 1
        with pytest.raises(Unauthorized):
            await house.call(held, "den", "whoami")
        with pytest.raises(Unauthorized):
            await who["ann"]("whoami")
        await who["bob"]("whoami")


async def test_only_a_host_revokes_and_renews_for_others() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for name in ("revoke_token", "rotate_token"):
            with pytest.raises(PermissionDenied):
                await who["ann"](name, {"member": "bob"})
        renewed = await who["hostess"]("rotate_token", {"member": "bob"})
        assert renewed.member == "bob"
        assert (await Client(house, "den", "bob", renewed.token)("whoami")).agent_id == "bob"
        with pytest.raises(Unauthorized):
            await who["bob"]("whoami")


async def test_a_renewed_token_is_the_same_member_and_the_old_one_is_worthless(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        renewed = await who["ann"]("rotate_token")
        with pytest.raises(Unauthorized):
            await who["ann"]("whoami")
        me = await Client(house, "den", "ann", renewed.token)("whoami")
        assert (me.agent_id, me.seat, me.role) == ("ann", "red", "player")
    async with open_house(tmp_path) as house:
        with pytest.raises(Unauthorized):
            await back_again(house, who)["ann"]("whoami")
        assert (await Client(house, "den", "ann", renewed.token)("whoami")).agent_id == "ann"


async def test_renewing_keeps_the_end_that_a_token_has() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "cy", "expires_in_s": 10})
        renewed = await Client(house, "den", "cy", made.token)("rotate_token")
        await clock.advance(20_000)
        with pytest.raises(Unauthorized):
            house.identify(renewed.token)


async def test_the_same_token_twice_at_once_is_one_member_in_two_places() -> None:
    async with open_house() as house:
        who = await make_room(house)
        ears = [house.identify(who["ann"].token) for _ in range(2)]
        answers = await asyncio.gather(*(house.call(c, "den", "hide", {"n": i}) for i, c in enumerate(ears)))
        assert all(a.success for a in answers)
        assert sorted((await who["ann"]("numbers"))["red"]) == [0, 1]
        assert (await who["bob"]("session_info")).agent_count == 3


async def test_a_token_of_one_room_opens_no_other() -> None:
    async with open_house() as house:
        who = await make_room(house, room="one")
        await make_room(house, room="two")
        for room in ("two", "three"):
            with pytest.raises(UnknownRoom) as refused:
                await house.call(house.identify(who["ann"].token), room, "whoami")
            assert room in refused.value.message
        assert [line.id for line in (await who["ann"]("rooms")).rooms] == ["one"]


async def test_a_token_that_is_in_use_is_not_given_to_somebody_else() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0, token=TOKEN), room="one")
        with pytest.raises(Conflict) as refused:
            await make_room(house, {"id": "eve", "role": "god"}, player("mal", 0, token=TOKEN), room="two")
        assert "agents[1]" in refused.value.message
        assert TOKEN not in refused.value.message
        assert (await who["ann"]("whoami")).room == "one"
        assert list(house.rooms) == ["one"]


# -- the command line at work beside a running house ------------------------------------------------
async def test_a_token_made_by_another_process_is_known_at_once(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        with closing(SQLiteStore(tmp_path, lock=False)) as beside:
            token = Identities(beside).add("ann", at=house.clock.now(), room="den")
            boss = Identities(beside).add("boss", at=house.clock.now(), host=True)
        assert (await Client(house, "den", "ann", token)("whoami")).agent_id == "ann"
        await who["ann"]("whoami")
        assert (await house.call(house.identify(boss), None, "rooms")).rooms[0].id == "den"


async def test_a_token_revoked_by_another_process_is_worthless_within_a_second(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock) as house:
        who = await make_room(house)
        held = house.identify(who["ann"].token)
        with closing(SQLiteStore(tmp_path, lock=False)) as beside:
            assert Identities(beside).revoke("ann", "den") == 1
        await clock.advance(1000)
        with pytest.raises(Unauthorized):
            await house.call(held, "den", "whoami")


async def test_a_lost_host_token_is_made_anew_by_who_owns_the_folder(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
    with closing(SQLiteStore(tmp_path, lock=False)) as beside:
        token = Identities(beside).rotate("hostess", "den", 0)
    async with open_house(tmp_path) as house:
        assert (await Client(house, "den", "hostess", token)("reset")).game == 2
        with pytest.raises(Unauthorized):
            await back_again(house, who)["hostess"]("whoami")


# -- hosts, guests, invitations ---------------------------------------------------------------------
async def test_kind_role_and_seat_are_bound_to_the_invitation() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), {"id": "hostess", "role": "host"})
        made = await who["hostess"]("invite", {"id": "cy", "role": "player", "claim": "auto:1"})
        assert (made.role, made.seat) == ("player", "blue")
        me = await Client(house, "den", "cy", made.token)("whoami")
        assert (me.role, me.kind, me.seat) == ("player", "agent", "blue")


async def test_an_invitation_is_refused_to_who_may_not_and_where_the_name_or_the_room_is_taken() -> None:
    async with open_house(members_limit=4) as house:
        who = await make_room(house)
        with pytest.raises(PermissionDenied):
            await who["ann"]("invite", {"id": "cy"})
        with pytest.raises(Conflict):
            await who["hostess"]("invite", {"id": "bob"})
        with pytest.raises(BadArgs):
            await who["hostess"]("invite", {"id": "cy", "role": "king"})
        await who["hostess"]("invite", {"id": "cy"})
        with pytest.raises(PermissionDenied):
            await who["hostess"]("invite", {"id": "dee"})


async def test_only_a_host_of_the_house_opens_rooms() -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(PermissionDenied):
            await who["hostess"]("create_room", {"world": "nim"})
        boss = house.identify(house.identities.add("boss", at=0, host=True))
        made = await house.call(boss, None, "create_room", {"world": "nim", "players": ["x", "y"]})
        assert sorted(made.tokens) == ["x", "y"]
        assert (await house.call(boss, made.room, "whoami")).role == "host"


async def test_guests_come_in_where_the_room_is_open_and_only_there() -> None:
    async with open_house() as house:
        await make_room(house, room="shut")
        await make_room(house, room="open", guests=True)
        guest = house.identify(house.identities.add("gus", at=0))
        person = house.identify(house.identities.add("pia", at=0, kind="human"))
        with pytest.raises(UnknownRoom):
            await house.call(guest, "shut", "whoami")
        with pytest.raises((PermissionDenied, UnknownRoom)):
            await house.call(guest, "shut", "join")
        with pytest.raises(UnknownRoom) as hint:
            await house.call(guest, "open", "whoami")
        assert "join" in hint.value.message
        assert (await house.call(guest, "open", "join")).role == "agent"
        assert (await house.call(person, "open", "join")).role == "human"
        assert [line.id for line in (await house.call(guest, None, "rooms")).rooms] == ["open"]
