"""What happened since an agent was last here, in about a page.

Own commits are counted, not told. Merges and commits that only move pointers are no news. What was fetched and is not
merged in yet is told apart. The pointer moves when there was news, so a visit that finds none leaves nothing to commit.
"""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import refs
from cohabit.workspace.clone.signing import Signing
from cohabit.workspace.formats.paths import JOURNAL
from cohabit.workspace.formats.pointers import Pointer
from cohabit.workspace.limits import JOURNAL_TAIL, LONGEST_LINE, MOST_COMMITS, MOST_NEWS
from cohabit.workspace.looking import digest, history, visits
from cohabit.workspace.looking.changes import UNKNOWN
from cohabit.workspace.looking.digest import clip
from cohabit.workspace.looking.scan import Commit, scan
from cohabit.workspace.looking.visits import Span
from cohabit.workspace.person.identity import Identity

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

SCAN: Final = 200
"""Commits that are looked through one by one; of more, only numbers are told."""
FIRST: Final = 8
"""Commits, and entries of the journal, that a first visit tells; of files twice as many."""
LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""No visit was before; an earlier date in a pointer is no date."""
WAITING: Final = 10
"""Commits told of what is fetched and not merged in."""


def whats_new(
    ws: "Workspace", *, ack: bool = True, limit: int = MOST_NEWS, cursor: str | None = None
) -> dict[str, Any]:
    """The answer of ``whats_new``. With a ``cursor`` it goes on with older commits, and the pointer stays."""
    limit = min(limit, MOST_COMMITS)
    if cursor is not None:
        return _page(ws, Span.of(cursor), limit)
    head = refs.head(ws)
    if head is None:
        return _empty(ws)
    visit = visits.last(ws)
    notes = [visit.note] if visit.note else []
    if visit.pointer is None:
        limit = min(limit, FIRST)
    span, scanned = _scanned(ws, visit.pointer, head, notes)
    answer = _told(ws, span, scanned, limit)
    if len(scanned) > SCAN:
        notes.append(f"Files and own commits are counted in the newest {SCAN} commits only.")
    answer["first_visit"] = visit.pointer is None
    answer["previous_sha"] = visit.pointer.last_seen_sha if visit.pointer else None
    news = bool(answer["new_commits"])
    _add_board(ws, span, answer)
    _add_waiting(ws, head, answer)
    if ack and (news or span.sha is None):
        _mark(ws, head, notes)
    return answer | {"notes": notes} if notes else answer


def ack(ws: "Workspace", cursor: str) -> dict[str, Any]:
    """Mark as read what the answer with this cursor told."""
    head = Span.of(cursor).head
    if ws.git.run("cat-file", "-e", f"{head}^{{commit}}", ok=(0, 1, 128)).code != 0:
        raise refs.unknown(head)
    visits.mark(ws, head)
    return {"ok": True, "last_seen_sha": head}


# -- commits --------------------------------------------------------------------------------------
def _scanned(ws: "Workspace", pointer: Pointer | None, head: str, notes: list[str]) -> tuple[Span, list[Commit]]:
    """The newest commits since the last visit, and since when that is."""
    span = Span(pointer.last_seen_sha if pointer else "", head)
    if span.sha == head:
        return span, []
    try:
        return span, scan(ws, span.args(), SCAN + 1, span.skip)
    except GitFailed as wrong:
        if pointer is None or not UNKNOWN.search(wrong.message):
            raise
    when = pointer.moment
    notes.append(
        f"The commit you saw last ({pointer.last_seen_sha[:12]}) is not in this clone, as after a rewritten history; "
        f"told is what was committed since {clip(pointer.last_read_at, 30) or 'ever'}."
    )
    span = Span(f"@{int(when.timestamp())}" if when > LONG_AGO else "", head)
    return span, scan(ws, span.args(), SCAN + 1, span.skip)


def _told(ws: "Workspace", span: Span, scanned: list[Commit], limit: int) -> dict[str, Any]:
    """Others' commits, up to ``limit``, and what they changed."""
    checked = _checked(ws, scanned[: 2 * limit])
    is_own = partial(_is_own, ws.who, ws.signing, checked)
    others = [i for i, commit in enumerate(scanned[:SCAN]) if commit.is_work and not is_own(commit)]
    own = sum(is_own(commit) for commit in scanned[:SCAN])
    files = list(dict.fromkeys(path for i in others for path in scanned[i].files))
    most_files = MOST_NEWS if span.base else 2 * FIRST
    count = len(others)
    if len(scanned) > SCAN:
        count = int(ws.git.run("rev-list", "--count", "--no-merges", *span.args()).line) - own
    told = others[limit - 1] + 1 if len(others) >= limit else len(scanned[:SCAN])
    return {
        "first_visit": False,
        "previous_sha": span.sha,
        "current_sha": span.head,
        "new_commits": [_short(commit.told, checked) for commit in (scanned[i] for i in others[:limit])],
        "changed_files": [path[:LONGEST_LINE] for path in files[:most_files]],
        "own_commits": own,
        "counts": {"commits": count, "files": len(files)},
        "truncated": count > limit or len(scanned) > SCAN or len(files) > most_files,
        "cursor": replace(span, skip=span.skip + told).cursor,
    }


