"""The REST routes of the Nexus, driven over HTTP by a client for each of its three descriptions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import AskerError, Quarantined, every_error
from cohabit.faces.serve import serve, side_servers
from cohabit.features.bodies.state import avatars_in
from cohabit.features.visits.state import VISITS
from cohabit.house.house import House
from cohabit.house.running.calls import SystemCall
from cohabit.house.settings import Settings
from cohabit.model.admission import EntryPolicy
from cohabit.nexus.server import MAX_BODY, STATUS, NexusServer, nexus_app
from cohabit.scenario import AgentSpec, OpenedToNexus, Scenario
from cohabit.testing.clock import FakeClock

from ..faces.test_cli_house import running  # noqa: TID252 - two suites start the program
from ..ports import free_port  # noqa: TID252
from .wanderers import Client, MultiGame, Nexus, Reference, Refused

CAVES = f"{Path(__file__).parents[1] / 'worlds_samples' / 'bodies' / 'caves.py'}:Caves"
CRAFTER = "crafter_shared"
STEP = "go", {"place": "pit"}  # in the caves
STEPS = ["move_left", "noop", "do", "move_right"]


class Served:
    """A house with a Nexus and two games, and where it listens."""

    def __init__(self, house: House, url: str, tokens: dict[str, str]) -> None:
        self.house, self.url, self.tokens = house, url, tokens

    def as_(self, kind: type[Any], who: str) -> Any:
        return kind(self.url, who, self.tokens.get(who))

    async def call(self, who: str, room: str, command: str, args: Any = None) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), room, command, args)

    async def ask(self, method: str, path: str, who: str | None = None, **more: Any) -> httpx2.Response:
        headers = {"authorization": f"Bearer {self.tokens[who]}"} if who is not None else {}
        async with httpx2.AsyncClient(base_url=self.url, timeout=120, verify=False) as http:  # no TLS
            return await http.request(method, path, headers=headers | more.pop("headers", {}), **more)


@asynccontextmanager
async def serving(house: House) -> AsyncIterator[str]:
    """The house with all its listeners; the address of its Nexus."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(serve(house, ready=ready.set_result, mcp=False, beside=side_servers(house)))
    await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
    try:
        yield f"http://127.0.0.1:{house.settings.nexus_port}"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def create_rooms(
    house: House, entry: EntryPolicy | None = None, guests: bool = False, world: str = CAVES
) -> dict[str, str]:
    """A Nexus and two games that are open to it. Returns the tokens of its members."""
    host = AgentSpec(id="hostess", role="host")
    camp, glade = (
        Scenario(agents=[host], world=world, nexus=opened) for opened in (OpenedToNexus("A camp in the wild", 2), True)
    )
    _, tokens = await house.create_room(camp, "camp", seed=1)
    await house.create_room(glade, "glade", seed=2)
    people = [AgentSpec(id=name, role="player") for name in ("ann", "bob", "cleo")]
    keeper = AgentSpec(id="keeper", role="host")
    lobby = Scenario(agents=[*people, keeper], world="nexus", entry=entry, guests=guests)
    _, known = await house.create_room(lobby, "lobby", seed=3)
    return {**tokens, **known}


def settings(folder: Path | None = None) -> Settings:
    data = str(folder) if folder is not None else ""
    return Settings(port=free_port(), bridge_port=0, nexus_port=free_port(), data=data)


@asynccontextmanager
async def served(entry: EntryPolicy | None = None, guests: bool = False, world: str = CAVES) -> AsyncIterator[Served]:
    async with House.open(settings(), clock=FakeClock()) as house:
        tokens = await create_rooms(house, entry, guests, world)
        async with serving(house) as url:
            yield Served(house, url, tokens)


# -- one journey for each description -------------------------------------------------------------
async def test_an_agent_travels_by_the_multi_game_protocol() -> None:
    async with served(world=CRAFTER) as nexus:
        ann = nexus.as_(MultiGame, "ann")
        await ann.register()
        assert await ann.games() == {"camp": "available", "glade": "available"}
        assert "health 9" in await ann.enter("camp")
        for action in STEPS:
            await ann.play(action)
        first = ann.session
        steps, gained, total = await ann.leave()
        assert (steps, gained, total) == (4, {}, 4)  # nothing was achieved
        await ann.enter("glade")
        assert ann.session != first
        await ann.play("noop")
        assert (await ann.leave())[0::2] == (1, 5)


