"""How the answers of a workspace look to a person: a table where there are many, colour where it says something."""

import shlex
from collections.abc import Callable

from rich.console import Console, RenderableType
from rich.text import Text

from cohabit.faces.cli.say import clean, looked_at, tell
from cohabit.faces.cli.workspace import board
from cohabit.faces.cli.workspace.pieces import (
    Answer,
    Picture,
    below,
    commit_table,
    count,
    grid,
    line,
    lines_of,
    more,
    told,
)
from cohabit.faces.cli.workspace.words import here

WIDE = 10_000
"""Columns where nobody looks: a program that reads this wants whole lines."""


def draw(verb: str, answer: Answer, me: str) -> None:
    """Print an answer for the agent ``me``. It says besides which ``workspace`` it is of, and in whose folder the
    person stands."""
    parts = list((_trouble if "error" in answer else DRAWINGS[verb])(answer, me))
    if looked_at():
        console = Console(highlight=False)
        for part in parts:
            console.print(part)
        return
    console = Console(highlight=False, width=WIDE, color_system=None)
    for part in parts:
        tell(part.plain if isinstance(part, Text) else _plainly(console, part))


def _plainly(console: Console, part: RenderableType) -> str:
    with console.capture() as got:
        console.print(part)
    return "\n".join(line.rstrip() for line in got.get().splitlines())


# -- workspaces -----------------------------------------------------------------------------------
def _init(answer: Answer, me: str) -> Picture:
    verb = "is registered; the clone was there" if answer["already_existed"] else "is ready"
    yield line((answer["name"], "bold"), f" {verb}: {answer['local_path']}")
    yield line("remote  ", answer["remote"])
    yield line("you are ", (me, "cyan"))
    if answer["active_workspace"] != answer["name"]:
        switch = f"cohabit workspace switch {shlex.quote(answer['name'])}"
        yield line(f"Active is still {answer['active_workspace']}; `{switch}`.")


def _list(answer: Answer, me: str) -> Picture:
    if not answer["workspaces"]:
        yield line("No workspace yet; `cohabit workspace init NAME REMOTE` makes one.")
        return
    rows = (
        (Text("●" if one["active"] else "", "green"), line((one["name"], "bold" if one["active"] else "")),
         line((one["remote"], "dim")), line((one["local_path"], "dim")))
        for one in answer["workspaces"]
    )  # fmt: skip
    yield grid(rows, ("", "workspace", "remote", "folder"))


def _switch(answer: Answer, me: str) -> Picture:
    yield line("Active is ", (answer["active_workspace"], "bold"), ".")
    if answer["standing_in"] not in (None, answer["active_workspace"]):
        yield line(f"In this folder it is still {answer['standing_in']}: it is a part of that clone.")


def _info(answer: Answer, me: str) -> Picture:
    names = (("name", "workspace"), ("branch", "branch"), ("head", "commit"), ("agent_id", "you are"),
             ("remote", "remote"), ("local_path", "folder"))  # fmt: skip
    yield grid((line((label, "dim")), line(answer.get(key) or "-")) for key, label in names)


# -- reading --------------------------------------------------------------------------------------
KINDS = {"conflicted": "red", "renamed": "cyan", "deleted": "red", "staged": "green", "modified": "yellow",
         "untracked": "magenta"}  # fmt: skip


def _status(answer: Answer, me: str) -> Picture:
    ahead, behind = answer["ahead"], answer["behind"]
    shared = f"{ahead} to share, {behind} to fetch" if ahead or behind else "as the remote was when it was last asked"
    style = "yellow" if ahead or behind else "green"
    yield line((answer["workspace"], "bold"), "  ", answer["branch"], "  ", (shared, style))
    if answer["clean"]:
        yield line("Nothing is changed.")
    shown: dict[str, str] = {}
    for kind in KINDS:
        for path in answer[kind]:
            shown.setdefault(path, kind)
    if shown:
        yield grid((line((kind, KINDS[kind])), line(path)) for path, kind in shown.items())


def _log(answer: Answer, me: str) -> Picture:
    yield commit_table(answer["commits"]) if answer["commits"] else line("No commit.")
    yield from more(answer)


def _diff(answer: Answer, me: str) -> Picture:
    styles = {"+++": "bold", "---": "bold", "+": "green", "-": "red", "@": "cyan", "diff": "bold"}
    for each in answer["diff"].removesuffix("\n").split("\n") if answer["diff"] else ():
        style = next((style for start, style in styles.items() if each.startswith(start)), "")
        yield Text(lines_of(each), style)
    if not answer["diff"]:
        yield line("No difference.")
    yield from more(answer)


def _ls(answer: Answer, me: str) -> Picture:
    yield grid(
        (line((one["name"] + "/" * (one["type"] == "dir"), "blue" if one["type"] == "dir" else "")),
         line(("" if one["type"] == "dir" else f"{one['size']:,}", "dim")))
        for one in answer["entries"]
    )  # fmt: skip
    yield from more(answer)


