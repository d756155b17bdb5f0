"""Luck that players can check: the protocol, the attacks on it, and what they cannot do."""

import re
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.fair import (
    Draw,
    Luck,
    Promise,
    Proof,
    broken_promises,
    draw_secret,
    house_commitment,
    passed_nonce,
    problems,
    seat_commitment,
)
from cohabit.model import plain
from cohabit.model.seat import Eye, Seat
from cohabit.model.stream import Stream
from cohabit.registry import find_world

GAME = "table 7"
SECRET = "0123456789abcdef" * 4
TRIES = 20_000
DECK = [f"{suit}{rank}" for suit in "CDHS" for rank in range(2, 15)]
PAGE = Path(__file__).parents[1] / "docs" / "fair.md"
HIGH_DICE = Path(__file__).parents[1] / "examples" / "worlds" / "high_dice.py"


def nonce(seat: int, salt: str = "") -> str:
    return sha256(f"nonce {seat} {salt}".encode()).hexdigest()


def committed(seats: int = 4, who: tuple[int, ...] = (0,), number: int = 1, salt: str = "") -> Draw:
    """A draw in which all have committed or passed."""
    draw = Draw.begin(GAME, number, seats, SECRET)
    for seat in range(seats):
        own = seat_commitment(GAME, number, seat, nonce(seat, salt)) if seat in who else None
        draw = draw.commit(seat, own)
    return draw


def ready(seats: int = 4, who: tuple[int, ...] = (0,), number: int = 1, salt: str = "") -> Draw:
    draw = committed(seats, who, number, salt)
    for seat in who:
        draw = draw.reveal(seat, nonce(seat, salt))
    return draw


def trumps_of_north_and_south(deck: list[str]) -> int:
    return sum(card[0] == deck[-1][0] for card in deck[0::2])


# -- the attack ---------------------------------------------------------------------------------
def old_deck(secret: str, nonces: list[str]) -> list[str]:
    """The scheme that this one replaces: the house commits to a secret, then every seat sends its nonce in the open."""
    lines, left = "\n".join([secret, "1", *nonces]), list(DECK)
    drawn = (byte for n in count() for byte in sha256(f"{lines}\n{n}".encode()).digest())
    return [left.pop(next(byte for byte in drawn if byte < 256 - 256 % n) % n) for n in range(52, 0, -1)]


def test_without_commitments_of_the_seats_a_house_finds_a_deal_that_suits_it_and_the_proof_fits():
    """The house waits for the nonce of the person, and tries nonces of its three bots."""
    tries = ([nonce(0), f"{i:x}", "", ""] for i in range(TRIES))
    best = max(tries, key=lambda nonces: trumps_of_north_and_south(old_deck(SECRET, nonces)))
    assert trumps_of_north_and_south(old_deck(SECRET, best)) >= 12
    # All that could be checked there: the secret is the one of the commitment, and my nonce is one of the four.
    assert best[0] == nonce(0)


def test_a_house_that_knows_my_nonce_finds_no_other_deal_in_twenty_thousand_tries():
    draw = committed()
    noted = draw.promise
    proof = draw.reveal(0, nonce(0)).proof()
    assert broken_promises(proof, noted, 0, nonce(0)) == []
    accepted = set()
    for i in range(TRIES):
        other = sha256(f"try {i}".encode()).hexdigest()
        nonces = list(proof.nonces)
        nonces[1 + i % 3] = other  # of a bot, which passed
        forged = replace(proof, nonces=tuple(nonces))
        if i % 4 == 3:  # another secret, with the nonces that follow from it
            bots = [passed_nonce(GAME, 1, seat, other) for seat in (1, 2, 3)]
            forged = replace(proof, secret=other, nonces=(nonce(0), *bots))
        if i % 2:  # with commitments that fit
            fits = tuple(seat_commitment(GAME, 1, seat, n) for seat, n in enumerate(forged.nonces) if n is not None)
            forged = replace(forged, commitments=fits, commitment=house_commitment(GAME, 1, forged.secret))
        if not broken_promises(forged, noted, 0, nonce(0)):
            accepted.add(tuple(Luck(forged).shuffled(DECK)))
    assert accepted == set()


def test_nothing_that_a_bot_or_the_house_does_after_the_reveal_began_changes_the_luck():
    draw = committed()
    for seat in (1, 2, 3):
        for late in (lambda s: draw.commit(s, nonce(s)), lambda s: draw.reveal(s, nonce(s)), draw.give_up):
            with pytest.raises(GameRejected):
                late(seat)
    assert draw.waits_for() == [0]


