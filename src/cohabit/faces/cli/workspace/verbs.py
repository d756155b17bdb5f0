"""The verbs below ``cohabit workspace``. An option is named after the argument of the tool that it becomes."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

from cohabit.faces.cli.say import UsageError

Takes = tuple[tuple[str, ...], dict[str, Any]]


class Below(NamedTuple):
    """One verb below the verb. ``tool`` is what it calls; without one it is a program of its own."""

    name: str
    tool: str | None
    summary: str
    takes: tuple[Takes, ...] = ()


def word(name: str, text: str, **how: Any) -> Takes:
    """An argument by its place."""
    return (name,), {"metavar": name.upper(), "help": text, **how}


def option(name: str, text: str, **how: Any) -> Takes:
    return (f"--{name.replace('_', '-')}",), {"help": text, **how}


def todo(text: str) -> dict[str, str]:
    """``@mike-cli: read slide 6`` is for one agent; without a name it is for anyone."""
    whom, colon, what = text.partition(":")
    if text.startswith("@") and colon:
        return {"for": whom[1:].strip(), "text": what.strip()}
    return {"text": text}


def text_of(name: str) -> str:
    """What a file of yours says, or stdin."""
    return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")


def number(text: str) -> int:
    """How many to show. More than a tool gives is as many as it gives: the answer says that there are more."""
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{text!r} is not a number of things to show: 1 or more")
    return min(int(text), MOST_ROWS)


MOST_ROWS = 200
# Without a default, a mistake elsewhere on the line is told as if these were missing too.
PATHS = word("paths", "only these files or folders", nargs="*", metavar="PATH", default=[])
ITEM = word("id", "of the item, for example INB-014")
MOST = (("-n",), {"metavar": "N", "type": number, "help": "how many"})

VERBS: tuple[Below, ...] = (
    # -- workspaces -------------------------------------------------------------------------------
    Below("init", "workspace_init", "clone a shared repository, or make a new one, and register it", (
        word("name", "what you call it here"),
        word("remote_url", "address of the repository, or a path", metavar="REMOTE"),
        word("local_path", "folder of your clone (otherwise NAME, here)", nargs="?", metavar="FOLDER"),
        option("create", "make the repository first, where REMOTE is a path with nothing at it", action="store_true"),
    )),
    Below("list", "workspace_list", "your workspaces"),
    Below("switch", "workspace_switch", "use another one from now on", (word("name", "of the workspace"),)),
    Below("info", "workspace_info", "which workspace, which commit, and who you are in it"),
    # -- reading ----------------------------------------------------------------------------------
    Below("new", "whats_new", "what happened since you last looked", (
        option("ack", "and take it as read", action="store_true"),
    )),
    Below("status", "status", "what you changed and did not share yet"),
    Below("log", "log", "commits, newest first", (
        MOST, option("since", "only what came after this commit", metavar="COMMIT"), PATHS,
    )),
    Below("diff", "diff", "what changed, line by line", (
        option("since", "from this commit to the newest, not what is uncommitted", metavar="COMMIT"), PATHS,
    )),
    Below("ls", "list", "files of a folder", (word("dir", "the folder", nargs="?", default=""),)),
    Below("read", "read", "a file, as it is here", (word("path", "of the file"),)),
    Below("search", "search", "lines with a text in them", (word("query", "the text, as it stands there"), PATHS)),
    # -- the board --------------------------------------------------------------------------------
    Below("journal", "journal_tail", "the last entries of the journal", (MOST,)),
    Below("journal add", "journal_append", "write an entry", (
        word("summary", "what you did, in a line or two"),
        option("details", "more about it"),
        (("--todo",), {"dest": "todos", "action": "append", "type": todo, "metavar": "[@WHO:]TEXT",
                       "help": "what is left to do, and for whom; may be given several times"}),
    )),
    Below("inbox", "inbox_list", "what is open, yours first", (
        option("for", "only what is for exactly this agent; `anyone` for what is for anyone", metavar="WHO"),
        option("state", "which items (default open)", choices=("open", "closed", "all")),
    )),
    Below("inbox add", "inbox_add", "ask somebody, or anybody, for something", (
        word("title", "in one line"),
        option("body", "what it is about"),
        option("for", "agent id (otherwise anyone)", metavar="WHO"),
    )),
    Below("inbox close", "inbox_close", "an item is done", (
        ITEM, word("resolution", "what came of it"),
        option("journal_ref", "the journal entry that tells of it", metavar="STAMP"),
    )),
    Below("inbox claim", "claim", "say that you are at it; nobody else can then", (ITEM,)),
    Below("inbox release", "release", "give a claimed item back", (ITEM,)),
    Below("decide", "decision_add", "write a decision down, in a file of its own", (
        word("title", "what was decided, in one line"),
        option("context", "what there was to choose", required=True),
        option("decision", "what was chosen, and why", required=True),
        option("consequences", "what follows from it"),
        option("decided_by", "agent ids (otherwise you)", nargs="+", metavar="WHO"),
        option("status", "whether it holds (default accepted)", choices=("proposed", "accepted", "superseded")),
    )),
    # -- sharing ----------------------------------------------------------------------------------
    Below("commit", "commit", "everything you changed becomes a commit", (
        word("message", "what it is, in a line"),
    )),
    Below("sync", "sync", "fetch, merge and push: after it you and the remote have the same"),
    Below("pull", "pull", "bring your clone up to date, if that needs no merge"),
    Below("push", "push", "share your commits; what others pushed meanwhile is merged first"),
    Below("resolve", "resolve", "look at a conflict, or decide a file of it; then sync", (
        word("path", "of the file; without it, all open conflicts are shown", nargs="?"),
        option("take", "whose version", choices=("ours", "theirs", "both")),
        (("--with",), {"dest": "content", "type": text_of, "metavar": "FILE",
                       "help": "or what this file holds (- reads stdin)"}),
    )),
    Below("abandon", "abandon", "let the others' version win in every conflict; yours is kept in a commit"),
    # -- upkeep -----------------------------------------------------------------------------------
    Below("archive", "archive", "move journal entries of months that are over into files of their own", (
        option("before", "the months before this one (otherwise the current one)", metavar="YYYY-MM"),
    )),
    Below("health", "health", "is the protocol kept? commits without a journal entry, ids given twice", (
        option("since", "only what came after this commit", metavar="COMMIT"),
    )),
    # -- for agents -------------------------------------------------------------------------------
    Below("mcp", None, "speak MCP on stdin and stdout: what an agent's client starts", (
        option("home", "folder of your settings (COHABIT_WORKSPACE_HOME; otherwise ~/.multisphere)", metavar="FOLDER"),
        option("profile", "compat shows the twenty tools of the first design only (default full)",
               choices=("full", "compat"), default="full"),
    )),
    Below("serve", None, "open it as a room of a house: for agents elsewhere, and with a page for people", (
        option("remote", "the shared repository: an address, or a path, where it is made if nothing is there "
               "(otherwise the house keeps one in its data folder)", metavar="URL"),
        option("members", "who works in it, each with a token (default ann,bob)", metavar="A,B"),
        option("watchers", "agents that may only look", metavar="C,D"),
        option("room", "id of the room (default workspace)"),
        option("quiet", "do not show what happens in the room", action="store_true"),
    )),
    Below("skill", None, "print the skill: the protocol, for an agent to read"),
    Below("call", None, "call any tool and print its answer as JSON", (
        word("tool", "its name; docs/workspace-tools.md has them all"),
        word("words", "name=value, or a JSON object", nargs="*", metavar="NAME=VALUE", default=[]),
    )),
)  # fmt: skip
