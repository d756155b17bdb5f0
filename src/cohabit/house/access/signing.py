"""Signed tokens: ``b64url(JSON) + "." + b64url(signature)``, for invites, for agents that have a key, and for exports.

The signature is ECDSA with P-256 and SHA-256 over the ASCII text before the dot, as 64 bytes (r, then s), as in
WebCrypto. A check never raises: it returns what the token says, or the reason why it does not count.

`cryptography` is imported late, because it takes longer to import than the rest of the house.
"""

import asyncio
import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs, StorageFailed
from cohabit.house.threads import run_in_thread
from cohabit.model.egress import Amount

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey

Jwk = Mapping[str, str]
KEY_FILE = "signing-key.pem"
MAX_TOKEN = 2048
"""Longer tokens are refused before anything is computed."""
MAX_EXPORT = 64 * 1024**2
EGRESS = "cohabit-egress.v1"
ASSERTION = "kbz-agent-key.v1"
NO_MATCHING_KEY = "no matching key"
MAX_AGE_S = 300
"""The maximum age of an assertion."""
SKEW_S = 60
"""The maximum by which the clock of an agent may be ahead."""
FAR_AWAY_S = 100 * 365 * 86_400
"""The expiry in an invite that has none: a century."""
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
T = TypeVar("T")


class InviteBody(Struct, omit_defaults=True):
    """The content of an invite. Others can check it with the public key of the house; ``exp`` is in seconds."""

    name: str = ""
    room: str = ""
    exp: int = 0
    kind: str = ""
    role: str | None = None
    may: list[str] | None = None
    seat: str | None = None
    uses: int = 1
    jti: str = ""


class AssertionBody(Struct):
    """The content of an assertion: an agent wants to join this room, now, in answer to the challenge ``fp``."""

    k: str = ""
    room: str = ""
    fp: str = ""
    iat: int | None = None


class EgressOfBackend(Struct):
    """The bytes and messages that one backend got."""

    backend: str
    outside: bool | None  # by its own account, or as the house knows it; null: it has not said
    bytes: int
    kinds: dict[str, Amount]
    first: int  # ms
    last: int  # 0: not shown, because it would tell when something reached a player in a sealed room


class EgressOfMember(Struct):
    """The totals of the backends of one member."""

    member: str  # its handle, the last one if it has left
    who: str  # its identity; the id of a member without one
    bytes: int
    budget: int | None  # null: no limit
    left: int | None
    backends: list[EgressOfBackend]


class EgressExport(Struct):
    """The totals of what left a room for the backends of its members, up to ``at`` (ms). ``entry`` and ``digest``: the
    last entry of the record at that time, and the digest of its chain, for the owner of the data folder."""

    k: str = ""
    room: str = ""
    at: int = 0
    entry: int = -1
    digest: str = ""
    members: list[EgressOfMember] = []


# -- keys -----------------------------------------------------------------------------------------
class SigningKey:
    """A private P-256 key."""

    def __init__(self, private: "EllipticCurvePrivateKey") -> None:
        self._private = private
        numbers = private.public_key().public_numbers()
        self.public_jwk = {
            "kty": "EC",
            "crv": "P-256",
            "x": _b64(numbers.x.to_bytes(32, "big")),
            "y": _b64(numbers.y.to_bytes(32, "big")),
        }

    @classmethod
    def generate(cls) -> "SigningKey":
        from cryptography.hazmat.primitives.asymmetric import ec

        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def derive(cls, secret: str) -> "SigningKey":
        """The same key for the same secret."""
        from cryptography.hazmat.primitives.asymmetric import ec

        number = int.from_bytes(hmac.digest(secret.encode(), b"cohabit signing key", "sha512"), "big")
        return cls(ec.derive_private_key(number % (P256_ORDER - 1) + 1, ec.SECP256R1()))

    @classmethod
    def from_pem(cls, pem: bytes) -> "SigningKey":
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        private = load_pem_private_key(pem, None)
        if not isinstance(private, ec.EllipticCurvePrivateKey) or private.curve.name != "secp256r1":
            raise ValueError("not a P-256 key")
        return cls(private)

    def pem(self) -> bytes:
        """The private key. Keep it secret."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, body: Any) -> str:
        """A token that says ``body``."""
        from cryptography.hazmat.primitives.asymmetric import ec, utils
        from cryptography.hazmat.primitives.hashes import SHA256

        text = _b64(msgspec.json.encode(body))
        r, s = utils.decode_dss_signature(self._private.sign(text.encode(), ec.ECDSA(SHA256())))
        return f"{text}.{_b64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class HouseKey:
    """The key that signs the invites of a house, loaded when it is first needed."""

    def __init__(self, folder: Path | None, shared: str = "") -> None:
        """``folder``: the data folder. A house in memory has a new key every time. ``shared``: the secret of a cluster
        of houses, from which all of them derive the same key."""
        self._folder = folder
        self._shared = shared
        self._key: SigningKey | None = None
        self._lock = asyncio.Lock()

    async def load(self) -> SigningKey:
        async with self._lock:
            if self._key is None:
                make = partial(SigningKey.derive, self._shared) if self._shared else partial(house_key, self._folder)
                self._key = await run_in_thread("the signing key", make)
            return self._key


def house_key(folder: Path | None) -> SigningKey:
    """The key of a house: the one in its data folder, which is made if there is none; without a folder a new one."""
    if folder is None:
        return SigningKey.generate()
    path = folder / KEY_FILE
    try:
        if not path.exists():
            _write_new(path, SigningKey.generate().pem())
        return SigningKey.from_pem(path.read_bytes())
    except OSError as wrong:
        raise StorageFailed(f"{path} cannot be read or written ({wrong.strerror})") from None
    except (ValueError, TypeError):
        raise StorageFailed(
            f"{path} is not a P-256 key in PEM format; restore it, or remove it to get a new one"
        ) from None


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read: all of it, or nothing."""
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def thumbprint(key: Jwk) -> str:
    """The RFC 7638 thumbprint of a public key: base64url of SHA-256."""
    named = {name: key[name] for name in ("crv", "kty", "x", "y")}
    return _b64(sha256(msgspec.json.encode(named)).digest())


