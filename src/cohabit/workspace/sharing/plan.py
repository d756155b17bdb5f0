"""Planning a move of the clone from one commit to a later one: what changes, and what happens to uncommitted work.

If a protocol file has uncommitted changes here and changes in the move too, it is merged by entry. Any other file with
both blocks the move: it is named and not touched.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from cohabit.errors import BadArgs, Conflict, TooLarge
from cohabit.workspace.clone import lfs, objects, plain_git
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.objects import EMPTY_TREE, Change, Dirty, Entry, changes, dirty_files, untracked_files
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.markers import first_marker
from cohabit.workspace.merging import merge
from cohabit.workspace.merging.numbering import Renumbered, mentions, update_mentions
from cohabit.workspace.reading import lost

MAX_LOSSES: Final = 10
"""Lost entries in the notes of one answer."""
MAX_MENTION_BYTES: Final = 1024 * 1024
"""Size of a file up to which mentions of items in it are updated."""


@dataclass(frozen=True, slots=True)
class Carried:
    """An uncommitted text that changes in a move: the blobs of the current, the new and the staged text."""

    path: str
    before: str
    after: str
    staged: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A planned move from ``start`` to ``goal``."""

    start: str | None
    goal: str
    changes: Mapping[str, Change]
    carried: tuple[Carried, ...] = ()
    """Uncommitted texts that change in the move."""
    blocking: tuple[str, ...] = ()
    """Uncommitted files that would be lost. With any of these, the move is not possible."""
    hidden: bool = False
    """True if some of those are marked so that git does not look at them."""
    renumbered: tuple[Renumbered, ...] = ()
    """Uncommitted items that got a new number."""
    notes: tuple[str, ...] = ()


def plan_move(
    ws: Clone, start: str | None, goal: str, base: str | None = None, renumbered_files: frozenset[str] = frozenset()
) -> Move:
    """Plan the move from ``start`` to ``goal``. ``renumbered_files`` changed only because items in them were
    renumbered: uncommitted work in them is updated too, compared to ``base``."""
    refuse_unfinished(ws)
    coming = changes(ws, start or EMPTY_TREE, goal)
    return _Planner(ws, start, goal, coming, dirty_files(ws), base, renumbered_files).plan()


def refuse_unfinished(ws: Clone) -> None:
    """Raises Conflict while a merge, a rebase or the like by hand is unfinished in this clone."""
    if command := plain_git.unfinished(ws.root):
        raise Conflict(plain_git.finish_first(command))


