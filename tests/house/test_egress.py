"""What the house counts of what leaves it, for whom, and what becomes of the count."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.agents.brain import parse_brain
from cohabit.errors import EgressUsedUp, PermissionDenied, UnknownAsset, UnknownRoom
from cohabit.faces.cli import main
from cohabit.house.access.signing import EgressExport, verify_egress
from cohabit.house.house import House
from cohabit.house.running.egress import MOST_BACKENDS, STORE_MS, Account
from cohabit.testing.clock import START, FakeClock

from .making import ANN, BOB, HOST, OWL, Client, back_again, invite, issue, make_room, newcomer, open_house, player

AGENT = {**OWL, "backend": "Claude"}


def account(house: House, who: str, room: str = "den") -> Account:
    runner = house.rooms[room]
    return runner.egress.of(runner.room.state.members[who])


def lines(of: Account) -> dict[tuple[str, bool | None], int]:
    return {key: line.sent.bytes for key, line in of.backends.items() if line.kinds}


async def test_a_member_that_has_disclosed_nothing_is_counted_as_unknown_and_not_as_zero() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        seen = len(msgspec.json.encode(await who["owl"]("view")))
        assert lines(account(house, "owl")) == {("unknown", None): seen}
        disclosed = len(msgspec.json.encode(await who["owl"]("disclose", {"egress": False})))
        again = len(msgspec.json.encode(await who["owl"]("view")))
        assert lines(account(house, "owl")) == {("unknown", None): seen + disclosed, ("this house", False): again}
        (told,) = (await who["hostess"]("egress", {"member": "owl"})).members
        assert {(line.backend, line.outside): line.bytes for line in told.backends} == lines(account(house, "owl"))


async def test_a_backend_that_calls_itself_unknown_is_listed_as_outside() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {**OWL, "backend": "unknown"})
        await who["owl"]("view")
        assert [*lines(account(house, "owl"))] == [("unknown", True)]


async def test_members_see_their_own_count_and_only_hosts_that_of_others() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, AGENT)
        for name in ("ann", "owl"):
            await who[name]("view")
        assert {line.member for line in (await who["hostess"]("egress")).members} == {"ann", "owl", "hostess"}
        assert [line.member for line in (await who["ann"]("egress", {"member": "owl"})).members] == ["ann"]
        with pytest.raises(PermissionDenied, match="manage_members"):
            await who["owl"]("export_egress")
        with pytest.raises(PermissionDenied, match="host token"):
            await who["hostess"]("house_egress", {"room": "den"})


async def test_the_kinds_tell_views_from_events_messages_lists_and_refusals() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, AGENT)
        sizes: dict[str, int] = {}
        commands = {
            "view": "views",
            "events": "events",
            "recv_messages": "messages",
            "rules": "lists",
            "whoami": "other",
        }
        for command, kind in commands.items():
            sizes[kind] = len(msgspec.json.encode(await who["owl"](command)))
        with pytest.raises(PermissionDenied):
            await who["owl"]("narrow", {"member": "ann", "may": []})
        (told,) = (await who["owl"]("egress")).members
        kinds = {kind: amount.bytes for kind, amount in told.backends[0].kinds.items()}
        refused = kinds.pop("refusals")
        assert kinds == sizes
        assert 50 < refused < 1_000


async def test_counts_outlive_a_restart_and_reads_do_not_grow_the_record(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        before = house.rooms["den"].history.seq
        for _ in range(20):
            await who["owl"]("view")
        used = account(house, "owl").used
        assert house.rooms["den"].history.seq <= before + 1  # that it is here
    async with open_house(tmp_path) as house:
        assert account(house, "owl").used == used > 0
        who = back_again(house, who)
        await who["hostess"]("set_egress_budget", {"budget": used, "member": "owl"})
        with pytest.raises(EgressUsedUp):
            await who["owl"]("view")


async def test_what_a_host_was_told_is_on_disk_and_a_crash_loses_a_few_seconds_of_the_rest() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, AGENT)

        def stored() -> int:
            found = [msgspec.json.decode(body) for body in house.store.egress("den")]
            return sum(a["bytes"] for line in found if line["handle"] == "owl" for a in line["kinds"].values())

        await who["owl"]("view")
        assert stored() == 0
        (told,) = (await who["hostess"]("egress", {"member": "owl"})).members
        assert stored() == told.bytes > 0
        await who["owl"]("view")
        await clock.advance(STORE_MS)
        await house.writer.submit(_nothing())
        assert stored() == account(house, "owl").used > told.bytes


def _nothing() -> Any:
    from cohabit.house.store.contract import Write

    return Write("den")


async def test_leaving_and_coming_back_and_another_token_give_no_new_budget() -> None:
    async with open_house(egress_budget=3_000) as house:
        who = await make_room(house, ANN, BOB, HOST, guests=True)
        eve = await issue(house, "eve", kind="agent")
        await eve("join")
        while not account(house, "eve").is_used_up:
            with suppress(EgressUsedUp):
                await eve("view")
        with pytest.raises(EgressUsedUp):
            await eve("rotate_token")
        with pytest.raises(EgressUsedUp):
            await eve("act", {"action": "view"})
        await eve("act", {"action": "leave"})
        with pytest.raises(EgressUsedUp, match=r"join again when a host has raised your budget$"):
            await eve("join")
        with pytest.raises(UnknownAsset, match="unknown member 'eve'; for one who has left, pass its `who`"):
            await who["hostess"]("set_egress_budget", {"budget": 0, "member": "eve"})
        (gone,) = (await who["hostess"]("egress", {"member": "eve"})).members
        told = await who["hostess"]("set_egress_budget", {"budget": 0, "member": gone.who})
        assert told.members == {gone.who: 0}
        assert (await eve("join")).status == "joined"
        assert (await eve("view")).text


async def test_the_reply_to_join_counts_and_a_host_finds_a_former_member_with_its_budget() -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST)
        bot = await invite(who["hostess"], "bot")
        joined = await bot("join", {"backend": "a model"})
        (told,) = (await who["hostess"]("egress", {"member": "bot"})).members
        assert (told.bytes, told.backends[0].backend) == (len(msgspec.json.encode(joined)), "a model")
        await who["hostess"]("set_egress_budget", {"budget": 500, "member": "bot"})
        await Client(house, "den", "bot", joined.token)("leave")
        (left,) = (await who["hostess"]("egress", {"member": "bot"})).members
        assert (left.budget, left.left) == (500, 500 - left.bytes)
        assert left in (await who["hostess"]("egress")).members
        with pytest.raises(UnknownAsset):
            await who["hostess"]("egress", {"member": "bott"})


async def test_a_host_finds_a_former_member_whose_handle_somebody_else_has_and_each_by_who_it_is() -> None:
    async with open_house() as house:
        who = await make_room(house, BOB, HOST)
        before = await newcomer(who["hostess"], "bot")
        await before("leave")
        await (await newcomer(who["hostess"], "bot"))("whoami")
        both = (await who["hostess"]("egress", {"member": "bot"})).members
        assert [line.member for line in both] == ["bot", "bot"]
        for line in both:
            (found,) = (await who["hostess"]("egress", {"member": line.who})).members
            assert (found.who, found.bytes) == (line.who, line.bytes)


async def test_the_times_of_what_was_sent_to_a_member_are_its_own_whenever_others_ask() -> None:
    told = []
    for asks in (False, True):
        async with open_house(clock=(clock := FakeClock())) as house:
            who = await make_room(house, ANN, BOB, HOST)
            await who["ann"]("view")
            await clock.advance(100)
            if asks:
                await who["bob"]("egress")
                await who["hostess"]("export_egress")
            await clock.advance(10_000)
            (own,) = (await who["ann"]("egress")).members
            told.append([(one.first, one.last) for one in own.backends])
    assert told[0] == told[1] == [(START, START)]


async def test_a_budget_holds_in_an_archived_room_and_after_a_reset(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, ANN, BOB, HOST, AGENT, {"id": "zeus", "role": "god"})
        await who["owl"]("view")
        await who["hostess"]("set_egress_budget", {"budget": account(house, "owl").used + 10, "member": "owl"})
        await who["zeus"]("reset")
        with pytest.raises(EgressUsedUp, match="larger than what is left"):
            await who["owl"]("view")
        await who["zeus"]("archive")
        used = account(house, "owl").used
        with pytest.raises(EgressUsedUp, match="they are used up"):
            await who["owl"]("view")
    async with open_house(tmp_path) as house:
        assert account(house, "owl").used > used
        with pytest.raises(EgressUsedUp):
            await back_again(house, who)["owl"]("view")


async def test_many_calls_at_once_do_not_get_more_than_the_budget() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, AGENT)
        size = len(msgspec.json.encode(await who["owl"]("view")))
        waiting = [asyncio.create_task(who["owl"]("events", {"last": 1, "wait_ms": 1_000})) for _ in range(5)]
        start = account(house, "owl").used
        await who["hostess"]("set_egress_budget", {"budget": start + 2 * size, "member": "owl"})
        replies = await asyncio.gather(*waiting, *(who["owl"]("view") for _ in range(20)), return_exceptions=True)
        refused = [reply for reply in replies if isinstance(reply, EgressUsedUp)]
        assert len(refused) >= 18
        kinds = account(house, "owl").backends["Claude", True].kinds
        assert sum(amount.bytes for kind, amount in kinds.items() if kind != "refusals") <= start + 2 * size


async def test_a_call_that_changes_something_is_answered_if_it_was_accepted() -> None:
    async with open_house() as house:
        who = await make_room(house, player("ann", 0), player("bob", 1), HOST, world="nim")
        await who["ann"]("whoami")
        await who["hostess"]("set_egress_budget", {"budget": account(house, "ann").used + 1, "member": "ann"})
        assert (await who["ann"]("take", {"n": 1})).success
        with pytest.raises(EgressUsedUp):
            await who["bob" if house.rooms["den"].room.to_move() == ["first"] else "ann"]("view")


async def test_the_refusal_of_a_used_up_budget_is_in_the_audit() -> None:
    async with open_house(egress_budget=1) as house:
        who = await make_room(house, ANN, BOB, HOST, AGENT)
        with pytest.raises(EgressUsedUp):
            await who["owl"]("view")
        await who["hostess"]("set_egress_budget", {"budget": 0})
        lines = (await who["hostess"]("audit", {"member": "owl", "kinds": ["refusals"]})).lines
        assert ("view", "EGRESS_USED_UP") in {(line.command, line.code) for line in lines}


async def test_a_member_that_names_a_backend_after_another_does_not_grow_the_count_for_ever() -> None:
    async with open_house() as house:
        await make_room(house, ANN, BOB, HOST, OWL)
        owl = account(house, "owl")
        for number in range(100):
            owl.to(f"model {number}", True).replied("views", 1)
        assert len(owl.backends) <= MOST_BACKENDS + 2
        assert owl.used == 100


async def test_what_an_agent_of_the_house_gets_counts_for_its_backend_unless_it_is_a_part_of_the_house() -> None:
    brain = f"{Path(__file__).with_name('brains.py')}:Scripted"
    async with open_house() as house:
        await make_room(
            house, player("ann", 0, brain=brain), player("bob", 1, brain="random"), HOST, world="nim",
            config={"stones": 9},
        )  # fmt: skip
        await until(lambda: house.rooms["den"].room.is_over())
        assert lines(account(house, "bob")) == {}
        ((backend, outside), size) = next(iter(lines(account(house, "ann")).items()))
        assert (backend, outside) == (parse_brain(brain).label, None)
        assert size > 1_000


async def test_the_count_does_not_name_a_brain_that_the_scenario_hides() -> None:
    brain = f"{Path(__file__).with_name('brains.py')}:Scripted"
    async with open_house() as house:
        who = await make_room(
            house, player("ann", 0, brain=brain), player("bob", 1, brain="random"), HOST, world="nim",
            config={"stones": 9}, hide_brains=True,
        )  # fmt: skip
        await until(lambda: house.rooms["den"].room.is_over())
        assert [*lines(account(house, "ann"))] == [("bot", None)]
        told = [repr(await who["hostess"](name)) for name in ("egress", "audit", "agents", "roster", "events")]
        told.append(repr(exported(await who["hostess"]("export_egress"))))
        assert not [text for text in told if "Scripted" in text]


async def test_an_agent_of_the_house_stops_when_its_budget_is_used_up_and_plays_on_when_it_is_raised() -> None:
    brain = f"{Path(__file__).with_name('brains.py')}:Scripted"
    async with open_house(egress_budget=2_000) as house:
        who = await make_room(
            house, player("ann", 0, brain=brain), player("bob", 1, brain="random"), HOST, world="nim",
            config={"stones": 9},
        )  # fmt: skip
        await who["hostess"]("set_egress_budget", {"budget": 0, "member": "hostess"})
        await until(lambda: any("used up" in agent.stopped for agent in house.bots.agents.values()))
        assert account(house, "ann").used < 2_000
        await who["hostess"]("set_egress_budget", {"budget": 0})
        await until(lambda: house.rooms["den"].room.is_over())


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for the thread of the agents. The clock of the house stands still."""
    async with asyncio.timeout(120):
        while not is_so():
            await asyncio.sleep(0)


