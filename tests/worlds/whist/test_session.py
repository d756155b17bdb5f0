"""A table of Whist in a room and in a house: people, bots, kibitzers, and nobody who sees too much."""

import asyncio
import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.errors import BadArgs, Conflict, GameRejected, PermissionDenied, TurnNotYours
from cohabit.fair import seat_commitment
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.record import Entry
from cohabit.model.stream import Stream
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.scenario import AgentSpec, Scenario, read_scenario
from cohabit.testing.clock import FakeClock

PEOPLE = ("ann", "ben", "cat", "dan")
CARD = re.compile(r"\b[CDHS](?:1[0-4]|[2-9])\b")
SOON_S = 100
"""A test that waits longer than this hangs."""


# -- rooms --------------------------------------------------------------------------------------
def room(seed: int = 1, **keys: Any) -> Room:
    """A table of four people, with a host, a watcher and a god."""
    players = [AgentSpec(id=name, kind="human", role="player", claim=f"auto:{i}") for i, name in enumerate(PEOPLE)]
    others = [AgentSpec(id="hostess", role="host"), AgentSpec(id="owl"), AgentSpec(id="zeus", role="god")]
    scenario = Scenario(agents=[*players, *others], world="whist", **keys)
    world = make_world("whist", scenario.config)
    return Room.create(opening_state(scenario, world, "whist", "den", seed, "00" * 16), world, 0)


def status(table: Room, who: str) -> dict[str, Any]:
    return table.view(table.state.members[who]).observation.status


def step(table: Room, stream: Stream, at: int) -> None:
    """One of the members to move does something legal."""
    name = PEOPLE[["north", "east", "south", "west"].index(stream.choice(list(table.world.to_move())))]
    chosen = stream.choice(table.view(table.state.members[name]).observation.choices)
    args = {"cut": commitment, "reveal": reveal}.get(chosen["action"], lambda *_: chosen["params"])(table, name)
    table.call(name, chosen["action"], args, at=at)


