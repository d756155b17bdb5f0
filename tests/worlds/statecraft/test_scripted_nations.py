"""Scripted nations: each does what its docstring says, and all their answers are valid."""

import re
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statecraft_letters
from cohabit.agents.brains.statecraft import NATIONS, TRAITS, Correspondent, read_input
from cohabit.model.action import ActionSpace
from cohabit.registry import BRAINS, make_agent
from cohabit.scenario import read_scenario
from cohabit.world import Eye, Seat
from cohabit.worlds.statecraft.agent_input import build_agent_input
from cohabit.worlds.statecraft.intake import read_intentions
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import GameState
from cohabit.worlds.statecraft.turn import run_turn
from cohabit.worlds.statecraft.without_effect import check_orders
from cohabit.worlds.statecraft.world import NATION_NAMES, Statecraft

RULES = Rules()
FOUR = ["Ash", "Birch", "Cedar", "Durian"]


def start(mils: int = 0, land: int = 5) -> GameState:
    owned = {name: [f"{name}{i}" for i in range(land)] for name in FOUR}
    return GameState(0, dict.fromkeys(FOUR, mils), owned, dict.fromkeys(FOUR, 0))


def play(lineup: list[str], turns: int, state: GameState | None = None, observability: str = "full") -> list:
    """The turns of a game of scripted nations. New players are created for every turn."""
    now, last, log = state or start(), None, []
    for turn in range(turns):
        inputs = {
            name: build_agent_input(now, name, RULES, turns_left=turns - turn, last=last, observability=observability)
            for name in FOUR
        }
        answers = {name: NATIONS[kind]().act(inputs[name]) for name, kind in zip(FOUR, lineup, strict=True)}
        _, dropped = read_intentions(now, answers, RULES)
        assert dropped == [], "nothing in the answer of a scripted nation is dropped"
        problems = [check_orders(now, name, answer, RULES)[0] for name, answer in answers.items()]
        assert not any(problems), "none of its orders is without effect"
        last = run_turn(now, answers, RULES)
        now = last.end
        log.append(last)
    return log


def welfare(lineup: list[str], turns: int = 10, mils: int = 0) -> dict[str, int]:
    return play(lineup, turns, start(mils))[-1].end.welfare


def test_there_are_ten_nations_and_a_brain_for_each():
    assert list(NATIONS) == [
        "passive", "trader", "ring_builder", "free_rider", "hawk", "grudger", "tit_for_tat", "opportunist",
        "peace_enforcer", "diplomat",
    ]  # fmt: skip
    assert all(kind.replace("_", "-") in BRAINS for kind in NATIONS)


def test_there_are_twelve_traits_on_one_line_each():
    assert len(TRAITS) == 12
    assert all(text and "\n" not in text for text in TRAITS.values())


@given(
    st.lists(st.sampled_from(list(NATIONS)), min_size=4, max_size=4),
    st.integers(0, 12),
    st.sampled_from(["full", "own_army", "fog"]),
)
def test_any_line_up_plays_to_the_end_with_valid_answers_at_every_level_of_observability(lineup, mils, observability):
    log = play(lineup, 4, start(mils), observability)
    assert log[-1].end.turn == 4


@given(st.lists(st.sampled_from(list(NATIONS)), min_size=4, max_size=4))
def test_the_same_line_up_plays_the_same_game(lineup):
    assert play(lineup, 4, start(2)) == play(lineup, 4, start(2))


def test_a_ring_is_worth_the_trade_factor_times_what_doing_nothing_is_worth():
    still, ring = welfare(["passive"] * 4), welfare(["ring_builder"] * 4)
    assert set(still.values()) == {500}
    assert set(ring.values()) == {1000}


def test_a_free_rider_in_a_ring_does_best_and_the_nation_after_it_gets_nothing():
    found = welfare(["ring_builder", "ring_builder", "ring_builder", "free_rider"])
    assert found == {"Ash": 0, "Birch": 1000, "Cedar": 1000, "Durian": 1500}


