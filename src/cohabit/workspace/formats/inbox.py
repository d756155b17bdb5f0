"""inbox.md: open and closed items.

An inbox keeps its text, split into pieces: the text before the sections, the heading of each section, each item. A
change replaces one piece and leaves every other byte as it is.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, count
from typing import Final

from cohabit.errors import Conflict, UnknownAsset
from cohabit.workspace.formats import fields
from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.item import ID, START, Claim, Closing, Item
from cohabit.workspace.formats.journal import LARGE, content_key
from cohabit.workspace.formats.quoting import listed, named
from cohabit.workspace.formats.recent import Recent
from cohabit.workspace.formats.stamps import DIGEST_CHARS, later_than, new_uid, stamp, utc
from cohabit.workspace.formats.text import (
    line_ending,
    one_line,
    with_blank_line,
    with_line_ending,
    without_trailing_blanks,
)

HEADER: Final = "# Inbox\n\n## Open\n\n## Closed\n"
SECTION: Final = re.compile(r"^## (.*)", re.MULTILINE)
NUMBER: Final = re.compile(r"^- \[.\] +(?:~~)?([A-Z][A-Z0-9]*)-([0-9]{1,18})(?![0-9])", re.MULTILINE)
"""The number on an item line."""
PREFIX: Final = "INB"
FIRST_UNCOUNTED: Final = 10**9
"""Numbers from this one on are not counted: the next new item does not follow them."""


@dataclass(frozen=True, slots=True)
class Section:
    """``name`` is Open, Closed or any other heading. Other sections are plain text and have no items."""

    name: str
    heading: str
    """The heading line and the text before the first item."""
    items: tuple[Item, ...]


class Inbox:
    """An inbox file."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def parse(cls, text: str | None) -> "Inbox":
        """The same as for a journal."""
        if text is None or len(text) < LARGE:
            return cls(text or "")
        found = INBOXES.get(text)
        if found is None:
            INBOXES.put(text, found := cls(text), len(text))
        return found

    # -- reading ----------------------------------------------------------------------------------
    @cached_property
    def _cut(self) -> tuple[str, list[tuple[str, list[str]]]]:
        """The text before the sections; then for each section its name and the texts of its heading and items."""
        found = list(SECTION.finditer(self.text))
        texts = _split(self.text, [heading.start() for heading in found])
        return texts[0], [_cut_section(heading[1], text) for heading, text in zip(found, texts[1:], strict=True)]

    @property
    def preamble(self) -> str:
        return self._cut[0]

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        found = [(name, texts[0], [_read(text, name) for text in texts[1:]]) for name, texts in self._cut[1]]
        keys, used = _keys(item for _, _, inside in found for item in inside), set[str]()
        return tuple(
            Section(name, heading, tuple(_with_key(item, next(keys), used) for item in inside))
            for name, heading, inside in found
        )

    @property
    def items(self) -> list[Item]:
        """All items, open and closed, in the order of the file."""
        return [item for section in self.sections for item in section.items if item.id]

    def find(self, id_: str) -> Item:
        """The open item with exactly this id. Raises UnknownAsset, with the closing if the item is closed, and Conflict
        if several open items have the id."""
        having = [item for item in self.items if item.id == id_ and item.open]
        if len({item.digest_uid for item in having}) > 1 and len({item.digested for item in having}) > 1:
            titles = listed([item.title for item in having])
            raise Conflict(
                f"several open items have the id {id_}: {titles}. Call repair, which gives the later ones new numbers"
            )
        found = having[0] if having else None
        if found is None:
            closing = self._closing(id_)
            near = _same_number(id_, [item.id for item in self.items if item.open])
            raise UnknownAsset(
                f"inbox item {id_[:80]} not found in Open section{'' if closing else '; inbox.md lists the open ones'}",
                did_you_mean=near,
                **({"closed_at": closing.at, "closed_by": closing.by} if closing else {}),
            )
        return found

    def _closing(self, id_: str) -> Closing | None:
        """The closing of a closed item with this id."""
        return next((item.closing for item in self.items if item.id == id_ and item.closing), None)

    def next_id(self, prefix: str = PREFIX) -> str:
        """The number after the largest on any item line. Numbers in other text do not count, nor do very large ones."""
        return f"{prefix}-{next(free_numbers(self.numbers(prefix))):03d}"

    def numbers(self, prefix: str = PREFIX) -> set[int]:
        """The numbers on all item lines, including those in sections of plain text."""
        return self._numbers.get(prefix, set())

    @cached_property
    def _numbers(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for prefix, number in NUMBER.findall(self.text):
            found.setdefault(prefix, set()).add(int(number))
        return found

    # -- changing ---------------------------------------------------------------------------------
    def add(
        self, *, title: str, by: str, now: datetime, body: str | None = None, for_: str | None = None
    ) -> tuple["Inbox", Item]:
        """Add a new item at the end of Open; raises BadArgs or TooLarge if a field does not fit."""
        item = Item(
            id=self.next_id(),
            target=fields.target(for_),
            title=fields.line("the title", title),
            body=fields.text("the body", body),
            uid=(uid := new_uid()),
            key=uid,
            added_at=stamp(now),
            added_by=by,
            added_utc=later_than(max((item.time for item in self.items if item.added_by == by), default=""), now),
        )
        return self._with(item, "Open"), item

    def close(self, id_: str, *, by: str, resolution: str, now: datetime, journal_ref: str | None = None) -> "Inbox":
        """Move an open item to the end of Closed."""
        item = self.find(id_)
        how = fields.line("the resolution", resolution)
        if journal_ref and one_line(journal_ref):
            how += f", see journal {fields.line('journal_ref', journal_ref)}"
        closed = replace(item, uid=item.digest_uid, closings=(Closing(stamp(now), by, utc(now), how),))
        return self._without(item)._with(closed, "Closed")

    def claim(self, id_: str, by: str, now: datetime) -> "Inbox":
        """Assign an open item to an agent; raises Conflict if another agent has it or it is closed."""
        item = self._unclosed(id_)
        if item.claim and item.claim.by != by:
            raise Conflict(
                f"{id_} was claimed {item.claim.at} by {named(item.claim.by)}; choose another item or ask them"
            )
        if item.claim:
            return self
        return self._replaced(item, replace(item, uid=item.digest_uid, claim=Claim(stamp(now), by, utc(now))))

    def release(self, id_: str, by: str) -> "Inbox":
        """Undo the claim of the agent that has the item."""
        item = self._unclosed(id_)
        if item.claim and item.claim.by != by:
            raise Conflict(f"{id_} is claimed by {named(item.claim.by)}; only they can release it")
        return self._replaced(item, replace(item, claim=None)) if item.claim else self

    def restore(self, lost: Item) -> "Inbox":
        """Put an item back that is missing or was edited: its own fields as they were, its state as it is now. If
        another item has its number by now, it gets a new one."""
        here = next((item for item in self.items if item.is_same(lost)), None)
        if here is not None:
            uid = lost.uid or here.uid
            return self._replaced(here, replace(lost, id=here.id, uid=uid, claim=here.claim, closings=here.closings))
        if any(item.id == lost.id for item in self.items):
            lost = items.changed(lost, id=self.next_id(lost.id.rpartition("-")[0]))
        return self._with(lost, "Closed" if lost.closings else "Open")

    def renumbered(self, ids: Mapping[str, str]) -> "Inbox":
        """The inbox with these ids of items, by key; every other byte stays."""
        pieces, eol = [self.preamble], line_ending(self.text)
        for section in self.sections:
            pieces.append(section.heading)
            for item in section.items:
                text = item.text
                if item.id and (new := ids.get(item.key, item.id)) != item.id:
                    gap = text[len(without_trailing_blanks(text)) :]
                    text = with_line_ending(items.changed(item, id=new).text, eol) + gap
                pieces.append(text)
        return Inbox("".join(pieces))

    def _unclosed(self, id_: str) -> Item:
        closing = self._closing(id_)
        if closing and not any(item.id == id_ and item.open for item in self.items):
            raise Conflict(
                f"{id_} was closed {closing.at} by {named(closing.by) if closing.by else 'hand'}; choose another item"
            )
        return self.find(id_)

    # -- pieces -----------------------------------------------------------------------------------
    @property
    def _pieces(self) -> list[str]:
        return [self.preamble, *chain.from_iterable(texts for _, texts in self._cut[1])]

    def _end_of(self, wanted: str) -> int | None:
        """The index in the pieces at which the first section with this name ends."""
        end = 1
        for name, texts in self._cut[1]:
            end += len(texts)
            if name == wanted:
                return end
        return None

    def _replaced(self, old: Item, new: Item) -> "Inbox":
        """Replace the text of one item; the blank lines after it stay."""
        pieces = self._pieces
        eol = line_ending(self.text)
        gap = old.text[len(old.text.rstrip()) :]
        pieces[self._index(old)] = with_line_ending(items.write(new), eol) + gap
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
        """Add an item at the end of a section, with blank lines around it; a missing section is created."""
        whole = Inbox(self.text if self.text.strip() else HEADER)._with_section("Open")._with_section("Closed")
        pieces, at, eol = whole._pieces, whole._end_of(name), line_ending(whole.text)
        assert at is not None
        pieces[at - 1] = with_blank_line(pieces[at - 1], eol)
        pieces.insert(at, with_line_ending(items.write(item), eol) + eol + (eol if any(pieces[at:]) else ""))
        return Inbox("".join(pieces))

    def _with_section(self, name: str) -> "Inbox":
        if self._end_of(name) is not None:
            return self
        pieces, eol = self._pieces, line_ending(self.text)
        end = self._end_of("Open")
        at = 1 if name == "Open" else len(pieces) if end is None else end
        pieces[at - 1] = with_blank_line(pieces[at - 1], eol)
        pieces.insert(at, f"## {name}{eol}" + (eol if any(pieces[at:]) else ""))
        return Inbox("".join(pieces))


def free_numbers(taken: Collection[int]) -> Iterator[int]:
    """The free numbers after the largest counted one."""
    start = max((number for number in taken if number < FIRST_UNCOUNTED), default=0) + 1
    return (number for number in count(start) if number not in taken)


def _split(text: str, starts: list[int]) -> list[str]:
    """``text`` split at these positions; the first piece is the text before all of them."""
    return [text[a:b] for a, b in zip([0, *starts], [*starts, len(text)], strict=True)]


def _cut_section(heading: str, text: str) -> tuple[str, list[str]]:
    name = heading.strip()
    known = {"open": "Open", "closed": "Closed"}.get(name.lower())
    return known or name, _split(text, [found.start() for found in START.finditer(text)] if known else [])


def _read(text: str, section: str) -> Item:
    """The item with this text. A new version of an inbox has nearly the same items, so most are not parsed again."""
    item = ITEMS.get((text, section))
    if item is None:
        item = items.read(text, section)
        item = replace(item, key=item.uid or content_key(_identifying(item), {}))
        ITEMS.put((text, section), item, len(text))
    return item


def _with_key(item: Item, key: str, used: set[str]) -> Item:
    """The item with its key in this file; not the same object twice in one inbox."""
    if item.key == key and key not in used:
        used.add(key)
        return item
    return replace(item, key=key)


INBOXES: Final = Recent[str, Inbox](8 * 1024 * 1024)
ITEMS: Final = Recent[tuple[str, str], Item](4 * 1024 * 1024)
"""By text; weights are characters."""


def _keys(found: Iterable[Item]) -> Iterator[str]:
    """The keys of all items of a file. Of several items with one unique id, those with another number than the smallest
    are copies made by hand, and items of their own; those with the same number are variants of one item."""
    found, first = list(found), dict[str, Item]()
    names = _names(found)
    for name, item in zip(names, found, strict=True):
        first[name] = min(first.get(name, item), item, key=lambda item: (item.number, item.id))
    for name, item in zip(names, found, strict=True):
        yield name if item.id == first[name].id else f"{name}#{item.id}"


def _names(found: Sequence[Item]) -> list[str]:
    """The unique ids, and digests of the others. Of two equal items one may have got its digest as its id already."""
    seen, given = dict[str, int](), set[tuple[str, str]]()
    for item in found:
        if len(item.uid) == DIGEST_CHARS:
            given.add((_identifying(item), item.uid))
    names = []
    for item in found:
        name = item.uid or content_key(_identifying(item), seen)
        while not item.uid and (_identifying(item), name) in given:
            name = content_key(_identifying(item), seen)
        names.append(name)
    return names


def _identifying(item: Item) -> str:
    return "\0".join(item.digested if item.id else [item.text.rstrip()])


def _same_number(id_: str, open_: list[str]) -> list[str]:
    """Open ids with the same number in another notation: INB-014 for inb-14. A similar number is another item."""
    found = ID.fullmatch(id_.strip().upper())
    if not found:
        return []
    return [name for name in open_ if name.startswith(f"{found[1]}-") and int(name.rpartition("-")[2]) == int(found[2])]
