"""Staging and committing.

The author is the agent that calls, not the person who set up the clone. The message begins with ``[agent-id]`` and ends
with the trailer ``Agent: agent-id``, which distinguishes two clients of one person.
"""

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from cohabit.errors import BadArgs, CohabitError, Conflict, GitFailed, PermissionDenied, TooLarge, UnknownAsset
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import facts, plain_git, protocol_files, refs
from cohabit.workspace.clone.git import Result, author_environment, failure
from cohabit.workspace.clone.objects import EMPTY_TREE
from cohabit.workspace.clone.tree import pathspecs
from cohabit.workspace.formats.quoting import listed, quoted
from cohabit.workspace.formats.text import displayable
from cohabit.workspace.limits import MAX_ADD_BYTES, MAX_TEXT_CHARS
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.workspace import Workspace

TRAILER: Final = "Agent"
FORGED_TRAILER: Final = re.compile(rf"^(?=[ \t]*{TRAILER}[ \t]*:)", re.IGNORECASE | re.MULTILINE)
ANY_TRAILER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S.*")
SUMMARY: Final = re.compile(
    r"^ (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$", re.MULTILINE
)
CONFLICT_MARKERS: Final = re.compile(rb"^<{7} .*^>{7} ", re.MULTILINE | re.DOTALL)


# -- staging --------------------------------------------------------------------------------------
def add(ws: Workspace, paths: Annotated[list[str], "files and folders; a missing file is staged as removed"]) -> Answer:
    """Stage files for the next commit."""
    # A wrong path stages nothing; an ignored path is refused after the others were staged.
    if wanted := pathspecs(paths):
        _stage(ws, wanted)
    return {"added": paths}


def _stage(ws: Workspace, wanted: list[str]) -> None:
    folders = [path for path in wanted if _is_folder(ws, path)]
    _refuse_unresolved(ws, wanted)
    changed = wanted
    if folders:
        _refuse_repositories(ws, folders)
        _add(ws, "--dry-run", "--", *wanted)
        changed = ws.git.run("ls-files", "-z", "--modified", "--others", "--exclude-standard", "--", *wanted).fields
    _refuse_large(ws, changed)
    protocol_files.check_add(ws, changed)
    _add(ws, "--", *wanted)


def _refuse_large(ws: Workspace, paths: list[str]) -> None:
    """A commit with such a file could never be shared, and nor could what is committed after it."""
    for path in paths:
        full = ws.root / path
        if os.path.lexists(full) and os.lstat(full).st_size > MAX_ADD_BYTES:
            raise TooLarge(
                f"nothing was added: {quoted(path)} has more than {MAX_ADD_BYTES >> 20} MiB, and many remotes, such as "
                "GitHub, refuse a push with it. Split it, or keep it elsewhere and write down where"
            )


def _refuse_repositories(ws: Workspace, folders: list[str]) -> None:
    """A folder may contain a repository that is registered as a submodule: git would start a git in it, with the
    configuration of that repository. The dry run finds one that is not registered: git would add it as a link to a
    commit that nobody else has."""
    for field in ws.git.run("ls-files", "--stage", "-z", "--", *folders).fields:
        entry, _, path = field.partition("\t")
        if entry.startswith("160000 ") and os.path.lexists(ws.root / path / ".git"):
            raise _nested_repository(quoted(path))


def _refuse_unresolved(ws: Workspace, wanted: list[str]) -> None:
    """Adding a file with conflict markers of a merge by hand would mark it as resolved."""
    command = plain_git.unfinished(ws.root)
    if command is None and not os.path.lexists(ws.root / ".git" / "AUTO_MERGE"):  # left by a stash that conflicts
        return
    unmerged = ws.git.run("ls-files", "--unmerged", "-z", "--", *wanted).fields
    paths = sorted({field.partition("\t")[2] for field in unmerged})
    if unresolved := [path for path in paths if _has_markers(ws, path)]:
        abort = f", or end the {command} with `git {command} --abort`" if command else ""
        raise Conflict(
            f"nothing was added: {listed(unresolved)} still contains both sides of a {command or 'merge'} by "
            f"hand, between <<<<<<< and >>>>>>>; resolve it first{abort}"
        )


