"""The log of calls has every call and no contents, and never makes a call fail."""

import json
import os
from datetime import datetime, timedelta, timezone

from cohabit.errors import BadArgs
from cohabit.workspace.call_log import Call, CallLog, sizes

AT = datetime(2026, 5, 22, 14, 30, 5, 250_000, tzinfo=timezone(timedelta(hours=2)))


def call(**over):
    return Call(**{"at": AT, "tool": "read", "workspace": "w", "agent": "ann", "ms": 1.26, "sizes": {"path": 3}} | over)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_call_is_one_line(tmp_path):
    CallLog(tmp_path / "home" / "logs").write(call())
    assert lines(tmp_path / "home" / "logs" / "calls.jsonl") == [
        {
            "at": "2026-05-22T12:30:05.250Z",
            "tool": "read",
            "workspace": "w",
            "agent": "ann",
            "ok": True,
            "ms": 1.3,
            "sizes": {"path": 3},
        }
    ]
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700


def test_an_error_is_logged_by_its_code_and_a_bug_by_its_location(tmp_path):
    log = CallLog(tmp_path)
    log.write(call(error=BadArgs("secret words")))
    try:
        {}["secret"]
    except KeyError as bug:
        log.write(call(error=bug))
    refused, bug = lines(tmp_path / "calls.jsonl")
    assert (refused["ok"], refused["code"]) == (False, "BAD_ARGS")
    assert (bug["code"], bug["bug"]) == ("INTERNAL", "KeyError")
    assert "test_call_log.py:" in bug["at_line"]
    assert "secret" not in (tmp_path / "calls.jsonl").read_text()


def test_the_log_has_sizes_instead_of_contents_and_only_declared_names():
    args = {"path": "secret", "paths": ["a", "b"], "n": 5, "my-secret-key": "x", "none": None}
    assert sizes(args, ("path", "paths", "n", "none", "absent")) == {"path": 6, "paths": 2, "n": 1, "none": 1}


def test_a_full_log_is_rotated_once(tmp_path):
    log = CallLog(tmp_path, max_bytes=400)
    for _ in range(20):
        log.write(call())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.1.jsonl", "calls.jsonl"]
    assert all(path.stat().st_size < 600 for path in tmp_path.iterdir())
    assert lines(tmp_path / "calls.jsonl")


def test_a_log_that_cannot_be_written_does_not_fail_the_call(tmp_path):
    (tmp_path / "file").write_text("")
    CallLog(tmp_path / "file" / "logs").write(call())
    (tmp_path / "calls.jsonl").symlink_to(tmp_path / "outside")
    CallLog(tmp_path).write(call())
    assert not (tmp_path / "outside").exists()


def test_the_log_of_a_removed_clone_creates_no_folders_in_its_place(tmp_path):
    CallLog(tmp_path / "bob" / ".git" / "cohabit" / "logs").write(call())
    assert not list(tmp_path.iterdir())


def test_a_log_that_cannot_be_opened_again_closes_no_other_file(tmp_path, monkeypatch):
    log, closed = CallLog(tmp_path, max_bytes=0), []
    first = log._open()
    opened = iter([first])

    def one_is_left():
        for fd in opened:
            return fd
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(log, "_open", one_is_left)
    with monkeypatch.context() as noted:
        noted.setattr(os, "close", closed.append)
        log.write(call())
    os.close(first)
    assert closed == [first]
