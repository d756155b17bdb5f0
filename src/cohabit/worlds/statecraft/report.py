"""Reports of a turn: the news of what happened, and the private report of each nation with what was refused."""

from cohabit.model.observation import one_line
from cohabit.worlds.statecraft.fields import WHOLE_ANSWER
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import Amounts, Drop, DroppedInput, Flows, Ledgers, TurnResult
from cohabit.worlds.statecraft.visibility import Visibility

PROBLEMS: dict[Drop, str] = {"dropped": "Not used", "cut": "Too much", "changed": "Changed"}


def news(turn: TurnResult, visibility: Visibility) -> list[str]:
    """The news of the turn that this viewer may know, one sentence per line. Refused orders are not in it."""
    ledgers = turn.ledgers
    attacks = visibility.flows(ledgers.d_attacks_clamped)
    losses = visibility.armies(ledgers.d_mils_lost_by_attacker)
    damage = visibility.outcomes(ledgers.d_total_damage_received)
    grants = visibility.flows(ledgers.d_grants_paid)
    unpaid = visibility.armies(ledgers.d_mils_disbanded_upkeep)
    disbanded = visibility.armies(ledgers.d_mils_disbanded_voluntary)
    return [
        *(f"{attacker} attacked {target} with {_mils(n)}." for attacker, target, n in _rows(attacks)),
        *(f"{name} lost {_mils(n)} in its attacks." for name, n in _non_zero(losses)),
        *(f"{name} took {n} damage{_income_note(ledgers, name)}." for name, n in _non_zero(damage)),
        *(f"{giver} granted {', '.join(shares)}." for giver, shares in _by_giver(grants).items()),
        *(f"{giver} ceded {territory} to {receiver}." for giver, receiver, territory in turn.cessions_done),
        *_army_news(ledgers, visibility),
        *(f"{name} could not pay its army and disbanded {_mils(n)}." for name, n in _non_zero(unpaid)),
        *(f"{name} chose to disband {_mils(n)}." for name, n in _non_zero(disbanded)),
    ]


def _by_giver(grants: Flows) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for giver, receiver, n in _rows(grants):
        found.setdefault(giver, []).append(f"{n} to {receiver}")
    return found


def _army_news(ledgers: Ledgers, visibility: Visibility) -> list[str]:
    home = visibility.armies(ledgers.d_defense_mils)
    armies = [
        f"{name} {n + away} ({n} at home)" if away else f"{name} {n}"
        for name, n in sorted(home.items())
        if (away := ledgers.d_attacking_mils.get(name, 0)) or n
    ]
    return [f"Armies at the start of the turn: {', '.join(armies)}."] if armies else []


def private_report(turn: TurnResult, nation: str, rules: Rules, visibility: Visibility) -> list[str]:
    """The turn as this nation's own ledgers show it, and what was refused."""
    return [
        *_money_lines(turn.ledgers, nation),
        *_army_lines(turn, nation),
        *_welfare_lines(turn, nation, rules, visibility),
        *_own_notes(turn.ledgers, nation),
        *refusals(turn, nation),
    ]


def refusals(turn: TurnResult, nation: str) -> list[str]:
    """This nation's orders that were dropped, reduced or refused, with the reasons."""
    ledgers = turn.ledgers
    ordered, sent = ledgers.d_global_attacks.get(nation, {}), ledgers.d_attacks_clamped.get(nation, {})
    offered, paid = ledgers.d_money_grants.get(nation, {}), ledgers.d_grants_paid.get(nation, {})
    wanted, bought = _n(ledgers.d_mil_purchase_intent, nation), _n(ledgers.d_mil_purchased, nation)
    leaving, left = _n(ledgers.d_mils_disband_intent, nation), _n(ledgers.d_mils_disbanded_voluntary, nation)
    return [
        *(problem(dropped) for dropped in turn.dropped if dropped.nation == nation),
        *(f"You ordered {_mils(n)} to attack {target}; {sent.get(target, 0)} went, because your army is too small."
          for target, n in sorted(ordered.items()) if sent.get(target, 0) < n),
        *([f"You ordered {_mils(wanted)}; your money was enough for {bought}."] if bought < wanted else []),
        *(f"You offered a grant of {n} to {receiver}; you paid {paid.get(receiver, 0)}, because your money ran out."
          for receiver, n in sorted(offered.items()) if paid.get(receiver, 0) < n),
        *([f"You ordered {_mils(leaving)} to be disbanded; you had {left}."] if left < leaving else []),
        *(f"Your cession of {territory} to {receiver} was refused: {reason}."
          for giver, receiver, territory, reason in turn.cessions_refused if giver == nation),
    ]  # fmt: skip


