"""Who has access is the same in every process and every house, at once: each step is done in one, and used in another."""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.faces.workers.cluster import Caller, Houses, calling, running

from cohabit.client import connect_url
from cohabit.errors import CohabitError

DEN, HALL = "den", "hall"
ALONE = {"houses_address": "", "houses_key": ""}
VARIES = re.compile(r"i-[0-9a-f]{16}|\d{13,}|(?<=guest-)\d")
HIDDEN = (
    "token", "invite", "link", "code", "created_at", "before", "at", "retry_after_s", "here",
)  # fmt: skip
"""What differs between any two houses, and who was seen lately."""
PLACES = 3
"""How many may accept the shared invite."""
ROUNDS = 4


class Script:
    """Calls in turn through two processes, each about a room of its own, and what came of each."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._houses = [*caller.houses]
        self.answers: list[Any] = []

    def url(self, at: int) -> str:
        return self._caller.houses[self._houses[-at]].url

    async def __call__(
        self, at: int, token: str, command: str, where: str | None = None, **args: Any
    ) -> dict[str, Any]:
        """``at``: the house, the first or the last; which is the same if there is only one."""
        said = await self.quietly(at, token, command, where, **args)
        self.answers.append((command, where, plain(said)))
        return said

    async def quietly(self, at: int, token: str, command: str, where: str | None = None, **args: Any) -> dict[str, Any]:
        try:
            return dict(await self._caller.call(self._houses[-at], token, where, command, args))
        except CohabitError as refused:
            return {"refused": refused.code, "why": refused.message}

    async def everywhere(self, token: str, command: str = "whoami") -> None:
        """Use a token in every way: through both houses, about both rooms and about none."""
        for at in (0, 1):
            for room in (DEN, HALL, None):
                await self(at, token, command, room)


Part = Callable[[Script, str], Awaitable[None]]
"""What is done by a host of the house, with its token, and others."""


def plain(value: Any) -> Any:
    """A reply without what differs between any two houses."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name not in HIDDEN}
    if isinstance(value, list):
        inner = [plain(one) for one in value if not (isinstance(one, dict) and one.get("label") == "temporary")]
        return sorted(inner, key=repr)
    return VARIES.sub("…", str(value)) if isinstance(value, str | int) else value


async def house_wide_tokens(script: Script, host: str) -> None:
    pia = (await script(0, host, "issue_credential", name="pia"))["token"]
    await script(1, pia, "join", DEN)
    await script(0, pia, "join", HALL)
    await script.everywhere(pia)
    fresh = (await script(1, pia, "rotate_token", HALL))["token"]
    await script.everywhere(pia)
    await script.everywhere(fresh)
    newest = (await script(0, host, "rotate_credential", name="pia"))["token"]
    await script.everywhere(fresh)
    await script.everywhere(newest, "rooms")
    await script(1, host, "revoke_credential", DEN, name="pia")
    await script.everywhere(newest)
    boss = (await script(1, host, "issue_credential", name="boss", host=True))["token"]
    await script.everywhere(boss, "rooms")
    await script(0, boss, "issue_credential", name="ann", room=HALL)
    await script(1, boss, "issue_credential", DEN, name="bob", room=HALL)
    await script(0, host, "revoke_credential", name="boss")
    await script.everywhere(boss, "rooms")
    await script(1, host, "list_credentials")


async def invites(script: Script, host: str) -> None:
    cat = await script(0, host, "invite", DEN, id="cat", role="player")
    await script.everywhere(cat["code"])
    replies = await asyncio.gather(*(script.quietly(at, cat["token"], "join", DEN) for at in (0, 1)))
    script.answers.append(sorted(plain(reply)["member"] for reply in replies))
    who = [await script.quietly(0, reply["token"], "whoami", DEN) for reply in replies]
    script.answers.append(sorted(one.get("handle", one.get("refused")) for one in who))

    dan = await script(1, host, "invite", HALL, id="dan", role="player")
    await script(0, dan["code"], "join", HALL)
    for command in ("introduction", "capabilities", "rooms", "my_data", "whoami", "schemas"):  # the reply was lost
        await script.everywhere(dan["token"], command)
    token = (await script(1, dan["token"], "join", HALL))["token"]
    await script.everywhere(token)
    await script.everywhere(dan["code"])
    await script(1, dan["token"], "join", HALL)
    await script(0, dan["token"], "join", HALL, keep_token=True)

    eve = await script(0, host, "invite", DEN, id="eve")
    await script(1, eve["token"], "join", DEN)
    await script(0, eve["token"], "join", DEN, keep_token=True)
    await script.everywhere(eve["token"], "rooms")

    all_may = await script(0, host, "invite", DEN, id="many", uses=PLACES)
    tries = [script.quietly(n % 2, all_may["token"], "join", DEN, name=f"guest {n}") for n in range(2 * PLACES)]
    replies = await asyncio.gather(*tries)
    script.answers.append(sorted(reply.get("status") or reply["why"] for reply in replies))
    await script(1, host, "invites", DEN)
    (listed,) = [one for one in (await script.quietly(1, host, "invites", DEN))["invites"] if one["member"] == "many"]
    await script(1, host, "revoke_invite", DEN, invite=listed["invite"])
    for reply in replies:
        if "token" in reply:
            await script.everywhere(reply["token"])
    fay = await script(0, host, "invite", HALL, id="fay")
    await script(1, host, "revoke_invite", HALL, invite=fay["invite"])
    await script.everywhere(fay["code"])
    await script(0, "", "join", room=HALL, invite=fay["token"])
    watching = await script(0, host, "watch_link", DEN)
    await script.everywhere(watching["code"] if "code" in watching else watching["token"])
    await script(1, host, "watch_link", DEN, off=True)
    await script.everywhere(watching["token"])


