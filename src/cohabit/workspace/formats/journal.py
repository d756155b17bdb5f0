"""journal.md: what agents did, one entry after the other.

    ## 2026-05-22 14:30 — ann-claude-code (Ann)
    Built draft v2 of slides 4-7.

    Details, if any, after an empty line.

    TODO @mike-claude-code: Read slide 6.
    <!-- cohabit:k3x9 at=2026-05-22T12:30:05Z -->

A journal keeps its text: parsing only finds where entries begin, so everything that people write in between stays as
it is. An entry extends to the beginning of the next one, because Multisphere writes headings in details unescaped.

journal-archive/YYYY-MM.md holds the entries of past months, moved out so that the journal stays short. An entry is
moved unchanged; what people wrote below it stays in the journal. When an archived journal is merged with one that
somebody kept writing to, the moved entries are gone and the new ones stay.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from cohabit.errors import BadArgs, TooLarge
from cohabit.workspace.formats import fields, stamps
from cohabit.workspace.formats import text as texts
from cohabit.workspace.formats.recent import Recent
from cohabit.workspace.limits import MAX_TODOS
from cohabit.workspace.person.identity import SLUG, Identity

HEADER: Final = "# Journal\n\n"
NAME: Final = r" \((?:[^()]++|\([^()]*+\))*+\)\Z"
"""A name in the last parentheses of a line, which may contain one pair itself. Possessive, so that matching is
linear."""
HEADING: Final = re.compile(
    # A slug is an id of ours, and its name may be anything. Any other id ends where the last parentheses begin or, if
    # they do not pair up, at the first one. The lookahead rejects lines without a closing parenthesis at once. People
    # type other dashes.
    rf"(?=.*\)\Z)## ({stamps.STAMP}) [—–-] ({SLUG.pattern}(?= \()|{stamps.AGENT}(?={NAME})|{stamps.AGENT}) \((.*)\)"
)
BLOCK_START: Final = re.compile(r"^## (?=[0-9]{4}-[0-9]{2}-[0-9]{2})", re.MULTILINE)
LATER_BLOCK: Final = re.compile(r"\n## (?=[0-9]{4}-[0-9]{2}-[0-9]{2})")
"""The same after a line break; a pattern that begins with plain characters is found many times faster."""
FILLED_LINE: Final = re.compile(r"^.*\S", re.MULTILINE)
TODO: Final = re.compile(rf"TODO @({stamps.AGENT}): (.*)")
ARCHIVE_FOLDER: Final = "journal-archive"
LARGE: Final = 32 * 1024
"""Characters from which on a journal is kept when it has been parsed."""
MONTH: Final = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class Todo:
    """Something left to do, for an agent or for anyone."""

    text: str
    target: str = fields.ANYONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A journal entry: the work of one agent. ``uid`` and ``utc`` are "" in entries of Multisphere."""

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
        cls,
        identity: Identity,
        now: datetime,
        summary: str,
        details: str | None = None,
        todos: Sequence[Todo] = (),
        last: str = "",
    ) -> "Entry":
        """A new entry with cleaned texts; raises BadArgs or TooLarge if one does not fit. ``last`` is the time of the
        agent's entry before this one."""
        if len(todos) > MAX_TODOS:
            raise TooLarge(f"{len(todos)} todos; the limit for one entry is {MAX_TODOS}")
        entry = cls(
            at=stamps.stamp(now),
            agent_id=identity.agent_id,
            agent_name=identity.agent_name,
            summary=fields.text("the summary", summary),
            details=fields.text("the details", details),
            todos=tuple(
                Todo(fields.line("the text of a todo", todo.text), fields.target(todo.target)) for todo in todos
            ),
            uid=stamps.new_uid(),
            utc=stamps.later_than(last, now),
        )
        if not entry.summary:
            raise BadArgs("the summary is empty; describe in a line or two what you did")
        return entry

    @property
    def text(self) -> str:
        """The entry as written in the file, including the blank line at its end."""
        parts = [texts.escape(self.summary, blanks=True)]
        if self.details:
            parts.append(texts.escape(self.details, blanks=False))
        if self.todos:
            parts.append("\n".join(f"TODO @{todo.target}: {texts.escape_comments(todo.text)}" for todo in self.todos))
        lines = [f"## {self.at} — {self.agent_id} ({self.agent_name})", "\n\n".join(parts)]
        if hidden := stamps.Hidden(self.uid, {"at": self.utc}).text:
            lines.append(hidden)
        return "\n".join(lines) + "\n\n"


