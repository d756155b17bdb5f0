"""Commands are declared once. Every interface is derived from the declaration.

A room command is a function ``(ctx, …) -> result``, a house command an async one. The actions and queries of a world
become commands too. What is special about a command is declared with it, so no other module asks for its name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct

from cohabit.declare import Declaration
from cohabit.errors import BadArgs, UnknownCommand
from cohabit.model.action import ActionDef, ActionResult, ActionSpace, ParamDef
from cohabit.model.cached import cached
from cohabit.model.grant import Capability, capabilities
from cohabit.model.suggest import nearest
from cohabit.room.state import Member
from cohabit.room.tool_names import ToolNames
from cohabit.world import ActionSpec, Pace, World, marked_methods, overrides

if TYPE_CHECKING:
    from cohabit.room.base import BaseRoom

Category = Literal["meta", "discovery", "action", "read", "control", "bus", "host"]
Where = Literal["world", "room", "house"]
MAX_WAIT_MS = 30_000
WaitMs = Annotated[int, Meta(ge=0, le=MAX_WAIT_MS, description="how long to wait for something new")]
Handle = Annotated[str, Meta(description="the member's handle")]
MAX_BACKEND = 80
Backend = Annotated[str, Meta(max_length=MAX_BACKEND)]
"""The name of a model or service."""
Ready = Callable[["BaseRoom", Member], bool]
WaitBegins = Callable[["BaseRoom", Member, Mapping[str, Any]], Ready]
NewsAfter = Callable[["BaseRoom", Member, Mapping[str, Any]], int | None]
F = TypeVar("F", bound=Callable[..., Any])


class Resource(Struct, frozen=True):
    """Makes a read-only command available as an MCP resource, at `{scheme}://{room}/{name}`."""

    name: str
    title: str
    description: str
    args: dict[str, Any] = {}
    topics: frozenset[str] = frozenset()  # change topics that invalidate it
    text: str = ""  # the result field with readable text; empty: the result is JSON only
    items: str = ""  # the result field with a list whose items can also be read individually
    item_key: str = ""  # the field that identifies an item
    scheme: Literal["cohabit", "ui"] = "cohabit"  # ui: `text` is an HTML document that MCP clients show to people


class Command(Declaration):
    """A command that members can call, with all its metadata."""

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        *,
        where: Where,
        category: Category,
        needs: tuple[Capability, ...] = (),
        records: bool = False,
        any_turn: bool = False,
        waits: Callable[[Any], bool] | None = None,
        news_after: "NewsAfter | None" = None,
        ready: "WaitBegins | None" = None,
        about: Literal["room", "house", "either"] = "room",
        host_only: bool = False,
        joins: bool = False,
        before_joining: bool = False,
        when_archived: bool = False,
        when_broken: bool = False,
        exclusive: bool = False,
        world_may_replace: bool = False,
        task: tuple[str, ...] = (),
        unwrap: Callable[[Any], tuple[str, Any, str | None]] | None = None,
        resource: Resource | None = None,
        hint: str = "",
        listed: bool = False,
        for_model: bool = True,
        for_front_end: bool = False,
        shows_world: bool = False,
        for_talk: bool = False,
        listed_if: "Callable[[BaseRoom, Member], bool] | None" = None,
        also: Mapping[Capability, str] = MappingProxyType({}),
        group: str = "",
        preconditions: tuple[str, ...] = (),
        needs_seat: bool = False,
        sees_all: bool = False,
        result: Any = None,
        only_if: Callable[[type[World], Pace], bool] | None = None,
        choices: Callable[[type[World]], Mapping[str, Sequence[str]]] | None = None,
        offered_if: Callable[["BaseRoom", Member], bool] | None = None,
        offered_in: Callable[[Any, Member], bool] | None = None,
        admits: Callable[[Any, dict[str, Any], str | None], None] | None = None,
        audit: str = "",
        system: bool = False,
        **declaration: Any,
    ) -> None:
        super().__init__(name, run, **declaration)
        self.where = where  # whose state it works on: the world's, the room's, or the house's
        self.category = category  # `action` and `control` need the member's turn; `bus` does not affect the roster
        self.needs = needs  # any one of them is sufficient; empty: every member may call it
        self.needed = frozenset(needs)
        self.records = records
        self.acts = category in ("action", "control")
        self.needs_turn = self.acts and not any_turn  # only on the member's turn
        self.is_action = where == "world" and records
        self.waits = waits  # returns True while the result is empty, so the house waits and retries
        self.news_after = news_after  # after which entry it waits for news instead; None: it does not
        self.ready = ready  # when a wait begins: what tells whether it may end; None: when the caller is told something
        self.about = about  # what a call must name: a room, nothing, or either
        self.host_only = host_only  # only for house hosts
        self.joins = joins  # makes the caller a member
        self.before_joining = before_joining or joins  # callable by identities that are not members yet
        self.when_archived = when_archived  # allowed in an archived room although it records
        self.when_broken = when_broken  # allowed in a room that could not be opened
        self.exclusive = exclusive  # changes access: a house runs one such call at a time
        self.world_may_replace = world_may_replace
        self.task = task  # can run as an MCP task, done when one of these result fields is true
        self.unwrap = unwrap  # extracts the wrapped command: name, arguments, reasoning
        self.resource = resource
        self.hint = hint  # what it does, in one line after its name, for models that play
        self.listed = listed  # in the short list of tools; others can be called too
        self.for_model = for_model  # False: models are not told of it
        self.for_front_end = for_front_end  # the front end of a world may call it, for the member who looks at it
        self.shows_world = shows_world  # its result shows the world, so MCP clients show the front end beside it
        self.listed_if = listed_if  # in that list for the members for whom this is True
        self.for_talk = for_talk  # in that list where nobody plays: in a room whose world has no seats
        self.also = also  # sentences of its description for members who hold a capability
        self.group = group or category
        self.preconditions = preconditions
        self.needs_seat = needs_seat
        self.sees_all = sees_all  # only for members who see everything
        self.result = result  # result type, if not ActionResult
        self.only_if = only_if  # False for the class and the pace of a world: rooms with it do not have the command
        self.choices = choices  # by parameter: the values that such a world has, of those that all worlds may have
        self.offered_if = offered_if  # False: it would only be refused, so lists of commands leave it out
        self.offered_in = offered_in  # the same, of a house command; it gets the RoomRunner instead of the room
        self.admits = admits  # (room, arguments, via): refuses what this house does not allow; no part of a replay
        self.audit = audit  # the kind of change in the audit log; empty: it changes no permissions
        self.system = system  # a system entry: members cannot call it
        self.method = ""  # of a world, by name: `run` takes the world first
        self.tools = ToolNames()  # what commands are called in this room

    def __repr__(self) -> str:
        return f"<Command {self.name} ({self.category})>"

    @cached_property
    def takes_wait_ms(self) -> bool:
        """Whether the command takes ``wait_ms``."""
        return "wait_ms" in self.arguments

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        if self.is_action:
            return self._schema_of(self.result or ActionResult)
        return self._schema_of(self.result or self.hints.get("return", Any))

    def as_action(self, name: str = "") -> ActionDef:
        """This command as one line of the action space."""
        required = self.schema.get("required", [])
        params = [
            ParamDef(
                parameter,
                str(spec.get("description", "")),
                str(spec.get("type", "any")),
                parameter in required,
                spec.get("enum"),
                minimum=spec.get("minimum"),
                maximum=spec.get("maximum"),
            )
            for parameter, spec in self._parameters()
        ]
        return ActionDef(name or self.name, self.doc, params, list(self.preconditions), self.group)

    def _parameters(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The schema of each parameter; of one that may be null, the schema of its other values."""
        defs = self.schema.get("$defs", {})
        for parameter, spec in self.schema.get("properties", {}).items():
            options = [option for option in spec.get("anyOf", [spec]) if option.get("type") != "null"]
            known = [{**defs.get(option.get("$ref", "").rpartition("/")[2], {}), **option} for option in options]
            kinds = list(dict.fromkeys(_type_of(option) for option in known))
            only = known[0] if len(known) == 1 else {}
            yield parameter, {**only, **spec, "type": spec.get("type") or " or ".join(kinds)}

    def run_in(self, world: World) -> Callable[..., Any]:
        """What runs this command of a world: it takes the acting seat or the eye, then the arguments by name."""
        return getattr(world, self.method) if self.method else self.run

    def bound(self, world: World) -> "Command":
        """The same command of one world."""
        other = copy(self)
        other.run, other.method, other._skip = self.run_in(world), "", 1
        return other

    def in_world(self, world: type[World]) -> "Command":
        """The same command in rooms with such a world. Its schema has only the choices that this world has."""
        if self.choices is None:
            return self
        other, properties = copy(self), dict(self.schema["properties"])
        for parameter, values in self.choices(world).items():
            properties[parameter] = {**properties[parameter], "enum": list(values)}
        other.schema = {**self.schema, "properties": properties}
        return other

    @property
    def tool_name(self) -> str:
        return self.tools.of(self.name)

    def renamed(self, tools: ToolNames) -> "Command":
        """The same command where commands have other tool names."""
        if tools == self.tools:
            return self
        other = copy(self)
        other.tools = tools
        return other


