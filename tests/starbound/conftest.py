"""No test of this folder may find the token of the bridge, or the password of a console, in the log."""

import logging
from collections.abc import Iterator

import pytest
from tests.starbound.games import TOKEN


@pytest.fixture(autouse=True)
def the_log_never_holds_a_secret(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert not [secret for secret in (TOKEN, "open sesame") if secret in said]
