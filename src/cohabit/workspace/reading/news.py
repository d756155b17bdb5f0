"""The news since an agent's last visit, in about a page.

Own commits are counted but not listed. Merges and commits that only move pointers are not news. Commits that were
fetched but not merged yet are listed separately. The pointer moves only if there was news, so a visit without news
leaves nothing to commit.
"""

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final

from msgspec import Meta

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import facts, lfs, objects, refs
from cohabit.workspace.clone.protocol_files import text_here
from cohabit.workspace.clone.signing import Signing
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats.pointers import Pointer
from cohabit.workspace.formats.quoting import quoted
from cohabit.workspace.formats.text import clip
from cohabit.workspace.limits import JOURNAL_TAIL, MAX_COMMITS, MAX_LINE_CHARS, MAX_NEWS
from cohabit.workspace.merging import ownership
from cohabit.workspace.merging.merge import entry_keys
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.reading import board, history, lost
from cohabit.workspace.reading.history import Commit, scan
from cohabit.workspace.workspace import Workspace

MAX_SCANNED: Final = 200
"""Commits that are examined one by one; older ones are only counted."""
FIRST_VISIT: Final = 8
"""Commits and journal entries in the answer to a first visit; twice as many files."""
EARLIEST_VISIT: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""An earlier date in a pointer is not valid."""
MAX_WAITING: Final = 10
"""Commits in the list of those that are fetched but not merged."""
CURSOR: Final = re.compile(r"([0-9a-f]{40}|@\d{1,12}|)\.\.([0-9a-f]{40}):(\d{1,8})")
MAX_POINTER_BYTES: Final = 64 * 1024


def whats_new(
    ws: Workspace,
    ack: Annotated[bool, "false: do not mark this as read; use the tool ack later"] = True,
    limit: Annotated[int, Meta(ge=1), f"number of commits, at most {MAX_COMMITS}"] = MAX_NEWS,
    cursor: Annotated[str | None, "cursor of the previous answer, for older commits"] = None,
) -> Answer:
    """What others did since your last visit: open items for you, journal, commits, changed files. Pull first."""
    limit = min(limit, MAX_COMMITS)
    if cursor is not None:  # the pointer does not move
        span = Span.parse(cursor)
        with refs.named(span.sha or span.head):
            return _commits(ws, span, scan(ws, span.args(), MAX_SCANNED + 1, span.skip), limit)
    head = refs.head(ws)
    if head is None:
        return _no_commits(ws)
    pointer, note = last_visit(ws)
    notes = [note] if note else []
    if pointer is None:
        limit = min(limit, FIRST_VISIT)
    span, scanned = _scan(ws, pointer, head, notes)
    answer = _commits(ws, span, scanned, limit)
    if len(scanned) > MAX_SCANNED:
        notes.append(f"Files and own commits are counted in the newest {MAX_SCANNED} commits only.")
    if attributes := lfs.with_lfs_here(ws, (path for commit in scanned for path in commit.files)):
        notes.append(lfs.note(attributes))
    answer["first_visit"] = pointer is None
    answer["previous_sha"] = pointer.last_seen_sha if pointer else None
    news = bool(answer["new_commits"])
    _add_board(ws, span, answer)
    _add_waiting(ws, head, answer)
    if ack and (news or span.sha is None):
        _mark(ws, head, notes)
    return answer | {"notes": notes} if notes else answer


def ack(ws: Workspace, cursor: Annotated[str, "cursor of whats_new"]) -> Answer:
    """Mark as read what whats_new listed, up to its cursor."""
    head = Span.parse(cursor).head
    if ws.git.run("cat-file", "-e", f"{head}^{{commit}}", ok=(0, 1, 128)).code != 0:
        raise refs.unknown(head)
    mark(ws, head)
    return {"ok": True, "last_seen_sha": head}


# -- pointer and cursor ---------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Span:
    """The commits between those that an agent has seen and the current one. A cursor is its text form."""

    base: str
    """A sha; or ``@`` and seconds, if only the time of the last visit is known; or "" for all of history."""
    head: str
    skip: int = 0
    """The number of the newest ones that were already listed."""

    @classmethod
    def parse(cls, cursor: str) -> "Span":
        found = CURSOR.fullmatch(cursor)
        if not found:
            raise BadArgs("cursor must come from an earlier answer of whats_new; leave it out to ask what is new")
        return cls(found[1], found[2], int(found[3]))

    @property
    def cursor(self) -> str:
        return f"{self.base}..{self.head}:{self.skip}"

    @property
    def by_date(self) -> bool:
        return self.base.startswith("@")

    @property
    def sha(self) -> str | None:
        """The commit that was seen last, if it is known."""
        return self.base if refs.SHA.fullmatch(self.base) else None

    def args(self) -> list[str]:
        """Arguments of ``git log`` and ``git rev-list``."""
        if self.by_date:
            return [f"--since={self.base}", self.head]
        return [f"^{self.base}", self.head] if self.base else [self.head]


def pointer_path(ws: Workspace) -> str:
    return f".pointers/{ws.identity.agent_id}.json"


def last_visit(ws: Workspace) -> tuple[Pointer | None, str]:
    """The pointer of the visit before this one, None if this is the first, and a note about a problem with it. The file
    is shared, so it may contain anything."""
    try:
        text = ws.tree.read(pointer_path(ws), max_bytes=MAX_POINTER_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return None, ""
    except BadArgs:
        return None, "Your pointer is not a plain file, so this answer is that of a first visit."
    pointer = Pointer.parse(text)
    if pointer is None or not refs.SHA.fullmatch(pointer.last_seen_sha):
        return None, "Your pointer is damaged or empty, so this answer is that of a first visit."
    return pointer, ""


def mark(ws: Workspace, sha: str) -> None:
    """Move the caller's pointer to ``sha``; other values in the file are kept."""
    try:
        kept = json.loads(ws.tree.read(pointer_path(ws), max_bytes=MAX_POINTER_BYTES))
    except (OSError, ValueError, RecursionError):
        kept = {}
    moved = json.loads(Pointer.at(sha, ws.now()).text)
    content = {**(kept if isinstance(kept, dict) else {}), **moved}
    text = json.dumps(content, indent=2) + "\n"
    facts.remember(ws, [ownership.pointer_content(pointer_path(ws), text)])
    ws.tree.write(pointer_path(ws), text.encode())


