"""What is written down of a play: plain values, with a placeholder for each random value.

Placeholders are numbered in the order in which the values first appear, so two plays agree if the same value appears
at the same places. Times come from the fake clock and stay.
"""

import gzip
import json
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .notation import parse

KINDS = (
    ("invite", r"eyJ[\w-]+(?:\.[\w-]+)+"),
    ("token", r"\b[A-Za-z0-9]{48}\b"),
    ("identity", r"\bi-[0-9a-f]{16}\b"),
    ("hash", r"\b[0-9a-f]{64}\b"),
    ("seed", r"\b[0-9a-f]{32}\b"),
    ("cursor", r"\b[0-9a-f]{16}\b"),
    ("id", r"\b[0-9a-f]{12}\b"),
    ("key", r"\b[0-9a-f]{8}\b"),
    ("code", r"\b[A-HJKMNP-Z2-9]{3}-[A-HJKMNP-Z2-9]{3}\b"),
)
"""Random values, the longest first: tokens, ids of identities, cursors, ids of views and invites, knocks and avatars …"""
PATTERN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in KINDS))
LONG = 20_000
"""Longer texts, such as pictures and documents, are written down as a digest."""


class Transcript:
    """The lines of one play. ``paths``: texts that differ between two machines, and what stands for them."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self.lines: list[dict[str, Any]] = []
        self._paths = dict(paths)
        self._known: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        self.lines.append(self.plain(line))

    def plain(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {self._text(str(key)): self.plain(of) for key, of in value.items()}
        return [self.plain(each) for each in value] if isinstance(value, list | tuple) else value

    def _text(self, text: str) -> str:
        if len(text) > LONG or text.startswith("iVBOR"):  # a PNG
            return f"<{len(text)} characters, {blake2b(text.encode(), digest_size=6).hexdigest()}>"
        for path, name in self._paths.items():
            text = text.replace(path, name)
        return PATTERN.sub(self._placeholder, text) if len(text) >= 7 else text

    def _placeholder(self, found: "re.Match[str]") -> str:
        value, kind = found.group(), str(found.lastgroup)
        if value not in self._known:
            self._count[kind] = self._count.get(kind, 0) + 1
            self._known[value] = f"<{kind} {self._count[kind]}>"
        return self._known[value]


def at_path(value: Any, path: str) -> Any:
    """The part of a reply at a path such as ``data.token`` or ``items.0.id``; None if there is none."""
    for key in path.split(".") if path else ():
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


def read_script(path: Path) -> dict[str, Any]:
    """A script that was written by hand (``.txt``) or generated (``.json.gz``)."""
    if path.suffix == ".txt":
        return parse(path.read_text())
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found
