"""The batch engine: what the plain engine says, for many games at once."""

from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statecraft_dilemma
from cohabit.errors import BadArgs
from cohabit.worlds.statecraft import batch
from cohabit.worlds.statecraft.agent_input import assemble
from cohabit.worlds.statecraft.batch import convert
from cohabit.worlds.statecraft.batch.arrays import NOBODY, games_last, nothing_ordered
from cohabit.worlds.statecraft.batch.engine import clamped
from cohabit.worlds.statecraft.batch.playing import dealt, decide, orders_from
from cohabit.worlds.statecraft.batch.seeing import Scene, View
from cohabit.worlds.statecraft.batch.shares import PAIRWISE_UP_TO, divided
from cohabit.worlds.statecraft.ledgers import Ledgers, Standing, Turn
from cohabit.worlds.statecraft.nations import NATIONS
from cohabit.worlds.statecraft.nations.fighters import BREACHES
from cohabit.worlds.statecraft.nations.mirrors import GRUDGES
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.turn import run_turn

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
def standings(draw: st.DrawFn, nations: list[str], places: list[str], graph: Any) -> Standing:
    owners = draw(st.lists(st.sampled_from([*nations, None]), min_size=len(places), max_size=len(places)))
    land = {n: [p for p, o in zip(places, owners, strict=True) if o == n] for n in nations}
    guarded = draw(st.lists(st.booleans(), min_size=len(nations), max_size=len(nations)))
    return Standing(
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
def several_games(draw: st.DrawFn) -> tuple[list[Standing], list[dict[str, Any]], Rules]:
    nations = NAMES[: draw(st.integers(2, len(NAMES)))]
    places, graph = draw(maps())
    games = draw(st.integers(1, 3))
    begun = [draw(standings(nations, places, graph)) for _ in range(games)]
    return begun, [draw(answers(nations, places)) for _ in range(games)], draw(rule_sets())


def as_ledgers(answer: dict[str, Any]) -> Ledgers:
    """Well-formed answers as intentions, unfiltered: the batch has to refuse by itself what cannot be ceded."""
    return Ledgers(
        d_mil_purchase_intent={n: a["purchase_mils"] for n, a in answer.items()},
        d_global_attacks={n: a["attacks"] for n, a in answer.items()},
        d_money_grants={n: a["money_grants"] for n, a in answer.items()},
        d_mils_disband_intent={n: a["disband_mils"] for n, a in answer.items()},
        d_territory_cession={n: a["cede_territories"] for n, a in answer.items()},
    )


def without_zeros(flows: dict[str, dict[str, int]], nations: list[str]) -> dict[str, dict[str, int]]:
    return {n: {k: v for k, v in flows.get(n, {}).items() if v} for n in nations}


@settings(max_examples=100, deadline=None)
@given(several_games())
def test_a_batch_comes_to_the_same_as_its_games_one_by_one(
    case: tuple[list[Standing], list[dict[str, Any]], Rules],
) -> None:
    begun, handed_in, rules = case
    start = convert.standing_of(begun)
    board = start.board
    end, turn = batch.step(start, convert.orders_of(board, [as_ledgers(a) for a in handed_in]), rules)
    for game, (standing, answer) in enumerate(zip(begun, handed_in, strict=True)):
        plain = run_turn(standing, answer, rules)
        nations = standing.nations
        assert convert.amounts_of(board, end.mils, game) == plain.end.mils
        assert convert.amounts_of(board, end.welfare, game) == plain.end.welfare
        assert convert.territories_of(end, game) == {n: plain.end.territories.get(n, []) for n in nations}
        for name in AMOUNTS:
            ledger = getattr(plain.ledgers, f"d_{name}")
            assert convert.amounts_of(board, getattr(turn, name), game) == {n: ledger.get(n, 0) for n in nations}, name
        clamp = without_zeros(plain.ledgers.d_attacks_clamped, nations)
        assert convert.flows_of(board, turn.attacks_clamped, game) == clamp
        paid = without_zeros(plain.ledgers.d_grants_paid, nations)
        assert convert.flows_of(board, turn.grants_paid, game) == paid
        assert int(np.sum(turn.cessions_done[game])) == len(plain.cessions_done)
        assert end.turn == plain.end.turn


# -- by hand --------------------------------------------------------------------------------------
def one_game(mils: dict[str, int], land: dict[str, list[str]], graph: Any = None, **more: Any) -> batch.BatchStanding:
    standing = Standing(
        turn=0,
        mils=mils,
        territories=land,
        welfare=dict.fromkeys(mils, 0),
        capitals=more.get("capitals", {}),
        graph=graph,
    )
    return convert.standing_of([standing])


def played(standing: batch.BatchStanding, rules: Rules, **intents: Any) -> tuple[batch.BatchStanding, batch.BatchTurn]:
    return batch.step(standing, convert.orders_of(standing.board, [Ledgers(**intents)]), rules)


def row(table: Any) -> list[Any]:
    return list(table[0].tolist())


def test_orders_beyond_the_army_are_scaled_down_to_it_and_ties_go_to_the_smaller_name() -> None:
    attacks = games_last(np, np.asarray([[[0, 3, 3, 3], [5, 0, 0, 0], [0, 0, 0, 0], [2, 2, 2, 0]]]))
    sent = clamped(np, attacks, np.asarray([[4, 2, 9, 0]]))
    assert row(sent) == [[0, 2, 1, 1], [2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("parts", [4, PAIRWISE_UP_TO + 1])
def test_a_part_that_divides_exactly_never_gets_a_spare_unit(parts: int) -> None:
    shares = divided(np, np.asarray([[2, 1, 1] + [0] * (parts - 3)]), np.asarray([2]), 1)
    assert row(shares)[:4] == [1, 1, 0, 0]


PARTS = st.integers(0, 60)
FEW = st.lists(PARTS, min_size=1, max_size=PAIRWISE_UP_TO)
MANY = st.lists(PARTS, min_size=PAIRWISE_UP_TO + 1, max_size=2 * PAIRWISE_UP_TO)


@given(FEW | MANY, st.integers(0, 500))
def test_few_parts_and_many_are_divided_by_largest_remainder(parts: list[int], whole: int) -> None:
    """Few are compared with each other and many are sorted: the same must come of it."""
    total = sum(parts)
    exact = [part * whole // total if total else 0 for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(parts[i] * whole % total) if total else 0, i))
    lucky = by_remainder[: whole - sum(exact)] if total else []
    shares = row(divided(np, np.asarray([parts]), np.asarray([whole]), 1))
    assert shares == [share + (i in lucky) for i, share in enumerate(exact)]


def test_losses_are_divided_over_the_attackers_by_what_each_sent() -> None:
    start = one_game({"A": 4, "B": 2, "C": 6}, {"A": ["a"], "B": ["b"], "C": ["c"]})
    rules = Rules(c_defense_destroy_factor=2, c_mil_upkeep_price=0)
    _, turn = played(start, rules, d_global_attacks={"A": {"C": 4}, "B": {"C": 2}})
    assert row(turn.mils_lost_by_attacker) == [2, 1, 0]


@pytest.mark.parametrize(("cap", "left"), [("committed", 9), ("army", 5)])
def test_the_loss_cap_says_whether_more_can_be_lost_than_was_sent(cap: Any, left: int) -> None:
    start = one_game({"A": 10, "B": 5}, {"A": ["a"], "B": ["b"]})
    rules = Rules(c_defense_destroy_factor=1, c_mil_upkeep_price=0, loss_cap=cap)
    end, _ = played(start, rules, d_global_attacks={"A": {"B": 1}})
    assert row(end.mils) == [left, 5]


def test_what_is_bought_in_a_turn_cannot_be_lost_in_it() -> None:
    start = one_game({"A": 1, "B": 10}, {"A": ["a"], "B": ["b"]})
    rules = Rules(c_defense_destroy_factor=1, c_mil_upkeep_price=0, c_mil_purchase_price=5, loss_cap="army")
    end, _ = played(start, rules, d_global_attacks={"A": {"B": 1}}, d_mil_purchase_intent={"A": 2})
    assert row(end.mils) == [2, 10]


def test_mils_that_cannot_be_paid_are_disbanded_and_the_change_stays() -> None:
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


def test_a_cession_must_be_sound_on_the_map_as_it_was_and_as_it_has_become() -> None:
    start = one_game({"A": 0, "B": 0, "C": 0}, {"A": ["a", "b"], "B": ["c"], "C": ["d"]}, LINE, capitals={"A": "a"})
    end, turn = played(
        start, Rules(), d_territory_cession={"A": {"B": ["a", "b", "b"], "C": ["b"]}, "B": {"C": ["c"], "A": ["c"]}}
    )
    assert convert.territories_of(end, 0) == {"A": ["a"], "B": ["b"], "C": ["c", "d"]}
    assert int(np.sum(turn.cessions_done)) == 2


def test_land_received_in_a_turn_is_no_border_yet() -> None:
    graph = {"b": ["c", "x"], "c": ["b"], "x": ["b"]}
    start = one_game({"A": 0, "B": 0, "C": 0}, {"A": ["b"], "B": ["x"], "C": ["c"]}, graph)
    end, _ = played(start, Rules(), d_territory_cession={"A": {"B": ["b"]}, "C": {"B": ["c"]}})
    assert convert.territories_of(end, 0) == {"A": [], "B": ["b", "x"], "C": ["c"]}


def test_without_a_map_owning_it_is_enough_to_cede() -> None:
    start = one_game({"A": 0, "B": 0}, {"A": ["a", "b"], "B": []})
    end, _ = played(start, Rules(), d_territory_cession={"A": {"B": ["b"]}})
    assert convert.territories_of(end, 0) == {"A": ["a"], "B": ["b"]}


def test_numbers_that_would_not_fit_are_refused_before_anything_is_played() -> None:
    start = one_game({"A": 2**40, "B": 0}, {"A": ["a"], "B": ["b"]})
    with pytest.raises(BadArgs, match="attacks: too large"):
        played(start, Rules(), d_global_attacks={"A": {"B": 2**40}})


@pytest.mark.parametrize("name", ["purchase", "attacks", "grants", "disband"])
def test_negative_orders_are_refused(name: str) -> None:
    start = one_game({"A": 1, "B": 1}, {"A": ["a"], "B": ["b"]})
    orders = nothing_ordered(start.board, 1)
    wrong = msgspec.structs.replace(orders, **{name: getattr(orders, name) - 1})
    with pytest.raises(BadArgs, match=f"{name}: must not be negative"):
        batch.step(start, wrong, Rules())


def test_nothing_that_is_handed_in_is_changed() -> None:
    start = one_game({"A": 3, "B": 1}, {"A": ["a"], "B": ["b"]})
    before = [start.mils.copy(), start.welfare.copy(), start.owner.copy()]
    played(start, Rules(), d_global_attacks={"A": {"B": 2}}, d_territory_cession={"A": {"B": ["a"]}})
    for now, then in zip([start.mils, start.welfare, start.owner], before, strict=True):
        assert now.tolist() == then.tolist()


def test_doing_nothing_leaves_the_income_as_welfare() -> None:
    start = one_game({"A": 0, "B": 0}, {"A": ["a", "b"], "B": ["c"]})
    end, _ = batch.step(start, nothing_ordered(start.board, 1), Rules())
    assert row(end.welfare) == [20, 10]
    assert NOBODY not in row(end.owner)


# -- policies -------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(list(NATIONS)), min_size=2, max_size=6),
    st.integers(0, 9),
    st.integers(0, 10_000),
    rule_sets(),
)
def test_array_policies_decide_what_the_scripted_nations_decide(
    kinds: list[str], mils: int, seed: int, rules: Rules
) -> None:
    """Played side by side for some turns: the same orders from each, in each turn, and the same end."""
    names, turns = NAMES[: len(kinds)], 6
    batched = dealt(names, 1, seed, mils=mils)
    board = batched.board
    plain = as_plain(batched)
    nations = {name: NATIONS[kind]() for name, kind in zip(names, kinds, strict=True)}
    memories: list[Any] = [None] * len(kinds)
    last: batch.BatchTurn | None = None
    known: Turn | None = None
    for left in range(turns, 0, -1):
        decisions = decide(Scene(batched, rules, last, left), [batch.POLICIES[kind] for kind in kinds], memories)
        memories = [decision.memory for decision in decisions]
        orders = orders_from(batched, decisions)
        answer = {n: nations[n].act(assemble(plain, n, rules, turns_left=left, last=known)) for n in names}
        known = run_turn(plain, answer, rules)
        meant = known.ledgers
        assert convert.amounts_of(board, orders.purchase, 0) == meant.d_mil_purchase_intent
        assert convert.amounts_of(board, orders.disband, 0) == meant.d_mils_disband_intent
        for table, ledger in (
            (orders.attacks, meant.d_global_attacks),
            (orders.grants, meant.d_money_grants),
            (orders.keeps_word, meant.d_keeps_word_report),
            (orders.aggressor, meant.d_aggressor_report),
        ):
            assert convert.flows_of(board, table, 0) == without_zeros(ledger, names)
        batched, last = batch.step(batched, orders, rules)
        plain = known.end
    assert as_plain(batched).mils == plain.mils
    assert as_plain(batched).welfare == plain.welfare


@st.composite
def scenes(draw: st.DrawFn) -> dict[str, Any]:
    """Any situation, also one that no play of ours would come to: every table a list by nation."""
    n = draw(st.integers(2, 5))

    def table(most: int) -> list[list[int]]:
        numbers = st.just(0) | st.integers(0, most)  # mostly nothing, so that single deeds show
        rows = draw(st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=n, max_size=n))
        return [[0 if i == j else number for j, number in enumerate(row)] for i, row in enumerate(rows)]

    return {
        "names": NAMES[:n],
        "me": draw(st.integers(0, n - 1)),
        "mils": draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)),
        "owner": draw(st.lists(st.integers(-1, n - 1), min_size=1, max_size=8)),
        "struck": table(3),
        "paid": table(20),
        "first": draw(st.integers(0, 9)) == 0,
        "left": draw(st.integers(1, 3)),
        "known": draw(st.lists(st.booleans(), min_size=n, max_size=n)),
    }


