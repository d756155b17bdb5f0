"""A visitor that has gone stalls nobody: after a while its body sleeps, and it wakes with the next call."""

import pytest

from cohabit.features.bodies.state import BODIES
from cohabit.room.room import Room

from .games import Journeys

TURN = 60_000


def steps(room: Room) -> int:
    return int(room.world.game.step_number)  # type: ignore[attr-defined]


async def later(made: Journeys, ms: int) -> None:
    """After this time, when everything has happened that was due."""
    for passed in (ms, 0, 0):
        await made.clock.advance(passed)
        await made.house.rooms["wild"].drained()


@pytest.mark.parametrize("sleep_seconds", [None, 90, 0])
async def test_rounds_do_not_wait_for_a_visitor_that_has_gone_until_it_calls_again(sleep_seconds: int | None) -> None:
    made = await Journeys({"caves": Journeys().games["caves"]}).begin()
    try:
        host = {"id": "host", "role": "host", "kind": "human"}
        room_of = {"turn_seconds": 60, "sleep_seconds": sleep_seconds, "nexus": True}
        await made.make("wild", "crafter_shared", [host], **room_of)
        for who in ("ann", "cat"):
            await made(who, "nexus", "enter_game", game_id="wild")
        room = made.room("wild")
        for _ in range(2):  # cat says nothing more
            await made("ann", "wild", "noop")
            await later(made, TURN)
        assert steps(room) >= 2
        if sleep_seconds == 0:
            assert BODIES.read(room.state).asleep == []
            return
        member = room.member_of(made.identity["cat"])
        assert member is not None
        assert BODIES.read(room.state).asleep == [member.id]
        before = steps(room)
        for n in range(5):
            await made("ann", "wild", "noop")
            await later(made, 0)
            assert steps(room) == before + n + 1
        await made("cat", "wild", "view")  # a call that only reads
        await later(made, 500)
        assert BODIES.read(room.state).asleep == []
        await made("ann", "wild", "noop")
        await later(made, 1000)
        assert steps(room) == before + 5
        await made("cat", "wild", "noop")
        await later(made, 0)
        assert steps(room) == before + 6
    finally:
        await made.close()
