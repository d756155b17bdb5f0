"""Films over interfaces: two rooms whose records differ only in what a player may not see give it the same film."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit import saves
from cohabit.house.house import House
from cohabit.house.running.calls import SystemCall
from cohabit.model.seat import Eye
from cohabit.model.stream import Stream
from cohabit.registry import make_world
from cohabit.scenario import parse_scenario

from ..house.making import open_house  # noqa: TID252
from ..worlds.kingdoms.twins import SCENARIO, scramble  # noqa: TID252 - two suites share the twins
from .doors import doors

PLAYERS = [{"id": name, "role": "player", "claim": f"auto:{i}"} for i, name in enumerate(("ann", "bob", "cat", "dan"))]
WHIST = {"world": "whist", "agents": [*PLAYERS, {"id": "host", "kind": "human", "role": "host"}]}


async def room_of(house: House, plan: dict[str, Any], *, other: bool) -> dict[str, str]:
    """A game in which something is hidden that is another thing in the ``other`` one, and then played on."""
    _, tokens = await house.create_room(parse_scenario(json.dumps(plan)), "den", seed="5" * 32)
    runner, (sender, receiver) = house.rooms["den"], OTHERS[plan["world"]]
    await _call(house, tokens[sender], "view", {})  # everybody is told who connects
    if plan is WHIST:
        await _play(house, tokens, until="play")
    await advance(house, 3_000)
    room = runner.room
    world = make_world(room.state.source, room.state.config)
    world.restore(room.world.snapshot())
    if other:
        scramble(world) if plan is SCENARIO else world.resample(Eye("north", "own"), Stream(7, "other"))
    packed = saves.pack(world, True, room.state.game, room.state.played, room.record.seq)
    await runner.submit(SystemCall("loaded", {"by": next(iter(tokens)), "save": b64encode(packed).decode()}))
    if plan is SCENARIO:  # what is hidden comes into sight when somebody walks there
        await _call(house, tokens["zeus"], "pause", {})
    for _ in range(3):
        await advance(house, 200)
        if other:  # entries that nobody else is told of
            await _call(house, tokens[sender], "send_message", {"to": receiver, "content": "psst"})
    if plan is WHIST:
        await _play(house, {"bob": tokens["bob"]}, until="")
    return tokens


OTHERS = {"whist": ("cat", "dan"), "kingdoms": ("ares", "zeus")}


async def advance(house: House, ms: int) -> None:
    clock: Any = house.clock
    await clock.advance(ms)


async def _call(house: House, token: str, command: str, args: dict[str, Any]) -> Any:
    return await house.call(house.identify(token), "den", command, args)


async def _play(house: House, tokens: dict[str, str], until: str) -> None:
    """Play until an action of this name is due; or, without one, once each."""
    for _ in range(20 if until else 1):
        for who, token in tokens.items():
            view = await _call(house, token, "view", {})
            if not view.your_turn or who == "host":
                continue
            choice = view.observation.choices[0]
            if choice["action"] == until:
                return
            await _call(house, token, "act", {"action": choice["action"], "params": choice["params"]})


@pytest.mark.sampled
@pytest.mark.parametrize("face", ["python", "http"])
@pytest.mark.parametrize(("plan", "who"), [(WHIST, "ann"), (SCENARIO, "athena")], ids=["whist", "kingdoms"])
async def test_a_film_does_not_depend_on_what_is_hidden(
    face: str, plan: dict[str, Any], who: str, tmp_path: Path
) -> None:
    heard, hidden = [], []
    for name in ("clear", "murky"):
        async with open_house(tmp_path / name, port=0, bridge_port=0) as house:
            tokens = await room_of(house, plan, other=name == "murky")
            hidden.append(house.rooms["den"].room.world.snapshot())
            async with doors(face, house, tmp_path) as door, door(tokens[who]) as client:
                reply = msgspec.to_builtins(await client.call("film", {"frames": 30}))
            assert reply["next"] == ""
            assert len(reply["film"]["frames"]) > 3
            heard.append(json.dumps(reply, sort_keys=True))
    assert hidden[0] != hidden[1]
    assert heard[0] == heard[1]
