"""An identity provider for tests: an OAuth 2.1 authorization server with metadata, keys that rotate, PKCE, resource
indicators, registration of clients and refresh tokens. It listens on loopback, in a thread of its own.

Anyone who opens its sign-in page is signed in at once, as ``person``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
MAKE = {
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


class SigningKey:
    """A key of the provider, and its id."""

    def __init__(self, algorithm: str = "ES256") -> None:
        self.algorithm, self.id = algorithm, secrets.token_hex(4)
        self.private: PrivateKey = MAKE[algorithm]()  # type: ignore[no-untyped-call]

    @property
    def public_jwk(self) -> dict[str, Any]:
        made = get_default_algorithms()[self.algorithm].to_jwk(self.private.public_key(), as_dict=True)
        return {**made, "kid": self.id, "alg": self.algorithm, "use": "sig"}

    @property
    def public_pem(self) -> bytes:
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.private.public_key().public_bytes(serialization.Encoding.PEM, form)


class Provider:
    """What the provider knows, and what it is asked. Tests change its attributes to make it misbehave."""

    def __init__(self, issuer: str = "https://login.example.org") -> None:
        self.issuer = issuer
        self.key = SigningKey()
        self.published = [self.key]
        self.person: dict[str, Any] = {"sub": "ada-1", "preferred_username": "ada"}
        self.lifetime_s = 300
        self.now = time.time
        self.answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}  # other answers, by path
        self.asked: list[str] = []  # paths
        self.resources: list[str] = []  # what clients asked tokens for
        self._codes: dict[str, dict[str, str]] = {}
        self._refresh: dict[str, dict[str, str]] = {}

    def rotate(self, algorithm: str = "ES256", *, withdraw: bool = False) -> None:
        """Sign with a new key from now on. ``withdraw``: no longer publish the old ones."""
        self.key = SigningKey(algorithm)
        self.published = [self.key] if withdraw else [*self.published, self.key]

    # -- tokens -----------------------------------------------------------------------------------
    def token(self, audience: str | list[str], **changes: Any) -> str:
        """An access token. ``changes``: other claims; None leaves one out."""
        now = int(self.now())
        claims = {"iss": self.issuer, "aud": audience, "iat": now, "exp": now + self.lifetime_s, **self.person}
        claims |= {"jti": secrets.token_hex(4), **changes}
        return self.signed({name: value for name, value in claims.items() if value is not None})

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        key, headers = self.key, {"kid": self.key.id, "typ": "at+jwt", **header}
        return jwt.encode(claims, key.private, key.algorithm, {n: v for n, v in headers.items() if v is not None})

    # -- documents --------------------------------------------------------------------------------
    @property
    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }

    @property
    def keys(self) -> dict[str, Any]:
        return {"keys": [key.public_jwk for key in self.published]}

    async def fetch(self, address: str) -> Any:
        """Its documents, without a network."""
        self.asked.append(urlsplit(address).path)
        return self.keys if address.endswith("/keys") else self.metadata

    # -- HTTP -------------------------------------------------------------------------------------
    def answer(self, path: str, query: dict[str, str], form: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        self.asked.append(path)
        if path in self.answers:
            return self.answers[path]
        match path:
            case "/.well-known/oauth-authorization-server":
                return _json(self.metadata)
            case "/keys":
                return _json(self.keys)
            case "/register":
                return _json({**form, "client_id": secrets.token_hex(8), "token_endpoint_auth_method": "none"}, 201)
            case "/authorize":
                code = secrets.token_urlsafe(16)
                self._codes[code] = query
                self.resources.append(query["resource"])
                back = {"code": code, "state": query["state"], "iss": self.issuer}
                return 302, b"", {"location": f"{query['redirect_uri']}?{urlencode(back)}"}
            case "/token":
                return self._token(form)
        return _json({"error": "not_found"}, 404)

    def _token(self, form: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        if form["grant_type"] == "refresh_token":
            asked = self._refresh.pop(form["refresh_token"], None)
        else:
            asked = self._codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            if asked is None or asked["code_challenge"] != base64.urlsafe_b64encode(digest).decode().rstrip("="):
                return _json({"error": "invalid_grant"}, 400)
        if asked is None or form["resource"] != asked["resource"]:
            return _json({"error": "invalid_grant"}, 400)
        refresh = secrets.token_urlsafe(16)
        self._refresh[refresh] = asked
        made = {"access_token": self.token(asked["resource"], scope=asked.get("scope")), "refresh_token": refresh}
        return _json({**made, "token_type": "Bearer", "expires_in": self.lifetime_s})


def _json(value: Any, status: int = 200) -> tuple[int, bytes, dict[str, str]]:
    return status, json.dumps(value).encode(), {"content-type": "application/json"}


@contextmanager
def listening() -> Iterator[Provider]:
    """A provider on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            is_json = "json" in self.headers.get("content-type", "")
            form = json.loads(body) if is_json else {name: values[-1] for name, values in parse_qs(body).items()}
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            status, content, headers = provider.answer(parts.path, query, form)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _serve  # noqa: N815 - the names of the base class

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = Provider(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
