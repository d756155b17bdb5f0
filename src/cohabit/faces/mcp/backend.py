"""The interface of a house for the MCP server, for one caller; and the house in this process, which implements it.

The server is written against `Backend` alone, so the same tools, resources and subscriptions are there
whether the house is in this process (`InHouse`) or at an address (`cohabit.faces.mcp.remote`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from cohabit.errors import BadArgs, CohabitError, Unauthorized
from cohabit.features.visits.visits import NEXUS
from cohabit.house.calls.command_list import CommandInfo, commands_for, describe, list_commands
from cohabit.house.calls.shaped import Shaped
from cohabit.house.house import House
from cohabit.house.reading import introduction
from cohabit.house.reading.introduction import Introduction
from cohabit.house.running.runner import RoomRunner
from cohabit.house.streams.changes import Changes, Topics
from cohabit.house.streams.subscriptions import Subscription, is_narrowed
from cohabit.model.identity import Credential
from cohabit.room.commands import Command

Tell = Callable[[Topics], None]
"""Told what of a room changed; no topics at all mean that nothing more will come."""
Stop = Callable[[], None]
StillSees = Callable[[], bool]
OVER: Topics = frozenset()
DEFAULT, FULL = "default", "full"
PROFILES = (DEFAULT, FULL)


def is_full(profile: str) -> bool:
    """True if a caller chose the profile `full`."""
    if profile not in PROFILES:
        raise BadArgs(f"unknown profile {profile[:40]!r}; use {' or '.join(PROFILES)}")
    return profile == FULL


class Backend(Protocol):
    """A house as one caller reaches it. Refusals are raised as the errors of the house."""

    caller: str
    """Identifies the credential: each one has its own tasks and limits."""
    room: str | None
    """The room that is meant where none is named."""
    roams: bool
    """True if a call may name a room, as on `/mcp`; on `/mcp/{room}` there is only that one, except in the Nexus."""
    lists_house: bool
    """True if commands of the house are tools, too."""
    full: bool
    """The profile: every tool is listed, and results have values beside their text; else neither, for models."""

    async def introduction(self, room: str | None, brief: bool = False) -> Introduction:
        """The text and the rooms for the caller before it begins. ``brief``: without the rules."""

    async def commands(self, room: str | None) -> Sequence[CommandInfo]:
        """The commands that the caller may call in a room, in an order that does not change."""

    async def find_tool(self, tool: str, room: str | None) -> CommandInfo | None:
        """The command of this tool name, or of this name, if it is known; the caller may not be allowed to use it."""

    async def find_resource(self, name: str, room: str) -> CommandInfo | None:
        """The command behind a resource of a room, if it is known; the caller may not be allowed to use it."""

    async def call(self, command: str, args: Mapping[str, Any], room: str | None = None, key: str | None = None) -> Any:
        """Call a command, by its own name or by that of its tool."""

    async def may(self, command: str, room: str) -> bool:
        """True if the caller's grant gives it this command, now."""

    async def watch(self, room: str, tell: Tell) -> Stop:
        """Have the caller told whenever something that it may perceive has changed."""

    def until_invalid(self, tell: Callable[[], None]) -> Stop:
        """Have ``tell`` called when the caller's credential is revoked or expires."""


