"""What is told of a turn: the news that really happened, and each nation's own account with what was refused."""

from cohabit.model.observation import one_line
from cohabit.worlds.statecraft.ledgers import Amounts, Flows, Ledgers, Turn
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.sight import Sight


def news(turn: Turn, sight: Sight) -> list[str]:
    """What this eye may know of the turn, one sentence a line; nothing that was only meant is in it."""
    books = turn.ledgers
    struck = sight.flows(books.d_attacks_clamped)
    damage = sight.outcomes(books.d_total_damage_received)
    return [
        *(f"{one} attacked {other} with {_mils(n)}." for one, other, n in _rows(struck)),
        *(f"{name} lost {_mils(n)} in its attacks." for name, n in _some(sight.armies(books.d_mils_lost_by_attacker))),
        *(f"{name} took {n} damage{_all_of(books, name)}." for name, n in _some(damage)),
        *(f"{one} granted {n} to {other}." for one, other, n in _rows(sight.flows(books.d_grants_paid))),
        *(f"{giver} ceded {territory} to {receiver}." for giver, receiver, territory in turn.cessions_done),
        *_armies(books, sight),
        *(f"{n} could not pay {_mils(k)}, which left." for n, k in _some(sight.armies(books.d_mils_disbanded_upkeep))),
        *(f"{n} disbanded {_mils(k)}." for n, k in _some(sight.armies(books.d_mils_disbanded_voluntary))),
    ]


def _armies(books: Ledgers, sight: Sight) -> list[str]:
    home = sight.armies(books.d_defense_mils)
    shown = [f"{name} {n + books.d_attacking_mils.get(name, 0)} ({n} at home)" for name, n in sorted(home.items())]
    return [f"Armies at the start of the turn: {', '.join(shown)}."] if shown else []


def private_report(turn: Turn, nation: str, rules: Rules, sight: Sight) -> list[str]:
    """The turn as this nation's own books have it, and what it sent that did not count."""
    return [
        *_money_lines(turn.ledgers, nation),
        *_army_lines(turn, nation),
        *_welfare_lines(turn, nation, rules, sight),
        *_own_words(turn.ledgers, nation),
        *refusals(turn, nation),
    ]


def refusals(turn: Turn, nation: str) -> list[str]:
    """What this nation sent that did not count or was cut, and why."""
    books = turn.ledgers
    ordered, sent = books.d_global_attacks.get(nation, {}), books.d_attacks_clamped.get(nation, {})
    wanted, paid = books.d_money_grants.get(nation, {}), books.d_grants_paid.get(nation, {})
    return [
        *(f"Not counted: {_of(d.field)}{d.reason}." for d in turn.dropped if d.nation == nation),
        *(f"You ordered {_mils(n)} against {to}; {sent.get(to, 0)} went, as the army is no larger."
          for to, n in sorted(ordered.items()) if sent.get(to, 0) < n),
        *_short("mils to buy", books.d_mil_purchase_intent, books.d_mil_purchased, nation),
        *(f"You meant to grant {n} to {to}; {paid.get(to, 0)} was paid, for no more was left."
          for to, n in sorted(wanted.items()) if paid.get(to, 0) < n),
        *(f"Your cession of {t} to {to} was refused: {why}." for giver, to, t, why in turn.cessions_refused
          if giver == nation),
    ]  # fmt: skip


def _money_lines(books: Ledgers, nation: str) -> list[str]:
    gross, damage = _n(books.d_gross_income, nation), _n(books.d_total_damage_received, nation)
    wasted = f", {damage - gross} of it for nothing" if damage > gross else ""
    money, paid = _n(books.d_available_money, nation), _n(books.d_money_after_upkeep, nation)
    left, granted = _n(books.d_money_after_purchases, nation), sum(books.d_grants_paid.get(nation, {}).values())
    upkeep = f"Upkeep asked {_n(books.d_upkeep_cost, nation)} and took {money - paid}"
    bought = f"{_mils(_n(books.d_mil_purchased, nation))} bought for {paid - left}"
    return [
        f"Income {gross}, damage {damage}{wasted}: {money} money.",
        f"{upkeep}; {bought}; {granted} granted; {left - granted} kept.",
    ]


def _army_lines(turn: Turn, nation: str) -> list[str]:
    books = turn.ledgers
    start = _n(books.d_attacking_mils, nation) + _n(books.d_defense_mils, nation)
    changes = [
        ("sent out", _n(books.d_attacking_mils, nation)), ("lost", _n(books.d_mils_lost_by_attacker, nation)),
        ("left unpaid", _n(books.d_mils_disbanded_upkeep, nation)), ("bought", _n(books.d_mil_purchased, nation)),
        ("disbanded", _n(books.d_mils_disbanded_voluntary, nation)),
    ]  # fmt: skip
    told = ", ".join(f"{n} {what}" for what, n in changes if n) or "no change"
    return [f"Army {start} at the start ({told}), {_n(turn.end.mils, nation)} now."]


def _welfare_lines(turn: Turn, nation: str, rules: Rules, sight: Sight) -> list[str]:
    books, total = turn.ledgers, turn.end.welfare
    received = sum(books.d_grants_received.get(nation, {}).values())
    factor = rules.constants["c_trade_factor"]
    known = sight.outcomes(total)
    place = sorted(known, key=lambda name: (-known[name], name)).index(nation) + 1
    rank = f", place {place} of {len(total)}" if len(known) == len(total) else ""
    gained = f"Welfare {_n(books.d_total_welfare_this_turn, nation)} this turn, {_n(total, nation)} in all{rank}."
    return [f"Received {received}, worth {factor} times that. {gained}"]


def _own_words(books: Ledgers, nation: str) -> list[str]:
    """What it thought, and said of the others."""
    reports = [("keep their word", books.d_keeps_word_report), ("are aggressive", books.d_aggressor_report)]
    given = [(what, matrix.get(nation, {})) for what, matrix in reports]
    thought = one_line(books.d_reasoning.get(nation, ""))
    return [
        *([f"Your reasoning: {thought}"] if thought else []),
        *(f"You rated how far nations {what}: {', '.join(f'{name} {n}' for name, n in sorted(row.items()))}."
          for what, row in given if row),
    ]  # fmt: skip


def _short(what: str, wanted: Amounts, got: Amounts, nation: str) -> list[str]:
    asked, had = _n(wanted, nation), _n(got, nation)
    return [f"You asked for {asked} {what}; the money was enough for {had}."] if had < asked else []


def _all_of(books: Ledgers, name: str) -> str:
    gross = _n(books.d_gross_income, name)
    return ", its whole income" if 0 < gross <= _n(books.d_total_damage_received, name) else ""


def _of(field: str) -> str:
    return "the whole answer: " if field == "*" else f"{field}: "


def _rows(flows: Flows) -> list[tuple[str, str, int]]:
    return [(one, other, n) for one, to in sorted(flows.items()) for other, n in sorted(to.items()) if n]


def _some(amounts: Amounts) -> list[tuple[str, int]]:
    return [(name, n) for name, n in sorted(amounts.items()) if n]


def _n(amounts: Amounts, nation: str) -> int:
    return amounts.get(nation, 0)


def _mils(n: int) -> str:
    return f"{n} mil{'' if n == 1 else 's'}"
