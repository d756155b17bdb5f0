"""An adapter written from the text of WSAP, as a room of a house: the same over every interface."""

import json
from pathlib import Path

import pytest

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario

from .doors import MOSTLY_SOAK, doors

EXAMPLE = Path(__file__).parents[2] / "examples" / "adapter.py"
SCENARIO = {"world": str(EXAMPLE), "agents": [{"id": "ann", "role": "player", "claim": "auto:0"}]}


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_an_adapter_can_be_played_over_every_interface(face: str, tmp_path: Path) -> None:
    async with House.open(Settings(port=0)) as house:
        _, tokens = await house.create_room(parse_scenario(json.dumps(SCENARIO)), "den", seed=7)
        async with doors(face, house, tmp_path) as door, door(tokens["ann"]) as ann:
            rules = await ann.call("rules")
            assert rules["title"] == "Coast"
            assert rules["description"].startswith("Coast is a small survival game")
            assert (await ann.call("view"))["observation"]["status"] == {"food": 9, "drink": 9}
            moved = await ann.call("move", {"direction": "left"})
            assert (moved["success"], moved["message"]) == (True, "You move.")
            failed = await ann.call("act", {"action": "gather"})
            assert (failed["success"], failed["message"]) == (False, "There is no tree here.")
            assert failed["observation"]["step"] == 2
            with pytest.raises(CohabitError) as refused:
                await ann.call("move", {"direction": "up"})
            assert refused.value.code == "BAD_ARGS"
            await ann.call("move", {"direction": "left"})
            results = [await ann.call("gather") for _ in range(3)]
            assert results[-1]["reward"] == 1
            assert results[-1]["achievements"] == ["warm_night"]
            assert results[-1]["done"]
