"""Make docs/images/run.svg: what `make run` prints, from a real run.

    python tools/terminal_picture.py

The tokens are shortened: a picture is no place to copy them from.
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
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "run.svg"
COMMAND = [str(Path(sys.executable).with_name("cohabit")), "up", "--demo", "--seed", "7"]
SECONDS = 6.0  # of play
COLUMNS = 134
FONT = re.compile(r"@font-face \{.*?\}", re.DOTALL)  # rich's template fetches fonts from elsewhere; ours do without


def printed() -> str:
    """What the program writes to a terminal, up to a few seconds of play."""
    with tempfile.TemporaryDirectory() as data:
        child, terminal = pty.fork()
        if child == 0:
            os.environ["COHABIT_DATA"] = data
            os.execv(COMMAND[0], COMMAND)
        text, opened = b"", False
        ends = time.monotonic() + 60
        while (left := ends - time.monotonic()) > 0:
            if select.select([terminal], [], [], left)[0]:
                text += os.read(terminal, 65536)
                if b"is open" in text and not opened:
                    opened = True
                    ends = time.monotonic() + SECONDS
        os.kill(child, signal.SIGINT)
        os.waitpid(child, 0)
    return text.decode().replace("\r\n", "\n")


def main() -> None:
    text = re.sub(r"\b([A-Za-z0-9]{6})[A-Za-z0-9]{42}\b", r"\1…", printed())
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ make run", "bold"))
    console.print(Text.from_ansi(text))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(FONT.sub("", console.export_svg(title="make run")))
    print(f"{PICTURE.name}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
