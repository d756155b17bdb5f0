"""inbox.md: what is open between the agents, and what was.

An inbox is its text, cut into pieces: what stands before the sections, each section's heading, each item. A change
replaces one piece and leaves every other byte alone.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, count
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
UNCOUNTED: Final = 10**9
"""Numbers from here on are no count of anything: new items do not follow them."""


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
        found = [(name, texts[0], [items.read(text, name) for text in texts[1:]]) for name, texts in self._cut[1]]
        first = _first_ids(item for _, _, inside in found for item in inside)
        seen: dict[str, int] = {}
        return tuple(
            Section(name, heading, tuple(replace(item, key=_key(item, first, seen)) for item in inside))
            for name, heading, inside in found
        )

    @property
    def items(self) -> list[Item]:
        """All items, open and closed, as they stand in the file."""
        return [item for section in self.sections for item in section.items if item.id]

    def find(self, id_: str) -> Item:
        """The open item of that id, and no other; raises UnknownAsset, which tells who closed it where it is closed."""
        found = next((item for item in self.items if item.id == id_ and item.open), None)
        if found is None:
            closing = self._closing(id_)
            near = _same_number(id_, [item.id for item in self.items if item.open])
            raise UnknownAsset(
                f"inbox item {id_[:80]} not found in Open section",
                did_you_mean=near,
                **({"closed_at": closing.at, "closed_by": closing.by} if closing else {}),
            )
        return found

    def _closing(self, id_: str) -> Closing | None:
        """How the item of that id was closed, if one was."""
        return next((item.closing for item in self.items if item.id == id_ and item.closing), None)

    def next_id(self, prefix: str = PREFIX) -> str:
        """The number after the largest on any item line; mentions do not count, nor numbers that no one counts to."""
        return f"{prefix}-{next(free_numbers(self.numbers(prefix))):03d}"

    def numbers(self, prefix: str = PREFIX) -> set[int]:
        """The numbers on all item lines, also of sections that are text."""
        found = re.findall(rf"^- \[.\] +(?:~~)?{prefix}-([0-9]{{1,18}})(?![0-9])", self.text, re.MULTILINE)
        return set(map(int, found))

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
        closing = self._closing(id_)
        if closing and not any(item.id == id_ and item.open for item in self.items):
            raise Conflict(f"{id_} was closed {closing.at} by {closing.by or 'hand'}; there is nothing to claim")
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


def free_numbers(taken: Collection[int]) -> Iterator[int]:
    """The numbers after the largest that somebody counted to, without those that are taken."""
    start = max((number for number in taken if number < UNCOUNTED), default=0) + 1
    return (number for number in count(start) if number not in taken)


def _split(text: str, starts: list[int]) -> list[str]:
    """``text`` cut at these places; the first piece is what stands before all of them."""
    return [text[a:b] for a, b in zip([0, *starts], [*starts, len(text)], strict=True)]


def _cut_section(heading: str, text: str) -> tuple[str, list[str]]:
    name = heading.strip()
    known = {"open": "Open", "closed": "Closed"}.get(name.lower())
    return known or name, _split(text, [found.start() for found in START.finditer(text)] if known else [])


def _first_ids(found: Iterable[Item]) -> dict[str, str]:
    """Of each unique id the smallest number it stands at, wherever in the file: a copy made by hand has a later one."""
    first: dict[str, Item] = {}
    for item in found:
        if item.uid:
            first[item.uid] = min(first.get(item.uid, item), item, key=lambda item: (item.number, item.id))
    return {uid: item.id for uid, item in first.items()}


def _key(item: Item, first: Mapping[str, str], seen: dict[str, int]) -> str:
    """An item of the earlier tool is known by all that closing it does not change. A copy with another number is
    another item; with the same number it is a variant of one."""
    if item.uid:
        return item.uid if item.id == first[item.uid] else f"{item.uid}#{item.id}"
    what = (
        [item.id, item.target, item.title, item.added_at, item.added_by, item.body] if item.id else [item.text.rstrip()]
    )
    return content_key("\0".join(what), seen)


def _same_number(id_: str, open_: list[str]) -> list[str]:
    """Open ids of the same number, written otherwise: INB-014 for inb-14. A similar number is another item."""
    found = ID.fullmatch(id_.strip().upper())
    if not found:
        return []
    return [name for name in open_ if name.startswith(f"{found[1]}-") and int(name.rpartition("-")[2]) == int(found[2])]
