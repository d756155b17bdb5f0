"""The comment that an entry or an item hides: its unique id, and the UTC times behind its local stamps.

    <!-- cohabit:k3x9 at=2026-05-22T12:30:05Z -->

Items of the earlier tool have none. One that we touch gets a comment without an id: giving it an id would make it
another item for everybody who still has it without.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

HIDDEN: Final = re.compile(r"^[ \t]*<!-- cohabit:([0-9a-z]*)((?: [a-z]+=[^\s>]+)*) -->[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hidden:
    uid: str = ""
    times: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> "Hidden | None":
        """What the first of these comments in ``text`` hides, or None where there is none; it has a line to itself."""
        found = HIDDEN.search(text)
        if found is None:
            return None
        return cls(found[1], dict(pair.split("=", 1) for pair in found[2].split()))

    @property
    def text(self) -> str:
        """The comment; "" where there is nothing to hide."""
        times = "".join(f" {name}={time}" for name, time in self.times.items() if time)
        return f"<!-- cohabit:{self.uid}{times} -->" if self.uid or times else ""
