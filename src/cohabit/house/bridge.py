"""The wire to a running WorldBox: its bridge, versions 0.1 to 0.7, which has one token and knows nobody.

What is raised says what became of a question. UNREACHABLE, and every refusal of the bridge itself: nothing was done.
OUTCOME_UNKNOWN: it was sent, and no answer came.
"""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec

from cohabit.errors import (
    BadArgs,
    CohabitError,
    Disabled,
    GameRejected,
    OutcomeUnknown,
    TooLarge,
    UnknownCommand,
    Unreachable,
    by_code,
)  # fmt: skip
from cohabit.house.clock import Clock, in_time
from cohabit.world import Ask

TIMEOUT_MS = 35_000
"""The bridge itself gives up after 30 s, and says so."""
CONNECT_S = 5.0
LOOK_MS = 5_000
"""How often the game is looked at, for seats and standings."""
AT_ONCE = 6
"""A bridge of version 0.7 takes eight at once; some places are left for others."""
LARGEST_QUESTION = 4 * 1024 * 1024
"""A bridge hangs up on more than this, and says nothing."""
LARGEST_ANSWER = 64 * 1024 * 1024
LONGEST_WORDS = 1_000
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


class Bridge:
    """One bridge. ``transport`` is for tests."""

    look_ms = LOOK_MS

    def __init__(self, url: str, token: str, clock: Clock, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._url = checked_url(url)
        self._token = token
        self._clock = clock
        self._places = asyncio.Semaphore(AT_ONCE)
        self._knows: dict[str, list[str] | None] | None = None  # its commands, and their arguments, where it says so
        self.version = "?"
        self._client = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {token}", "x-wb-token": token},  # the second one for 0.1 and 0.2
            timeout=httpx2.Timeout(None, connect=CONNECT_S),
            # A connection that is used twice may be closed just when something is sent: then nobody knows its fate.
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=False,  # the token is for the bridge, not for a proxy
            verify=self._url.startswith("https"),  # reading all certificates takes long, and http has none
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"<Bridge {self._url}>"

    def removed(self, member: str) -> None:
        """It knows nobody."""

    async def close(self, for_good: bool = False) -> None:
        await self._client.aclose()

    async def about(self) -> dict[str, str]:
        """Find out what the bridge is and what it can do. Old ones say little, and then everything is tried."""
        said = self._result(await self._send("GET", "/health"), flat=True)
        self._knows = await self._commands()
        shown = {name: str(said[name])[:80] for name in ("mod_version", "worldbox_version") if said.get(name)}
        self.version = shown.get("mod_version", "?")
        return {name: self._clean(words) for name, words in shown.items()}

    async def _commands(self) -> dict[str, list[str] | None] | None:
        try:
            said = _decoded(await self._send("GET", "/capabilities"))
            return {c["name"]: list(c["schema"]["properties"]) if "schema" in c else None for c in said["commands"]}
        except (CohabitError, KeyError, TypeError):  # it has no such page, or another one
            return None

    def must_know(self, ask: Ask) -> None:
        """Refuse what this bridge is too old for: it would drop an argument that it does not know without a word."""
        if self._knows is None:
            return
        if ask.name not in self._knows:
            raise UnknownCommand(f"the bridge of this game (version {self.version}) has no {ask.name}")
        takes = self._knows[ask.name]
        missing = [name for name in ask.args if takes is not None and name not in takes]
        if missing:
            raise GameRejected(
                f"the bridge of this game (version {self.version}) knows no {missing[0]!r} of {ask.name}; leave it out"
            )

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        """Let the bridge run a command; its result. It knows nobody, so who asks does not matter to it."""
        body = msgspec.json.encode({"name": ask.name, "args": ask.args})
        if len(body) > LARGEST_QUESTION:
            raise TooLarge(f"the bridge takes {LARGEST_QUESTION} bytes, and this has {len(body)}")
        return self._result(await self._send("POST", "/cmd", body))

    # -- the wire ---------------------------------------------------------------------------------
    async def _send(self, method: str, path: str, body: bytes | None = None) -> httpx2.Response:
        async with self._places:
            try:
                return await in_time(self._clock, TIMEOUT_MS, self._exchange(method, path, body))
            except NEVER_SENT as wrong:
                raise Unreachable(
                    f"the bridge of the game cannot be reached ({type(wrong).__name__}); is the game running?"
                ) from None
            except (httpx2.HTTPError, TimeoutError) as wrong:
                raise OutcomeUnknown(f"the bridge of the game did not answer ({type(wrong).__name__})") from None

    async def _exchange(self, method: str, path: str, body: bytes | None) -> httpx2.Response:
        kind = {"content-type": "application/json"} if body is not None else {}
        async with self._client.stream(method, self._url + path, content=body, headers=kind) as response:
            whole = bytearray()
            async for part in response.aiter_bytes():
                whole += part
                if len(whole) > LARGEST_ANSWER:
                    raise OutcomeUnknown("the bridge of the game answered with more than anybody can read")
            return httpx2.Response(response.status_code, content=bytes(whole))

    # -- answers ----------------------------------------------------------------------------------
    def _result(self, response: httpx2.Response, flat: bool = False) -> dict[str, Any]:
        """The result in an answer, or what the bridge refused. The status is not looked at: its own client does not."""
        said = _decoded(response)
        if said.get("ok") is True:
            result = said.get("result", said if flat else None)
            return result if isinstance(result, dict) else {"value": result}
        error = said.get("error")
        if isinstance(error, dict):
            raise self._refusal(error)
        if response.status_code == 401:
            raise _not_let_in()
        raise OutcomeUnknown(f"the bridge of the game gave no answer that can be read (HTTP {response.status_code})")

    def _refusal(self, error: dict[str, Any]) -> CohabitError:
        """What the bridge says, with its code; nothing else of it, and never the token."""
        code, words = str(error.get("code", "INTERNAL")), self._clean(str(error.get("message", "")))[:LONGEST_WORDS]
        hints = error.get("did_you_mean")
        if code == "UNAUTHORIZED":  # that is about our token, not about whoever asked
            return _not_let_in()
        if code in ("WORLD_TIMEOUT", "OUTCOME_UNKNOWN"):  # it may have begun
            return OutcomeUnknown(f"the game did not finish in time: {words}")
        near = [self._clean(str(hint))[:80] for hint in hints[:10]] if isinstance(hints, list) else []
        return by_code({"code": code, "message": f"the game says: {words}", "did_you_mean": near})

    def _clean(self, words: str) -> str:
        return words.replace(self._token, "…")


def _not_let_in() -> Disabled:
    return Disabled(
        "the bridge of the game does not take the token it was given; start again with the one in the game's "
        "WorldBoxBridge.cfg (--token, or COHABIT_BRIDGE_TOKEN)"
    )


def _decoded(response: httpx2.Response) -> dict[str, Any]:
    try:
        said = msgspec.json.decode(response.content)
    except ValueError:  # msgspec's own, and bytes that are no UTF-8
        return {}
    return said if isinstance(said, dict) else {}


def checked_url(url: str) -> str:
    """An address without a path, and without secrets in it."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:  # also half an IPv6 address, and a port that is no number
        raise BadArgs("the bridge's address is not one; it looks like http://127.0.0.1:8723") from None
    if parts.username is not None:
        raise BadArgs("the bridge's address has a name or password in it; the token goes into COHABIT_BRIDGE_TOKEN")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
