import numpy as np
import pytest

from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.rules import cities, city_life, diplomacy, realms
from cohabit.worlds.kingdoms.sim import MAX_FAITH
from cohabit.worlds.kingdoms.species import SPECIES_ROW

from .meadow import let_pass, meadow, put, realm, told


def test_when_a_king_dies_another_is_crowned_and_everybody_is_told() -> None:
    sim = meadow()
    kingdom, _ = realm(sim, 64, 64)
    first = kingdom.king
    row = sim.creatures.row(first)
    assert row is not None
    sim.creatures.hp[row] = 0
    let_pass(sim, realms.CROWN_EVERY + 1)
    assert kingdom.king not in (0, first)
    assert [piece.kingdoms for piece in sim.news if "crowned" in piece.text] == [None]


def test_war_and_peace_change_the_list_of_wars_and_opinions() -> None:
    sim = meadow()
    one, other = realm(sim, 30, 30)[0], realm(sim, 90, 90)[0]
    diplomacy.declare_war(sim, one.id, other.id, "a test")
    diplomacy.declare_war(sim, other.id, one.id, "again")
    sim.refresh()
    assert len(sim.wars) == 1
    assert sim.at_war[one.id, other.id]
    assert sim.at_war[other.id, one.id]
    assert sim.opinions[one.id, other.id] <= diplomacy.WAR_OPINION
    diplomacy.make_peace(sim, other.id, one.id)
    sim.refresh()
    assert not sim.wars
    assert not sim.at_war.any()
    assert (sim.tally.wars_begun, sim.tally.wars_ended) == (1, 1)
    assert told(sim, "make peace")


def test_the_law_of_peace_ends_wars_and_prevents_new_ones() -> None:
    sim = meadow()
    one, other = realm(sim, 30, 30)[0], realm(sim, 90, 90)[0]
    diplomacy.declare_war(sim, one.id, other.id, "a test")
    sim.laws["peace"] = True
    let_pass(sim, realms.CROWN_EVERY + 1)
    assert not sim.wars
    diplomacy.declare_war(sim, one.id, other.id, "a test")
    assert not sim.wars


@pytest.mark.parametrize("claimed", [False, True])
def test_a_crown_that_hates_its_neighbour_goes_to_war_unless_a_player_rules(claimed: bool) -> None:
    sim = meadow()
    one, other = realm(sim, 40, 40, 30)[0], realm(sim, 80, 40, 30)[0]
    one.no_war_before, one.claimed = 0, claimed
    other.no_war_before = 100_000
    for _ in range(40):
        sim.opinions[one.id, other.id] = -90
        let_pass(sim, realms.CROWN_EVERY)
    assert bool(sim.tally.wars_begun) is not claimed


@pytest.mark.parametrize("claimed", [False, True])
def test_weary_crowns_make_peace_unless_a_player_rules(claimed: bool) -> None:
    sim = meadow()
    one, other = realm(sim, 20, 20)[0], realm(sim, 100, 100)[0]
    one.claimed = claimed
    diplomacy.declare_war(sim, other.id, one.id, "a test")
    one.weariness = other.weariness = 90
    let_pass(sim, 2 * realms.CROWN_EVERY)
    assert bool(sim.wars) is claimed


def test_losses_in_battle_make_a_kingdom_weary_and_peace_lets_it_rest() -> None:
    sim = meadow()
    one, other = realm(sim, 20, 20)[0], realm(sim, 100, 100)[0]
    diplomacy.declare_war(sim, other.id, one.id, "a test")
    one.people, one.fallen = 20, 10
    realms.act(sim, one)
    tired = one.weariness
    assert tired >= realms.LOSS_WEARINESS // 2
    diplomacy.make_peace(sim, one.id, other.id)
    let_pass(sim, 4 * realms.CROWN_EVERY)
    assert one.weariness < tired // 2


def test_a_city_far_away_of_another_race_under_a_weary_crown_loses_its_loyalty_and_rebels() -> None:
    sim = meadow()
    kingdom, capital = realm(sim, 20, 20, 30)
    far = cities.found_city(sim, kingdom.id, 110, 110, put(sim, "orc", 110, 110, 20))
    kingdom.weariness = 100
    rows = np.flatnonzero(sim.creatures.city == far.id)
    assert city_life.loyalty_target(sim, far, rows) < 0
    far.loyalty = 0
    for _ in range(20):
        kingdom.weariness = 100
        let_pass(sim, realms.CROWN_EVERY)
        if far.kingdom != kingdom.id:
            break
    rebels = sim.kingdoms[far.kingdom]
    assert rebels is not kingdom
    assert rebels.race == "orc"
    assert rebels.capital == far.id
    assert sim.tally.rebellions == 1
    assert capital.kingdom == kingdom.id
    assert sim.are_at_war(kingdom.id, rebels.id)
    assert any("rebels against" in piece.text and piece.kingdoms is None for piece in sim.news)