def nonce_of(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def reveal(table: Room, name: str) -> dict[str, str]:
    return {"nonce": nonce_of(name)}


def commitment(table: Room, name: str) -> dict[str, str]:
    deal = status(table, name)["deal"]
    return {"commitment": seat_commitment(deal["game"], deal["number"], PEOPLE.index(name), nonce_of(name))}


def all_cut(table: Room) -> None:
    for name in PEOPLE:
        table.call(name, "cut", commitment(table, name), at=0)
    for name in PEOPLE:
        table.call(name, "reveal", reveal(table, name), at=0)


def test_each_of_four_people_sees_its_own_cards_and_all_agree_about_the_table():
    table = room()
    all_cut(table)
    shown = [status(table, name) for name in PEOPLE]
    assert len({card for seen in shown for card in seen["myHand"]}) == 52
    assert [seen["mySeat"] for seen in shown] == [0, 1, 2, 3]
    private = ("mySeat", "myHand", "legal")
    tables = [{k: v for k, v in seen.items() if k not in private} for seen in [*shown, status(table, "owl")]]
    assert all(seen == tables[0] for seen in tables)


def test_a_play_out_of_turn_or_of_another_seats_card_is_refused_and_changes_nothing():
    table = room()
    all_cut(table)
    before = table.digest()
    with pytest.raises(TurnNotYours):
        table.call("ben", "play", {"card": status(table, "ben")["myHand"][0]}, at=1)
    with pytest.raises(GameRejected, match="you do not hold"):
        table.call("ann", "play", {"card": status(table, "ben")["myHand"][0]}, at=1)
    with pytest.raises(PermissionDenied):
        table.call("owl", "play", {"card": "S14"}, at=1)
    assert table.digest() == before


def test_a_commitment_that_is_too_long_is_refused_before_the_world_sees_it():
    with pytest.raises(BadArgs, match="commitment"):
        room().call("ann", "cut", {"commitment": "x" * 65}, at=0)


def test_when_the_time_is_up_the_deal_goes_on_with_those_who_committed_and_the_game_with_legal_cards():
    table = room(turn_seconds=30)
    table.call("cat", "cut", commitment(table, "cat"), at=0)
    table.settle(31_000)
    assert status(table, "owl")["phase"] == "reveal"
    assert [one is not None for one in status(table, "owl")["deal"]["commitments"]] == [False, False, True, False]
    table.call("cat", "reveal", reveal(table, "cat"), at=32_000)
    first = status(table, "ann")["legal"][0]
    table.settle(63_000)
    assert status(table, "owl")["trick"]["plays"] == [{"seat": 0, "card": first}]


def test_when_the_time_for_the_reveal_is_up_the_deal_is_void_and_everybody_is_told_who_was_late():
    table = room(turn_seconds=30)
    for name in PEOPLE:
        table.call(name, "cut", commitment(table, name), at=0)
    for name in ("ann", "dan"):
        table.call(name, "reveal", reveal(table, name), at=1000)
    table.settle(32_000)
    seen = status(table, "owl")
    assert (seen["phase"], seen["deal"]["voids"]) == ("cut", 1)
    assert seen["deal"]["missed"] == [False, True, True, False]
    owl = table.state.members["owl"]
    told = msgspec.json.encode([feed(each.entry, owl, table.eye(owl)) for each in table.record.tail]).decode()
    assert "void, because East and South did not reveal" in told
    table.call("ann", "cut", commitment(table, "ann"), at=33_000)
    assert seen["deal"]["cut"] == [False] * 4  # the time for the next cut started again


@pytest.mark.parametrize("seed", range(10))
def test_no_member_is_ever_told_a_card_that_it_may_not_know(seed):
    table = room(seed, config={"points": 3})
    stream, at, hands = Stream(seed, "test play"), 0, []
    while table.world.to_move():
        at += 1000
        step(table, stream, at)
        public = status(table, "owl")
        if public["phase"] == "playing" and sum(public["handCounts"]) == 52:
            hands = status(table, "zeus")["hands"]
        last = [play["card"] for play in (public["lastTrick"] or {"plays": []})["plays"]]
        known = {*public["played"], *last, public["trumpCard"] or "C2"}
        entry = table.record.tail[-1].entry
        for who in (*PEOPLE, "owl", "hostess"):
            member = table.state.members[who]
            view = table.view(member)
            own = set(hands[PEOPLE.index(who)]) if who in PEOPLE and hands else set()
            told = feed(entry, member, table.eye(member))
            said = msgspec.json.encode([view.text, view.observation, told]).decode()
            assert set(CARD.findall(said)) <= known | own, (who, at)
            if entry.by != who:
                assert not [name for name in PEOPLE if nonce_of(name) in msgspec.json.encode(told).decode()]
    assert hands
    assert table.is_over()


def test_a_record_replays_to_the_same_table_and_the_same_deals():
    table, stream = room(5, config={"points": 20}), Stream(5, "test play")
    for at in range(100):
        step(table, stream, at)
    again = Room.replay(table.record.tail, make_world)
    assert again.digest() == table.digest()
    assert again.call("owl", "deals", at=200) == table.call("owl", "deals", at=200) != []


def test_a_kibitzer_sees_one_hand_and_can_neither_play_nor_take_another_view():
    table = room()
    all_cut(table)
    before = status(table, "ann")
    may = ["watch", "read_own", "act"]
    asked = table.call("owl", "ask", {"through": "north"}, at=1)
    table.call("ann", "allow", {"request": asked.request}, at=1)
    assert status(table, "owl") == before == status(table, "ann")
    with pytest.raises(PermissionDenied):
        table.call("owl", "play", {"card": before["legal"][0]}, at=2)
    with pytest.raises(GameRejected, match="before the next game"):
        table.call("hostess", "grant", {"member": "owl", "may": may[:2], "through": "east"}, at=3)
    table.call("hostess", "grant", {"member": "owl", "may": may}, at=4)
    assert status(table, "owl")["myHand"] == []
    with pytest.raises((Conflict, GameRejected)):
        table.call("owl", "sit", at=5)
    table.call("ann", "play", {"card": before["legal"][0]}, at=6)  # the player is not disturbed


# -- a house with bots --------------------------------------------------------------------------
class Table:
    """The scenario ``whist`` in a house whose clock stands still, and whose bots do not wait."""

    def __init__(self, house: House, tokens: dict[str, str]) -> None:
        self.house, self.tokens = house, tokens
        self.runner = house.rooms["whist"]

    async def call(self, who: str, name: str, args: Any = None) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), "whist", name, args)

    async def status(self, who: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.call(who, "view")).observation.status
        return found

    async def until(self, is_so: Callable[[], Any]) -> None:
        async with asyncio.timeout(SOON_S):
            while not is_so():
                await self.runner.changed_since(self.runner.version, self.house.clock.now() + 1)

    @property
    def world(self) -> Any:
        return self.runner.room.world

    def entries(self, who: str) -> list[Entry]:
        """The actions on this member's seat."""
        return [x.entry for x in self.runner.room.record.tail if x.entry.by == who and x.entry.do in ("cut", "play")]


