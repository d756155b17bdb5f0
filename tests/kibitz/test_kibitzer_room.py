"""The kibitzer at a real table of Whist, in a house: consent, and cards that nobody else hears of."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from cohabit.agents.comments.whist import WhistComments
from cohabit.agents.contract import Heard
from cohabit.faces.python import connect
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.stream import Stream
from cohabit.protocols.kibitz import Agent, Kibitzer, RoomController, create_agent
from cohabit.protocols.kibitz.comments import AnyComments
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

PLAYERS = ("ann", "ben", "cat", "dan")
SEATS = ("north", "east", "south", "west")
MAY = ["watch", "read-chat", "read-roster", "receive-directed", "send-chat"]
PATIENCE_S = 60
"""A test that waits longer hangs."""
CARD = re.compile(r"\b[CDHS](?:1[0-4]|[2-9])\b")


class TellsAll:
    """The worst model: it says every card that it can read."""

    async def talk(self, task: str, scene: str, heard: Sequence[Heard] = ()) -> str:
        return " ".join(sorted(set(CARD.findall(scene)))[-40:])


class Watched(Kibitzer):
    """A kibitzer that says whether it has processed everything that it has perceived."""

    _steps = False

    @property
    def is_busy(self) -> bool:
        return self._steps or self._wake.is_set()

    async def step(self) -> None:
        self._steps = True
        await super().step()
        self._steps = False


class Table:
    """A house with a table, people on all chairs, and an owl that watches."""

    kibitzer: Watched
    agent: Agent

    def __init__(self, house: House, tokens: dict[str, str], clock: FakeClock) -> None:
        self.house, self.tokens, self.clock = house, tokens, clock
        self.lines: list[tuple[str, str | None]] = []
        self.stream = Stream(5, "test play")

    async def call(self, who: str, command: str, **args: Any) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), "table", command, args)

    async def settle(self) -> None:
        """Wait until the owl has seen what the house shows it, and has thought about it."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                shown = (await self.call("owl", "view")).observation
                view = self.agent.get_view()
                if not self.kibitzer.is_busy and view is not None and view["observation"]["status"] == shown.status:
                    return
                await asyncio.sleep(0)

    async def move(self) -> set[str]:
        """A seat makes a legal move. Returns the cards that were public before or are since."""
        before = await self._public_cards()
        to_move = (await self.call("ann", "session_info")).to_move
        who = self.stream.choice(list(to_move))
        seen = await self.call(who, "view")
        chosen = self.stream.choice(seen.observation.choices)
        await self.call(who, chosen["action"], **chosen["params"])
        await self.settle()
        await self.clock.advance(10_000)
        await self.settle()
        return before | await self._public_cards()

    async def _public_cards(self) -> set[str]:
        return set(CARD.findall((await self.call("owl2", "view")).text))


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    clock = FakeClock()
    async with House.open(Settings(port=0), clock=clock) as house:
        people = [AgentSpec(id=who, kind="human", role="human", claim=f"auto:{i}") for i, who in enumerate(PLAYERS)]
        others = [AgentSpec(id="host", kind="human", role="host"), AgentSpec(id="owl2")]
        _, tokens = await house.create_room(Scenario(agents=[*people, *others], world="whist"), "table", 11)
        made = Table(house, tokens, clock)
        invite = await made.call("host", "invite", id="owl", kind="agent", may=MAY)
        async with connect(house, invite.token) as newcomer:
            made.tokens["owl"] = (await newcomer.call("join", room="table"))["token"]
        yield made


async def start(table: Table, comments: Any = None, **options: Any) -> tuple[Kibitzer, asyncio.Task[None], Any]:
    controller = await RoomController(
        lambda token: connect(table.house, token, "table"), table.tokens["owl"], "table"
    ).open()
    agent = await create_agent(controller, egress=False)
    kibitzer = Watched(
        agent, controller, comments or WhistComments(Stream(1, "phrases")), table.clock,
        on_said=lambda text, to: table.lines.append((text, to)), **options,
    )  # fmt: skip
    table.kibitzer, table.agent = kibitzer, agent
    task = asyncio.ensure_future(kibitzer.run())
    await table.settle()
    return kibitzer, task, agent


async def stop(task: asyncio.Task[None], agent: Any) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await agent.leave()


async def test_it_watches_the_public_table_until_the_player_allows_more_and_again_when_it_no_longer_does(
    table: Table,
) -> None:
    kibitzer, task, agent = await start(table, seat="auto", cooldown_ms=1000)
    assert table.lines == [("Hello, I am owl. I watch and comment. I follow ann.", None)]
    for _ in range(4):
        await table.move()
    assert agent.get_view()["observation"]["status"]["myHand"] == []
    (request,) = (await table.call("ann", "requests")).requests
    assert (request.member, request.through) == ("owl", "north")
    await table.call("ann", "allow", request=request.request, lasts="game")
    await table.move()
    assert len(agent.get_view()["observation"]["status"]["myHand"]) in (12, 13)
    await table.call("ann", "say", text="owl, what is trump?")
    await table.move()
    assert "ann" in [to for _, to in table.lines]
    await table.call("ann", "withdraw", member="owl")
    await table.move()
    assert agent.get_view()["observation"]["status"]["myHand"] == []
    before = len(table.lines)
    await table.call("ann", "say", text="owl, what is trump?")
    for _ in range(4):
        await table.move()
    assert {to for _, to in table.lines[before:]} == {None}
    assert (await table.call("ann", "requests")).requests == []
    assert kibitzer.counts["refused"] == 0
    await stop(task, agent)


@pytest.mark.parametrize("knows_whist", [True, False])
async def test_a_model_that_tells_all_it_can_read_tells_hidden_cards_to_the_player_only(
    table: Table, knows_whist: bool
) -> None:
    comments = None if knows_whist else AnyComments(Stream(1, "phrases"))
    _, task, agent = await start(table, comments, seat="north", mind=TellsAll(), cooldown_ms=1000)
    (request,) = (await table.call("ann", "requests")).requests
    leaked, told = set(), set()
    public: set[str] = set()
    for number in range(110):
        if number == 20:
            await table.call("ann", "allow", request=request.request, lasts="game")
        if number == 80:
            await table.call("ann", "withdraw", member="owl")
        if number % 9 == 3:
            await table.call(PLAYERS[number % 4], "say", text="what do you think, owl?")
        said, before = len(table.lines), public
        public = await table.move()
        for text, to in table.lines[said:]:
            cards = set(CARD.findall(text))
            (leaked if to != "ann" else told).update(cards - public - before)
    assert leaked == set()
    assert told  # it did look
    assert [to for _, to in table.lines if to not in (None, "ann")] == []
    heard = (await table.call("cat", "events", last=400)).items
    lines = [item.text for item in heard if item.by == "owl" and item.do == "send_message"]
    assert len(lines) >= 10
    assert not [text for text in lines if text.startswith("owl to ann")]
    await stop(task, agent)


async def test_a_question_to_it_alone_is_answered_to_its_sender_alone_and_one_to_everyone_to_everyone(
    table: Table,
) -> None:
    _, task, agent = await start(table)
    for args in ({"to": "owl"}, {}):
        await table.call("ben", "say", text="what is the score?", **args)
        await table.move()
    answers = [(text, to) for text, to in table.lines if "ann and cat 0" in text.casefold()]
    assert [to for _, to in answers] == ["ben", None]
    await stop(task, agent)
