"""Identities, credentials and invites.

A credential authenticates an identity; a member is an identity in a room. Names are for display and need not be
unique; ids are unique.
"""

from typing import Literal

from msgspec import Struct

Kind = Literal["human", "agent"]
Ended = Literal["left", "removed", "blocked"]
"""The way in which somebody left a room."""


class Identity(Struct, frozen=True, omit_defaults=True):
    """A person or agent, known in all rooms of a house."""

    id: str
    name: str
    kind: Kind = "agent"
    owner: str | None = None  # the identity that created this one and is responsible for it
    host: bool = False  # may create rooms, and enter all of them
    forgotten: tuple[str, ...] | None = None
    """Its data is being deleted: the handles that it had. It stays only until that is done in every record."""
    barred: dict[str, str] = {}  # of an agent key whose data was deleted: see `house.access.limited_keys`


class Credential(Struct, omit_defaults=True):
    """Authenticates an identity. Only the hash of the token is stored.

    Open connections hold this object: a revocation changes it in place.
    """

    hash: bytes
    identity: str
    room: str | None = None  # valid only in this room; None: in all rooms
    label: str = ""
    created_at: int = 0
    expires_at: int | None = None
    revoked: bool = False
    ended: Ended | Literal[""] = ""
    """Why it was revoked, if its member is gone. Until it expires, it shows and deletes the data of its owner."""
    oauth: Literal["", "account", "token"] = ""
    """``account``: as long as it is valid, its identity may sign in with OAuth. No token has its hash. ``token``: an
    access token that was accepted. It is not stored."""
    instead_of: bytes = b""
    """The hash of a token that this one replaces as soon as it is used: of an invite, or of the link of a person."""
    roles: dict[str, str] = {}
    """Of an access token: the role that it gives in each of these rooms; ``*`` stands for every room."""

    @property
    def counted_as(self) -> bytes:
        """Whose limits apply. A token has limits of its own; a client that signs in with OAuth gets a new token every
        few minutes, so all access tokens of an identity share theirs."""
        return self.identity.encode() if self.oauth == "token" else self.hash

    def role_in(self, room: str) -> str | None:
        """The role that an access token gives in a room."""
        return self.roles.get(room) or self.roles.get("*")


class Invite(Struct, frozen=True, omit_defaults=True):
    """A pending admission to a room. Accepting it creates a member.

    Accepting it creates a credential, unless the invitee keeps the token of an invite with one use. Revoking an invite
    removes the members who joined with it.
    """

    id: str
    hash: bytes  # of its signed token
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
    uses: int = 1  # remaining acceptances
    shared: bool = False  # several people have its token
    revoked: bool = False
    may: tuple[str, ...] | None = None  # exactly these capabilities, instead of a role
    member_expires_in_s: int | None = None  # after joining, the member's permissions last this long
    code: bytes = b""  # the hash of the short code in its link, which stands for its token
    watches: bool = False  # it is the link of a room with which anybody watches
