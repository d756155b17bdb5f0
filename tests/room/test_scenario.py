"""agents.json is read strictly: a file with a mistake opens no room, and says where the mistake is."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import BadArgs, CohabitError
from cohabit.features.visits.state import VISITS
from cohabit.registry import find_world, make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import Scenario, check_handle, free_handle, parse_scenario, presets, read_scenario

TOKENS = ["Aa0Bb1Cc2Dd3Ee4Ff5Gg6Hh7Ii8Jj9Kk0Ll1Mm2Nn3Oo4Pp5", "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8Nn7Mm6Ll5Kk4"]
GOOD: dict[str, Any] = {
    "_comment": "two players and a god",
    "scenario": "pvp",
    "world": "tictactoe",
    "partial_intel": True,
    "teams": {"greek": ["athena", "ares"]},
    "seed": 5,
    "stand_in_seconds": 10,
    "agents": [
        {"id": "athena", "token": TOKENS[0], "role": "player", "kingdom_claim": "auto:0",
         "objectives": [{"id": "survive", "kind": "survive"}, {"id": "dominate", "target": "auto:1"}]},
        {"id": "ares", "token": TOKENS[1], "role": "player", "claim": "auto:1", "_note": "the mirror image"},
        {"id": "owl", "role": "observer"},
        {"id": "zeus", "role": "god"},
        {"id": "watcher"},
    ],
}  # fmt: skip


def opened(found: Scenario) -> Room:
    world = make_world(found.world, found.config)
    return Room.create(opening_state(found, world, found.world, "room-1", found.seed or 1, "00" * 16), world, 0)


def test_a_good_file_opens_a_room_with_the_members_it_names() -> None:
    room = opened(parse_scenario(json.dumps(GOOD)))
    members = room.state.members
    assert [(m.id, m.role, m.claim, m.seat, m.team) for m in members.values()] == [
        ("athena", "player", "auto:0", "X", "greek"),
        ("ares", "player", "auto:1", "O", "greek"),
        ("owl", "observer", None, None, None),
        ("zeus", "god", None, None, None),
        ("watcher", None, None, None, None),
    ]
    assert room.state.partial_intel


def with_(**keys: Any) -> dict[str, Any]:
    return {**GOOD, **keys}


def agent(i: int, **keys: Any) -> dict[str, Any]:
    changed = copy.deepcopy(GOOD)
    changed["agents"][i].update(keys)
    return changed


MISTAKES = [
    pytest.param(with_(turn_basd=True), "turn_basd", id="an unknown key"),
    pytest.param(agent(0, kingdom="auto:0"), "agents[0]", id="an unknown key of an agent"),
    pytest.param(agent(1, role="gawd"), "agents[1]", id="an unknown role"),
    pytest.param(agent(1, role="God"), "agents[1]", id="a role in other letters"),
    pytest.param(agent(1, role=""), "agents[1]", id="an empty role"),
    pytest.param(agent(1, role=["god"]), "agents[1].role", id="a role that is a list"),
    pytest.param(agent(1, kind="god"), "agents[1].kind", id="an unknown kind"),
    pytest.param(agent(1, claim="auto"), "agents[1]", id="a claim without a number"),
    pytest.param(agent(1, claim="auto:x"), "agents[1]", id="a claim with no number"),
    pytest.param(agent(1, claim="auto:-1"), "agents[1]", id="a negative claim"),
    pytest.param(agent(1, claim="first:1"), "agents[1]", id="an unknown form of claim"),
    pytest.param(agent(1, claim="id:"), "agents[1]", id="a claim on nothing"),
    pytest.param(agent(1, claim=""), "agents[1]", id="an empty claim"),
    pytest.param(agent(1, claim="auto:0"), "agents[1]", id="a claim made twice"),
    pytest.param(agent(1, kingdom_claim="auto:1"), "agents[1]", id="both names of a claim"),
    pytest.param(agent(1, id="athena"), "agents[1]", id="an id used twice"),
    pytest.param(agent(1, id=" athena "), "agents[1]", id="an id used twice but for blanks"),
    pytest.param(agent(1, id=""), "agents[1]", id="an empty id"),
    pytest.param(agent(1, id="*"), "agents[1]", id="an id that is an address"),
    pytest.param(agent(1, id="team:x"), "agents[1]", id="an id that is a team's address"),
    pytest.param(agent(1, id="a\nb"), "agents[1]", id="an id with a line break"),
    pytest.param(agent(1, id="x" * 65), "agents[1]", id="an id too long"),
    pytest.param(agent(1, id=7), "agents[1].id", id="an id that is a number"),
    pytest.param(agent(1, id=None), "agents[1].id", id="no id"),
    pytest.param(agent(1, token=TOKENS[0]), "agents[1]", id="a token used twice"),
    pytest.param(agent(1, token="secret"), "agents[1]", id="a short token"),
    pytest.param(agent(1, token="a" * 48), "agents[1]", id="a token of one letter"),
    pytest.param(agent(1, token=TOKENS[0][:40] + " é"), "agents[1]", id="a token that is not ASCII"),
    pytest.param(agent(1, token=TOKENS[1][:24] + " " + TOKENS[1][24:]), "agents[1]", id="a token with a blank"),
    pytest.param(agent(1, token=""), "agents[1]", id="an empty token"),
    pytest.param(agent(1, objectives="win"), "agents[1].objectives", id="objectives that are no list"),
    pytest.param(agent(1, objectives=["win"]), "agents[1].objectives[0]", id="an objective that is no object"),
    pytest.param(agent(2, team="roman", id="cato") | {"teams": {"roman": ["nero"]}}, "teams.roman", id="a stranger in a team"),
    pytest.param(with_(teams={"greek": ["athena", "athena"]}), "teams.greek", id="a member twice in a team"),
    pytest.param(with_(teams={"": ["athena"]}), "teams", id="a team without a name"),
    pytest.param(with_(turn_based=True, turn_order=["nobody"]), "turn_order[0]", id="a stranger in the order"),
    pytest.param(with_(turn_based=True, turn_order=[]), "turn_order", id="an empty order"),
    pytest.param(
        with_(turn_based=True, turn_order=["athena", "ares", "athena"]), "turn_order[2]: 'athena' appears twice",
        id="a name twice in the order"),
    pytest.param(agent(1, claim="auto:00"), "agents[1]", id="a claim made twice, with another number of digits"),
    pytest.param(
        with_(teams={"greek": ["athena", "ares"], "roman": ["ares"]}), "teams.roman: 'ares' is in the team 'greek', too",
        id="a member of two teams"),
    pytest.param(with_(turn_based="yes"), "turn_based", id="a word for a truth value"),
    pytest.param(with_(partial_intel=1), "partial_intel", id="a number for a truth value"),
    pytest.param(with_(turn_seconds=0), "turn_seconds", id="no time at all"),
    pytest.param(with_(turn_seconds=-5), "turn_seconds", id="a negative time"),
    pytest.param(with_(turn_seconds=10**17), "turn_seconds", id="a time without end"),
    pytest.param(with_(ticks_per_turn=-1), "ticks_per_turn", id="negative ticks"),
    pytest.param(with_(seed="f" * 33), "seed", id="a seed too large"),
    pytest.param(with_(seed="1_0"), "seed", id="a seed that is not hexadecimal"),
    pytest.param(with_(seed=-1), "seed", id="a negative seed"),
    pytest.param(with_(agents=[]), "agents", id="no agents"),
    pytest.param(with_(agents={}), "agents", id="agents that are no list"),
    pytest.param(with_(agents=["athena"]), "agents[0]", id="an agent that is no object"),
    pytest.param({k: v for k, v in GOOD.items() if k != "agents"}, "agents", id="agents missing"),
    pytest.param([GOOD], "object", id="a list"),
    pytest.param("pvp", "object", id="a word"),
    pytest.param(None, "object", id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "place"), MISTAKES)
def test_every_kind_of_mistake_stops_the_start_and_names_the_place(file: Any, place: str) -> None:
    with pytest.raises(BadArgs) as refused:
        parse_scenario(json.dumps(file), "my/agents.json")
    assert refused.value.message.startswith("my/agents.json")
    assert place in refused.value.message
    assert not any(token in refused.value.message for token in TOKENS)


# -- claims -----------------------------------------------------------------------------------------
def claims(world: str, *claims: str) -> Scenario:
    agents = [{"id": f"m{i}", "claim": claim} for i, claim in enumerate(claims)]
    return parse_scenario(json.dumps({"world": world, "agents": [*agents, {"id": "host", "role": "host"}]}))


@pytest.mark.parametrize(
    ("world", "wanted", "told"),
    [
        ("tictactoe", ("auto:0", "auto:99"), "agents[1]: claim: there is no seat 'auto:99'"),
        ("tictactoe", ("auto:0", "auto:1", "auto:2"), "agents[2]: claim: there is no seat 'auto:2'"),
        ("tictactoe", ("auto:0", "id:X"), "agents[1]: claim: 'id:X' and 'auto:0' of agents[0] are the same seat, X"),
        ("tictactoe", ("id:Z",), "agents[0]: claim: there is no seat 'id:Z'"),
        ("lanterns", ("auto:0", "auto:4"), "lanterns has auto:0 to auto:3 (amber, blue, coral, dove)"),
        ("lounge", ("auto:0",), "agents[0]: claim: 'auto:0' names a seat, but lounge has none"),
        ("kingdoms", ("auto:99",), "kingdoms has auto:0 to auto:15"),
    ],
)
def test_a_claim_that_can_never_be_fulfilled_opens_no_room(world: str, wanted: tuple[str, ...], told: str) -> None:
    found = claims(world, *wanted)
    with pytest.raises(BadArgs) as refused:
        opened(found)
    assert told in refused.value.message


@given(
    st.sampled_from(["tictactoe", "lanterns", "nim"]), st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True)
)
def test_every_player_of_a_room_that_opens_has_the_seat_it_claims_or_can_get_it(world: str, numbers: list[int]) -> None:
    try:
        room = opened(claims(world, *(f"auto:{number}" for number in numbers)))
    except BadArgs:
        assert not set(numbers) <= set(range(find_world(world).spec.seat_range[1]))
        return
    seats = [seat.id for seat in room.state.seats]
    assert seats
    for number, member in zip(numbers, room.state.members.values(), strict=False):
        assert member.seat == (seats[number] if number < len(seats) else None), "a later game may have it"
        assert number < room.world.spec.seat_range[1]


@pytest.mark.parametrize("world", ["kingdoms", "worldbox"])
def test_a_world_that_opens_seats_as_it_runs_such_as_kingdoms_keeps_a_claim_for_later(world: str) -> None:
    room = opened(claims(world, "auto:0", "auto:7"))
    assert room.state.members["m1"].seat is None


@pytest.mark.parametrize("name", ["FactionPlayer", "factionPlayer", "faction player"])
def test_a_role_in_another_spelling_is_suggested_also_one_of_kingdoms(name: str) -> None:
    with pytest.raises(BadArgs) as refused:
        parse_scenario(json.dumps(agent(0, role=name)))
    assert refused.value.did_you_mean is not None
    assert refused.value.did_you_mean[0] == "faction_player"


def test_a_key_in_another_spelling_is_suggested() -> None:
    with pytest.raises(BadArgs, match=r"unknown argument 'turnBased' \(did you mean turn_based"):
        parse_scenario(json.dumps(with_(turnBased=True)))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", '{"agents": [{"id": "a",}]}', "﻿{}", '{"agents": NaN}', '{"agents": [{"id": "\\ud800"}]}', "[" * 100_000,
        '{"x":' * 700 + "1" + "}" * 700,
        '{"agents": [{"id": "a", "role": "observer", "role": "god"}]}',
        '{"agents": [{"id": "a"}], "agents": [{"id": "b", "role": "god"}]}',
        '{"agents": [{"id": "a", "objectives": [{"n": 1e999}]}]}',
        '{"agents": [{"id": "a", "objectives": [{"n": 123456789012345678901234567890}]}]}',
    ],
)  # fmt: skip
def test_a_broken_text_is_refused_and_makes_nobody_a_god(text: str) -> None:
    with pytest.raises(BadArgs) as refused:
        parse_scenario(text, "agents.json")
    assert refused.value.message.startswith("agents.json")


def test_a_file_that_is_not_utf8_or_not_there_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes('{"agents": [{"id": "Zoë"}]}'.encode("latin-1"))
    for name in ("latin.json", "missing.json", "."):
        with pytest.raises(BadArgs) as refused:
            read_scenario(str(tmp_path / name))
        assert str(tmp_path / name) in refused.value.message


def test_a_preset_that_is_misspelt_gets_near_names() -> None:
    with pytest.raises(BadArgs) as refused:
        read_scenario("pvpp")
    assert not presets() or refused.value.did_you_mean


def test_keys_that_begin_with_an_underscore_are_comments_everywhere() -> None:
    found = parse_scenario('{"_a": 1, "agents": [{"id": "x", "_b": {"role": "god"}}]}')
    assert found.agents[0].role is None


def test_an_agent_without_a_role_watches() -> None:
    room = opened(parse_scenario('{"world": "nim", "agents": [{"id": "x"}]}'))
    assert room.state.members["x"].role_name == "agent"


@pytest.mark.parametrize(("seed", "kept"), [(5, f"{5:032x}"), ("5", f"{5:032x}"), ("FF", f"{255:032x}"),
                                            ("f" * 32, "f" * 32), (2**64 - 1, f"{2**64 - 1:032x}"), ("0" * 31 + "1", f"{1:032x}")])  # fmt: skip
def test_a_seed_is_kept_as_32_hexadecimal_digits(seed: int | str, kept: str) -> None:
    found = parse_scenario(json.dumps({**GOOD, "seed": seed}))
    assert found.seed == kept
    assert opened(found).state.seed == kept


def test_the_shipped_presets_are_good_files() -> None:
    assert "pvp" in presets()
    for name in presets():
        found = read_scenario(name)
        assert found.agents
        assert all(a.token is None for a in found.agents), "a token that everybody can read is no token"


# -- the Nexus ----------------------------------------------------------------------------------------
def test_a_scenario_opens_its_room_to_the_nexus_as_the_command_does() -> None:
    closed, plain = (
        opened(parse_scenario(json.dumps(GOOD))),
        opened(parse_scenario(json.dumps({**GOOD, "nexus": True}))),
    )
    told = opened(parse_scenario(json.dumps({**GOOD, "nexus": {"description": "Three in a row", "capacity": 2}})))
    assert VISITS.read(closed.state).nexus is None
    closed.state.members["zeus"].role = "host"
    closed.call("zeus", "open_to_nexus", {}, at=1)
    assert VISITS.read(plain.state).nexus == VISITS.read(closed.state).nexus
    closed.call("zeus", "open_to_nexus", {"description": "Three in a row", "capacity": 2}, at=1)
    assert VISITS.read(told.state).nexus == VISITS.read(closed.state).nexus


def test_the_nexus_itself_is_no_game() -> None:
    with pytest.raises(BadArgs, match="nexus: this room is the Nexus itself"):
        opened(parse_scenario(json.dumps({"world": "nexus", "nexus": True, "agents": [{"id": "ann"}]})))
    for wrong in ({"capacity": 0}, {"size": 3}, "yes"):
        with pytest.raises(BadArgs, match="nexus"):
            parse_scenario(json.dumps({**GOOD, "nexus": wrong}))


# -- any mistake at all -------------------------------------------------------------------------------
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
    | st.sampled_from(["god", "player", "auto:0", "id:X", "athena", "*", TOKENS[0], "human", "agent", "nim"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["id", "role", "token", "agents", "_x", "claim"]) | st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for key, item in inner for p in places(item, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A good file with one to three changes: a value replaced, removed, renamed or doubled."""
    file: Any = copy.deepcopy(GOOD)
    for _ in range(draw(st.integers(1, 3))):
        found = [p for p in places(file) if p]
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        holder: Any = file
        for step in way:
            holder = holder[step]
        how = draw(st.sampled_from(["replace", "remove", "rename", "double"]))
        if how == "replace":
            holder[last] = draw(ODD)
        elif how == "remove":
            del holder[last]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        else:
            holder[draw(st.text(max_size=6)) if how == "rename" else f"{last}x"] = holder.pop(last)
    return file


