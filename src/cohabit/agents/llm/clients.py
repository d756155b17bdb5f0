"""The official clients of the backends: imported when first used, with their errors and answers in our words."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from cohabit.agents.brain import Brain
from cohabit.agents.causes import Cause
from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import BackendError, Completion, Request, Stopped
from cohabit.agents.llm.http import KEYS_VARIABLE, UnreadableReply, client, key_for, origin_of
from cohabit.agents.llm.memory import CHARS_PER_TOKEN
from cohabit.agents.llm.prices import dollars, is_priced
from cohabit.agents.llm.rate import account_of
from cohabit.agents.secrets import in_public, without_secrets
from cohabit.errors import BadArgs

RETRIED = (408, 409, 429, 500, 502, 503, 504, 529)
"""HTTP statuses after which the same request may succeed."""
REJECTED_UNPAID = 529
"""Anthropic's status for a service that is overloaded and did not begin."""
OUT_OF_QUOTA = "insufficient_quota"
"""OpenAI's code for an account without money. Its status is that of too many requests, but waiting does not help."""
MIN_ECHO = 12
"""Characters of a line of the prompt that a server's message must not repeat."""
MAX_SAID = 200
"""Characters of a server's message that are shown."""
READY_S = 10.0
"""The time that a server may take to say that it is there."""
MISSING_SCOPE = "scope"
"""In the refusal of a key that may ask a model, but not ask about it."""
NO_KEY = "none"
"""A placeholder: the clients insist on a key. It is not sent."""
MAX_TOOL_NAME = 60
MAX_TOKENS = 10**9
"""More than any answer has: a larger count is none."""


@contextmanager
def installed(name: str) -> Iterator[None]:
    """Say how to install the package of a backend."""
    try:
        yield
    except ImportError:
        raise BadArgs(f"the package {name} is not installed; pip install 'cohabit[{name}]'") from None


# -- what servers say ---------------------------------------------------------------------------
def said(text: object, request: Request | None = None) -> str:
    """The text of a server's or a client's message, short, without keys and without the prompt: servers echo both."""
    plain = in_public(text)
    for message in request.messages if request is not None else ():
        for line in (" ".join(line.split()) for line in message.content.splitlines()):
            for written in (line, repr(line)[1:-1], line.replace('"', '\\"')):
                if len(written) >= MIN_ECHO:
                    plain = plain.replace(written, "…")
    return plain[:MAX_SAID]


@contextmanager
def translated(module: Any, name: str, request: Request) -> Iterator[None]:
    """Errors of a client (openai and anthropic have the same) as BackendError."""
    try:
        yield
    except BackendError:
        raise
    except UnreadableReply as wrong:
        raise BackendError(f"{name}: {wrong}", cause="unreadable_reply") from None
    except module.APITimeoutError:
        raise BackendError(f"{name}: the server did not answer in time", cause="no_reply", retry=True) from None
    except module.APIConnectionError as wrong:
        cause = wrong.__cause__ or wrong
        if isinstance(cause, UnreadableReply):  # one of the clients wraps it
            raise BackendError(f"{name}: {cause}", cause="unreadable_reply") from None
        raise not_reached(name, cause, request) from None
    except module.APIStatusError as wrong:
        status, after = wrong.status_code, _seconds(wrong.response.headers.get("retry-after"))
        retry = status in RETRIED and getattr(wrong, "code", None) != OUT_OF_QUOTA
        text = f"{name}: HTTP {status}: {said(wrong.message, request)}"
        raise BackendError(
            text, cause=cause_of_status(status), retry=retry, after_s=after, unpaid=is_unpaid(status)
        ) from None
    except (asyncio.CancelledError, TimeoutError):
        raise
    except Exception as wrong:  # a reply that is no such reply, or whatever else the client raises
        reason = f"{type(wrong).__name__}: {said(wrong, request)}"
        raise BackendError(
            f"{name}: the server's reply cannot be read: {reason}", cause="unreadable_reply", retry=True
        ) from None


def not_reached(name: str, cause: BaseException, request: Request) -> BackendError:
    """A connection that was not made, or that ended in the middle of a reply."""
    if is_unconnected(cause):
        text = f"{name}: cannot reach the server: {said(cause, request)}"
        return BackendError(text, cause="unreachable", retry=True, unpaid=True)
    reason = said(cause, request) or type(cause).__name__
    return BackendError(
        f"{name}: the connection to the server ended before the reply was complete: {reason}",
        cause="broken_reply",
        retry=True,
    )


def is_unconnected(wrong: BaseException) -> bool:
    """True if no connection was made, so that nothing was sent."""
    return isinstance(wrong, ConnectionRefusedError) or type(wrong).__name__ in ("ConnectError", "ConnectTimeout")


def cause_of_status(status: int) -> Cause:
    if status == 429:
        return "rate_limit"
    return "server_error" if status >= 500 or status in RETRIED else "rejected"


def is_unpaid(status: int) -> bool:
    """True if it is certain that a request with this answer costs nothing. After another error of a server, or of a
    gateway before it, the model may have worked."""
    return (400 <= status < 500 and status != 408) or status == REJECTED_UNPAID


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


