"""Disclosure: agents say which model they use, and a room can require it."""

import pytest

from cohabit.errors import BadArgs, Busy, CohabitError, PermissionDenied
from cohabit.features.disclosure import DISCLOSURE
from cohabit.model.grant import ACT, PERCEIVE
from cohabit.room.room import Room

from .making import BLUE, HOST, RED, entries, make_room, told_last

AGENT = {"id": "bot", "kind": "agent", "identity": "i-bot", "role": "player", "claim": None}


def room_with_agent() -> Room:
    return make_room(RED, BLUE, HOST, {k: v for k, v in AGENT.items() if v is not None})


def test_an_agent_that_has_not_disclosed_its_backend_perceives_nothing_where_that_is_required() -> None:
    room = room_with_agent()
    before = room.state.require_member("bot").held
    reply = room.call("hostess", "require_disclosure", {"required": True}, at=1)
    assert reply.undisclosed == ["bot"]
    assert room.state.require_member("bot").held.isdisjoint(PERCEIVE)
    assert room.state.require_member("bot").held & set(ACT) == before & set(ACT)
    with pytest.raises(PermissionDenied):
        room.call("bot", "view", at=2)
    room.call("bot", "disclose", {"backend": "Claude"}, at=3)
    assert room.state.require_member("bot").held == before
    room.call("bot", "view", at=4)


def test_a_backend_implies_that_what_it_sees_leaves_the_house() -> None:
    room = room_with_agent()
    assert room.call("bot", "disclose", {"backend": "Claude"}, at=1).egress
    grant = room.call("bot", "whoami", at=2).grant
    assert (grant["backend"], grant["egress"]) == ("Claude", True)
    assert not room.call("bot", "disclose", {}, at=10_001).egress
    assert "egress" not in room.call("bot", "whoami", at=10_002).grant


def test_people_and_built_in_players_need_not_disclose_anything() -> None:
    room = make_room(RED, {**BLUE, "kind": "human", "identity": "i-bob"}, HOST)
    assert room.call("hostess", "require_disclosure", {"required": True}, at=1).undisclosed == []


def test_an_agent_that_joins_later_is_withheld_too_and_a_replay_agrees() -> None:
    room = room_with_agent()
    room.call("hostess", "require_disclosure", {"required": True}, at=1)
    room.system("admitted", {"handle": "late", "kind": "agent", "identity": "i-late"}, 2)
    assert room.state.require_member("late").held.isdisjoint(PERCEIVE)
    room.call("hostess", "require_disclosure", {"required": False}, at=3)
    assert not room.state.require_member("late").held.isdisjoint(PERCEIVE)
    assert Room.replay(room.record.tail, lambda *_: type(room.world)()).digest() == room.digest()


def test_a_name_with_line_breaks_stays_on_one_line_and_long_ones_are_refused() -> None:
    room = room_with_agent()
    assert "\n" not in room.call("bot", "disclose", {"backend": "a\nb"}, at=1).backend
    with pytest.raises(BadArgs, match="at most 80 characters"):
        room.call("bot", "disclose", {"backend": "x" * 81}, at=2)


def test_a_withheld_agent_learns_nothing_from_the_replies_to_its_own_actions() -> None:
    seats = [
        {"id": name, "kind": "agent", "identity": f"i-{name}", "role": "player", "claim": f"auto:{n}"}
        for n, name in enumerate(("ann", "ben", "cat", "dan"))
    ]
    room = make_room(*seats, HOST, world="whist")
    room.call("hostess", "require_disclosure", {"required": True}, at=1)
    for name in ("ann", "ben", "cat", "dan"):
        reply = room.call(name, "cut", at=2)
        assert (reply.message, reply.observation, reply.data) == ("Done.", None, None)
    with pytest.raises(CohabitError) as refused:
        room.call("ann", "play", {"card": "X1"}, at=3)
    assert refused.value.message == "The game refused this. You don't have permission to see why."
    room.call("ann", "disclose", at=4)
    with pytest.raises(CohabitError, match="play one of"):
        room.call("ann", "play", {"card": "X1"}, at=5)


