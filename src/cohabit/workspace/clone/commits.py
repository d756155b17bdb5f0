"""Making commits: by whom, with what message, signed or not.

The author is the agent that calls, not whoever set up the clone. The message begins with ``[agent-id]`` and ends with
the trailer ``Agent: agent-id``, which tells two clients of one person apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, Conflict, GitFailed, TooLarge
from cohabit.workspace.clone import plain_git, refs
from cohabit.workspace.clone.deltas import EMPTY_TREE
from cohabit.workspace.clone.git import Done, as_author, failure
from cohabit.workspace.formats.plain import plain
from cohabit.workspace.limits import LONGEST_TEXT
from cohabit.workspace.person.identity import Identity

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

TRAILER: Final = "Agent"
FORGED: Final = re.compile(rf"^(?=[ \t]*{TRAILER}[ \t]*:)", re.IGNORECASE | re.MULTILINE)
ANY_TRAILER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S.*")
SUMMARY: Final = re.compile(
    r"^ (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit that was just made."""

    sha: str
    branch: str
    changes: int
    insertions: int
    deletions: int


def message_of(who: Identity, text: str) -> str:
    """The whole message of a commit by ``who``; raises BadArgs where there is nothing to say."""
    if len(text) > LONGEST_TEXT:
        raise TooLarge(
            f"a commit message of {len(text)} characters; at most {LONGEST_TEXT} fit, say the rest in a file"
        )
    prefix = f"[{who.agent_id}]"
    said = plain("\n".join(text.splitlines())).strip().removeprefix(prefix).strip()
    if not said:
        raise BadArgs("the commit message is blank: say in one line what you did")
    said = FORGED.sub("> ", said)
    last = said.rpartition("\n\n")[2]
    trailers = last != said and all(ANY_TRAILER.fullmatch(line) for line in last.split("\n"))
    gap = "\n" if trailers else "\n\n"
    return f"{prefix} {said}{gap}{TRAILER}: {who.agent_id}\n"


def commit_tree(ws: "Workspace", tree: str, parents: Sequence[str], message: str) -> str:
    """A commit of a tree that is already written; moves no branch. Returns its sha."""
    args = [arg for parent in parents for arg in ("-p", parent)]
    done = _made(ws, "commit-tree", tree, *args, *ws.signing.option(), message=message)
    if done.code != 0:
        raise _refused(ws, "commit-tree", done)
    return done.line


def commit_index(ws: "Workspace", message: str) -> Committed | None:
    """Commit what is staged, and the caller's own pointer with it; None where nothing is staged."""
    message_of(ws.who, message)  # a blank message is refused before anything is looked at
    branch = refs.on_branch(ws)
    if not _anything_to_commit(ws):
        return None
    pointer = own_pointer(ws)
    if pointer and not ws.git.run("ls-files", "-z", "--", pointer).out:
        # `commit --include` ignores a path that git does not know. An intent to add stages nothing by itself.
        ws.git.run("add", "--intent-to-add", "--force", "--", pointer)
    done = _commit(ws, message, pointer)
    if done.code != 0:
        if not _anything_to_commit(ws):  # a person's commit was faster, and took it
            return None
        raise _refused(ws, "commit", done)
    made = refs.head(ws)
    assert made is not None
    changes, insertions, deletions = (int(n or 0) for n in _summary(done.text))
    return Committed(made, branch, changes, insertions, deletions)


def own_pointer(ws: "Workspace") -> str | None:
    """The path of the caller's pointer, where there is such a file (a link is none)."""
    path = f".pointers/{ws.who.agent_id}.json"
    try:
        ws.tree.size(path)
    except (FileNotFoundError, BadArgs):
        return None
    return path


def _anything_to_commit(ws: "Workspace") -> bool:
    """Something is staged, or a person began a merge with plain git, which the next commit ends."""
    against = refs.head(ws) or EMPTY_TREE
    options = ("--cached", "--ita-invisible-in-index", "--quiet")
    staged = ws.git.run("diff-index", *options, against, "--", ok=(0, 1)).code == 1
    return staged or plain_git.unfinished(ws) == "merge"


def _commit(ws: "Workspace", message: str, pointer: str | None) -> Done:
    include = ["--include", "--", pointer] if pointer else []
    options = ["--no-verify", "--cleanup=verbatim", "-F", "-", *ws.signing.option()]
    return _made(ws, "commit", *options, *include, message=message)


def _made(ws: "Workspace", *args: str, message: str) -> Done:
    now = ws.now()
    when = f"@{int(now.timestamp())} {now:%z}"
    extra = as_author(ws.who) | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} | ws.signing.environ()
    text = message_of(ws.who, message).encode()
    return ws.git.run(*args, stdin=text, ok=range(256), extra=extra, config=ws.signing.config())


def _refused(ws: "Workspace", command: str, done: Done) -> Exception:
    said = done.err + done.text
    if "unmerged" in said or "unresolved conflict" in said:
        return Conflict("files here are in the middle of a merge made by hand: settle them, add them, commit again")
    if ws.signing.key and "sign" in done.err:  # git's words have the key's path in them
        return GitFailed(
            "git could not sign the commit, so nothing was committed: the signing key must be a private SSH key that "
            "needs no passphrase, or is in the ssh-agent"
        )
    return failure(command, done, ws.root, network=False)


def _summary(said: str) -> tuple[str | None, ...]:
    _, _, rest = said.partition("\n")  # the first line is the subject, which anybody may write
    found = SUMMARY.search(rest)
    return found.groups() if found else ("0", "0", "0")
