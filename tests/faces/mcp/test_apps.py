"""MCP Apps: the front end of a world as a chat client gets it."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.shared.exceptions import MCPError

from cohabit.client import connect_url
from cohabit.errors import TooLarge, UnknownAsset
from cohabit.faces.app import make_app
from cohabit.faces.mcp import apps, resources
from cohabit.faces.mcp.remote import Remote
from cohabit.faces.mcp.tools import list_tools
from cohabit.house.house import House
from cohabit.house.reading.front_ends import MAX_BYTES, read_front_end
from cohabit.registry import find_world, known_worlds
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.checker import check_here, check_world
from cohabit.world import WorldSpec

from .conftest import Table, listening

PEGS = Path(__file__).parents[1] / "front_ends/pegs.py"
DOCUMENT = PEGS.with_name("pegs.html").read_text()
URI = "ui://pegs/front_end"
SHOWS_DOCUMENTS = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})]


@pytest.fixture
async def pegs(house: House) -> AsyncIterator[Table]:
    """A room whose world has a front end, and one whose world has none."""
    plan = Scenario(
        scenario="pegs", world=f"{PEGS}:Pegs", seed=1,
        agents=[
            AgentSpec(id="ann", role="player", claim="auto:0"),
            AgentSpec(id="eve", role="observer"),
            AgentSpec(id="hal", role="host", kind="human"),
        ],
    )  # fmt: skip
    _, tokens = await house.create_room(plan, "pegs")
    talk = Scenario(scenario="talk", world="lounge", agents=[AgentSpec(id="zoe", role="player")])
    _, others = await house.create_room(talk, "talk")
    async with listening(make_app(house)) as url:
        table = Table(house, url, tokens | others)
        table.room = "pegs"
        yield table


def client(table: Table, who: str, era: str, shows: bool = True, **how: Any) -> Any:
    """A client with the short list; ``shows``: it shows the documents of MCP Apps."""
    how = {"room": "pegs", "profile": None} | how
    return table.client(who, era, extensions=SHOWS_DOCUMENTS if shows else None, **how)


async def tools(client: Any) -> dict[str, Any]:
    return {tool.name: tool for tool in (await client.list_tools()).tools}


def test_our_names_of_the_extension_are_those_of_the_sdk() -> None:
    assert (apps.EXTENSION, apps.MIME_TYPE) == (EXTENSION_ID, APP_MIME_TYPE)


async def test_the_extension_is_announced(pegs: Table, era: str) -> None:
    async with client(pegs, "ann", era) as ann:
        assert EXTENSION_ID in ann.server_capabilities.extensions


async def test_members_of_the_room_list_and_read_the_document_and_nobody_else_does(pegs: Table, era: str) -> None:
    for who in ("ann", "eve", "hal"):
        async with client(pegs, who, era) as member:
            (listed,) = [r for r in (await member.list_resources()).resources if r.uri.startswith("ui:")]
            (read,) = (await member.read_resource(URI)).contents
        assert (listed.uri, listed.mime_type) == (URI, APP_MIME_TYPE)
        assert (read.uri, read.mime_type, read.text) == (URI, APP_MIME_TYPE, DOCUMENT)
        assert read.meta == listed.meta == {"ui": {"csp": {}, "prefersBorder": True}}
    for room in ("talk", None):
        async with client(pegs, "zoe", era, room=room) as stranger:
            assert not [r for r in (await stranger.list_resources()).resources if r.uri.startswith("ui:")]
            for uri in (URI, "ui://talk/front_end"):
                with pytest.raises(MCPError):
                    await stranger.read_resource(uri)


SVG = "http://www.w3.org/2000/svg"
"""The name of the elements of SVG, which nothing fetches."""


@pytest.mark.parametrize(
    "uri", ["ui://pegs/view", "cohabit://pegs/front_end", "ui://pegs/front_end/1", "ui://pegs/../x"]
)
async def test_no_other_address_leads_to_a_document(pegs: Table, uri: str) -> None:
    async with client(pegs, "ann", "auto") as ann:
        with pytest.raises(MCPError):
            await ann.read_resource(uri)


async def test_tools_that_show_the_world_point_to_the_document(pegs: Table, era: str) -> None:
    async with client(pegs, "ann", era) as ann:
        listed = await tools(ann)
    pointing = [name for name, tool in listed.items() if (tool.meta or {}).get("ui", {}).get("resourceUri") == URI]
    assert sorted(pointing) == ["act", "put", "view", "wait_for_turn"]
    async with client(pegs, "zoe", era, room="talk") as zoe, client(pegs, "ann", era, shows=False) as plain:
        assert not any(tool.meta for tool in [*(await tools(zoe)).values(), *(await tools(plain)).values()])


async def test_tools_for_the_document_alone_are_listed_only_where_a_client_shows_it(pegs: Table, era: str) -> None:
    hidden = {"paint", "palette", "next_view", "front_end"}
    async with client(pegs, "ann", era) as ann, client(pegs, "ann", era, shows=False) as plain:
        listed, short = await tools(ann), await tools(plain)
    assert listed.keys() - short.keys() == hidden
    assert all(listed[name].meta["ui"] == {"visibility": ["app"]} for name in hidden)


async def test_a_document_may_call_the_world_and_the_views_and_no_management(pegs: Table, era: str) -> None:
    async with client(pegs, "hal", era, profile="full") as hal:
        listed = await tools(hal)
    may = [n for n, tool in listed.items() if "app" in ((tool.meta or {}).get("ui", {}).get("visibility", ["app"]))]
    assert sorted(may) == [
        "decisions",
        "film",
        "front_end",
        "next_view",
        "palette",
        "thumbnail",
        "view",
        "view_notes",
        "wait_for_turn",
    ]
    async with client(pegs, "ann", era, profile="full") as ann:
        listed = await tools(ann)
    may = [n for n, tool in listed.items() if "app" in ((tool.meta or {}).get("ui", {}).get("visibility", ["app"]))]
    assert sorted(may) == [
        "decisions",
        "film",
        "front_end",
        "next_view",
        "paint",
        "palette",
        "put",
        "thumbnail",
        "view",
        "view_notes",
        "wait_for_turn",
    ]


async def test_what_only_a_document_needs_is_not_told_to_models_and_every_member_may_call_it(pegs: Table) -> None:
    rules = await pegs.act("ann", "rules", {})
    named = [line.name for line in (await pegs.act("ann", "capabilities", {})).commands]
    assert "put" in named
    assert not {"paint", "palette", "next_view", "front_end"} & {*named, *rules.action_space.names()}
    assert not any(name in rules.text for name in ("paint", "palette", "next_view", "front_end"))
    async with client(pegs, "ann", "auto", shows=False) as ann:
        prompt = (await ann.get_prompt("play")).messages[0].content.text
        assert not any(name in ann.instructions + prompt for name in ("paint", "palette", "next_view", "front_end"))
        assert not (await ann.call_tool("paint", {"colour": "blue"})).is_error
        assert (await ann.call_tool("palette")).structured_content == {"result": ["red", "blue"]}
    await pegs.act("ann", "act", {"action": "paint", "params": {"colour": "green"}})
    assert (await pegs.act("ann", "view", {})).observation.text == "0 pegs, green"


async def test_a_client_that_shows_the_document_gets_values_for_it_and_text_for_the_model(
    pegs: Table, era: str
) -> None:
    async with client(pegs, "ann", era) as ann, client(pegs, "ann", era, shows=False) as plain:
        for name in ("view", "put", "wait_for_turn"):
            shown = await ann.call_tool(name)
            assert "pegs, red" in shown.content[0].text
            assert "pegs" in shown.structured_content["observation"]["status"]
        assert (await plain.call_tool("view")).structured_content is None
        assert (await ann.call_tool("rules")).structured_content is None


async def test_the_next_view_comes_when_the_view_has_changed_whoever_changed_it(pegs: Table, era: str) -> None:
    async with client(pegs, "eve", era) as eve:
        first = (await eve.call_tool("next_view")).structured_content
        assert first["observation"]["status"] == {"pegs": 0}
        again = (await eve.call_tool("next_view", {"since": first["id"], "wait_ms": 1})).structured_content
        assert again == first
        await pegs.act("ann", "put", {})
        second = (await eve.call_tool("next_view", {"since": first["id"], "wait_ms": 30_000})).structured_content
        assert second["observation"]["status"] == {"pegs": 1}
        assert second["id"] != first["id"]


async def test_over_stdio_the_document_and_its_tools_are_the_same(pegs: Table) -> None:
    remote = Remote(lambda: connect_url(pegs.url, pegs.tokens["ann"]), "pegs")
    try:
        (read,) = (await resources.read(remote, URI)).contents
        listed = (await list_tools(remote, with_documents=True)).tools
    finally:
        await remote.close()
    assert (read.mime_type, read.text) == (APP_MIME_TYPE, DOCUMENT)
    async with client(pegs, "ann", "auto") as ann:
        there = await tools(ann)
    assert {tool.name: tool.meta for tool in listed} == {name: tool.meta for name, tool in there.items()}


async def test_a_member_who_may_not_look_gets_no_next_view(pegs: Table) -> None:
    await pegs.act("hal", "grant", {"member": "eve", "may": ["read_chat"]})
    async with client(pegs, "eve", "auto") as eve:
        refused = await eve.call_tool("next_view")
    assert refused.is_error
    assert refused.content[0].text.startswith("[PERMISSION_DENIED]")


@pytest.mark.parametrize(
    "name", ["/etc/passwd.html", "../secret.html", "a/../../b.html", "page.htm", "a\\b.html", "x.html\n", ".html"]
)
def test_a_front_end_is_named_beside_its_world(name: str) -> None:
    with pytest.raises(ValueError, match="front_end"):
        WorldSpec(name="w", front_end=name)


def test_a_front_end_that_is_a_link_elsewhere_is_missing_or_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pegs.py").write_text(PEGS.read_text())
    (tmp_path / "home").mkdir()
    (tmp_path / "secret.html").write_text("secret")
    home = tmp_path / "home"
    (home / "pegs.py").write_text(PEGS.read_text())
    (home / "elsewhere").symlink_to(tmp_path)
    (tmp_path / "leaving.html").write_text("secret")
    with pytest.raises(UnknownAsset, match="not in the folder"):
        read_front_end(find_world(f"{home / 'pegs.py'}:Leaving"))
    with pytest.raises(UnknownAsset, match="cannot be read"):
        read_front_end(find_world(f"{home / 'pegs.py'}:Missing"))
    (home / "pegs.html").write_bytes(b"x" * MAX_BYTES)
    assert len(read_front_end(find_world(f"{home / 'pegs.py'}:Pegs"))) == MAX_BYTES
    (home / "pegs.html").write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(TooLarge):
        read_front_end(find_world(f"{home / 'pegs.py'}:Pegs"))
    (home / "pegs.html").write_bytes(b"\xff")
    with pytest.raises(UnknownAsset, match="UTF-8"):
        read_front_end(find_world(f"{home / 'pegs.py'}:Pegs"))


def test_the_checker_of_worlds_finds_a_missing_front_end() -> None:
    report = check_world(f"{PEGS}:Missing", seeds=(1,), steps=1)
    (spec,) = [finding for finding in report.findings if finding.check == "spec"]
    assert not spec.ok
    assert "missing.html" in spec.message


@pytest.mark.sampled
@pytest.mark.parametrize(("line", "blocked"), [
    ('<script src="https://cdn.example/x.js"></script>', 'src="https://cdn.example/x.js'),
    ("<link rel=stylesheet href=//cdn.example/x.css>", "href=//cdn.example/x.css"),
    ("<style>@import 'x.css';</style>", "@import"),
    ("<script>fetch('/api')</script>", "fetch"),
    ("<script>localStorage.x = 1</script>", "localStorage"),
    ("<button type=button onclick='put()'>", "onclick='"),
])  # fmt: skip
def test_the_checker_of_worlds_finds_what_the_sandbox_of_a_front_end_blocks(
    tmp_path: Path, line: str, blocked: str, without_processes: None
) -> None:
    (tmp_path / "pegs.py").write_text(PEGS.read_text())
    (tmp_path / "pegs.html").write_text(line)
    report = check_here(f"{tmp_path / 'pegs.py'}:Pegs", seeds=(1,), steps=1)
    (spec,) = [finding for finding in report.findings if finding.check == "spec"]
    assert not spec.ok
    assert spec.message.endswith(f"these do not work: {blocked}")


@pytest.mark.parametrize("name", [name for name in known_worlds() if find_world(name).spec.front_end])
def test_the_documents_of_our_worlds_are_self_contained(name: str) -> None:
    text = read_front_end(find_world(name)).replace(SVG, "")
    assert len(gzip.compress(text.encode())) < 40 * 1024  # what a visitor waits for
    for outside in (
        "http:",
        "https:",
        'src="/',
        "url(",
        "@import",
        "innerHTML",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
    ):
        assert outside not in text, outside
    assert json.dumps(text)
