"""Turn a typed function into a declaration: validated arguments, JSON Schema and description.

Room and house commands, world actions, workspace tools and world configs are all declared this way: the signature
defines the arguments, the docstring the description, the return annotation the result type.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cached_property, partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest

_encode = msgspec.json.Encoder().encode


class Declaration:
    """A function that can be called with untrusted arguments.

    ``skip``: how many leading parameters are not arguments (``self``, a context). ``args``: the type of the arguments,
    if the signature does not define it. ``raw``: arguments are passed unvalidated; the schema is informational.
    """

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        *,
        skip: int = 1,
        args: type[msgspec.Struct] | None = None,
        doc: str | None = None,
        raw: bool = False,
        ignore_unknown: bool = False,
    ) -> None:
        self.name = name
        self.run = run
        self.raw = raw
        self.doc = inspect.cleandoc(doc) if doc is not None else inspect.getdoc(run) or ""
        self._skip = skip
        self._ignore_unknown = ignore_unknown
        if args is not None:
            self.args_type = args

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The annotations of the function."""
        function = self.run.__init__ if isinstance(self.run, type) else self.run  # type: ignore[misc]  # a class: use its constructor
        return get_type_hints(function, include_extras=True)

    @cached_property
    def args_type(self) -> type[msgspec.Struct]:
        """The arguments as one type."""
        fields: list[Any] = []
        for parameter in list(inspect.signature(self.run).parameters.values())[self._skip :]:
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            kind = _with_description(self.hints.get(parameter.name, Any))
            fields.append((parameter.name, kind, _default(parameter.default)))
        title = "".join(part.capitalize() for part in self.name.split("_")) + "Args"
        return msgspec.defstruct(
            title, fields, kw_only=True, forbid_unknown_fields=not self._ignore_unknown, omit_defaults=True,
            rename=wire_name,
        )  # fmt: skip

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments on the wire."""
        return self.args_type.__struct_encode_fields__

    @cached_property
    def _decode(self) -> Callable[[bytes], Any]:
        return msgspec.json.Decoder(self.args_type).decode

    @cached_property
    def _takes_nothing(self) -> bool:
        return not self.arguments

    def derive(self) -> None:
        """Derive what ``check`` needs from the function."""
        if "_takes_nothing" not in vars(self):
            _ = self._takes_nothing, self._takes_unknown if self.raw else self._decode

    def check(self, args: Any) -> dict[str, Any]:
        """Validate the arguments. Returns keyword arguments for the function; raises BAD_ARGS."""
        if not args and self._takes_nothing:
            return {}
        # Through JSON, because the record stores JSON: a replay gets exactly the same arguments.
        try:
            encoded = _encode(args if args is not None else {})
        except (TypeError, ValueError, OverflowError, RecursionError) as wrong:
            raise BadArgs(f"{self.name}: the arguments cannot be encoded as JSON: {wrong}", command=self.name) from None
        if self.raw:
            return self._unvalidated(msgspec.json.decode(encoded))
        try:
            typed = self._decode(encoded)
        except msgspec.DecodeError as wrong:
            known = list(self.arguments)
            raise BadArgs(
                f"{self.name}: {in_words(wrong, msgspec.json.decode(encoded), self.schema)}",
                command=self.name,
                did_you_mean=_nearest(args, known),
            ) from None
        return msgspec.structs.asdict(typed)

    @cached_property
    def _takes_unknown(self) -> bool:
        parameters = inspect.signature(self.run).parameters.values()
        return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)

    def _unvalidated(self, given: Any) -> dict[str, Any]:
        """The arguments of a raw declaration. Unknown ones are passed on if the function takes ``**unknown``."""
        if not isinstance(given, dict):
            raise BadArgs(f"{self.name}: the arguments must be an object{_takes(self.schema, '')}", command=self.name)
        unknown = given if self._takes_unknown else {}
        return {**unknown, **{name: given.get(name) for name in self.arguments}}

    def check_text(self, args: Mapping[str, str]) -> dict[str, Any]:
        """Validate string arguments, such as a query string, converting them to the declared types."""
        try:
            typed = msgspec.convert(args, self.args_type, strict=False)
        except msgspec.ValidationError as wrong:
            raise BadArgs(f"{self.name}: {in_words(wrong, args, self.schema)}", command=self.name) from None
        return {
            wire: getattr(typed, name)
            for name, wire in zip(typed.__struct_fields__, typed.__struct_encode_fields__, strict=True)
        }

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema (2020-12) of the arguments."""
        return object_schema(self.args_type)

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the result, if the function declares an object as its return type."""
        return self._schema_of(self.hints.get("return", Any))

    def _schema_of(self, kind: Any) -> dict[str, Any] | None:
        try:
            schema = object_schema(kind)
        except TypeError:
            return None
        return schema if schema.get("type") == "object" else None

    @cached_property
    def summary(self) -> str:
        """The first paragraph of the description, on one line."""
        return self.doc.split("\n\n")[0].replace("\n", " ")


def _default(value: Any) -> Any:
    """The default of an argument. A list or dict is copied for each call."""
    if value is inspect.Parameter.empty:
        return msgspec.NODEFAULT
    if isinstance(value, list | dict | set) and value:
        return msgspec.field(default_factory=partial(deepcopy, value))
    return value


def wire_name(parameter: str) -> str:
    """``for`` is a Python keyword: the parameter is called ``for_``, the argument ``for``."""
    return parameter.rstrip("_")


def object_schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type, with the object itself at the top level. (msgspec puts it behind a ``$ref``.)"""
    schema = msgspec.json.schema(kind)
    defs = dict(schema.get("$defs", {}))
    root = schema
    ref = root.get("$ref")
    if isinstance(ref, str):
        root = dict(defs.pop(ref.rsplit("/", 1)[1]))
    rest = {k: v for k, v in root.items() if k not in ("title", "$defs")}
    if defs:
        rest["$defs"] = defs
    return rest


