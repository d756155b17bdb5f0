"""Attacks by repositories: pushed content and the configuration of a clone are data.

The hostile commits are written into the remote object by object, since git itself would refuse to make many of them.
Then an agent pulls and uses every tool, twice. The tools come from the table, as in ``test_attacks``.
"""

import hashlib
import os
import re
import subprocess
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.errors import CohabitError, PermissionDenied
from cohabit.workspace.clone import template
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import origin
from cohabit.workspace.tools import tools

FILE, PROGRAM, LINK, MODULE, FOLDER = "100644", "100755", "120000", "160000", "40000"
HOOKS = (
    "applypatch-msg", "commit-msg", "post-applypatch", "post-checkout", "post-commit", "post-index-change", "post-merge", "post-rewrite",
    "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive",
    "prepare-commit-msg", "push-to-checkout", "reference-transaction", "sendemail-validate", "fsmonitor-watchman", "update",
)  # fmt: skip

SERVERS = ("post-update", "pre-receive", "push-to-checkout", "reference-transaction", "update")
"""Run by the remote's side of a push, which on this machine is the person's as well: those are theirs to choose."""


class Mallory:
    """Writes objects into a bare repository as they are, without asking git."""

    def __init__(self, remote: Path) -> None:
        self.remote = remote
        self.head = (remote / "refs/heads/main").read_text().strip()

    def put(self, kind: str, data: bytes) -> str:
        whole = f"{kind} {len(data)}\0".encode() + data
        sha = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        place = self.remote / "objects" / sha[:2] / sha[2:]
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            place.write_bytes(zlib.compress(whole, 1))
        return sha

    def tree(self, files: "dict[bytes, tuple[str, bytes]]") -> str:
        """A tree of files by path; the content of a submodule's is the commit."""
        here: list[tuple[bytes, str, str]] = []
        below: dict[bytes, dict[bytes, tuple[str, bytes]]] = {}
        for path, (mode, content) in files.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(name, {})[rest] = (mode, content)
            else:
                here.append((name, mode, content.decode() if mode == MODULE else self.put("blob", content)))
        here += [(name, FOLDER, self.tree(inside)) for name, inside in below.items()]
        here.sort(key=lambda entry: entry[0] + b"/" * (entry[1] == FOLDER))
        return self.put("tree", b"".join(f"{m} ".encode() + n + b"\0" + bytes.fromhex(s) for n, m, s in here))

    def push(
        self,
        files: "dict[str | bytes, tuple[str, bytes | str]]",
        message: bytes = b"[mallory-cli] Hostile",
        author: bytes = b"Mallory <m@example.org> 1779453000 +0000",
        tree: str | None = None,
        ref: str = "refs/heads/main",
        extra: bytes = b"",
    ) -> str:
        """A commit of the template and ``files`` on top of what is there."""
        whole: dict[bytes, tuple[str, bytes]] = {
            path.encode(): (FILE, text.encode()) for path, text in template.files("board").items()
        }
        for path, (mode, content) in files.items():
            key = path if isinstance(path, bytes) else path.encode()
            whole = {old: kept for old, kept in whole.items() if not old.startswith(key + b"/")}
            whole[key] = (mode, content.encode() if isinstance(content, str) else content)
        lines = [
            f"tree {tree or self.tree(whole)}".encode(),
            f"parent {self.head}".encode(),
            b"author " + author,
            b"committer " + author,
        ]
        commit = self.put("commit", b"\n".join(lines) + b"\n" + extra + b"\n" + message)
        place = self.remote / ref
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(commit + "\n")
        if ref == "refs/heads/main":
            self.head = commit
        return commit


@pytest.fixture
def mallory(remote):
    return Mallory(remote)


@pytest.fixture
def ann(clone, guard, monkeypatch):
    monkeypatch.setattr(origin, "RETRY_PAUSE", 0)  # a remote that is broken stays so
    session = clone("ann")
    guard.watch()
    return session


LAYOUT = {path.partition("/")[0]: "dir" if "/" in path else "file" for path in template.files("board")}
"""The top-level names of any workspace."""
PATHS = {"read": "path", "list": "dir", "search": "paths", "diff": "paths", "log": "paths", "write": "path"}
"""Tools that are called with every pulled path, and their arguments."""


