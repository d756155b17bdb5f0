"""The verbs of the command line, and the page that lists them. Separate, so that help costs no imports."""

from typing import NamedTuple

from cohabit.registry import cli_verbs


class Verb(NamedTuple):
    """One verb: ``module`` has a function of its name, and ``NAME_options`` that declares its arguments.

    A module of this package is named without its package, one of an extension in full.
    """

    name: str
    takes: str
    summary: str
    module: str


GROUPS: dict[str, tuple[Verb, ...]] = {
    "Run a house": (
        Verb("up", "[SCENARIO]", "open a room from a scenario and serve it", "up"),
        Verb("serve", "", "serve the rooms of a data folder", "running"),
        *(Verb(*verb) for verb in cli_verbs()),
        Verb("mcp", "", "speak MCP on stdin and stdout, for clients that start a program", "stdio"),
        Verb("token", "new|list|rotate|revoke|make", "create, list, replace and revoke credentials", "token"),
    ),
    "Take part": (
        Verb("play", "ROOM", "play in a room, here in the terminal", "play"),
        Verb("watch", "ROOM", "watch what happens in a room", "watch"),
        Verb("call", "COMMAND [NAME=VALUE …]", "send one command and print the result as JSON", "call"),
        Verb("invite", "NAME", "invite somebody to a room", "call"),
    ),
    "Share work": (
        Verb("workspace", "VERB", "a git repository as the drop-board of several agents and people", "workspace"),
    ),
    "Look around": (
        Verb("rooms", "", "list the rooms of a house", "lists"),
        Verb("worlds", "", "list the worlds and scenarios", "lists"),
        Verb("check", "WORLD", "check that a world keeps the contract", "check"),
    ),
    "Records": (
        Verb("replay", "ROOM|FILE", "replay a record and read what happened", "records"),
        Verb("verify", "[ROOM|FILE …]", "check that records are complete and replay to the same worlds", "records"),
        Verb("export", "ROOM", "write a record as JSON lines", "records"),
        Verb("backup", "FILE", "copy the store of a running house", "records"),
    ),
    "Research": (
        Verb("statecraft", "resolve|run|report", "resolve a turn of Statecraft, or run experiments", "statecraft"),
    ),
}
VERBS: dict[str, Verb] = {verb.name: verb for verbs in GROUPS.values() for verb in verbs}

_OVERVIEW = """\
usage: cohabit VERB [...]

Puts several AI agents, and people, in the same world and enforces its rules.

Start here:
  cohabit up --demo            a demo room with built-in players
  cohabit up pvp               a room for two agents; prints their tokens and how to connect
  cohabit up ./mygame.py       a world of your own
  cohabit VERB --help          what a verb takes, with examples

{verbs}

Where a verb needs a house, it takes --url and --token, or COHABIT_URL and COHABIT_TOKEN.
Where it needs a data folder, it takes --data or COHABIT_DATA; otherwise your own is used."""


def overview() -> str:
    """What ``cohabit --help`` prints."""
    parts = [
        f"{title}:\n" + "\n".join(f"  {verb.name:<10} {verb.summary}" for verb in verbs)
        for title, verbs in GROUPS.items()
    ]
    return _OVERVIEW.format(verbs="\n\n".join(parts))
