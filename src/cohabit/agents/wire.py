"""The messages between an agent's process and its parent: MessagePack in frames, with the length before each.

Values of the protocol travel whole, so an agent gets the same ones in its own process as in another.
"""

import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Raw, Struct

from cohabit.agents.contract import Heard, Thought, Turn
from cohabit.agents.secrets import in_public
from cohabit.errors import CohabitError, by_code
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation

LENGTH_BYTES = 4
READ_BYTES = 1 << 18
MAX_SENT = 1 << 26
"""Bytes of a message of an agent's process: its parent keeps no more of what it sends."""


class Facts(Struct, frozen=True, omit_defaults=True):
    """The facts about an agent, found by its own process."""

    methods: list[str]  # those of ``METHODS`` that it has
    asynchronous: bool = False
    quick: bool = False
    one_at_a_time: bool = False
    reads_choices: bool = True
    reads_text: bool = True
    looks: bool = True
    reflects: bool = True
    priced: bool = True
    backend: str = ""  # the name of the language model that it asks, if that is a backend of Cohabit
    constrains: bool = False  # see ``Backend``
    account: str = ""  # see ``agents.llm.rate``
    prompt_factor: float = 1.0  # see ``agents.llm.metered``
    uncounted: str = ""  # why requests of the agent to language models of Cohabit cannot all be counted
    retries: int = 0  # of a request to the language model
    per_minute: int = 0
    wrong: list[str] = []  # methods that do not take their arguments
    files: list[str] = []  # of its class, and of the bases of that


METHODS = ("decide", "think", "initialize", "plan", "reflect", "hear", "talk", "ready", "close")


class SentTurn(Struct, frozen=True, omit_defaults=True, gc=False):
    """A turn with the fallback itself in place of the function that finds it."""

    observation: Observation
    heard: list[Heard] = []
    fallback: Action | None = None
    others: dict[str, Any] = {}  # the other fields: texts, numbers, true and false

    @classmethod
    def of(cls, turn: Turn) -> "SentTurn":
        fallback = turn.fallback() if turn.fallback is not None else None
        others = {name: getattr(turn, name) for name in Turn.__struct_fields__ if name not in cls.__struct_fields__}
        return cls(turn.observation, turn.heard, fallback, others)

    def turn(self) -> Turn:
        fallback = self.fallback
        return Turn(self.observation, heard=self.heard, fallback=lambda: fallback, **self.others)


class Call(Struct, frozen=True, tag=0, array_like=True, gc=False):
    """A method to be called, with its arguments."""

    id: int
    method: str
    arguments: Raw


class Reply(Struct, frozen=True, tag=1, array_like=True, gc=False):
    """The result of a method."""

    id: int
    value: Raw


class Failure(Struct, frozen=True, tag=2, array_like=True, omit_defaults=True, gc=False):
    """An exception of a method: its type and text; of an error of Cohabit, its wire form."""

    id: int
    name: str
    text: str
    wire: dict[str, Any] | None = None
    of_backend: bool = False  # BackendError, after which an agent may go on
    unpaid: bool = False
    cause: str = ""  # of a BackendError
    retry: bool = False
    after_s: float | None = None
    place: str = ""  # the file and the line of the agent

    def exception(self) -> Exception:
        """An exception of the same name and text."""
        if self.name == "TimeoutError":
            return TimeoutError(self.text)
        if self.wire is not None:
            return by_code(self.wire)
        text = f"{self.text} ({self.place})" if self.place else self.text
        made: AgentError = type(self.name, (AgentError,), {})(text.strip())
        made.failure = self
        return made

    def of_kind(self, backend_error: type[Exception]) -> Exception:
        """The same as an error of a backend, after which an agent may go on."""
        made: Any = type(self.name, (backend_error,), {})(
            self.text, cause=self.cause, retry=self.retry, after_s=self.after_s, unpaid=self.unpaid
        )
        return cast(Exception, made)


class Cancel(Struct, frozen=True, tag=3, array_like=True, gc=False):
    """Nobody waits for the answer to this call any more."""

    id: int


Message = Call | Reply | Failure | Cancel


class AgentError(Exception):
    """An exception that an agent raised in its own process."""

    failure: Failure | None = None


ARGUMENTS: dict[str, Any] = {
    "make": tuple[str, str, list[str], str],  # the brain, its purpose, where modules are found, and the folder
    "ready": tuple[()],
    "initialize": tuple[str, ActionSpace],
    "plan": tuple[list[Goal]],
    "decide": tuple[Observation],
    "think": tuple[SentTurn, str],
    "reflect": tuple[ActionResult],
    "hear": tuple[Heard],
    "talk": tuple[str, str, list[Heard]],
    "close": tuple[()],
}
"""The arguments of each method. Both sides have one more, ``complete``, which asks a language model."""
RESULTS: dict[str, Any] = {"make": Facts, "decide": Action | None, "think": Thought, "talk": str}
"""The types of the results of methods that are used."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Message).decode
_decoder = cache(msgspec.msgpack.Decoder)


def packed(value: object) -> Raw:
    return Raw(_encode(value))


def unpacked(value: Raw, kind: Any) -> Any:
    return _decoder(kind).decode(value)


def failure(call: int, bug: BaseException) -> Failure:
    """An exception, as it is sent."""
    wire = bug.as_wire() if isinstance(bug, CohabitError) else None
    name, text = type(bug).__name__, in_public(bug)
    if not hasattr(bug, "unpaid"):
        return Failure(call, name, text, wire, place=_place(bug))
    wrong = cast(Any, bug)  # a BackendError
    return Failure(
        call, name, text, wire, of_backend=True, unpaid=wrong.unpaid is True, cause=str(wrong.cause),
        retry=wrong.retry is True, after_s=wrong.after_s,
    )  # fmt: skip


def _place(bug: BaseException) -> str:
    """The line that failed, as the author of an agent would look for it: the innermost one outside of libraries."""
    lines = [(frame.f_code.co_filename, number) for frame, number in traceback.walk_tb(bug.__traceback__)]
    own = [(file, number) for file, number in lines if not _is_of_library(file)]
    return f"{Path(own[-1][0]).name}:{own[-1][1]}" if own else ""


def _is_of_library(file: str) -> bool:
    return file.startswith(_LIBRARIES) or any(part in file for part in ("site-packages", "dist-packages"))


_LIBRARIES = "<", str(Path(__file__).parents[1]), str(Path(traceback.__file__).parent)


def frame(message: Message) -> bytes:
    body = _encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class Frames:
    """Puts messages together from the bytes that arrive."""

    def __init__(self, limit: int | None = None) -> None:
        self._bytes = bytearray()
        self._limit = limit

    def feed(self, data: bytes) -> Iterator[Message]:
        waiting = self._bytes
        waiting += data
        while len(waiting) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(waiting[:LENGTH_BYTES], "big")
            if self._limit is not None and end > self._limit:
                raise ValueError(f"a message of {end} bytes")
            if len(waiting) < end:
                return
            body = bytes(waiting[LENGTH_BYTES:end])
            del waiting[:end]
            yield _decode(body)
