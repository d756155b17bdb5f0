"""The requests behind one question to a model. The caller gathers them, also those of a question that is given up."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cohabit.agents.contract import Call

_gathering: ContextVar[tuple[list[Call], ...]] = ContextVar("gathering", default=())
attempt: ContextVar[int] = ContextVar("attempt", default=1)
"""The number of the request among those for the same question."""


@contextmanager
def gathered() -> Iterator[list[Call]]:
    """The requests that are made within this block. A block around it gets them, too."""
    calls: list[Call] = []
    token = _gathering.set((*_gathering.get(), calls))
    try:
        yield calls
    finally:
        _gathering.reset(token)


def note(call: Call) -> None:
    """Count a request that has ended, or one of a resumed run."""
    for calls in _gathering.get():
        calls.append(call)
