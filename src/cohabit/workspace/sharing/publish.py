"""Sharing: fetch, pull, push and sync, as the tools answer them.

A push first tries its luck. Refused because somebody else was faster, it fetches, brings both sides together, and
tries again: each time it loses, another agent got through. This clone is moved on only when the remote has taken the
result, so a push that fails, or is killed, leaves everything as it was.
"""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from cohabit.errors import CohabitError, Unreachable
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import refs
from cohabit.workspace.clone.deltas import EMPTY_TREE, changes
from cohabit.workspace.limits import MOST_ENTRIES
from cohabit.workspace.merging.merge import Renumbered
from cohabit.workspace.sharing import advance, decided, integrate, origin, rewritten, route
from cohabit.workspace.sharing.integrate import Clash, Joined
from cohabit.workspace.sharing.route import Move

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

T = TypeVar("T")
SECONDS: Final = 50.0
"""Longest that a push goes on trying. Clients give up after a minute."""
LONGEST_PAUSE: Final = 2.0
UNCOMMITTED: Final = (
    "What others pushed changes files that have uncommitted changes here. Nothing was changed. Commit them first "
    "(add, commit), then push, which merges both."
)
UNSEEN: Final = (
    "What others pushed changes files that were changed here, and git was told not to look at them. Nothing was "
    "changed. Tell your user: `git update-index --no-skip-worktree --no-assume-unchanged FILE` lets git look again; "
    "then commit them, or take the others' with `git checkout FILE`, and call again."
)
MOST_TOLD: Final = 50
"""Renumbered items and notes in one answer."""


def fetch(ws: "Workspace") -> Answer:
    """Ask the remote for news; no file changes."""
    known = refs.upstream(ws)
    theirs = origin.fetch(ws)
    ahead, behind = integrate.apart(ws, refs.head(ws), theirs)
    return {"updated": theirs != known, "behind": behind, "ahead": ahead}


def pull(ws: "Workspace") -> Answer:
    """Go forward to what the remote has. Where this clone has commits of its own, it says so and changes nothing."""
    theirs, ours = origin.fetch(ws), refs.head(ws)
    if gone := rewritten.lost(ws, ours, theirs):
        return _rewritten(ws, gone, str(theirs))
    ahead, behind = integrate.apart(ws, ours, theirs)
    if not behind or theirs is None:
        return {"updated": False, "new_head": ours or "", "files": []}
    if ahead:
        return _diverged(ws, str(ours), theirs, ahead, behind)
    move = route.plan(ws, ours, theirs)
    if move.in_the_way:
        return _in_the_way(move)
    notes = (*move.notes, *advance.carry_out(ws, move))
    answer: Answer = {"updated": True, "new_head": theirs, **_bounded("files", move.changes)}
    return answer | _told(move.renumbered, notes)


def push(ws: "Workspace") -> Answer:
    """Share this clone's commits. Nothing to share is fine too."""
    ours = refs.head(ws)
    if ours is None:
        origin.fetch(ws)
        return {"ok": True, "pushed": [], "note": "this clone has no commit yet; commit something first"}
    if integrate.apart(ws, ours, refs.upstream(ws))[0] == 0:
        theirs = origin.fetch(ws)
        if integrate.apart(ws, ours, theirs)[0] == 0:
            return {"ok": True, "pushed": [_row(ws, already=True)]} | _told((), (), integrated=0)
    return _Publishing(ws).go(fetch_first=False)


def sync(ws: "Workspace") -> Answer:
    """Fetch, integrate and push in one call, also when there is nothing to push."""
    return _Publishing(ws).go(fetch_first=True)


