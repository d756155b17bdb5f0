import numpy as np

from cohabit.worlds.kingdoms.creatures import Effect, Job
from cohabit.worlds.kingdoms.rules import battle, diplomacy, siege
from cohabit.worlds.kingdoms.species import SPECIES_ROW

from .meadow import let_pass, meadow, put, realm, told


def arm(sim, city, count):  # type: ignore[no-untyped-def]
    """Make soldiers of the first people of a city; returns their rows."""
    rows = np.flatnonzero(sim.creatures.city == city.id)[:count]
    sim.creatures.job[rows] = Job.SOLDIER
    city.soldiers = count
    return rows


def test_soldiers_at_war_fight_and_the_bigger_army_wins() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 100, 60, 30)
    diplomacy.declare_war(sim, one.id, other.id, "test")
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


def test_workers_are_spared_in_war() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 100, 60, 30)
    diplomacy.declare_war(sim, one.id, other.id, "test")
    soldiers = arm(sim, here, 10)
    workers = np.flatnonzero(sim.creatures.city == there.id)
    before = sim.creatures.id[workers].copy()
    sim.creatures.x[soldiers], sim.creatures.y[soldiers] = there.x, there.y
    other.orders.muster = 1
    let_pass(sim, 40)
    assert np.isin(before, sim.creatures.id).all()


def test_monsters_attack_people_and_soldiers_attack_monsters() -> None:
    sim = meadow()
    _, city = realm(sim, 60, 60, 20)
    arm(sim, city, 10)
    put(sim, "skeleton", 66, 60, 3)
    let_pass(sim, 400)
    assert not np.count_nonzero(sim.creatures.species == SPECIES_ROW["skeleton"])
    assert sim.creatures.kills.sum() >= 3


def test_a_mad_creature_strikes_its_own_species_and_invisible_ones_are_not_struck() -> None:
    sim = meadow()
    mad, near = put(sim, "cow", 40, 40), put(sim, "cow", 41, 40)
    hidden, wolf = put(sim, "sheep", 100, 100), put(sim, "wolf", 101, 100)
    sim.creatures.effects[mad] |= Effect.MAD
    sim.creatures.effects[hidden] |= Effect.INVISIBLE | Effect.FROZEN
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
    c.effects[rows] = [0, 0, Effect.BLESSED, Effect.CURSED, 0]
    c.kills[rows] = [0, 0, 0, 0, 6]
    total = np.zeros(5, np.int64)
    for tick in range(200):
        sim.tick = tick
        total += battle.blows(sim, rows)
    worker, soldier, blessed, cursed, veteran = total.tolist()
    assert worker < cursed < soldier < blessed < 2 * soldier
    assert soldier < veteran


def test_a_raided_city_falls_within_900_ticks_and_keeps_its_people() -> None:
    sim = meadow()
    (one, _here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 90, 60, 24, "elf")
    diplomacy.declare_war(sim, one.id, other.id, "test")
    one.orders.muster, one.orders.raid = 50, there.id
    let_pass(sim, 900)
    assert there.kingdom == one.id
    assert there.times_taken == 1
    assert sim.tally.cities_taken == 1
    assert not there.besieger
    assert not one.orders.raid
    assert np.count_nonzero((sim.creatures.city == there.id) & (sim.creatures.species == SPECIES_ROW["elf"])) > 10
    assert told(sim, f"{one.name} takes {there.name} at {there.x},{there.y} from {other.name}.")


def test_only_the_two_sides_are_told_of_a_taken_city() -> None:
    sim = meadow()
    (one, _), (other, there), _ = realm(sim, 20, 20), realm(sim, 90, 20), realm(sim, 20, 90)
    siege.take(sim, there, one.id)
    assert sim.news[-1].kingdoms == (one.id, other.id)


def test_towers_shoot_at_besiegers_and_nobody_is_enlisted_during_a_siege() -> None:
    sim = meadow()
    (one, here), (other, there) = realm(sim, 30, 60, 30), realm(sim, 100, 60, 60)
    diplomacy.declare_war(sim, one.id, other.id, "test")
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
