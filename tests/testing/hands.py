"""A world with secrets that keeps them. The tests of the checker are changes of this text."""

from collections.abc import Sequence
from typing import Annotated

from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.world import (
    Eye,
    GameRejected,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    World,
    WorldSpec,
    action,
    query,
)

Card = Annotated[int, Range(1, 24, "a card")]


class Hands(World):
    """Hands. Each player holds five cards, which nobody else sees. Play one in turn; the highest of a round wins it."""

    spec = WorldSpec(name="hands", seats=3, seat_names=("p1", "p2", "p3"), pace="turns")

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        pack = list(range(1, 25))
        Stream(seed, "pack").shuffle(pack)
        self.hands = {name: sorted(pack[5 * i : 5 * i + 5]) for i, name in enumerate(self.order)}
        self.rest = pack[15:]
        self.table: list[int] = []
        self.played: list[int] = []
        self.won = dict.fromkeys(self.order, 0)
        self.dice = Stream(seed, "dice")

    def to_move(self) -> Sequence[SeatId]:
        return [self.order[len(self.table)]] if any(self.hands.values()) else []

    def observe(self, eye: Eye) -> Observation:
        shown = {name: hand for name, hand in self.hands.items() if eye.sees == "all" or name == eye.seat}
        lines = [f"Table: {self.table}", *(f"{name} holds {hand}" for name, hand in shown.items())]
        names = list(self.order)
        return Observation(text="\n".join([*lines, *names]), status={"table": self.table, "hands": shown})

    def standings(self) -> Sequence[Standing]:
        return [Standing(name, name, self.won[name]) for name in self.order]

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("play", {"card": card}) for card in self.hands[seat.id]]

    @query()
    def count(self, eye: Eye, of: SeatId) -> int:
        """How many cards somebody holds."""
        return len(self.hands.get(of, ()))

    @action()
    def play(self, by: Seat, card: Card) -> Outcome:
        """Play a card from your hand."""
        if card not in self.hands[by.id]:
            raise GameRejected("you do not hold this card")
        self.hands[by.id].remove(card)
        self.table = [*self.table, card]
        self.played.append(card)
        public = f"plays the {card}"
        if len(self.table) == len(self.order):
            self.won[self.order[self.table.index(max(self.table))]] += 1
            self.table = []
        return Outcome(f"You play the {card}.", public=public)

    def resample(self, eye: Eye, stream: Stream) -> None:
        if eye.sees == "all":
            return
        hidden = [name for name in self.order if name != eye.seat or eye.sees == "public"]
        cards = [card for name in hidden for card in self.hands[name]] + self.rest
        stream.shuffle(cards)
        for name in hidden:
            count = len(self.hands[name])
            self.hands[name], cards = sorted(cards[:count]), cards[count:]
        self.rest = cards
        self.dice = Stream(stream.bits64(), "dice")
