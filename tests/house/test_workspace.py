"""A workspace as a room of a house: who works where, as whom, what is recorded, and the bad days."""

import asyncio
import os
import socket
import subprocess
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cohabit.errors import BadArgs, CohabitError, GitFailed
from cohabit.house.house import House
from cohabit.house.lifecycle.room_commands import create_room
from cohabit.house.running import remote
from cohabit.house.running.remote import RemoteRunner
from cohabit.house.running.runner import RoomRunner
from cohabit.house.settings import Settings
from cohabit.remote import Ask
from cohabit.room.commands import commands_of
from cohabit.testing.clock import FakeClock
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.room import PERSONAL_TOOLS, room_tools
from cohabit.workspace.session import Session
from cohabit.worlds.workspace import connector
from cohabit.worlds.workspace.connector import WorkspaceConnector
from cohabit.worlds.workspace.world import Workspace

from .making import (
    ANN,
    BOB,
    HOST,
    Client,
    HeldStore,
    back_again,
    make_room,
    open_house,
    recorded,
    remote_of,
    stored_room,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")
EVE = {"id": "eve"}  # an agent without a role: it watches


class Office(NamedTuple):
    """A house with a workspace: ann and bob have a seat each, eve and the hostess watch."""

    house: House
    clock: FakeClock
    who: dict[str, Client]

    @property
    def runner(self) -> RoomRunner:
        return self.house.rooms["den"]

    @property
    def remote(self) -> RemoteRunner:
        return remote_of(self.house)

    async def poll(self) -> None:
        await self.remote.poll()

    def recorded(self, *dos: str) -> list[Any]:
        return recorded(self.runner, *dos)

    def told(self) -> list[str]:
        return [told.text for line in self.runner.room.record.tail for told in line.entry.told]


@asynccontextmanager
async def office(folder: Path, **keys: Any) -> AsyncIterator[Office]:
    clock = FakeClock()
    async with open_house(folder, clock=clock) as house:
        who = await make_room(house, ANN, BOB, EVE, HOST, world="workspace", **keys)
        yield Office(house, clock, who)


async def refused(asked: Any) -> CohabitError:
    with pytest.raises(CohabitError) as wrong:
        await asked
    return wrong.value


async def drop(client: Client, path: str, text: str, summary: str) -> dict[str, Any]:
    """Put a file on the board, as the skill says it."""
    await client("write", {"path": path, "content": text})
    await client("journal_append", {"summary": summary})
    await client("add", {"paths": [path, "journal.md"]})
    await client("commit", {"message": summary})
    done: dict[str, Any] = await client("push")
    return done


async def invited(o: Office, name: str, **more: Any) -> Client:
    """A new member."""
    made = await o.who["hostess"]("invite", {"id": name, **more})
    client = Client(o.house, "den", name, made.token)
    await client("join", {"keep_token": True})
    return client


def connector_of(house: House) -> WorkspaceConnector:
    found = house.rooms.connectors["den"]
    assert isinstance(found, WorkspaceConnector)
    return found


def connector_in(folder: Path) -> WorkspaceConnector:
    return WorkspaceConnector("den", {}, Settings(data=str(folder)), FakeClock())


def slow_for_ann(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """A push of ann's says that it has begun, and waits until it may go."""
    pushing, go, push = threading.Event(), threading.Event(), connector.origin.push

    def slow(workspace: Any, *args: Any) -> Any:
        if workspace.identity.agent_id == "ann":
            pushing.set()
            go.wait(100)
        return push(workspace, *args)

    monkeypatch.setattr(connector.origin, "push", slow)
    return pushing, go


def git(*args: str, at: Path) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(at), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *args], cwd=at, env=env, capture_output=True, text=True, check=True).stdout.strip()


def shared(folder: Path) -> Path:
    return folder / "workspaces" / "den.git"


# -- what is offered ----------------------------------------------------------------------------
def test_the_tools_of_a_workspace_are_the_commands_of_its_room_and_no_list_has_them_twice() -> None:
    made = {command.name: command for command in commands_of(Workspace())}
    assert set(made) == {*room_tools(), "board", "board_read"}
    for name, tool in room_tools().items():
        assert made[name].records == tool.writes
        assert set(made[name].schema["properties"]) == set(tool.arguments)
        assert made[name].doc == tool.description
    assert not set(PERSONAL_TOOLS) & set(made)


