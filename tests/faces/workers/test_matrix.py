"""Every interface works for a room in another process as for a room here, whether the connection goes there or not."""

from pathlib import Path

import pytest
from tests.faces.doors import FACES, door_at
from tests.faces.test_matrix import conversation

from cohabit.testing.faces import reference_house

from .nodes import cluster


@pytest.mark.parametrize("passing", [True, False], ids=["passed on", "relayed"])
@pytest.mark.parametrize("face", FACES[1:])
async def test_the_same_claims_hold_for_rooms_of_another_process(face: str, passing: bool, tmp_path: Path) -> None:
    async with (
        reference_house(port=0) as reference,
        cluster(tmp_path, passing=passing, reference=reference.house, clock=reference.clock) as nodes,
    ):
        assert await conversation(reference, door_at(face, nodes.url, tmp_path)) is None
        assert len(nodes.passages.by_node["w1"]) <= (100 if passing else 0)
