"""The larger pictures for people: what they show, and that drawing them changes nothing."""

import os
import subprocess
import sys
from functools import cache
from io import BytesIO
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.examples import examples

from cohabit.worlds.crafter.drawing.figures import COLOURS, colour_of
from cohabit.worlds.crafter.drawing.icons import achievement_icon, faint_icon, icon
from cohabit.worlds.crafter.drawing.map import map_scene
from cohabit.worlds.crafter.drawing.scene import CELL, GAP, VIEW, player_scene
from cohabit.worlds.crafter.draws import KeyedDraws, StockDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENTS,
    ARROW,
    BUNDLE,
    COW,
    DAY,
    GRASS,
    ITEMS,
    MATERIALS,
    PLANT,
    RIPE_AFTER,
    SKELETON,
    VIEW_HEIGHT,
    VIEW_WIDTH,
    VITALS,
    ZOMBIE,
    daylight,
)

DARKEST_STEP = min(range(DAY), key=daylight)
Pixels = np.ndarray


def opened(png: bytes) -> Pixels:
    with Image.open(BytesIO(png)) as image:
        assert image.format == "PNG"
        return np.array(image).astype(int)


def meadow(players: int = 1, step: int = 60) -> Game:
    """A game on grass without creatures, at a time of day."""
    game = Game.new(KeyedDraws(1), players=players)
    for thing in list(game.land.things):
        game.land.remove(thing)
    for x in range(64):
        for y in range(64):
            game.land.set_material(game.land.cell(x, y), GRASS)
    game.step_number, game.daylight = step, daylight(step)
    return game


def put(game: Game, player: Player, x: int, y: int) -> None:
    game.remove_player(player)
    game.add_player(x, y, player)


