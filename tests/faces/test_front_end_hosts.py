"""The same documents in an independent host: the AppBridge of `@modelcontextprotocol/ext-apps`, in a browser, over MCP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = [pytest.mark.browser, pytest.mark.node]
FRONT_ENDS = Path(__file__).parent / "front_ends"


class Files(SimpleHTTPRequestHandler):
    """The host's own two files, and the packages."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".js": "text/javascript"}

    def __init__(self, *args: Any, packages: Path, **how: Any) -> None:
        self._packages = packages
        super().__init__(*args, **how)

    def translate_path(self, path: str) -> str:
        if path.startswith("/node_modules/"):
            return str(self._packages / path.removeprefix("/node_modules/"))
        return str(FRONT_ENDS / Path(path).name)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def host(need: Callable[[str], Path]) -> Iterator[str]:
    """The address of the independent host: another origin than that of the house."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, packages=need("mcp_apps")))
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def house(host: str, tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path, mcp=True, allowed_origins=host)
    running.start()
    try:
        yield running
    finally:
        running.stop()


def member(name: str, seat: int, **how: Any) -> AgentSpec:
    return AgentSpec(id=name, kind="human", role="human", claim=f"auto:{seat}", token=token(name), **how)


def shown_in(host: str, house: Running, who: str) -> str:
    """The host with the table of a member."""
    return f"{host}/host.html#" + quote(f"http://127.0.0.1:{house.port}/mcp/table {token(who)}")


def document(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def test_tic_tac_toe_is_played_to_its_end_in_an_independent_host(host: str, house: Running, visit: Visit) -> None:
    house.open(Scenario(scenario="t", world="tictactoe", seed=1, agents=[member("ann", 0), member("bob", 1)]))
    page = visit(shown_in(host, house, "ann"))
    for mine, theirs in ((0, 3), (1, 4)):
        document(page).get_by_role("button", name=f"cell {mine}, free").click()
        expect(document(page).get_by_role("status")).to_have_text("Waiting for bob.")
        house.call("bob", "mark", cell=theirs)
    document(page).get_by_role("button", name="cell 2, free").click()
    expect(document(page).get_by_role("status")).to_have_text("You win!")
    expect(page.locator("#state")).to_have_text("initialized")
    assert set(page.evaluate("called")) == {"next_view", "mark"}
    assert house.call("bob", "view").over


@pytest.mark.soak
def test_a_hand_of_whist_is_played_to_its_end_in_an_independent_host(host: str, house: Running, visit: Visit) -> None:
    bots = [
        AgentSpec(id=name, role="player", claim=f"auto:{i}", brain="whist")
        for i, name in enumerate(("pat", "alex", "robin"), 1)
    ]
    house.open(Scenario(scenario="t", world="whist", seed=1, agents=[member("ann", 0), *bots]))
    page = visit(shown_in(host, house, "ann"))
    for left in range(13, 0, -1):
        expect(document(page).locator("#hand button")).to_have_count(left)
        document(page).locator("#felt").click(position={"x": 40, "y": 40})  # do not look at the last trick any longer
        document(page).locator("#hand button:enabled").first.click()
    expect(document(page).locator("#news")).to_contain_text("Hand 1: ")
    expect(document(page).locator("#verdicts")).to_have_text("Hand 1 ✔")
    assert set(page.evaluate("called")) == {"next_view", "cut", "reveal", "play", "deals"}
    (deal,) = house.call("ann", "deals")
    assert deal.proof.commitments[0] is not None
