"""Files about agents in the data folder: what each was asked and answered, and what it remembers.

``agents/ROOM/transcript.jsonl`` has one line per decision; ``transcript.1.jsonl`` the lines before. Only the owner of
the data folder can read them: a prompt contains what a seat sees. Values of API keys are removed.
"""

import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import msgspec
from msgspec import Struct

from cohabit.agents.decision import PlayerDecision
from cohabit.agents.secrets import bytes_without_secrets, private_folder, write_private

log = logging.getLogger("cohabit")
TRANSCRIPT = "transcript.jsonl"
EARLIER = "transcript.1.jsonl"
HANDS = "hands-over.json"
"""The games and hands that were played to their end, so that their decisions are no secret any more."""


class TranscriptLine(Struct, omit_defaults=True):
    """One decision."""

    at: int  # Unix time in ms
    member: str
    seat: str | None
    brain: str
    game: int
    seconds: float
    decision: PlayerDecision
    seq: int = -1  # the entry of its action; if there was none, the one before
    saw: str = ""  # the text of the view that it was made with
    hand: str = ""  # the game and the hand in which it was made; empty: not known, so nobody else may read it
    heard: bool = False  # messages, before it was made: what it was asked may quote them


class Transcripts:
    """The files of all rooms. ``max_bytes`` for each room; 0: no transcripts."""

    def __init__(self, folder: Path | None, max_bytes: int) -> None:
        self._folder = folder.resolve() / "agents" if folder is not None else None
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._encode = msgspec.json.Encoder().encode
        self._failed = False

    def memory_of(self, room: str, member: str) -> Path | None:
        """The file in which an agent keeps its memory; None without a data folder."""
        return self._folder / room / _memory_file(member) if self._folder is not None else None

    def add(
        self, room: str, at: int, member: str, seat: str | None, brain: str, game: int, decision: PlayerDecision,
        seconds: float,
    ) -> None:  # fmt: skip
        """Append a decision. Writes to the disk: call it off the event loop of the house."""
        self.write(room, self.encoded(TranscriptLine(at, member, seat, brain, game, round(seconds, 3), decision)))

    def encoded(self, line: TranscriptLine) -> bytes:
        """A line as it is stored: without API keys."""
        return bytes_without_secrets(self._encode(line))

    def write(self, room: str, encoded: bytes) -> None:
        """Append a line. Writes to the disk: call it off the event loop of the house."""
        if self._folder is None or not self._max_bytes:
            return
        data = encoded + b"\n"
        try:
            with self._lock:
                self._append(self._folder / room, data)
                self._failed = False
        except OSError as wrong:  # the game goes on without it
            if not self._failed:
                log.warning("the transcript of room %s cannot be written: %s", room, wrong.strerror)
            self._failed = True

    def _append(self, folder: Path, data: bytes) -> None:
        """Half of the limit for the current file: when it is full, it replaces the earlier one."""
        private_folder(folder)
        path = folder / TRANSCRIPT
        if path.exists() and path.stat().st_size + len(data) > self._max_bytes // 2:
            path.replace(folder / EARLIER)
        if len(data) <= self._max_bytes // 2:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
                file.write(data)

    def lines(self, room: str) -> Iterator[bytes]:
        """The lines of a room, oldest first."""
        if self._folder is None:
            return
        for name in (EARLIER, TRANSCRIPT):
            with suppress(OSError), (self._folder / room / name).open("rb") as file:
                yield from (line.rstrip(b"\n") for line in file if line.strip())

    def hands_over(self, room: str) -> list[str]:
        if self._folder is None:
            return []
        try:
            return msgspec.json.decode((self._folder / room / HANDS).read_bytes(), type=list[str])
        except (OSError, msgspec.MsgspecError):
            return []

    def write_hands(self, room: str, hands: Sequence[str]) -> None:
        """Replace them. Writes to the disk."""
        if self._folder is not None and self._max_bytes:
            with self._lock:
                write_private(self._folder / room / HANDS, msgspec.json.encode(hands))

    def forget(self, room: str, members: Iterable[str]) -> None:
        """Delete what the agents of a room were asked, because it quotes others, and the memories of these members."""
        if self._folder is None:
            return
        with self._lock:
            for path in (TRANSCRIPT, EARLIER, HANDS, *map(_memory_file, members)):
                (self._folder / room / path).unlink(missing_ok=True)

    def delete_older(self, before_s: float) -> list[str]:
        """Delete the files of rooms whose last decision was before this time. Returns the rooms."""
        if self._folder is None or not self._folder.is_dir():
            return []
        gone = []
        with self._lock:
            for folder in sorted(path for path in self._folder.iterdir() if path.is_dir()):
                files = [path for path in folder.iterdir() if path.is_file()]
                if files and max(path.stat().st_mtime for path in files) < before_s:
                    shutil.rmtree(folder, ignore_errors=True)
                    gone.append(folder.name)
        return gone

    def delete(self, room: str) -> None:
        """Delete the files of a room."""
        if self._folder is not None:
            with self._lock:
                shutil.rmtree(self._folder / room, ignore_errors=True)


def _memory_file(member: str) -> str:
    """A name for people to recognize, and a hash, so that no two members share a file and none is too long."""
    shown = re.sub(r"[^A-Za-z0-9-]", "", member)[:24]
    return f"memory-{shown}-{blake2b(member.encode(), digest_size=16).hexdigest()}.json"
