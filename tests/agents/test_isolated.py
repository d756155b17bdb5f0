"""Brains of one's own: whatever they do, it is a failure of their player, and everybody else goes on."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cohabit.agents import isolated
from cohabit.agents import process as processes
from cohabit.agents.isolated import IsolatedAgent, facts_of, open_agent
from cohabit.agents.process import AgentCrashed, AgentProcess, end_idle_processes, keep_process, take_process
from cohabit.agents.wire import packed
from cohabit.envs.episodes import Episodes, Setup
from cohabit.errors import BadArgs
from cohabit.faces.cli import main
from cohabit.lab.match import match
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.registry import make_world

SEEN = Observation(choices=[{"action": "a", "params": {}}])
FAULTY = Path(__file__).with_name("faulty.py")
CRASHES = {
    "segfault": "AgentCrashed: its process was killed by SIGSEGV",
    "abort": "AgentCrashed: its process was killed by SIGABRT",
    "exit": "AgentCrashed: its process ended with exit code 0",
    "kill": "AgentCrashed: its process was killed by SIGKILL, for example because memory ran out",
}


def faulty(kind: str, how: str = "", where: str = "", mark: Path | None = None) -> str:
    options = {"how": how, "where": where, "mark": str(mark or "")}
    given = "&".join(f"{name}={value}" for name, value in options.items() if value)
    return f"{FAULTY}:{kind}" + (f"?{given}" if given else "")


def outcomes(results: Any, player: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in results.decisions():
        if line.player == player:
            found[line.decision.outcome] = found.get(line.decision.outcome, 0) + 1
    return found


def problems(results: Any) -> set[str]:
    return {line.decision.problem for line in results.decisions() if line.decision.problem}


# -- a crash ----------------------------------------------------------------------------------------
@pytest.mark.sampled
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("kind", "how"), [("Sync", "segfault"), ("Quick", "exit"), ("Async", "abort"), ("Thinks", "kill")]
)
def test_a_crash_is_one_failure_of_its_player_and_the_run_goes_on(
    kind: str, how: str, workers: int, tmp_path: Path
) -> None:
    name = faulty(kind, how, "decide", tmp_path / "mark")
    results = match("nim", name, "random", games=2, workers=workers, progress=False, out=tmp_path / "out")
    assert [game.ended for game in results.games] == ["over", "over"]
    assert outcomes(results, name)["failed"] == 1
    assert outcomes(results, name)["chosen"] > 1
    assert outcomes(results, "random").keys() == {"chosen"}
    assert problems(results) == {CRASHES[how]}


@pytest.mark.parametrize("kind", ["Sync", "Async"])
def test_an_agent_that_says_that_it_leaves_ends_no_run(kind: str, tmp_path: Path) -> None:
    name = faulty(kind, "leave", "decide", tmp_path / "mark")
    results = match("nim", name, "random", games=2, progress=False)
    assert [game.ended for game in results.games] == ["over", "over"]
    (problem,) = problems(results)
    line = FAULTY.read_text().splitlines().index('            raise PlayerLeft("bye")') + 1
    assert problem == f"PlayerLeft: bye (faulty.py:{line})"


def test_a_new_agent_is_introduced_to_the_world_after_a_crash(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    match("nim", faulty("Sync", "exit", "decide", mark), "random", games=1, progress=False)
    seen_whether_it_can_be_made, *told = mark.read_text().split()
    assert seen_whether_it_can_be_made == "close"
    assert told[:6] == ["initialize", "plan", "decide", "initialize", "plan", "decide"]
    assert told.count("initialize") == 2
    assert told[-1] == "close"
    assert told.count("close") == 1


@pytest.mark.parametrize("where", ["initialize", "plan", "reflect"])
def test_a_crash_in_any_method_is_a_failure_that_names_it(where: str, tmp_path: Path) -> None:
    name = faulty("Sync", "segfault", where, tmp_path / "mark")
    results = match("nim", name, "random", games=1, progress=False)
    assert {game.ended for game in results.games} == {"over"}
    assert outcomes(results, name)["failed"] == 1
    assert problems(results) == {f"{where} failed: {CRASHES['segfault']}"}


def test_a_brain_that_exits_ends_the_command_with_the_failure_of_its_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("import os\nclass Exits:\n    def decide(self, seen): os._exit(0)\n")
    assert main(["match", "nim", "mine.py:Exits", "random", "--games", "1"]) == 1
    shown = capsys.readouterr().out
    assert "FAILED: mine.py:Exits: 100.0% of its decisions failed" in shown
    assert "its process ended with exit code 0" in shown


def test_a_brain_that_crashes_when_it_is_made_is_refused_before_anything_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("import os\nos.abort()\nclass Never:\n    def decide(self, seen): ...\n")
    assert main(["match", "nim", "mine.py", "random", "--games", "1", "--out", "out"]) != 0
    assert "the brain mine.py cannot be created: its process was killed by SIGABRT" in capsys.readouterr().err
    assert not Path("out").exists()


def test_an_opponent_that_crashes_in_an_environment_ends_no_episode() -> None:
    episodes = Episodes(
        Setup("nim", [None, faulty("Sync", "segfault", "decide")], {"stones": 5}), make_world("nim", {})
    )
    try:
        episodes.reset(1)
        while not episodes.has_ended(0):
            episodes.step({0: Action("take", {"n": 1})})
        assert episodes.room.is_over()
    finally:
        episodes.close()


@pytest.mark.parametrize("how", ["fork", "program"])
def test_a_crash_is_seen_although_the_agent_has_started_another_process(how: str, tmp_path: Path) -> None:
    name = faulty("Sync", how, "decide", tmp_path / "mark")
    results = match("nim", name, "random", games=1, progress=False)
    assert outcomes(results, name)["failed"] == 1
    assert problems(results) == {"AgentCrashed: its process ended with exit code 3"}


FORKS = """
import os
from pathlib import Path