def problem(dropped: DroppedInput) -> str:
    """A sentence about a part of an answer that was dropped, cut or changed."""
    subject = "your answer" if dropped.field == WHOLE_ANSWER else dropped.field
    return f"{PROBLEMS[dropped.kind]} in {subject}: {dropped.reason}."


def _money_lines(ledgers: Ledgers, nation: str) -> list[str]:
    gross, damage = _n(ledgers.d_gross_income, nation), _n(ledgers.d_total_damage_received, nation)
    excess = f" ({damage - gross} more than your income)" if damage > gross else ""
    money, after_upkeep = _n(ledgers.d_available_money, nation), _n(ledgers.d_money_after_upkeep, nation)
    after_purchases = _n(ledgers.d_money_after_purchases, nation)
    granted = sum(ledgers.d_grants_paid.get(nation, {}).values())
    upkeep = f"Upkeep: {_n(ledgers.d_upkeep_cost, nation)} due, {money - after_upkeep} paid"
    bought = f"{_mils(_n(ledgers.d_mil_purchased, nation))} bought for {after_upkeep - after_purchases}"
    return [
        f"Income {gross}, damage {damage}{excess}: {money} money.",
        f"{upkeep}; {bought}; {granted} granted; {after_purchases - granted} kept.",
    ]


def _army_lines(turn: TurnResult, nation: str) -> list[str]:
    ledgers = turn.ledgers
    start = _n(ledgers.d_attacking_mils, nation) + _n(ledgers.d_defense_mils, nation)
    changes = [
        ("sent to attack", _n(ledgers.d_attacking_mils, nation)),
        ("lost", _n(ledgers.d_mils_lost_by_attacker, nation)),
        ("disbanded for lack of money", _n(ledgers.d_mils_disbanded_upkeep, nation)),
        ("bought", _n(ledgers.d_mil_purchased, nation)),
        ("disbanded by order", _n(ledgers.d_mils_disbanded_voluntary, nation)),
    ]
    summary = ", ".join(f"{n} {change}" for change, n in changes if n) or "no change"
    return [f"Army: {start} at the start ({summary}), {_n(turn.end.mils, nation)} now."]


def _welfare_lines(turn: TurnResult, nation: str, rules: Rules, visibility: Visibility) -> list[str]:
    ledgers, total = turn.ledgers, turn.end.welfare
    received = sum(ledgers.d_grants_received.get(nation, {}).values())
    factor = rules.constants["c_trade_factor"]
    known = visibility.outcomes(total)
    place = 1 + sum(welfare > known[nation] for welfare in known.values())  # equal nations share it
    rank = f", rank {place} of {len(total)}" if len(known) == len(total) else ""
    gained = _n(ledgers.d_total_welfare_this_turn, nation)
    return [
        f"Grants received: {received}. Received money counts {factor} times as welfare.",
        f"Welfare: {gained} this turn, {_n(total, nation)} in total{rank}.",
    ]


def _own_notes(ledgers: Ledgers, nation: str) -> list[str]:
    """The nation's own reasoning and ratings."""
    reports = [
        ("how well nations keep their word", ledgers.d_keeps_word_report),
        ("how aggressive nations are", ledgers.d_aggressor_report),
    ]
    given = [(subject, matrix.get(nation, {})) for subject, matrix in reports]
    reasoning = one_line(ledgers.d_reasoning.get(nation, ""))
    return [
        *([f"Your reasoning: {reasoning}"] if reasoning else []),
        *(f"You rated {subject}: {', '.join(f'{name} {n}' for name, n in sorted(row.items()))}."
          for subject, row in given if row),
    ]  # fmt: skip


def _income_note(ledgers: Ledgers, name: str) -> str:
    gross = _n(ledgers.d_gross_income, name)
    return ", which destroyed its whole income" if 0 < gross <= _n(ledgers.d_total_damage_received, name) else ""


def _rows(flows: Flows) -> list[tuple[str, str, int]]:
    return [(one, other, n) for one, to in sorted(flows.items()) for other, n in sorted(to.items()) if n]


def _non_zero(amounts: Amounts) -> list[tuple[str, int]]:
    return [(name, n) for name, n in sorted(amounts.items()) if n]


def _n(amounts: Amounts, nation: str) -> int:
    return amounts.get(nation, 0)


def _mils(n: int) -> str:
    return f"{n} mil{'' if n == 1 else 's'}"
