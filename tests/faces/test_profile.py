"""One call over the WebSocket, by profile: how many of our files it passes through, and how often it enters each."""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from websockets.asyncio.client import connect as ws_connect

import cohabit

from .serving import served

SRC = str(Path(cohabit.__file__).parent)
MAX_FILES, MAX_ENTRIES = 17, 3


@contextmanager
def entries() -> Iterator[Counter[str]]:
    """How often each of our files is entered from another one, on the thread of the event loop."""
    found: Counter[str] = Counter()

    def look(frame: FrameType, event: str, arg: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(SRC) and frame.f_code.co_name != "<module>":
            caller = frame.f_back.f_code.co_filename if frame.f_back is not None else ""
            if caller != file:
                found[file.removeprefix(SRC + "/")] += 1

    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)


async def test_one_move_over_the_websocket_passes_at_most_17_of_our_files_and_enters_none_more_than_three_times() -> (
    None
):
    async with served(world="tictactoe") as den:
        headers = {"authorization": f"Bearer {den.tokens['ann']}"}
        other = {"authorization": f"Bearer {den.tokens['bob']}"}
        async with (
            ws_connect(den.ws, additional_headers=headers) as ann,
            ws_connect(den.ws, additional_headers=other) as bob,
        ):
            for turn, (who, cell) in enumerate([(ann, 0), (bob, 3), (ann, 1)]):
                frame = json.dumps({"id": turn, "command": "mark", "args": {"cell": cell}})
                with entries() as found:
                    await who.send(frame)
                    reply = json.loads(await who.recv())
                assert reply["ok"], reply
            assert len(found) <= MAX_FILES, sorted(found)
            assert max(found.values()) <= MAX_ENTRIES, found.most_common()
            assert {"house/clock.py" if file == "testing/clock.py" else file for file in found} == documented()


def documented() -> set[str]:
    """The files that `docs/design.md` names in its walk of a call, without those on the thread of the writer."""
    text = (Path(__file__).parents[2] / "docs" / "design.md").read_text()
    walk = text.split("### A call, step by step")[1].split("\n## ")[0]
    rows = [line for line in walk.splitlines() if line.startswith("| `") and "(on the writer's thread)" not in line]
    return {file for row in rows for file in re.findall(r"`([\w/]+\.py)`", row)}
