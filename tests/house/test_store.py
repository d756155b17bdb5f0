"""Both stores keep the contract, and the checker finds stores that do not."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec import structs

from cohabit.errors import BadArgs
from cohabit.house.store.contract import NO_ROOM, Row, Store, Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.refusals import Refusal
from cohabit.testing.store import CLAIMS, Claim, check_store, threads_read_whole_commits_while_another_commits

Make = Callable[[], Store]


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "memory":
        return MemoryStore
    return lambda: SQLiteStore(Path(tempfile.mkdtemp(dir=tmp_path)))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_each_claim_holds_of_each_store(make: Make, claim: Claim) -> None:
    store = make()
    try:
        claim(store)
    finally:
        store.close()


def test_sqlite_keeps_the_contract_and_so_does_its_backup(tmp_path: Path) -> None:
    opened: list[str] = []

    def open_backup(path: str) -> SQLiteStore:
        opened.append(path)
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        shutil.copy(path, folder / "cohabit.db")
        return SQLiteStore(folder)

    check_store(lambda: SQLiteStore(Path(tempfile.mkdtemp(dir=tmp_path))), open_backup=open_backup)
    assert len(opened) == 1


def test_memory_keeps_the_contract_and_says_that_it_has_no_backup() -> None:
    check_store(MemoryStore)
    with pytest.raises(BadArgs, match="data folder"):
        MemoryStore().backup("anywhere")


def test_every_function_of_the_checker_that_is_a_claim_is_tried() -> None:
    module = vars(__import__("cohabit.testing.store", fromlist=["CLAIMS"]))
    public = {
        name
        for name, value in module.items()
        if callable(value) and getattr(value, "__module__", "") == "cohabit.testing.store" and not name.startswith("_")
    }
    assert {claim.__name__ for claim in CLAIMS} == public - {"check_store"}


# -- stores that must fail --------------------------------------------------------------------------
class LosesRefusals(MemoryStore):
    def refusals(self, room: str) -> list[Refusal]:
        return []


class KeepsEveryRefusal(MemoryStore):
    def _keep_refusals(self, room: str, refusals: Sequence[Refusal]) -> None:
        kept = self._of(room).refusals
        kept.update((refusal.id, refusal) for refusal in refusals)
        self._of(room).refusals = dict(sorted(kept.items()))


class AddsRefusalsInsteadOfReplacingThem(MemoryStore):
    def _keep_refusals(self, room: str, refusals: Sequence[Refusal]) -> None:
        kept = self._of(room).refusals
        kept.update((len(kept) + i, refusal) for i, refusal in enumerate(refusals))


class HalfCommits(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        for write in writes:
            super().commit([write])


class AcceptsNumbersTwice(MemoryStore):
    def _refuse_used_numbers(self, writes: Sequence[Write]) -> None:
        pass


class OverlooksNumbersInTheSameCommit(MemoryStore):
    def _refuse_used_numbers(self, writes: Sequence[Write]) -> None:
        for write in writes:
            super()._refuse_used_numbers([Write(write.room, [line]) for line in write.lines[:1]])


class IgnoresLeases(MemoryStore):
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        return dict.fromkeys([NO_ROOM, *rooms], 1)


class LeasesNeverEnd(MemoryStore):
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        return super().lease(rooms, house, 100, epoch)


class RaisesTheEpochWhenALeaseIsRenewed(MemoryStore):
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        mine = super().lease(rooms, house, ms, epoch).keys() - {NO_ROOM}
        super().release(list(mine), house)
        return super().lease(list(mine), house, ms, epoch)


class LeasesToAHouseThatIsOut(MemoryStore):
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        return super().lease(rooms, house, ms)


class ChecksNoEpochOfAHouse(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.holder and not write.room and write.holder[0] in self._leases._houses:
                write.holder = write.holder[0], self._leases._houses[write.holder[0]][1]
        super().commit(writes)


class ForgetsARoomWhenItsOldEntriesGo(MemoryStore):
    def _forget(self, room: str, before: int) -> None:
        super()._forget(room, before)
        self._of(room).named = set()


class AnybodyReleasesALease(MemoryStore):
    def release(self, rooms: Sequence[str], house: str) -> None:
        for room in rooms:
            self._leases.forget(room)


class ChecksNoHolder(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        super().commit([structs.replace(write, holder=None) for write in writes])


class ChecksTheHolderOfEntriesOnly(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        super().commit([write if write.lines else structs.replace(write, holder=None) for write in writes])


class ChecksNoHolderWithoutARoom(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        super().commit([write if write.room else structs.replace(write, holder=None) for write in writes])


class WritesAfterALeaseHasEndedIfNobodyTookIt(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        for house in {write.holder[0] for write in writes if write.holder}:
            self.lease([], house, 100)
        super().commit(writes)


class LosesSavesWhenARoomIsWrittenAgain(MemoryStore):
    def _write(self, write: Write, appended: bool) -> None:
        if write.rewrite:
            self._of(write.room).saves = {}
        super()._write(write, appended)


class DeletesCredentialsOfOtherRooms(MemoryStore):
    def _delete(self, room: str) -> None:
        super()._delete(room)
        self._credentials.clear()


class DeletesCredentialsOfNoRoom(MemoryStore):
    def _delete(self, room: str) -> None:
        super()._delete(room)
        self._credentials = {key: found for key, found in self._credentials.items() if found.room is not None}


class LeavesInvitesOfADeletedRoom(MemoryStore):
    def _delete(self, room: str) -> None:
        invites = self._invites
        super()._delete(room)
        self._invites = invites


class LeavesIdentitiesOfADeletedRoom(MemoryStore):
    def _write(self, write: Write, appended: bool) -> None:
        super()._write(structs.replace(write, forget=()) if write.delete else write, appended)


class LeavesTheLeaseOfADeletedRoom(MemoryStore):
    def _delete(self, room: str) -> None:
        lease = self._leases._held.get(room)
        super()._delete(room)
        if lease is not None:
            self._leases._held[room] = lease


class DeletesRoomsAfterEverythingElse(MemoryStore):
    def commit(self, writes: Sequence[Write]) -> None:
        super().commit([*(w for w in writes if not w.delete), *(w for w in writes if w.delete)])


class PrunesWithoutBounds(MemoryStore):
    def _forget(self, room: str, before: int) -> None:
        self._of(room).rows = [row for row in self._of(room).rows if row[0] >= before]


class PrunesUpToTheNewestSnapshot(MemoryStore):
    def _forget(self, room: str, before: int) -> None:
        snapshots = self._of(room).snapshots
        self._of(room).snapshots = snapshots[:1]
        try:
            super()._forget(room, before)
        finally:
            self._of(room).snapshots = snapshots


class KeepsOneSnapshot(MemoryStore):
    def _keep_snapshot(self, room: str, snapshot: tuple[int, bytes]) -> None:
        self._of(room).snapshots = [snapshot]


class KeepsEverySnapshot(MemoryStore):
    def _keep_snapshot(self, room: str, snapshot: tuple[int, bytes]) -> None:
        self._of(room).snapshots.insert(0, snapshot)


class GivesTheOldestSnapshotFirst(MemoryStore):
    def snapshots(self, room: str) -> list[bytes]:
        return super().snapshots(room)[::-1]


class IgnoresTheLimit(MemoryStore):
    def lines(self, room: str, after: int, limit: int | None = None) -> list[Row]:
        return super().lines(room, after)


class BeginsWithTheEntryItself(MemoryStore):
    def lines(self, room: str, after: int, limit: int | None = None) -> list[Row]:
        return super().lines(room, after - 1, limit)


class ListsRoomsAsTheyCame(MemoryStore):
    def rooms(self) -> list[str]:
        return [room for room, stored in self._rooms.items() if stored.rows or stored.snapshots]


class ListsRoomsWithoutARecord(MemoryStore):
    def rooms(self) -> list[str]:
        return sorted(self._rooms)


class OmitsRoomsWithoutASnapshot(MemoryStore):
    def rooms(self) -> list[str]:
        return sorted(room for room, stored in self._rooms.items() if stored.snapshots)


class SharesItsCredentials(MemoryStore):
    def credentials(self) -> list[Credential]:
        return [self._credentials[key] for key in sorted(self._credentials)]


class NeverReplacesAnIdentity(MemoryStore):
    def _write(self, write: Write, appended: bool) -> None:
        known = dict(self._identities)
        super()._write(write, appended)
        self._identities.update(known)


class ForgetsTheOwner(MemoryStore):
    def identities(self) -> list[Identity]:
        return [Identity(i.id, i.name, i.kind, None, i.host) for i in super().identities()]


class ListsInvitesBackwards(MemoryStore):
    def invites(self) -> list[Invite]:
        return super().invites()[::-1]


class WritesAnEmptyBackup(MemoryStore):
    def backup(self, path: str) -> None:
        Path(path).touch()


BROKEN: list[tuple[type[MemoryStore], str]] = [
    (LosesRefusals, "refusals are kept oldest first and replaced by id"),
    (KeepsEveryRefusal, "only the newest refusals are kept"),
    (AddsRefusalsInsteadOfReplacingThem, "refusals are kept oldest first and replaced by id"),
    (HalfCommits, "a commit with a number that is taken leaves nothing"),
    (HalfCommits, "a failed commit deletes nothing"),
    (AcceptsNumbersTwice, "a commit with a number that is taken leaves nothing"),
    (OverlooksNumbersInTheSameCommit, "a number given twice in one commit is refused"),
    (IgnoresLeases, "a lease keeps other houses out until it ends"),
    (IgnoresLeases, "one of many houses gets the lease"),
    (LeasesNeverEnd, "a lease keeps other houses out until it ends"),
    (RaisesTheEpochWhenALeaseIsRenewed, "all leases of a house are renewed together and keep their epochs"),
    (ChecksNoHolder, "a house whose lease has ended writes nothing"),
    (ChecksNoHolderWithoutARoom, "a house whose lease has ended writes nothing"),
    (ChecksTheHolderOfEntriesOnly, "a house whose lease has ended writes nothing"),
    (WritesAfterALeaseHasEndedIfNobodyTookIt, "a house whose lease has ended writes nothing"),
    (LeasesToAHouseThatIsOut, "a house from which another took a room is out until it begins again"),
    (ChecksNoEpochOfAHouse, "a house from which another took a room is out until it begins again"),
    (
        ForgetsARoomWhenItsOldEntriesGo,
        "the rooms that name an identity are known until they are deleted or written again",
    ),
    (LosesSavesWhenARoomIsWrittenAgain, "saves are kept by room and name and replaced"),
    (AnybodyReleasesALease, "a lease is released by its holder alone"),
    (DeletesCredentialsOfOtherRooms, "a deletion forgets everything of that room and nothing else"),
    (DeletesCredentialsOfNoRoom, "a deletion forgets everything of that room and nothing else"),
    (LeavesInvitesOfADeletedRoom, "a deletion forgets everything of that room and nothing else"),
    (LeavesIdentitiesOfADeletedRoom, "a room is deleted together with the identities that exist only for it"),
    (LeavesTheLeaseOfADeletedRoom, "a deletion forgets everything of that room and nothing else"),
    (DeletesRoomsAfterEverythingElse, "a deleted room can be made again"),
    (PrunesWithoutBounds, "forgetting never passes the oldest kept snapshot"),
    (PrunesUpToTheNewestSnapshot, "forgetting never passes the oldest kept snapshot"),
    (KeepsOneSnapshot, "the two newest snapshots are kept newest first"),
    (KeepsEverySnapshot, "the two newest snapshots are kept newest first"),
    (GivesTheOldestSnapshotFirst, "the two newest snapshots are kept newest first"),
    (IgnoresTheLimit, "entries come in order after a number and up to a limit"),
    (BeginsWithTheEntryItself, "entries come in order after a number and up to a limit"),
    (ListsRoomsAsTheyCame, "rooms are those with an entry or a snapshot sorted"),
    (ListsRoomsWithoutARecord, "rooms are those with an entry or a snapshot sorted"),
    (OmitsRoomsWithoutASnapshot, "rooms are those with an entry or a snapshot sorted"),
    (SharesItsCredentials, "stored values do not change with their objects"),
    (NeverReplacesAnIdentity, "identities credentials and invites are kept and replaced"),
    (ForgetsTheOwner, "identities credentials and invites are kept and replaced"),
    (ListsInvitesBackwards, "identities credentials and invites are kept and replaced"),
    (WritesAnEmptyBackup, "a backup is a copy that can be read"),
]


@pytest.mark.parametrize(("broken", "claim"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_a_store_that_breaks_a_promise_fails(broken: type[MemoryStore], claim: str) -> None:
    with pytest.raises(AssertionError, match=f"- {claim}: ") as failed:
        check_store(broken)
    assert "claims failed" in str(failed.value)


def test_a_backup_that_lacks_something_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="- a backup is a copy that can be read: the contents of the backup"):
        check_store(lambda: SQLiteStore(Path(tempfile.mkdtemp(dir=tmp_path))), open_backup=lambda path: MemoryStore())


class ShowsHalfACommit(MemoryStore):
    """Half of its first commit is visible until a reader has seen it."""

    def __init__(self) -> None:
        super().__init__()
        self.readers: set[int] = set()
        self.seen = threading.Event()

    def head(self, room: str) -> int:
        found = super().head(room)
        if found >= 0:
            self.readers.add(threading.get_ident())
        return found

    def lines(self, room: str, after: int, limit: int | None = None) -> list[Row]:
        found = super().lines(room, after, limit)
        if threading.get_ident() in self.readers:
            self.seen.set()
        return found

    def commit(self, writes: Sequence[Write]) -> None:
        for write in writes:
            super().commit([write])
            self.seen.wait(10)


def test_a_store_that_shows_half_a_commit_to_readers_fails() -> None:
    with pytest.raises(AssertionError, match="both rooms of a commit, or none"):
        threads_read_whole_commits_while_another_commits(ShowsHalfACommit())
