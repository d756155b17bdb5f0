"""Errors for an agent: JSON, without paths of this machine and without passwords."""

import errno
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from cohabit.errors import BadArgs, CohabitError, Internal, StorageFailed, UnknownAsset
from cohabit.workspace.clone import remotes

Answer = dict[str, Any]
"""The JSON object that a tool returns."""
SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
"""A byte that is not UTF-8, as Python reads it in names and texts. JSON cannot contain it."""
PATH_END: Final = r"(?=/|[^\w.-]|\.?(?:\s|$))"
"""The end of a folder name: ``/x`` ends in "/x/y" and "/x." but not in "/x.git"."""


def as_answer(error: BaseException) -> dict[str, Any]:
    """``{"error": what went wrong and what to do, "details": {"code": ...}}``."""
    known = as_error(error)
    details: dict[str, Any] = {"code": known.code, **known.details}
    if known.did_you_mean:
        details["did_you_mean"] = known.did_you_mean
    return {"error": known.message, "details": details}


def as_error(error: BaseException) -> CohabitError:
    """Any exception as a CohabitError; an unexpected one is an internal error."""
    if isinstance(error, CohabitError):
        return error
    if isinstance(error, OSError):
        return _from_os_error(error)
    return Internal(
        f"internal error: {type(error).__name__}; the log of calls has its location. Check with status what was done "
        "before you try again"
    )


def _from_os_error(error: OSError) -> CohabitError:
    at = f": {_without_folder(error.filename)}" if error.filename else ""
    if isinstance(error, FileNotFoundError):
        return UnknownAsset(f"there is no such file{at}; call list to see the files")
    if isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError)):
        return BadArgs(f"{error.strerror}{at}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFailed(f"the disk is full{at}: {error.strerror}; free some space, then call again")
    return StorageFailed(f"the files of this workspace cannot be used: {error.strerror or type(error).__name__}{at}")


def _without_folder(path: object) -> str:
    """A relative path unchanged; only the last name of an absolute one."""
    text = str(path)
    return Path(text).name if Path(text).is_absolute() else text


def cleaned(error: CohabitError, places: Iterable[tuple[str, str]]) -> CohabitError:
    """The same error without passwords and with each path of ``places`` replaced by its word."""
    known = sorted((place for place in places if len(place[0]) > 1), key=lambda place: -len(place[0]))
    message = sendable(clean(error.message, known))
    details = sendable(_each_text(error.details, lambda text: clean(text, known)))
    return type(error)(message, did_you_mean=sendable(error.did_you_mean), **details)


def clean(text: str, known: Iterable[tuple[str, str]] = ()) -> str:
    """``text`` with each path replaced by its word, and addresses without credentials."""
    for path, word in known:
        text = re.sub(rf"{re.escape(path)}{PATH_END}", word, text)
    return remotes.shown(text)


def sendable(answer: Any) -> Any:
    """The same answer, with a replacement character for every byte that is not UTF-8."""
    try:
        msgspec.json.encode(answer)
    except UnicodeEncodeError:
        return _each_text(answer, lambda text: SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text))
    return answer


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_each_text(key, change): _each_text(each, change) for key, each in value.items()}
    return [_each_text(each, change) for each in value] if isinstance(value, (list, tuple)) else value