@pytest.mark.parametrize("kind", list(NATIONS))
@settings(max_examples=60, deadline=None)
@given(case=scenes(), rules=rule_sets())
def test_an_array_policy_answers_any_situation_as_its_namesake_does(
    kind: str, case: dict[str, Any], rules: Rules
) -> None:
    names, me = case["names"], case["me"]
    others_known = [known and i != me for i, known in enumerate(case["known"])]
    remembers = kind in REMEMBER and not case["first"]
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
        "turns_left": case["left"],
    }
    if not case["first"]:
        seen["last_turn"] = {"attacks": by_name(names, case["struck"]), "grants": by_name(names, case["paid"])}
    if remembers:
        seen["history_summary"] = REMEMBER[kind] + ", ".join(
            n for n, known in zip(names, others_known, strict=True) if known
        )
    answer = NATIONS[kind]().act(seen)
    board = convert.board_of(names, places, None)
    mils = np.asarray([case["mils"]])
    standing = batch.BatchStanding(board, 4, mils, mils * 0, np.asarray([case["owner"]]), mils * 0 - 1)
    last: Any = SimpleNamespace(attacks_clamped=np.asarray([case["struck"]]), grants_paid=np.asarray([case["paid"]]))
    scene = Scene(standing, rules, None if case["first"] else last, case["left"])
    decided = batch.POLICIES[kind](View(scene, me, np.asarray([others_known]) if remembers else None))
    assert decided.purchase.tolist() == [answer.get("purchase_mils", 0)]
    assert decided.disband.tolist() == [answer.get("disband_mils", 0)]
    for field, rows in (
        ("attacks", decided.attacks),
        ("money_grants", decided.grants),
        ("keeps_word_report", decided.keeps_word),
        ("aggressor_report", decided.aggressor),
    ):
        assert row(rows) == [answer.get(field, {}).get(n, 0) for n in names], field


