import numpy as np

from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.rules import cities, city_life, scouting, settlers
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, TOP_ROW

from .lively import assert_buildings_are_counted
from .meadow import let_pass, meadow, put, realm, told


def test_a_city_left_alone_ploughs_builds_feeds_its_people_and_grows() -> None:
    sim = meadow()
    _, city = realm(sim, 64, 64, 16)
    let_pass(sim, 2500)
    assert city.people > 30
    assert city.radius > cities.FIRST_RADIUS
    assert city.buildings["house"] > 2
    assert city.buildings["hall"] == 1
    assert np.count_nonzero(sim.land.top == TOP_ROW["farmland"]) > 20
    assert_buildings_are_counted(sim)
    assert told(sim, f"{city.name} has built a hall.")


def test_houses_limit_the_people() -> None:
    sim = meadow()
    _, city = realm(sim, 64, 64, 16)
    for _ in range(60):
        let_pass(sim, 50)
        city.wood = 0
    assert city.people <= cities.housing(city) + 3


def test_a_city_without_food_starves_and_its_kingdom_is_told_of_the_famine() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 64, 64, 16)
    for _ in range(160):
        let_pass(sim, 10)
        city.food = 0
    assert np.count_nonzero(sim.creatures.kingdom == kingdom.id) < 14
    famine = [piece for piece in sim.news if "starving" in piece.text]
    assert famine
    assert famine[0].kingdoms == (kingdom.id,)


def test_gold_buys_meals_in_a_famine() -> None:
    sim = meadow()
    _, city = realm(sim, 64, 64, 16)
    city.food, city.gold, city.hungry = 0, 10, 8
    city_life.act(sim, city)
    assert city.food > 0
    assert city.gold < 10


def test_a_crowded_city_sends_settlers_and_they_found_another() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 40, 40, 40)
    city.buildings = {**city.buildings, "house": 9}
    kingdom.orders.settle = (90, 90)
    city.food = 300
    let_pass(sim, 500)
    founded = [c for c in sim.cities.values() if c is not city]
    assert [(c.x, c.y, c.kingdom) for c in founded] == [(90, 90, kingdom.id)]
    assert kingdom.orders.settle is None
    assert cities.city_at(sim, 90, 90) is founded[0]


def test_no_city_is_founded_close_to_another() -> None:
    sim = meadow()
    realm(sim, 64, 64)
    assert not settlers.is_free(sim, 64 + settlers.APART - 1, 64)
    assert settlers.is_free(sim, 64 + settlers.APART, 64)


def test_traders_bring_gold_and_goodwill() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 40, 64, 20), realm(sim, 80, 64, 20, "elf")
    here.buildings = {**here.buildings, "market": 1}
    one.known[there.id] = there.x, there.y, other.id
    let_pass(sim, 700)
    assert here.gold > 0
    assert there.gold > 0
    assert max(sim.opinions[one.id, other.id], sim.opinions[other.id, one.id]) > -20


def test_traders_do_not_go_to_a_city_that_their_kingdom_has_not_seen() -> None:
    sim = meadow()
    (one, here), (_, there) = realm(sim, 30, 64, 20), realm(sim, 90, 64, 20, "elf")
    here.buildings = {**here.buildings, "market": 1}
    let_pass(sim, 700)
    assert not one.known
    assert here.gold == there.gold == 0


def test_a_kingdom_remembers_a_foreign_city_that_its_people_have_seen_until_they_see_that_it_is_gone() -> None:
    sim = meadow()
    (one, _), (other, there) = realm(sim, 30, 64, 20), realm(sim, 90, 64, 20, "elf")
    scout = np.flatnonzero(sim.creatures.kingdom == one.id)[0]
    home = int(sim.creatures.x[scout])
    for x, known in ((80, []), (82, [(90, 64, other.id)]), (home, [(90, 64, other.id)])):
        sim.creatures.x[scout], sim.creatures.y[scout] = x, 64
        scouting.notice_cities(sim, one)
        assert list(one.known.values()) == known
    cities.raze(sim, there)
    scouting.notice_cities(sim, one)
    assert one.known, "nobody has looked"
    sim.creatures.x[scout] = 90
    scouting.notice_cities(sim, one)
    assert not one.known


def test_settlers_choose_a_place_by_what_their_kingdom_knows() -> None:
    """A city in the fog, which they have not seen, does not change where they go."""
    places = []
    for hidden in (False, True):
        sim = meadow()
        _, home = realm(sim, 30, 64, 20)
        if hidden:
            for x, y in ((60, 40), (60, 64), (60, 90)):
                realm(sim, x, y, 8, "elf")
        sim.tick = 1000
        places.append([settlers.find_place(sim, home) for sim.tick in range(1000, 1040)])
    assert places[0] == places[1]
    assert len(set(places[0])) > 10


