"""A person at the terminal of this process, for matches. In a house, people are members: see ``cohabit play``."""

import asyncio
import sys
from collections.abc import Sequence
from threading import Thread
from typing import Any, TextIO

import msgspec

from cohabit.agents.contract import Heard, PlayerLeft, Thought, Turn, settle_from_thread
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.answers import parse_action
from cohabit.model.observation import Goal, Observation

HELP = 'Type a number, an action with its parameters (take n=2, or take {"n": 2}), or nothing to pass.'


MAX_DIGITS = 9


class Human:
    """Shows the turn, and reads lines until one is an action that the world accepts, or time is up."""

    one_at_a_time = True  # there is one terminal, so the games of a match are played one after another
    corrections = None  # a person is asked as often as needed

    def __init__(self, stdin: TextIO | None = None, stdout: TextIO | None = None) -> None:
        self._stdin, self._stdout = stdin or sys.stdin, stdout or sys.stdout
        self._space: ActionSpace | None = None
        self._line: asyncio.Future[str] | None = None  # what is being read

    def _tell(self, text: str) -> None:
        """Without control characters: the text may be somebody else's."""
        shown = "".join(c if c.isprintable() or c == "\n" else "·" for c in text)
        print(shown, file=self._stdout, flush=True)

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self._space = action_space
        self._tell(f"{game_desc}\n\n{action_space.to_text()}\n\n{HELP}")

    def hear(self, message: Heard) -> None:
        self._tell(f"{message.sender}: {message.content}")

    async def decide(self, observation: Observation) -> Action | None:
        return (await self.think(Turn(observation, observation.to_text()))).action

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        choices = turn.observation.choices
        if self._line is not None and self._line.done():  # it came after the end of an earlier turn
            self._line = None
        problem = correction.partition(". Legal actions: ")[0]
        self._tell(f"Not possible: {problem}" if correction else turn.text)
        for number, choice in enumerate(choices, 1):
            self._tell(f"  {number}  {Action(choice['action'], choice['params']).text}")
        while True:
            line = await self._next_line()
            if not line:
                raise PlayerLeft("the input of human has ended")
            try:
                action = read_line(line, choices, self._space)
            except ValueError as wrong:
                self._tell(f"{wrong}\n{HELP}")
                continue
            if action is not None or turn.may_pass:
                return Thought(action)
            self._tell(f"The game waits for you.\n{HELP}")

    async def _next_line(self) -> str:
        """The next line. If time ran out before it was typed, the next call waits for the same line: only one thread
        reads, and it keeps no process from ending."""
        if self._line is None:
            self._line = asyncio.get_running_loop().create_future()
            reading = self._line, self._stdin.readline
            Thread(target=settle_from_thread, args=reading, name="human", daemon=True).start()
        line = await asyncio.shield(self._line)
        self._line = None
        return line

    async def reflect(self, result: ActionResult) -> None:
        if result.message:
            self._tell(result.message)

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        for goal in goals:
            self._tell(f"Goal: {goal.description}")
        return []


def read_line(line: str, choices: Sequence[dict[str, Any]], space: ActionSpace | None = None) -> Action | None:
    """The action that a person typed: the number of a choice, a name with parameters, or JSON. Empty: none."""
    name, _, rest = line.strip().partition(" ")
    if not name:
        return None
    if name.startswith("{") or rest.lstrip().startswith("{"):
        return parse_action(line, space)
    if name.isdecimal():
        number = int(name) if len(name) <= MAX_DIGITS else 0
        if not 1 <= number <= len(choices):
            raise ValueError(f"choose 1 to {len(choices)}" if choices else "there are no numbered actions now")
        chosen = choices[number - 1]
        return Action(chosen["action"], chosen["params"])
    params: dict[str, Any] = {}
    for word in rest.split():
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ValueError(f"{word!r} is not NAME=VALUE")
        try:
            params[key] = msgspec.json.decode(value)
        except msgspec.MsgspecError:
            params[key] = value
    return Action(name, params)
