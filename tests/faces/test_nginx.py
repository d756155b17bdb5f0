"""A real nginx in front of a real house, with the configuration of `docs/operations.md`, or that of `deploy/`."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from cohabit.faces import serve
from cohabit.faces.connections import Connections
from cohabit.faces.serve import bind
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from ..ports import free_port  # noqa: TID252
from .certificates import make_certificate
from .serving import MEMBERS, WORLDS, listening

DOCS = Path(__file__).parent.parent.parent / "docs" / "operations.md"
DEPLOYED = Path(__file__).parent.parent.parent / "deploy" / "nginx.conf"
Configuration = Callable[[Path, int, Sequence[int]], str]
"""Of nginx: takes a folder for its files, its port and those of the houses."""
ELSEWHERE = "127.0.0.2"
"""The address of a client that is not on the machine of the proxy."""


class Proxied:
    """A house behind nginx."""

    def __init__(self, house: House, url: str, trust: ssl.SSLContext, tokens: dict[str, str]) -> None:
        self.house, self.url, self.trust, self.tokens = house, url, trust, tokens
        self.upstreams: list[AsyncExitStack] = []  # close one to stop what listens there

    def headers(self, who: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[who]}"}

    def http(self, who: str) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url, headers=self.headers(who), verify=self.trust, timeout=120)

    def websocket(self, who: str, **more: Any) -> Any:
        headers = {**self.headers(who), **more.pop("headers", {})}
        return connect(self.url.replace("http", "ws", 1) + "/ws", ssl=self.trust, additional_headers=headers, **more)

    async def say(self, who: str, content: str) -> None:
        credential = self.house.identify(self.tokens[who])
        await self.house.call(credential, "den", "send_message", {"to": "ann", "content": content})


def documented(folder: Path, port: int, upstreams: Sequence[int]) -> str:
    """The example of the documentation, with the port and files of this test."""
    found = re.search(r"With nginx:\n\n```text\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert found is not None
    here = {"127.0.0.1:8724": f"127.0.0.1:{upstreams[0]}", "/etc/ssl/": f"{folder}/"}
    example = in_test(found[1], {**here, "listen 443 ssl": f"listen 127.0.0.1:{port} ssl"})
    return f"{process(folder)} events {{}}\nhttp {{ access_log off;\n{temporary(folder)}\n{example}\n}}\n"


def shipped(folder: Path, port: int, upstreams: Sequence[int]) -> str:
    """The file of `deploy/`, with the ports and files of this test."""
    first, second = upstreams
    return in_test(
        DEPLOYED.read_text(),
        {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "house-a:8724": f"127.0.0.1:{first}",
            "house-b:8724": f"127.0.0.1:{second}",
            "/etc/nginx/tls/": f"{folder}/",
            "worker_processes auto;": process(folder),
            "worker_rlimit_nofile 32768;": "",
            "worker_connections 16384": "worker_connections 512",
            "http {": f"http {{\n{temporary(folder)}",
        },
    )


def in_test(text: str, changes: Mapping[str, str]) -> str:
    for name, ours in changes.items():
        assert name in text
        text = text.replace(name, ours)
    return text


def process(folder: Path) -> str:
    return f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;"


def temporary(folder: Path) -> str:
    return "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )


@asynccontextmanager
async def behind_nginx(
    nginx: Path, folder: Path, configuration: Configuration = documented, count: int = 1, **more: Any
) -> AsyncIterator[Proxied]:
    """``count``: the house listens on so many ports, as houses of a cluster do that answer for the same rooms."""
    port = free_port()
    settings = Settings(port=0, public_url="https://play.example.org", **more)
    make_certificate(folder / "play.pem", folder / "play.key")
    async with House.open(settings, clock=FakeClock()) as house, AsyncExitStack() as stack:
        plan = json.dumps({"world": f"{WORLDS}:Secrets", "partial_intel": True, "agents": MEMBERS})
        _, tokens = await house.create_room(parse_scenario(plan), "den", seed=7)
        trust = ssl.create_default_context(cafile=str(folder / "play.pem"))
        proxied = Proxied(house, f"https://127.0.0.1:{port}", trust, tokens)
        listeners = [bind(settings) for _ in range(count)]
        for listener in listeners:
            proxied.upstreams.append(await stack.enter_async_context(AsyncExitStack()))
            await proxied.upstreams[-1].enter_async_context(listening(house, listener, mcp=True))
        upstreams = [listener.getsockname()[1] for listener in listeners]
        (folder / "nginx.conf").write_text(configuration(folder, port, upstreams))
        words = ["-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
        process = await asyncio.create_subprocess_exec(nginx, *words, stderr=asyncio.subprocess.PIPE)
        try:
            await answers(process, port)
            yield proxied
        finally:
            if process.returncode is None:
                process.terminate()
            await process.communicate()


async def answers(process: asyncio.subprocess.Process, port: int) -> None:
    """Wait until nginx accepts connections."""
    while process.returncode is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0)
            continue
        writer.close()
        await writer.wait_closed()
        return
    _, said = await process.communicate()
    pytest.fail(f"nginx did not start: {said.decode()}")


@pytest.fixture
def nginx(need: Callable[[str], Path]) -> Path:
    return need("nginx")


async def test_calls_and_the_page_work_and_the_house_answers_what_is_too_large(nginx: Path, tmp_path: Path) -> None:
    async with behind_nginx(nginx, tmp_path) as proxied, proxied.http("ann") as ann:
        assert (await ann.get("/api/rooms/den/whoami")).json()["result"]["handle"] == "ann"
        assert "<html" in (await ann.get("/", headers={"host": "play.example.org"})).text
        limit = proxied.house.settings.body_limit
        large = await ann.post("/api/rooms/den/shout", json={"text": "x" * limit})
        assert (large.status_code, large.json()["error"]["code"]) == (413, "TOO_LARGE")
        allowed = await ann.post("/api/rooms/den/whoami", content=b" " * (limit - 2) + b"{}")
        assert (allowed.status_code, allowed.json()["ok"]) == (200, True)
        url = await ann.get("/health", params={"x": "x" * (proxied.house.settings.url_limit + 1)})
        assert (url.status_code, url.json()["error"]["code"]) == (414, "TOO_LARGE")


async def test_a_websocket_gets_replies_and_pushes(nginx: Path, tmp_path: Path) -> None:
    async with behind_nginx(nginx, tmp_path) as proxied, proxied.websocket("ann") as ann:
        await ann.send(json.dumps({"id": 1, "command": "subscribe", "args": {"views": False}}))
        assert json.loads(await ann.recv())["ok"]
        await proxied.say("bob", "through the proxy")
        assert "through the proxy" in str(await ann.recv())


async def test_an_mcp_call_that_waits_is_answered_when_something_happens(nginx: Path, tmp_path: Path) -> None:
    async with behind_nginx(nginx, tmp_path) as proxied, proxied.http("ann") as http:
        transport = streamable_http_client(f"{proxied.url}/mcp/den", http_client=http)
        async with Client(transport) as client:
            waiting = asyncio.ensure_future(client.call_tool("recv_messages", {"wait_ms": 30_000}))
            while not vars(proxied.house.rooms["den"].history)["_waiters"]:
                await asyncio.sleep(0)
            await proxied.say("bob", "the wait is over")
            assert "the wait is over" in str((await waiting).content)


async def test_each_client_is_limited_by_its_own_address_whatever_it_claims(nginx: Path, tmp_path: Path) -> None:
    claims = {"headers": {"x-forwarded-for": "10.0.0.1"}, "local_addr": (ELSEWHERE, 0)}
    async with (
        behind_nginx(nginx, tmp_path, connections_per_address=2) as proxied,
        proxied.websocket("ann", **claims),
        proxied.websocket("ann", **claims),
    ):
        with pytest.raises(InvalidStatus, match="503"):
            async with proxied.websocket("ann", **claims):
                pass
        assert proxied.house.overload.counts["address"] == 1
        async with proxied.http("bob") as bob:
            assert (await bob.get("/api/rooms/den/whoami")).json()["ok"]


# -- several houses -----------------------------------------------------------------------------
@pytest.fixture
def upstreams(monkeypatch: pytest.MonkeyPatch) -> list[Connections]:
    """The connections of each port that a house listens on."""
    made: list[Connections] = []

    def recorded(*given: Any) -> Connections:
        made.append(Connections(*given))
        return made[-1]

    monkeypatch.setattr(serve, "Connections", recorded)
    return made


async def test_the_balancer_of_the_compose_file_spreads_websockets_over_two_houses(
    nginx: Path, tmp_path: Path, upstreams: list[Connections]
) -> None:
    async with behind_nginx(nginx, tmp_path, shipped, 2) as proxied, AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(proxied.websocket("ann")) for _ in range(4)]
        assert [len(table) for table in upstreams] == [2, 2]
        for socket in sockets:
            await socket.send(json.dumps({"id": 1, "command": "subscribe", "args": {"views": False}}))
            assert json.loads(await socket.recv())["ok"]
        await proxied.say("bob", "to all of them")
        for socket in sockets:
            assert "to all of them" in str(await socket.recv())


async def test_the_balancer_lets_calls_wait_and_uses_the_other_house_when_one_is_gone(
    nginx: Path, tmp_path: Path
) -> None:
    async with behind_nginx(nginx, tmp_path, shipped, 2) as proxied, proxied.http("ann") as ann:
        waiting = [
            asyncio.ensure_future(ann.post("/api/rooms/den/recv_messages", json={"wait_ms": 30_000})) for _ in range(2)
        ]
        while len(vars(proxied.house.rooms["den"].history)["_waiters"]) < 2:
            await asyncio.sleep(0)
        await proxied.say("bob", "the wait is over")
        assert [("the wait is over" in (await one).text) for one in waiting] == [True, True]
        await proxied.upstreams[0].aclose()
        for number in range(6):
            shout = await ann.post("/api/rooms/den/shout", json={"text": f"{number}"})
            assert shout.json()["ok"], shout.text
        async with proxied.websocket("ann") as socket:
            await socket.send(json.dumps({"id": 1, "command": "whoami"}))
            assert json.loads(await socket.recv())["result"]["handle"] == "ann"
        assert (await ann.get("/metrics")).status_code == 404
