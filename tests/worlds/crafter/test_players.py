"""Many players in one land: trade, conflicts, arrivals and departures."""

import re
from base64 import b64encode
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import GameRejected
from cohabit.saves import pack
from cohabit.scenario import AgentSpec
from cohabit.testing.play import open_room
from cohabit.world import Arrival, Eye, Seat
from cohabit.worlds.crafter.draws import PRIORITY, KeyedDraws
from cohabit.worlds.crafter.events import death_text
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import Land
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENT,
    ACTIONS,
    BUNDLE,
    COW,
    DO,
    GRASS,
    ITEMS,
    MOST,
    SAND,
    STONE,
    TABLE,
    VITALS,
    ZOMBIE,
)
from cohabit.worlds.crafter.shared import MAX_PLAYERS, MIN_AWAY, CrafterShared, Item
from cohabit.worlds.crafter.trade import Trade, leave_behind
from cohabit.worlds.crafter.view import view_of

SIZE = (24, 24)
EAT_COW = ACHIEVEMENT["eat_cow"]
trades = st.builds(Trade, st.sampled_from(["give", "drop"]), st.integers(0, len(ITEMS) - 1), st.integers(1, MOST))
choices = st.one_of(st.integers(0, len(ACTIONS) - 1), st.just(DO), trades)


def meadow(players=2, **options):
    """A land of grass without creatures, with players side by side."""
    game = Game(KeyedDraws(1), Land(np.full(SIZE, GRASS, np.uint8)), (12, 12), **options)
    for number in range(players):
        game.add_player(4 + number, 12)
    return game


def belongings(game):
    """All items in the world, wherever they are."""
    holders = [player.items for player in game.players] + [t.items for t in game.land.things if t.items is not None]
    return [sum(amounts) for amounts in zip(*holders, strict=True)]


@settings(max_examples=examples(60), deadline=None)
@given(
    start=st.lists(st.lists(st.integers(0, MOST), min_size=12, max_size=12), min_size=3, max_size=3),
    steps=st.lists(st.tuples(*[st.one_of(trades, st.sampled_from([0, 1, 2, 3, 4]))] * 3), max_size=30),
)
def test_nothing_is_created_or_lost_in_trade(start, steps):
    game = meadow(3)
    for player, items in zip(game.players, start, strict=True):
        player.items = list(items)
    before = belongings(game)
    for step in steps:
        game.step(dict(enumerate(step)))
        assert belongings(game) == before
        assert all(0 <= amount <= MOST for player in game.players for amount in player.items)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(*[st.one_of(trades, st.just(DO), st.sampled_from([0, 1, 2, 3, 4]))] * 2), max_size=60))
def test_players_achieve_nothing_by_what_they_do_to_each_other(steps):
    """Giving to and fro, dropping and taking up, killing each other and coming back, also with the best tools."""
    game = meadow(2, fighting=True)
    game.land.material[:] = bytes([SAND]) * len(game.land.material)  # where there is nothing to collect
    for player in game.players:
        player.items = [MOST] * len(ITEMS)
    for step in steps:
        for player in game.players:
            if not player.alive:
                player.health = MOST
                game.add_player(*game.free_start(), player)
        game.step(dict(enumerate(step)))
    assert [any(player.achievements) for player in game.players] == [False, False]


def test_what_is_given_arrives_and_what_does_not_fit_stays():
    game = meadow()
    giver, taker = game.players
    giver.items[1], taker.items[1] = 5, 7
    giver.dx, giver.dy = 1, 0
    game.step({0: Trade("give", 1, 5)})
    assert (giver.items[1], taker.items[1]) == (3, 9)
    assert (giver.gave, taker.received) == ((1, 2, ""), [(1, 2, "")])
    game.step({0: Trade("give", 1, 1)})
    assert giver.failure == ("full", "")


def test_a_bundle_is_taken_by_whoever_comes_and_is_gone_when_it_is_empty():
    game = meadow()
    giver, taker = game.players
    giver.items[1] = 4
    giver.dx, giver.dy = 0, 1
    game.step({0: Trade("drop", 1, 4)})
    (bundle,) = game.land.things
    assert (bundle.kind, bundle.x, bundle.y, bundle.items[1]) == (BUNDLE, 4, 13, 4)
    game.step({1: 4})
    taker.dx, taker.dy = -1, 0
    game.step({1: DO})
    assert taker.items[1] == 4
    assert not game.land.things


