"""What players do: walk, strike, collect, place, make."""

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter import trade
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.land import Land, Thing
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENT,
    ARROW,
    BUNDLE,
    COLLECT,
    COW,
    COW_FOOD,
    DAMAGE,
    DIRECTIONS,
    DO,
    LAVA,
    MAKE,
    MOST,
    NOOP,
    PLACE,
    PLANT,
    PLANT_FOOD,
    PLAYERS_WALK,
    SKELETON,
    SLEEP,
    WATER,
    ZOMBIE,
)


def act(land: Land, draws: Draws, player: Player, action: int | trade.Trade, fighting: bool) -> None:
    """Carry out an action. A sleeper goes on sleeping until it is rested."""
    if player.sleeping:
        if player.energy < MOST:
            if action not in (SLEEP, NOOP):
                player.failure = ("asleep",)
            action = SLEEP
        else:
            player.sleeping = False
            player.achieve(ACHIEVEMENT["wake_up"])
    if isinstance(action, trade.Trade):
        trade.carry_out(land, player, action)
    elif action in DIRECTIONS:
        _walk(land, player, *DIRECTIONS[action])
    elif action == DO:
        target = in_front(land, player)
        thing = land.at[target]
        if thing is None:
            _collect(land, draws, player, target)
        elif isinstance(thing, Player):
            _strike_player(player, thing, fighting)
        else:
            _touch(land, player, thing)
    elif action == SLEEP:
        if player.energy < MOST:
            player.sleeping = True
        else:
            player.failure = ("rested",)
    elif action in PLACE:
        _place(land, player, action)
    elif action in MAKE:
        _make(land, player, action)
    player.live()


def in_front(land: Land, player: Player) -> int:
    """The cell that a player faces."""
    return player.cell + player.dx * land.stride + player.dy


def _walk(land: Land, player: Player, dx: int, dy: int) -> None:
    player.dx, player.dy = dx, dy
    if not land.move(player, dx, dy, PLAYERS_WALK):
        target = in_front(land, player)
        thing = land.at[target]
        player.failure = ("blocked", land.material[target] if thing is None else thing.kind)
    if land.material[player.cell] == LAVA:
        player.health = 0
        player.hurt_by = "lava"


def _damage(player: Player) -> int:
    return next((damage for sword, damage in DAMAGE if player.items[sword]), 1)


def _strike_player(player: Player, other: Player, fighting: bool) -> None:
    if fighting:
        other.hurt(_damage(player), player.name)
    else:
        player.failure = ("peace",)


def _touch(land: Land, player: Player, thing: Thing) -> None:
    if thing.kind == PLANT:
        if thing.ripe:
            thing.timer = 0
            player.food += PLANT_FOOD
            player.achieve(ACHIEVEMENT["eat_plant"])
        else:
            player.failure = ("unripe",)
    elif thing.kind == BUNDLE:
        trade.take(land, player, thing)
    elif thing.kind == ARROW:
        player.failure = ("nothing", ARROW)
    else:
        _strike(player, thing)


def _strike(player: Player, creature: Thing) -> None:
    creature.health = max(0, creature.health - _damage(player))
    player.struck = (creature.kind, creature.health)
    if creature.health > 0:
        return
    if creature.kind == ZOMBIE:
        player.achieve(ACHIEVEMENT["defeat_zombie"])
    elif creature.kind == SKELETON:
        player.achieve(ACHIEVEMENT["defeat_skeleton"])
    elif creature.kind == COW:
        player.food += COW_FOOD
        player.hunger = 0.0
        player.achieve(ACHIEVEMENT["eat_cow"])


def _collect(land: Land, draws: Draws, player: Player, target: int) -> None:
    material = land.material[target]
    if material == WATER:
        player.thirst = 0.0
    found = COLLECT.get(material)
    if found is None:
        player.failure = ("nothing", material)
        return
    if found.tool is not None and not player.items[found.tool]:
        player.failure = ("tool", found.tool)
        return
    if found.leaves != material:
        land.set_material(target, found.leaves)
    if draws.uniform(purpose.COLLECT, target) > found.chance:
        player.failure = ("unlucky",)
        return
    if found.item is None:
        player.drink += 1
    else:
        player.gain(found.item)
    player.achieve(found.achievement)


def _place(land: Land, player: Player, action: int) -> None:
    target = in_front(land, player)
    placing = PLACE[action]
    material, thing = land.material[target], land.at[target]
    if thing is not None:
        player.failure = ("where", thing.kind)
    elif material not in placing.where:
        player.failure = ("where", material)
    elif player.items[placing.item] < placing.amount:
        player.failure = ("short", placing.item, placing.amount)
    else:
        player.items[placing.item] -= placing.amount
        if placing.places == PLANT:
            land.add(PLANT, player.x + player.dx, player.y + player.dy)
        else:
            land.set_material(target, placing.places)
        player.achieve(placing.achievement)


def _make(land: Land, player: Player, action: int) -> None:
    making = MAKE[action]
    missing = [material for material in making.nearby if not is_near(land, player, material)]
    if missing:
        player.failure = ("nearby", *missing)
        return
    for item, amount in making.uses:
        if player.items[item] < amount:
            player.failure = ("short", item, amount)
            return
    for item, amount in making.uses:
        player.items[item] -= amount
    player.gain(making.gives)
    player.achieve(making.achievement)


def is_near(land: Land, player: Player, material: int) -> bool:
    """Whether the material is on one of the nine cells around the player.

    At the western and northern edge nothing is near, because the original slices from a negative index there."""
    if player.x == 0 or player.y == 0:
        return False
    above = player.cell - 1
    return any(
        material in land.material[column : column + 3] for column in (above - land.stride, above, above + land.stride)
    )
