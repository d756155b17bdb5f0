"""The commands that a caller may use, with their schemas."""

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Annotated, Any, Literal
from weakref import WeakKeyDictionary

from msgspec import Meta, Struct, structs

from cohabit.errors import UnknownAsset
from cohabit.house.calls.across import Args, Ask, question
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.calls.resolve import may_join, unknown_room
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.suggest import nearest
from cohabit.room.commands import Category, Command, Resource, Where, command, command_of
from cohabit.room.decide import by_grant, offers
from cohabit.room.room import Room
from cohabit.room.state import Member


class CommandInfo(Struct, frozen=True, omit_defaults=True):
    """The description of a command for a caller who may use it."""

    name: str
    tool_name: str
    where: Where
    category: Category
    title: str
    description: str
    schema: dict[str, Any]
    records: bool = False
    waits: bool = False  # takes `wait_ms`
    output_schema: dict[str, Any] | None = None
    about: Literal["room", "house", "either"] = "room"
    joins: bool = False
    task: tuple[str, ...] = ()
    resource: Resource | None = None
    hint: str = ""
    listed: bool = False  # in the short list of tools
    for_model: bool = True  # False: models are not told of it
    for_front_end: bool = False  # the front end of a world may call it
    shows_world: bool = False  # MCP clients show the front end beside its result
    runs_others: bool = False  # it runs another command by name, and returns its result


_AS_DECLARED = (
    "name", "tool_name", "where", "category", "records", "output_schema", "about", "joins", "task", "resource",
    "for_model", "for_front_end", "shows_world",
)  # fmt: skip
_made: "WeakKeyDictionary[Command, dict[tuple[str, bool], CommandInfo]]" = WeakKeyDictionary()


def describe(command: Command, held: Container[Capability] | None = None, *, listed: bool | None = None) -> CommandInfo:
    """The description of a command, for a caller who holds these capabilities (None: all). Cached by its text.

    ``listed``: whether the short list of this room has it; None: as it is declared.
    """
    also = [sentence for needed, sentence in command.also.items() if held is None or needed in held]
    known, text = _made.setdefault(command, {}), _description(command, also)
    listed = command.listed if listed is None else listed
    made = known.get((text, listed))
    if made is None:
        made = known[text, listed] = CommandInfo(
            **{name: getattr(command, name) for name in _AS_DECLARED},
            title=command.name.replace("_", " ").capitalize(),
            description=text,
            schema=with_texts(command.schema, command.tools.in_text),
            waits=command.takes_wait_ms,
            hint=command.tools.in_text(" ".join([command.hint, *also]) if command.hint else ""),
            listed=listed,
            runs_others=command.unwrap is not None,
        )
    return made


def _description(command: Command, also: Sequence[str]) -> str:
    doc = " ".join([command.doc, *also])
    only_if = "".join(f"\nRequires: {condition}" for condition in command.preconditions)
    return command.tools.in_text(doc + ("\n" + only_if if only_if else ""))


def with_texts(schema: Any, as_called: Callable[[str], str]) -> Any:
    """A schema whose descriptions name commands as they are called."""
    if isinstance(schema, dict):
        return {
            name: as_called(below) if name == "description" and isinstance(below, str) else with_texts(below, as_called)
            for name, below in schema.items()
        }
    return [with_texts(below, as_called) for below in schema] if isinstance(schema, list) else schema


def commands_for(house: Services, credential: Credential, room: str | None) -> list[Command]:
    """The commands that this credential's grant allows, whether or not it is the caller's turn."""
    is_host, wanted = house.identities.is_host(credential), room or credential.room
    if wanted is None:
        return [c for c in house.commands if is_host or not (c.host_only or c.needs)]
    runner = house.rooms.runner_of(wanted)
    member = runner.room.member_of(credential.identity) if runner is not None else None
    if runner is None or (credential.room not in (None, wanted)):
        raise unknown_room(wanted)
    if member is None:
        if not may_join(house.identities, credential, runner):
            raise unknown_room(wanted)
        open_to_all = [c for c in runner.commands if c.before_joining or c.about == "house"]
        return [c for c in open_to_all if is_host or not c.host_only]
    used_up = runner.egress.of(member).is_used_up
    for_now = runner.room.commands_now()
    own = {*runner.room.commands, *for_now}
    mine = [
        c
        for c in (*runner.commands, *for_now)
        if by_grant(member, c)
        and (is_host or not c.host_only)
        and offers(runner.room, member, c)
        and (c.when_used_up or not used_up)
    ]
    return sorted(mine, key=lambda c: c not in own)  # the room's own first, then the house's


def list_commands(house: Services, credential: Credential, room: str | None) -> list[CommandInfo]:
    """The commands that this credential may call in a room; without a room: in the house and in any of its rooms."""
    commands, wanted = commands_for(house, credential, room), room or credential.room
    if wanted is not None and (runner := house.rooms.runner_of(wanted)) is not None:
        member = runner.room.member_of(credential.identity)
        cut_off = member is not None and runner.egress.of(member).is_used_up  # then all that it has left are few
        return [
            describe(
                command,
                member.held if member is not None else (),
                listed=cut_off or _is_listed(runner.room, member, command),
            )
            for command in commands
        ]
    if room is None and credential.room is None:
        common = {made.name: (made, listed) for made, listed in _common(house, credential)}
        others = (command for command in commands if command.name not in common)
        return [*(describe(made, listed=listed) for made, listed in common.values()), *map(describe, others)]
    return [describe(command) for command in commands]


def _is_listed(room: Room, member: Member | None, command: Command) -> bool:
    """True if the short list of this room has the command. It has one command to look with and one to talk with."""
    if (command.for_talk or command.for_play) and not room.is_played:
        return command.for_talk
    return command.listed or (member is not None and command.listed_if is not None and command.listed_if(room, member))


