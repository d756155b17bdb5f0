"""All results as flat tables. Each is written as a CSV file and, row for row, as a JSONL file."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from cohabit.lab.files import atomic_file
from cohabit.lab.statecraft import measures
from cohabit.lab.statecraft.pledges import PledgeOutcome, final_ratings, pledge_outcomes, ratings_with_history
from cohabit.lab.statecraft.rounds import Round
from cohabit.lab.tables import safe_cell

Row = dict[str, Any]
SUM_COLUMNS = (
    "gross_income", "income_destroyed", "military_spending", "grants_paid", "grants_received", "welfare", "mils_lost",
)  # fmt: skip
"""The columns of a turn that are summed over a round."""


def write_tables(rounds: Sequence[Round], folder: Path) -> None:
    """Write all tables row by row, because together they are larger than the rounds."""
    for name, table in TABLES.items():
        with atomic_file(folder / f"{name}.csv") as csv_file, atomic_file(folder / f"{name}.jsonl") as jsonl_file:
            text = io.TextIOWrapper(csv_file, encoding="utf-8", newline="")
            writer = csv.DictWriter(text, table.columns.split(), lineterminator="\n")
            writer.writeheader()
            for row in (row for played in rounds for row in table.rows(played)):
                writer.writerow({name: safe_cell(value) for name, value in row.items()})
                jsonl_file.write(msgspec.json.encode(row) + b"\n")
            text.detach()  # `atomic_file` closes the file


def _rounded(number: Fraction | None) -> float | None:
    return None if number is None else round(float(number), 6)


# -- the tables -------------------------------------------------------------------------------------
def _place(played: Round) -> Row:
    return {"lineup": played.place.lineup, "seed": played.place.seed, "round": played.place.number}


def round_rows(played: Round) -> Iterator[Row]:
    """One row per round."""
    fought = measures.wars(played)
    yield {
        **_place(played),
        "nations": len(played.players),
        "turns": len(played.turns),
        **{column: measures.total(played.turns, column) for column in SUM_COLUMNS},
        "cooperation": _rounded(measures.cooperation(played)),
        "gini": _rounded(measures.gini(measures.totals(played, "welfare"))),
        "wars": len(fought),
        "war_turns": sum(war.turns for war in fought),
        **_pledge_counts(pledge_outcomes(played)),
    }


def nation_rows(played: Round) -> Iterator[Row]:
    """One row per round and nation."""
    sums = {column: measures.totals(played, column) for column in (*SUM_COLUMNS, "dropped")}
    ranks, wins, outcomes = measures.ranks(played), measures.wins(played), pledge_outcomes(played)
    end = played.turns[-1]
    final = final_ratings(ratings_with_history(played))
    for i, (nation, player) in enumerate(played.players.items()):
        ratings = [entry.rating.keeps_word for entry in final if entry.rating.rated == nation]
        yield {
            **_place(played),
            "nation": nation,
            "player": player,
            "rank": ranks[i],
            "win": _rounded(wins[i]),
            **{column: values[i] for column, values in sums.items()},
            "mils": end.mils[i],
            "territories": end.territories[i],
            **_pledge_counts([outcome for outcome in outcomes if outcome.pledge.author == nation]),
            "mean_keeps_word_rating": _rounded(Fraction(sum(ratings), len(ratings))) if ratings else None,
        }


def _pledge_counts(outcomes: Sequence[PledgeOutcome]) -> Row:
    return {
        "pledges_kept": sum(outcome.kept is True for outcome in outcomes),
        "pledges_broken": sum(outcome.kept is False for outcome in outcomes),
        "pledges_open": sum(outcome.kept is None for outcome in outcomes),
    }


def turn_rows(played: Round) -> Iterator[Row]:
    """One row per round, turn and nation."""
    columns = (*SUM_COLUMNS, "mils", "territories", "dropped")
    for number, turn in enumerate(played.turns):
        for i, (nation, player) in enumerate(played.players.items()):
            values = {column: getattr(turn, column)[i] for column in columns}
            yield {**_place(played), "turn": number, "nation": nation, "player": player, **values}


def war_rows(played: Round) -> Iterator[Row]:
    for war in measures.wars(played):
        nation_a, nation_b = war.pair
        yield {
            **_place(played),
            "nation_a": nation_a,
            "nation_b": nation_b,
            "player_a": played.players[nation_a],
            "player_b": played.players[nation_b],
            "started_by": war.started_by,
            "first_turn": war.first,
            "last_turn": war.last,
            "mils": war.mils,
            "income_destroyed": _rounded(war.income_destroyed),
        }


def attack_rows(played: Round) -> Iterator[Row]:
    for number, turn in enumerate(played.turns):
        for attack in turn.attacks:
            yield {**_place(played), "turn": number, **attack._asdict()}


def grant_rows(played: Round) -> Iterator[Row]:
    for number, turn in enumerate(played.turns):
        for grant in turn.grants:
            yield {**_place(played), "turn": number, **grant._asdict()}


def pledge_rows(played: Round) -> Iterator[Row]:
    for outcome in pledge_outcomes(played):
        pledge = outcome.pledge
        yield {
            **_place(played),
            "turn": outcome.made,
            "author": pledge.author,
            "player": played.players[pledge.author],
            "pledge": "grant" if pledge.amount else "no attack",
            "target": pledge.target,
            "amount": pledge.amount,
            "recipients": " ".join(pledge.recipients),
            "done": outcome.done,
            "outcome": {True: "kept", False: "broken", None: "open"}[outcome.kept],
        }


def rating_rows(played: Round) -> Iterator[Row]:
    for entry in ratings_with_history(played):
        yield {
            **_place(played),
            "turn": entry.turn,
            **entry.rating._asdict(),
            "pledges_kept_before": entry.kept,
            "pledges_broken_before": entry.broken,
        }


class RoundTable(NamedTuple):
    """The columns are listed, so that a table without rows still has a header."""

    columns: str
    rows: Callable[[Round], Iterator[Row]]


_PLACE, _SUMS = "lineup seed round", " ".join(SUM_COLUMNS)
_PLEDGES = "pledges_kept pledges_broken pledges_open"
TABLES = {
    "by-round": RoundTable(f"{_PLACE} nations turns {_SUMS} cooperation gini wars war_turns {_PLEDGES}", round_rows),
    "by-nation": RoundTable(
        f"{_PLACE} nation player rank win {_SUMS} dropped mils territories {_PLEDGES} mean_keeps_word_rating",
        nation_rows,
    ),
    "by-turn": RoundTable(f"{_PLACE} turn nation player {_SUMS} mils territories dropped", turn_rows),
    "wars": RoundTable(
        f"{_PLACE} nation_a nation_b player_a player_b started_by first_turn last_turn mils income_destroyed", war_rows
    ),
    "attacks": RoundTable(f"{_PLACE} turn attacker target mils", attack_rows),
    "grants": RoundTable(f"{_PLACE} turn giver receiver amount", grant_rows),
    "pledges": RoundTable(f"{_PLACE} turn author player pledge target amount recipients done outcome", pledge_rows),
    "ratings": RoundTable(
        f"{_PLACE} turn rater rated keeps_word aggressor pledges_kept_before pledges_broken_before", rating_rows
    ),
}
