"""Notices what a world uses outside of itself: environment variables, files, the network, processes, the clock.

Python reports most of it to audit hooks; the environment, the clock and the global random numbers are wrapped. An event
counts if a line of the world caused it. What a library does while it is being imported does not count.

It is a test, not a sandbox: nothing is prevented, and native code is not seen. A hook stays as long as its process.
"""

import _thread
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from traceback import walk_stack
from types import FrameType
from typing import Any

from cohabit.registry import world_place
from cohabit.testing.scan import ALLOWED

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.remove": "deletes", "os.rename": "renames", "os.mkdir": "makes the folder", "os.rmdir": "deletes the folder",
    "os.link": "links", "os.symlink": "links", "os.truncate": "writes", "os.chmod": "changes", "os.chown": "changes",
    "os.utime": "changes", "shutil.rmtree": "deletes the folder", "os.chdir": "goes to the folder",
}  # fmt: skip
_PROCESSES = frozenset({
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "pty.spawn",
})  # fmt: skip
_LISTS = frozenset({"os.listdir", "os.scandir"})
_CLOCKS = (
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
    "process_time_ns", "localtime", "gmtime",
)  # fmt: skip
_LIBRARIES = tuple({os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))})
_IMPORTS = "<frozen importlib"
_MAX_SHOWN = 80


def own_files(source: str) -> Callable[[str], bool]:
    """Return a function that is True for files of this source's world: in its folder, and of no installed library."""
    place = world_place(source)
    if place.is_file():
        return lambda file: file == str(place)
    inside = str(place) + os.sep
    return lambda file: file.startswith(inside) and "site-packages" not in file[len(inside) :]


class Outside:
    """The outside sources that the world used, each once: a sentence by place."""

    def __init__(self, own: Callable[[str], bool]) -> None:
        self.own = own
        self.found: dict[str, str] = {}
        self._busy = False

    def install(self) -> None:
        """Watch this process from now on."""
        for mapping in (os.environ, os.environb):
            mapping.__class__ = _watched_environment(type(mapping), self)
        for name in _CLOCKS:
            setattr(time, name, self._wrapped(getattr(time, name), "reads the clock; count your own steps or ticks", 1))
        words = "uses a random generator of the whole process; draw from Stream(seed, purpose)"
        for name in random.__all__:
            if callable(drawn := getattr(random, name)) and not isinstance(drawn, type):
                setattr(random, name, self._wrapped(drawn, words))
        os.urandom = self._wrapped(os.urandom, "asks the system for random bytes; draw from Stream(seed, purpose)")
        words = "starts a thread; a world runs only while it is called"
        for module, name in ((_thread, "start_new_thread"), (threading, "_start_joinable_thread")):
            if hasattr(module, name):
                setattr(module, name, self._wrapped(getattr(module, name), words))
        if hasattr(threading, "_start_new_thread"):  # before Python 3.13
            threading._start_new_thread = _thread.start_new_thread
        sys.addaudithook(self._hear)

    def note(self, words: str, within: int = 0) -> None:
        """A line of the world did this. ``within``: only if it is among this many innermost frames."""
        if self._busy:
            return
        self._busy = True
        try:
            place = self._place(sys._getframe(2), within)
            if place and place not in self.found:
                self.found[place] = words
        finally:
            self._busy = False

    def _place(self, frame: FrameType, within: int) -> str:
        """The line of the world that caused what happens now; none if it is the import of a library."""
        for depth, (outer, _) in enumerate(walk_stack(frame)):
            file = outer.f_code.co_filename
            if file.startswith(_IMPORTS) or (within and depth >= within):
                return ""
            if self.own(file):
                if _is_excused(file, outer.f_lineno):
                    return ""
                return f"{Path(file).name}:{outer.f_lineno} in {outer.f_code.co_name}()"
        return ""

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            self._opened(args)
        elif event in _CHANGES:
            self.note(f"{_CHANGES[event]} {_name(args[0])}; keep all state in self")
        elif event in _LISTS:
            if not self._is_of_the_world(args[0]):
                self.note(f"lists the folder {_name(args[0])}; keep all state in self")
        elif event in _PROCESSES:
            self.note("starts a process; a world runs only while it is called")
        elif event.startswith("socket."):
            self.note("uses the network; a world must not use the network")
        elif event in ("os.putenv", "os.unsetenv"):
            self.note(f"sets the environment variable {_name(args[0])}; use the config")

    def _opened(self, args: tuple[Any, ...]) -> None:
        path, mode, flags = args
        writes = flags & _WRITES if isinstance(flags, int) else any(c in str(mode) for c in "wax+")
        if writes:
            self.note(f"writes the file {_name(path)}; keep all state in self")
        elif not self._is_of_the_world(path):
            self.note(f"reads the file {_name(path)}; a world reads only files of its own folder")

    def _is_of_the_world(self, path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return True  # an open file
        real = os.path.realpath(os.fsdecode(path))
        return self.own(real) or self.own(real + os.sep) or real.startswith(_LIBRARIES)

    def _wrapped(self, function: Callable[..., Any], words: str, within: int = 0) -> "_Noted":
        return _Noted(self, function, words, within)


class _Noted:
    """A function whose calls are noted. An object, because a class may have it as an attribute: unlike a function in
    Python, one in C does not become a method there."""

    def __init__(self, outside: Outside, function: Callable[..., Any], words: str, within: int) -> None:
        self._outside, self._function, self._words, self._within = outside, function, words, within

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._outside.note(self._words, self._within)
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _watched_environment(kind: type, outside: Outside) -> type:
    class Watched(kind):  # type: ignore[misc]  # the class of os.environ
        def __getitem__(self, key: Any) -> Any:
            outside.note(f"reads the environment variable {_name(key)}; use the config")
            return super().__getitem__(key)

        def __iter__(self) -> Iterator[Any]:
            outside.note("reads the environment variables; use the config")
            return iter(super().__iter__())

    return Watched


def _is_excused(file: str, line: int) -> bool:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return ALLOWED in "".join(lines[line - 1 : line])


def _name(value: Any) -> str:
    return repr(os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else value)[:_MAX_SHOWN]
