"""Tables as files: CSV, JSON lines and Parquet. Values that are no scalars are JSON in CSV and Parquet."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec

from cohabit.errors import BadArgs
from cohabit.lab.analysis import ConditionResults, Difference, PlayerInCondition, analyse, between_conditions
from cohabit.lab.estimates import Estimate
from cohabit.lab.files import atomic_file
from cohabit.lab.ratings import can_rate, rate
from cohabit.lab.results import Results
from cohabit.lab.scoring import is_won, scores, winners
from cohabit.lab.summaries import summaries
from cohabit.model.table_files import read_table

Format = Literal["csv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "jsonl", "parquet")
BATCH_ROWS = 5_000
NO_PARQUET = "Parquet files need the package pyarrow; install it with: pip install 'cohabit[lab]'"
FORMULA = ("=", "+", "-", "@", "\t", "\r")

Row = Mapping[str, Any]
Kind = Literal["text", "integer", "number", "flag", "json"]
COLUMNS = read_table(__file__, dict[str, dict[str, Kind]])
"""The columns of each table with their kinds, so that a table without rows has a header, and every Parquet file the
same types."""


def can_write_parquet() -> bool:
    return find_spec("pyarrow") is not None


# -- the tables of a report -------------------------------------------------------------------------
_TALLY = ("decisions", "failures", "outcomes", "prompt_tokens", "completion_tokens", "dollars", "charged")
_OF_PLAYER = ("player", "games", "won", "drawn", "stopped", "against_itself", "compared")
_WHOLE_TALLY = (*_TALLY, "unpriced", "requests", "causes")


def _estimated(found: Estimate | None) -> Row:
    if found is None:
        return {"mean": None, "half_width_95": None, "seeds": 0}
    return {"mean": float(found.mean), "half_width_95": found.interval, "seeds": found.n}


def _player_rows(results: Results) -> Iterator[Row]:
    """Each player in each condition, over all line-ups, and in each line-up."""
    problems = results.commonest_problems()
    for found in results.conditions():
        for player in found.players:
            yield _player_row(found, "", player, problems)
        for lineup, players in found.lineups.items():
            for player in players:
                yield _player_row(found, lineup, player, {})


def _player_row(
    found: ConditionResults, lineup: str, player: PlayerInCondition, problems: Mapping[tuple[str, str], str]
) -> Row:
    share = player.win_interval
    return {
        "setting": found.condition.setting,
        "factors": found.condition.factors,
        "lineup": lineup,
        **{name: getattr(player, name) for name in _OF_PLAYER},
        "points": float(player.points),
        "share_low_95": share[0] if share else None,
        "share_high_95": share[1] if share else None,
        **_estimated(player.score),
        **{name: getattr(player.tally, name) for name in _WHOLE_TALLY},
        "median_seconds": player.median_seconds,
        "commonest_problem": problems.get((found.condition.title, player.player), ""),
    }


def _game_rows(results: Results) -> Iterator[Row]:
    without = {game for found in analyse(results.games) for game in found.undecided}
    for game in results.games:
        best, points, decided = winners(game), scores(game), game.spec.id not in without
        won = is_won(game, best)
        for seat, player in enumerate(game.spec.named):
            yield {
                "game": game.spec.id,
                **{name: getattr(game.spec, name) for name in ("setting", "factors", "lineup", "seed", "order")},
                "seat": game.seats[seat],
                "player": player,
                "score": points[seat],
                "won": decided and won and seat in best,
                "drawn": decided and not won and seat in best,
                "decided": decided,
                "ended": game.ended,
                "ticks": game.ticks,
                **{name: getattr(game.tallies[seat], name) for name in _TALLY},
                "standing": next((s.data for s in game.standings if s.seat == game.seats[seat]), {}),
                "record": f"records/{game.spec.id}.jsonl",
            }


def _difference_rows(results: Results) -> Iterator[Row]:
    found = analyse(results.games)
    for each in [difference for condition in found for difference in condition.differences]:
        yield _difference("players", each)
    for each in between_conditions(found):
        yield _difference("conditions", each)


def _difference(between: str, each: Difference) -> Row:
    """Between conditions, the first column of the difference is the player."""
    of_players = between == "players"
    return {
        "between": between,
        "condition": each.condition if of_players else "",
        "lineup": each.lineup,
        "player": "" if of_players else each.condition,
        "first": each.first,
        "second": each.second,
        **_estimated(each.difference),
    }


def _seat_rows(results: Results) -> Iterator[Row]:
    for found in analyse(results.games):
        for seat in found.seats:
            yield {
                "condition": seat.condition,
                "seat": seat.seat,
                "games": seat.games,
                "points": float(seat.won),
                "score": float(seat.score.mean),
                **_estimated(seat.advantage),
            }


def _rating_rows(results: Results) -> Iterator[Row]:
    if not can_rate():
        return
    for found in analyse(results.games):
        of_condition = {"setting": found.condition.setting, "factors": found.condition.factors}
        for each in (each for each in rate(found.compared) if each.games):
            rating = {"group": each.group, "games": each.games, "mu": each.mu, "sigma": each.sigma}
            yield {**of_condition, "player": each.player, **rating}


def _measure_rows(results: Results) -> Iterator[Row]:
    """Each player in each condition: the world's figures over many games, then the measures of its games."""
    for found in analyse(results.games):
        world, condition = found.games[0].spec.world, found.condition
        for player in found.players:
            of_player = {"setting": condition.setting, "factors": condition.factors, "player": player.player}
            seeds = len({seed for by_seed in player.measures.values() for seed in by_seed})
            for name, figure in summaries(world, player.measures).items():
                yield {**of_player, "measure": name, "mean": figure.value, **_bounds(figure.interval), "seeds": seeds}
            for name in player.measures:
                yield {**of_player, "measure": name, **_measured(player.measure(name))}


