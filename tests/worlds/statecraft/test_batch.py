"""The batch engine has the same results as the plain engine, for many games at once."""

from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

import statecraft_dilemma
from cohabit.agents.brains.statecraft import BREACHES, GRUDGES, NATIONS
from cohabit.errors import BadArgs
from cohabit.worlds.statecraft import batch
from cohabit.worlds.statecraft.agent_input import build_agent_input
from cohabit.worlds.statecraft.batch import convert
from cohabit.worlds.statecraft.batch.arrays import NONE, games_last
from cohabit.worlds.statecraft.batch.deal import random_numbers
from cohabit.worlds.statecraft.batch.engine import MAX_PAIRWISE_PARTS, clamp_attacks, divide_proportionally
from cohabit.worlds.statecraft.batch.games import combine_decisions, decide, initial_batch_state
from cohabit.worlds.statecraft.batch.policies import Situation, View
from cohabit.worlds.statecraft.maps import generate_map, is_connected
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import GameState, Ledgers, TurnResult
from cohabit.worlds.statecraft.turn import run_turn

from .batch_cases import flows_in_game, to_batch_orders, to_batch_state

NAMES = ["Aria", "Boru", "Cael", "Dune", "Esk", "Fenn"]
AMOUNTS = [
    "gross_income", "attacking_mils", "defense_mils", "total_damage_received", "available_money", "upkeep_cost",
    "mils_disbanded_upkeep", "money_after_upkeep", "mil_purchased", "money_after_purchases", "mils_lost_by_attacker",
    "trade_bonus", "total_welfare_this_turn", "mils_disbanded_voluntary",
]  # fmt: skip


# -- against the plain engine ---------------------------------------------------------------------
@st.composite
def rule_sets(draw: st.DrawFn) -> Rules:
    return Rules(
        c_money_per_territory=draw(st.integers(0, 30)),
        c_mil_purchase_price=draw(st.integers(1, 25)),
        c_mil_upkeep_price=draw(st.integers(0, 6)),
        c_defense_destroy_factor=draw(st.integers(1, 6)),
        c_damage_per_attack_mil=draw(st.integers(0, 12)),
        trade_numerator=draw(st.integers(0, 300)),
        trade_denominator=draw(st.integers(1, 100)),
        loss_cap=draw(st.sampled_from(["committed", "army"])),
    )


@st.composite
def maps(draw: st.DrawFn) -> tuple[list[str], dict[str, list[str]] | None]:
    places = [f"T{i:02}" for i in range(draw(st.integers(0, 12)))]
    if draw(st.integers(0, 4)) == 0:
        return places, None
    pairs = [(a, b) for a in places for b in places if a < b]
    roads = draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    return places, {p: sorted({q for road in roads if p in road for q in road if q != p}) for p in places}


@st.composite
def states(draw: st.DrawFn, nations: list[str], places: list[str], graph: Any) -> GameState:
    owners = draw(st.lists(st.sampled_from([*nations, None]), min_size=len(places), max_size=len(places)))
    land = {n: [p for p, o in zip(places, owners, strict=True) if o == n] for n in nations}
    guarded = draw(st.lists(st.booleans(), min_size=len(nations), max_size=len(nations)))
    return GameState(
        turn=3,
        mils={n: draw(st.integers(0, 40)) for n in nations},
        territories=land,
        welfare={n: draw(st.integers(0, 500)) for n in nations},
        capitals={n: land[n][0] for n, has in zip(nations, guarded, strict=True) if has and land[n]},
        graph=graph,
    )


@st.composite
def answers(draw: st.DrawFn, nations: list[str], places: list[str]) -> dict[str, Any]:
    small = st.integers(0, 50)

    def flow(me: str) -> Any:
        others = [n for n in nations if n != me]
        return st.dictionaries(st.sampled_from(others), small, max_size=len(others))

    def cessions(me: str) -> Any:
        if not places:
            return st.just({})
        listed = st.lists(st.sampled_from(places), max_size=3)
        return st.dictionaries(st.sampled_from([n for n in nations if n != me]), listed, max_size=2)

    return {
        n: {
            "purchase_mils": draw(small),
            "attacks": draw(flow(n)),
            "money_grants": draw(flow(n)),
            "disband_mils": draw(st.integers(0, 10)),
            "cede_territories": draw(cessions(n)),
        }
        for n in nations
    }


