"""The folder of a run.

::

    design.json         the design, with all defaults
    fingerprints.json   hashes of the code and config of each world and player, and the version of Cohabit
    games.jsonl         one GameResult for each finished game
    decisions.jsonl     one DecisionLine for each decision of a finished game: what was asked, answered and played
    timings.jsonl       one TimingLine for each finished game; it differs from run to run
    records/GAME.jsonl  the record of each game; `cohabit replay` and `cohabit verify` read it
    spending.jsonl      if a model costs something: each change of what was paid and reserved; may differ, too
    unfinished/         the answers of games that are not finished; removed with the last of them

The lines are in the order of the plan. All lines of a game are written before its line in games.jsonl, which makes it
finished. A killed run can leave more than that; it is removed, and the game is played again with its logged answers.
``timings.jsonl`` may have lines of games that were played twice; the last one counts.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.agents.decision import PlayerDecision
from cohabit.agents.spending import SpendingLog
from cohabit.errors import Conflict, RecordCorrupt, UnknownAsset
from cohabit.house.store.disk import sync_folder
from cohabit.lab.design import Design, parse_design
from cohabit.lab.files import Log, encode_lines, read_log, write_atomically
from cohabit.lab.fingerprint import Prints, check_same
from cohabit.lab.game import GameResult, GameSpec
from cohabit.room.record import GENESIS, Line, read_lines

DESIGN, FINGERPRINTS = "design.json", "fingerprints.json"
GAMES, DECISIONS, TIMINGS = "games.jsonl", "decisions.jsonl", "timings.jsonl"
RECORDS, UNFINISHED = "records", "unfinished"
SPENDING = "spending.jsonl"
CAP = "max_cost"
"""The key of a design that may change."""
MAX_KEYS = 5
"""The number of keys that are named where two designs differ."""
SYNC_BYTES = 1 << 20
"""The bytes that may be written before a sync to disk. If the machine fails, no more than that is played again."""


class DecisionLine(Struct, frozen=True, omit_defaults=True, gc=False):
    """A decision of the player on seat number ``seat`` (from 0)."""

    game: str
    seat: int
    player: str
    decision: PlayerDecision


class TimingLine(Struct, frozen=True, gc=False):
    """The duration of a game, and for each seat the seconds of its decisions."""

    game: str
    seconds: float
    decisions: list[list[float]]

    def rounded(self) -> "TimingLine":
        """As it is written: with six decimals."""
        decisions = [[round(seconds, 6) for seconds in times] for times in self.decisions]
        return TimingLine(self.game, round(self.seconds, 6), decisions)


class Played(Struct, frozen=True, gc=False):
    """A finished game, and its lines in the other files. ``record`` is empty if it is written already."""

    result: GameResult
    decisions: bytes
    timing: TimingLine
    record: bytes = b""


class RecordLine(Struct, gc=False):
    """A line of a record. ``entry`` keeps its exact bytes: the digest is over them."""

    seq: int
    digest: str
    entry: msgspec.Raw


def record_lines(lines: Sequence[Line]) -> bytes:
    """A record as `cohabit export` writes it."""
    return encode_lines([RecordLine(line.seq, line.digest.hex(), msgspec.Raw(line.body)) for line in lines])


def write_record(folder: Path, game: str, record: bytes) -> None:
    path = record_path(folder, game)
    part = path.with_name(path.name + ".part")
    part.write_bytes(record)
    part.replace(path)


# -- reading ----------------------------------------------------------------------------------------
def read_design_of(folder: Path) -> Design:
    """The design of a run. Its worlds and players are not loaded."""
    path = folder / DESIGN
    if not path.is_file():
        raise UnknownAsset(f"there is no run in {folder}; create one with `cohabit match` or `cohabit lab run`")
    return parse_design(path.read_bytes(), load=False)


def read_games(folder: Path) -> list[GameResult]:
    """The finished games, also while a run is in progress."""
    return read_log(folder / GAMES, GameResult)[0]


def read_decisions(folder: Path) -> Iterator[DecisionLine]:
    """The decisions of the finished games."""
    yield from _each(folder / DECISIONS, DecisionLine)


def read_timings(folder: Path) -> dict[str, TimingLine]:
    return {line.game: line for line in _each(folder / TIMINGS, TimingLine)}


def read_fingerprints(folder: Path) -> Prints:
    found: Prints = msgspec.json.decode((folder / FINGERPRINTS).read_bytes())
    return found


def record_path(folder: Path, game: str) -> Path:
    return folder / RECORDS / f"{game}.jsonl"


def players_of_record(path: Path) -> list[str]:
    """The players in the game of a record, by seat; in the record itself players have neutral names, because the others
    can see them. Empty if the file is not in the folder of a run."""
    folder = path.resolve().parent.parent
    if path.resolve().parent.name != RECORDS or not (folder / GAMES).is_file():
        return []
    return next((game.spec.named for game in read_games(folder) if game.spec.id == path.stem), [])


def read_record(folder: Path, game: str) -> Iterator[Line]:
    """The record of a game, with its chain of digests verified."""
    path = record_path(folder, game)
    return read_lines(
        ((line.seq, bytes(line.entry), _digest(path, line)) for line in _each(path, RecordLine)), -1, GENESIS
    )


def lines_of(record: bytes, game: str) -> list[Line]:
    """The record of a game that is in memory, with its chain of digests verified."""
    name = Path(f"{game}.jsonl")
    try:
        lines = msgspec.json.Decoder(RecordLine).decode_lines(record)
    except msgspec.MsgspecError as wrong:
        raise RecordCorrupt(f"{name} cannot be read: {wrong}") from None
    return list(read_lines(((line.seq, bytes(line.entry), _digest(name, line)) for line in lines), -1, GENESIS))


def _digest(path: Path, line: RecordLine) -> bytes:
    try:
        return bytes.fromhex(line.digest)
    except ValueError:
        raise RecordCorrupt(f"{path.name}, entry {line.seq}: the digest is not a hexadecimal number") from None


def _each(path: Path, kind: type[Any]) -> Iterator[Any]:
    """The lines of a file, without an incomplete last one."""
    decode = msgspec.json.Decoder(kind).decode
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield decode(line)
            except msgspec.MsgspecError as wrong:
                raise RecordCorrupt(f"{path.name}, line {number} cannot be read: {wrong}") from None


# -- writing ----------------------------------------------------------------------------------------
class RunFolder:
    """An open folder, locked by this process."""

    def __init__(self, folder: Path, games: list[GameResult], logs: dict[str, Log]) -> None:
        self.folder = folder
        self.games = games
        self._logs = logs
        self._unsynced = 0

    def add(self, played: Played) -> None:
        """Append a game."""
        game = played.result.spec.id
        if played.record:
            write_record(self.folder, game, played.record)
        self._append(TIMINGS, encode_lines([played.timing.rounded()]))
        self._append(DECISIONS, played.decisions)
        self._append(GAMES, encode_lines([played.result]))
        answers_path(self.folder, game).unlink(missing_ok=True)
        self.games.append(played.result)
        if self._unsynced >= SYNC_BYTES:
            self.sync()

    def sync(self) -> None:
        for name in (TIMINGS, DECISIONS, GAMES):
            self._logs[name].sync()
        self._unsynced = 0

    def drop_answers(self) -> None:
        """Remove the answers of unfinished games."""
        shutil.rmtree(self.folder / UNFINISHED, ignore_errors=True)

    def _append(self, name: str, text: bytes) -> None:
        self._unsynced += len(text)
        self._logs[name].append(text)


def spending_path(folder: Path) -> Path:
    return folder / SPENDING


def read_spending(folder: Path) -> tuple[float, float]:
    """Dollars that were paid, and dollars of requests whose cost is not known, or not yet."""
    return SpendingLog(spending_path(folder)).read()


def answers_path(folder: Path, game: str) -> Path:
    """The log of the answers of an unfinished game."""
    return folder / UNFINISHED / f"{game}.jsonl"


@contextmanager
def open_folder(folder: Path, design: Design, prints: Prints, planned: Sequence[GameSpec]) -> Iterator[RunFolder]:
    """Open the folder of a run, or create it. It never mixes designs or versions."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        logs = {GAMES: opened.enter_context(closing(Log(folder / GAMES)))}
        logs[GAMES].lock()
        claim(folder, DESIGN, design.as_file(), prints, GAMES, _without_cap)
        logs |= {name: opened.enter_context(closing(Log(folder / name))) for name in (DECISIONS, TIMINGS)}
        (folder / RECORDS).mkdir(exist_ok=True)
        (folder / UNFINISHED).mkdir(exist_ok=True)
        games = _finished(folder, logs, planned)
        SpendingLog(spending_path(folder)).repair()
        sync_folder(folder)
        run = RunFolder(folder, games, logs)
        try:
            yield run
        finally:
            run.sync()


