"""Sound and screens between members: who may send and get them, and what happens to too many of them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.faces.serving import Served, served
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from cohabit.faces.serve import serve

AUDIO, SCREEN = b"\x01", b"\x02"
PEOPLE = [
    {"id": "pat", "kind": "human"}, {"id": "quin", "kind": "human"}, {"id": "eve"}, {"id": "bot", "role": "human"},
    {"id": "droid", "role": "human"},
]  # fmt: skip


@asynccontextmanager
async def lounge(**settings: Any) -> AsyncIterator[Served]:
    async with served(world="lounge", also=PEOPLE, **settings) as house:
        yield house


class Member:
    """A member on a raw WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    @classmethod
    @asynccontextmanager
    async def open(cls, house: Served, who: str, media: bool = True) -> "AsyncIterator[Member]":
        headers = {"authorization": f"Bearer {house.tokens[who]}"}
        async with connect(house.ws, additional_headers=headers) as socket:
            self = cls(socket)
            await self.call("subscribe", {"views": False, "media": media})
            yield self

    async def call(self, command: str, args: Any = None) -> Any:
        await self.socket.send(json.dumps({"id": 1, "command": command, "args": args or {}}))
        async with asyncio.timeout(120):
            while True:
                frame = await self.socket.recv()
                if isinstance(frame, str) and "id" in (reply := json.loads(frame)):
                    return reply

    async def until_synced(self) -> list[bytes]:
        """The media frames that have arrived: the house handles what it is sent in order."""
        await self.socket.send(json.dumps({"id": 2, "command": "whoami"}))
        found = []
        async with asyncio.timeout(120):
            while True:
                frame = await self.socket.recv()
                if isinstance(frame, bytes):
                    found.append(frame)
                elif json.loads(frame).get("id") == 2:
                    return found

    async def refusals(self) -> list[str]:
        await self.socket.send(json.dumps({"id": 3, "command": "whoami"}))
        found = []
        async with asyncio.timeout(120):
            while True:
                frame = await self.socket.recv()
                told = json.loads(frame) if isinstance(frame, str) else {}
                if told.get("push") == "refused":
                    found.append(told["error"]["code"])
                if told.get("id") == 3:
                    return found


def framed(lane: bytes, sender: str, payload: bytes) -> bytes:
    return lane + len(sender).to_bytes(2, "big") + sender.encode() + payload


async def audited(house: Served, who: str) -> list[tuple[str, str, int]]:
    refusals = (await house.act("hostess", "audit", {"member": who, "kinds": ["refusals"]})).lines
    return [(line.command, line.code, line.count) for line in refusals]


async def test_frames_reach_the_others_as_they_are_with_their_sender_and_are_not_recorded() -> None:
    async with lounge() as house, Member.open(house, "pat") as pat, Member.open(house, "quin") as quin:
        before = house.house.rooms["den"].room.record.seq
        payload = bytes(range(256)) * 20
        await pat.socket.send(AUDIO + payload)
        await pat.socket.send(SCREEN + b"\x89PNG")
        assert await pat.until_synced() == []  # nothing comes back to its sender
        assert await quin.until_synced() == [framed(AUDIO, "pat", payload), framed(SCREEN, "pat", b"\x89PNG")]
        assert house.house.rooms["den"].room.record.seq == before


async def test_each_lane_needs_its_own_capability_at_the_moment_of_delivery() -> None:
    async with (
        lounge() as house,
        Member.open(house, "pat") as pat,
        Member.open(house, "quin") as quin,
        Member.open(house, "eve") as eve,
    ):
        await house.act("hostess", "narrow", {"member": "quin", "may": ["hear_audio"]})
        await pat.socket.send(AUDIO + b"heard?")
        await pat.socket.send(SCREEN + b"seen?")
        await pat.until_synced()
        assert await quin.until_synced() == [framed(SCREEN, "pat", b"seen?")]
        assert await eve.until_synced() == []  # an agent gets neither by default
        await house.act("hostess", "widen", {"member": "eve", "may": ["hear_audio"]})
        await pat.socket.send(AUDIO + b"now")
        await pat.until_synced()
        assert await eve.until_synced() == [framed(AUDIO, "pat", b"now")]


