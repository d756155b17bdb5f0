"""What a request or a WebSocket meets when it goes through another process: streams, slow readers, lost processes."""

import asyncio
import json
import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from mcp import Client as SdkClient
from mcp.client.streamable_http import streamable_http_client
from tests.faces.doors import Tools
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame
from websockets.typing import Subprotocol

from cohabit.errors import Busy
from cohabit.faces.workers.frames import Upstream
from cohabit.faces.workers.peers import ASK, CALL
from cohabit.faces.workers.routing import room_of, token_of
from cohabit.house.store.identities import Identities, hashed
from cohabit.model.identity import Credential
from cohabit.scenario import parse_scenario

from .nodes import Cluster, bearer, cluster, create, until


def ws_url(nodes: Cluster) -> str:
    return nodes.url.replace("http", "ws", 1) + "/ws"


async def reply(connection: ClientConnection, number: int) -> Any:
    """The reply with this number; pushes before it are skipped."""
    async for text in connection:
        frame = msgspec.json.decode(text)
        if frame.get("id") == number:
            return frame
    raise AssertionError("closed")


async def say(connection: ClientConnection, number: int, command: str, room: str | None = None, **args: Any) -> Any:
    await connection.send(json.dumps({"id": number, "command": command, "room": room, "args": args}))
    return await reply(connection, number)


async def guest(nodes: Cluster, *rooms: str) -> str:
    """The house-wide token of a host of the house, who has joined these rooms."""
    token = nodes.front.operator_token()
    async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(token)) as http:
        for room in rooms:
            answer = await http.post(f"/api/rooms/{room}/join", json={})
            assert answer.status_code == 200, answer.text
    return token


