"""Fair deals that anybody can check.

Before a hand the house publishes the SHA-256 digest of a secret: its commitment. Then each seat adds a nonce. Secret
and nonces together decide the order of the cards, so neither the house nor a player can choose it, and after the hand
both are public.

The order is exactly this, a shuffle as Fisher and Yates described it. ``lines`` is the secret, the number of the hand
and the four nonces from north to west, joined by line feeds. The SHA-256 digests of ``lines``, a line feed and ``0``,
then ``1``, ``2``, …, as UTF-8, are a stream of bytes. The deck begins as C2 … C14, D2 … D14, H2 … H14, S2 … S14. While
``n`` cards are left, bytes are taken from the stream until one is below the largest multiple of ``n`` up to 256, and
card ``byte mod n`` of them, counted from 0, is dealt next. So every order is equally likely.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count

from msgspec import Struct

from cohabit.model.stream import Stream
from cohabit.worlds.whist.rules import DECK, ByTeam, Card, Hands

MAX_NONCE = 64
"""Characters of a nonce."""
SECRET_WORDS = 4
"""A secret has 256 bits."""


class Deal(Struct, frozen=True, rename="camel"):
    """A finished hand, with everything that is needed to check its deal."""

    hand_number: int
    dealer: int
    commitment: str
    secret: str
    nonces: tuple[str, str, str, str]
    trump_card: Card
    hands: Hands  # as they were dealt, from north to west
    tricks_won: ByTeam


def draw_secret(stream: Stream) -> str:
    """A secret as 64 hexadecimal digits. It says nothing about the other secrets of the stream, or its seed."""
    return "".join(f"{stream.bits64():016x}" for _ in range(SECRET_WORDS))


def commitment_of(secret: str) -> str:
    """The commitment that the house publishes before the deal."""
    return sha256(secret.encode()).hexdigest()


def is_nonce(text: str) -> bool:
    """True if a text can be a nonce. Line breaks are not allowed, so that joined nonces are unambiguous."""
    return len(text) <= MAX_NONCE and text.isprintable()


def shuffled_deck(secret: str, hand_number: int, nonces: Sequence[str]) -> list[Card]:
    """The cards in the order of the deal."""
    left, drawn = list(DECK), _bytes("\n".join([secret, str(hand_number), *nonces]))
    return [left.pop(_below(n, drawn)) for n in range(len(DECK), 0, -1)]


def _below(n: int, drawn: Iterator[int]) -> int:
    """A number from 0 to n - 1. Bytes that would favour small numbers are left out."""
    return next(byte for byte in drawn if byte < 256 - 256 % n) % n


def _bytes(lines: str) -> Iterator[int]:
    for number in count():
        yield from sha256(f"{lines}\n{number}".encode()).digest()
