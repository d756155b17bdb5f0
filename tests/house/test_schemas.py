"""A data folder of an earlier version opens, and nothing in it is lost."""

import sqlite3
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest

from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.store.sqlite_opening import MIGRATIONS, OLDEST, SCHEMA
from cohabit.testing.clock import FakeClock

FOLDERS = Path(__file__).parent / "folders"
TOKEN_OF_ANN = "HaXqBrs6sMkGGcokP7eECimhGQgk2ilKydZCfM6j0gvwQ77e"
TOKEN_OF_ZEUS = "61SA2iTnkk9y4DE6PwjazCPKb7jQzk71DDvV8cY5DjeHbAvg"
ANN = "i-b1d7a8cf50ecc766"
SAVE = FOLDERS / "schema5.save"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder that was made with schema 5: a game of nim, with a save that is a file."""
    with closing(sqlite3.connect(tmp_path / "cohabit.db")) as db:
        db.executescript((FOLDERS / "schema5.sql").read_text())
    save = tmp_path / "saves" / "den" / "noon" / "first" / "world.save"
    save.parent.mkdir(parents=True)
    save.write_bytes(SAVE.read_bytes())
    return tmp_path


def schema_of(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "cohabit.db")) as db:
        return int(db.execute("select value from meta where key = 'schema'").fetchone()[0])


async def test_a_house_of_an_earlier_schema_opens_and_goes_on(old: Path) -> None:
    async with House.open(Settings(data=str(old)), clock=FakeClock()) as house:
        assert not house.broken
        ann = house.identify(TOKEN_OF_ANN)
        await house.call(ann, "den", "take", {"n": 2})
        assert house.rooms["den"].room.record.seq > 2
        assert house.store.save("den", "noon/first") == SAVE.read_bytes()
    assert schema_of(old) == SCHEMA


def test_saves_that_were_files_are_in_the_database_and_other_files_stay(old: Path) -> None:
    (old / "saves" / "den" / "notes.txt").write_text("mine")
    (old / "saves" / "den" / "link").mkdir()
    (old / "saves" / "den" / "link" / "world.save").symlink_to(SAVE)
    with closing(SQLiteStore(old)) as store:
        assert store.saves("den") == ["noon/first"]
        assert store.save("den", "noon/first") == SAVE.read_bytes()
    left = sorted(str(path.relative_to(old)) for path in (old / "saves").rglob("*"))
    assert left == ["saves/den", "saves/den/link", "saves/den/link/world.save", "saves/den/notes.txt"]


def test_a_save_with_the_name_of_a_newer_one_does_not_replace_it(old: Path) -> None:
    """As after a crash between taking the files over and deleting them."""
    with closing(SQLiteStore(old)):
        pass
    again = old / "saves" / "den" / "noon" / "first" / "world.save"
    again.parent.mkdir(parents=True)
    again.write_bytes(b"older")
    with closing(SQLiteStore(old)) as store:
        assert store.save("den", "noon/first") == SAVE.read_bytes()
    assert not (old / "saves").exists()


def test_a_folder_of_an_earlier_schema_can_be_read_without_being_changed(old: Path) -> None:
    before = (old / "cohabit.db").read_bytes()
    with closing(SQLiteStore(old, lock=False)) as reader:
        assert (reader.rooms(), reader.head("den")) == (["den", "house"], 2)
    assert (old / "cohabit.db").read_bytes() == before


def test_the_index_of_identities_is_made_for_a_folder_without_it(old: Path) -> None:
    with closing(sqlite3.connect(old / "cohabit.db")) as db:
        db.executescript("drop table named; drop table egress; delete from meta where key = 'named';")
    with closing(SQLiteStore(old)) as store:
        assert store.rooms_naming(ANN) == ["den"]
        assert store.egress("den") == []


def test_a_migration_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(db: sqlite3.Connection) -> None:
        db.execute("create table half (id integer)")
        raise sqlite3.OperationalError("the disk is full")

    monkeypatch.setattr("cohabit.house.store.sqlite_opening.MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(Exception, match="the disk is full"):
        SQLiteStore(old)
    assert schema_of(old) == OLDEST
    monkeypatch.undo()
    with closing(SQLiteStore(old)) as store:
        assert store.head("den") == 2
    with closing(sqlite3.connect(old / "cohabit.db")) as db:
        assert db.execute("select name from sqlite_master where name = 'half'").fetchall() == []


async def test_a_save_of_an_earlier_version_can_be_loaded(old: Path) -> None:
    async with House.open(Settings(data=str(old)), clock=FakeClock()) as house:
        zeus = house.identify(TOKEN_OF_ZEUS)
        world = house.rooms["den"].room.world
        before = world.snapshot()
        await house.call(zeus, "den", "load_world", {"bytes_b64": b64encode(SAVE.read_bytes()).decode()})
        assert world.snapshot() != before
