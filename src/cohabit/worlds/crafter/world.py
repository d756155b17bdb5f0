"""Crafter as a world: one player, who makes a step of the game with each action."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from cohabit.errors import GameRejected
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.world import ActionSpec, ArraySpec, Eye, Outcome, Range, Seat, SeatId, Standing, World, WorldSpec, query
from cohabit.worlds.crafter import saves
from cohabit.worlds.crafter.actions import LEGAL, NOOP_ACTION, action_specs, useful_actions
from cohabit.worlds.crafter.arrays import array_forms, array_of
from cohabit.worlds.crafter.drawing.figures import colour_of
from cohabit.worlds.crafter.drawing.scene import player_scene
from cohabit.worlds.crafter.draws import KeyedDraws, StockDraws
from cohabit.worlds.crafter.events import action_text
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.layers import key_actions, player_layers
from cohabit.worlds.crafter.observing import changes_between, observation_of
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACHIEVEMENTS
from cohabit.worlds.crafter.view import SEEN_LETTERS
from cohabit.worlds.seen_map import ExploredMap, no_map

Length = Annotated[int, Range(1, 1_000_000, "steps until the game ends")]
Side = Annotated[int, Range(9, saves.MAX_SIZE, "cells per side of the map")]


class CrafterWorld(World):
    """The common part of Crafter for one player and for many."""

    game: Game
    keys = key_actions()

    def legal(self, seat: Seat) -> Sequence[Action]:
        return LEGAL

    def numbered(self) -> Sequence[Action]:
        return LEGAL

    def fallback(self, seat: Seat) -> Action:
        return NOOP_ACTION

    def arrays(self) -> Mapping[str, ArraySpec]:
        return array_forms()

    @query()
    def map(self, eye: Eye) -> ExploredMap:
        """Show what you have seen so far, when, and where the unseen begins."""
        player, land = self._map_of(eye), self.game.land
        if player is None:
            return no_map((land.width, land.height), self.game.step_number)
        return self.game.seen[player.number].explored(SEEN_LETTERS, self.game.step_number, (player.x, player.y))

    def _map_of(self, eye: Eye) -> Player | None:
        """Whose map an eye sees."""
        raise NotImplementedError

    @classmethod
    def summary(cls, means: Mapping[str, float]) -> Mapping[str, float]:
        """The Crafter score: the geometric mean of the success rates of the 22 achievements, in percent."""
        if not all(name in means for name in ACHIEVEMENTS):
            return {}
        logs = [math.log(1 + 100 * means[name]) for name in ACHIEVEMENTS]
        return {"Crafter score": math.exp(sum(logs) / len(logs)) - 1}


class Crafter(CrafterWorld):
    """Crafter. You are in a wild land. Survive, gather, build, and reach as many of the 22 achievements as you can.

    Each action is a step. An action that fails still takes a step. You go left, right, up or down, and you face where
    you last went or tried to go. `do` acts on the cell in front of you: it collects wood from trees (which are gone
    then), stone, coal, iron and diamonds, drinks water, finds saplings in grass (one in ten tries), hits creatures, and
    eats ripe plants. A cow is eaten when it dies. You carry at most 9 of everything.

    A table needs 2 wood. At a table (within one cell, diagonally too) you make pickaxes and swords: of wood (1 wood),
    of stone (1 wood, 1 stone), and, at a furnace (4 stone) as well, of iron (1 wood, 1 coal, 1 iron). A wood pickaxe
    mines stone and coal, a stone pickaxe iron, an iron pickaxe diamonds. Placed stones make bridges and walls.

    Health, food, drink and energy are at most 9. Food, drink and energy fall with time; at 0 of any of them your health
    falls, else it grows back. Sleep restores energy: only if it is below 9, and you stay asleep until it is 9 or
    something hurts you. Zombies hit sleepers hard, so wall yourself in first. Zombies roam the grass, more of them at
    night; skeletons shoot in tunnels; lava kills. A sapling that you plant is ripe after 300 steps near you, if no
    creature comes next to it.

    You see 9 x 7 cells. On the map: @ you, ~ water, . grass, # stone, : path, ' sand, T tree, ! lava, c coal, i iron,
    d diamond, t table, f furnace, C cow, Z zombie, S skeleton, A arrow, P plant, R ripe plant, B bundle, O another
    player; nothing beyond the edge of the land. R3U2 is the cell three to the right and two up; x5 means five cells, of
    which the nearest are given. Positions count from the upper left corner, to the right and down.

    The game ends when your health is 0 or time is up. The reward is 1 for a step that unlocks an achievement, and a
    tenth of each change in health.
    """

    spec = WorldSpec(
        name="crafter", version=2, title="Crafter", seats=1, seat_names=("player",), quick=True, show_legal=False,
        front_end="crafter.html",
    )  # fmt: skip

    def __init__(
        self, length: Length = 10_000, randomness: Literal["stock", "keyed"] = "stock", size: Side = 64
    ) -> None:
        self.length = length
        self.randomness = randomness
        self.size = size

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        draws = StockDraws(seed) if self.randomness == "stock" else KeyedDraws(seed)
        self.game = Game.new(draws, size=(self.size, self.size))
        self.game.length = self.length
        self.player.name = seats[0].name

    @property
    def player(self) -> Player:
        return self.game.players[0]

    def to_move(self) -> Sequence[SeatId]:
        return () if self.is_over() else _SEATS

    def is_over(self) -> bool:
        return not self.player.alive or self.game.step_number >= self.length

    def actions(self) -> Sequence[ActionSpec]:
        return action_specs(self._act)

    def useful(self, seat: Seat) -> Sequence[Action]:
        return useful_actions(self.game, self.player)

    def _act(self, by: Seat, number: int) -> Outcome:
        self.game.step({0: number})
        player = self.player
        return Outcome(
            message=action_text(number, player),
            reward=player.reward,
            achievements=tuple([ACHIEVEMENTS[new] for new in player.new]),
            success=player.failure is None,
        )

    def _map_of(self, eye: Eye) -> Player:
        return self.player

    def observe(self, eye: Eye) -> Observation:
        # Nothing is hidden from those who watch: there is nobody to be beaten with it.
        return observation_of(self.game, self.player)

    def observe_data(self, eye: Eye) -> Observation:
        return observation_of(self.game, self.player, with_text=False)

    def changes(self, before: Observation, now: Observation) -> str | None:
        return changes_between(before, now)

    def picture(self, eye: Eye) -> bytes:
        return player_scene(self.game, self.player)

    def scene(self, eye: Eye) -> Mapping[str, Any]:
        return player_layers(self.game, self.player)

    def array(self, eye: Eye, form: str) -> NDArray[np.uint8]:
        return array_of(self.game, self.player, form)

    def standings(self) -> Sequence[Standing]:
        return [standing(_SEATS[0], self.player)]

    def snapshot(self) -> bytes:
        return msgspec.msgpack.encode(saves.save_game(self.game))

    def restore(self, data: bytes) -> None:
        game = saves.load_game(saves.decode(data, saves.SavedGame))
        if len(game.players) != 1:
            raise GameRejected(f"this is not a save of Crafter for one: it has {len(game.players)} players")
        self.game = game
        self.game.length = self.length


_SEATS = Crafter.spec.seat_names


def standing(seat: SeatId, player: Player) -> Standing:
    """A line of the scoreboard: how many achievements, and which."""
    unlocked = {name: int(times > 0) for name, times in zip(ACHIEVEMENTS, player.achievements, strict=True)}
    return Standing(seat, player.name, sum(unlocked.values()), player.alive, unlocked, colour_of(player))
