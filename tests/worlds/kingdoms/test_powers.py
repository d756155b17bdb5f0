"""Powers keep the invariants wherever they are cast, and players affect only what is theirs."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
import pytest

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms import save
from cohabit.worlds.kingdoms.creatures import Effect, Job
from cohabit.worlds.kingdoms.invariants import first_violation
from cohabit.worlds.kingdoms.powers import laws, storms
from cohabit.worlds.kingdoms.powers.casting import PowerUse, invoke
from cohabit.worlds.kingdoms.powers.ground import reshape
from cohabit.worlds.kingdoms.powers.power import Cast
from cohabit.worlds.kingdoms.powers.table import FAMILIES, POWERS, page
from cohabit.worlds.kingdoms.rules import life, tick
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import GROWN, RACES, SPECIES, SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_LAVA, TOP_ROW

from .lively import assert_valid, cast, first_city, lively

DOCS = Path(__file__).parents[3] / "docs"
OWN = [power.id for power in POWERS.values() if power.aim == "own"]


def places(sim: Sim) -> list[tuple[int, int]]:
    """Three corners, the middle of an edge, the middle of the map, and two cities."""
    right, low = sim.land.width - 1, sim.land.height - 1
    return [(0, 0), (right, 0), (right, low), (0, low // 2), (right // 2, low // 2), at_city(sim, 1), at_city(sim, 2)]


def at_city(sim: Sim, kingdom: int) -> tuple[int, int]:
    city = first_city(sim, kingdom)
    return city.x, city.y


def uses(sim: Sim, power: str) -> Iterator[Cast]:
    """Casts at every kind of place, with and without a brush, dragged to one city or the other."""
    x2, y2 = at_city(sim, 2)
    x3, y3 = at_city(sim, 3)
    for pulse, (x, y) in enumerate(places(sim)):
        yield Cast(x, y, sim.land.disc(x, y, 0), x2=x2, y2=y2, pulse=pulse)
        yield Cast(x, y, sim.land.disc(x, y, 9 if POWERS[power].brush else 0), x2=x3, y2=y3, pulse=pulse + 100)


def use_everywhere(sim: Sim, power: str) -> int:
    """Cast it at every kind of place; returns how often it was not refused."""
    done = 0
    for use in uses(sim, power):
        before = save.dump(sim)
        try:
            POWERS[power].run(sim, use)
            done += 1
        except GameRejected as refusal:
            assert len(refusal.message) > 10
            assert save.dump(sim) == before, "a refusal changes nothing"
        assert_valid(sim)
    return done


# -- all powers ------------------------------------------------------------------------------------
@pytest.mark.sampled(kind=lambda power: POWERS[power].family)
@pytest.mark.parametrize("power", POWERS)
def test_a_power_keeps_the_invariants_wherever_it_is_cast(power: str) -> None:
    sim = lively()
    assert use_everywhere(sim, power), "it can be used somewhere"
    for _ in range(3):
        tick.step(sim)
    assert first_violation(sim) is None


@pytest.mark.sampled(kind=lambda power: POWERS[power].family)
@pytest.mark.parametrize("power", POWERS)
def test_a_power_is_deterministic(power: str) -> None:
    assert after_using(power) == after_using(power)


def after_using(power: str) -> bytes:
    sim = lively()
    for use in list(uses(sim, power))[-4:]:  # at the two cities
        with suppress(GameRejected):
            POWERS[power].run(sim, use)
    for _ in range(4):
        tick.step(sim)
    return save.dump(sim)


@pytest.mark.parametrize("power", OWN)
def test_a_players_power_changes_nothing_that_is_not_its_own(power: str) -> None:
    sim = lively()
    home = first_city(sim)
    stranger = life.spawn(sim, SPECIES_ROW["wolf"], home.x, home.y, 3)
    life.spawn(sim, SPECIES_ROW[sim.kingdoms[2].race], home.x, home.y, 5, 2, first_city(sim, 2).id)
    sim.creatures.effects[:] |= Effect.BURNING | Effect.FROZEN
    sim.creatures.hp[:] -= 1
    reshape(sim, sim.land.disc(home.x + 1, home.y - 2, 0), ground=GROUND_ROW["ash"], top=TOP_ROW["none"])
    assert stranger.size
    before = _others(sim)
    done = 0
    for pulse in range(4):
        for x, y in ((home.x, home.y), (home.x + home.radius, home.y), (home.x + 1, home.y - 2)):
            with suppress(GameRejected):
                done += cast(sim, power, x, y, 12 if POWERS[power].brush else None, by=1, pulse=pulse)
    assert _others(sim) == before
    assert done or power in RACES, "a player can use it"


def _others(sim: Sim) -> list[object]:
    """Everything that does not belong to kingdom 1: land, creatures, cities, kingdoms."""
    foreign = ~np.isin(sim.land.city, [city.id for city in sim.cities_of(1)])
    alien = sim.creatures.kingdom != 1
    return [
        *(layer[foreign].tobytes() for layer in sim.land.layers().values()),
        *(column[alien].tobytes() for column in sim.creatures.columns().values()),
        [msgspec.structs.asdict(city) for city in sim.cities.values() if city.kingdom != 1],
        [msgspec.structs.asdict(kingdom) for kingdom in sim.kingdoms.values() if kingdom.id != 1],
    ]


def test_any_powers_in_any_order_keep_the_invariants() -> None:
    sim = lively()
    names = list(POWERS)
    for turn in range(150):
        x, y, which, radius = (sim.chance.one(n, f"dice {n}", turn) for n in (128, 129, len(names), 14))
        with suppress(GameRejected):
            cast(sim, names[which], x, min(y, 127), radius if POWERS[names[which]].brush else None, pulse=turn)
        assert_valid(sim)
        if turn % 10 == 0:
            tick.step(sim)
            storms.step(sim)


# -- the table ------------------------------------------------------------------------------------
def test_there_are_sixty_powers_besides_the_spawns_of_every_species() -> None:
    spawns = [power.id for power in POWERS.values() if power.family == "spawn"]
    assert spawns == [kind.id for kind in SPECIES]
    by_hand = [name for name in POWERS if name not in spawns and not name.startswith(("tile_", "top_", "seeds_"))]
    assert len(by_hand) >= 60


def test_every_power_is_listed_under_its_id_with_a_description() -> None:
    for name, power in POWERS.items():
        assert name == power.id
        assert name.isidentifier()
        assert name == name.lower()
        assert power.description.endswith(".")
        assert 10 <= len(power.description) <= 100, name


def test_every_family_has_powers_and_players_have_some_of_the_helpful_ones() -> None:
    assert list(dict.fromkeys(power.family for power in POWERS.values())) == list(FAMILIES)
    aims = {family: {p.aim for p in POWERS.values() if p.family == family} for family in FAMILIES}
    assert aims["disaster"] == aims["curse"] == aims["law"] == {"god"}
    assert aims["order"] == {"any"}
    assert all("own" in aims[family] for family in ("spawn", "weather", "blessing", "terraform"))


def test_powers_on_own_land_cost_faith_and_orders_are_free() -> None:
    for power in POWERS.values():
        assert (power.faith > 0) == (power.aim == "own"), power.id
        assert power.faith <= 40, "a new kingdom has 40"
        assert power.toggle == (power.family == "law")


@pytest.mark.parametrize(
    "known",
    [
        "meteorite", "nuke", "lightning", "tsunami", "earthquake", "plague", "volcano", "bomb", "rain", "fire", "lava",
        "acid", "tornado", "blessing", "curse", "shield", "madness", "cold", "frost", "snow", "spite", "raise", "lower",
        "road", "wall", "river", "human", "wolf", "peace",
    ],
)  # fmt: skip
def test_the_well_known_powers_of_the_game_exist(known: str) -> None:
    assert known in POWERS


def test_the_page_of_the_powers_is_up_to_date() -> None:
    assert (DOCS / "kingdoms-powers.md").read_text() == page(), (
        "write the result of powers.table.page() to docs/kingdoms-powers.md"
    )


def test_players_may_use_the_orders_and_the_powers_with_a_price() -> None:
    for power in POWERS.values():
        assert (power.aim == "own") is (power.faith > 0), power.id
        assert (power.aim == "any") is (power.family == "order"), power.id


# -- single powers -------------------------------------------------------------------------------
def test_rain_puts_out_fires_in_a_while() -> None:
    sim = lively()
    home = first_city(sim)
    burning = len(sim.land.burning)
    assert burning
    for pulse in range(40):
        cast(sim, "rain", home.x, home.y, 7, pulse=pulse)
    assert not sim.land.burning.size


def test_each_pulse_draws_its_own_random_numbers() -> None:
    sim = lively()
    home = first_city(sim)
    before = sim.land.top.copy()
    changed = []
    for pulse in range(3):
        cast(sim, "snow", home.x, home.y, 12, pulse=pulse)
        changed.append(int(np.count_nonzero(sim.land.top != before)))
    assert changed[0] < changed[1] < changed[2]


def test_a_meteorite_kills_destroys_buildings_and_leaves_a_crater_of_lava() -> None:
    sim = lively()
    home = first_city(sim)
    people, houses = int((sim.creatures.hp > 0).sum()), sum(home.buildings.values())
    assert cast(sim, "meteorite", home.x, home.y)
    assert int((sim.creatures.hp > 0).sum()) < people
    assert home.id not in sim.cities or sum(home.buildings.values()) < houses
    assert IS_LAVA[sim.land.ground[sim.land.cell(home.x, home.y)]]
    assert any("meteorite" in news.text and news.kingdoms == (1,) for news in sim.news)


def test_a_disaster_is_reported_once_however_many_pulses_there_are() -> None:
    sim = lively()
    home = first_city(sim)
    for pulse in range(5):
        cast(sim, "earthquake", home.x, home.y, pulse=pulse)
    assert sum("earthquake" in news.text for news in sim.news) <= len(sim.cities)


def test_a_cure_removes_the_effects_of_curses() -> None:
    sim = lively()
    home = first_city(sim)
    for pulse, power in enumerate(("curse", "madness", "frost", "burning", "plague") * 4):
        cast(sim, power, home.x, home.y, 9, pulse=pulse)
    assert (sim.creatures.effects & (Effect.CURSED | Effect.MAD | Effect.FROZEN | Effect.PLAGUE)).any()
    assert cast(sim, "cure", home.x, home.y, 9)
    near = np.maximum(abs(sim.creatures.x - home.x), abs(sim.creatures.y - home.y)) < 6
    assert not (sim.creatures.effects[near] & ~(Effect.BLESSED | Effect.SHIELDED | Effect.INVISIBLE)).any()


def test_undeath_makes_zombies_without_a_kingdom() -> None:
    sim = lively()
    home = first_city(sim)
    for pulse in range(12):
        cast(sim, "undeath", home.x, home.y, 8, pulse=pulse)
    dead = sim.creatures.species == SPECIES_ROW["zombie"]
    assert dead.any()
    assert not sim.creatures.kingdom[dead].any()


def test_youth_makes_nobody_a_child() -> None:
    sim = lively()
    home = first_city(sim)
    c = sim.creatures
    own = c.kingdom == 1
    grown = sim.tick - c.born >= GROWN[c.species]
    for pulse in range(20):
        cast(sim, "youth", home.x, home.y, 30, by=1, pulse=pulse)
    still = sim.tick - c.born >= GROWN[c.species]
    assert (still == grown)[own].all()


def test_a_gift_is_added_to_the_stores_up_to_their_limit() -> None:
    sim = lively()
    home = first_city(sim)
    home.food = 0
    assert cast(sim, "bounty", home.x, home.y, by=1)
    assert home.food == 60
    home.food = 1000
    with pytest.raises(GameRejected, match="no room for more"):
        cast(sim, "bounty", home.x, home.y, by=1)


def test_a_player_spawns_its_own_race_in_its_own_city() -> None:
    sim = lively()
    home, race = first_city(sim), sim.kingdoms[1].race
    before = sim.creatures.next_id
    assert cast(sim, race, home.x, home.y, by=1)
    row = sim.creatures.row(before)
    assert row is not None
    assert (sim.creatures.kingdom[row], sim.creatures.city[row]) == (1, home.id)


def test_people_spawned_by_a_god_join_a_city_of_their_race_and_are_wild_elsewhere() -> None:
    sim = lively()
    home = first_city(sim)
    races = ["human", "elf", "orc", "dwarf"]
    mine = sim.kingdoms[1].race
    for race in (mine, *(race for race in races if race != mine)):
        before = sim.creatures.next_id
        assert cast(sim, race, home.x, home.y)
        assert sim.creatures.kingdom[sim.creatures.row(before)] == (1 if race == mine else 0)


def test_desertion_makes_soldiers_workers() -> None:
    sim = lively()
    home = first_city(sim)
    own = np.flatnonzero(sim.creatures.kingdom == 1)[:4]
    sim.creatures.x[own], sim.creatures.y[own], sim.creatures.job[own] = home.x, home.y, Job.SOLDIER
    assert cast(sim, "desertion", home.x, home.y, 1)
    assert (sim.creatures.job[own] == Job.WORKER).all()


# -- storms --------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", storms.KINDS)
def test_a_storm_lasts_for_its_time_and_ends(kind: storms.StormKind) -> None:
    sim = lively()
    assert cast(sim, kind, 0, 0)
    for _ in range(storms.KINDS[kind].lasts):
        assert sim.storms
        assert sim.land.holds(sim.storms[0].x, sim.storms[0].y)
        storms.step(sim)
        sim.tick += 1
    storms.step(sim)
    assert not sim.storms
    assert_valid(sim)


def test_the_number_of_storms_is_limited() -> None:
    sim = lively()
    for _ in range(storms.MAX_STORMS):
        cast(sim, "cloud_rain", 20, 20)
    with pytest.raises(GameRejected, match="Wait until some of them are over"):
        cast(sim, "tornado", 20, 20)


def test_storms_end_with_time() -> None:
    sim = lively()
    cast(sim, "cloud_snow", 64, 64)
    for _ in range(storms.KINDS["cloud_snow"].lasts + 1):
        tick.step(sim)
    assert not sim.storms


# -- laws -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", laws.LAWS)
def test_a_law_is_switched_on_and_off_and_everybody_is_told(law: str) -> None:
    sim = lively()
    assert cast(sim, law, 0, 0)
    assert sim.laws[law]
    assert sim.news[-1].kingdoms is None
    cast(sim, law, 0, 0)
    assert not sim.laws[law]


def test_every_law_is_read_by_the_rules() -> None:
    asked: list[str] = []

    class Spied(dict[str, bool]):
        def get(self, law: str, default: bool | None = None) -> bool | None:  # type: ignore[override]
            asked.append(law)
            return super().get(law, default)

    sim = lively()
    sim.laws = Spied()
    sim.tick = 1450  # monsters arrive at 1500
    for _ in range(100):
        tick.step(sim)
        if {*laws.LAWS} <= {*asked}:
            break
    assert {*laws.LAWS} <= {*asked}


# -- refusals -------------------------------------------------------------------------------------
def inland(sim: Sim) -> tuple[int, int]:
    """The middle of a new plain, far from water and heights."""
    reshape(sim, sim.land.disc(64, 64, 25), ground=GROUND_ROW["soil_low"])
    return 64, 64


@pytest.mark.parametrize(
    ("power", "words"),
    [("tsunami", "within 12 tiles of water"), ("avalanche", "hills or mountains")],
)
def test_a_disaster_needs_water_or_heights_nearby(power: str, words: str) -> None:
    sim = lively()
    x, y = inland(sim)
    with pytest.raises(GameRejected, match=words):
        cast(sim, power, x, y)


@pytest.mark.parametrize("power", ["bounty", "famine", "loyalty", "rebellion", "spirit", "regicide", "order_muster"])
def test_powers_for_a_city_or_a_kingdom_are_refused_on_unowned_land(power: str) -> None:
    sim = lively()
    assert not sim.land.city[0]
    with pytest.raises(GameRejected, match="land of a"):
        cast(sim, power, 0, 0)


def test_smite_needs_a_creature() -> None:
    sim = lively()
    sim.creatures.x[:] = 50
    with pytest.raises(GameRejected, match="There is no creature"):
        cast(sim, "smite", 0, 0)


@pytest.mark.parametrize("power", ["loyalty", "relief", "spirit", "faith"])
def test_a_blessing_that_would_have_no_effect_is_refused(power: str) -> None:
    sim = lively()
    home = first_city(sim)
    home.loyalty, home.siege = 100, 0
    sim.kingdoms[1].weariness, sim.kingdoms[1].faith = 0, 300
    with pytest.raises(GameRejected):
        cast(sim, power, home.x, home.y)


def test_a_player_cannot_spawn_another_race_or_on_other_land() -> None:
    sim = lively()
    home, other = first_city(sim), first_city(sim, 2)
    race = sim.kingdoms[1].race
    stranger = "human" if race != "human" else "elf"
    with pytest.raises(GameRejected, match="Only"):
        cast(sim, stranger, home.x, home.y, by=1)
    with pytest.raises(GameRejected, match="Only"):
        cast(sim, race, other.x, other.y, by=1)


def test_a_player_cannot_spawn_people_on_water() -> None:
    sim = lively()
    home = first_city(sim)
    x, y = home.x + 3, home.y
    reshape(sim, sim.land.disc(x, y, 0), ground=GROUND_ROW["river"])
    with pytest.raises(GameRejected, match="Aim at dry ground"):
        cast(sim, sim.kingdoms[1].race, x, y, by=1)


def test_the_last_city_of_a_kingdom_has_nobody_to_rebel_against() -> None:
    sim = lively()
    home = first_city(sim, 2)
    assert len(sim.cities_of(2)) == 1
    with pytest.raises(GameRejected, match="nobody to rebel against"):
        cast(sim, "rebellion", home.x, home.y)


@pytest.mark.sampled(kind=lambda power: POWERS[power].family)
@pytest.mark.parametrize("power", POWERS)
def test_a_power_that_is_refused_leaves_the_world_and_the_faith_as_they_were(power: str) -> None:
    sim = lively()
    mine = sim.kingdoms[1]
    mine.faith = 1_000_000
    assert places(sim)
    for x, y in places(sim):
        before = save.dump(sim)
        try:
            used, _ = invoke(sim, mine, PowerUse(POWERS[power], x, y, None, 1, None, None))
        except GameRejected:
            assert save.dump(sim) == before
        else:
            assert used.faith_left == mine.faith
