"""The board at a glance, for whoever only looks: the journal's end, the inbox and the files of a clone."""

from collections.abc import Container, Iterable
from typing import Final

from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import objects, refs
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Block, Journal
from cohabit.workspace.formats.paths import INBOX, JOURNAL
from cohabit.workspace.limits import JOURNAL_TAIL, LONGEST_TITLE, MOST_READ, MOST_TODOS
from cohabit.workspace.workspace import Workspace

FOLDERS: Final = ("drafts", "research", "comments", "decisions", "assets")
"""In the order in which a reader wants them."""
MOST_OPEN, MOST_CLOSED = 100, 30
MOST_FILES: Final = 300
"""Of one folder."""
MOST_FOLDERS: Final = 10
"""Beside those of the protocol."""
LONGEST: Final = 2_000
"""Characters of a body or of details; the file has all of it."""
LONGEST_NAME: Final = 100
"""Characters of an id, a target, an agent's name: plain git lets anybody write any."""
LATEST: Final = 5
MOST_NEW: Final = 10
"""Of new entries, of new items and of closings, in a glance."""
LONGEST_LINE: Final = 300


def overview(ws: Workspace) -> Answer:
    """Everything a page of the board needs."""
    journal, inbox = _journal(ws), _inbox(ws)
    opened = [item for item in inbox if item.open]
    closed = [item for item in inbox if item.closings]
    tail = reversed(journal.tail(JOURNAL_TAIL))
    folders, truncated = _folders(ws)
    return {
        "name": ws.name,
        "head": refs.head(ws) or "",
        "journal": fitting([_entry(block) for block in tail]),
        "entries": len(journal.entries),
        "open": fitting([_item(item) for item in reversed(opened[-MOST_OPEN:])]),
        "open_count": len(opened),
        "closed": fitting([_item(item) for item in reversed(closed[-MOST_CLOSED:])]),
        "closed_count": len(closed),
        "folders": folders,
        "truncated": truncated,
    }


def glance(ws: Workspace, here: Container[str], since: str = "") -> Answer:
    """How much there is, the end of the journal, and what is new since a commit (nothing, where that is not known):
    ``journal`` and ``inbox`` have the newest of it, ``more`` counts the rest. ``here`` has the agents that work in the
    room."""

    def line(by: str, words: str) -> Answer:
        return {"by": _name(by), "summary": _cut(" ".join(words.split()), LONGEST_LINE), "here": by in here}

    def entries(blocks: Iterable[Block]) -> list[Answer]:
        return [line(entry.agent_id, entry.summary) for block in blocks if (entry := block.entry) is not None]

    journal, inbox = _journal(ws), _inbox(ws)
    written, added, done = list[Block](), list[Item](), list[Item]()
    before = objects.texts(ws, [since, f"{since}:{JOURNAL}", f"{since}:{INBOX}"]) if since else {}
    if since in before:
        entries_then = {block.key for block in Journal.parse(before.get(f"{since}:{JOURNAL}", "")).entries}
        items_then = {(item.key, item.open) for item in Inbox.parse(before.get(f"{since}:{INBOX}", "")).items}
        fresh = [item for item in inbox if (item.key, item.open) not in items_then]
        written = [block for block in journal.entries if block.key not in entries_then]
        added, done = [item for item in fresh if item.open], [item for item in fresh if item.closing]
    return {
        "head": refs.head(ws) or "",
        "open": sum(item.open for item in inbox),
        "entries": len(journal.entries),
        "latest": entries(journal.tail(LATEST)),
        "journal": entries(written[-MOST_NEW:]),
        "inbox": [
            *(
                line(item.added_by, f"{_name(item.id)} for @{_name(item.target or 'anyone')}: {item.title}")
                for item in added[-MOST_NEW:]
            ),
            *(
                line(item.closing.by, f"closed {_name(item.id)}: {item.closing.resolution}")
                for item in done[-MOST_NEW:]
                if item.closing is not None
            ),
        ],
        "more": sum(max(0, len(new) - MOST_NEW) for new in (written, added, done)),
    }


def _journal(ws: Workspace) -> Journal:
    return Journal.parse(ws.tree.text(JOURNAL) or "")


def _inbox(ws: Workspace) -> list[Item]:
    return [item for item in Inbox.parse(ws.tree.text(INBOX) or "").items if item.id]


def _entry(block: Block) -> Answer:
    entry = block.entry
    assert entry is not None  # the tail has entries only
    shown = {
        "at": entry.at,
        "agent_id": _name(entry.agent_id),
        "agent_name": _name(entry.agent_name),
        "summary": _cut(entry.summary),
        "details": _cut(entry.details),
        "todos": [
            {"for": _name(todo.target), "text": _cut(todo.text, LONGEST_TITLE)} for todo in entry.todos[:MOST_TODOS]
        ],
    }
    left_out = len(entry.todos) - MOST_TODOS
    return shown | ({"more_todos": left_out} if left_out > 0 else {})


def _item(item: Item) -> Answer:
    shown = {
        "id": _name(item.id),
        "target": _name(item.target),
        "title": _cut(item.title),
        "body": _cut(item.body),
        "added_at": item.added_at,
        "added_by": _name(item.added_by),
        "claimed_by": _name(item.claimed_by),
    }
    if item.closing is None:
        return shown
    return {
        **shown,
        "closed_at": item.closing.at,
        "closed_by": _name(item.closing.by),
        "resolution": _cut(item.closing.resolution),
    }


def _folders(ws: Workspace) -> tuple[list[Answer], bool]:
    """The files of the last commit by folder, as many of each as fit, and whether there are others."""
    if refs.head(ws) is None:
        return [], False
    found: dict[str, list[Answer]] = {}
    for field in ws.git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD").fields:
        about, _, path = field.partition("\t")
        mode, _, _, size = about.split()
        top, slash, _ = path.partition("/")
        if not mode.startswith("100") or top.startswith(".") or path.endswith(".gitkeep"):
            continue
        found.setdefault(top if slash else "", []).append({"path": _plain(path), "size": int(size)})
    others = sorted(set(found) - {*FOLDERS, ""})
    order = [*FOLDERS, *others[:MOST_FOLDERS], ""]
    shown = [_folder(name, found[name]) for name in order if name in found]
    return shown, sum(map(len, found.values())) > sum(len(folder["files"]) for folder in shown)


def _folder(name: str, files: list[Answer]) -> Answer:
    first = sorted(files, key=lambda file: file["path"] not in (JOURNAL, INBOX))  # the way to all that is cut above
    return {"name": _plain(name), "files": fitting(first[:MOST_FILES], MOST_READ // 4), "count": len(files)}


def fitting(found: list[Answer], most: int = MOST_READ) -> list[Answer]:
    """As many from the start as ``most`` characters hold, and at least one."""
    used, fits = 0, list[Answer]()
    for each in found:
        used += sum(len(str(value)) for value in each.values())
        if fits and used > most:
            break
        fits.append(each)
    return fits


def _name(text: str) -> str:
    return _cut(text, LONGEST_NAME)


def _cut(text: str, most: int = LONGEST) -> str:
    text = _plain(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _plain(text: str) -> str:
    """Bytes that are no UTF-8 shown as such: every answer can be written as JSON."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
