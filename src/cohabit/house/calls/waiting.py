"""A call that waits: whether it goes on when the room has changed.

Every entry wakes it, also one that its caller may not know of. So until it ends, it costs the caller nothing and shows
nothing: it is decided again, but the command runs only when something concerns the caller.
"""

from itertools import takewhile
from typing import Any

from cohabit.errors import BadArgs, CohabitError
from cohabit.house.running.calls import PeekCall
from cohabit.house.running.runner import RoomRunner
from cohabit.model.identity import Credential
from cohabit.room.commands import Command
from cohabit.room.decide import decide
from cohabit.room.seeing.visibility import feed, is_news
from cohabit.room.state import Member


class Wait:
    """The wait of one call. ``ends``: when it times out."""

    def __init__(self, runner: RoomRunner, member: Member, command: Command, args: Any, ends: int) -> None:
        self.ends = ends
        self.has_run = False
        self._runner = runner
        self._command = command
        self._checked = runner.history.seq
        self._after = None
        self._ready = None
        try:
            if command.ready is not None:
                self._ready = command.ready(runner.room, member, command.check(args))
            if command.news_after is not None:
                self._after = command.news_after(runner.room, member, command.check(args))
        except BadArgs:  # the command refuses them when it runs, which is audited
            self.ends = 0

    @property
    def is_for_news(self) -> bool:
        """True if the command runs once, when there is news."""
        return self._after is not None

    async def goes_on(self, member: Member, credential: Credential, now: int) -> bool:
        """True if the call still waits. Otherwise it is run."""
        runner = self._runner
        if now >= self.ends or runner.failure is not None:
            return False
        if decide(self._command, member, runner.room, now, credential=credential).code:
            return False
        reached = runner.history.seq
        if self._after is not None:
            after, self._after = self._after, reached
            return not await self._has_news(member, after)
        ready = self._ready
        if ready is not None:
            return not await runner.submit(PeekCall(lambda room: ready(room, member)))
        if not self.has_run:
            return False
        newer = takewhile(lambda line: line.seq > self._checked, reversed(runner.history.recent))
        eye = runner.room.eye(member)
        concerned = any(feed(line.entry, member, eye) for line in newer)
        self._checked = reached
        return not concerned

    async def _has_news(self, member: Member, after: int) -> bool:
        """True if something has happened after an entry that the caller is told and has not done itself."""
        if after < 0:
            return True
        eye = self._runner.room.eye(member)
        try:
            async for line in self._runner.history.after(after):
                if is_news(line.entry, member, eye):
                    return True
        except CohabitError:  # the entries were deleted
            return True
        return False
