"""Sharing: fetch, pull, push and sync, as the tools answer them.

A push is tried at once. If another push was faster, it fetches, merges both sides and tries again: each time it loses,
another agent has succeeded. This clone moves only when the remote has accepted the result, so a push that fails or is
killed changes nothing.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from cohabit.errors import CohabitError, Conflict, Unreachable
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import refs
from cohabit.workspace.clone.git import MAX_OUTPUT
from cohabit.workspace.clone.objects import EMPTY_TREE, changes
from cohabit.workspace.formats.quoting import quoted
from cohabit.workspace.limits import MAX_ENTRIES
from cohabit.workspace.merging.merge import Renumbered
from cohabit.workspace.reading import damage
from cohabit.workspace.sharing import advance, integrate, origin, plan, rewritten
from cohabit.workspace.sharing.fairness import PUSH_SECONDS, LastPush, backoff
from cohabit.workspace.sharing.integrate import FileConflict, Integration
from cohabit.workspace.sharing.plan import Move
from cohabit.workspace.workspace import Workspace

UNCOMMITTED: Final = (
    "Commits by others change files that have uncommitted changes here. Nothing was changed. Commit them first (add, "
    "commit), then push, which merges both."
)
HIDDEN: Final = (
    "Commits by others change files that have changes here, and git was told not to look at these files. Nothing was "
    "changed. Tell your user: `git update-index --no-skip-worktree --no-assume-unchanged FILE` makes git look again; "
    "then commit them, or take the version of the others with `git checkout FILE`, and call again."
)
MAX_REPORTED: Final = 50
"""Renumbered items, and notes, in one answer."""


def fetch(ws: Workspace) -> Answer:
    """Fetch from the remote without changing any file: {updated, behind, ahead}."""
    known = refs.upstream(ws)
    theirs = origin.fetch(ws)
    ahead, behind = integrate.ahead_behind(ws, refs.head(ws), theirs)
    return {"updated": theirs != known, "behind": behind, "ahead": ahead}


def pull(ws: Workspace) -> Answer:
    """Bring the files up to date, by fast-forward only: {updated, new_head, files}, or {error: "conflict", …}."""
    theirs, ours = origin.fetch(ws), refs.head(ws)
    if gone := rewritten.lost_commit(ws, ours, theirs):
        return _history_rewritten(ws, gone, str(theirs))
    ahead, behind = integrate.ahead_behind(ws, ours, theirs)
    if not behind or theirs is None:
        return {"updated": False, "new_head": ours or "", "files": []}
    if ahead:
        return _diverged(ws, str(ours), theirs, ahead, behind)
    move = plan.plan_move(ws, ours, theirs)
    if move.blocking:
        return _blocked(move)
    notes = (*move.notes, *advance.carry_out(ws, move))
    answer: Answer = {"updated": True, "new_head": theirs, **_limited("files", move.changes)}
    return answer | _report(move.renumbered, notes)


def push(ws: Workspace) -> Answer:
    """Share your commits. New commits by others are merged first; a real conflict is reported and left to you."""
    ours = refs.head(ws)
    if ours is None:
        origin.fetch(ws)
        return {"ok": True, "pushed": [], "note": "this clone has no commit yet; commit something first"}
    if integrate.ahead_behind(ws, ours, refs.upstream(ws))[0] == 0:
        theirs = origin.fetch(ws)
        if integrate.ahead_behind(ws, ours, theirs)[0] == 0:
            return {"ok": True, "pushed": [_row(ws, already=True)]} | _report((), (), integrated=0)
    wait_for_turn(ws)
    return _Push(ws).run(fetch_first=False)


def sync(ws: Workspace) -> Answer:
    """Fetch, merge commits by others and push, in one call. It also works if you have nothing to push."""
    wait_for_turn(ws)
    return _Push(ws).run(fetch_first=True)


def wait_for_turn(ws: Workspace) -> None:
    """Let others push first if there is something to push and this agent has just pushed."""
    if ws.last_push is None or refs.head(ws) == refs.upstream(ws):
        return
    if pause := ws.last_push.pause(time.monotonic()):
        with ws.released():
            time.sleep(pause)


class _Push:
    """One push, with all its attempts."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self.ours = refs.head(ws)
        self.known = self.theirs = refs.upstream(ws)
        self.deadline = time.monotonic() + PUSH_SECONDS
        self.gone: str | None = None
        """The last shared commit that the remote has lost, if its history was rewritten."""
        self.markers: dict[str, int] = {}
        """Files of the commit ``examined`` with conflict markers that are not shared yet."""
        self.examined: str | None = None
        self.unanswered = 0
        """Pushes that the remote did not answer."""

    def run(self, *, fetch_first: bool) -> Answer:
        retry_reason, losses = "", 0
        while True:
            began = time.monotonic()
            fetched = fetch_first or bool(retry_reason)
            ahead, behind = (1, 0) if fetched else integrate.ahead_behind(self.ws, self.ours, self.theirs)
            fetched = fetched or bool(behind)
            if fetched:
                try:
                    self.theirs = origin.fetch(self.ws)
                except Unreachable as error:
                    raise _with_reassurance(error) from None
                self.ours = refs.head(self.ws)  # another call may have committed meanwhile
                ahead, behind = integrate.ahead_behind(self.ws, self.ours, self.theirs)
            self.gone = rewritten.lost_commit(self.ws, self.ours, self.theirs)
            if self.gone is not None:
                if not fetched:  # the remote may have it again
                    fetch_first = True
                    continue
                if not rewritten.is_accepted(self.ws, self.gone):
                    return _history_rewritten(self.ws, self.gone, str(self.theirs))
                ahead, behind = integrate.ahead_behind(self.ws, self.ours, self.gone)[0], max(behind, 1)
            answer = self._attempt(ahead, behind)
            if isinstance(answer, dict):
                if ahead and "error" not in answer:
                    ended = time.monotonic()
                    self.ws.last_push = LastPush(ended, ended - began, behind > 0, losses)
                return answer
            retry_reason = answer
            if time.monotonic() > self.deadline:
                return {"error": "rejected", "reason": f"others kept being faster; call push again ({retry_reason})"}
            losses += 1
            time.sleep(backoff(losses, time.monotonic() - began, self.deadline - time.monotonic()))

    def _attempt(self, ahead: int, behind: int) -> Answer | str:
        """One attempt: the answer, or the reason to try again."""
        integration = self._integrate(ahead, behind)
        if integration.conflicts:
            return _conflict(integration.conflicts)
        if integration.commit is None:
            return {"ok": True, "pushed": [], "note": "neither this clone nor the remote has a commit yet"}
        goal, move = integration.commit, None
        if goal != self.ours:
            move = plan.plan_move(self.ws, self.ours, goal, integration.base, integration.renumbered_files)
            if move.blocking:
                return _blocked(move)
        if ahead:
            if self.examined != self.ours:
                self.markers, self.examined = damage.new_markers(self.ws, self.theirs, str(self.ours)), self.ours
            if refused := damage.refusal(self.markers):
                return refused
            try:
                pushed = origin.push(self.ws, goal, self.theirs)
            except Unreachable as error:
                self.unanswered += 1
                retry_until = self.deadline - PUSH_SECONDS + origin.RETRY_SECONDS
                if self.unanswered == origin.MAX_ATTEMPTS or time.monotonic() > retry_until:
                    raise _with_reassurance(error) from None
                return error.message  # the next fetch shows whether the push was accepted after all
            if pushed.outcome == "refused":
                return {"error": "rejected", "reason": pushed.reason}
            if pushed.outcome == "raced":
                return quoted(pushed.reason, MAX_OUTPUT)
        return self._finish(integration, move, ahead, behind)

    def _integrate(self, ahead: int, behind: int) -> Integration:
        """The commit that contains both sides."""
        if not behind:
            return Integration(self.ours)
        plan.refuse_unfinished(self.ws)
        if not ahead or self.ours is None or self.theirs is None:
            return Integration(self.theirs)
        commits = f"{behind} commit" if behind == 1 else f"{behind} commits"
        return integrate.integrate(self.ws, self.ours, self.theirs, f"Merge {commits} of {refs.on_branch(self.ws)}")

    def _finish(self, integration: Integration, move: Move | None, ahead: int, behind: int) -> Answer:
        notes, renumbered = [*integration.notes, *damage.note(self.markers)], [*integration.renumbered]
        if move is not None:
            try:
                if self.ws.lock.taken_meanwhile:
                    move = _catch_up(self.ws, move.goal)
                renumbered += move.renumbered if move else ()
                notes += move.notes if move else ()
                notes += advance.carry_out(self.ws, move) if move else ()
            except CohabitError as error:
                if not ahead:
                    raise
                notes.append(f"pushed, but this clone could not be updated yet: {error.message}; call sync")
        integrate.DECISIONS.clear(self.ws)
        if self.gone is not None:
            rewritten.set_shared(self.ws, str(integration.commit))
        report = _report(renumbered, notes, integrated=behind)
        moved = ahead or (self.gone is None and self._was_accepted_before())
        if self.known is not None and self.theirs is not None and moved:
            return {"ok": True, "update": self._update(integration.commit or ""), "pushed": []} | report
        return {"ok": True, "pushed": [_row(self.ws, already=not ahead)]} | report

    def _was_accepted_before(self) -> bool:
        """True if the remote had accepted an earlier attempt that it did not answer."""
        return self.ours is not None and integrate.ahead_behind(self.ws, self.ours, self.known)[0] > 0

    def _update(self, commit: str) -> Answer:
        ref = f"refs/heads/{refs.on_branch(self.ws)}"
        before = self.known if commit == self.theirs else self.theirs
        return {"head": {"local": ref, "remote": ref}, "hash": {"from": str(before)[:7], "to": commit[:7]}}


