"""The comments of the kibitzer on Whist are true, short and varied, and reveal nobody's cards."""

import re
from typing import Any

import msgspec
import pytest

from cohabit.agents.comments.whist import PHRASES, WhistComments, named
from cohabit.model.stream import Stream
from cohabit.protocols.kibitz.comments import ROUTINE, Note, Table
from cohabit.worlds.whist.rules import DECK, Play, Trick, partner_of, suit_of, team_of, winning_play
from cohabit.worlds.whist.text import SUIT_NAMES
from cohabit.worlds.whist.world import Whist

from .whist_games import SEATS, games, seat_view, view

NAMES = ("Ann", "Bob", "Cat", "Dan")
TABLE = Table(dict(zip(SEATS, NAMES, strict=True)), "owl")
ASKED = {"trump?", "score?", "tricks?", "turn?", "led?", "no lead?", "before the deal"}
PRIVATE = {"own trumps", "own void", "own high"}
TALK = {"hello", "thanks", "who are you"}
CARD_NAME = re.compile(r"(\d+|jack|queen|king|ace) of (spades|hearts|clubs|diamonds)")


def comments(seed: int = 1) -> WhistComments:
    return WhistComments(Stream(seed, "phrases"))


def made_trick(world: Whist) -> Trick:
    assert world.table is not None
    assert world.table.last_trick is not None
    return world.table.last_trick


def check_trick(note: Note, world: Whist) -> None:
    """A note about the last trick says what the rules say."""
    assert world.table is not None
    trick, trump, facts = made_trick(world), world.table.trump, note.facts
    won = winning_play(trick, trump)
    assert won is not None
    assert (facts["who"], facts["card"], facts["led"]) == (
        NAMES[won.seat],
        named(won.card),
        SUIT_NAMES[trick.led or ""],
    )
    assert facts["partner"] == NAMES[partner_of(won.seat)]
    assert facts["own"] == f"{world.table.tricks_won[team_of(won.seat)]}"
    cards = {NAMES[play.seat]: play for play in trick.plays}
    if note.kind in ("trumped", "overtrumped", "partner trumped", "ace trumped"):
        beaten = cards[facts["loser"]]
        assert suit_of(won.card) == trump != trick.led
        assert facts["best"] == named(beaten.card)
        without = Trick(trick.leader, trick.plays[: trick.plays.index(won)])
        assert winning_play(without, trump) == beaten
        assert (note.kind == "overtrumped") == (suit_of(beaten.card) == trump)
        if note.kind == "partner trumped":
            assert beaten.seat == partner_of(won.seat)
        if note.kind == "ace trumped":
            assert (beaten.card[1:], team_of(beaten.seat)) == ("14", 1 - team_of(won.seat))
    if note.kind == "king under ace":
        king = cards[facts["loser"]]
        assert (king.card[1:], won.card[1:], suit_of(king.card)) == ("13", "14", suit_of(won.card))
    if note.kind == "point":
        assert world.table.tricks_won[team_of(won.seat)] == 7
    if note.kind == "even":
        assert world.table.tricks_won == (6, 6)


TRICKS = {"took", "trumped", "overtrumped", "partner trumped", "ace trumped", "low card", "king under ace", "point", "even"}  # fmt: skip


def test_every_note_is_true_and_every_kind_comes_up() -> None:
    seen: set[str] = set()
    for seed in range(12):
        for world in games(seed):
            for note in comments().notes(view(world), TABLE):
                seen.add(note.kind)
                if note.kind in TRICKS:
                    check_trick(note, world)
                elif note.kind in ("led", "ace led", "trump led"):
                    assert world.table is not None
                    first = world.table.trick.plays[0]
                    assert (note.facts["who"], note.facts["card"]) == (NAMES[first.seat], named(first.card))
                elif note.kind in ("hand over", "match point", "game over", "slam"):
                    check_result(note, world)
    assert seen == {*PHRASES} - ASKED - PRIVATE - TALK - {"slam"}


def check_result(note: Note, world: Whist) -> None:
    assert world.table is not None
    last = world.finished[-1]
    team = 0 if last.tricks_won[0] > 6 else 1
    assert note.facts["team"] == " and ".join((NAMES[team], NAMES[team + 2]))
    assert note.facts["own"] == f"{last.tricks_won[team]}"
    assert note.facts["score"] == f"{world.table.scores[team]} to {world.table.scores[1 - team]}"
    assert (note.kind == "game over") == (not world.to_move())


def trick_of(cards: str, trump: str, leader: int = 0) -> dict[str, Any]:
    """A view in which four cards were just played."""
    base = next(v for world in games(1) if sum((v := view(world))["observation"]["status"]["tricksWon"]) == 3)
    plays = [{"seat": (leader + i) % 4, "card": card} for i, card in enumerate(cards.split())]
    best = winning_play(Trick(leader, tuple(Play(p["seat"], p["card"]) for p in plays)), trump)
    assert best is not None
    last = {"leader": leader, "plays": plays, "winner": best.seat}
    status = {**base["observation"]["status"], "lastTrick": last, "trump": trump, "trick": {"leader": best.seat, "plays": [], "winner": None}}  # fmt: skip
    return {"observation": {"status": status}, "over": False}


