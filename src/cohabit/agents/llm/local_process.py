"""The process of the embedded model: ``python -m cohabit.agents.llm.local_process WEIGHTS CONTEXT_TOKENS THREADS``.

Reads a request per line from stdin and writes a reply per line to stdout, as JSON, until stdin ends. It is a process of
its own because llama.cpp holds the interpreter while it loads a model, which would stop a house for seconds.

llama.cpp cannot be used without its HTTP server, which nobody needs here. So it gets a key that nobody knows, and
listens on a socket in a private folder that is deleted at once; where there are no such sockets, on a port of loopback.
"""

import json
import os
import secrets
import sys
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SOCKET_PATH = 100


def main() -> None:
    weights, context_tokens, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not be read as a reply
    server, problem = None, ""
    try:
        server = _loaded(weights, context_tokens, threads)
    except Exception as wrong:  # the system lacks a library that llama.cpp needs, for example
        problem = f"it cannot be loaded: {type(wrong).__name__}: {wrong}; `cohabit doctor` says more"
    for line in sys.stdin:
        try:
            reply = server.handle_chat_completions(json.loads(line)) if server is not None else {"error": problem}
        except Exception as wrong:
            reply = {"error": f"{type(wrong).__name__}: {wrong}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def _loaded(weights: str, context_tokens: int, threads: int) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    with _unreachable(params):
        return xllamacpp.Server(params)


@contextmanager
def _unreachable(params: Any) -> "Iterator[None]":
    params.api_keys = [secrets.token_hex(16)]
    if sys.platform == "win32":
        yield
        return
    with TemporaryDirectory(prefix="cohabit-") as folder:  # only its owner may enter it
        path = f"{folder}/model.sock"
        if len(path) < MAX_SOCKET_PATH:
            params.hostnames = [path]
        yield


if __name__ == "__main__":
    main()
