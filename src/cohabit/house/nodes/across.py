"""How a house command is answered when the rooms are in several nodes.

A command declares a function (``across=``). It gets an `Ask`, by which it runs the command in nodes as the same caller,
and the arguments of the call; it returns the result for the caller. Where everything is in one process, and in a node
that is asked for its part, the command itself runs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

import msgspec

from cohabit.house.calls.context import HouseContext
from cohabit.house.nodes.directory import Directory
from cohabit.model.identity import Credential
from cohabit.room.commands import Command

Args = Mapping[str, Any]
IS_PART: ContextVar[bool] = ContextVar("IS_PART", default=False)
"""Whether another node has asked for the part of a result that this node has."""


class Nodes(Protocol):
    """The other nodes, as a house reaches them. Only where there are several: ``Services.own`` has it then."""

    directory: Directory

    async def call(
        self,
        node: str,
        credential: Credential,
        room: str | None,
        command: str,
        args: Args,
        key: str | None = None,
        *,
        part: bool = False,
        repeatable: bool = False,
    ) -> Any:
        """Call a command in another node as this caller. The result is plain dicts and lists. ``part``: only what that
        node has itself. ``repeatable``: it changes nothing."""


class Ask:
    """Runs commands in nodes for the caller of one call. Results have the type that the command declares."""

    def __init__(self, nodes: Nodes, target: HouseContext) -> None:
        self.directory = nodes.directory
        self._nodes = nodes
        self._target = target

    async def here(self, args: Args, command: Command | None = None) -> Any:
        """The result of this node. ``command``: another one than the one that was called."""
        run = command or self._target.command
        target = HouseContext(self._target.house, self._target.credential, run)
        return await run.run(target, **run.check(args))

    async def at(self, node: str, args: Args, command: Command | None = None) -> Any:
        """The result of one node."""
        run = command or self._target.command
        if node == self.directory.here:
            return await self.here(args, run)
        told = await self._nodes.call(
            node, self._target.credential, None, run.name, args, part=True, repeatable=not run.records
        )
        return msgspec.convert(told, run.hints["return"])

    async def everywhere(self, args: Args, command: Command | None = None) -> list[Any]:
        """The result of this node, then of every other one that runs rooms. If this one refuses, no other is asked."""
        first = await self.here(args, command)
        others = [node for node in self.directory.nodes() if node != self.directory.here]
        return [first, *await asyncio.gather(*(self.at(node, args, command) for node in others))]


Across = Callable[[Ask, Args], Awaitable[Any]]


def ask_nodes(target: HouseContext) -> Ask | None:
    """What answers a call together with other nodes; None: this node answers it alone."""
    nodes = target.house.own.get(Nodes)
    if nodes is None or target.command.across is None or target.maybe_runner is not None or IS_PART.get():
        return None
    return Ask(nodes, target)


async def where_room_is(ask: Ask, args: Args) -> Any:
    """The node of the room that the argument ``room`` names; without one, this node."""
    room = args.get("room")
    holder = ask.directory.holder(room) if isinstance(room, str) else None
    return await ask.at(holder or ask.directory.here, args)
