"""The same refusal for the same reason: for every command, of a room or of the house, over every interface.

A claim sets up what it needs in a room of its own.
"""

import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.grant import Capability
from cohabit.room.commands import Command
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock
from cohabit.testing.faces import Client, Connect, expect

from .doors import MOSTLY_SOAK, Door, doors

WORLDS = Path(__file__).parent.parent / "room" / "worlds.py"
PLAYERS = [
    {"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "bob", "role": "player", "claim": "auto:1"},
    {"id": "zeus", "role": "god"}, {"id": "gaia", "role": "god", "claim": "auto:2"},
]  # fmt: skip


class RefusalsHouse:
    """The house of the claims, on a clock that stands still."""

    def __init__(self, house: House, clock: FakeClock) -> None:
        self.house = house
        self.clock = clock
        self._rooms = 0

    async def room(self, world: str = "Secrets", **keys: Any) -> tuple[str, dict[str, str]]:
        """A new room with ann and bob, the god zeus, and gaia, a god with a seat: its id, and their tokens."""
        self._rooms += 1
        seats = 2 if world == "Ticker" else 4
        agents = [agent for agent in PLAYERS if int(str(agent.get("claim", "auto:0"))[5:]) < seats]
        text = json.dumps({"world": f"{WORLDS}:{world}", "agents": agents, **keys})
        return await self.house.create_room(parse_scenario(text), f"room-{self._rooms}", seed=7)

    async def operator(self, command: str, **args: Any) -> Any:
        """Something that the owner of the house does."""
        return await self.house.call(self.house.identify(self.house.operator_token()), None, command, args)

    def commands(self, room: str) -> list[Command]:
        """Every command that can be called in a room, of the house too."""
        return list(self.house.rooms[room].commands)


ARGS: dict[str, dict[str, Any]] = {
    "act": {"action": "shout", "params": {"text": "x"}},
    "add_member": {"id": "new"},
    "grant": {"member": "bob", "may": ["watch"]},
    "hide": {"n": 1},
    "invite": {"id": "new"},
    "issue_credential": {"name": "new"},
    "load_world": {"name": "none"},
    "narrow": {"member": "bob", "may": ["watch"]},
    "revoke_invite": {"invite": "none"},
    "rotate_credential": {"name": "none"},
    "revoke_credential": {"name": "none"},
    "save_world": {"name": "one"},
    "send_message": {"to": "bob", "content": "x"},
    "set_speed": {"speed_id": "x1"},
    "widen": {"member": "bob", "may": ["watch"]},
}
"""Arguments that fit, for the commands that need some."""


def example_args(command: Command) -> dict[str, Any]:
    return ARGS.get(command.name, {"member": "bob"} if "member" in command.schema.get("required", []) else {})


async def refusals(connect: Connect, token: str, room: str, commands: Iterable[Command]) -> dict[str, str]:
    """The code that each command is refused with; ``ok`` where it is not refused."""
    try:
        client = await connect(token)
    except CohabitError as refused:
        return {command.name: refused.code for command in commands}
    return await refusals_of(client, room, commands)


async def refusals_of(client: Client, room: str, commands: Iterable[Command]) -> dict[str, str]:
    found = {}
    for command in commands:
        try:
            await client.call(command.name, example_args(command), room=room)
            found[command.name] = "ok"
        except CohabitError as refused:
            found[command.name] = refused.code
    return found


def all_are(code: str, found: dict[str, str], what: str) -> None:
    """Every one of these commands was refused with this code."""
    expect(bool(found), f"{what}: no command was tried")
    wrong = {name: other for name, other in found.items() if other != code}
    expect(not wrong, f"{what}: expected {code}, got {wrong}")


# -- the claims -----------------------------------------------------------------------------------
async def without_a_credential_every_command_is_unauthorized(connect: Connect, it: RefusalsHouse) -> None:
    room, _ = await it.room()
    for token in ("", "wrong0TOKEN1wrong2TOKEN3wrong4TOKEN5wrong6TOKEN7"):
        all_are("UNAUTHORIZED", await refusals(connect, token, room, it.commands(room)), f"token {token[:5]!r}")


async def with_a_revoked_token_every_command_is_unauthorized(connect: Connect, it: RefusalsHouse) -> None:
    """Also on a connection that was open when the token was revoked."""
    room, tokens = await it.room()
    client = await connect(tokens["zeus"])
    await client.call("whoami", room=room)
    await it.operator("revoke_credential", name="zeus", room=room)
    all_are("UNAUTHORIZED", await refusals_of(client, room, it.commands(room)), "an open connection")
    all_are("UNAUTHORIZED", await refusals(connect, tokens["zeus"], room, it.commands(room)), "a new connection")


async def with_an_expired_token_every_command_is_unauthorized(connect: Connect, it: RefusalsHouse) -> None:
    """Also on a connection that was open when the token expired."""
    room, _ = await it.room()
    made = await it.operator("issue_credential", name="zeus", room=room, expires_in_s=60)
    client = await connect(made.token)
    await client.call("whoami", room=room)
    await it.clock.advance(60_000)
    all_are("UNAUTHORIZED", await refusals_of(client, room, it.commands(room)), "an open connection")
    all_are("UNAUTHORIZED", await refusals(connect, made.token, room, it.commands(room)), "a new connection")


async def without_a_grant_every_command_that_needs_one_is_denied(connect: Connect, it: RefusalsHouse) -> None:
    room, tokens = await it.room()
    await (await connect(tokens["zeus"])).call("revoke", {"member": "gaia"}, room=room)
    commands = it.commands(room)
    needing = [c for c in commands if c.needs or c.host_only]
    all_are("PERMISSION_DENIED", await refusals(connect, tokens["gaia"], room, needing), "a member without a grant")
    free = [c for c in commands if c not in needing and not c.records]
    found = await refusals(connect, tokens["gaia"], room, free)
    expect("PERMISSION_DENIED" not in found.values(), f"commands that need nothing: {found}")
    expect({"whoami", "rules", "session_info"} <= found.keys(), f"commands that need nothing: {sorted(found)}")


async def in_an_archived_room_everything_that_records_is_disabled(connect: Connect, it: RefusalsHouse) -> None:
    """For a god that has a seat and may do all of it."""
    room, tokens = await it.room(guests=True)
    client = await connect(tokens["gaia"])
    await client.call("archive", room=room)
    recording = [c for c in it.commands(room) if c.records and not c.when_archived and c.about != "house"]
    before = it.house.rooms[room].room.digest()
    all_are("DISABLED", await refusals_of(client, room, recording), "an archived room")
    expect({"hide", "sit", "join", "invite", "load_world", "send_message"} <= {c.name for c in recording}, "all kinds")
    for guest in (
        await it.operator("issue_credential", name="guest"),
        await it.operator("issue_credential", name="h", host=True),
    ):
        join = [c for c in recording if c.joins]
        all_are("DISABLED", await refusals(connect, guest.token, room, join), "somebody who is not a member")
    expect(it.house.rooms[room].room.digest() == before, "an archived room changed")


async def out_of_turn_every_gated_command_is_refused(connect: Connect, it: RefusalsHouse) -> None:
    """For a member that holds everything but the right to act at any time."""
    room, tokens = await it.room("Ticker", turn_based=True, turn_order=["ann", "bob"], sealed=False)
    everything = [c.value for c in Capability if c is not Capability.ACT_GLOBAL]
    await (await connect(tokens["zeus"])).call("grant", {"member": "bob", "may": everything}, room=room)
    gated = [c for c in it.commands(room) if c.needs_turn and c.unwrap is None]
    client = await connect(tokens["bob"])
    all_are("TURN_NOT_YOURS", await refusals_of(client, room, gated), "out of turn")
    expect({"drop", "pause", "set_speed", "save_world", "load_world"} <= {c.name for c in gated}, "all kinds")
    try:
        await client.call("act", {"action": "drop"}, room=room)
    except CohabitError as refused:
        expect(refused.code == "TURN_NOT_YOURS", f"act: {refused.as_text()}")
    else:
        raise AssertionError("act was not refused")


async def over_its_budget_every_command_is_busy(connect: Connect, it: RefusalsHouse) -> None:
    """For a god that has a seat, and for a host of the house."""
    room, tokens = await it.room()
    boss = (await it.operator("issue_credential", name="boss", host=True)).token
    mine, house_budget = it.house.rooms[room].room.budget, it.house.door.budget
    before = mine.per_second, house_budget.per_second
    clients = [await connect(tokens["gaia"]), await connect(boss)]
    await clients[1].call("join", room=room)
    mine.per_second = house_budget.per_second = 20
    try:
        commands = it.commands(room)
        for client, tried in (
            (clients[0], [c for c in commands if not c.host_only]),
            (clients[1], [c for c in commands if c.host_only]),
        ):
            for _ in range(21):
                await _spend(client, room)
            all_are("BUSY", await refusals_of(client, room, tried), "over the budget")
    finally:
        mine.per_second, house_budget.per_second = before


async def _spend(client: Client, room: str) -> None:
    """One call of the room, and one of the house."""
    for name in ("whoami", "rooms", "capabilities"):
        try:
            await client.call(name, room=room)
        except CohabitError as refused:
            expect(refused.code == "BUSY", f"{name}: {refused.as_text()}")


Claim = Callable[[Connect, RefusalsHouse], Awaitable[None]]
CLAIMS: list[Claim] = [
    without_a_credential_every_command_is_unauthorized,
    with_a_revoked_token_every_command_is_unauthorized,
    with_an_expired_token_every_command_is_unauthorized,
    without_a_grant_every_command_that_needs_one_is_denied,
    in_an_archived_room_everything_that_records_is_disabled,
    out_of_turn_every_gated_command_is_refused,
    over_its_budget_every_command_is_busy,
]


async def failure(claim: Claim, door: Door, it: RefusalsHouse) -> Exception | None:
    """Try a claim; what did not hold. (Raised through the SDK's task groups it could not be read.)"""
    async with AsyncExitStack() as stack:

        async def enter(token: str) -> Client:
            return await stack.enter_async_context(door(token))

        try:
            await claim(enter, it)
        except Exception as broken:
            return broken
    return None


@pytest.mark.sampled
@pytest.mark.parametrize("face", MOSTLY_SOAK)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
async def test_every_command_is_refused_alike(claim: Claim, face: str, tmp_path: Path) -> None:
    clock = FakeClock()
    async with House.open(Settings(port=0), clock=clock) as house, doors(face, house, tmp_path) as door:
        assert await failure(claim, door, RefusalsHouse(house, clock)) is None
