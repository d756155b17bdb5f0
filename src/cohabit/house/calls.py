"""Calls on their way through the queue of a room."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from cohabit.errors import CohabitError, Internal
from cohabit.room.room import Room

log = logging.getLogger("cohabit")


class Call:
    """What a member asked, and what came of it."""

    __slots__ = ("args", "done", "error", "future", "key", "name", "ran", "result", "then", "via", "who")

    def __init__(self, who: str, name: str, args: Any = None, key: str | None = None, via: str | None = None) -> None:
        self.who = who
        self.name = name
        self.args = args
        self.key = key
        self.via = via
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False  # may the answer leave?
        self.ran = False
        self.then: Callable[[Call], None] | None = None  # to be told when it may
        self.future: asyncio.Future[Any] | None = None

    def run(self, room: Room, at: int) -> None:
        """Put it through the room; nothing is raised here."""
        try:
            self.result = self.perform(room, at)
        except CohabitError as refusal:
            self.error = refusal
        except Exception as bug:
            log.exception("a bug of ours in %s", self.name)
            self.error = Internal(f"a bug of ours ({type(bug).__name__}); it was logged")
        self.ran = True

    def perform(self, room: Room, at: int) -> Any:
        return room.call(self.who, self.name, self.args, at=at, key=self.key, via=self.via)

    def answer(self) -> Any:
        """The result, or the refusal raised."""
        if self.error is not None:
            raise self.error
        return self.result

    def wait(self) -> "asyncio.Future[Any]":
        """For when the answer has to wait for the disk."""
        if self.future is None:
            self.future = asyncio.get_running_loop().create_future()
        return self.future

    def settle(self, failure: CohabitError | None = None) -> None:
        """Let the answer go, or say why the call did not happen after all."""
        if self.then is not None:
            self.error = failure or self.error
            self.then(self)
        if self.future is None or self.future.done():
            return
        error = failure or self.error
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(self.result)


class SystemCall(Call):
    """What the house does of itself: ticks, presence, whatever is due."""

    __slots__ = ()

    def __init__(self, do: str, args: Any) -> None:
        super().__init__("", do, args)

    def perform(self, room: Room, at: int) -> Any:
        try:
            return room.settle(at) if self.name == "settle" else room.system(self.name, self.args, at)
        except CohabitError as refusal:
            log.warning("room %s: %s: %s", room.id, self.name, refusal.as_text())
            raise


class PeekCall(Call):
    """A look at the room that waits its turn."""

    __slots__ = ("look",)

    def __init__(self, look: Callable[[Room], Any]) -> None:
        super().__init__("", "peek")
        self.look = look

    def perform(self, room: Room, at: int) -> Any:
        return self.look(room)