@pytest.fixture
def tour(attempt, required):
    """`tour(session)`: every tool, in the order of the table, after a pull; and whatever the pull brought, by every tool
    of paths."""

    def walk(session: Session) -> dict[str, dict[str, Any]]:
        attempt(session, "pull", {})
        answers = {
            name: attempt(session, name, required(tool))
            for name, tool in tools("full").items()
            if name != "workspace_init"
        }
        for entry in answers["list"].get("entries", []):
            if entry["type"] == LAYOUT.get(entry["name"]):
                continue
            for name, argument in PATHS.items():
                value = [entry["name"]] if argument == "paths" else entry["name"]
                if name != "write" or entry["type"] != "file":
                    attempt(session, name, {"query": "SECRET", "content": "mine\n", argument: value})
        attempt(session, "add", {"paths": ["."]})
        attempt(session, "diff", {"since": "HEAD~1"})
        attempt(session, "commit", {"message": "What I did"})
        attempt(session, "push", {})
        return answers

    return walk


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True, text=True).stdout.strip()


# -- links ----------------------------------------------------------------------------------------
OUT = "../../outside"
LINKS = {
    "to the outside": {"link": OUT, "research/link": f"../{OUT}", "secret": f"{OUT}/secret.txt", "etc": "/etc"},
    "to git's folder": {"dotgit": ".git", "config": ".git/config", "drafts/hooks": "../.git/hooks", "x": ".GIT"},
    "in a loop": {"loop": "loop", "a": "b", "b": "a", "research/up": "..", "drafts/here": "."},
    "for the journal": {"journal.md": f"{OUT}/journal.md"},
    "for the inbox": {"inbox.md": f"{OUT}/inbox.md"},
    "for the journal, to git": {"journal.md": ".git/config", "inbox.md": ".git/HEAD"},
    "for the pointers": {".pointers": f"{OUT}/folder"},
    "for my pointer": {".pointers/ann-cli.json": f"../{OUT}/folder/ann-cli.json"},
    "for folders of the layout": {"decisions": OUT, "journal-archive": OUT, "drafts": OUT, "research": ".git"},
    "for files that git reads": {".gitattributes": f"{OUT}/secret.txt", ".gitignore": "/dev/zero", ".gitmodules": ".git/config", ".mailmap": "/dev/zero"},
    "with odd targets": {"nul": "/dev/zero", "tty": "/dev/tty", "long": "x/" * 1500, "empty-ish": " ", "self": "/proc/self/environ", "nl": "a\nb"},
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.sampled
@pytest.mark.parametrize("case", LINKS)
def test_pulled_links_are_not_followed(case, ann, guard, mallory, tour):
    mallory.push({path: (LINK, target) for path, target in LINKS[case].items()})
    tour(ann)
    guard.check()


def test_a_pulled_link_does_not_replace_a_folder_with_own_files(ann, guard, mallory, tour, attempt):
    attempt(ann, "write", {"path": "research/mine.md", "content": "mine\n"})
    mallory.push({"research": (LINK, OUT)})
    tour(ann)
    assert not (guard.outside / "mine.md").exists()


# -- files that git reads -------------------------------------------------------------------------
ATTRIBUTES = """\
* filter=evil diff=evil merge=evil ident export-subst
*.md working-tree-encoding=UTF-16 eol=crlf text
drafts/** filter=lfs -text binary
[attr]binary2 diff=evil
"""
CLONEABLE = ATTRIBUTES.replace("filter=lfs", "filter=evil")
"""The same for a new clone: a repository with files in LFS is refused."""
PERSON = """\
[filter "evil"]
\tclean = {trap}; cat
\tsmudge = {trap}; cat
\tprocess = {trap}
\trequired = true
[filter "lfs"]
\tprocess = {trap}
\tclean = {trap}
\tsmudge = {trap}
[diff "evil"]
\tcommand = {trap}
\ttextconv = {trap}
[merge "evil"]
\tdriver = {trap}
[diff]
\texternal = {trap}
[core]
\tfsmonitor = {trap}
\thooksPath = {hooks}
\tpager = {trap}
\teditor = {trap}
\taskPass = {trap}
\tattributesFile = {hooks}/attributes
[commit]
\tgpgSign = true
[push]
\tgpgSign = true
[log]
\tshowSignature = true
[gpg]
\tprogram = {trap}
[gpg "ssh"]
\tprogram = {trap}
\tdefaultKeyCommand = {trap}
[trailer "agent"]
\tcommand = {trap}
\tcmd = {trap}
[interactive]
\tdiffFilter = {trap}
[sequence]
\teditor = {trap}
[submodule]
\trecurse = true
[alias]
\tstatus = !{trap}
\tfetch = !{trap}
[init]
\ttemplateDir = {hooks}
[maintenance]
\tauto = true
"""


@pytest.fixture
def person(guard, tmp_path, monkeypatch):
    """A person whose own configuration names a program for everything."""
    home = tmp_path / "person"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "attributes").write_text("* filter=evil diff=evil\n")
    for name in set(HOOKS) - set(SERVERS):
        (hooks / name).write_text(f"#!/bin/sh\n{guard.trap}\n")
        (hooks / name).chmod(0o755)
    (home / ".gitconfig").write_text(PERSON.format(trap=guard.trap, hooks=hooks))
    monkeypatch.setenv("HOME", str(home))
    for name in (
        "PAGER",
        "EDITOR",
        "VISUAL",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
    ):
        monkeypatch.setenv(name, guard.trap)
    guard.watch()
    return home


