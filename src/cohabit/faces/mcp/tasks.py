"""The tasks extension of MCP: a result that may come later.

    client ── tools/call ──►  { resultType: "task", taskId, status: "working" }
           ── tasks/get ───►  status, and the result once there is one
           ── tasks/update ►  answers to what the task asked for
           ── tasks/cancel ►  an empty acknowledgement

A tool that may take long ("wait for my turn") passes its work to `Tasks.start` when the client supports tasks, and
runs it in place when not. A task belongs to the caller that started it; to others it does not exist. It is cancelled
when the credential it was started with is revoked or expires. Tasks are kept in memory: after a restart they are
unknown, and the client calls the tool again.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, Final, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

EXTENSION: Final = "io.modelcontextprotocol/tasks"
NEEDED: Final = types.ClientCapabilities(extensions={EXTENSION: {}})

Context = ServerRequestContext[Any, Any]
Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
Work = Callable[["Task"], Awaitable[types.CallToolResult]]
Reread = Callable[[], Awaitable[types.CallToolResult]]
UntilInvalid = Callable[[Context, Callable[[], None]], Callable[[], None]]

_OVER: Final[frozenset[Status]] = frozenset({"completed", "failed", "cancelled"})
_ANSWERS: Final[Mapping[str, type[types.Result]]] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


class TaskParams(types.RequestParams):
    task_id: str


class UpdateTaskParams(TaskParams):
    input_responses: dict[str, Any]


@dataclass(kw_only=True, eq=False)
class Task:
    """One piece of work and its state. The work gets the task, to report progress and to ask the client."""

    id: str
    owner: str
    created: datetime
    ttl: timedelta
    poll: timedelta
    now: Callable[[], datetime]
    reread: Reread | None = None
    """Reads the result again, for results that depend on what the caller may see."""
    stop_watching: Callable[[], None] = lambda: None
    """Called when it is over: its credential is not watched any more."""
    updated: datetime = field(init=False)
    status: Status = "working"
    message: str | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    questions: dict[str, types.InputRequest] = field(default_factory=dict)
    answers: dict[str, types.Result] = field(default_factory=dict)
    _answered: asyncio.Event = field(default_factory=asyncio.Event)
    _runner: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self.updated = self.created

    @property
    def over(self) -> bool:
        return self.status in _OVER

    def say(self, message: str) -> None:
        """Set the status message."""
        self.message = message
        self.updated = self.now()

    async def ask(self, questions: Mapping[str, types.InputRequest]) -> dict[str, types.Result]:
        """Wait until every question is answered. Answers may come one at a time."""
        self.questions.update(questions)
        self._become("input_required")
        while self.questions:
            await self._answered.wait()
            self._answered.clear()
        self._become("working")
        return {key: self.answers[key] for key in questions}

    def answer(self, responses: Mapping[str, Any]) -> None:
        """Take the answers to open questions; unknown keys are ignored."""
        for key, raw in responses.items():
            if (question := self.questions.get(key)) is None:
                continue
            self.answers[key] = _ANSWERS[question.method].model_validate(raw, by_name=False)
            del self.questions[key]
        self._answered.set()
        self.updated = self.now()

    def cancel(self) -> None:
        """Stop it, unless it is over."""
        if not self.over:
            self._become("cancelled")
            if self._runner is not None:
                self._runner.cancel()

    def created_result(self) -> dict[str, Any]:
        """The result of the tool call."""
        return {**self._head(), "resultType": "task"}

    def wire(self) -> dict[str, Any]:
        """The answer of `tasks/get`: with the result, the error or the open questions, if there are any."""
        wire = self._head()
        if self.result is not None:
            wire["result"] = self.result
        if self.error is not None:
            wire["error"] = self.error
        if self.status == "input_required":
            wire["inputRequests"] = {key: _dump(question) for key, question in self.questions.items()}
        return wire

    def run(self, work: Work) -> None:
        self._runner = asyncio.create_task(self._work(work), name=f"mcp task {self.id}")

    async def _work(self, work: Work) -> None:
        try:
            answer = _dump(await work(self))
        except Exception as broken:
            self.error = _dump(modern_error_data(broken))
            self._become("failed")
        else:
            self.result = answer
            self._become("completed")

    def _become(self, status: Status) -> None:
        if self.over:
            return
        self.status = status
        if status in _OVER:
            self.questions.clear()
            self.stop_watching()
        self.updated = self.now()

    def _head(self) -> dict[str, Any]:
        return {
            "taskId": self.id,
            "status": self.status,
            "createdAt": self.created.isoformat(timespec="milliseconds"),
            "lastUpdatedAt": self.updated.isoformat(timespec="milliseconds"),
            "ttlMs": self.ttl // timedelta(milliseconds=1),
            "pollIntervalMs": self.poll // timedelta(milliseconds=1),
            **({} if self.message is None else {"statusMessage": self.message}),
        }


class Tasks:
    """The tasks of a server. `owner` identifies the caller of a request; `max_each` is how many it may have.

    `until_invalid` calls back when the credential of a request is revoked or expires.
    """

    def __init__(
        self,
        owner: Callable[[Context], str],
        until_invalid: UntilInvalid = lambda ctx, tell: lambda: None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        ttl: timedelta = timedelta(minutes=10),
        poll: timedelta = timedelta(seconds=1),
        max_each: int = 64,
    ) -> None:
        self._owner, self._now, self._ttl, self._poll, self._max_each = owner, now, ttl, poll, max_each
        self._until_invalid = until_invalid
        self._tasks: dict[str, Task] = {}  # oldest first, and all with the same time to live
        self._owned: Counter[str] = Counter()

    def install(self, server: Server[Any]) -> None:
        """Announce the extension and serve its methods."""
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tasks/get", TaskParams, self._on_get)
        server.add_request_handler("tasks/update", UpdateTaskParams, self._on_update)
        server.add_request_handler("tasks/cancel", TaskParams, self._on_cancel)

    def understood(self, ctx: Context) -> bool:
        """True if the client that sent this request supports tasks."""
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        return modern and ctx.session.check_client_capability(NEEDED)

    def require(self, ctx: Context) -> None:
        """Refuse a client that does not support tasks."""
        if not self.understood(ctx):
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                f"This needs a client that supports {EXTENSION}.",
                types.MissingRequiredClientCapabilityErrorData(required_capabilities=NEEDED).model_dump(
                    by_alias=True, mode="json", exclude_none=True
                ),
            )

    def start(self, ctx: Context, work: Work, reread: Reread | None = None) -> dict[str, Any]:
        """Start `work`; the result of the tool call is its task. `reread`: see `Task`."""
        self._forget_old()
        owner = self._owner(ctx)
        if self._owned[owner] >= self._max_each:
            raise MCPError(types.INVALID_REQUEST, f"You have {self._max_each} tasks; wait for some to expire.")
        task = Task(
            id=secrets.token_urlsafe(16),
            owner=owner,
            created=self._now(),
            ttl=self._ttl,
            poll=self._poll,
            now=self._now,
            reread=reread,
        )
        self._tasks[task.id] = task
        self._owned[owner] += 1
        task.stop_watching = self._until_invalid(ctx, task.cancel)
        task.run(work)
        return task.created_result()

    def find(self, ctx: Context, task_id: str) -> Task:
        """The caller's task of this id. Another caller's task looks like one that does not exist."""
        self._forget_old()
        task = self._tasks.get(task_id)
        if task is None or task.owner != self._owner(ctx):
            raise MCPError(types.INVALID_PARAMS, "No such task; it may have expired.", {"taskId": task_id})
        return task

    def close(self) -> None:
        """Cancel all tasks that still run."""
        for task in self._tasks.values():
            task.cancel()

    def _forget_old(self) -> None:
        latest = self._now() - self._ttl
        for task in list(takewhile(lambda task: task.created < latest, self._tasks.values())):
            task.cancel()
            del self._tasks[task.id]
            self._owned[task.owner] -= 1
            if not self._owned[task.owner]:
                del self._owned[task.owner]

    async def _on_get(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        task = self._addressed(ctx, params)
        if task.status == "completed" and task.reread is not None:  # the caller may have lost its grant since then
            task.result = _dump(await task.reread())
        return task.wire()

    async def _on_update(self, ctx: Context, params: UpdateTaskParams) -> dict[str, Any]:
        task = self._addressed(ctx, params)
        try:
            task.answer(params.input_responses)
        except ValidationError:
            raise MCPError(types.INVALID_PARAMS, "An answer does not have the requested form.") from None
        return {}

    async def _on_cancel(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        self._addressed(ctx, params).cancel()
        return {}

    def _addressed(self, ctx: Context, params: TaskParams) -> Task:
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
        self.require(ctx)
        if ctx.request and decode_header_value(ctx.request.headers.get(MCP_NAME_HEADER)) != params.task_id:
            raise MCPError(types.HEADER_MISMATCH, f"{MCP_NAME_HEADER} header does not match params.taskId")
        return self.find(ctx, params.task_id)


def _dump(value: types.Result | types.ErrorData | types.InputRequest) -> dict[str, Any]:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)
