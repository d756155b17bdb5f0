"""Answers of a house whose rooms are in several nodes.

A house command declares a function (``across=``). It gets an `Ask`, by which it runs the command in nodes as the same
caller, and the arguments of the call; it returns the result for the caller. Where everything is in one process, and in
a node that is asked for its part, the command itself runs.

What a command must know of the rooms of all nodes is a `question`: a function of the house that other nodes can call.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import msgspec

from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.directory import MOVING, Directory
from cohabit.model.identity import Credential
from cohabit.room.commands import Command

Args = Mapping[str, Any]
IS_PART: ContextVar[bool] = ContextVar("IS_PART", default=False)
"""True in a call with which another node asks for this node's part of a result."""


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

    async def ask(self, node: str, question: str, args: Args, *, repeatable: bool = True) -> Any:
        """Ask another node. The answer is plain dicts and lists. ``repeatable``: asking twice does no harm."""


class Ask:
    """Runs commands in nodes for the caller of one call. Results have the type that the command declares."""

    def __init__(self, nodes: Nodes, target: HouseContext) -> None:
        self.directory = nodes.directory
        self._nodes = nodes
        self._target = target

    async def here(self, args: Args, command: Command | None = None) -> Any:
        """The result of this node. ``command``: another one than the one that was called."""
        run, house, credential = command or self._target.command, self._target.house, self._target.credential
        target = HouseContext(house, credential, run)
        if not run.exclusive:
            return await run.run(target, **run.check(args))
        async with house.exclusive:
            house.identities.check(credential, house.clock.now())
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

    async def others(self, args: Args, command: Command | None = None) -> list[Any]:
        """The results of the other nodes that run rooms."""
        return await asyncio.gather(*(self.at(node, args, command) for node in _others(self.directory)))

    async def everywhere(self, args: Args, command: Command | None = None) -> list[Any]:
        """The result of this node, then those of the others. If this one refuses, no other is asked."""
        return [await self.here(args, command), *await self.others(args, command)]


def ask_nodes(target: HouseContext) -> Ask | None:
    """Asks the other nodes that answer a call too; None: this node answers it alone."""
    nodes = target.house.own.get(Nodes)
    if nodes is None or target.command.across is None or target.maybe_runner is not None or IS_PART.get():
        return None
    return Ask(nodes, target)


def _others(directory: Directory) -> list[str]:
    return [node for node in directory.nodes() if node != directory.here]


async def where_rooms_run(ask: Ask, args: Args) -> Any:
    """A node that runs rooms: the front imports no worlds."""
    here = ask.directory.here
    return await ask.at(here if here in ask.directory.nodes() else ask.directory.place(), args)


async def where_room_is(ask: Ask, args: Args) -> Any:
    """The node of the room that the argument ``room`` names; without one, this node."""
    room = args.get("room")
    holder = ask.directory.holder(room) if isinstance(room, str) else None
    return await ask.at(holder or ask.directory.here, args)


# -- questions ----------------------------------------------------------------------------------
Question = TypeVar("Question", bound=Callable[..., Awaitable[Any]])
QUESTIONS: dict[str, Callable[..., Awaitable[Any]]] = {}


def question(function: Question) -> Question:
    """Declare a function of the services of a house, and of arguments in JSON, that other nodes can ask for."""
    QUESTIONS[function.__name__] = function
    return function


async def ask_others(house: Services, asked: Callable[..., Awaitable[Any]], **args: Any) -> list[Any]:
    """The answers of the other nodes that run rooms; none where all rooms are in this process."""
    nodes = house.own.get(Nodes)
    if nodes is None:
        return []
    return await asyncio.gather(*(nodes.ask(node, asked.__name__, args) for node in _others(nodes.directory)))


def moving_rooms(house: Services) -> Sequence[str]:
    """The rooms that no node has at the moment."""
    nodes = house.own.get(Nodes)
    return nodes.directory.moving() if nodes is not None else ()


def is_on_its_way(house: Services, room: str) -> bool:
    """True if a room that is not in this process is being opened, or runs in another node. False: it could not be."""
    nodes = house.own.get(Nodes)
    holder = nodes.directory.holder(room) if nodes is not None else None
    return nodes is not None and (holder == MOVING or holder in nodes.directory.nodes())


def is_elsewhere(house: Services, room: str) -> bool:
    """True if another node has this room, or none at the moment."""
    nodes = house.own.get(Nodes)
    return nodes is not None and nodes.directory.holder(room) not in (None, nodes.directory.here)
