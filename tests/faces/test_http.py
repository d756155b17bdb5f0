"""The HTTP interface over a real socket: accepted calls, refused calls, and the shape of an error."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import InvalidStatus

from cohabit.errors import CohabitError, Unauthorized, by_code, every_error
from cohabit.faces.app import make_app
from cohabit.faces.python import connect
from cohabit.faces.serve import serve
from cohabit.house.calls.door import Door
from cohabit.house.commands import every_command
from cohabit.house.house import House
from cohabit.house.overload import KINDS
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

from .serving import Served, served

DEN = "/api/rooms/den"


@pytest.fixture
async def den() -> AsyncIterator[Served]:
    async with served(body_limit=20_000) as served_house:
        yield served_house


@pytest.fixture
async def ann(den: Served) -> AsyncIterator[httpx2.AsyncClient]:
    async with den.http("ann") as client:
        yield client


def error(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The refusal, which has the one shape that every refusal has."""
    body = answer.json()
    assert (answer.status_code, body["error"]["code"]) == (status, code)
    assert body.keys() == {"ok", "error"}
    assert body["ok"] is False
    assert body["error"]["message"]
    assert answer.headers["content-type"] == "application/json"
    return body["error"]


def result(answer: httpx2.Response) -> Any:
    body = answer.json()
    assert answer.status_code == 200, body
    assert body.keys() == {"ok", "result"}
    assert body["ok"] is True
    return body["result"]


# -- arguments ----------------------------------------------------------------------------------
NOT_JSON = [b"{", b"n=1", b'{"n": 1,}', b'{"n": NaN}', b'{"n": "\xff"}', b"\xff\xfe", b"[" * 15_000]


@pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
async def test_a_body_that_is_not_json_is_bad_args(ann: httpx2.AsyncClient, body: bytes) -> None:
    error(await ann.post(f"{DEN}/hide", content=body), 400, "BAD_ARGS")
    assert result(await ann.post(f"{DEN}/whoami"))["handle"] == "ann"


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"n"', b"true"])
async def test_a_body_that_is_no_object_is_bad_args(ann: httpx2.AsyncClient, body: bytes) -> None:
    assert "object" in error(await ann.post(f"{DEN}/hide", content=body), 400, "BAD_ARGS")["message"]


@pytest.mark.parametrize("args", [{"n": "one"}, {"n": None}, {"n": 1.5}, {"n": [1]}, {"n": True}, {}])
async def test_arguments_of_a_wrong_type_are_bad_args(ann: httpx2.AsyncClient, args: dict[str, Any]) -> None:
    assert "hide" in error(await ann.post(f"{DEN}/hide", json=args), 400, "BAD_ARGS")["message"]


async def test_an_unknown_argument_is_told_with_the_one_that_was_meant(ann: httpx2.AsyncClient) -> None:
    told = error(await ann.post(f"{DEN}/send_message", json={"to": "bob", "contents": "hi"}), 400, "BAD_ARGS")
    assert told["did_you_mean"] == ["content"]


async def test_an_empty_body_is_no_arguments(ann: httpx2.AsyncClient) -> None:
    assert result(await ann.post(f"{DEN}/whoami", content=b""))["handle"] == "ann"


# -- routes -------------------------------------------------------------------------------------
async def test_an_unknown_command_is_told_with_the_one_that_was_meant(ann: httpx2.AsyncClient) -> None:
    for answer in (await ann.post(f"{DEN}/whoamy"), await ann.get(f"{DEN}/whoamy"), await ann.post("/api/whoamy")):
        assert "whoami" in error(answer, 404, "UNKNOWN_COMMAND")["did_you_mean"]


async def test_a_room_that_is_not_there_and_one_that_is_not_yours_look_alike(den: Served, ann: Any) -> None:
    await den.house.create_room(Scenario(scenario="other", world="nim", agents=[AgentSpec(id="ann")]), "other")
    messages = []
    for room in ("nowhere", "other"):
        told = error(await ann.post(f"/api/rooms/{room}/whoami"), 404, "UNKNOWN_ROOM")
        error(await ann.get(f"/api/rooms/{room}/whoami"), 404, "UNKNOWN_ROOM")
        messages.append(told["message"].replace(room, "…"))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("path", ["/nothing", "/api/a/b/c/d", "/api/", "/web/none.js", "/%00", "/api/rooms/den/"])
async def test_a_route_that_is_not_there_has_the_shape_of_every_refusal(ann: httpx2.AsyncClient, path: str) -> None:
    error(await ann.get(path), 404, "UNKNOWN_COMMAND")


