"""The verbs of ``cohabit workspace``. An option has the name of the tool argument that it becomes."""

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

from cohabit.faces.cli.say import UsageError

Argument = tuple[tuple[str, ...], dict[str, Any]]


class Verb(NamedTuple):
    """One verb. ``tool`` is the tool that it calls; a verb without one runs its own program."""

    name: str
    tool: str | None
    summary: str
    arguments: tuple[Argument, ...] = ()


def positional(name: str, text: str, **options: Any) -> Argument:
    return (name,), {"metavar": name.upper(), "help": text, **options}


def option(name: str, text: str, **options: Any) -> Argument:
    return (f"--{name.replace('_', '-')}",), {"help": text, **options}


def todo(text: str) -> dict[str, str]:
    """``@mike-cli: read slide 6`` is for one agent; without a name it is for anyone."""
    target, colon, task = text.partition(":")
    if text.startswith("@") and colon:
        return {"for": target[1:].strip(), "text": task.strip()}
    return {"text": text}


def text_of(name: str) -> str:
    """The text of a file, or of stdin."""
    return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")


def number(text: str) -> int:
    """A number of rows, capped at the tool's limit. The answer says if there are more."""
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{text!r} is not a valid number; use 1 or more")
    return min(int(text), MAX_ROWS)


MAX_ROWS = 200
# Without a default, argparse reports these as missing when something else on the line is wrong.
PATHS = positional("paths", "only these files or folders", nargs="*", metavar="PATH", default=[])
ITEM = positional("id", "id of the item, for example INB-014")
COUNT = (("-n",), {"metavar": "N", "type": number, "help": f"how many to show, at most {MAX_ROWS}"})

