"""Which access tokens a house accepts, and what it asks of the identity provider."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from tests.identity_provider import Provider, SigningKey, listening

from cohabit.errors import BadArgs, Busy, Unauthorized
from cohabit.house.access.claims import parse_conditions, parse_roles, roles_from
from cohabit.house.access.jwt_verifier import MAX_LENGTH, SKEW_S, TokenVerifier, is_jwt
from cohabit.house.access.provider_keys import (
    FRESH_MS,
    MAX_BYTES,
    PAUSE_MS,
    USABLE_MS,
    ProviderFailed,
    ProviderKeys,
    fetch_json,
    metadata_addresses,
)
from cohabit.house.access.sign_in import check_oauth
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.testing.clock import START, FakeClock

HOUSE = "https://house.example.org"
NOW = START // 1000
METADATA = "/.well-known/oauth-authorization-server"


class Scene:
    """A provider without a network, and the verifier of a house. Both look at one clock."""

    def __init__(self) -> None:
        self.clock, self.provider = FakeClock(), Provider()
        self.provider.now = lambda: self.clock.now() / 1000
        self.is_away = False
        self.keys = ProviderKeys(self.provider.issuer, self.clock, self.fetch)
        self.verifier = TokenVerifier(self.keys, self.clock)

    async def fetch(self, address: str) -> Any:
        found = await self.provider.fetch(address)
        if self.is_away:
            raise ProviderFailed("away")
        return found

    async def verify(self, token: str) -> Any:
        return await self.verifier.verify(token, HOUSE)

    async def refuses(self, token: str, why: str) -> None:
        with pytest.raises(Unauthorized, match=why) as refused:
            await self.verify(token)
        assert token not in refused.value.message


@pytest.fixture
def scene() -> Scene:
    return Scene()


# -- tokens that are accepted -----------------------------------------------------------------------
@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_token_of_the_provider_for_this_house_is_accepted(scene: Scene, algorithm: str) -> None:
    scene.provider.rotate(algorithm)
    verified = await scene.verify(scene.provider.token(HOUSE))
    assert (verified.issuer, verified.subject) == (scene.provider.issuer, "ada-1")
    assert verified.expires_at == (NOW + scene.provider.lifetime_s + SKEW_S) * 1000


@pytest.mark.parametrize("audience", [f"{HOUSE}/", ["https://other.example.org", HOUSE]])
async def test_the_house_may_be_one_of_several_audiences_and_have_a_slash(scene: Scene, audience: Any) -> None:
    assert (await scene.verify(scene.provider.token(audience))).subject == "ada-1"


async def test_a_token_without_a_key_id_is_accepted_if_there_is_only_one_key(scene: Scene) -> None:
    provider = scene.provider
    token = provider.signed(_claims(provider), kid=None)
    assert (await scene.verify(token)).subject == "ada-1"
    provider.rotate()
    await scene.clock.advance(FRESH_MS)
    await scene.refuses(token, "does not have its key")


async def test_clocks_may_differ_a_little(scene: Scene) -> None:
    early = scene.provider.token(HOUSE, iat=NOW + SKEW_S - 1, nbf=NOW + SKEW_S - 1)
    assert (await scene.verify(early)).subject == "ada-1"
    late = scene.provider.token(HOUSE, exp=NOW - SKEW_S + 1)
    assert (await scene.verify(late)).subject == "ada-1"


# -- tokens that are not ----------------------------------------------------------------------------
def _claims(provider: Provider, **changes: Any) -> dict[str, Any]:
    return {"iss": provider.issuer, "aud": HOUSE, "sub": "ada-1", "iat": NOW, "exp": NOW + 60, **changes}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"aud": "https://other.example.org"}, "another audience"),
        ({"aud": f"{HOUSE}.evil.example"}, "another audience"),
        ({"aud": f"{HOUSE}/mcp/den"}, "another audience"),
        ({"aud": []}, "another audience"),
        ({"aud": None}, "must have the claims"),
        ({"iss": "https://evil.example.org"}, "another identity provider"),
        ({"iss": "https://login.example.org/"}, "another identity provider"),
        ({"exp": NOW - SKEW_S}, "has expired"),
        ({"exp": None}, "must have the claims"),
        ({"exp": str(NOW + 60)}, "must have the claims"),
        ({"nbf": NOW + SKEW_S + 1}, "not valid yet"),
        ({"iat": NOW + SKEW_S + 1}, "not valid yet"),
        ({"iat": None}, "must have the claims"),
        ({"sub": None}, "must have the claims"),
        ({"sub": ""}, "subject"),
        ({"sub": "x" * 256}, "subject"),
        ({"cnf": {"jkt": "abc"}}, "bound to a key"),
    ],
)
async def test_a_token_with_wrong_claims_is_refused(scene: Scene, changes: dict[str, Any], why: str) -> None:
    claims = {name: value for name, value in _claims(scene.provider, **changes).items() if value is not None}
    await scene.refuses(scene.provider.signed(claims), why)


def _unsigned(claims: dict[str, Any], alg: str) -> str:
    parts = [{"alg": alg, "typ": "JWT"}, claims]
    return ".".join(base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts) + "."


@pytest.mark.parametrize("alg", ["none", "None", "NONE", ""])
async def test_a_token_without_a_signature_is_refused(scene: Scene, alg: str) -> None:
    await scene.refuses(_unsigned(_claims(scene.provider), alg), "must be signed with")


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
async def test_a_token_that_is_signed_with_the_public_key_as_a_secret_is_refused(scene: Scene, algorithm: str) -> None:
    scene.provider.rotate(algorithm)
    head, body, _ = scene.provider.token(HOUSE).split(".")
    header = {**json.loads(base64.urlsafe_b64decode(head + "==")), "alg": "HS256"}
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")
    secret = scene.provider.key.public_pem
    made = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(f"{head}.{body}".encode(), secret)
    forged = f"{head}.{body}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"
    await scene.refuses(forged, "must be signed with")


async def test_a_token_of_another_key_with_a_known_id_is_refused(scene: Scene) -> None:
    forger = SigningKey()
    forged = jwt.encode(_claims(scene.provider), forger.private, "ES256", {"kid": scene.provider.key.id})
    await scene.refuses(forged, "its signature is wrong")


async def test_a_key_that_the_token_brings_along_is_not_used(scene: Scene) -> None:
    forger = SigningKey()
    header = {"kid": forger.id, "jwk": forger.public_jwk, "jku": "https://evil.example.org/keys"}
    forged = jwt.encode(_claims(scene.provider), forger.private, "ES256", header)
    await scene.refuses(forged, "does not have its key")
    assert not [path for path in scene.provider.asked if "evil" in path]


async def test_a_changed_token_is_refused(scene: Scene) -> None:
    head, body, signature = scene.provider.token(HOUSE).split(".")
    other = scene.provider.token(HOUSE, sub="bob").split(".")[1]
    await scene.refuses(f"{head}.{other}.{signature}", "its signature is wrong")
    await scene.refuses(f"{head}.{body}.", "its signature is wrong")


@pytest.mark.parametrize("added", ["==\r\nX-Forwarded-For: ::1", "\r\n", " ", "!"])
async def test_a_token_with_other_characters_is_refused_whatever_pyjwt_makes_of_them(
    scene: Scene, added: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not every version of PyJWT refuses them, and a node sends the token of a WebSocket on in a header."""
    lenient = staticmethod(lambda segment, name: jwt.utils.base64url_decode(segment))
    monkeypatch.setattr(jwt.PyJWS, "_decode_base64url_segment", lenient)
    await scene.refuses(scene.provider.token(HOUSE) + added, "its signature is wrong")


