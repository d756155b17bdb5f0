"""Tokens that are revoked through one house while their holders read and write through all of them."""

import asyncio
import itertools
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cohabit.client import connect_url
from cohabit.errors import CohabitError

from .clients import AGAIN_S, FACES, PAUSE_S, TRY_AGAIN, Caller, events_of
from .history import Attempt, History, Revocation

HELD_S, AFTER_S = 5.0, 2.0
"""How long a token is used at most before it is revoked, and how long after the reply."""
WAYS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("remove_member", {}),
    ("rotate_token", {}),
    ("remove_member", {"block": True}),
    ("revoke_token", {}),
)


class Holder:
    """Uses one token in all ways at once, and logs every answer and every event."""

    def __init__(self, token: str, urls: Sequence[str], found: Revocation, chance: random.Random) -> None:
        self._token, self._urls, self._found, self._chance = token, urls, found, chance

    async def run(self, over: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            for url in self._urls:
                group.create_task(self._listen(url, over))
            for face in FACES:
                group.create_task(self._call(face, over))

    async def _call(self, face: str, over: asyncio.Event) -> None:
        caller = Caller(face, self._token, self._found.room, lambda: self._urls, self._chance)
        while not over.is_set():
            command, args = self._chance.choice([("events", {"last": 5}), ("view", {})])
            invoked, answer = time.monotonic(), "ok"
            try:
                result = await caller.call(command, args)
                self._found.received.extend(events_of(result.get("items", ())))
            except CohabitError as refused:
                answer = refused.code
            self._found.attempts.append(Attempt(invoked, answer, caller.house))
            if answer != "ok":
                caller.disconnect()  # the next one goes through any house
            await asyncio.sleep(PAUSE_S if answer == "ok" else AGAIN_S)
        await caller.close()

    async def _listen(self, url: str, over: asyncio.Event) -> None:
        waiting = asyncio.ensure_future(over.wait())
        while not over.is_set():
            listening = asyncio.ensure_future(self._subscribe(url))
            await asyncio.wait([waiting, listening], return_when=asyncio.FIRST_COMPLETED)
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await asyncio.sleep(AGAIN_S)
        await waiting

    async def _subscribe(self, url: str) -> None:
        """From the first event, until the connection ends. Its first push is the answer to the subscription."""
        invoked, is_answered = time.monotonic(), False
        try:
            async with connect_url(url, self._token, self._found.room) as client:
                async for push in client.subscribe("", views=False):
                    if not is_answered:
                        is_answered = True
                        self._found.attempts.append(Attempt(invoked, "ok", url))
                    self._found.received.extend(events_of(push.get("items", ())))
        except CohabitError as refused:
            self._found.attempts.append(Attempt(invoked, refused.code, url))


class Revoker:
    """Revokes the tokens of members, one after another, each in another way."""

    def __init__(
        self, host: Caller, victims: Mapping[str, str], urls: Callable[[], Sequence[str]], history: History,
        chance: random.Random,
    ) -> None:  # fmt: skip
        """``victims``: their tokens, by name."""
        self._host, self._victims, self._urls = host, victims, urls
        self._history, self._chance = history, chance

    async def run(self, over: asyncio.Event) -> None:
        for (member, token), (command, more) in zip(self._victims.items(), itertools.cycle(WAYS), strict=False):
            if over.is_set():
                break
            await self._revoke(member, token, command, more)
        await self._host.close()

    async def _revoke(self, member: str, token: str, command: str, more: Mapping[str, Any]) -> None:
        found = Revocation(self._host.room, member, command)
        over = asyncio.Event()
        holding = asyncio.ensure_future(Holder(token, self._urls(), found, self._chance).run(over))
        await asyncio.sleep(self._chance.uniform(0, HELD_S))
        await self._until_done(command, {"member": member, **more}, f"end of {member}")
        found.done = time.monotonic()
        self._history.revocations.append(found)
        await asyncio.sleep(AFTER_S)
        over.set()
        await holding

    async def _until_done(self, command: str, args: Mapping[str, Any], key: str) -> None:
        while True:
            try:
                await self._host.call(command, args, key)
            except CohabitError as wrong:
                if wrong.code not in TRY_AGAIN:
                    self._history.surprises.append(f"{command} of {args['member']}: {wrong.as_text()}")
                    return
                await asyncio.sleep(AGAIN_S)
            else:
                return
