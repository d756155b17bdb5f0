"""The board: journal, inbox and files of a clone, cut to fit an answer.

``overview`` and ``glance`` are for members of a house who do not work in the clone; the rest is for one agent.
"""

from collections.abc import Callable, Collection, Container, Iterable
from typing import Any, Final

from cohabit.errors import BadArgs
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import objects, refs
from cohabit.workspace.clone.protocol_files import text_here
from cohabit.workspace.formats import INBOX, JOURNAL, fields
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Block, Entry, Journal
from cohabit.workspace.formats.text import clip
from cohabit.workspace.limits import JOURNAL_TAIL, MAX_READ_BYTES, MAX_TITLE_CHARS, MAX_TODOS
from cohabit.workspace.merging.merge import entry_keys
from cohabit.workspace.person.identity import SLUG
from cohabit.workspace.reading import authors
from cohabit.workspace.reading.files import readable
from cohabit.workspace.workspace import Workspace

Cut = Callable[..., str]
"""Takes a text and how many characters of it are shown, if not the usual number."""
FOLDERS: Final = ("drafts", "research", "comments", "decisions", "assets")
"""The folders of the protocol, in the order of an overview."""
MAX_OPEN, MAX_CLOSED = 100, 30
MAX_FILES: Final = 300
"""Of one folder."""
MAX_OTHER_FOLDERS: Final = 10
MAX_BODY_CHARS: Final = 2_000
"""Of a body or of details; the file has all of it."""
MAX_NAME_CHARS: Final = 100
"""Of an id, a target or an agent's name: with plain git anybody can write any."""
GLANCE_ENTRIES: Final = 5
MAX_NEW: Final = 10
"""New entries, new items and closings in a glance, each."""
MAX_GLANCE_CHARS: Final = 300
MAX_OWN_ITEMS: Final = 8
MAX_OWN_TODOS: Final = 2
MAX_MEMBERS: Final = 30


# -- the whole board ------------------------------------------------------------------------------
def overview(ws: Workspace) -> Answer:
    """The content of a page that shows the board."""
    journal, inbox = Journal.parse(ws.tree.text(JOURNAL)), Inbox.parse(ws.tree.text(INBOX))
    opened = [item for item in inbox.items if item.open][::-1]
    closed = [item for item in inbox.items if item.closings][::-1]
    tail = journal.tail(JOURNAL_TAIL)[::-1]
    folders, truncated = _folders(ws)
    entries = authors.of_entries(ws, journal, tail)
    items = authors.of_items(ws, inbox, [*opened[:MAX_OPEN], *closed[:MAX_CLOSED]])
    return {
        "name": ws.name,
        "head": refs.head(ws) or "",
        "journal": fitting([entry_row(block, _cut, MAX_TITLE_CHARS) | entries[block.key] for block in tail]),
        "entries": len(journal.entries),
        "open": fitting([_item(item) | items[item.key] for item in opened[:MAX_OPEN]]),
        "open_count": len(opened),
        "closed": fitting([_item(item) | items[item.key] for item in closed[:MAX_CLOSED]]),
        "closed_count": len(closed),
        "folders": folders,
        "truncated": truncated,
    }


