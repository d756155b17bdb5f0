"""Lines that contain a text. One ``git grep`` finds them; where that was slow, an index is made for the next time.

Both ways give the same answer: plain files of the work tree, tracked or not, hidden or not, ignored or not; no links,
nothing in ``.git``, no file with a NUL in its first 8,000 bytes (git's own sign of a binary one); in order of path.
Only where there is more than an answer may hold, each shows the lines that it came upon first.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cohabit.errors import BadArgs
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone.tree import names_of, pathspecs
from cohabit.workspace.limits import LONGEST_LINE, LONGEST_PATH, LONGEST_QUERY, MOST_MATCHES

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

MOST_BYTES: Final = 8 * 1024 * 1024
"""Of what git prints: lines may be long."""
THREADS: Final = max(4, os.cpu_count() or 1)
"""On two cores four threads need less time than two, and less of the processor."""
PLAIN: Final = re.compile(r"[\w-][\w .-]*(?:/[\w-][\w .-]*)*", re.ASCII)
"""Paths that are surely reachable: nearly all, so the others may take longer to decide."""
FOUND: Final = re.compile(rb"([^\0]+)\0(\d+)[\0:]([^\n]*)\n")


Match = dict[str, str | int]
"""A line as the answer shows it: path, line, text."""


class Found(NamedTuple):
    matches: list[Match]
    more: bool
    """Whether there may be others."""


def search(ws: "Workspace", query: str, paths: Sequence[str] | None, limit: int) -> Answer:
    wanted = needle(query)
    within = scope(paths)
    found = ws.finder.find(wanted, within, min(limit, MOST_MATCHES))
    return {
        "query": query,
        "matches": found.matches,
        "truncated": found.more,
    }


def needle(query: str) -> bytes:
    """The bytes to look for; raises BadArgs for what no line can contain."""
    if not query or any(c in query for c in "\0\n"):
        raise BadArgs("query must be a text of at least one character, within one line")
    if len(query) > LONGEST_QUERY:
        raise BadArgs(f"query is longer than {LONGEST_QUERY} characters")
    try:
        return query.encode()
    except UnicodeEncodeError:
        raise BadArgs("query has half a character in it (a lone surrogate)") from None


def scope(paths: Sequence[str] | None) -> list[str] | None:
    """The files and folders to look in, without a slash at the end; None for everything."""
    places = pathspecs(paths)
    return None if not places or "." in places else places


def is_within(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


# -- without an index ------------------------------------------------------------------------------
def grep(ws: "Workspace", wanted: bytes, within: list[str] | None, limit: int) -> Found:
    """What one ``git grep`` finds. It takes files for bytes, so that nothing in one can stop it."""
    done = ws.git.run(
        "grep", "--no-index", "--no-exclude-standard", "-I", "-F", "-n", "-z", f"--max-count={limit + 1}",
        f"--threads={THREADS}",
        "-e", wanted.decode(), "--", *(within or ["."]),
        ok=(0, 1), most=MOST_BYTES, extra={"LC_ALL": "C", "GIT_DIR": str(_nothing(ws.own / "grep"))},
    )  # fmt: skip
    matches = list(islice(_printed(done.out, wanted), limit + 1))
    return Found(matches[:limit], done.cut or len(matches) > limit)


def _nothing(at: Path) -> Path:
    """An empty repository to search from: a file is what its bytes say, though attributes in a pulled repository may
    call all of them binary."""
    if not (at / "HEAD").exists():
        for folder in ("objects", "refs", "info"):
            (at / folder).mkdir(parents=True, exist_ok=True)
        (at / "info" / "attributes").write_text("* !diff\n", encoding="ascii")
        (at / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    return at


def _printed(printed: bytes, wanted: bytes) -> Iterator[Match]:
    last, seen, at = "", False, 0
    while found := FOUND.match(printed, at):  # not finditer: it would look for a beginning in a line that is cut off
        at = found.end()
        path = found[1].decode(errors="surrogateescape")
        if path != last:
            last, seen = path, reachable(path)
        if seen:
            yield match(path, int(found[2]), found[3], wanted)


def reachable(path: str) -> bool:
    """Whether ``read`` would take this path: what a search finds can be read."""
    if len(path) <= LONGEST_PATH and PLAIN.fullmatch(path):
        return True
    try:
        return bool(names_of(path))
    except BadArgs:
        return False


# -- matches ---------------------------------------------------------------------------------------
def in_order(matches: list[Match]) -> list[Match]:
    return sorted(matches, key=itemgetter("path", "line"))


def match(path: str, number: int, line: bytes, wanted: bytes) -> Match:
    """A long line is cut to what is around the first place where ``wanted`` is in it."""
    if len(line) <= LONGEST_LINE:
        return {"path": path, "line": number, "text": line.decode(errors="replace").removesuffix("\r")}
    begin = max(0, line.find(wanted) - LONGEST_LINE // 4)
    piece = line[begin : begin + 4 * LONGEST_LINE].decode(errors="ignore")[:LONGEST_LINE]
    tail = "…" if begin + len(piece.encode()) < len(line) else ""
    return {"path": path, "line": number, "text": f"{'…' if begin else ''}{piece}{tail}"}
