"""The members of rooms, on picows: one client for our rooms, for those of Colyseus and for a bare broadcast.

A sender sends texts of one size, each with a number. The client finds the numbers in what the members receive, in the
same way on all sides, and checks that each member receives each text of its room once and in order.
"""

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from bench.clients import asked
from bench.common import percentile

T = TypeVar("T")
MARK, DIGITS = b"#text:", 9
JOIN_ROOM, ROOM_DATA = 10, 13  # codes of Colyseus, the first byte of a message
AT_ONCE = 40
"""Members that join at the same time."""
QUIET_S = 1.0
PATIENCE_S = 60.0


def numbered(number: int, size: int) -> str:
    return f"{MARK.decode()}{number:0{DIGITS}}".ljust(size, "x")


class Member:
    """One connection."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.transport: Any = None
        self.last = -1  # the number of the last text it received
        self.joined: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class House:
    """Our rooms: a token for each member, then ``subscribe`` without views."""

    def __init__(self, url: str, tokens: list[str]) -> None:
        from picows import WSMsgType

        self.url, self._tokens, self._kind = url.replace("http", "ws", 1) + "/ws", tokens, WSMsgType.TEXT

    def address(self, room: int, member: int, of: int) -> tuple[str, dict[str, str]]:
        return self.url, {"Authorization": f"Bearer {self._tokens[room * of + member]}"}

    def connected(self, member: Member) -> None:
        member.transport.send(self._kind, asked("subscribe", {"views": False}).encode())

    def other(self, member: Member, message: bytes) -> None:
        """A message without a text: an answer, or the news that others have connected."""
        answer = json.loads(message)
        if "push" in answer:
            return
        assert answer["ok"], answer
        if not member.joined.done():
            member.joined.set_result(None)

    def send(self, member: Member, text: str) -> None:
        member.transport.send(self._kind, asked("send_message", {"to": "*", "content": text}).encode())

    def texts(self, message: bytes) -> list[str]:
        """The texts of one message, decoded completely."""
        frame = json.loads(message)
        assert frame["push"] == "events", frame
        return [item["text"].partition(": ")[2] for item in frame["items"]]


class Colyseus:
    """Colyseus' rooms: a seat is reserved over HTTP; the server's JOIN_ROOM is confirmed with the same byte."""

    def __init__(self, url: str) -> None:
        from picows import WSMsgType

        self._host, self._kind = url.removeprefix("http://"), WSMsgType.BINARY
        self._rooms: dict[int, str] = {}

    def address(self, room: int, member: int, of: int) -> tuple[str, dict[str, str]]:
        path = f"joinById/{self._rooms[room]}" if room in self._rooms else "create/lounge"
        asking = http.client.HTTPConnection(self._host)
        asking.request("POST", f"/matchmake/{path}", "{}", {"Content-Type": "application/json"})
        seat = json.loads(asking.getresponse().read())
        asking.close()
        self._rooms[room] = seat["roomId"]
        return f"ws://{self._host}/{seat['processId']}/{seat['roomId']}?sessionId={seat['sessionId']}", {}

    def connected(self, member: Member) -> None:
        """The server speaks first."""

    def other(self, member: Member, message: bytes) -> None:
        assert message[0] == JOIN_ROOM, message
        member.transport.send(self._kind, bytes([JOIN_ROOM]))
        member.joined.set_result(None)

    def send(self, member: Member, text: str) -> None:
        member.transport.send(self._kind, bytes([ROOM_DATA]) + _short("chat") + _packed(text))

    def texts(self, message: bytes) -> list[str]:
        """The text of one message, decoded completely: code, type, and one string in MessagePack."""
        head = bytes([ROOM_DATA]) + _short("chat")
        assert message.startswith(head), message
        text = message[len(head) + 2 :].decode()
        assert message[len(head) :] == _packed(text), message
        return [text]


class Bare:
    """A server that sends what it receives, filled up with spaces, to all its clients."""

    def __init__(self, url: str) -> None:
        from picows import WSMsgType

        self.url, self._kind = url.replace("http", "ws", 1), WSMsgType.TEXT

    def address(self, room: int, member: int, of: int) -> tuple[str, dict[str, str]]:
        return self.url, {}

    def connected(self, member: Member) -> None:
        member.joined.set_result(None)

    def other(self, member: Member, message: bytes) -> None:
        raise AssertionError(message)

    def send(self, member: Member, text: str) -> None:
        member.transport.send(self._kind, text.encode())

    def texts(self, message: bytes) -> list[str]:
        return [message.decode().rstrip()]


def _short(text: str) -> bytes:
    """A string of at most 31 bytes, in MessagePack and in Colyseus' own encoding."""
    return bytes([0xA0 | len(text)]) + text.encode()


def _packed(text: str) -> bytes:
    """A string of 32 to 255 bytes in MessagePack."""
    return bytes([0xD9, len(text)]) + text.encode()


