"""A member of a room of a Cohabit house: the link that it connects with, and its calls over HTTP."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx

TRIES = 3
PAUSE_S = 0.5
"""How often a call is made, if the house is busy or does not answer, and how long to wait before the next time."""


class Refused(Exception):
    """The house refused a call, and nothing changed. ``code`` is one of those in `docs/errors.md`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code, self.message = code, message


class NoReply(Exception):
    """No house answers at this address."""


@dataclass(frozen=True)
class Link:
    """Where a member connects: what `cohabit up` prints for it. The token is in no text of it."""

    url: str
    room: str
    token: str = field(repr=False)

    @property
    def place(self) -> tuple[str, str]:
        """The room, in its house."""
        return self.url, self.room

    def __str__(self) -> str:
        return f"{self.url}/?room={self.room}"


def read_links(text: str) -> list[Link]:
    """The links in a text, one after another, with spaces or line breaks between them."""
    return [_read_link(word, number) for number, word in enumerate(text.split(), 1)]


def _read_link(word: str, number: int) -> Link:
    parts = urlsplit(word)
    rooms, token = parse_qs(parts.query).get("room"), parts.fragment.removeprefix("token=")
    if parts.scheme not in ("http", "https") or not parts.netloc or not rooms or not token:
        raise ValueError(
            f"link {number} is not like http://127.0.0.1:8724/?room=ROOM#TOKEN; copy the whole link that "
            "`cohabit up` or `invite` has printed"
        )
    return Link(f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/"), rooms[0], token)


class Member:
    """Calls the commands of a room as one of its members."""

    def __init__(self, http: httpx.AsyncClient, link: Link) -> None:
        self.http, self.link = http, link

    async def call(self, command: str, args: dict[str, Any] | None = None, *, key: str = "") -> Any:
        """The result of a command. If there is no answer, it is called again: ``key`` makes that safe for a command
        that changes something."""
        for _ in range(TRIES - 1):
            try:
                return await self._call(command, args, key)
            except NoReply:
                pass
            except Refused as refusal:
                if refusal.code != "BUSY":
                    raise
            await anyio.sleep(PAUSE_S)
        return await self._call(command, args, key)

    async def _call(self, command: str, args: dict[str, Any] | None, key: str) -> Any:
        headers = {"authorization": f"Bearer {self.link.token}"} | ({"idempotency-key": key} if key else {})
        address = f"{self.link.url}/api/rooms/{self.link.room}/{command}"
        try:
            response = await self.http.post(address, json=args or {}, headers=headers)
            reply = response.json()
            if reply["ok"]:
                return reply["result"]
            code, message = reply["error"]["code"], reply["error"]["message"]
        except httpx.HTTPError as wrong:
            reason = str(wrong) or type(wrong).__name__
            raise NoReply(f"no reply from {self.link.url}: {reason}. Is the house running there?") from None
        except (ValueError, LookupError, TypeError):
            raise NoReply(f"what answers at {self.link.url} is not a Cohabit house; check the address") from None
        raise Refused(code, message)