class Forks:
    def __init__(self, waits=False):
        self.waits = waits

    def decide(self, observation):
        ready, begun = os.pipe()
        if os.fork() == 0:
            os.write(os.open(Path(__file__).with_name("alive"), os.O_WRONLY), b"x")
            os.write(begun, b"x")
            while True:
                pass
        os.read(ready, 1)
        while self.waits:
            pass
        raise RuntimeError("forked")
"""


class Forked:
    """What an agent has forked. It holds a named pipe open, and has written a byte to it."""

    def __init__(self, folder: Path) -> None:
        self.agent = f"{folder}/mine.py:Forks"
        (folder / "mine.py").write_text(FORKS)
        os.mkfifo(folder / "alive")
        self._pipe = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)

    def begins(self) -> None:
        waiting = select.poll()
        waiting.register(self._pipe, select.POLLIN)
        assert waiting.poll(60_000)

    def ends(self) -> None:
        self.begins()
        os.set_blocking(self._pipe, True)
        while os.read(self._pipe, 1):  # returns nothing when nobody has it open
            pass
        os.close(self._pipe)


def test_what_an_agent_has_started_ends_with_its_process(tmp_path: Path) -> None:
    forked = Forked(tmp_path)
    match("nim", forked.agent, "random", games=1, progress=False)
    end_idle_processes()
    forked.ends()


def test_what_an_agent_has_started_ends_if_its_process_ends_by_itself(tmp_path: Path) -> None:
    forked, process = Forked(tmp_path), AgentProcess()
    process.ask("make", forked.agent, "test", sys.path, ".", seconds=60)
    with pytest.raises(Exception, match="forked"):
        process.ask("decide", Observation(), seconds=60)
    os.kill(process._process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process._process.pid, os.WEXITED | os.WNOWAIT)
    assert not process.is_alive
    forked.ends()


def test_what_an_agent_has_started_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    forked = Forked(tmp_path)
    with subprocess.Popen([sys.executable, "-c", PARENT, f"{forked.agent}?waits=true"]) as parent:
        forked.begins()
        parent.kill()
    forked.ends()


def test_what_an_agent_prints_is_not_in_the_output_of_the_command_and_it_reads_no_input(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys\n\nclass Mine:\n    def decide(self, observation):\n        print('noise', repr(sys.stdin.read()))\n"
        "        return None\n"
    )
    words = [sys.executable, "-m", "cohabit", "match", "nim", f"{tmp_path}/mine.py", "random", "--games", "1"]
    done = subprocess.run(words, input="typed", capture_output=True, text=True)
    assert "noise ''" in done.stderr
    assert "noise" not in done.stdout


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("garbage", "its process sent data that cannot be read"),
        ("huge", "its process sent data that cannot be read"),
        ("flood", "its process was killed: it asked 1000 questions at the same time"),
    ],
)
def test_what_an_agent_writes_into_its_connection_is_its_own_failure(how: str, problem: str, tmp_path: Path) -> None:
    name = faulty("Sync", how, "decide", tmp_path / "mark")
    results = match("nim", name, "random", games=1, progress=False)
    assert outcomes(results, name)["failed"] == 1
    assert outcomes(results, name)["chosen"] > 1
    assert problems(results) == {f"AgentCrashed: {problem}"}


def test_a_brain_that_writes_into_its_connection_while_it_is_made_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import os, sys\nos.write(int(sys.argv[1]), b'\\0\\0\\0\\1\\xc1')\nclass A:\n    def decide(self, seen): ...\n"
    )
    with pytest.raises(BadArgs, match="its process sent data that cannot be read"):
        facts_of(str(path))


# -- time limits ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("Async", "loop"),
        *(pytest.param(*each, marks=pytest.mark.soak) for each in (("Sync", "hold"), ("Quick", "sleep"))),
    ],
)
def test_an_agent_that_never_returns_is_killed_and_the_next_one_plays(
    kind: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "MIN_GRACE_S", 0.5)
    monkeypatch.setattr(isolated, "MAX_GRACE_S", 0.5)
    mark = tmp_path / "mark"
    name = faulty(kind, how, "decide", mark)
    results = match("nim", name, "random", games=1, seconds=3.0, progress=False)
    assert outcomes(results, name)["timeout"] == 1
    assert outcomes(results, name)["chosen"] >= 1
    assert mark.read_text().split().count("initialize") == 2


def test_an_answer_that_comes_too_late_never_counts() -> None:
    name = f"{FAULTY}:Late"
    results = match("nim", name, "random", games=1, seconds=0.3, progress=False)
    assert outcomes(results, name).keys() == {"timeout"}
    assert problems(results) == {"no answer in 0.3 s"}


async def test_a_call_that_is_given_up_before_the_agent_has_begun_it_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine an agent reads a call together with its cancellation."""
    monkeypatch.setattr(isolated, "MIN_GRACE_S", 200.0)
    monkeypatch.setattr(isolated, "MAX_GRACE_S", 200.0)
    agent = open_agent(faulty("Async"), "test")
    assert isinstance(agent, IsolatedAgent)
    await agent.start()
    assert agent._process is not None
    os.kill(agent._process._process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await agent.plan([])
    finally:
        os.kill(agent._process._process.pid, signal.SIGCONT)
    async with asyncio.timeout(100):  # less than the time after which it is killed
        await agent.settle()
        await agent.close()


async def test_an_agent_that_can_be_cancelled_keeps_its_process() -> None:
    agent = open_agent(f"{FAULTY}:Patient", "test")
    assert isinstance(agent, IsolatedAgent)
    await agent.start()
    before = agent._process
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await agent.decide(Observation())
    await agent.settle()
    assert agent._process is before
    await agent.close()


async def test_an_agent_that_closes_its_connection_and_lives_on_is_killed_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "REAP_S", 0.05)
    agent = open_agent(faulty("Sync", "closes", "decide"), "test")
    with pytest.raises(AgentCrashed, match="its process closed the connection"):
        await agent.decide(Observation())
    await agent.close()


