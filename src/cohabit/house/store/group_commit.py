"""A store for several writers: what they commit at the same time becomes one commit, with one sync for all."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from cohabit.errors import CohabitError, OutcomeUnknown
from cohabit.house.store.contract import Store, Write

Committed = Callable[[str, Sequence[Write]], None]
"""Called with the node and its writes when they are durable, in the order of the commits, on any thread."""


class _Job:
    def __init__(self, node: str, writes: Sequence[Write]) -> None:
        self.node, self.writes = node, writes
        self.is_done = False
        self.failure: BaseException | None = None


class GroupCommit:
    """Wraps a store. ``node``: whose commits those are that come without a name.

    A commit of one writer that the store refuses does not fail the commits of the others.
    """

    def __init__(self, store: Store, node: str, committed: Committed = lambda node, writes: None) -> None:
        self._store = store
        self._node = node
        self.committed = committed
        self._lock = threading.Lock()
        self._committing = threading.Lock()
        self._waiting: list[_Job] = []

    def commit(self, writes: Sequence[Write], node: str = "") -> None:
        job = _Job(node or self._node, writes)
        with self._lock:
            self._waiting.append(job)
        with self._committing:  # who gets here first commits for all that wait
            if not job.is_done:
                with self._lock:
                    jobs, self._waiting = self._waiting, []
                self._commit(jobs)
        if job.failure is not None:
            raise job.failure

    def _commit(self, jobs: list[_Job]) -> None:
        failure = self._try([write for job in jobs for write in job.writes])
        singly = isinstance(failure, CohabitError) and not isinstance(failure, OutcomeUnknown) and len(jobs) > 1
        for job in jobs:
            job.failure = self._try(job.writes) if singly else failure
            if job.failure is None:
                self.committed(job.node, job.writes)
            job.is_done = True

    def _try(self, writes: Sequence[Write]) -> BaseException | None:
        try:
            self._store.commit(writes)
        except BaseException as wrong:
            return wrong
        return None

    def __getattr__(self, name: str) -> Any:
        """Everything but commits is as in the store."""
        return getattr(self._store, name)
