"""The contract between a house and its store. `check_store` in `cohabit.testing.store` checks a store against it.

``commit`` is all or nothing, and returns only when the data would survive a power failure. It is called by the writer
alone, on its own thread; the other methods may be called from several threads at once. Nothing here is called on the
event loop. A store keeps copies: an object that changes after its commit does not change the stored one.

A room is leased by one house at a time, and each change of its holder raises the epoch. A write that names its holder
is checked in the same transaction: a house whose leases have ended writes nothing, and a room that another house has is
not written to. Leases end by the clock of the store, so houses need no common clock. As soon as another house takes a
room of a house whose leases have ended, that house is out: it loses its own epoch and all rooms, and none of its
transactions is under way any more. Even without a holder, a record cannot be forked: two entries with the same number
are refused.

Errors: STORAGE_FAILED if the store cannot be read or written now (a full disk, a closed store), RECORD_CORRUPT if the
stored data is damaged.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from cohabit.errors import StorageFailed
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
"""The counts of what left a room for one backend: a key that begins with the identity and a line break, and how much.
The rest is opaque to the store."""


StoredSave = tuple[str, bytes]
"""The name of a save of a room, and its bytes."""
Holder = tuple[str, int]
"""The house that holds the lease of a room, and the epoch of that lease; or of no room, and the epoch of the house."""
NO_ROOM = ""
"""The room of a write that concerns none. In what ``lease`` returns, the epoch of the house has this key."""


_IDENTITY = re.compile(rb"i-(?:[0-9a-f]{16}|key-[\w-]{43}|operator)")


def identities_in(body: bytes) -> set[str]:
    """The identities that an entry or a snapshot names, by the form of their ids."""
    if b"i-" not in body:  # most do not: this runs for every entry
        return set()
    return {found.decode() for found in _IDENTITY.findall(body)}


LISTS = (
    "lines", "refusals", "identities", "credentials", "invites", "profiles", "forget", "forget_refusals", "egress",
    "forget_egress", "saves",
)  # fmt: skip


class Write(Struct):
    """One part of a commit: new entries of one room, and changes to identities, credentials, invites and profiles.

    A refusal, identity, credential, invite, profile, count of egress or save replaces the stored one with the same id
    (a credential: the same hash; a profile: the same identity; a count: the same key in the same room; a save: the same
    name in the same room).
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
    saves: Sequence[StoredSave] = ()
    holder: Holder | None = None
    """Refuse this write unless this house has the room, in this epoch, and its leases have not ended. Without a room,
    the epoch is that of the house. None: no check."""

    @property
    def is_fenced(self) -> bool:
        """True if its holder has to be checked. A write of nothing only waits for those before it."""
        return self.holder is not None and (bool(self.lines) or self.has_more_than_lines)

    @property
    def has_more_than_lines(self) -> bool:
        return bool(
            self.snapshot or self.refusals or self.forget_before is not None or self.delete
            or self.identities or self.credentials or self.invites or self.profiles or self.rewrite or self.forget
            or self.forget_refusals or self.egress or self.forget_egress or self.saves
        )  # fmt: skip

    @property
    def concerns_all(self) -> bool:
        """True if every process of the house has to know: who has access has changed, which rooms there are, or what
        the record of one was."""
        access = self.identities or self.credentials or self.invites or self.forget
        return bool(access or self.delete or self.rewrite or (self.lines and self.lines[0].seq == 0))

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

    @property
    def is_reachable(self) -> bool:
        """True if the store could be reached the last time. A database may be away for a while."""

    def commit(self, writes: Sequence[Write]) -> None:
        """Make all of these durable, in this order, or none of them. STORAGE_FAILED if that is not possible: then
        nothing was written. If the connection to the store is lost, it waits until it knows the outcome.
        OUTCOME_UNKNOWN only after ``give_up``."""

    def give_up(self) -> None:
        """The house is closing: no commit waits any longer for a store that cannot be reached."""

    def rooms(self) -> list[str]:
        """The ids of the rooms that have an entry or a snapshot, sorted. One without a snapshot cannot be opened."""

    def snapshots(self, room: str) -> list[bytes]:
        """The newest ``SNAPSHOTS_KEPT`` snapshots, encoded, newest first."""

    def lines(self, room: str, after: int, limit: int | None = None) -> Iterable[Row]:
        """The entries after this number, in order; at most ``limit`` of them."""

    def head(self, room: str) -> int:
        """The number of the last entry; -1 if there is none."""

    def size(self, room: str) -> int:
        """The bytes of a room's entries."""

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
        """The stored data of an identity; None: nothing. The time does not grow with their number."""

    def egress(self, room: str) -> list[bytes]:
        """The stored counts of what left a room, sorted by key."""

    def saves(self, room: str) -> list[str]:
        """The names of the saves of a room, sorted."""

    def save(self, room: str, name: str) -> bytes | None:
        """A save of a room; None: there is none of this name."""

    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        """Let all leases of a house end this long from now, by the clock of the store, and lease it these rooms too.
        Returns the epoch of the house (``NO_ROOM``), and of each of these rooms that it has; another house has the
        others, and its leases have not ended. The epoch of a room stays the same until another house has it, or it is
        released. ``epoch``: that of the house, if it has one. Nothing is leased or returned if the house is out."""

    def release(self, rooms: Sequence[str], house: str) -> None:
        """Release the leases of these rooms that this house has."""

    def backup(self, path: str) -> None:
        """Write a consistent copy, while the store stays in use. BAD_ARGS if the store does not support backups."""

    def scrub(self) -> None:
        """Make sure that nothing that was deleted can be found in the files of the store any more, as far as the store
        can."""

    def close(self) -> None:
        """Release files and locks. Calling it again does nothing."""


class LastingStore(Store, Protocol):
    """A store that is there when no house is running."""

    place: str
    """The location, for messages."""

    def problems(self) -> list[str]:
        """The problems of the stored data as a whole, in words."""


# -- for stores that keep tables -------------------------------------------------------------------
def in_parts(writes: Sequence[Write]) -> Iterator[list[Write]]:
    """Split the writes after each deletion, so a deletion does not affect later writes, and before each rewriting."""
    part: list[Write] = []
    for write in writes:
        if write.rewrite:
            yield part
            part = []
        part.append(write)
        if write.delete:
            yield part
            part = []
    yield part


def named_in(writes: Iterable[Write]) -> set[tuple[str, str]]:
    """The identities that new entries name, with the room of each."""
    return {(one, write.room) for write in writes for line in write.lines for one in identities_in(line.body)}


def not_held(room: str) -> StorageFailed:
    """A house without another one beside it gets here after an outage of its database, until it renews its leases."""
    what = f"the lease of room {room}" if room else "the lease of this house"
    return StorageFailed(
        f"{what} has ended, because this house was suspended or could not reach its database; nothing was written. Try "
        "again in a few seconds: by then the house has renewed its leases, or has learned that another house took over"
    )