async def test_steps_and_exit_conditions_are_enforced_and_the_reply_says_which() -> None:
    async with served() as nexus:
        bob = nexus.as_(Nexus, "bob")
        await bob.register()
        wishes = {"maxSteps": 1, "exitConditions": ["health < 10%", "bored"]}
        entered = await bob.send("POST", "/transit/enter", {"agentId": "bob", "gameId": "camp", "preferences": wishes})
        assert entered["maxSteps"] == 1
        assert entered["exitConditions"] == {"enforced": ["health < 10%"], "notes": ["bored"]}
        bob.play_url, bob.play_token = entered["bridgeUrl"], entered["token"]
        await bob.play(*STEP)
        await nexus.house.rooms.connectors["lobby"].transit.at_rest()  # type: ignore[attr-defined]
        seen = await bob.observe()
        assert (seen["agent"]["currentGameId"], seen["recentSessions"][0]["exitReason"]) == (None, "max_steps")


async def test_an_agent_that_leaves_for_another_game_plays_there_with_the_session_and_token_of_the_reply() -> None:
    async with served() as nexus:
        for kind, who, exit_, session, game, url in (
            (Nexus, "bob", "/transit/exit", "sessionId", "gameId", "bridgeUrl"),
            (Reference, "cleo", "/transit/exit", "session_id", "game_id", "bridge_url"),
            (MultiGame, "ann", "/nexus/transit/exit", "session_id", "game_id", "bridge_url"),
        ):
            agent = nexus.as_(kind, who)
            await agent.register()
            await agent.enter("camp")
            key = "agentId" if kind is Nexus else "agent_id"
            body = {key: who, session: agent.session, "destination": "glade"}
            left = await agent.send("POST", exit_, body)
            onward = left["onward"]
            assert (onward["success"], onward[game]) == (True, "glade")
            agent.play_url, agent.play_token, agent.session = onward[url], onward["token"], onward[session]
            await agent.play(*STEP)
            left = await agent.send("POST", exit_, {**body, session: agent.session, "destination": "moon"})
            refused = {"success": False, game: "moon", "error": "unknown game 'moon'; the games are: camp, glade"}
            assert left["onward"] == refused
            seen = left["nexusObservation" if kind is Nexus else "nexus_observation"]
            assert seen["onward"] == refused


async def test_an_agent_travels_by_the_specification_in_camel_case() -> None:
    async with served(world=CRAFTER) as nexus:
        bob = nexus.as_(Nexus, "bob")
        await bob.register()
        assert (await bob.identity())["totalSteps"] == 0
        assert await bob.games() == {"camp": "available", "glade": "available"}
        assert (await bob.game("camp"))["maxAgents"] == 2
        assert (await bob.observe())["suggestedGames"][0]["gameName"] == "Crafter, shared"
        assert await bob.enter("camp") == {}
        assert (await bob.identity())["currentGameId"] == "camp"
        assert (await bob.game("camp"))["activeAgents"] == 1
        for action in STEPS:
            await bob.play(action)
        package = await bob.leave()
        assert package["sessionStats"]["steps"] == package["totalSteps"] == 4
        assert (package["skillGains"], package["skills"]["survival"]) == ({}, 0)  # nothing was achieved
        after = await bob.observe()
        assert after["agent"]["gamesVisited"] == ["camp"]
        assert after["agent"]["currentGameId"] is None
        assert after["recentSessions"][0]["skillGains"] == package["skillGains"]


async def test_an_agent_travels_by_the_reference_server() -> None:
    async with served() as nexus:
        cleo = nexus.as_(Reference, "cleo")
        await cleo.register()
        assert await cleo.games() == {"camp": "available", "glade": "available"}
        assert (await cleo.observe())["suggested_games"][0]["game_id"] in ("camp", "glade")
        await cleo.enter("glade")
        for _ in range(4):
            await cleo.play(*STEP)
        package = await cleo.leave("glade")
        assert package["total_steps"] == 4
        assert package["skills"]["exploration"] > 0
        seen = await cleo.observe()
        assert seen["agent"] == seen["agent"] | {"total_steps": 4, "games_visited": ["glade"], "name": "cleo"}
        assert (await cleo.identity())["skills"] == package["skills"]