def test_whatever_secret_the_house_has_chosen_my_nonce_makes_the_luck_even():
    """A house that prepares a secret gains nothing: over many nonces its best side gets what it gets by chance."""
    prepared = max(
        (replace(ready(), secret=sha256(f"{i}".encode()).hexdigest()) for i in range(500)),
        key=lambda draw: trumps_of_north_and_south(draw.luck().shuffled(DECK)),
    )
    assert trumps_of_north_and_south(prepared.luck().shuffled(DECK)) >= 10
    dealt = [replace(prepared, nonces=(nonce(0, f"{i}"), None, None, None)) for i in range(2000)]
    mean = sum(trumps_of_north_and_south(draw.luck().shuffled(DECK)) for draw in dealt) / len(dealt)
    even = 26 * 12 / 51  # the last card, which makes its suit trump, is the other side's
    assert abs(mean - even) < 0.2  # five standard errors


def test_a_house_that_puts_its_own_commitment_on_my_seat_is_seen_before_i_reveal():
    draw = Draw.begin(GAME, 1, 2, SECRET).commit(0, seat_commitment(GAME, 1, 0, nonce(1))).commit(1, None)
    assert draw.promise.commitments[0] != seat_commitment(GAME, 1, 0, nonce(0))


# -- aborting -----------------------------------------------------------------------------------
def test_a_seat_that_does_not_reveal_makes_the_draw_void_and_is_named():
    draw = committed(who=(0, 2)).reveal(0, nonce(0)).give_up(2)
    assert (draw.phase, draw.missed, draw.waits_for()) == ("void", (2,), [])
    proof = draw.proof()
    assert proof.nonces[2] is None
    assert problems(proof) == ["seat 2 did not reveal its nonce, so the draw is void"]
    with pytest.raises(ValueError, match="a void draw has no luck"):
        draw.luck()


def test_all_who_miss_the_reveal_are_named_and_the_others_can_still_reveal():
    draw = committed(who=(0, 1, 2)).give_up(1)
    assert (draw.phase, draw.waits_for()) == ("reveal", [0, 2])
    assert draw.give_up(0).reveal(2, nonce(2)).missed == (1, 0)


# -- the order of things ------------------------------------------------------------------------
def test_nobody_can_reveal_before_all_have_committed():
    draw = Draw.begin(GAME, 1, 2, SECRET).commit(0, seat_commitment(GAME, 1, 0, nonce(0)))
    assert (draw.phase, draw.waits_for()) == ("commit", [1])
    for early in (lambda: draw.reveal(0, nonce(0)), lambda: draw.give_up(0)):
        with pytest.raises(GameRejected, match="nothing to reveal now"):
            early()
    for early in (draw.luck, draw.proof):
        with pytest.raises(ValueError, match="in phase commit"):
            early()


def test_a_draw_in_which_all_pass_is_ready_at_once():
    draw = committed(who=())
    assert (draw.phase, problems(draw.proof())) == ("ready", [])


def test_nobody_commits_or_reveals_twice():
    draw = Draw.begin(GAME, 1, 2, SECRET).commit(0, None)
    with pytest.raises(GameRejected, match="wait for the others"):
        draw.commit(0, seat_commitment(GAME, 1, 0, nonce(0)))
    with pytest.raises(GameRejected, match="nothing to reveal"):
        committed(who=(0, 1)).reveal(0, nonce(0)).reveal(0, nonce(0))


@pytest.mark.parametrize("text", ["", "0" * 63, "0" * 65, "G" * 64, "A" * 64, "0" * 63 + "\n", "\uff10" * 64])
def test_a_commitment_and_a_nonce_have_sixty_four_hexadecimal_digits(text):
    with pytest.raises(GameRejected, match="64 hexadecimal digits"):
        Draw.begin(GAME, 1, 2, SECRET).commit(0, text)
    with pytest.raises(GameRejected, match="64 hexadecimal digits"):
        committed().reveal(0, text)


@pytest.mark.parametrize(
    "own",
    [
        seat_commitment("table 8", 1, 0, nonce(0)),  # of another game
        seat_commitment(GAME, 2, 0, nonce(0)),  # of another draw
        seat_commitment(GAME, 1, 1, nonce(0)),  # of another seat
        seat_commitment(GAME, 1, 0, nonce(1)),
        house_commitment(GAME, 1, nonce(0)),
        passed_nonce(GAME, 1, 0, nonce(0)),
    ],
)
def test_a_commitment_fits_no_other_game_draw_seat_nonce_or_purpose(own):
    draw = Draw.begin(GAME, 1, 1, SECRET).commit(0, own)
    with pytest.raises(GameRejected, match="not the nonce that you committed to"):
        draw.reveal(0, nonce(0))


