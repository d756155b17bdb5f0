"""Room commands of the WorldBox bridge: its own, and common ones that also answer in the bridge's format.

Such an answer has all fields of the command of the same name in other rooms, plus the bridge's fields, so both kinds of
clients can read it.
"""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from cohabit.errors import BadArgs
from cohabit.features.objectives import ObjectiveStatus
from cohabit.features.objectives import objective_status as known_objectives
from cohabit.house.calls import command_list
from cohabit.house.calls.context import HouseContext
from cohabit.house.lifecycle import saves
from cohabit.house.store.save_files import SAVE_FILE
from cohabit.model.grant import Capability, names_held
from cohabit.protocols.worldbox.names import PERMISSIONS, role_on_wire
from cohabit.remote import RemoteWorld
from cohabit.room.base import Context
from cohabit.room.commands import command
from cohabit.room.seeing import info
from cohabit.room.seeing.looking import CAN_VIEW
from cohabit.room.state import Member, RoomState
from cohabit.version import __version__
from cohabit.world import World

BRIDGE_VERSION = "0.7.0"
"""The version of the bridge whose wire format this is."""
LEGACY = "legacy"
"""The only agent of a bridge without an agents.json."""


class Versions(Struct):
    """The versions that a client is told. There is no Unity here, and no game file to hash."""

    mod_version: str
    worldbox_version: str
    unity_version: str = "none"
    assembly_csharp_sha256: str = ""


def versions(world: World) -> Versions:
    if isinstance(world, RemoteWorld):  # a real game
        mod, game = (world.about.get(name, "unknown") for name in ("mod_version", "worldbox_version"))
        return Versions(f"{mod}+cohabit.{__version__}", game, "unknown")
    return Versions(f"{BRIDGE_VERSION}+cohabit.{__version__}", f"{world.spec.name}-{world.spec.version}")


def kingdom_id(member: Member) -> int | None:
    """The kingdom that a member plays."""
    return int(member.seat) if member.seat is not None and member.seat.isdecimal() else None


def is_legacy(state: RoomState) -> bool:
    """True if the only member is the agent of a bridge without an agents.json."""
    return list(state.members) == [LEGACY]


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


@command(category="meta")
def health(ctx: Context) -> Health:
    """Tell whether the world runs, which world it is, and how many members it has."""
    state, world = ctx.state, ctx.room.world
    about, reachable = versions(world), not isinstance(world, RemoteWorld) or world.reachable
    return Health(
        True, about.mod_version, about.worldbox_version, about.unity_version, about.assembly_csharp_sha256,
        state.tick, reachable and not state.archived, not is_legacy(state), state.scenario, len(state.members),
    )  # fmt: skip


class AgentWhoAmI(info.WhoAmI, kw_only=True, omit_defaults=True):
    agent_id: str
    permissions: list[str]
    claimed_kingdom_id: int | None = None


@command(category="meta")
def whoami(ctx: Context) -> AgentWhoAmI:
    """Tell who you are in this room: your role, your kingdom, and what your grant lets you see and do."""
    known = asdict(info.whoami(ctx))
    return AgentWhoAmI(
        **{**known, "role": role_on_wire(known["role"])},
        agent_id=ctx.member.handle,
        permissions=names_held(ctx.member.held, PERMISSIONS),
        claimed_kingdom_id=kingdom_id(ctx.member),
    )


class AgentLine(Struct, omit_defaults=True):
    id: str
    role: str
    kind: str
    here: bool
    seat: str | None = None
    claimed_kingdom_id: int | None = None
    team: str | None = None
    played_by: str | None = None
    backend: str | None = None


class AgentSessionInfo(info.SessionInfo, kw_only=True, omit_defaults=True):
    legacy_mode: bool
    agent_count: int
    agents: list[AgentLine]


@command(category="meta")
def session_info(ctx: Context) -> AgentSessionInfo:
    """This room: its world, its members and their kingdoms, and whose turn it is."""
    state = ctx.state
    return AgentSessionInfo(
        **asdict(info.session_info(ctx)),
        legacy_mode=is_legacy(state),
        agent_count=len(state.members),
        agents=[_agent(ctx, m) for m in state.members.values()] if Capability.READ_ROSTER in ctx.member.held else [],
    )


