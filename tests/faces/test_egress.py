"""What leaves the house is counted to the byte over every interface, and a budget stops it over every interface."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import httpx2
import msgspec
import pytest
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed

from cohabit.errors import CohabitError, EgressUsedUp, PermissionDenied, by_code
from cohabit.faces.python import connect
from cohabit.house.access.signing import EGRESS, SigningKey, verify_egress
from cohabit.house.house import House
from cohabit.house.running.egress import Account, error_size
from cohabit.house.settings import Settings
from cohabit.nexus.server import nexus_app
from cohabit.protocols.worldbox.names import code_from_wire
from cohabit.protocols.worldbox.server import bridge_app
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from .serving import listening

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ACCEPT = {"accept": "application/json, text/event-stream"}
OWL = {"id": "owl", "role": "observer", "backend": "Claude"}
HOSTESS = {"id": "hostess", "role": "host", "kind": "human"}
SHOWN = "A" * 15_000
"""What an agent is told in one message."""

Ask = Callable[[str], Awaitable[int]]
"""Calls a command over one interface. Returns how many bytes came back, or raises the refusal."""


class Place:
    def __init__(self, house: House, url: str, tokens: dict[str, str], clock: FakeClock) -> None:
        self.house, self.url, self.tokens, self.clock = house, url, tokens, clock
        self.who = house.identify(tokens["owl"]).identity
        self.received = 0
        """What the client of the owl has received, in bytes: bodies of responses and payloads of messages."""

    @property
    def account(self) -> Account:
        return self.house.rooms["den"].egress.accounts[self.who]

    def counted(self) -> int:
        """What the house has counted for the owl, in its room and outside of it."""
        outside = self.house.ledger.runner.egress.accounts.get(self.who)
        return self.account.used + (outside.used if outside is not None else 0)

    def got(self, reply: httpx2.Response) -> Any:
        self.received += len(reply.content)
        return reply

    async def host(self, command: str, args: Any = None) -> Any:
        return await self.house.call(self.house.identify(self.tokens["hostess"]), "den", command, args)

    def kinds(self) -> dict[str, int]:
        """What the backend of the owl got, in bytes by kind."""
        (line,) = [line for line in self.account.backends.values() if line.sent.backend == "Claude"]
        return {kind: amount.bytes for kind, amount in line.kinds.items() if amount.bytes}


@asynccontextmanager
async def opened(world: str = "kingdoms", **settings: Any) -> AsyncIterator[Place]:
    clock = FakeClock()
    async with House.open(Settings(port=0, **settings), clock=clock) as house:
        text = json.dumps({"world": world, "agents": [OWL, HOSTESS]})
        _, tokens = await house.create_room(parse_scenario(text), "den", seed=7)
        async with listening(house, mcp=True) as url:
            place = Place(house, url, tokens, clock)
            assert house.rooms["den"].egress.of(house.rooms["den"].room.state.members["owl"]).used == 0
            if world == "kingdoms":
                await place.host("send_message", {"to": "owl", "content": SHOWN[:4_000]})
            yield place


def bearer(place: Place) -> dict[str, str]:
    return {"authorization": f"Bearer {place.tokens['owl']}"}


def refuse(body: Any) -> None:
    if not body["ok"]:
        raise by_code(body["error"])


@asynccontextmanager
async def over_python(place: Place) -> AsyncIterator[Ask]:
    async with connect(place.house, place.tokens["owl"]) as me:

        async def ask(command: str) -> int:
            try:
                size = len(msgspec.json.encode(await me.call(command)))
            except CohabitError as refusal:
                size = error_size(refusal)
                raise
            finally:
                place.received += size
            return size

        yield ask


@asynccontextmanager
async def over_http(place: Place) -> AsyncIterator[Ask]:
    async with httpx2.AsyncClient(base_url=place.url, headers=bearer(place), timeout=120) as http:

        async def ask(command: str) -> int:
            reply = place.got(await http.post(f"/api/rooms/den/{command}", json={}))
            refuse(reply.json())
            return len(reply.content)

        yield ask


@asynccontextmanager
async def over_websocket(place: Place) -> AsyncIterator[Ask]:
    url = place.url.replace("http", "ws", 1) + "/ws"
    with suppress(ConnectionClosed):
        socket = await open_socket(url, additional_headers=bearer(place), max_size=None)

        async def ask(command: str) -> int:
            await socket.send(json.dumps({"id": 1, "command": command}))
            frame = await socket.recv(decode=False)
            place.received += len(frame)
            with suppress(ConnectionClosed):
                while command == "leave":  # and the reason why the connection ends
                    place.received += len(await socket.recv(decode=False))
            refuse(json.loads(frame))
            return len(frame)

        yield ask
        await socket.close()


def in_mcp(reply: httpx2.Response) -> Any:
    """The result of a request over MCP: in a JSON response, or in a stream of events."""
    if reply.headers["content-type"].startswith("text/event-stream"):
        lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: {")]
        body = json.loads(lines[-1])
    else:
        body = reply.json()
    if "error" in body:
        raise by_code(body["error"]["data"])
    result = body["result"]
    if result.get("isError"):
        code, _, message = result["content"][0]["text"].removeprefix("[").partition("] ")
        raise by_code({"code": code, "message": message})
    return result


def mcp_modern(method: str, params: Callable[[str], dict[str, Any]], name: Callable[[str], str]) -> Any:
    @asynccontextmanager
    async def over(place: Place) -> AsyncIterator[Ask]:
        async with httpx2.AsyncClient(headers=bearer(place) | ACCEPT, timeout=120) as http:

            async def ask(command: str) -> int:
                called, given, named = method, params(command), name(command)
                if command == "leave":
                    called, given, named = "tools/call", {"name": command, "arguments": {}}, command
                meta = {
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
                body = {"jsonrpc": "2.0", "id": 1, "method": called, "params": {**given, "_meta": meta}}
                headers = {"mcp-protocol-version": MODERN, "mcp-method": called, "mcp-name": named}
                reply = place.got(await http.post(f"{place.url}/mcp/den", json=body, headers=headers))
                in_mcp(reply)
                return len(reply.content)

            yield ask

    return over


def _tool(command: str) -> dict[str, Any]:
    return {"name": command, "arguments": {}}


over_mcp_tools = mcp_modern("tools/call", _tool, lambda command: command)
over_mcp_resources = mcp_modern(
    "resources/read", lambda command: {"uri": f"cohabit://den/{command}"}, lambda command: f"cohabit://den/{command}"
)


@asynccontextmanager
async def over_older_mcp(place: Place) -> AsyncIterator[Ask]:
    async with httpx2.AsyncClient(headers=bearer(place) | ACCEPT, timeout=120) as http:
        url = f"{place.url}/mcp/den?profile=full"
        about = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
        started = place.got(await http.post(url, json=start))
        session = {"mcp-session-id": started.headers["mcp-session-id"], "mcp-protocol-version": LEGACY}
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        place.got(await http.post(url, json=initialized, headers=session))

        async def ask(command: str) -> int:
            body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": _tool(command)}
            reply = place.got(await http.post(url, json=body, headers=session))
            in_mcp(reply)
            return len(reply.content)

        yield ask


@asynccontextmanager
async def over_the_bridge(place: Place) -> AsyncIterator[Ask]:
    transport = httpx2.ASGITransport(app=bridge_app(place.house))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=bearer(place)) as http:

        async def ask(command: str) -> int:
            reply = place.got(await http.post("/cmd", json={"name": command, "args": {}}))
            body = reply.json()
            if not body["ok"]:
                raise by_code({**body["error"], "code": code_from_wire(body["error"]["code"])})
            return len(reply.content)

        yield ask


INTERFACES = {
    "python": over_python,
    "http": over_http,
    "websocket": over_websocket,
    "mcp tools": over_mcp_tools,
    "mcp resources": over_mcp_resources,
    "older mcp": over_older_mcp,
    "bridge": over_the_bridge,
}


@pytest.mark.parametrize("interface", INTERFACES)
async def test_the_bytes_counted_are_those_that_the_client_received(interface: str) -> None:
    async with opened() as place, INTERFACES[interface](place) as ask:
        before = place.account.used
        received = [await ask("view") for _ in range(3)]
        assert sum(received) > 1_000
        assert place.account.used - before == sum(received)
        assert place.kinds()["views"] >= sum(received) - before
        for command in ("permissions", "no_such_command", "rules", "rooms", "my_data", "invite"):
            with suppress(CohabitError):  # some are refused, and that is counted, too
                await ask(command)
        await place.host("set_egress_budget", {"budget": place.account.used + 10, "member": "owl"})
        after = ["view"] if interface in ("mcp tools", "older mcp") else []  # elsewhere a revoked token is a stranger's
        for command in ("view", "whoami", "leave", *after):
            with suppress(CohabitError):
                await ask(command)
        assert place.counted() == place.received


HELLO = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


async def test_what_the_house_says_without_a_call_is_counted_over_http_and_mcp() -> None:
    async with opened() as place, httpx2.AsyncClient(headers=bearer(place) | ACCEPT, timeout=120) as http:
        for method, path, body in (
            ("POST", "/api/rooms/den/view", b"{"), ("POST", "/api/rooms/den/view", b"[]"), ("HEAD", "/api/whoami", b""),
            ("GET", "/api/rooms/den/leave", b""), ("GET", "/api/rooms/no_such_room/view", b""), ("GET", "/api/view", b""),
            ("GET", "/api/rooms/den/events?max=x", b""), ("GET", "/api/rooms", b""), ("POST", "/api/join", b""),
            ("POST", "/mcp/den?profile=wrong", b"{}"), ("POST", "/mcp/den", b"{"), ("GET", "/mcp/den", b""),
            ("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode()),
        ):  # fmt: skip
            before = place.counted()
            if path == "/mcp/den" and method == "GET":  # without a session
                await place.host("set_egress_budget", {"budget": 1, "member": "owl"})
            reply = await http.request(method, place.url + path, content=body)
            assert place.counted() - before == len(reply.content), (method, path)
            await place.host("set_egress_budget", {"budget": 0, "member": "owl"})
        assert "owl" in place.house.rooms["den"].room.state.members


async def test_every_message_of_a_websocket_is_counted_from_the_greeting_to_the_reason_of_its_end() -> None:
    async with opened("lounge") as place:
        url = place.url.replace("http", "ws", 1) + "/ws"
        async with open_socket(url, max_size=None) as socket:
            for sent in (
                {"auth": place.tokens["owl"]}, {"id": 1, "command": "subscribe", "args": {"wrong": 1}},
                {"id": 2, "command": "subscribe", "room": "no_such_room"}, {"id": 3, "command": "unsubscribe"}, "{", {"id": {}},
                {"id": 4, "command": "subscribe", "args": {"views": False, "media": True}}, {"id": 5, "command": "whoami"},
            ):  # fmt: skip
                await socket.send(sent if isinstance(sent, str) else json.dumps(sent))
                place.received += len(await socket.recv(decode=False))
                assert place.counted() == place.received, sent
            await socket.send(b"\x01sound")  # which it may not send
            await place.host("say", {"text": SHOWN[:2_000]})
            await place.host("set_egress_budget", {"budget": 1, "member": "owl"})
            with pytest.raises(ConnectionClosed):
                while True:
                    place.received += len(await socket.recv(decode=False))
        assert place.counted() == place.received


@pytest.mark.parametrize("interface", INTERFACES)
async def test_a_budget_that_is_used_up_cuts_off_until_a_host_raises_it_and_the_member_can_leave(
    interface: str,
) -> None:
    async with opened() as place, INTERFACES[interface](place) as ask:
        size = await ask("view")
        await place.host("set_egress_budget", {"budget": place.account.used + size // 2, "member": "owl"})
        before, before_used = place.kinds(), place.account.used
        for _ in range(2):
            with pytest.raises(EgressUsedUp, match="ask a host for a larger budget outside of this room"):
                await ask("view")
        assert place.account.used < before_used + 2 * 1_500  # two refusals
        await place.host("set_egress_budget", {"budget": 1, "member": "owl"})
        with pytest.raises(EgressUsedUp):
            await ask("rules")
        after = place.kinds()
        assert {kind for kind in after if after[kind] != before.get(kind)} <= {"refusals", "protocol"}
        await place.host("set_egress_budget", {"budget": place.account.used + 10 * size})
        with pytest.raises(EgressUsedUp):  # that of the member counts
            await ask("view")
        await place.host("set_egress_budget", {"budget": None, "member": "owl"})
        assert await ask("view") > 1_000
        await place.host("set_egress_budget", {"budget": 1})
        with pytest.raises(EgressUsedUp, match=r"raise your budget \(set_egress_budget for hostess\)"):
            await place.host("view")
        assert await ask("leave")
        assert "owl" not in place.house.rooms["den"].room.state.members


async def test_frames_of_a_stream_are_counted_and_the_stream_ends_when_the_budget_is_used_up() -> None:
    async with opened("lounge") as place:
        url = place.url.replace("http", "ws", 1) + "/ws"
        async with open_socket(url, additional_headers=bearer(place), max_size=None) as socket:
            await socket.send(json.dumps({"id": 1, "command": "subscribe", "room": "den", "args": {"views": False}}))
            assert json.loads(await socket.recv())["ok"]
            await place.host("say", {"text": SHOWN[:2_000]})
            frame = await socket.recv(decode=False)
            assert place.kinds()["messages"] == len(frame)
            await place.host("set_egress_budget", {"budget": place.account.used + 1_000, "member": "owl"})
            told = await socket.recv(decode=False)  # that the budget was set
            await place.host("say", {"text": SHOWN[:2_000]})
            last = json.loads(await socket.recv())
            assert last["error"]["code"] == "EGRESS_USED_UP"
            kinds = place.kinds()
            assert (kinds["messages"], kinds["events"]) == (len(frame), len(told))
        async with open_socket(url, additional_headers=bearer(place)) as socket:
            await place.host("set_egress_budget", {"budget": 1, "member": "owl"})
            await socket.send(json.dumps({"id": 1, "command": "subscribe", "room": "den"}))
            assert json.loads(await socket.recv())["error"]["code"] == "EGRESS_USED_UP"


async def test_sound_is_counted_for_those_who_hear_it_and_stops_with_the_budget() -> None:
    async with opened("lounge") as place:
        await place.host("widen", {"member": "owl", "may": ["hear_audio"]})
        url = place.url.replace("http", "ws", 1) + "/ws"
        speaker = {"authorization": f"Bearer {place.tokens['hostess']}"}
        subscribe = {"id": 1, "command": "subscribe", "room": "den", "args": {"views": False, "media": True}}
        async with (
            open_socket(url, additional_headers=speaker) as speaks,
            open_socket(url, additional_headers=bearer(place)) as hears,
        ):
            for socket in (hears, speaks):
                await socket.send(json.dumps(subscribe))
                assert json.loads(await socket.recv())["ok"]
            await speaks.send(b"\x01" + b"sound" * 100)
            while not isinstance(heard := await hears.recv(), bytes):
                pass
            assert place.kinds()["sound"] == len(heard)
            await place.host("set_egress_budget", {"budget": 1, "member": "owl"})
            await speaks.send(b"\x01" + b"sound" * 100)
            await speaks.send(json.dumps({"id": 2, "command": "whoami", "room": "den"}))
            while json.loads(await speaks.recv()).get("id") != 2:  # the frame before it was relayed
                pass
            assert place.kinds()["sound"] == len(heard)


@pytest.mark.parametrize("profile", ["full", "default"])
async def test_a_client_of_mcp_that_is_cut_off_is_told_so_and_sees_how_to_leave(profile: str) -> None:
    async with opened() as place:
        await place.host("set_egress_budget", {"budget": 1})
        async with over_mcp_tools(place) as ask:
            with pytest.raises(EgressUsedUp):
                await ask("view")
        async with httpx2.AsyncClient(headers=bearer(place) | ACCEPT, timeout=120) as http:
            about = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
            started = await http.post(f"{place.url}/mcp/den?profile={profile}", json=start)
            assert "EGRESS_USED_UP" in in_mcp(started)["instructions"]
            session = {"mcp-session-id": started.headers["mcp-session-id"], "mcp-protocol-version": LEGACY}
            lists = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            listed = in_mcp(await http.post(f"{place.url}/mcp/den?profile={profile}", json=lists, headers=session))
            assert [tool["name"] for tool in listed["tools"]] == ["leave", "withdraw"]


async def test_a_member_that_is_cut_off_can_leave_see_its_data_and_have_it_deleted_and_nothing_else() -> None:
    async with opened() as place, over_http(place) as ask:
        await ask("whoami")
        await place.host("set_egress_budget", {"budget": 1, "member": "owl"})
        assert await ask("my_data") > 100
        for command in ("rooms", "worlds", "whoami", "egress", "audit", "join"):
            with pytest.raises(EgressUsedUp):
                await ask(command)
        async with connect(place.house, place.tokens["owl"]) as me:
            assert await me.call("forget_me", {"confirm": "owl"})


async def test_strangers_cannot_use_up_what_others_need_to_join() -> None:
    async with opened(egress_budget=500) as place:
        await place.host("set_egress_budget", {"budget": 0, "member": "hostess"})
        code = (await place.host("set_entry", {"code": "new"})).code
        async with httpx2.AsyncClient(base_url=place.url) as http:
            for guess in range(8):
                await http.post("/api/join", json={"room": "den", "name": f"eve {guess}", "code": "wrong wrong"})
            joined = (await http.post("/api/join", json={"room": "den", "name": "bob", "code": code})).json()
        assert joined["result"]["status"] == "joined"


async def test_the_routes_of_the_nexus_count_what_they_send_and_stop_with_the_budget() -> None:
    clock = FakeClock()
    async with House.open(Settings(port=0), clock=clock) as house:
        text = json.dumps({"world": "nexus", "agents": [{"id": "ada", "role": "player"}, HOSTESS]})
        _, tokens = await house.create_room(parse_scenario(text), "hub", seed=7)
        transport = httpx2.ASGITransport(app=nexus_app(house))
        headers = {"authorization": f"Bearer {tokens['ada']}"}
        hostess = house.identify(tokens["hostess"])
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as http:
            registered = await http.post("/agents", json={"agent_id": "ada"})
            assert registered.status_code in (200, 201), registered.text
            account = house.rooms["hub"].egress.of(house.rooms["hub"].room.state.members["ada"])
            assert account.used == len(registered.content)
            for method, path, body in (
                ("GET", "/nexus/ada", None), ("POST", "/agents", {"agent_id": "ada"}), ("POST", "/agents", {"agent_id": "eve"}),
                ("GET", "/nexus/eve", None), ("GET", "/no/such/route", None), ("POST", "/games", {"id": "hub"}), ("POST", "/agents", [{}]),
            ):  # fmt: skip
                before = account.used
                shown = await http.request(method, path, json=body)
                assert account.used - before == len(shown.content) > 50, (method, path)
            await house.call(hostess, "hub", "set_egress_budget", {"budget": 1})
            refused = await http.get("/nexus/ada")
            assert (refused.status_code, refused.json()["code"]) == (403, "EGRESS_USED_UP")


async def test_an_export_verifies_with_the_public_key_and_a_changed_one_does_not() -> None:
    async with opened() as place, over_http(place) as ask:
        await ask("view")
        made = await place.host("export_egress")
        async with httpx2.AsyncClient(base_url=place.url) as http:
            key = (await http.get("/.well-known/cohabit-key.json")).json()
        assert key == made.key
        said = verify_egress(made.export, key)
        assert not isinstance(said, str), said
        (owl,) = [line for line in said.members if line.member == "owl"]
        assert (said.k, said.room, owl.bytes) == (EGRESS, "den", place.account.used)
        assert owl.backends[0].kinds["views"].bytes == place.kinds()["views"]
        text, _, signature = made.export.partition(".")
        body = msgspec.json.decode(msgspec.json.encode(said))
        body["members"][0]["bytes"] = 0
        forged = SigningKey.generate().sign(body)
        for changed in (f"{forged.partition('.')[0]}.{signature}", forged, f"{text}x.{signature}", text, ""):
            assert isinstance(verify_egress(changed, key), str), changed
        owl_now = place.house.identify(place.tokens["owl"])
        with pytest.raises(PermissionDenied, match="manage_members"):
            await place.house.call(owl_now, "den", "export_egress")


async def test_the_older_stream_is_counted_when_it_only_tells_that_something_changed() -> None:
    """A notification says that a resource has changed; the view itself stays in the house until it is read."""
    async with AsyncExitStack() as stack:
        place = await stack.enter_async_context(opened())
        subscription = await place.house.subscribe(
            place.house.identify(place.tokens["owl"]), "den", leaves=False, deliver=lambda frame: True
        )
        stack.callback(subscription.close)
        assert await anext(subscription)
        assert place.account.used == 0
        await place.host("set_egress_budget", {"budget": 1})
        place.account.line.pushed("events", 1)
        with pytest.raises(EgressUsedUp):
            await anext(subscription)


async def test_a_stream_of_mcp_that_could_repeat_earlier_replies_is_refused_when_the_budget_is_used_up() -> None:
    async with opened() as place, over_older_mcp(place) as ask:
        await ask("view")
        await place.host("set_egress_budget", {"budget": 1, "member": "owl"})
        for path in ("/mcp/den", "/mcp"):
            async with httpx2.AsyncClient(headers=bearer(place) | ACCEPT, timeout=120) as http:
                reply = await http.get(f"{place.url}{path}", headers={"last-event-id": "1"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (403, "EGRESS_USED_UP")


@pytest.mark.parametrize("interface", ["http", "websocket", "mcp tools", "older mcp"])
async def test_a_refusal_is_counted_too(interface: str) -> None:
    async with opened() as place, INTERFACES[interface](place) as ask:
        before = place.account.used
        with pytest.raises(PermissionDenied):
            await ask("permissions")
        assert 100 < place.account.used - before < 1_500
        assert place.kinds()["refusals"] > 100
