"""OpenAI and every server that speaks its protocol: vLLM, llama.cpp, LM Studio, hosted services.

``openai:MODEL`` asks api.openai.com, with the key in the environment variable OPENAI_API_KEY. ``openai:MODEL@URL`` asks
the server at that address, without a key unless COHABIT_API_KEYS has one for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from cohabit.agents.brain import Brain
from cohabit.agents.llm.backend import BackendError, Completion, Request, Stopped
from cohabit.agents.llm.clients import ServiceBackend, called_tool, completion, installed, translated
from cohabit.agents.llm.options import known_options, without_none
from cohabit.agents.llm.schema import strict_schema
from cohabit.errors import BadArgs

PASSED_ON = ("top_p", "reasoning_effort", "presence_penalty", "frequency_penalty", "service_tier", "verbosity")
STRICT = "strict"
"""Option: whether the service has the limits of OpenAI's strict mode. By default only api.openai.com has."""
FORMAT = "response_format"
SCHEMA = "schema"
"""Option: whether the server is sent the schema of the answer. Not every server knows that."""
STOPPED: dict[str | None, Stopped] = {
    "stop": "end", "length": "length", "content_filter": "refusal", "tool_calls": "tool", "function_call": "tool",
}  # fmt: skip


class OpenAiBackend(ServiceBackend):
    """Chat completions with structured output."""

    _key_variable, provider = "OPENAI_API_KEY", "https://api.openai.com"
    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, brain: Brain) -> None:
        if not brain.target:
            raise BadArgs("openai needs a model: openai:MODEL, or openai:MODEL@URL for a server of your own")
        with installed("openai"):
            import openai
        self._options = known_options(brain, (*PASSED_ON, STRICT, SCHEMA))
        no_key = "set the environment variable OPENAI_API_KEY, or name a server of your own: openai:MODEL@URL"
        self._connect(brain, openai, openai.AsyncOpenAI, no_key)
        self._strict = bool(self._options.pop(STRICT, not self._own_server))
        self.constrains = bool(self._options.pop(SCHEMA, True))
        self._limit_key = "max_tokens" if self._own_server else "max_completion_tokens"

    async def complete(self, request: Request) -> Completion:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            self._limit_key: request.max_tokens,
            **self._options,
            **without_none({"temperature": request.temperature, "seed": request.seed}),
        }
        if request.schema is not None and self.constrains:
            body[FORMAT] = self._format(request.schema)
        with _with_hint(), translated(self._errors, self.name, request):
            found = await self._client.chat.completions.create(**body)
            if not getattr(found, "choices", None):
                raise BackendError(
                    f"{self.name}: the server's reply has no choices", cause="unreadable_reply", retry=True
                )
            message, used = found.choices[0].message, found.usage
            thinking = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
            tokens = getattr(used, "prompt_tokens", None), getattr(used, "completion_tokens", None)
            text, stopped = _said(message, STOPPED.get(found.choices[0].finish_reason, "other"))
            return completion(self.name, request, text, thinking, tokens, stopped)

    def _format(self, schema: dict[str, Any]) -> dict[str, Any]:
        if not self._strict:
            return {"type": "json_schema", "json_schema": {"name": "action", "schema": schema}}
        strict = strict_schema(schema)
        if strict is None:
            return {"type": "json_object"}
        return {"type": "json_schema", "json_schema": {"name": "action", "schema": strict, "strict": True}}


def _said(message: Any, stopped: Stopped) -> tuple[object, Stopped]:
    """The answer of the model. A refusal and a call of a tool are not in the content."""
    if refusal := getattr(message, "refusal", None):
        return refusal, "refusal"
    if not message.content and (calls := getattr(message, "tool_calls", None)):
        return called_tool(getattr(getattr(calls[0], "function", None), "name", None)), "tool"
    if not message.content and (call := getattr(message, "function_call", None)):
        return called_tool(getattr(call, "name", None)), "tool"
    return message.content, stopped


@contextmanager
def _with_hint() -> Iterator[None]:
    """Say what to do if a server does not know schemas."""
    try:
        yield
    except BackendError as wrong:
        if FORMAT not in str(wrong):
            raise
        hint = f"{wrong}; the option {SCHEMA}=false leaves it out"
        raise BackendError(hint, cause=wrong.cause, unpaid=wrong.unpaid) from None
