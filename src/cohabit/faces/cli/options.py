"""Options that several verbs share: house settings, the address of a house, the data folder, and limits."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from cohabit.errors import Unauthorized, UnknownRoom
from cohabit.faces.cli.say import UsageError
from cohabit.house.settings import Settings, load_settings, settings_table
from cohabit.house.store.contract import LastingStore
from cohabit.house.store.disk import ID_FILE
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.store.sqlite_opening import DATABASE_NAME, MOVED_NAME
from cohabit.model.suggest import nearest
from cohabit.registry import TOKEN_VARIABLES


# -- the settings of a house --------------------------------------------------------------------
def settings_options(parser: argparse.ArgumentParser) -> None:
    """Add an option for each setting."""
    group = parser.add_argument_group("house settings (each is an environment variable too, such as COHABIT_PORT)")
    for name, default, text in settings_table():
        shown = f" (default {default})" if default not in ("", None) else ""
        option = "--" + name.replace("_", "-")
        group.add_argument(option, dest=name, metavar=name.upper(), help=f"{text}{shown}".replace("%", "%%"))


def data_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="the data folder (default: COHABIT_DATA, or a folder in your home directory)")
    parser.add_argument("--store", help="the database of the house, if it is not in the data folder (COHABIT_STORE)")


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings from the command line and the environment. The data folder is always a real one."""
    known = {name: getattr(args, name, None) for name in Settings.__struct_fields__}
    found = load_settings(known)
    return msgspec.structs.replace(found, data=str(found.folder))


def data_hint(args: argparse.Namespace) -> str:
    """The options to add to a hint, so it refers to the same house. Not an address: it may contain a password."""
    return f" --data {args.data}" if getattr(args, "data", None) else ""


@contextmanager
def open_store(args: argparse.Namespace) -> Iterator[LastingStore]:
    """Open the store of a house for reading. The house may be running."""
    settings = settings_of(args)
    store: LastingStore
    if settings.store:
        from cohabit.house.store.postgres import PostgresStore

        store = PostgresStore(settings.store, read_only=True)
    else:
        need_house(settings.folder)
        store = SQLiteStore(settings.folder, lock=False)
    try:
        yield store
    finally:
        store.close()


def need_house(folder: Path) -> None:
    if not (folder / DATABASE_NAME).is_file():
        if (folder / ID_FILE).is_file() or (folder / MOVED_NAME).is_file():
            raise UnknownRoom(
                f"the house in {folder} keeps its data in PostgreSQL; give the address with --store or COHABIT_STORE"
            )
        raise UnknownRoom(f"no house in {folder} yet; create one with `cohabit up`, or give another folder with --data")


def need_room(store: LastingStore, room: str) -> str:
    """Return the name if there is such a room."""
    rooms = store.rooms()
    if room not in rooms:
        there = f"its rooms are {', '.join(rooms)}" if rooms else "it has no rooms yet"
        raise UnknownRoom(f"no room {room!r} in {store.place}; {there}", did_you_mean=nearest(room, rooms, 2))
    return room


# -- where a house is ---------------------------------------------------------------------------
class Place(NamedTuple):
    """A house, a credential for it, and a room."""

    url: str
    token: str
    room: str | None


def place_options(parser: argparse.ArgumentParser, room: bool = True) -> None:
    parser.add_argument(
        "--url", help="address of the house, or a link with room and token (default: COHABIT_URL, or this machine)"
    )
    parser.add_argument(
        "--token", help="your token; set COHABIT_TOKEN instead to hide it from other users of this machine"
    )
    if room:
        parser.add_argument("--room", help="the room; not needed if your token is for one room")


def place_of(args: argparse.Namespace) -> Place:
    """The address, token and room to use. A link from ``cohabit up`` has all three; ``COHABIT_URL`` may be one, too."""
    room = getattr(args, "room", None)
    link = room if room and "://" in room else args.url
    room = None if room == link else room
    url, token, linked = _read_link(link) if link else (None, None, None)
    token = args.token or token or token_of_environment()
    if url is None and (usual := os.environ.get("COHABIT_URL")):
        url, its_token, its_room = _read_link(usual)
        token, room = token or its_token, room or its_room
    if not token:
        raise Unauthorized(
            "no token was given; give a link that `cohabit up` printed, or set COHABIT_TOKEN. `cohabit links ROOM "
            "--renew MEMBER` makes a new link, `cohabit token new NAME --host` a token for the whole house"
        )
    return Place(url or load_settings({}).url.rstrip("/"), token, linked or room)


def token_of_environment() -> str | None:
    return next((token for name in TOKEN_VARIABLES if (token := os.environ.get(name))), None)


def _read_link(link: str) -> tuple[str, str | None, str | None]:
    """``http://house:8724/?room=demo#TOKEN``: the address, the token and the room in it."""
    parts = urlsplit(link)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError("--url, or COHABIT_URL, must be an address such as http://127.0.0.1:8724")
    token = parts.fragment.removeprefix("token=") or None
    room = parse_qs(parts.query).get("room", [None])[0]
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/"), token, room


# -- arguments of a command ---------------------------------------------------------------------
def arguments(words: list[str]) -> dict[str, Any]:
    """``n=3 to=ares`` or ``'{"n": 3}'`` as the arguments of a command."""
    found: dict[str, Any] = {}
    for word in words:
        if word.lstrip().startswith("{"):
            found.update(json_object(word))
            continue
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{word!r} is neither name=value nor a JSON object")
        found[name] = _value(value)
    return found


def json_object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as wrong:
        raise UsageError(f"not a JSON object: {wrong}") from None


def _value(text: str) -> Any:
    """Parse as JSON if possible, else keep the text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text


# -- limits -------------------------------------------------------------------------------------
def check_above_0(option: str, number: float | None) -> None:
    """Refuse a limit that leaves nothing. None: there is no limit."""
    if number is not None and not 0 < number < inf:
        raise UsageError(f"{option} must be above 0, not {number:g}")
