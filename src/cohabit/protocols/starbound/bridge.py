"""The bridge: commands that wait for the game to fetch them, and callers that wait for their results.

A game cannot be called, it can only ask: it polls for commands and posts their results. Commands are queued per player.
A game that polls for one player gets the commands of that player only; a game that names no player gets those of all
players for whom no other game polls.

What happened to a command is always known to be one of these: answered; never fetched, so it was not executed
(UNREACHABLE); or fetched and not answered in time, so its outcome is unknown (OUTCOME_UNKNOWN).
"""

import asyncio
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Any
from uuid import uuid4

from msgspec import Struct

from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, OutcomeUnknown, UnknownCommand, Unreachable
from cohabit.house.clock import Clock
from cohabit.protocols.starbound import wire

TIMEOUT_MS = 30_000
"""The time that a caller waits for the game."""
MAX_WAIT_MS = 25_000
"""The time that a poll may wait for a command."""
CONNECTED_MS = 10_000
"""A game counts as connected this long after its last poll."""
MAX_PLAYERS = 64
MAX_QUEUED = 32
"""Commands that may wait for one player."""
MAX_ENDED = 1_000
"""Ended commands that are remembered, to tell a late result from an unknown one."""
TIMED_OUT = "Timeout waiting for game response"
NOBODY_WAITS = "nobody waits for this result any more"
START_THE_GAME = "start OpenStarbound with the mod, and load the character"


class Player(Struct, frozen=True):
    """A player for whom a game polls."""

    id: str
    name: str
    connected: bool
    version: str = ""


class Waiting(Struct, eq=False):
    """A command and the caller that waits for its result."""

    command: wire.Command
    result: asyncio.Future[dict[str, Any]]
    fetched: bool = False


class Poller(Struct, eq=False):
    """A game that polls for one player, or for all."""

    name: str = ""
    version: str = ""
    seen_at: int = 0
    open: asyncio.Future[Waiting | None] | None = None  # a poll that waits for a command


