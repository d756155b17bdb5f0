""".pointers/<agent_id>.json: how far an agent has read.

{"last_seen_sha": "abc123…", "last_read_at": "2026-05-22T14:30:00.000Z"}
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from cohabit.workspace.formats.stamps import utc_ms


@dataclass(frozen=True, slots=True)
class Pointer:
    """``last_seen_sha`` is "" if the agent has been here but there was no commit."""

    last_seen_sha: str
    last_read_at: str

    @classmethod
    def at(cls, sha: str, now: datetime) -> "Pointer":
        return cls(sha, utc_ms(now))

    @classmethod
    def parse(cls, text: str | None) -> "Pointer | None":
        """The content of the file; None if there is none, or if it is damaged."""
        try:
            found = json.loads(text or "")
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict):
            return None
        sha, read = found.get("last_seen_sha") or "", found.get("last_read_at") or ""
        return cls(sha, read) if isinstance(sha, str) and isinstance(read, str) else None

    @property
    def text(self) -> str:
        return json.dumps({"last_seen_sha": self.last_seen_sha, "last_read_at": self.last_read_at}, indent=2) + "\n"

    @property
    def moment(self) -> datetime:
        """When it was read; the earliest possible time if the file has no valid date."""
        try:
            when = datetime.fromisoformat(self.last_read_at)
            return when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
        except (ValueError, OverflowError):  # not a date, or outside of the years that UTC can express
            return datetime.min.replace(tzinfo=UTC)


def later(ours: str, theirs: str) -> str:
    """Of two versions of one pointer file, the one that was read later; a damaged one loses."""
    return max(ours, theirs, key=_order)


def _order(text: str) -> tuple[bool, datetime, str]:
    pointer = Pointer.parse(text)
    moment = pointer.moment if pointer else datetime.min.replace(tzinfo=UTC)
    return pointer is not None, moment, text
