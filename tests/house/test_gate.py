"""The gate of a room: codes, names, open links, agent keys, the lobby, locking, blocking and leaving."""

import asyncio
import json
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from cohabit.errors import (
    BadArgs,
    Busy,
    CohabitError,
    Conflict,
    PermissionDenied,
    Unauthorized,
    UnknownAsset,
    UnknownRoom,
)
from cohabit.faces.addresses import network_of
from cohabit.house.access import codes, entry_limits
from cohabit.house.access.entry_limits import (
    ARRIVALS,
    FORGERIES,
    GUESSES,
    GUESSES_OF_ALL,
    LOBBY_LIMIT,
    PAUSE_MS,
    STALE_MS,
)
from cohabit.house.access.signing import ASSERTION, InviteBody, SigningKey, verify_invite
from cohabit.house.access.strangers import knock
from cohabit.house.house import House
from cohabit.scenario import check_handle, handle_for
from cohabit.testing.clock import FakeClock

from .making import (
    ANN,
    BOB,
    GOD,
    HOST,
    REFUSALS,
    TOKENS_MADE,
    Client,
    HeldStore,
    a_moment,
    back_again,
    invite,
    issue,
    make_room,
    open_house,
    recorded,
    stored_room,
)

AGENTS_AND_GOD = (ANN, BOB, HOST, GOD)
AGENT, STRANGER = SigningKey.generate(), SigningKey.generate()


def handles(house: House, room: str = "den") -> list[str]:
    return [member.handle for member in house.rooms[room].room.state.members.values()]


async def come(house: House, room: str = "den", **args: Any) -> Client:
    """A newcomer without a token: a member now, or in the lobby."""
    reply = await knock(house.door, {"room": room, **args})
    assert reply.token is not None
    assert "keep_token" not in reply.note, "it has no other token that it could keep"
    TOKENS_MADE.append(reply.token)
    return Client(house, room, reply.member, reply.token)


def assertion(house: House, room: str = "den", key: SigningKey = AGENT, **change: Any) -> str:
    made = {"k": ASSERTION, "room": room, "fp": house.gate.challenges.issue(room), "iat": house.clock.now() // 1000}
    return key.sign({**made, **change})


async def waiting(host: Client) -> list[str]:
    return [line.knock for line in (await host("lobby")).waiting if not line.denied]


# -- who may come -----------------------------------------------------------------------------------
async def test_a_room_without_a_policy_is_unknown_to_strangers_like_one_that_does_not_exist() -> None:
    async with open_house() as house:
        await make_room(house)
        said = []
        for room in ("den", "nowhere"):
            for args in ({"name": "Eve"}, {"name": "Eve", "code": "K7M-2QX"}, {"assertion": "x.y"}):
                with pytest.raises(UnknownRoom) as refused:
                    await knock(house.door, {"room": room, **args})
                said.append(refused.value.message.replace(room, ""))
        assert len(set(said)) == 1


async def test_an_agent_that_joins_by_itself_watches_unless_the_host_lets_agents_play() -> None:
    async with open_house() as house:
        who = await make_room(house, *AGENTS_AND_GOD)
        await who["hostess"]("set_entry", {"open": True, "kind": "agent"})
        watcher = await come(house, name="Wes")
        assert (await watcher("whoami")).role == "agent"
        changed = await who["hostess"]("set_entry", {"agents_play": True})
        assert changed.entry.agents_play
        player = await come(house, name="Pia")
        assert (await player("whoami")).role == "player"
        assert (await watcher("whoami")).role == "agent"


async def test_an_open_room_lets_anyone_in_as_the_kind_that_the_host_chose() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True})
        eve = await come(house, name="Eve Adams", backend="gpt-oss:20b")
        me = await eve("whoami")
        assert (me.handle, me.name, me.kind, me.role) == ("Eve-Adams", "Eve Adams", "human", "human")
        assert me.grant["backend"] == "gpt-oss:20b"
        await who["hostess"]("set_entry", {"kind": "agent"})
        bot = await come(house, name="Eve Adams")
        me = await bot("whoami")
        assert (me.handle, me.kind, me.role) == ("Eve-Adams-2", "agent", "agent")
        with pytest.raises(BadArgs, match="name"):
            await knock(house.door, {"room": "den"})


@pytest.mark.parametrize(
    ("said", "disclosed", "egress"),
    [
        ({}, False, False),
        ({"egress": True}, True, True),
        ({"backend": "llama"}, True, True),
        ({"backend": " "}, False, False),
    ],
)
async def test_what_a_newcomer_says_about_its_backend_is_its_disclosure(
    said: dict[str, Any], disclosed: bool, egress: bool
) -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "kind": "agent"})
        await come(house, name="Eve", **said)
        (line,) = [line for line in (await who["hostess"]("permissions")).members if line.member == "Eve"]
        assert (line.disclosed, line.egress) == (disclosed, egress)


async def test_a_newcomer_cannot_choose_what_it_is() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True})
        for lie in (
            {"kind": "human"},
            {"role": "god"},
            {"may": ["read_all"]},
            {"identity": "i-operator"},
            {"claim": "auto:0"},
        ):
            with pytest.raises(BadArgs):
                await knock(house.door, {"room": "den", "name": "Eve", **lie})
        assert handles(house) == ["ann", "bob", "hostess"]


async def test_a_name_on_the_list_comes_in_without_regard_to_case_and_spaces() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"names": ["Ann  Lee", "Bo"]})
        assert (await (await come(house, name=" ann LEE "))("whoami")).handle == "ann-LEE"
        for name in ("Eve", "AnnLee", "Ann", " "):
            with pytest.raises((PermissionDenied, BadArgs)):
                await knock(house.door, {"room": "den", "name": name})
        for wrong in (["Bo", "  bo "], [""], [" "], ["x" * 65]):
            with pytest.raises(BadArgs):
                await who["hostess"]("set_entry", {"names": wrong})
        assert (await who["hostess"]("entry")).names == ["Ann Lee", "Bo"]


