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

from cohabit.errors import BadArgs, CohabitError
from cohabit.house import desks
from cohabit.house.commands import create_room
from cohabit.house.house import House
from cohabit.house.remote import RemoteHost
from cohabit.room.commands import commands_of
from cohabit.testing.clock import FakeClock
from cohabit.workspace.offered import OF_A_PERSON, offered
from cohabit.worlds.workspace import Workspace

from .making import ANN, BOB, HOST, Client, back_again, make_room, open_house, recorded, remote_den, stored_room

EVE = {"id": "eve"}  # an agent without a role: it watches


class Office(NamedTuple):
    """A house with a workspace: ann and bob have a desk each, eve and the hostess look on."""

    house: House
    clock: FakeClock
    who: dict[str, Client]

    @property
    def host(self) -> RemoteHost:
        return remote_den(self.house)

    def recorded(self, *dos: str) -> list[Any]:
        return recorded(self.host, *dos)

    def told(self) -> list[str]:
        return [told.text for line in self.host.room.record.tail for told in line.entry.told]


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


def git(*args: str, at: Path) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(at), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *args], cwd=at, env=env, capture_output=True, text=True, check=True).stdout.strip()


def shared(folder: Path) -> Path:
    return folder / "workspaces" / "den.git"


# -- what is offered ----------------------------------------------------------------------------
def test_the_tools_of_a_workspace_are_the_commands_of_its_room_and_no_list_has_them_twice() -> None:
    made = {command.name: command for command in commands_of(Workspace())}
    assert set(made) == {*offered(), "board", "board_read"}
    for name, tool in offered().items():
        assert made[name].records == tool.writes
        assert set(made[name].schema["properties"]) == set(tool.arguments)
        assert made[name].doc == tool.description
    assert not set(OF_A_PERSON) & set(made)


