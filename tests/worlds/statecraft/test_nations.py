"""Scripted nations: each does what its docstring says, and whatever it does is a valid answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.agents.brains.statecraft import agent_input
from cohabit.model.action import ActionSpace
from cohabit.registry import BRAINS, make_agent
from cohabit.world import Eye, Seat
from cohabit.worlds.statecraft.agent_input import assemble
from cohabit.worlds.statecraft.intake import take_in
from cohabit.worlds.statecraft.ledgers import Standing
from cohabit.worlds.statecraft.nations import NATIONS
from cohabit.worlds.statecraft.nations.traits import TRAITS
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.world import NAMES, Statecraft

RULES = Rules()
FOUR = ["Ash", "Birch", "Cedar", "Durian"]


def start(mils: int = 0, land: int = 5) -> Standing:
    owned = {name: [f"{name}{i}" for i in range(land)] for name in FOUR}
    return Standing(0, dict.fromkeys(FOUR, mils), owned, dict.fromkeys(FOUR, 0))


def play(lineup: list[str], turns: int, standing: Standing | None = None, observability: str = "full") -> list:
    """The turns of a game between scripted nations; every one of them is made anew for every turn."""
    now, last, log = standing or start(), None, []
    for turn in range(turns):
        inputs = {
            name: assemble(now, name, RULES, turns_left=turns - turn, last=last, observability=observability)
            for name in FOUR
        }
        answers = {name: NATIONS[kind]().act(inputs[name]) for name, kind in zip(FOUR, lineup, strict=True)}
        _, dropped = take_in(now, answers, RULES)
        assert dropped == [], "a scripted nation hands in nothing that is dropped"
        last = run_turn(now, answers, RULES)
        now = last.end
        log.append(last)
    return log


def welfare(lineup: list[str], turns: int = 10, mils: int = 0) -> dict[str, int]:
    return play(lineup, turns, start(mils))[-1].end.welfare


def test_there_are_nine_nations_and_a_brain_for_each():
    assert list(NATIONS) == [
        "passive", "trader", "ring_builder", "free_rider", "hawk", "grudger", "tit_for_tat", "opportunist",
        "peace_enforcer",
    ]  # fmt: skip
    assert all(kind.replace("_", "-") in BRAINS for kind in NATIONS)


def test_there_are_twelve_traits_of_one_line_each():
    assert len(TRAITS) == 12
    assert all(text and "\n" not in text for text in TRAITS.values())


@given(
    st.lists(st.sampled_from(list(NATIONS)), min_size=4, max_size=4),
    st.integers(0, 12),
    st.sampled_from(["full", "own_army", "fog"]),
)
def test_any_line_up_plays_to_the_end_with_valid_answers_at_every_level_of_sight(lineup, mils, observability):
    log = play(lineup, 4, start(mils), observability)
    assert log[-1].end.turn == 4


@given(st.lists(st.sampled_from(list(NATIONS)), min_size=4, max_size=4))
def test_a_line_up_plays_the_same_game_twice(lineup):
    assert play(lineup, 4, start(2)) == play(lineup, 4, start(2))


def test_a_ring_is_worth_the_trade_factor_times_what_sitting_still_is():
    still, ring = welfare(["passive"] * 4), welfare(["ring_builder"] * 4)
    assert set(still.values()) == {500}
    assert set(ring.values()) == {1000}


def test_a_free_rider_in_a_ring_does_best_and_whoever_it_should_have_given_to_has_nothing():
    found = welfare(["ring_builder", "ring_builder", "ring_builder", "free_rider"])
    assert found == {"Ash": 0, "Birch": 1000, "Cedar": 1000, "Durian": 1500}


def test_a_hawk_ruins_others_and_four_hawks_ruin_everybody():
    assert sum(welfare(["hawk"] * 4).values()) < sum(welfare(["passive"] * 4).values()) // 2
    hunted = welfare(["hawk", "passive", "passive", "passive"])
    assert min(hunted.values()) < 500


def test_a_trader_gives_half_to_all_others_whatever_they_do():
    for turn in play(["trader", "hawk", "passive", "passive"], 3):
        paid = turn.ledgers.d_grants_paid["Ash"]
        assert set(paid) == {"Birch", "Cedar", "Durian"}
    assert play(["trader"] * 4, 1)[0].ledgers.d_grants_paid["Ash"] == {"Birch": 8, "Cedar": 8, "Durian": 8}


def test_a_free_rider_pledges_to_all_and_pays_nobody():
    turn = play(["free_rider", "passive", "passive", "passive"], 2)[-1]
    assert turn.ledgers.d_messages_sent["Ash"]["Birch"].splitlines() == [
        "pledge: grant 16 to Birch", "pledge: no attack on Birch",
    ]  # fmt: skip
    assert turn.ledgers.d_grants_paid["Ash"] == {}


def test_tit_for_tat_gives_back_what_it_was_given_and_no_more():
    turns = play(["tit_for_tat", "passive", "trader", "passive"], 3)
    assert turns[0].ledgers.d_grants_paid["Ash"] == {"Birch": 8, "Cedar": 8, "Durian": 8}
    assert turns[1].ledgers.d_grants_paid["Ash"] == {"Cedar": 8}
    assert turns[2].ledgers.d_grants_paid["Ash"] == {"Cedar": 8}


def test_tit_for_tat_strikes_back_and_gives_an_attacker_nothing():
    turns = play(["tit_for_tat", "hawk", "trader", "trader"], 2, start(mils=3))
    assert turns[0].ledgers.d_attacks_clamped["Birch"]["Ash"] == 3
    assert turns[1].ledgers.d_attacks_clamped["Ash"]["Birch"] == 3
    assert "Birch" not in turns[1].ledgers.d_grants_paid["Ash"]


def test_a_grudger_never_forgets_though_it_is_made_anew_every_turn():
    struck = run_turn(start(mils=4), {"Birch": {"attacks": {"Ash": 1}}}, RULES)
    grudger, now, last = NATIONS["grudger"], struck.end, struck
    for _ in range(4):
        seen = assemble(now, "Ash", RULES, turns_left=5, last=last)
        answer = grudger().act(seen)
        assert list(answer["attacks"]) == ["Birch"]
        assert "Birch" not in answer["money_grants"]
        last = run_turn(now, {"Ash": answer}, RULES)
        now = last.end


def test_peace_enforcers_punish_a_hawk_and_never_each_other():
    for turn in play(["peace_enforcer", "peace_enforcer", "hawk", "passive"], 8, start(mils=2)):
        attacks = turn.ledgers.d_attacks_clamped
        assert not attacks["Ash"].get("Birch")
        assert not attacks["Birch"].get("Ash")
        assert not attacks["Ash"].get("Durian")
    turns = play(["peace_enforcer", "peace_enforcer", "hawk", "passive"], 2, start(mils=2))
    assert turns[1].ledgers.d_attacks_clamped["Ash"]["Cedar"] == 3


def test_an_enforcer_does_not_take_a_punishment_that_comes_late_for_a_breach():
    """Cedar strikes once and stops; Ash punishes it a turn later, and Birch must not hold that against Ash."""
    now, last = start(mils=3), None
    enforce = NATIONS["peace_enforcer"]()
    for turn in range(4):
        seen = {name: assemble(now, name, RULES, turns_left=9, last=last) for name in ("Ash", "Birch")}
        answers = {name: enforce.act(seen[name]) for name in seen}
        struck = {name: list(answer["attacks"]) for name, answer in answers.items()}
        assert struck == {"Ash": ["Cedar"] * (turn == 1), "Birch": ["Cedar"] * (turn == 1)}
        last = run_turn(now, {**answers, **({"Cedar": {"attacks": {"Durian": 1}}} if turn == 0 else {})}, RULES)
        now = last.end


def test_an_opportunist_strikes_the_weak_and_leaves_the_strong_alone():
    weak = play(["opportunist", "passive", "passive", "passive"], 2)
    assert weak[1].ledgers.d_attacking_mils["Ash"] == 1
    strong = play(["opportunist", "passive", "passive", "passive"], 2, start(mils=2))
    assert strong[1].ledgers.d_attacking_mils["Ash"] == 0


@pytest.mark.parametrize("kind", NATIONS)
def test_a_brain_decides_from_its_observation_what_the_nation_decides_from_its_input(kind):
    world = Statecraft(turns=5, mils=2)
    seats = [Seat(name, name) for name in NAMES[:4]]
    world.reset(1, seats)
    brain = make_agent(kind.replace("_", "-"), "statecraft", "test")
    brain.initialize("", ActionSpace())
    for _ in range(3):
        observation = world.observe(Eye("Arden", "own"))
        known = assemble(world.standing, "Arden", world.rules, turns_left=5 - world.standing.turn, last=world.last)
        action = brain.decide(observation)
        assert action is not None
        assert (action.name, action.parameters) == ("submit", NATIONS[kind]().act(known))
        assert {k: v for k, v in known.items() if v != "" and k in agent_input(observation)} == agent_input(observation)
        world.submit(seats[1], {"attacks": {"Arden": 1}, "messages": {"Arden": 'a "quoted", word'}})
        world.resolve()


def test_a_brain_whose_seat_is_not_there_yet_does_nothing():
    world = Statecraft()
    world.reset(1, [Seat(name, name) for name in NAMES[:2]])
    assert make_agent("hawk", "statecraft", "test").decide(world.observe(Eye())) is None
