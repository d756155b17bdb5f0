"""What the worlds with bodies declare, taken together."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.bodies import EmbodiedWorld
from cohabit.model.travel import DOMAINS
from cohabit.nexus.goals import GOALS
from cohabit.nexus.items import equivalents, pack, settle, to_portable
from cohabit.nexus.packages import bonuses
from cohabit.nexus.values import GoalProgress
from cohabit.registry import find_world, known_games

from .making import agent

FOUND = {name: find_world(name) for name in known_games()}
TRAVELS = {name: world.travel for name, world in FOUND.items() if issubclass(world, EmbodiedWorld)}
BAGS = st.sampled_from(sorted(TRAVELS)).flatmap(
    lambda name: st.tuples(
        st.just(name), st.dictionaries(st.sampled_from(sorted(TRAVELS[name].items)), st.integers(1, 9))
    )
)


def test_there_are_worlds_to_travel_between() -> None:
    assert len(TRAVELS) >= 2


@pytest.mark.parametrize("name", sorted(TRAVELS))
def test_a_world_with_bodies_teaches_gives_bonuses_and_has_portable_items(name: str) -> None:
    travel = TRAVELS[name]
    assert travel.domains
    assert travel.items
    assert travel.bonuses
    achievements = {deed.partition(":")[2] for deed in travel.lessons if deed.startswith("achievement:")}
    assert set(travel.rarities) <= achievements


def test_together_the_worlds_teach_every_skill() -> None:
    assert {domain for travel in TRAVELS.values() for domain in travel.domains} == set(DOMAINS)


@pytest.mark.parametrize("goal_id", [goal.id for goal in GOALS.values() if goal.reward.bonuses])
def test_the_reward_of_every_goal_has_an_effect_in_some_world(goal_id: str) -> None:
    hero = agent(goals=[GoalProgress(goal_id, completed_at=1)])
    assert any(bonuses(travel, hero) for travel in TRAVELS.values())


@pytest.mark.parametrize(("here", "there"), list(permutations(sorted(TRAVELS), 2)))
def test_the_most_valuable_things_of_a_world_have_equivalents_in_another(here: str, there: str) -> None:
    shared = {kind.category for kind in TRAVELS[here].items.values()} & {
        kind.category for kind in TRAVELS[there].items.values()
    }
    assert {"material", "tool", "weapon"} <= shared
    entering = equivalents(
        there, TRAVELS[there], to_portable(here, TRAVELS[here], dict.fromkeys(TRAVELS[here].items, 1))
    )
    entered = {one.origin.partition(":")[2] for one in entering}
    assert {
        name for name, kind in TRAVELS[here].items.items() if kind.category in ("material", "tool", "weapon")
    } <= entered


@given(BAGS, st.lists(st.sampled_from(sorted(TRAVELS)), max_size=6))
def test_no_journey_between_our_worlds_creates_loses_or_improves_items(
    bag: tuple[str, dict[str, int]], route: list[str]
) -> None:
    home, items = bag
    carried = to_portable(home, TRAVELS[home], items)
    tiers = sum(item.tier * item.count for item in carried)
    for stop in route:
        entering = equivalents(stop, TRAVELS[stop], carried)
        body: Counter[str] = Counter()
        for one in entering:
            body[one.item] += one.count
        carried = pack(settle(carried, entering), to_portable(stop, TRAVELS[stop], body))
        assert sum(item.count for item in carried) == sum(items.values())
        assert sum(item.tier * item.count for item in carried) <= tiers
        tiers = sum(item.tier * item.count for item in carried)