@pytest.mark.parametrize("collector", [0, 1])
def test_one_stone_counts_once_however_often_it_is_placed_and_collected_and_by_whom(collector):
    world = shared()
    game = world.game
    game.land = Land(np.full(SIZE, GRASS, np.uint8))
    for number, player in enumerate(game.players):  # on both sides of one cell
        player.x, player.y, player.dx, player.dy = 10 + 2 * number, 12, 1 - 2 * number, 0
        player.cell = game.land.cell(player.x, player.y)
        player.items[ITEMS.index("wood_pickaxe")] = 1
    between, stone = game.land.cell(11, 12), ITEMS.index("stone")
    game.land.set_material(between, STONE)
    world.chosen = {"1": DO}
    world.resolve()
    for _ in range(5):
        for player in world.game.players:
            player.items[stone] = int(player.number == 0)  # handed over
        world.chosen = {"1": ACTIONS.index("place_stone")}
        world.resolve()
        world.restore(world.snapshot())
        world.chosen = {str(collector + 1): DO}
        world.resolve()
        assert world.game.players[collector].items[stone] == 1
    world.game.players[0].items[stone] = MOST
    world.game.land.set_material(between, STONE)
    world.chosen = {"1": DO}
    world.resolve()  # it cannot carry this one
    ada, bob = world.deeds("1"), world.deeds("2")
    assert (ada["gather"], bob.get("gather", 0)) == (1, 0)
    if collector == 0:
        assert (ada["achievement:collect_stone"], ada["achievement:place_stone"]) == (2, 1)
    else:
        assert (bob["achievement:collect_stone"], ada["achievement:place_stone"]) == (1, 5)


def test_the_dead_leave_their_things():
    game = meadow()
    dead = game.players[0]
    dead.items[2] = 3
    game.remove_player(dead)
    leave_behind(game.land, dead)
    (bundle,) = game.land.things
    assert (bundle.x, bundle.y, bundle.items[2], sum(dead.items)) == (dead.x, dead.y, 3, 0)


@settings(max_examples=examples(15), deadline=None)
@given(
    order=st.permutations(range(4)),
    steps=st.lists(st.tuples(choices, choices, choices, choices), min_size=1, max_size=40),
    seed=st.integers(0, 2**64),
)
def test_other_names_for_the_seats_give_other_names_to_the_outcomes(order, steps, seed):
    """Who is called what has no effect on the rules: renamed players have each other's fate."""
    names = ["ann", "ben", "cleo", "dora"]
    worlds = []
    for called in (names, [names[i] for i in order]):
        world = CrafterShared(size=24, fighting=True)
        world.reset(seed, [Seat(str(number + 1), name) for number, name in enumerate(called)])
        worlds.append(world)
    for step in steps:
        for world in worlds:
            for number, choice in enumerate(step):
                if str(number + 1) in world.to_move():
                    world._choose(Seat(str(number + 1)), choice)
            world.resolve()
    one, two = ([(p.x, p.y, p.health, p.items, p.achievements) for p in world.game.players] for world in worlds)
    assert one == two


def test_each_of_two_players_gets_a_contested_cell_about_half_of_the_time():
    won = 0
    for seed in range(200):
        game = meadow()
        game.draws = KeyedDraws(seed)
        left, right = game.players
        game.land.at[right.cell] = None
        game.add_player(6, 12, right)
        game.step({0: 2, 1: 1})  # both want the cell between them
        assert {(left.x, right.x)} <= {(5, 6), (4, 5)}
        won += left.x == 5
    assert 70 < won < 130


def test_one_more_seat_changes_nothing_for_the_others():
    """Far from each other, everybody's steps are as if they were alone: draws belong to places, not to an order."""
    alone, together = meadow(1), meadow(2)
    together.land.at[together.players[1].cell] = None
    together.add_player(20, 3, together.players[1])
    for number in range(60):
        action = (number * 7) % len(ACTIONS)
        alone.step({0: action})
        together.step({0: action, 1: 2 if number % 2 else 1})
        one, two = alone.players[0], together.players[0]
        assert (one.x, one.y, one.items, one.achievements) == (two.x, two.y, two.items, two.achievements)
        assert [getattr(one, name) for name in VITALS] == [getattr(two, name) for name in VITALS]


