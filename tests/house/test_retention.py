"""How long a house keeps rooms that are over, refused calls and transcripts; by the clock of the house."""

import logging
import os
from pathlib import Path

import pytest

from cohabit.errors import PermissionDenied, UnknownRoom
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, HOST, Client, back_again, issue, make_room, open_house

HOUR_MS = 3_600_000
HOUR = 1 / 24
"""In days, as the settings have it."""


async def test_a_room_that_is_over_is_deleted_after_the_term_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock, keep_rooms_days=2 * HOUR) as house:
        members = await make_room(house, room="old")
        await members["ann"]("send_message", {"to": "bob", "content": "a text to look for"})
        await make_room(house, room="running")
        await members["hostess"]("archive")
        await clock.advance(HOUR_MS)
        assert "old" in house.rooms
        with caplog.at_level(logging.INFO):
            await clock.advance(HOUR_MS)
            await house.retention.sweep()
        assert set(house.rooms) == {"running"}
        assert "room old was deleted" in caplog.text
        assert "old" not in house.store.rooms()
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert [path.name for path in files if b"a text to look for" in path.read_bytes()] == []


async def test_a_room_that_is_watched_active_or_about_to_begin_again_is_never_deleted() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, keep_rooms_days=HOUR) as house:
        watched = await make_room(house, room="watched")
        await watched["hostess"]("archive")
        reader = await watched["bob"].reader()
        await make_room(house, ANN, BOB, HOST, room="active")
        await clock.advance(2 * HOUR_MS)
        await house.retention.sweep()
        assert set(house.rooms) == {"watched", "active"}
        reader.sub.close()
        await clock.advance(2 * HOUR_MS)
        await house.retention.sweep()
        assert set(house.rooms) == {"active"}


async def test_without_the_settings_everything_is_kept() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        members = await make_room(house, room="old")
        await members["hostess"]("archive")
        await clock.advance(2 * HOUR_MS)
        await house.retention.sweep()
        assert set(house.rooms) == {"old"}


async def test_refused_calls_leave_the_audit_after_the_term_and_their_numbers_go_on(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock, keep_audit_days=HOUR) as house:
        members = await make_room(house)
        for command in ("archive", "reset", "mute"):
            with pytest.raises(PermissionDenied):
                await members["ann"](command, {"member": "bob"} if command == "mute" else None)
            await clock.advance(120_000)
        await clock.advance(2 * HOUR_MS)
        await house.retention.sweep()
        kept = (await members["hostess"]("audit", {"kinds": ["refusals"]})).lines
        assert kept == []
        assert [line.command for line in house.store.refusals("den")] == ["mute"]
        with pytest.raises(PermissionDenied):
            await members["ann"]("archive")
        assert house.rooms["den"].room.audit.kept[-1].id == 4
    async with open_house(tmp_path, clock=clock) as house:  # without the term; the record still has them
        host = back_again(house, members)["hostess"]
        shown = (await host("audit", {"kinds": ["refusals"]})).lines
        assert [line.command for line in shown] == ["archive"]


async def test_transcripts_and_memories_are_deleted_after_the_term(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock, keep_transcripts_days=7) as house:
        old, new = tmp_path / "agents" / "old", tmp_path / "agents" / "new"
        for folder, days in ((old, 8), (new, 6)):
            folder.mkdir(parents=True)
            (folder / "transcript.jsonl").write_text("{}\n")
            then = clock.now() / 1000 - days * 86_400
            os.utime(folder / "transcript.jsonl", (then, then))
        await house.retention.sweep()
        assert not old.exists()
        assert (new / "transcript.jsonl").exists()


@pytest.mark.parametrize("over", ["archived", "brought back and archived", "played to its end"])
async def test_the_age_of_a_room_counts_from_what_somebody_last_did_in_it_whatever_the_house_does(
    tmp_path: Path, over: str
) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock) as house:
        members = await make_room(house, world="nim", config={"stones": 1})
        reader = await members["bob"].reader()
        await clock.advance(1_000)  # bob is here
        if over == "played to its end":
            await members["ann"]("take", {"n": 1})
        else:
            await members["hostess"]("archive")
        if over == "brought back and archived":
            await clock.advance(HOUR_MS)
            await members["hostess"]("unarchive")
            await members["hostess"]("archive")
        zoe = await issue(house, "zoe")
        reader.sub.close()
        house.store.backup(str(tmp_path / "copy.db"))
    restored = tmp_path / "restored"
    restored.mkdir()
    (tmp_path / "copy.db").rename(restored / "cohabit.db")
    for folder, at in ((tmp_path, clock), (restored, FakeClock(clock.now()))):
        for _ in range(2):
            await at.advance(HOUR_MS // 2 - 1)
            async with open_house(folder, clock=at, keep_rooms_days=HOUR) as house:
                with pytest.raises(UnknownRoom):
                    await Client(house, "den", "zoe", zoe.token)("view")
                await house.retention.sweep()
                assert set(house.rooms) == {"den"}
        await at.advance(2)
        async with open_house(folder, clock=at, keep_rooms_days=HOUR) as house:
            await house.retention.sweep()
            assert set(house.rooms) == set()