class InHouse:
    """The house in this process, and one of its credentials."""

    __slots__ = ("caller", "credential", "full", "house", "lists_house", "roams", "room", "shaped")

    def __init__(self, house: House, credential: Credential, room: str | None = None, *, full: bool = False) -> None:
        self.house = house
        self.full = full
        self.credential = credential
        self.room = room or credential.room
        self.lists_house = room is None
        self.roams = room is None or self._leads_on(room)
        self.caller = credential.counted_as.hex()
        self.shaped = Shaped(house.door.account_of(credential, self.room))  # counts what is sent for this request

    def _leads_on(self, room: str) -> bool:
        """True if this is the Nexus: a caller who enters a game there goes on in the room of the game."""
        runner = self._runner(room)
        return runner is not None and self.credential.room is None and runner.room.state.world == NEXUS

    async def introduction(self, room: str | None, brief: bool = False) -> Introduction:
        told: Introduction = await self.call(introduction.INTRODUCTION.name, {"brief": brief}, room)
        return told

    async def commands(self, room: str | None) -> Sequence[CommandInfo]:
        self._check()
        return list_commands(self.house.services, self.credential, room)

    async def find_tool(self, tool: str, room: str | None) -> CommandInfo | None:
        command = self._command(tool, room)
        return describe(command) if command is not None else None

    async def find_resource(self, name: str, room: str) -> CommandInfo | None:
        runner = self._runner(room)
        table = runner.commands if runner is not None else self.house.commands
        return next((describe(c) for c in table if c.resource is not None and c.resource.name == name), None)

    def takes_wait_ms(self, tool: str) -> bool:
        """True if a call of this tool may take long. Where its arguments name the room, that is not known yet."""
        command = self._command(tool, self.room)
        return command.takes_wait_ms if command is not None else self.room is None

    def _command(self, tool: str, room: str | None) -> Command | None:
        runner = self._runner(room)
        if runner is None:
            return self.house.commands.with_tool_name(tool) or self.house.commands.get(tool)
        table = runner.commands
        return table.with_tool_name(tool) or table.get(tool) or runner.room.command_now(tool)

    def _runner(self, room: str | None) -> RoomRunner | None:
        """The room, if the caller is in it. Any other looks like one that does not exist."""
        credential = self.credential
        runner = self.house.rooms.runner_of(room) if room is not None and credential.room in (None, room) else None
        return runner if runner is not None and runner.room.member_of(credential.identity) is not None else None

    async def call(self, command: str, args: Mapping[str, Any], room: str | None = None, key: str | None = None) -> Any:
        return await self.house.call(
            self.credential, room or self.room, command, args, key=key, deliver=self.shaped.deliver
        )

    async def may(self, command: str, room: str) -> bool:
        self._check()
        return any(allowed.name == command for allowed in commands_for(self.house.services, self.credential, room))

    def still_sees(self) -> StillSees:
        """Whether the caller may still see what it may see now in its rooms of this process."""
        rooms, who = self.house.rooms, self.credential.identity
        here = [rooms.get(self.room)] if self.room is not None and not self.roams else rooms.values()
        seen = [
            (runner.id, member.id, (member.held, member.through, runner.room.eye(member)))
            for runner in here
            if runner is not None and (member := runner.room.member_of(who)) is not None
        ]

        def still() -> bool:
            return all(
                (runner := rooms.get(room)) is not None and not is_narrowed(runner.room, member, grant)
                for room, member, grant in seen
            )

        return still

    async def watch(self, room: str, tell: Tell) -> Stop:
        changes = Changes(tell)
        subscription = await self.house.subscribe(self.credential, room, deliver=changes.pushed, leaves=False)
        try:
            first = await subscription.first_view()
        except BaseException:
            subscription.close()
            raise
        if first:
            changes.begin(first)
        reader = asyncio.create_task(_read(subscription, changes, tell), name=f"changes of {room}")

        def stop() -> None:
            subscription.close()
            reader.cancel()

        return stop

    def until_invalid(self, tell: Callable[[], None], *, renewable: bool = False) -> Stop:
        """``renewable``: not when an access token expires; its client goes on with the next one."""

        def check() -> None:
            try:
                self._check()
            except Unauthorized:
                tell()

        stop = self.house.identities.until_invalid(self.house.clock, self.credential, check, renewable=renewable)
        asyncio.get_running_loop().call_soon(check)  # it may have happened since the request was authenticated
        return stop

    def _check(self) -> None:
        self.house.identities.check(self.credential, self.house.clock.now())


async def _read(subscription: Subscription, changes: Changes, tell: Tell) -> None:
    try:
        async for frame in subscription:
            changes.pushed(frame)
    except CohabitError:
        tell(OVER)
    finally:
        subscription.close()
