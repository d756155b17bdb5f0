"""The end of a record: what the chain of digests alone cannot show is compared with snapshots and with noted heads."""

import asyncio
import ctypes
import json
import os
import re
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from cohabit.errors import CohabitError
from cohabit.faces.cli import main
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Row
from cohabit.house.store.sqlite import SQLiteStore

from .test_cli_records import change, play

SWAPPED_SNAPSHOT = (
    "update snapshots set body = (select body from snapshots where room = 'house'), seq = 1 "
    "where room = 'table' and seq = (select min(seq) from snapshots where room = 'table')"
)
Captured = pytest.CaptureFixture[str]


def head_of(name: str, folder: Path, capsys: Captured) -> str:
    """The head that verify prints for one record."""
    capsys.readouterr()
    assert main(["verify", name, "--data", str(folder)]) == 0
    found = re.search(r"head (\d+:[0-9a-f]{64})$", capsys.readouterr().out, re.MULTILINE)
    assert found is not None
    return found[1]


def exported(folder: Path, to: Path) -> list[bytes]:
    assert main(["export", "table", "-o", str(to), "--data", str(folder)]) == 0
    return to.read_bytes().splitlines(keepends=True)


def chained_again(lines: list[bytes]) -> bytes:
    """The same entries with digests of their own: what somebody would write who changed one."""
    digest, made = bytes(32), []
    for text in lines:
        seq, entry = json.loads(text)["seq"], text[text.index(b'"entry":') + 8 : -2]
        digest = sha256(digest + entry).digest()
        made.append(b'{"seq":%d,"digest":"%s","entry":%s}\n' % (seq, digest.hex().encode(), entry))
    return b"".join(made)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("delete from entries where room = 'table' and seq > 1", "the record ends with entry 1, but a snapshot is of"),
        ("delete from entries where room = 'table'", "the record ends with entry -1, but a snapshot is of"),
        (SWAPPED_SNAPSHOT, "a snapshot, of entry"),
    ],
)
async def test_a_record_that_does_not_reach_its_snapshots_is_broken_and_its_room_stays_closed(
    damage: str, says: str, tmp_path: Path, capsys: Captured
) -> None:
    await play(tmp_path, snapshot_every=2)
    change(tmp_path, damage)
    assert main(["verify", "--data", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "table: BROKEN" in captured.err
    assert says in captured.err
    assert "house: ok" in captured.out
    async with House.open(Settings(data=str(tmp_path))) as house:
        assert "table" not in house.rooms
        assert says in house.broken["table"].message


async def test_a_shortened_record_without_a_later_snapshot_is_found_by_its_head(
    tmp_path: Path, capsys: Captured
) -> None:
    await play(tmp_path)
    head = head_of("table", tmp_path, capsys)
    assert main(["verify", "table", "--head", head, "--data", str(tmp_path)]) == 0
    change(tmp_path, "delete from entries where room = 'table' and seq > 2")
    assert main(["verify", "table", "--data", str(tmp_path)]) == 0
    assert main(["verify", "table", "--head", head, "--data", str(tmp_path)]) == 1
    assert "the record ends with entry 2, but --head is of entry" in capsys.readouterr().err


async def test_an_older_head_still_holds_when_the_record_has_grown(tmp_path: Path, capsys: Captured) -> None:
    await play(tmp_path)
    head = head_of("table", tmp_path, capsys)
    async with House.open(Settings(data=str(tmp_path))) as house:
        await house.rooms["table"].submit(Call("zeus", "rematch"))
    assert head_of("table", tmp_path, capsys) != head
    assert main(["verify", "table", "--head", head, "--data", str(tmp_path)]) == 0


async def test_a_truncated_and_a_forged_export_are_found_by_the_head(tmp_path: Path, capsys: Captured) -> None:
    await play(tmp_path)
    head, out = head_of("table", tmp_path, capsys), tmp_path / "t.jsonl"
    lines = exported(tmp_path, out)
    assert chained_again(lines) == b"".join(lines)
    for content in (
        b"".join(lines[:-2]),
        chained_again([line.replace(b"secret plan", b"honest hope") for line in lines]),
    ):
        out.write_bytes(content)
        assert main(["verify", str(out)]) == 0
        assert main(["verify", str(out), "--head", head]) == 1
        assert "BROKEN" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--head", "3:12"], ["--head", "table"], ["--head", f"1:{'0' * 64}", "table"]])
def test_a_head_that_cannot_be_one_is_a_usage_error(words: list[str], tmp_path: Path, capsys: Captured) -> None:
    assert main(["verify", "table", *words, "--data", str(tmp_path)]) == 2
    assert "--head" in capsys.readouterr().err


# -- heads in a file ------------------------------------------------------------------------------
@pytest.mark.parametrize("key", ["", "a secret of enough bytes"])
async def test_heads_written_by_the_house_find_what_was_cut_off_or_taken_away(
    key: str, tmp_path: Path, capsys: Captured
) -> None:
    data, heads = tmp_path / "data", tmp_path / "heads.jsonl"
    (tmp_path / "key").write_text(key)
    settings = Settings(data=str(data), heads_file=str(heads), heads_key=str(tmp_path / "key") if key else "")
    await play(data, settings=settings)
    assert heads.stat().st_mode & 0o077 == 0
    words = ["verify", "--heads", str(heads), "--data", str(data)] + (
        ["--heads-key", str(tmp_path / "key")] if key else []
    )
    assert main(words) == 0
    change(data, "delete from entries where room = 'table' and seq > 2")
    assert main(["verify", "--data", str(data)]) == 0
    assert main(words) == 1
    assert "but a head in" in capsys.readouterr().err
    async with House.open(settings) as house:
        assert "but a head in" in house.broken["table"].message
    for table in ("entries", "snapshots"):
        change(data, f"delete from {table} where room = 'table'")
    assert main(words) == 1
    assert "table: BROKEN: this room is in" in capsys.readouterr().err


async def test_a_deleted_room_is_not_missed_and_its_name_can_be_used_again(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "data"), heads_file=str(tmp_path / "heads.jsonl"))
    words = ["verify", "--heads", settings.heads_file, "--data", settings.data]
    await play(tmp_path / "data", settings=settings)
    async with House.open(settings) as house:
        await house.delete_room("table")
    assert main(words) == 0
    await play(tmp_path / "data", settings=settings)
    assert main(words) == 0


async def test_a_head_that_is_not_signed_with_the_key_is_refused(tmp_path: Path, capsys: Captured) -> None:
    data, heads, key = tmp_path / "data", tmp_path / "heads.jsonl", tmp_path / "key"
    key.write_text("a secret of enough bytes")
    settings = Settings(data=str(data), heads_file=str(heads), heads_key=str(key))
    await play(data, settings=settings)
    heads.write_text(heads.read_text().replace('"seq":', '"seq":1'))
    assert main(["verify", "--heads", str(heads), "--heads-key", str(key), "--data", str(data)]) == 1
    assert "is not signed with this key" in capsys.readouterr().err


async def test_a_line_that_a_crash_cut_off_does_not_spoil_the_file(tmp_path: Path) -> None:
    data, heads = tmp_path / "data", tmp_path / "heads.jsonl"
    settings = Settings(data=str(data), heads_file=str(heads))
    await play(data, settings=settings)
    with heads.open("a") as file:
        file.write('{"at":12,"room":"table","seq":99,"digest":"no digest"}\n{"at": 12, "room": "tab')
    async with House.open(settings) as house:
        assert not house.broken
    assert main(["verify", "--heads", str(heads), "--data", str(data)]) == 0
    assert '"room": "tab\n{' in heads.read_text()


# -- a folder that cannot be written --------------------------------------------------------------
async def test_verify_works_on_a_read_only_folder_and_leaves_nothing_in_it(tmp_path: Path) -> None:
    await play(tmp_path)
    (tmp_path / "lock").unlink()
    before = sorted(os.listdir(tmp_path))
    (tmp_path / "cohabit.db").chmod(0o400)
    tmp_path.chmod(0o500)
    words = [sys.executable, "-m", "cohabit", "verify", "--data", str(tmp_path)]
    try:
        found = await asyncio.to_thread(_run_bound_by_file_modes, words)
    finally:
        tmp_path.chmod(0o700)
    assert (found.returncode, found.stderr) == (0, "")
    assert "table: ok" in found.stdout
    assert sorted(os.listdir(tmp_path)) == before == ["agents", "cohabit.db"]


def _run_bound_by_file_modes(words: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, capture_output=True, text=True, preexec_fn=_bound_by_file_modes, timeout=200)


def _bound_by_file_modes() -> None:
    """Without the capabilities that let root write anywhere."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


# -- damage of the file ---------------------------------------------------------------------------
async def test_no_single_flipped_bit_takes_away_or_changes_entries_unnoticed(tmp_path: Path, capsys: Captured) -> None:
    data, flipped = tmp_path / "data", tmp_path / "flipped"
    flipped.mkdir()
    await play(data, snapshot_every=2)
    good, content = stored_rows(data), (data / "cohabit.db").read_bytes()
    random, changed = Random(11), 0
    for _ in range(300):  # mostly at the start of a page, where its number of rows and its pointers are
        page = random.randrange(len(content) // 4096) * 4096
        place = page + random.randrange(64 if random.random() < 0.8 else 4096)
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << random.randrange(8)
        (flipped / "cohabit.db").write_bytes(spoilt)
        try:
            same = stored_rows(flipped) == good
        except CohabitError:  # noticed when it is read
            continue
        if not same:
            changed += 1
            assert main(["verify", "--data", str(flipped)]) == 1, place
    assert changed > 5


def stored_rows(folder: Path) -> list[list[Row]]:
    with closing(SQLiteStore(folder, lock=False)) as store:
        return [list(store.lines(room, -1)) for room in ("house", "table")]