REMEMBER = {"grudger": GRUDGES, "peace_enforcer": BREACHES}


def by_name(names: list[str], table: list[list[int]]) -> dict[str, dict[str, int]]:
    """As a nation is told: without the pairs between whom nothing went."""
    found = {a: {b: n for b, n in zip(names, row, strict=True) if n} for a, row in zip(names, table, strict=True)}
    return {a: to for a, to in found.items() if to}


def as_plain(standing: batch.BatchStanding) -> Standing:
    board = standing.board
    assert board.neighbours is not None
    touching = convert.adjacency(board)
    places = board.territories
    return Standing(
        turn=standing.turn,
        mils=convert.amounts_of(board, standing.mils, 0),
        territories=convert.territories_of(standing, 0),
        welfare=convert.amounts_of(board, standing.welfare, 0),
        capitals={n: places[int(standing.capitals[0, i])] for i, n in enumerate(board.nations)},
        graph={p: [q for j, q in enumerate(places) if touching[i, j]] for i, p in enumerate(places)},
    )


@pytest.mark.parametrize("kind", list(REMEMBER))
def test_with_fewer_mils_than_enemies_the_first_of_them_get_one_each(kind: str) -> None:
    board = convert.board_of(NAMES[:4], ["T0"], None)
    mils = np.asarray([[0, 3, 3, 1]])
    struck = np.zeros((1, 4, 4), dtype=np.int64)
    struck[0, 1, 3] = struck[0, 2, 3] = 3  # Boru and Cael attacked Dune, who has one mil
    standing = batch.BatchStanding(board, 1, mils, mils * 0, np.asarray([[NOBODY]]), mils * 0 - 1)
    last: Any = SimpleNamespace(attacks_clamped=struck, grants_paid=struck * 0)
    decided = batch.POLICIES[kind](View(Scene(standing, Rules(), last, 5), 3, None))
    assert row(decided.attacks) == [0, 1, 0, 0]


