"""A person who did everything that can be done is deleted: its handle, its name and its words are then searched in every
file of the data folder and in every reply. And a house that is killed meanwhile goes on with it."""

import asyncio
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, PermissionDenied, UnknownAsset, UnknownRoom
from cohabit.house.house import House
from cohabit.house.lifecycle.own_data import REWRITINGS, REWRITINGS_MS
from cohabit.house.store.contract import Row, Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.testing.clock import FakeClock

from .making import BOB, HOST, TRUSTED, Client, issue, make_room, newcomer, open_house

CAVES = f"{Path(__file__).parent.parent / 'worlds_samples' / 'bodies' / 'caves.py'}:Caves"
ROOMS = ("cave", "den", "left", "nexus")
SLOW = ("worlds", "capabilities")
"""Commands that say nothing of anybody."""


class Person:
    """Its handle, its name and each of its words are found nowhere else."""

    def __init__(self) -> None:
        self.handle, self.name, self.identity = f"h{secrets.token_hex(6)}", f"n{secrets.token_hex(6)}", "?"
        self.words: list[str] = []

    def word(self) -> str:
        self.words.append(f"w{secrets.token_hex(6)}")
        return self.words[-1]

    def traces_in(self, text: bytes) -> list[str]:
        return [one for one in (self.handle, self.name, self.identity, *self.words) if one.encode() in text]


def traces(folder: Path, who: Person) -> list[str]:
    """Where something of the person is: in the name or the bytes of a file, of whatever kind it is."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert files
    return [f"{path.name}: {one}" for path in files for one in who.traces_in(bytes(path) + path.read_bytes())]


async def refused(client: Client, name: str, args: Any = None) -> None:
    with pytest.raises((BadArgs, Conflict, PermissionDenied, UnknownAsset)):
        await client(name, args)


async def talks(me: Client, others: dict[str, Client], who: Person) -> None:
    """In one room: all that a member can say, what it is refused, and what others are refused that name it."""
    host, bob = others["hostess"], others["bob"]
    member = me.house.rooms[me.room].room.member_of(who.identity)
    assert member is not None
    here, folder = member.handle, Path(me.house.settings.data) / "agents" / me.room
    await host("widen", {"member": here, "may": ["send_broadcast", "send_message"]})
    await me("say", {"text": who.word()})
    await me("send_message", {"to": "bob", "content": who.word(), "kind": who.word()}, key=who.word())
    await me("send_data", {"data": {who.word(): [who.word()]}})
    await me("ask", {"may": ["read_all"], "why": who.word()})
    await me("disclose", {"backend": who.word()})
    await me("report", {"reason": who.word(), "member": "bob"})
    await bob("report", {"reason": "it was rude", "member": here})
    await bob("send_message", {"to": here, "content": "an answer"})
    await refused(me, "mute", {"member": who.word()})
    await refused(me, "send_message", {"to": who.word(), "content": who.word()})
    await refused(bob, "mute", {"member": here})
    await refused(host, "add_member", {"id": here})
    await refused(host, "mute", {"member": here[:-1]})  # the reply suggests the handle
    await host("narrow", {"member": here, "may": ["send_broadcast"]})
    for path in (me.house.bots.transcripts.memory_of(me.room, member.id), folder / "transcript.jsonl"):
        assert path is not None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(who.word())


async def lives(house: House, who: Person) -> tuple[Client, dict[str, Client]]:
    """A person with a token for the whole house: it is in four rooms, leaves one, and visits a game from the Nexus."""
    rooms = {room: await make_room(house, BOB, HOST, room=room, guests=True) for room in ("den", "left")}
    cave = await make_room(house, HOST, world=CAVES, room="cave", guests=True)
    await make_room(house, HOST, world="nexus", room="nexus", guests=True)
    await cave["hostess"]("open_to_nexus")
    me = await issue(house, who.name, kind="human")
    who.identity = house.identify(me.token).identity
    nexus, there = Client(house, "nexus", who.name, me.token), Client(house, "cave", who.name, me.token)
    for room, others in rooms.items():
        here = Client(house, room, who.name, me.token)
        await here("join", {"backend": who.word()})
        await talks(here, others, who)
    await here("leave")
    await refused(rooms["left"]["bob"], "send_message", {"to": who.name, "content": "where are you?"})
    await nexus("join")
    await nexus("sit")
    await nexus("set_goal", {"goal": who.word()})
    await nexus("remember", {"text": who.word()})
    wishes = {"goals": [who.word()], "exit_conditions": [who.word(), "steps >= 500"]}
    spec = {"name": who.word(), "appearance": {"hair": who.word()}}
    await nexus("enter_game", {"game_id": "cave", "avatar_spec": spec, **wishes}, key=who.word())
    await there("exit_game", {"reason": who.word(), "remember": [who.word()]})
    await nexus("enter_game", {"game_id": "cave", **wishes})
    await refused(cave["hostess"], "add_member", {"id": who.name})
    return me, {**rooms["den"], "of the cave": cave["hostess"], "of the room left": rooms["left"]["bob"]}


async def replies(house: House, clients: Sequence[Client]) -> bytes:
    """What these members, and the operator, can read without naming anything. `audit` of the house is not asked: the
    house record is cleaned a little later."""
    operator, found = Client(house, "", "operator", house.operator_token()), []
    for client in (operator, *clients):
        for command in house.rooms[client.room].commands if client.room else house.commands:
            skipped = command.where == "world" or command.records or command.takes_wait_ms or command.name in SLOW
            if not skipped and not command.schema.get("required"):
                try:
                    found.append(await client(command.name) if client.room or command.name != "audit" else None)
                except CohabitError as no:
                    found.append(no.as_wire())
    return msgspec.json.encode(found, enc_hook=repr)


async def test_after_forget_me_nothing_of_a_person_is_found_in_any_file_or_reply(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    who, clock = Person(), FakeClock()
    async with open_house(tmp_path, clock=clock, trusted_worlds=f"{TRUSTED}, {CAVES}") as house:
        me, others = await lives(house, who)
        seen = who.traces_in(await replies(house, list(others.values())))
        assert {who.name, who.identity} < set(seen)
        assert len(traces(tmp_path, who)) > 20
        done = await me("forget_me", {"confirm": who.name})
        assert (done.cleaned, done.later, done.kept) == ([*ROOMS], ["house"], {})
        assert who.traces_in(await replies(house, list(others.values()))) == []
        await clock.advance(10_000)  # counts are stored, and the Nexus looks at its games
        await house.retention.sweep()
        assert traces(tmp_path, who) == [], "the house record was written again, too"
    async with open_house(tmp_path, clock=clock, trusted_worlds=f"{TRUSTED}, {CAVES}") as house:
        await house.retention.sweep()
        await clock.advance(10_000)
        assert not house.rooms.problems
        audit = await house.call(house.identify(house.operator_token()), None, "audit")
        assert audit.lines
        assert who.traces_in(msgspec.json.encode(audit)) == []
    assert traces(tmp_path, who) == []
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []


class Photographed(SQLiteStore):
    """Copies its folder before everything that it writes, as a house that is killed there leaves it."""

    images: Path | None = None
    taken = 0

    def _take(self) -> None:
        if self.images is not None:
            self.taken += 1
            shutil.copytree(self.folder, self.images / str(self.taken))

    def commit(self, writes: Sequence[Write]) -> None:
        self._take()
        super().commit(writes)

    def scrub(self) -> None:
        self._take()
        super().scrub()


async def test_a_house_killed_at_any_write_of_forget_me_has_deleted_nothing_or_deletes_the_rest_when_it_starts(
    tmp_path: Path,
) -> None:
    who, clock, folder = Person(), FakeClock(), tmp_path / "data"
    store = Photographed(folder)
    async with open_house(folder, clock=clock, store=store) as house:
        members = await make_room(house, BOB, HOST)
        me = await newcomer(members["hostess"], who.handle, kind="human", name=who.name)
        who.identity = house.identify(me.token).identity
        await talks(me, members, who)
        await house.rooms["den"].drained()
        before = list(store.lines("den", -1))
        store.images = tmp_path / "images"
        await me("forget_me", {"confirm": who.name})
        store.images = None
    outcomes = []
    for number in range(1, store.taken + 1):
        left = tmp_path / "images" / str(number)
        async with open_house(left, clock=FakeClock(clock.now())) as house:
            await house.retention.sweep()
            kept = house.store.lines("den", -1)
            if house.identities.get(who.identity) is not None:
                assert (await Client(house, "den", who.handle, me.token)("whoami")).handle == who.handle
                assert list(kept)[: len(before)] == before
                outcomes.append("nothing")
                continue
        assert traces(left, who) == [], f"killed before write {number} of {store.taken}"
        outcomes.append("everything")
    assert outcomes == sorted(outcomes, reverse=True)
    assert outcomes.count("nothing") >= 1
    assert outcomes.count("everything") >= 4


async def test_while_a_record_is_written_again_members_are_told_to_wait_and_others_learn_nothing(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, BOB, HOST)
        me = await newcomer(members["hostess"], "zoe", kind="human", name="Zoe")
        stranger = await issue(house, "stranger")
        calls: list[asyncio.Task[Any]] = []

        def closed(runner: object) -> None:
            calls.extend(asyncio.ensure_future(one("view")) for one in (members["bob"], stranger))

        house.rooms.on_closed = closed
        await me("forget_me", {"confirm": "Zoe"})
        told, hidden = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(told, Busy)
        assert told.details == {"retry_after_s": 5}
        assert isinstance(hidden, UnknownRoom)
        assert "does not exist or you have no access" in hidden.message
        assert (await members["bob"]("view")).text
        assert not house.rooms.problems


class Counting(MemoryStore):
    """Counts the records that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[str] = set()

    def lines(self, room: str, after: int, limit: int | None = None) -> list[Row]:
        self.read.add(room)
        return super().lines(room, after, limit)


