"""Challenges for agents that prove that they have a key. Each is for one room, for a short time, and for one use.

A challenge carries its own time and an HMAC, so that issuing one needs no memory: nobody can fill it up. Only those
that were used are remembered, until they expire.
"""

import hmac
import secrets
from hashlib import sha256

from cohabit.house.clock import Clock

LIFE_MS = 300_000


class Challenges:
    """See the module."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._used: dict[str, int] = {}  # and when they expire

    def issue(self, room: str) -> str:
        """A new challenge, in hexadecimal digits."""
        start = self._clock.now().to_bytes(8, "big") + secrets.token_bytes(8)
        return (start + self._mac(room, start)).hex()

    def is_fresh(self, challenge: str, room: str) -> bool:
        """True if it was issued for this room, has not expired, and was not used."""
        try:
            given = bytes.fromhex(challenge)
        except ValueError:
            return False
        start, mac = given[:16], given[16:]
        if given.hex() != challenge or not hmac.compare_digest(mac, self._mac(room, start)):
            return False
        age = self._clock.now() - int.from_bytes(start[:8], "big")
        return 0 <= age < LIFE_MS and challenge not in self._used

    def use(self, challenge: str) -> None:
        """Remember that it was used."""
        now = self._clock.now()
        for old in [known for known, ends in self._used.items() if ends <= now]:
            del self._used[old]
        self._used[challenge] = now + LIFE_MS

    def _mac(self, room: str, start: bytes) -> bytes:
        return hmac.digest(self._secret, room.encode("utf-8", "replace") + b"|" + start, sha256)[:16]
