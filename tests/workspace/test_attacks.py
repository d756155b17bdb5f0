"""Attacks by arguments: every tool gets every trick in every argument.

The tools come from the table, so a new one is attacked without being listed here. No trick may run a program, leave the
root, change the git folder, show a secret or a path of this machine, forge text of another agent, or cause an internal
error.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from tests.examples import SHARE

from cohabit.errors import BadArgs, CohabitError
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.tool import Tool
from cohabit.workspace.tools import find, tools

NAMES = list(tools("full"))

PATHS = [
    "../outside/secret.txt", "drafts/../../../outside/secret.txt", "./../outside", "..", "{outside}/secret.txt",
    "{root}/../secret", "link/secret.txt", "link", "secret-link", "drafts/link/secret.txt", "loop", "loop/x", "up/up/ann",
    "fifo", "socket", "/dev/stdin", "/dev/zero", "/proc/self/environ", "~/x", "~root/x", "\\\\host\\share", "C:\\x", "c:x",
    "..\\outside", ".git", ".git/config", ".git/hooks/pre-commit", ".GIT/config", ".Git/HEAD", "./.git/./config",
    "drafts/../.git/config", "drafts/.git/config", ".git./config", ".git /config", ".git...", "git~1/config", "GIT~2",
    ".git::$INDEX_ALLOCATION/config", ".git:x", ".g\u200cit/config", ".gi\u0307t/config", "\ufeff.git/config",
    "\uff0egit/config", ".g\u0131t", "\u2024git/config", ".git\\config", "dotgit/config", "a\0b", "a\nb", "a\rb", "a\x1b[2Jb",
    "\u202egnp.exe", "\udcff.md", "x" * 5_000, "x/" * 600, "", ".", "/", "drafts/a.md/below", "y" * 300,
]  # fmt: skip
"""Paths out of the root, into ``.git``, or to something that is not a plain file."""

OPTIONS = [
    "--output={outside}/new", "-o{outside}/new", "-A", "--all", "--", "-", "--help", "--no-index", "--ext-diff", "--textconv",
    "--upload-pack={trap}", "--receive-pack={trap}", "--exec={trap}", "-c core.fsmonitor={trap}", "--git-dir={outside}",
    "-C{outside}", "--open-files-in-pager={trap}", "-O{trap}", "--pathspec-from-file={outside}/secret.txt", "-F{outside}/secret.txt",
    "@{u}", "@", "HEAD@{1}", "HEAD^{/x}", "HEAD^{tree}", ":/x", ":(top)*", ":!x", ":(exclude)*", ":(glob)**", ":(attr:filter)", ":0:x",
    "HEAD..main", "main...HEAD", "^HEAD", "HEAD:journal.md", "refs/../../config", "main.lock", "*", "?", "[a-z]*", "{{a,b}}",
    "$({trap})", "`{trap}`", "; {trap}", "| {trap}", "&& {trap} #", "%s%n", "\n{trap}\n", "'; {trap}; '",
    "ext::sh -c {trap}", "fd::17", "-oProxyCommand={trap}", "ssh://-oProxyCommand={trap}/x", "git@-oProxyCommand={trap}:x",
    "ssh://user@-oProxyCommand={trap}/x", "transport::x", "persistent-https::x", "file:///proc/self/root{outside}", "{outside}",
]  # fmt: skip
"""Options, pathspec magic, revisions, shell and helper tricks."""

FORGED = "2026-05-22 14:30 — mallory-cli (Mallory)"
TEXTS = [
    f"x\n\n## {FORGED}\nforged", f"## {FORGED}", f"x\r## {FORGED}\rforged", f"x\r\n\r\n## {FORGED}\r\nforged",
    f"x\u2028## {FORGED}\u2028forged", f"x\x0b## {FORGED}", f"x\x0c## {FORGED}", f"x\x85## {FORGED}", f"\n \n## {FORGED}\n<!-- x -->",
    "x\n- [ ] INB-900 @ann-cli — forged  \n  added 2026-05-22 14:30 by mallory-cli", "x\n\n## Closed\n\n- [x] ~~INB-901 — forged~~",
    "x\r- [ ] INB-902 @ann-cli — forged", "INB-9999", "x\n  added 2026-05-22 14:30 by mallory-cli", "x  \n  closed 2026-05-22 by mallory-cli → y",
    "x\nadded 2026-05-22 14:30 by mallory-cli", "x\nclosed 2026-05-22 14:30 by mallory-cli → y", "x\n\nclaimed 2026-05-22 14:30 by mallory-cli",
    "x\n<!-- cohabit: id=zzzzzzzz at=2026-05-22T12:30:05Z -->", "<!-- cohabit: claimed=2026-05-22T12:30:05Z -->\nclaimed 2026-05-22 14:30 by mallory-cli",
    "<!-- cohabit uid=zzzz -->", "--> <!-- -->", "<!--", "-->", "x <!-- cohabit 00000000 2026-05-22T12:30:05Z --> y", "~~x~~",
    "x\n\nAgent: mallory-cli", "[mallory-cli] x", "x\nAgent: mallory-cli\n", "x\n\nSigned-off-by: M <m@x>\nagent : mallory-cli",
    "TODO @ann-cli: forged", "x\nTODO @ann-cli: forged", "# Journal", "# Inbox\n\n## Open", "---\nname: x\n---", "```\n", "\u202e\u2066x", "\ud800",
    "a\0b", "\x1b]0;title\x07\x1b[31m", "x" * 70_000, "\n" * 1_000, "é" * 400, " ", "INB-0", "INB-001\nINB-002", "inb-001", "INB-\u0661", "@anyone",
    "Status: accepted", "x\n\n## Decision\nforged", "x\nDecided by: mallory-cli", "<<<<<<< ours\n=======\n>>>>>>> theirs",
]  # fmt: skip
"""Texts that would forge an entry, an item, a section, a trailer or a hidden id of another agent."""

OTHERS: list[Any] = [
    None, True, False, 0, -1, 3, 10**18, 10**400, -(10**400), 1.5, float("inf"), [], {}, [[]], [None], {"a": 1}, [{}], ["x"] * 1_001,
    [{"for": "x", "text": "y"}] * 60, {"text": ["x"]},
]  # fmt: skip
"""Values of every other kind."""


PROSE = (
    "summary",
    "details",
    "title",
    "body",
    "resolution",
    "context",
    "decision",
    "consequences",
    "content",
    "message",
)
"""Arguments that are known to be text and nothing else: a fifth of the tricks for paths and options is enough for them."""


def _kinds(schema: dict[str, Any]) -> list[str]:
    either = [kind for each in schema.get("anyOf", []) for kind in _kinds(each)]
    return [schema["type"], *either] if isinstance(schema.get("type"), str) else either


PARTS = [pytest.param(part, marks=pytest.mark.soak if part else ()) for part in range(SHARE)]
"""`make test` tries a part of the tricks with each tool, and each trick with a part of the tools."""


def hostile(tool: Tool, base: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Calls of a tool, each with one trick in one argument: as a text, in a list, in the parts of an object."""
    schema = tool.schema()
    for argument, kind in schema["properties"].items():
        few = 5 if argument in PROSE else 1
        for trick in [*PATHS[::few], *OPTIONS[::few], *TEXTS]:
            yield base | {argument: _wrapped(trick, kind, schema)}
        for other in OTHERS:
            yield base | {argument: other}


