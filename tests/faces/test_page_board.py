"""The board of a workspace on the page, in a real browser, against a real house and real git."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from cohabit.scenario import AgentSpec, Scenario

from .page import Running, Visit, token

pytestmark = pytest.mark.browser
ROOM = "deck"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
DRAFT = """\
# Oven-fresh robots

Bakers **retire**, see `research/market.md` and [the census](https://example.org/census).

- [x] why now
- [ ] market

| year | bakeries |
|---|---|
| 2025 | 41,000 |

<script>alert(1)</script> <img src=x onerror=alert(2)> [do not](javascript:alert(3))
<!-- cohabit:k3x9 at=2026-05-22T12:30:05Z -->
"""


@pytest.fixture
def deck(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path)
    running.start()
    try:
        running.open(
            Scenario(
                scenario="workspace",
                world="workspace",
                agents=[
                    AgentSpec(id="ann", role="player", claim="auto:0", token=token("ann")),
                    AgentSpec(id="bob", role="player", claim="auto:1", token=token("bob")),
                    AgentSpec(id="pip", role="agent", token=token("pip")),
                    AgentSpec(id="hal", kind="human", role="host", token=token("hal")),
                ],
            ),
            ROOM,
        )
        yield running
    finally:
        running.stop()


def drop(deck: Running, who: str, summary: str, **files: str) -> None:
    """Write files, add a journal entry and push."""
    deck.call(who, "sync", ROOM)
    for path, content in files.items():
        deck.call(who, "write", ROOM, path=path, content=content)
    deck.call(who, "journal_append", ROOM, summary=summary)
    deck.call(who, "add", ROOM, paths=["."])
    deck.call(who, "commit", ROOM, message=summary)
    assert deck.call(who, "push", ROOM)["ok"]


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def test_a_watcher_sees_the_board_and_what_is_pushed_appears_without_a_reload(deck: Running, visit: Visit) -> None:
    drop(deck, "ann", "Wrote the *first* draft", **{"drafts/deck.md": DRAFT})
    page = visit(deck.link("pip", ROOM))
    journal, inbox, files = (part(page, name) for name in ("Journal", "Inbox", "Files"))
    expect(journal).to_contain_text("Wrote the first draft")
    expect(inbox).to_contain_text("No open items.")
    expect(files.get_by_role("button", name="deck.md")).to_be_visible()

    deck.call("bob", "inbox_add", ROOM, title="Read it, please", **{"for": "ann"})
    drop(deck, "bob", "Found a number", **{"research/market.md": "41,000"})
    expect(journal.get_by_role("listitem").first).to_contain_text("Found a number")
    expect(inbox).to_contain_text("INB-001 Read it, please")
    expect(inbox).to_contain_text("@ann")
    expect(files.get_by_role("button", name="market.md")).to_be_visible()

    deck.call("ann", "sync", ROOM)
    deck.call("ann", "claim", ROOM, id="INB-001")
    expect(inbox).to_contain_text("claimed by ann")
    deck.call("ann", "inbox_close", ROOM, id="INB-001", resolution="done")
    drop(deck, "ann", "Read it")
    expect(inbox).to_contain_text("No open items.")
    inbox.get_by_text("1 closed").click()
    expect(inbox).to_contain_text("Read it, please")


def test_a_file_is_shown_as_formatted_text_and_nothing_in_it_runs(deck: Running, visit: Visit) -> None:
    drop(deck, "ann", "Wrote the draft", **{"drafts/deck.md": DRAFT})
    page = visit(deck.link("hal", ROOM), lambda page: page.on("dialog", lambda dialog: pytest.fail("a script ran")))
    page.get_by_role("button", name="deck.md").click()
    reader = page.get_by_role("article")
    expect(reader.get_by_role("heading", name="Oven-fresh robots")).to_be_visible()
    expect(reader.locator("strong")).to_have_text("retire")
    expect(reader.get_by_role("checkbox").first).to_be_checked()
    expect(reader.get_by_role("cell", name="41,000")).to_be_visible()
    expect(reader).to_contain_text("<script>alert(1)</script>")
    expect(reader).not_to_contain_text("cohabit:")
    links = reader.get_by_role("link")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://example.org/census")
    expect(links).to_have_attribute("rel", "noopener noreferrer nofollow")

    drop(deck, "bob", "Shortened it", **{"drafts/deck.md": "# Robots\n"})  # an open file stays open, and up to date
    expect(reader.get_by_role("heading", name="Robots", exact=True)).to_be_visible()
    reader.get_by_role("button", name="Close").click()
    expect(reader).to_be_hidden()
    expect(page.get_by_role("button", name="deck.md")).to_be_focused()


def test_a_long_file_is_loaded_page_by_page_and_a_picture_is_shown(deck: Running, visit: Visit) -> None:
    deck.call("ann", "write", ROOM, path="assets/dot.png", content=PIXEL, encoding="base64")
    deck.call(
        "ann",
        "write",
        ROOM,
        path="assets/dot.bin",
        content=base64.b64encode(b"\xff\xfe\x00").decode(),
        encoding="base64",
    )
    drop(deck, "ann", "Much text", **{"research/long.txt": "line\n" * 20_000 + "the end"})
    page = visit(deck.link("pip", ROOM))
    page.get_by_role("button", name="long.txt").click()
    reader = page.get_by_role("article")
    expect(reader).not_to_contain_text("the end")
    reader.get_by_role("button", name="Load more").click()
    expect(reader).to_contain_text("the end")
    page.get_by_role("button", name="dot.png").click()
    expect(reader.get_by_role("img", name="assets/dot.png")).to_be_visible()
    page.get_by_role("button", name="dot.bin").click()
    expect(reader).to_contain_text("This is a binary file (3 B).")


def push(deck: Running, where: Path, **files: str) -> None:
    """A push with plain git; the house sees it with the next drop."""
    env = {"PATH": os.environ["PATH"], "HOME": str(where.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=m", "-c", "user.email=m@example.org")
    shared = deck.folder / "workspaces" / f"{ROOM}.git"
    subprocess.run(["git", "clone", "--quiet", shared, where], env=env, check=True)
    for path, content in files.items():
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        (where / path).write_text(content)
    for did in (["add", "--all"], [*who, "commit", "--quiet", "-m", "x"], ["push", "--quiet", "origin", "HEAD"]):
        subprocess.run(["git", *did], cwd=where, env=env, check=True)


@pytest.mark.soak
def test_a_large_board_shows_the_newest_entries_a_part_of_each_folder_and_links_to_the_rest(
    deck: Running,
    visit: Visit,
    tmp_path: Path,
) -> None:
    drop(deck, "ann", "The first entry", **{"drafts/deck.md": DRAFT})
    items = "".join(f"- [ ] INB-{n:03d} @anyone — item number {n}\n\n" for n in range(1, 151))
    head = "## 2026-05-22 14:30 — mal (M)\nentry\n\n"
    todos = "".join(f"TODO @anyone: look {n}\n" for n in range(60))
    files = {f"assets/{n:04d}.png": PIXEL for n in range(1200)}
    push(deck, tmp_path / "plain", **files, **{
        "inbox.md": f"# Inbox\n\n## Open\n\n{items}## Closed\n",
        "journal.md": f"# Journal\n\n{head * 30}{head}{todos}\n",
        "constructor/x.constructor": "x",
    })  # fmt: skip
    drop(deck, "ann", "The last entry")
    page = visit(deck.link("pip", ROOM))
    journal, inbox, shown = (part(page, name) for name in ("Journal", "Inbox", "Files"))
    expect(inbox.get_by_role("listitem").first).to_contain_text("INB-150 item number 150")
    expect(inbox).to_contain_text("… and 50 more in inbox.md")
    expect(journal).to_contain_text("… and 12 more in journal.md")
    expect(journal).to_contain_text("… and 10 more")
    expect(shown.get_by_role("button", name="deck.md")).to_be_visible()
    expect(shown).to_contain_text("assets (1200)")
    expect(shown).to_contain_text("… and 900 more")
    expect(shown).to_contain_text("constructor (1)")
    inbox.get_by_role("button", name="inbox.md").click()
    reader = page.get_by_role("article")
    expect(reader).to_contain_text("INB-001 @anyone — item number 1")
    reader.get_by_role("button", name="Close").click()
    expect(inbox.get_by_role("button", name="inbox.md")).to_be_focused()
    shown.get_by_text("Other files").click()
    shown.get_by_role("button", name="journal.md").click()
    expect(reader.get_by_role("heading", name="journal.md")).to_be_visible()


@pytest.mark.soak
def test_a_push_of_others_does_not_disturb_the_reader_of_a_long_file(deck: Running, visit: Visit) -> None:
    long = "".join(f"line {n} of a long file {'and so on ' * 20}\n\n" for n in range(700))
    drop(deck, "ann", "Much text", **{"drafts/long.md": long + "the end"})
    page = visit(deck.link("pip", ROOM))
    page.get_by_role("button", name="long.md").click()
    reader, body = page.get_by_role("article"), page.locator(".reader .page")
    for n in (400, 699):
        reader.get_by_role("button", name="Load more").click()
        expect(body).to_contain_text(f"line {n} of")
    body.evaluate("body => { body.scrollTop = 5000; body.firstChild.id = 'not-redrawn'; }")

    drop(deck, "bob", "Something else", **{"drafts/other.md": "x"})
    expect(page.get_by_role("button", name="other.md")).to_be_visible()
    drop(deck, "bob", "And more", **{"drafts/more.md": "x"})  # shown after the open file was loaded again
    expect(page.get_by_role("button", name="more.md")).to_be_visible()
    assert page.locator("#not-redrawn").count() == 1
    assert body.evaluate("body => body.scrollTop") == 5000

    drop(deck, "bob", "Another end", **{"drafts/long.md": long + "the new end"})
    expect(body).to_contain_text("the new end")
    assert page.locator("#not-redrawn").count() == 0
    assert body.evaluate("body => body.scrollTop") == 5000


@pytest.mark.soak
def test_a_file_of_very_many_lines_opens_and_bidirectional_characters_in_a_name_are_escaped(
    deck: Running,
    visit: Visit,
    tmp_path: Path,
) -> None:
    drop(deck, "ann", "Nothing yet")
    tricky = "drafts/invoice-\u202efdp.md"
    push(deck, tmp_path / "plain", **{tricky: "a\n" * 300_000, "research/list.md": "- a\n" * 100_000})
    drop(deck, "ann", "Look at it")
    page = visit(deck.link("pip", ROOM))
    page.get_by_role("button", name=r"invoice-\u202efdp.md").click()
    reader, body = page.get_by_role("article"), page.locator(".reader .page")
    expect(reader.get_by_role("heading", name=r"drafts/invoice-\u202efdp.md")).to_be_visible()
    assert body.evaluate("body => body.textContent.replaceAll(/\\s/g, '').length") == 32 * 1024
    assert body.evaluate("body => Math.max(...[...body.children].map(p => p.textContent.length))") < 1_000
    page.get_by_role("button", name="list.md").click()
    expect(reader.get_by_role("heading", name="research/list.md")).to_be_visible()
    assert body.locator("li").count() == 16 * 1024


@pytest.mark.soak
def test_the_board_fits_a_phone_and_survives_a_restart_of_the_house(deck: Running, visit: Visit) -> None:
    drop(deck, "ann", "W" * 200, **{f"drafts/{'w' * 80}.md": "x"})
    page = visit(deck.link("pip", ROOM), viewport={"width": 360, "height": 740})
    expect(part(page, "Journal")).to_contain_text("WWW")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    deck.stop()
    deck.start()
    drop(deck, "bob", "Back again")
    expect(part(page, "Journal")).to_contain_text("Back again")


def test_a_member_who_may_not_see_the_world_sees_no_board(deck: Running, visit: Visit) -> None:
    deck.call("hal", "grant", ROOM, member="pip", may=["read_roster"])
    page = visit(deck.link("pip", ROOM))
    expect(page.get_by_text("You don't have permission to view this world.")).to_be_visible()
    expect(page.locator(".board")).to_be_hidden()
