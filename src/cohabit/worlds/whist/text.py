"""The table in words: what players and models read."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from cohabit.worlds.whist.rules import BOOK, SEATS, Card, partner_of, rank_of, suit_of
from cohabit.worlds.whist.status import ShownDeal, ShownTrick, Status
from cohabit.worlds.words import counted

NAMES = ("North", "East", "South", "West")
TEAMS = ("North and South", "East and West")
SUIT_NAMES = {"S": "spades", "H": "hearts", "C": "clubs", "D": "diamonds"}
RANK_NAMES = {11: "jack", 12: "queen", 13: "king", 14: "ace"}


def card_name(card: Card) -> str:
    """Such as ``H12 (queen of hearts)``."""
    rank = rank_of(card)
    return f"{card} ({RANK_NAMES.get(rank, rank)} of {SUIT_NAMES[suit_of(card)]})"


def listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def by_team(numbers: Sequence[int]) -> str:
    return ", ".join(f"{team} {n}" for team, n in zip(TEAMS, numbers, strict=True))


def by_suit(cards: Iterable[Card]) -> str:
    """A sorted hand as ``spades S14 S9 | clubs C2``."""
    return " | ".join(f"{SUIT_NAMES[suit]} {' '.join(group)}" for suit, group in _grouped(cards))


def ranks_by_suit(cards: Iterable[Card]) -> str:
    """Sorted cards as ``S 14 9 | C 2``."""
    return " | ".join(f"{suit} {' '.join(card[1:] for card in group)}" for suit, group in _grouped(cards))


def _grouped(cards: Iterable[Card]) -> list[tuple[str, list[Card]]]:
    return [(suit, list(group)) for suit, group in groupby(cards, key=suit_of)]


def table_text(seen: Status) -> str:
    """Everything that a player needs for its next decision."""
    lines = [_heading(seen), *(_before_the_deal(seen) if seen.trump is None else _the_hand(seen))]
    if seen.hands is not None and seen.trump is not None:
        lines += [f"{NAMES[seat]} holds: {by_suit(hand) or 'nothing'}" for seat, hand in enumerate(seen.hands)]
    return "\n".join(filter(None, lines))


def _heading(seen: Status) -> str:
    heading, me = f"Hand {seen.hand_number}; {NAMES[seen.dealer]} deals.", seen.my_seat
    if me is not None:
        heading += f" You are {NAMES[me]}, partner of {NAMES[partner_of(me)]}."
    wins = "wins" if seen.game_points == 1 else "win"
    return f"{heading}\nScore: {by_team(seen.scores)}; {counted(seen.game_points, 'point')} {wins} the game."


def _before_the_deal(seen: Status) -> list[str]:
    deal = seen.deal
    voids = f"Void deals in this game: {deal.voids}. Not revealed: {_seats(deal.missed)}." if deal.voids else ""
    return [
        _last_trick(seen),
        _last_hand(seen),
        voids,
        _waiting_for_reveals(seen) if seen.phase == "reveal" else _waiting_for_cuts(seen),
        _committed(deal),
    ]


def _committed(deal: ShownDeal) -> str:
    """Only who: programs that check a deal read the digits from the values."""
    seats = [NAMES[seat] for seat, made in enumerate(deal.commitments) if made]
    return f"Deal {deal.number} of this game. Committed to a number: {listed(['the house', *seats])}."


def _waiting_for_cuts(seen: Status) -> str:
    waits = f"The cards are not dealt yet; {_seats([not cut for cut in seen.deal.cut])} must cut first."
    return waits if seen.my_seat is None or seen.deal.cut[seen.my_seat] else f"{waits} Call `cut`."


def _waiting_for_reveals(seen: Status) -> str:
    deal = seen.deal
    late = [made is not None and not shown for made, shown in zip(deal.commitments, deal.revealed, strict=True)]
    waits = f"All have cut. The cards are dealt when these have revealed their nonces: {_seats(late)}."
    if seen.my_seat is None or not late[seen.my_seat]:
        return waits
    return f"{waits} Call `reveal` with yours. Without it the deal is void, and you can add nothing in this game."


def _seats(chosen: Sequence[bool]) -> str:
    return listed([NAMES[seat] for seat in range(SEATS) if chosen[seat]])


def _the_hand(seen: Status) -> list[str]:
    assert seen.trump is not None
    trump = f"Trump: {SUIT_NAMES[seen.trump]}; {NAMES[seen.dealer]} turned up {seen.trump_card}."
    lines = [f"{trump} Tricks: {by_team(seen.tricks_won)}.", _last_trick(seen)]
    if seen.phase == "gameOver":
        return [*lines, _last_hand(seen), _ending(seen)]
    on_table = _plays(seen.trick, "is winning") if seen.trick.plays else f"nothing; {NAMES[seen.trick.leader]} leads"
    lines.append(f"On the table: {on_table}.")
    if len(seen.played) > len(seen.trick.plays):
        lines.append(f"Played in this hand: {ranks_by_suit(seen.played)}")
    if seen.my_seat is not None:
        lines.append(f"Your hand: {by_suit(seen.my_hand) or 'empty'}")
    if seen.legal:
        lines.append(_obligation(seen))
    return lines


def _obligation(seen: Status) -> str:
    """The cards that a player may play, in words."""
    if not seen.trick.plays:
        return "You lead; any card is legal."
    led = suit_of(seen.trick.plays[0].card)
    if suit_of(seen.legal[0]) == led:
        return f"You must follow {SUIT_NAMES[led]}: {' '.join(seen.legal)}."
    return f"You have no {SUIT_NAMES[led]}; any card is legal."


def _plays(trick: ShownTrick, winner_does: str) -> str:
    first, *others = trick.plays
    cards = [f"{NAMES[first.seat]} led {first.card}", *(f"{NAMES[play.seat]} {play.card}" for play in others)]
    winner = "" if trick.winner is None else f"; {NAMES[trick.winner]} {winner_does}"
    return ", ".join(cards) + winner


def _last_trick(seen: Status) -> str:
    return "" if seen.last_trick is None else f"Last trick: {_plays(seen.last_trick, 'took it')}."


def _last_hand(seen: Status) -> str:
    hand = seen.last_hand
    return "" if hand is None else f"{result_text(hand.hand_number, hand.tricks_won, hand.points)}."


def result_text(hand_number: int, tricks_won: Sequence[int], points: Sequence[int]) -> str:
    """Such as ``Hand 2: North and South took 8 tricks and scored 2``."""
    team = 0 if tricks_won[0] > BOOK else 1
    return f"Hand {hand_number}: {TEAMS[team]} took {tricks_won[team]} tricks and scored {points[team]}"


def _ending(seen: Status) -> str:
    assert seen.winner is not None
    if seen.my_seat is None:
        return f"{TEAMS[seen.winner]} won the game."
    return "Your team won the game." if seen.my_seat % 2 == seen.winner else "Your team lost the game."