def _short(told: dict[str, Any], checked: dict[str, dict[str, Any]]) -> dict[str, Any]:
    sha = told["sha"]
    short = {
        "sha": sha[:12],
        "date": told["date"],
        "author": clip(told["author_name"]),
        "message": clip(told["message"]),
    }
    if told["agent_id"]:
        short["agent_id"] = clip(told["agent_id"])
    return short | checked.get(sha, {})


def _checked(ws: "Workspace", commits: list[Commit]) -> dict[str, dict[str, Any]]:
    """Whether each is verified, where signing is set up. It costs a process or two for a commit: only for a page."""
    if ws.signing.signers is None or not commits:
        return {}
    told = history.commits(ws, "--no-walk=unsorted", "--end-of-options", *(commit.sha for commit in commits))
    return {each["sha"]: _signature(each) for each in told}


def _signature(told: dict[str, Any]) -> dict[str, Any]:
    return {key: told[key] for key in ("verified", "signed_by") if key in told}


def _is_own(who: Identity, signing: Signing, checked: dict[str, dict[str, Any]], commit: Commit) -> bool:
    """Whether ``who`` made it. One that only says so, where the signature does not, is another's."""
    verified = checked.get(commit.sha, {}).get("verified", True)
    signed = verified is True or (verified is None and signing.key is None)
    return commit.agent_id == who.agent_id and commit.told["author_email"] == who.agent_email and signed


def _page(ws: "Workspace", span: Span, limit: int) -> dict[str, Any]:
    try:
        return _told(ws, span, scan(ws, span.args(), SCAN + 1, span.skip), limit)
    except GitFailed as wrong:
        raise refs.unknown(span.sha or span.head) if UNKNOWN.search(wrong.message) else wrong from None


# -- the board ------------------------------------------------------------------------------------
def _add_board(ws: "Workspace", span: Span, answer: dict[str, Any]) -> None:
    """What is open for the caller, and the journal: what others wrote since, or the last of it on a first visit."""
    items, mine, anyone = digest.for_me(ws)
    seen: set[str] = set()
    if span.sha and span.sha != span.head:
        done = ws.git.run("cat-file", "blob", f"{span.sha}:{JOURNAL}", ok=(0, 128))
        seen = digest.keys(done.out.decode(errors="surrogateescape")) if done.code == 0 else set()
    elif span.sha:
        seen = digest.keys(digest.text_of(ws, JOURNAL))
    written = digest.entries(ws, seen, _after(span))
    most, me = JOURNAL_TAIL if span.base else FIRST, ws.who.agent_id
    answer["for_me"] = items
    answer["for_anyone"] = anyone
    answer["journal"] = shown = [digest.shown(entry, me) for entry in written[-most:]]
    answer["counts"] |= {"for_me": mine, "journal": len(written)}
    cut = mine > len(items) or len(written) > most or any("more_todos" in entry for entry in shown)
    answer["truncated"] = answer["truncated"] or cut
    if not span.base:
        answer["members"] = digest.members(ws)


def _after(span: Span) -> str:
    return f"{datetime.fromtimestamp(int(span.base[1:]), UTC):%Y-%m-%dT%H:%M:%SZ}" if span.by_date else ""


def _add_waiting(ws: "Workspace", head: str, answer: dict[str, Any]) -> None:
    """What was fetched and is not merged in."""
    there = refs.upstream(ws)
    answer["behind"] = 0
    if there is None or there == head:
        return
    answer["behind"] = int(ws.git.run("rev-list", "--count", f"^{head}", there).line)
    if answer["behind"]:
        waiting = history.commits(ws, "--no-merges", f"--max-count={WAITING}", f"^{head}", there)
        answer["not_merged"] = [_short(told, {told["sha"]: _signature(told)}) for told in waiting]


def _mark(ws: "Workspace", head: str, notes: list[str]) -> None:
    try:
        visits.mark(ws, head)
    except BadArgs as wrong:
        notes.append(f"Your pointer could not be moved: {wrong.message}.")


def _empty(ws: "Workspace") -> dict[str, Any]:
    answer: dict[str, Any] = {"first_visit": True, "previous_sha": None, "current_sha": "", "new_commits": []}
    answer |= {"changed_files": [], "own_commits": 0, "counts": {"commits": 0, "files": 0}, "truncated": False}
    _add_board(ws, Span("", ""), answer)
    return answer | {"behind": 0, "notes": ["There is no commit here yet."]}