def _has_markers(ws: Workspace, path: str) -> bool:
    try:
        text = ws.tree.read(path)
    except (FileNotFoundError, BadArgs):
        return False
    return CONFLICT_MARKERS.search(text) is not None


def _add(ws: Workspace, *args: str) -> str:
    result = ws.git.run("add", *args, ok=(0, 1, 128))
    if result.code != 0 or "embedded git repository" in result.err:
        raise _add_failed(ws, result)
    return result.out.decode(errors="surrogateescape")


def _is_folder(ws: Workspace, path: str) -> bool:
    """True if this is a folder, without following links; raises BadArgs if there is a link on the path."""
    *folders, name = path.split("/")
    try:
        with ws.tree.folder(folders) as fd:
            return stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False  # removed, or never existed: git knows which


def _add_failed(ws: Workspace, result: Result) -> CohabitError:
    message = "\n".join(line for line in result.err.splitlines() if not line.startswith("hint:"))
    first = message.partition("\n")[0].removeprefix("warning: ").removeprefix("fatal: ").removeprefix("error: ")
    if "did not match any files" in message:
        return UnknownAsset(f"nothing was added: {first}; status shows what there is to add")
    if "embedded git repository" in message or "does not have a commit checked out" in message:
        return _nested_repository(first)
    if "in submodule" in message:
        return PermissionDenied(f"nothing was added: {first}; files in a submodule belong to another repository")
    if "ignored by one of your .gitignore" in message:
        ignored = ", ".join(message.splitlines()[1:])
        return BadArgs(f"these paths are ignored by a .gitignore file: {ignored}; add the others without them")
    return failure("add", Result(result.code, b"", message), ws.root, network=False)


def _nested_repository(where: str) -> PermissionDenied:
    return PermissionDenied(
        f"nothing was added: there is another git repository inside ({where}); a workspace holds files only, so remove "
        "its .git folder or leave it out"
    )


# -- committing -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Committed:
    """A new commit."""

    sha: str
    branch: str
    changes: int
    insertions: int
    deletions: int


def commit(ws: Workspace, message: Annotated[str, "what you did; [agent-id] is put in front"]) -> Answer:
    """Commit what is staged, with you as the author. Your own pointer is included."""
    made = commit_index(ws, message)
    if made is None:
        return {
            "sha": "",
            "branch": "",
            "summary": {"changes": 0, "insertions": 0, "deletions": 0},
            "note": "Nothing was committed because nothing is staged. Call add with the files you changed (status "
            "lists them), then commit again.",
        }
    summary = {"changes": made.changes, "insertions": made.insertions, "deletions": made.deletions}
    return {"sha": made.sha, "branch": made.branch, "summary": summary}


def full_message(identity: Identity, text: str) -> str:
    """The message of a commit by this agent, with prefix and trailer; raises BadArgs if it is blank."""
    if len(text) > MAX_TEXT_CHARS:
        raise TooLarge(
            f"the commit message has {len(text)} characters; the limit is {MAX_TEXT_CHARS}. Put the rest into a file"
        )
    prefix = f"[{identity.agent_id}]"
    message = displayable("\n".join(text.splitlines())).strip().removeprefix(prefix).strip()
    if not message:
        raise BadArgs("the commit message is blank; describe in one line what you did")
    message = FORGED_TRAILER.sub("> ", message)
    last = message.rpartition("\n\n")[2]
    trailers = last != message and all(ANY_TRAILER.fullmatch(line) for line in last.split("\n"))
    gap = "\n" if trailers else "\n\n"
    return f"{prefix} {message}{gap}{TRAILER}: {identity.agent_id}\n"


