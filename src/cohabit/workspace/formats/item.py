"""One item of the inbox: a request to an agent or to anyone.

    - [ ] INB-014 @mike-claude-code — 2024 comp data missing␠␠
      added 2026-05-22 14:30 by ann-claude-code
      <!-- cohabit:k3x9 added=2026-05-22T12:30:05Z -->
      claimed 2026-05-22 15:00 by mike-claude-code
      Need raise data for Series A deals.
      \\
      An empty line in the body is a backslash, because Multisphere cuts an item at its first empty line.

A closed item is ticked and struck through and has a ``closed`` line. A second closing, from a merge, is kept below the
first:

    - [x] ~~INB-014 @mike-claude-code — 2024 comp data missing~~␠␠
      …
      closed 2026-05-23 09:00 by mike-claude-code → in research/comps.md, see journal 2026-05-23 09:00
      also closed 2026-05-23 09:05 by eve-claude-code → not needed

(␠ stands for a space at the end of a line.)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Any, Final

from cohabit.workspace.formats import text as texts
from cohabit.workspace.formats.fields import ANYONE, is_addressed_to
from cohabit.workspace.formats.stamps import AGENT, DIGEST_CHARS, HIDDEN, STAMP, Hidden, stamp_as_utc

START: Final = re.compile(r"^- \[", re.MULTILINE)
HEAD: Final = re.compile(
    r"- \[([ xX])\] +(~~)?([A-Z][A-Z0-9]*-[0-9]{1,18})"
    r"(?: +@(\S+(?: +\S+)*?))? +[—–-](?: +(.*))?"  # Multisphere accepts any target; people type other dashes
)
LINE: Final = re.compile(rf"\s+(added|claimed|closed|also closed) ({STAMP}) by ({AGENT})(?: →(?: |\Z)(.*))?")
ID: Final = re.compile(r"([A-Z][A-Z0-9]*)-([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Claim:
    """The agent that works on an item, and since when. ``utc`` is "" if only the local time is known."""

    at: str
    by: str
    utc: str = field(default="", compare=False)

    @property
    def order(self) -> tuple[str, str]:
        """Sort key; the smaller one is earlier."""
        return self.utc or stamp_as_utc(self.at), self.by


@dataclass(frozen=True, slots=True)
class Closing(Claim):
    """The agent that closed an item, and the resolution. Without a time, a person ticked or moved it by hand."""

    resolution: str = ""


TICKED: Final = Closing("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """``text`` is the item as written in the file; the other fields are parsed from it. Without ``id`` it is some other
    list entry that people wrote."""

    id: str = ""
    target: str = ""
    title: str = ""
    body: str = ""
    uid: str = ""
    added_at: str = ""
    added_by: str = ""
    added_utc: str = ""
    claim: Claim | None = None
    closings: tuple[Closing, ...] = ()
    """The first one counts."""
    text: str = field(default="", compare=False)
    section: str = field(default="Open", compare=False)
    key: str = field(default="", compare=False)
    """Identifies this item in every version of the file: its unique id, or a digest of its original fields. If the
    file has this item and a copy of it with another number, the number is part of the key of the copy."""

    @property
    def open(self) -> bool:
        return not self.closings

    @property
    def closing(self) -> Closing | None:
        return self.closings[0] if self.closings else None

    def is_for(self, agent: str) -> bool:
        return is_addressed_to(self.target, agent)

    @property
    def is_for_anyone(self) -> bool:
        """True if any agent may take it; an item without a target is for anyone too."""
        return not self.target or self.is_for(ANYONE)

    @property
    def claimed_by(self) -> str:
        return self.claim.by if self.claim else ""

    @property
    def time(self) -> str:
        """When it was added, in UTC, for ordering."""
        return self.added_utc or stamp_as_utc(self.added_at)

    @property
    def number(self) -> int:
        return int(self.id.rpartition("-")[2] or 0)

    @property
    def name(self) -> tuple[str, ...]:
        """The identity of an item without a unique id that was edited by hand. A number that was used again with
        another title is another item."""
        return self.id, self.title, self.added_at, self.added_by

    @property
    def origin(self) -> tuple[str, ...] | None:
        """The part of the name that stays if an item without a unique id gets one, and another number in the same
        merge; None if its id was not made from a digest."""
        return None if self.uid and len(self.uid) != DIGEST_CHARS else self.name[1:]

    def is_same(self, other: "Item") -> bool:
        """True if two items are one, which may have been edited by hand or got an id in between."""
        if self.uid and other.uid:
            return self.key == other.key
        known = self.name == other.name if not self.uid + other.uid else self.origin == other.origin is not None
        return self.key == other.key or known

    @property
    def digest_uid(self) -> str:
        """Its unique id, or the one to give it. Everybody who gives it one gives it the same."""
        return self.uid or self.key.partition("#")[0]

    @property
    def digested(self) -> tuple[str, ...]:
        """The fields whose digest identifies an item without a unique id. Claiming and closing do not change them."""
        return self.id, self.target, self.title, self.added_at, self.added_by, self.body


def read(text: str, section: str) -> Item:
    """Parse the text of one item."""
    first, *rest = [line.rstrip("\r\n") for line in texts.lines_of(text)]
    head = HEAD.fullmatch(first.rstrip())
    if head is None:
        return Item(text=text, section=section)
    struck, name, target, title = head[2], head[3], head[4], head[5] or ""
    done = head[1] != " " or section == "Closed"
    hidden = Hidden.read(text) or Hidden()
    rest = [line for line in rest if Hidden.read(line) is None]
    closings, rest = _cut_closings(rest, hidden) if done else ((), rest)
    added, claimed, body = _cut_top(rest)
    return Item(
        id=name,
        target=target or "",
        # Multisphere strikes out \r, too.
        title=texts.unescape_comments(title.removesuffix("~~").rstrip() if struck else title),
        body=texts.unescape("\n".join(re.sub(r"^ {0,2}", "", line) for line in texts.without_blank_ends(body))),
        uid=hidden.uid,
        added_at=added[2] if added else "",
        added_by=added[3] if added else "",
        added_utc=hidden.times.get("added", ""),
        claim=Claim(claimed[2], claimed[3], hidden.times.get("claimed", "")) if claimed else None,
        closings=closings or (TICKED,) if done else (),
        text=text,
        section=section,
    )


def _cut_top(lines: list[str]) -> "tuple[re.Match[str] | None, re.Match[str] | None, list[str]]":
    """The ``added`` and the ``claimed`` line, which can only be above the body, and the body."""
    own: dict[str, re.Match[str]] = {}
    for line in lines[:2]:
        found = LINE.fullmatch(line.rstrip())
        if found is None or found[1] not in ("added", "claimed") or found[4] is not None or found[1] in own:
            break
        own[found[1]] = found
    return own.get("added"), own.get("claimed"), lines[len(own) :]


def _cut_closings(lines: list[str], hidden: Hidden) -> tuple[tuple[Closing, ...], list[str]]:
    """The closings of a closed item, which are the last ``closed`` line and those below it, and the other lines."""
    found = {i: match for i, line in enumerate(lines) if (match := LINE.fullmatch(line.rstrip()))}
    last = max((i for i, match in found.items() if match[1] == "closed"), default=len(lines))
    closing = {i: match for i, match in found.items() if i >= last and match[1] in ("closed", "also closed")}
    times = chain((time.strip("-") for time in hidden.times.get("closed", "").split(",")), repeat(""))
    closings = (
        Closing(match[2], match[3], next(times), texts.unescape_comments(match[4] or "")) for match in closing.values()
    )
    return tuple(closings), [line for i, line in enumerate(lines) if i not in closing]


def write(item: Item) -> str:
    r"""The text of an item, with ``\n`` and without the end of its last line."""
    name = f"{item.id}{f' @{item.target}' if item.target else ''} — {texts.escape_comments(item.title)}"
    lines = [f"- [x] ~~{name}~~  " if item.closings else f"- [ ] {name}  "]
    if item.added_at:
        lines.append(f"  added {item.added_at} by {item.added_by}")
    if hidden := _hidden(item).text:
        lines.append(f"  {hidden}")
    if item.claim:
        lines.append(f"  claimed {item.claim.at} by {item.claim.by}")
    if item.body:
        lines += [f"  {line}" for line in texts.escape(item.body, blanks=True).split("\n")]
    for i, closing in enumerate(done for done in item.closings if done.at):
        how = f" → {texts.escape_comments(closing.resolution)}" if closing.resolution else ""
        lines.append(f"  {'also ' if i else ''}closed {closing.at} by {closing.by}{how}")
    return "\n".join(lines)


def changed(item: Item, **changes: Any) -> Item:
    """An item with changes; its text stays as it is if they make no difference.

    If they would change what identifies it, its key becomes its unique id: so it stays the same item, also for those
    who have it without the changes.
    """
    after = replace(item, **changes)
    if after == item:
        return item
    if not after.uid and after.digested != item.digested:
        after = replace(after, uid=item.digest_uid)
    return replace(after, text=write(after))


def with_uid(item: Item, uid: str, added_utc: str = "") -> Item:
    """An item with a unique id. Its text gets a comment, and no other byte changes."""
    if item.uid == uid or not item.id:
        return item
    after = replace(item, uid=uid, added_utc=item.added_utc or added_utc)
    lines = item.text.split("\n")
    comment = f"  {_hidden(after).text}" + ("\r" if lines[0].endswith("\r") else "")
    at = next((i for i, line in enumerate(lines) if HIDDEN.match(line)), 0)
    if at:
        lines[at] = comment
    else:
        added = LINE.fullmatch(lines[1].rstrip()) if len(lines) > 1 else None
        lines.insert(2 if added and added[1] == "added" else 1, comment)
    return replace(after, text="\n".join(lines))


def _hidden(item: Item) -> Hidden:
    closed = [closing.utc or "-" for closing in item.closings if closing.at]
    return Hidden(
        item.uid,
        {
            "added": item.added_utc,
            "claimed": item.claim.utc if item.claim else "",
            "closed": ",".join(closed) if set(closed) - {"-"} else "",
        },
    )


def sort_closings(closings: Iterable[Closing]) -> tuple[Closing, ...]:
    """Each closing once, earliest first. A tick by hand is dropped if there is any other closing."""
    best: dict[Closing, Closing] = {}
    for closing in sorted(closings, key=lambda closing: closing.utc):
        best[closing] = closing if closing.utc or closing not in best else best[closing]
    dated = [closing for closing in best.values() if closing.at]
    return tuple(sorted(dated, key=lambda closing: (*closing.order, closing.resolution))) or tuple(best)
