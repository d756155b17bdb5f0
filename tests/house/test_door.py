"""Calls on their way: what is counted, what is decided again, and what happens to those that wait."""

import asyncio
from collections.abc import Callable, Coroutine
from operator import attrgetter
from typing import Any

import pytest

from cohabit.errors import Busy, CohabitError, Disabled, Unauthorized, UnknownCommand, UnknownRoom
from cohabit.house.calls.command_list import commands_for
from cohabit.house.house import House
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, HOST, Client, HeldStore, a_moment, at_rest, issue, make_room, open_house

FAR_FUTURE = 10**15


async def refusals(times: int, call: Callable[[], Coroutine[Any, Any, Any]]) -> list[str]:
    """The codes of a burst of calls within one second; empty for those that succeed."""
    codes = []
    for _ in range(times):
        try:
            await call()
        except CohabitError as refused:
            codes.append(refused.code)
        else:
            codes.append("")
    return codes


async def test_guessing_names_of_commands_uses_up_the_rate_limit_like_any_call() -> None:
    async with open_house(calls_per_second=3) as house:
        who = await make_room(house)
        assert await refusals(5, lambda: who["ann"]("no_such_thing")) == ["UNKNOWN_COMMAND"] * 3 + ["BUSY"] * 2
        with pytest.raises(Busy):
            await who["ann"]("view")
        assert await who["bob"]("view")


async def test_commands_of_the_house_have_a_rate_limit_for_each_token() -> None:
    async with open_house(calls_per_second=3) as house:
        await make_room(house)
        boss, other = await issue(house, "boss", host=True), await issue(house, "other")
        everywhere = [Client(house, "", who.who, who.token) for who in (boss, other)]
        assert await refusals(5, lambda: everywhere[0]("capabilities")) == ["", "", "", "BUSY", "BUSY"]
        assert await everywhere[1]("capabilities")


async def test_every_call_is_counted_and_so_is_every_refusal_that_no_room_counts() -> None:
    async with open_house() as house:
        who = await make_room(house)
        calls, refused = house.door.calls, dict(house.door.refusals)
        await who["ann"]("view")
        nobody = await issue(house, "nobody", "elsewhere")
        for _ in range(2):
            with pytest.raises(UnknownRoom):
                await nobody("view")
        with pytest.raises(UnknownCommand):  # the audit of the room has it
            await who["ann"]("no_such_thing")
        assert house.door.calls == calls + 1 + 1 + 2 + 1
        assert house.door.refusals == {**refused, "UNKNOWN_ROOM": 2}


async def test_a_token_for_one_room_opens_no_other_even_if_its_owner_is_a_member_there() -> None:
    async with open_house() as house:
        boss = await issue(house, "boss", host=True)
        for room in ("den", "hall"):
            await make_room(house, room=room)
            await Client(house, room, "boss", boss.token)("join")
        made = await boss.house.call(
            house.identify(boss.token), None, "issue_credential", {"name": "boss", "room": "den"}
        )
        assert (await Client(house, "den", "boss", made.token)("whoami")).room == "den"
        hall = Client(house, "hall", "boss", made.token)
        for name in ("view", "whoami", "capabilities"):
            with pytest.raises(UnknownRoom):
                await hall(name)
        with pytest.raises(UnknownRoom):
            commands_for(house.services, house.identify(made.token), "hall")


