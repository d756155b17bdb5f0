"""The interface of a language model backend: one request, one completion. Backends differ only in how they ask.

Retries, rate limits, the cache and the spending cap wrap a backend and are backends themselves.
"""

from typing import Any, Literal, Protocol

from msgspec import Struct

from cohabit.agents.contract import Usage


class ChatMessage(Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    content: str


class Request(Struct, frozen=True, omit_defaults=True):
    """A request to a model. ``schema`` is the JSON schema of the answer; a backend that can, decodes under it."""

    messages: list[ChatMessage]
    schema: dict[str, Any] | None = None
    max_tokens: int = 512
    temperature: float | None = None
    seed: int | None = None
    answers: list[str] = []  # if it is not empty: every allowed answer, which is shorter than what the schema allows


Stopped = Literal["end", "length", "refusal", "tool", "other"]
"""Why a model stopped writing: it was done, it reached ``max_tokens``, it or its service refused to answer, it called a
tool that it was not offered, or something else."""


class Completion(Struct, frozen=True, omit_defaults=True):
    """The answer. ``thinking`` is what the model wrote before it, if the backend separates it."""

    text: str
    thinking: str = ""
    usage: Usage = Usage()
    stopped: Stopped = "end"


class BackendError(Exception):
    """The backend gave no answer. The message is for people and contains no key and no prompt."""

    def __init__(
        self,
        message: str,
        *,
        cause: str = "exception",
        retry: bool = False,
        after_s: float | None = None,
        unpaid: bool = False,
    ) -> None:
        super().__init__(message)
        self.cause = cause  # as in ``causes.CAUSES``
        self.retry = retry  # the same request may succeed later
        self.after_s = after_s  # as the server asked
        self.unpaid = unpaid  # it is certain that the request costs nothing


class SpendingCapReached(BackendError):
    """The run may not spend more."""


class Backend(Protocol):
    """A backend of a service also has ``account`` (see ``rate``): all agents with the same one share its rate limit."""

    name: str  # such as "ollama:qwen3:8b", for transcripts and reports
    constrains: bool  # whether answers follow ``Request.schema``

    async def complete(self, request: Request) -> Completion:
        """Ask once. Raises BackendError."""

    async def close(self) -> None:
        """Release connections."""


class WrappedBackend:
    """The base class of backends around another one."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.name, self.constrains = backend.name, backend.constrains
        self.prompt_factor = float(getattr(backend, "prompt_factor", 1.0))

    async def close(self) -> None:
        await self.backend.close()
