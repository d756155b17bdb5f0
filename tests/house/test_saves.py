"""Named saves: whole, in the store, and nothing else."""

import asyncio
import json
import re
import threading
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit import saves as save_files
from cohabit.errors import BadArgs, CohabitError, Disabled, GameRejected, PermissionDenied, TurnNotYours
from cohabit.house.commands import HOUSE_COMMANDS
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.seat import Seat
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

AGENTS = [
    {"id": "ann", "role": "player", "claim": "auto:0"},
    {"id": "bob", "role": "player", "claim": "auto:1"},
    {"id": "zeus", "role": "god"},
]


class Den:
    """A house with one room, and calls by any of its members."""

    def __init__(self, house: House, tokens: dict[str, str], room: str) -> None:
        self.house, self.tokens, self.room = house, tokens, room

    async def ask(self, who: str, command: str, **args: Any) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), self.room, command, args)

    @property
    def world(self) -> Any:
        return self.house.rooms[self.room].room.world


async def den(house: House, world: str = "nim", room: str = "den", **more: Any) -> Den:
    text = json.dumps({"world": world, "agents": AGENTS, **more})
    _, tokens = await house.create_room(parse_scenario(text), room, seed=3)
    return Den(house, tokens, room)


def opened(folder: Path | None) -> Any:
    return House.open(Settings(data=str(folder) if folder else ""), clock=FakeClock())


async def test_a_world_is_saved_under_a_name_and_loaded_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        here = await den(house)
        saved = await here.ask("zeus", "save_world", name="before the end")
        assert (saved.saved, saved.compressed) == (True, True)
        before = here.world.snapshot()
        await here.ask("ann", "take", n=2)
        assert here.world.snapshot() != before
        loaded = await here.ask("zeus", "load_world", name="before the end")
        assert (loaded.loaded, loaded.name, loaded.bytes) == (True, "before the end", saved.bytes)
        assert here.world.snapshot() == before
        assert (await here.ask("zeus", "list_saves")).items == ["before the end"]
        rows = list(house.store.lines("den", -1))
        assert Room.replay(read_lines(rows, -1, GENESIS), make_world).digest() == house.rooms["den"].room.digest()


@pytest.mark.parametrize("compress", [True, False])
async def test_the_bytes_of_a_save_can_be_loaded_in_another_room(tmp_path: Path, compress: bool) -> None:
    async with opened(tmp_path) as house:
        one, other = await den(house), await den(house, room="other")
        await one.ask("ann", "take", n=3)
        await one.ask("zeus", "save_world", name="a/b/c/d", compress=compress)
        data = house.store.save("den", "a/b/c/d")
        loaded = await other.ask("zeus", "load_world", bytes_b64=b64encode(data).decode(), name="does not count")
        assert (loaded.loaded, loaded.name) == (True, None)
        assert one.world.snapshot() == other.world.snapshot()


