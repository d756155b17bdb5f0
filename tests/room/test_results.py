"""Results leave out what is empty, and a reader takes a field that is not there as false, zero or nothing."""

from typing import Any

import pytest

from cohabit.room.command_modules import COMMAND_MODULES
from cohabit.room.commands import declared_in

from .results import meanings

COMMANDS = {command.name: command for module in COMMAND_MODULES for command in declared_in(module)}
BODY = {"health": 100.0, "max_health": 100.0, "state": "unbound"}
LEFT_OUT: dict[str, Any] = {
    "ActionDef.category": "general",
    "Event.type": "info",
    "Goal.type": "main",
    "ParamDef.required": True,
    "ParamDef.type": "string",
    "Refusal.count": 1,
    "RespawnOption.type": "spawn_point",
    "Standing.alive": True,
    "Terrain.passable": True,
    "avatars.max_avatars": 3,
    "inspect_self.is_grounded": True,
    "inspect_self.stance": "standing",
    "inspect_self.vision_cone": 360.0,
    "session_info.game": 1,
    "session_info.is_played": True,
    **{f"{kind}.{name}": value for kind in ("Avatar", "create_avatar") for name, value in BODY.items()},
}
"""The fields that mean something else when they are left out."""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_what_a_result_of_a_room_leaves_out_is_false_or_empty(name: str) -> None:
    found = meanings(COMMANDS[name])
    assert found == {field: LEFT_OUT.get(field) for field in found}
