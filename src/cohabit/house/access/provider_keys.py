"""The public keys of the identity provider, as its metadata names them (RFC 8414, or OpenID Connect Discovery).

Nothing is fetched before the first access token arrives. Whatever callers send, the provider is asked at most once in
``PAUSE_MS``, no redirect is followed, and what it answers is limited in size and time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from cohabit.errors import BadArgs, Busy
from cohabit.house.clock import Clock

if TYPE_CHECKING:
    from jwt import PyJWK

log = logging.getLogger("cohabit")
MAX_BYTES: Final = 256 * 1024
"""The longest document of a provider that is read."""
MAX_KEYS: Final = 64
TIMEOUT_S: Final = 5.0
FRESH_MS: Final = 10 * 60_000
"""Keys are fetched again after this time. A key that the provider has withdrawn is accepted for so long."""
USABLE_MS: Final = 60 * 60_000
"""If the provider does not answer, keys are used for so long."""
PAUSE_MS: Final = 10_000
"""The time between two attempts to fetch keys."""
MIN_RSA_BITS: Final = 2048
ALGORITHMS: Final = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}
"""The accepted algorithms, by the type of the key. Each key is good for one of them."""
CURVES: Final = {"EC": "P-256", "OKP": "Ed25519"}
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
Fetch = Callable[[str], Awaitable[Any]]


class ProviderFailed(Exception):
    """The provider did not answer, or not with what is expected. The message says what."""


class Key(NamedTuple):
    id: str | None
    algorithm: str
    public: "PyJWK"


class ProviderKeys:
    """See the module."""

    def __init__(self, issuer: str, clock: Clock, fetch: "Fetch | None" = None) -> None:
        """``fetch``: reads a JSON document; by default over HTTP."""
        self.issuer = issuer
        self._clock = clock
        self._fetch = fetch or fetch_json
        self._keys: list[Key] = []
        self._fetched_at: int | None = None
        self._tried_at: int | None = None
        self._fetching = asyncio.Lock()

    async def find(self, key_id: str | None, algorithm: str) -> Key | None:
        """The key with this id for this algorithm; without an id, the only one for the algorithm."""
        if self._age() >= FRESH_MS:
            await self._refresh()
        if self._age() >= USABLE_MS:
            raise Busy("the identity provider of this house does not answer; try again in a minute")
        found = self._match(key_id, algorithm)
        if found is None:  # the provider may have a new one
            await self._refresh()
            found = self._match(key_id, algorithm)
        return found

    def _age(self) -> int:
        return self._clock.now() - self._fetched_at if self._fetched_at is not None else USABLE_MS

    def _match(self, key_id: str | None, algorithm: str) -> Key | None:
        fitting = [key for key in self._keys if key.algorithm == algorithm and key_id in (None, key.id)]
        return fitting[0] if len(fitting) == 1 else None

    async def _refresh(self) -> None:
        """Fetch the keys, unless that was tried a moment ago. Callers that come meanwhile wait for the result."""
        asked_at = self._clock.now()
        async with self._fetching:
            if self._tried_at is not None and (self._tried_at >= asked_at or asked_at - self._tried_at < PAUSE_MS):
                return
            self._tried_at = self._clock.now()
            try:
                self._keys = usable_keys(await self._fetch(await self._find_key_set()))
            except ProviderFailed as failed:
                log.warning("no keys from the identity provider %s: %s", self.issuer, failed)
            else:
                self._fetched_at = self._clock.now()

    async def _find_key_set(self) -> str:
        """The address of the keys. Most providers publish their metadata at one of these addresses only."""
        problem = ProviderFailed("")
        for address in metadata_addresses(self.issuer):
            try:
                found = await self._fetch(address)
            except ProviderFailed as failed:
                problem = failed
                continue
            if not isinstance(found, dict) or found.get("issuer") != self.issuer:
                raise ProviderFailed(f"{address} is the metadata of another issuer; set oauth_issuer to what it says")
            keys = found.get("jwks_uri")
            try:
                check_address(keys if isinstance(keys, str) else "", f"jwks_uri of {address}")
            except BadArgs as wrong:
                raise ProviderFailed(wrong.message) from None
            return str(keys)
        raise problem


def check_address(address: str, what: str) -> None:
    """Refuse an address that others could answer for: only loopback may be without TLS."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises if it is no number
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or parts.scheme not in ("https", "http") or parts.query or parts.fragment or "@" in parts.netloc:
        raise BadArgs(f"{what}: must be an address such as https://login.example.org, not {address[:200]!r}")
    if parts.scheme == "http" and host not in LOOPBACK:
        raise BadArgs(f"{what}: must begin with https; without TLS, anybody on the way could sign tokens")


def metadata_addresses(issuer: str) -> list[str]:
    """The addresses at which a provider publishes its metadata: as RFC 8414 says, then as OpenID Connect Discovery
    says."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return [
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    ]


def usable_keys(key_set: Any) -> list[Key]:
    """The keys of a JSON Web Key Set that may sign access tokens. Others are ignored: a provider has keys for other
    purposes as well."""
    keys = key_set.get("keys") if isinstance(key_set, dict) else None
    if not isinstance(keys, list):
        raise ProviderFailed("its key set has no list of keys")
    found = [key for given in keys[:MAX_KEYS] if (key := _usable(given)) is not None]
    if not found:
        raise ProviderFailed("its key set has no key for RS256, ES256 or EdDSA")
    return found


def _usable(given: Any) -> Key | None:
    from jwt import PyJWK
    from jwt.exceptions import PyJWTError

    if not isinstance(given, dict) or given.get("use", "sig") != "sig":
        return None
    kind, key_id = given.get("kty"), given.get("kid")
    algorithm = ALGORITHMS.get(kind) if isinstance(kind, str) else None
    if algorithm is None or given.get("alg", algorithm) != algorithm or "d" in given:
        return None
    if kind in CURVES and given.get("crv") != CURVES[kind]:
        return None
    try:
        public = PyJWK(given, algorithm)
    except (PyJWTError, ValueError, TypeError):
        return None
    if kind == "RSA" and public.key.key_size < MIN_RSA_BITS:
        return None
    return Key(key_id if isinstance(key_id, str) else None, algorithm, public)


async def fetch_json(address: str) -> Any:
    """A JSON document of a provider. Raises ProviderFailed."""
    import httpx2  # takes long to import, and few houses need it

    headers = {"accept": "application/json", "accept-encoding": "identity"}
    body = bytearray()
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            httpx2.AsyncClient(follow_redirects=False, timeout=TIMEOUT_S) as http,
            http.stream("GET", address, headers=headers) as response,
        ):
            if response.status_code != 200:
                raise ProviderFailed(f"{address} answers with status {response.status_code}")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ProviderFailed(f"{address} is compressed, which was not asked for")
            async for part in response.aiter_raw():
                body += part
                if len(body) > MAX_BYTES:
                    raise ProviderFailed(f"{address} is longer than {MAX_BYTES} bytes")
    except (httpx2.HTTPError, OSError, TimeoutError) as failed:
        raise ProviderFailed(f"{address} does not answer: {type(failed).__name__}") from None
    try:
        return msgspec.json.decode(bytes(body))
    except (ValueError, RecursionError):
        raise ProviderFailed(f"{address} is not JSON") from None
