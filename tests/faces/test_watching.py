"""A page that only looks leaves a seat to the agent that plays it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from cohabit.faces.cli.greeting import watch_link_of
from cohabit.faces.cli.plans import Plan
from cohabit.room.record import Entry
from cohabit.room.state import Member
from cohabit.scenario import Scenario, parse_scenario

from .serving import Served, served
from .test_ws import Talk, talk

SOON_S = 100
PAGE = ["cohabit", "watching"]
STONES = 40


class Table:
    """A game of Nim in which a built-in player plays for ann, against bob."""

    def __init__(self, house: Served) -> None:
        self.house = house
        self.runner = house.house.rooms["table"]

    @property
    def ann(self) -> Member:
        return self.runner.room.state.members["ann"]

    def moves(self) -> list[Entry]:
        return [line.entry for line in self.runner.history.recent if line.entry.do == "take" and line.entry.by == "ann"]

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(SOON_S):
            while not is_so():
                await self.runner.changed_since(self.runner.version, self.house.clock.now() + 1)

    async def bot_moves_again(self) -> None:
        made = len(self.moves())
        await self.house.act("bob", "take", {"n": 1}, "table")
        await self.until(lambda: len(self.moves()) > made)
        assert self.moves()[-1].via == "random"

    def page(self) -> AbstractAsyncContextManager[Talk]:
        return talk(self.house, "ann", subprotocols=PAGE)


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    async with served() as house:
        house.house.bots.step_ms = 0
        plan = {
            "world": "nim",
            "config": {"stones": STONES},
            "agents": [
                {"id": "ann", "role": "player", "claim": "auto:0", "brain": "random"},
                {"id": "bob", "role": "player", "claim": "auto:1"},
            ],
        }
        _, tokens = await house.house.create_room(parse_scenario(json.dumps(plan)), "table", seed=7)
        house.tokens.update(tokens)
        made = Table(house)
        await made.until(lambda: len(made.moves()) == 1)
        yield made


async def look(me: Talk) -> None:
    """What a page calls: commands of the room, of the house, ones that wait, and a subscription."""
    await me.got("events", {"last": 10})
    await me.got("subscribe", {"cursor": ""})
    for command in ("whoami", "session_info", "view"):
        await me.got(command)
    await me.got("events", {"last": 10, "wait_ms": 1})


async def test_a_page_that_looks_is_here_and_the_bot_plays_on(table: Table) -> None:
    async with table.page() as me:
        await look(me)
        await table.house.clock.advance(1_000)
        await table.until(lambda: table.ann.here)
        await table.bot_moves_again()
        await look(me)
        assert (await me.got("whoami"))["played_by"] == "random"
    await table.house.clock.advance(2 * table.house.house.settings.away_ms)
    await table.until(lambda: not table.ann.here)
    await table.bot_moves_again()


@pytest.mark.parametrize("command", ["take", "take_over"])
async def test_the_first_action_on_a_page_takes_the_seat_from_the_bot_until_its_player_is_away(
    table: Table, command: str
) -> None:
    async with table.page() as me:
        await look(me)
        await table.house.clock.advance(1_000)
        await table.until(lambda: table.ann.here)
        await me.ask(command, {"n": 1} if command == "take" else {})  # it is not her turn
        assert (await me.got("whoami")).get("played_by") is None
        await table.house.act("bob", "take", {"n": 1}, "table")
        await me.got("take", {"n": 1})
        assert [entry.via for entry in table.moves()] == ["random", None]
    await table.house.clock.advance(2 * table.house.house.settings.away_ms)
    await table.until(lambda: table.ann.played_by_bot)
    await table.bot_moves_again()


@pytest.mark.parametrize("watched", [False, True])
async def test_an_agent_that_looks_takes_the_seat_from_the_bot_also_while_a_page_watches(
    table: Table, watched: bool
) -> None:
    async with table.page() as page, talk(table.house, "ann") as agent:
        if watched:
            await look(page)
            await table.house.clock.advance(1_000)
            await table.until(lambda: table.ann.here)
        await agent.got("view")
        assert not table.ann.played_by_bot
        told = [line.entry for line in table.runner.history.recent if line.entry.do == "presence"]
        assert len(told) == 1 + watched


async def test_the_link_to_watch_that_a_new_house_prints_shows_nobody_as_connected() -> None:
    async with served() as house:
        secret = await watch_link_of(house.house, Plan("den", Scenario(agents=[]), ""), house.tokens)
        runner = house.house.rooms["den"]
        await house.act("bob", "whoami")
        await house.clock.advance(1_000)
        async with asyncio.timeout(SOON_S):
            while not any(member.here for member in runner.room.state.members.values()):
                await runner.changed_since(runner.version, house.clock.now() + 1)
        assert [member.handle for member in runner.room.state.members.values() if member.here] == ["bob"]
        assert secret is not None
        seen = await house.house.call(house.house.identify(secret), "den", "view")
        assert seen.text
