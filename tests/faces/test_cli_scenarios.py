"""The scenarios that ship: who is in them, and that each can be opened and watched."""

import argparse
import json
import re
from pathlib import Path

import pytest

from cohabit.errors import BadArgs
from cohabit.faces.cli.plans import let_bots_play, plan_for, plan_of, put_under, world_scenario
from cohabit.faces.cli.up import open_room, up_options
from cohabit.features.visits.state import VISITS
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.registry import BRAINS
from cohabit.scenario import AgentSpec, presets, read_scenario
from cohabit.testing.clock import FakeClock

PLAYER, GOD = "player", "god"
SEED_PRESETS = {
    "pvp": (True, {
        "athena": (PLAYER, "auto:0", [("survive", "survive", None), ("dominate", "wipe_kingdom", "auto:1")]),
        "ares": (PLAYER, "auto:1", [("survive", "survive", None), ("dominate", "wipe_kingdom", "auto:0")]),
    }),
    "coop": (False, {
        "ecology": (GOD, None, [("biodiversity", "freeform", None)]),
        "civilization": (GOD, None, [("growth", "reach_pop", "1500")]),
        "disasters": (GOD, None, [("drama", "freeform", None)]),
    }),
    "hierarchical": (True, {
        "the_dm": (GOD, None, [("drive_narrative", "freeform", None)]),
        "queen_aedra": (PLAYER, "auto:0", [("claim_throne", "freeform", None)]),
        "king_corvax": (PLAYER, "auto:1", [("trade_empire", "freeform", None)]),
        "the_chronicler": ("narrator", None, [("tell_the_tale", "freeform", None)]),
    }),
    "sandbox": (False, {"alpha": (GOD, None, []), "beta": (GOD, None, [])}),
}  # fmt: skip


@pytest.mark.parametrize("name", SEED_PRESETS)
def test_a_preset_has_the_members_roles_claims_and_objectives_of_the_bridge(name: str) -> None:
    fog, members = SEED_PRESETS[name]
    found = read_scenario(name)
    assert (found.scenario, found.partial_intel, found.turn_based) == (name, fog, False)
    assert {
        a.id: (a.role, a.claim, [(o["id"], o["kind"], o.get("target")) for o in a.objectives]) for a in found.agents
    } == members


@pytest.mark.parametrize("name", presets())
def test_a_shipped_scenario_says_what_it_is_and_holds_no_token(name: str) -> None:
    raw = json.loads(presets()[name].read_text(encoding="utf-8"))
    assert raw["_comment"]
    assert all("token" not in agent for agent in raw["agents"])
    assert all(agent.get(key) in (None, *BRAINS) for agent in raw["agents"] for key in ("brain", "stand_in"))


@pytest.mark.parametrize("name", presets())
async def test_a_shipped_scenario_opens_and_seats_every_member_with_a_claim(name: str) -> None:
    async with House.open(Settings()) as house:
        room, tokens = await house.create_room(read_scenario(name))
        members = house.rooms[room].room.state.members
        assert set(tokens) == set(members)
        assert all((m.seat is not None) == (m.claim is not None) for m in members.values())
        assert house.rooms[room].room.state.partial_intel == (read_scenario(name).partial_intel or False)


@pytest.mark.parametrize("name", [*SEED_PRESETS, "demo"])
def test_the_scenarios_of_the_bridge_and_the_demo_are_worlds_of_kingdoms(name: str) -> None:
    assert read_scenario(name).world == "kingdoms"


@pytest.mark.parametrize("name", ["coop", "sandbox", "hierarchical", "pvp"])
def test_every_member_of_a_scenario_of_the_bridge_is_played_until_somebody_comes(name: str) -> None:
    agents = read_scenario(name).agents
    assert agents
    assert all(agent.brain for agent in agents)


def test_the_demo_has_kings_a_chronicler_a_host_and_an_observer_and_never_ends() -> None:
    found = read_scenario("demo")
    assert [a.role for a in found.agents] == ["host", PLAYER, PLAYER, PLAYER, "narrator", "observer"]
    assert found.rematch_seconds
    assert found.speed == "x2"


def test_another_world_under_a_scenario_takes_its_members_and_not_its_brains() -> None:
    rivals, gods, demo = read_scenario("pvp"), read_scenario("coop"), read_scenario("demo")
    for scenario in (rivals, gods, demo):
        put_under(scenario, "nim")
    assert (demo.world, demo.config, demo.speed) == ("nim", {}, "x1")
    assert [a.brain for a in rivals.agents] == ["random", "random"]
    assert [a.brain for a in gods.agents] == [None, None, None]


