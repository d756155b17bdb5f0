"""The audit log of refused calls. Repeats are counted, so it cannot be flooded.

A line goes to the store at once, and into the record, where it is part of the hash chain, when its minute is over.
"""

from collections.abc import Collection

from msgspec import Struct

WINDOW_MS = 60_000
LINES_PER_MEMBER = 300
MANY = "(many)"
"""A member has this many lines a minute; after that its refusals share one for each code, with this name."""
REFUSALS_KEPT = 500
"""Refusals kept per room, in memory and in the store."""


class Refusal(Struct, omit_defaults=True):
    """One line of the audit log: ``count`` identical refusals within a minute of ``at``."""

    at: int
    member: str
    command: str
    code: str
    reason: str
    count: int = 1
    id: int = 0


class Audit:
    """The newest refusals in one room, and those not stored yet."""

    def __init__(self) -> None:
        self.kept: list[Refusal] = []
        self.evicted: list[Refusal] = []  # dropped to make room, and not recorded yet
        self._open: dict[tuple[str, str, str], Refusal] = {}
        self._lines: dict[str, int] = {}  # by member, in the current minute
        self._minute = -1
        self.changed: dict[int, Refusal] = {}
        self._next = 1
        self.totals: dict[str, int] = {}  # by code, since the room was opened

    def refused(self, at: int, member: str, command: str, code: str, reason: str) -> None:
        if at // WINDOW_MS != self._minute:
            self._minute, self._lines = at // WINDOW_MS, {}
        if self._lines.get(member, 0) >= LINES_PER_MEMBER and (member, command, code) not in self._open:
            command, reason = MANY, "many different calls were refused"
        key = (member, command, code)
        self.totals[code] = self.totals.get(code, 0) + 1
        line = self._open.get(key)
        if line is None or at - line.at >= WINDOW_MS:
            line = Refusal(at, member, command, code, reason, 0, self._next)
            self._next += 1
            self._open[key] = line
            self._lines[member] = self._lines.get(member, 0) + 1
            self.kept.append(line)
            if len(self.kept) > REFUSALS_KEPT:
                gone = self.kept.pop(0)
                self.evicted.append(gone)
                self._open = {k: v for k, v in self._open.items() if v is not gone}
        line.count += 1
        self.changed[line.id] = line

    def drain(self) -> list[Refusal]:
        """The lines that changed since the last call."""
        changed, self.changed = list(self.changed.values()), {}
        return changed

    def forget(self, ids: Collection[int]) -> None:
        """Forget these lines."""
        self.kept = [line for line in self.kept if line.id not in ids]
        self._open = {key: line for key, line in self._open.items() if line.id not in ids}

    def recorded(self, newest: int) -> None:
        """Lines up to this one are in the record."""
        self.evicted = [line for line in self.evicted if line.id > newest]

    def load(self, kept: list[Refusal]) -> None:
        """Load the stored refusals."""
        self.kept = kept[-REFUSALS_KEPT:]
        self._next = max((line.id for line in kept), default=0) + 1

    def unrecorded(self, after: int, closed_before: int | None = None) -> list[Refusal]:
        """The lines that are not in the record yet: all, or those to which nothing is added any more."""
        lines = [*self.evicted, *self.kept]
        return [
            line for line in lines
            if line.id > after and (closed_before is None or line.at + WINDOW_MS <= closed_before)
        ]  # fmt: skip
