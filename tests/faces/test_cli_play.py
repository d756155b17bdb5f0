"""What `cohabit play` prints of the player's own actions."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

import pytest

from cohabit.client import Client
from cohabit.errors import GameRejected, PermissionDenied
from cohabit.faces.cli.play import Table
from cohabit.faces.python import connect
from cohabit.house.house import House as RealHouse
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

TAKE = {"at": 1, "do": "take", "by": "ann", "text": "first takes 2", "args": {"n": 2}}
REWARD = {"at": 1, "do": "take", "by": "ann", "text": "Reward: +1 (total 1)", "kind": "reward"}
AGAIN = {**TAKE, "at": 2, "text": "first takes 1"}
OTHER = {**TAKE, "by": "bob", "text": "second takes 2"}
CHAT = {"at": 1, "do": "send_message", "by": "ann", "text": "to bob: hi", "kind": "direct"}


class House:
    """A house that pushes events before or after the reply to `act`."""

    reply: dict[str, Any] | None = {"message": "You took 2; 6 are left.", "done": True}  # noqa: RUF012 - never changed

    def __init__(self, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
        self.pushes: asyncio.Queue[list[dict[str, Any]]] = asyncio.Queue()
        self.before, self.after = before, after

    async def call(self, command: str, args: Any = None) -> dict[str, Any]:
        if command != "act":
            return {}
        await self.push(self.before)
        if self.reply is None:
            raise GameRejected("no")
        return self.reply

    async def push(self, items: list[dict[str, Any]]) -> None:
        self.pushes.put_nowait(items)
        await self.pushes.join()

    async def subscribe(self, cursor: str) -> AsyncIterator[dict[str, Any]]:
        while True:
            yield {"push": "events", "items": await self.pushes.get()}
            self.pushes.task_done()


async def printed(house: House, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is printed of events while and after a player types `take n=2`, without times."""
    table = Table(cast(Client, house), "ann")
    following = asyncio.ensure_future(table.follow(""))
    with suppress(GameRejected):
        await table._do("take n=2")
    await house.push(house.after)
    await house.push([AGAIN])
    following.cancel()
    return [line.split(maxsplit=2)[-1] if line[:1].isdigit() else line for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("early", [True, False])
async def test_an_own_action_is_printed_once_whether_its_event_or_its_reply_arrives_first(
    early: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [OTHER, CHAT, TAKE, REWARD]
    shown = await printed(House(items if early else [], [] if early else items), capsys)
    rest = ["second takes 2", "to bob: hi", "Reward: +1 (total 1)"]
    reply = "You took 2; 6 are left."
    assert shown == [*(rest if early else []), reply, *([] if early else rest), "first takes 1"]


async def test_after_a_refused_action_the_next_one_from_elsewhere_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    house = House([], [])
    house.reply = None
    assert await printed(house, capsys) == ["first takes 1"]


async def test_a_command_that_is_no_action_of_the_world_can_be_typed_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Its reply has no message, so its event is printed."""
    house = House([], [{**TAKE, "text": "everybody has passed"}])
    house.reply = {"previous": "ann", "next": "bob"}
    assert await printed(house, capsys) == ["Done.", "everybody has passed", "first takes 1"]


async def test_a_line_without_its_command_is_answered_and_the_game_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    async def typed() -> AsyncIterator[str]:
        for line in ("/call", "/call  ", "/help"):
            yield line

    await Table(cast(Client, House([], [])), "ann").obey(typed())
    said = capsys.readouterr()
    assert said.err == 2 * "cohabit: name the command, as in /call whoami.\n"
    assert "/tell NAME TEXT" in said.out


VIEW = {
    "text": 'The heap: ooo\nTo move: ann\nLegal actions: take {"n":1}\nThis is view 7ce61b65fd4a.',
    "observation": {"text": "The heap: ooo", "choices": [{"action": "take", "params": {"n": 1}}]},
    "to_move": ["ann"],
}


def test_a_view_is_printed_once_and_its_legal_actions_once_with_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(cast(Client, House([], [])), "ann")
    table.see(VIEW)
    table.see({**VIEW, "text": 'The heap: ooo\nTo move: ann\nLegal actions: take {"n":1}'})  # the same, pushed
    lines = ["  | The heap: ooo", "  | To move: ann", '  1  take {"n":1}']
    assert capsys.readouterr().out.splitlines() == lines
    table.see({**VIEW, "to_move": ["bob"]})
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(("brain", "shown"), [(None, ""), ("steward\x1b", "An agent (steward·) plays your seat. To")])
async def test_a_person_whose_seat_an_agent_plays_is_told_how_to_take_over(
    brain: str | None, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = {"events": {"cursor": "c7"}, "view": VIEW, "whoami": {"played_by": brain}}

    class Played(House):
        async def call(self, command: str, args: Any = None) -> dict[str, Any]:
            return replies[command]

    assert await Table(cast(Client, Played([], [])), "ann").begin() == "c7"
    out = capsys.readouterr().out.partition('1  take {"n":1}\n')[2]
    assert out.startswith(shown)
    assert out.endswith("play it yourself, type /call take_over\n" if brain else "")


async def test_what_happens_between_the_first_view_and_the_subscription_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    agents = [{"id": name, "role": "player", "claim": f"auto:{seat}"} for seat, name in enumerate(("ann", "bob"))]
    plan = parse_scenario(json.dumps({"world": "nim", "config": {"stones": 8}, "agents": agents}))
    async with RealHouse.open(clock=FakeClock()) as house:
        _, tokens = await house.create_room(plan, "den", seed=7)
        async with connect(house, tokens["ann"]) as ann, connect(house, tokens["bob"]) as bob:
            table = Table(ann, "ann")
            start = await table.begin()
            await ann.call("take", {"n": 1})
            await bob.call("take", {"n": 2})
            following = asyncio.ensure_future(table.follow(start))
            printed = ""
            while "second takes 2" not in printed:
                await asyncio.sleep(0)
                printed += capsys.readouterr().out
            assert printed.count("second takes 2") == printed.count("first takes 1") == 1
            following.cancel()


class Quiet(House):
    """A house in which nobody may broadcast: each message to a member is an event of its own."""

    async def call(self, command: str, args: Any = None) -> dict[str, Any]:
        if command == "roster":
            return {"members": [{"handle": handle} for handle in ("ann", "bob", "cleo")]}
        if command == "send_message":
            if args["to"] == "*":
                raise PermissionDenied("no")
            await self.push([{**CHAT, "text": f"ann to {args['to']}: {args['content']}"}])
        return {"handle": "ann"}


async def test_what_is_said_to_all_is_echoed_once(capsys: pytest.CaptureFixture[str]) -> None:
    house = Quiet([], [])
    table = Table(cast(Client, house), "ann")
    following = asyncio.ensure_future(table.follow(""))
    await table._do("/say hi")
    assert capsys.readouterr().out.splitlines() == ["Sent to bob, cleo."]
    await table._do("/tell bob psst")
    assert capsys.readouterr().out.rstrip().endswith("to bob: psst")
    following.cancel()
