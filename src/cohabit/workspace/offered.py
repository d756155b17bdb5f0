"""What of a workspace a room of a house offers: its tools, under which names, and as whom a member works.

A member of a room has one workspace, which the house keeps for it, so it cannot make, list or switch any. Who it is
comes from the room: the member's name, never anything it says.
"""

import re
from hashlib import sha256
from typing import Final

from cohabit.workspace.person.identity import SLUG, Identity
from cohabit.workspace.tool import Tool, tools

OF_A_PERSON: Final = ("workspace_init", "workspace_list", "workspace_switch")
"""Tools about the workspaces of a person on its own machine."""
OTHER_NAMES: Final = {"archive": "workspace_archive"}
"""Names that every room needs for something else: there, `archive` closes the room."""

MADE_UP: Final = re.compile(r".*-[0-9a-f]{8}")
"""How an id ends that was made from a name which is no slug."""


def offered() -> dict[str, Tool]:
    """The tools that a room offers, by their names there."""
    return {OTHER_NAMES.get(name, name): tool for name, tool in tools().items() if name not in OF_A_PERSON}


def identity_of(member: str, room: str) -> Identity:
    """Who a member of a room is in its workspace. Two members are never one: what a slug cannot keep of a name is
    kept as a digest."""
    agent_id = member if _is_slug(member) else f"{_slug(member)}-{sha256(member.encode()).hexdigest()[:8]}"
    name = re.sub(r"[<>]", "", member).strip() or agent_id
    return Identity(agent_id, name, f"{agent_id}@{room}.invalid")


def _is_slug(member: str) -> bool:
    """Can it be taken as it is? Not where it looks like an id that was made for somebody else."""
    return SLUG.fullmatch(member) is not None and ".." not in member and MADE_UP.fullmatch(member) is None


def _slug(member: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", member.lower()).strip("-")[:40] or "member"
