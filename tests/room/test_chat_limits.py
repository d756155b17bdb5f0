"""What a host limits of what is said: blocked words, a mute and slow mode, by every command that others read."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.adapter import _words
from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, PermissionDenied
from cohabit.feature_registry import load_features
from cohabit.features.chat_limits import CHAT, _blocked, _checked
from cohabit.house.commands import every_command
from cohabit.model.action import ActionDef, ParamDef
from cohabit.model.plain_text import plain
from cohabit.room.commands import Command
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.world import SPOKEN

from .making import BLUE, HOST, RED, make_room, replayed, restored, told_last

PAT = {"id": "pat", "kind": "human", "role": "player", "claim": "auto:0", "identity": "i-pat"}
APP = {"id": "board", "role": "app", "identity": "i-board"}
WORD = "Gr\u00fctze"
TALK: dict[str, tuple[str, dict[str, Any]]] = {
    "say": ("pat", {"text": f"you {WORD}!"}),
    "send_message": ("pat", {"to": "*", "content": f"you {WORD}!"}),
    "a whisper": ("pat", {"to": "bob", "content": f"you {WORD}!"}),
    "a label": ("pat", {"to": "bob", "content": "hello", "kind": WORD}),
    "send_data": ("pat", {"data": {"deep": [{"er": f"you {WORD}!"}]}}),
    "a key of data": ("pat", {"data": {WORD: 1}}),
    "publish_schema": ("board", {"name": WORD, "version": "1", "schema": {}}),
    "publish_view": ("board", {"view": [f"you {WORD}!"]}),
    "request_action": ("pat", {"action": {"pin": f"you {WORD}!"}}),
    "ask": ("pat", {"may": ["read_all"], "why": f"you {WORD}!"}),
    "disclose": ("pat", {"backend": WORD}),
    "shout": ("pat", {"text": f"you {WORD}!"}),
    "a reason for an action": ("pat", {"action": "hide", "params": {"n": 1}, "reasoning": f"you {WORD}!"}),
}
COMMANDS = {
    "a whisper": "send_message", "a label": "send_message", "a key of data": "send_data",
    "a reason for an action": "act",
}  # fmt: skip


def a_room() -> Room:
    room = make_room(PAT, BLUE, HOST, APP)
    for who in ("pat", "bob"):
        room.call("hostess", "widen", {"member": who, "may": ["send_broadcast"]}, at=0)
    room.call("board", "publish_view", {"view": 1}, at=1)
    return room


def refused(room: Room, how: str, at: int) -> CohabitError | None:
    who, args = TALK[how]
    try:
        room.call(who, COMMANDS.get(how, how), args, at=at)
    except CohabitError as wrong:
        return wrong
    return None


@pytest.mark.parametrize("how", TALK)
def test_a_muted_member_cannot_talk_by_any_command_until_it_is_unmuted(how: str) -> None:
    room, who = a_room(), TALK[how][0]
    room.call("hostess", "mute", {"member": who}, at=2)
    before = room.digest()
    for again in (room, replayed(room), restored(room)):
        wrong = refused(again, how, 3)
        assert isinstance(wrong, PermissionDenied)
        assert "muted you until a host unmutes you" in wrong.message
        assert again.digest() == before
    room.call("hostess", "unmute", {"member": who}, at=4)
    found = refused(room, how, 5)
    assert found is None or "mute" not in found.message


@pytest.mark.parametrize("how", TALK)
def test_a_blocked_word_is_refused_by_every_command_and_the_refusal_names_it(how: str) -> None:
    room = a_room()
    room.call("hostess", "set_chat_limits", {"blocked_words": [WORD, "other thing"]}, at=2)
    wrong = refused(room, how, 3)
    assert isinstance(wrong, PermissionDenied)
    assert "does not allow 'grutze'" in wrong.message
    room.call("hostess", "set_chat_limits", {"blocked_words": []}, at=4)
    found = refused(room, how, 5)
    assert found is None or "allow" not in found.message


def test_every_recorded_command_with_a_text_of_ones_own_is_known_to_the_mute() -> None:
    """A new way to talk must name its words, or be listed here with the reason that others do not read it."""
    not_talk = {
        "sit": "a seat", "act": "its reasoning is checked as such", "report": "hosts alone read it",
        "jack_in": "an id", "transfer": "an id", "respawn": "a choice", "look": "a thing", "equip": "a thing",
        "unequip": "a thing", "exit_game": "for its own profile", "allow": "an id", "decline": "an id",
        "withdraw": "a member",
    }  # fmt: skip
    found: list[Command] = [
        command for heading, command in every_command()
        if heading == "room" and command.records and command.category not in ("host", "control")
        and '"string"' in str(command.schema).replace("'", '"')
    ]  # fmt: skip
    assert len(found) > 10
    missing = [command.name for command in found if not command.words and command.name not in not_talk]
    assert missing == []
    unknown = [(c.name, word) for c in found for word in c.words or () if word not in c.arguments]
    assert unknown == []


def test_a_muted_member_plays_on_and_reports() -> None:
    room = a_room()
    room.call("hostess", "mute", {"member": "pat"}, at=2)
    room.call("pat", "hide", {"n": 1}, at=3)
    assert room.call("pat", "report", {"reason": "I was muted for nothing", "member": "bob"}, at=4).hosts == 1


def test_in_statecraft_a_muted_nation_gives_orders_without_messages() -> None:
    room = make_room(PAT, BLUE, HOST, world="statecraft")
    room.call("hostess", "mute", {"member": "pat"}, at=1)
    with pytest.raises(PermissionDenied, match="muted"):
        room.call("pat", "submit", {"messages": {"all": "hello"}}, at=2)
    with pytest.raises(PermissionDenied, match="muted"):
        room.call("pat", "submit", {"answer": '{"messages": {"all": "hello"}}'}, at=3)
    assert room.call("pat", "submit", {"purchase_mils": 0}, at=4).success


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("journal_append", {"summary": "hello"}), ("inbox_add", {"title": "hello"}), ("commit", {"message": "hello"}),
        ("write", {"path": "drafts/hello", "content": ""}), ("rename", {"path": "a", "to": "drafts/hello"}),
        ("inbox_close", {"id": "1", "resolution": "hello"}),
        ("decision_add", {"title": "hello", "context": "x", "decision": "y"}),
    ],
)  # fmt: skip
def test_a_muted_member_writes_nothing_into_a_workspace(command: str, args: dict[str, Any]) -> None:
    room = make_room(PAT, HOST, world="workspace")
    room.call("hostess", "mute", {"member": "pat"}, at=1)
    with pytest.raises(PermissionDenied, match="muted"):
        room.admit("pat", command, args, 2)
    assert room.admit("pat", "pull", {}, 3)


def test_a_muted_member_starts_no_poll() -> None:
    load_features([str(Path(__file__).parents[2] / "examples" / "poll.py")])
    room = make_room(PAT, BLUE, HOST, features=["poll"])
    room.call("hostess", "set_chat_limits", {"slow_mode_s": 30}, at=0)
    poll = {"question": "hello?", "choices": ["yes", "no"]}
    room.call("pat", "start_poll", poll, at=1)
    with pytest.raises(Busy, match="slow mode"):
        room.call("pat", "start_poll", poll, at=2)
    room.call("hostess", "mute", {"member": "pat"}, at=3)
    with pytest.raises(PermissionDenied, match="muted"):
        room.call("pat", "start_poll", poll, at=40_000)
    room.call("pat", "vote", {"poll": "pat-1", "choice": "yes"}, at=40_001)


def test_what_is_said_in_a_social_action_of_an_adapter_are_its_players_words() -> None:
    said, done = (ActionDef("tell", "", [ParamDef("what")], category=kind) for kind in ("social", "movement"))
    assert [_words(said), _words(done)] == [("what",), SPOKEN]


def test_a_mute_for_some_time_ends_by_itself_and_everybody_is_told() -> None:
    room = a_room()
    reply = room.call("hostess", "mute", {"member": "pat", "seconds": 10}, at=1_000)
    assert (reply.muted, reply.until) == (True, 11_000)
    assert "hostess muted pat for 10 s" in told_last(room)["bob"]
    assert "a host has muted you until 1970-01-01 00:00:11 UTC" in str(refused(room, "say", 10_999))
    assert room.next_deadline() == 11_000
    assert refused(room, "say", 11_000) is None
    ended = [line.entry for line in room.record.tail if line.entry.do == "mute_ended"]
    assert [one.at for one in ended] == [11_000]
    assert replayed(room).digest() == room.digest()


def test_a_mute_stays_when_its_member_leaves_and_comes_back() -> None:
    room = a_room()
    room.call("hostess", "mute", {"member": "pat"}, at=2)
    room.call("pat", "leave", at=3)
    assert room.call("hostess", "permissions", at=4).chat_limits.muted[0].member == "pat"
    room.system("admitted", {"handle": "patty", "kind": "human", "identity": "i-pat", "name": "Patty"}, 5)
    with pytest.raises(PermissionDenied, match="muted"):
        room.call("patty", "say", {"text": "hello"}, at=6)
    room.call("hostess", "reset", at=7)
    room.call("hostess", "remove_member", {"member": "patty"}, at=8)
    room.system("admitted", {"handle": "pam", "kind": "human", "identity": "i-pat", "name": "Pam"}, 9)
    with pytest.raises(PermissionDenied, match="muted"):
        room.call("pam", "say", {"text": "hello"}, at=10)
    room.call("hostess", "unmute", {"member": "pam"}, at=11)
    room.call("pam", "say", {"text": "hello"}, at=12)


def test_a_mute_holds_for_those_who_join_with_the_same_invite_later() -> None:
    room = a_room()
    for number, who in enumerate(("kim", "lee")):
        new = {"handle": who, "kind": "human", "identity": f"i-{who}", "name": who, "invite": "inv-1"}
        room.system("admitted", new, 2 + number)
    room.call("hostess", "mute", {"member": "kim", "seconds": 60}, at=1_000)
    room.call("lee", "say", {"text": "I was here before"}, at=1_001)
    new = {"handle": "max", "kind": "human", "identity": "i-max", "name": "max", "invite": "inv-1"}
    room.system("admitted", new, 1_002)
    for again in (room, replayed(room), restored(room)):
        with pytest.raises(PermissionDenied, match="same invite, and so you, until 1970-01-01 00:01:01 UTC: leave out"):
            again.call("max", "say", {"text": "hello"}, at=1_003)
    muted = room.call("hostess", "permissions", at=1_004).chat_limits.muted
    assert [line.member for line in muted] == ["kim", "max"]
    assert _hears(room, room.state.require_member("max"), room.state.members["lee"]) == [False]
    room.call("hostess", "unmute", {"member": "max"}, at=1_005)
    room.call("max", "say", {"text": "hello"}, at=1_006)
    with pytest.raises(PermissionDenied, match="a host has muted you until 1970"):
        room.call("kim", "say", {"text": "hello"}, at=1_007)
    room.call("kim", "leave", at=60_999)
    room.system("admitted", {**new, "handle": "kit", "identity": "i-kit"}, 61_001)
    room.call("kit", "say", {"text": "the time is over"}, at=61_002)
    assert replayed(room).digest() == room.digest()


@pytest.mark.parametrize(
    "text", ["", "  \n\t ", "\u200b\u2060", "\u3164", "\u115f \u2800", "\ufe0f", "\u20dd", "\u00a0"]
)
def test_a_message_with_nothing_to_read_in_it_is_refused(text: str) -> None:
    room = a_room()
    for how, args in (("say", {"text": text}), ("send_message", {"to": "bob", "content": text, "kind": "diplomacy"})):
        with pytest.raises(BadArgs, match="nothing to read in it; write what you want to say"):
            room.call("pat", how, args, at=2)


def test_a_former_member_can_be_unmuted_by_its_old_handle() -> None:
    room = a_room()
    room.call("hostess", "mute", {"member": "pat"}, at=2)
    room.call("pat", "leave", at=3)
    room.call("hostess", "unmute", {"member": "pat"}, at=4)
    assert CHAT.read(room.state).muted == {}
    with pytest.raises(Conflict, match="not muted"):
        room.call("hostess", "unmute", {"member": "pat"}, at=5)


def test_who_manages_the_room_is_neither_muted_nor_slowed_down_nor_held_to_the_blocked_words() -> None:
    room = a_room()
    with pytest.raises(Conflict, match="cannot be muted"):
        room.call("hostess", "mute", {"member": "hostess"}, at=1)
    room.call("hostess", "set_chat_limits", {"slow_mode_s": 60, "blocked_words": ["spam"]}, at=2)
    room.call("hostess", "say", {"text": "no spam"}, at=3)
    room.call("hostess", "say", {"text": "no spam, please"}, at=4)


def test_the_media_of_a_muted_member_reach_nobody() -> None:
    room = a_room()
    pat, bob = room.state.require_member("pat"), room.state.require_member("bob")
    room.call("hostess", "mute", {"member": "bob"}, at=2)
    assert _hears(room, bob, pat) == [False]
    assert _hears(room, pat, bob) == [True]


@pytest.mark.parametrize("how", ["say", "send_message", "a whisper", "send_data", "ask", "disclose", "shout"])
def test_in_slow_mode_a_member_waits_between_two_messages_whatever_they_are(how: str) -> None:
    room = a_room()
    room.call("hostess", "set_chat_limits", {"slow_mode_s": 30}, at=2)
    room.call("pat", "say", {"text": "first"}, at=1_000)
    wrong = refused(room, how, 30_999)
    assert isinstance(wrong, Busy)
    assert wrong.details["retry_in_ms"] == 1
    assert refused(room, how, 31_000) is None
    assert isinstance(refused(room, "say", 31_001), Busy)  # it counts
    room.call("bob", "say", {"text": "I have time of my own"}, at=31_001)
    assert replayed(room).digest() == room.digest()


def test_slow_mode_counts_on_when_a_member_leaves_and_comes_back() -> None:
    room = a_room()
    room.call("hostess", "set_chat_limits", {"slow_mode_s": 30}, at=2)
    room.call("pat", "say", {"text": "first"}, at=1_000)
    room.call("pat", "leave", at=1_001)
    room.system("admitted", {"handle": "pat", "kind": "human", "identity": "i-pat", "name": "Pat"}, 1_002)
    with pytest.raises(Busy, match="slow mode"):
        room.call("pat#2", "say", {"text": "again"}, at=1_003)


def test_a_word_is_found_in_any_spelling_and_not_inside_another_word() -> None:
    room = make_room(RED, PAT | {"claim": None, "role": None}, HOST)
    room.call("hostess", "set_chat_limits", {"blocked_words": ["bad word", "ass"]}, at=1)
    for number, text in enumerate(
        (
            "BAD  word",
            "b\u00e1d-word",
            "ba\u200bd\tword",
            "\uff22\uff41\uff44 word",
            "Ass!",
            "_ass_",
            "\u202essa",
            "\u2067a",
        )
    ):
        with pytest.raises(PermissionDenied, match="does not allow"):
            room.call("pat", "say", {"text": text}, at=10 + number)
    for number, text in enumerate(("a class of its own", "bad, bad words", "a\u0300 b c", "\U0001f600")):
        room.call("pat", "say", {"text": text}, at=20 + number)


NOISE = "\u200b\u2060\u00ad\u034f\u115f\u1160\u3164\uffa0\ufe0f\u180e\u0301\u0489\u20dd\u20e3\u1dd3\u0e49\u093f\U000e0061\x00"
"""Characters that show nothing, and marks of every kind."""
SPELLED = st.text("abcdefgh\u0436\u044f\u03b4\u4e2d\uac00", min_size=1, max_size=8)


@given(
    SPELLED, st.lists(st.text(NOISE, max_size=3), min_size=9, max_size=9), st.sampled_from(("", "x ", "? ", "x\u2800"))
)
def test_a_word_is_found_with_any_invisible_characters_and_marks_in_it(
    word: str, noise: list[str], before: str
) -> None:
    noisy = noise[0] + "".join(letter + more for letter, more in zip(word, noise[1:], strict=False))
    assert _blocked((plain(word),), [f"{before}{noisy}, y"]) == plain(word)


@given(SPELLED, st.text(f"xyz0 .-{NOISE}", max_size=30), st.sampled_from("xyz"))
def test_a_text_without_a_word_is_not_refused_whatever_else_is_in_it(word: str, other: str, letter: str) -> None:
    for text in (other, f"{letter}{word}", f"{word}{letter} {other}", f"{other} {letter}{word}{letter}"):
        assert _blocked((plain(word),), [text]) == ""


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("bad", "b\u0430d"), ("bad", "\u24b7\u24d0\u24d3"), ("bad", "bad\u00b2"), ("bad", "\u1d47\u1d43\u1d48"), ("bad", "b.a.d"),
        ("bad", "so b a d !"), ("bad", "bad\u2122"), ("blod", "bl\u00f8d"), ("\u00df", "SS"), ("\u0915\u093e\u092e", "\u0915\u093e\u092e!"),
        ("zut", "\u1d22\u1d1c\u1d1b"), ("\u1d22\u1d1c\u1d1b", "zut"), ("zut", "z\ua78fu\ua78ft"), ("zut", "<b>z</b>ut"), ("zut", "z**ut**"),
    ],
)  # fmt: skip
def test_a_word_is_found_in_letters_that_look_like_its_own(word: str, text: str) -> None:
    assert _blocked((plain(word),), [text])


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("cop", "\u0441\u043e\u0440"), ("\u304b", "\u304c"), ("\u0915\u092e", "\u0915\u093e\u092e"), ("bad", "a bad\u0430"), ("bad", "b ad"), ("ab", "a b"),
        ("bad", "b*d"),
    ],
)  # fmt: skip
def test_another_word_is_not_refused(word: str, text: str) -> None:
    """Also what the documentation says is not found: a word all in letters of another script, or cut in two."""
    assert _blocked((plain(word),), [text]) == ""


@given(st.text(min_size=1, max_size=20), st.text(max_size=10), st.text(max_size=10))
def test_a_word_that_can_be_blocked_is_found_between_any_other_words(word: str, before: str, after: str) -> None:
    try:
        blocked = _checked([word])
    except BadArgs:
        assert not any(letter.isalnum() for letter in plain(word))
        return
    assert _blocked(blocked, [f"{before} {word} {after}"])


def _hears(room: Room, speaker: Member, member: Member) -> list[bool]:
    return [feature.hears(room, speaker, member) for feature in room.hooks["hears"]]