def test_a_game_whose_name_could_be_mistaken_for_two_lines_is_refused():
    with pytest.raises(ValueError, match="without line breaks"):
        Draw.begin("a\nb", 1, 2, SECRET)


@given(st.integers(0, 2**32), st.lists(st.booleans(), min_size=1, max_size=6), st.booleans())
def test_every_finished_draw_can_be_checked_and_survives_a_snapshot(seed, commits, misses):
    stream = Stream(seed, "draw")
    draw = Draw.begin(GAME, 3, len(commits), draw_secret(stream))
    nonces = [draw_secret(stream) for _ in commits]
    for seat, own in enumerate(commits):
        draw = draw.commit(seat, seat_commitment(GAME, 3, seat, nonces[seat]) if own else None)
    noted = draw.promise
    for seat in draw.waits_for():
        draw = draw.give_up(seat) if misses and stream.chance(1, 3) else draw.reveal(seat, nonces[seat])
        draw = plain.load(plain.dump({"draw": draw}), {"Draw": Draw})["draw"]
    proof = draw.proof()
    assert len(problems(proof)) == len(draw.missed)
    assert proof.promise == noted
    for seat, own in enumerate(commits):
        if own and seat not in draw.missed:
            assert broken_promises(proof, noted, seat, nonces[seat]) == problems(proof)


# -- the luck -----------------------------------------------------------------------------------
def test_the_values_are_the_published_ones():
    """For fixed input, so that programs of others stay right."""
    proof = ready(who=(0, 2)).proof()
    assert proof.commitment == sha256(f"cohabit.fair 1\nhouse\n{GAME}\n1\n{SECRET}".encode()).hexdigest()
    assert proof.commitments[2] == sha256(f"cohabit.fair 1\nseat\n{GAME}\n1\n2\n{nonce(2)}".encode()).hexdigest()
    assert proof.nonces[1] == sha256(f"cohabit.fair 1\npassed\n{GAME}\n1\n1\n{SECRET}".encode()).hexdigest()
    lines = "\n".join(["cohabit.fair 1", "luck", GAME, "1", SECRET, *map(str, proof.nonces), "0"])
    first = sha256(lines.encode()).digest()
    assert [Luck(proof).below(256), Luck(proof).below(65536)] == [first[0], first[0] * 256 + first[1]]
    assert Luck(proof).shuffled(DECK)[:6] == ["H6", "H2", "C5", "S12", "D13", "C6"]


def test_the_secret_the_game_the_number_and_every_nonce_with_its_seat_change_the_luck():
    proof = ready(who=(0, 1, 2, 3)).proof()
    swapped = (proof.nonces[1], proof.nonces[0], *proof.nonces[2:])
    others = [
        replace(proof, secret=nonce(9)), replace(proof, game="table 8"), replace(proof, number=2),
        replace(proof, nonces=swapped), replace(proof, nonces=(*proof.nonces[:3], nonce(9))),
    ]  # fmt: skip
    orders = {tuple(Luck(each).shuffled(DECK)) for each in (proof, *others)}
    assert len(orders) == 6


@pytest.mark.parametrize("n", [1, 2, 6, 52, 256, 257, 65_536, 65_537])
def test_a_number_is_below_its_bound(n):
    luck = ready().luck()
    drawn = [luck.below(n) for _ in range(300)]
    assert min(drawn) >= 0
    assert max(drawn) < n


def test_a_number_below_nothing_is_an_error():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        ready().luck().below(0)


def test_every_card_comes_to_every_place_and_every_face_of_a_die_up_equally_often():
    draws = [ready(salt=f"{i}").luck() for i in range(5200)]
    decks = [luck.shuffled(DECK) for luck in draws]
    for place in (0, 17, 51):
        counts = [sum(deck[place] == card for deck in decks) for card in DECK]
        assert sum((n - 100) ** 2 / 100 for n in counts) < 100  # chi-square, 51 degrees of freedom: 5 of 100,000
    rolled = ready().luck().dice(6000)
    assert sum((rolled.count(face) - 1000) ** 2 / 1000 for face in range(1, 7)) < 30  # 5 degrees of freedom


