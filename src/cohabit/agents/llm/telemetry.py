"""OpenTelemetry spans for the calls of a language model, with the GenAI semantic conventions.

Without the extra ``telemetry`` nothing is wrapped. Prompts and answers are not in the spans unless asked for: they
can contain what only one seat may know.
"""

import os
from typing import Any

import msgspec

from cohabit.agents import spans
from cohabit.agents.llm.backend import Backend, BackendError, ChatMessage, Completion, Request, WrappedBackend
from cohabit.agents.llm.calls import attempt
from cohabit.agents.llm.options import without_none

CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The environment variable of the conventions: ``true`` adds prompts and answers."""
PROVIDERS = {"openai": "openai", "anthropic": "anthropic", "ollama": "ollama", "local": "llama.cpp"}


def traced(backend: Backend, tracer: Any = None) -> Backend:
    """The backend with a span for every call; itself if OpenTelemetry is not installed."""
    tracer = tracer or spans.tracer()
    return backend if tracer is None else TracedBackend(backend, tracer)


class TracedBackend(WrappedBackend):
    """See the module."""

    def __init__(self, backend: Backend, tracer: Any) -> None:
        super().__init__(backend)
        self._tracer = tracer
        kind, _, rest = backend.name.partition(":")
        self._provider, self._model = PROVIDERS.get(kind, kind), rest.partition("@")[0] or kind

    async def complete(self, request: Request) -> Completion:
        from opentelemetry.trace import SpanKind, Status, StatusCode

        with self._tracer.start_as_current_span(
            f"chat {self._model}",
            kind=SpanKind.CLIENT,
            attributes=self._asked(request),
            record_exception=False,  # the text of an unknown exception could contain anything
            set_status_on_exception=False,
        ) as span:
            try:
                completion = await self.backend.complete(request)
            except BaseException as wrong:
                span.set_attribute(
                    "error.type", wrong.cause if isinstance(wrong, BackendError) else type(wrong).__name__
                )
                span.set_status(Status(StatusCode.ERROR, str(wrong) if isinstance(wrong, BackendError) else None))
                raise
            span.set_attributes(self._answered(completion))
            return completion

    def _asked(self, request: Request) -> dict[str, Any]:
        found = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self._model,
            "gen_ai.request.max_tokens": request.max_tokens,
            "cohabit.attempt": attempt.get(),
            "gen_ai.request.temperature": request.temperature,
            "gen_ai.request.seed": request.seed,
            "gen_ai.output.type": None if request.schema is None else "json",
            "gen_ai.input.messages": _messages(request.messages) if _captures_content() else None,
        }
        return without_none(found)

    def _answered(self, completion: Completion) -> dict[str, Any]:
        usage = completion.usage
        said = [ChatMessage("assistant", completion.text)]
        found = {
            "gen_ai.response.finish_reasons": [{"end": "stop"}.get(completion.stopped, completion.stopped)],
            "gen_ai.usage.input_tokens": usage.prompt_tokens,
            "gen_ai.usage.output_tokens": usage.completion_tokens,
            "cohabit.cached": usage.cached,
            "cohabit.dollars": usage.dollars,
            "gen_ai.output.messages": _messages(said) if _captures_content() else None,
        }
        return without_none(found)


def _captures_content() -> bool:
    return os.environ.get(CONTENT_VARIABLE, "").lower() == "true"


def _messages(messages: list[ChatMessage]) -> str:
    parts = [{"role": m.role, "parts": [{"type": "text", "content": m.content}]} for m in messages]
    return msgspec.json.encode(parts).decode()
