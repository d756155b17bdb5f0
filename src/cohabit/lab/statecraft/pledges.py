"""Checks that pledges, the promises in messages that can be checked, were kept.

A pledge holds for the next turn. The same pledge sent several times counts once. A grant is kept if at least the amount
was *paid*: a nation that could not pay has broken its pledge. A pledge not to attack is kept if no mil was sent.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from cohabit.lab.statecraft.rounds import Pledge, Rating, Round
from cohabit.worlds.statecraft.pledges import find_pledges
from cohabit.worlds.statecraft.rules import BROADCAST


class PledgeOutcome(NamedTuple):
    """A pledge and its outcome. ``kept`` is None if the round ended before the pledge was due."""

    made: int
    pledge: Pledge
    done: int  # money paid, or mils sent
    kept: bool | None


class RatingWithHistory(NamedTuple):
    """A rating, and how many pledges of the rated nation the rater had seen kept and broken by then."""

    turn: int
    rating: Rating
    kept: int
    broken: int


def read_pledges(
    sent: Mapping[str, Mapping[str, str]], nations: Sequence[str], open_messages: bool = False
) -> list[Pledge]:
    """The pledges in the messages of a turn (sender -> recipient or ``all`` -> text), in name order.

    If messages are open, every nation is a recipient of every pledge.
    """
    recipients_of: dict[tuple[str, str, int], list[str]] = {}
    for author in sorted(sent):
        for to, text in sorted(sent[author].items()):
            for amount, target in find_pledges(text, nations, to):
                if target != author:
                    recipients = nations if open_messages or to == BROADCAST else [to]
                    known = recipients_of.setdefault((author, target, amount), [])
                    known.extend(name for name in recipients if name != author and name not in known)
    return [
        Pledge(author, target, amount, sorted(recipients))
        for (author, target, amount), recipients in sorted(recipients_of.items())
    ]


def pledge_outcomes(played: Round) -> list[PledgeOutcome]:
    """Every pledge of a round, with its outcome in the turn after it."""
    found: list[PledgeOutcome] = []
    for made, (turn, due) in enumerate(zip_longest(played.turns, played.turns[1:])):
        if due is None:
            found += [PledgeOutcome(made, pledge, 0, None) for pledge in turn.pledges]
            continue
        paid = {(grant.giver, grant.receiver): grant.amount for grant in due.grants}
        sent = {(attack.attacker, attack.target): attack.mils for attack in due.attacks}
        found += [_outcome(made, pledge, paid, sent) for pledge in turn.pledges]
    return found


def _outcome(
    made: int, pledge: Pledge, paid: Mapping[tuple[str, str], int], sent: Mapping[tuple[str, str], int]
) -> PledgeOutcome:
    pair = (pledge.author, pledge.target)
    if pledge.amount:
        return PledgeOutcome(made, pledge, paid.get(pair, 0), paid.get(pair, 0) >= pledge.amount)
    return PledgeOutcome(made, pledge, sent.get(pair, 0), pair not in sent)


def ratings_with_history(played: Round) -> list[RatingWithHistory]:
    """Every rating of another nation. The outcome in a turn is known when the next turn's ratings are given."""
    made_in: dict[int, list[PledgeOutcome]] = {}
    for outcome in pledge_outcomes(played):
        made_in.setdefault(outcome.made, []).append(outcome)
    known: dict[tuple[str, str], tuple[int, int]] = {}
    found: list[RatingWithHistory] = []
    for number, turn in enumerate(played.turns):
        for outcome in made_in.get(number - 2, ()):
            for recipient in outcome.pledge.recipients:
                pair = (recipient, outcome.pledge.author)
                kept, broken = known.get(pair, (0, 0))
                known[pair] = (kept + 1, broken) if outcome.kept else (kept, broken + 1)
        found.extend(
            RatingWithHistory(number, rating, *known.get((rating.rater, rating.rated), (0, 0)))
            for rating in turn.ratings
            if rating.rater != rating.rated
        )
    return found


def final_ratings(ratings: Sequence[RatingWithHistory]) -> list[RatingWithHistory]:
    """The last ``keeps_word`` rating of each pair. One per pair, so that long rounds do not count more."""
    last = {(entry.rating.rater, entry.rating.rated): entry for entry in ratings if entry.rating.keeps_word}
    return [last[pair] for pair in sorted(last)]
