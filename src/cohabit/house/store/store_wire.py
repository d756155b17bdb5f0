"""The messages between a ``SharedStore`` and its server: MessagePack in frames, with the length before each."""

import socket
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from cohabit.errors import CohabitError, by_code, internal_error
from cohabit.house.store.contract import Holder, Row, Write
from cohabit.model.record import Entry
from cohabit.room.record import Line

LENGTH_BYTES = 4
NO_ENTRY = Entry(0, 0, "")
"""A store keeps bytes, so decoded entries do not travel."""
T = TypeVar("T")
encode = msgspec.msgpack.Encoder().encode


class SentWrite(Struct, array_like=True, frozen=True):
    """A write. ``rest``: what is more than entries; most have none."""

    room: str
    rows: list[Row]
    holder: Holder | None
    rest: Write | None

    @classmethod
    def of(cls, write: Write) -> "SentWrite":
        rows = [(line.seq, line.body, line.digest) for line in write.lines]
        rest = structs.replace(write, lines=(), holder=None) if write.has_more_than_lines else None
        return cls(write.room, rows, write.holder, rest)

    def write(self) -> Write:
        write = self.rest if self.rest is not None else Write(self.room)
        write.lines = [Line(seq, body, digest, NO_ENTRY) for seq, body, digest in self.rows]
        write.holder = self.holder
        return write


class Request(Struct, array_like=True, frozen=True):
    """A method of the store and its arguments, encoded; ``commit`` has ``SentWrite``."""

    method: str
    args: msgspec.Raw


class Answer(Struct, array_like=True, frozen=True):
    """The result of the method, encoded; or its error."""

    value: msgspec.Raw
    error: dict[str, Any] | None = None


_requests = msgspec.msgpack.Decoder(Request)
_answers = msgspec.msgpack.Decoder(Answer)
_writes = msgspec.msgpack.Decoder(list[SentWrite])


def request(method: str, args: Sequence[Any]) -> bytes:
    return _framed(Request(method, msgspec.Raw(encode(args))))


def commit_request(writes: Sequence[Write]) -> bytes:
    return request("commit", [SentWrite.of(write) for write in writes])


def read_request(frame: bytes) -> Request:
    return _requests.decode(frame)


def read_writes(asked: Request) -> list[Write]:
    return [sent.write() for sent in _writes.decode(asked.args)]


def answer(value: Any) -> bytes:
    return _framed(Answer(msgspec.Raw(encode(value))))


def failure(wrong: Exception) -> bytes:
    told = wrong if isinstance(wrong, CohabitError) else internal_error(wrong, "the store")
    return _framed(Answer(msgspec.Raw(encode(None)), told.as_wire()))


def read_answer(frame: bytes, kind: type[T]) -> T:
    """The value of an answer, of this type. Raises its error."""
    found = _answers.decode(frame)
    if found.error is not None:
        raise by_code(found.error)
    return msgspec.msgpack.decode(found.value, type=kind)


def _framed(message: Struct) -> bytes:
    body = encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def receive(connection: socket.socket) -> bytes | None:
    """The next frame; None if the other side has closed the connection."""
    head = _exactly(connection, LENGTH_BYTES)
    return _exactly(connection, int.from_bytes(head, "big")) if head is not None else None


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        read = connection.recv_into(view[at:])
        if not read:
            return None
        at += read
    return bytes(data)