def test_a_hawk_harms_the_others_and_four_hawks_harm_everybody():
    assert sum(welfare(["hawk"] * 4).values()) < sum(welfare(["passive"] * 4).values()) // 2
    attacked = welfare(["hawk", "passive", "passive", "passive"])
    assert min(attacked.values()) < 500


def test_a_trader_grants_half_of_its_money_to_all_others_whatever_they_do():
    for turn in play(["trader", "hawk", "passive", "passive"], 3):
        paid = turn.ledgers.d_grants_paid["Ash"]
        assert set(paid) == {"Birch", "Cedar", "Durian"}
    assert play(["trader"] * 4, 1)[0].ledgers.d_grants_paid["Ash"] == {"Birch": 8, "Cedar": 8, "Durian": 8}


def test_a_free_rider_makes_pledges_to_all_and_pays_nobody():
    turn = play(["free_rider", "passive", "passive", "passive"], 2)[-1]
    assert turn.ledgers.d_messages_sent["Ash"]["Birch"].splitlines() == [
        "pledge: grant 16 to Birch", "pledge: no attack on Birch",
    ]  # fmt: skip
    assert turn.ledgers.d_grants_paid["Ash"] == {}


def test_tit_for_tat_returns_the_grants_it_received_and_no_more():
    turns = play(["tit_for_tat", "passive", "trader", "passive"], 3)
    assert turns[0].ledgers.d_grants_paid["Ash"] == {"Birch": 8, "Cedar": 8, "Durian": 8}
    assert turns[1].ledgers.d_grants_paid["Ash"] == {"Cedar": 8}
    assert turns[2].ledgers.d_grants_paid["Ash"] == {"Cedar": 8}


def test_tit_for_tat_returns_attacks_and_grants_an_attacker_nothing():
    turns = play(["tit_for_tat", "hawk", "trader", "trader"], 2, start(mils=3))
    assert turns[0].ledgers.d_attacks_clamped["Birch"]["Ash"] == 3
    assert turns[1].ledgers.d_attacks_clamped["Ash"]["Birch"] == 3
    assert "Birch" not in turns[1].ledgers.d_grants_paid["Ash"]


def test_a_grudger_remembers_attackers_through_its_history_alone():
    attacked = run_turn(start(mils=4), {"Birch": {"attacks": {"Ash": 1}}}, RULES)
    grudger, now, last = NATIONS["grudger"], attacked.end, attacked
    for _ in range(4):
        seen = build_agent_input(now, "Ash", RULES, turns_left=5, last=last)
        answer = grudger().act(seen)
        assert list(answer["attacks"]) == ["Birch"]
        assert "Birch" not in answer["money_grants"]
        last = run_turn(now, {"Ash": answer}, RULES)
        now = last.end


def test_peace_enforcers_attack_a_hawk_and_never_each_other():
    for turn in play(["peace_enforcer", "peace_enforcer", "hawk", "passive"], 8, start(mils=2)):
        attacks = turn.ledgers.d_attacks_clamped
        assert not attacks["Ash"].get("Birch")
        assert not attacks["Birch"].get("Ash")
        assert not attacks["Ash"].get("Durian")
    turns = play(["peace_enforcer", "peace_enforcer", "hawk", "passive"], 2, start(mils=2))
    assert turns[1].ledgers.d_attacks_clamped["Ash"]["Cedar"] == 3


def test_a_late_punishment_does_not_count_as_a_breach_of_the_peace():
    """Cedar attacks once and stops. Ash punishes it a turn later, which Birch must not treat as a breach."""
    now, last = start(mils=3), None
    enforce = NATIONS["peace_enforcer"]()
    for turn in range(4):
        seen = {name: build_agent_input(now, name, RULES, turns_left=9, last=last) for name in ("Ash", "Birch")}
        answers = {name: enforce.act(seen[name]) for name in seen}
        attacked = {name: list(answer["attacks"]) for name, answer in answers.items()}
        assert attacked == {"Ash": ["Cedar"] * (turn == 1), "Birch": ["Cedar"] * (turn == 1)}
        last = run_turn(now, {**answers, **({"Cedar": {"attacks": {"Durian": 1}}} if turn == 0 else {})}, RULES)
        now = last.end


