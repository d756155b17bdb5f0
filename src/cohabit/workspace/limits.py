"""Limits: on time, on what a caller may send, and on what one answer holds so that it fits a model's context window."""

from typing import Final

# -- time, in seconds -----------------------------------------------------------------------------
LOCAL_TIMEOUT: Final = 60.0
"""For a git command that does not use the network."""
NETWORK_IDLE_TIMEOUT: Final = 60.0
"""For a fetch or a push that makes no progress."""
NETWORK_TIMEOUT: Final = 540.0
"""For a whole fetch or push."""
GIT_LOCK_TIMEOUT: Final = 5.0
"""For a lock that a person's git holds in the clone."""
CALL_LOCK_TIMEOUT: Final = 30.0
"""For another call in the same clone."""

# -- input ----------------------------------------------------------------------------------------
MAX_PATH_CHARS: Final = 1_024
MAX_TITLE_CHARS: Final = 300
MAX_QUERY_CHARS: Final = 1_000
MAX_TEXT_CHARS: Final = 64 * 1024
"""Of a summary, a body or a commit message."""
MAX_WRITE_BYTES: Final = 16 * 1024 * 1024
MAX_ADD_BYTES: Final = 100 * 1024 * 1024
"""Of a file that is staged. GitHub refuses larger ones."""
MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""Of a file that is read as a whole: the journal, the inbox."""
MAX_PATHS: Final = 1_000
MAX_TODOS: Final = 50

# -- merging by entry, each of the three versions -------------------------------------------------
MAX_MERGE_CHARS: Final = 32 * 1024 * 1024
MAX_MERGE_ENTRIES: Final = 50_000
"""Entries, items and sections. A merge of this size takes up to half a minute and half a gigabyte."""
MAX_MERGE_VARIANTS: Final = 10_000
"""Versions of one item, multiplied by its closings: the merged file repeats these in each version."""

# -- answers --------------------------------------------------------------------------------------
MAX_READ_BYTES: Final = 64 * 1024
"""Of a file in one answer; ``offset`` reads on."""
MAX_DIFF_BYTES: Final = 64 * 1024
MAX_COMMITS: Final = 200
DEFAULT_COMMITS: Final = 50
MAX_MATCHES: Final = 500
MAX_LINE_CHARS: Final = 400
"""Of a line in a search result or a commit."""
MAX_ENTRIES: Final = 1_000
"""Names in ``list``, and paths of each kind in ``status``."""
CLIP_CHARS: Final = 120
"""Of a text in ``whats_new`` and ``health``; read, journal_tail and inbox_list have all of it."""
JOURNAL_TAIL: Final = 20
MAX_NEWS: Final = 30
"""Commits, files and items of each kind in ``whats_new``."""