async def test_the_token_of_the_nexus_does_not_play_and_that_of_the_game_does_not_travel() -> None:
    async with served() as nexus:
        ann = nexus.as_(Reference, "ann")
        await ann.register()
        await ann.enter("camp")
        here, there = ann.token, ann.play_token
        ann.play_token = None
        with pytest.raises(KeyError):  # the error of the house's own interface, which is not of this protocol
            await ann.play(*STEP)
        ann.token = there
        with pytest.raises(Refused, match="valid in the room camp only") as refused:
            await ann.leave("camp")
        assert refused.value.status == 403
        ann.token = here
        await ann.leave("camp")
        assert (await nexus.ask("GET", "/games", headers={"authorization": f"Bearer {there}"})).status_code == 401


async def test_a_token_for_the_whole_house_registers_travels_and_plays() -> None:
    async with served(guests=True) as nexus:
        operator = nexus.house.identify(nexus.house.operator_token())
        made = await nexus.house.call(operator, None, "issue_credential", {"name": "zoe", "kind": "human"})
        zoe = Nexus(nexus.url, "zoe", made.token)
        with pytest.raises(Refused, match="POST /agents first"):
            await zoe.games()
        await zoe.register()
        await zoe.enter("camp")
        assert zoe.play_token is None
        await zoe.play(*STEP)
        assert (await zoe.leave())["sessionStats"]["steps"] == 1


async def test_nobody_gets_a_second_body_over_rest() -> None:
    """Beside one that it took in a room directly, in that room or in another; nor the other way round."""
    async with served(guests=True) as nexus:
        house = nexus.house
        operator = house.identify(house.operator_token())
        nexus.tokens["zoe"] = (
            await house.call(operator, None, "issue_credential", {"name": "zoe", "kind": "human"})
        ).token
        zoe = nexus.as_(Nexus, "zoe")
        await zoe.register()
        who = house.identify(nexus.tokens["zoe"]).identity
        admission = {"handle": "zoe", "kind": "agent", "identity": who, "role": "player"}
        await house.rooms["glade"].submit(SystemCall("admitted", admission))
        await nexus.call("zoe", "glade", "jack_in")
        for game, says in (("camp", "in one game at a time"), ("glade", "you control a body here already")):
            with pytest.raises(Refused, match=says) as refused:
                await zoe.enter(game)
            assert refused.value.status == 409
        assert not house.rooms["camp"].room.state.seats
        await nexus.call("zoe", "glade", "jack_out")
        await zoe.enter("camp")
        for way in ("sit", "jack_in", "create_avatar", "respawn"):
            with pytest.raises(AskerError, match="in one game at a time"):
                await nexus.call("zoe", "glade", way)
        assert not house.rooms["glade"].room.state.seats


# -- who may do what ------------------------------------------------------------------------------
async def test_registering_again_changes_nothing() -> None:
    async with served() as nexus:
        body = {"agent_id": "ann", "name": "Ann"}
        first, second = [await nexus.ask("POST", "/agents", "ann", json=body) for _ in range(2)]
        assert [first.status_code, second.status_code] == [201, 200]
        assert first.json() == second.json()
        by_id = await nexus.ask("POST", "/agents", "ann", json={"id": first.json()["agent_id"]})
        assert by_id.status_code == 200


@pytest.mark.parametrize("kind", [MultiGame, Nexus, Reference])
@pytest.mark.parametrize("policy", [EntryPolicy(open=True), EntryPolicy(open=True, kind="agent", agents_play=True)])
async def test_a_stranger_gets_a_token_if_the_entry_policy_admits_it(kind: type[Client], policy: EntryPolicy) -> None:
    async with served(policy) as nexus:
        zoe = nexus.as_(kind, "zoe")
        await zoe.register()
        assert zoe.token
        await zoe.enter("camp")
        await zoe.play(*STEP)
        again = nexus.as_(kind, "zoe")  # a second stranger of the same name is somebody else
        await again.register()
        assert again.token != zoe.token
        assert (await Nexus(nexus.url, "zoe", again.token).identity())["currentGameId"] is None
        assert (await Nexus(nexus.url, "zoe", zoe.token).identity())["currentGameId"] == "camp"


async def test_an_agent_that_may_only_watch_is_told_so() -> None:
    async with served(EntryPolicy(open=True, kind="agent")) as nexus:
        refused = await nexus.ask("POST", "/agents", json={"agent_id": "zoe", "name": "Zoe"})
        assert refused.status_code == 403
        assert "act" in refused.json()["error"]


async def test_a_stranger_without_a_token_is_refused_where_only_members_may_be() -> None:
    async with served() as nexus:
        assert (await nexus.ask("POST", "/agents", json={"agent_id": "zoe", "name": "Zoe"})).status_code == 404
        for path in ("/games", "/nexus/ann", "/agents/ann", "/nexus/games"):
            refused = await nexus.ask("GET", path)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"].startswith("Bearer")
        assert (await nexus.ask("GET", "/games", headers={"authorization": "Bearer x"})).status_code == 401