@dataclass(slots=True)
class _Planner:
    ws: Clone
    start: str | None
    goal: str
    coming: Mapping[str, Change]
    dirty: Mapping[str, Dirty]
    base: str | None
    renumbered_files: frozenset[str]
    texts: dict[str, str] = field(default_factory=dict)
    carried: list[Carried] = field(default_factory=list)
    blocking: list[str] = field(default_factory=list)
    renumbered: list[Renumbered] = field(default_factory=list)
    """Items with a new number in the goal, and uncommitted items with a new number."""
    newly_renumbered: list[Renumbered] = field(default_factory=list)
    """The uncommitted items alone."""
    notes: list[str] = field(default_factory=list)

    def plan(self) -> Move:
        affected = [path for path, change in self.coming.items() if self._is_affected(path, change)]
        hidden = _hidden_changes(self.ws, self.coming, self.dirty)
        self.blocking += hidden
        self._load(affected)
        self.renumbered = self._renumbered_in_goal()
        for path in sorted(affected, key=lambda path: path != INBOX):  # the others need the numbers of the inbox
            self._carry(path)
        if self.renumbered and not self.blocking:
            self._update_other_files()
        self._note_losses()
        self._note_lfs()
        return Move(
            self.start, self.goal, self.coming, tuple(self.carried), tuple(sorted(set(self.blocking))), bool(hidden),
            tuple(self.newly_renumbered), tuple(self.notes),
        )  # fmt: skip

    def _note_losses(self) -> None:
        """Published entries that the incoming commits removed or edited, and conflict markers that they brought."""
        paths = [path for path in (JOURNAL, INBOX) if path in self.coming and self._is_mergeable(path)]
        before, after = (
            {path: text for path in paths if (text := self._text(getattr(self.coming[path], side))) is not None}
            for side in ("before", "after")
        )
        arrived = {path: line for path, text in after.items() if (line := first_marker(text))}
        self.notes += [
            f"{path} has git conflict markers, the first on line {line}; repair may fix it"
            for path, line in arrived.items()
            if not first_marker(before.get(path, ""))
        ]
        found = lost.lost_between(self.ws, before, after, self.goal) if before else []
        self.notes += [loss.note for loss in found[:MAX_LOSSES]]
        if len(found) > MAX_LOSSES:
            self.notes.append(f"{len(found) - MAX_LOSSES} more published entries vanished or were edited; see health")

    def _note_lfs(self) -> None:
        """Files that the incoming commits begin to keep in Git LFS."""
        arriving = {
            change.after.sha: path
            for path, change in self.coming.items()
            if lfs.is_attributes(path) and change.after is not None and change.after.is_file
        }
        before = {
            change.before.sha: path for path in arriving.values() if (change := self.coming[path]).before is not None
        }
        known = lfs.with_lfs(self.ws, before)
        if new := [path for path in lfs.with_lfs(self.ws, arriving) if path not in known]:
            self.notes.append(lfs.note(new))

    def _is_affected(self, path: str, change: Change) -> bool:
        """True if the change meets uncommitted work that may be carried along. A file in the way of a new folder, or
        the reverse, blocks at once."""
        found = self.dirty.get(path)
        if found is not None:
            return not (found.index == change.after and not found.unstaged)
        if change.before is not None or change.after is None:
            return False
        blocking = _blocking_path(self.ws, path, self.coming)
        if blocking is None:
            return False
        if blocking != path:
            self.blocking.append(blocking)
            return False
        return not _has_content(self.ws, path, change.after)

    def _load(self, affected: Sequence[str]) -> None:
        wanted = []
        for path in (*affected, *(path for path in (JOURNAL, INBOX) if path in self.coming)):
            change, found = self.coming[path], self.dirty.get(path)
            entries = (change.before, change.after, found.index if found else None)
            wanted += [entry.sha for entry in entries if entry is not None and self._is_mergeable(path)]
        self.texts |= objects.texts(self.ws, wanted)

    def _is_mergeable(self, path: str) -> bool:
        change = self.coming[path]
        plain = all(entry is None or entry.is_file for entry in (change.before, change.after))
        return plain and (merge.is_protocol(path) or path in self.renumbered_files)

    def _text(self, entry: Entry | None) -> str | None:
        return None if entry is None else self.texts.get(entry.sha)

    def _renumbered_in_goal(self) -> list[Renumbered]:
        """Items that have another number in the goal than here; their keys identify them."""
        if INBOX not in self.coming:
            return []
        here, there = (self._text(entry) for entry in (self.coming[INBOX].before, self.coming[INBOX].after))
        ids = {item.key: item.id for item in Inbox.parse(here).items}
        return [
            Renumbered(item.key, item.title, ids[item.key], item.id)
            for item in Inbox.parse(there).items
            if ids.get(item.key, item.id) != item.id
        ]

    def _carry(self, path: str) -> None:
        """Merge the uncommitted text of a file with the incoming one; the file blocks if that is not possible."""
        try:
            here = self.ws.tree.text(path)
        except (BadArgs, OSError):
            here = None
        found = self.dirty.get(path)
        if here is None or not self._is_mergeable(path):
            self.blocking.append(path)
            return
        after = self._merged(path, here, report=True)
        staged = None
        if found is not None and found.staged and found.index is not None:
            index = self._text(found.index)
            staged = after if index == here else self._merged(path, index or "", report=False)
        if after is not None:
            blob = None if staged is None else objects.write_text(self.ws, staged)
            self.carried.append(_carried(self.ws, path, here, after, blob))

    def _merged(self, path: str, mine: str, *, report: bool) -> str | None:
        """Uncommitted text merged with the incoming change, None if it conflicts."""
        change = self.coming[path]
        before, after = self._text(change.before), self._text(change.after)
        if self.renumbered:
            base = objects.text_at(self.ws, self.base, path) if path in self.renumbered_files else before
            mine = update_mentions(mine, base, self.renumbered)
        if path in self.renumbered_files and not merge.is_protocol(path):
            return mine
        try:
            merged = merge.merge_file(path, before, mine, after, merge.pushed_ids(path, after))
        except TooLarge:
            merged = merge.Merged(None)
        if merged.conflicts or merged.text is None:
            self.blocking.append(path)
            return None
        if report:
            self.newly_renumbered += merged.renumbered
            self.renumbered += merged.renumbered
            self.notes += merged.notes
        return merged.text

    def _update_other_files(self) -> None:
        """Update mentions of renumbered items in all other uncommitted files."""
        done = {carried.path for carried in self.carried} | set(self.coming)
        for path in (*self.dirty, *untracked_files(self.ws)):
            here = None if path in done else _small_text(self.ws, path)
            if here is None or not mentions(here, self.renumbered):
                continue
            committed = objects.text_at(self.ws, self.start, path)
            after = update_mentions(here, committed, self.renumbered)
            if after != here:
                self.carried.append(_carried(self.ws, path, here, after, self._updated_index(path, committed)))

    def _updated_index(self, path: str, committed: str | None) -> str | None:
        found = self.dirty.get(path)
        if found is None or not found.staged or found.index is None:
            return None
        text = objects.texts(self.ws, [found.index.sha]).get(found.index.sha, "")
        return objects.write_text(self.ws, update_mentions(text, committed, self.renumbered))


