"""Orders of a player, and that they reveal nothing the player does not see."""

import msgspec
import numpy as np
import pytest

from cohabit.errors import GameRejected, UnknownAsset
from cohabit.worlds.kingdoms import save
from cohabit.worlds.kingdoms.names import city_id
from cohabit.worlds.kingdoms.powers import orders
from cohabit.worlds.kingdoms.powers.ground import reshape
from cohabit.worlds.kingdoms.powers.spawns import spawn
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.rules import armies, diplomacy, realms, siege
from cohabit.worlds.kingdoms.sight import seen_by
from cohabit.worlds.kingdoms.sim import Kingdom, Orders, Sim
from cohabit.worlds.kingdoms.species import SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_WATER

from .lively import cast, first_city, lively


def kingdoms(sim: Sim) -> tuple[Kingdom, Kingdom, Kingdom]:
    """The first two have players and are at war; the third has no player."""
    return sim.kingdoms[1], sim.kingdoms[2], sim.kingdoms[3]


def hidden(sim: Sim, kingdom: int) -> list[int]:
    """The cells that a kingdom does not see."""
    found: list[int] = np.flatnonzero(~seen_by(sim, kingdom)).tolist()
    return found


# -- the army -------------------------------------------------------------------------------------
def test_the_army_has_one_order_at_a_time() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    x, y = _dry(sim)
    orders.rally(sim, mine, x, y)
    assert mine.orders == Orders(rally=(x, y))
    orders.raid_kingdom(sim, mine, enemy.id)
    assert mine.orders == Orders(raid=first_city(sim, enemy.id).id, raid_named=enemy.name)
    orders.fortify(sim, mine, True)
    assert mine.orders == Orders(fortify=True)
    orders.rally(sim, mine, x, y)
    assert mine.orders == Orders(rally=(x, y))


def test_an_army_is_not_sent_into_the_water_that_the_chart_shows() -> None:
    sim = lively()
    mine, _, _ = kingdoms(sim)
    x, y = sim.land.xy(int(np.flatnonzero(IS_WATER[sim.land.chart])[0]))
    with pytest.raises(GameRejected, match=f"no dry land at {x},{y}. Send soldiers to dry land"):
        orders.rally(sim, mine, x, y)
    assert mine.orders == Orders()


def test_standing_down_withdraws_every_order() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    orders.muster(sim, mine, 50)
    orders.settle(sim, mine, *_dry(sim))
    orders.make_peace(sim, mine, enemy)
    orders.fortify(sim, mine, True)
    orders.stand_down(sim, mine)
    assert mine.orders == Orders()


def test_only_an_enemy_city_can_be_raided() -> None:
    sim = lively()
    mine, enemy, third = kingdoms(sim)
    with pytest.raises(GameRejected, match="your own city"):
        orders.raid_city(sim, mine, city_id(sim, first_city(sim, mine.id)))
    with pytest.raises(GameRejected, match="Declare war first"):
        orders.raid_city(sim, mine, _scouted(sim, mine, third))
    with pytest.raises(GameRejected, match=f"belongs to {enemy.name}"):
        orders.raid_city(sim, mine, _scouted(sim, mine, enemy), third.id)
    assert mine.orders == Orders()


def _scouted(sim: Sim, mine: Kingdom, other: Kingdom) -> int:
    """The id of the first city of another kingdom, which somebody of mine sees now."""
    city = first_city(sim, other.id)
    scout = np.flatnonzero(sim.creatures.kingdom == mine.id)[0]
    sim.creatures.x[scout], sim.creatures.y[scout] = city.x + 1, city.y
    return city_id(sim, city)


def test_a_city_in_sight_is_raided_by_its_id() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    target = first_city(sim, enemy.id)
    words = orders.raid_city(sim, mine, _scouted(sim, mine, enemy))
    assert words == f"The army of {mine.name} marches against {target.name} of {enemy.name}."
    assert mine.orders == Orders(raid=target.id, raid_named=f"{target.name} ({enemy.name})")


def test_a_raid_without_a_city_goes_to_the_nearest_of_the_enemy() -> None:
    sim = lively()
    mine, enemy, third = kingdoms(sim)
    orders.raid_kingdom(sim, mine, enemy.id)
    assert sim.cities[mine.orders.raid].kingdom == enemy.id
    diplomacy.declare_war(sim, mine.id, third.id, "a test")
    orders.raid_kingdom(sim, mine, None)
    chosen = sim.cities[mine.orders.raid]
    far = {city.id: _way(sim, mine, city.x, city.y) for k in (enemy, third) for city in sim.cities_of(k.id)}
    assert far[chosen.id] == min(far.values())


