"""Histories of real git in which agents of both tools, people and plain git work on one board.

Every item has a title of its own and every closing names the title that it was meant for, so a closing on another item,
an item that is there twice and a lost entry are found, whatever the clones do in which order.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.session import Session

from .conftest import NOON, Clock, copied
from .test_multisphere_files import Multisphere

AGENTS = ("ann", "bob")
"""Each has a clone with our tools; "eve" has one of plain git, without our merge driver, and uses Multisphere."""
TOOL = Multisphere("eve-cli", "Eve")
AGAIN = "remove and use its number again"
ACTS = ["add", "close", "close", "old add", "old close", AGAIN, AGAIN, "edit the body", "write", "old write", "sync", "sync"]  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(ACTS), st.sampled_from([*AGENTS, "eve"]), st.integers(0, 5)), min_size=4, max_size=16
)
EXAMPLES = int(os.environ.get("COHABIT_HISTORIES", "12"))
"""A run by hand tries more of them."""


class Histories:
    """A remote and its clones."""

    def __init__(self, folder: Path, seed: Path) -> None:
        self.folder, self.count = folder, 0
        self.remote = folder / "remote.git"
        shutil.copytree(seed / "remote.git", self.remote)
        self.now = Clock(NOON)
        self.sessions = {}
        for name in AGENTS:
            environ = {
                "HOME": str(folder / name),
                "COHABIT_AGENT_ID": f"{name}-cli",
                "COHABIT_AGENT_NAME": name.capitalize(),
                "COHABIT_AGENT_EMAIL": f"{name}@example.org",
            }
            self.sessions[name] = Session(folder / name / ".multisphere", environ, now=self.now)
            copied(seed, self.remote, self.sessions[name])
        self.git("clone", "-q", str(self.remote), str(self.root("eve")))
        for name in (*AGENTS, "eve"):
            for field, value in (("name", name), ("email", f"{name}@example.org")):
                self.git("-C", str(self.root(name)), "config", f"user.{field}", value)
        self.items: set[str] = set()
        self.entries: set[str] = set()
        self.doomed: set[str] = set()
        """Titles of items that somebody removed, or whose commit was dropped: they may be gone."""

    def root(self, name: str) -> Path:
        return self.folder / name / "board"

    def git(self, *args: str, ok: tuple[int, ...] = (0,)) -> int:
        done = subprocess.run(["git", *args], capture_output=True, text=True, check=False)
        assert done.returncode in ok, done.stderr
        return done.returncode

    def text(self, name: str, path: str) -> str:
        return (self.root(name) / path).read_text()

    def change(self, name: str, path: str, text: str) -> None:
        """Write and commit with plain git."""
        (self.root(name) / path).write_text(text)
        self.git("-C", str(self.root(name)), "commit", "-q", "-a", "-m", "by hand", ok=(0, 1))

    def new(self, kind: str) -> str:
        self.count += 1
        self.now.move(seconds=7)
        return f"{kind}{self.count:02}"

    def step(self, what: str, name: str, pick: int) -> None:
        inbox = Inbox.parse(self.text(name, "inbox.md"))
        numbers = [item.id for item in inbox.items]  # a merge by line may give a number twice
        open_ = [item for item in inbox.items if item.open and numbers.count(item.id) == 1]
        some = open_[pick % len(open_)] if open_ else None
        if what == "sync":
            self.sync(name)
        elif "add" in what:
            self.add(name, old="old" in what or name == "eve")
        elif "write" in what:
            self.write(name, old="old" in what or name == "eve")
        elif some is None:
            return
        elif "close" in what:
            self.close(name, some.id, some.title, old="old" in what or name == "eve")
        elif what == "edit the body" and name == "ann":  # two people who edit one body are a conflict
            text = inbox.text.replace(some.text, f"{some.text.rstrip()}\n  more\n\n")
            self.change(name, "inbox.md", text)
        elif what.startswith("remove"):
            last = max(open_, key=lambda item: item.number)
            self.doomed.add(last.title)
            self.change(name, "inbox.md", inbox.text.replace(last.text, ""))
            self.add(name, old=True)

    def add(self, name: str, *, old: bool) -> None:
        title = self.new("item")
        self.items.add(title)
        if old:
            self.change(name, "inbox.md", TOOL.add(self.text(name, "inbox.md"), title, "body", "anyone"))
        else:
            self.sessions[name].call("inbox_add", {"title": title, "body": "body"})
            self.git("-C", str(self.root(name)), "commit", "-q", "-a", "-m", "with a tool")

    def write(self, name: str, *, old: bool) -> None:
        summary = self.new("entry")
        self.entries.add(summary)
        if old:
            self.change(name, "journal.md", TOOL.append(self.text(name, "journal.md"), summary, "", ""))
        else:
            self.sessions[name].call("journal_append", {"summary": summary})
            self.git("-C", str(self.root(name)), "commit", "-q", "-a", "-m", "with a tool")

    def close(self, name: str, id_: str, title: str, *, old: bool) -> None:
        if old:
            self.change(name, "inbox.md", TOOL.close(self.text(name, "inbox.md"), id_, title))
        else:
            self.sessions[name].call("inbox_close", {"id": id_, "resolution": title})
            self.git("-C", str(self.root(name)), "commit", "-q", "-a", "-m", "with a tool")

    def sync(self, name: str) -> None:
        if name in self.sessions:
            answer = self.sessions[name].call("sync", {})
            assert "error" not in answer, answer
            return
        root = str(self.root(name))
        lost = self.titles(self.text(name, "inbox.md"))
        summaries = self.summaries(self.text(name, "journal.md"))
        conflicts = self.git("-C", root, "pull", "-q", "--no-rebase", "--no-edit", ok=(0, 1))
        if conflicts or self.closings_moved(name):
            # Plain git merges by line. That conflicts, or tears an item apart: a person gives up what only this clone has.
            self.git("-C", root, "reset", "-q", "--hard", "@{upstream}")
            self.doomed |= lost - self.titles(self.text(name, "inbox.md"))
            self.entries -= summaries - self.summaries(self.text(name, "journal.md"))
        self.git("-C", root, "push", "-q", ok=(0, 1))

    def closings_moved(self, name: str) -> set[str]:
        """The titles of items with a closing that was meant for another one."""
        found = Inbox.parse(self.text(name, "inbox.md")).items
        return {item.title for item in found if {closing.resolution for closing in item.closings} - {item.title}}

    @staticmethod
    def titles(text: str) -> set[str]:
        return {item.title for item in Inbox.parse(text).items}

    @staticmethod
    def summaries(text: str) -> set[str]:
        return set(re.findall(r"^entry\d\d$", text, re.MULTILINE))

    def check(self, name: str) -> None:
        inbox, journal = self.text(name, "inbox.md"), self.text(name, "journal.md")
        found = Inbox.parse(inbox).items
        titles = [item.title for item in found]
        assert len(titles) == len(set(titles)), f"{name} has an item twice:\n{inbox}"
        assert not self.closings_moved(name), f"a closing moved in the clone of {name}:\n{inbox}"
        summaries = [block.entry.summary for block in Journal.parse(journal).blocks if block.entry]
        assert len(summaries) == len(set(summaries)), f"{name} has an entry twice:\n{journal}"

    def finish(self) -> None:
        for name in (*AGENTS, "eve", *AGENTS, *AGENTS):
            self.sync(name)
            self.check(name)
        texts = {(self.text(name, "inbox.md"), self.text(name, "journal.md")) for name in AGENTS}
        assert len(texts) == 1
        ((inbox, journal),) = texts
        assert self.items - self.doomed <= self.titles(inbox)
        assert self.entries <= self.summaries(journal)

    def close_sessions(self) -> None:
        for session in self.sessions.values():
            session.close()


@settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(STEPS)
@example([("add", "ann", 0), (AGAIN, "ann", 0), ("sync", "ann", 0), ("close", "eve", 0), ("sync", "eve", 0)])
def test_a_closing_never_moves_and_nothing_is_doubled_or_lost_in_any_history(
    seed: Path, steps: list[tuple[str, str, int]]
) -> None:
    with TemporaryDirectory() as folder:
        board = Histories(Path(folder), seed)
        try:
            board.add("eve", old=True)
            for name in ("eve", *AGENTS):  # everybody has an item without an id
                board.sync(name)
            for what, name, pick in steps:
                board.step(what, name, pick)
                board.check(name)
            board.finish()
        finally:
            board.close_sessions()
