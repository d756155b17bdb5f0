"""`cohabit replay`, `verify`, `export`, `backup` and `rooms`, on a data folder."""

import asyncio
import json
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from cohabit.errors import RecordCorrupt, TurnNotYours
from cohabit.faces.cli import export, main
from cohabit.faces.cli.showing import told_lines
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.settings import Settings
from cohabit.model.record import Entry, Told
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario

SCENARIO = json.dumps({
    "world": "nim", "config": {"stones": 7}, "seed": 3,
    "agents": [
        {"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "bob", "role": "player", "claim": "auto:1"},
        {"id": "zeus", "role": "god"}, {"id": "host", "role": "host"},
    ],
})  # fmt: skip


ADDING = '''
from cohabit import Observation, Outcome, World, WorldSpec, action


class Adding(World):
    """Add numbers."""

    spec = WorldSpec(name="adding", pace="step", version=1)

    def reset(self, seed, seats):
        self.total = 0

    def to_move(self):
        return ["seat1"]

    def observe(self, eye):
        return Observation(status={"total": self.total})

    @action()
    def add(self, by, n: int) -> Outcome:
        """Add a number."""
        self.total += n
        return Outcome("You add " + str(n))
'''


async def play(folder: Path, snapshot_every: int = 1000, settings: Settings | None = None) -> None:
    """A game, a whisper in the middle of it, and a rematch."""
    async with House.open(settings or Settings(data=str(folder), snapshot_every=snapshot_every)) as house:
        await house.create_room(parse_scenario(SCENARIO), "table")
        runner = house.rooms["table"]
        await runner.submit(Call("ann", "take", {"n": 3}))
        await runner.submit(Call("ann", "send_message", {"to": "zeus", "content": "psst: I win"}))
        await runner.submit(Call("bob", "act", {"action": "take", "params": {"n": 1}, "reasoning": "my secret plan"}))
        await runner.submit(Call("ann", "take", {"n": 3}))
        await runner.submit(Call("zeus", "rematch"))


def change(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "cohabit.db") as db:
        db.execute(statement)
    db.close()


async def test_a_record_replays_to_text_and_stops_where_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    assert main(["replay", "table", "--data", str(tmp_path)]) == 0
    whole = capsys.readouterr().out
    for words in ("first takes 3\n", "first takes 3 and wins"):
        assert words in whole
    assert re.search("zeus +started a rematch: game 2", whole)
    assert re.search("ann +to zeus: psst", whole)
    assert "game 2\n" in whole.splitlines(keepends=True)[-1]
    assert main(["replay", "table", "--at", "1", "--data", str(tmp_path)]) == 0
    part = capsys.readouterr().out
    assert "(4 stones)" in part
    assert "wins" not in part
    assert main(["replay", "table", "--every", "--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("The heap:") > 4
    assert main(["replay", "table", "--at", "99", "--data", str(tmp_path)]) == 1
    assert "ends with entry" in capsys.readouterr().err


async def test_an_export_verifies_and_replays_like_the_record_it_is_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    out = tmp_path / "table.jsonl"
    assert main(["export", "table", "-o", str(out), "--data", str(tmp_path)]) == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    assert all(len(line["digest"]) == 64 and line["entry"]["seq"] == line["seq"] for line in lines)
    assert out.stat().st_mode & 0o077 == 0
    capsys.readouterr()
    assert main(["verify", str(out), "table", "--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count(f"ok, {len(lines)} entries") == 2
    assert main(["replay", str(out)]) == 0
    *from_file, counted = capsys.readouterr().out.splitlines()
    assert counted == f"table.jsonl: {len(lines)} entries, game 2"
    main(["replay", "table", "--data", str(tmp_path)])
    *from_store, counted = capsys.readouterr().out.splitlines()
    assert counted == f"table: {len(lines)} entries, game 2"
    assert from_store == from_file


async def test_ctrl_c_during_a_replay_does_not_call_the_record_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(tmp_path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cohabit.worlds.nim.Nim.to_move", interrupted)
    for words in (
        ["replay", "table"],
        ["verify", "table"],
        ["export", "table", "--as", "ann"],
        ["export", "table", "--html"],
    ):
        assert main([*words, "--data", str(tmp_path)]) == 130
        assert capsys.readouterr().err == "cohabit: stopped\n"


async def test_an_export_needs_a_file_in_a_folder_that_exists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    for output, says in ((".", "is a folder; name a file in it"), (str(tmp_path / "gone" / "x"), "no such folder")):
        for how in ([], ["--html"]):
            assert main(["export", "table", "-o", output, *how, "--data", str(tmp_path)]) == 1
            assert says in capsys.readouterr().err


def test_a_line_of_the_log_has_each_name_once_and_the_recipients_by_handle() -> None:
    scenario = parse_scenario('{"world": "nim", "agents": [{"id": "ann", "role": "player", "claim": "auto:0"}]}')
    world = make_world("nim", {})
    room = Room.create(opening_state(scenario, world, "nim", "table", 7, "00" * 16), world, 0)
    told = (
        Told("ann takes seat first", "roster"),
        Told("a secret", seats=("first",)),
        Told("another", seats=("second",)),
        Told("yours", members=("ann", "bob#2")),
        Told("ours", members=()),
        Told("The round is over", by_world=True),
    )
    lines = [line.split(maxsplit=2)[1:] for line in told_lines(Entry(1, 0, "sit", "ann", told=told), room)]
    assert lines == [
        ["ann", "takes seat first"],
        ["ann", "a secret [only for ann]"],
        ["ann", "another [only for seat second]"],
        ["ann", "yours [only for ann, bob]"],
        ["ann", "ours [only for nobody]"],
        ["-", "The round is over"],
    ]


async def test_an_export_as_a_member_holds_what_that_member_could_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    seen = {}
    for who in ("ann", "bob"):
        assert main(["export", "table", "--as", who, "--data", str(tmp_path)]) == 0
        seen[who] = capsys.readouterr().out
    assert "psst" in seen["ann"]
    assert "psst" not in seen["bob"]
    assert "my secret plan" in seen["bob"]
    assert "my secret plan" not in seen["ann"]
    assert all("digest" not in json.loads(line) for line in seen["bob"].splitlines())


async def test_an_export_as_nobody_is_refused_before_the_record_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(tmp_path)
    monkeypatch.setattr(export, "run_again", lambda source: pytest.fail("the record is replayed"))
    assert main(["export", "table", "--as", "anne", "--data", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "no member of this room was ever called 'anne'" in said
    assert "Did you mean: ann" in said


async def test_an_export_as_a_member_who_left_has_what_it_saw_until_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with House.open(Settings(data=str(tmp_path))) as house:
        await house.create_room(parse_scenario(SCENARIO), "table")
        await house.rooms["table"].submit(Call("ann", "send_message", {"to": "bob", "content": "psst"}))
        await house.rooms["table"].submit(Call("host", "remove_member", {"member": "bob"}))
    assert main(["export", "table", "--as", "bob", "--data", str(tmp_path)]) == 0
    assert "psst" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("update entries set body = cast(replace(body, 'plan', 'hope') as blob) where seq = 3", "entry 3 was changed"),
        ("update entries set body = 'nonsense' where seq = 3", "after 3 good entries"),
        ("delete from entries where seq = 2", "entry 2 is missing"),
        ("update entries set digest = zeroblob(32) where seq = 4", "entry 4 was changed"),
    ],
)
async def test_verify_says_where_a_record_breaks(
    damage: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    assert main(["verify", "--data", str(tmp_path)]) == 0
    change(tmp_path, damage)
    capsys.readouterr()
    assert main(["verify", "--data", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "table: BROKEN" in err
    assert "Restore a room of yours from a backup" in err
    assert says in err


@pytest.mark.parametrize(
    "changed",
    [("version=1", "version=2"), ('"You add "', '"You take "')],
    ids=["another version", "another outcome"],
)
def test_a_record_of_a_world_whose_rules_changed_is_not_said_to_be_damaged(
    changed: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world, old = tmp_path / "adding.py", tmp_path / "old.py"
    world.write_text(ADDING)
    old.write_text(ADDING)
    agents = [{"id": "ann", "role": "player", "claim": "auto:0"}]
    scenario = parse_scenario(json.dumps({"world": str(world), "agents": agents}))

    async def play_it() -> None:
        async with House.open(Settings(data=str(tmp_path))) as house:
            await house.create_room(scenario, "sum")
            await house.rooms["sum"].submit(Call("ann", "add", {"n": 3}))

    asyncio.run(play_it())
    world.write_text(ADDING.replace(*changed))
    data = ["--data", str(tmp_path)]
    for verb in ("verify", "replay"):
        assert main([verb, "sum", *data]) == 1
        err = capsys.readouterr().err
        assert "If the rules of its world have changed, the record is intact" in err
        assert "backup" not in err
        assert "BROKEN" not in err
        assert main([verb, "sum", "--world", str(old), *data]) == 0
    capsys.readouterr()
    assert main(["rebind", "sum", str(old), *data]) == 0
    assert main(["verify", "sum", *data]) == 0


@pytest.mark.parametrize("table", ["identities", "credentials", "invites", "refusals", "egress"])
async def test_what_a_house_cannot_read_at_its_start_is_named_by_verify_and_doctor(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with House.open(Settings(data=str(tmp_path))) as house:
        _, tokens = await house.create_room(parse_scenario(SCENARIO), "table")
        await house.call(house.identify(tokens["zeus"]), "table", "view")
        await house.call(house.identify(tokens["host"]), "table", "invite", {"id": "eve"})
        with pytest.raises(TurnNotYours):
            await house.call(house.identify(tokens["bob"]), "table", "take", {"n": 1})
    change(tmp_path, f"update {table} set body = x'00'")
    house_starts = False
    with suppress(RecordCorrupt):
        async with House.open(Settings(data=str(tmp_path))) as house:
            house_starts = not house.broken
    assert not house_starts
    assert main(["verify", "--data", str(tmp_path)]) == 1
    assert "cannot be read" in capsys.readouterr().err
    main(["doctor", "--data", str(tmp_path)])
    assert "cannot be read" in capsys.readouterr().out


async def test_verify_reads_a_record_whose_beginning_was_pruned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path, snapshot_every=2)
    change(tmp_path, "delete from entries where seq < 2")
    assert main(["verify", "table", "--data", str(tmp_path)]) == 0
    assert "table: ok" in capsys.readouterr().out
    change(tmp_path, "delete from entries where seq < (select max(seq) + 1 from snapshots)")
    assert main(["verify", "table", "--data", str(tmp_path)]) == 0


async def test_a_truncated_export_and_a_line_that_is_none_are_told_apart_from_good_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    out = tmp_path / "t.jsonl"
    main(["export", "table", "-o", str(out), "--data", str(tmp_path)])
    whole = out.read_bytes()
    out.write_bytes(whole[:-20])
    assert main(["verify", str(out)]) == 1
    assert "is not a valid export line" in capsys.readouterr().err
    out.write_bytes(b"".join(whole.splitlines(keepends=True)[1:]))
    assert main(["verify", str(out)]) == 1
    assert "begins with" in capsys.readouterr().err


async def test_a_backup_is_made_while_the_house_runs_and_holds_all_that_was_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, copy = tmp_path / "house", tmp_path / "copy"
    copy.mkdir()
    async with House.open(Settings(data=str(data))) as house:
        await house.create_room(parse_scenario(SCENARIO), "table")
        await house.rooms["table"].submit(Call("ann", "take", {"n": 2}))
        assert main(["backup", str(copy / "cohabit.db"), "--data", str(data)]) == 0
        assert main(["backup", str(copy / "cohabit.db"), "--data", str(data)]) == 1
        assert "choose another file" in capsys.readouterr().err
    assert main(["verify", "--data", str(copy)]) == 0
    async with House.open(Settings(data=str(copy))) as house:
        assert await house.rooms["table"].submit(Call("ann", "heap")) == 5


def test_check_fails_a_world_that_is_not_there_and_passes_one_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "./gone.py"]) == 1
    assert "file not found" in capsys.readouterr().out
    assert main(["check", "lounge"]) == 0


def test_check_plays_as_many_steps_as_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lounge", "--steps", "7"]) == 0
    assert capsys.readouterr().out.startswith("lounge: 21 steps played\n")
    assert main(["check", "lounge", "--steps", "0"]) == 2
    assert "--steps must be above 0" in capsys.readouterr().err


async def test_rooms_of_a_folder_are_listed_without_a_house(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await play(tmp_path)
    assert main(["rooms", "--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:4] == ["table", "nim", "sandbox", "4"]
    assert main(["replay", "tabel", "--data", str(tmp_path)]) == 1
    assert "Did you mean: table" in capsys.readouterr().err


async def test_a_room_that_has_lost_its_snapshots_is_listed_and_its_record_verified_and_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    with closing(sqlite3.connect(tmp_path / "cohabit.db")) as db:
        assert db.execute("delete from snapshots where room = 'table'").rowcount
        db.commit()
    assert main(["rooms", "--data", str(tmp_path)]) == 0
    assert "room table has no snapshot to start from; restore a backup" in capsys.readouterr().out
    assert main(["verify", "--data", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "table: ok" in said.out
    assert "entries of a room 'table', which has no snapshot" in said.err
    assert main(["export", "table", "--data", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["seq"] == 0


async def test_a_record_that_cannot_be_found_is_no_reason_to_restore_a_backup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await play(tmp_path)
    assert main(["verify", "nowhere", "--data", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "nowhere" in err
    assert "Restore a room" not in err
