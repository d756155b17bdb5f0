"""The bridge's names for permissions, roles and errors, in rooms and in grants."""

import json
from typing import Any

import msgspec
import pytest

from cohabit.errors import every_error
from cohabit.house.calls.command_list import list_commands
from cohabit.house.house import House
from cohabit.house.store.identities import new_identity
from cohabit.model.grant import ROLES, alias_families, capabilities, role_named
from cohabit.protocols.worldbox.names import PERMISSIONS, SPEEDS, code_from_wire, code_on_wire
from cohabit.registry import load_protocol_names, make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario, parse_scenario

from .bridging import BOX

WIRE_ORDER = [
    "read_all", "read_own_faction", "action_global", "action_faction", "control_world", "send_message",
    "recv_message", "send_broadcast", "advance_time",
]  # fmt: skip
ROLE_TABLE = {
    "god": WIRE_ORDER,
    "faction_player": ["read_own_faction", "action_faction", "send_message", "recv_message", "advance_time"],
    "observer": ["read_all", "read_own_faction", "send_message", "recv_message"],
    "narrator": ["read_all", "read_own_faction", "send_message", "recv_message", "send_broadcast"],
}
GOD = {"id": "zeus", "role": "god"}
ANN = {"id": "ann", "role": "player", "kingdom_claim": "auto:1", "team": "blue"}
BOB = {"id": "bob", "role": "player", "kingdom_claim": "auto:0"}


def room_with(*agents: dict[str, Any], world: str = BOX, **keys: Any) -> Room:
    load_protocol_names()
    found = parse_scenario(json.dumps({"world": world, "agents": agents, **keys}))
    made = make_world(world, {})
    return Room.create(opening_state(found, made, world, "realm", 7, "00" * 16), made, 0)


def ask(room: Room, who: str, name: str, **args: Any) -> Any:
    return msgspec.to_builtins(room.call(who, name, args, at=1))


@pytest.mark.parametrize("role", ROLE_TABLE)
def test_whoami_lists_exactly_the_bridges_permissions_of_a_role_in_the_bridges_order(role: str) -> None:
    me = ask(room_with({"id": "me", "role": role}), "me", "whoami")
    assert me["permissions"] == ROLE_TABLE[role]
    assert (me["agent_id"], me["role"]) == ("me", role)


def test_the_nine_permissions_of_the_bridge_come_in_its_order() -> None:
    assert list(PERMISSIONS) == WIRE_ORDER
    assert alias_families()["worldbox"] == PERMISSIONS


@pytest.mark.parametrize("alias", ["player", "faction", "faction_player"])
def test_each_name_of_the_player_role_is_faction_player_on_the_bridge(alias: str) -> None:
    room = room_with({"id": "me", "role": alias})
    assert room.state.members["me"].role_name == role_named(alias) == "player"
    assert ask(room, "me", "whoami")["role"] == "faction_player"
    assert [agent["role"] for agent in ask(room, "me", "session_info")["agents"]] == ["faction_player"]
    assert [agent["role"] for agent in ask(room, "me", "objective_status")["agents"]] == ["faction_player"]


@pytest.mark.parametrize("name", PERMISSIONS)
def test_every_permission_of_the_bridge_can_be_granted_by_its_name(name: str) -> None:
    room = room_with({"id": "ann", "role": "agent"}, GOD, sealed=False)
    ask(room, "zeus", "grant", member="ann", may=[name])
    assert room.state.members["ann"].held == capabilities([name]) == PERMISSIONS[name]
    assert ask(room, "ann", "whoami")["permissions"] == [name]


def test_an_answer_holds_what_other_rooms_answer_and_the_bridges_names_beside_it() -> None:
    members = [ANN, BOB, GOD]
    bridge, plain = room_with(*members), room_with(*members, world="nim")
    for name, added in (
        ("whoami", {"agent_id", "permissions", "claimed_kingdom_id", "notice"}),
        ("session_info", {"agents", "agent_count", "legacy_mode", "speed", "notice"}),
        ("objective_status", {"agents", "kingdoms"}),
    ):
        assert ask(bridge, "ann", name).keys() - ask(plain, "ann", name).keys() == added
        assert ask(plain, "ann", name).keys() <= ask(bridge, "ann", name).keys()


