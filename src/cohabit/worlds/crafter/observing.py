"""The observation of a player, as text and as data, and its changes since an earlier one."""

from collections.abc import Sequence
from typing import Any

from cohabit.model.observation import Entity, Location, Observation
from cohabit.worlds.crafter import text
from cohabit.worlds.crafter.events import events_text
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, ITEMS, NAMES, VITALS
from cohabit.worlds.crafter.view import view_of, whole_map
from cohabit.worlds.shifted_view import facts_of, offset


def observation_of(game: Game, player: Player, with_text: bool = True, *, has_chosen: bool = False) -> Observation:
    """The observation of a player. ``has_chosen``: it has chosen its action of the next step."""
    status = status_of(game, player)
    inventory = inventory_of(player)
    status["events"] = events_text(player, game.step_number >= game.length, has_chosen)
    return Observation(
        status=status,
        inventory=inventory,
        location=Location((player.x, player.y)),
        nearby_entities=[_entity(name, x, y) for name, x, y in status["things"]],
        step=game.step_number,
        time_of_day=text.time_text(status),
        text=text.whole_text(game.step_number, status, inventory) if with_text else "",
        text_says_all=True,
    )


def status_of(game: Game, player: Player) -> dict[str, Any]:
    """The view and the state of a player, as data.

    ``ground`` has the rows of the view from top to bottom, with a letter for each cell (see ``view.LETTERS``); the
    player is in the middle, at row 3, column 4. ``things`` are [name, x, y] with offsets from the player, x to the
    right and y down. ``facing`` is such an offset too.
    """
    ground, things = view_of(game.land, player)
    return {
        "health": player.health,
        "food": player.food,
        "drink": player.drink,
        "energy": player.energy,
        "sleeping": player.sleeping,
        "daylight": round(game.daylight, 2),
        "length": game.length,
        "position": [player.x, player.y],
        "facing": [player.dx, player.dy],
        "ground": ground,
        "things": things,
        "achievements": [name for name, times in zip(ACHIEVEMENTS, player.achievements, strict=True) if times],
    }


def crowd_observation(game: Game, players: Sequence[Player], everything: bool) -> Observation:
    """The observation of somebody without a seat: the players' achievements; if ``everything``, also the land."""
    rows = []
    for player in players:
        row: dict[str, Any] = {"name": player.name, "alive": player.alive, "achievements": player.unlocked}
        if everything:
            row |= {"position": [player.x, player.y], **{name: getattr(player, name) for name in VITALS}}
            row["inventory"] = inventory_of(player)
        rows.append(row)
    status: dict[str, Any] = {
        "step": game.step_number,
        "length": game.length,
        "daylight": round(game.daylight, 2),
        "players": rows,
    }
    if everything:
        status["ground"] = whole_map(game.land)
        status["things"] = [[NAMES[thing.kind], thing.x, thing.y] for thing in game.land.things]
    return Observation(
        status=status, step=game.step_number, text=text.crowd_text(game.step_number, status), text_says_all=True
    )


def inventory_of(player: Player) -> dict[str, int]:
    """The items that a player has."""
    return {item: amount for item, amount in zip(ITEMS, player.items, strict=True) if amount}


def _entity(name: str, x: int, y: int) -> Entity:
    distance = abs(x) + abs(y)
    return Entity(name, distance=distance, direction=offset(x, y), interactable=distance == 1)


def changes_between(before: Observation, now: Observation) -> str | None:
    """The changes since an earlier observation, as text; None if the whole text is better."""
    return text.changes_text(facts_of(before), facts_of(now))
