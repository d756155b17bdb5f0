"""Why players acted: everybody reads what they may read of it, when they may, and nobody more than that."""

import asyncio
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from cohabit.agents.decision import PlayerDecision
from cohabit.errors import CohabitError, UnknownAsset
from cohabit.house.agents import decisions
from cohabit.house.agents.decision_rights import LoggedDecision, Reader
from cohabit.house.agents.transcripts import TranscriptLine, Transcripts
from cohabit.model.action import Action
from cohabit.model.film import FilmDecision

from .making import ANN, BOB, GOD, HOST, OWL, Client, a_moment, back_again, make_room, newcomer, open_house, player
from .test_agents import brain, counted, moves, nim, until

SEALED: dict[str, Any] = {"partial_intel": True}
HANDS = f"{Path(__file__).with_name('hands.py')}:Hands"


async def act(member: Client, action: str, why: str, **params: Any) -> None:
    await member("act", {"action": action, "params": params, "reasoning": why})


async def reasons(reader: Client, **args: Any) -> list[str]:
    return [item.reason for item in (await reader("decisions", args)).items]


async def hands_over(*readers: Client) -> set[int]:
    return {(await reader("decisions")).hands_over for reader in readers}


async def test_in_a_sealed_room_only_the_player_reads_its_reasons_until_the_game_is_over() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, **SEALED)
        who["kib"] = await newcomer(who["hostess"], "kib")
        await act(who["ann"], "hide", "41 is the key", n=41)
        assert await reasons(who["ann"]) == ["41 is the key"]
        assert await reasons(who["zeus"]) == ["41 is the key"], "the scenario lets it see everything"
        for other in ("bob", "hostess", "kib"):
            assert await reasons(who[other]) == []
            assert (await who[other]("decisions")).cursor == ""
        await who["zeus"]("finish")
        for reader in who.values():
            assert await reasons(reader) == ["41 is the key"]


async def test_where_nothing_is_hidden_spectators_read_reasons_at_once_and_other_players_after_the_game() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "kib"}, world="nim")
        await act(who["ann"], "take", "leaves a multiple of four", n=3)
        assert await reasons(who["hostess"]) == await reasons(who["kib"]) == ["leaves a multiple of four"]
        assert await reasons(who["bob"]) == []
        for turn in range(40):
            if (await who["ann"]("view")).over:
                break
            await act(who["ann" if turn % 2 else "bob"], "take", "", n=1)
        assert "leaves a multiple of four" in await reasons(who["bob"])


async def test_a_game_that_was_left_before_its_end_keeps_its_reasons_because_a_save_can_bring_it_back() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, **SEALED)
        await act(who["ann"], "hide", "41 is the key", n=41)
        await who["hostess"]("rematch")
        await act(who["ann"], "hide", "42 is the key", n=42)
        await who["zeus"]("finish")
        assert await reasons(who["bob"]) == ["42 is the key"]


def test_a_player_that_has_lost_its_seat_reads_no_reasons_of_it_while_the_game_runs() -> None:
    made = LoggedDecision(FilmDecision(1, 0, "ann"), "ann", "red", "game/0")
    reader = Reader("ann", "red", False, True, False, False, "game/0", ())
    assert reader.may_read(made)
    for seat in (None, "blue"):
        assert not replace(reader, seat=seat).may_read(made)
        assert replace(reader, seat=seat, over=("game/0",), running="game/1").may_read(made)


async def test_in_a_world_of_hands_reasons_may_be_read_when_the_hand_is_over() -> None:
    async with open_house(trusted_worlds=HANDS.partition(":")[0]) as house:
        who = await make_room(house, ANN, BOB, HOST, world=HANDS)
        await act(who["ann"], "play", "my only heart", card=4)
        assert await reasons(who["bob"]) == []
        assert await hands_over(*who.values()) == {0}
        await act(who["bob"], "play", "I can't follow", card=9)
        for reader in ("ann", "bob", "hostess"):
            assert await reasons(who[reader]) == ["my only heart", "I can't follow"]
        assert await hands_over(*who.values()) == {1}
        await act(who["ann"], "play", "my last trump", card=5)
        assert "my last trump" not in await reasons(who["bob"])
        assert await hands_over(*who.values()) == {1}, "the next hand is not over"


async def bytes_for(reader: str, secret: int) -> list[str]:
    """What a member gets of a room in which a player hides this number, for reasons that name it."""
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL | {"role": None}, GOD, **SEALED)
        await act(who["ann"], "mumble", f"{secret} is the key, {'because ' * secret}", n=secret)
        await act(who["ann"], "shout", "nobody will guess it" if secret > 5 else "they will guess it", text="now")
        asked = [{}, {"full": True}, {"member": "ann"}, {"max": 1}, {"member": "ann", "full": True}]
        return [repr(await who[reader]("decisions", args)) for args in asked]


