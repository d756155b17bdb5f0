"""The settings folder of one person, ``~/.multisphere``; Multisphere uses the same folder."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cohabit.errors import BadArgs


def folder(environ: Mapping[str, str]) -> Path:
    """``$COHABIT_WORKSPACE_HOME``, or ``~/.multisphere``."""
    chosen = environ.get("COHABIT_WORKSPACE_HOME", "").strip()
    return expanded(chosen, environ) if chosen else home_folder(environ) / ".multisphere"


def cwd() -> str:
    """The current folder of this process; "" if it no longer exists."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def home_folder(environ: Mapping[str, str]) -> Path:
    """The person's home folder."""
    return Path(environ.get("HOME") or os.path.expanduser("~"))


def expanded(path: str, environ: Mapping[str, str]) -> Path:
    """``path`` with a leading ``~`` replaced, absolute and without ``..``."""
    if path == "~" or path.startswith("~/"):
        path = str(home_folder(environ) / path[2:])
    return Path(os.path.abspath(path))


def read(home: Path, name: str) -> dict[str, Any] | None:
    """The JSON object in a file of the settings folder; None if there is no such file."""
    try:
        with open(f"{home}/{name}", "rb") as file:  # pathlib takes as long as reading it
            found = json.loads(file.read())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadArgs(f"{name} in the settings folder cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise BadArgs(f"{name} in the settings folder is not valid JSON; repair or remove it") from None
    if not isinstance(found, dict):
        raise BadArgs(f"{name} in the settings folder must hold a JSON object; repair or remove it")
    return found


def text(found: Mapping[str, Any], key: str, name: str) -> str:
    """A text value of the object in file ``name``, "" if there is none; raises BadArgs for any other type."""
    value = found.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadArgs(f"{name} in the settings folder: {key} must be text")
    return value.strip()
