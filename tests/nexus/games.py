"""A house with a Nexus and games that can be killed at any write, and what must hold whatever happened."""

import asyncio
import json
import logging
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import CohabitError, StorageFailed
from cohabit.features.bodies.state import avatars_in
from cohabit.features.visits.state import VISITS, done_in
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.model.travel import Travel
from cohabit.nexus.connector import NexusConnector
from cohabit.nexus.games import travel_of
from cohabit.nexus.skills import lifetime, worth
from cohabit.nexus.values import Profile
from cohabit.remote import RemoteWorld
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

SAMPLE = Path(__file__).parent.parent / "worlds_samples" / "bodies" / "caves.py"
GAMES = {"caves": f"{SAMPLE}:Caves", "mines": f"{SAMPLE}:Mines", "zoo": f"{SAMPLE}:Caves"}
"""The last one is opened after the Nexus."""
AGENTS = ("ann", "bob", "cat")
NEVER = ("INTERNAL", "RECORD_CORRUPT")
log = logging.getLogger("cohabit")


class WeakStore(MemoryStore):
    """A store whose power fails after some commits, or that refuses some of them."""

    def __init__(self) -> None:
        super().__init__()
        self.power: int | None = None  # how many commits it still makes; None: any number
        self.refuses: set[int] = set()  # which of the next commits
        self.refuses_entry = ""  # every commit with an entry of this name
        self.commits = 0

    def commit(self, writes: Sequence[Write]) -> None:
        self.commits += 1
        if self.power is not None:
            if self.power <= 0:
                raise StorageFailed("the power has failed")
            self.power -= 1
        entries = {line.entry.do for write in writes for line in write.lines}
        if self.commits in self.refuses or self.refuses_entry in entries:
            raise StorageFailed("the disk is full")
        super().commit(writes)

    def stored_profile(self, identity: str) -> Profile | None:
        data = self._profiles.get(identity)
        return msgspec.msgpack.decode(data, type=Profile) if data is not None else None


