"""The way from one commit to a later one, looked over before it is gone: what changes, what uncommitted work becomes.

A protocol file that is changed here and by what comes in is merged by entry. Any other file that both change is in
the way, and is named: it is not touched.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, Conflict
from cohabit.workspace.clone import objects, plain_git
from cohabit.workspace.clone.deltas import EMPTY_TREE, Change, Dirty, changes, dirty_files, untracked_files
from cohabit.workspace.clone.intent import Carried
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.paths import INBOX
from cohabit.workspace.merging import merge
from cohabit.workspace.merging.mend import Renumbered, mend

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

LARGEST_MENDED: Final = 1024 * 1024
"""Bytes of a file in which numbers of items are looked for."""


@dataclass(frozen=True, slots=True)
class Move:
    """A way from ``start`` to ``goal``, looked over beforehand."""

    start: str | None
    goal: str
    changes: Mapping[str, Change]
    carried: tuple[Carried, ...] = ()
    """Uncommitted texts that become other texts on the way."""
    in_the_way: tuple[str, ...] = ()
    """Uncommitted files that would be lost. With any of these, there is no way."""
    unseen: bool = False
    """Whether git was told not to look at some of those."""
    renumbered: tuple[Renumbered, ...] = ()
    """Uncommitted items that had to get another number."""
    notes: tuple[str, ...] = ()


def plan(
    ws: "Workspace", start: str | None, goal: str, base: str | None = None, mended: frozenset[str] = frozenset()
) -> Move:
    """How to get from ``start`` to ``goal``. ``mended`` are files that differ only because items were renumbered:
    uncommitted work in them is mended too, against ``base``."""
    refuse_by_hand(ws)
    coming = changes(ws, start or EMPTY_TREE, goal)
    return _Planner(ws, start, goal, coming, dirty_files(ws), base, mended).plan()


def refuse_by_hand(ws: "Workspace") -> None:
    """Raises Conflict while a person is in the middle of a merge, a rebase or the like in this clone."""
    if command := plain_git.unfinished(ws):
        raise Conflict(plain_git.finish_first(command))


@dataclass(slots=True)
class _Planner:
    ws: "Workspace"
    start: str | None
    goal: str
    coming: Mapping[str, Change]
    dirty: Mapping[str, Dirty]
    base: str | None
    mended: frozenset[str]
    texts: dict[str, str] = field(default_factory=dict)
    carried: list[Carried] = field(default_factory=list)
    in_the_way: list[str] = field(default_factory=list)
    renumbered: list[Renumbered] = field(default_factory=list)
    fresh: list[Renumbered] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def plan(self) -> Move:
        met = [path for path, change in self.coming.items() if self._meets(path, change)]
        unseen = _unseen(self.ws, self.coming, self.dirty)
        self.in_the_way += unseen
        self._load(met)
        self.renumbered = self._renumbered_on_the_way()
        for path in sorted(met, key=lambda path: path != INBOX):  # its numbers are needed for the others
            self._carry(path)
        if self.renumbered and not self.in_the_way:
            self._mend_the_rest()
        return Move(
            self.start, self.goal, self.coming, tuple(self.carried), tuple(sorted(set(self.in_the_way))), bool(unseen),
            tuple(self.fresh), tuple(self.notes),
        )  # fmt: skip

    def _meets(self, path: str, change: Change) -> bool:
        """Whether there is uncommitted work where the change goes. What cannot be carried is noted."""
        found = self.dirty.get(path)
        if found is not None:
            return not (found.index == change.after and not found.unstaged)
        if change.before is not None or change.after is None:
            return False
        blocking = _blocking(self.ws, path, self.coming)
        if blocking is None:
            return False
        if blocking != path:
            self.in_the_way.append(blocking)
            return False
        return not _same(self.ws, path, change.after)

    def _load(self, met: Sequence[str]) -> None:
        wanted = []
        for path in (*met, *([INBOX] if INBOX in self.coming else [])):
            change, found = self.coming[path], self.dirty.get(path)
            entries = (change.before, change.after, found.index if found else None)
            wanted += [entry.sha for entry in entries if entry is not None and self._is_text(path)]
        self.texts |= objects.texts(self.ws, wanted)

    def _is_text(self, path: str) -> bool:
        change = self.coming[path]
        plain = all(entry is None or entry.is_file for entry in (change.before, change.after))
        return plain and (merge.is_protocol(path) or path in self.mended)

    def _text(self, entry: Entry | None) -> str | None:
        return None if entry is None else self.texts.get(entry.sha)

    def _renumbered_on_the_way(self) -> list[Renumbered]:
        """Items of ours that have another number in the goal than here, told apart by their keys."""
        if INBOX not in self.coming:
            return []
        here, there = (self._text(entry) for entry in (self.coming[INBOX].before, self.coming[INBOX].after))
        ids = {item.key: item.id for item in Inbox.parse(here or "").items}
        return [
            Renumbered(item.key, item.title, ids[item.key], item.id)
            for item in Inbox.parse(there or "").items
            if ids.get(item.key, item.id) != item.id
        ]

    def _carry(self, path: str) -> None:
        try:
            here = self.ws.tree.text(path)
        except (BadArgs, OSError):
            here = None
        found = self.dirty.get(path)
        if here is None or not self._is_text(path):
            self.in_the_way.append(path)
            return
        after = self._joined(path, here, tell=True)
        staged = None
        if found is not None and found.staged and found.index is not None:
            index = self._text(found.index)
            staged = after if index == here else self._joined(path, index or "", tell=False)
        if after is not None:
            blob = None if staged is None else objects.write_text(self.ws, staged)
            self.carried.append(_carried(self.ws, path, here, after, blob))

    def _joined(self, path: str, mine: str, *, tell: bool) -> str | None:
        """Uncommitted text with what comes in, or None where it is in the way."""
        change = self.coming[path]
        before, after = self._text(change.before), self._text(change.after)
        if self.renumbered:
            mine = mend(mine, self._base_text(path) if path in self.mended else before, self.renumbered)
        if path in self.mended and not merge.is_protocol(path):
            return mine
        joined = merge.merge_file(path, before, mine, after, merge.pushed_in(path, after))
        if joined.conflicts or joined.text is None:
            self.in_the_way.append(path)
            return None
        if tell:
            self.fresh += joined.renumbered
            self.renumbered += joined.renumbered
            self.notes += joined.notes
        return joined.text

    def _base_text(self, path: str) -> str | None:
        return objects.texts(self.ws, [f"{self.base}:{path}"]).get(f"{self.base}:{path}") if self.base else None

    def _mend_the_rest(self) -> None:
        """Uncommitted text elsewhere that speaks of an item by the number it had."""
        done = {carried.path for carried in self.carried} | set(self.coming)
        for path in (*self.dirty, *untracked_files(self.ws)):
            here = None if path in done else _small_text(self.ws, path)
            if here is None or not any(one.old in here for one in self.renumbered):
                continue
            name = f"{self.start}:{path}"
            committed = objects.texts(self.ws, [name]).get(name)
            after = mend(here, committed, self.renumbered)
            if after != here:
                self.carried.append(_carried(self.ws, path, here, after, self._mended_in_index(path, committed)))

    def _mended_in_index(self, path: str, committed: str | None) -> str | None:
        found = self.dirty.get(path)
        if found is None or not found.staged or found.index is None:
            return None
        text = objects.texts(self.ws, [found.index.sha]).get(found.index.sha, "")
        return objects.write_text(self.ws, mend(text, committed, self.renumbered))


def _unseen(ws: "Workspace", coming: Mapping[str, Change], dirty: Mapping[str, Dirty]) -> list[str]:
    """Files that were changed here, and of which git was told not to look (skip-worktree, assume-unchanged)."""
    known = [
        (path, change.before) for path, change in coming.items() if path not in dirty and change.before is not None
    ]
    other = {path for path, entry in known if entry.is_file and not _same(ws, path, entry)}
    if not any(os.path.lexists(ws.root / path) for path in other):
        return []
    marked = {row[2:] for row in ws.git.run("ls-files", "-v", "-z").fields if row[0] == "S" or row[0].islower()}
    return [path for path in other & marked if os.path.lexists(ws.root / path)]


def _carried(ws: "Workspace", path: str, here: str, after: str, staged: str | None) -> Carried:
    return Carried(path, objects.write_text(ws, here), objects.write_text(ws, after), staged)


def _blocking(ws: "Workspace", path: str, coming: Mapping[str, Change]) -> str | None:
    """What lies where a new file would go, and is not itself taken away: the path, a file above it, or files below."""
    names = path.split("/")
    for i in range(1, len(names) + 1):
        part = "/".join(names[:i])
        try:
            kind = os.lstat(ws.root / part).st_mode
        except OSError:
            return None
        leaves = part in coming and coming[part].after is None
        if i < len(names) and not stat.S_ISDIR(kind):
            return None if leaves else part
        if i == len(names) and stat.S_ISDIR(kind):
            return _left_below(ws, part, coming)
    return path


def _left_below(ws: "Workspace", folder: str, coming: Mapping[str, Change]) -> str | None:
    for top, _, files in os.walk(ws.root / folder):
        for name in files:
            path = os.path.relpath(os.path.join(top, name), ws.root)
            if path not in coming or coming[path].after is not None:
                return path
    return None


def _same(ws: "Workspace", path: str, entry: Entry) -> bool:
    try:
        return entry.is_file and objects.sha_of("blob", ws.tree.read(path)) == entry.sha
    except (BadArgs, OSError):
        return False


def _small_text(ws: "Workspace", path: str) -> str | None:
    try:
        if ws.tree.size(path) > LARGEST_MENDED:
            return None
        data = ws.tree.read(path)
    except (BadArgs, OSError):
        return None
    return None if b"\0" in data else objects.text_of(data)
