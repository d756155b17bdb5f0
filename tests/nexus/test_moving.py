"""Games that are in another process for a moment, because a house or a worker has ended: nobody loses them."""

from types import SimpleNamespace

import pytest

from cohabit.errors import Busy, UnknownAsset
from cohabit.house.calls.across import Nodes
from cohabit.house.directory import FRONT, MOVING, Table

from .games import Journeys


async def test_a_game_that_is_being_opened_is_neither_unknown_nor_given_up_nor_left() -> None:
    world = await Journeys().begin()
    directory = Table("w1")
    directory.update(sockets={"w1": "/w1", "w2": "/w2"})
    world.house.services.own[Nodes] = SimpleNamespace(directory=directory)
    world.house.rooms.is_elsewhere = directory.is_elsewhere
    try:
        await world("ann", "nexus", "enter_game", game_id="caves")
        runner = world.house.rooms.pop("caves")
        for holder in (MOVING, "w2"):
            directory.update({"caves": holder})
            for command in ("leave_game", "give_up_game"):
                with pytest.raises(Busy, match="the game caves is being opened"):
                    await world("ann", "nexus", command)
        directory.update({"caves": MOVING})
        for game in ("caves", "nowhere"):
            with pytest.raises(Busy, match="rooms of this house are being opened"):
                await world("cat", "nexus", "enter_game", game_id=game)
        directory.update({"caves": FRONT})  # it could not be opened
        with pytest.raises(UnknownAsset):
            await world("cat", "nexus", "enter_game", game_id="caves")
        world.house.rooms["caves"] = runner
        await world("ann", "nexus", "leave_game")
        await world.rest()
        assert world.profile("ann").session is None
    finally:
        await world.close()
