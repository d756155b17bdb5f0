"""Checks that the entries and items of a board were committed by the agents that they name.

Every line of an entry must come from a commit of its agent, so an entry that somebody else wrote or edited is found. An
item has lines of several agents: of the one that added it, claimed it, closed it. What is not committed yet is neither
verified nor not. A merge may move an entry; it has to leave its text as it is.
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
from cohabit.workspace.reading import blame, history, moved
from cohabit.workspace.workspace import Workspace

PREFIX: Final = re.compile(r"\[([^\]]+)\] ")
NOT_COMMITTED: Final = "0" * 40
MAX_NAME_CHARS: Final = 100
MAX_MOVES: Final = 20
"""Merges through which an entry is followed."""
Expected = dict[int, frozenset[str]]
"""For each line number, the agents that may have committed the line."""


class Claim(NamedTuple):
    """The claim of an entry or an item: the agents of its lines, those of its blank lines, its text and first line."""

    filled: Expected
    blank: Expected
    text: str
    first: int


def of_entries(ws: Workspace, journal: Journal, blocks: Iterable[Block]) -> dict[str, Answer]:
    """``verified``, and if it is false ``committed_by``, by the key of the entry."""
    first = _first_lines(journal)
    found = list(blocks)
    claims = {block.key: _claim_of_entry(block, first[id(block)]) for block in found}
    names = {block.key: entry.agent_name for block in found if (entry := block.entry)}

    def lines(keys: Collection[str]) -> list[int]:
        others = [block for block in journal.blocks if block.key in keys]
        return [number for block in others for number in _claim_of_entry(block, first[id(block)]).filled]

    return _verified(ws, JOURNAL, claims, names, lines, _places_of_entries)


def of_items(ws: Workspace, inbox: Inbox, items: Iterable[Item]) -> dict[str, Answer]:
    """The same for items."""
    first = _first_lines_of_items(inbox)

    def lines(keys: Collection[str]) -> list[int]:
        others = [item for item in inbox.items if item.key in keys]
        return [number for item in others for number in _claim_of_item(item, first[id(item)]).filled]

    claims = {item.key: _claim_of_item(item, first[id(item)]) for item in items}
    return _verified(ws, INBOX, claims, {}, lines, _places_of_items)


def _first_lines(journal: Journal) -> dict[int, int]:
    """The number of the first line of each block, by the id of the object."""
    first, line = dict[int, int](), 1 + journal.preamble.count("\n")
    for block in journal.blocks:
        first[id(block)] = line
        line += block.text.count("\n")
    return first


def _first_lines_of_items(inbox: Inbox) -> dict[int, int]:
    first, line = dict[int, int](), 1 + inbox.preamble.count("\n")
    for section in inbox.sections:
        line += section.heading.count("\n")
        for item in section.items:
            first[id(item)] = line
            line += item.text.count("\n")
    return first


def _places_of_entries(text: str, keys: Collection[str]) -> dict[str, tuple[int, str]]:
    journal = Journal.parse(text)
    first, found = _first_lines(journal), [block for block in journal.blocks if block.key in keys]
    return {block.key: (first[id(block)], without_trailing_blanks(block.own)) for block in found}


def _places_of_items(text: str, keys: Collection[str]) -> dict[str, tuple[int, str]]:
    inbox = Inbox.parse(text)
    first, found = _first_lines_of_items(inbox), [item for item in inbox.items if item.key in keys]
    return {item.key: (first[id(item)], without_trailing_blanks(item.text)) for item in found}


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
    return Claim(filled, {number: agents for number, agents in expected.items() if number in blank}, text, first)


def _verified(
    ws: Workspace,
    path: str,
    claims: dict[str, Claim],
    names: dict[str, str],
    spans: blame.Spans,
    places: moved.Places,
) -> dict[str, Answer]:
    filled = sorted(number for claim in claims.values() for number in claim.filled)
    blamed = blame.origins(ws, path, filled, [*claims], spans)
    expected = {key: claim.filled for key, claim in claims.items()}
    if changed := _not_in_their_commits(ws, path, claims, blamed):
        expected |= {key: claims[key].filled | claims[key].blank for key in changed}
        blank = sorted(number for key in changed for number in claims[key].blank)
        blamed |= blame.origins(ws, path, blank, changed, spans)
    commits = _commits(ws, set(blamed.values()) - {NOT_COMMITTED})
    answers = {key: _judged(ws, each, names.get(key), blamed, commits) for key, each in expected.items()}
    found = {
        key: frozenset(blamed.get(number, NOT_COMMITTED) for number in expected[key])
        for key, answer in answers.items()
        if answer["verified"] is False
    }
    return answers | _before_merges(ws, path, claims, names, found, places)


def _before_merges(
    ws: Workspace,
    path: str,
    claims: dict[str, Claim],
    names: dict[str, str],
    found: dict[str, frozenset[str]],
    places: moved.Places,
) -> dict[str, Answer]:
    """The answers for those whose text a merge moved; ``found`` has the commits of what is not verified, by key. One is
    verified only if its whole text is in one of the commits that its lines then come from."""
    answers = dict[str, Answer]()
    for _ in range(MAX_MOVES):
        parts = {
            key: moved.Part(claims[key].text, tuple(n - claims[key].first for n in sorted(claims[key].filled)), commits)
            for key, commits in found.items()
            if NOT_COMMITTED not in commits
        }
        origins = moved.in_parents(ws, path, parts, places)
        if not origins:
            break
        found = {key: frozenset(lines.values()) for key, lines in origins.items()}
        whole = blame.contained(ws, path, {key: claims[key].text for key in found}, found)
        commits = _commits(ws, set[str]().union(*found.values()))
        for key, lines in origins.items():
            blamed = {claims[key].first + line: sha for line, sha in lines.items()}
            answer = _judged(ws, claims[key].filled, names.get(key), blamed, commits)
            if answer["verified"] is False or key in whole:
                answers[key] = answer
        found = {
            key: commits for key, commits in found.items() if key not in whole or answers[key]["verified"] is False
        }
    return answers


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
