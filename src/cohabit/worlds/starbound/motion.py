"""The motion of bodies and creatures: walking, climbing, jumping, swimming and falling."""

from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.land import Creature, Land
from cohabit.worlds.starbound.planets import WIDTH, fall_speed, jump_height, safe_fall
from cohabit.worlds.starbound.tiles import LADDER, LIQUIDS, PLATFORM, TILES, described

FALL_DAMAGE = 8  # for each tile too far
MAX_WALK = 4
SPRINT_ENERGY = 2  # for each tile after the first
JUMP_REACH = 2


def step_aside(land: Land, mover: Body | Creature, way: int) -> bool:
    """One tile to a side: over a step of one tile up or down, but not over a ledge. False: the way is blocked."""
    x, y = (mover.x + way) % WIDTH, mover.y
    if land.is_open(x, y):
        was_supported = land.is_supported(mover.x, y)
        mover.x = x
        if was_supported and not land.is_supported(x, y) and land.is_open(x, y + 1) and land.is_supported(x, y + 1):
            mover.y = y + 1
        return True
    if land.is_supported(mover.x, y) and land.is_open(mover.x, y - 1) and land.is_open(x, y - 1):
        mover.x, mover.y = x, y - 1
        return True
    return False


def walk(land: Land, body: Body, way: int, tiles: int) -> tuple[int, str]:
    """Walk to a side, up to ``tiles`` tiles, or one if it crouches. It ends at a wall, at a ledge, or without energy.
    Returns how far, and what ended it early."""
    body.facing = 1 if way > 0 else -1
    done, most = 0, min(tiles, MAX_WALK)
    while done < most:
        if done and body.crouching:
            return done, "you are crouching"
        if done and body.energy < SPRINT_ENERGY:
            return done, "you have no energy; wait to recover"
        grounded = land.is_supported(body.x, body.y)
        if not step_aside(land, body, way):
            return done, f"{beside(land, body, way)} is in the way"
        if done:
            body.energy -= SPRINT_ENERGY
        done += 1
        if not grounded or not land.is_supported(body.x, body.y):
            return done, "" if done == most else "there is no ground below you"
    return done, ""


def beside(land: Land, body: Body, way: int) -> str:
    """The tile at a side of a body, in words."""
    return described(TILES[land.at(body.x + way, body.y)])


def can_climb(land: Land, body: Body, way: int) -> bool:
    """True if there is a ladder, a liquid or, below, a platform that leads one tile up or down."""
    here, target = land.at(body.x, body.y), land.at(body.x, body.y + way)
    swims = here in LIQUIDS
    if way < 0 and not (here == LADDER or swims):
        return False
    if way > 0 and not (target in (LADDER, PLATFORM) or swims or here == LADDER or target in LIQUIDS):
        return False
    return land.is_open(body.x, body.y + way)


def climb(land: Land, body: Body, way: int) -> bool:
    """One tile up or down. False: there is no way."""
    if not can_climb(land, body, way):
        return False
    body.y += way
    return True


def jump(land: Land, body: Body, way: int) -> int:
    """Up as far as gravity and the ceiling allow, then up to two tiles to a side. Returns how high."""
    height = 0
    while height < jump_height(land.kind) and land.is_open(body.x, body.y - 1):
        body.y -= 1
        height += 1
    if not height:
        return 0
    if way:
        body.facing = 1 if way > 0 else -1
        for _ in range(JUMP_REACH):
            if not land.is_open(body.x + way, body.y):
                break
            body.x = (body.x + way) % WIDTH
            if land.is_supported(body.x, body.y):
                break
    body.held_up, body.fallen = True, 0
    return height


def fall(land: Land, body: Body) -> int:
    """Let gravity act for a step. Returns the damage of a landing."""
    if body.held_up:
        body.held_up = False
        return 0
    for _ in range(fall_speed(land.kind)):
        if land.is_supported(body.x, body.y) or not land.is_open(body.x, body.y + 1):
            break
        body.y += 1
        body.fallen += 1
    if not land.is_supported(body.x, body.y):
        return 0
    soft = land.at(body.x, body.y) in LIQUIDS or land.at(body.x, body.y) == LADDER
    too_far = 0 if soft else max(0, body.fallen - safe_fall(land.kind))
    body.fallen = 0
    return too_far * FALL_DAMAGE


def drop_down(land: Land, creature: Creature) -> None:
    """Let a creature fall."""
    for _ in range(4):
        if land.is_supported(creature.x, creature.y):
            return
        creature.y += 1
