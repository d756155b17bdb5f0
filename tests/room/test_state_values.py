"""What is part of a room's digest has one encoding, whether it was made or read from a record."""

from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

from cohabit.model.avatar import AvatarState
from cohabit.room.state import RoomState

OLDER_ROOMS: dict[str, Any] = {
    "EntryPolicy.kind": "human",
    "ExitPackage.reason": "voluntary",
    "Member.kind": "agent",
    "NexusEntry.capacity": 64,
    "NexusEntry.role": "player",
    "OwnedAvatar.spawn": "safe",
    "OwnedAvatar.state": AvatarState.UNBOUND,
    "RoomState.games": 1,
    "RoomState.scenario": "sandbox",
    "RoomState.speed": "x1",
    "RoomState.stand_in_ms": 30_000,
    "Visit.damage": 1.0,
    "Visit.difficulty": "normal",
}
"""The fields of which a record that lacks them means something else than false, zero or nothing."""
SET_ONLY_FROM_ARGUMENTS = {"RoomState.scenario", "RoomState.speed"}
"""Never compared with a text that the code itself makes, so they are encoded alike in a room and in its replay."""


def structs(kind: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Every Struct that a type mentions, by name."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__name__ not in found:
        found[kind.__name__] = kind
        for hint in get_type_hints(kind).values():
            structs(hint, found)
    for part in get_args(kind):
        structs(part, found)
    return found


def texts_left_out(kind: Any) -> list[str]:
    """The fields of a Struct that are not encoded if they are the default text. msgspec compares objects, not texts, and
    a text from a record is another object, unless it is one of a ``Literal``."""
    if not kind.__struct_config__.omit_defaults:
        return []
    fields = [field for field in msgspec.structs.fields(kind) if get_origin(field.type) is not Literal]
    return [f"{kind.__name__}.{field.name}" for field in fields if isinstance(field.default, str) and field.default]


@pytest.mark.parametrize("name", sorted(structs(RoomState, {})))
def test_no_text_of_a_rooms_state_is_left_out_by_identity(name: str) -> None:
    kind = structs(RoomState, {})[name]
    assert set(texts_left_out(kind)) <= SET_ONLY_FROM_ARGUMENTS


@pytest.mark.parametrize("name", sorted(structs(RoomState, {})))
def test_a_field_that_an_older_record_lacks_is_read_as_older_rooms_had_it(name: str) -> None:
    fields = msgspec.structs.fields(structs(RoomState, {})[name])
    assert fields
    assert not [
        field.name
        for field in fields
        if field.default is not msgspec.NODEFAULT and (field.default or None) != OLDER_ROOMS.get(f"{name}.{field.name}")
    ]
