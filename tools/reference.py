"""Write the reference pages of the documentation from the code: the command line, commands, errors, settings,
rights, workspace tools.

python tools/reference.py           write them
python tools/reference.py --check   exit 1 if one is out of date
"""

from collections.abc import Iterator
from typing import Any

import generated

import cli_reference
from cohabit.errors import AskerError, CohabitError, OutcomeUnknown, WorldError, every_error
from cohabit.house.commands import every_command
from cohabit.house.settings import settings_table
from cohabit.model.grant import ROLES, Capability, alias_families
from cohabit.registry import load_protocol_names, make_world
from cohabit.room.commands import Command, commands_of
from cohabit.workspace.tool import Profile, Tool
from cohabit.workspace.tools import tools

NOTE = "<!-- Made by `python tools/reference.py`; edit the code instead. -->\n"
COMMANDS = """\
A command is declared once, as a typed Python function; every interface is derived from it. Over HTTP it is
`POST /api/rooms/{room}/NAME`, over WebSocket a frame with `"command": "NAME"`, over MCP a tool, on the command line
`cohabit call NAME`. Worlds add their own commands; those of the built-in worlds are at the end."""
ERRORS = """\
Every error has one code, the same over every interface. HTTP answers with the status below and
`{"ok": false, "error": {"code", "message", "did_you_mean"?, …}}`; WebSocket puts the same object into its answer frame;
MCP answers with `isError` and the code in front of the text; Python raises the class. The message says what to do
next."""
RIGHTS = """\
A member holds (role ∪ additions) ∩ limits. A member without a role has the one of its kind: `human` for a person,
`agent` (watch-only) for an agent. [Rooms](rooms.md) explains additions and limits."""
WORKSPACE_TOOLS = """\
A tool of the [workspace](workspace.md) is declared once, as a typed Python function; the MCP server, the house and
`cohabit workspace call NAME` are derived from it. An answer is a JSON object. An error is
`{"error": "what is wrong and what to do next", "details": {"code": "…"}}`, with a code from [the list](errors.md);
[the protocol](protocol-answers.md#answers) describes the formats."""
PROFILES: dict[Profile, tuple[str, str]] = {
    "compat": ("Both profiles", "The twenty tools of Multisphere, with its names and arguments."),
    "full": ("What the full profile adds", "`--profile compat` leaves these out."),
}
HEADINGS = {"house": "House commands", "room": "Room commands"}


def commands() -> str:
    """Every command, under the house, the room, or its world."""
    lines = [
        NOTE,
        "# Commands",
        "",
        COMMANDS,
        "",
    ]
    heading = ""
    nexus = [("nexus", command) for command in commands_of(make_world("nexus", {}))]
    for tag, command in [*every_command(), *nexus]:
        if tag != heading:
            heading = tag
            lines += [f"## {HEADINGS.get(tag, f'World: {tag}')}", ""]
        lines += _command(command)
    return "\n".join(lines)


def _command(command: Command) -> Iterator[str]:
    yield f"### `{command.name}`"
    yield ""
    yield " ".join([command.doc, *(f"{text} (Needs `{needed}`.)" for needed, text in command.also.items())])
    yield ""
    facts = [f"category {command.category}"]
    if command.needs:
        facts.append("needs " + " or ".join(f"`{need}`" for need in command.needs))
    facts.append("is put on record" if command.records else "changes nothing on record")
    if command.tool_name != command.name:
        facts.append(f"MCP tool `{command.tool_name}`")
    yield "*" + " · ".join(facts) + "*"
    yield ""
    yield from _arguments(command.schema)


def _arguments(schema: dict[str, Any]) -> Iterator[str]:
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        yield "| argument | type | default | |"
        yield "|---|---|---|---|"
        for name, spec in properties.items():
            default = "required" if name in schema.get("required", []) else f"`{spec.get('default')!r}`"
            yield f"| `{name}` | {_kind(spec)} | {default} | {spec.get('description', '')} |"
        yield ""


