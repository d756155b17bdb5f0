"""The batch engine plays the same games as the scalar one."""

import copy
from types import ModuleType, SimpleNamespace
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import BadArgs
from cohabit.worlds.crafter import acting, balance, creatures, player
from cohabit.worlds.crafter.arrays import symbols
from cohabit.worlds.crafter.batch import CrafterBatch
from cohabit.worlds.crafter.batch.draws import StepDraws, mixed, over, seed_words, under
from cohabit.worlds.crafter.batch.games import NOWHERE
from cohabit.worlds.crafter.batch.library import Library
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.draws import mixed as scalar_mixed
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENT,
    ACTIONS,
    ARROW,
    MATERIALS,
    NAMES,
    NOOP,
    PLANT,
    SKELETON,
    VIEW_HEIGHT,
    VIEW_WIDTH,
    ZOMBIE,
)  # fmt: skip
from cohabit.worlds.crafter.view import LETTERS, view_of

from .side_by_side import Policy, SideBySide, at_random, batch_states, scalar_state, settle, wander

SMALL = (26, 35)  # not square, and not made of whole chunks


# -- against the scalar game ---------------------------------------------------------------------------------
def test_random_players_live_and_die_as_in_the_scalar_game() -> None:
    games = SideBySide(range(12))
    games.play(260, at_random)
    assert games.seen["death"]
    assert games.seen["zombie"]


@pytest.mark.soak
def test_wanderers_with_tools_dig_and_are_shot_at_as_in_the_scalar_game() -> None:
    games = SideBySide(range(60, 72))
    games.play(320, wander, help_every=15)
    assert games.seen["arrow"] > 20
    assert games.seen[f"kind {ARROW}"]
    assert sum(bool(game.players[0].achievements[ACHIEVEMENT["defeat_skeleton"]]) for game in games.games)


@pytest.mark.soak
def test_settlers_build_plant_make_and_sleep_as_in_the_scalar_game() -> None:
    games = SideBySide(range(40, 50))
    games.play(450, settle, help_every=10)
    reached = {name for name, n in ACHIEVEMENT.items() if any(g.players[0].achievements[n] for g in games.games)}
    assert reached >= {
        "collect_sapling", "collect_wood", "eat_cow", "eat_plant", "make_iron_pickaxe", "make_iron_sword",
        "make_stone_pickaxe", "make_wood_sword", "place_furnace", "place_plant", "place_stone", "place_table", "wake_up",
    }  # fmt: skip
    assert games.seen["sleep"]


@pytest.mark.soak
def test_small_maps_are_the_same_too() -> None:
    games = SideBySide(range(10), SMALL)
    games.play(100, settle, help_every=10)
    games.play(100, wander, help_every=10)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_200_games_of_2000_steps_are_the_same(seed: int) -> None:
    games = SideBySide(range(seed, seed + 20))
    for policy in (at_random, wander, settle, wander):
        games.play(500, policy, help_every=12)


CHANGES: list[tuple[ModuleType, str, Any, Policy]] = [
    (creatures, "ZOMBIE_PAUSE", 4, wander), (creatures, "ZOMBIE_DAMAGE", 1, wander),
    (creatures, "SKELETON_RELOAD", 3, settle), (creatures, "ARROW_DAMAGE", 1, settle), (creatures, "TABLE", -1, settle),
    (acting, "COW_FOOD", 5, settle), (acting, "PLANT_FOOD", 5, settle), (acting, "DAMAGE", (), settle),
    (acting, "is_near", lambda *_: True, settle), (player, "MOST", 8, settle),
    (balance, "_ZOMBIES", balance._ZOMBIES._replace(spawn_chance=0.29), settle),
    (balance, "_COWS", balance._COWS._replace(removal_chance=0.11), settle),
    (balance, "_SKELETONS", balance._SKELETONS._replace(spawn_chance=0.12), settle),
]  # fmt: skip


@pytest.fixture(scope="module")
def begun() -> SideBySide:
    return SideBySide(range(40, 50))


