"""The balance of creatures: every ten steps each chunk may gain or lose some, far from the players.

Only chunks that something has ever entered are balanced, as in the original.
"""

from collections.abc import Sequence
from typing import NamedTuple

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter.creatures import nearest
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.land import Chunk, Land
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import COW, GRASS, PATH, SKELETON, ZOMBIE


class Kind(NamedTuple):
    kind: int
    material: int  # that it lives on
    space: int  # cells of that material, from which on the chunk has some at all
    spawn_distance: int  # from every player
    removal_distance: int
    spawn_chance: float
    removal_chance: float
    change: int  # draws: whether, and where or which
    place: int


_ZOMBIES = Kind(ZOMBIE, GRASS, 50, 6, 0, 0.3, 0.4, purpose.SPAWN_ZOMBIE, purpose.ZOMBIE_PLACE)
_SKELETONS = Kind(SKELETON, PATH, 6, 7, 7, 0.1, 0.1, purpose.SPAWN_SKELETON, purpose.SKELETON_PLACE)
_COWS = Kind(COW, GRASS, 30, 5, 5, 0.01, 0.1, purpose.SPAWN_COW, purpose.COW_PLACE)
KINDS = (_ZOMBIES, _SKELETONS, _COWS)


def balance(land: Land, draws: Draws, players: Sequence[Player], light: float) -> None:
    """Spawn and remove creatures in all chunks. The darker it is, the more zombies there are."""
    zombies, cows = int(3.5 - 3 * light), int(1.5 + light)
    for chunk in list(land.chunks.values()):
        _balance(land, draws, players, chunk, _ZOMBIES, zombies, zombies)
        _balance(land, draws, players, chunk, _SKELETONS, 1, 2)
        _balance(land, draws, players, chunk, _COWS, 1, cows)


def _balance(
    land: Land, draws: Draws, players: Sequence[Player], chunk: Chunk, rule: Kind, fewest: int, most: int
) -> None:
    creatures = chunk.creatures[rule.kind]
    space = chunk.grass if rule.material == GRASS else chunk.path
    if len(creatures) < (fewest if space >= rule.space else 0):
        if draws.uniform(rule.change, chunk.number) < rule.spawn_chance:
            x, y = _cell_with(land, chunk, rule.material, draws.below(space, rule.place, chunk.number))
            if land.at[land.cell(x, y)] is None and nearest(players, x, y)[1] >= rule.spawn_distance:
                land.add(rule.kind, x, y)
    elif len(creatures) > most and draws.uniform(rule.change, chunk.number) < rule.removal_chance:
        creature = list(creatures)[draws.below(len(creatures), rule.place, chunk.number)]
        if nearest(players, creature.x, creature.y)[1] >= rule.removal_distance:
            land.remove(creature)


def _cell_with(land: Land, chunk: Chunk, material: int, number: int) -> tuple[int, int]:
    """The cell of a chunk that is the number-th of this material, counted from 0 by x and then by y."""
    for x in range(chunk.x, chunk.x + chunk.width):
        first = land.cell(x, chunk.y)
        column = land.material[first : first + chunk.height]
        found = column.count(material)
        if number < found:
            at = -1
            for _ in range(number + 1):
                at = column.index(material, at + 1)
            return x, chunk.y + at
        number -= found
    raise IndexError("a chunk has fewer cells of this material than it counted")
