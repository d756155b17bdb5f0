"""inbox.md: what is open between the agents, and what was.

An inbox is its text, cut into pieces: what stands before the sections, each section's heading, each item. A change
replaces one piece and leaves every other byte alone.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Final

from cohabit.errors import Conflict, UnknownAsset
from cohabit.workspace.formats import fields
from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.item import ID, START, Claim, Closing, Item
from cohabit.workspace.formats.journal import content_key
from cohabit.workspace.formats.stamps import new_uid, stamp, utc
from cohabit.workspace.formats.text import end_of_line, one_line, with_ends, with_gap

HEADER: Final = "# Inbox\n\n## Open\n\n## Closed\n"
SECTION: Final = re.compile(r"^## (.*)", re.MULTILINE)
PREFIX: Final = "INB"


@dataclass(frozen=True, slots=True)
class Section:
    """``name`` is Open or Closed, else what the heading says. Other sections are text, whatever is in them."""

    name: str
    heading: str
    """The heading line and what stands before the first item."""
    items: tuple[Item, ...]


class Inbox:
    """An inbox file."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def parse(cls, text: str) -> "Inbox":
        return cls(text)

    # -- reading ----------------------------------------------------------------------------------
    @cached_property
    def _cut(self) -> tuple[str, list[tuple[str, list[str]]]]:
        """The text before the sections, and of each section the name and the texts: its heading's, each item's."""
        found = list(SECTION.finditer(self.text))
        texts = _split(self.text, [heading.start() for heading in found])
        return texts[0], [_cut_section(heading[1], text) for heading, text in zip(found, texts[1:], strict=True)]

    @property
    def preamble(self) -> str:
        return self._cut[0]

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        seen: dict[str, int] = {}
        return tuple(
            Section(name, heading, tuple(_item(text, name, seen) for text in texts))
            for name, (heading, *texts) in self._cut[1]
        )

    @property
    def items(self) -> list[Item]:
        """All items, open and closed, as they stand in the file."""
        return [item for section in self.sections for item in section.items if item.id]

    def find(self, id_: str) -> Item:
        """The open item of that id, and no other; raises UnknownAsset."""
        open_ = [item for item in self.items if item.open]
        found = next((item for item in open_ if item.id == id_), None)
        if found is None:
            near = _near(id_, [item.id for item in open_])
            raise UnknownAsset(f"inbox item {id_[:80]} not found in Open section", did_you_mean=near)
        return found

    def next_id(self, prefix: str = PREFIX) -> str:
        """The number after the largest on any item line; mentions do not count, nor numbers that no one counts to."""
        found = re.findall(rf"^- \[.\] +(?:~~)?{prefix}-([0-9]{{1,9}})(?![0-9])", self.text, re.MULTILINE)
        return f"{prefix}-{max(map(int, found), default=0) + 1:03d}"

    # -- changing ---------------------------------------------------------------------------------
    def add(
        self, *, title: str, by: str, now: datetime, body: str | None = None, for_: str | None = None
    ) -> tuple["Inbox", Item]:
        """With a new item at the end of Open; raises BadArgs or TooLarge for what does not fit."""
        item = Item(
            id=self.next_id(),
            target=fields.target(for_),
            title=fields.line("the title", title),
            body=fields.text("the body", body),
            uid=(uid := new_uid()),
            key=uid,
            added_at=stamp(now),
            added_by=by,
            added_utc=utc(now),
        )
        return self._with(item, "Open"), item

    def close(self, id_: str, *, by: str, resolution: str, now: datetime, journal_ref: str | None = None) -> "Inbox":
        """With an open item moved to the end of Closed."""
        item = self.find(id_)
        how = fields.line("the resolution", resolution)
        if journal_ref and one_line(journal_ref):
            how += f", see journal {fields.line('journal_ref', journal_ref)}"
        closed = replace(item, closings=(Closing(stamp(now), by, utc(now), how),))
        return self._without(item)._with(closed, "Closed")

    def claim(self, id_: str, by: str, now: datetime) -> "Inbox":
        """With an open item taken by an agent; raises Conflict where another has it or it is closed."""
        item = self._unclosed(id_)
        if item.claim and item.claim.by != by:
            raise Conflict(f"{id_} was claimed {item.claim.at} by {item.claim.by}; take another item, or ask them")
        return self if item.claim else self._replaced(item, replace(item, claim=Claim(stamp(now), by, utc(now))))

    def release(self, id_: str, by: str) -> "Inbox":
        """With an open item given back by the agent that has it."""
        item = self._unclosed(id_)
        if item.claim and item.claim.by != by:
            raise Conflict(f"{id_} was claimed by {item.claim.by}, and only they can release it")
        return self._replaced(item, replace(item, claim=None)) if item.claim else self

    def _unclosed(self, id_: str) -> Item:
        done = next((item for item in self.items if item.id == id_ and item.closing), None)
        if done and done.closing and not any(item.id == id_ and item.open for item in self.items):
            raise Conflict(
                f"{id_} was closed {done.closing.at} by {done.closing.by or 'hand'}; there is nothing to claim"
            )
        return self.find(id_)

    # -- pieces -----------------------------------------------------------------------------------
    @property
    def _pieces(self) -> list[str]:
        return [self.preamble, *chain.from_iterable(texts for _, texts in self._cut[1])]

    def _end_of(self, wanted: str) -> int | None:
        """Where in the pieces the first section of that name ends."""
        end = 1
        for name, texts in self._cut[1]:
            end += len(texts)
            if name == wanted:
                return end
        return None

    def _replaced(self, old: Item, new: Item) -> "Inbox":
        """With one item written anew in its place; the blank lines after it stay."""
        pieces = self._pieces
        eol = end_of_line(self.text)
        gap = old.text[len(old.text.rstrip()) :]
        pieces[self._index(old)] = with_ends(items.write(new), eol) + gap
        return Inbox("".join(pieces))

    def _without(self, item: Item) -> "Inbox":
        pieces = self._pieces
        del pieces[self._index(item)]
        return Inbox("".join(pieces))

    def _index(self, item: Item) -> int:
        at = 1
        for section in self.sections:
            for i, other in enumerate(section.items):
                if other is item:
                    return at + 1 + i
            at += 1 + len(section.items)
        raise ValueError(item.id)

    def _with(self, item: Item, name: str) -> "Inbox":
        """With an item at the end of a section, set off by blank lines; the section is made where there is none."""
        whole = Inbox(self.text if self.text.strip() else HEADER)._with_section("Open")._with_section("Closed")
        pieces, at, eol = whole._pieces, whole._end_of(name), end_of_line(whole.text)
        assert at is not None
        pieces[at - 1] = with_gap(pieces[at - 1], eol)
        pieces.insert(at, with_ends(items.write(item), eol) + eol + (eol if any(pieces[at:]) else ""))
        return Inbox("".join(pieces))

    def _with_section(self, name: str) -> "Inbox":
        if self._end_of(name) is not None:
            return self
        pieces, eol = self._pieces, end_of_line(self.text)
        end = self._end_of("Open")
        at = 1 if name == "Open" else len(pieces) if end is None else end
        pieces[at - 1] = with_gap(pieces[at - 1], eol)
        pieces.insert(at, f"## {name}{eol}" + (eol if any(pieces[at:]) else ""))
        return Inbox("".join(pieces))


