"""Reads the claims of an access token: who may sign in, and which roles it gets in rooms.

Two settings consist of such rules: ``oauth_require`` (``CLAIM=VALUE``) and ``oauth_roles``
(``CLAIM=VALUE -> ROLE in ROOM``), separated by semicolons.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.grant import role_named

LISTS_OF_WORDS: Final = frozenset({"scope", "scp"})
"""Claims whose value is a list of words in one text."""


class Condition(Struct, frozen=True):
    """A claim that a token must have: with this value, or with a list that contains it."""

    claim: str
    value: str

    def holds(self, claims: Mapping[str, Any]) -> bool:
        found = _find(claims, self.claim)
        if isinstance(found, str) and self.claim in LISTS_OF_WORDS:
            return self.value in found.split()
        return self.value in _texts(found)


class RoleRule(Struct, frozen=True):
    """The role that a claim gives in a room; ``*``: in every room."""

    condition: Condition
    role: str
    room: str


def _find(claims: Mapping[str, Any], name: str) -> Any:
    """A claim by its name, or by a path with dots: providers nest some (``realm_access.roles``), and others have names
    with dots in them (``https://example.org/roles``)."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    said = {True: "true", False: "false"}
    return [said[one] if isinstance(one, bool) else str(one) for one in values if isinstance(one, str | int)]


def parse_conditions(text: str, setting: str = "oauth_require") -> list[Condition]:
    return [_condition(part, setting) for part in _parts(text)]


def parse_roles(text: str) -> list[RoleRule]:
    """The rules of ``oauth_roles``, in their order."""
    return [_role_rule(part) for part in _parts(text)]


def roles_from(rules: Sequence[RoleRule], claims: Mapping[str, Any]) -> dict[str, str]:
    """The role in each room that these claims give. Of several rules for a room, the first counts."""
    found: dict[str, str] = {}
    for rule in rules:
        if rule.condition.holds(claims):
            found.setdefault(rule.room, rule.role)
    return found


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _condition(text: str, setting: str) -> Condition:
    claim, equals, value = (word.strip() for word in text.partition("="))
    if not (claim and equals and value):
        raise BadArgs(f"settings: {setting}: {text[:80]!r} must have the form CLAIM=VALUE, such as groups=players")
    return Condition(claim, value)


def _role_rule(text: str) -> RoleRule:
    condition, _, given = text.rpartition("->")
    role, _, room = (word.strip() for word in given.partition(" in "))
    if not (condition and role and room):
        raise BadArgs(
            f"settings: oauth_roles: {text[:80]!r} must have the form CLAIM=VALUE -> ROLE in ROOM, such as "
            "groups=players -> player in chess; * stands for every room"
        )
    wanted = _condition(condition, "oauth_roles")
    try:
        return RoleRule(wanted, role_named(role), room)
    except BadArgs as wrong:
        raise BadArgs(f"settings: oauth_roles: {wrong.message}", did_you_mean=wrong.did_you_mean) from None
