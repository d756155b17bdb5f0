"""Errors as an agent gets them: JSON, in plain words, without places of this machine and without passwords."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from cohabit.errors import BadArgs, CohabitError, Internal, StorageFailed, UnknownAsset
from cohabit.workspace.clone import remotes

Answer = dict[str, Any]
"""Of a tool: JSON."""
HALF: Final = re.compile(r"[\ud800-\udfff]")
"""How a byte that is no UTF-8 looks in a name or a text that was read; nothing that holds it can be sent."""
NO_LONGER: Final = r"(?=/|[^\w.-]|\.?(?:\s|$))"
"""Where the name of a folder ends: not in front of the ``.git`` of another one, but at the end of a sentence."""


def as_answer(error: BaseException) -> dict[str, Any]:
    """``{"error": what went wrong and what to do, "details": {"code": ...}}``."""
    plain = as_error(error)
    details: dict[str, Any] = {"code": plain.code, **plain.details}
    if plain.did_you_mean:
        details["did_you_mean"] = plain.did_you_mean
    return {"error": plain.message, "details": details}


def as_error(error: BaseException) -> CohabitError:
    """One of ours, whatever was raised. What nobody foresaw is a bug of ours, and is named as one."""
    if isinstance(error, CohabitError):
        return error
    if isinstance(error, OSError):
        return _of_the_system(error)
    return Internal(
        f"a bug of ours: {type(error).__name__}; the place is in the log of calls. Nothing else is known to be wrong, "
        "so look at status before you try again"
    )


def _of_the_system(error: OSError) -> CohabitError:
    at = f": {_given(error.filename)}" if error.filename else ""
    if isinstance(error, FileNotFoundError):
        return UnknownAsset(f"there is no such file{at}. Look with list")
    if isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError)):
        return BadArgs(f"{error.strerror}{at}")
    return StorageFailed(f"the files of this workspace could not be used: {error.strerror or type(error).__name__}{at}")


def _given(path: object) -> str:
    """A path as an agent wrote it; of a path of this machine only the last name."""
    text = str(path)
    return Path(text).name if Path(text).is_absolute() else text


def cleaned(error: CohabitError, places: Iterable[tuple[str, str]]) -> CohabitError:
    """The same error without ``places`` of this machine (each with the word for it) and without passwords."""
    known = sorted((place for place in places if len(place[0]) > 1), key=lambda place: -len(place[0]))
    message = sendable(clean(error.message, known))
    details = {key: sendable(_cleaned(value, known)) for key, value in error.details.items()}
    return type(error)(message, did_you_mean=sendable(error.did_you_mean), **details)


def clean(text: str, known: Iterable[tuple[str, str]] = ()) -> str:
    """``text`` with each place replaced by its word, and addresses as they may be shown."""
    for path, word in known:
        text = re.sub(rf"{re.escape(path)}{NO_LONGER}", word, text)
    return remotes.shown(text)


def _cleaned(value: Any, known: list[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        return clean(value, known)
    if isinstance(value, (list, tuple)):
        return [_cleaned(each, known) for each in value]
    if isinstance(value, dict):
        return {key: _cleaned(each, known) for key, each in value.items()}
    return value


def sendable(answer: Any) -> Any:
    """The same answer, with a replacement character for every byte that is no UTF-8."""
    try:
        msgspec.json.encode(answer)
    except UnicodeEncodeError:
        return _mended(answer)
    return answer


def _mended(answer: Any) -> Any:
    if isinstance(answer, str):
        return HALF.sub("\N{REPLACEMENT CHARACTER}", answer)
    if isinstance(answer, dict):
        return {_mended(key): _mended(value) for key, value in answer.items()}
    return [_mended(each) for each in answer] if isinstance(answer, (list, tuple)) else answer
