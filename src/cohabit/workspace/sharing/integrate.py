"""Merging the commits of both sides without touching a file: the result is a commit.

Git merges file by file (``merge-tree``). Protocol files are then merged again by entry, even where git's merge by line
succeeded. If two items have the same number, ours gets a new one, and our unshared texts that mention it are updated.
A real conflict is reported. People decide it file by file; a decision is kept with the clone and applies only to the
same two versions of the file.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from cohabit.errors import Conflict, TooLarge
from cohabit.workspace import driver
from cohabit.workspace.clone import commits, objects
from cohabit.workspace.clone.clone import StateFile
from cohabit.workspace.clone.objects import EMPTY_TREE, Change, Entry, changes
from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.markers import first_conflict
from cohabit.workspace.merging import merge
from cohabit.workspace.merging.mending import undamaged
from cohabit.workspace.merging.merge import Merged, Renumbered
from cohabit.workspace.merging.numbering import update_mentions
from cohabit.workspace.sharing import rewritten
from cohabit.workspace.workspace import Workspace

BY_ENTRY: Final = "entries"
"""The kind of conflict in a file that is merged by entry."""
PATHS_PER_COMMAND: Final = 500
MENTION: Final = "[A-Z][A-Z0-9]*-[0-9]"
"""An id in a text, for git."""
MAX_BASES: Final = 8
"""Merge bases that are used. Without the others, something that both sides removed may come back."""


@dataclass(frozen=True, slots=True)
class FileConflict:
    """A file in conflict: its versions, and git's merge with markers."""

    path: str
    kind: str
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    attempt: Entry | None = None


