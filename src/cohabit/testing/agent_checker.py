"""``check_agent``: check that an agent meets the agent contract. Plays it in the lab and in a house.

    report = check_agent("mybot.py:Bot", world="nim")
    assert report.ok, report

Each check is a function whose docstring is its claim. It returns a summary, or raises ``CheckFailed``. An agent in a
file runs in a process of its own, as everywhere: one that hangs or crashes fails the check and does not end it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Agent, adapted, is_async
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.isolated import IsolatedAgent, made_once, open_agent
from cohabit.agents.process import end_idle_processes
from cohabit.agents.ready import make_once
from cohabit.agents.wire import METHODS, Facts
from cohabit.errors import CohabitError, GameCrash
from cohabit.house.clock import SystemClock
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action
from cohabit.registry import ANY_WORLD, PLAYERS, find_world, is_script, make_agent
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.checker import Finding, Report, checks_in
from cohabit.testing.checks.trial import CheckFailed
from cohabit.testing.play import failure_of
from cohabit.testing.sources import is_nation

SECONDS = 5.0
"""The time limit of a decision."""
DECISIONS = 20
"""Of all players, in a game of the check."""
MAX_FAILURES = 2
"""After this many failed decisions a game is stopped: the check has failed."""
MAX_TICKS = 500
SILENT_S = 5
"""How much longer than for a decision a game in a house may stand still."""
ROOM, MEMBER = "check", "p1"
SEED = "5eed" * 8
"""Of the room in a house; long, because a house warns of one that players can guess."""
DEFAULT_WORLD = "nim"
_log, _all = logging.getLogger("cohabit.agents"), logging.getLogger("cohabit")


class AgentTrial:
    """Shared by the checks: the agent, and the world that it plays in."""

    def __init__(self, name: str, world: str, seconds: float) -> None:
        self.name, self.world, self.seconds = name, world, seconds
        self.seats = max(1, find_world(world).spec.seat_range[0])
        self.decisions = 0
        self.about: Any = None
        self.world_failed = False

    @property
    def methods(self) -> list[str]:
        if isinstance(self.about, Facts):
            return self.about.methods
        return [name for name in METHODS if callable(getattr(self.about, name, None))]

    def open(self) -> Agent:
        return open_agent(self.name, "check/p1")

    def in_lab(self, agent: Agent, *, kill_after: int = 0) -> list[PlayerDecision]:
        """The decisions of an agent on the first seat. Its process is killed after ``kill_after`` of them."""
        made: list[PlayerDecision] = []
        others = [adapted(make_agent("random", f"check/p{i + 2}")) for i in range(self.seats - 1)]

        def on_decision(player: int, decision: PlayerDecision, _: float) -> None:
            if player == 0:
                made.append(decision)
                if len(made) == kill_after and isinstance(agent, IsolatedAgent):
                    agent.kill()

        spec = GameSpec(
            "check", self.world, ["agent", *["random"] * len(others)], seed="1", seconds=self.seconds,
            max_decisions=DECISIONS, max_ticks=MAX_TICKS,
        )  # fmt: skip
        asyncio.run(self._play(Game(spec, agents=[agent, *others], on_decision=on_decision), made))
        self.decisions += len(made)
        return made

    async def _play(self, game: Game, made: list[PlayerDecision]) -> None:
        try:
            await game.begin()
            while await game.step():
                if sum(decision.failed for decision in made) >= MAX_FAILURES:
                    break
        finally:
            await game.close()

    async def in_house(self) -> tuple[int, int, str]:
        """The number of decisions of the agent in a room of a house, and of those that failed; what has stopped it."""
        agents = [AgentSpec(id=MEMBER, role="player", claim="auto:0", brain=self.name)]
        agents += [
            AgentSpec(id=f"p{i + 2}", role="player", claim=f"auto:{i + 1}", brain="random")
            for i in range(self.seats - 1)
        ]
        settings = Settings(data="", agent_seconds=self.seconds)
        async with House.open(settings, clock=SystemClock()) as house:
            house.bots.step_ms = 0
            await house.create_room(Scenario(world=self.world, agents=agents), ROOM, SEED)
            runner, silent, version, since = house.rooms[ROOM], "", -1, 0
            while not runner.room.is_over() and runner.failure is None:
                status = house.bots.agents.get((ROOM, MEMBER))
                now = house.clock.now()
                if runner.version != version:
                    version, since = runner.version, now
                if now - since > 1000 * (self.seconds + SILENT_S):
                    silent = f"nothing happened for {self.seconds + SILENT_S:g} s: it waits for news on its turn"
                    break
                if status is not None and (status.tally.failures >= MAX_FAILURES or status.stopped):
                    break
                if status is not None and status.tally.decisions * self.seats >= DECISIONS:
                    break
                await runner.changed_since(runner.version, house.clock.now() + 100)
            status = house.bots.agents[ROOM, MEMBER]
        self.decisions += status.tally.decisions
        stopped = status.stopped or silent
        return status.tally.decisions, status.tally.failures + bool(stopped), stopped


Check = Callable[[AgentTrial], str]


def check_made(trial: AgentTrial) -> str:
    """It can be created, and its backend is available."""
    make_once(trial.name)
    trial.about = about = made_once(trial.name)
    if not {"decide", "think"} & set(trial.methods):
        raise CheckFailed("it has no method decide(observation)")
    where = "in a process of its own" if isinstance(about, Facts) else "part of Cohabit"
    asynchronous = about.asynchronous if isinstance(about, Facts) else is_async(about)
    return f"{'asynchronous' if asynchronous else 'synchronous'}, {where}; it has {', '.join(trial.methods)}"


def check_signatures(trial: AgentTrial) -> str:
    """Every method takes its arguments."""
    wrong = trial.about.wrong if isinstance(trial.about, Facts) else []
    if wrong:
        raise CheckFailed("; ".join(wrong))
    return "every method takes its arguments"


def check_lab(trial: AgentTrial) -> str:
    """In a game of the lab no decision fails, and it can be closed."""
    agent = trial.open()
    with problems() as found:
        made = trial.in_lab(agent)
    failed = sum(decision.failed for decision in made)
    reasons = [decision.problem for decision in made if decision.failed and decision.problem]
    if isinstance(agent, IsolatedAgent) and agent.gave_up_on:
        reasons.append(f"{agent.gave_up_on} did not return in time")
    return _judged(len(made), failed, [*reasons, *found])


def check_house(trial: AgentTrial) -> str:
    """In a room of a house no decision fails, and it can be closed."""
    with problems() as found:
        decisions, failed, stopped = asyncio.run(trial.in_house())
    return _judged(decisions, failed, [*found, *filter(None, [stopped])])


def check_restart(trial: AgentTrial) -> str:
    """If its process ends in a game, one decision fails, and a new agent plays on."""
    if not isinstance(trial.about, Facts):
        return "part of Cohabit: it has no process of its own"
    with problems():
        made = trial.in_lab(trial.open(), kill_after=1)
    failed = [decision for decision in made if decision.failed]
    if len(failed) > 1:
        raise CheckFailed(f"a new agent could not play on after a crash: {failed[-1].problem}")
    return f"{len(made) - len(failed)} decisions before and after its process was killed"


def check_next_game(trial: AgentTrial) -> str:
    """What it plays does not depend on the games before."""
    if trial.about is not None and getattr(trial.about, "backend", None):
        return "not compared: it asks a language model"
    with problems():
        end_idle_processes()
        first = _actions(trial.in_lab(trial.open()))
        after_another = _actions(trial.in_lab(trial.open()))
        end_idle_processes()
        again = _actions(trial.in_lab(trial.open()))
    if first != again:
        return "its actions differ from run to run; seed its random numbers with `purpose` if they should not"
    if first != after_another:
        raise CheckFailed("it plays differently after another game: keep state on `self`, not in the class or module")
    return "the same seed gives the same actions, also after another game"


CHECKS: dict[str, Check] = checks_in(globals())
"""Every check by name, in the order they run."""


def check_agent(name: str, *, world: str = "", seconds: float = SECONDS) -> Report:
    """Check the agent with this brain, such as ``mybot.py:Bot``. ``world``: where it plays; if it is left out, where a
    built-in script plays, otherwise Nim. ``seconds``: the time limit of a decision."""
    trial = AgentTrial(name, world or world_of(name), seconds)
    findings: list[Finding] = []
    try:
        for check, claim in CHECKS.items():
            findings.append(_finding(check, claim, trial))
            if (
                trial.about is None
                or trial.world_failed
                or (check == "house" and not all(finding.ok for finding in findings))
            ):
                break  # it cannot be created, or it fails in any game
    finally:
        end_idle_processes()
    return Report(f"{parse_brain(name).label} in {trial.world}", findings, trial.decisions)


def world_of(name: str) -> str:
    """A world that the agent with this brain can play."""
    if is_nation(name):
        return "statecraft"
    brain = parse_brain(name)
    worlds = [world for world, scripts in PLAYERS.items() if world != ANY_WORLD and brain.kind in scripts]
    return worlds[0] if is_script(brain) and worlds else DEFAULT_WORLD


@contextmanager
def problems() -> Iterator[list[str]]:
    """The problems that players log meanwhile: each once, also one in ``close``. Nothing else is logged."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage().partition(" failed: ")[2] or record.getMessage())

    handler, silent, passes_on = Keep(), logging.NullHandler(), [(log, log.propagate) for log in (_log, _all)]
    _log.addHandler(handler)
    _all.addHandler(silent)
    _log.propagate = _all.propagate = False
    try:
        yield found
    finally:
        _log.removeHandler(handler)
        _all.removeHandler(silent)
        for log, passed_on in passes_on:
            log.propagate = passed_on


def _judged(decisions: int, failed: int, reasons: list[str]) -> str:
    why = "; ".join(dict.fromkeys(reasons))
    if failed:
        raise CheckFailed(f"{failed} of {decisions} decisions failed: {why}")
    if why:
        raise CheckFailed(f"{decisions} decisions, none failed, but {why}")
    return f"{decisions} decisions, none failed"


def _actions(decisions: list[PlayerDecision]) -> list[Action | None]:
    return [decision.action for decision in decisions]


def _finding(name: str, check: Check, trial: AgentTrial) -> Finding:
    try:
        return Finding(name, True, check(trial))
    except CheckFailed as wrong:
        return Finding(name, False, str(wrong))
    except GameCrash as crash:
        trial.world_failed = True
        more = f"`cohabit check {trial.world}` checks it"
        return Finding(name, False, f"the world failed, not the agent: {failure_of(crash)}; {more}")
    except CohabitError as wrong:
        return Finding(name, False, wrong.message)
    except Exception as bug:
        return Finding(name, False, f"{type(bug).__name__}: {bug}")