@pytest.mark.parametrize("place", [".gitattributes", "drafts/.gitattributes"])
def test_attributes_of_a_pulled_repository_start_no_program_of_the_person(
    place, ann, guard, mallory, person, tour, attempt
):
    mallory.push({place: (FILE, ATTRIBUTES), "drafts/$Id$.md": (FILE, "$Id$ $Format:%H$\n")})
    tour(ann)
    mallory.push(
        {place: (FILE, ATTRIBUTES + "\n"), "drafts/a.md": (FILE, "theirs\n"), "journal.md": (FILE, "# Journal\n\nx\n")}
    )
    attempt(ann, "push", {})
    attempt(ann, "sync", {})
    guard.check()


def test_a_clone_of_a_repository_with_attributes_starts_no_program_either(clone, guard, mallory, person, tour):
    mallory.push({".gitattributes": (FILE, CLONEABLE)})
    guard.MAY_CHANGE = (*guard.MAY_CHANGE, "ben")
    tour(clone("ben"))


@pytest.mark.parametrize("attribute", ["working-tree-encoding=UTF-16", "ident", "filter=x"])
def test_attributes_of_a_pulled_repository_change_no_byte_of_the_board(clone, attribute):
    ann = clone("ann")
    ann.call("write", {"path": ".gitattributes", "content": f"*.md {attribute}\n"})
    ann.call("journal_append", {"summary": "ann $Id$ was here"})
    for name in ("ann", "bob"):
        session = ann if name == "ann" else clone("bob")
        session.call("journal_append", {"summary": f"{name} $Id$ was here"})
        session.call("add", {"paths": ["."]})
        assert session.call("commit", {"message": "journal"})["sha"]
        assert session.call("push", {})["ok"]
    said = [entry["summary"] for entry in session.call("journal_tail", {})["entries"]]
    assert said == ["ann $Id$ was here", "ann $Id$ was here", "bob $Id$ was here"]


def test_submodules_are_not_touched(ann, guard, mallory, tour):
    modules = "".join(
        f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !{guard.trap}\n\tbranch = --upload-pack={guard.trap}\n'
        for name, path, url in [
            ("a", "sub", f"ext::sh -c {guard.trap}"),
            ("../../x", "-u", f"-oProxyCommand={guard.trap}"),
            ("b", "../outside", str(guard.outside)),
            ("c", "drafts", f"--upload-pack={guard.trap}"),
        ]
    )
    mallory.push(
        {
            ".gitmodules": (FILE, modules),
            "sub": (MODULE, mallory.head),
            "-u": (MODULE, mallory.head),
            "gone": (MODULE, "1" * 40),
        }
    )
    tour(ann)
    assert not (guard.folder / "ann/board/.git/modules").exists()


INSIDE = [b".git/config", b".GIT/hooks/pre-commit", b".git", b"git~1/x", b".g\xe2\x80\x8cit/config", b"drafts/.git/config", b"../x", b"./x", b"a//b", b".git./x", b".git /x"]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("path", INSIDE)
def test_trees_with_paths_into_the_git_folder_change_nothing(path, ann, guard, mallory, attempt):
    attempt(ann, "write", {"path": "drafts/a.md", "content": "mine\n"})
    mallory.push({path: (PROGRAM, f"#!/bin/sh\n{guard.trap}\n"), "drafts/b.md": (FILE, "x\n")})
    attempt(ann, "pull", {})
    attempt(ann, "sync", {})
    attempt(ann, "push", {})
    attempt(ann, "status", {})
    guard.check()
    assert attempt(ann, "read", {"path": "drafts/a.md"})["content"] == "mine\n"


def test_a_repository_in_the_work_tree_is_treated_as_files(ann, guard, mallory, tour):
    config = f"[core]\n\tbare = true\n\tfsmonitor = {guard.trap}\n\thooksPath = hooks\n"
    mallory.push(
        {
            "HEAD": (FILE, "ref: refs/heads/main\n"),
            "config": (FILE, config),
            "objects/x": (FILE, ""),
            "refs/x": (FILE, ""),
            "hooks/pre-commit": (PROGRAM, f"#!/bin/sh\n{guard.trap}\n"),
        }
    )
    tour(ann)


