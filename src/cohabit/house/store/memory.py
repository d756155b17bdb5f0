"""A store that forgets: for trying things out, and for measuring what the disk does not do."""

from collections.abc import Iterator, Sequence

from cohabit.house.store import Credential, Row, Write
from cohabit.room.audit import Refusal


class MemoryStore:
    """See ``Store``; nothing survives the process."""

    def __init__(self) -> None:
        self._lines: dict[str, list[Row]] = {}
        self._snapshots: dict[str, bytes] = {}
        self._credentials: dict[bytes, Credential] = {}
        self._version = 0

    def commit(self, writes: Sequence[Write]) -> None:
        for write in writes:
            self._lines.setdefault(write.room, []).extend((x.seq, x.body, x.digest) for x in write.lines)
            if write.snapshot is not None:
                self._snapshots[write.room] = write.snapshot[1]
            for credential in write.credentials:
                self.put_credential(credential)

    def rooms(self) -> list[str]:
        return sorted(self._lines)

    def delete_room(self, room: str) -> None:
        self._lines.pop(room, None)
        self._snapshots.pop(room, None)

    def snapshots(self, room: str) -> list[bytes]:
        return [self._snapshots[room]] if room in self._snapshots else []

    def lines(self, room: str, after: int, most: int | None = None) -> Iterator[Row]:
        rows = self._lines.get(room, [])
        start = after + 1 - (rows[0][0] if rows else 0)
        yield from rows[max(0, start) :][:most]

    def head(self, room: str) -> int:
        rows = self._lines.get(room)
        return rows[-1][0] if rows else -1

    def refusals(self, room: str) -> list[Refusal]:
        return []

    def credentials(self) -> list[Credential]:
        return list(self._credentials.values())

    def put_credential(self, credential: Credential) -> None:
        self._credentials[credential.hash] = credential
        self._version += 1

    def credentials_version(self) -> int:
        return self._version

    def backup(self, path: str) -> None:
        raise NotImplementedError("a house without a data folder has nothing to back up")

    def prune(self, room: str, before: int) -> int:
        rows = self._lines.get(room, [])
        self._lines[room] = [row for row in rows if row[0] >= before]
        return len(rows) - len(self._lines[room])

    def close(self) -> None:
        pass
