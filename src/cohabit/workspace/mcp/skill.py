"""The skill: the protocol of a workspace in words, for agents of clients that load skills."""

from pathlib import Path
from typing import Final

NAME: Final = "a2a"


def skill() -> str:
    """The text of SKILL.md, including its frontmatter."""
    return Path(__file__).with_name("skill.md").read_text(encoding="utf-8")
