"""A board with 20,000 journal entries and 5,000 items: the workspace's MCP server compared to plain git, and to a board
of a tenth of the size."""

import hashlib
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path

from bench.common import ROOT, folder, quotients, take_turns
from bench.report import Report
from bench.workspace import Nothing, Side
from bench.workspace_repo import AGENTS, BEGIN, imported, push_from_another_agent
from bench.workspace_sides import Plain, Server, cpu_of, neutral_environment

HOW = """
A journal of 20,000 entries (4.5 MB) and an inbox of 5,000 items (1.8 MB), with a history of 61 commits; and a board of
a tenth of that size, to measure growth (2,000 and 200 entries in a smoke run). Before each measurement another agent
pushes one entry. "Ours" is a call of the MCP server that has been running for a while; "git" is what plain git needs
for the same change in a clone of its own: for `sync` `git fetch` and `git merge`, and `git push` if there is something
to share (journals are merged with `merge=union`, which is quick, but incorrect); for `whats_new` and `health` `git log`
and `git diff` of what is new; for `journal_tail`, which says whether each agent wrote its entries itself, `git blame`
of the same lines; for a commit an appended entry, `git add` and `git commit`. "A new process" is the start of the
server and its first `whats_new`.
""".strip()
COMMITS = 60
TAIL_LINES = 120
VERSION = 1
"""Of the generated repositories; when this file changes, they are made again."""


def _when(number: int, form: str) -> str:
    return f"{BEGIN + timedelta(minutes=19 * number):{form}}"


class Texts:
    """The entries and items of a board; the same for the same number."""

    def __init__(self) -> None:
        pick = random.Random(7)
        self.words = ["".join(pick.choices("etaoinshrdlucmfwyp", k=pick.randint(2, 9))) for _ in range(3_000)]
        self.pick = pick

    def line(self) -> str:
        return " ".join(self.pick.choices(self.words, k=9))

    def entry(self, number: int) -> str:
        who, uid = AGENTS[number % len(AGENTS)], hashlib.sha256(b"%d" % number).hexdigest()[:12]
        return (
            f"## {_when(number, '%Y-%m-%d %H:%M')} \N{EM DASH} {who} ({who[:3].capitalize()})\n{self.line()}\n\n"
            f"TODO @anyone: {self.line()}\n<!-- cohabit:{uid} at={_when(number, '%Y-%m-%dT%H:%M:%SZ')} -->\n\n"
        )

    def item(self, number: int) -> str:
        who, uid = AGENTS[number % len(AGENTS)], hashlib.sha256(b"item %d" % number).hexdigest()[:12]
        name = f"INB-{number + 1:03} @{AGENTS[(number + 1) % len(AGENTS)]} \N{EM DASH} {self.line()}"
        added = f"  added {_when(number, '%Y-%m-%d %H:%M')} by {who}\n"
        added += f"  <!-- cohabit:{uid} added={_when(number, '%Y-%m-%dT%H:%M:%SZ')} -->\n  {self.line()}\n"
        if number % 5 == 0:
            return f"- [ ] {name}  \n{added}\n"
        return f"- [x] ~~{name}~~  \n{added}  closed {_when(number + 9, '%Y-%m-%d %H:%M')} by {who} → {self.line()}\n\n"


def _stream(entries: int, items: int) -> Iterator[bytes]:
    texts = Texts()
    journal = [texts.entry(number) for number in range(entries)]
    inbox = [texts.item(number) for number in range(items)]
    parts = ["".join(item for item in inbox if item.startswith(box)) for box in ("- [ ]", "- [x]")]
    files = {"inbox.md": f"# Inbox\n\n## Open\n\n{parts[0]}## Closed\n\n{parts[1]}", "README.md": "# Board\n"}
    for number in range(entries - COMMITS, entries + 1):
        who = AGENTS[(number - 1) % len(AGENTS)]
        person = f"{who[:3].capitalize()} <{who}@example.org> {int(BEGIN.timestamp()) + number * 1140} +0000"
        message = f"[{who}] entry {number}\n\nAgent: {who}\n".encode()
        yield f"commit refs/heads/main\nauthor {person}\ncommitter {person}\ndata {len(message)}\n".encode() + message
        for path, text in (files | {"journal.md": "# Journal\n\n" + "".join(journal[:number])}).items():
            data = text.encode()
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
        files = {}


