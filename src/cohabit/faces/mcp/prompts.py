"""The texts for a model before it begins: the server's instructions, and a prompt to play with."""

from typing import Final

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from cohabit.errors import BadArgs, CohabitError
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.tool_list import worded

PLAY: Final = "play"
HOW_TO_PLAY: Final = "Play as well as you can until the game is over: wait until you may act, look, and act."
HOW_TO_TALK: Final = (
    "Take part: look with `observe`, which can wait for something new, and answer when it concerns you."
)


async def instructions(backend: Backend) -> str:
    """For `server/discover` and `initialize`. A caller who is refused is told why."""
    try:
        told = (await backend.introduction(backend.room)).text
    except CohabitError as refusal:
        told = refusal.as_text()
    return await worded(backend, told)


async def list_prompts(backend: Backend) -> types.ListPromptsResult:
    room = types.PromptArgument(name="room", description="the id of the room", required=backend.room is None)
    play = types.Prompt(
        name=PLAY,
        title="Play",
        description="Who you are, the rules, and what you see: everything you need to start playing",
        arguments=[room] if backend.roams else [],
    )
    return types.ListPromptsResult(prompts=[play])


async def get_prompt(backend: Backend, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != PLAY:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name[:80]!r}; there is {PLAY!r}.")
    room = (params.arguments or {}).get("room") if backend.roams else None
    room = room or backend.room
    if room is None:
        raise BadArgs(f"{PLAY} is about a room; say which, with the argument room")
    told = await backend.introduction(room, brief=True)
    parts = [told.text]
    for info in await backend.commands(room):
        resource = info.resource
        if resource is not None and resource.text and info.for_model:
            shown = msgspec.to_builtins(await backend.call(info.name, resource.args, room))
            text = shown[resource.text].replace(f"\n{told.note}", "") if told.note else shown[resource.text]
            parts.append(f"# {resource.title}\n{text.rstrip()}")
    if not told.note:
        parts.append(HOW_TO_PLAY if told.is_played else HOW_TO_TALK)
    message = types.PromptMessage(
        role="user", content=types.TextContent(text=await worded(backend, "\n\n".join(parts), room))
    )
    return types.GetPromptResult(description=f"Play in {room}", messages=[message])