NAMES = [
    b"-A", b"--output=x", b"--", b"-", b"@", b":(top)x", b":!x", b"*.md", b"[a]", b"?", b"a\nb", b"a\tb", b"\xff\xfe.md", b"\x1b[31mred", b"caf\xc3\xa9",
    b"cafe\xcc\x81", b"CON", b"aux.txt", b"a:b", b"a\\b", b'"q"', b"x" * 255, b" ", b"trailing ", b"dot.", b"HEAD", b"main", b"readme.md", b"Journal.md",
    b"research/" + b"d/" * 150 + b"deep.md", b"$(touch x)", b"`x`", b"%s", b"\xe2\x80\xaegnp", b"~", b"~root", b".tmp", b"drafts/-n", b".gitignore",
]  # fmt: skip


def test_names_that_are_special_elsewhere_are_ordinary_names(ann, guard, mallory, tour, attempt):
    mallory.push({name: (FILE, "data\n" if name != b".gitignore" else "*\n") for name in NAMES})
    answers = tour(ann)
    names = [entry["name"] for entry in answers["list"]["entries"]]
    assert {"-A", "--", "*.md", "HEAD"} <= set(names)
    for name in names:
        attempt(ann, "read", {"path": name})
    assert attempt(ann, "read", {"path": "--output=x"})["content"] == "data\n"
    assert not (guard.folder / "ann/board/x").exists()


