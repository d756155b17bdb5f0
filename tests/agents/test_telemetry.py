"""Spans of model calls: what they say, and that prompts are not in them unless asked for."""

import asyncio
import builtins
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.house.making import make_room, open_house, player

from cohabit.agents import spans
from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import BackendError, ChatMessage, Completion, Request
from cohabit.agents.llm.telemetry import CONTENT_VARIABLE, traced
from cohabit.lab.game import Game, GameSpec

from . import asking
from .servers import Handler, http_server, reply
from .test_bad_days import said

SECRET = "the hidden card is the queen"
ASKED = Request([ChatMessage("user", SECRET)], {"type": "object"}, 99, 0.5, 7)


class Canned:
    name, constrains = "openai:gpt-x@http://127.0.0.1:9/v1", True

    def __init__(self, answer: Completion | Exception) -> None:
        self.answer = answer
        self.closed = False

    async def complete(self, request: Request) -> Completion:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def close(self) -> None:
        self.closed = True


def tracer_with(exporter: InMemorySpanExporter) -> Any:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


async def span_of(answer: Completion | Exception) -> ReadableSpan:
    exporter = InMemorySpanExporter()
    backend = traced(Canned(answer), tracer_with(exporter))
    try:
        assert await backend.complete(ASKED) is answer
    except type(answer) as raised:  # type: ignore[misc]
        assert raised is answer
    (span,) = exporter.get_finished_spans()
    return span


async def test_a_span_has_the_attributes_of_the_genai_conventions() -> None:
    span = await span_of(Completion("{}", usage=Usage(120, 8, 0.002)))
    assert (span.name, span.kind) == ("chat gpt-x", SpanKind.CLIENT)
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.request.max_tokens": 99,
        "cohabit.attempt": 1,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.seed": 7,
        "gen_ai.output.type": "json",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 8,
        "cohabit.cached": False,
        "cohabit.dollars": 0.002,
    }


async def test_prompts_and_answers_are_not_in_a_span() -> None:
    span = await span_of(Completion(f"I saw that {SECRET}", usage=Usage(1, 1)))
    assert SECRET not in span.to_json()


async def test_prompts_and_answers_are_in_a_span_if_the_environment_asks_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CONTENT_VARIABLE, "true")
    attributes = (await span_of(Completion("a fine answer"))).attributes or {}
    assert SECRET in str(attributes["gen_ai.input.messages"])
    assert "a fine answer" in str(attributes["gen_ai.output.messages"])


async def test_a_failed_call_is_an_error_of_its_type_with_the_text_for_people() -> None:
    span = await span_of(BackendError("the server is down", cause="unreachable"))
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "the server is down")
    assert (span.attributes or {})["error.type"] == "unreachable"


async def test_the_text_of_an_unknown_exception_is_not_in_a_span() -> None:
    span = await span_of(ValueError(f"bad prompt: {SECRET}"))
    assert span.status.status_code == StatusCode.ERROR
    assert SECRET not in span.to_json()


async def test_without_opentelemetry_the_backend_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    spans.tracer.cache_clear()
    backend = Canned(Completion(""))
    try:
        assert traced(backend) is backend
        with spans.span("game") as found:
            assert found is None
        open_span = spans.OpenSpan("game")
        with open_span.entered():
            open_span.end()
    finally:
        spans.tracer.cache_clear()


async def test_closing_closes_the_backend_and_its_name_is_kept() -> None:
    backend = Canned(Completion(""))
    wrapped = traced(backend, tracer_with(InMemorySpanExporter()))
    await wrapped.close()
    assert (backend.closed, wrapped.name, wrapped.constrains) == (True, backend.name, True)


# -- the spans of play --------------------------------------------------------------------------------
@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """All spans of this library."""
    exporter = InMemorySpanExporter()
    made = tracer_with(exporter)
    monkeypatch.setattr(spans, "tracer", lambda: made)
    return exporter


def paths(exporter: InMemorySpanExporter) -> list[str]:
    """Each span with its parents, in the order in which they began."""
    found = {span.context.span_id: span for span in exporter.get_finished_spans() if span.context is not None}

    def path(span: ReadableSpan) -> str:
        return (path(found[span.parent.span_id]) + " > " if span.parent else "") + span.name

    return [path(span) for span in sorted(found.values(), key=lambda span: span.start_time or 0)]


