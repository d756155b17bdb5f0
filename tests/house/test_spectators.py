"""Rooms that are open to spectators: who sees everything some steps later, and what that closes."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from cohabit.errors import BadArgs, Busy, CohabitError, GameRejected, PermissionDenied
from cohabit.house.access.signing import SigningKey
from cohabit.house.films import delayed
from cohabit.house.house import House
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, GOD, HOST, OWL, Client, back_again, make_room, open_house, stored_room
from .test_own_data import with_key

EVE = {"id": "eve"}
"""An agent without a seat, who only watches."""


async def open_room(house: House, *agents: Any, delay: int = 3, **keys: Any) -> dict[str, Client]:
    keys = {"partial_intel": True, **keys}
    who = await make_room(house, *(agents or (ANN, BOB, HOST, EVE)), spectator_delay=delay, **keys)
    made = await who["hostess"]("watch_link")
    return {**who, "watchers": Client(house, "den", "watchers", made.token)}


async def seen(client: Client) -> str:
    clock: Any = client.house.clock
    await clock.advance(1_000)  # a view is kept for a second
    return str((await client("delayed_view")).text)


async def test_watchers_see_everything_exactly_so_many_steps_later() -> None:
    async with open_house() as house:
        who = await open_room(house)
        await who["ann"]("hide", {"n": 41})
        for _ in range(3):
            assert "41" not in await seen(who["watchers"])
            await who["bob"]("shout", {"text": "hello"})
        text = await seen(who["watchers"])
        assert "red keeps [41]" in text
        assert "hello" not in text  # it was said later
        film = (await who["watchers"]("film", {"seat": "all"})).film
        assert "red keeps [41]" in film.frames[-1].view["text"]
        assert "41" not in (await who["watchers"]("view")).text


async def test_the_delayed_view_says_how_many_steps_ago_it_was_so() -> None:
    async with open_house() as house:
        who = await open_room(house, GOD, ANN, BOB, HOST)
        early, clock = await who["watchers"]("delayed_view", {"data": True}), cast(FakeClock, house.clock)
        assert (early.steps_ago, early.id) == (None, "")
        for _ in range(5):
            await who["bob"]("shout", {"text": "hello"})
        await clock.advance(1_000)
        first = await who["watchers"]("delayed_view", {"data": True})
        assert (first.steps_ago, first.text.splitlines()[0]) == (3, "Everything, as it was 3 steps ago:")
        await who["bob"]("shout", {"text": "hello"})  # within the second for which a view is kept
        same = await who["watchers"]("delayed_view", {"data": True, "since": first.id})
        assert (same.steps_ago, same.text) == (4, "")
        await who["zeus"]("finish")
        assert (await seen(who["watchers"])).startswith("Everything, as it was 0 steps ago:")
        await who["zeus"]("rematch")
        await who["bob"]("shout", {"text": "hello"})
        assert (await seen(who["watchers"])).startswith("Everything, as it was 1 step ago:")


async def test_a_model_finds_the_two_commands_of_spectators_in_its_tools_once_they_are_of_use() -> None:
    async with open_house() as house:
        who = await open_room(house)

        async def tools(name: str) -> set[str]:
            listed = {info.name for info in (await who[name]("schemas")).commands if info.listed}
            return listed & {"spectate", "delayed_view"}

        assert (await tools("ann"), await tools("eve")) == (set(), {"spectate"})
        assert "- `spectate` makes you a spectator" in (await who["eve"]("introduction")).text
        assert "spectator:" not in (await who["ann"]("introduction")).text
        await who["eve"]("spectate")
        assert "delayed_view" in await tools("eve")


@pytest.mark.parametrize(
    ("world", "moves", "steps"),
    [
        ("whist", [("ann", "cut", {}) for _ in range(3)], 1),  # nobody else's turn comes by that
        ("Bids", [("ann", "bid", {"n": n}) for n in range(4)], 0),
        ("Bids", [("ann", "bid", {"n": 1}), ("bob", "bid", {"n": 2})], 1),
        ("Ticker", [("ann", "drop", {}) for _ in range(5)], 0),
    ],
    ids=["turns", "a round that goes on", "a round", "time"],
)
async def test_a_player_cannot_shorten_the_delay_by_acting_often(world: str, moves: Any, steps: int) -> None:
    async with open_house() as house:
        seats = [{"id": name, "role": "player", "claim": f"auto:{i}"} for i, name in enumerate(("ann", "bob"))]
        more = [{"id": name, "role": "player", "claim": f"auto:{i}"} for i, name in enumerate(("cat", "dan"), 2)]
        keys: Any = {"partial_intel": False}
        who = await open_room(house, *seats, *(more if world == "whist" else ()), HOST, world=world, delay=1000, **keys)
        state = house.rooms["den"].room.state
        await who["ann"]("pause") if world == "Ticker" else None
        before = state.slices["spectators"].steps
        for name, action, args in moves:
            try:
                await who[name]("act", {"action": action, "params": args})
            except CohabitError as refused:
                assert refused.code in ("TURN_NOT_YOURS", "GAME_REJECTED")
        assert state.slices["spectators"].steps - before == steps


async def test_where_time_runs_by_itself_a_step_is_a_tick() -> None:
    async with open_house() as house:
        who = await open_room(house, world="Ticker", partial_intel=False, delay=30)
        clock: Any = house.clock
        for name in ("ann", "bob"):
            await who[name]("view")
        reader = await who["ann"].reader()  # time runs while somebody is there
        await clock.advance(10_000)
        tick = house.rooms["den"].room.state.tick
        assert tick >= 90
        shown = (await who["watchers"]("delayed_view", {"data": True})).view
        assert tick - 40 < shown["observation"]["status"]["ticks"] <= tick - 30
        reader.task.cancel()


async def test_a_player_and_who_looks_through_a_seat_are_no_spectators() -> None:
    async with open_house() as house:
        who = await open_room(house)
        for name in ("ann", "bob"):
            for command in ("spectate", "delayed_view"):
                with pytest.raises((GameRejected, PermissionDenied)):
                    await who[name](command)
            with pytest.raises(PermissionDenied):
                await who[name]("film", {"seat": "all"})
        offered = {name: {line.name for line in (await who[name]("capabilities")).commands} for name in ("ann", "eve")}
        assert "spectate" in offered["eve"] - offered["ann"]
        request = (await who["eve"]("ask", {"through": "red"})).request
        await who["ann"]("allow", {"request": request})
        with pytest.raises(GameRejected, match="what a player sees"):
            await who["eve"]("spectate")


async def test_who_has_seen_a_game_as_a_spectator_plays_in_the_next_one_only() -> None:
    async with open_house() as house:
        who = await open_room(house)
        await who["eve"]("spectate")
        await who["hostess"]("widen", {"member": "eve", "may": ["act", "read_own"]})
        for args in ({}, {"seat": "green"}, {"seat": "red"}):
            with pytest.raises(GameRejected):
                await who["eve"]("sit", args)
        assert house.rooms["den"].room.state.members["eve"].seat is None
        await cast(FakeClock, house.clock).advance(1_000)
        await who["eve"]("spectate", {"off": True})
        await who["hostess"]("remove_member", {"member": "bob"})
        with pytest.raises(GameRejected, match=r"in this game|spectator"):
            await who["eve"]("sit", {"seat": "blue"})
        await who["hostess"]("rematch")
        assert (await who["eve"]("sit", {"seat": "blue"})).seat == "blue"
        with pytest.raises(PermissionDenied):
            await who["eve"]("delayed_view")


async def test_somebody_who_only_watches_fills_neither_the_record_nor_the_news_of_others_by_changing_its_mind() -> None:
    async with open_house() as house:
        who, clock = await open_room(house), cast(FakeClock, house.clock)
        record = house.rooms["den"].room.record
        before, told = record.seq, await who["ann"].reader()
        for n in range(20):
            try:
                await who["eve"]("spectate", {"off": n % 2 == 1})
            except Busy as refused:
                assert refused.details["retry_after_s"] == 1
        assert record.seq - before <= 2  # and that ann is there
        for off in (True, False, True, False):
            await clock.advance(1_000)
            assert (await who["eve"]("spectate", {"off": off})).spectating is not off
        assert [item["text"] for item in told.items() if "spectator" in item["text"]] == ["eve watches as a spectator"]
        assert (await who["eve"]("delayed_view")).text
        told.task.cancel()


async def test_a_finished_game_is_shown_at_once_and_the_next_one_is_not() -> None:
    async with open_house() as house:
        who = await open_room(house, ANN, BOB, HOST, GOD, delay=5)
        await who["ann"]("hide", {"n": 41})
        assert "41" not in await seen(who["watchers"])
        await who["zeus"]("finish")
        assert "red keeps [41]" in await seen(who["watchers"])
        await who["zeus"]("rematch")
        await who["ann"]("hide", {"n": 710_057})
        text = await seen(who["watchers"])
        assert "41" in text
        assert "710057" not in text + str(await who["watchers"]("film", {"seat": "all"}))
        for _ in range(5):
            await who["bob"]("shout", {"text": "hello"})
        assert "red keeps [710057]" in await seen(who["watchers"])


async def test_a_game_that_was_seen_does_not_come_back(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await open_room(house, ANN, BOB, HOST, GOD)
        await who["zeus"]("save_world", {"name": "early"})
        for name in ("hostess", "zeus"):
            with pytest.raises(GameRejected, match="rematch"):
                await who[name]("reset", {})
            with pytest.raises(GameRejected, match="rematch"):
                await who[name]("load_world", {"name": "early"})
        with pytest.raises(GameRejected, match="rematch"):
            await who["zeus"]("reset", {"seed": 7})
        await who["zeus"]("rematch")


async def test_everybody_is_told_and_nothing_opens_a_room_later() -> None:
    async with open_house() as house:
        who = await open_room(house)
        for name in ("ann", "eve"):
            assert "open to spectators" in (await who[name]("session_info")).notice
            assert "3 steps later" in (await who[name]("rules")).text
        closed = await make_room(house, ANN, BOB, HOST, EVE, room="closed", partial_intel=True)
        with pytest.raises(GameRejected, match="when the room is created"):
            await closed["eve"]("spectate")
        assert "spectate" not in {line.name for line in (await closed["eve"]("capabilities")).commands}
        with pytest.raises(BadArgs):
            await closed["hostess"]("set_entry", {"spectator_delay": 3})


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"spectator_delay": 0}, "at least 1"), ({"spectator_delay": 10_001}, "at most"),
        ({"spectator_delay": 5, "partial_intel": False}, "nothing is hidden"),
        ({"spectator_delay": 5, "world": "crafter_shared"}, "arrive"),
    ],
)  # fmt: skip
async def test_a_delay_that_makes_no_sense_is_refused(keys: dict[str, Any], problem: str) -> None:
    async with open_house() as house:
        with pytest.raises(BadArgs, match=problem):
            await make_room(house, **{"partial_intel": True, **keys})
        assert "den" not in house.rooms


async def test_the_host_of_a_house_opens_a_room_to_spectators_when_it_creates_it() -> None:
    async with open_house() as house:
        host = house.identify(house.operator_token())
        made = await house.call(
            host,
            None,
            "create_room",
            {"world": "whist", "players": ["ann", "bob", "cat", "dan"], "spectator_delay": 52},
        )
        ann = Client(house, made.room, "ann", made.tokens["ann"])
        assert "52 steps later" in (await ann("session_info")).notice


async def test_spectators_see_the_same_after_a_restart_and_the_record_replays(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await open_room(house)
        await who["eve"]("spectate")
        await who["ann"]("hide", {"n": 41})
        for _ in range(2):
            await who["bob"]("shout", {"text": "hello"})
        before = await seen(who["eve"])
    async with open_house(tmp_path) as house:
        who = back_again(house, who)
        assert await seen(who["eve"]) == await seen(who["watchers"]) == before
        await who["bob"]("shout", {"text": "hello"})
        assert "41" in await seen(who["eve"])
        digest = house.rooms["den"].room.digest()
    assert stored_room(tmp_path).digest() == digest


async def test_a_long_delay_is_never_shorter_than_it_says_and_little_longer() -> None:
    async with open_house() as house:
        who = await open_room(house, delay=300)
        room = house.rooms["den"].room
        for n in range(400):
            await who["bob"]("shout", {"text": f"{n}"})
            member = room.state.members["watchers"]
            (until,) = {feature.full_view_until(room, member) for feature in room.hooks["full_view_until"]}
            kept = room.state.slices["spectators"]
            assert until == -1 or 300 <= kept.steps - kept.marks[0][0] < 300 + 3
            assert (until == -1) == (n < 299)
            assert len(kept.marks) < 200


async def test_old_cursors_and_times_lead_to_nothing_newer() -> None:
    """A member who saw everything, and then only what spectators see."""
    async with open_house() as house:
        who = await open_room(house, ANN, BOB, HOST, GOD, {**OWL, "role": "god", "id": "odin"}, sealed=False)
        for n in range(6):
            await who["ann"]("hide", {"n": 710_040 + n})
        args = {"seat": "all", "frames": 2}
        cursor, cursors = "", [""]
        while cursor := (await who["odin"]("film", {**args, "cursor": cursor})).next:
            cursors.append(cursor)
        await who["zeus"]("narrow", {"member": "odin", "may": ["read_all", "act", "act_global"]})
        await who["odin"]("spectate")
        tried = [{"cursor": cursor} for cursor in cursors]
        tried += [{"first": at, "last": last} for at in (0, 1, 10**12, 10**15) for last in (None, 0, 10**15)]
        for more in tried:
            page = await who["odin"]("film", {**args, **more})
            shown = json.dumps([frame.view for frame in page.film.frames], default=str)
            assert not any(str(710_040 + n) in shown for n in (3, 4, 5)), more
        assert "710042" in str((await who["odin"]("film", {"seat": "all"})).film)


async def test_many_spectators_who_ask_at_once_cost_one_view(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = delayed._make

    async def counted(ctx: Any, until: int) -> Any:
        made.append(until)
        return await make(ctx, until)

    monkeypatch.setattr(delayed, "_make", counted)
    async with open_house() as house:
        who = await open_room(house)
        for _ in range(5):
            await who["bob"]("shout", {"text": "hello"})
        replies = await asyncio.gather(*(who["watchers"]("delayed_view") for _ in range(50)))
        assert len({reply.id for reply in replies}) == 1
        await who["bob"]("shout", {"text": "hello"})
        await who["watchers"]("delayed_view")  # within the second
        assert len(made) == 1


def test_a_scenario_file_opens_a_room() -> None:
    plan = parse_scenario('{"world": "whist", "agents": [{"id": "a"}], "spectator_delay": 52}')
    assert plan.spectator_delay == 52


async def test_a_spectator_that_deletes_its_data_does_not_come_back_as_a_player_of_this_game(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        host, key = (await open_room(house))["hostess"], SigningKey.generate()
        await host("set_entry", {"agent_keys": [{"key": key.public_jwk, "may": ["act", "watch", "read_own"]}]})
        owl = await with_key(house, key, "den", "owl")
        await owl("spectate")
        await owl("forget_me", {"confirm": "owl"})
        clock: Any = house.clock
        await clock.advance(house.settings.away_ms + 1_000)
        await house.retention.sweep()
        with pytest.raises(PermissionDenied, match="in this game before its data was deleted"):
            await with_key(house, key, "den", "owl")
        await host("rematch")
        assert (await with_key(house, key, "den", "owl")).who == "owl"
    assert stored_room(tmp_path).state.games == 2
