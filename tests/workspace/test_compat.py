"""The compatible profile over stdio: the twenty tools of Multisphere, their arguments, answers and errors."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

TWENTY: dict[str, tuple[set[str], set[str], set[str]]] = {
    # tool: (arguments that are needed, arguments that may be, fields of the answer)
    "workspace_init": (
        {"name", "remote_url", "local_path"},
        set(),
        {"name", "local_path", "remote", "already_existed", "active_workspace"},
    ),
    "workspace_list": (set(), set(), {"active_workspace", "workspaces"}),
    "workspace_switch": ({"name"}, set(), {"active_workspace"}),
    "workspace_info": (set(), set(), {"name", "local_path", "remote", "head", "branch", "agent_id"}),
    "fetch": (set(), set(), {"updated", "behind", "ahead"}),
    "pull": (set(), set(), {"updated", "new_head", "files"}),
    "status": (
        set(),
        set(),
        {
            "branch", "tracking", "ahead", "behind", "modified", "not_added", "deleted", "renamed", "staged",
            "untracked", "conflicted", "clean",
        },
    ),
    "diff": (set(), {"since", "paths"}, {"diff"}),
    "log": (set(), {"since", "n", "paths"}, {"total", "commits"}),
    "add": ({"paths"}, set(), {"added"}),
    "commit": ({"message"}, set(), {"sha", "branch", "summary"}),
    "push": (set(), set(), {"ok", "pushed"}),
    "read": ({"path"}, set(), {"path", "content"}),
    "write": ({"path", "content"}, {"mode"}, {"path", "mode", "bytes"}),
    "list": ({"dir"}, set(), {"dir", "entries"}),
    "search": ({"query"}, {"paths"}, {"query", "matches", "truncated"}),
    "journal_append": ({"summary"}, {"details", "todos"}, {"ok", "journal_entry_at", "agent_id"}),
    "inbox_add": ({"title"}, {"body", "for"}, {"id", "target", "added_at"}),
    "inbox_close": ({"id", "resolution"}, {"journal_ref"}, {"id", "closed_at", "by"}),
    "whats_new": (set(), set(), {"first_visit", "previous_sha", "current_sha", "new_commits", "changed_files"}),
}  # fmt: skip
ANN = {"AGENT_ID": "ann-cli", "AGENT_NAME": "Ann", "AGENT_EMAIL": "ann@example.org"}


class Client:
    """A client with a handshake, and its server process."""

    def __init__(self, home: Path, env: Mapping[str, str], *args: str, client: str = "tester") -> None:
        home.mkdir(parents=True, exist_ok=True)
        base = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cohabit.workspace", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home,
            env={**base, **env},
        )
        self._last = 0
        info = {"name": client, "version": "1"}
        self.hello = self.ask("initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo=info)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, *messages: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(json.dumps(m).encode() + b"\n" for m in messages))
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        return {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}

    def receive(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1].decode()
        return json.loads(line)

    def ask(self, method: str, **params: Any) -> Any:
        self.send(self.request(method, **params))
        return self.receive()["result"]

    def result(self, tool: str, **args: Any) -> tuple[Any, bool]:
        """The answer, which is always JSON, and whether it is an error."""
        return opened(self.ask("tools/call", name=tool, arguments=args))

    def call(self, tool: str, **args: Any) -> Any:
        answer, failed = self.result(tool, **args)
        assert not failed, answer
        return answer

    def refused(self, tool: str, **args: Any) -> str:
        answer, failed = self.result(tool, **args)
        assert failed
        assert set(answer) <= {"error", "details"}
        assert isinstance(answer["error"], str)
        return answer["error"]

    def pipelined(self, tool: str, arguments: list[dict[str, Any]]) -> list[Any]:
        """Send all requests at once; returns the answers in the order of the requests."""
        requests = [self.request("tools/call", name=tool, arguments=args) for args in arguments]
        self.send(*requests)
        answers = {answer["id"]: answer["result"] for answer in (self.receive() for _ in requests)}
        return [opened(answers[request["id"]])[0] for request in requests]

    def close(self) -> str:
        """End the server as clients do; returns its stderr."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        out, err = self.process.stdout.read(), self.process.stderr.read()  # type: ignore[union-attr]
        assert (self.process.wait(30), out) == (0, b"")
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()  # type: ignore[union-attr]
        return err.decode()


