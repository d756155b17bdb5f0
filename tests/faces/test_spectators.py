"""What spectators get over every interface: two rooms that differ only in what was hidden within the last steps give
them the same bytes, until the delay has passed."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.house.making import BOB, HOST, Client, make_room, open_house
from tests.house.test_spectators import ANN, EVE

from cohabit.errors import BadArgs, CohabitError
from cohabit.faces.cli import main
from cohabit.house.films.rights import full_view_until
from cohabit.house.house import House
from cohabit.house.lifecycle import creating
from cohabit.room.record import Snapshot

from .doors import MOSTLY_SOAK, doors
from .test_cli_films import packed_in

DELAY = 4
READS: list[tuple[str, dict[str, Any]]] = [
    ("delayed_view", {}), ("delayed_view", {"data": True}), ("view", {}), ("observe", {}), ("next_view", {}),
    ("events", {}), ("whoami", {}), ("session_info", {}), ("roster", {}), ("rules", {}), ("decisions", {}),
    ("objective_status", {}), ("recv_messages", {}), ("numbers", {}), ("rooms", {}), ("introduction", {}),
    *(("film", {"seat": seat, **more}) for seat in ("", "public", "all", "red", "blue")
      for more in ({}, {"frames": 1}, {"first": 10**12}, {"last": 0})),
]  # fmt: skip
"""Commands that only read. Some are refused, with the same words in both rooms."""


@pytest.fixture
def same_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rooms whose cursors are made with the same secret."""
    made = SimpleNamespace(token_hex=lambda size: "5a" * size, randbits=secrets.randbits)
    monkeypatch.setattr(creating, "secrets", made)


async def told(client: Any) -> str:
    """All that this client can get."""
    said = []
    for name, args in READS:
        try:
            reply = msgspec.to_builtins(await client.call(name, args))
        except CohabitError as refused:
            reply = refused.as_wire()
        said.append((name, args, reply))
    return json.dumps(said, sort_keys=True)


@asynccontextmanager
async def played(folder: Path, hidden: int, steps: int) -> AsyncIterator[tuple[House, dict[str, Client]]]:
    """A room in which ann hides a number, and so many steps follow. Eve and the watchers are spectators."""
    async with open_house(folder, port=0, bridge_port=0) as house:
        who = await make_room(house, ANN, BOB, HOST, EVE, partial_intel=True, spectator_delay=DELAY)
        made = await who["hostess"]("watch_link")
        who["watchers"] = Client(house, "den", "watchers", made.token)
        await who["eve"]("spectate")
        await who["ann"]("hide", {"n": 710_001})
        await who["ann"]("hide", {"n": hidden})
        for _ in range(steps - 1):
            await who["bob"]("shout", {"text": "hello"})
        clock: Any = house.clock
        await clock.advance(5_000)
        yield house, who


async def got(folder: Path, tmp: Path, face: str, hidden: int, steps: int) -> list[str]:
    async with played(folder, hidden, steps) as (house, who), doors(face, house, tmp) as door:
        said = []
        for name in ("watchers", "eve"):
            async with door(who[name].token) as client:
                said.append(await told(client))
        return said


@pytest.mark.usefixtures("same_secrets")
@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_what_was_hidden_within_the_last_steps_changes_no_byte_for_a_spectator(face: str, tmp_path: Path) -> None:
    clear = await got(tmp_path / "clear", tmp_path, face, 710_002, DELAY)
    murky = await got(tmp_path / "murky", tmp_path, face, 810_003, DELAY)
    assert clear == murky
    assert [("710001" in said, "710002" in said) for said in clear] == [(True, False)] * 2  # the first is old enough


@pytest.mark.usefixtures("same_secrets")
async def test_a_step_later_the_two_rooms_differ(tmp_path: Path) -> None:
    clear = await got(tmp_path / "clear", tmp_path, "python", 710_002, DELAY + 1)
    murky = await got(tmp_path / "murky", tmp_path, "python", 810_003, DELAY + 1)
    assert ["710002" in said for said in clear] == [True, True]
    assert [("810003" in said, "710002" in said) for said in murky] == [(True, False)] * 2


@pytest.mark.usefixtures("same_secrets")
async def test_an_exported_file_of_a_spectator_ends_where_its_view_does(tmp_path: Path) -> None:
    pages = {}
    for name, hidden in (("clear", 710_002), ("murky", 810_003)):
        async with played(tmp_path / name, hidden, DELAY):
            pass
        for member in ("watchers", "public"):
            target = tmp_path / f"{name}-{member}.html"
            words = ("export", "den", "--html", "--as", member, "-o", str(target), "--data", str(tmp_path / name))
            assert main([*words]) == 0
            pages[name, member] = target.read_text()
    assert pages["clear", "watchers"] == pages["murky", "watchers"]
    assert pages["clear", "public"] == pages["murky", "public"]
    film = json.dumps(packed_in(pages["clear", "watchers"]))
    assert "710001" in film
    assert "710002" not in film


async def test_an_exported_file_of_a_spectator_shows_nothing_newer_where_old_entries_were_deleted(
    tmp_path: Path,
) -> None:
    """The entries reach further back than the oldest snapshot, from which alone they can be replayed."""
    data, target = tmp_path / "data", tmp_path / "film.html"
    async with open_house(data, keep_entries=30, snapshot_every=10) as house:
        who = await make_room(house, ANN, BOB, HOST, EVE, partial_intel=True, spectator_delay=25)
        await who["eve"]("spectate")
        for n in range(71):
            await who["ann"]("hide", {"n": 710_000 + n})
        room = house.rooms["den"].room
        until = full_view_until(room, room.state.members["eve"])
        oldest = next(iter(house.store.lines("den", -1, 1)))[0]
        snapshot = min(Snapshot.decode(each).seq for each in house.store.snapshots("den"))
        assert until is not None
        assert 0 < oldest <= until < snapshot
        with pytest.raises(BadArgs, match="was deleted"):
            await who["eve"]("delayed_view")
    assert main(["export", "den", "--html", "--as", "eve", "-o", str(target), "--data", str(data)]) == 0
    film = json.dumps(packed_in(target.read_text()))
    assert not [n for n in range(71) if str(710_000 + n) in film]
