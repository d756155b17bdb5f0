"""A person at the terminal of this process, for matches. In a house, people are members: see ``cohabit play``."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import msgspec

from cohabit.agents.contract import Heard, PlayerLeft, Thought, Turn
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation

HELP = "Type a number, an action with its parameters (take n=2), or nothing to pass."


class Human:
    """Shows the turn, and reads one line for each decision."""

    one_at_a_time = True  # there is one terminal, so the games of a match are played one after another

    def __init__(self, stdin: TextIO | None = None, stdout: TextIO | None = None) -> None:
        self._stdin, self._stdout = stdin or sys.stdin, stdout or sys.stdout

    def _tell(self, text: str) -> None:
        """Without control characters: the text may be somebody else's."""
        shown = "".join(c if c.isprintable() or c == "\n" else "·" for c in text)
        print(shown, file=self._stdout, flush=True)

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self._tell(f"{game_desc}\n\n{action_space.to_text()}\n\n{HELP}")

    def hear(self, message: Heard) -> None:
        self._tell(f"{message.sender}: {message.content}")

    async def decide(self, observation: Observation) -> Action | None:
        return (await self.think(Turn(observation, observation.to_text()))).action

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        choices = turn.observation.choices
        self._tell(f"Not possible: {correction}" if correction else turn.text)
        for number, choice in enumerate(choices, 1):
            self._tell(f"  {number}  {Action(choice['action'], choice['params']).text}")
        line = await asyncio.get_running_loop().run_in_executor(None, self._stdin.readline)
        if not line:
            raise PlayerLeft("the input of human has ended")
        try:
            return Thought(read_line(line, choices))
        except ValueError as wrong:
            return Thought(problem=str(wrong))

    async def reflect(self, result: ActionResult) -> None:
        if result.message:
            self._tell(result.message)

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        for goal in goals:
            self._tell(f"Goal: {goal.description}")
        return []


def read_line(line: str, choices: Sequence[dict[str, Any]]) -> Action | None:
    """The action that a person typed: the number of a choice, or a name with parameters. Empty: none."""
    name, _, rest = line.strip().partition(" ")
    if not name:
        return None
    if name.isdecimal():
        if not 1 <= int(name) <= len(choices):
            raise ValueError(f"choose 1 to {len(choices)}" if choices else "there are no numbered actions now")
        chosen = choices[int(name) - 1]
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
