"""``StarboundAdapter``, used as the text of WSAP describes an adapter: synchronous, one game, one agent."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from tests.starbound.games import VIEW, Game, a_bridge, obedient

from cohabit.adapter import arguments_of, is_adapter
from cohabit.errors import BadArgs, Unreachable
from cohabit.protocols.starbound.actions import ACTIONS, type_of
from cohabit.protocols.starbound.adapter import StarboundAdapter
from cohabit.protocols.starbound.bridge import TIMEOUT_MS
from cohabit.protocols.wsap import Action, GameAdapter, system_message

PUBLISHED = {
    "move_left", "move_right", "jump", "drop", "warp", "beam_up", "beam_down", "interact", "use_tool", "attack",
    "alt_attack", "equip", "unequip", "consume", "drop_item", "craft", "open_crafting", "say", "emote", "check_quest",
    "track_quest", "use_tech", "wait", "look",
}  # fmt: skip


async def in_a_script(script: Callable[[], Any]) -> Any:
    """Run a synchronous script beside the bridge."""
    return await asyncio.to_thread(script)


def test_it_has_the_24_published_actions_and_those_of_the_protocols_text() -> None:
    assert set(ACTIONS.names()) == PUBLISHED | {"move", "use_item"}
    assert len(PUBLISHED) == 24
    for action in ACTIONS.actions:
        assert action.description
        arguments_of(action.name, action, type_of)


def test_it_is_an_adapter_as_the_protocol_defines_it() -> None:
    assert is_adapter(StarboundAdapter)
    for name in ("observe", "act", "reset"):
        assert (
            inspect.signature(getattr(StarboundAdapter, name)).parameters.keys()
            == inspect.signature(getattr(GameAdapter, name)).parameters.keys()
        )


async def test_a_script_written_from_the_protocol_plays() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game:

        def script() -> Any:
            adapter = StarboundAdapter(served.url, token=served.token)
            assert adapter.is_connected()
            prompt = system_message("Starbound", adapter.game_description, adapter.action_space)
            first = adapter.reset()
            result = adapter.act(Action("move", {"direction": "left"}, "to look around"))
            found = (adapter.inventory(), adapter.quests()[0]["id"], adapter.world()["world_name"])
            adapter.close()
            return prompt, first, result, found

        prompt, first, result, found = await in_a_script(script)
        assert "move [movement]" in str(prompt)
        assert first.status["health"] == 80
        assert (result.success, result.message, result.reward, result.done) == (True, "did move", 0.5, False)
        assert (result.observation.step, result.observation.location.coordinates) == (1, (10.0, 20.0))
        assert found == ({"dirt": 3}, "q1", "Gaia")
        assert [c["type"] for c in game.seen] == ["reset", "observe", "act", "observe"]


async def test_an_action_without_an_answer_is_a_failed_action() -> None:
    async with a_bridge() as served, Game(served, obedient).playing() as game:
        game.is_mute = True
        adapter = StarboundAdapter(served.url, token=served.token)
        acting = asyncio.ensure_future(in_a_script(lambda: adapter.act(Action("jump"))))
        while not game.seen:
            await asyncio.sleep(0)
        await served.clock.advance(TIMEOUT_MS)
        result = await acting
        assert (result.success, "may or may not have been executed" in result.message) == (False, True)
        adapter.close()


async def test_what_is_wrong_is_said() -> None:
    async with a_bridge() as served:
        adapter = StarboundAdapter(served.url, token="wrong")
        for wrong, script in (
            ("token of the bridge", adapter.observe),
            ("no action 'fly'", lambda: adapter.act(Action("fly"))),
        ):
            with pytest.raises(Exception, match=wrong):
                await in_a_script(script)
        adapter.close()
    nowhere = StarboundAdapter("http://localhost:1")
    assert not nowhere.is_connected()
    with pytest.raises(Unreachable, match="is it running"):
        nowhere.observe()
    nowhere.close()
    assert issubclass(BadArgs, Exception)


async def test_events_of_an_action_are_in_the_next_observation() -> None:
    def answer(command: dict[str, Any]) -> Any:
        done = {
            "success": True,
            "events": ["a door opens", {"description": "it bites", "type": "danger"}],
            "observation": VIEW,
        }
        return done if command["type"] == "act" else VIEW

    async with a_bridge() as served, Game(served, answer).playing():
        adapter = StarboundAdapter(served.url, token=served.token)
        result = await in_a_script(lambda: adapter.act(Action("interact")))
        assert [e.to_text() for e in result.observation.recent_events] == ["a door opens", "danger: it bites"]
        adapter.close()