@st.composite
def several_games(draw: st.DrawFn) -> tuple[list[GameState], list[dict[str, Any]], Rules]:
    nations = NAMES[: draw(st.integers(2, len(NAMES)))]
    places, graph = draw(maps())
    games = draw(st.integers(1, 3))
    starts = [draw(states(nations, places, graph)) for _ in range(games)]
    return starts, [draw(answers(nations, places)) for _ in range(games)], draw(rule_sets())


def as_ledgers(answer: dict[str, Any]) -> Ledgers:
    """Valid answers as intentions without the filter of the intake: the batch itself must refuse illegal cessions."""
    return Ledgers(
        d_mil_purchase_intent={n: a["purchase_mils"] for n, a in answer.items()},
        d_global_attacks={n: a["attacks"] for n, a in answer.items()},
        d_money_grants={n: a["money_grants"] for n, a in answer.items()},
        d_mils_disband_intent={n: a["disband_mils"] for n, a in answer.items()},
        d_territory_cession={n: a["cede_territories"] for n, a in answer.items()},
    )


def without_zeros(flows: dict[str, dict[str, int]], nations: list[str]) -> dict[str, dict[str, int]]:
    return {n: {k: v for k, v in flows.get(n, {}).items() if v} for n in nations}


@settings(max_examples=examples(50), deadline=None)
@given(several_games())
def test_a_batch_has_the_same_results_as_its_games_played_one_by_one(
    case: tuple[list[GameState], list[dict[str, Any]], Rules],
) -> None:
    starts, answers_by_game, rules = case
    start = to_batch_state(starts)
    board = start.board
    end, turn = batch.step(start, to_batch_orders(board, [as_ledgers(a) for a in answers_by_game]), rules)
    for game, (state, answer) in enumerate(zip(starts, answers_by_game, strict=True)):
        plain = run_turn(state, answer, rules)
        nations = state.nations
        assert convert.amounts_in_game(board, end.mils, game) == plain.end.mils
        assert convert.amounts_in_game(board, end.welfare, game) == plain.end.welfare
        assert convert.territories_in_game(end, game) == {n: plain.end.territories.get(n, []) for n in nations}
        for name in AMOUNTS:
            ledger = getattr(plain.ledgers, f"d_{name}")
            assert convert.amounts_in_game(board, getattr(turn, name), game) == {
                n: ledger.get(n, 0) for n in nations
            }, name
        clamp = without_zeros(plain.ledgers.d_attacks_clamped, nations)
        assert flows_in_game(board, turn.attacks_clamped, game) == clamp
        paid = without_zeros(plain.ledgers.d_grants_paid, nations)
        assert flows_in_game(board, turn.grants_paid, game) == paid
        assert int(np.sum(turn.cessions_done[game])) == len(plain.cessions_done)
        assert end.turn == plain.end.turn


# -- by hand --------------------------------------------------------------------------------------
def one_game(mils: dict[str, int], land: dict[str, list[str]], graph: Any = None, **more: Any) -> batch.BatchState:
    state = GameState(
        turn=0,
        mils=mils,
        territories=land,
        welfare=dict.fromkeys(mils, 0),
        capitals=more.get("capitals", {}),
        graph=graph,
    )
    return to_batch_state([state])


def played(state: batch.BatchState, rules: Rules, **intents: Any) -> tuple[batch.BatchState, batch.BatchLedgers]:
    return batch.step(state, to_batch_orders(state.board, [Ledgers(**intents)]), rules)


def row(table: Any) -> list[Any]:
    return list(table[0].tolist())


