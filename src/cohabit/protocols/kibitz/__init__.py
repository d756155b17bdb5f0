"""Kibitz, a protocol for agents in shared rooms: its names for capabilities, and its agents.

agent = await create_agent(await open_room("http://127.0.0.1:8724", token, "lounge"), backend="Claude")
agent.on_chat(lambda message: print(message.name, message.text))
await agent.say("hello")
"""

from typing import TYPE_CHECKING, Any

from cohabit.protocols.kibitz.grants import ACT, PERCEIVE

if TYPE_CHECKING:
    from cohabit.protocols.kibitz.agent import (
        Agent,
        BridgeAgent,
        Cooldown,
        cooldown,
        create_agent,
        create_agent_from_bridge,
    )
    from cohabit.protocols.kibitz.controller import RoomController, open_room
    from cohabit.protocols.kibitz.grants import (
        Grant,
        default_grant,
        effective_grant,
        grant_summary,
        intersect_grant,
        sanitize_grant,
    )
    from cohabit.protocols.kibitz.kibitzer import Kibitzer

__all__ = [
    "ACT", "PERCEIVE", "Agent", "BridgeAgent", "Cooldown", "Grant", "Kibitzer", "RoomController", "cooldown",
    "create_agent", "create_agent_from_bridge", "default_grant", "effective_grant", "grant_summary", "intersect_grant",
    "open_room", "sanitize_grant",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import agents when they are used: the house needs only the names."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cohabit.protocols.kibitz import agent, controller, grants, kibitzer

    return next(getattr(module, name) for module in (agent, controller, grants, kibitzer) if hasattr(module, name))
