"""The entry policy of a room, and the newcomers in its lobby."""

from msgspec import Struct

from cohabit.model.grant import Capability
from cohabit.model.identity import Kind


class AgentKey(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An agent that may enter by proving that it has the private key."""

    key: dict[str, str]  # a public P-256 key as a JWK: kty, crv, x, y
    label: str = ""
    may: tuple[Capability, ...] | None = None  # None: what agents get by default


class EntryPolicy(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Rules for joining without an invite, and for the lobby. By default only invites are accepted."""

    locked: bool = False  # no newcomers, not even with an invite
    lobby: bool = False  # newcomers wait until a host admits them
    open: bool = False  # anyone who knows the room may join
    code: str = ""  # a salted hash of the code; empty: there is none
    code_is_random: bool = False  # the house has made it, so that nobody can guess it
    names: tuple[str, ...] = ()  # people who may join by giving their name
    agent_keys: tuple[AgentKey, ...] = ()
    kind: Kind = "human"  # of newcomers without an invite or a key
    agents_play: bool = False  # agents that join without an invite or a key are players; otherwise they watch

    def role_of(self, kind: Kind) -> str | None:
        """The role of a newcomer without an invite or a key; None: the default one of its kind."""
        return "player" if kind == "agent" and self.agents_play else None

    @property
    def admits_strangers(self) -> bool:
        """True if newcomers without a token may join."""
        return bool(self.open or self.code or self.names or self.agent_keys)


BY_INVITATION = EntryPolicy()
"""The policy of a room that has not set one."""


class Admission(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A newcomer whose right to join was checked.

    ``may``: exactly these capabilities, instead of a role. ``expires_in_s``: after that the member has none.
    """

    handle: str
    kind: Kind
    identity: str
    name: str = ""
    role: str | None = None
    claim: str | None = None
    team: str | None = None
    stand_in: str | None = None
    invite: str | None = None
    may: list[str] | None = None
    expires_in_s: int | None = None
    backend: str | None = None
    egress: bool = False
    how: str = ""  # in words, for the audit


class Knock(Struct, omit_defaults=True):
    """A newcomer who waits in the lobby, or was denied."""

    id: str
    name: str
    kind: Kind
    how: str
    since: int
    admission: Admission
    denied: bool = False

    @property
    def identity(self) -> str:
        return self.admission.identity


def same_name(name: str) -> str:
    """A name as it is compared: without case and extra spaces."""
    return " ".join(name.split()).casefold()


def same_code(code: str) -> str:
    """A code as it is compared: only letters and digits, without case, so that nobody has to type its hyphens."""
    return "".join(filter(str.isalnum, code)).casefold()