def test_a_zombie_goes_for_the_nearest_player():
    game = meadow()
    near, far = game.players
    game.land.at[far.cell] = None
    game.add_player(15, 12, far)
    zombie = game.land.add(ZOMBIE, 8, 12)
    for _ in range(12):
        game.step({})
    assert abs(zombie.x - near.x) + abs(zombie.y - near.y) <= 2
    assert near.health < MOST
    assert far.health == MOST


def test_things_are_updated_near_any_player_and_nowhere_else():
    game = Game.new(KeyedDraws(3), 2, (64, 64))
    for thing in list(game.land.things):
        game.land.remove(thing)
    for player, (x, y) in zip(game.players, ((5, 5), (60, 60)), strict=True):
        game.land.at[player.cell] = None
        game.add_player(x, y, player)
    plants = [game.land.add(18, *at) for at in ((5, 15), (60, 50), (30, 30))]
    game.step({})
    assert [plant.timer for plant in plants] == [1, 1, 0]


def test_players_cannot_hurt_each_other_unless_fighting_is_allowed():
    peaceful, wild = meadow(), meadow(fighting=True)
    for game in (peaceful, wild):
        game.players[0].dx, game.players[0].dy = 1, 0
        game.step({0: DO})
    assert (peaceful.players[1].health, peaceful.players[0].failure) == (9, ("peace",))
    assert wild.players[1].health == 8


# -- seats of the shared world ---------------------------------------------------------------------------
def shared(players=2, **options):
    world = CrafterShared(size=24, **options)
    world.reset(5, [Seat(str(number + 1), f"p{number + 1}") for number in range(players)])
    return world


def test_a_body_faces_the_directions_of_the_view():
    world = shared()
    for word, way in (("left", "left"), ("up", "up"), ("east", "right"), ("south", "down")):
        assert world.turn_to(Seat("1"), word).message == f"You face {way}."
        assert world.body("1").facing == way
        assert f"Facing {way}:" in world.observe(Eye("1", "own")).text
    with pytest.raises(GameRejected, match="you can look left, right, up or down"):
        world.turn_to(Seat("1"), "tree")


def test_the_rules_say_that_a_failed_action_takes_a_step():
    assert "An action that fails still takes a step." in CrafterShared().describe()


def test_leaving_and_coming_back_loses_nothing():
    world = shared()
    player = world._player("2")
    player.items, player.food, player.achievements[3] = [1] * 12, 4, 2
    before = (player.x, player.y, list(player.items), player.food, list(player.achievements))
    world.depart(Seat("2", "p2"), "left")
    assert [seat.id for seat in world.seats_now()] == ["1"]
    assert world.game.land.at[player.cell] is None
    with pytest.raises(GameRejected, match="in 10 steps"):
        world.arrive(Arrival("p2", "2", returns=True))
    for _ in range(MIN_AWAY):
        world.resolve()
    assert world.arrive(Arrival("p2", "2", returns=True)) == Seat("2", "p2")
    assert (player.x, player.y, player.items, player.food, player.achievements) == before
    assert world.game.land.at[player.cell] is player


def test_somebody_else_cannot_take_the_seat_of_one_who_left():
    world = shared()
    world.depart(Seat("2", "p2"), "left")
    with pytest.raises(GameRejected, match="call `sit` without a seat"):
        world.arrive(Arrival("p2", "2"))
    assert world.arrive(Arrival("eve")).id == "3"


def test_who_comes_back_to_an_occupied_cell_starts_nearby():
    world = shared()
    gone, other = world._player("2"), world._player("1")
    world.depart(Seat("2", "p2"), "left")
    world.game.land.at[other.cell] = None
    world.game.add_player(gone.x, gone.y, other)
    gone.left_at -= MIN_AWAY
    world.arrive(Arrival("p2", "2", returns=True))
    assert gone.cell != other.cell
    assert world.game.land.at[gone.cell] is gone


