"""The operator: the owner of the data folder can manage its house, even while it runs.

A running house writes its address, where it listens, its certificate, and a token to a file that only the owner of the
folder can read. The token is valid until the house stops. If no house is running, it is opened for the one command.
"""

import logging
import os
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cohabit.errors import Conflict, StorageFailed
from cohabit.faces.addresses import local_address
from cohabit.faces.cli.options import need_house
from cohabit.house.settings import Settings

if TYPE_CHECKING:
    from cohabit.client import Client
    from cohabit.house.house import House

log = logging.getLogger("cohabit")
FILE = "operator.json"
_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


class RunningHouse(msgspec.Struct, frozen=True):
    url: str
    """Its address for others."""
    local: str
    token: str
    certificate: str | None = None

    @property
    def trust(self) -> "ssl.SSLContext | bool":
        """What a client on this machine trusts: the certificate of the house, and no other. It is for the public name,
        which need not lead here, and it may have signed itself."""
        if self.certificate is None:
            return True
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trust.check_hostname = False
        trust.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        trust.load_verify_locations(cadata=self.certificate)
        return trust


def running_house(settings: Settings) -> RunningHouse | None:
    """None if no house is running on this data folder."""
    path = settings.folder / FILE
    return msgspec.json.decode(path.read_bytes(), type=RunningHouse) if path.is_file() else None


def _own_certificate(settings: Settings) -> str | None:
    """The first one in the file is that of the house. The file may also have the private key, which stays there."""
    found = _CERTIFICATE.search(Path(settings.tls_cert).read_text()) if settings.tls_cert else None
    return found and found[0]


@contextmanager
def operator_file(house: "House", url: str, port: int) -> Iterator[None]:
    """Give the owner of the data folder access as long as the house runs. ``url``: its address for others."""
    path = house.settings.folder / FILE
    local, certificate = local_address(house.settings, port), _own_certificate(house.settings)
    content = msgspec.json.encode(RunningHouse(url, local, house.operator_token(), certificate))
    try:
        try:
            path.unlink(missing_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        except OSError as wrong:
            raise StorageFailed(
                f"{path} could not be written: {wrong.strerror}; mend that, or free some space on its disk, and start "
                "the house again"
            ) from None
        yield
    finally:
        try:
            path.unlink(missing_ok=True)
        except OSError as wrong:  # its disk may have become read-only; the house stops in order all the same
            log.warning("%s could not be removed (%s); its token ends with the house", path, wrong.strerror)


@asynccontextmanager
async def as_operator(settings: Settings, create: bool = False) -> "AsyncIterator[Client]":
    """A client of this data folder's house, with the operator's permissions. ``create``: make the house if there is
    none, which is a mistyped folder for anything but the first credential."""
    import httpx2

    from cohabit.client import HttpClient
    from cohabit.faces.python import connect
    from cohabit.house.house import House

    if not (create or settings.store or (settings.folder / FILE).is_file()):
        need_house(settings.folder)
    try:
        async with House.open(settings, dormant=True) as house, connect(house, house.operator_token()) as client:
            yield client
            return
    except Conflict:  # the house is running
        running = running_house(settings)
        if running is None:
            raise
    headers = {"authorization": f"Bearer {running.token}"}
    async with httpx2.AsyncClient(base_url=running.local, headers=headers, verify=running.trust, timeout=60) as http:
        yield HttpClient(http, None)


def house_url(settings: Settings) -> str:
    """The address of this data folder's house: where it listens, or would listen."""
    running = running_house(settings)
    return settings.url if running is None else running.url
