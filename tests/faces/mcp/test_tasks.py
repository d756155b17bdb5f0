from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from cohabit.faces.mcp.tasks import Context, Task, Tasks


class Caller:
    """A request of somebody, as far as tasks look at it."""

    def __init__(self, name: str, *, understands: bool = True, version: str = "2026-07-28") -> None:
        self.name, self.protocol_version, self.request = name, version, None
        self.session = SimpleNamespace(check_client_capability=lambda capability: understands)


def ctx(name: str = "ann", **how: Any) -> Context:
    return cast(Context, Caller(name, **how))


def tasks(**how: Any) -> Tasks:
    return Tasks(lambda ctx: cast(Caller, ctx).name, **how)


async def never(task: Task) -> types.CallToolResult:
    await asyncio.Event().wait()
    raise AssertionError


async def done(task: Task) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text="done")])


QUESTION = types.ElicitRequest(
    params=types.ElicitRequestFormParams(message="?", requested_schema={"type": "object", "properties": {}})
)


async def test_a_finished_task_carries_its_result() -> None:
    all_tasks = tasks()
    task = all_tasks.find(ctx(), all_tasks.start(ctx(), done)["taskId"])
    await asyncio.sleep(0)
    wire = task.wire()
    assert wire["status"] == "completed"
    assert wire["result"]["content"] == [{"type": "text", "text": "done"}]


async def test_a_task_is_unknown_to_everybody_but_its_owner() -> None:
    all_tasks = tasks()
    task_id = all_tasks.start(ctx("ann"), never)["taskId"]
    with pytest.raises(MCPError) as theirs:
        all_tasks.find(ctx("bob"), task_id)
    with pytest.raises(MCPError) as nobodys:
        all_tasks.find(ctx("ann"), "no such task")
    assert (theirs.value.code, theirs.value.message) == (nobodys.value.code, nobodys.value.message)
    all_tasks.close()


async def test_a_task_that_asks_resumes_after_the_last_answer() -> None:
    async def work(task: Task) -> types.CallToolResult:
        answers = await task.ask({"one": QUESTION, "two": QUESTION})
        words = ",".join(cast(types.ElicitResult, answer).action for answer in answers.values())
        return types.CallToolResult(content=[types.TextContent(text=words)])

    all_tasks = tasks()
    task = all_tasks.find(ctx(), all_tasks.start(ctx(), work)["taskId"])
    await asyncio.sleep(0)
    assert list(task.wire()["inputRequests"]) == ["one", "two"]
    task.answer({"one": {"action": "accept"}, "nobody asked": 1})
    await asyncio.sleep(0)
    assert (task.status, list(task.wire()["inputRequests"])) == ("input_required", ["two"])
    task.answer({"two": {"action": "decline"}})
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert task.wire()["result"]["content"][0]["text"] == "accept,decline"


async def test_a_crash_is_a_failure_that_tells_nothing_of_the_inside() -> None:
    async def work(task: Task) -> types.CallToolResult:
        raise RuntimeError("the secret is 42")

    all_tasks = tasks()
    task = all_tasks.find(ctx(), all_tasks.start(ctx(), work)["taskId"])
    await asyncio.sleep(0)
    assert task.wire()["error"] == {"code": types.INTERNAL_ERROR, "message": "Internal server error"}


async def test_a_cancelled_task_stays_cancelled() -> None:
    async def work(task: Task) -> types.CallToolResult:
        try:
            return await never(task)
        except asyncio.CancelledError:
            return await done(task)

    all_tasks = tasks()
    task = all_tasks.find(ctx(), all_tasks.start(ctx(), work)["taskId"])
    await asyncio.sleep(0)
    task.cancel()
    task.cancel()
    await asyncio.sleep(0)
    assert task.wire()["status"] == "cancelled"


async def test_a_task_lives_as_long_as_it_said_and_then_stops() -> None:
    times = [datetime(2026, 1, 1, tzinfo=UTC)]
    all_tasks = tasks(ttl=timedelta(minutes=1), now=lambda: times[-1])
    task = all_tasks.find(ctx(), all_tasks.start(ctx(), never)["taskId"])
    times.append(times[0] + timedelta(minutes=1))
    assert all_tasks.find(ctx(), task.id) is task
    times.append(times[0] + timedelta(minutes=1, seconds=1))
    with pytest.raises(MCPError):
        all_tasks.find(ctx(), task.id)
    assert task.status == "cancelled"


async def test_nobody_can_pile_up_tasks() -> None:
    all_tasks = tasks(max_each=2)
    for _ in range(2):
        all_tasks.start(ctx("ann"), never)
    with pytest.raises(MCPError):
        all_tasks.start(ctx("ann"), never)
    all_tasks.start(ctx("bob"), never)
    all_tasks.close()


@pytest.mark.parametrize("how", [{"understands": False}, {"version": "2025-11-25"}])
async def test_a_client_that_knows_no_tasks_is_given_none(how: dict[str, Any]) -> None:
    with pytest.raises(MCPError) as refused:
        tasks().require(ctx(**how))
    assert refused.value.data == {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
