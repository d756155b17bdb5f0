"""A world with secrets that can be redrawn."""

from cohabit import Action, Eye, Observation, Outcome, Seat, Stream, World, WorldSpec, action


class HighCard(World):
    """High card. Everybody holds a card from 1 to 20. In turn, stay or fold. The highest card that stays wins."""

    spec = WorldSpec(name="high_card", seats=(2, 6), pace="turns")

    def reset(self, seed: int, seats: list[Seat]) -> None:
        pack = list(range(1, 21))
        Stream(seed, "pack").shuffle(pack)
        self.cards = {seat.id: pack.pop() for seat in seats}
        self.stays: dict[str, bool] = {}

    def to_move(self) -> list[str]:
        return list(self.cards)[len(self.stays) :][:1]

    def observe(self, eye: Eye) -> Observation:
        shown = [seat for seat, stays in self.stays.items() if stays and not self.to_move()]
        cards = {s: card for s, card in self.cards.items() if s in (*shown, eye.seat) or eye.sees == "all"}
        return Observation(status={"cards": cards, "stays": dict(self.stays)}, step=len(self.stays))

    def legal(self, seat: Seat) -> list[Action]:
        return [Action("stay"), Action("fold")]

    @action()
    def stay(self, by: Seat) -> Outcome:
        """Stay in the game."""
        self.stays[by.id] = True
        return Outcome("You stay.", public="stays")

    @action()
    def fold(self, by: Seat) -> Outcome:
        """Fold: your card is never shown."""
        self.stays[by.id] = False
        return Outcome("You fold.", public="folds")

    def resample(self, eye: Eye, stream: Stream) -> None:
        known = self.observe(eye).status["cards"]
        pack = [card for card in range(1, 21) if card not in known.values()]
        stream.shuffle(pack)
        self.cards = {seat: known.get(seat) or pack.pop() for seat in self.cards}
