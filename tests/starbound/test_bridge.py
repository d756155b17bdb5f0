"""The bridge: its wire over real HTTP, and games that stop polling, answer late, twice, or with garbage."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.starbound.games import TOKEN, VIEW, Game, Served, a_bridge, obedient

from cohabit.errors import BadArgs, CohabitError, OutcomeUnknown, Unreachable
from cohabit.protocols.starbound.bridge import CONNECTED_MS, MAX_PLAYERS, MAX_QUEUED, TIMEOUT_MS, Bridge
from cohabit.protocols.starbound.wire import MAX_BODY, as_plain, observation_of, read_outcome, read_view
from cohabit.testing.clock import FakeClock

TIMED_OUT = "Timeout waiting for game response"
ACT = {"action": "jump", "parameters": {"direction": "left"}, "player_id": "ann"}


async def until(true: Any) -> None:
    while not true():
        await asyncio.sleep(0)


@asynccontextmanager
async def asking(served: Served, path: str, body: Any) -> Any:
    """A request of an adapter that waits for the game."""
    async with served.client() as client:
        before = served.bridge.pending
        asked = asyncio.ensure_future(client.post(path, json=body))
        await until(lambda: served.bridge.pending > before or asked.done())
        try:
            yield asked
        finally:
            asked.cancel()
            await asyncio.wait({asked})


# -- the wire -----------------------------------------------------------------------------------------
async def test_the_shapes_of_the_wire_are_those_of_the_published_bridge() -> None:
    async with a_bridge() as served, served.client() as game:
        assert (await game.get("/status")).json() == {"status": "running", "connected": False}
        assert (await game.get("/poll")).json() == {}
        assert (await game.get("/status")).json() == {"status": "running", "connected": True}
        async with asking(served, "/act", ACT) as acting:
            command = (await game.get("/poll")).json()
            UUID(command["id"], version=4)
            assert {**command, "id": ""} == {"id": "", "type": "act", **ACT}
            said = await game.post("/result", json={"id": command["id"], "result": {"success": True}})
            assert (said.status_code, said.json()) == (200, {"ok": True})
            assert (await acting).json() == {"success": True}
        for path, kind in (("/observe", "observe"), ("/reset", "reset")):
            async with asking(served, path, {"player_id": "ann"}) as looking:
                command = (await game.get("/poll")).json()
                assert {**command, "id": ""} == {"id": "", "type": kind, "player_id": "ann"}
                await game.post("/result", json={"id": command["id"], "result": VIEW})
                assert (await looking).json() == as_plain(read_view(VIEW))
        assert (await game.post("/result", json={"result": {}})).status_code == 400


async def test_inventory_quests_and_world_are_answered_from_the_last_observation() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game, served.client() as client:
        assert (await client.get("/inventory", params={"player_id": "ann"})).json() == {"inventory": {"dirt": 3}}
        assert (await client.post("/quests", json={"player_id": "ann"})).json()["quests"][0]["id"] == "q1"
        world = (await client.post("/world", json={"player_id": "ann"})).json()
        assert (world["world_name"], world["position"], world["time_of_day"]) == ("Gaia", [10.0, 20.0], "day")
        assert len(game.seen) == 1


async def test_an_unknown_path_and_a_missing_action_are_refused() -> None:
    async with a_bridge() as served, served.client() as client:
        assert (await client.get("/nothing")).status_code == 404
        assert (await client.post("/act", json={})).status_code == 400
        assert (await client.get("/poll", params={"wait": "soon"})).status_code == 400
        assert (await client.get("/poll", params={"wait": "nan"})).status_code == 400
        assert (await client.get("/poll", params={"player_id": "a\nb"})).status_code == 400


GARBAGE = [
    b"{", b"[]", b"5", b'{"player_id": 5}', b'{"player_id": ""}', b'{"player_id": "a\\nb"}', b'{"action": []}',
    b'{"action": "jump", "parameters": "x"}', b'{"action": "jump", "parameters": {"x": ' + b"[" * 20 + b"]" * 20 + b"}}",
    b'{"action": "jump", "parameters": {"x": 1e999}}', b'{"player_id": "' + b"x" * 81 + b'"}',
]  # fmt: skip


async def test_an_adapter_that_sends_garbage_is_told_so() -> None:
    async with a_bridge() as served, served.client() as client:
        for path in ("/observe", "/act", "/reset", "/inventory"):
            for body in GARBAGE:
                refused = await client.post(path, content=body)
                assert (refused.status_code, refused.json()["code"]) == (400, "BAD_ARGS"), body
        assert served.bridge.pending == 0


# -- who may ask --------------------------------------------------------------------------------------
@pytest.mark.parametrize("token", [None, "wrong"])
async def test_nobody_gets_past_the_status_without_the_token(token: str | None) -> None:
    async with a_bridge() as served, served.client(token) as client:
        assert (await client.get("/status")).status_code == 200
        for method, path in [("POST", "/observe"), ("POST", "/act"), ("POST", "/reset"), ("GET", "/inventory"),
                             ("GET", "/poll"), ("POST", "/result")]:  # fmt: skip
            refused = await client.request(method, path, json={"id": "x", "action": "jump"})
            assert (refused.status_code, refused.json()["code"]) == (401, "UNAUTHORIZED")
        assert not served.bridge.is_connected()


async def test_the_token_is_accepted_in_three_places() -> None:
    async with a_bridge() as served, served.client(None) as client:
        for given_as in ({"params": {"token": TOKEN}}, {"headers": {"x-cohabit-token": TOKEN}},
                         {"headers": {"authorization": f"Bearer {TOKEN}"}}):  # fmt: skip
            assert (await client.get("/poll", **given_as)).json() == {}


async def test_pages_of_other_sites_cannot_use_the_bridge() -> None:
    async with a_bridge() as served, served.client() as client:
        for headers in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
            assert (await client.get("/poll", headers=headers)).status_code == 403


# -- games that misbehave -----------------------------------------------------------------------------
async def test_without_a_game_a_request_fails_at_once() -> None:
    async with a_bridge() as served, served.client() as client:
        said = (await client.post("/observe", json={"player_id": "ann"})).json()
        assert (said["code"], "no game is connected" in said["error"]) == ("UNREACHABLE", True)


async def test_a_game_that_stops_polling_leaves_the_command_unexecuted() -> None:
    async with a_bridge() as served, served.client() as game:
        await game.get("/poll")
        async with asking(served, "/act", ACT) as acting:
            await served.clock.advance(TIMEOUT_MS)
            said = await acting
            assert (said.status_code, said.json()["error"], said.json()["code"]) == (200, TIMED_OUT, "UNREACHABLE")
        assert (await game.get("/poll")).json() == {}  # it was withdrawn
        assert served.bridge.pending == 0


async def test_a_game_that_is_late_leaves_the_outcome_unknown_and_disturbs_nothing() -> None:
    async with a_bridge() as served, served.client() as game:
        await game.get("/poll")
        async with asking(served, "/act", ACT) as acting:
            first = (await game.get("/poll")).json()
            await served.clock.advance(TIMEOUT_MS)
            assert (await acting).json() == {
                "ok": False, "error": TIMED_OUT, "code": "OUTCOME_UNKNOWN", "detail": TIMED_OUT,
            }  # fmt: skip
        await game.get("/poll")
        async with asking(served, "/act", ACT) as acting:
            late = await game.post("/result", json={"id": first["id"], "result": {"success": True, "message": "old"}})
            assert (late.status_code, "time limit" in late.json()["error"]) == (409, True)
            second = (await game.get("/poll")).json()
            await game.post("/result", json={"id": second["id"], "result": {"success": True, "message": "new"}})
            assert (await acting).json()["message"] == "new"


async def test_a_second_result_and_an_unknown_id_are_refused() -> None:
    async with a_bridge() as served, served.client() as game:
        await game.get("/poll")
        async with asking(served, "/act", ACT) as acting:
            answer = {"id": (await game.get("/poll")).json()["id"], "result": {"success": True, "message": "first"}}
            assert (await game.post("/result", json=answer)).json() == {"ok": True}
            answer["result"] = {"success": False, "message": "second"}
            twice = await game.post("/result", json=answer)
            assert (twice.status_code, "answered already" in twice.json()["error"]) == (409, True)
            assert (await acting).json()["message"] == "first"
        assert (await game.post("/result", json={"id": "made-up", "result": {}})).status_code == 404


@pytest.mark.parametrize(
    "garbage", [b"{", b"\xff\xfe", b"[]", b'"x"', b"[" * 100_000, b'{"id": 5}', b'{"id": null, "result": {}}']
)
async def test_a_result_that_cannot_be_read_is_refused_and_the_right_one_is_still_welcome(garbage: bytes) -> None:
    async with a_bridge() as served, served.client() as game:
        await game.get("/poll")
        async with asking(served, "/act", ACT) as acting:
            command = (await game.get("/poll")).json()
            assert (await game.post("/result", content=garbage)).status_code == 400
            await game.post("/result", json={"id": command["id"], "result": {"success": True}})
            assert (await acting).json() == {"success": True}


@pytest.mark.parametrize("result", [None, [], 5, "done", {}, {"success": "yes"}, {"success": True, "reward": "much"}])
async def test_a_result_of_the_wrong_type_ends_the_action_with_a_reason(result: Any) -> None:
    async with a_bridge() as served, served.client() as game:
        await game.get("/poll")
        async with asking(served, "/act", ACT) as acting:
            command = (await game.get("/poll")).json()
            refused = await game.post("/result", json={"id": command["id"], "result": result})
            assert (refused.status_code, refused.json()["code"]) == (400, "BAD_ARGS")
            said = (await acting).json()
            assert (said["code"], "invalid result" in said["error"]) == ("OUTCOME_UNKNOWN", True)


async def test_a_huge_body_is_refused_on_both_sides() -> None:
    async with a_bridge() as served, served.client() as client:
        huge = b'{"id": "' + b"x" * MAX_BODY + b'"}'
        for path in ("/result", "/act"):
            refused = await client.post(path, content=huge)
            assert (refused.status_code, refused.json()["code"]) == (413, "TOO_LARGE")


async def test_a_game_that_hangs_up_during_a_poll_does_not_take_a_command_with_it() -> None:
    async with a_bridge() as served, served.client() as game:
        async with served.client() as other:
            gone = asyncio.ensure_future(other.get("/poll", params={"wait": 20, "player_id": "ann"}))
            await until(lambda: served.bridge.is_connected("ann"))
            gone.cancel()
            await asyncio.wait({gone})
        async with asking(served, "/act", ACT) as acting:
            command = (await game.get("/poll", params={"wait": 20, "player_id": "ann"})).json()
            if not command:  # the hang-up was noticed only now
                command = (await game.get("/poll", params={"wait": 20, "player_id": "ann"})).json()
            await game.post("/result", json={"id": command["id"], "result": {"success": True}})
            assert (await acting).json() == {"success": True}


async def test_a_command_offered_to_a_poll_that_is_cancelled_at_that_moment_goes_to_the_next_one() -> None:
    bridge = Bridge(FakeClock())
    polling = asyncio.ensure_future(bridge.poll("ann", 20_000))
    await until(lambda: bridge.is_connected("ann"))
    asked = asyncio.ensure_future(bridge.request("observe", "ann"))
    await asyncio.sleep(0)  # it is offered now, and the poll has not seen it yet
    polling.cancel()
    await asyncio.wait({polling})
    command = await bridge.poll("ann")
    assert command is not None
    bridge.result(command.id, VIEW)
    assert (await asked)["health"] == 80


async def test_an_adapter_that_hangs_up_withdraws_a_command_that_was_not_fetched() -> None:
    async with a_bridge() as served, served.client() as game:
        await game.get("/poll")
        async with asking(served, "/act", ACT):
            assert served.bridge.pending == 1
        await until(lambda: served.bridge.pending == 0)
        assert (await game.get("/poll")).json() == {}


async def test_a_result_for_a_caller_that_is_cancelled_at_that_moment_is_refused() -> None:
    bridge = Bridge(FakeClock())
    await bridge.poll("ann")
    asked = asyncio.ensure_future(bridge.request("observe", "ann"))
    await asyncio.sleep(0)
    command = await bridge.poll("ann")
    assert command is not None
    asked.cancel()
    with pytest.raises(CohabitError, match="nobody waits"):
        bridge.result(command.id, VIEW)
    await asyncio.wait({asked})
    assert bridge.pending == 0


async def test_a_newer_poll_of_the_same_player_ends_the_older_one() -> None:
    bridge = Bridge(FakeClock())
    older = asyncio.ensure_future(bridge.poll("ann", 20_000))
    await until(lambda: bridge.is_connected("ann"))
    newer = asyncio.ensure_future(bridge.poll("ann", 20_000))
    assert await older is None
    asked = asyncio.ensure_future(bridge.request("observe", "ann"))
    command = await newer
    assert command is not None
    bridge.result(command.id, VIEW)
    await asked


async def test_a_long_poll_ends_empty_when_its_time_is_over() -> None:
    async with a_bridge() as served, served.client() as game:
        polling = asyncio.ensure_future(game.get("/poll", params={"wait": 10}))
        await until(served.bridge.is_connected)
        await served.clock.advance(10_000)
        assert (await polling).json() == {}
        assert served.bridge.is_connected()
        await served.clock.advance(CONNECTED_MS + 1)
        assert not served.bridge.is_connected()


# -- several players ----------------------------------------------------------------------------------
async def test_each_game_gets_the_commands_of_its_own_player_only() -> None:
    async with a_bridge() as served, served.client() as client:
        games = [Game(served, lambda c: {"success": True, "message": c["player_id"]}, name) for name in ("ann", "ben")]
        async with games[0].playing(), games[1].playing():
            said = [await client.post("/act", json={**ACT, "player_id": name}) for name in ("ann", "ben", "ann")]
            assert [s.json()["message"] for s in said] == ["ann", "ben", "ann"]
            assert [{c["player_id"] for c in game.seen} for game in games] == [{"ann"}, {"ben"}]
            assert (
                "no game is connected" in (await client.post("/act", json={**ACT, "player_id": "cid"})).json()["error"]
            )


async def test_a_game_without_a_player_gets_everybodys_commands_but_those_of_players_with_a_game_of_their_own() -> None:
    async with a_bridge() as served, served.client() as client:
        for_all, anns = Game(served, obedient), Game(served, obedient, "ann")
        async with for_all.playing(), anns.playing():
            for name in ("ann", "ben", "cid"):
                assert (await client.post("/act", json={**ACT, "player_id": name})).json()["success"]
        assert [c["player_id"] for c in for_all.seen] == ["ben", "cid"]
        assert [c["player_id"] for c in anns.seen] == ["ann"]


async def test_the_name_of_a_player_is_one_short_line() -> None:
    async with a_bridge() as served, served.client() as game:
        await game.get("/poll", params={"player_id": "ann", "name": "An\n\x1b[2J n" + "x" * 200})
        (player,) = served.bridge.players()
        assert (player.name[:10], len(player.name)) == ("An [2J nxx", 80)


async def test_a_full_queue_refuses_more_commands() -> None:
    bridge = Bridge(FakeClock())
    await bridge.poll("ann")
    asked = [asyncio.ensure_future(bridge.request("observe", "ann")) for _ in range(MAX_QUEUED)]
    await until(lambda: bridge.pending == MAX_QUEUED)
    with pytest.raises(CohabitError, match="already wait"):
        await bridge.request("observe", "ann")
    bridge.close()
    assert all(isinstance(e, Unreachable) for e in await asyncio.gather(*asked, return_exceptions=True))


async def test_no_more_than_so_many_players_are_known_and_gone_ones_make_room() -> None:
    clock = FakeClock()
    bridge = Bridge(clock)
    for number in range(MAX_PLAYERS):
        await bridge.poll(f"player-{number}")
    with pytest.raises(CohabitError, match="players are connected"):
        await bridge.poll("one-more")
    await clock.advance(CONNECTED_MS + 1)
    await bridge.poll("one-more")
    assert len(bridge.players()) == MAX_PLAYERS


async def test_closing_the_bridge_ends_every_call() -> None:
    bridge = Bridge(FakeClock())
    polling = asyncio.ensure_future(bridge.poll("ben", 20_000))
    await bridge.poll("ann")
    asked = [asyncio.ensure_future(bridge.request("act", "ann", "jump")) for _ in range(2)]
    await until(lambda: bridge.pending == 2)
    await bridge.poll("ann")
    bridge.close()
    kinds = [type(e) for e in await asyncio.gather(*asked, return_exceptions=True)]
    assert (kinds, await polling) == ([OutcomeUnknown, Unreachable], None)


# -- limits -------------------------------------------------------------------------------------------
def test_long_texts_and_lists_are_cut() -> None:
    entity = {"type": "x" * 1_000, "distance": 1}
    view = read_view({**VIEW, "nearby_entities": [entity] * 1_000, "inventory": {str(n): n for n in range(1_000)}})
    assert (len(view.nearby_entities), len(view.nearby_entities[0].type), len(view.inventory)) == (128, 500, 128)


@pytest.mark.parametrize(
    "wrong",
    [
        {"health": None}, {"health": "80"}, {"position": [1]}, {"position": [1, 2, 3]}, {"inventory": {"dirt": 1.5}},
        {"nearby_entities": [{"type": "", "distance": 1}]}, {"nearby_entities": [{"type": "x", "distance": -1}]},
        {"quests": [{"id": "", "description": "x"}]}, {"effects": [{"name": ""}]}, {"health": 2**60},
    ],
)  # fmt: skip
def test_an_observation_with_a_wrong_value_is_refused_as_a_whole(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgs):
        read_view({**VIEW, **wrong})


def test_what_lua_writes_for_an_empty_list_or_a_whole_number_is_understood() -> None:
    view = read_view({**VIEW, "nearby_entities": {}, "quests": {}, "inventory": [], "effects": None})
    assert (view.nearby_entities, view.quests, view.inventory, view.effects) == ((), (), {}, ())
    assert read_view({**VIEW, "inventory": {"dirt": 3.0}}).inventory == {"dirt": 3}
    assert read_view({**VIEW, "position": [1.23456, 2]}).position == (1.23, 2)  # tiny changes are not worth a record


# -- properties ---------------------------------------------------------------------------------------
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
views = st.fixed_dictionaries(
    {name: st.floats(-1e6, 1e6) for name in ("health", "max_health", "energy", "max_energy")}
    | {"position": st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2)},
    optional=dict.fromkeys(
        ("inventory", "nearby_entities", "nearby_terrain", "effects", "quests", "time_of_day", "food"), json_values
    ),
)


@given(sent=json_values | views)
@settings(max_examples=examples(300), deadline=None)
def test_whatever_a_game_reports_is_refused_or_can_be_shown(sent: Any) -> None:
    try:
        view = read_view(sent)
    except BadArgs:
        return
    assert observation_of(view).to_text()
    assert read_view(as_plain(view)) == view
    assert len(json.dumps(as_plain(view))) < MAX_BODY * 4


@given(sent=json_values)
@settings(max_examples=examples(300), deadline=None)
def test_whatever_a_game_answers_is_refused_or_is_an_outcome(sent: Any) -> None:
    try:
        outcome = read_outcome(sent)
    except BadArgs:
        return
    assert read_outcome(as_plain(outcome)) == outcome


steps = st.lists(
    st.sampled_from(
        ["ask ann", "ask ben", "poll ann", "poll ben", "poll", "listen ann", "listen ben", "listen", "end ann", "hang up",
         "answer", "answer first", "cancel", "time"]
    ),
    max_size=40,
)  # fmt: skip


@given(steps=steps)
@settings(max_examples=examples(200), deadline=None)
def test_in_any_order_of_things_each_request_ends_once_with_its_own_answer(steps: list[str]) -> None:
    asyncio.run(_in_any_order(steps))


async def _in_any_order(steps: list[str]) -> None:
    clock = FakeClock()
    bridge = Bridge(clock)
    for name in ("ann", "ben"):
        await bridge.poll(name)
    asked: list[tuple[str, asyncio.Future[Any]]] = []
    polls: list[tuple[str, asyncio.Future[Any]]] = []
    fetched: list[Any] = []
    for number, step in enumerate(steps):
        verb, _, name = step.partition(" ")
        if verb == "ask":
            asked.append((str(number), asyncio.ensure_future(bridge.request("act", name, f"{name} {number}"))))
        elif verb in ("poll", "listen"):
            wait = 20_000 if verb == "listen" else 0
            polls.append((name, asyncio.ensure_future(bridge.poll(name or None, wait))))
        elif verb == "end":
            bridge.end_poll(name)
        elif verb == "hang" and polls:
            polls[-1][1].cancel()
        elif verb == "answer" and fetched:
            command = fetched[0 if name else -1]
            try:
                bridge.result(command.id, {"success": True, "message": command.action})
            except CohabitError as refused:
                assert refused.code == "CONFLICT"
        elif verb == "cancel" and asked:
            asked[-1][1].cancel()
        elif verb == "time":
            await clock.advance(TIMEOUT_MS // 2)
        if number % 3:  # sometimes two things happen at the same moment
            await asyncio.sleep(0)
        for whose, poll in [entry for entry in polls if entry[1].done()]:
            polls.remove((whose, poll))
            if not poll.cancelled() and (found := poll.result()) is not None:
                assert found.player_id == whose
                fetched.append(found)
    await clock.advance(2 * TIMEOUT_MS)
    assert len({command.id for command in fetched}) == len(fetched)
    answered = [request for _, request in asked if not request.cancelled() and request.exception() is None]
    assert all(request.done() for _, request in asked)
    assert all(request.result()["message"].split()[1] == n for n, request in asked if request in answered)
    reached = {command.action.split()[1] for command in fetched}
    for number_, request in asked:
        if not request.cancelled() and isinstance(request.exception(), Unreachable):
            assert number_ not in reached  # what was said not to be executed never got to a game
    assert bridge.pending == 0
    assert not [player for player in bridge.players() if player.connected]


async def test_a_client_of_another_kind_reads_an_error_that_it_knows() -> None:
    """What a program written from the description of the wire does: plain requests, ``error`` in the answer."""
    async with a_bridge(token=None) as served, httpx2.AsyncClient(base_url=served.url, trust_env=False) as plain:
        assert "error" in (await plain.post("/observe", json={"player_id": "ann"})).json()
        assert (await plain.get("/poll")).json() == {}
