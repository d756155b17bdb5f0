"""Bodies arrive, leave, sleep, die and come back: the contract of ``bodies.py``."""

import pytest
from tests.worlds.planet.playing import GROUND, body_of, do, flat, own, planet, put

from cohabit.errors import GameRejected
from cohabit.model.seat import Seat
from cohabit.world import Arrival
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER
from cohabit.worlds.starbound.creatures import add_creature
from cohabit.worlds.starbound.harm import hurt
from cohabit.worlds.starbound.travel import TRAVEL


def test_players_arrive_in_a_running_world_with_the_bonuses_of_their_skills():
    world = planet()
    bonuses = {"scanner_range": 3.0, "weapon_tier": 2.0, "price_modifier": 0.9, "health": 0.2}
    seat = world.arrive(Arrival("bob", bonuses=bonuses))
    state = world.body(seat.id)
    assert (state.max_health, state.health, state.vision_range) == (120, 120, 11)
    assert state.equipment == {"weapon": "stone_sword"}
    assert body_of(world, "2").price == 0.9
    assert [one.name for one in world.seats_now()] == ["ada", "bob"]


def test_a_new_body_appears_where_its_agent_wants_to():
    world = planet()
    safe, anywhere, hard = (world.arrive(Arrival("x", spawn=spawn)) for spawn in ("safe", "random", "challenging"))
    assert abs(body_of(world, safe.id).x - 128) <= 4
    assert abs(body_of(world, anywhere.id).x - 128) > 4
    assert body_of(world, hard.id).place == "dune"
    assert all(world.body(seat.id).unsafe == "" for seat in (safe, anywhere, hard))


def test_a_hundred_players_fit_and_no_more():
    world = planet(*[f"p{n}" for n in range(100)])
    with pytest.raises(GameRejected, match="100 players"):
        world.arrive(Arrival("late"))


def test_a_dormant_body_lies_in_the_world_and_can_be_hurt():
    world = flat("ada", "bob")
    world.depart(Seat("2", "bob"), "dormant")
    assert [seat.id for seat in world.seats_now()] == ["1"]
    assert "player bob R1 (asleep)" in world.observe(own()).text
    add_creature(world.game, world.game.land("verdant"), "scorpling", 103, GROUND - 1)
    for _ in range(8):
        do(world, "wait")
        body_of(world).health = 100
    assert body_of(world, "2").health < 100
    seat = world.arrive(Arrival("bob", "2", returns=True))
    assert (seat.id, body_of(world, "2").presence) == ("2", "awake")


@pytest.mark.parametrize("mode", ["suspend", "left", "removed"])
def test_a_suspended_body_is_out_of_the_world_until_its_player_returns(mode):
    world = flat("ada", "bob")
    body_of(world, "2").items = {"iron": 4}
    world.depart(Seat("2", "bob"), mode)
    assert "bob" not in world.observe(own()).text
    health = body_of(world, "2").health
    add_creature(world.game, world.game.land("verdant"), "scorpling", 102, GROUND - 1)
    for _ in range(5):
        do(world, "wait")
    assert body_of(world, "2").health == health
    world.arrive(Arrival("bob", "2", returns=True))
    assert world.body("2").inventory == {"iron": 4}


def test_a_body_that_returns_into_a_wall_stands_on_top_of_it():
    world = flat("ada", "bob")
    world.depart(Seat("2", "bob"), "suspend")
    body_of(world).items = {"stone": 1}
    do(world, "place", item="stone", direction="right")
    world.arrive(Arrival("bob", "2", returns=True))
    assert body_of(world, "2").y == GROUND - 2


def test_a_despawned_body_is_gone_with_what_it_had():
    world = flat("ada", "bob")
    body_of(world, "2").items = {"iron": 4}
    world.depart(Seat("2", "bob"), "despawn")
    assert world.body("2").inventory == {}
    assert world.arrive(Arrival("bob", "2", returns=True)).id == "3"


def killed(**config):
    world = flat("ada", "bob", **config)
    body = body_of(world)
    body.items, body.equipment = {"iron": 3, "wood_sword": 1, "pixels": 60}, {"weapon": "wood_sword"}
    body.y = 5
    while body.alive:
        do(world, "wait")
    return world, body


def test_death_leaves_a_bundle_and_keeps_the_pixels():
    world, _ = killed()
    state = world.body("1")
    assert state.death.items_dropped == {"iron": 3, "wood_sword": 1}
    assert state.inventory == {"pixels": 60}
    assert [(b.x, b.items) for b in world.game.land("verdant").bundles] == [(100, {"iron": 3, "wood_sword": 1})]
    assert not world.is_alive("1")
    with pytest.raises(GameRejected, match="dead"):
        world.jump(Seat("1"))


