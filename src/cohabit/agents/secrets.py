"""API keys: read from the environment, and removed from every text that leaves a backend.

A server can repeat the key that it was sent, and a client can quote it in an exception. Neither may reach a record, a
log, a report, a transcript or a member.
"""

import json
import os
import re
from pathlib import Path

from cohabit.errors import BadArgs
from cohabit.model.observation import plain_line

HIDDEN = "[hidden]"
MIN_SECRET = 8
"""A shorter value of such a variable is no secret, and may be part of many words."""
MAX_READ, LONGEST_SECRET = 20_000, 1000
"""Characters of a text that are read, and how many of them at its end may be a part of a secret."""
OWN_VARIABLES = "COHABIT_"
"""The prefix of our own environment variables."""
_MAY_BE_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_PASSWORD_IN_ADDRESS = re.compile(r"://[^/@\s]*:[^/@\s]*@")
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)


def api_key(variable: str) -> str | None:
    """The key in an environment variable, without the spaces and line ends that files add; None if there is none."""
    key = os.environ.get(variable, "").strip()
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadArgs(f"the environment variable {variable} has a character that no key has; set it again")
    return key


def is_secret_name(name: str) -> bool:
    """True if an environment variable with this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def environment_without_secrets() -> dict[str, str]:
    """The environment for a program that is not part of Cohabit: without settings of the house, without variables that
    are named like a secret, and without addresses that contain a password."""
    return {
        name: value
        for name, value in os.environ.items()
        if not (name.startswith(OWN_VARIABLES) or _MAY_BE_SECRET.search(name) or _PASSWORD_IN_ADDRESS.search(value))
    }


def without_secrets(text: str) -> str:
    """The text without the values of environment variables that hold keys, however they are written."""
    for written in _written_secrets():
        text = text.replace(written, HIDDEN)
    return text


def in_public(text: object) -> str:
    """The text of an error, as it may be logged and shown: on one line, without keys and without control characters,
    which could change what a terminal shows."""
    whole = str(text)
    if len(whole) > MAX_READ:
        whole = whole[: MAX_READ - LONGEST_SECRET]  # its end may be a part of a key
    return without_secrets(plain_line(without_secrets(whole)))


def bytes_without_secrets(data: bytes) -> bytes:
    """The same for text in UTF-8."""
    for written in _written_secrets():
        data = data.replace(written.encode(errors="surrogateescape"), HIDDEN.encode())
    return data


def _written_secrets() -> list[str]:
    """The longest first: a secret may begin with another."""
    found: set[str] = set()
    for name, value in os.environ.items():
        if is_secret_name(name):
            for secret in (value, value.strip()):
                if len(secret) >= MIN_SECRET:
                    found |= {secret, repr(secret)[1:-1]}
                    found |= {json.dumps(secret, ensure_ascii=plain)[1:-1] for plain in (True, False)}
    return sorted(found, key=len, reverse=True)


# -- files that only their owner may read -----------------------------------------------------------
def private_folder(path: Path) -> None:
    """Create a folder, and those above it that are missing, for the owner alone."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, data: bytes) -> None:
    """Replace a file as a whole, readable by the owner alone."""
    private_folder(path.parent)
    part = path.with_name(path.name + ".part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)
    part.replace(path)