def test_attacks_beyond_the_army_are_scaled_down_to_it_and_ties_go_to_the_smaller_name() -> None:
    attacks = games_last(np, np.asarray([[[0, 3, 3, 3], [5, 0, 0, 0], [0, 0, 0, 0], [2, 2, 2, 0]]]))
    sent = clamp_attacks(np, attacks, np.asarray([[4, 2, 9, 0]]))
    assert row(sent) == [[0, 2, 1, 1], [2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("parts", [4, MAX_PAIRWISE_PARTS + 1])
def test_a_part_that_divides_exactly_gets_no_extra_unit(parts: int) -> None:
    shares = divide_proportionally(np, np.asarray([[2, 1, 1] + [0] * (parts - 3)]), np.asarray([2]), 1)
    assert row(shares)[:4] == [1, 1, 0, 0]


PARTS = st.integers(0, 60)
FEW = st.lists(PARTS, min_size=1, max_size=MAX_PAIRWISE_PARTS)
MANY = st.lists(PARTS, min_size=MAX_PAIRWISE_PARTS + 1, max_size=2 * MAX_PAIRWISE_PARTS)


@given(FEW | MANY, st.integers(0, 500))
def test_few_parts_and_many_are_divided_by_largest_remainder(parts: list[int], whole: int) -> None:
    """Few parts are compared with each other and many are sorted; the results are the same."""
    total = sum(parts)
    exact = [part * whole // total if total else 0 for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(parts[i] * whole % total) if total else 0, i))
    extra = by_remainder[: whole - sum(exact)] if total else []
    shares = row(divide_proportionally(np, np.asarray([parts]), np.asarray([whole]), 1))
    assert shares == [share + (i in extra) for i, share in enumerate(exact)]


def test_losses_are_divided_among_the_attackers_by_what_each_sent() -> None:
    start = one_game({"A": 4, "B": 2, "C": 6}, {"A": ["a"], "B": ["b"], "C": ["c"]})
    rules = Rules(c_defense_destroy_factor=2, c_mil_upkeep_price=0)
    _, turn = played(start, rules, d_global_attacks={"A": {"C": 4}, "B": {"C": 2}})
    assert row(turn.mils_lost_by_attacker) == [2, 1, 0]


@pytest.mark.parametrize(("cap", "left"), [("committed", 9), ("army", 5)])
def test_the_loss_cap_limits_losses_to_what_was_sent(cap: Any, left: int) -> None:
    start = one_game({"A": 10, "B": 5}, {"A": ["a"], "B": ["b"]})
    rules = Rules(c_defense_destroy_factor=1, c_mil_upkeep_price=0, loss_cap=cap)
    end, _ = played(start, rules, d_global_attacks={"A": {"B": 1}})
    assert row(end.mils) == [left, 5]


def test_mils_cannot_be_lost_in_the_turn_in_which_they_are_bought() -> None:
    start = one_game({"A": 1, "B": 10}, {"A": ["a"], "B": ["b"]})
    rules = Rules(c_defense_destroy_factor=1, c_mil_upkeep_price=0, c_mil_purchase_price=5, loss_cap="army")
    end, _ = played(start, rules, d_global_attacks={"A": {"B": 1}}, d_mil_purchase_intent={"A": 2})
    assert row(end.mils) == [2, 10]


def test_mils_that_cannot_be_paid_are_disbanded_and_the_change_is_kept() -> None:
    start = one_game({"A": 6}, {"A": ["a"]})
    end, turn = played(start, Rules(c_money_per_territory=5))
    assert row(turn.mils_disbanded_upkeep) == [4]
    assert (row(end.mils), row(end.welfare)) == ([2], [1])


def test_mutual_grants_are_worth_more_than_what_was_paid() -> None:
    start = one_game({"A": 0, "B": 0}, {"A": ["a"], "B": ["b"]})
    end, turn = played(
        start, Rules(trade_numerator=3, trade_denominator=2), d_money_grants={"A": {"B": 4}, "B": {"A": 99}}
    )
    assert row(turn.grants_paid) == [[0, 4], [10, 0]]
    assert row(end.welfare) == [6 + 15, 6]


LINE = {"a": ["b"], "b": ["a", "c"], "c": ["b", "d"], "d": ["c"]}


def test_a_cession_must_be_legal_at_the_start_of_the_turn_and_when_it_is_carried_out() -> None:
    start = one_game({"A": 0, "B": 0, "C": 0}, {"A": ["a", "b"], "B": ["c"], "C": ["d"]}, LINE, capitals={"A": "a"})
    end, turn = played(
        start, Rules(), d_territory_cession={"A": {"B": ["a", "b", "b"], "C": ["b"]}, "B": {"C": ["c"], "A": ["c"]}}
    )
    assert convert.territories_in_game(end, 0) == {"A": ["a"], "B": ["b"], "C": ["c", "d"]}
    assert int(np.sum(turn.cessions_done)) == 2


def test_a_territory_received_in_a_turn_does_not_make_its_owner_adjacent_yet() -> None:
    graph = {"b": ["c", "x"], "c": ["b"], "x": ["b"]}
    start = one_game({"A": 0, "B": 0, "C": 0}, {"A": ["b"], "B": ["x"], "C": ["c"]}, graph)
    end, _ = played(start, Rules(), d_territory_cession={"A": {"B": ["b"]}, "C": {"B": ["c"]}})
    assert convert.territories_in_game(end, 0) == {"A": [], "B": ["b", "x"], "C": ["c"]}


def test_without_a_map_a_territory_can_be_ceded_to_any_nation() -> None:
    start = one_game({"A": 0, "B": 0}, {"A": ["a", "b"], "B": []})
    end, _ = played(start, Rules(), d_territory_cession={"A": {"B": ["b"]}})
    assert convert.territories_in_game(end, 0) == {"A": ["a"], "B": ["b"]}


def test_numbers_that_could_overflow_are_refused_before_the_turn() -> None:
    start = one_game({"A": 2**40, "B": 0}, {"A": ["a"], "B": ["b"]})
    with pytest.raises(BadArgs, match="attacks: too large"):
        played(start, Rules(), d_global_attacks={"A": {"B": 2**40}})


@pytest.mark.parametrize("name", ["purchase", "attacks", "grants", "disband"])
def test_negative_orders_are_refused(name: str) -> None:
    start = one_game({"A": 1, "B": 1}, {"A": ["a"], "B": ["b"]})
    orders = to_batch_orders(start.board, [Ledgers()])
    wrong = msgspec.structs.replace(orders, **{name: getattr(orders, name) - 1})
    with pytest.raises(BadArgs, match=f"{name}: must not be negative"):
        batch.step(start, wrong, Rules())


def test_a_step_does_not_change_its_arguments() -> None:
    start = one_game({"A": 3, "B": 1}, {"A": ["a"], "B": ["b"]})
    before = [start.mils.copy(), start.welfare.copy(), start.owner.copy()]
    played(start, Rules(), d_global_attacks={"A": {"B": 2}}, d_territory_cession={"A": {"B": ["a"]}})
    for now, then in zip([start.mils, start.welfare, start.owner], before, strict=True):
        assert now.tolist() == then.tolist()


def test_without_orders_the_income_becomes_welfare() -> None:
    start = one_game({"A": 0, "B": 0}, {"A": ["a", "b"], "B": ["c"]})
    end, _ = played(start, Rules())
    assert row(end.welfare) == [20, 10]
    assert NONE not in row(end.owner)


# -- policies -------------------------------------------------------------------------------------
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.sampled_from(list(batch.POLICIES)), min_size=2, max_size=6),
    st.integers(0, 9),
    st.integers(0, 10_000),
    rule_sets(),
)
def test_array_policies_decide_what_the_scripted_nations_decide(
    kinds: list[str], mils: int, seed: int, rules: Rules
) -> None:
    """Both engines play some turns side by side, with the same orders in each turn and the same end."""
    names, turns = NAMES[: len(kinds)], 6
    batched = initial_batch_state(names, 1, seed, mils=mils)
    board = batched.board
    plain = convert.to_game_state(batched, 0)
    nations = {name: NATIONS[kind]() for name, kind in zip(names, kinds, strict=True)}
    memories: list[Any] = [None] * len(kinds)
    last: batch.BatchLedgers | None = None
    known: TurnResult | None = None
    for left in range(turns, 0, -1):
        decisions = decide(Situation(batched, rules, last, left), [batch.POLICIES[kind] for kind in kinds], memories)
        memories = [decision.memory for decision in decisions]
        orders = combine_decisions(batched, decisions)
        answer = {n: nations[n].rule(build_agent_input(plain, n, rules, turns_left=left, last=known)) for n in names}
        known = run_turn(plain, answer, rules)
        intended = known.ledgers
        assert convert.amounts_in_game(board, orders.purchase, 0) == intended.d_mil_purchase_intent
        assert convert.amounts_in_game(board, orders.disband, 0) == intended.d_mils_disband_intent
        for table, ledger in (
            (orders.attacks, intended.d_global_attacks),
            (orders.grants, intended.d_money_grants),
            (orders.keeps_word, intended.d_keeps_word_report),
            (orders.aggressor, intended.d_aggressor_report),
        ):
            assert flows_in_game(board, table, 0) == without_zeros(ledger, names)
        batched, last = batch.step(batched, orders, rules)
        plain = known.end
    assert convert.amounts_in_game(board, batched.mils, 0) == plain.mils
    assert convert.amounts_in_game(board, batched.welfare, 0) == plain.welfare


@st.composite
def situations(draw: st.DrawFn) -> dict[str, Any]:
    """Any situation, also one that the scripted nations never reach. Every table is a list by nation."""
    n = draw(st.integers(2, 5))

    def table(most: int) -> list[list[int]]:
        numbers = st.just(0) | st.integers(0, most)  # mostly 0, so that single actions matter
        rows = draw(st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=n, max_size=n))
        return [[0 if i == j else number for j, number in enumerate(row)] for i, row in enumerate(rows)]

    return {
        "names": NAMES[:n],
        "me": draw(st.integers(0, n - 1)),
        "mils": draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)),
        "owner": draw(st.lists(st.integers(-1, n - 1), min_size=1, max_size=8)),
        "attacks": table(3),
        "grants": table(20),
        "first_turn": draw(st.integers(0, 9)) == 0,
        "turns_left": draw(st.integers(1, 3)),
        "remembered": draw(st.lists(st.booleans(), min_size=n, max_size=n)),
    }