# -- the protocol's own files ---------------------------------------------------------------------
ENTRY = "## 2026-05-22 14:30 — mallory-cli (Mallory)\nDid things.\n\n"
ITEM = "- [ ] INB-{n:03} @ann-cli — Title  \n  added 2026-05-22 14:30 by mallory-cli\n\n"
PROTOCOL: dict[str, dict[str, bytes]] = {
    "with NUL bytes": {"journal.md": b"# Journal\n\n\0\0" + ENTRY.encode(), "inbox.md": b"# Inbox\n\0\n## Open\n\n## Closed\n"},
    "of no UTF-8": {"journal.md": b"\xff\xfe" + ENTRY.encode("utf-16"), "inbox.md": b"# Inbox\n\n## Open\n\n- [ ] INB-001 @\xff \xe2\x80\x94 \xff\n\n## Closed\n"},
    "empty": {"journal.md": b"", "inbox.md": b""},
    "with very many lines": {"journal.md": b"# Journal\n\n" + b"x\n" * 300_000, "inbox.md": b"# Inbox\n\n## Open\n\n" + b"\n" * 300_000 + b"## Closed\n"},
    "with many entries": {"journal.md": b"# Journal\n\n" + ENTRY.encode() * 1_500, "inbox.md": ("# Inbox\n\n## Open\n\n" + "".join(ITEM.format(n=n) for n in range(1, 300)) + "## Closed\n").encode()},
    "with one long line": {"journal.md": b"# Journal\n\n## " + b"x" * 250_000, "inbox.md": b"# Inbox\n\n## Open\n\n- [ ] INB-001 @" + b"y" * 250_000 + b"\n\n## Closed\n"},
    "without headings": {"journal.md": b"hello", "inbox.md": b"- [ ] INB-001 @ann-cli \xe2\x80\x94 x\n"},
    "with headings twice": {"inbox.md": b"# Inbox\n\n## Open\n\n## Open\n\n## Closed\n\n## Open\n\n## Closed\n"},
    "with mad numbers": {"inbox.md": ("# Inbox\n\n## Open\n\n" + "- [ ] INB-" + "9" * 5_000 + " @ann-cli — x  \n\n- [ ] INB-001 @a — y\n\n- [ ] INB-001 @b — z\n\n## Closed\n").encode()},
    "with line ends of all kinds": {"journal.md": ENTRY.replace("\n", "\r\n").encode() + b"\r## x\r", "inbox.md": b"# Inbox\r\n\r\n## Open\r\n\r\n## Closed\r\n"},
    "with comments that never end": {"journal.md": b"# Journal\n\n<!-- " * 2_000 + ENTRY.encode(), "inbox.md": b"# Inbox\n\n## Open\n\n<!--\n\n## Closed\n" + b"<!--" * 9_999},
    "with a torn pointer": {".pointers/ann-cli.json": b'{"last_seen_sha": "ab'},
    "with a hostile pointer": {".pointers/ann-cli.json": b'{"last_seen_sha": "--output=/tmp/x", "last_read_at": {}}'},
    "with a deep pointer": {".pointers/ann-cli.json": b"[" * 100_000, ".pointers/\xff.json".encode("latin-1").decode("latin-1"): b"{}"},
    "with a mad pointer": {".pointers/ann-cli.json": b'{"last_seen_sha": ' + b"9" * 9_999 + b"}"},
    "with another's pointer": {".pointers/ann-cli.json": b'{"last_seen_sha": "HEAD@{1}", "last_read_at": "2026-99-99T99:99:99Z"}'},
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("case", PROTOCOL)
def test_protocol_files_may_contain_anything(case, ann, mallory, tour):
    mallory.push({path: (FILE, content) for path, content in PROTOCOL[case].items()})
    tour(ann)


@pytest.mark.parametrize(
    "case", ["with NUL bytes", "of no UTF-8", "with mad numbers", "with many entries", "without headings"]
)
def test_merging_with_protocol_files_of_any_content_loses_no_own_entry(case, ann, mallory, attempt):
    attempt(ann, "journal_append", {"summary": "Mine and only mine"})
    attempt(ann, "add", {"paths": ["journal.md"]})
    attempt(ann, "commit", {"message": "Mine"})
    mallory.push({path: (FILE, content) for path, content in PROTOCOL[case].items()})
    attempt(ann, "push", {})
    assert "Mine and only mine" in (Path(ann.environ["HOME"]) / "board/journal.md").read_text(errors="replace")


def test_protocol_files_may_be_folders_and_folders_may_be_files(ann, mallory, tour):
    mallory.push(
        {
            "journal.md/x": (FILE, "x"),
            "inbox.md/x": (FILE, "x"),
            ".pointers": (FILE, "x"),
            "drafts": (FILE, "x"),
            "decisions": (PROGRAM, "x"),
        }
    )
    tour(ann)


def test_answers_about_huge_files_are_limited(ann, mallory, tour, attempt):
    mallory.push(
        {
            "drafts/giant.txt": (FILE, b"0123456789abcde\n" * 1_000_000),
            "drafts/line.txt": (FILE, b"e" * 8_000_000),
            "assets/zero": (FILE, b"\0" * 8_000_000),
        }
    )
    tour(ann)
    for path in ("drafts/giant.txt", "drafts/line.txt", "assets/zero"):
        attempt(ann, "read", {"path": path})
        attempt(ann, "read", {"path": path, "limit": 10**9})
        attempt(ann, "search", {"query": "e", "paths": [path]})


# -- commits and refs -----------------------------------------------------------------------------
AUTHORS = [
    b"Mallory\x1b[31m <m@x> 1779453000 +0000", b"A <b> <c> 1 +0000", b"<> 0 +0000", b" <> 99999999999999999999 +9999", b"x", b"", b"Ann <ann@example.org> -5 -0000",
    b"\xff\xfe <\xff> 1779453000 +0000", b"M\x00N <x> 1 +0000", b"A" * 100_000 + b" <a> 1 +0000", b"[ann-cli] Ann <ann@example.org> 1779453000 +0000",
]  # fmt: skip
MESSAGES = [
    b"\x1b]0;owned\x07\x1b[2J[ann-cli] subject", b"", b"\n\n\n", b"x\0y", b"\xff\xfe\xfd", b"x" * 1_000_000, b"s\n\nAgent: ann-cli\n", b"a\x1fb\x1ec\x1dd\x00", b"s\r\nt",
    "\u202ereversed".encode(), b"tree 123\nparent 456", b"[ann-cli] I am ann\n\nAgent: ann-cli\nAgent: bob-cli",
]  # fmt: skip


def test_commits_may_contain_any_text(ann, mallory, tour):
    for i, author in enumerate(AUTHORS):
        mallory.push({f"research/{i}": (FILE, "x")}, author=author)
    for i, message in enumerate(MESSAGES):
        mallory.push({f"drafts/{i}": (FILE, "x")}, message=message)
    for extra in (
        b"gpgsig -----BEGIN SSH SIGNATURE-----\n x\n -----END SSH SIGNATURE-----\n",
        b"encoding utf-16\n",
        b"mergetag object x\n",
        b"gpgsig\n",
    ):
        mallory.push({}, extra=extra)
    answers = tour(ann)
    for name in ("log", "whats_new"):
        sent = msgspec.json.encode(answers[name]).decode()
        assert not re.search(r"\\u001b|\\u0007|\\u0000|\x1b", sent), name


def test_a_commit_of_another_agent_under_my_name_is_not_shown_as_verified(ann, mallory, tour):
    mallory.push(
        {"drafts/x": (FILE, "x")},
        author=b"Ann <ann@example.org> 1779453000 +0000",
        message=b"[ann-cli] Me\n\nAgent: ann-cli\n",
    )
    answers = tour(ann)
    assert '"verified":true' not in msgspec.json.encode(answers).decode().replace(" ", "")


def test_refs_that_look_like_options_or_like_other_refs_do_no_harm(ann, guard, mallory, remote, tour, attempt):
    sha = mallory.push({"drafts/x": (FILE, "x")}, ref="refs/heads/side")
    for ref in ("heads/-x", "heads/--upload-pack=x", "heads/HEAD", "heads/origin/main", "heads/refs/heads/main", "tags/main", "tags/HEAD", "tags/origin/main",
                "tags/refs/heads/main", "tags/-d", f"heads/{sha}", f"replace/{mallory.head}", "notes/commits", "cohabit/x", "stash", "heads/a@{{1}}"):  # fmt: skip
        place = remote / "refs" / ref
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(sha + "\n")
    root = guard.folder / "ann/board"
    for ref in (
        "tags/main",
        "tags/HEAD",
        "tags/origin/main",
        f"replace/{mallory.head}",
        "remotes/origin/refs/heads/main",
    ):
        place = root / ".git/refs" / ref
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(mallory.head + "\n")
    mallory.push({"drafts/y": (FILE, "y")})
    assert tour(ann)["status"]["branch"] == "main"
    assert git(remote, "cat-file", "-t", "refs/heads/main") == "commit"
    assert not attempt(ann, "pull", {}).get("error")
    assert (root / "drafts/y").exists()
    assert not (root / "drafts/x").exists()


@pytest.mark.sampled
@pytest.mark.sampled
@pytest.mark.parametrize(
    "what",
    [
        "a tree for a commit",
        "a blob for a tree",
        "a missing blob",
        "an unrelated history",
        "a rewritten history",
        "a name twice",
        "odd modes",
    ],
)
def test_a_damaged_history_does_not_damage_the_clone(what, ann, mallory, remote, guard, tour, attempt):
    attempt(ann, "write", {"path": "drafts/kept.md", "content": "mine\n"})
    blob = mallory.put("blob", b"x")
    if what == "a tree for a commit":
        (remote / "refs/heads/main").write_text(mallory.tree({b"x": (FILE, b"x")}) + "\n")
    elif what == "a blob for a tree":
        mallory.push({}, tree=blob)
    elif what == "a missing blob":
        mallory.push({}, tree=mallory.put("tree", b"100644 gone\0" + b"\1" * 20))
    elif what == "an unrelated history":
        text = f"tree {mallory.tree({b'x': (FILE, b'x')})}\nauthor M <m> 1 +0000\ncommitter M <m> 1 +0000\n\nx"
        (remote / "refs/heads/main").write_text(mallory.put("commit", text.encode()) + "\n")
    elif what == "a rewritten history":
        first = mallory.head
        mallory.push({"drafts/x": (FILE, "x")})
        attempt(ann, "pull", {})
        mallory.head = first
        mallory.push({"drafts/y": (FILE, "y")})
    elif what == "a name twice":
        mallory.push({}, tree=mallory.put("tree", b"".join(b"100644 a\0" + bytes.fromhex(blob) for _ in range(2))))
    else:
        modes = (b"100666", b"0", b"777777", b"100600", b"40000")
        mallory.push(
            {}, tree=mallory.put("tree", b"".join(mode + b" f" + mode + b"\0" + bytes.fromhex(blob) for mode in modes))
        )
    tour(ann)
    assert (guard.folder / "ann/board/drafts/kept.md").read_text() == "mine\n"


# -- what a clone says of itself ------------------------------------------------------------------
PROGRAMS = [
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "core.hooksPath", "core.alternateRefsCommand", "core.worktree",
    "core.attributesFile", "core.excludesFile", "diff.external", "diff.x.command", "diff.x.textconv", "filter.x.clean", "filter.x.smudge", "filter.x.process",
    "merge.x.driver", "merge.cohabit.driver", "mergetool.x.cmd", "difftool.x.cmd", "gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand",
    "include.path", "includeIf.gitdir:/.path", "remote.origin.vcs", "remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.proxy",
    "remote.origin.promisor", "remote.origin.partialclonefilter", "credential.helper", "credential.https://x.helper", "uploadpack.packObjectsHook", "url.ext::sh.insteadOf",
    "alias.status", "alias.fetch", "trailer.x.command", "trailer.x.cmd", "sequence.editor", "interactive.diffFilter", "pager.log", "pager.status", "browser.x.cmd",
    "man.x.cmd", "submodule.x.update", "submodule.recurse", "extensions.worktreeConfig", "extensions.partialClone", "core.precomposeUnicode.x", "protocol.ext.allow",
    "http.proxy", "http.sslVerify", "http.cookieFile", "ssh.variant", "sendemail.x", "instaweb.httpd", "web.browser", "tar.x.command", "receive.procReceiveRefs",
    "safe.directory", "commit.template", "core.untrackedCache", "core.splitIndex", "index.sparse", "core.sparseCheckout", "remotes.default",
    "branch.main.mergeOptions", "blame.ignoreRevsFile", "fsck.skipList", "i18n.commitEncoding", "notes.displayRef", "log.mailmap", "mailmap.file", "mailmap.blob",
]  # fmt: skip


def test_a_clone_with_settings_that_are_not_harmless_is_refused(ann, guard, attempt):
    config = guard.folder / "ann/board/.git/config"
    harmless = config.read_bytes()
    for key in PROGRAMS:
        git(guard.folder / "ann/board", "config", key, guard.trap)
        for name in ("status", "fetch", "commit"):
            told = attempt(ann, name, {"message": "x"})
            assert re.search("the configuration of this clone sets|bad boolean config", told["error"]), (key, told)
        assert not guard.canary.exists(), key
        config.write_bytes(harmless)


@pytest.mark.parametrize(
    "key", ["core.fsmonitor", "filter.x.clean", "include.path", "remote.origin.uploadpack", "url.ext::sh.insteadOf"]
)
def test_every_tool_refuses_a_clone_with_settings_that_are_not_harmless(key, ann, guard, mallory, attempt, required):
    mallory.push({".gitattributes": (FILE, "* filter=x diff=x merge=x\n")})
    git(guard.folder / "ann/board", "config", key, guard.trap)
    guard.watch()
    on_workspaces = {name: tool for name, tool in tools("full").items() if tool.on == "workspace"}
    assert "status" in on_workspaces
    for name, tool in on_workspaces.items():
        assert attempt(ann, name, required(tool))["details"]["code"] == "PERMISSION_DENIED", name


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c {trap}", "-oProxyCommand={trap}", "ssh://-oProxyCommand={trap}/x", "--upload-pack={trap}", "fd::17/x"],
)
@pytest.mark.parametrize("key", ["remote.origin.url", "remote.origin.pushurl"])
def test_a_remote_that_starts_a_program_is_not_used(key, url, ann, guard):
    git(guard.folder / "ann/board", "config", key, url.format(trap=guard.trap))
    guard.watch()
    for name in ("fetch", "pull", "push", "sync"):
        with pytest.raises(PermissionDenied):
            ann.call(name, {})


