"""Checks that the entries and items of a board were committed by the agents that they name.

Every line of an entry must come from a commit of its agent, so an entry that somebody else wrote or edited is found. An
item has lines of several agents: of the one that added it, claimed it, closed it. What is not committed yet is neither
verified nor not.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from cohabit.workspace.answers import Answer
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import LINE, Item
from cohabit.workspace.formats.journal import Block, Journal
from cohabit.workspace.formats.stamps import Hidden
from cohabit.workspace.formats.text import displayable, is_blank, lines_of, without_trailing_blanks
from cohabit.workspace.reading import blame, history
from cohabit.workspace.workspace import Workspace

PREFIX: Final = re.compile(r"\[([^\]]+)\] ")
NOT_COMMITTED: Final = "0" * 40
MAX_NAME_CHARS: Final = 100
Expected = dict[int, frozenset[str]]
"""For each line number, the agents that may have committed the line."""


class Claim(NamedTuple):
    """The claim of an entry or an item: the agents of its lines, those of its blank lines, and its text."""

    filled: Expected
    blank: Expected
    text: str


def of_entries(ws: Workspace, journal: Journal, blocks: Iterable[Block]) -> dict[str, Answer]:
    """``verified``, and if it is false ``committed_by``, by the key of the entry."""
    first, line = dict[int, int](), 1 + journal.preamble.count("\n")
    for block in journal.blocks:
        first[id(block)] = line
        line += block.text.count("\n")
    found = list(blocks)
    claims = {block.key: _claim_of_entry(block, first[id(block)]) for block in found}
    names = {block.key: entry.agent_name for block in found if (entry := block.entry)}

    def lines(keys: Collection[str]) -> list[int]:
        others = [block for block in journal.blocks if block.key in keys]
        return [number for block in others for number in _claim_of_entry(block, first[id(block)]).filled]

    return _verified(ws, JOURNAL, claims, names, lines)


def of_items(ws: Workspace, inbox: Inbox, items: Iterable[Item]) -> dict[str, Answer]:
    """The same for items."""
    first, line = dict[int, int](), 1 + inbox.preamble.count("\n")
    for section in inbox.sections:
        line += section.heading.count("\n")
        for item in section.items:
            first[id(item)] = line
            line += item.text.count("\n")

    def lines(keys: Collection[str]) -> list[int]:
        others = [item for item in inbox.items if item.key in keys]
        return [number for item in others for number in _claim_of_item(item, first[id(item)]).filled]

    return _verified(ws, INBOX, {item.key: _claim_of_item(item, first[id(item)]) for item in items}, {}, lines)


def _claim_of_entry(block: Block, first: int) -> Claim:
    text = without_trailing_blanks(block.own)
    expected = dict.fromkeys(range(first, first + text.count("\n") + 1), frozenset([block.author]))
    return _claim(expected, text, first)


def _claim_of_item(item: Item, first: int) -> Claim:
    text = without_trailing_blanks(item.text)
    names = [item.added_by, item.claimed_by, *(closing.by for closing in item.closings)]
    expected = {first: frozenset(name for name in names if name)}
    for number, line in enumerate(lines_of(text)[1:], first + 1):
        own = LINE.fullmatch(line.rstrip())
        if Hidden.read(line) is None and not (own and own[1] == "also closed"):  # merging writes these
            expected[number] = frozenset([own[3] if own and own[3] in names else item.added_by])
    return _claim({number: agents for number, agents in expected.items() if agents != {""}}, text, first)


def _claim(expected: Expected, text: str, first: int) -> Claim:
    blank = {number for number, line in enumerate(text.split("\n"), first) if is_blank(line)}
    filled = {number: agents for number, agents in expected.items() if number not in blank}
    return Claim(filled, {number: agents for number, agents in expected.items() if number in blank}, text)


def _verified(
    ws: Workspace, path: str, claims: dict[str, Claim], names: dict[str, str], spans: blame.Spans
) -> dict[str, Answer]:
    filled = sorted(number for claim in claims.values() for number in claim.filled)
    blamed = blame.origins(ws, path, filled, [*claims], spans)
    expected = {key: claim.filled for key, claim in claims.items()}
    if changed := _not_in_their_commits(ws, path, claims, blamed):
        expected |= {key: claims[key].filled | claims[key].blank for key in changed}
        blank = sorted(number for key in changed for number in claims[key].blank)
        blamed |= blame.origins(ws, path, blank, changed, spans)
    commits = _commits(ws, set(blamed.values()) - {NOT_COMMITTED})
    return {key: _judged(ws, each, names.get(key), blamed, commits) for key, each in expected.items()}


def _not_in_their_commits(ws: Workspace, path: str, claims: dict[str, Claim], blamed: dict[int, str]) -> list[str]:
    """The keys of those with blank lines whose text is in none of the commits that their other lines come from.

    To git all blank lines are equal: it may take one for a line of any older entry, and reads all of history to find
    that one. So they are followed only where one may have been inserted or removed."""
    shas = {
        key: {blamed[number] for number in claim.filled if number in blamed} - {NOT_COMMITTED}
        for key, claim in claims.items()
        if claim.blank
    }
    there = blame.contained(ws, path, {key: claims[key].text for key in shas}, shas)
    return [key for key in shas if key not in there]


def _judged(
    ws: Workspace, expected: Expected, name: str | None, blamed: dict[int, str], commits: dict[str, Any]
) -> Answer:
    verified: bool | None = True if expected else None
    for number, agents in expected.items():
        commit = commits.get(blamed.get(number, NOT_COMMITTED))
        if commit is None:
            verified = None
            continue
        agent = _agent(commit, name)
        if agent not in agents or not ws.made_by(commit["sha"], agent) or commit.get("verified") is False:
            by = displayable(agent if agent and agent not in agents else commit["author_name"])[:MAX_NAME_CHARS]
            return {"verified": False, "committed_by": by}
        if commit.get("verified", True) is None:  # signing is set up, and the commit is not signed
            verified = None
    return {"verified": verified}


def _agent(commit: Answer, name: str | None) -> str:
    """The agent of a commit. Multisphere writes no trailer: its prefix counts if the author has the agent's name."""
    prefix = PREFIX.match(commit["message"])
    known = prefix[1] if prefix and name in (None, commit["author_name"]) else ""
    return str(commit["agent_id"] or known)


def _commits(ws: Workspace, shas: set[str]) -> dict[str, Any]:
    """Commits by sha. Git's blame would show their authors as a pulled ``.mailmap`` says, so they are read again."""
    if not shas:
        return {}
    found = history.commits(ws, "--no-walk=unsorted", "--no-mailmap", "--end-of-options", *sorted(shas))
    return {commit["sha"]: commit for commit in found}
