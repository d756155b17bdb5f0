"""Plays batches of games on a Ray cluster, with the same files as in one process.

The host keeps the answers of unfinished games, the count of what is spent and the cache. Workers have no files of the
run; records come back with the games. A worker checks that its code is that of the host before it plays.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import kind_of
from cohabit.agents.llm.cached import CacheFolder
from cohabit.agents.llm.http import KEYS_VARIABLE, keys_listed
from cohabit.agents.llm.prices import VARIABLE as PRICES_VARIABLE
from cohabit.agents.spending import Spending, TotalsHere
from cohabit.agents.wire import Facts
from cohabit.errors import Conflict
from cohabit.lab.cluster import Host, Link, WorkersDied, connected, in_cluster
from cohabit.lab.design import located
from cohabit.lab.fingerprint import Prints, differences, fingerprints
from cohabit.lab.game import GameSpec
from cohabit.lab.games import Batch, Games, RunContext, RunStopped, batches, collect_less
from cohabit.lab.processes import REPORT_S, WORKER_ENDED
from cohabit.lab.progress import DecisionCount
from cohabit.lab.results import Results
from cohabit.lab.sources import Sources, sources_of
from cohabit.registry import BACKENDS

BATCH = 64
"""Games per batch, if all players are scripted. A task of Ray costs as much as a few games."""
PARTS = 16
"""Batches per worker at least. The machines of a cluster may differ."""


class Code(Struct, frozen=True):
    """The code that a worker must have, and what it needs to have it."""

    prints: Prints
    sources: Sources

    def opened(self, prints: Callable[[str], Prints]) -> str:
        """Make it usable on this machine. Returns the folder under which the files are, as ``Sources.here`` does.

        ``prints``: what this machine has, if the files are under a folder."""
        root = self.sources.here()
        if found := differences(prints(root), self.prints):
            raise Conflict(
                f"the machine {socket.gethostname()} has other versions, so games played there would not be the same: "
                f"{'; '.join(found)}. Install there what is installed here"
            )
        return root


class Setup(Struct, frozen=True):
    """The data that a worker gets when it begins."""

    context: RunContext
    code: Code
    variables: dict[str, str]
    logs: bool  # some player's answers are logged
    cached: bool

    def __repr__(self) -> str:
        return "Setup()"  # the variables have keys


def play_on_ray(
    context: RunContext,
    specs: Sequence[GameSpec],
    on: str,
    workers: int | None,
    count: DecisionCount,
    results: Results,
    made: Mapping[str, Any],
) -> Generator[Batch]:
    """The games in batches, in order. The results have what was paid and reserved before, and get the sums at the
    end. ``made``: the players of the design by their brains."""
    spent = TotalsHere(*results.spent)
    desk = Desk(context, context.spending(spent), setup_of(context, made))
    count.of_workers = desk.decisions.values()
    try:
        with connected(on, workers) as (number, is_ours), closing(Host(desk.answer, not is_ours)) as host:
            jobs = batches(specs, context.batch_size(len(specs), number, BATCH, PARTS))
            with closing(in_cluster(play_batch, jobs, number, host)) as played:
                for place, batch in played:
                    desk.decisions[place] = sum(game.result.decisions for game in batch.games)
                    yield batch
    except WorkersDied:
        raise RunStopped(WORKER_ENDED) from None
    finally:
        results.spent = spent[0], spent[1]


def setup_of(context: RunContext, made: Mapping[str, Any]) -> Setup:
    design, variables = context.design, variables_of(made)
    worlds = {plan.world for plan in design.world_plans().values()}
    players = {design.players.get(player, player) for player in design.every_player()}
    places = {name: located(name, design.folder) for name in sorted(worlds | players)}
    prices = [Path(variables[PRICES_VARIABLE])] if variables.get(PRICES_VARIABLE) else []
    return Setup(
        replace(context, folder=None, cache=None, places=places),
        Code(fingerprints(design), sources_of(places.values(), *prices)),
        variables,
        logs=any(isinstance(about, Facts) or kind_of(about) != "quick" for about in made.values()),
        cached=context.cache is not None,
    )


def variables_of(made: Mapping[str, Any]) -> dict[str, str]:
    """The environment variables that the language models of the players read: keys, servers and prices."""
    asked = {parse_brain(about.backend).kind for about in made.values() if isinstance(about, Facts) and about.backend}
    kinds = (asked | {parse_brain(brain).kind for brain in made}) & set(BACKENDS)
    if not kinds:
        return {}
    names = {KEYS_VARIABLE, PRICES_VARIABLE, *keys_listed().values()}
    beginnings = tuple(f"{kind.upper()}_" for kind in kinds)
    return {name: value for name, value in os.environ.items() if name in names or name.startswith(beginnings)}


class Desk:
    """Answers what workers ask, in the process that runs the games. What it keeps is on disk when it answers."""

    def __init__(self, context: RunContext, spending: Spending, setup: Setup) -> None:
        self.decisions: dict[int, int] = {}  # by batch
        self._context = context
        self._lines: dict[str, bytes] = {}  # of answers, if the run has no folder
        self._questions: dict[str, Callable[..., Any]] = {
            "begin": lambda: setup,
            "totals": lambda: (spending.paid, spending.reserved),
            "reserve": spending.reserve,
            "settle": spending.settle,
            "add": spending.add,
            "answers": self._answers,
            "append": self._append,
        }
        if context.cache is not None:
            cache = CacheFolder(context.cache)
            self._questions |= {"cached": cache.get, "keep": cache.put}

    def answer(self, batch: int, what: str, arguments: tuple[Any, ...]) -> Any:
        if what == "decisions":
            self.decisions[batch] = arguments[0]
            return None
        return self._questions[what](*arguments)

    def _answers(self, game: str) -> tuple[str, bytes]:
        kept = self._context.answers_of(game)
        return (str(kept), kept.read()) if kept is not None else ("memory", self._lines.get(game, b""))

    def _append(self, game: str, line: bytes) -> None:
        kept = self._context.answers_of(game)
        if kept is None:
            self._lines[game] = self._lines.get(game, b"") + line
        else:
            with closing(kept):
                kept.append(line)


# -- in a worker ------------------------------------------------------------------------------------
class Worker:
    """This process, if it plays batches."""

    def __init__(self, link: Link) -> None:
        logging.getLogger("cohabit.agents").setLevel(logging.ERROR)
        self.link = link
        setup: Setup = link.ask("begin")
        os.environ.update(setup.variables)
        design = setup.context.design
        root = setup.code.opened(lambda root: fingerprints(design, replace(setup.context, root=root).opened))
        if root and PRICES_VARIABLE in setup.variables:
            os.environ[PRICES_VARIABLE] = root + os.environ[PRICES_VARIABLE]
        self._count = DecisionCount()
        self._games = Games(
            replace(setup.context, root=root),
            HostedSpending(self, design.max_cost),
            self._count,
            lambda game: HostedAnswers(self, game) if setup.logs else None,
            HostedCache(self) if setup.cached else None,
        )
        self._before: int | None = None  # decisions before this batch; None: no batch is being played
        self._runner = asyncio.Runner()
        collect_less()
        Thread(target=self._report, daemon=True).start()

    def play(self, link: Link, specs: Sequence[GameSpec]) -> Batch:
        batch = Batch()
        self.link, self._before = link, self._count.total()
        try:
            self._runner.run(self._games.play_all(specs, batch))
        finally:
            self._before = None
        return batch

    def _report(self) -> None:
        while True:
            sleep(REPORT_S)
            if (before := self._before) is not None:
                with suppress(Exception):  # the run has ended
                    self.link.tell("decisions", self._count.total() - before)


class HostedSpending(Spending):
    """The spending of the whole run, which the host counts."""

    def __init__(self, worker: Worker, cap: float | None) -> None:
        super().__init__(cap)
        self._worker = worker

    @property
    def paid(self) -> float:
        return float(self._worker.link.ask("totals")[0])

    @property
    def reserved(self) -> float:
        return float(self._worker.link.ask("totals")[1])

    def reserve(self, dollars: float) -> bool:
        return bool(self._worker.link.ask("reserve", dollars))

    def settle(self, reserved: float, paid: float | None) -> None:
        self._worker.link.ask("settle", reserved, paid)

    def add(self, dollars: float) -> None:
        self._worker.link.ask("add", dollars)


class HostedAnswers:
    """The answers of a game, which the host keeps."""

    def __init__(self, worker: Worker, game: str) -> None:
        self._worker, self._game, self._name = worker, game, ""

    def __str__(self) -> str:
        return self._name

    def read(self) -> bytes:
        self._name, lines = self._worker.link.ask("answers", self._game)
        return bytes(lines)

    def append(self, line: bytes) -> None:
        self._worker.link.ask("append", self._game, line)

    def close(self) -> None:
        """The host has closed its file."""


class HostedCache:
    """The cache of answers, which the host keeps."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def get(self, key: str) -> bytes | None:
        kept: bytes | None = self._worker.link.ask("cached", key)
        return kept

    def put(self, key: str, answer: bytes) -> None:
        self._worker.link.ask("keep", key, answer)


_worker: tuple[str, Worker] | None = None


def play_batch(link: Link, specs: Sequence[GameSpec]) -> Batch:
    global _worker
    if _worker is None or _worker[0] != link.run:
        _worker = link.run, Worker(link)
    return _worker[1].play(link, specs)
