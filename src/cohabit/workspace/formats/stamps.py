"""Times and names of entries: the local minute that people read, the UTC second that orders, the id that is unique."""

import re
import secrets
from datetime import UTC, datetime
from typing import Final

STAMP: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}"
"""A pattern of the local time in a header."""
AGENT: Final = r"\S.*?"
"""A pattern of an agent id, up to what follows it in its line: the earlier tool takes any, also one with spaces."""
ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def stamp(now: datetime) -> str:
    """The minute in the zone of ``now``, as the earlier tool writes it."""
    return now.strftime("%Y-%m-%d %H:%M")


def utc(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_ms(now: datetime) -> str:
    """With milliseconds, as pointers have it."""
    moment = now.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def stamp_as_utc(text: str) -> str:
    """The best that a stamp without a zone gives for ordering; "" for what is no stamp."""
    return f"{text[:10]}T{text[11:16]}:00Z" if re.fullmatch(STAMP, text) else ""


def new_uid() -> str:
    """Twelve characters that nobody else has written (62 bits)."""
    return "".join(secrets.choice(ALPHABET) for _ in range(12))
