"""Short replies to actions: the outcome, and what has changed since the view that the client got last.

For each credential and room, the server remembers the id of that view. A view of another client of the same member,
such as its page, is none that this model has read.
"""

from collections import OrderedDict
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import CohabitError
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.render import action_of
from cohabit.model.action import ActionResult
from cohabit.model.observation import LAST_ACTION
from cohabit.model.view_changes import HOW_TO_READ
from cohabit.room.commands import command_of
from cohabit.room.seeing.looking import UNKNOWN_VIEW, ViewReply, view

MAX_IN_A_ROW = 10
"""After this many short replies the whole view comes again: nobody puts longer chains of changes together."""
MAX_READERS = 10_000
"""Those who have read nothing for longest are forgotten, and get the whole view."""
MARKS = ("= ", "+ ", "! ")
"""The beginnings of the lines of a text of changes."""
VIEW = command_of(view).name


class Reader(Struct):
    view: str  # the id of the last view that it got
    short: int = 0  # replies since the last whole view


class ShortReplies:
    """See the module."""

    def __init__(self) -> None:
        self._readers: OrderedDict[tuple[str, str], Reader] = OrderedDict()

    async def text_of(self, backend: Backend, room: str | None, result: Any) -> str | None:
        """The text of a result that is about to be sent, if it is that of an action; None: its own text. A view is
        remembered."""
        room = room or backend.room
        if room is None:
            return None
        if (action := action_of(result)) is not None:
            return await self._after(backend, room, action)
        if isinstance(result, ViewReply):
            self._read(backend, room, result.id, result.since)
        elif isinstance(result, dict) and result.keys() >= {"your_turn", "id"}:  # from another house
            self._read(backend, room, result["id"], result.get("since", ""))
        return None

    def _read(self, backend: Backend, room: str, view: str, since: str) -> None:
        before = self._readers.pop((backend.caller, room), None)
        short = before.short + 1 if before is not None and since == before.view else 0
        self._readers[backend.caller, room] = Reader(view, short)
        if len(self._readers) > MAX_READERS:
            self._readers.popitem(last=False)

    async def _after(self, backend: Backend, room: str, action: ActionResult) -> str | None:
        if action.observation is None:
            return None
        reader = self._readers.get((backend.caller, room))
        since = reader.view if reader is not None and reader.short < MAX_IN_A_ROW else ""
        try:
            seen = msgspec.to_builtins(await backend.call(VIEW, {"since": since}, room))
        except CohabitError:  # it may act, but not look
            return None
        text = str(seen["text"])
        self._read(backend, room, seen["id"], seen.get("since", ""))
        if reader is not None and reader.short:
            text = text.replace(HOW_TO_READ, ":", 1)  # it has been told
        first, _, rest = text.partition("\n")
        text = rest if first.endswith(UNKNOWN_VIEW) else text  # the model did not ask for that view
        return "\n".join([*action.summary(), "", *_new_lines(text, action)])


def _new_lines(text: str, action: ActionResult) -> list[str]:
    """The lines of a view without those that say the outcome of the action: its own text has said it."""
    lines = text.split("\n")
    if action.pending:
        return lines
    if f"{LAST_ACTION}:" in lines:  # a section, with an empty line before it
        at = lines.index(f"{LAST_ACTION}:")
        del lines[at - 1 : at + 2]
    said = {sentence.strip(" .") for sentence in (action.message, *action.message.split(". "))} - {""}
    return [line for line in lines if not line.startswith(f"{LAST_ACTION}: ") and _plain(line, action) not in said]


def _plain(line: str, action: ActionResult) -> str:
    """The text of a line without its mark; of the event of a failed action, such as ``craft failed: you have no wood``,
    only the reason."""
    plain = (line[2:] if line.startswith(MARKS) else line).strip(" .")
    return plain if action.success else plain.rpartition(" failed: ")[2]
