"""The board in a few lines: what is open for an agent, and what others wrote in the journal since it was here."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from cohabit.errors import BadArgs
from cohabit.workspace.formats import fields
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.formats.paths import INBOX, JOURNAL
from cohabit.workspace.formats.plain import plain
from cohabit.workspace.person.identity import SLUG

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

LINE: Final = 120
"""Characters of any text that is shown here; read, journal_tail and inbox_list have the whole of it."""
MOST_ITEMS: Final = 8
MOST_TODOS: Final = 2
MOST_MEMBERS: Final = 30


def text_of(ws: "Workspace", path: str) -> str:
    """A file of the board; "" where there is none, or something else stands in its place."""
    try:
        return ws.tree.text(path) or ""
    except BadArgs:
        return ""


def for_me(ws: "Workspace") -> tuple[list[dict[str, Any]], int, int]:
    """Open items for the caller, how many there are, and how many are for anyone."""
    items = [item for item in Inbox.parse(text_of(ws, INBOX)).items if item.open]
    me = ws.who.agent_id
    mine = [item for item in items if item.is_for(me)]
    anyone = sum(item.is_for_anyone for item in items)
    return [_item(item) for item in mine[:MOST_ITEMS]], len(mine), anyone


def entries(ws: "Workspace", seen: Collection[str], after: str = "") -> list[Entry]:
    """Journal entries of others that are not among the ``seen`` keys, nor from before ``after`` (UTC); oldest first."""
    blocks = Journal.parse(text_of(ws, JOURNAL)).blocks
    me = ws.who.agent_id
    new = [block for block in blocks if block.key not in seen and block.time >= after]
    found = [block.entry for block in new]
    return [entry for entry in found if entry and entry.agent_id != me]


def keys(journal: str) -> set[str]:
    return {block.key for block in Journal.parse(journal).blocks}


def shown(entry: Entry, me: str) -> dict[str, Any]:
    """An entry in short, with those of its TODOs that concern the reader: the reader's own first."""
    told: dict[str, Any] = {"at": entry.at, "agent_id": clip(entry.agent_id), "summary": clip(entry.summary)}
    mine = [todo for todo in entry.todos if fields.names(todo.target, me)]
    todos = mine + [todo for todo in entry.todos if todo not in mine and fields.names(todo.target, fields.ANYONE)]
    if todos:
        told["todos"] = [{"for": clip(todo.target), "text": clip(todo.text)} for todo in todos[:MOST_TODOS]]
    if len(todos) > MOST_TODOS:
        told["more_todos"] = len(todos) - MOST_TODOS
    return told


def members(ws: "Workspace") -> list[str]:
    """Agents that have been here: those with a pointer."""
    try:
        names = [entry.name for entry in ws.tree.entries(".pointers")]
    except (FileNotFoundError, BadArgs):
        return []
    ids = [name.removesuffix(".json") for name in names if name.endswith(".json")]
    return [id_ for id_ in ids if SLUG.fullmatch(id_)][:MOST_MEMBERS]


def clip(text: str, most: int = LINE) -> str:
    """One line of what somebody wrote."""
    line = " ".join(plain(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _item(item: Item) -> dict[str, Any]:
    told = {"id": clip(item.id), "title": clip(item.title), "from": clip(item.added_by), "added_at": item.added_at}
    if item.body:
        told["body"] = clip(item.body)
    if item.claimed_by:
        told["claimed_by"] = clip(item.claimed_by)
    return told
