"""Two houses whose sealed rooms differ only in what a player hides: over every interface their hosts get the same."""

import json
import re
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from cohabit.errors import CohabitError, ScopeViolation
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.memory import MemoryStore
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

from .doors import FACES, FIRST_TWO, doors

WORLD = f"{Path(__file__).parent.parent / 'room' / 'worlds.py'}:Secrets"
HIDDEN = (471_147_114_711, 588_258_225_822)
SEEN = {"member": "kib", "may": ["watch", "read_own"]}
READS: list[tuple[str, dict[str, Any]]] = [
    ("view", {}), ("numbers", {}), ("whoami", {}), ("session_info", {}), ("roster", {}), ("rules", {}), ("events", {}),
    ("observe", {}), ("audit", {}), ("permissions", {}), ("agents", {}), ("requests", {}), ("invites", {}),
    ("capabilities", {}), ("introduction", {}), ("objective_status", {}), ("recv_messages", {}), ("list_saves", {}), ("entry", {}),
]  # fmt: skip
WITH_ARGS: list[tuple[str, dict[str, Any]]] = [
    ("audit", {"kinds": ["refusals"]}), ("events", {"max": 500}), ("events", {"last": 500}), ("schemas", {"command": "hide"}),
    ("data_of", {"name": "ann"}), ("set_egress_budget", {"member": "ann", "bytes": 10**9}), ("mute", {"member": "ann"}),
    ("hand_over", {"member": "ann"}), ("stand_in", {"member": "ann", "brain": "random"}), ("set_objective", {"member": "ann", "text": "show"}),
    ("audit", {"member": "ann"}), ("send_message", {"to": "ann", "content": "what do you have?"}), ("unmute", {"member": "ann"}),
    ("act", {"action": "numbers"}), ("view", {"through": "red"}), ("ask", {"may": ["read_all"]}), ("observe", {"cursor": "0"}),
]  # fmt: skip
DEEDS: list[tuple[str, dict[str, Any]]] = [
    ("grant", {**SEEN, "through": "red"}), ("widen", {"member": "kib", "may": ["read_all"]}),
    ("rotate_token", {"member": "ann"}), ("issue_credential", {"name": "ann", "room": "den"}),
    ("rotate_credential", {"name": "ann", "room": "den"}), ("invite", {"id": "spy", "role": "observer"}),
    ("add_member", {"id": "spy", "role": "god"}), ("invite", {"id": "spy", "role": "player", "claim": "auto:0"}),
    ("ask", {"through": "red"}), ("save_world", {"folder": "a"}), ("remove_member", {"member": "ann"}),
    ("add_member", {"id": "bot", "role": "player"}), ("load_world", {"path": "a"}), ("reset", {}), ("load_world", {"path": "a"}),
    ("archive", {}),
]  # fmt: skip
CHANCE = re.compile(
    r"(?<=cursor\": \")[^\"]+|[0-9a-f]{12,}|[A-Za-z0-9_-]{40,}(\.[A-Za-z0-9_-]{40,})?|(?<=:)\d{13}\b|\d+\.\d+"
)
"""Cursors, ids, tokens and times, which differ by chance."""


def scenario() -> Scenario:
    players = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("ann", "bob"))]
    others = [AgentSpec(id="hostess", role="host", kind="human"), AgentSpec(id="kib")]
    return Scenario(world=WORLD, partial_intel=True, agents=[*players, *others])


async def seen_with(house: House, token: str) -> Any:
    """What somebody sees who has got hold of a token."""
    try:
        credential = house.identify(token)
        with suppress(CohabitError):
            joined = await house.call(credential, "den", "join", {})
            credential = house.identify(joined.token or token)
        return to_builtins(await house.call(credential, "den", "view", {}))
    except CohabitError as refused:
        return refused.as_wire()


async def heard(face: str, folder: Path, hidden: int, seated: bool) -> list[tuple[str, str]]:
    """What a host of the room, a host of the house, and somebody whom they invited get, while ann hides a number."""
    got: list[tuple[str, str]] = []
    folder.mkdir()
    settings = Settings(port=0, data=str(folder), calls_per_second=1_000_000)
    async with House.open(settings, store=MemoryStore(), clock=FakeClock()) as house:
        _, tokens = await house.create_room(scenario(), "den", seed=7)

        async def by(who: str, name: str, args: Any) -> Any:
            return await house.call(house.identify(tokens[who]), "den", name, args)

        def note(what: str, answer: Any) -> None:
            text = json.dumps(answer, sort_keys=True)
            assert str(hidden) not in text, what
            got.append((what, CHANCE.sub("…", text)))

        operator = house.identify(house.operator_token())
        made = await house.call(operator, None, "issue_credential", {"name": "boss", "host": True})
        await house.call(house.identify(made.token), "den", "join", {})
        invited = await by("hostess", "invite", {"id": "fay", "role": "player"})
        fay = await house.call(house.identify(invited.token), "den", "join", {})
        await by("ann", "hide", {"n": hidden})
        with pytest.raises(ScopeViolation):
            await by("ann", "strike", {"target": f"{hidden}"})
        await house.clock.advance(1_000)  # type: ignore[attr-defined]
        async with doors(face, house, folder) as door, AsyncExitStack() as stack:
            callers = {
                "hostess": tokens["hostess"],
                "boss": made.token,
                "fay": fay.token or invited.token,
                "kib": tokens["kib"],
            }
            clients = {name: await stack.enter_async_context(door(token)) for name, token in callers.items()}

            async def ask(who: str, name: str, args: dict[str, Any]) -> None:
                try:
                    room = {} if name.endswith("_credential") else {"room": "den"}
                    answer = to_builtins(await clients[who].call(name, args, **room))
                except CohabitError as refused:
                    answer = refused.as_wire()
                note(f"{who} {name} {args}", answer)
                if isinstance(answer, dict) and answer.get("token"):
                    note(f"with the token of {name}", await seen_with(house, answer["token"]))

            here = house.rooms["den"].room.callable_here  # every question that a host can ask
            reads = [command.name for command in here if not (command.records or command.where == "world")]
            known = [name for name in sorted(reads) if name != "wait_for_turn"]
            for who in ("hostess", "boss"):
                for name, args in [*((name, {}) for name in known if who == "hostess"), *WITH_ARGS]:
                    await ask(who, name, args)
            for name, args in DEEDS:
                for who in ("boss", "hostess"):
                    await ask(who, name, args)
                await ask("fay", "sit", {"seat": "red"} if seated else {})
                for who in ("kib", "fay"):
                    await ask(who, "view", {})
            for who in ("hostess", "fay"):
                for name, args in READS:
                    await ask(who, name, args)
    return got


@pytest.mark.parametrize("face", FIRST_TWO)
async def test_hosts_of_a_sealed_room_and_their_guests_get_nothing_that_depends_on_what_a_player_hides(
    face: str, tmp_path: Path
) -> None:
    first, second = [await heard(face, tmp_path / str(n), n, FACES.index(face) % 2 == 0) for n in HIDDEN]
    assert len(first) > 100
    differ = [(one, other) for one, other in zip(first, second, strict=True) if one != other]
    assert differ == []
