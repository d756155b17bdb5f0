"""Waiting for something: in the call, or as a task."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from cohabit.faces.mcp import tools

TASKS = "io.modelcontextprotocol/tasks"


async def test_waiting_for_the_turn_ends_when_it_comes(table: Any, era: str) -> None:
    async with table.client("bob", era) as client:
        waiting = asyncio.create_task(client.call_tool("wait_for_turn", {"wait_ms": 30_000}))
        await table.until(lambda room: room.history._waiters)
        await table.act("ann", "take", {"n": 1})
        assert (await waiting).structured_content["your_turn"]


async def test_waiting_ends_with_its_time(table: Any, era: str) -> None:
    async with table.client("bob", era) as client:
        seen = await client.call_tool("wait_for_turn", {"wait_ms": 1})
        assert not seen.structured_content["your_turn"]
        news = await client.call_tool("recv_messages", {"wait_ms": 1})
        assert news.structured_content["items"] == []


async def ask(
    table: Any, http: httpx2.AsyncClient, method: str, name: str, who: str, /, **params: Any
) -> dict[str, Any]:
    """Send a request as a client that supports tasks."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
    }
    reply = await http.post(
        f"{table.url}/mcp/nim?profile=full",
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}},
        headers={
            "authorization": f"Bearer {table.tokens[who]}",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            "mcp-name": name,
        },
    )
    return dict(reply.json())


async def test_a_client_that_supports_tasks_waits_for_its_turn_as_a_task(table: Any) -> None:
    async with httpx2.AsyncClient() as http:
        begun = await ask(table, http, "tools/call", "wait_for_turn", "bob", name="wait_for_turn", arguments={})
        task = begun["result"]["taskId"]
        assert begun["result"]["resultType"] == "task"
        assert (await ask(table, http, "tasks/get", task, "bob", taskId=task))["result"]["status"] == "working"
        assert "error" in await ask(table, http, "tasks/get", task, "ann", taskId=task)  # it is not hers
        await table.act("ann", "take", {"n": 1})
        while (state := (await ask(table, http, "tasks/get", task, "bob", taskId=task))["result"])[
            "status"
        ] == "working":
            pass
        assert state["result"]["structuredContent"]["your_turn"]


@pytest.mark.parametrize("change", ["revoke", "remove_member"])
async def test_the_result_of_a_task_shows_nothing_after_its_grant_was_revoked(table: Any, change: str) -> None:
    async with httpx2.AsyncClient() as http:
        begun = await ask(table, http, "tools/call", "wait_for_turn", "ann", name="wait_for_turn", arguments={})
        task = begun["result"]["taskId"]
        while (state := await ask(table, http, "tasks/get", task, "ann", taskId=task))["result"]["status"] == "working":
            pass
        assert "observation" in state["result"]["result"]["structuredContent"]
        await table.act("hal", change, {"member": "ann"})
        shown = json.dumps(await ask(table, http, "tasks/get", task, "ann", taskId=task))
        assert "observation" not in shown
        assert "PERMISSION_DENIED" in shown if change == "revoke" else "UNAUTHORIZED" in shown


async def test_a_client_that_asks_for_progress_is_told_that_its_call_still_waits(
    table: Any, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "REPORT_EVERY_S", 0.0)
    reports: list[tuple[float, float | None]] = []
    three = asyncio.Event()

    async def note(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total))
        if len(reports) >= 3:
            three.set()

    async with table.client("bob", era) as client:
        waiting = asyncio.create_task(client.call_tool("wait_for_turn", {"wait_ms": 30_000}, progress_callback=note))
        await three.wait()
        await table.act("ann", "take", {"n": 1})
        assert (await waiting).structured_content["your_turn"]
    assert {total for _, total in reports} == {30.0}
    assert [done for done, _ in reports] == sorted({done for done, _ in reports})


async def test_a_call_that_does_not_wait_reports_no_progress(table: Any, era: str) -> None:
    reports: list[float] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        reports.append(done)

    async with table.client("bob", era) as client:
        await client.call_tool("view", {}, progress_callback=note)
        await client.call_tool("recv_messages", {"wait_ms": 0}, progress_callback=note)
    assert reports == []
