"""Everything that was found, as flat tables: each goes into a CSV file and, row for row, into a JSONL file."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from cohabit.lab import measures, promises
from cohabit.lab.record import Round
from cohabit.lab.run import whole

Row = dict[str, Any]
COLUMNS = ("gross", "burnt", "arms", "granted", "received", "welfare", "lost")
"""Of which a round has sums."""


def write_tables(rounds: Sequence[Round], folder: Path) -> None:
    """Write them all, row by row: together they are larger than the rounds."""
    for name, table in TABLES.items():
        with whole(folder / f"{name}.csv") as listed, whole(folder / f"{name}.jsonl") as lines:
            text = io.TextIOWrapper(listed, encoding="utf-8", newline="")
            writer = csv.DictWriter(text, table.columns.split(), lineterminator="\n")
            writer.writeheader()
            for row in (row for played in rounds for row in table.rows(played)):
                writer.writerow(row)
                lines.write(msgspec.json.encode(row) + b"\n")
            text.detach()  # the file is closed by whoever opened it


def shown(number: Fraction | None) -> float | None:
    """A fraction for people and other programs: six digits after the point."""
    return None if number is None else round(float(number), 6)


# -- the tables -------------------------------------------------------------------------------------
def _place(played: Round) -> Row:
    return {"lineup": played.place.lineup, "seed": played.place.seed, "round": played.place.number}


def of_round(played: Round) -> Iterator[Row]:
    """One row per round."""
    fought, pledged = measures.wars(played), promises.outcomes(played)
    yield {
        **_place(played),
        "nations": len(played.plays),
        "turns": len(played.turns),
        **{column: measures.total(played.turns, column) for column in COLUMNS},
        "cooperation": shown(measures.cooperation_of(played)),
        "gini": shown(measures.gini(measures.totals(played, "welfare"))),
        "wars": len(fought),
        "war_turns": sum(war.turns for war in fought),
        **_promises(pledged),
    }


def of_nations(played: Round) -> Iterator[Row]:
    """One row per round and nation."""
    sums = {column: measures.totals(played, column) for column in (*COLUMNS, "dropped")}
    ranks, wins, pledged = measures.ranks(played), measures.wins(played), promises.outcomes(played)
    end = played.turns[-1]
    words = promises.last_word(promises.ratings_against_promises(played))
    for i, (nation, plays) in enumerate(played.plays.items()):
        heard = [judged.rating.keeps_word for judged in words if judged.rating.rated == nation]
        yield {
            **_place(played),
            "nation": nation,
            "plays": plays,
            "rank": ranks[i],
            "win": shown(wins[i]),
            **{column: values[i] for column, values in sums.items()},
            "mils": end.mils[i],
            "land": end.land[i],
            **_promises([one for one in pledged if one.pledge.by == nation]),
            "keeps_word_by_others": shown(Fraction(sum(heard), len(heard))) if heard else None,
        }


def _promises(pledged: Sequence[promises.Outcome]) -> Row:
    return {
        "promises_kept": sum(one.kept is True for one in pledged),
        "promises_broken": sum(one.kept is False for one in pledged),
        "promises_open": sum(one.kept is None for one in pledged),
    }


def of_turns(played: Round) -> Iterator[Row]:
    """One row per round, turn and nation."""
    columns = (*COLUMNS, "mils", "land", "dropped")
    for number, turn in enumerate(played.turns):
        for i, (nation, plays) in enumerate(played.plays.items()):
            numbers = {column: getattr(turn, column)[i] for column in columns}
            yield {**_place(played), "turn": number, "nation": nation, "plays": plays, **numbers}


def of_wars(played: Round) -> Iterator[Row]:
    for war in measures.wars(played):
        yield {
            **_place(played),
            "one": war.pair[0],
            "other": war.pair[1],
            "one_plays": played.plays[war.pair[0]],
            "other_plays": played.plays[war.pair[1]],
            "began": war.began,
            "first_turn": war.first,
            "last_turn": war.last,
            "mils": war.mils,
            "burnt": shown(war.burnt),
        }


def of_attacks(played: Round) -> Iterator[Row]:
    for number, turn in enumerate(played.turns):
        for attack in turn.attacks:
            yield {**_place(played), "turn": number, **attack._asdict()}


def of_grants(played: Round) -> Iterator[Row]:
    for number, turn in enumerate(played.turns):
        for giver, receiver, amount in turn.grants:
            yield {**_place(played), "turn": number, "giver": giver, "receiver": receiver, "amount": amount}


def of_promises(played: Round) -> Iterator[Row]:
    for one in promises.outcomes(played):
        yield {
            **_place(played),
            "made": one.made,
            "by": one.pledge.by,
            "plays": played.plays[one.pledge.by],
            "what": "grant" if one.pledge.amount else "no attack",
            "toward": one.pledge.toward,
            "amount": one.pledge.amount,
            "heard": " ".join(one.pledge.heard),
            "done": one.done,
            "outcome": {True: "kept", False: "broken", None: "open"}[one.kept],
        }


def of_ratings(played: Round) -> Iterator[Row]:
    for judged in promises.ratings_against_promises(played):
        yield {
            **_place(played),
            "turn": judged.turn,
            **judged.rating._asdict(),
            "kept_before": judged.kept,
            "broken_before": judged.broken,
        }


class Table(NamedTuple):
    """Its columns are said here too: a table without rows still has a head."""

    columns: str
    rows: Callable[[Round], Iterator[Row]]


_PLACE, _MONEY = "lineup seed round", " ".join(COLUMNS)
_JUDGED = "promises_kept promises_broken promises_open"
TABLES = {
    "by-round": Table(f"{_PLACE} nations turns {_MONEY} cooperation gini wars war_turns {_JUDGED}", of_round),
    "by-nation": Table(
        f"{_PLACE} nation plays rank win {_MONEY} dropped mils land {_JUDGED} keeps_word_by_others", of_nations
    ),
    "by-turn": Table(f"{_PLACE} turn nation plays {_MONEY} mils land dropped", of_turns),
    "wars": Table(f"{_PLACE} one other one_plays other_plays began first_turn last_turn mils burnt", of_wars),
    "attacks": Table(f"{_PLACE} turn attacker target mils", of_attacks),
    "grants": Table(f"{_PLACE} turn giver receiver amount", of_grants),
    "promises": Table(f"{_PLACE} made by plays what toward amount heard done outcome", of_promises),
    "ratings": Table(f"{_PLACE} turn rater rated keeps_word aggressor kept_before broken_before", of_ratings),
}