TAKE = '{"action": "take", "params": {"n": 1}}'


async def a_turn_with_a_retry(url: str) -> list[Any]:
    made: list[Any] = []
    spec = GameSpec("g1", "nim", [f"openai:m@{url}/v1", "random"], seed="1", max_decisions=1)
    await Game(spec, on_decision=lambda _, decision, __: made.append(decision)).play()
    return made


def fails_once() -> Handler:
    replies = [reply(503, '{"error": {"message": "busy"}}'), reply(200, said("openai", TAKE))]

    async def handle(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(replies.pop(0))

    return handle


async def test_a_game_has_turns_a_turn_decisions_and_a_decision_every_call_with_its_retries(
    exported: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cohabit.agents.llm.retrying.FIRST_WAIT_S", 0.0)
    async with http_server(fails_once()) as url:
        (decision,) = await a_turn_with_a_retry(url)
    call = "game > turn > decision > chat m"
    assert paths(exported) == ["game", "game > turn", "game > turn > decision", call, call]
    by_name = {span.name: dict(span.attributes or {}) for span in exported.get_finished_spans()}
    assert by_name["game"] == {"cohabit.game": "g1", "cohabit.world": "nim"}
    assert by_name["turn"] == {"cohabit.game": "g1", "cohabit.turn": 1}
    assert by_name["decision"]["cohabit.outcome"] == "chosen"
    calls = [span for span in exported.get_finished_spans() if span.name == "chat m"]
    assert [(span.attributes or {})["cohabit.attempt"] for span in calls] == [1, 2]
    assert [(span.attributes or {}).get("error.type") for span in calls] == ["server_error", None]
    # The transcript has the same.
    assert (decision.turn, decision.number) == (1, 1)
    assert [[call.cause for call in each.calls] for each in decision.exchanges] == [["server_error", ""]]


async def test_calls_of_an_agent_in_a_process_of_its_own_are_below_their_decisions(
    exported: InMemorySpanExporter,
) -> None:
    async def good(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, said("openai", TAKE)))

    async with http_server(good) as url:
        players = [f"{asking.__file__}:Derived?url={url}", "random"]
        await Game(GameSpec("g1", "nim", players, seed="1", max_decisions=3)).play()
    calls = [path for path in paths(exported) if path.endswith("chat m")]
    assert calls == ["game > turn > decision > chat m"] * 2
    below = [span.parent.span_id for span in exported.get_finished_spans() if span.name == "chat m" and span.parent]
    assert len(set(below)) == 2


async def test_a_call_that_is_given_up_is_a_span_below_its_decision(exported: InMemorySpanExporter) -> None:
    async def hang(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with http_server(hang) as url:
        spec = GameSpec("g1", "nim", [f"openai:m@{url}/v1", "random"], seed="1", max_decisions=1, seconds=0.2)
        await Game(spec).play()
    assert paths(exported)[-1] == "game > turn > decision > chat m"
    by_name = {span.name: dict(span.attributes or {}) for span in exported.get_finished_spans()}
    assert by_name["decision"]["cohabit.cause"] == "no_reply"
    assert by_name["chat m"]["error.type"] == "CancelledError"


async def test_in_a_house_the_calls_of_an_agent_are_below_its_game_and_turn(exported: InMemorySpanExporter) -> None:
    answer = said("openai", '{"action": "take", "params": {"n": 3}}')

    async def good(path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, answer))

    async with http_server(good) as url, open_house() as house:
        await make_room(
            house, player("ann", 0, stand_in=f"openai:m@{url}/v1"), player("bob", 1, stand_in="random"), world="nim"
        )
        async with asyncio.timeout(100):
            while "chat m" not in [span.name for span in exported.get_finished_spans()]:
                await house.clock.advance(1_000)
                await asyncio.sleep(0)
    assert "game > turn > decision > chat m" in paths(exported)


async def test_scripts_leave_no_spans(exported: InMemorySpanExporter) -> None:
    await Game(GameSpec("g1", "nim", ["random", "random"], seed="1")).play()
    assert paths(exported) == []
