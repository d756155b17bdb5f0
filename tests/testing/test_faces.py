from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from cohabit.errors import PermissionDenied, TurnNotYours
from cohabit.faces.python import connect
from cohabit.house.clock import SystemClock
from cohabit.testing.faces import CLAIMS, Client, Reference, Scene, check_face, reference_house


@pytest.fixture
async def reference() -> AsyncIterator[Reference]:
    async with reference_house() as made:
        yield made


@pytest.fixture
async def scene(reference: Reference) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:

        async def join(token: str) -> Client:
            return await stack.enter_async_context(connect(reference.house, token))

        yield Scene(join, reference)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
async def test_a_claim_holds_over_the_python_interface(claim, scene):
    await claim(scene)


async def test_all_claims_can_be_checked_twice_on_one_house(scene):
    await check_face(scene.connect, scene.reference)
    await check_face(scene.connect, scene.reference)


async def test_all_claims_hold_on_disk_with_the_machines_clock(tmp_path):
    async with reference_house(data=tmp_path, clock=SystemClock()) as reference, AsyncExitStack() as stack:

        async def join(token: str) -> Client:
            return await stack.enter_async_context(connect(reference.house, token))

        await check_face(join, reference)


def test_every_claim_has_a_docstring():
    assert all(claim.__doc__ for claim in CLAIMS.values())
    assert len(CLAIMS) == 21


class Lenient:
    """An interface that hides refusals: it answers them with nothing."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, command, args=None, *, room=None, key=None):
        try:
            return await self.client.call(command, args, room=room, key=key)
        except PermissionDenied:
            return {}


class Mistaken(Lenient):
    """An interface that confuses two codes."""

    async def call(self, command, args=None, *, room=None, key=None):
        try:
            return await self.client.call(command, args, room=room, key=key)
        except TurnNotYours as refusal:
            raise PermissionDenied(refusal.message) from None


@pytest.mark.parametrize(
    ("face", "broken"), [(Lenient, "watchers cannot act"), (Mistaken, "only the player whose turn it is can move")]
)
async def test_an_interface_that_breaks_a_claim_is_refused(face, broken, scene):
    async def join(token: str) -> Client:
        return face(await scene.connect(token))

    with pytest.raises(AssertionError, match=broken):
        await check_face(join, scene.reference)
