"""Finding and repairing what plain git damaged: committed conflict markers, duplicated entries and items, and a merge
driver that no longer works."""

from collections.abc import Iterator
from typing import Final

from cohabit.errors import TooLarge
from cohabit.workspace import driver
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import facts, objects, refs
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.objects import EMPTY_TREE
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import ARCHIVE_FOLDER, Journal
from cohabit.workspace.formats.markers import first_conflict, first_marker
from cohabit.workspace.formats.quoting import listed
from cohabit.workspace.limits import MAX_FILE_BYTES
from cohabit.workspace.merging.mending import damage, mended, repairable
from cohabit.workspace.merging.merge import is_protocol, pushed_ids

MARKER: Final = "^(<<<<<<<|>>>>>>>)( |\r|$)"
"""The first or last line of a conflict, for git."""
MAX_EXAMINED: Final = 100
"""Files with such a line that are read."""


def damaged(ws: Clone) -> Iterator[Answer]:
    """The damage in the files of the clone, and in its merge driver."""
    for path in _protocol_files(ws):
        for what in damage(path, ws.tree.text(path) or ""):
            yield {"path": path, "what": f"{what}; repair may fix it"}
    for path, line in _other_files_with_markers(ws):
        yield {"path": path, "what": f"git conflict markers, the first on line {line}; your user has to edit it"}
    for what in driver.problems(ws.git):
        yield {"path": ".git", "what": what}


def repair(ws: Clone) -> Answer:
    """Repair what plain git damaged in journal and inbox, as listed by health. Then add, commit and push.

    It repairs conflict markers, duplicated entries and items, and the merge driver of this clone.
    """
    repaired, before = list[Answer](), driver.problems(ws.git)
    if before:
        driver.install(ws.git)
        left = driver.problems(ws.git)
        repaired += [{"path": ".git", "what": what} for what in before if what not in left]
    notes = list[str]()
    for path in _protocol_files(ws):
        text = ws.tree.text(path) or ""
        found = repairable(path, text)
        if found:
            notes += _mend(ws, path, text)
            left = repairable(path, ws.tree.text(path) or "")
            repaired += [{"path": path, "what": what} for what in found if what not in left]
    rest = list(damaged(ws))
    changed = any(row["path"] != ".git" for row in repaired)
    after = "add, commit and push" if changed else "nothing to share"
    return {"repaired": repaired, "left": rest, "notes": notes, "next": after}


def _mend(ws: Clone, path: str, text: str) -> Iterator[str]:
    """Write a file without its damage, and tell what else that changed."""
    pushed = objects.text_at(ws, refs.upstream(ws), path)
    try:
        after = mended(path, text, pushed_ids(path, pushed))
    except TooLarge as error:
        yield error.message
        return
    if after.text is None or after.text == text:
        return
    facts.remember(ws, _new_entries(path, text, after.text))
    ws.tree.write(path, objects.bytes_of(after.text), max_bytes=MAX_FILE_BYTES)
    yield from (f"{one.old} is now {one.new}" for one in after.renumbered)
    yield from (f"both versions were kept: {conflict}" for conflict in after.conflicts)


def _new_entries(path: str, before: str, after: str) -> list[str]:
    def texts(text: str) -> list[str]:
        parsed = Inbox.parse(text).items if path == INBOX else Journal.parse(text).blocks
        return [each.text.replace("\r\n", "\n") for each in parsed]

    old = set(texts(before))
    return [text for text in texts(after) if text not in old]


def _protocol_files(ws: Clone) -> list[str]:
    """Journal, inbox and archive, as far as they are plain files here."""
    paths = ws.git.run("ls-files", "-z", "--", JOURNAL, INBOX, ARCHIVE_FOLDER).fields
    return [path for path in dict.fromkeys(paths) if is_protocol(path) and (ws.root / path).is_file()]


def _other_files_with_markers(ws: Clone) -> Iterator[tuple[str, int]]:
    head = refs.head(ws)
    if head is None:
        return
    found = ws.git.run("grep", "-I", "-l", "-z", "-E", "-e", MARKER, head, ok=(0, 1)).fields[:MAX_EXAMINED]
    yield from _with_markers(
        ws, [path for name in found if not is_protocol(path := name.removeprefix(f"{head}:"))], head
    )


def _with_markers(ws: Clone, paths: list[str], commit: str) -> Iterator[tuple[str, int]]:
    texts = objects.texts(ws, [f"{commit}:{path}" for path in paths])
    for path in paths:
        text = texts.get(f"{commit}:{path}", "")
        if line := first_marker(text) if is_protocol(path) else first_conflict(text):
            yield path, line


# -- sharing --------------------------------------------------------------------------------------
def new_markers(ws: Clone, since: str | None, commit: str) -> dict[str, int]:
    """Files into which commits brought conflict markers, with the first line of each: ``since`` is the other side."""
    base = ws.git.run("merge-base", since, commit, ok=(0, 1)).line if since else ""
    options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--diff-filter=d", "-G", MARKER)
    span = (base or EMPTY_TREE, commit, "--")
    # A pulled .gitattributes can call any file binary, in which git finds nothing without --text.
    protocol = ws.git.run("diff", "--text", *options, *span, JOURNAL, INBOX, ARCHIVE_FOLDER).fields
    others = ws.git.run("diff", *options, *span).fields
    return dict(_with_markers(ws, [*dict.fromkeys([*protocol, *others])][: len(protocol) + MAX_EXAMINED], commit))


def refusal(found: dict[str, int]) -> Answer | None:
    """The answer of a push that would publish conflict markers in protocol files."""
    paths = [path for path in found if is_protocol(path)]
    if not paths:
        return None
    message = (
        "These files were committed with git conflict markers in them. Nothing was pushed, and your commits are "
        "safe. Call repair, if you have this tool: it merges the versions between the markers by entry; then add, "
        "commit, push. Or your user edits the files and commits them with plain git."
    )
    return {"error": "conflict", "message": message, "files": paths}


def note(found: dict[str, int]) -> list[str]:
    """A note about other files, which may contain such lines on purpose."""
    return [f"pushed with git conflict markers in: {listed([*found])}; edit them if that is a mistake"] if found else []
