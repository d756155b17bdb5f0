"""Results leave out what is empty, and a reader takes a field that is not there as false, zero or nothing."""

from typing import Any

import pytest

from cohabit import room

from .results import meanings, structs_in

STRUCTS = structs_in(room)
LEFT_OUT: dict[str, dict[str, Any]] = {
    "FeedItem": {"kind": "info"},
    "Member": {"kind": "agent"},
    "NexusEntry": {"capacity": 64, "role": "player"},
    "OwnedAvatar": {"spawn": "safe"},
    "Receipt": {"damage": 1.0, "difficulty": "normal"},
    "Refusal": {"count": 1},
    "Resource": {"scheme": "cohabit"},
    "RoomState": {"games": 1, "scenario": "sandbox", "speed": "x1", "stand_in_ms": 30_000},
    "SessionInfo": {"game": 1, "is_played": True},
    "Visit": {"damage": 1.0, "difficulty": "normal"},
}
"""The fields that mean something else when they are left out."""


@pytest.mark.parametrize("name", sorted(STRUCTS))
def test_what_a_value_of_a_room_leaves_out_is_false_or_empty(name: str) -> None:
    assert meanings(STRUCTS[name]) == LEFT_OUT.get(name, {})
