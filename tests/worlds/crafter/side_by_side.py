"""Scalar games and a batch with the same seeds and actions, compared in everything after each step."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from cohabit.worlds.crafter.acting import in_front, is_near
from cohabit.worlds.crafter.batch import CrafterBatch
from cohabit.worlds.crafter.batch.games import NEVER
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import FOUR_DIRECTIONS
from cohabit.worlds.crafter.rules import (
    ACTIONS,
    ARROW,
    DIRECTIONS,
    DO,
    IRON_PICKAXE,
    ITEMS,
    MAKE,
    MOST,
    PLANT,
    PLAYER,
    TABLE,
)  # fmt: skip

Policy = Callable[[random.Random, Game, int | None], int]
ONE_EACH = (
    "step", "player_x", "player_y", "player_cell", "facing", "vitality", "food", "drink", "energy", "hunger", "thirst",
    "fatigue", "recovery", "vitality_when_awake", "sleeping",
)  # fmt: skip
"""The arrays of a batch with one number for each game."""


def scalar_state(game: Game) -> dict[str, Any]:
    """Everything in a scalar game, as plain values."""
    land, player = game.land, game.players[0]
    cells = bytearray(land.material)
    for thing in (*land.things, player):
        cells[thing.cell] |= (thing.kind - PLAYER + 1) << 4
    return {
        "step": game.step_number,
        "map": bytes(cells),
        "things": [
            (t.kind, t.x, t.y, t.health, t.timer, (t.dx, t.dy) if t.kind == ARROW else None) for t in land.things
        ],
        "grass": [chunk.grass for chunk in land.grid],
        "path": [chunk.path for chunk in land.grid],
        "chunks": list(land.chunks),
        "player": (player.x, player.y, player.cell, player.dx, player.dy),
        "vitals": (player.health, player.food, player.drink, player.energy),
        "hidden": (player.hunger, player.thirst, player.fatigue, player.recovery, player.health_when_awake),
        "sleeping": player.sleeping,
        "items": player.items,
        "achievements": player.achievements,
    }


def batch_states(batch: CrafterBatch) -> list[dict[str, Any]]:
    """The same of every game of a batch."""
    host = {
        name: np.asarray(batch.library.host(array)).reshape(len(batch), -1)
        for name, array in vars(batch.games).items()
        if hasattr(array, "shape") and name not in ("xp", "_first_health")
    }
    one_each = {name: host.pop(name)[:, 0].tolist() for name in ONE_EACH}
    return [
        _batch_state({name: rows[number] for name, rows in (host | one_each).items()}) for number in range(len(batch))
    ]


def _batch_state(row: dict[str, Any]) -> dict[str, Any]:
    live = np.flatnonzero(row["kind"])
    things = zip(*(row[name][live].tolist() for name in ("kind", "x", "y", "health", "timer", "flight")), strict=True)
    entered = row["entered"]
    return {
        "step": row["step"],
        "map": row["map"].tobytes(),
        "things": [(*thing, FOUR_DIRECTIONS[flight] if thing[0] == ARROW else None) for *thing, flight in things],
        "grass": row["grass"].tolist(),
        "path": row["path"].tolist(),
        "chunks": [chunk for chunk in np.argsort(entered, kind="stable").tolist() if entered[chunk] != NEVER],
        "player": (row["player_x"], row["player_y"], row["player_cell"], *FOUR_DIRECTIONS[row["facing"]]),
        "vitals": tuple(row[name] for name in ("vitality", "food", "drink", "energy")),
        "hidden": (
            row["hunger"] / 2, row["thirst"] / 2, row["fatigue"], row["recovery"] / 2, row["vitality_when_awake"],
        ),
        "sleeping": row["sleeping"],
        "items": row["items"].tolist(),
        "achievements": row["achievements"].tolist(),
    }  # fmt: skip


# -- policies ------------------------------------------------------------------------------------------------
def at_random(chance: random.Random, game: Game, last: int | None) -> int:
    return chance.randrange(len(ACTIONS))


def wander(chance: random.Random, game: Game, last: int | None) -> int:
    """Long walks, with blows at what is in the way."""
    if chance.random() < (0.7 if _faces_something(game) else 0.2):
        return DO
    return last if last in DIRECTIONS and chance.random() < 0.85 else chance.choice(list(DIRECTIONS))


def settle(chance: random.Random, game: Game, last: int | None) -> int:
    """Walk about, fight, build, plant, make and sleep."""
    if chance.random() < 0.6 and _faces_something(game):
        return DO
    if is_near(game.land, game.players[0], TABLE) and chance.random() < 0.6:
        return chance.choice([*MAKE, *DIRECTIONS, ACTIONS.index("place_furnace")])
    return chance.choice([*DIRECTIONS, DO, chance.randrange(len(ACTIONS)), ACTIONS.index("place_plant")])


def _faces_something(game: Game) -> bool:
    return game.land.at[in_front(game.land, game.players[0])] is not None


class SideBySide:
    """Scalar games and a batch of the same."""

    def __init__(self, seeds: range, size: tuple[int, int] = (64, 64), **batch: Any) -> None:
        self.seeds = seeds
        self.games = [Game.new(KeyedDraws(seed), size=size) for seed in seeds]
        self.batch = CrafterBatch(seeds, size, length=None, **batch)
        self.chance = random.Random(f"{seeds}{size}")
        self.last: list[int | None] = [None] * len(seeds)
        self.seen: Counter[str] = Counter()
        self.compare()

    def compare(self) -> None:
        assert self.games
        for seed, game, found in zip(self.seeds, self.games, batch_states(self.batch), strict=True):
            expected = scalar_state(game)
            different = [name for name in expected if expected[name] != found[name]]
            assert not different, f"seed {seed}, step {game.step_number}: {different}"

    def play(self, steps: int, policy: Policy, help_every: int = 0) -> None:
        """Play on. With ``help_every`` all players are healed and equipped now and then, and plants grow faster."""
        assert steps
        for step in range(1, steps + 1):
            self.last = [policy(self.chance, *both) for both in zip(self.games, self.last, strict=True)]
            result = self.batch.step(np.array(self.last))
            rewards, dead = (self.batch.library.host(array).tolist() for array in (result.rewards, result.dead))
            for number, (game, action) in enumerate(zip(self.games, self.last, strict=True)):
                game.step({0: action})
                player = game.players[0]
                same = rewards[number] == player.reward and dead[number] == (not player.alive)
                assert same, f"seed {self.seeds[number]}, step {game.step_number}: reward or death"
                self._note(game)
            self.compare()
            if help_every and step % help_every == 0:
                self._help()

    def _note(self, game: Game) -> None:
        player = game.players[0]
        self.seen.update(by for by, _ in player.hits)
        self.seen.update(f"kind {thing.kind}" for thing in game.land.things)
        self.seen["death"] += not player.alive
        self.seen["sleep"] += player.sleeping

    def _help(self) -> None:
        for game in self.games:
            player = game.players[0]
            player.health = MOST
            player.food, player.drink, player.energy = (max(n, 3) for n in (player.food, player.drink, player.energy))
            player.items = [max(have, 5) if item <= IRON_PICKAXE else have for item, have in enumerate(player.items)]
            for thing in game.land.things:
                if thing.kind == PLANT:
                    thing.timer += 100
        games, xp = self.batch.games, self.batch.games.xp
        games.vitality = xp.full_like(games.food, MOST)
        for name in ("food", "drink", "energy"):
            vital = getattr(games, name)
            setattr(games, name, xp.where(vital < 3, 3, vital))
        games.timer = xp.where(games.kind == PLANT, games.timer + 100, games.timer)
        items = xp.reshape(games.items, (games.count, len(ITEMS)))
        tools = xp.reshape(self.batch.library.arange(len(ITEMS)), (1, -1)) > IRON_PICKAXE
        games.items = xp.reshape(xp.where((items < 5) & ~tools, 5, items), (-1,))
