"""What an agent remembers within a token budget: facts and plans, and the latest steps."""

from pathlib import Path

import msgspec

from cohabit.model.action import Action
from cohabit.model.mind import HistoryEntry, Memory

CHARS_PER_TOKEN = 4
"""An estimate that needs no tokenizer."""
MAX_FACTS, MAX_PLANS = 50, 5


class Notebook:
    """The memory of one agent. ``path``: where it is kept across restarts, if anywhere."""

    def __init__(self, tokens: int, path: Path | None = None) -> None:
        self._tokens = tokens
        self._path = path
        self.memory = self._load()

    def _load(self) -> Memory:
        if self._path is None or not self._path.is_file():
            return Memory()
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Memory)
        except msgspec.MsgspecError:
            return Memory()  # a damaged memory is forgotten

    def _set(self, memory: Memory) -> None:
        self.memory = memory
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part = self._path.with_suffix(".part")
            part.write_bytes(msgspec.json.encode(memory))
            part.replace(self._path)

    def remember(self, step: int, action: Action, message: str, reward: float) -> None:
        """Add a step. The oldest are forgotten when the budget is used up."""
        history = [*self.memory.history, HistoryEntry(step, action, message, reward)]
        while len(history) > 1 and sum(len(_line(entry)) for entry in history) > self._tokens * CHARS_PER_TOKEN:
            del history[0]
        self._set(msgspec.structs.replace(self.memory, history=history))

    def learn(self, fact: str) -> None:
        facts = [known for known in self.memory.facts if known != fact] + [fact]
        self._set(msgspec.structs.replace(self.memory, facts=facts[-MAX_FACTS:]))

    def plan(self, plans: list[str]) -> None:
        self._set(msgspec.structs.replace(self.memory, plans=plans[:MAX_PLANS]))

    def to_text(self) -> str:
        """For the prompt: facts, plans, then the latest steps, oldest first."""
        parts = []
        if self.memory.facts:
            parts.append("WHAT YOU KNOW:\n" + "\n".join(f"- {fact}" for fact in self.memory.facts))
        if self.memory.plans:
            parts.append("YOUR PLAN:\n" + "\n".join(f"- {plan}" for plan in self.memory.plans))
        if self.memory.history:
            parts.append("YOUR LATEST ACTIONS:\n" + "\n".join(_line(entry) for entry in self.memory.history))
        return "\n\n".join(parts)


def _line(entry: HistoryEntry) -> str:
    reward = f" (reward {entry.reward:+g})" if entry.reward else ""
    return f"- {entry.action.text}: {entry.message or 'done'}{reward}"
