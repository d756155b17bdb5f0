"""What learners see and choose from in each world: the layout of its arrays, what they hide, and the mask."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from cohabit.errors import GameRejected
from cohabit.model.action import Action
from cohabit.model.seat import ALL, PUBLIC, Eye, Seat
from cohabit.model.stream import Stream
from cohabit.registry import known_games, make_world
from cohabit.world import World
from cohabit.worlds import lanterns_training
from cohabit.worlds.crafter.acting import in_front
from cohabit.worlds.crafter.rules import ACTIONS, DO, GRASS, ITEMS, MOST, NOOP, TABLE
from cohabit.worlds.crafter.world import Crafter
from cohabit.worlds.lanterns import Barrel
from cohabit.worlds.starbound import arrays as planet_arrays
from cohabit.worlds.starbound.tiles import ID
from cohabit.worlds.statecraft import training as statecraft_training
from cohabit.worlds.statecraft.world import NATION_NAMES
from cohabit.worlds.whist.rules import DECK

from .playing import gym

WITH_ARRAYS = [name for name in known_games() if name != "kingdoms"]
HIDING: dict[str, dict[str, Any]] = {
    "lanterns": {"ticks": 60}, "whist": {}, "planet": {"length": 40},
    "statecraft": {"turns": 4, "mils": 3, "observability": "fog"},
}  # fmt: skip


def opened(name: str, config: dict[str, Any], seats: int) -> tuple[World, list[Seat]]:
    world = make_world(name, config)
    names = world.spec.seat_names or [str(n + 1) for n in range(seats)]
    players = [Seat(seat, seat) for seat in names[:seats]]
    world.reset(5, players)
    return world, players


def play_on(world: World, seats: list[Seat], steps: int) -> None:
    draws = Stream(5, "moves")
    for _ in range(steps):
        for seat in [seat for seat in seats if seat.id in world.to_move()]:
            chosen = draws.choice(world.legal(seat))
            if seat.id in world.to_move():
                getattr(world, chosen.name)(seat, **chosen.parameters)
        if world.pace == "clock":
            world.advance(2)
        if world.pace == "rounds":
            world.resolve()


# -- all worlds ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_every_action_that_the_mask_allows_is_accepted(name: str) -> None:
    env, dice = gym(name), np.random.default_rng(1)
    _, info = env.reset(seed=4)
    allowed = []
    for _ in range(40):
        allowed.append(int(info["action_mask"].sum()))
        assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
        seen, _, over, cut, info = env.step(dice.choice(np.flatnonzero(info["action_mask"])))
        assert "refused" not in info
        assert seen in env.observation_space
        if over or cut:
            _, info = env.reset()
    assert 0 < min(allowed) < env.action_space.n


@pytest.mark.parametrize("name", HIDING)
def test_arrays_and_masks_are_the_same_in_a_world_that_differs_in_what_is_hidden(name: str) -> None:
    """`cohabit check` compares them at a few steps of random games. Here something hidden surely differs."""
    world, seats = opened(name, HIDING[name], 4)
    play_on(world, seats, 2 if name == "statecraft" else 12)
    form = next(iter(world.arrays()))
    for eye in [PUBLIC, *(Eye(seat.id, "own") for seat in seats)]:
        shown = set()
        for number in range(3):
            copy = make_world(name, HIDING[name])
            copy.restore(world.snapshot())
            copy.resample(eye, Stream(number, "test"))
            assert (copy.array(eye, form) == world.array(eye, form)).all()
            if eye.seat is not None:
                assert copy.useful(Seat(eye.seat)) == world.useful(Seat(eye.seat))
            shown |= {copy.array(other, form).tobytes() for other in (Eye(seat.id, "own") for seat in seats)}
        assert len(shown) > len(seats)  # the others see something else


def test_numpy_is_imported_for_arrays_only() -> None:
    script = """
import sys
from cohabit.registry import make_world
from cohabit.world import Eye, Seat
for name in ("nim", "tictactoe", "lanterns", "whist", "statecraft"):
    world = make_world(name, {})
    seats = [Seat(seat) for seat in world.spec.seat_names[: world.spec.seat_range[0]]]
    world.reset(1, seats)
    world.observe(Eye(seats[0].id, "own")), world.legal(seats[0]), world.numbered(), world.useful(seats[0]), world.arrays()
    assert "numpy" not in sys.modules, name
