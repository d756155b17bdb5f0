"""Finding and restoring published entries that are lost, by the history of the protocol files."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

from cohabit.errors import UnknownAsset
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import facts, objects, plain_git, refs
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import ARCHIVE_FOLDER, Block, Journal
from cohabit.workspace.limits import MAX_FILE_BYTES
from cohabit.workspace.merging.losses import Loss, keeps, losses, missing_entries, same_names
from cohabit.workspace.merging.merge import is_protocol

MAX_COMMITS: Final = 200
"""Commits that changed journal or inbox and are examined, newest first."""
FILES: Final = (JOURNAL, INBOX, ARCHIVE_FOLDER)
ADDING: Final = "adding-1"
"""Facts: the path, and the blobs before and after a change that keeps every entry."""
BATCH: Final = 8
"""Changes whose versions are in memory at the same time."""


class FileChange(NamedTuple):
    """A change of a protocol file in a commit: the blobs before and after it; zeros for no file."""

    path: str
    old: str
    new: str

    @property
    def fact(self) -> str:
        """With the path: what keeps every entry of a journal may remove items of the inbox."""
        return f"{self.path} {self.old} {self.new}"


def lost(ws: Clone, since: str | None = None, head: str | None = None) -> list[Loss]:
    """The losses of a commit (default: the last one) against earlier ones. Both parents of a merge count: a merge may
    have kept only one."""
    head = head or refs.head(ws)
    if head is None:
        return []
    changes = _removing(ws, _changes(ws, since, head))
    if not changes:
        return []
    after = _protocol_texts(ws, head)
    before = _versions(ws, changes[::-1])
    for path, text in after.items():  # entries that are still there may be what an edited one is recognized by
        before.setdefault(path, []).append(text)
    return losses({path: list(dict.fromkeys(versions)) for path, versions in before.items()}, after)


def _versions(ws: Clone, changes: Sequence[FileChange]) -> dict[str, list[str]]:
    """The texts before and after these changes by path. Of journals each block is there alone, and with those that had
    the same heading: hundreds of versions of a large one may not fit into memory."""
    found: dict[str, dict[str, None]] = {}
    for i in range(0, len(changes), BATCH):
        some = changes[i : i + BATCH]
        data = objects.read(ws, [sha for change in some for sha in (change.old, change.new) if sha.strip("0")])
        for path, sha in [(change.path, sha) for change in some for sha in (change.old, change.new) if sha in data]:
            text = objects.text_of(data[sha])
            texts = [text] if path == INBOX else [*Journal(text).pieces[1:], *same_names(text)]
            found.setdefault(path, {}).update(dict.fromkeys(texts))
    return {path: list(versions) for path, versions in found.items()}


# -- versions -------------------------------------------------------------------------------------
def _changes(ws: Clone, since: str | None, head: str) -> list[FileChange]:
    """The changes of journal, archive and inbox, newest first."""
    span = [f"^{since}", head] if since else [head]
    options = ("--raw", "--no-abbrev", "--no-renames", "-m", "--full-history", "-z", "--format=", f"-n{MAX_COMMITS}")
    fields = iter(ws.git.run("log", *options, *span, "--", *FILES).fields)
    found = []
    for field in fields:
        if field.lstrip("\n").startswith(":"):
            _, _, old, new, _ = field.lstrip("\n").split(" ")
            found.append(FileChange(next(fields), old, new))
    return [change for change in found if is_protocol(change.path)]


def _removing(ws: Clone, changes: Sequence[FileChange]) -> list[FileChange]:
    """The changes that may have removed or edited something. Nearly all only add to a file. Nothing can be lost in
    those, so they need not be looked at again: what is gone now was removed by one of the others."""
    known = facts.known(ws, ADDING)
    asked = [change for change in dict.fromkeys(changes) if change.old.strip("0") and change.fact not in known]
    adding = set[FileChange]()
    for i in range(0, len(asked), BATCH):  # many at once are quicker for git, all at once may not fit into memory
        some = asked[i : i + BATCH]
        texts = objects.read(ws, [sha for change in some for sha in (change.old, change.new) if sha.strip("0")])
        here = {change for change in some if change.old in texts and change.new in texts}
        adding |= {
            change
            for change in here
            if keeps(change.path, objects.text_of(texts[change.old]), objects.text_of(texts[change.new]))
        }
    if adding:
        facts.add(ws, ADDING, [change.fact for change in asked if change in adding])
    return [change for change in asked if change not in adding]


def lost_between(ws: Clone, before: dict[str, str], after: dict[str, str], head: str) -> list[Loss]:
    """The losses of journal and inbox of the commit ``head`` against earlier texts."""
    before = {path: text for path, text in before.items() if not keeps(path, text, after.get(path, ""))}
    if not before:
        return []
    if missing_entries(before.get(JOURNAL, ""), after.get(JOURNAL, "")):
        after = _protocol_texts(ws, head) | after
    found = losses({path: [text] for path, text in before.items()}, after)
    if all(loss.kind == "vanished" for loss in found):
        return found
    real = {loss.key: loss for loss in lost(ws, head=head)}  # an edit may have restored what was there first
    return [real.get(loss.key, loss) for loss in found if loss.key in real or loss.kind == "vanished"]


def _protocol_texts(ws: Clone, commit: str) -> dict[str, str]:
    """The texts of journal, archive and inbox in a commit."""
    listed = ws.git.run("ls-tree", "-r", "-z", "--full-tree", "--name-only", commit, "--", *FILES).fields
    found = objects.texts(ws, [f"{commit}:{path}" for path in listed if is_protocol(path)])
    return {name.partition(":")[2]: text for name, text in found.items()}


# -- restoring ------------------------------------------------------------------------------------
def restore(ws: Clone, id_: Annotated[str, "id of the lost entry or item, as in health or whats_new"]) -> Answer:
    """Restore a published entry or item that vanished or was edited. Then add, commit and push."""
    plain_git.refuse_rebase(ws.root)
    found = next((loss for loss in lost(ws) if id_ in (loss.key, getattr(loss.was, "id", loss.key))), None)
    if found is None:
        raise UnknownAsset(f"{id_[:80]} is not lost; health lists what is")
    text = ws.tree.text(found.path) or ""
    if isinstance(found.was, Item):
        inbox = Inbox.parse(text).restore(found.was)
        after, new = inbox.text, [item.text for item in inbox.items if item.key == found.key]
    else:
        after, new = _with_entry(Journal.parse(text), found.was, found.kind), [found.was.own]
    facts.remember(ws, (each.replace("\r\n", "\n") for each in new))
    ws.tree.write(found.path, objects.bytes_of(after), max_bytes=MAX_FILE_BYTES)
    return {"restored": found.key, "path": found.path, "what": found.what}


def _with_entry(journal: Journal, lost_block: Block, kind: Literal["vanished", "edited"]) -> str:
    """The journal with an entry in the place of its edited version, or else by its time."""
    pieces, blocks = [*journal.pieces], journal.blocks
    same = _edited(blocks, lost_block) if kind == "edited" else None
    if same is not None:
        pieces[1 + same] = lost_block.own + blocks[same].below
        return "".join(pieces)
    at = next((i for i, block in enumerate(blocks) if block.time > lost_block.time), len(blocks))
    return journal.insert(at, lost_block.own)


def _edited(blocks: Sequence[Block], lost_block: Block) -> int | None:
    found = [i for i, block in enumerate(blocks) if block.key == lost_block.key]
    if not found:
        found = [i for i, block in enumerate(blocks) if not block.uid and block.heading == lost_block.heading]
    return found[0] if len(found) == 1 else None
