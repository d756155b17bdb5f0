"""Files of the workspace: read, write, list, search."""

from typing import Annotated

from msgspec import Meta

from cohabit.workspace.answers import Answer
from cohabit.workspace.limits import MOST_ENTRIES, MOST_MATCHES, MOST_READ
from cohabit.workspace.looking import files
from cohabit.workspace.looking.search import search as find_lines
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace

Path = Annotated[str, "relative to the root of the workspace"]


@tool()
def read(
    ws: Workspace,
    path: Path,
    offset: Annotated[int, Meta(ge=0), "byte to begin at"] = 0,
    limit: Annotated[int, Meta(ge=1), f"most bytes, up to {MOST_READ}"] = MOST_READ,
    encoding: Annotated[files.Encoding | None, "base64: the bytes as they are"] = None,
) -> Answer:
    """Read a file. A long one is cut (truncated): go on at next_offset. What is no text comes in base64."""
    return files.read(ws.tree, path, offset, limit, encoding)


@tool(writes=True)
def write(
    ws: Workspace,
    path: Path,
    content: str,
    mode: files.Mode = "overwrite",
    encoding: Annotated[files.Encoding, "base64: content is base64, of an image or another asset"] = "utf-8",
) -> Answer:
    """Write a file, and make the folders on the way. Commits nothing.

    Not for journal.md and inbox.md: journal_append, inbox_add and inbox_close keep their formats.
    """
    return files.write(ws.tree, path, content, mode, encoding)


@tool()
def list_(
    ws: Workspace,
    dir_: Annotated[str, "relative to the root of the workspace; . is the root"] = ".",
    limit: Annotated[int, Meta(ge=1), f"most entries, up to {MOST_ENTRIES}"] = MOST_ENTRIES,
    cursor: Annotated[str | None, "cursor of the answer before, to read on"] = None,
) -> Answer:
    """What is in a folder, by name: {name, type: file, dir or other, size}."""
    return files.entries(ws.tree, dir_, limit, cursor or "")


@tool()
def search(
    ws: Workspace,
    query: Annotated[str, "part of a line, taken literally; upper and lower case differ"],
    paths: Annotated[list[str] | None, "only these files and folders"] = None,
    limit: Annotated[int, Meta(ge=1), f"most matches, up to {MOST_MATCHES}"] = MOST_MATCHES,
) -> Answer:
    """Find the lines that contain a text, in all files of the workspace, committed or not: {path, line, text}."""
    return find_lines(ws, query, paths, limit)
