"""The name of a brain: what an agent thinks with, as one string.

``random`` · ``warlord`` · ``local`` · ``human`` · ``ollama:qwen3:8b`` · ``openai:MODEL@URL`` · ``anthropic:MODEL`` ·
``FILE.py:Class`` · ``command:PROGRAM ARGUMENTS`` · an entry point of the group ``cohabit.agents``. Options follow a
question mark, as in ``local?temperature=0.2&max_tokens=64``; those of a program are its arguments. The same string
works in scenarios, on the command line and in the lab.
"""

import json
import re
import shlex
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from msgspec import Struct
from msgspec.structs import replace

from cohabit.errors import BadArgs

WEIGHTS_FILE = "local"
"""The kind of brain whose target is the path of a file; that of others is the name of a model."""
COMMAND = "command"
"""The kind of brain whose target is a command line; see ``agents.command``."""
MAX_BRAIN = 500
"""Characters of the name of a brain."""
_SECRET_OPTION = re.compile(r"key|secret|passw|authori[sz]|^auth$|credential|bearer|token(?!s$)", re.IGNORECASE)
"""Names of options that would hold a secret; ``max_tokens`` does not."""


class Brain(Struct, frozen=True, omit_defaults=True):
    """A parsed name. ``kind`` is the part before the first colon; ``target`` the model, the class in a file, or the
    command line of a program."""

    kind: str
    target: str = ""
    url: str = ""
    options: dict[str, Any] = {}

    @property
    def is_file(self) -> bool:
        return self.kind.endswith(".py")

    @property
    def is_command(self) -> bool:
        return self.kind == COMMAND

    @property
    def is_code(self) -> bool:
        """True if it is code of the operator: in a file, or a program."""
        return self.is_file or self.is_command

    @property
    def words(self) -> list[str]:
        """Of a command: the program and its arguments. No shell reads them."""
        return shlex.split(self.target)

    @property
    def is_code_or_network(self) -> bool:
        """True if it runs code of the operator or connects to an address: remote callers may choose it only from the
        house's list."""
        return self.is_code or bool(self.target) or bool(self.url)

    @property
    def label(self) -> str:
        """The name for other members: without folders, addresses, options and arguments."""
        if self.is_command:
            return f"{COMMAND}:{Path(self.words[0]).name}"
        kind = Path(self.kind).name if self.is_file else self.kind
        target = Path(self.target).name if self.kind == WEIGHTS_FILE else self.target
        return f"{kind}:{target}" if target else kind

    def with_absolute_paths(self, folder: Path) -> "Brain":
        """The same, if it is code: its file, or the files that its command names, are found from any directory."""
        if self.is_file:
            return replace(self, kind=str((folder / Path(self.kind).expanduser()).resolve()))
        program, *arguments = self.words
        # As for a shell, a program without a slash is one of the path, whatever is in the folder.
        first = _found(program, folder) if "/" in program else program
        return replace(self, target=shlex.join([first, *(_found(word, folder) for word in arguments)]))

    def __str__(self) -> str:
        name = f"{self.kind}:{self.target}" if self.target else self.kind
        if self.url:
            name += f"@{self.url}"
        if self.options:
            name += "?" + "&".join(f"{quote(key)}={_option_text(value)}" for key, value in self.options.items())
        return name


def parse_brain(name: str, options: Mapping[str, Any] | None = None) -> Brain:
    """Parse the name of a brain. ``options`` are those given as a table; they come after those in the name."""
    if not name or len(name) > MAX_BRAIN or not name.isprintable():
        raise BadArgs(f"the name of a brain must have 1 to {MAX_BRAIN} printable characters")
    if is_command(name):
        return _parse_command(name.partition(":")[2], options)
    plain, _, query = name.partition("?")
    kind, _, rest = plain.partition(":")
    if ".py" in plain and (plain.endswith(".py") or ".py:" in plain):
        path, _, rest = plain.partition(".py")
        return Brain(path + ".py", rest.removeprefix(":"), "", _options(query, options))
    target, _, url = rest.partition("@")
    if url and not url.startswith(("http://", "https://")):
        raise BadArgs(f"the address in {plain!r} must start with http:// or https://")
    if "@" in url:
        raise BadArgs(
            "a user or password does not belong in the name of a brain, which is recorded; set it in the environment"
        )
    return Brain(kind, target, url, _options(query, options))


def is_command(name: str) -> bool:
    """True if this is the name of a brain that is a program."""
    return name.startswith(COMMAND + ":")


def _parse_command(line: str, options: Mapping[str, Any] | None) -> Brain:
    if options:
        raise BadArgs("the options of a program are its arguments: write them behind command:PROGRAM")
    try:
        words = shlex.split(line)
    except ValueError as wrong:
        raise BadArgs(f"the command cannot be split into words ({wrong}); check its quotation marks") from None
    if not words or not words[0]:
        raise BadArgs("name the program to start, as in command:node agent.js")
    return Brain(COMMAND, line.strip())


def _found(word: str, folder: Path) -> str:
    """A word of a command, with the whole path if it names a file."""
    path = folder / Path(word).expanduser()
    return str(path.resolve()) if path.is_file() else word


@lru_cache(maxsize=1024)
def label_of(name: str) -> str:
    """The label of the brain with this name."""
    try:
        return parse_brain(name).label
    except BadArgs:  # of an old record
        return name[:80]


def _options(query: str, table: Mapping[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in [*parse_qsl(query, keep_blank_values=True), *(table or {}).items()]:
        if _SECRET_OPTION.search(key):
            raise BadArgs(f"{key} does not belong in the name of a brain, which is recorded; set it in the environment")
        found[key] = _read(value) if isinstance(value, str) else value
    return found


def _read(text: str) -> Any:
    """Numbers, true and false as such, everything else as text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


def _option_text(value: Any) -> str:
    return quote(value if isinstance(value, str) else json.dumps(value), safe="/:,@ ")
