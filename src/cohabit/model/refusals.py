"""The refused calls of a room, for its audit. Repeats are counted, so it cannot be flooded.

A line goes to the store at once, and into the record, where it is part of the hash chain, when its minute is over.
"""

from collections.abc import Collection

from msgspec import Struct

from cohabit.model.redacted import redacted

WINDOW_MS = 60_000
LINES_PER_MEMBER, LINES_OF_NEWCOMERS, MOST_CALLERS = 300, 20, 50
FURTHER = "further refusals, for other reasons"
"""The lines of a member, or of a newcomer, in a minute. After that its refusals share one for each command and code, so
that no noise hides what it has tried. From ``MOST_CALLERS`` newcomers on, further ones share their lines."""
PRIVATE_REASONS = ("GAME_REJECTED", "UNKNOWN_ASSET", "OUT_OF_BOUNDS", "SCOPE_VIOLATION", "BAD_ARGS", "UNKNOWN_COMMAND")
"""Refusals whose reason comes from the world or quotes what the caller sent, and may reveal hidden information."""
NEWCOMER = "(newcomer)"
"""The member of a refusal, if it is none yet. No handle has parentheses."""
REFUSALS_KEPT = 500
"""Refusals kept per room, in memory and in the store."""


class Refusal(Struct, omit_defaults=True):
    """One line: ``count`` refusals within a minute of ``at``, of the same call for the same reason."""

    at: int
    member: str
    command: str
    code: str
    reason: str
    count: int = 1
    id: int = 0
    caller: str = ""  # of a newcomer: the same for one address or token


class Audit:
    """The newest refusals in one room, and those not stored yet."""

    def __init__(self) -> None:
        self.hides = False  # whether the world hides things: then nobody learns from counts which reasons are the same
        self.kept: list[Refusal] = []
        self.evicted: list[Refusal] = []  # dropped to make room, and not recorded yet
        self._open: dict[tuple[str, ...], Refusal] = {}
        self._lines: dict[tuple[str, ...], int] = {}  # by member and caller, in the current minute
        self._minute = -1
        self.changed: dict[int, Refusal] = {}
        self._next = 1
        self.totals: dict[str, int] = {}  # by code, since the room was opened

    def refused(self, at: int, member: str, command: str, code: str, reason: str, caller: str = "") -> None:
        if at // WINDOW_MS != self._minute:
            self._minute, self._lines = at // WINDOW_MS, {}
        reason, most = redacted(reason), LINES_OF_NEWCOMERS if member == NEWCOMER else LINES_PER_MEMBER
        if caller and (member, caller) not in self._lines and sum(bool(one) for _, one in self._lines) >= MOST_CALLERS:
            caller = ""
        whose = (member, caller)
        if self._lines.get(whose, 0) >= most and (*whose, command, code, reason) not in self._open:
            reason = FURTHER
        is_counted = not (self.hides and code in PRIVATE_REASONS) or reason == FURTHER
        key = (*whose, command, code, reason if is_counted else f"#{self._next}")
        self.totals[code] = self.totals.get(code, 0) + 1
        line = self._open.get(key)
        if line is None or at - line.at >= WINDOW_MS:
            line = Refusal(at, member, command, code, reason, 0, self._next, caller)
            self._next += 1
            self._open[key] = line
            self._lines[whose] = self._lines.get(whose, 0) + 1
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