def _type_of(schema: Mapping[str, Any]) -> str:
    """The type of the values that a schema allows; a choice of words has none of its own."""
    is_words = all(isinstance(value, str) for value in schema.get("enum", [None]))
    return str(schema.get("type", "string" if is_words else "any"))


def command(
    *,
    category: Category,
    needs: Capability | tuple[Capability, ...] = (),
    where: Where = "room",
    **options: Any,
) -> Callable[[F], F]:
    """Declare a room (or house) command: the name of the function is the name of the command."""

    def put(function: F) -> F:
        held = needs if isinstance(needs, tuple) else (needs,)
        name = function.__name__.rstrip("_")
        function.__command__ = Command(  # type: ignore[attr-defined]  # functions take attributes
            name, function, where=where, category=category, needs=held, **options
        )
        return function

    return put


def system_entry(*, audit: str = "", args: type[Struct] | None = None) -> Callable[[F], F]:
    """Declare a system entry: something that happens to a room and is recorded. Members cannot call it."""
    return command(category="meta", records=True, system=True, audit=audit, args=args)


def command_of(function: Callable[..., Any]) -> Command:
    """The command that ``@command`` made of a function."""
    made: Command = vars(function)["__command__"]
    return made


@cache
def declared_in(module: Any) -> list[Command]:
    """The commands that a module declares."""
    made = [(value, getattr(value, "__command__", None)) for value in vars(module).values()]
    return [c for value, c in made if isinstance(c, Command) and value.__module__ == module.__name__]


