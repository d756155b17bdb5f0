"""The agents of a house: what they think never delays anybody, what they fail at is seen, and a person can take over."""

import asyncio
import json
import logging
import os
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.agents import runner
from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Exchange, Usage
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.runner import MAX_REFUSALS
from cohabit.agents.secrets import bytes_without_secrets
from cohabit.errors import BadArgs, Busy, CohabitError, GameRejected, PermissionDenied, Quarantined, StorageFailed
from cohabit.house.agents.agent_status import AgentStatus
from cohabit.house.agents.bots import QUIET_MS, Dismissed, MemberTable, Unusable
from cohabit.house.agents.brains import check_allowed, check_makeable
from cohabit.house.agents.transcripts import EARLIER, TRANSCRIPT, Transcripts
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.registry import knows_brain
from cohabit.scenario import parse_scenario, read_scenario
from cohabit.testing.clock import FakeClock

from .making import GOD, HOST, Client, a_moment, make_room, open_house, player, recorded

BRAINS = Path(__file__).with_name("brains.py")
SOON_S = 100
"""A test that waits longer than this hangs."""


class Gate:
    """What the agents of ``brains.py`` tell a test, and a gate at which those wait that are slow."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.told: list[str] = []
        self.started = threading.Semaphore(0)
        self.cancelled = threading.Event()
        self._open = threading.Event()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(path)
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def open(self) -> None:
        self._open.set()

    def close(self) -> None:
        self.open()
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _serve(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                threading.Thread(target=self._hear, args=(self._server.accept()[0],), daemon=True).start()

    def _hear(self, agent: socket.socket) -> None:
        with agent, suppress(OSError):  # the agent was killed
            what = agent.recv(100).decode()
            self.told.append(what)
            if what == "cancelled":
                self.cancelled.set()
            if what in ("wait", "started"):
                self.started.release()
            if what == "wait":
                self._open.wait()
            agent.send(b".")


_gates: list[Gate] = []


def brain(name: str) -> str:
    return f"{BRAINS}:{name}" + (f"?gate={_gates[-1].path}" if _gates else "")


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A closed gate, which the agents know."""
    with TemporaryDirectory() as folder:
        made = Gate(f"{folder}/gate")
        _gates.append(made)
        yield made
        _gates.remove(made)
        made.close()


async def started(gate: Gate, times: int = 1) -> None:
    """Wait until so many agents are thinking."""
    for _ in range(times):
        assert await asyncio.to_thread(gate.started.acquire, True, SOON_S)


async def until(house: House, is_so: Callable[[], Any], room: str = "den") -> None:
    """Wait until the room has come to this. The clock of these houses stands still, so nothing else ends the wait."""
    runner = house.rooms[room]
    async with asyncio.timeout(SOON_S):
        while not is_so():
            await runner.changed_since(runner.version, house.clock.now() + 1)


async def counted(house: House, who: str, decisions: int, room: str = "den") -> None:
    """Wait until the agent of a member has counted its decisions, which it does on its own thread after the move."""
    async with asyncio.timeout(SOON_S):
        while (found := house.bots.agents.get((room, who))) is None or found.tally.decisions < decisions:
            await asyncio.sleep(0)


def moves(house: House, who: str, room: str = "den") -> list[Any]:
    return [entry for entry in recorded(house.rooms[room], "take") if entry.by == who]


async def nim(
    house: House, first: str, second: str | None = "random", room: str = "den", **keys: Any
) -> dict[str, Client]:
    """A room with Nim in which a brain plays for ann, and maybe one for bob."""
    bob = player("bob", 1, brain=second) if second else player("bob", 1)
    return await make_room(house, player("ann", 0, brain=first), bob, HOST, GOD, world="nim", room=room, **keys)


# -- waiting ------------------------------------------------------------------------------------
async def test_where_time_runs_by_itself_an_agent_thinks_again_when_it_is_told_something_or_after_a_while(
    gate: Gate,
) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(
            house, player("ann", 0, brain=brain("Watches")), player("bob", 1), HOST, GOD, world="lanterns",
            partial_intel=True,
        )  # fmt: skip
        await counted(house, "ann", 1)
        await who["bob"]("whoami")
        await who["zeus"]("whoami")
        await clock.advance(1_000)
        await counted(house, "ann", 2)  # it was told that they are connected
        await clock.advance(3_000)  # three ticks, in which nothing is told
        assert house.rooms["den"].room.state.tick == 4
        await who["bob"]("halt")
        await who["zeus"]("send_message", {"to": "bob", "content": "not for ann"})
        await clock.advance(2_000)
        assert len(gate.told) == 2
        await who["zeus"]("send_message", {"to": "ann", "content": "wake up"})
        await counted(house, "ann", 3)
        assert gate.told[2:] == ["tick 6"]
        await clock.advance(QUIET_MS)
        await counted(house, "ann", 4)
        assert len(gate.told) == 4


