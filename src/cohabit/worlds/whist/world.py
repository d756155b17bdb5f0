"""Whist as a world: four seats, hidden hands, and deals that anybody can check."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from cohabit.model.action import Action
from cohabit.world import (
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    Told,
    World,
    WorldSpec,
    action,
    query,
)
from cohabit.worlds.whist.fair import MAX_NONCE, Deal, commitment_of, draw_secret, is_nonce, shuffled_deck
from cohabit.worlds.whist.rules import (
    DECK,
    FIRST_DEALER,
    GAME_POINTS,
    SEATS,
    Hands,
    Play,  # noqa: F401 - a snapshot names it
    Suit,
    Table,
    Trick,
    deal,
    hand_points,
    is_legal,
    legal_cards,
    next_hand,
    next_seat,
    play,
    resolve,
    sorted_hand,
    suit_of,
    team_of,
    winning_play,
)
from cohabit.worlds.whist.status import (
    STATUS_SCHEMA,
    ShownDeal,
    ShownHand,
    ShownPlay,
    ShownTrick,
    Status,
    as_plain,
)
from cohabit.worlds.whist.text import NAMES, SUIT_NAMES, TEAMS, by_team, card_name, points_text, result_text, table_text

CUT = Action("cut")
PLAYS = {card: Action("play", {"card": card}) for card in DECK}
SORTED_DECK = sorted_hand(DECK)
MAX_ECHO_CHARS = 20
Nonce = Annotated[
    str, Meta(max_length=MAX_NONCE, description="a text of your own, best random; empty: you add nothing")
]
CardName = Annotated[str, Range(doc="suit (C, D, H, S) and rank, such as S10, or H14 for the ace of hearts")]


class Whist(World):
    """Whist, for four. North and South play against East and West.

    A card is named by its suit (C, D, H, S) and its rank: 2 to 10, 11 jack, 12 queen, 13 king, 14 ace, the highest.
    H12 is the queen of hearts. Each player gets 13 cards. The last card is the dealer's; all see it, and its suit is
    trump.

    The player on the dealer's left leads the first trick. Clockwise (North, East, South, West), each player adds one
    card with `play`. You must follow the suit that was led if you can; otherwise you may play any card. The highest
    trump takes the trick, or without trumps the highest card of the suit that was led. The winner of a trick leads the
    next one.

    After 13 tricks the team with more than six scores one point for each trick above six. Then the next player deals.
    The first team with 5 points wins the game.

    Before each deal every player cuts with `cut`, and may add a text, the nonce. The house has published the SHA-256 of
    its secret by then. Secret and nonces decide the order of the cards, so nobody can have chosen it. Both are
    published after the hand, and `deals` shows them, so that you can check the deal.
    """

    spec = WorldSpec(
        name="whist", title="Whist", seats=SEATS, seat_names=("north", "east", "south", "west"), pace="turns",
        quick=True, tell_rewards=False, front_end="table.html",
    )  # fmt: skip
    view_schema = STATUS_SCHEMA

    def __init__(self, points: Annotated[int, Range(1, 100, "the score that wins the game")] = GAME_POINTS) -> None:
        self.points = points

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.secrets = Stream(seed, "whist secrets")
        self.table: Table | None = None  # None until the first deal; between hands, the finished one
        self.finished: list[Deal] = []
        self.moves = 0  # cuts and cards
        self._commit()

    def _commit(self) -> None:
        """Fix the part of the house in the next deal, and let everybody cut."""
        self.secret = draw_secret(self.secrets)
        self.cuts: list[str | None] = [None] * SEATS
        self.cutting = True
        self.dealt: Hands | None = None

    def describe(self) -> str:
        return super().describe().replace(f"{GAME_POINTS} points", points_text(self.points))

    # -- whose turn it is -------------------------------------------------------------------------
    def to_move(self) -> Sequence[SeatId]:
        if self.cutting:
            return [seat for seat, nonce in zip(self.order, self.cuts, strict=True) if nonce is None]
        assert self.table is not None
        return [] if self.table.phase == "gameOver" else [self.order[self.table.turn]]

    def legal(self, seat: Seat) -> Sequence[Action]:
        number = self.order.index(seat.id)
        if self.cutting:
            return [CUT] if self.cuts[number] is None else []
        assert self.table is not None
        return [PLAYS[card] for card in legal_cards(self.table, number)]

    # -- acting -----------------------------------------------------------------------------------
    @action(preconditions=["The cards are not dealt yet", "You have not cut"])
    def cut(self, by: Seat, nonce: Nonce = "") -> Outcome:
        """Cut the cards before the deal, with a nonce if you like. Nobody sees it before the hand is over."""
        number = self.order.index(by.id)
        if not self.cutting:
            raise GameRejected("the cards are dealt; play one of yours with `play`")
        if self.cuts[number] is not None:
            raise GameRejected("you have cut; wait for the others")
        if not is_nonce(nonce):
            raise GameRejected(f"a nonce has at most {MAX_NONCE} printable characters, and no line breaks")
        self.cuts[number] = nonce
        self.moves += 1
        return _outcome("You have cut", f"{NAMES[number]} cuts", self._deal_if_all_cut())

    @action(preconditions=["It is your turn", "The card follows suit, or you cannot"])
    def play(self, by: Seat, card: CardName) -> Outcome:
        """Play a card of your hand."""
        number, chosen = self.order.index(by.id), card.strip().upper()
        table = self.table
        if self.cutting or table is None:
            raise GameRejected("the cards are not dealt yet; `cut` first")
        if not is_legal(table, number, chosen):
            raise GameRejected(_why_illegal(table, number, chosen))
        self.table = play(table, number, chosen)
        self.moves += 1
        name = card_name(chosen)
        return _outcome(f"You play {name}", f"{NAMES[number]} plays {name}", self._after_card())

    def skip(self, seat: Seat) -> Outcome:
        """A player who runs out of time cuts without a nonce, or plays its first legal card."""
        late = self.fallback(seat)
        assert late is not None
        done = self.cut(seat) if late is CUT else self.play(seat, late.parameters["card"])
        what, *results = done.told
        return Outcome(public=f"{NAMES[self.order.index(seat.id)]}'s time is up; {what.text}", told=tuple(results))

    def _deal_if_all_cut(self) -> tuple[Told, ...]:
        nonces = [nonce for nonce in self.cuts if nonce is not None]
        if len(nonces) < SEATS:
            return ()
        deck = shuffled_deck(self.secret, self._hand_number(), nonces)
        before = self.table
        self.table = deal(deck, FIRST_DEALER, game_points=self.points) if before is None else next_hand(before, deck)
        self.dealt = self.table.hands
        self.cutting = False
        table = self.table
        turned = f"{NAMES[table.dealer]} deals hand {table.hand_number} and turns up {card_name(table.trump_card)}"
        return (_by_world(f"{turned}; {NAMES[table.turn]} leads"),)

    def _after_card(self) -> tuple[Told, ...]:
        """Take a complete trick from the table, and score a complete hand."""
        assert self.table is not None
        complete = self.table
        if complete.phase != "trickComplete":
            return ()
        table = self.table = resolve(complete)
        told = [_by_world(f"{NAMES[complete.turn]} takes the trick. Tricks: {by_team(table.tricks_won)}")]
        if table.phase == "playing":
            return tuple(told)
        self.finished.append(self._reveal(table))
        points = hand_points(table.tricks_won)
        result = result_text(table.hand_number, table.tricks_won, points)
        told.append(_by_world(f"{result}. Score: {by_team(table.scores)}"))
        if table.winner is not None:
            return (*told, _by_world(f"{TEAMS[table.winner]} win the game"))
        self._commit()
        return tuple(told)

    def _reveal(self, table: Table) -> Deal:
        """The public facts of a deal, after the hand."""
        assert self.dealt is not None
        north, east, south, west = (nonce or "" for nonce in self.cuts)
        return Deal(
            table.hand_number, table.dealer, commitment_of(self.secret), self.secret, (north, east, south, west),
            table.trump_card, self.dealt, table.tricks_won,
        )  # fmt: skip

    # -- observing --------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        seen = self._status(eye)
        return Observation(as_plain(seen), text=table_text(seen), step=self.moves, text_says_all=True)

    def _status(self, eye: Eye) -> Status:
        me = self.order.index(eye.seat) if eye.seat in self.order and eye.sees != "public" else None
        table = None if self.cutting else self.table  # the hand that is played now
        dealer = self._next_dealer() if table is None else table.dealer
        hands = [list(hand) for hand in table.hands] if table is not None else [[], [], [], []]
        trick = Trick(next_seat(dealer)) if table is None else table.trick
        return Status(
            phase="cut" if table is None else "gameOver" if table.phase == "gameOver" else "playing",
            hand_number=self._hand_number(),
            dealer=dealer,
            turn=table.turn if table is not None and table.phase == "playing" else None,
            trump=table.trump if table is not None else None,
            trump_card=table.trump_card if table is not None else None,
            trick=_shown_trick(trick, table.trump if table is not None else None),
            last_trick=self._last_trick(),
            hand_counts=[len(hand) for hand in hands],
            tricks_won=list(table.tricks_won) if table is not None else [0, 0],
            scores=list(self.table.scores) if self.table is not None else [0, 0],
            game_points=self.points,
            winner=table.winner if table is not None else None,
            played=_played(table),
            deal=self._shown_deal(),
            last_hand=self._last_hand(),
            my_seat=me,
            my_hand=hands[me] if me is not None else [],
            legal=list(legal_cards(table, me)) if table is not None and me is not None else [],
            hands=hands if eye.sees == "all" else None,
        )

    def _shown_deal(self) -> ShownDeal:
        return ShownDeal(commitment_of(self.secret), [nonce is not None for nonce in self.cuts])

    def _last_trick(self) -> ShownTrick | None:
        if self.table is None or self.table.last_trick is None:
            return None
        return _shown_trick(self.table.last_trick, self.table.trump)

    def _last_hand(self) -> ShownHand | None:
        """The result of the hand before; at the end of the game, of the last one."""
        if not self.finished:
            return None
        hand = self.finished[-1]
        return ShownHand(
            hand.hand_number, hand.dealer, suit_of(hand.trump_card), list(hand.tricks_won),
            list(hand_points(hand.tricks_won)), hand.commitment, hand.secret, list(hand.nonces),
        )  # fmt: skip

    def _hand_number(self) -> int:
        """Of the hand that is played, or of the one that will be dealt."""
        if self.table is None:
            return 1
        return self.table.hand_number + 1 if self.cutting else self.table.hand_number

    def _next_dealer(self) -> int:
        return FIRST_DEALER if self.table is None else next_seat(self.table.dealer)

    @query()
    def deals(self, eye: Eye) -> list[Deal]:
        """The finished hands of this game: commitment, secret and nonces, and the cards that followed from them."""
        return list(self.finished)

    # -- results ----------------------------------------------------------------------------------
    def returns(self) -> Mapping[SeatId, float]:
        """By how many points the team of a seat is ahead."""
        if self.table is None or self.table.scores == (0, 0):
            return {}
        ahead = self.table.scores[0] - self.table.scores[1]
        return {seat: float(-ahead if team_of(n) else ahead) for n, seat in enumerate(self.order)}

    def standings(self) -> Sequence[Standing]:
        scores = self.table.scores if self.table is not None else (0, 0)
        best_first = sorted(range(SEATS), key=lambda n: -scores[team_of(n)])
        return [Standing(self.order[n], self.order[n], scores[team_of(n)]) for n in best_first]

    def numbered(self) -> Sequence[Action]:
        return [CUT, *PLAYS.values()]


def _why_illegal(table: Table, seat: int, card: str) -> str:
    """The reason why a card is illegal, and the legal ones."""
    if table.phase == "gameOver":
        return "the game is over"
    if seat != table.turn:
        return f"it is {NAMES[table.turn]}'s turn"
    legal = legal_cards(table, seat)
    if card in table.hands[seat]:
        return f"you must follow {SUIT_NAMES[suit_of(legal[0])]}; play one of: {' '.join(legal)}"
    return f"you do not hold {card[:MAX_ECHO_CHARS]!r}; play one of: {' '.join(legal)}"


def _shown_trick(trick: Trick, trump: Suit | None) -> ShownTrick:
    best = winning_play(trick, trump)
    plays = [ShownPlay(play.seat, play.card) for play in trick.plays]
    return ShownTrick(trick.leader, plays, best.seat if best is not None else None)


def _played(table: Table | None) -> list[str]:
    """The cards of this hand that nobody holds any more."""
    if table is None:
        return []
    held = {card for hand in table.hands for card in hand}
    return [card for card in SORTED_DECK if card not in held]


def _outcome(own: str, public: str, results: Sequence[Told]) -> Outcome:
    """The outcome of an action: a text for its player, one for everyone, and the results."""
    message = " ".join(f"{text}." for text in (own, *(result.text for result in results)))
    return Outcome(message, told=(Told(public), *results))


def _by_world(text: str) -> Told:
    return Told(text, by_world=True)
