"""The facts that this program keeps about a clone, as lines in files of ``.git/cohabit``.

Some facts took long to find out: an object of git never changes, so neither does a fact about its id. Others are what
tools wrote and committed here. Several agents of a person may work in one clone, so what a tool wrote for one of them
may be committed by another; and a house shows whether a commit in the name of a member was made in that member's clone.
A line that a crash loses is found out again, or makes an entry look unverified.
"""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from cohabit.workspace.atomic import write_atomically
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.formats.text import without_trailing_blanks

WRITTEN, COMMITS = "written", "commits"
MAX_FACTS: Final = 4_000
"""Of one kind; a file has at most twice as many lines."""


def known(ws: Clone, kind: str) -> frozenset[str]:
    """All facts of a kind."""
    return frozenset(_lines(ws.state_folder / kind))


def add(ws: Clone, kind: str, facts: Iterable[str]) -> None:
    """Keep facts; the oldest ones are dropped if there are too many."""
    path, new = ws.state_folder / kind, list(facts)
    with suppress(OSError):  # a full disk must not stop a call
        lines = _lines(path)
        if len(lines) + len(new) > 2 * MAX_FACTS:
            kept = [*lines, *new][-MAX_FACTS:]
            write_atomically(path, "".join(f"{line}\n" for line in kept).encode())
        else:
            _append(path, new)


def remember(ws: Clone, contents: Iterable[str]) -> None:
    """Remember the texts of entries that a tool has written; once they are committed this is no longer needed."""
    add(ws, WRITTEN, (_digest(without_trailing_blanks(content)) for content in contents))


def written(ws: Clone) -> Callable[[str], bool]:
    """Return a function that is True for contents that a tool wrote in this clone."""
    digests = known(ws, WRITTEN)
    return lambda content: _digest(content) in digests


def commit_made(ws: Clone, sha: str) -> None:
    with suppress(OSError):
        _append(ws.state_folder / COMMITS, [sha])


def commits_made(root: Path) -> frozenset[str]:
    """The commits that tools made in the clone at ``root``."""
    return frozenset(_lines(root / ".git" / "cohabit" / COMMITS))


def _append(path: Path, lines: Iterable[str]) -> None:
    with open(path, "a", encoding="ascii") as file:
        file.write("".join(f"{line}\n" for line in lines))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("ascii", errors="replace").split("\n")[:-1]
    except OSError:
        return []


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:24]
