"""Fighting: a blow at the nearest creature, a sweep at all around, and blows between players if the rules allow it."""

from cohabit.worlds.starbound.body import Body, Failed
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.harm import hurt
from cohabit.worlds.starbound.items import PIXELS
from cohabit.worlds.starbound.land import Bundle, Creature, Land, across
from cohabit.worlds.starbound.motion import step_aside
from cohabit.worlds.starbound.planets import CREATURE

REACH = 2
BLOW_ENERGY, SWEEP_ENERGY = 3, 20
FEAR = 12


def within(x: int, y: int, thing: Creature | Body | Bundle, reach: int = REACH) -> bool:
    return abs(across(x, thing.x)) <= reach and abs(thing.y - y) <= reach


def creatures_near(land: Land, body: Body) -> list[Creature]:
    """The creatures within reach, hostile ones first, then by distance."""
    near = [creature for creature in land.creatures if within(body.x, body.y, creature)]
    return sorted(
        near,
        key=lambda c: (not CREATURE[c.kind].damage, abs(across(body.x, c.x)) + abs(c.y - body.y), c.number),
    )


def attack(game: Game, body: Body, target: str) -> None:
    """Hit the nearest creature, or the one that was named; a player only by name, or if nothing else is near."""
    land = game.land_of(body)
    near = [c for c in creatures_near(land, body) if target in ("", c.kind)]
    players = [
        other
        for other in (game.on(body.place) if game.fighting and land.kind is not None else ())
        if other is not body and within(body.x, body.y, other) and target in ("", other.name)
    ]
    if not near and not players:
        raise Failed(f"no {target or 'creature'} is within {REACH} tiles")
    _spend(body, BLOW_ENERGY)
    if near:
        _hit(game, land, body, near[0], body.damage)
    else:
        other = players[0]
        body.facing = 1 if across(body.x, other.x) >= 0 else -1
        body.tell(f"You hit {other.name}.")
        blow = max(1, body.damage - other.defence)
        hurt(game, other, blow, "combat", f"{body.name} hits you", body.name, by_player=True)
        if not other.alive:
            body.count("defeat_player")


def sweep(game: Game, body: Body) -> None:
    """Hit every creature around, and push it away."""
    land = game.land_of(body)
    near = creatures_near(land, body)
    if not near:
        raise Failed(f"no creature is within {REACH} tiles")
    _spend(body, SWEEP_ENERGY)
    for creature in near:
        _hit(game, land, body, creature, body.damage * 3 // 4)
        if creature.health > 0:
            step_aside(land, creature, 1 if across(body.x, creature.x) >= 0 else -1)


def _spend(body: Body, energy: int) -> None:
    if body.energy < energy:
        raise Failed(f"you need {energy} energy and have {body.energy}; wait to recover")
    body.energy -= energy


def _hit(game: Game, land: Land, body: Body, creature: Creature, damage: int) -> None:
    body.facing = 1 if across(body.x, creature.x) >= 0 else -1
    kind = CREATURE[creature.kind]
    creature.health = max(0, creature.health - damage)
    creature.afraid = FEAR
    body.count("damage_dealt", damage)
    if creature.health:
        body.tell(f"You hit the {kind.name} (-{damage}, {creature.health}/{kind.health} left).")
        return
    land.creatures = [other for other in land.creatures if other is not creature]
    gains = []
    for item, count in kind.drops:
        if taken := body.collect(item, count):
            gains.append(f"{taken} {item}")
    if kind.pixels and (taken := body.add(PIXELS, kind.pixels)):
        gains.append(f"{taken} {PIXELS}")
    body.count("kill")
    body.count(f"kill:{kind.name}")
    if kind.damage:
        body.count("defeat")
    body.tell(f"You killed the {kind.name}: +{', +'.join(gains) if gains else 'nothing'}.", "success")