async def test_a_count_is_gone_with_its_room_and_outside_of_rooms_hosts_of_the_house_have_no_limit() -> None:
    async with open_house(egress_budget=1) as house:
        who = await make_room(house, ANN, BOB, HOST, AGENT)
        with pytest.raises(EgressUsedUp):
            await who["owl"]("view")
        await house.delete_room("den")
        assert house.store.egress("den") == []
        operator = house.identify(house.operator_token())
        for _ in range(2):
            assert (await house.call(operator, None, "rooms")).rooms == []
        guest = await issue(house, "eve")
        with pytest.raises(EgressUsedUp):
            await house.call(house.identify(guest.token), None, "worlds")


async def test_the_command_line_exports_a_count_and_verifies_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out, key = tmp_path / "data", tmp_path / "den.egress", tmp_path / "key.json"
    async with open_house(data) as house:
        who = await make_room(house, HOST, AGENT, world="lounge")
        await who["owl"]("view")
        key.write_bytes(msgspec.json.encode((await who["hostess"]("export_egress")).key))
    run = asyncio.get_running_loop().run_in_executor
    assert await run(None, main, ["egress", "den", "--out", str(out), "--data", str(data)]) == 0
    for given in (["--key", str(key)], ["--data", str(data)]):
        capsys.readouterr()
        assert await run(None, main, ["egress", "--verify", str(out), *given]) == 0
        assert "Claude" in capsys.readouterr().out
    body, _, signature = out.read_text().partition(".")
    for changed in (f"{body[:40]}A{body[41:]}.{signature}", body, "", f"{body}.{signature[:-9]}"):
        out.write_text(changed)
        assert await run(None, main, ["egress", "--verify", str(out), "--key", str(key)]) == 1
        said = capsys.readouterr().err
        assert "does not match its signature" in said
        assert "--key" in said
        assert "backup" not in said