async def test_sending_needs_speak_and_a_refused_frame_is_in_the_audit() -> None:
    async with lounge() as house, Member.open(house, "eve") as eve, Member.open(house, "quin") as quin:
        for _ in range(3):
            await eve.socket.send(AUDIO + b"sentinel")
        assert await eve.refusals() == ["PERMISSION_DENIED"]  # told once in a second
        assert await quin.until_synced() == []
        assert await audited(house, "eve") == [("audio", "PERMISSION_DENIED", 3)]


async def test_too_large_and_too_many_frames_are_dropped_and_in_the_audit() -> None:
    limits = {"media_frame_limit": 100, "media_frames_per_second": 4, "media_bytes_per_second": 200}
    async with lounge(**limits) as house, Member.open(house, "pat") as pat, Member.open(house, "quin") as quin:
        await pat.socket.send(AUDIO + bytes(100))
        assert await pat.refusals() == ["TOO_LARGE"]
        for number in range(6):
            await pat.socket.send(AUDIO + bytes([number]))
        await pat.until_synced()
        assert len(await quin.until_synced()) == 4
        await house.clock.advance(1000)
        for number in range(3):
            await pat.socket.send(AUDIO + bytes([number]) * 99)  # the largest, and two of them in a second
        await pat.until_synced()
        assert len(await quin.until_synced()) == 2
        assert sorted(await audited(house, "pat")) == [("audio", "BUSY", 3), ("audio", "TOO_LARGE", 1)]


async def test_agents_that_are_kept_apart_do_not_hear_each_other() -> None:
    async with (
        lounge() as house,
        Member.open(house, "bot") as bot,
        Member.open(house, "droid") as droid,
        Member.open(house, "pat") as pat,
    ):
        await house.act("hostess", "set_chat_limits", {"agents_apart": True})
        await bot.socket.send(AUDIO + b"beep")
        await bot.until_synced()
        assert await droid.until_synced() == []
        assert await pat.until_synced() == [framed(AUDIO, "bot", b"beep")]


async def test_without_media_in_the_subscription_nothing_is_sent_or_received() -> None:
    async with lounge() as house, Member.open(house, "pat", media=False) as pat, Member.open(house, "quin") as quin:
        await pat.socket.send(AUDIO + b"x")
        async with asyncio.timeout(120):
            reply = json.loads(await pat.socket.recv())
        assert (reply["id"], reply["error"]["code"]) == (None, "BAD_ARGS")
        await quin.socket.send(AUDIO + b"y")
        await quin.until_synced()
        assert await pat.until_synced() == []
        await quin.call("unsubscribe")
        await pat.call("subscribe", {"media": True})
        await pat.socket.send(AUDIO + b"z")
        await pat.until_synced()
        assert await quin.until_synced() == []


async def test_a_revoked_member_gets_no_further_frame() -> None:
    async with lounge() as house, Member.open(house, "pat") as pat, Member.open(house, "quin") as quin:
        await house.act("hostess", "remove_member", {"member": "quin"})
        await pat.socket.send(AUDIO + b"sentinel")
        await pat.until_synced()
        with pytest.raises(ConnectionClosedError, match="revoked"):
            while True:
                assert isinstance(await quin.socket.recv(), str)


