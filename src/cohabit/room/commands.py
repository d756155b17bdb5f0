"""Commands: declared once as typed functions; every face derives what it shows from this.

A room command is a function ``(ctx, …) -> result``; a world's action or query becomes one too. The
signature gives the argument type (checked by msgspec) and its JSON Schema, the docstring the text, the
return annotation the output schema.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cache, cached_property
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec

from cohabit.errors import BadArgs, UnknownCommand
from cohabit.model.action import ActionDef, ActionResult, ActionSpace, ParamDef
from cohabit.model.grant import Capability, capabilities
from cohabit.model.suggest import nearest
from cohabit.world import Mark, Seat, World

Category = Literal["meta", "discovery", "action", "read", "control", "bus", "host"]
Where = Literal["world", "room", "house"]
F = TypeVar("F", bound=Callable[..., Any])
_encode = msgspec.json.Encoder().encode


class Command:
    """One thing a member can ask."""

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        *,
        where: Where,
        category: Category,
        needs: tuple[Capability, ...] = (),
        records: bool = False,
        raw: bool = False,
        ungated: bool = False,
        waits: Callable[[Any], bool] | None = None,
        group: str = "",
        preconditions: tuple[str, ...] = (),
        skip_params: int = 1,
        prefix: str = "",
        gives: type | None = None,
    ) -> None:
        self.name = name
        self.run = run
        self.where = where
        self.category = category
        self.needs = needs  # any one of them is enough; none: every member may
        self.records = records
        self.raw = raw
        self.acts = category in ("action", "control")
        self.gated = self.acts and not ungated
        self.waits = waits  # is this result still "nothing yet"? then the house may wait and ask again
        self.group = group or category
        self.preconditions = preconditions
        self.tool_name = prefix + name
        self.gives = gives  # what an action answers with, where that is not an ActionResult
        self._skip = skip_params
        self.doc = inspect.getdoc(run) or ""

    def __repr__(self) -> str:
        return f"<Command {self.name} ({self.category})>"

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.run, include_extras=True)

    @cached_property
    def _params(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.run).parameters.values())[self._skip :]

    @cached_property
    def needs_seat(self) -> bool:
        """Is this an action whose ``by`` may not be None?"""
        if self.where != "world" or not self.records:
            return False
        by = next(iter(inspect.signature(self.run).parameters), "")
        return self._hints.get(by) is Seat

    @cached_property
    def args_type(self) -> type[msgspec.Struct]:
        fields: list[Any] = []
        for p in self._params:
            kind = self._hints.get(p.name, Any)
            default = msgspec.NODEFAULT if p.default is p.empty else p.default
            fields.append((p.name, kind, default))
        title = "".join(part.capitalize() for part in self.name.split("_")) + "Args"
        return msgspec.defstruct(
            title, fields, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, rename=_wire_name
        )

    def check(self, args: Any) -> dict[str, Any]:
        """The arguments as the function takes them, or BAD_ARGS with words that say what is wrong."""
        if not args and not self._params:
            return {}
        # By way of JSON, because that is what the record keeps: a replay gets the very same arguments.
        try:
            plain = _encode(args if args is not None else {})
        except (TypeError, ValueError, OverflowError, RecursionError) as wrong:
            raise BadArgs(f"{self.name}: the arguments cannot be written as JSON: {wrong}", command=self.name) from None
        if self.raw:
            given = msgspec.json.decode(plain)
            return {p.name: given.get(p.name) for p in self._params} if isinstance(given, dict) else {}
        try:
            typed = self._decode(plain)
        except msgspec.DecodeError as wrong:
            known = [_wire_name(p.name) for p in self._params]
            raise BadArgs(
                f"{self.name}: {_in_words(str(wrong), known)}", command=self.name, did_you_mean=_closer(args, known)
            ) from None
        return msgspec.structs.asdict(typed)

    @cached_property
    def _decode(self) -> Callable[[bytes], msgspec.Struct]:
        return msgspec.json.Decoder(self.args_type).decode

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema (2020-12) of the arguments."""
        return _inline_root(msgspec.json.schema(self.args_type))

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the result, where the function says what it returns and that is an object."""
        acts = self.where == "world" and self.records
        kind = (self.gives or ActionResult) if acts else self._hints.get("return", Any)
        try:
            schema = _inline_root(msgspec.json.schema(kind))
        except TypeError:
            return None
        return schema if schema.get("type") == "object" else None

    @cached_property
    def summary(self) -> str:
        return self.doc.split("\n\n")[0].replace("\n", " ")

    def as_action(self) -> ActionDef:
        """This command as one line of the action space."""
        required = self.schema.get("required", [])
        params = [
            ParamDef(
                name,
                str(spec.get("description", "")),
                str(spec.get("type", "any")),
                name in required,
                spec.get("enum"),
                minimum=spec.get("minimum"),
                maximum=spec.get("maximum"),
            )
            for name, spec in self.schema.get("properties", {}).items()
        ]
        return ActionDef(self.name, self.doc, params, list(self.preconditions), self.group)


def command(
    *,
    category: Category,
    needs: Capability | tuple[Capability, ...] = (),
    records: bool = False,
    ungated: bool = False,
    waits: Callable[[Any], bool] | None = None,
    where: Where = "room",
    only_if: Callable[[World], bool] | None = None,
) -> Callable[[F], F]:
    """Declare a room (or house) command: the function's name is the command's name."""

    def put(function: F) -> F:
        held = needs if isinstance(needs, tuple) else (needs,)
        made = Command(
            function.__name__.rstrip("_"), function, where=where, category=category, needs=held, records=records,
            ungated=ungated, waits=waits,
        )  # fmt: skip
        function.__command__ = made  # type: ignore[attr-defined]  # functions take attributes
        function.__only_if__ = only_if  # type: ignore[attr-defined]
        return function

    return put


def declared_in(module: Any, world: World | None = None) -> Iterator[Command]:
    """The commands a module declares, leaving out those that make no sense for ``world``."""
    for value in vars(module).values():
        made = getattr(value, "__command__", None)
        if isinstance(made, Command) and getattr(value, "__module__", None) == module.__name__:
            fits = getattr(value, "__only_if__", None)
            if fits is None or world is None or fits(world):
                yield made


def commands_of(world: World) -> Iterator[Command]:
    """A world's actions and queries, in the order they are written."""
    seen: set[str] = set()
    for cls in type(world).__mro__:
        for name, method in vars(cls).items():
            mark = getattr(method, "__cohabit__", None)
            if isinstance(mark, Mark) and name not in seen:
                seen.add(name)
                yield Command(
                    mark.name or name,
                    getattr(world, name),
                    where="world",
                    category=mark.category,  # type: ignore[arg-type]  # Mark narrows it to categories
                    needs=tuple(sorted(capabilities(mark.needs))),
                    records=mark.what == "action",
                    raw=mark.raw,
                    ungated=mark.what == "query",
                    gives=mark.gives,
                    group=mark.group,
                    preconditions=mark.preconditions,
                    prefix=world.spec.tool_prefix,
                )