class Audience:
    """All members of ``rooms`` rooms with ``members`` each, in one process. The first of each room sends."""

    def __init__(self, side: str, url: str, rooms: int, members: int, size: int, tokens: list[str]) -> None:
        import uvloop

        self._wire: House | Colyseus | Bare = (
            Colyseus(url) if side == "colyseus" else Bare(url) if side == "bare" else House(url, tokens)
        )
        self._of, self._size = members, size
        self._next = 0  # number of the next text
        self._sent: dict[int, float] = {}  # when the texts were sent that have not reached all yet …
        self._left: dict[int, int] = {}  # … and how many members they have not reached
        self._late: list[float] = []
        self._frames = 0  # received, of all kinds …
        self._messages = 0  # … and those with texts
        self._seen: list[bytes] | None = None
        self._arrived: Callable[[], None] = lambda: None
        self._failed: Exception | None = None
        self._loop = uvloop.new_event_loop()
        # On a thread, so pings are answered between rounds too.
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._senders: list[Member] = []  # of each room
        self._wait(self._join(rooms))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    # -- joining ----------------------------------------------------------------------------------
    async def _join(self, rooms: int) -> None:
        places = [(room, member) for room in range(rooms) for member in range(self._of)]
        made: list[Member] = []
        for i in range(0, len(places), AT_ONCE):
            some = [(room, self._wire.address(room, member, self._of)) for room, member in places[i : i + AT_ONCE]]
            made += await asyncio.gather(*(self._connect(room, *address) for room, address in some))
        self._senders = made[:: self._of]
        before = -1
        while before != self._frames:  # a server may still announce who has joined
            before = self._frames
            await asyncio.sleep(QUIET_S)

    async def _connect(self, room: int, url: str, headers: dict[str, str]) -> Member:
        from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

        received, member = self._received, Member(room)
        whole = (WSMsgType.TEXT, WSMsgType.BINARY)

        class Listener(WSListener):
            def on_ws_connected(self, transport: WSTransport) -> None:
                member.transport = transport

            def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
                if frame.msg_type in whole and frame.fin:
                    received(member, frame.get_payload_as_bytes())

        await ws_connect(Listener, url, extra_headers=headers)
        self._wire.connected(member)
        await asyncio.wait_for(member.joined, PATIENCE_S)
        return member

    # -- receiving --------------------------------------------------------------------------------
    def _received(self, member: Member, message: bytes) -> None:
        try:
            now = time.perf_counter()
            self._frames += 1
            at = message.find(MARK)
            if at < 0:
                self._wire.other(member, message)
                return
            self._messages += 1
            if self._seen is not None:
                self._seen.append(message)
            while at >= 0:
                self._text(member, int(message[at + len(MARK) : at + len(MARK) + DIGITS]), now)
                at = message.find(MARK, at + self._size)
        except Exception as wrong:
            self._failed = self._failed or wrong
            self._arrived()

    def _text(self, member: Member, number: int, now: float) -> None:
        assert number > member.last, f"text {number} after {member.last}"
        assert number % len(self._senders) == member.room, f"text {number} in room {member.room}"
        member.last = number
        self._late.append(now - self._sent[number])
        self._left[number] -= 1
        if not self._left[number]:
            del self._left[number], self._sent[number]
            self._arrived()

    # -- sending ----------------------------------------------------------------------------------
    def _send(self) -> None:
        """Send the next text, in the next room."""
        number = self._next
        self._next += 1
        self._sent[number] = time.perf_counter()
        self._left[number] = self._of
        self._wire.send(self._senders[number % len(self._senders)], numbered(number, self._size))

    def check(self) -> int:
        """Send one text and decode what the members receive. Returns the size of a received message."""
        return self._wait(self._check())

    async def _check(self) -> int:
        self._seen = []
        number = self._next
        await self._keep_in_flight(1)
        for message in self._seen:
            assert self._wire.texts(message) == [numbered(number, self._size)], message
        assert len(self._seen) == self._of, len(self._seen)
        size, self._seen = len(self._seen[0]), None
        return size

    def in_flight(self, window: int, seconds: float) -> dict[str, float]:
        """Send texts so that always ``window`` of them have not reached all of their members yet."""
        return self._wait(self._measured(self._keep_in_flight(window, seconds)))

    async def _measured(self, sending: Coroutine[Any, Any, None]) -> dict[str, float]:
        self._late, self._messages, first, began = [], 0, self._next, time.perf_counter()
        await sending
        took, texts = time.perf_counter() - began, self._next - first
        assert len(self._late) == texts * self._of, (len(self._late), texts)
        return {
            "rate": len(self._late) / took,
            "deliveries": len(self._late),
            "messages": self._messages,
            "p50": percentile(self._late, 0.5) * 1e3,
            "p99": percentile(self._late, 0.99) * 1e3,
        }

    async def _keep_in_flight(self, window: int, seconds: float = 0.0) -> None:
        done, until = asyncio.Event(), time.perf_counter() + seconds

        def arrived() -> None:
            if self._failed is None and time.perf_counter() < until:
                self._send()
            elif self._failed is not None or not self._left:
                done.set()

        self._arrived = arrived
        for _ in range(window):
            self._send()
        try:
            await asyncio.wait_for(done.wait(), PATIENCE_S)
        finally:
            self._arrived = lambda: None
        if self._failed is not None:
            raise self._failed
