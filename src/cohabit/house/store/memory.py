"""A store in memory, for tests, demos and benchmarks."""

import threading
from pathlib import Path

from cohabit.errors import BadArgs
from cohabit.house.store.sqlite import TABLES, SQLiteStore, connect


class MemoryStore(SQLiteStore):
    """See ``Store``: a database without a file. Nothing survives the process."""

    def __init__(self) -> None:
        super().__init__(Path())

    def _open(self) -> None:
        self.path = Path(":memory:")
        # The database belongs to its connection, so there is one, and a reader waits until a commit is complete.
        self._reading = self._writing = threading.RLock()
        self._reader = self._db = connect(self.path)
        self._db.executescript(TABLES)

    def backup(self, path: str) -> None:
        raise BadArgs("a house without a data folder cannot be backed up; start it with --data FOLDER")
