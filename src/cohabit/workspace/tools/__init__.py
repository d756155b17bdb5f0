"""The tools of an agent, each declared once. The order of these modules is the order of the tools in every list."""

# ruff: noqa: F401, I001
from cohabit.errors import UnknownCommand
from cohabit.workspace.tool import TOOLS, Profile, Tool
from cohabit.workspace.tools import setup
from cohabit.workspace.tools import git
from cohabit.workspace.tools import files
from cohabit.workspace.tools import protocol
from cohabit.workspace.tools import board
from cohabit.workspace.tools import sharing


def tools(profile: Profile = "full") -> dict[str, Tool]:
    """The tools of a profile, in the order of their declaration."""
    return {name: tool for name, tool in TOOLS.items() if profile == "full" or tool.profile == "compat"}


def find(name: str, profile: Profile = "full") -> Tool:
    found = tools(profile).get(name)
    if found is None:
        raise UnknownCommand(f"there is no tool {name[:80]!r}")
    return found
