"""What a house needs of a store. Memory and SQLite implement it; `cohabit.testing.store.check_store` checks one.

``commit`` is all or nothing, and returns only when the data would survive a power cut. It is called by the writer
alone, on its own thread; the reading methods may be called from several threads at once. Nothing here is called on the
event loop.

A room is leased by one house at a time. A house that has lost the lease of a room cannot add to its record either:
two entries with the same number are refused.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from cohabit.model.identity import Credential, Identity, Invite
from cohabit.room.audit import Refusal
from cohabit.room.record import Line

Row = tuple[int, bytes, bytes]
"""An entry as it is stored: its number, its bytes, and the digest of the chain up to it."""


class Write(Struct):
    """One part of a commit: what happened in one room, and changes of identities, credentials and invites."""

    room: str = ""
    lines: Sequence[Line] = ()
    snapshot: tuple[int, bytes] | None = None
    refusals: Sequence[Refusal] = ()
    forget_before: int | None = None  # older entries may be deleted, as far as snapshots allow
    delete: bool = False  # delete the room with everything that is stored of it
    identities: Sequence[Identity] = ()
    credentials: Sequence[Credential] = ()
    invites: Sequence[Invite] = ()

    @property
    def has_more_than_lines(self) -> bool:
        return bool(
            self.snapshot or self.refusals or self.forget_before is not None or self.delete
            or self.identities or self.credentials or self.invites
        )  # fmt: skip


class Store(Protocol):
    """See the module."""

    def commit(self, writes: Sequence[Write]) -> None:
        """Make all of these durable, or none of them. STORAGE_FAILED where that is not possible."""

    def rooms(self) -> list[str]:
        """The ids of the rooms that have a snapshot, sorted."""

    def snapshots(self, room: str) -> list[bytes]:
        """The snapshots that are kept, encoded, newest first."""

    def lines(self, room: str, after: int, limit: int | None = None) -> Iterable[Row]:
        """The entries after this number, in order."""

    def head(self, room: str) -> int:
        """The number of the last entry; -1 where there is none."""

    def refusals(self, room: str) -> list[Refusal]:
        """The newest refusals of a room, oldest first."""

    def identities(self) -> list[Identity]: ...

    def credentials(self) -> list[Credential]: ...

    def invites(self) -> list[Invite]: ...

    def lease(self, room: str, house: str, now: int, until: int) -> bool:
        """Take or renew the lease of a room until a time (ms). False where another house holds one that has not
        expired."""

    def release(self, room: str, house: str) -> None:
        """Give back the lease of a room, where this house holds it."""

    def prune(self, room: str, before: int) -> int:
        """Delete entries before ``before``, never past the oldest snapshot that is kept; how many were deleted."""

    def backup(self, path: str) -> None:
        """Write a consistent copy, while the store stays in use."""

    def close(self) -> None: ...