class ServiceBackend:
    """The base of backends of hosted services: an official client with ``models``, prices, and a key."""

    name: str
    _errors: Any  # the module of the client, which has its exceptions
    _client: Any
    _model: str
    _own_server: bool  # the brain names it, so it gets the provider's key only if it is the provider
    _key: str | None
    _key_variable: ClassVar[str]
    provider: ClassVar[str]  # the origin of its service

    def _connect(self, brain: Brain, module: Any, client_class: Any, no_key: str) -> None:
        """Make the client. ``no_key`` says what to do if the service is asked without a key."""
        self.name, self._model, self._errors = f"{brain.kind}:{brain.target}", brain.target, module
        self._own_server = bool(brain.url) and origin_of(brain.url) != self.provider
        key = self._key = key_for(brain.url, self.provider, self._key_variable)
        if key is None and not self._own_server:
            raise BadArgs(no_key)
        self.account = account_of(brain.kind, brain.url, key)
        self._client = client_class(
            api_key=key or NO_KEY, base_url=brain.url or None, max_retries=0,
            http_client=client(module.DefaultAsyncHttpxClient, with_key=key is not None),
        )  # fmt: skip

    async def close(self) -> None:
        await self._client.close()

    @property
    def priced(self) -> bool:
        return is_priced(self.name)

    async def ready(self) -> None:
        """Raise BAD_ARGS, with what to do, if the server cannot be reached or refuses the key or the model.

        A service is asked about the model, which costs nothing; a server of your own only whether it answers. Gateways
        and other servers need not know these requests: what they say is left to the first decision, unless it is
        certain that the key or the model is wrong.
        """
        models = self._client.models
        try:
            await (models.list(timeout=READY_S) if self._own_server else models.retrieve(self._model, timeout=READY_S))
        except self._errors.APIConnectionError as wrong:
            if isinstance(wrong.__cause__, UnreadableReply):
                return  # it answers
            url = self._client.base_url
            if self._own_server:
                raise BadArgs(f"{self.name}: no server answers at {url}; start it first") from None
            raise BadArgs(f"{self.name}: {url} cannot be reached; check the network connection") from None
        except self._errors.APIStatusError as wrong:
            self._refuse(wrong)
        except Exception:  # what the client raises for a reply it cannot read
            return  # it answers

    def _refuse(self, wrong: Any) -> None:
        """Raise what is certain."""
        status, answer = wrong.status_code, f"HTTP {wrong.status_code}: {said(wrong.message)}"
        url = str(self._client.base_url)
        is_provider = origin_of(url) == self.provider
        service = "the service" if is_provider else f"the server at {url}"
        if status == 401 and self._key is None:
            raise BadArgs(f"{self.name}: {service} requires a key; {KEYS_VARIABLE} says which it gets ({answer})")
        if status == 401 or (status == 403 and is_provider):
            if MISSING_SCOPE not in answer.lower():
                key = KEYS_VARIABLE if self._own_server and not is_provider else self._key_variable
                raise BadArgs(f"{self.name}: {service} does not accept the key in {key} ({answer})")
        elif status == 404 and not self._own_server and (is_provider or _names_model(wrong.body, self._model)):
            raise BadArgs(f"{self.name}: {service} has no model {self._model!r}; check its name ({answer})")


def _names_model(body: object, model: str) -> bool:
    """True if a server says that it has no such model, and not that it has no such address."""
    error = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return False
    return error.get("code") == "model_not_found" or error.get("message") == f"model: {model}"


# -- what models answer -------------------------------------------------------------------------
def completion(
    name: str,
    request: Request,
    text: object,
    thinking: object = "",
    tokens: tuple[object, object] = (None, None),
    stopped: Stopped = "end",
    *,
    free: bool = False,
    prompt_factor: float = 1.0,
) -> Completion:
    """A valid answer from what a server sent, which may be anything. Invalid counts are estimated. ``free``: it
    costs nothing if no price is listed for it. ``prompt_factor``: how much more than its price the prompt costs."""
    answer, thoughts = _text(text), _text(thinking)
    prompt = _count(tokens[0], "".join(message.content for message in request.messages))
    written = _count(tokens[1], answer + thoughts)
    price = dollars(name, prompt * prompt_factor, written)
    counted = _is_count(tokens[0]) and _is_count(tokens[1])
    usage = Usage(prompt, written, 0.0 if price is None and free else price, counted=counted)
    return Completion(answer, thoughts, usage, stopped)


def called_tool(name: object) -> str:
    """The answer of a model that called a tool, in words for the transcript."""
    shown = name if isinstance(name, str) and name.isprintable() else "?"
    return f"(calls the tool {shown[:MAX_TOOL_NAME]})"


def _text(given: object) -> str:
    if isinstance(given, list):  # the parts of a message
        given = "".join(part["text"] for part in given if isinstance(part, dict) and isinstance(part.get("text"), str))
    if not isinstance(given, str):
        return ""
    return without_secrets(given.encode("utf-8", "replace").decode())  # a lone surrogate cannot be written anywhere


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= MAX_TOKENS


def _count(given: Any, text: str) -> int:
    if _is_count(given):
        return int(given)
    return -(-len(text) // CHARS_PER_TOKEN)
