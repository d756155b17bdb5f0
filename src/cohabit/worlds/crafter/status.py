"""The structured observation of a player: exactly what its text says, as data for programs."""

from typing import Any

from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACHIEVEMENTS
from cohabit.worlds.crafter.view import view_of


def status_of(game: Game, player: Player) -> dict[str, Any]:
    """What a player knows.

    ``ground`` has the rows of the view from top to bottom, with a letter for each cell (see ``view.LETTERS``); the
    player is in the middle, at row 3, column 4. ``things`` are [name, x, y] with offsets from the player, x to the
    right and y down. ``facing`` is such an offset too.
    """
    view = view_of(game.land, player)
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
        "ground": view.ground,
        "things": [[seen.name, seen.x, seen.y] for seen in view.things],
        "achievements": [name for name, times in zip(ACHIEVEMENTS, player.achievements, strict=True) if times],
    }
