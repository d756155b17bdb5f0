"""Comments of a kibitzer on Whist. They are derived from the status of a view."""

from typing import Any

import msgspec

from cohabit.model.stream import Stream
from cohabit.model.table_files import read_table
from cohabit.protocols.kibitz.comments import SMALL_TALK, Note, Phrases, Table, View, is_question, small_talk, words_of
from cohabit.worlds.whist.rules import BOOK, DECK, TRICKS, card_value, partner_of, rank_of, suit_of, team_of
from cohabit.worlds.whist.status import Status
from cohabit.worlds.whist.text import RANK_NAMES, SUIT_NAMES, table_text

HIDDEN: dict[str, Any] = {"mySeat": None, "myHand": [], "legal": [], "hands": None}
"""The private fields of a status, and their values for a spectator."""
ACE = max(RANK_NAMES)
HIGH_RANK = 12
LOW_RANK = 8
"""A card up to this rank rarely takes a trick by itself."""
MANY_TRUMPS = 5
RESULT_IS_NEWS = 2
"""The number of tricks of the next hand during which the result of a hand is news."""
PHRASES = SMALL_TALK | read_table(__file__, dict[str, tuple[str, ...]])


def status_of(view: View) -> Status:
    return msgspec.convert(view["observation"]["status"], Status)


def named(card: str) -> str:
    """Such as ``king of hearts``."""
    rank = rank_of(card)
    return f"{RANK_NAMES.get(rank, rank)} of {SUIT_NAMES[suit_of(card)]}"


class WhistComments:
    """See the module."""

    def __init__(self, stream: Stream) -> None:
        self._phrases = Phrases(PHRASES, stream)

    def key(self, view: View) -> str:
        seen = status_of(view)
        return f"{seen.hand_number}:{sum(seen.tricks_won)}:{len(seen.played)}:{seen.phase}"

    def public(self, view: View) -> View | None:
        status = {**view["observation"]["status"], **HIDDEN}
        return {"over": view.get("over", False), "observation": {"status": status}}

    def phrase(self, note: Note) -> str:
        return self._phrases.say(note.kind, note.facts)

    def describe(self, view: View) -> str:
        return table_text(status_of(view))

    # -- to everyone ------------------------------------------------------------------------------
    def notes(self, view: View, table: Table) -> list[Note]:
        seen = status_of(view)
        if seen.phase != "playing":
            return _results(seen, table)
        found = [*_trick(seen, table), *_lead(seen, table)]
        if sum(seen.tricks_won) < RESULT_IS_NEWS:
            found += _results(seen, table)
        if not seen.played:
            facts = {
                "who": table.name(seen.dealer),
                "card": named(seen.trump_card or ""),
                "led": SUIT_NAMES[seen.trump or ""],
                "hand": f"{seen.hand_number}",
                "lead": table.name(seen.trick.leader),
            }
            found.append(Note(f"deal {_hand_id(seen)}", 5, "dealt", facts))
        return found

    # -- to one player ----------------------------------------------------------------------------
    def private_notes(self, view: View, table: Table) -> list[Note]:
        seen = status_of(view)
        if seen.phase != "playing" or not seen.my_hand or seen.trump is None:
            return []
        hand = _hand_id(seen)
        by_suit = {suit: [card for card in seen.my_hand if suit_of(card) == suit] for suit in SUIT_NAMES}
        found = []
        if len(seen.my_hand) == TRICKS:
            if len(by_suit[seen.trump]) >= MANY_TRUMPS:
                count = {"count": f"{len(by_suit[seen.trump])}"}
                found.append(Note(f"own trumps {hand}", 8, "own trumps", count))
            if by_suit[seen.trump]:
                voids = [suit for suit in SUIT_NAMES if not by_suit[suit]]
                found += [Note(f"own void {hand} {suit}", 7, "own void", {"suit": SUIT_NAMES[suit]}) for suit in voids]
        gone = {*seen.played, *seen.my_hand}
        for suit, cards in by_suit.items():
            if suit == seen.trump or not cards or rank_of(cards[0]) == ACE:
                continue
            left = [card for card in DECK if suit_of(card) == suit and card not in gone]
            if left and all(rank_of(card) < rank_of(cards[0]) for card in left):
                facts = {"card": named(cards[0]), "suit": SUIT_NAMES[suit]}
                found.append(Note(f"own high {hand} {cards[0]}", 6, "own high", facts))
        return found

    # -- answers ----------------------------------------------------------------------------------
    def reply(self, view: View | None, table: Table, name: str, text: str) -> str | None:
        said = set(words_of(text)) if is_question(text) else set()
        asked = next((topic for topic, words in ASKED.items() if said & words), None)
        if asked is None or view is None:
            kind = small_talk(text, table.me)
            return self._phrases.say(kind, {"name": name}) if kind is not None else None
        return self._phrases.say(*_answer(status_of(view), table, asked))


ASKED = {
    "score": {"score", "winning", "ahead", "points"},
    "trump": {"trump", "trumps"},
    "tricks": {"tricks"},
    "turn": {"turn", "whose"},
    "led": {"led", "lead", "leads"},
}
"""Words that ask for something."""