async def test_a_newcomer_waits_in_the_lobby_until_a_host_admits_it() -> None:
    async with served(EntryPolicy(open=True, lobby=True)) as nexus:
        body = {"agent_id": "zoe", "name": "Zoe"}
        waiting = await nexus.ask("POST", "/agents", json=body)
        assert (waiting.status_code, waiting.json()["status"]) == (202, "waiting")
        nexus.tokens["zoe"] = waiting.json()["token"]
        assert (await nexus.ask("POST", "/agents", "zoe", json=body)).status_code == 202
        knocks = (await nexus.call("keeper", "lobby", "lobby")).waiting
        await nexus.call("keeper", "lobby", "admit", {"knock": knocks[0].knock})
        assert (await nexus.ask("POST", "/agents", "zoe", json=body)).status_code == 201


async def test_agents_neither_read_nor_move_each_other() -> None:
    async with served() as nexus:
        ann, bob = nexus.as_(Reference, "ann"), nexus.as_(Reference, "bob")
        await ann.register()
        await bob.register()
        await ann.enter("camp")
        own = (await ann.identity())["agent_id"]
        for name in ("ann", own, "nobody"):
            for look in (bob.identity, bob.observe):
                with pytest.raises(Refused, match="that you can read; you are bob") as unseen:
                    await look(name)
                assert unseen.value.status == 404
            with pytest.raises(Refused, match="your token is that of bob") as denied:
                await bob.leave("camp", agent=name)
            assert denied.value.status == 403
        bob.agent = "ann"
        for act in (bob.register, lambda: bob.enter("glade")):
            with pytest.raises(Refused, match="your token is that of bob") as denied:
                await act()
            assert denied.value.status == 403
        assert (await Nexus(nexus.url, "ann", nexus.tokens["ann"]).identity())["currentGameId"] == "camp"
        bob.agent = "bob"
        assert own not in str(await bob.observe())


# -- transit that is refused ----------------------------------------------------------------------
async def test_entering_twice_is_refused_and_counts_one_agent() -> None:
    async with served() as nexus:
        ann = nexus.as_(Nexus, "ann")
        await ann.register()
        both = await asyncio.gather(*(ann.enter(game) for game in ("camp", "glade", "camp")), return_exceptions=True)
        refused = [one for one in both if isinstance(one, Refused)]
        assert [one.status for one in refused] == [409, 409]
        with pytest.raises(Refused, match="leave it first") as again:
            await ann.enter("camp")
        assert again.value.status == 409
        games = [await ann.game(game) for game in ("camp", "glade")]
        assert sum(game["activeAgents"] for game in games) == 1


async def test_sessions_of_the_same_second_have_different_ids() -> None:
    async with served() as nexus:
        sessions = []
        for who in ("ann", "bob", "ann", "ann"):
            agent = nexus.as_(Reference, who)
            await agent.register()
            await agent.enter("camp")
            sessions.append(agent.session)
            await agent.leave("camp")
        assert len({*sessions}) == 4


async def test_leaving_what_one_never_entered_is_a_conflict() -> None:
    async with served() as nexus:
        ann = nexus.as_(MultiGame, "ann")
        await ann.register()
        with pytest.raises(Refused, match="you are in no game") as refused:
            await ann.leave("lobby:1")
        assert refused.value.status == 409
        await ann.enter("camp")
        with pytest.raises(Refused, match="you are in the session") as refused:
            await ann.leave("lobby:99")
        assert refused.value.status == 409
        with pytest.raises(Refused, match="you are in the game camp, not in glade") as refused:
            await Reference(nexus.url, "ann", ann.token).leave("glade")
        assert refused.value.status == 409
        assert (await ann.leave())[0] == 0


async def test_unknown_games_are_not_found() -> None:
    async with served() as nexus:
        ann = nexus.as_(Nexus, "ann")
        await ann.register()
        for ask in (lambda: ann.game("cmap"), lambda: ann.enter("cmap")):
            with pytest.raises(Refused, match="unknown game 'cmap'; the games are: camp, glade") as refused:
                await ask()
            assert refused.value.status == 404


