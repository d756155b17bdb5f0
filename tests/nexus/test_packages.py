"""What an agent takes into a game and brings back."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.model.travel import EntryPackage
from cohabit.nexus.items import to_portable
from cohabit.nexus.packages import MAX_MEMORY, MEMORIES_KEPT, began, entry, forget, leave, remember, so_far
from cohabit.nexus.skills import RECENT_ACHIEVEMENTS, VISITS_KEPT, matching
from cohabit.nexus.values import (
    Achievement,
    GameInfo,
    GoalProgress,
    PortableItem,
    Profile,
    Session,
    Visit,
    Wishes,
    WorldTotals,
)
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER

from .making import CAMP, GAMES, ORBIT, PLANETS, TRAVELS, agent, inside, visit

IRON = PortableItem("crafter:iron", "material", 3, 4)
GOLD = PortableItem("moon:gold", "currency", 1, 9)
SESSION = Session("t1", "orbit", "planets", 1000)


# -- entering -------------------------------------------------------------------------------------------------
def test_an_entry_package_has_the_bonuses_the_items_and_the_memories_of_the_agent() -> None:
    profile = agent(skills={"combat": 0.5}, carried=[IRON, GOLD], core_memories=["cows are food"], strategies=["flee"])
    package = entry(profile, PLANETS, "t1", Wishes(spawn="random", goals=("dig",), avatar="a2"), ORBIT)
    assert package.bonuses == {"weapon_tier": 2}
    assert package.items == {"iron_bar": 4}
    assert package.memories == ("cows are food", "flee")
    assert (package.identity, package.spawn, package.goals, package.avatar) == ("ada-1", "random", ("dig",), "a2")


def test_an_agent_chooses_what_it_takes_along() -> None:
    profile = agent(carried=[IRON])
    assert entry(profile, PLANETS, "t1", Wishes(items={"crafter:iron": 1}), ORBIT).items == {"iron_bar": 1}
    assert entry(profile, PLANETS, "t1", Wishes(items={}), ORBIT).items == {}
    assert entry(profile, PLANETS, "t1", Wishes(items={"crafter:iron": 0}), ORBIT).items == {}
    assert entry(profile, PLANETS, "t1", Wishes(items={"iron": 0}), ORBIT).items == {}
    assert entry(profile, PLANETS, "t1", Wishes(items={"crafter:iron": 4}), ORBIT).items == {"iron_bar": 4}


@pytest.mark.parametrize(
    ("profile", "wishes", "game", "message"),
    [
        (inside(agent()), Wishes(), ORBIT, "you are in the game camp; leave it first"),
        (agent(), Wishes(), replace(ORBIT, status="busy"), "orbit is busy now"),
        (agent(), Wishes(), replace(ORBIT, status="offline"), "orbit is offline now"),
        (agent(), Wishes(), replace(ORBIT, status="maintenance"), "orbit is closed for maintenance now"),
        (agent(), Wishes(), replace(ORBIT, max_agents=2), "orbit has 2 agents and is full"),
        (agent(), Wishes(), replace(ORBIT, transit_compatible=False), "cannot travel to orbit"),
        (agent(carried=[IRON]), Wishes(items={"crafter:iron": 5}), ORBIT, "you carry 4 of crafter:iron, not 5"),
        (agent(carried=[IRON]), Wishes(items={"crafter:iron": -1}), ORBIT, "you carry 4 of crafter:iron, not -1"),
        (agent(carried=[IRON]), Wishes(items={"iron": 1}), ORBIT, "name iron by its origin: crafter:iron"),
        (agent(carried=[IRON]), Wishes(items={"ron": 1}), ORBIT, "you carry 0 of ron, not 1"),
        (agent(carried=[GOLD]), Wishes(items={"moon:gold": 1}), ORBIT, "nothing like moon:gold"),
    ],
)
def test_an_entry_that_is_not_possible_is_refused_with_what_to_do(
    profile: Profile, wishes: Wishes, game: GameInfo, message: str
) -> None:
    with pytest.raises(GameRejected, match=message):
        entry(profile, PLANETS, "t2", wishes, game)


def test_items_leave_the_agents_hands_when_the_game_has_accepted_it() -> None:
    profile = agent(carried=[IRON, GOLD])
    package = entry(profile, PLANETS, "t1", Wishes(), ORBIT)
    after = began(profile, package, SESSION)
    assert (after.session, after.carried) == (SESSION, [GOLD])
    assert profile.carried == [IRON, GOLD]


def test_items_that_the_body_could_not_take_stay_carried() -> None:
    profile = agent(carried=[IRON])
    package = entry(profile, PLANETS, "t1", Wishes(), ORBIT)
    assert began(profile, package, SESSION, taken={"iron_bar": 1}).carried == [replace(IRON, count=3)]
    assert began(profile, package, SESSION, taken={}).carried == [IRON]


def test_a_transit_begins_once() -> None:
    profile = agent(carried=[IRON])
    package = entry(profile, PLANETS, "t1", Wishes(), ORBIT)
    once = began(profile, package, SESSION)
    assert began(once, package, SESSION) is once
    gone = leave(once, PLANETS, visit(ORBIT), GAMES)
    assert began(gone, package, SESSION) is gone


def test_the_parts_of_different_transits_do_not_fit_together() -> None:
    with pytest.raises(ValueError, match="one transit"):
        began(agent(), EntryPackage("t2", "ada-1", "Ada"), SESSION)
    with pytest.raises(ValueError, match="one transit"):
        began(agent(), EntryPackage("t1", "bob", "Bob"), SESSION)


TWO_DEEDS = {"achievement:collect_wood": 1, "achievement:eat_cow": 1}


# -- leaving --------------------------------------------------------------------------------------------------
def test_a_visit_is_added_to_everything_that_the_nexus_knows() -> None:
    old = inside(
        agent(worlds={"crafter": WorldTotals(1, 10, 100, 1, {"craft": 2})}, carried=[IRON], core_memories=["old"])
    )
    package = visit(
        steps=60, playtime_ms=900, deaths=1, reason="bored", reward=3.0, items={"iron": 2, "wood": 1},
        deeds={"craft": 1, "achievement:collect_diamond": 1}, memories=("diamonds are\nwhite",),
    )  # fmt: skip
    new = leave(old, CRAFTER, package, GAMES)
    assert new.worlds["crafter"] == WorldTotals(
        2, 25, 1000, 2, {"achievement:collect_diamond": 1, "craft": 3}, idle_steps=45
    )
    assert new.achievements == [
        Achievement("crafter:collect_diamond", "Collect diamond", "", "camp", 2000, "legendary")
    ]
    assert new.carried == [replace(IRON, count=6), PortableItem("crafter:wood", "material", 1, 1)]
    assert new.core_memories == ["old", "diamonds are white"]
    assert (new.session, new.closed, new.games_visited) == (None, {"t1": "camp"}, ["camp"])
    assert set(new.skills) == {"exploration"}
    (last,) = new.visits
    assert last == Visit(
        "camp", "crafter", 2000, 900, 60, "bored", ("crafter:collect_diamond",), dict(new.skills), "t1", deaths=1
    )
    assert {one.deed for one in new.evidence} == {"achievement:collect_diamond"}
    assert (new.total_steps, new.total_playtime_ms) == (70, 1000)


def test_a_package_is_applied_once() -> None:
    package = visit(steps=60, items={"iron": 2})
    new = leave(inside(agent()), CRAFTER, package, GAMES)
    assert leave(new, CRAFTER, package, GAMES) is new
    again = inside(new, CAMP, "t2")
    assert leave(again, CRAFTER, package, GAMES) is again


def test_a_package_of_another_session_or_another_agent_changes_nothing() -> None:
    profile = inside(agent())
    assert leave(profile, CRAFTER, visit(ticket="t9", steps=5), GAMES) is profile
    assert leave(profile, CRAFTER, replace(visit(steps=5), identity="bob"), GAMES) is profile
    assert leave(agent(), CRAFTER, visit(steps=5), GAMES) == agent()


def test_an_achievement_is_earned_once_in_a_world() -> None:
    once = leave(inside(agent()), CRAFTER, visit(deeds={"achievement:eat_cow": 1}), GAMES)
    twice = leave(inside(once, CAMP, "t2"), CRAFTER, visit(ticket="t2", deeds={"achievement:eat_cow": 2}), GAMES)
    assert [one.id for one in twice.achievements] == ["crafter:eat_cow"]
    assert twice.visits[-1].achievements == ()
    assert twice.worlds["crafter"].deeds == {"achievement:eat_cow": 3}


def test_a_goal_that_a_visit_completes_is_rewarded_when_the_agent_leaves() -> None:
    profile = agent(goals=[GoalProgress("wayfarer")], worlds={"planets": WorldTotals(1, 80)})
    after = leave(inside(profile), CRAFTER, visit(steps=50, deeds=TWO_DEEDS), GAMES)
    assert (after.titles, after.goals[0].completed_at) == (["Wayfarer"], 2000)


def test_the_newest_visits_are_kept_and_every_game_is_remembered() -> None:
    profile = agent()
    for number in range(VISITS_KEPT + 2):
        game = replace(CAMP, id=f"camp-{number}")
        profile = leave(
            inside(profile, game, str(number)), CRAFTER, visit(game, str(number), steps=1, deeds=TWO_DEEDS), GAMES
        )
    assert len(profile.visits) == VISITS_KEPT
    assert len(profile.games_visited) == profile.worlds["crafter"].visits == VISITS_KEPT + 2


def test_what_a_visit_has_taught_so_far_is_what_it_teaches_when_it_ends_now() -> None:
    profile = inside(agent(worlds={"crafter": WorldTotals(1, 20, deeds={"achievement:eat_cow": 2})}))
    deeds = {"achievement:eat_cow": 3, "craft": 1}
    now = so_far(profile, CRAFTER, "crafter", 40, deeds)
    after = leave(profile, CRAFTER, visit(steps=40, deeds=deeds), GAMES)
    assert now.gains == after.visits[-1].skill_gains
    assert (now.world, now.steps, now.deeds) == ("crafter", 5, deeds)  # 25 of 60 steps count


ITEMS = st.dictionaries(st.sampled_from(sorted({*CRAFTER.items, *PLANETS.items})), st.integers(0, 9))
JOURNEYS = st.lists(st.tuples(st.sampled_from(GAMES), ITEMS, st.booleans(), st.booleans()), max_size=6)


@given(JOURNEYS)
def test_items_are_neither_created_nor_lost_on_any_journey(
    journey: list[tuple[GameInfo, dict[str, int], bool, bool]],
) -> None:
    """The agent finds things in each game, and carries out all that is portable. Packages arrive once or twice, and
    bodies take all or nothing."""
    profile, bodies, found = agent(), {"crafter": Counter(), "planets": Counter()}, 0
    for number, (game, finds, twice, takes) in enumerate(journey):
        travel, ticket = TRAVELS[game.kind], str(number)
        package = entry(profile, travel, ticket, Wishes(), game)
        taken = None if takes else {}
        for _ in range(1 + twice):
            profile = began(profile, package, Session(ticket, game.id, game.kind, number), taken)
        body = bodies[game.kind]
        body.update(package.items if takes else {})
        body.update({name: count for name, count in finds.items() if name in travel.items})
        found += sum(count for name, count in finds.items() if name in travel.items)
        out, bodies[game.kind] = dict(body), Counter()
        for _ in range(1 + twice):
            profile = leave(profile, travel, visit(game, ticket, items=out), GAMES)
        assert sum(item.count for item in profile.carried) + sum(body.total() for body in bodies.values()) == found
        assert len({item.origin for item in profile.carried}) == len(profile.carried)


@given(JOURNEYS)
def test_a_profile_is_the_same_after_it_was_stored(journey: list[tuple[GameInfo, dict[str, int], bool, bool]]) -> None:
    profile = agent(goals=[GoalProgress("wayfarer")])
    for number, (game, items, _, _) in enumerate(journey):
        package = entry(profile, TRAVELS[game.kind], str(number), Wishes(), game)
        profile = began(profile, package, Session(str(number), game.id, game.kind, number))
        profile = leave(profile, TRAVELS[game.kind], visit(game, str(number), items=items, steps=30), GAMES)
        assert msgspec.json.decode(msgspec.json.encode(profile), type=Profile) == profile
        assert msgspec.json.decode(msgspec.json.encode(package), type=EntryPackage) == package


@given(st.lists(st.tuples(st.sampled_from(["begin", "end"]), st.integers(0, 4)), max_size=30))
def test_packages_in_any_order_and_number_are_applied_once(arriving: list[tuple[str, int]]) -> None:
    """Transits that begin and end late, twice, or never."""
    profile, started, ended = agent(), set(), set()
    for what, number in arriving:
        ticket, before = str(number), profile
        if what == "begin":
            package = EntryPackage(ticket, "ada-1", "Ada")
            profile = began(profile, package, Session(ticket, "camp", "crafter", 1))
            if profile is not before:
                assert ticket not in started
                started.add(ticket)
        else:
            profile = leave(profile, CRAFTER, visit(ticket=ticket, steps=10, items={"iron": 1}), GAMES)
            if profile is not before:
                assert ticket in started - ended
                ended.add(ticket)
        assert (profile.session is not None) == bool(started - ended)
        assert profile.total_steps == 10 * len(ended)
        assert sum(item.count for item in profile.carried) == len(ended)


def test_leaving_does_not_change_the_argument() -> None:
    profile = inside(agent(carried=to_portable("crafter", CRAFTER, {"iron": 1}), worlds={"crafter": WorldTotals(1)}))
    copy = msgspec.json.decode(msgspec.json.encode(profile), type=Profile)
    leave(profile, CRAFTER, visit(steps=99, items={"iron": 1}, deeds={"craft": 1}, memories=("x",)), GAMES)
    assert profile == copy


def test_achievements_are_listed_by_game_world_or_rarity_or_the_newest_first() -> None:
    old, new = (Achievement(f"crafter:a{at}", "A", "", "camp", at, "rare" if at else "common") for at in (0, 1))
    far = Achievement("planets:b", "B", "", "orbit", 2)
    profile = agent(achievements=[old, new, far])
    assert matching(profile, "") == [old, new, far]
    assert matching(profile, "recent") == [far, new, old]
    assert matching(profile, "rare") == [new]
    assert matching(profile, "camp") == matching(profile, "crafter") == [old, new]
    assert matching(profile, "moon") == []
    many = agent(achievements=[replace(old, timestamp=at) for at in range(RECENT_ACHIEVEMENTS + 1)])
    assert [one.timestamp for one in matching(many, "recent")] == list(range(RECENT_ACHIEVEMENTS, 0, -1))


# -- memories -------------------------------------------------------------------------------------------------
def test_the_newest_memories_are_kept_each_once() -> None:
    profile = agent()
    for number in range(MEMORIES_KEPT + 1):
        profile = remember(profile, f"memory {number}")
    profile = remember(profile, "memory 5")
    assert profile.core_memories[0] == "memory 1"
    assert profile.core_memories[-1] == "memory 5"
    assert len(profile.core_memories) == MEMORIES_KEPT


def test_a_strategy_is_kept_apart_from_memories_and_can_be_forgotten() -> None:
    profile = remember(agent(), "run", "strategy")
    assert (profile.core_memories, profile.strategies) == ([], ["run"])
    assert forget(profile, "run", "strategy").strategies == []
    with pytest.raises(GameRejected, match="no such memory"):
        forget(profile, "run")


@pytest.mark.parametrize(("text", "message"), [(" \n", "nothing to remember"), ("x" * (MAX_MEMORY + 1), "at most 300")])
def test_a_memory_that_cannot_be_kept_is_refused(text: str, message: str) -> None:
    with pytest.raises(GameRejected, match=message):
        remember(agent(), text)


def test_a_memory_of_the_greatest_length_is_kept() -> None:
    assert remember(agent(), "x" * MAX_MEMORY).core_memories == ["x" * MAX_MEMORY]
