"""Limits on what newcomers try: wrong codes, forged signatures, and how many of them arrive.

Each limit is for one caller, so that a stranger who guesses keeps nobody else out. What makes guessing hopeless is that
there are too many codes.
"""

import asyncio
from collections import deque
from collections.abc import Collection
from contextlib import nullcontext
from weakref import WeakValueDictionary

from cohabit.errors import Busy
from cohabit.house.access import codes
from cohabit.house.access.codes import Attempts, Challenges
from cohabit.house.calls.context import HouseContext
from cohabit.house.clock import Clock, pause
from cohabit.house.threads import run_in_thread
from cohabit.model.admission import Knock
from cohabit.room.state import RoomState

GUESSES, GUESSES_MS = 10, 60_000
"""The number of wrong codes after which a caller has to wait, and for how long. A caller is an identity, or everybody
without a token at one address: a stranger who guesses does not keep others out."""
GUESSES_OF_ALL = 300
"""The number of wrong codes for one room in this time, from all callers, after which each caller has one try."""
CHECKS_AT_ONCE = 4
"""The number of codes that are checked at the same time. A check is slow on purpose. Of callers with wrong codes it is
one, so that they delay each other alone."""
PAUSE_MS = 100
"""The wait of a caller with too many wrong codes before each further one is checked, if the house has made the code:
it may share its address with somebody who has the right one."""
FORGERIES, FORGERIES_MS = 120, 60_000
"""The same for assertions without a valid signature: each is checked against every key of the room."""
ARRIVALS, ARRIVALS_MS = 120, 60_000
"""The maximum number of newcomers without a token in this time, per room and address."""
LOBBY_LIMIT = 100
"""The maximum number of newcomers in a lobby."""
STALE_MS = 3_600_000
"""A full lobby drops newcomers who have waited for longer."""


INCOMPLETE = "put the address of the house before the link; it does not know its own (setting public_url)"


class Turns:
    """One check at a time. Of those who wait, the newest and the oldest have the next turn by turns: somebody with the
    right code seldom waits behind all wrong ones from the same address, and nobody waits forever."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_taken = False
        self._takes_newest = True

    async def __aenter__(self) -> None:
        if not self._is_taken:
            self._is_taken = True
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                if turn in self._waiting:
                    self._waiting.remove(turn)
            else:
                self._pass_on()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.pop() if self._takes_newest else self._waiting.popleft()
            if not turn.done():
                self._takes_newest = not self._takes_newest
                turn.set_result(None)
                return
        self._is_taken = False


class Gate:
    """Counts wrong codes and arrivals, and issues challenges, for one house. Not stored.

    ``address``: of the page, for links; empty if the house does not listen and has no public address."""

    def __init__(self, clock: Clock, address: str = "") -> None:
        self.address = address
        self.challenges = Challenges(clock)
        self.guesses = Attempts(clock, GUESSES, GUESSES_MS)
        self.guesses_of_all = Attempts(clock, GUESSES_OF_ALL, GUESSES_MS)
        # A caller has one check at a time, so that it cannot try many codes before the first counts.
        self.turns: WeakValueDictionary[str, Turns] = WeakValueDictionary()
        self.checks = asyncio.Semaphore(CHECKS_AT_ONCE)
        self.late_checks = asyncio.Semaphore(1)
        self.forgeries = Attempts(clock, FORGERIES, FORGERIES_MS)
        self.arrivals = Attempts(clock, ARRIVALS, ARRIVALS_MS)

    def link(self, path: str) -> tuple[str, str]:
        """A link to the page, and how to complete it if the house does not know its address."""
        return f"{self.address}{path}", "" if self.address else INCOMPLETE

    def forget_room(self, room: str) -> None:
        for attempts in (self.guesses, self.guesses_of_all, self.forgeries, self.arrivals):
            attempts.forget(room)


async def matched_code(ctx: HouseContext, code: str) -> str:
    """The stored code of the room, if the caller has given the same; else empty. Wrong codes count for this caller."""
    gate, room, caller = ctx.house.need(Gate), ctx.room.id, caller_of(ctx)
    async with gate.turns.setdefault(f"{room} {caller}", Turns()):
        limit = 1 if gate.guesses_of_all.is_exhausted(room) else None
        guesses = gate.guesses.is_exhausted(room, caller, limit)
        if guesses and not ctx.room.state.entry_policy.code_is_random:
            raise Busy("too many wrong codes from you or from your network; try again in a minute")
        if guesses:
            await pause(ctx.house.clock, PAUSE_MS)
        stored = ctx.room.state.entry_policy.code
        async with gate.late_checks if guesses else nullcontext(), gate.checks:
            is_right = await run_in_thread("a code", lambda: codes.matches(code, stored))
        if is_right:
            return stored
        gate.guesses.add(room, caller)
        gate.guesses_of_all.add(room)
        return ""


def caller_of(ctx: HouseContext) -> str:
    """Whom a limit is for: an identity, or the address of a stranger, which is part of its credential."""
    return ctx.credential.identity or ctx.credential.hash.hex()


def space_in_lobby(state: RoomState, now: int, how: str, proven: Collection[str]) -> list[Knock]:
    """Knocks to drop, so that there is space for one more. ``how`` the newcomer joins: anybody can use an open link, so
    those who did make space for those who were given something (``proven``)."""
    if len(state.knocks) < LOBBY_LIMIT:
        return []
    old = next((k for k in state.knocks.values() if k.denied), None)
    old = old or next((k for k in state.knocks.values() if now - k.since >= STALE_MS), None)
    if how in proven:
        old = old or next((k for k in state.knocks.values() if k.how not in proven), None)
    if old is None:
        raise Busy("the lobby of this room is full; try again later")
    return [old]


def count_arrival(ctx: HouseContext) -> None:
    arrivals, room, caller = ctx.house.need(Gate).arrivals, ctx.room.id, caller_of(ctx)
    if arrivals.is_exhausted(room, caller):
        raise Busy("too many newcomers from your network in this minute; try again later")
    arrivals.add(room, caller)
