"""The contract between a house and its store. `check_store` in `cohabit.testing.store` checks a store against it.

``commit`` is all or nothing, and returns only when the data would survive a power failure. It is called by the writer
alone, on its own thread; the other methods may be called from several threads at once. Nothing here is called on the
event loop. A store keeps copies: an object that changes after its commit does not change the stored one.

A room is leased by one house at a time. A house that has lost the lease of a room still cannot fork its record:
two entries with the same number are refused.

Errors: STORAGE_FAILED if the store cannot be read or written now (a full disk, a closed store), RECORD_CORRUPT if the
stored data is damaged.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.refusals import Refusal
from cohabit.room.record import Line

Row = tuple[int, bytes, bytes]
"""A stored entry: its number, its bytes, and the digest of the chain up to it."""
SNAPSHOTS_KEPT = 2
"""Per room. The older one is a fallback if the newest is damaged."""


StoredProfile = tuple[str, bytes]
"""An identity, and what is kept of it. Opaque to the store."""
StoredEgress = tuple[str, bytes]
"""What left a room for one backend: a key that begins with the identity and a line break, and how much. The rest is
opaque to the store."""


_IDENTITY = re.compile(rb"i-(?:[0-9a-f]{16}|key-[\w-]{43}|operator)")


def identities_in(body: bytes) -> set[str]:
    """The identities that an entry or a snapshot names, by the form of their ids."""
    if b"i-" not in body:  # most do not: this runs for every entry
        return set()
    return {found.decode() for found in _IDENTITY.findall(body)}


LISTS = (
    "lines", "refusals", "identities", "credentials", "invites", "profiles", "forget", "forget_refusals", "egress",
    "forget_egress",
)  # fmt: skip


class Write(Struct):
    """One part of a commit: new entries of one room, and changes to identities, credentials, invites and profiles.

    A refusal, identity, credential, invite, profile or count of egress replaces the stored one with the same id (a
    credential: the same hash; a profile: the same identity; a count: the same key in the same room).
    """

    room: str = ""
    lines: Sequence[Line] = ()
    snapshot: tuple[int, bytes] | None = None  # the number of its last entry, and its bytes
    refusals: Sequence[Refusal] = ()
    forget_before: int | None = None  # delete older entries, but none after the oldest kept snapshot
    delete: bool = False  # after the rest of this write: delete all of the room, with its invites and credentials
    identities: Sequence[Identity] = ()
    credentials: Sequence[Credential] = ()
    invites: Sequence[Invite] = ()
    profiles: Sequence[StoredProfile] = ()
    rewrite: bool = False  # before the rest of this write: delete the entries, snapshots and refusals of the room
    forget_refusals: Sequence[int] = ()  # delete the refusals of the room with these ids
    forget: Sequence[str] = ()  # before the rest: delete these identities, with their credentials and profiles
    forget_egress: Sequence[str] = ()  # delete what is stored of the egress of these identities, in every room
    egress: Sequence[StoredEgress] = ()

    @property
    def has_more_than_lines(self) -> bool:
        return bool(
            self.snapshot or self.refusals or self.forget_before is not None or self.delete
            or self.identities or self.credentials or self.invites or self.profiles or self.rewrite or self.forget
            or self.forget_refusals or self.egress or self.forget_egress
        )  # fmt: skip

    def merge(self, other: "Write") -> None:
        """Add what another write changes. It must not be a write of another room."""
        assert other.room in ("", self.room)
        self.snapshot = other.snapshot or self.snapshot
        self.forget_before = other.forget_before if self.forget_before is None else self.forget_before
        self.delete = self.delete or other.delete
        self.rewrite = self.rewrite or other.rewrite
        for name in LISTS:
            setattr(self, name, (*getattr(self, name), *getattr(other, name)))


class Store(Protocol):
    """See the module."""

    def commit(self, writes: Sequence[Write]) -> None:
        """Make all of these durable, in this order, or none of them. STORAGE_FAILED if that is not possible."""

    def rooms(self) -> list[str]:
        """The ids of the rooms that have a snapshot, sorted."""

    def snapshots(self, room: str) -> list[bytes]:
        """The newest ``SNAPSHOTS_KEPT`` snapshots, encoded, newest first."""

    def lines(self, room: str, after: int, limit: int | None = None) -> Iterable[Row]:
        """The entries after this number, in order; at most ``limit`` of them."""

    def head(self, room: str) -> int:
        """The number of the last entry; -1 if there is none."""

    def size(self, room: str) -> int:
        """How many bytes the entries of a room have."""

    def refusals(self, room: str) -> list[Refusal]:
        """The newest ``REFUSALS_KEPT`` refusals of a room by id, oldest first."""

    def identities(self) -> list[Identity]:
        """All identities, sorted by id."""

    def credentials(self) -> list[Credential]:
        """All credentials, sorted by hash."""

    def invites(self) -> list[Invite]:
        """All invites, sorted by id."""

    def rooms_naming(self, identity: str) -> list[str]:
        """The rooms of which an entry names this identity (`identities_in`), or did before it was deleted as too old;
        sorted. The time does not grow with the number of rooms."""

    def profile(self, identity: str) -> bytes | None:
        """What is kept of an identity; None: nothing. The time does not grow with their number."""

    def egress(self, room: str) -> list[bytes]:
        """What is kept of what left a room, sorted by key."""

    def lease(self, room: str, house: str, now: int, until: int) -> bool:
        """Acquire or renew the lease of a room until a time (ms). Returns False if another house holds a lease that has
        not expired."""

    def release(self, room: str, house: str) -> None:
        """Release the lease of a room if this house holds it."""

    def backup(self, path: str) -> None:
        """Write a consistent copy, while the store stays in use. BAD_ARGS if the store does not support backups."""

    def scrub(self) -> None:
        """Make sure that nothing that was deleted can be found in the files of the store any more."""

    def close(self) -> None:
        """Release files and locks. Calling it again does nothing."""
