"""Calls in a room's queue."""

import asyncio
import logging
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, Protocol

from cohabit.errors import CohabitError, GameCrash, internal_error
from cohabit.house.store.contract import Write
from cohabit.model.egress import SentKind
from cohabit.model.identity import Credential
from cohabit.room.base import WorldInterrupted
from cohabit.room.commands import CommandTable
from cohabit.room.room import Room

log = logging.getLogger("cohabit")
Check = Callable[[Room, int], None]


Deliver = Callable[["Call"], int]
"""Encodes the reply of a call for one interface, if it likes, and returns how many bytes it has."""


class ReplyOf(Protocol):
    """The declarations of a command about its replies."""

    sends: SentKind
    records: bool
    when_used_up: bool


class Outlet(Protocol):
    """The point at which a reply leaves the house."""

    def passes_later(self, call: "Call") -> None:
        """Deliver and count the reply, or withhold it."""


class Call:
    """A member's call and its result."""

    __slots__ = (
        "args", "credential", "deliver", "done", "error", "future", "key", "leaves_by", "name",
        "ran", "reply", "result", "stop_waiting", "then", "via", "who",
    )  # fmt: skip

    def __init__(
        self,
        who: str,
        name: str,
        args: Any = None,
        key: str | None = None,
        via: str | None = None,
        credential: Credential | None = None,
    ) -> None:
        self.who = who
        self.name = name
        self.args = args
        self.key = key
        self.via = via
        self.credential = credential
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False  # the reply can be sent at once
        self.ran = False
        self.then: Callable[[Call], None] | None = None  # called when the reply may be sent
        self.future: asyncio.Future[Any] | None = None
        self.stop_waiting: Callable[[], object] | None = None  # cancels a waiting call
        self.leaves_by: Outlet | None = None  # counts the reply; None: it does not leave the house, or was counted
        self.deliver: Deliver  # set together with it
        self.reply: ReplyOf  # the same

    def run(self, room: Room, at: int) -> None:
        """Run the call. Errors are stored, not raised."""
        try:
            self.result = self.perform(room, at)
        except CohabitError as refusal:
            self.error = refusal
            if isinstance(refusal, GameCrash):
                log.error(
                    "room %s: the world %s failed in %s: %s", room.id, room.state.world, self.name, refusal.message,
                    exc_info=refusal.__cause__,
                )  # fmt: skip
        except WorldInterrupted:
            raise
        except BaseException as bug:
            self.error = internal_error(bug, self.name)
        self.ran = True

    def perform(self, room: Room, at: int) -> Any:
        return room.call(self.who, self.name, self.args, at=at, key=self.key, via=self.via, credential=self.credential)

    def answer(self) -> Any:
        """Return the result or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result

    def leave(self) -> None:
        """The reply goes to the interface: encode and count it. Once."""
        if self.leaves_by is not None:
            self.leaves_by.passes_later(self)
            self.leaves_by = None

    def wait(self) -> "asyncio.Future[Any]":
        """A future for the reply."""
        if self.future is None:
            self.future = asyncio.get_running_loop().create_future()
        return self.future

    def settle(self, failure: CohabitError | None = None) -> None:
        """Release the reply, or fail the call."""
        self.error = failure or self.error
        if self.leaves_by is not None:
            self.leave()
        if self.then is not None:
            self.then(self)
        if self.future is None or self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class SystemCall(Call):
    """A system entry of the house, such as ticks or presence. ``also`` is stored together with it.

    ``check``: for entries on behalf of a caller. It runs when the call reaches the head of the queue, and raises if the
    caller is no longer allowed to do it.
    """

    __slots__ = ("also", "check")

    def __init__(self, do: str, args: Any, also: Write | None = None, check: Check | None = None) -> None:
        super().__init__("", do, args)
        self.also = also
        self.check = check

    def perform(self, room: Room, at: int) -> Any:
        try:
            if self.check is not None:
                self.check(room, at)
            return self.write(room, at)
        except CohabitError as refusal:
            log.warning("room %s: %s: %s", room.id, self.name, refusal.as_text())
            raise

    def write(self, room: Room, at: int) -> Any:
        return room.system(self.name, self.args, at)


class SettleCall(SystemCall):
    """Applies everything that is due, such as turn timeouts and expired grants."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("settle", None)

    def write(self, room: Room, at: int) -> Any:
        return room.settle(at)


class PeekCall(Call):
    """A read of the room, run in its queue."""

    __slots__ = ("look",)

    def __init__(self, look: Callable[[Room], Any]) -> None:
        super().__init__("", "peek")
        self.look = look

    def perform(self, room: Room, at: int) -> Any:
        return self.look(room)


def may_move_seats(call: Call, commands: CommandTable) -> bool:
    """True if somebody may get or lose a seat by a call: not by a message, an action of a world, or reading."""
    command = commands.get(call.name) if not isinstance(call, SystemCall) else None
    if command is not None:
        return command.records and command.category in ("meta", "host", "control")
    return not isinstance(call, PeekCall) and call.name not in ("refused", "sent_outside", "ticks")


def draws(call: Call, commands: CommandTable) -> bool:
    """True if a call asks the world for a picture: that takes longer than the event loop can wait."""
    command = commands.get(call.name)
    return command is not None and command.sends == "pictures"


def settle_all(calls: Iterable[Call], failure: CohabitError | None = None) -> None:
    """Release the replies, or fail the calls."""
    for call in calls:
        call.settle(failure)


def settle_after(
    calls: Sequence[Call], gone: Container[str], change: "Callable[[], asyncio.Future[None] | None]"
) -> None:
    """Answer the members who are gone, then make a change, and answer the others when it is stored."""
    settle_all([call for call in calls if call.who in gone])
    others = [call for call in calls if call.who not in gone]
    stored = change()
    if stored is None:
        settle_all(others)
    else:
        stored.add_done_callback(lambda _: settle_all(others))
