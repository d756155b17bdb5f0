"""Ollama: ``ollama:qwen3:8b`` on this machine, ``ollama:MODEL@URL`` elsewhere.

OLLAMA_API_KEY is sent to the server that OLLAMA_HOST names and to ollama.com, another server needs COHABIT_API_KEYS.
"""

import asyncio
from typing import Any, ClassVar

from cohabit.agents.brain import Brain
from cohabit.agents.llm import clients
from cohabit.agents.llm.backend import BackendError, Completion, Request
from cohabit.agents.llm.http import UnreadableReply, client, key_for
from cohabit.agents.llm.openai import STOPPED
from cohabit.agents.llm.options import known_options, without_none
from cohabit.agents.llm.rate import account_of
from cohabit.errors import BadArgs

PROVIDER = "https://ollama.com"
SAMPLING = ("top_p", "top_k", "min_p", "repeat_penalty", "num_ctx", "num_thread", "num_gpu", "mirostat")
PASSED_ON = ("think", "keep_alive", *SAMPLING)
READY_S = 10.0
"""The time that the server may take to say that it has the model."""
RETRIED = (408, 429, 500, 502, 503, 504)
BROKEN = ("RemoteProtocolError", "ReadError", "WriteError", "ReadTimeout", "WriteTimeout", "CloseError")
"""The httpx exceptions for a connection that ends in the middle."""
NO_SUCH_REQUEST = (404, 405, 501)
"""Statuses of servers that speak only a part of the protocol, and of Ollama for a model that it does not have."""
RECOMMENDED: dict[str, Any] = {"top_p": 0.9, "repeat_penalty": 1.1, "num_ctx": 4096, "think": False}
"""The options that WSAP recommends. Thinking takes many more tokens: ``?think=true&max_tokens=2000``."""


class OllamaBackend:
    """The native chat API with a schema as format. Thinking is kept apart from the answer."""

    constrains = True
    defaults: ClassVar[dict[str, Any]] = {"max_tokens": 300, "temperature": 0.7}

    def __init__(self, brain: Brain) -> None:
        if not brain.target:
            raise BadArgs("ollama needs a model, such as ollama:qwen3:8b; `ollama list` shows those you have")
        with clients.installed("ollama"):
            import ollama
        self._module: Any = ollama
        self.name = f"ollama:{brain.target}"
        self._model = brain.target
        self._given = {**RECOMMENDED, **known_options(brain, PASSED_ON)}
        key = key_for(brain.url, PROVIDER, "OLLAMA_API_KEY")
        self.account = account_of("ollama", brain.url, key)
        given = {"authorization": f"Bearer {key or 'none'}"}  # else the client sends OLLAMA_API_KEY to any server
        self._client = ollama.AsyncClient(host=brain.url or None, headers=given)
        made = self._client._client
        self._client._client = client(
            type(made), with_key=key is not None, base_url=made.base_url, headers=made.headers, timeout=None
        )

    async def ready(self) -> None:
        """Raise BAD_ARGS if there is no server or no such model."""
        try:
            await asyncio.wait_for(self._client.show(self._model), READY_S)
        except self._module.ResponseError as wrong:
            if wrong.status_code in NO_SUCH_REQUEST and "model" not in wrong.error.lower():
                return  # it answers
            hint = f"; get it with `ollama pull {self._model}`" if wrong.status_code == 404 else ""
            raise BadArgs(f"{self.name}: {clients.said(wrong.error) or f'HTTP {wrong.status_code}'}{hint}") from None
        except (OSError, TimeoutError):
            raise BadArgs(f"{self.name}: no Ollama server answers; start it with `ollama serve`") from None
        except Exception as wrong:  # of the client
            raise BadArgs(f"{self.name}: {type(wrong).__name__}: {clients.said(wrong)}") from None

    async def complete(self, request: Request) -> Completion:
        options: dict[str, Any] = {key: value for key, value in self._given.items() if key in SAMPLING}
        options["num_predict"] = request.max_tokens
        options |= without_none({"temperature": request.temperature, "seed": request.seed})
        try:
            found = await self._client.chat(
                self._model,
                [{"role": m.role, "content": m.content} for m in request.messages],
                format=request.schema,
                options=options,
                think=self._given.get("think"),
                keep_alive=self._given.get("keep_alive"),
            )
        except self._module.ResponseError as wrong:
            hint = f"; get it with `ollama pull {self._model}`" if wrong.status_code == 404 else ""
            retry = wrong.status_code in RETRIED
            raise BackendError(
                f"{self.name}: HTTP {wrong.status_code}: {clients.said(wrong.error, request)}{hint}",
                cause=clients.cause_of_status(wrong.status_code),
                retry=retry,
                unpaid=clients.is_unpaid(wrong.status_code),
            ) from None
        except UnreadableReply as wrong:
            raise BackendError(f"{self.name}: {wrong}", cause="unreadable_reply") from None
        except (asyncio.CancelledError, TimeoutError):
            raise
        except Exception as wrong:  # of the client
            raise self._failed(wrong, request) from None
        message, stopped = found.message, STOPPED.get(found.done_reason, "other")
        text = message.content
        if not text and message.tool_calls:
            text, stopped = clients.called_tool(message.tool_calls[0].function.name), "tool"
        tokens = found.prompt_eval_count, found.eval_count
        return clients.completion(self.name, request, text, message.thinking, tokens, stopped, free=True)

    def _failed(self, wrong: Exception, request: Request) -> BackendError:
        """Convert an exception of the client: there is no server, the connection broke, or the reply cannot be read."""
        kind = type(wrong).__name__
        if type(wrong) is ConnectionError or clients.is_unconnected(wrong):  # the client's own, if it was not connected
            hint = f"no Ollama server answers ({clients.said(wrong)}); start it with `ollama serve`"
            return BackendError(f"{self.name}: {hint}", cause="unreachable", unpaid=True)
        if isinstance(wrong, OSError) or kind in BROKEN:
            return clients.not_reached(self.name, wrong, request)
        reason = f"{kind}: {clients.said(wrong, request)}"
        return BackendError(
            f"{self.name}: the server's reply cannot be read: {reason}", cause="unreadable_reply", retry=True
        )

    async def close(self) -> None:
        await self._client._client.aclose()
