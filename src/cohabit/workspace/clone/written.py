"""What tools wrote into protocol files of this clone, and which commits they made.

Several agents of a person may work in one clone: what a tool wrote for one of them may be committed by another. And a
house shows whether a commit in the name of a member was really made in the clone of that member. Both are kept as lines
in files of ``.git/cohabit``. A line that a crash loses makes an entry look unverified, nothing else.
"""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cohabit.workspace.atomic import write_atomically
from cohabit.workspace.formats.text import without_trailing_blanks

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

CONTENTS, COMMITS = "written", "commits"
MAX_CONTENTS: Final = 2_000
"""Contents that are remembered; those that are committed are no longer needed."""


def remember(ws: "Workspace", contents: Iterable[str]) -> None:
    """Remember the texts of entries that a tool has written."""
    _append(ws, CONTENTS, (_digest(without_trailing_blanks(content)) for content in contents))


def known(ws: "Workspace") -> Callable[[str], bool]:
    """Whether a tool wrote this content in this clone."""
    lines = _read(ws.root, CONTENTS)
    if len(lines) > 2 * MAX_CONTENTS:
        lines = lines[-MAX_CONTENTS:]
        write_atomically(ws.state_folder / CONTENTS, "".join(f"{line}\n" for line in lines).encode())
    found = frozenset(lines)
    return lambda content: _digest(content) in found


def commit_made(ws: "Workspace", sha: str) -> None:
    _append(ws, COMMITS, [sha])


def commits_made(root: Path) -> frozenset[str]:
    """The commits that tools made in the clone at ``root``."""
    return frozenset(_read(root, COMMITS))


def _append(ws: "Workspace", name: str, lines: Iterable[str]) -> None:
    with suppress(OSError), open(ws.state_folder / name, "a", encoding="ascii") as file:
        file.write("".join(f"{line}\n" for line in lines))


def _read(root: Path, name: str) -> list[str]:
    try:
        return (root / ".git" / "cohabit" / name).read_text("ascii", errors="replace").split()
    except OSError:
        return []


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:24]
