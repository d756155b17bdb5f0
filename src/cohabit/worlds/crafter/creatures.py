"""The moves of cows, zombies, skeletons, arrows and plants in a step.

A creature that was killed in this step acts once more before it is gone, as in the original.
"""

from collections.abc import Sequence

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.land import FOUR_DIRECTIONS, Land, Thing
from cohabit.worlds.crafter.player import Player


def nearest(players: Sequence[Player], x: int, y: int) -> tuple[Player, int]:
    """The nearest player and the distance to them; of equally near ones, the one who acts first."""
    best, distance = players[0], abs(players[0].x - x) + abs(players[0].y - y)
    for player in players[1:]:
        away = abs(player.x - x) + abs(player.y - y)
        if away < distance:
            best, distance = player, away
    return best, distance


def _cow(land: Land, draws: Draws, players: Sequence[Player], cow: Thing) -> None:
    if cow.health <= 0:
        land.remove(cow)
    if draws.uniform(purpose.COW_MOVES, cow.cell) < 0.5:
        land.move(cow, *FOUR_DIRECTIONS[draws.below(4, purpose.COW_DIRECTION, cow.cell)])


def _zombie(land: Land, draws: Draws, players: Sequence[Player], zombie: Thing) -> None:
    if zombie.health <= 0:
        land.remove(zombie)
    cell = zombie.cell
    player, distance = nearest(players, zombie.x, zombie.y)
    if distance <= 8 and draws.uniform(purpose.ZOMBIE_CHASES, cell) < 0.9:
        land.move(zombie, *_toward(zombie, player, draws.uniform(purpose.ZOMBIE_AXIS, cell) < 0.8))
    else:
        land.move(zombie, *FOUR_DIRECTIONS[draws.below(4, purpose.ZOMBIE_DIRECTION, cell)])
    if abs(player.x - zombie.x) + abs(player.y - zombie.y) <= 1:
        if zombie.timer:
            zombie.timer -= 1
        else:
            damage = rules.ZOMBIE_DAMAGE_TO_SLEEPERS if player.sleeping else rules.ZOMBIE_DAMAGE
            player.hurt(land.harm(player, damage), "zombie")
            zombie.timer = rules.ZOMBIE_PAUSE


def _skeleton(land: Land, draws: Draws, players: Sequence[Player], skeleton: Thing) -> None:
    if skeleton.health <= 0:
        land.remove(skeleton)
    skeleton.timer = max(0, skeleton.timer - 1)
    cell = skeleton.cell
    player, distance = nearest(players, skeleton.x, skeleton.y)
    if distance <= 3:
        dx, dy = _toward(skeleton, player, draws.uniform(purpose.SKELETON_FLEES, cell) < 0.6)
        if land.move(skeleton, -dx, -dy):
            return
    if distance <= 5 and draws.uniform(purpose.SKELETON_SHOOTS, cell) < 0.5:
        _shoot(land, skeleton, *_toward(skeleton, player, True))
    elif distance <= 8 and draws.uniform(purpose.SKELETON_NEARS, cell) < 0.3:
        land.move(skeleton, *_toward(skeleton, player, draws.uniform(purpose.SKELETON_AXIS, cell) < 0.6))
    elif draws.uniform(purpose.SKELETON_MOVES, cell) < 0.2:
        land.move(skeleton, *FOUR_DIRECTIONS[draws.below(4, purpose.SKELETON_DIRECTION, cell)])


def _toward(thing: Thing, player: Player, long_axis: bool) -> tuple[int, int]:
    """One cell towards the player, along the longer or the shorter of the two distances."""
    dx, dy = player.x - thing.x, player.y - thing.y
    if abs(dx) > abs(dy) if long_axis else abs(dx) <= abs(dy):
        return (dx > 0) - (dx < 0), 0
    return 0, (dy > 0) - (dy < 0)


def _shoot(land: Land, skeleton: Thing, dx: int, dy: int) -> None:
    target = skeleton.cell + dx * land.stride + dy
    if not skeleton.timer and land.at[target] is None and land.material[target] in rules.ARROWS_FLY:
        arrow = land.add(rules.ARROW, skeleton.x + dx, skeleton.y + dy)
        arrow.dx, arrow.dy = dx, dy
        skeleton.timer = rules.SKELETON_RELOAD


def _arrow(land: Land, draws: Draws, players: Sequence[Player], arrow: Thing) -> None:
    target = arrow.cell + arrow.dx * land.stride + arrow.dy
    hit, material = land.at[target], land.material[target]
    if hit is not None:
        if isinstance(hit, Player):
            hit.hurt(land.harm(hit, rules.ARROW_DAMAGE), "arrow")
        else:
            hit.health = max(0, hit.health - rules.ARROW_DAMAGE)
        land.remove(arrow)
    elif material not in rules.ARROWS_FLY:
        land.remove(arrow)
        if material in (rules.TABLE, rules.FURNACE):
            land.set_material(target, rules.PATH)
    else:
        land.move(arrow, arrow.dx, arrow.dy, rules.ARROWS_FLY)


def _plant(land: Land, draws: Draws, players: Sequence[Player], plant: Thing) -> None:
    plant.timer += 1
    for dx, dy in FOUR_DIRECTIONS:
        neighbour = land.at[plant.cell + dx * land.stride + dy]
        if neighbour is not None and neighbour.kind in (rules.ZOMBIE, rules.SKELETON, rules.COW):
            plant.health = max(0, plant.health - 1)
            break
    if plant.health <= 0:
        land.remove(plant)


def _bundle(land: Land, draws: Draws, players: Sequence[Player], bundle: Thing) -> None:
    """A bundle lies where it is."""


UPDATES = {
    rules.COW: _cow,
    rules.ZOMBIE: _zombie,
    rules.SKELETON: _skeleton,
    rules.ARROW: _arrow,
    rules.PLANT: _plant,
    rules.BUNDLE: _bundle,
}
"""The function that moves each kind of thing in a step."""