@pytest.mark.parametrize(
    ("cards", "kind"),
    [
        ("H14 H3 C2 H5", "partner trumped"),
        ("H14 C2 H3 H5", "ace trumped"),
        ("H4 C2 H3 C5", "overtrumped"),
        ("H4 C2 H3 H5", "trumped"),
        ("H4 H3 H6 D14", "low card"),
        ("H13 H14 H6 H2", "king under ace"),
        ("H12 H9 H6 H2", "took"),
    ],
)
def test_the_most_notable_thing_about_a_trick_is_said(cards: str, kind: str) -> None:
    notes = comments().notes(trick_of(cards, "C"), TABLE)
    best = max(notes, key=lambda note: note.weight)
    assert best.kind == kind
    assert (best.weight <= ROUTINE) == (kind == "took")


@pytest.mark.parametrize("kind", PHRASES)
def test_phrases_are_short_and_one_is_not_repeated_before_the_others_were_used(kind: str) -> None:
    assert len(set(PHRASES[kind])) == len(PHRASES[kind])
    facts = dict.fromkeys(("who", "partner", "loser", "best", "card", "led", "rank", "team", "own", "other", "hand", "lead",
                           "points", "score", "standing", "count", "suit", "trump", "goal", "tricks", "name"), "Maximilian")  # fmt: skip
    talk = comments()
    said = [talk.phrase(Note("x", 1, kind, facts)) for _ in PHRASES[kind]]
    assert len(set(said)) == len(said)
    assert all(len(line) <= 160 and line[0].isupper() and line[-1] in ".!?" for line in said)


def test_what_is_said_to_everyone_never_depends_on_what_one_seat_sees() -> None:
    moves = 0
    for world in games(3):
        public = view(world)["observation"]["status"]
        for seat in SEATS:
            shown = comments().public(seat_view(world, seat))
            assert shown is not None
            assert shown["observation"]["status"] == public
        moves += 1
    assert moves > 52


def test_what_is_said_to_a_player_is_true_of_its_own_hand() -> None:
    seen: set[str] = set()
    for world in (world for seed in range(12) for world in games(seed)):
        for number, seat in enumerate(SEATS):
            notes = comments().private_notes(seat_view(world, seat), TABLE)
            seen |= {note.kind for note in notes}
            assert not (notes and (world.table is None or not world.is_dealt))
            for note in notes:
                check_own(note, world, number)
    assert seen == PRIVATE


def check_own(note: Note, world: Whist, number: int) -> None:
    assert world.table is not None
    hand = world.table.hands[number]
    suits = [SUIT_NAMES[suit_of(card)] for card in hand]
    if note.kind == "own trumps":
        assert int(note.facts["count"]) == suits.count(SUIT_NAMES[world.table.trump])
    elif note.kind == "own void":
        assert note.facts["suit"] not in suits
        assert SUIT_NAMES[world.table.trump] in suits
    else:
        card = next(card for card in hand if named(card) == note.facts["card"])
        others = [c for i, other in enumerate(world.table.hands) if i != number for c in other]
        assert all(int(c[1:]) < int(card[1:]) for c in others if suit_of(c) == suit_of(card))


def test_people_get_answers_to_questions_and_none_to_what_they_say_to_each_other() -> None:
    world = next(world for world in games(1) if world.table is not None and sum(world.table.tricks_won) == 4)
    assert world.table is not None
    talk, seen, trump = comments(), view(world), SUIT_NAMES[world.table.trump]

    def reply(text: str) -> str | None:
        return talk.reply(seen, TABLE, "Ann", text)

    assert trump in (reply("what is trump?") or "")
    assert re.search(r"Ann and Cat \d, Bob and Dan \d", reply("What's the score?") or "")
    assert NAMES[world.table.turn] in (reply("whose turn is it") or "")
    assert "Ann" in (reply("hello") or "")
    assert "Ann" in (reply("thanks, owl") or "")
    assert reply("who are you, owl?") is not None
    for chatter in (
        "nice trump, partner",
        "good lead",
        "thanks, partner!",
        "hi Bob, how is your mother doing",
        "ok",
        "",
    ):
        assert reply(chatter) is None, chatter


def test_the_key_is_hand_tricks_cards_and_phase() -> None:
    keys = [comments().key(view(world)) for world in games(1, points=1)]
    assert keys[0] == "1:0:0:cut"
    assert keys[4:7] == ["1:0:0:playing", "1:0:1:playing", "1:0:2:playing"]
    assert keys[8] == "1:1:4:playing"


def test_a_model_reads_the_public_table_in_words_without_anybodys_hand() -> None:
    world = next(world for world in games(1) if world.table is not None and sum(world.table.tricks_won) == 4)
    assert world.table is not None
    talk = comments()
    public = talk.public(seat_view(world, "east"))
    assert public is not None
    text = talk.describe(public)
    assert not [card for card in DECK if re.search(rf"\b{card}\b", text) and card in world.table.hands[1] and card != world.table.trump_card]  # fmt: skip
    assert "Your hand: " in talk.describe(seat_view(world, "east"))
    assert msgspec.json.encode(public).count(b'"myHand":[]') == 1
