"""Dice whose luck can be checked."""

from collections.abc import Sequence

from msgspec import to_builtins

from cohabit import Action, Eye, Observation, Outcome, Seat, SeatId, Standing, Stream, World, WorldSpec, action, query
from cohabit.fair import Draw, Proof, draw_secret


class HighDice(World):
    """Everybody throws two dice, ten times. The highest throw gets a point. Call `commit` before each throw."""

    spec = WorldSpec(name="high_dice", seats=(2, 6), pace="turns", deals_once=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.game = f"high dice {Stream(seed, 'game').bits64():016x}"
        self.secrets = Stream(seed, "secrets")
        self.points = [0] * len(seats)
        self.missed = [False] * len(seats)
        self.proofs: list[Proof] = []
        self._begin()

    def _begin(self) -> None:
        self.draw = Draw.begin(self.game, len(self.proofs) + 1, len(self.order), draw_secret(self.secrets))

    def to_move(self) -> Sequence[SeatId]:
        return [self.order[seat] for seat in self.draw.waits_for()] if len(self.proofs) < 10 else []

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("commit" if self.draw.phase == "commit" else "reveal")]

    def observe(self, eye: Eye) -> Observation:
        promise = self.draw.promise
        status = {"points": list(self.points), "phase": self.draw.phase, "promise": to_builtins(promise)}
        return Observation(text=f"Throw {promise.number}. Points: {self.points}", status=status, step=promise.number)

    @action()
    def commit(self, by: Seat, commitment: str = "") -> Outcome:
        """Get ready for the throw. A program may add the commitment to a nonce."""
        seat = self.order.index(by.id)
        self.draw = self.draw.commit(seat, commitment if commitment and not self.missed[seat] else None)
        return self._throw_if_ready()

    @action()
    def reveal(self, by: Seat, nonce: str = "") -> Outcome:
        """Reveal your nonce. Without it the throw is void, and you add nothing in the rest of the game."""
        seat = self.order.index(by.id)
        self.draw = self.draw.reveal(seat, nonce) if nonce else self.draw.give_up(seat)
        self.missed[seat] = not nonce
        return self._throw_if_ready()

    def _throw_if_ready(self) -> Outcome:
        if self.draw.phase not in ("ready", "void"):
            return Outcome("Wait for the others.")
        text = "The throw is void."
        if self.draw.phase == "ready":
            luck = self.draw.luck()
            throws = [sum(luck.dice(2)) for _ in self.order]
            best = throws.index(max(throws))
            self.points[best] += 1
            text = f"Thrown: {throws}. A point for {self.order[best]}."
        self.proofs.append(self.draw.proof())
        self._begin()
        return Outcome(text, public=text)

    @query()
    def proofs_so_far(self, eye: Eye) -> list[Proof]:
        """Everything that is needed to check the throws."""
        return list(self.proofs)

    def standings(self) -> Sequence[Standing]:
        return [Standing(seat, seat, n) for n, seat in sorted(zip(self.points, self.order, strict=True), reverse=True)]
