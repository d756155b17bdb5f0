"""Results leave out what is empty, and a reader takes a field that is not there as false, zero or nothing."""

from typing import Any

import pytest
from tests.room.results import meanings, structs_in

from cohabit import house

STRUCTS = {name: kind for name, kind in structs_in(house).items() if name != "Settings"}  # it has a page of its own
LEFT_OUT: dict[str, dict[str, Any]] = {
    "AuditLine": {"count": 1},
    "CommandInfo": {"about": "room", "for_model": True},
    "EgressExport": {"entry": -1},
    "Frames": {"roster_version": -1},
    "Introduction": {"is_played": True},
    "Invitation": {"uses": 1},
    "InviteBody": {"uses": 1},
    "Item": {"kind": "info"},
    "Sent": {"second": -1},
    "TranscriptLine": {"seq": -1},
}
"""The fields that mean something else when they are left out."""


@pytest.mark.parametrize("name", sorted(STRUCTS))
def test_what_a_value_of_the_house_leaves_out_is_false_or_empty(name: str) -> None:
    assert meanings(STRUCTS[name]) == LEFT_OUT.get(name, {})