@pytest.mark.parametrize("header", [{"typ": "logout+jwt"}, {"typ": "dpop+jwt"}, {"crit": ["exp"], "exp": 1}])
async def test_other_kinds_of_tokens_of_the_provider_are_refused(scene: Scene, header: dict[str, Any]) -> None:
    await scene.refuses(scene.provider.signed(_claims(scene.provider), **header), "not an access token")


@pytest.mark.parametrize("token", ["..", "a.b.c", "é.é.é", "eyJ9.e30.", "." * 2 + "x" * 100])
async def test_text_that_is_no_token_is_refused(scene: Scene, token: str) -> None:
    assert is_jwt(token)
    await scene.refuses(token, "no readable header")
    assert not scene.provider.asked


async def test_a_token_that_is_too_long_is_refused_before_it_is_read(scene: Scene) -> None:
    await scene.refuses(scene.provider.token(HOUSE, groups=["x" * MAX_LENGTH]), "longer than")
    assert not scene.provider.asked


# -- keys -------------------------------------------------------------------------------------------
async def test_a_new_key_of_the_provider_is_fetched_when_a_token_needs_it(scene: Scene) -> None:
    await scene.verify(scene.provider.token(HOUSE))
    await scene.clock.advance(PAUSE_MS)
    scene.provider.rotate()
    assert (await scene.verify(scene.provider.token(HOUSE))).subject == "ada-1"
    assert scene.provider.asked.count("/keys") == 2