@pytest.mark.sampled
@pytest.mark.parametrize("kind", list(batch.POLICIES))
@settings(max_examples=examples(60), deadline=None)
@given(case=situations(), rules=rule_sets())
def test_an_array_policy_decides_like_its_scripted_nation_in_any_situation(
    kind: str, case: dict[str, Any], rules: Rules
) -> None:
    names, me = case["names"], case["me"]
    remembered = [flag and i != me for i, flag in enumerate(case["remembered"])]
    remembers = kind in HEADINGS and not case["first_turn"]
    places = [f"T{i}" for i in range(len(case["owner"]))]
    seen: dict[str, Any] = {
        "turn": 4,
        "self": names[me],
        "agents": names,
        "territories": {
            n: [p for p, o in zip(places, case["owner"], strict=True) if o == i] for i, n in enumerate(names)
        },
        "army": dict(zip(names, case["mils"], strict=True)),
        "constants": rules.constants,
        "turns_left": case["turns_left"],
    }
    if not case["first_turn"]:
        seen["last_turn"] = {"attacks": by_name(names, case["attacks"]), "grants": by_name(names, case["grants"])}
    if remembers:
        seen["history_summary"] = HEADINGS[kind] + ", ".join(
            n for n, flag in zip(names, remembered, strict=True) if flag
        )
    answer = NATIONS[kind]().rule(seen)
    board = convert.make_board(names, places, None)
    mils = np.asarray([case["mils"]])
    state = batch.BatchState(board, 4, mils, mils * 0, np.asarray([case["owner"]]), mils * 0 - 1)
    last: Any = SimpleNamespace(attacks_clamped=np.asarray([case["attacks"]]), grants_paid=np.asarray([case["grants"]]))
    situation = Situation(state, rules, None if case["first_turn"] else last, case["turns_left"])
    decided = batch.POLICIES[kind](View(situation, me, np.asarray([remembered]) if remembers else None))
    assert decided.purchase.tolist() == [answer.get("purchase_mils", 0)]
    assert decided.disband.tolist() == [answer.get("disband_mils", 0)]
    for field, rows in (
        ("attacks", decided.attacks),
        ("money_grants", decided.grants),
        ("keeps_word_report", decided.keeps_word),
        ("aggressor_report", decided.aggressor),
    ):
        assert row(rows) == [answer.get(field, {}).get(n, 0) for n in names], field