@pytest.mark.sampled(kind=lambda module: module)
@pytest.mark.parametrize(("module", "name", "value", "policy"), CHANGES, ids=[change[1] for change in CHANGES])
def test_a_rule_that_is_changed_in_the_scalar_game_only_is_noticed(
    module: ModuleType, name: str, value: Any, policy: Policy, begun: SideBySide, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = copy.deepcopy(begun, {id(np): np})
    if hasattr(module, name):
        monkeypatch.setattr(module, name, value)
    else:  # it reads the rules that both games share: it gets its own
        monkeypatch.setattr(module, "rules", SimpleNamespace(**{**vars(module.rules), name: value}))
    with pytest.raises(AssertionError, match="step"):
        games.play(400, policy, help_every=10)


# -- new worlds and draws ------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [(64, 64), SMALL, (12, 12)])
def test_new_worlds_are_those_of_the_scalar_game(size: tuple[int, int]) -> None:
    seeds = [0, 1, 7, 2**31, 2**64 - 1, 0xC0FFEE_0123456789ABCDEF_42, 3, 4, 5, 6]
    states = batch_states(CrafterBatch(seeds, size))
    assert states == [scalar_state(Game.new(KeyedDraws(seed), size=size)) for seed in seeds]


@pytest.mark.parametrize(("word", "has_words"), [("uint32", True), ("int64", False)], ids=["NumPy", "as with PyTorch"])
def test_draws_are_those_of_the_scalar_game(word: str, has_words: bool) -> None:
    library = Library()
    library.word, library.has_words = getattr(np, word), has_words
    seeds, steps = list(range(40)), np.arange(40) * 77
    draws = StepDraws(library, [column.astype(word) for column in seed_words(seeds).T], steps)
    places = np.arange(40) * 131
    for what in range(28):
        found = draws.bits(what, np.arange(40), places)
        for game, seed in enumerate(seeds):
            scalar = KeyedDraws(seed)
            scalar.start_step(int(steps[game]))
            assert found[game] / 2**32 == scalar.uniform(what, int(places[game]))
            below = draws.below(np.array([100]), what, np.array([game]), places[game : game + 1])
            assert below[0] == scalar.below(100, what, int(places[game]))


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_chances_compare_as_whole_numbers(bits: int, chance: float) -> None:
    assert (bits < under(chance)) == (bits / 2**32 < chance)
    assert (bits > over(chance)) == (bits / 2**32 > chance)
    assert int(mixed(Library(), np.array([bits], np.uint32))[0]) == scalar_mixed(bits)


# -- other array libraries -----------------------------------------------------------------------------------
@pytest.mark.soak
def test_a_library_that_allows_only_the_standard_plays_the_same_games() -> None:
    # Many short games: this library takes long for each call, and not much longer for a larger array.
    games = SideBySide(range(16), (18, 18), xp=array_api_strict)
    games.play(25, settle, help_every=5)
    games.play(20, wander, help_every=5)
    assert games.seen[f"kind {PLANT}"]
    assert games.seen[f"kind {ZOMBIE}"]
    assert games.seen[f"kind {SKELETON}"]
    assert isinstance(games.batch.observe().view, type(array_api_strict.asarray([0])))


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.integers(0, 19), unique=True), st.booleans(), st.integers(0, 9))
def test_assignments_and_counts_by_the_standard_alone_are_those_of_numpy(places: list[int], one: bool, n: int) -> None:
    strict, plain = Library(array_api_strict), Library()
    values = 7 if one else np.arange(len(places)) + 30
    results = []
    for library in (strict, plain):
        array, indices = library.arange(20), library.array(np.array(places, np.int64))
        library.put(array, indices, values if one else library.array(values))
        counts = library.counts(library.array(np.array([p % 5 for p in places], np.int64)), 5 + n)
        results.append((library.host(array).tolist(), library.host(counts).tolist()))
    assert results[0] == results[1]


# -- slots ---------------------------------------------------------------------------------------------------
def test_closing_holes_and_adding_slots_changes_nothing_that_can_be_seen() -> None:
    games = SideBySide(range(60, 66))
    for _ in range(12):
        games.play(15, wander, help_every=5)
        games.batch.games._close_holes()
        games.compare()
        games.batch.games._set_slots(games.batch.games.slots + 3)
        games.compare()
    state = games.batch.games
    assert (state.x == NOWHERE).sum() == (state.kind == 0).sum()


@pytest.mark.soak
def test_games_run_out_of_slots_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohabit.worlds.crafter.batch.games.SPARE_SLOTS", 0)
    games = SideBySide(range(70, 76))
    before = games.batch.games.slots
    games.play(320, wander, help_every=10)
    assert games.batch.games.slots > before


