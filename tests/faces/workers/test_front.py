"""Connections that the front passes on, and what it still counts of them."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect as ws_connect

from cohabit.client import connect_url
from cohabit.faces.connections import Connections
from cohabit.faces.workers.front import FrontConfig
from cohabit.faces.workers.passing import Passages
from cohabit.house.directory import FRONT, Table
from cohabit.house.overload import OverloadLog
from cohabit.house.settings import Settings
from cohabit.house.store.identities import Identities
from cohabit.testing.clock import FakeClock

from .nodes import bearer, cluster, create, until


async def test_a_websocket_goes_to_the_process_of_its_room_and_needs_the_front_no_more(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        tokens = await create(nodes, "w2", "den")
        async with connect_url(nodes.url, tokens["ann"]) as ann:
            assert (await ann.call("whoami"))["handle"] == "ann"
            assert (len(nodes.passages.by_node["w1"]), len(nodes.passages.by_node["w2"])) == (0, 1)
            await nodes.stop("front")
            assert (await ann.call("whoami"))["handle"] == "ann"


@pytest.mark.parametrize("passing", [True, False], ids=["passed on", "relayed"])
async def test_a_kept_connection_speaks_to_rooms_of_several_processes(tmp_path: Path, passing: bool) -> None:
    async with cluster(tmp_path, "w1", "w2", passing=passing) as nodes:
        first, second = await create(nodes, "w1", "den"), await create(nodes, "w2", "hall")
        async with httpx2.AsyncClient(base_url=nodes.url, limits=httpx2.Limits(max_connections=1)) as http:
            for _ in range(2):
                for room, tokens in (("den", first), ("hall", second)):
                    for path in (f"/api/rooms/{room}/whoami", "/api/whoami"):
                        answer = await http.get(path, headers=bearer(tokens["ann"]))
                        assert answer.json()["result"]["room"] == room
                health = await http.get("/health")
                assert health.json()["ok"] is True
            sent = {"to": "bob", "content": "x" * 1000}
            await http.post("/api/send_message", headers=bearer(second["ann"]), json=sent)
            read = await http.get("/api/recv_messages", headers=bearer(second["bob"]))
            assert read.json()["result"]["items"][-1]["content"] == sent["content"]
            assert len(nodes.passages.by_node["w1"]) == (1 if passing else 0)


async def test_connections_count_for_their_address_until_the_other_process_has_closed_them(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", connections_per_address=2) as nodes:
        tokens = await create(nodes, "w1", "den")
        url, headers = nodes.url.replace("http", "ws", 1) + "/ws", bearer(tokens["ann"])
        first = await ws_connect(url, additional_headers=headers)
        second = await ws_connect(url, additional_headers=headers)
        async with httpx2.AsyncClient() as http:
            assert (await http.get(f"{nodes.url}/health")).status_code == 503
        await first.close()
        await until(lambda: len(nodes.passages.by_node["w1"]) == 1)
        third = await ws_connect(url, additional_headers=headers)
        nodes.passages.by_node["w1"].close()  # as when the process has ended
        await ws_connect(f"{url}?", additional_headers=bearer("none"))
        for connection in (second, third):
            await connection.close()


def test_requests_for_another_house_are_relayed_by_all_processes_in_turn_and_the_websockets_of_a_caller_by_one() -> (
    None
):
    directory, clock = Table(FRONT), FakeClock()
    directory.update(sockets={"w1": "/w1", "w2": "/w2", "attic/w1": "tcp://127.0.0.1:9000/attic/w1"})
    connections = Connections(Settings(), clock, OverloadLog(clock))
    config = FrontConfig(None, connections, Identities(), directory, Passages(), log_config=None)
    assert [config.relaying_node() for _ in range(4)] == ["w1", "w2", "w1", "w2"]
    relaying = [{config.relaying_node(f"token {number}") for _ in range(2)} for number in range(20)]
    assert {len(nodes) for nodes in relaying} == {1}
    assert set().union(*relaying) == {"w1", "w2"}


@pytest.mark.parametrize("cut", [1, 20, 80])
async def test_a_head_that_arrives_in_pieces_is_passed_on_whole_with_its_body(tmp_path: Path, cut: int) -> None:
    async with cluster(tmp_path, "w1") as nodes:
        tokens = await create(nodes, "w1", "den")
        body = b'{"to": "bob", "content": "in pieces"}'
        head = f"POST /api/send_message HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {tokens['ann']}\r\n"
        text = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        reader, writer = await asyncio.open_connection("127.0.0.1", int(nodes.url.rpartition(":")[2]))
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in (text[:cut], text[cut:-5], text[-5:]):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)  # so that it arrives alone
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        assert len(nodes.passages.by_node["w1"]) == 1
        writer.close()
        await writer.wait_closed()


async def test_requests_that_are_sent_at_once_are_answered_in_order(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        first, second = await create(nodes, "w1", "den"), await create(nodes, "w2", "hall")
        heads = [
            f"GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n".encode()
            for path, token in (("/health", ""), ("/api/whoami", first["ann"]), ("/api/whoami", second["bob"]))
        ]
        for order in (heads, heads[::-1]):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(nodes.url.rpartition(":")[2]))
            writer.write(b"".join(order)[:-2] + b"connection: close\r\n\r\n")
            said = await reader.read()
            places = [said.find(word) for word in (b"broken_rooms", b'"ann"', b'"bob"')]
            assert -1 not in places
            assert sorted(places, reverse=order is not heads) == places
            writer.close()
            await writer.wait_closed()


async def test_a_process_that_is_gone_gives_busy_and_says_when_to_try_again(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1") as nodes:
        tokens = await create(nodes, "w1", "den")
        nodes.passages.by_node["w1"].close()
        answer = await asyncio.to_thread(httpx2.get, f"{nodes.url}/api/whoami", headers=bearer(tokens["ann"]))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "BUSY")
        assert answer.json()["error"]["retry_after_s"] == 1
        nodes.moving.add("den")
        async with httpx2.AsyncClient(base_url=nodes.url) as http:
            answer = await http.get("/api/whoami", headers=bearer(tokens["ann"]))
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "BUSY")


async def test_a_client_of_mcp_gets_a_jsonrpc_error_with_its_id_while_a_room_has_no_process(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1") as nodes:
        tokens = await create(nodes, "w1", "den")
        asked = {"jsonrpc": "2.0", "id": "call-7", "method": "tools/call", "params": {"name": "view", "arguments": {}}}

        async def answer(room: str, content: bytes) -> Any:
            async with httpx2.AsyncClient(base_url=nodes.url, headers=bearer(tokens["ann"])) as http:
                got = await http.post(f"/mcp{room}", content=content)
            said = got.json()
            assert (got.status_code, got.headers["retry-after"], said["jsonrpc"]) == (503, "1", "2.0")
            assert (said["error"]["code"], said["error"]["data"]["code"]) == (-32603, "BUSY")
            return said["id"], said["error"]["message"]

        nodes.moving.add("den")
        for room in ("", "/den"):
            told = "[BUSY] room den is moving to another process; try again in a second"
            assert await answer(room, json.dumps(asked).encode()) == ("call-7", told)
        for unreadable in (b"", b"{", b"[" * 100_000, b'{"id": {}}'):
            assert (await answer("/den", unreadable))[0] is None
        nodes.moving.clear()
        nodes.passages.by_node["w1"].close()
        told = "[BUSY] the process of this room has stopped; try again soon"
        assert await answer("/den", json.dumps(asked).encode()) in (("call-7", told), (None, told))
