"""Meta-goals: evaluated from what an agent has done."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.model.travel import DOMAINS
from cohabit.nexus.goals import (
    GOALS,
    MAX_ACTIVE,
    MAX_OWN_GOAL,
    OWN_KEPT,
    abandon,
    completed,
    evaluate,
    progressed,
    set_goal,
    still_needed,
    tick_off,
)
from cohabit.nexus.values import (
    Achievement,
    GameInfo,
    GoalProgress,
    MetaGoal,
    Ongoing,
    PortableItem,
    Profile,
    Requirement,
    Reward,
    WorldTotals,
)

from .making import CAMP, GAMES, ORBIT, agent

MOON = GameInfo("moon", "Moon", world="moon")
KINDS = ["survive_steps", "visit_game", "earn_achievement", "reach_skill_level", "complete_action", "collect_items"]
REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(KINDS),
    st.floats(0.1, 200),
    what=st.just(""),
    games=st.sampled_from([(), ("crafter",), ("crafter", "planets")]),
    count=st.none() | st.integers(1, 3),
)
TOTALS = st.builds(
    WorldTotals,
    visits=st.integers(0, 5),
    steps=st.integers(0, 300),
    deeds=st.dictionaries(st.sampled_from(["craft", "gather"]), st.integers(0, 300)),
)
PROFILES = st.builds(
    lambda worlds, skills, carried: agent(worlds=worlds, skills=skills, carried=carried),
    st.dictionaries(st.sampled_from(["crafter", "planets", "moon"]), TOTALS),
    st.dictionaries(st.sampled_from(DOMAINS), st.floats(0, 1)),
    st.lists(
        st.builds(
            PortableItem,
            st.sampled_from(["crafter:iron", "planets:dirt"]),
            st.just("material"),
            st.just(1),
            st.integers(1, 300),
        ),
        max_size=2,
    ),
)


def goal(*requirements: Requirement) -> MetaGoal:
    return MetaGoal("g", "G", "", "skill", requirements, Reward())


def far(requirement: Requirement, profile: Profile, ongoing: Ongoing | None = None) -> tuple[float, str]:
    found = evaluate(goal(requirement), profile, GAMES, ongoing)
    return found.progress, found.detail


def pursuing(*ids: str, **known: object) -> Profile:
    return agent(goals=[GoalProgress(one) for one in ids], **known)


# -- the six types of requirements ----------------------------------------------------------------------------
def test_steps_are_counted_over_all_visits_to_a_world() -> None:
    profile = agent(worlds={"crafter": WorldTotals(steps=250), "planets": WorldTotals(steps=50)})
    assert far(Requirement("survive_steps", 100, count=3), profile) == (
        0.5,
        "1 of 3 kinds of game (2 known here): planets 50 of 100",
    )
    assert far(Requirement("survive_steps", 100), profile) == (1.0, "100 of 100 steps")


def test_visits_are_counted_for_every_known_world() -> None:
    everywhere = Requirement("visit_game", 1, count=None)
    profile = agent(worlds={"crafter": WorldTotals(visits=3), "atlantis": WorldTotals(visits=1)})
    assert far(everywhere, profile) == (0.5, "1 of 2 kinds of game")
    assert evaluate(goal(everywhere), profile, [], None).detail == "no game is known here"


def test_a_world_with_two_games_is_one_kind_of_game() -> None:
    games = [CAMP, replace(CAMP, id="camp-2")]
    walker = evaluate(GOALS["world_walker"], agent(worlds={"crafter": WorldTotals(visits=1)}), games)
    assert walker.progress == 1


def test_achievements_are_counted_by_name_or_all_of_a_world() -> None:
    profile = agent(achievements=[Achievement("crafter:eat_cow", "Eat cow"), Achievement("planets:eat_cow", "Eat cow")])
    assert far(Requirement("earn_achievement", 1, "eat_cow", count=2), profile)[0] == 1
    assert far(Requirement("earn_achievement", 1, "crafter:eat_cow"), profile)[0] == 1
    assert far(Requirement("earn_achievement", 1, "collect_diamond"), profile) == (0, "0 of 1 achievements")
    assert far(Requirement("earn_achievement", 10), profile) == (0.1, "1 of 10 achievements")


def test_a_skill_is_measured_by_its_level() -> None:
    profile = agent(skills={"crafting": 0.4, "combat": 0.9})
    assert far(Requirement("reach_skill_level", 0.8, "crafting"), profile) == (0.5, "0.4 of 0.8 crafting")
    assert far(Requirement("reach_skill_level", 0.2, count=4), profile) == (0.5, "2 of 4 skills")


def test_what_is_begun_is_named_by_kind_with_the_furthest_first() -> None:
    profile = agent(worlds={"planets": WorldTotals(steps=24), "crafter": WorldTotals(steps=39), "moon": WorldTotals()})
    assert far(Requirement("survive_steps", 50, count=2), profile) == (
        0.63,
        "0 of 2 kinds of game: crafter 39 of 50, planets 24 of 50",
    )
    skilled = agent(skills={"puzzle_solving": 0.1, "combat": 0.9})
    assert far(Requirement("reach_skill_level", 0.2, count=4), skilled) == (
        0.375,
        "1 of 4 skills: puzzle solving 0.1 of 0.2",
    )


def test_actions_are_counted_by_deed() -> None:
    profile = agent(
        worlds={"crafter": WorldTotals(deeds={"craft": 12, "gather": 90}), "planets": WorldTotals(deeds={"craft": 5})}
    )
    assert far(Requirement("complete_action", 10, "craft", count=2), profile) == (
        0.75,
        "1 of 2 kinds of game: planets 5 of 10",
    )
    assert far(Requirement("complete_action", 10, "craft", games=("planets",)), profile) == (0.5, "5 of 10 craft")
    assert far(Requirement("complete_action", 10, "dance"), profile) == (0, "0 of 10 dance")


def test_items_are_counted_while_they_are_carried_out_of_worlds_in_which_something_was_done() -> None:
    carried = [PortableItem("crafter:iron", "material", 3, 2), PortableItem("planets:torch", "tool", 1, 3)]
    profile = agent(carried=carried, worlds=dict.fromkeys(("crafter", "planets"), WorldTotals(visits=1)))
    passed = agent(carried=carried, worlds={"crafter": WorldTotals(visits=1), "planets": WorldTotals(idle_visits=4)})
    assert far(Requirement("collect_items", 2, count=2), passed)[0] == 0.5
    assert far(Requirement("collect_items", 4, "material"), profile) == (0.5, "2 of 4 material items")
    assert far(Requirement("collect_items", 2, count=2), profile)[0] == 1


def test_every_requirement_of_a_goal_must_be_reached() -> None:
    both = goal(Requirement("survive_steps", 10), Requirement("visit_game", 2))
    found = evaluate(both, agent(worlds={"crafter": WorldTotals(steps=50, visits=1)}), GAMES)
    assert (found.progress, found.detail) == (0.75, "10 of 10 steps; 1 of 2 visits")


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"target": 0}, "above 0"), ({"count": 0}, "above 0"), ({"what": "cooking"}, "no skill 'cooking'")],
)
def test_a_requirement_that_nobody_can_measure_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Requirement("reach_skill_level", **fields)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no requirement"):
        goal()


# -- a visit that is still going on ---------------------------------------------------------------------------
def test_a_visit_that_is_going_on_counts() -> None:
    now = Ongoing("planets", 40, {"craft": 4, "achievement:first_night": 1}, gains={"crafting": 0.4})
    profile = agent(worlds={"planets": WorldTotals(steps=60, deeds={"craft": 1})}, skills={"crafting": 0.4})
    assert far(Requirement("survive_steps", 100), profile, now)[0] == 1
    assert far(Requirement("visit_game", 1), profile, now)[0] == 1
    assert far(Requirement("complete_action", 10, "craft"), profile, now) == (0.5, "5 of 10 craft")
    assert far(Requirement("earn_achievement", 1, "first_night"), profile, now)[0] == 1
    assert far(Requirement("reach_skill_level", 0.8, "crafting"), profile, now)[0] == 1


def test_an_achievement_of_an_earlier_visit_does_not_count_twice() -> None:
    profile = agent(achievements=[Achievement("crafter:eat_cow", "Eat cow")])
    now = Ongoing("crafter", deeds={"achievement:eat_cow": 3}, achievements=("eat_cow",))
    assert far(Requirement("earn_achievement", 2), profile, now)[0] == 0.5


def test_a_goal_can_be_completed_in_the_middle_of_a_visit() -> None:
    profile = pursuing("wayfarer", worlds={"crafter": WorldTotals(steps=80)})
    assert completed(profile, GAMES, Ongoing("planets", 49)) == []
    assert completed(profile, GAMES, Ongoing("planets", 50)) == [GOALS["wayfarer"]]


@given(REQUIREMENTS, PROFILES)
def test_progress_is_from_0_to_1_and_is_1_only_if_the_goal_is_reached(
    requirement: Requirement, profile: Profile
) -> None:
    found = evaluate(goal(requirement), profile, (*GAMES, MOON))
    assert 0 <= found.progress <= 1
    reached, _, needed = found.detail.partition(" of ")
    if requirement.count != 1 and found.detail[0].isdigit() and found.detail.endswith(("game", "skills", "here)")):
        assert (found.progress == 1) == (int(reached) >= int(needed.split()[0]))


@given(REQUIREMENTS, PROFILES, st.integers(0, 100))
def test_more_steps_and_deeds_never_reduce_progress(requirement: Requirement, profile: Profile, more: int) -> None:
    less = Ongoing("crafter", more, {"craft": more})
    later = Ongoing("crafter", more + 7, {"craft": more + 7, "gather": 1})
    assert far(requirement, profile, less)[0] <= far(requirement, profile, later)[0]


# -- rewards --------------------------------------------------------------------------------------------------
def test_a_completed_goal_gives_its_title_and_its_skills_once() -> None:
    profile = pursuing(
        "world_walker",
        worlds={"crafter": WorldTotals(visits=1), "planets": WorldTotals(visits=1)},
        skills={"exploration": 0.5},
    )
    after = progressed(profile, GAMES, 77)
    assert after.titles == ["World Walker"]
    assert after.skills == {"exploration": 0.55, "adaptation": 0.1}
    assert [(one.game, one.domain, one.deed) for one in after.evidence] == [
        ("nexus", "exploration", "world_walker"),
        ("nexus", "adaptation", "world_walker"),
    ]
    assert after.goals == [GoalProgress("world_walker", progress=1.0, detail="2 of 2 kinds of game", completed_at=77)]
    assert progressed(after, GAMES, 99) == after


def test_a_completed_goal_stays_completed_when_a_new_game_is_registered() -> None:
    done = progressed(pursuing("world_walker", worlds={"crafter": WorldTotals(visits=1)}), [CAMP], 5)
    assert progressed(done, [CAMP, ORBIT, MOON], 6) == done


def test_the_reward_of_one_goal_can_complete_another() -> None:
    levels = {"crafting": 0.5, "combat": 0.5, "survival": 0.5, "planning": 0.15}
    achievements = [Achievement(f"crafter:a{number}", "") for number in range(10)]
    after = progressed(pursuing("all_rounder", "achiever", skills=levels, achievements=achievements), GAMES, 5)
    assert sorted(after.titles) == ["Achiever", "All-Rounder"]


def test_a_goal_that_is_not_set_gives_nothing() -> None:
    assert progressed(agent(skills={"crafting": 0.9}), GAMES, 5).titles == []


def test_evaluating_leaves_the_profile_as_it_was() -> None:
    profile = pursuing("master_crafter", skills={"crafting": 0.9})
    progressed(profile, GAMES, 5)
    assert profile == pursuing("master_crafter", skills={"crafting": 0.9})


def test_every_goal_has_a_reward_that_does_something() -> None:
    for one in GOALS.values():
        assert one.reward.title
        assert one.reward.bonuses or one.reward.skills


@pytest.mark.parametrize("one", GOALS.values(), ids=lambda one: one.id)
def test_the_description_of_a_goal_says_what_it_asks_for(one: MetaGoal) -> None:
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", one.description)]
    (asked,) = one.requirements
    assert numbers == [number for number in (asked.target, asked.count) if number not in (1, None)]


# -- setting and abandoning -----------------------------------------------------------------------------------
@pytest.mark.parametrize("text", ["survivor", "Survivor", " SURVIVOR "])
def test_a_goal_of_the_house_is_set_by_its_id_or_name(text: str) -> None:
    profile = set_goal(agent(worlds={"crafter": WorldTotals(steps=500)}), text, GAMES, 5)
    assert profile.goals == [GoalProgress("survivor", progress=0.333, detail="1 of 3 kinds of game (2 known here)")]


def test_the_other_name_of_a_goal_is_known() -> None:
    assert [one.goal for one in set_goal(agent(), "Explorer", GAMES, 5).goals] == ["world_walker"]


def test_what_was_done_before_a_goal_was_set_counts() -> None:
    assert set_goal(agent(skills={"crafting": 0.8}), "master crafter", GAMES, 5).titles == ["Master Crafter"]


def test_other_words_are_a_goal_of_the_agents_own() -> None:
    profile = set_goal(set_goal(agent(), "see the\nsea", GAMES, 5), "sleep well", GAMES, 6)
    assert [(one.goal, one.description) for one in profile.goals] == [("own-1", "see the sea"), ("own-2", "sleep well")]


def test_a_goal_of_the_greatest_length_is_set() -> None:
    assert set_goal(agent(), "x " * (MAX_OWN_GOAL // 2 - 1) + "yz", GAMES, 5).goals[0].goal == "own-1"


def test_only_the_agent_ticks_off_its_own_goals_and_gets_no_reward() -> None:
    profile = set_goal(agent(), "see the sea", GAMES, 5)
    assert completed(profile, GAMES) == []
    done = tick_off(profile, "own-1", 9)
    assert (done.goals[0].completed_at, done.titles, done.skills) == (9, [], {})


def test_a_goal_of_the_house_cannot_be_ticked_off() -> None:
    with pytest.raises(GameRejected, match="only your own goals"):
        tick_off(pursuing("survivor"), "survivor", 9)


def test_an_abandoned_goal_can_be_set_again_and_a_completed_one_cannot_be_abandoned() -> None:
    assert abandon(pursuing("survivor"), "Survivor").goals == []
    done = progressed(pursuing("master_crafter", skills={"crafting": 0.9}), GAMES, 5)
    with pytest.raises(GameRejected, match="you have set no goal"):
        abandon(done, "master_crafter")
    with pytest.raises(GameRejected, match="completed the goal master_crafter"):
        set_goal(done, "master_crafter", GAMES, 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("survivor", "set the goal survivor already"),
        ("  ", "say which goal: one of survivor"),
        ("x " * MAX_OWN_GOAL, "at most 200 characters"),
        ("survivr", "there is no goal 'survivr'"),
        ("see the sea", "set this goal already"),
    ],
)
def test_a_goal_that_cannot_be_set_is_refused_with_what_to_do(text: str, message: str) -> None:
    profile = set_goal(pursuing("survivor"), "see the sea", GAMES, 5)
    with pytest.raises(GameRejected, match=message):
        set_goal(profile, text, GAMES, 6)


def test_a_misspelt_goal_is_answered_with_the_right_one() -> None:
    with pytest.raises(GameRejected) as refused:
        set_goal(agent(), "world_waker", GAMES, 5)
    assert refused.value.did_you_mean == ["world_walker"]


def test_an_agent_pursues_a_limited_number_of_goals_and_completed_ones_do_not_count() -> None:
    profile = set_goal(agent(skills={"crafting": 0.8}), "master_crafter", GAMES, 5)
    for number in range(MAX_ACTIVE):
        profile = set_goal(profile, f"own goal {number}", GAMES, 5)
    with pytest.raises(GameRejected, match="5 goals, which is the limit; abandon one of own-1, own-2"):
        set_goal(profile, "one more goal", GAMES, 5)


def test_old_own_goals_are_forgotten_and_their_ids_are_not_used_again() -> None:
    profile = agent()
    for number in range(OWN_KEPT + 3):
        profile = tick_off(set_goal(profile, f"goal number {number}", GAMES, 5), f"own-{number + 1}", 6)
    assert [one.goal for one in profile.goals] == [f"own-{number}" for number in range(4, OWN_KEPT + 4)]


# -- which game helps -----------------------------------------------------------------------------------------
def helps(goal_id: str, profile: Profile, game: GameInfo) -> bool:
    return any(need.helped_by(game) for need in still_needed(GOALS[goal_id], profile, GAMES))


def test_a_game_helps_with_a_goal_only_while_something_is_missing_there() -> None:
    profile = agent(worlds={"crafter": WorldTotals(steps=100, visits=1)}, skills={"crafting": 0.1})
    assert not helps("survivor", profile, CAMP)
    assert helps("survivor", profile, ORBIT)
    assert helps("master_crafter", profile, CAMP)
    assert not helps("master_crafter", profile, ORBIT)


def test_no_game_helps_with_a_goal_that_is_reached() -> None:
    done = agent(worlds={"crafter": WorldTotals(visits=1), "planets": WorldTotals(visits=1)}, skills={"crafting": 0.9})
    assert not any(
        helps(goal_id, done, game) for goal_id in ("world_walker", "master_crafter") for game in (*GAMES, MOON)
    )
