"""The moves of creatures: they appear near bodies, wander, flee, hunt and bite. Far from all bodies they do nothing.

Bodies and creatures are sorted into sections of a planet, so that the cost of a step grows with their number, not with
its square.
"""

from cohabit.worlds.starbound import planets
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.harm import hurt
from cohabit.worlds.starbound.land import Creature, Land, across
from cohabit.worlds.starbound.motion import drop_down, step_aside
from cohabit.worlds.starbound.tiles import LIQUIDS, SOLID

SECTION = 16
SECTIONS = planets.WIDTH // SECTION
FAR = 40  # columns from the nearest body at which a creature disappears
SPAWN_NEAR, SPAWN_FAR = 9, 15
MAX_PASSIVE, MAX_HOSTILE, MAX_AT_NIGHT = 3, 2, 3  # near one body
SPAWN_CHANCE = 14  # one attempt in this many steps, for each body
REACH = 1
REST = 2
UNDERGROUND = 5  # tiles below the surface from which on cave creatures appear
Sections = dict[int, list[Body]]


def step(game: Game) -> None:
    for land in game.lands.values():
        bodies = game.on(land.name)
        if not bodies:
            land.creatures = [c for c in land.creatures if not planets.CREATURE[c.kind].boss]
            continue
        assert land.kind is not None
        sections: Sections = {}
        for body in bodies:
            sections.setdefault(body.x // SECTION, []).append(body)
        night = planets.is_night(land.kind, game.step_number)
        land.creatures = [c for c in land.creatures if _act(game, land, c, sections, night)]
        _spawn(game, land, land.kind, bodies, night)


def _near(sections: Sections, x: int, far: int) -> list[Body]:
    """The bodies in the sections around a column."""
    found: list[Body] = []
    middle, reach = x // SECTION, far // SECTION + 1
    for offset in range(-reach, reach + 1):
        found += sections.get((middle + offset) % SECTIONS, ())
    return found


def _act(game: Game, land: Land, creature: Creature, sections: Sections, night: bool) -> bool:
    """One step of a creature. False: it disappears."""
    kind = planets.CREATURE[creature.kind]
    near = _near(sections, creature.x, SECTION)
    if not near:
        return bool(_near(sections, creature.x, FAR))
    if kind.night_only and not night and game.draws.chance(1, 10):
        return False
    creature.rest = max(0, creature.rest - 1)
    target = _target(kind, creature, near)
    if kind.damage and target is not None:
        _hunt(game, land, creature, kind, target, night)
    elif creature.afraid and target is not None:
        creature.afraid -= 1
        _go(land, creature, kind, -1 if across(creature.x, target.x) > 0 else 1, 0)
    elif game.draws.chance(1, 2 * kind.speed):
        if game.draws.chance(1, 4):
            creature.facing = -creature.facing
        if not _go(land, creature, kind, creature.facing, 0):
            creature.facing = -creature.facing
    if not kind.flies:
        drop_down(land, creature)
    return creature.health > 0 and creature.y < planets.HEIGHT - 1


def _target(kind: planets.CreatureKind, creature: Creature, near: list[Body]) -> Body | None:
    """The nearest body in sight. One that crouches is noticed from half as far."""
    best, found = kind.sight + 1, None
    for body in near:
        away = abs(across(creature.x, body.x)) + abs(creature.y - body.y)
        if away < best and body.alive and not (body.crouching and away > kind.sight // 2):
            best, found = away, body
    return found


def _hunt(game: Game, land: Land, creature: Creature, kind: planets.CreatureKind, body: Body, night: bool) -> None:
    dx, dy = across(creature.x, body.x), body.y - creature.y
    if abs(dx) <= REACH and abs(dy) <= REACH:
        if not creature.rest:
            creature.rest = REST
            strength = round(kind.damage * planets.NIGHT_FACTOR) if night and not kind.boss else kind.damage
            hurt(game, body, max(1, strength - body.defence), "combat", f"A {kind.name} hits you", kind.name)
            if kind.poison and body.alive:
                body.poison = max(body.poison, kind.poison)
        return
    if (game.step_number + creature.number) % kind.speed == 0:
        _go(land, creature, kind, (dx > 0) - (dx < 0), (dy > 0) - (dy < 0))


def _go(land: Land, creature: Creature, kind: planets.CreatureKind, dx: int, dy: int) -> bool:
    if dx:
        creature.facing = dx
    if kind.flies:
        moved = False
        if dy and land.is_open(creature.x, creature.y + dy) and land.at(creature.x, creature.y + dy) not in LIQUIDS:
            creature.y += dy
            moved = True
        if dx and land.is_open(creature.x + dx, creature.y):
            creature.x = (creature.x + dx) % planets.WIDTH
            moved = True
        return moved
    if not dx or land.at(creature.x + dx, creature.y + 1) in LIQUIDS:
        return False  # it does not go into liquids
    return step_aside(land, creature, dx)


# -- appearing ------------------------------------------------------------------------------------------
def _spawn(game: Game, land: Land, planet: planets.PlanetKind, bodies: list[Body], night: bool) -> None:
    counts: dict[int, list[int]] = {}
    for creature in land.creatures:
        counts.setdefault(creature.x // SECTION, [0, 0])[planets.CREATURE[creature.kind].damage > 0] += 1
    for body in bodies:
        if body.presence != "awake" or not game.draws.chance(1, SPAWN_CHANCE):
            continue
        middle = body.x // SECTION
        around = [counts.get((middle + offset) % SECTIONS, (0, 0)) for offset in (-1, 0, 1)]
        passive, hostile = (sum(count[i] for count in around) for i in (0, 1))
        deep = body.y > land.surface[body.x] + UNDERGROUND
        kinds = [
            kind
            for kind in planets.CREATURES
            if planet.name in kind.planets
            and (kind.where == "cave") == deep
            and (night or not kind.night_only)
            and (hostile < (MAX_AT_NIGHT if night else MAX_HOSTILE) if kind.damage else passive < MAX_PASSIVE)
        ]
        if kinds:
            _appear(game, land, game.draws.choice(kinds), body)


def _appear(game: Game, land: Land, kind: planets.CreatureKind, body: Body) -> None:
    x = (body.x + game.draws.choice((-1, 1)) * game.draws.between(SPAWN_NEAR, SPAWN_FAR)) % planets.WIDTH
    if kind.where == "surface":
        y = land.top(x) - (4 if kind.flies else 0)
        if y < 1 or land.at(x, y) in LIQUIDS or land.at(x, y + 1) in LIQUIDS:
            return
    else:
        rows = [
            row
            for row in range(max(body.y - 6, land.surface[x] + 3), min(body.y + 7, planets.HEIGHT - 3))
            if not SOLID[land.at(x, row)] and SOLID[land.at(x, row + 1)] and land.at(x, row) not in LIQUIDS
        ]
        if not rows:
            return
        y = game.draws.choice(rows)
    add_creature(game, land, kind.name, x, y)


def add_creature(game: Game, land: Land, kind: str, x: int, y: int) -> Creature:
    game.creatures_made += 1
    creature = Creature(game.creatures_made, kind, x % planets.WIDTH, y, planets.CREATURE[kind].health)
    land.creatures.append(creature)
    return creature