async def test_archive_closes_the_room_and_the_journal_is_archived_under_another_name(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        names = [c.name for c in o.host.room.commands]
        assert len(names) == len(set(names))
        assert o.host.room.commands.named("archive").where == "room"
        assert o.host.room.commands.named("workspace_archive").where == "world"


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


async def test_what_is_not_pushed_is_in_the_members_own_clone_alone(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.who["ann"]("write", {"path": "drafts/plan.md", "content": "mine"})
        assert (await o.who["ann"]("read", {"path": "drafts/plan.md"}))["content"] == "mine"
        for other in ("bob", "eve"):
            assert (await refused(o.who[other]("read", {"path": "drafts/plan.md"}))).code == "UNKNOWN_ASSET"


async def test_who_only_watches_sees_what_was_pushed_and_may_change_nothing(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/plan.md", "# Plan\n", "Wrote the plan")
        await o.host.look()
        seen = await o.who["eve"]("board")
        assert [entry["summary"] for entry in seen["journal"]] == ["Wrote the plan"]
        assert seen["folders"][0]["files"] == [{"path": "drafts/plan.md", "size": 7}]
        for ask in ("board_read", "read"):
            assert (await o.who["eve"](ask, {"path": "drafts/plan.md"}))["content"] == "# Plan\n"
        assert (await o.who["eve"]("workspace_info"))["agent_id"] == ""
        before = git("rev-parse", "main", at=shared(tmp_path))
        for name, tool in offered().items():
            if tool.writes:
                assert (await refused(o.who["eve"](name))).code == "PERMISSION_DENIED"
        assert git("rev-parse", "main", at=shared(tmp_path)) == before
        assert sorted(path.name for path in (tmp_path / "workspaces" / "den").iterdir()) == [".board", "ann"]


async def test_a_host_sees_the_board_and_a_person_who_sits_down_can_work(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.host.look()
        assert (await o.who["hostess"]("board"))["open"] == []
        made = await o.who["hostess"]("invite", {"id": "Zoë", "kind": "human"})
        zoe = Client(o.house, "den", "Zoë", made.token)
        denied = await refused(zoe("write", {"path": "drafts/a.md", "content": "x"}))
        assert denied.code == "PERMISSION_DENIED"
        assert "holds none" in denied.message
        await zoe("sit", {"seat": "desk-3"})
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


async def test_a_namesake_of_a_member_who_left_gets_a_clone_of_its_own(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await o.who["bob"]("write", {"path": "drafts/secret.md", "content": "bob's"})
        await o.who["hostess"]("remove_member", {"member": "bob"})
        made = await o.who["hostess"]("invite", {"id": "bob", "role": "player", "claim": "auto:1"})
        bob = Client(o.house, "den", "bob", made.token)
        assert (await refused(bob("read", {"path": "drafts/secret.md"}))).code == "UNKNOWN_ASSET"
        left = next((tmp_path / "workspaces" / "den").glob(".left-*-bob"))
        assert (left / "drafts/secret.md").read_text() == "bob's"


def test_a_member_who_is_removed_while_its_clone_is_looked_up_does_not_break_that(tmp_path: Path) -> None:
    made = desks.Desks(tmp_path, "den", None, FakeClock())

    class Removing(dict[str, Any]):
        """As if the member were removed in the middle of a look into it."""

        def __contains__(self, name: object) -> bool:
            there = super().__contains__(name)
            if there and name == "ann":
                self.pop("ann", None)
            return there

    first = made._desk("ann")
    made._open = Removing(made._open)
    assert made._desk("ann") is first
    for session in (first, made._board()):
        session.workspace().close()


# -- what everybody is told, and what is recorded -----------------------------------------------
async def test_everybody_is_told_of_entries_and_items_when_they_are_pushed_and_not_before(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann, eve = o.who["ann"], o.who["eve"]

        async def told() -> list[str]:
            return [item.text for item in (await eve("events")).items if item.text.startswith("ann: ")]

        await o.host.look()
        await ann("write", {"path": "drafts/a.md", "content": "x"})
        await ann("inbox_add", {"title": "Read the draft", "for": "bob"})
        await ann("journal_append", {"summary": "A thought that is not shared yet"})
        assert await told() == []
        await ann("add", {"paths": ["inbox.md"]})
        await drop(ann, "drafts/a.md", "y", "Wrote a draft\nin two lines")
        await o.host.look()
        assert await told() == [
            "ann: pushed",
            "ann: journal: A thought that is not shared yet",
            "ann: journal: Wrote a draft in two lines",
            "ann: inbox: INB-001 for @bob: Read the draft",
        ]
        assert "ann: write drafts/a.md" in o.told()


async def test_a_closed_item_is_told_once_it_is_pushed(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann = o.who["ann"]
        await ann("inbox_add", {"title": "Read the draft"})
        await ann("inbox_close", {"id": "INB-001", "resolution": "read it"})
        await ann("add", {"paths": ["inbox.md"]})
        await o.host.look()
        await drop(ann, "drafts/a.md", "y", "Wrote a draft")
        await o.host.look()
        assert "ann: inbox: closed INB-001: read it" in o.told()


async def test_what_was_pushed_shows_at_once(tmp_path: Path) -> None:
    async def until_seen(o: Office) -> None:
        while "Wrote a draft" not in (await o.who["eve"]("view")).text:
            await o.host.changed_since(o.host.version, o.clock.now() + 1)

    async with office(tmp_path) as o:
        await o.host.look()
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await asyncio.wait_for(until_seen(o), 30)  # no time goes by on the clock of this house


async def test_what_somebody_pushed_from_elsewhere_is_told_and_shown(tmp_path: Path) -> None:
    async with office(tmp_path / "house") as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.host.look()
        git("clone", "--quiet", str(shared(tmp_path / "house")), "mine", at=tmp_path)
        mine = tmp_path / "mine"
        with (mine / "journal.md").open("a") as journal:
            journal.write("## 2026-05-22 14:30 — mike-cli (Mike)\nRead it all.\n\n")
        git("-c", "user.name=Mike", "-c", "user.email=m@example.org", "commit", "-qam", "[mike-cli] Read it", at=mine)
        git("push", "-q", at=mine)
        await o.clock.advance(desks.LOOK_MS)
        await o.host.look()
        assert "mike-cli (from elsewhere): journal: Read it all." in o.told()
        assert "Read it all." in (await o.who["eve"]("view")).text


async def test_long_contents_are_not_recorded_and_the_answer_is_whole_all_the_same(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        ann, long = o.who["ann"], "word " * 1000
        await ann("write", {"path": "drafts/a.md", "content": long})
        assert o.recorded("asked")[0].args["args"] == {"path": "drafts/a.md", "content": "(5000 characters)"}
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
        await o.host.look()
        before = o.host.room.record.seq
        await o.who["ann"]("status")
        await o.who["eve"]("board")
        assert o.host.room.record.seq == before
        wrong = await refused(o.who["ann"]("read", {"path": "../../cohabit.db"}))
        assert wrong.code == "BAD_ARGS"
        assert o.host.room.audit.kept[-1].code == "BAD_ARGS"


async def test_a_room_replays_from_its_record_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.host.look()
        await o.host.drained()
        monkeypatch.setenv("PATH", "")
        again = stored_room(tmp_path)
        assert again.digest() == o.host.room.digest()
        assert "Wrote a draft" in again.view(again.state.members["eve"]).text


# -- bad days -----------------------------------------------------------------------------------
async def test_a_restarted_house_goes_on_and_unpushed_work_is_still_there(tmp_path: Path) -> None:
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
        await o.host.look()
        asked, go = threading.Event(), threading.Event()
        monkeypatch.setattr(desks.origin, "fetch", lambda workspace: (asked.set(), go.wait(90))[0])
        looking = asyncio.ensure_future(o.host.look())
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
            way = o.house.bridges["den"]
        assert (await refused(asked)).code == "OUTCOME_UNKNOWN"
        assert await way._acting.rest(0)
        assert await way._looking.rest(0)
        hung.close()
        async with open_house(tmp_path) as house:
            world = house.rooms["den"].room.world
            assert isinstance(world, Workspace)
            await house.rooms["den"].drained()
            assert world.out() == []
            events = await Client(house, "den", "ann", o.who["ann"].token)("events")
            assert [item.text for item in events.items if item.text.startswith("ann: sync: the house stopped")]


async def test_a_member_whose_push_takes_long_holds_up_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing, go, push = threading.Event(), threading.Event(), desks.origin.push

    def slow_for_ann(workspace: Any, commit: str) -> Any:
        if workspace.who.agent_id == "ann":
            pushing.set()
            go.wait(30)
        return push(workspace, commit)

    monkeypatch.setattr(desks.origin, "push", slow_for_ann)
    async with office(tmp_path) as o:
        slow = asyncio.ensure_future(drop(o.who["ann"], "drafts/a.md", "x", "Slow"))
        await asyncio.to_thread(pushing.wait)
        assert (await drop(o.who["bob"], "drafts/b.md", "x", "Quick"))["ok"]
        assert not slow.done()
        assert [sent.by for sent in o.host.room.world.out()] == ["ann"]  # type: ignore[attr-defined]
        go.set()
        assert (await slow)["ok"]


async def test_those_who_look_need_not_wait_for_those_who_push(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushing, go, push = threading.Event(), threading.Event(), desks.origin.push

    def slow(workspace: Any, commit: str) -> Any:
        pushing.set()
        go.wait(30)
        return push(workspace, commit)

    monkeypatch.setattr(desks, "AT_ONCE", 1)
    async with office(tmp_path) as o:
        await o.host.look()
        monkeypatch.setattr(desks.origin, "push", slow)
        asked = asyncio.ensure_future(drop(o.who["ann"], "drafts/a.md", "x", "Slow"))
        await asyncio.to_thread(pushing.wait)
        assert (await o.who["eve"]("board"))["journal"] == []
        assert (await o.who["bob"]("journal_tail"))["entries"] == []
        assert not asked.done()
        go.set()
        await asked


async def test_no_place_of_this_machine_leaves_the_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks.origin, "PAUSE", 0)
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
        await o.host.look()
        said += [o.host.trouble, *o.told(), *o.host.room.audit.kept]
        assert not [text for text in map(repr, said) if str(tmp_path) in text]
        assert "does not answer" in (await o.who["eve"]("view")).text


async def test_a_history_that_was_rewritten_is_shown_as_it_is_now(tmp_path: Path) -> None:
    async with office(tmp_path) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        await o.host.look()
        bare = shared(tmp_path)
        git("update-ref", "refs/heads/main", git("rev-parse", "main~1", at=bare), at=bare)
        await o.host.look()
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
    assert set(made.schema["properties"]) == {"scenario", "world", "players", "room", "seed"}
    assert not [c for c in commands_of(Workspace()) if "remote" in " ".join(c.schema["properties"])]


async def test_a_repository_that_is_there_is_taken_as_it_is(tmp_path: Path) -> None:
    git("init", "-q", "--bare", "-b", "main", "ours.git", at=tmp_path)
    async with office(tmp_path / "house", config={"remote": str(tmp_path / "ours.git")}) as o:
        await drop(o.who["ann"], "drafts/a.md", "x", "Wrote a draft")
        assert "Wrote a draft" in git("show", "main:journal.md", at=tmp_path / "ours.git")
        assert (await o.who["ann"]("workspace_info"))["remote"] == "ours.git"
        assert not shared(tmp_path / "house").exists()
