"""The actions of players: walk, strike, collect, place, make."""

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter import rules, trade
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.land import Land, Thing
from cohabit.worlds.crafter.player import Failure, Player


def act(land: Land, draws: Draws, player: Player, action: int | trade.Trade, fighting: bool) -> None:
    """Carry out an action. A sleeper goes on sleeping until it is rested."""
    woke = False
    if player.sleeping:
        if player.energy < rules.MOST:
            if action not in (rules.SLEEP, rules.NOOP):
                player.failure = ("asleep",)
            action = rules.SLEEP
        else:
            player.sleeping, woke = False, True
            player.achieve(rules.ACHIEVEMENT["wake_up"])
    if isinstance(action, trade.Trade):
        trade.carry_out(land, player, action)
    elif action in rules.DIRECTIONS:
        _walk(land, player, *rules.DIRECTIONS[action])
    elif action == rules.DO:
        target = in_front(land, player)
        thing = land.at[target]
        if thing is None:
            _collect(land, draws, player, target)
        elif isinstance(thing, Player):
            _strike_player(player, thing, fighting)
        else:
            _touch(land, player, thing)
    elif action == rules.SLEEP:
        if player.energy < rules.MOST:
            player.sleeping = True
        elif not woke:
            player.failure = ("rested",)
    elif action in rules.PLACE:
        _place(land, player, action)
    elif action in rules.MAKE:
        _make(land, player, action)
    player.live()


def why_not(land: Land, player: Player, action: int, fighting: bool) -> Failure | None:
    """Why an action would have no effect if it were done now; None if it may have one. A step of one's own may only
    turn, and a search may find nothing: that is not known before."""
    if player.sleeping and player.energy < rules.MOST:
        return None if action in (rules.SLEEP, rules.NOOP) else ("asleep",)
    if action == rules.DO:
        return _why_not_do(land, player, fighting)
    if action == rules.SLEEP:
        return ("rested",) if player.energy >= rules.MOST and not player.sleeping else None
    if action in rules.PLACE:
        return _why_not_place(land, player, action)
    if action in rules.MAKE:
        return _why_not_make(land, player, action)
    target = in_front(land, player)
    if (player.dx, player.dy) != rules.DIRECTIONS.get(action) or land.at[target] is not None:
        return None  # it turns, or somebody is in the way who may go away
    return None if land.material[target] in rules.PLAYERS_WALK else ("blocked", land.material[target])


def has_effect(land: Land, player: Player, action: int, fighting: bool) -> bool:
    """True if the step with this action differs from one in which the player does nothing, if nobody else acts before
    it. A search in grass may: it finds something in one of ten cases."""
    if action == rules.SLEEP:
        return player.energy < rules.MOST and not player.sleeping
    if player.sleeping and player.energy < rules.MOST:
        return False  # it sleeps on, whatever it does
    if action in rules.DIRECTIONS and (player.dx, player.dy) == rules.DIRECTIONS[action]:
        target = in_front(land, player)
        return land.at[target] is None and land.material[target] in rules.PLAYERS_WALK
    return why_not(land, player, action, fighting) is None


def _why_not_do(land: Land, player: Player, fighting: bool) -> Failure | None:
    target = in_front(land, player)
    thing = land.at[target]
    if thing is None:
        return _why_not_collect(player, land.material[target])
    if isinstance(thing, Player):
        return None if fighting else ("peace",)
    return _why_not_touch(thing)


def in_front(land: Land, player: Player) -> int:
    """The cell that a player faces."""
    return player.cell + player.dx * land.stride + player.dy


def _walk(land: Land, player: Player, dx: int, dy: int) -> None:
    turned = (player.dx, player.dy) != (dx, dy)
    player.dx, player.dy = dx, dy
    if not land.move(player, dx, dy, rules.PLAYERS_WALK):
        target = in_front(land, player)
        thing = land.at[target]
        obstacle = land.material[target] if thing is None else thing.kind
        if turned:
            player.blocked = obstacle
        else:
            player.failure = ("blocked", obstacle)
    if land.material[player.cell] == rules.LAVA:
        player.health = 0
        player.hurt_by = "lava"


def _damage(player: Player) -> int:
    return next((damage for sword, damage in rules.DAMAGE if player.items[sword]), 1)


