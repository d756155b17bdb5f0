"""Tables, texts and drawings that are files of data, beside the module that reads them."""

from pathlib import Path
from typing import TypeVar

import msgspec

Table = TypeVar("Table")


def read_table(module: str, kind: type[Table]) -> Table:
    """The TOML file beside a module (its ``__file__``) that has its name."""
    return msgspec.toml.decode(Path(module).with_suffix(".toml").read_bytes(), type=kind)


def read_drawings(module: str) -> dict[str, list[str]]:
    """The drawings in the text file beside a module: a name and its lines for each, and an empty line between them."""
    blocks = Path(module).with_suffix(".txt").read_text().strip().split("\n\n")
    return {name: lines for name, *lines in (block.split("\n") for block in blocks)}