@dataclass(frozen=True)
class Block:
    """A heading with a date and everything up to the next one: an entry, or something that people wrote."""

    text: str
    key: str
    """Identifies this block in every version of the file: its unique id, or a digest of its text."""
    hidden: stamps.Hidden | None

    @property
    def uid(self) -> str:
        return self.hidden.uid if self.hidden else ""

    @cached_property
    def content(self) -> str:
        """The text without blank lines at its end."""
        return texts.without_trailing_blanks(self.text)

    @cached_property
    def heading(self) -> str:
        return self.text.partition("\n")[0].rstrip()

    @property
    def name(self) -> str:
        return self.heading

    @property
    def origin(self) -> None:
        """Entries have no numbers, so an entry that gets an id is not confused with another."""
        return None

    @cached_property
    def author(self) -> str:
        """The id in the heading of an entry; "" if this is something else."""
        return _author(self.heading)

    @property
    def time(self) -> str:
        """UTC, for ordering; "" if unknown."""
        return self.utc or stamps.stamp_as_utc(self.heading[3:19])

    @property
    def utc(self) -> str:
        """The time in the hidden comment; "" if there is none."""
        return self.hidden.times.get("at", "") if self.hidden else ""

    @cached_property
    def own(self) -> str:
        """The entry alone, with the blank lines after it. An entry with an id ends with its comment."""
        comment = stamps.HIDDEN.search(self.text) if self.uid else None
        below = FILLED_LINE.search(self.text, comment.end()) if comment else None
        return self.text[: below.start()] if below else self.text

    @cached_property
    def own_content(self) -> str:
        """The entry alone, without blank lines at its end, and with plain line breaks."""
        return texts.without_trailing_blanks(self.own.replace("\r\n", "\n"))

    @property
    def below(self) -> str:
        """The text that people wrote below the entry."""
        return self.text[len(self.own) :]

    @property
    def entry(self) -> Entry | None:
        """The entry, or None if the heading is not that of an entry."""
        heading = HEADING.fullmatch(self.heading)
        if heading is None:
            return None
        lines = [line.rstrip("\r\n") for line in texts.lines_of(self.own)[1:]]
        todos = _todos(lines)
        rest = texts.without_blank_ends(
            [line for i, line in enumerate(lines) if i not in todos and stamps.Hidden.read(line) is None]
        )
        cut = next((i for i, line in enumerate(rest) if texts.is_blank(line)), len(rest))
        return Entry(
            at=heading[1],
            agent_id=heading[2].rstrip(),
            agent_name=heading[3],
            summary=texts.unescape("\n".join(rest[:cut])),
            details=texts.unescape("\n".join(texts.without_blank_ends(rest[cut:]))),
            todos=tuple(Todo(texts.unescape_comments(found[2]), found[1].rstrip()) for found in todos.values()),
            uid=self.uid,
            utc=self.utc,
        )


class Journal:
    """A journal file, or one month of the archive."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def parse(cls, text: str | None) -> "Journal":
        """The journal with this text, None if there is no file; a large one that was parsed a moment ago is the same
        object."""
        if text is None or len(text) < LARGE:
            return cls(text or "")
        found = JOURNALS.get(text)
        if found is None:
            JOURNALS.put(text, found := cls(text), len(text))
        return found

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The text before the first block, then the text of each block."""
        starts = [0] if BLOCK_START.match(self.text) else []
        starts += [found.start() + 1 for found in LATER_BLOCK.finditer(self.text)]
        return tuple(self.text[a:b] for a, b in zip([0, *starts], [*starts, len(self.text)], strict=True))

    @property
    def preamble(self) -> str:
        return self.pieces[0]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        seen, used = dict[str, int](), set[str]()
        return tuple(_block(text, seen, used) for text in self.pieces[1:])

    @cached_property
    def entries(self) -> tuple[Block, ...]:
        """The blocks that are entries."""
        return tuple(block for block in self.blocks if block.author)

    def append(self, entry: Entry) -> "Journal":
        text = self.text if self.text.strip() else HEADER
        eol = texts.line_ending(text)
        return Journal(texts.with_blank_line(text, eol) + texts.with_line_ending(entry.text, eol))

    def last_time(self, agent_id: str) -> str:
        """The time of the last entry of an agent; "" if there is none. Only the end of the text is parsed."""
        at = len(self.text)
        while (at := self.text.rfind(f" {agent_id} (", 0, at)) >= 0:
            at = self.text.rfind("\n", 0, at) + 1
            if BLOCK_START.match(self.text, at) and _author(_line_at(self.text, at)) == agent_id:
                return Journal(self.text[at:]).blocks[0].time
        return ""

    def insert(self, at: int, text: str) -> str:
        """The text of the journal with another entry before the block ``at``."""
        pieces, eol = [*self.pieces], texts.line_ending(self.text)
        pieces[at] = texts.with_blank_line(pieces[at] or HEADER, eol)
        pieces.insert(at + 1, texts.with_blank_line(texts.with_line_ending(text.replace("\r\n", "\n"), eol), eol))
        return "".join(pieces)

    def tail(self, n: int) -> list[Block]:
        """The last ``n`` entries, newest last."""
        return list(self.entries[max(0, len(self.entries) - n) :])


