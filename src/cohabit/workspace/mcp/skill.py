"""The skill: how an agent behaves in a workspace, for clients that load skills and for people who print it."""

from pathlib import Path
from typing import Final

NAME: Final = "a2a"


def skill() -> str:
    """The whole SKILL.md, frontmatter included."""
    return Path(__file__).with_name("skill.md").read_text(encoding="utf-8")