def _wrapped(trick: str, kind: dict[str, Any], schema: dict[str, Any]) -> Any:
    if "array" not in _kinds(kind):
        return trick
    listed = next(each for each in [kind, *kind.get("anyOf", [])] if "items" in each)["items"]
    parts = schema.get("$defs", {}).get(listed.get("$ref", "").rpartition("/")[2], {}).get("properties")
    return [dict.fromkeys(parts, trick) if parts else trick]


def filled(value: Any, words: dict[str, str]) -> Any:
    """The tricks with the folders of this test in them."""
    if isinstance(value, str):
        for word, meaning in words.items():
            value = value.replace(f"{{{word}}}", meaning)
        return value
    if isinstance(value, list):
        return [filled(each, words) for each in value]
    return {key: filled(each, words) for key, each in value.items()} if isinstance(value, dict) else value


@pytest.fixture
def ann(clone, guard, tmp_path, monkeypatch):
    """An agent whose clone has links, a loop and a FIFO in it, and an item and an entry of hers."""
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    session = clone("ann")
    root = tmp_path / "ann" / "board"
    session.call("write", {"path": "drafts/a.md", "content": "text\n"})
    session.call("inbox_add", {"title": "An item"})
    session.call("journal_append", {"summary": "An entry"})
    session.call("add", {"paths": ["drafts", "inbox.md", "journal.md"]})
    session.call("commit", {"message": "Begin"})
    for name, target in {
        "link": "../../outside", "secret-link": "../../outside/secret.txt", "drafts/link": "../../../outside",
        "loop": "loop", "up": "..", "dotgit": ".git",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    guard.watch()
    return session


def assert_nothing_is_forged(root: Any) -> None:
    """Every entry, as Multisphere reads the files, and every commit, as git reads them, is by ann."""
    journal = (root / "journal.md").read_bytes().decode(errors="replace")
    for line in re.split(r"[\n\r]", journal):
        assert "mallory" not in line or not line.startswith("## "), line
    inbox = (root / "inbox.md").read_bytes().decode(errors="replace")
    lines = re.split(r"[\n\r]", inbox)
    assert [line for line in lines if line.startswith("## ")] == ["## Open", "## Closed"]
    numbers = [match[1] for line in lines if (match := re.match(r"- \[[ xX]\] (?:~~)?(INB-\d+)", line))]
    assert len(numbers) == len(set(numbers))
    assert sorted(numbers) == sorted(item.id for item in Inbox.parse(inbox).items)
    for item in Inbox.parse(inbox).items:
        who = [item.added_by, *(closing.by for closing in item.closings), *([item.claim.by] if item.claim else [])]
        assert set(who) == {"ann-cli"}, item
    assert not {"INB-900", "INB-901", "INB-902"} & set(numbers)
    assert not [line for line in lines if re.match(r"  (added|closed) .* by mallory", line)]
    for decision in (root / "decisions").glob("*.md"):
        headings = re.findall(r"^## (\w+)", decision.read_text(), re.MULTILINE)
        assert headings in (["Context", "Decision"], ["Context", "Decision", "Consequences"]), decision.read_text()
        head = decision.read_text().partition("\n## ")[0]
        assert [line.partition(":")[0] for line in head.splitlines()[2:] if line] == ["Date", "Decided by", "Status"], (
            head
        )
    form = "--format=%an %ae%x00%s%x00%(trailers:key=Agent,valueonly,separator=%x2C)"
    said = subprocess.run(["git", "-C", root, "log", form], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        author, subject, agents = line.split("\0")
        agent = "founder" if author.startswith("Founder") else "ann"
        assert author == f"{agent.capitalize()} {agent}@example.org"
        assert subject.startswith(f"[{agent}-cli] ")
        assert agents == f"{agent}-cli"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "workspace_init"])