HEADINGS = {"grudger": GRUDGES, "peace_enforcer": BREACHES}


def by_name(names: list[str], table: list[list[int]]) -> dict[str, dict[str, int]]:
    """As in the input of a nation: without zero entries."""
    found = {a: {b: n for b, n in zip(names, row, strict=True) if n} for a, row in zip(names, table, strict=True)}
    return {a: to for a, to in found.items() if to}


@pytest.mark.parametrize("kind", list(HEADINGS))
def test_with_fewer_mils_than_enemies_the_first_enemies_get_one_mil_each(kind: str) -> None:
    board = convert.make_board(NAMES[:4], ["T0"], None)
    mils = np.asarray([[0, 3, 3, 1]])
    attacks = np.zeros((1, 4, 4), dtype=np.int64)
    attacks[0, 1, 3] = attacks[0, 2, 3] = 3  # Boru and Cael attacked Dune, who has one mil
    state = batch.BatchState(board, 1, mils, mils * 0, np.asarray([[NONE]]), mils * 0 - 1)
    last: Any = SimpleNamespace(attacks_clamped=attacks, grants_paid=attacks * 0)
    decided = batch.POLICIES[kind](View(Situation(state, Rules(), last, 5), 3, None))
    assert row(decided.attacks) == [0, 1, 0, 0]


