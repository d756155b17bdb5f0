"""Thousands of games of one player each, with the rules and keyed draws of the scalar game."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.worlds.crafter.batch.balance import balance
from cohabit.worlds.crafter.batch.creatures import update
from cohabit.worlds.crafter.batch.draws import StepDraws, seed_words
from cohabit.worlds.crafter.batch.games import ROOM_FOR_A_STEP, Games
from cohabit.worlds.crafter.batch.library import Array, Library
from cohabit.worlds.crafter.batch.players import act
from cohabit.worlds.crafter.batch.terrain import WorldMaker
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, ACTIONS, DAY, ITEMS, VIEW_HEIGHT, VIEW_WIDTH

LENGTH = 10_000
"""Steps of an episode, as in the original."""


class Step(Struct, frozen=True):
    """The results of a step, one entry per game."""

    rewards: Array  # a tenth of the change in health, and one for anything unlocked
    dead: Array
    over: Array  # dead, or at the end of the episode
    unlocked: Array  # games x achievements: true for those unlocked in this step


class Observation(Struct, frozen=True):
    """The observations of the players, one row per game."""

    view: Array  # games x 7 x 9 numbers of ``rules.NAMES``: rows from top to bottom, the player in the middle
    vitals: Array  # games x (health, food, drink, energy)
    inventory: Array  # games x items
    daylight: Array  # from 0 (black) to 1
    facing: Array  # games x (x, y)
    sleeping: Array
    achievements: Array  # games x achievements: how often


class CrafterBatch:
    """Games that are stepped together.

    ``seeds`` has one seed per game, and a game is the same as a scalar one with ``KeyedDraws`` of that seed. ``xp`` is
    an array library: NumPy, or CuPy or PyTorch with the extra ``gpu``. A game that is over goes on until it is reset.
    With ``auto_reset`` that happens at the end of its last step, and ``step`` returns what happened before the reset.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        size: tuple[int, int] = (64, 64),
        *,
        length: int | None = LENGTH,
        auto_reset: bool = False,
        xp: Any = np,
        device: Any = None,
    ) -> None:
        if not len(seeds):
            raise BadArgs("a batch needs at least one seed")
        self.library = Library(xp, device)
        self.size, self.length, self.auto_reset = size, length, auto_reset
        self.games = Games(self.library, len(seeds), *size)
        self._maker = WorldMaker(self.library, size)
        self.seeds = [0] * len(seeds)
        self.reset(None, seeds)

    def __len__(self) -> int:
        return self.games.count

    def reset(self, which: Any = None, seeds: Sequence[int] | None = None) -> None:
        """Start new games: all, or those of a mask or of an array of numbers.

        ``seeds`` has one seed for each of them. Without it, each seed follows from the last one of its game."""
        chosen = self._chosen(which)
        if seeds is None:
            seeds = [next_seed(self.seeds[game]) for game in chosen]
        if len(seeds) != len(chosen):
            raise BadArgs(f"{len(chosen)} games are reset, so there must be as many seeds, not {len(seeds)}")
        if not chosen:
            return
        for game, seed in zip(chosen, seeds, strict=True):
            self.seeds[game] = seed
        games, library = self.games, self.library
        words = [library.array(column, library.word) for column in seed_words(seeds).T.copy()]
        games.begin(library.array(chosen, games.xp.int64), words, self._maker.make(words), self._maker.start)

    def _chosen(self, which: Any) -> list[int]:
        if which is None:
            return list(range(len(self)))
        numbers = np.asarray(self.library.host(which))
        if numbers.dtype == bool:
            if numbers.shape != (len(self),):
                raise BadArgs(f"a mask of the games must have {len(self)} entries")
            numbers = np.flatnonzero(numbers)
        chosen: list[int] = numbers.astype(np.int64).reshape(-1).tolist()
        if len(set(chosen)) < len(chosen) or any(not 0 <= game < len(self) for game in chosen):
            raise BadArgs(f"the games to reset must be different numbers from 0 to {len(self) - 1}")
        return chosen

    def step(self, actions: Any) -> Step:
        """One step of every game."""
        games, library, xp = self.games, self.library, self.games.xp
        actions = xp.astype(library.array(actions), xp.int64)
        if actions.shape != (games.count,) or bool(xp.any((actions < 0) | (actions >= len(ACTIONS)))):
            raise BadArgs(f"actions must be {games.count} numbers from 0 to {len(ACTIONS) - 1}")
        games.step = games.step + 1
        games.unlocked = xp.zeros_like(games.unlocked)
        games.make_room(ROOM_FOR_A_STEP)
        draws = StepDraws(library, games.words, games.step)
        act(games, draws, actions)
        update(games, draws)
        balance(games, draws)
        return self._end_step()

    def _end_step(self) -> Step:
        games, xp = self.games, self.games.xp
        unlocked = xp.reshape(games.unlocked, (games.count, len(ACHIEVEMENTS)))
        rewards = xp.astype(games.vitality - games.vitality_before, xp.float64) / 10
        rewards = rewards + xp.astype(xp.any(unlocked, axis=1), xp.float64)
        games.vitality_before = self.library.copy(games.vitality)
        dead = games.vitality <= 0
        over = dead if self.length is None else dead | (games.step >= self.length)
        if self.auto_reset and bool(xp.any(over)):
            self.reset(over)
        return Step(rewards, dead, over, unlocked)

    def observe(self) -> Observation:
        """Return the current observations of the players."""
        games, xp = self.games, self.games.xp
        tables = games.tables
        centre = games.numbers * tables.cells + games.player_cell
        view = self.library.look_up(tables.seen, games.map[centre[:, None] + tables.view[None, :]])
        return Observation(
            view=xp.reshape(view, (games.count, VIEW_HEIGHT, VIEW_WIDTH)),
            vitals=xp.stack([games.vitality, games.food, games.drink, games.energy], axis=1),
            inventory=xp.reshape(self.library.copy(games.items), (games.count, len(ITEMS))),
            daylight=tables.light[games.step % DAY],
            facing=xp.stack([tables.dx[games.facing], tables.dy[games.facing]], axis=1),
            sleeping=self.library.copy(games.sleeping),
            achievements=xp.reshape(self.library.copy(games.achievements), (games.count, len(ACHIEVEMENTS))),
        )

    def symbols(self) -> Array:
        """The current observations as one row of small numbers each, as ``arrays.symbols`` has it for a scalar game."""
        from cohabit.worlds.crafter.arrays import LIGHT_LEVELS  # that module also draws pictures

        games, xp = self.games, self.games.xp
        seen = self.observe()
        state = xp.stack(
            [games.facing, xp.astype(games.sleeping, xp.int64), xp.astype(seen.daylight * LIGHT_LEVELS, xp.int64)],
            axis=1,
        )
        parts = [xp.reshape(seen.view, (games.count, -1)), seen.vitals, seen.inventory, state, seen.achievements > 0]
        return xp.concat([xp.astype(part, xp.uint8) for part in parts], axis=1)


def next_seed(seed: int) -> int:
    """The seed of the game that follows one with this seed."""
    return seed + (1 << 32)
