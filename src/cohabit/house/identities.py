"""The identities, credentials and invites of a house, in memory.

Only hashes of tokens are kept; a token is shown once, when it is made. What changes here is stored by the caller,
through the writer.
"""

import logging
import secrets
import string
from collections.abc import Callable, Iterable
from hashlib import sha256

from msgspec import structs

from cohabit.errors import Unauthorized
from cohabit.model.identity import Credential, Identity, Invite, Kind

log = logging.getLogger("cohabit")
ALPHABET = string.ascii_letters + string.digits
TOKEN_LENGTH = 48
TEMPORARY = "temporary"
"""The label of tokens that are not stored."""


def make_token() -> str:
    """48 random letters and digits."""
    made = ""
    while len(made) < TOKEN_LENGTH:  # bytes from 248 on would favour the first letters
        made += "".join(ALPHABET[byte % 62] for byte in secrets.token_bytes(64) if byte < 248)
    return made[:TOKEN_LENGTH]


def hashed(token: str) -> bytes:
    """Tokens are long and random, so one round of SHA-256 is enough."""
    return sha256(token.encode("utf-8", "replace")).digest()


def new_identity(name: str, kind: Kind = "agent", owner: str | None = None, host: bool = False) -> Identity:
    return Identity(f"i-{secrets.token_hex(8)}", name, kind, owner, host)


class Identities:
    """See the module."""

    def __init__(
        self,
        identities: Iterable[Identity] = (),
        credentials: Iterable[Credential] = (),
        invites: Iterable[Invite] = (),
    ) -> None:
        self._identities = {identity.id: identity for identity in identities}
        self._credentials = {credential.hash: credential for credential in credentials}
        self._invites: dict[bytes, Invite] = {}
        self._watchers: dict[bytes, list[Callable[[], None]]] = {}
        for invite in invites:
            self.put_invite(invite)

    # -- who is it --------------------------------------------------------------------------------
    def identify(self, token: str | None, at: int) -> Credential:
        """The credential behind a token, or UNAUTHORIZED. The message never repeats the token.

        The holder of an invite gets a credential without an identity: it can accept the invite, and nothing else.
        """
        if not token:
            raise Unauthorized("no credential: send it as 'Authorization: Bearer TOKEN'")
        found = self._credentials.get(hashed(token))
        if found is None:
            raise Unauthorized("this token is not known here; ask your host for one")
        return self.check(found, at)

    def check(self, credential: Credential, at: int) -> Credential:
        """The same credential, unless it was revoked or has expired."""
        if credential.revoked:
            raise Unauthorized("this token was revoked; ask your host for a new one")
        if credential.expires_at is not None and at >= credential.expires_at:
            raise Unauthorized("this token has expired; ask your host for a new one")
        return credential

    def knows(self, token: str) -> bool:
        """Does this token belong to somebody?"""
        found = self._credentials.get(hashed(token))
        return found is not None and not found.revoked

    def get(self, identity: str) -> Identity | None:
        return self._identities.get(identity)

    def is_host(self, credential: Credential) -> bool:
        """Is it a credential of a host of this house, good in every room?"""
        found = self._identities.get(credential.identity)
        return found is not None and found.host and credential.room is None

    def invite_of(self, credential: Credential) -> Invite | None:
        """The invite that a credential without an identity is for."""
        return self._invites.get(credential.hash) if not credential.identity else None

    def everybody(self) -> list[Identity]:
        return list(self._identities.values())

    def temporary(self, identity: Identity, room: str | None, at: int, for_ms: int | None = None) -> str:
        """A token that is good as long as this house runs, and is not stored."""
        self._identities.setdefault(identity.id, identity)
        token = make_token()
        expires = at + for_ms if for_ms is not None else None
        self.put_credential(Credential(hashed(token), identity.id, room, TEMPORARY, at, expires))
        return token

    # -- changes ----------------------------------------------------------------------------------
    def put(self, identity: Identity) -> None:
        self._identities[identity.id] = identity

    def put_credential(self, credential: Credential) -> None:
        self._credentials[credential.hash] = credential

    def drop_credential(self, credential: Credential) -> None:
        """Forget a credential that could not be stored."""
        self._credentials.pop(credential.hash, None)

    def put_invite(self, invite: Invite) -> None:
        """Know an invite. As long as it can be accepted, its token authenticates nobody but opens the door."""
        self._invites[invite.hash] = invite
        known = self._credentials.get(invite.hash)
        if known is None:
            known = self._credentials[invite.hash] = Credential(
                invite.hash, "", invite.room, created_at=invite.created_at, expires_at=invite.expires_at
            )
        if not known.identity and (invite.revoked or invite.uses < 1):
            self.revoke([known])

    def take_use(self, invite: Invite, uses: int = 1) -> Invite:
        """Take a use of an invite that is being accepted, so that nobody else gets it; -1 gives it back."""
        left = structs.replace(self._invites[invite.hash], uses=self._invites[invite.hash].uses - uses)
        self._invites[invite.hash] = left
        return left

    def invites_to(self, room: str, at: int) -> list[Invite]:
        """The invites to a room that can still be accepted."""
        return [
            i
            for i in self._invites.values()
            if i.room == room and not i.revoked and i.uses > 0 and (i.expires_at is None or at < i.expires_at)
        ]

    def is_of_house(self, identity: str) -> bool:
        """Does this identity have, or did it ever have, a token for the whole house?"""
        return any(c.identity == identity and c.room is None for c in self._credentials.values())

    def all_credentials(self) -> list[Credential]:
        return [credential for credential in self._credentials.values() if credential.identity]

    def of(self, identity: str, room: str | None) -> list[Credential]:
        """The credentials of an identity that work in just this room, or (None) in all."""
        return [c for c in self._credentials.values() if c.identity == identity and c.room == room and not c.revoked]

    def revoke(self, credentials: Iterable[Credential]) -> list[Credential]:
        """Make credentials worthless at once; those that were not before. The caller stores them."""
        changed = [credential for credential in credentials if not credential.revoked]
        for credential in changed:
            credential.revoked = True
            self._tell_revoked(credential)
        return changed

    def _tell_revoked(self, credential: Credential) -> None:
        for tell in self._watchers.pop(credential.hash, []):
            try:
                tell()
            except Exception:  # the other streams of this credential must end all the same
                log.exception("a stream could not be told that its credential was revoked")

    def forget_room(self, room: str) -> None:
        """A room was deleted, and with it its credentials and its invites: another one may get its id."""
        gone = [credential for credential in self._credentials.values() if credential.room == room]
        self.revoke(gone)
        for credential in gone:
            del self._credentials[credential.hash]
            self._invites.pop(credential.hash, None)

    def watch(self, credential: Credential, tell: Callable[[], None]) -> Callable[[], None]:
        """Have ``tell`` called when the credential is revoked. Returns what stops that."""
        watchers = self._watchers.setdefault(credential.hash, [])
        watchers.append(tell)

        def stop() -> None:
            if tell in watchers:
                watchers.remove(tell)
            if not watchers and self._watchers.get(credential.hash) is watchers:
                del self._watchers[credential.hash]

        return stop
