"""The operator: whoever owns the data folder can manage its house, also while it runs.

A running house leaves its address and a token in a file that only the owner of the folder can read; the token is
good until the house stops. Where no house runs, it is opened for the one command.
"""

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from cohabit.errors import Conflict
from cohabit.house.settings import Settings

if TYPE_CHECKING:
    from cohabit.client import Client
    from cohabit.house.house import House

FILE = "operator.json"


@contextmanager
def operator_file(house: "House", url: str) -> Iterator[None]:
    """Let the owner of the data folder in, for as long as the house runs."""
    path = house.settings.folder / FILE
    content = json.dumps({"url": url, "token": house.operator_token()}).encode()
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@asynccontextmanager
async def as_operator(settings: Settings) -> "AsyncIterator[Client]":
    """A client of the house of this data folder, with the rights of its operator."""
    from cohabit.faces.python import connect
    from cohabit.house.house import House

    try:
        async with House.open(settings, dormant=True) as house, connect(house, house.operator_token()) as client:
            yield client
            return
    except Conflict:  # the house is running
        path = settings.folder / FILE
        if not path.is_file():
            raise
    found = json.loads(path.read_bytes())
    async with connect(found["url"], found["token"], transport="http") as client:
        yield client