def _split(text: str, starts: list[int]) -> list[str]:
    """``text`` cut at these places; the first piece is what stands before all of them."""
    return [text[a:b] for a, b in zip([0, *starts], [*starts, len(text)], strict=True)]


def _cut_section(heading: str, text: str) -> tuple[str, list[str]]:
    name = heading.strip()
    known = {"open": "Open", "closed": "Closed"}.get(name.lower())
    return known or name, _split(text, [found.start() for found in START.finditer(text)] if known else [])


def _item(text: str, section: str, seen: dict[str, int]) -> Item:
    item = items.read(text, section)
    return replace(item, key=_key(item, seen))


def _key(item: Item, seen: dict[str, int]) -> str:
    """An item of the earlier tool is known by all that closing it does not change."""
    if item.uid:
        return item.uid
    what = (
        [item.id, item.target, item.title, item.added_at, item.added_by, item.body] if item.id else [item.text.rstrip()]
    )
    return content_key("\0".join(what), seen)


def _near(id_: str, open_: list[str]) -> list[str]:
    """Open ids that may have been meant: the same number written otherwise, else a similar one."""
    found = ID.fullmatch(id_.strip().upper())
    if found:
        same = [
            name for name in open_ if name.startswith(f"{found[1]}-") and int(name.rpartition("-")[2]) == int(found[2])
        ]
        if same:
            return same
    from difflib import get_close_matches  # rarely needed, and not free to load

    return get_close_matches(id_[:80], open_, n=3)
