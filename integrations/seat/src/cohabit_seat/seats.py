"""The seats that an operator gives to a trainer: each is played by one session at a time."""

import os
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path

import anyio
import httpx

from cohabit_seat.member import Link, Member, NoReply, Refused, read_links
from cohabit_seat.player import CannotPlay, Player

SEATS, HOSTS = "COHABIT_SEATS", "COHABIT_HOSTS"
"""Environment variables with links. Tokens do not belong on a command line, where other users can read them."""
PAUSE_S = 0.1
"""How long a session waits before it looks again for a free seat."""


class NoFreeSeat(Exception):
    """No seat can be played now. The message says why, and what to do."""


def client() -> httpx.AsyncClient:
    """For any number of players, each of which may wait for its turn."""
    return httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None))


class Seats:
    """Hands out seats. Sessions may give theirs back from other threads."""

    def __init__(self, links: Sequence[Link], hosts: Sequence[Link] = ()) -> None:
        if not links:
            raise ValueError(f"no seats: put the links of the players, as `cohabit up` prints them, into {SEATS}")
        if len(set(links)) < len(links):
            raise ValueError(f"a link is twice in {SEATS}; each seat has one")
        self._links = list(links)
        self._hosts = {host.place: host for host in hosts}
        self._taken: dict[Link, Player] = {}
        self._asking: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    @classmethod
    def of_environment(cls, seats: str = "", hosts: str = "") -> "Seats":
        """From these files, or else from the variables."""
        return cls(*(read_links(Path(file).read_text() if file else os.environ.get(variable, ""))
                     for file, variable in ((seats, SEATS), (hosts, HOSTS))))  # fmt: skip

    def __len__(self) -> int:
        return len(self._links)

    async def take(self, http: httpx.AsyncClient, within: float) -> Player:
        """A player for the first free seat. If all are in use, wait until a session gives one back, at most ``within``
        seconds."""
        deadline = anyio.current_time() + within
        unusable: dict[Link, str] = {}
        while True:
            player = self._reserve(http, unusable)
            if player is not None:
                try:
                    await player.enter()
                except BaseException as wrong:
                    self.give_back(player)
                    if not isinstance(wrong, Refused | NoReply | CannotPlay):
                        raise
                    unusable[player.member.link] = str(wrong)
                else:
                    return player
            elif len(unusable) < len(self) and anyio.current_time() < deadline:
                await anyio.sleep(PAUSE_S)
            else:
                raise NoFreeSeat(self._why_none(unusable))

    def _reserve(self, http: httpx.AsyncClient, unusable: dict[Link, str]) -> Player | None:
        with self._lock:
            for link in self._links:
                if link not in self._taken and link not in unusable:
                    self._taken[link] = Player(Member(http, link), self.ask_next_game)
                    return self._taken[link]
        return None

    def _why_none(self, unusable: dict[Link, str]) -> str:
        used = len(self) - len(unusable)
        words = [f"{used} of {len(self)} seats are in use: close a session, or add links to {SEATS}"] if used else []
        words += [f"seat {self._links.index(link) + 1} ({link}): {why}" for link, why in unusable.items()]
        return "no free seat. " + "; ".join(words)

    def give_back(self, player: Player) -> None:
        """The next session may take this seat. The room is not told, and its game goes on."""
        self._taken.pop(player.member.link, None)

    async def ask_next_game(self, player: Player) -> None:
        """Start a rematch in the room of this player, if its own grant or that of a given host allows it. Not before
        all sessions there have seen the end of their game; and only one of them asks."""
        place = player.member.link.place
        host = player.member if player.may_rematch else None
        if place in self._hosts:
            host = Member(player.member.http, self._hosts[place])
        with self._lock:
            there = [each for each in self._taken.values() if each.member.link.place == place]
            if host is None or place in self._asking or any(each.playing for each in there):
                return
            self._asking.add(place)
        try:
            if (await player.member.call("session_info"))["over"]:
                await host.call("rematch", key=uuid.uuid4().hex)
        finally:
            self._asking.discard(place)
