"""What the fault tests print."""

import sys
import time
from collections.abc import Callable

import pytest


@pytest.fixture
def tell(request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Prints each fault as it comes where a run takes minutes; elsewhere it is shown if the test fails."""
    began, is_long = time.monotonic(), request.node.get_closest_marker("soak") is not None

    def say(text: str) -> None:
        line = f"{time.monotonic() - began:7.1f} {text}\n"
        if is_long:
            with capfd.disabled():
                sys.stderr.write(line)
        else:
            sys.stderr.write(line)

    return say
