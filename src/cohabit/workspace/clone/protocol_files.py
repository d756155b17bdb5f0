"""Protocol files that an agent wants to write or stage: they are refused if they speak for another agent, and new
entries that were written as text get their hidden comments."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from cohabit.errors import BadArgs, Conflict, PermissionDenied
from cohabit.workspace.clone import facts, objects, refs
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import ARCHIVE_FOLDER, Journal
from cohabit.workspace.formats.markers import first_marker
from cohabit.workspace.formats.stamps import Hidden, later_than
from cohabit.workspace.formats.text import line_ending, without_trailing_blanks
from cohabit.workspace.merging.mending import damage, undamaged
from cohabit.workspace.merging.merge import JOURNAL_PATH, POINTER_PATH, is_protocol
from cohabit.workspace.merging.ownership import changes_line_ends, foreign_changes
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.workspace import Workspace

MAX_NAMED = 3
"""Changes in one message."""


def check_write(ws: Workspace, path: str, text: str) -> None:
    """Raises PermissionDenied if ``text`` as the content of ``path`` would speak for another agent."""
    if is_protocol(path):
        _check(ws, {path: text}, "written", allowed=[text_here(ws, path) or ""])


def with_comments(ws: Workspace, path: str, before: str, text: str) -> str:
    """``text`` with a hidden comment in each entry or item of the agent that ``before`` does not have. With its id and
    its exact time an entry is merged as if ``journal_append`` had written it."""
    who = identity_of(ws)
    if who is None or POINTER_PATH.fullmatch(path):
        return text
    return (_commented_inbox if path == INBOX else _commented_journal)(before, text, who.agent_id, ws.now())


def _commented_journal(before: str, text: str, agent_id: str, now: datetime) -> str:
    known, journal = {block.key for block in Journal.parse(before).blocks}, Journal.parse(text)
    pieces, eol, last = [journal.preamble], line_ending(text), ""
    for block in journal.blocks:
        piece = block.text
        if block.author == agent_id and not block.uid and block.key not in known:
            content, last = without_trailing_blanks(piece), later_than(last, now)
            comment = Hidden(block.key, {"at": last}).text
            piece = f"{content}{eol}{comment}{piece[len(content) :] or eol}"
        elif block.author == agent_id:
            last = max(last, block.time)
        pieces.append(piece)
    return "".join(pieces)


def _commented_inbox(before: str, text: str, agent_id: str, now: datetime) -> str:
    known, inbox = {item.key for item in Inbox.parse(before).items}, Inbox.parse(text)
    last = max((item.added_utc for item in inbox.items if item.added_by == agent_id), default="")
    pieces = [inbox.preamble]
    for section in inbox.sections:
        pieces.append(section.heading)
        for item in section.items:
            mine = item.id and item.added_by == agent_id and not item.uid and item.key not in known
            last = later_than(last, now) if mine else last
            pieces.append((items.with_uid(item, item.digest_uid, last) if mine else item).text)
    return "".join(pieces)


def check_add(ws: Workspace, paths: Sequence[str]) -> None:
    """The same for files as they are, before they are staged."""
    found = {path: text_here(ws, path) for path in paths if is_protocol(path)}
    if found:
        _check(ws, found, "added")


def _check(ws: Workspace, texts: Mapping[str, str | None], done: str, allowed: Sequence[str] = ()) -> None:
    published = _published(ws, [*texts, JOURNAL])
    archives = _archives(ws) if any(JOURNAL_PATH.fullmatch(path) for path in texts) else []
    source = published.get(JOURNAL, "")
    who, known = identity_of(ws), facts.written(ws)
    for path, text in texts.items():
        may = [*allowed, source] if path != JOURNAL else [*allowed, *archives]
        before = published.get(path)
        if (line := first_marker(text or "")) and not first_marker(before or ""):
            raise Conflict(f"nothing was {done}: {path} has a git conflict marker on line {line}; resolve it first")
        if before and text and changes_line_ends(path, before, text):
            raise BadArgs(
                f"nothing was {done}: entries of {path} have other line ends (CRLF or LF) than in the last commit, and "
                "would no longer be verified; save it with the line ends that it had"
            )
        wrong = foreign_changes(path, before, text, who, allowed=may, kept_in=archives, known=known)
        if wrong and before and any(damage(path, before)):
            before = undamaged(path, before)
            wrong = foreign_changes(path, before, text, who, allowed=may, kept_in=archives, known=known)
        if wrong:
            raise refusal(path, wrong, done)


def refusal(path: str, wrong: Sequence[str], done: str) -> PermissionDenied:
    more = f", and {len(wrong) - MAX_NAMED} more" if len(wrong) > MAX_NAMED else ""
    named = ", ".join(wrong[:MAX_NAMED]) + more
    return PermissionDenied(
        f"nothing was {done}: this change of {path} is more than new entries of your own: {named}. Use "
        "journal_append, inbox_add and inbox_close; what your user changed by hand they can commit with plain git"
    )


def identity_of(ws: Workspace) -> Identity | None:
    try:
        return ws.identity
    except BadArgs:
        return None


def text_here(ws: Workspace, path: str) -> str | None:
    """The text of a file; None if there is none, or if it is a link or a folder."""
    with suppress(BadArgs):
        return ws.tree.text(path)
    return None


def _published(ws: Workspace, paths: Sequence[str]) -> dict[str, str]:
    """The texts of the last commit, by path."""
    head = refs.head(ws)
    if head is None:
        return {}
    found = objects.texts(ws, [f"{head}:{path}" for path in paths])
    return {name.partition(":")[2]: text for name, text in found.items()}


def _archives(ws: Workspace) -> list[str]:
    try:
        names = [entry.name for entry in ws.tree.entries(ARCHIVE_FOLDER)]
    except (FileNotFoundError, BadArgs):
        return []
    return [text_here(ws, f"{ARCHIVE_FOLDER}/{name}") or "" for name in names]