def cell_of(picture: Pixels, dx: int, dy: int) -> Pixels:
    """The cell at an offset from the player."""
    left, top = GAP + (VIEW_WIDTH // 2 + dx) * CELL, GAP + (VIEW_HEIGHT // 2 + dy) * CELL
    return picture[top : top + CELL, left : left + CELL]


def state_of(game: Game) -> tuple[object, ...]:
    return (
        game.draws.dump(), bytes(game.land.material), [msgspec.to_builtins(thing) for thing in game.land.things],
        [msgspec.to_builtins(player) for player in game.players], game.step_number, game.daylight,
        list(game.land.chunks), [thing and (thing.kind, thing.x) for thing in game.land.at],
    )  # fmt: skip


# -- nothing changes ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("draws", [StockDraws, KeyedDraws])
def test_drawing_changes_nothing_by_day_or_by_night(draws: type[StockDraws] | type[KeyedDraws]) -> None:
    game = Game.new(draws(3))
    for step in (60, DARKEST_STEP):
        while game.step_number < step:
            game.players[0].health = 9
            game.step({})
        before = state_of(game)
        player_scene(game, game.players[0])
        map_scene(game, game.players)
        assert state_of(game) == before


def test_the_same_game_gives_the_same_pictures_in_another_process() -> None:
    script = """
import hashlib
from cohabit.worlds.crafter.drawing.map import map_scene
from cohabit.worlds.crafter.drawing.scene import player_scene
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.game import Game
game = Game.new(KeyedDraws(3), players=3)
for _ in range(5):
    game.step({0: 1})
pictures = [player_scene(game, player) for player in game.players] + [map_scene(game, game.players)]
print([hashlib.sha256(picture).hexdigest() for picture in pictures])
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1


def test_a_picture_does_not_depend_on_those_drawn_before() -> None:
    game = meadow(players=2)
    first = player_scene(game, game.players[0])
    player_scene(game, game.players[1])
    map_scene(game, game.players)
    assert player_scene(game, game.players[0]) == first


# -- the view of a player -------------------------------------------------------------------------------------
@pytest.mark.soak
@given(st.integers(0, 63), st.integers(0, 63), st.sampled_from([60, DARKEST_STEP]), st.booleans())
@settings(max_examples=examples(25), deadline=None)
def test_a_scene_can_be_drawn_anywhere_on_the_map(x: int, y: int, step: int, sleeping: bool) -> None:
    game = meadow(step=step)
    player = game.players[0]
    put(game, player, x, y)
    player.sleeping = sleeping
    picture = opened(player_scene(game, player))
    for dx, dy, beyond in ((-4, 0, x < 4), (4, 0, x > 59), (0, -3, y < 3), (0, 3, y > 60)):
        assert is_green(cell_of(picture, dx, dy)) is not beyond


def is_green(cell: Pixels) -> bool:
    return bool(cell[..., 1].mean() > cell[..., 0].mean() + 20)


@pytest.mark.sampled
@pytest.mark.parametrize("step", [60, DARKEST_STEP])
@pytest.mark.parametrize("sleeping", [False, True])
def test_everything_in_the_view_can_be_seen_by_day_by_night_and_asleep(step: int, sleeping: bool) -> None:
    game = meadow(step=step)
    player = game.players[0]
    player.sleeping = sleeping
    empty = opened(player_scene(game, player))
    for kind in (COW, ZOMBIE, SKELETON, PLANT, ARROW, BUNDLE):
        for dx, dy in ((-4, -3), (4, 3), (2, 0)):
            thing = game.land.add(kind, player.x + dx, player.y + dy)
            thing.dx = 1
            difference = np.abs(opened(player_scene(game, player)) - empty)
            assert cell_of(difference, dx, dy).max() > 60, (kind, dx, dy)
            assert cell_of(difference, dx, dy).mean() > 2, (kind, dx, dy)
            game.land.remove(thing)
    for material in range(1, len(MATERIALS)):
        if material != GRASS:
            game.land.set_material(game.land.cell(player.x + 3, player.y + 2), material)
            difference = np.abs(opened(player_scene(game, player)) - empty)
            assert cell_of(difference, 3, 2).mean() > 8, MATERIALS[material]


@pytest.mark.parametrize("step", [60, DARKEST_STEP])
def test_all_materials_and_all_things_look_different(step: int) -> None:
    game = meadow(step=step)
    player = game.players[0]
    looks: dict[str, Pixels] = {}
    for material in range(1, len(MATERIALS)):
        game.land.set_material(game.land.cell(player.x + 2, player.y + 2), material)
        looks[MATERIALS[material]] = cell_of(opened(player_scene(game, player)), 2, 2)
    game.land.set_material(game.land.cell(player.x + 2, player.y + 2), GRASS)
    for name, kind, timer, flight in (
        ("cow", COW, 0, (0, 0)), ("zombie", ZOMBIE, 0, (0, 0)), ("skeleton", SKELETON, 0, (0, 0)),
        ("plant", PLANT, 0, (0, 0)), ("ripe", PLANT, RIPE_AFTER + 1, (0, 0)), ("bundle", BUNDLE, 0, (0, 0)),
        ("left", ARROW, 0, (-1, 0)), ("right", ARROW, 0, (1, 0)), ("up", ARROW, 0, (0, -1)), ("down", ARROW, 0, (0, 1)),
    ):  # fmt: skip
        thing = game.land.add(kind, player.x + 2, player.y + 2)
        thing.timer, (thing.dx, thing.dy) = timer, flight
        looks[name] = cell_of(opened(player_scene(game, player)), 2, 2)
        game.land.remove(thing)
    assert len(looks) == len(MATERIALS) - 1 + 10
    for one, other in combinations(looks, 2):
        assert np.abs(looks[one] - looks[other]).mean() > 2, (one, other)


def test_a_player_looks_different_in_each_direction_and_asleep() -> None:
    game = meadow(players=2)
    me, other = game.players
    put(game, other, me.x + 2, me.y)
    looks = []
    for other.dx, other.dy in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        looks.append(cell_of(opened(player_scene(game, me)), 2, 0))
    other.sleeping = True
    looks.append(cell_of(opened(player_scene(game, me)), 2, 0))
    assert all(np.abs(one - two).mean() > 2 for one, two in combinations(looks, 2))


def test_sixteen_players_have_different_colours() -> None:
    game = meadow(players=17)
    colours = [colour_of(player) for player in game.players]
    assert len(set(colours[:16])) == len(set(COLOURS)) == 16
    assert colours[16] == colours[0]


def test_the_cell_in_front_is_framed() -> None:
    game = meadow()
    player = game.players[0]
    pictures = {}
    for player.dx, player.dy in ((0, 1), (1, 0)):
        pictures[player.dx, player.dy] = opened(player_scene(game, player))
    for dx, dy in ((0, 1), (1, 0)):
        difference = np.abs(cell_of(pictures[0, 1], dx, dy) - cell_of(pictures[1, 0], dx, dy))
        assert difference.max() > 100


def test_names_stand_under_other_players_and_not_under_oneself() -> None:
    game = meadow(players=2)
    me, other = game.players
    put(game, other, me.x - 2, me.y)
    nameless = opened(player_scene(game, me))
    other.name = "Grace"
    named = opened(player_scene(game, me))
    assert cell_of(np.abs(named - nameless), -2, 1).max() > 100
    me.name = "Ada"
    view = slice(GAP, GAP + VIEW[1]), slice(GAP, GAP + VIEW[0])
    both_named = opened(player_scene(game, me))
    assert np.array_equal(both_named[view], named[view])
    assert not np.array_equal(both_named, named)


@cache
def two_players() -> Game:
    return meadow(players=2)


@given(st.text(max_size=80))
@settings(max_examples=examples(25), deadline=None)
def test_any_name_can_be_drawn(name: str) -> None:
    game = two_players()
    for player in game.players:
        player.name = name
    assert player_scene(game, game.players[0])
    assert map_scene(game, game.players)


def test_every_vital_item_and_achievement_is_in_the_picture() -> None:
    game = meadow()
    player = game.players[0]
    seen = {player_scene(game, player)}
    for vital in VITALS:
        for amount in range(9):
            setattr(player, vital, amount)
            seen.add(player_scene(game, player))
        setattr(player, vital, 9)
    for item in range(len(ITEMS)):
        player.items[item] = 9
        seen.add(player_scene(game, player))
        player.items[item] = 0
    for achievement in range(len(ACHIEVEMENTS)):
        player.achievements[achievement] = 1
        seen.add(player_scene(game, player))
        player.achievements[achievement] = 0
    assert len(seen) == 1 + 9 * len(VITALS) + len(ITEMS) + len(ACHIEVEMENTS)


def test_every_achievement_and_item_has_an_icon_that_shows_whether_it_is_there() -> None:
    for name in ACHIEVEMENTS:
        assert achievement_icon(name, 24, True) != achievement_icon(name, 24, False)
    assert len({icon(name, 28).tobytes() for name in VITALS + ITEMS}) == len(VITALS + ITEMS)
    assert len({faint_icon(name, 28).tobytes() for name in ("wood_sword", "wood_pickaxe", "coal", "diamond")}) == 4


def test_night_is_darker_and_bluer_than_day() -> None:
    day, night = (
        cell_of(opened(player_scene(game, game.players[0])), 4, 3) for game in (meadow(), meadow(step=DARKEST_STEP))
    )
    assert night.mean() < 0.75 * day.mean()
    assert night[..., 2].mean() / night.mean() > day[..., 2].mean() / day.mean()


# -- the whole map -----------------------------------------------------------------------------------------------
@pytest.mark.soak
def test_sixty_four_players_are_drawn_in_their_views_and_on_the_map() -> None:
    game = Game.new(KeyedDraws(5), players=64)
    before = opened(map_scene(game, game.players[:63]))
    everyone = opened(map_scene(game, game.players))
    assert everyone.shape == before.shape
    last = game.players[-1]
    at = np.abs(everyone - before)[
        GAP + last.y * 10 : GAP + last.y * 10 + 10, GAP + last.x * 10 : GAP + last.x * 10 + 10
    ]
    assert at.max() > 60
    for player in game.players:
        assert player_scene(game, player)


def test_the_map_shows_creatures_and_the_table_shows_every_player() -> None:
    game = meadow(players=3)
    seen = {map_scene(game, game.players)}
    game.land.add(ZOMBIE, 5, 5)
    seen.add(map_scene(game, game.players))
    for player in game.players:
        player.food -= 3
        seen.add(map_scene(game, game.players))
        player.achievements[0] = 1
        seen.add(map_scene(game, game.players))
        player.name = f"somebody {player.number}"
        seen.add(map_scene(game, game.players))
    assert len(seen) == 11


def test_someone_who_is_dead_or_has_left_is_in_the_table_but_not_on_the_map() -> None:
    game = meadow(players=2)
    player = game.players[1]
    put(game, player, 10, 10)
    there = opened(map_scene(game, game.players))
    game.remove_player(player)
    left = opened(map_scene(game, game.players))
    place = slice(GAP + 100, GAP + 110)
    assert np.abs(there - left)[place, place].max() > 60
    player.health = 0
    assert not np.array_equal(opened(map_scene(game, game.players)), left)


@pytest.mark.parametrize("size", [(20, 30), (64, 64), (100, 40)])
def test_maps_of_other_sizes_and_without_players_are_drawn(size: tuple[int, int]) -> None:
    game = Game.new(KeyedDraws(2), size=size)
    assert opened(map_scene(game, game.players)).shape[0] > 300
    assert opened(map_scene(game, [])).shape[0] > 300
    assert opened(player_scene(game, game.players[0])).shape[2] == 3


def test_scenes_need_no_extra() -> None:
    script = """
import importlib.util
importlib.util.find_spec = lambda name, package=None: None
from cohabit.worlds.crafter.drawing.map import map_scene
from cohabit.worlds.crafter.drawing.scene import player_scene
from cohabit.worlds.crafter.draws import StockDraws
from cohabit.worlds.crafter.game import Game
game = Game.new(StockDraws(1))
print(len(player_scene(game, game.players[0])) > 1000, len(map_scene(game, game.players)) > 1000)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