def to_commit(ws: Workspace, theirs: str) -> tuple[Integration, Move | None]:
    """The commit that contains the work of this clone and a commit of the remote, and the move to it; no move if they
    conflict, or if this clone has the commit."""
    ours = refs.head(ws)
    ahead, behind = integrate.ahead_behind(ws, ours, theirs)
    integration = Integration(theirs)
    if ahead and behind and ours is not None:
        integration = integrate.integrate(ws, ours, theirs, f"Merge of {refs.on_branch(ws)}")
    if not behind or integration.commit is None:
        return integration, None
    return integration, plan.plan_move(ws, ours, integration.commit, integration.base, integration.renumbered_files)


def _catch_up(ws: Workspace, theirs: str) -> Move | None:
    """The move of this clone to a commit that the remote has, after another call committed or wrote here meanwhile.
    Raises Conflict if that has to wait; the next sync does it."""
    integration, move = to_commit(ws, theirs)
    if integration.commit is None:
        raise Conflict("another call committed something that conflicts")
    if move is not None and move.blocking:
        raise Conflict("another call changed files that are not committed")
    return move and replace(move, renumbered=(*integration.renumbered, *move.renumbered))


# -- answers --------------------------------------------------------------------------------------
def _row(ws: Workspace, *, already: bool) -> Answer:
    ref = f"refs/heads/{refs.on_branch(ws)}"
    kind = {"deleted": False, "tag": False, "branch": True, "new": not already, "alreadyUpdated": already}
    return kind | {"local": ref, "remote": ref}