def test_a_road_joins_a_new_city_to_an_older_one() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 30, 30, 20)
    newer = cities.found_city(sim, kingdom.id, 70, 30, put(sim, "human", 70, 30, 20))
    cities.connect(sim, newer)
    assert newer.road_to == city.id
    assert (sim.land.top[sim.land.cells(np.arange(35, 66), np.full(31, 30))] == TOP_ROW["road"]).all()


def test_a_razed_city_leaves_nothing_behind() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 30, 30, 20)
    other = cities.found_city(sim, kingdom.id, 90, 30, put(sim, "human", 90, 30, 10))
    let_pass(sim, 300)
    cities.raze(sim, city)
    assert city.id not in sim.cities
    assert kingdom.capital == other.id
    assert not (sim.land.city == city.id).any()
    assert not sim.land.built[sim.land.disc(30, 30, 9)].any()
    assert not (sim.creatures.city == city.id).any()


def test_a_city_without_people_falls_to_ruin() -> None:
    sim = meadow()
    kingdom, _city = realm(sim, 30, 30, 20)
    sim.creatures.hp[:] = 0
    let_pass(sim, 2 * city_life.DAY)
    assert not sim.cities
    let_pass(sim, 60)
    assert not kingdom.alive


def test_an_order_to_muster_arms_that_percentage_of_the_people() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 64, 64, 40)
    city.buildings = {**city.buildings, "house": 9}
    kingdom.orders.muster = 50
    let_pass(sim, 1200)
    soldiers = int(np.count_nonzero((sim.creatures.job == Job.SOLDIER) & (sim.creatures.city == city.id)))
    assert abs(soldiers - city.people // 2) <= 5


def test_an_order_to_fortify_builds_towers_first() -> None:
    sim = meadow()
    kingdom, city = realm(sim, 64, 64, 16)
    kingdom.orders.fortify = True
    city.wood = city.stone = 200
    let_pass(sim, 4 * city_life.DAY)
    assert city.buildings["tower"] == cities.FORTIFIED_TOWERS
    assert np.count_nonzero(sim.land.built == BUILDING_ROW["tower"]) == cities.FORTIFIED_TOWERS


def test_the_leader_of_a_city_is_one_of_its_people_and_is_replaced() -> None:
    sim = meadow()
    _, city = realm(sim, 64, 64, 16)
    let_pass(sim, city_life.DAY)
    first = city.leader
    row = sim.creatures.row(first)
    assert row is not None
    assert sim.creatures.city[row] == city.id
    sim.creatures.hp[row] = 0
    let_pass(sim, 2 * city_life.DAY)
    assert city.leader not in (0, first)


# -- an order to settle is followed up ------------------------------------------------------------
def _sent(sim, place):
    """A kingdom whose settlers are on the way."""
    kingdom, city = realm(sim, 64, 64, 40)
    kingdom.orders.settle = place
    city.food = 900
    for _ in range(20):
        if kingdom.band:
            break
        let_pass(sim, 10)
    assert told(sim, f"8 settlers leave {city.name} for {place[0]},{place[1]}.")
    return kingdom, city


def test_settlers_who_cannot_reach_their_place_found_no_city_elsewhere_and_the_king_is_told() -> None:
    sim = meadow()
    kingdom, city = _sent(sim, (100, 100))
    c = sim.creatures
    rows = np.flatnonzero(np.isin(c.id, kingdom.band))
    c.x[rows], c.y[rows], c.tx[rows] = 84, 84, -1
    settlers.arrive(sim)
    assert kingdom.cities == 1
    expected = f"No city at 100,100: the settlers could not reach it. They now live in {city.name}."
    assert [n.kingdoms for n in sim.news if n.text == expected] == [(kingdom.id,)]
    assert (c.job[rows] == Job.WORKER).all()
    assert kingdom.band_to is None


def test_settlers_who_find_their_place_taken_move_back_and_the_king_is_told() -> None:
    sim = meadow()
    kingdom, city = _sent(sim, (100, 100))
    realm(sim, 100, 100, 10, "orc")
    c = sim.creatures
    rows = np.flatnonzero(np.isin(c.id, kingdom.band))
    c.x[rows], c.y[rows], c.tx[rows] = 100, 100, -1
    settlers.arrive(sim)
    assert told(sim, f"No city at 100,100: the settlers found it taken, or without soil. They now live in {city.name}.")


def test_the_king_is_told_when_all_settlers_have_died() -> None:
    sim = meadow()
    kingdom, _ = _sent(sim, (100, 100))
    c = sim.creatures
    c.hp[np.isin(c.id, kingdom.band)] = 0
    c.remove_dead()
    settlers.arrive(sim)
    assert told(sim, "The settlers for 100,100 died on the way.")
    assert kingdom.band == ()
