"""What a house puts into words: lines of the log about overload, and the introduction in unusual rooms."""

import logging
from typing import Annotated

import pytest
from msgspec import Meta

from cohabit.house.calls.command_list import describe
from cohabit.house.overload import LOG_EVERY_MS, OverloadLog
from cohabit.house.reading import introduction
from cohabit.model.tool_names import ToolNames
from cohabit.room.base import Context
from cohabit.room.commands import command, command_of
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, OWL, Client, issue, make_room, open_house


async def test_of_many_refusals_of_a_kind_one_line_a_while_is_logged_with_their_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    counted = OverloadLog(clock)

    def lines() -> list[str]:
        found = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        caplog.clear()
        return found

    counted.add("login", "192.0.2.1")
    counted.add("url")
    assert lines() == [
        "a login failed: the token is missing, unknown, revoked or expired [192.0.2.1]",
        "a request was refused: its address is too long (url_limit)",
    ]
    counted.add("login", "192.0.2.2", 3)
    await clock.advance(LOG_EVERY_MS - 1)
    counted.add("login")
    assert lines() == []
    await clock.advance(1)
    counted.add("login", "192.0.2.3")
    assert [line.rpartition("expired")[2] for line in lines()] == [" [192.0.2.3]; 5 times since the last line"]
    await clock.advance(LOG_EVERY_MS)
    counted.add("login")
    assert [line.rpartition("expired")[2] for line in lines()] == [""]
    assert (counted.counts["login"], counted.counts["url"], counted.counts["late"]) == (7, 1, 0)
    counted.add("calls", "den", 2)
    assert [line.partition("BUSY")[2] for line in lines()] == [" (calls_per_second) [den]; 2 times since the last line"]


async def test_where_turns_are_taken_nobody_is_told_that_time_runs_by_itself() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, world="Ticker", turn_based=True)
        assert "Time " not in (await who["ann"]("introduction")).text


async def test_a_brief_introduction_leaves_out_what_the_rules_say_and_the_note_for_watchers() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, OWL, world="nim")
        for name in ("ann", "owl"):
            whole, brief = await who[name]("introduction"), await who[name]("introduction", {"brief": True})
            assert "takes the last one wins" in whole.text
            assert "takes the last one wins" not in brief.text
            assert brief.text.startswith(introduction.INTRO_TEXT)
            assert introduction.SAFETY_TEXT in brief.text
        watcher = await who["owl"]("introduction")
        assert watcher.note
        assert watcher.note in watcher.text
        assert watcher.note not in (await who["owl"]("introduction", {"brief": True})).text
        assert not (await who["ann"]("introduction")).note


async def test_a_member_of_a_team_and_one_that_has_not_joined_are_told_so() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, teams={"red": ["ann"]})
        assert "(role player, seat red, team red)" in (await who["ann"]("introduction")).text
        assert "(role player, seat blue)" in (await who["bob"]("introduction")).text
        boss = await issue(house, "boss", host=True)
        assert "You are not in room 'den' yet." in (await boss("introduction")).text


async def test_of_many_rooms_some_are_named_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(introduction, "ROOMS_NAMED", 2)
    async with open_house() as house:
        boss = await issue(house, "boss", host=True)
        everywhere = Client(house, "", "boss", boss.token)
        for name, told in (("a", "You are in: a (nim)."), ("b", "You are in: a (nim), b (nim)."),
                           ("c", "You are in: a (nim), b (nim) and 1 more.")):  # fmt: skip
            await make_room(house, ANN, BOB, world="nim", room=name)
            await Client(house, name, "boss", boss.token)("join")
            assert told in (await everywhere("introduction")).text


def test_the_description_of_an_argument_names_commands_as_they_are_called() -> None:
    @command(category="meta")
    def poll(ctx: Context, since: Annotated[str, Meta(description="the id of an earlier `view`")] = "") -> None:
        """Like `view`."""

    renamed = command_of(poll).renamed(ToolNames("box_", frozenset({"poll", "view"})))
    described = describe(renamed)
    assert (described.name, described.tool_name, described.description) == ("poll", "box_poll", "Like `box_view`.")
    assert described.schema["properties"]["since"]["description"] == "the id of an earlier `box_view`"