def claim(
    folder: Path, name: str, text: bytes, prints: Prints, log: str, comparable: Callable[[bytes], object] = bytes
) -> None:
    """Write the description of a new run to the file ``name``, or compare with the one that is there. ``comparable``:
    the part of it that must not change."""
    path = folder / name
    if not path.exists() and (folder / log).stat().st_size:
        raise Conflict(f"{folder} contains {Path(log).stem} but no {name} that describes them")
    if path.exists() and comparable(path.read_bytes()) != comparable(text):
        keys = [key for key in _differing_keys(_decoded(path.read_bytes()), _decoded(text)) if key != CAP]
        where = f" in {', '.join(keys[:MAX_KEYS])}{' and others' if len(keys) > MAX_KEYS else ''}" if keys else ""
        raise Conflict(f"{folder} belongs to another {path.stem} (its {name} differs{where}); use another folder")
    if path.exists() and (folder / FINGERPRINTS).exists():
        check_same(prints, read_fingerprints(folder), folder)
    else:
        write_atomically(folder / FINGERPRINTS, msgspec.json.format(msgspec.json.encode(prints)) + b"\n")
    if not path.exists() or path.read_bytes() != text:
        write_atomically(path, text)


def _decoded(text: bytes) -> object:
    """None for a file that was damaged."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return None


def _differing_keys(one: object, other: object) -> list[str]:
    """The keys whose values differ, with dots for a key in a table."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return []
    found: list[str] = []
    for key in {**one, **other}:
        if one.get(key) != other.get(key):
            deeper = _differing_keys(one.get(key), other.get(key))
            found += [f"{key}.{name}" for name in deeper] or [key]
    return found