@pytest.mark.parametrize("name", [n for n in presets() if any(a.brain for a in read_scenario(n).agents)])
async def test_a_scenario_with_built_in_players_can_be_watched_at_once(name: str) -> None:
    async with House.open(Settings()) as house:
        house.bots.step_ms = 0
        room, _ = await house.create_room(read_scenario(name))
        runner = house.rooms[room]
        while not any(line.entry.via for line in runner.history.recent):
            await runner.changed_since(runner.version, house.clock.now() + 10_000)
        assert {line.entry.via for line in runner.history.recent} <= {
            None,
            *(agent.brain for agent in read_scenario(name).agents),
        }
        await house.bots.close()
        runner.time.stop()
        await runner.drained()  # the world's thread is idle when the house closes


async def test_a_game_of_bots_is_followed_by_another_so_that_a_visitor_has_something_to_see() -> None:
    args = _parsed("tictactoe", "--bots")
    clock = FakeClock()
    async with House.open(Settings(), clock=clock) as house:
        house.bots.step_ms = 0
        plan = plan_of(args, Settings())
        await open_room(house, plan, args)
        state = house.rooms["tictactoe"].room.state
        while state.games < 2:
            await clock.advance(1000)
        assert not house.rooms["tictactoe"].room.is_over()
        await house.bots.close()


@pytest.mark.parametrize(
    "agents", [read_scenario(name).agents for name in presets()] + [world_scenario("nim", []).agents]
)
def test_no_handle_of_a_ready_made_room_reads_as_the_person_who_reads_it(agents: list[AgentSpec]) -> None:
    assert not {"you", "me", "everybody", "house"} & {agent.id for agent in agents}


@pytest.mark.parametrize("name", presets())
def test_a_ready_made_room_in_which_bots_play_every_seat_has_a_rematch(name: str) -> None:
    found = plan_of(_parsed(name), Settings()).scenario
    brains = [agent.brain for agent in found.agents if agent.claim is not None]
    assert (found.rematch_seconds is not None) is (bool(brains) and None not in brains)


@pytest.mark.parametrize(
    ("brains", "more", "rematch"),
    [
        (["random", "random"], {}, 15),
        (["random", "random"], {"rematch_seconds": 40}, 40),
        (["random", None], {}, None),
        (["random", "ollama:llama3"], {}, None),
    ],
)
def test_a_game_of_bots_from_a_scenario_file_is_followed_by_another(
    tmp_path: Path, brains: list[str | None], more: dict[str, int], rematch: int | None
) -> None:
    agents = [{"id": f"p{n}", "role": "player", "claim": f"auto:{n}", "brain": brain} for n, brain in enumerate(brains)]
    file = tmp_path / "table.json"
    file.write_text(json.dumps({"world": "nim", "agents": agents, **more}))
    assert plan_of(_parsed(str(file)), Settings()).scenario.rematch_seconds == rematch


def test_a_scenario_that_says_when_a_rematch_follows_keeps_it() -> None:
    assert plan_of(_parsed("demo", "--bots"), Settings()).scenario.rematch_seconds == 15
    assert plan_of(_parsed("nim"), Settings()).scenario.rematch_seconds is None


def _parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    up_options(parser)
    return parser.parse_args([*words, "--links"])


def test_a_world_alone_gets_a_player_for_each_seat_and_you_as_host() -> None:
    found = world_scenario("nim", [])
    assert [(a.id, a.role, a.claim) for a in found.agents] == [
        ("host", "host", None), ("player-1", PLAYER, "auto:0"), ("player-2", PLAYER, "auto:1"),
    ]  # fmt: skip
    assert [a.id for a in world_scenario("nim", ["ann", " bob"]).agents] == ["host", "ann", "bob"]


def test_players_are_agents_unless_an_option_names_them_as_people() -> None:
    def players(*words: str) -> list[tuple[str, str, str | None]]:
        agents = plan_of(_parsed(*words), Settings()).scenario.agents
        return [(a.id, a.kind, a.role) for a in agents if a.claim is not None]

    both = [("ann", "human", "human"), ("ben", "human", "human")]
    assert players("nim", "--people", "ann, ben") == players("--world", "nim", "--people", "ann,ben") == both
    assert players("nim", "--players", "ann,bot", "--people", "ann") == [both[0], ("bot", "agent", PLAYER)]
    with pytest.raises(BadArgs, match="people"):
        players("pvp", "--people", "zoe")


def test_nothing_plays_for_a_silent_player_unless_the_scenario_or_an_option_says_so() -> None:
    quiet = plan_of(_parsed("nim"), Settings()).scenario.agents
    assert [(a.brain, a.stand_in) for a in quiet] == [(None, None)] * 3
    played = plan_of(_parsed("nim", "--bots"), Settings()).scenario.agents
    assert [a.brain for a in played] == [None, "random", "random"]


