"""Spans of model calls: what they say, and that prompts are not in them unless asked for."""

import builtins
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import BackendError, ChatMessage, Completion, Request
from cohabit.agents.llm.telemetry import CONTENT_VARIABLE, traced

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
    span = await span_of(BackendError("the server is down"))
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "the server is down")
    assert (span.attributes or {})["error.type"] == "BackendError"


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
    backend = Canned(Completion(""))
    assert traced(backend) is backend


async def test_closing_closes_the_backend_and_its_name_is_kept() -> None:
    backend = Canned(Completion(""))
    wrapped = traced(backend, tracer_with(InMemorySpanExporter()))
    await wrapped.close()
    assert (backend.closed, wrapped.name, wrapped.constrains) == (True, backend.name, True)
