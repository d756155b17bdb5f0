"""The difference between two texts, by lines, for a reader who has the old one.

``= line`` replaces the only line that begins alike, ``+ line`` is new, and ``! line`` is news that reads the same as
the last time. ``- line`` is gone, and ``-3 line`` are three lines that are gone, of which this is the first; only its
beginning is given, which no other line has. ``@7 STATUS`` says where the next ones are: at line 7 of the old text,
under this heading. So a model can read it, and a program can apply it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

MAX_COMPARISONS = 100_000
"""Texts with more pairs of lines than this are not compared, because it would take too long."""
GONE_SHOWN = 24
"""Of a line that is gone, this many characters are given, or more if other lines begin with them."""
MAX_KEY = 40
"""The first words of a line identify it, up to a colon that comes within this many characters."""


def changes(old: str, new: str, is_news: Callable[[str], bool] = lambda heading: False) -> str | None:
    """The changes that turn the old text into the new one; empty if they are equal, None if they are too long.

    ``is_news``: whether what stands under a heading has happened since the old text. It is given even if it reads the
    same.
    """
    before, after = old.split("\n"), new.split("\n")
    same = _common(before, after)
    rest = before[same:], after[same:]
    end = _common(rest[0][::-1], rest[1][::-1])
    ours, theirs = rest[0][: len(rest[0]) - end], rest[1][: len(rest[1]) - end]
    if len(ours) * len(theirs) > MAX_COMPARISONS:
        return None
    unique = _unique_keys(before) & _unique_keys(after)
    found: list[str] = []
    for what, i, j, k, n in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if what != "equal":
            if what == "delete" and not ours[i] and before[same + j : same + j + 1] == [""]:
                i, j = i + 1, j + 1  # the empty line after a paragraph, so that the first line that is gone says which
            found.append(f"@{same + i + 1} {_heading(before, same + i)}".rstrip())
            found += _replaced(before[same + i : same + j], theirs[k:n], unique, before)
        elif found:
            found += _repeated(before, same + i, same + j, is_news)
    if found:
        start = _repeated(before, 0, same, is_news)
        found = [*start, *found, *_repeated(before, len(before) - end, len(before), is_news)]
    return "\n".join(found)


def _repeated(lines: Sequence[str], start: int, end: int, is_news: Callable[[str], bool]) -> Iterator[str]:
    """News among lines that have not changed."""
    last = ""
    for at in range(start, end):
        heading = _section(lines, at)
        if lines[at] and heading and is_news(heading):
            if heading != last:
                yield f"@{at + 1} {heading}"
                last = heading
            yield f"! {lines[at]}"
        else:
            last = ""


def apply_changes(old: str, delta: str) -> str:
    """The new text. Raises ValueError if the changes do not belong to the old text."""
    before, after, at = old.split("\n"), [], 0
    for line in delta.split("\n") if delta else ():
        mark, text = line[:1], line[2:]
        if mark == "@":
            start = int(line[1:].split(" ")[0]) - 1
            after += before[at:start]
            at = start
            continue
        if mark in ("=", "+", "!"):
            after.append(text)
        gone = int(line[1 : line.index(" ")] or 1) if mark == "-" else 1
        if mark == "-":
            text = line.partition(" ")[2]
        if mark in ("=", "-", "!"):
            if at + gone > len(before) or (mark != "=" and not _is_line(text, before[at], whole=mark == "!")):
                raise ValueError(f"line {at + 1} is not the line that was changed")
            at += gone
    return "\n".join(after + before[at:])


def _common(one: Sequence[str], two: Sequence[str]) -> int:
    """The number of lines at the beginning that are the same."""
    for number, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return number
    return min(len(one), len(two))


def _key(line: str) -> str:
    """The words that identify a line: a name before a colon, or the first word. A quoted line has none."""
    if line.lstrip().startswith(">"):
        return ""
    name, colon, _ = line.partition(":")
    if colon and len(name) <= MAX_KEY:
        return name.strip()
    return line.split(maxsplit=1)[0] if line.strip() else ""


def _unique_keys(lines: Sequence[str]) -> set[str]:
    return {key for key, count in Counter(map(_key, lines)).items() if count == 1 and key}


def _is_line(text: str, line: str, *, whole: bool) -> bool:
    """True if a line is given by this text, or by its beginning."""
    return text == line or (not whole and text.endswith("…") and line.startswith(text[:-1]))


def _gone(lines: Sequence[str], before: Sequence[str]) -> Iterator[str]:
    """The mark of lines that are gone: how many, and the beginning of the first."""
    if not lines:
        return
    first, shown = lines[0], GONE_SHOWN
    while shown < len(first) and sum(line.startswith(first[:shown]) for line in before) > 1:
        shown += GONE_SHOWN
    beginning = f"{first[:shown]}…" if shown + 1 < len(first) else first
    yield f"-{len(lines) if len(lines) > 1 else ''} {beginning}"


def _replaced(old: Sequence[str], new: Sequence[str], unique: set[str], text: Sequence[str]) -> Iterator[str]:
    """The marked lines of one place. Only a line that a reader can find by its beginning is replaced as a whole."""
    matcher = SequenceMatcher(None, list(map(_key, old)), list(map(_key, new)), autojunk=False)
    for what, i, j, k, n in matcher.get_opcodes():
        if what == "equal":
            for before, after in zip(old[i:j], new[k:n], strict=True):
                if _key(after) in unique:
                    yield f"= {after}"
                else:
                    yield from _gone([before], text)
                    yield f"+ {after}"
            continue
        yield from _gone(old[i:j], text)
        yield from (f"+ {line}" for line in new[k:n])


def _heading(lines: Sequence[str], at: int) -> str:
    """The last heading before a line; empty if the line is not under one."""
    for line in reversed(lines[:at]):
        if line.endswith(":"):
            return line.partition(" (")[0].removesuffix(":")
        if not line:
            return ""
    return ""


def _section(lines: Sequence[str], at: int) -> str:
    """The heading of the whole paragraph of a line: below "MESSAGES:", "- from Ann:" is no heading of its own."""
    first = at
    while first and lines[first - 1]:
        first -= 1
    return _heading(lines, first + 1) if first < at else ""
