"""Times and ids of entries and items.

An entry shows its writer's local time to the minute, which is for people. A hidden comment holds what programs need:
a unique id and UTC times to the second.

    <!-- cohabit:k3x9 at=2026-05-22T12:30:05Z -->

Entries of Multisphere have no such comment and are identified by a digest. When an item is first merged, claimed or
closed here, the digest becomes its id: with a random id it would be a different item in every clone that still has it
without one.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

STAMP: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}"
"""Pattern of the local time."""
AGENT: Final = r"\S.*?"
"""Pattern of an agent id in a line. Multisphere accepts any id, even one with spaces."""
DIGEST_CHARS: Final = 20
"""Of the key of something without an id. An id that is drawn at random is shorter."""
UID_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
HIDDEN: Final = re.compile(r"^[ \t]*<!-- cohabit:([0-9a-z]*)((?: [a-z]+=[^\s>]+)*) -->[ \t\r]*$", re.MULTILINE)


def stamp(now: datetime) -> str:
    """The minute in the time zone of ``now``, in the format of Multisphere."""
    return now.strftime("%Y-%m-%d %H:%M")


def utc(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def later_than(last: str, now: datetime) -> str:
    """UTC time of a new entry: now, or a second after the agent's last one. So merging by time keeps the order of an
    agent's entries, even if its clock was set back or two of them have the same second."""
    current = utc(now)
    if not last or current > last:
        return current
    try:
        return utc(datetime.fromisoformat(last) + timedelta(seconds=1))
    except (ValueError, OverflowError):
        return current


def utc_ms(now: datetime) -> str:
    """With milliseconds, as in pointer files."""
    moment = now.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def stamp_as_utc(text: str) -> str:
    """A stamp read as if it were UTC, the best there is for ordering; "" if ``text`` is not a stamp."""
    return f"{text[:10]}T{text[11:16]}:00Z" if re.fullmatch(STAMP, text) else ""


def new_uid() -> str:
    """Twelve random characters (62 bits)."""
    return "".join(secrets.choice(UID_ALPHABET) for _ in range(12))


@dataclass(frozen=True, slots=True)
class Hidden:
    """A hidden comment: the id and the UTC times by name."""

    uid: str = ""
    times: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> "Hidden | None":
        """The first such comment that has a line to itself, or None."""
        if "<!-- cohabit:" not in text:  # nearly every line, and this runs for each of them
            return None
        found = HIDDEN.search(text)
        if found is None:
            return None
        return cls(found[1], dict(pair.split("=", 1) for pair in found[2].split()))

    @property
    def text(self) -> str:
        """The comment; "" if there is nothing in it."""
        times = "".join(f" {name}={time}" for name, time in self.times.items() if time)
        return f"<!-- cohabit:{self.uid}{times} -->" if self.uid or times else ""
