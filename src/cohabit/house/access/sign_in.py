"""Signing in with OAuth: a valid access token becomes a credential of an identity of the house.

The identity is known by issuer and subject, so it is the same after every sign-in. Its account is a stored credential
without a token: a host who revokes it (`revoke_credential`) ends every access token of the identity at once, and those
that the provider issues later are refused. An access token itself is not stored; each process verifies it.
"""

import asyncio
from hashlib import sha256
from secrets import token_bytes
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, Busy, Conflict, PermissionDenied, Unauthorized, UnknownAsset
from cohabit.house.access.claims import parse_conditions, parse_roles, roles_from
from cohabit.house.access.codes import Attempts
from cohabit.house.access.entry_limits import Gate
from cohabit.house.access.jwt_verifier import TokenVerifier, Verified, is_jwt
from cohabit.house.access.limited_keys import OAUTH
from cohabit.house.access.provider_keys import ProviderKeys, check_address
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.clock import DAY_MS
from cohabit.house.settings import Settings, split_names
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import SIGN_IN_REVOKED, hashed
from cohabit.model.identity import Credential, Identity
from cohabit.model.suggest import nearest
from cohabit.room.commands import command
from cohabit.scenario import handle_for

NAMES: Final = ("preferred_username", "nickname", "name", "client_id")
"""Claims that may have the name of somebody who signs in, the best one first."""
NEWCOMERS, NEWCOMERS_MS = 120, 60_000
"""The number of identities that may sign in for the first time in this time. Each one is stored."""


class InsufficientScope(PermissionDenied):
    """The access token lacks a scope that this house requires."""


def check_oauth(settings: Settings) -> None:
    """Refuse settings of OAuth that cannot be used."""
    if settings.oauth_issuer:
        check_address(settings.oauth_issuer, "settings: oauth_issuer")
    elif settings.oauth_audience or settings.oauth_scopes or settings.oauth_require or settings.oauth_roles:
        raise BadArgs("settings: oauth_issuer: say which identity provider the other settings of OAuth are about")
    parse_conditions(settings.oauth_require)
    parse_roles(settings.oauth_roles)


class SignIn:
    """See the module. One for each house with an identity provider."""

    def __init__(self, house: Services) -> None:
        settings = house.settings
        self._house = house
        self.scopes = split_names(settings.oauth_scopes)
        self._required = parse_conditions(settings.oauth_require)
        self._roles = parse_roles(settings.oauth_roles)
        self._keys = ProviderKeys(settings.oauth_issuer, house.clock)
        self._verifier = TokenVerifier(self._keys, house.clock)
        self._newcomers = Attempts(house.clock, NEWCOMERS, NEWCOMERS_MS)
        self._creating = asyncio.Lock()

    @property
    def issuer(self) -> str:
        return self._keys.issuer

    @property
    def resource(self) -> str:
        """The address of the house, by which clients name it to the provider."""
        return self._house.need(Gate).address or self._house.settings.url

    async def accept(self, token: str) -> None:
        """Make a valid access token known to the house. Tokens of the house are left alone."""
        house, now = self._house, self._house.clock.now()
        known = house.identities.find(token)
        if not is_jwt(token) or (known is not None and (known.expires_at is None or now < known.expires_at)):
            return
        verified = await self._verifier.verify(token, house.settings.oauth_audience or self.resource)
        self._check_allowed(verified.claims)
        identity = await self._identity_of(verified)
        if verified.issued_at + 1000 <= house.identities.allowed_again_at(identity):
            raise Unauthorized("this access token is from before your access was revoked; sign in again")
        made = Credential(
            hashed(token), identity, created_at=now, expires_at=min(verified.expires_at, now + DAY_MS), oauth="token",
            roles=roles_from(self._roles, verified.claims),
        )  # fmt: skip
        house.identities.accept(made, now)

    def _check_allowed(self, claims: dict[str, Any]) -> None:
        given = claims.get("scope", claims.get("scp", ""))
        scopes = given.split() if isinstance(given, str) else given
        missing = [scope for scope in self.scopes if not isinstance(scopes, list) or scope not in scopes]
        if missing:
            raise InsufficientScope(
                f"your access token needs the scope {' '.join(missing)}; sign in again and allow it"
            )
        if self._required and not any(condition.holds(claims) for condition in self._required):
            raise PermissionDenied("your account may not use this house; ask its operator to be admitted")

    async def _identity_of(self, verified: Verified) -> str:
        """The identity of somebody who signs in, which is created the first time."""
        identities = self._house.identities
        known = identity_id(verified.issuer, verified.subject)
        if not identities.has_account(known):
            async with self._creating:
                if not identities.has_account(known):
                    await self._create(known, _name_of(verified.claims, known))
        if not identities.may_sign_in(known):
            raise PermissionDenied(SIGN_IN_REVOKED)
        return known

    async def _create(self, known: str, name: str) -> None:
        house, before = self._house, self._house.identities.get(known)
        if before is not None and before.forgotten is not None:
            raise Conflict(
                "your data is being deleted; sign in again in a minute, or when the rooms that you were in are quiet"
            )
        if self._newcomers.is_exhausted(""):
            raise Busy("too many people sign in for the first time in this minute; try again later")
        self._newcomers.add("")
        me = Identity(known, name, "agent", barred=before.barred if before is not None else {})
        house.rooms.shared.egress.is_back(known)
        await _open_account(house, me, None)


