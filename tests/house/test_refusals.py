"""The same refusals for every command, straight into a house."""

from contextlib import AsyncExitStack

import pytest

from cohabit.faces.python import connect
from cohabit.testing.faces import Client

from ..claims import REFUSALS, refusals_house  # noqa: TID252 - every interface makes the same claims


@pytest.mark.parametrize("claim", REFUSALS)
async def test_in_python(claim: str) -> None:
    async with refusals_house() as it, AsyncExitStack() as stack:

        async def enter(token: str) -> Client:
            return await stack.enter_async_context(connect(it.house, token))

        await REFUSALS[claim](enter, it)
