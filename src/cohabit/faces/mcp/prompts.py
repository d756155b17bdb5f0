"""Prompts: one, to begin playing with."""

from __future__ import annotations

from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from cohabit.errors import BadArgs, CohabitError
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.words import instructions, plain_call, rules_text

PLAY: Final = "play"


def list_prompts(backend: Backend) -> list[types.Prompt]:
    room = types.PromptArgument(name="room", description="the id of the room", required=backend.room is None)
    return [
        types.Prompt(
            name=PLAY,
            title="Play",
            description="Who you are, the rules, and what you see: everything to begin playing with",
            arguments=[room] if backend.roams else [],
        )
    ]


async def get_prompt(backend: Backend, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != PLAY:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name[:80]!r}; there is {PLAY!r}.")
    room = (params.arguments or {}).get("room") if backend.roams else None
    room = room or backend.room
    if room is None:
        raise BadArgs("play is about a room; say which, with the argument room")
    parts = [await instructions(backend, room), rules_text(await plain_call(backend, "rules", room))]
    try:
        parts.append(f"You see:\n{(await plain_call(backend, 'view', room))['text']}")
    except CohabitError as refusal:  # a grant may show nothing of the world
        parts.append(refusal.as_text())
    parts.append("Play as well as you can. Go on until it is over: wait for your turn, look, act.")
    message = types.PromptMessage(role="user", content=types.TextContent(text="\n\n".join(parts)))
    return types.GetPromptResult(description=f"Play in {room}", messages=[message])