@dataclass(slots=True)
class _Publishing:
    """One push, over as many attempts as it takes."""

    ws: "Workspace"
    known: str | None = field(init=False)
    ours: str | None = field(init=False)
    theirs: str | None = field(init=False)
    deadline: float = field(init=False)
    gone: str | None = None
    """The last commit that was shared before the remote's history was rewritten."""
    broken: int = 0
    """Pushes that the remote did not answer."""

    def __post_init__(self) -> None:
        self.ours = refs.head(self.ws)
        self.known = self.theirs = refs.upstream(self.ws)
        self.deadline = time.monotonic() + SECONDS

    def go(self, *, fetch_first: bool) -> Answer:
        lost, losses = "", 0
        while True:
            began = time.monotonic()
            ahead, behind = (1, 0) if lost or fetch_first else integrate.apart(self.ws, self.ours, self.theirs)
            fetched = fetch_first or bool(behind or lost)
            if fetched:
                self.theirs = _kept(lambda: origin.fetch(self.ws))
                ahead, behind = integrate.apart(self.ws, self.ours, self.theirs)
            self.gone = rewritten.lost(self.ws, self.ours, self.theirs)
            if self.gone is not None:
                if not fetched:  # it may be there again
                    fetch_first = True
                    continue
                if not rewritten.is_let_go(self.ws, self.gone):
                    return _rewritten(self.ws, self.gone, str(self.theirs))
                ahead, behind = integrate.apart(self.ws, self.ours, self.gone)[0], max(behind, 1)
            answer = self._attempt(ahead, behind)
            if isinstance(answer, dict):
                return answer
            lost = answer
            if time.monotonic() > self.deadline:
                return {"error": "rejected", "reason": f"others kept being faster; call push again ({lost})"}
            losses += 1
            time.sleep(pause_after(losses, time.monotonic() - began, self.deadline - time.monotonic()))

    def _attempt(self, ahead: int, behind: int) -> Answer | str:
        """One try: the answer, or why it has to be tried again."""
        joined = self._joined(ahead, behind)
        if joined.clashes or joined.commit is None:
            return _conflict(joined.clashes) if joined.clashes else self._nothing()
        goal, move = joined.commit, None
        if goal != self.ours:
            move = route.plan(self.ws, self.ours, goal, joined.base, joined.mended)
            if move.in_the_way:
                return _in_the_way(move)
        if ahead:
            try:
                pushed = origin.push(self.ws, goal, self.theirs)
            except Unreachable as wrong:
                self.broken += 1
                if self.broken == origin.TRIES or time.monotonic() > self.deadline - SECONDS + origin.PATIENCE:
                    raise _nothing_lost(wrong) from None
                return wrong.message  # the next fetch asks again, and tells whether it was taken after all
            if pushed.how == "refused":
                return {"error": "rejected", "reason": pushed.reason}
            if pushed.how == "raced":
                return pushed.reason
        return self._done(joined, move, ahead, behind)

    def _joined(self, ahead: int, behind: int) -> Joined:
        """The commit that both sides are in."""
        if not behind:
            return Joined(self.ours)
        route.refuse_by_hand(self.ws)
        if not ahead or self.ours is None or self.theirs is None:
            return Joined(self.theirs)
        commits = f"{behind} commit" if behind == 1 else f"{behind} commits"
        return integrate.join(self.ws, self.ours, self.theirs, f"Merge {commits} of {refs.on_branch(self.ws)}")

    def _done(self, joined: Joined, move: Move | None, ahead: int, behind: int) -> Answer:
        notes, renumbered = [*joined.notes], [*joined.renumbered]
        if move is not None:
            renumbered += move.renumbered
            notes += move.notes
            try:
                notes += advance.carry_out(self.ws, move)
            except CohabitError as wrong:
                if not ahead:
                    raise
                notes.append(f"pushed, but this clone could not be moved on yet: {wrong.message}; call sync")
        decided.forget(self.ws)
        if self.gone is not None:
            rewritten.settle(self.ws, str(joined.commit))
        told = _told(renumbered, notes, integrated=behind)
        moved = ahead or (self.gone is None and self._came_through())
        if self.known is not None and self.theirs is not None and moved:
            return {"ok": True, "update": self._update(joined.commit or ""), "pushed": []} | told
        return {"ok": True, "pushed": [_row(self.ws, already=not ahead)]} | told

    def _came_through(self) -> bool:
        """Whether an earlier attempt was taken, though it looked as if the remote had not answered."""
        return self.ours is not None and integrate.apart(self.ws, self.ours, self.known)[0] > 0

    def _update(self, commit: str) -> Answer:
        ref = f"refs/heads/{refs.on_branch(self.ws)}"
        before = self.known if commit == self.theirs else self.theirs
        return {"head": {"local": ref, "remote": ref}, "hash": {"from": str(before)[:7], "to": commit[:7]}}

    def _nothing(self) -> Answer:
        return {"ok": True, "pushed": [], "note": "neither this clone nor the remote has a commit yet"}