def test_there_is_an_array_policy_for_every_scripted_nation() -> None:
    assert list(batch.POLICIES) == list(NATIONS)


# -- whole games ----------------------------------------------------------------------------------
def test_the_same_seed_plays_the_same_games_and_another_seed_others() -> None:
    lineup = {"Aria": "hawk", "Boru": "grudger", "Cael": "trader"}
    first, again, other = (batch.play(lineup, 5, 6, Rules(), seed) for seed in (1, 1, 2))
    assert first.welfare.tolist() == again.welfare.tolist()
    assert first.end.owner.tolist() != other.end.owner.tolist()
    assert first.welfare.shape == (6, 5, 3)
    assert np.sum(first.welfare, axis=0).tolist() == first.end.welfare.tolist()


def test_a_line_up_with_an_unknown_kind_is_refused() -> None:
    with pytest.raises(BadArgs, match="there is no 'dove'"):
        batch.play({"A": "dove", "B": "hawk"}, 1, 1, Rules(), 1)


def test_the_dilemma_is_real() -> None:
    def rate(kinds: list[str], nation: int) -> float:
        found = batch.play(dict(zip(NAMES, kinds, strict=False)), 8, 12, Rules(), 7)
        return float(found.welfare[:, :, nation].sum() / found.income[:, :, nation].sum())

    ring, passive = ["ring_builder"] * 4, ["passive"] * 4
    rider = ["ring_builder", "free_rider", "ring_builder", "ring_builder"]
    assert rate(ring, 1) > rate(passive, 1) == 1
    assert rate(rider, 1) > rate(ring, 1)  # who leaves the ring has more
    assert rate(rider, 2) < rate(passive, 2)  # at the cost of the next one
    assert rate(["hawk"] * 4, 0) < 1


def test_the_page_about_the_dilemma_is_fresh() -> None:
    assert statecraft_dilemma.PAGE.read_text(encoding="utf-8") == statecraft_dilemma.page()
