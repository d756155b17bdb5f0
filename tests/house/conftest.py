"""Nothing a house says, in any of these tests, may hold a token."""

import logging
from collections.abc import Iterator

import pytest

from .making import TOKENS_MADE


@pytest.fixture(autouse=True)
def the_log_never_holds_a_token(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert not [token for token in TOKENS_MADE if token in said]
    TOKENS_MADE.clear()
