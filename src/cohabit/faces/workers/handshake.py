"""The handshake of two houses of a cluster when one connects to a node of the other: both have the same key.

The side that accepted speaks first, so that a recorded connection cannot be played again::

    accepted   GREETING  nonce
    connected  length  name of the wanted node  nonce  proof
    accepted   answer  proof

A proof is an HMAC over everything said before it. Each side checks that of the other before it sends anything else; a
house that does not know the key gets no proof. What follows is not encrypted: houses need a private network, or a
tunnel.
"""

import hashlib
import hmac
import secrets
from typing import Final

GREETING: Final = b"cohabit houses 1\n"
"""The last number is the version."""
NONCE_BYTES: Final = 32
PROOF_BYTES: Final = 32
HELLO_BYTES: Final = len(GREETING) + NONCE_BYTES
MAX_NAME_BYTES: Final = 255
ANSWER_BYTES: Final = 1 + PROOF_BYTES
HERE, GONE = b"\x00", b"\x01"
"""Answers: the wanted node has the connection now; there is no such node here."""


class NotTheKey(Exception):
    """The other side does not have the key, or speaks something else."""


def hello() -> bytes:
    """The first message of the side that accepted."""
    return GREETING + secrets.token_bytes(NONCE_BYTES)


def request(key: str, hello: bytes, node: str) -> bytes:
    """The message of the side that connected: the node that it wants, and a proof that it has the key."""
    if not hello.startswith(GREETING) or len(hello) != HELLO_BYTES:
        raise NotTheKey("it does not speak as a house of this version")
    name = node.encode()
    assert len(name) <= MAX_NAME_BYTES, "the name of a node is short"
    said = bytes([len(name)]) + name + secrets.token_bytes(NONCE_BYTES)
    return said + _proof(key, b"connected", hello + said)


def request_bytes(length: int) -> int:
    """The number of bytes that follow the first one of a request, which is the length of the name."""
    return length + NONCE_BYTES + PROOF_BYTES


def wanted(key: str, hello: bytes, request: bytes) -> str:
    """The node that the other side wants. Raises if it does not have the key."""
    said, proof = request[:-PROOF_BYTES], request[-PROOF_BYTES:]
    if not hmac.compare_digest(proof, _proof(key, b"connected", hello + said)):
        raise NotTheKey("it does not have the key of these houses (houses_key)")
    return said[1:-NONCE_BYTES].decode(errors="replace")


def answer(key: str, hello: bytes, request: bytes, is_here: bool) -> bytes:
    """The last message of the side that accepted."""
    said = HERE if is_here else GONE
    return said + _proof(key, b"accepted", hello + request + said)


def is_here(key: str, hello: bytes, request: bytes, answer: bytes) -> bool:
    """True if the wanted node has the connection. Raises if the other side does not have the key."""
    said, proof = answer[:1], answer[1:]
    if not hmac.compare_digest(proof, _proof(key, b"accepted", hello + request + said)):
        raise NotTheKey("it does not have the key of these houses (houses_key)")
    return said == HERE


def _proof(key: str, side: bytes, said: bytes) -> bytes:
    return hmac.digest(key.encode(), side + b"\n" + said, hashlib.sha256)
