"""The values of the Nexus as JSON, in the three forms in which it was described."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from cohabit.errors import BadArgs
from cohabit.model.travel import DOMAINS, LeftBody, NewAvatar
from cohabit.nexus import requests
from cohabit.nexus.dialects import (
    agent_json,
    bonuses_json,
    camel,
    entered_json,
    game_json,
    games_json,
    left_json,
    nexus_json,
    progress_json,
    refused_json,
    time_text,
    together,
    transit_json,
)
from cohabit.nexus.packages import began, entry, leave
from cohabit.nexus.suggestions import suggestions
from cohabit.nexus.values import (
    GoalProgress,
    NexusView,
    PortableItem,
    Profile,
    Session,
    Wishes,
    WorldTotals,
)
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER

from .making import CAMP, GAMES, LEVELS, ORBIT, PLANETS, TRAVELS, agent, inside, visit

DIALECTS = ("A", "B", "C")
GAME = replace(ORBIT, genre=("sandbox",), bridge_url="http://x/ws", max_agents=8)
IRON = PortableItem("crafter:iron", "material", 3, 4)
GOLD = PortableItem("moon:gold", "currency", 1, 9)
PACKAGE = visit(
    steps=60,
    playtime_ms=90_000,
    reward=3.5,
    reason="bored",
    items={"iron": 4},
    deeds={"achievement:collect_diamond": 1},
    memories=("dig deep",),
)


def returned() -> Profile:
    before = agent(
        created_at=1000,
        carried=[GOLD],
        core_memories=["old"],
        goals=[GoalProgress("wayfarer"), GoalProgress("own-1", "see the sea")],
    )
    before = replace(before, achievements=[], worlds={"planets": WorldTotals(1, 10)}, games_visited=["orbit"])
    return leave(inside(before), CRAFTER, PACKAGE, GAMES)


def seen(profile: Profile) -> NexusView:
    return NexusView(profile, GAMES, suggestions(profile, GAMES))


# -- games ----------------------------------------------------------------------------------------------------
def test_a_game_has_the_fields_of_each_description() -> None:
    assert game_json(GAME, "A") == {
        "id": "orbit", "name": "Orbit", "description": "Planets to dig in.", "status": "available", "genre": ["sandbox"],
        "dimensions": 2, "multiplayer": True, "persistent_world": True, "skill_domains": ["exploration", "survival"],
        "wsap_version": "0.1", "transit_compatible": True, "active_agents": 2,
    }  # fmt: skip
    assert game_json(GAME, "B") == {
        "id": "orbit", "name": "Orbit", "description": "Planets to dig in.", "status": "available", "genre": ["sandbox"],
        "dimensions": 2, "multiplayer": True, "persistentWorld": True, "skillDomains": ["exploration", "survival"],
        "wsapVersion": "0.1", "transitCompatible": True, "activeAgents": 2, "bridgeUrl": "http://x/ws", "maxAgents": 8,
    }  # fmt: skip
    assert game_json(GAME, "C") == {
        "id": "orbit", "name": "Orbit", "description": "Planets to dig in.", "status": "available", "genre": ["sandbox"],
        "dimensions": 2, "skill_domains": ["exploration", "survival"], "active_agents": 2, "bridge_url": "http://x/ws",
    }  # fmt: skip
    assert games_json([GAME], "C") == {"games": [game_json(GAME, "C")]}


# -- agents ---------------------------------------------------------------------------------------------------
def test_an_agent_has_the_fields_of_each_description() -> None:
    me = returned()
    assert list(agent_json(me, "A", TRAVELS)) == [
        "agent_id", "name", "created_at", "total_steps", "games_visited", "achievements", "skills", "carried_items",
        "carried_currency", "core_memories", "strategies", "meta_goals",
    ]  # fmt: skip
    assert list(agent_json(me, "B", TRAVELS)) == [
        "id", "name", "createdAt", "totalSteps", "gamesVisited", "achievements", "skills", "carriedItems",
        "carriedCurrency", "coreMemories", "strategies", "metaGoals", "totalPlaytime", "currentGameId",
    ]  # fmt: skip
    assert list(agent_json(me, "C", TRAVELS)) == [
        "agent_id", "name", "total_steps", "games_visited", "skills", "achievements", "meta_goals",
    ]  # fmt: skip
    assert agent_json(me, "B", TRAVELS)["totalPlaytime"] == 90
    assert agent_json(inside(me, ORBIT, "t7"), "B", TRAVELS)["currentGameId"] == "orbit"
    assert agent_json(me, "C", TRAVELS)["meta_goals"] == ["Survive 50 steps in each of 2 kinds of game.", "see the sea"]


def test_every_agent_has_all_nine_skills() -> None:
    for dialect in DIALECTS:
        assert agent_json(agent(), dialect, {})["skills"] == dict.fromkeys(DOMAINS, 0.0)


def test_a_carried_item_says_what_it_would_be_in_other_worlds_and_money_is_apart() -> None:
    me = returned()
    a, b = agent_json(me, "A", TRAVELS), agent_json(me, "B", TRAVELS)
    assert a["carried_items"] == [
        {
            "category": "material",
            "tier": 3,
            "properties": {"count": 4},
            "origin": "crafter:iron",
            "equivalence_hints": {"crafter": "iron", "planets": "iron_bar"},
        }
    ]
    assert a["carried_currency"] == b["carriedCurrency"] == {"moon:gold": 9}
    assert b["carriedItems"][0] | {"properties": {}} == {
        "id": "crafter:iron", "category": "material", "tier": 3, "properties": {}, "origin": "crafter:iron",
        "equivalenceHints": {"crafter": "iron", "planets": "iron_bar"}, "originGame": "crafter",
    }  # fmt: skip


def test_a_skill_is_shown_with_its_evidence() -> None:
    me = returned()
    a, b = progress_json(me, "A"), progress_json(me, "B")
    assert [one["name"] for one in a] == [one["domain"] for one in b] == list(DOMAINS)
    delta = me.visits[-1].skill_gains["exploration"]
    assert a[0] == {"name": "exploration", "level": delta, "evidence": [f"collect_diamond x1 in camp: +{delta:.4f}"]}
    assert b[0]["evidence"] == [
        {"gameId": "camp", "action": "achievement:collect_diamond", "timestamp": time_text(2000), "delta": delta}
    ]


def test_a_goal_shows_its_requirements_progress_and_rewards() -> None:
    (wayfarer, own) = agent_json(returned(), "A", TRAVELS)["meta_goals"]
    assert wayfarer == {
        "id": "wayfarer", "description": "Survive 50 steps in each of 2 kinds of game.", "type": "exploration",
        "requirements": [{"type": "survive_steps", "target": 50, "what": "", "games": "any", "count": 2}],
        "progress": {"share": 0.35, "detail": "0 of 2 kinds of game: crafter 25 of 50, planets 10 of 50"},
        "rewards": ["Title: Wayfarer", "health +0.1 where a game has it"], "completed": False,
    }  # fmt: skip
    assert (own["id"], own["description"], own["requirements"], own["rewards"]) == ("own-1", "see the sea", [], [])


# -- the Nexus ------------------------------------------------------------------------------------------------
def test_the_view_of_the_nexus_has_the_fields_of_each_description() -> None:
    view = seen(replace(returned(), bodies={"camp": (LeftBody("avatar-1", "Ada", "dormant"),)}))
    a, b, c = (nexus_json(view, dialect, TRAVELS) for dialect in DIALECTS)
    assert list(a) == ["agent", "available_games", "suggested_games", "active_meta_goals", "recent_games", "avatars"]
    assert list(b) == ["agent", "availableGames", "suggestedGames", "activeMetaGoals", "recentSessions", "avatars"]
    assert list(c) == ["agent", "available_games", "suggested_games", "meta_goals"]
    assert a["avatars"] == [{"game_id": "camp", "avatar_id": "avatar-1", "name": "Ada", "state": "dormant"}]
    assert b["avatars"] == [{"gameId": "camp", "avatarId": "avatar-1", "name": "Ada", "state": "dormant"}]
    assert list(b["suggestedGames"][0]) == ["gameId", "gameName", "score", "reasons"]
    (session,) = b["recentSessions"]
    assert (session["gameId"], session["gameName"], session["duration"], session["steps"]) == (
        "camp",
        "The camp",
        90,
        60,
    )
    assert session["achievements"] == ["crafter:collect_diamond"]
    assert set(session["skillGains"]) == {"exploration", "survival"}


# -- transit --------------------------------------------------------------------------------------------------
def test_an_agent_that_entered_is_told_its_session_and_its_bonuses() -> None:
    me = agent(skills={"resource_management": 0.7, "survival": 0.45, "crafting": 0.35})
    game = replace(CAMP, bridge_url="http://x/ws")
    package = entry(me, CRAFTER, "t1", Wishes(), game)
    gets = {"inventory_bonus": 2, "health_bonus": 0, "recipe_hint": True}
    bonuses = bonuses_json(package.bonuses, CRAFTER)
    answer = entered_json("t1", game.bridge_url, bonuses, "C")
    assert answer == {"success": True, "session_id": "t1", "bridge_url": "http://x/ws", "bonuses": gets}
    assert json.dumps(answer["bonuses"]) == '{"inventory_bonus": 2, "health_bonus": 0, "recipe_hint": true}'
    assert entered_json("t1", game.bridge_url, bonuses, "B") == {
        "success": True, "sessionId": "t1", "bridgeUrl": "http://x/ws", "bonusesApplied": gets
    }  # fmt: skip
    assert entered_json("t1", None, bonuses, "A", {"text": "hi"})["initial_observation"] == {"text": "hi"}


def test_fractions_stay_fractions() -> None:
    assert bonuses_json({"price_modifier": 0.9, "scanner_range": 4.0, "health": 0.1}, PLANETS) == {
        "price_modifier": 0.9, "scanner_range": 4, "health": 0.1
    }  # fmt: skip


def test_a_package_has_what_the_visit_brought_and_what_the_agent_has_now() -> None:
    old = replace(PACKAGE, ticket="t0", deeds={"achievement:eat_cow": 1}, memories=(), items={})
    me = leave(inside(leave(inside(agent(), CAMP, "t0"), CRAFTER, old, GAMES)), CRAFTER, PACKAGE, GAMES)
    a, b, c = (transit_json(PACKAGE, me.visits[-1], me, dialect, TRAVELS) for dialect in DIALECTS)
    assert a["achievements"] == ["Collect diamond"]
    assert a["skills_gained"] == b["skillGains"] == me.visits[-1].skill_gains
    assert a["stats"] == {"steps": 60, "rewards": 3.5, "playtime": 90}
    assert c["achievements"] == ["Eat cow", "Collect diamond"]
    assert (c["total_steps"], c["skills"]) == (120, {domain: me.skill(domain) for domain in DOMAINS})
    assert b["sessionStats"] == {"steps": 60, "playtime": 90, "totalReward": 3.5, "achievementCount": 1}
    assert [one["id"] for one in b["newAchievements"]] == ["crafter:collect_diamond"]
    assert (b["newMemories"], b["originGame"], b["exitReason"]) == (["dig deep"], "camp", "bored")
    assert (a["core_memories"], a["origin_game"], a["exit_reason"]) == (["dig deep"], "camp", "bored")


def test_an_agent_that_left_gets_its_package_and_sees_the_nexus() -> None:
    me = returned()
    assert list(left_json((PACKAGE, me.visits[-1]), seen(me), "A", TRAVELS)) == [
        "success",
        "transit_package",
        "nexus_observation",
    ]
    assert list(left_json((PACKAGE, me.visits[-1]), seen(me), "B", TRAVELS)) == [
        "success",
        "transitPackage",
        "nexusObservation",
    ]
    assert refused_json("no") == {"success": False, "error": "no"}


@given(LEVELS, st.sampled_from(DIALECTS))
def test_every_answer_is_json_and_its_field_names_are_of_one_case(levels, dialect) -> None:  # type: ignore[no-untyped-def]
    me = replace(returned(), skills=levels)
    view = seen(me)
    session = Session("t2", "orbit", "planets", 1)
    package = entry(me, PLANETS, "t2", Wishes(), ORBIT)
    answers = [
        nexus_json(view, dialect, TRAVELS),
        left_json((PACKAGE, me.visits[-1]), view, dialect, TRAVELS),
        entered_json(session.ticket, ORBIT.bridge_url, bonuses_json(package.bonuses, PLANETS), dialect),
        agent_json(began(me, package, session), dialect, TRAVELS),
    ]
    assert json.loads(json.dumps(answers)) == answers
    data = {*DOMAINS, *TRAVELS, "moon:gold", "scanner_range", "weapon_tier", "price_modifier", "health"}
    names = set(field_names(answers)) - data
    assert not any("_" in name for name in names) if dialect == "B" else all(name == name.lower() for name in names)


def field_names(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for inner in value.values() for name in field_names(inner))]
    return [name for inner in value for name in field_names(inner)] if isinstance(value, list) else []


def test_an_answer_can_serve_two_descriptions_at_once() -> None:
    view = seen(returned())
    b, c = nexus_json(view, "B", TRAVELS), nexus_json(view, "C", TRAVELS)
    both = together(b, c)
    assert set(both) == {*b, *c}
    assert set(both["agent"]) == {*b["agent"], *c["agent"]}
    assert both["agent"]["achievements"][0] == b["agent"]["achievements"][0] | c["agent"]["achievements"][0]
    assert both["available_games"] == c["available_games"]
    games = together(games_json(GAMES, "B"), games_json(GAMES, "C"))["games"]
    assert [set(one) for one in games] == [{*game_json(CAMP, "B"), *game_json(CAMP, "C")}] * 2


@given(LEVELS, st.sampled_from(["B", "C"]))
def test_an_answer_for_two_descriptions_has_the_values_of_each(levels, dialect) -> None:  # type: ignore[no-untyped-def]
    me = replace(returned(), skills=levels)
    for encode in (lambda one: nexus_json(seen(me), one, TRAVELS), lambda one: agent_json(me, one, TRAVELS)):
        assert contains(together(encode("B"), encode("C")), encode(dialect))


def contains(whole: object, part: object) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and contains(whole[name], value) for name, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(contains, whole, part))
    return whole == part


@pytest.mark.parametrize(
    ("body", "under_nexus", "expected"),
    [
        ({"agent_id": "a", "game_id": "g"}, True, "A"),
        ({"agentId": "a", "gameId": "g"}, False, "B"),
        ({"id": "a", "name": "Ada"}, False, "B"),
        ({"agent_id": "a", "name": "Ada"}, False, "C"),
        (None, False, None),
        ({"id": "a", "name": "Ada", "status": "available"}, False, None),
    ],
)
def test_a_request_shows_which_description_its_client_follows(
    body: object, under_nexus: bool, expected: str | None
) -> None:
    assert requests.dialect_of(body, under_nexus) == expected


def test_times_are_text_that_other_programs_read() -> None:
    assert time_text(1_700_000_000_123) == "2023-11-14T22:13:20.123+00:00"
    assert datetime.fromisoformat(time_text(1_700_000_000_123)) == datetime.fromtimestamp(1_700_000_000.123, UTC)


# -- requests -------------------------------------------------------------------------------------------------
WISHES = Wishes(spawn="random", difficulty="hard", goals=("explore", "learn crafting"))


@pytest.mark.parametrize(
    "body",
    [
        {"agent_id": "a", "game_id": "g", "preferences": {"spawn": "random", "difficulty": "hard", "goals": ["explore", "learn crafting"]}},
        {"agentId": "a", "gameId": "g", "preferences": {"spawn": "random", "difficulty": "hard", "goals": ["explore", "learn crafting"]}},
        {"agent_id": "a", "game_id": "g", "spawn_preference": "random", "difficulty": "hard", "goals": "explore, learn crafting"},
        {"agentId": "a", "gameId": "g", "spawnPreference": "random", "difficulty": "hard", "sessionGoals": ["explore", "learn crafting"], "new": 1},
        {"agentId": "a", "gameId": "g", "avatarSpec": {"spawnLocation": "random"}, "preferences": {"difficulty": "hard", "goals": "explore,learn crafting"}},
    ],
)  # fmt: skip
def test_an_agent_enters_in_the_words_of_each_description(body: dict[str, object]) -> None:
    entered = requests.enter(body)
    assert replace(entered, wishes=replace(entered.wishes, new_avatar=None)) == requests.Enter("a", "g", WISHES)
    assert entered.wishes.new_avatar == (NewAvatar(spawn_location="random") if "avatarSpec" in body else None)


def test_a_list_may_have_twenty_entries() -> None:
    items = {str(number): 0 for number in range(21)}
    with pytest.raises(BadArgs, match="`items` has at most 20 entries"):
        requests.enter({"agent_id": "a", "game_id": "g", "items": items})
    del items["20"]
    assert requests.enter({"agent_id": "a", "game_id": "g", "items": items}).wishes.items == items
    assert len(requests.enter({"agent_id": "a", "game_id": "g", "goals": ["x"] * 20}).wishes.goals) == 20


def test_a_visit_of_one_step_can_be_wished_for() -> None:
    assert requests.enter({"agent_id": "a", "game_id": "g", "max_steps": 1}).wishes.max_steps == 1


def test_all_wishes_are_understood() -> None:
    body = {
        "agentId": "a",
        "gameId": "g",
        "avatarId": "b2",
        "maxSteps": 50,
        "exitConditions": ["bored"],
        "items": {"crafter:iron": 2},
        "preferences": None,
    }
    assert requests.enter(body).wishes == Wishes(
        avatar="b2", max_steps=50, exit_conditions=("bored",), items={"crafter:iron": 2}
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"agent_id": "a", "session_id": "s", "reason": "done"}, requests.Leave("a", "s", reason="done")),
        ({"agent_id": "a", "game_id": "g"}, requests.Leave("a", game_id="g")),
        (
            {"agentId": "a", "gameId": "g", "destination": "nexus", "mode": "suspend"},
            requests.Leave("a", game_id="g", mode="suspend"),
        ),
        ({"agentId": "a", "sessionId": "s", "destination": "orbit"}, requests.Leave("a", "s", destination="orbit")),
    ],
)
def test_an_agent_leaves_by_session_or_by_game(body: dict[str, object], expected: requests.Leave) -> None:
    assert requests.leave(body) == expected


def test_agents_and_games_are_registered_in_either_case() -> None:
    assert requests.register_agent(
        {"agent_id": "a", "name": "Ada", "capabilities": ["vision"]}
    ) == requests.RegisterAgent("a", "Ada", ("vision",))
    assert requests.register_agent({"agentId": "a"}) == requests.register_agent({"id": "a", "name": None})
    snake = requests.register_game(
        {
            "id": "orbit",
            "name": "Orbit",
            "skill_domains": ["survival", "exploration"],
            "max_agents": 8,
            "bridge_url": "http://x/ws",
            "description": "Planets to dig in.",
            "genre": ["sandbox"],
        }
    )
    assert snake == replace(GAME, active_agents=0, world="")
    assert requests.register_game(game_json(GAME, "B")) == snake


@pytest.mark.parametrize(
    ("decode", "body", "message"),
    [
        (requests.enter, [], "send a JSON object"),
        (requests.enter, {"game_id": "g"}, "`agent_id` is missing"),
        (requests.enter, {"agent_id": 5, "game_id": "g"}, "`agent_id` is a text, not a number"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "spawn": "moon"}, "`spawn` is one of safe, challenging, random, not 'moon'"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "preferences": {"difficulty": 3}}, "`difficulty` is one of easy"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "preferences": "safe"}, "`preferences` is a JSON object, not a text"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "goals": [1]}, "`goals` is a list of texts"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "goals": ["x"] * 21}, "`goals` has at most 20 entries"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "max_steps": True}, "`max_steps` is a whole number"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "max_steps": 0}, "`max_steps` is a whole number"),
        (requests.enter, {"agent_id": "a", "game_id": "g", "items": {"x": -1}}, "`items` says how many"),
        (requests.enter, {"agent_id": "a" * 301, "game_id": "g"}, "`agent_id` has at most 300 characters"),
        (requests.leave, {"agent_id": "a"}, "`session_id` or `game_id`"),
        (requests.leave, {"agent_id": "a", "game_id": "g", "mode": "explode"}, "`mode` is one of dormant"),
        (requests.register_game, {"id": "g", "status": "on fire"}, "`status` is one of available, busy"),
        (requests.register_game, {"id": "g", "skill_domains": ["cooking"]}, "`skill_domains` has 'cooking'"),
        (requests.register_game, {"id": "g", "dimensions": 4}, "`dimensions` is 2 or 3"),
        (requests.register_game, {"id": "g", "multiplayer": "yes"}, "`multiplayer` is true or false, not a text"),
        (requests.register_agent, {}, "`agent_id` is missing"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_answered_with_what_is_wrong(decode, body, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadArgs, match=message):
        decode(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["agent_id", "agentId", "id", "game_id", "gameId", "session_id", "preferences", "goals", "spawn", "items", "maxSteps", "avatarSpec", "status", "skill_domains", "genre"])  # fmt: skip


@given(st.dictionaries(FIELDS, JSON) | JSON)
def test_any_json_is_understood_or_refused(body: object) -> None:
    for decode in (requests.enter, requests.leave, requests.register_agent, requests.register_game):
        try:
            assert isinstance(decode(body), Struct)
        except BadArgs as refused:
            assert refused.message


@given(st.from_regex(r"[a-z]{2,5}(_[a-z]{2,5}){0,3}", fullmatch=True))
def test_every_field_is_found_in_either_case(name: str) -> None:
    assert requests._Fields({camel(name): "x"}).text(name) == "x"
    assert requests._Fields({name: "x"}).text(name) == "x"
