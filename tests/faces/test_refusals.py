"""The same refusal for the same reason: for every command, of a room or of the house, over every interface."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import CohabitError, Unauthorized
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.room.commands import Command
from cohabit.room.decide import by_grant
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock
from cohabit.testing.faces import Client

from .doors import FACES, Door, doors

WORLDS = Path(__file__).parent.parent / "room" / "worlds.py"
MEMBERS = [
    {"id": "ann", "role": "god"},
    {"id": "bob", "role": "player", "claim": "auto:0"},
    {"id": "cyd", "role": "player", "claim": "auto:1"},
    {"id": "dot", "role": "god"},
    {"id": "eve", "role": "god"},
    {"id": "fay", "role": "god"},
]
ARGS: dict[str, dict[str, Any]] = {
    "act": {"action": "hide", "params": {"n": 1}},
    "add_member": {"id": "new"},
    "delete_room": {"confirm": "den"},
    "grant": {"member": "cyd", "may": ["watch"]},
    "hide": {"n": 1},
    "invite": {"id": "new"},
    "issue_credential": {"name": "new"},
    "load_world": {"path": "none"},
    "narrow": {"member": "cyd", "may": ["watch"]},
    "reset": {},
    "revoke_invite": {"invite": "none"},
    "rotate_credential": {"name": "none"},
    "revoke_credential": {"name": "none"},
    "save_world": {"folder": "one"},
    "send_message": {"to": "cyd", "content": "x"},
    "set_speed": {"speed_id": "x1"},
    "sit": {},
    "widen": {"member": "cyd", "may": ["watch"]},
}
"""Arguments that fit, for the commands that need some."""


class Den:
    """A room over one interface."""

    def __init__(self, house: House, clock: FakeClock, door: Door, tokens: dict[str, str]) -> None:
        self.house, self.clock, self.door, self.tokens = house, clock, door, tokens
        self.commands: list[Command] = list(house.rooms["den"].commands)

    async def host(self, command: str, args: dict[str, Any]) -> Any:
        return await self.house.call(self.house.identify(self.tokens["ann"]), "den", command, args)


async def code_of(client: Client, command: Command) -> str:
    args = ARGS.get(command.name, {"member": "cyd"} if "member" in command.schema.get("required", []) else {})
    if command.may_wait:
        args = {**args, "wait_ms": 0}
    try:
        await client.call(command.name, args)
    except CohabitError as refusal:
        return refusal.code
    return ""


@asynccontextmanager
async def den(face: str, tmp_path: Path, **settings: Any) -> AsyncIterator[Den]:
    clock = FakeClock()
    chosen = Settings(port=0, **settings)
    text = json.dumps({"world": f"{WORLDS}:Secrets", "partial_intel": True, "agents": MEMBERS})
    async with House.open(chosen, clock=clock) as house:
        _, tokens = await house.create_room(parse_scenario(text), "den", seed=7)
        async with doors(face, house, tmp_path) as door:
            yield Den(house, clock, door, tokens)


async def no_grant(here: Den) -> list[Command]:
    await here.host("revoke", {"member": "dot"})
    return [c for c in here.commands if c.needs]


async def archived(here: Den) -> list[Command]:
    await here.host("archive", {})
    return [c for c in here.commands if c.records and not c.when_archived and not c.host_only]


async def revoked(here: Den) -> list[Command]:
    await here.host("revoke_token", {"member": "dot"})
    return here.commands


async def expired(here: Den) -> list[Command]:
    here.house.identify(here.tokens["dot"]).expires_at = here.clock.now()
    return here.commands


async def over_budget(here: Den) -> list[Command]:
    room, credential = here.house.rooms["den"].room, here.house.identify(here.tokens["bob"])
    for budget, who in ((room.budget, "bob"), (here.house.door.budget, credential.hash)):
        for _ in range(budget.per_second + 1):
            budget.spend(who, here.clock.now())
    return [c for c in here.commands if by_grant(room.state.members["bob"], c) and not c.host_only]


async def not_your_turn(here: Den) -> list[Command]:
    state = here.house.rooms["den"].room.state
    state.turn_based, state.turn_order = True, ["cyd", "bob"]
    bob = state.members["bob"]
    return [c for c in here.commands if c.gated and by_grant(bob, c)]


REASONS: dict[str, tuple[str, str, Callable[[Den], Awaitable[list[Command]]]]] = {
    "no grant": ("dot", "PERMISSION_DENIED", no_grant),
    "archived": ("dot", "DISABLED", archived),
    "revoked": ("dot", "UNAUTHORIZED", revoked),
    "expired": ("dot", "UNAUTHORIZED", expired),
    "over budget": ("bob", "BUSY", over_budget),
    "not your turn": ("bob", "TURN_NOT_YOURS", not_your_turn),
}
"""Who calls, what is refused, and how it comes to that; the commands to try."""


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("reason", REASONS)
async def test_every_command_is_refused_alike(reason: str, face: str, tmp_path: Path) -> None:
    who, code, arrange = REASONS[reason]
    async with den(face, tmp_path) as here, here.door(here.tokens[who]) as client:
        await client.call("whoami")
        wanted = await arrange(here)
        assert len(wanted) > 2
        found = {command.name: await code_of(client, command) for command in wanted}
        assert {name: got for name, got in found.items() if got != code} == {}


@pytest.mark.parametrize("face", FACES)
async def test_without_a_credential_that_is_known_nothing_can_be_called(face: str, tmp_path: Path) -> None:
    async with den(face, tmp_path) as here:
        with pytest.raises(Unauthorized):
            async with here.door("x" * 48) as client:
                await client.call("whoami")
