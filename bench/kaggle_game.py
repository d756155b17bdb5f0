"""Kaggle's wrapping of OpenSpiel's tic-tac-toe. It runs in an environment of its own, without our packages."""

import random
import time
from typing import Any

WAITS = {"submission": -1}


class Kaggle:
    """A random game, with the text and the legal moves of the player to move, as its agents get them."""

    def __init__(self) -> None:
        import kaggle_environments  # type: ignore[import-not-found]

        # Moves are given to `env.step`: no agent of Kaggle's, with its own clock and output, is measured.
        self.env: Any = kaggle_environments.make("open_spiel_tic_tac_toe", {"includeLegalActions": True})
        self.choose = random.Random(1).choice

    def round(self, seconds: float, moves_only: bool = False) -> float:
        """Moves per CPU second. ``moves_only``: without the time that it takes to begin a game."""
        steps, spent, ends = 0, 0.0, time.process_time() + seconds
        while time.process_time() < ends:
            began = time.process_time()
            self._begin()
            began = time.process_time() if moves_only else began
            steps += self._moves()
            spent += time.process_time() - began
        return steps / spent

    def _begin(self) -> None:
        self.env.reset(2)
        self.env.step([WAITS, WAITS])  # sets the game up

    def _moves(self) -> int:
        env, steps = self.env, 0
        while not env.done:
            moves = []
            for side in env.state:
                if side.status == "ACTIVE":
                    assert side.observation["observationString"]
                    moves.append({"submission": self.choose(side.observation["legalActions"])})
                else:
                    moves.append(WAITS)
            env.step(moves)
            steps += 1
        return steps
