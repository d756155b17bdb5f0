"""Published entries and items that are gone, or that are not what they were.

Both are append-only: an entry moves to the archive at most, and an item gets claims and closings. Anything else was
done with plain git, or by a merge that kept one side only.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats.changed_part import changed_part
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Block, Journal
from cohabit.workspace.formats.quoting import named
from cohabit.workspace.formats.text import clip
from cohabit.workspace.merging.merge import JOURNAL_PATH, entry_keys
from cohabit.workspace.merging.ownership import original
from cohabit.workspace.merging.three_way import by_key

MAX_WORDS = 80
"""Characters of an entry or a title in a message."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A published entry or item, as it was first published."""

    path: str
    key: str
    kind: Literal["vanished", "edited"]
    was: Block | Item

    @property
    def what(self) -> str:
        """The loss in words."""
        if isinstance(self.was, Item):
            title = clip(self.was.title, MAX_WORDS)
            return f"{self.kind}: {self.was.id} by {named(self.was.added_by or 'unknown')}, {title!r}"
        entry = self.was.entry
        if entry is None:
            return f"{self.kind}: {clip(self.was.heading, MAX_WORDS)!r}"
        return f"{self.kind}: the entry of {entry.at} by {named(entry.agent_id)}, {clip(entry.summary, MAX_WORDS)!r}"

    @property
    def row(self) -> dict[str, str]:
        return {"id": self.key, "path": self.path, "what": self.what}

    @property
    def note(self) -> str:
        return f"{self.path}: {self.what}; if nobody meant that, restore with the id {self.key} brings it back"


def losses(before: Mapping[str, Sequence[str]], after: Mapping[str, str]) -> list[Loss]:
    """The losses in ``after``, the texts of protocol files. ``before`` are earlier versions by path, oldest first."""
    journals = [version for path, versions in before.items() if JOURNAL_PATH.fullmatch(path) for version in versions]
    now = [text for path, text in after.items() if JOURNAL_PATH.fullmatch(path)]
    return [*_lost_entries(journals, now), *_lost_items(before.get(INBOX, ()), after.get(INBOX, ""))]


def missing_entries(before: str, after: str) -> bool:
    """True if a journal has fewer entries than before, so that the archive has to be looked at."""
    return not (_pieces([before]) <= _pieces([after]) or entry_keys(JOURNAL, before) <= entry_keys(JOURNAL, after))


def _lost_entries(before: Sequence[str], after: Sequence[str]) -> Iterator[Loss]:
    first = dict[str, Block]()
    for block in _distinct(before):
        first.setdefault(block.key, block)
    unchanged = _pieces(after)
    lacking = [block for block in first.values() if block.own.rstrip("\n") not in unchanged]
    if not lacking:  # the usual case; an archive of years need not be parsed
        return
    blocks = [block for text in after for block in Journal.parse(text).blocks]
    here = {block.own_content for block in blocks}
    lacking = [block for block in lacking if block.own_content not in here]
    lacking.sort(key=lambda block: (block.time, block.key))
    alike = {block.key for text in before for group in same_names(text) for block in Journal.parse(group).blocks}
    known = by_key([block for block in blocks if block.uid or block.key not in alike], lacking)
    for block in lacking:
        yield Loss(JOURNAL, block.key, "edited" if block.key in known else "vanished", block)


def same_names(text: str) -> list[str]:
    """The blocks of a journal that have their heading in common with others, a text for each heading. Of those without
    an id nobody can tell which one was edited if one is gone."""
    groups: dict[str, list[str]] = {}
    for piece in Journal.parse(text).pieces[1:]:
        groups.setdefault(piece.partition("\n")[0].rstrip(), []).append(piece)
    return ["".join(group) for group in groups.values() if len(group) > 1]


def _pieces(texts: Iterable[str]) -> set[str]:
    """The texts of all blocks, without line breaks at their ends."""
    return {piece.rstrip("\n") for text in texts for piece in Journal.parse(text).pieces[1:]}


def _distinct(texts: Iterable[str]) -> Iterator[Block]:
    """The blocks of many versions of a journal, each once: most of them are the same in every version."""
    seen = set[str]()
    for text in texts:
        for piece in Journal.parse(text).pieces[1:]:
            if piece not in seen:
                seen.add(piece)
                yield from Journal.parse(piece).blocks


def _lost_items(before: Iterable[str], after: str) -> Iterator[Loss]:
    here = {item.key: item for item in Inbox.parse(after).items}
    first, latest = dict[str, Item](), dict[str, Item]()
    for text in dict.fromkeys(before):
        for item in Inbox.parse(text).items:
            first.setdefault(item.key, item)
            latest[item.key] = item
    known = by_key(here.values(), first.values())
    given_id = {item.origin for item in here.values() if item.uid and item.origin}
    for key, item in sorted(first.items(), key=lambda pair: latest[pair[0]].number):
        if key not in known and not item.uid and item.origin in given_id:
            continue  # a version from before it got its id
        if key not in known:
            yield Loss(INBOX, key, "vanished", latest[key])
        elif original(known[key][0])[1:] != original(item)[1:]:  # its number may change until it is pushed
            yield Loss(INBOX, key, "edited", replace(item, id=known[key][0].id))


# -- changes that lose nothing --------------------------------------------------------------------
def keeps(path: str, before: str, after: str) -> bool:
    """True if ``after`` has every entry or item of ``before`` as it was first published.

    It is asked about every change, and nearly all add an entry, close an item or claim it: for those it is quick.
    """
    if path == INBOX:
        return _keeps_items(before, after)
    return _has_pieces(*changed_part(before, after)) or _has_pieces(before, after)


def _keeps_items(before: str, after: str) -> bool:
    here = {item.key: item for item in Inbox.parse(after).items}
    for item in Inbox.parse(before).items:
        now = here.get(item.key)
        if now is not item and (now is None or original(now)[1:] != original(item)[1:]):
            return False
    return True


def _has_pieces(before: str, after: str) -> bool:
    old, new = (set(Journal(text).pieces[1:]) for text in (before, after))
    lacking = old - new
    return not lacking or {piece.rstrip("\n") for piece in lacking} <= {piece.rstrip("\n") for piece in new}
