"""Messages between members."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.features.messages import INBOX, SENT, UNNAMED, deliver
from cohabit.room.room import Room

from .making import AGENT, BLUE, GOD, HOST, NARRATOR, OBSERVER, RED, make_room, player, replayed, restored, told_last

MEMBERS = (RED, BLUE, NARRATOR, GOD)


def send(room: Room, who: str, to: str, content: str = "hello", **more: Any) -> Any:
    return room.call(who, "send_message", {"to": to, "content": content, **more}, at=room.record.at)


def mail(room: Room, who: str, since: int = 0, most: int = 500) -> Any:
    return room.call(who, "recv_messages", {"since_seq": since, "max": most}, at=room.record.at)


def test_numbers_count_deliveries_over_the_whole_bus() -> None:
    room = make_room(*MEMBERS)
    assert send(room, "ann", "bob").seq == 1
    everybody = send(room, "nora", "*")
    assert (everybody.seq, everybody.recipients, everybody.broadcast) == (4, ["ann", "bob", "zeus"], True)
    assert send(room, "bob", "ann").seq == 5
    assert [m["seq"] for m in mail(room, "ann").items] == [2, 5]
    assert [m["seq"] for m in mail(room, "bob").items] == [1, 3]


def test_every_copy_of_a_broadcast_is_addressed_to_everybody_and_the_sender_gets_none() -> None:
    room = make_room(*MEMBERS)
    send(room, "nora", "*", kind="news")
    for who in ("ann", "bob", "zeus"):
        (item,) = mail(room, who).items
        assert (item["from"], item["to"], item["kind"], item["content"]) == ("nora", "*", "news", "hello")
    assert mail(room, "nora").items == []


def test_a_broadcast_with_nobody_else_uses_no_number() -> None:
    room = make_room(GOD)
    assert (send(room, "zeus", "*").seq, send(room, "zeus", "*").recipients) == (0, [])


def test_a_kind_left_out_is_empty() -> None:
    room = make_room(*MEMBERS)
    send(room, "ann", "bob", "x")
    (item,) = mail(room, "bob").items
    assert (item["kind"], item["content"]) == ("", "x")


def test_a_message_to_oneself_arrives() -> None:
    room = make_room(*MEMBERS)
    assert send(room, "ann", "ann").recipients == ["ann"]
    assert mail(room, "ann").count == 1


def test_only_the_addressee_gets_a_direct_message() -> None:
    room = make_room(*MEMBERS)
    send(room, "ann", "bob", "the password is swordfish")
    for who in ("ann", "nora", "zeus"):
        assert mail(room, who).items == []


def test_an_unknown_recipient_is_refused_with_the_ids_that_are_known() -> None:
    room = make_room(*MEMBERS)
    before = room.digest()
    with pytest.raises(BadArgs) as refused:
        send(room, "ann", "bop")
    assert all(name in refused.value.message for name in ("ann", "bob", "nora", "zeus"))
    assert refused.value.did_you_mean[0] == "bob"
    assert room.digest() == before


@pytest.mark.parametrize(
    "args", [{"to": "", "content": "x"}, {"to": "bob"}, {"content": "x"}, {"to": "bob", "content": "x" * 16_001}]
)
def test_a_message_without_a_recipient_or_a_content_or_too_long_is_refused(args: dict[str, str]) -> None:
    room = make_room(*MEMBERS)
    with pytest.raises(BadArgs):
        room.call("ann", "send_message", args, at=0)
    assert SENT.read(room.state).last_seq == 0


def test_a_member_that_may_only_broadcast_can_write_to_nobody_alone() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "grant", {"member": "hostess", "may": ["manage_members", "send_broadcast"]}, at=0)
    for to in ("ann", "team:red", "nobody"):
        with pytest.raises(PermissionDenied) as refused:
            room.call("hostess", "send_message", {"to": to, "content": "psst"}, at=1)
        assert refused.value.details["needs"] == ["send_message"]
    assert room.call("hostess", "send_message", {"to": "*", "content": "hello"}, at=2).broadcast


def test_only_members_with_send_broadcast_can_broadcast() -> None:
    room = make_room(*MEMBERS, OBSERVER, HOST, AGENT)
    for who in ("ann", "owl"):
        with pytest.raises(PermissionDenied) as refused:
            send(room, who, "*")
        assert "send_broadcast" in refused.value.message
    for who in ("nora", "zeus", "hostess"):
        assert send(room, who, "*").broadcast
    with pytest.raises(PermissionDenied):
        send(room, "bot", "ann")


# -- reading ----------------------------------------------------------------------------------------
def test_the_cursor_is_the_last_number_read_or_the_given_one_where_nothing_is_new() -> None:
    room = make_room(*MEMBERS)
    for i in range(5):
        send(room, "ann", "bob", str(i))
    first = mail(room, "bob", most=2)
    assert ([m["content"] for m in first.items], first.next_cursor) == (["0", "1"], 2)
    rest = mail(room, "bob", since=first.next_cursor)
    assert ([m["content"] for m in rest.items], rest.next_cursor) == (["2", "3", "4"], 5)
    nothing = mail(room, "bob", since=77)
    assert (nothing.items, nothing.next_cursor, nothing.dropped) == ([], 77, 0)
    assert mail(room, "bob").count == 5, "reading does not consume"


@pytest.mark.parametrize(("asked", "given"), [(0, 50), (-3, 50), (1, 1), (120, 120), (1000, 200)])
def test_max_is_50_where_it_makes_no_sense_and_500_at_most(asked: int, given: int) -> None:
    room = make_room(*MEMBERS)
    for _ in range(200):
        send(room, "ann", "bob")
    assert mail(room, "bob", most=asked).count == given


def test_a_full_inbox_drops_the_oldest_and_says_how_many() -> None:
    room = make_room(*MEMBERS)
    for i in range(205):
        send(room, "ann", "bob", str(i))
    got = mail(room, "bob")
    assert (got.count, got.items[0]["content"], got.dropped) == (200, "5", 5)
    assert mail(room, "bob", since=3).dropped == 2
    assert mail(room, "bob", since=5).dropped == 0
    assert mail(room, "ann").dropped == 0


def test_a_view_has_the_newest_messages_however_many_there_are_of_both_kinds() -> None:
    room = make_room(*MEMBERS)
    for to in ("bob", "*"):
        for i in range(150):
            send(room, "zeus", to, f"{to} {i}")
    shown = room.call("bob", "view", at=room.record.at).text
    assert all(f": * {i}" in shown for i in (147, 148, 149))


def test_a_view_says_which_messages_were_sent_in_an_earlier_game() -> None:
    room = make_room(RED, BLUE, HOST)
    send(room, "ann", "bob", "before")
    room.call("hostess", "reset", at=room.record.at)
    send(room, "ann", "bob", "after")
    lines = room.call("bob", "view", at=room.record.at).text.splitlines()
    marked = {text: next(line for line in lines if line.endswith(f": {text}")) for text in ("before", "after")}
    assert "in an earlier game" in marked["before"]
    assert "in an earlier game" not in marked["after"]
    for copy in (replayed(room), restored(room)):
        assert copy.call("bob", "view", at=room.record.at).text.splitlines() == lines


def test_of_dropped_messages_the_last_4096_are_counted() -> None:
    kept, state = 200, make_room(*MEMBERS).state
    box = INBOX.change(state.members["bob"]).direct
    for sent in range(1, 10_001):
        deliver(state, "ann", "bob", "", "hello", ["bob"], 0)
        dropped = max(0, sent - kept)
        assert box.dropped_since(0) == min(dropped, 4096)
        assert box.dropped_since(dropped - 7) == min(dropped, 7)
    assert len(box.dropped) <= 4096 + 1024


@given(st.lists(st.tuples(st.sampled_from(["ann", "bob", "nora"]), st.sampled_from(["ann", "bob", "*"])), max_size=40),
       st.integers(1, 5))  # fmt: skip
def test_reading_page_by_page_gives_every_message_once_and_in_order(sent: list[tuple[str, str]], page: int) -> None:
    room = make_room(*MEMBERS)
    expected: dict[str, list[str]] = {"ann": [], "bob": [], "nora": []}
    for i, (who, to) in enumerate(sent):
        if to == "*" and who != "nora":
            continue
        for reader in send(room, who, to, str(i)).recipients:
            expected.setdefault(reader, []).append(str(i))
    for reader, contents in expected.items():
        cursor, got = 0, []
        while (reply := mail(room, reader, cursor, page)).items:
            got += [m["content"] for m in reply.items]
            cursor = reply.next_cursor
        assert got == contents
        numbers = [m["seq"] for m in mail(room, reader).items]
        assert numbers == sorted(set(numbers))


# -- teams ------------------------------------------------------------------------------------------
TEAMS = {"red": ["ann", "cy"], "blue": ["bob"]}
PLAYERS = (RED, BLUE, player("cy", 2), GOD)


def test_a_message_to_a_team_reaches_its_members_and_nobody_else() -> None:
    room = make_room(*PLAYERS, teams=TEAMS)
    assert send(room, "ann", "team:red", "attack at dawn").recipients == ["cy"]
    assert mail(room, "cy").items[0]["to"] == "team:red"
    assert mail(room, "bob").items == mail(room, "zeus").items == []


def test_a_member_can_write_to_its_own_team_without_naming_it() -> None:
    room = make_room(*PLAYERS, teams=TEAMS)
    assert send(room, "cy", "team:").recipients == ["ann"]


def test_whoever_joins_a_team_gets_its_messages_until_it_is_removed() -> None:
    room = make_room(*PLAYERS, HOST, {"id": "dee", "role": "host"}, teams=TEAMS)
    room.call("hostess", "add_member", {"id": "eve", "kind": "human", "role": "player", "team": "red"}, at=1)
    assert send(room, "ann", "team:red").recipients == ["cy", "eve"]
    assert send(room, "eve", "team:").recipients == ["ann", "cy"]
    room.call("hostess", "remove_member", {"member": "cy"}, at=2)
    room.call("hostess", "remove_member", {"member": "dee"}, at=3)  # in no team
    assert send(room, "ann", "team:red").recipients == ["eve"]


def test_writing_to_a_team_takes_being_in_it() -> None:
    room = make_room(*PLAYERS, teams=TEAMS)
    with pytest.raises(PermissionDenied):
        send(room, "bob", "team:red")
    with pytest.raises(BadArgs) as refused:
        send(room, "ann", "team:green")
    assert refused.value.did_you_mean == ["team:red"]  # only a team that ann is in


# -- what a grant lets through ----------------------------------------------------------------------
def test_read_chat_and_receive_directed_each_let_through_their_own_messages_only() -> None:
    room = make_room(*MEMBERS, HOST)
    send(room, "nora", "*", "chat")
    send(room, "nora", "ann", "direct")
    room.call("hostess", "grant", {"member": "ann", "may": ["receive_directed"]}, at=1)
    assert [m["content"] for m in mail(room, "ann").items] == ["direct"]
    room.call("hostess", "grant", {"member": "ann", "may": ["read_chat"]}, at=1)
    assert [m["content"] for m in mail(room, "ann").items] == ["chat"]
    room.call("hostess", "revoke", {"member": "ann"}, at=1)
    with pytest.raises(PermissionDenied):
        mail(room, "ann")


def test_numbers_and_inboxes_survive_a_snapshot_and_a_replay() -> None:
    room = make_room(*MEMBERS)
    for i in range(203):
        send(room, "ann", "bob", str(i))
    send(room, "nora", "*")
    for back in (restored(room), replayed(room)):
        assert mail(back, "bob") == mail(room, "bob")
        assert mail(back, "bob").dropped == 3, "the message to everyone pushes out no message to one member"
        assert send(back, "bob", "ann").seq == 207


@pytest.mark.parametrize(
    ("sender", "apart", "hear"),
    [
        ("bot", True, {"bot", "pat"}), ("bot", False, {"bot", "dot", "pat", "sue"}),
        ("pat", True, {"bot", "dot", "pat", "sue"}), ("pat", False, {"bot", "dot", "pat", "sue"}),
    ],
)  # fmt: skip
def test_only_what_agents_say_to_everyone_is_kept_from_other_agents(sender: str, apart: bool, hear: set[str]) -> None:
    agents = [{"id": name, "role": "narrator"} for name in ("bot", "dot", "sue")]
    room = make_room(*agents, {"id": "pat", "kind": "human", "role": "host"})
    room.call("pat", "set_chat_limits", {"agents_apart": apart}, at=1)
    send(room, sender, "*", "hello")
    assert told_last(room) == {who: [f"{sender} to everyone: hello"] for who in hear}
    assert {who for who in hear | {"dot", "sue"} if mail(room, who).items} == hear - {sender}


def test_who_writes_to_itself_is_told_so_once() -> None:
    room = make_room(*MEMBERS)
    for to in ("ann", "bob"):
        send(room, "ann", to)
        assert room.record.tail[-1].entry.told[0].members == tuple(dict.fromkeys(("ann", to)))


def test_who_may_not_see_the_roster_does_not_learn_it_from_a_message_to_everyone() -> None:
    room = make_room(*MEMBERS, HOST)
    assert send(room, "nora", "*").recipients == ["ann", "bob", "zeus", "hostess"]
    room.call("hostess", "narrow", {"member": "nora", "may": ["read_roster"]}, at=1)
    sent = send(room, "nora", "*")
    assert (sent.recipients, sent.note) == ([], UNNAMED)
    assert send(room, "nora", "ann").recipients == ["ann"]
