"""Heads of records, in a file outside the store.

The digests of a record prove that nothing in it was changed, but not that nothing was cut off its end, or that the
whole was not made again. For that, the number and digest of the last entry have to be known from elsewhere. A house
with the setting ``heads_file`` appends them to that file; `cohabit verify --heads` compares.
"""

import hmac
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from cohabit.errors import BadArgs, RecordCorrupt, StorageFailed
from cohabit.house.clock import Clock, Timer
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Store
from cohabit.house.store.expected import Expected
from cohabit.house.store.loading import check_end
from cohabit.house.threads import Worker

log = logging.getLogger("cohabit")
CurrentHeads = Callable[[], Iterable[tuple[str, int, bytes]]]
"""Returns the room, the number and the digest of the last durable entry of each open room."""


class Head(Struct, frozen=True, omit_defaults=True):
    """The last entry of a room at some time, or the note that a room was deleted."""

    at: int
    room: str
    seq: int
    digest: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")]
    deleted: bool = False
    mac: str = ""  # HMAC-SHA-256 of the line without it, if the house has a key

    def signed(self, key: bytes) -> "Head":
        return msgspec.structs.replace(self, mac=self._mac(key)) if key else self

    def is_signed_with(self, key: bytes) -> bool:
        return hmac.compare_digest(self.mac.encode(), self._mac(key).encode())

    def _mac(self, key: bytes) -> str:
        return hmac.digest(key, msgspec.json.encode(msgspec.structs.replace(self, mac="")), "sha256").hex()


def read_key(path: str) -> bytes:
    """The secret in a file; empty without a file."""
    if not path:
        return b""
    try:
        key = Path(path).expanduser().read_bytes().strip()
    except OSError as wrong:
        raise BadArgs(f"heads_key: {path} cannot be read ({wrong.strerror})") from None
    if len(key) < 16:
        raise BadArgs(f"heads_key: {path} has {len(key)} bytes; a key needs at least 16, for example 32 random ones")
    return key


def read_heads(path: Path, key: bytes = b"") -> dict[str, list[Head]]:
    """The heads in a file by room, in order. Those before a room was deleted are left out.

    With a key, every line must be signed with it. A line that a crash cut off is skipped.
    """
    found: dict[str, list[Head]] = {}
    decode = msgspec.json.Decoder(Head).decode
    try:
        text = path.read_bytes()
    except OSError as wrong:
        raise StorageFailed(f"{path} cannot be read ({wrong.strerror})") from None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            head = decode(line)
        except (msgspec.MsgspecError, ValueError):
            continue
        if key and not head.is_signed_with(key):
            raise RecordCorrupt(
                f"{path}, line {number}, is not signed with this key: it was changed, or another key signed it. Use "
                "another copy of the file, or pass the key of the house (`cohabit verify --heads-key`)"
            )
        if head.deleted:
            found.pop(head.room, None)
        else:
            found.setdefault(head.room, []).append(head)
    return found


def expected(path: Path, seq: int, digest: str) -> Expected:
    """The digest that a head in a file demands of a record."""
    return Expected(seq, bytes.fromhex(digest), f"a head in {path}")


def open_heads(settings: Settings, clock: Clock, current: CurrentHeads) -> "HeadsFile":
    """The file of the settings. Call it off the event loop."""
    path, every_ms = Path(settings.heads_file).expanduser(), int(settings.heads_every_s * 1000)
    return HeadsFile(path, read_key(settings.heads_key), every_ms, clock, current)


class HeadsFile:
    """Appends the heads that have changed, every few seconds and when the house closes."""

    def __init__(self, path: Path, key: bytes, every_ms: int, clock: Clock, current: CurrentHeads) -> None:
        self._path = path
        self._key = key
        self._every_ms = every_ms
        self._clock = clock
        self._current = current
        known = read_heads(path, key) if path.exists() else {}
        self._written = {room: (heads[-1].seq, heads[-1].digest) for room, heads in known.items()}
        self._worker = Worker("heads")
        self._append([])  # a file that cannot be written is reported now
        self._timer: Timer | None = None

    def start(self) -> None:
        """Write the current heads from time to time. Call it when every room is open."""
        self._submit(self._changed())
        self._timer = self._clock.call_at(self._clock.now() + self._every_ms, self.start)

    def check(self, store: Store, room: str) -> None:
        """Check that a stored room reaches the last head that was written. RECORD_CORRUPT if not."""
        if room in self._written:
            seq, digest = self._written[room]
            check_end(store, room, expected(self._path, seq, digest))

    def missing(self, rooms: Iterable[str]) -> list[str]:
        """Rooms that are in the file, but not among these."""
        return sorted(set(self._written) - set(rooms))

    def forget(self, room: str) -> None:
        """Another process of this house has noted that the record of a room was deleted or rewritten."""
        self._written.pop(room, None)

    async def deleted(self, room: str) -> None:
        """Note that a room is about to be deleted."""
        self.forget(room)
        line = Head(self._clock.now(), room, -1, "", deleted=True)
        await self._worker.run(lambda: self._append([line]))

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        last = self._changed()
        await self._worker.run(lambda: self._try_append(last))
        self._worker.close()

    def _changed(self) -> list[Head]:
        now = self._clock.now()
        found = [(room, seq, digest.hex()) for room, seq, digest in self._current()]
        fresh = [each for each in found if self._written.get(each[0]) != each[1:]]
        self._written.update({room: (seq, digest) for room, seq, digest in fresh})
        return [Head(now, room, seq, digest) for room, seq, digest in fresh]

    def _submit(self, heads: Sequence[Head]) -> None:
        if heads:
            self._worker.submit(lambda: self._try_append(heads))

    def _try_append(self, heads: Sequence[Head]) -> None:
        try:
            self._append(heads)
        except StorageFailed as failed:  # the record itself is complete
            log.error("%s", failed.message)

    def _append(self, heads: Sequence[Head]) -> None:
        text = b"".join(msgspec.json.encode(head.signed(self._key)) + b"\n" for head in heads)
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                if text:
                    end = os.fstat(handle).st_size
                    torn = end > 0 and os.pread(handle, 1, end - 1) != b"\n"
                    os.write(handle, b"\n" + text if torn else text)
                    os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as wrong:
            raise StorageFailed(f"heads_file: {self._path} cannot be written ({wrong.strerror})") from wrong
