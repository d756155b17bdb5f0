"""docs/protocol.md and protocol-answers.md say what the code does: their examples are files of ours, their tables have every field and code."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.decisions import Decision
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.formats.pointers import Pointer
from cohabit.workspace.formats.stamps import Hidden
from cohabit.workspace.session import Session
from cohabit.workspace.tools import tools

ROOT = Path(__file__).parents[2]
PAGE = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("protocol.md", "protocol-answers.md"))


def example(heading: str) -> str:
    """The first block below a heading, with its spaces."""
    section = PAGE.split(f"\n### {heading}\n")[1]
    return re.findall(r"^```\w*\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[0].replace("␠", " ")


def test_the_journal_that_is_shown_is_what_we_write() -> None:
    (block,) = Journal.parse(example("journal.md")).blocks
    assert block.entry is not None
    assert block.entry.text == block.text
    assert len(block.entry.todos) == 2
    assert block.entry.details


def test_the_inbox_that_is_shown_is_what_we_write() -> None:
    one, two = Inbox.parse(example("inbox.md")).items
    for item in (one, two):
        assert items.write(item) == item.text.strip("\n")
    assert one.open
    assert one.body == "Raise data for Series A deals.\n\nNot in the usual sources."
    assert two.closing is not None
    assert two.claimed_by == "mike-claude-code"


def test_the_decision_that_is_shown_is_what_we_write() -> None:
    shown = example("decisions/&lt;slug&gt;.md")
    context, decision, consequences = re.findall(r"## \w+\n(.*?)\n(?:\n|$)", shown + "\n", re.DOTALL)
    made = Decision(
        title="Use Series A comps only",
        date="2026-05-22",
        decided_by=["ann-claude-code", "mike-claude-code"],
        status="accepted",
        context=context,
        decision=decision,
        consequences=consequences,
    )
    assert made.text == shown


def test_the_pointer_and_the_comment_that_are_shown_are_what_we_write() -> None:
    pointer = Pointer.parse(example(".pointers/&lt;agent_id&gt;.json"))
    assert pointer is not None
    assert pointer.text == example(".pointers/&lt;agent_id&gt;.json")
    hidden = Hidden.read(example("Hidden comments"))
    assert hidden is not None
    assert hidden.text == example("Hidden comments").strip()


def row(tool: str) -> str:
    found = re.findall(rf"^\| (?:`\w+`, )?`{tool}`(?:, `\w+`)? \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(found) == 1, tool
    return found[0].replace("as `push`", row("push") if tool == "sync" else "")


@pytest.mark.parametrize("tool", tools())
def test_every_tool_has_a_row_in_the_table_of_answers(tool: str) -> None:
    assert row(tool)


def test_every_field_of_an_answer_is_in_the_table(clone: Callable[[str], Session], remote: Path) -> None:
    ann, bob = clone("ann"), clone("bob")
    seen: set[str] = set()

    def call(session: Session, tool: str, **args: Any) -> dict[str, Any]:
        answer = session.call(tool, args)
        seen.add(tool)
        if "error" not in answer:
            for name in _names(answer):
                assert f"`{name}`" in row(tool), f"docs/protocol-answers.md, {tool}: {name} is missing"
        return answer

    def share(session: Session, text: str) -> dict[str, Any]:
        call(session, "write", path="drafts/a.md", content=text)
        call(session, "add", paths=["."])
        call(session, "commit", message=text)
        return call(session, "push")

    call(ann, "workspace_init", name="board", remote_url=str(remote), local_path="~/board")
    for tool in ("workspace_list", "workspace_info", "status", "list", "whats_new", "health", "archive"):
        call(ann, tool)
    call(ann, "commit", message="nothing is staged")
    call(ann, "workspace_switch", name="board")
    for session in (ann, bob):
        call(session, "journal_append", summary="Did it", todos=[{"text": "more"}])
        call(session, "inbox_add", title="Do it", **{"for": "ann-cli"})
        call(session, "inbox_add", title="Do that")
    share(ann, "one\n")
    assert share(bob, "two\n")["error"] == "conflict"
    call(bob, "resolve")
    call(bob, "abandon")
    call(bob, "write", path="drafts/a.md", content="three\n")
    call(bob, "add", paths=["drafts"])
    call(bob, "commit", message="three")
    call(bob, "resolve", path="drafts/a.md", take="ours")
    assert call(bob, "sync")["renumbered"]
    call(ann, "fetch")
    call(ann, "pull")
    call(ann, "ack", cursor=call(ann, "whats_new", ack=False)["cursor"])
    call(ann, "claim", id="INB-002")
    call(ann, "release", id="INB-002")
    call(ann, "inbox_close", id="INB-001", resolution="done")
    for tool, args in (("inbox_list", {"state": "all"}), ("journal_tail", {}), ("log", {"n": 1}), ("diff", {})):
        call(ann, tool, **args)
    call(ann, "read", path="journal.md", limit=10)
    call(ann, "search", query="Did it")
    call(ann, "decision_add", title="Blue", context="red or blue", decision="blue")
    call(ann, "write", path="drafts/old.md", content="x")
    call(ann, "rename", path="drafts/old.md", to="drafts/new.md")
    call(ann, "delete", path="drafts/new.md")
    (ann.workspace().root / "journal.md").write_text("# Journal\n")
    subprocess.run(["git", "commit", "-qam", "wiped"], cwd=ann.workspace().root, check=True)
    call(ann, "restore", id=call(ann, "health")["lost"][0]["id"])
    call(ann, "repair")
    assert seen == {*tools()}


def _names(answer: dict[str, Any]) -> set[str]:
    """The fields of an answer, and of the things in its lists."""
    inner = {
        name
        for value in answer.values()
        if isinstance(value, list)
        for row in value
        if isinstance(row, dict)
        for name in row
    }
    told_elsewhere = {"deleted", "tag", "branch", "new", "alreadyUpdated", "local", "remote", "title", "from", "to"}
    return {*answer} | (inner - told_elsewhere if "pushed" in answer else inner)


def test_the_shapes_of_conflict_and_rejected_are_shown() -> None:
    blocks = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)]
    told = {block["error"]: block for block in blocks if "error" in block}
    assert {*told["conflict"]} == {"error", "message", "files"}
    assert {*told["rejected"]} == {"error", "reason"}


def test_every_code_that_the_workspace_raises_is_in_the_table() -> None:
    import cohabit.errors as errors

    source = "\n".join(path.read_text() for path in (ROOT / "src/cohabit/workspace").rglob("*.py"))
    used = [cls.code for cls in errors.every_error() if re.search(rf"\b{cls.__name__}\(", source)]
    assert len(used) > 8
    for code in used:
        assert f"| `{code}` |" in PAGE, code