def _todos(lines: list[str]) -> dict[int, re.Match[str]]:
    """The TODOs of an entry by line number. A target of several words counts only in a block of TODOs after a blank
    line, so that a summary like ``TODO @ann please look: …`` stays a summary."""
    todos: dict[int, re.Match[str]] = {}
    for i, line in enumerate(lines):
        found = TODO.fullmatch(line.rstrip())
        if found and (len(found[1].split()) == 1 or i - 1 in todos or (i and texts.is_blank(lines[i - 1]))):
            todos[i] = found
    return todos


def _line_at(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start:end]


def _author(heading: str) -> str:
    found = HEADING.fullmatch(heading.rstrip())
    return found[2].rstrip() if found else ""


def _block(text: str, seen: dict[str, int], used: set[str]) -> Block:
    """The block with this text. A new version of a journal has nearly the same blocks, so most are not parsed again."""
    block = BLOCKS.get(text)
    if block is None:
        BLOCKS.put(text, block := _read_block(text), len(text))
    key = block.key if block.uid else distinct_key(block.key, seen)
    if key == block.key and key not in used:
        used.add(key)
        return block
    return Block(text, key, block.hidden)  # never the same object twice in one journal


def _read_block(text: str) -> Block:
    hidden = stamps.Hidden.read(text)
    if hidden and hidden.uid:
        return Block(text, hidden.uid, hidden)
    return Block(text, content_key(texts.without_trailing_blanks(text).replace("\r\n", "\n"), {}), hidden)


def content_key(content: str, seen: dict[str, int]) -> str:
    """A key for something without an id. If a file holds the same text twice, the second one gets a different key.

    It has the form of an id, and is longer than any id that is drawn at random.
    """
    return distinct_key(_digest(content), seen)


def distinct_key(key: str, seen: dict[str, int]) -> str:
    """The first thing with this key gets it, every further one in the same file another."""
    seen[key] = seen.get(key, 0) + 1
    return key if seen[key] == 1 else _digest(f"{key}#{seen[key]}")


BLOCKS: Final = Recent[str, Block](8 * 1024 * 1024)
JOURNALS: Final = Recent[str, Journal](16 * 1024 * 1024)
"""By text; weights are characters."""


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[: stamps.DIGEST_CHARS]


# -- the archive ----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Archived:
    """The remaining journal, and the new text of the archive files by path."""

    journal: str
    months: Mapping[str, str]
    entries: int


def archive_path(month: str) -> str:
    return f"{ARCHIVE_FOLDER}/{month}.md"


def archive(text: str, before: str, archived: Callable[[str], str | None]) -> Archived:
    """Move the entries of all months before ``before`` (``YYYY-MM``); ``archived`` returns the current text of a
    path."""
    if not MONTH.fullmatch(before):
        raise BadArgs(f"before must be a month like 2026-05, not {before[:80]!r}")
    journal = Journal.parse(text)
    moving = [block for block in journal.blocks if (month := month_of(block)) and month < before]
    months: dict[str, list[Block]] = {}
    for block in moving:
        months.setdefault(month_of(block), []).append(block)
    moved = {id(block) for block in moving}
    left = journal.preamble + "".join(block.below if id(block) in moved else block.text for block in journal.blocks)
    files = {}
    for month, blocks in sorted(months.items()):
        path = archive_path(month)
        files[path] = _month_file(archived(path), month, blocks)
    return Archived(left, files, len(moving))


def month_of(block: Block) -> str:
    """The month in an entry's heading; "" if the block is not an entry."""
    heading = HEADING.fullmatch(block.heading)
    return heading[1][:7] if heading else ""


def _month_file(text: str | None, month: str, blocks: list[Block]) -> str:
    """The archive file of a month with more entries; entries that it already has are not added again."""
    text = text or f"# Journal {month}\n\n"
    eol = texts.line_ending(text)
    known = {(block.key, block.own_content) for block in Journal.parse(text).blocks}
    new = [block.own for block in blocks if (block.key, block.own_content) not in known]
    entries = (texts.with_blank_line(texts.with_line_ending(own.replace("\r\n", "\n"), eol), eol) for own in new)
    return "".join([texts.with_blank_line(text, eol) if new else text, *entries])