async def test_a_code_lets_people_in_and_is_shown_once_and_stored_as_a_hash(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        made = await who["hostess"]("set_entry", {"code": "new"})
        assert made.code is not None
        assert (made.entry.code, made.link) == (True, "/?join=den")
        assert "put the address of the house before the link" in made.note
        for typed in (f" {made.code.lower()} ", made.code.replace("-", ""), made.code.replace("-", " ")):
            await come(house, name="Eve", code=typed)
        for wrong in ({}, {"code": ""}, {"code": "WRONG-1"}):
            with pytest.raises(PermissionDenied):
                await knock(house.door, {"room": "den", "name": "Mallory", **wrong})
        shown = await who["hostess"]("entry")
        assert shown.code is True
        chosen = await who["hostess"]("set_entry", {"code": "open sesame"})
        assert chosen.code == "open sesame"
        with pytest.raises(PermissionDenied, match="wrong code"):
            await knock(house.door, {"room": "den", "name": "Mallory", "code": made.code})
        await who["hostess"]("set_entry", {"code": ""})
        with pytest.raises(UnknownRoom):
            await knock(house.door, {"room": "den", "name": "Mallory", "code": "open sesame"})
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert made.code.encode() not in stored
    assert b"open sesame" not in stored


STRANGER_AT, PERSON_AT = "203.0.113.7", "198.51.100.2"


async def guess(house: House, room: str = "den", address: str = STRANGER_AT) -> None:
    with pytest.raises(PermissionDenied, match="wrong code"):
        await knock(house.door, {"room": room, "name": "Eve", "code": "AAA-AAA-AAA"}, address=address)


CHOSEN = "open sesame"


async def test_wrong_codes_stop_the_caller_that_sent_them_and_nobody_else() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who, there = await make_room(house), await make_room(house, room="attic")
        code = (await who["hostess"]("set_entry", {"code": CHOSEN})).code
        other = (await there["hostess"]("set_entry", {"code": CHOSEN})).code
        for _ in range(GUESSES):
            await guess(house)
        for tried in (code, "AAA-AAA-AAA"):
            with pytest.raises(Busy, match="too many wrong codes"):
                await knock(house.door, {"room": "den", "name": "Eve", "code": tried}, address=STRANGER_AT)
        await knock(house.door, {"room": "den", "name": "Ann", "code": code}, address=PERSON_AT)
        await knock(house.door, {"room": "attic", "name": "Eve", "code": other}, address=STRANGER_AT)
        await clock.advance(60_000)
        await knock(house.door, {"room": "den", "name": "Eve", "code": code}, address=STRANGER_AT)
        (line,) = [line for line in (await who["hostess"]("audit", REFUSALS)).lines if line.code == "PERMISSION_DENIED"]
        assert (line.member, line.command, line.count) == ("(newcomer)", "join", GUESSES)


async def test_a_right_code_works_while_very_many_others_guess_and_each_of_them_has_one_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = 40  # a guess takes time; how many there may be is in `test_documented_limits.py`
    monkeypatch.setattr(entry_limits, "GUESSES_OF_ALL", many)
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        code = (await who["hostess"]("set_entry", {"code": CHOSEN})).code
        for number in range(many):
            await guess(house, address=f"192.0.2.{number}")
        for number in range(5):
            await guess(house, address=f"203.0.113.{number}")
            with pytest.raises(Busy, match="too many wrong codes"):
                await knock(house.door, {"room": "den", "name": "Eve", "code": code}, address=f"203.0.113.{number}")
        for number in range(5):
            reply = await knock(house.door, {"room": "den", "name": f"p{number}", "code": code}, address=PERSON_AT)
            assert reply.status == "joined"


async def test_a_caller_cannot_try_more_codes_by_trying_them_at_once() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"code": CHOSEN})
        args = {"room": "den", "name": "Eve", "code": "AAA-AAA-AAA"}
        tries = [knock(house.door, args, address=STRANGER_AT) for _ in range(3 * GUESSES)]
        answers = Counter(type(found) for found in await asyncio.gather(*tries, return_exceptions=True))
        assert answers == {PermissionDenied: GUESSES, Busy: 2 * GUESSES}


async def test_a_right_code_of_the_house_works_behind_the_address_of_somebody_who_guesses() -> None:
    """The stranger shares its address with a person, and others guess from very many addresses at the same time."""
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        code = (await who["hostess"]("set_entry", {"code": "new"})).code
        for _ in range(GUESSES_OF_ALL):
            house.gate.guesses_of_all.add("den")
        wrong, right = (
            {"room": "den", "name": "Eve", "code": "AAA-AAA-AAA"},
            {"room": "den", "name": "Ann", "code": code},
        )
        tries = [asyncio.ensure_future(knock(house.door, wrong, address=STRANGER_AT)) for _ in range(2 * GUESSES)]
        while not any(one.done() for one in tries):  # then all others wait
            await clock.advance(PAUSE_MS)
        next(one for one in tries if not one.done()).cancel()  # a guesser who goes away holds nobody up
        person = asyncio.ensure_future(knock(house.door, right, address=STRANGER_AT))
        while not person.done():
            await clock.advance(PAUSE_MS)
        assert (await person).status == "joined"
        assert sum(one.done() for one in tries) < GUESSES  # it did not wait behind all of them
        while not all(one.done() for one in tries):
            await clock.advance(PAUSE_MS)
        refused = [one.exception() for one in tries if not one.cancelled()]
        assert {type(one) for one in refused} == {PermissionDenied}
        assert len(refused) == len(tries) - 1


async def test_people_at_one_address_join_at_once_with_the_right_code() -> None:
    async with open_house() as house:
        who = await make_room(house)
        code = (await who["hostess"]("set_entry", {"code": "new"})).code
        calls = [
            knock(house.door, {"room": "den", "name": f"p{n}", "code": code}, address=PERSON_AT) for n in range(30)
        ]
        assert {reply.status for reply in await asyncio.gather(*calls)} == {"joined"}


async def test_an_identity_that_guesses_is_stopped_wherever_it_is_and_others_of_the_house_are_not() -> None:
    async with open_house() as house:
        who = await make_room(house)
        code = (await who["hostess"]("set_entry", {"code": CHOSEN})).code
        operator = house.identify(house.operator_token())
        tokens = {
            name: (await house.call(operator, None, "issue_credential", {"name": name, "kind": "human"})).token
            for name in ("eve", "ann")
        }
        for number in range(GUESSES):
            with pytest.raises(PermissionDenied, match="wrong code"):
                await knock(house.door, {"room": "den", "code": "AAA-AAA-AAA"}, tokens["eve"], f"192.0.2.{number}")
        with pytest.raises(Busy, match="too many wrong codes"):
            await knock(house.door, {"room": "den", "code": code}, tokens["eve"], PERSON_AT)
        assert (await knock(house.door, {"room": "den", "code": code}, tokens["ann"], PERSON_AT)).status == "joined"