def _report(renumbered: Sequence[Renumbered], notes: Sequence[str], integrated: int | None = None) -> Answer:
    """Further information for the agent; ``pull`` includes it only if there is any."""
    rows = [{"title": one.title, "from": one.old, "to": one.new} for one in renumbered[:MAX_REPORTED]]
    report: Answer = {"renumbered": rows, "notes": [note[:500] for note in notes[:MAX_REPORTED]]}
    if integrated is None:
        return {key: value for key, value in report.items() if value}
    return {"integrated": integrated} | report


def _limited(name: str, paths: Iterable[str]) -> Answer:
    listed = list(paths)
    return {name: listed[:MAX_ENTRIES]} | ({"truncated": True} if len(listed) > MAX_ENTRIES else {})


def _diverged(ws: Workspace, ours: str, theirs: str, ahead: int, behind: int) -> Answer:
    base = ws.git.run("merge-base", ours, theirs, ok=(0, 1)).line or EMPTY_TREE
    here, there = changes(ws, base, ours), changes(ws, base, theirs)
    message = (
        f"Not possible to fast-forward: this clone has commits that were not pushed ({ahead}), and the remote has new "
        f"ones ({behind}). Nothing was changed. Call push: it merges both sides and shares yours."
    )
    return {"error": "conflict", "message": message, **_limited("files", (path for path in here if path in there))}


def _history_rewritten(ws: Workspace, gone: str, theirs: str) -> Answer:
    return {"error": "conflict", "message": rewritten.message(ws), "files": rewritten.files(ws, gone, theirs)}


def _blocked(move: Move) -> Answer:
    message = HIDDEN if move.hidden else UNCOMMITTED
    return {"error": "conflict", "message": message, **_limited("files", move.blocking)}


def _conflict(conflicts: Sequence[FileConflict]) -> Answer:
    message = (
        "These files were changed here and by others in ways that cannot be combined. Nothing was changed or pushed, "
        "and your commits are safe. Tell your user. To resolve it: resolve each file or abandon yours, if you have "
        "these tools, then push; with plain git: `git pull --no-rebase`, resolve, commit, push."
    )
    return {"error": "conflict", "message": message, **_limited("files", (conflict.path for conflict in conflicts))}


def _with_reassurance(error: Unreachable) -> Unreachable:
    message = error.message.rstrip(".")
    return Unreachable(f"{message}. Nothing is lost: your commits are in this clone; call push again later")