async def test_a_bug_of_a_house_command_is_an_internal_error_without_details(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_house() as house:
        who = await make_room(house)

        def broken(room: str, at: int) -> None:
            raise KeyError("a secret of the server")

        monkeypatch.setattr(house.identities, "invites_to", broken)
        with pytest.raises(CohabitError) as failed:
            await who["hostess"]("invites")
        assert failed.value.code == "INTERNAL"
        assert "a secret" not in failed.value.as_text()
        assert (await who["hostess"]("view")) is not None


async def test_another_members_token_cannot_be_replaced_without_naming_the_room() -> None:
    async with open_house() as house:
        await make_room(house)
        boss = await issue(house, "boss", host=True)
        with pytest.raises(UnknownRoom):
            await house.call(house.identify(boss.token), None, "rotate_token", {"member": "ann"})


# -- decided again ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("earlier", "code"),
    [
        (("grant", {"member": "mary", "may": ["watch"]}), "PERMISSION_DENIED"),
        (("remove_member", {"member": "mary"}), "UNAUTHORIZED"),
    ],
)
async def test_what_was_allowed_when_it_was_sent_is_refused_if_an_earlier_call_takes_the_right_away(
    earlier: tuple[str, dict[str, Any]], code: str
) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "mary", "role": "host", "kind": "human"})
        await on_thread(house)
        store.go.clear()
        first = asyncio.ensure_future(who["ann"]("shout", {"text": "first"}))
        while not attrgetter("_writing")(house.rooms["den"]):
            await asyncio.sleep(0)
        change = asyncio.ensure_future(who["hostess"](*earlier))
        await a_moment()
        before = house.identify(who["bob"].token)
        late = asyncio.ensure_future(who["mary"]("rotate_token", {"member": "bob"}))
        await a_moment()
        assert not late.done()
        store.go.set()
        await first
        await change
        with pytest.raises(CohabitError) as refused:
            await late
        assert refused.value.code == code
        assert house.identify(who["bob"].token) is before


async def on_thread(house: House) -> None:
    """Let the room's world run on a thread, as a slow one does: its calls then wait in a queue."""
    vars(house.rooms["den"])["_quick"] = False
    vars(vars(house.rooms["den"])["_slow"])["until"] = FAR_FUTURE
    await at_rest(house)


# -- waiting ------------------------------------------------------------------------------------
async def test_a_call_that_still_waits_when_the_house_closes_is_told_so() -> None:
    async with open_house() as house:
        who = await make_room(house)
        waiting = asyncio.ensure_future(who["ann"]("recv_messages", {"wait_ms": 30_000}))
        await a_moment()
    with pytest.raises(Disabled, match="shutting down"):
        await waiting


@pytest.mark.parametrize("expires", [False, True])
async def test_a_call_that_waits_ends_with_the_token_of_its_caller_also_where_nothing_happens(expires: bool) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True})
        eve = await issue(house, "eve", **({"expires_in_s": 5} if expires else {}))
        await eve("join")
        waiting = asyncio.ensure_future(eve("recv_messages", {"wait_ms": 30_000}))
        await a_moment()
        if expires:
            await clock.advance(5_000)
        else:
            await house.call(house.identify(house.operator_token()), None, "revoke_credential", {"name": "eve"})
        await a_moment()
        assert waiting.done()
        with pytest.raises(Unauthorized):
            await waiting
        assert not vars(house.identities)["_watchers"]


async def test_calls_that_are_done_are_forgotten() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for _ in range(3):
            await who["ann"]("events")
        await a_moment()
        assert not vars(house.door)["_tasks"]


async def test_a_member_is_present_from_the_start_of_a_call_that_waits_and_until_some_time_after_its_end() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=40_000) as house:
        who = await make_room(house)
        member = house.rooms["den"].room.member_of(house.identify(who["ann"].token).identity)
        assert member is not None
        waiting = asyncio.ensure_future(who["ann"]("recv_messages", {"wait_ms": 30_000}))
        await a_moment()
        assert house.rooms["den"].time.last_seen(member.id) == clock.now()
        await clock.advance(30_000)
        await waiting
        await clock.advance(35_000)
        assert house.rooms["den"].room.state.members[member.id].here
        await clock.advance(60_000)
        assert not house.rooms["den"].room.state.members[member.id].here


async def test_a_call_of_a_house_command_counts_as_presence() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("invites")
        await clock.advance(1_000)
        member = house.rooms["den"].room.member_of(house.identify(who["hostess"].token).identity)
        assert member is not None
        assert member.here