async def links_of_people(script: Script, host: str) -> None:
    """The creator of a sealed room has seen the links of its people. The link works until the new token is used."""
    made = await script.quietly(
        0, host, "create_room", world="whist", players=["ann", "bob", "eve", "fay"], people=["ann"], room="sealed"
    )
    link = made["tokens"]["ann"]
    await script.everywhere(link)
    await script(0, link, "join", "sealed")
    for command in ("rooms", "whoami", "my_data", "introduction"):
        await script.everywhere(link, command)
    mine = (await script(1, link, "join", "sealed"))["token"]
    await script.everywhere(mine)
    await script.everywhere(link)
    await script(1, link, "join", "sealed")


async def blocked_and_forgotten(script: Script, host: str) -> None:
    zoe = (await script(0, host, "issue_credential", name="zoe"))["token"]
    for room in (DEN, HALL):
        await script(1, zoe, "join", room)
    await script(0, host, "remove_member", DEN, member="zoe", block=True)
    for at in (0, 1):
        await script(at, zoe, "join", DEN)
        await script(at, zoe, "whoami", HALL)
    await script(0, zoe, "forget_me", confirm="zoe")
    await script.everywhere(zoe, "my_data")
    await script.everywhere(zoe, "join")
    gus = (await script(0, "", "join", room=DEN, name="gus"))["token"]
    await script(1, host, "remove_member", DEN, member="gus", block=True)
    for command in ("my_data", "whoami", "forget_me", "my_data"):
        args = {"confirm": "gus"} if command == "forget_me" else {}
        for at in (0, 1):
            await script(at, gus, command, **args)


async def open_connections(script: Script, host: str) -> None:
    """A connection that is open when its token is revoked is closed before the reply."""
    for number, way in enumerate(("revoke_credential", "rotate_credential", "rotate_token")):
        name = f"tom-{number}"
        tom = (await script(0, host, "issue_credential", name=name))["token"]
        async with AsyncExitStack() as stack:
            open_ = []
            for at, room in itertools.product((0, 1), (DEN, HALL)):
                await script(at, tom, "join", room)
                client = await stack.enter_async_context(connect_url(script.url(at), tom, room))
                assert await client.call("rules")
                open_.append(client)
            if way == "rotate_token":
                await script(1, tom, way, HALL)
            else:
                await script(1, host, way, name=name)
            for client in open_:
                with pytest.raises(CohabitError) as refused:
                    await client.call("rules")
                script.answers.append(refused.value.code)


# -- at the same time -----------------------------------------------------------------------------
async def revoked_while_it_is_replaced(script: Script, host: str) -> None:
    """Somebody replaces its token while a host revokes it in another process: nothing is left that works."""
    for number in range(ROUNDS):
        name = f"thief-{number}"
        token = (await script.quietly(0, host, "issue_credential", name=name))["token"]
        await script.quietly(1, token, "join", HALL)
        replaced, revoked = await asyncio.gather(
            script.quietly(1, token, "rotate_token", HALL),
            script.quietly(0, host, "revoke_credential", DEN, name=name),
        )
        while revoked.get("refused") == "BUSY":
            revoked = await script.quietly(0, host, "revoke_credential", DEN, name=name)
        assert "refused" not in revoked, revoked
        for used in (token, replaced.get("token", token)):
            for at, room in itertools.product((0, 1), (DEN, HALL, None)):
                found = await script.quietly(at, used, "rooms", room)
                assert found.get("refused") == "UNAUTHORIZED", (number, replaced, revoked, found)


async def asked_of_each_other(script: Script, host: str) -> None:
    """Two processes that ask each other to change access do not wait for each other."""
    calls = [
        script.quietly(number % 2, host, "issue_credential", there, name="ann", room=about)
        for number in range(ROUNDS)
        for there, about in ((DEN, HALL), (HALL, DEN))
    ]
    async with asyncio.timeout(60):
        assert all("token" in reply for reply in await asyncio.gather(*calls))


QUICK = (house_wide_tokens, invites)
ALL = (*QUICK, links_of_people, blocked_and_forgotten, open_connections)


async def answers_of(houses: Houses, parts: Sequence[Part]) -> list[Any]:
    async with calling(houses) as caller:
        script, host = Script(caller), houses.host_token
        for room in (DEN, HALL):
            await script.quietly(0, host, "create_room", world="tictactoe", players=["ann", "bob"], room=room)
            await script(0, host, "set_entry", room, open=True)
        for part in (*parts, revoked_while_it_is_replaced, asked_of_each_other):
            await part(script, host)
        return script.answers


async def check_same(houses: Houses, folder: Path, parts: Sequence[Part]) -> None:
    """As one process answers."""
    with running("", folder, "one", **ALONE) as one:
        found, expected = await asyncio.gather(answers_of(houses, parts), answers_of(one, parts))
    for number, (answer, other) in enumerate(zip(found, expected, strict=True)):
        assert answer == other, f"answer {number}"


@pytest.mark.parametrize("parts", [QUICK, pytest.param(ALL, marks=pytest.mark.soak)], ids=["quick", "all"])
async def test_access_is_answered_by_workers_as_by_one_process(parts: Sequence[Part], tmp_path: Path) -> None:
    with running("", tmp_path, "workers", workers=2, **ALONE) as houses:
        await check_same(houses, tmp_path, parts)


@pytest.mark.soak
async def test_access_is_answered_by_two_houses_as_by_one_process(postgres: Any, tmp_path: Path) -> None:
    with running(postgres.new_schema(), tmp_path, "a", "b") as houses:
        await check_same(houses, tmp_path, ALL)
