"""Where two transcripts differ, in words."""

import difflib
import fnmatch
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MAX_SHOWN = 300


class Difference(NamedTuple):
    """One value that differs: at which step of the script, where in what was written down, and how."""

    step: int
    path: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"step {self.step}, {self.path}:\n      before {self.before}\n      after  {self.after}"


class Expected(NamedTuple):
    """A difference that the changelog announces: scripts by name, and a pattern for the text of the difference."""

    scripts: str
    pattern: str
    why: str

    def covers(self, script: str, difference: Difference) -> bool:
        return fnmatch.fnmatch(script, self.scripts) and re.search(self.pattern, str(difference)) is not None


def differences(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    """Every value that differs between two transcripts of one script, in order."""
    for old, new in zip(before, after, strict=False):
        for path, was, now in _values(old, new, ""):
            yield Difference(old["step"], path, *_around(_text(was), _text(now)))
    if len(before) != len(after):
        yield Difference(min(len(before), len(after)), "steps", str(len(before)), str(len(after)))


MISSING = "(nothing)"


def _values(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if old == new and type(old) is type(new):
        if isinstance(old, dict) and list(old) != list(new):
            yield f"{path} (order)", list(old), list(new)
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _values(old.get(key, MISSING), new.get(key, MISSING), f"{path}.{key}".strip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from _values(*pair, f"{path}[{number}]")
    elif isinstance(old, list) and isinstance(new, list):
        yield from _items(old, new, path)
    else:
        yield path, old, new


def _items(old: list[Any], new: list[Any], path: str) -> Iterator[tuple[str, Any, Any]]:
    """Lists of different length: what was left out and what came in."""
    texts = [[json.dumps(each, ensure_ascii=False) for each in side] for side in (old, new)]
    for tag, i, j, k, m in difflib.SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag != "equal":
            yield f"{path}[{i}:{j}]", old[i:j] or MISSING, new[k:m] or MISSING


def _text(value: Any) -> str:
    return MISSING if value is MISSING else json.dumps(value, ensure_ascii=False)


def _around(before: str, after: str) -> tuple[str, str]:
    """Two texts, long ones from shortly before the place where they begin to differ."""
    pairs = zip(before, after, strict=False)
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    start = max(0, same - 60) if max(len(before), len(after)) > MAX_SHOWN else 0
    return _part(before, start), _part(after, start)


def _part(text: str, start: int) -> str:
    end = start + MAX_SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
