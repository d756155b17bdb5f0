"""What a house needs of a store. SQLite fills it; anything else that keeps these promises may.

``commit`` is all or nothing and returns only when the data would survive a power cut. One house at a
time writes a store; several threads may call the reading methods.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from cohabit.room.audit import Refusal
from cohabit.room.record import Line

Row = tuple[int, bytes, bytes]
"""seq, body, digest"""


class Write(Struct):
    """One room's part of a commit. A new room comes with the credentials of its members."""

    room: str
    lines: Sequence[Line] = ()
    snapshot: tuple[int, bytes] | None = None
    refusals: Sequence[Refusal] = ()
    forget_before: int | None = None  # entries older than this may go, as far as snapshots allow

    @property
    def has_more_than_lines(self) -> bool:
        return bool(self.snapshot or self.refusals or self.credentials or self.forget_before is not None)

    credentials: "Sequence[Credential]" = ()


class Credential(Struct, omit_defaults=True):
    """Whose token this is. The token itself is nowhere: only its hash is kept."""

    hash: bytes
    who: str
    kind: str = "agent"
    room: str | None = None  # None: known to the house, in every room that lets it in
    host: bool = False  # may make rooms, and list and enter all of them
    label: str = ""
    created_at: int = 0
    expires_at: int | None = None
    revoked: bool = False


class Store(Protocol):
    def commit(self, writes: Sequence[Write]) -> None: ...

    def rooms(self) -> list[str]: ...

    def delete_room(self, room: str) -> None: ...

    def snapshots(self, room: str) -> list[bytes]:
        """The snapshots that are kept, encoded, newest first."""

    def lines(self, room: str, after: int, most: int | None = None) -> Iterable[Row]: ...

    def head(self, room: str) -> int: ...

    def refusals(self, room: str) -> list[Refusal]: ...

    def credentials(self) -> list[Credential]: ...

    def put_credential(self, credential: Credential) -> None: ...

    def credentials_version(self) -> int:
        """A number that changes whenever anybody changed a credential."""

    def backup(self, path: str) -> None: ...

    def prune(self, room: str, before: int) -> int:
        """Forget entries before ``before``; a snapshot at or after it must be there. How many went."""

    def close(self) -> None: ...
