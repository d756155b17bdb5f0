"""A repository as if several agents had shared it for years; it is always the same for the same size.

It has notes of about 2 kB in the folders of the message board, a journal and an inbox that grow and are archived, and
one small change per commit. It is made with ``git fast-import``, packed by ``git gc``, and kept in ``build/``.
"""

import random
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.common import ROOT

AGENTS = ("ann-cowork", "ben-claude-code", "cleo-cli", "dan-cowork")
BEGIN = datetime(2024, 1, 1, 8, tzinfo=UTC)
FOLDERS = ("research", "drafts", "comments", "decisions")
NOTE = 2_000
ENTRIES = 200
"""Entries after which the journal is archived."""
COMMON, RARE = "market", "zirconium"
"""Words in every third note, and in every hundredth."""
VERSION = 1
"""Of this file; when it changes, a new repository is made."""


@dataclass
class History:
    """Makes one commit after the other; ``files`` is the current tree."""

    chance: random.Random
    count: int
    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    entries: int = 0
    items: int = 0

    def __post_init__(self) -> None:
        letters = "etaoinshrdlu" * 3 + "cmfwypvbgkjqxz"
        pick = self.chance
        self.words = ["".join(pick.choices(letters, k=pick.randint(2, 10))) for _ in range(5_000)]

    def line(self) -> str:
        return " ".join(self.chance.choices(self.words, k=9))

    def note(self, number: int) -> str:
        lines = [f"# Note {number}", ""]
        while sum(map(len, lines)) < NOTE:
            lines.append(self.line())
        if number % 3 == 0:
            lines.insert(9, f"{self.line()} {COMMON} {self.line()}")
        if number % 100 == 0:
            lines.insert(5, f"the share of {RARE} in it")
        return "\n".join(lines) + "\n"

    def step(self, number: int, of: int) -> dict[str, str]:
        """The files that commit ``number`` writes."""
        if number == 0:
            return {
                "journal.md": "# Journal\n\n",
                "inbox.md": "# Inbox\n\n## Open\n\n## Closed\n",
                "README.md": "# Board\n",
            }
        if len(self.notes) * of < self.count * (number + 1):
            made = len(self.notes)
            path = f"{FOLDERS[made % len(FOLDERS)]}/{made // 4 % 50:02}/note-{made:05}.md"
            self.notes.append(path)
            return {path: self.note(made)}
        kind = number % 10
        if kind == 3:
            return self._journal(number)
        if kind == 7:
            return self._inbox(number)
        path = self.chance.choice(self.notes)
        return {path: f"{self.files[path]}{self.line()}\n"}

    def _journal(self, number: int) -> dict[str, str]:
        stamp = f"{_when(number):%Y-%m-%d %H:%M}"
        who = AGENTS[number % len(AGENTS)]
        entry = (
            f"## {stamp} \N{EM DASH} {who} ({who[:3].capitalize()})\n{self.line()}\n\nTODO @anyone: {self.line()}\n\n"
        )
        self.entries += 1
        if self.entries % ENTRIES:
            return {"journal.md": self.files["journal.md"] + entry}
        archive = f"journal-archive/{_when(number):%Y-%m}.md"
        old = self.files["journal.md"].removeprefix("# Journal\n\n")
        return {archive: self.files.get(archive, "# Journal\n\n") + old, "journal.md": f"# Journal\n\n{entry}"}

    def _inbox(self, number: int) -> dict[str, str]:
        """A new item; of the open ones the oldest leaves when there are many."""
        self.items += 1
        head, *items = self.files["inbox.md"].partition("\n\n## Closed")[0].split("\n\n- [ ] ")
        who = AGENTS[number % len(AGENTS)]
        title = f"INB-{self.items:03} @{who} \N{EM DASH} {self.line()}  "
        text = f"{title}\n  added {_when(number):%Y-%m-%d %H:%M} by {AGENTS[0]}"
        items = [*items[-40:], text]
        return {"inbox.md": head + "".join(f"\n\n- [ ] {item}" for item in items) + "\n\n## Closed\n"}


def _when(number: int) -> datetime:
    return BEGIN + timedelta(minutes=37 * number)


def _stream(commits: int, files: int) -> Iterator[bytes]:
    history = History(random.Random(7), files)
    for number in range(commits):
        written = history.step(number, commits)
        history.files |= written
        who = AGENTS[number % len(AGENTS)]
        person = f"{who[:3].capitalize()} <{who}@example.org> {int(_when(number).timestamp())} +0000"
        message = f"[{who}] {history.line()}\n\nAgent: {who}\n".encode()
        yield f"commit refs/heads/main\nauthor {person}\ncommitter {person}\ndata {len(message)}\n".encode() + message
        for path, text in written.items():
            data = text.encode()
            yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def made(commits: int, files: int) -> Path:
    """The bare repository; it is made if it does not exist."""
    return imported(ROOT / "build" / f"bench-workspace-{VERSION}-{commits}-{files}.git", _stream(commits, files))


def imported(place: Path, stream: Iterable[bytes]) -> Path:
    """The bare repository at this place; if it does not exist, it is made by ``git fast-import`` from the stream."""
    if place.exists():
        return place
    draft = place.with_suffix(".draft")
    shutil.rmtree(draft, ignore_errors=True)
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", draft], check=True)
    with subprocess.Popen(["git", "-C", draft, "fast-import", "--quiet"], stdin=subprocess.PIPE) as importing:
        assert importing.stdin is not None
        importing.stdin.writelines(stream)
    if importing.returncode:
        raise RuntimeError("git fast-import failed; see its messages above")
    subprocess.run(["git", "-C", draft, "gc", "--quiet"], check=True)
    return draft.rename(place)


def push_from_another_agent(remote: Path, files: dict[str, str]) -> None:
    """Add a commit of another agent to a bare repository, without a clone."""
    person = "Eve <eve@example.org> now"
    parts = [
        f"commit refs/heads/main\nauthor {person}\ncommitter {person}\ndata 9\n[eve] new\nfrom refs/heads/main^0\n"
    ]
    parts += [f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n" for path, text in files.items()]
    command = ["git", "-C", str(remote), "fast-import", "--quiet", "--date-format=now"]
    subprocess.run(command, input="".join(parts).encode(), check=True)
