"""Three-way merging of one thing: what each side did to it since they parted.

A side left the thing as it was, or made it into something else, or took it away: its *variants* are the set of what
it has there now (usually one; none where it was taken away). Whoever left it alone agrees with the other; two who
changed it give all their variants together. That is a join: the order in which sides meet does not matter, and
meeting twice changes nothing. Two variants where each side had one is a conflict: both are kept, and people decide.
"""

from collections.abc import Set
from typing import TypeVar

T = TypeVar("T")


def join(base: Set[T], ours: Set[T], theirs: Set[T]) -> Set[T]:
    """What there is after merging. Taken away and changed gives the change."""
    if ours == base:
        return theirs
    return ours if theirs == base else ours | theirs


def is_conflict(joined: Set[T], ours: Set[T], theirs: Set[T]) -> bool:
    """Whether merging made two variants where each side had fewer."""
    return len(joined) > 1 and joined not in (ours, theirs)


def members(base: Set[T], ours: Set[T], theirs: Set[T]) -> Set[T]:
    """For a set of separate things: what either side took out is out, what either put in is in."""
    return (ours & theirs) | ((ours | theirs) - base)
