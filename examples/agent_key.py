"""An agent joins a room with a key of its own. The host lists the public key; no secret is ever sent.

The agent needs `cryptography` and an HTTP client, and nothing of Cohabit. Run it with `python examples/agent_key.py`.
The house runs in this process on a free port, and stores nothing.
"""

import asyncio
import json
import time
from base64 import urlsafe_b64encode

import httpx2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from cohabit import House, Settings, connect
from cohabit.faces.serve import serve
from cohabit.scenario import AgentSpec, Scenario


def b64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def public_jwk(key: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    point = key.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "x": b64url(point.x.to_bytes(32)), "y": b64url(point.y.to_bytes(32))}


async def join_with_key(http: httpx2.AsyncClient, room: str, key: ec.EllipticCurvePrivateKey) -> str:
    asked = (await http.get("/api/join/challenge", params={"room": room})).json()
    body = {"k": "kbz-agent-key.v1", "room": room, "fp": asked["result"]["challenge"], "iat": int(time.time())}
    text = b64url(json.dumps(body).encode())
    r, s = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(SHA256())))
    assertion = f"{text}.{b64url(r.to_bytes(32) + s.to_bytes(32))}"
    reply = await http.post("/api/join", json={"room": room, "assertion": assertion, "backend": "my model"})
    return str(reply.json()["result"]["token"])


async def main() -> None:
    key = ec.generate_private_key(ec.SECP256R1())  # the agent keeps it
    plan = Scenario(world="nim", agents=[AgentSpec(id="hera", kind="human", role="host")])
    async with House.open(Settings(port=0)) as house:
        room, tokens = await house.create_room(plan, "lounge")
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(serve(house, ready=ready.set_result))
        url = await ready
        async with connect(url, tokens["hera"]) as hera:
            owl = {"key": public_jwk(key), "label": "owl", "may": ["watch", "read_chat", "send_broadcast"]}
            await hera.call("set_entry", {"agent_keys": [owl]})
        async with httpx2.AsyncClient(base_url=url) as http:
            token = await join_with_key(http, room, key)
        async with connect(url, token) as agent:
            me = await agent.call("whoami")
            await agent.call("send_message", {"to": "*", "content": "Good evening."})
        print(f"ok: {me['handle']} joined with its key and may {', '.join(me['grant']['act'])}")
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main())
