"""The connector to a running WorldBox: a client of its bridge, versions 0.1 to 0.7.

The bridge has one token and does not know members. OUTCOME_UNKNOWN means that a request was
sent and got no answer; after any other error nothing was done.
"""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec

from cohabit import errors
from cohabit.house.clock import Clock, in_time
from cohabit.model.observation import plain_line
from cohabit.protocols.worldbox.names import code_from_wire
from cohabit.remote import Ask

TIMEOUT_MS = 35_000
"""The bridge itself times out after 30 s with an error."""
CONNECT_TIMEOUT_S = 5.0
POLL_MS = 5_000
"""The interval at which the game is polled for seats and standings."""
MAX_CONCURRENT_REQUESTS = 6
"""A bridge of version 0.7 accepts eight concurrent requests; some are left for other clients."""
MAX_REQUEST = 4 * 1024 * 1024
"""The bridge closes the connection without an answer if a request is larger, in bytes."""
MAX_ANSWER = 64 * 1024 * 1024
MAX_MESSAGE = 1_000
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


class BridgeConnector:
    """One bridge. ``transport`` is for tests."""

    poll_ms = POLL_MS

    def __init__(self, url: str, token: str, clock: Clock, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._url = checked_url(url)
        self._token = token
        self._clock = clock
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_REQUESTS)
        self._commands: dict[str, list[str] | None] | None = None  # and their arguments, if the bridge lists them
        self.version = "?"
        self._client = httpx2.AsyncClient(
            headers={
                "authorization": f"Bearer {token}",
                "x-wb-token": token,
            },  # versions 0.1 and 0.2 know only the second one
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
            # A reused connection may be closed while a request is sent; then its outcome is unknown.
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=False,  # the token is for the bridge, not for a proxy
            verify=self._url.startswith("https"),  # loading the certificates takes long, and http needs none
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"<BridgeConnector {self._url}>"

    def member_removed(self, member: str) -> None:
        """Nothing is kept for members."""

    async def close(self, delete: bool = False) -> None:
        await self._client.aclose()

    async def about(self) -> dict[str, str]:
        """The versions of the bridge and of the game. Old bridges report neither these nor their commands."""
        said = self._result(await self._send("GET", "/health"), flat=True)
        self._commands = await self._list_commands()
        names = ("mod_version", "worldbox_version")
        shown = {name: plain_line(self._without_token(str(said[name])), 80) for name in names if said.get(name)}
        self.version = shown.get("mod_version", "?")
        return shown

    async def _list_commands(self) -> dict[str, list[str] | None] | None:
        try:
            said = _decoded(await self._send("GET", "/capabilities"))
            return {c["name"]: list(c["schema"]["properties"]) if "schema" in c else None for c in said["commands"]}
        except (errors.CohabitError, KeyError, TypeError):  # no such page, or another shape
            return None

    def check(self, ask: Ask) -> None:
        """Refuse commands and arguments that an old bridge does not know. It would silently drop such arguments."""
        if self._commands is None:
            return
        if ask.name not in self._commands:
            raise errors.UnknownCommand(f"the game's bridge (version {self.version}) has no command {ask.name}")
        known = self._commands[ask.name]
        unknown = [name for name in ask.args if known is not None and name not in known]
        if unknown:
            raise errors.GameRejected(
                f"the game's bridge (version {self.version}) does not know the argument {unknown[0]!r} of "
                f"{ask.name}; leave it out"
            )

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        """Run a command on the bridge. Returns its result."""
        body = msgspec.json.encode({"name": ask.name, "args": ask.args})
        if len(body) > MAX_REQUEST:
            raise errors.TooLarge(f"the bridge accepts at most {MAX_REQUEST} bytes; this request has {len(body)}")
        return self._result(await self._send("POST", "/cmd", body))

    # -- requests ---------------------------------------------------------------------------------
    async def _send(self, method: str, path: str, body: bytes | None = None) -> httpx2.Response:
        async with self._slots:
            try:
                return await in_time(self._clock, TIMEOUT_MS, self._exchange(method, path, body))
            except NEVER_SENT as wrong:
                raise errors.Unreachable(
                    f"cannot connect to the game's bridge ({type(wrong).__name__}); check that the game is running"
                ) from None
            except (httpx2.HTTPError, TimeoutError) as wrong:
                raise errors.OutcomeUnknown(f"the game's bridge did not answer ({type(wrong).__name__})") from None

    async def _exchange(self, method: str, path: str, body: bytes | None) -> httpx2.Response:
        kind = {"content-type": "application/json"} if body is not None else {}
        async with self._client.stream(method, self._url + path, content=body, headers=kind) as response:
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                if len(content) > MAX_ANSWER:
                    raise errors.OutcomeUnknown(f"the game's bridge answered with more than {MAX_ANSWER} bytes")
            return httpx2.Response(response.status_code, content=bytes(content))

    # -- answers ----------------------------------------------------------------------------------
    def _result(self, response: httpx2.Response, flat: bool = False) -> dict[str, Any]:
        """Return the result in an answer, or raise its error. The HTTP status is ignored, as in the game's client."""
        said = _decoded(response)
        if said.get("ok") is True:
            result = said.get("result", said if flat else None)
            return result if isinstance(result, dict) else {"value": result}
        error = said.get("error")
        if isinstance(error, dict):
            raise self._refusal(error)
        if response.status_code == 401:
            raise _wrong_token()
        raise errors.OutcomeUnknown(f"the answer of the game's bridge cannot be read (HTTP {response.status_code})")

    def _refusal(self, error: dict[str, Any]) -> errors.CohabitError:
        """The bridge's message and code, without other details and never with the token."""
        code = code_from_wire(str(error.get("code", "INTERNAL")))
        message = plain_line(self._without_token(str(error.get("message", ""))), MAX_MESSAGE)
        hints = error.get("did_you_mean")
        if code == "UNAUTHORIZED":  # about our token, not the caller's
            return _wrong_token()
        if code in ("WORLD_TIMEOUT", "OUTCOME_UNKNOWN"):  # it may have started
            return errors.OutcomeUnknown(f"the game did not finish in time: {message}")
        near = (
            [plain_line(self._without_token(str(hint)), 80) for hint in hints[:10]] if isinstance(hints, list) else []
        )
        return errors.by_code({"code": code, "message": f"the game says: {message}", "did_you_mean": near})

    def _without_token(self, text: str) -> str:
        return text.replace(self._token, "…")


def _wrong_token() -> errors.Disabled:
    return errors.Disabled(
        "the game's bridge rejected the token; start again with the one in the game's "
        "WorldBoxBridge.cfg (--token, or COHABIT_BRIDGE_TOKEN)"
    )


def _decoded(response: httpx2.Response) -> dict[str, Any]:
    try:
        said = msgspec.json.decode(response.content)
    except ValueError:  # not JSON, or not UTF-8
        return {}
    return said if isinstance(said, dict) else {}


def checked_url(url: str) -> str:
    """The address of a bridge, without a trailing slash. Raises if it contains a name or password."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:  # also half an IPv6 address, and a port that is not a number
        raise errors.BadArgs("the bridge's address must look like http://127.0.0.1:8723") from None
    if parts.username is not None:
        raise errors.BadArgs(
            "the bridge's address must not contain a name or password; put the token into COHABIT_BRIDGE_TOKEN"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
