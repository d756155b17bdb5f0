"""Parts of the output of ``cohabit workspace``.

Text from other people goes through ``clean``, so it cannot move the cursor or forge a line, and into ``Text``, so it is
not interpreted as markup.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cohabit.faces.cli.say import clean
from cohabit.faces.cli.workspace.messages import for_people

Answer = dict[str, Any]
Output = Iterator[RenderableType]


def line(*parts: object | tuple[object, str]) -> Text:
    """One line; a pair is a part and its style."""
    return Text.assemble(*((clean(p[0]), p[1]) if isinstance(p, tuple) else clean(p) for p in parts))


def lines_of(text: str) -> str:
    """Text of several lines, cleaned; tabs are kept."""
    return "\t".join(clean(part, lines=True) for part in text.split("\t"))


def indented(text: str, style: str = "") -> Padding:
    """Text of several lines, indented."""
    return Padding(Text(lines_of(text.strip("\n")), style), (0, 0, 0, 2), expand=False)


def grid(rows: Iterable[Sequence[Text]], headings: Sequence[str] = ()) -> Table:
    """A table without lines; long text is folded in the last column."""
    table = Table(box=None, pad_edge=False, show_header=bool(headings), header_style="bold", padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    for column in table.columns[:-1]:
        column.no_wrap = True
    for column in table.columns[-1:]:
        column.overflow = "fold"
    return table


def count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def ago(when: str, now: datetime | None = None) -> str:
    """The time since a moment, in the largest unit that fits; a time without a zone is local."""
    try:
        then = datetime.fromisoformat(when)
    except ValueError:
        return ""
    then = then.astimezone() if then.tzinfo is None else then
    seconds = ((now or datetime.now(UTC)) - then).total_seconds()
    if seconds < 60:
        return "just now" if seconds > -60 else ""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"{count(int(seconds // size), unit)} ago"
    return ""


def titled(title: str, parts: Iterable[RenderableType]) -> Output:
    """A heading and its parts; nothing if there are no parts."""
    for i, part in enumerate(parts):
        if i == 0:
            yield Text(f"\n{title}", "bold")
        yield part


def commit_table(commits: Iterable[Answer]) -> Table:
    return grid(
        (line((one["sha"][:9], "yellow"), _verified_mark(one)), line((ago(one["date"]), "dim")),
         line((one.get("author_name") or one.get("author"), "cyan")), line(one["message"]))
        for one in commits
    )  # fmt: skip


def _verified_mark(commit: Answer) -> tuple[str, str]:
    """The mark of a commit: verified author, wrong or unknown; empty if signing is not set up."""
    if "verified" not in commit:
        return "", ""
    return (" ✓", "green") if commit["verified"] else (" ✗", "red") if commit["verified"] is False else (" -", "dim")


def notes(answer: Answer) -> Output:
    """Renumbered items and notes of an answer."""
    for one in answer.get("renumbered", ()):
        yield line((f"{one['from']} is now {one['to']}", "yellow"), f" ({one['title']}): its number was taken")
    for note in [*answer.get("notes", ()), *filter(None, [answer.get("note")])]:
        yield line((for_people(note), "dim"))


def more(answer: Answer) -> Output:
    if answer.get("truncated"):
        yield line(("There is more than this.", "dim"))


def not_yet_shared() -> Text:
    return line(("To share it: `cohabit workspace commit MESSAGE` and `cohabit workspace sync`.", "dim"))
