"""What deeds teach."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.travel import DOMAINS, Lesson, Travel
from cohabit.nexus.skills import EVIDENCE_KEPT, NEW_WORLD_STEPS, evidence, gains, learn, worth
from cohabit.nexus.values import Evidence, Profile
from cohabit.worlds.crafter.repeats import Repeated
from cohabit.worlds.crafter.rules import ACHIEVEMENTS
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER
from cohabit.worlds.crafter.travel import deeds_of

from .making import COUNTS, LEVELS, TABLES, agent

DIGGING = Travel(lessons={"dig": Lesson("exploration", 0.1)})


def taught(travel: Travel, profile: Profile, before: dict[str, int], now: dict[str, int]) -> Profile:
    return learn(profile, gains(travel, before, now, profile), evidence("camp", travel, before, now, profile, 5))


def sum_of(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {*one, *other}}


def test_the_first_time_is_worth_its_points_of_what_is_missing() -> None:
    assert gains(DIGGING, {}, {"dig": 1}, agent()) == {"exploration": pytest.approx(1 - math.exp(-0.1))}
    half = agent(skills={"exploration": 0.5})
    assert gains(DIGGING, {}, {"dig": 1}, half) == {"exploration": pytest.approx(0.5 * (1 - math.exp(-0.1)))}


def test_as_many_times_again_as_ever_before_are_worth_about_one_more_first_time() -> None:
    assert [worth(count) for count in (0, 1, 3, 7, 1023)] == [0, 1, 2, 3, 3]


def test_a_deed_that_was_done_seven_times_teaches_nothing_more() -> None:
    assert gains(DIGGING, {"dig": 7}, {"dig": 1_000_000}, agent()) == {}


def test_one_deed_alone_does_not_make_a_master() -> None:
    after = taught(DIGGING, agent(), {}, {"dig": 10**9})
    assert after.skill("exploration") == pytest.approx(1 - math.exp(-0.3))


@given(TABLES, COUNTS, COUNTS, LEVELS)
def test_the_same_deeds_teach_the_same_in_one_visit_or_in_two(travel, first, second, levels) -> None:  # type: ignore[no-untyped-def]
    both = sum_of(first, second)
    at_once = taught(travel, agent(skills=levels), {}, both)
    in_two = taught(travel, taught(travel, agent(skills=levels), {}, first), first, both)
    for domain in DOMAINS:
        assert in_two.skill(domain) == pytest.approx(at_once.skill(domain), abs=1e-8)


@given(TABLES, TABLES, COUNTS, COUNTS)
def test_it_makes_no_difference_which_world_came_first(one, other, here, there) -> None:  # type: ignore[no-untyped-def]
    there_last = taught(other, taught(one, agent(), {}, here), {}, there)
    here_last = taught(one, taught(other, agent(), {}, there), {}, here)
    for domain in DOMAINS:
        assert there_last.skill(domain) == pytest.approx(here_last.skill(domain), abs=1e-8)


@given(TABLES, COUNTS, st.randoms(use_true_random=False))
def test_the_order_of_deeds_makes_no_difference_at_all(travel, deeds, chance) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(deeds.items())
    chance.shuffle(shuffled)
    assert gains(travel, {}, dict(shuffled), agent()) == gains(travel, {}, deeds, agent())


@given(TABLES, COUNTS, COUNTS, LEVELS)
def test_a_skill_never_falls_and_never_exceeds_1(travel, before, now, levels) -> None:  # type: ignore[no-untyped-def]
    profile = agent(skills=levels)
    after = taught(travel, profile, before, now)
    for domain in DOMAINS:
        assert profile.skill(domain) <= after.skill(domain) <= 1


@given(TABLES, COUNTS, COUNTS, LEVELS)
def test_the_evidence_adds_up_to_the_gains(travel, before, more, levels) -> None:  # type: ignore[no-untyped-def]
    now, profile = sum_of(before, more), agent(skills=levels)
    proof = evidence("camp", travel, before, now, profile, 5)
    for domain in DOMAINS:
        total = sum(one.delta for one in proof if one.domain == domain)
        assert total == pytest.approx(gains(travel, before, now, profile).get(domain, 0.0), abs=1e-8)
    assert all(one.count > 0 for one in proof)


@given(TABLES, COUNTS)
def test_learning_leaves_the_argument_as_it_was(travel, deeds) -> None:  # type: ignore[no-untyped-def]
    profile = agent(skills={"combat": 0.25})
    taught(travel, profile, {}, deeds)
    assert profile == agent(skills={"combat": 0.25})


def test_deeds_without_a_lesson_teach_nothing() -> None:
    assert gains(DIGGING, {}, {"dance": 100}, agent()) == {}


def test_the_evidence_names_the_game_the_skill_the_deed_and_how_often() -> None:
    (one,) = evidence("camp", DIGGING, {"dig": 2}, {"dig": 5}, agent(), 7)
    assert (one.game, one.domain, one.deed, one.count, one.timestamp) == ("camp", "exploration", "dig", 3, 7)


def test_the_newest_evidence_is_kept() -> None:
    many = [Evidence("camp", "combat", str(number), 1, 0.0, number) for number in range(EVIDENCE_KEPT + 5)]
    kept = learn(learn(agent(), {}, many[:30]), {}, many[30:]).evidence
    assert [one.deed for one in kept] == [str(number) for number in range(5, EVIDENCE_KEPT + 5)]


def test_getting_through_the_first_steps_in_a_world_teaches_adaptation_once() -> None:
    enough = {"steps": NEW_WORLD_STEPS}
    assert gains(Travel(), {}, {"steps": NEW_WORLD_STEPS - 1}, agent()) == {}
    assert list(gains(Travel(), {}, enough, agent())) == ["adaptation"]
    assert gains(Travel(), enough, {"steps": 10_000}, agent()) == {}


def test_every_achievement_of_crafter_teaches_something() -> None:
    assert set(CRAFTER.lessons) == {*(f"achievement:{name}" for name in ACHIEVEMENTS), "steps"}
    assert set(CRAFTER.rarities) <= set(ACHIEVEMENTS)


def test_a_good_game_of_crafter_reaches_bonuses_and_is_far_from_mastery() -> None:
    counts = dict.fromkeys(ACHIEVEMENTS, 1) | {
        "collect_wood": 20,
        "collect_stone": 25,
        "collect_drink": 15,
        "eat_cow": 5,
    }
    deeds = deeds_of([counts[name] for name in ACHIEVEMENTS], Repeated()) | {"steps": 600}
    after = taught(CRAFTER, agent(), {}, deeds)
    assert 0.1 < after.skill("resource_management") < 0.3
    assert 0.1 < after.skill("survival") < 0.4
    assert 0.3 < after.skill("crafting") < 0.5


def test_the_deeds_of_crafter_count_what_meta_goals_ask_for() -> None:
    counts = dict.fromkeys(ACHIEVEMENTS, 0) | {
        "make_wood_sword": 1,
        "make_iron_sword": 2,
        "collect_wood": 4,
        "collect_drink": 9,
    }
    assert deeds_of([counts[name] for name in ACHIEVEMENTS], Repeated()) == {
        "achievement:make_wood_sword": 1,
        "achievement:make_iron_sword": 2,
        "achievement:collect_wood": 4,
        "achievement:collect_drink": 9,
        "craft": 3,
        "gather": 4,
    }


@pytest.mark.parametrize("points", [0, -1, 1.5, math.nan])
def test_a_lesson_without_sensible_points_is_refused(points: float) -> None:
    with pytest.raises(ValueError, match="points of a lesson"):
        Lesson("combat", points)
