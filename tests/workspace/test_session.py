"""Identity and active workspace, over calls, threads and processes."""

import json
import threading
from typing import Any

import pytest

from cohabit.errors import BadArgs, CohabitError, Internal, PermissionDenied, UnknownAsset, UnknownCommand
from cohabit.workspace.session import Session
from cohabit.workspace.tools import tools

FOUR = ["workspace_init", "workspace_list", "workspace_switch", "workspace_info"]


def again(session: Session) -> Session:
    """The same person in another process."""
    return Session(session.home, session.environ, now=session.now)


def log(session: Session) -> list[dict]:
    return [json.loads(line) for line in (session.home / "logs" / "calls.jsonl").read_text().splitlines()]


def test_the_setup_tools_come_first_in_every_list():
    assert list(tools("compat"))[:4] == FOUR


def test_info_has_the_workspace_and_the_agent(clone, tmp_path, remote):
    ann = clone("ann")
    info = ann.call("workspace_info", {})
    assert (info["name"], info["branch"], info["agent_id"]) == ("board", "main", "ann-cli")
    assert (info["local_path"], info["remote"]) == (str(tmp_path / "ann" / "board"), str(remote))
    assert len(info["head"]) == 40


def test_every_tool_that_needs_a_workspace_says_that_none_is_active(tmp_path):
    session = Session(tmp_path, {})
    for name in ("workspace_info", "status", "fetch"):
        with pytest.raises(BadArgs, match=r"^No active workspace\. Call workspace_switch or workspace_init first\.$"):
            session.call(name, {})
    assert session.call("workspace_list", {}) == {"active_workspace": None, "workspaces": []}


def test_a_process_keeps_its_workspace_when_another_one_switches(clone, remote):
    ann = clone("ann")
    ann.call("workspace_init", {"name": "two", "remote_url": str(remote), "local_path": "~/two"})
    other = again(ann)
    assert other.call("workspace_switch", {"name": "two"}) == {"active_workspace": "two"}
    assert ann.call("workspace_info", {})["name"] == "board"
    assert ann.call("workspace_list", {})["active_workspace"] == "board"
    assert again(ann).call("workspace_list", {})["active_workspace"] == "two"
    with pytest.raises(BadArgs, match=r'workspace "x" is not registered\. Call workspace_init first'):
        ann.call("workspace_switch", {"name": "x"})
    other.close()


def test_the_identity_is_read_at_every_call_and_depends_on_the_client(clone):
    ann = clone("ann")
    nobody = Session(ann.home, {"HOME": ann.environ["HOME"]}, now=ann.now)
    nobody.client = "Claude Code 2"
    info = nobody.call("workspace_info", {})
    assert info["agent_id"] == ""
    assert "identity.claude-code.json" in info["note"], "it says what would help"
    with pytest.raises(BadArgs, match=r"client: claude-code.*identity\.claude-code\.json"):
        nobody.call("journal_append", {"summary": "x"})
    who = {"user_slug": "ann", "agent_name": "Ann", "agent_email": "ann@example.org"}
    (ann.home / "identity.json").write_text(json.dumps(who))
    assert nobody.call("workspace_info", {})["agent_id"] == "ann-claude-code"
    assert nobody.call("journal_append", {"summary": "x"})["agent_id"] == "ann-claude-code"
    nobody.client = "claude-ai"
    assert nobody.call("workspace_info", {})["agent_id"] == "ann-cowork"
    nobody.close()


def test_init_needs_an_identity(tmp_path, remote):
    session = Session(tmp_path / "config", {"HOME": str(tmp_path)})
    with pytest.raises(BadArgs, match="your identity is not set"):
        session.call("workspace_init", {"name": "b", "remote_url": str(remote), "local_path": "~/b"})
    assert not (tmp_path / "b").exists()


def test_the_error_for_a_missing_clone_has_no_path(clone, tmp_path):
    ann = clone("ann")
    (tmp_path / "ann" / "board").rename(tmp_path / "moved")
    with pytest.raises(CohabitError) as told:
        again(ann).call("status", {})
    assert "workspace_init" in told.value.message
    assert str(tmp_path) not in told.value.message


def test_every_call_is_logged_without_its_contents(clone):
    ann = clone("ann")
    ann.call("workspace_info", {})
    with pytest.raises(UnknownAsset, match=r"there is no file secret\.md"):
        ann.call("read", {"path": "secret.md", "secret": "hunter2"})
    with pytest.raises(UnknownCommand):
        ann.call("hunter2", {})
    info, read, unknown = log(ann)
    assert (info["tool"], info["ok"], info["agent"], info["workspace"]) == ("workspace_info", True, "ann-cli", "board")
    assert (read["tool"], read["ok"], read["code"], read["sizes"]) == ("read", False, "UNKNOWN_ASSET", {"path": 9})
    assert (unknown["tool"], unknown["code"]) == ("unknown", "UNKNOWN_COMMAND")
    assert "secret" not in str(log(ann))
    assert "hunter2" not in str(log(ann))


def test_an_internal_error_is_reported_as_one_and_its_location_is_logged(clone, monkeypatch):
    ann = clone("ann")

    def broken(*args, **kwargs):
        raise ZeroDivisionError("at /home/ann")

    monkeypatch.setattr(ann, "workspace", broken)
    with pytest.raises(Internal, match="internal error: ZeroDivisionError") as told:
        ann.call("status", {})
    assert "/home" not in told.value.message
    assert log(ann)[-1]["bug"] == "ZeroDivisionError"


def test_the_compat_profile_has_no_other_tools(clone):
    ann = clone("ann")
    compat = Session(ann.home, ann.environ, profile="compat", now=ann.now)
    with pytest.raises(UnknownCommand):
        compat.call("sync", {})


def test_pipelined_calls_of_one_process_do_not_disturb_each_other(clone):
    ann, ids, errors = clone("ann"), [], []

    def add(n: int) -> None:
        try:
            ids.append(ann.call("inbox_add", {"title": f"item {n}"})["id"])
        except CohabitError as error:
            errors.append(error)

    threads = [threading.Thread(target=add, args=[n]) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(ids) == [f"INB-{n:03}" for n in range(1, 21)]


def test_a_session_of_one_workspace_reaches_no_other(clone):
    ann = clone("ann")
    member = Session.of(ann.workspace())
    assert member.call("workspace_info", {})["agent_id"] == "ann-cli"
    assert member.call("status", {})["clean"]
    for name, args in (
        ("workspace_list", {}),
        ("workspace_switch", {"name": "board"}),
        ("workspace_init", {"name": "x", "remote_url": "/x", "local_path": "/x"}),
    ):
        with pytest.raises(PermissionDenied, match="only one workspace"):
            member.call(name, args)
    member.close()
    assert ann.call("status", {})["clean"], "the session that opened it closes it"


def test_a_missing_current_folder_causes_no_error(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    session = Session(tmp_path / "home", {"HOME": str(tmp_path)})
    assert session.call("workspace_list", {}) == {"active_workspace": None, "workspaces": []}
    with pytest.raises(UnknownCommand):
        session.call("nosuch", {})


def test_deeply_nested_arguments_are_refused(tmp_path):
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(BadArgs, match="nested"):
        Session(tmp_path, {"HOME": str(tmp_path)}).call("workspace_switch", {"name": nested})


def test_signing_that_is_set_up_during_a_session_applies_to_the_next_call(clone):
    ann = clone("ann")
    assert "verified" not in ann.call("log", {})["commits"][0]
    (ann.home / "allowed_signers").write_text("")
    assert ann.call("log", {})["commits"][0]["verified"] is None
