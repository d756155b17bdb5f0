"""Verify access tokens: JWTs that the identity provider has signed for this house (RFC 9068, RFC 8707).

The signature is checked by PyJWT with a key of the provider, for the one algorithm that this key is for; whatever else
the header says is not used. The times in it are those of the provider, so they are compared with the time of day; what
the house is told are times by its own clock.
"""

import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from cohabit.errors import Unauthorized
from cohabit.house.access.provider_keys import ALGORITHMS, ProviderKeys
from cohabit.house.clock import Clock

MAX_LENGTH: Final = 16 * 1024
SKEW_S: Final = 30
"""The maximum difference between the clocks of the house and of the provider."""
TYPES: Final = ("", "jwt", "at+jwt", "application/at+jwt")
"""Types of tokens that may be access tokens. A provider signs others with the same keys."""
MAX_SUBJECT: Final = 255
_FORM: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*={0,2}", re.ASCII)
"""Not every version of PyJWT refuses other characters. A token goes on to other nodes in a header."""


class Header(Struct):
    alg: str
    kid: str | None = None
    typ: str = ""
    crit: Any = None


class RegisteredClaims(Struct):
    """The claims that every access token must have. Times are in seconds since 1970."""

    iss: str
    sub: str
    aud: str | list[str]
    exp: int | float
    iat: int | float
    nbf: int | float = 0
    cnf: Any = None


class Verified(Struct, frozen=True):
    """An access token that is valid now, with times by the clock of the house. ``claims``: all of them, as the provider
    wrote them."""

    issuer: str
    subject: str
    issued_at: int  # ms, rounded to seconds
    expires_at: int  # ms
    claims: dict[str, Any]


_decode_header = msgspec.json.Decoder(Header).decode
_decode_registered = msgspec.json.Decoder(RegisteredClaims).decode


def is_jwt(token: str) -> bool:
    """True if a token has the form of a JWT. Those that the house makes have at most one dot."""
    return token.count(".") == 2


class TokenVerifier:
    """See the module."""

    def __init__(self, keys: ProviderKeys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def verify(self, token: str, audience: str) -> Verified:
        """The claims of a token. Raises UNAUTHORIZED with the reason; the message never repeats the token."""
        if len(token) > MAX_LENGTH:
            raise _invalid(f"it is longer than {MAX_LENGTH} characters")
        header = _header(token)
        if header.alg not in ALGORITHMS.values():
            raise _invalid(f"it must be signed with {', '.join(ALGORITHMS.values())}")
        if header.typ.lower() not in TYPES or header.crit is not None:
            raise _invalid("it is not an access token")
        key = await self._keys.find(header.kid, header.alg)
        if key is None:
            raise _invalid("the identity provider of this house does not have its key")
        payload = _signed(token, key.public, key.algorithm)
        try:
            said, claims = _decode_registered(payload), msgspec.json.decode(payload, type=dict[str, Any])
        except (ValueError, RecursionError):
            raise _invalid("it must have the claims iss, sub, aud, exp and iat") from None
        self._check(said, audience)
        behind_ms = self._clock.time_of_day() - self._clock.now()
        issued_at, expires_at = int(said.iat) * 1000 - behind_ms, int((said.exp + SKEW_S) * 1000) - behind_ms
        return Verified(said.iss, said.sub, issued_at, expires_at, claims)

    def _check(self, said: RegisteredClaims, audience: str) -> None:
        now = self._clock.time_of_day() / 1000
        if said.iss != self._keys.issuer:
            raise _invalid("another identity provider has issued it")
        named = [said.aud] if isinstance(said.aud, str) else said.aud
        if audience.rstrip("/") not in [one.rstrip("/") for one in named]:  # clients add a slash to a bare host
            raise _invalid(f"it is for another audience; ask your identity provider for one for {audience}")
        if now >= said.exp + SKEW_S:
            raise Unauthorized("your access token has expired; refresh it, or sign in again")
        if now < max(said.nbf, said.iat) - SKEW_S:
            raise _invalid("it is not valid yet; check the clock of this house")
        if not 0 < len(said.sub) <= MAX_SUBJECT:
            raise _invalid(f"its subject must have 1 to {MAX_SUBJECT} characters")
        if said.cnf is not None:
            raise _invalid("it is bound to a key (cnf), which this house cannot check; ask for a plain bearer token")


def _invalid(why: str) -> Unauthorized:
    return Unauthorized(f"this access token is not accepted: {why}. Sign in again")


def _header(token: str) -> Header:
    from jwt.exceptions import InvalidTokenError
    from jwt.utils import base64url_decode

    try:
        return _decode_header(base64url_decode(token.partition(".")[0]))
    except (InvalidTokenError, ValueError, RecursionError):
        raise _invalid("it has no readable header") from None


def _signed(token: str, key: Any, algorithm: str) -> bytes:
    """The content of a token with a valid signature."""
    from jwt import PyJWS
    from jwt.exceptions import PyJWTError

    if not _FORM.fullmatch(token):
        raise _invalid("its signature is wrong")
    try:
        content: bytes = PyJWS().decode_complete(token, key, algorithms=[algorithm])["payload"]
    except (PyJWTError, ValueError):
        raise _invalid("its signature is wrong") from None
    return content
