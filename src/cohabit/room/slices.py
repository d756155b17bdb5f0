"""Slices of state: what a feature keeps of a room, and of each of its members.

A slice is a struct of plain values under the name of its feature. It is stored, digested, replayed and rolled back with
the rest of the state. It is made when the feature first changes it, so a room that does not use a feature keeps nothing
of it.
"""

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from cohabit.errors import RecordCorrupt

T = TypeVar("T", bound=Struct)


class Sliced(Protocol):
    """The state of a room, or a member."""

    slices: dict[str, Any]


class Slice(Generic[T]):
    """One feature's slice. All fields of ``kind`` need default values; leave those out of the stored form
    (``omit_defaults=True``)."""

    def __init__(self, feature: str, kind: type[T], *, digested: Callable[[T], Any] | None = None) -> None:
        """``digested``: makes a short value that stands for a slice of a member in a digest of the room."""
        try:
            kind()
        except TypeError:
            raise TypeError(f"{feature}: the fields of a slice ({kind.__name__}) need default values") from None
        self.feature = feature
        self.kind = kind
        self.digested = digested

    def read(self, of: Sliced) -> T:
        """The slice, or a default that is not kept. Do not change it."""
        found: T | None = of.slices.get(self.feature)
        return self.kind() if found is None else found

    def change(self, of: Sliced) -> T:
        """The slice, to be changed. It is kept from now on."""
        found: T | None = of.slices.get(self.feature)
        if found is None:
            found = of.slices[self.feature] = self.kind()
        return found

    def drop(self, of: Sliced) -> None:
        """Keep nothing any more."""
        of.slices.pop(self.feature, None)

    def is_kept(self, of: Sliced) -> bool:
        return self.feature in of.slices

    def restore(self, of: Sliced) -> None:
        """Give plain values, as they were stored, their type."""
        kept = of.slices.get(self.feature)
        if isinstance(kept, dict):
            try:
                of.slices[self.feature] = msgspec.convert(kept, self.kind)
            except msgspec.ValidationError as wrong:
                raise RecordCorrupt(f"what the feature {self.feature} keeps is damaged: {wrong}") from None
