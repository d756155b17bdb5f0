"""Make pictures of the terminal, from real runs: docs/images/run.svg and docs/images/workspace.svg.

    python tools/terminal_picture.py [run|workspace]

The tokens are shortened, because they cannot be copied from a picture.
"""

import io
import os
import pty
import re
import select
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cohabit.workspace.session import Session

PICTURES = Path(__file__).parent.parent / "docs" / "images"
COHABIT = str(Path(sys.executable).with_name("cohabit"))
SECONDS = 6.0  # of play
FONT = re.compile(r"@font-face \{.*?\}", re.DOTALL)  # rich's template loads fonts from a server; ours does not


def printed(words: Sequence[str], environ: Mapping[str, str], ends_after: bytes = b"") -> str:
    """The terminal output of a program until it ends, or until a few seconds after it wrote ``ends_after``."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(COHABIT, [COHABIT, *words], {**os.environ, **environ})
    text, seen = b"", False
    ends = time.monotonic() + 60
    while (left := ends - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:  # the program has ended
                break
            if ends_after and ends_after in text and not seen:
                seen = True
                ends = time.monotonic() + SECONDS
    else:
        os.kill(child, signal.SIGINT)
    os.waitpid(child, 0)
    return text.decode().replace("\r\n", "\n")


def draw(name: str, columns: int, shown: Sequence[tuple[str, str]]) -> None:
    """A picture of commands and of what they print."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    for command, text in shown:
        console.print(Text(f"$ {command}", "bold"))
        console.print(Text.from_ansi(re.sub(r"\b([A-Za-z0-9]{6})[A-Za-z0-9]{42}\b", r"\1…", text)))
    PICTURES.mkdir(exist_ok=True)
    picture = PICTURES / f"{name}.svg"
    picture.write_text(FONT.sub("", console.export_svg(title=shown[0][0])))
    print(f"{picture.name}: {picture.stat().st_size:,} bytes")


def run() -> None:
    """The output of `make run` where the embedded model is not installed, as after `git clone`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text("import sys\nsys.modules['xllamacpp'] = None\n")
        environ = {
            "COHABIT_DATA": f"{folder}/house",
            "PYTHONPATH": os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")])),
        }
        text = printed(["up", "--demo", "--model-room"], environ, ends_after=b"is open")
    draw("run", 134, [("make run", text)])


def workspace() -> None:
    """The board as Ann sees it when she returns to a board that others have changed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / ".gitconfig").write_text("[user]\nname = Ann Smith\nemail = ann@example.org\n")
        _work(home)
        environ = {"HOME": folder, "COLUMNS": "104"}
        shown = [
            (" ".join(["cohabit workspace", *words]), printed(["workspace", *words], environ))
            for words in (["sync"], ["new"], ["inbox", "claim", "INB-003"], ["log", "-n", "4"])
        ]
    draw("workspace", 104, shown)


def _work(home: Path) -> None:
    """Ann made the board yesterday; Mike and Eve were there this morning."""

    def agent(name: str, client: str, hours: float) -> Session:
        who = {"ID": f"{name}-{client}", "NAME": name.capitalize(), "EMAIL": f"{name}@example.org"}
        environ = {"HOME": str(home)} | {f"COHABIT_AGENT_{key}": value for key, value in who.items()}
        now = datetime.now(UTC).astimezone() - timedelta(hours=hours)
        settings = ".multisphere" if name == "ann" else f"{name}.settings"
        return Session(home / settings, environ, now=lambda: now)

    def share(session: Session, summary: str) -> None:
        session.call("journal_append", {"summary": summary})
        session.call("add", {"paths": ["."]})
        session.call("commit", {"message": summary})
        session.call("push", {})
        session.close()

    for name, client, hours in (("ann", "cli", 26), ("mike", "claude-code", 3), ("eve", "cursor", 1)):
        session = agent(name, client, hours)
        folder = home / ("deck" if name == "ann" else f"{name}-deck")
        place = {"name": "deck", "remote_url": str(home / "deck.git"), "local_path": str(folder), "create": True}
        session.call("workspace_init", place)
        if name == "ann":
            session.call("inbox_add", {"title": "Comps for slide 6", "for": "mike-claude-code"})
            session.call("whats_new", {})
            share(session, "Began the deck.")
        elif name == "mike":
            session.call("write", {"path": "research/comps.md", "content": "# Comps\n"})
            session.call("inbox_close", {"id": "INB-001", "resolution": "in `research/comps.md`"})
            question = {
                "title": "Seed or Series A?",
                "body": "I have both; slide 6 has room for one.",
                "for": "ann-cli",
            }
            session.call("inbox_add", question)
            share(session, "Comps are in research/; INB-002 asks which we show.")
        else:
            session.call("write", {"path": "drafts/deck.md", "content": "# Deck\n"})
            session.call("inbox_add", {"title": "Read slides 1 to 3"})
            share(session, "Drafted slides 1 to 3.")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("run", "workspace"):
        {"run": run, "workspace": workspace}[name]()
