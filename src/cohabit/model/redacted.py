"""Hides what could be a token, an invite or a code in a text that others read, such as a line of the audit.

Errors quote arguments, and somebody may have sent a secret as the wrong one, or mistyped it. So in quotes everything is
hidden that is about as long as a code of the house and does not look like a word. Long names of words stay readable.
"""

import re

HIDDEN = "(hidden)"
_WORDS = r"[A-Z]?[a-z]+(-[A-Z]?[a-z]+)*(?![\w-])"
_LONG = rf"(?<![\w-])(?!{_WORDS})(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{{24,}}(\.[\w-]+)*"
_SECRET = re.compile(rf"{_LONG}|[A-Z2-9]{{3}}(-[A-Z2-9]{{3}}){{2}}", re.ASCII)
_QUOTED = re.compile(r"'([^']{5,400})'|\"([^\"]{5,400})\"|`([^`]{5,400})`")
_COMMAND = re.compile(r"`[a-z]+(_[a-z]+)*`")
"""As our own texts quote one."""
_NUMBERED = re.compile(r".[a-z]+[-_ ]?[0-9]+.")
"""A name with a number."""
_SEPARATORS = re.compile(r"[\W_]+")
GROUPS, SIZES, LENGTHS, LONG = 3, range(2, 5), range(8, 11), 16
"""A code has three groups of three characters. One may be missing, or one too many."""
PARTS = range(5, 8)
"""The lengths of a part of a code that tells most of it, if somebody has not copied all of it."""
NOT_IN_CODES = frozenset("ilo01")
"""Characters that no code of the house has: most longer words and names have one of them."""


def redacted(text: str) -> str:
    """The text without secrets."""
    return _SECRET.sub(HIDDEN, _QUOTED.sub(_unless_like_a_code, text))


def _unless_like_a_code(found: re.Match[str]) -> str:
    quoted = found[0]
    return f"{quoted[0]}{HIDDEN}{quoted[-1]}" if _like_a_code(quoted) else quoted


def _like_a_code(quoted: str) -> bool:
    groups = [group for group in _SEPARATORS.split(quoted) if group]
    plain = "".join(groups)
    is_grouped = len(groups) == GROUPS and all(len(group) in SIZES for group in groups)
    if _COMMAND.fullmatch(quoted):
        return is_grouped and NOT_IN_CODES.isdisjoint(plain)
    if is_grouped:
        return True
    if len(plain) in LENGTHS:
        return not plain.isdigit() and NOT_IN_CODES.isdisjoint(plain.lower())
    if len(plain) in PARTS:
        is_upper = plain.isupper() and "-" in quoted
        is_part = is_upper if plain.isalpha() else not plain.isdigit() and not _NUMBERED.fullmatch(quoted)
        return is_part and NOT_IN_CODES.isdisjoint(plain.lower())
    is_mixed = not plain.isalpha() and not plain.isdigit()
    return is_mixed and len(plain) > LONG and len(groups) != 1 and " " not in quoted