def _agent(ctx: Context, member: Member) -> AgentLine:
    return AgentLine(
        member.handle, role_on_wire(member.role_name), member.kind, member.here, member.seat, kingdom_id(member),
        member.team, info.brain_shown(ctx.state, member, ctx.member) if member.played_by_bot else None, member.backend,
    )  # fmt: skip


class AgentObjectives(Struct, omit_defaults=True):
    agent_id: str
    role: str
    objectives: list[dict[str, object]]
    seat: str | None = None
    claimed_kingdom_id: int | None = None


class KingdomObjectives(ObjectiveStatus, kw_only=True, omit_defaults=True):
    agents: list[AgentObjectives]
    kingdoms: list[dict[str, object]]


@command(category="meta", needs=CAN_VIEW)
def objective_status(ctx: Context) -> KingdomObjectives:
    """All members' declared objectives, and the live standings of the kingdoms.

    The house keeps no score: you judge who is winning.
    """
    known = known_objectives(ctx)
    return KingdomObjectives(
        **asdict(known),
        agents=[
            AgentObjectives(m.handle, role_on_wire(m.role_name), m.objectives, m.seat, kingdom_id(m))
            for m in ctx.state.members.values()
        ],
        kingdoms=[standing.data for standing in known.standings],
    )


class SavedFolder(saves.Saved, kw_only=True, omit_defaults=True):
    folder: str
    path: str


SameAs = Annotated[str | None, Meta(description="the same, as in other rooms")]


@saves.saving
async def save_world(
    ctx: HouseContext,
    folder: Annotated[str | None, Meta(description="the name of the save, such as before-the-war")] = None,
    compress: saves.Compress = True,
    name: SameAs = None,
) -> SavedFolder:
    """Save the world under a name. An older save of that name is replaced."""
    wanted = _one_of("folder", folder, name)
    if wanted is None:
        raise BadArgs("save_world: give the name of the save, as `folder` or as `name`")
    made = await saves.save(ctx, wanted, compress)
    return SavedFolder(**asdict(made), folder=made.name, path=f"{made.name}/{SAVE_FILE}")


class LoadedPath(saves.Loaded, kw_only=True, omit_defaults=True):
    scheduled: bool
    source: str
    note: str
    path: str | None = None


@saves.loading
async def load_world(
    ctx: HouseContext,
    path: Annotated[str | None, Meta(description="the name of a save (see list_saves), or its path")] = None,
    bytes_b64: saves.SaveBytes = None,
    name: SameAs = None,
) -> LoadedPath:
    """Replace the world with a save. The members and their seats stay."""
    wanted = _one_of("path", path, name)
    # `save_world` reports a path, too.
    wanted = wanted.strip().removesuffix(f"/{SAVE_FILE}") if wanted is not None else None
    made = await saves.load(ctx, wanted, bytes_b64)
    source = "path" if made.name is not None else "bytes_b64"
    return LoadedPath(**asdict(made), scheduled=True, source=source, note="the world is loaded", path=made.name)


def _one_of(other: str, given: str | None, name: str | None) -> str | None:
    """The name of a save: clients of the bridge call it ``other``."""
    if given is not None and name is not None:
        raise BadArgs(f"`name` and `{other}` are two names of the same argument; send one of them")
    return name if given is None else given


class VersionedCapabilities(command_list.Capabilities, kw_only=True):
    mod_version: str
    worldbox_version: str
    unity_version: str
    assembly_csharp_sha256: str


@command(category="meta", where="house", about="either", before_joining=True, sends="lists")
async def capabilities(ctx: HouseContext) -> VersionedCapabilities:
    """Every command that you may use here, in a few words each. `schemas` describes their arguments and results."""
    known = await command_list.capabilities(ctx)
    return VersionedCapabilities(**asdict(known), **asdict(versions(ctx.room.world)))
