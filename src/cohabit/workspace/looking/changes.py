"""What changed in the text, as a unified diff, a page at a time."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import refs
from cohabit.workspace.clone.tree import pathspecs
from cohabit.workspace.formats.plain import plain
from cohabit.workspace.limits import MOST_DIFF

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

PLAIN: Final = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=dirty")
"""No program of anybody's, and no git that is started inside a submodule."""
FARTHEST: Final = 64 * 1024 * 1024
"""Bytes into a diff that one can page; git makes it anew for every page."""
UNKNOWN: Final = re.compile(r"bad revision|unknown revision|bad object|Invalid revision range|ambiguous argument")
"""What git says of a commit that it does not have."""


def diff(ws: "Workspace", since: str | None, paths: Sequence[str] | None, offset: int = 0) -> dict[str, Any]:
    """Of the work tree against what is staged, or of ``since`` against the last commit; ``next_offset`` goes on."""
    if offset > FARTHEST:
        raise BadArgs(f"offset is at most {FARTHEST}: ask for fewer paths, or for a later since")
    wanted = pathspecs(paths)
    span = [f"{refs.checked(since)}..HEAD"] if since else []
    if since and refs.head(ws) is None:
        raise refs.unknown(since)
    try:
        done = ws.git.run("diff", *PLAIN, *span, "--", *wanted, most=offset + MOST_DIFF)
    except GitFailed as wrong:
        raise refs.unknown(since) if since and UNKNOWN.search(wrong.message) else wrong from None
    page = _whole_lines(done.out[offset:]) if done.cut else done.out[offset:]
    answer: dict[str, Any] = {"diff": plain(page.decode(errors="replace")), "truncated": done.cut}
    return answer | {"next_offset": offset + len(page)} if done.cut else answer


def _whole_lines(page: bytes) -> bytes:
    """``page`` without the line that was cut off, unless that is all there is; then without half a character."""
    end = page.rfind(b"\n") + 1
    if end:
        return page[:end]
    last = next((i for i in range(1, 5) if page[-i] & 0xC0 != 0x80), 1)  # where the last character begins, from the end
    return page[:-last] if page[-last] >= 0xC0 else page
