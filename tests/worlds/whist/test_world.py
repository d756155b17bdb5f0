"""Whist as a world: actions, what each eye sees, texts, and whole games."""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cohabit.model.stream import Stream
from cohabit.testing.play import Play
from cohabit.world import Eye, GameRejected
from cohabit.worlds.whist.rules import DECK, hand_points, is_legal
from cohabit.worlds.whist.world import Whist

from .table import SEATS, commit, cut_all, dealt, finished_game, nonce_of, seat, step, whist

NORTH, EAST, SOUTH, WEST = SEATS
PAGE = Path(__file__).parents[3] / "docs" / "whist.md"
PUBLIC = (
    "dealer", "turn", "trump", "trumpCard", "trick", "lastTrick", "handCounts", "tricksWon", "scores", "handNumber",
    "phase", "winner",
)  # fmt: skip
"""The names of the table protocol of Whist elsewhere."""
EYES = [Eye(), Eye(sees="all"), *(Eye(s.id, "own") for s in SEATS), Eye("east", "all"), Eye("east", "public")]


def own(name: str) -> Eye:
    return Eye(name, "own")


def mover(world: Whist) -> str:
    (name,) = world.to_move()
    return name


def play_first(world: Whist, times: int = 1) -> None:
    for _ in range(times):
        who = seat(mover(world))
        world.play(who, **world.legal(who)[0].parameters)


def part_way(seed: int, steps: int) -> Whist:
    """A game after this many steps of random players."""
    world, stream = whist(seed), Stream(seed, "test play")
    for _ in range(steps):
        if world.to_move():
            step(world, stream)
    return world


# -- playing ------------------------------------------------------------------------------------
def test_north_leads_the_first_hand_and_east_the_second():
    world = dealt()
    assert (mover(world), world.observe(Eye()).status["dealer"]) == ("north", 3)
    play_first(world, 52)
    cut_all(world)
    assert (mover(world), world.observe(Eye()).status["dealer"]) == ("east", 0)


def test_a_card_is_played_by_its_name_in_any_case():
    world = dealt()
    card = world.observe(own("north")).status["myHand"][0]
    world.play(NORTH, f" {card.lower()} ")
    assert world.observe(Eye()).status["trick"]["plays"] == [{"seat": 0, "card": card}]


def test_an_illegal_card_is_refused_with_the_legal_ones_and_changes_nothing():
    world = dealt()
    play_first(world)
    led = world.observe(Eye()).status["trick"]["plays"][0]["card"][0]
    hand, legal = (world.observe(own("east")).status[key] for key in ("myHand", "legal"))
    revoke = next(card for card in hand if card[0] != led)
    assert legal == [card for card in hand if card[0] == led]
    before = world.snapshot()
    with pytest.raises(GameRejected, match=rf"^you must follow \w+; play one of: {' '.join(legal)}$"):
        world.play(EAST, revoke)
    with pytest.raises(GameRejected, match=f"^you do not hold 'X99'; play one of: {' '.join(legal)}$"):
        world.play(EAST, "x99")
    assert world.snapshot() == before


def test_playing_out_of_turn_before_the_deal_or_after_the_end_is_refused():
    with pytest.raises(GameRejected, match="not dealt yet; `cut` first"):
        whist().play(NORTH, "S14")
    world = dealt()
    with pytest.raises(GameRejected, match="it is North's turn"):
        world.play(EAST, world.observe(own("east")).status["myHand"][0])
    with pytest.raises(GameRejected, match="the game is over"):
        finished_game().play(NORTH, "S14")
    with pytest.raises(GameRejected, match="the cards are dealt"):
        finished_game().cut(NORTH)


def test_a_refusal_does_not_repeat_a_long_text():
    with pytest.raises(GameRejected) as refusal:
        dealt().play(NORTH, "x" * 5000)
    assert len(refusal.value.message) < 200


def test_a_player_who_runs_out_of_time_plays_its_first_legal_card():
    world = dealt()
    first = world.legal(NORTH)[0].parameters["card"]
    assert world.fallback(NORTH) == world.legal(NORTH)[0]
    assert world.skip(NORTH).public.startswith(f"North's time is up; North plays {first} (")
    assert mover(world) == "east"


def test_everybody_is_told_of_a_card_a_trick_a_hand_and_the_end():
    world = dealt(seed=2)
    card = world.legal(NORTH)[0].parameters["card"]
    outcome = world.play(NORTH, card)
    assert [(told.text.startswith(f"North plays {card} ("), told.seats) for told in outcome.told] == [(True, None)]
    texts = []
    stream = Stream(2, "test play")
    while world.to_move():
        who = seat(stream.choice(list(world.to_move())))
        chosen = stream.choice(list(world.legal(who)))
        done = world.cut(who) if chosen.name == "cut" else world.play(who, **chosen.parameters)
        what, *results = done.told  # the card, and then what came of it
        assert what.text.startswith(who.id.capitalize())
        assert not what.by_world
        assert all(told.seats is None and told.by_world for told in results)
        texts += [told.text for told in results]
    hands = len(world.deals(Eye()))
    assert len([t for t in texts if " takes the trick. Tricks: " in t]) == 13 * hands
    assert len([t for t in texts if re.match(r"Hand \d+: .* tricks and scored \d\. Score: ", t)]) == hands
    assert len([t for t in texts if " turns up " in t]) == hands - 1  # the first one was dealt before
    assert texts[-1] in ("North and South win the game", "East and West win the game")