def test_there_is_an_array_policy_for_every_scripted_nation_that_reads_no_letters() -> None:
    assert [*batch.POLICIES, "diplomat"] == list(NATIONS)


# -- whole games ----------------------------------------------------------------------------------
def test_the_same_seed_plays_the_same_games_and_another_seed_plays_others() -> None:
    lineup = {"Aria": "hawk", "Boru": "grudger", "Cael": "trader"}
    first, again, other = (batch.play(lineup, 5, 6, Rules(), seed) for seed in (1, 1, 2))
    assert first.welfare.tolist() == again.welfare.tolist()
    assert first.end.owner.tolist() != other.end.owner.tolist()
    assert first.welfare.shape == (6, 5, 3)
    assert np.sum(first.welfare, axis=0).tolist() == first.end.welfare.tolist()


def test_the_games_of_a_batch_are_dealt_differently_and_neighbouring_seeds_are_independent() -> None:
    names = NAMES[:4]
    first, second = (initial_batch_state(names, 32, seed) for seed in (2026, 2027))
    starts = [(tuple(s.owner[i].tolist()), tuple(s.capitals[i].tolist())) for s in (first, second) for i in range(32)]
    assert len(set(starts[:32])) == 32
    graph = {f"T{i:02}": [f"T{(i + d) % 20:02}" for d in (1, 19)] for i in range(20)}
    same_map = [initial_batch_state(names, 40, seed, graph=graph).owner.tolist() for seed in (1, 2)]
    assert same_map[0][1:] != same_map[1][:-1]
    assert same_map[0] != same_map[1]