def pause_after(losses: int, took: float, left: float) -> float:
    """How long to wait after losing a race, so that those who lost do not all come back at once: by chance, and in
    proportion to what a try takes, so that a busy machine gets its work done instead of starting more. Whoever has
    waited long, and has little time left, waits less: the others let them pass."""
    hurry = max(0.0, 2 * left / SECONDS - 1)
    return min(random.uniform(0, took * 2 ** min(losses, 3)), LONGEST_PAUSE) * hurry


# -- answers --------------------------------------------------------------------------------------
def _row(ws: "Workspace", *, already: bool) -> Answer:
    ref = f"refs/heads/{refs.on_branch(ws)}"
    kind = {"deleted": False, "tag": False, "branch": True, "new": not already, "alreadyUpdated": already}
    return kind | {"local": ref, "remote": ref}


def _told(renumbered: Sequence[Renumbered], notes: Sequence[str], integrated: int | None = None) -> Answer:
    """What an agent should know besides; ``pull`` says it only where there is something to say."""
    rows = [{"title": one.title, "from": one.old, "to": one.new} for one in renumbered[:MOST_TOLD]]
    told: Answer = {"renumbered": rows, "notes": [note[:500] for note in notes[:MOST_TOLD]]}
    if integrated is None:
        return {key: value for key, value in told.items() if value}
    return {"integrated": integrated} | told


def _bounded(name: str, paths: Iterable[str]) -> Answer:
    listed = list(paths)
    return {name: listed[:MOST_ENTRIES]} | ({"truncated": True} if len(listed) > MOST_ENTRIES else {})


def _diverged(ws: "Workspace", ours: str, theirs: str, ahead: int, behind: int) -> Answer:
    base = ws.git.run("merge-base", ours, theirs, ok=(0, 1)).line or EMPTY_TREE
    mine, yours = changes(ws, base, ours), changes(ws, base, theirs)
    message = (
        f"Not possible to fast-forward: this clone has {ahead} commit(s) that were not pushed, the remote has {behind} "
        "new one(s). Nothing was changed. Call push: it merges both sides and shares yours."
    )
    return {"error": "conflict", "message": message, **_bounded("files", (path for path in mine if path in yours))}


def _rewritten(ws: "Workspace", gone: str, theirs: str) -> Answer:
    return {"error": "conflict", "message": rewritten.told(ws), "files": rewritten.files(ws, gone, theirs)}


def _in_the_way(move: Move) -> Answer:
    message = UNSEEN if move.unseen else UNCOMMITTED
    return {"error": "conflict", "message": message, **_bounded("files", move.in_the_way)}


def _conflict(clashes: Sequence[Clash]) -> Answer:
    message = (
        "These files were changed here and by others in ways that do not fit together. Nothing was changed or pushed, "
        "and your commits are safe. Tell your user. To settle it: resolve each file or abandon yours, where you have "
        "these tools, then push; with plain git: `git pull --no-rebase`, settle, commit, push."
    )
    return {"error": "conflict", "message": message, **_bounded("files", (clash.path for clash in clashes))}


def _kept(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except Unreachable as wrong:
        raise _nothing_lost(wrong) from None


def _nothing_lost(wrong: Unreachable) -> Unreachable:
    message = wrong.message.rstrip(".")
    return Unreachable(f"{message}. Nothing is lost: your commits are in this clone; call push again in a while")