def test_a_rematch_begins_with_another_secret_and_no_deals():
    world = finished_game()
    last = world.observe(Eye()).status["deal"]["commitment"]
    world.reset(2, SEATS)
    status = world.observe(Eye()).status
    assert (status["phase"], status["scores"], world.deals(Eye())) == ("cut", [0, 0], [])
    assert status["deal"]["commitment"] != last


# -- the status ---------------------------------------------------------------------------------
@given(st.integers(0, 2**32), st.integers(0, 130))
def test_the_status_of_every_eye_matches_the_published_schema(seed, steps):
    world, checked = part_way(seed, steps), Draft202012Validator(Whist.view_schema)
    for eye in EYES:
        status = world.observe(eye).status
        checked.validate(status)
        assert set(PUBLIC) <= set(status)
        assert set(status) == set(Whist.view_schema["properties"])


@given(st.integers(0, 2**32), st.integers(0, 130))
def test_all_eyes_see_the_same_public_part_and_the_hands_are_disjoint(seed, steps):
    world = part_way(seed, steps)
    shown = [world.observe(eye).status for eye in EYES]
    private = ("mySeat", "myHand", "legal", "hands")
    public = [{k: v for k, v in status.items() if k not in private} for status in shown]
    assert all(one == public[0] for one in public)
    held = [card for s in SEATS for card in world.observe(own(s.id)).status["myHand"]]
    status = public[0]
    assert len(held) == len(set(held)) == sum(status["handCounts"])
    if status["phase"] == "playing":
        assert sorted([*held, *status["played"]]) == sorted(DECK)


def test_a_finished_trick_stays_visible_with_its_winner_also_after_the_last_one_of_a_hand():
    world = dealt()
    play_first(world, 4)
    status = world.observe(Eye()).status
    assert status["trick"] == {"leader": status["lastTrick"]["winner"], "plays": [], "winner": None}
    assert [p["seat"] for p in status["lastTrick"]["plays"]] == [0, 1, 2, 3]
    assert status["turn"] == status["lastTrick"]["winner"]
    play_first(world, 48)
    after = world.observe(Eye()).status
    assert (after["phase"], len(after["lastTrick"]["plays"])) == ("cut", 4)
    assert sum(after["lastHand"]["tricksWon"]) == 13
    assert after["lastHand"]["points"] == after["scores"] == list(hand_points(tuple(after["lastHand"]["tricksWon"])))


def test_the_card_that_is_winning_the_trick_is_shown():
    world = dealt(seed=5)
    for _ in range(3):
        play_first(world)
        shown = world.observe(Eye()).status
        cards = {p["seat"]: p["card"] for p in shown["trick"]["plays"]}
        trumps = {s: int(c[1:]) for s, c in cards.items() if c[0] == shown["trump"]}
        follows = {s: int(c[1:]) for s, c in cards.items() if c[0] == cards[0][0]}
        best = trumps or follows
        assert shown["trick"]["winner"] == max(best, key=best.__getitem__)


def test_the_secret_of_the_house_and_the_nonces_are_shown_only_after_the_hand():
    world = whist()
    secret, hidden = world.draw.secret, [nonce_of(world, one) for one in SEATS]
    cut_all(world, *SEATS)
    for left in range(52, 0, -1):
        seen = msgspec.json.encode([[world.observe(eye), world.deals(eye)] for eye in EYES]).decode()
        assert not [text for text in (secret, *hidden) if text in seen], left
        play_first(world)
    (after,) = world.deals(Eye())
    assert (after.proof.secret, after.proof.nonces) == (secret, tuple(hidden))
    assert world.draw.secret != secret


# -- words --------------------------------------------------------------------------------------
def test_the_text_has_all_that_a_player_needs():
    world = dealt()
    play_first(world, 5)
    name = mover(world)
    status, text = world.observe(own(name)).status, world.observe(own(name)).to_text()
    assert f"You are {name.capitalize()}, partner of " in text
    assert f"turned up {status['trumpCard']}." in text
    assert "Last trick: North led " in text
    assert re.search(r"On the table: \w+ led [CDHS]\d+; \w+ is winning\.", text)
    assert "Played in this hand: " in text
    assert re.search(r"You (must follow|have no) \w+[:;]", text)
    hand = text.split("Your hand: ")[1].split("\n")[0]
    assert re.findall(r"[CDHS]\d+", hand) == status["myHand"]
    assert len(text) < 900