class Bridge:
    """See the module."""

    def __init__(self, clock: Clock, timeout_ms: int = TIMEOUT_MS) -> None:
        self._clock = clock
        self._timeout_ms = timeout_ms
        self._pollers: dict[str | None, Poller] = {}
        self._queues: dict[str, deque[Waiting]] = {}
        self._waiting: dict[str, Waiting] = {}  # by the id of the command
        self._ended: OrderedDict[str, str] = OrderedDict()  # ids, and what to say to a result that comes now
        self._views: OrderedDict[str, wire.PlayerView] = OrderedDict()  # the last one of each player
        self._closed = False

    # -- callers ------------------------------------------------------------------------------------
    async def request(
        self,
        kind: wire.Kind,
        player: str,
        action: str | None = None,
        parameters: dict[str, Any] | None = None,
        timeout_ms: int | None = None,
    ) -> dict[str, Any]:
        """Let the game of this player do something. Returns its result, which is valid."""
        if self._closed:
            raise Unreachable("the bridge is closed")
        if not self.is_connected(player):
            raise Unreachable(f"no game is connected for player {player!r}; {START_THE_GAME}")
        queue = self._queues.setdefault(player, deque())
        if len(queue) >= MAX_QUEUED:
            raise Busy(f"{MAX_QUEUED} commands already wait for player {player!r}; try again in a moment")
        waiting = Waiting(wire.Command(str(uuid4()), kind, player, action, parameters), asyncio.Future())
        self._waiting[waiting.command.id] = waiting
        queue.append(waiting)
        self._offer(player)
        limit = self._timeout_ms if timeout_ms is None else timeout_ms
        timer = self._clock.call_at(self._clock.now() + limit, lambda: self._time_out(waiting, limit))
        try:
            return await waiting.result
        finally:
            timer.cancel()
            self._end(waiting, NOBODY_WAITS)

    def _time_out(self, waiting: Waiting, limit: int) -> None:
        if waiting.result.done():
            return
        if waiting.fetched:
            self._end(waiting, f"the time limit of {limit / 1000:g} s has passed; the result was ignored")
            waiting.result.set_exception(OutcomeUnknown(TIMED_OUT))
        else:
            self._end(waiting, "this command was withdrawn")
            waiting.result.set_exception(
                Unreachable(f"{TIMED_OUT}: the game did not fetch the command within {limit / 1000:g} s")
            )

    def _end(self, waiting: Waiting, why: str) -> None:
        """Forget a command, so that it is neither fetched nor answered from now on."""
        id_, player = waiting.command.id, waiting.command.player_id
        if self._waiting.pop(id_, None) is not None:
            self._ended[id_] = why
            while len(self._ended) > MAX_ENDED:
                self._ended.popitem(last=False)
        queue = self._queues.get(player)
        if queue is not None:
            with suppress(ValueError):
                queue.remove(waiting)
            if not queue:
                del self._queues[player]

    # -- the game -----------------------------------------------------------------------------------
    async def poll(
        self, player: str | None = None, wait_ms: int = 0, name: str = "", version: str = ""
    ) -> wire.Command | None:
        """The next command for this player, or for any. ``wait_ms``: how long to wait for one."""
        poller = self._poller(player)
        poller.name, poller.version = wire.label(name) or poller.name, wire.label(version) or poller.version
        poller.seen_at = self._clock.now()
        waiting = None if self._closed else self._next(player)
        if waiting is None and wait_ms > 0 and not self._closed:
            waiting = await self._wait(poller, min(wait_ms, MAX_WAIT_MS))
        return waiting.command if waiting is not None and not waiting.result.done() else None

    async def _wait(self, poller: Poller, wait_ms: int) -> Waiting | None:
        """Wait for a command. A newer poll for the same player ends the older one: its game was restarted."""
        _finish(poller.open)
        offered: asyncio.Future[Waiting | None] = asyncio.get_running_loop().create_future()
        poller.open = offered
        timer = self._clock.call_at(self._clock.now() + wait_ms, lambda: _finish(offered))
        try:
            return await asyncio.shield(offered)
        except asyncio.CancelledError:  # the game has hung up: its command goes back
            given = offered.result() if offered.done() else None
            offered.cancel()
            if given is not None and not given.result.done():
                given.fetched = False
                self._queues.setdefault(given.command.player_id, deque()).appendleft(given)
                self._offer(given.command.player_id)
            raise
        finally:
            timer.cancel()
            if poller.open is offered:
                poller.open = None
            poller.seen_at = self._clock.now()

    def end_poll(self, player: str | None) -> None:
        """End the open poll of a game without a command: its script has ended and would not see it."""
        poller = self._pollers.get(player)
        if poller is not None:
            _finish(poller.open)

    def _poller(self, player: str | None) -> Poller:
        found = self._pollers.get(player)
        if found is None:
            if len(self._pollers) >= MAX_PLAYERS:
                gone = [id_ for id_, poller in self._pollers.items() if not self._polls(poller)]
                if not gone:
                    raise Busy(f"games of {MAX_PLAYERS} players are connected already")
                del self._pollers[gone[0]]
            found = self._pollers[player] = Poller()
        return found

    def _offer(self, player: str) -> None:
        """Give the next command to a poll that waits for it."""
        key = player if player in self._pollers else None
        poller = self._pollers.get(key)
        if poller is not None and poller.open is not None and not poller.open.done():
            poller.open.set_result(self._next(key))

    def _next(self, player: str | None) -> Waiting | None:
        """Take the next command out of its queue. From now on its outcome is unknown until it is answered."""
        if player is not None:
            queue = self._queues.get(player)
        else:
            free = [queue for name, queue in self._queues.items() if queue and name not in self._pollers]
            queue = free[0] if free else None
        if not queue:
            return None
        waiting = queue.popleft()
        waiting.fetched = True
        return waiting

    def result(self, id_: str, sent: Any) -> None:
        """The game answers a command. Raises if nobody waits for it, or if it is not valid."""
        waiting = self._waiting.get(id_)
        if waiting is not None and waiting.result.done():  # its caller was cancelled at this moment
            self._end(waiting, NOBODY_WAITS)
            waiting = None
        if waiting is None:
            if id_ in self._ended:
                raise Conflict(self._ended[id_])
            raise UnknownCommand("there is no command with this id")
        try:
            result = self._checked(waiting.command, sent)
        except BadArgs as wrong:
            self._end(waiting, "this command was answered already")
            error = OutcomeUnknown if waiting.command.type == "act" else Unreachable
            waiting.result.set_exception(error(f"the game sent an invalid result: {wrong.message}"))
            raise
        self._end(waiting, "this command was answered already")
        waiting.result.set_result(result)

    def _checked(self, command: wire.Command, sent: Any) -> dict[str, Any]:
        if command.type == "act":
            outcome = wire.read_outcome(sent)
            if outcome.observation is not None:
                self._remember(command.player_id, outcome.observation)
            return wire.as_plain(outcome)
        if command.type == "reset" and not (isinstance(sent, dict) and "health" in sent):
            return wire.read_object(sent)
        view = wire.read_view(sent)
        self._remember(command.player_id, view)
        return complete(view)

    def _remember(self, player: str, view: wire.PlayerView) -> None:
        self._views[player] = view
        self._views.move_to_end(player)
        while len(self._views) > MAX_PLAYERS:
            self._views.popitem(last=False)

    # -- state --------------------------------------------------------------------------------------
    def last_view(self, player: str) -> wire.PlayerView | None:
        """The view of this player when it was last observed."""
        return self._views.get(player)

    def is_connected(self, player: str | None = None) -> bool:
        """True if a game polls for this player; without a player: for anyone."""
        if player is None:
            return any(map(self._polls, self._pollers.values()))
        poller = self._pollers.get(player) or self._pollers.get(None)
        return poller is not None and self._polls(poller)

    def _polls(self, poller: Poller) -> bool:
        return poller.open is not None or self._clock.now() - poller.seen_at <= CONNECTED_MS

    @property
    def pending(self) -> int:
        """The number of commands without a result."""
        return len(self._waiting)

    def players(self) -> list[Player]:
        """The players for whom games have polled."""
        return [
            Player(id_ or wire.DEFAULT_PLAYER, p.name or id_ or wire.DEFAULT_PLAYER, self._polls(p), p.version)
            for id_, p in self._pollers.items()
        ]

    def close(self) -> None:
        """End all polls and all waiting calls."""
        self._closed = True
        for poller in self._pollers.values():
            _finish(poller.open)
        for waiting in list(self._waiting.values()):
            error: CohabitError = Unreachable("the bridge was closed")
            if waiting.fetched:
                error = OutcomeUnknown("the bridge was closed before the game answered")
            self._end(waiting, "the bridge was closed")
            if not waiting.result.done():
                waiting.result.set_exception(error)


def _finish(poll: "asyncio.Future[Waiting | None] | None") -> None:
    """End a poll without a command, if it still waits."""
    if poll is not None and not poll.done():
        poll.set_result(None)


def complete(view: wire.PlayerView) -> dict[str, Any]:
    """A view with all fields of the wire, also those that are empty."""
    plain: dict[str, Any] = {
        "inventory": {}, "nearby_entities": [], "nearby_terrain": [], "effects": [], "quests": [],
    }  # fmt: skip
    return plain | wire.as_plain(view)