def commit_tree(ws: Workspace, tree: str, parents: Sequence[str], message: str) -> str:
    """Make a commit of a tree and return its sha; no branch moves."""
    args = [arg for parent in parents for arg in ("-p", parent)]
    result = _run_as_author(ws, "commit-tree", tree, *args, *ws.signing.option(), message=message)
    if result.code != 0:
        raise _commit_failed(ws, "commit-tree", result)
    facts.commit_made(ws, result.line)
    return result.line


def commit_index(ws: Workspace, message: str) -> Committed | None:
    """Commit what is staged together with the caller's own pointer; None if nothing is staged."""
    full_message(ws.identity, message)  # a blank message is refused first
    branch = refs.on_branch(ws)
    pointer = own_pointer(ws)
    version = _version(ws, pointer) if pointer else None
    if pointer and ws.committed_pointers.get(pointer) == version:
        pointer = None  # the last commit has it already
    if pointer and not _anything_to_commit(ws):  # a pointer alone is not worth a commit
        return None
    if pointer and pointer not in ws.tracked_pointers:
        # `commit --include` ignores a path that git does not know. An intent to add stages nothing by itself.
        if not ws.git.run("ls-files", "-z", "--", pointer).out:
            ws.git.run("add", "--intent-to-add", "--force", "--", pointer)
        ws.tracked_pointers.add(pointer)
    include = ["--include", "--", pointer] if pointer else []
    options = ["--no-verify", "--cleanup=verbatim", "-F", "-", *ws.signing.option()]
    result = _run_as_author(ws, "commit", *options, *include, message=message)
    if result.code != 0:
        if not _anything_to_commit(ws):  # a person committed it in the meantime
            return None
        raise _commit_failed(ws, "commit", result)
    sha = refs.head(ws)
    assert sha is not None
    facts.commit_made(ws, sha)
    if pointer:
        ws.committed_pointers[pointer] = version
    changes, insertions, deletions = (int(n or 0) for n in _summary(result.text))
    return Committed(sha, branch, changes, insertions, deletions)


def own_pointer(ws: Workspace) -> str | None:
    """The path of the caller's pointer file, None if there is no such file or it is a link."""
    path = f".pointers/{ws.identity.agent_id}.json"
    try:
        ws.tree.size(path)
    except (FileNotFoundError, BadArgs):
        return None
    return path


def _version(ws: Workspace, path: str) -> tuple[int, ...]:
    """Differs whenever the file was written."""
    found = os.lstat(ws.root / path)
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _anything_to_commit(ws: Workspace) -> bool:
    """True if something is staged, or a person began a merge that the next commit concludes."""
    against = refs.head(ws) or EMPTY_TREE
    options = ("--cached", "--ita-invisible-in-index", "--quiet")
    staged = ws.git.run("diff-index", *options, against, "--", ok=(0, 1)).code == 1
    return staged or plain_git.unfinished(ws.root) == "merge"


def _run_as_author(ws: Workspace, *args: str, message: str) -> Result:
    now = ws.now()
    when = f"@{int(now.timestamp())} {now:%z}"
    environ = author_environment(ws.identity) | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    environ |= ws.signing.environ()
    text = full_message(ws.identity, message).encode()
    return ws.git.run(*args, stdin=text, ok=range(256), environ=environ, config=ws.signing.config())


def _commit_failed(ws: Workspace, command: str, result: Result) -> Exception:
    output = result.err + result.text
    if "unmerged" in output or "unresolved conflict" in output:
        return Conflict("a merge by hand has unresolved files in this clone: resolve them, add them, commit again")
    if ws.signing.key and "sign" in result.err:  # git's message contains the path of the key
        return GitFailed(
            "git could not sign the commit, so nothing was committed: the signing key must be a private SSH key that "
            "needs no passphrase, or is in the ssh-agent"
        )
    return failure(command, result, ws.root, network=False)


def _summary(output: str) -> tuple[str | None, ...]:
    _, _, rest = output.partition("\n")  # the first line contains the subject, which can be any text
    found = SUMMARY.search(rest)
    return found.groups() if found else ("0", "0", "0")
