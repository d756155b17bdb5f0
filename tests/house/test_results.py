"""Results leave out what is empty, and a reader takes a field that is not there as false, zero or nothing."""

from typing import Any

import pytest
from tests.room.results import meanings

from cohabit.house.house import HOUSE_COMMANDS

COMMANDS = {command.name: command for command in HOUSE_COMMANDS}
LEFT_OUT: dict[str, Any] = {
    "CommandInfo.about": "room",
    "CommandInfo.for_model": True,
    "FeedItem.kind": "info",
    "Resource.scheme": "cohabit",
    "invite.uses": 1,
}
"""The fields that mean something else when they are left out."""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_what_a_result_of_the_house_leaves_out_is_false_or_empty(name: str) -> None:
    found = meanings(COMMANDS[name])
    assert found == {field: LEFT_OUT.get(field) for field in found}
