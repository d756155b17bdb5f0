"""Output about the board: news, journal, inbox, decisions, health."""

from rich.text import Text

from cohabit.faces.cli.workspace import parts
from cohabit.faces.cli.workspace.parts import Answer, Output, ago, count, line, titled


def new(answer: Answer, me: str) -> Output:
    counts = answer["counts"]
    since = "Your first visit" if answer["first_visit"] else f"Since {answer['previous_sha'][:9]}"
    yield line(
        (since, "bold"), f": {count(counts['commits'], 'commit')} by others, {answer['own_commits']} of your own"
    )
    yield from titled("For you", (part for one in answer["for_me"] for part in _item(one, me)))
    if answer["for_anyone"]:
        yield line(f"{'and ' * bool(answer['for_me'])}{answer['for_anyone']} for anyone: `cohabit workspace inbox`")
    yield from titled("Lost", (_finding(one) for one in answer.get("lost", ())))
    yield from titled("Journal", (part for one in answer["journal"] for part in _entry(one, me)))
    yield from titled("Commits", [parts.commit_table(answer["new_commits"])] if answer["new_commits"] else [])
    yield from titled("Files", (line("  ", path) for path in answer["changed_files"]))
    if answer["behind"]:
        yield line((f"{count(answer['behind'], 'commit')} fetched, not merged yet: `cohabit workspace sync`", "yellow"))
    yield from parts.notes(answer)
    yield from parts.more(answer)


def _entry(one: Answer, me: str) -> Output:
    yield line((one["at"], "dim"), "  ", (one["agent_id"], "green" if one["agent_id"] == me else "cyan"),
               (f"  {ago(one['at'])}", "dim"), _unverified(one))  # fmt: skip
    yield parts.indented(one["summary"])
    if one.get("details"):
        yield parts.indented(one["details"], "dim")
    for todo in one.get("todos", ()):
        yield line("  TODO ", (f"@{todo['for']}", "yellow" if todo["for"] == me else "cyan"), f" {todo['text']}")


def _unverified(one: Answer) -> tuple[str, str]:
    """The mark of an entry or an item that another agent committed than it names."""
    return (
        (f"  ✗ not verified, committed by {one['committed_by']}", "red") if one.get("verified") is False else ("", "")
    )


def journal(answer: Answer, me: str) -> Output:
    if not answer["entries"]:
        yield line("The journal is empty. Add an entry with `cohabit workspace journal add TEXT`.")
    for one in answer["entries"]:
        yield from _entry(one, me)
    yield from parts.more(answer)


def inbox(answer: Answer, me: str) -> Output:
    for one in answer["items"]:
        yield from _item(one, me)
    counts = answer["counts"]
    summary = "{open} open: {for_me} for you, {for_anyone} for anyone; {closed} closed".format(**counts)
    yield line((summary, "dim"))
    yield from parts.more(answer)


def _item(one: Answer, me: str) -> Output:
    """An item: yellow for you, cyan for others, dim if it is closed."""
    target = one.get("target", f"@{me}")
    closed = one.get("state") == "closed"
    yield line((one["id"], "dim" if closed else "bold"), " ", (target, "yellow" if target == f"@{me}" else "cyan"),
               " ", (one["title"], "dim strike" if closed else ""))  # fmt: skip
    added_by = one.get("added_by") or one.get("from")
    yield line((f"  from {added_by}, {one['added_at']}  {ago(one['added_at'])}", "dim"), _unverified(one))
    if one.get("claimed_by"):
        yield line("  ", (f"claimed by {one['claimed_by']}", "green" if one["claimed_by"] == me else "magenta"))
    if closed:
        yield line((f"  closed {one['closed_at']} by {one['closed_by']} → {one['resolution']}", "dim"))
    elif one.get("body"):
        yield parts.indented(one["body"])


def archive(answer: Answer, me: str) -> Output:
    yield line(f"{answer['moved']} entries from before {answer['before']} moved", ":" if answer["files"] else ".")
    for path in answer["files"]:
        yield line("  ", path)
    if answer["moved"]:
        yield parts.not_yet_shared()


def restored(answer: Answer, me: str) -> Output:
    yield line(("✓ ", "green"), (answer["path"], "bold"), " restored: ", answer["what"].partition(": ")[2])
    yield parts.not_yet_shared()


def repaired(answer: Answer, me: str) -> Output:
    for one in answer["repaired"]:
        yield line(("✓ ", "green"), (one["path"], "bold"), " repaired: ", one["what"])
    for note in answer["notes"]:
        yield line("  ", note)
    yield from titled("Left for you", (_finding(one) for one in answer["left"]))
    if not answer["repaired"] and not answer["left"]:
        yield line("Nothing is damaged.")
    if any(one["path"] != ".git" for one in answer["repaired"]):
        yield parts.not_yet_shared()


def health(answer: Answer, me: str) -> Output:
    yield line((answer["summary"], "yellow" if any(answer["counts"].values()) else "green"))
    for kind, found in answer["counts"].items():
        yield from titled(f"{kind.replace('_', ' ').capitalize()}: {found}", (_finding(one) for one in answer[kind]))
    visits = (
        (
            line((one["agent_id"], "cyan")),
            line((ago(one["last_visit"] or ""), "dim")),
            line(count(one["commits"], "commit")),
        )
        for one in answer["agents"]
    )
    yield from titled("Agents", [parts.grid(visits)] if answer["agents"] else [])
    yield from parts.more(answer)


def _finding(one: Answer | str) -> Text:
    if isinstance(one, str):
        return line("  ", one)
    if "what" in one:
        id_ = f"  (`cohabit workspace restore {one['id']}`)" if "id" in one else ""
        return line("  ", (one["path"], "magenta"), f": {one['what']}", (id_, "dim"))
    return line("  ", (one["sha"][:9], "yellow"), " ", (one["by"], "cyan"), f" {one['message']}")