async def test_nobody_waits_for_the_end_of_an_agent_that_has_closed_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits, wait_for_end = asyncio.Event(), AgentProcess._wait_for_end
    monkeypatch.setattr(processes, "REAP_S", 3600.0)
    monkeypatch.setattr(AgentProcess, "_wait_for_end", lambda *given: (waits.set(), wait_for_end(*given)))
    agent = open_agent(faulty("Sync", "closes", "decide"), "test")
    assert isinstance(agent, IsolatedAgent)
    decided = asyncio.ensure_future(agent.decide(Observation()))
    await waits.wait()
    agent.kill()
    with pytest.raises(AgentCrashed):
        await decided
    await agent.close()


async def test_an_agent_gets_no_process_in_which_the_last_one_has_left_something_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolated, "CLOSING_S", 0.5)
    end_idle_processes()
    first = open_agent(f"{FAULTY}:Busy", "test")
    assert await first.decide(SEEN)
    with pytest.raises(TimeoutError):
        await first.close()
    second = open_agent(f"{FAULTY}:OnlyDecides", "test")
    assert await second.decide(SEEN)
    await second.close()


async def test_a_question_that_an_agent_has_left_behind_is_not_answered_to_the_next_one() -> None:
    from cohabit.agents.llm.backend import Completion

    asked, go = asyncio.Queue[Any](), asyncio.Event()

    async def completing(request: Any) -> Any:
        asked.put_nowait(request)
        await go.wait()
        return packed((Completion(f"answer to {request!r}"), []))

    first, second = (open_agent(f"{FAULTY}:Asks?hasty={hasty}", "test") for hasty in ("true", "false"))
    assert isinstance(first, IsolatedAgent)
    assert isinstance(second, IsolatedAgent)
    first.completing = second.completing = completing
    await first.start()
    process = first._process
    await first.decide(SEEN)
    left = await asked.get()
    await first.close()
    decided = asyncio.ensure_future(second.decide(SEEN))
    own = await asked.get()
    assert second._process is process
    go.set()
    chosen = await decided
    assert chosen is not None
    assert own != left
    assert chosen.name == f"answer to {own!r}"
    await second.close()


