"""Consent: what a member asks for, who answers, how long it lasts, and how it ends."""

import pytest

from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, GameRejected, PermissionDenied, UnknownAsset
from cohabit.features.consent import WAITING, WAITS
from cohabit.model.grant import Capability
from cohabit.model.seat import PUBLIC, Eye
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import eye_for

from .making import BLUE, HOST, RED, make_room, saved, told_last

C = Capability

AGENT = {"id": "bot", "kind": "agent", "identity": "i-bot"}


def room_with_agent() -> Room:
    return make_room(RED, BLUE, HOST, AGENT, partial_intel=True)


def held(room: Room, handle: str = "bot") -> frozenset[C]:
    return room.state.require_member(handle).held


def asked(room: Room, at: int = 1, **args: object) -> str:
    return str(room.call("bot", "ask", args, at=at).request)


def test_a_host_allows_what_an_agent_asks_for_and_it_ends_by_itself() -> None:
    room = room_with_agent()
    request = asked(room, may=["send-chat"], why="to greet")
    assert C.SEND_BROADCAST not in held(room)
    room.call("hostess", "allow", {"request": request, "seconds": 60}, at=1000)
    assert C.SEND_BROADCAST in held(room)
    room.settle(60_999)
    assert C.SEND_BROADCAST in held(room)
    room.settle(61_000)
    assert C.SEND_BROADCAST not in held(room)


def test_what_is_allowed_for_the_game_ends_with_it() -> None:
    room = room_with_agent()
    room.call("hostess", "allow", {"request": asked(room, may=["send_broadcast"]), "lasts": "game"}, at=2)
    room.settle(10**9)
    assert C.SEND_BROADCAST in held(room)
    room.call("hostess", "rematch", {}, at=10**9)
    assert C.SEND_BROADCAST not in held(room)
    assert Room.replay(room.record.tail, lambda *_: room.world.__class__()).digest() == room.digest()


def test_a_host_sees_what_every_member_may_do_and_what_agents_have_disclosed() -> None:
    room = room_with_agent()
    room.call("bot", "disclose", {"backend": "tiny-7b"}, at=1)
    room.call("hostess", "widen", {"member": "bot", "may": ["send_broadcast"], "expires_in_s": 60}, at=1000)
    room.call("hostess", "require_disclosure", {"required": True}, at=1001)
    reply = room.call("hostess", "permissions", {}, at=1002)
    bot = next(line for line in reply.members if line.member == "bot")
    assert set(bot.held) - set(bot.by_role) == {C.SEND_BROADCAST}
    assert (bot.changed, bot.ends_at, bot.disclosed, bot.backend, bot.egress) == (True, 61_000, True, "tiny-7b", True)
    assert [line.member for line in reply.members] == ["ann", "bob", "hostess", "bot"]
    assert [line.built_in for line in reply.members] == [True, True, True, False]  # the others have no identity
    assert reply.disclosure_required
    with pytest.raises(PermissionDenied):
        room.call("ann", "permissions", {}, at=1003)
    room.call("hostess", "narrow", {"member": "hostess", "may": ["read_roster"]}, at=1004)
    assert room.call("hostess", "permissions", {}, at=1005).members == []


def test_a_host_sees_which_capabilities_it_may_grant() -> None:
    room = room_with_agent()
    grantable = set(room.call("hostess", "permissions", {}, at=1).grantable)
    for at, capability in enumerate(C, 2):
        try:
            room.call("hostess", "widen", {"member": "bot", "may": [capability]}, at=at)
        except PermissionDenied:
            assert capability not in grantable
        else:
            assert capability in grantable
    assert C.SEND_BROADCAST in grantable
    assert grantable < set(C)


def test_a_player_is_told_who_sees_what_its_seat_sees() -> None:
    room = room_with_agent()
    room.call("ann", "allow", {"request": asked(room, through="red")}, at=2)
    assert room.call("ann", "requests", {}, at=3).watchers == ["bot"]
    assert room.call("bob", "requests", {}, at=3).watchers == []
    room.call("ann", "withdraw", {"member": "bot"}, at=4)
    assert room.call("ann", "requests", {}, at=5).watchers == []


