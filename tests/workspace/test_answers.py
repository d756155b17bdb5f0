"""Errors as JSON: without paths of this machine and without passwords."""

import errno

import pytest

from cohabit.errors import BadArgs, CohabitError, Conflict
from cohabit.workspace.answers import as_answer, as_error, cleaned


def test_a_cohabit_error_gives_its_message_code_and_details():
    error = Conflict("taken", did_you_mean=["x"], files=["a.md"])
    assert as_answer(error) == {
        "error": "taken",
        "details": {"code": "CONFLICT", "files": ["a.md"], "did_you_mean": ["x"]},
    }


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file", "drafts/a.md"), "UNKNOWN_ASSET", "no such file: drafts/a.md"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/home/ann/w/drafts/a.md"), "UNKNOWN_ASSET", "file: a.md"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "a/b"), "BAD_ARGS", "Not a directory: a/b"),
        (PermissionError(errno.EACCES, "Permission denied", "/home/ann/x"), "STORAGE_FAILED", "Permission denied: x"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "STORAGE_FAILED",
            "disk is full: No space left on device; free",
        ),
        (OSError(), "STORAGE_FAILED", "OSError"),
        (KeyError("/home/ann/secret"), "INTERNAL", "internal error: KeyError"),
        (RecursionError(), "INTERNAL", "internal error: RecursionError"),
        (UnicodeEncodeError("utf-8", "/home/\udc80", 0, 1, "/home/ann"), "INTERNAL", "UnicodeEncodeError"),
    ],
)
def test_any_other_error_becomes_a_cohabit_error(error, code, word):
    answer = as_answer(error)
    assert answer["details"] == {"code": code}
    assert word in answer["error"]
    assert "/home" not in answer["error"]
    assert isinstance(as_error(error), CohabitError)


def test_paths_are_replaced_longest_first_and_only_whole():
    places = [("/home/ann", "~"), ("/home/ann/board", "."), ("/", "x"), ("", "y")]
    error = BadArgs(
        "/home/ann/board/a.md, /home/ann/other and /home/anna", at=["/home/ann"], deep={"k": ("/home/ann/board", 3)}
    )
    clean = cleaned(error, places)
    assert clean.message == "./a.md, ~/other and /home/anna"
    assert clean.details == {"at": ["~"], "deep": {"k": [".", 3]}}
    assert type(clean) is BadArgs


@pytest.mark.parametrize("url", ["https://ann:hunter2@host/x", "https://hunter2@host/x", "ssh://ann:hunter2@host:22/x"])
def test_credentials_in_an_address_are_not_shown(url):
    clean = cleaned(BadArgs(f"unable to access '{url}'", url=url), [])
    assert "hunter2" not in str(as_answer(clean))
    assert "host" in clean.message


def test_a_path_is_not_replaced_in_a_longer_name_and_is_replaced_at_the_end_of_a_sentence():
    error = BadArgs("'/home/ann/deck.git' is no repository; look at /home/ann/deck. Or not")
    assert (
        cleaned(error, [("/home/ann/deck", ".")]).message == "'/home/ann/deck.git' is no repository; look at .. Or not"
    )
