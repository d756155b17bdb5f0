"""A world for learners: it numbers its actions, shows itself as arrays, and closes the seats of players that are out."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cohabit.model.action import Action
from cohabit.world import (
    ArraySpec,
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Seat,
    SeatId,
    Stream,
    World,
    WorldSpec,
    action,
)  # fmt: skip

CELLS = 7
EARTH, TUNNEL, MOLE = range(3)


class Burrow(World):
    """Burrow. Moles take turns to dig in the dark, each in its own tunnel. One that digs deep meets the fox, and is out.

    Every new cell is worth a worm. The game ends after twenty digs, or when all moles are out."""

    spec = WorldSpec(name="burrow", seats=(1, 3), seat_names=("ash", "birch", "cedar"), pace="turns", quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.at = {seat: Stream(seed, f"start of {seat}").below(CELLS) for seat in self.order}
        self.dug = {seat: [cell == self.at[seat] for cell in range(CELLS)] for seat in self.order}
        self.worms: dict[SeatId, float] = dict.fromkeys(self.order, 0.0)
        self.out: list[SeatId] = []
        self.digs = 0
        self.turn = 0

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(seat, seat) for seat in self.order if seat not in self.out]

    def to_move(self) -> Sequence[SeatId]:
        left = [seat for seat in self.order[self.turn :] + self.order[: self.turn] if seat not in self.out]
        return left[:1] if self.digs < 20 else []

    def observe(self, eye: Eye) -> Observation:
        shown = {seat: self._row(seat) for seat in self.order if eye.sees == "all" or seat == eye.seat}
        rows = [f"{seat}: {''.join('.#@'[kind] for kind in row)}" for seat, row in shown.items()]
        return Observation(text="\n".join(rows) or "it is dark", status={"digs": self.digs}, step=self.digs)

    def _row(self, seat: SeatId) -> list[int]:
        row = [TUNNEL if dug else EARTH for dug in self.dug[seat]]
        row[self.at[seat]] = MOLE
        return row

    @action()
    def dig(self, by: Seat, direction: Literal["left", "right"], deep: bool = False) -> Outcome:
        """Dig one cell further, or deep."""
        to = self.at[by.id] + (1 if direction == "right" else -1)
        if not 0 <= to < CELLS:
            raise GameRejected("there is stone")
        self.digs += 1
        self.turn = (self.order.index(by.id) + 1) % len(self.order)
        if deep:
            self.out.append(by.id)
            return Outcome("the fox was there", public=f"{by.id} is out")
        self.worms[by.id] += not self.dug[by.id][to]
        self.dug[by.id][to] = True
        self.at[by.id] = to
        return Outcome("you dig")

    def legal(self, seat: Seat) -> Sequence[Action]:
        at = self.at[seat.id]
        ways = [way for way, free in (("left", at > 0), ("right", at < CELLS - 1)) if free]
        return [Action("dig", {"direction": way}) for way in ways]

    def returns(self) -> Mapping[SeatId, float]:
        return dict(self.worms)

    def numbered(self) -> Sequence[Action]:
        ways = ("right", "left")
        return [Action("dig", {"direction": way, "deep": deep}) for deep in (False, True) for way in ways]

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {
            "tunnel": ArraySpec(shape=(CELLS,), high=MOLE),
            "worms": ArraySpec(shape=(1,), dtype="float32", high=CELLS),
        }

    def array(self, eye: Eye, form: str) -> Any:
        if form == "worms":
            return np.array([self.worms.get(eye.seat or "", 0.0)], np.float32)
        return np.array(self._row(eye.seat) if eye.seat else [EARTH] * CELLS, np.uint8)
