"""An agent that is a program in any language: one JSON object per line in, one JSON object per line out.

It runs in the process of an agent (``agents.child``), and the program in the group of that process: time limits, kills
and the end of the parent are those of every agent that is not part of Cohabit. ``docs/agents-any-language.md`` has the
two lines.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from cohabit.agents.contract import Exchange, Thought, Turn, Usage
from cohabit.agents.program import Program
from cohabit.errors import UnknownAsset
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.answers import EXPECTED, AnswerProblem, parse_action

FREE = Usage(dollars=0.0)
"""The cost of a program itself. Its payments to others are not known here."""


class CommandAgent:
    """See the module. The program is started when it is needed, and again after it has ended."""

    def __init__(self, words: Sequence[str]) -> None:
        if shutil.which(words[0]) is None:
            raise UnknownAsset(f"program not found: {words[0]}. Install it, or give its whole path (chmod +x a script)")
        self.files = [word for word in words if Path(word).is_file()]
        self._program = Program(words)
        self._world: dict[str, Any] = {}  # what the first line after a start says about the world
        self._space: ActionSpace | None = None
        self._result: ActionResult | None = None  # of its last action, if it was not told yet

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self._world = {"rules": game_desc, "action_space": action_space}
        self._space, self._result = action_space, None
        self._program.start()

    def think(self, turn: Turn, correction: str = "") -> Thought:
        line = self._line(turn, correction)
        self._program.write(line)
        self._result = None
        answer, found = self._answer_to(turn.number)
        action, problem, cause = self._read(answer, found)
        asked = Exchange(
            [{"role": "user", "content": line}], answer, self._program.said(), FREE, problem=problem, cause=cause
        )
        return Thought(action, [asked], problem)

    def _line(self, turn: Turn, correction: str) -> str:
        fallback = turn.fallback() if turn.fallback is not None else None
        told: dict[str, Any] = {
            "decision": turn.number,
            "game": turn.game,
            "turn": turn.turn,
            "text": turn.text,
            "observation": turn.observation,
            "messages": turn.heard,
            "result": self._result,
            "fallback": {"action": fallback.name, "params": fallback.parameters} if fallback is not None else None,
            "correction": correction,
        }
        if self._program.start():
            told |= self._world
        return msgspec.json.encode(
            {key: value for key, value in told.items() if value or key == "observation"}
        ).decode()

    def _answer_to(self, decision: int) -> tuple[str, Any]:
        """The next line, and its value. One that says that it answers another decision is skipped."""
        while True:
            answer = self._program.read_line()
            found = _parsed(answer)
            if not isinstance(found, dict) or found.get("decision", decision) == decision:
                return answer, found

    def _read(self, answer: str, found: Any) -> tuple[Action | None, str, str]:
        """The action, or what is wrong with the line and the name of its cause."""
        if found is None or (isinstance(found, dict) and found.get("action", "") is None):
            return None, "", ""
        if not isinstance(found, dict):
            return None, f"The line is not a JSON object. {EXPECTED}", "no_action"
        try:
            return parse_action(answer, self._space), "", ""
        except AnswerProblem as wrong:
            return None, str(wrong), wrong.cause

    def reflect(self, result: ActionResult) -> None:
        """Its observation is that of the next line."""
        self._result = msgspec.structs.replace(result, observation=None, view_id="")

    def close(self) -> None:
        self._program.close()


def _parsed(line: str) -> Any:
    """The value of a line; the line itself if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line
