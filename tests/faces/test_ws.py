"""The WebSocket interface over a real socket: authentication, answers, and which member gets which push."""

import asyncio
import itertools
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import ConnectionClosed

from cohabit.client import connect_url
from cohabit.errors import Conflict, UnknownRoom
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from .serving import Served, listening, served


class Talk:
    """A client that keeps what it was pushed while it waits for its answers."""

    def __init__(self, ws: ClientConnection) -> None:
        self.ws = ws
        self.pushes: list[dict[str, Any]] = []
        self._ids = itertools.count(1)

    async def say(self, **frame: Any) -> None:
        await self.ws.send(json.dumps(frame))

    async def frame(self) -> dict[str, Any]:
        """The next answer; pushes on the way are kept."""
        while "push" in (frame := json.loads(await self.ws.recv())):
            self.pushes.append(frame)
        return frame

    async def ask(self, command: str, args: Any = None, **more: Any) -> dict[str, Any]:
        number = f"call {next(self._ids)}"
        await self.say(id=number, command=command, args=args, **more)
        answer = await self.frame()
        assert answer["id"] == number
        return answer

    async def got(self, command: str, args: Any = None, **more: Any) -> Any:
        answer = await self.ask(command, args, **more)
        assert answer["ok"], answer
        return answer["result"]

    async def refused(self, command: str, args: Any = None, **more: Any) -> str:
        return (await self.ask(command, args, **more))["error"]["code"]

    def items(self) -> list[dict[str, Any]]:
        return [item for push in self.pushes if push["push"] == "events" for item in push["items"]]

    def numbers(self) -> list[int]:
        """Of what ann hid, and of numbered messages, in the order in which we were told."""
        found = (re.search(r"(?:keeps|number) (\d+)", json.dumps(item)) for item in self.items())
        return [int(match[1]) for match in found if match]

    def cursor(self) -> str:
        return [push["cursor"] for push in self.pushes if push["push"] == "events"][-1]

    async def until_closed(self) -> tuple[dict[str, Any], int | None]:
        """The last answer before the house hung up, and the code of the hanging up."""
        last: dict[str, Any] = {}
        try:
            while True:
                last = await self.frame()
        except ConnectionClosed as closed:
            assert closed.rcvd is not None
            return last, closed.rcvd.code


@asynccontextmanager
async def talk(den: Served, who: str | None = None, **how: Any) -> AsyncIterator[Talk]:
    headers = {"authorization": f"Bearer {den.tokens[who]}"} if who else {}
    async with ws_connect(den.ws, additional_headers=headers, **how) as ws:
        yield Talk(ws)


@pytest.fixture
async def den() -> AsyncIterator[Served]:
    async with served() as house:
        yield house


# -- coming in ----------------------------------------------------------------------------------
async def test_a_token_is_taken_from_a_header_from_a_subprotocol_and_from_the_first_frame(den: Served) -> None:
    token = den.tokens["ann"]
    async with talk(den, "ann") as me:
        assert (await me.got("whoami"))["handle"] == "ann"
    async with talk(den, subprotocols=["cohabit", f"bearer.{token}"]) as me:
        assert me.ws.subprotocol == "cohabit"  # the token is not repeated
        assert (await me.got("whoami"))["handle"] == "ann"
    async with talk(den) as me:
        await me.say(id="first", auth=token)
        assert await me.frame() == {"id": "first", "ok": True, "result": {"authenticated": True}}
        assert (await me.got("whoami"))["handle"] == "ann"


@pytest.mark.parametrize("first", [{"auth": "x" * 48}, {"id": 1, "command": "whoami"}, {"auth": ""}], ids=str)
async def test_a_first_frame_without_a_good_token_ends_the_connection(den: Served, first: dict[str, Any]) -> None:
    async with talk(den) as me:
        await me.say(**first)
        last, code = await me.until_closed()
    assert (last["error"]["code"], code) == ("UNAUTHORIZED", 4401)
    assert "xxxx" not in json.dumps(last)


async def test_a_wrong_token_in_a_header_is_not_rescued_by_a_first_frame(den: Served) -> None:
    den.tokens["nobody"] = "x" * 48
    async with talk(den, "nobody") as me:
        last, code = await me.until_closed()
    assert (last["error"]["code"], code) == ("UNAUTHORIZED", 4401)


