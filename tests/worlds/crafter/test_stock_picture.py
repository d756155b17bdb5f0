"""Pictures are those of the original, compared byte by byte with its renderer while both play the same game."""

import collections
import random
import subprocess
import sys
from collections.abc import Iterator

import crafter
import numpy as np
import pytest
from crafter import engine, objects

from cohabit.errors import BadArgs
from cohabit.worlds.crafter import trade
from cohabit.worlds.crafter.drawing.stock import stock_picture
from cohabit.worlds.crafter.draws import KeyedDraws, StockDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.rules import (
    ARROW,
    COW,
    DIRECTIONS,
    ITEMS,
    MATERIALS,
    NIGHT,
    PLANT,
    RIPE_AFTER,
    SKELETON,
    SLEEP,
    VITALS,
    WOOD,
    ZOMBIE,
)

from .original_noise import use_lists

use_lists()

SIZES = [(64, 64), (18, 18), (90, 72), (100, 80), (33, 57), (144, 144), (200, 300)]


class OrderedSet(dict[object, None]):
    """The original's sets of creatures have no order of their own, so its games differ from run to run."""

    def add(self, item: object) -> None:
        self[item] = None

    def remove(self, item: object) -> None:
        del self[item]


class World(engine.World):
    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._chunks = collections.defaultdict(OrderedSet)


class Original(crafter.Env):
    """The original, which can draw the picture of a step again, with the same noise."""

    def _obs(self) -> np.ndarray:
        self.before = self._world.random.get_state()
        return super()._obs()

    def again(self, size: tuple[int, int]) -> np.ndarray:
        after = self._world.random.get_state()
        self._world.random.set_state(self.before)
        picture = self.render(size)
        self._world.random.set_state(after)
        return picture


class Pair:
    """The original and ours, side by side."""

    def __init__(self, seed: int) -> None:
        self.original = Original(seed=seed)
        self.first = self.original.reset()
        self.game = Game.new(StockDraws(seed))
        self.player = self.game.players[0]

    def step(self, action: int) -> np.ndarray:
        """Returns the original's picture."""
        picture, *_ = self.original.step(action)
        self.game.step({0: action})
        return picture

    def set(self, name: str, amount: int) -> None:
        self.original._player.inventory[name] = amount
        if name in ITEMS:
            self.player.items[ITEMS.index(name)] = amount
        else:
            setattr(self.player, name, amount)

    def put_player(self, x: int, y: int) -> None:
        """Move the player to a cell, which is cleared for it."""
        self.put_material("grass", x, y)
        thing = self.game.land.at[self.game.land.cell(x, y)]
        if thing is self.player:
            return
        if thing is not None:
            self.game.land.remove(thing)
            self.original._world.remove(self.original._world[x, y][1])
        self.original._world.move(self.original._player, (x, y))
        self.game.land.move(self.player, x - self.player.x, y - self.player.y)

    def put_material(self, name: str, x: int, y: int) -> None:
        self.original._world[x, y] = name
        self.game.land.set_material(self.game.land.cell(x, y), MATERIALS.index(name))


@pytest.fixture(autouse=True)
def ordered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(engine, "World", World)
    return


def mixed_actions(seed: int, steps: int) -> Iterator[int]:
    rng = random.Random(seed)
    for _ in range(steps):
        yield rng.choice((1, 2, 3, 4)) if rng.random() < 0.5 else rng.choice((5, 5, 5, 7, 8, 9, 10, 11, 14))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_pictures_equal_those_of_the_original_through_a_day_and_a_night(seed: int) -> None:
    assert dark_pictures_compared(seed, steps=320) > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3, 33))
def test_pictures_equal_those_of_the_original_for_days(seed: int) -> None:
    dark_pictures_compared(seed, steps=2000)


def dark_pictures_compared(seed: int, steps: int) -> int:
    """Play a game and compare its pictures. Returns how many of them were of the night."""
    both = Pair(seed)
    assert np.array_equal(stock_picture(both.game, both.player), both.first)
    rng = random.Random(seed)
    dark = 0
    for number, action in enumerate(mixed_actions(seed, steps)):
        both.set(rng.choice(VITALS), rng.randint(5, 9))
        both.set(rng.choice(ITEMS), rng.randint(0, 9))
        expected = both.step(action)
        if number % 4 == 0 or both.game.daylight < NIGHT:
            assert np.array_equal(stock_picture(both.game, both.player), expected), number
            dark += both.game.daylight < NIGHT
        if both.player.health == 0:
            break
    return dark


def test_pictures_of_sleep_equal_those_of_the_original() -> None:
    both = Pair(5)
    both.set("energy", 1)
    asleep = 0
    for _ in range(200):
        both.set("health", 9)
        expected = both.step(SLEEP)
        asleep += both.player.sleeping
        assert np.array_equal(stock_picture(both.game, both.player), expected)
    assert asleep > 50


@pytest.mark.soak
def test_pictures_of_any_size_equal_those_of_the_original_by_day_and_by_night() -> None:
    both = Pair(7)
    for number, action in enumerate(mixed_actions(7, 170)):
        both.set("health", 9)
        both.step(action)
        if number % 40 == 0 or number > 165:
            for size in SIZES:
                assert np.array_equal(stock_picture(both.game, both.player, size), both.original.again(size)), size
    assert both.game.daylight < NIGHT


def test_pictures_at_the_edge_of_the_map_equal_those_of_the_original() -> None:
    both = Pair(2)
    for x, y in [(0, 0), (63, 0), (0, 63), (63, 63), (1, 30), (30, 62)]:
        both.put_player(x, y)
        assert (both.player.x, both.player.y) == (x, y)
        expected = both.step(SLEEP)
        assert np.array_equal(stock_picture(both.game, both.player), expected), (x, y)