def made(entries: int, items: int) -> Path:
    """The bare repository; it is made if it does not exist."""
    return imported(ROOT / "build" / f"bench-board-{VERSION}-{entries}-{items}.git", _stream(entries, items))


class Board:
    """A board of one size: our server in one clone, plain git in another, each with a remote of its own."""

    def __init__(self, top: Path, entries: int, stack: ExitStack) -> None:
        top.mkdir()
        self.top, self.count, self.seen = top, 0, ""
        self.remotes = {name: top / f"{name}.git" for name in ("ours", "theirs")}
        for remote in self.remotes.values():
            subprocess.run(["git", "clone", "--quiet", "--bare", made(entries, entries // 4), remote], check=True)
        self.plain = Plain(top / "theirs", self.remotes["theirs"])
        (self.plain.clone / ".git" / "info" / "attributes").write_text("journal.md merge=union\n", encoding="ascii")
        self.server = stack.enter_context(Server(top, self.remotes["ours"]))
        for tool in ("whats_new", "health", "journal_tail"):
            self.server.call(tool)

    def sides(self, what: str) -> tuple[Side, Side]:
        """Ours and git's, for a kind of call."""
        ours: dict[str, tuple[Nothing, Nothing]] = {
            "sync, one entry by another": (partial(self.server.ask, "sync"), partial(self._push, "ours")),
            "sync, entries on both sides": (partial(self.server.ask, "sync"), self._diverge_ours),
            "whats_new": (partial(self.server.ask, "whats_new"), self._update_ours),
            "health": (partial(self.server.ask, "health"), self._update_ours),
            "journal_tail": (partial(self.server.ask, "journal_tail"), self._update_ours),
            "append, add and commit": (self._commit_ours, lambda: None),
        }
        theirs: dict[str, tuple[Nothing, Nothing]] = {
            "sync, one entry by another": (self._update_plain, partial(self._push, "theirs")),
            "sync, entries on both sides": (self._sync_plain, self._diverge_plain),
            "whats_new": (self._log_and_diff, self._new_in_plain),
            "health": (self._log_and_diff, self._new_in_plain),
            "journal_tail": (self._blame, self._new_in_plain),
            "append, add and commit": (self._commit_plain, lambda: None),
        }
        act, prepare = ours[what]
        other, ready = theirs[what]
        return Side(act, lambda: self.server.cpu, 1, prepare), Side(other, cpu_of, 1, ready)

    def _entry(self, who: str) -> str:
        self.count += 1
        uid = hashlib.sha256(f"{self.top} {self.count}".encode()).hexdigest()[:12]
        return (
            f"## 2027-01-01 08:00 \N{EM DASH} {who} ({who[:3].capitalize()})\nNumber {self.count}.\n"
            f"<!-- cohabit:{uid} at={_when(2_000_000 + self.count, '%Y-%m-%dT%H:%M:%SZ')} -->\n\n"
        )

    # -- ours -------------------------------------------------------------------------------------
    def _push(self, name: str) -> None:
        remote = self.remotes[name]
        journal = subprocess.check_output(["git", "-C", remote, "show", "main:journal.md"], text=True)
        push_from_another_agent(remote, {"journal.md": journal + self._entry("eve-cli")})

    def _update_ours(self) -> None:
        self._push("ours")
        self.server.call("sync")

    def _commit_ours(self) -> None:
        self.server.call("journal_append", summary="From here.")
        self.server.call("add", paths=["journal.md"])
        self.server.call("commit", message="an entry")

    def _diverge_ours(self) -> None:
        self._commit_ours()
        self._push("ours")

    # -- git's ------------------------------------------------------------------------------------
    def _update_plain(self) -> None:
        self.plain.git("fetch", "--quiet", "origin")
        self.plain.git("merge", "--quiet", "--no-edit", "origin/main")

    def _new_in_plain(self) -> None:
        self.seen = self.plain.git("rev-parse", "HEAD")
        self._push("theirs")
        self._update_plain()

    def _log_and_diff(self) -> None:
        self.plain.git("log", "--name-only", f"{self.seen}..HEAD")
        self.plain.git("diff", f"{self.seen}..HEAD")

    def _blame(self) -> None:
        lines = (self.plain.clone / "journal.md").read_text(encoding="utf-8").count("\n")
        self.plain.git("blame", "--porcelain", "-L", f"{lines - TAIL_LINES},{lines}", "--", "journal.md")

    def _commit_plain(self) -> None:
        with (self.plain.clone / "journal.md").open("a", encoding="utf-8") as file:
            file.write(self._entry("ann-cowork"))
        self.plain.git("add", "--", "journal.md")
        self.plain.git("commit", "--quiet", "--message", "[bench] an entry")

    def _diverge_plain(self) -> None:
        self._commit_plain()
        self._push("theirs")

    def _sync_plain(self) -> None:
        self._update_plain()
        self.plain.git("push", "--quiet", "origin", "main")

    # -- a new process ----------------------------------------------------------------------------
    def first_call(self) -> float:
        """Seconds from the start of a server to the answer of its first ``whats_new``."""
        environ = neutral_environment(self.top) | {
            "COHABIT_AGENT_ID": Server.AGENT, "COHABIT_AGENT_NAME": "Bench", "COHABIT_AGENT_EMAIL": "bench@example.org",
        }  # fmt: skip
        asked = (
            b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "whats_new", "arguments": {}}}\n'
        )
        command = [sys.executable, "-m", "cohabit.workspace", "--home", str(self.top / "home")]
        began = time.perf_counter()
        subprocess.run(command, input=Server.HELLO + asked, env=environ, check=True, capture_output=True)
        return time.perf_counter() - began


KINDS = (
    "whats_new", "health", "journal_tail", "sync, one entry by another", "append, add and commit",
    "sync, entries on both sides",
)  # fmt: skip


def run(quick: bool) -> Report:
    report = Report("workspace-board", "A large board, against plain git", HOW)
    sizes = (2_000, 200) if quick else (20_000, 2_000)
    rounds = 1 if quick else 5
    with folder() as name, ExitStack() as stack:
        large, small = (Board(Path(name) / str(size), size, stack) for size in sizes)
        for what in KINDS:
            (ours, git), (less, _) = large.sides(what), small.sides(what)
            sides = {"git": git, "ours": ours, f"ours, {sizes[1]:,} entries": less}
            found = take_turns({name: side.round for name, side in sides.items()}, rounds)
            cpus = {name: side.cpus[1:] for name, side in sides.items()}  # without the warm-up round
            for side in sides:
                report.measure(f"{what}, {side}", found[side], "ms")
                report.measure(f"{what}, {side}: CPU", cpus[side], "CPU-ms")
            for kind, values in (("time", found), ("CPU", cpus)):
                peer, mine, tenth = ([max(each, 0.01) for each in values[side]] for side in sides)
                goals = (None, None) if quick else (3.0, 12.0)
                report.ratio(f"board: {what}, ours over git: {kind}", quotients(mine, peer), goals[0], "at most")
                report.ratio(
                    f"board: {what}, ten times the entries: {kind}", quotients(mine, tenth), goals[1], "at most"
                )
        report.measure("a new process, start and whats_new", [large.first_call() for _ in range(rounds)], "s")
    return report
