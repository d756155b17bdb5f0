"""What merging a file gives, and what merging journals and inboxes have in common."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from cohabit.workspace.formats.text import with_gap, without_gap
from cohabit.workspace.merging.mend import Renumbered
from cohabit.workspace.merging.variants import is_conflict, join

Prefer = Literal["ours", "theirs"] | None
"""Whose variants are taken of what conflicts; None leaves all of them, for somebody to decide."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome. With ``conflicts`` the text holds both sides of each, and somebody has to decide."""

    text: str | None
    conflicts: tuple[str, ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    notes: tuple[str, ...] = ()


class Keyed(Protocol):
    """An entry or an item, as far as telling it from others goes."""

    @property
    def key(self) -> str: ...
    @property
    def uid(self) -> str: ...


K = TypeVar("K", bound=Keyed)


def by_key(side: Iterable[K], base: Iterable[K], name: Callable[[K], str]) -> dict[str, list[K]]:
    """What a side has under each key.

    A thing without a unique id that is nowhere in ``base`` may be one of ``base`` that was edited by hand: where only
    one there had that ``name``, and the side lacks it, it is that one, and has its key.
    """
    side, before = list(side), {thing.key: name(thing) for thing in base}
    times_used = Counter(before.values())
    lacking = before.keys() - {thing.key for thing in side}
    edited = {before[key]: key for key in lacking if times_used[before[key]] == 1}
    found: dict[str, list[K]] = {}
    for thing in side:
        known = thing.uid or thing.key in before
        found.setdefault(thing.key if known else edited.get(name(thing), thing.key), []).append(thing)
    return found


def in_order(base: Iterable[str], times: Mapping[str, str]) -> list[str]:
    """Keys in the order in which everybody puts them: those of ``base`` as they were, new ones by time, then key."""
    old = [key for key in dict.fromkeys(base) if key in times]
    return old + sorted(times.keys() - set(old), key=lambda key: (times[key], key))


def settle(base: Set[T], ours: Set[T], theirs: Set[T], prefer: Prefer) -> tuple[Set[T], bool]:
    """The variants after merging, and whether they conflict: with ``prefer``, one side's are taken where they would."""
    joined = join(base, ours, theirs)
    conflict = is_conflict(joined, ours, theirs)
    if not conflict or prefer is None:
        return joined, conflict
    return ours if prefer == "ours" else theirs, False


def merge_text(base: str, ours: str, theirs: str, *, prefer: Prefer = None) -> tuple[str, bool]:
    """Text that is no entry: whoever changed it is right; two who did so differently are a conflict."""
    was, mine, other = ({said} if (said := without_gap(text)) else set() for text in (base, ours, theirs))
    texts, conflict = settle(was, mine, other, prefer)
    return "".join(with_gap(text) for text in sorted(texts)), conflict
