"""The operator: the owner of the data folder can manage its house, even while it runs.

A running house writes its address, where it listens, and a token to a file that only the owner of the folder can read.
The token is valid until the house stops. If no house is running, it is opened for the one command.
"""

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from cohabit.errors import Conflict, StorageFailed
from cohabit.faces.addresses import local_address
from cohabit.faces.cli.options import need_house
from cohabit.house.settings import Settings

if TYPE_CHECKING:
    from cohabit.client import Client
    from cohabit.house.house import House

FILE = "operator.json"


@contextmanager
def operator_file(house: "House", url: str, port: int) -> Iterator[None]:
    """Give the owner of the data folder access as long as the house runs. ``url``: its address for others."""
    path = house.settings.folder / FILE
    local = local_address(house.settings, port)
    content = json.dumps({"url": url, "local": local, "token": house.operator_token()}).encode()
    path.unlink(missing_ok=True)
    try:
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        except OSError as wrong:
            raise StorageFailed(
                f"{path} could not be written: {wrong.strerror}; free some space on its disk, and start the house again"
            ) from None
        yield
    finally:
        path.unlink(missing_ok=True)


@asynccontextmanager
async def as_operator(settings: Settings, create: bool = False) -> "AsyncIterator[Client]":
    """A client of this data folder's house, with the operator's permissions. ``create``: make the house if there is
    none, which is a mistyped folder for anything but the first credential."""
    from cohabit.faces.python import connect
    from cohabit.house.house import House

    if not (create or settings.store or (settings.folder / FILE).is_file()):
        need_house(settings.folder)
    try:
        async with House.open(settings, dormant=True) as house, connect(house, house.operator_token()) as client:
            yield client
            return
    except Conflict:  # the house is running
        path = settings.folder / FILE
        if not path.is_file():
            raise
    found = json.loads(path.read_bytes())
    async with connect(found["local"], found["token"], transport="http") as client:
        yield client


def house_url(settings: Settings) -> str:
    """The address of this data folder's house: where it listens, or would listen."""
    path = settings.folder / FILE
    return str(json.loads(path.read_bytes())["url"]) if path.is_file() else settings.url