@pytest.mark.parametrize(("method", "path"), [("DELETE", f"{DEN}/whoami"), ("PUT", "/api/rooms"), ("POST", "/health")])
async def test_a_wrong_method_has_the_shape_of_every_refusal(ann: httpx2.AsyncClient, method: str, path: str) -> None:
    assert "method" in error(await ann.request(method, path), 405, "UNKNOWN_COMMAND")["message"]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_call_that_waits_ends_when_its_client_disconnects(den: Served, ann: Any, method: str) -> None:
    path = f"{DEN}/recv_messages"
    asked = ann.get(path, params={"wait_ms": 30_000}) if method == "GET" else ann.post(path, json={"wait_ms": 30_000})
    waiting = asyncio.ensure_future(asked)
    while not den.house.door._waits:
        await asyncio.sleep(0)
    waiting.cancel()
    while den.house.door._waits:  # on a clock that stands still, it would not end by itself
        await asyncio.sleep(0)
    assert not den.house.door._tasks


async def test_a_call_that_waits_is_answered_while_its_client_is_connected(den: Served, ann: Any) -> None:
    waiting = asyncio.ensure_future(ann.post(f"{DEN}/recv_messages", json={"wait_ms": 30_000}))
    while not den.house.door._waits:
        await asyncio.sleep(0)
    await den.act("bob", "send_message", {"to": "ann", "content": "wake up"})
    assert "wake up" in (await waiting).text


async def test_a_read_only_command_accepts_get_with_typed_query_parameters(den: Served, ann: Any) -> None:
    for n in range(3):
        await den.act("ann", "hide", {"n": n})
    page = result(await ann.get(f"{DEN}/events", params={"max": "2", "cursor": ""}))
    assert page == result(await ann.post(f"{DEN}/events", json={"max": 2}))
    assert page["more"] is True
    error(await ann.get(f"{DEN}/events", params={"max": "many"}), 400, "BAD_ARGS")
    error(await ann.get(f"{DEN}/events", params={"max": "501"}), 400, "BAD_ARGS")
    error(await ann.get(f"{DEN}/events", params={"most": "2"}), 400, "BAD_ARGS")


async def test_a_command_that_changes_state_cannot_be_called_with_get(den: Served, ann: httpx2.AsyncClient) -> None:
    before = den.house.rooms["den"].room.record.seq
    assert "POST" in error(await ann.get(f"{DEN}/hide", params={"n": "1"}), 400, "BAD_ARGS")["message"]
    error(await ann.get("/api/rotate_token"), 400, "BAD_ARGS")
    assert (await ann.head("/api/rotate_token")).status_code == 400
    assert den.house.rooms["den"].room.record.seq == before
    assert result(await ann.get(f"{DEN}/whoami"))["handle"] == "ann"


async def test_a_call_with_an_idempotency_key_happens_once(den: Served, ann: httpx2.AsyncClient) -> None:
    key = {"idempotency-key": "one"}
    first = result(await ann.post(f"{DEN}/hide", json={"n": 5}, headers=key))
    assert result(await ann.post(f"{DEN}/hide", json={"n": 5}, headers=key)) == first
    error(await ann.post(f"{DEN}/hide", json={"n": 6}, headers=key), 409, "CONFLICT")
    assert den.house.rooms["den"].room.world.kept == {"red": [5], "blue": []}


# -- size ---------------------------------------------------------------------------------------
async def test_a_body_that_says_it_is_too_large_is_refused(ann: httpx2.AsyncClient) -> None:
    error(await ann.post(f"{DEN}/hide", content=b" " * 20_001), 413, "TOO_LARGE")


