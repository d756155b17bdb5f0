"""The index that search uses: which lines contain which three bytes, and the lines themselves (SQLite, FTS5).

It lives in ``.git/cohabit`` and belongs to this clone alone. One that is broken or of another version is made anew.
Bytes are put in as if they were Latin-1, one character each, so that a search finds bytes, whatever they mean.
"""

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

VERSION: Final = 2
SCHEMA: Final = f"""
    CREATE TABLE files (path TEXT PRIMARY KEY, stamp BLOB NOT NULL, kind INTEGER NOT NULL,
                        first INTEGER NOT NULL, lines INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE lines (id INTEGER PRIMARY KEY, line BLOB NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5 (line, content='', detail=none, tokenize='trigram case_sensitive 1');
    PRAGMA user_version = {VERSION};
"""
GRAM: Final = 3
MOST_GRAMS: Final = 24
"""That narrow a search; what they leave is compared in full."""
CACHE: Final = 32 * 1024
"""Kilobytes of the database that may stay in memory."""
BY_WORDS: Final = """
    SELECT id, lines.line FROM words JOIN lines ON id = words.rowid WHERE words MATCH ?1 AND instr(lines.line, ?2)
"""
BY_LOOKING: Final = "SELECT id, line FROM lines WHERE instr(line, ?2) AND ?1 = ''"
NO_NUL: Final = "\u0100"
"""Stands for a NUL, at which the index would stop reading; no byte is like it."""


class Kind(IntEnum):
    TEXT = 0
    BINARY = 1
    LARGE = 2
    """Text too, but not kept here: whoever searches reads it."""


class File(NamedTuple):
    """What the index knows of a file. Its lines have the numbers from ``first`` on; empty ones are not kept."""

    stamp: bytes
    kind: Kind
    first: int
    lines: int


class Index:
    """Open it and use it under the lock of the clone. Every method may raise ``sqlite3.Error``."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._begin()
        except BaseException:  # it is broken, and nobody gets to close it
            self._db.close()
            raise

    def _begin(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA cache_size = -{CACHE}")
        if self._one("PRAGMA user_version") != VERSION:
            self._make()
        self._seen = -1
        self.refresh()

    def _make(self) -> None:
        with self.changing():
            for (name,) in self._db.execute("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE%TABLE%'").fetchall():
                self._db.execute(f'DROP TABLE IF EXISTS "{name}"')
            for statement in SCHEMA.split(";"):
                self._db.execute(statement)

    def close(self) -> None:
        self._db.close()

    def refresh(self) -> None:
        """See what another process has put in."""
        version = self._one("PRAGMA data_version")
        if version == self._seen:
            return
        self.files: dict[str, File] = {}
        for path, stamp, kind, first, lines in self._db.execute("SELECT * FROM files"):
            self.files[path] = File(stamp, Kind(kind), first, lines)
        with_lines = sorted((file.first, path) for path, file in self.files.items() if file.lines)
        self._firsts = [first for first, _ in with_lines]
        self._paths = [path for _, path in with_lines]
        """The files that have lines here, in the order of their numbers; beside it, those numbers."""
        self.large = {path for path, file in self.files.items() if file.kind is Kind.LARGE}
        self._next: int = 1 + self._one("SELECT coalesce(max(first + lines), 0) FROM files")
        self._seen = version

    @contextmanager
    def changing(self) -> Iterator[None]:
        """All that is put and dropped in here, or none of it."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            self._seen = -1
            raise
        self._db.execute("COMMIT")

    def put(self, path: str, stamp: bytes, kind: Kind, body: bytes) -> None:
        self.drop(path)
        lines = body.split(b"\n") if kind is Kind.TEXT else []
        file = File(stamp, kind, self._next, len(lines))
        kept = [(number, line) for number, line in enumerate(lines, file.first) if line]
        self._db.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?)", (path, *file))
        self._db.executemany("INSERT INTO lines VALUES (?, ?)", kept)
        self._db.executemany("INSERT INTO words (rowid, line) VALUES (?, ?)", [(n, _letters(line)) for n, line in kept])
        self.files[path] = file
        if kind is Kind.LARGE:
            self.large.add(path)
        if lines:
            self._firsts.append(file.first)
            self._paths.append(path)
            self._next += len(lines)

    def drop(self, path: str) -> None:
        file = self.files.pop(path, None)
        if file is None:
            return
        self.large.discard(path)
        self._db.execute("DELETE FROM files WHERE path = ?", (path,))
        if not file.lines:
            return
        at = bisect_left(self._firsts, file.first)
        del self._firsts[at], self._paths[at]
        span = (file.first, file.first + file.lines)
        rows = self._db.execute("SELECT id, line FROM lines WHERE id >= ? AND id < ?", span).fetchall()
        gone = [(number, _letters(line)) for number, line in rows]
        self._db.executemany("INSERT INTO words (words, rowid, line) VALUES ('delete', ?, ?)", gone)
        self._db.execute("DELETE FROM lines WHERE id >= ? AND id < ?", span)

    def find(self, wanted: bytes) -> Iterator[tuple[str, int, bytes]]:
        """Path, number and text of every line that contains ``wanted``, in no order. Large files are left out."""
        grams = _grams(wanted)
        rows = self._db.execute(BY_WORDS if grams else BY_LOOKING, (grams, wanted))
        firsts, paths = self._firsts, self._paths
        for number, line in rows:
            at = bisect_right(firsts, number) - 1
            yield paths[at], number - firsts[at] + 1, line

    def _one(self, sql: str) -> Any:
        return self._db.execute(sql).fetchone()[0]


def _letters(line: bytes) -> str:
    return line.decode("latin-1").replace("\0", NO_NUL)


def _grams(wanted: bytes) -> str:
    """A question for lines with some of the threes of bytes that ``wanted`` has; empty where it is too short."""
    text = wanted.decode("latin-1")
    starts = range(0, max(0, len(text) - GRAM + 1), max(GRAM, len(text) // MOST_GRAMS))
    quoted = (text[i : i + GRAM].replace('"', '""') for i in starts)
    return " AND ".join(f'"{gram}"' for gram in quoted)