def _way(sim: Sim, kingdom: Kingdom, x: int, y: int) -> int:
    return min(max(abs(city.x - x), abs(city.y - y)) for city in sim.cities_of(kingdom.id))


def test_an_impossible_raid_is_refused_with_advice() -> None:
    sim = lively()
    mine, enemy, third = kingdoms(sim)
    with pytest.raises(UnknownAsset) as refused:
        orders.raid_kingdom(sim, mine, 99)
    assert "Kingdoms: 1 (" in refused.value.message
    with pytest.raises(GameRejected, match="Declare war first"):
        orders.raid_kingdom(sim, mine, third.id)
    diplomacy.make_peace(sim, mine.id, enemy.id)
    with pytest.raises(GameRejected, match="is not at war"):
        orders.raid_kingdom(sim, mine, None)


def test_a_raid_on_a_city_out_of_sight_is_refused_like_one_on_a_city_that_does_not_exist() -> None:
    sim = lively()
    mine, enemy, third = kingdoms(sim)
    orders.raid_kingdom(sim, mine, enemy.id)
    before = msgspec.structs.replace(mine.orders)
    for city in (city_id(sim, first_city(sim, enemy.id)), city_id(sim, first_city(sim, third.id)), 1, 12345):
        with pytest.raises(GameRejected, match=f"You see no city {city}. Take one of foreign_cities_in_sight"):
            orders.raid_city(sim, mine, city)
    assert mine.orders == before, "the raid that was ordered before goes on"


def test_the_muster_has_the_limits_of_the_crown() -> None:
    sim = lively()
    mine = sim.kingdoms[1]
    orders.muster(sim, mine, 60)
    assert mine.orders.muster == 60
    for percent in (-1, 61, 1000):
        with pytest.raises(GameRejected, match="0 to 60 percent"):
            orders.muster(sim, mine, percent)
    assert "decides again" in orders.muster(sim, mine, 0)


def _dry(sim: Sim) -> tuple[int, int]:
    return sim.land.xy(int(np.flatnonzero(~IS_WATER[sim.land.chart])[0]))


def test_an_order_to_settle_checks_only_the_chart() -> None:
    sim = lively()
    mine = sim.kingdoms[1]
    x, y = _dry(sim)
    reshape(sim, np.array([sim.land.cell(x, y)]), ground=GROUND_ROW["lava0"])
    assert f"{x},{y}" in orders.settle(sim, mine, x, y)
    assert mine.orders.settle == (x, y)
    with pytest.raises(GameRejected, match="dry land"):
        orders.settle(sim, mine, 0, 0)


def test_an_order_to_settle_says_what_it_waits_for_and_refuses_a_place_beside_a_known_city() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    home = first_city(sim, mine.id)
    for city in sim.cities_of(mine.id):
        city.people = 12
    assert "They leave when a city has 28 people; the largest has 12." in orders.settle(sim, mine, *_dry(sim))
    home.people = 28
    assert "They leave" not in orders.settle(sim, mine, *_dry(sim))
    with pytest.raises(GameRejected, match=f"too near {home.name}. Cities must be 15 tiles apart"):
        orders.settle(sim, mine, home.x + 1, home.y)
    hidden_city = first_city(sim, enemy.id)
    orders.settle(sim, mine, hidden_city.x, hidden_city.y)  # a refusal would reveal the city


def test_nobody_is_sent_into_water_in_sight_that_is_not_on_the_chart() -> None:
    sim = lively()
    mine, _, _ = kingdoms(sim)
    home = first_city(sim, mine.id)
    sim.land.ground[sim.land.cell(home.x, home.y)] = GROUND_ROW["deep_ocean"]
    with pytest.raises(GameRejected, match="There is no dry land"):
        orders.rally(sim, mine, home.x, home.y)


def test_a_raid_whose_target_is_gone_ends_and_the_king_is_told() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    orders.raid_kingdom(sim, mine, enemy.id)
    diplomacy.make_peace(sim, mine.id, enemy.id)
    sim.refresh()
    armies.end_raid(sim, mine)
    assert mine.orders == Orders()
    assert sim.news[-1].text == f"The raid on {enemy.name} is over: its target is no longer an enemy city."
    assert sim.news[-1].kingdoms == (mine.id,)