async def test_a_body_that_does_not_say_how_large_it_is_is_refused_when_it_is_too_large(ann: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 1_000

    error(await ann.post(f"{DEN}/hide", content=chunks()), 413, "TOO_LARGE")
    assert result(await ann.post(f"{DEN}/whoami"))["handle"] == "ann"


# -- who is it ----------------------------------------------------------------------------------
async def refused_token(den: Served, headers: dict[str, str]) -> str:
    async with den.http() as client:
        answer = await client.post(f"{DEN}/whoami", headers=headers)
    told = error(answer, 401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    given = [token for value in headers.values() for token in value.split() if len(token) > 10]
    assert not any(token in answer.text + str(answer.headers) for token in given)
    return told["message"]


async def test_a_request_without_a_valid_token_is_unauthorized(den: Served) -> None:
    assert "missing token" in await refused_token(den, {})
    assert "missing token" in await refused_token(den, {"authorization": "Basic YW5uOnNlY3JldHM6Og=="})
    assert "invalid token" in await refused_token(den, {"authorization": "Bearer " + "x" * 48})
    guest = await den.act("hostess", "invite", {"id": "cy", "expires_in_s": 60})
    bearer = {"authorization": f"Bearer {guest.token}"}
    async with den.http() as client:
        error(await client.post(f"{DEN}/whoami", headers=bearer), 404, "UNKNOWN_ROOM")
    await den.clock.advance(60_000)
    assert "expired" in await refused_token(den, bearer)
    await den.act("hostess", "revoke_token", {"member": "bob"})
    assert "revoked" in await refused_token(den, {"authorization": f"Bearer {den.tokens['bob']}"})


async def test_a_token_counts_only_in_the_authorization_header(den: Served) -> None:
    for header in ("x-wb-token", "x-token", "token"):
        assert "missing token" in await refused_token(den, {header: den.tokens["ann"]})


async def test_a_401_of_any_route_says_how_to_authenticate(den: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **how: Any) -> Any:
        raise Unauthorized("no")

    monkeypatch.setattr("cohabit.faces.app.FileResponse", refuse)
    async with den.http("ann") as client:
        answer = await client.get("/")
    error(answer, 401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"] == 'Bearer realm="cohabit"'


# -- every error, over every interface ----------------------------------------------------------
@pytest.mark.sampled
@pytest.mark.parametrize("cls", sorted(every_error(), key=lambda c: c.code), ids=lambda c: c.code)
async def test_every_error_arrives_as_itself(den: Served, monkeypatch: pytest.MonkeyPatch, cls: Any) -> None:
    def refuse(*args: Any, **how: Any) -> Any:
        raise cls("no, because", did_you_mean=["this"], needs=["that"])

    monkeypatch.setattr(Door, "begin", refuse)
    async with den.http("ann") as client:
        answer = await client.post(f"{DEN}/whoami")
        told = error(answer, cls.status, cls.code)
        assert ("www-authenticate" in answer.headers) is (cls.status == 401)
    assert told == {"code": cls.code, "message": "no, because", "did_you_mean": ["this"], "needs": ["that"]}
    assert type(by_code(told)) is cls
    for target, how in ((den.house, "ws"), (den.url, "ws"), (den.url, "http")):
        async with connect(target, den.tokens["ann"], transport=how) as client:
            for command in ("whoami", "rooms"):  # one of a room, one of the house
                with pytest.raises(CohabitError) as refused:
                    await client.call(command)
                assert type(refused.value) is cls
                assert refused.value.as_wire() == told


async def test_a_bug_of_ours_is_internal_and_says_nothing_of_the_inside(
    den: Served, ann: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **how: Any) -> Any:
        raise ZeroDivisionError("the inside")

    monkeypatch.setattr(Door, "begin", broken)
    assert "inside" not in error(await ann.post(f"{DEN}/whoami"), 500, "INTERNAL")["message"]


# -- for whom is it -----------------------------------------------------------------------------
FOREIGN = [
    {"host": "evil.example"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "["},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": "http://127.0.0.1@evil.example"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
async def test_a_foreign_host_or_origin_is_refused_at_every_door(den: Served, headers: dict[str, str]) -> None:
    async with den.http("ann") as client:
        for path in ("/", "/health", "/openapi.json", "/web/index.html", f"{DEN}/whoami"):
            error(await client.get(path, headers=headers), 403, "PERMISSION_DENIED")
    token = {"authorization": f"Bearer {den.tokens['ann']}"}
    if "origin" in headers:
        with pytest.raises(InvalidStatus) as refused:
            await ws_connect(den.ws, origin=headers["origin"], additional_headers=token)
        assert refused.value.response.status_code == 403
    else:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(den.url.rsplit(":", 1)[1]))
        lines = ["GET /ws HTTP/1.1", f"Host: {headers['host']}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""]
        writer.write("\r\n".join(lines).encode())
        assert b" 403 " in await reader.readline()
        writer.close()
        await writer.wait_closed()


async def test_our_own_origin_and_those_that_are_allowed_may_ask() -> None:
    allowed = {"allowed_origins": "https://a.example, https://b.example", "allowed_hosts": "c.example"}
    async with served(**allowed) as den, den.http("ann") as client:
        for origin in (den.url, "http://localhost:1", "https://b.example"):
            result(await client.get(f"{DEN}/whoami", headers={"origin": origin}))
        result(await client.get(f"{DEN}/whoami", headers={"host": "c.example:80"}))
        error(await client.get(f"{DEN}/whoami", headers={"origin": "http://b.example"}), 403, "PERMISSION_DENIED")


async def test_a_page_of_an_allowed_origin_gets_its_preflight_answered_and_may_read_the_reply() -> None:
    ours = "https://a.example"
    ask = {"access-control-request-method": "POST", "access-control-request-headers": "authorization, content-type"}
    async with served(allowed_origins=f"{ours}, https://b.example") as den:
        async with den.http() as client:
            answered = await client.options(f"{DEN}/whoami", headers={"origin": ours, **ask})
            assert answered.status_code == 200
            assert answered.headers["access-control-allow-origin"] == ours
            assert "POST" in answered.headers["access-control-allow-methods"]
            assert "authorization" in answered.headers["access-control-allow-headers"]
            assert "access-control-allow-credentials" not in answered.headers
            refused = await client.options(f"{DEN}/whoami", headers={"origin": "https://evil.example", **ask})
            assert refused.status_code == 403
            assert "access-control-allow-origin" not in refused.headers
            unknown = await client.post(f"{DEN}/whoami", headers={"origin": ours})
            error(unknown, 401, "UNAUTHORIZED")
            assert unknown.headers["access-control-allow-origin"] == ours
        async with den.http("ann") as client:
            reply = await client.post(f"{DEN}/whoami", headers={"origin": ours})
            result(reply)
            assert reply.headers["access-control-allow-origin"] == ours
            assert "origin" in reply.headers["vary"].lower()
            assert "access-control-allow-origin" not in (await client.post(f"{DEN}/whoami")).headers


# -- about the house ----------------------------------------------------------------------------
async def test_health_needs_no_token_and_names_nobody(den: Served) -> None:
    async with den.http() as client:
        answer = await client.get("/health")
    assert answer.json() == {"ok": True, "version": answer.json()["version"], "rooms": 1, "broken_rooms": 0}


async def test_ready_says_why_no_request_should_come_and_needs_no_token(den: Served) -> None:
    async with den.http() as client:
        answer = await client.get("/ready")
        assert (answer.status_code, answer.json()) == (200, {"ready": True, "reasons": []})
        den.house.readiness.checks += [lambda: "", lambda: "it is being drained"]
        answer = await client.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"ready": False, "reasons": ["it is being drained"]})
        den.house.rooms.closing = True
        assert (await client.get("/ready")).json()["reasons"] == ["the house is stopping", "it is being drained"]
        assert (await client.get("/health")).status_code == 200


async def test_the_metrics_are_numbers_and_name_nobody(den: Served, ann: httpx2.AsyncClient) -> None:
    result(await ann.post(f"{DEN}/hide", json={"n": 1}))
    error(await ann.post(f"{DEN}/nonsense"), 404, "UNKNOWN_COMMAND")
    await den.clock.advance(1_500)
    text = (await ann.get("/metrics", headers=as_operator(den))).text
    found = numbers(text)
    assert found["cohabit_rooms"] == "1"
    assert found["cohabit_members"] == "3"
    assert found["cohabit_calls_total"] == "2"
    assert found['cohabit_refusals_total{code="UNKNOWN_COMMAND"}'] == "1"
    assert float(found["cohabit_uptime_seconds"]) == 1.5
    assert all(re.fullmatch(r"\d+", n) for name, n in found.items() if "_seconds" not in name)
    for word in (*den.tokens, *den.tokens.values(), "den", "secrets"):
        assert not re.search(rf"\b{word}\b", text)


def as_operator(den: Served) -> dict[str, str]:
    return {"authorization": f"Bearer {den.house.operator_token()}"}


def numbers(text: str) -> dict[str, str]:
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


async def test_metrics_name_as_many_rooms_as_the_house_says_those_with_the_most_calls() -> None:
    async with served(metrics_rooms=2) as den:
        for room, calls in (("quiet", 1), ("busy", 30), ("lively", 20)):
            _, tokens = await den.house.create_room(Scenario(world="nim", agents=[AgentSpec(id="ann")]), room)
            for _ in range(calls):
                await den.house.call(den.house.identify(tokens["ann"]), room, "whoami")
        async with den.http() as client:
            found = numbers((await client.get("/metrics", headers=as_operator(den))).text)
    of_rooms = {name: int(value) for name, value in found.items() if name.startswith("cohabit_room_")}
    assert len(of_rooms) == 2 * 4
    calls_of = {room: of_rooms[f'cohabit_room_calls_total{{room="{room}"}}'] for room in ("busy", "lively")}
    assert calls_of["busy"] == calls_of["lively"] + 10
    assert of_rooms['cohabit_room_members{room="busy"}'] == 1


async def test_metrics_are_for_hosts_of_the_house_and_not_for_members(den: Served, ann: httpx2.AsyncClient) -> None:
    error(await ann.get("/metrics"), 403, "PERMISSION_DENIED")
    error(await ann.get("/metrics", headers={"authorization": "Bearer wrong"}), 401, "UNAUTHORIZED")
    found = numbers((await ann.get("/metrics", headers=as_operator(den))).text)
    assert found['cohabit_overload_total{kind="login"}'] == "1"
    assert {name.split('"')[1] for name in found if name.startswith("cohabit_overload_total")} == set(KINDS)


async def test_metrics_without_a_token_are_for_this_machine_and_a_hidden_move_changes_nothing_in_them(
    den: Served, ann: httpx2.AsyncClient
) -> None:
    async with den.http() as nobody:
        before = await nobody.get("/metrics")
        result(await ann.post(f"{DEN}/hide", json={"n": 1}))
        error(await ann.post(f"{DEN}/nonsense"), 404, "UNKNOWN_COMMAND")
        assert (await nobody.get("/metrics")).text == before.text
        assert numbers(before.text) == {
            "cohabit_rooms": "1", "cohabit_rooms_broken": "0", "cohabit_uptime_seconds": "0.0",
        }  # fmt: skip


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
async def test_metrics_through_a_proxy_on_this_machine_need_a_token(den: Served, header: str) -> None:
    async with den.http() as nobody:
        error(await nobody.get("/metrics", headers={header: "127.0.0.1"}), 401, "UNAUTHORIZED")


@pytest.mark.parametrize(
    ("client", "host", "settings"),
    [
        pytest.param("127.0.0.1", "localhost", {"public_url": "https://play.example.org"}, id="a public address"),
        pytest.param("127.0.0.1", "play.example.org", {"allowed_hosts": "play.example.org"}, id="another host"),
        pytest.param("10.0.0.7", "localhost", {}, id="another machine"),
    ],
)
async def test_metrics_for_anybody_but_this_machine_need_a_token(
    client: str, host: str, settings: dict[str, str]
) -> None:
    async with House.open(Settings(**settings), clock=FakeClock()) as house:
        transport = httpx2.ASGITransport(make_app(house, mcp=False), client=(client, 4711))
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}") as nobody:
            error(await nobody.get("/metrics"), 401, "UNAUTHORIZED")


def refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref" and isinstance(inner, str):
                yield inner
            yield from refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from refs(inner)


async def test_the_openapi_document_has_every_command_and_all_its_references_resolve(den: Served) -> None:
    async with den.http() as client:
        document = (await client.get("/openapi.json")).json()
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    assert document["info"].keys() >= {"title", "version"}
    for ref in refs(document):
        assert ref.startswith("#/")
        found: Any = document
        for part in ref.removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        assert isinstance(found, dict)
    ids = set()
    for path, item in document["paths"].items():
        post = item["post"]
        ids.add(post["operationId"])
        assert {p["name"] for p in post.get("parameters", []) if p["in"] == "path"} == set(re.findall(r"{(\w+)}", path))
        schema = post["requestBody"]["content"]["application/json"]["schema"]
        assert schema.get("type") == "object" or "$ref" in schema
        assert post["responses"].keys() == {"200", "default"}
        assert post["summary"]
    assert len(ids) == len(document["paths"])
    for tag, command in every_command():
        item = document["paths"].get(f"/api/rooms/{{room}}/{command.name}") or document["paths"][f"/api/{command.name}"]
        assert tag in item["post"]["tags"]


async def test_the_page_is_served_with_a_policy_of_what_it_may_load(den: Served) -> None:
    async with den.http() as client:
        answer = await client.get("/")
    assert answer.status_code == 200
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_serving_stops_when_it_is_cancelled_and_the_port_is_free_again() -> None:
    async with House.open(Settings(port=0)) as house:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(serve(house, ready=ready.set_result, mcp=False))
        url = await ready
        async with httpx2.AsyncClient() as client:
            assert (await client.get(f"{url}/health")).status_code == 200
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        with pytest.raises(OSError):  # noqa: PT011 - whatever the system calls it
            await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1]))
