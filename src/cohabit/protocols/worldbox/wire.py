"""The wire format of the bridge: requests, answers and errors."""

from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs, Busy, CohabitError, GameCrash, UnknownAsset, WorldTimeout
from cohabit.faces.http import decoded
from cohabit.house.running.runner import RoomRunner
from cohabit.model.timestamps import utc
from cohabit.protocols.worldbox.commands import versions
from cohabit.protocols.worldbox.names import code_on_wire


class BridgeRequest(Struct):
    """The command of a request, as far as it could be read."""

    name: str = ""
    args: dict[str, Any] = {}


def bearer(headers: Any) -> str | None:
    """The token of a request: ``Authorization: Bearer``, else ``X-WB-Token``. No fallback for a wrong bearer."""
    kind, _, token = (headers.get("authorization") or "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip() or None
    older: str | None = headers.get("x-wb-token")
    return older


def read_command(body: bytes, request: BridgeRequest) -> None:
    """``{"name": …, "args": {…}}``; arguments that are not an object are ignored."""
    said = decoded(body or b"{}")
    if not isinstance(said, dict):
        raise BadArgs('the body must be a JSON object: {"name": "whoami", "args": {}}')
    name, args = said.get("name"), said.get("args")
    if not isinstance(name, str) or not name.strip():
        raise BadArgs("name: the name of a command is missing, or is not text")
    request.name = name
    if isinstance(args, dict):
        request.args = args


def error_reply(wrong: CohabitError, request: BridgeRequest) -> dict[str, Any]:
    """An error in the wire format. Suggestions have a field only for assets; otherwise they are in the message."""
    error: dict[str, Any] = {"code": code_on_wire(wrong.code), "message": wrong.message}
    if request.name:
        error["command"] = request.name
        if not isinstance(wrong, Busy):
            error["args"] = request.args
    if wrong.did_you_mean and isinstance(wrong, UnknownAsset):
        error["did_you_mean"] = wrong.did_you_mean
    elif wrong.did_you_mean:
        error["message"] = f"{wrong.message}. Did you mean: {', '.join(wrong.did_you_mean)}?"
    if isinstance(wrong, GameCrash | WorldTimeout):
        kind = wrong.details.get("exception", {}).get("type", type(wrong).__name__)
        error["exception"] = {"type": kind, "message": wrong.message}
    return {"ok": False, "error": error}


def capabilities_reply(runner: RoomRunner) -> dict[str, Any]:
    """Every room command, whether or not the caller may use it. Without an envelope."""
    commands = [
        {
            "name": command.name,
            "category": "meta" if command.category == "host" else command.category,  # the game's bridge has no hosts
            "description": command.doc,
            "requires_main_thread": command.where == "world",
            "schema": command.schema,
        }
        for command in runner.commands
        if command.about == "room"
    ]
    return {**msgspec.to_builtins(versions(runner.room.world)), "commands": commands}


def with_last_seen(info: Any, runner: RoomRunner) -> dict[str, Any]:
    """A reply of session_info plus the time of each agent's last call, which only the house knows."""
    plain: dict[str, Any] = msgspec.to_builtins(info)
    for agent in plain["agents"]:
        member = runner.room.state.with_handle(agent["id"])
        heard = runner.time.last_seen(member.id) if member is not None else None
        if heard is not None:
            agent["last_seen_utc"] = utc(heard)
    return plain


def encode(answer: dict[str, Any]) -> bytes:
    """An answer as JSON without nulls, as the bridge writes it."""
    body = msgspec.json.encode(answer)
    return body if b"null" not in body else msgspec.json.encode(_without_nulls(msgspec.json.decode(body)))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value
