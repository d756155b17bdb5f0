"""Creatures, hazards, hunger, quests and achievements."""

import pytest
from tests.worlds.planet.playing import GROUND, body_of, do, flat, own, put

from cohabit.model.seat import Seat
from cohabit.world import Arrival
from cohabit.worlds.starbound.creatures import add_creature
from cohabit.worlds.starbound.harm import hurt
from cohabit.worlds.starbound.items import ITEM_NAMES
from cohabit.worlds.starbound.planets import CREATURE, PLANET, PLANETS, is_night
from cohabit.worlds.starbound.quests import ACHIEVEMENTS, QUESTS
from cohabit.worlds.starbound.travel import TRAVEL


def spawn(world, kind, x, y=GROUND - 1):
    return add_creature(world.game, world.game.land("verdant"), kind, x, y)


def test_a_hostile_creature_hunts_and_hits_and_armor_helps():
    world = flat()
    spawn(world, "crawler", 106)
    for _ in range(12):
        do(world, "wait")
    bare = 100 - body_of(world).health
    assert bare >= 6
    armored = flat()
    body_of(armored).items, body_of(armored).equipment = {"iron_armor": 1}, {"armor": "iron_armor"}
    spawn(armored, "crawler", 106)
    for _ in range(12):
        do(armored, "wait")
    assert 0 < 100 - body_of(armored).health < bare


@pytest.mark.parametrize(
    ("factor", "fall", "poison", "blow"), [(0.5, 5, 1, 7), (1.0, 10, 1, 7), (1.1, 11, 1, 7), (1.5, 15, 1, 7)]
)
def test_the_difficulty_of_a_body_changes_what_hurts_it_but_not_the_blows_of_players(factor, fall, poison, blow):
    world = flat()
    seat = world.arrive(Arrival("eve", damage=factor)).id
    body = body_of(world, seat)
    before = body.health
    for amount, by_player, taken in ((10, False, fall), (1, False, poison), (7, True, blow)):
        hurt(world.game, body, amount, "fall", "ow", by_player=by_player)
        assert before - body.health == taken
        before = body.health
    world.restore(world.snapshot())
    assert body_of(world, seat).harm == factor


def test_a_body_that_is_woken_has_the_difficulty_of_the_new_visit():
    world = flat()
    seat = world.arrive(Arrival("eve", damage=0.5))
    world.depart(seat, "suspend")
    world.arrive(Arrival("eve", seat.id, returns=True, damage=1.5))
    assert body_of(world, seat.id).harm == 1.5


def test_a_player_hits_as_hard_as_ever_whatever_the_difficulty():
    taken = []
    for factor in (0.5, 1.0, 1.5):
        world = flat("ann", "eve", fighting=True)
        ann, eve = body_of(world), body_of(world, "2")
        eve.harm, eve.x, eve.y = factor, ann.x + 1, ann.y
        do(world, "attack")
        taken.append(100 - eve.health)
    assert taken[0] == taken[1] == taken[2] > 0


def test_a_killed_creature_gives_what_it_has():
    world = flat()
    body = body_of(world)
    body.items, body.equipment = {"titanium_sword": 1}, {"weapon": "titanium_sword"}
    spawn(world, "crawler", 101)
    do(world, "attack")
    assert body.items["fiber"] == 2
    assert body.items["pixels"] == 6
    assert {"kill", "defeat"} <= world.deeds("1").keys()
    assert world.deeds("1")["achievement:first_blood"] == 1


def test_a_sweep_hits_all_around_and_costs_energy():
    world = flat()
    near = [spawn(world, "snapper", x) for x in (99, 101)]
    far = spawn(world, "snapper", 110)
    body = do(world, "alt_attack")
    assert [creature.health for creature in near] == [21, 21]
    assert far.health == 24
    assert body.energy == 81


def test_a_harmless_creature_flees_when_it_is_hurt():
    world = flat()
    fluffle = spawn(world, "fluffle", 101)
    do(world, "attack")
    for _ in range(6):
        do(world, "wait")
    assert fluffle.x > 104


def test_players_hurt_each_other_only_where_the_rules_allow_it():
    peace, war = flat("ada", "bob"), flat("ada", "bob", fighting=True)
    assert "no bob" in do(peace, "attack", target="bob").events[0][1]
    do(war, "attack", target="bob")
    assert (body_of(peace, "2").health, body_of(war, "2").health) == (100, 96)


def test_players_learn_nothing_by_what_they_do_to_each_other():
    """Dropping and taking up, to and fro, and killing each other again and again."""
    world = flat("ada", "bob", fighting=True, respawn_after=1)
    body_of(world).items["diamond"] = 1
    for _ in range(10):
        for seat in ("1", "2"):
            do(world, "drop_item", seat, slot="diamond")
            do(world, "interact", "2" if seat == "1" else "1")
    for _ in range(60):
        for seat, other in (("1", "bob"), ("2", "ada")):
            if body_of(world, seat).alive:
                do(world, "attack", seat, target=other)
    assert sum(body_of(world, seat).tally.get("deaths", 0) for seat in ("1", "2")) == 1, "the dead wake up aboard"
    for seat in ("1", "2"):
        learned = {deed for deed in world.deeds(seat) if deed in TRAVEL.lessons}
        assert learned <= {"planets", "explore"}, "where they are, and what they see there"