async def test_a_revoked_token_sends_nothing_more_while_a_call_of_it_is_unanswered() -> None:
    async with lounge() as house, Member.open(house, "quin") as quin:
        operator = house.house.identify(house.house.operator_token())
        made = await house.house.call(operator, None, "issue_credential", {"name": "tom", "kind": "human"})
        for room, lobby in (("den", False), ("hall", True)):
            if room == "hall":
                await house.house.call(operator, None, "create_room", {"world": "lounge", "room": room})
            host = operator if room == "hall" else house.house.identify(house.tokens["hostess"])
            await house.house.call(host, room, "set_entry", {"open": True, "kind": "human", "lobby": lobby})
        await house.house.call(house.house.identify(made.token), "den", "join")
        async with connect(house.ws, additional_headers={"authorization": f"Bearer {made.token}"}) as socket:
            tom = Member(socket)
            subscribed = {"id": 1, "room": "den", "command": "subscribe", "args": {"media": True, "views": False}}
            joins = {"id": 4, "room": "hall", "command": "join", "args": {"wait_ms": 30_000}}
            await socket.send(json.dumps(subscribed))
            await socket.send(json.dumps(joins))
            await socket.send(AUDIO + b"before")
            await tom.until_synced()
            while not house.house.rooms["hall"].room.state.knocks:
                await asyncio.sleep(0.001)
            assert await quin.until_synced() == [framed(AUDIO, "tom", b"before")]
            await house.house.call(operator, None, "revoke_credential", {"name": "tom"})
            await socket.send(AUDIO + b"sentinel")
            audit, heard = house.house.rooms["den"].room.audit, list[bytes]()
            while not audit.kept and not heard:
                heard = await quin.until_synced()
            assert [(line.command, line.code) for line in audit.kept] == [("audio", "UNAUTHORIZED")]
            assert not heard


async def test_json_in_a_binary_frame_is_still_a_call() -> None:
    async with lounge() as house, Member.open(house, "pat") as pat:
        await pat.socket.send(json.dumps({"id": 9, "command": "whoami"}).encode())
        async with asyncio.timeout(120):
            assert json.loads(await pat.socket.recv())["result"]["handle"] == "pat"


async def test_a_reader_that_does_not_read_loses_frames_and_delays_nobody() -> None:
    limits = {
        "media_frames_per_second": 10_000,
        "media_bytes_per_second": 2**30,
        "media_frame_limit": 2**17,
        "frames_per_second": 10**6,
    }
    async with lounge(**limits) as house, Member.open(house, "pat") as pat, Member.open(house, "quin") as quin:
        slow_headers = {"authorization": f"Bearer {house.tokens['bot']}"}
        async with connect(house.ws, additional_headers=slow_headers, max_queue=1) as slow:
            await slow.send(json.dumps({"id": 1, "command": "subscribe", "args": {"views": False, "media": True}}))
            json.loads(await slow.recv())
            sent, by_quin = 400, []
            for number in range(sent):  # 40 MB, more than the buffers of a connection hold
                await pat.socket.send(SCREEN + number.to_bytes(4, "big") + bytes(100_000))
                await pat.until_synced()
                by_quin += await quin.until_synced()
            assert len(by_quin) == sent
            await slow.send(json.dumps({"id": 2, "command": "whoami"}))
            got = []
            async with asyncio.timeout(120):
                while True:
                    frame = await slow.recv()
                    if isinstance(frame, str):
                        break
                    got.append(int.from_bytes(frame[6:10], "big"))
            assert 0 < len(got) < sent
            assert got == sorted(got)


@pytest.mark.parametrize("frame", [AUDIO, SCREEN])
async def test_an_empty_payload_is_relayed(frame: bytes) -> None:
    async with lounge() as house, Member.open(house, "pat") as pat, Member.open(house, "quin") as quin:
        await pat.socket.send(frame)
        await pat.until_synced()
        assert await quin.until_synced() == [framed(frame, "pat", b"")]


async def test_behind_another_server_frames_are_relayed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(serve.__globals__, "DirectProtocol", "websockets-sansio")
    async with lounge() as house, Member.open(house, "pat") as pat, Member.open(house, "quin") as quin:
        await pat.socket.send(AUDIO + bytes(70_000))
        await pat.until_synced()
        assert await quin.until_synced() == [framed(AUDIO, "pat", bytes(70_000))]
