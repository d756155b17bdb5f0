"""``cohabit workspace``: verbs and their output."""

import ast
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from cohabit.errors import BadArgs
from cohabit.faces.cli import main
from cohabit.faces.cli.workspace.messages import PHRASES, for_people
from cohabit.faces.cli.workspace.output import OUTPUTS
from cohabit.faces.cli.workspace.parts import ago, grid, notes
from cohabit.faces.cli.workspace.person import person_environment
from cohabit.faces.cli.workspace.verbs import MAX_ROWS, VERBS, Verb, todo
from cohabit.workspace.limits import MAX_COMMITS
from cohabit.workspace.sharing import rewritten
from cohabit.workspace.tools import find

ROOT = Path(__file__).parents[2]
ESC = "\x1b"
BOARD = [verb for verb in VERBS if verb.tool]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_waiting_for_the_disk: None) -> Path:
    """A machine of Ann Smith, whose name and address only git knows."""
    for name in list(os.environ):
        if name.startswith(("COHABIT_", "MULTISPHERE_", "GIT_", "XDG_", "CLAUDE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitconfig").write_text("[user]\nname = Ann Smith\nemail = ann@example.org\n")
    return tmp_path


Said = pytest.CaptureFixture[str]


def typed(capsys: Said, *words: str, code: int = 0) -> str:
    """The output of a command; a successful one prints nothing to stderr."""
    assert main(["workspace", *words]) == code
    out, err = capsys.readouterr()
    assert ESC not in out
    assert bool(err) == (code != 0 and not out)
    return out or err


@pytest.fixture
def board(home: Path, capsys: Said) -> str:
    return typed(capsys, "init", "deck", "./deck.git", "--create")


def other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch to Bob, with another home on the same machine."""
    (home / "bob").mkdir()
    (home / "bob" / ".gitconfig").write_text("[user]\nname = Bob\nemail = bob@example.org\n")
    monkeypatch.setenv("HOME", str(home / "bob"))
    monkeypatch.chdir(home / "bob")


@pytest.mark.parametrize("verb", BOARD, ids=lambda verb: verb.name)
def test_an_option_is_an_argument_of_the_tool_that_the_verb_calls(verb: Verb) -> None:
    assert verb.tool is not None
    known = find(verb.tool).schema()["properties"]
    for names, how in verb.arguments:
        name = how.get("dest") or names[-1].lstrip("-").replace("-", "_")
        assert name in known or (verb.name, name) == ("new", "ack"), f"{verb.name}: {name}"


def test_every_verb_that_calls_a_tool_has_an_output() -> None:
    assert set(OUTPUTS) == {verb.name for verb in BOARD}


def test_the_identity_of_a_person_comes_from_git(board: str) -> None:
    assert re.match(r"deck is ready: .*/deck\n", board)
    assert "you are ann-cli" in board


def test_the_settings_for_agents_apply_to_the_command_line_too(home: Path) -> None:
    assert person_environment({"HOME": str(home)})["COHABIT_AGENT_ID"] == "ann-cli"
    assert person_environment({"HOME": str(home), "MULTISPHERE_CLIENT": "term"})["COHABIT_AGENT_ID"] == "ann-term"
    (home / ".multisphere").mkdir()
    slug = {"user_slug": "annie", "agent_name": "Ann", "agent_email": "ann@example.org"}
    (home / ".multisphere" / "identity.json").write_text(json.dumps(slug))
    assert "COHABIT_AGENT_ID" not in person_environment({"HOME": str(home)}), "annie-cli, and the session finds it"


def test_without_an_identity_the_error_says_what_to_do(home: Path, capsys: Said) -> None:
    (home / ".gitconfig").unlink()
    said = typed(capsys, "init", "deck", "./deck.git", "--create", code=1)
    assert said.startswith(
        'cohabit: [BAD_ARGS] git has no user name or email address for you: run `git config --global user.name "Ann Smith"` '
        "and `git config --global user.email ann@example.org`, then try again. "
    )
    assert "Or set COHABIT_AGENT_ID (such as ann-cli), _NAME and _EMAIL" in said
    (home / ".gitconfig").write_text("[user]\nname = Ann\n")
    said = typed(capsys, "init", "deck", "./deck.git", "--create", code=1)
    assert "user.email" in said
    assert "user.name" not in said, "that git knows"


def test_a_name_without_latin_letters_is_asked_for_an_id(
    home: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".gitconfig").write_text("[user]\nname = 李\nemail = li@example.org\n", encoding="utf-8")
    monkeypatch.delenv("USER", raising=False)
    said = typed(capsys, "init", "deck", "./deck.git", "--create", code=1)
    assert "set COHABIT_AGENT_ID (such as ann-cli), _NAME and _EMAIL" in said
    assert said.count("COHABIT_AGENT_ID") == 1, "it is said once"
    assert "git config" not in said


def test_without_a_workspace_every_verb_says_how_to_set_one_up(capsys: Said) -> None:
    assert "`cohabit workspace init NAME REMOTE`" in typed(capsys, "list")
    for verb in ("status", "log", "journal", "inbox", "sync", "new", "health"):
        said = typed(capsys, verb, code=1)
        assert said.count("\n") == 1
        assert "`cohabit workspace init`" in said


def test_a_round_of_the_protocol_reads_well_at_both_ends(
    home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "✓ INB-001 for @bob-cli" in typed(
        capsys, "inbox", "add", "Read slide 4", "--for", "bob-cli", "--body", "a\n\nb"
    )
    typed(capsys, "journal", "add", "Drafted slide 4", "--todo", "@bob-cli: read it", "--todo", "find a logo")
    assert re.search(r"^modified  journal.md$", typed(capsys, "status"), re.MULTILINE)
    assert "+Drafted slide 4" in typed(capsys, "diff", "journal.md")
    assert re.match(r"[0-9a-f]{9} in deck on main: 2 files, \+\d+ -0\n", typed(capsys, "commit", "slide 4"))
    assert "There are no changes to commit in deck" in typed(capsys, "commit", "again")
    assert re.match(r"deck  main  1 to share, 0 to fetch\nNo changes.", typed(capsys, "status"))
    assert re.match(r"✓ deck shared: [0-9a-f]{7} → [0-9a-f]{7}\n", typed(capsys, "sync"))

    other(home, monkeypatch)
    typed(capsys, "init", "deck", "../deck.git")
    news = typed(capsys, "new")
    assert "Your first visit: 2 commits by others" in news
    assert "INB-001 @bob-cli Read slide 4\n  from ann-cli, " in news
    assert "  TODO @bob-cli read it\n  TODO @anyone find a logo\n" in news
    assert typed(capsys, "new") == news, "looking does not mark it as read"
    assert typed(capsys, "new", "--ack") == news
    assert "0 commits by others" in typed(capsys, "new")
    assert "✓ INB-001 is yours since " in typed(capsys, "inbox", "claim", "INB-001")
    assert "  claimed by bob-cli\n  a\n\n  b\n" in typed(capsys, "inbox")
    typed(capsys, "inbox", "close", "INB-001", "looks fine")
    assert "→ looks fine" in typed(capsys, "inbox", "--state", "closed")
    assert "Drafted slide 4" in typed(capsys, "journal")
    assert "journal.md:4: Drafted slide 4\n" in typed(capsys, "search", "slide 4")
    assert "drafts/\n" in typed(capsys, "ls")
    assert typed(capsys, "read", "inbox.md") == (home / "bob" / "deck" / "inbox.md").read_text()
    assert "[ann-cli] slide 4" in typed(capsys, "log", "-n", "2")
    assert "accepted" in typed(capsys, "decide", "Blue", "--context", "red or blue", "--decision", "blue")
    assert "agent" in typed(capsys, "health").lower()
    assert typed(capsys, "archive").startswith("0 entries")


def test_a_conflict_is_shown_with_its_files_and_decided_here(
    home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(text: str) -> None:
        Path("deck/drafts/a.md").write_text(text)
        typed(capsys, "commit", f"says {text.strip()}")

    here = dict(os.environ)
    write("mine\n")
    other(home, monkeypatch)
    typed(capsys, "init", "deck", "../deck.git")
    write("yours\n")
    typed(capsys, "sync")
    monkeypatch.setenv("HOME", here["HOME"])
    monkeypatch.chdir(home)
    said = typed(capsys, "sync", code=1)
    assert said.startswith("conflict: ")
    assert said.endswith("; then `cohabit workspace sync`.\n  drafts/a.md\n")
    assert "`cohabit workspace resolve` shows each file" in said
    assert "`cohabit workspace abandon` takes the others' version" in said
    assert "your user" not in said
    assert "`--take ours`, `theirs` or `both`" in typed(capsys, "resolve", "drafts/a.md", code=1)
    assert "drafts/a.md  " in typed(capsys, "resolve")
    assert "1 left to resolve: `cohabit workspace resolve PATH" in typed(capsys, "resolve")
    Path("both.md").write_text("both\n")
    assert "All conflicts are resolved" in typed(capsys, "resolve", "drafts/a.md", "--with", "both.md")
    assert "1 commit by others merged" in typed(capsys, "sync")
    assert Path("deck/drafts/a.md").read_text() == "both\n"


def test_programs_can_get_the_raw_answer(board: str, capsys: Said) -> None:
    assert json.loads(typed(capsys, "status", "--json"))["clean"] is True
    assert json.loads(typed(capsys, "inbox", "add", "Grüße", "--json"))["id"] == "INB-001"
    assert json.loads(typed(capsys, "call", "list", "dir=drafts"))["entries"][0]["name"] == ".gitkeep"
    assert json.loads(typed(capsys, "call", "inbox_list", '{"for": "ann-cli"}'))["items"] == []


def test_a_person_gets_the_whole_of_a_long_text(home: Path, board: str, capsys: Said) -> None:
    text = "".join(f"{n}\tline\n" for n in range(20_000))
    Path("deck/drafts/long.md").write_text(text)
    assert typed(capsys, "read", "drafts/long.md") == text
    assert json.loads(typed(capsys, "read", "drafts/long.md", "--json"))["truncated"] is True
    typed(capsys, "commit", "long")
    assert typed(capsys, "diff", "--since", "HEAD~1").count("\n+") == 20_001
    Path("deck/assets/picture.png").write_bytes(b"\x89PNG\0\xff")
    assert typed(capsys, "read", "assets/picture.png") == "assets/picture.png is a binary file: 6 bytes\n"


def test_text_of_others_cannot_control_the_terminal(home: Path, board: str, capsys: Said) -> None:
    Path("deck/drafts/trick.md").write_text(f"{ESC}[2Jhello [red]you[/red]\n")
    assert typed(capsys, "read", "drafts/trick.md") == "·[2Jhello [red]you[/red]\n"
    assert "·[2Jhello [red]you[/red]" in typed(capsys, "search", "hello")
    assert main(["workspace", "call", "read", "path=drafts/trick.md"]) == 0
    assert ESC not in capsys.readouterr().out


def test_a_terminal_gets_colour_and_no_escapes_of_others(home: Path, board: str) -> None:
    Path("deck/drafts/trick.md").write_text(f"{ESC}[2Jhello\n")
    ours, terminal = pty.openpty()
    words = [sys.executable, "-m", "cohabit", "workspace", "search", "hello"]
    environ = {**os.environ, "TERM": "xterm-256color"}
    subprocess.run(words, stdout=terminal, check=True, env={k: v for k, v in environ.items() if k != "NO_COLOR"})
    os.close(terminal)
    seen = os.read(ours, 65536).decode()
    os.close(ours)
    assert re.sub(rf"{ESC}\[[\d;]*m", "", seen) == "drafts/trick.md:1: ·[2Jhello\r\n"
    assert f"{ESC}[35m" in seen


def test_usage_errors_are_one_line(board: str, capsys: Said) -> None:
    for words, says in (
        (["jurnal"], "invalid choice"),
        (["log", "-n", "many"], "1 or more"),
        (["inbox", "close", "INB-001"], "RESOLUTION"),
        (["decide", "Blue"], "--context"),
    ):
        assert main(["workspace", *words]) == 2
        err = capsys.readouterr().err
        assert says in err
        assert err.count("\n") == 1
    assert "there is no file" in typed(capsys, "read", "gone.md", code=1)
    assert "INB-9" in typed(capsys, "inbox", "close", "INB-9", "done", code=1)
    assert "docs/workspace-tools.md" in typed(capsys, "call", "nothing", code=1)


def test_an_unreachable_remote_is_reported_with_what_to_do(home: Path, board: str, capsys: Said) -> None:
    (home / "deck.git").rename(home / "elsewhere.git")
    said = typed(capsys, "pull", code=1)
    assert said.startswith("cohabit: [UNREACHABLE] the remote does not answer: ")
    assert "⏎" not in said, "what git says in several lines is shown in several"
    assert all(line.startswith("  ") for line in said.splitlines()[1:])
    assert said.endswith(" the next `cohabit workspace sync`.\n")
    said = typed(capsys, "sync", code=1)
    assert said.count("Nothing is lost") == 1
    assert "What you committed" not in said, "that is said already"
    assert "run `cohabit workspace push` again" in said
    assert ".. " not in said
    (home / "no.git").write_text("no repository")
    assert "What you committed" not in typed(capsys, "init", "other", "./no.git", code=1), "nobody committed anything"


def test_the_first_push_of_a_branch_is_reported(board: str, capsys: Said) -> None:
    subprocess.run(["git", "-C", "deck", "switch", "-q", "-c", "side"], check=True)
    typed(capsys, "journal", "add", "Began")
    typed(capsys, "commit", "begin")
    assert typed(capsys, "sync") == "✓ deck shared: side is new on the remote\n"
    assert typed(capsys, "sync") == "✓ deck: nothing to share\n"
    assert typed(capsys, "push") == "✓ deck: nothing to share\n"


def test_in_the_folder_of_a_clone_that_workspace_is_used(
    home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(capsys, "init", "other", "./other.git", "--create")
    (home / "link").symlink_to(home / "other" / "drafts")
    assert typed(capsys, "status").startswith("deck  main  ")
    monkeypatch.chdir(home / "link")
    assert typed(capsys, "status").startswith("other  main  ")
    assert re.search(r"^● +other ", typed(capsys, "list"), re.MULTILINE)
    typed(capsys, "journal", "add", "Began")
    assert " in other on main: " in typed(capsys, "commit", "begin")
    assert typed(capsys, "sync").startswith("✓ other shared: ")
    assert json.loads(typed(capsys, "call", "workspace_info"))["name"] == "other"
    assert typed(capsys, "switch", "deck") == (
        "deck is active.\nThis folder belongs to the clone of other, which is still used here.\n"
    )
    assert typed(capsys, "status").startswith("other  ")
    assert typed(capsys, "switch", "other") == "other is active.\n"
    typed(capsys, "switch", "deck")
    monkeypatch.chdir(home)
    assert typed(capsys, "status").startswith("deck  "), "where one stands is stored nowhere"


@pytest.mark.parametrize("how", ["copy", "nested", "worktree"])
def test_in_a_clone_that_is_not_registered_nothing_happens_to_another_one(
    how: str, home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "deck" / "inner" if how == "nested" else home / "copy"
    if how == "worktree":
        subprocess.run(["git", "-C", home / "deck", "worktree", "add", "-q", "--detach", other], check=True)
    else:
        shutil.copytree(home / "deck", home / "made")
        (home / "made").rename(other)
    before = (home / "deck" / "journal.md").read_bytes()
    monkeypatch.chdir(other / "drafts")
    for words in (["journal", "add", "Meant for the copy"], ["status"], ["info"], ["sync"], [], ["call", "status"]):
        told = typed(capsys, *words, code=1)
        assert "not registered" in told, words
        assert '"deck"' in told
    assert (home / "deck" / "journal.md").read_bytes() == before
    assert re.search(r"^● +deck ", typed(capsys, "list"), re.MULTILINE), "what concerns no clone works"


def test_a_clone_that_is_not_registered_says_how_to_register_it(
    home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home / "deck", home / "copy")
    monkeypatch.chdir(home / "copy")
    command = re.search(r"`cohabit workspace (init NAME [^`]*)`", typed(capsys, "status", code=1))
    assert command is not None
    typed(capsys, *shlex.split(command[1].replace("NAME", "second")))
    assert typed(capsys, "status").startswith("second  main  ")
    typed(capsys, "journal", "add", "For the copy")
    assert "For the copy" not in (home / "deck" / "journal.md").read_text()


def test_a_clone_that_was_deleted_can_be_set_up_with_the_command_of_the_error(
    home: Path, board: str, capsys: Said
) -> None:
    for left in ("nothing", "files"):
        shutil.rmtree(home / "deck")
        if left == "files":
            (home / "deck").mkdir()
            (home / "deck" / "notes.txt").write_text("kept\n")
        said = typed(capsys, "status", code=1)
        command = re.search(r"`cohabit workspace (init [^`]*)`", said)
        assert command, said
        if left == "files":
            assert "move it away, then run `" in said
            (home / "deck").rename(home / "moved")
        assert shlex.split(command[1]) == ["init", "deck", str(home / "deck.git"), str(home / "deck")]
        typed(capsys, *shlex.split(command[1]))
        assert typed(capsys, "status")


def test_an_address_with_nothing_at_it_is_named(capsys: Said) -> None:
    said = typed(capsys, "init", "deck", "./nowhere.git", code=1)
    assert "there is nothing at ./nowhere.git; with `--create` a repository is created there" in said
    assert typed(capsys, "init", "deck", "./nowhere.git", "--create")


def test_in_a_repository_that_is_no_board_the_active_workspace_is_used(
    home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", home / "program"], check=True)
    monkeypatch.chdir(home / "program")
    assert typed(capsys, "status").startswith("deck  ")


def test_of_nested_clones_the_inner_one_is_used(
    home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(capsys, "init", "inner", "./inner.git", "--create")
    (home / "inner").rename(home / "deck" / "inner")
    known = home / ".multisphere" / "workspaces.json"
    known.write_text(known.read_text().replace(f'{home}/inner"', f'{home}/deck/inner"'))
    monkeypatch.chdir(home / "deck" / "inner" / "drafts")
    assert typed(capsys, "status").startswith("inner  ")
    monkeypatch.chdir(home / "deck" / "drafts")
    assert typed(capsys, "status").startswith("deck  ")


def test_errors_name_the_verbs_of_this_command_line(board: str, capsys: Said) -> None:
    assert "; run `cohabit workspace ls` to see the files" in typed(capsys, "read", "nope", code=1)
    said = typed(capsys, "log", "--since", "nope", code=1)
    assert "(run `cohabit workspace pull`)" in said
    assert "`cohabit workspace log` has the commits" in said
    typed(capsys, "inbox", "add", "Read slide 4")
    said = typed(capsys, "inbox", "claim", "INB-001", code=1)
    assert "`cohabit workspace commit MESSAGE` and `cohabit workspace sync` share it, then try again" in said
    said = typed(capsys, "init", "other", "./nothing.git", "deck", code=1)
    assert "use that as REMOTE, or choose another FOLDER" in said
    assert "remote_url" not in said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Call push: it merges", "Run `cohabit workspace push`: it merges"),
        ("call push again", "run `cohabit workspace push` again"),
        ("status shows it", "`cohabit workspace status` shows it"),
        ("and inbox_list has them", "and `cohabit workspace inbox` has them"),
        ("there is no file drafts/inbox_list.md", "there is no file drafts/inbox_list.md"),
        ("the push did not get through; read the list", "the push did not get through; read the list"),
        (rewritten.MESSAGE, None),
    ],
)
def test_messages_for_agents_are_translated_for_people(said: str, meant: str | None) -> None:
    assert meant is None or for_people(said) == meant
    assert not re.search(r"your (user|person)|that tool|[Cc]all ", for_people(said))


def test_notes_name_the_verbs_of_this_command_line_too() -> None:
    (said,) = notes({"notes": ["pushed, but this clone could not be updated yet: busy; call sync"]})
    assert str(said).endswith("busy; run `cohabit workspace sync`")


def test_a_refused_push_is_shown_in_the_lines_of_the_remote(home: Path, board: str, capsys: Said) -> None:
    hook = home / "deck.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'No pushes on Fridays.' >&2\necho 'Come back on Monday.' >&2\nexit 1\n")
    hook.chmod(0o755)
    typed(capsys, "journal", "add", "Began")
    typed(capsys, "commit", "begin")
    said = typed(capsys, "sync", code=1)
    assert said.startswith("rejected: ")
    assert said.endswith("\n  No pushes on Fridays.\n  Come back on Monday.\n")


def test_long_names_are_shown_and_only_a_house_has_tokens_to_hide(
    board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, commit = "a-name-of-a-file-that-is-as-long-as-a-token", "0123456789abcdef" * 2 + "01234567"
    assert name in typed(capsys, "read", name, code=1)
    assert commit in typed(capsys, "log", "--since", commit, code=1)
    assert name in typed(capsys, "call", "read", f"path={name}", code=1)

    def refuse(_: object) -> int:
        raise BadArgs(name)

    monkeypatch.setattr("cohabit.faces.cli.workspace.house.serve", refuse)
    assert "[hidden]" in typed(capsys, "serve", code=1)


def test_the_error_for_a_closed_item_says_when_and_by_whom_it_was_closed(board: str, capsys: Said) -> None:
    typed(capsys, "inbox", "add", "Read slide 4")
    typed(capsys, "inbox", "close", "INB-001", "done")
    said = typed(capsys, "inbox", "close", "INB-001", "again", code=1)
    assert re.search(r": it was closed \d{4}-\d\d-\d\d \S+ by ann-cli\.", said)
    typed(capsys, "inbox", "add", "Read slide 5")
    assert "the open ones. Did you mean: INB-002?" in typed(capsys, "inbox", "close", "INB-2", "done", code=1)


def test_a_number_of_rows_above_the_limit_is_reduced_to_it(board: str, capsys: Said) -> None:
    assert find("journal_tail").schema()["properties"]["n"]["maximum"] == MAX_ROWS == MAX_COMMITS
    typed(capsys, "journal", "add", "Began")
    assert "Began" in typed(capsys, "journal", "-n", "500")
    assert "Begin the workspace" in typed(capsys, "log", "-n", "9" * 30)


def test_an_empty_diff_is_one_line(board: str, capsys: Said) -> None:
    assert typed(capsys, "diff") == "No difference.\n"


def test_a_hint_can_be_pasted_whatever_the_name(board: str, capsys: Said) -> None:
    said = typed(capsys, "init", "my deck", "./other.git", "other", "--create")
    assert "`cohabit workspace switch 'my deck'`" in said


def test_optional_arguments_are_not_reported_as_missing(capsys: Said) -> None:
    for verb, needed in (("call", "TOOL"), ("search", "QUERY")):
        assert f"required: {needed};" in typed(capsys, verb, code=2)


def test_long_paths_are_folded_where_the_terminal_is_narrow() -> None:
    path = "drafts/" + "a-long-name-" * 8 + ".md"
    console = Console(width=60, color_system=None)
    with console.capture() as got:
        console.print(grid([(Text("untracked"), Text(path))]))
    assert "…" not in got.get()
    assert re.sub(r"\s+", "", got.get()) == f"untracked{path}"


@pytest.mark.parametrize("verb", ["list", "skill", "status"])
def test_a_closed_output_causes_no_error(verb: str, board: str) -> None:
    words = [sys.executable, "-m", "cohabit", "workspace", verb]
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *words], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_todo_is_for_somebody_or_for_anyone() -> None:
    assert todo("@bob-cli: read: it") == {"for": "bob-cli", "text": "read: it"}
    assert todo("find: a logo") == {"text": "find: a logo"}


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("2026-05-22T12:00:00+00:00", "just now"),
        ("2026-05-22T11:58:00+00:00", "2 minutes ago"),
        ("2026-05-22T10:59:00+00:00", "1 hour ago"),
        ("2026-05-19T12:00:00Z", "3 days ago"),
        ("2027-01-01T00:00:00Z", ""),
        ("when I was young", ""),
    ],
)
def test_a_time_is_shown_relative_to_now(when: str, said: str) -> None:
    assert ago(when, datetime.fromisoformat("2026-05-22T12:00:30+00:00")) == said


def test_the_server_starts_without_heavy_modules() -> None:
    program = "import sys; from cohabit.faces.cli import main; main(['workspace', 'mcp']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], input="", capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert "cohabit.workspace.mcp.server" in loaded
    assert not {"rich", "asyncio", "mcp", "starlette", "numpy", "cohabit.house.house"} & set(loaded)


def test_the_skill_is_printed_unchanged(capsys: Said) -> None:
    assert typed(capsys, "skill").startswith("---\nname: a2a\n")


def test_the_documentation_has_every_verb_with_its_options() -> None:
    page = (ROOT / "docs/cli-reference.md").read_text(encoding="utf-8").split("\n## workspace\n")[1].split("\n## ")[0]
    for verb in VERBS:
        row = next((line for line in page.splitlines() if line.startswith(f"| `{verb.name}")), "")
        assert row, f"docs/cli-reference.md, workspace: {verb.name} is missing"
        for names, _ in verb.arguments:
            if names[0].startswith("-"):
                assert f"`{names[0]}" in row, f"docs/cli-reference.md, workspace {verb.name}: {names[0]} is missing"


def test_every_translated_phrase_occurs_in_a_message_of_a_tool() -> None:
    def texts(path: Path) -> Iterator[str]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value

    tools = ROOT / "src" / "cohabit" / "workspace"
    messages = [text for path in tools.rglob("*.py") for text in texts(path)]
    assert PHRASES
    assert [said for said, _ in PHRASES if not any(re.search(said, text) for text in messages)] == []


# -- paths, the board, and verbs as in git ---------------------------------------------------------
def test_paths_are_relative_to_the_current_folder(
    home: Path, board: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = home / "deck" / "drafts"
    monkeypatch.chdir(drafts)
    (drafts / "a.md").write_text("alpha\n")
    assert "alpha" in typed(capsys, "read", "a.md")
    assert "alpha" in typed(capsys, "read", str(drafts / "a.md"))
    assert "# Journal" in typed(capsys, "read", "../journal.md")
    assert "a.md" in typed(capsys, "ls")
    assert "journal.md" in typed(capsys, "ls", "..")
    assert "alpha" in typed(capsys, "search", "alpha", ".")
    assert "No matches" in typed(capsys, "search", "alpha", "../research")
    typed(capsys, "add", "a.md")
    typed(capsys, "commit", "-m", "alpha")
    assert "alpha" in typed(capsys, "log", "a.md")
    assert "escapes" in typed(capsys, "read", "../../outside.md", code=1)
    monkeypatch.chdir(home)
    assert "alpha" in typed(capsys, "read", "drafts/a.md"), "outside of the clone, paths are from its root"


def test_without_a_verb_the_board_is_shown(board: str, capsys: Said) -> None:
    typed(capsys, "inbox", "add", "Read slide 4")
    typed(capsys, "journal", "add", "Drafted slide 4")
    said = typed(capsys)
    assert "Read slide 4" in said
    assert "Drafted slide 4" in said
    assert re.search(r"^modified +inbox.md$", said, re.MULTILINE)


def test_without_a_verb_and_without_a_workspace_it_says_how_to_set_one_up(capsys: Said) -> None:
    assert "`cohabit workspace init`" in typed(capsys, code=1)


def test_files_are_added_deleted_and_renamed_as_in_git(home: Path, board: str, capsys: Said) -> None:
    drafts = home / "deck" / "drafts"
    for name in ("a.md", "b.md"):
        (drafts / name).write_text(name)
    typed(capsys, "add", "drafts/a.md")
    assert "1 file" in typed(capsys, "commit", "only a")
    assert "drafts/b.md" in typed(capsys, "status")
    typed(capsys, "commit", "the rest")
    assert "drafts/c.md" in typed(capsys, "mv", "drafts/a.md", "drafts/c.md")
    assert "deleted" in typed(capsys, "rm", "drafts/b.md")
    assert sorted(path.name for path in drafts.iterdir() if path.suffix) == ["c.md"]
    typed(capsys, "commit", "-m", "moved")
    assert "No changes" in typed(capsys, "status")
    for words in (("rm", "journal.md"), ("mv", "drafts/c.md", "inbox.md"), ("mv", "journal.md", "drafts/j.md")):
        assert "belongs to the board" in typed(capsys, *words, code=1)
    assert "exists already" in typed(capsys, "mv", "README.md", "drafts/c.md", code=1)
    assert "there is no file" in typed(capsys, "rm", "drafts/none.md", code=1)
    assert "needs a message" in typed(capsys, "commit", code=1)