async def test_a_connection_without_a_token_is_closed_after_a_timeout(den: Served) -> None:
    async with talk(den) as me:
        await den.clock.advance(10_000)
        last, code = await me.until_closed()
    assert (last["error"]["code"], code) == ("UNAUTHORIZED", 4401)


async def test_a_connection_with_a_token_stays_open_after_the_timeout(den: Served) -> None:
    async with talk(den) as me:
        await me.say(auth=den.tokens["ann"])
        assert (await me.frame())["ok"]
        await den.clock.advance(20_000)
        assert (await me.got("whoami"))["handle"] == "ann"


async def test_the_number_of_connections_per_member_is_limited() -> None:
    async with served(connections_per_member=2) as den:
        async with talk(den, "ann") as one, talk(den, "ann") as two:
            assert (await one.got("whoami"))["handle"] == "ann"
            assert (await two.got("whoami"))["handle"] == "ann"
            async with talk(den, "ann") as three:
                last, code = await three.until_closed()
            assert (last["error"]["code"], code) == ("BUSY", 4408)
            async with talk(den, "bob") as other:
                assert (await other.got("whoami"))["handle"] == "bob"
        answer: dict[str, Any] = {"ok": False}
        while not answer["ok"]:  # the house may notice a little later that they went
            async with talk(den, "ann") as again:
                await again.say(id=1, command="whoami")
                answer = await again.frame()


# -- frames -------------------------------------------------------------------------------------
MALFORMED = [
    "", "{", "[]", "1", "null", '{"command": 1}', '{"command": "whoami", "args": []}', '{"id": {}, "command": "whoami"}',
    '{"id": 1.5}', '{"command": "whoami", "room": 5}', "[" * 10_000, '{"args":' * 10_000, b"\xff\xfe", b'{"id": "\xff"}',
]  # fmt: skip


async def test_a_malformed_frame_is_bad_args_and_the_connection_stays_open(den: Served) -> None:
    async with talk(den, "ann") as me:
        for frame in MALFORMED:
            await me.ws.send(frame)
            answer = await me.frame()
            assert (answer["id"], answer["ok"], answer["error"]["code"]) == (None, False, "BAD_ARGS"), frame
        await me.ws.send(b'{"id": 7, "command": "whoami"}')  # bytes are taken as text
        assert (await me.frame())["result"]["handle"] == "ann"


async def test_a_malformed_call_is_refused_with_its_id_if_that_can_be_read(den: Served) -> None:
    async with talk(den, "ann") as me:
        for number in (7, "seven"):
            for wrong in ({"args": []}, {"command": 1}, {"room": 5}, {"key": 0}):
                await me.say(id=number, **{"command": "whoami", **wrong})
                answer = await me.frame()
                assert (answer["id"], answer["error"]["code"]) == (number, "BAD_ARGS")


async def test_a_text_frame_that_is_no_text_ends_that_connection_only(den: Served) -> None:
    async with talk(den, "ann") as me, talk(den, "ann") as other:
        await me.ws.send(b"\xff", text=True)
        assert (await me.until_closed())[1] == 1007
        assert (await other.got("whoami"))["handle"] == "ann"


@pytest.mark.parametrize("frame", ["x" * 2_001, b"x" * 2_001, "ü" * 1_001], ids=["text", "bytes", "in bytes"])
async def test_a_frame_over_the_limit_ends_that_connection_only(frame: str | bytes) -> None:
    async with served(frame_limit=2_000) as den, talk(den, "ann") as me, talk(den, "ann") as other:
        await me.ws.send(frame)
        assert (await me.until_closed())[1] == 1009
        assert (await other.got("whoami"))["handle"] == "ann"


async def test_unknown_commands_and_rooms_are_refused_with_the_id_of_the_call(den: Served) -> None:
    async with talk(den, "ann") as me:
        assert await me.refused("nonsense") == "UNKNOWN_COMMAND"
        assert await me.refused("whoami", room="nowhere") == "UNKNOWN_ROOM"
        assert await me.refused("subscribe", room="nowhere") == "UNKNOWN_ROOM"
        assert await me.refused("hide", {"n": "one"}) == "BAD_ARGS"
        assert await me.refused("subscribe", {"from": 1}) == "BAD_ARGS"
        assert await me.refused("") == "UNKNOWN_COMMAND"