def test_the_dead_respawn_aboard_weak_or_where_they_died_for_pixels():
    world, body = killed()
    assert [option.id for option in world.body("1").respawn_options] == ["ship", "corpse"]
    with pytest.raises(GameRejected, match="respawn at"):
        world.respawn(Seat("1"), "bed")
    world.respawn(Seat("1"), "corpse")
    assert (body.place, body.items, body.health) == ("verdant", {"pixels": 10}, 100)
    do(world, "interact")
    assert body.items["iron"] == 3
    other, poor = killed()
    poor.items = {}
    with pytest.raises(GameRejected, match="50 pixels"):
        other.respawn(Seat("1"), "corpse")
    other.respawn(Seat("1"), "ship")
    assert (poor.place, poor.health, poor.energy) == ("ship", 60, 30)


def test_a_bed_is_a_place_to_respawn_as_long_as_it_stands():
    world = flat("ada", "bob")
    body = body_of(world)
    body.items = {"bed": 1}
    do(world, "place", item="bed", direction="left")
    assert world.body("1").respawn_point == (99, GROUND - 1)
    body.y = 5
    while body.alive:
        do(world, "wait")
    world.respawn(Seat("1"), "bed")
    assert (body.x, body.y, body.place) == (99, GROUND - 1, "verdant")


def test_the_dead_wake_up_by_themselves_after_a_while():
    world, body = killed(respawn_after=5)
    for _ in range(5):
        assert not body.alive
        do(world, "wait", "2")
    assert body.alive
    assert body.place == "ship"


def test_the_game_goes_on_if_all_are_dead():
    world = flat(respawn_after=3)
    body = body_of(world)
    body.y = 5
    while body.alive:
        do(world, "wait")
    assert list(world.to_move()) == ["1"]
    for _ in range(3):
        do(world, "wait")
    assert body.alive


def test_items_go_in_and_out_of_a_body_within_what_it_can_carry():
    world = planet()
    assert world.put_items("1", "iron", 120) == 99
    assert world.put_items("1", "no such thing", 1) == 0
    assert world.take_items("1", "iron", 100) == 99
    assert world.take_items("1", "iron", 1) == 0


def test_portable_items_of_crafter_have_equivalents_here():
    here = {(kind.category, kind.tier) for kind in TRAVEL.items.values()}
    assert {(kind.category, kind.tier) for kind in CRAFTER.items.values()} <= here


def test_those_who_see_a_body_are_its_witnesses():
    world = flat("ada", "bob", "cid")
    body_of(world, "3").x = 200
    assert world.witnesses("1") == ("2",)
    do(world, "beam_up", "2")
    assert world.witnesses("1") == ()


def test_a_body_turns_to_what_it_sees():
    world = flat("ada", "bob")
    assert world.turn_to(Seat("2"), "ada").message == "You look at ada."
    assert world.body("2").facing == "left"
    with pytest.raises(GameRejected, match="in sight"):
        world.turn_to(Seat("2"), "zoe")


def test_a_body_turns_to_the_nearest_tile_of_a_kind_that_it_sees():
    world = flat()
    put(world, "bush", (97, GROUND - 1), (105, GROUND - 1))
    put(world, "workbench", (104, GROUND - 1), (200, GROUND - 1))
    assert "bush L3 x2, workbench R4." in world.observe(own()).text
    assert world.turn_to(Seat("1"), "bush").message == "You look at the bush."
    assert world.body("1").facing == "left"
    world.turn_to(Seat("1"), "workbench")
    assert world.body("1").facing == "right"
    put(world, "air", (104, GROUND - 1))
    with pytest.raises(GameRejected, match="in sight"):
        world.turn_to(Seat("1"), "workbench")


def test_enemies_nearby_make_it_unsafe_to_leave():
    world = flat()
    assert world.body("1").unsafe == ""
    add_creature(world.game, world.game.land("verdant"), "snapper", 104, GROUND - 1)
    assert world.body("1").unsafe == "a snapper is near"
    world.game.land("verdant").creatures.clear()
    add_creature(world.game, world.game.land("verdant"), "ember", 104, GROUND - 1)
    assert world.body("1").unsafe == "an ember is near"


def test_what_makes_a_body_unsafe_says_nothing_of_what_it_does_not_see():
    world = flat()
    put(world, "stone", *[(102, y) for y in range(GROUND - 12, GROUND)])
    add_creature(world.game, world.game.land("verdant"), "snapper", 104, GROUND - 1)
    assert world.body("1").unsafe == ""
    put(world, "air", (102, GROUND - 1))
    assert world.body("1").unsafe == "a snapper is near"


def test_a_body_that_was_just_hit_cannot_be_left_and_a_hungry_one_can():
    world = flat("ada", "bob", fighting=True)
    do(world, "attack", "1", target="bob")
    assert world.body("2").unsafe == "you were just hurt"
    for _ in range(3):
        assert world.body("2").unsafe
        do(world, "wait", "1")
    assert world.body("2").unsafe == ""
    hurt(world.game, body_of(world, "2"), 1, "starvation", "You starve")
    assert world.body("2").unsafe == ""
