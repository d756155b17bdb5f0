"""The changes in a workspace: the lists of ``status`` and the text of ``diff``."""

from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta

from cohabit.errors import BadArgs
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import refs
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.tree import pathspecs
from cohabit.workspace.formats.text import displayable, without_unsafe
from cohabit.workspace.limits import MAX_DIFF_BYTES, MAX_ENTRIES

Since = Annotated[str | None, "a commit: what came after it. A sha as in log, a branch, or HEAD~3"]
Paths = Annotated[list[str] | None, "only these files and folders"]
DIFF_OPTIONS: Final = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=dirty")
"""Without external programs, and without starting git inside a submodule."""
MAX_DIFF_OFFSET: Final = 64 * 1024 * 1024
"""Bytes; git makes the whole diff again for every page."""
KINDS: Final = ("modified", "not_added", "deleted", "renamed", "staged", "untracked", "conflicted")
STAGED: Final = {"M": ("modified", "staged"), "T": ("modified", "staged"), "A": ("staged",), "D": ("deleted", "staged")}
"""The lists of a file by its staged change; they are those of Multisphere."""
UNSTAGED: Final = {"M": ("modified",), "T": ("modified",), "D": ("deleted",), "A": ("not_added", "untracked")}
"""The lists of a file by its unstaged change."""


# -- status ---------------------------------------------------------------------------------------
def status(ws: Clone) -> Answer:
    """Changed, staged and untracked files, and how far this clone is ahead and behind."""
    # A submodule is compared by its commit only. To look into it, git would start a git with its configuration.
    result = ws.git.run(
        "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=dirty"
    )
    about: dict[str, str] = {}
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    fields = without_unsafe(result.text).split("\0")[:-1]
    for lists in _parse_status(fields, about):
        for kind, path in lists:
            found[kind].append(path)
    ahead, _, behind = about.get("ab", "+0 -0").partition(" ")
    branch = about.get("head", "")
    answer: Answer = {
        "branch": "HEAD" if branch == "(detached)" else branch,
        "tracking": about.get("upstream"),
        "ahead": int(ahead[1:]),
        "behind": int(behind[1:]),
        **{kind: paths[:MAX_ENTRIES] for kind, paths in found.items()},
        "clean": not any(found.values()),
    }
    if any(len(paths) > MAX_ENTRIES for paths in found.values()):  # then the full lengths of all lists
        answer |= {"truncated": True, "counts": {kind: len(paths) for kind, paths in found.items()}}
    return answer


def _parse_status(fields: list[str], about: dict[str, str]) -> Iterator[set[tuple[str, str]]]:
    """The lists and paths of each line of ``--porcelain=v2 -z``; lines about the branch are put into ``about``."""
    rest = iter(fields)
    for field in rest:
        kind, _, body = field.partition(" ")
        if kind == "#":
            key, _, value = body.removeprefix("branch.").partition(" ")
            about[key] = value
        elif kind == "?":
            yield {("not_added", body), ("untracked", body)}
        elif kind == "u":
            yield {("conflicted", body.split(" ", 9)[9])}
        elif kind == "1":
            yield set(_lists(body[0], body[1], body.split(" ", 7)[7]))
        elif kind == "2":  # the next field is the old name
            path = body.split(" ", 8)[8]
            yield {("renamed", f"{next(rest)} -> {path}"), *_lists("R", body[1], path)}


def _lists(staged: str, unstaged: str, path: str) -> Iterator[tuple[str, str]]:
    for kind in (*STAGED.get(staged, ()), *UNSTAGED.get(unstaged, ())):
        yield kind, path


# -- diff -----------------------------------------------------------------------------------------
def diff(
    ws: Clone,
    since: Since = None,
    paths: Paths = None,
    offset: Annotated[int, Meta(ge=0), "next_offset of the previous answer, for the next page"] = 0,
) -> Answer:
    """Unified diff of unstaged changes, or, with since, of everything committed after it."""
    if offset > MAX_DIFF_OFFSET:
        raise BadArgs(f"offset is at most {MAX_DIFF_OFFSET}: ask for fewer paths, or for a later since")
    wanted = pathspecs(paths)
    span = [f"{refs.checked(since)}..HEAD"] if since else []
    if since and refs.head(ws) is None:
        raise refs.unknown(since)
    with refs.named(since):
        result = ws.git.run("diff", *DIFF_OPTIONS, *span, "--", *wanted, max_bytes=offset + MAX_DIFF_BYTES)
    page = _whole_lines(result.out[offset:]) if result.truncated else result.out[offset:]
    answer: Answer = {"diff": displayable(page.decode(errors="replace")), "truncated": result.truncated}
    return answer | {"next_offset": offset + len(page)} if result.truncated else answer


def _whole_lines(page: bytes) -> bytes:
    """``page`` without its last, incomplete line; if that is all of it, without an incomplete character."""
    end = page.rfind(b"\n") + 1
    if end:
        return page[:end]
    last = next((i for i in range(1, 5) if page[-i] & 0xC0 != 0x80), 1)  # start of the last character, from the end
    return page[:-last] if page[-last] >= 0xC0 else page
