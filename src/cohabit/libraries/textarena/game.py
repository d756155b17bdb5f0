"""``Game``: a game of TextArena that draws from random numbers of its own, and notes who was told what.

What players are told goes through ``State.add_observation``, which knows the recipient; the lists that TextArena keeps
do not say whether a message was for everybody. TextArena seeds and uses the random generators of the process
(``GlobalRandom``), and its calls wait for each other.
"""

import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy
import textarena
from msgspec import Struct

from cohabit.libraries.global_random import GlobalRandom
from cohabit.model.stream import Stream

EVERYBODY = -1
GAME = -1
PROMPT, BOARD, ACTION, ADMIN = "PROMPT", "GAME_BOARD", "PLAYER_ACTION", "GAME_ADMIN"
MAX_DEPTH, MAX_ITEMS = 6, 200
"""Limits of what is shown of the state of a game: some keep whole dictionaries in it."""
MAX_TRIED = 150
"""The number of texts that are tried if one of them is a valid move."""


class Message(Struct, frozen=True, array_like=True):
    """Something that a player was told. Players are numbers from 0."""

    step: int  # the number of moves before it
    sender: int  # a player, or ``GAME``
    to: int  # a player, or ``EVERYBODY``
    text: str
    kind: str  # the name of TextArena's observation type


class Game:
    """A running game. The same arguments and the same moves give the same game."""

    def __init__(self, game: str, options: Mapping[str, Any], players: int, seed: int) -> None:
        self.players = players
        self.messages: list[Message] = []
        self.moves = 0
        draws = Stream(seed, "textarena")
        self._random = GlobalRandom(draws)
        with self._called():
            self._env = textarena.make(game, **options)
            _silence(type(self._env).__module__.rpartition(".")[0])
            self._env.reset(num_players=players, seed=draws.below(2**31))
        self._env.state.set_invalid_move = self._refuse

    def step(self, text: str) -> bool:
        """Let the player whose turn it is send a text. Returns whether TextArena took it for a valid move."""
        self.moves += 1
        self._is_refused = False
        with self._called():
            self._env.step(text)
        return not self._is_refused

    def valid(self, texts: Sequence[str], enough: int) -> list[str]:
        """The texts that would be valid moves now, tried on copies of the game: the first ones, if they are many."""
        found: list[str] = []
        now = pickle.dumps(self)
        with deepcopy(self._random).in_use():
            for tried, text in enumerate(texts):
                if len(found) == enough or (found and tried >= MAX_TRIED):
                    break
                copy: Game = pickle.loads(now)
                copy._is_refused = False
                with suppress(Exception):  # some games fail at texts that they did not expect
                    copy._env.step(text)
                    if not copy._is_refused:
                        found.append(text)
        return found

    @property
    def is_over(self) -> bool:
        return bool(self._env.state.done)

    @property
    def to_move(self) -> int | None:
        """The player whose turn it is; None when the game is over."""
        return None if self.is_over else int(self._env.state.current_player_id)

    @property
    def errors(self) -> int:
        """The number of invalid moves in a row by the player whose turn it is."""
        return int(getattr(self._env.state, "error_count", 0))

    @property
    def errors_left(self) -> int:
        """The number of further invalid moves that it may make."""
        return max(0, int(getattr(self._env.state, "error_allowance", 0)) - self.errors)

    @property
    def rewards(self) -> dict[int, float]:
        """By player; empty until the game is over."""
        found = self._env.state.rewards or {}
        return {player: float(found.get(player, 0)) for player in range(self.players)} if found else {}

    @property
    def valid_moves(self) -> str:
        """The moves that a game with open information notes for the player whose turn it is; most games note none."""
        return str(self._env.state.game_state.get("valid_moves", ""))

    def reason(self, player: int) -> str:
        """Why the game ended, as this player is told."""
        return str(self._info(player).get("reason") or "")

    @property
    def secrets(self) -> Any:
        """The whole state as plain values, with the state of the random numbers: for an eye that sees everything."""
        return {"random": self._random.digest(), "state": _plain(self._env.state.game_state)}

    def _info(self, player: int) -> dict[str, Any]:
        found: dict[str, Any] = self._env.state.game_info.get(player, {})
        return found

    @contextmanager
    def _called(self) -> Iterator[None]:
        """Call TextArena: with the random numbers of this game, noting what players are told."""
        with self._random.in_use():
            add = textarena.State.add_observation
            textarena.State.add_observation = lambda state, *told, **named: self._note(
                partial(add, state), state, *told, **named
            )
            try:
                yield
            finally:
                textarena.State.add_observation = add

    def _refuse(self, *args: Any, **named: Any) -> Any:
        """TextArena counts an invalid move here, and may end the game because of it."""
        self._is_refused = True
        state = self._env.state
        return type(state).set_invalid_move(state, *args, **named)

    def _note(
        self,
        add: Any,
        state: Any,
        message: str,
        observation_type: Any,
        from_id: int = GAME,
        to_id: int = EVERYBODY,
    ) -> None:
        add(message=message, observation_type=observation_type, from_id=from_id, to_id=to_id)
        text = str(state.logs[-1][1])  # without the marks of roles, which TextArena removes
        self.messages.append(Message(self.moves, int(from_id), int(to_id), text, observation_type.name))


@cache
def _silence(package: str) -> None:
    """Some games print notes for their authors. Standard output may be a protocol here."""
    for name, module in list(sys.modules.items()):
        if name.startswith(package):
            vars(module).setdefault("print", lambda *_, **__: None)


def _plain(value: Any, depth: int = 0) -> Any:
    """A value as plain data that is the same in every process."""
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if depth == MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _plain(each, depth + 1) for key, each in islice(value.items(), MAX_ITEMS)}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value[:MAX_ITEMS]]
    if isinstance(value, set | frozenset):
        return sorted((_plain(each, depth + 1) for each in value), key=repr)[:MAX_ITEMS]
    if isinstance(value, numpy.ndarray | numpy.generic):
        return _plain(value.tolist(), depth)
    if hasattr(value, "__dict__"):
        return {name: _plain(each, depth + 1) for name, each in vars(value).items() if not callable(each)}
    return type(value).__name__
