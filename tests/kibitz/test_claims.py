"""The Python and the JavaScript agent do the same: one table of claims, run against both."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohabit.faces.app import MODULE
from cohabit.protocols import kibitz
from cohabit.protocols.kibitz.agent import Chat, Listeners

from .claims import CLAIMS, Claim

RUNNER = Path(__file__).with_name("run_claims.mjs")
IDS = [claim["claim"] for claim in CLAIMS]


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


class Room:
    """A controller and a bridge whose messages the test sends. It logs what it is asked to do."""

    def __init__(self, claim: Claim, log: list[Any]) -> None:
        self.log = log
        self.people: list[Any] = []
        self.schemas: list[Any] = []
        self.view: Any = None
        self.listeners = {kind: Listeners() for kind in ("message", "participants", "schema", "view", "chat")}
        self.on_message, self.on_view = self.listeners["message"].add, self.listeners["view"].add
        self.on_chat = self.listeners["chat"].add
        if "getSchemas" not in claim.get("without", ()):
            self.get_schemas, self.on_schema = lambda: self.schemas, self.listeners["schema"].add
        if "owner" in claim:
            self.view_owner = lambda: claim["owner"]

    def on(self, event: str, listener: Any) -> Any:
        return self.listeners[event].add(listener)

    def get_participants(self) -> list[Any]:
        return self.people

    async def broadcast(self, data: Any) -> None:
        self.log.append(["broadcast", data])

    async def send_to(self, data: Any, to: str) -> None:
        self.log.append(["sendTo", data, to])

    async def set_meta(self, meta: Any) -> None:
        self.log.append(["meta", dict(meta)])

    async def leave(self) -> None:
        self.log.append(["left"])


class Bridge(Room):
    def get_view(self) -> Any:
        return self.view

    async def say(self, text: str) -> None:
        self.log.append(["said", text])


def plain(told: Any) -> Any:
    return {"from": told.sender, "name": told.name, "text": told.text} if isinstance(told, Chat) else told


async def run(claim: Claim) -> list[Any]:
    log: list[Any] = []
    if "cooldown" in claim:
        gate = kibitz.cooldown(claim["cooldown"])
        for step, now in claim["steps"]:
            made = getattr(gate, step)(now)
            log += [["value", made]] if step == "ready" else []
        return log
    options = {snake(name): value for name, value in claim.get("options", {}).items()}
    room: Any
    agent: Any
    if claim.get("bridge"):
        room = Bridge(claim, log)
        agent = kibitz.create_agent_from_bridge(room, **options)
    else:
        room = Room(claim, log)
        agent = await kibitz.create_agent(room, **options)

    def told(name: str) -> Callable[..., None]:
        return lambda *args: log.append([name, *map(plain, args)])

    agent.on_view(told("view"))
    stop = agent.on_chat(told("chat"))
    if claim.get("listenTwice"):
        agent.on_chat(told("chat"))
    for name in ("data", "roster", "schema"):
        if hasattr(agent, f"on_{name}"):
            getattr(agent, f"on_{name}")(told(name))
    for step, *args in claim["steps"]:
        match step:
            case "message":
                room.listeners["message"].tell(*args)
            case "participants":
                room.people = args[0]
                room.listeners["participants"].tell(args[0])
            case "schema":
                room.schemas = [args[0]]
                room.listeners["schema"].tell(args[0])
            case "bridgeView":
                room.view = args[0]
                room.listeners["view"].tell(args[0])
            case "bridgeChat":
                room.listeners["chat"].tell(args[0])
            case "unsubscribe":
                stop()
            case "has":
                log.append(["value", hasattr(agent, snake(args[0]))])
            case "canAct":
                log.append(["value", agent.can_act])
            case _ if step.startswith("get"):
                log.append(["value", getattr(agent, snake(step))()])
            case _:
                try:
                    await getattr(agent, step)(*args)
                except RuntimeError as wrong:
                    log.append(["read-only"] if "read-only" in str(wrong) else ["raised", str(wrong)])
    return log


@pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
async def test_the_python_agent(claim: Claim) -> None:
    assert await run(claim) == claim["log"]


@pytest.fixture(scope="module")
def logs_of_node(need: Callable[[str], Path]) -> dict[str, Any]:
    done = subprocess.run(
        [need("node22"), RUNNER, MODULE.as_uri()], input=json.dumps(CLAIMS), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(IDS, json.loads(done.stdout), strict=True))


@pytest.mark.node
@pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
def test_the_javascript_agent_in_node(claim: Claim, logs_of_node: dict[str, Any]) -> None:
    assert logs_of_node[claim["claim"]] == claim["log"]
