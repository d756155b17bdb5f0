"""The official clients of the backends: imported when first used, with their errors in our words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cohabit.agents.llm.backend import BackendError, Request
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


OUT_OF_QUOTA = "insufficient_quota"
"""OpenAI's code for an account without money. Its status is that of too many requests, but waiting does not help."""
MIN_ECHO = 12
"""Characters of a line of the prompt that a server's message must not repeat."""


def without_secrets(text: str, key: str | None, request: Request) -> str:
    """What a server said, on one short line. Servers echo keys and prompts; neither belongs into a log."""
    said = " ".join(str(text).split())
    if key and len(key) > 4:
        said = said.replace(key, "***")
    for message in request.messages:
        for line in (" ".join(line.split()) for line in message.content.splitlines()):
            for written in (line, repr(line)[1:-1], line.replace('"', '\\"')):
                if len(written) >= MIN_ECHO:
                    said = said.replace(written, "…")
    return said[:200]


@contextmanager
def translated(module: Any, name: str, request: Request, key: str | None = None) -> Iterator[None]:
    """Errors of a client (openai and anthropic have the same) as BackendError."""

    def clean(text: object) -> str:
        return without_secrets(str(text), key, request)

    try:
        yield
    except module.APITimeoutError:
        raise BackendError(f"{name}: the server did not answer in time", retry=True) from None
    except module.APIConnectionError as wrong:
        raise BackendError(f"{name}: cannot reach the server: {clean(wrong.__cause__ or wrong)}", retry=True) from None
    except module.APIStatusError as wrong:
        status, after = wrong.status_code, _seconds(wrong.response.headers.get("retry-after"))
        retry = status in RETRIED and getattr(wrong, "code", None) != OUT_OF_QUOTA
        raise BackendError(f"{name}: HTTP {status}: {clean(wrong.message)}", retry=retry, after_s=after) from None
    except (module.APIError, ValueError, AttributeError, TypeError) as wrong:  # a reply that is no such reply
        reason = f"{type(wrong).__name__}: {clean(wrong)}"
        raise BackendError(f"{name}: the server's reply cannot be read: {reason}", retry=True) from None


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