def exported(made: Any) -> EgressExport:
    found = verify_egress(made.export, made.key)
    assert isinstance(found, EgressExport), found
    return found


@pytest.mark.parametrize("sealed", [True, False])
async def test_only_the_owner_of_the_data_folder_can_check_with_an_export_what_a_player_has_hidden(
    sealed: bool,
) -> None:
    """With the digests before and after an entry, and its number, anybody can try out all contents of that entry."""
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, partial_intel=True, sealed=sealed)
        boss, told = await issue(house, "boss", host=True), []
        for _ in range(2):
            told += [
                exported(await who["hostess"]("export_egress")),
                exported(await boss("house_egress", {"room": "den"})),
            ]
            await who["ann"]("mumble", {"n": 41})
        assert {(one.entry, one.digest) for one in told} == {(-1, "")}
        operator = house.identify(house.operator_token())
        own = exported(await house.call(operator, None, "house_egress", {"room": "den"}))
        record = house.rooms["den"].room.record
        assert (own.entry, own.digest) == (record.seq, record.digest.hex())


@pytest.mark.parametrize("to", ["ann", "bob"])
async def test_a_host_of_a_sealed_room_does_not_learn_from_the_times_whom_a_message_reached(to: str) -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, player("cat", 2), HOST, partial_intel=True)
        readers = [await who[name].reader() for name in ("ann", "bob")]
        clock: Any = house.clock
        told = []
        for _ in range(2):
            await clock.advance(60_000)
            members = (await who["hostess"]("egress")).members
            told.append({line.member: [(one.bytes, one.last) for one in line.backends] for line in members})
            await who["cat"]("send_message", {"to": to, "content": "hello"})
        assert {name: told[0][name] for name in ("ann", "bob")} == {name: told[1][name] for name in ("ann", "bob")}
        for name in ("ann", "bob"):
            (own,) = (await who[name]("egress")).members
            assert all(one.last for one in own.backends)
        for reader in readers:
            reader.task.cancel()


async def test_a_newcomer_keeps_its_account_when_the_room_is_reopened() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        eve = await newcomer(who["hostess"], "eve")
        await eve("whoami")
        used = account(house, "eve").used
        house.rooms["den"].stop(UnknownRoom("a test stops it"))
        await house.reopen_room("den")
        assert account(house, "eve").used == used > 0
        await eve("whoami")
        assert account(house, "eve").used > used