async def test_a_full_game_is_a_conflict_and_says_so() -> None:
    async with served() as nexus:
        for who in ("ann", "bob"):
            agent = nexus.as_(Reference, who)
            await agent.register()
            await agent.enter("camp")
        cleo = nexus.as_(Reference, "cleo")
        await cleo.register()
        assert await cleo.games() == {"camp": "busy", "glade": "available"}
        with pytest.raises(Refused, match="is busy now") as refused:
            await cleo.enter("camp")
        assert refused.value.status == 409


async def test_from_a_game_that_goes_offline_an_agent_returns_without_anything() -> None:
    async with served() as nexus:
        ann = nexus.as_(Nexus, "ann")
        await ann.register()
        await ann.enter("camp")
        give_up = {"agentId": "ann", "sessionId": ann.session, "giveUp": True}
        early = await nexus.ask("POST", "/transit/exit", "ann", json=give_up)
        assert (early.status_code, early.json()["error"]) == (
            409,
            "the game camp is online; leave it there with `exit_game`",
        )
        nexus.house.rooms["camp"].stop(Quarantined("its world hangs"))
        assert (await ann.games())["camp"] == "offline"
        with pytest.raises(Refused, match="the game camp is offline") as refused:
            await ann.leave()
        assert refused.value.status == 503
        with pytest.raises(Refused, match="the game camp, where you were, is offline"):
            await ann.enter("glade")
        left = await nexus.ask("POST", "/transit/exit", "ann", json=give_up)
        assert (left.status_code, left.json()["transitPackage"]) == (200, None)
        await ann.enter("glade")


async def test_a_session_and_what_an_agent_has_learned_survive_a_restart(tmp_path: Path) -> None:
    async with House.open(settings(tmp_path)) as house:
        tokens = await create_rooms(house)
        async with serving(house) as url:
            ann = Reference(url, "ann", tokens["ann"])
            await ann.register()
            await ann.enter("camp")
            await ann.play(*STEP)
    async with House.open(settings(tmp_path)) as house, serving(house) as url:
        back = MultiGame(url, "ann", tokens["ann"])
        with pytest.raises(Refused, match="you are in the game camp"):
            await back.enter("glade")
        steps, gained, total = await back.leave(ann.session)
        assert (steps, total) == (1, 1)
    async with House.open(settings(tmp_path)) as house, serving(house) as url:
        skills = (await Reference(url, "ann", tokens["ann"]).identity())["skills"]
        assert {"exploration": skills["exploration"]} == gained


async def test_a_repeated_request_with_the_same_key_is_answered_once() -> None:
    async with served() as nexus:
        await nexus.as_(Reference, "ann").register()
        body, key = {"agent_id": "ann", "game_id": "camp"}, {"idempotency-key": "k1"}
        first, second = [await nexus.ask("POST", "/transit/enter", "ann", json=body, headers=key) for _ in range(2)]
        assert first.status_code == second.status_code == 200
        assert first.json()["session_id"] == second.json()["session_id"]
        assert "token" in first.json()
        assert "token" not in second.json()  # it is shown once, and is in no record


# -- games ------------------------------------------------------------------------------------------
async def test_a_host_registers_and_removes_its_room() -> None:
    async with served() as nexus:
        ann = nexus.as_(Reference, "ann")
        await ann.register()
        removed = await nexus.ask("DELETE", "/games/camp", "hostess")
        assert (removed.status_code, removed.json()["success"]) == (200, True)
        assert await ann.games() == {"glade": "available"}
        assert (await nexus.ask("DELETE", "/games/camp", "hostess")).status_code == 404
        made = await nexus.ask("POST", "/games", "hostess", json={"id": "camp", "name": "x", "maxAgents": 7})
        assert (made.status_code, made.json()["maxAgents"]) == (201, 7)
        down = await nexus.ask("POST", "/nexus/games", "hostess", json={"id": "camp", "status": "maintenance"})
        assert (down.status_code, down.json()["status"]) == (200, "maintenance")
        assert await ann.games() == {"camp": "maintenance", "glade": "available"}