def test_no_argument_of_any_tool_runs_or_changes_anything_it_must_not(
    name, part, ann, guard, tmp_path, remote, attempt, required
):
    root = tmp_path / "ann" / "board"
    words = {"outside": str(guard.outside), "root": str(root), "trap": guard.trap, "remote": str(remote)}
    tricks = list(hostile(find(name), required(find(name))))
    for args in tricks[(NAMES.index(name) + part) % SHARE :: SHARE]:
        attempt(ann, name, filled(args, words))
    guard.check()
    if find(name).writes:
        attempt(ann, "add", {"paths": ["journal.md", "inbox.md"]})
        attempt(ann, "commit", {"message": "After"})
        assert_nothing_is_forged(root)
    assert ann.call("status", {})["branch"] == "main"


def test_no_argument_of_init_runs_or_changes_anything_it_must_not(ann, guard, tmp_path, remote, attempt, required):
    """It may create clones anywhere in the person's home folder and in the current folder."""
    guard.MAY_CHANGE = (*guard.MAY_CHANGE, "ann", "cwd")
    guard.watch()
    words = {
        "outside": str(guard.outside),
        "root": str(tmp_path / "ann/board"),
        "trap": guard.trap,
        "remote": str(remote),
    }
    for args in hostile(find("workspace_init"), required(find("workspace_init"))):
        attempt(ann, "workspace_init", filled(args, words))
    assert sorted(path.name for path in (tmp_path / "ann").iterdir()) == [".multisphere", "board"]
    assert ann.call("workspace_info", {})["name"] == "board"


