"""The lossy disk, proved on plain files and on bare SQLite before the server is put on it."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from . import lossy
from .lossy import Disk

# Commits one row after another, each acknowledged on standard output once the commit has returned. The table
# is made durable first, so that only the rows are at stake. Stops after `count` rows, and waits to be killed.
WRITER = """
import os, sqlite3, sys
path, journal, synchronous, checkpoint, count = sys.argv[1:]
db = sqlite3.connect(path, isolation_level=None)
db.execute("PRAGMA synchronous=EXTRA")
db.execute(f"PRAGMA journal_mode={journal}")
db.execute("CREATE TABLE IF NOT EXISTS kept (n INTEGER PRIMARY KEY, body BLOB)")
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.execute(f"PRAGMA synchronous={synchronous}")
db.execute(f"PRAGMA wal_autocheckpoint={checkpoint}")
first = db.execute("SELECT coalesce(max(n), 0) + 1 FROM kept").fetchone()[0]
for n in range(first, first + int(count)):
    db.execute("INSERT INTO kept VALUES (?, ?)", (n, os.urandom(n * 37 % 5000)))
    os.write(1, b"%d\\n" % n)
sys.stdin.read()
"""

# Two processes of three threads, forked from one that has a lossy disk already, write to one database.
CROWD = """
import os, sqlite3, sys, threading
path = sys.argv[1]
db = sqlite3.connect(path, isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
db.execute("CREATE TABLE kept (n INTEGER PRIMARY KEY, body BLOB)")
db.close()
side = 0 if os.fork() else 3

def work(lane):
    db = sqlite3.connect(path, isolation_level=None, timeout=600)
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA wal_autocheckpoint=7")
    for n in range(lane, 1_000_000, 6):
        db.execute("INSERT INTO kept VALUES (?, ?)", (n, os.urandom(n % 999)))
        os.write(1, b"%d\\n" % n)

for lane in range(3):
    threading.Thread(target=work, args=(side + lane,)).start()
"""


def acknowledged(process: subprocess.Popen[bytes], enough: int) -> set[int]:
    """Kill the process, and those it forked, after this many acknowledgements; return all that were given."""
    assert process.stdout is not None
    with process:
        lines = [process.stdout.readline() for _ in range(enough)]
        os.killpg(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()  # to the end: nobody is left who could write
    assert all(line.endswith(b"\n") for line in lines), "the writer failed"
    return {int(line) for line in lines}


def rows(image: Path) -> set[int]:
    """What a program would find in the database when it starts after the power cut."""
    with closing(sqlite3.connect(image / "it.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {n for (n,) in db.execute("SELECT n FROM kept")}


@pytest.mark.parametrize("seed", range(8))
def test_with_synchronous_full_every_acknowledged_commit_survives_across_checkpoints(disk: Disk, seed: int) -> None:
    enough = random.Random(seed).randint(1, 150)
    given = acknowledged(disk.start(WRITER, "it.db", "WAL", "FULL", 5, 1_000_000), enough)
    image = disk.cut()
    (checkpointed := disk.place / "checkpointed").mkdir()
    shutil.copyfile(image / "it.db", checkpointed / "it.db")
    kept = rows(image)
    assert given <= kept
    assert len(kept - given) <= 1, "more than the commit that was under way"
    assert enough < 20 or rows(checkpointed), "no checkpoint was made"


def test_with_synchronous_full_commits_survive_one_power_cut_after_another(disk: Disk) -> None:
    chance, given = random.Random(0), set[int]()
    for _ in range(5):
        given |= acknowledged(disk.start(WRITER, "it.db", "WAL", "FULL", 9, 1_000_000), chance.randint(1, 40))
        assert given <= rows(disk.cut())


def test_with_synchronous_full_commits_of_many_threads_and_forked_processes_survive(disk: Disk) -> None:
    given = acknowledged(disk.start(CROWD, "it.db"), random.Random(0).randint(200, 300))
    assert given <= rows(disk.cut())


def test_an_image_taken_while_the_writers_run_has_every_commit_acknowledged_so_far(disk: Disk) -> None:
    process = disk.start(CROWD, "it.db")
    assert process.stdout is not None
    given = {int(process.stdout.readline()) for _ in range(100)}
    lossy.surviving(disk.shadow, disk.place / "image")
    acknowledged(process, 0)
    assert given <= rows(disk.place / "image")


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_with_less_than_full_the_acknowledged_commits_are_lost(disk: Disk, synchronous: str) -> None:
    enough = random.Random(synchronous).randint(1, 150)
    given = acknowledged(disk.start(WRITER, "it.db", "WAL", synchronous, 0, 1_000_000), enough)
    assert len(given) >= enough
    assert rows(disk.root) >= given, "without a power cut they are there"
    assert rows(disk.cut()) == set()


def test_with_synchronous_normal_the_checkpointed_commits_survive_and_the_later_ones_are_lost(
    shim: Path, tmp_path: Path
) -> None:
    lost: list[int] = []
    first = random.Random(0).randint(60, 150)
    for count in (
        first,
        first + 1,
    ):  # a checkpoint may come with the last commit of one of these, not of both
        disk = Disk(shim, tmp_path / str(count))
        given = acknowledged(disk.start(WRITER, "it.db", "WAL", "NORMAL", 20, count), count)
        kept = rows(disk.cut())
        assert given == set(range(1, count + 1))
        assert kept == set(range(1, len(kept) + 1)) != set()
        lost.append(count - len(kept))
    assert max(lost) > 0


def test_a_rollback_journal_whose_delete_was_not_synced_takes_the_last_commit_back(disk: Disk) -> None:
    given = acknowledged(disk.start(WRITER, "it.db", "DELETE", "FULL", 0, 12), 12)
    assert rows(disk.cut()) == given - {12}


def test_a_rollback_journal_whose_delete_was_synced_takes_nothing_back(disk: Disk) -> None:
    given = acknowledged(disk.start(WRITER, "it.db", "DELETE", "EXTRA", 0, 12), 12)
    assert rows(disk.cut()) == given


FILES = """
import os

def put(name, text, sync=True, flags=0):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | flags)
    os.write(fd, text)
    if sync:
        os.fsync(fd)
    os.close(fd)