async def test_nobody_waits_for_the_check_of_a_strangers_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of access run one at a time in a house, and a check is slow."""
    checked, go = threading.Event(), threading.Event()
    matches = codes.matches

    def slow(code: str, stored: str) -> bool:
        checked.set()
        go.wait()
        return matches(code, stored)

    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"code": "new"})
        monkeypatch.setattr(codes, "matches", slow)
        guessing = asyncio.create_task(guess(house))
        await asyncio.to_thread(checked.wait)
        try:
            assert (await who["ann"]("rotate_token")).member == "ann"
        finally:
            go.set()
        await guessing


async def test_a_stranger_that_calls_too_often_or_forges_signatures_keeps_nobody_out() -> None:
    async with open_house(calls_per_second=20) as house:
        who = await make_room(house)
        keys = [{"key": AGENT.public_jwk}]
        code = (await who["hostess"]("set_entry", {"code": "new", "agent_keys": keys})).code
        refused = set()
        for _ in range(FORGERIES + 40):
            try:
                forged = assertion(house, key=STRANGER)
                await knock(house.door, {"room": "den", "name": "Eve", "assertion": forged}, address=STRANGER_AT)
            except CohabitError as wrong:
                refused.add(wrong.code)
        assert "BUSY" in refused
        right = {"room": "den", "assertion": assertion(house)}
        assert (await knock(house.door, right, address=PERSON_AT)).status == "joined"
        person = {"room": "den", "name": "Ann", "code": code}
        assert (await knock(house.door, person, address=PERSON_AT)).status == "joined"


async def test_those_who_were_given_a_code_find_space_in_a_lobby_that_strangers_have_filled() -> None:
    async with open_house() as house:
        who = await make_room(house)
        code = (await who["hostess"]("set_entry", {"code": "new", "open": True, "lobby": True})).code
        for number in range(LOBBY_LIMIT):
            await knock(house.door, {"room": "den", "name": f"p{number}"}, address=STRANGER_AT)
        with pytest.raises(Busy, match="the lobby of this room is full"):
            await knock(house.door, {"room": "den", "name": "Mallory"}, address=STRANGER_AT)
        reply = await knock(house.door, {"room": "den", "name": "Ann", "code": code}, address=PERSON_AT)
        assert reply.status == "waiting"
        names = [line.name for line in (await who["hostess"]("lobby")).waiting]
        assert names == [*(f"p{number}" for number in range(1, LOBBY_LIMIT)), "Ann"]


def test_a_client_with_a_whole_ipv6_network_is_one_caller() -> None:
    assert network_of("2001:db8:1:2::1") == network_of("2001:db8:1:2:ffff::9") != network_of("2001:db8:1:3::1")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") != network_of("192.0.2.2")
    assert network_of("a-name") == "a-name"


async def test_wrong_codes_of_a_deleted_room_do_not_lock_a_new_one_with_its_name() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"code": "new"})
        for _ in range(GUESSES):
            with pytest.raises(PermissionDenied, match="wrong code"):
                await knock(house.door, {"room": "den", "name": "Eve", "code": "AAA-AAA-AAA"})
        await house.delete_room("den")
        who = await make_room(house)
        code = (await who["hostess"]("set_entry", {"code": "new"})).code
        await come(house, name="Ann", code=code)


async def test_right_codes_do_not_count_as_guesses() -> None:
    async with open_house() as house:
        who = await make_room(house)
        code = (await who["hostess"]("set_entry", {"code": "new"})).code
        for i in range(GUESSES + 2):
            await come(house, name=f"p{i}", code=code)


async def test_newcomers_without_a_token_are_limited_per_minute() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True})
        for i in range(ARRIVALS):
            await come(house, name=f"p{i}")
        with pytest.raises(Busy, match="too many newcomers"):
            await knock(house.door, {"room": "den", "name": "Eve"})
        await clock.advance(60_000)
        await come(house, name="Eve")


async def test_only_a_host_sets_the_policy_and_only_gives_what_it_has() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for name, args in (("set_entry", {"open": True}), ("entry", {}), ("lobby", {}), ("admit", {"knock": "x"}),
                           ("deny", {"knock": "x"}), ("unblock", {"member": "x"})):  # fmt: skip
            with pytest.raises(PermissionDenied):
                await who["ann"](name, args)
        key = {"key": AGENT.public_jwk}
        for wrong, error in (
            ({"agent_keys": [{**key, "may": ["read_all"]}]}, PermissionDenied),
            ({"agent_keys": [{**key, "may": ["fly"]}]}, BadArgs),
            ({"agent_keys": [key, key]}, BadArgs),
            ({"agent_keys": [{"key": {"kty": "EC"}}]}, BadArgs),
            ({"agent_keys": [{"key": {**AGENT.public_jwk, "x": 7}}]}, BadArgs),
            ({"code": "sesame1"}, BadArgs),
            ({"code": "a - b - c - d - e"}, BadArgs),
            ({"kind": "god"}, BadArgs),
            ({}, BadArgs),
        ):
            with pytest.raises(error):
                await who["hostess"]("set_entry", wrong)
        assert house.rooms["den"].room.state.entry is None
        assert (await who["hostess"]("set_entry", {"code": "a-b-c-d-e-f-g-h"})).code == "a-b-c-d-e-f-g-h"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code": "new"}, "a new code"), ({"code": ""}, "no code"), ({"agents_play": False}, "agents watch"),
        ({"open": True}, "open"), ({"open": False}, "not open"), ({"kind": "agent"}, "kind agent"),
    ],
)  # fmt: skip
async def test_a_change_of_the_policy_is_told_in_words(change: dict[str, Any], words: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        reply = await who["hostess"]("set_entry", change)
        assert (reply.code is not None) == (words == "a new code")
        (line,) = recorded(house.rooms["den"], "entry_set")
        assert [told.text for told in line.told] == [f"hostess changed the entry policy: {words}"]


async def test_a_host_opens_a_room_only_to_newcomers_who_get_no_more_than_it_has() -> None:
    async with open_house() as house:
        who = await make_room(house, *AGENTS_AND_GOD)
        await who["zeus"]("narrow", {"member": "hostess", "may": ["send_broadcast"]})
        for wide in ({"open": True}, {"code": "new"}, {"names": ["Eve"]}):
            with pytest.raises(PermissionDenied, match="send_broadcast"):
                await who["hostess"]("set_entry", wide)
        await who["hostess"]("set_entry", {"open": True, "kind": "agent", "lobby": True})
        await who["hostess"]("set_entry", {"open": False})
        await who["zeus"]("narrow", {"member": "hostess", "may": ["send_message"]})
        with pytest.raises(PermissionDenied, match=r"agents that join by themselves.*send_message"):
            await who["hostess"]("set_entry", {"agents_play": True})
        await who["hostess"]("set_entry", {"agents_play": False})


async def test_a_policy_is_on_record_and_survives_a_restart_and_a_replay(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"lobby": True, "names": ["Eve"], "agent_keys": [{"key": AGENT.public_jwk}]})
        shown = await who["hostess"]("entry")
        (line,) = recorded(house.rooms["den"], "entry_set")
        assert [told.text for told in line.told] == ["hostess changed the entry policy: lobby, 1 names, 1 agent keys"]
    async with open_house(tmp_path) as house:
        assert await back_again(house, who)["hostess"]("entry") == shown
    replayed = stored_room(tmp_path).state.entry
    assert replayed is not None
    assert replayed.names == ("Eve",)
    async with open_house(tmp_path) as house:
        who = back_again(house, who)
        await who["hostess"]("set_entry", {"lobby": False, "names": [], "agent_keys": []})
        assert house.rooms["den"].room.state.entry is None


# -- agent keys -------------------------------------------------------------------------------------
async def test_an_agent_with_a_key_comes_in_as_an_agent_with_what_its_key_may() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"](
            "set_entry",
            {"agent_keys": [{"key": AGENT.public_jwk, "label": "owl", "may": ["watch", "send-chat", "watch"]}]},
        )
        owl = await come(house, assertion=assertion(house), egress=True)
        me = await owl("whoami")
        assert (me.handle, me.kind) == ("owl", "agent")
        assert (me.grant["perceive"], me.grant["egress"], me.grant.get("backend")) == (["watch"], True, None)
        assert "send_broadcast" in me.grant["act"]
        await who["hostess"]("set_entry", {"agent_keys": [{"key": STRANGER.public_jwk}], "kind": "human"})
        plain = await come(house, name="Hal 9", assertion=assertion(house, key=STRANGER))
        me = await plain("whoami")
        assert (me.handle, me.kind, me.role) == ("Hal-9", "agent", "agent")
        assert me.grant["act"] == []


async def test_an_assertion_is_for_one_use_one_room_and_one_key() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who, there = await make_room(house), await make_room(house, room="attic")
        for host in (who["hostess"], there["hostess"]):
            await host("set_entry", {"agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}]})
        good = assertion(house)
        await come(house, assertion=good)
        body, _, signature = assertion(house).partition(".")
        for wrong, reason, room in (
            (good, "not bound to a fresh challenge", "den"),
            (assertion(house), "wrong room", "attic"),
            (assertion(house, fp=house.gate.challenges.issue("attic")), "not bound to a fresh challenge", "den"),
            (assertion(house, key=STRANGER), "no matching key", "den"),
            (assertion(house, k="kbz-agent-key.v2"), "wrong assertion kind", "den"),
            (assertion(house, iat=None), "no iat", "den"),
            (assertion(house, iat=house.clock.now() // 1000 + 61), "issued in the future", "den"),
            (assertion(house, iat=house.clock.now() // 1000 - 301), "stale", "den"),
            (f"{body}.{signature[::-1]}", "no matching key", "den"),
            ("nonsense", "malformed assertion", "den"),
        ):
            with pytest.raises(PermissionDenied) as refused:
                await knock(house.door, {"room": room, "assertion": wrong})
            assert refused.value.details["reason"] == reason
        old = assertion(house)
        await clock.advance(300_000)
        with pytest.raises(PermissionDenied, match="fresh challenge"):
            await knock(house.door, {"room": "den", "assertion": old})
        with pytest.raises(BadArgs):
            await knock(house.door, {"room": "den", "assertion": "x" * 2049})
        assert handles(house) == ["ann", "bob", "hostess", "owl"]


async def test_the_same_key_is_the_same_member_and_its_old_token_ends() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}]})
        first = await come(house, assertion=assertion(house))
        second = await come(house, assertion=assertion(house))
        assert handles(house) == ["ann", "bob", "hostess", "owl"]
        with pytest.raises(Unauthorized):
            await first("whoami")
        assert (await second("whoami")).handle == "owl"


async def test_a_key_that_was_taken_off_the_list_lets_nobody_in() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"agent_keys": [{"key": AGENT.public_jwk}], "open": True})
        await who["hostess"]("set_entry", {"agent_keys": []})
        with pytest.raises(PermissionDenied, match="no allowed keys"):
            await knock(house.door, {"room": "den", "assertion": assertion(house)})


async def test_assertions_that_nobody_signed_are_limited_per_minute() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}]})
        for _ in range(FORGERIES):
            with pytest.raises(PermissionDenied, match="no matching key"):
                await knock(house.door, {"room": "den", "assertion": assertion(house, key=STRANGER)})
        with pytest.raises(Busy, match="without a valid signature"):
            await knock(house.door, {"room": "den", "assertion": assertion(house)})
        await clock.advance(60_000)
        await come(house, assertion=assertion(house))


async def test_an_identity_of_the_house_comes_by_code_name_or_link_as_what_it_is() -> None:
    async with open_house() as house:
        who = await make_room(house)
        zoe, yan = await issue(house, "zoe"), await issue(house, "yan", kind="human")
        with pytest.raises(UnknownRoom):
            await zoe("join")
        code = (await who["hostess"]("set_entry", {"code": "new", "names": ["Yan"]})).code
        with pytest.raises(PermissionDenied, match="needs a code"):
            await zoe("join", {"name": "Yan"})
        joined = await zoe("join", {"code": code})
        assert (joined.member, joined.role, joined.token) == ("zoe", "agent", None)
        assert (await yan("join")).role == "human"
        assert (await yan("whoami")).kind == "human"


# -- invites ----------------------------------------------------------------------------------------
async def test_the_token_of_an_invite_is_signed_by_the_house_and_says_what_it_gives() -> None:
    async with open_house(public_url="https://play.example/") as house:
        who = await make_room(house)
        made = await who["hostess"](
            "invite", {"id": "cy", "name": "Cyrus", "role": "player", "claim": "auto:3", "expires_in_s": 60}
        )
        TOKENS_MADE.append(made.token)
        key, now = (await house.signing.load()).public_jwk, house.clock.now()
        body = verify_invite(made.token, key, "den", now / 1000)
        assert body == InviteBody(
            name="Cyrus", room="den", exp=now // 1000 + 60, kind="agent", role="player", seat="auto:3", jti=made.invite
        )
        assert made.expires_at == now + 60_000
        assert made.link == f"https://play.example/?room=den#{made.code}"
        lasting = await who["hostess"]("invite", {"id": "dee", "may": ["watch"], "uses": 9})
        TOKENS_MADE.append(lasting.token)
        body = verify_invite(lasting.token, key, "den", now / 1000 + 10**9)
        assert isinstance(body, InviteBody)
        assert (body.may, body.role, body.uses, lasting.expires_at) == (["watch"], None, 9, None)


async def test_an_invite_is_accepted_without_connecting_first() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who, _ = await make_room(house), await make_room(house, room="attic")
        cy = await invite(who["hostess"], "cy", role="player")
        late = await invite(who["hostess"], "late", expires_in_s=5)
        body, _, signature = cy.token.partition(".")
        for token, room, reason in (
            (cy.token, "attic", "wrong room"),
            (f"{body}x.{signature}", "den", "bad signature"),
            (f"{body}.{late.token.partition('.')[2]}", "den", "bad signature"),
            (STRANGER.sign({"name": "cy", "room": "den", "exp": 10**10}), "den", "bad signature"),
            ((await house.signing.load()).sign({"name": "cy", "room": "attic", "exp": 10**10}), "den", "wrong room"),
        ):
            with pytest.raises(Unauthorized) as refused:
                await knock(house.door, {"room": room, "invite": token})
            assert refused.value.details["reason"] == reason
        unknown = (await house.signing.load()).sign({"name": "cy", "room": "den", "exp": 10**10, "kind": "human"})
        with pytest.raises(Unauthorized):
            await knock(house.door, {"room": "den", "invite": unknown})
        joined = await knock(house.door, {"room": "den", "invite": cy.token, "backend": "llama"})
        assert joined.member == "cy"
        assert (await Client(house, "den", "cy", joined.token)("whoami")).grant["backend"] == "llama"
        await clock.advance(5_000)
        with pytest.raises(Unauthorized, match="expired"):
            await knock(house.door, {"room": "den", "invite": late.token})


async def test_a_token_of_one_room_opens_no_other() -> None:
    async with open_house() as house:
        who, there = await make_room(house), await make_room(house, room="attic")
        for host in (who["hostess"], there["hostess"]):
            await host("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        eve.room = "attic"
        for name in ("join", "view", "whoami"):
            with pytest.raises(UnknownRoom):
                await eve(name)
        assert (await waiting(there["hostess"])) == []


# -- the lobby --------------------------------------------------------------------------------------
async def test_a_newcomer_waits_in_the_lobby_until_a_host_admits_it() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        assert (await eve("join")).status == "waiting"
        (line,) = (await who["hostess"]("lobby")).waiting
        assert (line.name, line.kind, line.how, line.since, line.denied) == (
            "Eve", "human", "open link", house.clock.now(), False,
        )  # fmt: skip
        call = asyncio.create_task(eve("join", {"wait_ms": 30_000}))
        await a_moment()
        assert not call.done()
        admitted = await who["hostess"]("admit", {"knock": line.knock})
        assert admitted.member == "Eve"
        joined = await call
        assert (joined.status, joined.member, joined.role, joined.token) == ("joined", "Eve", "human", None)
        assert (await eve("whoami")).handle == "Eve"
        assert (await eve("join")).status == "joined"
        assert await waiting(who["hostess"]) == []
        (entry,) = recorded(house.rooms["den"], "admit")
        assert (entry.by, [told.text for told in entry.told]) == (
            "hostess", ["Eve joined as human", "Eve joined as human, by the open link", "hostess admitted Eve"],
        )  # fmt: skip


async def test_a_waiting_newcomer_reads_nothing_of_the_room() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        credential = house.identify(eve.token)
        for command in house.rooms["den"].commands:
            if command.about == "room" and not command.before_joining:
                with pytest.raises(UnknownRoom, match="join"):
                    await eve(command.name)
        with pytest.raises(UnknownRoom):
            await house.subscribe(credential, "den")
        said = json.dumps([repr(await eve(name)) for name in ("capabilities", "schemas", "introduction", "rooms")])
        assert not re.findall(r"\b(hostess|ann|bob)\b", said)


async def test_hosts_are_told_who_waits_and_others_are_not() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        host, ann = await who["hostess"].reader(), await who["ann"].reader()
        await come(house, name="Eve")
        (knock_id,) = await waiting(who["hostess"])
        await who["hostess"]("deny", {"knock": knock_id})
        await a_moment()
        assert [item["text"] for item in host.items()] == [
            "Eve (human, by open link) waits in the lobby", "hostess denied Eve entry",
        ]  # fmt: skip
        assert ann.items() == []


async def test_a_denied_newcomer_is_told_and_can_still_be_admitted() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        call = asyncio.create_task(eve("join", {"wait_ms": 30_000}))
        await a_moment()
        (knock_id,) = await waiting(who["hostess"])
        await who["hostess"]("deny", {"knock": knock_id})
        assert (await call).status == "denied"
        assert (await eve("join")).status == "denied"
        with pytest.raises(UnknownRoom):
            await eve("view")
        await who["hostess"]("admit", {"knock": knock_id})
        assert (await eve("join")).status == "joined"
        with pytest.raises(UnknownAsset, match="nobody waits"):
            await who["hostess"]("deny", {"knock": knock_id})


async def test_a_wait_in_the_lobby_ends_after_its_time() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        call = asyncio.create_task(eve("join", {"wait_ms": 5_000}))
        await a_moment()
        await who["ann"]("hide", {"n": 1})
        await clock.advance(4_999)
        assert not call.done()
        await clock.advance(1)
        assert (await call).status == "waiting"


async def test_a_wait_in_the_lobby_ends_with_the_token_of_the_newcomer() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        await who["hostess"]("set_entry", {"lobby": True})
        zoe, operator = await issue(house, "zoe"), house.identify(house.operator_token())
        call = asyncio.create_task(zoe("join", {"wait_ms": 30_000}))
        while not await waiting(who["hostess"]):
            await a_moment()
        await house.call(operator, None, "revoke_credential", {"name": "zoe"})
        with pytest.raises(Unauthorized, match="revoked"):
            await asyncio.wait_for(call, 10)


async def test_one_token_cannot_hold_many_waits() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        calls = [asyncio.create_task(eve("join", {"wait_ms": 30_000})) for _ in range(9)]
        await a_moment()
        assert [type(call.exception()) for call in calls if call.done()] == [Busy]
        (knock_id,) = await waiting(who["hostess"])
        await who["hostess"]("admit", {"knock": knock_id})
        assert [(await call).status for call in calls[:8]] == ["joined"] * 8


async def test_guests_and_holders_of_invites_wait_in_the_lobby_too() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        await who["hostess"]("set_entry", {"lobby": True})
        zoe = await issue(house, "zoe")
        single = await invite(who["hostess"], "cy", role="player")
        shared = await invite(who["hostess"], "crowd", uses=2)
        keeps = {"keep_token": True}
        assert [(await c("join", keeps)).status for c in (zoe, single)] == ["waiting", "waiting"]
        replies = [await shared("join"), await shared("join")]
        TOKENS_MADE.extend(reply.token for reply in replies)
        crowd = [Client(house, "den", "crowd", reply.token) for reply in replies]
        lines = (await who["hostess"]("lobby")).waiting
        assert [(line.name, line.how) for line in lines] == [
            ("zoe", "guest"), ("cy", "invite"), ("crowd", "invite"), ("crowd", "invite"),
        ]  # fmt: skip
        with pytest.raises(Unauthorized):
            await shared("join")
        for line in lines:
            await who["hostess"]("admit", {"knock": line.knock})
        assert [(await c("join")).member for c in (zoe, single, *crowd)] == ["zoe", "cy", "crowd", "crowd-2"]
        assert (await single("whoami")).role == "player"
        boss = await issue(house, "boss", host=True)
        assert (await boss("join")).role == "host"


async def test_those_who_wait_still_wait_after_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        cy = await (await invite(who["hostess"], "cy")).join()
        assert (await cy("join")).status == "waiting"
    async with open_house(tmp_path) as house:
        who = back_again(house, who)
        eve, cy = Client(house, "den", "Eve", eve.token), Client(house, "den", "cy", cy.token)
        assert (await eve("join")).status == "waiting"
        for knock_id in await waiting(who["hostess"]):
            await who["hostess"]("admit", {"knock": knock_id})
        assert [(await c("join")).member for c in (eve, cy)] == ["Eve", "cy"]
    async with open_house(tmp_path) as house:
        assert (await Client(house, "den", "Eve", eve.token)("whoami")).handle == "Eve"
    assert {"Eve", "cy"} <= stored_room(tmp_path).state.members.keys()


async def test_revoking_an_invite_ends_the_wait_of_those_who_came_by_it() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"lobby": True})
        cy = await invite(who["hostess"], "cy")
        call = asyncio.create_task(cy("join", {"wait_ms": 30_000, "keep_token": True}))
        await a_moment()
        (line,) = (await who["hostess"]("invites")).invites
        await who["hostess"]("revoke_invite", {"invite": line.invite})
        with pytest.raises(Unauthorized, match="removed"):
            await call
        with pytest.raises(Unauthorized, match="revoked"):
            await cy("join")
        assert await waiting(who["hostess"]) == []


@pytest.mark.parametrize(
    ("entry", "args", "says"),
    [
        ({"code": "opensesame"}, {}, "this room needs a code"),
        ({"names": ["Ned"]}, {}, "your name is not on the list of this room"),
        ({"names": ["Ned"]}, {"code": "opensesame"}, "this room has no code"),
        ({"agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}]}, {}, "this room needs an invite or an agent key"),
    ],
)
async def test_who_has_no_way_in_is_told_what_the_room_needs(entry: Any, args: Any, says: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", entry)
        with pytest.raises(PermissionDenied, match=says):
            await knock(house.door, {"room": "den", "name": "Eve", **args})
        assert await waiting(who["hostess"]) == []


@pytest.mark.parametrize("how", ["revoked", "unknown"])
async def test_closing_the_lobby_lets_nobody_in_whose_invite_is_not_valid_any_more(how: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"lobby": True})
        cy = await invite(who["hostess"], "cy")
        assert (await cy("join")).status == "waiting"
        invites = vars(house.identities)["_invites"]
        for key, known in list(invites.items()):
            invites[key] = structs.replace(known, revoked=True) if how == "revoked" else structs.replace(known, id="x")
        await who["hostess"]("set_entry", {"lobby": False})
        assert (await cy("join")).status == "waiting"


async def test_closing_the_lobby_lets_those_in_who_still_wait() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve, mal = await come(house, name="Eve"), await come(house, name="Mal")
        (_, second) = await waiting(who["hostess"])
        await who["hostess"]("deny", {"knock": second})
        calls = [asyncio.create_task(one("join", {"wait_ms": 30_000})) for one in (eve, mal)]
        await a_moment()
        assert not calls[0].done()
        await who["hostess"]("set_entry", {"lobby": False})
        assert [(await call).status for call in calls] == ["joined", "denied"]


async def test_closing_the_lobby_lets_everybody_in_whose_way_to_join_still_exists() -> None:
    async with open_house() as house:
        who = await make_room(house)
        keys = [{"key": AGENT.public_jwk, "label": "owl"}]
        await who["hostess"]("set_entry", {"lobby": True, "code": "opensesame", "names": ["Ned"], "agent_keys": keys})
        by_invite = await (await invite(who["hostess"], "cy")).join()
        others = [
            await come(house, name="Eve", code="opensesame"),
            await come(house, name="Ned"),
            await come(house, assertion=assertion(house)),
        ]
        await who["hostess"]("set_entry", {"lobby": False})
        assert [(await one("join")).status for one in (by_invite, *others)] == ["joined"] * 4


async def test_a_full_lobby_drops_the_denied_and_the_stale_and_nobody_else() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        first = await come(house, name="first")
        for i in range(LOBBY_LIMIT - 1):
            await come(house, name=f"p{i}")
        with pytest.raises(Busy, match="the lobby of this room is full"):
            await knock(house.door, {"room": "den", "name": "Eve"})
        await who["hostess"]("deny", {"knock": (await waiting(who["hostess"]))[1]})
        await clock.advance(60_000)
        eve = await come(house, name="Eve")
        assert (await first("join")).status == "waiting"
        await clock.advance(STALE_MS - 60_000)
        await come(house, name="Zoe")
        with pytest.raises(Unauthorized):
            await first("join")
        assert (await eve("join")).status == "waiting"
        assert len((await who["hostess"]("lobby")).waiting) == LOBBY_LIMIT


async def test_an_agent_that_knocks_again_with_its_key_waits_once() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}], "lobby": True})
        first = await come(house, assertion=assertion(house))
        second = await come(house, assertion=assertion(house))
        (knock_id,) = await waiting(who["hostess"])
        with pytest.raises(Unauthorized):
            await first("join")
        await who["hostess"]("admit", {"knock": knock_id})
        assert (await second("join")).member == "owl"


async def test_nobody_is_admitted_beyond_the_limit_of_a_room() -> None:
    async with open_house(members_limit=4) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        await come(house, name="a")
        await come(house, name="b")
        first, second = await waiting(who["hostess"])
        await who["hostess"]("admit", {"knock": first})
        with pytest.raises(PermissionDenied, match="full"):
            await who["hostess"]("admit", {"knock": second})
        with pytest.raises(PermissionDenied, match="full"):
            await knock(house.door, {"room": "den", "name": "c"})


# -- locked -----------------------------------------------------------------------------------------
async def test_a_locked_room_refuses_newcomers_and_its_members_return() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        waits = await come(house, name="Wes")
        await who["hostess"]("set_entry", {"locked": True})
        cy, zoe = await invite(who["hostess"], "cy"), await issue(house, "zoe")
        for call in (cy("join"), zoe("join"), knock(house.door, {"room": "den", "name": "Eve"})):
            with pytest.raises(PermissionDenied, match="locked"):
                await call
        assert (await waits("join")).status == "locked"
        (knock_id,) = await waiting(who["hostess"])
        with pytest.raises(Conflict, match="locked"):
            await who["hostess"]("admit", {"knock": knock_id})
        assert (await who["ann"]("join")).member == "ann"
        await who["hostess"]("set_entry", {"locked": False, "lobby": False})
        assert [(await c("join")).status for c in (cy, zoe, waits)] == ["joined"] * 3


async def test_an_archived_room_takes_nobody() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True})
        await who["hostess"]("archive")
        with pytest.raises(CohabitError) as refused:
            await knock(house.door, {"room": "den", "name": "Eve"})
        assert refused.value.code == "DISABLED"


# -- leaving and removing -----------------------------------------------------------------------------
async def test_a_member_leaves_by_itself_and_its_seat_and_its_token_are_free() -> None:
    async with open_house() as house:
        who = await make_room(house)
        ann = await who["ann"].reader()
        assert (await who["ann"]("leave", key="once")).left == "ann"
        with pytest.raises(Unauthorized):
            await who["ann"]("whoami")
        await ann.task
        assert ann.ended is not None
        state = house.rooms["den"].room.state
        assert (list(state.members), state.replies) == (["bob", "hostess"], {})
        (line,) = recorded(house.rooms["den"], "leave")
        assert [told.text for told in line.told] == ["ann left"]
        joined = await (await invite(who["hostess"], "cy", role="player", claim="auto:0"))("join")
        assert joined.seat == "red"


async def test_a_member_who_left_and_comes_back_is_not_held_again_even_in_a_locked_room() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        zoe, yan = await issue(house, "zoe"), await issue(house, "yan")
        await who["hostess"]("set_entry", {"agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}]})
        owl = await come(house, assertion=assertion(house))
        for member in (zoe, yan):
            await member("join")
        for member in (zoe, owl):
            await member("leave")
        await who["hostess"]("remove_member", {"member": "yan"})
        await who["hostess"]("set_entry", {"lobby": True})
        assert (await zoe("join")).status == "joined"
        assert (await yan("join")).status == "waiting"
        await zoe("leave")
        await who["hostess"]("set_entry", {"locked": True})
        assert (await zoe("join")).status == "joined"
        assert (await knock(house.door, {"room": "den", "assertion": assertion(house)})).status == "joined"


async def test_a_muted_identity_comes_back_without_words_of_its_own_whatever_way_it_takes() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        host = who["hostess"]
        await host("set_entry", {"agent_keys": [{"key": AGENT.public_jwk}]})
        guest = await issue(house, "zoe", kind="human")
        await guest("join")
        keyed = await come(house, name="owl", assertion=assertion(house))
        shared = await invite(host, "crew", uses=3, kind="human")
        first = (await shared("join", {"name": "Kim"})).token
        for member in ("zoe", "owl", "Kim"):
            await host("mute", {"member": member})
        for client in (guest, keyed, Client(house, "den", "Kim", first)):
            await client("leave")
        talks = "you are all fools"
        with pytest.raises(PermissionDenied, match="until a host unmutes you; join without `backend`"):
            await guest("join", {"backend": talks})
        for args in ({"name": talks}, {"name": "owl", "backend": talks}):
            with pytest.raises(PermissionDenied, match=r"until a host unmutes you; join (as owl|without `backend`)"):
                await knock(house.door, {"room": "den", "assertion": assertion(house), **args})
        with pytest.raises(PermissionDenied, match=r"somebody who joined with the same invite, .*; join without"):
            await shared("join", {"name": "Lee", "backend": talks})
        assert (await guest("join", {"egress": True})).status == "joined"
        back = await come(house, name="owl", assertion=assertion(house))
        other = Client(house, "den", "Lee", (await shared("join", {"name": "Lee"})).token)
        for client in (guest, back, other):
            with pytest.raises(PermissionDenied, match="muted"):
                await client("disclose", {"backend": talks})
        await host("unmute", {"member": "zoe"})
        await guest("disclose", {"backend": "a model"})


async def test_a_newcomer_with_a_blocked_word_in_its_name_is_told_what_to_do() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        await who["hostess"]("set_chat_limits", {"blocked_words": ["fool"]})
        code = (await who["hostess"]("set_entry", {"code": "new"})).code
        for args, says in (
            ({"name": "F\u20ddool"}, "does not allow 'fool'; choose another name"),
            ({"name": "Eve", "backend": "fool 3"}, "does not allow 'fool'; join without `backend`"),
        ):
            with pytest.raises(PermissionDenied, match=says):
                await knock(house.door, {"room": "den", "code": code, **args})
        with pytest.raises(PermissionDenied, match="ask a host for an invite or a token with another name"):
            await (await issue(house, "fool", kind="human"))("join")
        with pytest.raises(PermissionDenied, match="wrong code; check it, or ask a host for the code"):
            await knock(house.door, {"room": "den", "name": "Eve", "code": "AAA-AAA-AAA"})


async def test_a_blocked_identity_cannot_come_back_by_itself_until_it_is_unblocked() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        await who["hostess"]("set_entry", {"open": True, "agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}]})
        zoe, eve = await issue(house, "zoe"), await come(house, name="Eve")
        await zoe("join")
        await come(house, assertion=assertion(house))
        for handle in ("zoe", "Eve", "owl"):
            await who["hostess"]("remove_member", {"member": handle, "block": True})
        assert (await who["hostess"]("entry")).blocked == ["zoe", "Eve", "owl"]
        with pytest.raises(PermissionDenied, match="unblock"):
            await zoe("join")
        with pytest.raises(Unauthorized):
            await eve("join")
        with pytest.raises(PermissionDenied, match="unblock"):
            await knock(house.door, {"room": "den", "assertion": assertion(house)})
        await who["hostess"]("unblock", {"member": "zoe"})
        (line,) = recorded(house.rooms["den"], "unblock")
        assert [(told.text, told.members) for told in line.told] == [("hostess unblocked zoe", ("hostess",))]
        assert (await zoe("join")).member == "zoe"
        with pytest.raises(UnknownAsset, match="not blocked"):
            await who["hostess"]("unblock", {"member": "zoe"})
        with pytest.raises(Conflict, match="leave"):
            await who["hostess"]("remove_member", {"member": "hostess", "block": True})


# -- names ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "handle"),
    [
        ("Ann Lee", "Ann-Lee"), ("a/b#c (x)", "a-b-c-x"), ("*", "guest"), ("team:red", "team-red"), ("<b>Ann</b>", "b-Ann-b"), ("é", "é"),
        ("<img src=x>", "<img-src=x>"), ("the house", "the-house"), ("-", "guest"), ("ﬁn", "fin"), ("x" * 64, "x" * 56),
    ],
)  # fmt: skip
def test_any_name_gives_a_handle_that_is_allowed(name: str, handle: str) -> None:
    assert handle_for(name) == handle
    check_handle(handle)


@pytest.mark.parametrize("name", ["", " ", "x" * 65, "a\nb", "a\u202eb"])
async def test_a_name_that_is_empty_long_or_not_printable_is_refused(name: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True})
        with pytest.raises(BadArgs):
            await knock(house.door, {"room": "den", "name": name})


# -- failures ---------------------------------------------------------------------------------------
async def test_a_knock_that_could_not_be_written_leaves_nothing_behind() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        before = len(house.identities.everybody())
        cy = await invite(who["hostess"], "cy")
        store.failing = True
        for call in (cy("join"), knock(house.door, {"room": "den", "name": "Eve"})):
            with pytest.raises(CohabitError) as failed:
                await call
            assert failed.value.code == "STORAGE_FAILED"
        store.failing = False
        assert len(house.identities.everybody()) == before
        assert await waiting(who["hostess"]) == []
        assert (await cy("join")).status == "waiting"


@pytest.mark.parametrize("args", [{}, {"room": 7}, {"room": ""}, {"room": "x" * 65}, {"room": "den", "invite": 7},
                                  {"room": "den", "invite": "x" * 2049}, {"room": "den", "name": 7}])  # fmt: skip
async def test_a_malformed_knock_is_refused(args: dict[str, Any]) -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True})
        with pytest.raises(BadArgs):
            await knock(house.door, args)


# -- in a scenario ----------------------------------------------------------------------------------
async def test_a_scenario_can_say_who_may_come() -> None:
    async with open_house() as house:
        who = await make_room(
            house, entry={"names": ["Eve"], "agent_keys": [{"key": AGENT.public_jwk, "label": "owl"}]}
        )
        assert (await who["hostess"]("entry")).names == ["Eve"]
        await come(house, name="eve")
        await come(house, assertion=assertion(house))
        assert handles(house) == ["ann", "bob", "hostess", "eve", "owl"]
        await make_room(house, room="attic", entry={})
        assert house.rooms["attic"].room.state.entry is None


@pytest.mark.parametrize(
    "wrong",
    [{"code": "K7M-2QX"}, {"names": [""]}, {"agent_keys": [{"key": {"kty": "EC"}}]}, {"lobbby": True}, {"kind": "god"}],
)
async def test_a_scenario_with_a_wrong_entry_is_refused(wrong: dict[str, Any]) -> None:
    async with open_house() as house:
        with pytest.raises(BadArgs):
            await make_room(house, entry=wrong)


async def test_those_who_wait_come_in_by_themselves_only_if_their_way_in_is_still_open() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        await who["hostess"]("set_entry", {"open": False, "lobby": False})
        assert (await eve("join")).status == "waiting"
        await who["hostess"]("set_entry", {"open": True})
        assert (await eve("join")).status == "joined"


async def test_a_host_admits_nobody_with_more_than_it_holds_itself() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "zeus", "role": "god"})
        await who["hostess"]("set_entry", {"lobby": True})
        made = await who["zeus"]("invite", {"id": "spy", "role": "observer"})
        spy = Client(house, "den", "spy", made.token)
        assert (await spy("join")).status == "waiting"
        (line,) = (await who["hostess"]("lobby")).waiting
        with pytest.raises(PermissionDenied):
            await who["hostess"]("admit", {"knock": line.knock})
        await who["zeus"]("leave")
        await who["hostess"]("set_entry", {"lobby": False})
        assert (await spy("join")).status == "waiting"


async def test_a_removed_guest_that_had_left_before_passes_neither_lock_nor_lobby() -> None:
    async with open_house() as house:
        who = await make_room(house, guests=True)
        token = (await issue(house, "gus", kind="human")).token
        gus = Client(house, "den", "gus", token)
        for _ in range(2):
            await gus("join")
            await gus("leave")
        await gus("join")
        await who["hostess"]("remove_member", {"member": "gus"})
        await who["hostess"]("set_entry", {"lobby": True})
        assert (await gus("join")).status == "waiting"


async def test_somebody_who_waits_can_call_nothing_but_join() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("set_entry", {"open": True, "lobby": True})
        eve = await come(house, name="Eve")
        with pytest.raises(UnknownRoom):
            await eve("rotate_token")


async def test_a_reset_of_permissions_restores_what_the_invite_gave() -> None:
    async with open_house() as house:
        who = await make_room(house)
        made = await who["hostess"]("invite", {"id": "yan", "kind": "human", "may": ["watch", "read_roster"]})
        yan = await Client(house, "den", "yan", made.token).join()
        held = (await yan("whoami")).grant["perceive"]
        await who["hostess"]("widen", {"member": "yan", "may": ["read_chat"]})
        await who["hostess"]("clear_grant", {"member": "yan"})
        after = (await yan("whoami")).grant
        assert (after["perceive"], after["act"]) == (held, [])