@cache
def renamed(command: Command, prefix: str) -> Command:
    """The same command under a longer name on MCP."""
    other = copy(command)
    other.tool_name = prefix + command.name
    return other


class CommandTable:
    """The commands of one room, by name."""

    def __init__(self, commands: Iterator[Command]) -> None:
        self._by_name: dict[str, Command] = {}
        for made in commands:
            if made.name in self._by_name:
                raise BadArgs(f"the name {made.name!r} is reserved: a world cannot take it for an action or query")
            self._by_name[made.name] = made
        self.get = self._by_name.get

    def __iter__(self) -> Iterator[Command]:
        return iter(self._by_name.values())

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def named(self, name: str) -> Command:
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            hints = nearest(str(name)[:80], list(self._by_name), 3)
            raise UnknownCommand(f"there is no command {str(name)[:80]!r} here", did_you_mean=hints) from None

    def action_space(self) -> ActionSpace:
        return ActionSpace([c.as_action() for c in self if c.where == "world" and c.records])


def _wire_name(parameter: str) -> str:
    """``for`` is a word of Python's: the parameter is called ``for_``, the argument ``for``."""
    return parameter.rstrip("_")


def _inline_root(schema: dict[str, Any]) -> dict[str, Any]:
    """msgspec puts the root behind a $ref; MCP clients want an object at the top."""
    root = schema
    defs = dict(schema.get("$defs", {}))
    ref = root.get("$ref")
    if isinstance(ref, str):
        root = dict(defs.pop(ref.rsplit("/", 1)[1]))
    rest = {k: v for k, v in root.items() if k not in ("title", "$defs")}
    if defs:
        rest["$defs"] = defs
    return rest


def _in_words(wrong: str, known: list[str]) -> str:
    """msgspec's message, with its JSON path put into words."""
    text, _, where = wrong.partition(" - at `$")
    where = where.rstrip("`").lstrip(".")
    takes = f"; it takes {', '.join(known)}" if known else "; it takes no arguments"
    if "unknown field" in text or "missing required" in text:
        return text + takes
    return f"{where}: {text}" if where else text + (takes if "Expected `object`" in text else "")


def _closer(args: Any, known: list[str]) -> list[str]:
    unknown = [str(k)[:80] for k in args if k not in known] if isinstance(args, Mapping) else []
    return nearest(unknown[0], known, 1) if unknown and known else []