def _hidden_changes(ws: Clone, coming: Mapping[str, Change], dirty: Mapping[str, Dirty]) -> list[str]:
    """Changed files that git was told not to look at (skip-worktree, assume-unchanged)."""
    known = [
        (path, change.before) for path, change in coming.items() if path not in dirty and change.before is not None
    ]
    changed = {path for path, entry in known if entry.is_file and not _has_content(ws, path, entry)}
    if not any(os.path.lexists(ws.root / path) for path in changed):
        return []
    marked = {row[2:] for row in ws.git.run("ls-files", "-v", "-z").fields if row[0] == "S" or row[0].islower()}
    return [path for path in changed & marked if os.path.lexists(ws.root / path)]


def _carried(ws: Clone, path: str, here: str, after: str, staged: str | None) -> Carried:
    return Carried(path, objects.write_text(ws, here), objects.write_text(ws, after), staged)


def _blocking_path(ws: Clone, path: str, coming: Mapping[str, Change]) -> str | None:
    """The path that is in the way of a new file and not removed by the move: the path itself, a file above it, or a
    file below it. None if there is none."""
    names = path.split("/")
    for i in range(1, len(names) + 1):
        part = "/".join(names[:i])
        try:
            mode = os.lstat(ws.root / part).st_mode
        except OSError:
            return None
        removed = part in coming and coming[part].after is None
        if i < len(names) and not stat.S_ISDIR(mode):
            return None if removed else part
        if i == len(names) and stat.S_ISDIR(mode):
            return _remaining_below(ws, part, coming)
    return path


def _remaining_below(ws: Clone, folder: str, coming: Mapping[str, Change]) -> str | None:
    for top, _, files in os.walk(ws.root / folder):
        for name in files:
            path = os.path.relpath(os.path.join(top, name), ws.root)
            if path not in coming or coming[path].after is not None:
                return path
    return None


def _has_content(ws: Clone, path: str, entry: Entry) -> bool:
    """True if the file has exactly the content of the entry."""
    try:
        return entry.is_file and objects.sha_of("blob", ws.tree.read(path)) == entry.sha
    except (BadArgs, OSError):
        return False


def _small_text(ws: Clone, path: str) -> str | None:
    try:
        if ws.tree.size(path) > MAX_MENTION_BYTES:
            return None
        data = ws.tree.read(path)
    except (BadArgs, OSError):
        return None
    return None if b"\0" in data else objects.text_of(data)
