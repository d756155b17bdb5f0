"""The identities, credentials and invites of a house, in memory.

Only hashes of tokens are kept; a token is shown once, when it is created. The caller stores changes through the
writer.
"""

import logging
import secrets
import string
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

from msgspec import structs

from cohabit.errors import PermissionDenied, Unauthorized
from cohabit.house.clock import DAY_MS, Clock
from cohabit.house.store.access_tokens import AccessTokens
from cohabit.house.store.contract import Write
from cohabit.model.identity import Credential, Ended, Identity, Invite, Kind
from cohabit.room.decide import by_credential
from cohabit.room.decision import refusal

log = logging.getLogger("cohabit")
ALPHABET = string.ascii_letters + string.digits
TOKEN_LENGTH = 48
CODE_LENGTH = 24
"""Of the code in a link, which stands for the token of an invite: 142 bits, and a small QR code."""
USED_UP = "this invite has been used up; ask your host for a new one"
TEMPORARY = "temporary"
"""The label of tokens that are not stored."""
HOUSE_AWAY = 0
"""The time after which such a token expires while its house is away. If the house comes back, it is valid again."""
OWN_DATA = ("my_data", "forget_me")
"""The commands that the token of somebody who has left can still call."""
OWN_DATA_MS = 30 * DAY_MS
"""For how long."""
ENDED: Mapping[Ended, str] = {
    "left": "you have left this room; to come back, ask a host for a new invite",
    "removed": "you were removed from this room; ask a host for a new invite",
    "blocked": "you were removed from this room and blocked; a host can unblock you",
}
FOR_A_PERSON = "link for a person"
"""The label of a token in the link that the creator of a sealed room gives to a person. `join` replaces it."""
WATCH_LINK = "link to watch"
"""The label of a token that everybody may know. It changes nothing, so that nobody takes it away from the others."""
SIGN_IN_REVOKED = "a host of this house has revoked your access; ask a host to allow your sign-in again"
OPERATOR = Identity("i-operator", "operator", "human", host=True)
"""The owner of the data folder."""


def make_token() -> str:
    """48 random letters and digits."""
    made = ""
    while len(made) < TOKEN_LENGTH:  # reject bytes >= 248, which would bias the result
        made += "".join(ALPHABET[byte % 62] for byte in secrets.token_bytes(64) if byte < 248)
    return made[:TOKEN_LENGTH]


def hashed(token: str) -> bytes:
    """Tokens are long and random, so one round of SHA-256 is enough."""
    return sha256(token.encode("utf-8", "replace")).digest()


def new_identity(name: str, kind: Kind = "agent", owner: str | None = None, host: bool = False) -> Identity:
    return Identity(f"i-{secrets.token_hex(8)}", name, kind, owner, host)


def _invalid_invite(invite: Invite, credential: Credential) -> Unauthorized:
    """The reason why the token of an invite is not valid. Its holder may know: nobody can guess such a token."""
    if invite.revoked:
        return Unauthorized("this invite was revoked; ask your host for a new one")
    if credential.identity:  # it became the token of a member
        return Unauthorized("this token was revoked, and its invite has been used up; ask your host for a new one")
    if invite.uses < 1:
        return Unauthorized(USED_UP)
    return Unauthorized("this invite has expired; ask your host for a new one")


