"""Every interface works for a room in another process as for a room here, whether the connection goes there or not."""

from pathlib import Path

import pytest
from tests.faces.doors import FACES, door_at
from tests.faces.test_matrix import conversation

from cohabit.testing.faces import reference_house

from .nodes import cluster

WAYS = [(face, passing) for face in FACES[1:] for passing in (True, False)]
QUICK = [("http", False), ("websocket", True), ("mcp 2026-07-28", False)]
"""The others run with `make soak`."""


@pytest.mark.parametrize(
    ("face", "passing"), [way if way in QUICK else pytest.param(*way, marks=pytest.mark.soak) for way in WAYS]
)
async def test_the_same_claims_hold_for_rooms_of_another_process(face: str, passing: bool, tmp_path: Path) -> None:
    async with (
        reference_house(port=0) as reference,
        cluster(tmp_path, passing=passing, reference=reference.house, clock=reference.clock) as nodes,
    ):
        assert await conversation(reference, door_at(face, nodes.url, tmp_path)) is None
        assert (nodes.passed > 0) == passing


@pytest.mark.parametrize(
    "face", [face if face == "websocket" else pytest.param(face, marks=pytest.mark.soak) for face in FACES[1:]]
)
async def test_the_same_claims_hold_for_rooms_of_another_house(face: str, tmp_path: Path) -> None:
    async with (
        reference_house(port=0) as reference,
        cluster(tmp_path, passing=False, over_network=True, reference=reference.house, clock=reference.clock) as nodes,
    ):
        assert await conversation(reference, door_at(face, nodes.url, tmp_path)) is None
        assert nodes.over_network > 0
