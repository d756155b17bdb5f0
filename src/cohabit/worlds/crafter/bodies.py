"""The bodies of shared Crafter: what they are like, how they sleep while their agent is away, die and come back."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.bodies import BodyState, Death
from cohabit.errors import GameRejected
from cohabit.model.avatar import RespawnOption
from cohabit.model.observation import Goal
from cohabit.worlds.crafter import acting, rules, trade
from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter.events import failure_text
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import BORDER
from cohabit.worlds.crafter.observing import inventory_of
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.text import WAYS

DANGER = 4
"""Nobody leaves its body while a hostile creature is nearer than this."""
HOSTILE = (rules.ZOMBIE, rules.SKELETON, rules.ARROW)
DIRECTIONS = {name: way for way, name in WAYS.items()} | {
    "west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)
}  # fmt: skip
CAUSES = {"want": "starvation", "lava": "fire", "zombie": "combat", "arrow": "combat"}
KILLERS = {"zombie": "a zombie", "arrow": "a skeleton"}
RESPAWNS = (
    RespawnOption("start", "spawn_point", "near the start", None, ["lose_inventory"], "Near the start, with nothing."),
    RespawnOption("random", "random", "anywhere", None, ["lose_inventory"], "Anywhere in the land, with nothing."),
)


class CrafterBody(Struct):
    """The state of a body beyond the rules of the original."""

    dormant: bool = False  # its agent has left; it sleeps where it is
    gone: bool = False  # it was despawned
    guard: int = 0  # damage that it still shrugs off
    steps: int = 0  # how many it has lived through
    damage: Annotated[float, Meta(ge=0.1, le=10)] = 1.0  # how much of the usual damage from creatures it takes
    hint: bool = False  # its goals list the recipes
    dropped: dict[str, int] = {}  # what it left behind when it died

    def shrug_off(self, player: Player) -> None:
        """Undo what the guard holds off of the damage in the last step."""
        if self.guard and player.hits and player.alive:
            held = min(self.guard, sum(damage for _, damage in player.hits), rules.MOST - player.health)
            player.health += held
            player.health_when_awake = player.health_before = player.health
            self.guard -= held


def begin_with(player: Player, body: CrafterBody, bonuses: dict[str, float]) -> None:
    """Give a new body its bonuses from skills of other worlds: wood, a guard against damage, and the recipes."""
    player.items[rules.WOOD] = min(rules.MOST, int(bonuses.get("inventory_bonus", 0)))
    body.hint = bool(bonuses.get("recipe_hint"))
    body.guard = int(bonuses.get("health_bonus", 0) + round(rules.MOST * bonuses.get("health", 0)))


def state_of(game: Game, player: Player, body: CrafterBody, respawns: bool) -> BodyState:
    """A body as its agent sees it."""
    death = None
    if not player.alive and not body.gone:
        by = player.hurt_by
        combat = "combat" if by.startswith("player ") else "environmental"
        killer = KILLERS.get(by) or (by if by.startswith("player ") else None)
        death = Death(CAUSES.get(by, combat), killer, dict(body.dropped))
    return BodyState(
        position=(player.x, player.y), health=player.health, max_health=rules.MOST, inventory=inventory_of(player),
        facing=WAYS[player.dx, player.dy], stance="prone" if player.sleeping else "standing",
        vision_range=rules.VIEW_WIDTH // 2, injuries=_injuries(player), fatigue=1 - player.energy / rules.MOST,
        unsafe=_danger(game, player),
        death=death, respawn_options=RESPAWNS if death is not None and respawns else (),
    )  # fmt: skip


def _injuries(player: Player) -> tuple[str, ...]:
    """The injuries of a living player; none if it is dead."""
    found = {
        "badly wounded": player.health <= 2,
        "wounded": 2 < player.health <= rules.MOST // 2,
        "starving": player.food == 0,
        "dying of thirst": player.drink == 0,
        "exhausted": player.energy == 0,
    }
    return tuple(injury for injury, has in found.items() if has and player.alive)


def blocked(game: Game, player: Player) -> dict[str, str]:
    """The actions that would have no effect now, and why. A player sees everything that this depends on."""
    failures = {
        name: acting.why_not(game.land, player, number, game.fighting) for number, name in enumerate(rules.ACTIONS)
    }
    reasons = {name: failure_text(player, failure) for name, failure in failures.items() if failure is not None}
    if player.sleeping and player.energy < rules.MOST:
        return reasons | dict.fromkeys(("give", "drop"), failure_text(player, ("asleep",)))
    for how in ("give", "drop"):
        if why := trade.why_not(game.land, player, how):
            reasons[how] = why
    return reasons


def _danger(game: Game, player: Player) -> str:
    if not player.alive or player.removed:
        return ""
    if any(by != "want" for by, _ in player.hits):
        return "you were just hurt"
    for thing in game.land.things:
        if thing.kind in HOSTILE and abs(thing.x - player.x) + abs(thing.y - player.y) < DANGER:
            return "something hostile is near"
    return ""


def goals_of(player: Player) -> list[Goal]:
    """The achievements that a player does not have yet, with their recipes."""
    left = [rung for rung in rules.RUNGS if not player.achievements[rules.ACHIEVEMENT[rung.name]]]
    return [Goal(rung.name, rung.name.replace("_", " "), "achievement", None, _recipe(rung)) for rung in left]


def _recipe(rung: rules.Rung) -> list[str]:
    uses = ", ".join(f"{count} {item}" for item, count in rung.uses.items())
    return [*([f"uses {uses}"] if uses else []), *rung.needs, *(f"after {name}" for name in rung.after)]


def revive(game: Game, player: Player, body: CrafterBody, option: str) -> None:
    """A dead player lives again, with nothing but what it has learned."""
    x, y = game.free_start() if option == "start" else _anywhere(game, player)
    player.health = player.food = player.drink = player.energy = rules.MOST
    player.health_when_awake = player.health_before = rules.MOST
    player.hunger = player.thirst = player.recovery = 0.0
    player.fatigue, player.sleeping, player.hurt_by = 0, False, ""
    player.items = [0] * len(rules.ITEMS)
    player.begin_step()
    body.dropped, body.guard = {}, 0
    game.add_player(x, y, player)


def _anywhere(game: Game, player: Player) -> tuple[int, int]:
    land = game.land
    free = [c for c, material in enumerate(land.material) if material in rules.CREATURES_WALK and land.at[c] is None]
    if not free:
        raise GameRejected("there is no free cell for another player")
    cell = free[int(game.draws.uniform(purpose.START, player.number) * len(free))]
    return cell // land.stride - BORDER, cell % land.stride - BORDER