def room_commands(commands: Sequence[CommandInfo]) -> list[CommandInfo]:
    """The room commands. A caller who is not a member can only join."""
    here = [info for info in commands if info.about != "house"]
    # Some commands of the house about a room, such as its picture, are for those who may join it too.
    is_member = any(info.about == "room" and info.where != "house" for info in here)
    return [info for info in here if info.joins != is_member]


def _common(house: Services, credential: Credential) -> Iterator[tuple[Command, bool]]:
    """The room commands that the caller may use in at least one room, by name, and whether the short list of such a
    room has them. Those of worlds are among them if the caller is in one room.

    If a feature renames a command in one room, the plain form is listed.
    """
    found: dict[str, Command] = {}
    listed: set[str] = set()
    seen: set[Any] = set()
    mine = [(runner, runner.room.member_of(credential.identity)) for _, runner in sorted(house.rooms.items())]
    joined = [
        (runner.room, member, runner.egress.of(member).is_used_up) for runner, member in mine if member is not None
    ]
    for room, member, cut_off in joined:
        offered = tuple(c.name for c in room.commands if offers(room, member, c))
        shown = tuple(c.name for c in room.commands if c.listed_if is not None and _is_listed(room, member, c))
        alike = type(room.world), room.pace, member.held, offered, shown, cut_off
        if alike in seen:
            continue
        seen.add(alike)
        for made in commands_for(house, credential, room.id):
            plain = made.tool_name == made.name
            if made.about == "room" and (made.where != "world" or len(joined) == 1):
                if plain or made.name not in found:
                    found[made.name] = made
                if cut_off or _is_listed(room, member, made):
                    listed.add(made.name)
    for name in sorted(found):
        yield found[name], name in listed


@question
async def commands_in(house: Services, credential: str, room: str) -> list[CommandInfo]:
    """The result of `list_commands` in a room of this node. ``credential``: the hash of the caller's token.

    A question, and not a call of `schemas`: the node that asks decides what of it is sent to the caller, and counts it.
    """
    caller = house.identities.with_hash(bytes.fromhex(credential), house.clock.now(), "")
    return list_commands(house, caller, room)


class CommandLine(Struct, omit_defaults=True):
    name: str
    description: str
    tool_name: str = ""  # the name over MCP, if it is another one


class Capabilities(Struct):
    commands: list[CommandLine]


async def _capabilities_across(ask: Ask, args: Args) -> Capabilities:
    return _in_few_words(await commands_across(ask))


@command(
    category="meta", where="house", about="either", before_joining=True, sends="lists", across=_capabilities_across
)
async def capabilities(ctx: HouseContext) -> Capabilities:
    """Every command that you may use here, in a few words each. `schemas` describes their arguments and results."""
    return _in_few_words(list_commands(ctx.house, ctx.credential, ctx.room_id))


def _in_few_words(commands: Sequence[CommandInfo]) -> Capabilities:
    return Capabilities(
        [
            CommandLine(c.name, _in_short(c), c.tool_name if c.tool_name != c.name else "")
            for c in commands
            if c.for_model
        ]
    )


def _in_short(info: CommandInfo) -> str:
    return info.description.split("\n\n")[0].replace("\n", " ")


class Schemas(Struct):
    commands: list[CommandInfo]


async def commands_across(ask: Ask) -> list[CommandInfo]:
    """The commands that a caller may use in the house and in any of its rooms, as `list_commands` lists them."""
    parts = [_split(part.commands) for part in await ask.everywhere({}, SCHEMAS)]
    joined = [common for common, _ in parts if any(info.where != "house" for info in common)]
    found: dict[str, CommandInfo] = {}
    for info in (info for common in joined for info in common if info.where != "world" or len(joined) == 1):
        known = found.get(info.name)
        if known is not None and (known.tool_name == known.name or info.tool_name != info.name):
            info, known = known, info  # the plain form, if there is one
        found[info.name] = structs.replace(info, listed=info.listed or (known is not None and known.listed))
    others = [info for info in (*parts[0][0], *parts[0][1]) if info.name not in found]
    return [*(found[name] for name in sorted(found)), *others]


def _split(commands: list[CommandInfo]) -> tuple[list[CommandInfo], list[CommandInfo]]:
    """The commands of rooms, and the rest. The first of the rest is about the house."""
    ends = next((at for at, info in enumerate(commands) if info.about != "room"), len(commands))
    return commands[:ends], commands[ends:]


async def _schemas_across(ask: Ask, args: Args) -> Schemas:
    return _chosen(await commands_across(ask), args.get("command"))


@command(
    category="meta",
    where="house",
    about="either",
    before_joining=True,
    resource=Resource("schema", "Schema", "Every command you may use, with its schemas", topics=frozenset({"rights"})),
    sends="lists",
    across=_schemas_across,
)
async def schemas(
    ctx: HouseContext,
    command: Annotated[str | None, Meta(description="the name of one command; default: all that you may use")] = None,
) -> Schemas:
    """The commands that you may use here, or one of them, with the schemas of their arguments and results."""
    return _chosen(list_commands(ctx.house, ctx.credential, ctx.room_id), command)


def _chosen(commands: list[CommandInfo], command: str | None) -> Schemas:
    if command is None:
        return Schemas(commands)
    found = [info for info in commands if command in (info.name, info.tool_name)]
    if not found:
        names = [info.tool_name for info in commands]
        raise UnknownAsset(
            f"no command {command[:80]!r} that you may use", did_you_mean=nearest(command[:80], names, 3)
        )
    return Schemas(found)


SCHEMAS = command_of(schemas)
"""Called by clients in other processes to list commands."""
