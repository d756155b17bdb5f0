"""What each member sees: fog, the feed, and that nothing hidden shows anywhere."""

import itertools
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, CohabitError, PermissionDenied
from cohabit.house.streams.cursors import seal, unseal
from cohabit.house.streams.fanout import Fanout
from cohabit.model.grant import Capability
from cohabit.model.seat import Eye
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import FeedItem, feed, is_news

from .making import AGENT, BLUE, EVERYBODY, GOD, HOST, NARRATOR, OBSERVER, RED, entries, make_room, replayed, told_last

if TYPE_CHECKING:
    from cohabit.house.streams.subscriptions import Subscription

UNBOUND = {"id": "una", "role": "player", "claim": "auto:3"}


def told(room: Room, who: str, after: int = -1) -> list[FeedItem]:
    """What this member is told of everything that happened."""
    member = room.state.members[who]
    eye = room.eye(member)
    return [item for entry in entries(room) if entry.seq > after for item in feed(entry, member, eye)]


# -- the fog: whether somebody sees what the seat red keeps -------------------------------------------
@pytest.mark.parametrize(
    ("who", "partial_intel", "seen"),
    [
        pytest.param("zeus", True, True, id="read_all in fog"),
        pytest.param("zeus", False, True, id="read_all without fog"),
        pytest.param("owl", True, True, id="an observer in fog"),
        pytest.param("bob", False, True, id="a rival without fog"),
        pytest.param("ann", True, True, id="the seat itself in fog"),
        pytest.param("bob", True, False, id="a rival in fog"),
        pytest.param("una", True, False, id="a player whose seat has not come, in fog"),
        pytest.param("una", False, True, id="a player whose seat has not come, without fog"),
        pytest.param("bot", True, False, id="a watch-only agent in fog"),
        pytest.param("bot", False, True, id="a watch-only agent without fog"),
        pytest.param("hostess", True, False, id="a host in fog"),
        pytest.param("hostess", False, True, id="a host without fog"),
        pytest.param("nora", True, True, id="a narrator in fog"),
    ],
)
def test_the_fog_hides_a_seat_from_exactly_those_who_may_not_see_it(who: str, partial_intel: bool, seen: bool) -> None:
    room = make_room(*EVERYBODY, UNBOUND, partial_intel=partial_intel)
    room.call("ann", "hide", {"n": 4711}, at=1)
    assert ("4711" in room.call(who, "view", at=2).text) is seen
    assert (room.call(who, "numbers", at=2).get("red") == [4711]) is seen
    assert any("4711" in item.text for item in told(room, who)) is seen


@pytest.mark.parametrize(("keys", "fog"), [
    ({}, False), ({"scenario": "pvp"}, False), ({"partial_intel": False}, False), ({"partial_intel": True}, True),
])  # fmt: skip
def test_fog_is_on_only_if_the_scenario_says_so_whatever_its_name(keys: dict[str, Any], fog: bool) -> None:
    assert make_room(RED, BLUE, **keys).call("ann", "whoami", at=1).partial_intel is fog


def test_a_world_that_hides_by_its_rules_does_so_in_every_scenario() -> None:
    room = make_room(RED, BLUE, world="Bids", partial_intel=False)
    assert room.eye(room.state.members["ann"]) == Eye("a", "own")


def test_the_observation_of_an_action_is_seen_through_the_eye_of_its_actor() -> None:
    room = make_room(RED, BLUE, partial_intel=True)
    room.call("bob", "hide", {"n": 4711}, at=1)
    result = room.call("ann", "hide", {"n": 1}, at=2)
    assert "4711" not in msgspec.json.encode(result).decode()


def test_a_member_that_may_see_nothing_gets_no_observation_with_its_action_and_no_view() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "grant", {"member": "ann", "may": ["act"]}, at=1)
    assert room.call("ann", "hide", {"n": 1}, at=2).observation is None
    with pytest.raises(PermissionDenied):
        room.call("ann", "view", at=2)


