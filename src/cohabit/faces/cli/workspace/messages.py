"""Rewrites tool messages, which are written for agents, for people at the command line."""

import re
from typing import Final

from cohabit.errors import CohabitError
from cohabit.faces.cli.workspace.verbs import VERBS, Verb

PHRASES: Final = (
    (r"Tell your user\. To resolve it: .*",
     ("To resolve it: `cohabit workspace resolve` shows each file and how to resolve it, `cohabit workspace abandon` "
      "takes the others' version of all of them; then `cohabit workspace sync`.")),
    (r"so a person has to decide\. Tell your user\.", "so you have to decide."),
    (r"abandon, if you have that tool, then push", "`cohabit workspace abandon`, then `cohabit workspace sync`"),
    (r"Tell your user: ", ""),
    (r"\byour user has to\b", "you have to"),
    (r"\byour user can\b", "you can"),
    (r"Commit them first \(add, commit\), then push, which merges both",
     "Commit them first with `cohabit workspace commit MESSAGE`, then `cohabit workspace sync` merges both"),
    (r"add inbox\.md, commit and push, then call again",
     "`cohabit workspace commit MESSAGE` and `cohabit workspace sync` share it, then try again"),
    (r"resolve needs either take .*",
     "choose a version with `--take ours`, `theirs` or `both`, or give the whole text with `--with FILE`"),
    (r"\bgive content\b", "give the text with `--with FILE`"),
    (r"\bwith create\b", "with `--create`"),
    (r"\bcall again\b", "try again"),
)  # fmt: skip
"""Advice for an agent, and the same advice for a person."""


TOOLS: Final = {verb.tool: verb.name for verb in VERBS if verb.tool} | {"fetch": "pull"}
"""The verb for each tool. There is no verb for `fetch`: `pull` does it."""
_ANY = "|".join(sorted(TOOLS, key=len, reverse=True))
_UNAMBIGUOUS = "|".join(name for name in TOOLS if "_" in name)
TOOL_NAME: Final = re.compile(
    rf"(?P<run>\b[Cc]all )(?P<called>{_ANY})\b"
    r"|\b(?P<subject>log|status|push)(?= (?:has|shows|shares)\b)"
    rf"|(?<![\w./-])(?P<unambiguous>{_UNAMBIGUOUS})(?![\w/-]|\.\w)"
)
"""Matches tool names that are unambiguous: `push` and `list` are also ordinary words, and files may have any name."""


def for_people(text: str) -> str:
    """The same message with the verbs of this command line instead of the tools that it names."""
    for phrase, replacement in PHRASES:
        text = re.sub(phrase, replacement, text)
    return TOOL_NAME.sub(_verb_for, text)


def _verb_for(found: re.Match[str]) -> str:
    tool = found["called"] or found["subject"] or found["unambiguous"]
    run = {"call ": "run ", "Call ": "Run "}.get(found["run"] or "", "")
    return f"{run}`cohabit workspace {TOOLS[tool]}`"


def error_for_people(error: CohabitError, verb: Verb) -> CohabitError:
    """The same error for a person who used this verb, including its details."""
    message = for_people(error.message).rstrip()
    for names, options in verb.arguments:
        if "_" in names[0]:  # such as remote_url; a name of one word may be just that word
            message = re.sub(rf"\b{names[0]}\b", options["metavar"], message)
    if at := error.details.get("closed_at"):
        message = f"{message}: it was closed {at} by {error.details.get('closed_by') or 'hand'}"
    if error.did_you_mean and not message.endswith((".", "?", "!")):
        message += "."
    return type(error)(message, did_you_mean=error.did_you_mean, **error.details)
