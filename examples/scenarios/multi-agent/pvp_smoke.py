"""Two agents at one bridge, from the first "who am I" to the last refusal: does a PvP room keep its promises?

Open the room, and give this program the two tokens that are printed:

    cohabit up examples/scenarios/multi-agent/pvp.json
    python examples/scenarios/multi-agent/pvp_smoke.py --athena TOKEN --ares TOKEN

It speaks the wire of the WorldBox bridge and needs nothing but Python. Exit code 1, and a line that says what was
wrong, if anything was.
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
    """A check did not hold; the words say which."""


class Refused(Exception):
    """The bridge said no."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code = code


class Agent:
    """One agent's way to the bridge: its own token, one request a call."""

    def __init__(self, name: str, bridge: str, token: str) -> None:
        self.name, self._bridge, self._token = name, bridge.rstrip("/"), token

    def call(self, command: str, **args: Any) -> dict[str, Any]:
        """What a command answers; Refused where the bridge says no."""
        body = json.dumps({"name": command, "args": args}).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._bridge}/cmd", body, headers)
        try:
            told = json.loads(self._send(request))
        except OSError as unreachable:
            raise Failed(f"nothing answers at {self._bridge}: {unreachable}") from None
        except ValueError:
            raise Failed(f"what answers at {self._bridge} is no bridge") from None
        if told.get("ok") is True:
            return dict(told["result"])
        raise Refused(told["error"]["code"], told["error"]["message"])

    def _send(self, request: urllib.request.Request) -> bytes:
        """What comes back; a refusal has a body too."""
        try:
            with urllib.request.urlopen(request, timeout=35) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as refusal:
            return refusal.read()


def expect(holds: bool, what: str, seen: object) -> None:
    """Say that a check holds, or stop."""
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
        info["scenario"] == "pvp" and info["partial_intel"] and both, "the session is PvP, in the fog, for both", info
    )


def check_mail(athena: Agent, ares: Agent) -> None:
    """A message goes round, and a cursor finds it."""
    cursor = ares.call("recv_messages", max=1).get("next_cursor", 0)
    sent = athena.call("send_message", to=ares.name, kind="diplomacy", content=OFFER)
    expect(sent["seq"] > cursor, "a message has a number of its own", sent)
    inbox = ares.call("recv_messages", since_seq=cursor)
    last = inbox["items"][-1] if inbox["items"] else {}
    expect((last.get("from"), last.get("content")) == (athena.name, OFFER), "ares reads what athena wrote", inbox)
    later = ares.call("recv_messages", since_seq=inbox["next_cursor"])
    expect(later["count"] == 0, "the cursor leaves out what was read", later)


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
    expect(status["scenario"] == "pvp" and athena.name in known, "everybody's objectives are on the board", status)


def main() -> int:
    parser = argparse.ArgumentParser(description="Walk the PvP flow over the bridge wire.")
    parser.add_argument("--bridge", default=os.environ.get("WORLDBOX_BRIDGE", HERE), help=f"where it is ({HERE})")
    for name in ("athena", "ares"):
        variable = f"{name.upper()}_TOKEN"
        parser.add_argument(f"--{name}", default=os.environ.get(variable), help=f"the token of {name} (or {variable})")
    given = parser.parse_args()
    if not given.athena or not given.ares:
        parser.error("give both tokens: --athena and --ares, as they were printed when the room opened")
    athena, ares = Agent("athena", given.bridge, given.athena), Agent("ares", given.bridge, given.ares)
    try:
        check_identities(athena, ares)
        check_session(athena, ares)
        check_mail(athena, ares)
        check_refusals(athena)
        check_objectives(athena)
    except (Failed, Refused) as wrong:
        print(f"FAILED: {wrong}", file=sys.stderr)
        return 1
    print("all checks passed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