# -- the feed ---------------------------------------------------------------------------------------
def test_everybody_is_told_what_is_public_and_only_insiders_the_arguments() -> None:
    room = make_room(*EVERYBODY, partial_intel=True)
    room.call("ann", "act", {"action": "shout", "params": {"text": "hear me"}, "reasoning": "bluff"}, at=1)
    for who in ("ann", "bob", "owl", "zeus", "bot", "hostess"):
        (item,) = told(room, who)
        assert (item.by, item.text) == ("ann", "red: hear me")
        inside = who in ("ann", "owl", "zeus")
        assert (item.why == "bluff", item.args == {"text": "hear me"}) == (inside, inside)


def test_a_hidden_action_is_told_to_its_actor_and_to_members_that_see_all_with_its_reasons() -> None:
    room = make_room(*EVERYBODY, partial_intel=True)
    room.call("ann", "act", {"action": "mumble", "params": {"n": 4711}, "reasoning": "a plan"}, at=1)
    for who in ("ann", "owl", "zeus", "nora"):
        (item,) = told(room, who)
        assert (item.do, item.why) == ("mumble", "a plan")
    for who in ("bob", "bot", "hostess", "pat"):
        assert told(room, who) == []


def test_a_hidden_action_is_told_to_a_member_that_looks_through_the_seat_of_its_actor() -> None:
    room = make_room(RED, BLUE, HOST, AGENT, partial_intel=True, sealed=False)
    room.call("hostess", "grant", {"member": "bot", "may": ["watch", "read_own"], "through": "red"}, at=1)
    before = room.record.seq
    for who, number in (("ann", 4711), ("bob", 4712)):
        room.call(who, "mumble", {"n": number}, at=2)
    assert [item.text for item in told(room, "bot", before)] == ["you mumble 4711"]


@pytest.mark.uses("messages")
def test_a_direct_message_is_told_to_its_two_ends_even_in_front_of_a_god() -> None:
    room = make_room(*EVERYBODY)
    room.call("ann", "send_message", {"to": "bob", "content": "between us"}, at=1)
    assert [bool(told(room, str(a["id"]))) for a in EVERYBODY] == [True, True, *[False] * 6]


@pytest.mark.uses("messages")
def test_a_member_that_may_not_read_the_roster_or_the_chat_is_not_told_of_them() -> None:
    room = make_room(RED, BLUE, HOST, NARRATOR)
    room.call("hostess", "grant", {"member": "bob", "may": ["watch"]}, at=1)
    before = room.record.seq
    room.call("nora", "send_message", {"to": "*", "content": "x"}, at=2)
    room.system("presence", {"members": ["ann"], "here": True}, 3)
    assert told(room, "bob", before) == []
    assert len(told(room, "ann", before)) == 2
    assert room.call("bob", "session_info", at=4).members == []


def test_a_member_that_connects_is_news_to_the_others_and_not_to_itself() -> None:
    room = make_room(RED, BLUE)
    room.system("presence", {"members": ["ann"], "here": True}, 1)
    (connected,) = entries(room, "presence")
    members = room.state.members.values()
    assert {m.id: is_news(connected, m, room.eye(m)) for m in members} == {"ann": False, "bob": True}


def test_the_error_of_a_failing_world_does_not_repeat_the_worlds_message() -> None:
    room = make_room(*EVERYBODY)
    for name in ("break_down", "trouble"):
        with pytest.raises(CohabitError) as crash:
            room.call("ann", name, at=1)
        assert "42" not in msgspec.json.encode(crash.value.as_wire()).decode()


STEPS = st.lists(
    st.sampled_from(
        [
            ("bob", "hide", {"n": 5}), ("bob", "mumble", {"n": 6}), ("bob", "shout", {"text": "hi"}),
            ("ann", "hide", {"n": 1}), ("ann", "shout", {"text": "yo"}), ("zeus", "mumble", {"n": 3}),
            ("nora", "send_message", {"to": "*", "content": "news"}), ("bob", "send_message", {"to": "ann", "content": "x"}),
            ("bob", "strike", {"target": "blue"}), ("hostess", "widen", {"member": "ann", "may": ["send_broadcast"]}),
            ("bob", "send_message", {"to": "zeus", "content": "psst"}), ("ann", "whoami", {}), ("bob", "trouble", {}),
        ]
    ),
    max_size=15,
)  # fmt: skip
AUDIENCES = [str(a["id"]) for a in EVERYBODY]