def test_only_the_player_of_a_seat_lets_somebody_see_what_it_sees() -> None:
    room = room_with_agent()
    request = asked(room, through="red", why="to learn")
    for other in ("hostess", "bob"):
        with pytest.raises((UnknownAsset, PermissionDenied)):
            room.call(other, "allow", {"request": request}, at=2)
    assert room.eye(room.state.require_member("bot")).sees == "public"
    room.call("ann", "allow", {"request": request, "lasts": "game"}, at=3)
    eye = room.eye(room.state.require_member("bot"))
    assert (eye.seat, eye.sees) == ("red", "own")
    assert "You look through seat red: this is what ann sees." in room.call("bot", "view", at=3).text
    room.call("ann", "withdraw", {"member": "bot"}, at=4)
    assert room.eye(room.state.require_member("bot")).sees == "public"
    assert C.READ_OWN not in held(room)


def test_who_looks_through_a_seat_sees_nothing_of_it_while_the_player_who_agreed_does_not_play_it() -> None:
    room = room_with_agent()
    room.call("ann", "allow", {"request": asked(room, through="red")}, at=2)
    ann, bot = room.state.require_member("ann"), room.state.require_member("bot")
    assert eye_for(room.state, bot, room.seats, fog=False) == Eye("red", "own")
    ann.seat = None  # as when a save is loaded in which she has played another seat
    assert eye_for(room.state, bot, room.seats, fog=False) == PUBLIC
    del room.state.members["ann"]
    assert eye_for(room.state, bot, room.seats, fog=False) == PUBLIC


def test_who_has_seen_one_seat_cannot_see_another_in_the_same_game() -> None:
    room = room_with_agent()
    room.call("ann", "allow", {"request": asked(room, through="red")}, at=2)
    room.call("ann", "withdraw", {"member": "bot"}, at=3)
    with pytest.raises(Exception, match="hidden information of seat red"):
        asked(room, at=4, through="blue")


def test_a_request_is_seen_by_its_author_and_those_who_can_answer_it() -> None:
    room = room_with_agent()
    asked(room, through="red")
    asked(room, may=["act"])

    def seen(who: str) -> list[tuple[str, bool]]:
        lines = room.call(who, "requests", at=5).requests
        return [(line.through or ",".join(line.may), line.you_may_answer) for line in lines]

    assert seen("bot") == [("red", False), ("act", False)]
    assert seen("ann") == [("red", True)]
    assert seen("hostess") == [("act", True)]
    assert seen("bob") == []


def test_a_declined_request_gives_nothing_and_its_author_is_told() -> None:
    room = room_with_agent()
    request = asked(room, may=["act"])
    room.call("hostess", "decline", {"request": request}, at=2)
    assert C.ACT not in held(room)
    assert room.call("bot", "requests", at=3).requests == []
    told = room.record.tail[-1].entry.told[0]
    assert told.members == ("bot",)
    assert "declined" in told.text
    with pytest.raises(UnknownAsset):
        room.call("hostess", "allow", {"request": request}, at=4)


def test_a_host_cannot_allow_what_it_does_not_have() -> None:
    room = room_with_agent()
    request = asked(room, may=["read_all"])
    before = room.digest()
    with pytest.raises(PermissionDenied):
        room.call("hostess", "allow", {"request": request}, at=2)
    assert room.digest() == before


def test_only_those_who_can_answer_a_request_are_told_of_it_and_of_its_reason() -> None:
    room = room_with_agent()
    asked(room, through="red", why="to learn")
    text = "bot asks to see what seat red sees: to learn (request bot-1)"
    assert told_last(room) == {"bot": [text], "ann": [text]}
    asked(room, may=["act", "send_broadcast"])
    text = "bot asks act, send_broadcast (request bot-2)"
    assert told_last(room) == {"bot": [text], "hostess": [text]}


def test_a_host_that_asks_is_told_once_and_does_not_answer_itself() -> None:
    room = make_room(RED, BLUE, HOST, {"id": "zeus", "role": "god"})
    assert room.call("hostess", "ask", {"may": ["read_all"]}, at=1).answered_by == ["zeus"]
    assert {who: len(texts) for who, texts in told_last(room).items()} == {"hostess": 1, "zeus": 1}


