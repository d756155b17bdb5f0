"""Pig, a dice game: a complete world in one file. Check it with `cohabit check examples/pig.py`."""

from collections.abc import Sequence

from cohabit import Action, Eye, Observation, Outcome, Seat, SeatId, Standing, Stream, World, WorldSpec, action


class Pig(World):
    """Pig. On your turn roll the die as often as you dare; what you roll is added to the pot.

    Hold to bank the pot. A one empties the pot and ends your turn. First to bank the goal wins.
    """

    spec = WorldSpec(name="pig", title="Pig", seats=(2, 6), pace="turns", quick=True)

    def __init__(self, goal: int = 50) -> None:
        self.goal = goal

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.die = Stream(seed, "die")
        self.order = [seat.id for seat in seats]
        self.bank = dict.fromkeys(self.order, 0)
        self.turn, self.pot = 0, 0

    def to_move(self) -> Sequence[SeatId]:
        over = any(banked >= self.goal for banked in self.bank.values())
        return [] if over else [self.order[self.turn % len(self.order)]]

    def observe(self, eye: Eye) -> Observation:
        banks = "  ".join(f"seat {seat}: {banked}" for seat, banked in self.bank.items())
        return Observation(text=f"Banked  {banks}\nIn the pot: {self.pot}", status={"pot": self.pot}, step=self.turn)

    @action(preconditions=["It is your turn"])
    def roll(self, by: Seat) -> Outcome:
        """Roll the die: two to six go into the pot, a one empties it and ends your turn."""
        rolled = self.die.between(1, 6)
        if rolled == 1:
            self.pot, self.turn = 0, self.turn + 1
            return Outcome("A one: the pot is gone.", public="rolls a one")
        self.pot += rolled
        return Outcome(f"A {rolled}: the pot is {self.pot}.", public=f"rolls a {rolled}")

    @action(preconditions=["It is your turn"])
    def hold(self, by: Seat) -> Outcome:
        """Bank the pot and end your turn."""
        self.bank[by.id] += self.pot
        self.pot, self.turn = 0, self.turn + 1
        return Outcome(f"You have {self.bank[by.id]}.", public=f"holds at {self.bank[by.id]}")

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("roll"), Action("hold")] if self.pot else [Action("roll")]

    def standings(self) -> Sequence[Standing]:
        return [Standing(seat, seat, n) for seat, n in sorted(self.bank.items(), key=lambda x: -x[1])]
