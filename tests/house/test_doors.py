"""Who may come in, who is shown out, and whose name is whose."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import Busy, CohabitError, Conflict, PermissionDenied, Unauthorized, UnknownRoom
from cohabit.faces.python import QueueSink
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, HOST, Client, make_room, open_house


def stranger(house: Any, name: str, **how: Any) -> Client:
    """An identity of the house, bound to no room."""
    return Client(house, "den", name, house.identities.add(name, at=house.clock.now(), **how))


async def test_a_namesake_of_a_member_is_not_that_member() -> None:
    async with open_house() as house:
        await make_room(house, guests=True)
        ann = stranger(house, "ann")
        with pytest.raises(UnknownRoom):
            await ann("whoami")
        with pytest.raises(Conflict):
            await ann("join")


async def test_a_guest_is_the_same_guest_again() -> None:
    async with open_house() as house:
        await make_room(house, guests=True)
        zoe = stranger(house, "zoe", kind="agent")
        assert (await zoe("join")).role == "agent"
        assert (await zoe("whoami")).agent_id == "zoe"


async def test_a_room_that_takes_no_guests_is_not_there_for_strangers() -> None:
    async with open_house() as house:
        await make_room(house)
        with pytest.raises(UnknownRoom):
            await stranger(house, "zoe")("join")


async def test_whoever_is_invited_under_an_old_name_does_not_share_it_with_the_old_token() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("remove_member", {"member": "ann"})
        with pytest.raises(Unauthorized):
            await who["ann"]("whoami")
        invited = await who["hostess"]("invite", {"id": "ann", "role": "player", "claim": "auto:0"})
        with pytest.raises(Unauthorized):
            await who["ann"]("whoami")
        assert (await Client(house, "den", "ann", invited.token)("whoami")).seat is not None


class Ended(QueueSink):
    """A connection that keeps why it ended."""

    reason: CohabitError | None = None

    def end(self, reason: CohabitError) -> None:
        self.reason = reason


async def test_a_watcher_is_shown_out_when_removed_and_when_its_token_runs_out() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST)
        host = house.rooms["den"]
        brief = await who["hostess"]("invite", {"id": "eve", "expires_in_s": 60})
        sinks = {"ann": Ended(), "bob": Ended(), "eve": Ended()}
        for name, sink in sinks.items():
            token = brief.token if name == "eve" else who[name].token
            host.subscribe(name, sink, False, house.identify(token))
        await who["hostess"]("remove_member", {"member": "ann"})
        assert isinstance(sinks["ann"].reason, Unauthorized)
        await clock.advance(59_000)
        assert sinks["eve"].reason is None
        await clock.advance(2_000)
        assert isinstance(sinks["eve"].reason, Unauthorized)
        assert sinks["bob"].reason is None


async def test_a_member_who_has_no_token_any_more_is_given_one_by_the_host() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("revoke_token", {"member": "ann"})
        fresh = await who["hostess"]("rotate_token", {"member": "ann"})
        assert (await Client(house, "den", "ann", fresh.token)("whoami")).agent_id == "ann"
        with pytest.raises(PermissionDenied):
            await who["bob"]("rotate_token", {"member": "ann"})


async def test_commands_of_the_house_are_counted_too() -> None:
    async with open_house(calls_per_second=5) as house:
        who = await make_room(house)
        for _ in range(5):
            await who["ann"]("events")
        with pytest.raises(Busy):
            await who["ann"]("events")
        await who["bob"]("events")


async def test_a_damaged_snapshot_is_no_loss_while_the_one_before_it_can_be_read(tmp_path: Path) -> None:
    async with open_house(tmp_path, snapshot_every=3) as house:
        who = await make_room(house)
        for n in range(10):
            await who["ann"]("hide", {"n": n})
    with sqlite3.connect(tmp_path / "cohabit.db") as db:
        db.execute("update snapshots set body = x'00' where seq = (select max(seq) from snapshots)")
    db.close()
    async with open_house(tmp_path) as house:
        assert house.broken == {}
        room = house.rooms["den"].room
        hidden = [line.entry.args["n"] for line in room.record.tail if line.entry.do == "hide"]
        assert hidden[-1] == 9
        assert len(hidden) > 3  # run again from the older one