def test_the_games_of_a_larger_batch_begin_like_those_of_a_smaller_one() -> None:
    few, many = (initial_batch_state(NAMES[:4], games, 5).owner for games in (7, 5000))
    assert few.tolist() == many[:7].tolist()


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 6), st.integers(6, 30), st.integers(0, 2**64))
def test_every_game_is_dealt_by_the_rules(nations: int, size: int, seed: int) -> None:
    graph = generate_map([f"T{i:02}" for i in range(size)], seed)
    state = initial_batch_state(NAMES[:nations], 9, seed, graph=graph)
    assert state.games == 9
    for game in range(9):
        plain = convert.to_game_state(state, game)
        assert sorted(place for owned in plain.territories.values() for place in owned) == sorted(graph)
        for nation, owned in plain.territories.items():
            assert plain.capitals[nation] in owned
            assert is_connected(graph, owned)


def test_the_territories_are_shared_about_equally() -> None:
    owner = initial_batch_state(NAMES[:4], 500, 1).owner
    counts = np.stack([np.sum(owner == nation, axis=1) for nation in range(4)], axis=1)
    spread = np.max(counts, axis=1) - np.min(counts, axis=1)
    assert int(np.max(spread)) <= 4
    assert np.abs(np.mean(counts, axis=0) - 5).max() < 0.2, "no nation is favoured"


def test_noise_makes_the_games_of_a_batch_take_different_courses() -> None:
    lineup = {"Aria": "grudger", "Boru": "hawk", "Cael": "trader"}
    played = batch.play(lineup, 1000, 24, Rules(), 1, noise=5)
    assert len({played.welfare[:, game].tobytes() for game in range(1000)}) > 900


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.sampled_from(list(batch.POLICIES)), min_size=2, max_size=5), st.integers(0, 1000))
def test_a_lost_answer_is_the_same_as_none_in_the_plain_engine(kinds: list[str], seed: int) -> None:
    names, turns, rules = NAMES[: len(kinds)], 6, Rules()
    played = batch.play(dict(zip(names, kinds, strict=True)), 3, turns, rules, seed, mils=3, noise=40)
    state = convert.to_game_state(initial_batch_state(names, 3, seed, mils=3), 1)
    last: TurnResult | None = None
    for turn in range(turns):
        drawn = random_numbers(seed, f"noise in turn {turn}", 3, len(names))[1].tolist()
        known = {n: build_agent_input(state, n, rules, turns_left=turns - turn, last=last) for n in names}
        answers = {n: NATIONS[kind]().rule(known[n]) for n, kind in zip(names, kinds, strict=True)}
        arrived = {n: answers[n] for n, number in zip(names, drawn, strict=True) if number * 100 >= 40 * 2**31}
        last = run_turn(state, arrived, rules)
        state = last.end
    assert played.end.mils[1].tolist() == [state.mils[n] for n in names]
    assert played.end.welfare[1].tolist() == [state.welfare[n] for n in names]


def test_a_line_up_with_an_unknown_kind_is_refused() -> None:
    with pytest.raises(BadArgs, match="unknown nation 'dove'"):
        batch.play({"A": "dove", "B": "hawk"}, 1, 1, Rules(), 1)


def test_leaving_the_ring_pays_and_harms_the_others() -> None:
    def rate(kinds: list[str], nation: int) -> float:
        found = batch.play(dict(zip(NAMES, kinds, strict=False)), 8, 12, Rules(), 7)
        return float(found.welfare[:, :, nation].sum() / found.income[:, :, nation].sum())

    ring, passive = ["ring_builder"] * 4, ["passive"] * 4
    rider = ["ring_builder", "free_rider", "ring_builder", "ring_builder"]
    assert rate(ring, 1) > rate(passive, 1) == 1
    assert rate(rider, 1) > rate(ring, 1)  # leaving the ring pays
    assert rate(rider, 2) < rate(passive, 2)  # at the cost of the next nation
    assert rate(["hawk"] * 4, 0) < 1


def test_the_page_about_the_dilemma_is_up_to_date() -> None:
    assert statecraft_dilemma.PAGE.read_text(encoding="utf-8") == statecraft_dilemma.page()
