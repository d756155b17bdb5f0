"""Nim: the example of a complete world in one file."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cohabit.model.action import Action
from cohabit.world import (
    ArraySpec,
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    World,
    WorldSpec,
    action,
    query,
)  # fmt: skip

MAX_STONES = 10_000


class Nim(World):
    """Nim. Players take turns to remove 1 to 3 stones from the heap. The player who takes the last one wins."""

    spec = WorldSpec(
        name="nim", version=2, title="Nim", seats=2, seat_names=("first", "second"), pace="turns", quick=True,
        open_information=True,
    )  # fmt: skip
    keys = {str(n): Action("take", {"n": n}) for n in (1, 2, 3)}  # noqa: RUF012

    def __init__(self, stones: Annotated[int, Range(1, MAX_STONES)] | None = None) -> None:
        self.initial_stones = stones

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.stones = self.initial_stones or Stream(seed, "heap").between(12, 21)
        self.moves = 0
        self.last = ""
        self.winner: SeatId | None = None

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.winner else [self.order[self.moves % 2]]

    def observe(self, eye: Eye) -> Observation:
        heap = "o" * min(self.stones, 60) or "(empty)"
        text = f"{self.last}\nThe heap: {heap}  ({_stones(self.stones)})".strip()
        if self.winner and eye.seat:
            text += "\nYou won." if eye.seat == self.winner else "\nYou lost."
        status: dict[str, object] = {"stones": self.stones}
        if eye.seat:
            status["you"] = eye.seat
        if self.winner:
            status["winner"] = self.winner
        return Observation(text=text, status=status, step=self.moves)

    @action(preconditions=["It is your turn"])
    def take(self, by: Seat, n: Annotated[int, Range(1, 3, "how many stones")]) -> Outcome:
        """Take 1 to 3 stones from the heap."""
        if n > self.stones:
            raise GameRejected(f"only {_stones(self.stones)} {_are(self.stones)} left")
        self.stones -= n
        self.moves += 1
        self.last = f"{by.name} took {n}."
        if self.stones == 0:
            self.winner = by.id
            public = f"{by.name} takes {n} and wins"
            return Outcome("You took the last stone and won.", public=public, reward=1.0)
        return Outcome(f"You took {n}; {self.stones} {_are(self.stones)} left.", public=f"{by.name} takes {n}")

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("take", {"n": n}) for n in range(1, min(3, self.stones) + 1)]

    def skip(self, seat: Seat) -> Outcome:
        return self.take(seat, 1)

    @query()
    def heap(self, eye: Eye) -> int:
        """The number of stones left."""
        return self.stones

    def returns(self) -> Mapping[SeatId, float]:
        return {seat: 1.0 if seat == self.winner else -1.0 for seat in self.order} if self.winner else {}

    def standings(self) -> Sequence[Standing]:
        best_first = sorted(self.order, key=lambda s: s != self.winner)
        return [Standing(s, s, int(s == self.winner)) for s in best_first]

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {"heap": ArraySpec(shape=(MAX_STONES.bit_length() + 1,), high=1)}

    def array(self, eye: Eye, form: str) -> Any:
        """The number of stones in binary, its lowest digit first; then whether this eye is to move."""
        import numpy as np  # only learners need it

        digits = [self.stones >> place & 1 for place in range(MAX_STONES.bit_length())]
        return np.array([*digits, eye.seat in self.to_move()], np.uint8)


def _stones(n: int) -> str:
    return f"{n} stone{'' if n == 1 else 's'}"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
