"""A small world with a front end, and with a command that only the front end needs."""

from collections.abc import Sequence

from cohabit.world import Eye, Observation, Outcome, Seat, SeatId, World, WorldSpec, action, query


class Pegs(World):
    """Pegs. A player puts a peg; three pegs end the game."""

    spec = WorldSpec(
        name="pegs", seats=1, seat_names=("peg",), open_information=True, quick=True, front_end="pegs.html"
    )

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.seat, self.pegs, self.colour = seats[0].id, 0, "red"

    def to_move(self) -> Sequence[SeatId]:
        return [self.seat] if self.pegs < 3 else []

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"{self.pegs} pegs, {self.colour}", status={"pegs": self.pegs}, step=self.pegs)

    @action()
    def put(self, by: Seat) -> Outcome:
        """Put a peg."""
        self.pegs += 1
        return Outcome("Put.", public=f"{by.name} puts a peg")

    @action(for_model=False)
    def paint(self, by: Seat, colour: str) -> Outcome:
        """Choose the colour in which the front end draws pegs."""
        self.colour = colour
        return Outcome("Painted.")

    @query(for_model=False)
    def palette(self, eye: Eye) -> list[str]:
        """The colours that the front end offers."""
        return ["red", "blue"]


class Hostile(Pegs):
    """Its front end attacks the page, the member and the room."""

    spec = WorldSpec(name="hostile", seats=1, seat_names=("peg",), open_information=True, front_end="hostile.html")


class Flood(Pegs):
    """Its front end sends messages without end."""

    spec = WorldSpec(name="flood", seats=1, seat_names=("peg",), open_information=True, front_end="flood.html")


class Leaving(Pegs):
    """Its front end is a link to a file elsewhere."""

    spec = WorldSpec(name="leaving", seats=1, open_information=True, front_end="elsewhere/leaving.html")


class Missing(Pegs):
    """Its front end does not exist."""

    spec = WorldSpec(name="missing", seats=1, open_information=True, front_end="missing.html")
