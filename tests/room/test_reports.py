"""Reports of abuse reach the hosts with the lines concerned, and nobody else."""

import pytest

from cohabit.errors import BadArgs, Busy, PermissionDenied, UnknownAsset
from cohabit.features import reports
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed

from .making import BLUE, HOST, RED, make_room, replayed, restored, told_last

PAT = {"id": "pat", "kind": "human", "identity": "i-pat"}


def a_room() -> Room:
    room = make_room(RED, BLUE, HOST, PAT)
    for number in range(7):
        room.call("bob", "send_message", {"to": "pat", "content": f"insult {number}"}, at=10 + number)
    room.call("hostess", "say", {"text": "nice weather"}, at=20)
    return room


def numbers(room: Room, who: str) -> dict[str, int]:
    return {item["content"]: item["seq"] for item in room.call(who, "recv_messages", at=30).items}


def test_a_host_gets_the_named_lines_as_they_were_sent_with_who_and_when() -> None:
    room = a_room()
    known = numbers(room, "pat")
    assert f"- {known['insult 6']}. bob (" in room.call("pat", "view", at=30).text
    made = room.call(
        "pat", "report", {"reason": "he insults me", "messages": [known["insult 2"], known["insult 5"]]}, at=40
    )
    assert made.lines == 2
    for again in (room, replayed(room), restored(room)):
        (line,) = again.call("hostess", "reports", at=41).reports
        assert (line.report, line.by, line.at, line.reason, line.about) == (
            made.report, "pat", 40, "he insults me", ["bob"],
        )  # fmt: skip
        assert [(q.member, q.to, q.text, q.at) for q in line.lines] == [
            ("bob", "pat", "insult 2", 12), ("bob", "pat", "insult 5", 15),
        ]  # fmt: skip


def test_a_report_of_a_member_quotes_its_newest_messages_also_after_it_has_left() -> None:
    room = a_room()
    room.call("bob", "leave", at=39)
    room.call("pat", "report", {"reason": "he insults me", "member": "bob"}, at=40)
    (line,) = room.call("hostess", "reports", at=41).reports
    assert [quoted.text for quoted in line.lines] == [f"insult {number}" for number in (2, 3, 4, 5, 6)]


def test_only_hosts_and_its_author_learn_of_a_report() -> None:
    room = a_room()
    room.call("pat", "report", {"reason": "sentinel", "member": "bob"}, at=40)
    assert set(told_last(room)) == {"pat", "hostess"}
    bob = room.state.require_member("bob")
    assert feed(room.record.tail[-1].entry, bob, room.eye(bob)) == []
    with pytest.raises(PermissionDenied):
        room.call("bob", "reports", at=41)
    assert "1 report of abuse" in room.call("hostess", "view", at=42).text
    assert "report" not in room.call("bob", "view", at=43).text


def test_nobody_reports_what_was_not_said_to_it() -> None:
    room = a_room()
    number = numbers(room, "pat")["insult 1"]
    before = room.digest()
    with pytest.raises(UnknownAsset, match="no message"):
        room.call("ann", "report", {"reason": "x", "messages": [number]}, at=40)
    with pytest.raises(UnknownAsset, match="no message of ann"):
        room.call("pat", "report", {"reason": "x", "member": "ann", "messages": [number]}, at=41)
    with pytest.raises(BadArgs, match="numbers of messages"):
        room.call("pat", "report", {"reason": "x"}, at=42)
    with pytest.raises(UnknownAsset):
        room.call("pat", "report", {"reason": "x", "member": "nobody"}, at=43)
    assert room.digest() == before


def test_a_closed_report_is_gone_and_its_author_is_told() -> None:
    room = a_room()
    number = room.call("pat", "report", {"reason": "x", "member": "bob"}, at=40).report
    room.call("hostess", "close_report", {"report": number, "note": "bob was warned"}, at=41)
    assert told_last(room)["pat"] == [f"hostess closed report {number}: bob was warned"]
    assert room.call("hostess", "reports", at=42).reports == []
    with pytest.raises(UnknownAsset, match=f"no open report {number}"):
        room.call("hostess", "close_report", {"report": number}, at=43)


def test_a_member_has_a_few_open_reports_also_if_it_leaves_and_comes_back() -> None:
    room = a_room()
    for at in range(40, 40 + reports.OPEN_PER_MEMBER):
        number = room.call("pat", "report", {"reason": "x", "member": "bob"}, at=at).report
    with pytest.raises(Busy, match="reports of yours are open"):
        room.call("pat", "report", {"reason": "x", "member": "bob"}, at=50)
    room.call("pat", "leave", at=51)
    room.system("admitted", {"handle": "pat", "kind": "human", "identity": "i-pat", "name": "Pat"}, 52)
    with pytest.raises(Busy, match="reports of yours are open"):
        room.call("pat#2", "report", {"reason": "x", "member": "bob"}, at=53)
    room.call("hostess", "close_report", {"report": number}, at=54)
    room.call("pat#2", "report", {"reason": "x", "member": "bob"}, at=55)


def test_a_room_has_a_limited_number_of_open_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "OPEN_PER_ROOM", 2)
    room = a_room()
    room.call("pat", "report", {"reason": "x", "member": "bob"}, at=40)
    room.call("ann", "report", {"reason": "x", "member": "bob"}, at=41)
    with pytest.raises(Busy, match="too many reports"):
        room.call("bob", "report", {"reason": "x", "member": "ann"}, at=42)


def test_blocked_words_can_be_reported() -> None:
    room = a_room()
    room.call("hostess", "set_chat_limits", {"blocked_words": ["insult"]}, at=39)
    room.call("pat", "report", {"reason": "he said insult", "member": "bob"}, at=40)
    assert room.call("hostess", "reports", at=41).reports[0].reason == "he said insult"


def test_the_number_of_a_report_does_not_count_those_of_others() -> None:
    made: list[int] = []
    for others in range(4):
        room = a_room()
        for at in range(40, 40 + others):
            room.call("ann", "report", {"reason": "x", "member": "bob"}, at=at)
        made.append(room.call("pat", "report", {"reason": "x", "member": "bob"}, at=50).report)
        assert len({line.report for line in room.call("hostess", "reports", at=51).reports}) == others + 1
    assert min(made) >= 100_000
    assert made not in (sorted(made), sorted(made, reverse=True))


def test_a_record_from_when_reports_were_counted_replays_as_it_was() -> None:
    room = a_room()
    report, close = room.commands.named("report"), room.commands.named("close_report")
    for number in (1, 2):
        args = {"reason": "x", "member": "bob"}
        room._write(40, report, "pat", args, report.check(args))
        assert told_last(room)["pat"] == [f"pat made report {number}"]
    room._write(41, close, "hostess", {"report": 2}, close.check({"report": 2}))
    again = Room.replay(room.record.take_pending(), lambda source, config: make_room(RED, BLUE, HOST, PAT).world)
    assert again.digest() == room.digest()
    assert [line.report for line in again.call("hostess", "reports", at=42).reports] == [1]
