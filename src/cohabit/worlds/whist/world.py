"""Whist as a world: four seats, hidden hands, and deals that anybody can check."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.fair import Draw, Proof, draw_secret
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.world import (
    ArraySpec,
    Eye,
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
)  # fmt: skip
from cohabit.worlds.whist import arrays, rules, status, text
from cohabit.worlds.whist.redeal import redealt, with_played
from cohabit.worlds.whist.rules import DECK, FIRST_DEALER, GAME_POINTS, SEATS, ByTeam, Card, Hands, Suit, Table, Trick
from cohabit.worlds.whist.rules import Play as Play  # a snapshot names it
from cohabit.worlds.whist.text import NAMES, SUIT_NAMES, TEAMS
from cohabit.worlds.words import counted

CUT = Action("cut")
REVEAL = Action("reveal")
PLAYS = {card: Action("play", {"card": card}) for card in DECK}
SORTED_DECK = rules.sorted_hand(DECK)
MAX_ECHO_CHARS = 20
MAX_DIGITS = 64
Commitment = Annotated[
    str,
    Meta(
        max_length=MAX_DIGITS,
        description="for programs that check the deal: the commitment to a nonce of yours; leave it out to add nothing",
    ),
]
Nonce = Annotated[
    str, Meta(max_length=MAX_DIGITS, description="64 hexadecimal digits; empty: you do not have it, the deal is void")
]
CardName = Annotated[str, Range(doc="suit (C, D, H, S) and rank, such as S10, or H14 for the ace of hearts")]


class Deal(Struct, frozen=True, rename="camel"):
    """A finished hand, or a void deal, with everything that is needed to check it."""

    hand_number: int
    dealer: int
    proof: Proof
    missed: tuple[int, ...] = ()  # the seats that did not reveal: the deal is void, and the rest is null
    trump_card: Card | None = None
    hands: Hands | None = None  # as they were dealt, from north to west
    tricks_won: ByTeam | None = None


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

    Before each deal every player cuts with `cut`. That is all you have to do: no player can choose the cards. The house
    could choose them, unless a player adds a random number, a nonce. Programs do that: they `cut` with a commitment to
    a nonce, and when all have cut they name it: `reveal`. If one does not reveal, the deal is void, and its seat adds
    nothing in the rest of the game. After the hand everything is public in `deals`, so anybody can check it.
    """

    spec = WorldSpec(
        name="whist", version=3, title="Whist", seats=SEATS, seat_names=("north", "east", "south", "west"),
        pace="turns", quick=True, tell_rewards=False, deals_once=True, front_end="table.html",
    )  # fmt: skip
    view_schema = status.STATUS_SCHEMA

    def __init__(self, points: Annotated[int, Range(1, 100, "the score that wins the game")] = GAME_POINTS) -> None:
        self.points = points

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.game = f"whist {Stream(seed, 'whist game').bits64():016x}"  # what the commitments of a game are bound to
        self.secrets = Stream(seed, "whist secrets")
        self.table: Table | None = None  # None until the first deal; between hands, the finished one
        self.finished: list[Deal] = []
        self.missed = [False] * SEATS  # the seats that committed once and did not reveal: they add nothing any more
        self.moves = 0  # cuts, reveals and cards
        self._begin_draw()

    def _begin_draw(self) -> None:
        """Fix the part of the house in the next deal, and let everybody cut."""
        self.draw = Draw.begin(self.game, len(self.finished) + 1, SEATS, draw_secret(self.secrets))
        self.dealt: Hands | None = None  # None until the cards are dealt
        self.lacks = [""] * SEATS  # the suits that each seat has shown not to have

    @property
    def is_dealt(self) -> bool:
        return self.dealt is not None

    def describe(self) -> str:
        return super().describe().replace(f"{GAME_POINTS} points", counted(self.points, "point"))

    # -- whose turn it is -------------------------------------------------------------------------
    def to_move(self) -> Sequence[SeatId]:
        if not self.is_dealt:
            return [self.order[seat] for seat in self.draw.waits_for()]
        assert self.table is not None
        return [] if self.table.phase == "gameOver" else [self.order[self.table.turn]]

    def legal(self, seat: Seat) -> Sequence[Action]:
        number = self.order.index(seat.id)
        if not self.is_dealt:
            todo = CUT if self.draw.phase == "commit" else REVEAL
            return [todo] if number in self.draw.waits_for() else []
        assert self.table is not None
        return [PLAYS[card] for card in rules.legal_cards(self.table, number)]

    # -- acting -----------------------------------------------------------------------------------
    @action(preconditions=["The cards are not dealt yet", "You have not cut"])
    def cut(self, by: Seat, commitment: Commitment = "") -> Outcome:
        """Cut the cards before the deal."""
        number = self.order.index(by.id)
        if self.is_dealt:
            raise GameRejected("the cards are dealt; play one of yours with `play`")
        if self.draw.cut[number]:
            raise GameRejected("you have cut; wait for the others")
        if commitment and self.missed[number]:
            raise GameRejected(
                "you did not reveal your nonce in an earlier deal, so you add nothing in this game; "
                "`cut` without a commitment"
            )
        self.draw = self.draw.commit(number, commitment or None)
        self.moves += 1
        trust = "" if commitment else " and added nothing, so you trust the house with the shuffle"
        return _outcome(f"You have cut{trust}", f"{NAMES[number]} cuts", self._after_draw())

    @action(preconditions=["All have cut", "You have cut with a commitment, and not revealed yet"], listed=False)
    def reveal(self, by: Seat, nonce: Nonce = "") -> Outcome:
        """Reveal the nonce that you have committed to, when all have cut. It is published after the hand."""
        number = self.order.index(by.id)
        if self.is_dealt:
            raise GameRejected("the cards are dealt; play one of yours with `play`")
        self.draw = self.draw.reveal(number, nonce) if nonce else self.draw.give_up(number)
        self.moves += 1
        own, public = ("You reveal", "reveals") if nonce else ("You do not reveal", "does not reveal")
        return _outcome(f"{own} your nonce", f"{NAMES[number]} {public} its nonce", self._after_draw())

    @action(preconditions=["It is your turn", "The card follows suit, or you cannot"])
    def play(self, by: Seat, card: CardName) -> Outcome:
        """Play a card of your hand."""
        number, chosen = self.order.index(by.id), card.strip().upper()
        table = self.table
        if not self.is_dealt or table is None:
            raise GameRejected("the cards are not dealt yet; `cut` first")
        if not rules.is_legal(table, number, chosen):
            raise GameRejected(_why_illegal(table, number, chosen))
        led = table.trick.led
        if led is not None and led not in (rules.suit_of(chosen), *self.lacks[number]):
            self.lacks[number] += led
        self.table = rules.play(table, number, chosen)
        self.moves += 1
        name = text.card_name(chosen)
        return _outcome(f"You play {name}", f"{NAMES[number]} plays {name}", self._after_card())

    def skip(self, seat: Seat) -> Outcome:
        """A player who runs out of time cuts and adds nothing, does not reveal, or plays its first legal card."""
        late = self.fallback(seat)
        assert late is not None
        done = self.play(seat, **late.parameters) if late.name == "play" else getattr(self, late.name)(seat)
        what, *results = done.told
        return Outcome(public=f"{NAMES[self.order.index(seat.id)]}'s time is up; {what.text}", told=tuple(results))

    def _after_draw(self) -> tuple[Told, ...]:
        """Deal as soon as the draw is ready; begin another one if it is void."""
        phase = self.draw.phase
        if phase == "void":
            return (self._void(),)
        if phase != "ready":
            return ()
        deck = self.draw.luck().shuffled(DECK)
        if self.table is None:
            table = rules.deal(deck, FIRST_DEALER, game_points=self.points)
        else:
            table = rules.next_hand(self.table, deck)
        self.table, self.dealt = table, table.hands
        turned = f"{NAMES[table.dealer]} deals hand {table.hand_number} and turns up {text.card_name(table.trump_card)}"
        return (_by_world(f"{turned}; {NAMES[table.turn]} leads"),)

    def _void(self) -> Told:
        """Record a deal that somebody has stopped by not revealing. Its seat cannot do that again in this game."""
        missed = sorted(self.draw.missed)
        self.finished.append(Deal(self.hand_number(), self._next_dealer(), self.draw.proof(), tuple(missed)))
        for seat in missed:
            self.missed[seat] = True
        self._begin_draw()
        who = text.listed([NAMES[seat] for seat in missed])
        return _by_world(
            f"The deal is void, because {who} did not reveal. Cut again; {who} can add nothing in the rest of this game"
        )

    def _after_card(self) -> tuple[Told, ...]:
        """Take a complete trick from the table, and score a complete hand."""
        assert self.table is not None
        complete = self.table
        if complete.phase != "trickComplete":
            return ()
        table = self.table = rules.resolve(complete)
        told = [_by_world(f"{NAMES[complete.turn]} takes the trick. Tricks: {text.by_team(table.tricks_won)}")]
        if table.phase == "playing":
            return tuple(told)
        cards = table.trump_card, self.dealt, table.tricks_won
        self.finished.append(Deal(table.hand_number, table.dealer, self.draw.proof(), (), *cards))
        points = rules.hand_points(table.tricks_won)
        result = text.result_text(table.hand_number, table.tricks_won, points)
        told.append(_by_world(f"{result}. Score: {text.by_team(table.scores)}"))
        if table.winner is not None:
            return (*told, _by_world(f"{TEAMS[table.winner]} win the game"))
        self._begin_draw()
        return tuple(told)

    # -- observing --------------------------------------------------------------------------------
    def observe(self, eye: Eye) -> Observation:
        seen = self._status(eye)
        return Observation(msgspec.to_builtins(seen), text=text.table_text(seen), step=self.moves, text_says_all=True)

    def _status(self, eye: Eye) -> status.Status:
        me = self.order.index(eye.seat) if eye.seat in self.order and eye.sees != "public" else None
        table = self.table if self.is_dealt else None  # the hand that is played now
        dealer = self._next_dealer() if table is None else table.dealer
        hands = [list(hand) for hand in table.hands] if table is not None else [[], [], [], []]
        trick = Trick(rules.next_seat(dealer)) if table is None else table.trick
        return status.Status(
            phase=self._phase(table),
            hand_number=self.hand_number(),
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
            legal=list(rules.legal_cards(table, me)) if table is not None and me is not None else [],
            hands=hands if eye.sees == "all" else None,
        )

    def _phase(self, table: Table | None) -> status.Phase:
        if table is None:
            return "cut" if self.draw.phase == "commit" else "reveal"
        return "gameOver" if table.phase == "gameOver" else "playing"

    def _shown_deal(self) -> status.ShownDeal:
        draw = self.draw
        return status.ShownDeal(
            draw.game, draw.number, draw.commitment, list(draw.cut), list(draw.commitments),
            [nonce is not None for nonce in draw.nonces], list(self.missed),
            sum(1 for hand in self.finished if hand.missed),
        )  # fmt: skip

    def _last_trick(self) -> status.ShownTrick | None:
        if self.table is None or self.table.last_trick is None:
            return None
        return _shown_trick(self.table.last_trick, self.table.trump)

    def _last_hand(self) -> status.ShownHand | None:
        """The result of the hand before; at the end of the game, of the last one."""
        for hand in reversed(self.finished):
            if hand.trump_card is not None and hand.tricks_won is not None:
                won, points = list(hand.tricks_won), list(rules.hand_points(hand.tricks_won))
                return status.ShownHand(hand.hand_number, hand.dealer, rules.suit_of(hand.trump_card), won, points)
        return None

    def hand_number(self) -> int:
        """Of the hand that is played, or of the one that will be dealt."""
        if self.table is None:
            return 1
        return self.table.hand_number if self.is_dealt else self.table.hand_number + 1

    def _next_dealer(self) -> int:
        return FIRST_DEALER if self.table is None else rules.next_seat(self.table.dealer)

    @query()
    def deals(self, eye: Eye) -> list[Deal]:
        """The finished hands and void deals of this game: commitments, secret and nonces, and the cards that follow."""
        return list(self.finished)

    def resample(self, eye: Eye, stream: Stream) -> None:
        """Redraw the hands that the eye does not see, the secret, the nonces of others, and what is dealt next.

        Commitments are public and stay as they are. So the proof of a redrawn deal is wrong: deals are fair because
        nobody can find another secret for a commitment."""
        me = self.order.index(eye.seat) if eye.seat in self.order and eye.sees != "public" else None
        self.secrets = Stream(stream.bits64(), "whist secrets")
        self.draw = self.draw.redrawn(me, stream)
        table = self.table
        if table is None or self.dealt is None:
            return
        seen = range(SEATS) if eye.sees == "all" else [] if me is None else [me]
        hands = redealt(table, seen, self.lacks, stream)
        self.dealt = with_played(hands, table.hands, self.dealt)
        self.table = replace(table, hands=hands)

    # -- results ----------------------------------------------------------------------------------
    def returns(self) -> Mapping[SeatId, float]:
        """By how many points the team of a seat is ahead."""
        if self.table is None or self.table.scores == (0, 0):
            return {}
        ahead = self.table.scores[0] - self.table.scores[1]
        return {seat: float(-ahead if rules.team_of(n) else ahead) for n, seat in enumerate(self.order)}

    def standings(self) -> Sequence[Standing]:
        scores = self.table.scores if self.table is not None else (0, 0)
        best_first = sorted(range(SEATS), key=lambda n: -scores[rules.team_of(n)])
        return [Standing(self.order[n], self.order[n], scores[rules.team_of(n)]) for n in best_first]

    def numbered(self) -> Sequence[Action]:
        return [CUT, *PLAYS.values(), REVEAL]

    def arrays(self) -> Mapping[str, ArraySpec]:
        return {arrays.TABLE: arrays.FORM}

    def array(self, eye: Eye, form: str) -> Any:
        return arrays.table(self._status(eye))


def _why_illegal(table: Table, seat: int, card: str) -> str:
    """The reason why a card is illegal, and the legal ones."""
    if table.phase == "gameOver":
        return "the game is over"
    if seat != table.turn:
        return f"it is {NAMES[table.turn]}'s turn"
    legal = rules.legal_cards(table, seat)
    if card in table.hands[seat]:
        return f"you must follow {SUIT_NAMES[rules.suit_of(legal[0])]}; play one of: {' '.join(legal)}"
    return f"you do not hold {card[:MAX_ECHO_CHARS]!r}; play one of: {' '.join(legal)}"


def _shown_trick(trick: Trick, trump: Suit | None) -> status.ShownTrick:
    best = rules.winning_play(trick, trump)
    plays = [status.ShownPlay(played.seat, played.card) for played in trick.plays]
    return status.ShownTrick(trick.leader, plays, best.seat if best is not None else None)


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