def test_there_is_room_for_64_players_and_no_more():
    world = CrafterShared()
    world.reset(5, [Seat("1", "p1")])
    for number in range(2, MAX_PLAYERS + 1):
        assert world.arrive(Arrival(f"p{number}")).id == str(number)
    assert len({player.cell for player in world.game.players}) == MAX_PLAYERS
    with pytest.raises(GameRejected, match="64 players"):
        world.arrive(Arrival("late"))
    world.depart(Seat("7", "p7"), "left")
    assert world.arrive(Arrival("late")).id == "65"


def test_silence_is_doing_nothing():
    world = shared()
    before = world._player("1").x, world._player("1").y
    world.resolve()
    assert (world._player("1").x, world._player("1").y) == before
    assert world.game.step_number == 1


@pytest.mark.parametrize(
    ("goals", "first", "second"),
    [("own", [1.0, 0.0], [1.0, 1.0]), ("shared", [1.0, 1.0], [1.0, 1.0]), ("rival", [1.0, 0.0], [1.0, 0.0])],
)
def test_goals_decide_what_an_achievement_is_worth(goals, first, second):
    world = shared(goals=goals)
    for number in (0, 1):
        world.game.players[number].items[1] = 9
    rewards = []
    for seat in ("1", "2"):
        player = world._player(seat)
        target = world.game.land.cell(player.x + player.dx, player.y + player.dy)
        if world.game.land.at[target] is not None or world.game.land.material[target] != GRASS:
            player.dx, player.dy = 0, -1
        world._choose(Seat(seat), ACTIONS.index("place_table"))
        world.resolve()
        assert player.new, "the table was placed"
        rewards.append([world.returns().get(number, 0.0) for number in ("1", "2")])
    assert rewards == [first, second]


def test_a_seat_sees_its_own_view_and_nothing_of_others_beyond_it():
    """Two lands that differ only where a player cannot look give it the same observation."""
    one, two = shared(), shared()
    for world in (one, two):
        player = world._player("1")
        world.game.land.at[player.cell] = None
        world.game.add_player(2, 2, player)
    other = two._player("2")
    other.items, other.health, other.sleeping = [5] * 12, 3, True
    two.game.land.set_material(two.game.land.cell(12, 12), TABLE)
    two.game.land.add(ZOMBIE, 20, 20)
    assert one.observe(Eye("1", "own")) == two.observe(Eye("1", "own"))
    assert one.observe(Eye(None, "public")) == two.observe(Eye(None, "public"))
    assert one.observe(Eye(None, "all")) != two.observe(Eye(None, "all"))


def test_a_view_has_the_same_size_at_every_edge_of_the_map():
    game = meadow(1)
    (player,) = game.players
    for x, y in ((0, 0), (23, 0), (0, 23), (23, 23), (12, 0), (0, 12)):
        game.land.at[player.cell] = None
        game.add_player(x, y, player)
        view = view_of(game.land, player)
        assert [len(row) for row in view.ground] == [9] * 7
        inside = [
            (column, row)
            for row in range(7)
            for column in range(9)
            if 0 <= x + column - 4 < 24 and 0 <= y + row - 3 < 24
        ]
        seen = [(c, r) for r, line in enumerate(view.ground) for c, letter in enumerate(line) if letter != " "]
        assert sorted(seen) == sorted(inside)


def test_a_finished_game_takes_no_newcomers_and_stays_finished():
    world = shared(1)
    world._player("1").health = 0
    world.resolve()
    assert world.is_over()
    with pytest.raises(GameRejected, match="this game is over"):
        world.arrive(Arrival("late"))
    assert world.is_over()


def test_the_items_that_can_be_traded_are_all_items():
    assert get_args(Item) == ITEMS


# -- found by attacking it ---------------------------------------------------------------------------------
def test_who_is_killed_in_a_step_neither_acts_nor_recovers_in_it():
    for seed in range(30):
        game = meadow(fighting=True)
        game.draws = KeyedDraws(seed)
        killer, victim = game.players
        killer.dx, killer.dy, killer.items[-1] = 1, 0, 1  # an iron sword
        victim.health, victim.recovery = 3, 25
        victim.items[2], victim.dx, victim.dy = 1, 0, 1
        game.step({0: DO, 1: ACTIONS.index("place_stone")})
        acted = victim.items[2] == 0
        assert not victim.alive
        first = min(game.players, key=lambda player: game.draws.uniform(PRIORITY, player.number))
        assert acted == (first is victim)


