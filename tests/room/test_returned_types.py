"""What a world returns is recorded as it is: a value that a record could not be read with is refused, and rolled back."""

from pathlib import Path
from typing import Any

import pytest
from tests.room.making import BLUE, RED, make_room, replayed, restored

from cohabit.errors import GameCrash

WORLD = '''
from cohabit import Eye, Observation, Outcome, Seat, Told, World, WorldSpec, action


class Draft(World):
    """Each picks in secret."""

    spec = WorldSpec(name="draft", seats=2, pace="rounds")

    def reset(self, seed, seats):
        self.order, self.picked, self.rounds = [seat.id for seat in seats], [], 0

    def to_move(self):
        return [seat for seat in self.order if seat not in self.picked]

    def observe(self, eye: Eye) -> Observation:
        return Observation(status={"rounds": self.rounds}, step=self.rounds)

    @action()
    def pick(self, by: Seat) -> Outcome:
        """Pick."""
        self.picked.append(by.id)
        return ACTION

    def resolve(self):
        self.picked, self.rounds = [], self.rounds + 1
        return RESOLVE

    def outcome(self, seat: Seat) -> Outcome:
        return OUTCOME
'''
RIGHT = {
    "ACTION": "Outcome('picked', told=(Told('you pick', seats=(by.id,)),), pending=True)",
    "RESOLVE": "[Told('a round')]",
    "OUTCOME": "Outcome('well picked')",
}


def draft(folder: Path, **changes: str) -> Any:
    text = WORLD
    for name, code in {**RIGHT, **changes}.items():
        text = text.replace(name, code)
    file = folder / "draft.py"
    file.write_text(text)
    return make_room(RED, BLUE, world=str(file))


@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("ACTION", "Outcome(5, pending=True)", "must be text, not 5"),
        ("ACTION", "Outcome('x', public=['y'], pending=True)", "must be text, not ['y']"),
        ("ACTION", "Outcome('x', told=(Told('y', seats=[by.id]),))", "the seats of a Told must be a tuple of ids"),
        ("ACTION", "Outcome('x', told=(Told('y', seats=by.id),))", "the seats of a Told must be a tuple of ids"),
        ("ACTION", "Outcome('x', told=(Told('y', seats=(by,)),))", "the seats of a Told must be a tuple of ids"),
        ("ACTION", "Outcome('x', told=('y',))", "must be values of Told, not 'y'"),
        ("RESOLVE", "[Told(5)]", "resolve(): what is told (message, public, Told) must be text, not 5"),
        ("RESOLVE", "['y']", "resolve(): what is told must be values of Told, not 'y'"),
        ("RESOLVE", "None", "resolve() must return a list of Told, not None"),
        ("OUTCOME", "Outcome(5)", "the message and achievements of outcome() must be texts"),
        ("OUTCOME", "Outcome('x', achievements=(1,))", "the message and achievements of outcome() must be texts"),
        ("OUTCOME", "'x'", "outcome() must return an Outcome, not 'x'"),
    ],
)
def test_a_value_with_which_the_record_could_not_be_read_again_is_a_crash_of_the_world(tmp_path, place, code, words):
    room = draft(tmp_path, **{place: code})
    with pytest.raises(GameCrash, match="the world 'draft' failed") as crash:
        for who in ("ann", "bob"):
            room.call(who, "pick", at=1)
    assert words in str(crash.value.__cause__)
    assert [line.entry.do for line in room.record.tail if line.entry.do == "pick"] == ["pick"] * (place != "ACTION")
    assert replayed(room).digest() == restored(room).digest() == room.digest()


@pytest.mark.parametrize("outcome", ["Outcome('x', success=1, reward=True)", "Outcome('x', reward=1)", "None"])
def test_an_outcome_of_almost_the_right_types_is_kept_in_those_of_the_record(tmp_path, outcome):
    room = draft(tmp_path, OUTCOME=outcome)
    for who in ("ann", "bob"):
        room.call(who, "pick", at=1)
    assert replayed(room).digest() == restored(room).digest() == room.digest()
