"""Commands are declared once. Every interface is derived from the declaration.

A room command is a function ``(ctx, …) -> result``, a house command an async one. The actions and queries of a world
become commands too. Every peculiarity of a command is declared with it, so no other module asks for its name.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct

from cohabit.declare import Declaration
from cohabit.errors import BadArgs, UnknownCommand
from cohabit.model.action import ActionDef, ActionResult, ActionSpace, ParamDef
from cohabit.model.cached import cached
from cohabit.model.egress import SentKind
from cohabit.model.grant import Capability, capabilities
from cohabit.model.record import Entry
from cohabit.model.seat import Eye
from cohabit.model.suggest import nearest
from cohabit.model.tool_names import ToolNames
from cohabit.room.state import Member
from cohabit.world import ActionSpec, Pace, World, marked_methods, overrides

Category = Literal["meta", "discovery", "action", "read", "control", "bus", "host"]
Where = Literal["world", "room", "house"]
MAX_WAIT_MS = 30_000
WaitMs = Annotated[int, Meta(ge=0, le=MAX_WAIT_MS, description="how long to wait for something new")]
Handle = Annotated[str, Meta(description="the member's handle")]
MAX_BACKEND = 80
Backend = Annotated[str, Meta(max_length=MAX_BACKEND)]
"""The name of a model or service."""
Ready = Callable[[Any, Member], bool]
"""Takes the room (``BaseRoom``), which has commands and therefore cannot be named here."""
WaitBegins = Callable[[Any, Member, Mapping[str, Any]], Ready]
NewsAfter = Callable[[Any, Member, Mapping[str, Any]], int | None]
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


@dataclass(kw_only=True, eq=False)
class Options:
    """The options of a command, given to ``@command(...)``."""

    category: Category  # `action` and `control` need the member's turn; `bus` does not affect the roster
    where: Where = "room"  # whose state it works on: the world's, the room's, or the house's
    needs: Capability | tuple[Capability, ...] = ()  # any one of them is sufficient; empty: every member may call it
    records: bool = False  # it changes something, so it is an entry of the record
    any_turn: bool = False  # although it acts, it does not need the member's turn
    waits: Callable[[Any], bool] | None = None  # True while the result is empty: the house waits and tries again
    news_after: NewsAfter | None = None  # the entry whose successors end a wait; None: it does not wait for news
    ready: WaitBegins | None = None  # asked when a wait begins: what may end it; None: anything that the caller is told
    about: Literal["room", "house", "either"] = "room"  # what a call must name: a room, nothing, or either
    host_only: bool = False  # only for house hosts
    joins: bool = False  # makes the caller a member
    before_joining: bool = False  # callable by identities that are not members yet
    when_archived: bool = False  # allowed in an archived room although it records
    when_broken: bool = False  # allowed in a room that could not be opened
    exclusive: bool = False  # changes access: a house runs one such call at a time
    world_may_replace: bool = False  # an action of a world may have its name
    task: tuple[str, ...] = ()  # can run as an MCP task, done when one of these result fields is true
    unwrap: Callable[[Any], tuple[str, Any, str | None]] | None = None  # the wrapped command: name, arguments, why
    resource: Resource | None = None
    hint: str = ""  # what it does, in one line after its name, for models that play
    listed: bool = False  # in the short list of tools; others can be called too
    for_model: bool = True  # False: models are not told of it
    for_front_end: bool = False  # the front end of a world may call it, for the member who looks at it
    shows_world: bool = False  # its result shows the world, so MCP clients show the front end beside it
    for_talk: bool = False  # in the short list where nobody plays (``BaseRoom.is_played``)
    for_play: bool = False  # although it is listed, not in the short list where nobody plays
    listed_if: Ready | None = None  # in the short list for the members for whom this is True
    also: Mapping[Capability, str] = field(default_factory=dict)  # sentences of its description, for holders
    group: str = ""  # its heading in a list; by default its category
    preconditions: tuple[str, ...] = ()
    needs_seat: bool = False
    sees_all: bool = False  # only for members who see everything
    result: Any = None  # result type, if not ActionResult
    only_if: Callable[[type[World], Pace], bool] | None = None  # False: rooms with such a world do not have it
    choices: Callable[[type[World]], Mapping[str, Sequence[str]]] | None = None  # values of parameters in such a world
    offered_if: Ready | None = None  # False: it would be of no use, so lists of commands leave it out
    offered_in: Callable[[Any, Member], bool] | None = None  # the same, of a house command; gets the RoomRunner
    check_here: Callable[[Any, Member, dict[str, Any], str | None], None] | None = None
    """Takes the room, the caller, the arguments and ``via``; refuses what is not allowed now. No part of a replay."""
    words: tuple[str, ...] | None = ()  # arguments in the caller's own words, for others; None: for hosts alone
    sends: SentKind | None = None  # what its reply is, where the house counts what leaves it; None: by where it runs
    when_used_up: bool = False  # allowed although nothing more may be sent to the caller; the reply tells it nothing
    audit: str = ""  # the kind of change in the audit; empty: it changes no permissions
    system: bool = False  # a system entry: members cannot call it
    across: Callable[..., Any] | None = None  # how several processes of a house answer it together
    args: type[Struct] | None = None  # the type of its arguments, if the signature does not define it


class Command(Declaration, Options):
    """A command that members can call, with all its metadata."""

    needs: tuple[Capability, ...]
    sends: SentKind

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        options: Options,
        *,
        method: str = "",
        doc: str | None = None,
        raw: bool = False,
    ) -> None:
        """``method``: of a world, by name; then ``run`` takes the world first."""
        Declaration.__init__(self, name, run, skip=2 if method else 1, args=options.args, doc=doc, raw=raw)
        vars(self).update(vars(options))
        self.needs = options.needs if isinstance(options.needs, tuple) else (options.needs,)
        self.needed = frozenset(self.needs)
        self.acts = self.category in ("action", "control")
        self.needs_turn = self.acts and not self.any_turn
        self.is_action = self.where == "world" and self.records
        self.before_joining = self.before_joining or self.joins
        self.group = self.group or self.category
        self.sends = options.sends or ("actions" if self.is_action else "queries" if self.where == "world" else "other")
        self.method = method
        self.tools = ToolNames()  # what commands are called in this room

    def __repr__(self) -> str:
        return f"<Command {self.name} ({self.category})>"

    @cached_property
    def takes_wait_ms(self) -> bool:
        """True if the command takes ``wait_ms``."""
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
            for parameter, spec in self.parameters()
        ]
        return ActionDef(name or self.name, self.doc, params, list(self.preconditions), self.group)

    def run_in(self, world: World) -> Callable[..., Any]:
        """The function that runs this command of a world: it takes the acting seat or the eye, then the arguments by
        name."""
        return getattr(world, self.method) if self.method else self.run

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


class command(Options):  # noqa: N801 - a decorator
    """Declare a room (or house) command: the name of the function is the name of the command."""

    def __call__(self, function: F) -> F:
        name = function.__name__.rstrip("_")
        function.__command__ = Command(name, function, self)  # type: ignore[attr-defined]  # functions take attributes
        return function


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


def _sees_everything(room: Any, member: Member) -> bool:
    eye: Eye | None = room.eye(member)
    return eye is not None and eye.sees == "all"


def commands_of(world: World) -> Iterable[Command]:
    """The actions and queries of a world, as commands."""
    return map(_command_of, world.actions()) if overrides(world, "actions") else commands_of_class(type(world))


@cached
def commands_of_class(world: type[World]) -> list[Command]:
    """The actions and queries that a class of worlds declares. All its worlds share them, because making a command
    and its arguments costs much more than a short game."""
    return [
        _command_of(ActionSpec(**options, run=getattr(world, attribute)), attribute)
        for attribute, options in marked_methods(world)
    ]


def _command_of(spec: ActionSpec, method: str = "") -> Command:
    options = Options(
        where="world",
        category=spec.category,
        needs=tuple(sorted(capabilities(spec.needs))),
        records=spec.changes,
        any_turn=not spec.changes,
        result=spec.result,
        group=spec.group,
        preconditions=spec.preconditions,
        needs_seat=spec.needs_seat and spec.changes,
        sees_all=spec.sees_all,
        words=spec.words,
        offered_if=_sees_everything if spec.sees_all else None,
        args=spec.args,
        listed=spec.listed and spec.for_model,
        for_model=spec.for_model,
        for_front_end=True,
        shows_world=spec.changes and spec.for_model,
    )
    return Command(spec.name, spec.run, options, method=method, doc=spec.description, raw=spec.raw)


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

    def system_entry(self, name: str) -> Command:
        try:
            return self.system[name]
        except KeyError:
            raise UnknownCommand(f"unknown system entry {name[:80]!r}") from None

    def of_entry(self, entry: Entry) -> Command:
        """The command that an entry of the record is a call of."""
        return self.system_entry(entry.do) if entry.by is None else self.named(entry.do)

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
