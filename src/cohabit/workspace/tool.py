"""A tool is a typed function with a docstring. Its schema and its documentation are derived from that."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from cohabit.declare import Declaration, object_schema
from cohabit.errors import BadArgs
from cohabit.model.validation_errors import in_words
from cohabit.workspace.answers import SURROGATE, Answer
from cohabit.workspace.session_state import SessionState

Profile = Literal["compat", "full"]
MAX_INTEGER: Final = 2**53
"""Larger numbers are refused: JSON clients cannot represent them exactly, and no system call accepts them."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A declared tool. ``run`` gets the session or the active workspace, then the arguments by name."""

    name: str
    summary: str
    description: str
    run: Callable[..., Answer]
    args: type[msgspec.Struct]
    on: Literal["session", "workspace"]
    profile: Profile
    """``compat`` tools are the twenty of Multisphere; the others are in the full profile only."""
    writes: bool
    """True if it changes files, history or the remote. The others are safe for members who may only read."""
    remote: bool = False
    """True if it may wait for the remote. The others can be called while such a call waits."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Their names on the wire."""
        return self.args.__struct_encode_fields__

    def schema(self) -> dict[str, Any]:
        """A simple JSON Schema of the arguments: without references, and without null for optional arguments (null is
        accepted nevertheless)."""
        (schema,), parts = msgspec.json.schema_components([self.args], ref_template="{name}")
        body = _simplified(schema, parts)
        body.pop("description", None)
        body.setdefault("properties", {})
        body["additionalProperties"] = False
        return body

    def call(self, session: SessionState, args: Mapping[str, Any]) -> Answer:
        """Check the arguments and run. Unknown arguments are ignored, as in Multisphere."""
        try:
            if not _is_usable(dict(args)):
                raise BadArgs(f"{self.name}: an argument contains a lone surrogate or a number that is too large")
            given = msgspec.convert(dict(args), self.args)
        except msgspec.ValidationError as error:
            raise BadArgs(f"{self.name}: {in_words(error, args, object_schema(self.args))}") from None
        except RecursionError:
            raise BadArgs(f"{self.name}: the arguments are nested too deeply") from None
        named = {field: getattr(given, field) for field in self.args.__struct_fields__}
        if self.on == "session":
            return self.run(session, **named)
        workspace = session.workspace()
        with workspace.held():
            return self.run(workspace, **named)


def tool(
    function: Callable[..., Answer],
    profile: Profile = "compat",
    *,
    on: Literal["session", "workspace"] = "workspace",
    writes: bool = False,
    remote: bool = False,
) -> Tool:
    """Declare a tool. The first parameter is the session or the workspace, the others are its arguments."""
    name = function.__name__.rstrip("_")
    declared = Declaration(name, function, ignore_unknown=True)
    assert declared.doc, f"{name} has no docstring"
    summary = declared.doc.partition("\n")[0]
    return Tool(name, summary, declared.doc, function, declared.args_type, on, profile, writes, remote)


def _is_usable(value: Any) -> bool:
    """True if a value has no text that cannot be encoded as UTF-8 and no number that is too large."""
    if isinstance(value, str):
        return value.isascii() or not SURROGATE.search(value)
    if isinstance(value, int):
        return abs(value) < MAX_INTEGER
    if isinstance(value, dict):
        return all(_is_usable(key) and _is_usable(each) for key, each in value.items())
    return all(map(_is_usable, value)) if isinstance(value, (list, tuple)) else True


def _simplified(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _simplified(parts[schema["$ref"]], parts)
    redundant: tuple[Any, ...] = (("default", None), ("required", []))
    simple = {key: value for key, value in schema.items() if key != "title" and (key, value) not in redundant}
    if "anyOf" in simple:
        kinds = [_simplified(kind, parts) for kind in simple.pop("anyOf") if kind != {"type": "null"}]
        simple = {**kinds[0], **simple} if len(kinds) == 1 else {"anyOf": kinds, **simple}
    if "items" in simple:
        simple["items"] = _simplified(simple["items"], parts)
    if "properties" in simple:
        simple["properties"] = {name: _simplified(kind, parts) for name, kind in simple["properties"].items()}
    return simple
