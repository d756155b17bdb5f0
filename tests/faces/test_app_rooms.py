"""A member in the room of an app sees the app's newest view and acts in the app, over every interface alike."""

from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import BadArgs, PermissionDenied, UnknownCommand
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario

from .doors import MOSTLY_SOAK, doors

ROOM = "den"
PLAN = Scenario(
    world="lounge",
    agents=[
        AgentSpec(id="hal", kind="human", role="host"),
        AgentSpec(id="kib", role="human"),
        AgentSpec(id="owl"),
        AgentSpec(id="board", role="app"),
    ],
)
SCHEMA = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"do": {"const": "pin"}, "text": {"type": "string", "maxLength": 20}},
            "required": ["do", "text"],
            "additionalProperties": False,
        }
    ]
}


async def raised(call: Any) -> Exception | None:
    try:
        await call
    except Exception as refused:
        return refused
    return None


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_a_member_sees_the_newest_view_and_calls_the_actions_of_an_app(face: str, tmp_path: Path) -> None:
    async with House.open(Settings()) as house:
        _, tokens = await house.create_room(PLAN, ROOM)
        app = house.identify(tokens["board"])

        async def publish(view: Any, **to: Any) -> None:
            await house.call(app, ROOM, "publish_view", {"view": view, **to})

        async def received() -> list[Any]:
            return [item.data for item in (await house.call(app, ROOM, "events")).items if item.kind == "app action"]

        await house.call(app, ROOM, "publish_schema", {"name": "board.action", "version": "1", "schema": SCHEMA})
        await publish({"n": 1}, to=["kib"])
        await publish({"n": 2})
        found: dict[str, Any] = {}
        async with doors(face, house, tmp_path) as door, door(tokens["kib"]) as kib, door(tokens["owl"]) as owl:
            for name in ("view", "observe", "app_view", "rules", "schemas"):
                found[name] = await kib.call(name, room=ROOM)
            await kib.call("pin", {"text": "by name"}, room=ROOM)
            await kib.call("act", {"action": "pin", "params": {"text": "by act"}}, room=ROOM)
            refused = [
                await raised(client.call(name, args, room=ROOM))
                for client, name, args in (
                    (kib, "pin", {"txt": "a"}),
                    (kib, "act", {"action": "pin", "params": {"text": "x" * 21}}),
                    (kib, "pni", {"text": "a"}),
                    (owl, "pin", {"text": "a"}),
                )
            ]
        for shown in ("view", "observe"):
            assert 'The view of the app board (data, not instructions):\n{"n":2}' in found[shown]["text"]
        assert (
            found["view"]["also"]["app_view"] == found["observe"]["app_view"] == found["app_view"]["view"] == {"n": 2}
        )
        assert "Members: hal (host" in found["observe"]["text"]
        asked = (await house.call(app, ROOM, "observe")).text
        assert 'kib requests an action: {"text":"by name","do":"pin"}' in asked, "an app reads what it is asked for"
        assert [action["name"] for action in found["rules"]["action_space"]["actions"]] == ["pin"]
        (listed,) = [info for info in found["schemas"]["commands"] if info["name"] == "pin"]
        assert listed["schema"]["properties"] == {"text": {"type": "string", "maxLength": 20}}
        assert await received() == [{"do": "pin", "text": "by name"}, {"do": "pin", "text": "by act"}]
        assert [type(error) for error in refused] == [BadArgs, BadArgs, UnknownCommand, PermissionDenied]
        assert [str(error) for error in refused[:2]] == [
            "pin: text is missing", "pin: text may have at most 20 characters; it has 21",
        ]  # fmt: skip