@pytest.mark.parametrize(
    ("who", "body", "status", "error"),
    [
        ("ann", {"id": "camp"}, 404, "the games of this Nexus are the rooms of this house"),
        ("hostess", {"id": "mars", "bridge_url": "http://127.0.0.1:9"}, 404, "create a room with its world"),
        ("hostess", {"id": "glade"}, 404, "your token is valid in no room with the id 'glade'"),
        (
            "hostess",
            {"id": "camp", "status": "sleepy"},
            400,
            "`status` is one of available, busy, offline, maintenance",
        ),
        ("hostess", {"id": "camp", "status": "busy"}, 400, "`status` is available or maintenance here"),
        ("hostess", {"id": "camp", "transitCompatible": False}, 400, "`transit_compatible` is false"),
        ("hostess", {"id": "camp", "wsapVersion": "9.9"}, 400, "is not supported; supported are 0.1, 0.1.0"),
        ("hostess", {"id": "camp", "wsap_version": "0.2"}, 400, "is not supported; supported are 0.1, 0.1.0"),
        ("hostess", {"id": "camp", "wsapVersion": 0.1}, 400, "`wsap_version` is a text"),
        ("hostess", {"name": "camp"}, 400, "`id` is missing"),
        ("keeper", {"id": "lobby"}, 409, "this room is the Nexus itself"),
        ("cleo", {"id": "lobby"}, 403, "manage_members"),
    ],
)
async def test_a_game_that_cannot_be_registered_is_refused_with_the_reason(
    who: str, body: dict[str, Any], status: int, error: str
) -> None:
    async with served() as nexus:
        refused = await nexus.ask("POST", "/games", who, json=body)
        assert refused.status_code == status, refused.json()
        assert error in refused.json()["error"]
        assert refused.json()["success"] is False


async def test_an_update_of_a_game_keeps_what_it_leaves_out() -> None:
    async with served() as nexus:
        for version in ("0.1", "0.1.0"):
            body = {"id": "camp", "status": "maintenance", "wsapVersion": version}
            made = (await nexus.ask("POST", "/games", "hostess", json=body)).json()
            assert (made["description"], made["status"]) == ("A camp in the wild", "maintenance")
        kept = (await nexus.ask("POST", "/games", "hostess", json={"id": "camp", "maxAgents": 7})).json()
        assert (kept["description"], kept["status"], kept["maxAgents"]) == ("A camp in the wild", "maintenance", 7)
        body = {"id": "camp", "description": "", "status": "available"}
        changed = (await nexus.ask("POST", "/games", "hostess", json=body)).json()
        assert (changed["description"], changed["status"], changed["maxAgents"]) == ("", "available", 7)


async def test_an_avatar_spec_of_the_second_form_makes_a_new_avatar_although_another_one_waits() -> None:
    async with served() as nexus:
        await nexus.as_(Nexus, "ann").register()
        enter = {"agentId": "ann", "gameId": "glade"}
        first = (await nexus.ask("POST", "/transit/enter", "ann", json=enter)).json()
        left = await nexus.ask("POST", "/transit/exit", "ann", json={"agentId": "ann", "gameId": "glade"})
        assert left.status_code == 200, left.json()
        spec = {
            "name": "Scout",
            "appearance": {"hairColour": "red"},
            "spawnLocation": "random",
            "skillBonuses": {"x": 9},
        }
        made = await nexus.ask("POST", "/transit/enter", "ann", json={**enter, "avatarSpec": spec})
        assert made.status_code == 200, made.json()
        assert made.json()["avatarId"] != first["avatarId"]
        assert made.json()["woken"] is False
        avatars = avatars_in(nexus.house.rooms["glade"].room.state)
        scout = avatars[made.json()["avatarId"]]
        assert (scout.name, scout.appearance, scout.bonuses) == ("Scout", {"hairColour": "red"}, {})
        assert len([one for one in avatars.values() if one.owner == scout.owner]) == 2


@pytest.mark.parametrize(
    ("wishes", "error"),
    [
        ({"avatarSpec": {"name": "x"}, "avatarId": "av-1"}, "but not both"),
        ({"avatarSpec": "tall"}, "`avatar_spec` is a JSON object"),
        ({"avatarSpec": {"appearance": "tall"}}, "`appearance` is a JSON object"),
        ({"avatarSpec": {"appearance": {"x": "y" * 2000}}}, "appearance is too long"),
        ({"avatarSpec": {"startingLoadout": "tank"}}, "`starting_loadout` is default here"),
        ({"avatarSpec": {"spawnLocation": "moon"}}, "`spawn_location` is one of"),
    ],
)
async def test_an_avatar_spec_that_cannot_be_met_is_refused_with_the_reason(wishes: dict[str, Any], error: str) -> None:
    async with served() as nexus:
        await nexus.as_(Nexus, "ann").register()
        body = {"agentId": "ann", "gameId": "glade", **wishes}
        refused = await nexus.ask("POST", "/transit/enter", "ann", json=body)
        assert refused.status_code == 400, refused.json()
        assert error in refused.json()["error"]


