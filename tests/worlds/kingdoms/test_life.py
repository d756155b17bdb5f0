import numpy as np
import pytest

from cohabit.worlds.kingdoms import names, save
from cohabit.worlds.kingdoms.beginning import begin
from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.rules import life, tick, vegetation, wildlife
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import HEALTH, RACES, SPECIES, SPECIES_ROW
from cohabit.worlds.kingdoms.terrain import generate
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_WATER, TOP_ROW

from .lively import assert_valid
from .meadow import let_pass, meadow, put


def test_there_are_four_races_and_more_than_thirty_other_kinds() -> None:
    assert RACES == ("human", "elf", "orc", "dwarf")
    assert len(SPECIES) - len(RACES) >= 30
    assert {kind.temper for kind in SPECIES} == {"civil", "shy", "calm", "hunter", "monster", "undead"}


def test_a_grazing_herd_lives_and_grows_on_grass() -> None:
    sim = meadow()
    put(sim, "sheep", 40, 40, 6)
    let_pass(sim, 1500)
    assert np.count_nonzero(sim.creatures.species == SPECIES_ROW["sheep"]) > 6


def test_without_grass_it_starves() -> None:
    sim = meadow()
    sim.land.top[:] = TOP_ROW["road"]  # nothing grows through a road
    put(sim, "sheep", 40, 40, 6)
    let_pass(sim, 1000)
    assert not np.count_nonzero(sim.creatures.species == SPECIES_ROW["sheep"])


def test_under_the_law_no_hunger_nobody_starves() -> None:
    sim = meadow()
    sim.land.top[:] = TOP_ROW["road"]
    sim.laws["no_hunger"] = True
    rows = put(sim, "sheep", 40, 40, 6)
    flock = sim.creatures.id[rows].copy()
    let_pass(sim, 1000)
    assert np.isin(flock, sim.creatures.id).all()


@pytest.mark.parametrize("forbidden", [False, True])
def test_creatures_die_of_age_unless_the_law_forbids_it(forbidden: bool) -> None:
    sim = meadow()
    sim.laws["no_aging"] = forbidden
    row = put(sim, "turtle", 40, 40)
    who = int(sim.creatures.id[row[0]])
    sim.creatures.born[row] = -9000
    let_pass(sim, 16)
    assert (sim.creatures.row(who) is not None) == forbidden


def test_a_hungry_wolf_hunts_down_a_sheep_and_eats() -> None:
    sim = meadow()
    wolf, sheep = put(sim, "wolf", 40, 40), put(sim, "sheep", 44, 40)
    hunter, prey = int(sim.creatures.id[wolf[0]]), int(sim.creatures.id[sheep[0]])
    sim.creatures.food[wolf] = 20
    let_pass(sim, 200)
    row = sim.creatures.row(hunter)
    assert sim.creatures.row(prey) is None
    assert row is not None
    assert sim.creatures.food[row] > 40
    assert sim.creatures.kills[row] == 1


def test_a_sheep_also_runs_from_a_wolf_that_is_not_hungry() -> None:
    sim = meadow()
    wolf, sheep = put(sim, "wolf", 40, 40), put(sim, "sheep", 43, 40)
    sim.creatures.effects[wolf] |= Effect.FROZEN
    let_pass(sim, 16)
    assert abs(int(sim.creatures.x[sheep[0]]) - 40) > 3


def test_fish_stay_in_water_animals_on_land_and_birds_go_everywhere() -> None:
    sim = meadow()
    lake = sim.land.disc(40, 40, 12)
    sim.land.ground[lake], sim.land.top[lake] = GROUND_ROW["close_ocean"], TOP_ROW["none"]
    put(sim, "fish", 40, 40, 10)
    put(sim, "cow", 60, 40, 10)
    put(sim, "crow", 40, 40, 3)
    for _ in range(40):
        let_pass(sim, 10)
        c = sim.creatures
        wet = IS_WATER[sim.land.ground[sim.land.cells(c.x, c.y)]]
        assert wet[c.species == SPECIES_ROW["fish"]].all()
        assert not wet[c.species == SPECIES_ROW["cow"]].any()


def test_nobody_walks_onto_deadly_ground() -> None:
    sim = meadow()
    for x in range(24, 104, 8):
        pool = sim.land.disc(x, 64, 3)
        sim.land.ground[pool], sim.land.top[pool] = GROUND_ROW["grey_goo"], TOP_ROW["none"]
    put(sim, "cow", 60, 60, 30)
    let_pass(sim, 400)
    assert not sim.tally.died


def test_lava_kills_creatures_that_are_not_fireproof() -> None:
    sim = meadow()
    pool = sim.land.disc(40, 40, 3)
    cow, demon = put(sim, "cow", 40, 40), put(sim, "demon", 42, 40)
    ids = sim.creatures.id[[cow[0], demon[0]]].tolist()
    sim.land.ground[pool], sim.land.top[pool] = GROUND_ROW["lava0"], TOP_ROW["none"]
    let_pass(sim, 8)
    assert sim.creatures.row(ids[0]) is None
    assert sim.creatures.row(ids[1]) is not None


def test_a_shield_halves_a_wound_and_two_wounds_at_once_both_count() -> None:
    sim = meadow()
    plain, shielded = put(sim, "bear", 30, 30), put(sim, "bear", 60, 60)
    sim.creatures.effects[shielded] |= Effect.SHIELDED
    full = int(HEALTH[SPECIES_ROW["bear"]])
    life.hurt(sim, np.concatenate((plain, plain, shielded)), 10, "test")
    assert sim.creatures.hp[plain[0]] == full - 20
    assert sim.creatures.hp[shielded[0]] == full - 5


