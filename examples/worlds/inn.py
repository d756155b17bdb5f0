"""Seats that open and close while the game runs."""

from collections.abc import Sequence
from typing import Any, Literal

from cohabit import Arrival, Eye, GameRejected, Observation, Outcome, Seat, SeatId, World, WorldSpec, action

BEDS = 4


class Inn(World):
    """Inn. Up to four guests at once; they arrive and leave at any time. Only its owner sees what is in a bag."""

    spec = WorldSpec(name="inn", seats=(0, BEDS), quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.guests: dict[SeatId, dict[str, Any]] = {seat.id: {"name": seat.name, "bag": []} for seat in seats}
        self.arrived = 0

    def seats_now(self) -> Sequence[Seat]:
        return [Seat(seat, guest["name"]) for seat, guest in self.guests.items()]

    def to_move(self) -> Sequence[SeatId]:
        return list(self.guests)

    def is_over(self) -> bool:
        return False  # an empty inn waits for guests

    def observe(self, eye: Eye) -> Observation:
        own = {"bag": list(self.guests[eye.seat]["bag"])} if eye.seat in self.guests and eye.sees != "public" else {}
        bags = {"bags": {seat: list(guest["bag"]) for seat, guest in self.guests.items()}} if eye.sees == "all" else {}
        names = ", ".join(guest["name"] for guest in self.guests.values())
        return Observation(text=f"At the inn: {names or 'nobody'}", status={**own, **bags})

    def arrive(self, arrival: Arrival) -> Seat:
        if len(self.guests) >= BEDS:
            raise GameRejected("every bed is taken")
        self.arrived += 1
        seat = arrival.seat if arrival.seat and arrival.seat not in self.guests else f"bed-{self.arrived}"
        self.guests[seat] = {"name": arrival.name, "bag": []}
        return Seat(seat, arrival.name)

    def depart(self, seat: Seat, mode: Literal["left", "removed"]) -> None:
        del self.guests[seat.id]

    @action()
    def pack(self, by: Seat, what: str) -> Outcome:
        """Put something into your bag, which holds five things."""
        bag = self.guests[by.id]["bag"]
        if len(bag) >= 5:
            raise GameRejected("your bag is full")
        bag.append(what)
        return Outcome(f"You pack {what!r}.")
