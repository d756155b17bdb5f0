"""What a caller with rooms in two processes gets: the same list, budget, sound and news as from one."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client as SdkClient
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourceUpdated
from tests.faces.test_egress import ACCEPT, MODERN, in_mcp
from websockets.asyncio.client import connect as ws_connect

from cohabit.errors import EgressUsedUp
from cohabit.scenario import AgentSpec, Scenario

from .nodes import Cluster, bearer, cluster, create, until
from .test_across import answers
from .test_relay import guest, say, ws_url


async def pia_in(nodes: Cluster, *rooms: str) -> str:
    """The house-wide token of somebody who has joined these rooms."""
    made = await answers(nodes, nodes.front.operator_token(), [("issue_credential", {"name": "pia", "host": True})])
    token: str = made[0]["result"]["token"]
    joined = await answers(nodes, token, [(f"rooms/{room}/join", {}) for room in rooms])
    assert [one["ok"] for one in joined] == [True] * len(rooms)
    return token


async def nim_in(nodes: Cluster, node: str, room: str) -> dict[str, str]:
    """A room that is not sealed, so that its budgets count bytes and not steps; the tokens of its members."""
    host = AgentSpec(id="hostess", role="host")
    return (await nodes.houses[node].create_room(Scenario(world="nim", agents=[host]), room))[1]


def used(nodes: Cluster, token: str) -> int:
    """What all processes have counted for the owner of a token."""
    who = nodes.front.identify(token).identity
    rooms = [runner for house in nodes.houses.values() for runner in (*house.rooms.values(), house.ledger.runner)]
    return sum(account.used for runner in rooms if (account := runner.egress.accounts.get(who)) is not None)


async def test_rooms_are_listed_in_the_same_order_wherever_they_are(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        for room, node in (("c", "w1"), ("a", "w2"), ("b", "w1")):
            await create(nodes, node, room)
        (told,) = await answers(nodes, nodes.front.operator_token(), [("rooms", {})])
        assert [line["id"] for line in told["result"]["rooms"]] == ["a", "b", "c"]


async def test_a_caller_is_told_in_which_rooms_its_budget_is_used_up(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        await create(nodes, "w1", "den")
        hosts = await nim_in(nodes, "w2", "hall")
        pia = await pia_in(nodes, "den", "hall")
        await answers(nodes, hosts["hostess"], [("rooms/hall/set_egress_budget", {"budget": 1, "member": "pia"})])
        rooms, introduction = await answers(nodes, pia, [("rooms", {}), ("introduction", {})])
        assert [line.get("budget_used_up", False) for line in rooms["result"]["rooms"]] == [False, True]
        text = introduction["result"]["text"]
        assert text.count("where your egress budget is used up") == 1
        assert "hall (nim, where your egress budget is used up: you can only leave)" in text


async def tool(http: httpx2.AsyncClient, url: str, name: str, **args: Any) -> int:
    """Call a tool. Returns the size of the reply, or raises the refusal."""
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": name, "arguments": args, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name}
    reply = await http.post(f"{url}/mcp", json=body, headers=headers)
    in_mcp(reply)
    return len(reply.content)


async def test_what_mcp_sends_from_a_room_of_another_process_is_counted_once_and_to_the_byte(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        hosts = await nim_in(nodes, "w2", "hall")
        pia = await pia_in(nodes, "hall")
        async with httpx2.AsyncClient(headers=bearer(pia) | ACCEPT, timeout=120) as http:
            before = used(nodes, pia)
            sent = sum([await tool(http, nodes.url, name, room="hall") for name in ("view", "whoami", "permissions")])
            with suppress(TimeoutError):  # corrections are told afterwards
                await asyncio.wait_for(until(lambda: used(nodes, pia) - before == sent), 10)
            assert used(nodes, pia) - before == sent
            hall = nodes.houses["w2"].rooms["hall"].egress.accounts[nodes.front.identify(pia).identity]
            assert hall.used >= sent
            await answers(nodes, hosts["hostess"], [("rooms/hall/set_egress_budget", {"budget": 1, "member": "pia"})])
            with pytest.raises(EgressUsedUp):
                await tool(http, nodes.url, "view", room="hall")


async def test_a_listener_over_mcp_is_told_of_news_in_a_room_of_another_process(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", "w2") as nodes:
        await create(nodes, "w1", "den")
        tokens = await create(nodes, "w2", "hall")
        token = await guest(nodes, "den", "hall")
        async with httpx2.AsyncClient(headers=bearer(token), timeout=120) as http:
            target = streamable_http_client(f"{nodes.url}/mcp", http_client=http)
            news = "cohabit://hall/messages"
            async with SdkClient(target) as sdk, sdk.listen(resource_subscriptions=[news]) as subscribed:
                assert subscribed.honored.resource_subscriptions == [news]
                hall = nodes.houses["w2"]
                members = hall.rooms["hall"].room.state.members.values()
                me = next(m.handle for m in members if m.identity == nodes.front.identify(token).identity)
                letter = {"to": me, "content": "from the other process"}
                await hall.call(hall.identify(tokens["ann"]), "hall", "send_message", letter)
                assert await anext(aiter(subscribed)) == ResourceUpdated(news)
        await until(lambda: not hall.rooms["hall"].fanout.subscriptions)


async def test_sound_reaches_listeners_whose_connections_are_in_another_process(tmp_path: Path) -> None:
    async with cluster(tmp_path, "w1", passing=False) as nodes:
        tokens = await create(nodes, "w1", "den")
        for who, needed in (("ann", "speak"), ("bob", "hear_audio")):
            widened = ("rooms/den/widen", {"member": who, "may": [needed]})
            (given,) = await answers(nodes, tokens["hostess"], [widened])
            assert given["ok"], given
        async with (
            ws_connect(ws_url(nodes), additional_headers=bearer(tokens["ann"])) as ann,
            ws_connect(ws_url(nodes), additional_headers=bearer(tokens["bob"])) as bob,
        ):
            for one in (ann, bob):
                assert (await say(one, 1, "subscribe", views=False, media=True))["ok"]
            await ann.send(b"\x01la la la")
            heard = await bob.recv()
            while isinstance(heard, str):
                heard = await bob.recv()
            assert heard == b"\x01\x00\x03annla la la"
            await bob.send(b"\x01may I?")
            while '"push":"refused"' not in str(refused := await bob.recv()):
                pass
            assert "speak" in str(refused)