def test_hooks_in_the_clone_do_not_run(ann, guard, mallory, tour):
    hooks = guard.folder / "ann/board/.git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(f"#!/bin/sh\n{guard.trap}\n")
        (hooks / name).chmod(0o755)
    guard.watch()
    mallory.push({"drafts/x": (FILE, "x")})
    tour(ann)
    mallory.push({"drafts/x": (FILE, "y")})
    tour(ann)


@pytest.mark.parametrize(
    "name", ["commondir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates"]
)
def test_a_clone_that_depends_on_another_folder_is_refused(name, ann, guard):
    ann.call("status", {})
    place = guard.folder / "ann/board/.git" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{guard.outside}\n")
    guard.watch()
    with pytest.raises(PermissionDenied):
        ann.call("status", {})


def test_a_sparse_checkout_is_refused_as_what_it_is_until_it_is_disabled(ann, guard, attempt):
    root = guard.folder / "ann/board"
    git(root, "sparse-checkout", "set", "drafts")
    guard.watch()
    told = attempt(ann, "status", {})["error"]
    assert "sparse checkout" in told
    assert "git sparse-checkout disable" in told
    git(root, "sparse-checkout", "disable")
    guard.watch()
    assert ann.call("status", {})["clean"]


def test_a_partial_clone_is_refused_as_what_it_is(ann, guard, attempt):
    git(guard.folder / "ann/board", "config", "remote.origin.promisor", "true")
    guard.watch()
    assert "partial clone" in attempt(ann, "status", {})["error"]


