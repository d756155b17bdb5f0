"""Clients that try to overload a house, each in its own way, until they are stopped."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from bench.clients import asked, handshake, text_frame
from bench.common import allow_many_files

Flooding = Callable[[threading.Event], None]


class Flood:
    """A flood of one kind. ``start`` begins it, ``stop`` ends it."""

    def __init__(self, kind: str, url: str, tokens: list[str]) -> None:
        allow_many_files()
        host, _, port = url.removeprefix("http://").partition(":")
        self._address = host, int(port)
        self._url, self._tokens = url, tokens
        self._over = threading.Event()
        self._flooders: list[Flooding] = getattr(self, kind)()
        self._held: list[socket.socket] = []
        self.sent = 0

    def start(self) -> None:
        for flooder in self._flooders:
            threading.Thread(target=self._keep_on, args=(flooder,), daemon=True).start()

    def _keep_on(self, flooder: Flooding) -> None:
        while not self._over.is_set():
            with suppress(OSError):  # the house hung up: begin again
                flooder(self._over)
            time.sleep(0.001)  # a kind of flood that ends at once must not starve the other threads

    def stop(self) -> int:
        """Returns how many bytes were sent."""
        self._over.set()
        return self.sent

    # -- connections ------------------------------------------------------------------------------
    def _connect(self) -> socket.socket:
        made = socket.create_connection(self._address, timeout=10)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def _websocket(self, token: str) -> socket.socket:
        made = self._connect()
        made.sendall(handshake(self._url, token))
        head = b""
        while b"\r\n\r\n" not in head:
            more = made.recv(4096)
            if not more:
                raise ConnectionError("the house hung up")
            head += more
        return made

    def _send(self, data: bytes, *, to: socket.socket) -> None:
        to.sendall(data)
        self.sent += len(data)

    def _repeat(self, frame: bytes, token: str, reads: bool = True) -> Flooding:
        """Send a frame over and over on a WebSocket, thousands at a time."""
        many = frame * max(1, 65536 // len(frame))

        def flood(over: threading.Event) -> None:
            with self._websocket(token) as made:
                if reads:
                    threading.Thread(target=_drain, args=(made,), daemon=True).start()
                while not over.is_set():
                    self._send(many, to=made)

        return flood

    # -- kinds ------------------------------------------------------------------------------------
    def valid_frames(self) -> list[Flooding]:
        return [self._repeat(text_frame(asked("whoami")), token) for token in self._tokens[:4]]

    def malformed_frames(self) -> list[Flooding]:
        return [self._repeat(text_frame("{"), token) for token in self._tokens[:4]]

    def pings(self) -> list[Flooding]:
        ping = b"\x89\x84" + bytes(4) + b"ping"
        return [self._repeat(ping, token, reads=n % 2 == 0) for n, token in enumerate(self._tokens[:4])]

    def writes(self) -> list[Flooding]:
        message = asked("send_message", {"to": "*", "content": "x" * 4_000})
        return [self._repeat(text_frame(message), token) for token in self._tokens[:4]]

    def slow_readers(self) -> list[Flooding]:
        """Subscribers that never read, and members who write for them."""

        def subscribe(token: str) -> Flooding:
            def flood(over: threading.Event) -> None:
                with self._websocket(token) as made:
                    self._send(text_frame(asked("subscribe", {"cursor": ""})), to=made)
                    over.wait()

            return flood

        return [subscribe(token) for token in self._tokens for _ in range(10)] + self.writes()

    def _endless(self, beginning: bytes, more: bytes) -> Flooding:
        def flood(over: threading.Event) -> None:
            with self._connect() as made:
                self._send(beginning, to=made)
                while not over.is_set():
                    self._send(more, to=made)

        return flood

    def headers(self) -> list[Flooding]:
        return [self._endless(b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: " + b"x" * 65_000 + b"\r\n")] * 4

    def addresses(self) -> list[Flooding]:
        return [self._endless(b"GET /", b"x" * 65_000)] * 4

    def pipelined(self) -> list[Flooding]:
        return [self._endless(b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1_000)] * 4

    def half_open(self) -> list[Flooding]:
        """Thousands of connections with half a request."""

        def flood(over: threading.Event) -> None:
            while not over.is_set():
                made = self._connect()
                self._held.append(made)
                self._send(b"GET / HTTP/1.1\r\n", to=made)
                if len(self._held) > 5_000:
                    self._held.pop(0).close()

        return [flood] * 2

    def logins(self) -> list[Flooding]:
        request = b"GET /api/whoami HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess\r\n\r\n"

        def flood(over: threading.Event) -> None:
            with self._connect() as made:
                while not over.is_set():
                    self._send(request, to=made)
                    if not made.recv(65536):
                        return

        return [flood] * 32


def _drain(made: socket.socket) -> None:
    with suppress(OSError):
        while made.recv(1 << 20):
            pass