async def test_a_key_makes_a_call_happen_once(den: Served) -> None:
    async with talk(den, "ann") as me:
        first = await me.got("hide", {"n": 5}, key="one")
        assert await me.got("hide", {"n": 5}, key="one") == first
        assert await me.refused("hide", {"n": 6}, key="one") == "CONFLICT"
    assert den.house.rooms["den"].room.world.kept["red"] == [5]


async def test_calls_in_flight_are_each_answered_by_their_id(den: Served) -> None:
    async with talk(den, "ann") as me:
        asked = {i if i % 2 else f"no. {i}": i for i in range(40)}
        for number, n in asked.items():
            command = {"command": "rooms"} if n % 5 == 0 else {"command": "hide", "args": {"n": n}}
            await me.say(id=number, **command)
        answers = {answer["id"]: answer for answer in [await me.frame() for _ in asked]}
    assert answers.keys() == asked.keys()
    for number, n in asked.items():
        said = json.dumps(answers[number]["result"])
        assert ("rooms" in said) if n % 5 == 0 else (f"you keep {n}" in said)


async def test_calls_that_wait_do_not_hold_up_others_on_the_connection(den: Served) -> None:
    async with talk(den, "ann") as me:
        cursor = (await me.got("events", {"max": 500}))["cursor"]
        await me.say(id="mail", command="recv_messages", args={"wait_ms": 30_000})
        await me.say(id="news", command="events", args={"wait_ms": 30_000, "cursor": cursor})
        assert (await me.got("whoami"))["handle"] == "ann"
        assert (await me.got("rooms"))["rooms"]
        await den.act("bob", "send_message", {"to": "ann", "content": "wake up"})
        answers = [await me.frame(), await me.frame()]
    assert {answer["id"] for answer in answers} == {"mail", "news"}
    assert all("wake up" in json.dumps(answer["result"]) for answer in answers)


async def test_waiting_for_a_turn_as_long_as_it_goes_by_itself_does_not_hold_up_others() -> None:
    async with served(world="nim") as den, talk(den, "ann") as ann, talk(den, "bob") as bob:
        first, second = (ann, bob) if (await ann.got("whoami"))["your_turn"] else (bob, ann)
        await second.say(id="turn", command="wait_for_turn")
        assert not (await second.got("whoami"))["your_turn"]
        await first.got("take", {"n": 1})
        answer = await second.frame()
        assert (answer["id"], answer["result"]["your_turn"]) == ("turn", True)


# -- pushes -------------------------------------------------------------------------------------
async def test_a_cursor_gives_every_event_once_and_in_order_across_a_new_connection(den: Served) -> None:
    numbers: list[int] = []
    cursor, n = "", 0
    for _ in range(4):
        async with talk(den, "ann") as me:
            await me.got("subscribe", {"cursor": cursor, "views": False})
            for _ in range(5):  # while it listens
                await den.act("ann", "hide", {"n": n})
                n += 1
            await me.got("whoami")
            numbers += me.numbers()
            cursor = me.cursor()
        for _ in range(3):  # while it does not
            await den.act("ann", "hide", {"n": n})
            n += 1
    assert numbers == list(range(29))


async def test_a_cursor_gives_every_event_once_and_in_order_across_a_restart_of_the_house(tmp_path: Path) -> None:
    async with served(tmp_path) as den, talk(den, "ann") as me:
        await me.got("subscribe", {"cursor": ""})
        for n in range(4):
            await den.act("ann", "hide", {"n": n})
        await me.got("whoami")
        numbers, cursor, tokens = me.numbers(), me.cursor(), den.tokens
        for n in range(4, 7):  # not read by anybody
            await den.act("ann", "hide", {"n": n})
    async with served(tmp_path, tokens, recent_entries=2) as den, talk(den, "ann") as me:
        await me.got("subscribe", {"cursor": cursor})
        await den.act("ann", "hide", {"n": 7})
        await me.got("whoami")
        assert numbers + me.numbers() == list(range(8))