def test_a_request_says_who_can_answer_it_unless_its_author_may_not_read_the_roster() -> None:
    room = room_with_agent()
    reply = room.call("bot", "ask", {"may": ["act"]}, at=1)
    assert (reply.answered_by, reply.note) == (["hostess"], WAITS)
    room.call("hostess", "narrow", {"member": "bot", "may": ["read_roster"]}, at=2)
    reply = room.call("bot", "ask", {"through": "red"}, at=3)
    assert reply.answered_by == []
    assert "waits for an answer" in reply.note
    assert "not named" in reply.note


def test_a_view_shows_the_requests_that_wait_for_an_answer_with_their_reasons() -> None:
    room = room_with_agent()
    asked(room, through="red", why="to learn")
    asked(room, may=["act"])
    assert "bot asks to see what seat red sees (`allow` or `decline` request bot-1).\n- to learn" in (
        room.call("ann", "view", at=3).text
    )
    assert "bot asks act (`allow` or `decline` request bot-2)." in room.call("hostess", "view", at=3).text
    assert "asks" not in room.call("bob", "view", at=3).text + room.call("bot", "view", at=3).text


def test_what_is_allowed_is_told_to_its_author_and_in_the_roster_with_its_duration() -> None:
    room = room_with_agent()
    room.call("hostess", "allow", {"request": asked(room, may=["act"]), "seconds": 60}, at=2)
    assert told_last(room)["bob"] == ["hostess allowed bot act for 60 seconds"]
    assert "hostess allowed you act for 60 seconds" in told_last(room)["bot"]
    room.call("ann", "allow", {"request": asked(room, at=3, through="red"), "lasts": "game"}, at=4)
    assert told_last(room)["bob"] == ["ann allowed bot to see what seat red sees until the next game begins"]
    assert "ann allowed you to see what seat red sees until the next game begins" in told_last(room)["bot"]
    room.call("hostess", "rematch", at=5)
    assert "the permissions of bot for this game have ended" in told_last(room)["bob"]


def test_everybody_hears_that_a_player_no_longer_shows_what_its_seat_sees() -> None:
    room = room_with_agent()
    room.call("ann", "allow", {"request": asked(room, through="red")}, at=2)
    room.call("ann", "withdraw", {"member": "bot"}, at=3)
    assert told_last(room)["bob"] == ["ann no longer lets bot see what its seat sees"]


def test_a_request_is_answered_once() -> None:
    room = room_with_agent()
    request = asked(room, may=["act"])
    room.call("hostess", "allow", {"request": request}, at=2)
    assert room.call("hostess", "requests", at=3).requests == []
    for answer in ("allow", "decline"):
        with pytest.raises(UnknownAsset):
            room.call("hostess", answer, {"request": request}, at=4)


def test_the_author_of_a_request_can_take_it_back_and_keeps_the_others() -> None:
    room = room_with_agent()
    first, second = asked(room, may=["act"]), asked(room, may=["speak"])
    room.call("bot", "decline", {"request": second}, at=2)
    (left,) = room.call("bot", "requests", at=3).requests
    assert (left.request, left.yours) == (first, True)
    assert [line.yours for line in room.call("hostess", "requests", at=3).requests] == [False]
    assert told_last(room) == {}


def test_a_request_for_what_a_host_has_taken_away_can_be_allowed() -> None:
    room = room_with_agent()
    room.call("hostess", "narrow", {"member": "bot", "may": ["read_chat"]}, at=1)
    room.call("hostess", "allow", {"request": asked(room, at=2, may=["read_chat"]), "seconds": 60}, at=3)
    assert C.READ_CHAT in held(room)
    room.settle(60_003)
    assert C.READ_CHAT not in held(room)


def test_a_seat_is_not_shown_to_somebody_who_has_seen_another_one_since_the_request() -> None:
    room = room_with_agent()
    red, blue = asked(room, through="red"), asked(room, through="blue")
    room.call("bob", "allow", {"request": blue}, at=2)
    before = room.digest()
    with pytest.raises(CohabitError, match="hidden information of seat blue"):
        room.call("ann", "allow", {"request": red}, at=3)
    assert room.digest() == before


def test_nobody_withdraws_what_it_has_not_allowed() -> None:
    room = room_with_agent()
    room.call("ann", "allow", {"request": asked(room, through="red")}, at=2)
    with pytest.raises(UnknownAsset, match="bot does not see what your seat sees"):
        room.call("bob", "withdraw", {"member": "bot"}, at=3)
    assert room.call("ann", "requests", at=4).watchers == ["bot"]


