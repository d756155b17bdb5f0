"""Tables of worlds that are files of data: TOML, with the types of the module that they stand beside."""

from pathlib import Path
from typing import TypeVar

import msgspec

Table = TypeVar("Table")


def read_table(module: str, kind: type[Table]) -> Table:
    """The file beside a module (its ``__file__``) that has its name."""
    return msgspec.toml.decode(Path(module).with_suffix(".toml").read_bytes(), type=kind)
