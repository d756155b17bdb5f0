"""Tools for the files of a workspace: read, write, list, search."""

from typing import Annotated

from msgspec import Meta

from cohabit.workspace.answers import Answer
from cohabit.workspace.limits import MAX_ENTRIES, MAX_MATCHES, MAX_READ_BYTES
from cohabit.workspace.reading import files
from cohabit.workspace.reading.search import search as find_lines
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace

Path = Annotated[str, "relative to the root of the workspace"]


@tool()
def read(
    ws: Workspace,
    path: Path,
    offset: Annotated[int, Meta(ge=0), "byte to begin at"] = 0,
    limit: Annotated[int, Meta(ge=1), f"number of bytes, at most {MAX_READ_BYTES}"] = MAX_READ_BYTES,
    encoding: Annotated[files.Encoding | None, "base64: the bytes unchanged"] = None,
) -> Answer:
    """Read a file. A long one is truncated: continue at next_offset. A file that is not text comes in base64."""
    return files.read(ws.tree, path, offset, limit, encoding)


@tool(writes=True)
def write(
    ws: Workspace,
    path: Path,
    content: str,
    mode: files.Mode = "overwrite",
    encoding: Annotated[files.Encoding, "base64: content is base64, of an image or another asset"] = "utf-8",
) -> Answer:
    """Write a file, and create missing folders. This does not commit.

    Do not use it for journal.md and inbox.md: journal_append, inbox_add and inbox_close keep their formats. Entries of
    other agents cannot be added, changed or removed.
    """
    return files.write(ws, path, content, mode, encoding)


@tool(profile="full", writes=True)
def delete(ws: Workspace, path: Path) -> Answer:
    """Delete a file. Then add it, commit and push; history keeps it."""
    return files.delete(ws, path)


@tool(profile="full", writes=True)
def rename(ws: Workspace, path: Path, to: Annotated[str, "the new path, where nothing is yet"]) -> Answer:
    """Rename or move a file. Then add both paths, commit and push."""
    return files.rename(ws, path, to)


@tool()
def list_(
    ws: Workspace,
    dir_: Annotated[str, "relative to the root of the workspace; . is the root"] = ".",
    limit: Annotated[int, Meta(ge=1), f"number of entries, at most {MAX_ENTRIES}"] = MAX_ENTRIES,
    cursor: Annotated[str | None, "cursor of the previous answer, for the next entries"] = None,
) -> Answer:
    """List a folder by name: {name, type: file, dir or other, size}."""
    return files.entries(ws.tree, dir_, limit, cursor or "")


@tool()
def search(
    ws: Workspace,
    query: Annotated[str, "part of a line, taken literally and case-sensitive"],
    paths: Annotated[list[str] | None, "only these files and folders"] = None,
    limit: Annotated[int, Meta(ge=1), f"number of matches, at most {MAX_MATCHES}"] = MAX_MATCHES,
) -> Answer:
    """Find lines that contain a text, in all files of the workspace, committed or not: {path, line, text}."""
    return find_lines(ws, query, paths, limit)
