"""The history of a game in short, for charts: what each nation had and did in the newest turns."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from cohabit.worlds.statecraft.pledges import Pledges, is_kept
from cohabit.worlds.statecraft.state import Amounts, Flows, TurnResult
from cohabit.worlds.statecraft.visibility import Visibility

MAX_PAST_TURNS = 60
"""The number of turns that are kept, so that a scene does not grow in a long game."""
Promise = tuple[str, str, str, int, bool]
"""author, recipient of the message or ``all``, target, amount (0: not to attack), and whether it was kept"""


class PastTurn(Struct, frozen=True):
    """One turn. Every table has every nation: a missing one would say that all others have 0 as well."""

    turn: int
    welfare: Amounts  # in total
    mils: Amounts
    territories: Amounts
    granted: Amounts
    attacked: Amounts  # mils sent
    promises: list[Promise]  # that were due in this turn
    keeps_word: dict[str, float]  # the published means; empty if the game publishes none


def past_turn(turn: TurnResult, due: Pledges, keeps_word: Mapping[str, float]) -> PastTurn:
    """The record of a turn that has just ended."""
    end, ledgers = turn.end, turn.ledgers
    promises = [
        (author, to, target, amount, is_kept(author, target, amount, ledgers))
        for author, messages in sorted(due.items())
        for to, pledged in sorted(messages.items())
        for target, amount in pledged
    ]
    return PastTurn(
        end.turn - 1, dict(end.welfare), dict(end.mils), {name: len(owned) for name, owned in end.territories.items()},
        _totals(ledgers.d_grants_paid), dict(ledgers.d_attacking_mils), promises, dict(keeps_word),
    )  # fmt: skip


def known_past(past: Sequence[PastTurn], viewer: Visibility, *, open_messages: bool) -> list[PastTurn]:
    """The history as far as this viewer may know it."""
    return [
        PastTurn(
            turn.turn, viewer.outcomes(turn.welfare), viewer.armies(turn.mils), turn.territories,
            viewer.outcomes(turn.granted), viewer.outcomes(turn.attacked),
            [promise for promise in turn.promises if _is_known(promise, viewer, open_messages)], turn.keeps_word,
        )
        for turn in past
    ]  # fmt: skip


def shown_past(past: Sequence[PastTurn]) -> list[dict[str, Any]]:
    """As JSON. A promise in several messages is one promise."""
    return [
        {
            "turn": turn.turn, "welfare": turn.welfare, "army": turn.mils, "territories": turn.territories,
            "granted": turn.granted, "attacked": turn.attacked, "keeps_word": turn.keeps_word,
            "promises": sorted({(author, target, amount, kept) for author, _, target, amount, kept in turn.promises}),
        }
        for turn in past
    ]  # fmt: skip


def _is_known(promise: Promise, viewer: Visibility, open_messages: bool) -> bool:
    author, to, target, _, _ = promise
    return viewer.knows_dealings(author, target) and viewer.reads(author, to, open_messages=open_messages)


def _totals(flows: Flows) -> Amounts:
    return {name: sum(to.values()) for name, to in flows.items()}
