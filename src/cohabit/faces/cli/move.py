"""``cohabit move``: move everything that a house stores to PostgreSQL, or back to a data folder."""

import argparse
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cohabit.faces.cli.options import data_option, need_house, settings_of
from cohabit.faces.cli.say import tell
from cohabit.house.settings import Settings
from cohabit.house.store import moving
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.store.sqlite_opening import DATABASE_NAME, MOVED_NAME
from cohabit.house.store.tables import TableStore

POSTGRES = ("postgresql://", "postgres://")


def move_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", required=True, metavar="STORE", help="postgresql://USER@HOST/NAME, or a data folder")
    data_option(parser)


def move(args: argparse.Namespace) -> int:
    """Move everything that a house stores to an empty PostgreSQL database, or from there to a data folder without a
    `cohabit.db`. The house must not be running. All of it is copied in one transaction, read back and compared, and the
    chain of every record is verified; if anything is wrong, nothing is moved. Afterwards the house starts from the new
    place only: `cohabit.db` is renamed to `cohabit.db.moved`, and a database is marked.

    Other files of the data folder stay there: give the same --data when you start the house.

    Examples:
      cohabit move --data ./house --to postgresql://cohabit@db.example/cohabit
      cohabit move --store postgresql://cohabit@db.example/cohabit --to ./house
    """
    settings = settings_of(args)
    with closing(_source(settings)) as source, _target(args.to) as target:
        contents = moving.move(source, target)
    tell(f"moved from {source.place} to {target.place}, and verified:")
    for table, content in contents.items():
        tell(f"  {table}: {content.rows:,}, sha256 {content.digest}")
    tell("Start the house from there now. What it wrote elsewhere before is a copy that no house starts from.")
    return 0


def _source(settings: Settings) -> TableStore:
    if settings.store:
        return _postgres(settings.store)
    need_house(settings.folder)
    return SQLiteStore(settings.folder)


@contextmanager
def _target(to: str) -> Iterator[TableStore]:
    """The store to move everything to. A failed move leaves no empty database that a house would start from."""
    if to.startswith(POSTGRES):
        with closing(_postgres(to)) as database:
            yield database
        return
    folder = Path(to).expanduser()
    was_there, had_database = folder.exists(), (folder / DATABASE_NAME).exists()
    try:
        with closing(SQLiteStore(folder, to_fill=True)) as store:
            yield store
    except BaseException:
        if not had_database:
            for made in folder.glob(f"{DATABASE_NAME}*"):
                if made.name != MOVED_NAME:
                    made.unlink()
        if not was_there and folder.exists():
            shutil.rmtree(folder)
        raise


def _postgres(url: str) -> TableStore:
    from cohabit.house.store.postgres import PostgresStore

    return PostgresStore(url)