def _with_description(kind: Any) -> Any:
    """A plain string in Annotated is the description of the argument: ``Annotated[str, "what to say"]``."""
    if get_origin(kind) is not Annotated:
        return kind
    base, *notes = get_args(kind)
    return Annotated[base, *(msgspec.Meta(description=n) if isinstance(n, str) else n for n in notes)]


# -- validation errors in words -------------------------------------------------------------------
_PLACE = re.compile(r" - at `(key in )?\$(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_UNKNOWN = object()
MAX_SHOWN = 60
"""How many characters of a wrong value a message shows."""


def in_words(wrong: Exception, given: Any, schema: Mapping[str, Any]) -> str:
    """A validation error of msgspec as a sentence: which argument, what it must be, and what was given.

    msgspec says where the value is; what it must be comes from the schema.
    """
    text = str(wrong)
    place = _PLACE.search(text)
    steps = [name or index for name, index in _STEP.findall(place[2])] if place else []
    spec: Mapping[str, Any] = schema
    for step in steps:
        spec, given = _below(spec, step, schema), _item(given, step)
    where = _where(steps)
    if place is not None and place[1]:
        return f"{where} has an invalid key"
    problem = text[: place.start()] if place is not None else text
    field = problem.partition("`")[2].removesuffix("`")
    if problem.startswith("Object missing"):
        return f"{where + '.' if where else ''}{field} is missing{_takes(_object(spec, schema), where)}"
    if problem.startswith("Object contains"):
        what = f"unknown {'field' if where else 'argument'} {_quoted(field)}"
        return what + _takes(_object(spec, schema), where)
    if not where:
        return f"the arguments must be an object{_takes(spec, '')}"
    shown = "" if given is _UNKNOWN else f", not {_shown(given)}"
    return f"{where} must be {_expected(spec, schema)}{shown}"


def _where(steps: list[str]) -> str:
    parts = "".join(f"[{step}]" if step.isdecimal() else f".{step}" for step in steps if step != "...")
    return ("a value of " if "..." in steps[-1:] else "") + parts.lstrip(".")


def _takes(spec: Mapping[str, Any], where: str) -> str:
    """The arguments that are known, as the end of a message."""
    known = ", ".join(spec.get("properties", ()))
    return f"; {where or 'it'} takes {known or ('no fields' if where else 'no arguments')}"


def _options(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a schema, with references followed."""
    if "$ref" in spec:
        return _options(schema.get("$defs", {}).get(spec["$ref"].rpartition("/")[2], {}), schema)
    if "anyOf" in spec:
        return [option for below in spec["anyOf"] for option in _options(below, schema)]
    return [spec]


def _object(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The alternative that is an object; of several, the first."""
    return next((option for option in _options(spec, schema) if "properties" in option), {})


def _below(spec: Mapping[str, Any], step: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a field or of an item."""
    for option in _options(spec, schema):
        found = option.get("properties", {}).get(step)
        if found is None and step.isdecimal():
            first = option.get("prefixItems", ())
            found = first[int(step)] if int(step) < len(first) else option.get("items") or None
        if found is None and step == "...":
            found = option.get("additionalProperties") or option.get("items")
        if isinstance(found, Mapping):
            return found
    return {}


def _item(given: Any, step: str) -> Any:
    if isinstance(given, Mapping):
        return given.get(step, _UNKNOWN)
    if isinstance(given, list) and step.isdecimal() and int(step) < len(given):
        return given[int(step)]
    return _UNKNOWN


_KINDS = {
    "integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text", "array": "a list",
    "object": "an object", "null": "null",
}  # fmt: skip


def _expected(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What a value must be."""
    found = list(dict.fromkeys(_kind(option) for option in _options(spec, schema)))
    return f"{', '.join(found[:-1])} or {found[-1]}" if len(found) > 1 else found[0]


def _kind(spec: Mapping[str, Any]) -> str:
    if "const" in spec or "enum" in spec:
        values = [spec["const"]] if "const" in spec else list(spec["enum"])
        return ("one of " if len(values) > 1 else "") + ", ".join(map(_shown, values))
    kind = spec.get("type")
    words = _KINDS.get(kind, "a valid value") if isinstance(kind, str) else "a valid value"
    if kind in ("integer", "number"):
        words += _limits(spec.get("minimum"), spec.get("maximum"))
        words += f" above {spec['exclusiveMinimum']:g}" if "exclusiveMinimum" in spec else ""
        words += f" below {spec['exclusiveMaximum']:g}" if "exclusiveMaximum" in spec else ""
        words += f" that is a multiple of {spec['multipleOf']:g}" if "multipleOf" in spec else ""
    elif kind == "string":
        words = _FORMATS.get(spec.get("format") or spec.get("contentEncoding") or "", words)
        words += _limits(spec.get("minLength"), spec.get("maxLength"), "character")
        words += " of the right form" if "pattern" in spec else ""
    elif kind == "array":
        words += _limits(spec.get("minItems"), spec.get("maxItems"), "item")
    elif kind == "object":
        words += _limits(spec.get("minProperties"), spec.get("maxProperties"), "field")
    return words


_FORMATS = {
    "date-time": "a date and time such as 2030-01-31T12:00:00Z", "uuid": "a UUID", "base64": "text in base64",
}  # fmt: skip


def _limits(least: float | None, most: float | None, unit: str = "") -> str:
    """The bounds of a number, or of a length."""
    if least is None and most is None:
        return ""
    last = most if most is not None else least
    units = f" {unit}{'' if last == 1 else 's'}" if unit else ""
    if least is not None and most is not None:
        return f" of {least}{units}" if least == most else f" {'of' if unit else 'from'} {least} to {most}{units}"
    return f" of at least {least}{units}" if least is not None else f" of at most {most}{units}"


def _shown(value: Any) -> str:
    """A wrong value, short and on one line."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return _quoted(value) if isinstance(value, str) else _encode(value).decode()[:MAX_SHOWN]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…")


def _nearest(args: Any, known: list[str]) -> list[str]:
    unknown = [str(k)[:80] for k in args if k not in known] if isinstance(args, Mapping) else []
    return nearest(unknown[0], known, 1) if unknown and known else []
