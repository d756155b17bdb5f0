"""No test of this folder may find a token in the log: neither a member's nor the game's."""

import logging
from collections.abc import Iterator

import pytest

from ..house.making import TOKENS_MADE  # noqa: TID252 - the houses of both suites are made there
from .oldbridge import TOKEN


@pytest.fixture(autouse=True)
def the_log_never_holds_a_token(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert not [token for token in (TOKEN, *TOKENS_MADE) if token in said]
    TOKENS_MADE.clear()
