"""Lines that contain a text, found with one ``git grep``.

The search covers the plain files of the work tree: tracked, untracked, hidden and ignored. It skips links, everything
in ``.git`` and binary files, which by git's definition have a NUL in their first 8,000 bytes. Matches are in order of
path.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from cohabit.errors import BadArgs
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.git import NO_LIMIT, Result
from cohabit.workspace.clone.tree import names_of, pathspecs
from cohabit.workspace.limits import MAX_LINE_CHARS, MAX_MATCHES, MAX_PATH_CHARS, MAX_QUERY_CHARS

MAX_OUTPUT_BYTES: Final = 8 * 1024 * 1024
"""Limit on what git prints: a single line can be very long."""
THREADS: Final = max(4, os.cpu_count() or 1)
"""On two cores, four threads use less time and less CPU than two."""
SIMPLE_PATH: Final = re.compile(r"[\w-][\w .-]*(?:/[\w-][\w .-]*)*", re.ASCII)
"""Most paths match this and need no further check; the others go through ``names_of``."""
OUTPUT_LINE: Final = re.compile(rb"([^\0]+)\0(\d+)[\0:]([^\n]*)\n")

Match = dict[str, Any]
"""A line in the answer: path, line, text."""


def search(
    ws: Clone,
    query: Annotated[str, "part of a line, taken literally and case-sensitive"],
    paths: Annotated[list[str] | None, "only these files and folders"] = None,
    limit: Annotated[int, Meta(ge=1), f"number of matches, at most {MAX_MATCHES}"] = MAX_MATCHES,
) -> Answer:
    """Find lines that contain a text, in all files of the workspace, committed or not: {path, line, text}."""
    wanted = checked_query(query)
    limit = min(limit, MAX_MATCHES)
    result = _grep(ws, query, paths, limit, max_lines=limit)
    found = list(islice(_matches(result.out, wanted), limit + 1))
    if result.truncated and len(found) <= limit:  # some lines do not count, because their files cannot be read
        result = _grep(ws, query, paths, limit)
        found = list(islice(_matches(result.out, wanted), limit + 1))
    return {"query": query, "matches": found[:limit], "truncated": result.truncated or len(found) > limit}


def _grep(ws: Clone, query: str, paths: Sequence[str] | None, limit: int, max_lines: int = NO_LIMIT) -> Result:
    """The lines of git, which is stopped after ``max_lines``: the files that follow need not be read."""
    return ws.git.run(
        "grep", "--no-index", "--no-exclude-standard", "-I", "-F", "-n", "-z", f"--max-count={limit + 1}",
        f"--threads={THREADS}", "-e", query, "--", *(pathspecs(paths) or ["."]),
        ok=(0, 1), max_bytes=MAX_OUTPUT_BYTES, max_lines=max_lines,
        environ={"LC_ALL": "C", "GIT_DIR": str(_empty_repository(ws.state_folder / "grep"))},
    )  # fmt: skip


def checked_query(query: str) -> bytes:
    """The bytes to search for; raises BadArgs if no line can contain them."""
    if not query or any(c in query for c in "\0\n"):
        raise BadArgs("query must be at least one character and must not contain a line break")
    if len(query) > MAX_QUERY_CHARS:
        raise BadArgs(f"query is longer than {MAX_QUERY_CHARS} characters")
    try:
        return query.encode()
    except UnicodeEncodeError:
        raise BadArgs("query contains half a character (a lone surrogate)") from None


def _empty_repository(folder: Path) -> Path:
    """An empty repository to search from, because ``.gitattributes`` of a pulled repository could declare every file
    binary and so hide it from the search."""
    if not (folder / "HEAD").exists():
        for name in ("objects", "refs", "info"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "info" / "attributes").write_text("* !diff\n", encoding="ascii")
        (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    return folder


def _matches(output: bytes, wanted: bytes) -> Iterator[Match]:
    last, readable, at = "", False, 0
    while found := OUTPUT_LINE.match(output, at):  # not finditer, which would search for a start inside a cut-off line
        at = found.end()
        path = found[1].decode(errors="surrogateescape")
        if path != last:
            last, readable = path, is_readable(path)
        if readable:
            yield {"path": path, "line": int(found[2]), "text": excerpt(found[3], wanted)}


def is_readable(path: str) -> bool:
    """True if the tool ``read`` accepts this path, so that every match can be read."""
    if len(path) <= MAX_PATH_CHARS and SIMPLE_PATH.fullmatch(path):
        return True
    try:
        return bool(names_of(path))
    except BadArgs:
        return False


def excerpt(line: bytes, wanted: bytes) -> str:
    """The line as text; a long one is cut to the surroundings of the first match."""
    if len(line) <= MAX_LINE_CHARS:
        return line.decode(errors="replace").removesuffix("\r")
    begin = max(0, line.find(wanted) - MAX_LINE_CHARS // 4)
    piece = line[begin : begin + 4 * MAX_LINE_CHARS].decode(errors="ignore")[:MAX_LINE_CHARS]
    tail = "…" if begin + len(piece.encode()) < len(line) else ""
    return f"{'…' if begin else ''}{piece}{tail}"
