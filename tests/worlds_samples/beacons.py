"""A world with a scene, of which everybody sees a part, and with keys."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cohabit import (
    Action,
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Stream,
    World,
    WorldSpec,
    action,
)

CELLS = 5


class Beacons(World):
    """Beacons. Each player lights cells of its own shore, which only it sees, until three are lit. Fog comes and goes."""

    spec = WorldSpec(name="beacons", seats=2, seat_names=("east", "west"), quick=True)
    keys = {str(cell): Action("light", {"cell": cell}) for cell in range(CELLS)}  # noqa: RUF012

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.lit: dict[SeatId, list[int]] = {seat.id: [] for seat in seats}
        self.fog = False

    def to_move(self) -> Sequence[SeatId]:
        return [seat for seat, lit in self.lit.items() if len(lit) < 3]

    def is_over(self) -> bool:
        return not self.to_move()

    def _seen(self, eye: Eye) -> dict[SeatId, list[int]]:
        return {seat: list(lit) for seat, lit in self.lit.items() if eye.sees == "all" or seat == eye.seat}

    def observe(self, eye: Eye) -> Observation:
        return Observation(
            text=f"fog {self.fog}", status={"lit": self._seen(eye)}, step=len(self.lit[eye.seat]) if eye.seat else 0
        )

    def scene(self, eye: Eye) -> Mapping[str, Any]:
        layers: dict[str, Any] = {"shore": [0] * CELLS, "lights": self._seen(eye)}
        return {**layers, "fog": [3, 4]} if self.fog else layers

    @action()
    def light(self, by: Seat, cell: Annotated[int, Range(0, CELLS - 1)]) -> Outcome:
        """Light a cell of your shore."""
        if cell in self.lit[by.id] or by.id not in self.to_move():
            raise GameRejected("it is lit")
        self.lit[by.id].append(cell)
        return Outcome("It burns.")

    @action()
    def turn_fog(self, by: Seat) -> Outcome:
        """Let fog come, or go."""
        if by.id not in self.to_move():
            raise GameRejected("your shore is lit")
        self.fog = not self.fog
        return Outcome(public="turns the fog")

    def legal(self, seat: Seat) -> Sequence[Action]:
        if seat.id not in self.to_move():
            return []
        return [Action("light", {"cell": cell}) for cell in range(CELLS) if cell not in self.lit[seat.id]]

    def resample(self, eye: Eye, stream: Stream) -> None:
        for seat, lit in self.lit.items():
            if eye.sees != "all" and seat != eye.seat:
                cells = list(range(CELLS))
                stream.shuffle(cells)
                self.lit[seat] = cells[: 3 if len(lit) == 3 else stream.below(3)]
