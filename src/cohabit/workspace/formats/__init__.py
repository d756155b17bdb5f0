"""The files of a workspace as text: how they look, how they are parsed and written. Nothing here touches a disk."""

from typing import Final

JOURNAL: Final = "journal.md"
INBOX: Final = "inbox.md"