async def test_seeing_and_deleting_data_reads_the_records_of_the_rooms_that_somebody_was_in_and_no_others() -> None:
    store = Counting()
    async with open_house(store=store) as house:
        for number in range(20):
            await make_room(house, BOB, HOST, room=f"other-{number}")
        members = await make_room(house, BOB, HOST)
        me = await newcomer(members["hostess"], "zoe", kind="human", name="Zoe")
        store.read.clear()
        await me("my_data")
        await me("forget_me", {"confirm": "Zoe"})
        assert store.read == {"den", "house"}


async def test_a_record_is_written_again_a_few_times_an_hour_and_the_rest_waits(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock) as house:
        members = await make_room(house, BOB, HOST)
        crowd = [await newcomer(members["hostess"], f"c{n}", kind="human", name=f"C{n}") for n in range(REWRITINGS + 1)]
        replies = [await one("forget_me", {"confirm": f"C{n}"}) for n, one in enumerate(crowd)]
        assert [one.cleaned for one in replies] == [["den"]] * REWRITINGS + [[]]
        assert "den" in replies[-1].later
        await house.retention.sweep()
        assert f'"C{REWRITINGS}"' in str(list(house.store.lines("den", -1)))
        await clock.advance(REWRITINGS_MS)
        await house.retention.sweep()
        assert f'"C{REWRITINGS}"' not in str(list(house.store.lines("den", -1)))
