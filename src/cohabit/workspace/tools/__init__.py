"""The tools of an agent, in the order of every list. Each is declared by the function that does its work."""

from typing import Final

from cohabit.errors import UnknownCommand
from cohabit.model.suggest import nearest
from cohabit.workspace.clone import commits
from cohabit.workspace.reading import changes, damage, files, health, history, lost, news, search
from cohabit.workspace.sharing import claims, conflicts, publish
from cohabit.workspace.tool import Profile, Tool, tool
from cohabit.workspace.tools import board, protocol, setup

TOOLS: Final = (
    tool(setup.workspace_init, on="session", writes=True, remote=True),
    tool(setup.workspace_list, on="session"),
    tool(setup.workspace_switch, on="session", writes=True),
    tool(setup.workspace_info, on="session"),
    tool(publish.fetch, writes=True, remote=True),
    tool(publish.pull, writes=True, remote=True),
    tool(changes.status),
    tool(changes.diff),
    tool(history.log),
    tool(commits.add, writes=True),
    tool(commits.commit, writes=True),
    tool(publish.push, writes=True, remote=True),
    tool(files.read),
    tool(files.write, writes=True),
    tool(files.delete, "full", writes=True),
    tool(files.rename, "full", writes=True),
    tool(files.list_),
    tool(search.search),
    tool(protocol.journal_append, writes=True),
    tool(protocol.inbox_add, writes=True),
    tool(protocol.inbox_close, writes=True),
    tool(news.whats_new, writes=True),
    tool(news.ack, "full", writes=True),
    tool(health.health, "full"),
    tool(damage.repair, "full", writes=True),
    tool(lost.restore, "full", writes=True),
    tool(board.journal_tail, "full"),
    tool(board.inbox_list, "full"),
    tool(board.decision_add, "full", writes=True),
    tool(board.archive, "full", writes=True),
    tool(publish.sync, "full", writes=True, remote=True),
    tool(claims.claim, "full", writes=True, remote=True),
    tool(claims.release, "full", writes=True, remote=True),
    tool(conflicts.resolve, "full", writes=True),
    tool(conflicts.abandon, "full", writes=True),
)


def tools(profile: Profile = "full") -> dict[str, Tool]:
    """The tools of a profile, by name."""
    return {tool.name: tool for tool in TOOLS if profile == "full" or tool.profile == "compat"}


def find(name: str, profile: Profile = "full") -> Tool:
    found = tools(profile).get(name)
    if found is None:
        near = nearest(name, tools(profile), 3)
        raise UnknownCommand(f"there is no tool {name[:80]!r}; `tools/list` names those there are", did_you_mean=near)
    return found
