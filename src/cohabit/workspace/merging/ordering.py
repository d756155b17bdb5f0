"""The order of new entries: by time and key, but those of one author in the author's order.

The earlier tool writes local times to the minute, so the times alone may reverse two entries of an author. If a
side has an entry after one that would sort later, it moves directly behind that one. Only such moves count. A move
always goes behind an entry with a later time, so moves of different sides never contradict each other; and a side that
lacks one of the two entries does not matter.

Entries are put into place from the latest to the earliest, each behind the last of those that it must follow. The work
is n·log²n for any input: an attacker can write entries out of order as well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def in_order(
    base: Iterable[str],
    times: Mapping[str, str],
    sequences: Iterable[Sequence[str]] = (),
    undated: Set[str] = frozenset(),
) -> list[str]:
    """Keys in an order that is the same for every agent: those of ``base`` as they were, new ones by time and key.

    ``sequences`` are the keys of one author on one side, in that side's order. A move needs an entry that is
    ``undated``, because exact times are right."""
    old = [key for key in dict.fromkeys(base) if key in times]
    new = sorted(times.keys() - set(old), key=lambda key: (times[key], key))
    rank = {key: i for i, key in enumerate(new)}
    ranks = ([rank[key] for key in sequence if key in rank] for sequence in sequences)
    turned = [_Sequence(each) for each in ranks if any(a > b for a, b in pairwise(each))]
    return old + ([new[i] for i in _moved(turned, [key not in undated for key in new])] if turned else new)


def by_author(side: Mapping[str, Sequence[T]], author: Callable[[T], str]) -> list[list[str]]:
    """The keys of each author's things, in the order of the side; those without an author are left out."""
    found: dict[str, list[str]] = {}
    for key, things in side.items():
        found.setdefault(author(things[0]), []).append(key)
    return [keys for name, keys in found.items() if name]


def _moved(sequences: Sequence["_Sequence"], dated: Sequence[bool]) -> Iterator[int]:
    """The ranks in the order of their entries."""
    places, having = _Places(len(dated)), dict[int, list[_Sequence]]()
    for sequence in sequences:
        for i in sequence.positions:
            having.setdefault(i, []).append(sequence)
    for i in reversed(range(len(dated))):  # so that all entries that an entry may have to follow are in place
        behind = places.first
        for sequence in having.get(i, ()):
            behind = places.later(behind, sequence.last_before(i, places, undated_only=dated[i]))
        places.put(i, behind)
        for sequence in having.get(i, ()):
            sequence.put(i, places, dated=dated[i])
    return places.in_order()


class _Places:
    """A tree in which every entry is below the one that it directly follows. The order is: an entry, then those below
    it, each with all below it, the lowest rank first."""

    def __init__(self, size: int) -> None:
        self.first = size
        """The place before all entries."""
        self._above = [size] * (size + 1)
        self._depth = [0] * (size + 1)
        self._far = [size] * (size + 1)
        """An entry further above, so that any distance takes a logarithmic number of steps."""
        self._below: dict[int, list[int]] = {}

    def put(self, i: int, behind: int) -> None:
        depth, far = self._depth, self._far
        middle = far[behind]
        self._above[i], depth[i] = behind, depth[behind] + 1
        far[i] = far[middle] if depth[behind] - depth[middle] == depth[middle] - depth[far[middle]] else behind
        self._below.setdefault(behind, []).append(i)

    def later(self, a: int, b: int) -> int:
        """The one that comes later."""
        if a == b or b == self.first:
            return a
        depth, above, far = self._depth, self._above, self._far
        x, y = self._at_depth(a, depth[b]), self._at_depth(b, depth[a])
        if x == y:
            return a if depth[a] > depth[b] else b
        while above[x] != above[y]:
            x, y = (far[x], far[y]) if far[x] != far[y] else (above[x], above[y])
        return a if x > y else b

    def _at_depth(self, i: int, depth: int) -> int:
        """The entry itself or the one above it at this depth."""
        depths, above, far = self._depth, self._above, self._far
        while depths[i] > depth:
            i = far[i] if depths[far[i]] >= depth else above[i]
        return i

    def in_order(self) -> Iterator[int]:
        waiting = [*self._below.get(self.first, ())]  # highest rank first, so the last one is next
        while waiting:
            yield (i := waiting.pop())
            waiting += self._below.get(i, ())


class _Sequence:
    """The entries of one author on one side, and the last in place of any number of them from the beginning (a Fenwick
    tree)."""

    def __init__(self, ranks: Sequence[int]) -> None:
        self.positions = {i: at for at, i in enumerate(ranks, 1)}
        self._last: dict[int, int] = {}
        self._last_undated: dict[int, int] = {}

    def last_before(self, i: int, places: _Places, *, undated_only: bool) -> int:
        """The last in place of those that the sequence has before an entry."""
        found, at = places.first, self.positions[i] - 1
        last = self._last_undated if undated_only else self._last
        while at:
            if at in last:
                found = places.later(last[at], found)
            at &= at - 1
        return found

    def put(self, i: int, places: _Places, *, dated: bool) -> None:
        for last in (self._last,) if dated else (self._last, self._last_undated):
            at = self.positions[i]
            while at <= len(self.positions):
                last[at] = places.later(i, last.get(at, places.first))
                at += at & -at