def test_an_opportunist_attacks_only_a_much_weaker_nation():
    weak = play(["opportunist", "passive", "passive", "passive"], 2)
    assert weak[1].ledgers.d_attacking_mils["Ash"] == 1
    strong = play(["opportunist", "passive", "passive", "passive"], 2, start(mils=2))
    assert strong[1].ledgers.d_attacking_mils["Ash"] == 0


# -- letters --------------------------------------------------------------------------------------
def with_letters(*turns: dict, kind: str = "diplomat", mils: int = 1) -> list[dict]:
    """The answers of a nation, Ash, in a game in which Birch gives these answers."""
    now, last, found = start(mils), None, []
    for left, birch in zip(range(len(turns), 0, -1), turns, strict=True):
        found.append(NATIONS[kind]().act(build_agent_input(now, "Ash", RULES, turns_left=left + 3, last=last)))
        answers = {"Ash": found[-1], "Birch": birch}
        assert read_intentions(now, answers, RULES)[1] == []
        last = run_turn(now, answers, RULES)
        now = last.end
    return found


def test_a_diplomat_returns_a_pledged_grant_and_keeps_its_own_word():
    pledge = {"messages": {"Ash": "- **Pledge**: grant 6 to you"}, "money_grants": {"Ash": 6}}
    first, second, third = with_letters(pledge, pledge, pledge)
    assert second["money_grants"]["Birch"] >= 6
    for before, after in ((first, second), (second, third)):
        promised = int(before["messages"]["Birch"].split("pledge: grant ")[1].split()[0])
        assert after["money_grants"]["Birch"] >= promised


def test_a_diplomat_grants_nothing_to_a_nation_that_broke_its_word_until_it_has_paid():
    pledge, pay = {"messages": {"Ash": "pledge: grant 6 to Ash"}}, {"money_grants": {"Ash": 6}}
    answers = with_letters(pledge, {}, {}, pay, {})
    assert "Birch" in answers[1]["money_grants"]
    assert answers[2]["money_grants"].keys().isdisjoint({"Birch"})
    assert answers[2]["messages"]["Birch"] == "You broke your word, so I grant you nothing. You owe me 6."
    assert answers[2]["keeps_word_report"]["Birch"] == 2
    assert answers[3]["money_grants"].get("Birch") is None
    assert answers[4]["money_grants"]["Birch"] == 6, "trusted again"


def test_a_diplomat_never_trusts_a_nation_again_that_attacked_in_spite_of_its_pledge():
    answers = with_letters(
        {"messages": {"all": "I pledge no attack on Ash"}},
        {"attacks": {"Ash": 1}},
        *[{"money_grants": {"Ash": 20}}] * 3,
    )
    assert answers[2]["attacks"] == {"Birch": 1}
    assert all("Birch" not in answer["money_grants"] for answer in answers[2:])


def test_a_diplomat_takes_an_offer_that_it_can_afford_and_declines_another():
    offer = {"messages": {"Ash": "If you give me 5, I will give you 5."}, "money_grants": {}}
    too_much = {"messages": {"Ash": "Give me 500 and I give you 600!"}}
    _, second, third, _ = with_letters({}, offer, too_much, {})
    assert third["money_grants"]["Birch"] >= 5
    assert third["messages"]["Birch"].startswith("I accept your offer")
    fourth = with_letters({}, offer, too_much, {})[3]
    assert fourth["messages"]["Birch"].startswith("I cannot agree to 500")
    assert "Birch" not in second["messages"] or "offer" not in second["messages"]["Birch"]


def test_a_diplomat_does_not_pay_under_a_threat_but_arms():
    threats = {"messages": {"Ash": "Pay me 10 or else my army will burn your cities."}}
    _, second = with_letters(threats, threats)
    assert "Birch" not in second["money_grants"]
    assert second["messages"]["Birch"] == "I do not pay under a threat. If you attack me, I will attack you."


