"""Bringing together what two sides committed, without touching a file: the result is a commit.

Git merges file by file (``merge-tree``). The protocol files are then merged again by entry, also where git thought
that line by line was good enough. Where two items had got the same number, ours gets another one, and our own text
that nobody has seen yet speaks of the new one. What truly conflicts is told, never guessed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from cohabit.errors import Conflict
from cohabit.workspace.clone import commits, objects
from cohabit.workspace.clone.deltas import EMPTY_TREE, Change, changes
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.formats.paths import INBOX
from cohabit.workspace.merging import merge
from cohabit.workspace.merging.mend import mend
from cohabit.workspace.merging.merge import Merged, Renumbered
from cohabit.workspace.sharing import decided, rewritten

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

ENTRIES: Final = "entries"
"""The kind of clash in a file that is merged by entry."""
PATHS_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Clash:
    """A file in which both sides cannot be right: what each has of it, and git's attempt with markers."""

    path: str
    kind: str
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    attempt: Entry | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Two sides brought together: a commit, or the clashes that stand in its way."""

    commit: str | None
    clashes: tuple[Clash, ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    notes: tuple[str, ...] = ()
    base: str | None = None
    mended: frozenset[str] = frozenset()
    """Files that changed only because they speak of an item that was renumbered."""


def apart(ws: "Workspace", ours: str | None, theirs: str | None) -> tuple[int, int]:
    """How many commits each side has that the other has not: ours, theirs."""
    if ours == theirs:
        return 0, 0
    if ours is None or theirs is None:
        count = int(ws.git.run("rev-list", "--count", str(ours or theirs)).line)
        return (count, 0) if theirs is None else (0, count)
    left, right = ws.git.run("rev-list", "--left-right", "--count", f"{ours}...{theirs}").line.split()
    return int(left), int(right)


def join(ws: "Workspace", ours: str, theirs: str, message: str) -> Joined:
    """A commit with both as parents. Neither side contains the other.

    Where the remote's history was rewritten and what is lost was let go, it has theirs alone as parent: what is in
    ours and was never shared is carried over, as if it had been begun where the lost commits ended."""
    gone = rewritten.lost(ws, ours, theirs)
    if gone is None:
        return _Joining(ws, ours, theirs).join(message, [ours, theirs])
    if not rewritten.is_let_go(ws, gone):
        raise Conflict(rewritten.told(ws))
    stand_in = commits.commit_tree(ws, f"{theirs}^{{tree}}", [gone], "The other side, as if it followed what is lost")
    return _Joining(ws, ours, stand_in).join("Carry over what was not shared before history was rewritten", [theirs])


@dataclass(slots=True)
class _Joining:
    ws: "Workspace"
    ours: str
    theirs: str
    bases: list[str] = field(default_factory=list)
    mine: dict[str, Change] = field(default_factory=dict)
    yours: dict[str, Change] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    mended: dict[str, str] = field(default_factory=dict)
    """Our texts, by path, that speak of renumbered items."""
    side: str = ""
    """Our commit, or one like it with those texts."""

    def join(self, message: str, parents: Sequence[str]) -> Joined:
        self._compare()
        shared = [path for path in self.mine if self._is_ours_to_merge(path)]
        self._load(shared)
        first = self._merged(INBOX) if INBOX in shared else None
        renumbered = first.renumbered if first else ()
        if renumbered:
            self._mend_ours(renumbered)
        self.side = self._ours_mended()
        by_entry = {path: self._merged(path) for path in shared}
        tree, clashes, odd = self._merge_tree(set(shared))
        clashes += [self._clash_of_entries(path) for path, merged in by_entry.items() if merged.conflicts]
        entries = dict.fromkeys(odd) | {path: self._entry(path, merged) for path, merged in by_entry.items()}
        verdicts = decided.apply(self.ws, clashes)
        open_clashes = tuple(clash for clash in clashes if clash.path not in verdicts)
        notes = tuple(note for merged in (first, *by_entry.values()) if merged for note in merged.notes)
        commit = None
        if not open_clashes:
            whole = objects.with_entries(self.ws, tree, entries | verdicts)
            commit = commits.commit_tree(self.ws, whole, parents, message)
        only_mended = frozenset(self.mended) - self.yours.keys()
        base = self.bases[0] if self.bases else None
        return Joined(commit, open_clashes, renumbered, tuple(dict.fromkeys(notes)), base, only_mended)

    # -- what each side did -----------------------------------------------------------------------
    def _compare(self) -> None:
        # More than one: each side merged the other before, crosswise. None: they never had anything in common.
        self.bases = self.ws.git.run("merge-base", "--all", self.ours, self.theirs, ok=(0, 1)).text.split()
        base = self.bases[0] if self.bases else EMPTY_TREE
        self.mine = changes(self.ws, base, self.ours)
        self.yours = changes(self.ws, base, self.theirs)

    def _is_ours_to_merge(self, path: str) -> bool:
        """A protocol file that both sides changed, and that is plain text on both."""
        if path not in self.yours or not merge.is_protocol(path):
            return False
        mine, yours = self.mine[path], self.yours[path]
        entries = (mine.before, mine.after, yours.after)
        return mine.after != yours.after and all(entry is None or entry.is_file for entry in entries)

    def _load(self, shared: Sequence[str]) -> None:
        sides = [change for path in shared for change in (self.mine[path], self.yours[path])]
        entries = [entry for change in sides for entry in (change.before, change.after) if entry is not None]
        crosswise = [f"{base}:{path}" for base in self.bases[1:] for path in shared]
        self.texts |= objects.texts(self.ws, [*(entry.sha for entry in entries), *crosswise])

    def _text(self, entry: Entry | None) -> str | None:
        return None if entry is None else self.texts.get(entry.sha)

    # -- the protocol files -----------------------------------------------------------------------
    def _merged(self, path: str) -> Merged:
        mine = self.mended.get(path, self._text(self.mine[path].after))
        theirs = self._text(self.yours[path].after)
        pushed = merge.pushed_in(path, theirs)
        return merge.merge_file(path, self._base(path, pushed), mine, theirs, pushed)

    def _base(self, path: str, pushed: Mapping[str, str]) -> str | None:
        """The last text that both sides had; of several, all their entries."""
        base = self._text(self.mine[path].before)
        for other in self.bases[1:]:
            base = merge.merge_file(path, None, base, self.texts.get(f"{other}:{path}"), pushed).text
        return base

    def _entry(self, path: str, merged: Merged) -> Entry | None:
        if merged.text is None:
            return None
        mode = (self.yours[path].after or self.mine[path].after or Entry("100644", "")).mode
        return Entry(mode, objects.write_text(self.ws, merged.text))

    def _mend_ours(self, renumbered: Sequence[Renumbered]) -> None:
        """What we committed and nobody has seen yet speaks of the new numbers from now on."""
        plain = [path for path, change in self.mine.items() if change.after is not None and change.after.is_file]
        paths = [path for path in plain if path != INBOX]  # merging has mended that one
        found = list(self._speaking(paths, [one.old for one in renumbered]))
        changed = [self.mine[path] for path in found]
        self.texts |= objects.texts(
            self.ws, [entry.sha for change in changed for entry in (change.before, change.after) if entry is not None]
        )
        for change in changed:
            mine = self._text(change.after) or ""
            text = mend(mine, self._text(change.before), renumbered)
            if text != mine:
                self.mended[change.path] = text

    def _speaking(self, paths: Sequence[str], ids: Sequence[str]) -> Iterator[str]:
        """The text files among ``paths`` that have one of the ids in them."""
        words = [arg for one in dict.fromkeys(ids) for arg in ("-e", one)]
        for i in range(0, len(paths), PATHS_AT_ONCE):
            some = paths[i : i + PATHS_AT_ONCE]
            found = self.ws.git.run("grep", "-I", "-l", "-z", "-F", *words, self.ours, "--", *some, ok=(0, 1))
            yield from (name.removeprefix(f"{self.ours}:") for name in found.fields)

    # -- all the other files ----------------------------------------------------------------------
    def _merge_tree(self, shared: set[str]) -> tuple[str, list[Clash], list[str]]:
        """Git's merge: its tree, what clashes in it, and the odd names it gave to files that had to make room."""
        done = self.ws.git.run(
            "merge-tree", "--write-tree", "-z", "--allow-unrelated-histories", self.side, self.theirs, ok=(0, 1),
            config={"merge.directoryRenames": "false", "merge.conflictStyle": "merge"},
        )  # fmt: skip
        tree, *fields = done.fields
        if done.code == 0:
            return tree, [], []
        stages, kinds = _told(fields)
        odd = [path for path in stages if "~" in path and path.rpartition("~")[2][:40] in (self.side, self.theirs)]
        paths = dict.fromkeys(_plain(path, odd) for path in stages)
        attempts = _listed(self.ws, tree, paths)
        clashes = [
            self._clash(path, kinds.get(path, "contents"), attempts.get(path)) for path in paths if path not in shared
        ]
        return tree, clashes, odd

    def _ours_mended(self) -> str:
        if not self.mended:
            return self.ours
        entries = {
            path: Entry(change.after.mode, objects.write_text(self.ws, text))
            for path, text in self.mended.items()
            if (change := self.mine[path]).after is not None
        }
        tree = objects.with_entries(self.ws, f"{self.ours}^{{tree}}", entries)
        return commits.commit_tree(self.ws, tree, [self.ours], "Our side, with the new numbers")

    def _clash_of_entries(self, path: str) -> Clash:
        clash = self._clash(path, ENTRIES, None)
        base = self._base(path, merge.pushed_in(path, self._text(self.yours[path].after)))
        if base is None or len(self.bases) == 1:
            return clash
        return replace(clash, base=Entry("100644", objects.write_text(self.ws, base)))

    def _clash(self, path: str, kind: str, attempt: Entry | None) -> Clash:
        base, ours, theirs = (
            _listed(self.ws, side, [path]).get(path) if side else None
            for side in (next(iter(self.bases), None), self.side, self.theirs)
        )
        return Clash(path, kind, base, ours, theirs, attempt)


def _told(fields: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What ``merge-tree`` says after the tree: the clashing paths, and the kind of clash by path."""
    end = fields.index("") if "" in fields else len(fields)
    stages = dict.fromkeys((row.partition("\t")[2] for row in fields[:end]), "")
    kinds: dict[str, str] = {}
    rest = iter(fields[end + 1 :])
    for count in rest:
        paths = [next(rest) for _ in range(int(count))]
        kind, _ = next(rest), next(rest)
        if kind.startswith("CONFLICT"):
            kinds |= dict.fromkeys(paths, kind.removeprefix("CONFLICT (").removesuffix(")"))
    return stages, kinds


def _plain(path: str, odd: Sequence[str]) -> str:
    return path.rpartition("~")[0] if path in odd else path


def _listed(ws: "Workspace", tree: str, paths: Sequence[str] | Mapping[str, object]) -> dict[str, Entry]:
    """What a commit or tree has at the paths: files or whole folders."""
    found = {}
    for row in ws.git.run("ls-tree", "-z", "--full-tree", tree, "--", *paths).fields:
        about, _, path = row.partition("\t")
        mode, _, sha = about.split(" ")
        found[path] = Entry(mode.lstrip("0"), sha)
    return found
