"""List what is public, in docs/public.txt: Python names, commands, errors, settings, verbs, versions of formats.

python tools/public.py           write the list; refused if it has changed and the changelog has not
python tools/public.py --check   exit 1 if the list is out of date

A line that changes or goes may break what others have written. So the list is renewed together with the changelog: its
first line is the digest of the changelog that it was written with.
"""

import argparse
import enum
import hashlib
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from cohabit.errors import every_error
from cohabit.faces.cli import parser_of
from cohabit.faces.cli.completions import words_of
from cohabit.faces.cli.verbs import VERBS
from cohabit.house.commands import every_command
from cohabit.house.settings import settings_table
from cohabit.house.store.postgres_schema import SCHEMA as POSTGRES_SCHEMA
from cohabit.house.store.sqlite_opening import SCHEMA as SQLITE_SCHEMA
from cohabit.model.film import Film
from cohabit.model.grant import ROLES, Capability
from cohabit.registry import known_worlds, make_world
from cohabit.room.state import FORMAT

ROOT: Final = Path(__file__).parent.parent
LIST: Final = ROOT / "docs/public.txt"
CHANGELOG: Final = ROOT / "CHANGELOG.md"
MODULES: Final = (
    "cohabit", "cohabit.adapter", "cohabit.agents.contract", "cohabit.bodies", "cohabit.client", "cohabit.envs",
    "cohabit.errors", "cohabit.fair", "cohabit.features", "cohabit.library", "cohabit.protocols.kibitz",
    "cohabit.protocols.wsap", "cohabit.replayed", "cohabit.room.feature", "cohabit.testing", "cohabit.world",
)  # fmt: skip
"""The modules that users import from. Everything else may change at any time."""
NAMES_ONLY: Final = frozenset({"cohabit.features"})
"""Modules that name parts of the kernel. The names are public; methods that features do not need may change."""


def public() -> Iterator[str]:
    """All lines of the list but the first."""
    yield from (f"record format {FORMAT}", f"film format {Film('', '', '', '', []).format}")
    yield from (f"schema sqlite {SQLITE_SCHEMA}", f"schema postgresql {POSTGRES_SCHEMA}")
    for module in MODULES:
        yield from _module(module)
    for where, command in every_command():
        yield f"command {where}.{command.name} {_json(_shape(command.schema))}"
    for name in known_worlds():
        yield f"world {name} version {make_world(name, {}).spec.version}"
    yield from sorted(f"error {error.code} {error.status}" for error in every_error())
    yield from sorted(f"capability {capability}" for capability in Capability)
    yield from sorted(f"role {role} {_json(sorted(grant))}" for role, grant in ROLES.items())
    yield from sorted(f"setting {name} = {default!r}" for name, default, _ in settings_table())
    for verb in VERBS.values():
        yield f"verb {verb.name} {' '.join(sorted(set(words_of(parser_of(verb)[0]))))}".rstrip()


def _module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == name]
    for key in sorted(getattr(module, "__all__", own)):
        if name in NAMES_ONLY:
            yield f"name {name}.{key}"
        elif not key.startswith("_"):
            yield from _value(f"{name}.{key}", getattr(module, key))


def _value(path: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value) and not value.__module__.startswith("cohabit"):
        yield f"value {path}"  # another name of a class of Python's, such as SeatId of str
    elif inspect.isclass(value) and issubclass(value, enum.Enum):
        yield f"enum {path}({', '.join(member.value for member in value)})"
    elif inspect.isclass(value):
        yield f"class {path}{_signature(value)}"
        for key, member in sorted(vars(value).items()):
            if not key.startswith("_") and callable(getattr(value, key)):
                yield f"method {path}.{key}{_signature(getattr(value, key))}"
            elif not key.startswith("_") and isinstance(member, property):
                yield f"property {path}.{key}"
    elif callable(value):
        yield f"function {path}{_signature(value)}"
    else:
        yield f"value {path}"


def _signature(value: Any) -> str:
    """The parameters, and which of them may be left out. Without types: each Python writes them differently."""
    if hasattr(value, "__struct_fields__"):  # msgspec: the last ones have defaults
        needed = len(value.__struct_fields__) - len(value.__struct_defaults__)
        fields = [f"{name}{'=' * (i >= needed)}" for i, name in enumerate(value.__struct_fields__)]
        return f"({', '.join(fields)})"
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError, NameError):
        return ""
    return f"({', '.join(map(_parameter, parameters))})"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else "*" * (parameter.kind is parameter.VAR_POSITIONAL)
    by_name = " (by name)" if parameter.kind is inspect.Parameter.KEYWORD_ONLY else ""
    return f"{stars}{parameter.name}{'=' * (parameter.default is not parameter.empty)}{by_name}"


def _shape(schema: Any) -> Any:
    """A schema without its descriptions."""
    if isinstance(schema, dict):
        return {key: _shape(value) for key, value in schema.items() if key not in ("description", "title")}
    return [_shape(value) for value in schema] if isinstance(schema, list) else schema


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def changelog_digest(changelog: str) -> str:
    """The digest of the newest part of the changelog."""
    newest = re.search(r"^## \[.*?(?=^## \[|\Z)", changelog, re.DOTALL | re.MULTILINE)
    return hashlib.sha256((newest[0] if newest else changelog).encode()).hexdigest()[:16]


def problem(known: str, now: list[str], digest: str) -> str:
    """Why the list may not be renewed; empty if it may. ``known``: the file."""
    first, *lines = known.splitlines() or [""]
    gone = [line for line in lines if line not in set(now)]
    if gone and first == f"changelog {digest}":
        shown = "\n".join(f"  - {line[:150]}" for line in gone[:20])
        return f"These lines change or go, and CHANGELOG.md says nothing new about it:\n{shown}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare")
    known = LIST.read_text() if LIST.is_file() else ""
    now, digest = [*public()], changelog_digest(CHANGELOG.read_text())
    if parser.parse_args().check:
        return int(known.splitlines()[1:] != now)
    if wrong := problem(known, now, digest):
        print(wrong)
        return 1
    if known.splitlines()[1:] != now:
        LIST.write_text("\n".join([f"changelog {digest}", *now]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