def test_among_diplomats_a_free_rider_does_worse_than_a_diplomat_would():
    rider, honest = welfare(["free_rider", *["diplomat"] * 3], 20), welfare(["diplomat"] * 4, 20)
    assert rider["Ash"] < rider["Birch"] < honest["Ash"]


READERS = [brain.replace("-", "_") for agent in read_scenario("statecraft").agents if (brain := agent.brain)]
PAYING = [kind for kind in READERS if kind not in ("hawk", "opportunist")]
PLEDGE = {"messages": {"Ash": "pledge: grant 6 to Ash"}}


def test_every_nation_of_the_default_scenario_reads_letters():
    assert len(READERS) == 6
    assert all(issubclass(NATIONS[kind], Correspondent) for kind in READERS)


@pytest.mark.parametrize("kind", PAYING)
def test_a_nation_grants_nothing_after_a_broken_pledge_and_says_why(kind):
    answers = with_letters(PLEDGE, {}, {}, kind=kind)
    assert "Birch" in answers[0]["money_grants"]
    assert "Birch" not in answers[2]["money_grants"]
    assert answers[2]["messages"]["Birch"].startswith("You broke your word, so I grant you nothing.")
    assert answers[2]["keeps_word_report"]["Birch"] == 2


@pytest.mark.parametrize("kind", PAYING)
def test_a_nation_that_has_paid_what_it_owes_is_trusted_again_except_by_a_grudger(kind):
    answers = with_letters(PLEDGE, {}, {"money_grants": {"Ash": 6}}, {"money_grants": {"Ash": 6}}, {}, kind=kind)
    assert ("Birch" in answers[4]["money_grants"]) is (kind != "grudger")


@pytest.mark.parametrize("kind", PAYING)
def test_an_offer_that_was_taken_is_a_promise(kind):
    offer = {"messages": {"Ash": "If you give me 4, I will give you 4."}}
    answers = with_letters({}, offer, {}, {}, {}, kind=kind)
    assert answers[2]["money_grants"]["Birch"] >= 4
    assert answers[2]["messages"]["Birch"].startswith("I accept your offer")
    assert "Birch" not in answers[4]["money_grants"]
    assert answers[4]["messages"]["Birch"].startswith("You broke your word")


@pytest.mark.parametrize("kind", PAYING)
def test_a_nation_keeps_its_own_pledges(kind):
    steady = {"money_grants": {"Ash": 3}}
    answers = with_letters(*[steady] * 6, kind=kind)
    assert len(answers) == 6
    for before, after in pairwise(answers):
        pledged = [int(n) for n in re.findall(r"pledge: grant (\d+) to Birch", before["messages"].get("Birch", ""))]
        assert all(after["money_grants"]["Birch"] >= n for n in pledged)
        assert "Birch" not in after["attacks"]


@pytest.mark.parametrize(
    ("kind", "turns"), [("grudger", 3), ("peace_enforcer", 3), ("diplomat", 2), ("tit_for_tat", 1)]
)
def test_grants_without_a_return_end_with_a_letter_and_begin_again_with_a_return(kind, turns):
    pays = {"money_grants": {"Ash": 5}}
    answers = with_letters(*[{}] * 5, pays, {}, kind=kind)
    assert ["Birch" in answer["money_grants"] for answer in answers[:6]] == [turn < turns for turn in range(6)]
    said = [answer["messages"].get("Birch", "").startswith("You took my grants") for answer in answers]
    assert said.index(True) == turns
    assert sum(said) == 1, "it is said once"
    assert answers[6]["money_grants"]["Birch"] > 0


