"""OpenTelemetry spans of play: a game has turns, a turn decisions, and a decision the calls of a model.

Without the extra ``telemetry`` nothing happens here. Decisions of scripts, which take microseconds, have no spans.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from cohabit.agents.decision import PlayerDecision


@cache
def tracer() -> Any:
    """The tracer of this library; None if OpenTelemetry is not installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("cohabit")


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Any]:
    """A span, below the current one, while the block runs. ``attributes`` without their prefix ``cohabit.``"""
    made = tracer()
    if made is None:
        yield None
        return
    # The text of an exception could contain anything, so spans never have it.
    with made.start_as_current_span(
        name, attributes=_attributes(attributes), record_exception=False, set_status_on_exception=False
    ) as found:
        yield found


class OpenSpan:
    """A span that is entered again and again, such as that of a game in a house."""

    def __init__(self, name: str = "", **attributes: Any) -> None:
        """Without a name there is no span."""
        made = tracer() if name else None
        self._span = None if made is None else made.start_span(name, attributes=_attributes(attributes))

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Spans that begin in the block are below this one."""
        if self._span is None:
            yield
            return
        from opentelemetry.trace import use_span

        with use_span(self._span, record_exception=False, set_status_on_exception=False):
            yield

    def end(self) -> None:
        if self._span is not None:
            self._span.end()
            self._span = None


def describe(found: Any, decision: PlayerDecision) -> None:
    """Say in the span of a decision its outcome. Its texts are left out: they can say what only a seat may know."""
    if found is None:
        return
    found.set_attribute("cohabit.outcome", decision.outcome)
    if decision.failed:
        from opentelemetry.trace import Status, StatusCode

        found.set_attribute("cohabit.cause", decision.cause)
        found.set_status(Status(StatusCode.ERROR, decision.cause))


def _attributes(given: dict[str, Any]) -> dict[str, Any]:
    return {f"cohabit.{name}": value for name, value in given.items()}
