"""What the clients of a run did and saw, by one monotonic clock: calls, readings and revocations."""

from collections.abc import Sequence
from math import inf
from typing import Literal

from msgspec import Struct

Outcome = Literal["ok", "refused", "unknown"]
"""``refused``: every attempt got an answer, and each of them says that nothing was done."""


class Call(Struct, frozen=True):
    """A call that appends one event to a room, with all its attempts under one idempotency key.

    ``event``: the name of the event as its reply tells it, where a reply does.
    """

    room: str
    key: str
    invoked: float
    returned: float
    outcome: Outcome
    event: str = ""

    @property
    def known_at(self) -> float:
        """From when on it must have happened."""
        return self.returned if self.outcome == "ok" else inf


class Page(Struct, frozen=True):
    """Events that one reader got at once. ``is_complete``: as of when it was asked for, there were no more."""

    invoked: float
    events: Sequence[str]
    is_complete: bool = False


class Reading(Struct):
    """All pages that one reader of a room got, from the first event, over any number of connections."""

    room: str
    reader: str
    pages: list[Page]


class Recorded(Struct, frozen=True):
    """An entry of a record. ``event``: as readers see it; empty if it is none that they compare."""

    seq: int
    key: str = ""
    event: str = ""


class Attempt(Struct, frozen=True):
    """A call with a token that is revoked at some time. ``answer``: the code of the error, or ``ok``."""

    invoked: float
    answer: str
    house: str = ""


class Revocation(Struct):
    """A token that was revoked, and everything that its holders did and got.

    ``done``: when the reply came. ``removed_at``: the entry that removes the member, if it was removed.
    """

    room: str
    member: str
    how: str
    done: float = inf
    removed_at: int | None = None
    attempts: list[Attempt] = []
    received: list[str] = []


class Witnessed(Struct, frozen=True):
    """An entry as the database saw it come: who wrote it, and who had the room then, under which epoch."""

    room: str
    seq: int
    writer: str
    holder: str
    epoch: int


class History:
    """Of a whole run."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.readings: list[Reading] = []
        self.revocations: list[Revocation] = []
        self.surprises: list[str] = []  # answers that no client may get, whatever happens

    def acknowledged(self, room: str) -> int:
        return sum(call.outcome == "ok" for call in self.calls if call.room == room)
