"""The wire of the bridge, claim by claim, over a real socket."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cohabit.errors import GameCrash, UnknownAsset, every_error
from cohabit.faces.serve import serve, side_servers
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.identities import new_identity
from cohabit.protocols.worldbox.names import code_on_wire
from cohabit.protocols.worldbox.server import MAX_HEADERS, BridgeServer
from cohabit.scenario import AgentSpec, Scenario

from ..faces.test_cli_house import cohabit, running  # noqa: TID252 - two suites start the program
from ..ports import free_port  # noqa: TID252
from .bridging import SMALL, Bridged, bridged

ROUTES = [("GET", "/health"), ("POST", "/cmd"), ("GET", "/capabilities")]
WRONG = "x" * 48
DOT_NET = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z")


@pytest.fixture
async def box() -> AsyncIterator[Bridged]:
    async with bridged() as bridge:
        yield bridge


@pytest.fixture
async def zeus(box: Bridged) -> AsyncIterator[httpx2.AsyncClient]:
    async with box.http("zeus") as client:
        yield client


def error(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The error of a refusal, checked to have the shape of the wire."""
    body = answer.json()
    assert (answer.status_code, body["error"]["code"]) == (status, code), body
    assert body.keys() == {"ok", "error"}
    assert body["ok"] is False
    assert body["error"].keys() <= {"code", "message", "command", "args", "did_you_mean", "exception"}
    assert body["error"]["message"]
    return body["error"]


