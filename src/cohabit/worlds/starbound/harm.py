"""Damage, death, and coming back to life."""

from cohabit.model.avatar import RespawnOption
from cohabit.model.travel import scaled
from cohabit.worlds.starbound.body import MAX_BREATH, MAX_VITAL, Body, Fate
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import PIXELS
from cohabit.worlds.starbound.land import SHIP_FIXTURES, SHIP_FLOOR
from cohabit.worlds.starbound.planets import SHIP
from cohabit.worlds.starbound.tiles import BED

CORPSE_PIXELS = 50
CAUSES = {
    "combat": "was killed",
    "fall": "fell to death",
    "drowning": "drowned",
    "starvation": "starved",
    "poison": "died of poison",
    "fire": "burned to death",
    "cold": "froze to death",
    "environmental": "died of heat",
}


def hurt(
    game: Game, body: Body, amount: int, cause: str, why: str, killer: str | None = None, by_player: bool = False
) -> None:
    """Take health from a body; it dies at 0. The blows of players are the same at every difficulty."""
    if not body.alive or amount <= 0:
        return
    if not by_player and body.harm != 1.0:
        amount = scaled(amount, body.harm)
    body.health = max(0, body.health - amount)
    body.count("damage_taken", amount)
    if cause != "starvation":
        body.struck_at = game.step_number
    body.tell(f"{why} (-{amount} health).", "danger")
    if body.health == 0:
        die(game, body, cause, killer)


def die(game: Game, body: Body, cause: str, killer: str | None) -> None:
    """A body dies and drops what it carries, except its pixels. Aboard, everything goes to the locker."""
    dropped = {item: count for item, count in body.items.items() if item != PIXELS}
    if body.place == SHIP:
        for item, count in dropped.items():
            body.locker[item] = body.locker.get(item, 0) + count
        lost: dict[str, int] = {}
    else:
        lost = dropped
        if lost:
            bundle = game.land_of(body).bundle_at(body.x, body.y)
            for item, count in lost.items():
                bundle.items[item] = bundle.items.get(item, 0) + count
    body.items = {PIXELS: body.items[PIXELS]} if PIXELS in body.items else {}
    body.equipment, body.crouching = {}, False
    body.count("deaths")
    body.fate = Fate(cause, killer, lost, game.step_number, body.place, body.x, body.y)
    body.tell(f"You {CAUSES.get(cause, 'died')}.", "danger")


def corpse_price(body: Body) -> int:
    return round(CORPSE_PIXELS * body.price)


def has_bed(game: Game, body: Body) -> bool:
    return body.bed is not None and game.land(body.bed[0]).at(body.bed[1], body.bed[2]) == BED


def respawn_options(game: Game, body: Body) -> tuple[RespawnOption, ...]:
    """The options of a dead body to come back."""
    options = [
        RespawnOption("ship", "spawn_point", "your ship", None, ["debuff"], "Wake up aboard, weak and hungry."),
    ]
    if has_bed(game, body):
        options.append(RespawnOption("bed", "bed", f"your bed on {body.bed[0] if body.bed else ''}", None, ["debuff"]))
    if body.fate is not None and body.fate.place != SHIP:
        price = corpse_price(body)
        where = (float(body.fate.x), float(body.fate.y))
        options.append(RespawnOption("corpse", "checkpoint", where, {PIXELS: price}, [], "Rise where you died."))
    return tuple(options)


def respawn(game: Game, body: Body, option: str) -> None:
    """Bring a dead body back to life; the option has been checked."""
    assert body.fate is not None
    if option == "corpse":
        body.remove(PIXELS, corpse_price(body))
        body.health, body.energy = body.max_health, MAX_VITAL
    else:
        if option == "bed" and body.bed is not None:
            body.place, body.x, body.y = body.bed
        else:
            body.place, body.x, body.y = SHIP, SHIP_FIXTURES["teleporter"], SHIP_FLOOR
        body.health, body.energy = body.max_health * 6 // 10, MAX_VITAL * 3 // 10
    body.food = max(body.food, MAX_VITAL // 2)
    body.breath, body.poison, body.fallen, body.held_up = MAX_BREATH, 0, 0, False
    body.fate = None
    body.events = [("info", "You are alive again.")]
