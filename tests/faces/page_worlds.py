"""Small worlds for the tests of the page: one where players arrive and earn rewards, and one that lists no choices."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from cohabit.model.action import Action
from cohabit.world import (
    Arrival,
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Seat,
    SeatId,
    World,
    WorldSpec,
    action,
)  # fmt: skip

BERTHS = 2
PRICE = 100


class Harbour(World):
    """Pace step. Every player gets a boat, as long as
    there is a berth, and earns 1.5 with `load`.

    A harbour <b>never</b> closes.
    """

    spec = WorldSpec(name="harbour", title="Harbour", seats=(0, BERTHS), quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.loads: dict[SeatId, int] = {seat.id: 0 for seat in seats}

    def to_move(self) -> Sequence[SeatId]:
        return list(self.loads)

    def is_over(self) -> bool:
        return False

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(boat, boat) for boat in self.loads]

    def arrive(self, arrival: Arrival) -> Seat:
        if len(self.loads) >= BERTHS:
            raise GameRejected("the harbour is full")
        seat = Seat(f"boat-{len(self.loads) + 1}")
        self.loads[seat.id] = 0
        return seat

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"{len(self.loads)} boats in the harbour", status={"boats": len(self.loads)})

    def returns(self) -> Mapping[SeatId, float]:
        return {boat: 1.5 * loads for boat, loads in self.loads.items()}

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("load")]

    @action()
    def load(self, by: Seat) -> Outcome:
        """Load the boat."""
        self.loads[by.id] += 1
        return Outcome(public=f"{by.id} is loaded")


class Auction(World):
    """An auction: bid for what you want."""

    spec = WorldSpec(
        name="auction", title="Auction", seats=1, seat_names=("bidder",), quick=True, open_information=True
    )

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.bids: list[str] = []

    def to_move(self) -> Sequence[SeatId]:
        return ["bidder"]

    def is_over(self) -> bool:
        return False

    def observe(self, eye: Eye) -> Observation:
        return Observation(text="\n".join(self.bids) or "No bids yet.", status={"bids": len(self.bids)})

    def returns(self) -> Mapping[SeatId, float]:
        return {}

    def legal(self, seat: Seat) -> None:
        return None

    @action()
    def bid(
        self,
        by: Seat,
        amount: Annotated[int, Meta(ge=1, le=PRICE, description="in coins")],
        item: Literal["lamp", "rug"],
        loud: bool = False,
        words: Annotated[str, Meta(max_length=20)] = "",
        parts: list[int] = [],  # noqa: B006 - never changed
        limits: dict[str, Any] | None = None,
    ) -> Outcome:
        """Bid for an item."""
        if amount == 13:
            raise GameRejected("13 is not accepted here")
        self.bids.append(f"{amount} for the {item}, {loud}, {words!r}, {parts}, {limits}")
        return Outcome(message=f"You bid {amount}.", public="a bid")
