"""Promises that can be checked: what counts as one, and whether it was kept.

A pledge is a line of a message (or a part of one between semicolons) that says

    pledge: grant 12 to Brena
    pledge: no attack on Brena

and holds for the next turn. Who promises the same twice, or to several, has promised once. A grant is kept when at
least as much was *paid*: what somebody wanted to pay and could not is a broken promise. Peace is kept when not one mil
was sent.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from cohabit.lab.record import Pledge, Rating, Round
from cohabit.worlds.statecraft.rules import EVERYBODY

LONGEST_LINE = 200
"""No pledge is longer; whatever is, is not searched for one."""
FORM = re.compile(r"pledge:\s+(?:grant\s+([0-9]{1,9})\s+to|no\s+attack\s+on)\s+(\S.*)", re.IGNORECASE)


class Outcome(NamedTuple):
    """A pledge and what became of it. ``kept`` is None where the round ended before it was due."""

    made: int
    pledge: Pledge
    done: int  # money paid, or mils sent
    kept: bool | None


def pledges_in(text: str) -> Iterator[tuple[int, str]]:
    """The amounts and names that a message pledges; the amount is 0 where it pledges peace."""
    for line in re.split(r"[\n;]", text):
        if len(line) <= LONGEST_LINE and (found := FORM.fullmatch(line.strip().rstrip(".! "))):
            amount, toward = found.groups()
            if amount is None or int(amount) > 0:
                yield int(amount or 0), toward


def read_pledges(
    sent: Mapping[str, Mapping[str, str]], nations: Sequence[str], open_messages: bool = False
) -> list[Pledge]:
    """The pledges in the messages of a turn (sender -> addressee or ``all`` -> text), in name order.

    Where messages are open, everybody hears every pledge.
    """
    heard: dict[tuple[str, str, int], list[str]] = {}
    for by in sorted(sent):
        for to, text in sorted(sent[by].items()):
            for amount, toward in pledges_in(text):
                if toward in nations and toward != by:
                    ears = nations if open_messages or to == EVERYBODY else [to]
                    known = heard.setdefault((by, toward, amount), [])
                    known.extend(ear for ear in ears if ear != by and ear not in known)
    return [Pledge(by, toward, amount, sorted(ears)) for (by, toward, amount), ears in sorted(heard.items())]


def outcomes(played: Round) -> list[Outcome]:
    """Every pledge of a round, judged by what happened in the turn after it."""
    found: list[Outcome] = []
    for made, (turn, due) in enumerate(zip_longest(played.turns, played.turns[1:])):
        if due is None:
            found += [Outcome(made, pledge, 0, None) for pledge in turn.pledges]
            continue
        paid = {(giver, receiver): amount for giver, receiver, amount in due.grants}
        sent = {(attack.attacker, attack.target): attack.mils for attack in due.attacks}
        found += [_judged(made, pledge, paid, sent) for pledge in turn.pledges]
    return found


def _judged(
    made: int, pledge: Pledge, paid: Mapping[tuple[str, str], int], sent: Mapping[tuple[str, str], int]
) -> Outcome:
    pair = (pledge.by, pledge.toward)
    if pledge.amount:
        return Outcome(made, pledge, paid.get(pair, 0), paid.get(pair, 0) >= pledge.amount)
    return Outcome(made, pledge, sent.get(pair, 0), pair not in sent)


class Judged(NamedTuple):
    """A rating, beside what the rater had been promised by the rated and seen kept or broken before it rated."""

    turn: int
    rating: Rating
    kept: int
    broken: int


def ratings_against_promises(played: Round) -> list[Judged]:
    """Every rating of somebody else. What falls due in a turn is known when the next turn's ratings are given."""
    made: dict[int, list[Outcome]] = {}
    for outcome in outcomes(played):
        made.setdefault(outcome.made, []).append(outcome)
    known: dict[tuple[str, str], tuple[int, int]] = {}
    found: list[Judged] = []
    for turn, happened in enumerate(played.turns):
        for outcome in made.get(turn - 2, ()):
            for ear in outcome.pledge.heard:
                kept, broken = known.get((ear, outcome.pledge.by), (0, 0))
                known[ear, outcome.pledge.by] = (kept + 1, broken) if outcome.kept else (kept, broken + 1)
        found.extend(
            Judged(turn, rating, *known.get((rating.rater, rating.rated), (0, 0)))
            for rating in happened.ratings
            if rating.rater != rating.rated
        )
    return found


def last_word(judged: Sequence[Judged]) -> list[Judged]:
    """Of each rater the last rating of each other's word: one per pair, so that long rounds do not count more."""
    last = {(one.rating.rater, one.rating.rated): one for one in judged if one.rating.keeps_word}
    return [last[pair] for pair in sorted(last)]
