"""TLS ends at the front of a house with workers: what cannot be passed on is relayed."""

import json
import ssl
from pathlib import Path

import httpx2
from mcp import Client as SdkClient
from mcp.client.streamable_http import streamable_http_client
from tests.faces.certificates import make_certificate
from tests.faces.workers.serving import HOSTILE, MEMBERS, working
from websockets.asyncio.client import connect as ws_connect

from cohabit.scenario import parse_scenario


async def test_calls_websockets_and_mcp_reach_the_rooms_of_all_workers_over_tls(tmp_path: Path) -> None:
    files = {"tls_cert": str(tmp_path / "chain.pem"), "tls_key": str(tmp_path / "key.pem")}
    make_certificate(tmp_path / "chain.pem", tmp_path / "key.pem")
    trust = ssl.create_default_context(cafile=files["tls_cert"])
    async with working(tmp_path / "house", mcp=True, **files) as workers:
        assert workers.url.startswith("https://")
        scenario = parse_scenario(json.dumps({"world": HOSTILE, "agents": MEMBERS}))
        tokens = {room: (await workers.house.create_room(scenario, room))[1]["ann"] for room in ("a", "b")}
        assert {workers.table.rooms[room] for room in tokens} == {"w1", "w2"}
        for room, token in tokens.items():
            headers = {"authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, verify=trust, timeout=120) as http:
                answer = await http.post(f"{workers.url}/api/rooms/{room}/whoami", json={})
                assert answer.json()["result"]["room"] == room
                async with SdkClient(streamable_http_client(f"{workers.url}/mcp", http_client=http)) as sdk:
                    assert room in str((await sdk.call_tool("whoami", {})).content)
            url = workers.url.replace("https", "wss", 1) + "/ws"
            async with ws_connect(url, ssl=trust, additional_headers=headers) as socket:
                await socket.send(json.dumps({"id": 1, "command": "subscribe", "args": {"views": False}}))
                assert json.loads(await socket.recv())["result"] == {"room": room}
                await socket.send(json.dumps({"id": 2, "command": "say", "args": {"text": "hello", "to": "hostess"}}))
                while (told := json.loads(await socket.recv())).get("id") != 2:
                    pass
                assert told["ok"]