def _mark(ws: Workspace, head: str, notes: list[str]) -> None:
    try:
        mark(ws, head)
    except BadArgs as error:
        notes.append(f"Your pointer could not be moved: {error.message}.")


# -- commits --------------------------------------------------------------------------------------
def _scan(ws: Workspace, pointer: Pointer | None, head: str, notes: list[str]) -> tuple[Span, list[Commit]]:
    """The newest commits since the last visit, and the span that they are from."""
    span = Span(pointer.last_seen_sha if pointer else "", head)
    if span.sha == head:
        return span, []
    try:
        return span, scan(ws, span.args(), MAX_SCANNED + 1, span.skip)
    except GitFailed as error:
        if pointer is None or not refs.UNKNOWN.search(error.output):
            raise
    when = pointer.moment
    since = quoted(pointer.last_read_at, 40) if pointer.last_read_at else "the beginning"
    notes.append(
        f"The commit you saw last ({pointer.last_seen_sha[:12]}) is not in this clone, perhaps because history was "
        f"rewritten; this answer lists the commits since {since}."
    )
    span = Span(f"@{int(when.timestamp())}" if when > EARLIEST_VISIT else "", head)
    return span, scan(ws, span.args(), MAX_SCANNED + 1, span.skip)


def _commits(ws: Workspace, span: Span, scanned: list[Commit], limit: int) -> dict[str, Any]:
    """The part of the answer about commits by others and their files."""
    signatures = _signatures(ws, scanned[: 2 * limit])
    is_own = partial(_is_own, ws.identity, ws.signing, signatures)
    others = [i for i, commit in enumerate(scanned[:MAX_SCANNED]) if commit.is_work and not is_own(commit)]
    own = sum(is_own(commit) for commit in scanned[:MAX_SCANNED])
    files = list(dict.fromkeys(path for i in others for path in scanned[i].files))
    max_files = MAX_NEWS if span.base else 2 * FIRST_VISIT
    count = len(others)
    if len(scanned) > MAX_SCANNED:
        count = int(ws.git.run("rev-list", "--count", "--no-merges", *span.args()).line) - own
    listed = others[limit - 1] + 1 if len(others) >= limit else len(scanned[:MAX_SCANNED])
    return {
        "first_visit": False,
        "previous_sha": span.sha,
        "current_sha": span.head,
        "new_commits": [_short(commit.fields, signatures) for commit in (scanned[i] for i in others[:limit])],
        "changed_files": [path[:MAX_LINE_CHARS] for path in files[:max_files]],
        "own_commits": own,
        "counts": {"commits": count, "files": len(files)},
        "truncated": count > limit or len(scanned) > MAX_SCANNED or len(files) > max_files,
        "cursor": replace(span, skip=span.skip + listed).cursor,
    }