def test_every_material_thing_direction_and_amount_looks_as_in_the_original() -> None:
    both = Pair(4)
    both.put_player(32, 32)
    original, land = both.original._world, both.game.land
    for number, name in enumerate(MATERIALS[1:]):
        both.put_material(name, 29 + number % 4, 30 + number // 4)
    for thing in list(land.things):
        land.remove(thing)
    for thing in original.objects:
        if thing is not both.original._player:
            original.remove(thing)
    me = both.original._player
    places = iter([(35, 29), (35, 30), (35, 31), (35, 32), (35, 33), (35, 34), (35, 35), (36, 29), (36, 30)])
    for kind, make in {
        COW: objects.Cow,
        ZOMBIE: lambda w, at: objects.Zombie(w, at, me),
        SKELETON: lambda w, at: objects.Skeleton(w, at, me),
        PLANT: objects.Plant,
    }.items():
        x, y = next(places)
        original.add(make(original, (x, y)))
        land.add(kind, x, y)
    for dx, dy in DIRECTIONS.values():
        x, y = next(places)
        original.add(objects.Arrow(original, (x, y), (dx, dy)))
        arrow = land.add(ARROW, x, y)
        arrow.dx, arrow.dy = dx, dy
    x, y = next(places)
    ripe = objects.Plant(original, (x, y))
    ripe.grown = RIPE_AFTER + 1
    original.add(ripe)
    land.add(PLANT, x, y).timer = RIPE_AFTER + 1
    for amount in range(10):
        for name in VITALS + ITEMS:
            both.set(name, amount)
        dx, dy = list(DIRECTIONS.values())[amount % 4]
        me.facing = (dx, dy)
        both.player.dx, both.player.dy = dx, dy
        assert np.array_equal(stock_picture(both.game, both.player), both.original.again((64, 64)))


def test_looking_at_night_changes_nothing_and_shows_the_same_each_time() -> None:
    looked, unseen = Game.new(StockDraws(3)), Game.new(StockDraws(3))
    for action in mixed_actions(3, 180):
        for game in (looked, unseen):
            game.players[0].health = 9
            game.step({0: action})
        before = looked.draws.dump()
        first = stock_picture(looked, looked.players[0])
        assert np.array_equal(first, stock_picture(looked, looked.players[0]))
        assert looked.draws.dump() == before == unseen.draws.dump()
    assert looked.daylight < NIGHT
    assert [(t.kind, t.x, t.y) for t in looked.land.things] == [(t.kind, t.x, t.y) for t in unseen.land.things]


def test_the_noise_of_a_dark_step_is_in_a_snapshot_of_the_draws() -> None:
    game = Game.new(StockDraws(3))
    for action in mixed_actions(3, 180):
        game.players[0].health = 9
        game.step({0: action})
    expected = stock_picture(game, game.players[0])
    game.draws = StockDraws.load(game.draws.dump())
    assert np.array_equal(stock_picture(game, game.players[0]), expected)


def test_keyed_draws_have_noise_of_their_own_for_each_dark_step() -> None:
    game = Game.new(KeyedDraws(3))
    for _ in range(200):
        game.players[0].health = 9
        game.step({})
    noise = game.draws.night_noise(63, 49)
    assert noise.shape == (63, 49)
    assert 32 <= noise.min() < 40
    assert 119 < noise.max() < 127
    assert np.array_equal(noise, KeyedDraws.load(game.draws.dump()).night_noise(63, 49))
    game.step({})
    assert not np.array_equal(noise, game.draws.night_noise(63, 49))


def test_other_players_and_bundles_are_drawn_too() -> None:
    game = Game.new(KeyedDraws(1), players=2)
    one, other = game.players
    alone = stock_picture(game, one)
    game.remove_player(other)
    assert not np.array_equal(stock_picture(game, one), alone)
    empty = stock_picture(game, one)
    one.items[WOOD] = 1
    trade.carry_out(game.land, one, trade.Trade("drop", WOOD, 1))
    assert not np.array_equal(stock_picture(game, one), empty)


def test_the_last_picture_of_a_player_who_is_gone_still_shows_the_player() -> None:
    game = Game.new(StockDraws(1))
    player = game.players[0]
    expected = stock_picture(game, player)
    game.remove_player(player)
    assert np.array_equal(stock_picture(game, player), expected)


def test_a_picture_that_is_too_small_for_its_digits_is_refused() -> None:
    game = Game.new(StockDraws(1))
    with pytest.raises(BadArgs, match="at least 18 x 18"):
        stock_picture(game, game.players[0], (17, 64))


def test_without_the_package_the_error_names_the_extra_to_install() -> None:
    script = """
import sys
sys.modules["crafter"] = None
import importlib.util
importlib.util.find_spec = lambda name, package=None: None
from cohabit.errors import BadArgs
from cohabit.worlds.crafter.drawing.stock import stock_picture
from cohabit.worlds.crafter.draws import StockDraws
from cohabit.worlds.crafter.game import Game
game = Game.new(StockDraws(1))
try:
    stock_picture(game, game.players[0])
except BadArgs as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'cohabit[crafter]'" in done.stdout


def test_drawing_never_imports_the_original() -> None:
    script = """
import sys
from cohabit.worlds.crafter.drawing.stock import stock_picture
from cohabit.worlds.crafter.draws import StockDraws
from cohabit.worlds.crafter.game import Game
game = Game.new(StockDraws(1))
stock_picture(game, game.players[0])
print("crafter" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