def test_the_text_says_whom_the_deal_waits_for_and_how_the_last_hand_ended():
    world = dealt()
    play_first(world, 52)
    world.cut(NORTH)
    text = world.observe(own("east")).text
    assert "The cards are not dealt yet; East, South and West must cut first. Call `cut`." in text
    assert re.search(r"Hand 1: (North and South|East and West) took \d+ tricks and scored \d\.", text)
    assert "Call `cut`" not in world.observe(own("north")).text
    for one in (EAST, SOUTH, WEST):
        commit(world, one) if one is EAST else world.cut(one)
    assert "when these have revealed their nonces: East. Call `reveal` with yours." in world.observe(own("east")).text
    assert "Call `reveal`" not in world.observe(own("west")).text
    deal = world.observe(Eye()).status["deal"]
    assert "Committed to a number: the house and East." in world.observe(own("west")).text
    assert not [made for made in (deal["game"], deal["commitment"], *filter(None, deal["commitments"])) if made in text]


def test_at_the_end_each_player_reads_whether_its_team_won():
    world = finished_game()
    won = world.observe(Eye()).status["winner"]
    for number, one in enumerate(SEATS):
        words = "Your team won the game." if number % 2 == won else "Your team lost the game."
        assert world.observe(own(one.id)).text.endswith(words)
    assert "Your team" not in world.observe(Eye()).text


def test_the_rules_that_players_are_told_name_the_score_that_wins():
    assert "The first team with 5 points wins the game." in Whist().describe()
    assert "The first team with 1 point wins the game." in Whist(1).describe()


def test_the_view_in_the_documentation_is_a_real_one():
    play = Play("whist", 1, wild=False)
    for _ in range(23):
        play.step()
    (shown,) = re.findall(r"```text\n(.*?)\n```", PAGE.read_text(), flags=re.DOTALL)
    assert play.room.world.observe(own("west")).text == shown


# -- whole games --------------------------------------------------------------------------------
def test_two_hundred_random_games_end_with_a_winner_and_every_trick_is_counted():
    winners = []
    for number in range(200):
        world = finished_game(number)
        status = world.observe(Eye()).status
        winners.append(status["winner"])
        assert status["scores"][status["winner"]] >= 5 > status["scores"][1 - status["winner"]]
        deals = world.deals(Eye())
        assert all(sum(hand.tricks_won) == 13 for hand in deals)
        assert [hand.dealer for hand in deals] == [(3 + n) % 4 for n in range(len(deals))]
        points = [hand_points(hand.tricks_won) for hand in deals]
        assert status["scores"] == [sum(p[team] for p in points) for team in (0, 1)]
    assert 60 < sum(winners) < 140


@given(st.integers(0, 2**32), st.data())
def test_no_illegal_card_is_accepted_and_no_legal_one_refused(seed, data):
    world = part_way(seed, data.draw(st.integers(4, 100)))
    if not world.is_dealt or not world.to_move():
        return
    who, card = data.draw(st.sampled_from(SEATS)), data.draw(st.sampled_from(DECK))
    allowed = is_legal(world.table, SEATS.index(who), card)
    assert allowed == (card in [action.parameters["card"] for action in world.legal(who)])
    before = world.snapshot()
    if allowed:
        world.play(who, card)
        assert world.snapshot() != before
    else:
        with pytest.raises(GameRejected):
            world.play(who, card)
        assert world.snapshot() == before


def test_the_standings_and_rewards_are_those_of_the_teams():
    world = whist()
    assert world.returns() == {}
    finished_game(world=world)
    status = world.observe(Eye()).status
    ahead = status["scores"][0] - status["scores"][1]
    assert world.returns() == {"north": ahead, "east": -ahead, "south": ahead, "west": -ahead}
    best = world.standings()
    assert [s.score for s in best] == sorted([s.score for s in best], reverse=True)
    assert {s.seat for s in best[:2]} == ({"north", "south"} if ahead > 0 else {"east", "west"})


def test_an_eye_that_sees_only_what_is_public_sees_no_hand_though_it_has_a_seat():
    status = dealt().observe(Eye("east", "public")).status
    assert (status["mySeat"], status["myHand"], status["legal"], status["hands"]) == (None, [], [], None)


def test_an_eye_that_sees_everything_reads_all_four_hands_and_its_own():
    world = dealt()
    seen = world.observe(Eye("east", "all"))
    for number, one in enumerate(SEATS):
        hand = world.observe(own(one.id)).status["myHand"]
        assert seen.status["hands"][number] == hand
        assert re.findall(r"[CDHS]\d+", seen.text.split(f"\n{one.id.capitalize()} holds: ")[1].split("\n")[0]) == hand
    assert re.findall(r"[CDHS]\d+", seen.text.split("Your hand: ")[1].split("\n")[0]) == seen.status["hands"][1]
    assert " holds: " not in world.observe(own("east")).text


def test_a_snapshot_in_the_middle_of_a_hand_goes_on_to_the_same_end():
    world, stream = part_way(3, 90), Stream(9, "rest")
    copy, same = Whist(), Stream(9, "rest")
    copy.restore(world.snapshot())
    while world.to_move():
        step(world, stream)
        step(copy, same)
    assert copy.snapshot() == world.snapshot()