@pytest.mark.parametrize("reader", ["bob", "hostess", "owl"])
async def test_two_rooms_that_differ_in_what_is_hidden_give_others_the_same_bytes(reader: str) -> None:
    assert await bytes_for(reader, 3) == await bytes_for(reader, 8)
    assert await bytes_for("ann", 3) != await bytes_for("ann", 8)


async def test_pages_go_on_where_the_last_one_ended_and_one_member_can_be_chosen() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        for n in range(5):
            await act(who["ann" if n % 2 else "bob"], "shout", f"reason {n}", text="hm")
        newest = await who["zeus"]("decisions", {"max": 2})
        assert [item.reason for item in newest.items] == ["reason 3", "reason 4"]
        assert newest.more
        await act(who["bob"], "shout", "reason 5", text="hm")
        assert await reasons(who["zeus"], after=newest.cursor) == ["reason 5"]
        assert await reasons(who["zeus"], member="ann") == ["reason 1", "reason 3"]
        assert await reasons(who["zeus"], id=newest.items[0].id) == ["reason 3"]
        with pytest.raises(UnknownAsset):
            await who["zeus"]("decisions", {"member": "nobody"})


async def test_an_agent_of_the_house_shows_what_it_saw_and_took_and_a_restart_keeps_it(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await nim(house, brain("Scripted"), None)
        await counted(house, "ann", 1)
        (first,) = (await who["hostess"]("decisions", {"full": True, "max": 1})).items
        assert (first.member, first.reason, first.failure) == ("ann", "one is enough", "")
        assert first.action == 'take {"n":1}'
        assert "stones" in first.saw
        assert first.seq == house.rooms["den"].room.record.seq
    async with open_house(tmp_path) as house:
        again = back_again(house, who)
        assert await reasons(again["hostess"]) == ["one is enough"]
        assert await reasons(again["bob"]) == []


async def test_a_message_that_is_sent_with_a_reason_is_read_by_nobody_else() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, {"id": "kib"}, world="nim")
        await act(who["ann"], "send_message", "bob is my friend", to="bob", content="the password is plum")
        read = [(await reader("decisions")).items for reader in who.values()]
        assert read == [[]] * 5


async def test_who_plays_reads_the_reasons_of_its_own_agent_and_not_those_of_a_person_whom_it_invited() -> None:
    async with open_house() as house:
        for kind, read in (("agent", ["a plan"]), ("human", [])):
            one = {"id": "hostess", "role": "host", "kind": "human", "claim": "auto:1"}
            who = await make_room(house, one, room=kind, world="nim")
            guest = await newcomer(who["hostess"], "guest", kind=kind, role="player", claim="auto:0")
            await act(guest, "take", "a plan", n=1)
            assert await reasons(who["hostess"]) == read


async def test_others_do_not_get_the_prompts_of_an_agent_that_has_read_messages() -> None:
    async with open_house() as house:
        who = await nim(house, brain("Scripted"), None)
        await counted(house, "ann", 1)
        await who["bob"]("send_message", {"to": "ann", "content": "the password is plum"})
        await who["bob"]("take", {"n": 1})
        await counted(house, "ann", 2)
        before, after = (await who["hostess"]("decisions", {"full": True, "member": "ann"})).items
        assert "stones" in before.saw
        assert (after.reason, after.saw) == ("one is enough", "")


async def test_a_game_with_a_save_from_which_it_can_be_played_on_keeps_its_reasons(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, **SEALED)
        await act(who["ann"], "hide", "41 is the key", n=41)
        await who["hostess"]("save_world", {"name": "noon"})
        await who["zeus"]("finish")
        assert await reasons(who["bob"]) == await reasons(who["hostess"]) == []
        assert await reasons(who["ann"]) == await reasons(who["zeus"]) == ["41 is the key"]


async def test_what_was_over_before_a_restart_may_be_read_after_it(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, **SEALED)
        await act(who["ann"], "hide", "41 is the key", n=41)
        await who["zeus"]("finish")
        await who["zeus"]("rematch")
        await act(who["ann"], "hide", "42 is the key", n=42)
    async with open_house(tmp_path) as house:
        again = back_again(house, who)
        assert await reasons(again["bob"]) == ["41 is the key"]
        assert await reasons(again["ann"]) == ["41 is the key", "42 is the key"]


async def test_a_failure_is_part_of_the_log() -> None:
    async with open_house() as house:
        who = await nim(house, brain("Raises"), None)
        await until(house, lambda: moves(house, "ann"))
        await counted(house, "ann", 1)
        (found,) = (await who["hostess"]("decisions")).items
        assert "a bug of the agent" in found.failure


