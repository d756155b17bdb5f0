"""A batch and scalar games with the same seeds and actions, compared in everything after each step."""

from typing import Any

import numpy as np

from cohabit.worlds.crafter.batch import CrafterBatch
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import BORDER, FOUR_DIRECTIONS, Land
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, ARROW, ITEMS, MATERIALS, VIEW_HEIGHT, VIEW_WIDTH


def scalar_state(game: Game) -> dict[str, Any]:
    """Everything in a scalar game, as plain values."""
    land, player = game.land, game.players[0]
    return {
        "step": game.step_number,
        "materials": land.materials().tolist(),
        "things": [
            (t.kind, t.x, t.y, t.health, t.timer, (t.dx, t.dy) if t.kind == ARROW else None) for t in land.things
        ],
        "grass": [chunk.grass for chunk in land.grid],
        "path": [chunk.path for chunk in land.grid],
        "chunks": list(land.chunks),
        "player": (player.x, player.y, player.dx, player.dy),
        "vitals": (player.health, player.food, player.drink, player.energy),
        "hidden": (player.hunger, player.thirst, player.fatigue, player.recovery, player.health_when_awake),
        "sleeping": player.sleeping,
        "items": player.items,
        "achievements": player.achievements,
    }


def batch_state(batch: CrafterBatch, number: int) -> dict[str, Any]:
    """The same of one game of a batch."""
    games, tables = batch.games, batch.games.tables

    def row(array: Any) -> Any:
        values = np.asarray(batch.library.host(array))
        length = len(values) // len(batch)
        return values[number * length : (number + 1) * length]

    def one(array: Any) -> Any:
        return row(array)[0].item()

    bytes_ = row(games.map).reshape(tables.width + 2 * BORDER, tables.stride)[BORDER:-BORDER, BORDER:-BORDER]
    things = [
        (k, x, y, h, t, FOUR_DIRECTIONS[f] if k == ARROW else None)
        for k, x, y, h, t, f in zip(
            *(row(a).tolist() for a in (games.kind, games.x, games.y, games.health, games.timer, games.flight)),
            strict=True,
        )
        if k
    ]
    occupied = {(x, y): k for k, x, y, *_ in things} | {(one(games.player_x), one(games.player_y)): len(MATERIALS)}
    for (x, y), byte in np.ndenumerate(bytes_):
        thing = int(byte) >> 4
        assert (thing + len(MATERIALS) - 1 if thing else None) == occupied.get((x, y))
    entered = row(games.entered)
    return {
        "step": one(games.step),
        "materials": (bytes_ & 15).tolist(),
        "things": things,
        "grass": row(games.grass).tolist(),
        "path": row(games.path).tolist(),
        "chunks": [c for c in np.argsort(entered, kind="stable").tolist() if entered[c] < 2**62],
        "player": (one(games.player_x), one(games.player_y), *FOUR_DIRECTIONS[one(games.facing)]),
        "vitals": tuple(one(a) for a in (games.vitality, games.food, games.drink, games.energy)),
        "hidden": (
            one(games.hunger) / 2, one(games.thirst) / 2, one(games.fatigue), one(games.recovery) / 2,
            one(games.vitality_when_awake),
        ),
        "sleeping": one(games.sleeping),
        "items": row(games.items).tolist(),
        "achievements": row(games.achievements).tolist(),
    }  # fmt: skip
