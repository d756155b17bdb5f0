"""Calls on their way through the queue of a room."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from cohabit.errors import CohabitError, GameCrash, Internal
from cohabit.house.store.contract import Write
from cohabit.model.identity import Credential
from cohabit.room.recorded import WorldInterrupted
from cohabit.room.room import Room

log = logging.getLogger("cohabit")
Check = Callable[[Room, int], None]


class Call:
    """What a member asked for, and the result."""

    __slots__ = (
        "args", "credential", "done", "error", "future", "key", "name", "ran", "result", "stop_waiting", "then", "via",
        "who",
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
        self.done = False  # may the reply be sent?
        self.ran = False
        self.then: Callable[[Call], None] | None = None  # called when it may
        self.future: asyncio.Future[Any] | None = None
        self.stop_waiting: Callable[[], object] | None = None  # for a call that waits, when nobody wants its reply

    def run(self, room: Room, at: int) -> None:
        """Put it through the room; nothing is raised here."""
        try:
            self.result = self.perform(room, at)
        except CohabitError as refusal:
            self.error = refusal
            if isinstance(refusal, GameCrash):
                log.error(
                    "room %s: the world %s failed in %s", room.id, room.state.world, self.name,
                    exc_info=refusal.__cause__,
                )  # fmt: skip
        except WorldInterrupted:
            raise
        except BaseException as bug:
            log.exception("a bug in %s", self.name)
            self.error = Internal(f"an internal error ({type(bug).__name__}); it was logged")
        self.ran = True

    def perform(self, room: Room, at: int) -> Any:
        return room.call(self.who, self.name, self.args, at=at, key=self.key, via=self.via, credential=self.credential)

    def answer(self) -> Any:
        """The result, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.result

    def wait(self) -> "asyncio.Future[Any]":
        """For a reply that has to wait for the disk, or for something to happen."""
        if self.future is None:
            self.future = asyncio.get_running_loop().create_future()
        return self.future

    def settle(self, failure: CohabitError | None = None) -> None:
        """Let the reply go, or say why the call did not happen after all."""
        self.error = failure or self.error
        self.done = True
        if self.then is not None:
            self.then(self)
        if self.future is None or self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class SystemCall(Call):
    """What the house itself does: ticks, presence, whatever is due. ``also`` is stored together with its entry.

    ``check``: for what is done on behalf of a caller. It is called when the turn of this call in the queue has come,
    and raises if the caller may not do it any more.
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
            return room.settle(at) if self.name == "settle" else room.system(self.name, self.args, at)
        except CohabitError as refusal:
            log.warning("room %s: %s: %s", room.id, self.name, refusal.as_text())
            raise


class PeekCall(Call):
    """A look at the room that waits its turn in the queue."""

    __slots__ = ("look",)

    def __init__(self, look: Callable[[Room], Any]) -> None:
        super().__init__("", "peek")
        self.look = look

    def perform(self, room: Room, at: int) -> Any:
        return self.look(room)
