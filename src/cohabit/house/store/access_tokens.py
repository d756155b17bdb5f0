"""The access tokens that this process has accepted, by hash: of callers who sign in with OAuth.

They are not stored. The identity provider issues them for some minutes, and a process that does not know one verifies
it again. Credentials of the house are in `identities`.
"""

import heapq
from typing import Final

from cohabit.errors import Busy
from cohabit.model.identity import Credential

MAX_EACH: Final = 256
"""The number of valid access tokens that one identity may use at a time."""


class AccessTokens:
    """See the module. They are forgotten when they have expired."""

    def __init__(self) -> None:
        self._tokens: dict[bytes, Credential] = {}
        self._by_identity: dict[str, dict[bytes, Credential]] = {}
        self._ends: list[tuple[int, bytes]] = []  # a heap: when each expires

    def get(self, key: bytes) -> Credential | None:
        return self._tokens.get(key)

    def put(self, token: Credential, at: int) -> None:
        """Add a token that expires, and forget those that have."""
        assert token.expires_at is not None
        self._drop_expired(at)
        held = self._by_identity.get(token.identity, {})
        if token.hash in self._tokens:
            return
        if len(held) >= MAX_EACH:
            raise Busy(f"you use {MAX_EACH} access tokens at a time; use each one until it expires")
        self._tokens[token.hash] = token
        self._by_identity.setdefault(token.identity, {})[token.hash] = token
        heapq.heappush(self._ends, (token.expires_at, token.hash))

    def revoke(self, identity: str) -> None:
        """Revoke all access tokens of an identity. They stay until they expire, so that none is accepted again when the
        identity may sign in again."""
        for token in self._by_identity.get(identity, {}).values():
            token.revoked = True

    def _drop_expired(self, at: int) -> None:
        while self._ends and self._ends[0][0] <= at:
            token = self._tokens.pop(heapq.heappop(self._ends)[1])
            held = self._by_identity[token.identity]
            del held[token.hash]
            if not held:
                del self._by_identity[token.identity]
