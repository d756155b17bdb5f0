"""A world may have its own command where the house allows it, and nowhere else."""

from pathlib import Path

import pytest

from cohabit.errors import BadArgs
from cohabit.house.house import House

from .making import GOD, Client, make_room, open_house, player

WORLD = '''
from cohabit.world import Observation, Outcome, Seat, World, WorldSpec, action


class Keeper(World):
    """Keeps its own saves."""

    spec = WorldSpec(name="keeper", seats=1, seat_names=("one",), quick=True)

    def reset(self, seed, seats):
        self.kept = []

    def to_move(self):
        return ["one"]

    def observe(self, eye):
        return Observation(text=f"{len(self.kept)} kept")

    @action()
    def NAME(self, by: Seat | None, folder: str) -> Outcome:
        """Keep it here."""
        self.kept.append(folder)
        return Outcome(f"kept as {folder}")
'''


async def opened(house: House, folder: Path, name: str) -> dict[str, Client]:
    file = folder / "keeper.py"
    file.write_text(WORLD.replace("NAME", name), encoding="utf-8")
    return await make_room(house, player("ann", 0), GOD, world=str(file))


async def test_a_world_may_keep_its_own_saves_instead_of_those_of_the_house(tmp_path: Path) -> None:
    async with open_house(tmp_path / "data") as house:
        who = await opened(house, tmp_path, "save_world")
        answer = await who["ann"]("save_world", {"folder": "one"})
        assert answer.message == "kept as one"
        assert not list((tmp_path / "data").rglob("*.save"))


@pytest.mark.parametrize("name", ["invite", "view", "events"])
async def test_a_world_with_an_action_named_like_another_command_opens_no_room(tmp_path: Path, name: str) -> None:
    async with open_house(tmp_path / "data") as house:
        with pytest.raises(BadArgs, match=f"the name '{name}' is reserved"):
            await opened(house, tmp_path, name)
        assert not house.rooms