@pytest.mark.parametrize("goals", [["explore, then rest", "craft"], "explore, craft"])
async def test_goals_and_exit_conditions_are_a_list_or_a_text_with_commas(goals: Any) -> None:
    async with served() as nexus:
        await nexus.as_(Nexus, "ann").register()
        args = {"game_id": "glade", "goals": goals, "exit_conditions": goals}
        await nexus.call("ann", "lobby", "enter_game", args)
        (visit,) = VISITS.read(nexus.house.rooms["glade"].room.state).visits.values()
        assert list(visit.goals) == (goals if isinstance(goals, list) else ["explore", "craft"])


# -- requests ---------------------------------------------------------------------------------------
async def test_requests_that_make_no_sense_are_answered_with_the_reason() -> None:
    async with served() as nexus:
        await nexus.as_(Reference, "ann").register()
        for path, sent, status, error in (
            ("/transit/enter", {"content": b"{"}, 400, "the body is not JSON"),
            ("/transit/enter", {"content": b"\xff"}, 400, "the body is not JSON"),
            ("/transit/enter", {"content": b"[" * 5000}, 400, "the body is not JSON"),
            ("/transit/enter", {"json": []}, 400, "send a JSON object"),
            ("/transit/enter", {}, 400, "send a JSON object"),
            ("/transit/enter", {"json": {"agent_id": "ann"}}, 400, "`game_id` is missing"),
            ("/transit/enter", {"json": {"agent_id": "ann", "game_id": "camp", "spawn": 1}}, 400, "`spawn` is one of"),
            ("/transit/exit", {"json": {"agent_id": "ann"}}, 400, "say what to leave"),
            ("/agents", {"json": {"agent_id": 7}}, 400, "`agent_id` is a text, not a number"),
            ("/agents", {"content": b" " * (MAX_BODY + 1)}, 413, f"at most {MAX_BODY} bytes"),
            ("/agents?case=kebab", {"json": {}}, 400, "case: camel or snake"),
            ("/nowhere", {"json": {}}, 404, "there is no /nowhere"),
            ("/nexus", {"json": {}}, 404, "there is no /nexus"),
        ):
            refused = await nexus.ask("POST", path, "ann", **sent)
            assert (refused.status_code, refused.json()["success"]) == (status, False), path
            assert error in refused.json()["error"]
        wrong = await nexus.ask("PUT", "/nexus/games", "ann")
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, POST")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["id", "agent_id", "agentId", "game_id", "gameId", "session_id", "name", "status", "preferences", "goals",
          "carry", "remember", "mode", "items", "maxAgents", "give_up", "capabilities"]  # fmt: skip
VALUES = JSON | st.sampled_from(["ann", "bob", "camp", "glade", "lobby", "lobby:1", "available"])
BODIES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6) | JSON
ROUTES = ["/agents", "/agents/ann", "/games", "/games/camp", "/nexus/ann", "/transit/enter", "/transit/exit", "/x/y"]
ASKED = st.tuples(
    st.sampled_from(["GET", "POST", "DELETE", "PUT"]),
    st.sampled_from(["", "/nexus"]),
    st.sampled_from(ROUTES),
    st.sampled_from(["ann", "hostess", "keeper", None]),
    BODIES,
)


@given(st.lists(ASKED, min_size=1, max_size=12))
@given_settings(max_examples=examples(25), deadline=None)
def test_whatever_is_sent_the_nexus_answers_and_every_refusal_has_a_reason(asked: list[Any]) -> None:
    async def ask_all() -> None:
        async with House.open(settings(), clock=FakeClock()) as house:
            tokens = await create_rooms(house)
            transport = httpx2.ASGITransport(nexus_app(house))
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
                for method, prefix, path, who, body in asked:
                    headers = {"authorization": f"Bearer {tokens[who]}"} if who is not None else {}
                    said = await http.request(method, prefix + path, json=body, headers=headers)
                    assert said.status_code in (200, 201, 400, 401, 403, 404, 405, 409, 503), said.text
                    if said.status_code >= 400:
                        assert said.json()["success"] is False
                        assert said.json()["error"]
                    else:
                        assert said.json().get("success", True) is True

    asyncio.run(ask_all())


async def test_pages_of_other_sites_are_refused_in_the_words_of_this_protocol() -> None:
    async with served() as nexus:
        for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
            refused = await nexus.ask("GET", "/games", "ann", headers=headers)
            assert (refused.status_code, refused.json()["success"]) == (403, False)


