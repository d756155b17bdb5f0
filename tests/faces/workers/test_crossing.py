"""What concerns several rooms, or all that somebody has in a cluster, is the same through each of its houses."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.faces.workers.cluster import Caller, Houses, calling, running

from cohabit.client import connect_url
from cohabit.errors import Busy, CohabitError, GameRejected, Unauthorized, UnknownRoom, Unreachable
from cohabit.house.access.entry_limits import GUESSES

# Two houses lose their leases if the machine gives them no time for ten seconds, as `make test` may.
pytestmark = pytest.mark.soak
VARIES = (
    "token", "tokens", "invite", "export", "caller", "link", "code", "cursor", "before", "hash", "digest", "signature",
    "public_key", "url",
)  # fmt: skip
"""Fields that differ between any two rooms."""
CONNECTIONS = 3
"""How many a token may have."""


@pytest.fixture(scope="module")
def pair(postgres: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Houses]:
    limits = {"connections_per_member": CONNECTIONS}
    with running(postgres.new_schema(), tmp_path_factory.mktemp("houses"), "a", "b", **limits) as houses:
        yield houses


class Script:
    """Calls about one room through one house, and what came of each."""

    def __init__(self, caller: Caller, house: str, room: str) -> None:
        self._caller, self._house, self._room = caller, house, room
        self.replies: list[Any] = []

    async def __call__(self, token: str, command: str, *, house_wide: bool = False, **args: Any) -> dict[str, Any]:
        try:
            found = await self._caller.call(self._house, token, None if house_wide else self._room, command, args)
        except CohabitError as refused:
            found = {"refused": refused.code, "why": refused.message}
        shown = plain(found, self._room)
        self.replies += [(command, line) for line in shown.pop("lines", ())]
        self.replies.append((command, shown))
        return dict(found)


def plain(found: Any, room: str) -> Any:
    """A reply without what is different for every room and every identity."""
    if isinstance(found, dict):
        return {name: plain(inner, room) for name, inner in found.items() if name not in VARIES}
    if isinstance(found, list):
        return [plain(inner, room) for inner in found]
    if isinstance(found, int) and found > 10**12:
        return "a time"
    if isinstance(found, str):
        return re.sub(r"i-[0-9a-f]{16}", "an identity", found).replace(room, "the room")
    return found


async def whole_life(script: Script, host: str, room: str) -> None:
    """Everything that somebody can do to its own access and data, and that a host can do to it."""
    await script(host, "join")
    invited = await script(host, "invite", id="cat", role="player")
    assert invited["token"]
    for _ in range(2):  # as if the first reply was lost
        cat = (await script(invited["token"], "join"))["token"]
    entry = await script(host, "set_entry", code="new", kind="human")
    for code in ("wrong-code-1", entry["code"]):
        joined = await script("", "join", house_wide=True, room=room, name="dot", code=code)
    dot = joined["token"]
    await script(dot, "send_message", to="host", content="hello")
    await script(host, "mute", member="dot")
    await script(dot, "send_message", to="host", content="hello again")
    await script(dot, "unmute", member="dot")
    await script(host, "remove_member", member="dot", block=True)
    await script(dot, "view")
    await script("", "join", house_wide=True, room=room, name="dot", code=entry["code"])
    await script(host, "rotate_token", member="ann")  # it plays a sealed game
    cat_new = (await script(cat, "rotate_token"))["token"]
    await script(cat, "whoami", house_wide=True)
    cat, cat_new = cat_new, (await script(host, "rotate_token", member="cat"))["token"]
    await script(cat, "view")
    await script(cat_new, "my_data", house_wide=True)
    await script(cat_new, "audit")
    await script(host, "audit")
    await script(host, "export_egress")
    await script(cat_new, "forget_me", house_wide=True, confirm="somebody else")
    await script(cat_new, "forget_me", house_wide=True, confirm="cat")
    await script(cat_new, "view")
    await script(cat_new, "my_data", house_wide=True)
    await script(host, "roster")


async def test_access_and_data_are_the_same_through_the_house_that_has_the_room_and_through_another(
    pair: Houses,
) -> None:
    async with calling(pair) as caller:
        found = []
        for number, is_there in enumerate((True, False, False)):  # the last two rooms are in different houses
            room = f"life-{number}"
            asked = {"world": "whist", "players": ["ann", "bob", "eve", "fay"], "room": room}
            await caller.call("a", pair.host_token, None, "create_room", asked)
            has_it = pair.holder(room)
            script = Script(caller, has_it if is_there else pair.other(has_it), room)
            await whole_life(script, pair.host_token, room)
            found.append(script.replies)
        assert found[1] == found[0]
        assert found[2] == found[0]


# -- the Nexus ------------------------------------------------------------------------------------
NEXUS, GAME = "nexus", "planet"


async def open_games(caller: Caller) -> dict[str, str]:
    """A Nexus in one house and a game in the other, which is then opened to it. The tokens of the travellers."""
    houses = caller.houses
    for asked in ({"scenario": "nexus", "room": NEXUS}, {"world": "planet", "room": GAME}):
        made = await caller.call("a", houses.host_token, None, "create_room", asked)
        if asked["room"] == NEXUS:
            tokens: dict[str, str] = made["tokens"]
    assert {houses.holder(NEXUS), houses.holder(GAME)} == {*houses}
    await caller.call("a", houses.host_token, GAME, "join")
    await caller.call("b", houses.host_token, GAME, "open_to_nexus")
    while houses.holder(NEXUS) != houses.holder(GAME):
        await asyncio.sleep(0.05)
    return tokens


async def review(caller: Caller, house: str, token: str) -> dict[str, Any]:
    """The profile of an agent that is not between two places."""
    while True:
        profile = await caller.until_answered(house, token, NEXUS, "review_self")
        known = await caller.until_answered(house, token, None, "my_data")
        if known["profile"].get("session") == profile.get("session") and not profile.get("onward"):
            return dict(profile)


async def enter(caller: Caller, house: str, token: str, key: str) -> None:
    await caller.until_answered(house, token, NEXUS, "enter_game", {"game_id": GAME}, key=key)


async def bodies_of(caller: Caller, house: str, token: str) -> list[dict[str, Any]]:
    """The avatars that an agent controls in the game."""
    try:
        found = await caller.until_answered(house, token, GAME, "avatars")
    except (Unauthorized, UnknownRoom):  # it was a member for its visit
        return []
    return [avatar for avatar in found["avatars"] if avatar["state"] == "bound"]


async def test_the_nexus_and_a_game_come_together_and_an_agent_travels_through_the_house_that_has_neither(
    pair: Houses,
) -> None:
    async with calling(pair) as caller:
        ada = (await open_games(caller))["ada"]
        has_both = pair.holder(NEXUS)
        through, used = pair.other(has_both), set()
        for visit in range(2):
            await enter(caller, through, ada, f"enter {visit}")
            (body,) = await bodies_of(caller, through, ada)
            used.add(body["avatar_id"])
            assert (await review(caller, through, ada))["session"]["game"] == GAME
            with pytest.raises(GameRejected, match="planet"):
                await enter(caller, through, ada, f"enter {visit} again")
            await caller.until_answered(through, ada, GAME, "exit_game", key=f"exit {visit}")
            while "session" in (profile := await review(caller, through, ada)):
                pass
            assert len(profile["visits"]) == visit + 1
        assert len(used) == 1, "it has one body"
        assert await review(caller, has_both, ada) == profile
        mine = [await caller.call(house, ada, None, "my_data") for house in pair]
        assert mine[0] == mine[1]


@pytest.mark.soak
async def test_after_a_house_is_killed_while_agents_travel_each_of_them_is_in_one_room_with_one_profile(
    postgres: Any, tmp_path: Path
) -> None:
    with running(postgres.new_schema(), tmp_path, "a", "b") as houses:
        async with calling(houses) as caller:
            tokens = await open_games(caller)
            agents = {name: tokens[name] for name in ("ada", "bran", "traveller")}
            for _ in range(2):
                killed = houses.holder(NEXUS)
                through = houses.other(killed)
                away = asyncio.Event()
                travelling = [asyncio.ensure_future(travel(caller, through, token, away)) for token in agents.values()]
                await away.wait()
                houses[killed].kill()
                visits = await asyncio.gather(*travelling)
                assert houses.holder(NEXUS) == houses.holder(GAME) == through
                for (name, token), acknowledged in zip(agents.items(), visits, strict=True):
                    profile = await review(caller, through, token)
                    is_there = bool(await bodies_of(caller, through, token))
                    assert is_there == ("session" in profile), f"{name}: {profile}"
                    known = [visit["ticket"] for visit in profile["visits"]]
                    assert len(known) == len(set(known))
                    assert set(acknowledged) <= set(known), f"{name} has lost a visit"
                houses[killed].start()


async def travel(caller: Caller, house: str, token: str, away: asyncio.Event) -> list[str]:
    """Go to and fro until a visit that began after ``away`` was set has ended. Returns the tickets of the visits whose
    end was acknowledged."""
    ended: list[str] = []
    while True:
        was_away = away.is_set()
        with suppress(GameRejected, Unreachable):  # it is there, or back, already: the reply to a call was lost
            await enter(caller, house, token, f"enter {uuid4()}")
        session = (await review(caller, house, token)).get("session")
        if session is None:
            continue
        try:
            await caller.until_answered(house, token, GAME, "exit_game", key=f"exit {session['ticket']}")
        except CohabitError as refused:
            assert refused.code in ("GAME_REJECTED", "UNAUTHORIZED", "PERMISSION_DENIED"), refused.as_text()
            continue
        ended.append(session["ticket"])
        if was_away and caller.houses.holder(NEXUS) == house:
            return ended
        away.set()


# -- limits ---------------------------------------------------------------------------------------
async def test_the_connections_of_a_token_to_a_room_are_counted_where_the_room_is(pair: Houses) -> None:
    async with calling(pair) as caller, AsyncExitStack() as stack:
        asked = {"world": "tictactoe", "players": ["ann", "bob"], "room": "crowded"}
        ann = (await caller.call("a", pair.host_token, None, "create_room", asked))["tokens"]["ann"]
        has_it = pair.holder("crowded")
        for number in range(CONNECTIONS):
            house = has_it if number % 2 else pair.other(has_it)
            client = await stack.enter_async_context(connect_url(pair[house].url, ann, "crowded"))
            assert await client.call("rules")
        for house in pair:
            with pytest.raises(Busy, match="already has 3 connections"):
                async with connect_url(pair[house].url, ann, "crowded") as client:
                    await client.call("rules")


async def test_wrong_codes_of_one_address_are_counted_together_whichever_house_they_come_through(pair: Houses) -> None:
    async with calling(pair) as caller:
        asked = {"world": "tictactoe", "players": ["ann", "bob"], "room": "guessed"}
        await caller.call("a", pair.host_token, None, "create_room", asked)
        await caller.call("a", pair.host_token, "guessed", "join")
        await caller.call("a", pair.host_token, "guessed", "set_entry", {"code": "opensesame42"})
        codes = []
        for number in range(GUESSES + 1):
            guess = {"room": "guessed", "name": "eve", "code": f"wrong-{number}"}
            with pytest.raises(CohabitError) as refused:
                await caller.call("ab"[number % 2], "", None, "join", guess)
            codes.append(refused.value.code)
        assert codes == ["PERMISSION_DENIED"] * GUESSES + ["BUSY"]
