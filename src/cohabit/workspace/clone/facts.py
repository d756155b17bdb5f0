"""Facts about objects of git that took long to find out, kept as lines in files of ``.git/cohabit``.

An object never changes, so neither does a fact about its id. A line that is lost is found out again.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from cohabit.workspace.atomic import write_atomically

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

MAX_FACTS: Final = 4_000
"""Of one kind; a file has at most twice as many lines."""


def known(ws: "Workspace", kind: str) -> frozenset[str]:
    """All facts of a kind."""
    return frozenset(_lines(ws, kind))


def add(ws: "Workspace", kind: str, facts: Iterable[str]) -> None:
    """Keep facts; the oldest ones are dropped if there are too many."""
    new = list(facts)
    with suppress(OSError):  # a full disk must not stop a read
        lines = _lines(ws, kind)
        if len(lines) + len(new) > 2 * MAX_FACTS:
            kept = [*lines, *new][-MAX_FACTS:]
            write_atomically(ws.state_folder / kind, "".join(f"{line}\n" for line in kept).encode())
            return
        with open(ws.state_folder / kind, "a", encoding="ascii") as file:
            file.write("".join(f"{line}\n" for line in new))


def _lines(ws: "Workspace", kind: str) -> list[str]:
    try:
        return (ws.state_folder / kind).read_text("ascii", errors="replace").split("\n")[:-1]
    except OSError:
        return []
