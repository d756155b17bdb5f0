"""The actions of the players in a step: walk, strike, collect, place, make, and live."""

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.batch.draws import StepDraws
from cohabit.worlds.crafter.batch.games import Games
from cohabit.worlds.crafter.batch.library import Array
from cohabit.worlds.crafter.batch.tables import MATERIAL_BITS, NO_ITEM, THING_BITS, standing


def act(games: Games, draws: StepDraws, actions: Array) -> None:
    """Carry out the actions. A sleeper goes on sleeping until it is rested."""
    xp, where = games.xp, games.library.where
    tired = games.energy < rules.MOST
    rested = where(games.sleeping & ~tired)
    actions = xp.where(games.sleeping & tired, rules.SLEEP, actions)
    games.sleeping = games.sleeping & tired
    games.achieve(rested, rules.ACHIEVEMENT["wake_up"])
    _walk(games, where((actions >= rules.LEFT) & (actions <= rules.DOWN)), actions)
    _do(games, draws, where(actions == rules.DO))
    games.sleeping = games.sleeping | ((actions == rules.SLEEP) & tired)
    _place(games, where((actions >= games.tables.first_place) & (actions < games.tables.first_make)), actions)
    _make(games, where(actions >= games.tables.first_make), actions)
    _live(games)


def _in_front(games: Games, game: Array) -> Array:
    return games.player_cell[game] + games.tables.delta[games.facing[game]]


def _walk(games: Games, game: Array, actions: Array) -> None:
    xp, put, tables = games.xp, games.library.put, games.tables
    direction = actions[game] - rules.LEFT
    put(games.facing, game, direction)
    start = game * tables.cells
    here = games.player_cell[game]
    there = here + tables.delta[direction]
    byte = games.map[start + there]
    free = games.library.where(games.library.look_up(tables.player_walks, byte))
    movers, direction, start, old, new = game[free], direction[free], start[free], here[free], there[free]
    put(games.map, start + new, byte[free] | _STANDS)
    games.clear(start + old)
    put(games.player_cell, movers, new)
    put(games.player_x, movers, games.player_x[movers] + tables.dx[direction])
    put(games.player_y, movers, games.player_y[movers] + tables.dy[direction])
    games.enter(movers, tables.chunk_at[new], xp.zeros_like(movers))
    ground = games.map[game * tables.cells + games.player_cell[game]] & MATERIAL_BITS
    put(games.vitality, game[ground == rules.LAVA], 0)


def _do(games: Games, draws: StepDraws, game: Array) -> None:
    target = _in_front(games, game)
    byte = games.map[game * games.tables.cells + target]
    thing = byte & THING_BITS
    free = games.library.where(thing == 0)
    _collect(games, draws, game[free], target[free], games.xp.astype(byte[free], games.xp.int64))
    touched = games.library.where((thing != 0) & (thing != standing(rules.ARROW)))
    if touched.shape[0]:
        _touch(games, game[touched], target[touched])


def _collect(games: Games, draws: StepDraws, game: Array, target: Array, material: Array) -> None:
    xp, put, where, tables = games.xp, games.library.put, games.library.where, games.tables
    put(games.thirst, game[material == rules.WATER], 0)
    tool = tables.collect_tool[material]
    has_tool = games.items[game * len(rules.ITEMS) + xp.where(tool == NO_ITEM, 0, tool)] > 0
    can = where((tables.collect_achievement[material] >= 0) & ((tool == NO_ITEM) | has_tool))
    game, target, material = game[can], target[can], material[can]
    leaves = tables.collect_leaves[material]
    changed = where(leaves != material)
    games.set_material(game[changed], target[changed], leaves[changed])
    luck = xp.astype(draws.bits(purpose.COLLECT, game, target), xp.int64)
    lucky = where(luck <= tables.collect_chance[material])
    game, material = game[lucky], material[lucky]
    item = tables.collect_item[material]
    drinkers = game[item == NO_ITEM]
    put(games.drink, drinkers, games.drink[drinkers] + 1)
    gained = where(item != NO_ITEM)
    games.gain(game[gained], item[gained])
    games.achieve(game, tables.collect_achievement[material])


def thing_at(games: Games, game: Array, cell: Array) -> Array:
    """The index of the thing that stands on a cell of each of these games."""
    xp = games.xp
    same = games.cell(games.rows(games.x, game), games.rows(games.y, game)) == cell[:, None]
    return game * games.slots + xp.argmax(xp.astype(same, xp.int8), axis=1)


def _touch(games: Games, game: Array, target: Array) -> None:
    xp, put = games.xp, games.library.put
    index = thing_at(games, game, target)
    kind = games.kind[index]
    eaten = games.library.where((kind == rules.PLANT) & (games.timer[index] > rules.RIPE_AFTER))
    put(games.timer, index[eaten], 0)
    _eat(games, game[eaten], rules.PLANT_FOOD, rules.ACHIEVEMENT["eat_plant"])
    struck = games.library.where(kind != rules.PLANT)
    game, index, kind = game[struck], index[struck], kind[struck]
    left = xp.astype(games.health[index], xp.int32) - _damage(games, game)
    put(games.health, index, xp.astype(xp.where(left > 0, left, 0), xp.int8))
    dead = left <= 0
    for enemy, achievement in ((rules.ZOMBIE, "defeat_zombie"), (rules.SKELETON, "defeat_skeleton")):
        games.achieve(game[dead & (kind == enemy)], rules.ACHIEVEMENT[achievement])
    fed = game[dead & (kind == rules.COW)]
    put(games.hunger, fed, 0)
    _eat(games, fed, rules.COW_FOOD, rules.ACHIEVEMENT["eat_cow"])


