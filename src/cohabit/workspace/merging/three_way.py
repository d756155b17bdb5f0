"""The result of a merge, and three-way merging of sets.

A side keeps a thing, changes it or removes it: its *variants* are the set of texts that it has for that thing, usually
one, none if it removed it. If one side made no change, the other side's variants are the result; if both did, it is
the union. The operation is commutative and idempotent, so the order in which sides are merged does not matter. More
variants than either side had are a conflict: all are kept for people to decide.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Set
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from cohabit.workspace.formats.text import with_blank_line, without_trailing_blanks
from cohabit.workspace.merging.numbering import Renumbered

Prefer = Literal["ours", "theirs"] | None
"""The side that wins a conflict; None keeps both."""
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
    @property
    def name(self) -> Hashable:
        """The identity that a person's edit leaves as it is."""

    @property
    def origin(self) -> Hashable:
        """The part of the name that stays with a unique id and another number; None if its id is not from a digest."""


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
def by_key(side: Iterable[K], base: Iterable[K]) -> dict[str, list[K]]:
    """The things of a side by key.

    A thing without a unique id whose key is not in ``base`` may be one of ``base`` that was edited by hand. If exactly
    one thing there had the same name, and the side lacks it, it is that one and gets its key. The same goes for a thing
    that got an id after it was edited, which ``base`` has without an id.
    """
    side, before = list(side), {thing.key: thing for thing in base}
    here = {thing.key for thing in side}
    lacking = [thing for key, thing in before.items() if key not in here]
    edited = _only_ones(lacking, before.values(), lambda thing: thing.name)
    without_id = [thing for thing in before.values() if not thing.uid]
    given_id = _only_ones([thing for thing in lacking if not thing.uid], without_id, lambda thing: thing.origin)
    found: dict[str, list[K]] = {}
    for thing in side:
        key = thing.key
        if key not in before:
            key = (given_id.get(thing.origin) if thing.uid else edited.get(thing.name)) or key
        found.setdefault(key, []).append(thing)
    return found


def _only_ones(lacking: Iterable[K], among: Iterable[K], name: Callable[[K], Hashable]) -> dict[Hashable, str]:
    """The keys of those that are the only one with their name."""
    times_used = Counter(map(name, among))
    return {name(thing): thing.key for thing in lacking if times_used[name(thing)] == 1 and name(thing) is not None}