class Identities:
    """See the module."""

    def __init__(
        self,
        identities: Iterable[Identity] = (),
        credentials: Iterable[Credential] = (),
        invites: Iterable[Invite] = (),
    ) -> None:
        self._identities = {identity.id: identity for identity in identities}
        self._credentials: dict[bytes, Credential] = {}
        self._by_identity: dict[str, dict[bytes, Credential]] = {}  # the same: a house can have very many
        self._invites: dict[bytes, Invite] = {}
        self._codes: dict[bytes, bytes] = {}  # the token that a code in a link stands for; both as hashes
        self._watchers: dict[bytes, list[Callable[[], None]]] = {}  # by `counted_as` of their credentials
        self.access_tokens = AccessTokens()
        self._unused: dict[bytes, bytes] = {}  # a token that was not used yet, by the one that it replaces; hashes
        self.on_temporary: Callable[[], None] = lambda: None  # a token was made that is not stored
        self.on_used: Callable[[list[Credential]], None] = lambda changed: None
        """A token is used for the first time, so another one has ended. The credentials have to be stored."""
        for credential in credentials:
            self.put_credential(credential)
            if credential.instead_of and not credential.revoked:
                self._unused[credential.instead_of] = credential.hash
        for invite in invites:
            self.put_invite(invite)

    # -- lookup --------------------------------------------------------------------------------
    def identify(self, token: str | None, at: int) -> Credential:
        """The credential behind a token, or UNAUTHORIZED. The message never repeats the token.

        The token of an invite gets a credential without an identity, which can only accept the invite.
        """
        if not token:
            raise Unauthorized("missing token: send 'Authorization: Bearer TOKEN'")
        key = sha256(token.encode("utf-8", "replace")).digest()  # inlined `hashed`
        found = self._credentials.get(key) or self.access_tokens.get(key) or self._with_code(key)
        if found is None:
            raise Unauthorized("invalid token; ask your host for one")
        if found.revoked or found.expires_at is not None or found.instead_of:
            return self.check(found, at)
        return found

    def check(self, credential: Credential, at: int) -> Credential:
        """Return the credential, or raise UNAUTHORIZED if it was revoked or has expired."""
        if self._is_unused(credential):
            self.on_used(self._used(credential))
        decision = by_credential(credential, at)
        if decision.code:
            if credential.oauth and not credential.revoked:
                raise Unauthorized("your access token has expired; refresh it, or sign in again")
            if credential.ended:
                now = self._still_valid(credential, at)
                raise Unauthorized(f"this token was revoked: {ENDED[credential.ended]}. {now}")
            invite = self._invites.get(credential.hash)
            raise refusal(decision) if invite is None else _invalid_invite(invite, credential)
        return credential

    def for_own_data(self, token: str | None, at: int) -> Credential | None:
        """A credential for one call in ``OWN_DATA``, which is not registered, if somebody who has left calls with the
        token that it had. It has no other one, and the token was not revoked before."""
        found = self.find(token) if token else None
        if found is None or not self._is_for_own_data(found, at):
            return None
        return structs.replace(found, revoked=False)

    def with_hash(self, token_hash: bytes, at: int, command: str) -> Credential:
        """The credential with this hash, for one call that another node has identified."""
        found = self._credentials.get(token_hash) or self.access_tokens.get(token_hash)
        if found is None:
            raise Unauthorized("invalid token; ask your host for one")
        if command in OWN_DATA and self._is_for_own_data(found, at):
            return structs.replace(found, revoked=False)
        return self.check(found, at)

    def _is_for_own_data(self, credential: Credential, at: int) -> bool:
        is_over = credential.expires_at is not None and at >= credential.expires_at
        return bool(credential.ended) and not is_over and not self.of(credential.identity, credential.room)

    def _still_valid(self, credential: Credential, at: int) -> str:
        if self._is_for_own_data(credential, at):
            return "With it you can still see and delete your data (`my_data` and `forget_me`, over HTTP)"
        return "A host of the house can show and delete your data"

    def find(self, token: str) -> Credential | None:
        """The credential that a token belongs to, valid or not."""
        key = hashed(token)
        return self._credentials.get(key) or self.access_tokens.get(key) or self._with_code(key)

    def _with_code(self, key: bytes) -> Credential | None:
        """The credential of an invite, by the hash of the code in its link."""
        return self._credentials.get(self._codes.get(key, b""))

    def hash_of(self, token: str) -> bytes:
        """The hash by which a token is known: of the invite, if it is the code in a link."""
        key = hashed(token)
        return self._codes.get(key, key)

    def knows(self, token: str) -> bool:
        """True if this token is in use."""
        found = self.find(token)
        return found is not None and not found.revoked

    def with_hashes(self, hashes: Iterable[bytes]) -> list[Credential]:
        """Those that are known of these credentials, valid or not."""
        return [self._credentials[each] for each in hashes if each in self._credentials]

    def get(self, identity: str) -> Identity | None:
        return self._identities.get(identity)

    def is_host(self, credential: Credential) -> bool:
        """True if it is the house-wide credential of a house host."""
        found = self._identities.get(credential.identity)
        return found is not None and found.host and credential.room is None

    def invite_with(self, token: str) -> Invite | None:
        """The invite whose token this is: pending, used, expired or revoked."""
        return self._invites.get(self.hash_of(token))

    def invite_of(self, credential: Credential) -> Invite | None:
        """The invite that a credential without an identity is for."""
        return self._invites.get(credential.hash) if not credential.identity else None

    def everybody(self) -> list[Identity]:
        return list(self._identities.values())

    def temporary(self, identity: Identity, room: str | None, at: int, for_ms: int | None = None) -> str:
        """A token that is valid while this house runs, and is not stored."""
        self._identities.setdefault(identity.id, identity)
        token = make_token()
        expires = at + for_ms if for_ms is not None else None
        self.put_credential(Credential(hashed(token), identity.id, room, TEMPORARY, at, expires))
        self.on_temporary()
        return token

    # -- signing in ---------------------------------------------------------------------------------
    def has_account(self, identity: str) -> bool:
        """True if an identity has signed in with OAuth before, also if it may not do so any more."""
        return any(c.oauth for c in self._of(identity))

    def may_sign_in(self, identity: str) -> bool:
        return any(c.oauth and not c.revoked for c in self._of(identity))

    def allowed_again_at(self, identity: str) -> int:
        """The time at which a host lifted a revocation of this account; 0 if there was none. Not every process has seen
        the access tokens from before, so they are refused by their age."""
        accounts = [c for c in self._of(identity) if c.oauth]
        return max((c.created_at for c in accounts), default=0) if any(c.revoked for c in accounts) else 0

    def accept(self, token: Credential, at: int) -> None:
        """Register an access token that was verified, until it expires."""
        if not self.may_sign_in(token.identity):
            raise PermissionDenied(SIGN_IN_REVOKED)
        self.access_tokens.put(token, at)

    # -- changes ----------------------------------------------------------------------------------
    def put(self, identity: Identity) -> None:
        self._identities[identity.id] = identity

    def put_credential(self, credential: Credential) -> None:
        self._credentials[credential.hash] = credential
        self._by_identity.setdefault(credential.identity, {})[credential.hash] = credential

    def drop_credential(self, credential: Credential) -> None:
        """Forget a credential that could not be stored, or whose room was deleted."""
        self._credentials.pop(credential.hash, None)
        self._unlink(credential)
        if self._is_unused(credential):
            self.drop_unused(credential.instead_of)

    def _unlink(self, credential: Credential) -> None:
        held = self._by_identity.get(credential.identity, {})
        held.pop(credential.hash, None)
        if not held:
            self._by_identity.pop(credential.identity, None)

    def put_invite(self, invite: Invite) -> None:
        """Register an invite. Until it is accepted, its token has no identity and can only call join."""
        self._invites[invite.hash] = invite
        if invite.code:
            self._codes[invite.code] = invite.hash
        known = self._credentials.get(invite.hash)
        if known is None:
            known = Credential(invite.hash, "", invite.room, WATCH_LINK if invite.watches else "", invite.created_at,
                               invite.expires_at)  # fmt: skip
            self.put_credential(known)
        if not known.identity and (invite.revoked or (invite.uses < 1 and self.unused_of(invite.hash) is None)):
            self.revoke([known])

    def put_unused(self, credential: Credential) -> None:
        """Register a token that was made instead of that of an invite with one use, or of the link of a person. The
        reply that has the new one may be lost, so `join` makes another until the new one is used."""
        self._unused[credential.instead_of] = credential.hash
        self.put_credential(credential)

    def drop_unused(self, instead_of: bytes) -> None:
        """The token that was made for an invite or a link is replaced."""
        self._unused.pop(instead_of, None)

    def unused_of(self, instead_of: bytes) -> Credential | None:
        """The token that was made for an invite or a link, if it was never used."""
        return self._credentials.get(self._unused.get(instead_of, b""))

    def _is_unused(self, credential: Credential) -> bool:
        """True if the token that it replaces ends when it is used, or ends itself."""
        return self._unused.get(credential.instead_of) == credential.hash

    def _used(self, credential: Credential) -> list[Credential]:
        """It is used, or ends: so does the token that it replaces. Returns what has changed, for the store."""
        known = self._credentials.get(credential.instead_of)
        self.drop_unused(credential.instead_of)
        credential.instead_of = b""
        # What is stored of an invite says by itself that it is used up.
        ended = [one for one in self.revoke([known] if known is not None else []) if one.identity]
        return [credential, *ended]

    def take_use(self, invite: Invite, uses: int = 1) -> Invite:
        """Take a use of an invite that is being accepted, so no other caller gets it; -1 returns it."""
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

    def all_invites(self, room: str) -> list[Invite]:
        """Every invite to a room: pending, used, expired or revoked; in the order in which they were made."""
        made = (invite for invite in self._invites.values() if invite.room == room)
        return sorted(made, key=lambda invite: invite.created_at)

    def is_of_house(self, identity: str) -> bool:
        """True if this identity has, or ever had, a house-wide token."""
        return any(c.room is None for c in self._of(identity))

    def all_credentials(self) -> list[Credential]:
        """Every credential of an identity, in the order in which they were made."""
        return sorted((c for c in self._credentials.values() if c.identity), key=lambda c: c.created_at)

    def of(self, identity: str, room: str | None) -> list[Credential]:
        """The credentials of an identity for this room, or, if None, the house-wide ones."""
        return [c for c in self._of(identity) if c.room == room and not c.revoked]

    def _of(self, identity: str) -> list[Credential]:
        """All credentials of an identity, also revoked ones."""
        return [c for c in self._by_identity.get(identity, {}).values() if c.identity == identity]

    def revoke(self, credentials: Iterable[Credential]) -> list[Credential]:
        """Revoke credentials. Returns those that were not already revoked; the caller stores them."""
        changed = [credential for credential in credentials if not credential.revoked]
        for credential in changed:
            credential.revoked = True
            self._notify_revoked(credential.counted_as)
            if self._is_unused(credential):
                self._used(credential)
            if credential.oauth and not self.may_sign_in(credential.identity):
                self.access_tokens.revoke(credential.identity)
                self._notify_revoked(credential.identity.encode())
        return changed

    def end(self, identity: str, room: str, why: Ended, at: int) -> list[Credential]:
        """Revoke the credentials of somebody who is no longer in a room, who can still see and delete its data with
        them, but not with earlier ones. Returns what has changed; the caller stores it."""
        held = self.of(identity, room)
        before = [c for c in self._of(identity) if c.room == room and c.ended] if held else []
        for credential in before:
            credential.ended = ""
        for credential in held:
            credential.ended = why
            credential.expires_at = min(at + OWN_DATA_MS, credential.expires_at or at + OWN_DATA_MS)
        return [*before, *self.revoke(held)]

    def _notify_revoked(self, key: bytes) -> None:
        for callback in self._watchers.pop(key, []):
            try:
                callback()
            except Exception:  # the other streams of this credential must end anyway
                log.exception("a stream could not be notified that its credential was revoked")

    def forget(self, identity: str) -> None:
        """Forget an identity, its credentials and its access tokens."""
        for credential in self._of(identity):
            self.revoke([credential])
            self.drop_credential(credential)
        self._by_identity.pop(identity, None)
        self._identities.pop(identity, None)

    def forget_room(self, room: str) -> None:
        """Forget the credentials and invites of a deleted room: a new room may get its id."""
        gone = [credential for credential in self._credentials.values() if credential.room == room]
        self.revoke(gone)
        for credential in gone:
            self.drop_credential(credential)
        for invite in self.all_invites(room):  # its token may have been forgotten, with the identity that joined
            del self._invites[invite.hash]
            self._codes.pop(invite.code, None)

    def apply(self, change: Write) -> None:
        """Apply what another process of this house has stored. What was revoked stays revoked."""
        for identity in change.forget:
            self.forget(identity)
        for one in change.identities:
            self.put(one)
        for credential in change.credentials:  # first: a token that was replaced does not end the one of its invite
            if not credential.revoked:
                self.drop_unused(credential.instead_of or credential.hash)
        for credential in change.credentials:
            self._replace(credential)
        for invite in change.invites:
            known = self._invites.get(invite.hash, invite)  # a use may have been taken here since
            left, revoked = min(invite.uses, known.uses), invite.revoked or known.revoked
            self.put_invite(structs.replace(invite, uses=left, revoked=revoked))
        if change.delete:
            self.forget_room(change.room)

    def _replace(self, credential: Credential) -> None:
        """Connections hold the known object, so it is changed."""
        known = self._credentials.get(credential.hash)
        if known is None:
            known = credential
        else:
            if self._is_unused(known) and not credential.instead_of:
                self._used(known)
            self._unlink(known)
            for name in Credential.__struct_fields__:
                if name != "revoked":
                    setattr(known, name, getattr(credential, name))
        self.put_credential(known)
        if credential.revoked:
            self.revoke([known])
        elif credential.instead_of and not known.revoked:
            self._unused[credential.instead_of] = known.hash

    def temporaries(self) -> list[tuple[Identity, Credential]]:
        """The tokens that are not stored, for other processes of this house."""
        made = [known for known in self._credentials.values() if known.label == TEMPORARY and not known.revoked]
        return [(self._identities[one.identity], one) for one in made if one.identity in self._identities]

    def put_temporaries(self, made: Iterable[tuple[Identity, Credential]]) -> None:
        for identity, credential in made:
            self._identities.setdefault(identity.id, identity)
            known = self._credentials.get(credential.hash)
            if known is None or known.expires_at == HOUSE_AWAY:  # else it may have been revoked since
                self.put_credential(credential)

    def until_invalid(
        self, clock: Clock, credential: Credential, callback: Callable[[], None], *, renewable: bool = False
    ) -> Callable[[], None]:
        """Call ``callback`` when a credential is revoked or expires. Returns an unsubscribe function. ``renewable``:
        not when an access token expires, because its client goes on with the next one."""
        key, expires_at = credential.counted_as, credential.expires_at
        if renewable and credential.oauth:
            expires_at = None
        watchers = self._watchers.setdefault(key, [])
        watchers.append(callback)

        def expired() -> None:
            if credential.expires_at is not None:  # an accepted invite no longer expires
                callback()

        timer = clock.call_at(expires_at, expired) if expires_at is not None else None

        def stop() -> None:
            if callback in watchers:
                watchers.remove(callback)
            if not watchers and self._watchers.get(key) is watchers:
                del self._watchers[key]
            if timer is not None:
                timer.cancel()

        return stop
