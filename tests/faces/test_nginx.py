"""A real nginx in front of a real house, with the configuration of `docs/operations.md`."""

import asyncio
import json
import re
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from cohabit.faces.serve import bind
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from ..ports import free_port  # noqa: TID252
from .serving import MEMBERS, WORLDS, listening

DOCS = Path(__file__).parent.parent.parent / "docs" / "operations.md"
ELSEWHERE = "127.0.0.2"
"""The address of a client that is not on the machine of the proxy."""


class Proxied:
    """A house behind nginx."""

    def __init__(self, house: House, url: str, trust: ssl.SSLContext, tokens: dict[str, str]) -> None:
        self.house, self.url, self.trust, self.tokens = house, url, trust, tokens

    def headers(self, who: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[who]}"}

    def http(self, who: str) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url, headers=self.headers(who), verify=self.trust, timeout=30)

    def websocket(self, who: str, **more: Any) -> Any:
        headers = {**self.headers(who), **more.pop("headers", {})}
        return connect(self.url.replace("http", "ws", 1) + "/ws", ssl=self.trust, additional_headers=headers, **more)

    async def say(self, who: str, content: str) -> None:
        credential = self.house.identify(self.tokens[who])
        await self.house.call(credential, "den", "send_message", {"to": "ann", "content": content})


def configuration(folder: Path, port: int, upstream: int) -> str:
    """The example of the documentation, with the ports and files of this test."""
    found = re.search(r"With nginx:\n\n```text\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert found is not None
    example = found[1]
    for name, ours in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("127.0.0.1:8724", f"127.0.0.1:{upstream}"),
        ("/etc/ssl/play.pem", f"{folder}/play.pem"),
        ("/etc/ssl/play.key", f"{folder}/play.key"),
    ):
        assert name in example
        example = example.replace(name, ours)
    temporary = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    process = f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log; events {{}}"
    return f"{process}\nhttp {{ access_log off;\n{temporary}\n{example}\n}}\n"


def certificate(folder: Path) -> None:
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=play.example.org", "-addext", "subjectAltName=DNS:play.example.org,IP:127.0.0.1"]
    files = ["-keyout", str(folder / "play.key"), "-out", str(folder / "play.pem")]
    subprocess.run([*words, *names, *files, "-days", "1"], check=True, capture_output=True)


@asynccontextmanager
async def behind_nginx(nginx: Path, folder: Path, **more: Any) -> AsyncIterator[Proxied]:
    port = free_port()
    settings = Settings(port=0, public_url="https://play.example.org", **more)
    certificate(folder)
    async with House.open(settings, clock=FakeClock()) as house:
        plan = json.dumps({"world": f"{WORLDS}:Secrets", "partial_intel": True, "agents": MEMBERS})
        _, tokens = await house.create_room(parse_scenario(plan), "den", seed=7)
        listener = bind(settings)
        (folder / "nginx.conf").write_text(configuration(folder, port, listener.getsockname()[1]))
        async with listening(house, listener, mcp=True):
            words = ["-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
            process = await asyncio.create_subprocess_exec(nginx, *words, stderr=asyncio.subprocess.PIPE)
            try:
                await answers(process, port)
                trust = ssl.create_default_context(cafile=str(folder / "play.pem"))
                yield Proxied(house, f"https://127.0.0.1:{port}", trust, tokens)
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
