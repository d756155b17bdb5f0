"""Nothing a house says, in any of these tests, may hold a token."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .making import TOKENS_MADE

if TYPE_CHECKING:
    from tests.postgres import Server

    from cohabit.house.store.postgres import PostgresStore


@pytest.fixture(autouse=True)
def the_log_never_holds_a_token(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert not [token for token in TOKENS_MADE if token in said]
    TOKENS_MADE.clear()


# -- stores on PostgreSQL ---------------------------------------------------------------------------
@pytest.fixture
def url(postgres: "Server") -> str:
    return postgres.new_schema()


@pytest.fixture
def open_store(url: str, tmp_path: Path) -> "Iterator[Callable[[], PostgresStore]]":
    """Opens stores on one database, each as the house of another folder."""
    from cohabit.house.store.postgres import PostgresStore

    opened: list[PostgresStore] = []

    def make() -> PostgresStore:
        opened.append(PostgresStore(url, tmp_path / f"house{len(opened)}"))
        return opened[-1]

    yield make
    for store in opened:
        store.give_up()
        store.close()


@pytest.fixture
def store(open_store: "Callable[[], PostgresStore]") -> "PostgresStore":
    return open_store()
