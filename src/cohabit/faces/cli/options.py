"""Options that several verbs share: the settings of a house, where a house is, and where its data is."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from cohabit.errors import Unauthorized, UnknownRoom
from cohabit.faces.cli.say import UsageError
from cohabit.house.settings import Settings, load_settings, settings_table
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.model.suggest import nearest
from cohabit.registry import TOKEN_VARIABLES


# -- the settings of a house --------------------------------------------------------------------
def settings_options(parser: argparse.ArgumentParser) -> None:
    """An option for each setting of the one table."""
    group = parser.add_argument_group("settings of the house (also from the environment: COHABIT_PORT=…)")
    for name, default, text in settings_table():
        shown = f" (default {default})" if default not in ("", None) else ""
        option = "--" + name.replace("_", "-")
        group.add_argument(option, dest=name, metavar=name.upper(), help=f"{text}{shown}".replace("%", "%%"))


def data_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="folder of the store (COHABIT_DATA; otherwise your own)")


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings from the command line and the environment. The data folder is always a real one."""
    known = {name: getattr(args, name, None) for name in Settings.__struct_fields__}
    found = load_settings(known)
    return msgspec.structs.replace(found, data=str(found.folder))


def data_hint(args: argparse.Namespace) -> str:
    """What to add to a hint so that it is about the same folder."""
    return f" --data {args.data}" if getattr(args, "data", None) else ""


@contextmanager
def open_store(args: argparse.Namespace) -> Iterator[SQLiteStore]:
    """The store of a data folder, for reading, beside a house that may be running."""
    folder = settings_of(args).folder
    if not (folder / "cohabit.db").is_file():
        raise UnknownRoom(
            f"there is no house in {folder} yet; `cohabit up` creates one, --data says where another one is"
        )
    store = SQLiteStore(folder, lock=False)
    try:
        yield store
    finally:
        store.close()


def need_room(store: SQLiteStore, room: str) -> str:
    """The same name, if there is such a room."""
    rooms = store.rooms()
    if room not in rooms:
        there = f"there are {', '.join(rooms)}" if rooms else "there is none yet"
        raise UnknownRoom(f"there is no room {room!r} in {store.folder}; {there}", did_you_mean=nearest(room, rooms, 2))
    return room


# -- where a house is ---------------------------------------------------------------------------
class Place(NamedTuple):
    """A house, a credential for it, and a room."""

    url: str
    token: str
    room: str | None


def place_options(parser: argparse.ArgumentParser, room: bool = True) -> None:
    parser.add_argument(
        "--url",
        help="address of the house, or a link with room and token (COHABIT_URL; otherwise this machine)",
    )
    parser.add_argument("--token", help="your credential; in COHABIT_TOKEN nobody else on this machine sees it")
    if room:
        parser.add_argument("--room", help="the room; not needed with a credential that is bound to one")


def place_of(args: argparse.Namespace) -> Place:
    """Where a command goes, and with which credential. A link from ``cohabit up`` has all three."""
    room = getattr(args, "room", None)
    link = room if room and "://" in room else args.url
    url, token, linked = _read_link(link) if link else (None, None, None)
    url = url or os.environ.get("COHABIT_URL") or load_settings({}).url
    token = args.token or token or token_of_environment()
    if not token:
        raise Unauthorized("this needs a credential, and none was given")
    return Place(url.rstrip("/"), token, linked or (None if room == link else room))


def token_of_environment() -> str | None:
    return next((token for name in TOKEN_VARIABLES if (token := os.environ.get(name))), None)


def _read_link(link: str) -> tuple[str, str | None, str | None]:
    """``http://house:8724/?room=demo#TOKEN``: the address, the token and the room in it."""
    parts = urlsplit(link)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError("--url is an address such as http://127.0.0.1:8724")
    token = parts.fragment.removeprefix("token=") or None
    room = parse_qs(parts.query).get("room", [None])[0]
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/"), token, room


# -- arguments of a command ---------------------------------------------------------------------
def arguments(words: list[str]) -> dict[str, Any]:
    """``n=3 to=ares`` or ``'{"n": 3}'`` as the arguments of a command."""
    found: dict[str, Any] = {}
    for word in words:
        if word.lstrip().startswith("{"):
            found.update(_json_object(word))
            continue
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{word!r} is neither name=value nor a JSON object")
        found[name] = _value(value)
    return found


def _json_object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as wrong:
        raise UsageError(f"that is not a JSON object: {wrong}") from None


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text
