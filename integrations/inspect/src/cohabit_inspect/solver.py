"""A model plays a seat: one game for each sample."""

import math
from collections import Counter
from typing import Any

from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cohabit_inspect.answers import HOW_TO_ANSWER, question, read_answer
from cohabit_seat import Player, Seats, Seen, client

RESULT = "cohabit_result"
"""Where the solver leaves the result for the scorer: in the store of the sample."""
UNREADABLE = "There is no move in your answer. End it with a line that has only the number of a move, or JSON."


@solver
def play_seat(
    seats: str = "",
    hosts: str = "",
    wait_s: float = 600,
    answers: int = 3,
    turns: int = 500,
    messages: int = 20,
) -> Solver:
    """Play a game on a free seat, and wait until one is free.

    Args:
        seats: A file with the links of the players. Default: the variable COHABIT_SEATS.
        hosts: A file with links of hosts, to start the next game with. Default: COHABIT_HOSTS.
        wait_s: How long the model waits for its turn, in seconds.
        answers: How many answers a model has for a move. Then the world's fallback is played.
        turns: After this many turns the model stops playing.
        messages: How many of the last messages the model is shown.
    """
    pool = Seats.of_environment(seats, hosts)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        async with client() as http:
            player = await pool.take(http, math.inf)
            try:
                return await Sitting(player, wait_s, answers, turns, messages).play(state, generate)
            finally:
                pool.give_back(player)

    return solve


class Sitting:
    """One game of a model on a seat."""

    def __init__(self, player: Player, wait_s: float, answers: int, turns: int, messages: int) -> None:
        self._player, self._wait_s = player, wait_s
        self._answers, self._turns, self._messages = answers, turns, messages
        self._counts: Counter[str] = Counter(turns=0, unreadable=0, refused=0, fallbacks=0)

    async def play(self, state: TaskState, generate: Generate) -> TaskState:
        player = self._player
        intro = ChatMessageSystem(content=f"{await player.rules()}\n\n{HOW_TO_ANSWER}")
        state.messages = [intro]
        seen = await player.begin(self._wait_s)
        while not seen.over and self._counts["turns"] < self._turns:
            self._counts["turns"] += 1
            if not seen.your_turn:
                raise TimeoutError(
                    f"it was not the turn of {player.seat} for {self._wait_s:g} s: are the others playing?"
                )
            seen = await self._turn(state, generate, seen)
        state.store.set(RESULT, self._result(seen))
        state.completed = True
        return state

    async def _turn(self, state: TaskState, generate: Generate, seen: Seen) -> Seen:
        """Ask the model for a move until it gives a legal one. Otherwise play the fallback."""
        ask = question(seen)
        for _ in range(self._answers):
            state.messages = [state.messages[0], *state.messages[1:][-self._messages :], ChatMessageUser(content=ask)]
            state = await generate(state)
            choice = read_answer(state.output.completion, seen.legal)
            if choice is None:
                self._counts["unreadable"] += 1
                ask = UNREADABLE
                continue
            after = await self._player.act(choice, self._wait_s)
            if not after.refused or after.over:
                return after
            self._counts["refused"] += 1
            ask = f"That move was not accepted: {after.refused}\n\n{question(after)}"
            seen = after
        self._counts["fallbacks"] += 1
        fallback = seen.fallback or next(iter(seen.legal), None)
        if fallback is None:
            return await self._player.wait(self._wait_s)
        return await self._player.act(fallback, self._wait_s)

    def _result(self, seen: Seen) -> dict[str, Any]:
        player = self._player
        return {
            "room": player.member.link.room,
            "member": player.handle,
            "seat": player.seat,
            "game": seen.game,
            "over": seen.over,
            "total_reward": seen.total_reward,
            "standings": seen.standings,
            **self._counts,
        }