# -- isolation ----------------------------------------------------------------------------------
async def test_sixteen_slow_brains_do_not_delay_the_calls_of_other_members(gate: Gate) -> None:
    async with open_house() as house:
        rooms = [await nim(house, brain("Slow"), room=f"room-{i}") for i in range(16)]
        await started(gate, 16)  # all of them think at the same time
        async with asyncio.timeout(SOON_S):
            for who in rooms:
                assert (await who["zeus"]("view")).text
                assert (await who["hostess"]("whoami")).handle == "hostess"
        assert not any(moves(house, "ann", f"room-{i}") for i in range(16))
        gate.open()
        for i in range(16):
            await until(house, lambda i=i: moves(house, "ann", f"room-{i}"), f"room-{i}")


async def test_an_agent_whose_answers_are_all_refused_plays_its_fallbacks_to_the_end() -> None:
    async with open_house() as house:
        await nim(house, brain("AlwaysRefused"), brain("AlwaysRefused"), config={"stones": 99})
        await until(house, lambda: house.rooms["den"].room.is_over())
        assert len(moves(house, "ann")) > MAX_REFUSALS
        assert house.bots.agents["den", "ann"].stopped == ""


async def test_an_agent_plays_on_if_its_decision_cannot_be_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: Any) -> None:
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")

    monkeypatch.setattr(Transcripts, "write", fail)
    async with open_house(tmp_path) as house:
        await nim(house, brain("Scripted"), brain("Scripted"), config={"stones": 9})
        await until(house, lambda: house.rooms["den"].room.is_over())
        await counted(house, "ann", 4)
    assert "a decision could not be reported: UnicodeEncodeError" in caplog.text


@pytest.mark.parametrize("kind", ["random", brain("Scripted")])
async def test_an_agent_plays_on_when_a_store_that_was_away_is_back(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "AGAIN_S", 0.0)
    store = Flaky()
    async with open_house(store=store) as house:
        await nim(house, kind, kind, config={"stones": 9})
        store.failures = 5
        await until(house, lambda: house.rooms["den"].room.is_over())
        assert store.failures == 0
        assert house.bots.agents["den", "ann"].stopped == ""


class Flaky(MemoryStore):
    """A store whose next commits fail."""

    failures = 0

    def commit(self, writes: Sequence[Write]) -> None:
        if self.failures:
            self.failures -= 1
            raise StorageFailed("the database is away")
        super().commit(writes)


async def test_a_player_that_is_refused_with_busy_before_it_knows_the_rules_asks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "AGAIN_S", 0.0)
    call, refusals = MemberTable.call, 2

    async def busy(table: MemberTable, command: str, args: Any = None) -> Any:
        nonlocal refusals
        if refusals:
            refusals -= 1
            raise Busy("the house has just started")
        return await call(table, command, args)

    monkeypatch.setattr(MemberTable, "call", busy)
    async with open_house() as house:
        await nim(house, "random", "random", config={"stones": 9})
        await until(house, lambda: house.rooms["den"].room.is_over())
    assert refusals == 0


async def test_a_slow_reflect_stops_no_room(gate: Gate) -> None:
    async with open_house() as house:
        one = await nim(house, brain("SlowReflect"), room="one")
        other = await nim(house, "random", room="other")
        await started(gate)
        await until(house, lambda: house.rooms["other"].room.is_over(), "other")
        async with asyncio.timeout(SOON_S):
            assert (await one["zeus"]("view")).text
            assert (await other["zeus"]("view")).over


async def test_an_async_agent_that_blocks_its_loop_delays_neither_members_nor_other_agents(gate: Gate) -> None:
    async with open_house() as house:
        who = await nim(house, brain("Blocks"))
        await started(gate)
        await nim(house, brain("OnlyDecides"), room="other")
        await until(house, lambda: house.rooms["other"].room.is_over(), "other")
        async with asyncio.timeout(SOON_S):
            assert (await who["zeus"]("view")).text
            await who["hostess"]("send_message", {"to": "*", "content": "still here"})
        gate.open()
        await until(house, lambda: moves(house, "ann"))


