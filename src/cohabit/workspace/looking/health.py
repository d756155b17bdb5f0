"""Whether the agents of a workspace keep to its protocol, as far as history and the files show it."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from cohabit.errors import GitFailed
from cohabit.workspace.clone import refs
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.formats.paths import INBOX, JOURNAL
from cohabit.workspace.formats.pointers import Pointer
from cohabit.workspace.looking import digest
from cohabit.workspace.looking.changes import UNKNOWN
from cohabit.workspace.looking.digest import clip, text_of
from cohabit.workspace.looking.scan import Commit, scan

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

MOST: Final = 500
"""Commits that are looked at, from the newest."""
MOST_FINDINGS: Final = 100
"""Of a kind, however many are asked for."""
SESSION: Final = timedelta(hours=12)
"""How long after a commit its agent may still write the journal entry that covers it."""
BOARD: Final = (JOURNAL, INBOX)


def health(ws: "Workspace", since: str | None = None, limit: int = 10) -> dict[str, Any]:
    """A sentence, numbers, and the first few findings of each kind."""
    limit = min(limit, MOST_FINDINGS)
    scanned = _scanned(ws, since)
    commits = [commit for commit in scanned if commit.is_work]
    inbox, journal = Inbox.parse(text_of(ws, INBOX)), Journal.parse(text_of(ws, JOURNAL))
    found: dict[str, list[Any]] = {
        "without_journal": [_named(commit) for commit in without_journal(commits)],
        "without_prefix": [_named(commit) for commit in commits if not str(commit.told["message"]).startswith("[")],
        "without_trailer": [_named(commit) for commit in commits if not commit.told["agent_id"]],
        "duplicate_ids": [clip(id_) for id_, n in Counter(item.id for item in inbox.items).items() if n > 1],
        "closed_without_journal": [
            clip(item.id) for item in inbox.items if item.closing and "see journal" not in item.closing.resolution
        ],
        "malformed": [*_malformed(inbox, journal), *_torn(ws)],
    }
    counts = {kind: len(findings) for kind, findings in found.items()}
    return {
        "summary": _sentence(len(commits), counts),
        "commits": len(commits),
        "counts": counts,
        **{kind: findings[:limit] for kind, findings in found.items()},
        "agents": _agents(ws, commits)[:limit],
        "truncated": any(n > limit for n in counts.values()) or len(scanned) == MOST,
    }


def without_journal(commits: list[Commit]) -> list[Commit]:
    """Commits of work whose agent wrote nothing in the journal, neither with them nor in the hours after."""
    covered: dict[str, datetime] = {}
    missing = []
    for commit in commits:  # the newest first
        when = _when(commit.told["date"])
        who = commit.agent_id or commit.told["author_email"]
        if JOURNAL in commit.files:
            covered[who] = when
        elif set(commit.files) - set(BOARD) and not (who in covered and covered[who] - when <= SESSION):
            missing.append(commit)
    return missing


def _when(date: str) -> datetime:
    """A commit's time; the beginning of time for one that does not say."""
    try:
        return datetime.fromisoformat(date)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _scanned(ws: "Workspace", since: str | None) -> list[Commit]:
    head = refs.head(ws)
    if head is None:
        return []
    try:
        return scan(ws, [f"^{refs.checked(since)}", head] if since else [head], MOST)
    except GitFailed as wrong:
        raise refs.unknown(since) if since and UNKNOWN.search(wrong.message) else wrong from None


def _named(commit: Commit) -> dict[str, str]:
    by = commit.agent_id or commit.told["author_name"]
    return {"sha": commit.sha[:12], "by": clip(by), "message": clip(commit.told["message"])}


def _malformed(inbox: Inbox, journal: Journal) -> Iterator[dict[str, str]]:
    names = [section.name for section in inbox.sections]
    for name in ("Open", "Closed"):
        if names.count(name) != 1:
            yield {"path": INBOX, "what": f"{names.count(name)} sections called {name}, where there is one"}
    for section in inbox.sections:
        for item in section.items:
            if not item.id:
                yield {"path": INBOX, "what": f"not an item: {clip(item.text, 80)}"}
            elif section.name == "Open" and item.closings:
                yield {"path": INBOX, "what": f"{item.id} is ticked, and still under Open"}
    loose = [journal.preamble, *(block.below if block.entry else block.text for block in journal.blocks)]
    for heading in re.findall(r"^## .*", "\n".join(loose), re.MULTILINE):
        yield {"path": JOURNAL, "what": f"not the heading of an entry: {clip(heading, 80)}"}


def _torn(ws: "Workspace") -> Iterator[dict[str, str]]:
    for agent in digest.members(ws):
        path = f".pointers/{agent}.json"
        if Pointer.parse(text_of(ws, path)) is None:
            yield {"path": path, "what": "torn: its agent's next visit is told as a first one"}


def _agents(ws: "Workspace", commits: list[Commit]) -> list[dict[str, Any]]:
    """Who was here, the last visitor first."""
    made = Counter(commit.agent_id for commit in commits)
    told = []
    for agent in digest.members(ws):
        pointer = Pointer.parse(text_of(ws, f".pointers/{agent}.json"))
        visit = clip(pointer.last_read_at, 30) if pointer else ""
        told.append({"agent_id": agent, "last_visit": visit or None, "commits": made[agent]})
    return sorted(told, key=lambda agent: str(agent["last_visit"] or ""), reverse=True)


def _sentence(commits: int, counts: dict[str, int]) -> str:
    wrong = [f"{n} {kind.replace('_', ' ')}" for kind, n in counts.items() if n]
    return f"{commits} commits looked at: " + (", ".join(wrong) if wrong else "all as the protocol asks") + "."
