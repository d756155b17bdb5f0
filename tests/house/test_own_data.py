"""A person sees and deletes what a house keeps of it; afterwards nothing of it is found in the data folder."""

import tracemalloc
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from starlette.applications import Starlette

from cohabit.errors import BadArgs, Conflict, PermissionDenied, Unauthorized
from cohabit.faces.http import http_routes
from cohabit.house.access.signing import ASSERTION, SigningKey
from cohabit.house.access.strangers import knock
from cohabit.house.house import House
from cohabit.house.lifecycle.own_data import Forgetting
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.identities import OWN_DATA_MS
from cohabit.house.store.memory import MemoryStore
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.testing.clock import FakeClock

from .making import BOB, HOST, Client, issue, make_room, newcomer, open_house

SECRET = "my very own words"
ANNABELLA = {"id": "annabella", "role": "player", "claim": "auto:0", "name": "Annabella Smith"}


def found_in(folder: Path, *texts: str) -> list[str]:
    """The files that contain one of these texts, whatever kind of files they are."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert files
    return [f"{path.name}: {text}" for path in files for text in texts if text.encode() in path.read_bytes()]


async def talked(house: House) -> dict[str, Client]:
    """A room in which annabella said something by every command, and others answered."""
    members = await make_room(house, ANNABELLA, BOB, HOST)
    ann, bob, host = members["annabella"], members["bob"], members["hostess"]
    await host("widen", {"member": "annabella", "may": ["send_broadcast"]})
    await ann("say", {"text": f"{SECRET} to all"})
    await ann("send_message", {"to": "bob", "content": f"{SECRET} to bob", "kind": SECRET}, key="k-1")
    await ann("send_data", {"data": {SECRET: [SECRET]}})
    await ann("ask", {"may": ["read_all"], "why": SECRET})
    await ann("disclose", {"backend": SECRET})
    await ann("report", {"reason": SECRET, "member": "bob"})
    await ann("act", {"action": "hide", "params": {"n": 3}, "reasoning": SECRET})
    await bob("hide", {"n": 2})
    await bob("send_message", {"to": "annabella", "content": "an answer"})
    with pytest.raises(PermissionDenied):
        await ann("mute", {"member": "bob"})
    return members


def replays(store: Store, room: str) -> Room:
    return Room.replay(read_lines(list(store.lines(room, -1)), -1, GENESIS), make_world)


async def test_a_person_sees_what_the_house_keeps_of_it_and_nobody_elses() -> None:
    async with open_house() as house:
        members = await talked(house)
        mine = await members["annabella"]("my_data")
        assert (mine.name, mine.kind, mine.tokens) == ("Annabella Smith", "agent", 1)
        (room,) = mine.rooms
        assert (room.room, room.handle, room.name, room.role) == ("den", "annabella", "Annabella Smith", "player")
        said = [text for message in room.messages for text in message.texts]
        assert f"{SECRET} to all" in said
        assert {m.command: m.texts for m in room.messages if m.command in ("report", "hide")} == {
            "report": [SECRET], "hide": [SECRET],
        }  # fmt: skip
        assert "an answer" not in said
        theirs = await members["bob"]("my_data")
        assert SECRET not in str(theirs)


async def test_what_is_kept_of_a_person_is_found_without_the_whole_record_in_memory(tmp_path: Path) -> None:
    async with open_house(tmp_path, recent_entries=10) as house:
        members = await make_room(house, ANNABELLA, BOB, HOST)
        for number in range(200):
            await members["bob"]("shout", {"text": str(number) * 20_000})
        recorded = sum(len(body) for _, body, _ in house.store.lines("den", -1))
        tracemalloc.start()
        try:
            await members["annabella"]("my_data")
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert recorded > 8_000_000
        assert most < recorded / 2


async def test_after_forget_me_nothing_is_found_in_the_data_folder_and_the_record_verifies(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await talked(house)
        assert found_in(tmp_path, SECRET, "annabella", "Annabella Smith")
        before = house.rooms["den"].room.world.snapshot()
        done = await members["annabella"]("forget_me", {"confirm": "Annabella Smith"})
        assert (done.cleaned, done.later, done.kept) == (["den"], [], {})
        assert found_in(tmp_path, SECRET, "annabella", "Annabella Smith") == []

        room = house.rooms["den"].room
        assert room.world.snapshot() == before
        again = replays(house.store, "den")
        assert again.digest() == room.digest()
        with pytest.raises(Unauthorized):
            await members["annabella"]("whoami")
        items = (await members["hostess"]("events", {"last": 100})).items
        assert any("were deleted; its moves are those of deleted-" in item.text for item in items)
        assert (await members["bob"]("recv_messages")).items[-1]["content"] == "[deleted]"
        await members["bob"]("hide", {"n": 1})
    async with open_house(tmp_path) as house:
        assert "den" in house.rooms
        assert not house.rooms.broken
    assert found_in(tmp_path, SECRET, "annabella", "Annabella Smith") == []


async def test_a_head_noted_while_a_record_is_rewritten_is_not_that_of_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads, clock = str(tmp_path / "heads"), FakeClock()
    async with open_house(tmp_path / "data", clock=clock, heads_file=heads) as house:
        members = await talked(house)
        await members["hostess"]("archive")
        file = house.rooms.heads
        assert file is not None
        noting_deletion = file.deleted

        async def deleted(room: str) -> None:
            await noting_deletion(room)
            file.start()  # its timer, before the new record is stored

        monkeypatch.setattr(file, "deleted", deleted)
        done = await members["annabella"]("forget_me", {"confirm": "Annabella Smith"})
        assert done.cleaned == ["den"]
        await clock.advance(120_000)  # the house record
        assert not house.broken
    async with open_house(tmp_path / "data", clock=clock, heads_file=heads) as house:
        assert not house.broken


async def test_forget_me_needs_the_name_and_changes_nothing_without_it() -> None:
    async with open_house() as house:
        members = await talked(house)
        before = house.rooms["den"].room.digest()
        with pytest.raises(BadArgs, match="confirm must be your name"):
            await members["annabella"]("forget_me", {"confirm": "yes"})
        assert house.rooms["den"].room.digest() == before
        assert (await members["annabella"]("my_data")).rooms


async def test_a_room_that_is_watched_is_cleaned_when_it_is_quiet(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await talked(house)
        reader = await members["bob"].reader()
        done = await members["annabella"]("forget_me", {"confirm": "Annabella Smith"})
        assert (done.cleaned, done.later) == ([], ["den"])
        with pytest.raises(Unauthorized):
            await members["annabella"]("whoami")
        await members["bob"]("hide", {"n": 1})
        assert reader.ended is None
        reader.sub.close()
        await house.clock.advance(house.settings.away_ms + 1_000)  # type: ignore[attr-defined]
        await house.retention.sweep()
        assert found_in(tmp_path, SECRET, "annabella", "Annabella Smith") == []
        assert [one for one in house.identities.everybody() if one.forgotten is not None] == []


async def test_an_invited_person_is_gone_from_invites_at_once_and_from_the_house_record_at_the_next_start(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, BOB, HOST)
        zoe = await newcomer(members["hostess"], "zoe-of-kent", kind="human", name="Zoe of Kent")
        done = await zoe("forget_me", {"confirm": "Zoe of Kent"})
        assert (done.cleaned, done.later) == (["den"], ["house"])
        (invite,) = house.identities.all_invites("den")
        assert invite.handle.startswith("deleted-")
    async with open_house(tmp_path) as house:
        await house.retention.sweep()
        assert found_in(tmp_path, "zoe-of-kent", "Zoe of Kent") == []
        assert replays(house.store, "house").digest() == house.ledger.runner.room.digest()
    assert found_in(tmp_path, "zoe-of-kent", "Zoe of Kent") == []


async def test_an_identity_that_comes_back_after_a_removal_and_shares_a_handle_is_told_apart(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, BOB, HOST)
        host = members["hostess"]
        first = await newcomer(host, "pat", kind="human", role="player")
        await first("send_message", {"to": "bob", "content": "of the first pat"})
        await first("leave")
        second = await newcomer(host, "pat", kind="human", role="player")
        await second("send_message", {"to": "bob", "content": "of the second pat"})
        await second("leave")
        third = await newcomer(host, "pat", kind="human", role="player")
        await third("send_message", {"to": "bob", "content": "of the third pat"})
        operator, who = house.identify(house.operator_token()), speaker(house, "of the second pat")
        done = await house.call(operator, None, "forget_identity", {"identity": who, "confirm": who})
        assert done.cleaned == ["den"]
        assert found_in(tmp_path, "of the second pat") == []
        assert len(found_in(tmp_path, "of the first pat", "of the third pat")) >= 2
        assert house.rooms["den"].room.state.with_handle("pat") is not None
        await third("send_message", {"to": "bob", "content": "still here"})
        assert replays(house.store, "den").digest() == house.rooms["den"].room.digest()


def speaker(house: House, text: str) -> str:
    """The identity that said this."""
    who: dict[str, str] = {}
    for again, line in Room.replaying(read_lines(list(house.store.lines("den", -1)), -1, GENESIS), make_world):
        who |= {m.id: m.identity for m in again.state.members.values()}
        if line.entry.args and text in str(line.entry.args):
            return who[line.entry.by or ""]
    raise AssertionError(f"nobody said {text!r}")


async def test_a_house_host_sees_and_deletes_the_data_of_an_identity_on_request_and_others_cannot() -> None:
    async with open_house() as house:
        members = await talked(house)
        operator = house.identify(house.operator_token())
        for known in ("Annabella Smith", "annabella", (await members["annabella"]("my_data")).identity):
            seen = await house.call(operator, None, "data_of", {"identity": known})
            assert seen.rooms[0].handle == "annabella"
        for command, args in (
            ("data_of", {"identity": "Annabella Smith"}),
            ("forget_identity", {"identity": "Annabella Smith", "confirm": "Annabella Smith"}),
        ):
            with pytest.raises(PermissionDenied):
                await members["hostess"](command, args)
        with pytest.raises(BadArgs, match="confirm"):
            await house.call(operator, None, "forget_identity", {"identity": "Annabella Smith", "confirm": "x"})
        args = {"identity": "Annabella Smith", "confirm": "Annabella Smith"}
        done = await house.call(operator, None, "forget_identity", args)
        assert done.cleaned == ["den"]
        with pytest.raises((Unauthorized, Conflict)):
            await members["annabella"]("whoami")


async def test_a_forgotten_profile_transcript_and_memory_are_gone(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await talked(house)
        me = (await members["annabella"]("my_data")).identity
        await house.writer.submit(Write(profiles=[(me, b"\x81\xa4name\xa5words")]))
        folder = tmp_path / "agents" / "den"
        folder.mkdir(parents=True, exist_ok=True)
        memory = house.bots.transcripts.memory_of("den", "annabella")
        assert memory is not None
        memory.write_text(SECRET)
        (folder / "transcript.jsonl").write_text(SECRET)
        assert (await members["annabella"]("my_data")).profile == {"name": "words"}
        await members["annabella"]("forget_me", {"confirm": "Annabella Smith"})
        assert house.store.profile(me) is None
        assert found_in(tmp_path, SECRET, me) == []


async def test_the_count_of_what_was_sent_to_a_forgotten_person_is_gone(tmp_path: Path) -> None:
    async def counted() -> str:
        stored = house.rooms["den"].egress.store()
        if stored is not None:
            await stored
        return str(house.store.egress("den"))

    async with open_house(tmp_path) as house:
        members = await talked(house)
        assert "annabella" in await counted()
        await members["annabella"]("forget_me", {"confirm": "Annabella Smith"})
        counts = await counted()
        assert "bob" in counts
        assert "annabella" not in counts


async def with_key(house: House, key: SigningKey, room: str, name: str | None = None) -> Client:
    said = {"k": ASSERTION, "room": room, "fp": house.gate.challenges.issue(room), "iat": house.clock.now() // 1000}
    joined = await knock(house.door, {"room": room, "name": name, "assertion": key.sign(said)})
    return Client(house, room, joined.member, joined.token)


@pytest.mark.parametrize(
    ("limit", "args"),
    [
        ("mute", {}), ("narrow", {"may": ["watch"]}), ("set_egress_budget", {"budget": 90_000}),
        ("remove_member", {"block": True}), ("leave", {}), ("forget_identity", {}),
    ],
)  # fmt: skip
async def test_deleting_its_data_lifts_no_limit_of_an_agent_key_in_any_room(
    limit: str, args: dict[str, Any], tmp_path: Path
) -> None:
    store = MemoryStore()
    async with open_house(tmp_path, store=store) as house:
        key, boss = SigningKey.generate(), await issue(house, "boss", host=True)
        hosts = {room: (await make_room(house, room=room, world="nim"))["hostess"] for room in ("den", "other", "nook")}
        known = {"key": key.public_jwk, "label": "owl", "may": ["watch", "send_message"]}
        for host in hosts.values():
            await host("set_entry", {"agent_keys": [known]})
        owl = await with_key(house, key, "den")
        await hosts["den"]("mute" if limit in ("leave", "forget_identity") else limit, {"member": "owl", **args})
        if limit == "leave":
            await owl("leave")
        other = await with_key(house, key, "other")
        await house.clock.advance(house.settings.away_ms + 1_000)  # type: ignore[attr-defined]
        if limit == "forget_identity":
            await boss(limit, {"identity": (who := (await other("my_data")).identity), "confirm": who})
        else:
            await other("forget_me", {"confirm": "owl"})
        with pytest.raises(
            PermissionDenied, match=r"this key was limited in this room, .* before its data was deleted"
        ):
            await with_key(house, key, "den")
        back = await with_key(house, key, "other")
        assert back.who == "agent", "it is not called by the pseudonym of what was deleted"
        assert (await hosts["other"]("entry")).agent_keys[0].label == ""
        assert (await back("my_data")).rooms[0].messages == []
        sent = (await back("egress")).members[0].backends
        assert [line.first > 0 for line in sent] == [True], "what is sent to it is counted and stored again"
        lines = (await hosts["other"]("audit", {"kinds": ["admissions"]})).lines
        (gone,) = [line.member for line in lines if line.text.endswith(" left")]
        about = (await hosts["other"]("audit", {"member": gone, "kinds": ["admissions"]})).lines
        assert f"{gone} left" in [line.text for line in about]
        assert (await back("forget_me", {"confirm": "agent"})).cleaned == ["other"]
    async with open_house(tmp_path, store=store) as house:
        with pytest.raises(PermissionDenied, match="this key was limited"):
            await with_key(house, key, "den")
        assert (await with_key(house, key, "nook")).who == "owl"


async def test_a_key_that_has_played_does_not_take_another_seat_in_the_same_game_by_deleting_its_data() -> None:
    async with open_house() as house:
        host, key = (await make_room(house, HOST, partial_intel=True))["hostess"], SigningKey.generate()
        await host("set_entry", {"agent_keys": [{"key": key.public_jwk, "may": ["act", "watch", "read_own"]}]})
        owl = await with_key(house, key, "den", "owl")
        await owl("sit", {"seat": "red"})
        await house.clock.advance(house.settings.away_ms + 1_000)  # type: ignore[attr-defined]
        assert (await owl("forget_me", {"confirm": "owl"})).cleaned in (["den"], [])
        await house.clock.advance(house.settings.away_ms + 1_000)  # type: ignore[attr-defined]
        await house.retention.sweep()
        with pytest.raises(PermissionDenied, match="has played in this game before its data was deleted"):
            await with_key(house, key, "den", "owl")
        await host("rematch")
        assert (await with_key(house, key, "den", "owl")).who == "owl"


async def test_an_agent_with_a_key_sees_and_deletes_its_data_and_joins_again_as_somebody_new(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        host, key = (await make_room(house))["hostess"], SigningKey.generate()
        await host("set_entry", {"agent_keys": [{"key": key.public_jwk, "may": ["send_message"]}]})

        async def come() -> Client:
            return await with_key(house, key, "den", "Zoe of Kent")

        zoe = await come()
        await zoe("send_message", {"to": "bob", "content": SECRET})
        for data in (
            await zoe("my_data"),
            await (await issue(house, "boss", host=True))("data_of", {"identity": zoe.who}),
        ):
            assert [(room.room, room.messages[0].texts) for room in data.rooms] == [("den", [SECRET])]
        who, reader = data.identity, await host.reader()
        assert (await zoe("forget_me", {"confirm": "Zoe of Kent"})).later == ["den"]
        with pytest.raises(Conflict, match="is being deleted"):
            await come()
        reader.sub.close()
        await house.clock.advance(house.settings.away_ms + 1_000)  # type: ignore[attr-defined]
        await house.retention.sweep()
        assert found_in(tmp_path, SECRET, "zoe-of-kent", "Zoe of Kent", who) == []
        assert (await (await come())("my_data")).rooms[0].messages == []


async def test_the_owner_of_the_data_folder_sees_the_rooms_that_it_is_in() -> None:
    async with open_house() as house:
        await make_room(house)
        operator = Client(house, "den", "operator", house.operator_token())
        await operator("join")
        assert [room.room for room in (await operator("my_data")).rooms] == ["den"]


async def http(house: House, token: str, command: str, **args: str) -> Any:
    """The answer to a call over HTTP: its result, or its error."""
    transport = httpx2.ASGITransport(Starlette(routes=http_routes(house)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        said = await client.post(f"/api/{command}", json=args, headers={"authorization": f"Bearer {token}"})
    answer = said.json()
    return answer["result"] if answer["ok"] else answer["error"]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("leave", "you have left this room"),
        ("removed", "you were removed from this room; ask"),
        ("blocked", "you were removed from this room and blocked"),
        ("uninvited", "you were removed from this room; ask"),
    ],
)
async def test_after_leaving_or_removal_the_token_shows_and_deletes_the_own_data_and_nothing_else(
    how: str, says: str, tmp_path: Path
) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, BOB, HOST)
        host = members["hostess"]
        yan = await newcomer(host, "yan-of-kent", kind="human", role="player", name="Yan")
        await yan("send_message", {"to": "bob", "content": SECRET})
        if how == "leave":
            await yan("leave")
        elif how == "uninvited":
            (line,) = (await host("invites")).invites
            await host("revoke_invite", {"invite": line.invite})
        else:
            await host("remove_member", {"member": "yan-of-kent", "block": how == "blocked"})
    async with open_house(tmp_path, clock=FakeClock(house.clock.now())) as house:
        for command in sorted(
            {*house.commands.by_name, *house.rooms["den"].commands.by_name} - {"my_data", "forget_me"}
        ):
            refused = await http(house, yan.token, command)
            assert (refused["code"], says in refused["message"]) == ("UNAUTHORIZED", True), command
        with pytest.raises(Unauthorized, match=f"{says}.*my_data"):
            house.identify(yan.token)
        mine = await http(house, yan.token, "my_data")
        operator = house.identify(house.operator_token())
        shown = await house.call(operator, None, "data_of", {"identity": "Yan"})
        for rooms in (mine["rooms"], msgspec.to_builtins(shown.rooms)):
            assert [(room["room"], room.get("handle")) for room in rooms] == [("den", None)]
            assert [message["texts"] for message in rooms[0]["messages"]] == [[SECRET]]
        done = await http(house, yan.token, "forget_me", confirm="Yan")
        assert done["cleaned"] == ["den"]
        assert found_in(tmp_path, SECRET) == []
        assert (await http(house, yan.token, "my_data"))["code"] == "UNAUTHORIZED"


async def test_having_seen_its_data_before_leaving_hides_nothing_after_it() -> None:
    async with open_house() as house:
        members = await make_room(house, BOB, HOST)
        yan = await newcomer(members["hostess"], "yan", role="player")
        await yan("send_message", {"to": "bob", "content": "first"})
        identity = (await yan("my_data")).identity
        await yan("send_message", {"to": "bob", "content": "second"})
        await yan("leave")
        mine = (await http(house, yan.token, "my_data"))["rooms"]
        shown = (await (await issue(house, "boss", host=True))("data_of", {"identity": identity})).rooms
        for rooms in (mine, msgspec.to_builtins(shown)):
            assert [message["texts"] for message in rooms[0]["messages"]] == [["first"], ["second"]]


async def test_a_token_that_was_revoked_replaced_or_left_behind_long_ago_does_not_delete_what_its_owner_wrote() -> None:
    async with open_house() as house:
        members = await make_room(house, BOB, HOST)
        host = members["hostess"]
        yan = await newcomer(host, "yan", kind="human", name="Yan")
        stolen = yan.token
        yan.token = (await yan("rotate_token")).token
        assert (await http(house, stolen, "forget_me", confirm="Yan"))["code"] == "UNAUTHORIZED"
        await yan("leave")
        assert (await http(house, stolen, "forget_me", confirm="Yan"))["code"] == "UNAUTHORIZED"
        assert (await http(house, yan.token, "my_data"))["name"] == "Yan"
        later = house.clock.now() + OWN_DATA_MS
        assert house.identities.for_own_data(yan.token, later - 1) is not None
        assert house.identities.for_own_data(yan.token, later) is None
        zoe = await newcomer(host, "zoe", kind="human", name="Zoe")
        await host("revoke_token", {"member": "zoe"})
        await host("remove_member", {"member": "zoe"})
        assert (await http(house, zoe.token, "forget_me", confirm="Zoe"))["code"] == "UNAUTHORIZED"


async def test_a_member_who_came_back_and_one_who_waits_see_what_they_wrote_and_where_they_are() -> None:
    async with open_house() as house:
        members = await make_room(house, BOB, HOST, guests=True)
        zoe = await issue(house, "zoe")
        for text in ("first", "second"):
            await zoe("join")
            await members["hostess"]("widen", {"member": "zoe", "may": ["send_message"]})
            await zoe("send_message", {"to": "bob", "content": text})
            (room,) = (await zoe("my_data")).rooms
            assert room.handle == "zoe"
            assert [message.texts for message in room.messages][-1] == [text]
            await zoe("leave")
        (room,) = (await zoe("my_data")).rooms
        assert [message.texts for message in room.messages] == [["first"], ["second"]]
        await members["hostess"]("set_entry", {"open": True, "lobby": True})
        waits = await knock(house.door, {"room": "den", "name": "Quentin"})
        (room,) = (await Client(house, "den", "Quentin", waits.token)("my_data")).rooms
        assert (room.handle, room.waiting, room.messages) == (None, True, [])


async def test_a_forgotten_person_is_out_of_archived_rooms_and_lobbies_and_the_record_verifies(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, ANNABELLA, BOB, HOST)
        ann, bob, host = members["annabella"], members["bob"], members["hostess"]
        await host("set_entry", {"open": True, "lobby": True})
        waits = await knock(house.door, {"room": "den", "name": "Quentin"})
        assert [line.name for line in (await host("lobby")).waiting] == ["Quentin"]
        quentin = Client(house, "den", "Quentin", waits.token)
        reader = await bob.reader()  # so the record is not written again yet
        assert (await quentin("forget_me", {"confirm": "Quentin"})).later == ["den"]
        assert (await host("lobby")).waiting == []
        await host("archive")
        assert (await ann("forget_me", {"confirm": "Annabella Smith"})).later == ["den"]
        assert [member.handle for member in (await host("roster")).members] == ["bob", "hostess"]
        reader.sub.close()
        assert (await bob("leave")).left == "bob"
        await host("unarchive")
        assert [member.handle for member in (await host("roster")).members] == ["hostess"]
        await house.clock.advance(house.settings.away_ms + 1_000)  # type: ignore[attr-defined]
        await house.retention.sweep()
        assert found_in(tmp_path, "annabella", "Annabella Smith", "Quentin") == []
        assert replays(house.store, "den").digest() == house.rooms["den"].room.digest()


NAMES = [
    "den",
    "role",
    "host",
    "guests",
    "partial_intel",
    "members",
    "identity",
    "id",
    "watch",
    "locked",
    "open",
    "hostess",
    "Secrets",
    "player",
    "slices",
]


@pytest.mark.parametrize("name", NAMES)
async def test_whatever_somebody_calls_itself_deleting_it_changes_nothing_else(name: str, tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, BOB, HOST, guests=True)
        host = members["hostess"]
        await host("set_entry", {"open": True, "lobby": True, "locked": False})
        zoe = await newcomer(host, "zoe", kind="human", name=name)
        await host("grant", {"member": "bob", "may": ["watch", "read_own"]})
        before = house.rooms["den"].room
        old = [(m.role, m.held, m.seat) for m in before.state.members.values() if m.handle != "zoe"]
        facts = before.state.partial_intel, before.state.guests, before.state.world, before.world.snapshot()
        policy = before.state.entry
        done = await zoe("forget_me", {"confirm": name})
        assert done.kept == {}
    async with open_house(tmp_path) as house:
        room = house.rooms["den"].room
        assert [(m.role, m.held, m.seat) for m in room.state.members.values()] == old
        assert (room.state.partial_intel, room.state.guests, room.state.world, room.world.snapshot()) == facts
        assert room.state.entry == policy
        assert room.digest() == replays(house.store, "den").digest()


async def test_requests_and_a_handle_that_somebody_else_has_now_do_not_keep_a_handle(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, BOB, HOST)
        host = members["hostess"]
        zoe = await newcomer(host, "zoe-of-kent", kind="human", name="Zoe")
        who = (await zoe("my_data")).identity
        asked = await zoe("ask", {"may": ["read_all"]})
        await host("decline", {"request": asked.request})
        await host("remove_member", {"member": "zoe-of-kent"})
        again = await newcomer(host, "zoe-of-kent", kind="human", name="Somebody else")
        await members["bob"]("send_message", {"to": "zoe-of-kent", "content": "hello"})
        boss = await issue(house, "boss", host=True)
        done = await boss("forget_identity", {"identity": who, "confirm": who})
        assert (done.cleaned, done.kept) == (["den"], {})
        assert (await again("whoami")).handle == "zoe-of-kent"
        assert len((await again("recv_messages")).items) == 1
        assert "deleted-" in str(list(house.store.lines("den", -1)))


async def test_a_house_host_cannot_free_the_seat_of_a_player_in_a_sealed_game_or_read_its_plans(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        members = await make_room(house, {**ANNABELLA, "kind": "human"}, BOB, HOST, partial_intel=True)
        boss = await issue(house, "boss", host=True)
        ann = members["annabella"]
        await ann("act", {"action": "hide", "params": {"n": 3}, "reasoning": SECRET})
        await ann("send_message", {"to": "bob", "content": SECRET})
        who = (await ann("my_data")).identity
        assert SECRET in str(await ann("my_data"))
        assert SECRET not in str(await boss("data_of", {"identity": who}))
        with pytest.raises(Conflict, match="wait until the game is over"):
            await boss("forget_identity", {"identity": who, "confirm": who})
        assert (await ann("whoami")).seat is not None
        for name in ("bob", "hostess"):
            await members[name]("send_message", {"to": "annabella", "content": SECRET})
        await members["bob"]("leave")
        for is_over in (False, True):  # of a player, of somebody who has left, and of a member without a seat
            for name in ("Annabella Smith", "bob", "hostess"):
                assert (SECRET in str(await boss("data_of", {"identity": name}))) is is_over
            house.rooms["den"].room.state.over_since = 1


async def test_nothing_is_remembered_of_deletions_that_were_not_possible_when_the_identity_or_the_room_is_gone() -> (
    None
):
    async with open_house(keep_entries=2, snapshot_every=2) as house:
        forgetting = house.services.need(Forgetting)
        members = await make_room(house)
        ann, bob, host = members["ann"], members["bob"], members["hostess"]
        identity = (await bob("my_data")).identity
        attic = await make_room(house, {**BOB, "identity": identity}, HOST, room="attic")
        for _ in range(8):  # the beginning of the record is deleted
            await host("say", {"text": "hello"})
        done = await ann("forget_me", {"confirm": "ann"})
        assert ([*done.kept], done.later, forgetting._impossible) == (["den"], [], set())
        reader = await attic["hostess"].reader()  # so that the attic is in use
        done = await bob("forget_me", {"confirm": "bob"})
        assert ([*done.kept], done.later, len(forgetting._impossible)) == (["den"], ["attic"], 1)
        await house.delete_room("den")
        assert forgetting._impossible == set()
        reader.sub.close()
        await reader.task