def test_a_disclosure_is_no_way_to_talk() -> None:
    room = room_with_agent()
    room.call("bot", "disclose", {"backend": "hello everybody"}, at=1)
    everyone = [told for told in room.record.tail[-1].entry.told if told.members is None]
    assert "hello" not in str(everyone)
    room.call("bot", "disclose", {"backend": "hello everybody"}, at=2)  # the same again is fine
    with pytest.raises(Busy, match="less than 10 s ago"):
        room.call("bot", "disclose", {"backend": "how are you"}, at=10_000)
    room.call("bot", "disclose", {"backend": "how are you"}, at=10_001)


def test_a_withheld_agent_is_told_what_to_do() -> None:
    room = room_with_agent()
    room.call("hostess", "require_disclosure", {"required": True}, at=1)
    with pytest.raises(PermissionDenied, match="call `disclose`"):
        room.call("bot", "view", at=2)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"backend": "Claude"}, "uses Claude and sends what it sees outside this house"),
        ({"egress": True}, "sends what it sees outside this house"),
        ({}, "keeps what it sees inside this house"),
    ],
)
def test_hosts_are_told_what_was_disclosed_and_the_others_only_that_it_was(args: dict[str, object], words: str) -> None:
    room = room_with_agent()
    room.call("bot", "disclose", args, at=1)
    full, short = f"bot: {words}", "bot made a disclosure"
    assert told_last(room) == {"ann": [short], "bob": [short], "hostess": [full, short], "bot": [full, short]}


def test_a_host_that_discloses_something_is_told_once() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "disclose", {"egress": True}, at=1)
    assert told_last(room)["hostess"] == [
        "hostess: sends what it sees outside this house", "hostess made a disclosure",
    ]  # fmt: skip


def test_everybody_is_told_whether_a_disclosure_is_required_and_those_who_owe_one_what_to_do() -> None:
    room = room_with_agent()
    room.call("hostess", "require_disclosure", {"required": True}, at=1)
    told = told_last(room)
    assert told["ann"] == ["hostess requires agents to disclose their backend"]
    assert told["bot"] == ["this room requires agents to disclose their backend; call disclose"]
    room.call("hostess", "require_disclosure", {"required": False}, at=2)
    assert told_last(room)["ann"] == told_last(room)["bot"] == ["hostess no longer requires a disclosure"]


def test_an_agent_whose_backend_a_host_has_named_counts_as_disclosed_and_as_sending_outside() -> None:
    room = make_room(RED, BLUE, HOST, {"id": "bot", "kind": "agent", "identity": "i-bot", "backend": "Claude"})
    room.call("hostess", "add_member", {"id": "new", "backend": "Claude"}, at=1)
    assert room.call("hostess", "require_disclosure", {"required": True}, at=1).undisclosed == []
    shown = {line.member: line for line in room.call("hostess", "permissions", at=2).members}
    assert (shown["bot"].disclosed, shown["bot"].egress) == (True, True)
    assert (shown["ann"].disclosed, shown["ann"].egress) == (False, False)
    roster = {line.handle: line.egress for line in room.call("ann", "roster", at=3).members}
    assert (roster["bot"], roster["new"], roster["ann"]) == (True, True, False)


@pytest.mark.parametrize(("world", "name", "args", "shown"), [
    ("nim", "take", {"n": 1}, True), ("Secrets", "hide", {"n": 1}, False),
])  # fmt: skip
def test_a_player_that_sees_what_is_public_is_told_what_it_did_where_everything_is_public(
    world: str, name: str, args: dict[str, int], shown: bool
) -> None:
    room = make_room(RED, BLUE, HOST, world=world, partial_intel=True)
    room.call("hostess", "narrow", {"member": "ann", "may": ["read_own"]}, at=1)
    reply = room.call("ann", name, args, at=2)
    assert (reply.message != "Done.", reply.observation is not None) == (shown, shown)


def test_a_call_that_does_not_say_whether_to_require_it_changes_nothing() -> None:
    room = room_with_agent()
    for empty in ({}, None):
        with pytest.raises(BadArgs, match="required"):
            room.call("hostess", "require_disclosure", empty, at=1)
    assert not entries(room, "require_disclosure")
    assert room.call("hostess", "require_disclosure", {"required": True}, at=2).required
    with pytest.raises(BadArgs, match="required"):
        room.call("hostess", "require_disclosure", {}, at=3)
    assert DISCLOSURE.read(room.state).required
