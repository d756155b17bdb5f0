"""Connections to PostgreSQL: one that writes, a few that read, and what to do when one is lost."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

from cohabit.errors import BadArgs, StorageFailed
from cohabit.house.store.outage import Outage

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError:
    raise BadArgs(
        "PostgreSQL needs a package that is not installed; run `pip install 'cohabit[postgres]'` and start again"
    ) from None

READERS = 4
RECONNECT_S = 10.0
"""The time that a write waits for a database that restarts. It waits longer for the outcome of a commit."""
PAUSE_S = 0.1
_SERVER_OPTIONS: dict[str, str | int] = {
    # A process that is paused inside a transaction keeps the leases it has checked. The server ends it then. It does
    # not while half a statement has arrived, so a house that takes over ends it too.
    "idle_in_transaction_session_timeout": 5_000,
    "lock_timeout": 20_000,
}
_OPTIONS: dict[str, str | int] = {
    "connect_timeout": 5, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}  # fmt: skip
Db: TypeAlias = "psycopg.Connection[Any]"
PgError = psycopg.Error
T = TypeVar("T")


class Lost(Exception):
    """The connection was lost, and it is not known whether the last transaction was committed."""


def first_line(wrong: psycopg.Error) -> str:
    """The text of an error, without the details of each address that was tried."""
    return str(wrong).strip().partition("\n")[0]


def name_of(place: str) -> str:
    """The name by which the server knows the connections of one store."""
    return f"cohabit {place}"


class Connections:
    """``write`` is called by one thread at a time, the rest by any. ``place_id``: of the store whose connections
    these are. ``session`` has a row in the table ``commits``, until this place is closed or taken over from. Once
    ``giving_up``, nothing is waited for."""

    def __init__(self, url: str, read_only: bool = False) -> None:
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error as wrong:
            raise BadArgs(f"store: this is not an address of a PostgreSQL database: {str(wrong).strip()}") from None
        self.place = f"the PostgreSQL database {given.get('dbname', '')} at {given.get('host', 'this machine')}"
        self._info = make_conninfo(url, **{name: value for name, value in _OPTIONS.items() if name not in given})
        self._read_only = read_only
        self.place_id = ""
        self._session = secrets.token_hex(8)
        self.giving_up = threading.Event()
        self._writer: Db | None = None
        self._idle: list[Db] = []
        self._lock = threading.Lock()
        self._free = threading.Semaphore(READERS)
        self._closed = False
        self._is_down = False
        self._has_answered = False  # before that, the code that opens the store reports it
        self.outage = Outage(self.place, "cannot be reached", "answers again")

    @property
    def session(self) -> str:
        """It begins with the place, so that those of a place that is gone can be told from others."""
        return f"{self.place_id}/{self._session}"

    def connect(self) -> Db:
        """A new connection, which the caller closes."""
        if self._closed:
            raise StorageFailed(f"{self.place} was closed")
        try:
            db = self._connect()
        except psycopg.OperationalError as away:
            if self._has_answered:
                self.outage.failed(first_line(away))
            raise
        self._has_answered = True
        self.outage.over()
        return db

    def _connect(self) -> Db:
        db = psycopg.connect(self._info, application_name=name_of(self.place_id), autocommit=True)
        try:
            for name, value in _SERVER_OPTIONS.items():
                db.execute(f"set {name} = {value}")
            db.execute("set synchronous_commit = on")  # an answered call survives a power failure
            if self._read_only:
                db.execute("set default_transaction_read_only = on")
        except BaseException:
            db.close()
            raise
        return db

    # -- reading ----------------------------------------------------------------------------------
    @contextmanager
    def reading(self) -> Iterator[Db]:
        """A connection that nobody else uses meanwhile."""
        with self._free:
            with self._lock:
                db = self._idle.pop() if self._idle and not self._closed else None
            db = db or self.connect()
            try:
                yield db
                self.outage.over()  # also if no new connection was needed
            except BaseException:
                if db.closed:  # after a restart of the server, the others are lost too
                    self._close_idle()
                raise
            finally:
                self._put_back(db)

    def _put_back(self, db: Db) -> None:
        usable = not db.closed and db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with self._lock:
            if usable and not self._closed:
                self._idle.append(db)
                return
        db.close()

    def _close_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    def run(self, work: Callable[[Db], T]) -> T:
        """The result of ``work``. It is called again if an idle connection turns out to be lost, so it must do no harm
        then."""
        try:
            with self.reading() as db:
                return work(db)
        except psycopg.OperationalError as wrong:
            if wrong.sqlstate is not None and not wrong.sqlstate.startswith("57P"):  # the server is there
                raise
            with self.reading() as db:
                return work(db)

    # -- writing ----------------------------------------------------------------------------------
    def write(self, work: Callable[[Db], None]) -> None:
        """One transaction, with what ``work`` does. If the connection is lost before the commit, it is run again. If it
        is lost during the commit, nothing is done until the outcome is known; raises ``Lost`` if ``giving_up`` ends
        that."""

        def attempt(db: Db, token: str) -> Iterator[None]:
            db.execute(f"begin; update commits set token = '{token}' where session = '{self.session}'", prepare=False)
            work(db)
            yield
            db.execute("commit")

        self._write(attempt)

    def write_at_once(self, work: Callable[[Db, str], None]) -> None:
        """As ``write``, with one statement, which also stores the token it is given for this session."""

        def attempt(db: Db, token: str) -> Iterator[None]:
            yield
            work(db, token)

        self._write(attempt)

    def _write(self, attempt: Callable[[Db, str], Iterator[None]]) -> None:
        """``attempt`` yields before the statement that commits."""
        until = time.monotonic() + (0 if self._is_down else RECONNECT_S)
        while True:
            token = secrets.token_hex(8)
            sent = 0  # the process of the server that got the commit
            try:
                db = self._writing_connection()
                for _ in attempt(db, token):
                    sent = db.info.backend_pid
                self._is_down = False
                self.outage.over()
                return
            except psycopg.Error:
                if self._writer is not None and not self._writer.closed:  # the server has refused it
                    self._roll_back()
                    raise
                self._drop_writer()
                if sent:
                    if self._was_committed(token, sent):
                        return
                elif time.monotonic() >= until or self.giving_up.is_set():
                    self._is_down = True
                    raise
                self.giving_up.wait(PAUSE_S)
            except BaseException:
                self._roll_back()
                raise

    def _writing_connection(self) -> Db:
        if self._writer is None or self._writer.closed:
            self._writer = self.connect()
        return self._writer

    def _roll_back(self) -> None:
        if self._writer is not None and self._writer.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            try:
                self._writer.execute("rollback")
            except psycopg.Error:
                self._drop_writer()

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _was_committed(self, token: str, process: int) -> bool:
        """True if the transaction with this token was committed. The number that the server gives to a transaction
        would not tell: after a crash, another one may get the same number."""
        while True:
            try:
                db = self._writing_connection()
                db.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where pid = %s and application_name = %s",
                    (process, name_of(self.place_id)),
                )
                # For update: it waits for the end of the transaction if that is still under way.
                row = db.execute("select token from commits where session = %s for update", (self.session,)).fetchone()
                self._is_down = False
                if row is not None:
                    return bool(row[0] == token)
                why = "another house has taken over"  # and has removed the row
                break
            except psycopg.Error as wrong:
                self._drop_writer()
                why = first_line(wrong)
            if self.giving_up.wait(PAUSE_S):
                self._is_down = True
                break
        raise Lost(f"{why}; it is not known whether the last changes were written")

    # -- closing ----------------------------------------------------------------------------------
    def close(self) -> None:
        with self._lock:
            self._closed = True
        self._close_idle()
        with suppress(psycopg.Error):
            self._drop_writer()
