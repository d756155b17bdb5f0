"""Named saves: files under ``saves/`` of the data folder, one folder for each room. Nothing outside is touched."""

import asyncio
import os
import re
import secrets
import shutil
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, GameRejected, PermissionDenied, StorageFailed, TooLarge
from cohabit.house.door import HouseContext
from cohabit.model.grant import Capability
from cohabit.room import saves
from cohabit.room.commands import command

FILE = "world.save"
MAX_SAVE = 64 * 1024 * 1024
"""A save goes into the record of the room that loads it, so its size is bounded."""
MAX_SAVES = 100
_PART = re.compile(r"[\w][\w .()+-]{0,63}")
C = Capability


class Saved(Struct):
    saved: bool
    folder: str
    compressed: bool
    path: str
    bytes: int


@command(category="control", where="house", needs=C.CONTROL_WORLD, records=True, world_may_replace=True)
async def save_world(
    ctx: HouseContext,
    folder: Annotated[str, Meta(description="the name of the save, such as before-the-war")],
    compress: Annotated[bool, Meta(description="make it smaller")] = True,
) -> Saved:
    """Save the world under a name, in the data folder of this house. An older save of that name is replaced."""
    place = _place(ctx, folder)
    if not await asyncio.to_thread(place.is_dir) and len(await asyncio.to_thread(_names, ctx)) >= MAX_SAVES:
        raise GameRejected(f"this room has {MAX_SAVES} saves, which is the limit; save under one of their names")
    data = await ctx.room.peek(
        lambda room: room.guarded(saves.pack, room.world, compress, room.state.game, room.state.played)
    )
    await asyncio.to_thread(_write, place, data)
    return Saved(True, folder.strip(), compress, f"{folder.strip()}/{FILE}", len(data))


class Loaded(Struct, omit_defaults=True):
    scheduled: bool
    bytes: int
    source: str
    note: str
    path: str | None = None


@command(category="control", where="house", needs=C.CONTROL_WORLD, records=True, world_may_replace=True)
async def load_world(
    ctx: HouseContext,
    path: Annotated[str | None, Meta(description="the name of a save (see list_saves), or its path")] = None,
    bytes_b64: Annotated[str | None, Meta(description="or a whole save, in base64; it wins over path")] = None,
) -> Loaded:
    """Replace the world by a save. The members and their seats stay."""
    if bytes_b64 is not None:
        if C.READ_ALL not in ctx.member.held and not ctx.room.room.world.spec.open_information:
            raise PermissionDenied(
                "with a save of your own you would know what this world hides, so loading one needs read_all; "
                "load one of this room by its path",
                needs=[C.READ_ALL],
            )
        source, data = "bytes_b64", _decoded(bytes_b64)
    elif path is not None:
        path = path.strip().removesuffix(f"/{FILE}")  # as save_world reported it
        source, data = "path", await asyncio.to_thread(_read, _place(ctx, path), path)
    else:
        raise BadArgs("load_world takes a path (the name of a save) or bytes_b64")
    await ctx.record("loaded", {"by": ctx.member.id, "save": b64encode(data).decode()})
    named = path if source == "path" else None
    return Loaded(True, len(data), source, "the world is loaded", named)


class SaveList(Struct):
    items: list[str]
    count: int


@command(category="read", where="house", needs=C.CONTROL_WORLD, world_may_replace=True)
async def list_saves(ctx: HouseContext) -> SaveList:
    """The names of this room's saves."""
    names = await asyncio.to_thread(_names, ctx)
    return SaveList(names, len(names))


# -- files --------------------------------------------------------------------------------------
def _home(ctx: HouseContext) -> Path:
    if not ctx.house.settings.data:
        raise GameRejected("this house has no data folder, so it has no saves; start it with --data FOLDER")
    return ctx.house.settings.folder.resolve() / "saves" / ctx.room.room.id


def delete(folder: Path, room: str) -> None:
    """Delete every save of a room."""
    shutil.rmtree(folder.resolve() / "saves" / room, ignore_errors=True)


def _place(ctx: HouseContext, name: str) -> Path:
    """The folder of a save. A name is one or more plain words with / between them, and stays inside the saves."""
    parts = name.strip().split("/")
    if not all(_PART.fullmatch(part) for part in parts) or len(parts) > 4:
        raise BadArgs("the name of a save is letters, digits, spaces and .-_ with / for folders; no .. and no drive")
    home = _home(ctx)
    place = home.joinpath(*parts)
    if not place.resolve().is_relative_to(home):
        raise BadArgs("that save would be outside of the saves of this room")
    return place


def _names(ctx: HouseContext) -> list[str]:
    home = _home(ctx)
    return sorted(str(file.parent.relative_to(home)) for file in home.rglob(FILE) if file.is_file())


def _write(place: Path, data: bytes) -> None:
    """The whole save or none: written to a temporary file, synced, then renamed."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        aside = place / f".{secrets.token_hex(8)}"
        try:
            with aside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(place / FILE)
        finally:
            aside.unlink(missing_ok=True)
        folder = os.open(place, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as wrong:
        raise StorageFailed(f"the save could not be written: {wrong.strerror}") from None


def _read(place: Path, name: str) -> bytes:
    file = place / FILE
    try:
        if file.is_symlink() or not file.is_file():
            raise BadArgs(f"there is no save {name.strip()[:80]!r}; list_saves names those there are")
        if file.stat().st_size > MAX_SAVE:
            raise TooLarge(f"a save may have {MAX_SAVE} bytes")
        return file.read_bytes()
    except OSError as wrong:
        raise StorageFailed(f"the save could not be read: {wrong.strerror}") from None


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError):
        raise BadArgs("bytes_b64 is not base64") from None
