"""How much of anything: answers fit a model's window, arguments fit a file, every wait ends."""

from typing import Final

# -- time -----------------------------------------------------------------------------------------
LOCAL_SECONDS: Final = 60.0
"""Longest that a git command without network may take."""
NETWORK_SECONDS: Final = 180.0
"""Longest that a fetch or a push may take."""
GIT_LOCK_SECONDS: Final = 5.0
"""Longest that a git command waits for another git in the clone, a person's."""
LOCK_SECONDS: Final = 30.0
"""Longest that a call waits for another process on the same clone."""

# -- what comes in --------------------------------------------------------------------------------
LONGEST_PATH: Final = 1_024
LONGEST_TITLE: Final = 300
LONGEST_QUERY: Final = 1_000
LONGEST_TEXT: Final = 64 * 1024
"""Characters of a summary, a body, a commit message."""
LARGEST_WRITE: Final = 16 * 1024 * 1024
"""Bytes of one write."""
LARGEST_TEXT: Final = 64 * 1024 * 1024
"""Bytes of a file that is read as a whole: the journal, the inbox."""
MOST_PATHS: Final = 1_000
MOST_TODOS: Final = 50

# -- what goes out --------------------------------------------------------------------------------
MOST_READ: Final = 64 * 1024
"""Bytes of a file that one answer holds; the rest comes with ``offset``."""
MOST_DIFF: Final = 64 * 1024
MOST_COMMITS: Final = 200
USUAL_COMMITS: Final = 50
MOST_MATCHES: Final = 500
LONGEST_LINE: Final = 400
"""Characters of a line that a search shows."""
MOST_ENTRIES: Final = 1_000
"""Names that ``list`` shows of a folder, and paths that ``status`` shows of a kind."""
JOURNAL_TAIL: Final = 20
MOST_NEWS: Final = 30
"""Commits, files and items that ``whats_new`` shows of a kind."""