async def test_a_long_backlog_comes_in_pages_and_joins_what_happens_meanwhile(den: Served) -> None:
    for n in range(450):
        await den.act("ann", "hide", {"n": n})
    async with talk(den, "ann") as me:
        await me.say(id="sub", command="subscribe", args={"cursor": ""})
        for n in range(450, 500):
            await den.act("ann", "hide", {"n": n})
        assert (await me.frame())["id"] == "sub"
        await me.got("whoami")
        assert me.numbers() == list(range(500))
        assert len([push for push in me.pushes if push["push"] == "events"]) >= 3


async def test_nothing_is_pushed_that_a_member_may_not_see(den: Served) -> None:
    async with talk(den, "bob") as bob, talk(den, "ann") as ann:
        for me in (bob, ann):
            await me.got("subscribe", {"cursor": ""})
        await den.act("ann", "hide", {"n": 31337})
        await den.act("hostess", "send_message", {"to": "ann", "content": "only for you"})
        await den.act("hostess", "send_message", {"to": "*", "content": "for everybody"})
        for me in (bob, ann):
            await me.got("whoami")
        assert all(words in json.dumps(ann.pushes) for words in ("31337", "only for you", "for everybody"))
        assert "for everybody" in json.dumps(bob.pushes)
        assert not any(words in json.dumps(bob.pushes) for words in ("31337", "only for you"))
    async with talk(den, "bob") as bob:  # nor from the backlog
        await bob.got("subscribe", {"cursor": ""})
        await bob.got("whoami")
        assert "for everybody" in json.dumps(bob.pushes)
        assert not any(words in json.dumps(bob.pushes) for words in ("31337", "only for you"))


async def test_the_views_that_are_pushed_are_through_ones_own_eyes_in_the_fog() -> None:
    async with (
        served(world="lanterns", also=[{"id": "zeus", "role": "god"}]) as den,
        talk(den, "ann") as ann,
        talk(den, "bob") as bob,
        talk(den, "zeus") as zeus,
    ):
        everybody = (ann, bob, zeus)
        for me in everybody:
            await me.got("subscribe")
        room = den.house.rooms["den"].room
        seat = next(seat for seat in room.state.seats if seat.id == room.state.members["ann"].seat)
        for _ in range(5):
            step = next(action for action in room.world.legal(seat) if action.name == "walk")
            await den.act("ann", "walk", step.parameters)
            await den.clock.advance(400)
        for me in everybody:
            now = await me.got("view")
            assert _texts(me)[-1] == now["text"].removesuffix(f"\nThis is view {now['id']}.")
            assert len(_texts(me)) > 2
        assert '"keeper"' in json.dumps(zeus.pushes)  # a god sees all
        assert not any('"keeper"' in json.dumps(me.pushes) for me in (ann, bob))  # they are far from each other


def _texts(me: Talk) -> list[str]:
    return [push["view"]["text"] for push in me.pushes if push["push"] == "view"]


async def test_with_views_the_last_one_is_how_it_is_now_and_without_there_are_none(den: Served) -> None:
    async with talk(den, "ann") as me, talk(den, "ann") as other:
        await me.got("subscribe")
        await other.got("subscribe", {"views": False})
        for n in range(3):
            await den.act("ann", "hide", {"n": n})
        now = (await me.got("view"))["text"]
        await other.got("whoami")
        assert _texts(me)[-1] == now
        assert len(_texts(me)) == 4  # one to start with
        assert not _texts(other)
        assert other.numbers() == [0, 1, 2]


@pytest.mark.parametrize("cursor", ["zz", "f" * 16, "-00000000000000f", "0" * 16, "1234", " " * 16])
async def test_a_made_up_cursor_is_bad_args_and_leaves_no_subscription(den: Served, cursor: str) -> None:
    async with talk(den, "ann") as me:
        assert await me.refused("subscribe", {"cursor": cursor}) == "BAD_ARGS"
        assert await me.refused("events", {"cursor": cursor}) == "BAD_ARGS"
        assert len(den.house.rooms["den"].fanout) == 0
        await den.act("ann", "hide", {"n": 1})
        await me.got("whoami")
        assert me.pushes == []
        await me.got("subscribe", {"cursor": ""})
        await me.got("whoami")
        assert me.numbers() == [1]


