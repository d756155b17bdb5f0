"""What clients of the WorldBox bridge ask of a room, besides what every room has."""

from msgspec import Struct

from cohabit import __version__
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.world import RemoteWorld, World

SPEAKS = "0.7.0"
"""The version of the bridge whose wire this is."""


def _bridged(world: World) -> bool:
    return world.spec.bridge


class Versions(Struct):
    """What a client is told it talks to. There is no Unity here, and no game file to hash."""

    mod_version: str
    worldbox_version: str
    unity_version: str = "none"
    assembly_csharp_sha256: str = ""


def versions(world: World) -> Versions:
    if isinstance(world, RemoteWorld):  # a real game behind us
        mod, game = (world.about.get(name, "unknown") for name in ("mod_version", "worldbox_version"))
        return Versions(f"{mod}+cohabit.{__version__}", game, "unknown")
    return Versions(f"{SPEAKS}+cohabit.{__version__}", f"{world.spec.name}-{world.spec.version}")


class Health(Struct):
    ok: bool
    mod_version: str
    worldbox_version: str
    unity_version: str
    assembly_csharp_sha256: str
    tick: int
    enabled: bool
    multi_agent: bool
    scenario: str
    agent_count: int


@command(category="meta", only_if=_bridged)
def health(ctx: Context) -> Health:
    """Whether the world runs, what it is, and how many play in it."""
    state, world = ctx.state, ctx.room.world
    about, here = versions(world), not isinstance(world, RemoteWorld) or world.reachable
    return Health(
        True, about.mod_version, about.worldbox_version, about.unity_version, about.assembly_csharp_sha256,
        state.tick, here and not state.archived, not state.legacy, state.scenario, len(state.members),
    )  # fmt: skip
