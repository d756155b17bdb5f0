"""The official clients of the backends: imported when first used, with their errors in our words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cohabit.agents.llm.backend import BackendError
from cohabit.errors import BadArgs

RETRIED = (408, 409, 429, 500, 502, 503, 504, 529)
"""HTTP statuses after which the same request may succeed."""


@contextmanager
def installed(name: str) -> Iterator[None]:
    """Say how to install the package of a backend."""
    try:
        yield
    except ImportError:
        raise BadArgs(f"the package {name} is not installed; pip install 'cohabit[{name}]'") from None


@contextmanager
def translated(module: Any, name: str) -> Iterator[None]:
    """Errors of a client (openai and anthropic have the same) as BackendError."""
    try:
        yield
    except module.APITimeoutError:
        raise BackendError(f"{name}: the server did not answer in time", retry=True) from None
    except module.APIConnectionError as wrong:
        raise BackendError(f"{name}: cannot reach the server: {wrong.__cause__ or wrong}", retry=True) from None
    except module.APIStatusError as wrong:
        status, after = wrong.status_code, _seconds(wrong.response.headers.get("retry-after"))
        message = _one_line(wrong.message)
        raise BackendError(f"{name}: HTTP {status}: {message}", retry=status in RETRIED, after_s=after) from None
    except (module.APIError, ValueError, AttributeError, TypeError) as wrong:  # a reply that is no such reply
        reason = f"{type(wrong).__name__}: {_one_line(str(wrong))}"
        raise BackendError(f"{name}: the server's reply cannot be read: {reason}", retry=True) from None


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _one_line(text: str) -> str:
    return " ".join(str(text).split())[:200]
