"""`cohabit agent`, and brains on the command line of `cohabit up`."""

from __future__ import annotations

import argparse
import asyncio
import io
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cohabit.agents.brains.human import Human, read_line
from cohabit.agents.contract import Exchange, Turn, Usage, adapted
from cohabit.agents.decision import PlayerDecision, Tally
from cohabit.agents.player import Player
from cohabit.agents.runner import PlayLoop, Stopped
from cohabit.faces.cli import agent as verb
from cohabit.faces.cli import main
from cohabit.faces.cli.options import Place
from cohabit.faces.cli.plans import plan_of
from cohabit.faces.cli.say import UsageError
from cohabit.faces.cli.up import up_options
from cohabit.house.settings import Settings
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.registry import make_agent

from .serving import Served, served
from .test_cli_house import cohabit, running

SOON_S = 60


def test_an_agent_plays_a_game_in_somebody_elses_house_and_says_what_it_did(tmp_path: Path) -> None:
    with running("up", "nim", "--players", "ann,bob", "--player", "bob=random", home=tmp_path) as house:
        env = {"COHABIT_TOKEN": house.token("ann"), "COHABIT_URL": house.url}
        done = cohabit("agent", "nim-master", "--room", "nim", "--games", "1", home=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Playing as ann in nim: nim."
    assert lines[1].startswith('1. take {"n":')
    assert lines[-1].startswith(f"Decisions: {len(lines) - 2} ({len(lines) - 2} chosen). 0 tokens in, 0 out")


def test_an_agent_of_ones_own_that_crashes_plays_its_game_to_the_end(tmp_path: Path) -> None:
    brain = f"{Path(__file__).parent.parent / 'agents' / 'faulty.py'}:Async?how=abort&where=decide&mark={tmp_path}/mark"
    with running("up", "nim", "--players", "ann,bob", "--player", "bob=random", home=tmp_path) as house:
        env = {"COHABIT_TOKEN": house.token("ann"), "COHABIT_URL": house.url}
        done = cohabit("agent", brain, "--room", "nim", "--games", "1", home=tmp_path, env=env)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "[AgentCrashed: its process was killed by SIGABRT]" in lines[1]
    assert "(1 failed, " in lines[-1]
    assert (tmp_path / "mark").read_text().endswith("close ")


def test_an_agent_that_cannot_be_made_or_has_no_token_is_refused(tmp_path: Path) -> None:
    done = cohabit("agent", "galaxy", "--token", "x" * 40, home=tmp_path)
    assert (done.returncode, "unknown brain 'galaxy'" in done.stderr) == (1, True)
    done = cohabit("agent", "random", home=tmp_path)
    assert (done.returncode, "COHABIT_TOKEN" in done.stderr) == (1, True)


def test_a_model_that_cannot_answer_is_reported_before_it_takes_a_seat(tmp_path: Path) -> None:
    with running("up", "nim", "--players", "ann,bob", "--player", "ann=random", home=tmp_path) as house:
        nobody = {"OLLAMA_HOST": "http://127.0.0.1:9"}  # the port of a service that is not there
        place = ("--url", house.url, "--token", house.token("ann"))
        done = cohabit("agent", "ollama:qwen3:8b", *place, home=tmp_path, env=nobody)
        who = cohabit("call", "session_info", "--url", house.url, "--token", house.token("bob"), home=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "ollama:qwen3:8b: no Ollama server answers; start it with `ollama serve`" in done.stderr
    assert '"played_by": "random"' in who.stdout  # ann has not come


async def test_an_agent_says_that_the_game_is_over_before_it_waits_for_the_next_one() -> None:
    class Over:
        """A room whose game is over. Nothing happens in it any more."""

        async def call(self, command: str, args: object = None) -> Any:
            view = {"text": "", "observation": {}, "your_turn": False, "over": True}
            rules = {"description": "", "action_space": {}}
            return {"rules": rules, "wait_for_turn": view, "whoami": {"takes_turns": True}}.get(command, {"over": True})

        async def changed(self, wait_ms: int) -> None:
            raise Stopped(f"waits; said so {len(said)} times")

    said: list[str] = []
    player = Player(adapted(make_agent("random", "test")))
    with pytest.raises(Stopped, match="said so 1 times"):
        await PlayLoop(Over(), player, on_over=lambda: said.append(verb.GAME_OVER)).play()


def test_a_problem_that_stays_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    screen = verb.Screen()
    for number in (1, 2):
        screen.decided(PlayerDecision(number, "failed", None, "no server answers"), 0.0)
    screen.decided(PlayerDecision(3, "timeout", None, "no answer in 60 s"), 60.0)
    assert capsys.readouterr().out.splitlines() == [
        "1. nothing (failed, 0.0 s)  [no server answers]",
        "2. nothing (failed, 0.0 s)",
        "3. nothing (timeout, 60.0 s)  [no answer in 60 s]",
    ]


def test_the_brain_human_is_a_person_who_plays_at_the_terminal(tmp_path: Path) -> None:
    with running("up", "nim", "--players", "ann,bob", home=tmp_path) as house:
        link = f"{house.url}/?room=nim#{house.token('ann')}"
        done = cohabit("agent", "human", link, home=tmp_path, typed="1\n/quit\n")
    assert "You are ann (player), seat first, in the room nim." in done.stdout
    assert "took 1" in done.stdout


# -- a connection that is lost -------------------------------------------------------------------
class Cable:
    """Passes on bytes to the house, and can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: list[asyncio.StreamWriter] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [writer, there_writer]

        async def passed(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            try:
                while data := await source.read(65536):
                    target.write(data)
                    await target.drain()
            except OSError:
                pass
            finally:
                target.close()

        await asyncio.gather(passed(reader, there_writer), passed(there_reader, writer))

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()


@asynccontextmanager
async def cable(place: Served) -> AsyncIterator[tuple[Cable, str]]:
    made = Cable(int(place.url.rpartition(":")[2]))
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    try:
        yield made, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        made.cut()
        server.close()


async def test_an_agent_reconnects_and_each_of_its_actions_is_performed_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verb, "RETRY_S", (0,))
    async with served(world="nim") as place, cable(place) as (wire, url):
        args = argparse.Namespace(brain="random", games=1, seconds=60.0, max_dollars=None, memory=None)
        player = asyncio.ensure_future(verb._play(Place(url, place.tokens["ann"], "den"), verb._make(args), args))
        runner = place.house.rooms["den"]
        taken = 0
        async with asyncio.timeout(SOON_S):
            while not runner.room.is_over():
                mover = runner.room.movers()
                if mover == ["bob"]:
                    await place.act("bob", "take", {"n": 1})
                    wire.cut()  # while ann waits, or has just been told
                    taken += 1
                else:
                    await runner.changed_since(runner.version, place.clock.now() + 1)
            while not player.done():  # its last wait may have begun before the end, on the connection that was cut
                await place.clock.advance(1_000)
            assert await player == 0
    moves = [line.entry for line in runner.room.record.tail if line.entry.do == "take"]
    assert [entry.by for entry in moves] == (["ann", "bob"] * 30)[: len(moves)]
    assert taken >= 2
    assert wire.connections >= 3
    assert "connecting again" in capsys.readouterr().out


async def test_an_agent_counts_as_present_while_it_thinks() -> None:
    async with served(world="nim", away_ms=1_000) as place:
        screen = verb.Screen()
        async with verb.SteadyCalls.open(Place(place.url, place.tokens["ann"], "den"), screen) as table:
            await table.call("view")
            member = place.house.rooms["den"].room.state.members["ann"]
            async with asyncio.timeout(SOON_S):
                while not place.house.rooms["den"].fanout.members():
                    await asyncio.sleep(0)
            for _ in range(5):
                await place.clock.advance(60_000)
            assert member.here


# -- cohabit up --player -----------------------------------------------------------------------
def planned(*words: str) -> dict[str, tuple[str | None, str | None]]:
    parser = argparse.ArgumentParser()
    up_options(parser)
    plan = plan_of(parser.parse_args(words), Settings())
    return {agent.id: (agent.claim, agent.brain) for agent in plan.scenario.agents}


def test_a_brain_is_given_to_a_member_of_a_scenario_or_to_a_seat_of_a_world() -> None:
    pvp = planned("pvp", "--player", "athena=random", "--player", "ares=steward")
    assert (pvp["athena"][1], pvp["ares"][1]) == ("random", "steward")
    found = planned("tictactoe", "--player", "O=random", "--player", "X=local")
    assert found == {"host": (None, None), "X": ("auto:0", "local"), "O": ("auto:1", "random")}
    found = planned("nim", "--player", "ada=nim-master")
    assert found == {"host": (None, None), "ada": ("auto:0", "nim-master"), "player-2": ("auto:1", None)}


def test_the_lines_for_one_player_are_for_the_first_seat_that_no_agent_plays(tmp_path: Path) -> None:
    with running("up", "tictactoe", "--player", "X=random", home=tmp_path) as house:
        assert "Cursor and others (mcp.json), as O:" in house.text
        assert "Clients that launch a subprocess, as O:" in house.text
        assert f"  cohabit play '{house.url}/?room=tictactoe#{house.token('O')}'" in house.text.splitlines()
    with running("up", "nim", "--bots", home=tmp_path) as house:
        assert "Cursor and others (mcp.json), as player-1:" in house.text


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("pvp", "--player", "athena=openai:gpt-x"), "athena: set the environment variable OPENAI_API_KEY"),
        (("pvp", "--player", "athena=./nobody.py"), "athena: file not found: "),
        (("pvp", "--player", "zeus=random"), "unknown agent 'zeus'"),
        (("nim", "--player", "ada"), "--player expects NAME=BRAIN"),
    ],
)
def test_a_player_that_cannot_be_is_refused_before_the_house_opens(
    words: tuple[str, ...], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Exception, match=reason) as refused:
        planned(*words)
    assert type(refused.value).__name__ in ("BadArgs", UsageError.__name__)


# -- a person in a match -------------------------------------------------------------------------
CHOICES = [{"action": "take", "params": {"n": 1}}, {"action": "take", "params": {"n": 2}}]


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("2\n", Action("take", {"n": 2})),
        ("take n=1\n", Action("take", {"n": 1})),
        ("say text=hello", Action("say", {"text": "hello"})),
        ('take {"n": 2}\n', Action("take", {"n": 2})),
        ('take {"n":2}\n', Action("take", {"n": 2})),
        ('{"action": "take", "params": {"n": 2}}\n', Action("take", {"n": 2})),
        ('{"action": "take", "params": {"n": 2}, "reasoning": "two left"}\n', Action("take", {"n": 2}, "two left")),
        ("\n", None),
    ],
)
def test_what_a_person_types_is_an_action(line: str, action: Action | None) -> None:
    assert read_line(line, CHOICES) == action


@pytest.mark.parametrize("option", ["--seconds", "--max-dollars"])
@pytest.mark.parametrize("number", ["-3", "0", "nan", "inf"])
def test_an_agent_without_time_or_money_is_refused(
    option: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agent", "random", "den", f"{option}={number}", "--token", "t"]) == 2
    assert f"{option} must be above 0, not {float(number):g}" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["3", "0", "take n", "{", '{"n": 1}', "9" * 5000, "take {n: 2}"])
async def test_a_line_that_cannot_be_understood_is_asked_for_again_as_often_as_needed(line: str) -> None:
    said = io.StringIO()
    person = Human(io.StringIO(f"{line}\n" * 5 + "2\n"), said)
    thought = await person.think(Turn(Observation(choices=CHOICES), "\x1b[2Ja heap"))
    assert thought.action == Action("take", {"n": 2})
    assert "\x1b" not in said.getvalue()
    assert '1  take {"n":1}' in said.getvalue()


def typed(text: str) -> Human:
    return Human(io.StringIO(text), io.StringIO())


async def test_a_person_never_loses_a_turn_to_lines_that_the_game_does_not_accept() -> None:
    """Unreadable, unknown, illegal, and a pass where the game waits; then two good moves."""
    bad = ["", "x y", "fly", "take n=9", '{"action": "take", "params": {"n": 0}}', "take n=two"]
    made: list[PlayerDecision] = []
    spec = GameSpec("g", "nim", ["human", "random"], seed="1", max_decisions=3)
    rival = adapted(make_agent("random", "rival"))
    lines = "\n".join([*bad, "1", *bad, "1"]) + "\n"
    game = Game(spec, agents=[typed(lines), rival], on_decision=lambda i, d, _: made.append(d) if i == 0 else None)
    await game.play()
    assert [(decision.outcome, decision.failed) for decision in made] == [("corrected", False)] * 2
    assert game.players[0].tally.failures == 0


async def test_a_line_that_comes_after_the_time_limit_is_not_the_answer_to_the_next_turn() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin, os.fdopen(writer, "w") as keyboard:
        person = Human(stdin, io.StringIO())
        turn = Turn(Observation(choices=CHOICES), "a heap")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await person.think(turn)
        print("1", file=keyboard, flush=True)  # late
        assert person._line is not None
        await asyncio.wait([person._line])
        print("2", file=keyboard, flush=True)
        assert (await person.think(turn)).action == Action("take", {"n": 2})


def test_the_live_view_shows_the_world_the_thought_and_the_cost_without_control_characters() -> None:
    tally = Tally()
    screen = verb.LiveScreen("openai:m@http://127.0.0.1:1/v1", tally)
    screen.connected("ann", "den", "nim")
    screen.view("The heap: ooo\x1b[2J\n[bold]not markup[/bold]")
    exchange = Exchange([], usage=Usage(1_000, 20, 0.5))
    decision = PlayerDecision(1, "corrected", Action("take", {"n": 1}, "leaves \x07two"), "was refused", [exchange])
    tally.add(decision, 1.5)
    screen.decided(decision, 1.5)
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(screen._render())
    text = console.export_text()
    assert "ann in den: nim" in text
    assert "[bold]not markup[/bold]" in text
    assert '1. take {"n":1} (corrected, 1.5 s, 1000 + 20 tokens)  “leaves ·two”  [was refused]' in text
    assert "1,000 tokens in, 20 out, 1.5 s, $0.5000" in text
    assert "openai:m" in text
    assert not {"\x1b", "\x07"} & set(text)