def test_a_creature_is_killed_once():
    game = meadow(3)
    left, _, right = game.players
    game.land.at[game.players[1].cell] = None
    game.players[1].removed = True
    cow = game.land.add(COW, 5, 12)
    cow.health = 1
    left.dx, left.dy, right.dx, right.dy = 1, 0, -1, 0
    left.food = right.food = 1
    game.step({0: DO, 2: DO})
    assert sorted([left.food, right.food]) == [1, 7]
    assert left.achievements[EAT_COW] + right.achievements[EAT_COW] == 1


@given(names=st.lists(st.text(max_size=60), min_size=1, max_size=6))
@settings(max_examples=examples(40), deadline=None)
def test_names_cannot_be_read_as_anything_else(names):
    world = CrafterShared(size=16)
    world.reset(5, [Seat("1", "1")])
    for name in [*names, "want", "zombie", "1", "bob L1, diamond R1. You"]:
        world.arrive(Arrival(name))
    called = [player.name for player in world.game.players]
    assert len(set(called)) == len(called)
    assert all(re.fullmatch(r"[\w-]{1,40}", name) for name in called)
    for name in called[1:]:
        assert not name.isdecimal() or name == str(called.index(name) + 1)


def test_a_player_called_zombie_is_no_zombie_in_the_news():
    world = shared(fighting=True)
    world.arrive(Arrival("zombie"))
    killer, victim = world._player("3"), world._player("1")
    victim.hurt(9, f"player {killer.name}")
    assert death_text(victim) == "died: player zombie"


def test_only_the_one_who_left_gets_the_body_back_after_a_reset_or_a_load():
    members = [AgentSpec(id=name, role="player") for name in ("g1", "g2")]
    room = open_room("crafter_shared", CrafterShared(size=24), 3, {"size": 24}, members)
    assert room.call("g1", "sit", {}, at=1).seat == "1"
    room.call("god", "reset", {}, at=2)
    assert room.call("g2", "sit", {}, at=3).seat == "1"
    room.world._player("1").items[5] = 9
    room.call("g2", "stand_up", {}, at=4)
    assert room.call("g1", "sit", {}, at=5).seat == "2"
    assert room.world._player("2").items[5] == 0


def test_after_a_load_seats_without_a_holder_are_closed_and_newcomers_can_sit():
    members = [AgentSpec(id=name, role="player") for name in ("g1", "g2", "g3")]
    room = open_room("crafter_shared", CrafterShared(size=24), 3, {"size": 24}, members)
    room.call("g1", "sit", {}, at=1)
    save = pack(room.world, game=room.state.game, played=room.state.played)
    room.call("g2", "sit", {}, at=2)
    room.system("loaded", {"by": "god", "save": b64encode(save).decode()}, 3)
    assert room.state.members["g2"].seat is None
    assert room.call("g3", "sit", {}, at=4).seat == "2"
    assert room.call("g2", "sit", {}, at=5).seat == "3"
    room.call("g1", "stand_up", {}, at=6)
    with pytest.raises(GameRejected, match=r"call `sit` without a seat|already played"):
        room.call("g3", "sit", {"seat": "1"}, at=7)


# -- what a body feels and can do -----------------------------------------------------------------------
@settings(max_examples=examples(25), deadline=None)
@given(
    seed=st.integers(0, 3),
    played=st.lists(st.integers(0, len(ACTIONS) - 1), max_size=40),
    items=st.lists(st.integers(0, MOST), min_size=len(ITEMS), max_size=len(ITEMS)),
    energy=st.integers(1, MOST),
    sleeping=st.booleans(),
)
def test_an_action_has_no_effect_if_and_only_if_it_is_called_blocked(seed, played, items, energy, sleeping):
    """Except for what only the step itself decides: whether grass gives a sapling, and who walks away."""
    world = CrafterShared(size=16)
    world.reset(seed, [Seat("1")])
    player = world.game.players[0]
    player.items = list(items)
    for number in played:
        world.chosen = {"1": number}
        world.resolve()
    assume(player.alive)
    player.energy, player.sleeping = energy, sleeping and energy < MOST
    blocked, before = world.blocked_actions(Seat("1")), world.snapshot()
    assert all(len(reason) <= 70 for reason in blocked.values())
    for number, name in enumerate(ACTIONS):
        world.restore(before)
        world.chosen = {"1": number}
        world.resolve()
        failure = world.game.players[0].failure
        kind = failure[0] if failure else None
        failed = kind not in (None, "unlucky")
        assert kind == "blocked" or failed == (name in blocked), (name, failure, blocked.get(name))