VERBS: tuple[Verb, ...] = (
    # -- workspaces -------------------------------------------------------------------------------
    Verb("init", "workspace_init", "clone a shared repository, or create a new one, and register it", (
        positional("name", "your name for the workspace"),
        positional("remote_url", "address of the repository, or a path", metavar="REMOTE"),
        positional("local_path", "folder for your clone (default: ./NAME)", nargs="?", metavar="FOLDER"),
        option("create", "create the repository first, if REMOTE is a path that does not exist", action="store_true"),
    )),
    Verb("list", "workspace_list", "list your workspaces"),
    Verb("switch", "workspace_switch", "make another workspace active", (positional("name", "name of the workspace"),)),
    Verb("info", "workspace_info", "show the active workspace, its commit, and your agent id in it"),
    # -- reading ----------------------------------------------------------------------------------
    Verb("new", "whats_new", "show what happened since your last visit", (
        option("ack", "mark it as read", action="store_true"),
    )),
    Verb("status", "status", "show what you changed and have not shared yet"),
    Verb("log", "log", "show commits, newest first", (
        COUNT, option("since", "only changes after this commit", metavar="COMMIT"), PATHS,
    )),
    Verb("diff", "diff", "show what changed, line by line", (
        option("since", "from this commit to the last one, without uncommitted changes", metavar="COMMIT"), PATHS,
    )),
    Verb("ls", "list", "list the files of a folder", (positional("dir", "the folder", nargs="?", default=""),)),
    Verb("read", "read", "show a file", (positional("path", "path of the file"),)),
    Verb("search", "search", "find the lines that contain a text", (positional("query", "case-sensitive text"), PATHS)),
    # -- the board --------------------------------------------------------------------------------
    Verb("journal", "journal_tail", "show the last entries of the journal", (COUNT,)),
    Verb("journal add", "journal_append", "add an entry to the journal", (
        positional("summary", "what you did, in a line or two"),
        option("details", "more about it"),
        (("--todo",), {"dest": "todos", "action": "append", "type": todo, "metavar": "[@AGENT:]TEXT",
                       "help": "something left to do, for an agent or for anyone; may be repeated"}),
    )),
    Verb("inbox", "inbox_list", "list open items, yours first", (
        option("for", "only items for exactly this agent; `anyone`: items for anyone", metavar="AGENT"),
        option("state", "which items (default: open)", choices=("open", "closed", "all")),
    )),
    Verb("inbox add", "inbox_add", "add an item, for an agent or for anyone", (
        positional("title", "the request, in one line"),
        option("body", "what they need to know"),
        option("for", "agent id (default: anyone)", metavar="AGENT"),
    )),
    Verb("inbox close", "inbox_close", "close an item", (
        ITEM, positional("resolution", "how it was resolved"),
        option("journal_ref", "time of the journal entry about it", metavar="TIME"),
    )),
    Verb("inbox claim", "claim", "claim an item, so no other agent works on it", (ITEM,)),
    Verb("inbox release", "release", "release an item that you claimed", (ITEM,)),
    Verb("decide", "decision_add", "record a decision in its own file", (
        positional("title", "what was decided, in one line"),
        option("context", "the options, and why a decision was needed", required=True),
        option("decision", "what was chosen, and why", required=True),
        option("consequences", "what follows from it"),
        option("decided_by", "agent ids (default: you)", nargs="+", metavar="AGENT"),
        option("status", "state of the decision (default: accepted)", choices=("proposed", "accepted", "superseded")),
    )),
    # -- sharing ----------------------------------------------------------------------------------
    Verb("add", "add", "choose files for the next commit; without it, commit takes everything you changed", (
        positional("paths", "files or folders; a deleted file is chosen too", nargs="+", metavar="PATH"),
    )),
    Verb("rm", "delete", "delete a file", (positional("path", "path of the file"),)),
    Verb("mv", "rename", "rename or move a file", (
        positional("path", "path of the file"), positional("to", "new path, where nothing is yet"),
    )),
    Verb("commit", "commit", "commit what you added, or else everything you changed", (
        positional("message", "what you did, in one line", nargs="?", default=argparse.SUPPRESS),
        (("-m", "--message"), {"dest": "message", "help": "the same, as in git"}),
    )),
    Verb("sync", "sync", "fetch, merge and push, so your clone and the remote are the same"),
    Verb("pull", "pull", "update your clone, if no merge is needed"),
    Verb("push", "push", "push your commits; new commits by others are merged first"),
    Verb("resolve", "resolve", "show conflicts, or resolve one in a file; then sync", (
        positional("path", "path of the file; without it, all open conflicts are shown", nargs="?"),
        option("take", "which version to take", choices=("ours", "theirs", "both")),
        (("--with",), {"dest": "content", "type": text_of, "metavar": "FILE",
                       "help": "use the text of this file instead (- reads stdin)"}),
    )),
    Verb("abandon", "abandon", "take the others' version in every conflict; yours is kept in a commit"),
    # -- upkeep -----------------------------------------------------------------------------------
    Verb("archive", "archive", "move journal entries of past months to separate files", (
        option("before", "move the months before this one (default: the current one)", metavar="YYYY-MM"),
    )),
    Verb("health", "health", "check whether agents follow the protocol: missing journal entries, duplicate ids", (
        option("since", "only changes after this commit", metavar="COMMIT"),
    )),
    Verb("repair", "repair", "repair conflict markers, duplicated entries and the merge driver, as listed by health"),
    Verb("restore", "restore", "put a published entry or item back that vanished or was edited", (
        positional("id", "id of the entry or item, as listed by health"),
    )),
    # -- for agents -------------------------------------------------------------------------------
    Verb("mcp", None, "run the MCP server on stdin and stdout, for an agent's client", (
        option("home", "settings folder (default: COHABIT_WORKSPACE_HOME or ~/.multisphere)", metavar="FOLDER"),
        option("profile", "compat: only the twenty tools of Multisphere (default: full)",
               choices=("full", "compat"), default="full"),
    )),
    Verb("serve", None, "serve the workspace as a room, for agents on other machines, with a web page for people", (
        option("remote", "the shared repository: an address, or a path, which is created if it does not exist "
               "(default: a repository in the data folder of the house)", metavar="URL"),
        option("members", "members with write access, each with a token (default: ann,bob)", metavar="A,B"),
        option("watchers", "agents that may only read", metavar="C,D"),
        option("room", "id of the room (default: workspace)"),
        option("quiet", "do not print the events of the room", action="store_true"),
    )),
    Verb("skill", None, "print the skill, which explains the protocol to an agent"),
    Verb("call", None, "call any tool and print its answer as JSON", (
        positional("tool", "name of the tool; docs/workspace-tools.md lists them"),
        positional("words", "name=value, or a JSON object", nargs="*", metavar="NAME=VALUE", default=[]),
    )),
)  # fmt: skip