def glance(ws: Workspace, here: Container[str], since: str = "") -> Answer:
    """Counts, the end of the journal, and what is new since a commit (nothing if that commit is unknown): the newest
    entries are in ``journal`` and ``inbox``, and ``more`` counts the others. ``here`` has the ids of the agents that
    work in the room."""

    journal, inbox = Journal.parse(ws.tree.text(JOURNAL)), Inbox.parse(ws.tree.text(INBOX))
    written, added, done = list[Block](), list[Item](), list[Item]()
    before = objects.texts(ws, [since, f"{since}:{JOURNAL}", f"{since}:{INBOX}"]) if since else {}
    if since in before:
        old_entries = entry_keys(JOURNAL, before.get(f"{since}:{JOURNAL}"))
        old_items = {(item.key, item.open) for item in Inbox.parse(before.get(f"{since}:{INBOX}", "")).items}
        new = [item for item in inbox.items if (item.key, item.open) not in old_items]
        written = [block for block in journal.entries if block.key not in old_entries]
        added, done = [item for item in new if item.open], [item for item in new if item.closing]
    latest = journal.tail(GLANCE_ENTRIES)
    proofs = authors.of_entries(ws, journal, {id(block): block for block in (*latest, *written[-MAX_NEW:])}.values())
    proofs |= authors.of_items(ws, inbox, [*added[-MAX_NEW:], *done[-MAX_NEW:]])

    def line(by: str, text: str, key: str) -> Answer:
        found = {"by": _name(by), "summary": _cut(" ".join(text.split()), MAX_GLANCE_CHARS), "here": by in here}
        return found | ({"verified": False} if proofs[key]["verified"] is False else {})

    def entries(blocks: Iterable[Block]) -> list[Answer]:
        return [line(entry.agent_id, entry.summary, block.key) for block in blocks if (entry := block.entry)]

    return {
        "head": refs.head(ws) or "",
        "open": sum(item.open for item in inbox.items),
        "entries": len(journal.entries),
        "latest": entries(latest),
        "journal": entries(written[-MAX_NEW:]),
        "inbox": [
            *(
                line(item.added_by, f"{_name(item.id)} for @{_name(item.target or 'anyone')}: {item.title}", item.key)
                for item in added[-MAX_NEW:]
            ),
            *(
                line(item.closing.by, f"closed {_name(item.id)}: {item.closing.resolution}", item.key)
                for item in done[-MAX_NEW:]
                if item.closing is not None
            ),
        ],
        "more": sum(max(0, len(new) - MAX_NEW) for new in (written, added, done)),
    }


def entry_row(block: Block, cut: Cut, max_todo_chars: int) -> Answer:
    """An entry as a row of an answer. ``cut`` shortens its texts."""
    entry = block.entry
    assert entry is not None  # only entries are listed
    shown = {
        "at": entry.at,
        "agent_id": cut(entry.agent_id, MAX_NAME_CHARS),
        "agent_name": cut(entry.agent_name, MAX_NAME_CHARS),
        "summary": cut(entry.summary),
        "details": cut(entry.details),
        "todos": [
            {"for": cut(todo.target, MAX_NAME_CHARS), "text": cut(todo.text, max_todo_chars)}
            for todo in entry.todos[:MAX_TODOS]
        ],
    }
    left_out = len(entry.todos) - MAX_TODOS
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
    """The files of the last commit by folder, up to a limit, and whether there are more."""
    if refs.head(ws) is None:
        return [], False
    found: dict[str, list[Answer]] = {}
    for field in ws.git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD").fields:
        about, _, path = field.partition("\t")
        mode, _, _, size = about.split()
        top, slash, _ = path.partition("/")
        if not mode.startswith("100") or top.startswith(".") or path.endswith(".gitkeep"):
            continue
        found.setdefault(top if slash else "", []).append({"path": readable(path), "size": int(size)})
    others = sorted(set(found) - {*FOLDERS, ""})
    order = [*FOLDERS, *others[:MAX_OTHER_FOLDERS], ""]
    shown = [_folder(name, found[name]) for name in order if name in found]
    return shown, sum(map(len, found.values())) > sum(len(folder["files"]) for folder in shown)


