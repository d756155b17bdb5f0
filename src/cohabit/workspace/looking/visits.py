"""How far an agent has read: its pointer, which is a file that it shares, and cursors, which it hands back."""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cohabit.errors import BadArgs
from cohabit.workspace.clone import refs
from cohabit.workspace.formats.pointers import Pointer

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

CURSOR: Final = re.compile(r"([0-9a-f]{40}|@\d{1,12}|)\.\.([0-9a-f]{40}):(\d{1,8})")
LARGEST: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Span:
    """The commits between what an agent has seen and where the clone stands. Written down, it is a cursor."""

    base: str
    """A sha; or ``@`` and seconds, where only the time of the last visit is of use; or "" for all of history."""
    head: str
    skip: int = 0
    """How many of them were told already, from the newest."""

    @classmethod
    def of(cls, cursor: str) -> "Span":
        found = CURSOR.fullmatch(cursor)
        if not found:
            raise BadArgs("cursor is what an earlier whats_new gave back; leave it out to ask what is new")
        return cls(found[1], found[2], int(found[3]))

    @property
    def cursor(self) -> str:
        return f"{self.base}..{self.head}:{self.skip}"

    @property
    def by_date(self) -> bool:
        return self.base.startswith("@")

    @property
    def sha(self) -> str | None:
        """The commit that was seen last, where it is known."""
        return self.base if refs.SHA.fullmatch(self.base) else None

    def args(self) -> list[str]:
        """For ``git log`` and ``git rev-list``."""
        if self.by_date:
            return [f"--since={self.base}", self.head]
        return [f"^{self.base}", self.head] if self.base else [self.head]


@dataclass(frozen=True, slots=True)
class Visit:
    """What the pointer of an agent says; ``pointer`` is None on the first visit, and ``note`` says what is odd."""

    pointer: Pointer | None
    note: str = ""


def path_of(ws: "Workspace") -> str:
    return f".pointers/{ws.who.agent_id}.json"


def last(ws: "Workspace") -> Visit:
    """The visit before this one. The file is shared, so anybody may have written anything into it."""
    try:
        text = ws.tree.read(path_of(ws), most=LARGEST).decode(errors="replace")
    except FileNotFoundError:
        return Visit(None)
    except BadArgs:
        return Visit(None, "Your pointer is no plain file; this is told as on a first visit.")
    pointer = Pointer.parse(text)
    if pointer is None or not refs.SHA.fullmatch(pointer.last_seen_sha):
        return Visit(None, "Your pointer does not say what you have seen (torn, or empty); told as on a first visit.")
    return Visit(pointer)


def mark(ws: "Workspace", sha: str) -> None:
    """Move the caller's pointer to ``sha``; what else the file says stays."""
    kept = _kept(ws)
    moved = json.loads(Pointer.at(sha, ws.now()).text)
    ws.tree.write(path_of(ws), (json.dumps({**kept, **moved}, indent=2) + "\n").encode())


def _kept(ws: "Workspace") -> dict[str, Any]:
    try:
        found = json.loads(ws.tree.read(path_of(ws), most=LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
