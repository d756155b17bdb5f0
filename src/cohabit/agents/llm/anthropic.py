"""Anthropic's models: ``anthropic:MODEL``, with the key in the environment variable ANTHROPIC_API_KEY."""

from typing import Any, ClassVar

from cohabit.agents.brain import Brain
from cohabit.agents.llm.backend import Completion, Request, Stopped
from cohabit.agents.llm.clients import ServiceBackend, called_tool, completion, installed, translated
from cohabit.agents.llm.options import known_options
from cohabit.agents.llm.schema import strict_schema
from cohabit.errors import BadArgs

PASSED_ON = ("effort", "service_tier")
STOPPED: dict[str | None, Stopped] = {
    "end_turn": "end", "stop_sequence": "end", "max_tokens": "length", "model_context_window_exceeded": "length",
    "refusal": "refusal", "tool_use": "tool",
}  # fmt: skip
CACHE_WRITE = 1.25
"""The cost of a part of the prompt that the service writes into its cache, as a multiple of the price."""


class AnthropicBackend(ServiceBackend):
    """The messages API with structured output. The system message is cached by the service."""

    constrains = True
    prompt_factor = CACHE_WRITE  # at most
    _key_variable, provider = "ANTHROPIC_API_KEY", "https://api.anthropic.com"
    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, brain: Brain) -> None:
        if not brain.target:
            raise BadArgs("anthropic needs a model: anthropic:MODEL")
        with installed("anthropic"):
            import anthropic
        self._options = known_options(brain, PASSED_ON)
        self._connect(brain, anthropic, anthropic.AsyncAnthropic, "set the environment variable ANTHROPIC_API_KEY")

    async def complete(self, request: Request) -> Completion:
        system = "\n\n".join(m.content for m in request.messages if m.role == "system")
        options = dict(self._options)
        output: dict[str, Any] = {}
        if (effort := options.pop("effort", None)) is not None:
            output["effort"] = effort
        if request.schema is not None and (schema := strict_schema(request.schema)) is not None:
            output["format"] = {"type": "json_schema", "schema": schema}
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages if m.role != "system"],
            **options,
        }
        if system:
            body["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
        if output:
            body["output_config"] = output
        if request.temperature is not None:
            body["extra_body"] = {"temperature": request.temperature}
        with translated(self._errors, self.name, request):
            found = await self._client.messages.create(**body)
            text = "".join(block.text for block in found.content if block.type == "text")
            thinking = "".join(block.thinking for block in found.content if block.type == "thinking")
            used = found.usage
            read = [used.input_tokens, used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0]
            prompt = sum(read) if all(isinstance(count, int) and count >= 0 for count in read) else None
            factor = 1 + (CACHE_WRITE - 1) * read[2] / prompt if prompt else 1.0
            stopped = STOPPED.get(found.stop_reason, "other")
            called = [block.name for block in found.content if block.type == "tool_use"]
            if called and not text:
                text, stopped = called_tool(called[0]), "tool"
            tokens = prompt, used.output_tokens
            return completion(self.name, request, text, thinking, tokens, stopped, prompt_factor=factor)
