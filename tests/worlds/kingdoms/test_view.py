"""What a model is told: the view of a king has what it needs for its next order, once, and in few words."""

import numpy as np
import pytest

from cohabit.errors import GameRejected
from cohabit.room.room import Room
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.names import city_id
from cohabit.worlds.kingdoms.observe import PLAIN_POWERS, kings_powers, mark
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.rules import armies, cities, diplomacy, life, realms
from cohabit.worlds.kingdoms.sim import City, Sim
from cohabit.worlds.kingdoms.species import SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import CAN_GROW

from .lively import first_city
from .twins import opened, twin

CHARACTERS_PER_TOKEN = 3.5
"""An upper bound for the number of tokens: English prose has more characters per token."""
EARLY, LATE = 900, 1500


def view(room: Room, who: str = "athena") -> str:
    room.world._changed()
    room.roster_changed()
    text: str = room.call(who, "view", at=3000).text
    return text


def tokens(text: str) -> float:
    return len(text) / CHARACTERS_PER_TOKEN


def found(sim: Sim, kingdom: int, count: int) -> list[City]:
    """More cities for a kingdom."""
    made = []
    free = np.flatnonzero(CAN_GROW[sim.land.ground] & (sim.land.city == 0))
    for cell in free[:: max(1, len(free) // count)][:count].tolist():
        x, y = sim.land.xy(cell)
        ids = life.spawn(sim, SPECIES_ROW[sim.kingdoms[kingdom].race], x, y, 5)
        made.append(cities.found_city(sim, kingdom, x, y, np.searchsorted(sim.creatures.id, ids)))
    sim.refresh()
    return made


@pytest.fixture
def room() -> Room:
    return opened()


def test_an_early_view_is_short(room: Room) -> None:
    room.world.sim.kingdoms[1].faith = 40
    assert tokens(view(room)) <= EARLY


def grow_late(room: Room) -> None:
    """Twelve cities in trouble, ten kingdoms at war with each other, full coffers and many news."""
    sim = room.world.sim
    for number in range(8):
        place = found(sim, 3, 1)[0]
        realms.found_kingdom(sim, "dwarf", place.x, place.y, np.zeros(0, np.int64), f"Stonewardhold{number}")
    for city in (*found(sim, 1, 12), *sim.cities_of(1)):
        city.name, city.people, city.food, city.loyalty = f"Longbridgeham{city.id}", 345, 10, 12
        city.wood = city.stone = city.gold = 456
        city.besieger, city.siege = 2, 55
    for other in range(3, 12):
        diplomacy.declare_war(sim, 2, other, "old hatred")
        sim.tell(f"Longbridgeham{other} has built a great temple of the seven old gods.", [1], "success")
    mine = sim.kingdoms[1]
    mine.faith, mine.weariness, mine.people, mine.soldiers = 300, 77, 4000, 900
    room.call("athena", "muster", {"percent": 44}, at=2000)
    room.call("athena", "raid", {"kingdom_id": 2}, at=2000)
    sim.refresh()


def test_a_late_view_is_not_long(room: Room) -> None:
    grow_late(room)
    assert tokens(view(room)) <= LATE


def test_the_view_of_a_god_is_not_long_either(room: Room) -> None:
    assert tokens(view(room, "zeus")) <= EARLY
    grow_late(room)
    sim = room.world.sim
    besieged = found(sim, 3, 20)[-1]
    besieged.besieger, besieged.siege = 2, 10
    for one in range(4, 8):
        for other in range(8, 11):
            diplomacy.declare_war(sim, one, other, "old hatred")
    text = view(room, "zeus")
    assert tokens(text) <= LATE
    assert f"more_cities: {len(sim.cities) - 20}" in text
    assert f"more_wars: {len(sim.wars) - 8}" in text
    assert f"{besieged.name} (id {city_id(sim, besieged)}," in text, "cities in trouble are not left out"
    assert "besieged_by 2, siege 10" in text


def test_nothing_is_said_twice(room: Room) -> None:
    sim = room.world.sim
    city = sim.cities_of(1)[0]
    text = view(room).partition("RECENT EVENTS:")[0]
    assert text.count(city.name) == len([line for line in text.splitlines() if line.startswith("- ")]) + 1
    assert text.count(f"x {city.x}, y {city.y}") == 1
    assert "tick:" not in text, "the step is the tick"


def test_the_view_has_the_stocks_of_each_city_and_its_housing(room: Room) -> None:
    city = room.world.sim.cities_of(1)[0]
    city.food, city.wood, city.stone, city.gold = 61, 17, 8, 9
    assert f"housing {cities.housing(city)}" in view(room)
    assert "food 61, wood 17, stone 8, gold 9" in view(room)


def test_a_city_of_another_kingdom_in_sight_is_listed_with_the_id_for_a_raid(room: Room) -> None:
    sim = room.world.sim
    target = sim.cities_of(2)[0]
    number = str(city_id(sim, target))
    assert number not in view(room)
    scout = np.flatnonzero(sim.creatures.kingdom == 1)[0]
    sim.creatures.x[scout], sim.creatures.y[scout] = target.x, target.y
    line = next(line for line in view(room).splitlines() if line.startswith("foreign_cities_in_sight"))
    assert f"{target.name} (id {number}, kingdom 2, x {target.x}, y {target.y}" in line
    room.call("athena", "raid", {"city_id": int(number)}, at=3000)


def test_the_view_says_where_the_army_is_and_what_it_does(room: Room) -> None:
    sim = room.world.sim
    c, home = sim.creatures, sim.cities_of(1)[0]
    rows = np.flatnonzero(c.kingdom == 1)
    c.job[rows[:6]] = 2
    c.x[rows[:6]], c.y[rows[:6]] = home.x, home.y
    c.x[rows[:2]], c.y[rows[:2]] = (home.x + 40) % sim.land.width, home.y
    soldiers = int(np.count_nonzero(c.job[rows] == 2))
    assert f"army: {soldiers - 2} at home, 2 near {(home.x + 40) % sim.land.width},{home.y}" in view(room)
    room.call("athena", "raid", {"kingdom_id": 2}, at=3000)
    army = armies.attacking_army(sim, sim.kingdoms[1])
    assert army is not None
    there = f"{army.at_camp} fit soldiers there, leaves with {army.needed}"
    assert f"gathering at {home.x},{home.y} ({there})" in view(room)
    room.call("athena", "muster", {"percent": 60}, at=3000)
    assert f"({there}, more with each recruit)" in view(room)
    room.call("athena", "fortify", {"on": True}, at=3000)
    assert "gathering" not in view(room), "an army that stays at home does not gather"


def test_an_army_leaves_when_as_many_soldiers_are_there_as_its_view_says(room: Room) -> None:
    sim, mine = room.world.sim, room.world.sim.kingdoms[1]
    c, home = sim.creatures, sim.cities_of(1)[0]
    people = np.flatnonzero(c.kingdom == 1)
    c.job[people] = Job.SOLDIER
    mine.soldiers = len(people)
    c.x[people], c.y[people] = (home.x + 40) % sim.land.width, home.y
    room.call("athena", "raid", {"kingdom_id": 2}, at=3000)
    for row in people:
        armies.gather(sim, mine)
        army = armies.attacking_army(sim, mine)
        assert army is not None
        assert bool(mine.army_out) == (army.at_camp >= army.needed)
        c.x[row], c.y[row] = home.x, home.y
    assert mine.army_out
    assert f"{mine.army_out} soldiers set out from {home.name} to attack." in sim.news[-1].text
    assert f"at home, attacking ({mine.army_out} are setting out)" in view(room)


def test_a_beaten_army_is_told_how_many_are_left_in_the_field(room: Room) -> None:
    sim, mine = room.world.sim, room.world.sim.kingdoms[1]
    arm(sim, 1, 5)
    home = sim.cities_of(1)[0]
    sim.creatures.x[:], sim.creatures.y[:] = home.x, home.y
    room.call("athena", "raid", {"kingdom_id": 2}, at=3000)
    mine.army_out, mine.army_left_at = 12, sim.tick - armies.LEAVING_TICKS - 1
    armies.gather(sim, mine)
    beaten = f"The army of {mine.name} is beaten: 0 of the 12 who set out are still fit and in the field."
    assert sim.news[-1].text == f"{beaten} It gathers at {home.name}."


def test_the_distance_of_a_threat_says_from_which_city_it_is_measured(room: Room) -> None:
    sim = room.world.sim
    home = sim.cities_of(1)[0]
    life.spawn(sim, SPECIES_ROW["demon"], home.x, home.y, 1)
    demon = int(np.flatnonzero(sim.creatures.species == SPECIES_ROW["demon"])[0])
    for distance, said in ((0, f"here, in {home.name}"), (3, f"3 away, measured from {home.name}")):
        sim.creatures.x[demon], sim.creatures.y[demon] = home.x + distance, home.y
        line = next(line for line in view(room).splitlines() if line.startswith("- ") and "demon" in line)
        assert line.endswith(f"(monsters, {said})")


def test_the_view_names_the_wars_of_others(room: Room) -> None:
    sim = room.world.sim
    assert "other_wars" not in view(room)
    diplomacy.declare_war(sim, 2, 3, "old hatred")
    assert f"other_wars: {sim.kingdoms[2].name} against {sim.kingdoms[3].name}" in view(room)


def test_the_view_says_why_a_city_does_not_grow_or_is_not_loyal(room: Room) -> None:
    sim = room.world.sim
    capital = sim.cities_of(1)[0]
    capital.people, capital.food, capital.wood = cities.housing(capital), 999, 2
    assert f"no growth in {capital.name}: all houses are full; the next needs 5 wood" in view(room)
    other = found(sim, 1, 1)[0]
    other.loyalty, sim.kingdoms[1].weariness = 20, 60
    line = next(line for line in view(room).splitlines() if f"unrest in {other.name}" in line)
    assert "far from the capital -" in line
    assert "weary of war -30" in line


def test_the_view_has_the_powers_that_the_king_can_pay_with_their_cost_and_the_rules_say_what_they_do(
    room: Room,
) -> None:
    sim = room.world.sim
    sim.kingdoms[1].faith = 12
    assert "timber 12, " in view(room)
    assert "gives the city" not in view(room)
    assert "; bounty gives the city 60 food; " in room.world.describe()
    for power in kings_powers():
        assert power.family == "terraform" or power.id in (*PLAIN_POWERS, *room.world.describe().split())
    assert "loyalty 20" not in view(room)
    sim.kingdoms[1].faith = 0
    assert "POWERS" not in view(room)
    assert "You cannot pay any power yet; 28 cost 1 to 40 faith.\n" in view(room)


def test_the_list_of_actions_has_settling_and_spawning_too(room: Room) -> None:
    room.world.sim.kingdoms[1].faith = 25
    acts = view(room).partition("Examples of actions: ")[2]
    assert "settle {" in acts
    assert '"count":2' in acts


def test_an_order_that_waits_says_for_what(room: Room) -> None:
    action = next(a for a in room.world.legal(room.seats["1"]) if a.name == "settle")
    room.call("athena", "settle", action.parameters, at=3000)
    assert f"settle {action.parameters['x']},{action.parameters['y']} (waits for a city with 28 people)" in view(room)


def test_an_order_to_settle_that_waits_for_a_siege_or_for_workers_says_so(room: Room) -> None:
    sim = room.world.sim
    home, mine = first_city(sim), sim.kingdoms[1]
    action = next(a for a in room.world.legal(room.seats["1"]) if a.name == "settle")
    place = f"settle {action.parameters['x']},{action.parameters['y']}"
    for city in sim.cities_of(1):
        city.people = 12
    home.people, mine.orders.muster = 30, 60
    life.spawn(sim, SPECIES_ROW[mine.race], home.x, home.y, 30, 1, home.id)
    arm(sim, 1, 0)
    people = life.people_of(sim, home.id)
    sim.creatures.born[people] = sim.tick - 5000
    sim.creatures.job[people[7:]] = Job.SOLDIER
    waits = f"waits for 16 grown-up workers in {home.name}, which has 7; soldiers do not settle"
    note = room.call("athena", "settle", action.parameters, at=3000).note
    assert note.endswith(f". The order {waits}.")
    assert f"{place} ({waits})" in view(room)
    sim.creatures.job[people] = Job.WORKER
    home.besieger = 2
    assert f"{place} (waits for the end of the siege of {home.name})" in view(room)
    home.besieger = 0
    assert f"{place}, muster" in view(room)


def test_the_map_has_axes_and_a_legend_of_what_is_on_it(room: Room) -> None:
    sim = room.world.sim
    for number in range(4, 11):
        place = found(sim, 3, 1)[0]
        realm = realms.found_kingdom(sim, "dwarf", place.x, place.y, np.zeros(0, np.int64), f"Realm{number}")
        for city in (place, sim.cities[realm.capital]):
            city.kingdom = realm.id
    land = np.flatnonzero(CAN_GROW[sim.land.ground])
    sim.land.city[land] = sim.kingdoms[10].capital
    text = view(room, "zeus")
    drawn = text.partition("MAP (")[2].splitlines()
    across, down = -(-sim.land.width // 40), -(-sim.land.height // 18)
    assert drawn[0] == f"a character is {across} x {down} tiles; x to the right, y down):"
    assert drawn[1].split() == [str(x * across) for x in range(0, -(-sim.land.width // across), 8)]
    assert [line[:4].strip() for line in drawn[2:5]] == ["0", str(down), str(2 * down)]
    assert "a land of Realm10" in text
    assert "X enemy soldiers" not in text


def test_the_end_says_who_won_and_to_each_king_that_it_won_or_lost(room: Room) -> None:
    sim = room.world.sim
    names = {number: sim.kingdoms[number].name for number in (1, 2)}
    realms.end_kingdom(sim, sim.kingdoms[2], "a test")
    room.system("ticks", {"n": 1}, 4000)
    assert "The match is over: you have won." in view(room)
    assert f"The match is over: you have lost, {names[1]} has won." in view(room, "ares")
    assert f"The match is over: {names[1]} has won, {names[2]} lost." in view(room, "zeus")


def test_a_king_reads_that_its_kingdom_is_no_more(room: Room) -> None:
    sim = room.world.sim
    lost = f"Your kingdom {sim.kingdoms[2].name} is no more."
    assert lost not in view(room, "ares")
    realms.end_kingdom(sim, sim.kingdoms[2], "a test")
    room.system("ticks", {"n": 1}, 4000)
    assert f"{lost} The match is over: you have lost" in view(room, "ares")
    assert "You rule" not in view(room, "ares")
    assert "Your kingdom" not in view(room, "athena")


def test_the_view_has_the_objectives_of_the_scenario_and_the_newest_messages(room: Room) -> None:
    room.state.members["athena"].objectives = [{"id": "survive", "label": "Survive", "kind": "survive"}]
    for number in range(5):
        room.call("ares", "send_message", {"to": "athena", "content": f"truce\n{number}?"}, at=3000 + number * 1000)
    text = view(room)
    assert "Your objectives: Survive" in text
    assert "(`worldbox_recv_messages` has all" in text
    assert "truce 1?" not in text
    assert "- 3. ares (00:00:05): truce 2?\n- 4. ares (00:00:06): truce 3?\n- 5. ares (00:00:07): truce 4?" in text
    assert "truce" not in view(room, "zeus")


def test_after_a_step_the_view_says_what_has_changed(room: Room) -> None:
    sim = room.world.sim
    sim.kingdoms[1].people = 500
    room.system("ticks", {"n": 30}, 4000)
    line = next(line for line in view(room).splitlines() if line.startswith("In the last 30 ticks: "))
    assert f"people 500 → {sim.kingdoms[1].people}" in line
    assert room.world.snapshot() == (restored := twin(room)).world.snapshot()
    assert view(restored) == view(room)
    room.system("ticks", {"n": 1}, 4001)
    assert "In the last 31 ticks: " in view(room)
    assert "In the last" not in view(room, "zeus")


def test_the_wars_stand_once_in_the_view_of_a_god(room: Room) -> None:
    sim = room.world.sim
    diplomacy.declare_war(sim, 2, 3, "old hatred")
    one, two = sim.kingdoms[2].name, sim.kingdoms[3].name
    text = view(room, "zeus").partition("RECENT EVENTS:")[0]
    assert text.count(f"{one} against {two} (attacker 2, defender 3)") == 1
    assert text.count("against") == len(sim.wars)
    assert text.casefold().count("wars:") == 1


def test_a_king_is_told_the_id_of_its_kingdom_once(room: Room) -> None:
    text = view(room)
    assert text.count("kingdom_id: 1") == 1
    assert "(kingdom 1" not in text


def test_actions_have_the_names_by_which_they_can_be_called(room: Room) -> None:
    room.world.sim.kingdoms[1].faith = 25
    listed = view(room).partition("Examples of actions: ")[2].splitlines()[0].split(" | ")
    names = [action.split(" ")[0] for action in listed]
    assert "worldbox_spawn" in names
    assert {name for name in names if room.commands.with_tool_name(name) is None} == set()


def test_nobody_raids_the_own_kingdom(room: Room) -> None:
    with pytest.raises(GameRejected, match=r"^That is your own kingdom. Name another one.$"):
        room.call("athena", "raid", {"kingdom_id": 1}, at=3000)


def test_an_army_whose_raid_is_over_is_not_said_to_attack(room: Room) -> None:
    mine = room.world.sim.kingdoms[1]
    room.world.sim.creatures.job[room.world.sim.creatures.kingdom == 1] = 2
    room.call("athena", "raid", {"kingdom_id": 2}, at=3000)
    mine.army_out, mine.army_left_at = 5, room.world.sim.tick - armies.LEAVING_TICKS - 1
    assert "at home, attacking\n" in view(room)
    mine.orders.end_raid()
    assert "at home, coming home" in view(room)


def arm(sim: Sim, kingdom: int, soldiers: int) -> None:
    """Make as many people of a kingdom soldiers, and the others workers."""
    own = np.flatnonzero(sim.creatures.kingdom == kingdom)
    assert len(own) >= soldiers
    sim.creatures.job[own], sim.creatures.job[own[:soldiers]] = Job.WORKER, Job.SOLDIER


def test_a_muster_says_how_far_it_is(room: Room) -> None:
    mine = room.world.sim.kingdoms[1]
    mine.people = 15
    arm(room.world.sim, 1, 3)
    room.call("athena", "muster", {"percent": 60}, at=3000)
    assert "muster 60% (3 of 9 soldiers)" in view(room)
    arm(room.world.sim, 1, 9)
    assert "orders: muster 60%\n" in view(room)


@pytest.mark.parametrize(("census", "soldiers"), [(0, 5), (5, 0), (7, 7), (3, 9)])
def test_soldiers_are_the_same_number_everywhere_in_a_view(room: Room, census: int, soldiers: int) -> None:
    sim = room.world.sim
    sim.kingdoms[1].soldiers = first_city(sim).soldiers = census
    arm(sim, 1, soldiers)
    status = room.call("athena", "view", at=3000).observation.status
    home, *away = [int(part.split()[0]) for part in status.get("army", "0 at home").split(", ") if part[0].isdigit()]
    assert status.get("soldiers", 0) == soldiers == home + sum(away[:1])
    assert sum(city["soldiers"] for city in status["cities"].values()) <= soldiers
    assert mark(sim, sim.kingdoms[1]).soldiers == soldiers


def test_where_time_runs_by_itself_the_view_says_what_has_changed_in_ten_years_and_how_fast(room: Room) -> None:
    at = 4000
    for _ in range(150):
        at += 200
        room.system("ticks", {"n": 10}, at)
    room.call("zeus", "set_speed", {"speed_id": "x5"}, at=at)
    sim, text = room.world.sim, view(room)
    (tick, counts), *_ = [s for s in reversed(room.world.state.history.samples) if s[0] <= sim.tick - 600]
    line = next(
        line for line in text.splitlines() if line.startswith(f"In the last {sim.tick - tick} ticks (10 years): ")
    )
    assert f"people {counts[1][0]} → {sim.kingdoms[1].people}" in line
    assert "x5: 50 ticks a second" in text
    assert view(twin(room)) == text


def test_after_a_step_in_which_no_number_changed_none_is_said_to_have(room: Room) -> None:
    sim = room.world.sim
    room.world.state.marks = {1: mark(sim, sim.kingdoms[1])}
    sim.tick += 30
    assert "In the last" not in view(room)
    sim.kingdoms[1].faith += 1
    assert "In the last 30 ticks: faith (after spending) " in view(room)


@pytest.mark.parametrize("faith", [1, 5, 12, 30, 40])
def test_the_powers_that_are_too_dear_are_counted_with_their_price(room: Room, faith: int) -> None:
    room.world.sim.kingdoms[1].faith = faith
    too_dear = sorted(p.faith for p in POWERS.values() if p.aim == "own" and p.family != "spawn" and p.faith > faith)
    price = " to ".join(map(str, sorted({too_dear[0], too_dear[-1]}))) if too_dear else ""
    told = f"{len(too_dear)} more cost {price}\n" if too_dear else " more cost "
    assert (told in view(room)) == bool(too_dear)