def _answer(seen: Status, table: Table, asked: str) -> tuple[str, dict[str, str]]:
    if asked == "score":
        return "score?", {"score": _by_team(seen.scores, table), "goal": f"{seen.game_points}"}
    if seen.trump is None:
        return "before the deal", {}
    if asked == "trump":
        return "trump?", {"trump": SUIT_NAMES[seen.trump]}
    if asked == "tricks" or seen.turn is None:
        return "tricks?", {"tricks": _by_team(seen.tricks_won, table)}
    if asked == "turn":
        return "turn?", {"who": table.name(seen.turn)}
    who = table.name(seen.trick.leader)
    if not seen.trick.plays:
        return "no lead?", {"who": who}
    return "led?", {"who": who, "card": named(seen.trick.plays[0].card)}


def _hand_id(seen: Status) -> str:
    """Of the hand that is played: the number of a hand is repeated in the next game."""
    return seen.deal.commitment


def _team(team: int, table: Table) -> str:
    return f"{table.name(team)} and {table.name(team + 2)}"


def _by_team(numbers: list[int], table: Table) -> str:
    return f"{_team(0, table)} {numbers[0]}, {_team(1, table)} {numbers[1]}"


def _results(seen: Status, table: Table) -> list[Note]:
    """Notes after a hand, or at the end of the game."""
    hand = seen.last_hand
    if hand is None:
        return []
    team = 0 if hand.tricks_won[0] > hand.tricks_won[1] else 1
    own, other, gained = hand.tricks_won[team], hand.tricks_won[1 - team], hand.points[team]
    facts = {
        "team": _team(team, table), "hand": f"{hand.hand_number}", "own": f"{own}", "other": f"{other}",
        "points": "a point" if gained == 1 else f"{gained} points",
        "score": f"{seen.scores[team]} to {seen.scores[1 - team]}", "standing": _by_team(seen.scores, table),
    }  # fmt: skip
    about = f"hand {seen.deal.game} {hand.hand_number}"
    if seen.phase == "gameOver":
        return [Note(about, 10, "game over", facts)]
    at_match_point = seen.scores[team] == seen.game_points - 1
    kind = "slam" if own == TRICKS else "match point" if at_match_point else "hand over"
    return [Note(about, 9, kind, facts)]


def _trick(seen: Status, table: Table) -> list[Note]:
    """Notes about the last trick."""
    last, trump = seen.last_trick, seen.trump
    if last is None or last.winner is None or trump is None or not sum(seen.tricks_won):
        return []
    led = suit_of(last.plays[0].card)
    ranked = sorted(last.plays, key=lambda play: -card_value(play.card, led, trump))
    won = ranked[0]
    own, other = seen.tricks_won[team_of(won.seat)], seen.tricks_won[1 - team_of(won.seat)]
    facts = {
        "who": table.name(won.seat),
        "partner": table.name(partner_of(won.seat)),
        "card": named(won.card),
        "led": SUIT_NAMES[led],
        "rank": f"{RANK_NAMES.get(rank_of(won.card), rank_of(won.card))}",
        "team": _team(team_of(won.seat), table),
        "own": f"{own}",
        "other": f"{other}",
    }
    about = f"trick {_hand_id(seen)}:{sum(seen.tricks_won)}"
    found = [Note(about, 2, "took", facts)]
    # The best card of the others, as it was when the winner played: what it had to beat.
    before = last.plays[: [play.seat for play in last.plays].index(won.seat)]
    beaten = max(before, key=lambda play: card_value(play.card, led, trump), default=None)
    with_trump = suit_of(won.card) == trump and led != trump
    if with_trump and beaten is not None:
        first = f"trumped {_hand_id(seen)}:{won.seat}"  # once in a hand for each player
        facts = {**facts, "loser": table.name(beaten.seat), "best": named(beaten.card)}
        if suit_of(beaten.card) == trump:
            found.append(Note(about, 6, "overtrumped", facts))
        elif beaten.seat == partner_of(won.seat):
            is_high = rank_of(beaten.card) >= HIGH_RANK
            found.append(Note(about, 8, "partner trumped", facts) if is_high else Note(first, 5, "trumped", facts))
        else:
            is_ace = rank_of(beaten.card) == ACE
            found.append(Note(about, 8, "ace trumped", facts) if is_ace else Note(first, 5, "trumped", facts))
    elif suit_of(won.card) != trump and rank_of(won.card) <= LOW_RANK:
        found.append(Note(about, 5, "low card", facts))
    else:
        kings = [p for p in last.plays if p.card == f"{suit_of(won.card)}13" and team_of(p.seat) != team_of(won.seat)]
        if kings and rank_of(won.card) == ACE:
            more = {"loser": table.name(kings[0].seat), "best": named(kings[0].card)}
            found.append(Note(about, 5, "king under ace", {**facts, **more}))
    if own == BOOK + 1:
        found.append(Note(f"point {_hand_id(seen)}", 7, "point", facts))
    if own == other == BOOK:
        found.append(Note(f"even {_hand_id(seen)}", 7, "even", facts))
    return found


def _lead(seen: Status, table: Table) -> list[Note]:
    """A note about the card that was led to the trick on the table."""
    if not seen.trick.plays or seen.trump is None:
        return []
    first = seen.trick.plays[0]
    if seen.trick.winner != first.seat:
        return []
    facts = {"who": table.name(first.seat), "card": named(first.card), "led": SUIT_NAMES[suit_of(first.card)]}
    about = f"lead {_hand_id(seen)}:{sum(seen.tricks_won)}"
    if suit_of(first.card) == seen.trump:
        return [Note(about, 3, "trump led", facts)]
    if rank_of(first.card) == ACE:
        return [Note(about, 3, "ace led", facts)]
    return [Note(about, 1, "led", facts)]
