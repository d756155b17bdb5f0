"""The memory of an agent within a token budget: plans, facts, and the latest steps."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from cohabit.agents.secrets import write_private
from cohabit.model.action import Action
from cohabit.model.mind import HistoryEntry, Memory
from cohabit.model.observation import one_line

CHARS_PER_TOKEN = 3
"""An estimate that needs no tokenizer, on the safe side: English prose has about four."""
MAX_FACTS, MAX_PLANS, MAX_LINE = 50, 5, 200


class Notebook:
    """The memory of one agent. ``path``: where it is kept across restarts, if anywhere."""

    def __init__(self, tokens: int, path: Path | None = None) -> None:
        self._chars = tokens * CHARS_PER_TOKEN
        self._path = path
        self.memory = self._load()

    def _load(self) -> Memory:
        if self._path is None or not self._path.is_file():
            return Memory()
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Memory)
        except (OSError, msgspec.MsgspecError):
            return Memory()  # a damaged memory is forgotten

    def _set(self, memory: Memory) -> None:
        self.memory = memory
        if self._path is not None:
            write_private(self._path, msgspec.json.encode(memory))

    def remember(self, step: int, action: Action, message: str, reward: float) -> None:
        """Add a step. When the budget is used up, the older half is forgotten at once: a prompt that begins in the same
        way for several steps is read from the backend's cache."""
        history = [*self.memory.history, HistoryEntry(step, action, one_line(message)[:MAX_LINE], reward)]
        if _size(history) > self._chars // 2:
            while len(history) > 1 and _size(history) > self._chars // 4:
                del history[0]
        self._set(msgspec.structs.replace(self.memory, history=history))

    def learn(self, fact: str) -> None:
        """Add a fact. A known one becomes the latest."""
        new = one_line(fact)[:MAX_LINE]
        facts = [known for known in self.memory.facts if known != new] + [new]
        self._set(msgspec.structs.replace(self.memory, facts=facts[-MAX_FACTS:]))

    def plan(self, plans: Sequence[str]) -> None:
        self._set(msgspec.structs.replace(self.memory, plans=[one_line(plan)[:MAX_LINE] for plan in plans[:MAX_PLANS]]))

    def to_text(self) -> str:
        """For the prompt: what you know, your plan, then the latest steps, oldest first. The latest of each is kept if
        not all of it is within the budget."""
        left = self._chars
        parts: list[str] = []
        for title, lines, share in (
            ("WHAT YOU KNOW", [f"- {fact}" for fact in self.memory.facts], 2),
            ("YOUR PLAN", [f"- {plan}" for plan in self.memory.plans], 2),
            ("YOUR LATEST ACTIONS", [_line(entry) for entry in self.memory.history], 1),
        ):
            section = _section(title, lines, left // share)
            if section:
                parts.append(section)
                left -= len(section) + 2
        return "\n\n".join(parts)


def _section(title: str, lines: Sequence[str], chars: int) -> str:
    kept: list[str] = []
    left = chars - len(title) - 1
    for line in reversed(lines):
        left -= len(line) + 1
        if left < 0:
            break
        kept.insert(0, line)
    return "\n".join([f"{title}:", *kept]) if kept else ""


def _size(history: Sequence[HistoryEntry]) -> int:
    return sum(len(_line(entry)) + 1 for entry in history)


def _line(entry: HistoryEntry) -> str:
    reward = f" (reward {entry.reward:+g})" if entry.reward else ""
    return f"- {entry.action.text[:MAX_LINE]}: {entry.message or 'done'}{reward}"
