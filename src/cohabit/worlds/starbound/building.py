"""Digging and building."""

from cohabit.worlds.starbound.body import Body, Failed
from cohabit.worlds.starbound.environment import fills
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM, RECIPE
from cohabit.worlds.starbound.land import Growth, Land
from cohabit.worlds.starbound.planets import HEIGHT, WIDTH
from cohabit.worlds.starbound.tiles import ACID, AIR, BUSH, ID, LAVA, LEAVES, TILES, TREE, UNBREAKABLE, WATER, described

DIRECTIONS = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, -1),
    "down": (0, 1),
    "up_left": (-1, -1),
    "up_right": (1, -1),
    "down_left": (-1, 1),
    "down_right": (1, 1),
}
DIG_ENERGY = 1
TREE_STEPS, BUSH_STEPS = 250, 150  # until they grow again
TOOLS = ("bare hands", "a wood_pickaxe", "a stone_pickaxe", "an iron_pickaxe", "a titanium_pickaxe")
_PLANTS = ("tree", "leaves", "bush", "cactus", "mushroom")
_FILLABLE = (AIR, WATER, LAVA, ACID, LEAVES)


def target_of(body: Body, direction: str) -> tuple[int, int]:
    dx, dy = DIRECTIONS[direction] if direction else (body.facing, 0)
    if dx:
        body.facing = 1 if dx > 0 else -1
    return (body.x + dx) % WIDTH, body.y + dy


def why_not_dig(land: Land, body: Body, x: int, y: int) -> str | None:
    """Why a body cannot dig this tile, or None."""
    tile = TILES[land.at(x, y)]
    if land.kind is None:
        return "you cannot dig aboard"
    if tile.name == "air" or tile.liquid:
        return f"there is only {tile.name}"
    if tile.tier >= UNBREAKABLE:
        return f"{described(tile)} cannot be dug"
    if tile.tier > body.tool_tier:
        return f"{tile.name} needs {TOOLS[tile.tier]}"
    return None


def dig(game: Game, body: Body, direction: str) -> None:
    """Dig the tile in a direction and take what it gives. If that is air, a plant at the body's own place."""
    land = game.land_of(body)
    x, y = target_of(body, direction)
    if land.at(x, y) == AIR and TILES[land.at(body.x, body.y)].name in _PLANTS:
        x, y = body.x, body.y
    if why := why_not_dig(land, body, x, y):
        raise Failed(why)
    if body.energy < DIG_ENERGY:
        raise Failed("you have no energy; wait to recover")
    body.energy -= DIG_ENERGY
    tile = TILES[land.at(x, y)]
    count, is_found = 1, y * WIDTH + x not in land.placed
    if tile.name == "tree":
        count = _fell(game, land, x, y)
        body.collect("fiber")
    else:
        land.put(x, y, fills(land, x, y))
        if tile.name == "bush":
            count = 2
            grow_later(game, land, x, y, BUSH, BUSH_STEPS)
            body.collect("fiber")
    body.count("dig" if is_found else f"take_down:{tile.drop}")
    taken = body.collect(tile.drop, count) if is_found else body.add(tile.drop, count)
    if taken:
        body.tell(f"+{taken} {tile.drop}.", "success")
    else:
        body.tell(f"You cannot carry more {tile.drop}; it is lost.")


def grow_later(game: Game, land: Land, x: int, y: int, tile: int, steps: int) -> None:
    land.growths.append(Growth(game.step_number + steps, y * WIDTH + x, tile))
    land.growths.sort(key=lambda growth: (growth.at, growth.cell))


def _fell(game: Game, land: Land, x: int, y: int) -> int:
    """Cut down a whole tree. Returns how much wood it has."""
    base = y
    while land.at(x, base + 1) == TREE:
        base += 1
    top = base
    while land.at(x, top - 1) == TREE:
        top -= 1
    for row in range(top, base + 1):
        land.put(x, row, AIR)
    for row in range(top - 1, top + 2):
        for column in range(x - 2, x + 3):
            if row >= 0 and land.at(column, row) == LEAVES:
                land.put(column, row, AIR)
    grow_later(game, land, x, base, TREE, TREE_STEPS)
    return base - top + 1


def why_not_place(game: Game, body: Body, item: str, x: int, y: int) -> str | None:
    """Why a body cannot build there, or None."""
    land = game.land_of(body)
    if not ITEM[item].places:
        return f"{item} cannot be placed"
    if item not in body.items:
        return f"you have no {item}"
    if land.kind is None:
        return "you cannot build aboard"
    if not 1 <= y < HEIGHT - 2 or land.at(x, y) not in _FILLABLE:
        return f"{described(TILES[land.at(x, y)])} is in the way"
    tile = TILES[ID[ITEM[item].places]]
    if tile.solid and any(other.x == x and other.y == y for other in game.on(body.place)):
        return "somebody is in the way"
    if tile.solid and any(creature.x == x and creature.y == y for creature in land.creatures):
        return "somebody is in the way"
    beside = [land.at(x + dx, y + dy) for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0))]
    if land.under_sky(x, y) and all(other in _FILLABLE for other in beside):
        return "it needs something beside it to hold on to"
    return None


def place(game: Game, body: Body, item: str, direction: str) -> None:
    """Build with an item."""
    x, y = target_of(body, direction)
    if why := why_not_place(game, body, item, x, y):
        raise Failed(why)
    land = game.land_of(body)
    body.remove(item)
    land.put(x, y, ID[ITEM[item].places])
    land.placed.add(y * WIDTH + x)
    body.count(f"place:{item}")
    if (more := built(body) - body.tally.get("build", 0)) > 0:
        body.count("build", more)
    if item == "bed":
        body.bed = (body.place, x, y)
        body.tell("You placed a bed. You can respawn here.", "success")
    else:
        body.tell(f"You placed {item}.", "success")


def built(body: Body) -> int:
    """The number of things that a body has built: those placed less those taken down, as far as it has gathered or made
    as many itself. So one lump of dirt counts once, wherever it is placed again, and items from others do not count."""
    total = 0
    for deed, times in body.tally.items():
        kind, _, item = deed.partition(":")
        if kind == "place":
            made = body.tally.get(f"craft:{item}", 0) * (RECIPE[item].gives if item in RECIPE else 1)
            standing = max(0, times - body.tally.get(f"take_down:{item}", 0))
            total += min(standing, body.tally.get(f"collect:{item}", 0) + made)
    return total