async def test_reasons_of_built_in_players_are_not_shown_where_the_scenario_hides_who_is_one() -> None:
    async with open_house() as house:
        who = await nim(house, brain("Scripted"), None, hide_brains=True)
        await counted(house, "ann", 1)
        assert await reasons(who["hostess"]) == await reasons(who["ann"]) == []
        assert await reasons(who["zeus"]) == ["one is enough"]


async def test_the_number_of_hands_does_not_tell_that_a_hidden_brain_gave_reasons() -> None:
    told: list[Any] = []
    for is_built_in in (True, False):
        async with open_house() as house:
            first: Any = brain("Scripted") if is_built_in else None
            who = await nim(house, first, None, hide_brains=True)
            if is_built_in:
                await counted(house, "ann", 1)
            while not house.rooms["den"].room.is_over():
                for name in ("ann", "bob"):
                    with suppress(CohabitError):
                        await who[name]("take", {"n": 1})
                await a_moment()
            hands = {name: (await who[name]("decisions")).hands_over for name in ("hostess", "bob")}
            await who["zeus"]("rematch")
            assert await hands_over(who["zeus"]) == {int(is_built_in)}, "it sees everything"
            told.append((hands, {name: (await who[name]("decisions")).hands_over for name in ("hostess", "bob")}))
    assert told[0] == told[1]


async def test_a_person_that_is_forgotten_leaves_no_reason_behind(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, GOD, player("eve", 2))
        await act(who["ann"], "shout", "because eve told me so", text="hm")
        assert await reasons(who["zeus"]) == ["because eve told me so"]
        await who["eve"]("forget_me", {"confirm": "eve"})
        assert await reasons(who["zeus"]) == []
        files = (tmp_path / "agents").rglob("transcript*.jsonl")
        assert not any("eve told" in file.read_text() for file in files)


@pytest.mark.parametrize("by", ["lines", "bytes"])
async def test_what_others_decide_in_secret_drops_nothing_of_ones_own(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "LINES_KEPT", 20 if by == "lines" else 1_000)
    monkeypatch.setattr(decisions, "BYTES_KEPT", 10**6 if by == "lines" else 3_000)
    found = []
    for others in (0, 60):
        async with open_house() as house:
            who = await make_room(house, ANN, BOB, HOST, GOD)
            for n in range(5):
                await act(who["bob"], "shout", f"mine {n}", text="hm")
            for n in range(others):
                await act(who["ann"], "hide", f"secret {n}", n=n)
            mine = (await who["bob"]("decisions", {"full": True, "max": 200})).items
            found.append([(one.member, one.reason, one.saw, one.asked, one.answered) for one in mine])
    assert len(found[0]) == 5
    assert found[0] == found[1]


def test_the_decisions_of_many_who_come_and_go_do_not_fill_the_memory() -> None:
    log, encode = decisions.RoomLog(), msgspec.json.encode
    made = PlayerDecision(0, "chosen", Action("wait", {}, "why not"))
    for number in range(decisions.MEMBERS_KEPT + 5):
        log.add(encode(TranscriptLine(number, f"m{number}", None, "", 1, 0.0, made)))
    assert [one.short.member for one in log.kept()] == [f"m{n}" for n in range(5, decisions.MEMBERS_KEPT + 5)]


async def test_the_log_of_a_room_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "LINES_KEPT", 20)
    monkeypatch.setattr(decisions, "BYTES_KEPT", 600)
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        for n in range(decisions.LINES_KEPT + 5):
            await act(who["ann"], "shout", f"reason {n}", text="hm")
        found = await reasons(who["zeus"], max=200)
        assert found[-1] == f"reason {decisions.LINES_KEPT + 4}"
        assert len(found) == decisions.LINES_KEPT


async def test_api_keys_are_in_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-abcdefgh12345")
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        await act(who["ann"], "shout", "my key is sk-abcdefgh12345", text="hm")
        assert await reasons(who["zeus"]) == ["my key is [hidden]"]


async def test_a_house_closes_only_when_the_last_reasons_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, write = threading.Event(), Transcripts.write

    def written_late(kept: Transcripts, room: str, encoded: bytes) -> None:
        go.wait()
        write(kept, room, encoded)

    monkeypatch.setattr(Transcripts, "write", written_late)
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, world="nim")
        await act(who["ann"], "take", "leaves a multiple of four", n=3)
        closing = asyncio.ensure_future(house.bots.decisions.close())
        await a_moment()
        assert not closing.done()
        go.set()
        await closing
        assert [b"leaves a multiple of four" in line for line in house.bots.transcripts.lines("den")] == [True]