class Journeys:
    """Some agents travel between games. ``tokens`` has every token that was ever made, by agent and room.

    bob has a token for the whole house, and is a member of the caves also without the Nexus.
    """

    def __init__(self, games: dict[str, str] | None = None) -> None:
        self.games = games or GAMES
        self.store = WeakStore()
        self.clock = FakeClock()
        self.tokens: dict[tuple[str, str], list[str]] = {}
        self.identity: dict[str, str] = {}
        self.lost: set[str] = set()  # agents that gave up a visit, or whose game was deleted
        self.skills: dict[str, dict[Any, float]] = {}

    # -- the house ---------------------------------------------------------------------------------
    async def open(self) -> "Journeys":
        trusted = Settings(trusted_worlds=", ".join(self.games.values()))  # as quick as the built-in ones
        self._opening = House.open(trusted, store=self.store, clock=self.clock)
        self.house: House = await self._opening.__aenter__()
        return self

    async def close(self) -> None:
        await self._opening.__aexit__(None, None, None)

    async def begin(self) -> "Journeys":
        await self.open()
        await self.make("nexus", "nexus", [{"id": who, "role": "player"} for who in ("ann", "cat")], guests=True)
        operator = self.house.identify(self.house.operator_token())
        made = await self.house.call(operator, None, "issue_credential", {"name": "bob", "kind": "human"})
        self.tokens |= {("bob", room): [made.token] for room in ("nexus", *self.games)}
        for game in self.games:
            await self.make_game(game)
        await self("bob", "nexus", "join")
        for who in AGENTS:
            self.identity[who] = self.credential(who, "nexus").identity or ""
            await self(who, "nexus", "sit")
        if "caves" in self.games:
            await self("bob", "caves", "join")
        await self.rest()
        return self

    async def make_game(self, game: str) -> None:
        host = {"id": "host", "role": "host", "kind": "human"}
        await self.make(game, self.games[game], [host], guests=game == "caves")
        await self("host", game, "open_to_nexus", description="a game")

    async def make(self, room: str, world: str, agents: list[Any], seed: int = 7, **keys: Any) -> None:
        text = json.dumps({"world": world, "agents": agents, **keys})
        _, tokens = await self.house.create_room(parse_scenario(text), room, seed=seed)
        for who, token in tokens.items():
            self.tokens.setdefault((who, room), []).append(token)

    async def kill(self) -> None:
        """Stop the house without a word: nothing more is stored."""
        self.store.power = 0
        await self.close()
        self.store.power, self.store.refuses = None, set()
        await self.open()
        await self.rest()

    @property
    def nexus(self) -> NexusConnector:
        connector = self.house.rooms.connectors["nexus"]
        assert isinstance(connector, NexusConnector)
        return connector

    async def rest(self) -> None:
        """Until nothing is under way any more, and the Nexus has seen it."""
        await asyncio.wait([self.nexus._recovered])
        for _ in range(2):
            await self.clock.advance(0)  # what is due happens
            await self.nexus.transit.at_rest()
            runner = self.house.rooms["nexus"]
            if runner.remote is not None and runner.failure is None:
                with suppress(StorageFailed):  # of a disk that refuses; the next poll is soon
                    await runner.remote.poll()
            for each in list(self.house.rooms.values()):
                with suppress(CohabitError):
                    await each.drained()
        await self.nexus.transit.at_rest()

    # -- calls -------------------------------------------------------------------------------------
    def credential(self, who: str, room: str) -> Any:
        return self.house.identify(self.tokens[who, room][-1])

    async def __call__(self, who: str, room: str, command: str, /, **args: Any) -> Any:
        if (who, room) not in self.tokens:
            raise StorageFailed("it has no token for that room")
        result = await self.house.call(self.credential(who, room), room, command, args)
        if command in ("enter_game", "resume_game", "leave_game") and "token" in (result.data or {}):
            game = result.data["onward"]["game"] if command == "leave_game" else result.data["room"]
            self.tokens.setdefault((who, game), []).append(result.data["token"])
        return result

    async def tried(self, doing: Awaitable[Any]) -> Any:
        """The result, or None if it was refused. Only our own errors are errors."""
        try:
            return await doing
        except CohabitError as refused:
            assert refused.code not in NEVER, refused.as_text()
            return None

    # -- what is known -----------------------------------------------------------------------------
    def room(self, game: str) -> Room:
        return self.house.rooms[game].room

    def profile(self, who: str) -> Profile:
        found = self.store.stored_profile(self.identity[who])
        return found or Profile(self.identity[who], who)

    def running(self) -> list[str]:
        return [game for game in self.games if game in self.house.rooms and self.house.rooms[game].failure is None]

    def all_items(self) -> Counter[str]:
        """By category, wherever they are: in bodies, on the ground, in packages and with agents in the Nexus."""
        found: Counter[str] = Counter()
        for game in self.games:
            if game in self.house.rooms:
                found += self.items_in(game)
        for who in AGENTS:
            for carried in self.profile(who).carried:
                found[carried.category] += carried.count
        return found

    def items_in(self, game: str) -> Counter[str]:
        """By category, what is in a game and in the packages that have not left it."""
        room = self.room(game)
        travel = travel_of(room.world)
        found: Counter[str] = Counter()
        for pile in (room.world.all_items(), *(package.items for package in VISITS.read(room.state).leaving.values())):  # type: ignore[attr-defined]
            for item, count in pile.items():
                found[travel.items[item].category] += count
        return found

    def travels(self) -> dict[str, Travel]:
        worlds = [self.room(game).world for game in self.games if game in self.house.rooms]
        return {world.spec.name: travel_of(world) for world in worlds}

    # -- what must hold ----------------------------------------------------------------------------
    async def check(self) -> None:
        """At rest, while every game answers."""
        for who in AGENTS:
            self.check_place(who)
            self.check_skills(who)
            await self.check_tokens(who)
        for game in self.running():
            state = self.room(game).state
            assert not VISITS.read(state).leaving, f"{game} has packages that nobody has: {VISITS.read(state).leaving}"
        world = self.room("nexus").world
        assert isinstance(world, RemoteWorld)
        assert not world.all_pending(), "an action of the Nexus has no outcome"

    def check_place(self, who: str) -> None:
        """An agent is in the Nexus, or in one game: its profile, the game, and its bodies agree."""
        identity, profile = self.identity[who], self.profile(who)
        assert not profile.is_on_its_way, f"{who} is on its way and does not arrive: {profile.onward}"
        visited = [game for game in self.running() if identity in VISITS.read(self.room(game).state).visits]
        session = profile.session
        assert visited == ([session.game] if session is not None else []), f"{who}: {session} but visits {visited}"
        bound = []
        for game in self.running():
            room = self.room(game)
            member = room.member_of(identity)
            bound += [(game, a.id) for a in avatars_in(room.state).values() if member is not None and a.by == member.id]
            if session is not None and session.game == game:
                assert VISITS.read(room.state).visits[identity].ticket == session.ticket
                assert member is not None, f"{who} visits {game} and is no member"
        own = "caves" if who == "bob" else None  # where it is a member, and may have a body without the Nexus
        allowed = own if session is None else session.game
        assert {game for game, _ in bound} <= {allowed}, f"{who} is {session} and has the bodies {bound}"
        seats = [m.seat for m in self.room("nexus").state.members.values() if m.identity == identity]
        known = self.room("nexus").world.present.get(seats[0] or "") if seats else None  # type: ignore[attr-defined]
        if known is not None and known.profile is not None:
            there = known.profile.session
            assert (there and there.ticket) == (session and session.ticket), f"the Nexus thinks {who} is {there}"

    def check_skills(self, who: str) -> None:
        """Skills never fall, and are what the deeds of all completed visits teach: no package more, none less."""
        profile, identity = self.profile(who), self.identity[who]
        for domain, level in self.skills.get(who, {}).items():
            assert profile.skill(domain) >= level, f"{who} has forgotten {domain}"
        self.skills[who] = dict(profile.skills)
        points: dict[Any, float] = {}
        travels = self.travels()
        for world, totals in profile.worlds.items():
            if world not in travels:
                return
            for deed, lesson in travels[world].lessons.items():
                taught = lesson.points * worth(lifetime(totals).get(deed, 0))
                points[lesson.domain] = points.get(lesson.domain, 0.0) + taught
            done: dict[str, int] = {}
            for game in self.games:
                if game in self.house.rooms and self.room(game).state.world == world:
                    for deed, count in _done(self.room(game), identity).items():
                        done[deed] = done.get(deed, 0) + count
            if not self.lost and who != "bob":  # bob plays without the Nexus, too
                assert {deed: n for deed, n in totals.deeds.items() if n} == done, f"{who} in {world}"
        for domain, total in points.items():
            if domain != "adaptation":  # a new world teaches that
                assert math.isclose(profile.skill(domain), 1 - math.exp(-total), abs_tol=1e-6), f"{who}: {domain}"

    async def check_tokens(self, who: str) -> None:
        """A token for a game is worth nothing once its agent has left."""
        session = self.profile(who).session
        for (name, room), tokens in self.tokens.items():
            if name != who or room == "nexus" or (who, room) == ("bob", "caves") or room not in self.running():
                continue
            if session is not None and session.game == room:
                continue
            for token in tokens:
                with suppress(CohabitError):
                    await self.house.call(self.house.identify(token), room, "view")
                    raise AssertionError(f"{who} can still read {room}")


def _done(room: Room, identity: str) -> dict[str, int]:
    """What the bodies of an agent have done in ended sessions of a room."""
    assert isinstance(room.world, EmbodiedWorld)
    found: dict[str, int] = {}
    for avatar in avatars_in(room.state).values():
        if avatar.owner == identity and avatar.seat:
            for deed, count in room.world.deeds(avatar.seat).items():
                found[deed] = found.get(deed, 0) + count
    visit = VISITS.read(room.state).visits.get(identity)
    if visit is not None:  # what it has done in this visit is not in its profile yet
        for avatar in avatars_in(room.state).values():
            if avatar.owner == identity and avatar.by is not None:
                for deed, count in room.world.deeds(avatar.seat).items():
                    found[deed] -= count - avatar.deeds_before.get(deed, 0)
        for deed, count in done_in(room.state, identity, visit).deeds.items():
            found[deed] = found.get(deed, 0) - count
    return {deed: count for deed, count in found.items() if count}


Step = Callable[[], Awaitable[Any]]
