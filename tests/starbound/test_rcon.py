"""The remote console, against a server written from the description of the protocol, whose Lua is real."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lupa.lua53 import LuaRuntime

from cohabit.errors import BadArgs, CohabitError, GameRejected
from cohabit.protocols.starbound.rcon import (
    ASK_AGAIN_MS,
    MAX_ANSWER,
    MAX_COMMAND,
    TIMEOUT_MS,
    Rcon,
    StarboundServer,
    connect,
    lua_string,
)
from cohabit.testing.clock import FakeClock

PASSWORD = "open sesame"
SPLIT = 4_096

UNIVERSE = """
universe = {}
players = {[2] = {"Ann", "uuid-a", "ClientShipWorld:1"}, [5] = {"Ben \\"the\\" Bold", "uuid-b", "CelestialWorld:7"}}
warped, told = {}, {}
function universe.clientIds() local ids = {} for id in pairs(players) do ids[#ids + 1] = id end table.sort(ids) return ids end
function universe.clientNick(id) return players[id][1] end
function universe.uuidForClient(id) return players[id][2] end
function universe.clientWorld(id) return players[id][3] end
function universe.findNick(name) for id, p in pairs(players) do if p[1] == name then return id end end end
function universe.warpClient(id, to) warped[#warped + 1] = players[id][1] .. " -> " .. to end
function universe.adminWhisper(id, text) told[#told + 1] = players[id][1] .. ": " .. text end
sb = {printJson = function(value) return print_json(value) end}
"""


class Server:
    """A console as OpenStarbound has it."""

    def __init__(self, password: str = PASSWORD) -> None:
        self.password = password
        self.commands: list[str] = []
        self.said: list[str] = []
        self.answers: Callable[[str], str | None] | None = None  # instead of the commands; None: later
        self.raw: bytes | None = None  # what to send instead of any answer
        self.later: dict[int, str] = {}
        self.answers_twice = False  # as Valve's own servers do, to an empty packet
        self.lua: Any = LuaRuntime(unpack_returned_tuples=True)
        self.lua.globals().print_json = lambda value: json.dumps(_plain(value))
        self.lua.execute(UNIVERSE)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        authed = False
        try:
            while True:
                (size,) = struct.unpack("<i", await reader.readexactly(4))
                body = await reader.readexactly(size)
                id_, kind = struct.unpack("<ii", body[:8])
                text = body[8:-2].decode()
                if self.raw is not None:
                    writer.write(self.raw)
                elif kind == 3:
                    authed = bool(self.password) and text == self.password
                    if authed:
                        self._send(writer, id_, 0, "")
                    self._send(writer, id_ if authed else -1, 2, "")
                elif not authed:
                    self._send(writer, -1, 2, "")
                elif kind == 2:
                    self.commands.append(text)
                    said = self.answers(text) if self.answers else self._run(text)
                    if said is None:
                        self.later[id_] = "it took a while"
                    else:
                        self._answer(writer, id_, said)
                else:
                    self._answer(writer, id_, f"Unknown request {kind:06x}")
                    if self.answers_twice:
                        self._answer(writer, id_, "\x01")
                    for waiting in [w for w in self.later if len(self.commands) and id_ > w + 1]:
                        self._answer(writer, waiting, self.later.pop(waiting))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, writer: asyncio.StreamWriter, id_: int, text: str) -> None:
        for start in range(0, max(1, len(text)), SPLIT):
            self._send(writer, id_, 0, text[start : start + SPLIT])

    def _send(self, writer: asyncio.StreamWriter, id_: int, kind: int, text: str) -> None:
        body = text.encode()
        writer.write(struct.pack("<iii", len(body) + 10, id_, kind) + body + b"\0\0")

    def _run(self, command: str) -> str:
        word, _, rest = command.partition(" ")
        if word == "echo":
            return rest
        if word in ("say", "broadcast"):
            self.said.append(rest)
            return f"OK: said {rest}"
        if word == "eval":
            try:
                return str(self.lua.eval(rest))
            except Exception as wrong:
                return f"RCON: Error executing: {wrong}"
        return f"No such command {word}"


class WatchedClock(FakeClock):
    def due_within(self, ms: int) -> bool:
        """Whether a timer fires within this time."""
        return any(timer._then is not None and at <= self.now() + ms for at, _, timer in self._timers)


def _plain(value: Any) -> Any:
    if not hasattr(value, "items"):
        return value
    items = dict(value.items())
    return [_plain(item) for item in items.values()] if 1 in items else {k: _plain(v) for k, v in items.items()}


@asynccontextmanager
async def a_console(server: Server, clock: FakeClock | None = None, password: str = PASSWORD) -> AsyncIterator[Rcon]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        async with connect("127.0.0.1", port, password, clock or FakeClock()) as console:
            yield console


async def code_of(asked: Any) -> str:
    try:
        await asked
    except CohabitError as refusal:
        return refusal.code
    return "ok"


# -- the protocol -------------------------------------------------------------------------------------
async def test_a_command_is_answered() -> None:
    async with a_console(Server()) as console:
        assert await console.run("echo hello") == "hello"
        assert await console.run("dance") == "No such command dance"


@pytest.mark.parametrize("length", [0, 1, SPLIT - 1, SPLIT, SPLIT + 1, 3 * SPLIT + 17])
async def test_an_answer_of_any_length_arrives_whole(length: int) -> None:
    server = Server()
    server.answers = lambda command: ("äö" * length)[:length]
    async with a_console(server) as console:
        assert await console.run("long") == ("äö" * length)[:length]
        assert await console.run("again") == ("äö" * length)[:length]


async def test_answers_to_an_earlier_command_are_not_taken_for_those_to_the_next() -> None:
    server = Server()
    server.answers_twice = True
    async with a_console(server) as console:
        for number in range(5):
            assert await console.run(f"echo {number}") == str(number)


async def test_several_callers_each_get_their_own_answer() -> None:
    async with a_console(Server()) as console:
        said = await asyncio.gather(*(console.run(f"echo {n}") for n in range(10)))
        assert said == [str(n) for n in range(10)]


async def test_a_wrong_password_is_refused() -> None:
    with pytest.raises(CohabitError, match="rejected the RCON password"):
        async with a_console(Server(), password="guess"):
            pass
    with pytest.raises(BadArgs, match="password is missing"):
        async with a_console(Server(), password=""):
            pass


async def test_an_answer_that_comes_later_is_waited_for() -> None:
    server, clock = Server(), WatchedClock()
    server.answers = lambda command: None
    async with a_console(server, clock) as console:
        running = asyncio.ensure_future(console.run("settileprotection"))
        while not running.done():
            await asyncio.sleep(0)
            if clock.due_within(ASK_AGAIN_MS):  # the console waits before it asks again
                await clock.advance(ASK_AGAIN_MS)
        assert await running == "it took a while"


async def test_a_server_that_says_nothing_leaves_the_outcome_unknown() -> None:
    server, clock = Server(), FakeClock()
    async with a_console(server, clock) as console:
        server.raw = b""
        running = asyncio.ensure_future(console.run("echo x"))
        await asyncio.sleep(0)
        await clock.advance(TIMEOUT_MS)
        assert await code_of(running) == "OUTCOME_UNKNOWN"


@pytest.mark.parametrize(
    "raw", [b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack("<iii", 2**30, 2, 0), struct.pack("<iii", 3, 2, 0)]
)
async def test_something_that_is_not_a_console_is_recognised(raw: bytes) -> None:
    server = Server()
    async with a_console(server) as console:
        server.raw = raw
        assert await code_of(console.run("echo x")) == "OUTCOME_UNKNOWN"


async def test_limits_of_commands_and_answers() -> None:
    server = Server()
    async with a_console(server) as console:
        for wrong in ("", "  ", "a\0b", "x" * (MAX_COMMAND + 1)):
            assert await code_of(console.run(wrong)) == "BAD_ARGS"
        server.answers = lambda command: "x" * (MAX_ANSWER + 1)
        assert await code_of(console.run("endless")) == "TOO_LARGE"


async def test_no_server_is_unreachable() -> None:
    assert await code_of(connect("127.0.0.1", 1, PASSWORD, FakeClock()).__aenter__()) == "UNREACHABLE"


# -- a Starbound server -------------------------------------------------------------------------------
async def test_the_players_and_where_they_are() -> None:
    async with a_console(Server()) as console:
        game = StarboundServer(console)
        assert [(p.id, p.name, p.world) for p in await game.players()] == [
            (2, "Ann", "ClientShipWorld:1"), (5, 'Ben "the" Bold', "CelestialWorld:7"),
        ]  # fmt: skip
        assert await game.where_is("Ann") == "ClientShipWorld:1"
        with pytest.raises(GameRejected, match="is online"):
            await game.where_is("Cid")


async def test_an_empty_server_has_no_players() -> None:
    server = Server()
    server.lua.execute("players = {}")
    async with a_console(server) as console:
        assert await StarboundServer(console).players() == []


async def test_talking_and_warping() -> None:
    server = Server()
    async with a_console(server) as console:
        game = StarboundServer(console)
        await game.broadcast("hello\nall")
        await game.whisper("Ann", 'quote " and \\ and ü')
        await game.warp('Ben "the" Bold', "InstanceWorld:outpost")
        assert server.said == ["hello all"]
        assert list(server.lua.globals().told.values()) == ['Ann: quote " and \\ and ü']
        assert list(server.lua.globals().warped.values()) == ['Ben "the" Bold -> InstanceWorld:outpost']
        assert await code_of(game.warp("Cid", "OwnShip")) == "GAME_REJECTED"
        server.lua.execute("universe.warpClient = nil")  # an older server
        assert await code_of(game.warp("Ann", "OwnShip")) == "GAME_REJECTED"


LUA: Any = LuaRuntime(unpack_returned_tuples=True, encoding=None)


@given(text=st.text(max_size=60))
def test_a_text_in_lua_means_exactly_itself(text: str) -> None:
    literal = lua_string(text)
    assert literal.isascii()
    assert LUA.eval(literal.encode()) == text.encode()