def _without_cap(text: bytes) -> dict[str, Any]:
    """A design without its spending cap, which may change."""
    plain: dict[str, Any] = msgspec.json.decode(text)
    plain.pop(CAP, None)
    return plain


def _finished(folder: Path, logs: dict[str, Log], planned: Sequence[GameSpec]) -> list[GameResult]:
    """The finished games. What was written of others is removed."""
    games, size = read_log(folder / GAMES, GameResult)
    for number, (game, spec) in enumerate(zip(games, planned, strict=False), 1):
        if game.spec != spec:
            raise RecordCorrupt(f"{GAMES}, line {number}: expected the game {spec.id}, not {game.spec.id}")
    if len(games) > len(planned):
        raise RecordCorrupt(f"{GAMES}, line {len(planned) + 1}: not part of the design")
    logs[GAMES].cut(size)
    finished = {game.spec.id: game.decisions for game in games}
    logs[DECISIONS].cut(_size_of(folder / DECISIONS, finished))
    return games


def _size_of(path: Path, finished: dict[str, int]) -> int:
    """The size of the lines of finished games."""
    size, left = 0, sum(finished.values())
    with path.open("rb") as file:
        for line in file:
            if not left:
                break
            size += len(line)
            left -= 1
    if left:
        raise RecordCorrupt(f"{path.name} has no lines for the last {left} decisions in {GAMES}")
    return size