def test_asking_counts_as_a_message_to_everyone() -> None:
    room = room_with_agent()
    room.call("hostess", "set_chat_limits", {"cooldown_ms": 5000}, at=1)
    asked(room, at=10, may=["act"])
    with pytest.raises(Busy, match="retry in 1 ms"):
        asked(room, at=5009, may=["speak"])
    asked(room, at=5010, may=["speak"])


def test_a_room_has_a_limit_of_requests_that_wait_for_an_answer() -> None:
    agents = [{"id": f"bot{n}", "kind": "agent", "identity": f"i-bot{n}"} for n in range(17)]
    room = make_room(RED, BLUE, HOST, *agents)
    names = ("act", "send_message", "send_broadcast", "speak")
    for n in range(64):
        room.call(f"bot{n // 4}", "ask", {"may": [names[n % 4]]}, at=1)
    with pytest.raises(Busy, match="too many requests"):
        room.call("bot16", "ask", {"may": ["act"]}, at=2)
    room.call("hostess", "decline", {"request": "bot0-1"}, at=3)
    room.call("bot16", "ask", {"may": ["act"]}, at=4)


def test_requests_are_bounded_and_repeats_refused() -> None:
    room = room_with_agent()
    asked(room, may=["act"])
    with pytest.raises(Conflict):
        asked(room, may=["act"])
    for name in ("send_message", "send_broadcast", "speak"):
        asked(room, may=[name])
    with pytest.raises(Busy):
        asked(room, may=["read_own"])


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({}, "or a seat in `through`"),
        ({"may": ["watch"]}, "you have those that you named already"),
        ({"may": ["act"], "through": "red"}, "in two requests"),
    ],
)
def test_a_request_that_asks_for_nothing_or_for_two_things_is_refused(args: dict[str, object], why: str) -> None:
    room = room_with_agent()
    with pytest.raises(BadArgs, match=why):
        asked(room, **args)
    assert not WAITING.read(room.state).requests


def test_a_member_that_leaves_takes_its_requests_along() -> None:
    room = room_with_agent()
    asked(room, may=["act"])
    room.call("hostess", "remove_member", {"member": "bot"}, at=2)
    assert not WAITING.read(room.state).requests


def test_nobody_learns_names_from_withdrawing() -> None:
    room = room_with_agent()
    room.call("hostess", "narrow", {"member": "ann", "may": ["read_roster"]}, at=1)
    with pytest.raises(UnknownAsset) as refused:
        room.call("ann", "withdraw", {"member": "bobb"}, at=2)
    assert refused.value.did_you_mean == []


# -- how it ends ------------------------------------------------------------------------------------
PERSON = {"id": "pat", "kind": "human", "identity": "i-pat"}


def looks(room: Room, who: str) -> bool:
    eye = room.eye(room.state.require_member(who))
    return eye is not None and eye.seat == "red" and eye.sees == "own"


def looking(lasts: str = "now") -> Room:
    """A person, whose role has read_own anyway, looks through red for a minute, or for the game."""
    room = make_room(RED, {**BLUE, "claim": None}, HOST, PERSON)
    request = room.call("pat", "ask", {"through": "red"}, at=1).request
    room.call("ann", "allow", {"request": request, "lasts": lasts, "seconds": 60}, at=2)
    assert looks(room, "pat")
    return room


def test_a_look_that_was_allowed_for_a_minute_ends_also_for_a_member_that_may_see_its_own_seat() -> None:
    room = looking()
    room.settle(60_002)
    assert not looks(room, "pat")


def test_a_look_for_the_game_ends_with_the_game_whatever_was_granted_meanwhile() -> None:
    room = looking("game")
    room.call("hostess", "widen", {"member": "pat", "may": ["read_files"]}, at=3)
    room.call("hostess", "narrow", {"member": "pat", "may": ["speak"]}, at=4)
    assert looks(room, "pat")
    room.call("hostess", "rematch", at=5)
    assert not looks(room, "pat")


def test_what_is_allowed_for_the_game_ends_when_another_one_is_loaded() -> None:
    room = room_with_agent()
    save = saved(room)
    room.call("hostess", "allow", {"request": asked(room, may=["send_broadcast"]), "lasts": "game"}, at=2)
    room.system("loaded", {"by": "hostess", "save": save}, 3)
    assert C.SEND_BROADCAST not in held(room)