def test_under_the_law_no_rebellion_no_city_rebels() -> None:
    sim = meadow()
    sim.laws["no_rebellion"] = True
    kingdom, _ = realm(sim, 20, 20, 30)
    far = cities.found_city(sim, kingdom.id, 110, 110, put(sim, "orc", 110, 110, 20))
    for _ in range(20):
        far.loyalty = 0
        realms.act(sim, kingdom)
        sim.tick += realms.CROWN_EVERY
    assert far.kingdom == kingdom.id
    sim.laws["no_rebellion"] = False
    for _ in range(20):
        far.loyalty = 0
        realms.act(sim, kingdom)
        sim.tick += realms.CROWN_EVERY
    assert far.kingdom != kingdom.id


def test_a_kingdom_without_city_and_people_ends_and_so_do_its_wars() -> None:
    sim = meadow()
    one, other = realm(sim, 30, 30)[0], realm(sim, 90, 90)[0]
    diplomacy.declare_war(sim, one.id, other.id, "a test")
    realms.end_kingdom(sim, one, "a test")
    assert not one.alive
    assert not sim.wars
    assert sim.tally.wars_ended == 1
    assert not sim.cities_of(one.id)
    assert not (sim.creatures.kingdom == one.id).any()
    assert told(sim, f"{one.name} is no more: a test.")


def test_soldiers_without_a_city_starve_and_their_kingdom_with_them() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 64, 64, 20)
    sim.creatures.job[:] = Job.SOLDIER
    cities.raze(sim, city)
    let_pass(sim, 200)
    assert kingdom.alive
    let_pass(sim, 1400)
    assert not kingdom.alive


def test_workers_who_have_lost_their_last_city_found_another() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 64, 64, 20)
    cities.raze(sim, city)
    let_pass(sim, 200)
    assert kingdom.alive
    assert len(sim.cities_of(kingdom.id)) == 1


def test_people_without_a_kingdom_found_one() -> None:
    sim = meadow()
    put(sim, "dwarf", 64, 64, 12)
    let_pass(sim, 3 * realms.NOMADS_FOUND_EVERY)
    assert [k.race for k in sim.alive] == ["dwarf"]
    assert np.count_nonzero(sim.creatures.kingdom == 1) >= realms.NOMAD_BAND


def test_nomads_arrive_in_an_empty_world() -> None:
    sim = meadow()
    let_pass(sim, 2 * realms.NOMADS_COME_EVERY)
    assert len(sim.alive) == 2
    assert (sim.creatures.species < len(("human", "elf", "orc", "dwarf"))).any()


def test_temples_bring_faith_up_to_the_maximum() -> None:
    sim = meadow()
    (plain, _), (pious, city) = realm(sim, 30, 30), realm(sim, 90, 90)
    city.buildings = {**city.buildings, "temple": 2}
    let_pass(sim, 4 * realms.CROWN_EVERY)
    assert plain.faith < pious.faith <= MAX_FAITH
    pious.faith = MAX_FAITH
    let_pass(sim, realms.CROWN_EVERY)
    assert pious.faith == MAX_FAITH


def test_where_a_player_rules_the_crown_defends_and_does_not_attack() -> None:
    sim = meadow()
    (one, here), (other, _) = realm(sim, 30, 30, 40), realm(sim, 90, 90, 40)
    one.claimed = True
    diplomacy.declare_war(sim, other.id, one.id, "a test")
    one.soldiers = other.soldiers = 10
    for kingdom in (one, other):
        realms.act(sim, kingdom)
    assert one.goal is None
    assert other.goal_is_attack
    here.besieger = other.id
    realms.act(sim, one)
    assert one.goal == (here.x, here.y)
    assert not one.goal_is_attack


def test_every_race_can_be_the_race_of_a_kingdom() -> None:
    for race in ("human", "elf", "orc", "dwarf"):
        kingdom, city = realm(meadow(), 64, 64, race=race)
        assert kingdom.race == race
        assert kingdom.name
        assert city.name
        assert SPECIES_ROW[race] < 4
