"""Commits and the files they changed. Merges are left out: what they bring is told by the commits they bring."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cohabit.workspace.formats.plain import HIDDEN
from cohabit.workspace.looking import history

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

POINTERS: Final = ".pointers/"


@dataclass(frozen=True, slots=True, eq=False)
class Commit:
    """A commit as ``log`` has it, not checked for its signature."""

    told: dict[str, Any]
    files: list[str]
    """What it changed, without pointers; a renamed file by its new name."""
    is_work: bool
    """False where it moved pointers and nothing else."""

    @property
    def sha(self) -> str:
        return str(self.told["sha"])

    @property
    def agent_id(self) -> str:
        """Which agent says that it made it: by the trailer, else by the prefix; "" where neither does."""
        subject = str(self.told["message"])
        prefix = subject[1:].partition("] ")[0] if subject.startswith("[") and "] " in subject else ""
        return self.told["agent_id"] or prefix


def scan(ws: "Workspace", span: Sequence[str], most: int, skip: int = 0) -> list[Commit]:
    """The newest ``most`` commits of a span (arguments for ``git log``), merges left out, after ``skip`` of them.
    Moves of pointers are told apart here: git would compare every tree of the span to leave them out."""
    fields = "".join(f"%x00{field}" for field in history.FIELDS.values())
    asked = ["-z", f"--format={fields}", "--name-only", "-M", "--no-merges", f"--max-count={most}", f"--skip={skip}"]
    # Cut first and cleaned then: a name that is empty once it is clean would end its commit.
    parts = ws.git.run("log", *asked, *span, "--").text.split("\0")
    found, at, width = [], 0, len(history.FIELDS)
    while at + width < len(parts):  # an empty part, the fields, then names up to the next empty part
        begin, at = at + 1, parts.index("", at + 1 + width)
        values = [HIDDEN.sub("", part) for part in parts[begin:at]]
        names = [name.removeprefix("\n") for name in values[width:]]
        files = [name for name in names if not name.startswith(POINTERS)]
        found.append(Commit(history.shown(values[:width]), files, bool(files or not names)))
    return found
