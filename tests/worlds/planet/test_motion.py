"""Gravity, walking, jumping, falling and swimming."""

import pytest
from tests.worlds.planet.playing import GROUND, body_of, do, flat, put

from cohabit.model.seat import Seat


def test_a_body_walks_up_and_down_steps_of_one_tile():
    world = flat()
    put(world, "stone", (102, GROUND - 1), (103, GROUND - 1), (103, GROUND - 2))
    body = do(world, "move", direction="right", tiles=4)
    assert (body.x, body.y) == (104, GROUND - 1)


def test_a_wall_of_two_tiles_stops_a_walk():
    world = flat()
    put(world, "stone", (102, GROUND - 1), (102, GROUND - 2))
    body = do(world, "move", direction="right", tiles=4)
    assert (body.x, body.y) == (101, GROUND - 1)
    assert body.events[0][1] == "You moved 1 of 4 tiles: stone is in the way."
    assert do(world, "move", direction="right").events[0][1] == "move failed: stone is in the way."


def test_a_walk_that_ends_early_says_why():
    world = flat()
    assert not do(world, "move", direction="right", tiles=4).events, "nothing was in the way"
    put(world, "air", *[(106, GROUND + down) for down in range(5)])
    body = do(world, "move", direction="right", tiles=4)
    assert body.events[0][1] == "You moved 2 of 4 tiles: there is no ground below you."
    world = flat()
    body_of(world).energy = 3
    body = do(world, "move", direction="right", tiles=4)
    assert body.events[0][1] == "You moved 2 of 4 tiles: you have no energy; wait to recover."


def test_a_jump_to_a_side_that_is_blocked_says_what_is_in_the_way():
    world = flat()
    put(world, "sand", *[(99, GROUND - up) for up in range(1, 6)])
    body = do(world, "jump", direction="left")
    assert (body.x, body.events[0][1]) == (100, "You jumped straight up: sand is in the way.")
    assert not do(flat(), "jump", direction="left").events
    assert not do(flat(), "jump").events


def test_a_climb_that_ends_early_says_so():
    world = flat()
    put(world, "ladder", (100, GROUND - 1), (100, GROUND - 2))
    body = do(world, "move", direction="up", tiles=4)
    assert body.events[0][1] == "You moved 2 of 4 tiles: there is no way further up."
    assert not do(world, "move", direction="down").events


def test_a_planet_is_round():
    world = flat()
    body_of(world).x = 0
    assert do(world, "move", direction="left").x == 255


def test_running_costs_energy_and_a_single_tile_does_not():
    world = flat()
    assert do(world, "move", direction="right", tiles=4).energy == 95
    assert do(world, "move", direction="right").energy == 96


def test_a_jump_takes_a_body_onto_a_ledge_of_three_tiles():
    world = flat()
    put(world, "stone", *[(101, GROUND - up) for up in (1, 2, 3)])
    body = do(world, "jump", direction="right")
    assert (body.x, body.y) == (101, GROUND - 4)


def test_a_jump_into_the_open_comes_down_again():
    world = flat()
    assert do(world, "jump").y == GROUND - 4
    assert do(world, "wait").y == GROUND - 1


def test_low_gravity_makes_jumps_higher_and_falls_softer():
    world = flat()
    body = body_of(world)
    body.orbit = body.place = "mire"
    land = world.game.land("mire")
    body.x, body.y = 128, land.top(128)
    start = body.y
    assert start - do(world, "jump").y == 5


@pytest.mark.parametrize(("tiles", "damage"), [(5, 0), (6, 8), (9, 32)])
def test_a_fall_hurts_from_the_sixth_tile_on(tiles, damage):
    world = flat()
    body = body_of(world)
    body.y = GROUND - 1 - tiles
    while body.y < GROUND - 1:
        do(world, "wait")
    assert body.health == 100 - damage


def test_a_deep_fall_kills_and_its_cause_is_told():
    world = flat()
    body_of(world).y = 10
    for _ in range(20):
        do(world, "wait")
        if not body_of(world).alive:
            break
    assert world.body("1").death.cause == "fall"


def test_water_breaks_a_fall():
    world = flat()
    put(world, "water", (100, GROUND - 1), (100, GROUND - 2))
    body = body_of(world)
    body.y = 30
    for _ in range(10):
        do(world, "wait")
    assert body.health == 100
    assert body.y == GROUND - 2


def test_a_body_under_water_runs_out_of_breath_and_drowns():
    world = flat(respawn_after=0)
    put(world, "water", *[(100, GROUND - up) for up in (1, 2, 3)])
    body = body_of(world)
    assert world.body("1").unsafe == "you are under water"
    while body.alive:
        do(world, "wait")
    assert world.body("1").death.cause == "drowning"
    assert body.breath == 0


def test_ladders_are_climbed_and_platforms_are_dropped_through():
    world = flat()
    put(world, "ladder", *[(100, GROUND - up) for up in (1, 2, 3)])
    assert do(world, "move", direction="up", tiles=2).y == GROUND - 3
    assert do(world, "wait").y == GROUND - 3  # it holds on
    put(world, "platform", (110, GROUND - 3))
    body = body_of(world)
    body.x, body.y = 110, GROUND - 4
    assert do(world, "wait").y == GROUND - 4
    assert do(world, "drop").y == GROUND - 1


def test_techs_dash_and_jump_in_the_air():
    world = flat()
    body = body_of(world)
    body.items, body.equipment = {"dash": 1, "double_jump": 1}, {"tech": "dash"}
    assert do(world, "use_tech").x == 106
    body.equipment["tech"] = "double_jump"
    do(world, "jump")
    assert do(world, "use_tech").y == GROUND - 7
    assert body.energy < 75


def test_falling_is_no_time_to_leave_a_body():
    world = flat()
    body_of(world).y = 20
    assert world.body("1").unsafe == "you are falling"
    assert world.body("1").stance == "falling"
    assert world.turn_to(Seat("1"), "left").message == "You look left."
    assert body_of(world).facing == -1
