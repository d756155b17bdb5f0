"""The link with which anybody watches a room: one token for all of them, which shows what is public and does nothing."""

from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import CohabitError, Conflict, PermissionDenied, Unauthorized

from .making import ANN, BOB, HOST, Client, make_room, open_house


async def watch(host: Client, **args: Any) -> Client:
    made = await host("watch_link", args)
    assert made.link == f"/?room=den#{made.token}"
    return Client(host.house, host.room, "watchers", made.token)


async def test_whoever_has_the_link_watches_without_a_name_also_after_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, partial_intel=True)
        await who["ann"]("hide", {"n": 710_041})
        await who["ann"]("shout", {"text": "hello"})
        anybody = await watch(who["hostess"])
        assert "red: hello" in (await anybody("view")).text
        assert "710041" not in repr([await anybody(command) for command in ("view", "events", "numbers")])
        assert (await anybody("whoami")).handle == "watchers"
    async with open_house(tmp_path) as house:
        assert (await Client(house, "den", "watchers", anybody.token)("whoami")).handle == "watchers"


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("rotate_token", {}), ("leave", {}), ("forget_me", {"confirm": "watchers"}), ("shout", {"text": "hey"}),
        ("act", {"action": "shout", "params": {"text": "hey"}}), ("send_message", {"to": "ann", "content": "hey"}),
        ("ask", {"through": "red"}), ("sit", {}), ("report", {"member": "ann", "reason": "x"}), ("join", {}),
    ],
)  # fmt: skip
async def test_the_link_changes_nothing_so_that_nobody_takes_it_away_from_the_others(command: str, args: Any) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        anybody = await watch(who["hostess"])
        before = house.rooms["den"].room.record.seq
        with pytest.raises(CohabitError) as refusal:
            await anybody(command, args)
        assert refusal.value.code in ("PERMISSION_DENIED", "UNKNOWN_COMMAND")
        assert house.rooms["den"].room.record.seq == before


async def test_there_is_one_link_and_a_host_ends_it() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        first = await watch(who["hostess"])
        second = await watch(who["hostess"])
        with pytest.raises(Unauthorized):
            await first("view")
        await second("view")
        assert [line.members for line in (await who["hostess"]("invites")).invites] == [["watchers"]]
        await who["hostess"]("watch_link", {"off": True})
        with pytest.raises(Unauthorized):
            await second("view")
        assert "watchers" not in [line.handle for line in (await who["hostess"]("roster")).members]


async def test_only_those_who_manage_members_make_the_link() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        with pytest.raises(PermissionDenied):
            await who["ann"]("watch_link")


@pytest.mark.parametrize(
    ("command", "args", "refusal"),
    [
        ("set_entry", {"lobby": True}, Conflict), ("set_entry", {"locked": True}, Conflict),
        ("narrow", {"member": "hostess", "may": ["see_screen"]}, PermissionDenied),
    ],
)  # fmt: skip
async def test_a_refused_link_leaves_the_old_one_and_no_new_invite(
    command: str, args: Any, refusal: type[CohabitError]
) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        anybody = await watch(who["hostess"])
        await who["hostess"](command, args)
        before = house.rooms["den"].room.record.seq
        with pytest.raises(refusal):
            await who["hostess"]("watch_link")
        assert house.rooms["den"].room.record.seq == before
        assert [line.members for line in (await who["hostess"]("invites")).invites] == [["watchers"]]
        assert (await anybody("whoami")).handle == "watchers"
        await who["hostess"]("watch_link", {"off": True})
