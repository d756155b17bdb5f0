"""The remote console of a game server: Valve's RCON protocol, and what a Starbound server can be asked through it.

A packet is its size, an id, a type and a text, all little-endian; the text ends with two zero bytes. A long answer
comes in several packets and nothing marks the last one, so an empty packet follows each command: its answer comes
after all packets of the command.

A server that is off limits to the client's mod can still be asked here: ``eval`` runs Lua in the server.
"""

import asyncio
import string
import struct
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import msgspec

from cohabit.errors import BadArgs, GameRejected, OutcomeUnknown, TooLarge, Unauthorized, Unreachable
from cohabit.house.clock import Clock, in_time

T = TypeVar("T")
DEFAULT_PORT = 21026
TIMEOUT_MS = 10_000
ASK_AGAIN_MS = 200
"""Some answers are ready only later, and the server sends them when it is asked something else."""
MAX_COMMAND = 16 * 1024
MAX_PACKET = 64 * 1024
MAX_ANSWER = 1024 * 1024
ANSWER, COMMAND, AUTH = 0, 2, 3
"""Types of packets. The answer to a password has the type of a command."""
FAILED = -1
"""The id of the answer to a wrong password, and to a command without one."""
_HEAD = struct.Struct("<iii")
_HARMLESS = (string.ascii_letters + string.digits + " _-:.,/").encode()


class Packet(NamedTuple):
    id: int
    type: int
    body: bytes


