"""Fair deals: the house commits, every seat adds a nonce, and anybody can check the result."""

import json
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.stream import Stream
from cohabit.world import Eye, GameRejected
from cohabit.worlds.whist.fair import commitment_of, draw_secret, shuffled_deck
from cohabit.worlds.whist.rules import DECK

from .table import SEATS, finished_game, whist

PAGE = Path(__file__).parents[3] / "docs" / "whist.md"
SECRET = "0123456789abcdef" * 4
NONCES = ("apple", "", "Ω", "west's")


# -- the shuffle --------------------------------------------------------------------------------
def test_the_shuffle_is_the_published_one():
    """The order of the cards for fixed input, so that programs of others stay right."""
    deck = shuffled_deck(SECRET, 1, NONCES)
    assert deck[:8] == ["H10", "S8", "C2", "C5", "D7", "D14", "S2", "H7"]
    assert sorted(deck) == sorted(DECK)


@given(
    st.text("0123456789abcdef", min_size=64, max_size=64),
    st.integers(1, 99),
    st.lists(st.text(), min_size=4, max_size=4),
)
def test_every_shuffle_has_all_cards(secret, number, nonces):
    assert sorted(shuffled_deck(secret, number, nonces)) == sorted(DECK)


@pytest.mark.parametrize(
    ("secret", "number", "nonces"),
    [
        (SECRET[::-1], 1, NONCES),
        (SECRET, 2, NONCES),
        (SECRET, 1, ("apple!", "", "Ω", "west's")),
        (SECRET, 1, ("apple", "", "Ω", "")),
        (SECRET, 1, ("", "apple", "Ω", "west's")),  # the same nonces from other seats
    ],
)
def test_the_secret_the_number_and_every_nonce_with_its_seat_change_the_shuffle(secret, number, nonces):
    assert shuffled_deck(secret, number, nonces) != shuffled_deck(SECRET, 1, NONCES)


def test_every_card_comes_to_every_place_equally_often():
    decks = [shuffled_deck(SECRET, number, NONCES) for number in range(5200)]
    for place in (0, 17, 51):
        counts = [sum(deck[place] == card for deck in decks) for card in DECK]
        squares = sum((n - 100) ** 2 / 100 for n in counts)
        assert squares < 100  # chi-square with 51 degrees of freedom: 100 is exceeded in 5 of 100,000 cases


def test_a_commitment_is_the_digest_of_the_secret():
    assert commitment_of(SECRET) == sha256(SECRET.encode()).hexdigest()


def test_the_secrets_of_a_game_are_independent_and_the_same_for_the_same_seed():
    one, other = Stream(7, "whist secrets"), Stream(8, "whist secrets")
    first, second = draw_secret(one), draw_secret(one)
    assert len({first, second, draw_secret(other)}) == 3
    assert draw_secret(Stream(7, "whist secrets")) == first
    assert re.fullmatch("[0-9a-f]{64}", first)


# -- cutting ------------------------------------------------------------------------------------
def test_the_house_commits_before_anybody_cuts_and_deals_when_all_have():
    world = whist()
    shown = world.observe(Eye()).status
    assert (shown["phase"], shown["handCounts"], shown["trumpCard"]) == ("cut", [0, 0, 0, 0], None)
    for number, seat in enumerate(SEATS):
        assert world.to_move() == [s.id for s in SEATS[number:]]
        world.cut(seat, f"nonce {number}")
    dealt = world.observe(Eye()).status
    assert (dealt["phase"], dealt["handCounts"], dealt["turn"]) == ("playing", [13] * 4, 0)
    assert dealt["deal"]["commitment"] == shown["deal"]["commitment"]


def test_seats_cut_in_any_order_and_the_order_does_not_matter():
    one, other = whist(), whist()
    for number in (0, 1, 2, 3):
        one.cut(SEATS[number], f"nonce {number}")
    for number in (2, 0, 3, 1):
        other.cut(SEATS[number], f"nonce {number}")
    assert one.snapshot() == other.snapshot()


@pytest.mark.parametrize("nonce", ["a\nb", "x" * 65, "\0", "\u2028", "\ud800"])
def test_a_nonce_that_would_be_ambiguous_or_too_long_is_refused_and_changes_nothing(nonce):
    world = whist()
    before = world.snapshot()
    with pytest.raises(GameRejected, match="at most 64 printable characters"):
        world.cut(SEATS[0], nonce)
    assert world.snapshot() == before


