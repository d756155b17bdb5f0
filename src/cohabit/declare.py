"""Turn a typed function into a declaration: validated arguments, JSON Schema and description.

Room and house commands, world actions, workspace tools and world configs are all declared this way: the signature
defines the arguments, the docstring the description, the return annotation the result type.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cached_property, partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest
from cohabit.model.validation_errors import alternatives, in_words, known_arguments

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
        # Built by the first ``check``, because that is slow. Not a cached property, because those are slower to read.
        self._decode: Callable[[bytes], Any] | None = None
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
    def wire_names(self) -> dict[str, str]:
        """The arguments whose name on the wire is not that of the parameter, by parameter."""
        fields = zip(self.args_type.__struct_fields__, self.arguments, strict=True)
        return {parameter: name for parameter, name in fields if parameter != name}

    def on_wire(self, checked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Checked arguments under the names that ``check`` accepts, as a record keeps them."""
        if not self.wire_names:
            return checked
        return {self.wire_names.get(parameter, parameter): value for parameter, value in checked.items()}

    @cached_property
    def _takes_nothing(self) -> bool:
        return not self.arguments

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
        decode = self._decode
        if decode is None:
            decode = self._decode = msgspec.json.Decoder(self.args_type).decode
        try:
            typed = decode(encoded)
        except msgspec.DecodeError as wrong:
            given, again = msgspec.json.decode(encoded), lambda value: decode(_encode(value))
            raise BadArgs(
                f"{self.name}: {in_words(wrong, given, self.schema, again)}",
                command=self.name,
                did_you_mean=_nearest(args, list(self.arguments)),
            ) from None
        return msgspec.structs.asdict(typed)

    @cached_property
    def _takes_unknown(self) -> bool:
        parameters = inspect.signature(self.run).parameters.values()
        return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)

    def _unvalidated(self, given: Any) -> dict[str, Any]:
        """The arguments of a raw declaration. Unknown ones are passed on if the function takes ``**unknown``."""
        if not isinstance(given, dict):
            raise BadArgs(
                f"{self.name}: the arguments must be an object{known_arguments(self.schema)}", command=self.name
            )
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

    def parameters(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The schema of each parameter; of one that may be null, the schema of its other values."""
        for parameter, spec in self.schema.get("properties", {}).items():
            known = [option for option in alternatives(spec, self.schema) if option.get("type") != "null"]
            kinds = dict.fromkeys(map(_type_of, known))
            only = known[0] if len(known) == 1 else {}
            yield parameter, {**only, **spec, "type": spec.get("type") or " or ".join(kinds)}

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


def _type_of(schema: Mapping[str, Any]) -> str:
    """The type of the values that a schema allows; a choice of words has none of its own."""
    is_words = all(isinstance(value, str) for value in schema.get("enum", [None]))
    return str(schema.get("type", "string" if is_words else "any"))


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


def _nearest(args: Any, known: list[str]) -> list[str]:
    unknown = [str(k)[:80] for k in args if k not in known] if isinstance(args, Mapping) else []
    return nearest(unknown[0], known, 1) if unknown and known else []
