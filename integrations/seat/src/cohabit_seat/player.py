"""The player of one seat: it plays one game of its room after another, and sees what the seat sees."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from cohabit_seat.member import Member, Refused

WAIT_S = 1.0
"""How long one call waits. In a real-time world, where it is always the seat's turn, time passes by so much at most."""
NOT_ACCEPTED = ("BAD_ARGS", "GAME_REJECTED", "OUT_OF_BOUNDS", "SCOPE_VIOLATION", "TURN_NOT_YOURS", "UNKNOWN_ASSET",
                "UNKNOWN_COMMAND")  # fmt: skip
"""Refusals of an action that a player can answer with a better one. Others need the operator."""

Choice = dict[str, Any]
"""An action: ``{"action": "take", "params": {"n": 2}}``."""


class CannotPlay(Exception):
    """The member has no seat, or its room has no game. The message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The view of a seat."""

    text: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    legal: list[Choice] = field(default_factory=list)
    fallback: Choice | None = None
    your_turn: bool = False
    to_move: list[str] = field(default_factory=list)
    seconds_left: int | None = None
    game: int = 1
    over: bool = False
    reward: float = 0.0
    """Since it was last seen."""
    total_reward: float | None = None
    """In this game, in worlds that count rewards for each seat."""
    message: str = ""
    """The world's message about the last action."""
    standings: list[dict[str, Any]] = field(default_factory=list)
    """At the end: the score board of the world, the best first."""
    refused: str = ""
    """Why the last action was not accepted; then nothing has changed."""


class Player:
    """Plays a seat. ``ask_next_game`` is called while the game of the room is over."""

    def __init__(self, member: Member, ask_next_game: Callable[["Player"], Awaitable[None]]) -> None:
        self.member = member
        self.handle = ""
        self.seat = ""
        self.may_rematch = False
        self.playing = False
        """Whether its game has begun, and this player has not seen its end yet."""
        self._ask_next_game = ask_next_game
        self._game = 0
        self._total: float | None = None

    async def enter(self) -> None:
        """Join the room if that is necessary, and take a free seat if the member has none."""
        try:
            me = await self.member.call("whoami")
        except Refused as outside:
            if outside.code != "UNKNOWN_ROOM" or "join" not in outside.message:
                raise
            me = await self._join()
        self.handle, self.may_rematch = me["handle"], "control_world" in me["grant"]["act"]
        seat = me.get("seat")
        if seat is None and "claim" in me:
            raise CannotPlay(f"{self.handle} waits for its seat {me['claim']}, which the world has not opened yet")
        self.seat = seat or (await self.member.call("sit", key=uuid.uuid4().hex))["seat"]

    async def _join(self) -> Any:
        """With an invite. Its token stays the member's own, so that the same link works after a restart."""
        joined = await self.member.call("join", {"keep_token": True})
        if joined["status"] != "joined":
            raise CannotPlay("the newcomer waits in the lobby; ask a host to admit it, and try again")
        return await self.member.call("whoami")

    async def rules(self) -> str:
        """The description of the world, and its actions."""
        return str((await self.member.call("rules"))["text"])

    async def begin(self, within: float) -> Seen:
        """Wait for a game, and in it for this seat's turn, at most ``within`` seconds. A running game is joined as it
        is."""
        deadline = anyio.current_time() + within
        game, view = await self._look(deadline)
        while not view["your_turn"] and anyio.current_time() < deadline:
            if view.get("over") and "next_game_seconds" not in view:
                await self._ask_next_game(self)
            game, view = await self._look(deadline)
        if view.get("over"):
            raise CannotPlay(_no_next_game(self.member.link.room, view.get("next_game_seconds")))
        self.playing, self._game, self._total = True, game, view.get("total_reward")
        return self._seen(view)

    async def act(self, choice: Choice, within: float) -> Seen:
        """Do this, and wait for the next turn of this seat or for the end of the game, at most ``within`` seconds."""
        if await self._current_game() != self._game:
            return self._missed_end()
        try:
            outcome = await self.member.call("act", choice, key=uuid.uuid4().hex)
        except Refused as refusal:
            if refusal.code not in NOT_ACCEPTED:
                raise
            return replace(await self.wait(0), refused=str(refusal))
        seen = await self.wait(within)
        if outcome.get("pending"):  # a choice for this round: its outcome is known at its end
            outcome = seen.values.get("last_action", {})
        # Where the world has no totals, a seat gets what its own actions have earned.
        reward = seen.reward if seen.total_reward is not None else outcome.get("reward", 0.0)
        return replace(seen, message=outcome.get("message", ""), reward=reward)

    async def wait(self, within: float) -> Seen:
        """Do nothing, and wait for the next turn of this seat or the end of the game, at most ``within`` seconds."""
        deadline = anyio.current_time() + within
        while True:
            game, view = await self._look(deadline)
            if game != self._game:
                return self._missed_end()
            if view.get("over"):
                return await self._end(view)
            if view["your_turn"] or anyio.current_time() >= deadline:
                return self._seen(view)

    async def _end(self, view: dict[str, Any]) -> Seen:
        """The end of the game. Others may ask for the next one when the standings are known."""
        try:
            standings = (await self.member.call("objective_status"))["standings"]
        except Refused:  # a house without that command
            standings = []
        self.playing = False
        return replace(self._seen(view), standings=standings)

    async def _look(self, deadline: float) -> tuple[int, dict[str, Any]]:
        """The number of the current game, and what the seat sees of it after a short wait for its turn."""
        wait_s = max(0.0, min(deadline - anyio.current_time(), WAIT_S))
        view = await self.member.call("wait_for_turn", {"wait_ms": int(wait_s * 1000)})
        return await self._current_game(), view

    async def _current_game(self) -> int:
        return int((await self.member.call("session_info")).get("game", 1))

    def _seen(self, view: dict[str, Any]) -> Seen:
        total, before = view.get("total_reward"), self._total
        self._total = total
        over = view.get("over", False)
        observation = view.get("observation", {})
        return Seen(
            text=view["text"],
            values={name: value for name, value in observation.items() if name not in ("choices", "text")},
            legal=observation.get("choices", []),
            fallback=view.get("fallback"),
            your_turn=view["your_turn"] and not over,
            to_move=view["to_move"],
            seconds_left=view.get("turn_seconds_left"),
            game=self._game,
            over=over,
            reward=(total or 0.0) - (before or 0.0),
            total_reward=total,
        )

    def _missed_end(self) -> Seen:
        """The room plays another game by now: this one has ended, or a host has begun another one."""
        self.playing = False
        text = f"Game {self._game} has ended, and another one has begun in this room. Its result was not seen."
        return Seen(text=text, game=self._game, over=True, total_reward=self._total)


def _no_next_game(room: str, seconds: int | None) -> str:
    if seconds is not None:
        return f"the game in room {room} is over, and the next one begins in {seconds} s; try again then"
    return (
        f"the game in room {room} is over, and no other one has begun. Set rematch_seconds in its scenario, give a "
        "link of a host of the room (COHABIT_HOSTS), or let a host call rematch; then try again"
    )