@pytest.mark.parametrize("kind", PAYING)
def test_a_nation_that_cannot_pay_because_it_is_attacked_pays_later_and_is_not_called_a_liar(kind):
    """Cedar attacks Ash in turn 1, so that Ash cannot pay what it pledged to Birch."""
    now, last, paid, said = start(), None, [], []
    now = msgspec.structs.replace(now, mils={**now.mils, "Cedar": 8})
    pays = {"money_grants": {"Ash": 5}, "messages": {"Ash": "pledge: grant 5 to Ash"}}
    for turn in range(5):
        answer = NATIONS[kind]().act(build_agent_input(now, "Ash", RULES, turns_left=9, last=last))
        orders = {"Ash": answer, "Birch": pays} | ({"Cedar": {"attacks": {"Ash": 8}}} if turn == 1 else {})
        last = run_turn(now, orders, RULES)
        now = last.end
        paid.append(last.ledgers.d_grants_paid["Ash"].get("Birch", 0))
        said.append(answer["messages"].get("Birch", ""))
    pledged = int(said[0].split("pledge: grant ")[1].split()[0]) if "pledge" in said[0] else 0
    assert sum(paid[1:]) >= pledged
    assert all("broke your word" not in text for text in said)


@pytest.mark.parametrize(("damage", "trusted"), [(8, True), (2, False)])
def test_a_pledge_that_could_not_be_paid_because_of_damage_is_not_called_broken(damage, trusted):
    """Cedar destroys 5 of Birch's income of 50 with each mil. Birch pledged 11 and pays nothing."""
    now, last = msgspec.structs.replace(start(), mils={**start().mils, "Cedar": 8}), None
    for birch, cedar in (({"messages": {"Ash": "pledge: grant 11 to Ash"}}, 0), ({}, damage), ({}, 0)):
        answer = NATIONS["diplomat"]().act(build_agent_input(now, "Ash", RULES, turns_left=9, last=last))
        last = run_turn(now, {"Ash": answer, "Birch": birch, "Cedar": {"attacks": {"Birch": cedar}}}, RULES)
        now = last.end
    assert ("broke your word" not in answer["messages"].get("Birch", "")) is trusted


def test_an_opportunist_pays_a_stronger_nation_that_threatens_it_and_no_other():
    threat = {"messages": {"Ash": "Pay me 4 or else my army will burn your cities."}}
    weak = with_letters({**threat, "purchase_mils": 2}, threat, {}, kind="opportunist", mils=0)
    assert weak[1]["money_grants"]["Birch"] == 4
    assert weak[1]["messages"]["Birch"] == "I pay you 4. Leave me in peace."
    strong = with_letters(threat, threat, kind="opportunist", mils=2)
    assert "Birch" not in strong[1]["money_grants"]


def test_an_opportunist_takes_only_offers_that_give_it_more_and_breaks_its_word_in_the_last_turn():
    even, better = ({"messages": {"Ash": f"If you give me 4, I give you {n}."}} for n in (4, 5))
    assert "Birch" not in with_letters(even, {}, kind="opportunist")[1]["money_grants"]
    assert with_letters(better, {}, kind="opportunist")[1]["money_grants"]["Birch"] == 4
    last, now = None, start()
    answers = []
    for left in (3, 2, 1):
        answers.append(NATIONS["opportunist"]().act(build_agent_input(now, "Ash", RULES, turns_left=left, last=last)))
        last = run_turn(now, {"Ash": answers[-1], "Cedar": {"money_grants": {"Ash": 10}}}, RULES)
        now = last.end
    assert "pledge: grant" in answers[1]["messages"]["Cedar"]
    assert answers[2]["money_grants"] == {}


@pytest.mark.parametrize("kind", READERS)
def test_a_nation_grants_nothing_to_a_nation_that_it_attacks_in_the_same_turn(kind):
    offer = {"messages": {"Ash": "If you give me 4, I give you 9."}}
    answers = with_letters(
        offer, {**offer, "attacks": {"Cedar": 1}}, offer, {**offer, "attacks": {"Ash": 1}}, offer, kind=kind
    )
    assert len(answers) == 5
    for answer in answers:
        assert answer["attacks"].keys().isdisjoint(answer.get("money_grants", {}))