def test_healing_stops_at_full_health_and_does_not_raise_the_dead() -> None:
    sim = meadow()
    rows = put(sim, "bear", 30, 30, 2)
    life.hurt(sim, rows, np.array([10, 500]), "test")
    life.heal(sim, rows, 1000)
    assert sim.creatures.hp[rows].tolist()[0] == HEALTH[SPECIES_ROW["bear"]]
    assert sim.creatures.hp[rows].tolist()[1] <= 0


def test_a_frozen_creature_does_not_move_until_the_effect_ends() -> None:
    sim = meadow()
    row = put(sim, "horse", 30, 30)
    sim.creatures.effects[row] |= Effect.FROZEN
    assert sim.creatures.effects[row[0]] & Effect.FROZEN
    while sim.creatures.effects[row[0]] & Effect.FROZEN:
        assert (sim.creatures.x[row[0]], sim.creatures.y[row[0]]) == (30, 30)
        let_pass(sim, 1)


def test_a_plague_spreads_to_people_nearby_and_ends() -> None:
    sim = meadow()
    rows = put(sim, "human", 40, 40, 12)
    sim.creatures.effects[rows[:3]] |= Effect.PLAGUE
    sick, ever = 3, 3
    for _ in range(300):
        let_pass(sim, 8)
        sick = int(np.count_nonzero(sim.creatures.effects & Effect.PLAGUE))
        ever = max(ever, sick)
        if not sick:
            break
    assert ever > 3
    assert not sick


def test_fire_spreads_burns_out_and_grass_grows_again() -> None:
    sim = meadow()
    assert vegetation.ignite(sim, sim.land.disc(64, 64, 4)) == 49
    let_pass(sim, 200)
    burnt = np.flatnonzero(sim.land.top == TOP_ROW["burnt"])
    assert len(burnt) > 49
    sim.laws["no_fire"] = True
    let_pass(sim, 4000)
    assert not len(sim.land.burning)
    assert np.count_nonzero(sim.land.top[burnt] == TOP_ROW["grass"]) > len(burnt) // 2


def test_under_the_law_no_fire_nothing_burns() -> None:
    sim = meadow()
    sim.laws["no_fire"] = True
    assert vegetation.ignite(sim, sim.land.disc(64, 64, 4)) == 0


def test_creatures_are_spawned_only_where_they_can_live() -> None:
    sim = meadow()
    assert not len(put(sim, "shark", 64, 64, 5))
    assert len(put(sim, "wolf", 64, 64, 100)) == 100


def test_names_are_diverse_and_belong_to_the_species() -> None:
    sim = meadow()
    life.spawn(sim, SPECIES_ROW["human"], 20, 20, 200)
    life.spawn(sim, SPECIES_ROW["fire_elemental"], 20, 20, 1)
    known = [names.name_of(sim, row) for row in range(201)]
    assert len(set(known[:200])) > 60
    assert known[200].endswith("the fire elemental")


@pytest.mark.parametrize(
    ("species", "one", "several"),
    [
        ("wolf", "a wolf", "wolves"),
        ("evil_mage", "an evil mage", "evil mages"),
        ("snowman", "a snowman", "snowmen"),
        ("ufo", "a UFO", "UFOs"),
        ("elephant", "an elephant", "elephants"),
        ("butterfly", "a butterfly", "butterflies"),
    ],
)
def test_species_have_the_right_article_and_plural(species: str, one: str, several: str) -> None:
    assert names.with_article(species) == one
    assert names.plural(species) == several
    assert names.counted(2, species) == f"2 {several}"
    assert names.counted(1, species) == f"1 {one.split(' ', 1)[1]}"


def test_news_of_monsters_are_whole_sentences() -> None:
    assert wildlife.monster_news("evil_mage", 1) == "An evil mage has been seen in the wild."
    assert wildlife.monster_news("snowman", 4) == "A pack of snowmen roams the wild."


@pytest.mark.soak
def test_the_same_seed_gives_the_same_world_even_if_it_is_saved_and_loaded_in_between() -> None:
    one, other = (Sim(9, generate(9, 2, 2)) for _ in range(2))
    for sim in (one, other):
        begin(sim, 3, 1)
    for number in range(900):
        tick.step(one)
        tick.step(other)
        if number % 97 == 0:
            other = save.load(save.dump(other))
    assert save.dump(one) == save.dump(other)


def test_another_seed_gives_another_world() -> None:
    worlds = []
    for seed in (9, 10):
        sim = Sim(seed, generate(9, 2, 2))
        begin(sim, 3, 0)
        let_pass(sim, 50)
        worlds.append(sim.creatures.x[:40].tolist())
    assert worlds[0] != worlds[1]


def test_a_world_begins_with_kingdoms_apart_and_keeps_its_invariants() -> None:
    sim = Sim(4, generate(4, 3, 3))
    begin(sim, 4, 2)
    cities = list(sim.cities.values())
    apart = [max(abs(a.x - b.x), abs(a.y - b.y)) for a in cities for b in cities if a is not b]
    assert [k.claimed for k in sim.alive] == [True, True, False, False]
    assert len({k.race for k in sim.alive}) == 4
    assert min(apart) >= 25
    for _ in range(8):
        let_pass(sim, 250)
        assert_valid(sim)