# -- proofs that are wrong ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"secret": nonce(9)}, "the secret is not the one that the house committed to"),
        ({"secret": SECRET + "\n"}, "the secret does not have 64 hexadecimal digits"),
        ({"commitment": nonce(9)}, "the secret is not the one that the house committed to"),
        ({"number": 2}, "the secret is not the one that the house committed to"),
        ({"game": "table 8"}, "the nonce of seat 0 is not the one that it committed to"),
        ({"nonces": (nonce(9), None, None, None)}, "the nonce of seat 0 is not the one that it committed to"),
        ({"nonces": (nonce(0), nonce(1), nonce(2), nonce(3))}, "seat 3 passed, but its nonce does not follow"),
        ({"nonces": (nonce(0),)}, "there must be one nonce for each seat"),
    ],
)
def test_a_proof_with_another_value_is_refused_with_the_reason(change, words):
    assert any(words in problem for problem in problems(replace(ready().proof(), **change)))


def test_a_proof_that_fits_but_is_not_what_was_promised_is_refused():
    noted, proof = committed(salt="mine").promise, ready(salt="other").proof()
    assert problems(proof) == []
    assert broken_promises(proof, noted, 0, nonce(0, "mine")) == [
        "the commitments are not those that were shown before the reveal", "your own nonce is not in it",
    ]  # fmt: skip
    assert "your own nonce is not in it" in broken_promises(proof, proof.promise, 4, nonce(0))


def test_a_promise_says_nothing_about_secret_and_nonces():
    assert set(Promise.__struct_fields__) & {"secret", "nonces"} == set()
    assert set(Promise.__struct_fields__) < set(Proof.__struct_fields__)


# -- the documentation --------------------------------------------------------------------------
def block(words: str) -> dict[str, Any]:
    """What a program of the page defines, after it has run."""
    (program,) = [
        each
        for each in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        if words in each
    ]
    names: dict[str, Any] = {"__name__": "page"}
    exec(program, names)
    return names


def test_the_cards_of_the_documentation_are_dealt_and_checked():
    names = block("poker")
    assert sorted(names["deck"]) == sorted(DECK)
    assert Luck(names["proof"]).shuffled(sorted(DECK, key=DECK.index)) == names["deck"]


def test_the_dice_of_the_example_can_be_checked_and_a_stopped_throw_is_listed():
    client, dice = block("def own_commitment"), find_world(str(HIGH_DICE))()
    seats = [Seat("ann", "ann"), Seat("bot", "bot")]
    dice.reset(2**99, seats)
    while dice.to_move():
        number = dice.draw.number
        nonce, made = client["own_commitment"](dice.game, number, 0)
        dice.commit(seats[0], made)
        dice.commit(seats[1])
        if dice.draw.phase == "reveal" and number != 7:
            noted = dice.draw.promise
            assert client["may_reveal"](noted, 0, made)
            dice.reveal(seats[0], nonce)
            client["check"](dice.proofs[-1], noted, 0, nonce)
            with pytest.raises(SystemExit, match="your own nonce is not in it"):
                client["check"](dice.proofs[-1], noted, 0, made)
        elif number == 7:
            dice.reveal(seats[0])
    assert [bool(problems(proof)) for proof in dice.proofs_so_far(Eye())] == [n == 7 for n in range(1, 11)]
    assert [proof.commitments[0] is None for proof in dice.proofs] == [n > 7 for n in range(1, 11)]
    assert sum(dice.points) == 9


def test_a_redrawn_draw_has_the_same_promise_and_the_own_nonce_and_other_luck() -> None:
    nonces = ["5eed" * 16, "ace0" * 16]
    draw = Draw.begin("a game", 1, 3, draw_secret(Stream(7, "secrets")))
    for seat, nonce in enumerate(nonces):
        draw = draw.commit(seat, seat_commitment("a game", 1, seat, nonce))
    draw = draw.commit(2, None).reveal(0, nonces[0]).reveal(1, nonces[1])
    redrawn = draw.redrawn(0, Stream(8, "imagined"))
    assert (redrawn.promise, redrawn.phase) == (draw.promise, "ready")
    assert redrawn.nonces[0] == nonces[0]
    assert redrawn.nonces[1] != nonces[1]
    assert redrawn.secret != draw.secret
    assert redrawn.luck().shuffled(range(52)) != draw.luck().shuffled(range(52))
    assert nonces[0] not in draw.redrawn(None, Stream(8, "imagined")).nonces
