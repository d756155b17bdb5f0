"""Smoke test of a PvP room with two agents: identities, messages, refusals and objectives.

Open the room, and pass the two printed tokens to this program:

    cohabit up examples/scenarios/multi-agent/pvp.json
    python examples/scenarios/multi-agent/pvp_smoke.py --athena TOKEN --ares TOKEN

It uses the wire format of the WorldBox bridge and needs only Python. If a check fails, it prints the reason and exits
with code 1.
"""

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any

HERE = "http://127.0.0.1:8723"
OFFER = "A non-aggression pact, until the harvest is in?"
FORBIDDEN: list[tuple[str, dict[str, Any]]] = [
    ("screenshot", {}),  # it would show what the fog hides
    ("generate_world", {}),
    ("paint_tile", {"x": 0, "y": 0, "tile_id": "sand"}),
    ("send_message", {"to": "*", "content": "Surrender, all of you!"}),
]


class Failed(Exception):
    """A check failed; the message says which."""


class Refused(Exception):
    """The bridge refused a command."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code = code


class Agent:
    """A client of the bridge with one agent's token; one request per call."""

    def __init__(self, name: str, bridge: str, token: str) -> None:
        self.name, self._bridge, self._token = name, bridge.rstrip("/"), token

    def call(self, command: str, **args: Any) -> dict[str, Any]:
        """The result of a command; raises Refused if the bridge refuses it."""
        body = json.dumps({"name": command, "args": args}).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._bridge}/cmd", body, headers)
        try:
            told = json.loads(self._send(request))
        except OSError as unreachable:
            raise Failed(f"nothing answers at {self._bridge}: {unreachable}") from None
        except ValueError:
            raise Failed(f"the server at {self._bridge} is not a WorldBox bridge") from None
        if told.get("ok") is True:
            return dict(told["result"])
        raise Refused(told["error"]["code"], told["error"]["message"])

    def _send(self, request: urllib.request.Request) -> bytes:
        """The body of the response; a refusal has one too."""
        try:
            with urllib.request.urlopen(request, timeout=35) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as refusal:
            return refusal.read()


def expect(holds: bool, what: str, seen: object) -> None:
    """Print that a check passed, or raise Failed."""
    if not holds:
        raise Failed(f"{what}; the bridge says: {seen}")
    print(f"ok   {what}")


def check_identities(athena: Agent, ares: Agent) -> None:
    for agent in (athena, ares):
        me = agent.call("whoami")
        right = (me["agent_id"], me["role"]) == (agent.name, "faction_player")
        expect(right, f"{agent.name} is {agent.name}, a faction player", me)


def check_session(athena: Agent, ares: Agent) -> None:
    info = athena.call("session_info")
    both = {athena.name, ares.name} <= {agent["id"] for agent in info["agents"]}
    expect(
        info["scenario"] == "pvp" and info["partial_intel"] and both,
        "the session is PvP with fog, and has both agents",
        info,
    )


def check_messages(athena: Agent, ares: Agent) -> None:
    """A message arrives, and the cursor skips it afterwards."""
    cursor = ares.call("recv_messages", max=1).get("next_cursor", 0)
    sent = athena.call("send_message", to=ares.name, kind="diplomacy", content=OFFER)
    expect(sent["seq"] > cursor, "a message has a new sequence number", sent)
    inbox = ares.call("recv_messages", since_seq=cursor)
    last = inbox["items"][-1] if inbox["items"] else {}
    expect((last.get("from"), last.get("content")) == (athena.name, OFFER), "ares reads what athena wrote", inbox)
    later = ares.call("recv_messages", since_seq=inbox["next_cursor"])
    expect(later["count"] == 0, "the cursor skips messages that were read", later)


def check_refusals(athena: Agent) -> None:
    for command, args in FORBIDDEN:
        try:
            seen: object = athena.call(command, **args)
            refused = False
        except Refused as refusal:
            seen, refused = refusal, refusal.code == "PERMISSION_DENIED"
        expect(refused, f"a faction player may not {command}{' to everybody' * ('to' in args)}", seen)


def check_objectives(athena: Agent) -> None:
    status = athena.call("objective_status")
    known = [agent["agent_id"] for agent in status["agents"]]
    expect(status["scenario"] == "pvp" and athena.name in known, "the objectives of all agents are listed", status)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Smoke test of a PvP room over the wire format of the WorldBox bridge."
    )
    parser.add_argument(
        "--bridge", default=os.environ.get("WORLDBOX_BRIDGE", HERE), help=f"address of the bridge (default: {HERE})"
    )
    for name in ("athena", "ares"):
        variable = f"{name.upper()}_TOKEN"
        parser.add_argument(f"--{name}", default=os.environ.get(variable), help=f"the token of {name} (or {variable})")
    given = parser.parse_args()
    if not given.athena or not given.ares:
        parser.error("give both tokens with --athena and --ares; they were printed when the room was created")
    athena, ares = Agent("athena", given.bridge, given.athena), Agent("ares", given.bridge, given.ares)
    try:
        check_identities(athena, ares)
        check_session(athena, ares)
        check_messages(athena, ares)
        check_refusals(athena)
        check_objectives(athena)
    except (Failed, Refused) as wrong:
        print(f"FAILED: {wrong}", file=sys.stderr)
        return 1
    print("all checks passed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