class Rcon:
    """A connection to a console. Commands run one after the other."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, clock: Clock, timeout_ms: int
    ) -> None:
        self._reader, self._writer, self._clock, self._timeout_ms = reader, writer, clock, timeout_ms
        self._last_id = 0
        self._busy = asyncio.Lock()

    async def log_in(self, password: str) -> None:
        id_ = self._send(AUTH, password.encode())
        while True:
            packet = await self._within(self._packet())
            if packet.type == COMMAND:
                break
        if packet.id != id_:
            raise Unauthorized("the server rejected the RCON password; see rconServerPassword in its configuration")

    async def run(self, command: str) -> str:
        """Run a command. Returns what the server says."""
        text = command.encode()
        if not text.strip() or b"\0" in text or len(text) > MAX_COMMAND:
            raise BadArgs(f"a command has 1 to {MAX_COMMAND} bytes and no zero byte")
        async with self._busy:
            return (await self._within(self._answer(self._send(COMMAND, text)))).decode(errors="replace")

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _answer(self, id_: int) -> bytes:
        parts: list[bytes] = []
        while True:
            end = self._send(ANSWER, b"")
            while True:
                packet = await self._packet()
                if packet.id == FAILED:
                    raise Unauthorized("the server says that this connection is not logged in")
                if packet.id == id_:
                    parts.append(packet.body)
                    if sum(map(len, parts)) > MAX_ANSWER:
                        raise TooLarge(f"the answer has more than {MAX_ANSWER} bytes")
                elif packet.id == end:
                    break
            if parts:
                return b"".join(parts)
            await self._pause(ASK_AGAIN_MS)

    async def _pause(self, ms: int) -> None:
        over = asyncio.Event()
        timer = self._clock.call_at(self._clock.now() + ms, over.set)
        try:
            await over.wait()
        finally:
            timer.cancel()

    def _send(self, kind: int, body: bytes) -> int:
        self._last_id += 1
        self._writer.write(_HEAD.pack(len(body) + 10, self._last_id, kind) + body + b"\0\0")
        return self._last_id

    async def _packet(self) -> Packet:
        size, id_, kind = _HEAD.unpack(await self._reader.readexactly(_HEAD.size))
        if not 10 <= size <= MAX_PACKET:
            raise OutcomeUnknown(f"the server sent a packet of {size} bytes; is this an RCON port?")
        rest = await self._reader.readexactly(size - 8)
        return Packet(id_, kind, rest.rstrip(b"\0"))

    async def _within(self, work: Coroutine[Any, Any, T]) -> T:
        """Await with a time limit. After any failure the connection is closed: nobody knows what would come next."""
        try:
            return await in_time(self._clock, self._timeout_ms, work)
        except TimeoutError:
            self._writer.close()
            raise OutcomeUnknown(f"the server did not answer within {self._timeout_ms / 1000:g} s") from None
        except (OSError, asyncio.IncompleteReadError):
            self._writer.close()
            raise OutcomeUnknown("the server closed the connection") from None
        except (OutcomeUnknown, TooLarge):
            self._writer.close()
            raise


@asynccontextmanager
async def connect(
    host: str, port: int, password: str, clock: Clock, timeout_ms: int = TIMEOUT_MS
) -> AsyncIterator[Rcon]:
    """A console, logged in."""
    if not password or "\0" in password:
        raise BadArgs("the RCON password is missing; a server without one has no console")
    try:
        reader, writer = await in_time(clock, timeout_ms, asyncio.open_connection(host, port))
    except (OSError, TimeoutError) as wrong:
        raise Unreachable(f"cannot connect to {host}:{port} ({type(wrong).__name__}); is runRconServer on?") from None
    console = Rcon(reader, writer, clock, timeout_ms)
    try:
        await console.log_in(password)
        yield console
    finally:
        await console.close()


# -- a Starbound server -----------------------------------------------------------------------------
PLAYERS = """(function() local found = {} for _, id in ipairs(universe.clientIds()) do found[#found + 1] = \
{id = id, name = universe.clientNick(id), uuid = universe.uuidForClient(id), world = universe.clientWorld(id)} end \
return sb.printJson(found) end)()"""
WARP = """(function() local id = universe.findNick({name}) if not id then return "no such player" end \
universe.warpClient(id, {to}) return "ok" end)()"""
WHISPER = """(function() local id = universe.findNick({name}) if not id then return "no such player" end \
universe.adminWhisper(id, {text}) return "ok" end)()"""


class OnlinePlayer(msgspec.Struct, frozen=True):
    id: int
    name: str
    uuid: str | None = None
    world: str | None = None


class StarboundServer:
    """The interface to a server for agents and scripts, through its console."""

    def __init__(self, console: Rcon) -> None:
        self._console = console

    async def evaluate(self, lua: str) -> str:
        """Run Lua in the server, an expression or statements. Returns its value as text."""
        return await self._console.run(f"eval {lua}")

    async def players(self) -> list[OnlinePlayer]:
        found = _json_in(await self.evaluate(PLAYERS))
        return msgspec.convert(found or [], list[OnlinePlayer])

    async def where_is(self, name: str) -> str:
        """The world that a player is in."""
        found = next((player for player in await self.players() if player.name == name), None)
        if found is None:
            raise GameRejected(f"no player named {name!r} is online")
        return found.world or "unknown"

    async def broadcast(self, text: str) -> None:
        """Say something to everybody on the server."""
        await self._console.run(f"say {' '.join(text.split())}")

    async def whisper(self, name: str, text: str) -> None:
        await self._checked(WHISPER.format(name=lua_string(name), text=lua_string(text)), name)

    async def warp(self, name: str, destination: str) -> None:
        """Warp a player: ``OwnShip``, ``OrbitedWorld``, ``InstanceWorld:outpost`` …"""
        await self._checked(WARP.format(name=lua_string(name), to=lua_string(destination)), name)

    async def _checked(self, lua: str, name: str) -> None:
        said = await self.evaluate(lua)
        if said.strip('"') == "no such player":
            raise GameRejected(f"no player named {name!r} is online")
        if said.strip('"') != "ok":
            raise GameRejected(f"the server says: {said[:500]}")


def lua_string(text: str) -> str:
    """A text as a literal of Lua that means exactly this text, whatever is in it."""
    return '"' + "".join(chr(b) if b in _HARMLESS else f"\\{b:03}" for b in text.encode()) + '"'


def _json_in(said: str) -> Any:
    """The JSON that a script printed; the console may quote it once more."""
    try:
        found = msgspec.json.decode(said.strip())
        return msgspec.json.decode(found) if isinstance(found, str) else found
    except ValueError:
        raise GameRejected(f"the server says: {said[:500]}") from None