async def opened(house: House, seed: int = 1, **keys: Any) -> Table:
    house.bots.step_ms = 0
    scenario = msgspec.structs.replace(read_scenario("whist"), **keys)
    _, tokens = await house.create_room(scenario, "whist", seed=seed)
    return Table(house, tokens)


async def own_turn(table: Table, who: str, seat: str) -> list[dict[str, Any]]:
    """Wait until the whole table waits for this member. Returns what it can do."""
    await table.until(lambda: table.world.to_move() == [seat])
    choices: list[dict[str, Any]] = (await table.call(who, "view")).observation.choices
    return choices


def test_the_scenario_has_four_named_bots_a_host_and_a_watcher_who_sees_no_hand():
    found = read_scenario("whist")
    assert [(a.name, a.claim, a.brain) for a in found.agents if a.brain] == [
        ("Robin", "auto:0", "whist"), ("Sandy", "auto:1", "whist"), ("Alex", "auto:2", "whist"), ("Pat", "auto:3", "whist")
    ]  # fmt: skip
    assert [a.role for a in found.agents if not a.brain] == ["host", "agent"]


async def test_bots_fill_the_table_and_play_one_game_after_another():
    clock = FakeClock()
    async with House.open(Settings(), clock=clock) as house:
        table = await opened(house)
        await table.until(lambda: table.world.is_over())  # no time passes, so nobody's time is up
        await clock.advance(table.runner.room.state.rematch_ms)
        await table.until(lambda: table.runner.room.state.games == 2 and len(table.entries("robin")) > 1)
        assert {entry.via for who in ("robin", "sandy", "alex", "pat") for entry in table.entries(who)} == {"whist"}
        await house.bots.close()


async def test_a_person_takes_a_bots_chair_in_the_middle_of_a_hand_without_a_new_deal():
    async with House.open(Settings(), clock=FakeClock()) as house:
        table = await opened(house)
        await table.until(lambda: len(table.entries("robin")) >= 4)
        mine = await table.status("robin")  # a call is enough
        assert 0 < len(mine["myHand"]) < 13
        before = len(table.entries("robin"))
        choices = await own_turn(table, "robin", "north")
        now = await table.status("robin")
        assert (now["handNumber"], now["myHand"]) == (mine["handNumber"], mine["myHand"])
        await table.call("robin", "play", choices[0]["params"])
        assert [entry.via for entry in table.entries("robin")[before:]] == [None]
        await own_turn(table, "robin", "north")  # the bots play on, and wait for the person again
        assert len(table.entries("robin")) == before + 1
        await house.bots.close()