def _short(commit: dict[str, Any], signatures: dict[str, dict[str, Any]]) -> dict[str, Any]:
    sha = commit["sha"]
    short = {
        "sha": sha[:12],
        "date": commit["date"],
        "author": clip(commit["author_name"]),
        "message": clip(commit["message"]),
    }
    if commit["agent_id"]:
        short["agent_id"] = clip(commit["agent_id"])
    return short | signatures.get(sha, {})


def _signatures(ws: Workspace, commits: list[Commit]) -> dict[str, dict[str, Any]]:
    """The verification of each commit, if signing is set up. It costs a process or two per commit, so it is done for
    one page only."""
    if ws.signing.signers is None or not commits:
        return {}
    found = history.commits(ws, "--no-walk=unsorted", "--end-of-options", *(commit.sha for commit in commits))
    return {each["sha"]: _signature(each) for each in found}


def _signature(commit: dict[str, Any]) -> dict[str, Any]:
    return {key: commit[key] for key in ("verified", "signed_by") if key in commit}


def _is_own(identity: Identity, signing: Signing, signatures: dict[str, dict[str, Any]], commit: Commit) -> bool:
    """True if this agent made the commit. If the signature does not confirm it, it is another agent's."""
    verified = signatures.get(commit.sha, {}).get("verified", True)
    signed = verified is True or (verified is None and signing.key is None)
    return commit.agent_id == identity.agent_id and commit.fields["author_email"] == identity.agent_email and signed


# -- the rest of the answer -----------------------------------------------------------------------
def _add_board(ws: Workspace, span: Span, answer: dict[str, Any]) -> None:
    """Add the open items for the caller, and the journal: new entries by others, or the last ones on a first visit."""
    items, mine, anyone = board.own_items(ws)
    seen: set[str] = set()
    if span.sha and span.sha != span.head:
        names = {f"{commit}:{path}": path for commit in (span.sha, span.head) for path in (JOURNAL, INBOX)}
        found = objects.texts(ws, names)
        before, after = (
            {path: found[name] for name, path in names.items() if name in found and name.startswith(commit)}
            for commit in (span.sha, span.head)
        )
        seen = entry_keys(JOURNAL, before.get(JOURNAL))
        if gone := lost.lost_between(ws, before, after, span.head):
            answer["lost"] = [loss.row for loss in gone[:MAX_NEWS]]
            answer["truncated"] = answer["truncated"] or len(gone) > MAX_NEWS
    elif span.sha:
        seen = entry_keys(JOURNAL, text_here(ws, JOURNAL))
    since = f"{datetime.fromtimestamp(int(span.base[1:]), UTC):%Y-%m-%dT%H:%M:%SZ}" if span.by_date else ""
    shown, entries = board.new_entries(ws, seen, since, JOURNAL_TAIL if span.base else FIRST_VISIT)
    answer["for_me"] = items
    answer["for_anyone"] = anyone
    answer["journal"] = shown
    answer["counts"] |= {"for_me": mine, "journal": entries}
    cut = mine > len(items) or entries > len(shown) or any("more_todos" in entry for entry in shown)
    answer["truncated"] = answer["truncated"] or cut
    if not span.base:
        answer["members"] = board.members(ws)


def _add_waiting(ws: Workspace, head: str, answer: dict[str, Any]) -> None:
    """Add the commits that were fetched but not merged."""
    theirs = refs.upstream(ws)
    answer["behind"] = 0
    if theirs is None or theirs == head:
        return
    answer["behind"] = int(ws.git.run("rev-list", "--count", f"^{head}", theirs).line)
    if answer["behind"]:
        waiting = history.commits(ws, "--no-merges", f"--max-count={MAX_WAITING}", f"^{head}", theirs)
        answer["not_merged"] = [_short(commit, {commit["sha"]: _signature(commit)}) for commit in waiting]


def _no_commits(ws: Workspace) -> dict[str, Any]:
    answer: dict[str, Any] = {"first_visit": True, "previous_sha": None, "current_sha": "", "new_commits": []}
    answer |= {"changed_files": [], "own_commits": 0, "counts": {"commits": 0, "files": 0}, "truncated": False}
    _add_board(ws, Span("", ""), answer)
    return answer | {"behind": 0, "notes": ["There is no commit here yet."]}