async def raw(bridge: Bridged, request: bytes) -> bytes:
    """Everything the server sends before it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", bridge.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


# -- transport ----------------------------------------------------------------------------------
async def test_every_answer_has_the_same_headers_and_ends_its_connection(box: Bridged) -> None:
    token = f"Authorization: Bearer {box.tokens['zeus']}\r\n"
    for request, status in (
        (f"GET /health HTTP/1.1\r\nHost: localhost\r\n{token}\r\n", 200),
        (f"GET /capabilities HTTP/1.1\r\nHost: localhost\r\n{token}\r\n", 200),
        (f"POST /cmd HTTP/1.1\r\nHost: localhost\r\n{token}Content-Length: 2\r\n\r\n[]", 400),
        ("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 401),
        ("GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
        (f"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n{token}\r\n", 404),
    ):
        head, _, body = (await raw(box, request.encode())).partition(b"\r\n\r\n")
        first, *lines = head.decode().lower().split("\r\n")
        assert first.split()[:2] == ["http/1.1", str(status)]
        assert sorted(lines) == [
            "cache-control: no-store",
            "connection: close",
            f"content-length: {len(body)}",
            "content-type: application/json; charset=utf-8",
        ]


async def test_a_query_string_and_the_content_type_are_ignored(zeus: httpx2.AsyncClient) -> None:
    assert (await zeus.get("/health?a=1")).status_code == 200
    assert (await zeus.get("/capabilities?a=1")).status_code == 200
    for kind in ("text/plain", "application/xml", "nonsense"):
        answer = await zeus.post("/cmd?x", content=b'{"name": "whoami"}', headers={"content-type": kind})
        assert answer.json()["result"]["agent_id"] == "zeus"


OTHER = "POST /health|GET /cmd|PUT /cmd|DELETE /capabilities|GET /|GET /cmd/|GET /api/whoami|OPTIONS /cmd|POST /mcp"


async def test_any_other_route_or_method_is_an_unknown_command(zeus: httpx2.AsyncClient) -> None:
    for other in OTHER.split("|"):
        assert "command" not in error(await zeus.request(*other.split()), 404, "UNKNOWN_COMMAND")


async def test_headers_and_bodies_have_a_limit(box: Bridged, zeus: httpx2.AsyncClient) -> None:
    assert (
        "headers"
        in error(await zeus.get("/health", headers={"x-much": "y" * MAX_HEADERS}), 413, "TOO_LARGE")["message"]
    )
    endless = b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"x-much: " + b"y" * 100_000
    assert b'"ok":true' not in await raw(box, endless)
    limit = box.house.settings.body_limit
    error(await zeus.post("/cmd", content=b" " * (limit + 1)), 413, "TOO_LARGE")

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(limit // 65_536 + 1):
            yield b" " * 65_536

    error(await zeus.post("/cmd", content=chunks()), 413, "TOO_LARGE")
    assert (await zeus.get("/health")).status_code == 200


async def test_a_request_that_never_ends_is_dropped_and_connections_are_limited() -> None:
    async with bridged(settings={"request_timeout_s": 20, "connections_per_address": 1}) as box:
        reader, writer = await asyncio.open_connection("127.0.0.1", box.port)
        writer.write(b"POST /cmd HTTP/1.1\r\nHost: localhost\r\n")
        assert b" 503 " in await raw(box, b"")
        await box.clock.advance(21_000)
        assert await reader.read() == b""
        writer.close()
        assert (box.house.overload.counts["late"], box.house.overload.counts["address"]) == (1, 1)
        assert (await box.result("zeus", "whoami"))["agent_id"] == "zeus"


async def test_a_client_that_disconnects_halfway_disturbs_nobody(
    box: Bridged, caplog: pytest.LogCaptureFixture
) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", box.port)
    token = box.tokens["zeus"]
    writer.write(f"POST /cmd HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n".encode())
    writer.write(b"Content-Length: 100\r\n\r\n{")
    await writer.drain()
    writer.close()
    assert (await box.result("zeus", "whoami"))["agent_id"] == "zeus"
    assert "internal error" not in caplog.text


async def test_a_foreign_host_or_origin_is_refused_on_every_route(zeus: httpx2.AsyncClient) -> None:
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}, {"origin": "null"}):
        for method, path in ROUTES:
            error(await zeus.request(method, path, headers=headers), 403, "PERMISSION_DENIED")


# -- credentials --------------------------------------------------------------------------------
async def test_every_route_needs_a_valid_credential(box: Bridged) -> None:
    good = box.tokens["zeus"]
    for headers in (
        {},
        {"authorization": f"Bearer {WRONG}"},
        {"authorization": "Bearer"},
        {"authorization": good},
        {"x-wb-token": WRONG},
        {"authorization": f"Bearer {WRONG}", "x-wb-token": good},  # a wrong bearer is not rescued
        {"authorization": "Bearer", "x-wb-token": good},
    ):
        async with box.http(**headers) as client:
            for method, path in ROUTES:
                answer = await client.request(method, path, content=b'{"name": "whoami"}')
                error(answer, 401, "UNAUTHORIZED")
                assert not any(token in answer.text for token in (WRONG, good))


async def test_a_bearer_token_wins_over_the_older_header(box: Bridged) -> None:
    zeus, ares = box.tokens["zeus"], box.tokens["ares"]
    for headers, who in (
        ({"authorization": f"Bearer {zeus}"}, "zeus"),
        ({"AUTHORIZATION": f"bEARER   {zeus}"}, "zeus"),
        ({"authorization": f"Bearer {zeus}", "x-wb-token": ares}, "zeus"),
        ({"X-WB-Token": ares}, "ares"),
        ({"authorization": "Basic YTpi", "x-wb-token": ares}, "ares"),
    ):
        async with box.http(**headers) as client:
            answer = await client.post("/cmd", json={"name": "whoami"})
        assert answer.json()["result"]["agent_id"] == who


async def test_a_revoked_token_is_refused(box: Bridged) -> None:
    identities = box.house.identities
    identities.revoke([identities.identify(box.tokens["ares"], box.clock.now())])
    error(await box.cmd("ares", "whoami"), 401, "UNAUTHORIZED")


async def test_a_credential_of_another_world_or_of_no_room_is_refused(box: Bridged) -> None:
    nim = Scenario(scenario="table", world="nim", agents=[AgentSpec(id="ann", role="god")])
    box.tokens |= (await box.house.create_room(nim, "table"))[1]
    assert "nim" in error(await box.cmd("ann", "whoami"), 404, "UNKNOWN_COMMAND")["message"]
    host = new_identity("roamer", host=True)
    box.tokens["roamer"] = box.house.identities.temporary(host, None, box.clock.now())
    error(await box.cmd("roamer", "whoami"), 400, "BAD_ARGS")


# -- requests -----------------------------------------------------------------------------------
NOT_JSON = [
    b"{",
    b"name=whoami",
    b'{"name": "whoami",}',
    b'{"name": NaN}',
    b'{"name": "\xff"}',
    b"\xff\xfe",
    b"[" * 9_000,
]
NO_COMMAND = [b"[]", b"1", b"null", b'"whoami"', b"{}", b"", b'{"name": ""}', b'{"name": "  "}', b'{"name": null}',
              b'{"name": 7}', b'{"name": ["whoami"]}', b'{"command": "whoami"}']  # fmt: skip


async def test_a_body_without_a_command_is_bad_args(zeus: httpx2.AsyncClient) -> None:
    for body in (*NOT_JSON, *NO_COMMAND):
        assert "command" not in error(await zeus.post("/cmd", content=body), 400, "BAD_ARGS"), body


async def test_arguments_that_are_not_an_object_count_as_none(zeus: httpx2.AsyncClient) -> None:
    for args in ({}, {"args": None}, {"args": []}, {"args": "x"}, {"args": 7}, {"args": True}):
        assert (await zeus.post("/cmd", json={"name": "whoami", **args})).status_code == 200
        missing = await zeus.post("/cmd", json={"name": "get_tile", **args})
        assert error(missing, 400, "BAD_ARGS")["args"] == {}


async def test_arguments_that_a_command_does_not_know_are_ignored(box: Bridged) -> None:
    assert (await box.result("zeus", "get_tile", x=1, y=2, why="because"))["x"] == 1
    assert (await box.result("zeus", "whoami", verbose=True))["agent_id"] == "zeus"
    assert (await box.result("zeus", "paint_tile", x=1, tile_id="soil", brush=None)) == {"x": 1, "tile_id": "soil"}


async def test_arguments_of_a_wrong_type_are_bad_args_and_are_repeated(box: Bridged) -> None:
    for x in ("1", 1.5, None, True, [1], {"x": 1}):
        told = error(await box.cmd("zeus", "get_tile", {"x": x}), 400, "BAD_ARGS")
        assert told["command"] == "get_tile"
        assert told["args"] == ({} if x is None else {"x": x})


# -- answers ------------------------------------------------------------------------------------
async def test_an_answer_is_ok_result_and_tick_and_nulls_are_left_out(box: Bridged) -> None:
    await box.clock.advance(1_000)
    body = (await box.cmd("zeus", "get_tile", {"x": 2})).json()
    assert body == {"ok": True, "result": {"x": 2, "notes": [{"x": 2}]}, "tick": 10}
    assert not {"claimed_kingdom_id", "seat"} & (await box.result("zeus", "whoami")).keys()
    assert (await box.result("athena", "whoami"))["claimed_kingdom_id"] == 1


REFUSALS: list[tuple[str, str, dict[str, Any], int, str, set[str]]] = [
    ("zeus", "get_tyle", {"x": 1}, 404, "UNKNOWN_COMMAND", set()),
    ("zeus", "get_tile", {"x": 9}, 400, "OUT_OF_BOUNDS", set()),
    ("zeus", "paint_tile", {"x": 1, "tile_id": "sad"}, 400, "UNKNOWN_ASSET", {"did_you_mean"}),
    ("zeus", "paint_tile", {"x": 1, "tile_id": "sand"}, 422, "GAME_REJECTED", set()),
    ("athena", "paint_tile", {"x": 1, "tile_id": "sand"}, 403, "PERMISSION_DENIED", set()),
    ("zeus", "crash", {}, 500, "GAME_CRASH", {"exception"}),
    ("athena", "send_message", {"to": "arse", "content": "x"}, 400, "BAD_ARGS", set()),
]


async def test_an_error_repeats_the_request_and_has_the_fields_of_its_code(box: Bridged) -> None:
    for who, name, args, status, code, more in REFUSALS:
        told = error(await box.cmd(who, name, args), status, code)
        assert told.keys() == {"code", "message", "command", "args"} | more
        assert (told["command"], told["args"]) == (name, args)
        assert box.tokens[who] not in str(told)


async def test_a_refusal_says_what_helps_and_nothing_about_the_implementation(box: Bridged) -> None:
    crash = (await box.cmd("zeus", "crash")).json()["error"]
    assert crash["exception"]["type"] == "ZeroDivisionError"
    assert "42" not in str(crash)
    denied = (await box.cmd("athena", "paint_tile")).json()["error"]["message"]
    assert all(word in denied for word in ("athena", "player", "act_global"))
    for name, args in (("get_tyle", {}), ("send_message", {"to": "arse", "content": "x"})):
        assert "Did you mean: " in (await box.cmd("athena", name, args)).json()["error"]["message"]


async def test_a_world_that_hangs_is_a_time_out_with_an_exception() -> None:
    async with bridged(settings={"world_deadline_s": 0.5}) as box:
        told = error(await box.cmd("zeus", "hang"), 504, "MAIN_THREAD_TIMEOUT")
        assert told["exception"].keys() == {"type", "message"}
        error(await box.cmd("zeus", "whoami"), 503, "QUARANTINED")


async def test_too_many_calls_are_busy_and_their_arguments_are_not_repeated() -> None:
    async with bridged(settings={"calls_per_second": 2}) as box:
        for _ in range(2):
            await box.result("zeus", "get_tile", x=1)
        told = error(await box.cmd("zeus", "get_tile", {"x": 1}), 503, "BUSY")
        assert told.keys() == {"code", "message", "command"}


async def test_every_error_arrives_with_its_code_and_status(box: Bridged, monkeypatch: Any) -> None:
    errors = list(every_error())
    assert UnknownAsset in errors
    assert GameCrash in errors
    for cls in errors:

        async def refuse(*args: Any, cls: Any = cls, **how: Any) -> Any:
            raise cls("no, because", did_you_mean=["this"], needs=["that"])

        monkeypatch.setattr(box.house, "call", refuse)
        told = error(await box.cmd("zeus", "whoami"), cls.status, code_on_wire(cls.code))
        assert ("did_you_mean" in told) is (cls.code == "UNKNOWN_ASSET")
        assert ("exception" in told) is (cls.code in ("GAME_CRASH", "WORLD_TIMEOUT"))


async def test_a_bug_is_internal_and_its_text_is_not_sent(box: Bridged, monkeypatch: Any) -> None:
    async def broken(*args: Any, **how: Any) -> Any:
        raise RuntimeError("the inside")

    monkeypatch.setattr(box.house, "call", broken)
    assert "inside" not in error(await box.cmd("zeus", "whoami"), 500, "INTERNAL")["message"]


# -- the order of the checks --------------------------------------------------------------------
async def test_a_house_that_shuts_down_says_so_before_it_asks_for_a_credential(box: Bridged) -> None:
    box.house.rooms.closing = True
    async with box.http() as stranger:
        for method, path in (*ROUTES, ("GET", "/nothing")):
            error(await stranger.request(method, path), 503, "DISABLED")


async def test_the_credential_is_checked_before_the_route_and_the_route_before_the_body(
    box: Bridged, zeus: httpx2.AsyncClient
) -> None:
    async with box.http() as stranger:
        error(await stranger.post("/nothing", content=b"{"), 401, "UNAUTHORIZED")
        error(await stranger.post("/cmd", content=b"{"), 401, "UNAUTHORIZED")
    error(await zeus.post("/nothing", content=b"{"), 404, "UNKNOWN_COMMAND")
    error(await zeus.post("/cmd", content=b'{"name": "nothing", "args": {"x": "?"}}'), 404, "UNKNOWN_COMMAND")


TURNS = {"turn_based": True, "turn_order": ["athena", "ares", "argus"]}


async def test_the_turn_is_checked_before_the_permission_and_that_before_the_arguments() -> None:
    async with bridged(**TURNS) as box:
        wrong = {"x": "?"}
        assert await box.refusal("argus", "paint_tile", **wrong) == (409, "TURN_NOT_YOURS")
        assert await box.refusal("ares", "pause") == (409, "TURN_NOT_YOURS")
        assert await box.refusal("ares", "save_world") == (409, "TURN_NOT_YOURS")
        assert await box.refusal("athena", "paint_tile", **wrong) == (403, "PERMISSION_DENIED")
        assert await box.refusal("athena", "save_world") == (403, "PERMISSION_DENIED")
        assert await box.refusal("zeus", "paint_tile", **wrong) == (400, "BAD_ARGS")
        for _ in range(2):
            await box.result("zeus", "turn_advance")
        assert await box.refusal("argus", "paint_tile", **wrong) == (403, "PERMISSION_DENIED")


async def test_only_actions_and_control_wait_for_a_turn_and_a_god_waits_for_none() -> None:
    async with bridged(**TURNS) as box:
        for name in (
            "whoami",
            "session_info",
            "objective_status",
            "list_speeds",
            "get_tile",
            "recv_messages",
            "dismiss_window",
        ):
            await box.result("ares", name, x=1)
        await box.result("ares", "send_message", to="athena", content="hurry")
        assert await box.refusal("ares", "work") == (409, "TURN_NOT_YOURS")
        assert (await box.result("athena", "work"))["success"] is True
        await box.result("zeus", "paint_tile", x=1, tile_id="soil")


async def test_a_turn_is_passed_on_by_its_holder_or_by_a_god() -> None:
    async with bridged(**TURNS) as box:
        info = await box.result("zeus", "session_info")
        assert (info["turn_based"], info["turn_order"], info["current_turn"]) == (True, TURNS["turn_order"], "athena")
        assert await box.refusal("ares", "turn_advance") == (409, "TURN_NOT_YOURS")
        passed = await box.result("athena", "turn_advance")
        assert passed == {"previous": "athena", "next": "ares", "forced_by_god": False}
        assert (await box.result("zeus", "turn_advance"))["forced_by_god"] is True
        assert (await box.result("argus", "turn_advance"))["next"] == "athena"
    async with bridged() as box:
        assert await box.refusal("zeus", "turn_advance") == (400, "BAD_ARGS")
        assert not {"turn_order", "current_turn"} & (await box.result("zeus", "session_info")).keys()


async def test_an_archived_room_can_be_read_and_not_changed(box: Bridged, zeus: httpx2.AsyncClient) -> None:
    assert (await zeus.get("/health")).json()["result"]["enabled"] is True
    await box.result("zeus", "archive")
    assert await box.refusal("zeus", "paint_tile", x=1, tile_id="soil") == (503, "DISABLED")
    assert (await zeus.get("/health")).json()["result"]["enabled"] is False
    assert (await box.result("zeus", "get_tile", x=1))["x"] == 1


async def test_refusals_on_this_wire_are_in_the_audit(box: Bridged) -> None:
    await box.refusal("athena", "paint_tile", x=1, tile_id="soil")
    await box.refusal("ares", "nonsense")
    kept = [(r.member, r.command, r.code) for r in box.house.rooms["realm"].room.audit.drain()]
    assert kept == [("athena", "paint_tile", "PERMISSION_DENIED"), ("ares", "?", "UNKNOWN_COMMAND")]


# -- health, capabilities, the session ----------------------------------------------------------
ABOUT = {"mod_version", "worldbox_version", "unity_version", "assembly_csharp_sha256"}


async def test_health_is_nested_and_is_a_command_too(box: Bridged, zeus: httpx2.AsyncClient) -> None:
    body = (await zeus.get("/health")).json()
    assert body.keys() == {"ok", "tick", "result"}
    assert body["result"].keys() == ABOUT | {"ok", "tick", "enabled", "multi_agent", "scenario", "agent_count"}
    assert (body["result"]["multi_agent"], body["result"]["agent_count"]) == (True, 4)
    assert await box.result("argus", "health") == body["result"]


async def test_capabilities_have_no_envelope_and_name_every_command(box: Bridged, zeus: httpx2.AsyncClient) -> None:
    listed = (await zeus.get("/capabilities")).json()
    assert listed.keys() == ABOUT | {"commands"}
    commands = {line["name"]: line for line in listed["commands"]}
    assert len(commands) == len(listed["commands"])
    assert set(commands) >= {c.name for c in box.house.rooms["realm"].room.commands} | {"save_world", "load_world"}
    assert "capabilities" not in commands
    for line in commands.values():
        assert line.keys() == {"name", "category", "description", "requires_main_thread", "schema"}
        assert line["category"] in ("meta", "discovery", "action", "read", "control", "bus")
        assert line["schema"]["type"] == "object"
        assert line["schema"]["additionalProperties"] is False
        assert line["schema"].keys() >= {"properties", "required"}
    assert commands["get_tile"]["requires_main_thread"] is True
    assert commands["whoami"]["requires_main_thread"] is False
    async with box.http("athena") as other:  # what is there, not what one may do
        assert (await other.get("/capabilities")).json() == listed


async def test_last_seen_is_reported_once_an_agent_has_called(box: Bridged) -> None:
    def seen(info: Any) -> dict[str, str | None]:
        return {agent["id"]: agent.get("last_seen_utc") for agent in info["agents"]}

    first = seen(await box.result("zeus", "session_info"))
    assert DOT_NET.fullmatch(first["zeus"] or "")
    assert (first["athena"], first["ares"]) == (None, None)
    await box.clock.advance(1_500)
    async with box.http("ares") as ares:
        await ares.get("/capabilities")
    later = seen(await box.result("zeus", "session_info"))
    assert later["ares"] == later["zeus"] != first["zeus"]
    assert later["athena"] is None


async def test_objectives_come_with_the_standings_of_the_kingdoms(box: Bridged) -> None:
    status = await box.result("argus", "objective_status")
    assert status["kingdoms"] == [{"id": 1, "name": "Reds", "units": 3, "cities": 1, "wild": False}]
    assert [agent["agent_id"] for agent in status["agents"]] == ["zeus", "athena", "ares", "argus"]


async def test_messages_have_the_shapes_of_the_wire(box: Bridged) -> None:
    empty = await box.result("ares", "recv_messages", since_seq=7)
    assert (empty["items"], empty["count"], empty["next_cursor"]) == ([], 0, 7)
    sent = await box.result("athena", "send_message", to="ares", content="peace?")
    assert sent == {"seq": 1, "recipients": ["ares"], "broadcast": False}
    told = await box.result("zeus", "send_message", to="*", content="behold", kind="omen")
    assert told == {"seq": 4, "recipients": ["athena", "ares", "argus"], "broadcast": True}
    got = await box.result("ares", "recv_messages")
    assert [(m["seq"], m["from"], m["to"], m["kind"], m["content"]) for m in got["items"]] == [
        (1, "athena", "ares", "", "peace?"),
        (3, "zeus", "*", "omen", "behold"),
    ]
    assert all(DOT_NET.fullmatch(m["sent_utc"]) for m in got["items"])
    assert (got["count"], got["next_cursor"]) == (2, 3)
    assert await box.result("ares", "recv_messages") == got  # reading consumes nothing
    assert await box.refusal("athena", "send_message", to="*", content="x") == (403, "PERMISSION_DENIED")
    assert await box.refusal("athena", "send_message", to="", content="x") == (400, "BAD_ARGS")


async def test_a_message_can_be_waited_for(box: Bridged) -> None:
    waiting = asyncio.ensure_future(box.result("ares", "recv_messages", wait_ms=30_000))
    while not box.house.rooms["realm"].history._waiters:
        await asyncio.sleep(0)
    await box.result("athena", "send_message", to="ares", content="now")
    assert (await waiting)["items"][0]["content"] == "now"


# -- with Kingdoms ------------------------------------------------------------------------------
def keys(text: str) -> tuple[set[str], set[str]]:
    """``a b c?``: the keys that are required, and all that are allowed."""
    words = text.split()
    must = {word for word in words if not word.endswith("?")}
    return must, must | {word.rstrip("?") for word in words}


LISTED = "items count"
WORLD = (
    "width height seed tick paused population_alive population_lifetime kingdoms_alive kingdoms_ever_created "
    "cities_alive cities_ever_created"
)
SHEET: list[tuple[str, dict[str, Any], str]] = [
    ("whoami", {}, "agent_id role permissions scenario partial_intel"),
    ("session_info", {}, "scenario partial_intel turn_based legacy_mode agent_count agents"),
    ("objective_status", {}, "scenario agents kingdoms"),
    ("list_tiles", {}, LISTED),
    ("list_actors", {}, LISTED),
    ("list_powers", {}, LISTED),
    ("list_speeds", {}, f"{LISTED} current"),
    ("get_world_state", {}, WORLD),
    ("get_tile", {"x": 5, "y": 6}, "x y tile_id height actors actor_count"),
    ("list_kingdoms", {"include_wild": False}, LISTED),
    ("list_cities", {}, LISTED),
    ("query_actors", {"alive": True, "limit": 500, "offset": 0},
     "items matched returned offset limit total_scanned has_more"),
    ("screenshot", {"max_dimension": 1280, "format": "jpg", "quality": 80},
     "format width height source_width source_height quality base64 bytes"),
    ("get_ui_state", {}, "window_active config_paused effective_paused world_loading"),
    ("dismiss_window", {}, "dismissed"),
    ("pause", {}, "previous_paused paused"),
    ("set_speed", {"speed_id": "x5"}, "speed_id multiplier previous"),
    ("spawn", {"entity_id": "wolf", "x": 60, "y": 60, "count": 1, "adult": False, "spawn_height": 6.0},
     "entity_id x y requested spawned failed names"),
    ("paint_tile", {"x": 60, "y": 60, "tile_id": "sand", "radius": 0}, "center radius tile_id painted skipped"),
    ("invoke_power", {"power_id": "lightning", "x": 60, "y": 60}, "power_id x y accepted via"),
    ("save_world", {"folder": "first", "compress": True}, "saved folder compressed path"),
    ("load_world", {"path": "first"}, "scheduled bytes source path note"),
    ("generate_world", {"zone_x": 2, "zone_y": 2}, "scheduled zone_x zone_y note"),
    ("resume", {}, "previous_paused paused"),
    ("send_message", {"to": "ares", "content": "x"}, "seq recipients broadcast"),
    ("recv_messages", {"since_seq": 0, "max": 50}, "items count next_cursor"),
]  # fmt: skip
LINES = {
    "list_tiles": "id color_hex edge_color_hex? has_biome_tags?",
    "list_actors": "id race asset_type base_health base_damage base_speed",
    "list_powers": "id tab_id target_type",
    "list_speeds": "id multiplier",
    "list_kingdoms": "id name race cities_count units_count wild",
    "list_cities": "id name kingdom_id kingdom_name building_count unit_count",
    "query_actors": "name asset_id x y",
}


async def test_every_command_of_the_sheet_answers_with_its_keys(tmp_path: Path) -> None:
    async with bridged(tmp_path, **SMALL) as realm:
        for name, args, told in SHEET:
            answer = await realm.result("zeus", name, **args)
            missing = keys(told)[0] - answer.keys()
            assert not missing, f"{name}: {missing}"
            for line in answer["items"][:3] if name in LINES else ():
                assert not keys(LINES[name])[0] - line.keys(), f"{name}: {line}"
            assert "null" not in json.dumps(answer).replace("base64", "")
        assert await realm.refusal("zeus", "turn_advance") == (400, "BAD_ARGS")


RAIN = {"power_id": "rain", "x": 60, "y": 60}
EDGES: list[tuple[str, dict[str, Any], str | dict[str, Any]]] = [
    ("get_tile", {"x": 127, "y": 127}, {"x": 127}),
    ("get_tile", {"x": 128, "y": 0}, "OUT_OF_BOUNDS"),
    ("get_tile", {"x": 0, "y": -1}, "OUT_OF_BOUNDS"),
    ("spawn", {"entity_id": "wolff", "x": -1, "y": 1}, "UNKNOWN_ASSET"),  # before the place
    ("spawn", {"entity_id": "wolf", "x": -1, "y": 1}, "OUT_OF_BOUNDS"),
    ("spawn", {"entity_id": "wolf", "x": 60, "y": 60, "count": 0}, "BAD_ARGS"),
    ("spawn", {"entity_id": "wolf", "x": 60, "y": 60, "count": 101}, "BAD_ARGS"),
    ("paint_tile", {"x": -1, "y": 3, "tile_id": "sand", "radius": 2}, {"painted": 4, "skipped": 9}),
    ("paint_tile", {"x": 1, "y": 3, "tile_id": "soil_low", "radius": -3}, {"radius": 0, "painted": 1}),
    ("paint_tile", {"x": 1, "y": 3}, "BAD_ARGS"),
    ("paint_tile", {"x": 1, "y": 3, "top_id": "forrest"}, "UNKNOWN_ASSET"),
    ("invoke_power", RAIN | {"power_id": "rainn"}, "UNKNOWN_ASSET"),
    ("invoke_power", RAIN | {"x": 500}, "OUT_OF_BOUNDS"),
    ("invoke_power", RAIN | {"radius": 5}, {"radius": 5, "brush": "circ_5"}),
    ("invoke_power", RAIN | {"radius": 51}, "BAD_ARGS"),
    ("invoke_power", RAIN | {"pulses": 3}, {"pulses": 3, "pulses_applied": 3}),
    ("invoke_power", RAIN | {"pulses": 201}, "BAD_ARGS"),
    ("invoke_power", RAIN | {"x2": 70}, "BAD_ARGS"),
    ("invoke_power", RAIN | {"x2": 70, "y2": 60}, "BAD_ARGS"),
    ("invoke_power", RAIN | {"x2": 70, "y2": 60, "pulses": 4}, {"x2": 70, "y2": 60}),
    ("invoke_power", RAIN | {"power_id": "human", "radius": 5}, "GAME_REJECTED"),
    ("query_actors", {"limit": 100_000}, {"limit": 5000}),
    ("query_actors", {"in_rect": {"x": 1}, "race": "no_such"}, {"matched": 0, "has_more": False}),
    ("list_cities", {"kingdom_id": 999}, {"items": [], "count": 0}),
    ("screenshot", {"format": "PNG", "max_dimension": 50}, {"format": "png"}),
    ("screenshot", {"format": "", "quality": 500, "max_dimension": 50}, {"format": "jpg", "quality": 100}),
    ("screenshot", {"format": "gif"}, "BAD_ARGS"),
    ("screenshot", {"max_dimension": -1}, "BAD_ARGS"),
    ("set_speed", {"speed_id": "x40"}, {"speed_id": "x40", "multiplier": 20.0}),
    ("set_speed", {"speed_id": "x6"}, "UNKNOWN_ASSET"),
    ("recv_messages", {"max": -1, "since_seq": 5}, {"next_cursor": 5}),
    ("load_world", {}, "BAD_ARGS"),
    ("load_world", {"path": "../realm"}, "BAD_ARGS"),
    ("load_world", {"bytes_b64": "?"}, "BAD_ARGS"),
    ("load_world", {"bytes_b64": "AAAA"}, "GAME_REJECTED"),
    ("save_world", {"folder": " "}, "BAD_ARGS"),
    ("save_world", {"folder": "C:x"}, "BAD_ARGS"),
    ("save_world", {"folder": "late/one"}, {"path": "late/one/world.save"}),
    ("save_world", {"name": "two"}, {"name": "two", "folder": "two", "path": "two/world.save"}),
    ("save_world", {"name": "two", "folder": "two"}, "BAD_ARGS"),
    ("load_world", {"name": "two", "path": "two"}, "BAD_ARGS"),
    ("save_world", {}, "BAD_ARGS"),
    ("load_world", {"path": "late/one/world.save"}, {"name": "late/one", "path": "late/one", "source": "path"}),
    ("save_world", {"folder": "again"}, "GAME_REJECTED"),  # a world is loading
    ("generate_world", {"zone_x": 2, "zone_y": 17}, "BAD_ARGS"),
]


async def test_values_at_a_limit_are_accepted_or_refused_as_the_sheet_says(tmp_path: Path) -> None:
    async with bridged(tmp_path, **SMALL) as realm:
        for name, args, told in EDGES:
            body = (await realm.cmd("zeus", name, args)).json()
            if isinstance(told, str):
                assert body.get("error", {}).get("code") == told, (name, args, body)
            else:
                assert body["ok"], (name, args, body)
                assert {key: body["result"].get(key) for key in told} == told, (name, args)


async def test_fog_holds_on_this_wire_too() -> None:
    async with bridged(**SMALL) as realm:
        mine = (await realm.result("athena", "whoami"))["claimed_kingdom_id"]
        cities = (await realm.result("athena", "list_cities"))["items"]
        assert {city["kingdom_id"] for city in cities} == {mine}
        theirs = (await realm.result("ares", "whoami"))["claimed_kingdom_id"]
        assert (await realm.result("athena", "list_cities", kingdom_id=theirs))["items"] == []
        everybody = (await realm.result("athena", "list_kingdoms"))["items"]
        assert {mine, theirs} <= {kingdom["id"] for kingdom in everybody}
        for name in ("screenshot", "generate_world", "save_world"):
            assert await realm.refusal("athena", name, folder="x") == (403, "PERMISSION_DENIED")


# -- serving ------------------------------------------------------------------------------------
async def test_the_bridge_listens_on_loopback_whatever_address_the_house_has() -> None:
    for host in ("127.0.0.1", "0.0.0.0", "::", "10.1.2.3"):
        async with House.open(Settings(host=host, bridge_port=free_port())) as house:
            server = BridgeServer.open(house)
            assert isinstance(server, BridgeServer)
            assert server._listener.getsockname() == ("127.0.0.1", house.settings.bridge_port)
            async with server.serving():  # closes the listener at its end
                pass
    async with House.open(Settings(bridge_port=0, nexus_port=0)) as house:
        assert side_servers(house) == []


async def test_house_and_bridge_are_served_side_by_side_and_stop_together() -> None:
    async with House.open(Settings(port=0, bridge_port=free_port())) as house:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(serve(house, ready=ready.set_result, mcp=False, beside=side_servers(house)))
        ports = (int((await ready).rsplit(":", 1)[1]), house.settings.bridge_port)
        async with httpx2.AsyncClient() as client:
            assert [(await client.get(f"http://127.0.0.1:{p}/health")).status_code for p in ports] == [200, 401]
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
    for port in ports:
        with pytest.raises(OSError):  # noqa: PT011 - whatever the system calls it
            await asyncio.open_connection("127.0.0.1", port)


@pytest.mark.parametrize("world", ["nim", "kingdoms"])
async def test_a_bridge_port_in_use_is_reported_only_for_rooms_that_its_clients_could_play(
    world: str, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with House.open(Settings(port=0, bridge_port=port)) as house:
            beside = side_servers(house)
            agents = [AgentSpec(id="ann", role="player", claim="auto:0"), AgentSpec(id="bob", role="player")]
            _, tokens = await house.create_room(Scenario(world=world, seed=3, agents=agents), "r")
            lines = [line for server in beside for line in server.connect_lines(house.rooms.values(), tokens)]
            for server in beside:
                async with server.serving():
                    pass
                server.close()
    reported = (
        f"Clients of the WorldBox bridge cannot connect: cannot listen on 127.0.0.1:{port} "
        "(Address already in use); choose another port with --bridge-port, or switch it off with 0"
    )
    assert lines == ([reported, ""] if world == "kingdoms" else [])
    assert "WorldBox" not in caplog.text


KINGDOMS = {
    "world": "kingdoms",
    "seed": 3,
    "config": {"zones_x": 2, "zones_y": 2},
    "agents": [{"id": "ann", "role": "god"}],
}


def test_up_prints_how_to_connect_the_games_client(tmp_path: Path) -> None:
    (tmp_path / "agents.json").write_text(json.dumps(KINGDOMS), encoding="utf-8")
    port = free_port()
    with running("up", "agents.json", "--bridge-port", str(port), home=tmp_path) as house:
        token = house.token("ann")
        assert f"WORLDBOX_MCP_BRIDGE_PORT={port} WORLDBOX_MCP_TOKEN={token} worldbox-mcp" in house.text
        said = httpx2.get(f"http://127.0.0.1:{port}/health", headers={"authorization": f"Bearer {token}"})
        assert said.json()["result"]["worldbox_version"].startswith("kingdoms")
        code, _, err = house.stop()
        assert (code, err) == (0, "")
    with running("serve", "--bridge-port", str(port), home=tmp_path) as house:
        assert f"WORLDBOX_MCP_BRIDGE_PORT={port}" in house.text


def test_a_taken_port_is_a_warning_and_the_house_runs_without_the_bridge(tmp_path: Path) -> None:
    (tmp_path / "agents.json").write_text(json.dumps(KINGDOMS), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with running("up", "agents.json", "--bridge-port", port, home=tmp_path) as house:
            token = house.token("ann")
            assert "worldbox-mcp" not in house.text
            assert cohabit("call", "whoami", "--url", house.url, "--token", token, home=tmp_path).returncode == 0
            assert f"127.0.0.1:{port}" in house.text
            assert "--bridge-port" in house.text
