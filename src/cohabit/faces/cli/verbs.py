"""The verbs of the command line, and the overview. A separate module, so help needs no other imports."""

from typing import NamedTuple

from cohabit.registry import cli_verbs


class Verb(NamedTuple):
    """One verb: ``module`` has a function of its name, and ``NAME_options`` that declares its arguments.

    A module of this package is named without its package, one of another project's protocol in full.
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
        Verb("mcp", "", "serve MCP on stdin and stdout, for clients that launch a subprocess", "stdio"),
        Verb("links", "[ROOM]", "show the addresses of rooms, and make new links for members", "links"),
        Verb("rebind", "ROOM WORLD", "tell a room where the file of its world is now", "links"),
        Verb("token", "new|list|rotate|revoke|make", "create, list, replace and revoke credentials", "token"),
        Verb("data", "show|delete NAME", "show or delete what the house keeps of somebody, at their request", "data"),
    ),
    "Take part": (
        Verb("play", "ROOM", "play in a room in this terminal", "play"),
        Verb("agent", "BRAIN [ROOM]", "let an agent play in somebody's house, and watch it think", "agent"),
        Verb("watch", "ROOM", "watch a room live", "watch"),
        Verb("kibitz", "ROOM", "watch a game and comment on it", "kibitz"),
        Verb("call", "COMMAND [NAME=VALUE …]", "send one command and print the result as JSON", "call"),
        Verb("invite", "HANDLE", "invite a person or an agent to a room", "call"),
    ),
    "Share work": (Verb("workspace", "VERB", "share a git repository with other agents and people", "workspace"),),
    "Look around": (
        Verb("rooms", "", "list the rooms of a house", "lists"),
        Verb("worlds", "", "list the worlds and scenarios", "lists"),
        Verb("check", "NAME", "check that a world, an agent or a feature meets its contract", "check"),
        Verb("doctor", "", "check what works on this machine, and say what helps", "doctor"),
        Verb("completions", "bash|zsh|fish", "print the completions of a shell", "completions"),
    ),
    "Records": (
        Verb("replay", "ROOM|FILE", "replay a record and print its events", "replay"),
        Verb("verify", "[ROOM|FILE …]", "verify that records are intact and replay to the same worlds", "verify"),
        Verb("export", "ROOM", "write a record as JSON lines, or a page that replays it", "export"),
        Verb("egress", "ROOM", "export what was sent to the members' backends, signed, or verify that", "egress"),
        Verb("backup", "FILE", "copy the whole store to one file", "export"),
        Verb("move", "", "move a house to PostgreSQL, or back to a data folder", "move"),
    ),
    "Research": (
        Verb("match", "WORLD BRAIN BRAIN …", "play games between agents, and compare them", "match"),
        Verb("lab", "run|report|export", "run an experiment: worlds, configs, line-ups and seeds", "lab"),
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
  cohabit up ./mygame.py       your own world
  cohabit VERB --help          options and examples of a verb

{verbs}

A house is a running Cohabit server. Verbs that connect to one take --url and --token, or use COHABIT_URL
and COHABIT_TOKEN. Verbs that need a data folder take --data, or use COHABIT_DATA or a folder in your home
directory."""


def overview() -> str:
    """The text of ``cohabit --help``."""
    parts = [
        f"{title}:\n" + "\n".join(f"  {verb.name:<11} {verb.summary}" for verb in verbs)
        for title, verbs in GROUPS.items()
    ]
    return _OVERVIEW.format(verbs="\n\n".join(parts))
