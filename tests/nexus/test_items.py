"""Items that leave one world and enter another."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.travel import Entering, Portable, Travel
from cohabit.nexus.items import equivalents, pack, settle, taken_of, to_portable
from cohabit.nexus.values import PortableItem
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER

from .making import NAMES, PLANETS, TABLES

WORLDS = st.sampled_from(["crafter", "planets", "moon"])
BAGS = st.dictionaries(NAMES, st.integers(0, 9), max_size=6)


def held(items: list[PortableItem]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for item in items:
        counts[item.origin] += item.count
    return counts


def test_items_that_a_world_does_not_declare_stay_there() -> None:
    assert to_portable("crafter", CRAFTER, {"iron": 2, "arrow": 5, "wood": 0}) == [
        PortableItem("crafter:iron", "material", 3, 2)
    ]


def test_an_item_becomes_the_best_of_its_category_that_is_not_better() -> None:
    carried = to_portable("crafter", CRAFTER, {"iron_sword": 1, "diamond": 2, "coal": 3, "iron_pickaxe": 1})
    assert equivalents("planets", PLANETS, carried) == (
        Entering("crafter:diamond", "iron_bar", 2),
        Entering("crafter:iron_sword", "copper_sword", 1),
        Entering("crafter:coal", "dirt", 3),
    )


def test_an_item_that_returns_to_its_world_is_what_it_was() -> None:
    carried = to_portable("crafter", CRAFTER, {"stone": 4, "wood": 2})
    assert equivalents("crafter", CRAFTER, carried) == (
        Entering("crafter:stone", "stone", 4),
        Entering("crafter:wood", "wood", 2),
    )


def test_what_there_is_no_room_for_stays_carried() -> None:
    carried = [PortableItem("planets:iron_bar", "material", 3, 7), PortableItem("crafter:iron", "material", 3, 4)]
    entering = taken_of(equivalents("crafter", CRAFTER, carried), {"iron": 6})
    assert entering == (Entering("crafter:iron", "iron", 4), Entering("planets:iron_bar", "iron", 2))
    assert settle(carried, entering) == [PortableItem("planets:iron_bar", "material", 3, 5)]


def test_an_agent_takes_along_only_what_it_wants() -> None:
    carried = to_portable("crafter", CRAFTER, {"iron": 5, "coal": 5})
    assert equivalents("crafter", CRAFTER, carried, wanted={"crafter:iron": 2}) == (
        Entering("crafter:iron", "iron", 2),
    )
    assert equivalents("crafter", CRAFTER, carried, wanted={}) == ()


def test_items_of_one_origin_are_carried_together() -> None:
    iron = PortableItem("crafter:iron", "material", 3, 2)
    assert pack([iron], [iron]) == [PortableItem("crafter:iron", "material", 3, 4)]


def test_only_what_is_carried_can_enter() -> None:
    with pytest.raises(ValueError, match="not carried: 1 of crafter:iron"):
        settle([PortableItem("crafter:iron", "material", 3, 2)], [Entering("crafter:iron", "iron", 3)])


def test_what_a_body_could_not_take_has_not_entered() -> None:
    entering = (Entering("a:x", "iron", 3), Entering("b:y", "iron", 3), Entering("b:z", "coal", 1))
    assert taken_of(entering, {"iron": 4}) == (Entering("a:x", "iron", 3), Entering("b:y", "iron", 1))
    assert taken_of(entering, {"iron": 99, "coal": 1}) == entering


@given(WORLDS, TABLES, WORLDS, TABLES, BAGS, BAGS, st.none() | BAGS)
def test_nothing_is_created_or_lost_when_items_enter_a_world(origin, table, world, other, bag, more, room) -> None:  # type: ignore[no-untyped-def]
    carried = pack(to_portable(origin, table, bag), to_portable("far", other, more))
    entering = equivalents(world, other, carried, room)
    after = settle(carried, entering)
    entered: Counter[str] = Counter()
    for one in entering:
        entered[one.origin] += one.count
    assert held(carried) == held(after) + entered
    if room is not None:
        into: Counter[str] = Counter()
        for one in entering:
            into[one.item] += one.count
        assert all(count <= room.get(name, 0) for name, count in into.items())


@given(st.tuples(TABLES, TABLES, TABLES), BAGS, st.lists(st.integers(0, 2), max_size=8))
def test_no_journey_improves_an_item_or_changes_its_category(tables, bag, route) -> None:  # type: ignore[no-untyped-def]
    names = ("one", "two", "three")
    carried = to_portable(names[0], tables[0], bag)

    def best() -> dict[str, list[int]]:
        tiers: dict[str, list[int]] = {}
        for item in carried:
            tiers.setdefault(item.category, []).extend([item.tier] * item.count)
        return {category: sorted(found, reverse=True) for category, found in tiers.items()}

    for stop in route:
        before = best()
        entering = equivalents(names[stop], tables[stop], carried)
        body: Counter[str] = Counter()
        for one in entering:
            body[one.item] += one.count
        carried = pack(settle(carried, entering), to_portable(names[stop], tables[stop], body))
        after = best()
        assert {category: len(found) for category, found in after.items()} == {
            category: len(found) for category, found in before.items()
        }
        for category, tiers in after.items():
            assert all(now <= then for now, then in zip(tiers, before[category], strict=True))


@given(TABLES, BAGS)
def test_what_leaves_a_world_and_returns_at_once_is_the_same(table: Travel, bag: dict[str, int]) -> None:
    entering = equivalents("home", table, to_portable("home", table, bag))
    assert {one.item: one.count for one in entering} == {name: bag[name] for name in table.items if bag.get(name)}


@pytest.mark.parametrize("tier", [0, 11])
def test_a_tier_is_from_1_to_10(tier: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 10"):
        Portable("tool", tier)
