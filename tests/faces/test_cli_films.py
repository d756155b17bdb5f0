"""Keyframes at the command line: `cohabit replay --at`, `verify` in parts, and `export --html`."""

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from cohabit.faces.cli import main, verify
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.settings import Settings
from cohabit.house.store.keyframes import FOLDER, Keyframe, Keyframes
from cohabit.house.store.loading import known_world
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.model.film import patched
from cohabit.room.record import GENESIS, Line, read_lines
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario

from .test_cli_records import change, play


def lines_of(folder: Path) -> list[Line]:
    store = SQLiteStore(folder, lock=False)
    try:
        return list(read_lines(store.lines("table", -1), -1, GENESIS))
    finally:
        store.close()


def make_keyframes(folder: Path, *entries: int) -> Keyframes:
    kept = Keyframes(folder)
    for room, line in Room.replaying(lines_of(folder), known_world):
        if line.seq in entries:
            kept.add("table", Keyframe.of(room.snapshot(), 10_000 * line.seq))
    return kept


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main([*words])
    said = capsys.readouterr()
    return code, said.out, said.err


async def test_a_replay_from_a_keyframe_prints_what_a_whole_one_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(tmp_path)
    words = ("replay", "table", "--at", "5", "--data", str(tmp_path))
    whole = run(capsys, *words)
    kept = make_keyframes(tmp_path, 2, 4)
    begun: list[int] = []
    monkeypatch.setattr(Keyframe, "snapshot", lambda self, read=Keyframe.snapshot: begun.append(self.seq) or read(self))
    assert run(capsys, *words) == whole
    assert set(begun) == {4}
    file = next((tmp_path / FOLDER / "table").glob("4-*"))
    file.write_bytes(zlib.compress(b"damaged"))
    assert run(capsys, *words) == whole
    assert [place.seq for place in kept.places("table")] == [2]


async def test_verify_in_parts_says_what_verify_from_the_beginning_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(tmp_path)
    words = ("verify", "--data", str(tmp_path), "--jobs")
    whole = run(capsys, *words, "1")
    make_keyframes(tmp_path, 1, 3, 5)
    asked: list[Any] = []
    joined = verify._joined
    monkeypatch.setattr(verify, "_joined", lambda *given: asked.extend(given[2]) or joined(*given))
    assert run(capsys, *words, "2") == whole
    assert [part.agrees for part in asked] == [True] * 4
    damaged = next((tmp_path / FOLDER / "table").glob("3-*"))
    damaged.write_bytes(next((tmp_path / FOLDER / "table").glob("5-*")).read_bytes())
    asked.clear()
    assert run(capsys, *words, "2") == whole  # a wrong keyframe is no wrong record
    assert sorted(part.agrees for part in asked) == [False, False, True, True]


async def test_verify_in_parts_finds_an_entry_that_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    make_keyframes(tmp_path, 1, 3, 5)
    changed = "cast(replace(cast(body as text), 'first takes', 'first taken') as blob)"
    change(tmp_path, f"update entries set body = {changed} where cast(body as text) like '%first takes 3%'")
    one = run(capsys, "verify", "table", "--data", str(tmp_path), "--jobs", "1")
    assert one[0] == 1
    assert "BROKEN" in one[2]
    assert run(capsys, "verify", "table", "--data", str(tmp_path), "--jobs", "2") == one


def packed_in(page: str) -> Any:
    found = re.search(r'id="packed">([^<]*)<', page)
    assert found is not None
    return json.loads(zlib.decompress(b64decode(found[1])))["film"]


@pytest.mark.parametrize(("who", "sees"), [("all", True), ("bob", False), ("public", False), ("zeus", True)])
async def test_a_page_has_the_views_and_events_of_its_eye_and_nothing_else_of_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], who: str, sees: bool
) -> None:
    await play(tmp_path)
    target = tmp_path / "page.html"
    code, said, _ = run(capsys, "export", "table", "--html", "--as", who, "-o", str(target), "--data", str(tmp_path))
    assert code == 0
    film = packed_in(target.read_text())
    assert f"{len(film['frames'])} frames" in said
    view: dict[str, Any] = {}
    seen = []
    for frame in film["frames"]:
        view = frame["view"] if frame.get("whole") else patched(view, frame.get("view", {}))
        seen.append(view["id"])
    assert len(seen) > 3
    assert [made["reason"] for made in film.pop("decisions")] == ["my secret plan"]
    whole = json.dumps(film)
    assert ("psst" in whole) == sees
    assert "my secret plan" not in whole
    numbers = [frame["seq"] for frame in film["frames"]]
    assert (numbers == [*range(1, len(numbers) + 1)]) == (not sees)
    assert target.stat().st_mode & 0o077 == 0


SECRETS = f"{Path(__file__).parent.parent / 'room' / 'worlds.py'}:Secrets"
SEALED = json.dumps({
    "world": SECRETS, "partial_intel": True,
    "agents": [{"id": who, "role": "player", "claim": f"auto:{n}"} for n, who in enumerate(("ann", "bob"))],
})  # fmt: skip


async def test_a_page_of_a_sealed_game_has_no_reasons_of_others_before_it_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with House.open(Settings(data=str(tmp_path), trusted_worlds=SECRETS.partition(":")[0])) as house:
        await house.create_room(parse_scenario(SEALED), "table")
        runner = house.rooms["table"]
        await runner.submit(Call("ann", "act", {"action": "hide", "params": {"n": 5}, "reasoning": "5 is the key"}))
    for who, sees in (("ann", True), ("bob", False), ("public", False), ("all", True)):
        assert main(["export", "table", "--html", "--as", who, "--data", str(tmp_path)]) == 0
        film = packed_in(capsys.readouterr().out)
        assert ("5 is the key" in json.dumps(film)) == sees
        assert ("decisions" in film) == sees


async def test_a_page_for_somebody_who_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    code, _, wrong = run(capsys, "export", "table", "--html", "--as", "bop", "--data", str(tmp_path))
    assert code != 0
    assert "bob" in wrong