def test_a_look_for_some_minutes_outlasts_what_was_allowed_for_the_game() -> None:
    room = looking()
    request = room.call("pat", "ask", {"may": ["manage_members"]}, at=3).request
    room.call("hostess", "allow", {"request": request, "lasts": "game"}, at=4)
    room.call("hostess", "rematch", at=5)
    assert C.MANAGE_MEMBERS not in held(room, "pat")
    assert looks(room, "pat")


def test_a_look_that_is_allowed_again_lasts_as_long_as_the_second_answer_says() -> None:
    room = looking()
    request = room.call("pat", "ask", {"through": "red"}, at=3).request
    room.call("ann", "allow", {"request": request, "lasts": "game"}, at=4)
    room.settle(60_002)
    assert looks(room, "pat")


def test_the_end_of_a_look_leaves_the_other_permissions_as_they_were() -> None:
    room = room_with_agent()
    room.call("hostess", "narrow", {"member": "bot", "may": ["read_chat"]}, at=1)
    room.call("hostess", "widen", {"member": "bot", "may": ["send_broadcast"]}, at=1)
    before = held(room)
    room.call("ann", "allow", {"request": asked(room, at=2, through="red")}, at=3)
    room.call("ann", "withdraw", {"member": "bot"}, at=4)
    assert held(room) == before


def test_a_look_stays_when_a_request_for_something_else_is_allowed() -> None:
    room = looking()
    request = room.call("pat", "ask", {"may": ["manage_members"]}, at=3).request
    room.call("hostess", "allow", {"request": request}, at=4)
    assert looks(room, "pat")


def test_a_look_ends_when_the_player_leaves_the_seat_and_does_not_return_with_the_player() -> None:
    room = make_room({"id": "ann", "kind": "human"}, HOST, PERSON)
    room.call("ann", "sit", {"seat": "red"}, at=1)
    request = room.call("pat", "ask", {"through": "red"}, at=2).request
    room.call("ann", "allow", {"request": request, "lasts": "game"}, at=3)
    assert looks(room, "pat")
    room.call("ann", "stand_up", at=4)
    room.call("ann", "sit", {"seat": "red"}, at=5)
    assert not looks(room, "pat")


def test_a_player_withdraws_whatever_its_own_grant_is_also_in_an_archived_room() -> None:
    room = looking("game")
    room.call("hostess", "revoke", {"member": "ann"}, at=3)
    room.call("hostess", "archive", at=4)
    room.call("ann", "withdraw", {"member": "pat"}, at=5)
    assert not looks(room, "pat")


def test_what_a_host_has_for_the_game_it_can_give_for_the_game_only() -> None:
    room = make_room(RED, BLUE, HOST, AGENT, {"id": "zeus", "role": "god"})
    request = room.call("hostess", "ask", {"may": ["read_all"]}, at=1).request
    room.call("zeus", "allow", {"request": request, "lasts": "game"}, at=2)
    with pytest.raises(PermissionDenied):
        room.call("hostess", "widen", {"member": "bot", "may": ["read_all"]}, at=3)
    wanted = asked(room, at=4, may=["read_all"])
    room.call("hostess", "allow", {"request": wanted, "lasts": "game"}, at=5)
    assert C.READ_ALL in held(room)
    room.call("hostess", "rematch", at=6)
    assert C.READ_ALL not in held(room)


def test_the_id_of_a_request_says_nothing_about_the_requests_of_others() -> None:
    room = make_room(RED, BLUE, HOST, AGENT, PERSON)
    for name in ("read_all", "act_global"):
        room.call("pat", "ask", {"may": [name]}, at=1)
    assert asked(room, may=["act"]) == "bot-1"


def test_a_request_to_look_through_the_seat_of_an_agent_is_refused_with_a_reason() -> None:
    room = make_room({**RED, "brain": "random"}, BLUE, HOST, AGENT)
    with pytest.raises(GameRejected, match="an agent plays seat red for ann, and agents do not answer requests"):
        asked(room, through="red")
    room.system("presence", {"members": ["ann"], "here": True}, 2)
    assert asked(room, at=3, through="red"), "now its player answers"
