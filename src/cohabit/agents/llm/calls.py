"""The requests behind one question to a model. The caller gathers them, also those of a question that is given up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cohabit.agents.contract import Call, Exchange
from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request

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


async def ask(backend: Backend, request: Request, keep: Callable[[Exchange], None]) -> tuple[Completion, list[Call]]:
    """The answer, and the requests that it took. A question without an answer is kept."""
    with gathered() as calls:
        try:
            return await backend.complete(request), calls
        except BaseException as wrong:
            problem, cause = (str(wrong), wrong.cause) if isinstance(wrong, BackendError) else ("", "")
            keep(exchange(request, Completion(""), calls, problem, cause))
            raise


def exchange(
    request: Request, completion: Completion, calls: list[Call], problem: str = "", cause: str = "", tool: str = ""
) -> Exchange:
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    return Exchange(messages, completion.text, completion.thinking, completion.usage, problem, tool, cause, calls)
