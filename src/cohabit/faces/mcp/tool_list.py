"""The tools of a caller, and texts that name only these.

The texts of the house name commands as `name`, for every interface and every member. Some clients call only tools that
are listed. So over MCP a command that is not in the caller's list is not named as a tool: either `act` runs it, or the
caller may not use it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from cohabit.errors import CohabitError
from cohabit.faces.mcp.backend import Backend
from cohabit.house.calls.command_list import CommandInfo, room_commands
from cohabit.room.commands import command_of
from cohabit.room.play.acting import act

ACT: Final = command_of(act).name
"""The tool that runs commands which are not listed."""
_QUOTED: Final = re.compile(r"`(\w+)`")
WITH_ACT: Final = f" (with `{ACT}`)"
_ENUMERATED: Final = re.compile(
    rf"\w+{re.escape(WITH_ACT)}(?:(?:,\s+(?:and |or )?|\s+and\s+|\s+or\s+)\w+{re.escape(WITH_ACT)})+"
)
_JSON: Final = ("{", "[{", '["', "[[")  # a refusal begins with its code in brackets
_NOT_OURS: Final = ("- ", "> ", '"', *_JSON)
"""The beginnings of reply lines that may have words of members, such as those of events and of an app's view."""
_SPEECH: Final = re.compile(r'("[^"]*")')
OWN_FIELDS: Final = ("message", "note", "notice")
"""Fields of a result that are our own sentences."""


async def tool_commands(backend: Backend) -> list[CommandInfo]:
    """The commands that the caller sees as tools: only room commands if it cannot name a room or has not joined."""
    commands = await backend.commands(backend.room)
    if backend.room is None:
        return list(commands)
    here = room_commands(commands)
    return list(commands) if backend.lists_house and not only_joins(here) else here


def only_joins(commands: Sequence[CommandInfo]) -> bool:
    return all(info.joins for info in commands)


def listed(commands: Sequence[CommandInfo], backend: Backend) -> set[str]:
    """The names of the tools that a model is shown."""
    return {info.tool_name for info in commands if info.listed or backend.full}


async def worded(backend: Backend, text: str, room: str | None = None, *, is_reply: bool = False) -> str:
    """A text for a model, with the tools that it has. ``is_reply``: members may have written some of it."""
    if _QUOTED.search(text) is None:
        return text
    try:
        rewrite = await rewriting(backend, text, await tool_commands(backend), room)
    except CohabitError:  # its token has ended, or its room: it has no tools
        return text
    if not is_reply:
        return rewrite(text)
    if text.startswith(_JSON):
        return _in_values(text, rewrite)
    return "\n".join(
        line if line.lstrip().startswith(_NOT_OURS) else _unquoted(line, rewrite) for line in text.split("\n")
    )


def _unquoted(line: str, rewrite: Callable[[str], str]) -> str:
    """A line with what is outside of double quotes rewritten."""
    return "".join(part if part[:1] == '"' else rewrite(part) for part in _SPEECH.split(line))


def _in_values(text: str, rewrite: Callable[[str], str]) -> str:
    """A result as JSON, with our own sentences in it rewritten."""
    try:
        plain = msgspec.json.decode(text)
    except msgspec.DecodeError:  # the text of a world that begins like that
        return rewrite(text)
    ours = {name: rewrite(plain[name]) for name in OWN_FIELDS if isinstance(plain, dict) and name in plain}
    return msgspec.json.encode(plain | ours).decode() if ours else text


async def rewriting(
    backend: Backend, text: str, commands: Sequence[CommandInfo], room: str | None = None
) -> Callable[[str], str]:
    """A function that rewrites texts. They may name only commands that ``text`` names too. ``commands``: see
    ``tool_commands``."""
    tools, instead = listed(commands, backend), dict[str, str]()
    if only_joins(commands):  # it has not joined, so commands of the room are not known to it
        arguments = {name for info in commands for name in info.schema.get("properties", ())}
        return lambda text: _QUOTED.sub(lambda found: found[0] if found[1] in tools | arguments else found[1], text)
    for name in {*_QUOTED.findall(text)} - tools:
        info = await backend.find_tool(name, room or backend.room)
        if info is not None:
            instead[name] = await _instead(backend, info, tools, room or backend.room)
    return lambda text: _in_one(_QUOTED.sub(lambda found: instead.get(found[1], found[0]), text)) if instead else text


def _in_one(text: str) -> str:
    """A text that says of an enumeration only once that its commands are called with `act`."""
    return _ENUMERATED.sub(lambda found: f"{found[0].replace(WITH_ACT, '')} (each with `{ACT}`)", text)


async def _instead(backend: Backend, info: CommandInfo, tools: set[str], room: str | None) -> str:
    """Name a command that is not a tool by the name in a text: its tool, or the command with `act`."""
    if info.tool_name in tools:
        return f"`{info.tool_name}`"
    usable = ACT in tools and info.for_model and room is not None and await backend.may(info.name, room)
    return f"{info.tool_name}{WITH_ACT}" if usable else info.tool_name
