"""Search with the index where there is one, and with ``git grep`` otherwise.

A clone that is searched quickly needs no index. The first slow search starts one in the background, a few files at
a time, so that no call waits long for the lock; until it is done, and whenever much has changed at once, git searches.
"""

import threading
import time
from typing import TYPE_CHECKING, Final

from cohabit.errors import Busy, CohabitError
from cohabit.workspace.searching.search import Found, grep

if TYPE_CHECKING:
    from cohabit.workspace.searching.mirror import Mirror
    from cohabit.workspace.workspace import Workspace

SLOW_SECONDS: Final = 0.02
BATCH: Final = 40
PAUSE_SECONDS: Final = 0.005
WAIT_SECONDS: Final = 0.2
"""How long the background waits for the lock before it looks whether it is to stop."""
MOST_TROUBLES: Final = 2
"""After so many broken indexes this process goes on without one."""


class Finder:
    """How one open clone is searched. Used under its lock."""

    def __init__(self, ws: "Workspace") -> None:
        self._ws = ws
        self._database = ws.own / "search.db"
        self._mirror: Mirror | None = None
        self._troubles = 0
        self._worker: threading.Thread | None = None
        self._stop = threading.Event()

    def find(self, wanted: bytes, within: list[str] | None, limit: int) -> Found:
        found = self._indexed(wanted, within, limit)
        if found is not None:
            return found
        began = time.monotonic()
        found = grep(self._ws, wanted, within, limit)
        if self._mirror is not None or time.monotonic() - began > SLOW_SECONDS:
            self.start()
        return found

    def _indexed(self, wanted: bytes, within: list[str] | None, limit: int) -> Found | None:
        """What the index says, if there is one and it is not behind."""
        if self._mirror is None and not self._database.exists():
            return None
        try:
            return self._open().find(wanted, within, limit)
        except CohabitError:
            self._give_up()
            return None

    def start(self) -> None:
        """Make the index, or bring it up to date, in the background."""
        if self._troubles < MOST_TROUBLES and (self._worker is None or not self._worker.is_alive()):
            self._worker = threading.Thread(target=self._work, name="cohabit-index", daemon=True)
            self._worker.start()

    def wait(self) -> None:
        """Until there is nothing to do in the background. Not under the lock, which the background needs too."""
        if self._worker is not None:
            self._worker.join()

    def close(self) -> None:
        self._stop.set()
        self.wait()
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None

    # -- the index ------------------------------------------------------------------------------------
    def _work(self) -> None:
        looked, left = False, True
        while left and not self._stop.wait(PAUSE_SECONDS):
            try:
                with self._ws.lock.held(WAIT_SECONDS):
                    left = self._step(looked=looked)
                looked = True
            except Busy:  # somebody has been at work for long; they come first
                continue
            except (CohabitError, OSError):  # what is wrong with the clone is told by the next call
                return

    def _step(self, *, looked: bool) -> bool:
        """A part of the work; whether there is more."""
        try:
            mirror = self._open()
            if not looked:
                mirror.notice()
            return mirror.read_some(BATCH) > 0
        except CohabitError:
            self._give_up()
            return False

    def _open(self) -> "Mirror":
        from cohabit.workspace.searching.mirror import Mirror

        if self._troubles >= MOST_TROUBLES:
            raise Busy("no index in this process any more")
        if self._mirror is None:
            self._mirror = Mirror(self._ws.tree, self._database)
        return self._mirror

    def _give_up(self) -> None:
        """An index that is broken is thrown away; the next slow search makes a new one."""
        from cohabit.workspace.searching.mirror import discard

        self._troubles += 1
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None
        discard(self._database)
