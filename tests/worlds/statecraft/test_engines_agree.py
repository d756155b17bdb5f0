"""The plain engine and the batch engine have the same rules. These turns are fixed, so that a difference shows at once."""

import inspect
from collections.abc import Callable
from typing import Any

import array_api_compat
import array_api_strict
import numpy as np
import pytest

from cohabit.errors import BadArgs
from cohabit.model.stream import Stream
from cohabit.worlds.array_library import namespace_of
from cohabit.worlds.statecraft import batch, cessions, turn
from cohabit.worlds.statecraft.batch import convert
from cohabit.worlds.statecraft.maps import generate_map
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import GameState, Ledgers, TurnResult

from .batch_cases import flows_in_game, to_batch_orders, to_batch_state

NATIONS = ["Aria", "Boru", "Cael", "Dune", "Esk"]
MAP = generate_map([f"T{i:02}" for i in range(14)], 3)
GAMES = 60
RULE_SETS = [
    Rules(),
    Rules(loss_cap="army", c_defense_destroy_factor=1, c_mil_upkeep_price=1),
    Rules(c_mil_purchase_price=3, c_mil_upkeep_price=7, trade_numerator=113, trade_denominator=100),
    Rules(c_mil_upkeep_price=0, c_damage_per_attack_mil=1, c_defense_destroy_factor=3, trade_numerator=1),
]
NOT_IN_BATCH = {"d_global_attacked", "d_damage_received", "d_grants_received", "d_mils_disbanded_total"}
"""Ledgers that follow directly from others."""
RunTurn = Callable[[GameState, dict[str, Any], Rules], TurnResult]


def case(number: int) -> tuple[GameState, dict[str, Any]]:
    """A start and answers in which every rule matters: large and small armies, attacks, grants and cessions."""
    draw = Stream(number, "engines agree")
    owners = {place: draw.choice([*NATIONS, ""]) for place in sorted(MAP)}
    land = {name: [place for place in sorted(MAP) if owners[place] == name] for name in NATIONS}
    most = draw.choice([3, 12, 60])
    state = GameState(
        turn=2,
        mils={name: draw.below(most) for name in NATIONS},
        territories=land,
        welfare={name: draw.below(500) for name in NATIONS},
        capitals={name: land[name][0] for name in NATIONS if land[name]},
        graph=MAP,
    )
    return state, {name: answer(draw, name, land[name], most) for name in NATIONS}


def answer(draw: Stream, me: str, land: list[str], most: int) -> dict[str, Any]:
    others = [name for name in NATIONS if name != me]
    return {
        "purchase_mils": draw.below(5),
        "disband_mils": draw.below(3) * draw.below(2),
        "attacks": {name: 1 + draw.below(most) for name in others if draw.chance(1, 3)},
        "money_grants": {name: 1 + draw.below(30) for name in others if draw.chance(1, 2)},
        "cede_territories": {name: [draw.choice(land)] for name in others if land and draw.chance(1, 2)},
    }


def same_results(run_turn: RunTurn, xp: Any = np) -> bool:
    """Whether an engine has the results of the batch engine in every turn and every ledger."""
    for rules in RULE_SETS:
        cases = [case(number) for number in range(GAMES)]
        plain = [run_turn(state, answers, rules) for state, answers in cases]
        start = to_batch_state([state for state, _ in cases], xp)
        orders = to_batch_orders(start.board, [result.ledgers for result in plain])
        end, ledgers = batch.step(start, orders, rules)
        if not all(same_turn(result, end, ledgers, game) for game, result in enumerate(plain)):
            return False
    return True


def same_turn(plain: TurnResult, end: batch.BatchState, ledgers: batch.BatchLedgers, game: int) -> bool:
    board = end.board
    found = [
        convert.amounts_in_game(board, end.mils, game) == plain.end.mils,
        convert.amounts_in_game(board, end.welfare, game) == plain.end.welfare,
        convert.territories_in_game(end, game) == plain.end.territories,
    ]
    for name in ledgers.__struct_fields__:
        if name in ("orders", "cessions_done"):
            continue
        table, ledger = getattr(ledgers, name), getattr(plain.ledgers, f"d_{name}")
        if table.ndim == 2:
            found.append(convert.amounts_in_game(board, table, game) == ledger)
        else:
            nonzero = {one: {other: n for other, n in to.items() if n} for one, to in ledger.items()}
            found.append(flows_in_game(board, table, game) == nonzero)
    return all(found)


def test_both_engines_have_the_same_results_in_240_turns() -> None:
    assert same_results(turn.run_turn)


