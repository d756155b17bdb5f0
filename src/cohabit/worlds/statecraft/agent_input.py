"""Phase 0.a: the input object of one nation, as plain values.

The keys of the seed keep their names. Beside them stand ``turns_left``, ``welfare``, both lists of legal cessions and,
from turn 1, what is known of the turn before: ``last_turn`` as numbers, ``previous_turn_news`` and
``previous_turn_report`` as lines, ``messages`` as they were addressed.
"""

from typing import Any

from cohabit.worlds.statecraft.cessions import legal_outbound
from cohabit.worlds.statecraft.ledgers import Standing, Turn
from cohabit.worlds.statecraft.report import news, private_report
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.sight import Observability, Sight

HISTORY_CAP = 1000
"""How many characters of its own history a nation is handed."""


def assemble(
    standing: Standing,
    nation: str,
    rules: Rules,
    *,
    turns_left: int,
    last: Turn | None = None,
    observability: Observability = "full",
    open_messages: bool = False,
    ratings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What this nation knows before it decides. ``ratings``: the published means, where they are published."""
    sight = Sight(nation, observability)
    outbound = legal_outbound(standing)
    known: dict[str, Any] = {
        "turn": standing.turn,
        "self": nation,
        "agents": standing.nations,
        "territories": {name: list(standing.territories.get(name, ())) for name in standing.nations},
        "army": dict(sight.armies(standing.mils)),
        "constants": rules.constants,
        "turns_left": turns_left,
        "welfare": dict(sight.outcomes(standing.welfare)),
        "capitals": dict(standing.capitals),
        "legal_outbound_cessions": outbound.get(nation, {}),
        "legal_inbound_cessions": {giver: to[nation] for giver, to in outbound.items() if nation in to},
    }
    if last is not None:
        known |= _of_last_turn(standing, nation, rules, last, sight, open_messages)
    if ratings is not None:
        known["ratings"] = ratings
    return known


def _of_last_turn(
    standing: Standing, nation: str, rules: Rules, last: Turn, sight: Sight, open_messages: bool
) -> dict[str, Any]:
    books = last.ledgers
    history = standing.history.get(nation, "")
    return {
        "previous_turn_summary": books.d_turn_summary.get(nation, ""),
        "history_summary": history,
        "history_context": history_context(history, standing.summaries.get(nation, [])),
        "previous_turn_news": news(last, sight),
        "previous_turn_report": private_report(last, nation, rules, sight),
        "messages": sight.letters(books.d_messages_sent, opened=open_messages),
        "last_turn": {
            "attacks": sight.flows(books.d_attacks_clamped),
            "grants": sight.flows(books.d_grants_paid),
            "damage": _more_than_nothing(sight.outcomes(books.d_total_damage_received)),
            "welfare": dict(sight.outcomes(books.d_total_welfare_this_turn)),
            "cessions": [list(done) for done in last.cessions_done],
        },
    }


def _more_than_nothing(amounts: dict[str, int]) -> dict[str, int]:
    return {name: n for name, n in amounts.items() if n}


def history_context(history: str, summaries: list[tuple[int, str]], cap: int = HISTORY_CAP) -> str:
    """A nation's own history, then its notes on the turns, newest first.

    Where the cap is too small for all of it, the history is cut first, then the oldest notes go.
    """
    lines = [f"turn {turn}: {text}" for turn, text in reversed(summaries)]
    recent = "\n".join(lines)
    room = cap - len(recent) - 1
    if not history or not recent:
        return (history or _newest_that_fit(lines, cap))[:cap]
    if room > 0:
        return f"{history[:room]}\n{recent}"
    return _newest_that_fit(lines, cap)


def _newest_that_fit(lines: list[str], cap: int) -> str:
    kept: list[str] = []
    left = cap
    for line in lines:
        if len(line) > left:
            break
        kept.append(line)
        left -= len(line) + 1
    return "\n".join(kept) if kept else "".join(lines[:1])[:cap]