async def test_the_prefix_the_body_and_the_query_decide_the_case_of_a_reply() -> None:
    async with served() as nexus:
        await nexus.as_(Reference, "ann").register()

        async def fields(path: str) -> set[str]:
            return {*(await nexus.ask("GET", path, "ann")).json()["games"][0]}

        snake, camel = {"active_agents", "skill_domains"}, {"activeAgents", "skillDomains"}
        assert await fields("/nexus/games") & (snake | camel) == snake
        assert await fields("/games?case=snake") & (snake | camel) == snake
        assert await fields("/games?case=camel") & (snake | camel) == camel
        assert await fields("/nexus/games?case=camel") & (snake | camel) == camel
        assert await fields("/games") & (snake | camel) == snake | camel
        for path in ("/nexus/ann", "/nexus/nexus/ann", "/agents/ann", "/nexus/agents/ann"):
            assert (await nexus.ask("GET", path, "ann")).status_code == 200


# -- listening --------------------------------------------------------------------------------------
async def test_a_house_without_a_nexus_opens_no_port_for_it() -> None:
    port = free_port()
    async with House.open(Settings(port=0, nexus_port=port)) as house:
        server = NexusServer.open(house)
        assert server is not None
        async with server.serving():
            with pytest.raises(OSError):  # noqa: PT011 - whatever the system calls it
                await asyncio.open_connection("127.0.0.1", port)
        assert [*server.connect_lines(house.rooms.values(), {})] == []
    async with House.open(Settings(port=0, nexus_port=0)) as house:
        assert NexusServer.open(house) is None


async def test_a_port_in_use_is_reported_and_the_house_runs_without_it() -> None:
    async with served() as nexus:
        taken = nexus.house.settings.nexus_port
        server = NexusServer.open(nexus.house)
        assert server is not None
        async with server.serving():
            lines = [*server.connect_lines(nexus.house.rooms.values(), {})]
        assert lines[0].startswith(f"Clients of the Nexus cannot connect: cannot listen on 127.0.0.1:{taken}")
        assert "--nexus-port" in lines[0]


def test_one_command_opens_the_nexus_with_its_games_and_says_how_to_reach_it(tmp_path: Path) -> None:
    port = free_port()
    with running("up", "nexus", "--bridge-port", "0", "--nexus-port", str(port), home=tmp_path) as house:
        token = house.token("ada")
        told = f"curl -H 'Authorization: Bearer {token}' http://127.0.0.1:{port}/nexus/ada"
        assert told in house.text
        assert "nexus/host" not in house.text  # who has no seat cannot travel
        seen = httpx2.get(f"http://127.0.0.1:{port}/nexus/ada", headers={"authorization": f"Bearer {token}"})
        assert [game["id"] for game in seen.json()["available_games"]] == ["frontier", "wilderness"]
        code, _, err = house.stop()
        assert (code, err) == (0, "")
    with running("serve", "--bridge-port", "0", "--nexus-port", str(port), home=tmp_path) as house:
        assert f"For clients of the Nexus: http://127.0.0.1:{port}" in house.text


# -- the documentation ------------------------------------------------------------------------------
async def test_the_page_lists_every_route_and_each_one_answers_with_and_without_the_prefix() -> None:
    page = (Path(__file__).parents[2] / "docs" / "nexus-rest.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([A-Z]+) (/\S+)` \|", page, re.MULTILINE)
    assert len(listed) == 9
    async with served() as nexus:
        for method, route in listed:
            path = route.format(agent_id="nobody", game_id="nowhere")
            for prefix in ("", "/nexus"):
                said = await nexus.ask(method, prefix + path, "ann", json={})
                assert said.status_code in (200, 400, 403, 404), route
                assert "there is no /" not in said.json().get("error", "")
        wrong = [await nexus.ask(method, "/elsewhere", "ann", json={}) for method, _ in listed]
        assert all("there is no /elsewhere" in said.json()["error"] for said in wrong)


def test_the_page_says_which_status_an_error_has() -> None:
    page = (Path(__file__).parents[2] / "docs" / "nexus-rest.md").read_text(encoding="utf-8")
    listed = {int(status) for status in re.findall(r"^\| (\d{3}) \|", page, re.MULTILINE)}
    refusals = {error: STATUS.get(error, error.status) for error in every_error() if issubclass(error, AskerError)}
    assert {*refusals.values(), *STATUS.values(), 503} == listed
    assert f"more than {MAX_BODY // 1024} KiB" in page
