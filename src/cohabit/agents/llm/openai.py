"""OpenAI and every server that speaks its protocol: vLLM, llama.cpp, LM Studio, hosted services.

``openai:MODEL`` asks api.openai.com, ``openai:MODEL@URL`` the server at that address. The key comes from the
environment: OPENAI_API_KEY. A server of your own usually needs none.
"""

import os
from typing import Any, ClassVar

from cohabit.agents.brain import Brain
from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import BackendError, Completion, Request, Stopped
from cohabit.agents.llm.clients import installed, translated
from cohabit.agents.llm.prices import dollars
from cohabit.agents.llm.rate import account_of
from cohabit.agents.llm.schema import strict_schema
from cohabit.errors import BadArgs

READY_S = 10.0
"""How long a server of your own may take to answer at all."""
PASSED_ON = ("top_p", "reasoning_effort", "presence_penalty", "frequency_penalty", "service_tier", "verbosity")
STRICT = "strict"
"""Option: whether the service has the limits of OpenAI's strict mode. By default only api.openai.com has."""
STOPPED: dict[str | None, Stopped] = {"stop": "end", "length": "length"}


class OpenAiBackend:
    """Chat completions with structured output."""

    constrains = True
    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, brain: Brain) -> None:
        if not brain.target:
            raise BadArgs("openai needs a model: openai:MODEL, or openai:MODEL@URL for a server of your own")
        with installed("openai"):
            import openai
        own_server = self._own_server = bool(brain.url)
        self.name = f"openai:{brain.target}"
        self._model = brain.target
        self._options = known_options(brain, (*PASSED_ON, STRICT))
        self._strict = bool(self._options.pop(STRICT, not own_server))
        self._limit_key = "max_tokens" if own_server else "max_completion_tokens"
        self._errors: Any = openai
        key = os.environ.get("OPENAI_API_KEY") or ("none" if own_server else None)
        if key is None:
            raise BadArgs("set the environment variable OPENAI_API_KEY, or name a server of your own: openai:MODEL@URL")
        self._key = key
        self.account = account_of("openai", brain.url, self._key)
        self._client = openai.AsyncOpenAI(api_key=key, base_url=brain.url or None, max_retries=0)

    async def ready(self) -> None:
        """Raise BAD_ARGS if a server of your own cannot be reached. Whether it lists its models is not asked."""
        if not self._own_server:
            return
        try:
            await self._client.models.list(timeout=READY_S)
        except self._errors.APIConnectionError:
            raise BadArgs(f"{self.name}: no server answers at {self._client.base_url}; start it first") from None
        except self._errors.APIError:
            pass  # it answers

    async def complete(self, request: Request) -> Completion:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            self._limit_key: request.max_tokens,
            **self._options,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.seed is not None:
            body["seed"] = request.seed
        if request.schema is not None:
            body["response_format"] = self._format(request.schema)
        with translated(self._errors, self.name, request, self._key):
            found = await self._client.chat.completions.create(**body)
            if not getattr(found, "choices", None):
                raise BackendError(f"{self.name}: the server's reply has no choices", retry=True)
            message, used = found.choices[0].message, found.usage
            prompt, written = (used.prompt_tokens, used.completion_tokens) if used is not None else (0, 0)
            thinking = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""
            usage = Usage(prompt, written, dollars(self.name, prompt, written))
            stopped = STOPPED.get(found.choices[0].finish_reason, "other")
            return Completion(message.content or "", thinking, usage, stopped)

    def _format(self, schema: dict[str, Any]) -> dict[str, Any]:
        if not self._strict:
            return {"type": "json_schema", "json_schema": {"name": "action", "schema": schema}}
        strict = strict_schema(schema)
        if strict is None:
            return {"type": "json_object"}
        return {"type": "json_schema", "json_schema": {"name": "action", "schema": strict, "strict": True}}

    async def close(self) -> None:
        await self._client.close()


def known_options(brain: Brain, known: tuple[str, ...]) -> dict[str, Any]:
    """The options that are passed on to the server."""
    for name in brain.options:
        if name not in known:
            raise BadArgs(
                f"{brain.kind} has no option {name!r}; it has {', '.join(known)}, besides those of every model"
            )
    return dict(brain.options)