def check_key(key: Jwk) -> dict[str, str]:
    """The public part of a JWK, or BAD_ARGS."""
    if _public(key) is None:
        raise BadArgs('a key must be a public P-256 JWK: {"kty": "EC", "crv": "P-256", "x": …, "y": …}')
    return {name: key[name] for name in ("kty", "crv", "x", "y")}


def _public(key: Jwk) -> "EllipticCurvePublicKey | None":
    from cryptography.hazmat.primitives.asymmetric import ec

    if key.get("kty") != "EC" or key.get("crv") != "P-256":
        return None
    x, y = _bytes(key.get("x")), _bytes(key.get("y"))
    if x is None or y is None or len(x) != 32 or len(y) != 32:
        return None
    try:
        numbers = ec.EllipticCurvePublicNumbers(int.from_bytes(x, "big"), int.from_bytes(y, "big"), ec.SECP256R1())
        return numbers.public_key()
    except ValueError:  # no point of the curve
        return None


# -- tokens ---------------------------------------------------------------------------------------
def read(token: object, body: type[T], longest: int = MAX_TOKEN) -> T | None:
    """The content of a token, not verified; None if it is malformed."""
    if not isinstance(token, str) or len(token) > longest or token.count(".") != 1:
        return None
    encoded = _bytes(token.partition(".")[0])
    if encoded is None:
        return None
    try:
        return msgspec.json.decode(encoded, type=body)
    except (ValueError, RecursionError):
        return None


def is_signed_by(token: str, key: Jwk) -> bool:
    """True if the owner of this key has signed the token."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    text, _, encoded = token.partition(".")
    signature, public = _bytes(encoded), _public(key)
    if signature is None or len(signature) != 64 or public is None or not text.isascii():
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        public.verify(utils.encode_dss_signature(r, s), text.encode(), ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def verify_invite(token: object, key: Jwk, room: str, now_s: float) -> InviteBody | str:
    """The content of a valid invite, or the reason why it is not valid."""
    body = read(token, InviteBody)
    if body is None or not isinstance(token, str) or not is_signed_by(token, key):
        return "bad signature"
    if body.room != room:
        return "wrong room"
    if now_s >= body.exp:
        return "expired"
    if not body.name.strip():
        return "no name"
    return body


def verify_egress(token: object, key: Jwk) -> EgressExport | str:
    """The content of a valid export, or the reason why it is not valid."""
    body = read(token, EgressExport, MAX_EXPORT)
    if body is None or not isinstance(token, str):
        return "it is not an export, or a part of it is missing"
    if not is_signed_by(token, key):
        return "it was changed after it was signed, or another house signed it"
    return body if body.k == EGRESS else "it is something else that this house has signed"


K = TypeVar("K")


def verify_assertion(
    token: object,
    keys: Iterable[K],
    key_of: Callable[[K], Jwk],
    room: str,
    is_fresh: Callable[[str], bool],
    now_s: float,
) -> K | str:
    """Which of the keys has signed an assertion, or why it does not count.

    ``is_fresh``: whether this house issued the challenge for this room and it was not used yet.
    """
    known = list(keys)
    if not token or not isinstance(token, str):
        return "missing assertion"
    if not known:
        return "no allowed keys"
    body = read(token, AssertionBody)
    if body is None:
        return "malformed assertion"
    if body.k != ASSERTION:
        return "wrong assertion kind"
    if body.room != room:
        return "wrong room"
    if not is_fresh(canonical(body.fp)):
        return "not bound to a fresh challenge"
    if body.iat is None:
        return "no iat"
    if body.iat > now_s + SKEW_S:
        return "issued in the future"
    if now_s - body.iat > MAX_AGE_S:
        return "stale"
    return next((entry for entry in known if is_signed_by(token, key_of(entry))), NO_MATCHING_KEY)


def canonical(challenge: str) -> str:
    """A challenge as it is compared."""
    return challenge.strip().lower()


def _b64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: object) -> bytes | None:
    """Decode base64url without padding; None if it is anything else. Each value has one text only."""
    if not isinstance(text, str):
        return None
    try:
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    return decoded if _b64(decoded) == text else None