def test_creatures_appear_near_players_and_not_beyond_a_limit():
    world = flat()
    most = 0
    for _ in range(400):
        do(world, "wait")
        body_of(world).health = 100
        most = max(most, len(world.game.land("verdant").creatures))
    assert 1 <= most <= 12


def test_a_planet_without_players_stands_still():
    world = flat()
    creature = spawn(world, "fluffle", 104)
    do(world, "beam_up")
    before = (creature.x, creature.y)
    for _ in range(30):
        do(world, "wait")
    assert (creature.x, creature.y) == before


def test_hunger_leads_to_starvation():
    world = flat(respawn_after=0)
    body = body_of(world)
    body.food, body.health = 1, 3
    world.game.lands["verdant"].creatures = []
    while body.alive:
        do(world, "wait")
        world.game.land("verdant").creatures = []
    assert world.body("1").death.cause == "starvation"


@pytest.mark.parametrize(("tile", "cause"), [("lava", "fire"), ("acid", "poison")])
def test_liquids_kill(tile, cause):
    world = flat(respawn_after=0)
    put(world, tile, (100, GROUND - 1))
    while body_of(world).alive:
        do(world, "wait")
    assert world.body("1").death.cause == cause


@pytest.mark.parametrize(
    ("planet", "cause", "suit"), [("frost", "cold", "fur_coat"), ("mire", "poison", "hazard_suit")]
)
def test_a_planet_hurts_those_who_are_not_protected(planet, cause, suit):
    for armor in ("", suit):
        world = flat(respawn_after=0)
        body = body_of(world)
        if armor:
            body.items, body.equipment = {armor: 1}, {"armor": armor}
        body.place = planet
        land = world.game.land(planet)
        body.x, body.y = 128, land.top(128)
        kind = PLANET[planet]
        world.game.step_number = next(step for step in range(kind.day) if is_night(kind, step))
        for _ in range(12):
            do(world, "wait")
            land.creatures = []
        assert (body.health == 100) == bool(armor), cause


def test_fire_keeps_the_cold_away():
    world = flat()
    body = body_of(world)
    body.place = "frost"
    land = world.game.land("frost")
    body.x, body.y = 128, land.top(128)
    put(world, "campfire", (129, body.y), place="frost")
    world.game.step_number = next(step for step in range(240) if is_night(PLANET["frost"], step))
    for _ in range(12):
        do(world, "wait")
        land.creatures = []
    assert body.health == 100


def test_the_guardian_rises_at_its_altar_and_its_end_completes_the_quest():
    world = flat()
    put(world, "altar", (102, GROUND - 1))
    body = body_of(world)
    body.items, body.equipment = {"titanium_sword": 1}, {"weapon": "titanium_sword"}
    do(world, "interact", target="altar")
    assert [c.kind for c in world.game.land("verdant").creatures] == ["guardian"]
    for _ in range(30):
        body.health = body.energy = 100
        if any(c.kind == "guardian" for c in world.game.land("verdant").creatures):
            do(world, "attack" if world.body("1").unsafe else "wait")
    assert body.items["core"] == 1
    assert world.deeds("1")["achievement:guardian_slayer"] == 1


def test_quests_come_one_after_another_with_rewards_and_are_goals():
    world = flat()
    put(world, "tree", *[(101, GROUND - up) for up in (1, 2, 3)], *[(99, GROUND - up) for up in (1, 2, 3)])
    assert [goal.id for goal in world.goals(Seat("1"))] == ["wood"]
    do(world, "use_tool", direction="right")
    assert world.goals(Seat("1"))[0].progress == "3/5"
    do(world, "use_tool", direction="left")
    assert [goal.id for goal in world.goals(Seat("1"))] == ["workbench"]
    assert body_of(world).items["pixels"] == 10
    assert world.returns() == {"1": 2.0}  # the quest, and the first wood
    world.track_quest(Seat("1"), "cook")
    assert [goal.id for goal in world.goals(Seat("1"))] == ["workbench", "cook"]
    assert {row["id"] for row in world.check_quest(own())} >= {"workbench", "cook"}


def test_what_the_world_teaches_names_deeds_that_exist():
    counted = {"explore", "defeat", "build", "quest", "nights", "trade", "planets", "steps"}
    assert set(TRAVEL.lessons) == {f"achievement:{name}" for name in ACHIEVEMENTS} | counted
    assert set(TRAVEL.rarities) <= set(ACHIEVEMENTS)
    assert len(TRAVEL.domains) == 9


def test_every_quest_can_be_done():
    deeds = {f"{kind}:{item}" for kind in ("collect", "craft", "place", "kill") for item in (*ITEM_NAMES, *CREATURE)}
    assert {quest.deed for quest in QUESTS} <= deeds | {"beam_up", "planets", "defeat", "explore", "tech"}
    assert max(quest.times for quest in QUESTS if quest.deed == "planets") == len(PLANETS)