def _read(answer: Answer, me: str) -> Picture:
    if answer.get("encoding") == "base64":
        yield line(f"{answer['path']} is no text: {answer['size']:,} bytes")
        return
    yield Text(lines_of(answer["content"]).removesuffix("\n"))
    yield from more(answer)


def _search(answer: Answer, me: str) -> Picture:
    for one in answer["matches"]:
        text = line((one["path"], "magenta"), (f":{one['line']}: ", "dim"), one["text"].strip())
        text.highlight_words([clean(answer["query"])], "bold red")
        yield text
    if not answer["matches"]:
        yield line("Nothing found.")
    yield from more(answer)


# -- sharing --------------------------------------------------------------------------------------
def _commit(answer: Answer, me: str) -> Picture:
    summary = answer["summary"]
    if not answer["sha"]:
        yield line(f"Nothing is changed in {answer['workspace']}, so there is nothing to commit.")
        return
    yield line((answer["sha"][:9], "yellow"), " in ", (answer["workspace"], "bold"),
               f" on {answer['branch']}: {count(summary['changes'], 'file')}, ",
               (f"+{summary['insertions']}", "green"), " ", (f"-{summary['deletions']}", "red"))  # fmt: skip
    yield line("`cohabit workspace sync` shares it.")


def _shared(answer: Answer, me: str) -> Picture:
    hashes = answer.get("update", {}).get("hash")
    new = next((row["remote"].removeprefix("refs/heads/") for row in answer.get("pushed", ()) if row["new"]), None)
    done = f"{hashes['from']} → {hashes['to']}" if hashes else f"{new} is new on the remote" if new else ""
    yield line(("✓ ", "green"), (answer["workspace"], "bold"), f" shared: {done}" if done else ": nothing to share")
    if answer.get("integrated"):
        yield line(("✓ ", "green"), f"{count(answer['integrated'], 'commit')} of others came in")
    yield from told(answer)


def _pull(answer: Answer, me: str) -> Picture:
    if not answer["updated"]:
        yield line("Up to date.")
        return
    yield line(("✓ ", "green"), f"now at {answer['new_head'][:9]}, {count(len(answer['files']), 'file')} changed")
    for path in answer["files"]:
        yield line("  ", path)
    yield from told(answer)


def _claim(answer: Answer, me: str) -> Picture:
    state = f"is yours since {answer['claimed_at']}" if "claimed_at" in answer else "is free again"
    yield line(("✓ ", "green"), (answer["id"], "bold"), f" {state}: {answer['title']}")
    yield from told(answer)


def _resolve(answer: Answer, me: str) -> Picture:
    if "resolved" in answer:
        yield line(("✓ ", "green"), answer["resolved"], f": {answer['take']}")
    for one in answer.get("conflicts", ()):
        yield line((one["path"], "bold red"), (f"  {one['kind']}", "dim"))
        for side in ("merged", "ours", "theirs"):
            if one.get(side) is not None:
                yield line((side, "cyan")) if side != "merged" else Text("")
                yield below(one[side])
            elif side in one:
                yield line((side, "cyan"), " removed it")
    yield _next(answer["open"])
    yield from more(answer)


def _abandon(answer: Answer, me: str) -> Picture:
    yield line("The others' version will stand in:")
    for path in answer["abandoned"]:
        yield line("  ", path)
    yield line("yours stays in the commit ", (answer["kept"][:9], "yellow"))
    yield _next(0)


def _next(left: int) -> Text:
    if left:
        return line((f"{left} to decide: ", "yellow"), "`cohabit workspace resolve PATH --take ours|theirs|both`")
    return line("Nothing is open; `cohabit workspace sync` goes through now.")


def _trouble(answer: Answer, me: str) -> Picture:
    first, *rest = here(answer.get("message") or answer.get("reason") or "").split("\n")
    yield line((answer["error"], "bold red"), ": ", first)
    for each in rest:
        yield line("  ", each)
    for path in answer.get("files", ()):
        yield line("  ", (path, "red"))


DRAWINGS: dict[str, Callable[[Answer, str], Picture]] = {
    "init": _init, "list": _list, "switch": _switch, "info": _info,
    "new": board.new, "status": _status, "log": _log, "diff": _diff, "ls": _ls, "read": _read, "search": _search,
    "journal": board.journal, "journal add": board.written,
    "inbox": board.inbox, "inbox add": board.asked, "inbox close": board.closed,
    "inbox claim": _claim, "inbox release": _claim,
    "decide": board.decided, "archive": board.archive, "health": board.health,
    "commit": _commit, "sync": _shared, "push": _shared, "pull": _pull, "resolve": _resolve, "abandon": _abandon,
}  # fmt: skip
