"""The rules of Whist, without a room."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.stream import Stream
from cohabit.worlds.whist.rules import (
    DECK,
    Play,
    Table,
    Trick,
    card_value,
    deal,
    hand_points,
    is_legal,
    legal_cards,
    next_hand,
    next_seat,
    partner_of,
    play,
    rank_of,
    resolve,
    sorted_hand,
    suit_of,
    team_of,
    winning_play,
)


def shuffled(seed: int = 1) -> list[str]:
    deck = list(DECK)
    Stream(seed, "test deck").shuffle(deck)
    return deck


def fresh(seed: int = 1, dealer: int = 3, **more: object) -> Table:
    return deal(shuffled(seed), dealer, **more)


def with_hands(*hands: str, trump: str = "S", turn: int = 0) -> Table:
    """A table near the end of a hand, with these cards."""
    north, east, south, west = (tuple(hand.split()) for hand in hands)
    table = fresh()
    return msgspec.structs.replace(
        table, hands=(north, east, south, west), trump=trump, turn=turn, trick=Trick(turn)
    )  # fmt: skip


def played(table: Table, *cards: str) -> Table:
    """The table after these cards, played in turn."""
    for card in cards:
        after = play(table, table.turn, card)
        assert after is not table, f"{card} is refused"
        table = after
    return table


def to_end(table: Table) -> Table:
    """Play the first legal card until the hand is over."""
    while table.phase in ("playing", "trickComplete"):
        choices = legal_cards(table, table.turn)
        table = play(table, table.turn, choices[0]) if choices else resolve(table)
    return table


# -- seats and the deal -------------------------------------------------------------------------
def test_partners_sit_opposite_teams_alternate_and_play_goes_clockwise():
    assert [partner_of(seat) for seat in range(4)] == [2, 3, 0, 1]
    assert [team_of(seat) for seat in range(4)] == [0, 1, 0, 1]
    assert [next_seat(seat) for seat in range(4)] == [1, 2, 3, 0]


def test_the_deck_is_clubs_diamonds_hearts_spades_from_two_to_ace():
    assert len(DECK) == len(set(DECK)) == 52
    assert (DECK[0], DECK[12], DECK[13], DECK[26], DECK[51]) == ("C2", "C14", "D2", "H2", "S14")


def test_each_of_four_players_gets_thirteen_different_cards():
    hands = fresh().hands
    assert [len(hand) for hand in hands] == [13] * 4
    assert sorted(card for hand in hands for card in hand) == sorted(DECK)


@pytest.mark.parametrize("dealer", range(4))
def test_cards_are_dealt_one_by_one_from_the_dealers_left(dealer):
    deck = shuffled()
    hands = deal(deck, dealer).hands
    assert [sorted(hands[(dealer + 1 + place) % 4]) for place in range(4)] == [
        sorted(deck[place::4]) for place in range(4)
    ]


@pytest.mark.parametrize("dealer", range(4))
def test_the_last_card_is_the_dealers_and_makes_its_suit_trump(dealer):
    deck = shuffled()
    table = deal(deck, dealer)
    assert (table.trump_card, table.trump) == (deck[51], deck[51][0])
    assert deck[51] in table.hands[dealer]


@pytest.mark.parametrize("dealer", range(4))
def test_the_player_on_the_dealers_left_leads(dealer):
    table = deal(shuffled(), dealer)
    assert (table.turn, table.trick.leader, table.phase) == ((dealer + 1) % 4, (dealer + 1) % 4, "playing")


def test_the_same_deck_gives_the_same_table():
    assert fresh(5) == fresh(5) != fresh(6)


def test_a_hand_is_sorted_by_spades_hearts_clubs_diamonds_and_from_the_ace_down():
    assert sorted_hand(["D14", "C2", "H3", "S4", "H14", "S13"]) == ("S13", "S4", "H14", "H3", "C2", "D14")
    assert all(hand == sorted_hand(hand) for hand in fresh().hands)


# -- what is legal ------------------------------------------------------------------------------
def test_a_player_follows_suit_if_it_can():
    table = played(with_hands("H9 C3", "H2 H14 C4", "S2 D5", "D9 C5"), "H9")
    assert legal_cards(table, 1) == ("H2", "H14")


def test_a_player_that_cannot_follow_may_play_anything():
    table = played(with_hands("H9 C3", "H2 C4", "S2 D5", "D9 C5"), "H9", "H2")
    assert legal_cards(table, 2) == ("S2", "D5")


def test_the_leader_may_play_anything():
    table = fresh()
    assert legal_cards(table, 0) == table.hands[0]


def test_nothing_is_legal_out_of_turn_or_while_a_trick_lies_complete():
    table = with_hands("H9 C3", "H2 C4", "H3 D5", "H4 C5")
    assert [legal_cards(table, seat) for seat in (1, 2, 3)] == [(), (), ()]
    complete = played(table, "H9", "H2", "H3", "H4")
    assert [legal_cards(complete, seat) for seat in range(4)] == [()] * 4


# -- who takes a trick --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("cards", "trump", "winner"),
    [
        ("H9 H14 H2 H10", "S", 1),  # the highest of the suit that was led
        ("H9 C14 D14 H10", "S", 3),  # other suits are worth nothing
        ("H9 H14 S2 H10", "S", 2),  # a trump beats the suit that was led
        ("H9 S3 S12 S4", "S", 2),  # the highest trump
        ("S9 S3 S12 H14", "S", 2),  # trumps were led
        ("C2 H14 D14 S14", "X", 0),  # nobody follows
    ],
)
def test_the_highest_trump_or_else_the_highest_card_of_the_led_suit_takes_the_trick(cards, trump, winner):
    trick = Trick(0, tuple(Play(seat, card) for seat, card in enumerate(cards.split())))
    assert winning_play(trick, trump).seat == winner


def test_the_value_of_a_card_is_its_rank_and_a_hundred_more_for_trumps_and_nothing_for_discards():
    assert [card_value(card, "H", "S") for card in ("H9", "S2", "C14")] == [9, 102, -1]


# -- playing ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("seat", "card"), [(1, "C4"), (1, "D9"), (1, "nonsense"), (2, "S2"), (0, "C3")])
def test_an_illegal_play_returns_the_same_table(seat, card):
    table = played(with_hands("H9 C3", "H2 C4", "S2 D5", "D9 C5"), "H9")
    assert play(table, seat, card) is table


def test_a_play_takes_the_card_from_the_hand_to_the_table_and_the_turn_goes_on():
    table = with_hands("H9 C3", "H2 C4", "S2 D5", "D9 C5")
    after = play(table, 0, "H9")
    assert (after.hands[0], after.turn) == (("C3",), 1)
    assert after.trick == Trick(0, (Play(0, "H9"),))


def test_a_play_does_not_change_the_table_before():
    table = fresh()
    before = msgspec.json.encode(table)
    play(table, 0, table.hands[0][0])
    assert msgspec.json.encode(table) == before


def test_a_complete_trick_lies_still_until_it_is_resolved():
    table = played(with_hands("H9 C3", "H14 C4", "H2 D5", "H10 C5"), "H9", "H14", "H2", "H10")
    assert (table.phase, table.turn, table.tricks_won) == ("trickComplete", 1, (0, 0))
    assert len(table.trick.plays) == 4
    after = resolve(table)
    assert (after.phase, after.turn, after.tricks_won) == ("playing", 1, (0, 1))
    assert (after.trick, after.last_trick) == (Trick(1), table.trick)


def test_resolving_anything_but_a_complete_trick_returns_the_same_table():
    table = fresh()
    assert resolve(table) is table
    assert next_hand(table, shuffled(2)) is table


@pytest.mark.parametrize(("won", "points"), [((7, 6), (1, 0)), ((13, 0), (7, 0)), ((4, 9), (0, 3)), ((6, 7), (0, 1))])
def test_a_team_scores_its_tricks_above_six(won, points):
    assert hand_points(won) == points


def test_a_hand_has_thirteen_tricks_and_its_surplus_is_scored():
    table = to_end(fresh())
    assert sum(table.tricks_won) == 13
    assert not any(table.hands)
    assert table.scores == hand_points(table.tricks_won)


def test_the_next_player_deals_the_next_hand_and_the_score_stays():
    table = to_end(fresh())
    following = next_hand(table, shuffled(2))
    assert (following.dealer, following.turn, following.hand_number) == (0, 1, 2)
    assert (following.scores, following.tricks_won, following.last_trick) == (table.scores, (0, 0), None)
    assert following.phase == "playing"


def test_the_first_team_with_five_points_wins_and_no_hand_follows():
    table, seed = to_end(fresh()), 1
    while table.phase == "handOver":
        assert (max(table.scores) < 5, table.winner) == (True, None)
        seed += 1
        table = to_end(next_hand(table, shuffled(seed)))
    assert (table.phase, seed > 1) == ("gameOver", True)
    assert table.winner is not None
    assert table.scores[table.winner] >= 5 > table.scores[1 - table.winner]
    assert next_hand(table, shuffled()) is table
    assert legal_cards(table, table.turn) == ()


@pytest.mark.parametrize(
    ("before", "scores", "winner"),
    [((3, 4), (4, 4), None), ((4, 4), (5, 4), 0), ((0, 0), (1, 0), None)],
)
def test_the_game_ends_with_exactly_five_points_and_not_with_four(before, scores, winner):
    table = with_hands("S14", "S2", "S3", "S4")
    table = msgspec.structs.replace(table, scores=before, tricks_won=(6, 6))
    table = resolve(played(table, "S14", "S2", "S3", "S4"))
    assert (table.scores, table.winner) == (scores, winner)
    assert table.phase == ("handOver" if winner is None else "gameOver")


# -- properties ---------------------------------------------------------------------------------
@given(st.permutations(DECK), st.integers(0, 3), st.data())
def test_no_card_is_lost_or_doubled_and_no_illegal_play_is_accepted(deck, dealer, data):
    table, on_stack = deal(deck, dealer), 0
    assert sorted(card for hand in table.hands for card in hand) == sorted(DECK)
    for _ in range(data.draw(st.integers(0, 60))):
        if table.phase == "trickComplete":
            table = resolve(table)
            on_stack += 4
        if table.phase != "playing":
            break
        seat, card = data.draw(st.integers(0, 3)), data.draw(st.sampled_from(DECK))
        follows = suit_of(card) == table.trick.led or not any(suit_of(c) == table.trick.led for c in table.hands[seat])
        allowed = seat == table.turn and card in table.hands[seat] and (follows or table.trick.led is None)
        assert is_legal(table, seat, card) is allowed
        after = play(table, seat, card)
        assert (after is not table) is allowed
        if not allowed:
            after = play(table, table.turn, data.draw(st.sampled_from(legal_cards(table, table.turn))))
        table = after
        held = [c for hand in table.hands for c in hand] + [p.card for p in table.trick.plays]
        assert len(held) == len(set(held)) == 52 - on_stack
        assert 4 * sum(table.tricks_won) == on_stack


@given(st.permutations(DECK), st.integers(0, 3), st.integers(0, 2**32))
def test_every_hand_ends_after_thirteen_tricks_with_points_for_exactly_one_team(deck, dealer, seed):
    table, stream = deal(deck, dealer), Stream(seed, "test play")
    while table.phase in ("playing", "trickComplete"):
        choices = legal_cards(table, table.turn)
        table = resolve(table) if not choices else play(table, table.turn, stream.choice(choices))
    assert sum(table.tricks_won) == 13
    assert min(table.scores) == 0 < sum(table.scores) <= 7


@given(st.lists(st.sampled_from(DECK), min_size=1, max_size=4, unique=True), st.sampled_from("CDHS"))
def test_the_winning_play_is_not_beaten_by_any_other(cards, trump):
    trick = Trick(0, tuple(Play(seat, card) for seat, card in enumerate(cards)))
    best = winning_play(trick, trump)
    assert best.seat < len(cards)
    trumps = [rank_of(card) for card in cards if suit_of(card) == trump]
    suit = trump if trumps else suit_of(cards[0])
    assert suit_of(best.card) == suit
    assert rank_of(best.card) == max(rank_of(card) for card in cards if suit_of(card) == suit)
