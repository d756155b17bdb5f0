"""The play loop: a player in a room, through any client. In a house and on another machine it is the same.

It waits for the turn, passes on messages, lets the player move, and ends the turn where members end their turns
themselves. Thinking happens here, so it never holds up the house.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from cohabit.agents.contract import Heard, Turn
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.player import Player
from cohabit.agents.spans import OpenSpan, span
from cohabit.client import Client
from cohabit.errors import Busy, CohabitError, StorageFailed
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Observation

WAIT_MS = 20_000
"""The time that one call waits for a turn."""
PASSING = Busy, StorageFailed
"""Refusals that a player does not stop for: nothing was changed, and the same call may work later."""
AGAIN_S = 1.0
"""The time to wait after one of them."""
MAX_ACTIONS_PER_TURN = 8
"""A player that ends its turns itself ends one after this many actions, or earlier if it has nothing more to do."""
MAX_REFUSALS = 20
"""A player stops after this many decisions in a row that were refused, and their fallbacks, too."""


class Seen(Struct):
    """A view, as ``wait_for_turn`` returns it."""

    text: str
    observation: Observation
    your_turn: bool
    over: bool = False
    fallback: dict[str, Any] | None = None

    def fall_back(self) -> Action | None:
        return Action(self.fallback["action"], self.fallback["params"]) if self.fallback else None


class Stopped(Exception):
    """The play loop ended on its own account; the message says why."""


class RoomCalls(Protocol):
    """The calls of a player in its room."""

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        """Call a command of the room. Results are plain dicts and lists; refusals are raised."""

    async def changed(self, wait_ms: int) -> None:
        """Return when something has happened in the room, or after ``wait_ms``."""


class ClientCalls:
    """Those in a room of a house that a client is connected to."""

    _cursor: str | None = None  # in the events of the room

    def __init__(self, client: Client, room: str | None = None) -> None:
        self._client, self._room = client, room

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self._client.call(command, args, room=self._room)

    async def changed(self, wait_ms: int) -> None:
        if self._cursor is None:  # from now on
            self._cursor = (await self.call("events", {"last": 1}))["cursor"]
        else:
            self._cursor = (await self.call("events", {"cursor": self._cursor, "wait_ms": wait_ms}))["cursor"]


class PlayLoop:
    """A player in a room: its calls, its place in the messages, and the number of its decisions."""

    def __init__(
        self,
        calls: RoomCalls,
        player: Player,
        *,
        pause: Callable[[], Awaitable[None]] | None = None,
        on_over: Callable[[], None] | None = None,
    ) -> None:
        """``pause`` is awaited before each decision, so that people can follow. ``on_over`` is called when a game is
        over and the player waits for the next one."""
        self._calls = calls
        self.player = player
        self._pause = pause
        self._on_over = on_over
        self._number = 0
        self._game = 0
        self._turn = 0  # of this player, in this game
        self._span = OpenSpan()  # of the game
        self._ends_turns = False
        self._takes_turns = True
        self._messages_since: int | None = None
        self._seats: dict[str, str | None] = {}

    async def play(self, games: int | None = None) -> None:
        """Play until the client is closed, the member is removed, or ``games`` games are over."""
        try:
            await self._play(games)
        finally:
            self._span.end()

    async def _play(self, games: int | None) -> None:
        finished, refused, is_introduced = 0, 0, False
        while refused < MAX_REFUSALS:
            try:
                if not is_introduced:
                    await self._introduce()
                    is_introduced = True
                seen = await self._wait()
                if seen.over:
                    await self.player.learn(seen.observation.last_action, over=True)
                    finished += 1
                    if games is not None and finished >= games:
                        return
                    await self._next_game()
                elif seen.your_turn or not self._takes_turns:
                    self._turn += 1
                    decision = await self._take_turn_in_span(seen)
                    if decision is not None:
                        refused = refused + 1 if decision.was_refused else 0
                        if self._takes_turns and decision.action is None and not self._ends_turns:
                            await self._until_news()  # the same question would get the same answer
            except PASSING:
                await asyncio.sleep(AGAIN_S)
        raise Stopped(f"{MAX_REFUSALS} moves in a row were refused, and the fallbacks, too")

    # -- the world --------------------------------------------------------------------------------
    async def _introduce(self) -> None:
        rules = await self._calls.call("rules")
        space = msgspec.convert(rules["action_space"], ActionSpace)
        await self._new_game()
        await self.player.initialize(rules["description"], space)

    async def _new_game(self) -> None:
        info = await self._calls.call("session_info")
        self._game = info.get("game", 1)
        self._ends_turns = bool(info.get("ends_turns"))
        self._seats = {m["handle"]: m.get("seat") for m in info.get("members", [])}
        self._takes_turns = (await self._calls.call("whoami"))["takes_turns"]
        self._turn = 0
        self._span.end()
        if not self.player.is_quick:
            self._span = OpenSpan("game", game=str(self._game), world=str(info.get("world", "")))

    async def _wait(self) -> Seen:
        if self._takes_turns:
            return msgspec.convert(await self._calls.call("wait_for_turn", {"wait_ms": WAIT_MS}), Seen)
        if self._number:  # a member that may act at any time waits for news
            await self._until_news()
        return await self._look()

    async def _until_news(self) -> None:
        """With a pause before each decision, there is no need to wait for something to happen."""
        if self._pause is None:
            await self._calls.changed(WAIT_MS)

    async def _look(self) -> Seen:
        return msgspec.convert(await self._calls.call("view"), Seen)

    async def _next_game(self) -> None:
        """Wait until another game has begun."""
        if self._on_over is not None:
            self._on_over()
        while True:
            await self._calls.changed(WAIT_MS)
            info = await self._calls.call("session_info")
            if not info["over"] or info.get("game", 1) != self._game:
                await self._new_game()
                return

    async def _take_turn_in_span(self, seen: Seen) -> PlayerDecision | None:
        if self.player.is_quick:
            return await self._take_turn(seen)
        with self._span.entered(), span("turn", game=str(self._game), turn=self._turn):
            return await self._take_turn(seen)

    # -- a turn -----------------------------------------------------------------------------------
    async def _take_turn(self, seen: Seen) -> PlayerDecision | None:
        """One decision; where members end their turns themselves, several, until there is nothing more to do.

        None: the turn or the game was over before the decision.
        """
        decision = await self._move(seen)
        if not (self._ends_turns and seen.your_turn):
            return decision
        actions = 1
        while decision is not None and decision.outcome in ("chosen", "corrected") and actions < MAX_ACTIONS_PER_TURN:
            decision = await self._move(await self._look())
            actions += 1
        await self._end_turn()
        return decision

    async def _end_turn(self) -> None:
        try:
            await self._calls.call("turn_advance")
        except CohabitError as refusal:
            if refusal.code != "TURN_NOT_YOURS":  # otherwise it ended by itself
                raise

    async def _move(self, seen: Seen) -> PlayerDecision | None:
        if self._pause is not None:
            await self._pause()
            seen = await self._look()
        if seen.over or (self._takes_turns and not seen.your_turn):
            return None
        self._number += 1
        await self.player.learn(seen.observation.last_action)
        heard = await self._heard()
        turn = Turn(seen.observation, seen.text, self._number, self._game, heard, seen.fall_back, turn=self._turn)
        return await self.player.move(turn, self._act)

    async def _act(self, action: Action | None) -> ActionResult | None:
        if action is None:
            return None
        args = {"action": action.name, "params": action.parameters, "reasoning": action.reasoning}
        result = await self._calls.call("act", args)
        return msgspec.convert(result, ActionResult) if isinstance(result, dict) and "success" in result else None

    async def _heard(self) -> list[Heard]:
        """The messages since the last decision. A player starts with those that arrive after it took the seat."""
        try:
            found = await self._calls.call("recv_messages", {"since_seq": self._messages_since or 0})
        except CohabitError as refusal:
            if refusal.code == "PERMISSION_DENIED":  # a member that may not read messages still plays
                return []
            raise
        new = found["items"] if self._messages_since is not None else []
        self._messages_since = found["next_cursor"]
        return [Heard(str(m["from"]), str(m["content"]), self._seats.get(str(m["from"]))) for m in new]