world.array(Eye(seats[0].id, "own"), *world.arrays())
print("numpy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


# -- layouts ------------------------------------------------------------------------------------------
def test_the_heap_of_nim_is_a_binary_number_and_whose_turn_it_is() -> None:
    world, _ = opened("nim", {"stones": 13}, 2)
    assert world.array(Eye("first", "own"), "heap").tolist() == [1, 0, 1, 1, *[0] * 10, 1]
    assert world.array(Eye("second", "own"), "heap").tolist() == [1, 0, 1, 1, *[0] * 10, 0]
    assert opened("nim", {"stones": 10_000}, 2)[0].array(PUBLIC, "heap")[13] == 1


def test_the_board_of_tic_tac_toe_has_the_own_marks_first() -> None:
    world, (x, o) = opened("tictactoe", {}, 2)
    world.mark(x, 2)
    world.mark(o, 3)
    own, other = [[0, 0, 1], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert world.array(Eye("X", "own"), "board").tolist() == [own, other]
    assert world.array(Eye("O", "own"), "board").tolist() == [other, own]
    assert world.array(PUBLIC, "board").tolist() == [own, other]


def test_the_table_of_whist_has_the_own_hand_and_the_trick_by_place() -> None:
    world, seats = opened("whist", {}, 4)
    for seat in seats:
        world.cut(seat)
    card = world.legal(seats[0])[0].parameters["card"]
    world.play(seats[0], card)
    for number, seat in enumerate(seats):
        seen = world.array(Eye(seat.id, "own"), "table")
        planes = [{DECK[n] for n in np.flatnonzero(seen[52 * i : 52 * i + 52])} for i in range(7)]
        assert planes[:3] == [set(world.table.hands[number]), {card}, {world.table.trump_card}]
        assert planes[3:] == [{card} if place == -number % 4 else set() for place in range(4)]
        assert seen[7 * 52 :].tolist() == [
            *(suit == world.table.trump for suit in "CDHS"), *(place == -number % 4 for place in range(4)),
            0, 0, 1, 0, 0, 0, 0, 0,
        ]  # fmt: skip
    assert not world.array(PUBLIC, "table")[:52].any()


def test_the_nations_of_statecraft_show_what_a_nation_knows_in_fog() -> None:
    world, (arden, borland, corvia) = opened("statecraft", HIDING["statecraft"], 3)
    world.submit(arden, money_grants={"Borland": 10})
    world.submit(borland, attacks={"Corvia": 2})
    world.submit(corvia)
    world.resolve()

    def row(viewer: str, nation: str) -> dict[str, float]:
        columns = statecraft_training.COLUMNS
        rows = world.array(Eye(viewer, "own"), "nations")[:-1].reshape(len(NATION_NAMES), len(columns))
        return dict(zip(columns, rows[NATION_NAMES.index(nation)].tolist(), strict=True))

    assert row("Arden", "Borland")["your grant to it"] == pytest.approx(10 / 110)
    assert row("Borland", "Arden")["its grant to you"] == pytest.approx(10 / 110)
    assert (row("Corvia", "Arden")["all its grants"], row("Arden", "Borland")["all its attacks"]) == (0, 0)
    assert row("Corvia", "Borland")["its attack on you"] == pytest.approx(2 / 12)
    assert (row("Arden", "Arden")["army is known"], row("Arden", "Borland")["army is known"]) == (1, 0)
    assert (row("Arden", "Arden")["you"], row("Arden", "Borland")["you"]) == (1, 0)
    assert set(row("Arden", "Dalmere").values()) == {0}
    assert world.array(Eye("Arden", "own"), "nations")[-1] == 0.75


def test_the_chart_of_lanterns_shows_others_in_the_light_only() -> None:
    world, _ = opened("lanterns", {}, 2)
    amber, blue = world.keepers["amber"], world.keepers["blue"]

    def plane(viewer: Eye, name: str) -> list[int]:
        number = lanterns_training.PLANES.index(name)
        cells = world.size**2
        return np.flatnonzero(world.array(viewer, "chart")[number * cells : (number + 1) * cells]).tolist()

    own = Eye("amber", "own")
    assert (plane(own, "you"), plane(own, "keepers"), plane(own, "your destination")) == ([amber.at], [], [])
    assert plane(ALL, "keepers") == sorted([amber.at, blue.at])
    assert plane(own, "light") == [cell for cell, lit in enumerate(world._lit(own)) if lit]
    blue.at = world.island.around(amber.at)[0]
    assert plane(own, "keepers") == [blue.at]
    amber.path = world.island.way(amber.at, world.towers[-1].at)
    assert plane(own, "your destination") == [world.towers[-1].at]


def test_the_view_of_a_planet_has_a_plane_for_each_tile_and_thing() -> None:
    world, _ = opened("planet", {"length": 40}, 2)
    first, second = world.game.bodies
    second.x, second.y, second.place = first.x, first.y, first.place
    eye, middle = Eye("1", "own"), (planet_arrays.HIGH // 2, planet_arrays.WIDTH // 2)
    count = planet_arrays.PLANES * planet_arrays.HIGH * planet_arrays.WIDTH
    shape = planet_arrays.PLANES, planet_arrays.HIGH, planet_arrays.WIDTH
    planes = world.array(eye, "view")[:count].reshape(shape)
    assert (planes[ID["air"]][middle], planes[planet_arrays.PLAYER][middle]) == (1, 1)
    rows = world.observe(eye).status["map"]
    assert planes[: len(ID)].sum() == sum(letter != " " for row in rows for letter in row)
    first.scanner = 8  # it sees further, and the shape is the same
    assert (world.array(eye, "view")[:count].reshape(shape)[:, 3:6, 6:11] == planes[:, 3:6, 6:11]).all()
    assert not world.array(PUBLIC, "view").any()


# -- masks --------------------------------------------------------------------------------------------
def test_the_mask_of_statecraft_has_the_orders_that_can_be_carried_out_in_full() -> None:
    world, seats = opened("statecraft", {"mils": 3}, 12)
    nation = seats[4]
    accepted = []
    for order in world.numbered():
        try:
            world.submit(nation, **order.parameters)
        except GameRejected:
            continue
        accepted.append(order)
    assert world.useful(nation) == [Action("submit"), *(order for order in accepted if order.parameters)]
    assert 20 < len(accepted) < len(world.numbered())


def test_the_mask_of_lanterns_has_the_next_cells_the_towers_and_what_can_be_done_here() -> None:
    world, (seat, _) = opened("lanterns", {}, 2)
    me, island = world.keepers[seat.id], world.island
    me.at = next(cell for cell in island.land() if not any(island.beside(cell, t.at) for t in world.towers))
    world.barrels = []
    walks = [Action("walk", {"x": x, "y": y}) for x, y in map(island.xy, island.around(me.at))]
    towers = [Action("go", {"to": tower.name}) for tower in world.towers]
    assert world.useful(seat) == [*towers, *walks]
    world.walk(seat, **walks[0].parameters)
    assert world.useful(seat) == [Action("halt"), *towers, *walks]
    world.barrels = [Barrel("O1", me.at)]
    assert world.useful(seat) == [Action("halt"), Action("gather"), *towers, *walks]


def test_the_mask_of_a_planet_has_nothing_that_a_body_knows_to_be_impossible() -> None:
    world, (seat, *_) = opened("planet", {"length": 400}, 1)
    draws, seen = Stream(3, "moves"), set()
    body = world.game.bodies[0]
    body.items, body.fuel = {"wood": 9, "dirt": 9, "torch": 1, "pixels": 20, "wood_pickaxe": 1}, 50
    for _ in range(150):
        names = {action.name for action in world.useful(seat)}
        assert not names & world.blocked_actions(seat).keys()
        assert {"wait", "move"} <= names or not body.alive
        seen |= names
        chosen = draws.choice(world.useful(seat))
        getattr(world, chosen.name)(seat, **chosen.parameters)
        world.resolve()
    assert {"jump", "use_tool", "place", "craft", "beam_up", "beam_down", "warp", "buy"} <= seen


# -- the mask of Crafter ------------------------------------------------------------------------------
def after(before: bytes, action: int) -> bytes:
    """The game after this action, without what is only said about it."""
    world = Crafter(length=1000, randomness="keyed", size=12)
    world.restore(before)
    world.game.step({0: action})
    world.player.failure = world.player.blocked = None
    return world.snapshot()


def crowded(seed: int) -> Crafter:
    """A small land with a player that has a few of everything, next to a table."""
    world, draws = Crafter(length=1000, randomness="keyed", size=12), Stream(seed, "crowded")
    world.reset(seed, [Seat("player", "player")])
    player, land = world.player, world.game.land
    player.items = [draws.below(4) for _ in ITEMS]
    player.energy = draws.between(MOST - 2, MOST)
    land.set_material(player.cell - land.stride - 1, TABLE)
    return world


@pytest.mark.parametrize("seed", range(6))
def test_the_mask_of_crafter_has_the_actions_that_differ_from_doing_nothing(seed: int) -> None:
    world, draws, seat = crowded(seed), Stream(seed, "choices"), Seat("player", "player")
    without, within = 0, 0
    for _ in range(25):
        if world.is_over():
            break
        before = world.snapshot()
        idle = after(before, NOOP)
        useful = [ACTIONS.index(action.name) for action in world.useful(seat)]
        land, target = world.game.land, in_front(world.game.land, world.player)
        in_grass = land.at[target] is None and land.material[target] == GRASS
        for action in range(len(ACTIONS)):
            changes = after(before, action) != idle
            if action in useful:
                may_find_nothing = action == DO and in_grass
                assert changes or action == NOOP or may_find_nothing, ACTIONS[action]
                within += action != NOOP
            else:
                assert not changes, ACTIONS[action]
                without += 1
        world.game.step({0: draws.choice(useful)})
    assert min(without, within) > 25


def test_a_sleeper_can_only_go_on() -> None:
    world, seat = crowded(1), Seat("player", "player")
    world.player.energy = 3
    world.game.step({0: ACTIONS.index("sleep")})
    assert world.useful(seat) == [Action("noop")]
    world.player.energy = MOST
    assert len(world.useful(seat)) > 1