BAD_NAMES = [
    "", " ", ".", "..", "../x", "a/../../x", "/etc/passwd", "C:x", "a\\b", "a//b", "a/", "\x00", "a/b/c/d/e", "x" * 65, ".hidden",
    "~root", "$HOME", "a\nb",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_no_name_leads_out_of_the_saves_of_the_room(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path) as house:
        here = await den(house)
        before = sorted(tmp_path.rglob("*"))
        for command in ("save_world", "load_world"):
            with pytest.raises(BadArgs):
                await here.ask("zeus", command, name=name)
        assert sorted(tmp_path.rglob("*")) == before
        assert (await here.ask("zeus", "list_saves")).items == []


@pytest.mark.parametrize("world", ["nim", "lanterns", "kingdoms"])
async def test_a_damaged_save_is_refused_and_nothing_changes(tmp_path: Path, world: str) -> None:
    async with opened(tmp_path) as house:
        here = await den(house, world, config={"zones_x": 2, "zones_y": 2} if world == "kingdoms" else {})
        await here.ask("zeus", "save_world", name="good")
        data = house.store.save("den", "good")
        before, seq = here.world.snapshot(), house.rooms["den"].room.record.seq
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 1
        for bad in (b"", data[:-1], data[:20], data + b"x", bytes(flipped), b"not a save", b64decode("AAAA") * 50):
            with pytest.raises(GameRejected):
                await here.ask("zeus", "load_world", bytes_b64=b64encode(bad).decode())
        with pytest.raises(BadArgs):
            await here.ask("zeus", "load_world", bytes_b64="%%%")
        with pytest.raises(BadArgs):
            await here.ask("zeus", "load_world")
        with pytest.raises(BadArgs):
            await here.ask("zeus", "load_world", name="never saved")
        assert (here.world.snapshot(), house.rooms["den"].room.record.seq) == (before, seq)
        await here.ask("zeus", "load_world", name="good")


def test_a_save_whose_body_was_changed_is_refused_also_if_the_world_could_load_it() -> None:
    world, seats = make_world("nim", {}), [Seat("p0", "p0"), Seat("p1", "p1")]
    world.reset(1, seats)
    before, data = world.snapshot(), save_files.pack(world, compress=False)
    changed = data.replace(b'"stones":20', b'"stones":19')
    assert changed != data
    with pytest.raises(GameRejected, match="it is damaged"):
        save_files.load(world, changed)
    assert world.snapshot() == before
    save_files.load(world, data)


async def test_a_save_of_another_world_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        nim, lanterns = await den(house), await den(house, "lanterns", "island")
        await nim.ask("zeus", "save_world", name="nim")
        data = house.store.save("den", "nim")
        with pytest.raises(GameRejected, match="is for nim"):
            await lanterns.ask("zeus", "load_world", bytes_b64=b64encode(data).decode())


async def test_only_members_with_control_world_can_save_and_load(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        here = await den(house)
        for command, args in (("save_world", {"name": "x"}), ("load_world", {"name": "x"}), ("list_saves", {})):
            with pytest.raises(PermissionDenied):
                await here.ask("ann", command, **args)


async def test_the_order_of_turns_holds_for_saves_too_except_for_a_god(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        here = await den(house, "lanterns", turn_based=True, turn_order=["ann", "bob"])
        await here.ask("zeus", "widen", member="bob", may=["control_world"])
        await here.ask("zeus", "save_world", name="x")
        with pytest.raises(TurnNotYours):
            await here.ask("bob", "save_world", name="y")
        await here.ask("zeus", "turn_advance")
        await here.ask("bob", "save_world", name="y")


async def test_a_house_without_a_data_folder_has_no_saves() -> None:
    async with opened(None) as house:
        here = await den(house)
        with pytest.raises(GameRejected, match="--data"):
            await here.ask("zeus", "save_world", name="x")


async def test_a_save_from_outside_is_loaded_only_by_members_that_may_see_everything(tmp_path: Path) -> None:
    """Its sender knows what is in it, and so what the world hides from then on."""
    async with opened(tmp_path) as house:
        here = await den(house, "lanterns")
        await here.ask("zeus", "widen", member="bob", may=["control_world"])
        await here.ask("bob", "save_world", name="x")
        data = b64encode(house.store.save("den", "x")).decode()
        with pytest.raises(PermissionDenied, match="read_all"):
            await here.ask("bob", "load_world", bytes_b64=data)
        await here.ask("bob", "load_world", name="x")
        await here.ask("zeus", "load_world", bytes_b64=data)


async def test_a_room_that_is_archived_while_a_save_is_read_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as house:
        here = await den(house)
        await here.ask("zeus", "save_world", name="x")
        await here.ask("ann", "take", n=1)
        go, read = threading.Event(), house.store.save

        def slow(room: str, name: str) -> bytes | None:
            go.wait(100)
            return read(room, name)

        monkeypatch.setattr(house.store, "save", slow)
        loading = asyncio.create_task(here.ask("zeus", "load_world", name="x"))
        await asyncio.sleep(0)
        await here.ask("zeus", "archive")
        before = here.world.snapshot()
        go.set()
        with pytest.raises(Disabled, match="archived"):
            await loading
        assert here.world.snapshot() == before


async def test_a_full_disk_leaves_the_old_save_as_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        here = await den(house)
        await here.ask("zeus", "save_world", name="x")
        before = house.store.save("den", "x")
        await here.ask("ann", "take", n=1)
        db = house.store._db
        db.execute("create temp trigger full before insert on saves begin select raise(abort, 'the disk is full'); end")
        with pytest.raises(CohabitError, match="the disk is full"):
            await here.ask("zeus", "save_world", name="x")
        db.execute("drop trigger full")
        assert house.store.save("den", "x") == before
        await here.ask("zeus", "save_world", name="x")
        assert house.store.save("den", "x") != before


async def test_saves_survive_the_house_and_go_with_their_room(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        here = await den(house)
        await here.ask("zeus", "save_world", name="one")
    async with opened(tmp_path) as house:
        assert house.store.saves("den") == ["one"]
        await house.delete_room("den")
        assert house.store.saves("den") == []


async def test_saving_and_loading_name_the_save_alike_in_every_room_and_speak_of_its_world(tmp_path: Path) -> None:
    for command in ("save_world", "load_world"):
        schema = HOUSE_COMMANDS.by_name[command].schema
        assert "name" in schema["properties"]
        assert not {"folder", "path"} & {*schema["properties"]}
        shown = msgspec.json.encode([HOUSE_COMMANDS.by_name[command].doc, schema]).decode()
        assert not re.search("worldbox|kingdom|war", shown, re.IGNORECASE)
    async with opened(tmp_path) as house:
        here = await den(house)
        saved = msgspec.to_builtins(await here.ask("zeus", "save_world", name="one"))
        loaded = msgspec.to_builtins(await here.ask("zeus", "load_world", name="one"))
        assert (saved.pop("bytes"), saved) == (loaded.pop("bytes"), {"saved": True, "name": "one", "compressed": True})
        assert loaded == {"loaded": True, "name": "one"}
