"""A store in memory, for tests, demos and benchmarks."""

import threading
from bisect import bisect_left
from collections.abc import Sequence
from copy import copy

from cohabit.errors import BadArgs, StorageFailed
from cohabit.house.store.contract import SNAPSHOTS_KEPT, Row, Write, identities_in
from cohabit.house.store.local_leases import LocalLeases, Now, standing
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.refusals import REFUSALS_KEPT, Refusal


class _Stored:
    """The stored data of one room."""

    def __init__(self) -> None:
        self.rows: list[Row] = []  # sorted by number
        self.snapshots: list[tuple[int, bytes]] = []  # newest first
        self.refusals: dict[int, Refusal] = {}
        self.egress: dict[str, bytes] = {}
        self.named: set[str] = set()  # identities
        self.saves: dict[str, bytes] = {}


class MemoryStore:
    """See ``Store``. Nothing survives the process. ``now``: the clock (ms) by which leases end."""

    is_reachable = True

    def __init__(self, now: Now = standing) -> None:
        self._lock = threading.Lock()
        self._rooms: dict[str, _Stored] = {}
        self._identities: dict[str, Identity] = {}
        self._credentials: dict[bytes, Credential] = {}
        self._invites: dict[str, Invite] = {}
        self._profiles: dict[str, bytes] = {}
        self._leases = LocalLeases(now)

    # -- writing ----------------------------------------------------------------------------------
    def commit(self, writes: Sequence[Write]) -> None:
        with self._lock:
            self._leases.check(writes)
            appended = self._only_appends(writes)
            if not appended:
                self._refuse_used_numbers(writes)
            for write in writes:  # from here on nothing fails
                self._write(write, appended)

    def _only_appends(self, writes: Sequence[Write]) -> bool:
        """True if all entries are appended in order, as a house does. Then no lookup is needed."""
        heads: dict[str, int] = {}
        for write in writes:
            if write.rewrite:
                return False
            if write.lines:
                room = write.room
                head = heads[room] if room in heads else self._head(room)
                for line in write.lines:
                    if line.seq <= head:
                        return False
                    head = line.seq
                heads[room] = head
        return True

    def _refuse_used_numbers(self, writes: Sequence[Write]) -> None:
        added: dict[str, set[int]] = {}
        deleted: set[str] = set()
        for write in writes:
            room = write.room
            if write.rewrite:
                deleted.add(room)
                added.pop(room, None)
            if write.lines:
                numbers = added.setdefault(room, set())
                stored = None if room in deleted else self._rooms.get(room)
                for line in write.lines:
                    if line.seq in numbers or (stored is not None and _holds(stored.rows, line.seq)):
                        raise StorageFailed(f"room {room} already has an entry {line.seq}; nothing was written")
                    numbers.add(line.seq)
            if write.delete:
                deleted.add(room)
                added.pop(room, None)

    def _write(self, write: Write, appended: bool) -> None:
        if write.rewrite:
            fresh, old = _Stored(), self._of(write.room)
            fresh.egress, fresh.saves, self._rooms[write.room] = old.egress, old.saves, fresh
        if write.lines:
            stored = self._of(write.room)
            rows = stored.rows
            rows.extend([(line.seq, line.body, line.digest) for line in write.lines])
            stored.named.update(*(identities_in(line.body) for line in write.lines))
            if not appended:
                rows.sort()
        if not write.has_more_than_lines:
            return
        for identity in write.forget:
            self._identities.pop(identity, None)
            self._profiles.pop(identity, None)
        if write.forget:
            left = [one for one in self._credentials.values() if one.identity not in write.forget]
            self._credentials = {one.hash: one for one in left}
        if write.snapshot is not None:
            self._keep_snapshot(write.room, write.snapshot)
        if write.refusals:
            self._keep_refusals(write.room, write.refusals)
        self._identities.update((identity.id, identity) for identity in write.identities)
        # Copies: the house revokes a credential by changing the object that its connections hold.
        self._credentials.update((credential.hash, copy(credential)) for credential in write.credentials)
        self._invites.update((invite.id, invite) for invite in write.invites)
        self._profiles.update(write.profiles)
        if write.egress:
            self._of(write.room).egress.update(write.egress)
        if write.saves:
            self._of(write.room).saves.update(write.saves)
        if write.forget_before is not None:
            self._forget(write.room, write.forget_before)
        for number in write.forget_refusals:
            self._of(write.room).refusals.pop(number, None)
        for identity in write.forget_egress:
            for room in self._rooms.values():
                own = f"{identity}\n"
                room.egress = {key: body for key, body in room.egress.items() if not key.startswith(own)}
        if write.delete:
            self._delete(write.room)

    def _of(self, room: str) -> _Stored:
        found = self._rooms.get(room)
        if found is None:
            found = self._rooms[room] = _Stored()
        return found

    def _head(self, room: str) -> int:
        stored = self._rooms.get(room)
        return stored.rows[-1][0] if stored is not None and stored.rows else -1

    def _keep_snapshot(self, room: str, snapshot: tuple[int, bytes]) -> None:
        stored = self._of(room)
        kept = {**dict(stored.snapshots), snapshot[0]: snapshot[1]}
        stored.snapshots = sorted(kept.items(), reverse=True)[:SNAPSHOTS_KEPT]

    def _keep_refusals(self, room: str, refusals: Sequence[Refusal]) -> None:
        stored = self._of(room)
        stored.refusals.update((refusal.id, copy(refusal)) for refusal in refusals)
        newest = sorted(stored.refusals)[-REFUSALS_KEPT:]
        stored.refusals = {number: stored.refusals[number] for number in newest}

    def _forget(self, room: str, before: int) -> None:
        """Delete old entries, but none after the older snapshot: starting from it needs them."""
        stored = self._rooms.get(room)
        if stored is None or not stored.snapshots:
            return
        edge = min(before, stored.snapshots[-1][0] + 1)
        del stored.rows[: _position(stored.rows, edge)]

    def _delete(self, room: str) -> None:
        self._rooms.pop(room, None)
        self._leases.forget(room)
        self._credentials = {key: found for key, found in self._credentials.items() if found.room != room}
        self._invites = {key: found for key, found in self._invites.items() if found.room != room}

    # -- reading ----------------------------------------------------------------------------------
    def rooms(self) -> list[str]:
        with self._lock:
            return sorted(room for room, stored in self._rooms.items() if stored.rows or stored.snapshots)

    def snapshots(self, room: str) -> list[bytes]:
        with self._lock:
            stored = self._rooms.get(room)
            return [body for _, body in stored.snapshots] if stored is not None else []

    def lines(self, room: str, after: int, limit: int | None = None) -> list[Row]:
        with self._lock:
            stored = self._rooms.get(room)
            if stored is None:
                return []
            start = _position(stored.rows, after + 1)
            return stored.rows[start : None if limit is None else start + limit]

    def head(self, room: str) -> int:
        with self._lock:
            return self._head(room)

    def size(self, room: str) -> int:
        with self._lock:
            stored = self._rooms.get(room)
            return sum(len(body) for _, body, _ in stored.rows) if stored is not None else 0

    def refusals(self, room: str) -> list[Refusal]:
        with self._lock:
            stored = self._rooms.get(room)
            return [copy(refusal) for refusal in stored.refusals.values()] if stored is not None else []

    def identities(self) -> list[Identity]:
        with self._lock:
            return [self._identities[key] for key in sorted(self._identities)]

    def credentials(self) -> list[Credential]:
        with self._lock:
            return [copy(self._credentials[key]) for key in sorted(self._credentials)]

    def invites(self) -> list[Invite]:
        with self._lock:
            return [self._invites[key] for key in sorted(self._invites)]

    def rooms_naming(self, identity: str) -> list[str]:
        with self._lock:
            return sorted(room for room, stored in self._rooms.items() if identity in stored.named)

    def profile(self, identity: str) -> bytes | None:
        with self._lock:
            return self._profiles.get(identity)

    def egress(self, room: str) -> list[bytes]:
        with self._lock:
            stored = self._rooms.get(room)
            return [body for _, body in sorted(stored.egress.items())] if stored is not None else []

    def saves(self, room: str) -> list[str]:
        with self._lock:
            stored = self._rooms.get(room)
            return sorted(stored.saves) if stored is not None else []

    def save(self, room: str, name: str) -> bytes | None:
        with self._lock:
            stored = self._rooms.get(room)
            return stored.saves.get(name) if stored is not None else None

    # -- leases -----------------------------------------------------------------------------------
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        with self._lock:
            return self._leases.take(rooms, house, ms, epoch)

    def release(self, rooms: Sequence[str], house: str) -> None:
        with self._lock:
            self._leases.release(rooms, house)

    # -- the rest ---------------------------------------------------------------------------------
    def give_up(self) -> None:
        pass

    def backup(self, path: str) -> None:
        raise BadArgs("a house without a data folder cannot be backed up; start it with --data FOLDER")

    def scrub(self) -> None:
        pass

    def close(self) -> None:
        pass


def _position(rows: list[Row], seq: int) -> int:
    """The index of the first row with this number or a later one."""
    return bisect_left(rows, seq, key=_number)


def _holds(rows: list[Row], seq: int) -> bool:
    at = _position(rows, seq)
    return at < len(rows) and rows[at][0] == seq


def _number(row: Row) -> int:
    return row[0]
