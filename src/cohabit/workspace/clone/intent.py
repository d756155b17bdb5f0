"""What a call is about to do to the files of a clone, written down before it does it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from cohabit.workspace.whole import write_whole

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

NAME: Final = "advance.json"


@dataclass(frozen=True, slots=True)
class Carried:
    """An uncommitted text on its way: blobs of what the file says, of what it will say, and of what is staged."""

    path: str
    before: str
    after: str
    staged: str | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """From the commit ``start`` (None: from none) to ``goal``."""

    start: str | None
    goal: str
    carried: tuple[Carried, ...] = ()

    def write(self, ws: "Workspace") -> None:
        write_whole(_place(ws), msgspec.json.encode(self))

    @staticmethod
    def read(ws: "Workspace") -> "Intent | None":
        """What was written down and not cleared; None also where it cannot be read (it is written whole or not)."""
        try:
            return msgspec.json.decode(_place(ws).read_bytes(), type=Intent)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    @staticmethod
    def clear(ws: "Workspace") -> None:
        _place(ws).unlink(missing_ok=True)


def _place(ws: "Workspace") -> Path:
    return ws.own / NAME