def test_what_can_be_given_and_dropped_depends_on_what_one_has_and_on_who_is_there():
    world = CrafterShared(size=16)
    world.reset(1, [Seat("1"), Seat("2")])
    world.game = meadow()
    one, _ = world.game.players
    one.dx, one.dy = 1, 0
    assert {name: why for name, why in world.blocked_actions(Seat("1")).items() if name in ("give", "drop", "do")} == {
        "give": "you carry nothing", "drop": "you carry nothing", "do": "fighting is not allowed here",
    }  # fmt: skip
    one.items[ITEMS.index("wood")] = 1
    assert world.blocked_actions(Seat("1"))["drop"] == "there is no space for it"
    assert "give" not in world.blocked_actions(Seat("1"))
    one.dx, one.dy = 0, 1
    assert world.blocked_actions(Seat("1"))["give"] == "nobody is in front of you"
    assert "drop" not in world.blocked_actions(Seat("1"))


def test_injuries_and_fatigue_are_those_of_the_body():
    world = CrafterShared(size=16)
    world.reset(1, [Seat("1")])
    body, player = world.body("1"), world.game.players[0]
    assert (body.injuries, body.fatigue, body.encumbrance, body.hearing_range) == ((), 0, None, None)
    player.health, player.food, player.drink, player.energy = 4, 0, 0, 0
    assert world.body("1").injuries == ("wounded", "starving", "dying of thirst", "exhausted")
    assert world.body("1").fatigue == 1
    player.health, player.sleeping = 2, True
    assert (world.body("1").injuries[0], world.body("1").stance) == ("badly wounded", "prone")


@pytest.mark.parametrize(
    ("factor", "awake", "asleep"), [(0.5, 1, 4), (0.75, 2, 6), (1.0, 2, 7), (1.25, 2, 8), (1.5, 3, 9)]
)
def test_the_difficulty_of_a_body_is_part_of_what_creatures_do_to_it_and_survives_a_snapshot(factor, awake, asleep):
    """9 is the most that a body has."""
    for sleeping, damage in ((False, awake), (True, asleep)):
        world = CrafterShared()
        world.reset(1, [])
        world.arrive(Arrival("bob", damage=factor))
        again = CrafterShared()
        again.restore(world.snapshot())
        (player,) = again.game.players
        player.sleeping, player.energy = sleeping, 0
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if again.game.land.at[again.game.land.cell(player.x + dx, player.y + dy)] is None:
                again.game.land.add(ZOMBIE, player.x + dx, player.y + dy)
                break
        again.resolve()
        assert ("zombie", damage) in player.hits


def test_hunger_and_the_blows_of_players_are_the_same_at_every_difficulty():
    world = CrafterShared(fighting=True)
    world.reset(1, [])
    for name in ("ann", "bob"):
        world.arrive(Arrival(name, damage=0.5))
    ann, bob = world.game.players
    bob.hurt(5, "player ann")
    assert bob.health == MOST - 5
    ann.food, ann.recovery = 0, -15.0
    world.resolve()
    assert ("want", 1) in ann.hits


def test_a_body_that_is_woken_has_the_difficulty_of_the_new_visit():
    world = CrafterShared()
    world.reset(1, [])
    seat = world.arrive(Arrival("bob", damage=0.5))
    world.depart(seat, "dormant")
    world.arrive(Arrival("bob", seat.id, returns=True, damage=1.5))
    assert (world.bodies[0].damage, world.game.land.damage) == (1.5, {0: 1.5})
    world.depart(seat, "dormant")
    world.arrive(Arrival("bob", seat.id, returns=True))
    assert world.game.land.damage == {0: 1.0}