def test_a_claim_is_the_id_of_the_kingdom_that_was_bound() -> None:
    room = room_with(BOB, ANN, GOD)
    assert ask(room, "ann", "whoami")["claimed_kingdom_id"] == 2
    lines = {agent["id"]: agent.get("claimed_kingdom_id") for agent in ask(room, "ann", "session_info")["agents"]}
    assert lines == {"ann": 2, "bob": 1, "zeus": None}
    assert ask(room, "ann", "objective_status")["agents"][1]["claimed_kingdom_id"] == 2


def test_a_room_with_one_agent_called_legacy_is_in_legacy_mode() -> None:
    legacy, one = {"id": "legacy", "role": "god"}, {"id": "one", "role": "god"}
    for agents, expected in (([legacy], True), ([one], False), ([legacy, one], False)):
        room = room_with(*agents)
        assert ask(room, agents[0]["id"], "session_info")["legacy_mode"] is expected
        assert ask(room, agents[0]["id"], "health")["multi_agent"] is not expected


def test_a_member_without_the_right_to_the_roster_gets_the_count_of_agents_only() -> None:
    room = room_with({"id": "ann", "role": "player"}, GOD)
    ask(room, "zeus", "narrow", member="ann", may=["read_roster"])
    info = ask(room, "ann", "session_info")
    assert (info["agents"], info["members"], info["agent_count"]) == ([], [], 2)


def test_rooms_of_other_worlds_do_not_have_the_bridges_commands_names_and_speeds() -> None:
    room = room_with({"id": "ann", "role": "player"}, world="lanterns")
    assert "health" not in room.commands
    assert room.commands.named("whoami").tool_name == "whoami"
    assert "agent_id" not in ask(room, "ann", "whoami")
    assert "slow_mo" not in [speed["id"] for speed in ask(room, "ann", "list_speeds")["items"]]


def test_the_speeds_are_those_of_the_game() -> None:
    listed = ask(room_with(GOD), "zeus", "list_speeds")
    assert {speed["id"]: int(speed["multiplier"] * 1000) for speed in listed["items"]} == dict(SPEEDS)
    assert ask(room_with(GOD, speed="slow_mo"), "zeus", "list_speeds")["current"] == "slow_mo"


def test_every_code_has_one_name_on_the_wire_and_is_found_again_by_it() -> None:
    codes = [cls.code for cls in every_error()]
    assert len({code_on_wire(code) for code in codes}) == len(codes)
    assert all(code_from_wire(code_on_wire(code)) == code for code in codes)
    assert code_on_wire("SCOPE_VIOLATION") == "FACTION_SCOPE_VIOLATION"
    assert code_on_wire("WORLD_TIMEOUT") == "MAIN_THREAD_TIMEOUT"


@pytest.mark.parametrize("worlds", [[BOX, "nim"], ["nim", BOX]], ids=["bridge first", "bridge second"])
async def test_tools_offered_for_all_rooms_fit_rooms_with_and_without_the_bridge(worlds: list[str]) -> None:
    async with House.open() as house:
        ann = new_identity("ann")
        credential = house.identify(house.identities.temporary(ann, None, house.clock.now()))
        for i, world in enumerate(worlds):
            me = AgentSpec(id="ann", role="player", claim="auto:0", identity=ann.id)
            await house.create_room(Scenario(scenario="x", world=world, agents=[me, AgentSpec(id="bob")]), f"room-{i}")
        commands = {info.name: info for info in list_commands(house.services, credential, None)}
        for name in ("whoami", "session_info", "objective_status"):
            assert commands[name].tool_name == name
            schema = commands[name].output_schema or {}
            required = (
                schema["$defs"][schema["$ref"].rsplit("/", 1)[1]]["required"]
                if "$ref" in schema
                else schema["required"]
            )
            for room in ("room-0", "room-1"):
                result = msgspec.to_builtins(await house.call(credential, room, name))
                assert set(required) <= result.keys()


def test_the_aliases_hide_no_role_of_ours() -> None:
    assert all(role_named(role) == role for role in ROLES)
