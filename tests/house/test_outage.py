"""What the log says while something fails: enough to know of it, and not a line for each attempt."""

import asyncio
import logging
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest
from tests.postgres import Server, lines, writing

from cohabit.house.house import STORE_AWAY, House
from cohabit.house.settings import Settings
from cohabit.house.store.outage import REPEAT_S, Outage
from cohabit.house.store.postgres import PostgresStore
from cohabit.house.store.postgres_connections import READERS
from cohabit.testing.clock import FakeClock


class Watched:
    """An outage of a database, and the time by its clock."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.now = 0.0
        self.outage = Outage("the database", "cannot be reached", "answers again", lambda: self.now)
        self._caplog = caplog

    def said(self) -> list[str]:
        found = [record.getMessage() for record in self._caplog.records]
        self._caplog.clear()
        return found


@pytest.fixture
def watched(caplog: pytest.LogCaptureFixture) -> Watched:
    caplog.set_level(logging.INFO)
    return Watched(caplog)


def test_an_outage_is_told_once_then_once_a_minute_and_when_it_is_over(watched: Watched) -> None:
    outage = watched.outage
    for watched.now in (0.0, 1.0, REPEAT_S - 1):
        outage.failed("connection refused")
        assert not outage.is_over
    assert watched.said() == ["the database cannot be reached: connection refused"]
    watched.now = REPEAT_S
    outage.failed("timeout")
    assert watched.said() == ["the database cannot be reached for 60 s: timeout"]
    watched.now = 90.0
    outage.over()
    outage.over()
    assert outage.is_over
    assert watched.said() == ["the database answers again, after 90.0 s"]


def test_a_database_that_comes_and_goes_does_not_fill_the_log(watched: Watched) -> None:
    for watched.now in range(10):
        watched.outage.failed("connection refused")
        watched.outage.over()
    assert watched.said() == [
        "the database cannot be reached: connection refused",
        "the database answers again, after 0.0 s",
    ]


async def test_a_house_alone_is_not_ready_while_its_database_is_away_and_says_so_once(
    postgres: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(store=postgres.new_schema(), data=str(tmp_path))
    async with House.open(settings, clock=FakeClock()) as house:
        assert house.readiness.reasons() == []
        await asyncio.to_thread(postgres.kill)
        try:
            caplog.clear()
            for _ in range(3):
                await house.rooms.leases.renew()
            assert house.readiness.reasons() == [STORE_AWAY]
            told = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
            assert len(told) == 1
            assert told[0].startswith("the PostgreSQL database postgres at ")
            assert " cannot be reached: " in told[0]
        finally:
            await asyncio.to_thread(postgres.start)
        caplog.clear()
        await house.rooms.leases.renew()
        assert house.readiness.reasons() == []
        assert "answers again, after" in caplog.text


@pytest.mark.parametrize("works", ["a write", "a reading"])
def test_a_database_is_reachable_while_old_connections_work_although_a_new_one_could_not_be_made(
    postgres: Server, tmp_path: Path, works: str
) -> None:
    database = postgres.new_database()
    with closing(PostgresStore(database, tmp_path)) as store:
        write = writing(store, "den")
        write(lines(1))
        with psycopg.connect(postgres.url(), autocommit=True) as db, ExitStack() as readings:
            db.execute(f"alter database {database.rpartition('/')[2]} allow_connections false")
            with pytest.raises(psycopg.OperationalError):
                for _ in range(READERS):
                    readings.enter_context(store._connections.reading())
            assert not store.is_reachable
            if works == "a write":
                write(lines(1, start=1))
            else:
                readings.close()
            assert store.is_reachable