def test_every_ledger_of_a_phase_is_in_both_engines_or_follows_from_others() -> None:
    derived = set(Ledgers.__struct_fields__) - set(intention_ledgers())
    in_batch = {f"d_{name}" for name in batch.BatchLedgers.__struct_fields__} - {"d_orders", "d_cessions_done"}
    assert derived == in_batch | NOT_IN_BATCH


def intention_ledgers() -> list[str]:
    """What phase 0 writes."""
    state, answers = case(0)
    ledgers = turn.read_intentions(state, answers, Rules())[0]
    return [name for name in Ledgers.__struct_fields__ if getattr(ledgers, name)]


RULE_CHANGES = [
    (turn, "len(territories.get(name, ())) * each", "len(territories.get(name, ())) * each + 1"),
    (turn, "if ordered > army:", "if ordered > army + 1:"),
    (turn, "defense[name] = army - ordered", "defense[name] = army"),
    (turn, "sum(attackers.values()) * each", "sum(attackers.values()) * each // 2"),
    (turn, "max(gross[name] - damage, 0)", "max(gross[name] - damage, 1)"),
    (turn, "min(-((money - cost) // price), army)", "min((cost - money) // price, army)"),
    (turn, "max(money - (cost - disbanded * price), 0)", "max(money - cost, 0)"),
    (turn, "min(ordered[name], money // price)", "min(ordered[name], (money + 1) // price)"),
    (turn, "ledgers.d_defense_mils[name] // factor", "-(-ledgers.d_defense_mils[name] // factor)"),
    (turn, "min(destroyed, sum(attackers.values()))", "min(destroyed, len(attackers))"),
    (turn, "min(amount, money)", "min(amount, money, 20)"),
    (turn, "remaining[name] + total * numerator // denominator", "remaining[name] + -(-total * numerator // denominator)"),
    (turn, "max(state.mils[nation] - lost, 0)", "state.mils[nation]"),
    (turn, "min(ledgers.d_mils_disband_intent[name], _army(state, ledgers, name))", "ledgers.d_mils_disband_intent[name]"),
    (turn, "remainders.append((-remainder, name))", "remainders.append((remainder, name))"),
    (turn, "remainders.append((-remainder, name))", "remainders.insert(0, (-remainder, ''.join(chr(255 - ord(c)) for c in name)))"),
    (cessions, "if state.capitals.get(giver) == territory:", "if False:"),
    (cessions, "if owners.get(territory) != giver:", "if owners.get(territory) == receiver:"),
    (cessions, "if not borders_on(state.graph, owners, territory, receiver):", "if False:"),
]  # fmt: skip


@pytest.mark.parametrize("change", range(len(RULE_CHANGES)))
def test_a_rule_that_is_changed_in_the_plain_engine_only_is_noticed(change: int) -> None:
    module, before, after = RULE_CHANGES[change]
    source = inspect.getsource(module)
    assert source.count(before) == 1, "the rule is written in another way now; change this list"
    changed: dict[str, Any] = {"__name__": "changed"}
    exec(compile(source.replace(before, after), "changed", "exec"), changed)
    if module is cessions:
        source_of_turn: dict[str, Any] = {"__name__": "changed turn"}
        exec(compile(inspect.getsource(turn), "changed turn", "exec"), source_of_turn)
        source_of_turn["cede"] = changed["cede"]
        changed = source_of_turn
    try:
        noticed = not same_results(changed["run_turn"])
    except KeyError:
        noticed = True
    assert noticed


# -- other array libraries ------------------------------------------------------------------------
def test_a_library_that_allows_only_the_standard_has_the_same_results() -> None:
    assert same_results(turn.run_turn, array_api_strict)


LINEUP = dict(zip(NATIONS, ["hawk", "grudger", "peace_enforcer", "tit_for_tat", "opportunist"], strict=True))


def test_whole_games_are_the_same_with_another_library() -> None:
    plain, strict = (batch.play(LINEUP, 20, 8, Rules(), 4, mils=2, noise=10, xp=xp) for xp in (np, array_api_strict))
    for name in ("welfare", "income", "mils", "attacking", "damage", "given"):
        assert np.asarray(getattr(strict, name)).tolist() == getattr(plain, name).tolist()
    assert np.asarray(strict.end.owner).tolist() == plain.end.owner.tolist()
    assert type(strict.end.mils) is type(array_api_strict.asarray([0]))


def test_the_library_is_chosen_from_the_arrays() -> None:
    assert namespace_of(np.asarray([1])) is np
    strict = array_api_strict.asarray([1])
    assert namespace_of(strict) is array_api_compat.array_namespace(strict)
    with pytest.raises(BadArgs, match="not an array"):
        namespace_of([1])
