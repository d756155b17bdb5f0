"""Named saves of the world of a room. They are in the store, and are deleted with their room."""

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import replace
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from cohabit import saves
from cohabit.errors import BadArgs, GameRejected, PermissionDenied, TooLarge
from cohabit.house.calls.context import HouseContext
from cohabit.house.running.calls import PeekCall
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.contract import Write
from cohabit.house.threads import run_in_thread
from cohabit.model.grant import Capability
from cohabit.room.commands import command
from cohabit.room.room import Room
from cohabit.room.state import Member

MAX_SAVE = 64 * 1024 * 1024
"""Maximum size in bytes: loading a save writes it to the record."""
MAX_SAVES = 100
_NAME_PART = re.compile(r"[\w][\w .()+-]{0,63}")
C = Capability


class Saved(Struct, omit_defaults=True):
    saved: bool
    name: str
    compressed: bool
    bytes: int | None = None  # only for members who see everything, because it depends on hidden information


def _has_saves(runner: RoomRunner, member: Member) -> bool:
    return runner.settings.keeps_data


def _can_load(runner: RoomRunner, member: Member) -> bool:
    return _has_saves(runner, member) or C.READ_ALL in member.held  # who may load an uploaded save


saving = command(
    category="control", where="house", needs=C.CONTROL_WORLD, records=True, world_may_replace=True,
    offered_in=_has_saves,
)  # fmt: skip
loading = replace(saving, offered_in=_can_load)
"""The options of commands that save and load. A protocol may have other names for its arguments."""
Compress = Annotated[bool, Meta(description="compress the save")]
SaveBytes = Annotated[str | None, Meta(description="a base64-encoded save, instead of one of this room's")]


@saving
async def save_world(
    ctx: HouseContext,
    name: Annotated[str, Meta(description="the name of the save, such as first-evening")],
    compress: Compress = True,
) -> Saved:
    """Save this room's world under a name. An older save of that name is replaced."""
    return await save(ctx, name, compress)


async def save(ctx: HouseContext, name: str, compress: bool) -> Saved:
    name = _checked(ctx, name)
    names = await _names(ctx)
    if name not in names and len(names) >= MAX_SAVES:
        raise GameRejected(f"save limit reached ({MAX_SAVES}); overwrite an existing save")
    data = await ctx.runner.submit(PeekCall(partial(_packed, compress)))
    await ctx.house.writer.submit(Write(ctx.room.id, saves=[(name, _small_enough(data))]))
    size = len(data) if _sees_everything(ctx) else None
    return Saved(saved=True, name=name, compressed=compress, bytes=size)


def _packed(compress: bool, room: Room) -> bytes:
    state = room.state
    made: bytes = room.crash_on_bug(saves.pack, room.world, compress, state.game, state.played, room.record.seq)
    return made


def _sees_everything(ctx: HouseContext) -> bool:
    """True if nothing of this world is hidden from the caller."""
    return C.READ_ALL in ctx.member.held or ctx.room.world.spec.open_information


class Loaded(Struct, omit_defaults=True):
    loaded: bool
    name: str | None = None  # None: the save came with the call
    bytes: int | None = None  # see Saved


@loading
async def load_world(
    ctx: HouseContext,
    name: Annotated[str | None, Meta(description="the name of a save (see list_saves)")] = None,
    bytes_b64: SaveBytes = None,
) -> Loaded:
    """Replace this room's world with a save of it. The members and their seats stay."""
    return await load(ctx, name, bytes_b64)


async def load(ctx: HouseContext, name: str | None, bytes_b64: str | None) -> Loaded:
    """Load the save in ``bytes_b64``, or else the one with this name."""
    if bytes_b64 is not None:
        if not _sees_everything(ctx):
            raise PermissionDenied(
                "loading an uploaded save requires read_all, because it reveals hidden information; load one of this "
                "room's saves by its name",
                needs=[C.READ_ALL],
            )
        name, data = None, _decoded(bytes_b64)
    elif name is not None:
        name = _checked(ctx, name)
        found = await run_in_thread("a save", partial(ctx.house.store.save, ctx.room.id, name))
        if found is None:
            raise BadArgs(f"unknown save {name[:80]!r}; see list_saves")
        data = _small_enough(found)
    else:
        raise BadArgs("give either name, the name of a save, or bytes_b64")
    check = partial(_check_may_load, saves.read(data))
    await ctx.record("loaded", {"by": ctx.member.id, "save": b64encode(data).decode()}, check=check)
    return Loaded(True, name, len(data) if _sees_everything(ctx) else None)


def _check_may_load(save: saves.Save, room: Room, at: int) -> None:
    for feature in room.hooks["closes_save"]:
        if why := feature.closes_save(room, save.game, save.seq):
            raise GameRejected(why)


class SaveList(Struct):
    items: list[str]
    count: int


@command(category="read", where="house", needs=C.CONTROL_WORLD, world_may_replace=True, offered_in=_has_saves)
async def list_saves(ctx: HouseContext) -> SaveList:
    """The names of this room's saves."""
    names = await _names(ctx)
    return SaveList(names, len(names))


# -- names --------------------------------------------------------------------------------------
def _checked(ctx: HouseContext, name: str) -> str:
    """The name of a save: one or more plain names separated by /."""
    if not ctx.house.settings.keeps_data:
        raise GameRejected("this house keeps no data, so it has no saves; start it with --data FOLDER")
    parts = name.strip().split("/")
    if not all(_NAME_PART.fullmatch(part) for part in parts) or len(parts) > 4:
        raise BadArgs(
            "the name of a save may contain letters, digits, spaces, .-_ and / for folders, and must not contain .. "
            "or a drive letter"
        )
    return "/".join(parts)


async def _names(ctx: HouseContext) -> list[str]:
    return await run_in_thread("the saves", partial(ctx.house.store.saves, ctx.room.id))


def _small_enough(data: bytes) -> bytes:
    if len(data) > MAX_SAVE:
        raise TooLarge(f"a save may have at most {MAX_SAVE} bytes")
    return data


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError):
        raise BadArgs("bytes_b64 is not base64") from None