# -- the interface -------------------------------------------------------------------------------------------
def test_an_observation_says_what_the_scalar_game_shows() -> None:
    games = SideBySide(range(80, 86))
    games.play(120, settle, help_every=10)
    seen = games.batch.observe()
    assert seen.view.shape == (6, VIEW_HEIGHT, VIEW_WIDTH)
    for number, game in enumerate(games.games):
        player = game.players[0]
        view = view_of(game.land, player)
        expected = [[LETTERS.index(letter) for letter in row] for row in view.ground]
        for words, x, y in view.things:
            name = next(name for name in NAMES if name and name in words.split())
            expected[y + VIEW_HEIGHT // 2][x + VIEW_WIDTH // 2] = NAMES.index(name)
        expected[VIEW_HEIGHT // 2][VIEW_WIDTH // 2] = NAMES.index("player")
        assert seen.view[number].tolist() == expected
        assert seen.vitals[number].tolist() == [player.health, player.food, player.drink, player.energy]
        assert seen.inventory[number].tolist() == player.items
        assert seen.daylight[number] == game.daylight
        assert seen.facing[number].tolist() == [player.dx, player.dy]
        assert seen.sleeping[number] == player.sleeping
        assert seen.achievements[number].tolist() == player.achievements
        assert games.batch.symbols()[number].tolist() == symbols(game, player).tolist()


def test_an_observation_does_not_change_when_the_games_go_on() -> None:
    batch = CrafterBatch(range(4))
    seen = batch.observe()
    before = [np.array(getattr(seen, name)) for name in seen.__struct_fields__]
    assert before
    for action in np.random.default_rng(1).integers(0, len(ACTIONS), (60, 4)):
        batch.step(action)
    batch.reset()
    for name, array in zip(seen.__struct_fields__, before, strict=True):
        assert (getattr(seen, name) == array).all()


def test_what_is_unlocked_is_reported_once_and_rewarded() -> None:
    batch = CrafterBatch(range(30))
    total = np.zeros((30, len(ACHIEVEMENT)), int)
    for action in np.random.default_rng(2).integers(0, len(ACTIONS), (150, 30)):
        step = batch.step(action)
        total += step.unlocked
        assert ((step.rewards > 0.15) == step.unlocked.any(axis=1)).all()
    assert total.max() == 1
    assert (total == (batch.observe().achievements > 0)).all()


def test_some_games_are_reset_and_the_others_go_on() -> None:
    batch = CrafterBatch(range(6))
    for _ in range(25):
        batch.step(np.full(6, ACTIONS.index("move_right")))
    before = batch_states(batch)
    batch.reset([4, 1], [11, 12])
    after = batch_states(batch)
    assert [after[n] for n in (0, 2, 3, 5)] == [before[n] for n in (0, 2, 3, 5)]
    assert after[4] == scalar_state(Game.new(KeyedDraws(11)))
    assert after[1] == scalar_state(Game.new(KeyedDraws(12)))
    batch.reset(np.array([True, False, False, False, False, False]), [13])
    assert batch_states(batch)[0] == scalar_state(Game.new(KeyedDraws(13)))
    for _ in range(3):
        batch.step([NOOP] * 6)
    games = [Game.new(KeyedDraws(seed)) for seed in (13, 12, 11)]
    for game in games:
        for _ in range(3):
            game.step({})
    assert [batch_states(batch)[n] for n in (0, 1, 4)] == [scalar_state(game) for game in games]


def test_a_game_that_is_over_is_reset_by_itself_if_asked_for() -> None:
    batch = CrafterBatch(range(5), length=7, auto_reset=True)
    for step in range(1, 15):
        result = batch.step([NOOP] * 5)
        assert result.over.all() == (step % 7 == 0)
        assert not result.dead.any()
    assert (batch.games.step == 0).all()
    assert len(set(batch.seeds)) == 5
    assert batch_states(batch) == [scalar_state(Game.new(KeyedDraws(seed))) for seed in batch.seeds]
    assert not set(batch.seeds) & set(range(5))


def test_the_episode_ends_at_its_length_or_with_death() -> None:
    batch = CrafterBatch(range(3), length=4)
    batch.games.vitality[1] = 0
    assert batch.step([NOOP] * 3).over.tolist() == [False, True, False]
    batch.step([NOOP] * 3)
    batch.step([NOOP] * 3)
    last = batch.step([NOOP] * 3)
    assert last.over.tolist() == [True, True, True]
    assert last.dead.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda batch: CrafterBatch([]), "at least one seed"),
        (lambda batch: batch.step([0]), "3 numbers from 0 to 16"),
        (lambda batch: batch.step([0, 17, 0]), "3 numbers from 0 to 16"),
        (lambda batch: batch.step([0, -1, 0]), "3 numbers from 0 to 16"),
        (lambda batch: batch.reset([1, 1]), "different numbers from 0 to 2"),
        (lambda batch: batch.reset([3]), "different numbers from 0 to 2"),
        (lambda batch: batch.reset(np.array([True])), "must have 3 entries"),
        (lambda batch: batch.reset([1], [2, 3]), "as many seeds"),
    ],
)
def test_wrong_arguments_are_refused_and_change_nothing(wrong: Any, says: str) -> None:
    batch = CrafterBatch(range(3))
    before = batch_states(batch)
    with pytest.raises(BadArgs, match=says):
        wrong(batch)
    assert batch_states(batch) == before


def test_the_names_of_what_is_seen_are_those_of_the_semantic_map() -> None:
    batch = CrafterBatch([1])
    assert batch.observe().view[0, VIEW_HEIGHT // 2, VIEW_WIDTH // 2] == len(MATERIALS)
