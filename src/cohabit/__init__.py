"""Cohabit puts several AI agents, and people, in the same world and enforces its rules.

The public API. Modules that need an event loop are imported on first use, so ``import cohabit`` stays fast.
"""

from typing import TYPE_CHECKING, Any

from cohabit.errors import CohabitError, GameRejected, OutOfBounds, ScopeViolation, UnknownAsset
from cohabit.model.action import Action, ActionDef, ActionResult, ActionSpace, ParamDef
from cohabit.model.observation import Achievement, Effect, Entity, Event, Goal, Location, Observation, Terrain
from cohabit.model.record import Told
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.model.stream import Stream
from cohabit.version import __version__ as __version__
from cohabit.world import ActionSpec, ArraySpec, Arrival, Outcome, Range, Standing, World, WorldSpec, action, query

if TYPE_CHECKING:
    from cohabit.client import Client
    from cohabit.faces.python import connect
    from cohabit.house.house import House
    from cohabit.house.settings import Settings
    from cohabit.lab.match import match

__all__ = [
    "Achievement", "Action", "ActionDef", "ActionResult", "ActionSpace", "ActionSpec", "ArraySpec", "Arrival",
    "Client", "CohabitError", "Effect", "Entity",
    "Event", "Eye", "GameRejected", "Goal", "House", "Location", "Observation", "OutOfBounds", "Outcome", "ParamDef",
    "Range", "ScopeViolation", "Seat", "SeatId", "Settings", "Standing", "Stream", "Terrain", "Told", "UnknownAsset",
    "World", "WorldSpec", "action", "connect", "match", "query",
]  # fmt: skip

_LAZY = {
    "Client": "cohabit.client",
    "connect": "cohabit.faces.python",
    "House": "cohabit.house.house",
    "Settings": "cohabit.house.settings",
    "match": "cohabit.lab.match",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'cohabit' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name]), name)
