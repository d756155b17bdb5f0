"""The built-in features of rooms, and what a feature of your own imports.

The contract is ``cohabit.room.feature``; ``examples/poll.py`` is a feature in one file.
"""

from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Command, command, system_entry
from cohabit.room.decision import Decision
from cohabit.room.feature import Feature
from cohabit.room.slices import Slice
from cohabit.room.state import Member
from cohabit.room.timers import Due

__all__ = [
    "BaseRoom", "Capability", "Command", "Context", "Decision", "Due", "Feature", "Member", "Slice", "command",
    "one_line", "system_entry",
]  # fmt: skip