@given(steps=STEPS, kibitzing=st.booleans(), batch=st.integers(1, 20))
def test_every_connection_is_pushed_exactly_what_its_member_is_told(
    steps: list[tuple[str, str, dict[str, Any]]], kibitzing: bool, batch: int
) -> None:
    room = make_room(*EVERYBODY, partial_intel=True, sealed=False)
    if kibitzing:
        room.call("hostess", "grant", {"member": "bot", "may": ["watch", "read_own"], "through": "blue"}, at=0)
    fanout = Fanout(room)
    subs = {who: Collecting(who) for who in AUDIENCES}
    for sub in subs.values():
        fanout.add(cast("Subscription", sub))
    for at, (who, name, args) in enumerate(steps):
        try_call(room, who, name, args, at)
    for begin in range(0, len(room.record.tail), batch):
        fanout.frames(room.record.tail[begin : begin + batch]).push()
    for who in AUDIENCES:
        assert subs[who].items == msgspec.to_builtins(told(room, who))


class Collecting:
    """A subscription without views that keeps the events it is sent."""

    views = False

    def __init__(self, member: str) -> None:
        self.member = member
        self.held: frozenset[Capability] = frozenset()
        self.items: list[Any] = []

    def push_event(self, frame: bytes) -> None:
        sent = msgspec.json.decode(frame)
        if sent["push"] == "events":
            self.items.extend(sent["items"])

    def push_view(self, frame: bytes) -> None:
        raise AssertionError("it has no views")


# -- nothing hidden shows -----------------------------------------------------------------------------
def try_call(room: Room, who: str, name: str, args: dict[str, Any], at: int) -> Any:
    try:
        return msgspec.to_builtins(room.call(who, name, args, at=at))
    except CohabitError as refused:
        return refused.as_wire()


def everything(room: Room, who: str, at: int) -> bytes:
    """All that a member can read in a room, as bytes, except the numbers of the bus."""
    asked = [
        try_call(room, who, name, {}, at)
        for name in ("view", "numbers", "whoami", "session_info", "roster", "objective_status", "rules", "wait_for_turn",
                     "picture", "trouble")
    ]  # fmt: skip
    mail = [(m["from"], m["to"], m["content"]) for m in try_call(room, who, "recv_messages", {}, at)["items"]]
    return msgspec.json.encode([asked, mail, told(room, who)])


HIDDEN = [
    ("bob", "hide", {"n": 9}), ("bob", "mumble", {"n": 8}), ("bob", "numbers", {}),
    ("bob", "send_message", {"to": "zeus", "content": "secret"}), ("zeus", "send_message", {"to": "bob", "content": "s"}),
    ("bob", "trouble", {}), ("bob", "strike", {"target": "red"}), ("bob", "nonsense", {}),
]  # fmt: skip


@given(before=STEPS, hidden=st.sampled_from(HIDDEN), after=STEPS, who=st.sampled_from(["ann", "bot", "pat", "hostess"]))
def test_two_rooms_that_differ_in_a_hidden_action_look_the_same_to_members_it_is_hidden_from(
    before: list[tuple[str, str, dict[str, Any]]],
    hidden: tuple[str, str, dict[str, Any]],
    after: list[tuple[str, str, dict[str, Any]]],
    who: str,
) -> None:
    rooms = [make_room(*EVERYBODY, partial_intel=True) for _ in range(2)]
    seen: list[list[bytes]] = [[], []]
    for i, room in enumerate(rooms):
        for at, (by, name, args) in enumerate(before):
            try_call(room, by, name, args, at)
        if i == 1:
            try_call(room, *hidden, 50)
        for at, (by, name, args) in enumerate(after, start=100):
            result = try_call(room, by, name, args, at)
            if by == who and name != "send_message":  # the number on the bus is public on purpose
                seen[i].append(msgspec.json.encode(result))
        seen[i].append(everything(room, who, 1000))
    assert seen[0] == seen[1]