def _sees_everything(room: "BaseRoom", member: Member) -> bool:
    eye = room.eye(member)
    return eye is not None and eye.sees == "all"


def commands_of(world: World) -> Iterator[Command]:
    """The actions and queries of a world, as commands."""
    if overrides(world, "actions"):
        return map(_command_of, world.actions())
    return (command.bound(world) for command in commands_of_class(type(world)))


@cached
def commands_of_class(world: type[World]) -> list[Command]:
    """The actions and queries that a class of worlds declares. All its worlds share them, because making a command
    and its arguments costs much more than a short game."""
    return [
        _command_of(ActionSpec(**options, run=getattr(world, attribute)), attribute)
        for attribute, options in marked_methods(world)
    ]


def _command_of(spec: ActionSpec, method: str = "") -> Command:
    made = Command(
        spec.name,
        spec.run,
        where="world",
        category=spec.category,
        needs=tuple(sorted(capabilities(spec.needs))),
        records=spec.changes,
        raw=spec.raw,
        any_turn=not spec.changes,
        result=spec.result,
        group=spec.group,
        preconditions=spec.preconditions,
        needs_seat=spec.needs_seat and spec.changes,
        sees_all=spec.sees_all,
        offered_if=_sees_everything if spec.sees_all else None,
        args=spec.args,
        doc=spec.description,
        listed=spec.listed and spec.for_model,
        for_model=spec.for_model,
        for_front_end=True,
        shows_world=spec.changes and spec.for_model,
        skip=2 if method else 1,
    )
    made.method = method
    return made


class CommandTable:
    """Commands by name."""

    def __init__(
        self,
        commands: Iterable[Command] = (),
        base: "CommandTable | None" = None,
        *,
        system: Mapping[str, Command] = MappingProxyType({}),
    ) -> None:
        """``base``: a table to begin with."""
        self.system: Mapping[str, Command] = system if base is None else base.system
        """System entries by name. Members cannot call them."""
        self.by_name: dict[str, Command] = {} if base is None else base.by_name.copy()
        self._by_tool_name: dict[str, Command] = {} if base is None else base._by_tool_name.copy()
        for command in commands:
            known = self.by_name.get(command.name)
            if known is not None and not (command.where == "world" and known.world_may_replace):
                raise BadArgs(f"the name {command.name!r} is reserved: a world cannot use it for an action or query")
            self.by_name[command.name] = command
            self._by_tool_name[command.tool_name] = command
        self.get = self.by_name.get
        self.with_tool_name = self._by_tool_name.get
        """The command with this MCP tool name."""

    def __iter__(self) -> Iterator[Command]:
        return iter(self.by_name.values())

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def named(self, name: str, usable: Iterable[Command] | None = None) -> Command:
        """The command of this name. If there is none, similar ones are suggested, of those that the caller may use."""
        try:
            return self.by_name[name]
        except (KeyError, TypeError):
            tools = {known: made.tool_name for made in (self if usable is None else usable)
                     for known in (made.name, made.tool_name)}  # fmt: skip
            hints = dict.fromkeys(tools[near] for near in nearest(str(name)[:80], tools))
            raise UnknownCommand(f"unknown command {str(name)[:80]!r}", did_you_mean=list(hints)[:3]) from None

    def action_space(self) -> ActionSpace:
        return ActionSpace([command.as_action() for command in self if command.is_action and command.for_model])