def _eat(games: Games, game: Array, food: int, achievement: int) -> None:
    games.library.put(games.food, game, games.food[game] + food)
    games.achieve(game, achievement)


def _damage(games: Games, game: Array) -> Array:
    damage = games.xp.ones_like(game, dtype=games.xp.int32)
    for sword, amount in reversed(rules.DAMAGE):
        damage = games.xp.where(games.items[game * len(rules.ITEMS) + sword] > 0, amount, damage)
    return damage


def _place(games: Games, game: Array, actions: Array) -> None:
    xp, put, where, tables = games.xp, games.library.put, games.library.where, games.tables
    action = actions[game] - tables.first_place
    target = _in_front(games, game)
    byte = xp.astype(games.map[game * tables.cells + target], xp.int64)
    stock = game * len(rules.ITEMS) + tables.place_item[action]
    can = where(tables.place_where[action * 256 + byte] & (games.items[stock] >= tables.place_amount[action]))
    game, action, target, stock = game[can], action[can], target[can], stock[can]
    put(games.items, stock, games.items[stock] - xp.astype(tables.place_amount[action], xp.int32))
    result = tables.place_result[action]
    plant = where(result == rules.PLANT)
    if plant.shape[0]:
        planted = game[plant]
        games.add_one(planted, rules.PLANT, target[plant])
        games.enter(planted, tables.chunk_at[target[plant]], xp.zeros_like(planted))
    built = where(result != rules.PLANT)
    games.set_material(game[built], target[built], result[built])
    games.achieve(game, tables.place_achievement[action])


def _make(games: Games, game: Array, actions: Array) -> None:
    xp, put, tables = games.xp, games.library.put, games.tables
    action = actions[game] - tables.first_make
    # At the western and northern edge nothing is near, as in the scalar rules.
    inside = (games.player_x[game] > 0) & (games.player_y[game] > 0)
    near_table = near_furnace = xp.zeros_like(game, dtype=xp.bool)
    centre = game * tables.cells + games.player_cell[game]
    for column in (-tables.stride, 0, tables.stride):
        for row in (-1, 0, 1):
            material = games.map[centre + (column + row)] & MATERIAL_BITS
            near_table = near_table | (material == rules.TABLE)
            near_furnace = near_furnace | (material == rules.FURNACE)
    can = games.library.where(inside & near_table & (near_furnace | ~tables.make_furnace[action]))
    game, action = game[can], action[can]
    uses = xp.take(tables.make_uses, action, axis=0)
    stock = game[:, None] * len(rules.ITEMS) + games.library.arange(len(rules.ITEMS))[None, :]
    items = xp.take(xp.reshape(games.items, (games.count, len(rules.ITEMS))), game, axis=0)
    enough = xp.all(items >= uses, axis=1)
    left = xp.where(enough[:, None], items - xp.astype(uses, xp.int32), items)
    put(games.items, xp.reshape(stock, (-1,)), xp.reshape(left, (-1,)))
    makes = games.library.where(enough)
    game, action = game[makes], action[makes]
    games.gain(game, tables.make_result[action])
    games.achieve(game, tables.make_achievement[action])


def _live(games: Games) -> None:
    """Hunger, thirst, tiredness and recovery in one step. Those with halves are counted twice."""
    xp = games.xp
    sleeping = games.sleeping

    def number(truth: Array) -> Array:
        return xp.astype(truth, xp.int32)

    passed = 2 - number(sleeping)
    hunger = games.hunger + passed
    thirst = games.thirst + passed
    hungry, thirsty = hunger > 50, thirst > 40
    games.hunger = xp.where(hungry, 0, hunger)
    games.thirst = xp.where(thirsty, 0, thirst)
    food, drink = games.food - number(hungry), games.drink - number(thirsty)
    fatigue = xp.where(sleeping, xp.where(games.fatigue < 1, games.fatigue - 1, 0), games.fatigue + 1)
    rested, tired = fatigue < -10, fatigue > 30
    games.fatigue = xp.where(rested | tired, 0, fatigue)
    energy = games.energy + number(rested) - number(tired)
    provided = (food > 0) & (drink > 0) & ((energy > 0) | sleeping)
    recovery = games.recovery + xp.where(provided, 2 + 2 * number(sleeping), number(sleeping) - 2)
    better, worse = recovery > 50, recovery < -30
    games.recovery = xp.where(better | worse, 0, recovery)
    vitality = games.vitality + number(better) - number(worse & (games.vitality > 0))
    games.vitality = xp.where(vitality > rules.MOST, rules.MOST, vitality)
    games.food, games.drink, games.energy = (xp.clip(vital, 0, rules.MOST) for vital in (food, drink, energy))
    games.sleeping = sleeping & ~(games.vitality < games.vitality_when_awake)
    games.vitality_when_awake = games.library.copy(games.vitality)


_STANDS = standing(rules.PLAYER)
