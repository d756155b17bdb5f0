"""journal.md: what agents did, one entry after the other.

    ## 2026-05-22 14:30 — ann-claude-code (Ann)
    Built draft v2 of slides 4-7.

    Details, if any, after an empty line.

    TODO @mike-claude-code: Read slide 6.
    <!-- cohabit:k3x9 at=2026-05-22T12:30:05Z -->

A journal is its text: parsing only says where entries begin, so whatever people wrote in between stays as it is. An
entry goes on to where the next begins: the earlier tool writes the headings of its details as they come.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from cohabit.errors import BadArgs, TooLarge
from cohabit.workspace.formats import fields
from cohabit.workspace.formats.hidden import HIDDEN, Hidden
from cohabit.workspace.formats.stamps import AGENT, STAMP, new_uid, stamp, stamp_as_utc, utc
from cohabit.workspace.formats.text import (
    end_of_line,
    escape,
    is_blank,
    lines_of,
    shield,
    trimmed,
    unescape,
    unshield,
    with_ends,
    with_gap,
    without_gap,
)
from cohabit.workspace.limits import MOST_TODOS
from cohabit.workspace.person.identity import SLUG, Identity

HEADER: Final = "# Journal\n\n"
NAMED: Final = r" \((?:[^()]++|\([^()]*+\))*+\)\Z"
"""A name in the last parentheses of a line, which may have a pair of its own. Possessive, so that it stays linear."""
HEADING: Final = re.compile(
    # A slug is ours, and its name may be anything. Another id ends where the last parentheses begin or, where they do
    # not pair, at the first one. A line without one at its end is given up at once. People type other dashes.
    rf"(?=.*\)\Z)## ({STAMP}) [—–-] ({SLUG.pattern}(?= \()|{AGENT}(?={NAMED})|{AGENT}) \((.*)\)"
)
BEGIN: Final = re.compile(r"^## (?=[0-9]{4}-[0-9]{2}-[0-9]{2})", re.MULTILINE)
SAID: Final = re.compile(r"^.*\S", re.MULTILINE)
TODO: Final = re.compile(rf"TODO @({AGENT}): (.*)")


@dataclass(frozen=True, slots=True)
class Todo:
    text: str
    target: str = fields.ANYONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one agent says it did. ``uid`` and ``utc`` are "" in entries of the earlier tool."""

    at: str
    agent_id: str
    agent_name: str
    summary: str
    details: str = ""
    todos: tuple[Todo, ...] = ()
    uid: str = ""
    utc: str = ""

    @classmethod
    def new(
        cls, who: Identity, now: datetime, summary: str, details: str | None = None, todos: Sequence[Todo] = ()
    ) -> "Entry":
        """A new entry, its texts cleaned; raises BadArgs or TooLarge for what does not fit."""
        if len(todos) > MOST_TODOS:
            raise TooLarge(f"{len(todos)} todos; at most {MOST_TODOS} fit in one entry")
        entry = cls(
            at=stamp(now),
            agent_id=who.agent_id,
            agent_name=who.agent_name,
            summary=fields.text("the summary", summary),
            details=fields.text("the details", details),
            todos=tuple(
                Todo(fields.line("the text of a todo", todo.text), fields.target(todo.target)) for todo in todos
            ),
            uid=new_uid(),
            utc=utc(now),
        )
        if not entry.summary:
            raise BadArgs("the summary is empty: say in a line or two what you did")
        return entry

    @property
    def text(self) -> str:
        """The entry as it stands in the file, with the blank line that ends it."""
        parts = [escape(self.summary, blanks=True)]
        if self.details:
            parts.append(escape(self.details, blanks=False))
        if self.todos:
            parts.append("\n".join(f"TODO @{todo.target}: {shield(todo.text)}" for todo in self.todos))
        lines = [f"## {self.at} — {self.agent_id} ({self.agent_name})", "\n\n".join(parts)]
        if hidden := Hidden(self.uid, {"at": self.utc}).text:
            lines.append(hidden)
        return "\n".join(lines) + "\n\n"