async def test_after_unsubscribing_nothing_more_is_pushed(den: Served) -> None:
    async with talk(den, "ann") as me:
        await me.got("subscribe")
        await me.got("subscribe")  # a second one takes the place of the first
        await den.act("ann", "hide", {"n": 1})
        assert await me.got("unsubscribe") == {"room": "den"}
        await den.act("ann", "hide", {"n": 2})
        assert await me.got("unsubscribe") == {"room": "den"}
        assert me.numbers() == [1]
        assert len(den.house.rooms["den"].fanout) == 0


async def test_a_client_that_subscribes_again_ends_its_first_subscription_and_keeps_the_second(den: Served) -> None:
    async with connect_url(den.url, den.tokens["ann"]) as me:
        first, second = me.subscribe(cursor="", views=False), me.subscribe(cursor="", views=False)
        await den.act("ann", "hide", {"n": 1})
        assert "keeps 1" in str(await anext(first))
        with pytest.raises(UnknownRoom):
            await anext(me.subscribe(room="nowhere"))
        await den.act("ann", "hide", {"n": 2})
        assert "keeps 2" in str(await anext(first)), "a subscription that was refused replaces none"
        assert "keeps 2" in str(await anext(second)), "from the beginning"
        with pytest.raises(Conflict, match="another subscription to this room"):
            await anext(first)
        await den.act("ann", "hide", {"n": 3})
        assert "keeps 3" in str(await anext(second))
        await second.aclose()
        assert len(den.house.rooms["den"].fanout) == 0


