"""What the MCP server needs of a house, for one caller; and the house in this process, which gives it.

The server is written against `Backend` alone, so the same tools, resources and subscriptions are there
whether the house is in this process (`InHouse`) or at an address (`cohabit.faces.mcp.remote`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from cohabit.errors import CohabitError, Unauthorized, UnknownRoom
from cohabit.house.house import HOUSE_COMMANDS, House
from cohabit.house.offers import Offer, offer_of, offers_for
from cohabit.house.rooms import RoomHost
from cohabit.house.store.contract import Credential
from cohabit.room.decide import by_grant

Topics = frozenset[str]
"""What of a room changed: `view`, `events`, `messages`, `roster`, `rights`. Empty: nothing more will come."""
Tell = Callable[[Topics], None]
Stop = Callable[[], None]

OVER: Topics = frozenset()
VIEW: Topics = frozenset({"view"})
RIGHTS: Topics = frozenset({"rights"})
LOOK_AGAIN_MS = 60_000
_BY_KIND = {
    "chat": frozenset({"events", "messages"}),
    "direct": frozenset({"events", "messages"}),
    "roster": frozenset({"events", "roster", "rights"}),
}
_EVENTS: Topics = frozenset({"events"})


class Backend(Protocol):
    """A house as one caller reaches it. Refusals are raised as the errors of the house."""

    who: str
    """Names the caller: tasks and limits are kept apart by it."""
    room: str | None
    """The room that is meant where none is named."""
    roams: bool
    """Whether a call may name a room, as on `/mcp`; on `/mcp/{room}` there is only that one."""

    async def offers(self) -> Sequence[Offer]:
        """What the caller may do here, in an order that does not change."""

    async def find(self, tool: str, room: str | None) -> Offer | None:
        """The command behind the name of a tool, whether or not the caller may use it."""

    async def call(self, command: str, args: Mapping[str, Any], room: str | None = None, key: str | None = None) -> Any:
        """One command, on the path that every face walks."""

    async def may(self, command: str, room: str) -> bool:
        """Whether the caller's grant gives it this command, now."""

    async def watch(self, room: str, tell: Tell) -> Stop:
        """Have the caller told whenever something that it may perceive has changed."""


def of_one_room(offers: Sequence[Offer]) -> list[Offer]:
    """What is about the room that the caller is in."""
    return [offer for offer in offers if offer.about_room and offer.name != "join"]


def topics_of(kinds: Sequence[str]) -> Topics:
    """What changed, by the kinds of the things that the caller was told."""
    return frozenset().union(*(_BY_KIND.get(kind, _EVENTS) for kind in kinds))


class InHouse:
    """The house in this process, and one of its credentials."""

    __slots__ = ("credential", "house", "roams", "room", "who")

    def __init__(self, house: House, credential: Credential, room: str | None = None) -> None:
        self.house = house
        self.credential = credential
        self.room = room or credential.room
        self.roams = room is None
        self.who = f"{credential.who}@{credential.room or ''}"

    async def offers(self) -> Sequence[Offer]:
        self.house.identities.still_good(self.credential, self.house.clock.now())
        try:
            found = offers_for(self.house, self.credential, self.room)
        except UnknownRoom:  # not in it, or not yet: all that may help is to join
            return [offer_of(HOUSE_COMMANDS.named("join"))]
        return found if self.roams else of_one_room(found)

    async def find(self, tool: str, room: str | None) -> Offer | None:
        command = HOUSE_COMMANDS.get(tool)
        if command is None and room is not None:
            inside = self.house.room_for(self.credential, room).room
            name = tool.removeprefix(inside.world.spec.tool_prefix)
            command = inside.commands.get(name)
            if command is None and name in HOUSE_COMMANDS:
                command = inside.as_named(HOUSE_COMMANDS.named(name))
        if command is None or (tool != command.tool_name and command.where == "world"):
            return None
        return offer_of(command)

    async def call(self, command: str, args: Mapping[str, Any], room: str | None = None, key: str | None = None) -> Any:
        asked = self.house.call(self.credential, room or self.room, command, args, key=key)
        listed = HOUSE_COMMANDS.get(command)
        if listed is not None and listed.records:  # has several steps: a caller that hangs up must not stop it half way
            return await asyncio.shield(asyncio.ensure_future(asked))
        return await asked

    async def may(self, command: str, room: str) -> bool:
        self.house.identities.still_good(self.credential, self.house.clock.now())
        inside = self.house.room_for(self.credential, room).room
        wanted = HOUSE_COMMANDS.get(command) or inside.commands.get(command)
        return wanted is not None and bool(by_grant(inside.state.members[self.credential.who], wanted))

    async def watch(self, room: str, tell: Tell) -> Stop:
        host = self.house.room_for(self.credential, room)
        sink = TopicSink(tell)
        sub, _ = host.subscribe(self.credential.who, sink, True, self.credential)
        await host.first_view(sub)
        host.release(sub)
        rights = asyncio.create_task(self._watch_rights(host, tell), name=f"rights of {self.who}")

        def stop() -> None:
            rights.cancel()
            host.unsubscribe(sink)

        return stop

    async def _watch_rights(self, host: RoomHost, tell: Tell) -> None:
        """Who loses the right to see the roster is not told so by the room; of its own rights it is told here."""
        held = None
        while host.failure is None:
            version = host.version
            member = host.room.state.members.get(self.credential.who)
            if member is None or not self._good():
                tell(OVER)
                return
            if held is not None and held != member.held:
                tell(RIGHTS)
            held = member.held
            await host.changed_since(version, self.house.clock.now() + LOOK_AGAIN_MS)

    def _good(self) -> bool:
        try:
            return bool(self.house.identities.still_good(self.credential, self.house.clock.now()))
        except Unauthorized:
            return False


class _Told(msgspec.Struct):
    kind: str = "info"


class _Frame(msgspec.Struct):
    items: list[_Told]


_decode = msgspec.json.Decoder(_Frame).decode


class TopicSink:
    """Where a room pushes to: passes on what kind of thing changed, not what it is.

    The first view is what later ones are held against: one that is the same is no news, and must not tell that
    something happened which the caller does not see.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._seen: bytes | None = None

    def events(self, frame: bytes) -> None:
        self._tell(topics_of([item.kind for item in _decode(frame).items]))

    def view(self, frame: bytes) -> None:
        before, self._seen = self._seen, frame
        if before not in (None, frame):
            self._tell(VIEW)

    def end(self, reason: CohabitError) -> None:
        self._tell(OVER)
