"""Records that an earlier version has written give the same rooms today."""

import pytest

from cohabit.feature_registry import load_features
from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.room.state import FORMAT

from .golden_records import POLL, RECORDS, ROOMS, fingerprint, read

FINGERPRINTS = {
    "nim": "01b3699fb7c2bc5e",
    "people": "38b4dc6bdae4388a",
    "visits": "938410c9c0398be2",
    "kingdoms": "c83e2c8315de00ad",
    "polls": "de8d6f50306dbc92",
}
"""Of the files, so that nobody renews one in passing."""


@pytest.mark.parametrize("name", ROOMS)
def test_a_record_of_this_format_replays_to_the_same_room(name: str) -> None:
    load_features([str(POLL)])
    digest, lines = read(name)
    assert lines[0].entry.args["state"]["format"] == FORMAT
    assert Room.replay(lines, make_world).digest() == digest


def test_the_records_are_those_that_were_written_first() -> None:
    assert {name: fingerprint(name) for name in ROOMS} == FINGERPRINTS
    assert {path.stem for path in RECORDS.iterdir()} == set(ROOMS)
