"""A room around a world that is elsewhere: what leaves, what is recorded, and the bad days."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from cohabit.errors import BadArgs, Busy, CohabitError, OutcomeUnknown, by_code
from cohabit.house import remote
from cohabit.house.bridge import LOOK_MS, TIMEOUT_MS, Bridge, checked_url
from cohabit.house.house import House
from cohabit.house.remote import RemoteHost
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.testing.clock import FakeClock

from .making import (
    OWL,
    TOKENS_MADE,
    Client,
    HeldStore,
    back_again,
    deeds,
    make_room,
    open_house,
    player,
    recorded,
    remote_den,
    stored_room,  # fmt: skip
)
from .oldbridge import TOKEN, OldBridge, Refuses, kingdom

ANN, BOB, ZEUS = player("ann", 0), player("bob", 1), {"id": "zeus", "role": "god"}
SPAWN = {"entity_id": "human", "x": 12, "y": 12, "count": 2}
RAIN = {"power_id": "rain", "x": 1, "y": 1}


class Table(NamedTuple):
    """A house with a room around a game; ann holds kingdom 4 (people), bob kingdom 9 (orcs), zeus is a god."""

    game: OldBridge
    house: House
    clock: FakeClock
    who: dict[str, Client]

    @property
    def host(self) -> RemoteHost:
        return remote_den(self.house)

    def recorded(self, *dos: str) -> list[Any]:
        return recorded(self.host, *dos)


@asynccontextmanager
async def table(
    folder: Path | None = None, version: str = "0.7.0", store: Any = None, reached: bool = True, **keys: Any
) -> AsyncIterator[Table]:
    clock = FakeClock()
    async with OldBridge.open(version) as game, open_house(folder, store=store, clock=clock) as house:
        TOKENS_MADE.append(TOKEN)
        keys = {"partial_intel": True, **keys}
        who = await make_room(house, ANN, BOB, ZEUS, OWL, world="worldbox", **keys)
        if reached:
            await house.reach("den", Bridge(game.url, TOKEN, clock))
        game.asked.clear()
        while not game.arrivals.empty():
            game.arrivals.get_nowait()
        yield Table(game, house, clock, who)


async def refused(asked: Any) -> CohabitError:
    with pytest.raises(CohabitError) as wrong:
        await asked
    return wrong.value


async def until(game: OldBridge, name: str) -> None:
    """Wait until this has arrived over there."""
    while await game.arrivals.get() != name:
        pass


# -- what goes there and comes back -------------------------------------------------------------
async def test_claims_bind_to_the_crowned_kingdoms_in_the_order_of_their_ids() -> None:
    async with table() as t:
        assert [(await t.who[n]("whoami")).claimed_kingdom_id for n in ("ann", "bob", "zeus")] == [4, 9, None]
        assert [s.id for s in t.host.room.state.seats] == ["4", "9"]


async def test_an_action_reaches_the_game_as_it_was_asked_and_its_answer_is_the_reply() -> None:
    async with table() as t:
        answer = await t.who["zeus"]("invoke_power", RAIN)
        assert answer == {**RAIN, "accepted": True}
        assert t.game.done == [("invoke_power", RAIN)]


async def test_an_action_is_on_record_before_it_leaves_and_its_answer_after() -> None:
    async with table() as t:
        t.game.mood("pause", "hold")
        asked = asyncio.ensure_future(t.who["ann"]("pause", key="k"))
        await until(t.game, "pause")
        assert [e.do for e in t.recorded("asked", "answered")] == ["asked"]
        assert t.host.durable_seq >= t.recorded("asked")[0].seq
        t.game.release()
        assert (await asked)["paused"] is True
        assert "time stands still" in (await t.who["ann"]("view")).text
        assert t.recorded("answered")[0].args == {"result": {"previous_paused": False, "paused": True}}


async def test_act_and_the_command_are_the_same_thing_and_the_reasoning_is_recorded() -> None:
    async with table() as t:
        done = await t.who["ann"]("act", {"action": "spawn", "params": SPAWN, "reasoning": "we are few"})
        assert done.success
        assert done.data["spawned"] == 2
        assert "yours" in done.observation.text
        assert t.recorded("asked")[0].args["why"] == "we are few"


async def test_a_question_is_not_recorded() -> None:
    async with table() as t:
        before = t.host.room.record.seq
        assert (await t.who["zeus"]("list_powers"))["count"] == 2
        assert (await t.who["owl"]("screenshot"))["base64"] == "aGk="
        assert t.host.room.record.seq == before


async def test_the_worlds_own_save_wins_over_that_of_the_house(tmp_path: Path) -> None:
    async with table(tmp_path) as t:
        assert (await t.who["zeus"]("save_world", {"folder": "save1"}))["saved"] is True
        assert t.game.names() == ["save_world"]
        offered = t.house.commands_for(t.house.identify(t.who["zeus"].token), "den")
        assert [c.tool_name for c in offered if c.name == "save_world"] == ["worldbox_save_world"]
        assert not [c for c in offered if c.name in ("reset", "rematch")]


async def test_a_save_of_megabytes_is_sent_and_not_put_on_record() -> None:
    async with table() as t:
        whole = "A" * 300_000
        await t.who["zeus"]("load_world", {"bytes_b64": whole}, key="k")
        assert t.game.done[0][1] == {"bytes_b64": whole}
        assert t.recorded("asked")[0].args["args"] == {"bytes_b64": "(300000 characters)"}
        await t.who["zeus"]("load_world", {"bytes_b64": whole}, key="k")
        assert (await refused(t.who["zeus"]("load_world", {"bytes_b64": whole[1:]}, key="k"))).code == "CONFLICT"
        too_much = await refused(t.who["zeus"]("load_world", {"bytes_b64": "A" * 4_200_000}))
        assert too_much.code == "TOO_LARGE"
        assert len(t.game.done) == 1


# -- what never leaves --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("who", "command", "args", "code"),
    [
        ("ann", "paint_tile", {"x": 1, "y": 1, "tile_id": "sand"}, "PERMISSION_DENIED"),
        ("ann", "invoke_power", RAIN, "PERMISSION_DENIED"),
        ("ann", "generate_world", {}, "PERMISSION_DENIED"),
        ("ann", "screenshot", {}, "PERMISSION_DENIED"),
        ("owl", "pause", {}, "PERMISSION_DENIED"),
        ("ann", "spawn", {**SPAWN, "count": 1000}, "BAD_ARGS"),
        ("zeus", "spawn", {"entity_id": "wolf"}, "BAD_ARGS"),
        ("ann", "spawn", {**SPAWN, "entity_id": "dragon"}, "SCOPE_VIOLATION"),
        ("ann", "act", {"action": "spawn", "params": {**SPAWN, "entity_id": "orc"}}, "SCOPE_VIOLATION"),
        ("ann", "act", {"action": 3}, "BAD_ARGS"),
        ("ann", "declare_war", {"kingdom_id": 9}, "UNKNOWN_COMMAND"),
    ],
)
async def test_what_the_room_refuses_never_reaches_the_game(who: str, command: str, args: Any, code: str) -> None:
    async with table() as t:
        assert (await refused(t.who[who](command, args))).code == code
        assert t.game.asked == []
        assert t.host.room.audit.kept[-1].code == code


async def test_a_kingdom_may_call_its_people_only_near_some_of_them() -> None:
    async with table() as t:
        far = await refused(t.who["ann"]("spawn", {**SPAWN, "x": 100}))
        assert far.code == "SCOPE_VIOLATION"
        assert [name for name, _ in t.game.asked] == ["query_actors"]
        assert t.host.room.audit.kept[-1].code == "SCOPE_VIOLATION"
        await t.who["ann"]("spawn", {**SPAWN, "x": 12 + 12, "y": 10 + 12})
        assert (await refused(t.who["ann"]("spawn", {**SPAWN, "x": 12 + 13}))).code == "SCOPE_VIOLATION"
        await t.who["zeus"]("spawn", {**SPAWN, "x": 100})
        assert t.game.names() == ["spawn", "spawn"]


async def test_who_may_act_anywhere_may_do_so_although_it_holds_a_kingdom() -> None:
    async with table() as t:
        await t.who["zeus"]("widen", {"member": "bob", "may": ["act_global"]})
        await t.who["bob"]("spawn", {**SPAWN, "entity_id": "dragon", "x": 60})
        assert [name for name, _ in t.game.asked] == ["spawn"]


async def test_who_is_not_in_turn_waits_and_nothing_is_sent() -> None:
    async with table(turn_based=True, turn_order=["ann", "bob"]) as t:
        assert (await refused(t.who["bob"]("pause"))).code == "TURN_NOT_YOURS"
        assert t.game.done == []
        await t.who["ann"]("turn_advance")
        await t.who["bob"]("pause")
        assert t.game.names() == ["pause"]


async def test_a_turn_that_ends_while_an_action_waits_takes_the_action_with_it() -> None:
    async with table(turn_based=True, turn_order=["ann", "bob"]) as t:
        t.game.mood("pause", "hold")
        first = asyncio.ensure_future(t.who["ann"]("pause"))
        await until(t.game, "pause")
        second = asyncio.ensure_future(t.who["ann"]("resume"))
        await t.who["ann"]("turn_advance")
        t.game.release()
        await first
        assert (await refused(second)).code == "TURN_NOT_YOURS"
        assert t.game.names() == ["pause"]


# -- order --------------------------------------------------------------------------------------
async def test_actions_leave_one_at_a_time_and_in_order_and_questions_pass_them() -> None:
    async with table() as t:
        t.game.mood("invoke_power", "hold")
        asked = [asyncio.ensure_future(t.who["zeus"]("invoke_power", {**RAIN, "x": x})) for x in range(8)]
        await until(t.game, "invoke_power")
        assert (await t.who["ann"]("list_cities"))["count"] == 1
        assert (await t.who["ann"]("send_message", {"to": "bob", "content": "hello"})).recipients == ["bob"]
        assert [name for name, _ in t.game.asked].count("invoke_power") == 1
        t.game.release()
        await asyncio.gather(*asked)
        assert [args["x"] for _, args in t.game.done] == list(range(8))
        assert t.game.most_at_once <= 2


async def test_more_than_so_many_that_wait_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_WAITING", 2)
    async with table() as t:
        t.game.mood("pause", "hold")
        first, second = (asyncio.ensure_future(t.who["zeus"](name)) for name in ("pause", "resume"))
        await until(t.game, "pause")
        with pytest.raises(Busy):
            await t.who["ann"]("pause")
        t.game.release()
        await asyncio.gather(first, second)


async def test_a_caller_who_hangs_up_does_not_stop_what_was_sent() -> None:
    async with table() as t:
        t.game.mood("pause", "hold")
        asked = asyncio.ensure_future(t.who["ann"]("pause"))
        await until(t.game, "pause")
        asked.cancel()
        t.game.release()
        await t.who["ann"]("resume")
        assert [e.do for e in t.recorded("asked", "answered")] == ["asked", "answered"] * 2


# -- keys ---------------------------------------------------------------------------------------
async def test_the_same_key_is_answered_again_and_done_once() -> None:
    async with table() as t:
        first = await t.who["ann"]("spawn", SPAWN, key="k")
        assert await t.who["ann"]("spawn", SPAWN, key="k") == first
        assert (await refused(t.who["ann"]("spawn", {**SPAWN, "count": 3}, key="k"))).code == "CONFLICT"
        assert t.game.names() == ["spawn"]


async def test_the_same_key_asked_twice_at_once_is_done_once() -> None:
    async with table() as t:
        both = await asyncio.gather(*(t.who["ann"]("spawn", SPAWN, key="k") for _ in range(2)))
        assert both[0] == both[1]
        assert t.game.names() == ["spawn"]


async def test_the_same_key_asked_again_while_the_game_is_at_it_waits_for_the_answer() -> None:
    async with table() as t:
        t.game.mood("spawn", "hold")
        first = asyncio.ensure_future(t.who["ann"]("spawn", SPAWN, key="k"))
        await until(t.game, "spawn")
        again = asyncio.ensure_future(t.who["ann"]("spawn", SPAWN, key="k"))
        assert await t.who["ann"]("whoami")
        t.game.release()
        assert await again == await first
        assert t.game.names() == ["spawn"]


async def test_the_same_key_asked_again_while_the_answer_gets_lost_is_unknown_too() -> None:
    async with table() as t:
        t.game.mood("spawn", "hold")
        asked = [asyncio.ensure_future(t.who["ann"]("spawn", SPAWN, key="k"))]
        await until(t.game, "spawn")
        asked.append(asyncio.ensure_future(t.who["ann"]("spawn", SPAWN, key="k")))
        assert await t.who["ann"]("whoami")
        await t.clock.advance(TIMEOUT_MS)
        assert [(await refused(each)).code for each in asked] == ["OUTCOME_UNKNOWN"] * 2
        t.game.release()


async def test_a_key_whose_answer_was_lost_says_so_for_ever_and_acts_no_second_time(tmp_path: Path) -> None:
    async with table(tmp_path) as t:
        t.game.mood("spawn", "drop")
        assert (await refused(t.who["ann"]("spawn", SPAWN, key="k"))).code == "OUTCOME_UNKNOWN"
        assert (await refused(t.who["ann"]("spawn", SPAWN, key="k"))).code == "OUTCOME_UNKNOWN"
        who = t.who
    async with open_house(tmp_path) as again:
        assert (await refused(back_again(again, who)["ann"]("spawn", SPAWN, key="k"))).code == "OUTCOME_UNKNOWN"
    assert t.game.names() == ["spawn"]


async def test_a_key_that_was_refused_over_there_can_be_used_again() -> None:
    async with table() as t:
        t.game.mood("spawn", Refuses("GAME_REJECTED", "not here"))
        assert (await refused(t.who["ann"]("spawn", SPAWN, key="k"))).code == "GAME_REJECTED"
        assert (await t.who["ann"]("spawn", SPAWN, key="k"))["spawned"] == 2


# -- the bad days -------------------------------------------------------------------------------
@pytest.mark.parametrize("mood", ["drop", "garbage", Refuses("WORLD_TIMEOUT", "60 s are over")])
async def test_an_answer_that_does_not_come_is_unknown_and_recorded_as_that(mood: Any) -> None:
    async with table() as t:
        t.game.mood("spawn", mood)
        assert (await refused(t.who["ann"]("spawn", SPAWN))).code == "OUTCOME_UNKNOWN"
        entry = t.recorded("answered")[0]
        assert entry.args["unknown"]
        assert entry.told[0].members == ("ann",)
        assert (await t.who["ann"]("spawn", SPAWN))["spawned"] == 2


async def test_a_game_that_is_silent_for_too_long_is_not_waited_for() -> None:
    async with table() as t:
        t.clock.between = None
        t.game.mood("spawn", "hold")
        asked = asyncio.ensure_future(t.who["zeus"]("spawn", SPAWN))
        await until(t.game, "spawn")
        await t.clock.advance(TIMEOUT_MS - 1)
        assert not asked.done()
        await t.clock.advance(1)
        assert (await refused(asked)).code == "OUTCOME_UNKNOWN"


@pytest.mark.parametrize("mood", ["drop", "garbage"])
async def test_a_question_that_is_not_answered_can_be_asked_again(mood: Any) -> None:
    async with table() as t:
        t.game.mood("list_powers", mood)
        assert (await refused(t.who["ann"]("list_powers"))).code == "UNREACHABLE"
        assert (await t.who["ann"]("list_powers"))["count"] == 2


async def test_what_cannot_be_sent_at_all_was_not_done_and_says_what_to_do() -> None:
    async with table() as t:
        await t.game.stop()
        lost = await refused(t.who["zeus"]("spawn", SPAWN, key="k"))
        assert lost.code == "UNREACHABLE"
        assert "is the game running?" in lost.message
        await t.game.start()
        assert (await t.who["zeus"]("spawn", SPAWN, key="k"))["spawned"] == 2


@pytest.mark.parametrize(
    ("mood", "code", "hints"),
    [
        (Refuses("GAME_REJECTED", "water"), "GAME_REJECTED", []),
        (Refuses("UNKNOWN_ASSET", "no such", did_you_mean=["human"]), "UNKNOWN_ASSET", ["human"]),
        (Refuses("OUT_OF_BOUNDS", "off the map"), "OUT_OF_BOUNDS", []),
        (Refuses("BUSY", "eight at once"), "BUSY", []),
        (Refuses("GAME_CRASH", "NullReference", exception={"stack_top": "secret"}), "GAME_CRASH", []),
        (Refuses("SOMETHING_NEW", "?"), "INTERNAL", []),
        (Refuses("DISABLED", "enabled=false"), "DISABLED", []),
        (Refuses("UNAUTHORIZED", "who?"), "DISABLED", []),
    ],
)
async def test_what_the_game_refuses_comes_back_with_its_code(mood: Any, code: str, hints: list[str]) -> None:
    async with table() as t:
        t.game.mood("spawn", mood)
        wrong = await refused(t.who["zeus"]("spawn", SPAWN))
        assert (wrong.code, wrong.did_you_mean, wrong.details) == (code, hints, {})
        assert t.recorded("answered")[0].args["refused"]["code"] == code
        assert by_code(t.recorded("answered")[0].args["refused"]).message == wrong.message


async def test_an_answer_that_cannot_be_written_down_is_unknown() -> None:
    store = HeldStore()
    async with table(store=store) as t:
        t.game.mood("spawn", "hold")
        asked = asyncio.ensure_future(t.who["ann"]("spawn", SPAWN, key="k"))
        await until(t.game, "spawn")
        store.failing = True
        t.game.release()
        assert (await refused(asked)).code == "OUTCOME_UNKNOWN"
        store.failing = False
        assert (await refused(t.who["ann"]("spawn", SPAWN, key="k"))).code == "OUTCOME_UNKNOWN"
        assert t.game.names() == ["spawn"]


async def test_an_action_that_cannot_be_written_down_is_not_sent() -> None:
    store = HeldStore()
    async with table(store=store) as t:
        store.failing = True
        assert (await refused(t.who["zeus"]("spawn", SPAWN))).code == "STORAGE_FAILED"
        store.failing = False
        assert t.game.done == []


async def test_a_house_that_stops_before_the_answer_comes_says_unknown_then_and_later(tmp_path: Path) -> None:
    async with table(tmp_path) as t:
        t.game.mood("spawn", "hold")
        asked = asyncio.ensure_future(t.who["ann"]("spawn", SPAWN, key="k"))
        await until(t.game, "spawn")
        who = t.who
    with pytest.raises(OutcomeUnknown):
        await asked
    async with open_house(tmp_path) as again:
        await again.rooms["den"].drained()
        assert [e.args for e in deeds(again.rooms["den"].room, "answered")] == [{"unknown": remote.STOPPED}]
        assert (await refused(back_again(again, who)["ann"]("spawn", SPAWN, key="k"))).code == "OUTCOME_UNKNOWN"


# -- looking ------------------------------------------------------------------------------------
async def test_only_what_has_changed_is_put_on_record() -> None:
    async with table() as t:
        before = t.host.room.record.seq
        await t.host.look()
        assert t.host.room.record.seq == before
        t.game.kingdoms[0]["units_count"] = 77
        await t.host.look()
        assert [e.do for e in t.recorded("seen")] == ["seen", "seen"]
        status = await t.who["ann"]("objective_status")
        assert [(s.seat, s.score) for s in status.standings] == [("9", 77), ("4", 3)]


async def test_the_game_is_looked_at_again_and_again() -> None:
    async with table() as t:
        for _ in range(3):
            await t.clock.advance(LOOK_MS)
            await until(t.game, "get_world_state")


async def test_kingdoms_that_rise_and_fall_are_told_and_move_nobody_into_another() -> None:
    async with table() as t:
        t.game.kingdoms = [kingdom(9, "orc", 2), kingdom(12, "elf", 1)]
        await t.host.look()
        assert {told.text for told in t.recorded("seen")[-1].told} == {"Realm 12 is there", "Realm 4 is no more"}
        assert (await refused(t.who["ann"]("spawn", SPAWN))).code == "PERMISSION_DENIED"
        assert (await t.who["bob"]("list_cities"))["count"] == 1


async def test_another_world_binds_the_claims_again() -> None:
    async with table() as t:
        await t.who["zeus"]("generate_world", {"zone_x": 4, "zone_y": 4})
        await t.host.look()
        assert [(await t.who[n]("whoami")).claimed_kingdom_id for n in ("ann", "bob")] == [60, 70]
        assert t.host.room.state.games == 2


async def test_another_world_with_kingdoms_of_the_same_ids_binds_them_too() -> None:
    async with table() as t:
        t.game.land["seed"] += 1
        await t.host.look()
        assert [(await t.who[n]("whoami")).claimed_kingdom_id for n in ("ann", "bob")] == [4, 9]
        assert t.host.room.state.games == 2


async def test_a_world_that_is_loading_unseats_nobody() -> None:
    async with table() as t:
        t.game.land, t.game.kingdoms = {"width": 0, "height": 0, "seed": 0}, []
        await t.host.look()
        assert (await t.who["ann"]("whoami")).claimed_kingdom_id == 4


async def test_a_game_that_is_lost_and_found_again_is_told_once_each() -> None:
    async with table() as t:
        await t.game.stop()
        for _ in range(2):
            await t.host.look()
        assert (await t.who["ann"]("health")).enabled is False
        assert "does not answer" in (await t.who["ann"]("view")).text
        await t.game.start()
        for _ in range(2):
            await t.host.look()
        assert [e.do for e in t.recorded("lost", "reached")] == ["reached", "lost", "reached"]
        assert (await t.who["ann"]("health")).mod_version.startswith("0.7.0+cohabit.")


async def test_a_list_that_cannot_be_understood_is_told_and_breaks_nothing() -> None:
    async with table() as t:
        t.game.kingdoms.append({"id": "not a number", "wild": False})
        await t.host.look()
        assert t.recorded("lost")
        t.game.kingdoms.pop()
        await t.host.look()
        assert (await t.who["ann"]("whoami")).claimed_kingdom_id == 4


# -- fog ----------------------------------------------------------------------------------------
async def test_a_kingdom_sees_its_own_cities_and_people_and_counts_of_nothing_else() -> None:
    async with table() as t:
        ann = t.who["ann"]
        assert [c["kingdom_id"] for c in (await ann("list_cities"))["items"]] == [4]
        assert (await ann("list_cities", {"kingdom_id": 9})) == {"items": [], "count": 0}
        people = await ann("query_actors", {"limit": 2})
        assert [a["name"] for a in people.pop("items")] == ["human-0", "human-1"]
        assert people == {
            "matched": 3, "returned": 2, "offset": 0, "limit": 2, "total_scanned": 3, "has_more": True
        }  # fmt: skip
        assert (await ann("query_actors", {"limit": 2, "offset": 2}))["has_more"] is False
        for other in ({"kingdom_id": 9}, {"race": "wolf"}, {"in_rect": {"x": 80, "y": 0, "w": 40, "h": 40}}):
            none = await ann("query_actors", other)
            assert (none["items"], none["matched"], none["total_scanned"]) == ([], 0, 3)
        state = await ann("get_world_state")
        assert (state["width"], state["population_alive"], state["population_lifetime"]) == (128, 5, 5)
        assert [k["units_count"] for k in (await ann("list_kingdoms", {"include_wild": True}))["items"]] == [2, 3, 0]


async def test_a_tile_shows_who_stands_there_only_where_ones_own_people_do() -> None:
    async with table() as t:
        assert (await t.who["ann"]("get_tile", {"x": 10, "y": 10}))["actors"] == ["human-0"]
        hidden = await t.who["ann"]("get_tile", {"x": 90, "y": 10})
        assert hidden == {
            "x": 90, "y": 10, "tile_id": "soil_low", "height": 90, "actors": [], "actor_count": 0, "visible": False
        }  # fmt: skip
        assert (await t.who["owl"]("get_tile", {"x": 90, "y": 10}))["actors"] == ["orc-0"]


async def test_a_bridge_that_sends_too_much_does_not_lift_the_fog() -> None:
    async with table() as t:
        t.game.blind = True
        people = await t.who["ann"]("query_actors")
        assert {a["kingdom_id"] for a in people["items"]} == {4}
        assert (people["matched"], people["total_scanned"], people["has_more"]) == (3, 3, False)
        assert [c["kingdom_id"] for c in (await t.who["ann"]("list_cities"))["items"]] == [4]


async def test_who_waits_for_a_kingdom_sees_only_what_is_public() -> None:
    async with table() as t:
        t.game.kingdoms = [kingdom(9, "orc", 2)]
        await t.host.look()
        assert (await t.who["ann"]("list_cities"))["count"] == 0
        assert (await t.who["ann"]("query_actors"))["total_scanned"] == 0
        assert (await t.who["ann"]("get_tile", {"x": 10, "y": 10}))["actors"] == []
        assert (await t.who["ann"]("list_kingdoms"))["count"] == 1


async def test_without_fog_and_for_those_who_see_all_answers_are_the_games_own() -> None:
    async with table(partial_intel=False) as t:
        for name in ("ann", "owl", "zeus"):
            assert (await t.who[name]("query_actors"))["total_scanned"] == 45
            assert (await t.who[name]("list_cities"))["count"] == 2
            assert (await t.who[name]("get_world_state"))["population_lifetime"] == 99


async def test_what_one_does_is_not_told_to_the_other() -> None:
    async with table() as t:
        await t.who["ann"]("spawn", SPAWN)
        await t.who["ann"]("pause")
        heard = [item.text for item in (await t.who["bob"]("events")).items if item.do == "answered"]
        assert heard == ["ann: pause, paused True"]
        told = (await t.who["ann"]("events")).items
        assert "ann: spawn, entity_id human, x 12, y 12, spawned 2" in [item.text for item in told]


# -- old bridges --------------------------------------------------------------------------------
async def test_the_oldest_bridge_without_versions_or_a_list_of_commands_can_be_played() -> None:
    async with table(version="0.1.0") as t:
        assert (await t.who["ann"]("spawn", SPAWN))["spawned"] == 2
        assert (await t.who["ann"]("query_actors"))["matched"] == 3
        assert (await refused(t.who["ann"]("get_ui_state"))).code == "UNKNOWN_COMMAND"
        assert (await t.who["ann"]("health")).mod_version.startswith("unknown+")


async def test_what_an_older_bridge_does_not_know_is_refused_here() -> None:
    async with table(version="0.3.3") as t:
        assert (await t.who["zeus"]("invoke_power", {**RAIN, "pulses": 1}))["accepted"]
        wide = await refused(t.who["zeus"]("invoke_power", {**RAIN, "radius": 5}))
        assert wide.code == "GAME_REJECTED"
        assert "0.3.3" in wide.message
        t.game.asked.clear()
        assert (await refused(t.who["ann"]("dismiss_window"))).code == "UNKNOWN_COMMAND"
        assert t.game.asked == []
        assert (await t.who["owl"]("screenshot"))["format"] == "png"


# -- the record ---------------------------------------------------------------------------------
async def test_a_replay_needs_no_game_and_comes_to_the_same_room(tmp_path: Path) -> None:
    async with table(tmp_path) as t:
        t.host.room.digest_every = 3
        await t.who["ann"]("spawn", SPAWN, key="k")
        t.game.mood("spawn", "drop", Refuses("GAME_REJECTED"))
        for _ in range(2):
            await refused(t.who["ann"]("spawn", SPAWN, key=f"k{_}"))
        await t.who["zeus"]("generate_world")
        await t.host.look()
        await t.host.drained()
        digest = t.host.room.digest()
        replayed = stored_room(tmp_path)
    assert replayed.digest() == digest
    assert len(deeds(replayed, "digest")) > 2
    assert replayed.state.replies["ann"]["k"].result["data"]["spawned"] == 2


async def test_a_house_without_the_way_to_the_game_shows_the_room_and_says_how_to_go_on(tmp_path: Path) -> None:
    async with table(tmp_path) as t:
        who = t.who
    async with open_house(tmp_path) as house:
        ann = back_again(house, who)["ann"]
        for name, args in (("list_powers", {}), ("pause", {})):
            lost = await refused(ann(name, args))
            assert lost.code == "UNREACHABLE"
            assert "cohabit worldbox" in lost.message
        assert "Realm 4" in (await ann("view")).text
        assert (await ann("send_message", {"to": "bob", "content": "are you there?"})).seq == 1
        assert (await ann("health")).enabled is False


async def test_a_room_that_is_reopened_keeps_its_way_to_the_game() -> None:
    async with table() as t:
        t.host.failure = by_code({"code": "QUARANTINED", "message": "made up"})
        await t.house.reopen_room("den")
        assert (await t.who["ann"]("list_cities"))["count"] == 1


async def test_a_room_that_is_deleted_or_archived_asks_the_game_nothing_more() -> None:
    async with table() as t:
        await t.who["zeus"]("archive")
        await t.clock.advance(2 * LOOK_MS)
        assert (await refused(t.who["zeus"]("spawn", SPAWN))).code == "DISABLED"
        assert t.game.asked == []
        await t.house.delete_room("den")
        assert t.house.bridges == {}


async def test_the_games_token_is_in_no_file_no_error_and_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    async with table(tmp_path) as t:
        t.game.mood("spawn", Refuses("GAME_REJECTED", f"you said {TOKEN}", did_you_mean=[TOKEN]))
        said.append(str((await refused(t.who["zeus"]("spawn", SPAWN))).as_wire()))
        t.game.token = "another"
        said.append(str((await refused(t.who["zeus"]("spawn", SPAWN))).as_wire()))
        await t.host.look()
        said += [repr(t.house.bridges), msgspec.json.encode(await t.who["zeus"]("events")).decode()]
    rows = SQLiteStore(tmp_path, lock=False)
    said += [str(body) for _, body, _ in rows.lines("den", -1)]
    rows.close()
    said += [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()]
    assert not [words for words in said if TOKEN in words]
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("url", ["127.0.0.1:8723", "ftp://x", "http://", "http://a:b@x:1", "http://[", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadArgs, match="bridge's address"):
        checked_url(url)


async def test_only_a_room_whose_world_is_elsewhere_can_be_told_the_way() -> None:
    async with open_house() as house:
        await make_room(house, world="nim")
        bridge = Bridge("http://127.0.0.1:1", "t" * 48, house.clock)
        with pytest.raises(BadArgs, match="not behind a bridge"):
            await house.reach("den", bridge)
        await bridge.close()