def test_settings_of_a_worktree_are_checked_like_those_of_the_clone(ann, guard, attempt):
    root = guard.folder / "ann/board"
    git(root, "config", "extensions.worktreeConfig", "true")
    ann.call("status", {})
    git(root, "config", "--worktree", "core.fsmonitor", guard.trap)
    guard.watch()
    assert "core.fsmonitor" in attempt(ann, "status", {})["error"]
    assert not guard.canary.exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_clone_whose_git_folder_was_replaced_is_refused(kind, ann, guard, attempt):
    root = guard.folder / "ann/board"
    ann.close()
    os.rename(root / ".git", guard.folder / "ann/board.git")
    guard.MAY_NOT = ()
    guard.watch()
    if kind == "file":
        (root / ".git").write_text(f"gitdir: {guard.folder}/ann/board.git\n")
    else:
        (root / ".git").symlink_to("../board.git")
    assert "not a clone of its own" in attempt(ann, "status", {})["error"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name",
    [
        "info/grafts",
        "shallow",
        "info/sparse-checkout",
        "MERGE_HEAD",
        "info/exclude",
        "FETCH_HEAD",
        "index",
        "packed-refs",
        "cohabit/lock",
    ],
)
@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"--output=x\n", b"0" * 40 + b" " + b"1" * 40 + b"\n"])
def test_damaged_or_hostile_files_in_the_git_folder_start_nothing(name, content, ann, guard, attempt):
    place = guard.folder / "ann/board/.git" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    for each in ("status", "log", "whats_new", "workspace_info", "journal_append", "fetch"):
        attempt(ann, each, {"summary": "x", "message": "x"})


