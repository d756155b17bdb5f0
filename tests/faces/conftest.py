"""A house with a page, and a browser to open it with."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright

from .page import Running, Visit, table

WAIT_MS = 120_000
"""How long an action in a tab may take: a machine may be busy with other things."""


@pytest.fixture
def empty_house(tmp_path: Path) -> Iterator[Running]:
    """A house without rooms."""
    running = Running(tmp_path / "data")
    running.start()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def house(empty_house: Running) -> Running:
    """A house with a game for people and agents."""
    empty_house.open(table())
    return empty_house


@pytest.fixture(scope="module")
def browser(need: Callable[[str], Path]) -> Iterator[Browser]:
    flags = [
        "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
        "--renderer-process-limit=1",
    ]  # fmt: skip
    expect.set_options(timeout=60_000)  # a machine may be busy with other tests
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need("chromium"), args=flags)
        yield browser
        browser.close()


class People:
    """A tab for each visitor of a test, without anything of another visitor.

    Tests one after another use the same ones, since most of the work of a visit is to start the process of its tab. They
    see nothing of each other: each house has an address of its own, and the page keeps nothing but tokens
    (`test_the_page_keeps_nothing_but_tokens`).
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._tabs: list[Page] = []

    def tab(self, number: int) -> Page:
        while len(self._tabs) <= number:
            tab = self._browser.new_context().new_page()
            tab.set_default_timeout(WAIT_MS)
            self._tabs.append(tab)
        return self._tabs[number]


@pytest.fixture(scope="module")
def people(browser: Browser) -> People:
    return People(browser)


@pytest.fixture
def visit(browser: Browser, people: People) -> Iterator[Visit]:
    """Opens a tab. The test fails if a script fails in it, or the content security policy is violated.

    What a test changes in its tab by ``prepare``, or by options of the browser, ends with the test.
    """
    wrong: list[str] = []
    used: list[Page] = []
    contexts: list[BrowserContext] = []
    numbers = itertools.count()

    def failed(error: Error) -> None:
        wrong.append(str(error))

    def wrote(said: ConsoleMessage) -> None:
        if _is_wrong(said):
            wrong.append(said.text)

    def open_tab(url: str, prepare: Callable[[Page], None] | None = None, **how: Any) -> Page:
        if how or prepare is not None:
            contexts.append(browser.new_context(**how))
            page = contexts[-1].new_page()
            page.set_default_timeout(WAIT_MS)
        else:
            page = people.tab(next(numbers))
            used.append(page)
        page.on("pageerror", failed)
        page.on("console", wrote)
        if prepare is not None:
            prepare(page)
        page.goto(url)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    for page in used:
        page.goto("about:blank")
        page.remove_listener("pageerror", failed)
        page.remove_listener("console", wrote)
    assert wrong == []


def _is_wrong(said: ConsoleMessage) -> bool:
    if said.location["url"].endswith("/api/join") and re.search("status of 40[013]", said.text):  # a visitor is refused
        return False
    return said.type in ("error", "warning") and not said.text.startswith(
        "WebSocket connection to"
    )  # the house is down
