"""The ``status`` of an observation: the table as an eye sees it, as values with a JSON Schema."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from cohabit.declare import object_schema
from cohabit.worlds.whist.rules import Suit

SeatNumber = Annotated[int, Meta(ge=0, le=3, description="0 north, 1 east, 2 south, 3 west")]
TeamNumber = Annotated[int, Meta(ge=0, le=1, description="0 north and south, 1 east and west")]
CardName = Annotated[
    str,
    Meta(
        pattern="^[CDHS]([2-9]|1[0-4])$",
        description="suit (C, D, H, S) and rank (2 to 10, 11 jack, 12 queen, 13 king, 14 ace)",
    ),
]
Digits = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description="64 hexadecimal digits")]
BySeat = Meta(min_length=4, max_length=4, description="from north to west")
ByTeam = Annotated[list[int], Meta(min_length=2, max_length=2, description="by team")]
Flags = Annotated[list[bool], BySeat]
Phase = Literal["cut", "reveal", "playing", "gameOver"]


class ShownPlay(Struct, frozen=True, rename="camel"):
    """A card on the table."""

    seat: SeatNumber
    card: CardName


class ShownTrick(Struct, frozen=True, rename="camel"):
    """A trick; ``winner`` is the seat whose card is the best so far."""

    leader: SeatNumber
    plays: Annotated[list[ShownPlay], Meta(max_length=4)]
    winner: SeatNumber | None


class ShownDeal(Struct, frozen=True, rename="camel"):
    """The shuffle of this hand, as far as it is public. Secret and nonces are shown after the hand, by ``deals``."""

    game: Annotated[str, Meta(description="what the commitments of this game are bound to")]
    number: Annotated[int, Meta(ge=1, description="of this deal in the game; void deals count")]
    commitment: Annotated[Digits, Meta(description="of the house, to its secret")]
    cut: Annotated[Flags, Meta(description="the seats that have cut, from north to west")]
    commitments: Annotated[
        list[Digits | None], Meta(min_length=4, max_length=4, description="of the seats; null: this seat adds nothing")
    ]
    revealed: Annotated[Flags, Meta(description="the seats that have revealed their nonce")]
    missed: Annotated[Flags, Meta(description="the seats that once did not reveal, and add nothing in this game")]
    voids: Annotated[int, Meta(ge=0, description="how many deals of this game were void")]


class ShownHand(Struct, frozen=True, rename="camel"):
    """The result of the hand before."""

    hand_number: int
    dealer: SeatNumber
    trump: str
    tricks_won: ByTeam
    points: Annotated[ByTeam, Meta(description="the points of each team")]


class Status(Struct, frozen=True, kw_only=True, rename="camel"):
    """The table as an eye sees it. Everything is public except ``myHand``, ``legal`` and ``hands``."""

    phase: Annotated[
        Phase,
        Meta(description="cut: before the deal, all who have not cut are to move; reveal: those who committed are"),
    ]
    hand_number: Annotated[int, Meta(ge=1, description="of this game; before the deal, of the hand to be dealt")]
    dealer: SeatNumber
    turn: Annotated[SeatNumber | None, Meta(description="the seat that is to play; null in other phases")]
    trump: Annotated[Suit | None, Meta(description="null before the deal")]
    trump_card: Annotated[CardName | None, Meta(description="the dealer's last card, which was turned up")]
    trick: Annotated[ShownTrick, Meta(description="on the table now; never four cards, see lastTrick")]
    last_trick: Annotated[
        ShownTrick | None, Meta(description="the last complete trick, also after the last one of a hand")
    ]
    hand_counts: Annotated[list[int], BySeat]
    tricks_won: Annotated[ByTeam, Meta(description="in this hand, by team")]
    scores: ByTeam
    game_points: Annotated[int, Meta(ge=1, description="the score that wins the game")]
    winner: TeamNumber | None
    played: Annotated[list[CardName], Meta(description="played in this hand, sorted, with those on the table")]
    deal: ShownDeal
    last_hand: ShownHand | None
    my_seat: Annotated[SeatNumber | None, Meta(description="the seat from which you look")]
    my_hand: Annotated[list[CardName], Meta(description="of that seat; empty if you have none")]
    legal: Annotated[list[CardName], Meta(description="the cards that seat may play now")]
    hands: Annotated[
        Annotated[list[list[CardName]], BySeat] | None, Meta(description="for eyes that see everything, else null")
    ]


STATUS_SCHEMA = object_schema(Status)
