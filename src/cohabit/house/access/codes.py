"""Proofs of newcomers: a code, short enough to say and stored as a salted hash, or a key, by answering a challenge."""

import hashlib
import hmac
import secrets
from hashlib import sha256

from cohabit.house.clock import Clock
from cohabit.model.admission import same_code

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Without I, L, O, 0 and 1, which look alike."""
GROUPS, GROUP_SIZE = 3, 3
"""31^9 codes: too many to guess, even from very many addresses."""
MIN_CHOSEN = 8
"""The fewest letters and digits of a code that a host chooses."""
MAX_CALLERS = 20_000
"""The number of callers that are counted at the same time; the oldest are forgotten."""
LIFE_MS = 300_000
"""The time that a challenge is valid."""


def make_code() -> str:
    """A random code, such as ``K7M-2QX-9RD``."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(GROUP_SIZE)) for _ in range(GROUPS))


def hash_code(code: str) -> str:
    """A salted hash. It is slow on purpose, because a code is short."""
    salt = secrets.token_bytes(12)
    return f"{salt.hex()}:{_derived(code, salt).hex()}"


def matches(code: str, stored: str) -> bool:
    """True if this is the code. Takes constant time. Blank codes never match, nor does any code if none is stored."""
    salt, _, expected = stored.partition(":")
    if not same_code(code) or not expected:
        return False
    return hmac.compare_digest(_derived(code, bytes.fromhex(salt)), bytes.fromhex(expected))


def _derived(code: str, salt: bytes) -> bytes:
    return hashlib.scrypt(same_code(code).encode("utf-8", "replace"), salt=salt, n=2**12, r=8, p=1, dklen=32)


class Attempts:
    """Counts something per room and caller: after ``limit`` of them within ``window_ms``, no more are allowed until the
    window is over. Then a new window begins. One caller cannot use up what others may do."""

    def __init__(self, clock: Clock, limit: int, window_ms: int) -> None:
        self._clock = clock
        self._limit = limit
        self._window_ms = window_ms
        self._windows: dict[tuple[str, str], tuple[int, int]] = {}  # when the window ends, and the count

    def _window(self, room: str, caller: str) -> tuple[int, int]:
        """The end of the current window of a caller, and the count in it."""
        now = self._clock.now()
        ends, count = self._windows.get((room, caller), (now, 0))
        return (ends, count) if now < ends else (now + self._window_ms, 0)

    def is_exhausted(self, room: str, caller: str = "", limit: int | None = None) -> bool:
        """``limit``: a lower one than usual."""
        _, count = self._window(room, caller)
        return count >= (self._limit if limit is None else limit)

    def add(self, room: str, caller: str = "") -> None:
        """Count an attempt. The one that reaches the limit restarts the window: a lockout lasts a full window."""
        ends, count = self._window(room, caller)
        count += 1
        self._windows.pop((room, caller), None)  # so that the oldest come first
        if len(self._windows) >= MAX_CALLERS:
            self._make_space()
        ends = self._clock.now() + self._window_ms if count == self._limit else ends
        self._windows[room, caller] = (ends, count)

    def _make_space(self) -> None:
        now = self._clock.now()
        self._windows = {who: window for who, window in self._windows.items() if now < window[0]}
        if len(self._windows) >= MAX_CALLERS:
            del self._windows[next(iter(self._windows))]

    def forget(self, room: str) -> None:
        """The room was deleted."""
        self._windows = {who: window for who, window in self._windows.items() if who[0] != room}


class Challenges:
    """Challenges for agents that prove that they have a key. Each is for one room, for a short time, and for one use.

    A challenge carries its own time and an HMAC, so that issuing one needs no memory: nobody can fill it up. Only those
    that were used are remembered, until they expire.
    """

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