def _folder(name: str, files: list[Answer]) -> Answer:
    first = sorted(files, key=lambda file: file["path"] not in (JOURNAL, INBOX))  # they have what is cut above
    return {"name": readable(name), "files": fitting(first[:MAX_FILES], MAX_READ_BYTES // 4), "count": len(files)}


def fitting(found: list[Answer], max_chars: int = MAX_READ_BYTES) -> list[Answer]:
    """The first elements that fit into ``max_chars`` characters together, and at least one."""
    used, fits = 0, list[Answer]()
    for each in found:
        used += sum(len(str(value)) for value in each.values())
        if fits and used > max_chars:
            break
        fits.append(each)
    return fits


def _name(text: str) -> str:
    return _cut(text, MAX_NAME_CHARS)


def _cut(text: str, max_chars: int = MAX_BODY_CHARS) -> str:
    text = readable(text)
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


# -- for one agent --------------------------------------------------------------------------------
def own_items(ws: Workspace) -> tuple[list[Answer], int, int]:
    """Open items for the caller, and after them those for the agents of a person, how many there are, and how many are
    for anyone."""
    inbox = Inbox.parse(text_here(ws, INBOX))
    items = [item for item in inbox.items if item.open]
    me = ws.identity.agent_id
    mine = [item for item in items if item.is_for(me)]
    mine += [item for item in items if fields.is_for_agent_of(item.target, me)]
    anyone = sum(item.is_for_anyone for item in items)
    proofs = authors.of_items(ws, inbox, mine[:MAX_OWN_ITEMS])
    return [_short_item(item, me) | proofs[item.key] for item in mine[:MAX_OWN_ITEMS]], len(mine), anyone


def new_entries(ws: Workspace, seen: Collection[str], after: str, limit: int) -> tuple[list[Answer], int]:
    """The last journal entries by others in short, oldest first, without those with a ``seen`` key or before ``after``
    (UTC), and how many there are."""
    me, journal = ws.identity.agent_id, Journal.parse(text_here(ws, JOURNAL))
    new = [block for block in journal.entries if block.key not in seen and block.time >= after]
    others = [block for block in new if block.author != me]
    proofs = authors.of_entries(ws, journal, others[-limit:])
    shown = [short_entry(block.entry, me) | proofs[block.key] for block in others[-limit:] if block.entry]
    return shown, len(others)


def short_entry(entry: Entry, agent_id: str) -> Answer:
    """An entry in short, with the TODOs for this agent and those for anyone."""
    shown: dict[str, Any] = {"at": entry.at, "agent_id": clip(entry.agent_id), "summary": clip(entry.summary)}
    mine = [todo for todo in entry.todos if fields.is_addressed_to(todo.target, agent_id)]
    others = [todo for todo in entry.todos if todo not in mine]
    todos = mine + [todo for todo in others if fields.is_addressed_to(todo.target, fields.ANYONE)]
    if todos:
        shown["todos"] = [{"for": clip(todo.target), "text": clip(todo.text)} for todo in todos[:MAX_OWN_TODOS]]
    if len(todos) > MAX_OWN_TODOS:
        shown["more_todos"] = len(todos) - MAX_OWN_TODOS
    return shown


def members(ws: Workspace) -> list[str]:
    """The ids of agents that have visited, which are those with a pointer."""
    try:
        names = [entry.name for entry in ws.tree.entries(".pointers")]
    except (FileNotFoundError, BadArgs):
        return []
    ids = [name.removesuffix(".json") for name in names if name.endswith(".json")]
    return [id_ for id_ in ids if SLUG.fullmatch(id_)][:MAX_MEMBERS]


def unknown_targets(ws: Workspace, targets: Iterable[str]) -> str:
    """A warning if nobody on this board has one of these ids, so that a mistyped one is noticed; "" otherwise."""
    known = {fields.ANYONE, ws.identity.agent_id, *members(ws)}
    if set(targets) <= known:
        return ""
    items = Inbox.parse(text_here(ws, INBOX)).items
    known |= {name for item in items for name in (item.added_by, item.claimed_by, *(c.by for c in item.closings))}
    known |= {block.author for block in Journal.parse(text_here(ws, JOURNAL)).blocks}
    unknown = sorted(set(targets) - known)
    if not unknown:
        return ""
    others = sorted(name for name in known - {fields.ANYONE, ""} if SLUG.fullmatch(name))[:MAX_MEMBERS]
    return f"{', '.join(unknown)} has not been on this board yet; check the id. Known: {', '.join(others)}"


def _short_item(item: Item, me: str) -> Answer:
    shown = {"id": clip(item.id), "title": clip(item.title), "from": clip(item.added_by), "added_at": item.added_at}
    if not item.is_for(me):
        shown["target"] = f"@{clip(item.target)}"
    if item.body:
        shown["body"] = clip(item.body)
    if item.claimed_by:
        shown["claimed_by"] = clip(item.claimed_by)
    return shown
