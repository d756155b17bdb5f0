"""The workspace's MCP server compared to plain git, on a repository of 20,000 commits and 5,000 files."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.common import folder, quotients, take_turns
from bench.report import Report
from bench.workspace_fairness import measured
from bench.workspace_repo import COMMON, RARE, made, push_from_another_agent
from bench.workspace_sides import Plain, Server, cpu_of

HOW = """
A repository with 20,000 commits and 5,000 notes of 2 kB (1,800 and 300 in a smoke run), as four agents could make it
in a year and a half; packed, with a commit-graph. "Ours" is a call of the MCP server over stdin and stdout, including
the lock, the check of the clone's configuration, the log of calls and JSON; "git" is the same work by plain git in
another clone, one process per command. Time is that of the caller; CPU is that of the caller, the server and every git
process. `sync` merges one commit of another agent and one of its own, in different files, compared to `git fetch`,
`git merge` and `git push`; with a journal changed on both sides, where plain git stops with a conflict, there is no
comparison. Search is for a word in every third note (500 lines are shown) and for one in every hundredth, compared to
`git grep` of tracked files; ours searches all files of the work tree. Agents that push do nothing else for 20 s, on one
machine, each in a process and a clone of its own: commit, push, again. Start is `initialize` and `tools/list`.
""".strip()
START_MS = 250.0
Nothing = Callable[[], object]


@dataclass
class Side:
    """One side of a comparison. ``prepare`` runs before each repetition and is not measured."""

    act: Nothing
    cpu: Callable[[], float]
    times: int
    prepare: Nothing = lambda: None
    cpus: list[float] = field(default_factory=list)

    def round(self) -> float:
        wall = cpu = 0.0
        for _ in range(self.times):
            self.prepare()
            cpu_before, before = self.cpu(), time.perf_counter()
            answer = self.act()
            wall += time.perf_counter() - before
            cpu += self.cpu() - cpu_before
            if isinstance(answer, bytes):
                Server.read(answer)  # raises if it is an error
        self.cpus.append(cpu / self.times * 1000)
        return wall / self.times * 1000


class Comparison:
    """Ours compared to plain git, in one report."""

    def __init__(self, report: Report, top: Path, quick: bool) -> None:
        self.report, self.top, self.quick = report, top, quick
        self.rounds = 2 if quick else 9
        source = made(*(1_800, 300) if quick else (20_000, 5_000))
        self.remotes = {name: top / f"{name}.git" for name in ("ours", "theirs")}
        for remote in self.remotes.values():
            subprocess.run(["git", "clone", "--quiet", "--bare", source, remote], check=True)
        self.plain = Plain(top / "theirs", self.remotes["theirs"])
        self.count = 0

    @contextmanager
    def serving(self) -> Iterator[Server]:
        with Server(self.top, self.remotes["ours"]) as self.server:
            yield self.server

    def ours(self, act: Nothing, times: int, prepare: Nothing = lambda: None) -> Side:
        return Side(act, lambda: self.server.cpu, 1 if self.quick else times, prepare)

    def theirs(self, act: Nothing, times: int, prepare: Nothing = lambda: None) -> Side:
        return Side(act, cpu_of, 1 if self.quick else times, prepare)

    def compare(self, what: str, sides: dict[str, Side], aim: float | None = None) -> None:
        """Measure time and CPU of each side, and the ratio, for which the first of ours has a target."""
        found = take_turns({name: side.round for name, side in sides.items()}, self.rounds)
        cpus = {name: side.cpus[1:] for name, side in sides.items()}  # without the warm-up round
        for name in sides:
            self.report.measure(f"{what}, {name}", found[name], "ms")
            self.report.measure(f"{what}, {name}: CPU", cpus[name], "CPU-ms")
        peer, *mine = sides
        for name in mine:
            goal = aim if name == mine[0] else None
            for kind, values in (("time", found), ("CPU", cpus)):
                over = quotients(values[name], [max(value, 0.01) for value in values[peer]])
                self.report.ratio(f"workspace: {what}, {name} over {peer}: {kind}", over, goal, "at most")

    # -- reading ----------------------------------------------------------------------------------
    def read(self) -> None:
        plain, ask = self.plain, self.server.ask
        base = plain.git("rev-parse", "HEAD~100")
        root = plain.git("rev-list", "--max-parents=0", "HEAD")
        self.compare(
            "status",
            {
                "git": self.theirs(partial(plain.git, "status", "--porcelain=v2", "--branch"), 10),
                "ours": self.ours(partial(ask, "status"), 10),
            },
            1.5,
        )
        self.compare(
            "log 50",
            {
                "git": self.theirs(partial(plain.git, "log", "-n", "50"), 20),
                "ours": self.ours(partial(ask, "log", n=50), 20),
            },
            1.5,
        )
        self.compare(
            "diff of 100 commits",
            {
                "git": self.theirs(partial(plain.git, "diff", f"{base}..HEAD"), 10),
                "ours, first page": self.ours(partial(ask, "diff", since=base), 10),
                "ours, all pages": self.ours(partial(self._all_pages, base), 5),
            },
            1.5,
        )
        for commits, since, times in (("100 commits", base, 10), ("all commits", root, 3)):
            self.compare(
                f"whats_new of {commits}",
                {
                    "git log --name-only": self.theirs(
                        partial(plain.git, "log", "--name-only", f"{since}..HEAD"), times
                    ),
                    "ours": self.ours(partial(ask, "whats_new"), times, partial(self.server.point_to, since)),
                },
            )

    def _all_pages(self, since: str) -> None:
        page = self.server.call("diff", since=since)
        while page["truncated"]:
            page = self.server.call("diff", since=since, offset=page["next_offset"])

    # -- several agents ---------------------------------------------------------------------------
    def share(self) -> None:
        for agents in (2,) if self.quick else (4, 8):
            found = measured(self.top, agents, 2 if self.quick else 20)
            self.report.measure(f"{agents} agents pushing, pushes in all", [sum(found.pushes)], "pushes")
            self.report.measure(f"{agents} agents pushing, slowest push", [found.slowest_s], "s")
            self.report.measure(
                f"{agents} agents pushing, most pushes by others during one", [found.overtaken], "pushes"
            )
            self.report.ratio(
                f"workspace: {agents} agents pushing, most pushes of an agent over fewest", [found.spread],
                None if self.quick else 4.0, "at most",
            )  # fmt: skip

    # -- searching --------------------------------------------------------------------------------
    def search(self) -> None:
        for kind, word in (("rare", RARE), ("common", COMMON)):
            sides = {
                "git grep": self.theirs(partial(self.plain.git, "grep", "-n", "-I", "-F", word), 10),
                "ours": self.ours(partial(self.server.ask, "search", query=word), 10),
            }
            self.compare(f"search, {kind} word", sides, 1.2)

    # -- writing and sharing ----------------------------------------------------------------------
    def write(self) -> None:
        self.compare(
            "write, add and commit",
            {"git": self.theirs(self._commit_plain, 5), "ours": self.ours(self._commit_ours, 5)},
            1.5,
        )
        self.compare(
            "sync",
            {
                "git fetch, merge, push": self.theirs(self._sync_plain, 3, self._diverge_plain),
                "ours": self.ours(partial(self.server.ask, "sync"), 3, self._diverge_ours),
                "ours, journals on both sides": self.ours(partial(self.server.ask, "sync"), 3, self._diverge_journals),
            },
            1.5,
        )

    def _new(self) -> str:
        self.count += 1
        return f"drafts/bench/{self.count:05}.md"

    def _commit_plain(self) -> None:
        path = self._new()
        self.plain.write(path, "A new draft.\n")
        self.plain.git("add", "--", path)
        self.plain.git("commit", "--quiet", "--message", f"[bench] {path}")

    def _commit_ours(self) -> None:
        path = self._new()
        self.server.call("write", path=path, content="A new draft.\n")
        self._commit(path)

    def _commit(self, *paths: str) -> None:
        self.server.call("add", paths=list(paths))
        self.server.call("commit", message=f"{paths[0]}")

    def _diverge_plain(self) -> None:
        self._commit_plain()
        push_from_another_agent(self.remotes["theirs"], {self._new(): "From elsewhere.\n"})

    def _diverge_ours(self) -> None:
        self._commit_ours()
        push_from_another_agent(self.remotes["ours"], {self._new(): "From elsewhere.\n"})

    def _diverge_journals(self) -> None:
        remote = self.remotes["ours"]
        journal = subprocess.check_output(["git", "-C", remote, "show", "main:journal.md"], text=True)
        self.server.call("journal_append", summary="From here.")
        self._commit("journal.md")
        entry = f"## 2026-05-22 14:30 \N{EM DASH} eve-cli (Eve)\nFrom elsewhere, {self._new()}.\n\n"
        push_from_another_agent(remote, {"journal.md": journal + entry})

    def _sync_plain(self) -> None:
        self.plain.git("fetch", "--quiet", "origin")
        self.plain.git("merge", "--quiet", "--no-edit", "origin/main")
        self.plain.git("push", "--quiet", "origin", "main")


def _starting(report: Report, top: Path, rounds: int) -> None:
    def cpu_ms(*command: str, said: bytes = b"") -> float:
        before = cpu_of()
        subprocess.run(command, input=said, check=True, capture_output=True)
        return (cpu_of() - before) * 1000

    serve = (sys.executable, "-m", "cohabit.workspace", "--home", str(top / "home"))
    found = take_turns(
        {
            "bare Python": partial(cpu_ms, sys.executable, "-c", "pass"),
            "server": partial(cpu_ms, *serve, said=Server.HELLO + Server.LIST),
        },
        rounds,
    )
    report.measure("start, bare Python", found["bare Python"], "CPU-ms")
    report.measure("start, server with initialize and tools/list", found["server"], "CPU-ms")
    report.ratio(
        "workspace: start of the server over 0.25 s", [ms / START_MS for ms in found["server"]], 1.0, "at most"
    )


def run(quick: bool) -> Report:
    report = Report("workspace", "The workspace, against plain git", HOW)
    with folder() as name:
        comparison = Comparison(report, Path(name), quick)
        with comparison.serving():
            comparison.read()
            comparison.search()
            comparison.write()
        comparison.share()
        _starting(report, Path(name), 3 if quick else 15)
    return report
