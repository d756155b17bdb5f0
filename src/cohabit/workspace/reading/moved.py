"""Finds where the lines of an entry came from before a merge moved the entry.

A merge sorts the entries of both sides. Git then takes the lines of a moved entry for new lines of the merge commit. So
an entry whose whole text is in a parent of that commit is followed in this parent. The origins never change, so they
are kept in ``.git/cohabit``.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import groupby
from typing import Final, NamedTuple

from cohabit.workspace.clone import facts, objects, refs
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.reading import blame

MAX_READ: Final = 24
"""Versions of a file that are read for one answer. If there are more, some entries look unverified this time; what was
found is kept, so a later answer finds the others."""
KEPT: Final = "moved-1"
"""Facts: a commit, the digest of a text, and the origins of its lines there; "-" if the text is not there."""
Places = Callable[[str, Collection[str]], dict[str, tuple[int, str]]]
"""The first line and the text of the entries with these keys in a version of the file."""


class Part(NamedTuple):
    """An entry or an item: its text, the lines that matter, counted from its first, and the commits of its lines."""

    text: str
    lines: tuple[int, ...]
    commits: frozenset[str]


def in_parents(ws: Clone, path: str, parts: Mapping[str, Part], places: Places) -> dict[str, dict[int, str]]:
    """For those that have lines of a merge, and whose text is in a parent of it: the commit of each line there."""
    parents = _parents(ws, {sha for part in parts.values() for sha in part.commits})
    ids = {key: objects.sha_of("blob", objects.bytes_of(f"{path}\0{part.text}")) for key, part in parts.items()}
    known = _known(ws) if parents else {}
    found, new, read = dict[str, dict[int, str]](), dict[str, str](), 0
    for merge, shas in parents.items():
        for sha in shas:
            keys = [key for key, part in parts.items() if merge in part.commits and key not in found]
            missing = [key for key in keys if f"{sha} {ids[key]}" not in known]
            if missing and read < MAX_READ:
                read += 1
                here = _origins(ws, path, sha, {key: parts[key] for key in missing}, places)
                new |= {f"{sha} {ids[key]}": _packed(here.get(key, {})) for key in missing}
                known |= new
            for key in keys:
                if lines := _unpacked(known.get(f"{sha} {ids[key]}", "-"), parts[key].lines):
                    found[key] = lines
    if new:
        facts.add(ws, KEPT, (f"{name} {lines}" for name, lines in new.items()))
    return found


def _parents(ws: Clone, commits: Iterable[str]) -> dict[str, list[str]]:
    """The parents of those that are merges."""
    shas = sorted(commits)
    if not shas:
        return {}
    rows = ws.git.run("rev-list", "--parents", "--no-walk=unsorted", "--end-of-options", *shas).text.splitlines()
    return {sha: parents for sha, *parents in map(str.split, rows) if len(parents) > 1}


def _origins(ws: Clone, path: str, commit: str, parts: Mapping[str, Part], places: Places) -> dict[str, dict[int, str]]:
    """The commits of the lines of those that are in the file of this commit."""
    there = places(objects.text_at(ws, commit, path) or "", parts.keys())
    first = {key: number for key, (number, text) in there.items() if text == parts[key].text}
    lines = sorted(number + line for key, number in first.items() for line in parts[key].lines)
    blamed = blame.at(ws, path, commit, lines) if lines else {}
    return {
        key: {line: blamed[number + line] for line in parts[key].lines}
        for key, number in first.items()
        if all(number + line in blamed for line in parts[key].lines)
    }


# -- keeping --------------------------------------------------------------------------------------
def _known(ws: Clone) -> dict[str, str]:
    return {name: lines for name, _, lines in (fact.rpartition(" ") for fact in facts.known(ws, KEPT))}


def _packed(lines: Mapping[int, str]) -> str:
    """The commit of each run of lines, and how many lines that are: ``3*SHA,1*SHA``."""
    runs = ((sha, len(list(run))) for sha, run in groupby(lines[line] for line in sorted(lines)))
    return ",".join(f"{count}*{sha}" for sha, count in runs) or "-"


def _unpacked(packed: str, lines: tuple[int, ...]) -> dict[int, str]:
    """The commit of each line; none if they are not known or the fact is damaged."""
    pairs = [run.partition("*") for run in packed.split(",")]
    valid = [(int(count[:6]), sha) for count, _, sha in pairs if count.isdecimal() and refs.SHA.fullmatch(sha)]
    shas = [sha for count, sha in valid for _ in range(min(count, len(lines)))]
    return dict(zip(lines, shas, strict=True)) if len(shas) == len(lines) else {}
