"""The WorldBox bridge's names for permissions, roles, speeds and errors, mapped to ours."""

from collections.abc import Mapping

from cohabit.model.grant import Capability, Names

C = Capability
NAME = "worldbox"

PERMISSIONS: Names = {
    "read_all": frozenset({C.READ_ALL}),
    "read_own_faction": frozenset({C.READ_OWN}),
    "action_global": frozenset({C.ACT_GLOBAL}),
    "action_faction": frozenset({C.ACT}),
    "control_world": frozenset({C.CONTROL_WORLD}),
    "send_message": frozenset({C.SEND_MESSAGE}),
    "recv_message": frozenset({C.READ_CHAT, C.RECEIVE_DIRECTED}),
    "send_broadcast": frozenset({C.SEND_BROADCAST}),
    "advance_time": frozenset({C.ADVANCE_TIME}),
}
"""The nine permissions of the bridge, in the order in which its ``whoami`` lists them."""

ROLES: Mapping[str, str] = {"faction_player": "player", "faction": "player"}
"""The bridge's role names, mapped to ours."""

SPEEDS: Mapping[str, int] = {
    "slow_mo": 500, "x1": 1000, "x2": 2000, "x3": 3000, "x4": 4000, "x5": 5000, "x10": 10_000, "x15": 15_000,
    "x20": 20_000, "x40": 20_000,
}  # fmt: skip
"""The ids of the game's speeds, and their factors in thousandths. In the game, too, x40 is as fast as x20."""

CODES: Mapping[str, str] = {"SCOPE_VIOLATION": "FACTION_SCOPE_VIOLATION", "WORLD_TIMEOUT": "MAIN_THREAD_TIMEOUT"}
"""Error codes that have a different name on the bridge's wire."""

PREFIX = "worldbox_"
PREFIXED = frozenset({
    "health", "capabilities", "whoami", "session_info", "turn_advance", "objective_status", "pause", "resume",
    "set_speed", "list_speeds", "save_world", "load_world", "send_message", "recv_messages", "list_tiles",
    "list_actors", "list_powers", "invoke_power", "spawn", "paint_tile", "get_world_state", "get_tile",
    "list_kingdoms", "list_cities", "query_actors", "get_ui_state", "dismiss_window", "screenshot",
    "generate_world",
})  # fmt: skip
"""The commands that the bridge also has. Over MCP they have the tool names of the bridge's client."""


def role_on_wire(role: str) -> str:
    """The bridge's name for a role."""
    return "faction_player" if role == "player" else role


def code_on_wire(code: str) -> str:
    """The bridge's code for an error."""
    return CODES.get(code, code)


def code_from_wire(code: str) -> str:
    """Our code for an error of the bridge."""
    return next((ours for ours, theirs in CODES.items() if theirs == code), code)
