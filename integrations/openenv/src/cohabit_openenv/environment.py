"""A seat of a room as an OpenEnv environment: a session takes a free seat with its first `reset`, and plays it until it
is closed."""

from typing import Any, NoReturn

import httpx
from openenv.core.env_server.interfaces import Environment

from cohabit_openenv.models import SeatAction, SeatObservation, SeatState
from cohabit_seat import Player, Seats, Seen

SEAT_WAIT_S = 2.0
"""How long `reset` waits for a free seat: a session that was just closed gives its own back a moment later."""


class SeatEnvironment(Environment[SeatAction, SeatObservation, SeatState]):
    """`reset` never restarts the room, because others play there too: it begins with the game that is running, and
    after its end with the next one. A seed is ignored, because the room has its own."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, seats: Seats, http: httpx.AsyncClient, wait_s: float) -> None:
        super().__init__()
        self._seats, self._http, self._wait_s = seats, http, wait_s
        self._player: Player | None = None
        self._state = SeatState()

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **other: Any
    ) -> SeatObservation:
        if self._player is None:
            self._player = await self._seats.take(self._http, SEAT_WAIT_S)
        player = self._player
        seen = await player.begin(self._wait_s)
        room = player.member.link.room
        self._state = SeatState(
            episode_id=episode_id or f"{room}-{player.seat}-{seen.game}",
            room=room,
            member=player.handle,
            seat=player.seat,
            game=seen.game,
        )
        return self._observation(player, seen)

    async def step_async(self, action: SeatAction, timeout_s: float | None = None, **other: Any) -> SeatObservation:
        player = self._player
        if player is None or not player.playing:
            raise RuntimeError("no game is running: call reset first")
        within = timeout_s or self._wait_s
        if action.action:
            seen = await player.act(action.model_dump(include={"action", "params", "reasoning"}), within)
        else:
            seen = await player.wait(within)
        self._state.step_count += 1
        return self._observation(player, seen)

    @staticmethod
    def _observation(player: Player, seen: Seen) -> SeatObservation:
        return SeatObservation(
            text=seen.text,
            legal_actions=seen.legal,
            your_turn=seen.your_turn,
            to_move=seen.to_move,
            seat=player.seat,
            game=seen.game,
            total_reward=seen.total_reward,
            message=seen.message,
            refused=seen.refused,
            turn_seconds_left=seen.seconds_left,
            standings=seen.standings,
            values=seen.values,
            reward=seen.reward,
            done=seen.over,
        )

    @property
    def state(self) -> SeatState:
        return self._state

    def close(self) -> None:
        """Give the seat back. OpenEnv calls this in another thread."""
        if self._player is not None:
            self._seats.give_back(self._player)
            self._player = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **other: Any) -> NoReturn:
        raise NotImplementedError("a seat waits for others: use reset_async, as the server of OpenEnv does")

    def step(self, action: SeatAction, timeout_s: float | None = None, **other: Any) -> NoReturn:
        raise NotImplementedError("a seat waits for others: use step_async, as the server of OpenEnv does")
