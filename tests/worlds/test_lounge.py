"""The lounge: a room in which members talk and share apps, and nothing is played."""

import pytest
from tests.room.making import HOST, PERSON, make_room

from cohabit.errors import PermissionDenied
from cohabit.house.calls.command_list import describe, list_commands
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.room.room import Room
from cohabit.scenario import read_scenario


def lounge() -> Room:
    return make_room(HOST, PERSON, {"id": "board", "role": "app"}, world="lounge")


def test_the_lounge_has_no_seats_no_actions_and_no_end() -> None:
    room = lounge()
    assert not room.seats
    assert not [command for command in room.commands if command.where == "world"]
    assert not room.is_over()


def test_members_of_the_lounge_talk_and_share_an_app() -> None:
    room = lounge()
    room.call("pat", "say", {"text": "hello"}, at=1)
    assert room.call("hostess", "recv_messages", at=2).items[0]["content"] == "hello"
    room.call("board", "publish_view", {"view": {"lines": 1}}, at=3)
    assert room.call("pat", "app_view", at=4).view == {"lines": 1}
    assert room.call("pat", "request_action", {"action": {"draw": 1}}, at=5).apps == ["board"]


@pytest.mark.parametrize("role", ["player", "narrator", "human"])
def test_what_is_said_of_say_is_what_its_caller_may_do(role: str) -> None:
    room = make_room(HOST, {"id": "pat", "role": role}, world="lounge")
    info = describe(room.commands.named("say"), room.state.require_member("pat").held)
    tries = {
        "To a member or your team: pass `to`.": {"text": "hello", "to": "hostess"},
        "To everyone if `to` is left out.": {"text": "hello"},
    }
    for sentence, args in tries.items():
        try:
            room.call("pat", "say", args, at=1)
            allowed = True
        except PermissionDenied:
            allowed = False
        assert ((sentence in info.hint), (sentence in info.description)) == (allowed, allowed)


async def test_the_short_list_of_tools_has_observe_and_say_where_nobody_plays() -> None:
    async with House.open(Settings()) as house:
        _, tokens = await house.create_room(read_scenario("lounge"), "lounge")
        _, players = await house.create_room(read_scenario("demo"), "demo")
        listed = {
            info.name for info in list_commands(house.services, house.identify(tokens["host"]), "lounge") if info.listed
        }
        assert {"observe", "say"} <= listed
        playing = list_commands(house.services, house.identify(next(iter(players.values()))), "demo")
        assert {info.name: info.listed for info in playing if info.name in ("observe", "say")} == {
            "observe": False, "say": False,
        }  # fmt: skip
