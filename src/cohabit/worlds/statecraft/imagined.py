"""Redraws the parts of a game that a viewer does not know.

The last turn is imagined a second time, with other armies and other orders of the other nations. Whatever the viewer
may know stays as it is; the rest comes from the imagined turn. So the numbers that are hidden fit together, except
where they depend on what is known.
"""

from typing import Any

import msgspec

from cohabit.model.stream import Stream
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import Amounts, Flows, GameState, Ledgers, TurnResult
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.visibility import FLOW_LEDGERS, Visibility

WORDS = ("peace", "trade", "wait and see", "an alliance", "revenge")


def imagine(
    state: GameState, last: TurnResult | None, rules: Rules, viewer: Visibility, stream: Stream,
    *, open_messages: bool, is_over: bool,
) -> tuple[GameState, TurnResult | None]:  # fmt: skip
    """The state and the last turn with everything redrawn that the viewer may not know."""
    if last is None:
        return state, None  # before the first turn everything is known
    turn = run_turn(_earlier(state, rules, stream), _answers(state, rules, viewer, stream), rules)
    ledgers = _merged(last.ledgers, turn.ledgers, viewer, open_messages)
    known = viewer.outcomes(state.welfare)
    end = msgspec.structs.replace(
        state,
        mils=_hidden(state.mils, turn.end.mils, viewer.armies(state.mils)),
        welfare=state.welfare if is_over else _hidden(state.welfare, turn.end.welfare, known),
        history=_hidden(state.history, turn.end.history, _of(viewer, state.history)),
        summaries=_hidden(state.summaries, turn.end.summaries, _of(viewer, state.summaries)),
    )
    own = [dropped for dropped in last.dropped if dropped.nation == viewer.nation]
    refused = [cession for cession in last.cessions_refused if cession[0] == viewer.nation]
    return end, TurnResult(end, ledgers, own, last.cessions_done, refused)


def imagine_ratings(matrix: Flows, viewer: Visibility, stream: Stream) -> Flows:
    """The ratings between nations: the viewer's own, and random ones for all others, as many as before."""
    return {
        rater: row if rater == viewer.nation else {rated: stream.between(1, 10) for rated in row}
        for rater, row in matrix.items()
    }


def _earlier(state: GameState, rules: Rules, stream: Stream) -> GameState:
    """The state before the last turn: armies that an income can pay for, and welfare that it can have become."""
    mils: Amounts = {}
    welfare: Amounts = {}
    for name in state.nations:
        income = len(state.territories.get(name, ())) * rules.c_money_per_territory
        mils[name] = stream.between(0, income // max(rules.c_mil_upkeep_price, 1))
        welfare[name] = stream.between(0, income * max(state.turn - 1, 0))
    return GameState(state.turn - 1, mils, state.territories, welfare, state.capitals, state.graph)


def _answers(state: GameState, rules: Rules, viewer: Visibility, stream: Stream) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in (nation for nation in state.nations if nation != viewer.nation):
        others = [other for other in state.nations if other not in (name, viewer.nation)]
        found[name] = {
            "purchase_mils": stream.below(3),
            "disband_mils": stream.below(2),
            "attacks": {other: stream.between(1, 3) for other in others if stream.chance(1, 4)},
            "money_grants": {other: stream.between(1, 5) for other in others if stream.chance(1, 3)},
            "messages": {other: stream.choice(WORDS) for other in others if stream.chance(1, 3)},
            "summary_last_turn": stream.choice(WORDS),
            "history_summary": stream.choice(WORDS),
            "reasoning": stream.choice(WORDS),
        }
    return found


# -- known and hidden parts of ledgers ----------------------------------------------------------------------
def _merged(real: Ledgers, imagined: Ledgers, viewer: Visibility, open_messages: bool) -> Ledgers:
    shown = viewer.ledgers(real, open_messages=open_messages)
    found = Ledgers()
    for name in real.__struct_fields__:
        one, other = getattr(real, name), getattr(imagined, name)
        if name in FLOW_LEDGERS:
            merged: Any = _merged_flows(one, other, viewer)
        elif name == "d_messages_sent":
            merged = one if open_messages else _merged_messages(one, other, shown[name])
        else:
            merged = _hidden(one, other, shown[name])
        setattr(found, name, merged)
    return found


def _hidden(real: dict[str, Any], imagined: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """A table by nation with its known values, and imagined ones for the rest."""
    names = [*real, *(name for name in imagined if name not in real)]
    return {
        name: known[name] if name in known else imagined[name] for name in names if name in known or name in imagined
    }


def _of(viewer: Visibility, table: dict[str, Any]) -> dict[str, Any]:
    """The viewer's own entry, also if there is none."""
    return {name: entry for name, entry in table.items() if name == viewer.nation}


def _merged_flows(real: Flows, imagined: Flows, viewer: Visibility) -> Flows:
    return {
        one: {
            other: n
            for other in sorted({**real[one], **imagined.get(one, {})})
            if (n := (real if viewer.knows_dealings(one, other) else imagined).get(one, {}).get(other)) is not None
        }
        for one in real
    }


def _merged_messages(real: Any, imagined: Any, shown: Any) -> Any:
    """The messages that are known; of the others between other nations the imagined ones."""
    return {sender: dict(sorted({**imagined.get(sender, {}), **shown.get(sender, {})}.items())) for sender in real}