@dataclass(frozen=True, slots=True)
class Integration:
    """The commit that contains both sides, or the conflicts that prevent it."""

    commit: str | None
    conflicts: tuple[FileConflict, ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    notes: tuple[str, ...] = ()
    base: str | None = None
    renumbered_files: frozenset[str] = frozenset()
    """Files that changed only because they mention an item that was renumbered."""


def ahead_behind(ws: Workspace, ours: str | None, theirs: str | None) -> tuple[int, int]:
    """The number of commits that only we have, and of those that only they have."""
    if ours == theirs:
        return 0, 0
    if ours is None or theirs is None:
        count = int(ws.git.run("rev-list", "--count", str(ours or theirs)).line)
        return (count, 0) if theirs is None else (0, count)
    left, right = ws.git.run("rev-list", "--left-right", "--count", f"{ours}...{theirs}").line.split()
    return int(left), int(right)


def integrate(ws: Workspace, ours: str, theirs: str, message: str) -> Integration:
    """Merge two commits, neither of which contains the other, into one with both as parents.

    If the remote's history was rewritten and the loss was accepted, only theirs is a parent: commits of ours that were
    never shared are carried over, as if they had been made on top of what is lost."""
    gone = rewritten.lost_commit(ws, ours, theirs)
    if gone is None:
        return _Merger(ws, ours, theirs).run(message, [ours, theirs])
    if not rewritten.is_accepted(ws, gone):
        raise Conflict(rewritten.message(ws))
    stand_in = commits.commit_tree(ws, f"{theirs}^{{tree}}", [gone], "The other side, as if it followed what is lost")
    return _Merger(ws, ours, stand_in).run("Carry over what was not shared before history was rewritten", [theirs])


@dataclass(slots=True)
class _Merger:
    ws: Workspace
    ours: str
    theirs: str
    bases: list[str] = field(default_factory=list)
    mine: dict[str, Change] = field(default_factory=dict)
    yours: dict[str, Change] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    updated: dict[str, str] = field(default_factory=dict)
    """Our texts with updated mentions of renumbered items, by path."""
    repaired: list[str] = field(default_factory=list)
    """Notes about conflict markers of their side."""
    too_large: dict[str, str] = field(default_factory=dict)
    """Protocol files beyond the limits of a merge by entry, with the reason: git merges them as any other file."""
    side: str = ""
    """Our commit, or one like it with the updated texts."""

    def run(self, message: str, parents: Sequence[str]) -> Integration:
        self._compare()
        shared = [path for path in self.mine if self._is_merged_by_entry(path)]
        self._load(shared)
        first = self._merged_within_limits(INBOX) if INBOX in shared else None
        renumbered = first.renumbered if first else ()
        if renumbered:
            self._update_ours(renumbered)
        self.side = self._updated_commit()
        by_entry = {path: merged for path in shared if (merged := self._merged_within_limits(path))}
        tree, conflicts, renamed = self._merge_tree(set(by_entry))
        conflicts += [self._entry_conflict(path) for path, merged in by_entry.items() if merged.conflicts]
        entries = dict.fromkeys(renamed) | {path: self._entry(path, merged) for path, merged in by_entry.items()}
        decided = decisions_for(self.ws, conflicts)
        undecided = tuple(conflict for conflict in conflicts if conflict.path not in decided)
        notes = [note for merged in (first, *by_entry.values()) if merged for note in merged.notes]
        notes += [*self.repaired, *(f"{reason}. Git merged it by line" for reason in self.too_large.values())]
        commit = None
        if not undecided:
            whole = objects.with_entries(self.ws, tree, entries | decided)
            commit = commits.commit_tree(self.ws, whole, parents, message)
        only_updated = frozenset(self.updated) - self.yours.keys()
        base = self.bases[0] if self.bases else None
        return Integration(commit, undecided, renumbered, tuple(dict.fromkeys(notes)), base, only_updated)

    # -- what each side changed -------------------------------------------------------------------
    def _compare(self) -> None:
        # Several bases: each side has merged the other before. None: unrelated histories.
        self.bases = self.ws.git.run("merge-base", "--all", self.ours, self.theirs, ok=(0, 1)).text.split()[:MAX_BASES]
        base = self.bases[0] if self.bases else EMPTY_TREE
        self.mine = changes(self.ws, base, self.ours)
        self.yours = changes(self.ws, base, self.theirs)

    def _is_merged_by_entry(self, path: str) -> bool:
        """True if this is a protocol file that both sides changed, and a plain file on both."""
        if path not in self.yours or not merge.is_protocol(path):
            return False
        mine, yours = self.mine[path], self.yours[path]
        entries = (mine.before, mine.after, yours.after)
        return mine.after != yours.after and all(entry is None or entry.is_file for entry in entries)

    def _load(self, shared: Sequence[str]) -> None:
        sides = [change for path in shared for change in (self.mine[path], self.yours[path])]
        entries = [entry for change in sides for entry in (change.before, change.after) if entry is not None]
        other_bases = [f"{base}:{path}" for base in self.bases[1:] for path in shared]
        self.texts |= objects.texts(self.ws, [*(entry.sha for entry in entries), *other_bases])

    def _text(self, entry: Entry | None) -> str | None:
        return None if entry is None else self.texts.get(entry.sha)

    # -- protocol files ---------------------------------------------------------------------------
    def _merged_within_limits(self, path: str) -> Merged | None:
        if path in self.too_large:
            return None
        try:
            return self._merged(path)
        except TooLarge as error:
            self.too_large[path] = error.message
            return None

    def _merged(self, path: str) -> Merged:
        mine = self.updated.get(path, self._text(self.mine[path].after))
        theirs = self._text(self.yours[path].after)
        if theirs and first_conflict(theirs):  # published with plain git: its entries would be merged with the markers
            theirs = undamaged(path, theirs)
            self.repaired.append(f"{path}: the versions between published git conflict markers were merged by entry")
        pushed = merge.pushed_ids(path, theirs)
        return merge.merge_file(path, self._base(path, pushed), mine, theirs, pushed)

    def _base(self, path: str, pushed: Mapping[str, str]) -> str | None:
        """The common version; with several bases, one with the entries of all of them."""
        base = self._text(self.mine[path].before)
        for other in self.bases[1:]:
            base = merge.merge_file(path, None, base, self.texts.get(f"{other}:{path}"), pushed).text
        return base

    def _entry(self, path: str, merged: Merged) -> Entry | None:
        if merged.text is None:
            return None
        mode = (self.yours[path].after or self.mine[path].after or Entry("100644", "")).mode
        return Entry(mode, objects.write_text(self.ws, merged.text))

    def _update_ours(self, renumbered: Sequence[Renumbered]) -> None:
        """Update mentions of renumbered items in our unshared texts."""
        plain = [path for path, change in self.mine.items() if change.after is not None and change.after.is_file]
        paths = [path for path in plain if path != INBOX]  # merging updates the inbox itself
        changed = [self.mine[path] for path in self._mentioning(paths)]
        self.texts |= objects.texts(
            self.ws, [entry.sha for change in changed for entry in (change.before, change.after) if entry is not None]
        )
        for change in changed:
            mine = self._text(change.after) or ""
            text = update_mentions(mine, self._text(change.before), renumbered)
            if text != mine:
                self.updated[change.path] = text

    def _mentioning(self, paths: Sequence[str]) -> Iterator[str]:
        """The text files among ``paths`` that mention any item. Git would try thousands of ids one after the other."""
        for i in range(0, len(paths), PATHS_PER_COMMAND):
            some = paths[i : i + PATHS_PER_COMMAND]
            found = self.ws.git.run("grep", "-I", "-l", "-z", "-E", "-e", MENTION, self.ours, "--", *some, ok=(0, 1))
            yield from (name.removeprefix(f"{self.ours}:") for name in found.fields)

    def _updated_commit(self) -> str:
        if not self.updated:
            return self.ours
        entries = {
            path: Entry(change.after.mode, objects.write_text(self.ws, text))
            for path, text in self.updated.items()
            if (change := self.mine[path]).after is not None
        }
        tree = objects.with_entries(self.ws, f"{self.ours}^{{tree}}", entries)
        return commits.commit_tree(self.ws, tree, [self.ours], "Our side, with the new numbers")

    # -- other files ------------------------------------------------------------------------------
    def _merge_tree(self, shared: set[str]) -> tuple[str, list[FileConflict], list[str]]:
        """Git's merge: its tree, the conflicts in it, and the names (``path~commit``) under which it put files that
        are in the way of a folder."""
        result = self.ws.git.run(
            "merge-tree", "--write-tree", "-z", "--allow-unrelated-histories", self.side, self.theirs, ok=(0, 1),
            config={"merge.directoryRenames": "false", "merge.conflictStyle": "merge"} | self._driver(shared),
        )  # fmt: skip
        tree, *fields = result.fields
        if result.code == 0:
            return tree, [], []
        found, kinds = _parse_conflicts(fields)
        renamed = [path for path in found if "~" in path and path.rpartition("~")[2][:40] in (self.side, self.theirs)]
        paths = dict.fromkeys(path.rpartition("~")[0] if path in renamed else path for path in found)
        attempts = _entries_at(self.ws, tree, paths)
        conflicts = [
            self._conflict(path, kinds.get(path, "contents"), attempts.get(path))
            for path in paths
            if path not in shared
        ]
        return tree, conflicts, renamed

    def _driver(self, shared: set[str]) -> dict[str, str]:
        """Our commands have a merge driver that does nothing, because its result is replaced. For files that are merged
        by line it would drop their side: these are too large, or have a name that only looks like a protocol file."""
        both = (path for path in self.mine if path in self.yours and path not in shared)
        named = any(fnmatchcase(path, pattern) for path in both for pattern in driver.PROTOCOL_FILES)
        return {driver.KEY: driver.FALLBACK} if named else {}

    def _entry_conflict(self, path: str) -> FileConflict:
        conflict = self._conflict(path, BY_ENTRY, None)
        base = self._base(path, merge.pushed_ids(path, self._text(self.yours[path].after)))
        if base is None or len(self.bases) == 1:
            return conflict
        return replace(conflict, base=Entry("100644", objects.write_text(self.ws, base)))

    def _conflict(self, path: str, kind: str, attempt: Entry | None) -> FileConflict:
        base, ours, theirs = (
            _entries_at(self.ws, side, [path]).get(path) if side else None
            for side in (next(iter(self.bases), None), self.side, self.theirs)
        )
        return FileConflict(path, kind, base, ours, theirs, attempt)


def _parse_conflicts(fields: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The output of ``merge-tree`` after the tree: the paths in conflict, and the kind of conflict by path."""
    end = fields.index("") if "" in fields else len(fields)
    paths = list(dict.fromkeys(row.partition("\t")[2] for row in fields[:end]))
    kinds: dict[str, str] = {}
    rest = iter(fields[end + 1 :])
    for count in rest:
        about = [next(rest) for _ in range(int(count))]
        kind, _ = next(rest), next(rest)
        if kind.startswith("CONFLICT"):
            kinds |= dict.fromkeys(about, kind.removeprefix("CONFLICT (").removesuffix(")"))
    return paths, kinds


def _entries_at(ws: Workspace, tree: str, paths: Sequence[str] | Mapping[str, object]) -> dict[str, Entry]:
    """The entries of a commit or tree at these paths, which may be files or folders."""
    found = {}
    for row in ws.git.run("ls-tree", "-z", "--full-tree", tree, "--", *paths).fields:
        about, _, path = row.partition("\t")
        mode, _, sha = about.split(" ")
        found[path] = Entry(mode.lstrip("0"), sha)
    return found


# -- decisions ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Decision:
    """The result for one file if exactly these two versions meet (``mode`` and ``sha`` None: no file)."""

    ours: str | None
    theirs: str | None
    mode: str | None
    sha: str | None


DECISIONS: Final = StateFile("decided.json", dict[str, Decision])
"""By path, for the next integration; removed when that has succeeded."""


def decisions_for(ws: Workspace, conflicts: Sequence[FileConflict]) -> dict[str, Entry | None]:
    """The decisions that apply to these conflicts, by path. A file that has changed since then needs a new one."""
    if not conflicts:
        return {}
    known = DECISIONS.read(ws) or {}
    found: dict[str, Entry | None] = {}
    for conflict in conflicts:
        decision = known.get(_key(conflict.path))
        if decision is None or (decision.ours, decision.theirs) != _versions(conflict):
            continue
        found[conflict.path] = Entry(decision.mode, decision.sha) if decision.mode and decision.sha else None
    existing = objects.read(ws, [entry.sha for entry in found.values() if entry])
    return {path: entry for path, entry in found.items() if entry is None or entry.sha in existing}


def save_decisions(ws: Workspace, decided: Sequence[tuple[FileConflict, Entry | None]]) -> None:
    """Keep decisions for the next integration."""
    known = DECISIONS.read(ws) or {}
    for conflict, entry in decided:
        result = (entry.mode, entry.sha) if entry else (None, None)
        known[_key(conflict.path)] = Decision(*_versions(conflict), *result)
    DECISIONS.write(ws, known)


def _key(path: str) -> str:
    """A path as a JSON key, which cannot contain bytes that are not UTF-8."""
    return os.fsencode(path).hex()


def _versions(conflict: FileConflict) -> tuple[str | None, str | None]:
    return conflict.ours.sha if conflict.ours else None, conflict.theirs.sha if conflict.theirs else None