@given(STEPS)
def test_a_cursor_moves_with_what_the_member_is_told_and_not_with_what_is_hidden(
    steps: list[tuple[str, str, dict[str, Any]]],
) -> None:
    room = make_room(*EVERYBODY, partial_intel=True)
    secret = room.state.secret

    def cursor(who: str) -> str:
        member = room.state.members[who]
        heard = [e.seq for e in entries(room) if feed(e, member, room.eye(member))]
        return seal(secret, heard[-1]) if heard else ""

    for at, (by, name, args) in enumerate(steps):
        before, count = cursor("ann"), len(told(room, "ann"))
        try_call(room, by, name, args, at)
        assert (cursor("ann") == before) is (len(told(room, "ann")) == count)


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=20, unique=True))
def test_a_sealed_number_can_be_unsealed_and_two_are_never_the_same(numbers: list[int]) -> None:
    secret = "00112233445566778899aabbccddeeff"
    sealed = [seal(secret, n) for n in numbers]
    assert [unseal(secret, s, 2**63) for s in sealed] == numbers
    assert len(set(sealed)) == len(numbers)


def test_sealed_numbers_do_not_tell_how_far_apart_they_are() -> None:
    secret = "00112233445566778899aabbccddeeff"
    sealed = [int(seal(secret, n), 16) for n in range(200)]
    assert sealed != sorted(sealed)
    steps = {b - a for a, b in itertools.pairwise(sealed)}
    assert len(steps) == 199
    assert seal(secret, 7) != seal("ff" * 16, 7)


@given(st.text(max_size=20))
def test_a_made_up_cursor_is_refused(cursor: str) -> None:
    try:
        assert unseal("00112233445566778899aabbccddeeff", cursor, 1000) in range(-1, 1001)
    except BadArgs as refused:
        assert cursor != ""
        assert "cursor" in refused.message


# -- objectives -------------------------------------------------------------------------------------
@pytest.mark.uses("objectives")
def test_objectives_are_shown_to_everybody_as_they_were_written_with_live_standings_beside_them() -> None:
    wanted = [
        {"id": "survive", "kind": "survive", "label": "Überlebe"},
        {"id": "dominate", "kind": "wipe_kingdom", "target": "auto:1", "weight": 0.5, "deep": {"a": [1, None, True]}},
    ]
    room = make_room({**RED, "objectives": wanted}, BLUE, AGENT, partial_intel=True)
    room.call("bob", "shout", {"text": "x"}, at=1)
    status = msgspec.to_builtins(room.call("bot", "objective_status", at=2))
    assert status["members"][0]["objectives"] == wanted
    assert status["members"][1]["objectives"] == []
    assert [(s["seat"], s["score"]) for s in status["standings"]] == [("blue", 1), ("red", 0)]
    assert replayed(room).state.members["ann"].objectives == wanted


@pytest.mark.uses("messages")
def test_reading_changes_nothing_however_often() -> None:
    room = make_room(*EVERYBODY)
    before = room.digest()
    for _ in range(3):
        for who in AUDIENCES:
            everything(room, who, 1)
    assert room.digest() == before
    assert room.record.seq == 0


def test_an_observer_sees_all_and_a_host_given_read_all_does_too() -> None:
    room = make_room(RED, HOST, GOD, OBSERVER, partial_intel=True, sealed=False)
    room.call("zeus", "widen", {"member": "hostess", "may": ["read_all"]}, at=1)
    assert Capability.READ_ALL in room.state.members["hostess"].held
    room.call("ann", "hide", {"n": 5}, at=2)
    assert room.call("hostess", "numbers", at=3) == room.call("owl", "numbers", at=3) == {"red": [5], "blue": []}


def test_a_notice_to_a_seat_is_for_the_member_who_plays_it_at_that_time() -> None:
    people = [{"id": name, "role": "player", "kind": "human"} for name in ("ann", "bob")]
    room = make_room(*people, HOST, partial_intel=True)
    room.call("ann", "sit", {"seat": "red"}, at=1)
    room.call("ann", "hide", {"n": 5}, at=2)
    assert told_last(room) == {"ann": ["red keeps 5"]}
    room.call("ann", "stand_up", at=3)
    room.call("bob", "sit", {"seat": "red"}, at=4)
    room.call("bob", "hide", {"n": 6}, at=5)
    assert told_last(room) == {"bob": ["red keeps 6"]}