def workspace_tools() -> str:
    """Every tool of the workspace: the twenty, and what the full profile adds."""
    lines = [NOTE, "# Workspace tools", "", WORKSPACE_TOOLS, ""]
    for profile, (title, words) in PROFILES.items():
        lines += [f"## {title}", "", words, ""]
        for tool in tools().values():
            if tool.profile == profile:
                lines += _tool(tool)
    return "\n".join(lines)


def _tool(tool: Tool) -> Iterator[str]:
    yield f"### `{tool.name}`"
    yield ""
    yield tool.description
    yield ""
    yield f"*{'changes something' if tool.writes else 'read-only'}*"
    yield ""
    yield from _arguments(tool.schema())


def _kind(spec: dict[str, Any]) -> str:
    if "enum" in spec:
        return " or ".join(f"`{value}`" for value in spec["enum"])
    if "anyOf" in spec:
        return " or ".join(_kind(one) for one in spec["anyOf"])
    if "$ref" in spec:
        return str(spec["$ref"]).rsplit("/", 1)[1]
    words = str(spec.get("type", "any"))
    lo, hi = spec.get("minimum"), spec.get("maximum")
    if lo is not None or hi is not None:
        words += f" {'' if lo is None else lo} … {'' if hi is None else hi}"
    return words


def errors() -> str:
    """Every error code."""
    lines = [
        NOTE,
        "# Errors",
        "",
        ERRORS,
        "",
        "| code | HTTP | class | whose | when |",
        "|---|---|---|---|---|",
    ]
    for cls in sorted(every_error(), key=lambda c: (_whose(c), c.status, c.code)):
        words = (cls.__doc__ or "").strip().replace("\n", " ")
        lines.append(f"| `{cls.code}` | {cls.status} | `{cls.__name__}` | {_whose(cls)} | {words} |")
    return "\n".join([*lines, ""])


def _whose(cls: type[CohabitError]) -> str:
    if issubclass(cls, AskerError):
        return "the caller's: nothing changed"
    if issubclass(cls, OutcomeUnknown):
        return "unknown: the call may have been executed"
    return "the world's: the room was rolled back" if issubclass(cls, WorldError) else "the house's"


def settings() -> str:
    """Every setting."""
    lines = [
        NOTE,
        "# Settings",
        "",
        "From the command line (`--port`), else from the environment (`COHABIT_PORT`), else the default.",
        "",
        "| setting | environment | default | |",
        "|---|---|---|---|",
    ]
    for name, default, words in settings_table():
        shown = f"`{default}`" if default != "" else ""
        lines.append(f"| `{name}` | `COHABIT_{name.upper()}` | {shown} | {words} |")
    return "\n".join([*lines, ""])


def rights() -> str:
    """Capabilities and roles."""
    lines = [
        NOTE,
        "# Rights",
        "",
        RIGHTS,
        "",
        "| capability | a member with it can |",
        "|---|---|",
        *(f"| `{capability}` | {capability.meaning} |" for capability in Capability),
        "",
        "These roles have them:",
        "",
        "| capability | " + " | ".join(ROLES) + " |",
        "|---|" + "---|" * len(ROLES),
    ]
    for capability in Capability:
        marks = " | ".join("x" if capability in held else "" for held in ROLES.values())
        lines.append(f"| `{capability}` | {marks} |")
    lines += ["", "Grants can also be written with the names of other protocols:", ""]
    lines += ["| name | protocol | stands for |", "|---|---|---|"]
    load_protocol_names()
    for protocol, family in sorted(alias_families().items()):
        for name, meant in family.items():
            lines.append(f"| `{name}` | {protocol} | {', '.join(f'`{c}`' for c in sorted(meant))} |")
    return "\n".join([*lines, ""])


PAGES: generated.Files = {
    "docs/cli-reference.md": lambda: cli_reference.page(NOTE),
    "docs/commands.md": commands,
    "docs/errors.md": errors,
    "docs/settings.md": settings,
    "docs/rights.md": rights,
    "docs/workspace-tools.md": workspace_tools,
}


if __name__ == "__main__":
    raise SystemExit(generated.run(PAGES, "tools/reference.py"))