async def test_after_the_deadline_the_fallback_is_played_for_a_brain_that_never_returns(gate: Gate) -> None:
    async with open_house(agent_seconds=0.1) as house:
        who = await nim(house, brain("Slow"))
        await until(house, lambda: len(moves(house, "ann")) >= 3)
        (line,) = [line for line in (await who["zeus"]("agents")).agents if line.member == "ann"]
        assert line.outcomes.get("timeout", 0) >= 2
        assert line.failures == line.decisions


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Raises", "ZeroDivisionError: a bug of the agent (brains.py:54)"),
        ("Segfaults", "AgentCrashed: its process was killed by SIGSEGV"),
        ("Exits", "AgentCrashed: its process ended with exit code 0"),
        ("CannotStart", "initialize failed: ZeroDivisionError: a bug in initialize (brains.py:59)"),
    ],
)
async def test_the_game_goes_on_with_the_fallback_if_a_brain_raises_and_it_is_said_once(
    name: str, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with open_house() as house:
            who = await nim(house, brain(name), config={"stones": 9})
            await until(house, lambda: house.rooms["den"].room.is_over())
            (line,) = [line for line in (await who["zeus"]("agents")).agents if line.member == "ann"]
    assert line.failures == line.decisions == line.outcomes["failed"] >= 2
    assert line.last.problem == problem
    assert [record.message for record in caplog.records if problem in record.message] == [
        f"agent brains.py:{name} for ann in room den failed: {problem}"
    ]


@asynccontextmanager
async def model_server(answers: Callable[[bytes], Awaitable[bytes | None]]) -> AsyncIterator[str]:
    """A server that lists models, and answers everything else as it is told: None cuts the connection."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) is not None:
                size = next((int(h[15:]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:")), 0)
                asked = await reader.readexactly(size)
                body = b'{"data": []}' if head.startswith(b"GET") else await answers(asked)
                if body is None:
                    break
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                    % (len(body), body)
                )
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def completion(text: str) -> bytes:
    return json.dumps(
        {
            "id": "1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
    ).encode()  # fmt: skip


async def test_the_game_goes_on_if_the_backend_goes_down(tmp_path: Path) -> None:
    async def cut(asked: bytes) -> None:
        return None

    async with model_server(cut) as url, open_house(tmp_path) as house:
        who = await nim(house, f"openai:m@{url}?retries=0")
        await until(house, lambda: house.rooms["den"].room.is_over())
        (line,) = [line for line in (await who["hostess"]("agents")).agents if line.member == "ann"]
    assert line.outcomes == {"failed": line.decisions}
    assert line.decisions
    kept = [json.loads(text) for text in (tmp_path / "agents/den" / TRANSCRIPT).read_text().splitlines()]
    lines = [line for line in kept if line["member"] == "ann"]
    assert all("ended before the reply was complete" in line["decision"]["problem"] for line in lines)
    calls = [[call["cause"] for each in line["decision"]["exchanges"] for call in each["calls"]] for line in lines]
    assert calls == [["broken_reply"]] * len(lines)
    assert all(line["decision"]["turn"] == number for number, line in enumerate(lines, 1))


@pytest.mark.parametrize("name", ["Opens", "OpensSync"])
async def test_an_agent_is_closed_once_when_its_house_closes(name: str, gate: Gate) -> None:
    async with open_house() as house:
        await nim(house, brain(name), None)
        assert gate.told == ["opened", "closed"], "it was made to see whether it can be"
        await until(house, lambda: moves(house, "ann"))
    assert gate.told == ["opened", "closed"] * 2


async def test_the_thread_of_the_agents_ends_with_the_house(gate: Gate) -> None:
    def threads() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name == "cohabit-agents"]

    before = len(threads())
    async with open_house() as house:
        await nim(house, brain("Waits"))
        await started(gate)
        assert len(threads()) == before + 1
    assert len(threads()) == before
    assert gate.cancelled.is_set()


# -- taking over and handing back ----------------------------------------------------------------
async def test_a_person_who_takes_over_a_seat_ends_the_thinking_of_its_agent(gate: Gate) -> None:
    async with open_house(agent_seconds=2 * SOON_S) as house:  # its own time limit does not end it
        who = await nim(house, brain("Waits"), None)
        await started(gate)
        me = await who["ann"]("whoami")  # a call is enough
        assert await asyncio.to_thread(gate.cancelled.wait, SOON_S)
        me = await who["ann"]("whoami")
        assert (me.stand_in, me.played_by) == ("brains.py:Waits", None)
        await who["ann"]("take", {"n": 1})
        assert [entry.via for entry in moves(house, "ann")] == [None]


async def test_a_person_hands_the_seat_back_watches_and_takes_it_over_again(gate: Gate) -> None:
    async with open_house() as house:
        who = await nim(house, brain("Scripted"), None)
        await until(house, lambda: moves(house, "ann"))
        await who["ann"]("whoami")
        await who["bob"]("take", {"n": 1})
        await who["ann"]("take", {"n": 2})
        handed = await who["ann"]("hand_back")
        assert (handed.you_play, handed.played_by) == (False, "brains.py:Scripted")
        await who["bob"]("take", {"n": 1})
        await until(house, lambda: len(moves(house, "ann")) == 3)
        seen = await who["ann"]("whoami")  # looking does not take over
        assert seen.played_by == "brains.py:Scripted"
        with pytest.raises(PermissionDenied, match="call `take_over`"):
            await who["ann"]("take", {"n": 1})
        assert (await who["ann"]("take_over")).you_play
        await who["bob"]("take", {"n": 1})
        await who["ann"]("take", {"n": 3})
        assert [entry.via for entry in moves(house, "ann")] == ["brains.py:Scripted", None, "brains.py:Scripted", None]


async def test_a_person_who_handed_the_seat_back_and_went_away_plays_it_when_coming_again() -> None:
    async with open_house() as house:
        who = await nim(house, brain("Scripted"), None)
        await until(house, lambda: moves(house, "ann"))
        await who["ann"]("take_over")
        await who["ann"]("hand_back")
        member = house.rooms["den"].room.state.members["ann"]
        await until(house, lambda: member.here)
        await house.clock.advance(house.settings.away_ms + 1_000)
        await until(house, lambda: not member.here)
        assert member.played_by_bot
        await who["bob"]("take", {"n": 1})
        await until(house, lambda: len(moves(house, "ann")) == 2)
        await who["ann"]("view")  # a call is enough
        await who["bob"]("take", {"n": 1})
        await who["ann"]("take", {"n": 1})
        assert moves(house, "ann")[-1].via is None


async def test_a_handed_back_seat_is_still_played_after_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await nim(house, brain("Scripted"), None)
        await until(house, lambda: moves(house, "ann"))
        await who["ann"]("take_over")
        await who["ann"]("hand_back")
    async with open_house(tmp_path) as house:
        await house.call(house.identify(who["bob"].token), "den", "take", {"n": 1})
        await until(house, lambda: len(moves(house, "ann")) > 1)
        assert len(moves(house, "ann")) == 2


async def test_an_agent_cannot_take_over_or_hand_back_the_seat_that_it_plays(gate: Gate) -> None:
    async with open_house() as house:
        await nim(house, brain("Waits"), None)
        room = house.rooms["den"].room
        for command in ("take_over", "hand_back"):
            with pytest.raises(PermissionDenied, match="only the member itself"):
                room.call("ann", "act", {"action": command}, at=house.clock.now(), via="waits")


async def test_without_a_stand_in_there_is_nobody_to_hand_back_to() -> None:
    async with open_house() as house:
        who = await make_room(house, world="nim")
        with pytest.raises(Exception, match="no agent can play for you"):
            await who["ann"]("hand_back")
        with pytest.raises(GameRejected, match="you have no seat"):
            await who["hostess"]("take_over")


# -- which brains ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("warlrod", "unknown brain 'warlrod'; it is a script such as random or warlord, a model such as local"),
        ("openai:gpt-x", "OPENAI_API_KEY"),
        ("anthropic:claude-x", "ANTHROPIC_API_KEY"),
        ("openai:m@http://127.0.0.1:1", "no server answers at http://127.0.0.1:1"),
        ("ollama:qwen3:8b@http://127.0.0.1:1", "start it with `ollama serve`"),
        ("ollama", "ollama needs a model"),
        ("/nowhere/bot.py", "file not found: /nowhere/bot.py"),
        (f"{BRAINS}:Nobody", "has no agent 'Nobody'"),
        (f"{BRAINS}:CannotBeMade", "cannot be created: OSError: no such device"),
        ("local:/nowhere/model.gguf", "no file /nowhere/model.gguf"),
        ("warlord", "warlord does not play nim; built-in players that do: nim-master, random"),
        ("random?speed=9", "random has no option 'speed'"),
        ("human", "connect with `cohabit play`"),
        ("command:no-such-program -x", "program not found: no-such-program. Install it, or give its whole path"),
        ("command:", "name the program to start, as in command:node agent.js"),
        ("command:sh 'a", "check its quotation marks"),
    ],
)
async def test_a_brain_that_cannot_be_made_is_refused_before_anything_is_created(
    name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with open_house() as house:
        with pytest.raises(BadArgs) as refused:
            await nim(house, name)
        assert reason in refused.value.message
        assert not house.rooms


async def test_an_agent_that_is_made_to_see_whether_it_can_be_made_is_closed_again(gate: Gate) -> None:
    await check_makeable(brain("Opens"))
    assert gate.told == ["opened", "closed"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("mine.py:Brain", PermissionDenied),
        ("command:sh mine.sh", PermissionDenied),
        ("local", PermissionDenied),
        ("openai:m", PermissionDenied),
        ("lokal", BadArgs),
    ],
)
def test_a_remote_caller_is_told_whether_a_brain_is_unknown_or_not_allowed(
    name: str, error: type[CohabitError]
) -> None:
    with pytest.raises(error):
        check_allowed(name, Settings())
    if error is PermissionDenied:
        check_allowed(name, Settings(brains=f"other, {name}"))


def test_a_brain_can_be_a_table_and_its_file_is_relative_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("")
    plan = {
        "world": "nim",
        "agents": [
            {"id": "a", "brain": {"brain": "local", "options": {"temperature": 0.2, "persona": "bold & loud?"}}},
            {"id": "b", "brain": "bot.py:Bot?depth=3", "stand_in": {"brain": "random"}},
            {"id": "c", "brain": "command:sh bot.py --name 'a b' sh"},
        ],
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    a, b, c = read_scenario(str(tmp_path / "plan.json")).agents
    assert c.brain == f"command:sh {(tmp_path / 'bot.py').resolve()} --name 'a b' sh"
    assert a.brain == "local?temperature=0.2&persona=bold %26 loud%3F"
    assert b.brain == f"{(tmp_path / 'bot.py').resolve()}:Bot?depth=3"
    assert b.stand_in == "random"


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"options": {}}, "missing required field `brain`"),
        ({"brain": "local", "model": "x"}, "unknown field `model`"),
        ({"brain": "command:sh a.sh", "options": {"depth": 3}}, "the options of a program are its arguments"),
        ({"brain": "openai:m", "options": {"api_key": "sk-1"}}, "api_key does not belong in the name of a brain"),
    ],
)
def test_a_table_that_is_no_brain_is_refused(given: dict[str, Any], wrong: str) -> None:
    text = json.dumps({"world": "nim", "agents": [{"id": "a", "brain": given}]})
    with pytest.raises(BadArgs, match=r"agents\.json: agents\[0\]: brain: ") as refused:
        parse_scenario(text)
    assert wrong in refused.value.message
    assert "sk-1" not in refused.value.message


async def test_other_members_see_a_label_without_folders_addresses_and_options(gate: Gate) -> None:
    async def wait(asked: bytes) -> bytes:
        await asyncio.Event().wait()
        return b""

    async with model_server(wait) as url, open_house() as house:
        who = await nim(house, brain("Slow"), f"openai:m@{url}?temperature=1")
        lines = (await who["hostess"]("roster")).members
        assert [line.played_by for line in lines[:2]] == ["brains.py:Slow", "openai:m"]


# -- what they did ---------------------------------------------------------------------------------
async def test_tokens_and_reasons_are_counted_and_shown_to_those_who_may_know(tmp_path: Path) -> None:
    async def answer(asked: bytes) -> bytes:
        return completion('{"action": "take", "params": {"n": 1}, "reasoning": "leaves a multiple of four"}')

    async with model_server(answer) as url, open_house(tmp_path) as house:
        who = await nim(house, f"openai:m@{url}", None)
        await until(house, lambda: moves(house, "ann"))
        await counted(house, "ann", 1)
        (line,) = (await who["hostess"]("agents")).agents
        assert (line.member, line.brain, line.playing) == ("ann", "openai:m", True)
        assert (line.decisions, line.outcomes, line.prompt_tokens, line.completion_tokens) == (
            1,
            {"chosen": 1},
            100,
            10,
        )
        assert line.last is None  # a host that does not see everything
        (line,) = (await who["zeus"]("agents")).agents
        assert line.last.reasoning == "leaves a multiple of four"
        assert line.last.action is not None
        assert line.last.action["action"] == "take"
        (own,) = (await who["ann"]("agents")).agents
        assert own.last == line.last
        assert (await who["bob"]("agents")).agents == []
        (kept,) = (tmp_path / "agents/den" / TRANSCRIPT).read_text().splitlines()
        told = json.loads(kept)
        assert (told["member"], told["seat"], told["brain"]) == ("ann", "first", f"openai:m@{url}")
        decision = told["decision"]
        assert decision["action"]["reasoning"] == "leaves a multiple of four"
        assert [message["role"] for message in decision["exchanges"][0]["messages"]] == ["system", "user"]
        assert (tmp_path / "agents/den" / TRANSCRIPT).stat().st_mode & 0o777 == 0o600
        await who["hostess"]("delete_room", {"confirm": "den"})
        assert not (tmp_path / "agents/den").exists()


async def test_brains_are_hidden_in_agents_where_the_scenario_hides_them(gate: Gate) -> None:
    async with open_house() as house:
        who = await nim(house, brain("Scripted"), None, hide_brains=True)
        await until(house, lambda: moves(house, "ann"))
        assert [line.brain for line in (await who["hostess"]("agents")).agents] == ["bot"]
        assert [line.brain for line in (await who["zeus"]("agents")).agents] == ["brains.py:Scripted"]
        assert [line.last for line in (await who["ann"]("agents")).agents] == [None], "reasons give a script away"


def test_a_transcript_stays_within_its_limit_and_keeps_the_newest(tmp_path: Path) -> None:
    kept = Transcripts(tmp_path, 4_000)
    for number in range(100):
        kept.add(
            "den", number, "ann", "first", "local", 1, PlayerDecision(number, "chosen", Action("take", {"n": 1})), 0.5
        )
    files = [tmp_path / "agents/den" / name for name in (EARLIER, TRANSCRIPT)]
    numbers = [json.loads(line)["decision"]["number"] for file in files for line in file.read_text().splitlines()]
    assert numbers == list(range(numbers[0], 100))
    assert len(numbers) >= 10
    assert sum(file.stat().st_size for file in files) <= 4_000


def test_the_time_of_a_decision_is_kept_in_milliseconds(tmp_path: Path) -> None:
    decision, status = PlayerDecision(1, "chosen", Action("take", {"n": 1})), AgentStatus("local")
    kept = Transcripts(tmp_path, 4_000)
    kept.add("den", 7, "ann", "first", "local", 1, decision, 0.123_456)
    line = json.loads((tmp_path / "agents/den" / TRANSCRIPT).read_text())
    status.decided(decision, 0.123_456)
    assert status.last is not None
    assert line["seconds"] == status.last.seconds == 0.123


def test_the_last_thought_stands_for_the_reasons_of_an_action_that_gives_none() -> None:
    thoughts = [Exchange([], "x", thinking=each, usage=Usage(1, 1)) for each in ("first", "second", "")]
    for reasoning, shown in (("", "second"), ("its own", "its own")):
        status = AgentStatus("local")
        status.decided(PlayerDecision(1, "chosen", Action("take", reasoning=reasoning), exchanges=thoughts), 0.5)
        assert status.last is not None
        assert status.last.reasoning == shown


def test_a_decision_longer_than_half_of_the_limit_is_not_in_the_transcript(tmp_path: Path) -> None:
    measure = Transcripts(tmp_path / "measure", 10**6)
    measure.add("den", 1, "ann", None, "local", 1, PlayerDecision(1, "failed"), 0.5)
    size = (tmp_path / "measure/agents/den" / TRANSCRIPT).stat().st_size
    for limit, kept in ((2 * size, True), (2 * size - 1, False)):
        folder = tmp_path / str(limit)
        Transcripts(folder, limit).add("den", 1, "ann", None, "local", 1, PlayerDecision(1, "failed"), 0.5)
        assert (folder / "agents/den" / TRANSCRIPT).exists() is kept


async def test_an_agent_that_could_not_be_made_says_why_in_each_decision() -> None:
    with pytest.raises(RuntimeError, match="no key"):
        await Unusable("no key").decide(Observation("x"))


@pytest.mark.parametrize("why", ["the player is back", "removed", "archived", "quarantined"])
async def test_an_agent_makes_no_call_for_a_seat_that_it_should_not_play(why: str) -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), player("bob", 1, brain="random"), HOST, world="nim")
        runner = house.rooms["den"]
        table = MemberTable(house.clock, runner, "ann" if why == "the player is back" else "bob", "random")
        if why == "removed":
            await who["hostess"]("remove_member", {"member": "bob"})
        elif why == "archived":
            await who["hostess"]("archive")
        elif why == "quarantined":
            runner.stop(Quarantined("for the test"))
        else:
            assert await MemberTable(house.clock, runner, "bob", "random").call("view")
        with pytest.raises(Dismissed):
            await table.call("view")
        with pytest.raises(Dismissed):
            await table.changed(0)


async def test_an_agent_that_waits_where_time_runs_by_itself_is_woken_by_news_and_not_by_the_clock() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        house.bots.step_ms = 10**9  # the script itself does nothing
        who = await make_room(house, player("ann", 0), player("bob", 1, brain="random"), HOST, world="Ticker")
        table = MemberTable(clock, house.rooms["den"], "bob", "a model", waits_for_news=True)
        await who["ann"]("drop")
        await clock.advance(1_000)
        await who["ann"]("drop")
        await table.call("view")
        waiting = asyncio.create_task(table.changed(60_000))
        await clock.advance(1_000)
        assert house.rooms["den"].room.state.tick > 0
        assert not waiting.done()
        await who["ann"]("drop")
        await asyncio.wait_for(waiting, SOON_S)
        script = MemberTable(clock, house.rooms["den"], "bob", "a script")
        await script.call("view")
        waiting = asyncio.create_task(script.changed(60_000))
        await a_moment()
        assert not waiting.done()
        await clock.advance(1_000)
        assert waiting.done(), "any change wakes a script"


async def test_an_agent_that_slept_through_more_than_is_in_memory_looks_again() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, recent_entries=2) as house:
        house.bots.step_ms = 10**9
        who = await make_room(house, player("ann", 0), player("bob", 1, brain="random"), HOST, world="Ticker")
        await who["ann"]("drop")
        await clock.advance(1_000)
        await who["ann"]("drop")
        table = MemberTable(clock, house.rooms["den"], "bob", "a model", waits_for_news=True)
        await table.call("view")
        seen = house.rooms["den"].history.seq
        while house.rooms["den"].history.seq < seen + 2:
            await clock.advance(100)
        waiting = asyncio.create_task(table.changed(60_000))
        await a_moment()
        assert not waiting.done(), "both entries are in memory, and no news"
        waiting.cancel()
        table = MemberTable(clock, house.rooms["den"], "bob", "a model", waits_for_news=True)
        await table.call("view")
        seen = house.rooms["den"].history.seq
        while house.rooms["den"].history.seq < seen + 3:
            await clock.advance(100)
        await asyncio.wait_for(table.changed(60_000), SOON_S)


async def test_an_agent_that_has_ended_is_started_again_with_the_next_change_of_the_roster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played: list[str] = []

    async def play(runner: Any, who: str, brain: str) -> None:
        played.append(who)

    async with open_house() as house:
        monkeypatch.setattr(house.bots, "_play", play)
        who = await make_room(house, player("ann", 0), player("bob", 1, brain="random"), HOST, world="nim")
        await a_moment()
        assert played == ["bob"]
        await who["hostess"]("widen", {"member": "ann", "may": ["send_broadcast"]})
        await a_moment()
        assert played == ["bob", "bob"]


async def test_the_agent_of_a_player_who_is_back_is_stopped_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []

    async def play(runner: Any, who: str, brain: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(who)

    async with open_house() as house:
        monkeypatch.setattr(house.bots, "_play", play)
        who = await nim(house, "random", "random")
        await a_moment()
        await who["ann"]("whoami")
        await a_moment()
        assert stopped == ["ann"]


async def test_what_changes_in_one_room_stops_no_agent_that_should_play() -> None:
    async with open_house() as house:
        agents = player("ann", 0), player("bob", 1, brain="random"), HOST
        who = await make_room(house, *agents, world="nim")
        await make_room(house, *agents, world="nim", room="other")
        tasks = dict(vars(house.bots)["_tasks"])
        assert len(tasks) == 2
        await who["hostess"]("widen", {"member": "ann", "may": ["send_broadcast"]})
        assert vars(house.bots)["_tasks"] == tasks
        assert {room for room, _ in house.bots.agents} == {"den", "other"}
        await who["hostess"]("delete_room", {"confirm": "den"})
        assert {room for room, _ in house.bots.agents} == {"other"}
        await a_moment()
        assert {runner.id for runner, _ in vars(house.bots)["_tasks"]} == {"other"}
        assert not vars(house.bots)["_ending"]


def test_a_transcript_that_cannot_be_written_is_logged_once_until_it_can_be_written_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Transcripts(tmp_path, 4_000)
    in_the_way = tmp_path / "agents"
    for _ in range(2):
        in_the_way.write_text("not a folder")
        for number in (1, 2, 3):
            kept.add("den", number, "ann", None, "local", 1, PlayerDecision(number, "failed"), 0.5)
        in_the_way.unlink()
        kept.add("den", 4, "ann", None, "local", 1, PlayerDecision(4, "failed"), 0.5)
        shutil.rmtree(in_the_way)
    assert [record.getMessage() for record in caplog.records] == [
        "the transcript of room den cannot be written: File exists"
    ] * 2


def test_the_value_of_an_api_key_never_enters_a_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", 'sk-"quoted"-0123456789')
    kept = Transcripts(tmp_path, 10**6)
    exchange = Exchange([{"role": "user", "content": "hi"}], 'my key is sk-"quoted"-0123456789', usage=Usage(1, 1))
    kept.add(
        "den",
        1,
        "ann",
        None,
        "openai:m",
        1,
        PlayerDecision(1, "failed", problem='key sk-"quoted"-0123456789', exchanges=[exchange]),
        1.0,
    )
    text = (tmp_path / "agents/den" / TRANSCRIPT).read_text()
    assert "0123456789" not in text
    assert text.count("[hidden]") == 2
    assert bytes_without_secrets(b"plain") == b"plain"
    assert os.environ["OPENAI_API_KEY"]
    json.loads(text)


@pytest.mark.soak
async def test_the_embedded_model_plays_in_a_house_and_a_killed_process_is_started_again() -> None:
    local = pytest.importorskip("cohabit.agents.llm.local")
    if local.missing():
        pytest.skip(local.missing())
    async with open_house() as house:
        who = await nim(house, "local", None)
        await until(house, lambda: moves(house, "ann"))
        local._processes[""].kill()
        await who["bob"]("take", {"n": 1})
        await until(house, lambda: len(moves(house, "ann")) == 2)
        await counted(house, "ann", 2)
        line = (await who["zeus"]("agents")).agents[0]
    assert line.failures == 0
    assert line.completion_tokens


# -- what a remote caller sends ---------------------------------------------------------------------
LONG = "a" * 480 + ".py"


@pytest.mark.parametrize("command", ["add_member", "invite"])
@pytest.mark.parametrize(
    "name", [LONG, "/etc/hostname.py", "a" * 400 + "/" * 60 + ".py", "x.py:Class", "command:sh /etc/hostname"]
)
async def test_a_path_from_a_remote_caller_is_refused_without_looking_at_the_disk(
    command: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house() as house:
        who = await nim(house, "random", None)
        looked: list[str] = []
        monkeypatch.setattr(Path, "stat", lambda self, **_: looked.append(str(self)))
        monkeypatch.setattr(Path, "is_file", lambda self, **_: looked.append(str(self)))
        monkeypatch.setattr(Path, "resolve", lambda self, **_: looked.append(str(self)))
        with pytest.raises(PermissionDenied, match="may not be chosen over a network"):
            await who["hostess"](command, {"id": "eve", "stand_in": name})
        monkeypatch.undo()
        assert looked == []
        assert (await who["hostess"]("whoami")).handle == "hostess"


def test_a_file_that_is_not_there_is_no_brain_however_long_its_name() -> None:
    assert not knows_brain(parse_brain(LONG))


@pytest.mark.parametrize("command", ["add_member", "invite"])
async def test_a_listed_file_is_kept_with_its_whole_path(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(BRAINS.parent)
    async with open_house(tmp_path, brains="brains.py:Scripted") as house:
        who = await make_room(house, player("ann", 0), HOST, GOD, world="nim")
        eve = {"id": "eve", "role": "player", "claim": "auto:1", "stand_in": "brains.py:Scripted"}
        made = await who["hostess"](command, eve)
        if command == "invite":
            made = await house.call(house.identify(made.token), "den", "join", {})
        assert house.rooms["den"].room.state.with_handle("eve").stand_in == f"{BRAINS.resolve()}:Scripted"


handles = st.text(min_size=1, max_size=64)


@given(handles, handles)
def test_no_two_members_share_a_memory_and_every_file_name_is_short(one: str, other: str) -> None:
    kept = Transcripts(Path("/data"), 1000)
    names = {path.name for member in (one, other) if (path := kept.memory_of("den", member)) is not None}
    assert len(names) == len({one, other})
    assert all(len(name.encode()) < 100 and "/" not in name for name in names)


@pytest.mark.parametrize(("one", "other"), [("é1", "\u0e91"), ("ann#2", "ann\u0232")])
def test_these_members_do_not_share_a_memory(one: str, other: str) -> None:
    kept = Transcripts(Path("/data"), 1000)
    assert kept.memory_of("den", one) != kept.memory_of("den", other)


@pytest.mark.parametrize(
    ("away", "handed_over", "pace", "other_is_here", "waits"),
    [
        (None, False, "rounds", False, 7),
        (5, True, "rounds", False, 7),
        (5, False, "turns", False, 7),
        (5, False, "rounds", True, 7),
        (5, False, "rounds", False, 1000),
    ],
)
async def test_a_stand_in_leaves_an_absent_player_half_of_the_time_unless_it_was_given_the_seat_or_somebody_waits(
    away: int | None, handed_over: bool, pace: str, other_is_here: bool, waits: int
) -> None:
    async with open_house() as house:
        await make_room(house)
        room = house.rooms["den"].room
        house.bots.step_ms = 7
        room.pace, room.state.turn_ms = pace, 2000  # type: ignore[assignment]
        member = room.state.require_member("ann")
        member.stand_in_since, member.handed_over, member.played_by_bot = away, handed_over, away is not None
        room.state.require_member("bob").here = other_is_here
        assert house.bots._step_ms(room, member) == waits
