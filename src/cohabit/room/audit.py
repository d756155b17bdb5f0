"""The audit log of refused calls. Repeats are counted, so it cannot be flooded."""

from msgspec import Struct

WINDOW_MS = 60_000
MAX_KEPT = 500


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
        self._open: dict[tuple[str, str, str], Refusal] = {}
        self.changed: dict[int, Refusal] = {}
        self._next = 1
        self.totals: dict[str, int] = {}  # by code, since the room was opened

    def refused(self, at: int, member: str, command: str, code: str, reason: str) -> None:
        key = (member, command, code)
        self.totals[code] = self.totals.get(code, 0) + 1
        line = self._open.get(key)
        if line is None or at - line.at >= WINDOW_MS:
            line = Refusal(at, member, command, code, reason, 0, self._next)
            self._next += 1
            self._open[key] = line
            self.kept.append(line)
            if len(self.kept) > MAX_KEPT:
                gone = self.kept.pop(0)
                self._open = {k: v for k, v in self._open.items() if v is not gone}
        line.count += 1
        self.changed[line.id] = line

    def drain(self) -> list[Refusal]:
        """The lines that changed since the last call."""
        changed, self.changed = list(self.changed.values()), {}
        return changed

    def load(self, kept: list[Refusal]) -> None:
        """Load the stored refusals."""
        self.kept = kept[-MAX_KEPT:]
        self._next = max((line.id for line in kept), default=0) + 1