async def test_a_withdrawn_key_is_refused_when_the_keys_are_fetched_again(scene: Scene) -> None:
    scene.provider.lifetime_s = 86_400
    before = scene.provider.token(HOUSE)
    await scene.verify(before)
    scene.provider.rotate(withdraw=True)
    await scene.verify(before)
    await scene.clock.advance(FRESH_MS)
    await scene.refuses(before, "does not have its key")


async def test_a_flood_of_unknown_key_ids_asks_the_provider_once_in_a_while(scene: Scene) -> None:
    await scene.verify(scene.provider.token(HOUSE))
    for number in range(200):
        await scene.clock.advance(1)
        await scene.refuses(scene.provider.signed(_claims(scene.provider), kid=f"x{number}"), "does not have its key")
    assert scene.provider.asked.count("/keys") == 1
    await scene.clock.advance(PAUSE_MS)
    for number in range(200):
        await scene.clock.advance(1)
        await scene.refuses(scene.provider.signed(_claims(scene.provider), kid=f"y{number}"), "does not have its key")
    assert scene.provider.asked.count("/keys") == 2


async def test_a_provider_that_is_away_for_a_while_keeps_nobody_out(scene: Scene) -> None:
    scene.provider.lifetime_s = 86_400
    token = scene.provider.token(HOUSE)
    await scene.verify(token)
    scene.is_away = True
    await scene.clock.advance(USABLE_MS - 1)
    assert (await scene.verify(token)).subject == "ada-1"
    await scene.clock.advance(PAUSE_MS)
    with pytest.raises(Busy, match="does not answer"):
        await scene.verify(token)
    scene.is_away = False
    await scene.clock.advance(PAUSE_MS)
    assert (await scene.verify(token)).subject == "ada-1"


async def test_only_keys_that_may_sign_access_tokens_are_used(scene: Scene) -> None:
    weak = RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 1024).public_key(), as_dict=True)
    secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "s", "alg": "HS256"}
    good = scene.provider.key.public_jwk
    unfit = [{**weak, "kid": "w"}, secret, {**good, "kid": "e", "use": "enc"}, {**good, "kid": "a", "alg": "ES512"}, 3]
    scene.provider.published = []
    scene.fetch = _returning(scene, {"keys": unfit})  # type: ignore[method-assign]
    keys = ProviderKeys(scene.provider.issuer, scene.clock, scene.fetch)
    with pytest.raises(Busy):
        await keys.find("w", "RS256")
    keys = ProviderKeys(scene.provider.issuer, scene.clock, _returning(scene, {"keys": [*unfit, good]}))
    assert await keys.find(good["kid"], "ES256") is not None
    for other, algorithm in (("w", "RS256"), ("s", "HS256"), ("e", "ES256"), ("a", "ES256")):
        assert await keys.find(other, algorithm) is None


def _returning(scene: Scene, keys: Any) -> Any:
    async def fetch(address: str) -> Any:
        return keys if address.endswith("/keys") else scene.provider.metadata

    return fetch


# -- the provider over HTTP -------------------------------------------------------------------------
@pytest.fixture
def served() -> Iterator[Provider]:
    with listening() as provider:
        yield provider


async def test_the_metadata_of_openid_connect_is_found_too(served: Provider) -> None:
    answer = (200, json.dumps(served.metadata).encode(), {"content-type": "application/json"})
    served.answers = {METADATA: (404, b"", {}), "/.well-known/openid-configuration": answer}
    assert await ProviderKeys(served.issuer, FakeClock()).find(served.key.id, "ES256") is not None


def test_the_path_of_an_issuer_goes_where_each_standard_says() -> None:
    assert metadata_addresses("https://login.example.org/realms/a") == [
        "https://login.example.org/.well-known/oauth-authorization-server/realms/a",
        "https://login.example.org/realms/a/.well-known/openid-configuration",
    ]


@pytest.mark.parametrize(
    "path_and_answer",
    [
        ("/keys", (302, b"", {"location": "/other"})),
        ("/keys", (200, b"[" * 100_000, {})),
        ("/keys", (200, b'{"keys": []}', {})),
        ("/keys", (200, gzip.compress(b" " * 10_000_000), {"content-encoding": "gzip"})),
        (METADATA, (302, b"", {"location": "/other"})),
        (METADATA, (200, b'{"issuer": "https://evil.example.org"}', {})),
        (METADATA, (200, b"not JSON", {})),
    ],
)
async def test_a_provider_that_misbehaves_gives_no_keys(served: Provider, path_and_answer: Any) -> None:
    path, answer = path_and_answer
    served.answers = {path: answer}
    with pytest.raises(Busy, match="does not answer"):
        await ProviderKeys(served.issuer, FakeClock()).find(served.key.id, "ES256")
    assert "/other" not in served.asked


