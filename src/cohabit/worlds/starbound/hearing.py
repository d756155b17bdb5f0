"""What a body hears: creatures and players near it that it does not see. Those who crouch or sleep are silent."""

from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.land import across
from cohabit.worlds.starbound.planets import CREATURE
from cohabit.worlds.starbound.vision import View

HEARING = 8


def heard(game: Game, body: Body, view: View) -> list[str]:
    """The kind of each and the side on which it is, the nearest first. Walls do not keep sound away."""
    land = game.land_of(body)
    if land.kind is None:
        return []  # everybody is alone aboard
    seen = {(thing.name, thing.x, thing.y) for thing in view.things}
    others = [other for other in game.on(body.place) if other is not body and _is_loud(other)]
    sources = [
        *((CREATURE[creature.kind].name, creature.x, creature.y) for creature in land.creatures),
        *((f"player {other.name}", other.x, other.y) for other in others),
    ]
    found = []
    for name, x, y in sources:
        dx, dy = across(body.x, x), y - body.y
        if abs(dx) + abs(dy) <= HEARING and (name, dx, dy) not in seen:
            found.append((abs(dx) + abs(dy), f"{name.partition(' ')[0]} {_side(dx, dy)}"))
    return list(dict.fromkeys(words for _, words in sorted(found)))


def _is_loud(body: Body) -> bool:
    return body.presence == "awake" and not body.crouching


def _side(dx: int, dy: int) -> str:
    if abs(dx) >= abs(dy):
        return "right" if dx > 0 else "left"
    return "below" if dy > 0 else "above"
