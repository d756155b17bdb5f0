"""Profiles in the store: what the Nexus knows of each identity, read when it is needed."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace

from cohabit.errors import RecordCorrupt, Unauthorized
from cohabit.house.store.contract import Write
from cohabit.house.threads import run_in_thread
from cohabit.nexus.values import Profile

if TYPE_CHECKING:
    from cohabit.house.calls.context import Services

CACHED = 1_000
"""The number of profiles that stay in memory."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Profile).decode


class Profiles:
    """Reads and writes profiles, one change of each at a time. They are replaced, never changed in place."""

    def __init__(self, house: "Services") -> None:
        self._house = house
        self._cache: OrderedDict[str, Profile] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # as long as somebody uses it
        house.rooms.on_forgotten.append(self._forget)

    @asynccontextmanager
    async def changing(self, identity: str) -> AsyncIterator[None]:
        """While this is open, nobody else changes this profile."""
        lock = self._locks.setdefault(identity, asyncio.Lock())
        async with lock:
            yield

    async def get(self, identity: str) -> Profile:
        """The profile of an identity; a new one if the Nexus does not know it yet."""
        if identity in self._cache:
            self._cache.move_to_end(identity)
            return self._cache[identity]
        stored = await run_in_thread("a profile", partial(self._house.store.profile, identity))
        return self._keep(_decoded(identity, stored) if stored is not None else self._new(identity))

    def cached(self, identity: str) -> Profile | None:
        """The profile, if it is in memory."""
        return self._cache.get(identity)

    async def save(self, profile: Profile) -> Profile:
        """Store a profile. When this returns, it is durable. Returns it with its new version."""
        saved, known = replace(profile, version=profile.version + 1), self._house.identities.get(profile.agent_id)
        if known is None or known.forgotten is not None:
            return saved  # its data is being deleted
        await self._house.writer.submit(Write(profiles=[(saved.agent_id, _encode(saved))]))
        return self._keep(saved)

    def _forget(self, identities: Iterable[str]) -> None:
        for identity in identities:
            self._cache.pop(identity, None)

    def _new(self, identity: str) -> Profile:
        known = self._house.identities.get(identity)
        if known is None:
            raise Unauthorized("this identity is unknown here")
        return Profile(identity, known.name, self._house.clock.now())

    def _keep(self, profile: Profile) -> Profile:
        self._cache[profile.agent_id] = profile
        self._cache.move_to_end(profile.agent_id)
        if len(self._cache) > CACHED:
            self._cache.popitem(last=False)
        return profile


def _decoded(identity: str, stored: bytes) -> Profile:
    try:
        return _decode(stored)
    except (msgspec.DecodeError, ValueError) as wrong:
        raise RecordCorrupt(f"the stored profile of {identity} cannot be read: {wrong}") from None