async def test_one_websocket_speaks_to_rooms_of_two_processes_and_hears_of_both(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        first, second = await create(nodes, "w1", "den"), await create(nodes, "w2", "hall")
        token = await guest(nodes, "den", "hall")
        async with ws_connect(ws_url(nodes), additional_headers=bearer(token)) as me:
            for number, room in ((1, "den"), (2, "hall")):
                assert (await say(me, number, "subscribe", room))["result"] == {"room": room}
            for house, room, tokens in (("w1", "den", first), ("w2", "hall", second)):
                served = nodes.houses[house]
                await served.call(served.identify(tokens["ann"]), room, "shout", {"text": f"from {room}"})
            heard = set[str]()
            while heard != {"den", "hall"}:
                push = msgspec.json.decode(await me.recv())
                heard |= {push["room"]} if f"from {push['room']}" in json.dumps(push) else set()
            assert {line["id"] for line in (await say(me, 3, "rooms"))["result"]["rooms"]} == {"den", "hall"}
            assert (await say(me, 4, "whoami", "nowhere"))["error"]["code"] == "UNKNOWN_ROOM"
            assert (await say(me, 5, "unsubscribe", "hall"))["result"] == {"room": "hall"}
        await until(lambda: not any(r.fanout.subscriptions for h in nodes.houses.values() for r in h.rooms.values()))


async def test_the_token_may_come_in_the_first_frame_and_its_end_ends_the_connection(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1") as nodes:
        tokens = await create(nodes, "w1", "den")
        async with ws_connect(ws_url(nodes)) as ann:
            await ann.send(json.dumps({"auth": tokens["ann"], "id": 1}))
            assert (await reply(ann, 1))["result"] == {"authenticated": True}
            assert (await say(ann, 2, "whoami"))["result"]["handle"] == "ann"
            host = nodes.houses["w1"].identify(tokens["hostess"])
            await nodes.houses["w1"].call(host, "den", "revoke_token", {"member": "ann"})
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await ann.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4401


async def test_a_slow_reader_stops_the_other_process_from_sending_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[Frame] = []
    wait = Upstream._wait
    monkeypatch.setattr(Upstream, "_wait", lambda self, frame: (waited.append(frame), wait(self, frame)))
    async with cluster(tmp_path, "w1", passing=False, send_buffer=4096) as nodes:
        tokens = await create(nodes, "w1", "den")
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.setblocking(False)
        await asyncio.get_running_loop().sock_connect(small, ("127.0.0.1", int(nodes.url.rpartition(":")[2])))
        async with ws_connect(ws_url(nodes), sock=small, additional_headers=bearer(tokens["bob"]), max_queue=1) as bob:
            assert (await say(bob, 1, "subscribe", views=False))["ok"]
            ann = nodes.houses["w1"].identify(tokens["ann"])
            for number in range(60):
                letter = {"to": "bob", "content": f"{number} " + "x" * 9_000}
                await nodes.houses["w1"].call(ann, "den", "send_message", letter)
            seen: list[int] = []
            while len(seen) < 60:
                push = msgspec.json.decode(await bob.recv())
                seen += [int(i["text"].split(": ")[-1].split()[0]) for i in push["items"] if "xxx" in i["text"]]
            assert seen == list(range(60))
            assert waited
            assert len(waited) < 60


@pytest.mark.parametrize("subscribed", [True, False])
async def test_a_websocket_is_closed_as_by_a_restart_when_the_process_of_its_room_ends(
    tmp_path: Path, subscribed: bool
) -> None:
    async with cluster(tmp_path, "w1", "w2", passing=False) as nodes:
        tokens = await create(nodes, "w1", "den")
        async with ws_connect(ws_url(nodes), additional_headers=bearer(tokens["ann"])) as ann:
            assert (await say(ann, 1, "subscribe" if subscribed else "whoami"))["ok"]
            for protocol in [*nodes.servers["w1"].server_state.connections]:
                protocol.transport.abort()  # as when the process is killed
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await ann.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012


async def test_nothing_hangs_while_a_process_is_gone(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", passing=False) as nodes:
        tokens = await create(nodes, "w1", "den")
        await nodes.stop("w1")
        (tmp_path / "w1").unlink()
        async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(tokens["ann"])) as http:
            answer = await http.post("/api/shout", json={"text": "hello"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "BUSY")
            assert answer.json()["error"]["retry_after_s"] > 0
        async with ws_connect(ws_url(nodes), additional_headers=bearer(tokens["ann"])) as ann:
            for number in (1, 2):
                assert (await say(ann, number, "whoami"))["error"]["code"] == "BUSY"


class Dying(asyncio.Protocol):
    """A process that ends in the middle of a request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.transport.close()


async def test_of_a_call_that_was_sent_nobody_says_that_nothing_was_done_unless_it_only_reads(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", passing=False) as nodes:
        tokens = await create(nodes, "w1", "den")
        await nodes.stop("w1")
        (tmp_path / "w1").unlink(missing_ok=True)
        server = await asyncio.get_running_loop().create_unix_server(Dying, str(tmp_path / "w1"))
        async with server, httpx2.AsyncClient(base_url=nodes.url, headers=bearer(tokens["ann"])) as http:
            codes = [
                (await http.get("/api/whoami")).json()["error"]["code"],
                (await http.post("/api/shout", json={"text": "a"}, headers={"idempotency-key": "1"})).json()["error"][
                    "code"
                ],
                (await http.post("/api/shout", json={"text": "a"})).json()["error"]["code"],
            ]
            assert codes == ["BUSY", "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"]


async def test_bodies_within_the_limit_go_through_and_larger_ones_do_not(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", passing=False, body_limit=200_000) as nodes:
        tokens = await create(nodes, "w1", "den")

        async def parts(size: int) -> Any:
            yield b'{"text": "' + b"x" * size + b'"}'

        async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(tokens["ann"])) as http:
            for size, status in ((150_000, 200), (250_000, 413)):
                assert (await http.post("/api/shout", content=parts(size))).status_code == status
                assert (await http.post("/api/shout", json={"text": "x" * size})).status_code == status


async def test_a_client_cannot_pretend_to_be_another_node(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", passing=False) as nodes:
        tokens = await create(nodes, "w1", "den")
        credential = nodes.front.identify(tokens["hostess"])
        callers: list[bytes] = []

        async def seen(credential: Credential, *args: Any, **more: Any) -> Any:
            callers.append(credential.hash)
            raise Busy("seen")

        said = {"credential": credential.hash.hex(), "command": "whoami", "room": "den", "question": "with_handle"}
        async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(tokens["ann"])) as http:
            for path in (CALL, ASK, f"/x/..{CALL}", f"/api/rooms/den/..%2f..%2f..{CALL}"):
                answer = await http.post(path, params=said, json={"handle": "ann"})
                assert answer.status_code in (404, 405), (path, answer.text)
        sent = {"x-forwarded-for": "203.0.113.9", "forwarded": "for=203.0.113.9"}
        nodes.houses["w1"].door.call = seen  # type: ignore[method-assign]
        async with httpx2.AsyncClient(base_url=nodes.url, headers=sent) as http:
            await http.post("/api/join", json={"room": "den", "code": "wrong"})
            assert callers == [hashed("den 127.0.0.1")]


REFUSED_EARLY = {
    "a client that hangs up in its body": (b"Content-Length: %d\r\n\r\n{", 1),
    "a body after an upgrade, which is not read": (
        b"Connection: upgrade\r\nUpgrade: other\r\nContent-Length: %d\r\n\r\n{",
        0,
    ),
}
"""Requests of which the relay does not send the whole body: how they go on after the token, with the length of what is
missing, and how much of it is sent."""


@pytest.mark.parametrize("over_network", [False, True])
@pytest.mark.parametrize("case", REFUSED_EARLY)
async def test_a_request_that_was_not_sent_to_its_end_does_not_swallow_the_next_one(
    tmp_path: Path, case: str, over_network: bool
) -> None:
    """The other process refuses the token before the body is complete. It would take the next request on the same
    connection for the rest of that body, and what is in the body of the next one for a request of a node."""
    async with cluster(tmp_path, "w1", passing=False, over_network=over_network) as nodes:
        tokens = await create(nodes, "w1", "den")
        host, _, port = nodes.url.removeprefix("http://").rpartition(":")
        inner = f"POST {ASK}?question=with_handle HTTP/1.1\r\nhost: localhost\r\ncontent-length: 16\r\n\r\n"
        inner += json.dumps({"handle": "ann"})
        first = f"POST /api/rooms/den/whoami HTTP/1.1\r\nhost: {host}:{port}\r\n"
        second = f"{first}content-length: {len(inner)}\r\n"
        said_by_us = "x-forwarded-proto: http\r\nx-forwarded-for: 127.0.0.1\r\n\r\n"
        form, sent = REFUSED_EARLY[case]
        served = nodes.servers["w1"].server_state

        async def say_and_wait(text: bytes, requests: int) -> bytes:
            reader, writer = await asyncio.open_connection(host, int(port))
            with closing(writer):
                writer.write(text)
                await until(lambda: served.total_requests >= requests)
                return await reader.read(20) if requests > 1 else b""

        await say_and_wait(first.encode() + form % (len(second + said_by_us) + sent), 1)
        assert b" 401 " in await say_and_wait(f"{second}\r\n{inner}".encode(), 2)
        async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(tokens["ann"])) as http:
            assert (await http.post("/api/rooms/den/whoami", json={})).json()["result"]["handle"] == "ann"


async def test_waits_of_clients_that_have_gone_end_in_the_other_process(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", passing=False) as nodes:
        tokens = await create(nodes, "w1", "den")
        async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(tokens["ann"])) as http:
            opened = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
            hello = {
                "jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
            }  # fmt: skip
            answer = await http.post("/mcp", json=hello, headers=opened)
            session = opened | {
                "mcp-session-id": answer.headers["mcp-session-id"],
                "mcp-protocol-version": "2025-11-25",
            }
            async with http.stream("GET", "/mcp", headers=session) as stream:
                assert stream.status_code == 200
                assert len(nodes.servers["w1"].server_state.tasks) == 1
        await until(lambda: not nodes.servers["w1"].server_state.tasks)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_mcp_client_of_the_house_uses_rooms_of_two_processes(tmp_path: Path, mode: str) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        await create(nodes, "w1", "den")
        await create(nodes, "w2", "hall")
        token = await guest(nodes, "den", "hall")
        async with httpx2.AsyncClient(headers=bearer(token), timeout=120) as http:
            target = streamable_http_client(f"{nodes.url}/mcp?profile=full", http_client=http)
            async with SdkClient(target, mode=mode) as sdk:
                me = Tools(sdk)
                assert {line["id"] for line in (await me.call("rooms"))["rooms"]} == {"den", "hall"}
                for room in ("den", "hall"):
                    assert (await me.call("whoami", room=room))["room"] == room
                tools = {tool.name for tool in (await sdk.list_tools()).tools}
                assert {"send_message", "rooms", "create_room"} <= tools
                assert "numbers" not in tools  # of a world, and the caller is in two rooms
                view = await sdk.read_resource("cohabit://hall/schema")
                assert '"where":"world"' in view.contents[0].text


async def test_a_connection_between_nodes_is_not_enough_to_call_as_a_node(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", passing=False) as nodes:
        await create(nodes, "w1", "den")
        credential = nodes.houses["w1"].identify(nodes.houses["w1"].operator_token())
        target = f"/node/call?credential={credential.hash.hex()}&command=rooms&part=1"
        transport = httpx2.AsyncHTTPTransport(uds=str(tmp_path / "w1"))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            for headers in ({}, {"x-cohabit-node": ""}, {"x-cohabit-node": "a guess"}):
                answer = await http.post(target, json={}, headers=headers)
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED")
            answer = await http.post(target, json={}, headers={"x-cohabit-node": "the word of the nodes"})
            assert answer.json()["ok"]


def test_a_token_for_one_room_leads_there_whatever_the_path_says() -> None:
    known = Identities(credentials=[Credential(hashed("one"), "i", "den"), Credential(hashed("all"), "j")])
    cases = {
        ("/api/rooms/hall/view", "one"): "den",
        ("/api/rooms/hall/view", "all"): "hall",
        ("/api/rooms/hall/view", None): "hall",
        ("/api/view", "one"): "den",
        ("/api/view", "all"): "house",
        ("/api/view", "none"): None,
        ("/mcp", "one"): "den",
        ("/mcp", "all"): "house",
        ("/mcp/hall", "one"): "den",
        ("/mcp/hall", "all"): "hall",
        ("/ws", "one"): "den",
        ("/ws", None): None,
        ("/api/join", None): "?",
        ("/api/join", "one"): "den",
        ("/api/join/challenge", None): "hall",
        ("/", "one"): None,
        ("/web/app.js", "all"): None,
        ("/node/call", "one"): None,
    }
    assert {case: room_of(known, case[0], b"x=1&room=hall", case[1]) for case in cases} == cases


def test_a_token_is_found_in_the_header_or_among_the_subprotocols() -> None:
    headers = [(b"sec-websocket-protocol", b"cohabit, bearer.abc"), (b"x", b"y")]
    assert token_of(headers) == "abc"
    assert token_of([*headers, (b"authorization", b"bearer  xyz ")]) == "xyz"
    assert token_of([(b"authorization", b"Basic xyz")]) is None


@pytest.mark.parametrize("passing", [True, False], ids=["passed on", "relayed"])
async def test_a_page_that_only_looks_is_known_as_one_in_the_process_of_its_room(tmp_path: Path, passing: bool) -> None:
    players = [{"id": "ann", "role": "player", "claim": "auto:0", "brain": "random"}]
    plan = parse_scenario(json.dumps({"world": "nim", "agents": players}))
    async with cluster(tmp_path, "w1", "w2", passing=passing) as nodes:
        _, tokens = await nodes.houses["w2"].create_room(plan, "den", seed=7)
        headers, offered = bearer(tokens["ann"]), [Subprotocol("cohabit"), Subprotocol("watching")]
        async with ws_connect(ws_url(nodes), additional_headers=headers, subprotocols=offered) as page:
            for number in range(2):
                assert (await say(page, number, "whoami"))["result"]["played_by"] == "random"
            await say(page, 2, "take_over")
            assert "played_by" not in (await say(page, 3, "whoami"))["result"]