def test_nobody_cuts_twice_or_after_the_deal():
    world = whist()
    world.cut(SEATS[0])
    with pytest.raises(GameRejected, match="wait for the others"):
        world.cut(SEATS[0], "again")
    for seat in SEATS[1:]:
        world.cut(seat)
    with pytest.raises(GameRejected, match="the cards are dealt"):
        world.cut(SEATS[0])


def test_a_player_who_runs_out_of_time_cuts_without_a_nonce():
    world = whist()
    for seat in SEATS:
        assert world.skip(seat).public == f"{seat.id.capitalize()}'s time is up; {seat.id.capitalize()} cuts"
    assert (world.cuts, world.observe(Eye()).status["phase"]) == (["", "", "", ""], "playing")


def test_somebody_who_knows_the_secret_does_not_know_the_cards_without_the_nonces():
    """As after a reset: the same seed has the same secrets, and those of finished hands are public."""
    world = finished_game(seed=3)
    secret = world.deals(Eye())[0].secret
    world.reset(3, SEATS)
    assert world.observe(Eye()).status["deal"]["commitment"] == commitment_of(secret)
    for one in SEATS:
        world.cut(one, f"only {one.id} knows")
    shown = [msgspec.json.encode([world.observe(Eye(s.id, "own")), world.deals(Eye())]).decode() for s in SEATS]
    assert not [name for name in SEATS for seen in shown if f"only {name.id} knows" in seen]


def test_the_nonce_of_one_seat_changes_everybodys_cards():
    hands = []
    for nonce in ("", "mine"):
        world = whist()
        for seat in SEATS:
            world.cut(seat, nonce if seat.id == "west" else "")
        hands.append(world.observe(Eye(sees="all")).status["hands"])
    assert all(one != other for one, other in zip(*hands, strict=True))


# -- checking -----------------------------------------------------------------------------------
def checker() -> str:
    """The program that the documentation shows."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    return program


def check(deals: list[Any], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run that program, with nothing of ours to import."""
    (folder / "check.py").write_text(checker())
    (folder / "deals.json").write_text(json.dumps(deals))
    command = [sys.executable, "-I", "check.py", "deals.json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def deals_of_a_game() -> list[Any]:
    """As a client gets them."""
    return msgspec.json.decode(msgspec.json.encode(finished_game(seed=3).deals(Eye())))


def test_the_program_of_the_documentation_has_ten_lines():
    assert len([line for line in checker().splitlines() if line.strip()]) == 10


def test_the_program_of_the_documentation_confirms_every_deal_of_a_real_game(tmp_path):
    deals = deals_of_a_game()
    assert len(deals) > 1
    ran = check(deals, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("fair") == len(deals)


@pytest.mark.parametrize("what", ["secret", "commitment", "nonce", "hands", "trump card", "dealer", "number"])
def test_the_program_of_the_documentation_refuses_a_deal_that_was_tampered_with(tmp_path, what):
    deals = deals_of_a_game()
    deal = deals[1]
    hands = deal["hands"]
    match what:
        case "secret":
            deal["secret"] = deals[0]["secret"]
        case "commitment":
            deal["commitment"] = deals[0]["commitment"]
        case "nonce":
            deal["nonces"][2] += "x"
        case "hands":
            hands[0][0], hands[1][0] = hands[1][0], hands[0][0]
        case "trump card":
            deal["trumpCard"] = next(card for card in hands[deal["dealer"]] if card != deal["trumpCard"])
        case "dealer":
            deal["dealer"] = (deal["dealer"] + 1) % 4
        case "number":
            deal["handNumber"] += 1
    ran = check(deals, tmp_path)
    assert ran.returncode != 0
    assert "NOT fair" in ran.stdout + ran.stderr


def test_deals_show_finished_hands_only_and_keep_what_was_promised():
    world = whist(seed=4)
    promised = []

    def look() -> None:
        shown = world.observe(Eye()).status
        if shown["phase"] == "cut" and len(promised) < shown["handNumber"]:
            promised.append(shown["deal"]["commitment"])
        assert len(world.deals(Eye())) == shown["handNumber"] - (shown["phase"] != "gameOver")

    finished_game(world=world, between=look)
    assert [deal.commitment for deal in world.deals(Eye())] == promised
    assert [deal.hand_number for deal in world.deals(Eye())] == list(range(1, len(promised) + 1))