def test_a_king_whose_raid_succeeded_is_told_that_the_army_needs_another_order() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    orders.raid_kingdom(sim, mine, enemy.id)
    city = sim.cities[mine.orders.raid]
    siege.take(sim, city, mine.id)
    assert mine.orders == Orders()
    assert sim.news[-1].text.startswith(f"The raid is over: {city.name} is yours.")


# -- war and peace --------------------------------------------------------------------------------
def test_war_is_declared_once_and_only_on_another_living_kingdom() -> None:
    sim = lively()
    mine, enemy, third = kingdoms(sim)
    with pytest.raises(GameRejected, match="already"):
        orders.make_war(sim, mine, enemy)
    with pytest.raises(GameRejected, match="your own kingdom"):
        orders.make_war(sim, mine, mine)
    orders.make_war(sim, mine, third)
    assert sim.are_at_war(mine.id, third.id)
    realms.end_kingdom(sim, third, "a test")
    with pytest.raises(GameRejected, match="no longer exists"):
        orders.make_war(sim, mine, third)


def test_no_war_is_declared_under_the_law_of_peace() -> None:
    sim = lively()
    mine, _, third = kingdoms(sim)
    sim.laws["peace"] = True
    with pytest.raises(GameRejected, match="War is forbidden"):
        orders.make_war(sim, mine, third)


def test_peace_between_players_needs_both() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    orders.make_peace(sim, mine, enemy)
    assert sim.are_at_war(mine.id, enemy.id)
    assert sim.news[-1].kingdoms == (enemy.id,)
    with pytest.raises(GameRejected, match="has not answered"):
        orders.make_peace(sim, mine, enemy)
    assert "at peace" in orders.make_peace(sim, enemy, mine)
    assert not sim.are_at_war(mine.id, enemy.id)
    assert mine.orders.peace == enemy.orders.peace == ()
    with pytest.raises(GameRejected, match="not at war"):
        orders.make_peace(sim, mine, enemy)


def test_a_withdrawn_offer_of_peace_cannot_be_accepted() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    orders.make_peace(sim, mine, enemy)
    orders.stand_down(sim, mine)
    orders.make_peace(sim, enemy, mine)
    assert sim.are_at_war(mine.id, enemy.id)


@pytest.mark.parametrize(("weariness", "soldiers", "agrees"), [(0, 10, False), (60, 10, True), (0, 2, True)])
def test_a_kingdom_without_a_player_makes_peace_when_it_is_weary_or_weak(
    weariness: int, soldiers: int, agrees: bool
) -> None:
    sim = lively()
    mine, _, third = kingdoms(sim)
    orders.make_war(sim, mine, third)
    mine.soldiers, third.soldiers, third.weariness = 10, soldiers, weariness
    if agrees:
        orders.make_peace(sim, mine, third)
    else:
        with pytest.raises(GameRejected, match="refuses peace"):
            orders.make_peace(sim, mine, third)
    assert sim.are_at_war(mine.id, third.id) is not agrees


# -- what orders reveal ---------------------------------------------------------------------------
def test_no_reply_says_where_a_city_lies() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    words = orders.raid_kingdom(sim, mine, enemy.id)
    assert words == f"The army of {mine.name} marches against {enemy.name}."
    assert mine.orders.raid_named == enemy.name


def test_a_raid_on_a_place_attacks_a_city_of_an_enemy_there_or_is_refused() -> None:
    sim = lively()
    mine, enemy, third = kingdoms(sim)
    target, peaceful, home = (first_city(sim, k.id) for k in (enemy, third, mine))
    x, y = _dry(sim)
    for at, problem in (
        ((x, y), f"There is no enemy city at {x},{y}"),
        ((home.x, home.y), f"There is no enemy city at {home.x},{home.y}"),
        ((peaceful.x, peaceful.y), f"{mine.name} is at peace with {third.name}. Declare war first"),
    ):
        with pytest.raises(GameRejected, match=problem):
            orders.raid_place(sim, mine, *at, in_sight=True)
        assert mine.orders == Orders()
    words = orders.raid_place(sim, mine, target.x, target.y, in_sight=True)
    assert words == f"The army of {mine.name} marches against {target.name} of {enemy.name}."


