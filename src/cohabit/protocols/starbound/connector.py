"""The link of a room to the game: through a bridge in this process, or through one at an address."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import httpx2
import msgspec

from cohabit import errors
from cohabit.house.clock import Clock, in_time
from cohabit.protocols.starbound.actions import ACTIONS
from cohabit.protocols.starbound.bridge import START_THE_GAME, TIMED_OUT, TIMEOUT_MS, Bridge
from cohabit.protocols.starbound.wire import DEFAULT_PLAYER, Kind, as_plain, clean, read_object, read_outcome, read_view
from cohabit.remote import Ask

POLL_MS = 2_000
"""The interval at which the players are observed."""
OBSERVE_TIMEOUT_MS = 5_000
"""The time that an observation between actions may take: the room polls again anyway."""
CONNECT_TIMEOUT_S = 5.0
ANSWER_MARGIN_MS = 5_000
"""A bridge at an address answers when its own time limit has passed; this much later it is given up."""
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


class Link(Protocol):
    """A bridge, wherever it is."""

    async def players(self) -> list[dict[str, Any]]:
        """The players, each with ``id``, ``name``, ``connected`` and ``version``."""

    async def request(
        self,
        kind: Kind,
        player: str,
        action: str | None = None,
        parameters: dict[str, Any] | None = None,
        timeout_ms: int | None = None,
    ) -> dict[str, Any]:
        """Ask the game. Errors are those of ``Bridge.request``."""

    async def close(self) -> None: ...


class Closable(Protocol):
    async def close(self) -> None: ...


class LocalLink:
    """A bridge in this process. ``others`` are closed with the link: the bridge's server, for example."""

    def __init__(self, bridge: Bridge, *others: Closable) -> None:
        self._bridge = bridge
        self._others = others
        self.request = bridge.request

    async def players(self) -> list[dict[str, Any]]:
        return [as_plain(player) for player in self._bridge.players()]

    async def close(self) -> None:
        self._bridge.close()
        for other in self._others:
            await other.close()


class HttpLink:
    """A bridge at an address: ours, or another one with the same wire. It has one player.

    A bridge that does not say what happened to an action leaves its outcome unknown.
    """

    def __init__(
        self, url: str, clock: Clock, token: str = "", player: str = DEFAULT_PLAYER,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:  # fmt: skip
        self._url, self._clock, self._player = url.rstrip("/"), clock, player
        self._client = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {token}"} if token else {},
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
            limits=httpx2.Limits(max_keepalive_connections=0),  # one that is closed meanwhile would leave doubts
            trust_env=False,
            verify=url.startswith("https"),
            transport=transport,
        )

    async def players(self) -> list[dict[str, Any]]:
        status = await self._send("GET", "/status", None, OBSERVE_TIMEOUT_MS)
        return [{"id": self._player, "name": self._player, "connected": status.get("connected") is True, "version": ""}]

    async def request(
        self,
        kind: Kind,
        player: str,
        action: str | None = None,
        parameters: dict[str, Any] | None = None,
        timeout_ms: int | None = None,
    ) -> dict[str, Any]:
        asked: dict[str, Any] = {"player_id": player}
        if kind == "act":
            asked |= {"action": action, "parameters": parameters or {}}
        limit = TIMEOUT_MS if timeout_ms is None else timeout_ms
        said = await self._send("POST", f"/{kind}", asked, limit + ANSWER_MARGIN_MS)
        try:
            if kind == "act":
                return as_plain(read_outcome(said))
            return read_object(said) if kind == "reset" else as_plain(read_view(said))
        except errors.BadArgs as wrong:
            raise errors.OutcomeUnknown(f"the bridge sent an invalid result: {wrong.message}") from None

    async def close(self) -> None:
        await self._client.aclose()

    async def _send(self, method: str, path: str, asked: Any, limit_ms: int) -> dict[str, Any]:
        body = msgspec.json.encode(asked) if asked is not None else None
        kind = {"content-type": "application/json"} if body is not None else {}
        with sending_to_bridge():
            sending = self._client.request(method, self._url + path, content=body, headers=kind)
            response = await in_time(self._clock, limit_ms, sending)
        try:
            return answer_of(response)
        except errors.Unauthorized:  # about our token, not the caller's
            raise errors.Disabled("the bridge rejected the token; start again with the right one (--token)") from None


@contextmanager
def sending_to_bridge() -> Iterator[None]:
    """While a request is sent: a failure says whether it can have been executed."""
    try:
        yield
    except NEVER_SENT as wrong:
        raise errors.Unreachable(f"cannot connect to the bridge ({type(wrong).__name__}); is it running?") from None
    except (httpx2.HTTPError, TimeoutError) as wrong:
        raise errors.OutcomeUnknown(f"the bridge did not answer ({type(wrong).__name__})") from None


def answer_of(response: httpx2.Response) -> dict[str, Any]:
    """The answer of the bridge. Raises the error, if it is one."""
    try:
        said = msgspec.json.decode(response.content)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise errors.OutcomeUnknown(f"the answer of the bridge cannot be read (HTTP {response.status_code})")
    if "error" in said:
        raise _refusal(said, response.status_code)
    return said


def _refusal(said: dict[str, Any], status: int) -> errors.CohabitError:
    """The error in an answer. Unless it says that nothing was executed, the outcome is unknown."""
    message = clean(str(said.get("detail") or said["error"]))
    if isinstance(said.get("code"), str):
        error = errors.by_code({"code": said["code"], "message": message})
        return error if isinstance(error, errors.AskerError | errors.Unreachable) else errors.OutcomeUnknown(message)
    if message.startswith(TIMED_OUT) or status >= 500:
        return errors.OutcomeUnknown(message)
    return errors.Unreachable(f"the bridge refused the request: {message}")


class StarboundConnector:
    """Runs the requests of a room: ``players`` for its polls, anything else is an action of the seat's player."""

    poll_ms = POLL_MS

    def __init__(self, link: Link) -> None:
        self._link = link

    async def about(self) -> dict[str, str]:
        versions = {p["version"] for p in await self._players() if p["version"]}
        return {"game": ", ".join(sorted(versions))} if versions else {}

    def check(self, ask: Ask) -> None:
        if ask.name != "players" and ACTIONS.get(ask.name) is None:
            raise errors.UnknownCommand(f"the game has no action {ask.name}")

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        if ask.name == "players":
            return {"players": await asyncio.gather(*map(self._seen, await self._players()))}
        if ask.seat is None:
            raise errors.Unreachable("this action needs a player; take a seat first")
        outcome = await self._link.request("act", ask.seat, ask.name, ask.args)
        if outcome.get("observation") is None:
            outcome["observation"] = await self._view(ask.seat)
        return outcome

    def member_removed(self, member: str) -> None:
        """Nothing is kept for members."""

    async def close(self, delete: bool = False) -> None:
        await self._link.close()

    async def _players(self) -> list[dict[str, Any]]:
        players = await self._link.players()
        if not any(player["connected"] for player in players):
            raise errors.Unreachable(f"no game is connected; {START_THE_GAME}")
        return players

    async def _seen(self, player: dict[str, Any]) -> dict[str, Any]:
        view = await self._view(player["id"]) if player["connected"] else None
        return {"id": player["id"], "name": player["name"], "connected": player["connected"], "view": view}

    async def _view(self, player: str) -> dict[str, Any] | None:
        """The view of a player; None if its game does not answer now."""
        try:
            seen = read_view(await self._link.request("observe", player, timeout_ms=OBSERVE_TIMEOUT_MS))
        except errors.CohabitError:
            return None
        return as_plain(seen)