async def _open_account(house: Services, me: Identity, by: Identity | None) -> None:
    """Store that an identity may sign in. Nobody has a token with the hash of an account."""
    issuer = house.settings.oauth_issuer
    label = f"signs in at {issuer}"[:80]
    account = Credential(token_bytes(32), me.id, None, label, house.clock.now(), oauth="account")
    member = await house.ledger.admit(me)
    author = await house.ledger.admit(by) if by is not None else None
    change = Write(identities=[me], credentials=[account])
    await house.ledger.record("credential", {"member": member, "change": "issued", "by": author}, change)
    house.identities.apply(change)


def identity_id(issuer: str, subject: str) -> str:
    """The id of an identity that signs in. It does not show who that is at the provider."""
    return OAUTH + sha256(f"{issuer}\n{subject}".encode()).hexdigest()[:32]


def _name_of(claims: dict[str, Any], known: str) -> str:
    """A name for others to see. Many providers use mail addresses as names, which are nobody else's business."""
    for claim in NAMES:
        text = claims.get(claim)
        if isinstance(text, str) and (name := handle_for(text.partition("@")[0])) != "guest":
            return name
    return f"guest-{known.removeprefix(OAUTH)[:6]}"


# -- for house hosts ------------------------------------------------------------------------------
class SignInAllowed(Struct):
    identity: str
    name: str


@command(exclusive=True, category="host", where="house", about="house", host_only=True, records=True)
async def allow_sign_in(
    ctx: HouseContext, name: Annotated[str, Meta(description="the id or the name of the identity (`list_credentials`)")]
) -> SignInAllowed:
    """Let somebody sign in again with OAuth whose access was revoked (`revoke_credential`)."""
    house = ctx.house
    if house.own.get(SignIn) is None:
        raise BadArgs("this house has no identity provider (setting oauth_issuer)")
    signed_in = [one for one in house.identities.everybody() if house.identities.has_account(one.id)]
    found = [one for one in signed_in if name in (one.id, one.name)]
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise Conflict(f"{len(found)} identities have the name {name!r}; pass an id instead: {ids}")
    if not found:
        names = [one.name for one in signed_in]
        raise UnknownAsset(f"nobody called {name[:80]!r} has signed in here", did_you_mean=nearest(name[:80], names, 2))
    if house.identities.may_sign_in(found[0].id):
        raise Conflict(f"{found[0].name} may sign in already")
    await _open_account(house, found[0], ctx.identity)
    return SignInAllowed(found[0].id, found[0].name)
