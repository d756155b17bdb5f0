"""A world with more choices than the page shows at once."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from cohabit.model.action import Action
from cohabit.world import Eye, Observation, Outcome, Range, Seat, SeatId, World, WorldSpec, action

PAGES = 90


class Catalogue(World):
    """Catalogue. Open a page."""

    spec = WorldSpec(name="catalogue", seats=1, open_information=True, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.seat, self.page = seats[0].id, 0

    def to_move(self) -> Sequence[SeatId]:
        return [self.seat]

    def is_over(self) -> bool:
        return False

    def returns(self) -> Mapping[SeatId, float]:
        return {}

    def observe(self, eye: Eye) -> Observation:
        return Observation(text="A catalogue.", status={"open": self.page}, step=self.page)

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("turn_to", {"page": page}) for page in range(1, PAGES + 1)]

    @action()
    def turn_to(self, by: Seat, page: Annotated[int, Range(1, PAGES)]) -> Outcome:
        """Open the catalogue at a page."""
        self.page = page
        return Outcome(f"Page {page}.")
