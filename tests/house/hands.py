"""A world of two hands. In each, both players play one card, which nobody else sees before the hand is over."""

from collections.abc import Sequence

from cohabit.world import Eye, Observation, Outcome, Seat, SeatId, Told, World, WorldSpec, action


class Hands(World):
    """Two hands of one card each."""

    spec = WorldSpec(name="hands", seats=2, pace="turns", quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.seats = [seat.id for seat in seats]
        self.played: list[int] = []

    def hand_number(self) -> int:
        return len(self.played) // 2 + 1

    def to_move(self) -> Sequence[SeatId]:
        return [] if len(self.played) == 4 else [self.seats[len(self.played) % 2]]

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"hand {self.hand_number()}")

    @action()
    def play(self, by: Seat, card: int) -> Outcome:
        """Play a card, face down."""
        self.played.append(card)
        return Outcome("played", told=(Told(f"{by.id} plays", seats=(by.id,)),))