def sync(folder="."):
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)

"""


@pytest.mark.parametrize(
    ("script", "left"),
    [
        pytest.param("put('a', b'1'); sync()", {"a": b"1"}, id="synced"),
        pytest.param("put('a', b'1', sync=False); sync()", {"a": b""}, id="content not synced"),
        pytest.param("put('a', b'1')", {}, id="name not synced"),
        pytest.param("put('a', b'1'); sync(); put('a', b'22', sync=False)", {"a": b"1"}, id="later write"),
        pytest.param("put('a', b'1', sync=False, flags=os.O_DSYNC); sync()", {"a": b"1"}, id="O_DSYNC"),
        pytest.param("put('a', b'1', sync=False, flags=os.O_SYNC); sync()", {"a": b"1"}, id="O_SYNC"),
        pytest.param("put('a', b'1'); sync(); os.unlink('a')", {"a": b"1"}, id="delete not synced"),
        pytest.param("put('a', b'1'); sync(); os.unlink('a'); sync()", {}, id="delete synced"),
        pytest.param("put('a', b'1'); sync(); os.rename('a', 'b')", {"a": b"1"}, id="rename not synced"),
        pytest.param("put('a', b'1'); sync(); os.rename('a', 'b'); sync()", {"b": b"1"}, id="rename synced"),
        pytest.param(
            "put('a', b'1'); sync(); put('b', b'2'); os.replace('b', 'a')",
            {"a": b"1"},
            id="replace not synced",
        ),
        pytest.param(
            "put('a', b'1'); sync(); put('b', b'2'); os.replace('b', 'a'); sync()",
            {"a": b"2"},
            id="replace synced",
        ),
        pytest.param("os.mkdir('d'); put('d/a', b'1'); sync('d')", {}, id="folder not synced"),
        pytest.param("os.mkdir('d'); put('d/a', b'1'); sync('d'); sync()", {"d/a": b"1"}, id="folder synced"),
        pytest.param(
            "fd = os.open('a', os.O_RDWR | os.O_CREAT); os.write(fd, b'12'); os.lseek(fd, 1, 0)\n"
            "os.fdatasync(fd); os.write(fd, b'3'); os.fdatasync(fd); sync()",
            {"a": b"13"},
            id="position kept",
        ),
        pytest.param(
            "pid = os.fork(); put('child' if pid == 0 else 'parent', b'1'); sync()\nif pid: os.waitpid(pid, 0); sync()",
            {"parent": b"1", "child": b"1"},
            id="fork",
        ),
        pytest.param("put('../outside', b'1'); put('a', b'1'); sync(); sync('..')", {"a": b"1"}, id="outside"),
    ],
)
def test_of_plain_files_exactly_what_was_synced_survives(disk: Disk, script: str, left: dict[str, bytes]) -> None:
    assert disk.after(FILES + script) == left


@pytest.mark.parametrize("script", ["os.unlink('a')", "put('b', b'2'); os.replace('b', 'a')"])
def test_a_file_that_gets_the_number_of_a_deleted_one_does_not_write_into_it(disk: Disk, script: str) -> None:
    # Which number a new file gets is the file system's choice, so look at the record that keeps them apart.
    (disk.root / "a").write_bytes(b"1")
    number = (disk.root / "a").stat().st_ino
    assert disk.after(FILES + script) == {"a": b"1"}
    records = {path.name.split("-")[1]: path.readlink().name for path in (disk.place / "shadow-0/inode").iterdir()}
    assert records == {f"{number:x}": "1"}


def test_a_new_image_starts_with_what_is_in_the_folder(disk: Disk) -> None:
    (disk.root / "folder").mkdir()
    (disk.root / "folder" / "old").write_bytes(b"old")
    script = "put('folder/old', b'new', sync=False); put('folder/more', b'1'); sync('folder')"
    assert disk.after(FILES + script) == {"folder/old": b"old", "folder/more": b"1"}


def test_a_large_file_survives_whole(disk: Disk) -> None:
    left = disk.after(FILES + "put('a', bytes(range(256)) * 40_000); sync()")
    assert left == {"a": bytes(range(256)) * 40_000}
