"""Hears what other houses of a cluster tell, over a connection of its own."""

import logging
import threading
from collections.abc import Callable
from contextlib import closing

from cohabit.errors import CohabitError
from cohabit.house.store.cluster_contract import News
from cohabit.house.store.postgres_connections import Connections, Db, PgError

log = logging.getLogger("cohabit")
LOOK_EVERY_S = 0.5
"""The interval at which the thread checks if it has to end."""
CHANNEL = "cohabit_"
"""The beginning of the channel. The rest is a hash of the schema: channels belong to a database, houses to a schema."""
NOTIFY = f"select pg_notify('{CHANNEL}' || md5(current_schema()), %s)"


def notify(db: Db, news: News) -> None:
    """All houses hear this when the transaction is committed."""
    db.execute(NOTIFY, (news,))


class Listener:
    """Calls ``heard`` on its thread, until it is stopped. After each connection it says that news may have been
    missed."""

    def __init__(self, connections: Connections, heard: Callable[[News], None]) -> None:
        self._connections = connections
        self._heard = heard
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cohabit-news", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with closing(self._connections.connect()) as db:
                    self._hear(db)
            except (PgError, CohabitError) as lost:
                log.debug("the connection for news of other houses was lost: %s", lost)
                self._stopping.wait(LOOK_EVERY_S)

    def _hear(self, db: Db) -> None:
        row = db.execute("select md5(current_schema())").fetchone()
        assert row is not None
        db.execute(f"listen {CHANNEL}{row[0]}")
        self._heard(News.RECONNECTED)
        while not self._stopping.is_set():
            for told in db.notifies(timeout=LOOK_EVERY_S):
                self._heard(_news(told.payload))
                if self._stopping.is_set():
                    return


def _news(payload: str) -> News:
    """Of a kind that only a newer version knows, at least that there is something new."""
    return News(payload) if payload in tuple(News) else News.RECONNECTED