async def _steps(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_leaving_a_subscription_at_any_moment_does_not_end_the_next_one(den: Served) -> None:
    await den.act("ann", "hide", {"n": 0})
    for moment in range(12):
        async with connect_url(den.url, den.tokens["ann"]) as me:
            first, second = me.subscribe(cursor="", views=False), me.subscribe(cursor="", views=False)
            await anext(first)
            begun = asyncio.create_task(anext(second))
            await _steps(moment)
            await first.aclose()
            await begun
            await den.act("ann", "hide", {"n": moment + 1})
            assert f"keeps {moment + 1}" in str(await anext(second)), moment


async def test_a_subscription_that_is_cancelled_at_any_moment_is_none_of_the_house(den: Served) -> None:
    await den.act("ann", "hide", {"n": 0})
    async with connect_url(den.url, den.tokens["ann"]) as me:
        for moment in range(12):
            pushes = me.subscribe(cursor="")
            begun = asyncio.create_task(anext(pushes))
            await _steps(moment)
            begun.cancel()
            await asyncio.gather(begun, return_exceptions=True)
            await pushes.aclose()
            assert len(den.house.rooms["den"].fanout) == 0, moment


async def test_a_connection_that_ends_while_it_subscribes_leaves_no_subscription(den: Served) -> None:
    await den.act("ann", "hide", {"n": 0})
    for moment in range(40):
        async with connect_url(den.url, den.tokens["ann"]) as me:
            begun = asyncio.create_task(anext(me.subscribe(cursor="")))
            await _steps(moment)
        await asyncio.gather(begun, return_exceptions=True)
    async with talk(den, "bob") as other:  # the house needs a few turns to notice
        for _ in range(200):
            await other.got("whoami")
    assert len(den.house.rooms["den"].fanout) == 0


# -- being disconnected -------------------------------------------------------------------------
async def test_a_revoked_token_ends_the_connection_without_another_word(den: Served) -> None:
    async with talk(den, "ann") as me, talk(den, "ann") as quiet, talk(den, "bob") as other:
        for client in (me, other):
            await client.got("subscribe")
        assert (await quiet.got("whoami"))["handle"] == "ann"
        await den.act("hostess", "revoke_token", {"member": "ann"})
        await den.act("hostess", "send_message", {"to": "*", "content": "is she gone?"})
        await den.clock.advance(1_000)
        last, code = await me.until_closed()
        assert (last["error"]["code"], code) == ("UNAUTHORIZED", 4401)
        assert "is she gone" not in json.dumps(me.pushes)
        last, code = await quiet.until_closed()
        assert (last["error"]["code"], code) == ("UNAUTHORIZED", 4401)
        await other.got("whoami")
        assert "is she gone" in json.dumps(other.pushes)


async def test_a_slow_reader_is_disconnected_without_a_gap_and_nobody_else_notices() -> None:
    count = 700
    async with served(outbox_limit=5) as den, talk(den, "bob") as bob:
        port = int(den.url.rsplit(":", 1)[1])
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        narrow.setblocking(False)
        await asyncio.get_running_loop().sock_connect(narrow, ("127.0.0.1", port))
        async with talk(den, "ann", sock=narrow, max_queue=1) as ann:
            await ann.got("subscribe", {"cursor": "", "views": False})
            await bob.got("subscribe", {"cursor": "", "views": False})
            reading = asyncio.ensure_future(bob.until_closed())
            for n in range(count):  # and ann does not read
                await den.act("hostess", "send_message", {"to": "*", "content": f"number {n} " + "x" * 15_000})
            while len(bob.numbers()) < count:
                await asyncio.sleep(0)
            assert bob.numbers() == list(range(count))
            reading.cancel()
            last, code = await ann.until_closed()
            assert (last["error"]["code"], code) == ("BUSY", 4408)
            had = ann.numbers()
            assert had == list(range(len(had)))
            assert len(had) < count
        async with talk(den, "ann", max_size=None) as again:
            await again.got("subscribe", {"cursor": ann.cursor(), "views": False})
            while len(had) + len(again.numbers()) < count:
                again.pushes.append(json.loads(await again.ws.recv()))
            assert had + again.numbers() == list(range(count))


# -- leaving --------------------------------------------------------------------------------------
class HeldStore(MemoryStore):
    """A store of which each commit waits for a permit while ``held`` is set."""

    held = False

    def __init__(self) -> None:
        super().__init__()
        self.permits = threading.Semaphore(0)

    def commit(self, writes: Sequence[Write]) -> None:
        if self.held:
            self.permits.acquire()
        super().commit(writes)


@asynccontextmanager
async def leaving(store: HeldStore) -> AsyncIterator[Talk]:
    """Ann has subscribed, and her ``leave`` has run while an entry before it was being written. That is stored now,
    and her leaving is not."""
    async with House.open(Settings(port=0), store=store, clock=FakeClock()) as house:
        _, tokens = await house.create_room(
            parse_scenario(
                json.dumps(
                    {"world": "lounge", "agents": [{"id": "ann"}, {"id": "hostess", "role": "host", "kind": "human"}]}
                )
            ),
            "den",
        )
        async with listening(house) as url:
            den = Served(house, FakeClock(), url, tokens)
            async with talk(den, "ann") as me:
                await me.got("subscribe")
                await den.act("hostess", "say", {"text": "hello"})
                store.held = True
                saying = asyncio.ensure_future(den.act("hostess", "say", {"text": "bye"}))
                await asyncio.sleep(0)
                await me.say(id="leave", command="leave")
                while "ann" in {member.handle for member in house.rooms["den"].room.state.members.values()}:
                    await asyncio.sleep(0.001)
                store.permits.release()
                await saying
                try:
                    yield me
                finally:
                    store.held = False
                    store.permits.release(100)


async def test_who_leaves_gets_the_reply_before_the_connection_ends() -> None:
    store = HeldStore()
    async with leaving(store) as me:
        store.permits.release()
        answer = await me.frame()
        assert (answer["id"], answer["ok"]) == ("leave", True), answer
        last, code = await me.until_closed()
        assert (last["error"]["code"], code) == ("UNAUTHORIZED", 4401)


async def test_who_deletes_its_data_gets_the_reply_before_the_connection_ends(den: Served) -> None:
    async with talk(den, "ann") as me:
        await me.got("subscribe")
        assert (await me.got("forget_me", {"confirm": "ann"}))["cleaned"] == ["den"]
        assert (await me.until_closed())[1] == 4401