async def test_archive_closes_the_room_and_the_journal_is_archived_under_another_name(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        names = [c.name for c in o.runner.room.commands]
        assert len(names) == len(set(names))
        assert o.runner.room.commands.named("archive").where == "room"
        assert o.runner.room.commands.named("workspace_archive").where == "world"


# -- who works where ----------------------------------------------------------------------------
async def test_two_agents_work_at_once_and_both_push_and_a_person_with_plain_git_sees_it(tmp_path: Path) -> None:
    async with office(tmp_path / "house") as o:
        done = await asyncio.gather(
            drop(o.who["ann"], "drafts/plan.md", "# Plan\n", "Wrote the plan"),
            drop(o.who["bob"], "research/facts.md", "# Facts\n", "Found facts"),
        )
        assert [answer["ok"] for answer in done] == [True, True]
        git("clone", "--quiet", str(shared(tmp_path / "house")), "mine", at=tmp_path)
        mine = tmp_path / "mine"
        journal = (mine / "journal.md").read_text()
        assert journal.count("Wrote the plan") == journal.count("Found facts") == 1
        assert (mine / "drafts/plan.md").is_file()
        assert (mine / "research/facts.md").is_file()


async def test_unpushed_work_is_only_in_the_members_own_clone(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.who["ann"]("write", {"path": "drafts/plan.md", "content": "mine"})
        assert (await o.who["ann"]("read", {"path": "drafts/plan.md"}))["content"] == "mine"
        for other in ("bob", "eve"):
            assert (await refused(o.who[other]("read", {"path": "drafts/plan.md"}))).code == "UNKNOWN_ASSET"


async def test_a_watcher_sees_pushed_work_and_may_change_nothing(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/plan.md", "# Plan\n", "Wrote the plan")
        await o.poll()
        seen = await o.who["eve"]("board")
        assert [entry["summary"] for entry in seen["journal"]] == ["Wrote the plan"]
        assert seen["folders"][0]["files"] == [{"path": "drafts/plan.md", "size": 7}]
        for ask in ("board_read", "read"):
            assert (await o.who["eve"](ask, {"path": "drafts/plan.md"}))["content"] == "# Plan\n"
        assert (await o.who["eve"]("workspace_info"))["agent_id"] == ""
        before = git("rev-parse", "main", at=shared(tmp_path))
        for name, tool in room_tools().items():
            if tool.writes:
                assert (await refused(o.who["eve"](name))).code == "PERMISSION_DENIED"
        assert git("rev-parse", "main", at=shared(tmp_path)) == before
        assert sorted(path.name for path in (tmp_path / "workspaces" / "den").iterdir()) == [".board", "ann"]


async def test_a_member_without_a_seat_or_without_act_reads_what_was_pushed_and_no_clone(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann, zoe = o.who["ann"], await invited(o, "zoe", kind="human")
        assert (await zoe("workspace_info"))["agent_id"] == ""
        await ann("write", {"path": "drafts/plan.md", "content": "mine"})
        await o.who["hostess"]("narrow", {"member": "ann", "may": ["act"]})
        assert (await refused(ann("read", {"path": "drafts/plan.md"}))).code == "UNKNOWN_ASSET"


async def test_a_host_sees_the_board_and_a_person_who_sits_down_can_work(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.poll()
        assert (await o.who["hostess"]("board"))["open"] == []
        zoe = await invited(o, "Zoë", kind="human")
        denied = await refused(zoe("write", {"path": "drafts/a.md", "content": "x"}))
        assert denied.code == "PERMISSION_DENIED"
        assert "requires a seat" in denied.message
        await zoe("sit", {"seat": "writer-3"})
        assert (await drop(zoe, "drafts/a.md", "x", "Zoë was here"))["ok"]


async def test_a_member_is_who_the_room_says_and_cannot_be_anybody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COHABIT_AGENT_ID", "COHABIT_AGENT_NAME", "COHABIT_AGENT_EMAIL"):
        monkeypatch.setenv(name, "somebody@example.org" if name.endswith("EMAIL") else "somebody-else")
    async with office(tmp_path) as o:
        ann = o.who["ann"]
        assert (await ann("workspace_info"))["agent_id"] == "ann"
        for more in ({"agent_id": "bob"}, {"author": "bob"}, {"for": "me", "by": "bob"}):
            assert (await refused(ann("journal_append", {"summary": "x", **more}))).code == "BAD_ARGS"
        await drop(ann, "drafts/a.md", "x", "[bob] I am bob")
        last = git("log", "-1", "--format=%an %ae %cn %B", at=shared(tmp_path))
        assert last.startswith("ann ann@den.invalid ann [ann] ")
        assert "Agent: ann" in last
        journal = git("show", "main:journal.md", at=shared(tmp_path))
        assert " — ann (ann)" in journal


async def test_a_later_member_with_the_same_handle_gets_a_clone_of_its_own(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.who["bob"]("write", {"path": "drafts/secret.md", "content": "bob's"})
        await o.who["hostess"]("remove_member", {"member": "bob"})
        bob = await invited(o, "bob", role="player", claim="auto:1")
        assert (await refused(bob("read", {"path": "drafts/secret.md"}))).code == "UNKNOWN_ASSET"
        assert (await bob("workspace_info"))["agent_id"].startswith("bob-2-")
        await drop(bob, "drafts/mine.md", "x", "The second bob")
        assert git("log", "-1", "--format=%an", at=shared(tmp_path)) == "bob"
        left = tmp_path / "workspaces" / "den" / "bob"
        assert (left / "drafts/secret.md").read_text() == "bob's"


async def test_a_member_who_is_removed_during_a_call_holds_up_nobody_with_the_same_handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing, go = threading.Event(), threading.Event()

    def slow(workspace: Any, *_: Any) -> Any:
        pushing.set()
        go.wait(100)
        raise GitFailed("the connection was closed")

    monkeypatch.setattr(connector.origin, "push", slow)
    async with office(tmp_path) as o:
        asked = asyncio.ensure_future(drop(o.who["bob"], "drafts/secret.md", "bob's", "A secret"))
        await asyncio.to_thread(pushing.wait)
        await o.who["hostess"]("remove_member", {"member": "bob"})
        bob = await invited(o, "bob", role="player", claim="auto:1")
        assert (await bob("status"))["untracked"] == []
        assert await bob("write", {"path": "drafts/mine.md", "content": "x"})
        assert not asked.done()
        assert "bob" in connector_of(o.house)._sessions
        go.set()
        assert (await refused(asked)).code == "OUTCOME_UNKNOWN"
        assert o.runner.room.world.all_pending() == []  # type: ignore[attr-defined]
        assert "bob" not in connector_of(o.house)._sessions


async def test_a_member_who_is_removed_before_its_call_is_sent_gets_no_clone(tmp_path: Path) -> None:
    store = HeldStore()
    clock = FakeClock()
    async with open_house(store=store, clock=clock) as house:
        who = await make_room(house, ANN, BOB, EVE, HOST, world="workspace")
        runner, clones = house.rooms["den"], connector_of(house)._clones
        await remote_of(house).poll()
        store.go.clear()
        said = asyncio.ensure_future(who["ann"]("send_message", {"to": "ann", "content": "hi"}))
        await asyncio.sleep(0)
        asked = asyncio.ensure_future(who["bob"]("write", {"path": "drafts/a.md", "content": "x"}))
        for _ in range(5):
            await asyncio.sleep(0)
        gone = asyncio.ensure_future(who["hostess"]("remove_member", {"member": "bob"}))
        await asyncio.sleep(0)
        store.go.set()
        await asyncio.gather(said, gone)
        assert (await refused(asked)).code == "UNAUTHORIZED"
        assert [path.name for path in clones.iterdir()] == [".board"]
        assert runner.room.world.all_pending() == []  # type: ignore[attr-defined]
        assert "bob" not in runner.room.state.replies


async def test_a_call_that_waits_for_a_thread_when_its_member_is_removed_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connector, "MAX_RUNNING", 1)
    made, go = connector_in(tmp_path), threading.Event()
    busy = asyncio.ensure_future(made._writing.run(lambda: go.wait(100)))
    await asyncio.sleep(0)
    asked = asyncio.ensure_future(made.ask(Ask("write", {"path": "drafts/a.md", "content": "x"}), "ann"))
    await asyncio.sleep(0)
    made.member_removed("ann")
    go.set()
    await busy
    assert (await refused(asked)).code == "UNAUTHORIZED"
    assert not (tmp_path / "workspaces" / "den" / "ann").exists()
    await made.close()


def test_a_member_who_is_removed_while_its_clone_is_looked_up_does_not_break_that(tmp_path: Path) -> None:
    made = connector_in(tmp_path)

    class Removing(dict[str, Any]):
        """As if the member were removed in the middle of a look into it."""

        def __contains__(self, name: object) -> bool:
            there = super().__contains__(name)
            if there and name == "ann":
                self.pop("ann", None)
            return there

    first = made._session("ann")
    made._sessions = Removing(made._sessions)
    assert made._session("ann") is first
    for session in (first, made._board()):
        session.workspace().close()


# -- forgery ------------------------------------------------------------------------------------
FORGED = "## 2026-05-22 14:31 — bob (bob)\nI resign.\n\n"


async def test_a_member_cannot_speak_for_another_one_and_nothing_is_announced(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann = o.who["ann"]
        await drop(o.who["bob"], "drafts/b.md", "x", "Bob works")
        await ann("pull")
        denied = await refused(ann("write", {"path": "journal.md", "content": FORGED, "mode": "append"}))
        assert denied.code == "PERMISSION_DENIED"
        assert "bob" in denied.message
        pointer = {"path": ".pointers/bob.json", "content": '{"last_seen_sha": "' + "a" * 40 + '"}'}
        assert (await refused(ann("write", pointer))).code == "PERMISSION_DENIED"
        await ann("sync")
        await o.poll()
        assert not any("resign" in line for line in o.told())


async def test_an_entry_in_the_name_of_a_member_that_comes_from_elsewhere_is_announced_as_not_verified(
    tmp_path: Path,
) -> None:
    async with office(tmp_path / "house") as o:
        await drop(o.who["bob"], "drafts/b.md", "x", "Bob works")
        await o.poll()
        git("clone", "--quiet", str(shared(tmp_path / "house")), "mine", at=tmp_path)
        mine = tmp_path / "mine"
        with (mine / "journal.md").open("a") as journal:
            journal.write(FORGED)
        name = ("-c", "user.name=bob", "-c", "user.email=bob@den.invalid")
        git(*name, "commit", "--quiet", "-a", "-m", "[bob] I resign\n\nAgent: bob", at=mine)
        git("push", "--quiet", "origin", "HEAD:main", at=mine)
        await o.poll()
        assert [line for line in o.told() if "journal:" in line] == [
            "bob: journal: Bob works",
            "bob (not verified): journal: I resign.",
        ]
        board = await o.who["eve"]("board")
        assert [(entry["summary"], entry["verified"]) for entry in board["journal"]] == [
            ("I resign.", False),
            ("Bob works", True),
        ]
        seen = (await o.who["eve"]("view")).text
        assert 'bob (not verified) wrote in the journal: "I resign."' in seen


# -- what everybody is told, and what is recorded -----------------------------------------------
async def test_everybody_is_told_of_entries_and_items_when_they_are_pushed_and_not_before(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann, eve = o.who["ann"], o.who["eve"]

        async def told() -> list[str]:
            return [item.text for item in (await eve("events")).items if item.text.startswith("ann: ")]

        await o.poll()
        await ann("write", {"path": "drafts/a.md", "content": "x"})
        await ann("inbox_add", {"title": "Read the draft", "for": "bob"})
        await ann("journal_append", {"summary": "A thought that is not shared yet"})
        assert await told() == []
        await ann("add", {"paths": ["inbox.md"]})
        await drop(ann, "drafts/a.md", "y", "Wrote a draft\nin two lines")
        await o.poll()
        assert await told() == [
            "ann: pushed",
            "ann: journal: A thought that is not shared yet",
            "ann: journal: Wrote a draft in two lines",
            "ann: inbox: INB-001 for @bob: Read the draft",
        ]
        assert not [line for line in o.told() if "write" in line]


async def test_a_member_with_the_seat_or_the_handle_of_another_reads_nothing_of_what_that_one_did_not_push(
    tmp_path: Path,
) -> None:
    async with office(tmp_path) as o:
        hostess = o.who["hostess"]

        async def hears(client: Client) -> bool:
            return "SECRET" in repr((await client("events")).items)

        cat, dog = await invited(o, "cat", role="player"), await invited(o, "dog", role="player")
        await cat("sit", {"seat": "writer-3"})
        await cat("journal_append", {"summary": "SECRET plan"})
        await cat("inbox_add", {"title": "SECRET title"})
        await cat("stand_up")
        await dog("sit", {"seat": "writer-3"})
        assert not await hears(dog)
        await hostess("remove_member", {"member": "cat"})
        assert not await hears(await invited(o, "cat", role="player"))
        assert not await hears(hostess)


async def test_a_member_whose_seat_was_taken_can_work_from_another_one(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        cat, dog = await invited(o, "cat", role="player"), await invited(o, "dog", role="player")
        await cat("sit", {"seat": "writer-3"})
        await cat("write", {"path": "drafts/a.md", "content": "x"})
        await cat("stand_up")
        await dog("sit", {"seat": "writer-3"})
        await cat("sit")
        assert (await cat("status"))["untracked"] == ["drafts/a.md"]
        assert (await dog("status"))["untracked"] == []


async def test_a_closed_item_is_told_once_it_is_pushed(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann = o.who["ann"]
        await ann("inbox_add", {"title": "Read the draft"})
        await ann("inbox_close", {"id": "INB-001", "resolution": "read it"})
        await ann("add", {"paths": ["inbox.md"]})
        await o.poll()
        await drop(ann, "drafts/a.md", "y", "Wrote a draft")
        await o.poll()
        assert "ann: inbox: closed INB-001: read it" in o.told()


async def test_pushed_work_is_shown_immediately(tmp_path: Path) -> None:
    async def until_seen(o: Office) -> None:
        while "Wrote a draft" not in (await o.who["eve"]("view")).text:
            await o.runner.changed_since(o.runner.version, o.clock.now() + 1)

    async with office(tmp_path) as o:
        await o.poll()
        before = o.clock.now()
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await asyncio.wait_for(until_seen(o), 120)
        assert o.clock.now() == before


def write_elsewhere(folder: Path, *entries: tuple[str, str]) -> None:
    """Somebody with plain git pushes entries of the journal: who, and what."""
    mine = folder / "mine"
    if not mine.exists():
        git("clone", "--quiet", str(shared(folder / "house")), "mine", at=folder)
    git("pull", "-q", at=mine)
    with (mine / "journal.md").open("a") as journal:
        journal.write("".join(f"## 2026-05-22 14:30 — {who} (Mike)\n{what}\n\n" for who, what in entries))
    git("-c", "user.name=Mike", "-c", "user.email=m@example.org", "commit", "-qam", "[mike-cli] Read it", at=mine)
    git("push", "-q", at=mine)


async def test_a_push_from_elsewhere_is_announced_and_shown(tmp_path: Path) -> None:
    async with office(tmp_path / "house") as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.poll()
        write_elsewhere(tmp_path, ("mike-cli", "Read it all."))
        await o.clock.advance(connector.POLL_MS)
        await o.poll()
        assert "mike-cli (from elsewhere): journal: Read it all." in o.told()
        assert "Read it all." in (await o.who["eve"]("view")).text


async def test_only_what_is_new_is_told_and_of_much_at_once_how_much_more(tmp_path: Path) -> None:
    async with office(tmp_path / "house") as o:
        ann = o.who["ann"]
        for i in range(7):
            await ann("inbox_add", {"title": f"item {i + 1}"})
        await ann("add", {"paths": ["inbox.md"]})
        await drop(ann, "drafts/a.md", "x", "Wrote a draft")
        await o.poll()
        before = o.told()
        await ann("inbox_close", {"id": "INB-007", "resolution": "done"})  # items 2 to 6 are the newest open ones now
        await ann("add", {"paths": ["inbox.md"]})
        await ann("commit", {"message": "x"})
        await ann("push")
        await o.poll()
        assert o.told()[len(before) :] == ["ann: pushed", "ann: inbox: closed INB-007: done"]
        before = o.told()
        write_elsewhere(tmp_path, *(("mike-cli", f"Entry {i}") for i in range(13)))
        await o.poll()
        new = [f"mike-cli (from elsewhere): journal: Entry {i}" for i in range(3, 13)]
        assert o.told()[len(before) :] == [*new, "… and 3 more"]
        await o.runner.drained()
        assert stored_room(tmp_path / "house").digest() == o.runner.room.digest()


async def test_a_push_made_while_the_house_was_closed_is_announced_when_it_reopens(tmp_path: Path) -> None:
    async with office(tmp_path / "house") as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.poll()
    write_elsewhere(tmp_path, ("mike-cli", "Read it all."))
    async with open_house(tmp_path / "house") as house:
        runner = house.rooms["den"]
        before = runner.history.seq
        await remote_of(house).poll()
        told = [told.text for line in runner.room.record.tail if line.seq > before for told in line.entry.told]
        assert told == ["mike-cli (from elsewhere): journal: Read it all."]


async def test_the_first_look_at_a_board_that_was_there_tells_nothing(tmp_path: Path) -> None:
    async with office(tmp_path / "house") as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        remote = str(shared(tmp_path / "house"))
        await make_room(o.house, ANN, HOST, world="workspace", room="other", config={"remote": remote})
        runner = o.house.rooms["other"]
        await remote_of(o.house, "other").poll()
        told = [told.text for line in runner.room.record.tail for told in line.entry.told]
        assert told == ["connected to Workspace (repository den.git)"]


async def test_an_endless_name_from_elsewhere_is_cut_in_events_views_and_the_record(tmp_path: Path) -> None:
    async with office(tmp_path / "house") as o:
        await o.poll()
        before = o.runner.room.record.seq
        write_elsewhere(tmp_path, ("z" * 100_000, "Hello " + "there " * 10_000))
        await o.poll()
        assert len(o.told()[-1]) < 500
        assert len((await o.who["eve"]("view")).text) < 1_000
        assert all(len(line.body) < 2_000 for line in o.runner.room.record.tail if line.seq > before)


async def test_long_contents_are_not_recorded_and_the_answer_is_whole_all_the_same(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann, long = o.who["ann"], "word " * 1000
        await ann("write", {"path": "drafts/a.md", "content": long})
        assert o.recorded("asked")[0].args["args"] == {"path": "drafts/a.md", "content": "(omitted: 5000 characters)"}
        paths = [f"drafts/{i:03}.md" for i in range(100)]
        for path in paths:
            await ann("write", {"path": path, "content": "x"})
        added = await ann("add", {"paths": paths}, key="k")
        assert added["added"] == paths
        kept = o.recorded("answered")[-1].args["result"]
        assert len(str(kept)) < 1000
        assert kept["answer"]["shortened"]
        assert "shortened" in await ann("add", {"paths": paths}, key="k")


async def test_a_question_is_not_recorded_and_a_refusal_of_git_is_audited(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.poll()
        before = o.runner.room.record.seq
        await o.who["ann"]("status")
        await o.who["eve"]("board")
        assert o.runner.room.record.seq == before
        wrong = await refused(o.who["ann"]("read", {"path": "../../cohabit.db"}))
        assert wrong.code == "BAD_ARGS"
        assert o.runner.room.audit.kept[-1].code == "BAD_ARGS"


async def test_a_room_replays_from_its_record_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.poll()
        await o.runner.drained()
        monkeypatch.setenv("PATH", "")
        again = stored_room(tmp_path)
        assert again.digest() == o.runner.room.digest()
        assert "Wrote a draft" in again.view(again.state.members["eve"]).text


# -- bad days -----------------------------------------------------------------------------------
async def test_a_restarted_house_resumes_and_unpushed_work_is_still_there(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.who["ann"]("write", {"path": "drafts/a.md", "content": "half"})
        old = o.who
    async with open_house(tmp_path) as house:
        who = back_again(house, old)
        assert (await who["ann"]("status"))["untracked"] == ["drafts/a.md"]
        assert (await drop(who["ann"], "drafts/a.md", "whole", "Finished"))["ok"]
        assert not [e for e in house.rooms["den"].room.record.tail if e.entry.do == "lost"]


async def test_a_remote_that_does_not_answer_stalls_neither_other_rooms_nor_the_house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the connection, and never says a word
        remote = f"git://127.0.0.1:{silent.getsockname()[1]}/board.git"
        async with office(tmp_path, config={"remote": remote}) as o:
            waiting = [
                asyncio.ensure_future(o.who[n]("write", {"path": "drafts/a.md", "content": n})) for n in ("ann", "bob")
            ]
            hung, _ = await asyncio.to_thread(silent.accept)
            other = await make_room(o.house, ANN, BOB, EVE, HOST, world="workspace", room="other")
            assert (await drop(other["ann"], "drafts/a.md", "x", "Not stalled"))["ok"]
            nim = await make_room(o.house, ANN, BOB, world="nim", room="game")
            await nim["ann"]("take", {"n": 1})
            assert await o.who["eve"]("whoami")
            assert not any(asked.done() for asked in waiting)
            hung.close()
            silent.close()
            codes = [(await refused(asked)).code for asked in waiting]
            assert set(codes) == {"UNREACHABLE"}
            assert not (tmp_path / "workspaces/den/ann").exists()


async def test_the_board_can_be_read_while_its_remote_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.poll()
        asked, go = threading.Event(), threading.Event()
        monkeypatch.setattr(connector.origin, "fetch", lambda workspace: (asked.set(), go.wait(90))[0])
        looking = asyncio.ensure_future(o.poll())
        await asyncio.to_thread(asked.wait)
        assert (await o.who["eve"]("board"))["journal"]
        assert (await o.who["eve"]("read", {"path": "drafts/a.md"}))["content"] == "x"
        go.set()
        await looking


async def test_a_house_that_closes_does_not_wait_for_a_remote_and_says_later_that_nobody_knows(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        remote = f"git://127.0.0.1:{silent.getsockname()[1]}/board.git"
        async with office(tmp_path, config={"remote": remote}) as o:
            asked = asyncio.ensure_future(o.who["ann"]("sync"))
            hung, _ = await asyncio.to_thread(silent.accept)
            made = connector_of(o.house)
        assert (await refused(asked)).code == "OUTCOME_UNKNOWN"
        assert await made._writing.drain(0)
        assert await made._reading.drain(0)
        hung.close()
        async with open_house(tmp_path) as house:
            world = house.rooms["den"].room.world
            assert isinstance(world, Workspace)
            await house.rooms["den"].drained()
            assert world.all_pending() == []
            events = await Client(house, "den", "ann", o.who["ann"].token)("events")
            assert [item.text for item in events.items if item.text.startswith("ann: sync: the server stopped")]


async def test_a_member_whose_push_takes_long_holds_up_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing, go = slow_for_ann(monkeypatch)
    async with office(tmp_path) as o:
        slow = asyncio.ensure_future(drop(o.who["ann"], "drafts/a.md", "x", "Slow"))
        await asyncio.to_thread(pushing.wait)
        assert (await drop(o.who["bob"], "drafts/b.md", "x", "Quick"))["ok"]
        assert not slow.done()
        assert [sent.by for sent in o.runner.room.world.all_pending()] == ["ann"]  # type: ignore[attr-defined]
        go.set()
        assert (await slow)["ok"]


async def test_a_call_that_is_repeated_while_it_runs_waits_and_gets_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing, go, push, pushes = threading.Event(), threading.Event(), connector.origin.push, list[Any]()

    def slow(*args: Any) -> Any:
        pushes.append(args)
        pushing.set()
        go.wait(100)
        return push(*args)

    monkeypatch.setattr(connector.origin, "push", slow)
    async with office(tmp_path) as o:
        ann = o.who["ann"]
        await ann("write", {"path": "drafts/a.md", "content": "x"})
        await ann("add", {"paths": ["drafts/a.md"]})
        await ann("commit", {"message": "x"})
        first = asyncio.ensure_future(ann("push", key="k"))
        await asyncio.to_thread(pushing.wait)
        again = [asyncio.ensure_future(ann("push", key="k")) for _ in range(2)]
        assert await o.who["eve"]("status", key="k")
        await ann("send_message", {"to": "bob", "content": "it takes long"}, key="l")
        assert not any(asked.done() for asked in again)
        go.set()
        done = await first
        assert done["ok"]
        assert await asyncio.gather(*again) == [done, done]
        assert len(pushes) == 1
        assert not o.runner.room.audit.kept


async def test_a_member_with_many_calls_that_wait_keeps_nobody_else_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing, go = slow_for_ann(monkeypatch)
    async with office(tmp_path) as o:
        slow = asyncio.ensure_future(drop(o.who["ann"], "drafts/a.md", "x", "Slow"))
        await asyncio.to_thread(pushing.wait)
        waiting = [asyncio.ensure_future(o.who["ann"]("push")) for _ in range(remote.MAX_PENDING_CALLS)]
        await asyncio.sleep(0)
        busy = await refused(o.who["ann"]("push"))
        assert (busy.code, "of yours" in busy.message) == ("BUSY", True)
        assert (await drop(o.who["bob"], "drafts/b.md", "x", "Quick"))["ok"]
        assert await o.who["eve"]("board")
        monkeypatch.setattr(remote, "MAX_PENDING_CALLS_SEPARATE", remote.MAX_PENDING_CALLS_OF_MEMBER)
        assert (await refused(o.who["bob"]("status"))).code == "BUSY"
        go.set()
        assert (await slow)["ok"]
        ends = await asyncio.gather(*waiting, return_exceptions=True)
        assert sum(isinstance(end, dict) for end in ends) == remote.MAX_PENDING_CALLS_OF_MEMBER - 1


async def test_questions_that_wait_for_ones_own_push_take_no_place_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing, go, push = threading.Event(), threading.Event(), connector.origin.push

    def slow(*args: Any) -> Any:
        pushing.set()
        go.wait(100)
        return push(*args)

    async with office(tmp_path) as o:
        await o.poll()
        monkeypatch.setattr(connector.origin, "push", slow)
        pushed = asyncio.ensure_future(drop(o.who["ann"], "drafts/a.md", "x", "Slow"))
        await asyncio.to_thread(pushing.wait)
        asked = [asyncio.ensure_future(o.who["ann"]("status")) for _ in range(connector.MAX_RUNNING)]
        await asyncio.sleep(0)
        assert await o.who["eve"]("board")
        assert await o.who["bob"]("status")
        assert not any(each.done() for each in asked)
        go.set()
        assert (await pushed)["ok"]
        assert len(await asyncio.gather(*asked)) == connector.MAX_RUNNING


async def test_those_who_look_need_not_wait_for_those_who_push(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushing, go, push = threading.Event(), threading.Event(), connector.origin.push

    def slow(workspace: Any, *args: Any) -> Any:
        pushing.set()
        go.wait(100)
        return push(workspace, *args)

    monkeypatch.setattr(connector, "MAX_RUNNING", 1)
    async with office(tmp_path) as o:
        await o.poll()
        monkeypatch.setattr(connector.origin, "push", slow)
        asked = asyncio.ensure_future(drop(o.who["ann"], "drafts/a.md", "x", "Slow"))
        await asyncio.to_thread(pushing.wait)
        assert (await o.who["eve"]("board"))["journal"] == []
        assert (await o.who["bob"]("journal_tail"))["entries"] == []
        assert not asked.done()
        go.set()
        await asked


async def test_no_place_of_this_machine_leaves_the_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connector.origin, "RETRY_PAUSE", 0)
    async with office(tmp_path / "house") as o:
        ann = o.who["ann"]
        said = [
            await ann("workspace_info"),
            await ann("fetch"),
            await drop(ann, "drafts/a.md", "x", "x"),
            await ann("push"),
        ]
        shared(tmp_path / "house").rename(tmp_path / "gone.git")
        said += [await refused(ann(name)) for name in ("fetch", "push", "sync")]
        await o.poll()
        said += [o.remote.poll_error, *o.told(), *o.runner.room.audit.kept]
        assert not [text for text in map(repr, said) if str(tmp_path) in text]
        assert "does not answer" in (await o.who["eve"]("view")).text


async def test_no_place_of_a_remote_outside_of_the_house_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connector.origin, "RETRY_PAUSE", 0)
    monkeypatch.chdir("/")
    remote = tmp_path / "team" / "deck.git"
    async with office(tmp_path / "house", config={"remote": str(remote)}) as o:
        ann = o.who["ann"]
        await ann("inbox_add", {"title": "Read the draft"})
        await ann("add", {"paths": ["inbox.md"]})
        said = [await drop(ann, "drafts/a.md", "x", "x"), await ann("fetch"), await ann("workspace_info")]
        remote.rename(tmp_path / "gone.git")
        for name, args in [("push", None), ("fetch", None), ("claim", {"id": "INB-001"}), ("sync", None)]:
            said.append(await refused(ann(name, args)))
        said += [await refused(o.who["bob"]("status"))]
        await o.poll()
        said += [o.remote.poll_error, *o.told(), *o.runner.room.audit.kept]
        assert not [text for text in map(repr, said) if str(tmp_path) in text or "team" in text]


def test_a_remote_that_is_told_by_its_name_alone_is_no_place_to_be_hidden(tmp_path: Path) -> None:
    made = connector.setup.open_for(
        tmp_path / "clone", "deck", str(tmp_path / "deck.git"), Identity("ann", "Ann", "a@b.c")
    )
    assert (str(tmp_path / "deck.git"), "the remote") in Session.of(made).private_paths()
    made.remote = "deck.git"  # in "/somewhere/deck.git" it would hide what has to be found
    assert "the remote" not in dict(map(reversed, Session.of(made).private_paths()))  # type: ignore[arg-type]
    made.close()


async def test_a_history_that_was_rewritten_is_shown_as_it_is_now(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.poll()
        bare = shared(tmp_path)
        git("update-ref", "refs/heads/main", git("rev-parse", "main~1", at=bare), at=bare)
        await o.poll()
        assert (await o.who["eve"]("board"))["journal"] == []


async def test_a_deleted_room_leaves_the_shared_repository_and_no_clone(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.who["hostess"]("delete_room", {"confirm": "den"})
        assert [path.name for path in (tmp_path / "workspaces").iterdir()] == ["den.git"]


# -- which repository ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    "remote",
    [
        "https://ann:secret@example.org/x.git",
        "https://token@example.org/x.git",
        "ssh://a:b@example.org/x",
        "ext::sh -c x",
        "-x",
    ],
)
def test_an_address_with_a_secret_or_a_program_in_it_is_refused(remote: str) -> None:
    with pytest.raises(BadArgs) as wrong:
        Workspace(remote)
    assert "secret" not in wrong.value.message


def test_nobody_can_name_a_repository_over_the_wire() -> None:
    made: Any = create_room.__command__  # type: ignore[attr-defined]
    assert set(made.schema["properties"]) == {
        "scenario", "world", "players", "people", "brains", "room", "seed", "spectator_delay",
    }  # fmt: skip
    assert not [c for c in commands_of(Workspace()) if "remote" in " ".join(c.schema["properties"])]


async def test_a_repository_that_is_there_is_taken_as_it_is(tmp_path: Path) -> None:
    git("init", "-q", "--bare", "-b", "main", "ours.git", at=tmp_path)
    async with office(tmp_path / "house", config={"remote": str(tmp_path / "ours.git")}) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        assert "Wrote a draft" in git("show", "main:journal.md", at=tmp_path / "ours.git")
        assert (await o.who["ann"]("workspace_info"))["remote"] == "ours.git"
        assert not shared(tmp_path / "house").exists()
