"""What tools say to agents, in the words of this command line: a person has verbs, and nobody to tell."""

import re
from typing import Final

from cohabit.errors import CohabitError
from cohabit.faces.cli.workspace.verbs import VERBS, Below

PHRASES: Final = (
    (r"Tell your user\. To settle it: .*",
     ("To settle it: `cohabit workspace resolve` shows each file and how to decide it, `cohabit workspace abandon` "
      "lets the others' version win in all of them; then `cohabit workspace sync`.")),
    (r"so a person has to decide\. Tell your user\.", "so you have to decide."),
    (r"abandon, where you have that tool, then push", "`cohabit workspace abandon`, then `cohabit workspace sync`"),
    (r"Tell your user\. ", ""),
    (r"\byour person has to\b", "you have to"),
    (r"Commit them first \(add, commit\), then push, which merges both",
     "Commit them first with `cohabit workspace commit MESSAGE`, then `cohabit workspace sync` merges both"),
    (r"add inbox\.md, commit and push, then call again",
     "`cohabit workspace commit MESSAGE` and `cohabit workspace sync` share it, then try again"),
    (r"resolve needs either take .*",
     "say whose version with `--take ours`, `theirs` or `both`, or give the whole text with `--with FILE`"),
    (r"\bgive content\b", "give the text with `--with FILE`"),
    (r"\bwith create\b", "with `--create`"),
    (r"\bcall again\b", "try again"),
)  # fmt: skip
"""Advice that goes by tools, and the same advice for a person."""


def _tools() -> dict[str, str]:
    """The verb for each tool. Nobody fetches by hand here: `pull` does it."""
    return {below.tool: below.name for below in VERBS if below.tool} | {"fetch": "pull"}


TOOLS: Final = _tools()
_ANY = "|".join(sorted(TOOLS, key=len, reverse=True))
_SURE = "|".join(name for name in TOOLS if "_" in name)
NAMED: Final = re.compile(
    rf"(?P<run>\b[Cc]all )(?P<called>{_ANY})\b"
    rf"|(?<=[Ll]ook with )(?P<used>{_ANY})\b"
    r"|\b(?P<subject>log|status|push)(?= (?:has|shows|shares)\b)"
    rf"|(?<![\w./-])(?P<sure>{_SURE})(?![\w/-]|\.\w)"
)
"""A tool, where a message certainly means one: `push` and `list` are words too, and files may be called anything."""


def here(text: str) -> str:
    """The same message with the verbs of this command line in place of the tools that it names."""
    for said, meant in PHRASES:
        text = re.sub(said, meant, text)
    return NAMED.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    tool = found["called"] or found["used"] or found["subject"] or found["sure"]
    run = {"call ": "run ", "Call ": "Run "}.get(found["run"] or "", "")
    return f"{run}`cohabit workspace {TOOLS[tool]}`"


def error_here(refusal: CohabitError, below: Below) -> CohabitError:
    """The same error for a person who typed this verb, and what its details know."""
    message = here(refusal.message).rstrip()
    for names, how in below.takes:
        if "_" in names[0]:  # remote_url; what is one word may be just that
            message = re.sub(rf"\b{names[0]}\b", how["metavar"], message)
    if at := refusal.details.get("closed_at"):
        message = f"{message}: it was closed {at} by {refusal.details.get('closed_by') or 'hand'} already"
    if refusal.did_you_mean and not message.endswith((".", "?", "!")):
        message += "."
    return type(refusal)(message, did_you_mean=refusal.did_you_mean, **refusal.details)
