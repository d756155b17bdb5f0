"""Sentinels in every hidden place, searched for in everything that each member receives, in process and over each interface."""

import asyncio
import json
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import json as msgspec_json

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.stream import Stream
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.testing.clock import FakeClock
from cohabit.worlds.whist.rules import DECK
from cohabit.worlds.whist.world import Whist

from .doors import MOSTLY_SOAK, doors
from .planted import HOUSE_READS, PLAYERS, READERS, READS, SEATS, SETUP, leaks, next_move, nonce_of, plant, scenario

EXAMPLE_CARDS = {"S10", "H14", "H12", "H13"}
"""Named in the rules."""
READ_AT = (20, 55)
"""After how many moves of a hand everything is read."""


def encoded(value: Any) -> str:
    return msgspec_json.encode(value).decode()


class Judge:
    """Knows the table, and so what each reader may know."""

    def __init__(self, world: Whist) -> None:
        self.world = world
        self.sent: dict[str, set[str]] = {name: set() for name in READERS}
        self.seen_cards: set[str] = set(EXAMPLE_CARDS)  # that were ever on the table
        self.held: dict[str, set[str]] = {name: set() for name in PLAYERS}
        self.nonces_open = False

    def look(self) -> None:
        """Note what has become public."""
        world = self.world
        if world.finished:
            self.nonces_open = True
            self.seen_cards |= set(DECK)  # `deals` shows whole hands of the past
        if world.table is not None and world.is_dealt:
            held = {card for hand in world.table.hands for card in hand}
            self.seen_cards |= (set(DECK) - held) | {world.table.trump_card}
            for name, hand in zip(PLAYERS, world.table.hands, strict=True):
                self.held[name] |= set(hand)

    def check(self, reader: str, text: str, what: str) -> None:
        cards = self.seen_cards | self.held.get(reader, set())
        found = leaks(text, reader, self.sent[reader], cards, self.nonces_open)
        assert not found, f"{reader} got {found} from {what}: {text[:400]}"


def played_in_process(seed: int) -> int:
    """One game; how many texts were searched."""
    plan = scenario()
    world = make_world("whist", plan.config)
    assert isinstance(world, Whist)
    room = Room.create(opening_state(plan, world, "whist", "den", seed, "00" * 16), world, 0)
    stream, judge, at, searched = Stream(seed, "sentinels"), Judge(world), 1, 0

    def call(who: str, name: str, args: dict[str, Any]) -> None:
        nonlocal at, searched
        at += 1
        before = room.record.seq
        judge.sent[who] |= _words(args)
        try:
            reply = encoded(room.call(who, name, args, at=at))
        except CohabitError as refused:
            reply = json.dumps(refused.as_wire())
        judge.look()
        judge.check(who, reply, name)
        for line in room.record.tail:
            if line.seq > before:
                for reader in READERS:
                    member = room.state.members[reader]
                    judge.check(
                        reader, encoded(feed(line.entry, member, room.eye(member))), f"the event {line.entry.do}"
                    )
                    searched += 1

    for who, name, args in SETUP:
        call(who, name, args)
    while world.to_move() and not world.finished:
        for planted in plant(stream):
            call(*planted)
        call(*next_move(list(world.to_move()), lambda seat: world.legal(room.seats[seat]), stream, world.draw))
        if stream.below(10) == 0:
            for reader in READERS:
                for name, args in READS:
                    call(reader, name, args)
                    searched += 1
    return searched


def _words(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set().union(*map(_words, value.values())) if value else set()
    return set().union(*map(_words, value)) if isinstance(value, list) and value else set()


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_nothing_hidden_reaches_a_member_that_may_not_have_it(seed: int) -> None:
    assert played_in_process(seed) > 1000


@pytest.mark.soak
def test_nothing_hidden_reaches_a_member_in_a_thousand_games() -> None:
    for seed in range(1000, 2000):
        played_in_process(seed)


async def _over(face: str, house: House, tokens: dict[str, str], seed: int, tmp: Path, readers: tuple[str, ...]) -> int:
    """One hand in a house: moves in process, and everything read and streamed over one interface."""
    runner = house.rooms["den"]
    world = runner.room.world
    assert isinstance(world, Whist)
    judge, stream, searched = Judge(world), Stream(seed, "over"), 0

    async def act(who: str, name: str, args: dict[str, Any]) -> None:
        judge.sent[who] |= _words(args)
        with suppress(CohabitError):
            await house.call(house.identify(tokens[who]), "den", name, args)
        judge.look()

    streams = {name: await house.subscribe(house.identify(tokens[name]), "den", None) for name in READERS}
    pushed: dict[str, list[str]] = {name: [] for name in READERS}

    async def follow(name: str) -> None:
        with suppress(CohabitError):
            async for frame in streams[name]:
                pushed[name].append(frame.decode())

    following = [asyncio.ensure_future(follow(name)) for name in READERS if name != "mole"]
    for who, name, args in SETUP:
        await act(who, name, args)
    moves = 0
    async with doors(face, house, tmp) as door, AsyncExitStack() as stack:
        opened = {name: await stack.enter_async_context(door(tokens[name])) for name in readers}
        while world.to_move() and not world.finished:
            for planted in plant(stream):
                await act(*planted)
            seats = runner.room.seats
            legal = {seat: world.legal(seats[seat]) for seat in world.to_move()}
            await act(*next_move(list(legal), legal.get, stream, world.draw))
            moves += 1
            if moves not in READ_AT:
                continue
            for name, client in opened.items():
                for command, args in [*READS, *HOUSE_READS]:
                    try:
                        got = json.dumps(await client.call(command, args), default=_plain)
                    except CohabitError as refused:
                        got = json.dumps(refused.as_wire())
                    judge.check(name, got, f"{command} over {face}")
                    searched += 1
    await runner.drained()
    for task in following:
        task.cancel()
    for name, frames in pushed.items():
        for frame in frames:
            judge.check(name, frame, "a pushed frame")
            searched += 1
    return searched


def _plain(value: Any) -> Any:
    return json.loads(encoded(value))


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_nothing_hidden_reaches_a_member_over_an_interface(face: str, tmp_path: Path) -> None:
    async with House.open(Settings(port=0, calls_per_second=1_000_000), clock=FakeClock()) as house:
        _, tokens = await house.create_room(scenario(), "den", seed=7)
        readers = ("ann", "owl", "eve") if face.startswith("mcp") else READERS
        assert await _over(face, house, tokens, 7, tmp_path, readers) > 100


@pytest.mark.soak
@pytest.mark.parametrize("face", MOSTLY_SOAK)
@pytest.mark.parametrize("seed", range(100, 120))
async def test_nothing_hidden_reaches_a_member_over_an_interface_in_many_games(
    face: str, seed: int, tmp_path: Path
) -> None:
    async with House.open(Settings(port=0, calls_per_second=1_000_000), clock=FakeClock()) as house:
        _, tokens = await house.create_room(scenario(), "den", seed=seed)
        assert await _over(face, house, tokens, seed, tmp_path, READERS) > 100


def test_the_judge_notices_a_card_a_nonce_and_a_message_that_leak() -> None:
    """The check itself can fail."""
    assert SEATS[0] == "north"
    judge = Judge(Whist(1))
    for text in ('{"hand": ["C2"]}', f'"{nonce_of("ben", 1)}"', '"zz-to-ben"', '"zz-view-for-dan"', '"zzhidden"'):
        with pytest.raises(AssertionError):
            judge.check("eve", text, "a test")
