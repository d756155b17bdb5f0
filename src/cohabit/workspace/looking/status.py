"""What differs between the work tree, what is staged and the last commit: one ``git status``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from cohabit.workspace.formats.plain import HIDDEN
from cohabit.workspace.limits import MOST_ENTRIES

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

KINDS: Final = ("modified", "not_added", "deleted", "renamed", "staged", "untracked", "conflicted")
STAGED: Final = {"M": ("modified", "staged"), "T": ("modified", "staged"), "A": ("staged",), "D": ("deleted", "staged")}
"""Into which lists a file goes by what is staged of it …"""
UNSTAGED: Final = {"M": ("modified",), "T": ("modified",), "D": ("deleted",), "A": ("not_added", "untracked")}
"""… and by what is not. The lists are those of the earlier tool."""


def status(ws: "Workspace") -> dict[str, Any]:
    """The answer of ``status``; a list that is too long is cut, and ``counts`` has how long they all were."""
    # A submodule is compared by its commit only: to look into it, git would start a git there, with its configuration.
    done = ws.git.run(
        "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=dirty"
    )
    told: dict[str, str] = {}
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    fields = HIDDEN.sub("", done.text).split("\0")[:-1]
    for line in _lines(fields, told):
        for kind, path in line:
            found[kind].append(path)
    ahead, _, behind = told.get("ab", "+0 -0").partition(" ")
    branch = told.get("head", "")
    answer: dict[str, Any] = {
        "branch": "HEAD" if branch == "(detached)" else branch,
        "tracking": told.get("upstream"),
        "ahead": int(ahead[1:]),
        "behind": int(behind[1:]),
        **{kind: paths[:MOST_ENTRIES] for kind, paths in found.items()},
        "clean": not any(found.values()),
    }
    if any(len(paths) > MOST_ENTRIES for paths in found.values()):
        answer |= {"truncated": True, "counts": {kind: len(paths) for kind, paths in found.items()}}
    return answer


def _lines(fields: list[str], told: dict[str, str]) -> Iterator[set[tuple[str, str]]]:
    """The lists that each line of ``--porcelain=v2 -z`` belongs to; what it says of the branch goes into ``told``."""
    rest = iter(fields)
    for field in rest:
        kind, _, body = field.partition(" ")
        if kind == "#":
            key, _, value = body.removeprefix("branch.").partition(" ")
            told[key] = value
        elif kind == "?":
            yield {("not_added", body), ("untracked", body)}
        elif kind == "u":
            yield {("conflicted", body.split(" ", 9)[9])}
        elif kind == "1":
            yield set(_sorted(body[0], body[1], body.split(" ", 7)[7]))
        elif kind == "2":  # the next field is the name it had
            path = body.split(" ", 8)[8]
            yield {("renamed", f"{next(rest)} -> {path}"), *_sorted("R", body[1], path)}


def _sorted(staged: str, unstaged: str, path: str) -> Iterator[tuple[str, str]]:
    for kind in (*STAGED.get(staged, ()), *UNSTAGED.get(unstaged, ())):
        yield kind, path
