"""Finds the commit that each line of a protocol file comes from.

Git finds that out by comparing a file with its parents, version by version, which takes seconds in a large file with a
long history. So what it found is kept in ``.git/cohabit``, for the commit that was current then. Later only the commits
since that one are asked about: a line that git follows back to that commit has the same origin as before. The answer is
always the one that git would give by itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from cohabit.errors import BadArgs
from cohabit.workspace.clone import facts, objects, refs
from cohabit.workspace.clone.clone import Clone, StateFile

HEADER: Final = re.compile(r"^([0-9a-f]{40}) (\d+) (\d+)")
MAX_ENTRIES: Final = 300
"""Entries or items of a file whose lines are followed when there are new commits."""
MAX_LINES: Final = 6_000
MAX_RANGES: Final = 2_000
"""Ranges of lines in one command, which has a limited length."""
SMALL: Final = 64 * 1024
"""Size up to which a file is not worth keeping anything."""
Spans = Callable[[Sequence[str]], Iterable[int]]
"""The lines of the entries with these keys in the current text."""


class Row(NamedTuple):
    """A line: the commit that git followed it to, its file and its number there, and whether git stopped there."""

    sha: str
    file: str
    number: int
    stopped: bool


@dataclass(slots=True)
class Kept:
    """The origins of lines of a file as it is in ``commit``, and the keys of the entries that they belong to."""

    commit: str = ""
    lines: dict[int, str] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)


def origins(ws: Clone, path: str, lines: Sequence[int], keys: Sequence[str], spans: Spans) -> dict[int, str]:
    """The commit of each of these lines of the file in the work tree; zeros for a line that is not committed. ``keys``
    are those of the entries with these lines."""
    if not lines:
        return {}
    if (size := _size(ws, path)) < SMALL:
        return {number: row.sha for number, row in _blame(ws, path, lines).items()} if size else {}
    head, kept = refs.head(ws) or "", _read(ws, path)
    committed = bool(head) and _is_committed(ws, path, head)
    if committed and kept.commit == head:
        found, known = {n: kept.lines[n] for n in lines if n in kept.lines}, kept.keys
    else:
        known = kept.keys
        more = list(spans([key for key in known if key not in keys]))
        found = _since(ws, path, sorted({*lines, *more}), kept) if kept.commit else {}
    if missing := [number for number in lines if number not in found]:
        found |= {number: row.sha for number, row in _blame(ws, path, missing).items()}
    if committed and (kept.commit != head or missing):
        before = kept.lines if kept.commit == head else {}
        _write(ws, path, Kept(head, before | found, list(dict.fromkeys([*keys, *known]))[:MAX_ENTRIES]))
    return {number: found[number] for number in lines if number in found}


def at(ws: Clone, path: str, commit: str, lines: Sequence[int]) -> dict[int, str]:
    """The commit of each of these lines of the file as it is in ``commit``."""
    return {number: row.sha for number, row in _blame(ws, path, lines, commit).items()}


def _since(ws: Clone, path: str, lines: Sequence[int], kept: Kept) -> dict[int, str]:
    """The origins of the lines that came after the commit that is kept, or whose origin is kept."""
    rows = _blame(ws, path, lines, f"^{kept.commit}")
    known = {
        number: kept.lines.get(row.number, "") if (row.sha, row.file) == (kept.commit, path) else ""
        for number, row in rows.items()
        if row.stopped
    }
    return {number: known.get(number, row.sha) for number, row in rows.items() if known.get(number, row.sha)}


def _blame(ws: Clone, path: str, lines: Sequence[int], *since: str) -> dict[int, Row]:
    ranges = [arg for first, last in _few(list(_ranges(lines))) for arg in ("-L", f"{first},{last}")]
    args = ("blame", "--porcelain", "--root", "--no-textconv", *ranges, *since, "--", path)
    output = ws.git.run(*args, ok=(0, 128)).text
    rows, files, stopped = dict[int, Row](), dict[str, str](), set[str]()
    sha, origin, number = "", 0, 0
    for line in output.split("\n"):
        if header := HEADER.match(line):
            sha, origin, number = header[1], int(header[2]), int(header[3])
        elif line.startswith("filename "):  # once for each commit, or for each group of lines if it has several files
            files[sha] = line.removeprefix("filename ")
        elif line == "boundary":
            stopped.add(sha)
        elif line.startswith("\t"):
            rows[number] = Row(sha, files.get(sha, ""), origin, sha in stopped)
    return rows


def _ranges(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    for _, group in groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in group]
        yield numbers[0], numbers[-1]


def _few(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges; neighbours are joined if there are too many."""
    step = max(1, -(-len(ranges) // MAX_RANGES))
    return [(some[0][0], some[-1][1]) for i in range(0, len(ranges), step) if (some := ranges[i : i + step])]


def _size(ws: Clone, path: str) -> int:
    try:
        return ws.tree.size(path)
    except (BadArgs, OSError):
        return 0


def _is_committed(ws: Clone, path: str, head: str) -> bool:
    """True if the file is exactly as in the last commit, so that its line numbers are those of the commit."""
    name = f"{head}:{path}"
    sha = ws.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", name, ok=(0, 1, 128)).line
    return sha == objects.sha_of("blob", ws.tree.read(path))


# -- keeping --------------------------------------------------------------------------------------
def _file(path: str) -> StateFile[Kept]:
    return StateFile(f"origins-{path.replace('/', '-')}.json", Kept)


def _read(ws: Clone, path: str) -> Kept:
    kept = None
    with suppress(OSError):
        kept = _file(path).read(ws)
    return kept if kept and all(map(refs.SHA.fullmatch, (kept.commit, *kept.lines.values()))) else Kept()


def _write(ws: Clone, path: str, kept: Kept) -> None:
    if len(kept.lines) > MAX_LINES:
        kept = Kept()
    with suppress(OSError):  # a full disk must not stop a read
        _file(path).write(ws, kept)


# -- texts in commits -----------------------------------------------------------------------------
CONTAINED: Final = "contained-1"
"""Facts: a commit, and the digest of a text that its version of a file has."""
BATCH: Final = 4
"""Versions of a file that are in memory at the same time."""


def contained(ws: Clone, path: str, texts: Mapping[str, str], commits: Mapping[str, Iterable[str]]) -> set[str]:
    """The keys of those ``texts`` that are in the file of one of their ``commits``."""
    known, new, found = facts.known(ws, CONTAINED), list[str](), set[str]()
    data = {key: objects.bytes_of(text) for key, text in texts.items()}
    ids = {key: objects.sha_of("blob", path.encode() + b"\0" + each) for key, each in data.items()}
    wanted = [(sha, key) for key, shas in commits.items() for sha in sorted(shas)]
    found |= {key for sha, key in wanted if f"{sha} {ids[key]}" in known}
    by_commit: dict[str, list[str]] = {}
    for sha, key in wanted:
        if key not in found:
            by_commit.setdefault(sha, []).append(key)
    shas = list(by_commit)
    for i in range(0, len(shas), BATCH):
        files = objects.read(ws, [f"{sha}:{path}" for sha in shas[i : i + BATCH]])
        for sha in shas[i : i + BATCH]:
            here = [key for key in by_commit[sha] if data[key] in files.get(f"{sha}:{path}", b"")]
            found |= set(here)
            new += [f"{sha} {ids[key]}" for key in here]
    if new and _size(ws, path) >= SMALL:
        facts.add(ws, CONTAINED, new)
    return found