def test_attributes_of_the_clone_itself_find_no_program(ann, guard, person, tour):
    (guard.folder / "ann/board/.git/info").mkdir(exist_ok=True)
    with open(guard.folder / "ann/board/.git/info/attributes", "a") as file:
        file.write("* filter=evil diff=evil merge=evil\n")
    guard.watch()
    tour(ann)


# -- cloning --------------------------------------------------------------------------------------
def test_a_hostile_repository_is_cloned_as_data(clone, guard, mallory, person, tour):
    links = {
        path: (LINK, target)
        for case in LINKS.values()
        for path, target in case.items()
        if "/" not in path and path != ".gitmodules"
    }
    mallory.push(
        {
            **dict.fromkeys(NAMES, (FILE, "data\n")),
            **links,
            ".gitattributes": (FILE, CLONEABLE),
            "sub": (MODULE, "1" * 40),
        }
    )
    guard.MAY_CHANGE = (*guard.MAY_CHANGE, "ben")
    tour(clone("ben"))
    assert not (guard.folder / "ben/board/.git/hooks").exists()


@pytest.mark.parametrize(
    "head", ["-x", "--upload-pack=x", "HEAD", "a b", "../../x", "refs/heads/main", "x.lock", "\x1b[31m"]
)
def test_a_remote_with_an_unusual_branch_name_leaves_no_broken_clone(head, guard, mallory, clone, remote, attempt):
    place = remote / "refs" / "heads" / head
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(mallory.push({"drafts/x": (FILE, "x")}) + "\n")
    (remote / "HEAD").write_text(f"ref: refs/heads/{head}\n")
    guard.MAY_CHANGE = (*guard.MAY_CHANGE, "ben")
    guard.watch()
    session = None
    try:
        session = clone("ben")
    except CohabitError as error:
        assert error.code != "INTERNAL"
        assert not (guard.folder / "ben/board").exists()
    if session is not None:
        assert attempt(session, "status", {}).get("clean"), "what was cloned can be worked in"


def test_git_variables_in_the_environment_of_the_server_have_no_effect(ann, guard, monkeypatch, tour):
    """The environment of a server that a hook of another repository starts."""
    elsewhere = guard.outside / "folder"
    for name in ("DIR", "WORK_TREE", "COMMON_DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES", "INDEX_FILE", "TEMPLATE_DIR", "NAMESPACE",
                 "CONFIG_GLOBAL", "CONFIG_SYSTEM", "EXEC_PATH", "CEILING_DIRECTORIES", "ATTR_SOURCE", "GRAFT_FILE", "SHALLOW_FILE", "TRACE", "TRACE2"):  # fmt: skip
        monkeypatch.setenv(f"GIT_{name}", str(elsewhere / name.lower()))
    for name in ("EXTERNAL_DIFF", "PAGER", "EDITOR", "SEQUENCE_EDITOR", "ASKPASS", "PROXY_COMMAND"):
        monkeypatch.setenv(f"GIT_{name}", guard.trap)
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor'='{guard.trap}'")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", guard.trap)
    again = Session(ann.home, ann.environ, now=ann.now)
    answers = tour(again)
    again.close()
    assert answers["status"]["branch"] == "main"
    assert answers["log"]["commits"]
