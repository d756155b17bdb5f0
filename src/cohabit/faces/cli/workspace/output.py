"""The answers of tools as output for a person."""

import shlex
from collections.abc import Callable

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.text import Text

from cohabit.faces.cli.say import clean, looked_at, tell
from cohabit.faces.cli.workspace import board, parts
from cohabit.faces.cli.workspace.messages import for_people
from cohabit.faces.cli.workspace.parts import Answer, Output, count, line, lines_of, titled

PIPE_COLUMNS = 10_000
"""Width if the output is not a terminal: a program that reads it needs whole lines."""


def show(verb: str, answer: Answer, me: str) -> None:
    """Print an answer for the agent ``me``. The active ``workspace`` and ``workspace_of_folder`` are part of it."""
    _print(list((_error if "error" in answer else OUTPUTS[verb])(answer, me)))


def show_board(status: Answer, items: Answer, entries: Answer, me: str) -> None:
    """Print the board: open items, the last entries of the journal, and what is not shared yet."""
    journal = titled("Journal", board.journal({**entries, "truncated": False}, me))
    _print([*_status(status, me), *titled("Inbox", board.inbox(items, me)), *journal])


def _print(shown: list[RenderableType]) -> None:
    if looked_at():
        console = Console(highlight=False)
        for part in shown:
            console.print(part)
        return
    console = Console(highlight=False, width=PIPE_COLUMNS, color_system=None)
    for part in shown:
        tell(part.plain if isinstance(part, Text) else _as_text(console, part))


def _as_text(console: Console, part: RenderableType) -> str:
    with console.capture() as got:
        console.print(part)
    return "\n".join(line.rstrip() for line in got.get().splitlines())


def _done(what: str) -> Callable[[Answer, str], Output]:
    """The output of something that was done here and is not shared yet: a sentence with fields of the answer."""

    def shown(answer: Answer, me: str) -> Output:
        fields = {name: escape(clean(value)) for name, value in answer.items()}
        yield Text.from_markup(f"[green]✓[/] {what.format_map(fields)}", emoji=False)
        yield from parts.notes(answer)
        yield parts.not_yet_shared()

    return shown


# -- workspaces -----------------------------------------------------------------------------------
def _init(answer: Answer, me: str) -> Output:
    state = "is registered with its existing clone" if answer["already_existed"] else "is ready"
    yield line((answer["name"], "bold"), f" {state}: {answer['local_path']}")
    yield line("remote  ", answer["remote"])
    yield line("you are ", (me, "cyan"))
    if answer["active_workspace"] != answer["name"]:
        switch = f"cohabit workspace switch {shlex.quote(answer['name'])}"
        yield line(f"{answer['active_workspace']} is still active. To change that: `{switch}`")


def _list(answer: Answer, me: str) -> Output:
    if not answer["workspaces"]:
        yield line("You have no workspaces yet. Set one up with `cohabit workspace init NAME REMOTE`.")
        return
    rows = (
        (Text("●" if one["active"] else "", "green"), line((one["name"], "bold" if one["active"] else "")),
         line((one["remote"], "dim")), line((one["local_path"], "dim")))
        for one in answer["workspaces"]
    )  # fmt: skip
    yield parts.grid(rows, ("", "workspace", "remote", "folder"))


def _switch(answer: Answer, me: str) -> Output:
    yield line((answer["active_workspace"], "bold"), " is active.")
    if answer["workspace_of_folder"] not in (None, answer["active_workspace"]):
        yield line(f"This folder belongs to the clone of {answer['workspace_of_folder']}, which is still used here.")


def _info(answer: Answer, me: str) -> Output:
    names = (("name", "workspace"), ("branch", "branch"), ("head", "commit"), ("agent_id", "you are"),
             ("remote", "remote"), ("local_path", "folder"))  # fmt: skip
    yield parts.grid((line((label, "dim")), line(answer.get(key) or "-")) for key, label in names)


# -- reading --------------------------------------------------------------------------------------
KINDS = {"conflicted": "red", "renamed": "cyan", "deleted": "red", "staged": "green", "modified": "yellow",
         "untracked": "magenta"}  # fmt: skip


def _status(answer: Answer, me: str) -> Output:
    ahead, behind = answer["ahead"], answer["behind"]
    shared = f"{ahead} to share, {behind} to fetch" if ahead or behind else "same as the remote at the last fetch"
    style = "yellow" if ahead or behind else "green"
    yield line((answer["workspace"], "bold"), "  ", answer["branch"], "  ", (shared, style))
    if answer["clean"]:
        yield line("No changes.")
    shown: dict[str, str] = {}
    for kind in KINDS:
        for path in answer[kind]:
            shown.setdefault(path, kind)
    if shown:
        yield parts.grid((line((kind, KINDS[kind])), line(path)) for path, kind in shown.items())


def _log(answer: Answer, me: str) -> Output:
    yield parts.commit_table(answer["commits"]) if answer["commits"] else line("No commits.")
    yield from parts.more(answer)


def _diff(answer: Answer, me: str) -> Output:
    styles = {"+++": "bold", "---": "bold", "+": "green", "-": "red", "@": "cyan", "diff": "bold"}
    for each in answer["diff"].removesuffix("\n").split("\n") if answer["diff"] else ():
        style = next((style for start, style in styles.items() if each.startswith(start)), "")
        yield Text(lines_of(each), style)
    if not answer["diff"]:
        yield line("No difference.")
    yield from parts.more(answer)


