"""Items that change hands: given to the player in front, dropped on the ground, taken up again.

Nobody can hold more than nine of an item. What does not fit stays where it is, so nothing is lost.
"""

from typing import Literal

from msgspec import Struct

from cohabit.worlds.crafter.land import Land, Thing
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import BUNDLE, CREATURES_WALK, ITEMS, MOST


class Trade(Struct, frozen=True):
    """An action that hands on items."""

    how: Literal["give", "drop"]
    item: int
    amount: int


def why_not(land: Land, player: Player, how: Literal["give", "drop"]) -> str | None:
    """Why nothing can be given or dropped now, or None."""
    if not any(player.items):
        return "you carry nothing"
    target = land.cell(player.x + player.dx, player.y + player.dy)
    there = land.at[target]
    if how == "give":
        return None if isinstance(there, Player) else "nobody is in front of you"
    lies = isinstance(there, Thing) and there.items is not None
    return None if lies or (there is None and land.material[target] in CREATURES_WALK) else "there is no space for it"


def carry_out(land: Land, player: Player, trade: Trade) -> None:
    """Give items to the player in front, or drop them there."""
    if player.items[trade.item] < trade.amount:
        player.failure = ("short", trade.item, trade.amount)
    elif trade.how == "give":
        _give(land, player, trade)
    else:
        _drop(land, player, trade)


def _give(land: Land, player: Player, trade: Trade) -> None:
    other = land.at[land.cell(player.x + player.dx, player.y + player.dy)]
    if not isinstance(other, Player):
        player.failure = ("nobody",)
        return
    given = min(trade.amount, MOST - other.items[trade.item])
    if not given:
        player.failure = ("full", other.name)
        return
    player.items[trade.item] -= given
    other.items[trade.item] += given
    player.gave = (trade.item, given, other.name)
    other.received.append((trade.item, given, player.name))


def _drop(land: Land, player: Player, trade: Trade) -> None:
    x, y = player.x + player.dx, player.y + player.dy
    target = land.cell(x, y)
    there = land.at[target]
    if there is None and land.material[target] in CREATURES_WALK:
        there = land.add(BUNDLE, x, y)
        there.items = [0] * len(ITEMS)
    if not isinstance(there, Thing) or there.items is None:
        player.failure = ("where", land.material[target] if there is None else there.kind)
        return
    player.items[trade.item] -= trade.amount
    there.items[trade.item] += trade.amount
    player.gave = (trade.item, trade.amount, "")


def take(land: Land, player: Player, bundle: Thing) -> None:
    """Take from a bundle what can be carried."""
    assert bundle.items is not None
    for item, amount in enumerate(bundle.items):
        taken = min(amount, MOST - player.items[item])
        bundle.items[item] -= taken
        player.items[item] += taken
        if taken:
            player.received.append((item, taken, ""))
    if not any(bundle.items):
        land.remove(bundle)
    elif not player.received:
        player.failure = ("nothing", BUNDLE)


def leave_behind(land: Land, player: Player) -> None:
    """Leave what a dead player carried on the ground, where it can lie there."""
    if any(player.items) and land.at[player.cell] is None and land.material[player.cell] in CREATURES_WALK:
        bundle = land.add(BUNDLE, player.x, player.y)
        bundle.items, player.items = player.items, [0] * len(ITEMS)
