"""Phase 0.a: the input object of one nation, as plain values.

The seed's keys keep their names. This world adds ``turns_left``, ``welfare``, the legal cessions in both directions
and, from turn 1, what is known about the last turn: ``last_turn`` as numbers, ``previous_turn_news`` and
``previous_turn_report`` as lines, the ``messages`` sent to the nation, and ``messages_sent`` by it.
"""

from typing import Any

from cohabit.worlds.statecraft.cessions import LegalCessions, legal_cessions
from cohabit.worlds.statecraft.report import news, private_report
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import GameState, TurnResult
from cohabit.worlds.statecraft.visibility import Observability, Visibility

MAX_HISTORY_CHARS = 1000


def build_agent_input(
    state: GameState,
    nation: str,
    rules: Rules,
    *,
    turns_left: int,
    last: TurnResult | None = None,
    observability: Observability = "full",
    open_messages: bool = False,
    ratings: dict[str, Any] | None = None,
    texts: bool = True,
    legal: LegalCessions | None = None,
) -> dict[str, Any]:
    """The input of this nation for its decision.

    ``ratings``: the published means, if the game publishes them. ``texts``: whether it includes the lines of
    ``previous_turn_news`` and ``previous_turn_report``, and ``history_context``. ``legal``: the legal cessions, if they
    are already known.
    """
    visibility = Visibility(nation, observability)
    cessions = legal_cessions(state) if legal is None else legal
    known: dict[str, Any] = {
        "turn": state.turn,
        "self": nation,
        "agents": state.nations,
        "territories": {name: list(state.territories.get(name, ())) for name in state.nations},
        "army": dict(visibility.armies(state.mils)),
        "constants": rules.constants,
        "turns_left": turns_left,
        "welfare": dict(visibility.outcomes(state.welfare)),
        "capitals": dict(state.capitals),
        "legal_outbound_cessions": {to: list(ceded) for to, ceded in cessions.get(nation, {}).items()},
        "legal_inbound_cessions": {giver: list(to[nation]) for giver, to in cessions.items() if nation in to},
    }
    if last is not None:
        written = _texts(state, nation, rules, last, visibility) if texts else {}
        known |= _last_turn(state, nation, last, visibility, open_messages, written)
    if ratings is not None:
        known["ratings"] = ratings
    return known


def _last_turn(
    state: GameState,
    nation: str,
    last: TurnResult,
    visibility: Visibility,
    open_messages: bool,
    texts: dict[str, Any],
) -> dict[str, Any]:
    ledgers = last.ledgers
    damage = visibility.outcomes(ledgers.d_total_damage_received)
    return {
        "previous_turn_summary": ledgers.d_turn_summary.get(nation, ""),
        "history_summary": state.history.get(nation, ""),
        **texts,
        "messages": visibility.messages(ledgers.d_messages_sent, open_messages=open_messages),
        "messages_sent": dict(ledgers.d_messages_sent.get(nation, {})),
        "last_turn": {
            "attacks": visibility.flows(ledgers.d_attacks_clamped),
            "grants": visibility.flows(ledgers.d_grants_paid),
            "damage": {name: n for name, n in damage.items() if n},
            "welfare": dict(visibility.outcomes(ledgers.d_total_welfare_this_turn)),
            "cessions": [list(cession) for cession in last.cessions_done],
        },
    }


def _texts(state: GameState, nation: str, rules: Rules, last: TurnResult, visibility: Visibility) -> dict[str, Any]:
    return {
        "history_context": history_context(state.history.get(nation, ""), state.summaries.get(nation, [])),
        "previous_turn_news": news(last, visibility),
        "previous_turn_report": private_report(last, nation, rules, visibility),
    }


def history_context(history: str, summaries: list[tuple[int, str]], max_chars: int = MAX_HISTORY_CHARS) -> str:
    """A nation's own history, then its turn summaries, newest first.

    If it is too long, the history is truncated first, then the oldest summaries are left out.
    """
    lines = [f"{'before turn 0' if turn < 0 else f'turn {turn}'}: {text}" for turn, text in reversed(summaries)]
    recent = "\n".join(lines)
    space = max_chars - len(recent) - 1
    if not history or not recent:
        return (history or _newest_lines(lines, max_chars))[:max_chars]
    if space > 0:
        return f"{history[:space]}\n{recent}"
    return _newest_lines(lines, max_chars)


def _newest_lines(lines: list[str], max_chars: int) -> str:
    """As many of the newest lines as fit; the newest one truncated if not even that fits."""
    kept: list[str] = []
    space = max_chars
    for line in lines:
        if len(line) > space:
            break
        kept.append(line)
        space -= len(line) + 1
    return "\n".join(kept) if kept else "".join(lines[:1])[:max_chars]