def _ls(answer: Answer, me: str) -> Output:
    yield parts.grid(
        (line((one["name"] + "/" * (one["type"] == "dir"), "blue" if one["type"] == "dir" else "")),
         line(("" if one["type"] == "dir" else f"{one['size']:,}", "dim")))
        for one in answer["entries"]
    )  # fmt: skip
    yield from parts.more(answer)


def _read(answer: Answer, me: str) -> Output:
    if answer.get("encoding") == "base64":
        yield line(f"{answer['path']} is a binary file: {answer['size']:,} bytes")
        return
    yield Text(lines_of(answer["content"]).removesuffix("\n"))
    yield from parts.more(answer)


def _search(answer: Answer, me: str) -> Output:
    for one in answer["matches"]:
        text = line((one["path"], "magenta"), (f":{one['line']}: ", "dim"), one["text"].strip())
        text.highlight_words([clean(answer["query"])], "bold red")
        yield text
    if not answer["matches"]:
        yield line("No matches.")
    yield from parts.more(answer)


def _add(answer: Answer, me: str) -> Output:
    yield line(("✓ ", "green"), "for the next commit: ", ", ".join(answer["added"]))


# -- sharing --------------------------------------------------------------------------------------
def _commit(answer: Answer, me: str) -> Output:
    summary = answer["summary"]
    if not answer["sha"]:
        yield line(f"There are no changes to commit in {answer['workspace']}.")
        return
    yield line((answer["sha"][:9], "yellow"), " in ", (answer["workspace"], "bold"),
               f" on {answer['branch']}: {count(summary['changes'], 'file')}, ",
               (f"+{summary['insertions']}", "green"), " ", (f"-{summary['deletions']}", "red"))  # fmt: skip
    yield line("To share it: `cohabit workspace sync`")


def _shared(answer: Answer, me: str) -> Output:
    hashes = answer.get("update", {}).get("hash")
    new = next((row["remote"].removeprefix("refs/heads/") for row in answer.get("pushed", ()) if row["new"]), None)
    done = f"{hashes['from']} → {hashes['to']}" if hashes else f"{new} is new on the remote" if new else ""
    yield line(("✓ ", "green"), (answer["workspace"], "bold"), f" shared: {done}" if done else ": nothing to share")
    if answer.get("integrated"):
        yield line(("✓ ", "green"), f"{count(answer['integrated'], 'commit')} by others merged")
    yield from parts.notes(answer)


def _pull(answer: Answer, me: str) -> Output:
    if not answer["updated"]:
        yield line("Up to date.")
        return
    yield line(("✓ ", "green"), f"now at {answer['new_head'][:9]}, {count(len(answer['files']), 'file')} changed")
    for path in answer["files"]:
        yield line("  ", path)
    yield from parts.notes(answer)


def _claim(answer: Answer, me: str) -> Output:
    state = f"is yours since {answer['claimed_at']}" if "claimed_at" in answer else "is free again"
    yield line(("✓ ", "green"), (answer["id"], "bold"), f" {state}: {answer['title']}")
    yield from parts.notes(answer)


def _resolve(answer: Answer, me: str) -> Output:
    if "resolved" in answer:
        yield line(("✓ ", "green"), answer["resolved"], f": {answer['take']}")
    for one in answer.get("conflicts", ()):
        yield line((one["path"], "bold red"), (f"  {one['kind']}", "dim"))
        for side in ("merged", "ours", "theirs"):
            if one.get(side) is not None:
                yield line((side, "cyan")) if side != "merged" else Text("")
                yield parts.indented(one[side])
            elif side in one:
                yield line((side, "cyan"), " removed it")
    yield _next_step(answer["open"])
    yield from parts.more(answer)


def _abandon(answer: Answer, me: str) -> Output:
    yield line("The others' version is taken for:")
    for path in answer["abandoned"]:
        yield line("  ", path)
    yield line("yours is kept in commit ", (answer["kept"][:9], "yellow"))
    yield _next_step(0)


def _next_step(left: int) -> Text:
    if left:
        return line((f"{left} left to resolve: ", "yellow"), "`cohabit workspace resolve PATH --take ours|theirs|both`")
    return line("All conflicts are resolved. Run `cohabit workspace sync` now.")


def _error(answer: Answer, me: str) -> Output:
    first, *rest = for_people(answer.get("message") or answer.get("reason") or "").split("\n")
    yield line((answer["error"], "bold red"), ": ", first)
    for each in rest:
        yield line("  ", each)
    for path in answer.get("files", ()):
        yield line("  ", (path, "red"))


OUTPUTS: dict[str, Callable[[Answer, str], Output]] = {
    "init": _init, "list": _list, "switch": _switch, "info": _info,
    "new": board.new, "status": _status, "log": _log, "diff": _diff, "ls": _ls, "read": _read, "search": _search,
    "journal": board.journal, "journal add": _done("entry of {journal_entry_at} by {agent_id}"),
    "inbox": board.inbox, "inbox add": _done("[bold]{id}[/] for [cyan]{target}[/]"),
    "inbox close": _done("[bold]{id}[/] closed {closed_at} by {by}"),
    "inbox claim": _claim, "inbox release": _claim,
    "decide": _done("[bold]{path}[/], {status} {date}"), "archive": board.archive, "health": board.health,
    "add": _add, "rm": _done("[bold]{path}[/] deleted"), "mv": _done("{path} is now [bold]{to}[/]"),
    "commit": _commit, "sync": _shared, "push": _shared, "pull": _pull, "resolve": _resolve, "abandon": _abandon,
    "repair": board.repaired, "restore": board.restored,
}  # fmt: skip