def _strike_player(player: Player, other: Player, fighting: bool) -> None:
    if fighting:
        other.hurt(_damage(player), f"player {player.name}")
    else:
        player.failure = ("peace",)


def _why_not_touch(thing: Thing) -> Failure | None:
    if thing.kind == rules.PLANT:
        return None if thing.ripe else ("unripe",)
    return ("nothing", thing.kind) if thing.kind == rules.ARROW or thing.killed else None


def _touch(land: Land, player: Player, thing: Thing) -> None:
    player.failure = _why_not_touch(thing)
    if player.failure is not None:
        return
    if thing.kind == rules.PLANT:
        thing.timer = 0
        player.food += rules.PLANT_FOOD
        player.achieve(rules.ACHIEVEMENT["eat_plant"])
    elif thing.kind == rules.BUNDLE:
        trade.take(land, player, thing)
    else:
        _strike(player, thing)


def _strike(player: Player, creature: Thing) -> None:
    creature.health = max(0, creature.health - _damage(player))
    player.struck = (creature.kind, creature.health)
    if creature.health > 0:
        return
    creature.killed = True
    if creature.kind == rules.ZOMBIE:
        player.achieve(rules.ACHIEVEMENT["defeat_zombie"])
    elif creature.kind == rules.SKELETON:
        player.achieve(rules.ACHIEVEMENT["defeat_skeleton"])
    elif creature.kind == rules.COW:
        player.food += rules.COW_FOOD
        player.hunger = 0.0
        player.achieve(rules.ACHIEVEMENT["eat_cow"])


def _why_not_collect(player: Player, material: int) -> Failure | None:
    found = rules.COLLECT.get(material)
    if found is None:
        return "nothing", material
    return ("tool", found.tool) if found.tool is not None and not player.items[found.tool] else None


def _collect(land: Land, draws: Draws, player: Player, target: int) -> None:
    material = land.material[target]
    if material == rules.WATER:
        player.thirst = 0.0
    player.failure = _why_not_collect(player, material)
    if player.failure is not None:
        return
    found = rules.COLLECT[material]
    if found.leaves != material:
        land.set_material(target, found.leaves)
    if draws.uniform(purpose.COLLECT, target) > found.chance:
        player.failure = ("unlucky",)
        return
    if found.item is None:
        player.drink += 1
        player.gained = -1
    else:
        player.gain(found.item)
        land.repeats.collect(player, target)
    player.achieve(found.achievement)


def _why_not_place(land: Land, player: Player, action: int) -> Failure | None:
    target = in_front(land, player)
    placing = rules.PLACE[action]
    material, thing = land.material[target], land.at[target]
    if thing is not None:
        return "where", thing.kind
    if material not in placing.where:
        return "where", material
    if player.items[placing.item] < placing.amount:
        return "short", placing.item, placing.amount
    return None


def _place(land: Land, player: Player, action: int) -> None:
    player.failure = _why_not_place(land, player, action)
    if player.failure is not None:
        return
    placing = rules.PLACE[action]
    player.items[placing.item] -= placing.amount
    if placing.places == rules.PLANT:
        land.add(rules.PLANT, player.x + player.dx, player.y + player.dy)
    else:
        land.set_material(in_front(land, player), placing.places)
        land.repeats.place(player, placing.places, in_front(land, player))
    player.achieve(placing.achievement)


def _why_not_make(land: Land, player: Player, action: int) -> Failure | None:
    """Nothing is near at the left and the upper edge: the original slices from a negative index there."""
    making = rules.MAKE[action]
    if player.x == 0 or player.y == 0:
        return ("edge",)
    missing = [material for material in making.nearby if not is_near(land, player, material)]
    if missing:
        return ("nearby", *missing)
    for item, amount in making.uses:
        if player.items[item] < amount:
            return "short", item, amount
    return None


def _make(land: Land, player: Player, action: int) -> None:
    player.failure = _why_not_make(land, player, action)
    if player.failure is not None:
        return
    making = rules.MAKE[action]
    for item, amount in making.uses:
        player.items[item] -= amount
    player.gain(making.gives)
    player.achieve(making.achievement)


def is_near(land: Land, player: Player, material: int) -> bool:
    """True if the material is on one of the nine cells around the player."""
    above = player.cell - 1
    return any(
        material in land.material[column : column + 3] for column in (above - land.stride, above, above + land.stride)
    )
