"""Clients with minimal overhead, because the server is measured."""

import asyncio
import json
import os
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Coroutine
from typing import Any, TypeVar

from bench.common import percentile

T = TypeVar("T")
ANSWERED_WITHIN_S = 60
PING = 0x89
PONG = bytes([0x8A, 0x80]) + bytes(4)  # without what the ping carried; the server only counts on an answer


def handshake(url: str, token: str) -> bytes:
    return (
        f"GET /ws HTTP/1.1\r\nHost: {url.removeprefix('http://')}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {b64encode(os.urandom(16)).decode()}\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    ).encode()


def text_frame(text: str) -> bytes:
    """A text frame, masked (as required of clients) with zeros."""
    body = text.encode()
    if len(body) < 126:
        return bytes([0x81, 0x80 | len(body)]) + bytes(4) + body
    return bytes([0x81, 0x80 | 126]) + len(body).to_bytes(2, "big") + bytes(4) + body


def first_frame(data: bytes | bytearray) -> tuple[int, int]:
    """The start and end of the first frame's payload. The end is past the data if more bytes are needed."""
    if len(data) < 2:
        return 0, len(data) + 1
    size = data[1] & 127
    if size < 126:
        return 2, 2 + size
    wide = 2 if size == 126 else 8
    if len(data) < 2 + wide:
        return 0, len(data) + 1
    return 2 + wide, 2 + wide + int.from_bytes(data[2 : 2 + wide], "big")


def asked(command: str, args: dict[str, Any] | None = None, room: str | None = None) -> str:
    about = {"room": room} if room is not None else {}
    return json.dumps({"id": 1, "command": command, "args": args or {}, **about}, separators=(",", ":"))


class Blocking:
    """One connection on a plain blocking socket: send, wait for the whole answer, send again."""

    def __init__(self, url: str, token: str = "") -> None:
        self._url, self._token = url, token

    def connect(self) -> None:
        """Reconnect for each round: this client answers no pings, so servers would disconnect it."""
        host, _, port = self._url.removeprefix("http://").partition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(handshake(self._url, self._token))
        head = b""
        while b"\r\n\r\n" not in head:
            head += self._socket.recv(4096)
        assert b" 101 " in head.split(b"\r\n", 1)[0], head

    def exchange(self, frame: bytes) -> bytes:
        self._socket.sendall(frame)
        data = b""
        while True:
            more = self._socket.recv(65536)
            if not more:
                raise ConnectionError("the server hung up")
            data += more
            begin, end = first_frame(data)
            if data[0] == PING and end <= len(data):
                self._socket.sendall(PONG)
                data = data[end:]
                begin, end = first_frame(data)
            if end <= len(data):
                return data[begin:end]

    def round(self, text: str, times: int) -> dict[str, float]:
        """p50 and p99 of this many exchanges, in microseconds."""
        self.connect()
        frame, took, clock = text_frame(text), [], time.perf_counter
        for _ in range(times):
            began = clock()
            self.exchange(frame)
            took.append((clock() - began) * 1e6)
        return {"p50": percentile(took, 0.5), "p99": percentile(took, 0.99)}

    def alternate(self, texts: list[str], times: int, pause_s: float) -> dict[str, float]:
        """As ``round``, on the open connection, with several texts in turn and pauses between them."""
        frames, took, clock = [text_frame(text) for text in texts], [], time.perf_counter
        for n in range(times):
            began = clock()
            answer = self.exchange(frames[n % len(frames)])
            took.append((clock() - began) * 1e6)
            assert b'"ok":true' in answer, answer
            time.sleep(pause_s)
        return {"p50": percentile(took, 0.5), "p99": percentile(took, 0.99)}

    def answer(self, text: str) -> str:
        self.connect()
        return self.exchange(text_frame(text)).decode()


class Callers:
    """Several connections that each call the same again and again, as soon as the answer is there."""

    def __init__(self, url: str, tokens: list[str], text: str) -> None:
        self._clients, self._text = [Blocking(url, token) for token in tokens], text

    def start(self) -> None:
        for client in self._clients:
            client.connect()
            threading.Thread(target=self._keep_calling, args=(client,), daemon=True).start()

    def _keep_calling(self, client: Blocking) -> None:
        frame = text_frame(self._text)
        try:
            while b'"ok":true' in client.exchange(frame):
                pass
        except ConnectionError:  # its room was closed
            pass


class Crowd:
    """Many connections in one process, on picows. Each either sends continuously or listens."""

    def __init__(self, url: str, tokens: list[str]) -> None:
        import uvloop

        self._loop = uvloop.new_event_loop()
        self._url = url
        # On a thread, so pings are answered between rounds too.
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._wait(self._connect(tokens))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _connect(self, tokens: list[str]) -> None:
        from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

        crowd = self
        self.got = 0
        self.wanted = -1
        self.sizes: list[int] = []
        self.texts: list[str] = []
        self.keep = False
        self.began = 0.0
        self.late: list[float] = []
        self.done = asyncio.Event()
        self.repeat: bytes | None = None
        self.sent: dict[Any, float] | None = None  # by connection, if each answer is timed
        self.refused: bytes | None = None

        class Listener(WSListener):
            def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
                if frame.msg_type != WSMsgType.TEXT:
                    return
                crowd.got += 1
                if crowd.repeat is not None:
                    if crowd.sent is not None:
                        now = time.perf_counter()
                        crowd.late.append(now - crowd.sent[transport])
                        crowd.sent[transport] = now
                    transport.send(WSMsgType.TEXT, crowd.repeat)
                elif crowd.sent is not None:
                    if (began := crowd.sent.pop(transport, None)) is not None:
                        crowd.late.append(time.perf_counter() - began)
                    if b'"ok":true' not in (answer := frame.get_payload_as_bytes()):
                        crowd.refused = answer
                elif crowd.began:
                    crowd.late.append(time.perf_counter() - crowd.began)
                    if crowd.got == crowd.wanted:
                        crowd.done.set()
                if crowd.keep:
                    crowd.texts.append(frame.get_payload_as_ascii_text())

        self._text = WSMsgType.TEXT
        self._transports: list[Any] = []
        for i in range(0, len(tokens), 50):
            some = [
                ws_connect(
                    Listener, self._url.replace("http", "ws") + "/ws", extra_headers={"Authorization": f"Bearer {t}"}
                )
                for t in tokens[i : i + 50]
            ]
            self._transports += [transport for transport, _ in await asyncio.gather(*some)]

    def everybody(self, text: str) -> None:
        """Send this once on each connection, a few at a time."""
        self._wait(self._everybody(text))

    async def _everybody(self, text: str) -> None:
        for i, transport in enumerate(self._transports):
            transport.send(self._text, text.encode())
            if i % 50 == 49:
                await asyncio.sleep(0.02)

    def quiet(self, for_s: float) -> int:
        """Wait until no frames arrive for a while. Returns the number of frames since the start."""
        return self._wait(self._quiet(for_s))

    async def _quiet(self, for_s: float) -> int:
        last = -1
        while last != self.got:
            last = self.got
            await asyncio.sleep(for_s)
        return self.got

    def each(self, text: str, seconds: float) -> dict[str, float]:
        """Send this on all connections, and again after each answer. Returns answers per second, and their number."""
        return self._wait(self._each(text, seconds))

    def timed(self, text: str, seconds: float) -> dict[str, float]:
        """As ``each``, with p50 and p99 of the time until an answer, in ms."""
        self.late, self.sent = [], dict.fromkeys(self._transports, time.perf_counter())
        found = self.each(text, seconds)
        self.sent = None
        return {**found, "p50": percentile(self.late, 0.5) * 1e3, "p99": percentile(self.late, 0.99) * 1e3}

    async def _each(self, text: str, seconds: float) -> dict[str, float]:
        self.repeat = text.encode()
        first = self.got
        for transport in self._transports:
            transport.send(self._text, self.repeat)
        await asyncio.sleep(seconds / 10)
        before, began = self.got, time.perf_counter()
        await asyncio.sleep(seconds)
        rate = (self.got - before) / (time.perf_counter() - began)
        self.repeat = None
        await self._quiet(0.2)
        return {"rate": rate, "all": self.got - first}

    def paced(self, text: str, per_second: int, seconds: float) -> dict[str, float]:
        """Send this at a steady rate, on one connection after the other. Returns p50, p99 and the longest of the times
        until an answer, in ms, and their number. A connection is left out until its last answer has come."""
        return self._wait(self._paced(text.encode(), per_second, seconds))

    async def _paced(self, text: bytes, per_second: int, seconds: float) -> dict[str, float]:
        self.late, self.sent = [], {}
        began = time.perf_counter()
        for number in range(int(per_second * seconds)):
            await asyncio.sleep(began + number / per_second - time.perf_counter())
            transport = self._transports[number % len(self._transports)]
            if transport not in self.sent:
                self.sent[transport] = time.perf_counter()
                transport.send(self._text, text)
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            while self.sent:  # a busy machine may take long, and the next calls must not get these answers
                await self._quiet(0.05)
        self.sent = None
        assert self.refused is None, self.refused
        found = {"p50": percentile(self.late, 0.5), "p99": percentile(self.late, 0.99), "longest": max(self.late)}
        return {**{name: value * 1e3 for name, value in found.items()}, "all": len(self.late)}

    def probe(self, text: str) -> list[str]:
        """The frames that all connections get when the first one sends this."""
        return self._wait(self._probe(text))

    async def _probe(self, text: str) -> list[str]:
        self.keep, self.texts = True, []
        self._transports[0].send(self._text, text.encode())
        await self._quiet(0.5)
        self.keep = False
        return self.texts

    def broadcasts(self, text: str, frames: int, seconds: float) -> dict[str, float]:
        """Send this on the first connection, and again when all ``frames`` have arrived. Also measures the latency."""
        return self._wait(self._broadcasts(text, frames, seconds))

    async def _broadcasts(self, text: str, frames: int, seconds: float) -> dict[str, float]:
        count, self.late, began = 0, [], time.perf_counter()
        self.wanted = self.got
        while time.perf_counter() - began < seconds:
            self.wanted += frames
            self.done.clear()
            self.began = time.perf_counter()
            self._transports[0].send(self._text, text.encode())
            await asyncio.wait_for(self.done.wait(), 60)
            count += 1
        took = time.perf_counter() - began
        self.began = 0.0
        return {
            "rate": count * frames / took,
            "count": count,
            "p50": percentile(self.late, 0.5) * 1e3,
            "p99": percentile(self.late, 0.99) * 1e3,
        }


class KeptAlive:
    """One kept-alive HTTP connection on a plain blocking socket that repeats the same request.

    ``first``: sent once on a new connection, before that; its answer may be a refusal.
    """

    def __init__(self, url: str, request: str, first: str = "") -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._address = host, int(port)
        self._request, self._first = request.encode(), first.encode()

    def connect(self) -> None:
        """Reconnect for each round: servers disconnect clients that are silent for a few seconds."""
        self._socket = socket.create_connection(self._address)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._first:
            self._socket.sendall(self._first)
            self._answer()

    def exchange(self) -> bytes:
        self._socket.sendall(self._request)
        head, body = self._answer()
        assert b" 200" in head.split(b"\r\n", 1)[0], head + body
        return body

    def _answer(self) -> tuple[bytes, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        size = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
        while len(body) < size:
            body += self._more()
        return head, body

    def _more(self) -> bytes:
        more = self._socket.recv(65536)
        if not more:
            raise ConnectionError("the server hung up")
        return more

    def answer(self) -> Any:
        self.connect()
        return json.loads(self.exchange())

    def round(self, times: int) -> dict[str, float]:
        """p50 and p99 of this many calls, in microseconds."""
        self.connect()
        took, clock = [], time.perf_counter
        for _ in range(times):
            began = clock()
            self.exchange()
            took.append((clock() - began) * 1e6)
        return {"p50": percentile(took, 0.5), "p99": percentile(took, 0.99)}


class Posting(KeptAlive):
    """The same MCP call."""

    def __init__(self, url: str, path: str, token: str, tool: str, args: dict[str, Any], first: str = "") -> None:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        }
        params = {"name": tool, "arguments": args, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        headers = (
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
            f"Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        )
        super().__init__(url, posted(url, path, token, body, headers), first)


def posted(url: str, path: str, token: str, body: str, headers: str = "") -> str:
    """An HTTP request."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: {url.removeprefix('http://')}\r\nContent-Type: application/json\r\n{headers}"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}"
    )
