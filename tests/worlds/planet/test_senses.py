"""What bodies feel and hear, the stances that they take, and what they are told that they cannot do."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.worlds.planet.playing import GROUND, body_of, do, flat, own, planet, put
from tests.worlds.planet.test_invariants import STOCK

from cohabit.errors import GameRejected
from cohabit.model.seat import Seat
from cohabit.world import Arrival
from cohabit.worlds.starbound import acting
from cohabit.worlds.starbound.choices import ARGUMENTS
from cohabit.worlds.starbound.combat import within
from cohabit.worlds.starbound.creatures import add_creature
from cohabit.worlds.starbound.harm import hurt
from cohabit.worlds.starbound.legal import NUMBERED
from cohabit.worlds.starbound.senses import sees_roof, view_of
from cohabit.worlds.starbound.tiles import ID

ADA = Seat("1", "ada")


def in_a_cell():
    """A world in which ada sits in a cell of one tile in the rock, and sees nobody."""
    world = flat("ada", "bob")
    body = body_of(world)
    body.x, body.y = 100, GROUND + 20
    put(world, "air", (100, GROUND + 20))
    return world


def crawler_beside_it(world, dx=4, dy=0):
    """A creature in a cell of its own."""
    x, y = 100 + dx, GROUND + 20 + dy
    put(world, "air", (x, y))
    add_creature(world.game, world.game.land("verdant"), "crawler", x, y)


# -- hearing ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("dx", "dy", "words"), [(4, 0, "right"), (-5, 2, "left"), (2, -4, "above"), (0, 8, "below"), (9, 0, None)]
)
def test_a_body_hears_what_is_near_behind_a_wall_and_on_which_side(dx, dy, words):
    world = in_a_cell()
    crawler_beside_it(world, dx, dy)
    assert world.hears("1") == ([f"crawler {words}"] if words else [])
    seen = world.observe(own())
    assert seen.status["hears"] == world.hears("1")
    assert (f"Hear crawler {words}." in seen.text) == bool(words)


def test_what_is_seen_is_not_heard_too():
    world = flat("ada", "bob")
    add_creature(world.game, world.game.land("verdant"), "fluffle", 103, GROUND - 1)
    assert [thing.type for thing in world.observe(own()).nearby_entities] == ["player", "fluffle"]
    assert world.hears("1") == []


def test_a_player_is_heard_without_its_name_unless_it_crouches_sleeps_or_is_away():
    world = in_a_cell()
    put(world, "air", (104, GROUND + 20))
    body_of(world, "2").x, body_of(world, "2").y = 104, GROUND + 20
    assert world.hears("1") == ["player right"]
    assert "bob" not in str(world.observe(own()))
    world.take_stance(Seat("2", "bob"), "crouching")
    assert world.hears("1") == []
    world.take_stance(Seat("2", "bob"), "standing")
    for mode in ("dormant", "suspend"):
        world.depart(Seat("2", "bob"), mode)
        assert world.hears("1") == []
        world.arrive(Arrival("bob", "2", returns=True))
    hurt(world.game, body_of(world, "2"), 500, "combat", "test")
    assert world.hears("1") == []


def test_aboard_everybody_is_alone():
    world = planet("ada", "bob")
    for seat in ("1", "2"):
        do(world, "beam_up", seat)
    assert world.hears("1") == world.hears("2") == []


def test_changes_tell_what_is_heard_and_when_it_falls_silent():
    world = in_a_cell()
    before = world.observe(own())
    crawler_beside_it(world)
    now = world.observe(own())
    assert "Hear crawler right." in world.changes(before, now)
    assert "Hear nothing." in world.changes(now, before)


# -- stances ------------------------------------------------------------------------------------------------
def test_creatures_notice_a_crouching_body_from_half_as_far():
    def is_hunted(crouching, away):
        world = flat()
        body_of(world).crouching = crouching
        creature = add_creature(world.game, world.game.land("verdant"), "guardian", 100 + away, GROUND - 1)
        do(world, "wait")
        return creature.x == 100 + away - 1

    assert is_hunted(False, 14)
    assert is_hunted(True, 7)
    assert not any(is_hunted(True, away) for away in range(9, 15))


def test_a_crouching_body_goes_one_tile_at_a_time_and_does_not_jump():
    world = flat()
    world.take_stance(ADA, "crouching")
    body = do(world, "move", direction="right", tiles=4)
    assert (body.x, body.events[0][1]) == (101, "You moved 1 of 4 tiles: you are crouching.")
    assert do(world, "move", direction="left").events == []
    assert "stand up first" in do(world, "jump").events[0][1]
    body_of(world).items, body_of(world).equipment = {"dash": 1}, {"tech": "dash"}
    assert "stand up first" in do(world, "use_tech").events[0][1]
    world.take_stance(ADA, "standing")
    assert do(world, "move", direction="right", tiles=4).x == 104


def test_others_see_that_a_body_crouches_and_its_player_reads_it():
    world = flat("ada", "bob")
    before = world.observe(own("1"))
    world.take_stance(ADA, "crouching")
    assert "player ada L1 (crouching)" in world.observe(own("2")).text
    assert ", crouching." in world.observe(own("1")).text
    assert "crouching" in world.changes(before, world.observe(own("1")))


@pytest.mark.parametrize(("tile", "stance"), [("water", "swimming"), ("ladder", "climbing")])
def test_where_a_body_is_decides_its_other_stances_and_nobody_crouches_there(tile, stance):
    world = flat()
    put(world, tile, (100, GROUND - 1))
    assert (world.body("1").stance, world.body("1").grounded) == (stance, True)
    with pytest.raises(GameRejected, match=f"cannot crouch while you are {stance}"):
        world.take_stance(ADA, "crouching")
    put(world, "air", (100, GROUND - 1))
    body_of(world).y = GROUND - 6
    assert (world.body("1").stance, world.body("1").grounded) == ("falling", False)


def test_a_body_that_dies_or_is_left_crouches_no_longer():
    world = flat("ada", "bob")
    for seat in ("1", "2"):
        world.take_stance(Seat(seat), "crouching")
    world.depart(ADA, "dormant")
    hurt(world.game, body_of(world, "2"), 500, "combat", "test")
    assert not any(body.crouching for body in world.game.bodies)
    assert world.body("1").stance == world.body("2").stance == "prone"


# -- how it is ----------------------------------------------------------------------------------------------
def test_injuries_and_fatigue_are_those_of_the_body():
    world = flat()
    assert (world.body("1").injuries, world.body("1").fatigue, world.body("1").encumbrance) == ((), 0, None)
    body = body_of(world)
    body.health, body.poison, body.food, body.energy = 50, 3, 0, 25
    assert world.body("1").injuries == ("wounded", "poisoned", "starving")
    assert world.body("1").fatigue == 0.75
    body.health, body.poison, body.food, body.breath = 25, 0, 9, 0
    assert world.body("1").injuries == ("badly wounded",)
    put(world, "water", (100, GROUND - 1), (100, GROUND - 2))
    assert world.body("1").injuries == ("badly wounded", "drowning")


# -- what it cannot do --------------------------------------------------------------------------------------
TARGETS = ("", "bundle", "altar", "crawler", "fluffle", "bob")


def every_choice(name):
    """The arguments of an action, in every combination of the values that matter."""
    values = [(1,) if kind is int else TARGETS if kind is str else kind for kind in ARGUMENTS[name].values()]
    return [dict(zip(ARGUMENTS[name], chosen, strict=True)) for chosen in product(*values)]


def has_something_unseen_near(world, body):
    """Whether something is within reach that the body does not see, so it cannot know that it could be hit or used."""
    land = world.game.land_of(body)
    around = [*land.creatures, *land.bundles, *(other for other in world.game.on(body.place) if other is not body)]
    seen = [thing for thing in view_of(world.game, body).things if abs(thing.x) <= 2 and abs(thing.y) <= 2]
    return sum(within(body.x, body.y, thing) for thing in around) > sum(thing.state != "dead" for thing in seen)


@given(
    st.integers(0, 3),
    st.lists(st.integers(0, len(NUMBERED) - 1), max_size=25),
    st.sets(st.sampled_from(sorted(STOCK))),
    st.booleans(),
)
@settings(max_examples=examples(25), deadline=None)
def test_an_action_that_is_called_blocked_fails_whatever_its_parameters(seed, choices, stock, crouching):
    world = planet("ada", "bob", seed=seed, fighting=True, respawn_after=0)
    body_of(world).items = {item: STOCK[item] for item in sorted(stock)}
    for number in choices:
        if world.is_alive("1"):
            getattr(world, NUMBERED[number].name)(ADA, **NUMBERED[number].parameters)
        world.resolve()
    body = body_of(world)
    if not body.alive:
        return
    body.crouching = crouching
    blocked, before = world.blocked_actions(ADA), world.snapshot()
    assert blocked.keys() <= {action.name for action in world.actions()}
    unsure = ("attack", "alt_attack", "interact") if has_something_unseen_near(world, body) else ()
    for name in [name for name in blocked if name not in unsure]:
        for args in every_choice(name):
            world.restore(before)
            acting.act(world.game, body_of(world), name, args)
            failed = body_of(world).tally.get("failed", 0) - body.tally.get("failed", 0)
            assert failed == 1, (name, args, blocked[name])


def test_reasons_are_short_and_say_what_is_missing():
    world = flat()
    blocked = world.blocked_actions(ADA)
    assert blocked["use_tool"] == "nothing beside you can be dug with what you have"
    assert blocked["attack"] == "you see nothing to hit within 2 tiles"
    assert blocked["beam_down"] == blocked["buy"] == "you are not aboard your ship"
    assert not {"move", "jump", "wait", "beam_up", "warp"} & blocked.keys()
    assert all(len(reason) <= 60 for reason in blocked.values())


def test_a_roof_out_of_sight_is_not_told_before_the_beam_fails():
    world, far = flat(), (100, GROUND - 9)
    before = world.blocked_actions(ADA), world.legal(ADA)
    put(world, "stone", far)
    assert (world.blocked_actions(ADA), world.legal(ADA)) == before
    assert "open sky" in do(world, "beam_up").events[0][1]
    put(world, "stone", (100, GROUND - 4))
    blocked = world.blocked_actions(ADA)
    assert blocked["beam_up"] == blocked["warp"] == "you can beam up only under open sky"
    assert "beam_up" not in [action.name for action in world.legal(ADA)]


@pytest.mark.parametrize("scanner", [0, 3, 5])
@given(high=st.integers(1, 8), night=st.booleans(), deep=st.booleans())
@settings(max_examples=examples(30), deadline=None)
def test_a_roof_counts_as_seen_exactly_if_the_map_shows_it(scanner, high, night, deep):
    world = in_a_cell() if deep else flat()
    body, land = body_of(world), world.game.land("verdant")
    body.scanner = scanner
    for y in range(body.y - 10, body.y):
        land.put(body.x, y, ID["air"])
    land.put(body.x, body.y - high, ID["stone"])
    if night:
        world.game.step_number = 200
    rows = view_of(world.game, body).rows
    above = [row[len(row) // 2] for row in rows[: len(rows) // 2]]
    assert sees_roof(land, body) is ("#" in above)


def test_legal_actions_tell_nothing_of_what_the_body_does_not_see():
    world = in_a_cell()
    before = world.legal(ADA)
    crawler_beside_it(world, dx=2)
    world.game.land("verdant").bundle_at(100, GROUND + 22).items["iron"] = 1
    assert world.legal(ADA) == before
    put(world, "air", (101, GROUND + 20), (102, GROUND + 20))
    assert {"attack", "alt_attack"} <= {action.name for action in world.legal(ADA)}


def test_reasons_tell_nothing_of_what_the_body_does_not_see():
    world = in_a_cell()
    before = world.blocked_actions(ADA)
    crawler_beside_it(world, dx=2)
    put(world, "air", (100, GROUND + 22))
    body_of(world, "2").x, body_of(world, "2").y = 100, GROUND + 22
    put(world, "altar", (98, GROUND + 20))
    world.game.land("verdant").bundle_at(100, GROUND + 22).items["iron"] = 1
    assert world.blocked_actions(ADA) == before
