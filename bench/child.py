"""The process behind ``common.Child``: creates one object and calls it as requested, line by line."""

import cProfile
import importlib
import inspect
import json
import os
import pstats
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.common import allow_many_files, pin

_answers = 1


def say(answer: Any) -> None:
    os.write(_answers, json.dumps(answer).encode() + b"\n")


def answer_as_stdout() -> None:
    """For a program that replaces this process: its standard output is read as answers."""
    os.dup2(_answers, 1)


@contextmanager
def profiled(name: str) -> Iterator[None]:
    """With ``BENCH_PROFILE=FOLDER`` a server writes a CPU profile as text to that folder."""
    into = os.environ.get("BENCH_PROFILE")
    if not into:
        yield
        return
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
        with open(os.path.join(into, f"{name}-{os.getpid()}.txt"), "w", encoding="utf-8") as out:
            pstats.Stats(profile, stream=out).sort_stats("tottime").print_stats(45)


def _end_with_the_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    global _answers
    _answers = os.dup(1)
    os.dup2(2, 1)  # output of libraries must not be read as an answer
    wanted = json.loads(sys.stdin.readline())
    allow_many_files()
    pin(wanted["core"])
    module, _, name = sys.argv[1].partition(":")
    made = getattr(importlib.import_module(module), name)(**wanted["args"])
    if inspect.iscoroutine(made):  # a server: it reports its own address
        import uvloop

        threading.Thread(target=_end_with_the_parent, daemon=True).start()
        with profiled(name):
            uvloop.run(made)
        return
    say(None)
    for line in sys.stdin:
        what, given = json.loads(line)
        say(getattr(made, what)(**given))


if __name__ == "__main__":
    import bench.child  # the servers import `say` from there, so both share one output

    bench.child.main()