def test_a_raid_on_a_place_out_of_sight_does_not_reveal_a_hidden_city() -> None:
    sim = lively()
    mine, enemy, _ = kingdoms(sim)
    target = first_city(sim, enemy.id)
    cells = hidden(sim, mine.id)
    assert sim.land.cell(target.x, target.y) in cells
    free = sim.land.xy(next(cell for cell in cells if not sim.land.city[cell]))
    for x, y in ((target.x, target.y), free):
        with pytest.raises(
            GameRejected, match=f"You cannot see {x},{y}. Aim at an enemy city in sight, raid a kingdom"
        ):
            cast(sim, "order_raid", x, y, by=mine.id)
        assert mine.orders == Orders()
    scout = np.flatnonzero(sim.creatures.kingdom == mine.id)[0]
    sim.creatures.x[scout], sim.creatures.y[scout] = target.x + 1, target.y
    cast(sim, "order_raid", target.x, target.y, by=mine.id)
    assert mine.orders == Orders(raid=target.id, raid_named=f"{target.name} ({enemy.name})")


@pytest.mark.parametrize("power", ["order_war", "order_peace"])
def test_land_out_of_sight_is_refused_with_the_same_message_for_every_owner(power: str) -> None:
    sim = lively()
    cells = hidden(sim, 1)
    owned = next(cell for cell in cells if sim.land.city[cell])
    free = next(cell for cell in cells if not sim.land.city[cell])
    said = []
    for cell in (owned, free):
        x, y = sim.land.xy(cell)
        with pytest.raises(GameRejected) as refused:
            cast(sim, power, x, y, by=1)
        said.append(refused.value.message.replace(f"{x},{y}", "there"))
    assert said[0] == said[1]


def test_every_listed_order_is_accepted_and_the_list_reveals_nothing_about_others() -> None:
    sim = lively()
    _, _, third = kingdoms(sim)
    orders.make_war(sim, sim.kingdoms[1], third)
    listed = orders.open_orders(sim, sim.kingdoms[1])
    assert {a.name for a in listed} == {"raid", "offer_peace", "muster", "rally", "fortify", "settle", "spawn"}
    third.weariness, third.soldiers = 100, 0
    assert orders.open_orders(sim, sim.kingdoms[1]) == listed
    saved = save.dump(sim)
    for action in listed:
        _give(save.load(saved), action.name, action.parameters)


def _give(sim: Sim, name: str, args: dict[str, int]) -> str:
    """Give an order as the world's actions do."""
    mine = sim.kingdoms[1]
    other = sim.kingdoms.get(args.get("kingdom_id", 0), mine)
    return {
        "declare_war": lambda: orders.make_war(sim, mine, other),
        "offer_peace": lambda: orders.make_peace(sim, mine, other),
        "raid": lambda: orders.raid_kingdom(sim, mine, other.id),
        "rally": lambda: orders.rally(sim, mine, args["x"], args["y"]),
        "muster": lambda: orders.muster(sim, mine, args["percent"]),
        "fortify": lambda: orders.fortify(sim, mine, bool(args["on"])),
        "stand_down": lambda: orders.stand_down(sim, mine),
        "settle": lambda: orders.settle(sim, mine, args["x"], args["y"]),
        "spawn": lambda: spawn(sim, mine, SPECIES_ROW[mine.race], args["x"], args["y"], args["count"], True)[1],
    }[name]()


# -- orders as powers -----------------------------------------------------------------------------
def test_a_player_aims_an_order_and_its_own_kingdom_obeys() -> None:
    sim = lively()
    x, y = _dry(sim)
    assert cast(sim, "order_rally", x, y, by=2)
    assert sim.kingdoms[2].orders.rally == (x, y)
    assert sim.kingdoms[1].orders == Orders()


def test_a_god_drags_from_the_land_of_the_kingdom_to_the_target() -> None:
    sim = lively()
    home, target = first_city(sim, 1), first_city(sim, 2)
    assert cast(sim, "order_raid", home.x, home.y, x2=target.x, y2=target.y)
    assert sim.kingdoms[1].orders.raid == target.id
    with pytest.raises(GameRejected, match="x2 and y2"):
        cast(sim, "order_raid", home.x, home.y)


@pytest.mark.parametrize("power", [power.id for power in POWERS.values() if power.family == "order"])
def test_a_gods_order_on_unowned_land_is_refused(power: str) -> None:
    sim = lively()
    with pytest.raises(GameRejected, match="belongs to no kingdom"):
        cast(sim, power, 0, 0, x2=5, y2=5)
