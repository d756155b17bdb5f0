"""The protocol of WorldBox as a feature of rooms: its commands, its names of tools and its speeds."""

from cohabit.model.tool_names import ToolNames
from cohabit.protocols.worldbox import commands, names
from cohabit.room.feature import Feature


class WorldBoxProtocol(Feature):
    name = names.NAME
    modules = (commands,)
    replaces = frozenset({"whoami", "session_info", "objective_status"})
    tools = ToolNames(names.PREFIX, names.PREFIXED)
    speeds = names.SPEEDS