def _measured(found: Estimate | None) -> Row:
    if found is None or found.interval is None:
        return {**_estimated(found), **_bounds(None)}
    mean = float(found.mean)
    return {**_estimated(found), **_bounds((mean - found.interval, mean + found.interval))}


def _bounds(interval: tuple[float, float] | None) -> Row:
    low, high = interval or (None, None)
    return {"low_95": low, "high_95": high}


TABLES: dict[str, Callable[[Results], Iterable[Row]]] = {
    "players": _player_rows,
    "seats-of-games": _game_rows,
    "differences": _difference_rows,
    "seats": _seat_rows,
    "ratings": _rating_rows,
    "measures": _measure_rows,
}


def write_tables(results: Results, folder: Path) -> list[Path]:
    """Write all tables in all formats; Parquet only if it can be written."""
    written = []
    for name, rows_of in TABLES.items():
        rows = list(rows_of(results))
        for form in FORMATS:
            if form != "parquet" or can_write_parquet():
                path = folder / f"{name}.{form}"
                write_table(path, form, COLUMNS[name], rows)
                written.append(path)
    return written


# -- the formats ------------------------------------------------------------------------------------
def write_table(path: Path, form: Format, columns: Mapping[str, Kind], rows: Iterable[Row]) -> int:
    """Write rows to a file that is complete or not there. Returns how many."""
    if form == "parquet":
        return _write_parquet(path, columns, rows)
    encode, count = msgspec.json.Encoder().encode, 0
    with atomic_file(path) as file:
        if form == "csv":
            file.write(csv_line(columns))
        for row in rows:
            if form == "csv":
                file.write(csv_line(_flat(row.get(name), kind) for name, kind in columns.items()))
            else:
                file.write(encode({name: row.get(name) for name in columns}) + b"\n")
            count += 1
    return count


def csv_line(cells: Iterable[Any]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # so that line breaks in a cell are quoted
    writer.writerow(map(_safe, cells))
    return out.getvalue().encode()


def _safe(value: Any) -> Any:
    """Names are texts of others: a spreadsheet must not read one as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _flat(value: Any, kind: Kind) -> Any:
    return msgspec.json.encode(value).decode() if kind == "json" and value is not None else value


def _write_parquet(path: Path, columns: Mapping[str, Kind], rows: Iterable[Row]) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadArgs(NO_PARQUET) from None
    kinds: dict[Kind, Any] = {
        "text": pyarrow.string(), "json": pyarrow.string(), "integer": pyarrow.int64(), "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
    }  # fmt: skip
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    count, left = 0, iter(rows)
    with atomic_file(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := list(islice(left, BATCH_ROWS)):
            writer.write_table(_arrow_table(pyarrow, schema, columns, batch))
            count += len(batch)
    return count


def _arrow_table(pyarrow: Any, schema: Any, columns: Mapping[str, Kind], rows: Sequence[Row]) -> Any:
    made = {name: [_flat(row.get(name), kind) for row in rows] for name, kind in columns.items()}
    return pyarrow.Table.from_pydict(made, schema=schema)
