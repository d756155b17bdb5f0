"""A table redrawn as an eye cannot tell it from the true one: everything hidden differs, everything shown is the same."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.stream import Stream
from cohabit.world import Eye, GameRejected
from cohabit.worlds.whist.redeal import redealt
from cohabit.worlds.whist.rules import DECK, Table, Trick, legal_cards, suit_of
from cohabit.worlds.whist.world import Whist

from .table import SEATS, commit, dealt, finished_game, nonce_of, seat, step, whist

EYES = [Eye(), Eye(sees="all"), *(Eye(s.id, "own") for s in SEATS), Eye("east", "all"), Eye("east", "public")]
positions = st.tuples(st.integers(0, 2**32), st.integers(0, 150))


def part_way(seed: int, steps: int, points: int = 5) -> Whist:
    """A game after this many steps of random players, some of whom do not reveal."""
    world, stream = whist(seed, points), Stream(seed, "test play")
    for _ in range(steps):
        if world.to_move():
            step(world, stream, misses=10)
    return world


def in_a_trick(seed: int, steps: int) -> Whist:
    """A game in the middle of a trick, somewhat later."""
    world, stream = part_way(seed, steps, points=50), Stream(seed, "later")
    while not world.is_dealt or len(world.table.trick.plays) == 3:
        step(world, stream)
    return world


def copy_of(world: Whist) -> Whist:
    copy = Whist()
    copy.restore(world.snapshot())
    return copy


def resampled(world: Whist, eye: Eye, seed: int = 1) -> Whist:
    copy = copy_of(world)
    copy.resample(eye, Stream(seed, "resample"))
    return copy


def refusals(world: Whist, eye: Eye) -> list[str]:
    """What a player is told for every illegal card, cut and reveal."""
    if eye.seat is None or eye.sees != "own":
        return []
    found, by, legal = [], seat(eye.seat), [action.text for action in world.legal(seat(eye.seat))]
    tries: list[tuple[Any, str]] = [(world.play, card) for card in (*DECK, "X1")]
    tries += [(world.cut, "x"), (world.reveal, "x"), (world.reveal, "0" * 64)]
    for act, value in tries:
        if f'play {{"card": "{value}"}}' not in legal and not (act == world.play and value in str(legal)):
            with pytest.raises(GameRejected) as refused:
                act(by, value)
            found.append(str(refused.value))
    return found


def shown_to(world: Whist, eye: Eye) -> bytes:
    """Everything that a world gives to this eye."""
    legal = [action.text for action in world.legal(seat(eye.seat))] if eye.seat and eye.sees == "own" else []
    seen = world.observe(eye)
    everything = [
        seen, seen.to_text(), world.observe_data(eye), legal, world.deals(eye), world.to_move(), world.standings(),
        world.returns(), world.is_over(), refusals(world, eye),
    ]  # fmt: skip
    return msgspec.json.encode(everything)


@given(positions, st.sampled_from(EYES), st.integers(0, 2**32))
def test_everything_that_an_eye_gets_is_the_same_to_the_byte_in_a_redrawn_world(position, eye, seed):
    world = part_way(*position)
    before, state = shown_to(world, eye), world.snapshot()
    other = resampled(world, eye, seed)
    assert shown_to(other, eye) == before
    assert world.snapshot() == state
    assert other.draw.secret != world.draw.secret


@given(positions, st.integers(0, 2**32))
def test_a_card_of_ones_own_tells_the_same_in_both_worlds_until_another_seat_plays(position, seed):
    world = in_a_trick(*position)
    who = seat(world.to_move()[0])
    other, eye = resampled(world, Eye(who.id, "own"), seed), Eye(who.id, "own")
    card = legal_cards(world.table, SEATS.index(who))[0]
    assert world.play(who, card) == other.play(who, card)
    assert shown_to(world, eye) == shown_to(other, eye)


@pytest.mark.parametrize("eye", [Eye(), *(Eye(s.id, "own") for s in SEATS)])
def test_the_hands_of_others_do_change(eye):
    world = dealt()
    other = resampled(world, eye)
    for number, one in enumerate(SEATS):
        assert (other.table.hands[number] == world.table.hands[number]) == (one.id == eye.seat)
    assert sorted(card for hand in other.table.hands for card in hand) == sorted(DECK)
    assert other.table.trump_card in other.table.hands[other.table.dealer]


def test_an_eye_that_sees_all_hands_keeps_them_and_does_not_know_the_next_deal():
    world = dealt()
    other = resampled(world, Eye(sees="all"))
    assert other.table == world.table
    assert other.secrets != world.secrets


def test_the_next_deal_is_another_one_as_nobody_knows_it():
    for eye in EYES:
        world, other = whist(), resampled(whist(), eye)
        for each in (world, other):
            for one in SEATS:
                each.cut(one)
        assert world.table.hands != other.table.hands


def test_nonces_of_others_are_redrawn_and_ones_own_is_kept():
    world = dealt()
    other = resampled(world, Eye("south", "own"))
    kept = [one == two for one, two in zip(world.draw.nonces, other.draw.nonces, strict=True)]
    assert kept == [False, False, True, False]
    assert other.draw.promise == world.draw.promise


@given(positions, st.sampled_from(EYES), st.integers(0, 2**32))
def test_a_redrawn_hand_is_one_that_could_have_been_dealt_and_played_so_far(position, eye, seed):
    """Nobody holds a suit that it has not followed, and played cards stay with those who played them."""
    world = in_a_trick(*position)
    other = resampled(world, eye, seed)
    for number in range(4):
        assert len(other.table.hands[number]) == len(world.table.hands[number])
        assert not {suit_of(card) for card in other.table.hands[number]} & set(world.lacks[number])
        played = set(world.dealt[number]) - set(world.table.hands[number])
        assert set(other.dealt[number]) == {*other.table.hands[number], *played}
    assert sorted(card for hand in other.dealt for card in hand) == sorted(DECK)


def test_the_rest_of_a_redrawn_game_can_be_played_to_its_end():
    world = resampled(part_way(5, 40), Eye("north", "own"))
    assert finished_game(5, world).is_over()


def test_a_suit_that_a_seat_did_not_follow_is_remembered_until_the_next_deal():
    world, stream = dealt(), Stream(1, "cards")
    while not any(world.lacks):
        who = seat(world.to_move()[0])
        led, number = world.table.trick.led, world.table.turn
        card = stream.choice(legal_cards(world.table, number))
        world.play(who, card)
        if led not in (None, suit_of(card)):
            assert world.lacks[number] == led
    while world.is_dealt:
        who = seat(world.to_move()[0])
        world.play(who, legal_cards(world.table, world.table.turn)[0])
    assert world.lacks == [""] * 4


def test_every_arrangement_that_is_possible_comes_up_equally_often():
    """Three seats with two cards each; east has shown that it has no hearts."""
    hands = ((), ("S2", "S3"), ("H2", "S4"), ("H3", "C2"))
    table = Table(dealer=0, trump="D", trump_card="D14", hands=hands, turn=0, trick=Trick(0))
    seen = Counter(redealt(table, [0], ["", "H", "", ""], Stream(seed, "redeal")) for seed in range(900))
    assert all(not any(card[0] == "H" for card in dealt_to[1]) for dealt_to in seen)
    assert len(seen) == 36  # two of the four cards that are no hearts for east, then two of the four left for south
    assert sum((n - 25) ** 2 / 25 for n in seen.values()) < 90  # chi-square, 35 degrees of freedom: 1 of 100,000


def test_a_nonce_that_was_committed_before_can_still_be_revealed_in_a_redrawn_world():
    world = whist()
    for one in SEATS:
        commit(world, one)
    other = resampled(world, Eye("west", "own"))
    for one in SEATS:
        other.reveal(one, nonce_of(world, one))
    assert other.is_dealt
