"""What a model reads: exact, short, and the same as the structured observation."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.agents.brains.crafter.expert import CrafterExpert
from cohabit.world import Eye, Seat
from cohabit.worlds.crafter import text
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.events import action_text
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import Land
from cohabit.worlds.crafter.observing import changes_between, observation_of
from cohabit.worlds.crafter.rules import (  # fmt: skip
    ACHIEVEMENTS,
    ACTIONS,
    COAL,
    DIAMOND,
    DO,
    GRASS,
    IRON,
    ITEMS,
    LAVA,
    MATERIALS,
    PLANT,
    RUNGS,
    SLEEP,
    STONE,
    TABLE,
    TREE,
    VITALS,
    WATER,
    ZOMBIE,
)
from cohabit.worlds.crafter.view import LETTERS, MATERIAL_OF
from cohabit.worlds.crafter.world import Crafter

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
        "Step 1/10000, day, at 12,12. health 9 food 9 drink 9 energy 9.\n"
        "~...T....\n"
        "~........\n"
        "~..c.....\n"
        "~...@TT..\n"
        "~.....P..\n"
        "~........\n"
        "~........\n"
        "Facing right: tree.\n"
        "See plant R2D1, tree R1 x3, coal L1U1, water L4 x7.\n"
        "Carry nothing.\n"
        "Done 0/22.\n"
        "Next collect wood (at a tree), sapling (at grass), drink (at water).\n"
        "You turned, and a tree is in the way."
    )


def test_an_empty_meadow_at_the_corner_of_the_map_is_not_blind():
    game = meadow((0, 0))
    assert seen(game).text.split("\n")[1:10] == [
        "         ",
        "         ",
        "         ",
        "    @....",
        "    .....",
        "    .....",
        "    .....",
        "Facing down: grass.",
        "Carry nothing.",
    ]


@settings(max_examples=examples(80), deadline=None)
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
                name = MATERIALS[materials[x * 8 + y]]
                counts.setdefault(name, set()).add((x - player.x, y - player.y))
    *rows, _facing, line = text.view_text(seen(game).status).split("\n")
    if not line.startswith("See "):
        rows, line = [*rows, _facing], ""
    for row, words in enumerate(rows[:7]):
        for column, letter in enumerate(words):
            x, y = player.x + column - 4, player.y + row - 3
            inside = 0 <= x < 8 and 0 <= y < 8
            expected = LETTERS[materials[x * 8 + y]] if inside else " "
            assert letter == ("@" if (column, row) == (4, 3) else expected)
    told = {}
    for part in line.removeprefix("See ").rstrip(".").split(", ") if line else ():
        name, *words = part.split(" ")
        number = int(words.pop()[1:]) if words[-1].startswith("x") else len(words)
        told[name] = number, [place(word) for word in words]
    matter = ("water", "tree", "coal", "iron", "diamond", "table", "furnace", "lava")
    assert {name: number for name, (number, _) in told.items()} == {
        name: len(cells) for name, cells in counts.items() if name in matter
    }
    for name, (_, cells) in told.items():
        assert set(cells) <= counts[name]
        nearest = min(abs(x) + abs(y) for x, y in counts[name])
        assert abs(cells[0][0]) + abs(cells[0][1]) == nearest


WHY = [
    ("move_left", {"put": (STONE, (11, 12))}, "You turned, and stone is in the way."),
    ("do", {"put": (STONE, (12, 13))}, "No effect: you need a wood_pickaxe."),
    ("do", {"put": (IRON, (12, 13)), "items": {"wood_pickaxe": 1}}, "No effect: you need a stone_pickaxe."),
    ("do", {"put": (TABLE, (12, 13))}, "No effect: there is nothing to do with a table."),
    (
        "do",
        {"put": (DIAMOND, (12, 13)), "items": {"stone_pickaxe": 1}},
        "No effect: you need an iron_pickaxe.",
    ),
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
    assert "Facing down: ripe plant." in seen(game).to_text()
    game.players[0].food = 3
    game.step({0: DO})
    assert game.players[0].food == 7


def test_progress_is_told_by_the_shorter_list():
    done = list(ACHIEVEMENTS)
    assert text.progress_text(done, {}) == "Done 22/22."
    most = [name for name in done if name not in ("collect_diamond", "collect_iron", "wake_up", "place_plant")]
    assert text.progress_text(most, {}) == (
        "Done 18/22, left place plant (1 sapling, facing grass); collect iron, diamond; wake up."
    )
    assert text.progress_text(["collect_coal", "collect_wood"], {"wood": 1}) == (
        "Done 2/22: collect coal, wood.\nNext place table (2 wood); collect sapling (at grass), drink (at water)."
    )


@given(done=st.lists(st.sampled_from(ACHIEVEMENTS), unique=True))
def test_what_is_done_follows_from_the_text(done):
    told = text.progress_text(done, {}).split("\n")[0]
    assert told.startswith(f"Done {len(done)}/22")
    _, mark, names = re.sub(r" \(.*?\)", "", told).partition(" left " if " left " in told else ": ")
    named = []
    for part in names.rstrip(".").split("; ") if names else ():
        verb, _, what = part.partition(" ")
        named += [f"{verb}_{one}" for one in what.split(", ")]
    assert sorted(set(ACHIEVEMENTS) - set(named) if mark == " left " else named) == (sorted(done) if names else named)
    assert names or len(done) in (0, 22)


def test_an_inventory_has_amounts_of_materials_and_kinds_of_tools():
    inventory = {"wood": 3, "wood_pickaxe": 2, "iron_pickaxe": 1, "stone_sword": 1}
    assert text.inventory_text(inventory) == "3 wood, wood/iron pickaxe, stone sword"


def test_the_next_rungs_can_be_reached_from_what_is_done():
    """Doing always the first open rung reaches all 22 achievements."""
    done = []
    while len(done) < len(ACHIEVEMENTS):
        first = "_".join(text.next_text(done, {}).split(" ")[:2]).rstrip(",;")
        assert first in ACHIEVEMENTS
        assert first not in done
        done.append(first)
    assert text.next_text(done, {}) == ""
    assert sorted(rung.name for rung in RUNGS) == sorted(ACHIEVEMENTS)


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 2**32), actions=st.lists(st.integers(0, 16), min_size=2, max_size=60))
def test_changes_tell_everything_that_a_reader_of_the_old_view_needs(seed, actions):
    """A reader who applies them to the old map and the old numbers knows the new ones."""
    game = Game.new(KeyedDraws(seed), 1, (24, 24))
    game.players[0].items = [3] * 12
    before = seen(game)
    for action in actions:
        game.step({0: action})
        now = seen(game)
        told = changes_between(before, now)
        assert told is not None
        _check_changes(before, now, told)
        before = now


def _check_changes(before, now, told):
    (x, y), (new_x, new_y) = before.status["position"], now.status["position"]
    moved = re.search(r"you moved (\w+)", told)
    assert place(moved[1] if moved else "") == (new_x - x, new_y - y)
    for name in VITALS:
        found = re.search(rf"\b{name} (\d+)[,.]", told)
        assert (int(found[1]) if found else before.status[name]) == now.status[name]
    for item in ITEMS:
        found = re.search(rf"carry (\d+) {item}\b", told)
        assert (int(found[1]) if found else before.inventory.get(item, 0)) == now.inventory.get(item, 0)
    things = re.search(r"^Things (.+)\.$", told, re.MULTILINE)
    kept = sorted([name, a - (new_x - x), b - (new_y - y)] for name, a, b in before.status["things"])
    if things is None:
        assert kept == sorted(map(list, now.status["things"]))
    else:
        listed = [] if things[1] == "none" else [part.rsplit(" ", 1) for part in things[1].split(", ")]
        assert sorted([name, *place(where)] for name, where in listed) == sorted(map(list, now.status["things"]))
    assert new_ground(before, told) == now.status["ground"]


def new_ground(before, told):
    """The map that a reader of the old one draws from the changes."""
    old = before.status["ground"]
    moved = re.search(r"you moved (\w+)", told)
    dx, dy = place(moved[1] if moved else "")
    rows = [[old[r + dy][c + dx] if 0 <= r + dy < 7 and 0 <= c + dx < 9 else "?" for c in range(9)] for r in range(7)]
    for side, letters in re.findall(r"^New (left|right|top|bottom) (.+)$", told, re.MULTILINE):
        if side in ("top", "bottom"):
            rows[0 if side == "top" else 6] = list(letters)
        else:
            for row, letter in zip(rows, letters, strict=True):
                row[0 if side == "left" else 8] = letter
    changed = re.search(r"^Now (.+)\.$", told, re.MULTILINE)
    letter_of = {name: letter for letter, name in MATERIAL_OF.items()}
    for part in changed[1].split(", ") if changed else ():
        where, material = part.split(" ")
        x, y = place(where)
        rows[y + 3][x + 4] = letter_of[material]
    return ["".join(row) for row in rows]


def test_after_a_long_way_the_whole_text_is_shorter_than_the_changes():
    game = meadow()
    before = seen(game)
    for _ in range(3):
        game.step({0: ACTIONS.index("move_left")})
    assert changes_between(before, seen(game)) is None


def test_a_turn_toward_an_obstacle_is_no_failure_and_a_second_one_is():
    game = meadow()
    put(game, STONE, (11, 12))
    for expected in ("You turned, and stone is in the way.", "No effect: stone is in the way."):
        game.step({0: ACTIONS.index("move_left")})
        assert seen(game).status["events"] == expected


def test_waking_up_is_no_failure_to_sleep():
    game = meadow()
    player = game.players[0]
    player.sleeping, player.energy = True, 9
    game.step({0: SLEEP})
    assert (player.sleeping, player.failure) == (False, None)
    assert seen(game).status["events"] == "Achieved wake_up."


def test_at_the_edge_where_nothing_can_be_made_the_text_says_so():
    game = meadow((0, 5))
    put(game, TABLE, (1, 5))
    game.players[0].items[ITEMS.index("wood")] = 3
    game.step({0: ACTIONS.index("make_wood_pickaxe")})
    expected = "No effect: nothing can be made at the left and the upper edge of the map."
    assert seen(game).status["events"] == expected


def test_the_reply_to_an_action_says_what_was_gained():
    game = meadow()
    player = game.players[0]
    player.achievements = [1] * len(ACHIEVEMENTS)
    for material, items, expected in (
        (WATER, {}, "You drank: 9 of 9."),
        (TREE, {"wood": 2}, "You have 3 wood now."),
        (TREE, {"wood": 9}, "You carry 9 wood already, so this one is lost."),
    ):
        put(game, material, (12, 13))
        for item, amount in items.items():
            player.items[ITEMS.index(item)] = amount
        game.step({0: DO})
        assert action_text(DO, player) == expected
    game.step({0: 0})
    assert action_text(0, player) == "noop: done."


def test_when_time_is_up_the_last_text_says_so():
    game = meadow()
    game.length = 1
    game.step({})
    assert seen(game).to_text().endswith("Done 0/22.\nTime is up.")


# -- how long the texts are ------------------------------------------------------------------------------------
def test_the_texts_of_expert_play_are_short():
    """Means over games of the expert, in tokens of o200k: a view at most 60, an observation 150, changes 50."""
    import bpe_openai  # takes seconds

    encoding = bpe_openai.get_encoding("o200k_base")
    counts = {"view": [], "observation": [], "changes": []}
    seat, eye = Seat("player", "player"), Eye("player", "own")
    for seed in (1001, 1002):
        world, expert = Crafter(), CrafterExpert()
        world.reset(seed, [seat])
        before = world.observe(eye)
        for step in range(1200):
            if world.is_over():
                break
            world._act(seat, ACTIONS.index(expert.decide(before).name))
            now = world.observe(eye)
            if step % 10 == 0:
                told = text.view_text(now.status), now.to_text(), changes_between(before, now)
                for name, words in zip(counts, told, strict=True):
                    counts[name].append(len(encoding.encode(words)))
            before = now
    means = {name: sum(found) / len(found) for name, found in counts.items()}
    assert means["view"] <= 60
    assert means["observation"] <= 150
    assert means["changes"] <= 50
