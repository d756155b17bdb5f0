"""Items that change hands: given to the player in front, dropped on the ground, taken up again.

Nobody can hold more than nine of an item. What does not fit stays where it is, so nothing is lost.
"""

from cohabit.worlds.crafter.land import Land, Thing
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import BUNDLE, CREATURES_WALK, ITEMS, MOST


def give(land: Land, player: Player, item: int, amount: int) -> int:
    """Hand items to the player in front. Returns how many there was room for."""
    other = land.at[land.cell(player.x + player.dx, player.y + player.dy)]
    if not isinstance(other, Player):
        return 0
    given = min(amount, player.items[item], MOST - other.items[item])
    player.items[item] -= given
    other.items[item] += given
    return given


def drop(land: Land, player: Player, item: int, amount: int) -> int:
    """Put items on the ground in front, as a bundle. Returns how many."""
    x, y = player.x + player.dx, player.y + player.dy
    target = land.cell(x, y)
    dropped = min(amount, player.items[item])
    there = land.at[target]
    if dropped == 0:
        return 0
    if there is None and land.material[target] in CREATURES_WALK:
        there = land.add(BUNDLE, x, y)
        there.items = [0] * len(ITEMS)
    if not isinstance(there, Thing) or there.items is None:
        return 0
    player.items[item] -= dropped
    there.items[item] += dropped
    return dropped


def take(land: Land, player: Player, bundle: Thing) -> None:
    """Take from a bundle what can be carried."""
    assert bundle.items is not None
    for item, amount in enumerate(bundle.items):
        taken = min(amount, MOST - player.items[item])
        bundle.items[item] -= taken
        player.items[item] += taken
    if not any(bundle.items):
        land.remove(bundle)


def leave_behind(land: Land, player: Player) -> None:
    """Leave what a dead player carried on the ground, where it can lie there."""
    if any(player.items) and land.at[player.cell] is None and land.material[player.cell] in CREATURES_WALK:
        bundle = land.add(BUNDLE, player.x, player.y)
        bundle.items, player.items = player.items, [0] * len(ITEMS)