def test_a_hawk_demands_a_tribute_spares_the_nation_that_pays_it_and_breaks_its_pledges_of_peace():
    pays = {"money_grants": {"Ash": 20}}
    peace = {"messages": {"Ash": "pledge: no attack on Ash"}, "money_grants": {}}
    first, second = with_letters({}, {}, kind="hawk")
    assert (first["attacks"], first["messages"]) == (
        {"Birch": 1}, {"Birch": "Pay me 5 or else my army will attack you again."}
    )  # fmt: skip
    assert list(second["attacks"]) == ["Birch"]
    spared = with_letters(pays, {}, kind="hawk")[1]
    assert "Birch" not in spared["attacks"]
    assert spared["messages"]["Birch"] == "You have paid, so I spare you."
    fooled = with_letters(peace, {}, {}, kind="hawk")
    assert list(fooled[1]["attacks"]) == list(fooled[2]["attacks"]) == ["Birch"]


def test_a_hawk_attacks_a_weaker_nation_first_that_threatens_it_or_broke_its_word_to_it():
    now = msgspec.structs.replace(start(mils=0), mils={"Ash": 5, "Birch": 3, "Cedar": 0, "Durian": 0})
    for letter in ("Pay me 9 or else my army will crush you.", "pledge: grant 9 to Ash"):
        last = run_turn(now, {"Birch": {"messages": {"Ash": letter}}}, RULES)
        for _ in range(2):
            answer = NATIONS["hawk"]().act(build_agent_input(last.end, "Ash", RULES, turns_left=5, last=last))
            last = run_turn(last.end, {"Ash": {**answer, "attacks": {}}, "Birch": {"messages": {"Ash": letter}}}, RULES)
        assert list(answer["attacks"]) == ["Birch"], letter


def test_among_the_nations_of_the_default_scenario_honesty_is_worth_more_than_free_riding_and_that_more_than_lies():
    rates = {
        player: statecraft_letters.measure(player, letters=True, games=6).rate
        for player in ("diplomat", "passive", "free_rider")
    }
    assert rates["diplomat"] > rates["passive"] > rates["free_rider"]


@pytest.mark.parametrize("kind", READERS)
@given(letter=st.text(max_size=300), history=st.text(max_size=300))
def test_a_nation_plays_whatever_is_written_to_it_and_whatever_its_history_is(kind, letter, history):
    state = start(mils=1)
    last = run_turn(state, {"Birch": {"messages": {"Ash": letter}}, "Ash": {"history_summary": history}}, RULES)
    answer = NATIONS[kind]().act(build_agent_input(last.end, "Ash", RULES, turns_left=3, last=last))
    assert read_intentions(last.end, {"Ash": answer}, RULES)[1] == []


@pytest.mark.parametrize("kind", NATIONS)
def test_a_nation_decides_the_same_from_an_observation_as_from_its_input(kind):
    world = Statecraft(turns=5, mils=2)
    seats = [Seat(name, name) for name in NATION_NAMES[:4]]
    world.reset(1, seats)
    brain = make_agent(kind.replace("_", "-"), "test")
    brain.initialize("", ActionSpace())
    for _ in range(3):
        observation = world.observe(Eye("Arden", "own"))
        known = build_agent_input(world.state, "Arden", world.rules, turns_left=5 - world.state.turn, last=world.last)
        action = brain.decide(observation)
        assert action is not None
        assert (action.name, action.parameters) == ("submit", NATIONS[kind]().act(known))
        assert {k: v for k, v in known.items() if v != "" and k in read_input(observation)} == read_input(observation)
        world.submit(seats[1], {"attacks": {"Arden": 1}, "messages": {"Arden": 'a "quoted", word'}})
        world.resolve()


def test_a_brain_without_a_seat_does_nothing():
    world = Statecraft()
    world.reset(1, [Seat(name, name) for name in NATION_NAMES[:2]])
    assert make_agent("hawk", "test").decide(world.observe(Eye())) is None
