"""What a model reads: exact, short, and the same as the structured observation."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohabit.worlds.crafter import text
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import Land
from cohabit.worlds.crafter.observing import changes_between, observation_of
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENTS,
    ACTIONS,
    COAL,
    DO,
    GRASS,
    IRON,
    ITEMS,
    LAVA,
    PLANT,
    RUNGS,
    SLEEP,
    STONE,
    TABLE,
    TREE,
    WATER,
    ZOMBIE,
)  # fmt: skip
from cohabit.worlds.crafter.view import LETTERS

TURNS = {"L": (-1, 0), "R": (1, 0), "U": (0, -1), "D": (0, 1)}


def meadow(*players):
    game = Game(KeyedDraws(1), Land(np.full((24, 24), GRASS, np.uint8)), (12, 12))
    for x, y in players or [(12, 12)]:
        game.add_player(x, y)
    return game


def put(game, material, *cells):
    for x, y in cells:
        game.land.set_material(game.land.cell(x, y), material)


def seen(game):
    return observation_of(game, game.players[0])


def place(words):
    """The offset that some letters give."""
    x = y = 0
    for turn, steps in re.findall(r"([LRUD])(\d+)", words):
        x, y = x + TURNS[turn][0] * int(steps), y + TURNS[turn][1] * int(steps)
    return x, y


def test_a_view_says_what_is_where():
    game = meadow()
    put(game, TREE, (13, 12), (14, 12), (12, 9))
    put(game, COAL, (11, 11))
    put(game, WATER, *[(8, y) for y in range(24)])
    game.land.add(PLANT, 14, 13)
    game.step({0: ACTIONS.index("move_right")})
    assert seen(game).to_text() == (
        "Step 1, day, at 12,12. health 9 food 9 drink 9 energy 9.\n"
        "Facing right: tree; left grass, up grass, down grass.\n"
        "See plant R2D1, grass here x52, tree R1 x3, coal L1U1, water L4 x7.\n"
        "Carry nothing.\n"
        "Done 0/22. Next collect_wood (do at a tree); collect_sapling (do at grass); collect_drink (do at water).\n"
        "No effect: tree is in the way."
    )


def test_an_empty_meadow_at_the_corner_of_the_map_is_not_blind():
    game = meadow((0, 0))
    assert seen(game).text.split("\n")[1:3] == [
        "Facing down: grass; left edge of the map, right grass, up edge of the map.",
        "See grass here x20.",
    ]


@settings(max_examples=80, deadline=None)
@given(
    materials=st.lists(st.integers(1, len(LETTERS) - 1), min_size=64, max_size=64),
    at=st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
def test_offsets_and_counts_are_exact(materials, at):
    land = Land(np.array(materials, np.uint8).reshape(8, 8))
    game = Game(KeyedDraws(1), land, (4, 4))
    player = game.add_player(*at)
    counts = {}
    for x in range(8):
        for y in range(8):
            if abs(x - player.x) <= 4 and abs(y - player.y) <= 3:
                name = text.MATERIALS[materials[x * 8 + y]]
                counts.setdefault(name, set()).add((x - player.x, y - player.y))
    line = text.view_text(seen(game).status).split("See ")[1].rstrip(".")
    told = {}
    for part in line.split(", "):
        name, *words = part.split(" ")
        number = int(words.pop()[1:]) if words[-1].startswith("x") else len(words)
        told[name] = number, [place(word) for word in words]
    assert {name: number for name, (number, _) in told.items()} == {name: len(cells) for name, cells in counts.items()}
    for name, (_, cells) in told.items():
        assert set(cells) <= counts[name]
        nearest = min(abs(x) + abs(y) for x, y in counts[name])
        assert abs(cells[0][0]) + abs(cells[0][1]) == nearest


WHY = [
    ("move_left", {"put": (STONE, (11, 12))}, "No effect: stone is in the way."),
    ("do", {"put": (STONE, (12, 13))}, "No effect: you need a wood_pickaxe."),
    ("do", {"put": (IRON, (12, 13)), "items": {"wood_pickaxe": 1}}, "No effect: you need a stone_pickaxe."),
    ("do", {"put": (TABLE, (12, 13))}, "No effect: there is nothing to do with table."),
    ("sleep", {}, "No effect: you can sleep only if your energy is below 9."),
    ("place_table", {"items": {"wood": 1}}, "No effect: you need 2 wood and have 1."),
    ("place_table", {"put": (WATER, (12, 13)), "items": {"wood": 5}}, "No effect: it cannot be placed on water."),
    ("make_wood_pickaxe", {"items": {"wood": 1}}, "No effect: there is no table within one cell."),
    (
        "make_iron_sword",
        {"items": {"wood": 1, "coal": 1, "iron": 1}},
        "No effect: there is no table and no furnace within one cell.",
    ),
    ("make_stone_sword", {"put": (TABLE, (13, 13)), "items": {"wood": 1}}, "No effect: you need 1 stone and have 0."),
    ("move_down", {"put": (LAVA, (12, 13))}, "You died in lava."),
]


@pytest.mark.parametrize(("action", "setup", "expected"), WHY)
def test_a_failed_action_says_why(action, setup, expected):
    game = meadow()
    player = game.players[0]
    if "put" in setup:
        put(game, setup["put"][0], setup["put"][1])
    for item, amount in setup.get("items", {}).items():
        player.items[ITEMS.index(item)] = amount
    before = list(player.items)
    game.step({0: ACTIONS.index(action)})
    assert seen(game).to_text().split("\n")[-1] == expected
    assert player.items == before


def test_what_happened_in_a_step_is_told():
    game = meadow()
    player = game.players[0]
    game.land.add(ZOMBIE, 12, 13)
    game.step({0: DO})
    assert seen(game).status["events"] == "You hit the zombie, 4 health left; a zombie hit you, -2 health."
    put(game, TREE, (11, 12))
    game.step({0: ACTIONS.index("move_left")})
    game.step({0: DO})
    assert seen(game).status["events"] == "Achieved collect_wood."
    player.energy = 5
    game.step({0: SLEEP})
    assert "Asleep." in seen(game).to_text()


def test_an_unripe_plant_says_so_and_a_ripe_one_is_called_ripe():
    game = meadow()
    plant = game.land.add(PLANT, 12, 13)
    game.step({0: DO})
    assert seen(game).status["events"] == "No effect: the plant is not ripe yet."
    plant.timer = 301
    assert "Facing down: ripe plant;" in seen(game).to_text()
    game.players[0].food = 3
    game.step({0: DO})
    assert game.players[0].food == 7


def test_progress_is_told_by_the_shorter_list():
    done = list(ACHIEVEMENTS)
    assert text.progress_text(done, {}) == "Done 22/22."
    assert text.progress_text([name for name in done if name not in ("collect_diamond", "wake_up")], {}) == (
        "Done 20/22, left collect_diamond (do at a diamond); wake_up (sleep when energy is below 9, walled in)."
    )
    assert text.progress_text(["collect_wood"], {"wood": 1}) == (
        "Done 1/22: collect_wood.\n"
        "Next place_table (2 wood); collect_sapling (do at grass); collect_drink (do at water)."
    )


@given(done=st.lists(st.sampled_from(ACHIEVEMENTS), unique=True))
def test_what_is_done_follows_from_the_text(done):
    done = [name for name in ACHIEVEMENTS if name in done]
    told = text.progress_text(done, {}).split("\n")[0]
    named = re.findall(r"(?<![\w])(?:" + "|".join(ACHIEVEMENTS) + r")\b", re.sub(r"\(.*?\)", "", told.split("Next")[0]))
    if "left" in told:
        assert sorted(named) == sorted(set(ACHIEVEMENTS) - set(done))
    elif named:
        assert named == done
    assert f"Done {len(done)}/22" in told


def test_an_inventory_has_amounts_of_materials_and_kinds_of_tools():
    inventory = {"wood": 3, "wood_pickaxe": 2, "iron_pickaxe": 1, "stone_sword": 1}
    assert text.inventory_text(inventory) == "3 wood, wood/iron pickaxe, stone sword"


def test_the_next_rungs_can_be_reached_from_what_is_done():
    """Doing always the first open rung reaches all 22 achievements."""
    done = []
    while len(done) < len(ACHIEVEMENTS):
        first = text.next_text(done, {}).split("; ")[0].split(" ")[0]
        assert first in ACHIEVEMENTS
        assert first not in done
        done.append(first)
    assert text.next_text(done, {}) == ""
    assert sorted(rung.name for rung in RUNGS) == sorted(ACHIEVEMENTS)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), actions=st.lists(st.integers(0, 16), min_size=2, max_size=60))
def test_changes_tell_everything_that_a_reader_of_the_old_view_needs(seed, actions):
    """Whoever applies them to the old map and the old numbers knows the new ones."""
    game = Game.new(KeyedDraws(seed), 1, (24, 24))
    game.players[0].items = [3] * 12
    before = seen(game)
    for action in actions:
        game.step({0: action})
        now = seen(game)
        _check_changes(before, now, changes_between(before, now))
        before = now


def _check_changes(before, now, told):
    (x, y), (new_x, new_y) = before.status["position"], now.status["position"]
    moved = re.search(r"you moved (\w+)", told)
    assert place(moved[1] if moved else "") == (new_x - x, new_y - y)
    for name in text.VITALS:
        found = re.search(rf"\b{name} (\d+)[,.]", told)
        assert (int(found[1]) if found else before.status[name]) == now.status[name]
    for item in ITEMS:
        found = re.search(rf"carry (\d+) {item}\b", told)
        assert (int(found[1]) if found else before.inventory.get(item, 0)) == now.inventory.get(item, 0)
    things = re.search(r"Creatures (.+)\.", told)
    kept = sorted([name, a - (new_x - x), b - (new_y - y)] for name, a, b in before.status["things"])
    if things is None:
        assert kept == sorted(map(list, now.status["things"]))
    else:
        listed = [] if things[1] == "none" else [part.rsplit(" ", 1) for part in things[1].split(", ")]
        assert sorted([name, *place(where)] for name, where in listed) == sorted(map(list, now.status["things"]))
    changed = re.search(r"Now (.+)\.", told)
    for part in changed[1].split(", ") if changed else ():
        where, material = part.split(" ")
        a, b = place(where)
        assert text.MATERIAL_OF[now.status["ground"][b + 3][a + 4]] == material