def opened(result: Any) -> tuple[Any, bool]:
    assert set(result) <= {"content", "isError"}
    (block,) = result["content"]
    answer = json.loads(block["text"])
    assert block["text"] == json.dumps(answer, indent=2, ensure_ascii=False)
    return answer, result.get("isError", False)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    made: list[Client] = []

    def start(home: str = "ann", env: Mapping[str, str] | None = None, *args: str, client: str = "tester") -> Client:
        if env is None:
            env = {
                f"COHABIT_{name}": value.replace("ann", home).replace("Ann", home.title())
                for name, value in ANN.items()
            }
        made.append(Client(tmp_path / home, env, *(args or ("--profile", "compat")), client=client))
        return made[-1]

    yield start
    for client in made:
        if client.process.poll() is None:
            client.close()


@pytest.fixture
def ann(start: Callable[..., Client], remote: Path, tmp_path: Path) -> Client:
    """A compat server with a clone of its own."""
    client = start()
    client.call("workspace_init", name="board", remote_url=str(remote), local_path=str(tmp_path / "ann" / "board"))
    return client


# -- what there is ----------------------------------------------------------------------------------
def test_the_compatible_profile_lists_exactly_the_twenty_in_order(start: Callable[..., Client]) -> None:
    listed = start().ask("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [*TWENTY]
    assert len(listed) == 20


def test_every_argument_of_the_twenty_is_declared_and_no_other_is_needed(start: Callable[..., Client]) -> None:
    listed = start().ask("tools/list")["tools"]
    assert listed
    for tool in listed:
        needed, more, _ = TWENTY[tool["name"]]
        schema = tool["inputSchema"]
        assert set(schema.get("required", [])) <= needed, tool["name"]
        assert set(schema["properties"]) >= needed | more, tool["name"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(schema), "not every client follows references"


def test_the_full_profile_has_the_twenty_and_more(start: Callable[..., Client]) -> None:
    names = [tool["name"] for tool in start("ann", None, "--profile", "full").ask("tools/list")["tools"]]
    assert [name for name in names if name in TWENTY] == [*TWENTY]
    assert len(names) == len(set(names)) > 20


@pytest.mark.parametrize(("profile", "tokens"), [("compat", 2_300), ("full", 3_800)])
def test_the_list_of_tools_fits_its_budget(start: Callable[..., Client], profile: str, tokens: int) -> None:
    shown = [
        {key: tool[key] for key in ("name", "description", "inputSchema")}
        for tool in start("ann", None, "--profile", profile).ask("tools/list")["tools"]
    ]
    assert len(json.dumps(shown, separators=(",", ":"))) / 4 < tokens


def test_reading_and_writing_tools_are_marked(start: Callable[..., Client]) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in start().ask("tools/list")["tools"]}
    reading = {"workspace_list", "workspace_info", "status", "diff", "log", "read", "list", "search"}
    assert {name for name, hint in hints.items() if hint.get("readOnlyHint")} == reading
    assert {name for name, hint in hints.items() if hint.get("openWorldHint", True)} == {
        "workspace_init",
        "fetch",
        "pull",
        "push",
    }
    destroying = {name for name, hint in hints.items() if hint.get("destructiveHint", True)}
    assert destroying - reading == {"write"}


def test_an_unknown_extra_argument_is_ignored(ann: Client) -> None:
    assert ann.call("status", colour="green")["clean"] is True


def test_stdout_has_only_messages_and_stderr_two_lines(start: Callable[..., Client]) -> None:
    from cohabit import __version__

    client = start(client="My Client")
    assert client.hello["protocolVersion"] == "2024-11-05"
    assert client.close() == f"cohabit-workspace {__version__}\nclient: My Client 1\n"


# -- answers ----------------------------------------------------------------------------------------
def test_every_answer_has_the_fields_of_multisphere(ann: Client, tmp_path: Path, remote: Path) -> None:
    answers: dict[str, Any] = {}

    def ask(tool: str, **args: Any) -> Any:
        answers[tool] = ann.call(tool, **args)
        return answers[tool]

    ask("workspace_init", name="board", remote_url=str(remote), local_path=str(tmp_path / "ann" / "board"))
    assert answers["workspace_init"]["already_existed"] is True
    assert ask("workspace_list")["workspaces"] == [
        {"name": "board", "remote": str(remote), "local_path": str(tmp_path / "ann" / "board"), "active": True}
    ]
    assert ask("workspace_switch", name="board") == {"active_workspace": "board"}
    ask("workspace_info")
    ask("write", path="drafts/deck.md", content="# Deck\nnaïve\n")
    assert answers["write"] == {"path": "drafts/deck.md", "mode": "overwrite", "bytes": 14}
    assert ask("read", path="drafts/deck.md")["content"] == "# Deck\nnaïve\n"
    entries = ask("list", dir="drafts")["entries"]
    assert {"name": "deck.md", "type": "file", "size": 14} in entries
    assert ask("search", query="naïve")["matches"] == [{"path": "drafts/deck.md", "line": 2, "text": "naïve"}]
    ask("journal_append", summary="Began.", details="More.", todos=[{"for": "bob-cli", "text": "look"}])
    ask("inbox_add", title="A thing", body="of the body", **{"for": "bob-cli"})
    assert answers["inbox_add"]["target"] == "@bob-cli"
    ask("inbox_close", id="INB-001", resolution="done", journal_ref="2026-05-22 14:30")
    ask("status")
    assert "drafts/deck.md" in answers["status"]["untracked"]
    ask("diff")
    ask("whats_new")
    assert ask("add", paths=["drafts", "journal.md", "inbox.md"])["added"] == ["drafts", "journal.md", "inbox.md"]
    commit = ask("commit", message="Began")
    assert set(commit["summary"]) >= {"changes", "insertions", "deletions"}
    first = ask("log", n=1)["commits"][0]
    assert set(first) >= {"sha", "date", "author_name", "author_email", "message", "refs"}
    assert (first["sha"], first["message"]) == (commit["sha"], "[ann-cli] Began")
    assert ask("push")["ok"] is True
    assert set(ask("fetch")) >= {"behind", "ahead"}
    ask("pull")
    for tool, (_, _, fields) in TWENTY.items():
        assert set(answers[tool]) >= fields, tool


def test_a_push_answers_what_moved_or_that_nothing_did(ann: Client) -> None:
    ann.call("write", path="research/a.md", content="a\n")
    ann.call("add", paths=["research/a.md"])
    sha = ann.call("commit", message="a")["sha"]
    update = ann.call("push")["update"]
    assert set(update) >= {"head", "hash"}
    assert set(update["head"]) == {"local", "remote"}
    assert sha.startswith(update["hash"]["to"])
    again = ann.call("push")
    assert again["ok"] is True
    assert "update" not in again
    assert set(again["pushed"][0]) == {"deleted", "tag", "branch", "new", "alreadyUpdated", "local", "remote"}


def test_a_pull_that_cannot_fast_forward_answers_conflict_and_is_not_an_error(
    ann: Client, start: Callable[..., Client], remote: Path, tmp_path: Path
) -> None:
    bob = start("bob")
    bob.call("workspace_init", name="board", remote_url=str(remote), local_path=str(tmp_path / "bob" / "board"))
    for who, client in (("ann", ann), ("bob", bob)):
        client.call("write", path=f"drafts/{who}.md", content=who)
        client.call("add", paths=[f"drafts/{who}.md"])
        client.call("commit", message=who)
    bob.call("push")
    answer = ann.call("pull")
    assert answer["error"] == "conflict"
    assert set(answer) >= {"error", "message", "files"}
    assert ann.call("push")["ok"] is True, "where Multisphere was stuck permanently"
    assert ann.call("read", path="drafts/bob.md")["content"] == "bob"


def test_files_in_conflict_are_named_and_nothing_is_lost(
    ann: Client, start: Callable[..., Client], remote: Path, tmp_path: Path
) -> None:
    bob = start("bob")
    bob.call("workspace_init", name="board", remote_url=str(remote), local_path=str(tmp_path / "bob" / "board"))
    for who, client in (("ann", ann), ("bob", bob)):
        client.call("write", path="drafts/same.md", content=f"{who}\n")
        client.call("add", paths=["drafts/same.md"])
        client.call("commit", message=who)
    bob.call("push")
    answer = ann.call("push")
    assert answer["error"] == "conflict"
    assert answer["files"] == ["drafts/same.md"]
    assert ann.call("read", path="drafts/same.md")["content"] == "ann\n"


# -- errors -----------------------------------------------------------------------------------------
def test_every_error_is_json_with_a_message_that_a_model_can_act_on(ann: Client) -> None:
    assert "nothing_like_this" in ann.refused("nothing_like_this")
    assert "path" in ann.refused("read")
    assert "mode" in ann.refused("write", path="a", content="b", mode="sideways")
    assert "is not registered" in ann.refused("workspace_switch", name="x")
    assert "absolute paths are not allowed" in ann.refused("read", path="/etc/passwd")
    assert "path escapes workspace root" in ann.refused("read", path="../../x")
    assert "INB-999" in ann.refused("inbox_close", id="INB-999", resolution="gone")
    assert "nope.md" in ann.refused("add", paths=["nope.md"])


def test_without_a_workspace_the_error_names_the_tool_to_call_first(start: Callable[..., Client]) -> None:
    message = "No active workspace. Call workspace_switch or workspace_init first."
    assert start().refused("status") == message


def test_without_an_identity_the_error_names_the_client_and_the_files(
    start: Callable[..., Client], remote: Path, tmp_path: Path
) -> None:
    client = start("nobody", {}, client="claude-ai")
    words = client.refused(
        "workspace_init", name="board", remote_url=str(remote), local_path=str(tmp_path / "nobody" / "board")
    )
    assert "cowork" in words
    assert "identity.cowork.json" in words


def test_no_error_contains_a_path_of_this_machine(ann: Client, tmp_path: Path) -> None:
    for tool, args in (
        ("read", {"path": "nope"}),
        ("list", {"dir": "nope"}),
        ("add", {"paths": ["nope"]}),
        ("diff", {"since": "nope"}),
        ("log", {"since": "--output=/tmp/x"}),
    ):
        assert str(tmp_path) not in ann.refused(tool, **args)


# -- the 33 checks of Multisphere ---------------------------------------------------------------------
def test_the_checks_of_multisphere_for_one_agent(ann: Client, tmp_path: Path) -> None:
    info = ann.call("workspace_info")
    assert ann.call("workspace_list")["active_workspace"] == "board"  # 1
    assert info["agent_id"] == "ann-cli"  # 2
    assert len(info["head"]) >= 7  # 3
    ann.call("journal_append", summary="Did it.", todos=[{"text": "for all"}, {"for": "bob-cli", "text": "for one"}])
    journal = ann.call("read", path="journal.md")["content"]
    assert "ann-cli (Ann)" in journal  # 4
    assert "TODO @anyone: for all" in journal  # 5
    assert "TODO @bob-cli: for one" in journal  # 6
    ids = [ann.call("inbox_add", title=title)["id"] for title in ("one", "two")]
    assert ids == ["INB-001", "INB-002"]  # 7
    ann.call("write", path="research/note.md", content="x")
    assert "note.md" in [entry["name"] for entry in ann.call("list", dir="research")["entries"]]  # 8
    ann.call("inbox_close", id="INB-001", resolution="done")
    opened_part, closed_part = ann.call("read", path="inbox.md")["content"].split("## Closed")
    assert "INB-001" not in opened_part  # 9
    assert "~~INB-001" in closed_part  # 10
    assert "INB-002" in opened_part  # 11
    ann.call("add", paths=["journal.md", "inbox.md", "research/note.md"])
    sha = ann.call("commit", message="The day")["sha"]
    assert len(sha) == 40  # 12
    assert ann.call("status")["clean"] is True  # 13
    news = ann.call("whats_new")
    assert news["first_visit"] is True  # 14
    assert news["current_sha"] == sha  # 15
    pointers = [entry["name"] for entry in ann.call("list", dir=".pointers")["entries"]]
    assert "ann-cli.json" in pointers  # 16
    written = json.loads((tmp_path / "ann" / ".multisphere" / "workspaces.json").read_text())
    assert written["workspaces"]["board"]["local_path"] == str(tmp_path / "ann" / "board")  # 17


def test_the_check_of_multisphere_that_a_legacy_file_is_used_and_not_changed(
    start: Callable[..., Client], remote: Path, tmp_path: Path
) -> None:
    config = tmp_path / "old" / ".multisphere" / "config.json"
    config.parent.mkdir(parents=True)
    legacy = json.dumps({"agent_id": "old-desktop", "agent_name": "Old", "agent_email": "old@example.org"})
    config.write_text(legacy)
    client = start("old", {})
    place = str(tmp_path / "old" / "board")
    client.call("workspace_init", name="board", remote_url=str(remote), local_path=place)
    assert client.call("workspace_info")["agent_id"] == "old-desktop"
    assert config.read_text() == legacy  # 18


SLUG = {"identity.json": {"user_slug": "ann", "agent_name": "Ann", "agent_email": "ann@example.org"}}
LEGACY = {"config.json": {"agent_id": "old-id", "agent_name": "Old", "agent_email": "old@example.org"}}
COWORK = {"identity.cowork.json": {"agent_id": "cow-id", "agent_name": "Cow", "agent_email": "cow@example.org"}}
MARK = "/x/claude-hostloop-plugins/y"


@pytest.mark.sampled
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("check", "files", "env", "client", "agent_id"),
    [
        (19, SLUG | LEGACY, {f"MULTISPHERE_{name}": value for name, value in ANN.items()}, "claude-ai", "ann-cli"),
        (20, COWORK | LEGACY, {}, "claude-ai", "cow-id"),
        (21, SLUG, {"MULTISPHERE_CLIENT": "desk"}, "claude-ai", "ann-desk"),
        (22, SLUG, {}, "claude-ai", "ann-cowork"),
        (23, SLUG, {}, "claude-desktop", "ann-cowork"),
        (24, SLUG, {}, "Claude Code 2.x", "ann-claude-code"),
        (25, SLUG, {}, "SomeOtherClient/1.0", "ann-someotherclient-1-0"),
        (26, SLUG, {}, "Claude AI", "ann-cowork"),
        (27, SLUG, {}, "claude-code", "ann-claude-code"),
        (28, SLUG, {"CLAUDE_PLUGIN_ROOT": MARK}, "claude-code", "ann-cowork"),
        (29, SLUG, {"CLAUDE_PROJECT_DIR": "/x/local-agent-mode-sessions/y"}, "claude-code", "ann-cowork"),
        (30, SLUG, {"CLAUDE_PLUGIN_ROOT": MARK}, "cursor", "ann-cursor"),
        (31, SLUG, {"MULTISPHERE_CLIENT": "mine"}, "claude-code", "ann-mine"),
        (32, SLUG, {"MULTISPHERE_CLIENT": ""}, "claude-code", "ann-claude-code"),
        (33, SLUG, {"MULTISPHERE_CLIENT": "   "}, "claude-code", "ann-claude-code"),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_the_checks_of_multisphere_for_identity(
    start: Callable[..., Client],
    remote: Path,
    tmp_path: Path,
    check: int,
    files: dict[str, Any],
    env: dict[str, str],
    client: str,
    agent_id: str,
) -> None:
    config = tmp_path / "one" / ".multisphere"
    config.mkdir(parents=True)
    for name, content in files.items():
        (config / name).write_text(json.dumps(content))
    place = str(tmp_path / "one" / "board")
    server = start("one", env, client=client)
    server.call("workspace_init", name="board", remote_url=str(remote), local_path=place)
    assert server.call("workspace_info")["agent_id"] == agent_id
    if check == 20:
        server.call("journal_append", summary="Who was it?")
        assert "cow-id (Cow)" in server.call("read", path="journal.md")["content"]


# -- contention -------------------------------------------------------------------------------------
def test_twenty_items_added_at_once_get_twenty_numbers(ann: Client) -> None:
    answers = ann.pipelined("inbox_add", [{"title": f"item {n}"} for n in range(20)])
    assert [answer["id"] for answer in answers] == [f"INB-{n:03}" for n in range(1, 21)]
    inbox = ann.call("read", path="inbox.md")["content"]
    assert inbox.count("- [ ] INB-") == 20


def test_two_servers_on_one_clone_lose_nothing(ann: Client, start: Callable[..., Client], tmp_path: Path) -> None:
    other = start("ann", None, "--profile", "full", client="other")
    requests = [
        [client.request("tools/call", name="inbox_add", arguments={"title": f"{who} {n}"}) for n in range(20)]
        for who, client in (("first", ann), ("second", other))
    ]
    for client, asked in zip((ann, other), requests, strict=True):
        client.send(*asked)
    ids = [opened(client.receive()["result"])[0]["id"] for client in (ann, other) for _ in range(20)]
    assert sorted(ids) == [f"INB-{n:03}" for n in range(1, 41)]
    assert ann.call("read", path="inbox.md")["content"].count("- [ ] INB-") == 40


def test_two_servers_with_a_clone_each_pipeline_their_whole_exit_and_neither_is_stuck(
    ann: Client, start: Callable[..., Client], remote: Path, tmp_path: Path
) -> None:
    bob = start("bob")
    bob.call("workspace_init", name="board", remote_url=str(remote), local_path=str(tmp_path / "bob" / "board"))
    both = (("ann", ann), ("bob", bob))
    for turn in range(3):
        asked = {}
        for who, client in both:
            asked[who] = [
                client.request("tools/call", name="journal_append", arguments={"summary": f"{who} {turn}"}),
                client.request("tools/call", name="inbox_add", arguments={"title": f"{who} {turn}"}),
                client.request("tools/call", name="add", arguments={"paths": ["journal.md", "inbox.md"]}),
                client.request("tools/call", name="commit", arguments={"message": f"{who} {turn}"}),
                client.request("tools/call", name="push", arguments={}),
            ]
            client.send(*asked[who])
        for who, client in both:
            last = [opened(client.receive()["result"]) for _ in asked[who]][-1]
            assert last[0].get("ok") is True, last
            assert last[1] is False
    for _, client in both:
        client.call("pull")
        journal, inbox = (client.call("read", path=path)["content"] for path in ("journal.md", "inbox.md"))
        for who, _ in both:
            for turn in range(3):
                assert journal.count(f"\n{who} {turn}\n") == 1
                assert inbox.count(f"— {who} {turn}") == 1
        assert sorted(line.split()[3] for line in inbox.splitlines() if line.startswith("- [ ]")) == [
            f"INB-{n:03}" for n in range(1, 7)
        ]
