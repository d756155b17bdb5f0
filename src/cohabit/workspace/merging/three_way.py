"""The result of a merge, and three-way merging of sets.

A side keeps a thing, changes it or removes it: its *variants* are the set of texts that it has for that thing, usually
one, none if it removed it. If one side made no change, the other side's variants are the result; if both did, it is
the union. The operation is commutative and idempotent, so the order in which sides are merged does not matter. More
variants than either side had are a conflict: all are kept for people to decide.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from cohabit.workspace.formats.text import with_blank_line, without_trailing_blanks
from cohabit.workspace.merging.numbering import Renumbered

Prefer = Literal["ours", "theirs"] | None
"""Which side wins a conflict; None keeps both."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text. With ``conflicts``, it holds both sides of each."""

    text: str | None
    conflicts: tuple[str, ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    notes: tuple[str, ...] = ()


class Keyed(Protocol):
    """An entry or an item, as far as its identity is concerned."""

    @property
    def key(self) -> str: ...
    @property
    def uid(self) -> str: ...


K = TypeVar("K", bound=Keyed)


# -- variants -------------------------------------------------------------------------------------
def merge_variants(base: Set[T], ours: Set[T], theirs: Set[T], prefer: Prefer) -> tuple[Set[T], bool]:
    """The variants after merging, and whether they conflict. With ``prefer``, that side's variants are the result of a
    conflict, and there is none left."""
    merged = theirs if ours == base else ours if theirs == base else ours | theirs
    if merged in (ours, theirs):
        return merged, False
    if prefer is None:
        return merged, True
    return ours if prefer == "ours" else theirs, False


def merge_members(base: Set[T], ours: Set[T], theirs: Set[T]) -> Set[T]:
    """For a set of independent things: removals and additions of both sides apply."""
    return (ours & theirs) | ((ours | theirs) - base)


def merge_text(base: str, ours: str, theirs: str, *, prefer: Prefer = None) -> tuple[str, bool]:
    """Merge text that is not an entry as one thing, and tell whether it conflicts."""
    before, mine, other = (
        {text} if (text := without_trailing_blanks(side)) else set() for side in (base, ours, theirs)
    )
    texts, conflict = merge_variants(before, mine, other, prefer)
    return "".join(with_blank_line(text) for text in sorted(texts)), conflict


# -- keys -----------------------------------------------------------------------------------------
def by_key(side: Iterable[K], base: Iterable[K], name: Callable[[K], str]) -> dict[str, list[K]]:
    """The things of a side by key.

    A thing without a unique id whose key is not in ``base`` may be one of ``base`` that was edited by hand. If exactly
    one thing there had the same ``name``, and the side lacks it, it is that one and gets its key.
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


def in_order(
    base: Iterable[str],
    times: Mapping[str, str],
    sequences: Iterable[Sequence[str]] = (),
    undated: Set[str] = frozenset(),
) -> list[str]:
    """Keys in an order that is the same for every agent: those of ``base`` as they were, new ones by time and key.

    ``sequences`` are the keys of one author on one side, in that side's order. Entries that the earlier tool wrote are
    ``undated``: their times are local and to the minute. If a sequence has one of these after an entry that would come
    later, it moves behind that one, so that the entries of an author stay in order. Only such moves count, so a side
    that lacks one of the two does not matter, nor does the order in which sides are merged."""
    old = [key for key in dict.fromkeys(base) if key in times]
    new = sorted(times.keys() - set(old), key=lambda key: (times[key], key))
    rank = {key: i for i, key in enumerate(new)}
    behind: dict[int, set[int]] = {}
    for sequence in sequences:
        earlier = list[int]()
        for i in (rank[key] for key in sequence if key in rank):
            at = bisect(earlier, i)
            if found := {j for j in earlier[at:] if new[i] in undated or new[j] in undated}:
                behind.setdefault(i, set()).update(found)
            earlier.insert(at, i)
    places = list[set[int]]()
    for i in reversed(range(len(new))):  # an entry moves behind entries of a higher rank only
        places.append({i}.union(*(places[len(new) - 1 - j] for j in behind.get(i, ()))))
    places.reverse()
    order = sorted(range(len(new)), key=lambda i: sorted(places[i], reverse=True))
    return old + [new[i] for i in order]


def by_author(side: Mapping[str, Sequence[K]], author: Callable[[K], str]) -> list[list[str]]:
    """The keys of each author's things, in the order of the side; those without an author are left out."""
    found: dict[str, list[str]] = {}
    for key, things in side.items():
        found.setdefault(author(things[0]), []).append(key)
    return [keys for name, keys in found.items() if name]
