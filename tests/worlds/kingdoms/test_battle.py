import numpy as np

from cohabit.worlds.kingdoms import battle, crowns, siege
from cohabit.worlds.kingdoms.creatures import Job, Mark
from cohabit.worlds.kingdoms.species import SPECIES_ROW

from .meadow import let_pass, meadow, put, realm, told


def arm(sim, city, count):  # type: ignore[no-untyped-def]
    """Make soldiers of the first people of a city; their rows."""
    rows = np.flatnonzero(sim.creatures.city == city.id)[:count]
    sim.creatures.job[rows] = Job.SOLDIER
    city.soldiers = count
    return rows


def test_soldiers_at_war_fight_and_the_bigger_army_wins() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 100, 60, 30)
    crowns.declare_war(sim, one.id, other.id, "test")
    many, few = arm(sim, here, 20), arm(sim, there, 8)
    ids = sim.creatures.id[many], sim.creatures.id[few]
    one.orders.rally = other.orders.rally = (64, 20)
    one.orders.muster = other.orders.muster = 60
    for rows in (many, few):
        sim.creatures.x[rows], sim.creatures.y[rows] = 64, 20
    let_pass(sim, 300)
    left = [int(np.isin(who, sim.creatures.id).sum()) for who in ids]
    assert left[0] > 12
    assert left[1] == 0


def test_soldiers_at_peace_leave_each_other_alone() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 100, 60, 30)
    rows = np.concatenate((arm(sim, here, 10), arm(sim, there, 10)))
    one.orders.rally = other.orders.rally = (64, 20)
    one.orders.muster = other.orders.muster = 60
    sim.creatures.x[rows], sim.creatures.y[rows] = 64, 20
    let_pass(sim, 200)
    assert not sim.tally.died


def test_whoever_works_is_spared_in_war() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 100, 60, 30)
    crowns.declare_war(sim, one.id, other.id, "test")
    soldiers = arm(sim, here, 10)
    workers = np.flatnonzero(sim.creatures.city == there.id)
    before = sim.creatures.id[workers].copy()
    sim.creatures.x[soldiers], sim.creatures.y[soldiers] = there.x, there.y
    other.orders.muster = 1
    let_pass(sim, 40)
    assert np.isin(before, sim.creatures.id).all()


def test_monsters_go_for_people_and_soldiers_for_monsters() -> None:
    sim = meadow()
    _, city = realm(sim, 60, 60, 20)
    arm(sim, city, 10)
    put(sim, "skeleton", 66, 60, 3)
    let_pass(sim, 400)
    assert not np.count_nonzero(sim.creatures.species == SPECIES_ROW["skeleton"])
    assert sim.creatures.kills.sum() >= 3


def test_somebody_mad_strikes_its_own_kind_and_nobody_strikes_the_invisible() -> None:
    sim = meadow()
    mad, near = put(sim, "cow", 40, 40), put(sim, "cow", 41, 40)
    hidden, wolf = put(sim, "sheep", 100, 100), put(sim, "wolf", 101, 100)
    sim.creatures.marks[mad] |= Mark.MAD
    sim.creatures.marks[hidden] |= Mark.INVISIBLE | Mark.FROZEN
    sim.creatures.food[wolf] = 20
    let_pass(sim, 8)
    assert sim.creatures.hp[near[0]] < 45
    assert sim.creatures.hp[hidden[0]] == 20


def test_blessings_curses_arms_and_kills_change_a_blow() -> None:
    sim = meadow()
    _, city = realm(sim, 60, 60, 20)
    rows = np.flatnonzero(sim.creatures.city == city.id)[:5]
    c = sim.creatures
    c.job[rows] = [Job.WORKER, Job.SOLDIER, Job.SOLDIER, Job.SOLDIER, Job.SOLDIER]
    c.marks[rows] = [0, 0, Mark.BLESSED, Mark.CURSED, 0]
    c.kills[rows] = [0, 0, 0, 0, 6]
    total = np.zeros(5, np.int64)
    for tick in range(200):
        sim.tick = tick
        total += battle.blows(sim, rows)
    worker, soldier, blessed, cursed, veteran = total.tolist()
    assert worker < cursed < soldier < blessed < 2 * soldier
    assert soldier < veteran


def test_a_city_whose_defenders_are_dead_falls_within_some_hundred_ticks_and_keeps_its_people() -> None:
    sim = meadow()
    (one, _here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 90, 60, 24, "elf")
    crowns.declare_war(sim, one.id, other.id, "test")
    one.orders.muster, one.orders.raid = 50, there.id
    let_pass(sim, 900)
    assert there.kingdom == one.id
    assert there.taken == 1
    assert sim.tally.cities_taken == 1
    assert not there.besieger
    assert not one.orders.raid
    assert np.count_nonzero((sim.creatures.city == there.id) & (sim.creatures.species == SPECIES_ROW["elf"])) > 10
    assert told(sim, f"{one.name} takes {there.name} from {other.name}.")


def test_only_both_sides_hear_of_a_city_that_is_taken() -> None:
    sim = meadow()
    (one, _), (other, there), _ = realm(sim, 20, 20), realm(sim, 90, 20), realm(sim, 20, 90)
    siege.take(sim, there, one.id)
    assert sim.news[-1].kingdoms == (one.id, other.id)


def test_towers_shoot_at_besiegers_and_nobody_is_called_up_in_a_siege() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 100, 60, 60)
    crowns.declare_war(sim, one.id, other.id, "test")
    there.buildings = {**there.buildings, "tower": 4}
    soldiers = arm(sim, here, 20)
    sim.creatures.x[soldiers], sim.creatures.y[soldiers] = there.x, there.y
    one.orders.rally = there.x, there.y
    other.orders.muster = 60
    sim.refresh()
    siege.step(sim)
    assert there.besieger == one.id
    assert (sim.creatures.hp[soldiers] < 50).any()
    let_pass(sim, 40)
    assert not np.count_nonzero((sim.creatures.city == there.id) & (sim.creatures.job == Job.SOLDIER))
