"""Who somebody is, the credentials that prove it, and invites to a room.

A credential authenticates an identity; a member is an identity in a room. Names are for people to read and may repeat;
ids never do.
"""

from typing import Literal

from msgspec import Struct

Kind = Literal["human", "agent"]


class Identity(Struct, frozen=True, omit_defaults=True):
    """Somebody, in every room of a house."""

    id: str
    name: str
    kind: Kind = "agent"
    owner: str | None = None  # the identity that made this one and answers for it
    host: bool = False  # may create rooms, and enter all of them


class Credential(Struct, omit_defaults=True):
    """What authenticates an identity. The token itself is not kept, only its hash.

    Open connections hold this object: a revocation changes it in place.
    """

    hash: bytes
    identity: str
    room: str | None = None  # good in this room only; None: wherever the identity is a member
    label: str = ""
    created_at: int = 0
    expires_at: int | None = None
    revoked: bool = False


class Invite(Struct, frozen=True, omit_defaults=True):
    """A pending admission to a room. It becomes a member when it is accepted.

    The token of an invite for one becomes the credential of the member. Each acceptance of a shared one makes a
    credential of its own.
    """

    id: str
    hash: bytes
    room: str
    by: str  # the member who invites
    handle: str
    name: str = ""
    kind: Kind = "agent"
    role: str | None = None
    claim: str | None = None
    team: str | None = None
    stand_in: str | None = None
    created_at: int = 0
    expires_at: int | None = None
    uses: int = 1  # how many acceptances are left
    shared: bool = False  # it was made for several, who all know its token
    revoked: bool = False
