"""decisions/<slug>.md: what was decided, and why.

    # Use Series A comps only

    Date: 2026-05-22␠␠
    Decided by: ann-claude-code, mike-claude-code␠␠
    Status: accepted

    ## Context
    …

    ## Decision
    …

    ## Consequences
    …

(␠ stands for a space at the end of a line.)
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from cohabit.errors import BadArgs
from cohabit.workspace.formats import fields
from cohabit.workspace.formats.text import escape, escape_comments

FOLDER: Final = "decisions"
Status = Literal["proposed", "accepted", "superseded"]


@dataclass(slots=True, kw_only=True)
class Decision:
    """One decision file. Its texts are cleaned; raises BadArgs or TooLarge if one does not fit."""

    title: str
    date: str
    decided_by: Sequence[str]
    status: Status
    context: str
    decision: str
    consequences: str | None

    def __post_init__(self) -> None:
        self.title = fields.line("the title", self.title)
        self.decided_by = list(dict.fromkeys(map(fields.target, self.decided_by)))
        self.context = fields.text("the context", self.context)
        self.decision = fields.text("the decision", self.decision)
        self.consequences = fields.text("the consequences", self.consequences)
        if not self.context or not self.decision:
            raise BadArgs("a decision needs both a context (the options) and the decision itself")

    @property
    def text(self) -> str:
        head = f"# {escape_comments(self.title)}\n\nDate: {self.date}  \nDecided by: {', '.join(self.decided_by)}  \n"
        sections = {"Context": self.context, "Decision": self.decision, "Consequences": self.consequences}
        parts = [f"## {name}\n{escape(text, blanks=False)}\n" for name, text in sections.items() if text]
        return "\n".join([f"{head}Status: {self.status}\n", *parts])

    def path(self, taken: Collection[str]) -> str:
        """A path that is free in the folder, compared without upper and lower case."""
        used = {name.casefold() for name in taken}
        slug = slug_of(self.title)
        numbered = (slug if n == 1 else f"{slug}-{n}" for n in range(1, len(used) + 2))
        return f"{FOLDER}/{next(name for name in numbered if f'{name}.md' not in used)}.md"


def slug_of(text: str) -> str:
    """The letters and digits of a title, joined by ``-``."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:60].strip("-") or "decision"