async def test_a_bot_plays_on_when_a_person_hands_the_chair_back_or_leaves():
    clock = FakeClock()
    async with House.open(Settings(), clock=clock) as house:
        table = await opened(house, turn_seconds=None)
        await table.call("alex", "take_over")
        await own_turn(table, "alex", "south")
        moves = len(table.entries("alex"))
        await table.call("alex", "hand_back")
        await table.until(lambda: len(table.entries("alex")) > moves)
        await table.call("alex", "take_over")
        await own_turn(table, "alex", "south")
        moves = len(table.entries("alex"))
        async with asyncio.timeout(SOON_S):
            while len(table.entries("alex")) == moves:  # nobody calls for alex any more
                await clock.advance(1000)
        assert table.entries("alex")[-1].via == "whist"
        await table.call("alex", "view")
        (chosen, *_) = await own_turn(table, "alex", "south")
        await table.call("alex", chosen["action"], chosen["params"])  # and the person returns
        assert table.entries("alex")[-1].via is None
        await house.bots.close()


async def test_a_bot_that_stands_in_for_a_player_who_committed_makes_the_deal_void_and_plays_the_next_one():
    clock = FakeClock()
    async with House.open(Settings(), clock=clock) as house:
        table = await opened(house, turn_seconds=None, config={"points": 100})
        await table.call("alex", "take_over")
        while (chosen := (await own_turn(table, "alex", "south"))[0])["action"] != "cut":
            await table.call("alex", "play", chosen["params"])
        deal = (await table.status("alex"))["deal"]
        own = seat_commitment(deal["game"], deal["number"], 2, nonce_of("alex"))
        await table.call("alex", "cut", {"commitment": own})
        assert table.world.to_move() == ["south"]
        async with asyncio.timeout(SOON_S):
            while table.world.draw.number == deal["number"]:  # nobody calls for alex any more
                await clock.advance(1000)
        assert table.world.missed == [False, False, True, False]
        await table.until(lambda: table.world.is_dealt)
        assert [each.missed for each in table.world.finished if each.missed] == [(2,)]
        await house.bots.close()


async def test_two_people_and_two_bots_play_a_game_to_its_end():
    async with House.open(Settings(), clock=FakeClock()) as house:
        table = await opened(house, config={"points": 1})
        people = {"robin": "north", "sandy": "east"}
        for who in people:
            await table.call(who, "take_over")
        async with asyncio.timeout(SOON_S):
            while not table.world.is_over():
                for who, seat in people.items():
                    if seat in table.world.to_move():
                        chosen = (await table.call(who, "view")).observation.choices[-1]
                        await table.call(who, chosen["action"], chosen["params"])
                await asyncio.sleep(0)
        shown = [await table.status(who) for who in (*people, "spectator")]
        assert len({seen["winner"] for seen in shown}) == 1
        assert {entry.via for who in people for entry in table.entries(who)[1:]} == {None}
        await house.bots.close()


async def test_a_table_is_resumed_after_a_restart_with_the_same_hands_and_chairs(tmp_path: Path):
    settings = Settings(data=str(tmp_path))
    async with House.open(settings, clock=FakeClock()) as house:
        table = await opened(house)
        await table.call("robin", "take_over")
        await table.until(
            lambda: (table.world.to_move() == ["north"] and table.world.is_dealt) or not table.world.is_dealt
        )
        before, snapshot = await own_turn(table, "robin", "north"), table.world.snapshot()
        await house.bots.close()
        tokens = table.tokens
    async with House.open(settings, clock=FakeClock()) as house:
        again = Table(house, tokens)
        assert again.world.snapshot() == snapshot
        assert (await again.call("robin", "view")).observation.choices == before
        await house.bots.close()


async def test_the_spectator_of_a_table_is_sent_no_card_before_it_is_played():
    async with House.open(Settings(), clock=FakeClock()) as house:
        table = await opened(house, config={"points": 1})
        subscription = await house.subscribe(house.identify(table.tokens["spectator"]), "whist")
        await table.until(lambda: table.world.is_over())
        frames = 0
        async for frame in subscription:
            pushed = json.loads(frame)
            if pushed["push"] != "view":
                continue
            seen = pushed["view"]["observation"]["status"]
            last = [play["card"] for play in (seen["lastTrick"] or {"plays": []})["plays"]]
            assert set(CARD.findall(frame.decode())) <= {*seen["played"], *last, seen["trumpCard"]}
            frames += 1
            if seen["phase"] == "gameOver":
                break
        assert frames
        await house.bots.close()
