"""Parameters of a game are tried in a process of their own, before a house opens a game with them.

The library checks some parameters and raises. Others end its process (a segmentation fault), never return, or take all
memory, and which ones do is written down nowhere. So a game with parameters is loaded and played a little elsewhere,
with limits, and refused if that fails. As a program, this file is that other process.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Mapping
from random import Random
from typing import Any

CPU_SECONDS = 4
PLAY_MOVES = 400
WAIT_SECONDS = 60
"""Time of the clock, for a machine that is busy. The limit that ends a game is that of CPU time."""
MEMORY = 3 << 30
SEEDS = (1, 2, 3)
REFUSED = 3
"""The exit status after an error that the library raised. Its text is on stdout."""


def problem_with(game: str, parameters: Mapping[str, Any]) -> str:
    """Why a game cannot be played with these parameters; "" if it can."""
    order = json.dumps([game, dict(parameters)])
    try:
        # -P: it imports no module beside this file or in the current folder.
        done = subprocess.run(
            [sys.executable, "-P", __file__, order], capture_output=True, text=True, timeout=WAIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "the game did not start in time"
    if done.returncode == 0:
        return ""
    if done.returncode == REFUSED:
        return f"OpenSpiel refuses them ({_short(done.stdout)})"
    return "the game needs too much time or memory with them, or ends its process"


def _short(text: str) -> str:
    """The message of the library, without the position in its source."""
    line = " ".join(text.split())
    return (line.rpartition(".cc:")[2].partition(" ")[2] or line)[:200]


def _play(game: str, parameters: dict[str, Any], seed: int) -> None:
    """Play some moves at random, and read everything that a world reads."""
    import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]

    draw, made = Random(seed), pyspiel.load_game(game, parameters)
    state, kind, players = made.new_initial_state(), made.get_type(), range(made.num_players())
    for _ in range(PLAY_MOVES):
        str(state)
        for player in players:
            if not state.is_chance_node():
                _read(state, kind, player)
        if state.is_terminal():
            return
        if state.is_chance_node():
            state.apply_action(draw.choice([action for action, _ in state.chance_outcomes()]))
        elif state.is_simultaneous_node():
            state.apply_actions([draw.choice(state.legal_actions(player)) for player in players])
        else:
            state.apply_action(draw.choice(state.legal_actions()))


def _read(state: Any, kind: Any, player: int) -> None:
    if kind.provides_observation_string:
        state.observation_string(player)
    if kind.provides_information_state_string:
        state.information_state_string(player)
    if not state.is_terminal():
        for action in state.legal_actions(player):
            state.action_to_string(player, action)


def main(order: str) -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    game, parameters = json.loads(order)
    try:
        for seed in SEEDS:
            _play(game, parameters, seed)
    except Exception as refused:
        sys.stdout.write(str(refused))
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
