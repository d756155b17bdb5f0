"""The files of a new workspace."""

from pathlib import Path
from typing import Final

from cohabit.workspace.formats import INBOX, JOURNAL, inbox, journal

FOLDERS: Final = ("research", "drafts", "comments", "decisions", "assets", ".pointers")
NAME: Final = "{{WORKSPACE_NAME}}"
PURPOSE: Final = "{{ONE_OR_TWO_SENTENCES_ON_WHAT_WE_ARE_BUILDING}}"
README: Final = Path(__file__).with_name("template_readme.md").read_text(encoding="utf-8")


def files(name: str) -> dict[str, str]:
    """The files of a new workspace called ``name``, by path."""
    keeps = {f"{folder}/.gitkeep": "" for folder in FOLDERS}
    return {"README.md": README.replace(NAME, name), JOURNAL: journal.HEADER, INBOX: inbox.HEADER, **keeps}
