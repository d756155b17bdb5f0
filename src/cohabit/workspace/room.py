"""The workspace as a room of a house: which tools it offers under which names, and the identity of a member.

A member of a room has one workspace, which the house keeps for it, so it cannot create, list or switch workspaces. Its
identity comes from the room, never from the member itself.
"""

import re
from hashlib import sha256
from typing import Final

from cohabit.workspace.person.identity import Identity, is_slug
from cohabit.workspace.tool import Tool
from cohabit.workspace.tools import tools

PERSONAL_TOOLS: Final = ("workspace_init", "workspace_list", "workspace_switch")
"""Tools for the workspaces of a person on their own machine."""
ROOM_NAMES: Final = {"archive": "workspace_archive"}
"""Tools with another name in a room, where `archive` closes the room."""
DERIVED_ID: Final = re.compile(r".*-[0-9a-f]{8}")
"""An id that was derived from a name which is not a valid id."""


def room_tools() -> dict[str, Tool]:
    """The tools of a room, by their names there."""
    return {ROOM_NAMES.get(name, name): tool for name, tool in tools().items() if name not in PERSONAL_TOOLS}


def member_identity(member: str, room: str) -> Identity:
    """The identity of a member in the workspace of its room. Different members have different ids: a name that is not
    a valid id gets a digest, and a name that looks like such an id gets one too."""
    agent_id = member
    if not is_slug(member) or DERIVED_ID.fullmatch(member):
        slug = re.sub(r"[^a-z0-9]+", "-", member.lower()).strip("-")[:40] or "member"
        agent_id = f"{slug}-{sha256(member.encode()).hexdigest()[:8]}"
    name = re.sub(r"[<>]", "", member).strip() or agent_id
    return Identity(agent_id, name, f"{agent_id}@{room}.invalid")