@dataclass(frozen=True, slots=True)
class Block:
    """What begins with a date, with all that follows it: an entry, or something that people wrote."""

    text: str
    key: str
    """The same wherever this block is: its unique id, or a digest of what it says."""
    hidden: Hidden | None

    @property
    def uid(self) -> str:
        return self.hidden.uid if self.hidden else ""

    @property
    def content(self) -> str:
        """What it says, without the blank lines after it."""
        return without_gap(self.text)

    @property
    def heading(self) -> str:
        return self.text.partition("\n")[0].rstrip()

    @property
    def time(self) -> str:
        """UTC, for ordering; "" where nothing says it."""
        known = self.hidden.times.get("at", "") if self.hidden else ""
        return known or stamp_as_utc(self.heading[3:19])

    @property
    def own(self) -> str:
        """The entry alone, with the blank lines after it: one of ours ends with its comment."""
        comment = HIDDEN.search(self.text) if self.uid else None
        below = SAID.search(self.text, comment.end()) if comment else None
        return self.text[: below.start()] if below else self.text

    @property
    def below(self) -> str:
        """What people wrote below an entry of ours."""
        return self.text[len(self.own) :]

    @property
    def entry(self) -> Entry | None:
        """The entry, or None where the heading is not one of an entry."""
        heading = HEADING.fullmatch(self.heading)
        if heading is None:
            return None
        lines = [line.rstrip("\r\n") for line in lines_of(self.own)[1:]]
        todos = _todos(lines)
        said = trimmed([line for i, line in enumerate(lines) if i not in todos and Hidden.read(line) is None])
        cut = next((i for i, line in enumerate(said) if is_blank(line)), len(said))
        return Entry(
            at=heading[1],
            agent_id=heading[2].rstrip(),
            agent_name=heading[3],
            summary=unescape("\n".join(said[:cut])),
            details=unescape("\n".join(trimmed(said[cut:]))),
            todos=tuple(Todo(unshield(found[2]), found[1].rstrip()) for found in todos.values()),
            uid=self.uid,
            utc=self.hidden.times.get("at", "") if self.hidden else "",
        )


class Journal:
    """A journal file, or a month of it in the archive."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def parse(cls, text: str) -> "Journal":
        return cls(text)

    @cached_property
    def _pieces(self) -> list[str]:
        """The text before the first block, then each block's."""
        starts = [found.start() for found in BEGIN.finditer(self.text)]
        return [self.text[a:b] for a, b in zip([0, *starts], [*starts, len(self.text)], strict=True)]

    @property
    def preamble(self) -> str:
        return self._pieces[0]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        seen: dict[str, int] = {}
        return tuple(_block(text, seen) for text in self._pieces[1:])

    @cached_property
    def entries(self) -> list[Block]:
        """The blocks that are entries: people may write others."""
        return [block for block in self.blocks if HEADING.fullmatch(block.heading)]

    def append(self, entry: Entry) -> "Journal":
        text = self.text if self.text.strip() else HEADER
        eol = end_of_line(text)
        return Journal(with_gap(text, eol) + with_ends(entry.text, eol))

    def tail(self, n: int) -> list[Block]:
        """The last ``n`` entries, the newest at the end."""
        return self.entries[max(0, len(self.entries) - n) :]


def _todos(lines: list[str]) -> dict[int, re.Match[str]]:
    """The TODOs of an entry, by the number of their line. One for several words is set off, as both tools write it:
    a summary that begins ``TODO @ann please look: …`` stays a summary."""
    todos: dict[int, re.Match[str]] = {}
    for i, line in enumerate(lines):
        found = TODO.fullmatch(line.rstrip())
        if found and (len(found[1].split()) == 1 or i - 1 in todos or (i and is_blank(lines[i - 1]))):
            todos[i] = found
    return todos


def _block(text: str, seen: dict[str, int]) -> Block:
    hidden = Hidden.read(text)
    if hidden and hidden.uid:
        return Block(text, hidden.uid, hidden)
    return Block(text, content_key(without_gap(text).replace("\r\n", "\n"), seen), hidden)


def content_key(content: str, seen: dict[str, int]) -> str:
    """A key for what has no id. The same text twice in one file is two things: the second gets another key."""
    key = "sha:" + hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:20]
    seen[key] = seen.get(key, 0) + 1
    return key if seen[key] == 1 else f"{key}#{seen[key]}"
