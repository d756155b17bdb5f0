"""One conversation over every interface: identity, permission, scope, fog, turn, bus and replay work alike on all."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from cohabit.errors import Internal, by_code
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.testing.faces import Client, Reference, check_face, reference_house

from .doors import FACES, Door, doors


async def conversation(reference: Reference, door: Door) -> Exception | None:
    """Hold it; what did not hold. (Raised through the SDK's task groups it could not be read.)"""
    async with AsyncExitStack() as stack:
        clients: dict[str, Client] = {}

        async def join(token: str) -> Client:
            if token not in clients:
                clients[token] = await stack.enter_async_context(door(token))
            return clients[token]

        try:
            await check_face(join, reference)
        except Exception as broken:
            return broken
    return None


@pytest.mark.parametrize("face", FACES)
async def test_the_same_claims_hold_over_every_interface_and_the_record_replays(face: str, tmp_path: Path) -> None:
    async with reference_house(port=0) as reference, doors(face, reference.house, tmp_path) as door:
        assert await conversation(reference, door) is None

        for name, runner in reference.house.rooms.items():
            await runner.drained()
            rows = list(reference.house.store.lines(name, -1))
            again = Room.replay(read_lines(rows, -1, GENESIS), make_world)
            assert again.digest() == runner.room.digest()
            assert len(rows) > 1


def test_an_unknown_error_code_becomes_an_internal_error() -> None:
    assert isinstance(by_code({"code": "NO_SUCH_CODE", "message": "?"}), Internal)