def test_in_a_house_inside_a_client_every_other_seat_is_played() -> None:
    scenario = plan_for("nim").scenario
    let_bots_play(scenario, "player-2")
    assert {a.id: a.brain for a in scenario.agents} == {"host": None, "player-1": "random", "player-2": None}


def test_a_room_is_named_after_its_scenario_so_that_a_second_start_finds_it() -> None:
    assert plan_for("pvp").room == "pvp"
    assert plan_for("nim").room == "nim"
    assert plan_for("pvp", "my-room").room == "my-room"


def test_a_folder_with_the_name_of_a_world_or_a_scenario_is_not_in_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("nim", "pvp"):
        (tmp_path / name).mkdir()
        assert plan_for(name).room == name


@pytest.mark.parametrize(("world", "fog"), [("nim", False), ("lanterns", False), ("kingdoms", True)])
def test_a_world_opened_alone_has_fog_where_the_scenario_decides_about_it(world: str, fog: bool) -> None:
    assert world_scenario(world, []).partial_intel is fog


# -- several rooms at once ------------------------------------------------------------------------
async def test_the_nexus_opens_with_games_that_agents_can_travel_to() -> None:
    args = _parsed("nexus")
    async with House.open(Settings()) as house:
        plan = plan_of(args, Settings())
        greeting = await open_room(house, plan, args)
        assert set(house.rooms) == {"nexus", "wilderness", "frontier"}
        text = "\n".join(greeting("http://house", ()))
        for room in ("wilderness", "frontier"):
            assert VISITS.read(house.rooms[room].room.state).nexus is not None
            assert f"http://house/?room={room}#" in text
        ada = house.identify(re.findall(r"room=nexus#(\w+)", text)[0])
        listed = await house.call(ada, "nexus", "list_games")
        assert [(game["id"], game["status"]) for game in listed["games"]] == [
            ("frontier", "available"),
            ("wilderness", "available"),
        ]
        again = "\n".join((await open_room(house, plan, args))("http://house", ()))
        assert "`cohabit links wilderness --renew NAME` makes one" in again


@pytest.mark.parametrize(
    ("rooms", "said"),
    [
        (["nosuch"], "no scenario or world"),
        (["nexus"], "has `rooms` of its own"),
        (["wilderness", "wilderness"], "listed twice"),
        (["main.json"], "would be the room main, too"),
    ],
)
def test_rooms_that_cannot_be_opened_with_a_scenario_are_refused(tmp_path: Path, rooms: list[str], said: str) -> None:
    file = tmp_path / "main.json"
    file.write_text(json.dumps({"world": "nim", "rooms": rooms, "agents": [{"id": "ann"}]}), encoding="utf-8")
    with pytest.raises(BadArgs, match=said):
        plan_of(_parsed(str(file)), Settings())


async def test_a_mistake_in_one_of_several_files_leaves_no_room_and_says_which_file_it_is_in(tmp_path: Path) -> None:
    wrong = {"world": "nim", "config": {"stones": "many"}, "agents": [{"id": "bob"}]}
    (tmp_path / "side.json").write_text(json.dumps(wrong), encoding="utf-8")
    file = tmp_path / "main.json"
    file.write_text(json.dumps({"world": "nim", "rooms": ["side.json"], "agents": [{"id": "ann"}]}), encoding="utf-8")
    args, settings = _parsed(str(file)), Settings(data=str(tmp_path / "data"))
    async with House.open(settings) as house:
        with pytest.raises(BadArgs) as refused:
            await open_room(house, plan_of(args, settings), args)
        assert "side.json: config of nim: stones must be" in refused.value.message
        assert set(house.rooms) == set()
    (tmp_path / "side.json").write_text(json.dumps({**wrong, "config": {}}), encoding="utf-8")
    async with House.open(settings) as house:
        text = "\n".join((await open_room(house, plan_of(args, settings), args))("http://house", ()))
        assert all(f"http://house/?room={room}#" in text for room in ("main", "side"))


def test_a_file_among_the_rooms_is_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "side.json").write_text(json.dumps({"world": "nim", "agents": [{"id": "bob"}]}), encoding="utf-8")
    file = tmp_path / "main.json"
    file.write_text(json.dumps({"world": "nim", "rooms": ["side.json"], "agents": [{"id": "ann"}]}), encoding="utf-8")
    [side] = plan_of(_parsed(str(file)), Settings()).further
    assert (side.room, side.scenario.agents[0].id) == ("side", "bob")
