"""The shared board of `examples/shared_board`: a page on another server, used by people and an agent."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from . import forks

EXAMPLE = Path(__file__).parent.parent / "examples" / "shared_board"
MARKUP = "<img src=x onerror=document.title='hacked'>"


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None: ...


@contextmanager
def page_server() -> Iterator[str]:
    """A web server that has nothing to do with the house."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(EXAMPLE)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COHABIT_", "WORLDBOX_"))}
    return kept | {"HOME": str(home), "PYTHONUNBUFFERED": "1"}


@contextmanager
def board_room(home: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """A real house with the room of the example: its address, and the tokens it shows."""
    words = [*forks.command(), "up", str(EXAMPLE / "board.json"), "--data", "house", "--port", "0", "--links"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=home, env=environment(home)) as house:
        try:
            assert house.stdout is not None
            tokens: dict[str, str] = {}
            url = ""
            for line in house.stdout:
                if found := re.match(r"(host|board|ann|bee) .* ([\w-]{48})$", line):
                    tokens[found[1]] = found[2]
                if found := re.match(r"The house is open: (\S+)", line):
                    url = found[1]
                    break
            yield url, tokens
        finally:
            house.terminate()


@pytest.fixture
def pages(need: Callable[[str], Path]) -> Iterator[Callable[[str], Page]]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need("chromium"), args=["--no-sandbox"])
        wrong: list[str] = []

        def opened(address: str) -> Page:
            page = browser.new_page()
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.goto(address)
            return page

        yield opened
        browser.close()
        assert wrong == []


def test_people_and_an_agent_share_a_board_that_the_house_knows_nothing_of(
    tmp_path: Path, pages: Callable[[str], Page]
) -> None:
    with board_room(tmp_path) as (url, tokens), page_server() as web:

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(words, capture_output=True, text=True, timeout=200, env=environment(tmp_path))

        board = pages(f"{web}/?house={url}#{tokens['board']}")
        expect(board.get_by_role("status")).to_have_text("this page keeps the board")
        ann = pages(f"{web}/?house={url}#{tokens['ann']}")
        expect(ann.get_by_role("status")).to_have_text("connected")
        assert tokens["ann"] not in ann.url

        ann.get_by_label("Text of a new note").fill(MARKUP)
        ann.get_by_label("Color").select_option("pink")
        ann.get_by_role("button", name="Add").click()
        for page in (board, ann):
            expect(page.locator(".note.pink")).to_contain_text(MARKUP)
            expect(page.locator(".note footer span")).to_have_text("Ann")
            assert page.title() == "Shared board"

        agent = [sys.executable, str(EXAMPLE / "agent.py"), url, tokens["bee"]]
        refused = run(*agent)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("refused: ")
        may = json.dumps(["act"])
        call = [*forks.command(), "call", "widen", "member=bee", f"may={may}", "--url", url, "--room", "board"]
        assert run(*call, "--token", tokens["host"]).returncode == 0
        done = run(*agent)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "ok: the board shows the note “I see 1 note by Ann.”\n"
        for page in (board, ann):
            expect(page.locator(".note")).to_have_count(2)
            expect(page.locator(".note").nth(1)).to_contain_text("I see 1 note by Ann.")

        ann.locator(".note").first.drag_to(ann.locator("#board"), target_position={"x": 600, "y": 300})
        expect(board.locator(".note").first).not_to_have_attribute("style", re.compile("left: 3%"))
        ann.locator(".note").first.get_by_role("button", name="remove").click()
        expect(board.locator(".note")).to_have_count(1)

        board.close()  # the next page that keeps the board finds it as it was
        again = pages(f"{web}/?house={url}#{tokens['board']}")
        expect(again.locator(".note")).to_contain_text("I see 1 note by Ann.")
        ann.get_by_label("Text of a new note").fill("still here")
        ann.get_by_role("button", name="Add").click()
        for page in (again, ann):
            expect(page.locator(".note")).to_have_count(2)
