"""The folder of one person's settings, shared with the earlier tool on purpose: ``~/.multisphere``."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cohabit.errors import BadArgs


def folder(environ: Mapping[str, str]) -> Path:
    """``$COHABIT_WORKSPACE_HOME``, or ``~/.multisphere``."""
    chosen = environ.get("COHABIT_WORKSPACE_HOME", "").strip()
    return expanded(chosen, environ) if chosen else person(environ) / ".multisphere"


def cwd() -> str:
    """The folder that this process works in; "" where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def person(environ: Mapping[str, str]) -> Path:
    """The person's own folder."""
    return Path(environ.get("HOME") or os.path.expanduser("~"))


def expanded(path: str, environ: Mapping[str, str]) -> Path:
    """``path`` with a leading ``~`` replaced, absolute, without ``..``; relative ones begin where we were started."""
    if path == "~" or path.startswith("~/"):
        path = str(person(environ) / path[2:])
    return Path(os.path.abspath(path))


def read(home: Path, name: str) -> dict[str, Any] | None:
    """The JSON object in a file of the folder, None where there is no such file."""
    try:
        found = json.loads((home / name).read_bytes())
    except FileNotFoundError:
        return None
    except OSError as wrong:
        raise BadArgs(f"{name} in the config folder cannot be read: {wrong.strerror}") from None
    except (ValueError, RecursionError):
        raise BadArgs(f"{name} in the config folder is not JSON, or torn; repair it or take it away") from None
    if not isinstance(found, dict):
        raise BadArgs(f"{name} in the config folder must hold a JSON object; repair it or take it away")
    return found


def text(found: Mapping[str, Any], key: str, name: str) -> str:
    """A text of a file's object, empty where there is none; anything but text is refused."""
    value = found.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadArgs(f"{name} in the config folder: {key} must be text")
    return value.strip()
