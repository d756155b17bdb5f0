"""The shapes of the bridge wire: a command as it comes in, answers and errors as they go out."""

from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs, Busy, CohabitError, GameCrash, UnknownAsset, WorldTimeout
from cohabit.house.house import HOUSE_COMMANDS
from cohabit.room.room import Room
from cohabit.room.worldbox import versions


class Asked(Struct):
    """What a request asks for, as far as it was read before something was wrong with it."""

    name: str = ""
    args: dict[str, Any] = {}


def read_command(body: bytes, asked: Asked) -> None:
    """``{"name": …, "args": {…}}``; arguments that are no object are none."""
    try:
        said = msgspec.json.decode(body or b"{}")
    except (ValueError, RecursionError) as wrong:  # msgspec's own, bytes that are no UTF-8, too deep
        raise BadArgs(f"the body is not JSON: {wrong}") from None
    if not isinstance(said, dict):
        raise BadArgs('the body must be a JSON object: {"name": "whoami", "args": {}}')
    name, args = said.get("name"), said.get("args")
    if not isinstance(name, str) or not name.strip():
        raise BadArgs("name: which command? It is missing, or no text")
    asked.name = name
    if isinstance(args, dict):
        asked.args = args


def refused(wrong: CohabitError, asked: Asked) -> dict[str, Any]:
    """An error as this wire writes it. Near names are told apart for assets only; else they are in the message."""
    error: dict[str, Any] = {"code": wrong.code, "message": wrong.message}
    if asked.name:
        error["command"] = asked.name
        if not isinstance(wrong, Busy):
            error["args"] = asked.args
    if wrong.did_you_mean and isinstance(wrong, UnknownAsset):
        error["did_you_mean"] = wrong.did_you_mean
    elif wrong.did_you_mean:
        error["message"] = f"{wrong.message}. Did you mean: {', '.join(wrong.did_you_mean)}?"
    if isinstance(wrong, GameCrash | WorldTimeout):
        kind = wrong.details.get("exception", {}).get("type", type(wrong).__name__)
        error["exception"] = {"type": kind, "message": wrong.message}
    return {"ok": False, "error": error}


def listing(room: Room) -> dict[str, Any]:
    """Every command that this wire takes to a room, whether or not the caller may use it."""
    about_rooms = (command for command in HOUSE_COMMANDS if command.needs)
    commands = [
        {
            "name": command.name,
            "category": "meta" if command.category == "host" else command.category,  # the game's bridge has no hosts
            "description": command.doc,
            "requires_main_thread": command.where == "world",
            "schema": command.schema,
        }
        for command in (*room.commands, *about_rooms)
    ]
    return {**msgspec.to_builtins(versions(room.world)), "commands": commands}


def without_nulls(answer: dict[str, Any]) -> bytes:
    """An answer as JSON; what is null is left out, wherever it stands."""
    body = msgspec.json.encode(answer)
    return body if b"null" not in body else msgspec.json.encode(_full(msgspec.json.decode(body)))


def _full(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _full(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_full(inner) for inner in value]
    return value
