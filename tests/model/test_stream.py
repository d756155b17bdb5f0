"""Random numbers that are the same on every machine."""

import copy
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.stream import Stream

seeds = st.integers()
purposes = st.text(max_size=20)

GOLDEN_WORDS = [
    0xB9AA6B5B2F0E53B5,
    0xC416144962A4E7B0,
    0x941740708F783EC0,
    0xCC9F0DED50D02B59,
    0xE787FF03B1FE16CB,
    0x01721FF9F74B14EB,
    0x260ED9FF07BCF441,
    0xC127C37BE22DC136,
    0x1907FC860FA8424C,
    0xEA03C416C795B3CF,
]
GOLDEN_DECK = [6, 5, 7, 1, 4, 3, 0, 2, 9, 8]


def test_the_first_words_of_a_stream_never_change() -> None:
    stream = Stream(7, "weather")
    assert [stream.bits64() for _ in range(10)] == GOLDEN_WORDS
    deck = list(range(10))
    Stream(7, "deck").shuffle(deck)
    assert deck == GOLDEN_DECK


@given(seeds, purposes, st.integers(0, 40))
def test_the_same_seed_and_purpose_give_the_same_stream_from_any_counter(seed: int, purpose: str, drawn: int) -> None:
    one, other = Stream(seed, purpose), Stream(seed, purpose, drawn)
    for _ in range(drawn):
        one.bits64()
    assert one == other
    assert [one.bits64() for _ in range(20)] == [other.bits64() for _ in range(20)]


@given(seeds, purposes, purposes)
def test_a_different_purpose_gives_a_different_stream(seed: int, purpose: str, another: str) -> None:
    same = Stream(seed, purpose).bits64() == Stream(seed, another).bits64()
    assert same == (purpose == another)


@given(seeds, seeds, purposes)
def test_a_different_seed_gives_a_different_stream(seed: int, another: int, purpose: str) -> None:
    same = Stream(seed, purpose).bits64() == Stream(another, purpose).bits64()
    assert same == (seed == another)


@given(seeds, st.integers(1, 2**200))
def test_below_is_in_range_for_numbers_of_any_size(seed: int, n: int) -> None:
    assert 0 <= Stream(seed, "dice").below(n) < n


@given(seeds, st.integers(), st.integers(0, 2**70))
def test_between_includes_both_ends_and_nothing_else(seed: int, lo: int, width: int) -> None:
    assert lo <= Stream(seed, "dice").between(lo, lo + width) <= lo + width


@pytest.mark.parametrize("n", range(1, 13))
def test_below_gives_every_number_about_equally_often(n: int) -> None:
    stream = Stream(1, f"die {n}")
    counts = Counter(stream.below(n) for _ in range(1000 * n))
    assert sorted(counts) == list(range(n))
    assert all(850 < count < 1150 for count in counts.values())  # almost five standard deviations


def test_below_draws_again_if_a_word_would_favour_small_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    words = iter([2**64 - 1, 2**64 - 1, 5])
    monkeypatch.setattr(Stream, "bits64", lambda self: next(words))
    assert Stream(1, "dice").below(3) == 2  # 2**64 - 1 is a multiple of 3, so only the very last word is one too many


def test_chance_is_exact_for_0_and_1_and_fair_in_between() -> None:
    stream = Stream(3, "luck")
    assert not any(stream.chance(0, 5) for _ in range(100))
    assert all(stream.chance(5, 5) for _ in range(100))
    assert 1850 < sum(stream.chance(2, 5) for _ in range(5000)) < 2150


@given(seeds, st.lists(st.integers()))
def test_a_shuffle_keeps_every_item(seed: int, items: list[int]) -> None:
    shuffled = list(items)
    Stream(seed, "deck").shuffle(shuffled)
    assert Counter(shuffled) == Counter(items)


def test_a_shuffle_reaches_every_order() -> None:
    stream = Stream(5, "deck")
    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(6000):
        deck = [1, 2, 3]
        stream.shuffle(deck)
        orders[tuple(deck)] += 1
    assert len(orders) == 6
    assert all(850 < count < 1150 for count in orders.values())


def test_a_choice_is_one_of_the_items() -> None:
    stream = Stream(5, "pick")
    assert {stream.choice("abc") for _ in range(100)} == set("abc")


def test_a_fork_does_not_depend_on_what_was_drawn_before() -> None:
    stream = Stream(5, "world")
    early = stream.fork("weather")
    stream.bits64()
    assert early == stream.fork("weather") == Stream(5, "world/weather")


def test_a_copy_is_independent() -> None:
    stream = Stream(5, "world")
    stream.bits64()
    twin = copy.deepcopy(stream)
    assert twin.bits64() == stream.bits64()
    twin.bits64()
    assert twin != stream


def test_invalid_arguments_are_refused() -> None:
    stream = Stream(5, "world")
    for invalid in (
        lambda: stream.below(0),
        lambda: stream.between(2, 1),
        lambda: stream.chance(2, 1),
        lambda: stream.chance(0, 0),
        lambda: stream.choice([]),
        lambda: Stream(1, "x", -1),
    ):
        with pytest.raises(ValueError, match=r"at least|must not exceed|not a probability|empty sequence"):
            invalid()
    with pytest.raises(TypeError):
        Stream(1.5, "x")  # type: ignore[arg-type]
