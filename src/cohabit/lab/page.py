"""The pieces of a report: one HTML page without external files, readable on a phone, in light and dark."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = Path(__file__).with_suffix(".css").read_text()
Cell = str | tuple[str, str]
"""Text, or text with a class."""


def html_page(title: str, body: Iterable[str]) -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{STYLE}</style>\n</head>\n'
        f"<body>\n{''.join(body)}</body>\n</html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], texts: int = 1) -> str:
    """``texts``: how many columns contain text, aligned to the left; 9: all."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table class="t{texts}">\n<tr>{top}</tr>\n{body}</table></div>\n'


def _cell(cell: Cell) -> str:
    if isinstance(cell, tuple):
        return f'<td class="{cell[1]}">{escape(cell[0])}</td>'
    return f"<td>{escape(cell)}</td>"


def note(text: str) -> str:
    return f'<p class="note">{text}</p>\n'


def figure(drawn: str | None) -> str:
    return f"<figure>{drawn}</figure>\n" if drawn else ""


def alarm(problems: Sequence[str]) -> str:
    if not problems:
        return ""
    items = "".join(f"<li>{escape(problem)}.</li>" for problem in problems)
    return f'<div class="alarm" role="alert">These results cannot be trusted as they are.<ul>{items}</ul></div>\n'


def details(title: str, text: bytes) -> str:
    """A text, folded."""
    return f"<details><summary>{title}</summary><pre>{escape(text.decode())}</pre></details>\n"