# -- what is left behind ----------------------------------------------------------------------------
PARENT = """
import sys
from cohabit.agents.process import AgentProcess
process = AgentProcess()
print(process._process.pid, flush=True)
process.ask("make", sys.argv[1], "test", sys.path, ".", seconds=60)
import cohabit.agents.wire as wire, msgspec
from cohabit.model.observation import Observation
process.ask("decide", Observation(choices=[{"action": "a", "params": {}}]), seconds=600)
"""


def test_the_process_of_an_agent_ends_with_its_parent_even_in_a_loop_that_never_returns(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = [sys.executable, "-c", PARENT, faulty("Sync", "hold", "decide", mark)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        ended = select.poll()
        ended.register(child, select.POLLIN)
        while not mark.exists() or "decide" not in mark.read_text():
            assert not ended.poll(10)
        parent.kill()
        assert ended.poll(60_000), "the process is still there"
        os.close(child)


def test_a_process_is_used_by_the_next_agent_of_the_same_file_and_by_no_other() -> None:
    end_idle_processes()
    process = AgentProcess()
    keep_process("mine.py", process)
    other = take_process("other.py")
    assert other is not process
    assert take_process("mine.py") is process
    process.kill()
    other.kill()


def test_what_is_known_about_a_brain_comes_from_its_process(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    quick = True\n    one_at_a_time = True\n    def decide(self, seen): ...\n    def close(self): ...\n"
    )
    before = {*sys.modules}
    facts = facts_of(f"{tmp_path}/mine.py")
    assert (facts.methods, facts.quick, facts.one_at_a_time) == (["decide", "close"], True, True)
    assert facts.files == [str((tmp_path / "mine.py").resolve())]
    new = {*sys.modules} - before  # tests before this one may have had a file of this name
    assert not [name for name in new if name.startswith("cohabit_file_mine_")], "it ran in this process"
    (tmp_path / "mine.py").write_text("raise OSError('no such device')")
    with pytest.raises(BadArgs, match="OSError: no such device"):
        facts_of(f"{tmp_path}/mine.py")
