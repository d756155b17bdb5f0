"""Damage that a merge by line leaves in a protocol file: conflict markers, and duplicated entries or items.

To repair it, the versions between the markers are merged by entry, as they would have been without plain git.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from cohabit.errors import TooLarge
from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.formats.markers import first_conflict, first_marker, sides
from cohabit.workspace.formats.quoting import quoted
from cohabit.workspace.formats.stamps import DIGEST_CHARS
from cohabit.workspace.formats.text import line_ending, with_line_ending, without_trailing_blanks
from cohabit.workspace.merging.inboxes import merge_inbox
from cohabit.workspace.merging.merge import JOURNAL_PATH, Merged, check_size, merge_file, merge_journal


def repairable(path: str, text: str) -> list[str]:
    """The changes that a repair of a protocol file would try to make, in words."""
    shared = _shared_numbers(text) if path == INBOX and not first_marker(text) else []
    return [*damage(path, text), *(f"two items have the id {id_}" for id_ in shared)]


def damage(path: str, text: str) -> Iterator[str]:
    """The damage in a protocol file, in words. (``health`` lists numbers of two items for itself.)"""
    if line := first_marker(text):
        yield f"git conflict markers, the first on line {line}"
    elif path == INBOX:
        yield from (f"{id_} appears {times} times" for id_, times in _doubled_items(text).items())
    elif JOURNAL_PATH.fullmatch(path):
        yield from (f"the entry {heading} appears {times} times" for heading, times in _doubled_entries(text).items())


def mended(path: str, text: str, pushed: Mapping[str, str]) -> Merged:
    """The text without its damage; the same text if there is none. Raises TooLarge beyond the limits of a merge."""
    result = Merged(text)
    if first_conflict(text) and (found := sides(text)).complete:
        base, ours, theirs = ("".join(side) for side in (found.base, found.ours, found.theirs))
        result = merge_file(path, base, ours, theirs, pushed)
        text = result.text or text
    if not (_shared_numbers(text) or _doubled_items(text) if path == INBOX else _doubled_entries(text)):
        return result
    check_size(path, [text])
    plain = text.replace("\r\n", "\n")
    if path == INBOX:
        again = merge_inbox(plain, plain, plain, _first_holders(plain, pushed))
    else:
        again = merge_journal(path, plain, plain, plain)
    whole = with_line_ending(again.text or "", line_ending(text))
    return Merged(whole, result.conflicts, (*result.renumbered, *again.renumbered))


def undamaged(path: str, text: str) -> str:
    """The text without its damage, if that is possible."""
    try:
        return mended(path, text, {}).text or text
    except TooLarge:
        return text


def _shared_numbers(text: str) -> list[str]:
    """The ids that several different items have, which can be claimed or closed by none of them."""
    items = Inbox.parse(text).items
    ids = Counter(id_ for _, id_ in {(item.digest_uid, item.id) for item in items})
    return [id_ for id_, times in ids.items() if times > 1]


def _first_holders(text: str, pushed: Mapping[str, str]) -> dict[str, str]:
    """The number of each item, except for the later of two items with one number."""
    holders: dict[str, str] = {}
    for item in sorted(Inbox.parse(text).items, key=lambda item: (item.key not in pushed, item.time, item.key)):
        holders.setdefault(item.id, item.key)
    return {key: id_ for id_, key in holders.items()}


def _doubled_items(text: str) -> dict[str, int]:
    """Items that appear more than once and say the same, by id."""
    items = Inbox.parse(text).items
    uids = [item.uid for item in items if item.uid]
    some_without = any(len(uid) == DIGEST_CHARS for uid in uids) and len(items) > len(uids)
    if len(set(uids)) == len(uids) and not some_without:  # the usual case
        return {}
    same = Counter((item.digest_uid, item.target, item.title, item.body, item.added_at) for item in items)
    ids = {item.digest_uid: item.id for item in items}
    without_id = {item.key for item in items if not item.uid}
    copies = Counter(item.uid for item in items if item.uid and item.uid != item.key)  # with another number
    return {
        ids[key[0]]: times
        for key, times in same.items()
        if times > 1 and (key[0] in without_id or times > 1 + copies[key[0]])
    }


def _doubled_entries(text: str) -> dict[str, int]:
    """The same for entries with an id. Without one, two equal entries may be two."""
    blocks = [block for block in Journal.parse(text).blocks if block.uid]
    if len({block.uid for block in blocks}) == len(blocks):  # the usual case
        return {}
    same = Counter((block.uid, without_trailing_blanks(block.own)) for block in blocks)
    headings = {block.uid: quoted(block.heading.removeprefix("## "), 80) for block in blocks}
    return {headings[key[0]]: times for key, times in same.items() if times > 1}
