"""Actions that get a player nothing new: collecting what it cannot carry, and placing and collecting one stone."""

from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from cohabit.worlds.crafter.player import Count, Player
from cohabit.worlds.crafter.rules import STONE

_Counts = Annotated[dict[Count, Count], Meta(max_length=1000)]


class Repeated(NamedTuple):
    """Of one player."""

    lost: int = 0  # things collected with nine of their kind in the inventory
    collected: int = 0  # stones that a player had placed
    placed: int = 0  # stones that it had collected so


class Repeats(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """By the numbers of players. A stone that a player has placed does not count, no matter who collects it."""

    stones: Annotated[dict[Count, None], Meta(max_length=10_000)] = {}  # cells with stones of players; an ordered set
    lost: _Counts = {}
    collected: _Counts = {}
    placed: _Counts = {}

    def or_none(self) -> "Repeats | None":
        return self if self.stones or self.lost else None

    def of(self, player: Player) -> Repeated:
        number = player.number
        return Repeated(self.lost.get(number, 0), self.collected.get(number, 0), self.placed.get(number, 0))

    def collect(self, player: Player, cell: int) -> None:
        """A player has collected an item."""
        is_placed = cell in self.stones
        self.stones.pop(cell, None)
        if player.wasted:
            self.lost[player.number] = self.lost.get(player.number, 0) + 1
        elif is_placed:
            self.collected[player.number] = self.collected.get(player.number, 0) + 1

    def place(self, player: Player, material: int, cell: int) -> None:
        """A player has placed something."""
        if material != STONE:
            return
        self.stones[cell] = None
        before = self.of(player)
        if before.collected > before.placed:
            self.placed[player.number] = before.placed + 1