def gods_written(file: Any) -> set[str]:
    """The agents that the file itself calls a god."""
    agents = file.get("agents") if isinstance(file, dict) else None
    return {
        str(a["id"]).strip()
        for a in (agents if isinstance(agents, list) else [])
        if isinstance(a, dict) and a.get("role") == "god" and "id" in a
    }


@settings(max_examples=examples(100))
@given(mutated())
def test_a_mutated_file_opens_a_room_or_is_refused_and_makes_nobody_a_god_by_mistake(file: Any) -> None:
    try:
        found = parse_scenario(json.dumps(file))
    except BadArgs as refused:
        assert refused.message
        return
    try:
        room = opened(found)
    except CohabitError as refused:  # a world that is not there, or whose config is wrong
        assert refused.code in ("BAD_ARGS", "UNKNOWN_ASSET")
        return
    gods = {m.id for m in room.state.members.values() if "act_global" in m.held or "read_all" in m.held}
    assert gods - {m.id for m in room.state.members.values() if m.role in ("observer", "narrator")} <= gods_written(
        file
    )
    assert room.snapshot().encode()


@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")))
def test_no_text_at_all_raises_anything_but_bad_args(text: str) -> None:
    try:
        assert isinstance(parse_scenario(text), Scenario)
    except BadArgs as refused:
        assert refused.message


def test_a_clock_world_begins_at_the_speed_its_scenario_gives_and_other_worlds_have_none() -> None:
    members = [{"id": "zeus", "role": "god"}]
    quick = parse_scenario(json.dumps({"world": "lanterns", "speed": "x5", "agents": members}))
    assert opened(quick).state.speed == "x5"
    with pytest.raises(BadArgs, match="speed: tictactoe is not a real-time world"):
        opened(parse_scenario(json.dumps({**GOOD, "speed": "x5"})))


def test_a_speed_that_the_world_does_not_have_opens_no_room_and_names_those_it_has() -> None:
    found = parse_scenario(json.dumps({"world": "lanterns", "speed": "x7", "agents": [{"id": "zeus", "role": "god"}]}))
    with pytest.raises(BadArgs, match=r"speed: 'x7' is not one of x0.5, x1, x2, x5, x10, x20"):
        opened(found)


def test_a_taken_handle_gets_a_number_and_stays_within_the_length_limit() -> None:
    taken = {"ada", "ada-2", "x" * 64}
    assert free_handle("bob", taken.__contains__) == "bob"
    assert free_handle("ada", taken.__contains__) == "ada-3"
    check_handle(free_handle("x" * 64, taken.__contains__))
