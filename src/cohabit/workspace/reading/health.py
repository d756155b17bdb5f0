"""Checks if the agents of a workspace follow its protocol, as far as history and files show."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from msgspec import Meta

from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import lfs, refs
from cohabit.workspace.clone.protocol_files import text_here
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.formats.pointers import Pointer
from cohabit.workspace.formats.quoting import quoted
from cohabit.workspace.formats.text import clip
from cohabit.workspace.reading import board
from cohabit.workspace.reading.damage import damaged
from cohabit.workspace.reading.history import Commit, scan
from cohabit.workspace.reading.lost import lost
from cohabit.workspace.workspace import Workspace

MAX_SCANNED: Final = 500
"""Commits that are examined, newest first."""
MAX_FINDINGS: Final = 100
"""Of each kind."""
SESSION: Final = timedelta(hours=12)
"""The time after a commit within which the journal entry that covers it may be written."""
BOARD: Final = (JOURNAL, INBOX)


def health(
    ws: Workspace,
    since: Annotated[str | None, "a commit: only what came after it"] = None,
    limit: Annotated[int, Meta(ge=1), "number of findings of each kind"] = 10,
) -> Answer:
    """Check whether agents follow the protocol, and whether journal and inbox are intact.

    Lists commits without a journal entry, duplicate ids, malformed files, conflict markers, and published entries that
    vanished or were edited.
    """
    limit = min(limit, MAX_FINDINGS)
    scanned = _scan(ws, since)
    commits = [commit for commit in scanned if commit.is_work]
    inbox, journal = Inbox.parse(text_here(ws, INBOX)), Journal.parse(text_here(ws, JOURNAL))
    found: dict[str, list[Any]] = {
        "without_journal": [_short(commit) for commit in without_journal(commits)],
        "without_prefix": [_short(commit) for commit in commits if not str(commit.fields["message"]).startswith("[")],
        "without_trailer": [_short(commit) for commit in commits if not commit.fields["agent_id"]],
        "duplicate_ids": [clip(id_) for id_, n in Counter(item.id for item in inbox.items).items() if n > 1],
        "closed_without_journal": [
            clip(item.id) for item in inbox.items if item.closing and "see journal" not in item.closing.resolution
        ],
        "lost": [loss.row for loss in lost(ws, refs.checked(since) if since else None)],
        "malformed": [*damaged(ws), *_malformed(inbox, journal), *_damaged_pointers(ws), *_lfs(ws)],
    }
    counts = {kind: len(findings) for kind, findings in found.items()}
    return {
        "summary": _summary(len(commits), counts),
        "commits": len(commits),
        "counts": counts,
        **{kind: findings[:limit] for kind, findings in found.items()},
        "agents": _agents(ws, commits)[:limit],
        "truncated": any(n > limit for n in counts.values()) or len(scanned) == MAX_SCANNED,
    }


def without_journal(commits: list[Commit]) -> list[Commit]:
    """Commits (newest first) whose agent did not write to the journal, neither in the same commit nor in the hours
    after it."""
    covered: dict[str, datetime] = {}
    missing = []
    for commit in commits:
        when = _time(commit.fields["date"])
        author = commit.agent_id or commit.fields["author_email"]
        if JOURNAL in commit.files:
            covered[author] = when
        elif set(commit.files) - set(BOARD) and not (author in covered and covered[author] - when <= SESSION):
            missing.append(commit)
    return missing


def _time(date: str) -> datetime:
    """The time of a commit; the earliest possible time if it has none."""
    try:
        return datetime.fromisoformat(date)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _scan(ws: Workspace, since: str | None) -> list[Commit]:
    head = refs.head(ws)
    if head is None:
        return []
    with refs.named(since):
        return scan(ws, [f"^{refs.checked(since)}", head] if since else [head], MAX_SCANNED)


def _short(commit: Commit) -> dict[str, str]:
    by = commit.agent_id or commit.fields["author_name"]
    return {"sha": commit.sha[:12], "by": clip(by), "message": clip(commit.fields["message"])}


def _malformed(inbox: Inbox, journal: Journal) -> Iterator[dict[str, str]]:
    names = [section.name for section in inbox.sections]
    for name in ("Open", "Closed"):
        if names.count(name) != 1:
            yield {"path": INBOX, "what": f"{names.count(name)} sections named {name} instead of one"}
    for section in inbox.sections:
        for item in section.items:
            if not item.id:
                yield {"path": INBOX, "what": f"not an item: {quoted(item.text.rstrip(), 80)}"}
            elif section.name == "Open" and item.closings:
                yield {"path": INBOX, "what": f"{item.id} is ticked but still in Open"}
    other = [journal.preamble, *(block.below if block.author else block.text for block in journal.blocks)]
    for heading in re.findall(r"^## .*", "\n".join(other), re.MULTILINE):
        yield {"path": JOURNAL, "what": f"not the heading of an entry: {quoted(heading, 80)}"}


def _damaged_pointers(ws: Workspace) -> Iterator[dict[str, str]]:
    for agent in board.members(ws):
        path = f".pointers/{agent}.json"
        if Pointer.parse(text_here(ws, path)) is None:
            yield {"path": path, "what": "damaged: the next visit of its agent counts as a first one"}


def _lfs(ws: Workspace) -> Iterator[dict[str, str]]:
    head = refs.head(ws)
    for path in lfs.attributes_with_lfs(ws, head) if head else ():
        yield {"path": clip(path), "what": lfs.WHAT}


def _agents(ws: Workspace, commits: list[Commit]) -> list[dict[str, Any]]:
    """The agents that have visited, the latest visitor first."""
    made = Counter(commit.agent_id for commit in commits)
    shown = []
    for agent in board.members(ws):
        pointer = Pointer.parse(text_here(ws, f".pointers/{agent}.json"))
        visit = clip(pointer.last_read_at, 30) if pointer else ""
        shown.append({"agent_id": agent, "last_visit": visit or None, "commits": made[agent]})
    return sorted(shown, key=lambda agent: str(agent["last_visit"] or ""), reverse=True)


def _summary(commits: int, counts: dict[str, int]) -> str:
    problems = [f"{n} {kind.replace('_', ' ')}" for kind, n in counts.items() if n]
    examined = "1 commit" if commits == 1 else f"{commits} commits"
    return f"{examined} examined: " + (", ".join(problems) if problems else "all follow the protocol") + "."
