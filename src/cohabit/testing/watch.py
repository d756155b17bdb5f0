"""Limits for a world that is being checked: of the CPU time and the wall time of each call, and of memory.

The limits are timers of the operating system. They end the process, so they also stop a call that never gives control
back to Python. What the process was doing is in two files, which the process that started it reads afterwards.
"""

import faulthandler
import functools
import mmap
import resource
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from msgspec import Struct, structs

from cohabit.bodies import EmbodiedWorld
from cohabit.world import ActionSpec, Eye, Seat, World

BETWEEN = 10
"""Between two calls the checker itself may take this many times the CPU time of a call."""
WAIT_S = 900
"""The time that the checker waits between two calls without using CPU time: it waits for other processes."""
CONTRACT = frozenset(
    name for base in (World, EmbodiedWorld) for name, value in vars(base).items() if isinstance(value, FunctionType)
)
"""The methods that a room or a checker calls."""
_LABEL_BYTES = 1000
_MAX_SHOWN, _MAX_PARTS = 60, 30
Result = TypeVar("Result")


class Limits(Struct, frozen=True):
    """The limits of a world: CPU time and time by the wall clock for one call, and memory."""

    cpu_s: float = 20.0
    wait_s: float = 120.0  # long, because on a busy machine a call without a fault waits, too
    memory_mb: int = 4096


DEFAULT_LIMITS = Limits()


class Order(Struct, frozen=True):
    """The order to the process of a check."""

    source: str
    seeds: list[int]
    steps: int
    config: dict[str, Any]
    limits: Limits


class Watch:
    """The limits of this process, and the method of the world that it is in."""

    def __init__(self, folder: Path, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.starved = ""  # the call that ran out of memory
        self._depth = 0
        label = folder / "label"
        label.write_bytes(bytes(_LABEL_BYTES))
        with label.open("r+b") as file:
            self._label = mmap.mmap(file.fileno(), _LABEL_BYTES)
        self._trace = (folder / "trace").open("w")
        faulthandler.enable(self._trace, all_threads=False)
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
            faulthandler.register(number, self._trace, all_threads=False, chain=True)
        _limit_memory(limits.memory_mb)

    def during(self, label: str, do: Callable[[], Result]) -> Result:
        """Do something of the world under the limits. Calls inside it have the limits of the outermost."""
        if self._depth:
            return do()
        self._depth = 1
        self._write(b"in", label)
        self._arm(self.limits.cpu_s, self.limits.wait_s)
        try:
            return do()
        except MemoryError:
            self.starved = self.starved or label
            raise
        finally:
            self._depth = 0
            self._label[:2] = b"af"
            self._arm(self.limits.cpu_s * BETWEEN, WAIT_S)

    def wrap(self, cls: type[World]) -> None:
        """Put the methods of the contract, the actions and the queries of this class under the limits."""
        for owner in cls.__mro__:
            if owner in (World, EmbodiedWorld, object):
                continue
            for name, method in list(vars(owner).items()):
                marked = name in CONTRACT or name == "__init__" or hasattr(method, "__cohabit__")
                if isinstance(method, FunctionType) and marked:
                    setattr(owner, name, self._wrapped(name, method))
                elif name == "pace" and isinstance(method, property) and method.fget is not None:
                    setattr(owner, name, property(self._wrapped(name, method.fget)))

    def _wrapped(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return method(*args, **kwargs)
            result = self.during(_described(name, args[1:], kwargs), lambda: method(*args, **kwargs))
            return [self._computed(spec) for spec in result] if name == "actions" else result

        call.__watched__ = True  # type: ignore[attr-defined]
        return call

    def _computed(self, spec: Any) -> Any:
        """An action that is no marked method of the class."""
        if not isinstance(spec, ActionSpec) or hasattr(spec.run, "__watched__"):
            return spec
        run = spec.run

        @functools.wraps(run)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.during(_described(spec.name, args, kwargs), lambda: run(*args, **kwargs))

        return structs.replace(spec, run=call)

    def _write(self, state: bytes, label: str) -> None:
        text = label.encode(errors="replace")[: _LABEL_BYTES - 3]
        self._label[: len(text) + 3] = state + text + b"\0"

    def _arm(self, cpu_s: float, wall_s: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        signal.setitimer(signal.ITIMER_REAL, wall_s)


def _limit_memory(memory_mb: int) -> None:
    """Let this process take at most this much more memory than it has now. Some systems cannot limit it."""
    try:
        has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + memory_mb * 2**20, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (OSError, ValueError):
        return


def _described(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    shown = [*map(_shown, args), *(f"{key}={_shown(value)}" for key, value in kwargs.items())]
    return f"{name}({', '.join(shown)})"


def _shown(value: Any) -> str:
    if isinstance(value, Eye):
        return f"the eye of {value.seat or value.sees}"
    if isinstance(value, Seat):
        return f"seat {value.id}"
    is_short = isinstance(value, str | list | dict | tuple) and len(value) <= _MAX_PARTS
    if is_short or isinstance(value, int | float | None):
        return repr(value)[:_MAX_SHOWN]
    return f"a {type(value).__name__}"


# -- afterwards, in the process that started it ------------------------------------------------------
def cause_of_death(folder: Path, status: int, limits: Limits, own: Callable[[str], bool]) -> str:
    """The failure of the world, in a process that did not end by itself. ``own``: True for a file of the world."""
    state, label = _last_label(folder)
    where = _place(folder, own)
    if state != b"in" and status in (-signal.SIGPROF, -signal.SIGALRM):
        limit = f"{limits.cpu_s * BETWEEN:g} s of CPU time" if status == -signal.SIGPROF else f"{WAIT_S} s"
        return f"something that the world returned could not be read within {limit}; the last call was {label}{where}"
    if status == -signal.SIGPROF:
        return f"{label} did not return within {limits.cpu_s:g} s of CPU time{where}"
    if status == -signal.SIGALRM:
        return f"{label} did not return within {limits.wait_s:g} s; it was waiting, not computing{where}"
    how = f"with exit status {status}" if status >= 0 else f"with {signal.Signals(-status).name}"
    return f"{label} ended the process {how}{where}"


def _last_label(folder: Path) -> tuple[bytes, str]:
    try:
        content = (folder / "label").read_bytes()
    except OSError:
        return b"in", "the start of the check"
    return content[:2], content[2:].split(b"\0")[0].decode(errors="replace") or "the check"


def _place(folder: Path, own: Callable[[str], bool]) -> str:
    """The line of the world that was running: the innermost one of its files."""
    try:
        lines = (folder / "trace").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        head, _, rest = line.strip().removeprefix("File ").partition('", line ')
        number, _, function = rest.partition(" in ")
        if line.strip().startswith("File ") and own(head.strip('"')):
            return f" ({Path(head.strip(chr(34))).name}:{number} in {function}())"
    return ""