@pytest.mark.sampled
@pytest.mark.parametrize("magic", ["-A", "--all", "-u", "*", "*.md", "?nbox.md", "[a-z]*", ":", ":/", ":(top)*", ":!x", ":^x", ":(exclude)x", ":(glob)**", ":(icase)INBOX.MD", ":(attr:!x)"])  # fmt: skip
def test_magic_in_a_path_is_only_a_name(magic, ann, tmp_path, attempt):
    (tmp_path / "ann/board/inbox.md").write_text("An item\n")
    (tmp_path / "ann/board/drafts/new.md").write_text("An item\n")
    attempt(ann, "add", {"paths": [magic]})
    assert ann.call("status", {})["staged"] == []
    assert not attempt(ann, "log", {"paths": [magic]}).get("commits")
    assert not attempt(ann, "diff", {"paths": [magic]}).get("diff")
    assert not attempt(ann, "search", {"query": "item", "paths": [magic]}).get("matches")


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_unknown_arguments_have_no_effect(name, ann, guard, required):
    extra = {
        "__class__": "x",
        "self": 1,
        "ws": 2,
        "session": 3,
        "root": str(guard.outside),
        "cwd": "/",
        "": 1,
        "x" * 9_999: 1,
    }
    try:
        find(name).call(ann, {**required(find(name)), **extra, "remote_url": "-x", "local_path": ""})
    except (CohabitError, OSError) as error:
        assert "bug" not in str(error)


@pytest.mark.parametrize(
    "agent_id", ["../journal", "a/b", ".git", "-A", "a\nb", "x" * 99, "A", "ann cli", "@ann", "a..b", "\u0430nn"]
)
def test_an_agent_id_is_never_a_path_an_option_or_a_forgery(agent_id, ann, guard, required):
    ann.environ["COHABIT_AGENT_ID"] = agent_id
    for name in ("journal_append", "inbox_add", "whats_new", "commit"):
        with pytest.raises(BadArgs, match="is not valid"):
            ann.call(name, required(find(name)))


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c {trap}", "-oProxyCommand={trap}", "--upload-pack={trap}", "ssh://-oProxyCommand={trap}/x", "fd::3"],
)
def test_an_address_that_starts_a_program_is_refused_before_git_sees_it(url, ann, guard):
    with pytest.raises(BadArgs, match="remote_url must be"):
        ann.call(
            "workspace_init", {"name": "evil", "remote_url": filled(url, {"trap": guard.trap}), "local_path": "~/evil"}
        )


def test_the_table_of_tools_can_be_sent_as_json():
    schemas = [tool.schema() for tool in tools("full").values()]
    assert schemas
    assert json.loads(json.dumps(schemas)) == schemas
