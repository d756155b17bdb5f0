"""Tables that are files: each is read by the module beside it, and a mistake in one is an error."""

from pathlib import Path

import msgspec
import pytest

import cohabit
from cohabit.model.table_files import read_table
from cohabit.worlds.starbound.items import Item

SOURCE = Path(cohabit.__file__).parent
TABLES = sorted(SOURCE.rglob("*.toml"))


def test_every_table_stands_beside_the_module_that_reads_it() -> None:
    assert TABLES
    for table in TABLES:
        assert "read_table(__file__" in table.with_suffix(".py").read_text(), table


@pytest.mark.parametrize(
    ("row", "wrong"),
    [('{name = "wood", price = "high"}', "price"), ('{name = "wood", prize = 3}', "prize"), ("{price = 3}", "name")],
)
def test_a_row_with_a_wrong_unknown_or_missing_field_is_refused(row: str, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "items.toml").write_text(f"items = [{row}]")
    with pytest.raises(msgspec.ValidationError, match=wrong):
        read_table(str(tmp_path / "items.py"), dict[str, tuple[Item, ...]])
