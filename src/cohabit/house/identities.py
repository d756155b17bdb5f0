"""Credentials: whose token is this? Only hashes are kept; a token is shown once, when it is made."""

import secrets
import string
from hashlib import sha256

from cohabit.errors import Unauthorized
from cohabit.house.store import Credential, Store

ALPHABET = string.ascii_letters + string.digits
TOKEN_LENGTH = 48


def make_token() -> str:
    """48 random letters and digits."""
    made = ""
    while len(made) < TOKEN_LENGTH:  # bytes from 248 on would favour the first letters
        made += "".join(ALPHABET[byte % 62] for byte in secrets.token_bytes(64) if byte < 248)
    return made[:TOKEN_LENGTH]


def hashed(token: str) -> bytes:
    """Tokens are long and random, so one round of SHA-256 is all the hiding they need."""
    return sha256(token.encode("utf-8", "replace")).digest()


class Identities:
    """Every credential of a house, by the hash of its token."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._by_hash: dict[bytes, Credential] = {}
        self._version = -1
        self.refresh()

    def refresh(self) -> None:
        """Take over what somebody else (the command line) changed in the store."""
        version = self._store.credentials_version()
        if version == self._version:
            return
        self._version = version
        for fresh in self._store.credentials():
            known = self._by_hash.get(fresh.hash)
            if known is None:
                self._by_hash[fresh.hash] = fresh
            else:  # keep the object: open connections hold it
                known.revoked, known.expires_at = fresh.revoked, fresh.expires_at

    def identify(self, token: str | None, at: int) -> Credential:
        """The credential behind a token, or UNAUTHORIZED. The message never repeats the token."""
        if not token:
            raise Unauthorized("no credential: send it as 'Authorization: Bearer TOKEN'")
        key = hashed(token)
        found = self._by_hash.get(key)
        if found is None:
            self.refresh()
            found = self._by_hash.get(key)
        if found is None:
            raise Unauthorized("this token is not known here; ask your host for one")
        return self.still_good(found, at)

    def knows(self, token: str) -> bool:
        """Is this somebody's token that still works?"""
        self.refresh()
        found = self._by_hash.get(hashed(token))
        return found is not None and not found.revoked

    def still_good(self, credential: Credential, at: int) -> Credential:
        """The same credential, unless it was revoked or has run out meanwhile."""
        if credential.revoked:
            raise Unauthorized("this token was revoked; ask your host for a new one")
        if credential.expires_at is not None and at >= credential.expires_at:
            raise Unauthorized("this token has expired; ask your host for a new one")
        return credential

    def add(
        self, who: str, *, at: int, token: str | None = None, kind: str = "agent", room: str | None = None,
        host: bool = False, label: str = "", expires_at: int | None = None,
    ) -> str:  # fmt: skip
        """Make a credential; its token, which is kept nowhere."""
        token = token or make_token()
        made = Credential(hashed(token), who, kind, room, host, label, at, expires_at)
        self._store.put_credential(made)
        self.know(made)
        return token

    def know(self, credential: Credential) -> None:
        """Take over a credential that is in the store."""
        self._by_hash[credential.hash] = credential

    def of(self, who: str, room: str | None) -> list[Credential]:
        return [c for c in self._by_hash.values() if c.who == who and c.room == room and not c.revoked]

    def revoke(self, who: str, room: str | None) -> int:
        """Make every token of somebody worthless; how many there were."""
        gone = self.of(who, room)
        for credential in gone:
            credential.revoked = True
            self._store.put_credential(credential)
        return len(gone)

    def rotate(self, who: str, room: str | None, at: int) -> str:
        """A new token in place of all the old ones, for as long as the newest of them would have been good."""
        old = self.of(who, room)
        if not old:
            raise Unauthorized(f"{who} has no token here to replace")
        self.revoke(who, room)
        last = old[-1]
        return self.add(
            who, at=at, kind=last.kind, room=room, host=last.host, label=last.label, expires_at=last.expires_at
        )
