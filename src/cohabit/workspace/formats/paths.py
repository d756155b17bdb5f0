"""Where the two files of the board are that everybody writes."""

from typing import Final

JOURNAL: Final = "journal.md"
INBOX: Final = "inbox.md"