async def test_a_key_set_that_is_too_long_is_not_used(served: Provider) -> None:
    for padding, is_used in (0, True), (MAX_BYTES, False):
        body = json.dumps({**served.keys, "padding": "x" * padding}).encode()
        served.answers = {"/keys": (200, body, {})}
        keys = ProviderKeys(served.issuer, FakeClock())
        if is_used:
            assert await keys.find(served.key.id, "ES256") is not None
        else:
            with pytest.raises(Busy, match="does not answer"):
                await keys.find(served.key.id, "ES256")


async def test_keys_over_plain_http_elsewhere_are_not_fetched(served: Provider) -> None:
    metadata = {**served.metadata, "jwks_uri": "http://keys.example.org/keys"}
    served.answers = {METADATA: (200, json.dumps(metadata).encode(), {})}
    with pytest.raises(Busy, match="does not answer"):
        await ProviderKeys(served.issuer, FakeClock()).find(served.key.id, "ES256")


async def test_a_provider_that_nobody_runs_is_named(served: Provider) -> None:
    with pytest.raises(ProviderFailed, match="does not answer"):
        await fetch_json("http://127.0.0.1:9/keys")


@pytest.mark.parametrize(
    ("issuer", "why"),
    [
        ("http://login.example.org", "must begin with https"),
        ("http://127.0.0.1.example.org", "must begin with https"),
        ("ftp://login.example.org", "must be an address"),
        ("login.example.org", "must be an address"),
        ("https://login.example.org?tenant=a", "must be an address"),
        ("https://user@login.example.org", "must be an address"),
        ("https://login.example.org:x", "must be an address"),
    ],
)
def test_an_issuer_must_be_an_https_address_or_on_loopback(issuer: str, why: str) -> None:
    with pytest.raises(BadArgs, match=f"oauth_issuer.*{why}"):
        check_oauth(Settings(oauth_issuer=issuer))


@pytest.mark.parametrize("issuer", ["https://login.example.org/realms/a", "http://127.0.0.1:8080", "http://[::1]:8080"])
def test_an_issuer_may_have_a_path_and_be_without_tls_on_loopback(issuer: str) -> None:
    check_oauth(Settings(oauth_issuer=issuer))


async def test_a_house_does_not_open_with_settings_of_oauth_that_cannot_be_used() -> None:
    with pytest.raises(BadArgs, match="oauth_issuer"):
        async with House.open(Settings(oauth_roles="groups=a -> player in den")):
            pass


# -- claims -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("condition", "claims", "holds"),
    [
        ("groups=a", {"groups": ["a", "b"]}, True),
        ("groups=a", {"groups": "a"}, True),
        ("groups=a", {"groups": ["ab"]}, False),
        ("groups=a", {"groups": {"a": 1}}, False),
        ("groups=a", {}, False),
        ("realm_access.roles=a", {"realm_access": {"roles": ["a"]}}, True),
        ("realm_access.roles=a", {"realm_access": ["roles"]}, False),
        ("https://example.org/roles=a", {"https://example.org/roles": ["a"]}, True),
        ("scope=play", {"scope": "openid play"}, True),
        ("scope=pla", {"scope": "openid play"}, False),
        ("scp=play", {"scp": ["play"]}, True),
        ("email_verified=true", {"email_verified": True}, True),
        ("level=3", {"level": 3}, True),
        ("path=/a=b", {"path": "/a=b"}, True),
    ],
)
def test_a_condition_compares_a_claim(condition: str, claims: dict[str, Any], holds: bool) -> None:
    (found,) = parse_conditions(condition)
    assert found.holds(claims) is holds


def test_the_first_rule_for_a_room_counts() -> None:
    rules = parse_roles("groups=staff -> host in *; groups=all -> player in den; groups=all -> observer in *;")
    assert roles_from(rules, {"groups": ["all"]}) == {"den": "player", "*": "observer"}
    assert roles_from(rules, {"groups": ["all", "staff"]}) == {"den": "player", "*": "host"}
    assert roles_from(rules, {}) == {}


@pytest.mark.parametrize("text", ["groups", "groups=", "=a", "groups=a -> player", "player in den", "a=b -> in den"])
def test_a_rule_that_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadArgs, match=r"oauth_roles.*such as"):
        parse_roles(text if "->" in text else f"{text} -> player in den" if "in" not in text else text)


def test_a_rule_with_an_unknown_role_is_refused() -> None:
    with pytest.raises(BadArgs, match="unknown role"):
        parse_roles("groups=a -> king in den")
