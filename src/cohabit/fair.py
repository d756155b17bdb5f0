"""Luck that players can check: commit, then reveal, for cards, dice and whatever else a game draws.

A draw has a secret of the house and a nonce for each seat. Secret and nonces together decide the luck.

1. The house publishes the commitment to its secret.
2. Each seat publishes the commitment to a nonce of its own, or passes. The nonce of a seat that passes follows from the
   secret, so it adds no freedom: neither to the house, whose secret is fixed, nor to anybody else.
3. When every seat has done so, and not before, the seats that committed reveal their nonces.
4. Secret and nonces are published after the game has used the luck, and everybody can check them.

So a player who commits knows that the luck was drawn evenly, even if the house and all other seats work together: all
their values were fixed before anybody but this player knew its nonce. A player who passes knows that no other player
has chosen the luck, but it trusts the house.

A seat that committed and does not reveal makes the draw **void**. No rule can force somebody to reveal, so the game
must make a void draw visible and limit it: publish its proof like the others, and let the seat only pass from then on.
What else a game has to do, and what a draw does not prove, is in ``docs/fair.md``.

Every value is the SHA-256 digest, as 64 hexadecimal digits, of lines joined by line feeds, in UTF-8. The first line is
``cohabit.fair 1``, then come the kind of the digest, the game and the number of the draw, so no value fits anywhere
else.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import count
from re import compile as pattern
from typing import Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from cohabit.errors import GameRejected
from cohabit.model.stream import Stream

T = TypeVar("T")
Phase = Literal["commit", "reveal", "ready", "void"]
VERSION = "cohabit.fair 1"
DIGITS = pattern("[0-9a-f]{64}")


class Promise(Struct, frozen=True, rename="camel"):
    """The part of a draw that is public before the first seat reveals. Note it, and compare it with the proof."""

    game: str
    number: int
    commitment: str  # to the secret of the house
    commitments: tuple[str | None, ...]  # to the nonces of the seats; None: this seat passed


class Proof(Promise, frozen=True, rename="camel"):
    """Everything about a draw, public once the game has used its luck."""

    secret: str
    nonces: tuple[str | None, ...]  # None: this seat committed and did not reveal, so the draw is void

    @property
    def promise(self) -> Promise:
        return Promise(self.game, self.number, self.commitment, self.commitments)


class Draw(Struct, frozen=True):
    """A draw in progress: a plain value that a world keeps in its state. It must not show ``secret`` and ``nonces``."""

    game: str
    number: int
    secret: str
    commitment: str
    commitments: tuple[str | None, ...]
    cut: tuple[bool, ...]  # the seats that have committed or passed
    nonces: tuple[str | None, ...]
    missed: tuple[int, ...] = ()  # the seats that committed and did not reveal

    @classmethod
    def begin(cls, game: str, number: int, seats: int, secret: str) -> "Draw":
        """A draw of which only the secret of the house is fixed.

        ``game`` identifies the game, and ``number`` the draw in this game: use no number twice, and count void draws.
        """
        if not game.isprintable():
            raise ValueError(f"the name of a game must be printable, without line breaks: {game!r}")
        none = (None,) * seats
        return cls(game, number, secret, house_commitment(game, number, secret), none, (False,) * seats, none)

    @property
    def phase(self) -> Phase:
        if not all(self.cut):
            return "commit"
        if self.waits_for():
            return "reveal"
        return "void" if self.missed else "ready"

    def waits_for(self) -> list[int]:
        """The seats that have to commit or pass; if all have, those that have to reveal."""
        if not all(self.cut):
            return [seat for seat, done in enumerate(self.cut) if not done]
        pairs = zip(self.commitments, self.nonces, strict=True)
        return [
            seat
            for seat, (commitment, nonce) in enumerate(pairs)
            if commitment is not None and nonce is None and seat not in self.missed
        ]

    def commit(self, seat: int, commitment: str | None) -> "Draw":
        """The draw after a seat has committed, or passed with None."""
        if self.phase != "commit":
            raise GameRejected("all have committed or passed; it is too late to commit")
        if self.cut[seat]:
            raise GameRejected("you have committed or passed already; wait for the others")
        if commitment is not None and not DIGITS.fullmatch(commitment):
            raise GameRejected("a commitment has 64 hexadecimal digits in lower case; leave it out to add nothing")
        return replace(self, commitments=_put(self.commitments, seat, commitment), cut=_put(self.cut, seat, True))

    def reveal(self, seat: int, nonce: str) -> "Draw":
        """The draw after a seat has revealed its nonce."""
        self._check_reveals(seat)
        if not DIGITS.fullmatch(nonce):
            raise GameRejected("a nonce has 64 hexadecimal digits in lower case")
        if seat_commitment(self.game, self.number, seat, nonce) != self.commitments[seat]:
            raise GameRejected("this is not the nonce that you committed to for this draw and seat")
        return replace(self, nonces=_put(self.nonces, seat, nonce))

    def give_up(self, seat: int) -> "Draw":
        """The draw after a seat has missed its reveal. It is void once all others have revealed or missed theirs."""
        self._check_reveals(seat)
        return replace(self, missed=(*self.missed, seat))

    def _check_reveals(self, seat: int) -> None:
        if self.phase != "reveal" or seat not in self.waits_for():
            raise GameRejected("you have nothing to reveal now")

    @property
    def promise(self) -> Promise:
        """Public at any time, and final as soon as the draw is in phase ``reveal``."""
        return Promise(self.game, self.number, self.commitment, self.commitments)

    def proof(self) -> Proof:
        """Publish it after the game has used the luck, or when the draw is void."""
        if self.phase not in ("ready", "void"):
            raise ValueError(f"the draw is in phase {self.phase}; it can be proved when it is ready or void")
        nonces = tuple(
            passed_nonce(self.game, self.number, seat, self.secret) if commitment is None else nonce
            for seat, (commitment, nonce) in enumerate(zip(self.commitments, self.nonces, strict=True))
        )
        return Proof(self.game, self.number, self.commitment, self.commitments, self.secret, nonces)

    def luck(self) -> "Luck":
        """The same luck at every call. Only a draw that is ready has one."""
        return Luck(self.proof())

    def redrawn(self, seat: int | None, stream: Stream) -> "Draw":
        """The draw as this seat, or a spectator, may imagine it: with another secret, and with the nonces of other
        seats redrawn. It is for ``World.resample``. What was promised stays as it is, so this draw cannot be proved."""
        nonces = tuple(
            nonce if nonce is None or other == seat else draw_secret(stream) for other, nonce in enumerate(self.nonces)
        )
        return replace(self, secret=draw_secret(stream), nonces=nonces)


class Luck:
    """Numbers and orders that follow from a proof, and from nothing else."""

    def __init__(self, proof: Proof) -> None:
        nonces = [nonce for nonce in proof.nonces if nonce is not None]
        if len(nonces) < len(proof.nonces):
            raise ValueError("a void draw has no luck")
        self._bytes = _stream_of_bytes("luck", proof.game, proof.number, proof.secret, *nonces)

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, each equally likely.

        It is made of as few bytes as can hold n - 1, at least one, the highest first. Values from the largest multiple
        of n on would favour small numbers, so they are drawn again.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, not {n}")
        size = max(1, ((n - 1).bit_length() + 7) // 8)
        limit = 256**size - 256**size % n
        while True:
            value = int.from_bytes([next(self._bytes) for _ in range(size)], "big")
            if value < limit:
                return value % n

    def dice(self, how_many: int, sides: int = 6) -> list[int]:
        """Dice, in the order in which they fall."""
        return [self.below(sides) + 1 for _ in range(how_many)]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """The items in a random order: each is taken from those that are left."""
        left = list(items)
        return [left.pop(self.below(n)) for n in range(len(left), 0, -1)]


# -- checking ----------------------------------------------------------------------------------------
def problems(proof: Proof) -> list[str]:
    """The problems of a proof, in words. Empty: every value is the one that was committed to."""
    found = []
    if not DIGITS.fullmatch(proof.secret):
        found.append("the secret does not have 64 hexadecimal digits")
    if house_commitment(proof.game, proof.number, proof.secret) != proof.commitment:
        found.append("the secret is not the one that the house committed to")
    if len(proof.commitments) != len(proof.nonces):
        return [*found, "there must be one nonce for each seat"]
    for seat, (commitment, nonce) in enumerate(zip(proof.commitments, proof.nonces, strict=True)):
        found += _problems_of_seat(proof, seat, commitment, nonce)
    return found


def _problems_of_seat(proof: Proof, seat: int, commitment: str | None, nonce: str | None) -> list[str]:
    if commitment is None:
        if nonce != passed_nonce(proof.game, proof.number, seat, proof.secret):
            return [f"seat {seat} passed, but its nonce does not follow from the secret"]
    elif nonce is None:
        return [f"seat {seat} did not reveal its nonce, so the draw is void"]
    elif not DIGITS.fullmatch(nonce) or seat_commitment(proof.game, proof.number, seat, nonce) != commitment:
        return [f"the nonce of seat {seat} is not the one that it committed to"]
    return []


def broken_promises(proof: Proof, noted: Promise, seat: int, nonce: str) -> list[str]:
    """``problems`` for a player: also what differs from the promise it noted before it revealed its own nonce."""
    found = problems(proof)
    if proof.promise != noted:
        found.append("the commitments are not those that were shown before the reveal")
    if seat >= len(proof.nonces) or proof.nonces[seat] != nonce:
        found.append("your own nonce is not in it")
    return found


# -- digests -----------------------------------------------------------------------------------------
def draw_secret(stream: Stream) -> str:
    """A secret or a nonce of 256 bits. It says nothing about other values of the stream, or about its seed."""
    return "".join(f"{stream.bits64():016x}" for _ in range(4))


def house_commitment(game: str, number: int, secret: str) -> str:
    """The commitment of the house to its secret."""
    return _digest("house", game, number, secret)


def seat_commitment(game: str, number: int, seat: int, nonce: str) -> str:
    """The commitment of a seat to its nonce, such as ``secrets.token_hex(32)``. Seats are counted from 0."""
    return _digest("seat", game, number, seat, nonce)


def passed_nonce(game: str, number: int, seat: int, secret: str) -> str:
    """The nonce of a seat that passed."""
    return _digest("passed", game, number, seat, secret)


def _digest(*lines: str | int) -> str:
    return sha256("\n".join(map(str, (VERSION, *lines))).encode()).hexdigest()


def _stream_of_bytes(*lines: str | int) -> Iterator[int]:
    """The digests of the lines with 0, 1, 2, … as one more line."""
    for block in count():
        yield from bytes.fromhex(_digest(*lines, block))


def _put(values: Sequence[T], place: int, value: T) -> tuple[T, ...]:
    return (*values[:place], value, *values[place + 1 :])
