"""The page of the rules has the numbers of the code."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "docs" / "kingdoms-rules.md"
ROW = re.compile(r"^\| (?P<words>.+?) \| (?P<number>.+?) \| (?P<names>`.+`) \|$")


def value_of(name: str) -> Any:
    module, constant = name.split(".")
    return getattr(import_module(f"cohabit.worlds.kingdoms.rules.{module}"), constant)


def shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{value[0]} in {value[1]}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {number}" for key, number in value.items())
    return str(value)


def test_every_number_on_the_page_is_the_one_in_the_code() -> None:
    rows = [found for line in PAGE.read_text().splitlines() if (found := ROW.match(line))]
    checked = 0
    for row in rows:
        names = re.findall(r"`([a-z_]+\.[A-Z_]+)`", row["names"])
        assert ", ".join(shown(value_of(name)) for name in names) == row["number"], row["words"]
        checked += len(names)
    assert checked > 100
