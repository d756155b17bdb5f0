"""What a tool is: a typed function with a docstring. Its schema, its line in the docs and its verb come from there."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from cohabit.errors import BadArgs, UnknownCommand
from cohabit.workspace.answers import HALF, Answer

if TYPE_CHECKING:
    from cohabit.workspace.session import Session

Profile = Literal["compat", "full"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A declared tool. ``run`` gets the session or the active workspace first, then the arguments by name."""

    name: str
    summary: str
    description: str
    run: Callable[..., Answer]
    args: type[msgspec.Struct]
    on: Literal["session", "workspace"]
    profile: Profile
    """``compat`` tools are the twenty of the seed; ``full`` ones are shown by the full profile only."""
    writes: bool
    """Whether it changes files, history or the remote. The others may be offered to whoever only looks."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Their names on the wire."""
        return self.args.__struct_encode_fields__

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, as plain as can be: parts are written out, and what may be left out is not
        also allowed to be null. (Null is taken all the same.)"""
        (schema,), parts = msgspec.json.schema_components([self.args], ref_template="{name}")
        body = _plain(schema, parts)
        body.pop("description", None)
        body.setdefault("properties", {})
        body["additionalProperties"] = False
        return body

    def call(self, session: "Session", args: Mapping[str, Any]) -> Answer:
        """Check the arguments and run. Unknown arguments are ignored, as the earlier tool does."""
        try:
            if not _is_usable(dict(args)):
                raise BadArgs(f"{self.name}: half a character in an argument (a lone surrogate), or a mad number")
            given = msgspec.convert(dict(args), self.args)
        except msgspec.ValidationError as wrong:
            raise BadArgs(f"{self.name}: {wrong}") from None
        except RecursionError:
            raise BadArgs(f"{self.name}: the arguments are nested too deeply") from None
        named = {field: getattr(given, field) for field in self.args.__struct_fields__}
        if self.on == "session":
            return self.run(session, **named)
        workspace = session.workspace()
        with workspace.held():
            return self.run(workspace, **named)


TOOLS: Final[dict[str, Tool]] = {}


def tool(
    *, profile: Profile = "compat", on: Literal["session", "workspace"] = "workspace", writes: bool = False
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Declare a tool. The first parameter is the session or the workspace; the rest are its arguments."""

    def declare(function: Callable[..., Answer]) -> Callable[..., Answer]:
        name = function.__name__.rstrip("_")
        text = inspect.getdoc(function)
        assert text, f"{name} has no docstring"
        TOOLS[name] = Tool(name, text.partition("\n")[0], text, function, _args(name, function), on, profile, writes)
        return function

    return declare


def tools(profile: Profile = "full") -> dict[str, Tool]:
    """All tools of a profile, in the order of their declaration."""
    import cohabit.workspace.tools  # noqa: F401  (declares them)

    return {name: tool for name, tool in TOOLS.items() if profile == "full" or tool.profile == "compat"}


def find(name: str, profile: Profile = "full") -> Tool:
    found = tools(profile).get(name)
    if found is None:
        raise UnknownCommand(f"there is no tool {name[:80]!r}")
    return found


def _is_usable(value: Any) -> bool:
    """JSON can hold texts that are no UTF-8 and numbers that no system call takes; no file and no answer can."""
    if isinstance(value, str):
        return value.isascii() or not HALF.search(value)
    if isinstance(value, int):
        return abs(value) < 2**53
    if isinstance(value, dict):
        return all(_is_usable(key) and _is_usable(each) for key, each in value.items())
    return all(map(_is_usable, value)) if isinstance(value, (list, tuple)) else True


def _args(name: str, function: Callable[..., Answer]) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        kind = hints[parameter.name]
        if get_origin(kind) is Annotated:  # a plain string beside the type is the argument's description
            base, *notes = get_args(kind)
            kind = Annotated[base, *(msgspec.Meta(description=n) if isinstance(n, str) else n for n in notes)]
        default = [] if parameter.default is parameter.empty else [parameter.default]
        fields.append((parameter.name, kind, *default))
    # `for` is a word of Python's: the parameter is called `for_`, the argument `for`.
    rename = {field[0]: field[0].rstrip("_") for field in fields}
    return msgspec.defstruct(name, fields, kw_only=True, frozen=True, rename=rename)


def _plain(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _plain(parts[schema["$ref"]], parts)
    nothing: tuple[Any, ...] = (("default", None), ("required", []))
    plain = {key: value for key, value in schema.items() if key != "title" and (key, value) not in nothing}
    if "anyOf" in plain:
        kinds = [_plain(kind, parts) for kind in plain.pop("anyOf") if kind != {"type": "null"}]
        plain = {**kinds[0], **plain} if len(kinds) == 1 else {"anyOf": kinds, **plain}
    if "items" in plain:
        plain["items"] = _plain(plain["items"], parts)
    if "properties" in plain:
        plain["properties"] = {name: _plain(kind, parts) for name, kind in plain["properties"].items()}
    return plain
